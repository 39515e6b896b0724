//! Reading a pile of layers: the byte at an offset, and the first byte from an offset on that is one of some.

use std::ops::Range;
use std::rc::Rc;

use term::TermId;

use crate::layers::{Layers, Over, Text, Zeros};
use crate::run::Machine;
use crate::{Object, inputs};

/// Layers looked at for one search: one that would look at more is left to the program's own loop.
const MAX_LOOKS: u32 = 400;
/// Bytes of an object that are looked at one by one.
const MAX_BYTES: u64 = 1 << 17;

/// What is searched for.
pub struct Stops {
    /// Bytes, as terms.
    pub bytes: Vec<TermId>,
    pub sense: Sense,
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

/// Bytes of an object that are alike.
enum Run {
    Stops(Range<u64>),
    Unwritten(Range<u64>),
    Byte(u64, TermId),
}

impl Machine<'_> {
    /// The byte of a pile at an offset.
    pub(crate) fn layer_byte(&mut self, layers: &Layers, index: TermId) -> TermId {
        match layers {
            Layers::Zero => self.terms.byte_constant(0),
            Layers::Text(text) => self.text_byte(text, index),
            Layers::Was(object) => self.old_byte(object, index),
            Layers::Over(Over { below, above, at, from, len }) => {
                let inner = self.terms.sub(index, *at);
                let is_before = self.spans.positions.less(&mut self.terms, index, *at);
                let end = self.terms.add(*at, *len);
                let is_inside = self.spans.positions.less(&mut self.terms, index, end);
                let is_after_start = self.terms.not(is_before);
                let is_inside = self.terms.and(is_after_start, is_inside);
                if self.terms.is_false(is_inside) {
                    return self.layer_byte(below, index);
                }
                let inner = self.terms.add(inner, *from);
                let here = self.layer_byte(above, inner);
                if self.terms.is_true(is_inside) {
                    return here;
                }
                let there = self.layer_byte(below, index);
                self.terms.ite(is_inside, here, there)
            }
        }
    }

    fn text_byte(&mut self, text: &Text, index: TermId) -> TermId {
        let n_prefix = text.prefix.len() as u64;
        if let Some(index) = self.terms.as_const(index) {
            return match text.prefix.get(index as usize) {
                Some(byte) => *byte,
                None => text.repeat[((index as u64 - n_prefix) % text.repeat.len() as u64) as usize],
            };
        }
        let start = self.terms.constant(u128::from(n_prefix), 64);
        let beyond = self.repeated(text, index);
        let is_prefix = self.spans.positions.less(&mut self.terms, index, start);
        if self.terms.is_false(is_prefix) {
            return beyond;
        }
        let table = self.terms.table(&text.prefix);
        let inside = self.terms.select(table, index);
        self.terms.ite(is_prefix, inside, beyond)
    }

    /// The byte of the part that repeats, at an offset that lies in it.
    fn repeated(&mut self, text: &Text, index: TermId) -> TermId {
        match *text.repeat {
            [one] => one,
            [even, odd, ..] => {
                let parity = self.terms.extract(index, 0, 0);
                let (even, odd) = if text.prefix.len() % 2 == 0 { (even, odd) } else { (odd, even) };
                self.terms.ite(parity, odd, even)
            }
            [] => self.terms.byte_constant(0),
        }
    }

    /// What an object held. Bytes nobody wrote are symbols that are known to be such.
    fn old_byte(&mut self, object: &Rc<Object>, index: TermId) -> TermId {
        if let Some(offset) = self.terms.as_const(index) {
            let offset = offset as u64;
            if offset >= object.size {
                return self.terms.byte_constant(0);
            }
            if let Some(layers) = object.layers_at(offset) {
                let layers = Rc::clone(layers);
                return self.layer_byte(&layers, index);
            }
            if object.is_unwritten(offset) {
                return self.unknown_byte(object, &offset.to_string());
            }
            return object.byte_term(&mut self.terms, offset);
        }
        if let Some(layers) = object.layers() {
            let layers = self.with_own_bytes(object, Rc::clone(layers));
            return self.layer_byte(&layers, index);
        }
        let runs = object.unwritten_in(0..object.size);
        let n_unwritten: u64 = runs.iter().map(|run| run.end - run.start).sum();
        let mut byte = match n_unwritten == object.size {
            true => self.terms.byte_constant(0),
            false => {
                let array = object.as_array(&mut self.terms);
                self.terms.select(array, index)
            }
        };
        for run in runs {
            let unknown = self.unknown_byte(object, &format!("[{}]", index.raw()));
            let is_in_run = self.is_within(index, &run);
            byte = self.terms.ite(is_in_run, unknown, byte);
        }
        byte
    }

