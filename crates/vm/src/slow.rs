//! The table of all instructions on values of any width, concrete or symbolic.

use ir::{BinOp, Inst};

use crate::remember::Remember;
use crate::run::{Machine, Next, Step};
use crate::tlb::site_of;
use crate::value::mask64;
use crate::{Access, Label, State, Value, arith, float};

impl Machine<'_> {
    pub(crate) fn slow(&mut self, state: &mut State, inst: &Inst, calls: &[ir::Call]) -> Step<Next> {
        self.forget_last();
        match inst {
            Inst::Const { dst, bits, value } => state.top.set(*dst, *bits, Value::concrete(u128::from(*value))),
            Inst::WideConst { dst, bits, value } => state.top.set(*dst, *bits, Value::concrete(**value)),
            Inst::Undef { dst, bits } => {
                let value = self.unwritten_value(state, *bits, Label::EMPTY);
                state.top.set(*dst, *bits, value);
            }
            Inst::Address { dst, symbol, addend } => {
                let addr =
                    self.image.address_of(*symbol).wrapping_add(*addend as u64) & mask64(self.image.pointer_bits());
                state.top.set(*dst, self.image.pointer_bits(), Value::concrete(u128::from(addr)));
            }
            Inst::Copy { dst, src, bits } => {
                let value = state.top.value(*src, *bits);
                state.top.set(*dst, *bits, value);
            }
            Inst::Bin { op, bits, nsw, dst, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.binary(state, *op, *bits, *nsw, a, b)?;
                state.top.set(*dst, *bits, value);
            }
            Inst::BinImm { op, bits, nsw, dst, a, imm } => {
                let a = state.top.value(*a, *bits);
                let value = self.binary(state, *op, *bits, *nsw, a, Value::concrete(u128::from(*imm)))?;
                if let (BinOp::Add, Some(from), Some(to)) = (*op, a.term(), value.term()) {
                    self.starts.pass_on(from, to);
                }
                state.top.set(*dst, *bits, value);
            }
            Inst::Cmp { op, bits, dst, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.compare(*op, *bits, a, b);
                state.top.set(*dst, 1, value);
            }
            Inst::CmpImm { op, bits, dst, a, imm } => {
                let a = state.top.value(*a, *bits);
                let value = self.compare(*op, *bits, a, Value::concrete(u128::from(*imm)));
                state.top.set(*dst, 1, value);
            }
            Inst::Cast { op, from, to, dst, a } => {
                let a = state.top.value(*a, *from);
                let value = match a.term() {
                    None => Value { bits: arith::cast128(*op, *from, *to, a.bits), shadow: a.shadow },
                    Some(term) => {
                        let term = arith::cast_term(&mut self.terms, *op, *to, term);
                        Value::of_term(&self.terms, term, a.label())
                    }
                };
                state.top.set(*dst, *to, value);
            }
            Inst::Select { bits, dst, cond, a, b } => {
                let cond = state.top.value(*cond, 1);
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.select_value(cond, a, b, *bits);
                state.top.set(*dst, *bits, value);
            }
            Inst::Overflow { op, bits, dst, flag, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let (value, overflow) = self.overflow(*op, *bits, a, b);
                state.top.set(*dst, *bits, value);
                state.top.set(*flag, 1, overflow);
            }
            Inst::BitOp { op, bits, dst, a, b } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                let value = self.lift(
                    *bits,
                    a,
                    b,
                    |a, b| arith::bit_op128(*op, *bits, a, b),
                    |terms, a, b| arith::bit_op_term(terms, *op, a, b),
                );
                state.top.set(*dst, *bits, value);
            }
            Inst::FunnelShl { bits, dst, hi, lo, amount } | Inst::FunnelShr { bits, dst, hi, lo, amount } => {
                let (hi, lo) = (state.top.value(*hi, *bits), state.top.value(*lo, *bits));
                let amount = state.top.value(*amount, *bits);
                let left = matches!(inst, Inst::FunnelShl { .. });
                let value = self.funnel(*bits, hi, lo, amount, left);
                state.top.set(*dst, *bits, value);
            }
            Inst::Index { dst, base, index, index_bits, scale } => {
                let pointer_bits = self.image.pointer_bits();
                let (base, index) = (state.top.value(*base, pointer_bits), state.top.value(*index, *index_bits));
                let value = self.index(base, index, *index_bits, *scale);
                state.top.set(*dst, pointer_bits, value);
            }
            Inst::Load { dst, bits, addr: reg, .. } => {
                let addr = state.top.value(*reg, self.image.pointer_bits());
                self.stays_in_object(state, addr, u64::from(*bits).div_ceil(8), Access::Read)?;
                let value = self.load(state, addr, *bits)?;
                state.top.set(*dst, *bits, value);
                self.remember(state, site_of(inst), addr, Remember::Read);
            }
            Inst::Store { src, bits, addr: reg, .. } => {
                let addr = state.top.value(*reg, self.image.pointer_bits());
                self.stays_in_object(state, addr, u64::from(*bits).div_ceil(8), Access::Write)?;
                let value = state.top.value(*src, *bits);
                self.store(state, addr, *bits, value)?;
                self.remember(state, site_of(inst), addr, Remember::Write);
            }
            Inst::Alloca { dst, bytes, align, count, variable } => {
                let count = count.map(|reg| state.top.value(reg, self.image.pointer_bits()));
                let base = self.alloca(state, *bytes, *align, count, *variable)?;
                state.top.set(*dst, self.image.pointer_bits(), Value::concrete(u128::from(base)));
            }
            Inst::FloatBin { op, kind, dst, a, b } => {
                let (a, b) = (state.top.value(*a, kind.bits()), state.top.value(*b, kind.bits()));
                let value = self.float_binary(state, float::binary_of(*op), *kind, a, b);
                state.top.set(*dst, kind.bits(), value);
            }
            Inst::FloatCmp { op, kind, dst, a, b } => {
                let (a, b) = (state.top.value(*a, kind.bits()), state.top.value(*b, kind.bits()));
                let value = self.float_cmp(*op, *kind, a, b);
                state.top.set(*dst, 1, value);
            }
            Inst::FloatCast { op, from, to, kind, to_kind, dst, a } => {
                let a = state.top.value(*a, *from);
                let cast = float::Cast { op: *op, from: *from, to: *to, kind: *kind, to_kind: *to_kind };
                let value = self.float_cast(state, cast, a);
                state.top.set(*dst, *to, value);
            }
            Inst::FloatMath { op, kind, dst, a, b, c } => {
                let bits = kind.bits();
                let operands = [*a, *b, *c].map(|reg| state.top.value(reg, bits));
                let value = self.float_math(state, *op, *kind, operands)?;
                state.top.set(*dst, bits, value);
            }
            Inst::Call { call } => return self.call(state, &calls[call.idx()]),
        }
        Ok(Next::Inst)
    }
}
