//! Search orders: each decides which pending state comes next.

use std::collections::VecDeque;

/// A pending state's number; later ones are larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Seat `rank`: orders tickets. Every ticket pushed is popped exactly once.
pub trait Rank {
    /// Whether the running path goes on after its `n_forks`th fork since its turn began, or waits like the others.
    fn stays(&self, n_forks: u64) -> bool;
    fn push(&mut self, ticket: Ticket, promise: Promise);
    /// `still_new` tells whether a promise made at the push still holds.
    fn pop(&mut self, still_new: &mut dyn FnMut(Ticket) -> bool) -> Option<Ticket>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    NewEdge,
    Nothing,
}

#[derive(Default)]
pub struct Dfs {
    stack: Vec<Ticket>,
}

impl Rank for Dfs {
    fn stays(&self, _: u64) -> bool {
        true
    }

    fn push(&mut self, ticket: Ticket, _: Promise) {
        self.stack.push(ticket);
    }

    fn pop(&mut self, _: &mut dyn FnMut(Ticket) -> bool) -> Option<Ticket> {
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

    fn push(&mut self, ticket: Ticket, _: Promise) {
        self.queue.push_back(ticket);
    }

    fn pop(&mut self, _: &mut dyn FnMut(Ticket) -> bool) -> Option<Ticket> {
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

    fn push(&mut self, ticket: Ticket, _: Promise) {
        self.tickets.push(ticket);
    }

    fn pop(&mut self, _: &mut dyn FnMut(Ticket) -> bool) -> Option<Ticket> {
        let n_tickets = self.tickets.len() as u64;
        (n_tickets > 0).then(|| self.tickets.swap_remove(self.dice.below(n_tickets) as usize))
    }
}

/// States that promise a new edge first, newest first. Among the others mostly the newest, which keeps few states alive,
/// but one time in four any, so that a loop that forks for ever does not hold up the rest.
pub struct Coverage {
    promising: Vec<Ticket>,
    others: Vec<Ticket>,
    dice: Dice,
}

impl Coverage {
    pub fn new(seed: u64) -> Coverage {
        Coverage { promising: Vec::new(), others: Vec::new(), dice: Dice::new(seed) }
    }
}

impl Rank for Coverage {
    fn stays(&self, n_forks: u64) -> bool {
        n_forks < 256
    }

    fn push(&mut self, ticket: Ticket, promise: Promise) {
        match promise {
            Promise::NewEdge => self.promising.push(ticket),
            Promise::Nothing => self.others.push(ticket),
        }
    }

    fn pop(&mut self, still_new: &mut dyn FnMut(Ticket) -> bool) -> Option<Ticket> {
        while let Some(ticket) = self.promising.pop() {
            if still_new(ticket) {
                return Some(ticket);
            }
            self.others.push(ticket);
        }
        let n_others = self.others.len() as u64;
        if n_others > 1 && self.dice.below(4) == 0 {
            return Some(self.others.swap_remove(self.dice.below(n_others) as usize));
        }
        self.others.pop()
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

    fn drain(rank: &mut dyn Rank) -> Vec<u64> {
        std::iter::from_fn(|| rank.pop(&mut |_| true)).map(|ticket| ticket.0).collect()
    }

    fn filled(mut rank: Box<dyn Rank>) -> Box<dyn Rank> {
        for number in 0..20 {
            rank.push(Ticket(number), if number == 7 { Promise::NewEdge } else { Promise::Nothing });
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
        assert!(rank.pop(&mut |_| false).is_some());
        assert_eq!(drain(rank.as_mut()).len(), 19);
    }

    #[test]
    fn dfs_is_last_in_first_out_and_bfs_first_in_first_out() {
        assert_eq!(drain(filled(Box::new(Dfs::default())).as_mut())[0], 19);
        assert_eq!(drain(filled(Box::new(Bfs::default())).as_mut())[0], 0);
    }
}
