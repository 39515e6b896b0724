//! setjmp and longjmp.

use std::rc::Rc;

use ir::Call;
use witness::{BugKind, Ending};

use super::{Stub, done};
use crate::run::{Machine, Next, Step};
use crate::state::JumpTarget;
use crate::{Effect, PickWhy, Shadow, State, Value};

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
        let value = self.pick(state, value, PickWhy::Argument)? & 0xffff_ffff;
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
        let arg = self.arg(state, call, 1).label();
        let label = self.labels.union(state.top.control, arg);
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
            let value = if value == 0 { 1 } else { value };
            self.give(state, &function.calls[call.idx()], Value { bits: value, shadow: Shadow::new(None, label) });
        }
        self.land(state, label);
        state.top.inst_idx += 1;
        Ok(Some(Next::Frame))
    }
}
