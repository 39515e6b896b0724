//! Sign, exponent and significand of a number, taken apart and put together again with one rounding.

use super::{Format, Rounding};
use std::cmp::Ordering;

/// A number that is finite and not zero: `significand` times two to the power of `exponent`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finite {
    pub negative: bool,
    pub exponent: i32,
    pub significand: u128,
}

/// What bits stand for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parts {
    Nan,
    Infinite,
    Zero,
    Finite(Finite),
}

/// What was cut off below the last bit of an exact value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    Nothing,
    /// More than nothing and less than one in the last place.
    Something,
}

pub(super) fn is_negative(format: Format, bits: u128) -> bool {
    bits & format.sign_bit() != 0
}

pub(super) fn take_apart(format: Format, bits: u128) -> Parts {
    if format.is_nan(bits) {
        return Parts::Nan;
    }
    let stored = (bits >> format.exponent_at()) as u32 & format.top_exponent();
    if stored == format.top_exponent() {
        return Parts::Infinite;
    }
    let significand = match format {
        Format::Extended => u128::from(bits as u64),
        _ if stored == 0 => bits & format.fraction_mask(),
        _ => bits & format.fraction_mask() | (format.fraction_mask() + 1),
    };
    if significand == 0 {
        return Parts::Zero;
    }
    let exponent = stored.max(1) as i32 - format.bias() - (format.precision() as i32 - 1);
    Parts::Finite(Finite { negative: is_negative(format, bits), exponent, significand })
}

/// Zero or infinity or anything else that is only a sign and a pattern.
pub(super) fn with_sign(format: Format, negative: bool, pattern: u128) -> u128 {
    if negative { format.sign_bit() | pattern } else { pattern }
}

/// The float next to an exact value by the rounding. Where something was cut off below, the significand has at least two bits
/// more than the format.
pub(super) fn put_together(format: Format, rounding: Rounding, exact: Finite, rest: Rest) -> u128 {
    let Finite { negative, exponent, significand } = exact;
    if significand == 0 {
        debug_assert!(rest == Rest::Nothing, "too little is left to round");
        return with_sign(format, negative, 0);
    }
    let precision = format.precision() as i32;
    let n_bits = (128 - significand.leading_zeros()) as i32;
    let least = 1 - format.bias() - (precision - 1);
    // The value of the last bit that is kept.
    let mut unit = (exponent + n_bits - precision).max(least);
    let cut = unit - exponent;
    debug_assert!(cut > 0 || rest == Rest::Nothing, "the rest lies in what is kept");
    let mut kept = if cut <= 0 { significand << -cut } else { significand.checked_shr(cut as u32).unwrap_or(0) };
    if cut > 0 && is_rounded_up(rounding, negative, kept & 1 == 1, lost(significand, cut as u32, rest)) {
        kept += 1;
        if kept >> precision == 1 {
            kept >>= 1;
            unit += 1;
        }
    }
    if kept >> (precision - 1) == 0 {
        return with_sign(format, negative, kept);
    }
    let stored = unit + (precision - 1) + format.bias();
    if stored >= format.top_exponent() as i32 {
        return overflowed(format, rounding, negative);
    }
    let fraction = if format == Format::Extended { kept } else { kept & format.fraction_mask() };
    with_sign(format, negative, (stored as u128) << format.exponent_at() | fraction)
}

/// What the lowest `cut` bits and the rest are worth: `None` for nothing, else how that compares with half of what the last bit kept
/// is worth.
fn lost(significand: u128, cut: u32, rest: Rest) -> Option<Ordering> {
    let (bits, half) = match cut {
        0 => (0, 1),
        1..=127 => (significand & ((1 << cut) - 1), 1 << (cut - 1)),
        128 => (significand, 1 << 127),
        // Less than half, however large.
        _ => (0, 1),
    };
    let is_something = rest == Rest::Something || cut > 128;
    match bits.cmp(&half) {
        Ordering::Less if bits == 0 && !is_something => None,
        Ordering::Equal if is_something => Some(Ordering::Greater),
        order => Some(order),
    }
}

fn is_rounded_up(rounding: Rounding, negative: bool, is_odd: bool, lost: Option<Ordering>) -> bool {
    let Some(lost) = lost else { return false };
    match rounding {
        Rounding::NearestEven => lost == Ordering::Greater || lost == Ordering::Equal && is_odd,
        Rounding::NearestAway => lost != Ordering::Less,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::ToZero => false,
    }
}

fn overflowed(format: Format, rounding: Rounding, negative: bool) -> u128 {
    let is_infinite = match rounding {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::ToZero => false,
    };
    with_sign(format, negative, if is_infinite { format.infinity() } else { format.largest() })
}

/// The integer next to a number by the rounding, and whether it is another number. The number has less than 128 bits before
/// its point.
pub(super) fn to_integer(rounding: Rounding, number: Finite) -> u128 {
    let Finite { negative, exponent, significand } = number;
    if exponent >= 0 {
        return significand << exponent;
    }
    let cut = exponent.unsigned_abs();
    let kept = significand.checked_shr(cut).unwrap_or(0);
    let up = is_rounded_up(rounding, negative, kept & 1 == 1, lost(significand, cut, Rest::Nothing));
    kept + u128::from(up)
}
