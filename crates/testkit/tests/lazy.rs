//! The theorem behind `lazy`, on generated programs: exactly the statements of the function under test that plain
//! exploration covers are covered, and exactly its paths are shown.
//!
//! `LAZY_COUNT` (default 400) programs from seed `LAZY_SEED` (default 1) on, every second one wild. A program counts when
//! plain exploration of it is complete. Each is explored twice by `lazy`: with its own choice of functions to skip, and with
//! a random one.
//!
//! What happens inside of skipped functions is not compared: neither their paths nor faults and exits in them. A fault of
//! the unit has to be found once for its kind and place; further ways to it have to be taken by some test.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use explore::{
    Covers, Event, Events, InputForm, InputRequest, Interest, LineUp, Options, Path, Program, Progress, Seats, Sink,
    Technique, TestId,
};
use ir::FuncId;
use testkit::generate;
use vm::{EdgeId, State};
use witness::{Ending, InputValue, Witness};

const PROGRAMS_PER_FILE: u64 = 25;
const MAX_PLAIN_PATHS: u64 = 1500;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[derive(Default)]
struct Tests(Vec<Witness>);

impl Sink for Tests {
    fn path_ended(&mut self, witness: &Witness, _: Covers) -> TestId {
        self.0.push(witness.clone());
        TestId(self.0.len() as u64)
    }

    fn progress(&mut self, _: &Progress) {}
}

/// What control does outside of skipped functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Over(EdgeId),
    Into(FuncId),
}

/// What one concrete run does: edges taken in the unit, and control outside of the skipped functions.
#[derive(Default)]
struct Seen {
    unit_edges: BTreeSet<EdgeId>,
    trace: Vec<Step>,
    /// Whether it was in a skipped function when last seen.
    is_inside: bool,
}

/// What tests show, those that end inside of skipped functions told apart.
#[derive(Default)]
struct Shown {
    /// Edges of the unit, by any test.
    edges: BTreeSet<EdgeId>,
    /// Paths that return or exit outside of skipped functions.
    traces: BTreeMap<Vec<Step>, Vec<InputValue>>,
    n_tests: usize,
    /// Faults outside of skipped functions, and where control went before them.
    faults: BTreeSet<(&'static str, u32)>,
    fault_traces: Vec<Vec<Step>>,
    n_inside: usize,
}

impl Shown {
    /// Whether some test goes this way, and perhaps further.
    fn passes(&self, way: &[Step]) -> bool {
        let next = self.traces.range(way.to_vec()..).next();
        next.is_some_and(|(trace, _)| trace.starts_with(way))
            || self.fault_traces.iter().any(|trace| trace.starts_with(way))
    }
}

/// How a test ends, as far as two runs of it have to agree.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Returned,
    Exited,
    Fault(&'static str, u32),
}

impl End {
    fn of(ending: &Ending) -> End {
        match ending {
            Ending::Returned { .. } => End::Returned,
            Ending::Exited { .. } => End::Exited,
            Ending::Bug(bug) => End::Fault(bug.kind.name(), bug.place.line),
            other => panic!("a path ended as {other:?}"),
        }
    }
}

/// Gives inputs the values of a test and notes where control goes.
struct Rerun {
    values: Vec<u64>,
    unit: FuncId,
    is_skipped: Vec<bool>,
    is_library: Vec<bool>,
    seen: Rc<RefCell<Seen>>,
}

impl Technique for Rerun {
    fn name(&self) -> &'static str {
        "rerun"
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }
}

impl Events for Rerun {
    fn interest(&self) -> Interest {
        Interest::BLOCK.with(Interest::CALL)
    }

    fn observe(&mut self, state: &mut State, event: &Event) {
        let mut seen = self.seen.borrow_mut();
        let was_inside = seen.is_inside;
        seen.is_inside = state.frames().any(|frame| self.is_skipped[frame.func.idx()]);
        let (func, step, is_inside) = match *event {
            Event::Block { func, edge, .. } => (func, Step::Over(edge), seen.is_inside),
            Event::Call { func } => (func, Step::Into(func), was_inside),
            _ => return,
        };
        if let Step::Over(edge) = step
            && func == self.unit
        {
            seen.unit_edges.insert(edge);
        }
        if !is_inside && !self.is_library[func.idx()] {
            seen.trace.push(step);
        }
    }
}

impl Seats for Rerun {
    fn input(&mut self, path: &Path, _: &InputRequest, _: &mut explore::Means) -> Option<InputForm> {
        Some(InputForm::Mixed(Rc::new([Some(self.values[path.state.inputs.len()])])))
    }
}

struct Case<'m> {
    module: &'m Arc<ir::Module>,
    entry: FuncId,
    unit: FuncId,
}

impl Case<'_> {
    fn program(&self) -> Program {
        Program { module: self.module.clone(), entry: self.entry, constructors: Vec::new() }
    }

    fn explore(&self, line_up: LineUp, options: &Options) -> (explore::Outcome, Vec<Witness>) {
        let mut tests = Tests::default();
        let outcome = explore::explore(&self.program(), options, line_up, &mut tests).expect("no fault of ours");
        (outcome, tests.0)
    }

    /// What the tests show, by running them.
    fn shown(&self, tests: &[Witness], is_skipped: &[bool]) -> Shown {
        let mut shown = Shown::default();
        let is_library: Vec<bool> = self.module.functions.iter().map(|function| function.is_runtime).collect();
        for test in tests {
            let seen = Rc::new(RefCell::new(Seen::default()));
            let values = test.inputs.iter().map(|input| u64::from(input.bytes[0])).collect();
            let (is_skipped, is_library) = (is_skipped.to_vec(), is_library.clone());
            let rerun = Rerun { values, unit: self.unit, is_skipped, is_library, seen: seen.clone() };
            let line_up = LineUp { techniques: vec![Box::new(rerun)], drivers: Vec::new() };
            let (outcome, reruns) = self.explore(line_up, &Options::default());
            assert_eq!(outcome.counts.total, 1);
            assert_eq!(End::of(&reruns[0].ending), End::of(&test.ending), "the test ends otherwise");
            let seen = std::mem::take(&mut *seen.borrow_mut());
            shown.edges.extend(seen.unit_edges);
            if seen.is_inside {
                shown.n_inside += 1;
            } else if let End::Fault(kind, place) = End::of(&test.ending) {
                shown.faults.insert((kind, place));
                shown.fault_traces.push(seen.trace);
            } else {
                shown.n_tests += 1;
                shown.traces.insert(seen.trace, test.inputs.clone());
            }
        }
        shown
    }
}

