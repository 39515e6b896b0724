//! Loops that only scan, copy or fill: all their rounds but the last are done at once.
//!
//! At the head of such a loop one round is executed aside, on symbols in place of the variables that change. That shows what every round
//! does: which variables move on by a constant, which bytes are read and written, and under which conditions the loop goes on. Where
//! these conditions speak of one byte that is read, or compare a counter with something that stays, the number of rounds is a term: the distance to the
//! first byte that ends the loop, or to the end of an object, or what the counter has left, whichever is least. The variables are moved on by so many rounds,
//! the bytes are copied as a layer, and the round that ends the loop, or goes wrong, is executed as usual. Nothing is asked, and nothing is
//! guessed: where a round does anything else, it is executed as usual, too.

use std::rc::Rc;

use ir::{BlockId, FuncId, Inst, Terminator};
use rustc_hash::FxHashMap;
use term::{Assignment, Eval, SymbolId, TermId, View};

use crate::layers::{Layers, Text, Zeros};
use crate::run::Machine;
use crate::seek::{Limit, Reach, Stops};
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

/// What one round does.
struct Round {
    stays: Vec<TermId>,
    /// Address and the symbol of the byte.
    loads: Vec<(TermId, TermId)>,
    /// Address and byte.
    store: Option<(TermId, TermId)>,
    next: Vec<TermId>,
}

/// Where a round is walked.
struct Walk<'w> {
    head: BlockId,
    body: &'w [BlockId],
    variables: &'w [Variable],
}

/// What becomes of a round.
enum Way {
    Leaves,
    /// It is back at the head, with these values of the variables.
    Back(Vec<TermId>),
}

enum Edges<'f> {
    One(&'f ir::Edge),
    Two(TermId, &'f ir::Edge, &'f ir::Edge),
}

/// How often a round may part.
const MAX_WAYS: u32 = 6;

