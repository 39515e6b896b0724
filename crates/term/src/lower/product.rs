//! Products, quotients and square roots.

use super::net::Net;
use super::parts::{Normal, Reach, default_nan, encode, infinity, normal, quieted, round, unpack};
use super::{Layout, nan_of};
use crate::TermId;
use crate::float::Rounding;

pub(super) fn mul(net: &Net, layout: Layout, rounding: Rounding, [a, b]: [TermId; 2]) -> TermId {
    let (x, y) = (unpack(net, layout, a), unpack(net, layout, b));
    let (m, n) = (normal(net, x), normal(net, y));
    let wide = layout.exponent + 2;
    let sign = net.xor(x.sign, y.sign);
    let exponent = net.sub(net.add(m.exponent, n.exponent), net.signed(layout.bias(), wide));
    let (significand, sticky) = high_product(net, layout.precision, m.significand, n.significand);
    // Between one and four: one step brings the top bit up.
    let is_carried = net.top(significand);
    let width = net.width(significand);
    let exponent = net.add_bit(exponent, is_carried);
    let significand = net.ite(is_carried, significand, net.widen_low(net.low(significand, width - 1), 1));
    let number = Normal { exponent, significand };
    let rounded = round(net, (layout, rounding, Reach::Any), sign, number, sticky);

    let is_zero = net.or(x.is_zero, y.is_zero);
    let is_infinite = net.or(x.is_infinite, y.is_infinite);
    let magnitude = net.ite(is_zero, net.zero(layout.magnitude()), rounded);
    let magnitude = net.ite(is_infinite, infinity(net, layout), magnitude);
    let is_nan = net.any(&[x.is_nan, y.is_nan, net.and(is_zero, is_infinite)]);
    net.ite(is_nan, nan_of(net, layout, &[(a, x), (b, y)]), encode(net, layout, sign, magnitude))
}

/// The upper bits of a product of significands, two more than the precision, and whether any below is set.
fn high_product(net: &Net, precision: u32, a: TermId, b: TermId) -> (TermId, TermId) {
    let double = 2 * precision;
    let kept = precision + 2;
    if double <= 128 {
        let product = net.mul(net.zext(a, double), net.zext(b, double));
        return (net.high(product, kept), net.is_any(net.low(product, double - kept)));
    }
    // In halves: no term is as wide as the product.
    let low = precision.div_ceil(2);
    let (width, high) = (2 * low + 2, precision - low);
    let halves = |t: TermId| (net.zext(net.high(t, high), width), net.zext(net.low(t, low), width));
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    let bottom = net.mul(a0, b0);
    let middle = net.add(net.mul(a1, b0), net.mul(a0, b1));
    let middle = net.add(middle, net.zext(net.extract(bottom, width - 1, low), width));
    let upper = net.add(net.mul(a1, b1), net.zext(net.extract(middle, width - 1, low), width));
    let upper = net.low(upper, double - 2 * low);
    let rest = net.low(middle, low);
    let n_more = kept - net.width(upper);
    let sticky = net.or(net.is_any(net.low(rest, low - n_more)), net.is_any(net.low(bottom, low)));
    (net.concat(upper, net.high(rest, n_more)), sticky)
}

