//! Between which floats a value lies, and what operations make of that.
//!
//! Rounding never turns the order of two numbers around, so an operation that grows with its operands has its bounds at theirs, and
//! the evaluator computes them exactly.

use crate::ulps::{at, last, place};
use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};

/// Both ends included, as places; no number at all where `lo` is above `hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub lo: i128,
    pub hi: i128,
    pub has_nan: bool,
}

impl Span {
    pub fn full(format: Format) -> Span {
        Span { lo: -last(format), hi: last(format), has_nan: true }
    }

    pub const NOTHING: Span = Span { lo: 1, hi: 0, has_nan: false };

    pub fn exact(format: Format, bits: u128) -> Span {
        if format.is_nan(bits) {
            return Span { has_nan: true, ..Span::NOTHING };
        }
        let place = place(format, bits);
        Span { lo: place, hi: place, has_nan: false }
    }

    /// A condition that can be false, and one that can be true.
    pub fn truth(can_fail: bool, can_hold: bool) -> Span {
        Span { lo: i128::from(!can_fail), hi: i128::from(can_hold), has_nan: false }
    }

    pub fn numbers(lo: i128, hi: i128) -> Span {
        Span { lo, hi, has_nan: false }
    }

    pub fn has_numbers(self) -> bool {
        self.lo <= self.hi
    }

    pub fn is_nothing(self) -> bool {
        !self.has_numbers() && !self.has_nan
    }

    pub fn has(self, place: i128) -> bool {
        self.lo <= place && place <= self.hi
    }

    pub fn has_infinity(self, format: Format) -> bool {
        self.has(last(format)) || self.has(-last(format))
    }

    pub fn meet(self, other: Span) -> Span {
        let has_nan = self.has_nan && other.has_nan;
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo > hi { Span { has_nan, ..Span::NOTHING } } else { Span { lo, hi, has_nan } }
    }

    pub fn join(self, other: Span) -> Span {
        let has_nan = self.has_nan || other.has_nan;
        match (self.has_numbers(), other.has_numbers()) {
            (true, true) => Span { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi), has_nan },
            (true, false) => Span { has_nan, ..self },
            (false, _) => Span { has_nan, ..other },
        }
    }

    pub fn negated(self) -> Span {
        if !self.has_numbers() { self } else { Span { lo: -self.hi, hi: -self.lo, ..self } }
    }

    pub fn magnitude(self) -> Span {
        if !self.has_numbers() || self.lo >= 0 {
            return self;
        }
        let most = self.hi.max(-self.lo);
        Span { lo: (-self.hi).max(0), hi: most, ..self }
    }
}

/// An operation on places; `None` for a NaN.
pub(crate) fn binary_at(op: FloatBinary, rounding: Rounding, format: Format, x: i128, y: i128) -> Option<i128> {
    let bits = float::binary(op, rounding, format.width(), at(format, x), at(format, y));
    (!format.is_nan(bits)).then(|| place(format, bits))
}

pub(crate) fn unary_at(op: FloatUnary, rounding: Rounding, from: Format, to: Format, x: i128) -> Option<i128> {
    let bits = float::unary(op, rounding, from.width(), to.width(), at(from, x));
    (!to.is_nan(bits)).then(|| place(to, bits))
}

/// The results of an operation on two operands.
pub(crate) fn binary(op: FloatBinary, rounding: Rounding, format: Format, x: Span, y: Span) -> Span {
    let end = last(format);
    let has_nan = x.has_nan || y.has_nan;
    if !x.has_numbers() || !y.has_numbers() {
        return Span { has_nan: true, ..Span::NOTHING };
    }
    let corner = |a: i128, b: i128| binary_at(op, rounding, format, a, b);
    let opposite = |a: Span, b: Span| a.has(end) && b.has(-end) || a.has(-end) && b.has(end);
    match op {
        FloatBinary::Add => Span {
            lo: corner(x.lo, y.lo).unwrap_or(-end),
            hi: corner(x.hi, y.hi).unwrap_or(end),
            has_nan: has_nan || opposite(x, y),
        },
        FloatBinary::Sub => Span {
            lo: corner(x.lo, y.hi).unwrap_or(-end),
            hi: corner(x.hi, y.lo).unwrap_or(end),
            has_nan: has_nan || opposite(x, y.negated()),
        },
        FloatBinary::Mul => {
            let is_invalid = x.has(0) && y.has_infinity(format) || y.has(0) && x.has_infinity(format);
            // Zero times an infinity: the numbers next to them are around zero, too.
            let corners = corners(x, y).map(|(a, b)| corner(a, b).unwrap_or(0));
            hull(corners.into_iter(), has_nan || is_invalid)
        }
        FloatBinary::Div if y.has(0) => Span { has_nan: true, ..Span::full(format) },
        FloatBinary::Div => {
            let is_invalid = x.has_infinity(format) && y.has_infinity(format);
            let known = corners(x, y).map(|(a, b)| corner(a, b));
            if known.iter().all(Option::is_none) {
                return Span::full(format);
            }
            hull(known.into_iter().flatten(), has_nan || is_invalid)
        }
        FloatBinary::Rem | FloatBinary::Remainder => {
            let has_nan = has_nan || x.has_infinity(format) || y.has(0);
            let (mut most, size) = (y.magnitude().hi, x.magnitude().hi);
            // Less than the divisor, unless that is infinite; and half of it at most where the quotient is rounded.
            if op == FloatBinary::Rem && most < end {
                most = (most - 1).max(0);
            }
            most = most.min(size);
            let span = match op {
                // It has the sign of the dividend.
                FloatBinary::Rem => Span::numbers(if x.lo < 0 { -most } else { 0 }, if x.hi > 0 { most } else { 0 }),
                _ => Span::numbers(-most, most),
            };
            Span { has_nan, ..span }
        }
    }
}

