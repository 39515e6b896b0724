//! Intervals of floats: what cannot be, without a gate.
//!
//! Every float in the conditions has an interval, and may be a NaN or not. What the conditions say narrows it, downwards from a
//! comparison to its operands and upwards from operands to results, until nothing changes (the contractors of Benhamou and others,
//! 1999). All bounds are exact: an operation that rounds is still monotone, so its bounds are computed with the rounding it has, and
//! those of an operand that gives a result are found by bisection. Where an interval is empty the question cannot hold.
//!
//! If that does not decide it, and gates did not either, intervals are halved and each half is looked at alone. This never says yes.

mod net;
mod order;
pub(crate) mod span;

use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use net::{Contradiction, Net, What};
use span::Span;
use term::{TermId, Terms};

/// How often all nodes are looked at.
const MAX_ROUNDS: usize = 12;
/// Nodes that are looked at, at a microsecond or so each: at first, and when gates did not find it easy.
const BUDGET: usize = 3_000;
const LATE_BUDGET: usize = 100_000;
/// Nodes between two looks at the clock.
const COST_OF_A_LOOK: usize = 10_000;

struct Intervals;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Intervals))
}

impl Answers for Intervals {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        answer(query, BUDGET)
    }

    fn answer_late(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        answer(query, LATE_BUDGET)
    }
}

fn answer(query: &Query, budget: usize) -> Option<Said> {
    // A question about bits can be contradicted by constraints on floats, but hardly ever is.
    if !query.terms.has_floats(query.question) {
        return None;
    }
    let conditions: Vec<TermId> =
        query.conjunction().into_iter().filter(|&condition| query.terms.has_floats(condition)).collect();
    refutes(query.terms, &conditions, budget, || query.clock().is_over()).then_some(Said::Unsat(None))
}

/// Whether no input satisfies all conditions.
fn refutes(terms: &Terms, conditions: &[TermId], budget: usize, is_over: impl Fn() -> bool) -> bool {
    let Some(net) = Net::new(terms, conditions) else { return false };
    let mut search = Search { net: &net, left: budget, since_look: 0 };
    search.is_empty(net.start.clone(), &is_over) == Some(true)
}

struct Search<'n> {
    net: &'n Net,
    left: usize,
    since_look: usize,
}

impl Search<'_> {
    /// Whether nothing lies there; `None` when that is not found out.
    fn is_empty(&mut self, spans: Vec<Span>, is_over: &impl Fn() -> bool) -> Option<bool> {
        let mut open = vec![spans];
        while let Some(mut spans) = open.pop() {
            match self.contract(&mut spans, is_over) {
                None => return None,
                Some(Err(Contradiction)) => {}
                Some(Ok(())) => {
                    let (one, other) = self.halves(spans)?;
                    open.extend([one, other]);
                }
            }
        }
        Some(true)
    }

    fn contract(&mut self, spans: &mut [Span], is_over: &impl Fn() -> bool) -> Option<Result<(), Contradiction>> {
        let n_nodes = spans.len();
        for _ in 0..MAX_ROUNDS {
            self.left = self.left.checked_sub(2 * n_nodes)?;
            self.since_look += 2 * n_nodes;
            if self.since_look > COST_OF_A_LOOK {
                self.since_look = 0;
                if is_over() {
                    return None;
                }
            }
            match self.round(spans) {
                Ok(true) => {}
                Ok(false) => break,
                Err(contradiction) => return Some(Err(contradiction)),
            }
        }
        Some(Ok(()))
    }

    fn round(&self, spans: &mut [Span]) -> Result<bool, Contradiction> {
        let mut changed = false;
        for at in 0..spans.len() {
            changed |= self.net.forward(spans, at)?;
        }
        for at in (0..spans.len()).rev() {
            changed |= self.net.backward(spans, at)?;
        }
        Ok(changed)
    }

    /// The widest unknown in two parts; `None` when every unknown is one value.
    fn halves(&self, spans: Vec<Span>) -> Option<(Vec<Span>, Vec<Span>)> {
        let is_leaf = |at: &usize| matches!(self.net.nodes[*at].what, What::Leaf);
        let size = |at: usize| spans[at].hi - spans[at].lo + i128::from(spans[at].has_nan);
        let at = (0..spans.len()).filter(is_leaf).filter(|&at| size(at) > 0).max_by_key(|&at| size(at))?;
        let here = spans[at];
        let middle = here.lo + (here.hi - here.lo) / 2;
        let (one, other) = match here.has_nan && here.has_numbers() {
            true => (Span { has_nan: false, ..here }, Span { has_nan: true, ..Span::NOTHING }),
            false => (Span::numbers(here.lo, middle), Span::numbers(middle + 1, here.hi)),
        };
        let with = |span: Span| {
            let mut spans = spans.clone();
            spans[at] = span;
            spans
        };
        Some((with(one), with(other)))
    }
}

#[cfg(test)]
mod tests;
