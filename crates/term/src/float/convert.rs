//! Between floats and integers, and between formats.

use super::parts::{Finite, Parts, Rest, is_negative, put_together, take_apart, to_integer, with_sign};
use super::{Format, Rounding};
use crate::fold;

/// An integer as the float next to it.
pub fn from_signed(format: Format, rounding: Rounding, value: i128) -> u128 {
    match (format, rounding) {
        (Format::Double, Rounding::NearestEven) => u128::from((value as f64).to_bits()),
        (Format::Single, Rounding::NearestEven) => u128::from((value as f32).to_bits()),
        _ => from_magnitude(format, rounding, value < 0, value.unsigned_abs()),
    }
}

/// An integer as the float next to it.
pub fn from_unsigned(format: Format, rounding: Rounding, value: u128) -> u128 {
    match (format, rounding) {
        (Format::Double, Rounding::NearestEven) => u128::from((value as f64).to_bits()),
        (Format::Single, Rounding::NearestEven) => u128::from((value as f32).to_bits()),
        _ => from_magnitude(format, rounding, false, value),
    }
}

pub(super) fn from_magnitude(format: Format, rounding: Rounding, negative: bool, magnitude: u128) -> u128 {
    let exact = Finite { negative, exponent: 0, significand: magnitude };
    put_together(format, rounding, exact, Rest::Nothing)
}

/// The integer part as a signed integer of `to` bits; what does not fit gives the smallest one.
pub fn to_signed(format: Format, to: u32, x: u128) -> u128 {
    let smallest = fold::sign_bit(to);
    let Some((negative, magnitude)) = integer_part(format, x) else { return smallest };
    if magnitude > smallest - u128::from(!negative) {
        return smallest;
    }
    if negative { fold::neg(magnitude, to) } else { magnitude }
}

/// The integer part as an unsigned integer of `to` bits; see [`super::FloatUnary::ToUnsigned`].
pub fn to_unsigned(format: Format, to: u32, x: u128) -> u128 {
    let highest = fold::sign_bit(to);
    match integer_part(format, x) {
        Some((false, magnitude)) if magnitude <= fold::mask(to) => magnitude,
        Some((true, magnitude)) if magnitude <= highest => fold::neg(magnitude, to),
        _ => highest,
    }
}

/// Sign and magnitude without the fraction; `None` where that takes more than 128 bits.
fn integer_part(format: Format, x: u128) -> Option<(bool, u128)> {
    match take_apart(format, x) {
        Parts::Nan | Parts::Infinite => None,
        Parts::Zero => Some((false, 0)),
        Parts::Finite(number) => {
            let is_large = number.exponent > number.significand.leading_zeros() as i32;
            (!is_large).then(|| (number.negative, to_integer(Rounding::ToZero, number)))
        }
    }
}

/// A float in another format.
#[inline]
pub fn resize(from: Format, to: Format, rounding: Rounding, x: u128) -> u128 {
    match (from, to) {
        _ if from.is_nan(x) => resize_nan(from, to, x),
        (Format::Single, Format::Double) => u128::from(f64::from(f32::from_bits(x as u32)).to_bits()),
        (Format::Double, Format::Single) if rounding == Rounding::NearestEven => {
            u128::from((f64::from_bits(x as u64) as f32).to_bits())
        }
        _ => soft_resize(from, to, rounding, x),
    }
}

pub(super) fn soft_resize(from: Format, to: Format, rounding: Rounding, x: u128) -> u128 {
    let negative = is_negative(from, x);
    match take_apart(from, x) {
        Parts::Nan => resize_nan(from, to, x),
        Parts::Infinite => with_sign(to, negative, to.infinity()),
        Parts::Zero => with_sign(to, negative, 0),
        Parts::Finite(number) => put_together(to, rounding, number, Rest::Nothing),
    }
}

/// The fraction keeps its highest bits, and becomes quiet.
fn resize_nan(from: Format, to: Format, x: u128) -> u128 {
    if from.is_unsupported(x) {
        return to.default_nan();
    }
    let fraction = x & from.fraction_mask();
    let (had, has) = (from.precision() - 1, to.precision() - 1);
    let fraction = if has >= had { fraction << (has - had) } else { fraction >> (had - has) };
    with_sign(to, is_negative(from, x), to.infinity() | to.quiet_bit() | fraction)
}
