//! Floating point on concrete bits: the host's arithmetic for float and double, software for the other formats.

use ir::{FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind, FloatMathOp};
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, StatusAnd};

use crate::value::{mask128, sext128};

fn f32_of(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

fn of_f32(value: f32) -> u128 {
    u128::from(value.to_bits())
}

fn of_f64(value: f64) -> u128 {
    u128::from(value.to_bits())
}

pub fn bin(op: FloatBinOp, kind: FloatKind, a: u128, b: u128) -> u128 {
    match kind {
        FloatKind::Single => of_f32(host_bin(op, f32_of(a), f32_of(b))),
        FloatKind::Double => of_f64(host_bin(op, f64_of(a), f64_of(b))),
        FloatKind::Half => soft_bin::<Half>(op, a, b),
        FloatKind::Extended => soft_bin::<X87DoubleExtended>(op, a, b),
        FloatKind::Quad => soft_bin::<Quad>(op, a, b),
    }
}

fn host_bin<T>(op: FloatBinOp, a: T, b: T) -> T
where
    T: std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>
        + std::ops::Rem<Output = T>,
{
    match op {
        FloatBinOp::Add => a + b,
        FloatBinOp::Sub => a - b,
        FloatBinOp::Mul => a * b,
        FloatBinOp::Div => a / b,
        FloatBinOp::Rem => a % b,
    }
}

fn soft_bin<F: Float>(op: FloatBinOp, a: u128, b: u128) -> u128 {
    let (a, b) = (F::from_bits(a), F::from_bits(b));
    let StatusAnd { value, .. } = match op {
        FloatBinOp::Add => a + b,
        FloatBinOp::Sub => a - b,
        FloatBinOp::Mul => a * b,
        FloatBinOp::Div => a / b,
        FloatBinOp::Rem => a.c_fmod(b),
    };
    value.to_bits()
}

pub fn compare(op: FloatCmpOp, kind: FloatKind, a: u128, b: u128) -> bool {
    use std::cmp::Ordering;
    let order = match kind {
        FloatKind::Single => f32_of(a).partial_cmp(&f32_of(b)),
        FloatKind::Double => f64_of(a).partial_cmp(&f64_of(b)),
        FloatKind::Half => Half::from_bits(a).partial_cmp(&Half::from_bits(b)),
        FloatKind::Extended => X87DoubleExtended::from_bits(a).partial_cmp(&X87DoubleExtended::from_bits(b)),
        FloatKind::Quad => Quad::from_bits(a).partial_cmp(&Quad::from_bits(b)),
    };
    let ordered = |wanted: &[Ordering]| order.is_some_and(|order| wanted.contains(&order));
    let (less, equal, greater) = (Ordering::Less, Ordering::Equal, Ordering::Greater);
    match op {
        FloatCmpOp::False => false,
        FloatCmpOp::True => true,
        FloatCmpOp::Ord => order.is_some(),
        FloatCmpOp::Uno => order.is_none(),
        FloatCmpOp::Oeq => ordered(&[equal]),
        FloatCmpOp::Ogt => ordered(&[greater]),
        FloatCmpOp::Oge => ordered(&[greater, equal]),
        FloatCmpOp::Olt => ordered(&[less]),
        FloatCmpOp::Ole => ordered(&[less, equal]),
        FloatCmpOp::One => ordered(&[less, greater]),
        FloatCmpOp::Ueq => order.is_none() || ordered(&[equal]),
        FloatCmpOp::Ugt => order.is_none() || ordered(&[greater]),
        FloatCmpOp::Uge => order.is_none() || ordered(&[greater, equal]),
        FloatCmpOp::Ult => order.is_none() || ordered(&[less]),
        FloatCmpOp::Ule => order.is_none() || ordered(&[less, equal]),
        FloatCmpOp::Une => order.is_none() || ordered(&[less, greater]),
    }
}

/// `from`/`to` are integer widths where one side is an integer; `kind` is the float side, or the source of a resize.
pub fn cast(op: FloatCastOp, from: u8, to: u8, kind: FloatKind, to_kind: FloatKind, a: u128) -> u128 {
    match op {
        FloatCastOp::Resize => resize(kind, to_kind, a),
        FloatCastOp::FromSigned => from_int(kind, sext128(a, from)),
        FloatCastOp::FromUnsigned => from_uint(kind, a),
        FloatCastOp::ToSigned => to_signed(kind, to, a),
        FloatCastOp::ToUnsigned => to_unsigned(kind, to, a),
    }
}

fn from_int(kind: FloatKind, value: i128) -> u128 {
    match kind {
        FloatKind::Single => of_f32(value as f32),
        FloatKind::Double => of_f64(value as f64),
        FloatKind::Half => Half::from_i128(value).value.to_bits(),
        FloatKind::Extended => X87DoubleExtended::from_i128(value).value.to_bits(),
        FloatKind::Quad => Quad::from_i128(value).value.to_bits(),
    }
}

fn from_uint(kind: FloatKind, value: u128) -> u128 {
    match kind {
        FloatKind::Single => of_f32(value as f32),
        FloatKind::Double => of_f64(value as f64),
        FloatKind::Half => Half::from_u128(value).value.to_bits(),
        FloatKind::Extended => X87DoubleExtended::from_u128(value).value.to_bits(),
        FloatKind::Quad => Quad::from_u128(value).value.to_bits(),
    }
}

/// Out of range gives what x86 gives: the "integer indefinite" value of the instruction clang uses at -O0.
fn to_signed(kind: FloatKind, to: u8, a: u128) -> u128 {
    // Narrow results are converted through 32 bits and cut off.
    let through = if to <= 32 { 32 } else { to };
    let wide = to_i128(kind, a);
    let limit = 1i128 << (through - 1).min(126);
    let value = match wide {
        Some(value) if through > 126 || (-limit..limit).contains(&value) => value,
        _ => -limit,
    };
    value as u128 & mask128(to)
}

fn to_unsigned(kind: FloatKind, to: u8, a: u128) -> u128 {
    match to_i128(kind, a) {
        // 32-bit and narrower results are converted through a signed 64-bit conversion.
        Some(value) if to <= 32 => {
            let fits = i64::try_from(value).unwrap_or(i64::MIN);
            fits as u128 & mask128(to)
        }
        Some(value) => value as u128 & mask128(to),
        None => (1u128 << (to - 1)) & mask128(to),
    }
}

/// The integer part, where it fits 128 bits.
fn to_i128(kind: FloatKind, a: u128) -> Option<i128> {
    let mut exact = false;
    let status = match kind {
        FloatKind::Single => return host_to_i128(f64::from(f32_of(a))),
        FloatKind::Double => return host_to_i128(f64_of(a)),
        FloatKind::Half => Half::from_bits(a).to_i128_r(128, Round::TowardZero, &mut exact),
        FloatKind::Extended => X87DoubleExtended::from_bits(a).to_i128_r(128, Round::TowardZero, &mut exact),
        FloatKind::Quad => Quad::from_bits(a).to_i128_r(128, Round::TowardZero, &mut exact),
    };
    (!status.status.contains(rustc_apfloat::Status::INVALID_OP)).then_some(status.value)
}

fn host_to_i128(value: f64) -> Option<i128> {
    (value.abs() < 1.7e38).then_some(value as i128)
}

fn resize(from: FloatKind, to: FloatKind, a: u128) -> u128 {
    match (from, to) {
        (FloatKind::Single, FloatKind::Double) => of_f64(f64::from(f32_of(a))),
        (FloatKind::Double, FloatKind::Single) => of_f32(f64_of(a) as f32),
        (FloatKind::Half, _) => resize_from::<Half>(to, a),
        (FloatKind::Single, _) => resize_from::<Single>(to, a),
        (FloatKind::Double, _) => resize_from::<Double>(to, a),
        (FloatKind::Extended, _) => resize_from::<X87DoubleExtended>(to, a),
        (FloatKind::Quad, _) => resize_from::<Quad>(to, a),
    }
}

fn resize_from<F>(to: FloatKind, a: u128) -> u128
where
    F: Float
        + FloatConvert<Half>
        + FloatConvert<Single>
        + FloatConvert<Double>
        + FloatConvert<X87DoubleExtended>
        + FloatConvert<Quad>,
{
    fn convert<F: FloatConvert<T>, T: Float>(a: u128) -> u128 {
        let mut loses = false;
        F::from_bits(a).convert(&mut loses).value.to_bits()
    }
    match to {
        FloatKind::Half => convert::<F, Half>(a),
        FloatKind::Single => convert::<F, Single>(a),
        FloatKind::Double => convert::<F, Double>(a),
        FloatKind::Extended => convert::<F, X87DoubleExtended>(a),
        FloatKind::Quad => convert::<F, Quad>(a),
    }
}

/// Functions of floats. Beyond what software floats offer, long double and quad are computed in double: `None` then
/// says that the result may differ from the machine's in its last bits.
pub fn math(op: FloatMathOp, kind: FloatKind, a: u128, b: u128, c: u128) -> Option<u128> {
    match kind {
        FloatKind::Single => Some(of_f32(math_f32(op, f32_of(a), f32_of(b), f32_of(c)))),
        FloatKind::Double => Some(of_f64(math_f64(op, f64_of(a), f64_of(b), f64_of(c)))),
        FloatKind::Half => soft_math::<Half>(op, a, b, c),
        FloatKind::Extended if op == FloatMathOp::Sqrt => Some(extended_root(a)),
        FloatKind::Extended => soft_math::<X87DoubleExtended>(op, a, b, c),
        FloatKind::Quad => soft_math::<Quad>(op, a, b, c),
    }
}

/// The square root of an 80-bit number, rounded to nearest: the root of its fraction as an integer, one bit too precise to
/// be halfway between two results.
pub fn extended_root(bits: u128) -> u128 {
    const NAN: u128 = 0xffff_c000_0000_0000_0000;
    let (fraction, exponent) = (bits as u64, (bits >> 64) as i32 & 0x7fff);
    let is_negative = bits >> 79 & 1 == 1;
    let is_nan = exponent == 0x7fff && fraction << 1 != 0;
    match (fraction, is_negative) {
        _ if is_nan => return bits | 1 << 62,
        (0, _) if exponent == 0 => return bits,
        (_, true) => return NAN,
        _ if exponent == 0x7fff => return bits,
        _ => {}
    }
    let shift = fraction.leading_zeros();
    let fraction = fraction << shift;
    // The value is fraction * 2^power; an even power halves.
    let power = exponent.max(1) - 16383 - 63 - shift as i32;
    let (wide, power) = if power.rem_euclid(2) == 0 {
        (u128::from(fraction) << 64, power - 64)
    } else {
        (u128::from(fraction) << 63, power - 63)
    };
    let root = wide.isqrt();
    let rest = wide - root * root;
    let rounded = root + u128::from(rest > root);
    // Rounding up may carry into another bit.
    let (rounded, carry) = if rounded >> 64 == 1 { (rounded >> 1, 1) } else { (rounded, 0) };
    debug_assert!(rounded >> 63 == 1, "the root is normal");
    let exponent = power / 2 + 63 + 16383 + carry;
    (exponent as u128) << 64 | rounded
}

fn soft_math<F: Float>(op: FloatMathOp, a: u128, b: u128, c: u128) -> Option<u128> {
    let (x, y, z) = (F::from_bits(a), F::from_bits(b), F::from_bits(c));
    Some(
        match op {
            FloatMathOp::Neg => -x,
            FloatMathOp::Abs => x.abs(),
            FloatMathOp::CopySign => x.copy_sign(y),
            FloatMathOp::MinNum => x.min(y),
            FloatMathOp::MaxNum => x.max(y),
            FloatMathOp::Floor => x.round_to_integral(Round::TowardNegative).value,
            FloatMathOp::Ceil => x.round_to_integral(Round::TowardPositive).value,
            FloatMathOp::Trunc => x.round_to_integral(Round::TowardZero).value,
            FloatMathOp::Round => x.round_to_integral(Round::NearestTiesToAway).value,
            FloatMathOp::RoundEven | FloatMathOp::Rint | FloatMathOp::NearbyInt => {
                x.round_to_integral(Round::NearestTiesToEven).value
            }
            FloatMathOp::Fma => x.mul_add(y, z).value,
            FloatMathOp::MulAdd => ((x * y).value + z).value,
            _ => return None,
        }
        .to_bits(),
    )
}

macro_rules! host_math {
    ($name:ident, $float:ty) => {
        fn $name(op: FloatMathOp, a: $float, b: $float, c: $float) -> $float {
            match op {
                FloatMathOp::Neg => -a,
                FloatMathOp::Abs => a.abs(),
                FloatMathOp::Sqrt => a.sqrt(),
                FloatMathOp::Floor => a.floor(),
                FloatMathOp::Ceil => a.ceil(),
                FloatMathOp::Trunc => a.trunc(),
                FloatMathOp::Round => a.round(),
                FloatMathOp::RoundEven | FloatMathOp::Rint | FloatMathOp::NearbyInt => a.round_ties_even(),
                FloatMathOp::CopySign => a.copysign(b),
                FloatMathOp::MinNum => a.min(b),
                FloatMathOp::MaxNum => a.max(b),
                FloatMathOp::Fma => a.mul_add(b, c),
                FloatMathOp::MulAdd => a * b + c,
                FloatMathOp::Sin => a.sin(),
                FloatMathOp::Cos => a.cos(),
                FloatMathOp::Tan => a.tan(),
                FloatMathOp::Exp => a.exp(),
                FloatMathOp::Exp2 => a.exp2(),
                FloatMathOp::Log => a.ln(),
                FloatMathOp::Log2 => a.log2(),
                FloatMathOp::Log10 => a.log10(),
                FloatMathOp::Pow => a.powf(b),
            }
        }
    };
}

host_math!(math_f32, f32);
host_math!(math_f64, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_squares_are_exact_and_of_others_close() {
        let of = |x: f64| cast(FloatCastOp::Resize, 64, 80, FloatKind::Double, FloatKind::Extended, of_f64(x));
        let back = |x: u128| f64_of(cast(FloatCastOp::Resize, 80, 64, FloatKind::Extended, FloatKind::Double, x));
        for n in 1..2000u32 {
            let x = f64::from(n);
            assert_eq!(extended_root(of(x * x)), of(x), "root of {x} squared");
            assert!((back(extended_root(of(x))) - x.sqrt()).abs() <= x.sqrt() * f64::EPSILON, "root of {x}");
        }
        // As the processor has it; the second is the smallest number there is.
        let rows = [
            (0x40008000000000000000, 0x3fffb504f333f9de6484),
            (0x00000000000000000001, 0x1fe0b504f333f9de6484),
            (0x73e6d1ba8323fe558c61, 0x59f2e7b64e4de2fc4251),
            (0x4000d333333333333333, 0x3fffe88607305f1841e9),
        ];
        rows.iter().for_each(|(x, root)| assert_eq!(extended_root(*x), *root, "root of {x:#x}"));
    }

    #[test]
    fn conversions_out_of_range_are_what_x86_gives() {
        let big = of_f64(1e10);
        assert_eq!(to_signed(FloatKind::Double, 32, big), 0x8000_0000);
        assert_eq!(to_signed(FloatKind::Double, 64, of_f64(1e300)), 1 << 63);
        assert_eq!(to_signed(FloatKind::Double, 32, of_f64(-2.9)), 0xffff_fffe);
        assert_eq!(to_unsigned(FloatKind::Double, 32, of_f64(4e9)), 4_000_000_000);
    }

    #[test]
    fn long_double_keeps_64_bits_of_precision() {
        let one = from_int(FloatKind::Extended, 1);
        let tiny = bin(FloatBinOp::Div, FloatKind::Extended, one, from_uint(FloatKind::Extended, 1 << 62));
        let sum = bin(FloatBinOp::Add, FloatKind::Extended, one, tiny);
        assert!(compare(FloatCmpOp::One, FloatKind::Extended, sum, one));
        assert_eq!(bin(FloatBinOp::Sub, FloatKind::Extended, sum, one), tiny);
    }
}
