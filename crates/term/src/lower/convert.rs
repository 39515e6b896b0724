//! From one format to another, to and from integers, and to the nearest whole number.

use super::net::Net;
use super::parts::{Normal, Parts, Reach, default_nan, encode, infinity, normal, quieted, round, rounds_up, unpack};
use super::{Layout, Signed};
use crate::TermId;
use crate::float::Rounding;

/// The same number in another format.
pub(super) fn resize(net: &Net, (from, to): (Layout, Layout), rounding: Rounding, a: TermId) -> TermId {
    let x = unpack(net, from, a);
    let m = normal(net, x);
    let wide = from.exponent.max(to.exponent) + 2;
    let exponent = net.add(net.sext(m.exponent, wide), net.signed(to.bias() - from.bias(), wide));
    let number = Normal { exponent, significand: m.significand };
    // The smallest number of the one format against that of the other.
    let reach = match from.bias() + i64::from(from.precision) <= to.bias() {
        true => Reach::Normal,
        false => Reach::Any,
    };
    let rounded = round(net, (to, rounding, reach), x.sign, number, net.truth(false));
    let magnitude = net.ite(x.is_zero, net.zero(to.magnitude()), rounded);
    let magnitude = net.ite(x.is_infinite, infinity(net, to), magnitude);
    let nan = net.ite(x.is_unsupported, default_nan(net, to), nan_to(net, (from, to), a, x));
    net.ite(x.is_nan, nan, encode(net, to, x.sign, magnitude))
}

/// The upper bits of a NaN's payload stay, and it is quiet.
fn nan_to(net: &Net, (from, to): (Layout, Layout), a: TermId, x: Parts) -> TermId {
    let (had, has) = (from.precision - 1, to.precision - 1);
    let payload = net.low(quieted(net, from, a, x), had);
    let payload = if had >= has { net.high(payload, has) } else { net.widen_low(payload, has - had) };
    encode(net, to, x.sign, net.concat(net.ones(to.exponent), payload))
}

/// The whole number nearest to an integer of any width, in the format.
pub(super) fn from_int(net: &Net, to: Layout, rounding: Rounding, signed: Signed, a: TermId) -> TermId {
    let n_bits = net.width(a);
    let sign = if signed == Signed::Yes { net.top(a) } else { net.truth(false) };
    let size = net.ite(sign, net.neg(a), a);
    let (significand, count) = net.normalise(size);
    let wide = to.exponent.max(u32::BITS - n_bits.leading_zeros()) + 2;
    let top = net.signed(to.bias() + i64::from(n_bits) - 1, wide);
    let number = Normal { exponent: net.sub(top, net.zext(count, wide)), significand };
    let rounded = round(net, (to, rounding, Reach::Normal), sign, number, net.truth(false));
    let magnitude = net.ite(net.is_zero(a), net.zero(to.magnitude()), rounded);
    encode(net, to, sign, magnitude)
}

/// What is left of a number when what is behind the point is cut off.
struct Whole {
    sign: TermId,
    size: TermId,
    /// It has no more bits than asked for.
    fits: TermId,
}

fn whole(net: &Net, from: Layout, n_bits: u32, a: TermId) -> Whole {
    let x = unpack(net, from, a);
    let width = n_bits.max(from.precision);
    let wide = from.exponent.max(u32::BITS - (from.bias() as u32 + n_bits).leading_zeros()) + 2;
    let exponent = net.zext(x.exponent, wide);
    // With this exponent the significand's top bit is the integer's.
    let top = net.signed(from.bias() + i64::from(n_bits) - 1, wide);
    let (shifted, _) = net.shift_right(net.widen_low(x.significand, width - from.precision), net.sub(top, exponent));
    let is_beyond = net.slt(top, exponent);
    let fits = net.not(net.any(&[x.is_nan, x.is_infinite, is_beyond]));
    Whole { sign: x.sign, size: net.high(shifted, n_bits), fits }
}

/// What does not fit gives the smallest integer.
pub(super) fn to_signed(net: &Net, from: Layout, n_bits: u32, a: TermId) -> TermId {
    let Whole { sign, size, fits } = whole(net, from, n_bits, a);
    let smallest = net.constant(1 << (n_bits - 1), n_bits);
    // The smallest one is what comes out for it, too, so it need not fit.
    let fits = net.and(fits, net.not(net.top(size)));
    net.ite(fits, net.ite(sign, net.neg(size), size), smallest)
}

/// What is negative and would fit a signed one wraps around; what does not fit gives the highest bit alone.
pub(super) fn to_unsigned(net: &Net, from: Layout, n_bits: u32, a: TermId) -> TermId {
    let Whole { sign, size, fits } = whole(net, from, n_bits, a);
    let highest = net.constant(1 << (n_bits - 1), n_bits);
    let fits = net.and(fits, net.not(net.and(sign, net.top(size))));
    net.ite(fits, net.ite(sign, net.neg(size), size), highest)
}

/// The nearest whole number, as a float: added to and masked as it is stored, since a carry into the exponent is right there.
pub(super) fn round_to_integral(net: &Net, layout: Layout, rounding: Rounding, a: TermId) -> TermId {
    let x = unpack(net, layout, a);
    let stored = layout.precision - 1;
    let width = layout.magnitude();
    let field = net.extract(a, layout.width() - 2, layout.width() - 1 - layout.exponent);
    let magnitude = net.concat(field, net.low(a, stored));
    let bias = net.constant(layout.bias() as u128, layout.exponent);
    let is_below_one = net.ult(field, bias);
    let whole = net.constant(layout.bias() as u128 + u128::from(stored), layout.exponent + 1);
    let wide_field = net.zext(field, layout.exponent + 1);
    let is_whole = net.not(net.ult(wide_field, whole));

    // So many bits are behind the point.
    let n_behind = net.sub(whole, wide_field);
    let ones = net.ones(stored);
    let behind = net.not(net.low(net.shift_left(ones, n_behind), stored));
    let behind = net.zext(behind, width);
    let last = net.add(behind, net.constant(1, width));
    let guard_mask = net.xor(behind, net.zext(net.high(behind, width - 1), width));
    let below_guard = net.xor(behind, guard_mask);
    let meets = |mask: TermId| net.is_any(net.and(magnitude, mask));
    // Where all stored bits are behind the point the last one is the exponent's lowest, which is set as the hidden one is.
    let up = rounds_up(net, rounding, x.sign, meets(last), meets(guard_mask), meets(below_guard));
    let added = net.add(magnitude, net.and(last, net.sext(up, width)));
    let rounded = net.and(added, net.not(behind));

    // Below one: nothing, or one. Its guard is whether it is a half or more.
    let is_half = net.eq(field, net.constant(layout.bias() as u128 - 1, layout.exponent));
    let low = net.is_any(net.low(a, stored));
    let sticky = net.and(net.not(x.is_zero), net.or(net.not(is_half), low));
    let up = rounds_up(net, rounding, x.sign, net.truth(false), is_half, sticky);
    let one = net.widen_low(bias, stored);
    let small = net.and(one, net.sext(up, width));
    let result = net.ite(is_below_one, small, rounded);
    let result = net.ite(is_whole, magnitude, result);
    let number = encode(net, layout, x.sign, result);
    net.ite(x.is_nan, quieted(net, layout, a, x), number)
}
