//! math.h on concrete values, computed by the host's own library.

use ir::{FloatKind, FloatMathOp};

use super::{Stub, done};
use crate::float;
use crate::run::{Machine, Next, Step};
use crate::{Label, PickWhy, Shadow, State, Value};

unsafe extern "C" {
    fn lgamma(x: f64) -> f64;
    fn tgamma(x: f64) -> f64;
    fn erf(x: f64) -> f64;
    fn erfc(x: f64) -> f64;
    fn ldexp(x: f64, exponent: i32) -> f64;
    fn remainder(x: f64, y: f64) -> f64;
    fn nextafter(x: f64, y: f64) -> f64;
    fn logb(x: f64) -> f64;
}

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;
type Unary32 = fn(f32) -> f32;
type Binary32 = fn(f32, f32) -> f32;

/// Also found with the suffixes `f` (rounded from double, except where that is exact anyway) and `l`.
const UNARY: &[(&str, Unary, Unary32)] = &[
    ("sin", f64::sin, f32::sin),
    ("cos", f64::cos, f32::cos),
    ("tan", f64::tan, f32::tan),
    ("asin", f64::asin, f32::asin),
    ("acos", f64::acos, f32::acos),
    ("atan", f64::atan, f32::atan),
    ("sinh", f64::sinh, f32::sinh),
    ("cosh", f64::cosh, f32::cosh),
    ("tanh", f64::tanh, f32::tanh),
    ("asinh", f64::asinh, f32::asinh),
    ("acosh", f64::acosh, f32::acosh),
    ("atanh", f64::atanh, f32::atanh),
    ("exp", f64::exp, f32::exp),
    ("exp2", f64::exp2, f32::exp2),
    ("expm1", f64::exp_m1, f32::exp_m1),
    ("log", f64::ln, f32::ln),
    ("log2", f64::log2, f32::log2),
    ("log10", f64::log10, f32::log10),
    ("log1p", f64::ln_1p, f32::ln_1p),
    ("sqrt", f64::sqrt, f32::sqrt),
    ("cbrt", f64::cbrt, f32::cbrt),
    ("floor", f64::floor, f32::floor),
    ("ceil", f64::ceil, f32::ceil),
    ("trunc", f64::trunc, f32::trunc),
    ("round", f64::round, f32::round),
    ("rint", f64::round_ties_even, f32::round_ties_even),
    ("nearbyint", f64::round_ties_even, f32::round_ties_even),
    ("fabs", f64::abs, f32::abs),
    ("lgamma", |x| unsafe { lgamma(x) }, |x| unsafe { lgamma(f64::from(x)) as f32 }),
    ("tgamma", |x| unsafe { tgamma(x) }, |x| unsafe { tgamma(f64::from(x)) as f32 }),
    ("erf", |x| unsafe { erf(x) }, |x| unsafe { erf(f64::from(x)) as f32 }),
    ("erfc", |x| unsafe { erfc(x) }, |x| unsafe { erfc(f64::from(x)) as f32 }),
    ("logb", |x| unsafe { logb(x) }, |x| unsafe { logb(f64::from(x)) as f32 }),
];

const BINARY: &[(&str, Binary, Binary32)] = &[
    ("pow", f64::powf, f32::powf),
    ("fmod", |x, y| x % y, |x, y| x % y),
    ("atan2", f64::atan2, f32::atan2),
    ("hypot", f64::hypot, f32::hypot),
    ("fmin", f64::min, f32::min),
    ("fmax", f64::max, f32::max),
    ("copysign", f64::copysign, f32::copysign),
    ("fdim", |x, y| if x > y { x - y } else { 0.0 }, |x, y| if x > y { x - y } else { 0.0 }),
    ("remainder", |x, y| unsafe { remainder(x, y) }, |x, y| unsafe { remainder(f64::from(x), f64::from(y)) as f32 }),
    ("nextafter", |x, y| unsafe { nextafter(x, y) }, next_after_f32),
];

fn next_after_f32(x: f32, y: f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        f32::NAN
    } else if x < y {
        x.next_up()
    } else if x > y {
        x.next_down()
    } else {
        y
    }
}

/// Rounding to an integer result.
const TO_INTEGER: &[(&str, Unary)] = &[
    ("lround", f64::round),
    ("llround", f64::round),
    ("lrint", f64::round_ties_even),
    ("llrint", f64::round_ties_even),
];

