//! Taking floats apart, and rounding and putting them together.

use super::Layout;
use super::net::Net;
use crate::TermId;
use crate::float::Rounding;

/// A float taken apart.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub sign: TermId,
    /// The exponent's bits, one for subnormals, too: what the significand is to be multiplied with.
    pub exponent: TermId,
    /// With the bit before the point.
    pub significand: TermId,
    /// Or none of the patterns that have a meaning.
    pub is_nan: TermId,
    /// An exponent, but no bit before the point, where that is stored.
    pub is_unsupported: TermId,
    pub is_infinite: TermId,
    pub is_zero: TermId,
}

/// A float that is not zero, with the top bit of the significand set.
#[derive(Clone, Copy)]
pub(super) struct Normal {
    /// Biased and signed, two bits wider than in the format.
    pub exponent: TermId,
    pub significand: TermId,
}

/// Where a result that is to be rounded may lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is never smaller than the smallest normal number.
    Normal,
    Any,
}

pub(super) fn unpack(net: &Net, layout: Layout, bits: TermId) -> Parts {
    let Layout { exponent: n_exponent, precision, .. } = layout;
    let stored = precision - 1;
    let sign = net.top(bits);
    let (field, fraction) =
        (net.extract(bits, layout.width() - 2, layout.width() - 1 - n_exponent), net.low(bits, stored));
    let is_top = net.is_ones(field);
    let is_normal = net.is_any(field);
    let has_fraction = net.is_any(fraction);
    let lowest = net.or(net.low(field, 1), net.not(is_normal));
    let exponent = net.concat(net.high(field, n_exponent - 1), lowest);
    let integer = if layout.is_explicit { net.bit(bits, stored) } else { is_normal };
    let significand = net.concat(integer, fraction);
    let is_unsupported = net.and(is_normal, net.not(integer));
    let is_nan = net.or(net.and(is_top, has_fraction), is_unsupported);
    let is_zero = net.not(net.any(&[is_normal, integer, has_fraction]));
    let is_infinite = net.and(is_top, net.not(net.or(has_fraction, is_unsupported)));
    Parts { sign, exponent, significand, is_nan, is_unsupported, is_infinite, is_zero }
}

/// Subnormals with their top bit moved up.
pub(super) fn normal(net: &Net, parts: Parts) -> Normal {
    let width = net.width(parts.exponent) + 2;
    let (significand, count) = net.normalise(parts.significand);
    let exponent = net.sub(net.zext(parts.exponent, width), net.zext(count, width));
    Normal { exponent, significand }
}

/// Sign, exponent and fraction as they are stored. The magnitude has no bit before the point, whatever the format.
pub(super) fn encode(net: &Net, layout: Layout, sign: TermId, magnitude: TermId) -> TermId {
    if !layout.is_explicit {
        return net.concat(sign, magnitude);
    }
    let field = net.high(magnitude, layout.exponent);
    let fraction = net.low(magnitude, layout.precision - 1);
    net.concat(net.concat(sign, field), net.concat(net.is_any(field), fraction))
}

pub(super) fn infinity(net: &Net, layout: Layout) -> TermId {
    net.widen_low(net.ones(layout.exponent), layout.precision - 1)
}

pub(super) fn largest(net: &Net, layout: Layout) -> TermId {
    net.sub(infinity(net, layout), net.constant(1, layout.magnitude()))
}

/// The NaN that an operation makes when no operand is one.
pub(super) fn default_nan(net: &Net, layout: Layout) -> TermId {
    let quiet = net.constant(1 << (layout.precision - 2), layout.precision - 1);
    encode(net, layout, net.truth(true), net.concat(net.ones(layout.exponent), quiet))
}

/// A NaN with its quiet bit set, or the default one for what has no meaning.
pub(super) fn quieted(net: &Net, layout: Layout, nan: TermId, parts: Parts) -> TermId {
    let bit = net.constant(1 << (layout.precision - 2), layout.width());
    net.ite(parts.is_unsupported, default_nan(net, layout), net.or(nan, bit))
}

/// Whether what was cut off makes the last bit one more.
pub(super) fn rounds_up(
    net: &Net,
    rounding: Rounding,
    sign: TermId,
    last: TermId,
    guard: TermId,
    sticky: TermId,
) -> TermId {
    let is_inexact = net.or(guard, sticky);
    match rounding {
        Rounding::NearestEven => net.and(guard, net.or(sticky, last)),
        Rounding::NearestAway => guard,
        Rounding::ToZero => net.truth(false),
        Rounding::Up => net.and(net.not(sign), is_inexact),
        Rounding::Down => net.and(sign, is_inexact),
    }
}

/// What is too large for a number.
pub(super) fn overflowed(net: &Net, layout: Layout, rounding: Rounding, sign: TermId) -> TermId {
    let (infinity, largest) = (infinity(net, layout), largest(net, layout));
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => infinity,
        Rounding::ToZero => largest,
        Rounding::Up => net.ite(sign, largest, infinity),
        Rounding::Down => net.ite(sign, infinity, largest),
    }
}

/// The magnitude of exponent field and significand (its top bit says whether the field counts), of which `precision` bits
/// are kept and the others are rounded.
pub(super) fn round_in_place(
    net: &Net,
    layout: Layout,
    rounding: Rounding,
    sign: TermId,
    field: TermId,
    significand: TermId,
) -> TermId {
    let width = net.width(significand);
    let n_cut = width - layout.precision;
    let kept = net.high(significand, layout.precision);
    let guard = net.bit(significand, n_cut - 1);
    let sticky = if n_cut > 1 { net.is_any(net.low(significand, n_cut - 1)) } else { net.truth(false) };
    let up = rounds_up(net, rounding, sign, net.low(kept, 1), guard, sticky);
    let exact = net.concat(field, net.low(kept, layout.precision - 1));
    // A carry out of the fraction goes into the exponent, and from the largest number to infinity.
    let rounded = net.add_bit(exact, up);
    let is_over = net.or(net.is_ones(field), net.is_ones(net.high(rounded, layout.exponent)));
    net.ite(is_over, overflowed(net, layout, rounding, sign), rounded)
}

/// The magnitude nearest to a number that is not zero: its top bit is set, its exponent is biased and signed, and `sticky`
/// stands for all that lies below its significand.
pub(super) fn round(
    net: &Net,
    (layout, rounding, reach): (Layout, Rounding, Reach),
    sign: TermId,
    number: Normal,
    sticky: TermId,
) -> TermId {
    let Normal { exponent, significand } = number;
    let kept = layout.precision + 1;
    let width = net.width(significand);
    let (mut bits, mut sticky) = (significand, sticky);
    if width > kept {
        sticky = net.or(sticky, net.is_any(net.low(bits, width - kept)));
        bits = net.high(bits, kept);
    } else {
        bits = net.widen_low(bits, kept - width);
    }
    let wide = net.width(exponent);
    let mut field = net.low(exponent, layout.exponent);
    if reach == Reach::Any {
        let one = net.signed(1, wide);
        let is_small = net.slt(exponent, one);
        let (moved, lost) = net.shift_right(bits, net.sub(one, exponent));
        bits = net.ite(is_small, moved, bits);
        sticky = net.or(sticky, net.and(is_small, lost));
        field = net.ite(is_small, net.zero(layout.exponent), field);
    }
    let most = net.signed((1 << layout.exponent) - 2, wide);
    let is_large = net.slt(most, exponent);
    let rounded = round_in_place(net, layout, rounding, sign, field, net.concat(bits, sticky));
    net.ite(is_large, overflowed(net, layout, rounding, sign), rounded)
}
