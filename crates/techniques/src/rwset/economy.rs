//! What the technique may cost: a share of the work it goes with.
//!
//! Work is estimated, in about nanoseconds, from what was executed and asked, never from a clock: the same program gives
//! the same tests again. What a prune saved may be spent: as much as was done below the earlier visit. (What was pruned
//! there in turn does not count: the new state may have had to do less.) Where the estimates are wrong, prunes are lost or
//! time is, and nothing else.

use explore::Means;
use solver::Patience;
use vm::Effect;

/// One instruction, and one that leaves its footprint.
const INSTRUCTION: u64 = 3;
const TRACED_INSTRUCTION: u64 = 7;
/// Something the machine asks, with the fork it may lead to.
const EFFECT: u64 = 400;
/// A question to the solver: one of the small answers, or the solver itself.
const QUESTION: u64 = 300;
const SOLVER: u64 = 15_000;
/// The same for a question of the technique itself: about whole states at once, so often not an easy one.
const OWN_SOLVER: u64 = 150_000;

/// What the technique does itself.
const POINT: u64 = 600;
const TOUCHED_OBJECT: u64 = 200;
const SNAPSHOT: u64 = 1_500;
const LOOKUP: u64 = 60;
const FAILED_AGAIN: u64 = 80;
const COMPARISON: u64 = 2_000;
const TERM: u64 = 150;
const REFUTED: u64 = 150;
/// What holding a path back is taken to save: it may be endless.
const HELD: u64 = 100_000;

/// How much is spent before it has to be worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Of the work, in per cent; absent where it does not matter.
    pub percent: Option<u64>,
    /// Spent in any case, in nanoseconds.
    pub at_least: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { percent: Some(2), at_least: 4_000_000 }
    }
}

/// Questions asked, all and those that came to the solver.
#[derive(Clone, Copy, Default)]
struct Asked {
    n_asked: u64,
    n_solver: u64,
}

impl Asked {
    fn so_far(means: &Means) -> Asked {
        let counters = means.stack.counters();
        Asked { n_asked: counters.n_asked, n_solver: counters.n_solver }
    }

    fn cost(self) -> u64 {
        QUESTION * self.n_asked + SOLVER * self.n_solver
    }
}

#[derive(Default)]
pub struct Economy {
    effort: Effort,
    spent: u64,
    saved: u64,
    /// Questions of the technique itself.
    own: u64,
    is_tired: bool,
}

impl Economy {
    pub fn new(effort: Effort) -> Economy {
        Economy { effort, ..Economy::default() }
    }

    /// What was explored so far cost without the technique.
    fn work(&self, means: &Means) -> u64 {
        let done =
            INSTRUCTION * means.work.n_instructions + EFFECT * means.work.n_effects + Asked::so_far(means).cost();
        done.saturating_sub(self.own)
    }

    /// Whether more was spent than it is worth. Once that is so it has to become clearly worth it again.
    pub fn is_tired(&mut self, means: &Means) -> bool {
        let Some(percent) = self.effort.percent else { return false };
        let mut allowed = self.effort.at_least + self.work(means) / 100 * percent + self.saved;
        if self.is_tired {
            allowed -= self.effort.at_least / 4;
        }
        self.is_tired = self.spent > allowed;
        self.is_tired
    }

    /// A path came to a point; returns what that cost without the technique.
    pub fn point(&mut self, effect: &Effect, n_steps: u64, n_touched: usize) -> u64 {
        self.spent += POINT + TOUCHED_OBJECT * n_touched as u64 + (TRACED_INSTRUCTION - INSTRUCTION) * n_steps;
        let asks = if matches!(effect, Effect::Arrived | Effect::OutOfFuel) { 0 } else { EFFECT };
        asks + INSTRUCTION * n_steps
    }

    pub fn snapshot(&mut self) {
        self.spent += SNAPSHOT;
    }

    /// Comparing states, with all that is asked for it.
    pub fn compare<T>(&mut self, means: &mut Means, compare: impl FnOnce(&mut Means) -> (T, usize)) -> T {
        self.counted(COMPARISON, means, compare)
    }

    fn counted<T>(&mut self, least: u64, means: &mut Means, compare: impl FnOnce(&mut Means) -> (T, usize)) -> T {
        let before = Asked::so_far(means);
        // Without an answer there is no hit, and that is all.
        let patience = means.stack.set_patience(Patience::Short);
        let (found, n_terms) = compare(means);
        means.stack.set_patience(patience);
        let after = Asked::so_far(means);
        self.own += after.cost() - before.cost();
        let asked = QUESTION * (after.n_asked - before.n_asked) + OWN_SOLVER * (after.n_solver - before.n_solver);
        self.spent += least + TERM * n_terms as u64 + asked;
        found
    }

    pub fn lookup(&mut self, n_looked_at: usize) {
        self.spent += LOOKUP * n_looked_at as u64;
    }

    pub fn failed_again(&mut self) {
        self.spent += FAILED_AGAIN;
    }

    /// Finding out what refuted a question, with all that is asked for it.
    pub fn refuted<T>(&mut self, means: &mut Means, find: impl FnOnce(&mut Means) -> (T, usize)) -> T {
        self.counted(REFUTED, means, find)
    }

    pub fn pruned(&mut self, work: u64) {
        self.saved += work;
    }

    pub fn held(&mut self) {
        self.saved += HELD;
    }
}
