//! How workers share work: a queue of decision prefixes.
//!
//! Workers have nothing in common but the program: each has its own terms, solver and states. A worker that has run out
//! waits here; one that has plenty and sees somebody waiting gives away a portion of its oldest pending states, which stand
//! highest in the tree and so most likely for the most work, as the decisions that lead there. Whoever takes them executes
//! them again, without asking the solver about siblings.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::Decisions;
use crate::checkpoint::{PortionId, Round};

/// What one worker gives another at a time.
pub struct Portion {
    pub id: PortionId,
    /// The round of its giver.
    pub round: Round,
    pub paths: Vec<Decisions>,
}

/// Between two looks at whether a new round has begun, while waiting for work.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

struct Queue {
    portions: Vec<Portion>,
    n_idle: usize,
    is_over: bool,
}

pub struct Exchange {
    queue: Mutex<Queue>,
    changed: Condvar,
    n_workers: usize,
    /// Workers waiting beyond the portions that lie ready: read without the lock, so only roughly right.
    n_hungry: AtomicUsize,
    /// Of checkpoints.
    round: AtomicU64,
    n_given: AtomicU64,
}

impl Exchange {
    pub fn new(n_workers: usize) -> Exchange {
        let queue = Queue { portions: Vec::new(), n_idle: 0, is_over: false };
        Exchange {
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            n_workers,
            n_hungry: AtomicUsize::new(0),
            round: AtomicU64::new(0),
            n_given: AtomicU64::new(0),
        }
    }

    pub fn round(&self) -> Round {
        Round(self.round.load(Ordering::Relaxed))
    }

    pub fn begin_round(&self) {
        self.round.fetch_add(1, Ordering::Relaxed);
    }

    pub fn next_portion(&self) -> PortionId {
        PortionId(self.n_given.fetch_add(1, Ordering::Relaxed))
    }

    pub fn is_wanted(&self) -> bool {
        self.n_hungry.load(Ordering::Relaxed) > 0
    }

    pub fn give(&self, portion: Portion) {
        let mut queue = self.lock();
        queue.portions.push(portion);
        self.count_hungry(&queue);
        self.changed.notify_one();
    }

    /// Waits for work; `None` when there is none left anywhere. Rounds that begin meanwhile are told.
    pub fn take(&self, mut on_round: impl FnMut(Round)) -> Option<Portion> {
        let mut queue = self.lock();
        queue.n_idle += 1;
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(portion) = queue.portions.pop() {
                queue.n_idle -= 1;
                self.count_hungry(&queue);
                return Some(portion);
            }
            if queue.n_idle == self.n_workers {
                queue.is_over = true;
                self.changed.notify_all();
                return None;
            }
            self.count_hungry(&queue);
            let waited = self.changed.wait_timeout(queue, LOOK_INTERVAL);
            queue = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            on_round(self.round());
        }
    }

    /// Ends the exchange: nobody waits any more. What still lies here comes back.
    pub fn close(&self) -> Vec<Decisions> {
        let mut queue = self.lock();
        queue.is_over = true;
        self.changed.notify_all();
        std::mem::take(&mut queue.portions).into_iter().flat_map(|portion| portion.paths).collect()
    }

    fn count_hungry(&self, queue: &Queue) {
        self.n_hungry.store(queue.n_idle.saturating_sub(queue.portions.len()), Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        // A worker that panicked has left the queue consistent: every change is one push or pop.
        self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_to_run_out_ends_it_for_all() {
        let exchange = Exchange::new(3);
        for decision in [1, 2] {
            let paths = vec![[decision].into_iter().collect()];
            exchange.give(Portion { id: exchange.next_portion(), round: Round(0), paths });
        }
        std::thread::scope(|scope| {
            let taken: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut n_taken = 0;
                        while exchange.take(|_| {}).is_some() {
                            n_taken += 1;
                        }
                        n_taken
                    })
                })
                .collect();
            let total: usize = taken.into_iter().map(|worker| worker.join().expect("no panic")).sum();
            assert_eq!(total, 2);
        });
    }
}
