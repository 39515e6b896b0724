//! The table of all instructions on values of any width, concrete or symbolic.

use ir::{BinOp, Inst};

use crate::remember::Remember;
use crate::run::{Machine, Next, Step};
use crate::tlb::site_of;
use crate::value::mask64;
use crate::{Label, PickWhy, Shadow, State, Value, arith, float};

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
            Inst::Load { dst, bits, addr, .. } => {
                let addr = state.top.value(*addr, self.image.pointer_bits());
                let value = self.load(state, addr, *bits)?;
                state.top.set(*dst, *bits, value);
                self.remember(state, site_of(inst), addr, Remember::Read);
            }
            Inst::Store { src, bits, addr, .. } => {
                let addr = state.top.value(*addr, self.image.pointer_bits());
                let value = state.top.value(*src, *bits);
                self.store(state, addr, *bits, value)?;
                self.remember(state, site_of(inst), addr, Remember::Write);
            }
            Inst::Alloca { dst, bytes, align, count, variable } => {
                let count = count.map(|reg| state.top.value(reg, self.image.pointer_bits()));
                let base = self.alloca(state, *bytes, *align, count, *variable)?;
                state.top.set(*dst, self.image.pointer_bits(), Value::concrete(u128::from(base)));
            }
            Inst::FloatBin { kind, dst, a, b, .. } if self.is_unwritten_float(state, &[*a, *b]) => {
                self.set_unwritten_float(state, *dst, kind.bits(), &[*a, *b]);
            }
            Inst::FloatCmp { dst, a, b, .. } if self.is_unwritten_float(state, &[*a, *b]) => {
                self.set_unwritten_float(state, *dst, 1, &[*a, *b]);
            }
            Inst::FloatCast { to, dst, a, .. } if self.is_unwritten_float(state, &[*a]) => {
                self.set_unwritten_float(state, *dst, *to, &[*a]);
            }
            Inst::FloatMath { kind, dst, a, b, c, .. } if self.is_unwritten_float(state, &[*a, *b, *c]) => {
                self.set_unwritten_float(state, *dst, kind.bits(), &[*a, *b, *c]);
            }
            Inst::FloatBin { op, kind, dst, a, b } => {
                let shadow = self.joint_shadow(state, &[*a, *b]);
                let (a, b) = (self.float_arg(state, *a, kind.bits())?, self.float_arg(state, *b, kind.bits())?);
                state.top.set(*dst, kind.bits(), Value { bits: float::bin(*op, *kind, a, b), shadow });
            }
            Inst::FloatCmp { op, kind, dst, a, b } => {
                let shadow = self.joint_shadow(state, &[*a, *b]);
                let (a, b) = (self.float_arg(state, *a, kind.bits())?, self.float_arg(state, *b, kind.bits())?);
                state.top.set(*dst, 1, Value { bits: u128::from(float::compare(*op, *kind, a, b)), shadow });
            }
            Inst::FloatCast { op, from, to, kind, to_kind, dst, a } => {
                let shadow = self.joint_shadow(state, &[*a]);
                let a = self.float_arg(state, *a, *from)?;
                state.top.set(*dst, *to, Value { bits: float::cast(*op, *from, *to, *kind, *to_kind, a), shadow });
            }
            Inst::FloatMath { op, kind, dst, a, b, c } => {
                let bits = kind.bits();
                let shadow = self.joint_shadow(state, &[*a, *b, *c]);
                let (a, b) = (self.float_arg(state, *a, bits)?, self.float_arg(state, *b, bits)?);
                let c = self.float_arg(state, *c, bits)?;
                let Some(value) = float::math(*op, *kind, a, b, c) else {
                    return Err(self.gap(state, format!("{op:?} on {kind:?} floats is not modelled")));
                };
                state.top.set(*dst, bits, Value { bits: value, shadow });
            }
            Inst::Call { call } => return self.call(state, &calls[call.idx()]),
        }
        Ok(Next::Inst)
    }

    /// The label of what is computed from these registers, without a term.
    fn joint_shadow(&mut self, state: &State, regs: &[ir::Reg]) -> Shadow {
        let label = regs
            .iter()
            .fold(Label::EMPTY, |label, reg| self.labels.union(label, state.top.regs[reg.idx()].shadow.label()));
        Shadow::new(None, label)
    }

    /// Whether an operand depends on memory nobody wrote: then the result may be anything, and depends on it as well.
    fn is_unwritten_float(&self, state: &State, regs: &[ir::Reg]) -> bool {
        let term = |reg: &ir::Reg| state.top.regs[reg.idx()].shadow.term();
        regs.iter().filter_map(term).any(|term| self.mentions_unwritten(term))
    }

    fn set_unwritten_float(&mut self, state: &mut State, dst: ir::Reg, bits: u8, from: &[ir::Reg]) {
        let label = self.joint_shadow(state, from).label();
        let value = self.unwritten_value(state, bits, label);
        state.top.set(dst, bits, value);
    }

    fn float_arg(&mut self, state: &State, reg: ir::Reg, bits: u8) -> Step<u128> {
        let value = state.top.value(reg, bits);
        self.pick(state, value, PickWhy::Float)
    }
}
