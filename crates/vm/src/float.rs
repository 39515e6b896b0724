//! Floating point: what instructions compute, on bits where all is concrete, on terms elsewhere.
//!
//! What an operation means is in `term::float`; here is which operations an instruction is made of on x86. Functions that have
//! no exact meaning there (sines, powers) are the host's, on one value.

use std::cmp::Ordering;

use ir::{FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind, FloatMathOp};
use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use term::{TermId, Terms, fold};

use witness::LedgerKind;

use crate::run::{Machine, Step};
use crate::value::{mask128, sext128};
use crate::{Label, PickWhy, Shadow, State, Value};

impl Machine<'_> {
    pub(crate) fn float_binary(
        &mut self,
        state: &State,
        op: FloatBinary,
        kind: FloatKind,
        a: Value,
        b: Value,
    ) -> Value {
        let rounding = state.rounding;
        let is_symbolic = a.term().is_some() || b.term().is_some();
        if is_symbolic && self.image.pointer_bits() == 32 && kind != FloatKind::Extended {
            let detail = "a native program of 32 bits computes with more precision than its types have";
            self.note(state, LedgerKind::UnmodelledBehaviour, detail);
        }
        self.lift(
            kind.bits(),
            a,
            b,
            |a, b| float::binary(op, rounding, u32::from(kind.bits()), a, b),
            |terms, a, b| terms.float_binary(op, rounding, a, b),
        )
    }

    pub(crate) fn float_cmp(&mut self, op: FloatCmpOp, kind: FloatKind, a: Value, b: Value) -> Value {
        self.lift(
            kind.bits(),
            a,
            b,
            |a, b| u128::from(compare(op, kind, a, b)),
            |terms, a, b| compare_terms(terms, op, a, b),
        )
    }

    pub(crate) fn float_cast(&mut self, state: &State, cast: Cast, a: Value) -> Value {
        match a.term() {
            None => Value { bits: cast.of_bits(state.rounding, a.bits), shadow: a.shadow },
            Some(term) => {
                let term = cast.of_term(state.rounding, &mut self.terms, term);
                Value::of_term(&self.terms, term, a.label())
            }
        }
    }

    /// A function of floats. One that is not exact is computed by the host, from one value of each operand.
    pub(crate) fn float_math(
        &mut self,
        state: &mut State,
        op: FloatMathOp,
        kind: FloatKind,
        operands: [Value; 3],
    ) -> Step<Value> {
        let label = operands.iter().fold(Label::EMPTY, |label, value| self.labels.union(label, value.label()));
        let is_symbolic = operands.iter().any(|value| value.term().is_some());
        if is_symbolic && is_exact(op) {
            let width = u32::from(kind.bits());
            let [a, b, c] = operands.map(|value| value.to_term(&mut self.terms, width));
            let term = math_terms(&mut self.terms, op, kind, state.rounding, [a, b, c]);
            return Ok(Value::of_term(&self.terms, term, label));
        }
        if is_symbolic && operands.iter().any(|value| value.term().is_some_and(|term| self.mentions_unwritten(term))) {
            // From memory nobody wrote: it may be anything, and depends on it as well.
            return Ok(self.unwritten_value(state, kind.bits(), label));
        }
        let mut bits = [0; 3];
        for (bits, value) in bits.iter_mut().zip(operands) {
            *bits = self.pick(state, value, PickWhy::Float)?;
        }
        match math(op, kind, state.rounding, bits) {
            Some(bits) => Ok(Value { bits, shadow: Shadow::new(None, label) }),
            None => Err(self.gap(state, format!("{op:?} on {kind:?} floats is not modelled"))),
        }
    }
}

pub(crate) fn binary_of(op: FloatBinOp) -> FloatBinary {
    match op {
        FloatBinOp::Add => FloatBinary::Add,
        FloatBinOp::Sub => FloatBinary::Sub,
        FloatBinOp::Mul => FloatBinary::Mul,
        FloatBinOp::Div => FloatBinary::Div,
        FloatBinOp::Rem => FloatBinary::Rem,
    }
}

fn format_of(kind: FloatKind) -> Format {
    Format::of(u32::from(kind.bits()))
}

