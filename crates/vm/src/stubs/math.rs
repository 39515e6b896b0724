//! math.h: what is exact as operations of the machine, on any values; the rest by the host's own library, on one value.
//!
//! Some functions are here only for concrete arguments, where they are quick. On symbolic ones they decline, and their body in
//! `frontend/runtime/math.c` runs: it works on bits.

use ir::{FloatCastOp, FloatKind, FloatMathOp};
use term::float::{FloatBinary, Rounding};

use super::{Stub, done};
use crate::float::Cast;
use crate::run::{Machine, Next, Step};
use crate::{Label, PickWhy, Shadow, State, Value};

unsafe extern "C" {
    fn lgamma(x: f64) -> f64;
    fn tgamma(x: f64) -> f64;
    fn erf(x: f64) -> f64;
    fn erfc(x: f64) -> f64;
    fn ldexp(x: f64, exponent: i32) -> f64;
    fn nextafter(x: f64, y: f64) -> f64;
    fn logb(x: f64) -> f64;
}

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;
type Unary32 = fn(f32) -> f32;
type Binary32 = fn(f32, f32) -> f32;

/// Also found with the suffix `f`. What these give is the host's, and known for one value only.
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
    ("cbrt", f64::cbrt, f32::cbrt),
    ("lgamma", |x| unsafe { lgamma(x) }, |x| unsafe { lgamma(f64::from(x)) as f32 }),
    ("tgamma", |x| unsafe { tgamma(x) }, |x| unsafe { tgamma(f64::from(x)) as f32 }),
    ("erf", |x| unsafe { erf(x) }, |x| unsafe { erf(f64::from(x)) as f32 }),
    ("erfc", |x| unsafe { erfc(x) }, |x| unsafe { erfc(f64::from(x)) as f32 }),
    ("logb", |x| unsafe { logb(x) }, |x| unsafe { logb(f64::from(x)) as f32 }),
];

const BINARY: &[(&str, Binary, Binary32)] = &[
    ("pow", f64::powf, f32::powf),
    ("atan2", f64::atan2, f32::atan2),
    ("hypot", f64::hypot, f32::hypot),
    ("nextafter", |x, y| unsafe { nextafter(x, y) }, next_after_f32),
];

/// Those of them that have a body on bits.
const WITH_BODY: &[&str] = &["logb", "nextafter", "ldexp", "scalbn"];

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

/// What an exact function is made of.
#[derive(Clone, Copy)]
enum Exact {
    Math(FloatMathOp),
    Binary(FloatBinary),
    /// Rounded by this function, then made an integer.
    Integer(FloatMathOp),
}

/// Also found with the suffixes `f` and `l`.
const EXACT: &[(&str, Exact)] = &[
    ("sqrt", Exact::Math(FloatMathOp::Sqrt)),
    ("fabs", Exact::Math(FloatMathOp::Abs)),
    ("floor", Exact::Math(FloatMathOp::Floor)),
    ("ceil", Exact::Math(FloatMathOp::Ceil)),
    ("trunc", Exact::Math(FloatMathOp::Trunc)),
    ("round", Exact::Math(FloatMathOp::Round)),
    ("roundeven", Exact::Math(FloatMathOp::RoundEven)),
    ("rint", Exact::Math(FloatMathOp::Rint)),
    ("nearbyint", Exact::Math(FloatMathOp::NearbyInt)),
    ("copysign", Exact::Math(FloatMathOp::CopySign)),
    ("fmin", Exact::Math(FloatMathOp::MinNum)),
    ("fmax", Exact::Math(FloatMathOp::MaxNum)),
    ("fma", Exact::Math(FloatMathOp::Fma)),
    ("fmod", Exact::Binary(FloatBinary::Rem)),
    ("remainder", Exact::Binary(FloatBinary::Remainder)),
    ("drem", Exact::Binary(FloatBinary::Remainder)),
    ("lround", Exact::Integer(FloatMathOp::Round)),
    ("llround", Exact::Integer(FloatMathOp::Round)),
    ("lrint", Exact::Integer(FloatMathOp::Rint)),
    ("llrint", Exact::Integer(FloatMathOp::Rint)),
];

pub fn find(name: &str) -> Option<Stub> {
    match name {
        "fesetround" => return Some(set_rounding),
        "fegetround" => return Some(get_rounding),
        _ => {}
    }
    if exact(name).is_some() {
        return Some(run_exact);
    }
    hosted(name).is_some().then_some(run)
}

