//! One round of a loop, executed aside: on symbols in place of the variables that change, and on both ways where it parts.

use ir::{BlockId, Inst, Terminator};
use term::{SymbolId, TermId};

use super::{Change, Variable};
use crate::run::Machine;
use crate::{Label, State, Value};

/// How often a round may part.
const MAX_WAYS: u32 = 6;

/// What one round does.
pub(super) struct Round {
    /// All of them hold where the loop goes on.
    pub stays: Vec<TermId>,
    /// Address and the symbol of the byte.
    pub loads: Vec<(TermId, TermId)>,
    pub store: Option<Written>,
    /// The variables after it.
    pub next: Vec<TermId>,
}

/// A byte that a round writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub addr: TermId,
    pub byte: TermId,
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
    Back(Back),
}

/// It is back at the head, with these values of the variables.
#[derive(PartialEq, Eq)]
struct Back {
    next: Vec<TermId>,
    store: Option<Written>,
}

enum Edges<'f> {
    One(&'f ir::Edge),
    Two(TermId, &'f ir::Edge, &'f ir::Edge),
}

impl Machine<'_> {
    /// What a round does to the variables, whatever they are.
    pub(super) fn changes(&mut self, state: &State, body: &[BlockId], variables: &[Variable]) -> Option<Vec<Change>> {
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
    pub(super) fn round(
        &mut self,
        state: &State,
        body: &[BlockId],
        variables: &[Variable],
        begin: &[TermId],
    ) -> Option<Round> {
        let mut aside = state.clone();
        for (variable, term) in variables.iter().zip(begin) {
            let value = Value::of_term(&self.terms, *term, Label::EMPTY);
            aside.top.set(variable.reg, variable.bits, value);
        }
        let mut round = Round { stays: Vec::new(), loads: Vec::new(), store: None, next: Vec::new() };
        let walk = Walk { head: state.top.block, body, variables };
        match self.walk(aside, &walk, &mut round, MAX_WAYS)? {
            Way::Leaves => None,
            Way::Back(Back { next, store }) => {
                (round.next, round.store) = (next, store);
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
                Edges::One(edge) => match self.follow_edge(&mut aside, edge, walk, round.store) {
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
                let way = match self.follow_edge(&mut there, edge, walk, part.store) {
                    Some(way) => way,
                    None => self.walk(there, walk, &mut part, n_ways)?,
                };
                round.loads = part.loads;
                ways.push((way, part.stays));
            }
            return self.join_ways(cond, ways, round);
        }
        None
    }

    /// Takes an edge; where it leaves the loop or leads to its head, that is what became of the round.
    fn follow_edge(&mut self, aside: &mut State, edge: &ir::Edge, walk: &Walk, store: Option<Written>) -> Option<Way> {
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
        Some(Way::Back(Back { next: walk.variables.iter().map(next).collect(), store }))
    }

    /// Where both ways lead back, they must do the same.
    fn join_ways(&mut self, cond: TermId, ways: Vec<(Way, Vec<TermId>)>, round: &mut Round) -> Option<Way> {
        let mut stays = self.terms.fls();
        let mut joint: Option<Back> = None;
        let negated = self.terms.not(cond);
        for ((way, conditions), side) in ways.into_iter().zip([cond, negated]) {
            let Way::Back(back) = way else { continue };
            let mut all = side;
            for condition in conditions {
                all = self.terms.and(all, condition);
            }
            stays = self.terms.or(stays, all);
            match &joint {
                Some(known) if *known != back => return None,
                Some(_) => {}
                None => joint = Some(back),
            }
        }
        let Some(back) = joint else { return Some(Way::Leaves) };
        round.stays.push(stays);
        Some(Way::Back(back))
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
}
