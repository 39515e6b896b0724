//! Arithmetic and comparison: the host's for float and double rounded to nearest, software for all else.

use super::parts::{Finite, Parts, Rest, is_negative, put_together, take_apart, to_integer, with_sign};
use super::{FloatBinary, FloatCompare, Format, Rounding};
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, Round};

/// What an operator with two operands makes of their values.
#[inline]
pub fn binary(op: FloatBinary, rounding: Rounding, width: u32, x: u128, y: u128) -> u128 {
    if rounding == Rounding::NearestEven && op != FloatBinary::Remainder {
        match width {
            64 => {
                let value = host(op, f64::from_bits(x as u64), f64::from_bits(y as u64));
                return if value.is_nan() { Format::Double.nan_of(x, y) } else { u128::from(value.to_bits()) };
            }
            32 => {
                let value = host(op, f32::from_bits(x as u32), f32::from_bits(y as u32));
                return if value.is_nan() { Format::Single.nan_of(x, y) } else { u128::from(value.to_bits()) };
            }
            _ => {}
        }
    }
    soft_binary(op, rounding, Format::of(width), x, y)
}

#[inline]
fn host<T>(op: FloatBinary, a: T, b: T) -> T
where
    T: std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>
        + std::ops::Rem<Output = T>,
{
    match op {
        FloatBinary::Add => a + b,
        FloatBinary::Sub => a - b,
        FloatBinary::Mul => a * b,
        FloatBinary::Div => a / b,
        FloatBinary::Rem => a % b,
        FloatBinary::Remainder => unreachable!("the host has no operator for it"),
    }
}

/// As [`binary`], without the host.
pub(super) fn soft_binary(op: FloatBinary, rounding: Rounding, format: Format, x: u128, y: u128) -> u128 {
    match op {
        // glibc's remainder of doubles comes to its second operand first.
        FloatBinary::Remainder if format == Format::Double && format.is_nan(y) => return format.nan_of(y, x),
        _ if format.is_nan(x) || format.is_nan(y) => return format.nan_of(x, y),
        FloatBinary::Rem | FloatBinary::Remainder => return remainder(op, format, x, y),
        _ => {}
    }
    match format {
        Format::Half => software::<Half>(op, rounding, format, x, y),
        Format::Single => software::<Single>(op, rounding, format, x, y),
        Format::Double => software::<Double>(op, rounding, format, x, y),
        Format::Extended => software::<X87DoubleExtended>(op, rounding, format, x, y),
        Format::Quad => software::<Quad>(op, rounding, format, x, y),
    }
}

fn software<F: Float>(op: FloatBinary, rounding: Rounding, format: Format, x: u128, y: u128) -> u128 {
    let round = round_of(rounding);
    let (a, b) = (F::from_bits(x), F::from_bits(y));
    let value = match op {
        FloatBinary::Add => a.add_r(b, round),
        FloatBinary::Sub => a.sub_r(b, round),
        FloatBinary::Mul => a.mul_r(b, round),
        FloatBinary::Div => a.div_r(b, round),
        FloatBinary::Rem | FloatBinary::Remainder => unreachable!("they are computed on integers"),
    };
    made(value.value, format)
}

fn made<F: Float>(value: F, format: Format) -> u128 {
    if value.is_nan() { format.default_nan() } else { value.to_bits() }
}

fn round_of(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Up => Round::TowardPositive,
        Rounding::Down => Round::TowardNegative,
        Rounding::ToZero => Round::TowardZero,
    }
}

/// Neither is a NaN. Exact: the quotient is divided out bit by bit, and only its last bit is kept.
fn remainder(op: FloatBinary, format: Format, x: u128, y: u128) -> u128 {
    let (a, b) = match (take_apart(format, x), take_apart(format, y)) {
        (Parts::Infinite, _) | (_, Parts::Zero) => return format.default_nan(),
        (Parts::Zero, _) => return x,
        (Parts::Finite(a), Parts::Infinite) => return put_together(format, Rounding::NearestEven, a, Rest::Nothing),
        (Parts::Finite(a), Parts::Finite(b)) => (a, b),
        (Parts::Nan, _) | (_, Parts::Nan) => unreachable!("looked at before"),
    };
    let mut exponent = b.exponent;
    let mut divisor = b.significand;
    if a.exponent < b.exponent {
        // The divisor in units of the dividend, if it is not larger in any case.
        let by = (b.exponent - a.exponent) as u32;
        if by + 1 >= divisor.leading_zeros() {
            // Twice the dividend is less than the divisor.
            return put_together(format, Rounding::NearestEven, a, Rest::Nothing);
        }
        divisor <<= by;
        exponent = a.exponent;
    }
    let n_shifts = (a.exponent - b.exponent).max(0);
    let mut is_odd = (a.significand / divisor) & 1 == 1;
    let mut left = a.significand % divisor;
    for _ in 0..n_shifts {
        left <<= 1;
        is_odd = left >= divisor;
        if is_odd {
            left -= divisor;
        }
    }
    let mut negative = a.negative;
    if op == FloatBinary::Remainder && (2 * left > divisor || 2 * left == divisor && is_odd) {
        left = divisor - left;
        negative = !negative;
    }
    if left == 0 {
        return with_sign(format, a.negative, 0);
    }
    put_together(format, Rounding::NearestEven, Finite { negative, exponent, significand: left }, Rest::Nothing)
}

