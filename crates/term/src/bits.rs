//! Bitwise `not`, `and`, `or`, `xor`.
//!
//! At width one, `or` is written with `and` and `not`, so that a condition and its negation share their structure.

use crate::Terms;
use crate::fold;
use crate::node::{Op, TermId, View};

/// Position and length of the only run of ones, if there is only one.
fn contiguous(mask: u128) -> Option<(u32, u32)> {
    let lo = mask.trailing_zeros();
    let len = (mask >> lo).trailing_ones();
    (mask >> lo >> (len - 1) == 1).then_some((lo, len))
}

impl Terms {
    pub fn not(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        match self.view(a) {
            View::Const(value) => self.constant(!value, width),
            // match: (bvnot (bvnot x))               result: x
            View::Not(x) => x,
            _ => match self.lift_ite(a, width, |value| fold::not(value, width)) {
                Some(result) => result,
                None => self.make1(Op::Not, width, a),
            },
        }
    }

    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let (a, b) = self.ordered(a, b);
        // match: (bvand x x)                         result: x
        if a == b {
            return a;
        }
        if let Some(value) = self.as_const(b) {
            return self.and_const(a, b, value);
        }
        let width = self.width(a);
        // match: (bvand x (bvnot x))                 result: 0
        if self.complementary(a, b) {
            return self.constant(0, width);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                // match: (bvand x (bvand x z))       result: (bvand x z)
                View::And(p, q) if p == x || q == x => return y,
                // match: (bvand x (bvand (bvnot x) z))   result: 0
                View::And(p, q) if self.complementary(p, x) || self.complementary(q, x) => {
                    return self.constant(0, width);
                }
                // match: (bvand x (bvand z K))       result: (bvand (bvand x z) K)
                View::And(p, q) if self.is_const(q) => {
                    let inner = self.and(x, p);
                    return self.and(inner, q);
                }
                // match: (bvand x (bvor x z))        result: x
                View::Or(p, q) if p == x || q == x => return x,
                View::Not(inner) => {
                    if let View::And(p, q) = self.view(inner) {
                        for (p, q) in [(p, q), (q, p)] {
                            // match: (bvand x (bvnot (bvand (bvnot x) z)))   result: x
                            if self.complementary(p, x) {
                                return x;
                            }
                            // match: (bvand x (bvnot (bvand x z)))           result: (bvand x (bvnot z))
                            if p == x {
                                let not = self.not(q);
                                return self.and(x, not);
                            }
                        }
                    }
                }
                // match: (bvand x ((_ zero_extend n) y))   result: zero_extend of (bvand of x's low part and y)
                View::ZExt(inner) => {
                    let narrow = self.width(inner);
                    let low = self.extract(x, narrow - 1, 0);
                    let joined = self.and(low, inner);
                    return self.zext(joined, width);
                }
                _ => {}
            }
        }
        if width == 1
            && let Some(result) = self.and_of_equalities(a, b)
        {
            return result;
        }
        if let Some(result) = self.split_at_concat(a, b, Terms::and) {
            return result;
        }
        self.make2(Op::And, width, a, b)
    }

    fn and_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        // match: (bvand x 0)                         result: 0
        if value == 0 {
            return b;
        }
        // match: (bvand x ones)                      result: x
        if value == fold::mask(width) {
            return a;
        }
        match self.view(a) {
            View::Const(other) => return self.constant(value & other, width),
            // match: (bvand (bvand x K1) K2)         result: (bvand x (K1 & K2))
            View::And(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let both = self.constant(value & other, width);
                    return self.and(x, both);
                }
            }
            // match: (bvand (bvor x K1) K2)          result: (bvor (bvand x K2) (K1 & K2))
            View::Or(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let masked = self.and(x, b);
                    let kept = self.constant(value & other, width);
                    return self.or(masked, kept);
                }
            }
            // match: (bvand ((_ zero_extend n) x) K) result: zero_extend of (bvand x K's low part)
            View::ZExt(x) => {
                let narrow = self.constant(value, self.width(x));
                let masked = self.and(x, narrow);
                return self.zext(masked, width);
            }
            // match: (bvand (concat x y) K)          result: concat of both masked
            View::Concat(x, y) => {
                let low_width = self.width(y);
                let (hi, lo) = (self.constant(value >> low_width, width - low_width), self.constant(value, low_width));
                let (x, y) = (self.and(x, hi), self.and(y, lo));
                return self.concat(x, y);
            }
            _ => {}
        }
        if let Some(result) = self.lift_ite(a, width, |other| other & value) {
            return result;
        }
        // match: (bvand x 0..01..10..0)              result: (concat 0 ((_ extract) x) 0)
        if let Some((lo, len)) = contiguous(value) {
            let middle = self.extract(a, lo + len - 1, lo);
            let shifted = match lo {
                0 => middle,
                _ => {
                    let zeros = self.constant(0, lo);
                    self.concat(middle, zeros)
                }
            };
            return self.zext(shifted, width);
        }
        self.make2(Op::And, width, a, b)
    }

    /// Two facts about one term against constants.
    fn and_of_equalities(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let against_const = |terms: &Terms, t: TermId| match terms.view(t) {
            View::Eq(x, k) if terms.is_const(k) => Some((x, k)),
            _ => None,
        };
        for (x, y) in [(a, b), (b, a)] {
            let Some((p, k)) = against_const(self, x) else { continue };
            // match: (and (= p K1) (= p K2))         result: false, K1 and K2 different
            if let Some((q, _)) = against_const(self, y)
                && p == q
            {
                return Some(self.fls());
            }
            match self.view(y) {
                // match: (and (= p K1) (not (= p K2)))     result: (= p K1), K1 and K2 different
                View::Not(inner) => {
                    if let Some((q, _)) = against_const(self, inner)
                        && p == q
                    {
                        return Some(x);
                    }
                    // match: (and (= p K1) (not (bvult p K2)))  result: (= p K1) or false
                    if let View::Ult(q, bound) = self.view(inner)
                        && p == q
                        && let (Some(value), Some(bound)) = (self.as_const(k), self.as_const(bound))
                    {
                        return Some(if value < bound { self.fls() } else { x });
                    }
                }
                // match: (and (= p K1) (bvult p K2)) result: (= p K1) or false
                View::Ult(q, bound) if p == q => {
                    if let (Some(value), Some(bound)) = (self.as_const(k), self.as_const(bound)) {
                        return Some(if value < bound { x } else { self.fls() });
                    }
                }
                _ => {}
            }
        }
        None
    }

    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (or a b), one bit                   result: (not (and (not a) (not b)))
        if width == 1 {
            let (na, nb) = (self.not(a), self.not(b));
            let neither = self.and(na, nb);
            return self.not(neither);
        }
        let (a, b) = self.ordered(a, b);
        // match: (bvor x x)                          result: x
        if a == b {
            return a;
        }
        if let Some(value) = self.as_const(b) {
            return self.or_const(a, b, value);
        }
        // match: (bvor x (bvnot x))                  result: ones
        if self.complementary(a, b) {
            return self.constant(u128::MAX, width);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                // match: (bvor x (bvor x z))         result: (bvor x z)
                View::Or(p, q) if p == x || q == x => return y,
                // match: (bvor x (bvor z K))         result: (bvor (bvor x z) K)
                View::Or(p, q) if self.is_const(q) => {
                    let inner = self.or(x, p);
                    return self.or(inner, q);
                }
                // match: (bvor x (bvand x z))        result: x
                View::And(p, q) if p == x || q == x => return x,
                _ => {}
            }
        }
        if let Some(result) = self.join_disjoint(a, b) {
            return result;
        }
        if let Some(result) = self.split_at_concat(a, b, Terms::or) {
            return result;
        }
        self.make2(Op::Or, width, a, b)
    }

    fn or_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        // match: (bvor x 0)                          result: x
        if value == 0 {
            return a;
        }
        // match: (bvor x ones)                       result: ones
        if value == fold::mask(width) {
            return b;
        }
        match self.view(a) {
            View::Const(other) => return self.constant(value | other, width),
            // match: (bvor (bvor x K1) K2)           result: (bvor x (K1 | K2))
            View::Or(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let both = self.constant(value | other, width);
                    return self.or(x, both);
                }
            }
            _ => {}
        }
        if let Some(result) = self.lift_ite(a, width, |other| other | value) {
            return result;
        }
        if let Some(result) = self.split_at_concat(a, b, Terms::or) {
            return result;
        }
        self.make2(Op::Or, width, a, b)
    }

    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        let (a, b) = self.ordered(a, b);
        // match: (bvxor x x)                         result: 0
        if a == b {
            return self.constant(0, width);
        }
        if let Some(value) = self.as_const(b) {
            return self.xor_const(a, b, value);
        }
        // match: (bvxor (bvnot x) y)                 result: (bvnot (bvxor x y))
        for (x, y) in [(a, b), (b, a)] {
            if let View::Not(inner) = self.view(x) {
                let xor = self.xor(inner, y);
                return self.not(xor);
            }
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                // match: (bvxor x (bvxor x z))       result: z
                View::Xor(p, q) if p == x => return q,
                View::Xor(p, q) if q == x => return p,
                // match: (bvxor x (bvxor z K))       result: (bvxor (bvxor x z) K)
                View::Xor(p, q) if self.is_const(q) => {
                    let inner = self.xor(x, p);
                    return self.xor(inner, q);
                }
                _ => {}
            }
        }
        if let Some(result) = self.join_disjoint(a, b) {
            return result;
        }
        if let Some(result) = self.split_at_concat(a, b, Terms::xor) {
            return result;
        }
        self.make2(Op::Xor, width, a, b)
    }

    fn xor_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        // match: (bvxor x 0)                         result: x
        if value == 0 {
            return a;
        }
        // match: (bvxor x ones)                      result: (bvnot x)
        if value == fold::mask(width) {
            return self.not(a);
        }
        match self.view(a) {
            View::Const(other) => return self.constant(value ^ other, width),
            // match: (bvxor (bvnot x) K)             result: (bvxor x ~K)
            View::Not(x) => {
                let flipped = self.constant(!value, width);
                return self.xor(x, flipped);
            }
            // match: (bvxor (bvxor x K1) K2)         result: (bvxor x (K1 ^ K2))
            View::Xor(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let both = self.constant(value ^ other, width);
                    return self.xor(x, both);
                }
            }
            _ => {}
        }
        if let Some(result) = self.lift_ite(a, width, |other| other ^ value) {
            return result;
        }
        if let Some(result) = self.split_at_concat(a, b, Terms::xor) {
            return result;
        }
        self.make2(Op::Xor, width, a, b)
    }

    /// How many low bits are certainly zero, seen without descending further than the width allows.
    fn low_zeros(&self, t: TermId) -> u32 {
        match self.view(t) {
            View::Const(value) => value.trailing_zeros().min(self.width(t)),
            View::ZExt(x) => match self.low_zeros(x) {
                zeros if zeros == self.width(x) => self.width(t),
                zeros => zeros,
            },
            View::Concat(x, y) => match self.low_zeros(y) {
                zeros if zeros == self.width(y) => zeros + self.low_zeros(x),
                zeros => zeros,
            },
            View::Shl(_, by) => match self.as_const(by) {
                Some(by) => by.min(u128::from(self.width(t))) as u32,
                None => 0,
            },
            _ => 0,
        }
    }

    /// Above this many low bits all bits are certainly zero.
    fn active_width(&self, t: TermId) -> u32 {
        match self.view(t) {
            View::Const(value) => 128 - value.leading_zeros(),
            View::ZExt(x) => self.width(x),
            _ => self.width(t),
        }
    }

    /// match: (bvor x y), and likewise bvxor and bvadd, where y is zero in the low k bits and x is zero above them
    /// result: (concat (extract y's high bits) (extract x's low bits))
    pub(crate) fn join_disjoint(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let width = self.width(a);
        for (low, high) in [(a, b), (b, a)] {
            let split = self.low_zeros(high);
            if split > 0 && split < width && self.active_width(low) <= split {
                let upper = self.extract(high, width - 1, split);
                let lower = self.extract(low, split - 1, 0);
                return Some(self.concat(upper, lower));
            }
        }
        None
    }

    /// match: (op (concat x y) z), z a concat, extension or constant, op bitwise
    /// result: (concat (op x (extract z)) (op y (extract z)))
    fn split_at_concat(
        &mut self,
        a: TermId,
        b: TermId,
        op: fn(&mut Terms, TermId, TermId) -> TermId,
    ) -> Option<TermId> {
        let width = self.width(a);
        for (x, y) in [(a, b), (b, a)] {
            let split = match self.view(x) {
                View::Concat(_, low) => self.width(low),
                View::ZExt(low) => self.width(low),
                _ => continue,
            };
            if !matches!(self.view(y), View::Concat(..) | View::ZExt(_) | View::Const(_)) {
                continue;
            }
            let (x_hi, x_lo) = (self.extract(x, width - 1, split), self.extract(x, split - 1, 0));
            let (y_hi, y_lo) = (self.extract(y, width - 1, split), self.extract(y, split - 1, 0));
            let (hi, lo) = (op(self, x_hi, y_hi), op(self, x_lo, y_lo));
            return Some(self.concat(hi, lo));
        }
        None
    }
}
