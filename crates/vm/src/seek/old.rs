//! Searching what an object held.

use std::ops::Range;
use std::rc::Rc;

use term::TermId;

use super::{Found, Stops, TooMuch};
use crate::Object;
use crate::layers::Zeros;
use crate::run::Machine;

/// Bytes of an object that are looked at one by one.
const MAX_BYTES: u64 = 1 << 17;

/// Bytes of an object that are alike.
enum Run {
    Stops(Range<u64>),
    Unwritten(Range<u64>),
    Byte(u64, TermId),
}

impl Machine<'_> {
    pub(super) fn first_in_old(
        &mut self,
        object: &Rc<Object>,
        (from, to): (TermId, TermId),
        stops: &Stops,
    ) -> Result<Found, TooMuch> {
        let (least, _) = self.spans.positions.range(&self.terms, from);
        let (_, most) = self.spans.positions.range(&self.terms, to);
        let most = most.min(object.size);
        if most.saturating_sub(least) > MAX_BYTES {
            return Err(TooMuch);
        }
        let is_certain = self.terms.is_const(from);
        let runs = self.runs(object, least..most, stops, is_certain);
        let mut found = self.nothing(to);
        for run in runs.into_iter().rev() {
            match run {
                Run::Byte(offset, byte) => {
                    found = self.seen_at(offset, byte, Zeros::Some, stops, (from, to), found);
                }
                Run::Stops(run) => found = self.stop_in(object, run, (from, to), found, self.terms.fls()),
                Run::Unwritten(run) => found = self.stop_in(object, run, (from, to), found, self.terms.tru()),
            }
        }
        Ok(found)
    }

    pub(super) fn last_in_old(
        &mut self,
        object: &Rc<Object>,
        (from, to): (TermId, TermId),
        stops: &Stops,
    ) -> Result<Found, TooMuch> {
        let (least, _) = self.spans.positions.range(&self.terms, from);
        let (_, most) = self.spans.positions.range(&self.terms, to);
        let most = most.min(object.size);
        if most.saturating_sub(least) > MAX_BYTES {
            return Err(TooMuch);
        }
        let one = self.terms.constant(1, 64);
        let mut found = self.nothing(to);
        for run in self.runs(object, least..most, stops, false) {
            let (run, is_stop, is_lost) = match run {
                Run::Byte(offset, byte) => {
                    (offset..offset + 1, self.is_stop(byte, Zeros::Some, stops), self.terms.fls())
                }
                Run::Stops(run) => (run, self.terms.tru(), self.terms.fls()),
                Run::Unwritten(run) => (run, self.terms.tru(), self.terms.tru()),
            };
            let start = self.terms.constant(u128::from(run.start), 64);
            let end = self.terms.constant(u128::from(run.end), 64);
            let Machine { spans, terms, .. } = self;
            let first = spans.positions.max(terms, from, start);
            let behind = spans.positions.min(terms, to, end);
            let is_reached = self.before(first, behind);
            let is_hit = self.terms.and(is_reached, is_stop);
            let last = self.terms.sub(behind, one);
            let byte = self.terms.byte_constant(0);
            found = self.either(is_hit, Found { at: last, is_lost, byte }, found);
        }
        Ok(found)
    }

    /// Every byte of the run ends the search, so the first one that it comes to does.
    fn stop_in(
        &mut self,
        object: &Rc<Object>,
        run: Range<u64>,
        (from, to): (TermId, TermId),
        other: Found,
        is_lost: TermId,
    ) -> Found {
        let start = self.terms.constant(u128::from(run.start), 64);
        let end = self.terms.constant(u128::from(run.end), 64);
        let Machine { spans, terms, .. } = self;
        let first = spans.positions.max(terms, from, start);
        let last = spans.positions.min(terms, to, end);
        let is_hit = self.before(first, last);
        let byte = self.old_byte(object, first);
        self.either(is_hit, Found { at: first, is_lost, byte }, other)
    }

    /// Bytes of an object that a search may end at, in order. Where the search starts at the first of them for certain, those
    /// behind a certain end do not matter.
    fn runs(&mut self, object: &Object, range: Range<u64>, stops: &Stops, is_certain: bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for offset in range {
            if object.is_unwritten(offset) {
                match runs.last_mut() {
                    Some(Run::Unwritten(run)) if run.end == offset => run.end += 1,
                    _ => runs.push(Run::Unwritten(offset..offset + 1)),
                }
                if is_certain {
                    break;
                }
                continue;
            }
            let byte = object.byte_term(&mut self.terms, offset);
            let is_stop = self.is_stop(byte, Zeros::Some, stops);
            if self.terms.is_false(is_stop) {
                continue;
            }
            if !self.terms.is_true(is_stop) {
                runs.push(Run::Byte(offset, byte));
                continue;
            }
            match runs.last_mut() {
                Some(Run::Stops(run)) if run.end == offset => run.end += 1,
                _ => runs.push(Run::Stops(offset..offset + 1)),
            }
            if is_certain {
                break;
            }
        }
        runs
    }
}