/// Long division of the significands, a bit at a time: less than half the gates of a divider of twice the width.
pub(super) fn div(net: &Net, layout: Layout, rounding: Rounding, [a, b]: [TermId; 2]) -> TermId {
    let (x, y) = (unpack(net, layout, a), unpack(net, layout, b));
    let (m, n) = (normal(net, x), normal(net, y));
    let wide = layout.exponent + 2;
    let sign = net.xor(x.sign, y.sign);
    let exponent = net.add(net.sub(m.exponent, n.exponent), net.signed(layout.bias(), wide));
    let width = layout.precision + 1;
    let divisor = net.zext(n.significand, width);
    let mut rest = net.zext(m.significand, width);
    let mut quotient: Option<TermId> = None;
    for _ in 0..layout.precision + 2 {
        let reduced = net.sub(rest, divisor);
        let fits = net.not(net.top(reduced));
        quotient = Some(quotient.map_or(fits, |quotient| net.concat(quotient, fits)));
        // Below the divisor, so that twice of it fits.
        rest = net.ite(fits, reduced, rest);
        rest = net.widen_low(net.low(rest, width - 1), 1);
    }
    let quotient = quotient.expect("there is a bit at least");
    // Between a half and two.
    let is_one = net.top(quotient);
    let n_bits = net.width(quotient);
    let significand = net.ite(is_one, quotient, net.widen_low(net.low(quotient, n_bits - 1), 1));
    let exponent = net.sub(exponent, net.zext(net.not(is_one), wide));
    let number = Normal { exponent, significand };
    let rounded = round(net, (layout, rounding, Reach::Any), sign, number, net.is_any(rest));

    let is_zero = net.or(x.is_zero, y.is_infinite);
    let is_infinite = net.or(x.is_infinite, y.is_zero);
    let magnitude = net.ite(is_zero, net.zero(layout.magnitude()), rounded);
    let magnitude = net.ite(is_infinite, infinity(net, layout), magnitude);
    let is_invalid = net.or(net.and(x.is_zero, y.is_zero), net.and(x.is_infinite, y.is_infinite));
    let is_nan = net.any(&[x.is_nan, y.is_nan, is_invalid]);
    net.ite(is_nan, nan_of(net, layout, &[(a, x), (b, y)]), encode(net, layout, sign, magnitude))
}

/// A bit of the root at a time, with as many bits of the rest as it can have by then.
pub(super) fn sqrt(net: &Net, layout: Layout, rounding: Rounding, a: TermId) -> TermId {
    let x = unpack(net, layout, a);
    let m = normal(net, x);
    let wide = layout.exponent + 2;
    let unbiased = net.sub(m.exponent, net.signed(layout.bias(), wide));
    let is_odd = net.low(unbiased, 1);
    let half = net.sext(net.high(unbiased, wide - 1), wide);
    let exponent = net.add(half, net.signed(layout.bias(), wide));
    let radicand = net.ite(is_odd, net.widen_low(m.significand, 1), net.zext(m.significand, layout.precision + 1));
    // The radicand stands above as many zeros as it has bits.
    let n_bits = layout.precision + 1;
    let bit = |at: u32| if at >= n_bits { net.bit(radicand, at - n_bits) } else { net.truth(false) };
    let mut root: Option<TermId> = None;
    let mut rest: Option<TermId> = None;
    for step in 0..n_bits {
        let at = 2 * (n_bits - 1 - step);
        let next = net.concat(bit(at + 1), bit(at));
        let here = rest.map_or(next, |rest| net.concat(rest, next));
        let trial = root.map_or(net.constant(1, 2), |root| net.concat(root, net.constant(1, 2)));
        let width = net.width(here).max(net.width(trial)) + 1;
        let (here, trial) = (net.zext(here, width), net.zext(trial, width));
        let reduced = net.sub(here, trial);
        let fits = net.not(net.top(reduced));
        root = Some(root.map_or(fits, |root| net.concat(root, fits)));
        // The rest is at most twice the root.
        rest = Some(net.low(net.ite(fits, reduced, here), step + 2));
    }
    let (root, rest) = (root.expect("there is a bit"), rest.expect("there is a bit"));
    let number = Normal { exponent, significand: root };
    let rounded = round(net, (layout, rounding, Reach::Normal), x.sign, number, net.is_any(rest));
    let magnitude = net.ite(x.is_zero, net.zero(layout.magnitude()), rounded);
    let magnitude = net.ite(x.is_infinite, infinity(net, layout), magnitude);
    let is_invalid = net.and(x.sign, net.not(x.is_zero));
    let number = net.ite(is_invalid, default_nan(net, layout), encode(net, layout, x.sign, magnitude));
    net.ite(x.is_nan, quieted(net, layout, a, x), number)
}
