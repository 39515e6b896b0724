//! Loops that only scan, copy or fill: all their rounds but the last are done at once.
//!
//! At the head of such a loop one round is executed aside, on symbols in place of the variables that change. That shows what every round
//! does: which variables move on by a constant, which bytes are read and written, and under which conditions the loop goes on. Where
//! these conditions speak of one byte that is read, or compare a counter with something that stays, the number of rounds is a term: the distance to the
//! first byte that ends the loop, or to the end of an object, or what the counter has left, whichever is least. The variables are moved on by so many rounds,
//! the bytes are copied as a layer, and the round that ends the loop, or goes wrong, is executed as usual. Nothing is asked, and nothing is
//! guessed: where a round does anything else, it is executed as usual, too.
//!
//! Rows of bytes may be gone through forwards or backwards. What is written may be computed from the byte that is read. A variable may also count bytes
//! of some kind, or keep where the last of some kind was: that follows from the pile as well.

mod after;
mod aside;
mod left;
mod linear;

use std::rc::Rc;

use ir::{BlockId, FuncId};
use rustc_hash::FxHashMap;
use term::{Replacement, SymbolId, TermId, View};

use self::aside::{Next, Round, Turn};
use self::linear::Linear;
use crate::layers::{Layers, Mapped, Text, Zeros};
use crate::run::{Machine, Step};
use crate::seek::{Limit, Reach, Stops, Which};
use crate::spans::Located;
use crate::split::Taken;
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
/// More rounds than there ever are.
const VERY_MANY: u64 = 1 << 40;

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
    /// Something else: nothing of the round may depend on what it was.
    Other,
}

/// What all rounds that are done at once do.
struct Rounds {
    length: TermId,
    /// What their number was told by.
    looked: [TermId; 2],
    /// What the variables are afterwards.
    after: Vec<(Variable, TermId)>,
    store: Option<Store>,
}

/// A loop as it was understood, before its number of rounds is settled.
struct Draft {
    variables: Vec<Variable>,
    changes: Vec<Change>,
    first: Vec<Value>,
    begin: Vec<TermId>,
    course: Course,
    store: Option<Store>,
    length: TermId,
}

/// Bytes that are written.
struct Store {
    row: Row,
    above: Rc<Layers>,
    /// Where in the pile the byte of the first round is, if they are not all the same.
    from: Option<TermId>,
}

/// What counts the rounds.
struct Counter {
    term: TermId,
    /// What it is in the first of them.
    begins_at: u128,
    symbols: Vec<SymbolId>,
}

/// Bytes that the rounds go through, from the first on.
#[derive(Clone, Copy)]
struct Row {
    object: ObjectId,
    at: TermId,
    extent: TermId,
    heading: Heading,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Heading {
    Up,
    Down,
}

/// What a loop goes through.
struct Course {
    round: Round,
    counter: Counter,
    rows: Vec<Row>,
    /// The symbols of the bytes that are read in them.
    bytes: Vec<SymbolId>,
    /// Symbols that nothing may depend on.
    opaque: Vec<SymbolId>,
}

/// The limits of a loop: it goes on for no more rounds than the least of them, and for none unless `valid`.
struct Limits {
    rounds: Vec<TermId>,
    valid: TermId,
    /// Whether all memory that is gone through is plain.
    is_certain: bool,
}

impl Machine<'_> {
    /// At the head of a loop: does the rounds of it that can be done at once. Where that has to ask, the state stands there until it is
    /// answered.
    #[cold]
    pub(crate) fn hurry(&mut self, state: &mut State) -> Step<()> {
        if self.spans.sizes == Sizes::Picked {
            return Ok(());
        }
        let Some(shape) = self.spans.loops.get(&(state.top.func, state.top.block)).cloned() else { return Ok(()) };
        let n_notes = self.notes.len();
        let rounds = self.rounds(state, &shape);
        self.notes.truncate(n_notes);
        state.is_at_rounds = rounds.is_err();
        if let Some(rounds) = rounds? {
            self.do_rounds(state, rounds);
        }
        self.settle_answers(state);
        Ok(())
    }

