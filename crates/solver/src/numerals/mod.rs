//! Numbers written in digits, and what remainders say of them.
//!
//! A program reads a number as text, divides primes out of it, takes its check digits. Its questions are about the number, and it
//! is made of ten symbols: tried at random, one in a thousand of its values is divisible by a thousand, and one in a
//! million by the factors that a path has found. As gates, each division is a product of 64 bits.
//!
//! Such a sum (`place`) gives each value of its digits a number of its own, and back. So the question is about one number,
//! and each condition that leaves it one remainder (`congruence`) leaves a progression `first + t * step`: an equation of a remainder
//! or of low bits, and `n * inverse <= limit`, which is how division by an odd constant is tested. What is left is tried: all of
//! it where it is little, so that finding nothing says that there is nothing, and some at random where it is much. One wide symbol is a
//! number of one digit.
//!
//! Whatever is not understood stays a condition that is evaluated. Nothing is assumed: every step leaves each input that
//! satisfies the conditions in the progression.

mod congruence;
mod form;
mod place;

use crate::clock::Clock;
use crate::dice::Dice;
use crate::domain::{Domain, Domains, pick, values_of};
use crate::layers::{Answers, Said, Setup};
use crate::possible::{Possible, sort};
use crate::query::{Query, Tools};
use crate::tried::{Found, Inputs};
use crate::values;
use congruence::{Learner, Progression};
use form::Forms;
use place::Places;
use rustc_hash::FxHashSet;
use term::{Lanes, N_LANES, SymbolId, TermId, Terms, View};

/// Numbers with more digits are left alone.
const MAX_DIGITS: usize = 24;
/// Terms looked at for one question.
const MAX_TERMS: usize = 1 << 14;
/// Numbers that are all tried, and the steps over blocks of them that this may take.
const MAX_TRIED: u128 = 1 << 22;
const MAX_COST: u64 = 40_000_000;
/// Steps over blocks that trying some at random may take, and blocks it may try.
const MAX_SAMPLING: u64 = 2_000_000;
const MAX_SAMPLED: u64 = 4_000;
/// More numbers than this are not tried one after the other before some are at random, in so many blocks.
const FEW: u128 = 1 << 12;
const SOME_SAMPLED: u64 = 32;
/// Steps over blocks between two looks at the clock.
const COST_OF_A_LOOK: u64 = 20_000;

struct Numerals;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Numerals))
}

impl Answers for Numerals {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let symbols = query.symbols();
        // Where inputs can be tried, a sweep was made ready if there are products, quotients or remainders.
        let is_cheap = query.sweep.is_none() && symbols.len() <= values::MAX_SYMBOLS;
        if is_cheap || symbols.len() > 4 * MAX_DIGITS {
            return None;
        }
        let found = ask(query.terms, &mut tools.domains, &query.conjunction(), query.clock(), query.key() as u64)?;
        Some(found.said(query))
    }
}

/// `None` where nothing is known.
fn ask(terms: &Terms, domains: &mut Domains, conditions: &[TermId], clock: &Clock, seed: u64) -> Option<Found> {
    let mut conditions = conditions.to_vec();
    conditions.sort_unstable();
    conditions.dedup();
    let sums = sums_in(terms, &conditions)?;
    let (possible, others) = sort(terms, domains, &conditions)?;
    let mut forms = Forms::new(terms, &possible);
    let places = Places::find(terms, &mut forms, domains, &possible, &others, &sums)?;
    let mut progression = Progression::new(places.span());
    let mut learner = Learner::new(terms, &mut forms, &places);
    learner.learn_all(domains, &conditions, &mut progression);
    if progression.n == 0 {
        return Some(Found::Nothing);
    }
    let is_all = progression.n <= MAX_TRIED;
    if !is_all && !progression.is_sparse() {
        return None;
    }
    let mut trial = Trial::new(terms, domains, &others, &possible, places)?;
    let cost = (progression.n.div_ceil(N_LANES as u128)).saturating_mul(u128::from(trial.block_cost()));
    if !is_all || cost > u128::from(MAX_COST) {
        return trial.sample(&progression, clock, seed, MAX_SAMPLED);
    }
    // What can hold is nearly always found among some.
    if progression.n > FEW
        && let Some(found) = trial.sample(&progression, clock, seed, SOME_SAMPLED)
    {
        return Some(found);
    }
    trial.run(&progression, clock)
}

/// The sums that may be numbers, the largest first; `None` where no condition is about a quotient, a remainder or a product.
fn sums_in(terms: &Terms, conditions: &[TermId]) -> Option<Vec<TermId>> {
    let mut seen: FxHashSet<TermId> = conditions.iter().copied().collect();
    let mut stack = conditions.to_vec();
    let mut sums = Vec::new();
    let mut is_worth_it = false;
    while let Some(t) = stack.pop() {
        if seen.len() > MAX_TERMS {
            return None;
        }
        let view = terms.view(t);
        match view {
            View::Table(_) | View::Store { .. } => return None,
            View::Add(..) | View::Sub(..) | View::Concat(..) => sums.push(t),
            View::UDiv(_, by) | View::URem(_, by) | View::SDiv(_, by) | View::SRem(_, by) => {
                is_worth_it |= terms.is_const(by);
            }
            _ => {}
        }
        stack.extend(view.operands().filter(|&t| seen.insert(t)));
    }
    sums.sort_unstable_by_key(|&t| (std::cmp::Reverse(terms.symbols(t).len()), t));
    is_worth_it.then_some(sums)
}

