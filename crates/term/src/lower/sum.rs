//! Sums, differences, and products with a sum.

use super::net::Net;
use super::parts::{Normal, Parts, Reach, encode, infinity, normal, round, round_in_place, unpack};
use super::{Layout, nan_of};
use crate::TermId;
use crate::float::Rounding;

/// Whether the second operand's sign counts as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    Added,
    Subtracted,
}

/// The larger one keeps its place and the smaller is moved below it. A result that is subnormal is exact, so there is no
/// rounding but at one place.
pub(super) fn add(net: &Net, layout: Layout, rounding: Rounding, second: Second, [a, b]: [TermId; 2]) -> TermId {
    let (x, y) = (unpack(net, layout, a), unpack(net, layout, b));
    let y_sign = if second == Second::Subtracted { net.not(y.sign) } else { y.sign };
    let y = Parts { sign: y_sign, ..y };
    let magnitude = |parts: Parts| net.concat(parts.exponent, parts.significand);
    let swaps = net.ult(magnitude(x), magnitude(y));
    let larger = |of: fn(Parts) -> TermId| net.ite(swaps, of(y), of(x));
    let smaller = |of: fn(Parts) -> TermId| net.ite(swaps, of(x), of(y));
    let sign = larger(|parts| parts.sign);
    let exponent = larger(|parts| parts.exponent);
    let is_difference = net.xor(x.sign, y.sign);

    // One bit above for the carry, and three below: two that a difference may bring up, and one for all others.
    let big = net.zext(net.widen_low(larger(|parts| parts.significand), 3), layout.precision + 4);
    let small = net.zext(net.widen_low(smaller(|parts| parts.significand), 2), layout.precision + 3);
    let (small, lost) = net.shift_right(small, net.sub(exponent, smaller(|parts| parts.exponent)));
    let sum = net.add_or_subtract(big, net.concat(small, lost), is_difference);
    let next = net.add(exponent, net.constant(1, layout.exponent));
    let (bits, field) = net.normalise_down_to_one(sum, next);
    let field = net.and(field, net.sext(net.top(bits), layout.exponent));
    // What cancels out is a positive zero, or a negative one when rounding down.
    let cancels = net.and(is_difference, net.is_zero(sum));
    let sign_of_sum = net.ite(cancels, net.truth(rounding == Rounding::Down), sign);
    let rounded = round_in_place(net, layout, rounding, sign_of_sum, field, bits);

    let is_infinite = net.or(x.is_infinite, y.is_infinite);
    let number = net.ite(
        is_infinite,
        encode(net, layout, sign, infinity(net, layout)),
        encode(net, layout, sign_of_sum, rounded),
    );
    let is_invalid = net.all(&[x.is_infinite, y.is_infinite, is_difference]);
    let is_nan = net.any(&[x.is_nan, y.is_nan, is_invalid]);
    net.ite(is_nan, nan_of(net, layout, &[(a, x), (b, y)]), number)
}

/// The exact product and the addend, as a sum of numbers of twice the precision. The caller sees to it that three bits more than
/// that fit into a term.
pub(super) fn fma(net: &Net, layout: Layout, rounding: Rounding, [a, b, c]: [TermId; 3]) -> TermId {
    let (x, y, z) = (unpack(net, layout, a), unpack(net, layout, b), unpack(net, layout, c));
    let (m, n, o) = (normal(net, x), normal(net, y), normal(net, z));
    let double = 2 * layout.precision;
    let wide = layout.exponent + 3;
    let sext = |t: TermId| net.sext(t, wide);

    let sign = net.xor(x.sign, y.sign);
    let exponent = net.add(sext(m.exponent), sext(n.exponent));
    let exponent = net.sub(exponent, net.signed(layout.bias() - 1, wide));
    let product = net.mul(net.zext(m.significand, double), net.zext(n.significand, double));
    // So that the top bit is set, if it is not zero.
    let is_carried = net.top(product);
    let product = net.ite(is_carried, product, net.widen_low(net.low(product, double - 1), 1));
    let exponent = net.sub(exponent, net.zext(net.not(is_carried), wide));
    let product = Parts {
        sign,
        exponent,
        significand: product,
        is_nan: net.truth(false),
        is_unsupported: net.truth(false),
        is_infinite: net.or(x.is_infinite, y.is_infinite),
        is_zero: net.or(x.is_zero, y.is_zero),
    };
    let addend =
        Parts { exponent: sext(o.exponent), significand: net.widen_low(o.significand, double - layout.precision), ..z };

    let is_difference = net.xor(product.sign, addend.sign);
    let is_less = net.slt(product.exponent, addend.exponent);
    let is_even = net.eq(product.exponent, addend.exponent);
    let is_below = net.or(is_less, net.and(is_even, net.ult(product.significand, addend.significand)));
    let swaps = net.and(net.not(addend.is_zero), net.or(product.is_zero, is_below));
    let larger = |of: fn(Parts) -> TermId| net.ite(swaps, of(addend), of(product));
    let smaller = |of: fn(Parts) -> TermId| net.ite(swaps, of(product), of(addend));
    let exponent = larger(|parts| parts.exponent);
    let is_alone = smaller(|parts| parts.is_zero);
    let big = net.zext(net.widen_low(larger(|parts| parts.significand), 2), double + 3);
    let small = net.and(smaller(|parts| parts.significand), net.sext(net.not(is_alone), double));
    let small = net.zext(net.widen_low(small, 1), double + 2);
    let (small, lost) = net.shift_right(small, net.sub(exponent, smaller(|parts| parts.exponent)));
    let sum = net.add_or_subtract(big, net.concat(small, lost), is_difference);
    let (bits, count) = net.normalise(sum);
    let exponent = net.add(exponent, net.signed(1, wide));
    let exponent = net.sub(exponent, net.zext(count, wide));

    let is_nothing = net.is_zero(sum);
    let cancels = net.and(is_difference, is_nothing);
    let sign = net.ite(cancels, net.truth(rounding == Rounding::Down), larger(|parts| parts.sign));
    let number = Normal { exponent, significand: bits };
    let rounded = round(net, (layout, rounding, Reach::Any), sign, number, net.truth(false));
    let rounded = net.ite(is_nothing, net.zero(layout.magnitude()), rounded);
    let is_infinite = net.or(product.is_infinite, z.is_infinite);
    let infinite_sign = net.ite(z.is_infinite, z.sign, product.sign);
    let number = net.ite(
        is_infinite,
        encode(net, layout, infinite_sign, infinity(net, layout)),
        encode(net, layout, sign, rounded),
    );
    let is_no_product = net.or(net.and(x.is_infinite, y.is_zero), net.and(x.is_zero, y.is_infinite));
    let is_no_sum = net.all(&[product.is_infinite, z.is_infinite, is_difference]);
    // The second operand first, as glibc's instruction has it.
    let is_nan = net.any(&[x.is_nan, y.is_nan, z.is_nan, is_no_product, is_no_sum]);
    net.ite(is_nan, nan_of(net, layout, &[(b, y), (a, x), (c, z)]), number)
}