    fn do_rounds(&mut self, state: &mut State, rounds: Rounds) {
        let Rounds { length, looked, after, store } = rounds;
        looked.into_iter().for_each(|term| self.looks_at_term(state, term));
        self.summarise(state, "loop");
        for (variable, term) in after {
            self.looks_at_term(state, term);
            let value = Value::of_term(&self.terms, term, Label::EMPTY);
            state.top.set(variable.reg, variable.bits, value);
        }
        if let Some(Store { row, above, from }) = store {
            let at = self.lowest(row.at, row.heading, length);
            let from = match from {
                Some(from) => self.lowest(from, row.heading, length),
                None => self.terms.constant(0, 64),
            };
            self.lay(state, &Located { object: row.object, at }, above, from, length);
        }
        self.tlb.flush();
    }

    /// The lowest offset of so many rounds.
    fn lowest(&mut self, at: TermId, heading: Heading, length: TermId) -> TermId {
        if heading == Heading::Up {
            return at;
        }
        let one = self.terms.constant(1, 64);
        let behind = self.terms.add(at, one);
        self.terms.sub(behind, length)
    }

    /// What the rounds that can be done at once do.
    fn rounds(&mut self, state: &State, shape: &LoopShape) -> Step<Option<Rounds>> {
        let Some(draft) = self.draft(state, shape) else { return Ok(None) };
        self.running.n_answered = 0;
        let taken = self.split(state, draft.length)?;
        Ok(self.carry_out(state, draft, taken))
    }

    /// What a loop goes through, and for how many rounds.
    fn draft(&mut self, state: &State, shape: &LoopShape) -> Option<Draft> {
        let body = &shape.body;
        let variables: Vec<Variable> =
            shape.variables.iter().map(|(reg, bits)| Variable { reg: *reg, bits: *bits }).collect();
        let changes = self.changes(state, body, &variables)?;
        let first: Vec<Value> = variables.iter().map(|variable| state.top.value(variable.reg, variable.bits)).collect();
        let counter = self.counter(&variables, &changes, &first);
        let begin = self.begin(&variables, &changes, &first, &counter);
        let opaque: Vec<SymbolId> = self.symbols_of(&begin, |idx| changes[idx] == Change::Other);
        let moving = [&opaque[..], &counter.symbols].concat();
        let round = self.round(state, body, &variables, &begin, &moving)?;
        let course = self.course(state, round, counter, opaque)?;
        let mut limits = Limits { rounds: Vec::new(), valid: self.terms.tru(), is_certain: true };
        self.limit_by_conditions(state, &course, &mut limits)?;
        let store = match course.round.store {
            None => None,
            Some(_) => Some(self.store_of_rounds(state, &course, &mut limits)?),
        };
        let length = self.least(&limits)?;
        for (idx, _) in changes.iter().enumerate().filter(|(_, change)| **change == Change::Other) {
            self.after(state, &course, course.round.next[idx], begin[idx], first[idx], length)?;
        }
        Some(Draft { variables, changes, first, begin, course, store, length })
    }

