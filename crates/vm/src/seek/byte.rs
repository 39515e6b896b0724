//! The byte of a pile at an offset.

use std::ops::Range;
use std::rc::Rc;

use term::{Replacement, TermId};

use crate::layers::{Layers, Mapped, Over, Text};
use crate::run::Machine;
use crate::{Object, inputs};

impl Machine<'_> {
    /// The byte of an object's pile at an offset that lies inside.
    pub(crate) fn pile_byte(&mut self, pile: &Rc<Layers>, index: TermId) -> TermId {
        match self.spans.found.get(&(Rc::as_ptr(pile) as usize, index, self.spans.positions.known_id())) {
            Some((_, byte)) => *byte,
            None => self.layer_byte(pile, index),
        }
    }

    /// What becomes of a byte.
    pub(super) fn mapped_byte(&mut self, mapped: &Mapped, byte: TermId) -> TermId {
        let mut replaced = Replacement::default();
        replaced.bind(mapped.byte, byte);
        replaced.apply(&mut self.terms, mapped.value).expect("what a round computes is not deep")
    }

    /// The byte of a pile at an offset.
    pub(crate) fn layer_byte(&mut self, layers: &Layers, index: TermId) -> TermId {
        match layers {
            Layers::Zero => self.terms.byte_constant(0),
            Layers::Text(text) => self.text_byte(text, index),
            Layers::Was(object) => self.old_byte(object, index),
            Layers::Mapped(mapped) => {
                let byte = self.layer_byte(&mapped.of, index);
                self.mapped_byte(mapped, byte)
            }
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
    pub(super) fn repeated(&mut self, text: &Text, index: TermId) -> TermId {
        match *text.repeat {
            [one] => one,
            [even, odd, ..] => {
                let parity = self.terms.extract(index, 0, 0);
                let (even, odd) = if text.prefix.len().is_multiple_of(2) { (even, odd) } else { (odd, even) };
                self.terms.ite(parity, odd, even)
            }
            [] => self.terms.byte_constant(0),
        }
    }

    /// What an object held. Bytes nobody wrote are symbols that are known to be such.
    pub(super) fn old_byte(&mut self, object: &Rc<Object>, index: TermId) -> TermId {
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
}