/// A product and a sum with one rounding.
pub fn fma(rounding: Rounding, width: u32, x: u128, y: u128, z: u128) -> u128 {
    let format = Format::of(width);
    // The order in which glibc's instruction looks at its operands.
    if let Some(&nan) = [y, x, z].iter().find(|bits| format.is_nan(**bits)) {
        return format.quieted(nan);
    }
    if rounding == Rounding::NearestEven && format == Format::Double {
        let value = f64::from_bits(x as u64).mul_add(f64::from_bits(y as u64), f64::from_bits(z as u64));
        return if value.is_nan() { format.default_nan() } else { u128::from(value.to_bits()) };
    }
    match format {
        Format::Half => soft_fma::<Half>(rounding, format, x, y, z),
        Format::Single => soft_fma::<Single>(rounding, format, x, y, z),
        Format::Double => soft_fma::<Double>(rounding, format, x, y, z),
        Format::Extended => soft_fma::<X87DoubleExtended>(rounding, format, x, y, z),
        Format::Quad => soft_fma::<Quad>(rounding, format, x, y, z),
    }
}

fn soft_fma<F: Float>(rounding: Rounding, format: Format, x: u128, y: u128, z: u128) -> u128 {
    let value = F::from_bits(x).mul_add_r(F::from_bits(y), F::from_bits(z), round_of(rounding));
    made(value.value, format)
}

pub(super) fn sqrt(format: Format, rounding: Rounding, x: u128) -> u128 {
    let number = match take_apart(format, x) {
        Parts::Nan => return format.quieted(x),
        Parts::Zero => return x,
        _ if is_negative(format, x) => return format.default_nan(),
        Parts::Infinite => return x,
        Parts::Finite(number) => number,
    };
    match (rounding, format) {
        (Rounding::NearestEven, Format::Double) => u128::from(f64::from_bits(x as u64).sqrt().to_bits()),
        (Rounding::NearestEven, Format::Single) => u128::from(f32::from_bits(x as u32).sqrt().to_bits()),
        _ => soft_sqrt(format, rounding, number),
    }
}

/// The root of the significand as an integer, digit by digit, two bits longer than the format has.
pub(super) fn soft_sqrt(format: Format, rounding: Rounding, number: Finite) -> u128 {
    let shift = number.significand.leading_zeros();
    // The significand with its highest bit at the top of 128 bits, or one below, so that the exponent is even.
    let is_odd = (number.exponent - shift as i32).rem_euclid(2) == 1;
    let mut digits = number.significand << shift;
    let mut exponent = number.exponent - shift as i32;
    let mut lowest = 0;
    if is_odd {
        lowest = digits & 1;
        digits >>= 1;
        exponent += 1;
    }
    let n_digits = format.precision() + 2;
    let (mut root, mut left) = (0u128, 0u128);
    for nth in 0..n_digits {
        // Two more bits of the radicand; beyond its end there are zeros, and the one that was shifted out.
        let two = match nth {
            0..64 => digits >> (126 - 2 * nth) & 3,
            64 => lowest << 1,
            _ => 0,
        };
        left = left << 2 | two;
        root <<= 1;
        if left > 2 * root {
            left -= 2 * root + 1;
            root += 1;
        }
    }
    let exponent = exponent / 2 + 64 - n_digits as i32;
    let rest = if left == 0 { Rest::Nothing } else { Rest::Something };
    put_together(format, rounding, Finite { negative: false, exponent, significand: root }, rest)
}

/// The integral value next to a float by the rounding, with its sign also where it is zero.
pub(super) fn integral(format: Format, rounding: Rounding, x: u128) -> u128 {
    let number = match take_apart(format, x) {
        Parts::Nan => return format.quieted(x),
        Parts::Zero | Parts::Infinite => return x,
        Parts::Finite(number) => number,
    };
    if number.exponent >= 0 {
        return x;
    }
    let integer = Finite { exponent: 0, significand: to_integer(rounding, number), ..number };
    put_together(format, Rounding::NearestEven, integer, Rest::Nothing)
}

/// Whether a comparison holds.
#[inline]
pub fn compare(op: FloatCompare, width: u32, x: u128, y: u128) -> bool {
    match width {
        64 => host_compare(op, f64::from_bits(x as u64), f64::from_bits(y as u64)),
        32 => host_compare(op, f32::from_bits(x as u32), f32::from_bits(y as u32)),
        _ => soft_compare(op, Format::of(width), x, y),
    }
}

#[inline]
fn host_compare<T: PartialOrd>(op: FloatCompare, a: T, b: T) -> bool {
    match op {
        FloatCompare::Less => a < b,
        FloatCompare::LessOrEqual => a <= b,
        FloatCompare::Equal => a == b,
    }
}

pub(super) fn soft_compare(op: FloatCompare, format: Format, x: u128, y: u128) -> bool {
    if format.is_nan(x) || format.is_nan(y) {
        return false;
    }
    let (x, y) = (ordered(format, x), ordered(format, y));
    match op {
        FloatCompare::Less => x < y,
        FloatCompare::LessOrEqual => x <= y,
        FloatCompare::Equal => x == y,
    }
}

/// A number that orders numbers as the floats are ordered: how many floats lie between zero and this one, and on which side.
fn ordered(format: Format, bits: u128) -> i128 {
    let magnitude = bits & !format.sign_bit();
    let magnitude = match format {
        // Without the written-out bit, which says no more than the exponent does.
        Format::Extended if magnitude >> 63 == 1 => 1 << 63 | magnitude & format.fraction_mask(),
        Format::Extended => (magnitude >> 64) << 63 | magnitude & format.fraction_mask(),
        _ => magnitude,
    };
    if is_negative(format, bits) { -(magnitude as i128) } else { magnitude as i128 }
}

pub fn is_less(width: u32, x: u128, y: u128) -> bool {
    compare(FloatCompare::Less, width, x, y)
}

pub fn is_same(width: u32, x: u128, y: u128) -> bool {
    compare(FloatCompare::Equal, width, x, y)
}
