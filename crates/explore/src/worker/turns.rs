//! Turns: how long a path stays before others have theirs.

use crate::effects::Decider;
use crate::pending::Pending;
use crate::{Path, Work};

/// Instructions, and effects, in what costs about a millisecond: as much of a path's turn as one fork. One that runs or asks
/// for ever without forking must not hold up the others.
const INSTRUCTIONS_MS: u64 = 1 << 14;
const EFFECTS_MS: u64 = 128;
/// Effects of one path between two looks at all.
const LOOK_STEPS: u64 = 32;

/// What was done so far, in what costs about a millisecond. Only slow questions to the solver go by the clock: where there
/// are none, the same seed gives the same search.
pub fn work_done(decider: &Decider) -> u64 {
    let Work { n_instructions, n_effects } = decider.work;
    let slow_ms = decider.stack.counters().slow_time.as_millis() as u64;
    n_instructions / INSTRUCTIONS_MS + n_effects / EFFECTS_MS + slow_ms
}

/// One path's turn.
pub struct Turn {
    n_forks: u64,
    n_steps: u64,
    work_before: u64,
    /// Questions to the solver when it was last looked.
    n_solver: u64,
    has_forked: bool,
}

impl Turn {
    pub fn begin(decider: &Decider) -> Turn {
        let (work_before, n_solver) = (work_done(decider), decider.stack.counters().n_solver);
        Turn { n_forks: 0, n_steps: 0, work_before, n_solver, has_forked: false }
    }

    pub fn count(&mut self, n_forks: u64) {
        self.n_forks += n_forks;
        self.n_steps += 1;
        self.has_forked = n_forks > 0;
    }

    /// A path may ask for ever without forking, so looking must not depend on forks; and one question to the solver may
    /// take longer than all else.
    pub fn is_time_to_look(&mut self, decider: &Decider) -> bool {
        let n_solver = decider.stack.counters().n_solver;
        let was_solver_asked = std::mem::replace(&mut self.n_solver, n_solver) != n_solver;
        self.has_forked || was_solver_asked || self.n_steps.is_multiple_of(LOOK_STEPS)
    }

    /// A seed is followed to its end.
    pub fn stays(&self, path: &Path, decider: &Decider, pending: &Pending) -> bool {
        let spent = self.n_forks + work_done(decider) - self.work_before;
        spent == 0 || !path.seeds.is_empty() || pending.stays(spent)
    }
}
