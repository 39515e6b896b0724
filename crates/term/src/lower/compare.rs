//! Comparisons.

use super::Layout;
use super::net::Net;
use super::parts::{Parts, unpack};
use crate::TermId;

fn magnitude(net: &Net, parts: Parts) -> TermId {
    net.concat(parts.exponent, parts.significand)
}

/// Equal as numbers: zeros are, whatever their signs, and NaNs are not.
pub(super) fn is_equal(net: &Net, layout: Layout, [a, b]: [TermId; 2]) -> TermId {
    let (x, y) = (unpack(net, layout, a), unpack(net, layout, b));
    let are_zero = net.and(x.is_zero, y.is_zero);
    let are_same = match layout.is_explicit {
        false => net.eq(a, b),
        // A subnormal exponent with a bit before the point is another way to write the smallest normal ones.
        true => net.and(net.eq(x.sign, y.sign), net.eq(magnitude(net, x), magnitude(net, y))),
    };
    net.and(net.not(net.or(x.is_nan, y.is_nan)), net.or(are_zero, are_same))
}

/// The first is less, and neither is a NaN.
pub(super) fn is_less(net: &Net, layout: Layout, operands: [TermId; 2]) -> TermId {
    let (is_less, _) = order(net, layout, operands);
    is_less
}

/// The first is not more, and neither is a NaN.
pub(super) fn is_at_most(net: &Net, layout: Layout, [a, b]: [TermId; 2]) -> TermId {
    let (is_more, is_ordered) = order(net, layout, [b, a]);
    net.and(net.not(is_more), is_ordered)
}

/// Whether the first is less, and whether neither is a NaN.
fn order(net: &Net, layout: Layout, [a, b]: [TermId; 2]) -> (TermId, TermId) {
    let (x, y) = (unpack(net, layout, a), unpack(net, layout, b));
    let (m, n) = match layout.is_explicit {
        false => (net.low(a, layout.magnitude()), net.low(b, layout.magnitude())),
        true => (magnitude(net, x), magnitude(net, y)),
    };
    let is_less = net.ite(x.sign, net.or(net.not(y.sign), net.ult(n, m)), net.and(net.not(y.sign), net.ult(m, n)));
    let are_zero = net.and(x.is_zero, y.is_zero);
    let is_ordered = net.not(net.or(x.is_nan, y.is_nan));
    (net.all(&[is_less, is_ordered, net.not(are_zero)]), is_ordered)
}
