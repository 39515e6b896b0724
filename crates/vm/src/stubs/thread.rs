//! What the thread library in C is built on: starting, switching and ending call stacks, and thread-local variables.

use std::rc::Rc;

use ir::Call;
use witness::BugKind;

use super::{Stub, done};
use crate::frame::Slot;
use crate::run::{Machine, Next, Step};
use crate::threads::{Parked, ThreadId, Threads};
use crate::{Frame, ObjectId, ObjectKind, Region, Returns, State, Value};

pub const STUBS: &[(&str, Stub)] = &[
    ("__colt_thread_new", |machine, state, call, _| machine.new_thread(state, call)),
    ("__colt_thread_switch", |machine, state, call, _| machine.switch_thread(state, call)),
    ("__colt_thread_end", |machine, state, call, _| machine.end_thread(state, call)),
    ("__colt_deadlock", |machine, state, call, _| {
        let text = machine.text_arg(state, call, 0);
        Err(machine.ends_in(state, BugKind::NonTermination, text))
    }),
];

impl Machine<'_> {
    /// (function, argument) -> number. The thread is parked at the beginning of the function, which never returns.
    fn new_thread(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let n_started = state.threads.as_ref().map_or(1, |threads| threads.n_started);
        if n_started > u32::from(u16::MAX) {
            return Err(self.gap(state, format!("more than {n_started} threads on one path")));
        }
        if self.is_tracking() || state.pause_at != 0 {
            return Err(self.gap(state, "a second thread, which this technique does not follow,".to_string()));
        }
        let (function, arg) = (self.arg(state, call, 0), self.arg(state, call, 1));
        let Some(func) = self.image.function_at(function.bits as u64) else {
            return Err(self.gap(state, "a thread without a function".to_string()));
        };
        let mut regs = self.blank_regs(func);
        if let Some(param) = self.image.module.function(func).params.first() {
            regs[param.reg.idx()] = Slot { bits: arg.bits as u64, shadow: arg.shadow };
        }
        let n_stack_objects = state.memory.n_stack_objects();
        let top = Frame { stack_mark: n_stack_objects, ..Frame::new(func, regs, Returns::InPlace) };
        let threads = Rc::make_mut(state.threads.get_or_insert_with(|| Rc::new(Threads::new())));
        let id = ThreadId(threads.n_started);
        threads.n_started += 1;
        let parked = Parked { id, top, callers: None, depth: 1, jumps: None, stack_bytes: 0, n_stack_objects };
        threads.parked.push(parked);
        self.cover_entry(func);
        self.give(state, call, Value::concrete(u128::from(id.0)));
        done()
    }

    /// (number): parks the running thread behind this call and goes on with another.
    fn switch_thread(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let wanted = self.wanted_thread(state, call)?;
        let Some(next) = state.unpark(wanted) else { return done() };
        state.top.inst_idx += 1;
        let running = state.exchange(next);
        if let Some(threads) = &mut state.threads {
            Rc::make_mut(threads).parked.push(running);
        }
        Ok(Some(Next::Frame))
    }

    /// (number): ends the running thread, its variables with it, and goes on with another.
    fn end_thread(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let id = state.thread();
        let wanted = self.wanted_thread(state, call)?;
        // While the next one is still parked, so that its variables stay where they are.
        while state.callers.is_some() {
            self.abandon_frame(state);
        }
        self.drop_frame_objects(state);
        if let Some(next) = state.unpark(wanted) {
            state.exchange(next);
        }
        self.drop_thread_locals(state, id);
        Ok(Some(Next::Frame))
    }

    /// The thread that a call names, which is parked.
    fn wanted_thread(&mut self, state: &State, call: &Call) -> Step<ThreadId> {
        let id = ThreadId(self.arg(state, call, 0).bits as u32);
        let parked = state.threads.as_ref().map_or(&[][..], |threads| &threads.parked);
        match parked.iter().any(|thread| thread.id == id) {
            true => Ok(id),
            false => Err(self.gap(state, "a switch to a thread that is not there".to_string())),
        }
    }

    fn drop_thread_locals(&mut self, state: &mut State, id: ThreadId) {
        let Some(threads) = &mut state.threads else { return };
        let threads = Rc::make_mut(threads);
        let ended: Vec<u64> = threads.locals.iter().filter(|local| local.0 == id).map(|local| local.2).collect();
        threads.locals.retain(|local| local.0 != id);
        for base in ended {
            if let Some(object) = state.memory.find(base) {
                state.memory.get_mut(object).free();
            }
        }
        self.tlb.flush();
    }

    /// Where the running thread has its copy of a thread-local variable. The first thread's is the variable itself.
    pub(crate) fn thread_local(&mut self, state: &mut State, original: u64) -> u64 {
        let thread = state.thread();
        let Some(threads) = state.threads.as_ref().filter(|_| thread != ThreadId::MAIN) else { return original };
        if let Some((_, _, copy)) = threads.locals.iter().find(|local| (local.0, local.1) == (thread, original)) {
            return *copy;
        }
        let initial = self.image.initial_memory();
        let Some(found) = initial.find(original).filter(|object| object.region == Region::Global) else {
            return original;
        };
        let initial = initial.get(found).clone();
        let object: ObjectId = state.memory.allocate_heap(initial.size, 64, |base| {
            let mut object = (*initial).clone();
            object.base = base;
            object.kind = ObjectKind::Global;
            object
        });
        self.trace_allocation(state, object);
        let copy = state.memory.get(object).base;
        if let Some(threads) = &mut state.threads {
            Rc::make_mut(threads).locals.push((thread, original, copy));
        }
        copy
    }
}