/// Whether a value between the smallest and the largest is missing.
fn has_gaps(domain: &Domain) -> bool {
    match domain {
        Domain::Bytes(_) => {
            let values = values_of(domain);
            values.windows(2).any(|pair| pair[1] - pair[0] > 1)
        }
        Domain::Ranges(ranges) => ranges.len() > 1,
    }
}

/// Numbers tried: their digits put into the conditions.
struct Trial<'a> {
    lanes: Lanes,
    /// Over the digits.
    inputs: Inputs,
    places: Places,
    /// The domain of each digit that has gaps.
    gaps: Vec<Option<&'a Domain>>,
    possible: &'a [Possible],
    filled: usize,
    tried: Vec<Vec<u64>>,
}

impl Trial<'_> {
    fn new<'a>(
        terms: &Terms,
        domains: &mut Domains,
        conditions: &[TermId],
        possible: &'a [Possible],
        places: Places,
    ) -> Option<Trial<'a>> {
        let lanes = Lanes::new(terms, conditions)?;
        let inputs = Inputs::of(terms, domains, &lanes, |symbol| places.symbols().position(|other| other == symbol))?;
        let gaps = |symbol: SymbolId| {
            let at = possible.binary_search_by_key(&symbol, |possible| possible.symbol).ok()?;
            let domain = possible[at].domain.as_deref()?;
            has_gaps(domain).then_some(domain)
        };
        let gaps = places.symbols().map(gaps).collect();
        Some(Trial { lanes, inputs, gaps, places, possible, filled: 0, tried: vec![Vec::new(); N_LANES] })
    }

    fn block_cost(&self) -> u64 {
        (self.lanes.n_steps() + 4 * self.inputs.len() + 10 * self.places.symbols().count()) as u64
    }

    /// Puts a number into the next lane. Numbers that no digits are written as are left out.
    fn put(&mut self, number: u128) {
        let number = number as u64;
        let digits = &mut self.tried[self.filled];
        if !self.places.write(number, digits) {
            return;
        }
        let is_allowed =
            |(domain, &value): (&Option<&Domain>, &u64)| domain.is_none_or(|domain| pick(domain, value) == Some(value));
        if !self.gaps.iter().zip(digits.iter()).all(is_allowed) {
            return;
        }
        self.inputs.write(&mut self.lanes, self.filled, digits);
        self.filled += 1;
    }

    /// Evaluates what was put in.
    fn look(&mut self) -> Option<Found> {
        let filled = std::mem::take(&mut self.filled);
        if filled == 0 {
            return None;
        }
        let holds = self.lanes.run() & (u64::MAX >> (N_LANES - filled));
        if holds == 0 {
            return None;
        }
        let digits = &self.tried[holds.trailing_zeros() as usize];
        let mut values: Vec<(SymbolId, u64)> = self.places.symbols().zip(digits.iter().copied()).collect();
        // What no condition but its own is about.
        let others =
            self.possible.iter().filter(|possible| self.places.symbols().all(|other| other != possible.symbol));
        values.extend(others.map(|possible| (possible.symbol, possible.lo)));
        Some(Found::Values(values))
    }

    /// All numbers of a progression.
    fn run(&mut self, progression: &Progression, clock: &Clock) -> Option<Found> {
        let (mut t, mut cost) = (0, 0);
        while t < progression.n {
            // Many of the numbers may have no digits.
            let block = progression.n.min(t + N_LANES as u128);
            (t..block).for_each(|t| self.put(progression.at(t)));
            t = block;
            if let Some(found) = self.look() {
                return Some(found);
            }
            cost += self.block_cost();
            if cost > COST_OF_A_LOOK {
                cost = 0;
                if clock.is_over() {
                    return None;
                }
            }
        }
        Some(Found::Nothing)
    }

    /// Some of them: the first, the last, and some at random.
    fn sample(&mut self, progression: &Progression, clock: &Clock, seed: u64, max_blocks: u64) -> Option<Found> {
        let mut dice = Dice::new(seed);
        let n_blocks = (MAX_SAMPLING / self.block_cost()).min(max_blocks);
        for nth in 0..n_blocks {
            for lane in 0..N_LANES as u128 {
                let t = match (nth, lane % 4) {
                    (0, 0) => lane / 4,
                    (0, 1) => progression.n - 1 - lane / 4,
                    // Small ones, too: of each length one as often as of any other.
                    (_, 0) => (progression.n - 1) >> dice.below(64),
                    _ => progression.n - 1,
                };
                let below = t + 1;
                let t = if nth == 0 && lane % 4 < 2 { t } else { u128::from(dice.any()) % below };
                self.put(progression.at(t));
            }
            if let Some(found) = self.look() {
                return Some(found);
            }
            if clock.is_over() {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
