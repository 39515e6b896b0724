//! What a worker may use: the clock, memory, the solver's share; and what becomes of the rest when a budget is used up.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use solver::Patience;
use witness::{Budget, Ending};

use super::Worker;
use crate::Path;
use crate::collector::Standing;
use crate::pending::Waiting;

const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// States that are kept whatever the memory.
const FEW_STATES: usize = 64;
/// Forks between two looks at memory, when they come faster than the clock.
const LOOK_FORKS: u64 = 1024;
/// What tests of cut paths may cost together, in inputs and decisions written: about a second.
const CUT_WORK: u64 = 4_000_000;
/// What one such test costs beside those.
const CUT_TEST_WORK: u64 = 200;

impl Worker<'_, '_> {
    /// Looks at the wish to stop, and now and then at the clock and at memory.
    pub(crate) fn look(&mut self) {
        if self.options.stop.load(Ordering::Relaxed) {
            self.over.get_or_insert(Budget::Interrupt);
        }
        if self.n_forks_since_look < LOOK_FORKS && self.last_look.elapsed() < LOOK_INTERVAL {
            return;
        }
        self.n_forks_since_look = 0;
        self.last_look = Instant::now();
        if self.options.budgets.time.is_some_and(|time| self.started.elapsed() >= time) {
            self.over.get_or_insert(Budget::Time);
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
        self.reports.standing(standing);
    }

    /// Where time is short, no more than half of it goes to what is hard to answer while there are other ways to follow: such
    /// questions wait until there are none.
    fn patience(&self) -> Patience {
        let is_short = self.options.budgets.time.is_some() && self.pending.n_live() as usize > FEW_STATES;
        if is_short && self.decider.stack.counters().solver_time > self.started.elapsed() / 2 {
            return Patience::None;
        }
        Patience::Usual { at_most: self.time_left() }
    }

    /// Puts states away; and open questions, each of which keeps one, are not asked again when they are what there is most of.
    fn save_memory(&mut self) {
        let (n_live, n_doubts) = (self.pending.n_live() as usize, self.doubts.len());
        if n_live > FEW_STATES {
            self.left.n_put_away += self.pending.put_away(n_live / 4);
        }
        if n_doubts > FEW_STATES && n_doubts > n_live {
            for doubt in self.doubts.split_off(n_doubts - n_doubts / 4) {
                self.give_up(&doubt.path, &format!("{}, and there is no memory to keep it", doubt.why));
            }
        }
    }

    pub(super) fn time_left(&self) -> Option<Duration> {
        self.options.budgets.time.map(|time| time.saturating_sub(self.started.elapsed()))
    }

    pub(super) fn measure_memory(&mut self) -> u64 {
        let resident_mb = resident_mb();
        self.left.memory_mb = self.left.memory_mb.max(resident_mb);
        resident_mb
    }

    /// What is still pending when a budget is used up ends as cut. Put-away paths have no state to write a test from, and
    /// writing tests of all others must not take longer than the exploration they were cut from: those get one that
    /// take an edge no test takes, and as many others as some work allows. What has none is only counted.
    pub(super) fn cut_rest(&mut self) {
        let mut work_left = CUT_WORK;
        let budget = self.over.unwrap_or(Budget::Interrupt);
        for path in std::mem::take(&mut self.held) {
            self.end(path, Ending::Cut(budget));
        }
        for doubt in std::mem::take(&mut self.doubts) {
            self.give_up(&doubt.path, &format!("{}, and it was too late to ask again", doubt.why));
        }
        for waiting in self.pending.drain() {
            match waiting {
                Waiting::Live(path) if self.takes_untold_edge(&path) || work_left > 0 => {
                    work_left =
                        work_left.saturating_sub(CUT_TEST_WORK + path.decisions.len() + path.state.inputs.len() as u64);
                    self.end(*path, Ending::Cut(budget));
                }
                waiting => {
                    self.left.n_untold += 1;
                    self.left.unexplored.push(waiting.into_trail());
                }
            }
        }
    }

    fn takes_untold_edge(&self, path: &Path) -> bool {
        path.first_edges.iter().any(|edge| !self.told_edges[edge.0 as usize])
    }
}

/// Resident memory of this process.
fn resident_mb() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    (pages * 4096) >> 20
}
