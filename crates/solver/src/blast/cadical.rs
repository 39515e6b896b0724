//! CaDiCaL on one question: its gates as clauses, its constraints as facts, stopped by a clock and gone on with later.

use super::gates::Gates;
use super::sat::{Lit, Outcome, Var};
use crate::clock::Clock;
use cadical_sys::{CaDiCal, Status, Terminator};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// A solver that was given one question.
pub struct Session {
    solver: CaDiCal,
    /// Its number for each variable of the question.
    numbers: FxHashMap<Var, i32>,
    time: Rc<RefCell<Time>>,
}

/// Asked by CaDiCaL every now and then.
struct AtClock(Rc<RefCell<Time>>);

/// What there is for the call that is going on.
#[derive(Default)]
struct Time {
    clock: Option<Clock>,
    n_looks: u32,
}

/// Looks at the time that do not count: each call gets on a little, however late it began.
const FREE_LOOKS: u32 = 50;

impl Terminator for AtClock {
    fn terminated(&mut self) -> bool {
        let mut time = self.0.borrow_mut();
        time.n_looks += 1;
        time.n_looks > FREE_LOOKS && time.clock.as_ref().is_some_and(Clock::is_over)
    }
}

impl Session {
    pub fn new() -> Session {
        let mut solver = CaDiCal::new();
        // No variables of its own: they are numbered here.
        solver.set("factor", 0);
        // What these phases find is found before it gets here, and they come again with every call.
        solver.set("lucky", 0);
        let time = Rc::<RefCell<Time>>::default();
        solver.connect_terminator(AtClock(Rc::clone(&time)));
        Session { solver, numbers: FxHashMap::default(), time }
    }

    /// Makes facts of literals; `cone` is everything that they are made of.
    pub fn assert(&mut self, gates: &Gates, cone: &[Var], facts: &[Lit]) {
        let mut new: Vec<Var> = cone.iter().copied().filter(|var| !self.numbers.contains_key(var)).collect();
        new.sort_unstable(); // inputs come before the gates they go into
        let first = self.numbers.len() as i32 + 1;
        self.numbers.extend(new.iter().copied().zip(first..));
        for var in new {
            gates.definition(var, |clause| self.add(clause));
        }
        facts.iter().for_each(|&fact| self.add(&[fact]));
    }

    fn add(&mut self, clause: &[Lit]) {
        for &lit in clause {
            let number = self.number(lit).expect("the inputs of a gate are in its cone");
            self.solver.add(number);
        }
        self.solver.add(0);
    }

    fn number(&self, lit: Lit) -> Option<i32> {
        let number = *self.numbers.get(&lit.var())?;
        Some(if lit.is_negated() { -number } else { number })
    }

    /// Whether the facts can hold. Which of them contradict each other it does not say: all do.
    pub fn solve(&mut self, clock: &Clock, facts: &[Lit]) -> Outcome {
        *self.time.borrow_mut() = Time { clock: Some(clock.clone()), n_looks: 0 };
        match self.solver.solve() {
            Status::SATISFIABLE => Outcome::Sat,
            Status::UNSATISFIABLE => Outcome::Unsat(facts.to_vec()),
            Status::UNKNOWN => Outcome::OutOfTime,
        }
    }

    /// The value in the model; `None` where the question did not need the variable.
    pub fn value(&mut self, lit: Lit) -> Option<bool> {
        let number = self.number(lit)?;
        Some(self.solver.val(number) > 0)
    }
}

/// A question that ran out of time.
pub struct Begun {
    pub session: Session,
    /// The places of the conditions that are facts in it.
    pub chosen: Vec<usize>,
}

impl Begun {
    /// Whether CaDiCaL has not seen it yet.
    pub fn is_new(&self) -> bool {
        self.session.numbers.is_empty()
    }
}

/// Such questions, the oldest first.
#[derive(Default)]
pub struct Suspended {
    begun: Vec<(u128, Begun)>,
}

impl Suspended {
    /// So many variables are kept in all, some hundred bytes each, and so many solvers.
    const MAX_VARS: usize = 500_000;
    const MAX_BEGUN: usize = 64;

    pub fn take(&mut self, key: u128) -> Option<Begun> {
        let at = self.begun.iter().position(|(other, _)| *other == key)?;
        Some(self.begun.remove(at).1)
    }

    pub fn keep(&mut self, key: u128, begun: Begun) {
        self.begun.push((key, begun));
        let mut n_vars: usize = self.begun.iter().map(|(_, begun)| begun.session.numbers.len()).sum();
        while n_vars > Self::MAX_VARS || self.begun.len() > Self::MAX_BEGUN {
            n_vars -= self.begun.remove(0).1.session.numbers.len();
        }
    }
}
