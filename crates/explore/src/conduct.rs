//! Exploring in an order of the driver's own: paths are values that it keeps, runs, forks and drops.
//!
//! The [`Explorer`] lends a driver the means of a worker. Each path it is given back ends in exactly one way: reported,
//! put off (cut, its decisions kept for later) or dropped by the driver, who then has to know why nothing is lost. A path
//! may also be run as a *guess*: something was left out or made up on it, so nothing it does counts as coverage, enters
//! the ledger or may be reported.

use ir::FuncId;
use rustc_hash::FxHashSet;
use term::{Assignment, TermId, Terms};
use vm::{Answer, EdgeId, Effect, Image};
use witness::{Budget, Ending, Ledger, LedgerKind, Place};

use crate::Path;
use crate::effects::{Fate, Parted};
use crate::path::Follow;
use crate::worker::Worker;

/// What is being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The program itself.
    Program,
    /// The program with something left out.
    Guess,
}

/// A path that parted from the running one.
pub enum Fork {
    Waits(Box<Path>),
    Ended(Box<Path>, Ending),
}

/// Why a path does not run at the moment.
pub enum Stop {
    /// It stands at a claimed call, which it is to enter or to skip.
    Call(FuncId),
    /// Others parted from it; it can go on itself.
    Forked(Vec<Fork>),
    /// It returned to where it was to pause.
    Paused,
    /// Its fuel is used up.
    Tired,
    /// It ended; others parted from it just before.
    Ended(Ending, Vec<Fork>),
    /// A guess that met an address which could be anything.
    Lost,
}

/// Whether a path can go on under a condition.
pub enum Solved {
    Yes(Assignment),
    No,
    Unknown,
}

pub struct Explorer<'w, 'i, 'r> {
    pub(crate) worker: &'w mut Worker<'i, 'r>,
    /// Where precision was given up on guesses.
    doubts: Ledger,
    /// Edges that guesses took since last asked.
    guessed: FxHashSet<EdgeId>,
}

/// Instructions between two looks at the clock.
const FUEL: u64 = 1_000_000;

impl<'w, 'i, 'r> Explorer<'w, 'i, 'r> {
    pub(crate) fn new(worker: &'w mut Worker<'i, 'r>) -> Explorer<'w, 'i, 'r> {
        Explorer { worker, doubts: Ledger::default(), guessed: FxHashSet::default() }
    }

    pub fn image(&self) -> &'i Image {
        self.worker.decider.machine.image
    }

    pub fn terms(&mut self) -> &mut Terms {
        &mut self.worker.decider.machine.terms
    }

    /// Paths at the beginning of the program: one for each number of arguments it may be given.
    pub fn starts(&mut self) -> Vec<Path> {
        let choices = self.worker.options.world.arg_choices();
        choices.into_iter().map(|choice| self.worker.start(choice)).collect()
    }

    /// Whether a budget is used up: everything that is left is to be put off.
    pub fn is_over(&mut self) -> bool {
        self.worker.look();
        self.worker.tell_discoveries();
        self.worker.look_at_paths();
        self.worker.is_over()
    }

    /// Whether a guess gave up precision since last asked.
    pub fn take_doubt(&mut self) -> bool {
        !std::mem::take(&mut self.doubts).is_empty()
    }

    /// Edges that guesses took since last asked.
    pub(crate) fn take_guessed(&mut self) -> FxHashSet<EdgeId> {
        std::mem::take(&mut self.guessed)
    }

    /// Decides a claimed call: it is executed.
    pub fn enter(&mut self, path: &mut Path) {
        path.answer(Answer::Enter);
    }

    /// Decides a claimed call: it is left out, its results are these.
    pub fn skip(&mut self, path: &mut Path, results: Vec<TermId>) {
        path.answer(Answer::Skip(results.into()));
    }

    /// Has a path take these decisions next, as another took them before.
    pub fn follow(&mut self, path: &mut Path, decisions: Vec<u64>) {
        path.follow = Follow::new(decisions.into());
    }

    /// How many decisions it still has to follow.
    pub fn n_to_follow(&self, path: &Path) -> usize {
        path.follow.len()
    }

    /// Whether a path can go on under a condition; what it is asked is not entered in the ledger.
    pub fn solve(&mut self, path: &Path, cond: TermId) -> Solved {
        let decider = &mut self.worker.decider;
        match decider.stack.check(&mut decider.machine.terms, &path.condition, &path.input, cond) {
            solver::Answer::Sat(input) => Solved::Yes(input),
            solver::Answer::Unsat => Solved::No,
            solver::Answer::Unknown(_) => Solved::Unknown,
        }
    }

    /// Whether a condition can hold at all.
    pub fn solve_alone(&mut self, cond: TermId) -> Solved {
        let decider = &mut self.worker.decider;
        let (path, input) = (solver::PathCondition::new(), Assignment::new());
        match decider.stack.check(&mut decider.machine.terms, &path, &input, cond) {
            solver::Answer::Sat(input) => Solved::Yes(input),
            solver::Answer::Unsat => Solved::No,
            solver::Answer::Unknown(_) => Solved::Unknown,
        }
    }

