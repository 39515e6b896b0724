//! Several call stacks in one state: one runs, the others are parked until somebody switches to them.
//!
//! Who runs when is not decided here: the thread library in C does, through the stubs in `stubs/thread.rs`. All stacks
//! share one region. While a thread is parked, no object is removed from below where the region ended when it was
//! parked; what ends its life there is marked as dead instead.

use std::rc::Rc;

use crate::state::{Caller, JumpTarget};
use crate::{Frame, State};

/// A thread's number; the one the program starts with is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

impl ThreadId {
    pub const MAIN: ThreadId = ThreadId(0);
}

/// Present in a state once it has had a second thread.
#[derive(Clone)]
pub struct Threads {
    pub(crate) current: ThreadId,
    pub(crate) n_started: u32,
    pub(crate) parked: Vec<Parked>,
    /// Copies of thread-local variables: the thread, where the original lies, where the copy lies.
    pub(crate) locals: Vec<(ThreadId, u64, u64)>,
}

#[derive(Clone)]
pub(crate) struct Parked {
    pub id: ThreadId,
    pub top: Frame,
    pub callers: Option<Rc<Caller>>,
    pub depth: u32,
    pub jumps: Option<Rc<Vec<JumpTarget>>>,
    pub stack_bytes: u64,
    /// How many stack objects there were when it was parked.
    pub n_stack_objects: u32,
}

impl Threads {
    pub(crate) fn new() -> Threads {
        Threads { current: ThreadId::MAIN, n_started: 1, parked: Vec::new(), locals: Vec::new() }
    }
}

impl State {
    pub fn thread(&self) -> ThreadId {
        self.threads.as_ref().map_or(ThreadId::MAIN, |threads| threads.current)
    }

    /// Stack objects with lower numbers stay where they are: parked threads count on it.
    pub(crate) fn stack_floor(&self) -> u32 {
        let parked = self.threads.as_ref().map_or(&[][..], |threads| &threads.parked);
        parked.iter().map(|thread| thread.n_stack_objects).max().unwrap_or(0)
    }

    /// Frames of threads that are not running.
    pub(crate) fn parked_frames(&self) -> impl Iterator<Item = &Frame> {
        let parked = self.threads.as_ref().map_or(&[][..], |threads| &threads.parked);
        parked.iter().flat_map(|thread| {
            let mut caller = thread.callers.as_deref();
            std::iter::once(&thread.top).chain(std::iter::from_fn(move || {
                let here = caller?;
                caller = here.next.as_deref();
                Some(&here.frame)
            }))
        })
    }

    /// Takes a thread out of those that are parked.
    pub(crate) fn unpark(&mut self, id: ThreadId) -> Option<Parked> {
        let threads = Rc::make_mut(self.threads.as_mut()?);
        let idx = threads.parked.iter().position(|thread| thread.id == id)?;
        Some(threads.parked.remove(idx))
    }

    /// Makes `next` the running thread and gives back the one that ran.
    pub(crate) fn exchange(&mut self, next: Parked) -> Parked {
        let Parked { id, top, callers, depth, jumps, stack_bytes, n_stack_objects: _ } = next;
        let running = Parked {
            id: self.thread(),
            top: std::mem::replace(&mut self.top, top),
            callers: std::mem::replace(&mut self.callers, callers),
            depth: std::mem::replace(&mut self.depth, depth),
            jumps: std::mem::replace(&mut self.jumps, jumps),
            stack_bytes: std::mem::replace(&mut self.stack_bytes, stack_bytes),
            n_stack_objects: self.memory.n_stack_objects(),
        };
        if let Some(threads) = &mut self.threads {
            Rc::make_mut(threads).current = id;
        }
        running
    }
}
