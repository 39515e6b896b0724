//! One worker: the loop over its pending paths. What it keeps and decides on the way is in the rooms beside it.
//!
//! | room | holds |
//! |---|---|
//! | `beginnings` | how a path starts: at the beginning, from its decisions, with seeds |
//! | `trials` | runs on inputs that techniques want to try first |
//! | `watching` | the tree of points and footprints, for techniques that watch; paths that are held |
//! | `doubts` | open questions, and how long to wait for an answer |
//! | `telling` | what was told of paths that ended |
//! | `turns` | how long a path stays |
//! | `limits` | clock and memory, and what becomes of the rest when a budget is used up |
//! | `sharing` | giving work to other workers and taking it |
//! | `snapshot` | what it says at a checkpoint |

mod beginnings;
mod doubts;
mod limits;
mod sharing;
mod snapshot;
mod telling;
mod trials;
mod turns;
mod wanted;
mod watching;

pub use snapshot::next_in;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use solver::Stack;
use term::Eval;
use vm::{EdgeId, Effect, Event, Flow, Image, Interest, Machine, Observer, State};
use witness::Ending;

use crate::collector::{Leavings, Reports};
use crate::effects::{Decider, Fate, Parted};
use crate::exchange::Exchange;
use crate::goal::Finish;
use crate::pending::{Pending, Waiting, rank_of};
use crate::search::{Outlook, Promise};
use crate::spots::Spots;
use crate::{Conducts, Driver, Explorer, LineUp, Options, Path, RunPlan, Work};
use doubts::Doubts;
use limits::Limits;
use snapshot::Snapshots;
use telling::Telling;
use turns::{Turn, work_done};
use watching::{Arrival, Watching};

pub struct Worker<'i, 'r> {
    pub(crate) options: &'r Options,
    pub(crate) decider: Decider<'i>,
    pub(crate) line_up: Rc<RefCell<LineUp>>,
    pub(crate) left: Leavings,
    pending: Pending,
    spots: Spots,
    watching: Watching,
    doubts: Doubts,
    telling: Telling<'r>,
    limits: Limits,
    exchange: Option<&'r Exchange>,
    snapshots: Snapshots,
    finish: Finish,
    /// Whether a technique is asked what it foresees.
    foresees: bool,
}

/// What one step of a path came to.
enum Step {
    Goes {
        n_forks: u64,
    },
    Ended(Ending),
    /// It waits until nothing else is left to run.
    Held,
    /// It is not gone on with: a doubtful one stands for it.
    Left,
    /// Its seeds went elsewhere before it was where its decisions lead.
    LostItsSeeds,
}

/// Passes the machine's events on to the techniques.
struct Dispatch(Rc<RefCell<LineUp>>);

impl Observer for Dispatch {
    fn event(&mut self, state: &mut State, event: &Event) {
        self.0.borrow_mut().observe(state, event);
    }
}

impl<'i, 'r> Worker<'i, 'r> {
    pub fn new(
        image: &'i Image,
        options: &'r Options,
        mut line_up: LineUp,
        reports: &'r mut dyn Reports,
        exchange: Option<&'r Exchange>,
    ) -> Worker<'i, 'r> {
        let mut machine = Machine::new(image);
        for func in line_up.claims(&image.module) {
            machine.claimed[func.idx()] = true;
        }
        machine.spans.sizes = line_up.sizes();
        if machine.spans.sizes == vm::Sizes::Terms {
            machine.spans.loops = crate::rounds::loops(&image.module);
        }
        let rank = line_up.rank(options.seed).unwrap_or_else(|| rank_of(options.search, options.seed));
        let mut stack = Stack::new(solver::Config { stop: options.stop.clone(), ..options.solver.clone() });
        let watching = Watching::new(&mut line_up, &mut machine, &mut stack);
        let foresees = line_up.foresees();
        if line_up.tracks_flow() {
            let source = crate::flow::source(&image.module);
            machine.watching.track(Flow::new(image.module.functions.len(), source));
        }
        let interest = line_up.interest();
        let line_up = Rc::new(RefCell::new(line_up));
        if interest != Interest::NONE {
            machine.watching.listen(interest, Box::new(Dispatch(line_up.clone())));
        }
        Worker {
            options,
            decider: Decider { machine, stack, eval: Eval::new(), parted: Vec::new(), work: Work::default() },
            line_up,
            left: Leavings::default(),
            pending: Pending::new(rank),
            spots: Spots::new(image, &options.goal),
            watching,
            doubts: Doubts::default(),
            telling: Telling::new(reports, image.n_edges()),
            limits: Limits::start(),
            exchange,
            snapshots: Snapshots::start(),
            finish: Finish::new(&options.goal, image),
            foresees,
        }
    }