fn compare(op: FloatCmpOp, kind: FloatKind, a: u128, b: u128) -> bool {
    let width = u32::from(kind.bits());
    let order = match kind {
        FloatKind::Single => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        FloatKind::Double => f64::from_bits(a as u64).partial_cmp(&f64::from_bits(b as u64)),
        _ if format_of(kind).is_nan(a) || format_of(kind).is_nan(b) => None,
        _ if float::compare(FloatCompare::Less, width, a, b) => Some(Ordering::Less),
        _ if float::compare(FloatCompare::Equal, width, a, b) => Some(Ordering::Equal),
        _ => Some(Ordering::Greater),
    };
    match op {
        FloatCmpOp::False => false,
        FloatCmpOp::True => true,
        FloatCmpOp::Ord => order.is_some(),
        FloatCmpOp::Uno => order.is_none(),
        FloatCmpOp::Oeq => order == Some(Ordering::Equal),
        FloatCmpOp::Ogt => order == Some(Ordering::Greater),
        FloatCmpOp::Oge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        FloatCmpOp::Olt => order == Some(Ordering::Less),
        FloatCmpOp::Ole => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        FloatCmpOp::One => matches!(order, Some(Ordering::Less | Ordering::Greater)),
        FloatCmpOp::Ueq => matches!(order, None | Some(Ordering::Equal)),
        FloatCmpOp::Ugt => matches!(order, None | Some(Ordering::Greater)),
        FloatCmpOp::Uge => order != Some(Ordering::Less),
        FloatCmpOp::Ult => matches!(order, None | Some(Ordering::Less)),
        FloatCmpOp::Ule => order != Some(Ordering::Greater),
        FloatCmpOp::Une => order != Some(Ordering::Equal),
    }
}

fn compare_terms(terms: &mut Terms, op: FloatCmpOp, a: TermId, b: TermId) -> TermId {
    // What holds where the opposite does not.
    let opposite = match op {
        FloatCmpOp::True => Some(FloatCmpOp::False),
        FloatCmpOp::Ord => Some(FloatCmpOp::Uno),
        FloatCmpOp::Uge => Some(FloatCmpOp::Olt),
        FloatCmpOp::Ugt => Some(FloatCmpOp::Ole),
        FloatCmpOp::Ule => Some(FloatCmpOp::Ogt),
        FloatCmpOp::Ult => Some(FloatCmpOp::Oge),
        FloatCmpOp::Une => Some(FloatCmpOp::Oeq),
        FloatCmpOp::Ueq => Some(FloatCmpOp::One),
        _ => None,
    };
    if let Some(opposite) = opposite {
        let holds = compare_terms(terms, opposite, a, b);
        return terms.not(holds);
    }
    match op {
        FloatCmpOp::Oeq => terms.feq(a, b),
        FloatCmpOp::Olt => terms.flt(a, b),
        FloatCmpOp::Ole => terms.fle(a, b),
        FloatCmpOp::Ogt => terms.flt(b, a),
        FloatCmpOp::Oge => terms.fle(b, a),
        FloatCmpOp::One => {
            let (less, greater) = (terms.flt(a, b), terms.flt(b, a));
            terms.or(less, greater)
        }
        FloatCmpOp::Uno => terms.unordered(a, b),
        _ => terms.fls(),
    }
}

/// A conversion. `from` and `to` are widths; `kind` is the float side, or the source of a resize, `to_kind` what that becomes.
#[derive(Clone, Copy)]
pub struct Cast {
    pub op: FloatCastOp,
    pub from: u8,
    pub to: u8,
    pub kind: FloatKind,
    pub to_kind: FloatKind,
}

/// The conversion to an integer that clang has x86 make; what it gives is cut to the width. It matters only where a number does
/// not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    Signed(u32),
    Unsigned(u32),
    /// The x87's to 64 bits without a sign, made of one with a sign.
    Halves,
}