    fn is_within(&mut self, index: TermId, run: &Range<u64>) -> TermId {
        let start = self.terms.constant(u128::from(run.start), 64);
        let len = self.terms.constant(u128::from(run.end - run.start), 64);
        let inner = self.terms.sub(index, start);
        self.terms.ult(inner, len)
    }

    /// A byte that nobody wrote.
    fn unknown_byte(&mut self, object: &Object, which: &str) -> TermId {
        let name = format!("{}{:x}+{which}", inputs::UNWRITTEN, object.base);
        let byte = self.terms.symbol(&name, 8);
        let symbols = self.terms.symbols(byte).to_vec();
        self.unwritten.extend(symbols);
        byte
    }

    /// A pile and, on top of it, the bytes that an object has in places of their own.
    pub(crate) fn with_own_bytes(&mut self, object: &Rc<Object>, layers: Rc<Layers>) -> Rc<Layers> {
        let own = object.own_runs();
        if own.is_empty() {
            return layers;
        }
        let was = Rc::new(Layers::Was(Rc::new(object.without_layers())));
        own.into_iter().fold(layers, |below, run| {
            let at = self.terms.constant(u128::from(run.start), 64);
            let len = self.terms.constant(u128::from(run.end - run.start), 64);
            Layers::over(below, at, Rc::clone(&was), at, len)
        })
    }

    /// The first byte in `from..to` that ends a search.
    pub(crate) fn seek(
        &mut self,
        layers: &Layers,
        reach: Reach,
        stops: &Stops,
        looks: &mut u32,
    ) -> Result<Found, TooMuch> {
        let Reach { from, to, .. } = reach;
        *looks += 1;
        if *looks > MAX_LOOKS {
            return Err(TooMuch);
        }
        let nothing = Found { at: to, is_lost: self.terms.fls() };
        let is_open = self.before(from, to);
        if self.terms.is_false(is_open) {
            return Ok(nothing);
        }
        match layers {
            Layers::Zero => {
                let zero = self.terms.byte_constant(0);
                let is_stop = self.is_stop(zero, Zeros::Some, stops);
                let is_hit = self.terms.and(is_open, is_stop);
                Ok(Found { at: self.terms.ite(is_hit, from, to), ..nothing })
            }
            Layers::Text(text) => Ok(self.seek_text(text, (from, to), stops)),
            Layers::Was(object) => match object.layers() {
                None => self.seek_old(object, (from, to), stops),
                Some(layers) => {
                    let layers = self.with_own_bytes(object, Rc::clone(layers));
                    self.seek(&layers, reach, stops, looks)
                }
            },
            Layers::Over(over) => self.seek_over(over, reach, stops, looks),
        }
    }

    fn before(&mut self, a: TermId, b: TermId) -> TermId {
        self.spans.positions.less(&mut self.terms, a, b)
    }

    /// What lies before the layer, in it, and behind it, one after the other.
    fn seek_over(&mut self, over: &Over, reach: Reach, stops: &Stops, looks: &mut u32) -> Result<Found, TooMuch> {
        let Reach { from, to, limit } = reach;
        let place = |from: TermId, to: TermId| Reach { from, to, limit: Limit::Place };
        let end = self.terms.add(over.at, over.len);
        let Machine { spans, terms, .. } = self;
        let positions = &spans.positions;
        let (to_layer, to_end) = match limit {
            Limit::Object => (over.at, end),
            Limit::Place => (positions.min(terms, to, over.at), positions.min(terms, to, end)),
        };
        let (in_layer, behind) = (positions.max(terms, from, over.at), positions.max(terms, from, end));
        let before = self.seek(&over.below, place(from, to_layer), stops, looks)?;
        let is_before = self.before(before.at, to_layer);
        if self.terms.is_true(is_before) {
            return Ok(before);
        }
        let shift = self.terms.sub(over.from, over.at);
        let (inner_from, inner_to) = (self.terms.add(in_layer, shift), self.terms.add(to_end, shift));
        let is_in_layer = self.before(in_layer, to_end);
        let within = match self.terms.is_false(is_in_layer) {
            true => Found { at: inner_to, is_lost: self.terms.fls() },
            false => self.seek(&over.above, place(inner_from, inner_to), stops, looks)?,
        };
        let within = Found { at: self.terms.sub(within.at, shift), ..within };
        let is_within = self.before(within.at, to_end);
        // Where the layer is not reached there is nothing in it.
        let is_within = self.terms.and(is_in_layer, is_within);
        let after = match self.terms.is_true(is_within) {
            true => within,
            false => self.seek(&over.below, Reach { from: behind, to, limit }, stops, looks)?,
        };
        let later = self.either(is_within, within, after);
        Ok(self.either(is_before, before, later))
    }

