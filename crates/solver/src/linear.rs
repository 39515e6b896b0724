//! Equations of sums: what follows when multiples of one are taken off another.
//!
//! The rows and columns of a magic square have the same sum. What such equations say together takes gates long to find out, and a
//! few subtractions find it at once. Numbers wrap around here as they do in terms, so an equation can be solved for a term
//! whose factor is odd. This layer only ever says that a question cannot hold.

use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use rustc_hash::FxHashMap;
use term::{TermId, Terms, View, fold};

/// Terms with factors, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub factors: FxHashMap<TermId, u128>,
    pub constant: u128,
    /// How many addends there were before those of the same term came together.
    pub n_addends: usize,
}

/// Sums with more addends are left alone.
const MAX_ADDENDS: usize = 256;
/// Equations that are looked at for one question.
const MAX_EQUATIONS: usize = 64;

impl Sum {
    /// `a - b`; `None` where there are too many addends.
    pub fn of_difference(terms: &Terms, a: TermId, b: TermId) -> Option<Sum> {
        let width = terms.width(a);
        let mut sum = Sum::default();
        let mut stack = vec![(a, 1), (b, fold::mask(width))];
        while let Some((t, factor)) = stack.pop() {
            let minus = fold::neg(factor, width);
            match terms.view(t) {
                View::Const(value) => sum.add_constant(fold::mul(factor, value, width), width),
                View::Add(x, y) => stack.extend([(x, factor), (y, factor)]),
                View::Sub(x, y) => stack.extend([(x, factor), (y, minus)]),
                View::Neg(x) => stack.push((x, minus)),
                View::Not(x) => {
                    sum.add_constant(minus, width);
                    stack.push((x, minus));
                }
                View::Mul(x, k) if terms.is_const(k) => {
                    stack.push((x, fold::mul(factor, terms.as_const(k)?, width)));
                }
                _ => {
                    sum.n_addends += 1;
                    sum.add(t, factor, width);
                }
            }
            if sum.n_addends + stack.len() > MAX_ADDENDS {
                return None;
            }
        }
        Some(sum)
    }

    fn add_constant(&mut self, value: u128, width: u32) {
        self.constant = fold::add(self.constant, value, width);
    }

    fn add(&mut self, t: TermId, factor: u128, width: u32) {
        let here = self.factors.entry(t).or_insert(0);
        *here = fold::add(*here, factor, width);
        if *here == 0 {
            self.factors.remove(&t);
        }
    }

    /// Adds a multiple of another sum.
    fn add_times(&mut self, other: &Sum, times: u128, width: u32) {
        self.add_constant(fold::mul(other.constant, times, width), width);
        for (&t, &factor) in &other.factors {
            self.add(t, fold::mul(factor, times, width), width);
        }
    }

    fn is_constant(&self) -> bool {
        self.factors.is_empty()
    }
}

/// A sum that is zero, and the conditions that say so.
struct Equation {
    sum: Sum,
    width: u32,
    /// The term that it is solved for, with a factor of one.
    solved: TermId,
    reasons: Vec<TermId>,
}

/// Equations, none of which has a term that one before it is solved for.
#[derive(Default)]
struct Equations {
    solved: Vec<Equation>,
}

impl Equations {
    /// Replaces what the equations are solved for; gives the conditions that this took.
    fn reduce(&self, sum: &mut Sum, width: u32) -> Vec<TermId> {
        let mut reasons = Vec::new();
        for equation in self.solved.iter().filter(|equation| equation.width == width) {
            if let Some(&factor) = sum.factors.get(&equation.solved) {
                sum.add_times(&equation.sum, fold::neg(factor, width), width);
                reasons.extend_from_slice(&equation.reasons);
            }
        }
        reasons
    }

    /// Adds that a sum is zero; the conditions that say it is not, if they do.
    fn add(&mut self, mut sum: Sum, width: u32, condition: TermId) -> Option<Vec<TermId>> {
        let mut reasons = self.reduce(&mut sum, width);
        reasons.push(condition);
        if sum.is_constant() {
            return (sum.constant != 0).then_some(reasons);
        }
        // The smallest, so that the same question is solved in the same way.
        let solved = sum.factors.iter().filter(|(_, factor)| *factor % 2 == 1).map(|(&t, _)| t).min()?;
        let times = inverse(sum.factors[&solved], width);
        let mut scaled = Sum::default();
        scaled.add_times(&sum, times, width);
        self.solved.push(Equation { sum: scaled, width, solved, reasons });
        None
    }
}

/// The number whose product with an odd one is one: each step doubles the bits that are right.
fn inverse(odd: u128, width: u32) -> u128 {
    let two = 2 & fold::mask(width);
    (0..7).fold(odd, |x, _| fold::mul(x, fold::sub(two, fold::mul(odd, x, width), width), width))
}

struct Linear;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Linear))
}

impl Answers for Linear {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        let core = contradiction(query.terms, query.constraints(), query.question)?;
        Some(Said::Unsat(Some(core)))
    }
}

