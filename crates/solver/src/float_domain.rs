//! Which values of a symbol satisfy a comparison of floats, exactly, as ranges of its bits.
//!
//! The symbol may have gone through operations with constants that keep or turn around the order of numbers. Such an operation has no
//! NaN among its results, so the numbers it takes into an interval are an interval, whose ends bisection finds.

use crate::domain::Ranges;
use crate::intervals::span::{Span, binary_at, from_first, unary_at, up_to_last};
use crate::ulps::{last, place};
use term::float::{FloatBinary, FloatCompare, FloatUnary, Format};
use term::{TermId, Terms, View};

/// Operations that are looked through.
const MAX_DEPTH: usize = 12;

/// `None` where the comparison is not of that kind.
pub(crate) fn ranges(terms: &Terms, op: FloatCompare, a: TermId, b: TermId) -> Option<Ranges> {
    let format = Format::of(terms.width(a));
    let (x, constant, is_first) = match (terms.as_const(a), terms.as_const(b)) {
        (None, Some(constant)) => (a, constant, true),
        (Some(constant), None) => (b, constant, false),
        _ => return None,
    };
    if format.is_nan(constant) {
        return Some(Vec::new());
    }
    let (here, end) = (place(format, constant), last(format));
    let wanted = match (op, is_first) {
        (FloatCompare::Equal, _) => Span::numbers(here, here),
        (FloatCompare::Less, true) => Span::numbers(-end, here - 1),
        (FloatCompare::Less, false) => Span::numbers(here + 1, end),
        (FloatCompare::LessOrEqual, true) => Span::numbers(-end, here),
        (FloatCompare::LessOrEqual, false) => Span::numbers(here, end),
    };
    let (format, numbers) = of_symbol(terms, x, wanted)?;
    Some(bits_of(format, numbers))
}

/// The format of the symbol that a term is made of, and where its numbers have to lie.
fn of_symbol(terms: &Terms, t: TermId, wanted: Span) -> Option<(Format, Span)> {
    let (mut t, mut wanted) = (t, wanted);
    for _ in 0..MAX_DEPTH {
        let format = Format::of(terms.width(t));
        match terms.view(t) {
            View::Symbol(_) => return (format.width() <= 64).then_some((format, wanted)),
            View::Xor(a, k) if terms.as_const(k) == Some(format.sign_bit()) => {
                (t, wanted) = (a, wanted.negated());
            }
            View::FloatUnary {
                op: op @ (FloatUnary::Sqrt | FloatUnary::Integral | FloatUnary::Resize),
                rounding,
                arg,
            } => {
                let from = Format::of(terms.width(arg));
                let least = if op == FloatUnary::Sqrt { 0 } else { -last(from) };
                let of = |x: i128| unary_at(op, rounding, from, format, x).expect("the root of no negative number");
                let all = Span::numbers(least, last(from));
                (t, wanted) = (arg, within(all, wanted, of));
            }
            View::FloatBinary { op, rounding, a, b } => {
                let (x, constant, is_first) = match (terms.as_const(a), terms.as_const(b)) {
                    (None, Some(constant)) => (a, constant, true),
                    (Some(constant), None) => (b, constant, false),
                    _ => return None,
                };
                if format.is_nan(constant) {
                    return None;
                }
                let k = place(format, constant);
                let is_finite = k.abs() < last(format);
                let falls = match op {
                    FloatBinary::Add if is_finite => false,
                    FloatBinary::Sub if is_finite => !is_first,
                    FloatBinary::Mul if is_finite && k != 0 => k < 0,
                    FloatBinary::Div if is_finite && k != 0 && is_first => k < 0,
                    _ => return None,
                };
                let of = |x: i128| {
                    let (x, y) = if is_first { (x, k) } else { (k, x) };
                    binary_at(op, rounding, format, x, y).expect("a number and a finite one make a number")
                };
                let all = Span::numbers(-last(format), last(format));
                wanted = match falls {
                    false => within(all, wanted, of),
                    true => within(all, wanted, |x| of(-x)).negated(),
                };
                t = x;
            }
            _ => return None,
        }
    }
    None
}

/// The numbers that an operation that grows takes to where they are wanted.
fn within(all: Span, wanted: Span, of: impl Fn(i128) -> i128) -> Span {
    if !wanted.has_numbers() {
        return Span::NOTHING;
    }
    up_to_last(from_first(all, |x| of(x) >= wanted.lo), |x| of(x) <= wanted.hi)
}

/// The bits of all numbers there: those without a sign, and those with one, which count the other way. Both zeros are zero.
fn bits_of(format: Format, numbers: Span) -> Ranges {
    if !numbers.has_numbers() {
        return Vec::new();
    }
    let sign = format.sign_bit() as u64;
    let mut ranges = Vec::new();
    if numbers.hi >= 0 {
        ranges.push((numbers.lo.max(0) as u64, numbers.hi as u64));
    }
    if numbers.lo <= 0 {
        ranges.push((sign | (-numbers.hi).max(0) as u64, sign | (-numbers.lo) as u64));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::float::Rounding;
    use term::{Assignment, Eval};

    /// Against every value of half precision.
    #[test]
    fn ranges_are_exact() {
        let mut terms = Terms::new();
        let x = terms.symbol("x", 16);
        let symbol = terms.symbols(x)[0];
        // Zeros, one, three, minus two, the least and the largest numbers, an infinity.
        let constants = [0u128, 0x8000, 0x3c00, 0x4200, 0xc000, 1, 0x8001, 0x7bff, 0x7c00, 0x2e66];
        let constants: Vec<TermId> = constants.iter().map(|&bits| terms.constant(bits, 16)).collect();
        let mut forms = vec![x, terms.fneg(x)];
        for rounding in [Rounding::NearestEven, Rounding::Down] {
            forms.extend([terms.fsqrt(rounding, x), terms.fintegral(rounding, x)]);
            for &k in &constants {
                forms.push(terms.fadd(rounding, x, k));
                forms.push(terms.fsub(rounding, k, x));
                forms.push(terms.fmul(rounding, x, k));
                forms.push(terms.fdiv(rounding, x, k));
            }
        }
        let twice: Vec<TermId> =
            forms.iter().map(|&form| terms.fmul(Rounding::NearestEven, form, constants[4])).collect();
        forms.extend(twice);
        let mut eval = Eval::new();
        let (mut n_known, mut n_all) = (0, 0);
        for (row, &form) in forms.iter().enumerate() {
            // Two constants for each form, so that all come up with each operation.
            for (nth, &k) in constants.iter().enumerate().filter(|(nth, _)| nth % 5 == row % 5) {
                let op = FloatCompare::ALL[nth % 3];
                let (a, b) = if nth % 2 == 0 { (form, k) } else { (k, form) };
                let condition = terms.float_compare(op, a, b);
                let View::FloatCompare { op, a, b } = terms.view(condition) else { continue };
                n_all += 1;
                let Some(ranges) = ranges(&terms, op, a, b) else { continue };
                n_known += 1;
                assert!(ranges.iter().all(|(lo, hi)| lo <= hi) && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                for value in 0..1 << 16 {
                    let mut input = Assignment::new();
                    input.set(symbol, value);
                    let is_inside = ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&value));
                    let holds = eval.holds(&terms, &input, condition);
                    assert_eq!(is_inside, holds, "{:?} at {value:#x}: {ranges:x?}", terms.view(condition));
                }
            }
        }
        assert!(n_known > 100 && n_known * 10 > n_all * 7, "{n_known} of {n_all} known");
    }
}
