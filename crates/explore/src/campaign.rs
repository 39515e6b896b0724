//! The whole of a campaign: plans, runs, the loop over pending paths, endings, budgets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ir::{FuncId, Module};
use solver::Stack;
use term::Eval;
use vm::{EdgeId, Effect, Event, Image, Interest, Machine, Observer, State};
use witness::{Budget, BugKind, Ending, Finding, InputValue, Ledger, Witness};

use crate::effects::{Decider, Fate, Parted};
use crate::pending::{rank_of, Pending, Prefix, Waiting};
use crate::search::Promise;
use crate::{Covers, Driver, History, LineUp, Options, Outcome, Path, PathCounts, Plain, Progress, RunPlan, Sink, TestId};

/// What to explore.
pub struct Program {
    pub module: Module,
    pub entry: FuncId,
    pub constructors: Vec<FuncId>,
}

/// A failure of ours, not of the program under test.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("the stack of solver layers and the bare solver disagree ({0} times); please report this program")]
    Disagreement(u64),
}

/// Counts of a campaign.
#[derive(Default)]
pub struct Tally {
    pub ledger: Ledger,
    counts: PathCounts,
    instructions: u64,
    forks: u64,
    states_max: u64,
    findings: BTreeMap<FindingKey, Finding>,
    /// Findings in the order they were made.
    order: Vec<FindingKey>,
    output: Option<Vec<u8>>,
}

/// One place and kind.
type FindingKey = (BugKind, std::sync::Arc<str>, u32);

/// Instructions between two looks at the clock.
const FUEL: u64 = 1_000_000;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

pub fn explore(program: &Program, options: &Options, line_up: LineUp, sink: &mut dyn Sink) -> Result<Outcome, Fault> {
    let world = vm::World {
        stdin_bytes: options.world.stdin_bytes.unwrap_or(0),
        arg_bytes: options.world.args.map_or(0, |args| args.len),
        record_output: options.record_output,
    };
    let image = Image::new(program.module.clone(), program.entry, program.constructors.clone(), options.checks, world);
    let mut worker = Worker::new(&image, options, line_up, sink);
    let mut driver = worker.take_driver();
    let mut history = History::default();
    while let Some(plan) = driver.next(&history) {
        worker.run(plan);
        history.runs += 1;
        history.counts = worker.tally.counts;
        if worker.is_over() {
            break;
        }
    }
    worker.finish(history.runs)
}

struct Worker<'i, 's> {
    options: &'s Options,
    decider: Decider<'i>,
    line_up: Rc<RefCell<LineUp>>,
    pending: Pending,
    tally: Tally,
    sink: &'s mut dyn Sink,
    started: Instant,
    last_look: Instant,
    memory_mb: u64,
    /// Edges some test takes.
    covered: Vec<bool>,
    is_user_edge: Vec<bool>,
    n_user_edges: u64,
    n_user_covered: u64,
    over: Option<Budget>,
    unexplored: Vec<Vec<u64>>,
}

/// Passes the machine's events on to the techniques.
struct Dispatch(Rc<RefCell<LineUp>>);

impl Observer for Dispatch {
    fn event(&mut self, state: &mut State, event: &Event) {
        for technique in &mut self.0.borrow_mut().techniques {
            technique.observe(state, event);
        }
    }
}

impl<'i, 's> Worker<'i, 's> {
    fn new(image: &'i Image, options: &'s Options, mut line_up: LineUp, sink: &'s mut dyn Sink) -> Worker<'i, 's> {
        let mut machine = Machine::new(image);
        let interest = line_up.interest();
        for technique in &line_up.techniques {
            for func in technique.claims(&image.module) {
                machine.claimed[func.idx()] = true;
            }
        }
        let ranks = line_up.techniques.iter_mut().find_map(|technique| technique.rank(options.seed));
        let rank = ranks.unwrap_or_else(|| rank_of(options.search, options.seed));
        let line_up = Rc::new(RefCell::new(line_up));
        if interest != Interest::NONE {
            machine.interest = interest;
            machine.observer = Some(Box::new(Dispatch(line_up.clone())));
        }
        let is_user_edge = user_edges(image);
        let n_user_edges = is_user_edge.iter().filter(|is_user| **is_user).count() as u64;
        let decider =
            Decider { machine, stack: Stack::new(options.solver.clone()), eval: Eval::new(), parted: Vec::new() };
        Worker {
            options,
            decider,
            line_up,
            pending: Pending::new(rank),
            tally: Tally::default(),
            sink,
            started: Instant::now(),
            last_look: Instant::now(),
            memory_mb: 0,
            covered: vec![false; image.n_edges() as usize],
            is_user_edge,
            n_user_edges,
            n_user_covered: 0,
            over: None,
            unexplored: Vec::new(),
        }
    }

