//! Which registers an instruction reads and writes, and how wide: the one place that knows it.
//!
//! The verifier, the text form and liveness all ask here, so an instruction added to the bytecode is described once.

use crate::{Callee, Function, Inst, Reg, Target, Terminator};

impl Target {
    pub fn pointer_bits(&self) -> u8 {
        self.pointer_bytes * 8
    }
}

/// Slots that a value of this width takes.
pub fn slots_of(bits: u8) -> u32 {
    if bits > 64 { 2 } else { 1 }
}

impl Function {
    /// Visits `(register, bits)` of everything `inst` reads, in operand order.
    pub fn for_each_use(&self, inst: &Inst, pointer_bits: u8, mut visit: impl FnMut(Reg, u8)) {
        match *inst {
            Inst::Const { .. } | Inst::WideConst { .. } | Inst::Undef { .. } | Inst::Address { .. } => {}
            Inst::Copy { src, bits, .. } => visit(src, bits),
            Inst::Bin { bits, a, b, .. }
            | Inst::Cmp { bits, a, b, .. }
            | Inst::Overflow { bits, a, b, .. }
            | Inst::BitOp { bits, a, b, .. } => {
                visit(a, bits);
                visit(b, bits);
            }
            Inst::BinImm { bits, a, .. } | Inst::CmpImm { bits, a, .. } => visit(a, bits),
            Inst::Cast { from, a, .. } | Inst::FloatCast { from, a, .. } => visit(a, from),
            Inst::Select { bits, cond, a, b, .. } => {
                visit(cond, 1);
                visit(a, bits);
                visit(b, bits);
            }
            Inst::FunnelShl { bits, hi, lo, amount, .. } | Inst::FunnelShr { bits, hi, lo, amount, .. } => {
                visit(hi, bits);
                visit(lo, bits);
                visit(amount, bits);
            }
            Inst::Index { base, index, index_bits, .. } => {
                visit(base, pointer_bits);
                visit(index, index_bits);
            }
            Inst::Load { addr, .. } => visit(addr, pointer_bits),
            Inst::Store { src, bits, addr, .. } => {
                visit(src, bits);
                visit(addr, pointer_bits);
            }
            Inst::Alloca { count, .. } => {
                if let Some(count) = count {
                    visit(count, pointer_bits);
                }
            }
            Inst::FloatBin { kind, a, b, .. } | Inst::FloatCmp { kind, a, b, .. } => {
                visit(a, kind.bits());
                visit(b, kind.bits());
            }
            Inst::FloatMath { kind, a, b, c, .. } => {
                visit(a, kind.bits());
                visit(b, kind.bits());
                visit(c, kind.bits());
            }
            Inst::Call { call } => {
                let call = &self.calls[call.idx()];
                if let Callee::Indirect(reg) = call.callee {
                    visit(reg, pointer_bits);
                }
                for arg in &call.args {
                    visit(arg.reg, arg.bits);
                }
            }
        }
    }

    /// Visits `(register, bits)` of everything `inst` writes.
    pub fn for_each_def(&self, inst: &Inst, pointer_bits: u8, mut visit: impl FnMut(Reg, u8)) {
        match *inst {
            Inst::Const { dst, bits, .. }
            | Inst::WideConst { dst, bits, .. }
            | Inst::Undef { dst, bits }
            | Inst::Copy { dst, bits, .. }
            | Inst::Bin { dst, bits, .. }
            | Inst::BinImm { dst, bits, .. }
            | Inst::Select { dst, bits, .. }
            | Inst::BitOp { dst, bits, .. }
            | Inst::FunnelShl { dst, bits, .. }
            | Inst::FunnelShr { dst, bits, .. }
            | Inst::Load { dst, bits, .. } => visit(dst, bits),
            Inst::Cmp { dst, .. } | Inst::CmpImm { dst, .. } | Inst::FloatCmp { dst, .. } => visit(dst, 1),
            Inst::Cast { dst, to, .. } | Inst::FloatCast { dst, to, .. } => visit(dst, to),
            Inst::Overflow { dst, bits, flag, .. } => {
                visit(dst, bits);
                visit(flag, 1);
            }
            Inst::Address { dst, .. } | Inst::Index { dst, .. } | Inst::Alloca { dst, .. } => visit(dst, pointer_bits),
            Inst::FloatBin { dst, kind, .. } | Inst::FloatMath { dst, kind, .. } => visit(dst, kind.bits()),
            Inst::Store { .. } => {}
            Inst::Call { call } => {
                for &(reg, bits) in &self.calls[call.idx()].results {
                    visit(reg, bits);
                }
            }
        }
    }

    /// Visits `(register, bits)` of what the terminator itself reads; the moves on its edges are not part of it.
    pub fn for_each_terminator_use(&self, terminator: &Terminator, pointer_bits: u8, mut visit: impl FnMut(Reg, u8)) {
        match terminator {
            Terminator::Jump(_) | Terminator::Unreachable => {}
            Terminator::Branch { cond, .. } => visit(*cond, 1),
            Terminator::CmpBranch { bits, a, b, .. } => {
                visit(*a, *bits);
                visit(*b, *bits);
            }
            Terminator::CmpImmBranch { bits, a, .. } => visit(*a, *bits),
            Terminator::Switch { value, bits, .. } => visit(*value, *bits),
            Terminator::Return(values) => {
                for (value, slot) in values.iter().zip(&self.results) {
                    visit(*value, slot.bits);
                }
            }
            Terminator::IndirectJump { addr, .. } => visit(*addr, pointer_bits),
        }
    }
}