    /// What the variables are after so many rounds as were drafted, in the case that was taken.
    fn carry_out(&mut self, state: &State, draft: Draft, taken: Taken) -> Option<Rounds> {
        let Draft { variables, changes, first, begin, course, store, .. } = draft;
        let Taken { value: length, cond, .. } = taken;
        if self.terms.as_const(length) == Some(0) {
            return None;
        }
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
                Change::Other => self.after(state, &course, course.round.next[idx], begin[idx], first[idx], length)?,
            };
            after.push((*variable, term));
        }
        Some(Rounds { length, looked: [cond, length], after, store })
    }

    /// One counter of 32 bits that begins with a known number is the symbol itself.
    fn counter(&mut self, variables: &[Variable], changes: &[Change], first: &[Value]) -> Counter {
        let counts = |idx: &usize| variables[*idx].bits == 32 && changes[*idx] == Change::Step(1);
        let value = (0..variables.len()).filter(counts).map(|idx| first[idx]).next();
        let known = value.filter(|value| value.term().is_none() && value.bits < LARGE_START);
        let term = self.terms.symbol("round", COUNT_BITS);
        let symbols = self.terms.symbols(term).to_vec();
        Counter { term, begins_at: known.map_or(0, |value| value.bits), symbols }
    }

    /// The variables in the round that the counter says.
    fn begin(&mut self, variables: &[Variable], changes: &[Change], first: &[Value], counter: &Counter) -> Vec<TermId> {
        let mut begin = Vec::new();
        for (idx, variable) in variables.iter().enumerate() {
            let width = u32::from(variable.bits);
            begin.push(match changes[idx] {
                Change::Stays => first[idx].to_term(&mut self.terms, width),
                Change::Other => self.terms.symbol(&format!("round.other.{idx}"), width),
                Change::Step(step) => {
                    let wide = self.terms.zext(counter.term, width);
                    let moved = self.moved_on(first[idx], step, wide, counter.begins_at, width);
                    self.start_at(first[idx], *variable, moved);
                    moved
                }
            });
        }
        begin
    }

    /// What a variable was moved on to is computed from what it was.
    fn start_at(&mut self, first: Value, variable: Variable, moved: TermId) {
        match first.term() {
            None if variable.bits == 64 => self.starts.enter(moved, first.bits as u64),
            None => {}
            Some(from) => self.starts.pass_on(from, moved),
        }
    }

    /// The rows that a round reads in; nothing depends on what is not understood.
    fn course(&mut self, state: &State, round: Round, counter: Counter, opaque: Vec<SymbolId>) -> Option<Course> {
        let relevant = round.stays.iter().chain(round.reads.iter().map(|read| &read.addr));
        let stored = round.store.iter().flat_map(|store| [&store.addr, &store.byte]);
        if relevant.chain(stored).any(|term| self.mentions(*term, &opaque)) {
            return None;
        }
        let bytes = round.reads.iter().map(|read| self.terms.symbols(read.byte)[0]).collect();
        let mut rows = Vec::new();
        for read in &round.reads {
            rows.push(self.row(state, read.addr, &counter)?);
        }
        Some(Course { round, counter, rows, bytes, opaque })
    }

    /// What ends the loop, for each byte and for the counter.
    fn limit_by_conditions(&mut self, state: &State, course: &Course, limits: &mut Limits) -> Option<()> {
        let Course { round, counter, rows, bytes, .. } = course;
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
            let limit = match conditions[idx].is_empty() {
                true => self.room_in(row),
                false => {
                    let stops = self.stops_of(&conditions[idx], bytes[idx]);
                    self.rounds_to_stop(state, row, &stops)?
                }
            };
            limits.rounds.push(limit);
        }
        Some(())
    }

    /// How many rounds there are before a byte that ends the loop.
    fn rounds_to_stop(&mut self, state: &State, row: &Row, stops: &Stops) -> Option<TermId> {
        let object = Rc::clone(state.memory.get(row.object));
        let pile = self.pile_of(&object);
        if row.heading == Heading::Up {
            let reach = Reach { from: row.at, to: row.extent, limit: Limit::Object };
            let found = self.seek(&pile, reach, stops, Which::First, &mut 0).ok()?;
            self.remember_found(&pile, &found);
            return Some(self.terms.sub(found.at, row.at));
        }
        let (zero, one) = (self.terms.constant(0, 64), self.terms.constant(1, 64));
        let behind = self.terms.add(row.at, one);
        let reach = Reach { from: zero, to: behind, limit: Limit::Place };
        let found = self.seek(&pile, reach, stops, Which::Last, &mut 0).ok()?;
        let is_none = self.terms.eq(found.at, behind);
        let way = self.terms.sub(row.at, found.at);
        Some(self.terms.ite(is_none, behind, way))
    }

    /// How many bytes a row has.
    fn room_in(&mut self, row: &Row) -> TermId {
        let one = self.terms.constant(1, 64);
        match row.heading {
            Heading::Up => self.terms.sub(row.extent, row.at),
            Heading::Down => self.terms.add(row.at, one),
        }
    }

    /// There is something at the beginning of a row, or there is no round.
    fn enters_row(&mut self, state: &State, row: &Row, limits: &mut Limits) {
        limits.is_certain &= state.memory.get(row.object).is_plain();
        let is_inside = self.spans.positions.less_number(&mut self.terms, row.at, row.extent);
        limits.valid = self.terms.and(limits.valid, is_inside);
    }

    fn store_of_rounds(&mut self, state: &State, course: &Course, limits: &mut Limits) -> Option<Store> {
        let Course { round, counter, rows, bytes, .. } = course;
        let store = round.store?;
        let row = self.row(state, store.addr, counter)?;
        if state.memory.get(row.object).kind == ObjectKind::Constant {
            return None;
        }
        self.enters_row(state, &row, limits);
        limits.rounds.push(self.room_in(&row));
        self.keep_apart(course, &row, limits)?;
        if self.mentions(store.byte, &counter.symbols) {
            return None;
        }
        let of_byte: Vec<usize> =
            (0..bytes.len()).filter(|idx| self.mentions(store.byte, &bytes[*idx..*idx + 1])).collect();
        match *of_byte.as_slice() {
            [] => {
                let text = Text::of_byte(store.byte, Zeros::Some);
                Some(Store { row, above: Rc::new(Layers::Text(text)), from: None })
            }
            [read] if rows[read].heading == row.heading => {
                let source = Rc::clone(state.memory.get(rows[read].object));
                let mut above = self.pile_of(&source);
                // What is computed of a byte must be sayable of any other.
                let mut trial = Replacement::default();
                trial.bind(bytes[read], self.terms.byte_constant(0));
                trial.apply(&mut self.terms, store.byte)?;
                if round.reads[read].byte != store.byte {
                    above = Rc::new(Layers::Mapped(Mapped { of: above, byte: bytes[read], value: store.byte }));
                }
                Some(Store { row, above, from: Some(rows[read].at) })
            }
            _ => None,
        }
    }

    /// No round reads what an earlier one has written.
    fn keep_apart(&mut self, course: &Course, row: &Row, limits: &mut Limits) -> Option<()> {
        let many = self.terms.constant(u128::from(VERY_MANY), 64);
        for (read, place) in course.round.reads.iter().zip(&course.rows) {
            if place.object != row.object {
                continue;
            }
            if place.heading != row.heading {
                return None;
            }
            // Ahead of what is written, or at it before it is written.
            let (behind, ahead) = match row.heading {
                Heading::Up => (row.at, place.at),
                Heading::Down => (place.at, row.at),
            };
            let is_apart = match read.turn {
                Turn::BeforeStore => self.terms.ule(behind, ahead),
                Turn::AfterStore => self.terms.ult(behind, ahead),
            };
            let distance = self.terms.sub(behind, ahead);
            limits.rounds.push(self.terms.ite(is_apart, many, distance));
        }
        for fixed in course.round.fixed.iter().filter(|fixed| fixed.object == row.object) {
            let start = self.terms.constant(u128::from(fixed.bytes.start), 64);
            let end = self.terms.constant(u128::from(fixed.bytes.end), 64);
            let one = self.terms.constant(1, 64);
            let zero = self.terms.constant(0, 64);
            let (is_beyond, is_before, distance) = match row.heading {
                Heading::Up => {
                    (self.terms.ule(end, row.at), self.terms.ule(row.at, start), self.terms.sub(start, row.at))
                }
                Heading::Down => {
                    let behind = self.terms.add(row.at, one);
                    (self.terms.ule(behind, start), self.terms.ule(end, behind), self.terms.sub(behind, end))
                }
            };
            let limit = self.terms.ite(is_before, distance, zero);
            limits.rounds.push(self.terms.ite(is_beyond, many, limit));
        }
        Some(())
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
        let linear = self.linear(addr, counter)?;
        let heading = match linear.times {
            1 => Heading::Up,
            -1 => Heading::Down,
            _ => return None,
        };
        let start = self.first_of(linear, counter);
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
        Some(Row { object, at: self.terms.sub(start, base), extent, heading })
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
        let stays = conditions.iter().fold(self.terms.tru(), |all, condition| self.terms.and(all, *condition));
        let ends = self.terms.not(stays);
        self.set_where(byte, ends).map_or(Stops::Where { byte, stays }, Stops::Set)
    }
}