    fn take_driver(&mut self) -> Box<dyn Driver> {
        if !self.options.resume.is_empty() {
            return Box::new(Plain::from_prefixes(self.options.resume.clone()));
        }
        std::mem::replace(&mut self.line_up.borrow_mut().driver, Box::new(Plain::default()))
    }

    fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Explores one plan until nothing is pending or a budget is used up.
    fn run(&mut self, plan: RunPlan) {
        self.seed(plan);
        while self.over.is_none() {
            let machine = &self.decider.machine;
            let Some(waiting) = self.pending.pop(|edge| machine.coverage.is_seen(edge)) else { break };
            let path = self.wake(waiting);
            self.follow_path(path);
            if self.options.budgets.paths.is_some_and(|limit| self.tally.counts.total >= limit) {
                self.over = Some(Budget::Paths);
            }
            self.look(LookWhen::Due);
        }
        self.cut_rest();
    }

    fn seed(&mut self, plan: RunPlan) {
        if plan.prefixes.is_empty() {
            // With symbolic arguments, how many there are is the first decision.
            let args = self.options.world.args;
            let (min, max) = args.map_or((0, 0), |args| (args.min, args.max.max(args.min)));
            for n_args in (min..=max).rev() {
                let path = self.start(args.map(|_| u64::from(n_args)));
                self.push(path, None);
            }
        }
        for decisions in plan.prefixes {
            self.pending.push(Waiting::Away(Prefix { decisions, input: None }), None, Promise::Nothing);
        }
    }

    /// A path at the beginning; the number of arguments is its first decision where there is a choice.
    fn start(&mut self, n_args: Option<u64>) -> Path {
        let mut path = Path::new(self.decider.machine.start(n_args.unwrap_or(0) as u32));
        if let Some(n_args) = n_args {
            path.decisions.push(n_args);
        }
        path
    }

    fn wake(&mut self, waiting: Waiting) -> Path {
        match waiting {
            Waiting::Live(path) => *path,
            Waiting::Away(Prefix { decisions, input }) => {
                let mut follow: std::collections::VecDeque<u64> = decisions.into();
                let n_args = self.options.world.args.and_then(|_| follow.pop_front());
                let mut path = self.start(n_args);
                path.follow = follow;
                path.input = input.unwrap_or_default();
                path
            }
        }
    }

    fn push(&mut self, path: Path, next_edge: Option<EdgeId>) {
        let is_new = next_edge.is_some_and(|edge| !self.decider.machine.coverage.is_seen(edge));
        let promise = if is_new { Promise::NewEdge } else { Promise::Nothing };
        self.pending.push(Waiting::Live(Box::new(path)), next_edge, promise);
        self.tally.states_max = self.tally.states_max.max(self.pending.n_live() + 1);
    }

