//! `lazy`: called functions are executed only where, and only as far as, their caller needs them.
//!
//! *Problem.* To test a function that calls others, plain exploration multiplies their paths. Two comparisons of a string
//! with a constant are 720 paths. A lexer called for each token buries the parser that calls it.
//!
//! *Paper.* R. Majumdar, K. Sen: LATEST: Lazy Dynamic Test Input Generation (2007).
//!
//! *Idea.* Explore the function under test alone, with every call left out and its result made up: a *guess*. Each guess
//! is a path the function may have. Then execute the program itself, and at each call search its paths for one after
//! which the caller can go on as the guess did. A path counts, and gets a test, only when it was executed through the real
//! calls. When all guesses behind a call have become real, the other paths through the call are not needed.
//!
//! *Here.* States are values, so nothing is executed twice: guesses and runs stop at a call and go on later. The paths of
//! the unit are a tree (`tree`) whose vertices are skipped calls and ends. Guesses go on behind a call only once the program
//! has come to it. So a parser whose guesses never end is no problem as long as its runs do. Several runs may stand at a
//! vertex, each with its own expansion of the call (`expand`). The hunt (`hunt`) goes through the tree depth first and asks
//! expansions for runs that can still become something not seen yet. When calls further down cannot give what is missing, it
//! comes back to those further up. Whether a run can become what a guess was is a question to the solver: what the guess
//! assumed about the values it made up must hold for the values they have on the run (`bound`). Searches that take long are
//! broken off and taken up again in later rounds with more effort, so that none holds up the others.
//!
//! *Side effects.* A skipped call also leaves made-up values in all it may have written: globals, and objects its arguments
//! point into, which `effects` finds beforehand. So guesses cover all that the program can do, and what contradicts all
//! guesses needs no run. Sometimes that cannot be relied on: writes without bounds, an address that could be anything, a guess
//! that goes on for ever, a run no guess foresaw. Then the vertex is *exhausted*: every path through the call is executed.
//!
//! *Beyond the paper.* Which functions to skip is chosen by their paths and effects (`choose`); what was learned in one
//! expansion is tried first in the next (`learn`); out-parameters, globals and results of several parts are made up like
//! plain results; a call that takes only one path is executed at once, whether inputs reach it or not.
//!
//! *Assumes* that skipped functions are tested by themselves. *Can miss* faults inside of them. A fault of the unit that
//! guesses show is looked for like another path where nothing gets past the place; any other is found, excluded or entered
//! in the ledger (`faults`). *Costs* nothing to speak of where every guess can be made real. A guess that cannot costs all
//! paths through the calls before it.

mod bound;
mod choose;
mod effects;
mod expand;
mod faults;
mod guess;
mod hunt;
mod learn;
mod tree;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use analysis::{CallGraph, Cfg, Loops};
use explore::{
    Conducts, Driver, Event, Events, Explorer, History, Interest, LeavesOut, Path, Report, RunPlan, Seats, SlotId,
    Technique,
};
use ir::{BlockId, FuncId, Inst, Module, Terminator};
use rustc_hash::FxHashSet;
use vm::State;
use witness::{BugKind, Ending, Place};

use crate::{ANY_FLAGS, Drives, Entry, Flag, Making, Part, Resume, Takes};
use effects::Effects;
use faults::{Effort, Suspects};
use hunt::Hunt;
use learn::Summaries;

/// How the line-up makes it.
pub const ENTRY: Entry =
    Entry { name: NAME, flags: &[SKIP, FAULTS], check: ANY_FLAGS, make, resume: Resume::FromStart, company: &[] };

const NAME: &str = "lazy";

pub const SKIP: Flag = Flag {
    name: "lazy-skip",
    help: "Functions that `--with lazy` skips, separated by commas [default: chosen by what they do]",
    takes: Takes::List { named: "F,G,..." },
};

pub const FAULTS: Flag = Flag {
    name: "lazy-faults",
    help: "How hard `--with lazy` looks for faults that show with calls skipped, on ways that runs took without them",
    takes: Takes::OneOf {
        named: "EFFORT",
        words: &[
            ("few", "A few tries for each place; what is left goes into the ledger"),
            (ALL_FAULTS, "Until each is found or excluded"),
        ],
        default: "few",
    },
};

const ALL_FAULTS: &str = "all";

