//! Ranges whose length is a term: copying, filling and searching them, and objects whose size is one.
//!
//! Only where somebody asked for it (`Sizes::Terms`); otherwise such a length is picked, one path for each value.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use term::{SymbolId, TermId};
use witness::{BugKind, Ending, LedgerKind};

use crate::access::{Byte, Offset};
use crate::layers::{Layers, Text, Zeros};
use crate::positions::Positions;
use crate::run::{Machine, Step};
use crate::seek::{Found, Limit, Reach, Sense, Stops, Which};
use crate::unwritten::byte_of;
use crate::{Access, Answer, Decides, Effect, Liveness, Loops, Object, ObjectId, ObjectKind, Site, State, Use, Value};

/// What a size that depends on inputs becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizes {
    /// One path for each value.
    #[default]
    Picked,
    /// A term.
    Terms,
}

/// What one worker knows about lengths.
#[derive(Default)]
pub struct Spans {
    pub sizes: Sizes,
    pub positions: Positions,
    /// Symbols that stand for more than one byte of an input: what is decided by them was decided for some texts only.
    pub fillers: FxHashSet<SymbolId>,
    /// What stands where searches ended, by pile, offset and what the path knew.
    pub(crate) found: FxHashMap<(usize, TermId, u64), (Rc<Layers>, TermId)>,
    /// Loops whose rounds may be done at once.
    pub loops: Loops,
    /// Where something was done at once that the program, or the library, does in a loop.
    pub summaries: FxHashSet<(Site, Arc<str>)>,
}

/// Lengths from here on mean that there is no limit.
const NO_LIMIT: u128 = 1 << 40;

/// Copies of a known length that are made byte by byte all the same.
const FEW_BYTES: u128 = 16;

/// A part of an object.
pub(crate) struct Located {
    pub object: ObjectId,
    pub at: TermId,
}

