//! One worker: the loop over its pending paths.

mod limits;
mod watching;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::time::Instant;

use analysis::{Faults, Liveness};
use rustc_hash::{FxHashSet, FxHasher};
use solver::{Keeping, Patience, Stack};
use term::Eval;
use vm::{EdgeId, Effect, Event, Flow, Image, InputRequest, Interest, Machine, Observer, State, Trace};
use witness::{Budget, Ending, LedgerKind, Witness};

use crate::collector::{Ended, Leavings, Reports};
use crate::effects::{Decider, Doubt, Fate, Parted};
use crate::exchange::{Exchange, Portion};
use crate::meets::Meets;
use crate::pending::{Pending, Prefix, Waiting, rank_of};
use crate::search::{Outlook, Promise};
use crate::spots::{Nook, SpotId, Spots};
use crate::tree::Tree;
use crate::{Admission, Driver, LineUp, Options, Path, Plain, RunPlan, Trail, Work, inputs_of};

/// Instructions between two looks at the clock.
const FUEL: u64 = 1_000_000;
const WATCHED_FUEL: u64 = 50_000;
/// Instructions, and effects, in what costs about a millisecond: as much of a path's turn as one fork. One that runs or asks
/// for ever without forking must not hold up the others.
const INSTRUCTIONS_MS: u64 = 1 << 14;
const EFFECTS_MS: u64 = 128;
/// Effects of one path between two looks at all.
const LOOK_TURNS: u64 = 32;
/// Most paths given away at a time: each is executed again from the start, but whoever has to wait for each of them waits
/// longer than that takes.
const PORTION: u64 = 32;
/// Of a path known by its decisions only.
const NO_OUTLOOK: Outlook = Outlook { promise: Promise::Nothing, spot: SpotId::UNKNOWN, nook: Nook(0) };

