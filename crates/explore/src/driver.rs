//! Drivers: who turns the history so far into the next plan.

use crate::{Explorer, Trail};

/// What one exploration will do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPlan {
    /// Decision prefixes to start from; empty for the beginning of the program.
    pub prefixes: Vec<Trail>,
    /// Runs of one name explore the same; a path that such a run has already told is not told again. `None`: all are told.
    pub name: Option<u64>,
}

/// What has happened in the campaign so far.
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
    /// The next plan; `None` ends the campaign.
    fn next(&mut self, history: &History) -> Option<RunPlan>;

    /// Explores in an order of its own, path by path, instead of by plans. Asked once, before the first plan.
    fn conduct(&mut self, _explorer: &mut Explorer) -> Conducts {
        Conducts::No
    }
}

/// One plan: everything, or what is left of it.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    prefixes: Vec<Trail>,
}

impl Plain {
    pub fn from_prefixes(prefixes: Vec<Trail>) -> Plain {
        Plain { prefixes }
    }
}

impl Driver for Plain {
    fn next(&mut self, history: &History) -> Option<RunPlan> {
        (history.runs == 0).then(|| RunPlan { prefixes: std::mem::take(&mut self.prefixes), name: None })
    }
}