impl Machine<'_> {
    /// All bytes of an object as a pile.
    pub(crate) fn pile_of(&mut self, object: &Rc<Object>) -> Rc<Layers> {
        match object.layers() {
            None => Rc::new(Layers::Was(Rc::clone(object))),
            Some(layers) => self.with_own_bytes(object, Rc::clone(layers)),
        }
    }

    /// Whether bytes have to be looked up in a pile.
    pub(crate) fn reads_layers(&self, object: &Object, offset: Offset, n_bytes: u64) -> bool {
        match offset {
            Offset::At(at) => object.is_piled() && (at..at + n_bytes).any(|at| object.layers_at(at).is_some()),
            Offset::Symbolic(_) => {
                object.is_piled() || self.spans.sizes == Sizes::Terms && !object.is_written(0..object.size)
            }
        }
    }

    pub(crate) fn read_layers(&mut self, object: &Rc<Object>, offset: Offset, n_bytes: u64) -> Vec<Byte> {
        if let Offset::At(at) = offset {
            let read = |at: u64| match object.layers_at(at) {
                None => byte_of(object, at),
                Some(layers) => {
                    let layers = Rc::clone(layers);
                    let index = self.terms.constant(u128::from(at), 64);
                    let term = self.layer_byte(&layers, index);
                    self.term_byte(term, 0, object.label)
                }
            };
            return (at..at + n_bytes).map(read).collect();
        }
        let pile = self.pile_of(object);
        let mut bytes = Vec::with_capacity(n_bytes as usize);
        for idx in 0..n_bytes {
            let index = self.index_term(offset, idx);
            let term = self.pile_byte(&pile, index);
            bytes.push(self.term_byte(term, 0, object.label));
        }
        bytes
    }

    /// A write at a symbolic offset is one more layer.
    pub(crate) fn write_layer(&mut self, state: &mut State, object: ObjectId, offset: Offset, bytes: &[Byte]) {
        let prefix: Vec<TermId> = bytes.iter().map(|byte| self.byte_term(*byte)).collect();
        let zero = self.terms.byte_constant(0);
        let text = Text { prefix: prefix.into(), repeat: Rc::from([zero]), zeros: Zeros::Some };
        let at = self.index_term(offset, 0);
        let len = self.terms.constant(bytes.len() as u128, 64);
        let start = self.terms.constant(0, 64);
        self.lay(state, &Located { object, at }, Rc::new(Layers::Text(text)), start, len);
    }

    /// Puts a layer on an object.
    pub(crate) fn lay(&mut self, state: &mut State, to: &Located, above: Rc<Layers>, from: TermId, len: TermId) {
        let found = Rc::clone(state.memory.get(to.object));
        let below = self.pile_of(&found);
        drop(found);
        state.memory.get_mut(to.object).set_layers(Layers::over(below, to.at, above, from, len));
        self.tlb.flush();
    }

    /// Puts `len` bytes of a pile at a known place of an object.
    pub(crate) fn lay_at(&mut self, state: &mut State, object: ObjectId, at: u64, above: Rc<Layers>, len: u64) {
        if at == 0 && len >= state.memory.get(object).size {
            state.memory.get_mut(object).set_layers(above);
            self.tlb.flush();
            return;
        }
        let (start, len) = (self.terms.constant(0, 64), self.terms.constant(u128::from(len), 64));
        let at = self.terms.constant(u128::from(at), 64);
        self.lay(state, &Located { object, at }, above, start, len);
    }

    /// Something is read of which the input says only that it is there.
    pub(crate) fn looks_at(&mut self, state: &State, value: Value) {
        if let Some(term) = value.term() {
            self.looks_at_term(state, term);
        }
    }

    pub(crate) fn looks_at_term(&mut self, state: &State, term: TermId) {
        if self.spans.fillers.is_empty() {
            return;
        }
        if self.terms.symbols(term).iter().any(|symbol| self.spans.fillers.contains(symbol)) {
            let detail = "what stands behind the prefix of a text is looked at; other texts may do more";
            self.note(state, LedgerKind::BoundedInput, detail);
        }
    }

    /// An object whose size is a term is large enough for an access that its largest size has room for.
    pub(crate) fn check_extent(
        &mut self,
        state: &State,
        object: ObjectId,
        addr: u64,
        bytes: u64,
        access: Access,
    ) -> Step<()> {
        let found = state.memory.get(object);
        let Some(extent) = found.extent else { return Ok(()) };
        let base = found.base;
        let end = self.terms.constant(u128::from(addr - base + bytes), 64);
        let is_beyond = self.spans.positions.less(&mut self.terms, extent, end);
        let holds = self.terms.not(is_beyond);
        self.uses(state, holds, Use::Size)?;
        self.check(state, holds, |machine| {
            let (kind, message) = machine.diagnose_outside(state, addr, bytes, access, base);
            machine.bug(state, kind, message)
        })
    }

    /// Where a range begins; that there is something at its beginning is all that is checked.
    pub(crate) fn locate_start(&mut self, state: &mut State, addr: Value, access: Access) -> Step<Located> {
        let mut at = addr.bits as u64;
        let mut symbolic = None;
        if let Some(term) = addr.term() {
            self.depend(state, addr.label(), Decides::Address);
            self.uses_address(state, term)?;
            match self.ask(state, || Effect::Address { addr: term, bytes: 0, access })? {
                Answer::Object(base) => (at, symbolic) = (base, Some(term)),
                Answer::At(place) => at = place,
                other => unreachable!("an address is answered with an object, not {other:?}"),
            }
        }
        let memory = &state.memory;
        let at_end = || memory.below(at).filter(|object| memory.get(*object).end() == at);
        let object = memory.find(at).or_else(at_end).filter(|object| {
            let found = memory.get(*object);
            found.liveness == Liveness::Alive && (access == Access::Read || found.kind != ObjectKind::Constant)
        });
        let Some(object) = object else {
            let (kind, message) = self.diagnose(state, at, 1, access);
            return Err(Effect::Ended(Box::new(Ending::Bug(self.bug(state, kind, message)))));
        };
        let base = self.terms.constant(u128::from(memory.get(object).base), 64);
        let at = symbolic.unwrap_or_else(|| self.terms.constant(u128::from(at), 64));
        Ok(Located { object, at: self.terms.sub(at, base) })
    }

    /// How many bytes an object has.
    pub(crate) fn extent(&mut self, state: &State, object: ObjectId) -> TermId {
        let found = state.memory.get(object);
        found.extent.unwrap_or_else(|| self.terms.constant(u128::from(found.size), 64))
    }

    /// Where a range of so many bytes lies: one question whether it may be outside.
    pub(crate) fn locate_span(&mut self, state: &mut State, addr: Value, len: TermId, access: Access) -> Step<Located> {
        let located = self.locate_start(state, addr, access)?;
        let extent = self.extent(state, located.object);
        let Machine { terms, spans, .. } = self;
        let is_beyond = spans.positions.less(terms, extent, located.at);
        let room = terms.sub(extent, located.at);
        let fits = terms.ule(len, room);
        let starts_inside = terms.not(is_beyond);
        let holds = terms.and(starts_inside, fits);
        self.check(state, holds, |machine| machine.bug_beyond(state, located.object, access))?;
        Ok(located)
    }

    pub(crate) fn bug_beyond(&self, state: &State, object: ObjectId, access: Access) -> witness::Bug {
        let found = state.memory.get(object);
        let (verb, kind) = match access {
            Access::Read => ("read", BugKind::OutOfBoundsRead),
            Access::Write => ("write", BugKind::OutOfBoundsWrite),
        };
        let message = format!("{verb} beyond the end of a {} object {}", found.kind.name(), found.size_words());
        self.bug(state, kind, message)
    }

    /// Whether a copy is made as a layer.
    pub(crate) fn is_span(&self, state: &State, src: Value, len: Value) -> bool {
        if self.spans.sizes == Sizes::Picked {
            return false;
        }
        let is_piled = || {
            let object = state.memory.find(src.bits as u64);
            src.term().is_some() || object.is_some_and(|object| state.memory.get(object).is_piled())
        };
        len.term().is_some() || len.bits > FEW_BYTES && is_piled()
    }

    pub(crate) fn len_term(&mut self, state: &State, len: Value) -> Step<TermId> {
        let len = len.to_term(&mut self.terms, u32::from(self.image.pointer_bits()));
        self.uses(state, len, Use::Size)?;
        Ok(self.terms.zext(len, 64))
    }

    /// Takes note of what is done at once.
    pub(crate) fn summarise(&mut self, state: &State, what: &str) {
        let is_own = |func: ir::FuncId| !self.image.module.function(func).is_runtime;
        let inside = state.frames().take_while(|frame| !is_own(frame.func)).last();
        let what: Arc<str> = inside.map_or(what, |frame| self.function_name(frame.func)).into();
        let site = self.image.user_site(state);
        self.spans.summaries.insert((site, what));
    }

    /// The length of a string is found and it is copied with its zero, as a loop would that reads a byte and writes it: what goes
    /// wrong first is told. `None` where the loop may as well do it.
    pub(crate) fn copy_text(&mut self, state: &mut State, dst: Value, src: Value) -> Step<Option<TermId>> {
        if self.spans.sizes == Sizes::Picked {
            return Ok(None);
        }
        let from = self.locate_start(state, src, Access::Read)?;
        let to = self.locate_start(state, dst, Access::Write)?;
        // A loop that reads what it has just written is left to itself.
        if from.object == to.object {
            return Ok(None);
        }
        let (extent, room) = (self.extent(state, from.object), self.extent(state, to.object));
        let room = self.terms.sub(room, to.at);
        let source = Rc::clone(state.memory.get(from.object));
        let above = self.pile_of(&source);
        drop(source);
        let zero = Stops::Listed { bytes: vec![self.terms.byte_constant(0)], sense: Sense::In };
        let reach = Reach { from: from.at, to: extent, limit: Limit::Object };
        let Ok(found) = self.seek(&above, reach, &zero, Which::First, &mut 0) else { return Ok(None) };
        let found = self.split_found(state, found)?;
        if !self.terms.is_false(found.is_lost) {
            self.check_lost(state, found.is_lost)?;
        }
        let has_end = self.spans.positions.less(&mut self.terms, found.at, extent);
        let n_read = self.terms.sub(extent, from.at);
        let is_wider = self.spans.positions.less(&mut self.terms, room, n_read);
        let is_read = self.terms.or(has_end, is_wider);
        self.check(state, is_read, |machine| machine.bug_beyond(state, from.object, Access::Read))?;
        let length = self.terms.sub(found.at, from.at);
        let fits = self.spans.positions.less(&mut self.terms, length, room);
        self.check(state, fits, |machine| machine.bug_beyond(state, to.object, Access::Write))?;
        let one = self.terms.constant(1, 64);
        let size = self.terms.add(length, one);
        self.lay(state, &to, above, from.at, size);
        self.summarise(state, "strcpy");
        Ok(Some(length))
    }

    /// Whether two addresses lie in one object.
    pub(crate) fn is_same_object(&mut self, state: &mut State, a: Value, b: Value) -> Step<bool> {
        let a = self.locate_start(state, a, Access::Read)?;
        let b = self.locate_start(state, b, Access::Read)?;
        Ok(a.object == b.object)
    }

    /// How many bytes there are from an address to the end of its object.
    pub(crate) fn space(&mut self, state: &mut State, addr: Value) -> Step<TermId> {
        let located = self.locate_start(state, addr, Access::Read)?;
        let extent = self.extent(state, located.object);
        Ok(self.terms.sub(extent, located.at))
    }

    /// Bytes leave the program: that all of them are there is what matters.
    pub(crate) fn read_span(&mut self, state: &mut State, addr: Value, len: Value) -> Step<()> {
        let len = self.len_term(state, len)?;
        self.locate_span(state, addr, len, Access::Read).map(|_| ())
    }

    /// Copies a range. What lies in it is read before anything is written, so the two may overlap.
    pub(crate) fn copy_span(&mut self, state: &mut State, dst: Value, src: Value, len: Value) -> Step<()> {
        let len = self.len_term(state, len)?;
        let from = self.locate_span(state, src, len, Access::Read)?;
        let to = self.locate_span(state, dst, len, Access::Write)?;
        let source = Rc::clone(state.memory.get(from.object));
        let above = self.pile_of(&source);
        drop(source);
        self.lay(state, &to, above, from.at, len);
        self.summarise(state, "memcpy");
        Ok(())
    }

    pub(crate) fn fill_span(&mut self, state: &mut State, dst: Value, byte: Value, len: Value) -> Step<()> {
        let len = self.len_term(state, len)?;
        let to = self.locate_span(state, dst, len, Access::Write)?;
        let byte = self.fit(byte, 8).to_term(&mut self.terms, 8);
        let start = self.terms.constant(0, 64);
        self.lay(state, &to, Rc::new(Layers::Text(Text::of_byte(byte, Zeros::Some))), start, len);
        self.summarise(state, "memset");
        Ok(())
    }

    /// How far it is from `start` to the first byte that ends a search, or to `max`. `None` where the program's own loop may as
    /// well look.
    pub(crate) fn search(
        &mut self,
        state: &mut State,
        start: Value,
        max: Value,
        stops: &Stops,
        which: Which,
    ) -> Step<Option<TermId>> {
        if self.spans.sizes == Sizes::Picked || !self.is_worth_searching(state, start, max) {
            return Ok(None);
        }
        let max = self.len_term(state, max)?;
        let is_limited = self.terms.as_const(max).is_none_or(|max| max < NO_LIMIT);
        let Located { object, at } = self.locate_start(state, start, Access::Read)?;
        let extent = self.extent(state, object);
        let limit = self.terms.add(at, max);
        let reach = match is_limited {
            true => {
                let to = self.spans.positions.min(&mut self.terms, limit, extent);
                Reach { from: at, to, limit: Limit::Place }
            }
            false => Reach { from: at, to: extent, limit: Limit::Object },
        };
        let found = Rc::clone(state.memory.get(object));
        let pile = self.pile_of(&found);
        let Ok(found) = self.seek(&pile, reach, stops, which, &mut 0) else { return Ok(None) };
        let found = self.split_found(state, found)?;
        if !is_limited {
            self.remember_found(&pile, &found);
        }
        if !self.terms.is_false(found.is_lost) {
            self.check_lost(state, found.is_lost)?;
        }
        let mut holds = self.spans.positions.less(&mut self.terms, found.at, extent);
        if is_limited {
            let is_beyond = self.spans.positions.less(&mut self.terms, extent, limit);
            let has_room = self.terms.not(is_beyond);
            holds = self.terms.or(holds, has_room);
        }
        self.check(state, holds, |machine| machine.bug_beyond(state, object, Access::Read))?;
        let distance = self.terms.sub(found.at, at);
        self.summarise(state, "search");
        Ok(Some(distance))
    }

    /// One of the cases that a search may end in.
    fn split_found(&mut self, state: &State, found: Found) -> Step<Found> {
        let taken = self.split(state, found.at)?;
        let (is_lost, byte) = (self.in_case(&taken, found.is_lost), self.in_case(&taken, found.byte));
        Ok(Found { at: taken.value, is_lost, byte })
    }

    /// Bytes and places that are all concrete are looked at one by one.
    pub(crate) fn is_worth_searching(&self, state: &State, start: Value, max: Value) -> bool {
        let object = state.memory.find(start.bits as u64);
        start.term().is_some()
            || max.term().is_some()
            || object.is_some_and(|object| !state.memory.get(object).is_plain())
    }

    /// A search that comes to memory nobody wrote ends there.
    fn check_lost(&mut self, state: &State, is_lost: TermId) -> Step<()> {
        let side = match self.ask(state, || Effect::Branch { cond: is_lost })? {
            Answer::Side(side) => side,
            other => unreachable!("a branch is answered with a side, not {other:?}"),
        };
        if !side {
            return Ok(());
        }
        let detail = "a search comes to memory that was never written, and ends there";
        self.note(state, LedgerKind::UnwrittenMemory, detail);
        let message = "what happens here depends on memory that was never written".to_string();
        Err(Effect::Ended(Box::new(Ending::Bug(self.bug(state, BugKind::UninitialisedRead, message)))))
    }
}
