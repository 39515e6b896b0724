//! Drivers: who turns the history so far into the next plan. They wrap each other: a plan of the outer one is explored by the
//! inner one, and what the innermost plans is run.

use crate::{Decisions, Explorer};

/// What one exploration will do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPlan {
    /// Decision prefixes to start from; empty for the beginning of the program.
    pub prefixes: Vec<Decisions>,
    /// Runs of one name explore the same; a path that such a run has already told is not told again. `None`: all are told.
    pub name: Option<u64>,
    pub leaves_out: LeavesOut,
}

/// What whoever explores a plan may leave out, because of what its driver learns from its paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeavesOut {
    /// No path.
    Nothing,
    /// Paths that from some point on repeat another in everything: which inputs it depends on, too, where that is tracked.
    Repeats,
    /// Whatever shows nothing new: nobody learns from the paths.
    #[default]
    NothingNew,
}

/// What has happened so far, within the plan of the outer driver.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub runs: u64,
}

/// Whether a driver explored by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conducts {
    Yes,
    No,
}

pub trait Driver {
    /// The next plan within the outer one; `None`: all of that is explored. The outermost driver's outer plan is everything.
    fn next(&mut self, outer: &RunPlan, history: &History) -> Option<RunPlan>;

    /// Explores a plan in an order of its own, path by path, instead of by plans. Asked once for each, before `next`.
    fn conduct(&mut self, _outer: &RunPlan, _explorer: &mut Explorer) -> Conducts {
        Conducts::No
    }
}
