//! Operations on floats inverted: the inverse operation gives a number near the one that is wanted, and its neighbours are tried.

use super::Walk;
use crate::ulps::{at, last, moved, place};
use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use term::{TermId, fold};

const EVEN: Rounding = Rounding::NearestEven;
/// Neighbours that are tried, on either side.
const N_NEIGHBOURS: i128 = 4;

/// The number next to `near` that an operation makes `want` of, or `near` itself where none does.
fn nearest(format: Format, near: u128, want: u128, result: impl Fn(u128) -> u128) -> u128 {
    if format.is_nan(near) {
        return near;
    }
    let steps = (0..=2 * N_NEIGHBOURS).map(|nth| if nth % 2 == 0 { nth / 2 } else { -(nth + 1) / 2 });
    let mut neighbours = steps.map(|step| moved(format, near, step));
    neighbours.find(|&bits| result(bits) == want).unwrap_or(near)
}

impl Walk<'_> {
    pub(super) fn reach_float_unary(
        &mut self,
        op: FloatUnary,
        rounding: Rounding,
        arg: TermId,
        (to, want): (u32, u128),
        depth: u32,
    ) -> Option<()> {
        let from = self.terms.width(arg);
        let result = |bits: u128| float::unary(op, rounding, from, to, bits);
        let goal = match op {
            FloatUnary::Sqrt => {
                let square = float::binary(FloatBinary::Mul, EVEN, to, want, want);
                nearest(Format::of(from), square, want, result)
            }
            FloatUnary::Integral => want,
            FloatUnary::Resize => {
                nearest(Format::of(from), float::unary(FloatUnary::Resize, EVEN, to, from, want), want, result)
            }
            FloatUnary::ToSigned => float::unary(FloatUnary::FromSigned, EVEN, to, from, want),
            FloatUnary::ToUnsigned => float::unary(FloatUnary::FromUnsigned, EVEN, to, from, want),
            FloatUnary::FromSigned => float::unary(FloatUnary::ToSigned, EVEN, to, from, want),
            FloatUnary::FromUnsigned => float::unary(FloatUnary::ToUnsigned, EVEN, to, from, want),
        };
        self.reach(arg, goal, depth)
    }

    pub(super) fn reach_float_binary(
        &mut self,
        op: FloatBinary,
        rounding: Rounding,
        (a, b): (TermId, TermId),
        want: u128,
        depth: u32,
    ) -> Option<()> {
        let width = self.terms.width(a);
        let format = Format::of(width);
        let (x, kept) = self.operand(a, b);
        let is_first = x == a;
        let other = self.value(kept);
        let compute = |op: FloatBinary, x: u128, y: u128| float::binary(op, EVEN, width, x, y);
        let near = match (op, is_first) {
            (FloatBinary::Add, _) => compute(FloatBinary::Sub, want, other),
            (FloatBinary::Sub, true) => compute(FloatBinary::Add, want, other),
            (FloatBinary::Sub, false) => compute(FloatBinary::Sub, other, want),
            (FloatBinary::Mul, _) => compute(FloatBinary::Div, want, other),
            (FloatBinary::Div, true) => compute(FloatBinary::Mul, want, other),
            (FloatBinary::Div, false) => compute(FloatBinary::Div, other, want),
            (FloatBinary::Rem | FloatBinary::Remainder, true) => {
                let now = self.value(x);
                let rest = float::binary(op, EVEN, width, now, other);
                compute(FloatBinary::Add, compute(FloatBinary::Sub, now, rest), want)
            }
            (FloatBinary::Rem | FloatBinary::Remainder, false) => return None,
        };
        let goal = match (a == b, op) {
            // A square: the other operand changes with it.
            (true, FloatBinary::Mul) => {
                let root = float::unary(FloatUnary::Sqrt, EVEN, width, width, want);
                nearest(format, root, want, |bits| float::binary(op, rounding, width, bits, bits))
            }
            (true, FloatBinary::Add) => {
                let half = compute(FloatBinary::Div, want, float::from_signed(format, EVEN, 2));
                nearest(format, half, want, |bits| float::binary(op, rounding, width, bits, bits))
            }
            (true, _) => return None,
            (false, _) => nearest(format, near, want, |bits| match is_first {
                true => float::binary(op, rounding, width, bits, other),
                false => float::binary(op, rounding, width, other, bits),
            }),
        };
        self.reach(x, goal, depth)
    }

    pub(super) fn reach_fma(
        &mut self,
        rounding: Rounding,
        [a, b, c]: [TermId; 3],
        want: u128,
        depth: u32,
    ) -> Option<()> {
        let width = self.terms.width(a);
        let format = Format::of(width);
        let compute = |op: FloatBinary, x: u128, y: u128| float::binary(op, EVEN, width, x, y);
        let [x, y, z] = [a, b, c].map(|t| self.value(t));
        let is_factor_open = !self.terms.symbols(a).is_empty() || !self.terms.symbols(b).is_empty();
        let changes_sum = !self.terms.symbols(c).is_empty() && (!is_factor_open || self.choose(true, false));
        if changes_sum {
            let near = compute(FloatBinary::Sub, want, compute(FloatBinary::Mul, x, y));
            let goal = nearest(format, near, want, |bits| float::fma(rounding, width, x, y, bits));
            return self.reach(c, goal, depth);
        }
        let (factor, kept) = self.operand(a, b);
        let kept = self.value(kept);
        let near = compute(FloatBinary::Div, compute(FloatBinary::Sub, want, z), kept);
        let goal = nearest(format, near, want, |bits| float::fma(rounding, width, bits, kept, z));
        self.reach(factor, goal, depth)
    }

    /// A comparison should be `want`: the neighbour on the right side, or a number far on that side.
    pub(super) fn reach_float_order(
        &mut self,
        op: FloatCompare,
        (a, b): (TermId, TermId),
        want: u128,
        depth: u32,
    ) -> Option<()> {
        let format = Format::of(self.terms.width(a));
        let (x, kept) = self.operand(a, b);
        let kept = self.value(kept);
        if format.is_nan(kept) {
            return (want == 0).then_some(());
        }
        let here = place(format, kept);
        let near = |by: i128| at(format, here + by);
        // One further in the sense of the number: for large ones, as far as the next power of two.
        let far = |side: i128| {
            let one = float::from_signed(format, EVEN, side);
            let further = float::binary(FloatBinary::Add, EVEN, format.width(), kept, one);
            if further == kept { at(format, side * (last(format) - 1)) } else { further }
        };
        let is_first = x == a;
        let goal = match (op, want == 1) {
            (FloatCompare::Equal, true) => kept,
            (FloatCompare::Equal, false) => self.choose(near(1), far(-1)),
            (FloatCompare::Less, true) => {
                let side = if is_first { -1 } else { 1 };
                (here != side * last(format)).then_some(())?;
                self.choose(near(side), far(side))
            }
            (FloatCompare::LessOrEqual, true) => self.choose(kept, far(if is_first { -1 } else { 1 })),
            (FloatCompare::Less, false) => self.choose(kept, far(if is_first { 1 } else { -1 })),
            (FloatCompare::LessOrEqual, false) => {
                let side = if is_first { 1 } else { -1 };
                // Beyond infinity there are only NaNs.
                if here == side * last(format) {
                    format.infinity() | format.quiet_bit()
                } else {
                    self.choose(near(side), far(side))
                }
            }
        };
        self.reach(x, goal & fold::mask(format.width()), depth)
    }
}
