//! The call stack's memory: local variables, and the end of it.

use witness::{BugKind, Ending};

use crate::run::{Machine, Step};
use crate::{Effect, Event, Interest, Label, Object, ObjectKind, PickWhy, Site, State, Value};

/// Estimated bytes of native stack a call takes beside its variables. Low, so that what overflows here does natively.
const FRAME_BYTES: u64 = 48;
const STACK_BYTES: u64 = 8 << 20;

impl Machine<'_> {
    pub(crate) fn alloca(
        &mut self,
        state: &mut State,
        bytes: u64,
        align: u32,
        count: Option<Value>,
        variable: Option<u32>,
    ) -> Step<u64> {
        let label = count.map_or(Label::EMPTY, |count| count.label());
        let count = match count {
            Some(count) => self.pick(state, count, PickWhy::Size)? as u64,
            None => 1,
        };
        let size = bytes.checked_mul(count).filter(|size| state.stack_bytes + size <= STACK_BYTES);
        let Some(size) = size else { return Err(self.stack_overflow(state)) };
        state.stack_bytes += size;
        let function = self.image.module.function(state.top.func);
        let ty = variable.and_then(|variable| function.variables.get(variable as usize)?.ty);
        let site = Site { func: state.top.func, span: self.image.span_of(&state.top) };
        let base = self.new_stack_object(state, size, align, ty, variable, site);
        if !label.is_empty()
            && let Some(object) = state.memory.find(base)
        {
            self.name_object(state, object, label);
        }
        Ok(base)
    }

    pub(crate) fn new_stack_object(
        &mut self,
        state: &mut State,
        size: u64,
        align: u32,
        ty: Option<ir::SourceTypeId>,
        variable: Option<u32>,
        site: Site,
    ) -> u64 {
        let thread = state.thread().0 as u16;
        let object = state.memory.allocate_stack(size, u64::from(align), |base| {
            let mut object = Object::zeroed(base, size, ObjectKind::Stack);
            object.thread = thread;
            object.ty = ty;
            object.site = site;
            object.variable = variable;
            object.mark_unwritten();
            object
        });
        self.name_object(state, object, Label::EMPTY);
        self.tell(state, Interest::ALLOCATION, || Event::Allocated { object });
        self.trace_allocation(state, object);
        state.memory.get(object).base
    }

    pub(crate) fn stack_overflow(&self, state: &State) -> Effect {
        let message = format!("the stack is exhausted after {} nested calls", state.depth);
        Effect::Ended(Box::new(Ending::Bug(self.bug(state, BugKind::StackOverflow, message))))
    }

    pub(crate) fn grow_stack(&self, state: &mut State) -> Step<()> {
        state.stack_bytes += FRAME_BYTES;
        if state.stack_bytes > STACK_BYTES {
            state.stack_bytes -= FRAME_BYTES;
            return Err(self.stack_overflow(state));
        }
        Ok(())
    }

    pub(crate) const FRAME_BYTES: u64 = FRAME_BYTES;
}
