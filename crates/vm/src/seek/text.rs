//! Searching bytes that repeat without end.

use term::TermId;

use super::{Found, Stops};
use crate::layers::Text;
use crate::run::Machine;

impl Machine<'_> {
    pub(super) fn first_in_text(&mut self, text: &Text, (from, to): (TermId, TermId), stops: &Stops) -> Found {
        let n_prefix = text.prefix.len() as u64;
        let start = self.terms.constant(u128::from(n_prefix), 64);
        let mut found = self.nothing(to);
        // Behind the prefix: the first of the bytes that repeat, or none at all.
        let first = self.spans.positions.max(&mut self.terms, from, start);
        for step in (0..text.repeat.len() as u64).rev() {
            let step = self.terms.constant(u128::from(step), 64);
            let here = self.terms.add(first, step);
            let byte = self.repeated(text, here);
            let is_stop = self.is_stop(byte, text.zeros, stops);
            let is_inside = self.before(here, to);
            let is_hit = self.terms.and(is_inside, is_stop);
            let this = Found { at: here, byte, ..found };
            found = self.either(is_hit, this, found);
        }
        let (least, _) = self.spans.positions.range(&self.terms, from);
        for idx in (least.min(n_prefix)..n_prefix).rev() {
            found = self.seen_at(idx, text.prefix[idx as usize], text.zeros, stops, (from, to), found);
        }
        found
    }

    pub(super) fn last_in_text(&mut self, text: &Text, (from, to): (TermId, TermId), stops: &Stops) -> Found {
        let n_prefix = text.prefix.len() as u64;
        let mut found = self.nothing(to);
        for idx in 0..n_prefix {
            found = self.seen_at(idx, text.prefix[idx as usize], text.zeros, stops, (from, to), found);
        }
        let start = self.terms.constant(u128::from(n_prefix), 64);
        let first = self.spans.positions.max(&mut self.terms, from, start);
        for step in (1..=text.repeat.len() as u64).rev() {
            let step = self.terms.constant(u128::from(step), 64);
            let here = self.terms.sub(to, step);
            // `to` may be less than the step.
            let least = self.terms.add(first, step);
            let is_early = self.terms.ult(to, least);
            let is_inside = self.terms.not(is_early);
            let byte = self.repeated(text, here);
            let is_stop = self.is_stop(byte, text.zeros, stops);
            let is_hit = self.terms.and(is_inside, is_stop);
            let this = Found { at: here, byte, ..found };
            found = self.either(is_hit, this, found);
        }
        found
    }
}
