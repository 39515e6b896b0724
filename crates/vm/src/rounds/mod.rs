//! Loops that only scan, copy or fill: all their rounds but the last are done at once.
//!
//! At the head of such a loop one round is executed aside, on symbols in place of the variables that change. That shows what every round
//! does: which variables move on by a constant, which bytes are read and written, and under which conditions the loop goes on. Where
//! these conditions speak of one byte that is read, or compare a counter with something that stays, the number of rounds is a term: the distance to the
//! first byte that ends the loop, or to the end of an object, or what the counter has left, whichever is least. The variables are moved on by so many rounds,
//! the bytes are copied as a layer, and the round that ends the loop, or goes wrong, is executed as usual. Nothing is asked, and nothing is
//! guessed: where a round does anything else, it is executed as usual, too.

mod aside;
mod left;

use std::rc::Rc;

use ir::{BlockId, FuncId};
use rustc_hash::FxHashMap;
use term::{Assignment, Eval, SymbolId, TermId, View};

use self::aside::Round;
use crate::layers::{Layers, Text, Zeros};
use crate::run::Machine;
use crate::seek::{Limit, Reach, Stops, Which};
use crate::spans::Located;
use crate::{Label, Liveness, ObjectId, ObjectKind, Sizes, State, Value};

/// Loops without loops inside, by function and head.
pub type Loops = FxHashMap<(FuncId, BlockId), Rc<LoopShape>>;

/// What is known about a loop before it is run.
#[derive(Clone, Debug)]
pub struct LoopShape {
    pub body: Vec<BlockId>,
    /// Registers that a round assigns and the next one reads, with their widths.
    pub variables: Vec<(ir::Reg, u8)>,
}

/// Rounds are counted by a symbol of so many bits: more bytes than any object has.
const COUNT_BITS: u32 = 31;
/// Counters of 32 bits must begin below this, so that they do not wrap around.
const LARGE_START: u128 = 1 << 30;

/// A register that is assigned anew in each round.
#[derive(Clone, Copy)]
struct Variable {
    reg: ir::Reg,
    bits: u8,
}

/// What becomes of a variable in a round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Stays,
    Step(u128),
    /// Something that was read or computed in the round.
    Last,
}

/// What all rounds that are done at once do.
struct Rounds {
    length: TermId,
    /// What the variables are afterwards.
    after: Vec<(Variable, TermId)>,
    store: Option<Store>,
}

/// Bytes that are written.
struct Store {
    row: Row,
    above: Rc<Layers>,
    from: TermId,
}

/// What counts the rounds.
struct Counter {
    term: TermId,
    /// What it is in the first of them.
    begins_at: u128,
    symbols: Vec<SymbolId>,
}

/// Bytes that the rounds go through, from the first on.
struct Row {
    object: ObjectId,
    at: TermId,
    extent: TermId,
}

/// The limits of a loop: it goes on for no more rounds than the least of them, and for none unless `valid`.
struct Limits {
    rounds: Vec<TermId>,
    valid: TermId,
    /// Whether all memory that is gone through is plain.
    is_certain: bool,
}