pub struct Worker<'i, 'r> {
    pub(crate) options: &'r Options,
    pub(crate) decider: Decider<'i>,
    pub(crate) line_up: Rc<RefCell<LineUp>>,
    pending: Pending,
    spots: Spots,
    pub(crate) left: Leavings,
    /// Ways about which the solver could not tell, the oldest first.
    doubts: VecDeque<Doubt>,
    reports: &'r mut dyn Reports,
    exchange: Option<&'r Exchange>,
    started: Instant,
    last_look: Instant,
    n_forks_since_look: u64,
    n_paths: u64,
    /// Name of the running plan, and the paths that plans of a name have told.
    plan: Option<u64>,
    told: FxHashSet<(u64, u64)>,
    /// Edges that told paths were the first to take.
    told_edges: Vec<bool>,
    pub(crate) over: Option<Budget>,
    /// Kept where a technique watches.
    tree: Option<Tree>,
    /// The machine's, while a path runs that is not watched.
    trace: Option<Box<Trace>>,
    meets: Option<Meets>,
    goes_nearest_first: bool,
    held: Vec<Path>,
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
        let interest = line_up.interest();
        for func in line_up.claims(&image.module) {
            machine.claimed[func.idx()] = true;
        }
        let rank = line_up.rank(options.seed).unwrap_or_else(|| rank_of(options.search, options.seed));
        let tree = line_up.watches().then(Tree::default);
        let meets = tree.is_some().then(|| Meets::new(&image.module));
        if tree.is_some() {
            machine.watching.swap_trace(Some(Box::new(Trace::new(updates(image)))));
        }
        let goes_nearest_first = line_up.goes_nearest_first();
        if line_up.tracks_flow() {
            let source = crate::flow::source(&image.module);
            machine.watching.track(Flow::new(image.module.functions.len(), source));
        }
        let line_up = Rc::new(RefCell::new(line_up));
        if interest != Interest::NONE {
            machine.watching.listen(interest, Box::new(Dispatch(line_up.clone())));
        }
        let mut stack = Stack::new(solver::Config { stop: options.stop.clone(), ..options.solver.clone() });
        if tree.is_some() {
            stack.keep_refuted(Keeping::On);
        }
        Worker {
            options,
            decider: Decider { machine, stack, eval: Eval::new(), parted: Vec::new(), work: Work::default() },
            line_up,
            pending: Pending::new(rank),
            spots: Spots::new(image),
            doubts: VecDeque::new(),
            left: Leavings::default(),
            reports,
            exchange,
            started: Instant::now(),
            last_look: Instant::now(),
            n_forks_since_look: 0,
            n_paths: 0,
            plan: None,
            told: FxHashSet::default(),
            told_edges: vec![false; image.n_edges() as usize],
            over: None,
            tree,
            trace: None,
            meets,
            goes_nearest_first,
            held: Vec::new(),
        }
    }

    pub fn take_driver(&mut self) -> Box<dyn Driver> {
        if !self.options.resume.is_empty() {
            return Box::new(Plain::from_prefixes(self.options.resume.clone()));
        }
        std::mem::replace(&mut self.line_up.borrow_mut().driver, Box::new(Plain::default()))
    }

    pub(crate) fn n_paths(&self) -> u64 {
        self.n_paths
    }

    pub fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Explores one plan until nothing is pending or a budget is used up.
    pub fn run(&mut self, plan: RunPlan) {
        self.plan = plan.name;
        self.line_up.borrow_mut().run_begins();
        if let Some(flow) = self.decider.machine.watching.flow_mut() {
            self.line_up.borrow_mut().flow_begins(flow);
        }
        self.seed(plan);
        self.work();
        self.cut_rest();
        let Machine { watching, labels, image, .. } = &mut self.decider.machine;
        if let Some(flow) = watching.flow_mut() {
            self.line_up.borrow_mut().flow_ended(flow, labels, image);
        }
    }

    /// Works on what others give away until nobody has anything left.
    pub fn serve(&mut self, exchange: &Exchange) {
        while let Some(portion) = exchange.take() {
            // The newest is taken first where nothing else decides, and the oldest promises most.
            for decisions in portion.into_iter().rev() {
                self.pending.push(Waiting::Away(Prefix::of_decisions(decisions)), None, NO_OUTLOOK);
            }
            self.work();
            self.cut_rest();
            if self.over.is_some() {
                return self.abandon(exchange);
            }
        }
    }

    /// A budget is used up, and there would have been more plans.
    pub fn leave_plan(&mut self) {
        self.left.n_untold += 1;
        self.left.unexplored.push(Trail::default());
    }

    /// A budget is used up: what lies in the exchange is not going to be explored.
    pub fn abandon(&mut self, exchange: &Exchange) {
        let rest = exchange.close();
        self.left.n_untold += rest.len() as u64;
        self.left.unexplored.extend(rest);
    }

    fn work(&mut self) {
        while self.over.is_none() {
            let work = self.work_done();
            let coverage = &self.decider.machine.coverage;
            self.spots.refresh(coverage);
            let Some(waiting) = self.pending.pop(coverage, &self.spots, work) else {
                match self.doubts.pop_front() {
                    Some(doubt) => self.resolve_doubt(doubt),
                    None if self.settle_held() => {}
                    None => break,
                }
                self.look();
                continue;
            };
            let mut path = self.wake(waiting);
            self.adopt(&mut path);
            self.follow_path(path);
            self.tell_discoveries();
            if self.options.budgets.paths.is_some_and(|limit| self.n_paths >= limit) {
                self.over = Some(Budget::Paths);
            }
            self.look();
        }
    }

    /// What was done so far, in what costs about a millisecond. Only slow questions to the solver go by the clock: where there
    /// are none, the same seed gives the same search.
    fn work_done(&self) -> u64 {
        let Work { n_instructions, n_effects } = self.decider.work;
        let slow_ms = self.decider.stack.counters().slow_time.as_millis() as u64;
        n_instructions / INSTRUCTIONS_MS + n_effects / EFFECTS_MS + slow_ms
    }

    fn seed(&mut self, plan: RunPlan) {
        if plan.prefixes.is_empty() {
            // With symbolic arguments, how many there are is the first decision.
            for choice in self.options.world.arg_choices().into_iter().rev() {
                let mut path = self.start(choice);
                path.node = self.tree.as_mut().map(Tree::root);
                self.plant(&mut path, choice);
                self.push(path, None);
            }
        }
        let may_have_seeds = !self.options.seeds.is_empty();
        for decisions in plan.prefixes {
            let prefix = Prefix { may_have_seeds, ..Prefix::of_decisions(decisions) };
            self.pending.push(Waiting::Away(prefix), None, NO_OUTLOOK);
        }
    }

    /// Gives a path at the beginning the seeds whose arguments fit it best.
    fn plant(&self, path: &mut Path, choice: Option<u64>) {
        let world = &self.options.world;
        let seeds = self.options.seeds.iter().filter(|seed| seed.choice(world) == choice);
        path.plant(&self.decider.machine.terms, seeds.cloned());
    }

    /// A path at the beginning; which arguments there are is its first decision where there is a choice.
    pub(crate) fn start(&mut self, choice: Option<u64>) -> Path {
        let arg_lens = self.options.world.arg_lens(choice);
        let line_up = &self.line_up;
        let mut form_of = |request: &InputRequest| line_up.borrow_mut().world_input(request);
        let mut path = Path::new(self.decider.machine.start(&arg_lens, &mut form_of));
        self.begin_with(&mut path, 0);
        self.decider.take_footprint();
        if let Some(choice) = choice {
            path.decisions.push(choice);
        }
        path
    }

    /// New inputs begin with the values that their forms say. One that is executed again, or follows
    /// a seed, has its input already.
    fn begin_with(&mut self, path: &mut Path, n_known: usize) {
        if !path.follow.is_empty() || !path.seeds.is_empty() || path.state.inputs.len() == n_known {
            return;
        }
        let terms = &self.decider.machine.terms;
        for scalar in path.state.inputs.iter().skip(n_known).flat_map(|record| record.scalars.iter()) {
            if let (Some(term), 1..) = (scalar.term, scalar.value)
                && let Some(symbol) = terms.symbols(term).first()
            {
                path.input.set(*symbol, scalar.value);
            }
        }
    }

    fn wake(&mut self, waiting: Waiting) -> Path {
        match waiting {
            Waiting::Live(path) => *path,
            Waiting::Away(Prefix { decisions, input, node, unwatched, may_have_seeds }) => {
                let mut follow: VecDeque<u64> = decisions.iter().collect();
                let has_choice = !self.options.world.args.is_empty();
                let choice = if has_choice { follow.pop_front() } else { None };
                let mut path = self.start(choice);
                if may_have_seeds {
                    self.plant(&mut path, choice);
                }
                path.follow = follow;
                if let Some(input) = input {
                    path.input = input;
                }
                // What is read until it is where it was is not known to belong below its node.
                (path.node, path.unwatched) = (node, unwatched);
                self.spoil(&path);
                path
            }
        }
    }

    fn push(&mut self, path: Path, next_edge: Option<EdgeId>) {
        let promise = self.promise(next_edge);
        self.push_with(path, next_edge, promise);
    }

    fn promise(&self, next_edge: Option<EdgeId>) -> Promise {
        match next_edge.filter(|edge| !self.decider.machine.coverage.is_seen(*edge)) {
            Some(edge) if self.spots.is_own(edge) => Promise::OwnEdge,
            Some(_) => Promise::LibraryEdge,
            None => Promise::Nothing,
        }
    }

    fn push_with(&mut self, path: Path, next_edge: Option<EdgeId>, promise: Promise) {
        let (spot, nook) = (self.spots.spot(&path.state), self.spots.nook(&path.state, next_edge));
        let outlook = Outlook { promise, spot, nook };
        self.pending.push(Waiting::Live(Box::new(path)), next_edge, outlook);
        self.left.states_max = self.left.states_max.max(self.pending.n_live() + 1);
    }

    /// Runs one path until it ends or has to wait again.
    fn follow_path(&mut self, mut path: Path) {
        let (mut n_forks, mut n_turns) = (0, 0);
        let work_before = self.work_done();
        let mut n_solver_before = self.decider.stack.counters().n_solver;
        // Whatever is left there belongs to another path.
        self.watch(&path);
        self.decider.take_footprint();
        loop {
            let ended = self.line_up.borrow_mut().admit(&path);
            if let Some(ending) = ended {
                return self.end(path, ending);
            }
            if let Some(budget) = self.path_budget(&path) {
                return self.end(path, Ending::Cut(budget));
            }
            // Nothing is translated while a path is watched, so whether to go on watching is asked more often.
            let most = if path.node.is_some() { WATCHED_FUEL } else { FUEL };
            let fuel = self.options.budgets.steps.map_or(most, |steps| (steps - path.state.steps).clamp(1, most));
            let (before, n_inputs) = (path.state.steps, path.state.inputs.len());
            self.watch(&path);
            self.decider.machine.watching.swap_stops(&mut path.stops);
            let effect = self.decider.machine.run(&mut path.state, fuel);
            self.begin_with(&mut path, n_inputs);
            self.decider.machine.watching.swap_stops(&mut path.stops);
            self.decider.work.n_instructions += path.state.steps - before;
            self.decider.work.n_effects += u64::from(!matches!(effect, Effect::Arrived));
            self.note_first_edges(&mut path);
            if path.node.is_some() {
                match self.arrive(&mut path, &effect) {
                    (_, Admission::Keep) => {}
                    (_, Admission::Unwatch(why)) => self.unwatch(&mut path, why),
                    (_, Admission::Hold) => return self.held.push(path),
                    (_, Admission::End(ending)) => return self.end(path, *ending),
                    (technique, Admission::Prune(reason)) => {
                        return self.end(path, Ending::Pruned { technique, reason });
                    }
                }
            }
            let n_noted = self.left.ledger.n_entered();
            let had_seeds = !path.seeds.is_empty();
            let is_out_of_fuel = matches!(effect, Effect::OutOfFuel);
            let n_new = match effect {
                Effect::OutOfFuel | Effect::Arrived => 0,
                effect => {
                    let n_stops = path.stops.len();
                    self.plan_stop(&mut path, &effect);
                    let under = self.under(&path);
                    let fate =
                        self.decider.handle(&mut path, effect, &mut self.line_up.borrow_mut(), &mut self.left.ledger);
                    self.note_ledger();
                    if self.left.ledger.n_entered() > n_noted {
                        self.spoil(&path);
                    }
                    self.tell_refuted(path.node, under);
                    if self.goes_nearest_first && matches!(fate, Fate::Goes) {
                        self.turn_to_nearest(&mut path);
                    }
                    let n_new = self.settle_parted();
                    if n_new == 0 {
                        path.stops.truncate(n_stops);
                    }
                    match fate {
                        Fate::Goes => {}
                        Fate::Ended(ending) => return self.end(path, ending),
                        // What goes on is the doubtful one.
                        Fate::Doubtful => return self.leave(path.node),
                    }
                    n_new
                }
            };
            if had_seeds && path.seeds.is_empty() && !path.follow.is_empty() {
                return self.put_back(path);
            }
            n_forks += n_new;
            n_turns += 1;
            // A path may ask for ever without forking, so looking must not depend on forks; and one question to the
            // solver may take longer than all else.
            let n_solver = self.decider.stack.counters().n_solver;
            let was_solver_asked = std::mem::replace(&mut n_solver_before, n_solver) != n_solver;
            if n_new > 0 || was_solver_asked || is_out_of_fuel || n_turns % LOOK_TURNS == 0 {
                self.look();
                self.share();
                let spent = n_forks + self.work_done() - work_before;
                let stays = spent == 0 || !path.seeds.is_empty() || self.pending.stays(spent);
                if self.over.is_some() || !stays {
                    return self.push_with(path, None, Promise::HadItsTurn);
                }
            }
        }
    }

    /// A prefix that no seed takes waits for its turn like any other.
    fn put_back(&mut self, path: Path) {
        let Path { node, unwatched, .. } = path;
        let prefix = Prefix { node, unwatched, ..Prefix::of_decisions(path.trail()) };
        self.pending.push(Waiting::Away(prefix), None, NO_OUTLOOK);
    }

    /// Gives some of the oldest pending paths away when somebody waits for work.
    fn share(&mut self) {
        let Some(exchange) = self.exchange else { return };
        while exchange.is_wanted() {
            let n_given = (self.pending.len() / 2).clamp(1, PORTION);
            let portion: Portion = (0..n_given).map_while(|_| self.give_away()).collect();
            if portion.is_empty() {
                return;
            }
            exchange.give(portion);
        }
    }

    fn give_away(&mut self) -> Option<Trail> {
        let waiting = self.pending.take_oldest()?;
        // Others will explore it, and what they read is not known here.
        if let (Some(tree), Some(node)) = (&mut self.tree, waiting.node()) {
            tree.spoil(node);
            self.line_up.borrow_mut().points().for_each(|points| points.spoiled(node));
            self.leave(Some(node));
        }
        Some(waiting.into_trail())
    }

    pub(crate) fn path_budget(&self, path: &Path) -> Option<Budget> {
        let budgets = &self.options.budgets;
        if budgets.depth.is_some_and(|depth| path.decisions.len() > depth) {
            return Some(Budget::Depth);
        }
        budgets.steps.is_some_and(|steps| path.state.steps >= steps).then_some(Budget::Steps)
    }

    fn note_first_edges(&mut self, path: &mut Path) {
        if self.decider.machine.coverage.has_fresh() {
            let fresh = self.decider.machine.coverage.take_fresh();
            self.spots.note_seen(&fresh);
            Rc::make_mut(&mut path.first_edges).extend(fresh);
        }
    }

    pub(crate) fn note_ledger(&mut self) {
        for (kind, place, detail) in self.decider.machine.notes.drain(..) {
            self.left.ledger.enter(kind, place, detail);
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
        self.n_forks_since_look += n_forks;
        // The first alternative is to be the newest.
        for parted in parted.into_iter().rev() {
            if let (Some(tree), Some(node)) = (&mut self.tree, parted.path().node) {
                tree.fork(node);
            }
            match parted {
                Parted::Waits { path, next_edge } => self.push(*path, next_edge),
                Parted::Ended { path, ending } => self.end(*path, ending),
                Parted::Doubtful(doubt) => self.doubts.push_back(doubt),
            }
        }
        n_forks
    }

    /// Nothing else is pending: time to ask an open question again, for longer. What stays open enters the ledger.
    fn resolve_doubt(&mut self, doubt: Doubt) {
        // No single one may take what is left for all of them.
        let n_open = self.doubts.len() as u32 + 1;
        self.decider.stack.set_patience(Patience::Long { at_most: self.time_left().map(|left| left / n_open) });
        let node = doubt.path.node;
        let under = self.under(&doubt.path);
        let resolved = self.decider.resolve_doubt(doubt);
        self.decider.stack.set_patience(Patience::Usual { at_most: self.time_left() });
        self.tell_refuted(node, under);
        match resolved {
            Ok(Some(path)) => {
                self.left.forks += 1;
                self.push(path, None);
            }
            Ok(None) => self.leave(node),
            Err((path, why)) => self.give_up(&path, &why.to_string()),
        }
    }

    fn give_up(&mut self, path: &Path, why: &str) {
        let (place, _) = self.decider.machine.image.whereabouts(&path.state);
        self.left.ledger.enter(LedgerKind::UnknownAnswer, place, why);
        self.spoil(path);
        self.leave(path.node);
    }

    /// What techniques found by themselves.
    pub(crate) fn tell_discoveries(&mut self) {
        for discovery in self.line_up.borrow_mut().discoveries() {
            self.reports.found(discovery);
        }
    }

    pub(crate) fn end(&mut self, mut path: Path, ending: Ending) {
        self.tell_discoveries();
        if self.decider.machine.watching.flow().is_some() {
            let label = self.decider.machine.ending_label(&path.state);
            path.ended_at = self.decider.machine.index_here(&path.state);
            let labels = &self.decider.machine.labels;
            path.ended_by = labels.members(label).into();
            path.left_guard = path.state.left_guard.map(|(guard, label)| (guard, labels.members(label).into()));
        }
        if let Ending::Cut(_) = ending {
            self.left.unexplored.push(path.trail());
        }
        self.note_ledger();
        self.line_up.borrow_mut().ended(&path, &ending);
        if matches!(ending, Ending::Cut(_) | Ending::Unsupported(_)) {
            self.spoil(&path);
        }
        self.leave(path.node);
        let Decider { machine, eval, .. } = &mut self.decider;
        let inputs = inputs_of(&path.state, &path.input, &machine.terms, eval);
        let witness = Witness { inputs, ending, path: path.decisions.to_vec() };
        self.line_up.borrow_mut().witnessed(&path, &witness);
        let is_told = self.line_up.borrow_mut().is_told(&path, &witness);
        if !is_told || self.plan.is_some_and(|plan| !self.is_news(plan, &witness)) {
            return;
        }
        self.n_paths += 1;
        for edge in path.first_edges.iter() {
            self.told_edges[edge.0 as usize] = true;
        }
        let output = path.state.output.as_ref().map(|output| output.to_vec());
        self.reports.ended(Ended { witness, first_edges: path.first_edges.to_vec(), output });
    }

    /// Whether neither a plan of that name nor any other has told the path: by its decisions, or by the very input.
    fn is_news(&mut self, plan: u64, witness: &Witness) -> bool {
        let hash = |what: &dyn Fn(&mut FxHasher)| {
            let mut hasher = FxHasher::default();
            what(&mut hasher);
            hasher.finish()
        };
        let decisions = hash(&|hasher| (plan, &witness.path, std::mem::discriminant(&witness.ending)).hash(hasher));
        if matches!(witness.ending, Ending::Cut(_) | Ending::Unsupported(_)) {
            // The input may also show a path that ended: this one stands for what is not known.
            return self.told.insert((0, decisions));
        }
        let input = hash(&|hasher| witness.inputs.iter().for_each(|input| (&input.name, &input.bytes).hash(hasher)));
        let is_new_path = self.told.insert((0, decisions));
        self.told.insert((1, input)) && is_new_path
    }

    pub fn finish(mut self) -> Leavings {
        self.tell_discoveries();
        self.measure_memory();
        self.left.instructions = self.decider.work.n_instructions;
        self.left.queries = self.decider.stack.counters().clone();
        self.left.techniques = self.line_up.borrow_mut().reports();
        self.left
    }
}

/// What a footprint leaves out.
fn updates(image: &Image) -> Rc<vm::Updates> {
    let module = &image.module;
    let faults = Faults { overflow: image.checks.overflow, shift: image.checks.shift };
    let of_function = |idx: usize| {
        let func = ir::FuncId::new(idx);
        analysis::updates(module, func, &Liveness::new(module, func), faults)
    };
    Rc::new(vm::Updates((0..module.functions.len()).map(of_function).collect()))
}
