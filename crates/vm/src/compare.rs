//! Ranges compared with each other: strings and bytes as many as an input says, and a text looked for in them.

use std::rc::Rc;

use term::TermId;

use crate::layers::{Layers, Mapped};
use crate::run::{Machine, Step};
use crate::seek::{From, Limit, Reach, Sense, Stops, Until, Which};
use crate::{Access, Sizes, State, Value};

/// What letters are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Kept,
    Ignored,
}

impl Machine<'_> {
    /// The bytes where two ranges differ first, or end. `None` where a loop may as well look.
    pub(crate) fn compare_span(
        &mut self,
        state: &mut State,
        (a, b): (Value, Value),
        max: Value,
        until: Until,
        case: Case,
    ) -> Step<Option<[TermId; 2]>> {
        let is_worth = self.is_worth_searching(state, a, max) || self.is_worth_searching(state, b, max);
        if self.spans.sizes == Sizes::Picked || !is_worth {
            return Ok(None);
        }
        let max = self.len_term(state, max)?;
        let places = match until {
            Until::Zero => [self.locate_start(state, a, Access::Read)?, self.locate_start(state, b, Access::Read)?],
            // All of them are read.
            Until::Difference => {
                [self.locate_span(state, a, max, Access::Read)?, self.locate_span(state, b, max, Access::Read)?]
            }
        };
        let mut from = Vec::new();
        let mut rooms = Vec::new();
        for place in &places {
            let extent = self.extent(state, place.object);
            rooms.push(self.terms.sub(extent, place.at));
            let object = Rc::clone(state.memory.get(place.object));
            let mut pile = self.pile_of(&object);
            if case == Case::Ignored {
                pile = self.without_case(pile);
            }
            from.push(From { pile, at: place.at });
        }
        let Machine { spans, terms, .. } = self;
        let room = spans.positions.min(terms, rooms[0], rooms[1]);
        let is_limited = spans.positions.less_number(terms, max, room);
        let len = terms.ite(is_limited, max, room);
        let Ok(found) = self.mismatch(&from[0], &from[1], len, until) else { return Ok(None) };
        for (place, room) in places.iter().zip(rooms) {
            let is_inside = self.terms.ult(found.at, room);
            let is_over = self.terms.ule(max, found.at);
            let holds = self.terms.or(is_inside, is_over);
            self.check(state, holds, |machine| machine.bug_beyond(state, place.object, Access::Read))?;
        }
        for byte in found.seen {
            self.looks_at_term(state, byte);
        }
        self.looks_at_term(state, found.at);
        self.summarise(state, "compare");
        Ok(Some(found.bytes))
    }

    /// Letters as small ones.
    fn without_case(&mut self, of: Rc<Layers>) -> Rc<Layers> {
        let symbol = self.terms.symbol("round.byte.0", 8);
        let (first, many, lower) =
            (self.terms.byte_constant(b'A'), self.terms.byte_constant(26), self.terms.byte_constant(32));
        let number = self.terms.sub(symbol, first);
        let is_large = self.terms.ult(number, many);
        let small = self.terms.add(symbol, lower);
        let value = self.terms.ite(is_large, small, symbol);
        Rc::new(Layers::Mapped(Mapped { of, byte: self.terms.symbols(symbol)[0], value }))
    }

    /// Where a text stands first in a string; where it does not, all ones. `None` where a loop may as well look.
    pub(crate) fn find_text(
        &mut self,
        state: &mut State,
        start: Value,
        text: &[u8],
        case: Case,
    ) -> Step<Option<TermId>> {
        let no_limit = Value::concrete(u128::from(u64::MAX));
        if self.spans.sizes == Sizes::Picked || !self.is_worth_searching(state, start, no_limit) {
            return Ok(None);
        }
        let place = self.locate_start(state, start, Access::Read)?;
        let extent = self.extent(state, place.object);
        let object = Rc::clone(state.memory.get(place.object));
        let mut pile = self.pile_of(&object);
        let zero = Stops::Listed { bytes: vec![self.terms.byte_constant(0)], sense: Sense::In };
        let reach = Reach { from: place.at, to: extent, limit: Limit::Object };
        let Ok(end) = self.seek(&pile, reach, &zero, Which::First, &mut 0) else { return Ok(None) };
        if !self.terms.is_false(end.is_lost) {
            return Ok(None);
        }
        let len = self.terms.sub(end.at, place.at);
        let mut text = text.to_vec();
        if case == Case::Ignored {
            pile = self.without_case(pile);
            text.make_ascii_lowercase();
        }
        let Ok((found, seen)) = self.place_of(&From { pile, at: place.at }, len, &text) else { return Ok(None) };
        // Nothing is read behind the first place.
        let is_found = self.terms.ult(found, len);
        let has_end = self.spans.positions.less(&mut self.terms, end.at, extent);
        let holds = self.terms.or(is_found, has_end);
        self.check(state, holds, |machine| machine.bug_beyond(state, place.object, Access::Read))?;
        for byte in seen {
            self.looks_at_term(state, byte);
        }
        self.looks_at_term(state, len);
        self.summarise(state, "find");
        let none = self.terms.constant(u128::from(u64::MAX), 64);
        Ok(Some(self.terms.ite(is_found, found, none)))
    }
}
