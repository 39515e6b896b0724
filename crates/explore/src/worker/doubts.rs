//! Doubts: ways about which the solver could not tell. They are asked about again when nothing else is pending.
//!
//! Where time is limited, each gets an equal share of what is left. Most need less than that or can be answered at once, so that more
//! is left than was thought: what stays open waits for a further round, as long as each round has twice the time of the one before.
//! Without a limit each is asked about once more, for as long as such a question may take at all.

use std::collections::VecDeque;
use std::time::Duration;

use solver::Patience;
use witness::LedgerKind;

use super::Worker;
use crate::Path;
use crate::effects::Doubt;

/// A share that is less is as good as none: the next round is worth it only if it has more than that.
const LEAST_SHARE: Duration = Duration::from_millis(1);

/// The oldest first.
#[derive(Default)]
pub struct Doubts(VecDeque<Doubt>);

impl Doubts {
    pub fn keep(&mut self, doubt: Doubt) {
        self.0.push_back(doubt);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Doubt> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The newest quarter, which is given up where there is no memory for all.
    pub fn take_newest_quarter(&mut self) -> VecDeque<Doubt> {
        let n_doubts = self.0.len();
        self.0.split_off(n_doubts - n_doubts / 4)
    }

    pub fn take_all(&mut self) -> VecDeque<Doubt> {
        std::mem::take(&mut self.0)
    }
}

impl Worker<'_, '_> {
    /// Nothing else is pending: time to ask an open question again, for longer. What stays open and cannot get much more time
    /// enters the ledger. `false` when there is none.
    pub(super) fn ask_again(&mut self) -> bool {
        let Some(mut doubt) = self.doubts.0.pop_front() else { return false };
        // No single one may take what is left for all of them.
        let n_open = self.doubts.len() as u32 + 1;
        let at_most = self.options.solver.timeout_again;
        let share = self.time_left().map(|left| (left / n_open).min(at_most));
        if !is_worth_asking(doubt.had, share) {
            self.give_up(&doubt.path, &doubt.why.to_string());
            return true;
        }
        doubt.had = share;
        self.decider.stack.set_patience(Patience::Long { at_most: share });
        let node = doubt.path.node;
        let under = self.watching.under(&doubt.path, &mut self.decider);
        let resolved = self.decider.resolve_doubt(doubt);
        self.decider.stack.set_patience(Patience::Usual { at_most: self.time_left() });
        self.watching.tell_refuted(node, under, &mut self.decider, &self.line_up);
        match resolved {
            Ok(Some(path)) => {
                self.left.forks += 1;
                self.push(path, None);
            }
            Ok(None) => self.leave(node),
            Err(doubt) if doubt.had.is_some() => self.doubts.keep(doubt),
            Err(doubt) => self.give_up(&doubt.path, &doubt.why.to_string()),
        }
        true
    }

    /// Where time is short, no more than half of it goes to what is hard to answer while there are other ways to follow: such
    /// questions wait until there are none.
    pub(super) fn patience(&self) -> Patience {
        let is_short =
            self.options.budgets.time.is_some() && self.pending.n_live() as usize > super::limits::FEW_STATES;
        if is_short && self.decider.stack.counters().solver_time > self.limits.elapsed() / 2 {
            return Patience::None;
        }
        Patience::Usual { at_most: self.time_left() }
    }

    pub(super) fn give_up(&mut self, path: &Path, why: &str) {
        let (place, _) = self.decider.machine.image.whereabouts(&path.state);
        self.left.ledger.enter(LedgerKind::UnknownAnswer, place, why);
        self.spoil(path);
        self.leave(path.node);
    }
}

/// Whether a question may be asked again with that share of the time, after it had another.
fn is_worth_asking(had: Option<Duration>, share: Option<Duration>) -> bool {
    match (had, share) {
        (Some(had), Some(share)) => share >= had.max(LEAST_SHARE) * 2,
        _ => true,
    }
}
