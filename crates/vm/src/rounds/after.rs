//! What a variable is after all rounds: the last byte, how many bytes of a kind there were, where the last of a kind was.

use std::rc::Rc;

use term::{Assignment, Eval, Replacement, SymbolId, TermId, View};

use super::{Course, Heading, Next, Row};
use crate::layers::Layers;
use crate::run::Machine;
use crate::seek::{Limit, Reach, Which};
use crate::{State, Value};

/// Different numbers that a byte may add to a variable.
const MAX_AMOUNTS: usize = 4;

impl Machine<'_> {
    /// A variable that is neither the same in each round nor moves on by a constant. `begin` is its symbol.
    pub(super) fn after(
        &mut self,
        state: &State,
        course: &Course,
        next: Next,
        begin: TermId,
        first: Value,
        length: TermId,
    ) -> Option<TermId> {
        let width = self.terms.width(begin);
        let first = first.to_term(&mut self.terms, width);
        let zero = self.terms.constant(0, 64);
        match next {
            Next::Moved(by) => self.counted(state, course, by, first, length),
            Next::Is(term) if !self.is_moving(term, course) => {
                let is_none = self.terms.eq(length, zero);
                let one = self.terms.constant(1, 64);
                let before = self.terms.sub(length, one);
                let last = self.in_round(state, course, before, term)?;
                Some(self.terms.ite(is_none, first, last))
            }
            Next::Is(term) => self.kept(state, course, term, begin, first, length),
        }
    }

    fn is_moving(&self, term: TermId, course: &Course) -> bool {
        self.mentions(term, &course.opaque) || self.mentions(term, &course.counter.symbols)
    }

    fn pile_at(&mut self, state: &State, row: &Row) -> Rc<Layers> {
        let object = Rc::clone(state.memory.get(row.object));
        self.pile_of(&object)
    }

    /// A term of a round in the round of that number, the first being number 0.
    fn in_round(&mut self, state: &State, course: &Course, number: TermId, term: TermId) -> Option<TermId> {
        let mut replaced = Replacement::default();
        for (row, byte) in course.rows.iter().zip(&course.bytes) {
            if !self.mentions(term, &[*byte]) {
                continue;
            }
            let pile = self.pile_at(state, row);
            let at = match row.heading {
                Heading::Up => self.terms.add(row.at, number),
                Heading::Down => self.terms.sub(row.at, number),
            };
            let read = self.layer_byte(&pile, at);
            replaced.bind(*byte, read);
        }
        let begin = self.terms.constant(course.counter.begins_at, 64);
        let count = self.terms.add(begin, number);
        let count = self.terms.extract(count, super::COUNT_BITS - 1, 0);
        replaced.bind(course.counter.symbols[0], count);
        replaced.apply(&mut self.terms, term)
    }

    /// From which offset up to which one the rounds go.
    fn gone_through(&mut self, row: &Row, length: TermId) -> Reach {
        let from = self.lowest(row.at, row.heading, length);
        Reach { from, to: self.terms.add(from, length), limit: Limit::Place }
    }

    /// The one byte that a term speaks of, and nothing else.
    fn byte_of(&self, term: TermId, course: &Course) -> Option<usize> {
        let symbols = self.terms.symbols(term);
        course.bytes.iter().position(|byte| symbols == [*byte])
    }

    /// Each round adds what its byte says.
    fn counted(&mut self, state: &State, course: &Course, by: TermId, first: TermId, length: TermId) -> Option<TermId> {
        let width = self.terms.width(by);
        if !self.mentions(by, &course.bytes) {
            let rounds = self.terms.extract(length, width - 1, 0);
            let way = self.terms.mul(rounds, by);
            return Some(self.terms.add(first, way));
        }
        let idx = self.byte_of(by, course)?;
        let pile = self.pile_at(state, &course.rows[idx]);
        let reach = self.gone_through(&course.rows[idx], length);
        let mut after = first;
        for (amount, set) in self.amounts(by, course.bytes[idx])? {
            let n_bytes = self.tally(&pile, (reach.from, reach.to), &set, &mut 0).ok()?;
            let n_bytes = self.terms.extract(n_bytes, width - 1, 0);
            let amount = self.terms.constant(amount, width);
            let way = self.terms.mul(n_bytes, amount);
            after = self.terms.add(after, way);
        }
        Some(after)
    }

    /// What is added, and for which bytes.
    fn amounts(&self, by: TermId, byte: SymbolId) -> Option<Vec<(u128, Box<[bool; 256]>)>> {
        let (mut eval, mut input) = (Eval::new(), Assignment::new());
        let mut amounts: Vec<(u128, Box<[bool; 256]>)> = Vec::new();
        for value in 0..256 {
            input.set(byte, value);
            let amount = eval.eval(&self.terms, &input, by);
            let idx = match amounts.iter().position(|(known, _)| *known == amount) {
                _ if amount == 0 => continue,
                Some(idx) => idx,
                None if amounts.len() == MAX_AMOUNTS => return None,
                None => {
                    amounts.push((amount, Box::new([false; 256])));
                    amounts.len() - 1
                }
            };
            amounts[idx].1[value as usize] = true;
        }
        Some(amounts)
    }

    /// Set in rounds whose byte is of some kind, and left in the others: what it was set to in the last of those.
    fn kept(
        &mut self,
        state: &State,
        course: &Course,
        term: TermId,
        begin: TermId,
        first: TermId,
        length: TermId,
    ) -> Option<TermId> {
        let View::Ite(cond, a, b) = self.terms.view(term) else { return None };
        let (is_left, set_to) = match (a == begin, b == begin) {
            (true, false) => (cond, b),
            (false, true) => (self.terms.not(cond), a),
            _ => return None,
        };
        if self.mentions(set_to, &course.opaque) {
            return None;
        }
        let idx = self.byte_of(is_left, course)?;
        let row = course.rows[idx];
        let stops = self.stops_of(&[is_left], course.bytes[idx]);
        let pile = self.pile_at(state, &row);
        let reach = self.gone_through(&row, length);
        let which = if row.heading == Heading::Up { Which::Last } else { Which::First };
        let found = self.seek(&pile, reach, &stops, which, &mut 0).ok()?;
        if !self.terms.is_false(found.is_lost) {
            return None;
        }
        let number = match row.heading {
            Heading::Up => self.terms.sub(found.at, row.at),
            Heading::Down => self.terms.sub(row.at, found.at),
        };
        let there = self.in_round(state, course, number, set_to)?;
        let is_none = self.terms.eq(found.at, reach.to);
        Some(self.terms.ite(is_none, first, there))
    }
}
