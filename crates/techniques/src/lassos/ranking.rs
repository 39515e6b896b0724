//! Whether a cycle is known to end: a number that falls with every round and cannot fall for ever.
//!
//! The numbers are bit-vectors under the unsigned order, which has no endless descent, whatever wraps around. Tried are cells,
//! their negations, and the distance of the two sides of every comparison. If one of them falls on some ways and never rises
//! on the others, a second one is looked for that falls on those (a lexicographic order). What a short walk with concrete
//! values refutes is not asked about.

use rustc_hash::FxHashSet;
use term::{TermId, View};

use super::round::{Rest, Way, all_of};
use super::sets::{Judge, with_values};
use super::simulate::simulate;

const MAX_LEVELS: usize = 3;
const MAX_MEASURES: usize = 16;
/// Rounds of the walk.
const N_WALKED: usize = 32;

/// A number, and what it was on a walk.
struct Measure {
    term: TermId,
    seen: Vec<u128>,
}

impl Measure {
    /// Whether the walk allows that it falls on some of these ways and rises on none; `on` says which way each round went.
    fn may_fall(&self, left: &[usize], on: &[usize]) -> bool {
        self.seen.windows(2).zip(on).filter(|(_, way)| left.contains(way)).all(|(pair, _)| pair[1] <= pair[0])
    }
}

impl Judge<'_, '_, '_> {
    /// The measures, in order, that show that no input goes round for ever. Only where all ways are known.
    pub fn ranking(&mut self) -> Option<Vec<TermId>> {
        if self.round.rest != Rest::Leaves {
            return None;
        }
        let (measures, on) = self.measured();
        let mut left: Vec<usize> = (0..self.round.ways.len()).collect();
        let mut ranking = Vec::new();
        for _ in 0..MAX_LEVELS {
            let mut best: Option<(TermId, Vec<usize>)> = None;
            for measure in measures.iter().filter(|measure| measure.may_fall(&left, &on)) {
                let Some(rest) = self.not_falling(measure.term, &left).ok()? else { continue };
                if rest.len() < best.as_ref().map_or(left.len(), |(_, rest)| rest.len()) {
                    let is_all = rest.is_empty();
                    best = Some((measure.term, rest));
                    if is_all {
                        break;
                    }
                }
            }
            let (measure, rest) = best?;
            ranking.push(measure);
            left = rest;
            if left.is_empty() {
                return Some(ranking);
            }
        }
        None
    }

    /// The ways on which a measure does not fall; `None` if it may rise on one of them, `Err` where that is too hard to tell.
    fn not_falling(&mut self, measure: TermId, ways: &[usize]) -> Result<Option<Vec<usize>>, ()> {
        let mut rest = Vec::new();
        for idx in ways {
            let way: &Way = &self.round.ways[*idx];
            let terms = &mut self.means.machine.terms;
            let Some(after) = self.round.after(terms, way, measure) else { return Ok(None) };
            let taken = all_of(terms, &way.conds);
            let (falls, rises) = (terms.ult(after, measure), terms.ult(measure, after));
            let stays_or_rises = terms.not(falls);
            let (bad, worse) = (terms.and(taken, stays_or_rises), terms.and(taken, rises));
            if self.ask(bad)?.is_none() {
                continue;
            }
            if self.ask(worse)?.is_some() {
                return Ok(None);
            }
            rest.push(*idx);
        }
        Ok(Some(rest))
    }

    /// The measures with their values on a walk, and which way each round of it went.
    fn measured(&mut self) -> (Vec<Measure>, Vec<usize>) {
        let input = self.round.with_start(&self.round.stem.input, self.means);
        let trace = simulate(self.round, &input, N_WALKED, self.means);
        let terms = self.measures();
        let mut seen = vec![Vec::new(); terms.len()];
        for values in &trace.values {
            let here = with_values(self.round, &input, values, &self.means.machine.terms);
            for (seen, t) in seen.iter_mut().zip(&terms) {
                seen.push(self.means.eval.eval(&self.means.machine.terms, &here, *t));
            }
        }
        let measures = terms.into_iter().zip(seen).map(|(term, seen)| Measure { term, seen }).collect();
        (measures, trace.ways)
    }

    fn measures(&mut self) -> Vec<TermId> {
        let terms = &mut self.means.machine.terms;
        let mut measures = Vec::new();
        for cond in self.round.ways.iter().flat_map(|way| way.conds.iter()) {
            let inner = match terms.view(*cond) {
                View::Not(inner) => inner,
                _ => *cond,
            };
            if let View::Ult(a, b) | View::Slt(a, b) | View::Eq(a, b) = terms.view(inner)
                && terms.width(a) > 1
            {
                measures.push(terms.sub(b, a));
                measures.push(terms.sub(a, b));
            }
        }
        for (_, cell) in self.round.relevant_cells().collect::<Vec<_>>() {
            measures.push(cell.symbol);
            let sign = terms.constant(term::fold::sign_bit(cell.bits), cell.bits);
            measures.push(terms.xor(cell.symbol, sign));
            measures.push(terms.neg(cell.symbol));
            measures.push(terms.not(cell.symbol));
        }
        let mut seen = FxHashSet::default();
        measures.retain(|measure| !terms.is_const(*measure) && seen.insert(*measure));
        measures.truncate(MAX_MEASURES);
        measures
    }
}
