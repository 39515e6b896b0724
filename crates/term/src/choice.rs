//! `ite`, and the lifting of an operation on constants through it.

use crate::Terms;
use crate::fold;
use crate::node::{Op, TermId, View};

impl Terms {
    /// `a` where `cond` is 1, else `b`. The arms are bit-vectors of one width.
    pub fn ite(&mut self, cond: TermId, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(cond), 1);
        debug_assert_eq!(self.sort(a), self.sort(b));
        // match: (ite c a a)                         result: a
        if a == b {
            return a;
        }
        // match: (ite true a b)                      result: a
        // match: (ite false a b)                     result: b
        if let Some(value) = self.as_const(cond) {
            return if value == 1 { a } else { b };
        }
        // match: (ite (not c) a b)                   result: (ite c b a)
        if let View::Not(inner) = self.view(cond) {
            return self.ite(inner, b, a);
        }
        if let Some(result) = self.ite_of_constants(cond, a, b) {
            return result;
        }
        // match: (ite c (ite c x y) b)               result: (ite c x b)
        if let View::Ite(c, x, _) = self.view(a)
            && c == cond
        {
            return self.ite(cond, x, b);
        }
        if let View::Ite(c, x, y) = self.view(b) {
            // match: (ite c a (ite c x y))           result: (ite c a y)
            if c == cond {
                return self.ite(cond, a, y);
            }
            // match: (ite c a (ite d a y))           result: (ite (or c d) a y)
            if x == a {
                let either = self.or(cond, c);
                return self.ite(either, a, y);
            }
        }
        // match: (ite (= x y) x y)                   result: y
        if let View::Eq(x, y) = self.view(cond)
            && ((x, y) == (a, b) || (y, x) == (a, b))
        {
            return b;
        }
        let width = self.width(a);
        self.make3(Op::Ite, width, cond, a, b)
    }

    fn ite_of_constants(&mut self, cond: TermId, a: TermId, b: TermId) -> Option<TermId> {
        let width = self.width(a);
        let ones = fold::mask(width);
        let (ca, cb) = (self.as_const(a), self.as_const(b));
        let result = match (ca, cb) {
            // match: (ite c 1 0)                     result: ((_ zero_extend) c)
            (Some(1), Some(0)) => self.zext(cond, width),
            // match: (ite c 0 1)                     result: ((_ zero_extend) (not c))
            (Some(0), Some(1)) => {
                let not = self.not(cond);
                self.zext(not, width)
            }
            // match: (ite c ones 0)                  result: ((_ sign_extend) c)
            (Some(x), Some(0)) if x == ones => self.sext(cond, width),
            // match: (ite c 0 ones)                  result: ((_ sign_extend) (not c))
            (Some(0), Some(x)) if x == ones => {
                let not = self.not(cond);
                self.sext(not, width)
            }
            // match: (ite c true b)                  result: (or c b)
            (Some(1), None) if width == 1 => self.or(cond, b),
            // match: (ite c false b)                 result: (and (not c) b)
            (Some(0), None) if width == 1 => {
                let not = self.not(cond);
                self.and(not, b)
            }
            // match: (ite c a true)                  result: (or (not c) a)
            (None, Some(1)) if width == 1 => {
                let not = self.not(cond);
                self.or(not, a)
            }
            // match: (ite c a false)                 result: (and c a)
            (None, Some(0)) if width == 1 => self.and(cond, a),
            _ => return None,
        };
        Some(result)
    }

    /// match: (f (ite c K1 K2))                      result: (ite c (f K1) (f K2)), K1 and K2 constants
    pub(crate) fn lift_ite(&mut self, t: TermId, width: u32, f: impl Fn(u128) -> u128) -> Option<TermId> {
        let View::Ite(cond, a, b) = self.view(t) else { return None };
        let (a, b) = (self.as_const(a)?, self.as_const(b)?);
        let (a, b) = (self.constant(f(a), width), self.constant(f(b), width));
        Some(self.ite(cond, a, b))
    }
}
