//! Interest in points: the explorer keeps the tree of them, the footprints between them, and says when all below one is over.
//!
//! Points are where something is to be decided, and where paths that parted at a branch meet again.

use std::rc::Rc;

use solver::{PathCondition, Refuted, Stack};
use term::{Assignment, Eval};
use vm::{Effect, Machine, Touched};
use witness::Ending;

use crate::{Admission, NodeId, Path, Subtree};

/// Why a path is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatched {
    /// What follows is known: for the tree it is explored.
    Known,
    /// It costs too much at the moment: nothing above will have been seen whole. See [`Points::adopts`].
    GivenUp,
}

/// Whether a technique wants to watch a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    Nothing,
    /// The tree of points.
    Points,
}

/// Which of the paths that part at a branch is followed first, in an order that follows one at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The one its input takes.
    Current,
    /// One whose side nobody has taken yet, then the one with the shortest way to where they meet again: it comes there with
    /// the fewest conditions.
    Nearest,
}

/// Where a path stands when techniques are asked about it: before an effect is decided, or where it meets paths it
/// parted from.
pub struct Point<'a> {
    pub path: &'a Path,
    pub effect: &'a Effect,
    /// The path's last point; absent at its first.
    pub from: NodeId,
    /// This point.
    pub here: NodeId,
    /// What was read and written on the way from there.
    pub touched: &'a Rc<[Touched]>,
}

/// The condition that a path had when something was decided, and an input that satisfies it.
pub struct Under {
    pub condition: PathCondition,
    pub input: Assignment,
}

/// What there is to answer questions with.
pub struct Means<'d, 'i> {
    pub machine: &'d mut Machine<'i>,
    pub stack: &'d mut Stack,
    pub eval: &'d mut Eval,
    pub work: Work,
}

/// What this worker has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub n_instructions: u64,
    /// What the machine asked.
    pub n_effects: u64,
}

/// What becomes of the held paths when nothing else is left to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Every one of them is pruned, for the reason given for its node.
    PruneAll(Vec<(NodeId, String)>),
    /// These go on after all, the others stay held.
    Release(Vec<NodeId>),
}

pub trait Points {
    /// A path has come to a point: seat `admit`, with everything there is to judge by.
    fn admit_at(&mut self, point: &Point, means: &mut Means) -> Admission;

    /// Which side of a branch goes first while paths are watched.
    fn first(&self) -> First {
        First::Current
    }

    /// A path that was given up is taken from those pending: whether to watch what it does from here on.
    fn adopts(&mut self, _path: &Path, _means: &mut Means) -> Watch {
        Watch::Nothing
    }

    /// A path that belongs to this node ended after this.
    fn ended_at(&mut self, _node: NodeId, _touched: &[Touched], _ending: &Ending) {}

    /// Something below the node was cut, is not supported, or gave up precision: it will never have been seen whole.
    fn spoiled(&mut self, _node: NodeId) {}

    /// Deciding what a path does at this node, its condition turned out to exclude these; `None`: one cannot say what.
    fn refuted(&mut self, _node: NodeId, _under: &Under, _refuted: Option<&[Refuted]>, _means: &mut Means) {}

    /// Everything below the node has ended. Children come before their parents.
    fn subtree_finished(&mut self, _node: NodeId, _subtree: Subtree, _means: &mut Means) {}

    /// Nothing is left to run but paths this technique asked to hold.
    fn settle(&mut self, _means: &mut Means) -> Settlement {
        Settlement::Release(Vec::new())
    }
}
