//! What a campaign tells while it runs and when it is over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use witness::{Budget, Ending, Finding, Ledger, Witness};

use crate::Report;

/// Number of a test, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestId(pub u64);

/// Whether a path took an edge that no test before it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    New,
    Old,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub paths: u64,
    pub findings: u64,
    pub pending: u64,
    /// Edges of the user's own functions.
    pub edges_covered: u64,
    pub edges_total: u64,
    pub queries: u64,
    pub elapsed: Duration,
}

/// Takes paths as they end.
pub trait Sink {
    fn path_ended(&mut self, witness: &Witness, covers: Covers) -> TestId;
    fn progress(&mut self, progress: &Progress);
    /// From where the campaign could be gone on with if it were killed now.
    fn checkpoint(&mut self, _checkpoint: crate::Checkpoint) {}
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounts {
    pub total: u64,
    pub returned: u64,
    pub exited: u64,
    pub bug: u64,
    pub assumed: u64,
    pub pruned: u64,
    pub cut: u64,
    pub unsupported: u64,
}

impl PathCounts {
    pub(crate) fn add(&mut self, other: &PathCounts) {
        let PathCounts { total, returned, exited, bug, assumed, pruned, cut, unsupported } = other;
        self.total += total;
        self.returned += returned;
        self.exited += exited;
        self.bug += bug;
        self.assumed += assumed;
        self.pruned += pruned;
        self.cut += cut;
        self.unsupported += unsupported;
    }

    pub(crate) fn count(&mut self, ending: &Ending) {
        self.total += 1;
        match ending {
            Ending::Returned { .. } => self.returned += 1,
            Ending::Exited { .. } => self.exited += 1,
            Ending::Bug(_) => self.bug += 1,
            Ending::Assumed => self.assumed += 1,
            Ending::Pruned { .. } => self.pruned += 1,
            Ending::Cut(_) => self.cut += 1,
            Ending::Unsupported(_) => self.unsupported += 1,
        }
    }
}

#[derive(Default)]
pub struct Outcome {
    pub counts: PathCounts,
    /// Not yet confirmed.
    pub findings: Vec<Finding>,
    pub ledger: Ledger,
    /// Paths that ended where something is not supported: file, line and what.
    pub gaps: BTreeMap<(Arc<str>, u32, String), u64>,
    /// Paths that a budget ended, those without a test left out.
    pub cuts: BTreeMap<Budget, u64>,
    pub runs: u64,
    pub instructions: u64,
    pub forks: u64,
    pub states_max: u64,
    /// States put away as their decisions under memory pressure.
    pub put_away: u64,
    pub queries: solver::Counters,
    /// Decision prefixes of what was not explored.
    pub pending: Vec<crate::Decisions>,
    /// The first test of a path that came to the goal.
    pub reached: Option<TestId>,
    /// Standard output of the first path to end, when recorded.
    pub output: Vec<u8>,
    pub memory_mb: u64,
    pub elapsed: Duration,
    /// What each technique has to tell, by its name.
    pub techniques: Vec<(&'static str, Report)>,
}

impl Outcome {
    /// Whether the explored paths are all there are.
    pub fn is_complete(&self) -> bool {
        self.counts.cut == 0 && self.counts.unsupported == 0 && self.pending.is_empty() && self.ledger.is_empty()
    }
}
