//! Snapshots: what a worker says at a checkpoint.

use std::time::{Duration, Instant};

use witness::LedgerKind;

use super::Worker;
use crate::checkpoint::{Round, Snapshot};
use crate::{Checkpoints, Path};

/// Between two checkpoints: what is explored again after a kill, at most.
const INTERVAL: Duration = Duration::from_millis(300);
/// Where saying what is pending takes long it is said less often, so that this part of the time goes to it at most.
const SHARE: u32 = 20;

/// When the next checkpoint is due, given what the last one cost.
pub fn next_in(cost: Duration) -> Duration {
    INTERVAL.max(cost * SHARE)
}

pub struct Snapshots {
    /// The last checkpoint.
    round: Round,
    /// When one is due, where nobody else decides.
    due: Instant,
}

impl Snapshots {
    pub fn start() -> Snapshots {
        Snapshots { round: Round::default(), due: Instant::now() + INTERVAL }
    }

    pub fn round(&self) -> Round {
        self.round
    }
}

impl Worker<'_, '_> {
    /// Takes a snapshot if a new round has begun. Only between two paths: then whatever is not explored is pending.
    pub(super) fn check_round(&mut self) {
        let Snapshots { round, due } = self.snapshots;
        match self.exchange {
            Some(exchange) => self.note_round(exchange.round()),
            None if self.options.checkpoints == Checkpoints::Off || due > self.limits.last_look() => {}
            None => self.note_round(Round(round.0 + 1)),
        }
    }

    /// Somebody is in that round.
    pub(super) fn note_round(&mut self, round: Round) {
        if round <= self.snapshots.round {
            return;
        }
        let started = Instant::now();
        let mut left = self.left.clone();
        left.tally = self.telling.tally();
        left.instructions = self.decider.work.n_instructions;
        left.queries = self.decider.stack.counters().clone();
        // A question is not asked again from the decisions that led to it.
        for doubt in self.doubts.iter() {
            let (place, _) = self.decider.machine.image.whereabouts(&doubt.path.state);
            let why = format!("{}, and the campaign was killed before it was asked again", doubt.why);
            left.ledger.enter(LedgerKind::UnknownAnswer, place, why);
        }
        let mut pending = self.pending.decisions();
        pending.extend(self.watching.held().iter().map(Path::all_decisions));
        pending.extend(left.unexplored.iter().cloned());
        let cost = started.elapsed();
        self.telling.reports().snapshot(Snapshot { round, pending, left, cost });
        self.snapshots = Snapshots { round, due: Instant::now() + next_in(started.elapsed()) };
    }
}