    /// Runs one path until it ends or has to wait again.
    fn follow_path(&mut self, mut path: Path) {
        let mut n_forks = 0;
        loop {
            let pruned = self.line_up.borrow_mut().admit(&path);
            if let Some((technique, reason)) = pruned {
                return self.end(path, Ending::Pruned { technique, reason });
            }
            if let Some(budget) = self.path_budget(&path) {
                return self.end(path, Ending::Cut(budget));
            }
            let fuel = self.options.budgets.steps.map_or(FUEL, |steps| (steps - path.state.steps).clamp(1, FUEL));
            let before = path.state.steps;
            let effect = self.decider.machine.run(&mut path.state, fuel);
            self.tally.instructions += path.state.steps - before;
            self.note_first_edges(&mut path);
            if let Effect::OutOfFuel = effect {
                self.look(LookWhen::Due);
                if self.over.is_some() || !self.pending.stays(n_forks + 1) {
                    return self.push(path, None);
                }
                continue;
            }
            let fate = self.decider.handle(&mut path, effect, &mut self.line_up.borrow_mut(), &mut self.tally);
            n_forks += self.settle_parted();
            self.note_ledger();
            match fate {
                Fate::Ended(ending) => return self.end(path, ending),
                Fate::Goes if n_forks > 0 && !self.pending.stays(n_forks) => {
                    self.look(LookWhen::Due);
                    return self.push(path, None);
                }
                Fate::Goes => {
                    if n_forks > 0 {
                        self.look(LookWhen::Due);
                        if self.over.is_some() {
                            return self.push(path, None);
                        }
                    }
                }
            }
        }
    }

    fn path_budget(&self, path: &Path) -> Option<Budget> {
        let budgets = &self.options.budgets;
        if budgets.depth.is_some_and(|depth| path.decisions.len() > depth) {
            return Some(Budget::Depth);
        }
        budgets.steps.is_some_and(|steps| path.state.steps >= steps).then_some(Budget::Steps)
    }

    fn note_first_edges(&mut self, path: &mut Path) {
        if self.decider.machine.coverage.has_fresh() {
            let fresh = self.decider.machine.coverage.take_fresh();
            Rc::make_mut(&mut path.first_edges).extend(fresh);
        }
    }

    fn note_ledger(&mut self) {
        for (kind, place, detail) in self.decider.machine.notes.drain(..) {
            self.tally.ledger.enter(kind, place, detail);
        }
    }

    /// Takes care of the paths that parted; returns how many forks that were.
    fn settle_parted(&mut self) -> u64 {
        if self.decider.parted.is_empty() {
            return 0;
        }
        let parted = std::mem::take(&mut self.decider.parted);
        let n_forks = parted.len() as u64;
        self.tally.forks += n_forks;
        // The first alternative is to be the newest.
        for parted in parted.into_iter().rev() {
            match parted {
                Parted::Waits { path, next_edge } => self.push(*path, next_edge),
                Parted::Ended { path, ending } => self.end(*path, ending),
            }
        }
        n_forks
    }

    fn end(&mut self, path: Path, ending: Ending) {
        if let Ending::Cut(_) = ending {
            let mut decisions = path.decisions.to_vec();
            decisions.extend(path.follow.iter().copied());
            self.unexplored.push(decisions);
        }
        self.note_ledger();
        self.line_up.borrow_mut().ended(&path, &ending);
        self.tally.counts.count(&ending);
        let covers = self.claim(&path);
        if let Some(output) = &path.state.output
            && self.tally.output.is_none()
        {
            self.tally.output = Some(output.to_vec());
        }
        let witness = Witness { inputs: self.inputs(&path), ending, path: path.decisions.to_vec() };
        let test = self.sink.path_ended(&witness, covers);
        if let Ending::Bug(bug) = witness.ending {
            self.tally.find(bug, test);
        }
    }

    /// Whether the path is the first to a test for some edge.
    fn claim(&mut self, path: &Path) -> Covers {
        let mut covers = Covers::Old;
        for edge in path.first_edges.iter() {
            let idx = edge.0 as usize;
            if !std::mem::replace(&mut self.covered[idx], true) && self.is_user_edge[idx] {
                self.n_user_covered += 1;
                covers = Covers::New;
            }
        }
        covers
    }

    fn inputs(&mut self, path: &Path) -> Vec<InputValue> {
        let Decider { machine, eval, .. } = &mut self.decider;
        let value = |record: &std::sync::Arc<vm::InputRecord>| InputValue {
            name: record.name.clone(),
            ty: record.type_name.clone(),
            bytes: record.image(|term| eval.eval(&machine.terms, &path.input, term)),
        };
        path.state.inputs.iter().map(value).collect()
    }

