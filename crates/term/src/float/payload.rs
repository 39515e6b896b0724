//! What a float is to somebody who cannot see which NaN it is.
//!
//! `x * y` and `y * x` are the same number, but where both are NaNs it is the first one's bits that come out. A comparison, a
//! conversion to an integer and the question whether it is a NaN do not tell one NaN from another, and nor do the operations below
//! them: there operands have an order, and what is equal is one term.

use super::{FloatBinary, FloatUnary, Format, Rounding};
use crate::Terms;
use crate::node::{TermId, View};

/// How a term changes the sign of a float.
#[derive(Clone, Copy)]
enum Sign {
    Flipped,
    Cleared,
}

impl Terms {
    /// A float that is the same number, or another NaN where this is one.
    ///
    /// match: (fadd y x), (fmul y x), (fma y x z)         result: operands in order
    /// match: (fmul d d), (fabs d), d (fsub y x)          result: d the other way around
    /// match: (fadd x (fneg y)), (fsub x (fneg y))        result: (fsub x y), (fadd x y)
    pub(crate) fn without_payload(&mut self, t: TermId) -> TermId {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.without_payload.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            for operand in self.floats_below(top).into_iter().flatten() {
                if self.is_made_of_floats(operand) && !self.without_payload.contains_key(&operand) {
                    stack.push(operand);
                }
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if !self.is_made_of_floats(top) {
                return top;
            }
            let rebuilt = self.rebuilt(top);
            let plainer = *self.without_payload.entry(rebuilt).or_insert(rebuilt);
            self.without_payload.insert(top, plainer);
        }
        self.plainer(t)
    }

    fn plainer(&self, t: TermId) -> TermId {
        self.without_payload.get(&t).copied().unwrap_or(t)
    }

    fn is_made_of_floats(&self, t: TermId) -> bool {
        self.has_floats(t) && self.floats_below(t).iter().any(Option::is_some)
    }

    /// The operands that are floats, of what gives a float.
    fn floats_below(&self, t: TermId) -> [Option<TermId>; 3] {
        match self.view(t) {
            View::FloatBinary { a, b, .. } => [Some(a), Some(b), None],
            View::Fma { a, b, c, .. } => [Some(a), Some(b), Some(c)],
            View::FloatUnary { op: FloatUnary::Sqrt | FloatUnary::Integral | FloatUnary::Resize, arg, .. } => {
                [Some(arg), None, None]
            }
            View::Ite(_, a, b) => [Some(a), Some(b), None],
            _ => [self.sign_changed(t).map(|(a, _)| a), None, None],
        }
    }

    fn rebuilt(&mut self, t: TermId) -> TermId {
        match self.view(t) {
            View::FloatBinary { op, rounding, a, b } => {
                let (a, b) = (self.plainer(a), self.plainer(b));
                if op == FloatBinary::Mul && a == b {
                    let size = self.either_difference(a);
                    return self.float_binary(op, rounding, size, size);
                }
                let (op, a, b) = match (op, self.negated(a), self.negated(b)) {
                    (FloatBinary::Add, _, Some(y)) => (FloatBinary::Sub, a, y),
                    (FloatBinary::Add, Some(x), None) => (FloatBinary::Sub, b, x),
                    (FloatBinary::Sub, _, Some(y)) => (FloatBinary::Add, a, y),
                    _ => (op, a, b),
                };
                let (a, b) = if op.commutes() { self.ordered(a, b) } else { (a, b) };
                self.float_binary(op, rounding, a, b)
            }
            View::Fma { rounding, a, b, c } => {
                let (a, b) = self.ordered(self.plainer(a), self.plainer(b));
                self.ffma(rounding, a, b, self.plainer(c))
            }
            View::FloatUnary { op, rounding, arg } => {
                let width = self.width(t);
                self.float_unary(op, rounding, self.plainer(arg), width)
            }
            View::Ite(c, a, b) => self.ite(c, self.plainer(a), self.plainer(b)),
            _ => match self.sign_changed(t) {
                Some((a, Sign::Flipped)) => self.fneg(self.plainer(a)),
                Some((a, Sign::Cleared)) => {
                    let size = self.either_difference(self.plainer(a));
                    self.fabs(size)
                }
                None => t,
            },
        }
    }

    /// Of `x - y` and `y - x`, which differ in their sign alone, always the same one.
    fn either_difference(&mut self, t: TermId) -> TermId {
        match self.view(t) {
            View::FloatBinary { op: FloatBinary::Sub, rounding, a, b }
                if !matches!(rounding, Rounding::Down | Rounding::Up) =>
            {
                let (a, b) = self.ordered(a, b);
                self.fsub(rounding, a, b)
            }
            _ => t,
        }
    }

    /// What a term is the negative of.
    fn negated(&self, t: TermId) -> Option<TermId> {
        match self.any_sign_changed(t)? {
            (of, Sign::Flipped) => Some(of),
            (_, Sign::Cleared) => None,
        }
    }

    /// The float whose sign a term changes, where that float is made by an operation.
    fn sign_changed(&self, t: TermId) -> Option<(TermId, Sign)> {
        self.any_sign_changed(t).filter(|(of, _)| {
            matches!(self.view(*of), View::FloatBinary { .. } | View::Fma { .. } | View::FloatUnary { .. })
        })
    }

    fn any_sign_changed(&self, t: TermId) -> Option<(TermId, Sign)> {
        let format = Format::find(self.width(t))?;
        Some(match self.view(t) {
            View::Xor(a, k) if self.as_const(k) == Some(format.sign_bit()) => (a, Sign::Flipped),
            View::And(a, k) if self.as_const(k) == Some(format.sign_bit() - 1) => (a, Sign::Cleared),
            View::ZExt(inner) if self.width(inner) + 1 == format.width() => match self.view(inner) {
                View::Extract { arg, lo: 0 } if self.width(arg) == format.width() => (arg, Sign::Cleared),
                _ => return None,
            },
            View::Concat(sign, rest) => match (self.view(sign), self.view(rest)) {
                (View::Not(top), View::Extract { arg, lo: 0 }) if self.width(arg) == format.width() => {
                    match self.view(top) {
                        View::Extract { arg: same, lo } if same == arg && lo + 1 == format.width() => {
                            (arg, Sign::Flipped)
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            },
            _ => return None,
        })
    }
}
