//! One activation of a function.

use ir::{BlockId, FuncId};

use crate::value::{Shadow, mask128};
use crate::{Label, Slots, Track, Value};

/// One 64-bit slot of a register.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Slot {
    pub bits: u64,
    pub shadow: Shadow,
}

/// What happens when a frame is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// The caller stands at the call: it gets the results and goes on behind it.
    ToCall,
    /// The frame below was put there before it started, or is ending: it goes on where it stands.
    InPlace,
}

/// The caller's frame stands at its call instruction until the callee returns.
#[derive(Clone)]
pub struct Frame {
    pub func: FuncId,
    pub block: BlockId,
    /// Next instruction of the block; the number of instructions means the terminator.
    pub inst_idx: u32,
    pub regs: Box<[Slot]>,
    /// Stack objects from this number on are ours.
    pub stack_mark: u32,
    /// Where the variadic arguments lie, when there are any.
    pub variadic: u64,
    pub returns: Returns,
    /// What influenced that control is here (filled by techniques that track flow).
    pub control: Label,
    /// Present while flow is tracked.
    pub track: Option<Box<Track>>,
    pub slots: Slots,
}

impl Frame {
    /// At the beginning of `func`, owning no stack objects.
    pub fn new(func: FuncId, regs: Box<[Slot]>, returns: Returns) -> Frame {
        Frame {
            func,
            block: BlockId(0),
            inst_idx: 0,
            regs,
            stack_mark: 0,
            variadic: 0,
            returns,
            control: Label::EMPTY,
            track: None,
            slots: Slots::default(),
        }
    }

    #[inline]
    pub fn value(&self, reg: ir::Reg, bits: u8) -> Value {
        let low = self.regs[reg.idx()];
        let high = if bits > 64 { self.regs[reg.idx() + 1].bits } else { 0 };
        Value { bits: u128::from(low.bits) | u128::from(high) << 64, shadow: low.shadow }
    }

    #[inline]
    pub fn set(&mut self, reg: ir::Reg, bits: u8, value: Value) {
        debug_assert!(value.shadow.term().is_some() || value.bits & !mask128(bits) == 0, "{value:?} wider than {bits}");
        self.regs[reg.idx()] = Slot { bits: value.bits as u64, shadow: value.shadow };
        if bits > 64 {
            self.regs[reg.idx() + 1] = Slot { bits: (value.bits >> 64) as u64, shadow: Shadow::NONE };
        }
    }
}