fn make(making: &Making) -> Result<Part, String> {
    let Making { flags, subject, .. } = making;
    let module = subject.module;
    let graph = CallGraph::new(module);
    let starts_thread =
        |func: &FuncId| ["pthread_create", "thrd_create"].contains(&module.function(*func).name.as_str());
    if choose::reached(subject.entry, |func| graph.callees(func)).iter().any(starts_thread) {
        return Err("`lazy` does not follow a second thread, which this program may start".to_string());
    }
    let effects = effects::of_module(module, &graph);
    let skipped = match flags.list(&SKIP) {
        [] => choose::choose(module, &graph, &effects, subject.entry),
        names => named(module, names, subject.entry)?,
    };
    let figures = Rc::new(RefCell::new(Figures::default()));
    figures.borrow_mut().skipped = skipped.iter().map(|func| module.function(*func).name.clone()).collect();
    let mut is_skipped = vec![false; module.functions.len()];
    skipped.iter().for_each(|func| is_skipped[func.idx()] = true);
    let stdin_byte = module
        .find_function("__colt_stdin_byte")
        .filter(|_| skipped.iter().any(|func| effects[func.idx()].reads_stdin));
    let claimed = skipped.iter().copied().chain(stdin_byte).collect();
    let fault_effort = if flags.word(&FAULTS) == ALL_FAULTS { Effort::All } else { Effort::Few };
    let plan = Rc::new(Plan { is_skipped, effects, fault_effort });
    let is_library = module.functions.iter().map(|function| function.is_runtime).collect();
    Ok(Part {
        technique: Box::new(Lazy { claimed, is_library, alternatives: alternatives(module), figures: figures.clone() }),
        // With nothing to skip this is plain exploration, in any order.
        driver: (!skipped.is_empty())
            .then(|| (Drives::Itself, Box::new(Conductor { plan, figures }) as Box<dyn Driver>)),
    })
}

fn named(module: &Module, names: &[String], entry: FuncId) -> Result<Vec<FuncId>, String> {
    let find = |name: &String| {
        let func = module.find_function(name).ok_or_else(|| format!("--lazy-skip: there is no function `{name}`"))?;
        if func == entry {
            return Err(format!("--lazy-skip: `{name}` is what is tested; it cannot be skipped"));
        }
        if module.function(func).is_declaration() {
            return Err(format!("--lazy-skip: `{name}` has no body that could be executed later"));
        }
        Ok(func)
    };
    let mut funcs = names.iter().map(find).collect::<Result<Vec<FuncId>, String>>()?;
    funcs.sort_unstable();
    funcs.dedup();
    Ok(funcs)
}

/// Several cases of a switch that lead to one place are one alternative, whichever of them was taken. Edges are numbered
/// as the machine does: an entry edge and the edges of all blocks, function by function.
fn alternatives(module: &Module) -> Vec<u32> {
    let mut all = Vec::new();
    for function in &module.functions {
        all.push(all.len() as u32);
        for block in &function.blocks {
            let first = all.len();
            let edges = block.terminator.edges();
            let is_switch = matches!(block.terminator, Terminator::Switch { .. });
            for (idx, edge) in edges.iter().enumerate() {
                let same = edges[..idx].iter().position(|other| is_switch && other.target == edge.target);
                all.push((first + same.unwrap_or(idx)) as u32);
            }
        }
    }
    all
}

/// What is decided before the run.
struct Plan {
    is_skipped: Vec<bool>,
    effects: Vec<Effects>,
    fault_effort: Effort,
}

impl Plan {
    fn is_skipped(&self, func: FuncId) -> bool {
        self.is_skipped[func.idx()]
    }
}

/// What goes into the summary.
#[derive(Default)]
struct Figures {
    skipped: Vec<String>,
    abstract_paths: u64,
    concretised: u64,
    infeasible: u64,
    open: u64,
    iterations: u64,
    summaries_used: u64,
    /// Runs given up because they could only repeat what was shown before.
    left_out: u64,
    /// Paths that no guess foresaw.
    unforeseen: u64,
}

struct Lazy {
    claimed: Vec<FuncId>,
    is_library: Vec<bool>,
    /// For each edge the one that stands for all edges it is one alternative with.
    alternatives: Vec<u32>,
    figures: Rc<RefCell<Figures>>,
}

/// The slot of a state that holds its [`Trace`].
const SLOT: SlotId = SlotId(5);

/// What control did in the unit so far, as a number.
#[derive(Clone, Copy, Default)]
struct Trace {
    hash: u128,
    /// Frames deeper than this belong to an expanded call; 0 outside of one.
    unit_depth: u32,
    /// Calls that might have been skipped, so far.
    n_calls: u32,
    /// Where the stack ended when the current call began.
    stack_end: u64,
}

