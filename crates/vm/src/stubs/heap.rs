//! Allocation.

use ir::Call;
use term::TermId;
use witness::BugKind;

use super::{Stub, done};
use crate::run::{Machine, Next, Step};
use crate::{
    Answer, Decides, Effect, Event, Interest, Label, Liveness, Object, ObjectId, ObjectKind, PickWhy, Shadow, Sizes,
    State, Use, Value,
};

/// Larger requests give NULL, natively too.
const LARGEST: u64 = 256 << 20;

pub const STUBS: &[(&str, Stub)] = &[
    ("malloc", |machine, state, call, _| {
        let size = machine.arg(state, call, 0);
        machine.allocate(state, call, Value::concrete(16), size)
    }),
    ("__colt_malloc_aligned", |machine, state, call, _| {
        let (align, size) = (machine.arg(state, call, 0), machine.arg(state, call, 1));
        machine.allocate(state, call, align, size)
    }),
    ("free", |machine, state, call, _| {
        let found = machine.freeable(state, call)?;
        let label = machine.arg(state, call, 0).label();
        match found {
            Some(object) => {
                machine.note_freed(state, object, label);
                machine.release(state, object);
            }
            None => machine.scatter_nothing(state, label),
        }
        done()
    }),
    ("__colt_realloc_check", |machine, state, call, _| machine.freeable(state, call).and_then(|_| done())),
    ("__colt_object_size", |machine, state, call, _| {
        let addr = machine.arg(state, call, 0);
        let label = addr.label();
        let addr = machine.pick(state, addr, PickWhy::Address)? as u64;
        let found = state.memory.find(addr).map(|object| state.memory.get(object));
        if let Some(extent) = found.and_then(|object| object.extent) {
            let size = Value::of_term(&machine.terms, extent, label);
            machine.give(state, call, size);
            return done();
        }
        let (size, life) = found.map_or((0, Label::EMPTY), |object| (object.size, object.life));
        let label = machine.labels.union(label, life);
        machine.give(state, call, Value { bits: u128::from(size), shadow: Shadow::new(None, label) });
        done()
    }),
];

impl Machine<'_> {
    fn allocate(&mut self, state: &mut State, call: &Call, align: Value, size: Value) -> Step<Option<Next>> {
        let label = self.labels.union(align.label(), size.label());
        let align = self.pick(state, align, PickWhy::Argument)? as u64;
        let (size, extent) = match size.term() {
            Some(term) if self.spans.sizes == Sizes::Terms => match self.bound_size(state, term)? {
                Some((most, extent)) => (most, Some(extent)),
                None => (LARGEST + 1, None),
            },
            _ => (self.pick(state, size, PickWhy::Size)? as u64, None),
        };
        if size > LARGEST {
            self.give(state, call, Value { bits: 0, shadow: Shadow::new(None, label) });
            return done();
        }
        let site = self.image.user_site(state);
        let number = self.number_allocation(state);
        let object = state.memory.allocate_heap(size, align, |base| {
            let mut object = Object::zeroed(base, size, ObjectKind::Heap);
            object.site = site;
            object.number = number;
            object.extent = extent;
            object.mark_unwritten();
            object
        });
        self.name_object(state, object, label);
        self.tell(state, Interest::ALLOCATION, || Event::Allocated { object });
        self.trace_allocation(state, object);
        let base = state.memory.get(object).base;
        // Whether it is NULL depends on the size.
        self.give(state, call, Value { bits: u128::from(base), shadow: Shadow::new(None, label) });
        done()
    }

    /// The most that a size may be, and the size as a term of 64 bits; `None` where it is too large to be had.
    fn bound_size(&mut self, state: &State, size: TermId) -> Step<Option<(u64, TermId)>> {
        self.uses(state, size, Use::Size)?;
        let size = self.terms.zext(size, 64);
        let (_, most) = self.spans.positions.range(&self.terms, size);
        if most <= LARGEST {
            return Ok(Some((most, size)));
        }
        let largest = self.terms.constant(u128::from(LARGEST), 64);
        let is_too_large = self.terms.ult(largest, size);
        match self.ask(state, || Effect::Branch { cond: is_too_large })? {
            Answer::Side(true) => Ok(None),
            Answer::Side(false) => Ok(Some((LARGEST, size))),
            other => unreachable!("a branch is answered with a side, not {other:?}"),
        }
    }

    /// How many allocations the program itself has asked for: a native run counts them, too.
    fn number_allocation(&self, state: &mut State) -> u32 {
        let is_own = |func: ir::FuncId| !self.image.module.function(func).is_runtime;
        let is_inside = usize::from(self.function_name(state.top.func) == "realloc");
        let caller = state.frames().nth(is_inside).map(|frame| frame.func);
        if caller.is_some_and(is_own) {
            state.n_allocations += 1;
        }
        state.n_allocations
    }

    /// The object a `free` of the first argument would end; `None` for NULL; stops with the bug otherwise.
    fn freeable(&mut self, state: &State, call: &Call) -> Step<Option<ObjectId>> {
        let addr = self.arg(state, call, 0);
        let label = addr.label();
        let addr = self.pick(state, addr, PickWhy::Address)? as u64;
        if addr == 0 {
            return Ok(None);
        }
        let found = state.memory.find(addr);
        let life = found.map_or(Label::EMPTY, |object| state.memory.get(object).life);
        let label = self.labels.union(label, life);
        self.depend(state, label, Decides::Address);
        let (kind, message) = match found.map(|object| (object, state.memory.get(object))) {
            Some((object, found)) if found.base == addr && found.kind == ObjectKind::Heap => match found.liveness {
                Liveness::Alive => return Ok(Some(object)),
                Liveness::Freed | Liveness::OutOfScope => {
                    (BugKind::DoubleFree, format!("a heap object of {} bytes is freed a second time", found.size))
                }
            },
            Some((_, found)) if found.kind == ObjectKind::Heap => {
                (BugKind::InvalidFree, format!("free of a pointer {} bytes into a heap object", addr - found.base))
            }
            Some(_) => (BugKind::InvalidFree, "free of something that is not on the heap".to_string()),
            None => (BugKind::InvalidFree, format!("free of {addr:#x}, where nothing was allocated")),
        };
        Err(self.fault_at(state, addr, None, kind, message))
    }

    fn release(&mut self, state: &mut State, object: ObjectId) {
        state.memory.get_mut(object).free();
        self.tlb.flush();
        self.tell(state, Interest::ALLOCATION, || Event::Freed { object });
    }
}
