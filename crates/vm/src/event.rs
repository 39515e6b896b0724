//! What observers are told while the machine runs.

use ir::{BlockId, FuncId};
use term::TermId;

use crate::{EdgeId, ObjectId, State};

/// One thing that happened. Emitted only for the kinds some observer declared interest in.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A symbolic branch or switch went over this edge.
    Branch {
        func: FuncId,
        block: BlockId,
        edge: u32,
        cond: Option<TermId>,
    },
    Read {
        object: ObjectId,
        offset: u64,
        bytes: u64,
    },
    Write {
        object: ObjectId,
        offset: u64,
        bytes: u64,
    },
    Call {
        func: FuncId,
    },
    Return {
        func: FuncId,
    },
    Allocated {
        object: ObjectId,
    },
    Freed {
        object: ObjectId,
    },
    /// Control entered a block by an edge.
    Block {
        func: FuncId,
        block: BlockId,
        edge: EdgeId,
    },
}

/// Kinds of events an observer wants, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    pub const NONE: Interest = Interest(0);
    pub const BRANCH: Interest = Interest(1);
    pub const READ: Interest = Interest(2);
    pub const WRITE: Interest = Interest(4);
    pub const CALL: Interest = Interest(8);
    pub const ALLOCATION: Interest = Interest(16);
    pub const BLOCK: Interest = Interest(32);
    /// No event: asks that flow is tracked.
    pub const FLOW: Interest = Interest(1 << 31);

    pub fn with(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    #[inline(always)]
    pub fn has(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }
}

/// Receives events. It may write the slots of the state and nothing else of it.
pub trait Observer {
    fn event(&mut self, state: &mut State, event: &Event);
}
