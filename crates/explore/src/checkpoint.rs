//! Checkpoints: from where a campaign that was killed goes on, without exploring anything twice or leaving anything out.
//!
//! One worker alone can say between any two paths what is pending and what it has counted so far. Several workers say so at
//! different times, while portions of work travel between them. A portion that has left its giver and has not come to its taker
//! must be found, and none may be counted with both. This is the consistent cut of Chandy and Lamport.
//!
//! Checkpoints come in rounds. A worker that learns of a new round takes its snapshot before it does anything else. Whatever it
//! gives away says in which round that was. Who takes a portion of a round it does not know yet takes its own snapshot first.
//! So no snapshot has anything of after the cut. What lies between the snapshots are the portions that were given before their
//! giver's and taken after their taker's.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use witness::{Budget, Ending, FindingKey};

use crate::collector::Leavings;
use crate::{Decisions, Outcome, PathCounts, TestId};

/// Number of a checkpoint, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round(pub u64);

/// Of a portion of work, in the order they were given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortionId(pub u64);

/// Where a campaign stands, as if it had been stopped just now.
pub struct Checkpoint {
    /// Its `pending` is what is not explored yet.
    pub outcome: Outcome,
    /// How many of those are counted as cut.
    pub n_resumable: u64,
    /// Paths told with a later test may be below what is pending; `None` if all may.
    pub settled: Option<TestId>,
}

/// What one worker told, as far as sums of it are kept.
#[derive(Clone, Default)]
pub struct Tally {
    pub counts: PathCounts,
    /// Paths that ended where something is not supported: file, line and what.
    pub gaps: BTreeMap<(Arc<str>, u32, String), u64>,
    pub cuts: BTreeMap<Budget, u64>,
    pub findings: BTreeMap<FindingKey, u64>,
}

impl Tally {
    pub fn count(&mut self, ending: &Ending) {
        self.counts.count(ending);
        match ending {
            Ending::Cut(budget) => *self.cuts.entry(*budget).or_insert(0) += 1,
            Ending::Unsupported(gap) => {
                let key = (gap.place.file.clone(), gap.place.line, gap.message.clone());
                *self.gaps.entry(key).or_insert(0) += 1;
            }
            Ending::Bug(bug) => {
                bug.clone().each().for_each(|bug| *self.findings.entry(bug.key()).or_insert(0) += 1);
            }
            Ending::Returned { .. } | Ending::Exited { .. } | Ending::Assumed | Ending::Pruned { .. } => {}
        }
    }

    pub fn add(&mut self, other: &Tally) {
        let Tally { counts, gaps, cuts, findings } = other;
        self.counts.add(counts);
        gaps.iter().for_each(|(key, count)| *self.gaps.entry(key.clone()).or_insert(0) += count);
        findings.iter().for_each(|(key, count)| *self.findings.entry(key.clone()).or_insert(0) += count);
        cuts.iter().for_each(|(budget, count)| *self.cuts.entry(*budget).or_insert(0) += count);
    }
}

/// What one worker says at a checkpoint.
pub struct Snapshot {
    pub round: Round,
    pub pending: Vec<Decisions>,
    pub left: Leavings,
    /// What it took to say so.
    pub cost: Duration,
}

/// All snapshots of a round and what lay between the workers.
pub struct Cut {
    pub pending: Vec<Decisions>,
    pub leavings: Vec<Leavings>,
    pub settled: Option<TestId>,
    pub cost: Duration,
}

/// Brings the snapshots of a round together.
#[derive(Default)]
pub struct Rounds {
    snapshots: Vec<Option<Snapshot>>,
    /// The last test before the first snapshot of the round.
    settled: Option<TestId>,
    /// Portions that nobody has taken yet, as far as is known.
    open: HashMap<PortionId, (Round, Vec<Decisions>)>,
    /// Portions that were taken after their taker's snapshot, and given before their giver's.
    between: Vec<Decisions>,
}

impl Rounds {
    pub fn new(n_workers: usize) -> Rounds {
        Rounds { snapshots: (0..n_workers).map(|_| None).collect(), ..Rounds::default() }
    }

    pub fn gave(&mut self, portion: PortionId, round: Round, paths: Vec<Decisions>) {
        self.open.insert(portion, (round, paths));
    }

    pub fn took(&mut self, worker: usize, portion: PortionId) {
        let Some((given, paths)) = self.open.remove(&portion) else { return };
        if self.snapshots[worker].as_ref().is_some_and(|snapshot| given < snapshot.round) {
            self.between.extend(paths);
        }
    }

    /// The cut, if this was the last snapshot that it needs.
    pub fn take(&mut self, worker: usize, snapshot: Snapshot, last: Option<TestId>) -> Option<Cut> {
        if self.snapshots.iter().all(Option::is_none) {
            self.settled = last;
        }
        let round = snapshot.round;
        self.snapshots[worker] = Some(snapshot);
        if self.snapshots.iter().any(Option::is_none) {
            return None;
        }
        let mut cut = Cut {
            pending: std::mem::take(&mut self.between),
            leavings: Vec::new(),
            settled: self.settled,
            cost: Duration::ZERO,
        };
        let lying = self.open.values().filter(|(given, _)| *given < round).flat_map(|(_, paths)| paths);
        cut.pending.extend(lying.cloned());
        for snapshot in self.snapshots.iter_mut().filter_map(Option::take) {
            cut.pending.extend(snapshot.pending);
            cut.leavings.push(snapshot.left);
            cut.cost = cut.cost.max(snapshot.cost);
        }
        Some(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(decision: u64) -> Decisions {
        [decision].into_iter().collect()
    }

    fn snapshot(pending: &[u64]) -> Snapshot {
        let pending = pending.iter().map(|decision| list(*decision)).collect();
        Snapshot { round: Round(1), pending, left: Leavings::default(), cost: Duration::ZERO }
    }

    fn sorted(cut: Option<Cut>) -> Vec<u64> {
        let pending = cut.expect("the round is complete").pending;
        let mut decisions: Vec<u64> = pending.iter().flat_map(Decisions::to_vec).collect();
        decisions.sort_unstable();
        decisions
    }

    #[test]
    fn what_travels_is_in_the_cut_once() {
        let mut rounds = Rounds::new(2);
        rounds.gave(PortionId(1), Round(0), vec![list(1)]);
        rounds.took(1, PortionId(1));
        rounds.gave(PortionId(2), Round(0), vec![list(2)]);
        rounds.gave(PortionId(3), Round(0), vec![list(3)]);
        // The second worker has the first portion in its snapshot, then takes the second; nobody takes the third.
        assert!(rounds.take(1, snapshot(&[1]), None).is_none());
        rounds.took(1, PortionId(2));
        let cut = rounds.take(0, snapshot(&[7]), None);
        assert_eq!(sorted(cut), [1, 2, 3, 7]);
    }

    #[test]
    fn what_was_given_after_the_cut_is_not_in_it() {
        let mut rounds = Rounds::new(2);
        assert!(rounds.take(0, snapshot(&[4, 5]), None).is_none());
        rounds.gave(PortionId(1), Round(1), vec![list(4)]);
        // Who takes it has to take its snapshot first.
        let cut = rounds.take(1, snapshot(&[]), None);
        assert_eq!(sorted(cut), [4, 5]);
        rounds.took(1, PortionId(1));
        let mut later = snapshot(&[4]);
        later.round = Round(2);
        assert!(rounds.take(1, later, None).is_none());
        let mut later = snapshot(&[5]);
        later.round = Round(2);
        assert_eq!(sorted(rounds.take(0, later, None)), [4, 5]);
    }
}
