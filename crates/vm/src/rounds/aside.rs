//! One round of a loop, executed aside: on symbols in place of the variables that change, and on both ways where it parts.

use std::cell::Cell;
use std::ops::Range;

use ir::{BlockId, Callee, Inst, Terminator};
use term::{Assignment, Eval, SymbolId, TermId};

use super::{Change, Variable};
use crate::frame::Slot;
use crate::image::Binding;
use crate::run::Machine;
use crate::seek::{Sense, Stops, Which};
use crate::{Frame, Label, Liveness, ObjectId, Returns, State, Value};

/// How often a round may part.
const MAX_WAYS: u32 = 8;
/// Blocks that are gone through for one round, all ways together.
const MAX_BLOCKS: u32 = 200;
/// Tables that are read at a place that a byte decides have no more bytes than this.
const MAX_TABLE: u64 = 1 << 12;

/// What one round does.
#[derive(Default)]
pub(super) struct Round {
    /// All of them hold where the loop goes on.
    pub stays: Vec<TermId>,
    pub reads: Vec<Read>,
    pub store: Option<Written>,
    /// What every round reads at the same place.
    pub fixed: Vec<Fixed>,
    /// The variables after it.
    pub next: Vec<Next>,
}

/// A byte that is read somewhere else in each round, and the symbol that stands for it.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub addr: TermId,
    pub byte: TermId,
    pub turn: Turn,
}

/// Whether something is read before the round writes its byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    BeforeStore,
    AfterStore,
}

#[derive(Clone)]
pub(super) struct Fixed {
    pub object: ObjectId,
    pub bytes: Range<u64>,
}

/// A byte that a round writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub addr: TermId,
    pub byte: TermId,
}

/// A variable after a round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// So much more than before.
    Moved(TermId),
    Is(TermId),
}

/// Where a round is walked.
struct Walk<'w> {
    head: BlockId,
    body: &'w [BlockId],
    /// Frames there are in the loop itself.
    depth: u32,
    variables: &'w [Variable],
    begin: &'w [TermId],
    /// Symbols that stand for something else in each round, bytes apart.
    moving: &'w [SymbolId],
    n_blocks: Cell<u32>,
}

/// What becomes of a round.
enum Way {
    Leaves,
    Back(Back),
}

/// It is back at the head.
struct Back {
    next: Vec<Next>,
    store: Option<Written>,
}

