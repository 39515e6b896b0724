//! A point on one path, as a value: frames, memory, inputs so far and the techniques' slots.

use std::rc::Rc;

use term::float::Rounding;

use crate::{Answer, Facts, Frame, Inputs, Label, Memory, Site, Slots, Threads};

/// A suspended caller and its callers.
pub struct Caller {
    pub frame: Frame,
    pub next: Option<Rc<Caller>>,
}

/// A jump buffer that is still usable.
#[derive(Clone)]
pub struct JumpTarget {
    pub buffer: u64,
    /// How many frames were on the stack at `setjmp`.
    pub depth: u32,
    pub at: (ir::FuncId, ir::BlockId, u32),
}

/// Cloning is a fork: everything below is shared until written.
#[derive(Clone)]
pub struct State {
    pub top: Frame,
    pub callers: Option<Rc<Caller>>,
    /// Frames, the top one included.
    pub depth: u32,
    pub memory: Memory,
    /// Inputs in the order the program asked for them.
    pub inputs: Inputs,
    /// Answers for the instruction the state stands at, in the order it asks.
    pub answers: Vec<Answer>,
    pub jumps: Option<Rc<Vec<JumpTarget>>>,
    /// Once there has been a second thread: which one the fields above belong to, and the others.
    pub threads: Option<Rc<Threads>>,
    /// Whether the handlers of `atexit` have been started.
    pub is_exiting: bool,
    /// Whether what runs decides if an assumption holds: a fault in there says that it does not.
    pub is_supposing: bool,
    /// How floats are rounded, by `fesetround`.
    pub rounding: Rounding,
    /// How much of the symbolic standard input was read.
    pub stdin_read: u32,
    /// The machine stops with [`crate::Effect::OutOfFuel`] when a return leaves this many frames; 0 for never.
    pub pause_at: u32,
    /// Added to the numbers of inputs of one name: inputs asked for after something was left out are not to be taken for
    /// those of the program.
    pub n_inputs_unseen: u32,
    /// Estimated bytes of native stack in use.
    pub stack_bytes: u64,
    /// Instructions executed on this path.
    pub steps: u64,
    /// Allocations that the program itself asked for.
    pub n_allocations: u32,
    /// Values made up for what cannot be computed from memory nobody wrote.
    pub n_unknown: u32,
    /// Where it was told that something depends on memory nobody wrote.
    pub told_unwritten: Option<Rc<Vec<Site>>>,
    /// What the program wrote to standard output, where that is recorded.
    pub output: Option<Rc<Vec<u8>>>,
    /// Where the objects of a name lie, while flow is tracked.
    pub origins: Option<Box<imbl::HashMap<u64, Rc<[u64]>>>>,
    /// The first guard behind which the path only left its function, and what that depended on.
    pub left_guard: Option<Box<(u64, Label)>>,
    /// What it depends on how far standard input was read.
    pub stdin_label: Label,
    /// Whether it stands at the head of a loop whose rounds are being done, and has asked something.
    pub is_at_rounds: bool,
    /// What its conditions say about lengths, where those are terms.
    pub facts: Facts,
    pub slots: Slots,
}

impl State {
    pub fn new(memory: Memory, entry: Frame) -> State {
        State {
            top: entry,
            callers: None,
            depth: 1,
            memory,
            inputs: Inputs::default(),
            answers: Vec::new(),
            jumps: None,
            threads: None,
            is_exiting: false,
            is_supposing: false,
            rounding: Rounding::default(),
            stdin_read: 0,
            pause_at: 0,
            n_inputs_unseen: 0,
            stack_bytes: 0,
            steps: 0,
            n_allocations: 0,
            n_unknown: 0,
            told_unwritten: None,
            output: None,
            origins: None,
            left_guard: None,
            stdin_label: Label::EMPTY,
            is_at_rounds: false,
            facts: Facts::default(),
            slots: Slots::default(),
        }
    }

    pub fn is_told(&self, site: Site) -> bool {
        self.told_unwritten.as_ref().is_some_and(|told| told.contains(&site))
    }

    pub fn tell_unwritten(&mut self, site: Site) {
        if !self.is_told(site) {
            Rc::make_mut(self.told_unwritten.get_or_insert_default()).push(site);
        }
    }

    /// Frames from the top down.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let mut caller = self.callers.as_deref();
        std::iter::once(&self.top).chain(std::iter::from_fn(move || {
            let here = caller?;
            caller = here.next.as_deref();
            Some(&here.frame)
        }))
    }

    pub fn push_frame(&mut self, frame: Frame) {
        let caller = std::mem::replace(&mut self.top, frame);
        self.callers = Some(Rc::new(Caller { frame: caller, next: self.callers.take() }));
        self.depth += 1;
    }

    /// Leaves the top frame; `false` when it was the last.
    pub fn pop_frame(&mut self) -> bool {
        let Some(caller) = self.callers.take() else { return false };
        self.depth -= 1;
        match Rc::try_unwrap(caller) {
            Ok(mut owned) => {
                self.callers = owned.next.take();
                // Caller has a Drop, so its frame is moved out by swapping.
                std::mem::swap(&mut self.top, &mut owned.frame);
            }
            Err(shared) => {
                self.top = shared.frame.clone();
                self.callers = shared.next.clone();
            }
        }
        true
    }
}

impl Drop for Caller {
    /// A deep recursion must not be dropped recursively.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(caller) = next {
            match Rc::try_unwrap(caller) {
                Ok(mut owned) => next = owned.next.take(),
                Err(_) => break,
            }
        }
    }
}
