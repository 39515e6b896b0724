//! Counting in a pile: how many bytes in some reach are of some kind.

use std::rc::Rc;

use term::TermId;

use super::{MAX_LOOKS, TooMuch};
use crate::Object;
use crate::layers::{Layers, Mapped, Over, Text, Zeros};
use crate::run::Machine;

/// Bytes of an object that are looked at one by one.
const MAX_BYTES: u64 = 1 << 11;

impl Machine<'_> {
    /// How many bytes in `from..to` are in the set.
    pub(crate) fn tally(
        &mut self,
        layers: &Layers,
        (from, to): (TermId, TermId),
        set: &[bool; 256],
        looks: &mut u32,
    ) -> Result<TermId, TooMuch> {
        *looks += 1;
        if *looks > MAX_LOOKS {
            return Err(TooMuch);
        }
        let zero = self.terms.constant(0, 64);
        let is_open = self.before(from, to);
        if self.terms.is_false(is_open) {
            return Ok(zero);
        }
        match layers {
            Layers::Zero if set[0] => Ok(self.distance(from, to)),
            Layers::Zero => Ok(zero),
            Layers::Text(text) => Ok(self.tally_text(text, (from, to), set)),
            Layers::Was(object) => match object.layers() {
                None => self.tally_old(object, (from, to), set),
                Some(layers) => {
                    let layers = self.with_own_bytes(object, Rc::clone(layers));
                    self.tally(&layers, (from, to), set, looks)
                }
            },
            Layers::Mapped(mapped) => {
                let set = self.set_before(mapped, set).ok_or(TooMuch)?;
                self.tally(&mapped.of, (from, to), &set, looks)
            }
            Layers::Over(Over { below, above, at, from: inner, len }) => {
                let end = self.terms.add(*at, *len);
                let Machine { spans, terms, .. } = self;
                let positions = &spans.positions;
                let (to_layer, to_end) = (positions.min(terms, to, *at), positions.min(terms, to, end));
                let (in_layer, behind) = (positions.max(terms, from, *at), positions.max(terms, from, end));
                let shift = terms.sub(*inner, *at);
                let (inner_from, inner_to) = (terms.add(in_layer, shift), terms.add(to_end, shift));
                let before = self.tally(below, (from, to_layer), set, looks)?;
                let is_reached = self.before(in_layer, to_end);
                let within = match self.terms.is_false(is_reached) {
                    true => zero,
                    false => self.tally(above, (inner_from, inner_to), set, looks)?,
                };
                let within = self.terms.ite(is_reached, within, zero);
                let after = self.tally(below, (behind, to), set, looks)?;
                let sum = self.terms.add(before, within);
                Ok(self.terms.add(sum, after))
            }
        }
    }

    /// How many bytes there are, where there are any.
    fn distance(&mut self, from: TermId, to: TermId) -> TermId {
        let is_open = self.before(from, to);
        let (distance, zero) = (self.terms.sub(to, from), self.terms.constant(0, 64));
        self.terms.ite(is_open, distance, zero)
    }

    fn tally_text(&mut self, text: &Text, (from, to): (TermId, TermId), set: &[bool; 256]) -> TermId {
        let start = self.terms.constant(text.prefix.len() as u128, 64);
        let first = self.spans.positions.max(&mut self.terms, from, start);
        let n_behind = self.distance(first, to);
        let zero = self.terms.constant(0, 64);
        let mut sum = zero;
        let one = self.terms.constant(1, 64);
        let n_repeated = text.repeat.len() as u64;
        for step in 0..n_repeated {
            let step_term = self.terms.constant(u128::from(step), 64);
            let here = self.terms.add(first, step_term);
            let byte = self.repeated(text, here);
            let is_in = self.is_member(byte, text.zeros, set);
            let times = match (n_repeated, step) {
                (1, _) => n_behind,
                (_, 0) => {
                    let more = self.terms.add(n_behind, one);
                    self.terms.lshr(more, one)
                }
                _ => self.terms.lshr(n_behind, one),
            };
            let here = self.terms.ite(is_in, times, zero);
            sum = self.terms.add(sum, here);
        }
        for (idx, byte) in text.prefix.iter().enumerate() {
            sum = self.tally_byte(idx as u64, *byte, text.zeros, (from, to), set, sum);
        }
        sum
    }

    /// One more where a byte lies in reach and in the set.
    fn tally_byte(
        &mut self,
        offset: u64,
        byte: TermId,
        zeros: Zeros,
        (from, to): (TermId, TermId),
        set: &[bool; 256],
        sum: TermId,
    ) -> TermId {
        let is_in = self.is_member(byte, zeros, set);
        let here = self.terms.constant(u128::from(offset), 64);
        let is_early = self.before(here, from);
        let is_reached = self.terms.not(is_early);
        let is_inside = self.before(here, to);
        let is_reached = self.terms.and(is_reached, is_inside);
        let counts = self.terms.and(is_reached, is_in);
        let (one, zero) = (self.terms.constant(1, 64), self.terms.constant(0, 64));
        let more = self.terms.ite(counts, one, zero);
        self.terms.add(sum, more)
    }

    fn tally_old(
        &mut self,
        object: &Rc<Object>,
        (from, to): (TermId, TermId),
        set: &[bool; 256],
    ) -> Result<TermId, TooMuch> {
        let (least, _) = self.spans.positions.range(&self.terms, from);
        let (_, most) = self.spans.positions.range(&self.terms, to);
        let most = most.min(object.size);
        let range = least.min(most)..most;
        if range.end - range.start > MAX_BYTES || !object.is_written(range.clone()) {
            return Err(TooMuch);
        }
        let mut sum = self.terms.constant(0, 64);
        for offset in range {
            let byte = object.byte_term(&mut self.terms, offset);
            sum = self.tally_byte(offset, byte, Zeros::Some, (from, to), set, sum);
        }
        Ok(sum)
    }

    /// Which bytes of the pile below become one of the set. `None` where that depends on more than the byte.
    fn set_before(&mut self, mapped: &Mapped, set: &[bool; 256]) -> Option<Box<[bool; 256]>> {
        let is_in = self.is_member(mapped.value, Zeros::Some, set);
        self.set_where(mapped.byte, is_in)
    }
}
