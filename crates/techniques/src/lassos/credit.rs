//! How much looking is worth it: in proportion to the work that exploring does.
//!
//! A path that hangs never ends, so it is met again however late the next look comes. Everything is counted, not timed: a
//! campaign does the same however busy the machine is. The weights are microseconds as measured on small programs.

use explore::Work;
use solver::Counters;

/// What may be spent at once.
const FREE: u64 = 500;
/// One part of looking to so many of exploring.
const SHARE: u64 = 14;
const EFFECT: u64 = 5;
const INSTRUCTIONS: u64 = 100;
const LOOK: u64 = 20;
const BLOCKS: u64 = 5;
const QUESTION: u64 = 4;
const HARD_QUESTION: u64 = 250;

/// What all looks have cost so far.
#[derive(Default)]
pub struct Credit {
    /// Walking.
    walked: u64,
    asked: Asked,
}

/// Questions, and those of them that reached a solver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    n_all: u64,
    n_hard: u64,
    /// In questions that took long: zero where all are quick, whatever the machine.
    slow_us: u64,
}

impl Asked {
    pub fn so_far(counters: &Counters) -> Asked {
        let slow_us = counters.slow_time.as_micros() as u64;
        Asked { n_all: counters.n_asked, n_hard: counters.n_solver, slow_us }
    }

    fn since(self, before: Asked) -> Asked {
        Asked {
            n_all: self.n_all - before.n_all,
            n_hard: self.n_hard - before.n_hard,
            slow_us: self.slow_us - before.slow_us,
        }
    }

    fn cost(self) -> u64 {
        self.n_all * QUESTION + self.n_hard * HARD_QUESTION + self.slow_us
    }
}

impl Credit {
    /// Whether there is enough for a look, by what was done and asked in all.
    pub fn is_enough(&self, work: Work, asked: Asked) -> bool {
        let exploring = Asked { n_all: 0, ..asked.since(self.asked) };
        let earned = work.n_effects * EFFECT + work.n_instructions / INSTRUCTIONS + exploring.cost();
        self.walked + self.asked.cost() <= FREE + earned / SHARE
    }

    /// One look at a cut, and the blocks it walked.
    pub fn spend_blocks(&mut self, n_blocks: u64) {
        self.walked += LOOK + n_blocks / BLOCKS;
    }

    pub fn spend_questions(&mut self, before: Asked, after: Asked) {
        let Asked { n_all, n_hard, slow_us } = after.since(before);
        self.asked.n_all += n_all;
        self.asked.n_hard += n_hard;
        self.asked.slow_us += slow_us;
    }
}