    /// Runs a path until something is to be said about it, or about `fuel` instructions have been executed.
    pub fn advance(&mut self, path: &mut Path, trust: Trust, fuel: u64) -> Stop {
        let mut left = fuel;
        loop {
            if trust == Trust::Program {
                let ended = self.worker.line_up.borrow_mut().admit(path);
                if let Some(ending) = ended {
                    return Stop::Ended(ending, Vec::new());
                }
            }
            if let Some(budget) = self.worker.path_budget(path) {
                return Stop::Ended(Ending::Cut(budget), Vec::new());
            }
            let before = path.state.steps;
            let effect = self.run(path, trust, left.min(FUEL));
            left = left.saturating_sub(path.state.steps - before);
            match effect {
                Effect::OutOfFuel if path.state.depth == path.state.pause_at => return Stop::Paused,
                Effect::OutOfFuel if left == 0 => return Stop::Tired,
                Effect::OutOfFuel => {
                    self.worker.look();
                    if self.worker.is_over() {
                        return Stop::Tired;
                    }
                }
                Effect::Call { func } => return Stop::Call(func),
                Effect::Address { addr, bytes, .. }
                    if trust == Trust::Guess && !self.worker.decider.is_meant_or_sure(path, addr, bytes) =>
                {
                    return Stop::Lost;
                }
                effect => {
                    let fate = self.decide(path, effect, trust);
                    let forks = self.take_forks(trust);
                    match fate {
                        Fate::Ended(ending) => return Stop::Ended(ending, forks),
                        Fate::Doubtful => return Stop::Ended(Ending::Cut(Budget::Interrupt), forks),
                        Fate::Goes if forks.is_empty() => {}
                        Fate::Goes => return Stop::Forked(forks),
                    }
                }
            }
        }
    }

    fn decide(&mut self, path: &mut Path, effect: Effect, trust: Trust) -> Fate {
        let Worker { decider, line_up, left, .. } = &mut *self.worker;
        let ledger = match trust {
            Trust::Program => &mut left.ledger,
            Trust::Guess => &mut self.doubts,
        };
        let fate = decider.handle(path, effect, &mut line_up.borrow_mut(), ledger);
        for (kind, place, detail) in decider.machine.notes.drain(..) {
            ledger.enter(kind, place, detail);
        }
        fate
    }

    /// An open question is not kept here: a driver with an order of its own has no end at which nothing else is pending.
    fn take_forks(&mut self, trust: Trust) -> Vec<Fork> {
        let mut forks = Vec::new();
        for parted in std::mem::take(&mut self.worker.decider.parted) {
            match parted {
                Parted::Waits { path, .. } => forks.push(Fork::Waits(path)),
                Parted::Ended { path, ending } => forks.push(Fork::Ended(path, ending)),
                Parted::Doubtful(doubt) => {
                    let (place, _) = self.image().whereabouts(&doubt.path.state);
                    let ledger = match trust {
                        Trust::Program => &mut self.worker.left.ledger,
                        Trust::Guess => &mut self.doubts,
                    };
                    ledger.enter(LedgerKind::UnknownAnswer, place, doubt.why.to_string());
                }
            }
        }
        self.worker.left.forks += forks.len() as u64;
        forks
    }

    /// Edges count as new until a path over them is reported, and never on guesses.
    fn run(&mut self, path: &mut Path, trust: Trust, fuel: u64) -> Effect {
        let machine = &mut self.worker.decider.machine;
        machine.coverage.recall(&path.first_edges);
        let before = path.state.steps;
        let effect = machine.run(&mut path.state, fuel);
        self.worker.decider.work.n_instructions += path.state.steps - before;
        let fresh: Vec<EdgeId> = machine.coverage.take_fresh();
        machine.coverage.forget(&fresh);
        machine.coverage.forget(&path.first_edges);
        match trust {
            _ if fresh.is_empty() => {}
            Trust::Program => std::rc::Rc::make_mut(&mut path.first_edges).extend(fresh),
            Trust::Guess => self.guessed.extend(fresh),
        }
        effect
    }

    /// A path came to its end: it is counted and gets its test.
    pub fn report(&mut self, path: Path, ending: Ending) {
        self.worker.decider.machine.coverage.recall(&path.first_edges);
        self.worker.end(path, ending);
    }

    /// A budget is used up: the path is cut where it stands and can be gone on with later.
    pub fn put_off(&mut self, path: &Path) {
        self.worker.left.unexplored.push(path.all_decisions());
        self.worker.left.n_untold += 1;
    }

    /// Something the driver cannot vouch for: the verdict will not be `complete`.
    pub fn enter_ledger(&mut self, kind: LedgerKind, place: Place, detail: String) {
        self.worker.left.ledger.enter(kind, place, detail);
    }

    /// How many paths the driver keeps, for the record.
    pub fn note_kept(&mut self, n_paths: u64) {
        self.worker.left.states_max = self.worker.left.states_max.max(n_paths);
    }
}