impl Cast {
    fn through(self) -> Through {
        let is_extended = self.kind == FloatKind::Extended;
        match (self.op, self.to) {
            (FloatCastOp::ToSigned, 0..=16) if is_extended => Through::Signed(16),
            (FloatCastOp::ToUnsigned, 0..=8) if is_extended => Through::Signed(16),
            (FloatCastOp::ToSigned, 0..=32) | (FloatCastOp::ToUnsigned, 0..=16) => Through::Signed(32),
            (FloatCastOp::ToSigned, 33..=64) | (FloatCastOp::ToUnsigned, 17..=32) => Through::Signed(64),
            (FloatCastOp::ToUnsigned, 33..=64) if is_extended => Through::Halves,
            (FloatCastOp::ToUnsigned, 33..=64) => Through::Unsigned(64),
            (FloatCastOp::ToUnsigned, _) => Through::Unsigned(128),
            _ => Through::Signed(128),
        }
    }

    fn of_bits(self, rounding: Rounding, a: u128) -> u128 {
        let format = format_of(self.kind);
        match self.op {
            FloatCastOp::Resize => float::resize(format, format_of(self.to_kind), rounding, a),
            FloatCastOp::FromSigned => float::from_signed(format, rounding, sext128(a, self.from)),
            FloatCastOp::FromUnsigned => float::from_unsigned(format, rounding, a),
            FloatCastOp::ToSigned | FloatCastOp::ToUnsigned => {
                let wide = match self.through() {
                    Through::Signed(width) => float::to_signed(format, width, a),
                    Through::Unsigned(width) => float::to_unsigned(format, width, a),
                    Through::Halves if is_beyond_halves(format, a) => 0,
                    Through::Halves => float::to_unsigned(format, 64, a),
                };
                wide & mask128(self.to)
            }
        }
    }

    fn of_term(self, rounding: Rounding, terms: &mut Terms, a: TermId) -> TermId {
        let to = u32::from(self.to);
        match self.op {
            FloatCastOp::Resize => terms.fresize(rounding, a, to),
            FloatCastOp::FromSigned => terms.float_unary(FloatUnary::FromSigned, rounding, a, to),
            FloatCastOp::FromUnsigned => terms.float_unary(FloatUnary::FromUnsigned, rounding, a, to),
            FloatCastOp::ToSigned | FloatCastOp::ToUnsigned => {
                let wide = match self.through() {
                    Through::Signed(width) => terms.float_unary(FloatUnary::ToSigned, rounding, a, width),
                    Through::Unsigned(width) => terms.float_unary(FloatUnary::ToUnsigned, rounding, a, width),
                    Through::Halves => {
                        let width = terms.width(a);
                        let limit = float::from_unsigned(Format::of(width), Rounding::NearestEven, 1 << 64);
                        let (limit, zero) = (terms.constant(limit, width), terms.constant(0, 64));
                        let (is_large, is_nan) = (terms.fle(limit, a), terms.is_nan(a));
                        let is_beyond = terms.or(is_large, is_nan);
                        let whole = terms.float_unary(FloatUnary::ToUnsigned, rounding, a, 64);
                        terms.ite(is_beyond, zero, whole)
                    }
                };
                terms.extract(wide, to - 1, 0)
            }
        }
    }
}

fn is_beyond_halves(format: Format, a: u128) -> bool {
    let limit = float::from_unsigned(format, Rounding::NearestEven, 1 << 64);
    format.is_nan(a) || float::compare(FloatCompare::LessOrEqual, format.width(), limit, a)
}

/// Whether the result is known to the bit for every value.
fn is_exact(op: FloatMathOp) -> bool {
    !matches!(
        op,
        FloatMathOp::Sin
            | FloatMathOp::Cos
            | FloatMathOp::Tan
            | FloatMathOp::Exp
            | FloatMathOp::Exp2
            | FloatMathOp::Log
            | FloatMathOp::Log2
            | FloatMathOp::Log10
            | FloatMathOp::Pow
    )
}

/// The rounding of a function that rounds to an integral value.
fn integral_rounding(op: FloatMathOp, current: Rounding) -> Option<Rounding> {
    match op {
        FloatMathOp::Floor => Some(Rounding::Down),
        FloatMathOp::Ceil => Some(Rounding::Up),
        FloatMathOp::Trunc => Some(Rounding::ToZero),
        FloatMathOp::Round => Some(Rounding::NearestAway),
        FloatMathOp::RoundEven => Some(Rounding::NearestEven),
        FloatMathOp::Rint | FloatMathOp::NearbyInt => Some(current),
        _ => None,
    }
}

