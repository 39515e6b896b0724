//! Whether a cycle is known to end: a number that falls with every round and cannot fall for ever.
//!
//! The numbers are bit-vectors under the unsigned order, which has no endless descent, whatever wraps around. Tried are cells,
//! their negations, and the distance of the two sides of every comparison; where one of them falls on some ways and
//! never rises on the others, it is left to a second one to deal with those (a lexicographic order).

use rustc_hash::FxHashSet;
use term::{TermId, View};

use super::round::{Rest, Way, all_of};
use super::sets::Judge;

const MAX_LEVELS: usize = 3;
const MAX_MEASURES: usize = 12;

impl Judge<'_, '_, '_> {
    /// The measures, in order, that show that no input goes round for ever. Only where all ways are known.
    pub fn ranking(&mut self) -> Option<Vec<TermId>> {
        if self.round.rest != Rest::Leaves {
            return None;
        }
        let measures = self.measures();
        let mut left: Vec<Way> = self.round.ways.clone();
        let mut ranking = Vec::new();
        for _ in 0..MAX_LEVELS {
            let mut best: Option<(TermId, Vec<Way>)> = None;
            for measure in &measures {
                let Some(rest) = self.not_falling(*measure, &left) else { continue };
                if rest.len() < best.as_ref().map_or(left.len(), |(_, rest)| rest.len()) {
                    best = Some((*measure, rest));
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

    /// The ways on which a measure does not fall; `None` if it may rise on one of them.
    fn not_falling(&mut self, measure: TermId, ways: &[Way]) -> Option<Vec<Way>> {
        let mut rest = Vec::new();
        for way in ways {
            let terms = &mut self.means.machine.terms;
            let after = self.round.after(terms, way, measure)?;
            let taken = all_of(terms, &way.conds);
            let (falls, rises) = (terms.ult(after, measure), terms.ult(measure, after));
            let stays_or_rises = terms.not(falls);
            let (bad, worse) = (terms.and(taken, stays_or_rises), terms.and(taken, rises));
            if self.never(bad) {
                continue;
            }
            if !self.never(worse) {
                return None;
            }
            rest.push(way.clone());
        }
        Some(rest)
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
            let sign = terms.constant(term::fold::sign_bit(cell.spot.bits()), cell.spot.bits());
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
