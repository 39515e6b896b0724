//! setjmp and longjmp.

use std::rc::Rc;

use ir::{Call, CastOp};
use witness::{BugKind, Ending};

use super::{Stub, done};
use crate::run::{Machine, Next, Step};
use crate::state::JumpTarget;
use crate::{Effect, Label, PickWhy, Shadow, State, Value, arith};

const INT_BITS: u8 = 32;

pub const STUBS: &[(&str, Stub)] = &[
    ("setjmp", |machine, state, call, _| machine.set_jump(state, call)),
    ("_setjmp", |machine, state, call, _| machine.set_jump(state, call)),
    ("sigsetjmp", |machine, state, call, _| machine.set_jump(state, call)),
    ("__sigsetjmp", |machine, state, call, _| machine.set_jump(state, call)),
    ("longjmp", |machine, state, call, _| machine.long_jump(state, call)),
    ("_longjmp", |machine, state, call, _| machine.long_jump(state, call)),
    ("siglongjmp", |machine, state, call, _| machine.long_jump(state, call)),
    ("__longjmp_chk", |machine, state, call, _| machine.long_jump(state, call)),
];

impl Machine<'_> {
    pub(crate) fn set_jump(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let buffer = self.arg(state, call, 0);
        let buffer = self.pick(state, buffer, PickWhy::Address)? as u64;
        let at = (state.top.func, state.top.block, state.top.inst_idx);
        let target = JumpTarget { buffer, depth: state.depth, at };
        let jumps = Rc::make_mut(state.jumps.get_or_insert_default());
        jumps.retain(|jump| jump.buffer != buffer);
        jumps.push(target);
        self.give(state, call, Value::concrete(0));
        done()
    }

    pub(crate) fn long_jump(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let whither = self.arg(state, call, 0);
        let buffer = self.pick(state, whither, PickWhy::Address)? as u64;
        let value = self.arg(state, call, 1);
        let target = state.jumps.as_ref().and_then(|jumps| jumps.iter().find(|jump| jump.buffer == buffer).cloned());
        let is_active = |target: &JumpTarget| {
            target.depth <= state.depth
                && state
                    .frames()
                    .nth((state.depth - target.depth) as usize)
                    .is_some_and(|frame| frame.func == target.at.0)
        };
        let Some(target) = target.filter(is_active) else {
            let message = "longjmp to a place that was never set or whose function has returned".to_string();
            return Err(Effect::Ended(Box::new(Ending::Bug(self.bug(state, BugKind::InvalidPointer, message)))));
        };
        let label = self.labels.union(state.top.control, value.label());
        let label = self.labels.union(label, whither.label());
        while state.depth > target.depth {
            self.abandon_frame(state);
        }
        // The jump may lead back into a block that had ended.
        self.revive_variables(state);
        state.top.block = target.at.1;
        state.top.inst_idx = target.at.2;
        let function = self.image.module.function(state.top.func);
        let inst = &function.block(state.top.block).insts[state.top.inst_idx as usize];
        if let ir::Inst::Call { call } = inst {
            let value = self.never_zero(value, label);
            self.give(state, &function.calls[call.idx()], value);
        }
        self.land(state, label);
        state.top.inst_idx += 1;
        Ok(Some(Next::Frame))
    }

    /// What `setjmp` returns for the second time: the value of the jump, one instead of zero.
    fn never_zero(&mut self, value: Value, label: Label) -> Value {
        let Some(term) = value.term() else {
            let bits = (value.bits & 0xffff_ffff).max(1);
            return Value { bits, shadow: Shadow::new(None, label) };
        };
        let term = arith::cast_term(&mut self.terms, CastOp::Trunc, INT_BITS, term);
        let (zero, one) = (self.terms.constant(0, INT_BITS.into()), self.terms.constant(1, INT_BITS.into()));
        let is_zero = self.terms.eq(term, zero);
        let term = self.terms.ite(is_zero, one, term);
        Value::of_term(&self.terms, term, label)
    }
}
