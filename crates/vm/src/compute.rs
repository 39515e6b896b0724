//! What instructions compute: on bits where all is concrete, on terms elsewhere.

use ir::{BinOp, CmpOp, OverflowOp};
use term::{TermId, Terms};

use crate::run::{Machine, Step};
use crate::value::mask128;
use crate::{Shadow, State, Value, arith};

impl Machine<'_> {
    /// Applies an operation to two values, on bits or on terms.
    pub(crate) fn lift(
        &mut self,
        bits: u8,
        a: Value,
        b: Value,
        concrete: impl FnOnce(u128, u128) -> u128,
        symbolic: impl FnOnce(&mut Terms, TermId, TermId) -> TermId,
    ) -> Value {
        let label = self.labels.union(a.label(), b.label());
        if a.term().is_none() && b.term().is_none() {
            return Value { bits: concrete(a.bits, b.bits), shadow: Shadow::new(None, label) };
        }
        let (a, b) = (a.to_term(&mut self.terms, u32::from(bits)), b.to_term(&mut self.terms, u32::from(bits)));
        let term = symbolic(&mut self.terms, a, b);
        Value::of_term(&self.terms, term, label)
    }

    pub(crate) fn binary(&mut self, state: &State, op: BinOp, bits: u8, nsw: bool, a: Value, b: Value) -> Step<Value> {
        match op {
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => self.check_division(state, op, bits, a, b)?,
            BinOp::Add | BinOp::Sub | BinOp::Mul if nsw && self.image.checks.overflow => {
                self.check_overflow(state, op, bits, a, b)?;
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr if self.image.checks.shift => self.check_shift(state, bits, b)?,
            _ => {}
        }
        Ok(self.lift(
            bits,
            a,
            b,
            |a, b| arith::bin128(op, bits, a, b).unwrap_or(0),
            |terms, a, b| arith::bin_term(terms, op, a, b),
        ))
    }

    pub(crate) fn compare(&mut self, op: CmpOp, bits: u8, a: Value, b: Value) -> Value {
        let label = self.labels.union(a.label(), b.label());
        if a.term().is_none() && b.term().is_none() {
            let holds = arith::cmp128(op, bits, a.bits, b.bits);
            return Value { bits: u128::from(holds), shadow: Shadow::new(None, label) };
        }
        let (a, b) = (a.to_term(&mut self.terms, u32::from(bits)), b.to_term(&mut self.terms, u32::from(bits)));
        let term = self.compared.compare(&mut self.terms, op, a, b);
        Value::of_term(&self.terms, term, label)
    }

    pub(crate) fn overflow(&mut self, op: OverflowOp, bits: u8, a: Value, b: Value) -> (Value, Value) {
        let result = self.lift(
            bits,
            a,
            b,
            |a, b| arith::overflow128(op, bits, a, b).0,
            |terms, a, b| arith::overflow_result_term(terms, op, a, b),
        );
        let flag = self.lift(
            bits,
            a,
            b,
            |a, b| u128::from(arith::overflow128(op, bits, a, b).1),
            |terms, a, b| arith::overflow_term(terms, op, a, b),
        );
        (result, flag)
    }

    pub(crate) fn select_value(&mut self, cond: Value, a: Value, b: Value, bits: u8) -> Value {
        let arms = self.labels.union(a.label(), b.label());
        let label = self.labels.union(arms, cond.label());
        match cond.term() {
            None => {
                let chosen = if cond.bits != 0 { a } else { b };
                let label = self.labels.union(chosen.label(), cond.label());
                Value { bits: chosen.bits, shadow: Shadow::new(chosen.term(), label) }
            }
            Some(cond) => {
                let (a, b) = (a.to_term(&mut self.terms, u32::from(bits)), b.to_term(&mut self.terms, u32::from(bits)));
                let term = self.terms.ite(cond, a, b);
                Value::of_term(&self.terms, term, label)
            }
        }
    }

    pub(crate) fn funnel(&mut self, bits: u8, hi: Value, lo: Value, amount: Value, left: bool) -> Value {
        let width = u32::from(bits);
        let halves = self.labels.union(hi.label(), lo.label());
        let label = self.labels.union(halves, amount.label());
        let (hi, lo) = (hi.to_term(&mut self.terms, width), lo.to_term(&mut self.terms, width));
        let amount = amount.to_term(&mut self.terms, width);
        let modulus = self.terms.constant(u128::from(bits), width);
        let amount = self.terms.urem(amount, modulus);
        let rest = self.terms.sub(modulus, amount);
        let (up, down) = if left { (amount, rest) } else { (rest, amount) };
        let (high, low) = (self.terms.shl(hi, up), self.terms.lshr(lo, down));
        let mixed = self.terms.or(high, low);
        let zero = self.terms.constant(0, width);
        let none = self.terms.eq(amount, zero);
        let term = self.terms.ite(none, if left { hi } else { lo }, mixed);
        Value::of_term(&self.terms, term, label)
    }

    pub(crate) fn index(&mut self, base: Value, index: Value, index_bits: u8, scale: u64) -> Value {
        let width = u32::from(self.image.pointer_bits());
        let label = self.labels.union(base.label(), index.label());
        let start = match base.term() {
            None => Some(base.bits as u64),
            Some(term) => self.starts.of(term),
        };
        let (base, index) =
            (base.to_term(&mut self.terms, width), index.to_term(&mut self.terms, u32::from(index_bits)));
        let index = match u32::from(index_bits).cmp(&width) {
            std::cmp::Ordering::Less => self.terms.sext(index, width),
            std::cmp::Ordering::Equal => index,
            std::cmp::Ordering::Greater => self.terms.extract(index, width - 1, 0),
        };
        let scale = self.terms.constant(u128::from(scale) & mask128(width as u8), width);
        let offset = self.terms.mul(index, scale);
        let term = self.terms.add(base, offset);
        let value = Value::of_term(&self.terms, term, label);
        if let (Some(start), Some(term)) = (start, value.term()) {
            self.starts.enter(term, start);
        }
        value
    }
}
