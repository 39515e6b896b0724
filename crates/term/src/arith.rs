//! Arithmetic and shifts. Sums keep their constant outermost and on the right; one-bit arithmetic is logic.

use crate::Terms;
use crate::fold;
use crate::node::{Op, TermId, View};

impl Terms {
    pub fn neg(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        // match: (bvneg x), one bit                  result: x
        if width == 1 {
            return a;
        }
        match self.view(a) {
            View::Const(value) => return self.constant(value.wrapping_neg(), width),
            // match: (bvneg (bvneg x))               result: x
            View::Neg(x) => return x,
            // match: (bvneg (bvsub x y))             result: (bvsub y x)
            View::Sub(x, y) => return self.sub(y, x),
            // match: (bvneg (bvnot x))               result: (bvadd x 1)
            View::Not(x) => {
                let one = self.constant(1, width);
                return self.add(x, one);
            }
            // match: (bvneg (bvadd x K))             result: (bvsub -K x)
            View::Add(x, y) => {
                if let Some(value) = self.as_const(y) {
                    let from = self.constant(value.wrapping_neg(), width);
                    return self.sub(from, x);
                }
            }
            // match: (bvneg (bvmul x K))             result: (bvmul x -K)
            View::Mul(x, y) => {
                if let Some(value) = self.as_const(y) {
                    let factor = self.constant(value.wrapping_neg(), width);
                    return self.mul(x, factor);
                }
            }
            _ => {}
        }
        match self.lift_ite(a, width, |value| fold::neg(value, width)) {
            Some(result) => result,
            None => self.make1(Op::Neg, width, a),
        }
    }

    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvadd x y), one bit                result: (bvxor x y)
        if width == 1 {
            return self.xor(a, b);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(value) = self.as_const(b) {
            return self.add_const(a, b, value);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                // match: (bvadd x (bvneg y))         result: (bvsub x y)
                View::Neg(z) => return self.sub(x, z),
                // match: (bvadd x (bvadd y K))       result: (bvadd (bvadd x y) K)
                View::Add(p, q) if self.is_const(q) => {
                    let sum = self.add(x, p);
                    return self.add(sum, q);
                }
                // match: (bvadd x (bvsub y x))       result: y
                View::Sub(p, q) if q == x => return p,
                // match: (bvadd x (bvsub K y))       result: (bvadd (bvsub x y) K)
                View::Sub(p, q) if self.is_const(p) => {
                    let difference = self.sub(x, q);
                    return self.add(difference, p);
                }
                _ => {}
            }
        }
        // match: (bvadd (bvmul x K1) (bvmul x K2))   result: (bvmul x (K1 + K2)); x alone counts as K = 1
        let ((x, p), (y, q)) = (self.coefficient(a), self.coefficient(b));
        if x == y {
            let factor = self.constant(p.wrapping_add(q), width);
            return self.mul(x, factor);
        }
        if let Some(result) = self.join_disjoint(a, b) {
            return result;
        }
        self.make2(Op::Add, width, a, b)
    }

    fn add_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        // match: (bvadd x 0)                         result: x
        if value == 0 {
            return a;
        }
        match self.view(a) {
            View::Const(other) => return self.constant(value.wrapping_add(other), width),
            // match: (bvadd (bvadd x K1) K2)         result: (bvadd x (K1 + K2))
            View::Add(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let sum = self.constant(value.wrapping_add(other), width);
                    return self.add(x, sum);
                }
            }
            // match: (bvadd (bvsub K1 x) K2)         result: (bvsub (K1 + K2) x)
            View::Sub(x, y) => {
                if let Some(other) = self.as_const(x) {
                    let sum = self.constant(value.wrapping_add(other), width);
                    return self.sub(sum, y);
                }
            }
            // match: (bvadd (bvnot x) K)             result: (bvsub (K - 1) x)
            View::Not(x) => {
                let from = self.constant(value.wrapping_sub(1), width);
                return self.sub(from, x);
            }
            // match: (bvadd (bvneg x) K)             result: (bvsub K x)
            View::Neg(x) => return self.sub(b, x),
            _ => {}
        }
        if let Some(result) = self.lift_ite(a, width, |other| fold::add(other, value, width)) {
            return result;
        }
        if let Some(result) = self.join_disjoint(a, b) {
            return result;
        }
        self.make2(Op::Add, width, a, b)
    }

    /// The term as `base * factor`, with factor 1 when it is no product.
    fn coefficient(&self, t: TermId) -> (TermId, u128) {
        match self.view(t) {
            View::Mul(x, y) => self.as_const(y).map_or((t, 1), |factor| (x, factor)),
            View::Shl(x, y) => self.as_const(y).map_or((t, 1), |by| (x, 1 << by)),
            View::Neg(x) => (x, fold::mask(self.width(t))),
            _ => (t, 1),
        }
    }

    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvsub x y), one bit                result: (bvxor x y)
        if width == 1 {
            return self.xor(a, b);
        }
        // match: (bvsub x x)                         result: 0
        if a == b {
            return self.constant(0, width);
        }
        // match: (bvsub x K)                         result: (bvadd x -K)
        if let Some(value) = self.as_const(b) {
            let negated = self.constant(value.wrapping_neg(), width);
            return self.add(a, negated);
        }
        if let Some(value) = self.as_const(a) {
            return self.sub_from_const(a, value, b);
        }
        match self.view(b) {
            // match: (bvsub x (bvneg y))             result: (bvadd x y)
            View::Neg(y) => return self.add(a, y),
            // match: (bvsub x (bvadd y K))           result: (bvadd (bvsub x y) -K)
            View::Add(y, k) if self.is_const(k) => {
                let difference = self.sub(a, y);
                return self.sub(difference, k);
            }
            // match: (bvsub x (bvadd x y))           result: (bvneg y)
            View::Add(x, y) if x == a => return self.neg(y),
            View::Add(x, y) if y == a => return self.neg(x),
            // match: (bvsub x (bvsub x y))           result: y
            View::Sub(x, y) if x == a => return y,
            // match: (bvsub x (bvsub K y))           result: (bvadd (bvadd x y) -K)
            View::Sub(k, y) if self.is_const(k) => {
                let sum = self.add(a, y);
                return self.sub(sum, k);
            }
            _ => {}
        }
        match self.view(a) {
            // match: (bvsub (bvadd x K) y)           result: (bvadd (bvsub x y) K)
            View::Add(x, k) if self.is_const(k) => {
                let difference = self.sub(x, b);
                return self.add(difference, k);
            }
            // match: (bvsub (bvadd x y) y)           result: x
            View::Add(x, y) if y == b => return x,
            View::Add(x, y) if x == b => return y,
            // match: (bvsub (bvsub x y) x)           result: (bvneg y)
            View::Sub(x, y) if x == b => return self.neg(y),
            // match: (bvsub (bvsub K x) y)           result: (bvsub K (bvadd x y))
            View::Sub(k, x) if self.is_const(k) => {
                let sum = self.add(x, b);
                return self.sub(k, sum);
            }
            _ => {}
        }
        // match: (bvsub (bvmul x K1) (bvmul x K2))   result: (bvmul x (K1 - K2)); x alone counts as K = 1
        let ((x, p), (y, q)) = (self.coefficient(a), self.coefficient(b));
        if x == y {
            let factor = self.constant(p.wrapping_sub(q), width);
            return self.mul(x, factor);
        }
        self.make2(Op::Sub, width, a, b)
    }

    fn sub_from_const(&mut self, a: TermId, value: u128, b: TermId) -> TermId {
        let width = self.width(b);
        // match: (bvsub 0 x)                         result: (bvneg x)
        if value == 0 {
            return self.neg(b);
        }
        // match: (bvsub ones x)                      result: (bvnot x)
        if value == fold::mask(width) {
            return self.not(b);
        }
        match self.view(b) {
            // match: (bvsub K1 (bvadd x K2))         result: (bvsub (K1 - K2) x)
            View::Add(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let from = self.constant(value.wrapping_sub(other), width);
                    return self.sub(from, x);
                }
            }
            // match: (bvsub K1 (bvsub K2 x))         result: (bvadd x (K1 - K2))
            View::Sub(x, y) => {
                if let Some(other) = self.as_const(x) {
                    let sum = self.constant(value.wrapping_sub(other), width);
                    return self.add(y, sum);
                }
            }
            // match: (bvsub K (bvnot x))             result: (bvadd x (K + 1))
            View::Not(x) => {
                let sum = self.constant(value.wrapping_add(1), width);
                return self.add(x, sum);
            }
            // match: (bvsub K (bvneg x))             result: (bvadd x K)
            View::Neg(x) => return self.add(x, a),
            _ => {}
        }
        match self.lift_ite(b, width, |other| fold::sub(value, other, width)) {
            Some(result) => result,
            None => self.make2(Op::Sub, width, a, b),
        }
    }

    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvmul x y), one bit                result: (bvand x y)
        if width == 1 {
            return self.and(a, b);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(value) = self.as_const(b) {
            return self.mul_const(a, b, value);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.view(y) {
                // match: (bvmul x (bvneg y))         result: (bvneg (bvmul x y))
                View::Neg(z) => {
                    let product = self.mul(x, z);
                    return self.neg(product);
                }
                // match: (bvmul x (bvmul y K))       result: (bvmul (bvmul x y) K)
                View::Mul(p, q) if self.is_const(q) => {
                    let product = self.mul(x, p);
                    return self.mul(product, q);
                }
                // match: (bvmul x (bvshl y k))       result: (bvshl (bvmul x y) k)
                View::Shl(p, q) if self.is_const(q) => {
                    let product = self.mul(x, p);
                    return self.shl(product, q);
                }
                // match: (bvmul x ((_ zero_extend n) c)), c one bit    result: (ite c x 0)
                View::ZExt(c) if self.width(c) == 1 => {
                    let zero = self.constant(0, width);
                    return self.ite(c, x, zero);
                }
                _ => {}
            }
        }
        self.make2(Op::Mul, width, a, b)
    }

    fn mul_const(&mut self, a: TermId, b: TermId, value: u128) -> TermId {
        let width = self.width(a);
        // match: (bvmul x 0)                         result: 0
        if value == 0 {
            return b;
        }
        // match: (bvmul x ones)                      result: (bvneg x)
        if value == fold::mask(width) {
            return self.neg(a);
        }
        match self.view(a) {
            View::Const(other) => return self.constant(value.wrapping_mul(other), width),
            // match: (bvmul (bvmul x K1) K2)         result: (bvmul x (K1 * K2))
            View::Mul(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let product = self.constant(value.wrapping_mul(other), width);
                    return self.mul(x, product);
                }
            }
            // match: (bvmul (bvshl x k) K)           result: (bvmul x (K << k))
            View::Shl(x, y) => {
                if let Some(by) = self.as_const(y) {
                    let product = self.constant(value << by, width);
                    return self.mul(x, product);
                }
            }
            // match: (bvmul (bvneg x) K)             result: (bvmul x -K)
            View::Neg(x) => {
                let factor = self.constant(value.wrapping_neg(), width);
                return self.mul(x, factor);
            }
            // match: (bvmul (bvadd x K1) K2)         result: (bvadd (bvmul x K2) (K1 * K2))
            View::Add(x, y) => {
                if let Some(other) = self.as_const(y) {
                    let scaled = self.mul(x, b);
                    let rest = self.constant(value.wrapping_mul(other), width);
                    return self.add(scaled, rest);
                }
            }
            // match: (bvmul (bvsub K1 x) K2)         result: (bvsub (K1 * K2) (bvmul x K2))
            View::Sub(x, y) => {
                if let Some(other) = self.as_const(x) {
                    let scaled = self.mul(y, b);
                    let from = self.constant(value.wrapping_mul(other), width);
                    return self.sub(from, scaled);
                }
            }
            _ => {}
        }
        // match: (bvmul x 2^k)                       result: (bvshl x k)
        if value.is_power_of_two() {
            let by = self.constant(u128::from(value.trailing_zeros()), width);
            return self.shl(a, by);
        }
        match self.lift_ite(a, width, |other| fold::mul(other, value, width)) {
            Some(result) => result,
            None => self.make2(Op::Mul, width, a, b),
        }
    }

    pub fn udiv(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        let Some(value) = self.as_const(b) else {
            return self.make2(Op::UDiv, width, a, b);
        };
        match self.view(a) {
            View::Const(other) => return self.constant(fold::udiv(other, value, width), width),
            // match: (bvudiv x 0)                    result: ones
            _ if value == 0 => return self.constant(u128::MAX, width),
            // match: (bvudiv ((_ zero_extend n) x) K)    result: zero_extend of (bvudiv x K), or 0 for a large K
            View::ZExt(x) => {
                let narrow = self.width(x);
                if value > fold::mask(narrow) {
                    return self.constant(0, width);
                }
                let divisor = self.constant(value, narrow);
                let quotient = self.udiv(x, divisor);
                return self.zext(quotient, width);
            }
            // match: (bvudiv (bvudiv x K1) K2)       result: (bvudiv x (K1 * K2)), or 0 when that overflows
            View::UDiv(x, y) => {
                if let Some(other) = self.as_const(y) {
                    return match value.checked_mul(other).filter(|&product| product <= fold::mask(width)) {
                        Some(product) => {
                            let divisor = self.constant(product, width);
                            self.udiv(x, divisor)
                        }
                        None => self.constant(0, width),
                    };
                }
            }
            _ => {}
        }
        // match: (bvudiv x 2^k)                      result: (bvlshr x k)
        if value.is_power_of_two() {
            let by = self.constant(u128::from(value.trailing_zeros()), width);
            return self.lshr(a, by);
        }
        match self.lift_ite(a, width, |other| fold::udiv(other, value, width)) {
            Some(result) => result,
            None => self.make2(Op::UDiv, width, a, b),
        }
    }

    pub fn urem(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        let Some(value) = self.as_const(b) else {
            // match: (bvurem (zero_extend x) (zero_extend y)), x and y of one width   result: zero_extend of (bvurem x y)
            if let (View::ZExt(x), View::ZExt(y)) = (self.view(a), self.view(b))
                && self.width(x) == self.width(y)
            {
                let rest = self.urem(x, y);
                return self.zext(rest, width);
            }
            return self.make2(Op::URem, width, a, b);
        };
        // match: (bvurem x 0)                        result: x
        if value == 0 {
            return a;
        }
        match self.view(a) {
            View::Const(other) => return self.constant(other % value, width),
            // match: (bvurem ((_ zero_extend n) x) K)    result: zero_extend of (bvurem x K), or of x for a large K
            View::ZExt(x) => {
                let narrow = self.width(x);
                if value > fold::mask(narrow) {
                    return a;
                }
                let divisor = self.constant(value, narrow);
                let rest = self.urem(x, divisor);
                return self.zext(rest, width);
            }
            _ => {}
        }
        // match: (bvurem x 2^k)                      result: (bvand x 2^k-1)
        if value.is_power_of_two() {
            let low = self.constant(value - 1, width);
            return self.and(a, low);
        }
        match self.lift_ite(a, width, |other| other % value) {
            Some(result) => result,
            None => self.make2(Op::URem, width, a, b),
        }
    }

    /// Whether a term is certainly not negative because its top bit is a zero.
    fn top_is_zero(&self, t: TermId) -> bool {
        match self.view(t) {
            View::ZExt(_) => true,
            View::Const(value) => !fold::is_negative(value, self.width(t)),
            View::Concat(x, _) => self.as_const(x).is_some_and(|value| !fold::is_negative(value, self.width(x))),
            _ => false,
        }
    }

    pub fn sdiv(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvsdiv x y), neither negative      result: (bvudiv x y)
        if self.top_is_zero(a) && self.top_is_zero(b) {
            return self.udiv(a, b);
        }
        let Some(value) = self.as_const(b) else {
            return self.make2(Op::SDiv, width, a, b);
        };
        if let Some(other) = self.as_const(a) {
            return self.constant(fold::sdiv(other, value, width), width);
        }
        // match: (bvsdiv x 0)                        result: (ite (bvslt x 0) 1 ones)
        if value == 0 {
            let sign = self.extract(a, width - 1, width - 1);
            let (one, ones) = (self.constant(1, width), self.constant(u128::MAX, width));
            return self.ite(sign, one, ones);
        }
        // match: (bvsdiv x -1)                       result: (bvneg x)
        if value == fold::mask(width) {
            return self.neg(a);
        }
        // match: (bvsdiv x 1)                        result: x
        if value == 1 {
            return a;
        }
        match self.lift_ite(a, width, |other| fold::sdiv(other, value, width)) {
            Some(result) => result,
            None => self.make2(Op::SDiv, width, a, b),
        }
    }

    pub fn srem(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(b));
        let width = self.width(a);
        // match: (bvsrem x y), neither negative      result: (bvurem x y)
        if self.top_is_zero(a) && self.top_is_zero(b) {
            return self.urem(a, b);
        }
        let Some(value) = self.as_const(b) else {
            return self.make2(Op::SRem, width, a, b);
        };
        // match: (bvsrem x 0)                        result: x
        if value == 0 {
            return a;
        }
        if let Some(other) = self.as_const(a) {
            return self.constant(fold::srem(other, value, width), width);
        }
        // match: (bvsrem x 1), (bvsrem x -1)         result: 0
        if value == 1 || value == fold::mask(width) {
            return self.constant(0, width);
        }
        // match: (bvsrem x K), K negative, not the smallest    result: (bvsrem x -K)
        if fold::is_negative(value, width) && value != fold::sign_bit(width) {
            let positive = self.constant(value.wrapping_neg(), width);
            return self.srem(a, positive);
        }
        match self.lift_ite(a, width, |other| fold::srem(other, value, width)) {
            Some(result) => result,
            None => self.make2(Op::SRem, width, a, b),
        }
    }

    pub fn shl(&mut self, a: TermId, by: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(by));
        let width = self.width(a);
        if let Some(result) = self.shift_of_const(a, by, |x, k| fold::shl(x, k, width)) {
            return result;
        }
        let Some(k) = self.as_const(by) else {
            return self.make2(Op::Shl, width, a, by);
        };
        // match: (bvshl x 0)                         result: x
        if k == 0 {
            return a;
        }
        // match: (bvshl x k), k not below the width  result: 0
        if k >= u128::from(width) {
            return self.constant(0, width);
        }
        match self.view(a) {
            // match: (bvshl (bvshl x j) k)           result: (bvshl x (j + k))
            View::Shl(x, y) => {
                if let Some(j) = self.as_const(y) {
                    // j + k may not fit the width of the shift amount, but then it is not below the width either.
                    return match j + k < u128::from(width) {
                        true => {
                            let sum = self.constant(j + k, width);
                            self.shl(x, sum)
                        }
                        false => self.constant(0, width),
                    };
                }
            }
            // match: (bvshl (bvadd x K) k)           result: (bvadd (bvshl x k) (K << k))
            View::Add(x, y) => {
                if let Some(value) = self.as_const(y) {
                    let scaled = self.shl(x, by);
                    let rest = self.constant(value << k, width);
                    return self.add(scaled, rest);
                }
            }
            // match: (bvshl (bvmul x K) k)           result: (bvmul x (K << k))
            View::Mul(x, y) => {
                if let Some(value) = self.as_const(y) {
                    let factor = self.constant(value << k, width);
                    return self.mul(x, factor);
                }
            }
            // match: (bvshl x k), x a concat or zero extension    result: (concat ((_ extract n-k-1 0) x) 0)
            View::Concat(..) | View::ZExt(_) => {
                let kept = self.extract(a, width - 1 - k as u32, 0);
                let zeros = self.constant(0, k as u32);
                return self.concat(kept, zeros);
            }
            _ => {}
        }
        self.make2(Op::Shl, width, a, by)
    }

    pub fn lshr(&mut self, a: TermId, by: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(by));
        let width = self.width(a);
        if let Some(result) = self.shift_of_const(a, by, |x, k| fold::lshr(x, k, width)) {
            return result;
        }
        match self.as_const(by) {
            None => self.make2(Op::LShr, width, a, by),
            // match: (bvlshr x k)                    result: zero_extend of ((_ extract n-1 k) x)
            Some(k) if k < u128::from(width) => {
                let kept = self.extract(a, width - 1, k as u32);
                self.zext(kept, width)
            }
            Some(_) => self.constant(0, width),
        }
    }

    pub fn ashr(&mut self, a: TermId, by: TermId) -> TermId {
        debug_assert_eq!(self.width(a), self.width(by));
        let width = self.width(a);
        if let Some(result) = self.shift_of_const(a, by, |x, k| fold::ashr(x, k, width)) {
            return result;
        }
        match self.as_const(by) {
            // match: (bvashr x y), x not negative    result: (bvlshr x y)
            None if self.top_is_zero(a) => self.lshr(a, by),
            None => self.make2(Op::AShr, width, a, by),
            // match: (bvashr x k)                    result: sign_extend of ((_ extract n-1 k) x)
            Some(k) => {
                let k = k.min(u128::from(width - 1)) as u32;
                let kept = self.extract(a, width - 1, k);
                self.sext(kept, width)
            }
        }
    }

    /// match: (shift 0 y)                            result: 0
    /// match: (shift K (ite c k j)), (shift (ite c K J) k)   result: (ite c (shift K k) (shift K j)), ...
    fn shift_of_const(&mut self, a: TermId, by: TermId, f: impl Fn(u128, u128) -> u128) -> Option<TermId> {
        let width = self.width(a);
        match (self.as_const(a), self.as_const(by)) {
            (Some(x), Some(k)) => Some(self.constant(f(x, k), width)),
            (Some(0), None) => Some(a),
            (Some(x), None) => self.lift_ite(by, width, |k| f(x, k)),
            (None, Some(k)) => self.lift_ite(a, width, |x| f(x, k)),
            (None, None) => None,
        }
    }
}