enum Edges<'f> {
    One(&'f ir::Edge),
    Some(Vec<(TermId, &'f ir::Edge)>),
}

/// What a call does in a round.
enum Called {
    Entered,
    Done,
}

impl Machine<'_> {
    /// What a round does to the variables, whatever they are.
    pub(super) fn changes(&mut self, state: &State, body: &[BlockId], variables: &[Variable]) -> Option<Vec<Change>> {
        let symbol = |(idx, variable): (usize, &Variable)| {
            self.terms.symbol(&format!("round.variable.{idx}"), u32::from(variable.bits))
        };
        let begin: Vec<TermId> = variables.iter().enumerate().map(symbol).collect();
        let moving = self.symbols_of(&begin, |_| true);
        let round = self.round(state, body, variables, &begin, &moving)?;
        let change = |(next, variable): (&Next, &Variable)| match next {
            Next::Moved(by) => match self.terms.as_const(*by) {
                Some(0) => Change::Stays,
                Some(step) if variable.bits >= 32 => Change::Step(step),
                _ => Change::Other,
            },
            Next::Is(_) => Change::Other,
        };
        let changes: Vec<Change> = round.next.iter().zip(variables).map(change).collect();
        changes.iter().any(|change| matches!(change, Change::Step(_))).then_some(changes)
    }

    /// Executes one round aside, from these values of the variables on. `None` where it does what is not understood.
    pub(super) fn round(
        &mut self,
        state: &State,
        body: &[BlockId],
        variables: &[Variable],
        begin: &[TermId],
        moving: &[SymbolId],
    ) -> Option<Round> {
        let mut aside = state.clone();
        aside.answers.clear();
        self.running.n_answered = 0;
        for (variable, term) in variables.iter().zip(begin) {
            let value = Value::of_term(&self.terms, *term, Label::EMPTY);
            aside.top.set(variable.reg, variable.bits, value);
        }
        let mut round = Round::default();
        let (head, depth, n_blocks) = (state.top.block, state.depth, Cell::new(MAX_BLOCKS));
        let walk = Walk { head, body, depth, variables, begin, moving, n_blocks };
        match self.walk(aside, &walk, &mut round, MAX_WAYS)? {
            Way::Leaves => None,
            Way::Back(Back { next, store }) => {
                (round.next, round.store) = (next, store);
                Some(round)
            }
        }
    }

    /// Goes on with a round until it is back at the head or has left the loop. Where it parts, both ways are walked.
    fn walk(&mut self, mut aside: State, walk: &Walk, round: &mut Round, n_ways: u32) -> Option<Way> {
        let image = self.image;
        loop {
            walk.n_blocks.set(walk.n_blocks.get().checked_sub(1)?);
            let function = image.module.function(aside.top.func);
            let block = function.block(aside.top.block);
            let mut is_entered = false;
            for idx in aside.top.inst_idx as usize..block.insts.len() {
                aside.top.inst_idx = idx as u32;
                match &block.insts[idx] {
                    Inst::Call { call } => {
                        match self.round_call(&mut aside, &function.calls[call.idx()], walk, round)? {
                            Called::Entered => is_entered = true,
                            Called::Done => {}
                        }
                    }
                    inst => self.round_step(&mut aside, inst, &function.calls, walk, round)?,
                }
                if is_entered {
                    break;
                }
            }
            if is_entered {
                continue;
            }
            aside.top.inst_idx = block.insts.len() as u32;
            if let Terminator::Return(values) = &block.terminator {
                self.round_return(&mut aside, values, walk)?;
                continue;
            }
            let edges = match self.round_edges(&aside, &block.terminator)? {
                Edges::One(edge) => match self.follow_edge(&mut aside, edge, walk, round.store) {
                    Some(way) => return Some(way),
                    None => continue,
                },
                Edges::Some(edges) => edges,
            };
            let n_ways = n_ways.checked_sub(1)?;
            let mut ways = Vec::new();
            for (cond, edge) in edges {
                let mut there = aside.clone();
                let (reads, fixed) = (round.reads.clone(), round.fixed.clone());
                let mut part = Round { reads, fixed, store: round.store, ..Round::default() };
                let way = match self.follow_edge(&mut there, edge, walk, part.store) {
                    Some(way) => way,
                    None => self.walk(there, walk, &mut part, n_ways)?,
                };
                (round.reads, round.fixed) = (part.reads, part.fixed);
                let all = part.stays.iter().fold(cond, |all, stay| self.terms.and(all, *stay));
                if let Way::Back(back) = way {
                    ways.push((cond, all, back));
                }
            }
            return self.join_ways(ways, walk, round);
        }
    }

    /// Takes an edge; where it leaves the loop or leads to its head, that is what became of the round.
    fn follow_edge(&mut self, aside: &mut State, edge: &ir::Edge, walk: &Walk, store: Option<Written>) -> Option<Way> {
        let is_inside = aside.depth > walk.depth;
        if !is_inside && !walk.body.contains(&edge.target) {
            return Some(Way::Leaves);
        }
        for step in &edge.moves {
            let value = aside.top.value(step.src, step.bits);
            aside.top.set(step.dst, step.bits, value);
        }
        (aside.top.block, aside.top.inst_idx) = (edge.target, 0);
        if is_inside || edge.target != walk.head {
            return None;
        }
        let mut next = Vec::new();
        for (variable, begin) in walk.variables.iter().zip(walk.begin) {
            let value = aside.top.value(variable.reg, variable.bits);
            let term = value.to_term(&mut self.terms, u32::from(variable.bits));
            let by = self.terms.sub(term, *begin);
            next.push(if self.mentions(by, walk.moving) { Next::Is(term) } else { Next::Moved(by) });
        }
        Some(Way::Back(Back { next, store }))
    }

    /// What a round does that may go several ways: under a condition each, and they lead back where more holds.
    fn join_ways(&mut self, ways: Vec<(TermId, TermId, Back)>, walk: &Walk, round: &mut Round) -> Option<Way> {
        let mut stays = self.terms.fls();
        let mut joint: Option<Back> = None;
        for (cond, all, back) in ways {
            stays = self.terms.or(stays, all);
            joint = Some(match joint {
                None => back,
                Some(others) => Back {
                    next: self.join_next(cond, &back.next, &others.next, walk),
                    store: self.join_stores(cond, back.store, others.store, round)?,
                },
            });
        }
        let Some(back) = joint else { return Some(Way::Leaves) };
        round.stays.push(stays);
        Some(Way::Back(back))
    }

    fn join_next(&mut self, cond: TermId, a: &[Next], b: &[Next], walk: &Walk) -> Vec<Next> {
        let mut joint = Vec::new();
        for (idx, (a, b)) in a.iter().zip(b).enumerate() {
            joint.push(match (*a, *b) {
                (a, b) if a == b => a,
                (Next::Moved(a), Next::Moved(b)) => Next::Moved(self.terms.ite(cond, a, b)),
                (a, b) => {
                    let mut value = |next: Next| match next {
                        Next::Is(term) => term,
                        Next::Moved(by) => self.terms.add(walk.begin[idx], by),
                    };
                    let (a, b) = (value(a), value(b));
                    Next::Is(self.terms.ite(cond, a, b))
                }
            });
        }
        joint
    }

    /// Both write to one place, or one leaves there what it has read.
    fn join_stores(
        &mut self,
        cond: TermId,
        a: Option<Written>,
        b: Option<Written>,
        round: &Round,
    ) -> Option<Option<Written>> {
        let left = |addr: TermId| {
            let is_same = |read: &&Read| read.addr == addr && read.turn == Turn::BeforeStore;
            round.reads.iter().find(is_same).map(|read| Written { addr, byte: read.byte })
        };
        let (a, b) = match (a, b) {
            (a, b) if a == b => return Some(a),
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, left(a.addr)?),
            (None, Some(b)) => (left(b.addr)?, b),
            (None, None) => return Some(None),
        };
        (a.addr == b.addr).then(|| Some(Written { addr: a.addr, byte: self.terms.ite(cond, a.byte, b.byte) }))
    }

    /// Functions that only compute are entered.
    fn round_call(&mut self, aside: &mut State, call: &ir::Call, walk: &Walk, round: &mut Round) -> Option<Called> {
        let Callee::Function(func) = call.callee else { return None };
        let function = self.image.module.function(func);
        let is_odd = function.variadic || call.args.len() != function.params.len();
        if is_odd || self.claimed[func.idx()] || call.args.iter().any(|arg| arg.byval.is_some() || arg.bits > 64) {
            return None;
        }
        match self.image.bindings[func.idx()] {
            Binding::Body => {}
            Binding::StubThenBody(_) if function.is_runtime && function.name == "strlen" => {
                return self.round_length(aside, call, walk, round);
            }
            Binding::Stub(_) | Binding::StubThenBody(_) | Binding::Missing => return None,
        }
        let mut regs = self.blank_regs(func);
        for (param, arg) in function.params.iter().zip(&call.args) {
            let value = aside.top.value(arg.reg, arg.bits);
            regs[param.reg.idx()] = Slot { bits: value.bits as u64, shadow: value.shadow };
        }
        let stack_mark = aside.memory.n_stack_objects();
        aside.push_frame(Frame { stack_mark, ..Frame::new(func, regs, Returns::ToCall) });
        Some(Called::Entered)
    }

    /// The length of a string that stays where it is.
    fn round_length(&mut self, aside: &mut State, call: &ir::Call, walk: &Walk, round: &mut Round) -> Option<Called> {
        let start = self.arg(aside, call, 0);
        if start.term().is_some_and(|term| self.mentions(term, walk.moving) || self.is_of_bytes(term, round)) {
            return None;
        }
        let object = self.object_near(aside, start)?;
        round.fixed.push(Fixed { object, bytes: 0..aside.memory.get(object).size });
        let zero = Stops::Listed { bytes: vec![self.terms.byte_constant(0)], sense: Sense::In };
        let no_limit = Value::concrete(u128::from(u64::MAX));
        let length = self.search(aside, start, no_limit, &zero, Which::First).ok()??;
        let length = Value::of_term(&self.terms, length, Label::EMPTY);
        self.give(aside, call, length);
        Some(Called::Done)
    }

    /// The object that an address was computed from.
    fn object_near(&self, state: &State, addr: Value) -> Option<ObjectId> {
        let near = match addr.term() {
            None => addr.bits as u64,
            Some(term) => self.starts.of(term)?,
        };
        state.memory.find(near).filter(|object| state.memory.get(*object).liveness == Liveness::Alive)
    }

    fn round_return(&mut self, aside: &mut State, values: &[ir::Reg], walk: &Walk) -> Option<()> {
        if aside.depth <= walk.depth {
            return None;
        }
        let image = self.image;
        let function = image.module.function(aside.top.func);
        let result = |(reg, slot): (&ir::Reg, &ir::Slot)| aside.top.value(*reg, slot.bits);
        let results: Vec<Value> = values.iter().zip(&function.results).map(result).collect();
        aside.pop_frame();
        let caller = image.module.function(aside.top.func);
        let inst = caller.block(aside.top.block).insts.get(aside.top.inst_idx as usize);
        let Some(Inst::Call { call }) = inst else { return None };
        for ((reg, bits), value) in caller.calls[call.idx()].results.iter().zip(results) {
            let value = self.fit(value, *bits);
            aside.top.set(*reg, *bits, value);
        }
        aside.top.inst_idx += 1;
        Some(())
    }

    fn is_of_bytes(&self, term: TermId, round: &Round) -> bool {
        round.reads.iter().any(|read| self.mentions(term, self.terms.symbols(read.byte)))
    }

    fn round_step(
        &mut self,
        aside: &mut State,
        inst: &Inst,
        calls: &[ir::Call],
        walk: &Walk,
        round: &mut Round,
    ) -> Option<()> {
        let pointer_bits = self.image.pointer_bits();
        match inst {
            Inst::Load { dst, bits, addr, .. } => {
                let addr = aside.top.value(*addr, pointer_bits);
                let value = self.round_load(aside, addr, *bits, walk, round)?;
                aside.top.set(*dst, *bits, value);
            }
            Inst::Store { src, bits: 8, addr, .. } if round.store.is_none() => {
                let (addr, byte) = (aside.top.value(*addr, pointer_bits), aside.top.value(*src, 8));
                round.store = Some(Written { addr: addr.term()?, byte: byte.to_term(&mut self.terms, 8) });
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

    fn round_load(
        &mut self,
        aside: &mut State,
        addr: Value,
        bits: u8,
        walk: &Walk,
        round: &mut Round,
    ) -> Option<Value> {
        let moving = addr.term().filter(|term| self.mentions(*term, walk.moving));
        if let Some(term) = moving {
            if bits != 8 {
                return None;
            }
            let byte = match (&round.store, round.reads.iter().find(|read| read.addr == term)) {
                // What the round itself has written there.
                (Some(store), _) if store.addr == term => store.byte,
                (None, Some(read)) => read.byte,
                _ => {
                    let byte = self.terms.symbol(&format!("round.byte.{}", round.reads.len()), 8);
                    let turn = if round.store.is_some() { Turn::AfterStore } else { Turn::BeforeStore };
                    round.reads.push(Read { addr: term, byte, turn });
                    byte
                }
            };
            return Some(Value::of_term(&self.terms, byte, Label::EMPTY));
        }
        if let Some(term) = addr.term().filter(|term| self.is_of_bytes(*term, round)) {
            return self.table_entry(aside, term, bits, round);
        }
        let object = self.object_near(aside, addr)?;
        let found = aside.memory.get(object);
        let n_bytes = u64::from(bits).div_ceil(8);
        let bytes = match addr.term() {
            None => addr.bits as u64 - found.base..addr.bits as u64 - found.base + n_bytes,
            Some(_) => 0..found.size,
        };
        round.fixed.push(Fixed { object, bytes });
        self.load(aside, addr, bits).ok()
    }

    /// What a table has at a place that one byte decides, where that is inside for every byte.
    fn table_entry(&mut self, aside: &State, addr: TermId, bits: u8, round: &mut Round) -> Option<Value> {
        let [symbol] = *self.terms.symbols(addr) else { return None };
        let object = self.object_near(aside, Value::of_term(&self.terms, addr, Label::EMPTY))?;
        let found = aside.memory.get(object);
        let (base, size, n_bytes) = (found.base, found.size, u64::from(bits).div_ceil(8));
        if !found.is_plain() || size > MAX_TABLE || !found.is_written(0..size) {
            return None;
        }
        let (mut eval, mut input) = (Eval::new(), Assignment::new());
        for value in 0..256 {
            input.set(symbol, value);
            let at = eval.eval(&self.terms, &input, addr) as u64;
            if at < base || at + n_bytes > base + size {
                return None;
            }
        }
        let array = found.as_array(&mut self.terms);
        round.fixed.push(Fixed { object, bytes: 0..size });
        let base = self.terms.constant(u128::from(base), 64);
        let index = self.terms.sub(addr, base);
        let mut bytes = Vec::new();
        for idx in 0..n_bytes {
            let step = self.terms.constant(u128::from(idx), 64);
            let index = self.terms.add(index, step);
            bytes.push(self.terms.select(array, index));
        }
        let entry = self.terms.concat_bytes(&bytes);
        let entry = self.terms.extract(entry, u32::from(bits) - 1, 0);
        Some(Value::of_term(&self.terms, entry, Label::EMPTY))
    }
    /// Which edges a round may take, and when: one of the conditions holds.
    fn round_edges<'f>(&mut self, aside: &State, terminator: &'f Terminator) -> Option<Edges<'f>> {
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
                return self.round_switch(value, *bits, cases, default);
            }
            Terminator::Return(_) | Terminator::IndirectJump { .. } | Terminator::Unreachable => return None,
        };
        Some(match cond.term() {
            None => Edges::One(if cond.bits != 0 { then } else { other }),
            Some(term) => {
                let negated = self.terms.not(term);
                Edges::Some(vec![(term, then), (negated, other)])
            }
        })
    }

    fn round_switch<'f>(
        &mut self,
        value: TermId,
        bits: u8,
        cases: &'f [(u64, ir::Edge)],
        default: &'f ir::Edge,
    ) -> Option<Edges<'f>> {
        let mut edges: Vec<(TermId, &ir::Edge)> = Vec::new();
        let mut is_default = self.terms.tru();
        for (case, edge) in cases {
            let case = self.terms.constant(u128::from(*case), u32::from(bits));
            let is_case = self.terms.eq(value, case);
            let is_other = self.terms.not(is_case);
            is_default = self.terms.and(is_default, is_other);
            match edges.iter_mut().find(|(_, known)| *known == edge) {
                Some((cond, _)) => *cond = self.terms.or(*cond, is_case),
                None => edges.push((is_case, edge)),
            }
        }
        match edges.iter_mut().find(|(_, known)| *known == default) {
            Some((cond, _)) => *cond = self.terms.or(*cond, is_default),
            None => edges.push((is_default, default)),
        }
        if let Some((_, edge)) = edges.iter().find(|(cond, _)| self.terms.is_true(*cond)) {
            return Some(Edges::One(edge));
        }
        edges.retain(|(cond, _)| !self.terms.is_false(*cond));
        Some(Edges::Some(edges))
    }
}
