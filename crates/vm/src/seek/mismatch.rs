//! Comparing piles: the first place where two differ, and the first where a known text stands.
//!
//! Between the places where its layers begin and end, a pile has bytes that repeat, two at most. So if two piles differ behind such a place, they do at
//! the place itself or right behind it, and a text that stands somewhere begins near one. A few places are all there is to look at.

use std::rc::Rc;

use term::TermId;

use super::TooMuch;
use crate::layers::{Layers, Mapped, Over};
use crate::run::Machine;

/// Places that are looked at for one comparison.
const MAX_PLACES: usize = 160;
/// Bytes that are compared for one search of a text.
const MAX_COMPARED: usize = 1_500;

/// A pile from an offset on.
#[derive(Clone)]
pub(crate) struct From {
    pub pile: Rc<Layers>,
    pub at: TermId,
}

/// Where two piles differ, and what stands there.
pub(crate) struct Mismatch {
    pub at: TermId,
    pub bytes: [TermId; 2],
    /// All bytes that were compared.
    pub seen: Vec<TermId>,
}

/// Where a comparison ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Difference,
    /// Or a zero.
    Zero,
}

impl Machine<'_> {
    /// The first place below `len` where two piles differ; `len` itself, and zeros, where they do not.
    pub(crate) fn mismatch(&mut self, a: &From, b: &From, len: TermId, until: Until) -> Result<Mismatch, TooMuch> {
        let mut places = Vec::new();
        for from in [a, b] {
            self.add_places(from, len, &mut places)?;
        }
        let zero = self.terms.byte_constant(0);
        let mut found = Mismatch { at: len, bytes: [zero, zero], seen: Vec::new() };
        for place in self.in_order(places, 0..2)? {
            let is_reached = self.spans.positions.less_number(&mut self.terms, place, found.at);
            if self.terms.is_false(is_reached) {
                continue;
            }
            let [x, y] = [a, b].map(|from| {
                let at = self.terms.add(from.at, place);
                self.layer_byte(&from.pile, at)
            });
            found.seen.extend([x, y]);
            let mut ends = self.terms.ne(x, y);
            if until == Until::Zero {
                let is_zero = self.terms.eq(x, zero);
                ends = self.terms.or(ends, is_zero);
            }
            let is_here = self.terms.and(is_reached, ends);
            found.at = self.terms.ite(is_here, place, found.at);
            found.bytes = [self.terms.ite(is_here, x, found.bytes[0]), self.terms.ite(is_here, y, found.bytes[1])];
        }
        Ok(found)
    }

    /// The first place where a text stands within `len` bytes; `len` where it does not. And all bytes that were compared.
    pub(crate) fn place_of(&mut self, from: &From, len: TermId, text: &[u8]) -> Result<(TermId, Vec<TermId>), TooMuch> {
        let mut places = Vec::new();
        self.add_places(from, len, &mut places)?;
        let places = self.in_order(places, 1 - text.len() as i64..2)?;
        if places.len() * text.len() > MAX_COMPARED {
            return Err(TooMuch);
        }
        let n_text = self.terms.constant(text.len() as u128, 64);
        let has_room = self.terms.ule(n_text, len);
        let last = self.terms.sub(len, n_text);
        let (mut found, mut seen) = (len, Vec::new());
        for place in places {
            let is_beyond = self.spans.positions.less_number(&mut self.terms, last, place);
            let fits = self.terms.not(is_beyond);
            let is_earlier = self.spans.positions.less_number(&mut self.terms, place, found);
            let mut is_here = self.terms.and(has_room, fits);
            is_here = self.terms.and(is_here, is_earlier);
            for (idx, byte) in text.iter().enumerate() {
                if self.terms.is_false(is_here) {
                    break;
                }
                let step = self.terms.constant(idx as u128, 64);
                let at = self.terms.add(place, step);
                let at = self.terms.add(from.at, at);
                let there = self.layer_byte(&from.pile, at);
                seen.push(there);
                let byte = self.terms.byte_constant(*byte);
                let is_same = self.terms.eq(there, byte);
                is_here = self.terms.and(is_here, is_same);
            }
            found = self.terms.ite(is_here, place, found);
        }
        Ok((found, seen))
    }

    /// The places and what lies beside them, each once, those that are known from the last to the first.
    fn in_order(&mut self, places: Vec<TermId>, beside: std::ops::Range<i64>) -> Result<Vec<TermId>, TooMuch> {
        let mut all = Vec::new();
        for place in places {
            for step in beside.clone() {
                let step = self.terms.constant(u128::from(step as u64), 64);
                all.push(self.terms.add(place, step));
            }
        }
        all.sort_unstable_by_key(|place| (self.terms.as_const(*place).map(|at| u128::MAX - at), place.raw()));
        all.dedup();
        if all.len() > MAX_PLACES { Err(TooMuch) } else { Ok(all) }
    }

    /// Where something begins or ends that lies `len` bytes from `from` on, counted from there.
    fn add_places(&mut self, from: &From, len: TermId, places: &mut Vec<TermId>) -> Result<(), TooMuch> {
        places.push(self.terms.constant(0, 64));
        let end = self.terms.add(from.at, len);
        self.add_layer_places(&from.pile, from.at, (from.at, end), places)
    }

    /// The places of a pile whose bytes `range.0..range.1` are looked at; `start` is the offset that they are counted from.
    fn add_layer_places(
        &mut self,
        layers: &Layers,
        start: TermId,
        range: (TermId, TermId),
        places: &mut Vec<TermId>,
    ) -> Result<(), TooMuch> {
        if places.len() > MAX_PLACES {
            return Err(TooMuch);
        }
        let (least, _) = self.spans.positions.range(&self.terms, range.0);
        let (_, most) = self.spans.positions.range(&self.terms, range.1);
        match layers {
            Layers::Zero => {}
            Layers::Text(text) => {
                for idx in least.min(text.prefix.len() as u64)..=text.prefix.len() as u64 {
                    let here = self.terms.constant(u128::from(idx), 64);
                    places.push(self.terms.sub(here, start));
                }
            }
            Layers::Mapped(Mapped { of, .. }) => self.add_layer_places(of, start, range, places)?,
            Layers::Was(object) => match object.layers() {
                Some(layers) => {
                    let layers = self.with_own_bytes(object, Rc::clone(layers));
                    self.add_layer_places(&layers, start, range, places)?;
                }
                None => {
                    let range = least.min(object.size)..most.min(object.size);
                    let is_few = range.end.saturating_sub(range.start) < MAX_PLACES as u64;
                    if range.start < range.end && (!is_few || !object.is_written(range.clone())) {
                        return Err(TooMuch);
                    }
                    for idx in range.start..=range.end.max(range.start) {
                        let here = self.terms.constant(u128::from(idx), 64);
                        places.push(self.terms.sub(here, start));
                    }
                }
            },
            Layers::Over(Over { below, above, at, from, len }) => {
                let end = self.terms.add(*at, *len);
                for place in [*at, end] {
                    places.push(self.terms.sub(place, start));
                }
                self.add_layer_places(below, start, range, places)?;
                let shift = self.terms.sub(*from, *at);
                let start = self.terms.add(start, shift);
                let Machine { spans, terms, .. } = self;
                let inner_from = spans.positions.max(terms, range.0, *at);
                let inner_to = spans.positions.min(terms, range.1, end);
                let inner = (terms.add(inner_from, shift), terms.add(inner_to, shift));
                self.add_layer_places(above, start, inner, places)?;
            }
        }
        Ok(())
    }
}
