//! Search orders: each decides which pending state comes next.

use std::collections::{BTreeMap, VecDeque};

use crate::spots::SpotId;

/// A pending state's number; later ones are larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Seat `rank`: orders tickets. Every ticket pushed is popped exactly once.
pub trait Rank {
    /// Whether the running path goes on after its `n_forks`th fork since its turn began, or waits like the others.
    fn stays(&self, n_forks: u64) -> bool;
    fn push(&mut self, ticket: Ticket, outlook: Outlook);
    fn pop(&mut self, view: &mut dyn View) -> Option<Ticket>;
}

/// What is known of a state when it begins to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    pub promise: Promise,
    pub spot: SpotId,
}

/// The next edge of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nobody has taken it, and it is of the program itself.
    OwnEdge,
    /// Nobody has taken it, and it is of a library.
    LibraryEdge,
    Nothing,
}

/// What is known when a state is chosen.
pub trait View {
    /// Whether a promise made at the push still holds.
    fn still_new(&self, ticket: Ticket) -> bool;
    /// Steps from a spot to an edge of the program itself that nobody has taken, if such a way is known.
    fn distance(&self, spot: SpotId) -> Option<u32>;
    /// How many edges of the program itself have been taken.
    fn n_own_seen(&self) -> usize;
}

#[derive(Default)]
pub struct Dfs {
    stack: Vec<Ticket>,
}

impl Rank for Dfs {
    fn stays(&self, _: u64) -> bool {
        true
    }

    fn push(&mut self, ticket: Ticket, _: Outlook) {
        self.stack.push(ticket);
    }

    fn pop(&mut self, _: &mut dyn View) -> Option<Ticket> {
        self.stack.pop()
    }
}

#[derive(Default)]
pub struct Bfs {
    queue: VecDeque<Ticket>,
}

impl Rank for Bfs {
    fn stays(&self, _: u64) -> bool {
        false
    }

    fn push(&mut self, ticket: Ticket, _: Outlook) {
        self.queue.push_back(ticket);
    }

    fn pop(&mut self, _: &mut dyn View) -> Option<Ticket> {
        self.queue.pop_front()
    }
}

pub struct Random {
    tickets: Vec<Ticket>,
    dice: Dice,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { tickets: Vec::new(), dice: Dice::new(seed) }
    }
}

impl Rank for Random {
    fn stays(&self, _: u64) -> bool {
        false
    }

    fn push(&mut self, ticket: Ticket, _: Outlook) {
        self.tickets.push(ticket);
    }

    fn pop(&mut self, _: &mut dyn View) -> Option<Ticket> {
        let n_tickets = self.tickets.len() as u64;
        (n_tickets > 0).then(|| self.tickets.swap_remove(self.dice.below(n_tickets) as usize))
    }
}

/// States that promise a new edge of the program itself first, newest first.
///
/// While some state waits where code that nobody has run may follow, the others are mostly chosen by where they wait: each
/// spot has its turn, those more often that were chosen from less and lie nearer to such code. So a loop
/// that forks for ever, in a library or not, holds up nothing. One time in four it is the newest of all, which is
/// always so when there is no such spot: it keeps few states alive.
pub struct Coverage {
    own: Vec<(Ticket, SpotId)>,
    library: Vec<(Ticket, SpotId)>,
    others: BTreeMap<Ticket, SpotId>,
    groups: BTreeMap<SpotId, Group>,
    /// The spot chosen last, and how many edges had been taken then.
    last: Option<(SpotId, usize)>,
    dice: Dice,
}

/// The states that wait at one spot.
#[derive(Default)]
struct Group {
    tickets: VecDeque<Ticket>,
    n_chosen: u64,
}

/// Steps beyond which it does not matter how far it is.
const FAR: u32 = 64;
/// A weight is this over how often a spot was chosen and how far it is from new code.
const WEIGHT: u64 = 1 << 32;
/// States above which the newest are chosen as often as all others.
const MANY: usize = 1 << 14;

impl Coverage {
    pub fn new(seed: u64) -> Coverage {
        Coverage {
            own: Vec::new(),
            library: Vec::new(),
            others: BTreeMap::new(),
            groups: BTreeMap::new(),
            last: None,
            dice: Dice::new(seed),
        }
    }

    fn add(&mut self, ticket: Ticket, spot: SpotId) {
        self.others.insert(ticket, spot);
        self.groups.entry(spot).or_default().tickets.push_back(ticket);
    }

    /// The newest of those that promised something which still holds.
    fn promising(&mut self, promise: Promise, view: &dyn View) -> Option<Ticket> {
        loop {
            let list = if promise == Promise::OwnEdge { &mut self.own } else { &mut self.library };
            let (ticket, spot) = list.pop()?;
            if view.still_new(ticket) {
                return Some(ticket);
            }
            self.add(ticket, spot);
        }
    }

    fn newest(&mut self) -> Option<Ticket> {
        let (ticket, spot) = self.others.pop_last()?;
        if let Some(group) = self.groups.get_mut(&spot)
            && let Some(idx) = group.tickets.iter().rposition(|other| *other == ticket)
        {
            group.tickets.remove(idx);
        }
        Some(ticket)
    }

