//! Search orders: each decides which pending state comes next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ir::FuncId;
use solver::Dice;

use crate::spots::{Nook, SpotId};

/// A pending state's number; later ones are larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Seat `rank`: orders tickets. Every ticket pushed is popped exactly once.
pub trait Rank {
    /// Whether the running path goes on after what its turn has taken until now, in forks or what counts as much, or waits
    /// like the others.
    fn stays(&self, n_spent: u64) -> bool;
    fn push(&mut self, ticket: Ticket, outlook: Outlook);
    fn pop(&mut self, view: &mut dyn View) -> Option<Ticket>;
}

/// What is known of a state when it begins to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    pub promise: Promise,
    pub spot: SpotId,
    pub nook: Nook,
    /// Decisions until there.
    pub depth: u64,
}

/// What may come of a state next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nobody has taken its next edge, and that is of the program itself.
    OwnEdge,
    /// Nobody has taken its next edge, and that is of a library.
    LibraryEdge,
    Nothing,
    /// It did not end within a whole turn, and may never do.
    HadItsTurn,
}

/// What is known when a state is chosen.
pub trait View {
    /// Whether a promise made at the push still holds.
    fn still_new(&self, ticket: Ticket) -> bool;
    /// Steps from a spot to an edge of the program itself that nobody has taken, if such a way is known.
    fn distance(&self, spot: SpotId) -> Option<u32>;
    /// The function of the program itself in which a spot lies.
    fn func(&self, spot: SpotId) -> Option<FuncId>;
    /// What all states chosen until now have cost together.
    fn work(&self) -> u64;
    /// How many edges of the program itself have been taken.
    fn n_own_seen(&self) -> usize;
}

/// The newest first. A path that does not end gives way after a while, and from then on the oldest has every other turn:
/// a loop that forks for ever would keep all others waiting.
#[derive(Default)]
pub struct Dfs {
    stack: VecDeque<Ticket>,
    tired: VecDeque<Ticket>,
    gave_way: bool,
    n_turns: u64,
}

/// What a turn of a path that does not end may take.
const LONG_TURN: u64 = 4096;

impl Rank for Dfs {
    fn stays(&self, n_spent: u64) -> bool {
        n_spent < LONG_TURN
    }

    fn push(&mut self, ticket: Ticket, outlook: Outlook) {
        if outlook.promise == Promise::HadItsTurn {
            self.gave_way = true;
            return self.tired.push_back(ticket);
        }
        self.stack.push_back(ticket);
    }

    fn pop(&mut self, _: &mut dyn View) -> Option<Ticket> {
        self.n_turns += 1;
        let chosen = match self.gave_way && self.n_turns.is_multiple_of(2) {
            true => self.stack.pop_front(),
            false => self.stack.pop_back(),
        };
        chosen.or_else(|| self.tired.pop_front())
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
/// function has its turn, those more often that cost less until now and lie nearer to such code, within it each spot by
/// the same measure, and there each nook. A function that is called in many ways has many spots, and counts no more
/// than another; in cost, since one question to the solver or one endless loop takes longer than a hundred others. So a
/// loop that forks for ever, in a library or not, holds up nothing. One time in four it is the newest of all, which is
/// always so when there is no such spot: it keeps few states alive. States that have had a turn come last there.
///
/// An eighth of the time belongs to those with the fewest decisions, in short turns: what goes wrong often does so early, and
/// not always where there is new code.
pub struct Coverage {
    /// All that wait without a promise, by depth.
    depths: BTreeSet<(u64, Ticket)>,
    turn: Turn,
    /// What turns by depth, and all turns, have cost.
    cost_by_depth: u64,
    cost: u64,
    work: u64,
    own: Vec<(Ticket, Berth)>,
    library: Vec<(Ticket, Berth)>,
    waiting: Waiting,
    groups: BTreeMap<SpotId, Group>,
    /// What the states of a function's spots have cost.
    costs: BTreeMap<Option<FuncId>, u64>,
    last: Option<Choice>,
    dice: Dice,
}

/// States without a promise, and where each of them waits.
#[derive(Default)]
struct Waiting {
    others: BTreeMap<Ticket, Berth>,
    /// Those that have had a turn.
    tired: BTreeMap<Ticket, Berth>,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.others.is_empty() && self.tired.is_empty()
    }

    fn has(&self, ticket: Ticket) -> bool {
        self.others.contains_key(&ticket) || self.tired.contains_key(&ticket)
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Berth> {
        self.others.remove(&ticket).or_else(|| self.tired.remove(&ticket))
    }
}

/// Where a state waits.
#[derive(Clone, Copy)]
struct Berth {
    spot: SpotId,
    nook: Nook,
    depth: u64,
}

/// Why the running state was chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Usual,
    ByDepth,
}

/// The state chosen last.
struct Choice {
    berth: Berth,
    n_own_seen: usize,
    work: u64,
}

/// The states that wait at one spot.
#[derive(Default)]
struct Group {
    nooks: BTreeMap<Nook, Corner>,
    n_tickets: usize,
    cost: u64,
}

/// Those of one nook.
#[derive(Default)]
struct Corner {
    tickets: VecDeque<Ticket>,
    /// How many of them wait no more: to look for one among hundreds of thousands takes longer than a path.
    n_gone: usize,
    cost: u64,
}

impl Corner {
    fn is_empty(&self) -> bool {
        self.tickets.len() == self.n_gone
    }