fn math_terms(
    terms: &mut Terms,
    op: FloatMathOp,
    kind: FloatKind,
    rounding: Rounding,
    operands: [TermId; 3],
) -> TermId {
    let [a, b, c] = operands;
    if let Some(rounding) = integral_rounding(op, rounding) {
        return terms.fintegral(rounding, a);
    }
    match op {
        FloatMathOp::Neg => terms.fneg(a),
        FloatMathOp::Abs => terms.fabs(a),
        FloatMathOp::CopySign => terms.copysign(a, b),
        FloatMathOp::Sqrt => terms.fsqrt(rounding, a),
        FloatMathOp::MinNum => terms.fmin(a, b),
        FloatMathOp::MaxNum if kind == FloatKind::Extended => {
            // The library's function for it takes the second of two equals.
            let (is_nan, is_less) = (terms.is_nan(b), terms.flt(b, a));
            let other = terms.is_nan(a);
            let keeps = terms.or(is_nan, is_less);
            let first = terms.ite(keeps, a, b);
            terms.ite(other, b, first)
        }
        FloatMathOp::MaxNum => terms.fmax(a, b),
        FloatMathOp::Fma => terms.ffma(rounding, a, b, c),
        FloatMathOp::MulAdd => {
            let product = terms.fmul(rounding, a, b);
            terms.fadd(rounding, product, c)
        }
        _ => unreachable!("only exact functions become terms"),
    }
}

/// Functions of floats. `None` where the host has none for this kind.
pub fn math(op: FloatMathOp, kind: FloatKind, rounding: Rounding, operands: [u128; 3]) -> Option<u128> {
    let [a, b, c] = operands;
    let (format, width) = (format_of(kind), u32::from(kind.bits()));
    if let Some(rounding) = integral_rounding(op, rounding) {
        return Some(float::unary(FloatUnary::Integral, rounding, width, width, a));
    }
    let is_less = |a: u128, b: u128| float::is_less(width, a, b);
    let sign = fold::sign_bit(width);
    Some(match op {
        FloatMathOp::Neg => a ^ sign,
        FloatMathOp::Abs => a & !sign,
        FloatMathOp::CopySign => a & !sign | b & sign,
        FloatMathOp::Sqrt => float::unary(FloatUnary::Sqrt, rounding, width, width, a),
        FloatMathOp::MinNum => {
            if format.is_nan(a) || is_less(b, a) {
                b
            } else {
                a
            }
        }
        FloatMathOp::MaxNum if kind == FloatKind::Extended => {
            if !format.is_nan(a) && (format.is_nan(b) || is_less(b, a)) { a } else { b }
        }
        FloatMathOp::MaxNum => {
            if format.is_nan(a) || is_less(a, b) {
                b
            } else {
                a
            }
        }
        FloatMathOp::Fma => float::fma(rounding, width, a, b, c),
        FloatMathOp::MulAdd => {
            let product = float::binary(FloatBinary::Mul, rounding, width, a, b);
            float::binary(FloatBinary::Add, rounding, width, product, c)
        }
        _ => return host_math(op, kind, a, b),
    })
}

fn host_math(op: FloatMathOp, kind: FloatKind, a: u128, b: u128) -> Option<u128> {
    match kind {
        FloatKind::Single => {
            let value = math_f32(op, f32::from_bits(a as u32), f32::from_bits(b as u32))?;
            Some(u128::from(value.to_bits()))
        }
        FloatKind::Double => {
            let value = math_f64(op, f64::from_bits(a as u64), f64::from_bits(b as u64))?;
            Some(u128::from(value.to_bits()))
        }
        FloatKind::Half | FloatKind::Extended | FloatKind::Quad => None,
    }
}

macro_rules! host_math {
    ($name:ident, $float:ty) => {
        fn $name(op: FloatMathOp, a: $float, b: $float) -> Option<$float> {
            Some(match op {
                FloatMathOp::Sin => a.sin(),
                FloatMathOp::Cos => a.cos(),
                FloatMathOp::Tan => a.tan(),
                FloatMathOp::Exp => a.exp(),
                FloatMathOp::Exp2 => a.exp2(),
                FloatMathOp::Log => a.ln(),
                FloatMathOp::Log2 => a.log2(),
                FloatMathOp::Log10 => a.log10(),
                FloatMathOp::Pow => a.powf(b),
                _ => return None,
            })
        }
    };
}