impl Machine<'_> {
    /// At the head of a loop: does the rounds of it that can be done at once.
    #[cold]
    pub(crate) fn hurry(&mut self, state: &mut State) {
        if self.spans.sizes == Sizes::Picked {
            return;
        }
        let Some(shape) = self.spans.loops.get(&(state.top.func, state.top.block)).cloned() else { return };
        let n_notes = self.notes.len();
        let n_answered = self.running.n_answered;
        let rounds = self.rounds(state, &shape);
        self.notes.truncate(n_notes);
        self.running.n_answered = n_answered;
        if let Some(rounds) = rounds {
            self.do_rounds(state, rounds);
        }
    }

    fn do_rounds(&mut self, state: &mut State, rounds: Rounds) {
        let Rounds { length, after, store } = rounds;
        self.looks_at_rounds(state, length);
        for (variable, term) in after {
            self.looks_at_term(state, term);
            let value = Value::of_term(&self.terms, term, Label::EMPTY);
            state.top.set(variable.reg, variable.bits, value);
        }
        if let Some(Store { row, above, from }) = store {
            self.lay(state, &Located { object: row.object, at: row.at }, above, from, length);
        }
        self.tlb.flush();
    }

    /// What the rounds that can be done at once do.
    fn rounds(&mut self, state: &State, shape: &LoopShape) -> Option<Rounds> {
        let body = &shape.body;
        let variables: Vec<Variable> =
            shape.variables.iter().map(|(reg, bits)| Variable { reg: *reg, bits: *bits }).collect();
        let changes = self.changes(state, body, &variables)?;
        let first: Vec<Value> = variables.iter().map(|variable| state.top.value(variable.reg, variable.bits)).collect();
        let counter = self.counter(&variables, &changes, &first)?;
        let begin = self.begin(&variables, &changes, &first, &counter)?;
        let round = self.round(state, body, &variables, &begin)?;
        let opaque: Vec<SymbolId> = self.symbols_of(&begin, |idx| changes[idx] == Change::Last);
        let relevant = round.stays.iter().chain(round.loads.iter().map(|(addr, _)| addr));
        let stored = round.store.iter().flat_map(|store| [&store.addr, &store.byte]);
        if relevant.chain(stored).any(|term| self.mentions(*term, &opaque)) {
            return None;
        }
        let bytes: Vec<SymbolId> = round.loads.iter().map(|(_, byte)| self.terms.symbols(*byte)[0]).collect();
        let mut rows = Vec::new();
        for (addr, _) in &round.loads {
            rows.push(self.row(state, *addr, &counter)?);
        }
        let mut limits = Limits { rounds: Vec::new(), valid: self.terms.tru(), is_certain: true };
        self.limit_by_conditions(state, &round, &rows, &bytes, &counter, &mut limits)?;
        let store = match round.store {
            None => None,
            Some(_) => Some(self.store_of_rounds(state, &round, &rows, &bytes, &counter, &mut limits)?),
        };
        let length = self.least(&limits)?;
        let mut after = Vec::new();
        for (idx, variable) in variables.iter().enumerate() {
            let width = u32::from(variable.bits);
            let term = match changes[idx] {
                Change::Stays => continue,
                Change::Step(step) => {
                    let narrow = self.terms.extract(length, width - 1, 0);
                    let moved = self.moved_on(first[idx], step, narrow, 0, width);
                    self.start_at(first[idx], *variable, moved);
                    moved
                }
                Change::Last => self.last_value(state, round.next[idx], &rows, &bytes, length, first[idx])?,
            };
            after.push((*variable, term));
        }
        Some(Rounds { length, after, store })
    }

    /// One counter of 32 bits is the symbol itself: then its widened value is one, too.
    fn counter(&mut self, variables: &[Variable], changes: &[Change], first: &[Value]) -> Option<Counter> {
        let counts = |idx: &usize| variables[*idx].bits == 32 && changes[*idx] == Change::Step(1);
        let begins_at = match (0..variables.len()).find(counts).map(|idx| first[idx]) {
            Some(value) if value.term().is_some() || value.bits >= LARGE_START => return None,
            Some(value) => value.bits,
            None => 0,
        };
        let term = self.terms.symbol("round", COUNT_BITS);
        let symbols = self.terms.symbols(term).to_vec();
        Some(Counter { term, begins_at, symbols })
    }

    /// The variables in the round that the counter says.
    fn begin(
        &mut self,
        variables: &[Variable],
        changes: &[Change],
        first: &[Value],
        counter: &Counter,
    ) -> Option<Vec<TermId>> {
        let mut begin = Vec::new();
        for (idx, variable) in variables.iter().enumerate() {
            let width = u32::from(variable.bits);
            begin.push(match changes[idx] {
                Change::Stays => first[idx].to_term(&mut self.terms, width),
                Change::Last => self.terms.symbol(&format!("round.last.{idx}"), width),
                Change::Step(_) if width < 32 => return None,
                Change::Step(step) => {
                    let wide = self.terms.zext(counter.term, width);
                    let moved = self.moved_on(first[idx], step, wide, counter.begins_at, width);
                    self.start_at(first[idx], *variable, moved);
                    moved
                }
            });
        }
        Some(begin)
    }

    /// What a variable was moved on to is computed from what it was.
    fn start_at(&mut self, first: Value, variable: Variable, moved: TermId) {
        match first.term() {
            None if variable.bits == 64 => self.starts.enter(moved, first.bits as u64),
            None => {}
            Some(from) => self.starts.pass_on(from, moved),
        }
    }

    /// What ends the loop, for each byte and for the counter.
    fn limit_by_conditions(
        &mut self,
        state: &State,
        round: &Round,
        rows: &[Row],
        bytes: &[SymbolId],
        counter: &Counter,
        limits: &mut Limits,
    ) -> Option<()> {
        let mut conditions: Vec<Vec<TermId>> = vec![Vec::new(); rows.len()];
        let mut parts = Vec::new();
        for stay in &round.stays {
            self.conjuncts(*stay, &mut parts);
        }
        for stay in &parts {
            let of_byte: Vec<usize> =
                (0..bytes.len()).filter(|idx| self.mentions(*stay, &bytes[*idx..*idx + 1])).collect();
            match (of_byte.as_slice(), self.mentions(*stay, &counter.symbols)) {
                ([one], false) => conditions[*one].push(*stay),
                ([], true) => limits.rounds.push(self.rounds_left(*stay, counter)?),
                ([], false) if self.terms.is_true(*stay) => {}
                _ => return None,
            }
        }
        // Every round reads or writes a byte, so there are no more of them than an object has bytes.
        if rows.is_empty() && round.store.is_none() {
            return None;
        }
        for (idx, row) in rows.iter().enumerate() {
            self.enters_row(state, row, limits);
            if conditions[idx].is_empty() {
                limits.rounds.push(self.terms.sub(row.extent, row.at));
                continue;
            }
            let stops = self.stops_of(&conditions[idx], bytes[idx]);
            let object = Rc::clone(state.memory.get(row.object));
            let pile = self.pile_of(&object);
            let reach = Reach { from: row.at, to: row.extent, limit: Limit::Object };
            let found = self.seek(&pile, reach, &stops, Which::First, &mut 0).ok()?;
            self.remember_found(&pile, &found);
            limits.rounds.push(self.terms.sub(found.at, row.at));
        }
        Some(())
    }

    /// There is something at the beginning of a row, or there is no round.
    fn enters_row(&mut self, state: &State, row: &Row, limits: &mut Limits) {
        limits.is_certain &= state.memory.get(row.object).is_plain();
        let is_inside = self.spans.positions.less_number(&mut self.terms, row.at, row.extent);
        limits.valid = self.terms.and(limits.valid, is_inside);
    }

    fn store_of_rounds(
        &mut self,
        state: &State,
        round: &Round,
        rows: &[Row],
        bytes: &[SymbolId],
        counter: &Counter,
        limits: &mut Limits,
    ) -> Option<Store> {
        let store = round.store?;
        let row = self.row(state, store.addr, counter)?;
        let found = state.memory.get(row.object);
        if found.kind == ObjectKind::Constant || rows.iter().any(|read| read.object == row.object) {
            return None;
        }
        self.enters_row(state, &row, limits);
        limits.rounds.push(self.terms.sub(row.extent, row.at));
        if let Some(read) = round.loads.iter().position(|(_, read)| *read == store.byte) {
            let source = Rc::clone(state.memory.get(rows[read].object));
            return Some(Store { row, above: self.pile_of(&source), from: rows[read].at });
        }
        if self.mentions(store.byte, bytes) || self.mentions(store.byte, &counter.symbols) {
            return None;
        }
        let text = Text::of_byte(store.byte, Zeros::Some);
        Some(Store { row, above: Rc::new(Layers::Text(text)), from: self.terms.constant(0, 64) })
    }

    /// How many rounds there are. `None` where they may as well be executed.
    fn least(&mut self, limits: &Limits) -> Option<TermId> {
        let mut rounds = limits.rounds.iter();
        let mut length = *rounds.next()?;
        for limit in rounds {
            let is_less = self.spans.positions.less_number(&mut self.terms, *limit, length);
            length = self.terms.ite(is_less, *limit, length);
        }
        let nothing = self.terms.constant(0, 64);
        length = self.terms.ite(limits.valid, length, nothing);
        let is_plain = |length: u128| length == 0 || limits.is_certain;
        (!self.terms.as_const(length).is_some_and(is_plain)).then_some(length)
    }

    /// The parts of a condition that must all hold.
    fn conjuncts(&self, term: TermId, parts: &mut Vec<TermId>) {
        match self.terms.view(term) {
            View::And(a, b) if self.terms.width(term) == 1 => {
                self.conjuncts(a, parts);
                self.conjuncts(b, parts);
            }
            _ => parts.push(term),
        }
    }

    /// `first + step * (count - begins_at)`.
    fn moved_on(&mut self, first: Value, step: u128, count: TermId, begins_at: u128, width: u32) -> TermId {
        let first = first.to_term(&mut self.terms, width);
        let start = self.terms.constant(begins_at, width);
        let rounds = self.terms.sub(count, start);
        let step = self.terms.constant(step, width);
        let way = self.terms.mul(rounds, step);
        self.terms.add(first, way)
    }

    fn symbols_of(&self, terms: &[TermId], is_meant: impl Fn(usize) -> bool) -> Vec<SymbolId> {
        let meant = terms.iter().enumerate().filter(|(idx, _)| is_meant(*idx));
        meant.flat_map(|(_, term)| self.terms.symbols(*term).iter().copied()).collect()
    }

    fn mentions(&self, term: TermId, symbols: &[SymbolId]) -> bool {
        self.terms.symbols(term).iter().any(|symbol| symbols.contains(symbol))
    }

    /// The bytes at an address that moves on by one in each round.
    fn row(&mut self, state: &State, addr: TermId, counter: &Counter) -> Option<Row> {
        let wide = self.terms.zext(counter.term, 64);
        let rest = self.terms.sub(addr, wide);
        if self.mentions(rest, &counter.symbols) {
            return None;
        }
        let begins_at = self.terms.constant(counter.begins_at, 64);
        let start = self.terms.add(rest, begins_at);
        let known = self.terms.as_const(start).map(|start| start as u64);
        let near = known.or_else(|| self.starts.of(addr)).or_else(|| self.constant_part(start))?;
        let memory = &state.memory;
        let at_end = || memory.below(near).filter(|object| memory.get(*object).end() == near);
        let object = memory.find(near).or_else(at_end)?;
        if memory.get(object).liveness != Liveness::Alive {
            return None;
        }
        let base = self.terms.constant(u128::from(memory.get(object).base), 64);
        let extent = self.extent(state, object);
        Some(Row { object, at: self.terms.sub(start, base), extent })
    }

    /// The constant in a sum.
    fn constant_part(&self, term: TermId) -> Option<u64> {
        match self.terms.view(term) {
            View::Add(_, k) => self.terms.as_const(k).map(|k| k as u64),
            _ => None,
        }
    }

    /// The bytes that do not satisfy these conditions.
    fn stops_of(&mut self, conditions: &[TermId], byte: SymbolId) -> Stops {
        let mut stays = self.terms.tru();
        for condition in conditions {
            stays = self.terms.and(stays, *condition);
        }
        if self.terms.symbols(stays) != [byte] {
            return Stops::Where { byte, stays };
        }
        let (mut eval, mut input) = (Eval::new(), Assignment::new());
        let mut set = Box::new([false; 256]);
        for (value, is_stop) in (0..256).zip(set.iter_mut()) {
            input.set(byte, value);
            *is_stop = !eval.holds(&self.terms, &input, stays);
        }
        Stops::Set(set)
    }

    /// What a variable that every round assigns anew is after so many of them.
    fn last_value(
        &mut self,
        state: &State,
        next: TermId,
        rows: &[Row],
        bytes: &[SymbolId],
        length: TermId,
        first: Value,
    ) -> Option<TermId> {
        let one = self.terms.constant(1, 64);
        let before = self.terms.sub(length, one);
        let mut replaced = term::Replacement::default();
        for (row, byte) in rows.iter().zip(bytes) {
            let object = Rc::clone(state.memory.get(row.object));
            let pile = self.pile_of(&object);
            let at = self.terms.add(row.at, before);
            let read = self.layer_byte(&pile, at);
            replaced.bind(*byte, read);
        }
        let last = replaced.apply(&mut self.terms, next)?;
        let zero = self.terms.constant(0, 64);
        let is_none = self.terms.eq(length, zero);
        let width = self.terms.width(last);
        let first = first.to_term(&mut self.terms, width);
        Some(self.terms.ite(is_none, first, last))
    }
}
