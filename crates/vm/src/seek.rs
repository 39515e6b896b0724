//! Reading a pile of layers: the byte at an offset, and the first byte from an offset on that is one of some.

use std::ops::Range;
use std::rc::Rc;

use term::{Replacement, SymbolId, TermId};

use crate::layers::{Layers, Over, Text, Zeros};
use crate::run::Machine;
use crate::{Object, inputs};

/// Layers looked at for one search: one that would look at more is left to the program's own loop.
const MAX_LOOKS: u32 = 400;
/// Bytes of an object that are looked at one by one.
const MAX_BYTES: u64 = 1 << 17;

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

/// Bytes of an object that are alike.
enum Run {
    Stops(Range<u64>),
    Unwritten(Range<u64>),
    Byte(u64, TermId),
}

impl Machine<'_> {
    /// Remembers which byte stands where a search that goes to the end of its object ends.
    pub(crate) fn remember_found(&mut self, pile: &Rc<Layers>, found: &Found) {
        if self.terms.is_false(found.is_lost) && !self.terms.is_const(found.at) {
            let known = (Rc::clone(pile), found.byte);
            self.spans.found.insert((Rc::as_ptr(pile) as usize, found.at), known);
        }
    }

    /// The byte of an object's pile at an offset that lies inside.
    pub(crate) fn pile_byte(&mut self, pile: &Rc<Layers>, index: TermId) -> TermId {
        match self.spans.found.get(&(Rc::as_ptr(pile) as usize, index)) {
            Some((_, byte)) => *byte,
            None => self.layer_byte(pile, index),
        }
    }

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
        let nothing = self.nothing(to);
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
            true => self.nothing(inner_to),
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

    fn seek_text(&mut self, text: &Text, (from, to): (TermId, TermId), stops: &Stops) -> Found {
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
        let (least, _) = self.spans.positions.range(&self.terms, from, 16);
        for idx in (least.min(n_prefix)..n_prefix).rev() {
            found = self.seen_at(idx, text.prefix[idx as usize], text.zeros, stops, (from, to), found);
        }
        found
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

    fn seek_old(&mut self, object: &Rc<Object>, (from, to): (TermId, TermId), stops: &Stops) -> Result<Found, TooMuch> {
        let (least, _) = self.spans.positions.range(&self.terms, from, 16);
        let (_, most) = self.spans.positions.range(&self.terms, to, 16);
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

    /// The last byte in reach that is a stop; the end of the reach where there is none.
    pub(crate) fn seek_last(
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
        let nothing = self.nothing(to);
        let is_open = self.before(from, to);
        if self.terms.is_false(is_open) {
            return Ok(nothing);
        }
        let one = self.terms.constant(1, 64);
        match layers {
            Layers::Zero => {
                let zero = self.terms.byte_constant(0);
                let is_stop = self.is_stop(zero, Zeros::Some, stops);
                let is_hit = self.terms.and(is_open, is_stop);
                let last = self.terms.sub(to, one);
                Ok(Found { at: self.terms.ite(is_hit, last, to), ..nothing })
            }
            Layers::Text(text) => Ok(self.seek_last_text(text, (from, to), stops)),
            Layers::Was(object) => match object.layers() {
                None => self.seek_last_old(object, (from, to), stops),
                Some(layers) => {
                    let layers = self.with_own_bytes(object, Rc::clone(layers));
                    self.seek_last(&layers, reach, stops, looks)
                }
            },
            Layers::Over(over) => {
                let end = self.terms.add(over.at, over.len);
                let Machine { spans, terms, .. } = self;
                let positions = &spans.positions;
                let (to_layer, to_end) = (positions.min(terms, to, over.at), positions.min(terms, to, end));
                let (in_layer, behind) = (positions.max(terms, from, over.at), positions.max(terms, from, end));
                let place = |from: TermId, to: TermId| Reach { from, to, limit: Limit::Place };
                let after = self.seek_last(&over.below, place(behind, to), stops, looks)?;
                let is_after = self.before(after.at, to);
                let shift = self.terms.sub(over.from, over.at);
                let (inner_from, inner_to) = (self.terms.add(in_layer, shift), self.terms.add(to_end, shift));
                let is_in_layer = self.before(in_layer, to_end);
                let within = match self.terms.is_false(is_in_layer) {
                    true => self.nothing(inner_to),
                    false => self.seek_last(&over.above, place(inner_from, inner_to), stops, looks)?,
                };
                let within = Found { at: self.terms.sub(within.at, shift), ..within };
                let is_within = self.before(within.at, to_end);
                let is_within = self.terms.and(is_in_layer, is_within);
                let before = self.seek_last(&over.below, place(from, to_layer), stops, looks)?;
                let is_before = self.before(before.at, to_layer);
                let earlier = self.either(is_before, before, nothing);
                let earlier = self.either(is_within, within, earlier);
                Ok(self.either(is_after, after, earlier))
            }
        }
    }

    fn seek_last_text(&mut self, text: &Text, (from, to): (TermId, TermId), stops: &Stops) -> Found {
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

    fn seek_last_old(
        &mut self,
        object: &Rc<Object>,
        (from, to): (TermId, TermId),
        stops: &Stops,
    ) -> Result<Found, TooMuch> {
        let (least, _) = self.spans.positions.range(&self.terms, from, 16);
        let (_, most) = self.spans.positions.range(&self.terms, to, 16);
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
}
