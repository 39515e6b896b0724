//! Which way control goes at the end of a block, where that is not plain to see.

use ir::{BlockId, Edge, Terminator};
use term::TermId;
use witness::{BugKind, Ending};

use crate::run::{Machine, Step};
use crate::{Answer, Decides, Effect, Event, Interest, PickWhy, State, Use, Value};

impl Machine<'_> {
    /// Which edge a symbolic terminator takes.
    pub(crate) fn decide(&mut self, state: &mut State, terminator: &Terminator) -> Step<u32> {
        self.forget_last();
        let cond = match terminator {
            Terminator::Branch { cond, .. } => state.top.value(*cond, 1),
            Terminator::CmpBranch { op, bits, a, b, .. } => {
                let (a, b) = (state.top.value(*a, *bits), state.top.value(*b, *bits));
                self.compare(*op, *bits, a, b)
            }
            Terminator::CmpImmBranch { op, bits, a, imm, .. } => {
                let a = state.top.value(*a, *bits);
                self.compare(*op, *bits, a, Value::concrete(u128::from(*imm)))
            }
            Terminator::Switch { value, bits, cases, default } => {
                let value = state.top.value(*value, *bits);
                return self.switch(state, value, *bits, cases, default);
            }
            Terminator::IndirectJump { addr, targets } => {
                let addr = state.top.value(*addr, self.image.pointer_bits());
                return self.indirect_jump(state, addr, targets);
            }
            Terminator::Unreachable => {
                let message = "code that was promised to be unreachable is reached".to_string();
                let bug = self.bug(state, BugKind::UnreachableReached, message);
                return Err(Effect::Ended(Box::new(Ending::Bug(bug))));
            }
            Terminator::Jump(_) | Terminator::Return(_) => unreachable!("never symbolic"),
        };
        let edge = match cond.term() {
            None => u32::from(cond.bits == 0),
            Some(term) => {
                self.depend(state, cond.label(), Decides::Branch);
                u32::from(!self.decide_side(state, term)?)
            }
        };
        self.open_region(state, cond.label(), edge, Decides::Branch);
        Ok(edge)
    }

    /// Which way a symbolic condition goes.
    fn decide_side(&mut self, state: &mut State, cond: TermId) -> Step<bool> {
        self.uses(state, cond, Use::Decision)?;
        match self.ask(state, || Effect::Branch { cond })? {
            Answer::Side(side) => {
                self.tell_branch(state, u32::from(!side), Some(cond));
                Ok(side)
            }
            other => unreachable!("a branch is answered with a side, not {other:?}"),
        }
    }

    fn tell_branch(&mut self, state: &mut State, edge: u32, cond: Option<TermId>) {
        let (func, block) = (state.top.func, state.top.block);
        self.tell(state, Interest::BRANCH, || Event::Branch { func, block, edge, cond });
    }

    fn switch(
        &mut self,
        state: &mut State,
        value: Value,
        bits: u8,
        cases: &[(u64, Edge)],
        default: &Edge,
    ) -> Step<u32> {
        let Some(term) = value.term() else {
            let found = cases.iter().position(|case| u128::from(case.0) == value.bits);
            let edge = found.unwrap_or(cases.len()) as u32;
            self.open_region(state, value.label(), edge, Decides::Switch);
            return Ok(edge);
        };
        self.depend(state, value.label(), Decides::Switch);
        if self.mentions_unwritten(term) {
            // Values that lead to the same edge decide nothing.
            let edge = self.edge_term(term, bits, cases, default);
            self.uses(state, edge, Use::Decision)?;
        }
        match state.answers.get(self.running.n_answered) {
            None => Err(Effect::Switch { conds: self.switch_conds(term, bits, cases, default).into() }),
            Some(Answer::Edge(edge)) => {
                let edge = *edge;
                self.running.n_answered += 1;
                self.tell_branch(state, edge, None);
                self.open_region(state, value.label(), edge, Decides::Switch);
                Ok(edge)
            }
            Some(other) => unreachable!("a switch is answered with an edge, not {other:?}"),
        }
    }

    /// The number of the edge as a term.
    fn edge_term(&mut self, term: TermId, bits: u8, cases: &[(u64, Edge)], default: &Edge) -> TermId {
        let conds = self.switch_conds(term, bits, cases, default);
        let mut edge = self.terms.constant(u128::from(u32::MAX), 32);
        for (number, cond) in conds {
            let number = self.terms.constant(u128::from(number), 32);
            edge = self.terms.ite(cond, number, edge);
        }
        edge
    }

    /// One condition per target, with the number of the first edge that leads there.
    fn switch_conds(&mut self, term: TermId, bits: u8, cases: &[(u64, Edge)], default: &Edge) -> Vec<(u32, TermId)> {
        let mut conds: Vec<(u32, BlockId, TermId)> = Vec::new();
        let mut rest = self.terms.tru();
        for (case, edge) in cases.iter().zip(0..) {
            let constant = self.terms.constant(u128::from(case.0), u32::from(bits));
            let cond = self.terms.eq(term, constant);
            let other = self.terms.not(cond);
            rest = self.terms.and(rest, other);
            match conds.iter_mut().find(|(_, target, _)| *target == case.1.target) {
                Some((_, _, known)) => *known = self.terms.or(*known, cond),
                None => conds.push((edge, case.1.target, cond)),
            }
        }
        match conds.iter_mut().find(|(_, target, _)| *target == default.target) {
            Some((_, _, known)) => *known = self.terms.or(*known, rest),
            None => conds.push((cases.len() as u32, default.target, rest)),
        }
        conds.into_iter().map(|(edge, _, cond)| (edge, cond)).collect()
    }

    fn indirect_jump(&mut self, state: &mut State, addr: Value, targets: &[(BlockId, Edge)]) -> Step<u32> {
        let label = addr.label();
        let addr = self.pick(state, addr, PickWhy::JumpTarget)? as u64;
        let func = state.top.func;
        let is_at = |target: &(BlockId, Edge)| self.image.address_of(ir::SymbolRef::Block(func, target.0)) == addr;
        match targets.iter().position(is_at) {
            Some(edge) => {
                self.open_region(state, label, edge as u32, Decides::Switch);
                Ok(edge as u32)
            }
            None => {
                let bug =
                    self.bug(state, BugKind::InvalidPointer, format!("jump to {addr:#x}, which is no label here"));
                Err(Effect::Ended(Box::new(Ending::Bug(bug))))
            }
        }
    }
}

#[inline(always)]
/// The edge of that number.
pub(crate) fn edge_of(terminator: &Terminator, edge_idx: u32) -> &Edge {
    match terminator {
        Terminator::Jump(edge) => edge,
        Terminator::Branch { then, other, .. }
        | Terminator::CmpBranch { then, other, .. }
        | Terminator::CmpImmBranch { then, other, .. } => {
            if edge_idx == 0 {
                then
            } else {
                other
            }
        }
        Terminator::Switch { cases, default, .. } => cases.get(edge_idx as usize).map_or(default, |case| &case.1),
        Terminator::IndirectJump { targets, .. } => &targets[edge_idx as usize].1,
        Terminator::Return(_) | Terminator::Unreachable => unreachable!("has no edges"),
    }
}