    /// Looks at the clock, at memory and at the wish to stop.
    fn look(&mut self, when: LookWhen) {
        if when == LookWhen::Due && self.last_look.elapsed() < PROGRESS_INTERVAL {
            if self.options.stop.load(Ordering::Relaxed) {
                self.over.get_or_insert(Budget::Interrupt);
            }
            return;
        }
        self.last_look = Instant::now();
        let elapsed = self.started.elapsed();
        if self.options.stop.load(Ordering::Relaxed) {
            self.over.get_or_insert(Budget::Interrupt);
        }
        if self.options.budgets.time.is_some_and(|time| elapsed >= time) {
            self.over.get_or_insert(Budget::Time);
        }
        let resident_mb = resident_mb();
        self.memory_mb = self.memory_mb.max(resident_mb);
        if self.options.budgets.memory_mb.is_some_and(|limit| resident_mb >= limit) && self.pending.n_live() > 64 {
            let n_keep = self.pending.n_live() as usize / 4;
            self.pending.put_away(n_keep);
        }
        self.sink.progress(&Progress {
            paths: self.tally.counts.total,
            findings: self.tally.findings.len() as u64,
            pending: self.pending.len(),
            edges_covered: self.n_user_covered,
            edges_total: self.n_user_edges,
            queries: self.decider.stack.counters().n_asked,
            elapsed,
        });
    }

    /// What is still pending when a budget is used up ends as cut. Put-away paths have no state to write a test from.
    fn cut_rest(&mut self) {
        let budget = self.over.unwrap_or(Budget::Interrupt);
        for waiting in self.pending.drain() {
            match waiting {
                Waiting::Live(path) => self.end(*path, Ending::Cut(budget)),
                Waiting::Away(prefix) => {
                    self.tally.counts.count(&Ending::Cut(budget));
                    self.unexplored.push(prefix.decisions);
                }
            }
        }
    }

    fn finish(mut self, runs: u64) -> Result<Outcome, Fault> {
        self.look(LookWhen::Now);
        let queries = self.decider.stack.counters().clone();
        if queries.n_disagreements > 0 {
            return Err(Fault::Disagreement(queries.n_disagreements));
        }
        let techniques = self
            .line_up
            .borrow()
            .techniques
            .iter()
            .filter_map(|technique| Some((technique.name(), technique.summary()?)))
            .collect();
        let mut tally = self.tally;
        let findings = tally.order.iter().filter_map(|key| tally.findings.remove(key)).collect();
        Ok(Outcome {
            counts: tally.counts,
            findings,
            ledger: tally.ledger,
            runs,
            instructions: tally.instructions,
            forks: tally.forks,
            states_max: tally.states_max,
            queries,
            pending: self.unexplored,
            output: tally.output.unwrap_or_default(),
            memory_mb: self.memory_mb,
            elapsed: self.started.elapsed(),
            techniques,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LookWhen {
    Due,
    Now,
}

impl Tally {
    fn find(&mut self, bug: witness::Bug, test: TestId) {
        let key = (bug.kind, bug.place.file.clone(), bug.place.line);
        match self.findings.get_mut(&key) {
            Some(finding) => finding.n_paths += 1,
            None => {
                let test = format!("tests/{:06}.json", test.0);
                self.order.push(key.clone());
                self.findings
                    .insert(key, Finding { bug, test, confirmed: false, evidence: String::new(), n_paths: 1 });
            }
        }
    }
}

/// Edges of functions of the program under test.
fn user_edges(image: &Image) -> Vec<bool> {
    let mut is_user = vec![false; image.n_edges() as usize];
    for (idx, function) in image.module.functions.iter().enumerate().filter(|(_, function)| !function.is_runtime) {
        let func = FuncId::new(idx);
        is_user[image.entry_edge(func) as usize] = true;
        for (block_idx, block) in function.blocks.iter().enumerate() {
            let first = image.first_edge(func, ir::BlockId::new(block_idx)) as usize;
            let n_edges = block.terminator.edges().len();
            is_user[first..first + n_edges].fill(true);
        }
    }
    is_user
}

/// Resident memory of this process.
fn resident_mb() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096 >> 20
}