fn difference(plain: &Shown, lazy: &Shown) -> Option<String> {
    if plain.edges != lazy.edges {
        return Some(format!("plain covers {} edges of the unit, lazy {}", plain.edges.len(), lazy.edges.len()));
    }
    let missing: Vec<_> = plain.traces.iter().filter(|(trace, _)| !lazy.traces.contains_key(*trace)).collect();
    if let Some((_, inputs)) = missing.first() {
        let bytes: Vec<u8> = inputs.iter().map(|input| input.bytes[0]).collect();
        return Some(format!(
            "{} of {} paths are not shown, such as that of {bytes:?}",
            missing.len(),
            plain.traces.len()
        ));
    }
    if plain.faults != lazy.faults {
        return Some(format!("plain finds {:?}, lazy {:?}", plain.faults, lazy.faults));
    }
    let n_missed = plain.fault_traces.iter().filter(|way| !lazy.passes(way)).count();
    (n_missed > 0).then(|| format!("{n_missed} ways to faults are not taken"))
}

/// Whether plain exploration was complete; `Err` says how the two differ.
fn compare(case: &Case, callees: &[String], seed: u64) -> Result<bool, String> {
    let mut options = Options { workers: 1, ..Options::default() };
    options.budgets.paths = Some(MAX_PLAIN_PATHS);
    options.budgets.time = Some(Duration::from_secs(5));
    let (plain, plain_tests) = case.explore(LineUp::plain(), &options);
    if !plain.is_complete() {
        return Ok(false);
    }
    options.budgets.paths = None;
    options.budgets.time = Some(Duration::from_secs(60));
    let random: Vec<String> =
        callees.iter().enumerate().filter(|(idx, _)| seed >> idx & 1 == 0).map(|(_, name)| name.clone()).collect();
    for skip in [Vec::new(), random] {
        let subject = techniques::Subject { module: case.module, entry: case.unit };
        let mut flags = techniques::Flags::default();
        flags.set(&techniques::lazy::SKIP, skip);
        flags.set(&techniques::lazy::FAULTS, ["all"]);
        let line_up = techniques::line_up(techniques::ALL, &["lazy".to_string()], &flags, subject)?;
        let (lazy, lazy_tests) = case.explore(line_up, &options);
        let summary = lazy.techniques[0].1.summary.as_deref().unwrap_or_default();
        if !lazy.is_complete() {
            return Err(format!("lazy is not complete: {summary}"));
        }
        let is_skipped: Vec<bool> =
            case.module.functions.iter().map(|function| summary.contains(&format!("\"{}\"", function.name))).collect();
        let (plain, lazy) = (case.shown(&plain_tests, &is_skipped), case.shown(&lazy_tests, &is_skipped));
        if let Some(how) = difference(&plain, &lazy) {
            return Err(format!("{how}: {summary}"));
        }
        // Where nothing is skipped exploration is plain and tells more apart.
        if is_skipped.contains(&true) && lazy.traces.len() != lazy.n_tests {
            return Err(format!("{} tests show {} paths: {summary}", lazy.n_tests, lazy.traces.len()));
        }
    }
    Ok(true)
}

/// Every second program is wild.
fn generated(seed: u64) -> generate::Generated {
    let temper = if seed.is_multiple_of(2) { generate::Temper::Wild } else { generate::Temper::Calm };
    generate::program(seed, &format!("p{seed}"), temper)
}

#[test]
fn lazy_shows_what_plain_exploration_shows() {
    let (first, count) = (number("LAZY_SEED", 1), number("LAZY_COUNT", 400));
    let mut n_compared = 0;
    let mut failures = Vec::new();
    let mut seed = first;
    while n_compared < count && failures.len() < 5 {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("generated.c");
        let programs: Vec<_> = (seed..seed + PROGRAMS_PER_FILE).map(generated).collect();
        let text: String = programs.iter().map(|program| program.text.as_str()).collect();
        let text = format!("{}{text}int main(void) {{ return 0; }}\n", generate::HEADER);
        std::fs::write(&file, &text).expect("written");
        let module = Arc::new(frontend::load(&frontend::Sources::new(vec![file])).expect("compiles").module);
        for program in &programs {
            let find = |name: &str| module.find_function(&format!("p{seed}_{name}")).expect("is there");
            let case = Case { module: &module, entry: find("entry"), unit: find("unit") };
            // A function nobody calls is not in the bitcode.
            let callees: Vec<String> =
                program.callees.iter().filter(|name| module.find_function(name).is_some()).cloned().collect();
            match compare(&case, &callees, seed) {
                Ok(is_compared) => n_compared += u64::from(is_compared),
                Err(why) => failures.push(format!("seed {seed}: {why}\n{}", program.text)),
            }
            seed += 1;
        }
    }
    println!("{n_compared} programs of {} compared", seed - first);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
