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

/// The registers of a frame: for each the sizes of its two words, and those without leading zeros.
pub struct Packed(Box<[u8]>);

fn n_bytes(word: u64) -> usize {
    8 - word.leading_zeros() as usize / 8
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

    /// Takes the registers out of a frame that is not going to run for some time. Most hold small numbers, or nothing any more.
    pub fn pack(&mut self) -> Packed {
        let mut bytes = Vec::with_capacity(self.regs.len() * 8);
        for Slot { bits, shadow } in &self.regs {
            let (n_bits, n_shadow) = (n_bytes(*bits), n_bytes(shadow.raw()));
            bytes.push((n_bits | n_shadow << 4) as u8);
            bytes.extend_from_slice(&bits.to_le_bytes()[..n_bits]);
            bytes.extend_from_slice(&shadow.raw().to_le_bytes()[..n_shadow]);
        }
        self.regs = Box::default();
        Packed(Box::from(&bytes[..]))
    }

    /// Puts them back.
    pub fn unpack(&mut self, packed: &Packed) {
        let mut regs = Vec::with_capacity(packed.0.len());
        let mut rest = &packed.0[..];
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        while let Some((sizes, after)) = rest.split_first() {
            let (bits, after) = after.split_at(usize::from(sizes & 15));
            let (shadow, after) = after.split_at(usize::from(sizes >> 4));
            regs.push(Slot { bits: number(bits), shadow: Shadow::from_raw(number(shadow)) });
            rest = after;
        }
        self.regs = regs.into_boxed_slice();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_registers_come_back() {
        let words = [0, 1, 255, 256, 0x7f00_0000_0040, u64::MAX];
        let slot = |(bits, shadow): (u64, u64)| Slot { bits, shadow: Shadow::from_raw(shadow) };
        let regs: Box<[Slot]> = words.iter().flat_map(|bits| words.map(|shadow| slot((*bits, shadow)))).collect();
        let mut frame = Frame::new(FuncId(0), regs.clone(), Returns::ToCall);
        let packed = frame.pack();
        assert!(frame.regs.is_empty());
        frame.unpack(&packed);
        assert_eq!(frame.regs, regs);
    }
}
