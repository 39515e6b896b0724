//! Trials: before anything is explored, a technique may run the program on inputs of its own. Nothing is told of these runs; what they
//! showed the technique tells by itself.

use solver::Patience;
use vm::Sizes;
use witness::{Bug, Ending};

use super::Worker;
use crate::effects::Decider;
use crate::{Explorer, Fork, Path, Stop, Tried, Trust, inputs_of};

impl Worker<'_, '_> {
    pub(super) fn try_out(&mut self) {
        let sizes = std::mem::replace(&mut self.decider.machine.spans.sizes, Sizes::Picked);
        let patience = self.decider.stack.set_patience(Patience::None);
        let mut last = None;
        loop {
            let trial = self.line_up.borrow_mut().trial(last.take());
            let Some(trial) = trial else { break };
            last = self.attempt(trial.fuel);
        }
        self.decider.stack.set_patience(patience);
        self.decider.machine.spans.sizes = sizes;
        self.tell_discoveries();
    }

    fn attempt(&mut self, fuel: u64) -> Option<Tried> {
        // With as many arguments as there may be.
        let choice = self.options.world.arg_choices().into_iter().next_back()?;
        let mut path = self.start(choice);
        let (path, bug) = match self.outcome(&mut path, fuel) {
            Some((Some(failing), bug)) => (*failing, Some(bug)),
            Some((None, bug)) => (path, Some(bug)),
            None => (path, None),
        };
        let Decider { machine, eval, .. } = &mut self.decider;
        let inputs = inputs_of(&path.state, &path.input, &machine.terms, eval);
        // A fault in what decides an assumption says that it does not hold.
        Some(Tried { bug: bug.filter(|_| !path.state.is_supposing), inputs })
    }

    /// The first fault of a path, and of one that parted from it, where it is that one's.
    fn outcome(&mut self, path: &mut Path, fuel: u64) -> Option<(Option<Box<Path>>, Bug)> {
        let mut explorer = Explorer::new(self);
        loop {
            let left = fuel.checked_sub(path.state.steps)?;
            match explorer.advance(path, Trust::Guess, left.max(1)) {
                Stop::Call(_) => explorer.enter(path),
                Stop::Forked(forks) => {
                    if let Some((failing, bug)) = fault_of(forks) {
                        return Some((Some(failing), bug));
                    }
                }
                Stop::Ended(ending, forks) => {
                    return match (fault_of(forks), ending) {
                        (Some((failing, bug)), _) => Some((Some(failing), bug)),
                        (None, Ending::Bug(bug)) => Some((None, bug)),
                        _ => None,
                    };
                }
                Stop::Paused | Stop::Tired | Stop::Lost => return None,
            }
        }
    }
}

fn fault_of(forks: Vec<Fork>) -> Option<(Box<Path>, Bug)> {
    forks.into_iter().find_map(|fork| match fork {
        Fork::Ended(path, Ending::Bug(bug)) => Some((path, bug)),
        Fork::Ended(..) | Fork::Waits(_) => None,
    })
}