host_math!(math_f32, f32);
host_math!(math_f64, f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> u128 {
        u128::from(value.to_bits())
    }

    fn cast(op: FloatCastOp, kind: FloatKind, to: u8, a: u128) -> u128 {
        Cast { op, from: kind.bits(), to, kind, to_kind: kind }.of_bits(Rounding::NearestEven, a)
    }

    /// As the processor has it, by a program that clang compiled.
    #[test]
    fn conversions_out_of_range_are_what_x86_gives() {
        let signed = |to: u8, value: f64| cast(FloatCastOp::ToSigned, FloatKind::Double, to, double(value));
        let unsigned = |to: u8, value: f64| cast(FloatCastOp::ToUnsigned, FloatKind::Double, to, double(value));
        assert_eq!(signed(32, 1e10), 0x8000_0000);
        assert_eq!(signed(64, 1e300), 1 << 63);
        assert_eq!(signed(32, -2.9), 0xffff_fffe);
        assert_eq!((signed(16, 70000.0), signed(16, 1e20)), (0x1170, 0));
        assert_eq!((unsigned(32, 4e9), unsigned(32, 1e20), unsigned(32, -5.0)), (4_000_000_000, 0, 0xffff_fffb));
        assert_eq!((unsigned(64, 1e20), unsigned(64, -5.0)), (1 << 63, u128::from(u64::MAX - 4)));
        assert_eq!(unsigned(64, f64::NAN), 1 << 63);
        let long = |value: f64| float::resize(Format::Double, Format::Extended, Rounding::NearestEven, double(value));
        let extended = |op: FloatCastOp, to: u8, value: f64| cast(op, FloatKind::Extended, to, long(value));
        assert_eq!(extended(FloatCastOp::ToSigned, 16, 70000.0), 0x8000);
        assert_eq!(extended(FloatCastOp::ToUnsigned, 16, 70000.0), 0x1170);
        assert_eq!(extended(FloatCastOp::ToUnsigned, 8, 70000.0), 0);
        assert_eq!(extended(FloatCastOp::ToUnsigned, 64, 1e20), 0);
        assert_eq!(extended(FloatCastOp::ToUnsigned, 64, f64::NAN), 0);
        assert_eq!(extended(FloatCastOp::ToUnsigned, 64, -5.0), u128::from(u64::MAX - 4));
    }

    /// Concrete and symbolic conversions are one.
    #[test]
    fn conversions_of_terms_are_those_of_bits() {
        let values = [0.0, -0.5, 1.5, 255.9, 70000.0, -70000.0, 3e9, 5e18, 1e19, 1e20, -1e20, f64::NAN, f64::INFINITY];
        let mut terms = Terms::new();
        for kind in [FloatKind::Single, FloatKind::Double, FloatKind::Extended] {
            for (op, to) in [FloatCastOp::ToSigned, FloatCastOp::ToUnsigned]
                .into_iter()
                .flat_map(|op| [8, 16, 32, 64, 128].map(|to| (op, to)))
            {
                let cast = Cast { op, from: kind.bits(), to, kind, to_kind: kind };
                for value in values {
                    let bits = float::resize(Format::Double, format_of(kind), Rounding::NearestEven, double(value));
                    let constant = terms.constant(bits, u32::from(kind.bits()));
                    let term = cast.of_term(Rounding::NearestEven, &mut terms, constant);
                    let want = cast.of_bits(Rounding::NearestEven, bits);
                    assert_eq!(terms.as_const(term), Some(want), "{op:?} {to} {value}");
                }
            }
        }
    }

    #[test]
    fn long_double_keeps_64_bits_of_precision() {
        let integer = |value: i128| float::from_signed(Format::Extended, Rounding::NearestEven, value);
        let bin = |op: FloatBinary, a: u128, b: u128| float::binary(op, Rounding::NearestEven, 80, a, b);
        let one = integer(1);
        let tiny = bin(FloatBinary::Div, one, integer(1 << 62));
        let sum = bin(FloatBinary::Add, one, tiny);
        assert!(compare(FloatCmpOp::One, FloatKind::Extended, sum, one));
        assert_eq!(bin(FloatBinary::Sub, sum, one), tiny);
    }
}
