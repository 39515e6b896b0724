//! How far conditions are from holding: in floats that lie between two operands, or in integers.

use crate::ulps::place;
use rustc_hash::FxHashMap;
use term::float::{FloatCompare, Format};
use term::{Lanes, TermId, Terms, View, fold};

/// The distance of something that no move brings nearer, as a bit that is wrong.
const WRONG_BIT: u64 = 40 << FRACTION;
/// That of a comparison with a NaN, which is further away than any number.
const NO_NUMBER: u64 = 70 << FRACTION;
/// Bits behind the point of a logarithm.
const FRACTION: u32 = 40;
/// How deep `and` and `not` are looked into.
const MAX_DEPTH: u32 = 12;

/// Which terms to compute, and the conditions over them.
#[derive(Default)]
pub(super) struct Distances {
    /// Each once, to be computed in lanes.
    pub wanted: Vec<TermId>,
    places: FxHashMap<TermId, usize>,
    conditions: Vec<Distance>,
}

enum Distance {
    Not(Box<Distance>),
    And(Box<Distance>, Box<Distance>),
    /// Of two terms computed in lanes.
    Compared(Comparison, usize, usize),
    Bit(usize),
}

#[derive(Clone, Copy)]
enum Comparison {
    Float(FloatCompare, Format),
    Equal(u32),
    Unsigned,
    Signed(u32),
}

impl Distances {
    pub fn new(terms: &Terms, conditions: &[TermId]) -> Distances {
        let mut distances = Distances::default();
        for &condition in conditions {
            let distance = distances.of(terms, condition, MAX_DEPTH);
            distances.conditions.push(distance);
        }
        distances
    }

    fn wanted(&mut self, t: TermId) -> usize {
        let next = self.wanted.len();
        let place = *self.places.entry(t).or_insert(next);
        if place == next {
            self.wanted.push(t);
        }
        place
    }

    fn of(&mut self, terms: &Terms, t: TermId, depth: u32) -> Distance {
        let mut compared = |comparison: Comparison, a: TermId, b: TermId| {
            Distance::Compared(comparison, self.wanted(a), self.wanted(b))
        };
        match terms.view(t) {
            View::FloatCompare { op, a, b } => {
                let format = Format::of(terms.width(a));
                compared(Comparison::Float(op, format), a, b)
            }
            View::Eq(a, b) => compared(Comparison::Equal(terms.width(a)), a, b),
            View::Ult(a, b) => compared(Comparison::Unsigned, a, b),
            View::Slt(a, b) => compared(Comparison::Signed(terms.width(a)), a, b),
            View::Not(a) if depth > 0 => Distance::Not(Box::new(self.of(terms, a, depth - 1))),
            View::And(a, b) if depth > 0 => {
                let (a, b) = (self.of(terms, a, depth - 1), self.of(terms, b, depth - 1));
                Distance::And(Box::new(a), Box::new(b))
            }
            _ => Distance::Bit(self.wanted(t)),
        }
    }

    /// The sum of all distances in a lane; zero where all conditions hold.
    pub fn in_lane(&self, lanes: &Lanes, lane: usize) -> u64 {
        self.conditions.iter().map(|condition| condition.to(lanes, lane, true)).sum()
    }

    /// What it costs to add them up, in steps over a block.
    pub fn cost(&self) -> u64 {
        2 * self.wanted.len() as u64
    }
}

impl Distance {
    /// To where the condition is what is wanted.
    fn to(&self, lanes: &Lanes, lane: usize, wanted: bool) -> u64 {
        match self {
            Distance::Not(inner) => inner.to(lanes, lane, !wanted),
            Distance::And(a, b) => {
                let (a, b) = (a.to(lanes, lane, wanted), b.to(lanes, lane, wanted));
                if wanted { a + b } else { a.min(b) }
            }
            Distance::Bit(nth) => match (lanes.result(*nth)[lane] == 1) == wanted {
                true => 0,
                false => WRONG_BIT,
            },
            Distance::Compared(comparison, a, b) => {
                comparison.to(lanes.result(*a)[lane], lanes.result(*b)[lane], wanted)
            }
        }
    }
}

impl Comparison {
    fn to(self, a: u64, b: u64, wanted: bool) -> u64 {
        match self {
            Comparison::Float(op, format) => {
                if format.is_nan(a.into()) || format.is_nan(b.into()) {
                    return if wanted { NO_NUMBER } else { 0 };
                }
                let by = place(format, b.into()) - place(format, a.into());
                match op {
                    FloatCompare::Less => to_less(by, wanted),
                    FloatCompare::LessOrEqual => to_less(-by, !wanted),
                    FloatCompare::Equal => to_equal(by.unsigned_abs(), wanted),
                }
            }
            Comparison::Equal(width) => {
                let apart = u128::from(a.abs_diff(b));
                to_equal(apart.min(fold::neg(apart, width.max(1))), wanted)
            }
            Comparison::Unsigned => to_less(i128::from(b) - i128::from(a), wanted),
            Comparison::Signed(width) => to_less(fold::signed(b.into(), width) - fold::signed(a.into(), width), wanted),
        }
    }
}

/// `by` is how much the second is more than the first, which should be less, or should not.
fn to_less(by: i128, wanted: bool) -> u64 {
    let missing = if wanted { 1 - by } else { by };
    if missing <= 0 { 0 } else { logarithm(missing as u128) }
}

fn to_equal(apart: u128, wanted: bool) -> u64 {
    match (apart, wanted) {
        (_, true) => logarithm(apart),
        (0, false) => logarithm(1),
        (_, false) => 0,
    }
}

/// Of one more than a number, to the base of two, with straight lines between the powers: strictly more for what is much more.
fn logarithm(n: u128) -> u64 {
    let Ok(n) = u64::try_from(n) else { return 64 << FRACTION };
    let Some(n) = n.checked_add(1) else { return 64 << FRACTION };
    let power = 63 - n.leading_zeros();
    let rest = n ^ (1 << power);
    let rest = if power > FRACTION { rest >> (power - FRACTION) } else { rest << (FRACTION - power) };
    u64::from(power) << FRACTION | rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_grow() {
        let numbers =
            [0, 1, 2, 3, 4, 7, 8, 1000, 1 << 40, (1 << 40) + (1 << 20), 1 << 62, u128::from(u64::MAX), 1 << 90];
        for pair in numbers.windows(2) {
            assert!(logarithm(pair[0]) < logarithm(pair[1]) || pair[1] > 1 << 63, "{pair:?}");
        }
        assert_eq!(logarithm(0), 0);
    }

    #[test]
    fn a_comparison_that_holds_is_at_no_distance() {
        let values = [0.0f64, -0.0, 1.0, -1.5, f64::INFINITY, f64::NAN, 1e-310, 2.5e10];
        for a in values {
            for b in values {
                let cases =
                    [(FloatCompare::Less, a < b), (FloatCompare::LessOrEqual, a <= b), (FloatCompare::Equal, a == b)];
                for (op, holds) in cases {
                    let comparison = Comparison::Float(op, Format::Double);
                    assert_eq!(comparison.to(a.to_bits(), b.to_bits(), true) == 0, holds, "{a} {op:?} {b}");
                    assert_eq!(comparison.to(a.to_bits(), b.to_bits(), false) == 0, !holds, "not {a} {op:?} {b}");
                }
            }
        }
    }
}
