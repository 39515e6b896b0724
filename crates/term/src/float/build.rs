//! The builders of float operations.
//!
//! A rule must hold for every pattern of bits: `x * 1.0` is not `x` where `x` may be a signalling NaN, and `x + y` is not `y + x`
//! where both may be NaNs.

use super::{FloatBinary, FloatCompare, FloatUnary, Format, Rounding, binary, compare, fma, from_signed, unary};
use crate::node::{Op, TermId, View};
use crate::{Terms, fold};

/// An integer that became a float without loss.
#[derive(Clone, Copy)]
struct Exact {
    integer: TermId,
    is_signed: bool,
}

impl Terms {
    // ---- arithmetic

    pub fn fadd(&mut self, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        self.float_binary(FloatBinary::Add, rounding, a, b)
    }

    pub fn fsub(&mut self, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        self.float_binary(FloatBinary::Sub, rounding, a, b)
    }

    pub fn fmul(&mut self, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        self.float_binary(FloatBinary::Mul, rounding, a, b)
    }

    pub fn fdiv(&mut self, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        self.float_binary(FloatBinary::Div, rounding, a, b)
    }

    /// Any operator on two floats of one format.
    pub fn float_binary(&mut self, op: FloatBinary, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        debug_assert!(Format::find(width).is_some() && width == self.width(b));
        let rounding = if op.rounds() { rounding } else { Rounding::default() };
        // match: (op a b), op a sum or a product, one of them never a NaN     result: operands in order
        let (a, b) = match op.commutes() && (self.is_never_nan(a) || self.is_never_nan(b)) {
            true => self.ordered(a, b),
            false => (a, b),
        };
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.constant(binary(op, rounding, width, x, y), width),
            // match: (op (ite c J K) L)              result: (ite c (op J L) (op K L))
            (None, Some(y)) => {
                if let Some(lifted) = self.lift_ite(a, width, |x| binary(op, rounding, width, x, y)) {
                    return lifted;
                }
                if self.is_neutral(op, rounding, Format::of(width), y) && self.is_float_result(a) {
                    return a;
                }
            }
            (Some(x), None) => {
                if let Some(lifted) = self.lift_ite(b, width, |y| binary(op, rounding, width, x, y)) {
                    return lifted;
                }
            }
            (None, None) => {}
        }
        self.make_float(Op::FloatBinary, op as u8, rounding, width, [Some(a), Some(b), None])
    }

    /// match: x + -0.0, x - 0.0 (not rounding down), x * 1.0, x / 1.0, where x is no signalling NaN   result: x
    fn is_neutral(&self, op: FloatBinary, rounding: Rounding, format: Format, y: u128) -> bool {
        match op {
            FloatBinary::Add => y == format.sign_bit() && rounding != Rounding::Down,
            FloatBinary::Sub => y == 0 && rounding != Rounding::Down,
            FloatBinary::Mul | FloatBinary::Div => y == from_signed(format, Rounding::NearestEven, 1),
            FloatBinary::Rem | FloatBinary::Remainder => false,
        }
    }

    /// Whether a term is what an operation made: never a signalling NaN, nor a pattern that the x87 does not support.
    fn is_float_result(&self, t: TermId) -> bool {
        match self.view(t) {
            View::FloatUnary { op, .. } => !matches!(op, FloatUnary::ToSigned | FloatUnary::ToUnsigned),
            View::FloatBinary { .. } | View::Fma { .. } => true,
            _ => false,
        }
    }

    /// Whether it is known at a glance to be a number.
    fn is_never_nan(&self, t: TermId) -> bool {
        match self.view(t) {
            View::Const(bits) => !Format::of(self.width(t)).is_nan(bits),
            View::FloatUnary { op, .. } => matches!(op, FloatUnary::FromSigned | FloatUnary::FromUnsigned),
            _ => false,
        }
    }

    /// A product and a sum with one rounding.
    pub fn ffma(&mut self, rounding: Rounding, a: TermId, b: TermId, c: TermId) -> TermId {
        let width = self.width(a);
        if let (Some(x), Some(y), Some(z)) = (self.as_const(a), self.as_const(b), self.as_const(c)) {
            return self.constant(fma(rounding, width, x, y, z), width);
        }
        self.make_float(Op::Fma, 0, rounding, width, [Some(a), Some(b), Some(c)])
    }

    pub fn fsqrt(&mut self, rounding: Rounding, a: TermId) -> TermId {
        self.float_unary(FloatUnary::Sqrt, rounding, a, self.width(a))
    }

    /// To an integral value, still a float.
    pub fn fintegral(&mut self, rounding: Rounding, a: TermId) -> TermId {
        self.float_unary(FloatUnary::Integral, rounding, a, self.width(a))
    }

    /// A float in the format of another width.
    pub fn fresize(&mut self, rounding: Rounding, a: TermId, width: u32) -> TermId {
        if width == self.width(a) { a } else { self.float_unary(FloatUnary::Resize, rounding, a, width) }
    }

    /// Any operator on one operand, with a result of this width.
    pub fn float_unary(&mut self, op: FloatUnary, rounding: Rounding, a: TermId, width: u32) -> TermId {
        let from = self.width(a);
        let mut rounding = if op.rounds() { rounding } else { Rounding::default() };
        // An integer is not made of the bits of a NaN.
        let a = if matches!(op, FloatUnary::ToSigned | FloatUnary::ToUnsigned) { self.without_payload(a) } else { a };
        if let Some(x) = self.as_const(a) {
            return self.constant(unary(op, rounding, from, width, x), width);
        }
        // match: (op (ite c J K))                    result: (ite c (op J) (op K))
        if let Some(lifted) = self.lift_ite(a, width, |x| unary(op, rounding, from, width, x)) {
            return lifted;
        }
        if let Some(simpler) = self.simpler_unary(op, rounding, a, width) {
            return simpler;
        }
        if is_exact(op, from, width) {
            rounding = Rounding::default();
        }
        self.make_float(Op::FloatUnary, op as u8, rounding, width, [Some(a), None, None])
    }

    fn simpler_unary(&mut self, op: FloatUnary, rounding: Rounding, a: TermId, width: u32) -> Option<TermId> {
        let View::FloatUnary { op: inner, arg, .. } = self.view(a) else { return None };
        let (from, middle) = (self.width(arg), self.width(a));
        match (op, inner) {
            // match: (integral (integral x)), (integral (from x)), an integer    result: the operand
            (FloatUnary::Integral, FloatUnary::Integral | FloatUnary::FromSigned | FloatUnary::FromUnsigned) => Some(a),
            // match: (resize (resize x)), the first to a larger format    result: x, or (resize x)
            (FloatUnary::Resize, FloatUnary::Resize) if from < middle => match width == from {
                true => self.is_float_result(arg).then_some(arg),
                false => Some(self.float_unary(FloatUnary::Resize, rounding, arg, width)),
            },
            // match: (resize (from x)), x fits the first format    result: (from x)
            (FloatUnary::Resize, FloatUnary::FromSigned | FloatUnary::FromUnsigned)
                if is_exact(inner, from, middle) =>
            {
                Some(self.float_unary(inner, rounding, arg, width))
            }
            // match: (to_int (resize x)), to a larger format    result: (to_int x)
            (FloatUnary::ToSigned | FloatUnary::ToUnsigned, FloatUnary::Resize) if from < middle => {
                Some(self.float_unary(op, rounding, arg, width))
            }
            // match: (to_int (from x)), x fits the float and the integer    result: x, extended
            (FloatUnary::ToSigned, FloatUnary::FromSigned) if is_exact(inner, from, middle) && from <= width => {
                Some(self.sext(arg, width))
            }
            (FloatUnary::ToSigned, FloatUnary::FromUnsigned) if is_exact(inner, from, middle) && from < width => {
                Some(self.zext(arg, width))
            }
            (FloatUnary::ToUnsigned, FloatUnary::FromUnsigned) if is_exact(inner, from, middle) && from <= width => {
                Some(self.zext(arg, width))
            }
            (FloatUnary::ToUnsigned, FloatUnary::FromSigned) if is_exact(inner, from, middle) && from <= width => {
                Some(self.sext(arg, width))
            }
            _ => None,
        }
    }

    // ---- signs and kinds, which are bits

    pub fn fneg(&mut self, a: TermId) -> TermId {
        let sign = self.float_sign(a);
        self.xor(a, sign)
    }

    pub fn fabs(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        let rest = self.constant(!Format::of(width).sign_bit(), width);
        self.and(a, rest)
    }

    /// `a` with the sign of `b`.
    pub fn copysign(&mut self, a: TermId, b: TermId) -> TermId {
        let sign = self.float_sign(b);
        let (magnitude, sign) = (self.fabs(a), self.and(b, sign));
        self.or(magnitude, sign)
    }

    fn float_sign(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        self.constant(Format::of(width).sign_bit(), width)
    }

    /// Whether it is a NaN, or a pattern that the x87 does not support.
    pub fn is_nan(&mut self, a: TermId) -> TermId {
        let a = self.without_payload(a);
        let width = self.width(a);
        match self.view(a) {
            // match: (is_nan (from x)), an integer   result: false
            View::FloatUnary { op: FloatUnary::FromSigned | FloatUnary::FromUnsigned, .. } => return self.fls(),
            // match: (is_nan (resize x)), (is_nan (integral x))   result: (is_nan x)
            View::FloatUnary { op: FloatUnary::Resize | FloatUnary::Integral, arg, .. } => return self.is_nan(arg),
            _ => {}
        }
        let format = Format::of(width);
        if format != Format::Extended {
            let (magnitude, infinity) = (self.fabs(a), self.constant(format.infinity(), width));
            return self.ult(infinity, magnitude);
        }
        let (exponent, fraction, top) = (self.extract(a, 78, 64), self.extract(a, 62, 0), self.extract(a, 63, 63));
        let (zero, all) = (self.constant(0, 15), self.constant(0x7fff, 15));
        let (no_fraction, no_top) = (self.constant(0, 63), self.not(top));
        let (is_top, has_fraction) = (self.eq(exponent, all), self.ne(fraction, no_fraction));
        let (is_high, is_nan) = (self.ne(exponent, zero), self.and(is_top, has_fraction));
        let is_unsupported = self.and(is_high, no_top);
        self.or(is_nan, is_unsupported)
    }

    /// Whether one of them is a NaN.
    pub fn unordered(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = (self.is_nan(a), self.is_nan(b));
        self.or(a, b)
    }

    /// The smaller one, as LLVM's `minnum` is compiled for x86: the other one where one is a NaN, the first of two equals.
    pub fn fmin(&mut self, a: TermId, b: TermId) -> TermId {
        let is_smaller = self.flt(b, a);
        self.other_if(is_smaller, a, b)
    }

    /// The larger one; see [`Terms::fmin`].
    pub fn fmax(&mut self, a: TermId, b: TermId) -> TermId {
        let is_larger = self.flt(a, b);
        self.other_if(is_larger, a, b)
    }

    fn other_if(&mut self, holds: TermId, a: TermId, b: TermId) -> TermId {
        let is_nan = self.is_nan(a);
        let other = self.or(is_nan, holds);
        self.ite(other, b, a)
    }

    // ---- comparisons

    pub fn flt(&mut self, a: TermId, b: TermId) -> TermId {
        self.float_compare(FloatCompare::Less, a, b)
    }

    pub fn fle(&mut self, a: TermId, b: TermId) -> TermId {
        self.float_compare(FloatCompare::LessOrEqual, a, b)
    }

    pub fn feq(&mut self, a: TermId, b: TermId) -> TermId {
        self.float_compare(FloatCompare::Equal, a, b)
    }

    /// Any comparison of two floats of one format.
    pub fn float_compare(&mut self, op: FloatCompare, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let format = Format::of(width);
        debug_assert!(width == self.width(b));
        let (a, b) = (self.without_payload(a), self.without_payload(b));
        // match: (feq a b)                           result: operands in order
        let (a, b) = if op == FloatCompare::Equal { self.ordered(a, b) } else { (a, b) };
        let is_true = |holds: bool| u128::from(holds);
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.truth(compare(op, width, x, y)),
            (Some(x), None) => {
                if format.is_nan(x) {
                    return self.fls();
                }
                if let Some(lifted) = self.lift_ite(b, 1, |y| is_true(compare(op, width, x, y))) {
                    return lifted;
                }
                if let Some(simpler) = self.compare_with_narrower(op, b, x, Side::Left) {
                    return simpler;
                }
                // match: (flt 0 (fsub y x))                  result: (flt x y)
                // A difference that is not zero never rounds to zero: where it is small it is exact.
                if let (FloatCompare::Less, true, Some((y, x))) = (op, x & !format.sign_bit() == 0, self.difference(b))
                {
                    return self.flt(x, y);
                }
            }
            (None, Some(y)) => {
                if format.is_nan(y) {
                    return self.fls();
                }
                if let Some(lifted) = self.lift_ite(a, 1, |x| is_true(compare(op, width, x, y))) {
                    return lifted;
                }
                if let Some(simpler) = self.compare_with_narrower(op, a, y, Side::Right) {
                    return simpler;
                }
                // match: (flt (fsub x y) 0)                  result: (flt x y)
                if let (FloatCompare::Less, true, Some((x, y))) = (op, y & !format.sign_bit() == 0, self.difference(a))
                {
                    return self.flt(x, y);
                }
            }
            (None, None) if a == b => {
                // match: (flt x x)                   result: false
                // match: (fle x x), (feq x x)        result: (not (is_nan x))
                let is_nan = self.is_nan(a);
                return if op == FloatCompare::Less { self.fls() } else { self.not(is_nan) };
            }
            (None, None) => {
                if let Some(simpler) = self.compare_narrower(op, a, b) {
                    return simpler;
                }
            }
        }
        self.make_float(Op::FloatCompare, op as u8, Rounding::default(), 1, [Some(a), Some(b), None])
    }

    /// match: (cmp (resize x) (resize y)), from one smaller format     result: (cmp x y)
    /// match: (cmp (from x) (from y)), integers that both fit          result: the comparison of integers
    fn compare_narrower(&mut self, op: FloatCompare, a: TermId, b: TermId) -> Option<TermId> {
        if let (Some(x), Some(y)) = (self.widened(a), self.widened(b)) {
            return (self.width(x) == self.width(y)).then(|| self.float_compare(op, x, y));
        }
        let (x, y) = (self.exact_integer(a)?, self.exact_integer(b)?);
        let width = (self.width(x.integer) + 1).max(self.width(y.integer) + 1);
        let (x, y) = (self.extended(x, width), self.extended(y, width));
        Some(match op {
            FloatCompare::Less => self.slt(x, y),
            FloatCompare::LessOrEqual => self.sle(x, y),
            FloatCompare::Equal => self.eq(x, y),
        })
    }

    fn compare_with_narrower(&mut self, op: FloatCompare, t: TermId, k: u128, side: Side) -> Option<TermId> {
        let format = Format::of(self.width(t));
        if let Some(x) = self.widened(t) {
            return Some(self.compare_widened(op, x, format, k, side));
        }
        let exact = self.exact_integer(t)?;
        Some(self.compare_integer(op, exact, format, k, side))
    }

    /// match: (cmp (resize x) K)     result: (cmp x J), J the float of x's format next to K, or false where K must be equal and is not
    fn compare_widened(&mut self, op: FloatCompare, x: TermId, format: Format, k: u128, side: Side) -> TermId {
        let width = self.width(x);
        let narrow = |rounding| super::resize(format, Format::of(width), rounding, k);
        let (below, above) = (narrow(Rounding::Down), narrow(Rounding::Up));
        let is_exact = below == above;
        let op = match op {
            FloatCompare::Equal if !is_exact => return self.fls(),
            FloatCompare::Less if !is_exact => FloatCompare::LessOrEqual,
            op => op,
        };
        match side {
            Side::Right => {
                let k = self.constant(below, width);
                self.float_compare(op, x, k)
            }
            Side::Left => {
                let k = self.constant(above, width);
                self.float_compare(op, k, x)
            }
        }
    }

    /// match: (cmp (from x) K), an integer that fits     result: a comparison of x with the integer next to K
    fn compare_integer(&mut self, op: FloatCompare, x: Exact, format: Format, k: u128, side: Side) -> TermId {
        let width = self.width(x.integer) + 2;
        let up = match (op, side) {
            // x < K is x < ceil K; K <= x is ceil K <= x; the others are so with floor.
            (FloatCompare::Less, Side::Right) | (FloatCompare::LessOrEqual, Side::Left) => Rounding::Up,
            _ => Rounding::Down,
        };
        let integral = unary(FloatUnary::Integral, up, format.width(), format.width(), k);
        if op == FloatCompare::Equal && !compare(op, format.width(), integral, k) {
            return self.fls();
        }
        // Beyond what the integer can be, all are alike; two bits more than it has leave room for that.
        let wide = fold::signed(super::to_signed(format, 128, integral), 128);
        let is_huge = wide == i128::MIN;
        let limit = 1i128 << (width - 2);
        let is_negative = k & format.sign_bit() != 0;
        let wide = match (is_huge, is_negative) {
            (true, true) => -limit - 1,
            (true, false) => limit,
            _ => wide.clamp(-limit - 1, limit),
        };
        let x = self.extended(x, width);
        let k = self.constant(wide as u128, width);
        match (op, side) {
            (FloatCompare::Less, Side::Right) => self.slt(x, k),
            (FloatCompare::Less, Side::Left) => self.slt(k, x),
            (FloatCompare::LessOrEqual, Side::Right) => self.sle(x, k),
            (FloatCompare::LessOrEqual, Side::Left) => self.sle(k, x),
            (FloatCompare::Equal, _) => self.eq(x, k),
        }
    }

    /// What a difference is taken of.
    fn difference(&self, t: TermId) -> Option<(TermId, TermId)> {
        match self.view(t) {
            View::FloatBinary { op: FloatBinary::Sub, a, b, .. } => Some((a, b)),
            _ => None,
        }
    }

    /// The float of a smaller format that was made larger.
    fn widened(&self, t: TermId) -> Option<TermId> {
        match self.view(t) {
            View::FloatUnary { op: FloatUnary::Resize, arg, .. } if self.width(arg) < self.width(t) => Some(arg),
            _ => None,
        }
    }

    fn exact_integer(&self, t: TermId) -> Option<Exact> {
        let View::FloatUnary { op, arg, .. } = self.view(t) else { return None };
        let is_signed = match op {
            FloatUnary::FromSigned => true,
            FloatUnary::FromUnsigned => false,
            _ => return None,
        };
        is_exact(op, self.width(arg), self.width(t)).then_some(Exact { integer: arg, is_signed })
    }

    fn extended(&mut self, x: Exact, width: u32) -> TermId {
        if x.is_signed { self.sext(x.integer, width) } else { self.zext(x.integer, width) }
    }
}

/// On which side of a comparison the constant is.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Whether a conversion between these widths never rounds.
fn is_exact(op: FloatUnary, from: u32, to: u32) -> bool {
    match op {
        FloatUnary::Resize => from < to,
        FloatUnary::FromSigned => Format::of(to).fits(from - 1),
        FloatUnary::FromUnsigned => Format::of(to).fits(from),
        FloatUnary::Sqrt | FloatUnary::Integral | FloatUnary::ToSigned | FloatUnary::ToUnsigned => false,
    }
}

impl Format {
    /// Whether all integers of so many bits are numbers of this format.
    fn fits(self, n_bits: u32) -> bool {
        n_bits <= self.precision() && (n_bits as i32) <= self.bias()
    }
}
