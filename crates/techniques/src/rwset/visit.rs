//! Points on the way of paths: where one is, what was seen there, and what looking has brought.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use explore::{Decisions, NodeId};
use rustc_hash::FxHasher;
use term::TermId;
use vm::{State, Touched};

use super::config::Inputs;
use super::needed::Needed;
use super::reads::Reads;
use super::snapshot::Snapshot;

/// States with more frames are not compared: a recursion that deep would spend its time on comparing frames.
pub const MAX_FRAMES: u32 = 256;

/// A program point as a hash; whether two states really stand at the same one is checked when they are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointKey(pub u64);

impl PointKey {
    pub fn of_state(state: &State, inputs: Inputs) -> PointKey {
        let mut hasher = FxHasher::default();
        for frame in state.frames().take(MAX_FRAMES as usize) {
            (frame.func, frame.block, frame.inst_idx).hash(&mut hasher);
        }
        if inputs == Inputs::EquallyMany {
            state.inputs.len().hash(&mut hasher);
        }
        PointKey(hasher.finish())
    }

    /// The position alone, whoever called.
    pub fn of_position(state: &State) -> PointKey {
        let mut hasher = FxHasher::default();
        (state.top.func, state.top.block, state.top.inst_idx).hash(&mut hasher);
        PointKey(hasher.finish())
    }
}

/// A point some path is below of.
pub struct Visit {
    pub parent: Option<NodeId>,
    pub depth: u32,
    /// On the way from the parent.
    pub touched: Rc<[Touched]>,
    /// What is known to be read from here on.
    pub reads: Reads,
    /// Constraints added on the way from the parent, and those that were relied on from here on.
    pub added: Vec<TermId>,
    pub needed: Needed,
    /// Constraints there were here.
    pub n_constraints: usize,
    /// Absent where the state is no candidate: in the middle of an instruction, not worth it, or pruned.
    pub snapshot: Option<Rc<Snapshot>>,
    pub key: PointKey,
    /// Instructions executed before it.
    pub steps: u64,
    /// What is known to have been done from the parent on.
    pub work: u64,
    pub decisions: Decisions,
    pub is_spoiled: bool,
}

/// A path that waits because it looks like an unfinished visit.
pub struct Held {
    pub node: NodeId,
    pub like: NodeId,
    pub snapshot: Snapshot,
    pub place: witness::Place,
}

/// What looking for earlier states has brought at a position.
#[derive(Default)]
pub struct Worth {
    pub n_visits: u64,
    pub n_hits: u64,
    pub n_candidates: u64,
    pub n_held: u64,
}

impl Worth {
    /// Where hits are rare, most visits are not worth a look.
    pub fn is_worth_a_look(&self) -> bool {
        self.n_visits < 64 || (self.n_hits + self.n_held) * 64 >= self.n_visits || self.n_visits.is_multiple_of(16)
    }

    pub fn is_worth_holding(&self) -> bool {
        self.n_candidates < 64 || self.n_held * 64 >= self.n_candidates || self.n_candidates.is_multiple_of(16)
    }
}
