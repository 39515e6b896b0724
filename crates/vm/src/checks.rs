//! Faults of arithmetic: what is asked before a division, an addition or a shift is done.

use ir::{BinOp, OverflowOp};
use witness::BugKind;

use crate::run::{Machine, Step};
use crate::value::mask128;
use crate::{Decides, State, Use, Value};

impl Machine<'_> {
    /// A divisor of zero, and the one signed quotient that does not fit, trap on the machine whatever is checked.
    pub(crate) fn check_division(&mut self, state: &State, op: BinOp, bits: u8, a: Value, b: Value) -> Step<()> {
        let label = match op {
            BinOp::SDiv | BinOp::SRem => self.labels.union(a.label(), b.label()),
            _ => b.label(),
        };
        self.depend(state, label, Decides::Fault);
        if let Some(divisor) = b.term() {
            self.uses(state, divisor, Use::Divisor)?;
        }
        let width = u32::from(bits);
        let (ta, tb) = (a.to_term(&mut self.terms, width), b.to_term(&mut self.terms, width));
        let zero = self.terms.constant(0, width);
        let nonzero = self.terms.ne(tb, zero);
        self.check(state, nonzero, |machine| {
            machine.bug(state, BugKind::DivisionByZero, "division by zero".to_string())
        })?;
        if matches!(op, BinOp::SDiv | BinOp::SRem) {
            let (min, ones) = (self.terms.constant(1 << (width - 1), width), self.terms.constant(mask128(bits), width));
            let (is_min, is_minus_one) = (self.terms.eq(ta, min), self.terms.eq(tb, ones));
            let traps = self.terms.and(is_min, is_minus_one);
            let fits = self.terms.not(traps);
            self.check(state, fits, |machine| {
                let message = "the most negative number divided by -1 does not fit its type".to_string();
                machine.bug(state, BugKind::IntegerOverflow, message)
            })?;
        }
        Ok(())
    }

    pub(crate) fn check_overflow(&mut self, state: &State, op: BinOp, bits: u8, a: Value, b: Value) -> Step<()> {
        let (overflow, verb) = match op {
            BinOp::Add => (OverflowOp::SAdd, "addition"),
            BinOp::Sub => (OverflowOp::SSub, "subtraction"),
            _ => (OverflowOp::SMul, "multiplication"),
        };
        let (_, flag) = self.overflow(overflow, bits, a, b);
        self.depend(state, flag.label(), Decides::Fault);
        let flag = flag.to_term(&mut self.terms, 1);
        let fits = self.terms.not(flag);
        self.check(state, fits, |machine| {
            let message = format!("signed {verb} of {bits} bits overflows");
            machine.bug(state, BugKind::IntegerOverflow, message)
        })
    }

    pub(crate) fn check_shift(&mut self, state: &State, bits: u8, amount: Value) -> Step<()> {
        self.depend(state, amount.label(), Decides::Fault);
        let width = u32::from(bits);
        let amount = amount.to_term(&mut self.terms, width);
        let limit = self.terms.constant(u128::from(bits), width);
        let fits = self.terms.ult(amount, limit);
        self.check(state, fits, |machine| {
            let message = format!("shift by at least the width of the value, {bits} bits, or by a negative amount");
            machine.bug(state, BugKind::InvalidShift, message)
        })
    }
}