/// Conditions, the question among them, that contradict each other.
fn contradiction(terms: &Terms, constraints: &[TermId], question: TermId) -> Option<Vec<TermId>> {
    let (asked, asked_holds) = match terms.view(question) {
        View::Not(inner) => (inner, false),
        _ => (question, true),
    };
    let View::Eq(a, b) = terms.view(asked) else { return None };
    let width = terms.width(a);
    let mut equations = Equations::default();
    for &constraint in constraints {
        let View::Eq(x, y) = terms.view(constraint) else { continue };
        if terms.width(x) != width || equations.solved.len() >= MAX_EQUATIONS {
            continue;
        }
        if let Some(sum) = Sum::of_difference(terms, x, y) {
            // What contradicts itself without the question is not for us to judge.
            let _ = equations.add(sum, width, constraint);
        }
    }
    if equations.solved.is_empty() {
        return None;
    }
    let sum = Sum::of_difference(terms, a, b)?;
    let core = match asked_holds {
        true => match equations.add(sum, width, question) {
            Some(core) => core,
            None => equations.refuted_inequality(terms, constraints, width)?,
        },
        false => equations.forced_zero(sum, width, question)?,
    };
    let mut core = core;
    core.push(question);
    core.sort_unstable();
    core.dedup();
    Some(core)
}

impl Equations {
    /// The conditions that make a sum zero which a condition says is not.
    fn forced_zero(&self, mut sum: Sum, width: u32, condition: TermId) -> Option<Vec<TermId>> {
        let mut reasons = self.reduce(&mut sum, width);
        reasons.push(condition);
        (sum.is_constant() && sum.constant == 0).then_some(reasons)
    }

    /// The same for all constraints that say that two terms are not equal.
    fn refuted_inequality(&self, terms: &Terms, constraints: &[TermId], width: u32) -> Option<Vec<TermId>> {
        constraints.iter().find_map(|&constraint| {
            let View::Not(inner) = terms.view(constraint) else { return None };
            let View::Eq(x, y) = terms.view(inner) else { return None };
            if terms.width(x) != width {
                return None;
            }
            self.forced_zero(Sum::of_difference(terms, x, y)?, width, constraint)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::{Assignment, Eval, SymbolId};

    #[test]
    fn odd_numbers_have_inverses() {
        for width in [2, 5, 8] {
            for odd in (1..1 << width).step_by(2) {
                assert_eq!(fold::mul(odd, inverse(odd, width), width), 1, "{odd} of {width} bits");
            }
        }
        let odd = 0x1234_5678_9abc_def1_0fed_cba9_8765_4321;
        assert_eq!(fold::mul(odd, inverse(odd, 128), 128), 1);
    }

    /// A sum of multiples of three symbols of three bits.
    fn sum(terms: &mut Terms, factors: (u8, u8, u8, u8)) -> TermId {
        let (a, b, c, k) = factors;
        let mut sum = terms.constant(u128::from(k % 8), 3);
        for (name, factor) in [("x", a), ("y", b), ("z", c)] {
            let (symbol, factor) = (terms.symbol(name, 3), terms.constant(u128::from(factor % 8), 3));
            let product = terms.mul(symbol, factor);
            sum = terms.add(sum, product);
        }
        sum
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// What is called a contradiction is one: no value of the three symbols satisfies its conditions.
        #[test]
        fn contradictions_are_contradictions(
            equations in prop::collection::vec((any::<(u8, u8, u8, u8)>(), any::<(u8, u8, u8, u8)>(), 0u8..4), 1..5),
            asked in (any::<(u8, u8, u8, u8)>(), any::<(u8, u8, u8, u8)>(), any::<bool>()),
        ) {
            let mut terms = Terms::new();
            let mut condition = |left, right, holds: bool| {
                let (left, right) = (sum(&mut terms, left), sum(&mut terms, right));
                let equal = terms.eq(left, right);
                if holds { equal } else { terms.not(equal) }
            };
            let constraints: Vec<TermId> =
                equations.into_iter().map(|(left, right, kind)| condition(left, right, kind > 0)).collect();
            let question = condition(asked.0, asked.1, asked.2);
            if let Some(core) = contradiction(&terms, &constraints, question) {
                let mut eval = Eval::new();
                for input in 0..512u64 {
                    let mut values = Assignment::new();
                    (0..3).for_each(|nth| values.set(SymbolId(nth), input >> (3 * nth) & 7));
                    prop_assert!(!core.iter().all(|&t| eval.holds(&terms, &values, t)), "{core:?} hold at {input}");
                }
            }
        }
    }

    /// Three rows and three columns of the same sum; the middle is a third of it.
    #[test]
    fn rows_and_columns_say_what_the_middle_is() {
        let mut terms = Terms::new();
        let cells: Vec<TermId> = (0..9).map(|nth| terms.symbol(&format!("c{nth}"), 32)).collect();
        let fifteen = terms.constant(15, 32);
        let mut line = |cells: [TermId; 3]| {
            let pair = terms.add(cells[0], cells[1]);
            let all = terms.add(pair, cells[2]);
            terms.eq(all, fifteen)
        };
        let at = |nth: usize| cells[nth];
        let lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [0, 4, 8], [2, 4, 6]];
        let constraints: Vec<TermId> = lines.map(|[a, b, c]| line([at(a), at(b), at(c)])).to_vec();
        let (four, five) = (terms.constant(4, 32), terms.constant(5, 32));
        let (is_four, is_five) = (terms.eq(at(4), four), terms.eq(at(4), five));
        let is_not_five = terms.not(is_five);
        assert!(contradiction(&terms, &constraints, is_four).is_some());
        assert!(contradiction(&terms, &constraints, is_not_five).is_some());
        assert!(contradiction(&terms, &constraints, is_five).is_none());
        assert!(contradiction(&terms, &constraints[..3], is_four).is_none());
    }
}