    /// A state of the spot whose turn it is; `None` if no spot leads to new code.
    fn by_spot(&mut self, view: &dyn View) -> Option<Ticket> {
        let mut leads = false;
        let weigh = |(spot, group): (&SpotId, &Group)| {
            let distance = view.distance(*spot);
            leads |= distance.is_some();
            let steps = u64::from(distance.unwrap_or(FAR).min(FAR)) + 1;
            (*spot, WEIGHT / (steps * (group.n_chosen + 1)))
        };
        let waiting = self.groups.iter().filter(|(_, group)| !group.tickets.is_empty());
        let weights: Vec<(SpotId, u64)> = waiting.map(weigh).collect();
        if !leads {
            return None;
        }
        let mut mark = self.dice.below(weights.iter().map(|(_, weight)| weight).sum::<u64>().max(1));
        let spot = weights.iter().find_map(|(spot, weight)| {
            let is_here = mark < *weight;
            mark = mark.saturating_sub(*weight);
            is_here.then_some(*spot)
        });
        self.last = spot.map(|spot| (spot, view.n_own_seen()));
        let group = self.groups.get_mut(&spot?)?;
        group.n_chosen += 1;
        let n_tickets = group.tickets.len() as u64;
        let ticket = match self.dice.below(4) {
            // The oldest have the fewest conditions.
            0 | 1 => group.tickets.pop_front(),
            2 => group.tickets.pop_back(),
            _ => group.tickets.swap_remove_back(self.dice.below(n_tickets) as usize),
        }?;
        self.others.remove(&ticket);
        Some(ticket)
    }
}

impl Rank for Coverage {
    fn stays(&self, n_forks: u64) -> bool {
        n_forks < 256
    }

    fn push(&mut self, ticket: Ticket, Outlook { promise, spot }: Outlook) {
        match promise {
            Promise::OwnEdge => self.own.push((ticket, spot)),
            Promise::LibraryEdge => self.library.push((ticket, spot)),
            Promise::Nothing => self.add(ticket, spot),
        }
    }

    fn pop(&mut self, view: &mut dyn View) -> Option<Ticket> {
        // A spot that led to something new may lead to more.
        if let Some((spot, n_own_seen)) = self.last.take()
            && view.n_own_seen() > n_own_seen
            && let Some(group) = self.groups.get_mut(&spot)
        {
            group.n_chosen /= 2;
        }
        if let Some(ticket) = self.promising(Promise::OwnEdge, view) {
            return Some(ticket);
        }
        if (self.others.is_empty() || self.dice.below(2) == 0)
            && let Some(ticket) = self.promising(Promise::LibraryEdge, view)
        {
            return Some(ticket);
        }
        let newest_of_four = if self.others.len() > MANY { 2 } else { 1 };
        let by_spot = if self.dice.below(4) < newest_of_four { None } else { self.by_spot(view) };
        by_spot.or_else(|| self.newest()).or_else(|| self.promising(Promise::LibraryEdge, view))
    }
}

/// A small generator (splitmix64): the same seed gives the same search everywhere.
struct Dice {
    seed: u64,
}

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice { seed }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Everything {
        New,
        Old,
    }

    impl View for Everything {
        fn still_new(&self, _: Ticket) -> bool {
            matches!(self, Everything::New)
        }

        fn distance(&self, spot: SpotId) -> Option<u32> {
            (matches!(self, Everything::New) && spot == SpotId(1)).then_some(1)
        }

        fn n_own_seen(&self) -> usize {
            0
        }
    }

    fn drain(rank: &mut dyn Rank) -> Vec<u64> {
        std::iter::from_fn(|| rank.pop(&mut Everything::New)).map(|ticket| ticket.0).collect()
    }

    fn filled(mut rank: Box<dyn Rank>) -> Box<dyn Rank> {
        for number in 0..20 {
            let promise = match number {
                7 => Promise::OwnEdge,
                9 => Promise::LibraryEdge,
                _ => Promise::Nothing,
            };
            rank.push(Ticket(number), Outlook { promise, spot: SpotId(number as u32 / 5) });
        }
        rank
    }

    #[test]
    fn every_order_returns_every_ticket_once() {
        let orders: Vec<Box<dyn Rank>> = vec![
            Box::new(Dfs::default()),
            Box::new(Bfs::default()),
            Box::new(Random::new(3)),
            Box::new(Coverage::new(3)),
        ];
        for order in orders {
            let mut drained = drain(filled(order).as_mut());
            drained.sort_unstable();
            assert_eq!(drained, (0..20).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn coverage_prefers_promises_that_still_hold() {
        assert_eq!(drain(filled(Box::new(Coverage::new(0))).as_mut())[0], 7);
        let mut rank = filled(Box::new(Coverage::new(0)));
        assert!(rank.pop(&mut Everything::Old).is_some());
        assert_eq!(drain(rank.as_mut()).len(), 19);
    }

    #[test]
    fn coverage_chooses_most_where_new_code_is_near_and_the_newest_where_none_is() {
        let mut rank = Coverage::new(0);
        for number in 0..4000 {
            rank.push(Ticket(number), Outlook { promise: Promise::Nothing, spot: SpotId(u32::from(number < 2000)) });
        }
        let n_near = (0..400).filter(|_| rank.pop(&mut Everything::New).is_some_and(|ticket| ticket.0 < 2000)).count();
        // The others still have their turns.
        assert!((200..390).contains(&n_near), "{n_near}");
        let newest = *rank.others.keys().next_back().expect("some are left");
        assert_eq!(rank.pop(&mut Everything::Old), Some(newest));
    }

    #[test]
    fn dfs_is_last_in_first_out_and_bfs_first_in_first_out() {
        assert_eq!(drain(filled(Box::new(Dfs::default())).as_mut())[0], 19);
        assert_eq!(drain(filled(Box::new(Bfs::default())).as_mut())[0], 0);
    }
}