fn corners(x: Span, y: Span) -> [(i128, i128); 4] {
    [(x.lo, y.lo), (x.lo, y.hi), (x.hi, y.lo), (x.hi, y.hi)]
}

fn hull(places: impl Iterator<Item = i128> + Clone, has_nan: bool) -> Span {
    match (places.clone().min(), places.max()) {
        (Some(lo), Some(hi)) => Span { lo, hi, has_nan },
        _ => Span { has_nan, ..Span::NOTHING },
    }
}

/// The squares of a number.
pub(crate) fn square(rounding: Rounding, format: Format, x: Span) -> Span {
    if !x.has_numbers() {
        return x;
    }
    let size = x.magnitude();
    let of = |place: i128| binary_at(FloatBinary::Mul, rounding, format, place, place).unwrap_or(last(format));
    Span { lo: of(size.lo), hi: of(size.hi), has_nan: x.has_nan }
}

pub(crate) fn unary(op: FloatUnary, rounding: Rounding, (from, to): (Format, Format), x: Span) -> Span {
    let (mut x, mut has_nan) = (x, x.has_nan);
    if op == FloatUnary::Sqrt && x.has_numbers() && x.lo < 0 {
        (x, has_nan) = (x.meet(Span::numbers(0, last(from))), true);
    }
    if !x.has_numbers() {
        return Span { has_nan: true, ..Span::NOTHING };
    }
    match (unary_at(op, rounding, from, to, x.lo), unary_at(op, rounding, from, to, x.hi)) {
        (Some(lo), Some(hi)) => Span { lo, hi, has_nan },
        _ => Span::full(to),
    }
}

pub(crate) fn fma(rounding: Rounding, format: Format, [x, y, z]: [Span; 3]) -> Span {
    let operands = [x, y, z];
    if !operands.iter().all(|operand| operand.has_numbers()) {
        return Span { has_nan: true, ..Span::NOTHING };
    }
    if operands.iter().any(|operand| operand.has_infinity(format)) {
        return Span::full(format);
    }
    // It is a straight line in each operand, so its ends are at theirs.
    let corner = |a: i128, b: i128, c: i128| {
        let bits = float::fma(rounding, format.width(), at(format, a), at(format, b), at(format, c));
        place(format, bits)
    };
    let corners = corners(x, y).map(|(a, b)| [corner(a, b, z.lo), corner(a, b, z.hi)]);
    hull(corners.into_iter().flatten(), operands.iter().any(|operand| operand.has_nan))
}

/// Whether a comparison can be false, and whether it can be true. Of one term with itself, more is known.
pub(crate) fn compare(op: FloatCompare, a: Span, b: Span, is_same: bool) -> Span {
    let has_nan = a.has_nan || b.has_nan;
    if !a.has_numbers() || !b.has_numbers() {
        return Span::truth(true, false);
    }
    match (op, is_same) {
        (FloatCompare::Less, true) => Span::truth(true, false),
        (_, true) => Span::truth(has_nan, true),
        (FloatCompare::Less, false) => Span::truth(has_nan || a.hi >= b.lo, a.lo < b.hi),
        (FloatCompare::LessOrEqual, false) => Span::truth(has_nan || a.hi > b.lo, a.lo <= b.hi),
        (FloatCompare::Equal, false) => {
            let is_one = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
            Span::truth(has_nan || !is_one, a.lo <= b.hi && b.lo <= a.hi)
        }
    }
}

/// The part of a span from the first place on at which something holds that goes on holding.
pub(crate) fn from_first(span: Span, holds: impl Fn(i128) -> bool) -> Span {
    if !span.has_numbers() || holds(span.lo) {
        return span;
    }
    if !holds(span.hi) {
        return Span { has_nan: span.has_nan, ..Span::NOTHING };
    }
    let (mut fails, mut works) = (span.lo, span.hi);
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if holds(middle) { works = middle } else { fails = middle }
    }
    Span { lo: works, ..span }
}

/// The part up to the last place at which something holds that held from the beginning.
pub(crate) fn up_to_last(span: Span, holds: impl Fn(i128) -> bool) -> Span {
    from_first(span.negated(), |place| holds(-place)).negated()
}
