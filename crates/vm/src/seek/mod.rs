//! Searching a pile of layers: the first byte, or the last, in some reach that is one of some.

mod byte;
mod mismatch;
mod old;
mod tally;
mod text;

use std::rc::Rc;

pub(crate) use self::mismatch::{From, Until};
use term::{Assignment, Eval, Replacement, SymbolId, TermId};

use crate::layers::{Layers, Mapped, Over, Zeros};
use crate::run::Machine;

/// Layers looked at for one search: one that would look at more is left to the program's own loop.
const MAX_LOOKS: u32 = 400;
/// What is searched for.
pub enum Stops {
    /// Bytes, as terms.
    Listed {
        bytes: Vec<TermId>,
        sense: Sense,
    },
    Set(Box<[bool; 256]>),
    /// Bytes for which a condition on a symbol that stands for them does not hold.
    Where {
        byte: SymbolId,
        stays: TermId,
    },
}

/// Which bytes end a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// Those listed.
    In,
    /// All but those.
    NotIn,
}

/// Where a search ends.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The offset; where there is nothing, the end of what was searched.
    pub at: TermId,
    /// Whether it ends there because nobody wrote that byte.
    pub is_lost: TermId,
    /// The byte that stands there, if something was found.
    pub byte: TermId,
}

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub from: TermId,
    pub to: TermId,
    pub limit: Limit,
}

/// What the end of a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The end of the object: all layers end there or before, since every copy was checked.
    Object,
    Place,
}

/// A search that takes too much.
pub struct TooMuch;

/// Which of the bytes that end a search is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    Last,
}

/// Where something may be found that lies on something else.
#[derive(Clone, Copy)]
enum Part {
    Before,
    Within,
    Behind,
}

