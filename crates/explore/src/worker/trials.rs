//! Trials: before anything is explored, a technique may run the program on inputs of its own. Nothing is told of these runs; what they
//! showed the technique tells by itself.

use solver::Patience;
use vm::{EdgeId, Sizes};
use witness::{Bug, Ending, InputValue};

use super::Worker;
use crate::effects::Decider;
use crate::{Explorer, Fork, MoreTrials, Path, Stop, Trial, Tried, Trust, inputs_of};

/// Of the time that a campaign has, trials take this part at most.
const PART: u32 = 4;
/// After so many instructions of a trial the time is looked at: each may ask the solver.
const AT_ONCE: u64 = 2000;

impl Worker<'_, '_> {
    pub(super) fn try_out(&mut self) {
        let sizes = self.decider.machine.spans.sizes;
        let patience = self.decider.stack.set_patience(Patience::None);
        let is_own = self.own_edges();
        let mut last = None;
        loop {
            let more = self.more_trials();
            let trial = self.line_up.borrow_mut().trial(last.take(), more);
            let Some(trial) = trial else { break };
            self.decider.machine.spans.sizes = if trial.n_paths > 1 { sizes } else { Sizes::Picked };
            last = self.attempt(trial, &is_own);
        }
        self.decider.stack.set_patience(patience);
        self.decider.machine.spans.sizes = sizes;
        self.tell_discoveries();
    }

    fn more_trials(&mut self) -> MoreTrials {
        let is_late = self.options.budgets.time.is_some_and(|time| self.limits.elapsed() >= time / PART);
        let is_stopped = self.options.stop.load(std::sync::atomic::Ordering::Relaxed);
        if is_late || is_stopped { MoreTrials::No } else { MoreTrials::Yes }
    }

    /// Which edges are of the user's own functions.
    fn own_edges(&self) -> Vec<bool> {
        let image = self.decider.machine.image;
        let mut is_own = vec![false; image.n_edges() as usize];
        for (idx, function) in image.module.functions.iter().enumerate().filter(|(_, function)| !function.is_runtime) {
            let func = ir::FuncId::new(idx);
            let n_blocks = function.blocks.len();
            let behind = match n_blocks {
                0 => continue,
                _ if idx + 1 < image.module.functions.len() => image.entry_edge(ir::FuncId::new(idx + 1)),
                _ => image.n_edges(),
            };
            is_own[image.entry_edge(func) as usize..behind as usize].fill(true);
        }
        is_own
    }

    fn attempt(&mut self, trial: Trial, is_own: &[bool]) -> Option<Tried> {
        // With as many arguments as there may be.
        let choice = self.options.world.arg_choices().into_iter().next_back()?;
        let mut waiting = vec![self.start(choice)];
        let (mut shown, mut edges) = (Vec::new(), Vec::new());
        let (mut n_paths, mut n_forks, mut fuel) = (0, 0, trial.fuel);
        while let Some(mut path) = waiting.pop() {
            let before = path.state.steps;
            let (parted, mut faults) =
                self.follow_trial(&mut path, fuel, trial.n_forks.saturating_sub(n_forks), &mut edges);
            if let Some(bug) = faults.own.take() {
                shown.extend(self.shown(&path, bug));
            }
            for (failing, bug) in faults.others {
                shown.extend(self.shown(&failing, bug));
            }
            n_paths += 1;
            n_forks += parted.len();
            fuel = fuel.saturating_sub(path.state.steps - before);
            if n_paths >= trial.n_paths || fuel == 0 || self.more_trials() == MoreTrials::No {
                break;
            }
            waiting.extend(parted);
        }
        edges.sort_unstable();
        edges.dedup();
        edges.retain(|edge| is_own[edge.0 as usize]);
        Some(Tried { shown, edges, n_steps: trial.fuel - fuel, n_forks })
    }

    /// A fault in what decides an assumption says that it does not hold.
    fn shown(&mut self, path: &Path, bug: Bug) -> Option<(Bug, Vec<InputValue>)> {
        if path.state.is_supposing {
            return None;
        }
        let Decider { machine, eval, .. } = &mut self.decider;
        Some((bug, inputs_of(&path.state, &path.input, &machine.terms, eval)))
    }

    /// Runs a path until it ends or too many others have parted from it, which wait; or, where none may, until one that parted from it has a fault.
    fn follow_trial(
        &mut self,
        path: &mut Path,
        fuel: u64,
        n_forks: usize,
        edges: &mut Vec<EdgeId>,
    ) -> (Vec<Path>, Faults) {
        let mut explorer = Explorer::new(self);
        let (mut parted, mut faults) = (Vec::new(), Faults::default());
        let most = path.state.steps + fuel;
        while let Some(left) = most.checked_sub(path.state.steps) {
            if explorer.worker.more_trials() == MoreTrials::No {
                break;
            }
            let stop = explorer.advance(path, Trust::Guess, left.clamp(1, AT_ONCE));
            let forks = match stop {
                Stop::Call(_) => {
                    explorer.enter(path);
                    continue;
                }
                Stop::Forked(forks) => forks,
                Stop::Ended(ending, forks) => {
                    if let Ending::Bug(bug) = ending {
                        faults.own = Some(bug);
                    }
                    take(forks, &mut parted, &mut faults);
                    break;
                }
                Stop::Tired if left > AT_ONCE => continue,
                Stop::Paused | Stop::Tired | Stop::Lost => break,
            };
            take(forks, &mut parted, &mut faults);
            if parted.len() >= n_forks && (n_forks > 0 || !faults.others.is_empty()) {
                break;
            }
        }
        edges.extend(explorer.take_guessed());
        (parted, faults)
    }
}

/// Faults of a path, and of those that parted from it.
#[derive(Default)]
struct Faults {
    own: Option<Bug>,
    others: Vec<(Box<Path>, Bug)>,
}

fn take(forks: Vec<Fork>, parted: &mut Vec<Path>, faults: &mut Faults) {
    // The first alternative is to be the newest.
    for fork in forks.into_iter().rev() {
        match fork {
            Fork::Waits(path) => parted.push(*path),
            Fork::Ended(path, Ending::Bug(bug)) => faults.others.push((path, bug)),
            Fork::Ended(..) => {}
        }
    }
}