    /// Explores one plan until nothing is pending or a budget is used up.
    pub fn run(&mut self, plan: RunPlan) {
        self.run_begins(&plan);
        self.begin(plan);
        self.work();
        self.cut_rest();
        self.run_ended();
    }

    /// Explores one plan as a driver does it by itself, if it does.
    pub fn conduct(&mut self, driver: &mut dyn Driver, plan: &RunPlan) -> Conducts {
        self.run_begins(plan);
        self.watching.rest(&mut self.decider);
        let conducts = driver.conduct(plan, &mut Explorer::new(self));
        if conducts == Conducts::Yes {
            self.run_ended();
        }
        conducts
    }

    fn run_begins(&mut self, plan: &RunPlan) {
        self.telling.plan_begins(plan);
        self.watching.plan_begins(plan);
        let mut line_up = self.line_up.borrow_mut();
        line_up.run_begins();
        if let Some(flow) = self.decider.machine.watching.flow_mut() {
            line_up.flow_begins(flow);
        }
    }

    fn run_ended(&mut self) {
        let Machine { watching, labels, image, .. } = &mut self.decider.machine;
        if let Some(flow) = watching.flow_mut() {
            self.line_up.borrow_mut().flow_ended(flow, labels, image);
        }
    }

    /// The loop: one pending path after the other; when there is none, open questions and paths that are held.
    fn work(&mut self) {
        while !self.is_over() {
            self.check_round();
            match self.next_path() {
                Some(path) => {
                    self.follow_path(path);
                    self.look_at_paths();
                }
                None if self.ask_again() || self.settle_held() => {}
                None => break,
            }
            self.tell_discoveries();
            self.look();
        }
    }

    fn next_path(&mut self) -> Option<Path> {
        let coverage = &self.decider.machine.coverage;
        self.spots.refresh(coverage);
        let waiting = self.pending.pop(coverage, &self.spots, work_done(&self.decider))?;
        let mut path = self.wake(waiting);
        self.watching.adopt(&mut path, &mut self.decider, &self.line_up);
        Some(path)
    }

    /// Runs one path until it ends or has to wait again.
    fn follow_path(&mut self, mut path: Path) {
        let mut turn = Turn::begin(&self.decider);
        self.watching.begin(&path, &mut self.decider);
        loop {
            if let Some(ending) = self.refused(&path) {
                return self.end(path, ending);
            }
            let effect = self.run_machine(&mut path);
            let is_tired = matches!(effect, Effect::OutOfFuel);
            match self.step(&mut path, effect) {
                Step::Goes { n_forks } => turn.count(n_forks),
                Step::Ended(ending) => return self.end(path, ending),
                Step::Held => return self.watching.hold(path),
                Step::Left => return self.leave(path.node),
                Step::LostItsSeeds => return self.put_back(path),
            }
            if turn.is_time_to_look(&self.decider) || is_tired {
                self.look();
                self.share();
                if self.is_over() || !turn.stays(&path, &self.decider, &self.pending) {
                    self.note_finish(&path);
                    return self.push_with(path, None, Promise::HadItsTurn);
                }
            }
        }
    }

    /// How a path ends that may not go on.
    fn refused(&mut self, path: &Path) -> Option<Ending> {
        let refused = self.line_up.borrow_mut().admit(path);
        refused.or_else(|| self.path_budget(path).map(Ending::Cut))
    }

    /// Until somebody has to decide.
    fn run_machine(&mut self, path: &mut Path) -> Effect {
        let fuel = self.limits.fuel(&self.options.budgets, path);
        let (before, n_inputs) = (path.state.steps, path.state.inputs.len());
        self.watching.watch(path, &mut self.decider);
        self.decider.machine.watching.swap_stops(&mut path.stops);
        let effect = self.decider.machine.run(&mut path.state, fuel);
        self.decider.machine.watching.swap_stops(&mut path.stops);
        self.begin_with(path, n_inputs);
        self.decider.work.n_instructions += path.state.steps - before;
        self.decider.work.n_effects += u64::from(!matches!(effect, Effect::Arrived));
        self.note_first_edges(path);
        effect
    }

