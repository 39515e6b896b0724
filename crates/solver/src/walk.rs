//! Local search: from the current input towards one that satisfies everything, one broken condition at a time.
//!
//! Products, quotients and remainders make large gates, and a proof over them can take forever; but where many inputs will
//! do, one is often near. So a broken condition is taken, and a walk goes from it down to a symbol, asking of each operator which
//! value of one operand would give the value that is wanted (`invert`). The symbol gets what comes out. If no more conditions
//! are broken than before the step counts, else it mostly does not. This is the propagation-based search of Niemetz, Preiner and
//! Biere (2016), without their consistent values: a walk that cannot be gone on with is thrown away and another one begun.
//!
//! It never says no. What it costs is bounded by steps, not by the clock, so that the same question gets the same answer.

use crate::dice::Dice;
use crate::invert::propose;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::query::{Query, Tools};
use rustc_hash::FxHashSet;
use term::{Assignment, TermId, Terms, View};

struct Walk;

/// Conditions that are evaluated, in all steps together.
const MAX_EVALUATED: usize = 4_000;
const MAX_STEPS: usize = 400;
/// One in so many steps that make it worse is taken.
const RARELY: u64 = 16;
/// Terms that are looked at for something dear.
const MAX_TERMS: usize = 4_096;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Walk))
}

impl Answers for Walk {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let conditions = query.conjunction();
        if !is_dear(query.terms, &conditions[query.constraints().len()..]) {
            return None; // gates find it, and find it sooner
        }
        let mut dice = Dice::new(query.key() as u64);
        let mut here = query.current.clone();
        let mut broken = broken_by(query, tools, &conditions, &here);
        if broken.is_empty() {
            return query.try_input(tools, &here);
        }
        let n_steps = (MAX_EVALUATED / conditions.len()).min(MAX_STEPS);
        for _ in 0..n_steps {
            let aim = broken[dice.below(broken.len() as u64) as usize];
            let Some(there) = propose(query.terms, &mut tools.trial, &here, aim, dice.any() as u32) else { continue };
            let broken_there = broken_by(query, tools, &conditions, &there);
            if broken_there.is_empty() {
                return query.try_input(tools, &there);
            }
            if broken_there.len() <= broken.len() || dice.below(RARELY) == 0 {
                (here, broken) = (there, broken_there);
            }
        }
        None
    }

    fn cost(&self) -> Cost {
        Cost::Search
    }
}

fn broken_by(query: &Query, tools: &mut Tools, conditions: &[TermId], input: &Assignment) -> Vec<TermId> {
    let is_broken = |t: &TermId| !tools.trial.holds(query.terms, input, *t);
    conditions.iter().copied().filter(is_broken).collect()
}

/// Whether there is a product of two unknowns, a quotient, a remainder or a float in it.
fn is_dear(terms: &Terms, conditions: &[TermId]) -> bool {
    let mut seen: FxHashSet<TermId> = conditions.iter().copied().collect();
    let mut stack = conditions.to_vec();
    while let Some(t) = stack.pop() {
        match terms.view(t) {
            View::Mul(a, b) if !terms.is_const(a) && !terms.is_const(b) => return true,
            View::UDiv(..) | View::URem(..) | View::SDiv(..) | View::SRem(..) => return true,
            View::FloatUnary { .. } | View::FloatBinary { .. } | View::Fma { .. } => return true,
            view => stack.extend(view.operands().filter(|operand| seen.len() < MAX_TERMS && seen.insert(*operand))),
        }
    }
    false
}