    fn take(&mut self, waiting: &Waiting, dice: &mut Dice) -> Option<Ticket> {
        while !self.is_empty() {
            let n_tickets = self.tickets.len() as u64;
            let ticket = match dice.below(4) {
                // The oldest have the fewest conditions.
                0 | 1 => self.tickets.pop_front(),
                2 => self.tickets.pop_back(),
                _ => self.tickets.swap_remove_back(dice.below(n_tickets) as usize),
            }?;
            if waiting.has(ticket) {
                return Some(ticket);
            }
            self.n_gone -= 1;
        }
        None
    }
}

impl Group {
    /// One of the nook does not wait any more.
    fn leave(&mut self, nook: Nook, waiting: &Waiting) {
        let Some(corner) = self.nooks.get_mut(&nook) else { return };
        self.n_tickets -= 1;
        corner.n_gone += 1;
        if corner.n_gone > corner.tickets.len() / 2 {
            corner.tickets.retain(|ticket| waiting.has(*ticket));
            corner.n_gone = 0;
        }
    }

    fn take(&mut self, waiting: &Waiting, dice: &mut Dice) -> Option<Ticket> {
        let filled = self.nooks.iter().filter(|(_, corner)| !corner.is_empty());
        let nook = dice.weighted(filled.map(|(nook, corner)| (*nook, WEIGHT / (corner.cost + 1))))?;
        let ticket = self.nooks.get_mut(&nook)?.take(waiting, dice)?;
        self.n_tickets -= 1;
        Some(ticket)
    }
}

/// Steps beyond which it does not matter how far it is.
const FAR: u32 = 64;
/// A weight is this over how often a spot was chosen and how far it is from new code.
const WEIGHT: u64 = 1 << 32;
/// States that are many. The more times as many wait, the less often another than the newest is chosen: each that is leaves
/// more behind.
const MANY: usize = 1 << 14;

/// Of all turns together, those by depth may cost this part.
const DEPTH_SHARE: u64 = 8;
/// What one of them may cost.
const SHORT_TURN: u64 = 8;

impl Coverage {
    pub fn new(seed: u64) -> Coverage {
        Coverage {
            depths: BTreeSet::new(),
            turn: Turn::Usual,
            cost_by_depth: 0,
            cost: 0,
            work: 0,
            own: Vec::new(),
            library: Vec::new(),
            waiting: Waiting::default(),
            groups: BTreeMap::new(),
            costs: BTreeMap::new(),
            last: None,
            dice: Dice::new(seed),
        }
    }

    fn add(&mut self, ticket: Ticket, berth: Berth) {
        self.waiting.others.insert(ticket, berth);
        self.enter_group(ticket, berth);
    }