    /// Asks those that watch, then decides.
    fn step(&mut self, path: &mut Path, effect: Effect) -> Step {
        match self.arrive(path, &effect) {
            Arrival::Goes => {}
            Arrival::Held => return Step::Held,
            Arrival::Ended(ending) => return Step::Ended(ending),
        }
        if self.foresees && !matches!(effect, Effect::Arrived | Effect::Ended(_)) {
            let fate = self.decider.foresee(path, &effect, &mut self.line_up.borrow_mut());
            self.settle_parted();
            if let Fate::Ended(ending) = fate {
                return Step::Ended(ending);
            }
        }
        match effect {
            Effect::OutOfFuel | Effect::Arrived => Step::Goes { n_forks: 0 },
            effect => self.decide(path, effect),
        }
    }

    fn decide(&mut self, path: &mut Path, effect: Effect) -> Step {
        let (had_seeds, n_stops) = (!path.seeds.is_empty(), path.stops.len());
        let n_noted = self.left.ledger.n_entered();
        self.watching.plan_stop(path, &effect, &self.decider);
        let under = self.watching.under(path, &mut self.decider);
        let fate = self.decider.handle(path, effect, &mut self.line_up.borrow_mut(), &mut self.left.ledger);
        self.note_ledger();
        if self.left.ledger.n_entered() > n_noted {
            self.spoil(path);
        }
        self.watching.tell_refuted(path.node, under, &mut self.decider, &self.line_up);
        if matches!(fate, Fate::Goes) {
            self.watching.turn_to_nearest(path, &mut self.decider);
        }
        let n_forks = self.settle_parted();
        if n_forks == 0 {
            path.stops.truncate(n_stops);
        }
        match fate {
            Fate::Goes if had_seeds && path.seeds.is_empty() && !path.follow.is_empty() => Step::LostItsSeeds,
            Fate::Goes => Step::Goes { n_forks },
            Fate::Ended(ending) => Step::Ended(ending),
            Fate::Doubtful => Step::Left,
        }
    }

    /// Takes care of the paths that parted; returns how many forks that were.
    fn settle_parted(&mut self) -> u64 {
        if self.decider.parted.is_empty() {
            return 0;
        }
        let parted = std::mem::take(&mut self.decider.parted);
        let n_forks = parted.iter().filter(|parted| !matches!(parted, Parted::Doubtful(_))).count() as u64;
        self.left.forks += n_forks;
        self.limits.n_forks_since_look += n_forks;
        // The first alternative is to be the newest.
        for parted in parted.into_iter().rev() {
            self.watching.fork(parted.path().node);
            match parted {
                Parted::Waits { path, next_edge } => self.push(*path, next_edge),
                Parted::Ended { path, ending } => self.end(*path, ending),
                Parted::Doubtful(doubt) => self.doubts.keep(doubt),
            }
        }
        n_forks
    }

    fn push(&mut self, path: Path, next_edge: Option<EdgeId>) {
        let promise = self.spots.promise(next_edge, &self.decider.machine.coverage);
        self.push_with(path, next_edge, promise);
    }

    fn push_with(&mut self, path: Path, next_edge: Option<EdgeId>, promise: Promise) {
        let kind = self.line_up.borrow_mut().kind(&path);
        let (spot, nook) = (self.spots.spot(&path.state), self.spots.nook(&path.state, next_edge, kind));
        let outlook = Outlook { promise, spot, nook, depth: path.decisions.len() };
        self.pending.push(Waiting::Live(Box::new(path)), next_edge, outlook);
        self.left.states_max = self.left.states_max.max(self.pending.n_live() + 1);
    }

    fn note_first_edges(&mut self, path: &mut Path) {
        if self.decider.machine.coverage.has_fresh() {
            let fresh = self.decider.machine.coverage.take_fresh();
            self.spots.note_seen(&fresh);
            Rc::make_mut(&mut path.first_edges).extend(fresh);
        }
    }

    /// Whoever looks for the goal has what it wants when a path that came there has ended, or had its turn and may never end.
    pub(crate) fn note_finish(&mut self, path: &Path) {
        if self.finish.is_among(&path.first_edges) {
            self.options.goal.reached.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn note_ledger(&mut self) {
        for (kind, place, detail) in self.decider.machine.notes.drain(..) {
            self.left.ledger.enter(kind, place, detail);
        }
    }

    pub fn finish(mut self) -> Leavings {
        self.tell_discoveries();
        self.measure_memory();
        self.left.instructions = self.decider.work.n_instructions;
        self.left.tally = self.telling.tally();
        self.left.queries = self.decider.stack.counters().clone();
        self.left.techniques = self.line_up.borrow_mut().reports();
        self.left
    }
}
