//! Equality and order. Constants stand right; operands are narrowed to the bits that decide.

use crate::Terms;
use crate::fold;
use crate::node::{Op, TermId, View};

impl Terms {
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let (a, b) = self.ordered(a, b);
        // match: (= x x)                             result: true
        if a == b {
            return self.tru();
        }
        // match: (= x y), one bit                    result: (not (xor x y))
        if self.width(a) == 1 {
            let differ = self.xor(a, b);
            return self.not(differ);
        }
        if let Some(value) = self.as_const(b) {
            return self.eq_const(a, b, value);
        }
        if self.complementary(a, b) {
            return self.fls();
        }
        if let Some(result) = self.eq_by_cancelling(a, b) {
            return result;
        }
        if let Some((a, b)) = self.narrowed(a, b) {
            return self.eq(a, b);
        }
        match (self.view(a), self.view(b)) {
            // match: (= (bvnot x) (bvnot y))         result: (= x y), likewise bvneg
            (View::Not(x), View::Not(y)) | (View::Neg(x), View::Neg(y)) => return self.eq(x, y),
            // match: (= (concat p q) (concat r s)), split at one place    result: (and (= p r) (= q s))
            (View::Concat(p, q), View::Concat(r, s)) if self.width(q) == self.width(s) => {
                let (hi, lo) = (self.eq(p, r), self.eq(q, s));
                return self.and(hi, lo);
            }
            _ => {}
        }
        self.make2(Op::Eq, 1, a, b)
    }

    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let eq = self.eq(a, b);
        self.not(eq)
    }

    /// match: (= (op x z) (op y z)), op add, sub, xor   result: (= x y), with z absent counting as zero
    fn eq_by_cancelling(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let width = self.width(a);
        // match: (= (bvadd x K1) (bvadd y K2))       result: (= x (bvadd y (K2 - K1)))
        if let (View::Add(x, j), View::Add(y, k)) = (self.view(a), self.view(b))
            && self.is_const(j)
            && self.is_const(k)
        {
            let difference = self.sub(k, j);
            let moved = self.add(y, difference);
            return Some(self.eq(x, moved));
        }
        for (x, y) in [(a, b), (b, a)] {
            let rest = match self.view(x) {
                View::Add(p, q) if p == y => q,
                View::Add(p, q) if q == y => p,
                View::Xor(p, q) if p == y => q,
                View::Xor(p, q) if q == y => p,
                View::Sub(p, q) if p == y => q,
                _ => continue,
            };
            let zero = self.constant(0, width);
            return Some(self.eq(rest, zero));
        }
        None
    }

    fn eq_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        let moved = |terms: &mut Terms, x: TermId, value: u128| {
            let k = terms.constant(value, terms.width(x));
            terms.eq(x, k)
        };
        match self.view(a) {
            View::Const(other) => return self.truth(value == other),
            // match: (= (bvnot x) K)                 result: (= x ~K)
            View::Not(x) => return moved(self, x, !value),
            // match: (= (bvneg x) K)                 result: (= x -K)
            View::Neg(x) => return moved(self, x, value.wrapping_neg()),
            View::Add(x, y) => {
                // match: (= (bvadd x K1) K2)         result: (= x (K2 - K1))
                if let Some(other) = self.as_const(y) {
                    return moved(self, x, value.wrapping_sub(other));
                }
            }
            View::Sub(x, y) => {
                // match: (= (bvsub K1 x) K2)         result: (= x (K1 - K2))
                if let Some(other) = self.as_const(x) {
                    return moved(self, y, other.wrapping_sub(value));
                }
                // match: (= (bvsub x y) 0)           result: (= x y)
                if value == 0 {
                    return self.eq(x, y);
                }
            }
            View::Xor(x, y) => {
                // match: (= (bvxor x K1) K2)         result: (= x (K1 ^ K2))
                if let Some(other) = self.as_const(y) {
                    return moved(self, x, value ^ other);
                }
                // match: (= (bvxor x y) 0)           result: (= x y)
                if value == 0 {
                    return self.eq(x, y);
                }
            }
            // match: (= (bvand x K1) K2), K2 not within K1    result: false
            View::And(_, y) => {
                if let Some(mask) = self.as_const(y)
                    && value & !mask != 0
                {
                    return self.fls();
                }
            }
            // match: (= (bvor x K1) K2), K1 not within K2     result: false
            View::Or(_, y) => {
                if let Some(set) = self.as_const(y)
                    && set & !value != 0
                {
                    return self.fls();
                }
            }
            // match: (= (bvmul x K1) K2), K1 odd     result: (= x (K2 * K1^-1))
            View::Mul(x, y) => {
                if let Some(factor) = self.as_const(y)
                    && factor & 1 == 1
                {
                    return moved(self, x, value.wrapping_mul(inverse(factor)));
                }
            }
            // match: (= (bvshl x k) K)               result: (= ((_ extract n-k-1 0) x) (K >> k)), or false
            View::Shl(x, y) => {
                if let Some(by) = self.as_const(y) {
                    if value & fold::mask(by as u32) != 0 {
                        return self.fls();
                    }
                    let kept = self.extract(x, width - 1 - by as u32, 0);
                    return moved(self, kept, value >> by);
                }
            }
            // match: (= ((_ zero_extend n) x) K)     result: (= x K), or false when K does not fit
            View::ZExt(x) => {
                return match value <= fold::mask(self.width(x)) {
                    true => moved(self, x, value),
                    false => self.fls(),
                };
            }
            // match: (= ((_ sign_extend n) x) K)     result: (= x K), or false when K does not fit
            View::SExt(x) => {
                let inner = self.width(x);
                return match fold::sext(value & fold::mask(inner), inner, width) == value {
                    true => moved(self, x, value),
                    false => self.fls(),
                };
            }
            // match: (= (concat x y) K)              result: (and (= x K's high part) (= y K's low part))
            View::Concat(x, y) => {
                let hi = moved(self, x, value >> self.width(y));
                if self.is_false(hi) {
                    return hi;
                }
                let lo = moved(self, y, value);
                return self.and(hi, lo);
            }
            View::SRem(x, y) => {
                if let Some(divisor) = self.as_const(y)
                    && divisor.is_power_of_two()
                    && !fold::is_negative(divisor, width)
                {
                    return self.eq_srem(x, divisor, value, width);
                }
            }
            View::Ite(c, x, y) => {
                if let Some(result) = self.eq_ite(c, x, y, b, value) {
                    return result;
                }
            }
            _ => {}
        }
        self.make2(Op::Eq, 1, a, b)
    }

    /// match: (= (bvsrem x 2^k) K)
    /// result: x's low k bits against K, and x's sign is K's sign when K is not 0; false when K is out of range
    fn eq_srem(&mut self, x: TermId, divisor: u128, value: u128, width: u32) -> TermId {
        let rest = fold::signed(value, width);
        if rest.unsigned_abs() >= divisor {
            return self.fls();
        }
        let bits = divisor.trailing_zeros(); // a divisor of 1 never gets here: the builder folds it
        let low = self.extract(x, bits - 1, 0);
        let wanted = self.constant(value, bits);
        let same = self.eq(low, wanted);
        let sign = self.extract(x, width - 1, width - 1);
        match rest.signum() {
            0 => same,
            1 => {
                let positive = self.not(sign);
                self.and(positive, same)
            }
            _ => self.and(sign, same),
        }
    }

    /// An `ite` with a constant arm against a constant.
    fn eq_ite(&mut self, c: TermId, x: TermId, y: TermId, k: TermId, value: u128) -> Option<TermId> {
        match (self.as_const(x), self.as_const(y)) {
            // match: (= (ite c K1 K2) K)             result: c, (not c) or false
            (Some(p), Some(q)) => Some(match (p == value, q == value) {
                (true, _) => c,
                (_, true) => self.not(c),
                _ => self.fls(),
            }),
            // match: (= (ite c K y) K)               result: (or c (= y K))
            (Some(p), None) if p == value => self.descend(|terms| {
                let rest = terms.eq(y, k);
                terms.or(c, rest)
            }),
            // match: (= (ite c K1 y) K)              result: (and (not c) (= y K))
            (Some(_), None) => self.descend(|terms| {
                let rest = terms.eq(y, k);
                let not = terms.not(c);
                terms.and(not, rest)
            }),
            // match: (= (ite c x K) K)               result: (or (not c) (= x K))
            (None, Some(q)) if q == value => self.descend(|terms| {
                let rest = terms.eq(x, k);
                let not = terms.not(c);
                terms.or(not, rest)
            }),
            // match: (= (ite c x K2) K)              result: (and c (= x K))
            (None, Some(_)) => self.descend(|terms| {
                let rest = terms.eq(x, k);
                terms.and(c, rest)
            }),
            (None, None) => None,
        }
    }

    /// match: (cmp (extend x) (extend y)), both of one kind, cmp an equality or an unsigned order
    /// result: (cmp x y) at the wider of the two inner widths
    fn narrowed(&mut self, a: TermId, b: TermId) -> Option<(TermId, TermId)> {
        match (self.view(a), self.view(b)) {
            (View::ZExt(x), View::ZExt(y)) => {
                let width = self.width(x).max(self.width(y));
                Some((self.zext(x, width), self.zext(y, width)))
            }
            (View::SExt(x), View::SExt(y)) => {
                let width = self.width(x).max(self.width(y));
                Some((self.sext(x, width), self.sext(y, width)))
            }
            _ => None,
        }
    }

    pub fn ult(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvult x x)                         result: false
        if a == b {
            return self.fls();
        }
        // match: (bvult x y), one bit                result: (and (not x) y)
        if width == 1 {
            let not = self.not(a);
            return self.and(not, b);
        }
        if let Some(value) = self.as_const(b) {
            return self.ult_const(a, b, value);
        }
        // match: (bvult K x)                         result: (not (bvult x (K + 1))), false for the largest K
        if let Some(value) = self.as_const(a) {
            if value == fold::mask(width) {
                return self.fls();
            }
            let next = self.constant(value + 1, width);
            let below = self.ult(b, next);
            return self.not(below);
        }
        if let Some((a, b)) = self.narrowed(a, b) {
            return self.ult(a, b);
        }
        match (self.view(a), self.view(b)) {
            // match: (bvult (concat p q) (concat p s))    result: (bvult q s)
            (View::Concat(p, q), View::Concat(r, s)) if p == r => return self.ult(q, s),
            // match: (bvult (concat p q) (concat r q))    result: (bvult p r)
            (View::Concat(p, q), View::Concat(r, s)) if q == s => return self.ult(p, r),
            // match: (bvult (bvnot x) (bvnot y))     result: (bvult y x)
            (View::Not(x), View::Not(y)) => return self.ult(y, x),
            _ => {}
        }
        self.make2(Op::Ult, 1, a, b)
    }

    fn ult_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        // match: (bvult x 0)                         result: false
        if value == 0 {
            return self.fls();
        }
        // match: (bvult x 1)                         result: (= x 0)
        if value == 1 {
            let zero = self.constant(0, width);
            return self.eq(a, zero);
        }
        // match: (bvult x 10..0)                     result: (not ((_ extract n-1 n-1) x))
        if value == fold::sign_bit(width) {
            let sign = self.extract(a, width - 1, width - 1);
            return self.not(sign);
        }
        // match: (bvult x ones)                      result: (not (= x ones))
        if value == fold::mask(width) {
            return self.ne(a, b);
        }
        let against = |terms: &mut Terms, x: TermId, value: u128| {
            let k = terms.constant(value, terms.width(x));
            terms.ult(x, k)
        };
        match self.view(a) {
            View::Const(other) => return self.truth(other < value),
            // match: (bvult ((_ zero_extend n) x) K)     result: (bvult x K), true for a K beyond x's range
            View::ZExt(x) => {
                return match value <= fold::mask(self.width(x)) {
                    true => against(self, x, value),
                    false => self.tru(),
                };
            }
            // match: (bvult ((_ sign_extend n) x) K)     result: (bvult x K'), K' being K moved into x's range
            View::SExt(x) => {
                let inner = self.width(x);
                let top = fold::sign_bit(inner);
                // The values of sign_extend are [0, top) and [-top, -1]; between them lies a gap.
                let low_end = fold::sext(top, inner, width);
                let bound = if value <= low_end { value.min(top) } else { value };
                return against(self, x, bound);
            }
            // match: (bvult (concat x y) K), K's low part 0, or x constant   result: (bvult x K's high part), ...
            View::Concat(x, y) => {
                let split = self.width(y);
                let (hi, lo) = (value >> split, value & fold::mask(split));
                if lo == 0 {
                    return against(self, x, hi);
                }
                if let Some(upper) = self.as_const(x) {
                    return match upper.cmp(&hi) {
                        std::cmp::Ordering::Less => self.tru(),
                        std::cmp::Ordering::Greater => self.fls(),
                        std::cmp::Ordering::Equal => against(self, y, lo),
                    };
                }
                // match: (bvult (concat x y) 0..0K)      result: (and (= x 0) (bvult y K))
                if hi == 0 {
                    let zero = self.constant(0, width - split);
                    let upper = self.eq(x, zero);
                    let lower = against(self, y, lo);
                    return self.and(upper, lower);
                }
            }
            // match: (bvult (bvnot x) K)             result: (not (bvult x (~K + 1)))
            View::Not(x) => {
                let bound = self.constant((!value).wrapping_add(1), width);
                let below = self.ult(x, bound);
                return self.not(below);
            }
            // match: (bvult (bvmul x K) L), K the inverse of a smaller D, L - 1 the largest quotient by D    result: (= (bvurem x D) 0)
            View::Mul(x, y) => {
                if let Some(divisor) = self.as_const(y).and_then(|factor| tested_divisor(factor, value, width)) {
                    let (divisor, zero) = (self.constant(divisor, width), self.constant(0, width));
                    let rest = self.urem(x, divisor);
                    return self.eq(rest, zero);
                }
            }
            _ => {}
        }
        match self.lift_ite(a, 1, |other| fold::ult(other, value)) {
            Some(result) => result,
            None => self.make2(Op::Ult, 1, a, b),
        }
    }

    pub fn slt(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvslt x x)                         result: false
        if a == b {
            return self.fls();
        }
        // match: (bvslt x y), one bit                result: (and x (not y))
        if width == 1 {
            let not = self.not(b);
            return self.and(a, not);
        }
        if let Some(value) = self.as_const(b) {
            return self.slt_const(a, b, value);
        }
        // match: (bvslt K x)                         result: (not (bvslt x (K + 1))), false for the largest K
        if let Some(value) = self.as_const(a) {
            if value == fold::sign_bit(width) - 1 {
                return self.fls();
            }
            let next = self.constant(value.wrapping_add(1), width);
            let below = self.slt(b, next);
            return self.not(below);
        }
        match (self.view(a), self.view(b)) {
            // match: (bvslt ((_ zero_extend m) x) ((_ zero_extend n) y))   result: (bvult ...)
            (View::ZExt(_), View::ZExt(_)) => return self.ult(a, b),
            // match: (bvslt ((_ sign_extend m) x) ((_ sign_extend n) y))   result: (bvslt x y) at the wider width
            (View::SExt(x), View::SExt(y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                return self.slt(x, y);
            }
            // match: (bvslt (bvnot x) (bvnot y))     result: (bvslt y x)
            (View::Not(x), View::Not(y)) => return self.slt(y, x),
            _ => {}
        }
        self.make2(Op::Slt, 1, a, b)
    }

    fn slt_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        let smallest = fold::sign_bit(width);
        // match: (bvslt x 10..0)                     result: false
        if value == smallest {
            return self.fls();
        }
        // match: (bvslt x 0)                         result: ((_ extract n-1 n-1) x)
        if value == 0 {
            return self.extract(a, width - 1, width - 1);
        }
        // match: (bvslt x 10..01)                    result: (= x 10..0)
        if value == smallest + 1 {
            let least = self.constant(smallest, width);
            return self.eq(a, least);
        }
        // match: (bvslt x 01..1)                     result: (not (= x 01..1))
        if value == smallest - 1 {
            return self.ne(a, b);
        }
        let against = |terms: &mut Terms, x: TermId, value: u128| {
            let k = terms.constant(value, terms.width(x));
            terms.slt(x, k)
        };
        match self.view(a) {
            View::Const(other) => return self.truth(fold::slt(other, value, width) == 1),
            // match: (bvslt ((_ zero_extend n) x) K)     result: false for a negative K, else (bvult ...)
            View::ZExt(_) => {
                return match fold::is_negative(value, width) {
                    true => self.fls(),
                    false => self.ult(a, b),
                };
            }
            // match: (bvslt ((_ sign_extend n) x) K)     result: (bvslt x K), or what a K out of range decides
            View::SExt(x) => {
                let inner = self.width(x);
                let bound = fold::signed(value, width);
                let largest = fold::mask(inner) as i128 >> 1;
                if bound > largest {
                    return self.tru();
                }
                if bound < -largest - 1 {
                    return self.fls();
                }
                return against(self, x, value);
            }
            // match: (bvslt (concat x y) K), K's low part 0   result: (bvslt x K's high part)
            View::Concat(x, y) if value & fold::mask(self.width(y)) == 0 => {
                return against(self, x, value >> self.width(y));
            }
            // match: (bvslt (bvnot x) K)             result: (not (bvslt x (~K + 1)))
            View::Not(x) => {
                let bound = self.constant((!value).wrapping_add(1), width);
                let below = self.slt(x, bound);
                return self.not(below);
            }
            _ => {}
        }
        match self.lift_ite(a, 1, |other| fold::slt(other, value, width)) {
            Some(result) => result,
            None => self.make2(Op::Slt, 1, a, b),
        }
    }

    /// `a <= b`, unsigned; written as `(not (bvult b a))`.
    pub fn ule(&mut self, a: TermId, b: TermId) -> TermId {
        let above = self.ult(b, a);
        self.not(above)
    }

    /// `a <= b`, signed; written as `(not (bvslt b a))`.
    pub fn sle(&mut self, a: TermId, b: TermId) -> TermId {
        let above = self.slt(b, a);
        self.not(above)
    }

    /// Where `a` holds, `b` does.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let not = self.not(a);
        self.or(not, b)
    }
}

/// By what `x * factor < limit` says that `x` can be divided without rest. A product with the inverse of an odd number is the quotient
/// where nothing is left, and larger than any quotient where something is.
fn tested_divisor(factor: u128, limit: u128, width: u32) -> Option<u128> {
    if factor.is_multiple_of(2) {
        return None;
    }
    let divisor = inverse(factor) & fold::mask(width);
    (divisor > 1 && divisor < factor && limit - 1 == fold::mask(width) / divisor).then_some(divisor)
}

/// The inverse of an odd number modulo 2^128, and so modulo every smaller power of two.
fn inverse(odd: u128) -> u128 {
    // Newton's step doubles the number of correct low bits; `odd` itself is right in three.
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))))
}