impl Machine<'_> {
    /// Remembers which byte stands where a search that goes to the end of its object ends.
    pub(crate) fn remember_found(&mut self, pile: &Rc<Layers>, found: &Found) {
        if self.terms.is_false(found.is_lost) && !self.terms.is_const(found.at) {
            let known = (Rc::clone(pile), found.byte);
            let key = (Rc::as_ptr(pile) as usize, found.at, self.spans.positions.known_id());
            self.spans.found.insert(key, known);
        }
    }

    /// The first or the last byte in `from..to` that ends a search.
    pub(crate) fn seek(
        &mut self,
        layers: &Layers,
        reach: Reach,
        stops: &Stops,
        which: Which,
        looks: &mut u32,
    ) -> Result<Found, TooMuch> {
        let Reach { from, to, .. } = reach;
        *looks += 1;
        if *looks > MAX_LOOKS {
            return Err(TooMuch);
        }
        let nothing = self.nothing(to);
        let is_open = self.before(from, to);
        if self.terms.is_false(is_open) {
            return Ok(nothing);
        }
        match (layers, which) {
            (Layers::Zero, _) => {
                let zero = self.terms.byte_constant(0);
                let is_stop = self.is_stop(zero, Zeros::Some, stops);
                let is_hit = self.terms.and(is_open, is_stop);
                let one = self.terms.constant(1, 64);
                let here = if which == Which::First { from } else { self.terms.sub(to, one) };
                Ok(Found { at: self.terms.ite(is_hit, here, to), ..nothing })
            }
            (Layers::Text(text), Which::First) => Ok(self.first_in_text(text, (from, to), stops)),
            (Layers::Text(text), Which::Last) => Ok(self.last_in_text(text, (from, to), stops)),
            (Layers::Was(object), _) => match (object.layers(), which) {
                (None, Which::First) => self.first_in_old(object, (from, to), stops),
                (None, Which::Last) => self.last_in_old(object, (from, to), stops),
                (Some(layers), _) => {
                    let layers = self.with_own_bytes(object, Rc::clone(layers));
                    self.seek(&layers, reach, stops, which, looks)
                }
            },
            (Layers::Over(over), _) => self.seek_over(over, reach, stops, which, looks),
            (Layers::Mapped(mapped), _) => {
                let stops = self.stops_before(mapped, stops);
                let found = self.seek(&mapped.of, reach, &stops, which, looks)?;
                Ok(Found { byte: self.mapped_byte(mapped, found.byte), ..found })
            }
        }
    }

    /// Which bytes of the pile below become one that ends a search.
    fn stops_before(&mut self, mapped: &Mapped, stops: &Stops) -> Stops {
        let is_stop = self.is_stop(mapped.value, Zeros::Some, stops);
        match self.set_where(mapped.byte, is_stop) {
            Some(set) => Stops::Set(set),
            None => Stops::Where { byte: mapped.byte, stays: self.terms.not(is_stop) },
        }
    }

    /// The bytes for which a condition holds. `None` where it speaks of something else, too.
    pub(crate) fn set_where(&self, byte: SymbolId, cond: TermId) -> Option<Box<[bool; 256]>> {
        if self.terms.symbols(cond).iter().any(|symbol| *symbol != byte) {
            return None;
        }
        let (mut eval, mut input) = (Eval::new(), Assignment::new());
        let mut set = Box::new([false; 256]);
        for (value, is_in) in (0..256).zip(set.iter_mut()) {
            input.set(byte, value);
            *is_in = eval.holds(&self.terms, &input, cond);
        }
        Some(set)
    }

    fn before(&mut self, a: TermId, b: TermId) -> TermId {
        self.spans.positions.less(&mut self.terms, a, b)
    }

    /// What lies before the layer, in it, and behind it, one after the other, or the other way round.
    fn seek_over(
        &mut self,
        over: &Over,
        reach: Reach,
        stops: &Stops,
        which: Which,
        looks: &mut u32,
    ) -> Result<Found, TooMuch> {
        let parts = match which {
            Which::First => [Part::Before, Part::Within, Part::Behind],
            Which::Last => [Part::Behind, Part::Within, Part::Before],
        };
        let mut all = Vec::new();
        for part in parts {
            let (is_here, found) = self.seek_part(over, part, reach, stops, which, looks)?;
            all.push((is_here, found));
            if self.terms.is_true(is_here) {
                break;
            }
        }
        let mut found = self.nothing(reach.to);
        for (is_here, here) in all.into_iter().rev() {
            found = self.either(is_here, here, found);
        }
        Ok(found)
    }

    /// Whether there is something in a part, and where.
    fn seek_part(
        &mut self,
        over: &Over,
        part: Part,
        reach: Reach,
        stops: &Stops,
        which: Which,
        looks: &mut u32,
    ) -> Result<(TermId, Found), TooMuch> {
        let Reach { from, to, limit } = reach;
        let place = |from: TermId, to: TermId| Reach { from, to, limit: Limit::Place };
        let end = self.terms.add(over.at, over.len);
        let Machine { spans, terms, .. } = self;
        let positions = &spans.positions;
        let (to_layer, to_end) = match limit {
            Limit::Object => (over.at, end),
            Limit::Place => (positions.min(terms, to, over.at), positions.min(terms, to, end)),
        };
        match part {
            Part::Before => {
                let found = self.seek(&over.below, place(from, to_layer), stops, which, looks)?;
                Ok((self.before(found.at, to_layer), found))
            }
            Part::Within => {
                let in_layer = positions.max(terms, from, over.at);
                let shift = terms.sub(over.from, over.at);
                let (inner_from, inner_to) = (terms.add(in_layer, shift), terms.add(to_end, shift));
                let is_in_layer = self.before(in_layer, to_end);
                let found = match self.terms.is_false(is_in_layer) {
                    true => self.nothing(inner_to),
                    false => self.seek(&over.above, place(inner_from, inner_to), stops, which, looks)?,
                };
                let found = Found { at: self.terms.sub(found.at, shift), ..found };
                let is_within = self.before(found.at, to_end);
                // Where the layer is not reached there is nothing in it.
                Ok((self.terms.and(is_in_layer, is_within), found))
            }
            Part::Behind => {
                let behind = positions.max(terms, from, end);
                let found = self.seek(&over.below, Reach { from: behind, to, limit }, stops, which, looks)?;
                // Looked at last, it is the answer even where nothing is there: then it ends where the reach does.
                let is_behind = if which == Which::First { self.terms.tru() } else { self.before(found.at, to) };
                Ok((is_behind, found))
            }
        }
    }

    fn nothing(&self, to: TermId) -> Found {
        Found { at: to, is_lost: self.terms.fls(), byte: self.terms.byte_constant(0) }
    }

    fn either(&mut self, cond: TermId, a: Found, b: Found) -> Found {
        Found {
            at: self.terms.ite(cond, a.at, b.at),
            is_lost: self.terms.ite(cond, a.is_lost, b.is_lost),
            byte: self.terms.ite(cond, a.byte, b.byte),
        }
    }

    /// `offset` where the search comes there and ends there, else what was found already.
    fn seen_at(
        &mut self,
        offset: u64,
        byte: TermId,
        zeros: Zeros,
        stops: &Stops,
        (from, to): (TermId, TermId),
        found: Found,
    ) -> Found {
        let is_stop = self.is_stop(byte, zeros, stops);
        if self.terms.is_false(is_stop) {
            return found;
        }
        let here = self.terms.constant(u128::from(offset), 64);
        let is_early = self.before(here, from);
        let is_reached = self.terms.not(is_early);
        let is_inside = self.before(here, to);
        let is_reached = self.terms.and(is_reached, is_inside);
        let is_hit = self.terms.and(is_reached, is_stop);
        let this = Found { at: here, byte, is_lost: self.terms.fls() };
        self.either(is_hit, this, found)
    }

    /// Whether a byte ends the search.
    fn is_stop(&mut self, byte: TermId, zeros: Zeros, stops: &Stops) -> TermId {
        match stops {
            Stops::Listed { bytes, sense } => {
                let mut is_listed = self.terms.fls();
                for stop in bytes {
                    if zeros == Zeros::None && self.terms.as_const(*stop) == Some(0) {
                        continue;
                    }
                    let is_this = self.terms.eq(byte, *stop);
                    is_listed = self.terms.or(is_listed, is_this);
                }
                match sense {
                    Sense::In => is_listed,
                    Sense::NotIn => self.terms.not(is_listed),
                }
            }
            Stops::Set(set) => self.is_member(byte, zeros, set),
            Stops::Where { byte: symbol, stays } => {
                let mut replaced = Replacement::default();
                replaced.bind(*symbol, byte);
                match replaced.apply(&mut self.terms, *stays) {
                    Some(stays) => self.terms.not(stays),
                    // Too deep to be said: the search ends there.
                    None => self.terms.tru(),
                }
            }
        }
    }

    fn is_member(&mut self, byte: TermId, zeros: Zeros, set: &[bool; 256]) -> TermId {
        if let Some(byte) = self.terms.as_const(byte) {
            return if set[byte as usize] { self.terms.tru() } else { self.terms.fls() };
        }
        let least = usize::from(zeros == Zeros::None);
        if set[least..].iter().all(|is_stop| *is_stop) {
            return self.terms.tru();
        }
        let mut is_stop = self.terms.fls();
        let mut at = least;
        while at < 256 {
            if !set[at] {
                at += 1;
                continue;
            }
            let end = (at..256).find(|idx| !set[*idx]).unwrap_or(256);
            let (first, last) = (self.terms.byte_constant(at as u8), self.terms.byte_constant((end - 1 - at) as u8));
            let inner = self.terms.sub(byte, first);
            let is_here = self.terms.ule(inner, last);
            is_stop = self.terms.or(is_stop, is_here);
            at = end;
        }
        is_stop
    }
}