    fn enter_group(&mut self, ticket: Ticket, berth: Berth) {
        let group = self.groups.entry(berth.spot).or_default();
        group.n_tickets += 1;
        group.nooks.entry(berth.nook).or_default().tickets.push_back(ticket);
        self.depths.insert((berth.depth, ticket));
    }

    /// Of one that does not wait any more.
    fn leave_group(&mut self, ticket: Ticket, berth: Berth) {
        if let Some(group) = self.groups.get_mut(&berth.spot) {
            group.leave(berth.nook, &self.waiting);
        }
        self.depths.remove(&(berth.depth, ticket));
    }

    /// The one with the fewest decisions, if it is its turn.
    fn shallowest(&mut self) -> Option<Ticket> {
        if self.cost_by_depth * DEPTH_SHARE * self.crowd() > self.cost {
            return None;
        }
        let (_, ticket) = *self.depths.first()?;
        let berth = self.waiting.remove(ticket)?;
        self.leave_group(ticket, berth);
        self.turn = Turn::ByDepth;
        Some(ticket)
    }

    /// How many times more wait than many.
    fn crowd(&self) -> u64 {
        (self.waiting.others.len() / MANY) as u64 + 1
    }

    /// Enters what the turn that ended has cost.
    fn count_cost(&mut self, view: &dyn View) {
        let price = 1 + view.work().saturating_sub(self.work);
        self.work = view.work();
        self.cost += price;
        if std::mem::replace(&mut self.turn, Turn::Usual) == Turn::ByDepth {
            self.cost_by_depth += price;
        }
    }

    /// The newest of those that promised something which still holds.
    fn promising(&mut self, promise: Promise, view: &dyn View) -> Option<Ticket> {
        loop {
            let list = if promise == Promise::OwnEdge { &mut self.own } else { &mut self.library };
            let (ticket, berth) = list.pop()?;
            if view.still_new(ticket) {
                return Some(ticket);
            }
            self.add(ticket, berth);
        }
    }

    /// The newest, or where all have had a turn, the one that waits longest.
    fn newest(&mut self) -> Option<Ticket> {
        let Waiting { others, tired } = &mut self.waiting;
        let (ticket, berth) = others.pop_last().or_else(|| tired.pop_first())?;
        self.leave_group(ticket, berth);
        Some(ticket)
    }

    /// Enters what the state chosen last has cost since, where it waited.
    fn charge(&mut self, view: &dyn View) {
        let Some(Choice { berth: Berth { spot, nook, .. }, n_own_seen, work }) = self.last.take() else { return };
        let price = 1 + view.work().saturating_sub(work);
        // What led to something new may lead to more.
        let found = view.n_own_seen() > n_own_seen;
        let charged = |cost: u64| if found { cost / 2 } else { cost + price };
        let cost = self.costs.entry(view.func(spot)).or_default();
        *cost = charged(*cost);
        let Some(group) = self.groups.get_mut(&spot) else { return };
        group.cost = charged(group.cost);
        if let Some(corner) = group.nooks.get_mut(&nook) {
            corner.cost = charged(corner.cost);
        }
    }

    /// A state of the spot whose turn it is; `None` if no spot leads to new code.
    fn by_spot(&mut self, view: &dyn View) -> Option<Ticket> {
        let mut leads = false;
        let mut spots: BTreeMap<Option<FuncId>, Vec<(SpotId, u64)>> = BTreeMap::new();
        let mut nearest: BTreeMap<Option<FuncId>, u64> = BTreeMap::new();
        for (spot, group) in self.groups.iter().filter(|(_, group)| group.n_tickets > 0) {
            let (func, distance) = (view.func(*spot), view.distance(*spot));
            leads |= distance.is_some();
            let steps = u64::from(distance.unwrap_or(FAR).min(FAR)) + 1;
            spots.entry(func).or_default().push((*spot, WEIGHT / (steps * (group.cost + 1))));
            let least = nearest.entry(func).or_insert(steps);
            *least = steps.min(*least);
        }
        if !leads {
            return None;
        }
        let cost = |func| self.costs.get(func).copied().unwrap_or(0);
        let weights = nearest.iter().map(|(func, steps)| (*func, WEIGHT / (steps * (cost(func) + 1))));
        let func = self.dice.weighted(weights)?;
        let spot = self.dice.weighted(spots.get(&func)?.iter().copied())?;
        let ticket = self.groups.get_mut(&spot)?.take(&self.waiting, &mut self.dice)?;
        let berth = self.waiting.remove(ticket)?;
        self.depths.remove(&(berth.depth, ticket));
        self.last = Some(Choice { berth, n_own_seen: view.n_own_seen(), work: view.work() });
        Some(ticket)
    }
}

impl Rank for Coverage {
    fn stays(&self, n_spent: u64) -> bool {
        n_spent < if self.turn == Turn::ByDepth { SHORT_TURN } else { 256 }
    }