fn exact(name: &str) -> Option<(Exact, FloatKind)> {
    let find = |name: &str| EXACT.iter().find(|row| row.0 == name).map(|row| row.1);
    let suffixed = |suffix: char| name.strip_suffix(suffix).and_then(find);
    None.or_else(|| find(name).map(|op| (op, FloatKind::Double)))
        .or_else(|| suffixed('f').map(|op| (op, FloatKind::Single)))
        .or_else(|| suffixed('l').map(|op| (op, FloatKind::Extended)))
}

fn run_exact(machine: &mut Machine<'_>, state: &mut State, call: &ir::Call, func: ir::FuncId) -> Step<Option<Next>> {
    let Some((op, kind)) = exact(machine.function_name(func)) else { return Ok(None) };
    // A long double that is something else on this target.
    if call.args.first().is_none_or(|arg| arg.bits != kind.bits()) {
        return Ok(None);
    }
    let first = machine.arg(state, call, 0);
    let arg = |nth: usize| if nth < call.args.len() { machine.arg(state, call, nth) } else { first };
    let operands = [first, arg(1), arg(2)];
    let value = match op {
        Exact::Math(op) => machine.float_math(state, op, kind, operands)?,
        Exact::Binary(op) => machine.float_binary(state, op, kind, operands[0], operands[1]),
        Exact::Integer(op) => {
            let rounded = machine.float_math(state, op, kind, operands)?;
            let to = call.results.first().map_or(64, |result| result.1);
            let cast = Cast { op: FloatCastOp::ToSigned, from: kind.bits(), to, kind, to_kind: kind };
            machine.float_cast(state, cast, rounded)
        }
    };
    machine.give(state, call, value);
    done()
}

/// The function's family and the kind of float it works on.
fn hosted(name: &str) -> Option<(&str, FloatKind)> {
    let is_listed = |name: &str| {
        UNARY.iter().any(|row| row.0 == name)
            || BINARY.iter().any(|row| row.0 == name)
            || matches!(name, "ldexp" | "scalbn")
    };
    match name.strip_suffix('f') {
        _ if is_listed(name) => Some((name, FloatKind::Double)),
        Some(base) if is_listed(base) => Some((base, FloatKind::Single)),
        _ => None,
    }
}

fn run(machine: &mut Machine<'_>, state: &mut State, call: &ir::Call, func: ir::FuncId) -> Step<Option<Next>> {
    let Some((base, kind)) = hosted(machine.function_name(func)) else { return Ok(None) };
    let first = machine.arg(state, call, 0);
    let second = if call.args.len() > 1 { machine.arg(state, call, 1) } else { first };
    let label = machine.labels.union(first.label(), second.label());
    let terms = [first.term(), second.term()];
    let is_symbolic = terms.iter().any(Option::is_some);
    if is_symbolic && WITH_BODY.contains(&base) && !machine.image.module.function(func).is_declaration() {
        return Ok(None);
    }
    if terms.iter().flatten().any(|term| machine.mentions_unwritten(*term)) {
        let value = machine.unwritten_value(state, kind.bits(), label);
        machine.give(state, call, value);
        return done();
    }
    let a = machine.pick(state, first, PickWhy::Float)?;
    let b = if call.args.len() > 1 { machine.pick(state, second, PickWhy::Float)? } else { 0 };
    let value = match kind {
        FloatKind::Single => compute_single(base, f32::from_bits(a as u32), b),
        _ => compute(base, f64::from_bits(a as u64), b),
    };
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
    // SAFETY: a plain function of numbers.
    u128::from((unsafe { ldexp(f64::from(a), b as u32 as i32) } as f32).to_bits())
}

/// The numbers of `fenv.h` on x86.
const ROUNDINGS: [(u128, Rounding); 4] =
    [(0, Rounding::NearestEven), (0x400, Rounding::Down), (0x800, Rounding::Up), (0xc00, Rounding::ToZero)];

fn set_rounding(machine: &mut Machine<'_>, state: &mut State, call: &ir::Call, _: ir::FuncId) -> Step<Option<Next>> {
    let wanted = machine.arg(state, call, 0);
    let label = wanted.label();
    let wanted = machine.pick(state, wanted, PickWhy::Argument)?;
    let found = ROUNDINGS.iter().find(|row| row.0 == wanted);
    if let Some((_, rounding)) = found {
        state.rounding = *rounding;
    }
    let failed = u128::from(found.is_none());
    machine.give(state, call, Value { bits: failed, shadow: Shadow::new(None, label) });
    done()
}

fn get_rounding(machine: &mut Machine<'_>, state: &mut State, call: &ir::Call, _: ir::FuncId) -> Step<Option<Next>> {
    let row = ROUNDINGS.iter().find(|row| row.1 == state.rounding);
    let bits = row.map_or(0, |row| row.0);
    machine.give(state, call, Value { bits, shadow: Shadow::new(None, Label::EMPTY) });
    done()
}
