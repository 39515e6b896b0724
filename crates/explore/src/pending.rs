//! The states that wait, in memory or put away as their decisions.

use rustc_hash::FxHashMap;
use term::Assignment;
use vm::EdgeId;

use crate::search::{Bfs, Coverage, Dfs, Promise, Random, Rank, Ticket};
use crate::{Path, Search};

/// A path as its decisions: executed again when its turn comes.
pub struct Prefix {
    pub decisions: Vec<u64>,
    /// An input that takes them, when this worker knows one.
    pub input: Option<Assignment>,
}

pub enum Waiting {
    Live(Box<Path>),
    Away(Prefix),
}

struct Entry {
    waiting: Waiting,
    next_edge: Option<EdgeId>,
}

pub struct Pending {
    entries: FxHashMap<Ticket, Entry>,
    rank: Box<dyn Rank>,
    next: u64,
    n_live: u64,
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
        Pending { entries: FxHashMap::default(), rank, next: 0, n_live: 0 }
    }

    pub fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    pub fn stays(&self, n_forks: u64) -> bool {
        self.rank.stays(n_forks)
    }

    pub fn n_live(&self) -> u64 {
        self.n_live
    }

    /// `next_edge` is the edge the state takes first, where that is known; `is_new` whether nobody has taken it.
    pub fn push(&mut self, waiting: Waiting, next_edge: Option<EdgeId>, promise: Promise) {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.n_live += u64::from(matches!(waiting, Waiting::Live(_)));
        self.entries.insert(ticket, Entry { waiting, next_edge });
        self.rank.push(ticket, promise);
    }

    pub fn pop(&mut self, is_seen: impl Fn(EdgeId) -> bool) -> Option<Waiting> {
        let entries = &self.entries;
        let mut still_new = |ticket: Ticket| {
            entries.get(&ticket).and_then(|entry| entry.next_edge).is_none_or(|edge| !is_seen(edge))
        };
        let ticket = self.rank.pop(&mut still_new)?;
        let entry = self.entries.remove(&ticket).expect("a ticket is popped once");
        self.n_live -= u64::from(matches!(entry.waiting, Waiting::Live(_)));
        Some(entry.waiting)
    }

    /// Puts away all but the newest live states: they cost their decisions only until their turn comes.
    pub fn put_away(&mut self, n_keep: usize) {
        let mut live: Vec<Ticket> = self
            .entries
            .iter()
            .filter(|(_, entry)| matches!(entry.waiting, Waiting::Live(_)))
            .map(|(ticket, _)| *ticket)
            .collect();
        live.sort_unstable();
        live.truncate(live.len().saturating_sub(n_keep));
        for ticket in live {
            let Some(entry) = self.entries.get_mut(&ticket) else { continue };
            if let Waiting::Live(path) = &entry.waiting {
                let mut decisions = path.decisions.to_vec();
                decisions.extend(path.follow.iter().copied());
                entry.waiting = Waiting::Away(Prefix { decisions, input: Some(path.input.clone()) });
                self.n_live -= 1;
            }
        }
    }

    pub fn drain(&mut self) -> Vec<Waiting> {
        let mut entries: Vec<(Ticket, Entry)> = self.entries.drain().collect();
        entries.sort_by_key(|(ticket, _)| *ticket);
        self.n_live = 0;
        entries.into_iter().map(|(_, entry)| entry.waiting).collect()
    }
}