    fn push(&mut self, ticket: Ticket, Outlook { promise, spot, nook, depth }: Outlook) {
        let berth = Berth { spot, nook, depth };
        match promise {
            Promise::OwnEdge => self.own.push((ticket, berth)),
            Promise::LibraryEdge => self.library.push((ticket, berth)),
            Promise::Nothing => self.add(ticket, berth),
            // One of the few that were stopped early has not shown yet that it does not end.
            Promise::HadItsTurn if self.turn == Turn::ByDepth => self.add(ticket, berth),
            Promise::HadItsTurn => {
                self.waiting.tired.insert(ticket, berth);
                self.enter_group(ticket, berth);
            }
        }
    }

    fn pop(&mut self, view: &mut dyn View) -> Option<Ticket> {
        self.charge(view);
        self.count_cost(view);
        if let Some(ticket) = self.promising(Promise::OwnEdge, view) {
            return Some(ticket);
        }
        if let Some(ticket) = self.shallowest() {
            return Some(ticket);
        }
        if (self.waiting.is_empty() || self.dice.below(2) == 0)
            && let Some(ticket) = self.promising(Promise::LibraryEdge, view)
        {
            return Some(ticket);
        }
        let n_turns = 4 * self.crowd();
        let by_spot = if self.dice.below(n_turns) < n_turns - 3 { None } else { self.by_spot(view) };
        by_spot.or_else(|| self.newest()).or_else(|| self.promising(Promise::LibraryEdge, view))
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

        fn func(&self, _: SpotId) -> Option<FuncId> {
            None
        }

        fn work(&self) -> u64 {
            0
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
                19 => Promise::HadItsTurn,
                _ => Promise::Nothing,
            };
            rank.push(
                Ticket(number),
                Outlook { promise, spot: SpotId(number as u32 / 5), nook: Nook(number % 3), depth: number % 7 },
            );
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
            let spot = SpotId(u32::from(number < 2000));
            rank.push(Ticket(number), Outlook { promise: Promise::Nothing, spot, nook: Nook(0), depth: number });
        }
        let n_near = (0..400).filter(|_| rank.pop(&mut Everything::New).is_some_and(|ticket| ticket.0 < 2000)).count();
        // The others still have their turns.
        assert!((200..390).contains(&n_near), "{n_near}");
        let newest = *rank.waiting.others.keys().next_back().expect("some are left");
        assert_eq!(rank.pop(&mut Everything::Old), Some(newest));
    }

    #[test]
    fn coverage_gives_a_rare_nook_its_turn() {
        let mut rank = Coverage::new(0);
        for number in 0..4000 {
            let nook = Nook(u64::from(number % 1000 == 500));
            rank.push(Ticket(number), Outlook { promise: Promise::Nothing, spot: SpotId(1), nook, depth: number });
        }
        let first: Vec<u64> = (0..40).filter_map(|_| rank.pop(&mut Everything::New)).map(|ticket| ticket.0).collect();
        assert_eq!(first.iter().filter(|number| **number % 1000 == 500).count(), 4, "{first:?}");
    }

    #[test]
    fn dfs_is_last_in_first_out_and_bfs_first_in_first_out() {
        // The last had its turn.
        assert_eq!(drain(filled(Box::new(Dfs::default())).as_mut())[0], 18);
        assert_eq!(drain(filled(Box::new(Bfs::default())).as_mut())[0], 0);
    }
}