/// Bytes of stack that a call is taken to use, whether it is skipped or executed: so what the unit puts on the stack later
/// lies at the same addresses on guesses and on runs.
const STACK_STRIDE: u64 = 64 << 20;

fn mixed(hash: u128, kind: u64, value: u64) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mut hash = (hash ^ (u128::from(kind) << 64 | u128::from(value))).wrapping_mul(ODD);
    hash ^= hash >> 59;
    hash = hash.wrapping_mul(ODD);
    hash ^ hash >> 67
}

fn trace(path: &Path) -> u128 {
    path.state.slots.get::<Trace>(SLOT).map_or(0, |trace| trace.hash)
}

/// How many calls before the one a path stands at might have been skipped. No two calls on one path have the same number.
fn call_number(path: &Path) -> u32 {
    path.state.slots.get::<Trace>(SLOT).map_or(0, |trace| trace.n_calls)
}

/// The unit comes to a call that may be skipped. Runs that have allocated differently do not come to the same call: their
/// objects have other numbers.
fn mark(path: &mut Path, func: FuncId) {
    let n_objects = path.state.memory.n_heap_objects();
    let trace = path.state.slots.get_mut::<Trace>(SLOT);
    trace.hash = mixed(trace.hash, 3, u64::from(n_objects) << 32 | u64::from(func.0));
    trace.n_calls += 1;
}

/// What follows is inside a call, until it returns.
fn begin_call(path: &mut Path) {
    let (depth, stack_end) = (path.state.depth, path.state.memory.stack_end());
    path.state.pause_at = depth;
    let trace = path.state.slots.get_mut::<Trace>(SLOT);
    (trace.unit_depth, trace.stack_end) = (depth, stack_end);
}

fn end_call(path: &mut Path) {
    path.state.pause_at = 0;
    let trace = path.state.slots.get_mut::<Trace>(SLOT);
    let stack_end = trace.stack_end;
    trace.unit_depth = 0;
    let n_strides = path.state.memory.widen_stack(stack_end, STACK_STRIDE);
    if n_strides > 1 {
        let trace = path.state.slots.get_mut::<Trace>(SLOT);
        trace.hash = mixed(trace.hash, 6, n_strides);
    }
}

/// The call a path stands at is left out.
fn leave_out_call(path: &mut Path) {
    let stack_end = path.state.memory.stack_end();
    path.state.memory.widen_stack(stack_end, STACK_STRIDE);
}

impl Technique for Lazy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }

    fn report(&mut self) -> Report {
        let figures = self.figures.borrow();
        let skipped: Vec<String> = figures.skipped.iter().map(|name| format!("\"{name}\"")).collect();
        Report::summary(format!(
            "{{\"skipped\":[{}],\"abstract_paths\":{},\"concretised\":{},\"infeasible\":{},\"open\":{},\"iterations\":{},\
             \"summaries_used\":{},\"left_out\":{},\"unforeseen\":{}}}",
            skipped.join(","),
            figures.abstract_paths,
            figures.concretised,
            figures.infeasible,
            figures.open,
            figures.iterations,
            figures.summaries_used,
            figures.left_out,
            figures.unforeseen
        ))
    }
}

impl Seats for Lazy {
    fn claims(&self, _: &Module) -> Vec<FuncId> {
        self.claimed.clone()
    }
}

impl Events for Lazy {
    fn interest(&self) -> Interest {
        if self.claimed.is_empty() {
            return Interest::NONE;
        }
        Interest::BLOCK.with(Interest::CALL)
    }

    fn observe(&mut self, state: &mut State, event: &Event) {
        let (kind, func, edge) = match *event {
            Event::Block { func, edge, .. } => (1, func, self.alternatives[edge.0 as usize]),
            Event::Call { func } => (2, func, 0),
            _ => return,
        };
        let depth = state.depth;
        let trace = state.slots.get_mut::<Trace>(SLOT);
        let is_unit = trace.unit_depth == 0 || depth <= trace.unit_depth;
        if is_unit && !self.is_library[func.idx()] {
            trace.hash = mixed(trace.hash, kind, u64::from(func.0) << 32 | u64::from(edge));
        }
    }
}

struct Conductor {
    plan: Rc<Plan>,
    figures: Rc<RefCell<Figures>>,
}

impl Driver for Conductor {
    /// What it does not conduct is explored as it is.
    fn next(&mut self, outer: &RunPlan, history: &History) -> Option<RunPlan> {
        (history.runs == 0).then(|| outer.clone())
    }

