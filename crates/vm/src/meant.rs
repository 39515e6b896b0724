//! Which object an access means: the one that its address was computed from.
//!
//! A concrete address says nothing about that. An index far outside of an array may well hit another object, and the access
//! would look right. So where an access site meets an object for the first time, the instructions before it in its block are
//! gone back through, to the pointer that the address was computed from. If that points into a live object and the access
//! lies outside of it, it is out of bounds, whatever lies there.

use ir::{BinOp, Inst, Reg};

use crate::memory::INPUTS;
use crate::run::{Machine, Step};
use crate::value::mask64;
use crate::{Access, Liveness, State, Value};

impl Machine<'_> {
    /// The fault of an access whose address was computed from a pointer into another object.
    pub(crate) fn stays_in_object(&self, state: &State, reg: Reg, addr: Value, bytes: u64, access: Access) -> Step<()> {
        if addr.term().is_some() || !self.image.checks.memory {
            return Ok(());
        }
        let addr = addr.bits as u64;
        let Some(start) = self.start_of(state, reg, addr) else { return Ok(()) };
        // No other object is as near as that.
        if addr.abs_diff(start) < self.image.gap || INPUTS.contains(&addr) || INPUTS.contains(&start) {
            return Ok(());
        }
        let meant = state.memory.find(start).map(|object| state.memory.get(object));
        match meant.filter(|object| object.liveness == Liveness::Alive && object.layers().is_none()) {
            Some(object) if !object.contains(addr, bytes) => {
                let (kind, message) = self.diagnose_outside(state, addr, bytes, access, start);
                Err(self.fault_at(state, addr, Some((access, bytes)), kind, message))
            }
            _ => Ok(()),
        }
    }

    /// The pointer that an address in a register was computed from, as far back as this block tells.
    fn start_of(&self, state: &State, reg: Reg, addr: u64) -> Option<u64> {
        let top = &state.top;
        let function = self.image.module.function(top.func);
        let pointer_bits = self.image.pointer_bits();
        let before = function.block(top.block).insts.get(..top.inst_idx as usize)?;
        let (mut reg, mut value, mut is_computed) = (reg, addr, false);
        // Registers that hold something else by now.
        let mut lost: Vec<Reg> = Vec::new();
        for inst in before.iter().rev() {
            match *inst {
                Inst::Index { dst, base, index, index_bits, scale } if dst == reg => {
                    lost.push(dst);
                    let steps = top.value(index, index_bits);
                    value = if !lost.contains(&index) && steps.term().is_none() {
                        let steps = term::fold::signed(steps.bits, u32::from(index_bits)) as u64;
                        value.wrapping_sub(steps.wrapping_mul(scale)) & mask64(pointer_bits)
                    } else if !lost.contains(&base) {
                        top.value(base, pointer_bits).bits as u64
                    } else {
                        break;
                    };
                    (reg, is_computed) = (base, true);
                }
                Inst::BinImm { op: BinOp::Add, bits, dst, a, imm, .. } if dst == reg && bits == pointer_bits => {
                    lost.push(dst);
                    value = value.wrapping_sub(imm) & mask64(pointer_bits);
                    (reg, is_computed) = (a, true);
                }
                // A constant may lie outside of its object: clang adds up `a - 100 + i` in either order.
                Inst::Address { dst, addend, .. } if dst == reg => {
                    value = value.wrapping_sub(addend as u64) & mask64(pointer_bits);
                    is_computed = true;
                    break;
                }
                Inst::Copy { dst, src, .. } if dst == reg => {
                    lost.push(dst);
                    reg = src;
                }
                ref inst => {
                    let mut is_start = false;
                    function.for_each_def(inst, pointer_bits, |made, _| {
                        is_start |= made == reg;
                        lost.push(made);
                    });
                    if is_start {
                        break;
                    }
                }
            }
        }
        is_computed.then_some(value)
    }
}