    fn either(&mut self, cond: TermId, a: Found, b: Found) -> Found {
        Found { at: self.terms.ite(cond, a.at, b.at), is_lost: self.terms.ite(cond, a.is_lost, b.is_lost) }
    }

    fn seek_text(&mut self, text: &Text, (from, to): (TermId, TermId), stops: &Stops) -> Found {
        let n_prefix = text.prefix.len() as u64;
        let start = self.terms.constant(u128::from(n_prefix), 64);
        let mut at = to;
        // Behind the prefix: the first of the bytes that repeat, or none at all.
        let first = self.spans.positions.max(&mut self.terms, from, start);
        for step in (0..text.repeat.len() as u64).rev() {
            let step = self.terms.constant(u128::from(step), 64);
            let here = self.terms.add(first, step);
            let byte = self.repeated(text, here);
            let is_stop = self.is_stop(byte, text.zeros, stops);
            let is_inside = self.before(here, to);
            let is_hit = self.terms.and(is_inside, is_stop);
            at = self.terms.ite(is_hit, here, at);
        }
        let (least, _) = self.spans.positions.range(&self.terms, from, 16);
        for idx in (least.min(n_prefix)..n_prefix).rev() {
            let is_stop = self.is_stop(text.prefix[idx as usize], text.zeros, stops);
            at = self.seen_at(idx, is_stop, (from, to), at);
        }
        Found { at, is_lost: self.terms.fls() }
    }

    /// `offset` where the search comes there and ends there, else `at`.
    fn seen_at(&mut self, offset: u64, is_stop: TermId, (from, to): (TermId, TermId), at: TermId) -> TermId {
        if self.terms.is_false(is_stop) {
            return at;
        }
        let here = self.terms.constant(u128::from(offset), 64);
        let is_early = self.before(here, from);
        let is_reached = self.terms.not(is_early);
        let is_inside = self.before(here, to);
        let is_reached = self.terms.and(is_reached, is_inside);
        let is_hit = self.terms.and(is_reached, is_stop);
        self.terms.ite(is_hit, here, at)
    }

    fn seek_old(&mut self, object: &Rc<Object>, (from, to): (TermId, TermId), stops: &Stops) -> Result<Found, TooMuch> {
        let (least, _) = self.spans.positions.range(&self.terms, from, 16);
        let (_, most) = self.spans.positions.range(&self.terms, to, 16);
        let most = most.min(object.size);
        if most.saturating_sub(least) > MAX_BYTES {
            return Err(TooMuch);
        }
        let is_certain = self.terms.is_const(from);
        let runs = self.runs(object, least..most, stops, is_certain);
        let mut found = Found { at: to, is_lost: self.terms.fls() };
        for run in runs.into_iter().rev() {
            match run {
                Run::Byte(offset, byte) => {
                    let is_stop = self.is_stop(byte, Zeros::Some, stops);
                    let here = self.terms.constant(u128::from(offset), 64);
                    let at = self.seen_at(offset, is_stop, (from, to), found.at);
                    let is_hit = self.terms.eq(at, here);
                    let not_lost = self.terms.fls();
                    found = Found { at, is_lost: self.terms.ite(is_hit, not_lost, found.is_lost) };
                }
                Run::Stops(run) => found = self.stop_in(run, (from, to), found, self.terms.fls()),
                Run::Unwritten(run) => found = self.stop_in(run, (from, to), found, self.terms.tru()),
            }
        }
        Ok(found)
    }

    /// Every byte of the run ends the search, so the first one that it comes to does.
    fn stop_in(&mut self, run: Range<u64>, (from, to): (TermId, TermId), other: Found, is_lost: TermId) -> Found {
        let (start, end) =
            (self.terms.constant(u128::from(run.start), 64), self.terms.constant(u128::from(run.end), 64));
        let Machine { spans, terms, .. } = self;
        let first = spans.positions.max(terms, from, start);
        let last = spans.positions.min(terms, to, end);
        let is_hit = self.before(first, last);
        self.either(is_hit, Found { at: first, is_lost }, other)
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

    /// Whether a byte ends the search.
    fn is_stop(&mut self, byte: TermId, zeros: Zeros, stops: &Stops) -> TermId {
        let mut is_listed = self.terms.fls();
        for stop in &stops.bytes {
            if zeros == Zeros::None && self.terms.as_const(*stop) == Some(0) {
                continue;
            }
            let is_this = self.terms.eq(byte, *stop);
            is_listed = self.terms.or(is_listed, is_this);
        }
        match stops.sense {
            Sense::In => is_listed,
            Sense::NotIn => self.terms.not(is_listed),
        }
    }
}