    fn conduct(&mut self, outer: &RunPlan, explorer: &mut Explorer) -> Conducts {
        // It starts at the beginning, and most paths through calls it never runs.
        if !outer.prefixes.is_empty() || outer.leaves_out != LeavesOut::NothingNew {
            return Conducts::No;
        }
        Hunt::new(explorer, self.plan.clone(), self.figures.clone()).run();
        Conducts::Yes
    }
}

/// What all expansions share.
struct Campaign {
    figures: Rc<RefCell<Figures>>,
    summaries: Summaries,
    loops: LoopKnowledge,
    /// Endings inside of calls, by where in the unit and how.
    ended: FxHashSet<u128>,
    found: Vec<(BugKind, Place)>,
    suspects: Suspects,
    n_names: u64,
}

impl Campaign {
    fn new(module: Arc<Module>, figures: Rc<RefCell<Figures>>, fault_effort: Effort) -> Campaign {
        Campaign {
            figures,
            summaries: Summaries::default(),
            loops: LoopKnowledge::new(module),
            ended: FxHashSet::default(),
            found: Vec::new(),
            suspects: Suspects::new(fault_effort),
            n_names: 0,
        }
    }

    fn next_name(&mut self) -> u64 {
        self.n_names += 1;
        self.n_names
    }

    /// The program ended inside an expanded call. The first of a kind in one place of the unit is shown.
    fn ended_inside(&mut self, explorer: &mut Explorer, path: Path, ending: Ending) {
        self.figures.borrow_mut().iterations += 1;
        let always = matches!(ending, Ending::Cut(_) | Ending::Pruned { .. });
        if always || self.ended.insert(mixed(trace(&path), 5, expand::tag(&ending))) {
            self.found(&ending);
            explorer.report(path, ending);
        } else {
            self.figures.borrow_mut().left_out += 1;
        }
    }

    fn found(&mut self, ending: &Ending) {
        if let Ending::Bug(bug) = ending
            && !self.is_found(bug.kind, &bug.place)
        {
            self.found.push((bug.kind, bug.place.clone()));
        }
    }

    fn is_found(&self, kind: BugKind, place: &Place) -> bool {
        self.found.iter().any(|(found, at)| *found == kind && at == place)
    }
}

/// Which ways stay in a loop.
struct LoopKnowledge {
    module: Arc<Module>,
    graph: CallGraph,
    loops: HashMap<FuncId, Loops>,
}

impl LoopKnowledge {
    fn new(module: Arc<Module>) -> LoopKnowledge {
        let graph = CallGraph::new(&module);
        LoopKnowledge { module, graph, loops: HashMap::new() }
    }

    /// Whether the edge a path is about to take stays in the innermost loop it is in; `None` outside of loops.
    fn stays(&mut self, path: &Path) -> Option<bool> {
        let edge = expand::edge_to_take(path)?;
        let (func, block) = (path.state.top.func, path.state.top.block);
        let LoopKnowledge { module, graph, loops } = self;
        let loops = loops.entry(func).or_insert_with(|| Loops::new(&Cfg::new(module, func, graph)));
        let innermost = loops.innermost(block)?;
        let target = threaded(module.function(func), block, edge)?;
        Some(loops.get(innermost).contains(target))
    }
}

/// Where an edge leads when blocks are passed that only branch on a constant the edge brings, as the last operand of
/// `&&` and `||` does.
fn threaded(function: &ir::Function, block: BlockId, edge_idx: usize) -> Option<BlockId> {
    let mut at = function.block(block);
    let mut edge = *at.terminator.edges().get(edge_idx)?;
    for _ in 0..4 {
        let next = function.block(edge.target);
        let (Terminator::Branch { cond, .. }, true) = (&next.terminator, next.insts.is_empty()) else { break };
        let source = edge.moves.iter().rev().find(|step| step.dst == *cond).map_or(*cond, |step| step.src);
        let Some(value) = constant_in(function, at, source) else { break };
        at = next;
        edge = at.terminator.edges()[usize::from(value == 0)];
    }
    Some(edge.target)
}

/// The constant a register has at the end of a block, if its last definition there is one.
fn constant_in(function: &ir::Function, block: &ir::Block, reg: ir::Reg) -> Option<u64> {
    let last = block.insts.iter().rev().find_map(|inst| match inst {
        Inst::Const { dst, value, .. } => (*dst == reg).then_some(Some(*value)),
        inst => defines(function, inst, reg).then_some(None),
    });
    last.flatten()
}

fn defines(function: &ir::Function, inst: &Inst, reg: ir::Reg) -> bool {
    let mut defines = false;
    function.for_each_def(inst, 64, |dst, _| defines |= dst == reg);
    defines
}