/// Bytes that the rounds go through, from the first on.
struct Row {
    object: ObjectId,
    at: TermId,
    extent: TermId,
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
        if let Some((length, next)) = rounds {
            next(self, state);
            self.looks_at_rounds(state, length);
            self.tlb.flush();
        }
    }

    /// How many rounds are done, and what doing them is.
    #[allow(clippy::type_complexity)]
    fn rounds(&mut self, state: &State, shape: &LoopShape) -> Option<(TermId, Box<dyn FnOnce(&mut Self, &mut State)>)> {
        let body = &shape.body;
        let variables: Vec<Variable> =
            shape.variables.iter().map(|(reg, bits)| Variable { reg: *reg, bits: *bits }).collect();
        let changes = self.changes(state, body, &variables)?;
        let first: Vec<Value> = variables.iter().map(|variable| state.top.value(variable.reg, variable.bits)).collect();
        // One counter of 32 bits is the symbol itself: then its widened value is one, too.
        let counts = |idx: &usize| variables[*idx].bits == 32 && changes[*idx] == Change::Step(1);
        let counter = (0..variables.len()).find(counts);
        let begins_at = match counter.map(|idx| first[idx]) {
            Some(value) if value.term().is_some() || value.bits >= LARGE_START => return None,
            Some(value) => value.bits,
            None => 0,
        };
        let count = self.terms.symbol("round", COUNT_BITS);
        let mut begin = Vec::new();
        for (idx, variable) in variables.iter().enumerate() {
            begin.push(match changes[idx] {
                Change::Stays => first[idx].to_term(&mut self.terms, u32::from(variable.bits)),
                Change::Last => self.terms.symbol(&format!("round.last.{idx}"), u32::from(variable.bits)),
                Change::Step(_) if variable.bits < 32 => return None,
                Change::Step(step) => {
                    let width = u32::from(variable.bits);
                    let wide = self.terms.zext(count, width);
                    self.moved_on(first[idx], step, wide, begins_at, width)
                }
            });
        }
        for (idx, term) in begin.iter().enumerate() {
            if let (Change::Step(_), None, 64) = (changes[idx], first[idx].term(), variables[idx].bits) {
                self.starts.enter(*term, first[idx].bits as u64);
            } else if let (Change::Step(_), Some(from)) = (changes[idx], first[idx].term()) {
                self.starts.pass_on(from, *term);
            }
        }
        let round = self.round(state, body, &variables, &begin)?;
        let opaque: Vec<SymbolId> = self.symbols_of(&begin, |idx| changes[idx] == Change::Last);
        let relevant = round.stays.iter().chain(round.loads.iter().map(|(addr, _)| addr));
        let stored = round.store.iter().flat_map(|(addr, byte)| [addr, byte]);
        if relevant.chain(stored).any(|term| self.mentions(*term, &opaque)) {
            return None;
        }
        let counter = self.terms.symbols(count).to_vec();
        let bytes: Vec<SymbolId> = round.loads.iter().map(|(_, byte)| self.terms.symbols(*byte)[0]).collect();
        let mut rows = Vec::new();
        for (addr, _) in &round.loads {
            rows.push(self.row(state, *addr, count, begins_at, &counter)?);
        }
        // What ends the loop, for each byte and for the counter.
        let mut conditions: Vec<Vec<TermId>> = vec![Vec::new(); rows.len()];
        let mut limits = Vec::new();
        let mut parts = Vec::new();
        for stay in &round.stays {
            self.conjuncts(*stay, &mut parts);
        }
        for stay in &parts {
            let of_byte: Vec<usize> =
                (0..bytes.len()).filter(|idx| self.mentions(*stay, &bytes[*idx..*idx + 1])).collect();
            match (of_byte.as_slice(), self.mentions(*stay, &counter)) {
                ([one], false) => conditions[*one].push(*stay),
                ([], true) => limits.push(self.rounds_left(*stay, count, begins_at, &counter)?),
                ([], false) if self.terms.is_true(*stay) => {}
                _ => return None,
            }
        }
        // Every round reads or writes a byte, so there are no more of them than an object has bytes.
        if rows.is_empty() && round.store.is_none() {
            return None;
        }
        let mut is_certain = true;
        let mut valid = self.terms.tru();
        for (idx, row) in rows.iter().enumerate() {
            is_certain &= state.memory.get(row.object).is_plain();
            let is_inside = self.spans.positions.less_number(&mut self.terms, row.at, row.extent);
            valid = self.terms.and(valid, is_inside);
            let end = match conditions[idx].is_empty() {
                true => row.extent,
                false => {
                    let stops = self.stops_of(&conditions[idx], bytes[idx]);
                    let object = Rc::clone(state.memory.get(row.object));
                    let pile = self.pile_of(&object);
                    let reach = Reach { from: row.at, to: row.extent, limit: Limit::Object };
                    let found = self.seek(&pile, reach, &stops, &mut 0).ok()?;
                    self.remember_found(&pile, &found);
                    found.at
                }
            };
            limits.push(self.terms.sub(end, row.at));
        }
        let store = match round.store {
            None => None,
            Some((addr, byte)) => {
                let row = self.row(state, addr, count, begins_at, &counter)?;
                let found = state.memory.get(row.object);
                if found.kind == ObjectKind::Constant || rows.iter().any(|read| read.object == row.object) {
                    return None;
                }
                is_certain &= found.is_plain();
                let is_inside = self.spans.positions.less_number(&mut self.terms, row.at, row.extent);
                valid = self.terms.and(valid, is_inside);
                limits.push(self.terms.sub(row.extent, row.at));
                let copied = round.loads.iter().position(|(_, read)| *read == byte);
                if copied.is_none() && (self.mentions(byte, &bytes) || self.mentions(byte, &counter)) {
                    return None;
                }
                Some((row, copied, byte))
            }
        };
        let mut length = limits.pop()?;
        for limit in limits {
            let is_less = self.spans.positions.less_number(&mut self.terms, limit, length);
            length = self.terms.ite(is_less, limit, length);
        }
        let nothing = self.terms.constant(0, 64);
        length = self.terms.ite(valid, length, nothing);
        if self.terms.as_const(length).is_some_and(|length| length == 0 || is_certain) {
            return None;
        }
        // The values after so many rounds.
        let mut after = Vec::new();
        for (idx, variable) in variables.iter().enumerate() {
            let width = u32::from(variable.bits);
            let term = match changes[idx] {
                Change::Stays => continue,
                Change::Step(step) => {
                    let narrow = self.terms.extract(length, width - 1, 0);
                    let moved = self.moved_on(first[idx], step, narrow, 0, width);
                    if let (None, 64) = (first[idx].term(), variable.bits) {
                        self.starts.enter(moved, first[idx].bits as u64);
                    } else if let Some(from) = first[idx].term() {
                        self.starts.pass_on(from, moved);
                    }
                    moved
                }
                Change::Last => self.last_value(state, &round, idx, &rows, &bytes, length, first[idx], width)?,
            };
            after.push((*variable, term));
        }
        let done = move |machine: &mut Machine<'_>, state: &mut State| {
            for (variable, term) in after {
                let value = Value::of_term(&machine.terms, term, Label::EMPTY);
                state.top.set(variable.reg, variable.bits, value);
            }
            if let Some((row, copied, byte)) = store {
                let (above, from) = match copied {
                    Some(read) => {
                        let source = Rc::clone(state.memory.get(rows[read].object));
                        (machine.pile_of(&source), rows[read].at)
                    }
                    None => {
                        let text = Text::of_byte(byte, Zeros::Some);
                        (Rc::new(Layers::Text(text)), machine.terms.constant(0, 64))
                    }
                };
                machine.lay_row(state, row.object, row.at, above, from, length);
            }
        };
        Some((length, Box::new(done)))
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

    /// What a round does to the variables, whatever they are.
    fn changes(&mut self, state: &State, body: &[BlockId], variables: &[Variable]) -> Option<Vec<Change>> {
        let symbol = |(idx, variable): (usize, &Variable)| {
            self.terms.symbol(&format!("round.variable.{idx}"), u32::from(variable.bits))
        };
        let begin: Vec<TermId> = variables.iter().enumerate().map(symbol).collect();
        let round = self.round(state, body, variables, &begin)?;
        let all = self.symbols_of(&begin, |_| true);
        let mut changes = Vec::new();
        for (begin, next) in begin.iter().zip(&round.next) {
            let difference = self.terms.sub(*next, *begin);
            changes.push(match self.terms.as_const(difference) {
                Some(0) => Change::Stays,
                Some(step) => Change::Step(step),
                None if !self.mentions(*next, &all) => Change::Last,
                None => return None,
            });
        }
        changes.iter().any(|change| matches!(change, Change::Step(_))).then_some(changes)
    }

    /// Executes one round aside, from these values of the variables on. `None` where it does what is not understood.
    fn round(&mut self, state: &State, body: &[BlockId], variables: &[Variable], begin: &[TermId]) -> Option<Round> {
        let mut aside = state.clone();
        for (variable, term) in variables.iter().zip(begin) {
            let value = Value::of_term(&self.terms, *term, Label::EMPTY);
            aside.top.set(variable.reg, variable.bits, value);
        }
        let mut round = Round { stays: Vec::new(), loads: Vec::new(), store: None, next: Vec::new() };
        let walk = Walk { head: state.top.block, body, variables };
        match self.walk(aside, &walk, &mut round, MAX_WAYS)? {
            Way::Leaves => None,
            Way::Back(next) => {
                round.next = next;
                Some(round)
            }
        }
    }

    /// Goes on with a round until it is back at the head or has left the loop. Where it parts, both ways must do the same.
    fn walk(&mut self, mut aside: State, walk: &Walk, round: &mut Round, n_ways: u32) -> Option<Way> {
        let image = self.image;
        let function = image.module.function(aside.top.func);
        for _ in 0..=walk.body.len() {
            let block = function.block(aside.top.block);
            for (inst, idx) in block.insts.iter().zip(0..) {
                aside.top.inst_idx = idx;
                self.round_step(&mut aside, inst, &function.calls, round)?;
            }
            aside.top.inst_idx = block.insts.len() as u32;
            let (cond, then, other) = match self.round_edges(&aside, &block.terminator, walk, round)? {
                Edges::One(edge) => match self.follow_edge(&mut aside, edge, walk) {
                    Some(way) => return Some(way),
                    None => continue,
                },
                Edges::Two(cond, then, other) => (cond, then, other),
            };
            let n_ways = n_ways.checked_sub(1)?;
            let mut ways = Vec::new();
            for edge in [then, other] {
                let mut there = aside.clone();
                let mut part =
                    Round { stays: Vec::new(), loads: round.loads.clone(), store: round.store, next: Vec::new() };
                let way = match self.follow_edge(&mut there, edge, walk) {
                    Some(way) => way,
                    None => self.walk(there, walk, &mut part, n_ways)?,
                };
                round.loads = part.loads;
                ways.push((way, part.stays, part.store));
            }
            return self.join_ways(cond, ways, round);
        }
        None
    }

    /// Takes an edge; where it leaves the loop or leads to its head, that is what became of the round.
    fn follow_edge(&mut self, aside: &mut State, edge: &ir::Edge, walk: &Walk) -> Option<Way> {
        if !walk.body.contains(&edge.target) {
            return Some(Way::Leaves);
        }
        for step in &edge.moves {
            let value = aside.top.value(step.src, step.bits);
            aside.top.set(step.dst, step.bits, value);
        }
        aside.top.block = edge.target;
        if edge.target != walk.head {
            return None;
        }
        let next = |variable: &Variable| {
            let value = aside.top.value(variable.reg, variable.bits);
            value.to_term(&mut self.terms, u32::from(variable.bits))
        };
        Some(Way::Back(walk.variables.iter().map(next).collect()))
    }

    fn join_ways(
        &mut self,
        cond: TermId,
        ways: Vec<(Way, Vec<TermId>, Option<(TermId, TermId)>)>,
        round: &mut Round,
    ) -> Option<Way> {
        let mut stays = self.terms.fls();
        let mut joint: Option<(Vec<TermId>, Option<(TermId, TermId)>)> = None;
        let negated = self.terms.not(cond);
        for ((way, conditions, store), side) in ways.into_iter().zip([cond, negated]) {
            let Way::Back(next) = way else { continue };
            let mut all = side;
            for condition in conditions {
                all = self.terms.and(all, condition);
            }
            stays = self.terms.or(stays, all);
            match &joint {
                Some(known) if *known != (next.clone(), store) => return None,
                Some(_) => {}
                None => joint = Some((next, store)),
            }
        }
        let Some((next, store)) = joint else { return Some(Way::Leaves) };
        round.store = store;
        round.stays.push(stays);
        Some(Way::Back(next))
    }

    fn round_step(&mut self, aside: &mut State, inst: &Inst, calls: &[ir::Call], round: &mut Round) -> Option<()> {
        let pointer_bits = self.image.pointer_bits();
        match inst {
            Inst::Load { dst, bits, addr, .. } => {
                let addr = aside.top.value(*addr, pointer_bits);
                let of_round = |symbol: &SymbolId| self.terms.symbol_name(*symbol).starts_with("round");
                let changes = |term: TermId| self.terms.symbols(term).iter().any(of_round);
                match addr.term().filter(|term| changes(*term)) {
                    None if round.store.is_some() => return None,
                    None => {
                        let value = self.load(aside, addr, *bits).ok()?;
                        aside.top.set(*dst, *bits, value);
                    }
                    Some(term) if *bits == 8 => {
                        let known = round.loads.iter().find(|(known, _)| *known == term).map(|(_, byte)| *byte);
                        let byte = match known {
                            Some(byte) => byte,
                            None => self.terms.symbol(&format!("round.byte.{}", round.loads.len()), 8),
                        };
                        if known.is_none() {
                            round.loads.push((term, byte));
                        }
                        aside.top.set(*dst, 8, Value::of_term(&self.terms, byte, Label::EMPTY));
                    }
                    Some(_) => return None,
                }
            }
            Inst::Store { src, bits: 8, addr, .. } if round.store.is_none() => {
                let (addr, byte) = (aside.top.value(*addr, pointer_bits), aside.top.value(*src, 8));
                round.store = Some((addr.term()?, byte.to_term(&mut self.terms, 8)));
            }
            Inst::Const { .. }
            | Inst::Address { .. }
            | Inst::Copy { .. }
            | Inst::Bin { .. }
            | Inst::BinImm { .. }
            | Inst::Cmp { .. }
            | Inst::CmpImm { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::BitOp { .. }
            | Inst::Index { .. } => {
                self.slow(aside, inst, calls).ok()?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Which edges a round may take.
    fn round_edges<'f>(
        &mut self,
        aside: &State,
        terminator: &'f Terminator,
        walk: &Walk,
        round: &mut Round,
    ) -> Option<Edges<'f>> {
        let (cond, then, other) = match terminator {
            Terminator::Jump(edge) => return Some(Edges::One(edge)),
            Terminator::Branch { cond, then, other } => (aside.top.value(*cond, 1), then, other),
            Terminator::CmpBranch { op, bits, a, b, then, other } => {
                let (a, b) = (aside.top.value(*a, *bits), aside.top.value(*b, *bits));
                (self.compare(*op, *bits, a, b), then, other)
            }
            Terminator::CmpImmBranch { op, bits, a, imm, then, other } => {
                let a = aside.top.value(*a, *bits);
                (self.compare(*op, *bits, a, Value::concrete(u128::from(*imm))), then, other)
            }
            Terminator::Switch { value, bits, cases, default } => {
                let value = aside.top.value(*value, *bits).to_term(&mut self.terms, u32::from(*bits));
                return self.round_switch(value, *bits, cases, default, walk.body, round).map(Edges::One);
            }
            Terminator::Return(_) | Terminator::IndirectJump { .. } | Terminator::Unreachable => return None,
        };
        Some(match cond.term() {
            None => Edges::One(if cond.bits != 0 { then } else { other }),
            Some(term) => Edges::Two(term, then, other),
        })
    }

    /// A switch of which one edge stays in the loop.
    fn round_switch<'f>(
        &mut self,
        value: TermId,
        bits: u8,
        cases: &'f [(u64, ir::Edge)],
        default: &'f ir::Edge,
        body: &[BlockId],
        round: &mut Round,
    ) -> Option<&'f ir::Edge> {
        let inside: Vec<_> = cases.iter().filter(|(_, edge)| body.contains(&edge.target)).collect();
        let stays_by_default = body.contains(&default.target);
        let first = if stays_by_default { default } else { &inside.first()?.1 };
        if inside.iter().any(|(_, edge)| edge != first) {
            return None;
        }
        let mut stays = if stays_by_default { self.terms.tru() } else { self.terms.fls() };
        for (case, edge) in cases {
            let case = self.terms.constant(u128::from(*case), u32::from(bits));
            let is_case = self.terms.eq(value, case);
            let is_other = self.terms.not(is_case);
            match (body.contains(&edge.target), stays_by_default) {
                (true, false) => stays = self.terms.or(stays, is_case),
                (false, true) => stays = self.terms.and(stays, is_other),
                _ => {}
            }
        }
        round.stays.push(stays);
        Some(first)
    }

    /// The bytes at an address that moves on by one in each round.
    fn row(
        &mut self,
        state: &State,
        addr: TermId,
        count: TermId,
        begins_at: u128,
        counter: &[SymbolId],
    ) -> Option<Row> {
        let wide = self.terms.zext(count, 64);
        let rest = self.terms.sub(addr, wide);
        if self.mentions(rest, counter) {
            return None;
        }
        let begins_at = self.terms.constant(begins_at, 64);
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

    /// How many rounds a condition on the counter lets go by.
    fn rounds_left(&mut self, stay: TermId, count: TermId, begins_at: u128, counter: &[SymbolId]) -> Option<TermId> {
        let (view, is_negated) = match self.terms.view(stay) {
            View::Not(inner) => (self.terms.view(inner), true),
            view => (view, false),
        };
        let (a, b, is_signed, is_equal) = match view {
            View::Ult(a, b) => (a, b, false, false),
            View::Slt(a, b) => (a, b, true, false),
            View::Eq(a, b) => (a, b, false, true),
            _ => return None,
        };
        let (moving, fixed, is_left) = match (self.mentions(a, counter), self.mentions(b, counter)) {
            (true, false) => (a, b, true),
            (false, true) => (b, a, false),
            _ => return None,
        };
        let (mut moving, mut fixed, mut width) = (moving, fixed, self.terms.width(moving));
        if width == COUNT_BITS && !is_signed {
            // Compared with something small, the counter was left as narrow as it is.
            (moving, fixed, width) = (self.terms.zext(moving, 64), self.terms.zext(fixed, 64), 64);
        }
        if width < 32 {
            return None;
        }
        let narrow = self.terms.zext(count, width);
        let (up, down) = (self.terms.sub(moving, narrow), self.terms.add(moving, narrow));
        let begins_at = self.terms.constant(begins_at, width);
        let zero = self.terms.constant(0, width);
        // Where the counter begins, and how far it is to where the loop ends.
        let (distance, goes_on) = if !self.mentions(up, counter) {
            let start = self.terms.add(up, begins_at);
            let is_small = |machine: &Self, term: TermId| {
                let most = 1u128 << if width == 64 { 62 } else { 30 };
                machine.terms.as_const(term).is_some_and(|value| value < most)
            };
            if is_signed && !is_small(self, start) {
                return None;
            }
            match (is_equal, is_left, is_negated) {
                // counter != fixed
                (true, _, true) => {
                    let distance = self.terms.sub(fixed, start);
                    let is_before = self.terms.ule(start, fixed);
                    // Beyond it the counter goes on for very long.
                    let most = self.terms.constant(u128::from(u32::MAX >> 2), width);
                    (self.terms.ite(is_before, distance, most), self.terms.tru())
                }
                // counter < fixed
                (false, true, false) => {
                    let goes_on = if is_signed { self.terms.slt(start, fixed) } else { self.terms.ult(start, fixed) };
                    (self.terms.sub(fixed, start), goes_on)
                }
                // counter <= fixed
                (false, false, true) => {
                    let goes_on = if is_signed { self.terms.sle(start, fixed) } else { self.terms.ule(start, fixed) };
                    let distance = self.terms.sub(fixed, start);
                    let one = self.terms.constant(1, width);
                    let top = self.terms.constant(u128::MAX >> (128 - width), width);
                    let is_top = self.terms.eq(distance, top);
                    if !self.terms.is_false(is_top) && self.terms.is_true(is_top) {
                        return None;
                    }
                    // One more would wrap around only where the counter never ends.
                    let more = self.terms.add(distance, one);
                    (self.terms.ite(is_top, distance, more), goes_on)
                }
                _ => return None,
            }
        } else if !self.mentions(down, counter) && !is_signed {
            // It counts down.
            let start = self.terms.sub(down, begins_at);
            match (is_equal, is_left, is_negated) {
                // counter != fixed
                (true, _, true) => {
                    let distance = self.terms.sub(start, fixed);
                    let is_above = self.terms.ule(fixed, start);
                    (self.terms.ite(is_above, distance, zero), self.terms.tru())
                }
                // fixed < counter
                (false, false, false) => {
                    let goes_on = self.terms.ult(fixed, start);
                    (self.terms.sub(start, fixed), goes_on)
                }
                _ => return None,
            }
        } else {
            return None;
        };
        let distance = self.terms.ite(goes_on, distance, zero);
        Some(self.terms.zext(distance, 64))
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
    #[allow(clippy::too_many_arguments)]
    fn last_value(
        &mut self,
        state: &State,
        round: &Round,
        idx: usize,
        rows: &[Row],
        bytes: &[SymbolId],
        length: TermId,
        first: Value,
        width: u32,
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
        let last = replaced.apply(&mut self.terms, round.next[idx])?;
        let zero = self.terms.constant(0, 64);
        let is_none = self.terms.eq(length, zero);
        let first = first.to_term(&mut self.terms, width);
        Some(self.terms.ite(is_none, first, last))
    }
}
