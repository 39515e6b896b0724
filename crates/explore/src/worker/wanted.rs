//! Which paths need their inputs and decisions: where few tests are kept, most do not.
//!
//! Putting together the inputs of a deep path takes longer than its last step did, so it is done only where somebody may write
//! them: where a path is the first to take an edge, or one of the first to show a fault.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use witness::{Bug, Ending};

use crate::{Path, Tests};

/// How many paths to one fault may be written.
const N_OF_A_FAULT: u32 = 8;

#[derive(Default)]
pub(crate) struct Wanted {
    /// Paths told of each fault.
    n_told: FxHashMap<u64, u32>,
}

impl Wanted {
    /// Whether somebody may want the witness of a path.
    pub fn is_wanted(&mut self, tests: Tests, path: &Path, ending: &Ending, told_edges: &[bool]) -> bool {
        let is_new = tests == Tests::All || path.first_edges.iter().any(|edge| !told_edges[edge.0 as usize]);
        match ending {
            Ending::Bug(bug) => self.is_one_of_the_first(bug) || is_new,
            _ => is_new,
        }
    }

    /// Faults are told apart by no less than the findings are.
    fn is_one_of_the_first(&mut self, bug: &Bug) -> bool {
        let Bug { kind, message: _, place, stack, also } = bug;
        let mut hasher = FxHasher::default();
        (kind, place, stack, also).hash(&mut hasher);
        let n_told = self.n_told.entry(hasher.finish()).or_insert(0);
        *n_told += 1;
        *n_told <= N_OF_A_FAULT
    }
}