/// The functions on 80-bit numbers that are exact.
const EXTENDED: &[(&str, FloatMathOp)] = &[
    ("sqrtl", FloatMathOp::Sqrt),
    ("fabsl", FloatMathOp::Abs),
    ("floorl", FloatMathOp::Floor),
    ("ceill", FloatMathOp::Ceil),
    ("truncl", FloatMathOp::Trunc),
    ("roundl", FloatMathOp::Round),
    ("rintl", FloatMathOp::Rint),
    ("nearbyintl", FloatMathOp::NearbyInt),
    ("copysignl", FloatMathOp::CopySign),
    ("fminl", FloatMathOp::MinNum),
    ("fmaxl", FloatMathOp::MaxNum),
    ("fmal", FloatMathOp::Fma),
];

pub fn find(name: &str) -> Option<Stub> {
    if EXTENDED.iter().any(|row| row.0 == name) {
        return Some(run_extended);
    }
    is_known(name).then_some(run)
}

fn run_extended(machine: &mut Machine<'_>, state: &mut State, call: &ir::Call, func: ir::FuncId) -> Step<Option<Next>> {
    let Some((_, op)) = EXTENDED.iter().find(|row| row.0 == machine.function_name(func)) else { return Ok(None) };
    let mut args = [0; 3];
    let mut label = Label::EMPTY;
    for (idx, arg) in args.iter_mut().enumerate().take(call.args.len()) {
        let value = machine.arg(state, call, idx);
        label = machine.labels.union(label, value.label());
        *arg = machine.pick(state, value, PickWhy::Float)?;
    }
    let Some(value) = float::math(*op, FloatKind::Extended, args[0], args[1], args[2]) else { return Ok(None) };
    machine.give(state, call, Value { bits: value, shadow: Shadow::new(None, label) });
    done()
}

fn is_known(name: &str) -> bool {
    let (base, _) = split(name);
    UNARY.iter().any(|row| row.0 == base)
        || BINARY.iter().any(|row| row.0 == base)
        || TO_INTEGER.iter().any(|row| row.0 == base)
        || matches!(base, "ldexp" | "scalbn")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    Double,
}

/// The function's family and the kind of float it works on. Of `...l` only the exact ones are here.
fn split(name: &str) -> (&str, Kind) {
    let listed = |name: &str| {
        UNARY.iter().any(|row| row.0 == name)
            || BINARY.iter().any(|row| row.0 == name)
            || TO_INTEGER.iter().any(|row| row.0 == name)
            || matches!(name, "ldexp" | "scalbn")
    };
    match name.strip_suffix('f') {
        Some(base) if !listed(name) && listed(base) => (base, Kind::Single),
        _ => (name, Kind::Double),
    }
}

fn run(machine: &mut Machine<'_>, state: &mut State, call: &ir::Call, func: ir::FuncId) -> Step<Option<Next>> {
    let (base, kind) = split(machine.function_name(func));
    let first = machine.arg(state, call, 0);
    let a = machine.pick(state, first, PickWhy::Float)?;
    let second = machine.arg(state, call, 1);
    let b = if call.args.len() > 1 { machine.pick(state, second, PickWhy::Float)? } else { 0 };
    let value = match kind {
        Kind::Double => compute(base, f64::from_bits(a as u64), b),
        Kind::Single => compute_single(base, f32::from_bits(a as u32), b),
    };
    let label = machine.labels.union(first.label(), second.label());
    machine.give(state, call, Value { bits: value, shadow: Shadow::new(None, label) });
    done()
}

fn compute(base: &str, a: f64, b: u128) -> u128 {
    if let Some(row) = UNARY.iter().find(|row| row.0 == base) {
        return u128::from((row.1)(a).to_bits());
    }
    if let Some(row) = BINARY.iter().find(|row| row.0 == base) {
        return u128::from((row.1)(a, f64::from_bits(b as u64)).to_bits());
    }
    if let Some(row) = TO_INTEGER.iter().find(|row| row.0 == base) {
        return u128::from((row.1)(a) as i64 as u64);
    }
    // SAFETY: a plain function of numbers.
    u128::from(unsafe { ldexp(a, b as u32 as i32) }.to_bits())
}

fn compute_single(base: &str, a: f32, b: u128) -> u128 {
    if let Some(row) = UNARY.iter().find(|row| row.0 == base) {
        return u128::from((row.2)(a).to_bits());
    }
    if let Some(row) = BINARY.iter().find(|row| row.0 == base) {
        return u128::from((row.2)(a, f32::from_bits(b as u32)).to_bits());
    }
    if let Some(row) = TO_INTEGER.iter().find(|row| row.0 == base) {
        return u128::from((row.1)(f64::from(a)) as i64 as u64);
    }
    // SAFETY: a plain function of numbers.
    u128::from((unsafe { ldexp(f64::from(a), b as u32 as i32) } as f32).to_bits())
}
