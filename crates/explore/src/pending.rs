//! The states that wait, in memory or put away as their decisions.

use std::collections::{BTreeMap, VecDeque};

use ir::FuncId;
use term::Assignment;
use vm::{EdgeId, Packed};

use crate::search::{Bfs, Coverage, Dfs, Outlook, Random, Rank, Ticket, View};
use crate::spots::{SpotId, Spots};
use crate::{Decisions, NodeId, Path, Search, Unwatched};

/// A path as its decisions: executed again when its turn comes.
pub struct Prefix {
    /// Shared with the paths it parted from, however deep they are.
    pub decisions: Decisions,
    /// An input that takes them, when this worker knows one.
    pub input: Option<Assignment>,
    /// The node of the tree it belongs to.
    pub node: Option<NodeId>,
    /// Why it belongs to none.
    pub unwatched: Unwatched,
    /// Seeds may take it, which shows when it is executed again.
    pub may_have_seeds: bool,
}

impl Prefix {
    /// Decisions that somebody else took.
    pub fn of_decisions(decisions: Decisions) -> Prefix {
        Prefix { decisions, input: None, node: None, unwatched: Unwatched::GivenUp, may_have_seeds: false }
    }
}

pub enum Waiting {
    Live(Box<Path>),
    Away(Box<Prefix>),
}

impl Waiting {
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Waiting::Away(prefix) => prefix.node,
            Waiting::Live(path) => path.node,
        }
    }

    pub fn decisions(&self) -> Decisions {
        match self {
            Waiting::Away(prefix) => prefix.decisions.clone(),
            Waiting::Live(path) => path.all_decisions(),
        }
    }
}

struct Entry {
    waiting: Waiting,
    /// Of a live path's top frame, which is without them meanwhile.
    registers: Option<Packed>,
    next_edge: Option<EdgeId>,
}

impl Entry {
    fn new(mut waiting: Waiting, next_edge: Option<EdgeId>) -> Entry {
        let registers = match &mut waiting {
            Waiting::Live(path) => Some(path.state.top.pack()),
            Waiting::Away(_) => None,
        };
        Entry { waiting, registers, next_edge }
    }

    /// As it was before it waited.
    fn into_waiting(self) -> Waiting {
        let mut waiting = self.waiting;
        if let (Waiting::Live(path), Some(registers)) = (&mut waiting, self.registers) {
            path.state.top.unpack(&registers);
        }
        waiting
    }
}

struct Lookout<'p> {
    entries: &'p BTreeMap<Ticket, Entry>,
    coverage: &'p vm::Coverage,
    spots: &'p Spots,
    work: u64,
}

impl View for Lookout<'_> {
    fn still_new(&self, ticket: Ticket) -> bool {
        let next_edge = self.entries.get(&ticket).and_then(|entry| entry.next_edge);
        next_edge.is_none_or(|edge| !self.coverage.is_seen(edge))
    }

    fn distance(&self, spot: SpotId) -> Option<u32> {
        self.spots.distance(spot)
    }

    fn func(&self, spot: SpotId) -> Option<FuncId> {
        self.spots.func(spot)
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn n_own_seen(&self) -> usize {
        self.spots.n_own_seen()
    }
}

pub struct Pending {
    entries: BTreeMap<Ticket, Entry>,
    rank: Box<dyn Rank>,
    next: u64,
    n_live: u64,
    /// Paths that follow seeds: before all others, in the order they came, and never put away or given away.
    first: VecDeque<Ticket>,
}

pub fn rank_of(search: Search, seed: u64) -> Box<dyn Rank> {
    match search {
        Search::Coverage => Box::new(Coverage::new(seed)),
        Search::Dfs => Box::new(Dfs::default()),
        Search::Bfs => Box::new(Bfs::default()),
        Search::Random => Box::new(Random::new(seed)),
    }
}

impl Pending {
    pub fn new(rank: Box<dyn Rank>) -> Pending {
        Pending { entries: BTreeMap::new(), rank, next: 0, n_live: 0, first: VecDeque::new() }
    }

    pub fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    pub fn stays(&self, n_spent: u64) -> bool {
        self.rank.stays(n_spent)
    }

    pub fn n_live(&self) -> u64 {
        self.n_live
    }

    /// `next_edge` is the edge the state takes first, where that is known.
    pub fn push(&mut self, waiting: Waiting, next_edge: Option<EdgeId>, outlook: Outlook) {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.n_live += u64::from(matches!(waiting, Waiting::Live(_)));
        let is_first = match &waiting {
            Waiting::Live(path) => !path.seeds.is_empty(),
            Waiting::Away(prefix) => prefix.may_have_seeds,
        };
        self.entries.insert(ticket, Entry::new(waiting, next_edge));
        match is_first {
            true => self.first.push_back(ticket),
            false => self.rank.push(ticket, outlook),
        }
    }

    /// `work` is what all states chosen until now have cost.
    pub fn pop(&mut self, coverage: &vm::Coverage, spots: &Spots, work: u64) -> Option<Waiting> {
        if let Some(ticket) = self.first.pop_front() {
            return self.remove(ticket);
        }
        let entries = &self.entries;
        let mut view = Lookout { entries, coverage, spots, work };
        // The rank may still have tickets of states that were taken away.
        let ticket = std::iter::from_fn(|| self.rank.pop(&mut view)).find(|ticket| entries.contains_key(ticket))?;
        self.remove(ticket)
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Waiting> {
        let entry = self.entries.remove(&ticket)?;
        self.n_live -= u64::from(matches!(entry.waiting, Waiting::Live(_)));
        Some(entry.into_waiting())
    }

    /// The state that has waited longest.
    pub fn take_oldest(&mut self) -> Option<Waiting> {
        let ticket = *self.entries.keys().find(|ticket| self.first.binary_search(ticket).is_err())?;
        self.remove(ticket)
    }

    /// Puts away all but the newest live states: they cost their decisions only until their turn comes.
    /// Returns how many that were.
    pub fn put_away(&mut self, n_keep: usize) -> u64 {
        let n_wanted = self.n_live.saturating_sub(n_keep as u64);
        let mut n_away = n_wanted;
        for entry in self.entries.values_mut() {
            if n_away == 0 {
                break;
            }
            if let Waiting::Live(path) = &entry.waiting
                && path.seeds.is_empty()
            {
                let (input, node, unwatched) = (Some(path.input.clone()), path.node, path.unwatched);
                let prefix = Prefix { decisions: path.all_decisions(), input, node, unwatched, may_have_seeds: false };
                entry.waiting = Waiting::Away(Box::new(prefix));
                entry.registers = None;
                self.n_live -= 1;
                n_away -= 1;
            }
        }
        n_wanted - n_away
    }

    /// Decisions of all that wait.
    pub fn decisions(&self) -> Vec<Decisions> {
        self.entries.values().map(|entry| entry.waiting.decisions()).collect()
    }

    pub fn drain(&mut self) -> Vec<Waiting> {
        self.n_live = 0;
        self.first.clear();
        std::mem::take(&mut self.entries).into_values().map(Entry::into_waiting).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hundreds of thousands of them wait.
    #[test]
    fn what_waits_is_small() {
        let sizes = (size_of::<Path>(), size_of::<vm::State>(), size_of::<vm::Object>(), size_of::<Entry>());
        assert!(sizes.0 <= 512 && sizes.3 <= 40, "{sizes:?}");
    }
}
