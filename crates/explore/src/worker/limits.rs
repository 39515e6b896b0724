//! Limits: the clock, memory, the budgets of a path; and what becomes of the rest when a budget is used up.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use witness::{Budget, Ending};

use super::Worker;
use crate::collector::Standing;
use crate::pending::Waiting;
use crate::{Budgets, Decisions, Path};

/// Instructions between two looks at the clock.
const FUEL: u64 = 1 << 17;
const WATCHED_FUEL: u64 = 50_000;
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// States that are kept whatever the memory.
pub const FEW_STATES: usize = 64;
/// Forks between two looks at memory, when they come faster than the clock.
const LOOK_FORKS: u64 = 1024;
/// What tests of cut paths may cost together, in inputs and decisions written: about a second.
const CUT_WORK: u64 = 4_000_000;
/// How much later than the time allows they may be written.
const LATE: Duration = Duration::from_millis(200);
/// What one such test costs beside those.
const CUT_TEST_WORK: u64 = 200;

pub struct Limits {
    started: Instant,
    last_look: Instant,
    pub n_forks_since_look: u64,
    /// The budget that is used up.
    pub over: Option<Budget>,
}

impl Limits {
    pub fn start() -> Limits {
        Limits { started: Instant::now(), last_look: Instant::now(), n_forks_since_look: 0, over: None }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn last_look(&self) -> Instant {
        self.last_look
    }

    /// Nothing is translated while a path is watched, so whether to go on watching is asked more often.
    pub fn fuel(&self, budgets: &Budgets, path: &Path) -> u64 {
        let most = if path.node.is_some() { WATCHED_FUEL } else { FUEL };
        budgets.steps.map_or(most, |steps| (steps - path.state.steps).clamp(1, most))
    }

    fn is_time_to_look(&mut self) -> bool {
        if self.n_forks_since_look < LOOK_FORKS && self.last_look.elapsed() < LOOK_INTERVAL {
            return false;
        }
        self.n_forks_since_look = 0;
        self.last_look = Instant::now();
        true
    }
}

impl Worker<'_, '_> {
    pub fn is_over(&self) -> bool {
        self.limits.over.is_some()
    }

    /// Looks at the wish to stop, and now and then at the clock and at memory.
    pub(crate) fn look(&mut self) {
        if self.options.stop.load(Ordering::Relaxed) || self.options.goal.is_reached() {
            self.limits.over.get_or_insert(Budget::Interrupt);
        }
        if !self.limits.is_time_to_look() {
            return;
        }
        if self.options.budgets.time.is_some_and(|time| self.limits.elapsed() >= time) {
            self.limits.over.get_or_insert(Budget::Time);
        }
        let resident_mb = self.measure_memory();
        if self.options.budgets.memory_mb.is_some_and(|limit| resident_mb >= limit) {
            self.save_memory();
        }
        let patience = self.patience();
        self.decider.stack.set_patience(patience);
        let standing = Standing {
            pending: self.pending.len() + self.doubts.len() as u64,
            queries: self.decider.stack.counters().n_asked,
        };
        self.telling.standing(standing);
    }

    /// Whether enough paths have been told.
    pub(crate) fn look_at_paths(&mut self) {
        if self.options.budgets.paths.is_some_and(|limit| self.n_paths() >= limit) {
            self.limits.over.get_or_insert(Budget::Paths);
        }
    }

    pub(crate) fn path_budget(&self, path: &Path) -> Option<Budget> {
        let budgets = &self.options.budgets;
        if budgets.depth.is_some_and(|depth| path.decisions.len() > depth) {
            return Some(Budget::Depth);
        }
        budgets.steps.is_some_and(|steps| path.state.steps >= steps).then_some(Budget::Steps)
    }

    /// Puts states away; and open questions, each of which keeps one, are not asked again when they are what there is most of.
    fn save_memory(&mut self) {
        let (n_live, n_doubts) = (self.pending.n_live() as usize, self.doubts.len());
        if n_live > FEW_STATES {
            self.left.n_put_away += self.pending.put_away(n_live / 4);
        }
        if n_doubts > FEW_STATES && n_doubts > n_live {
            for doubt in self.doubts.take_newest_quarter() {
                self.give_up(&doubt.path, &format!("{}, and there is no memory to keep it", doubt.why));
            }
        }
    }

    /// Whether there is no time left for tests of cut paths.
    fn is_late(&self) -> bool {
        self.options.budgets.time.is_some_and(|time| self.limits.elapsed() > time + time / 50 + LATE)
    }

    pub(super) fn time_left(&self) -> Option<Duration> {
        self.options.budgets.time.map(|time| time.saturating_sub(self.limits.elapsed()))
    }

    pub(super) fn measure_memory(&mut self) -> u64 {
        let resident_mb = resident_mb();
        self.left.memory_mb = self.left.memory_mb.max(resident_mb);
        resident_mb
    }

    /// A budget is used up, and there would have been more plans.
    pub fn leave_plan(&mut self) {
        self.left.n_untold += 1;
        self.left.unexplored.push(Decisions::default());
    }

    /// What is still pending when a budget is used up ends as cut. Put-away paths have no state to write a test from, and
    /// writing tests of all others must not take longer than the exploration they were cut from: those get one that
    /// take an edge no test takes, and as many others as some work allows. What has none is only counted.
    pub(super) fn cut_rest(&mut self) {
        let mut work_left = CUT_WORK;
        let budget = self.limits.over.unwrap_or(Budget::Interrupt);
        for path in self.watching.take_held() {
            self.end(path, Ending::Cut(budget));
        }
        for doubt in self.doubts.take_all() {
            self.give_up(&doubt.path, &format!("{}, and it was too late to ask again", doubt.why));
        }
        for waiting in self.pending.drain() {
            match waiting {
                Waiting::Live(path) if self.telling.takes_untold_edge(&path) || work_left > 0 && !self.is_late() => {
                    work_left =
                        work_left.saturating_sub(CUT_TEST_WORK + path.decisions.len() + path.state.inputs.len() as u64);
                    self.end(*path, Ending::Cut(budget));
                }
                waiting => {
                    self.left.n_untold += 1;
                    self.left.unexplored.push(waiting.decisions());
                    // Taking hundreds of thousands of states apart takes seconds, and the campaign is over.
                    if self.is_over() {
                        std::mem::forget(waiting);
                    }
                }
            }
        }
    }
}

/// Resident memory of this process.
fn resident_mb() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    (pages * 4096) >> 20
}
