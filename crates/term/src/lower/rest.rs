//! What a division leaves: `fmod` and `remainder`, a step for each difference of the exponents.

use super::net::Net;
use super::parts::{Normal, Reach, default_nan, encode, normal, round, unpack};
use super::{Layout, nan_of};
use crate::TermId;
use crate::float::Rounding;

/// With more bits of exponent there are too many steps.
pub(super) const MAX_EXPONENT: u32 = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotient {
    /// Without its fraction.
    Cut,
    /// To the nearest, of two the even one.
    Nearest,
}

pub(super) fn rem(net: &Net, layout: Layout, operands: [TermId; 2]) -> TermId {
    divide(net, layout, Quotient::Cut, operands)
}

pub(super) fn remainder(net: &Net, layout: Layout, operands: [TermId; 2]) -> TermId {
    divide(net, layout, Quotient::Nearest, operands)
}

fn divide(net: &Net, layout: Layout, quotient: Quotient, [a, b]: [TermId; 2]) -> TermId {
    let (x, y) = (unpack(net, layout, a), unpack(net, layout, b));
    let (m, n) = (normal(net, x), normal(net, y));
    let wide = layout.exponent + 2;
    let width = layout.precision + 1;
    let distance = net.sub(m.exponent, n.exponent);
    // One more than the divisor's exponent, and the quotient has a bit; one less, and it is below one half.
    let is_below = net.slt(distance, net.zero(wide));
    let is_far_below = net.slt(distance, net.signed(-1, wide));
    let divisor = net.zext(n.significand, width);
    // Where the dividend's exponent is one less it starts a place lower, which a remainder can see.
    let mut left = net.zext(m.significand, width);
    let mut is_odd = net.truth(false);
    let most = (1 << layout.exponent) - 3 + i64::from(layout.precision) - 1;
    for step in (0..=most).rev() {
        let is_due = net.not(net.slt(distance, net.signed(step, wide)));
        // What is left is below the divisor, except at the first step that is due; before that nothing happens.
        let is_first = net.eq(distance, net.signed(step, wide));
        let doubled = net.ite(is_first, left, net.widen_low(net.low(left, width - 1), 1));
        let reduced = net.sub(doubled, divisor);
        let fits = net.not(net.top(reduced));
        left = net.ite(is_due, net.ite(fits, reduced, doubled), left);
        is_odd = net.and(is_due, fits);
    }
    // In units of the divisor's last place, or of the dividend's where its exponent is less.
    let (mut size, mut flips) = (left, net.truth(false));
    let exponent = net.ite(is_below, m.exponent, n.exponent);
    if quotient == Quotient::Nearest {
        let double = net.widen_low(left, 1);
        let same = net.zext(divisor, width + 1);
        let is_more = net.or(net.ult(same, double), net.and(net.eq(same, double), is_odd));
        // One exponent less: the dividend is at least a quarter of the divisor, and less than it.
        let is_more_below = net.ult(same, net.zext(left, width + 1));
        flips = net.ite(is_below, net.and(net.not(is_far_below), is_more_below), is_more);
        let twice = net.low(net.widen_low(divisor, 1), width);
        let whole = net.ite(is_below, twice, divisor);
        size = net.ite(flips, net.sub(whole, left), left);
    }
    let sign = net.xor(x.sign, flips);
    // The top place is one above that of a significand.
    let (significand, count) = net.normalise(size);
    let exponent = net.sub(net.add(exponent, net.signed(1, wide)), net.zext(count, wide));
    let number = Normal { exponent, significand };
    let exact = round(net, (layout, Rounding::ToZero, Reach::Any), sign, number, net.truth(false));
    let is_nothing = net.is_zero(size);
    let magnitude = net.ite(is_nothing, net.zero(layout.magnitude()), exact);
    let sign = net.ite(is_nothing, x.sign, sign);
    let number = encode(net, layout, sign, magnitude);
    let stays = net.or(x.is_zero, y.is_infinite);
    let number = net.ite(stays, a, number);
    let number = net.ite(net.or(x.is_infinite, y.is_zero), default_nan(net, layout), number);
    // Of doubles glibc's remainder comes to its second operand first, but these have no circuit.
    let nan = nan_of(net, layout, &[(a, x), (b, y)]);
    net.ite(net.or(x.is_nan, y.is_nan), nan, number)
}
