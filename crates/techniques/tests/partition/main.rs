//! The theorem of `partition`: on generated programs it takes every edge and makes every finding that plain exploration
//! does.
//!
//! `PARTITION_COUNT` (default 400) programs of each of three kinds from seed `PARTITION_SEED` (default 1) on. A program
//! counts when plain exploration of it is complete. `PARTITION_WITH=rwset` has that technique beside it. `PARTITION_FILES` names a folder whose C files are compared, too
//! (default: the fixtures written for this technique). One kind are the programs of `rwset`: branches, loops, calls, tables at
//! symbolic offsets, lists on the heap, faults. The others are made to let inputs meet where it is easy to overlook.

mod flows;
mod pieces;
#[path = "../rwset/programs.rs"]
mod programs;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use explore::{
    Covers, Event, Events, Flows, Interest, LineUp, Options, Program, Progress, Search, Sink, Technique, TestId,
};
use ir::{BlockId, FuncId, Module};
use techniques::{Flags, Subject};
use vm::{Blind, EdgeId, Flow, State};
use witness::Witness;

const PROGRAMS_PER_FILE: u64 = 50;
const MAX_PATHS: u64 = 1_500;

struct NoTests;

impl Sink for NoTests {
    fn path_ended(&mut self, _: &Witness, _: Covers) -> TestId {
        TestId(1)
    }

    fn progress(&mut self, _: &Progress) {}
}

/// Edges and the blocks they lead to.
type Taken = BTreeMap<EdgeId, (FuncId, BlockId)>;

/// Notes every edge anybody takes.
struct Edges(Rc<RefCell<Taken>>);

impl Technique for Edges {
    fn name(&self) -> &'static str {
        "edges"
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }
}

impl Events for Edges {
    fn interest(&self) -> Interest {
        Interest::BLOCK
    }

    fn observe(&mut self, _: &mut State, event: &Event) {
        if let Event::Block { func, block, edge } = event {
            self.0.borrow_mut().insert(*edge, (*func, *block));
        }
    }
}

/// Makes the tracking of flow overlook something.
struct Blindfold(Blind);

impl Technique for Blindfold {
    fn name(&self) -> &'static str {
        "blindfold"
    }

    fn flows(&mut self) -> Option<&mut dyn Flows> {
        Some(self)
    }
}

impl Flows for Blindfold {
    fn flow_begins(&mut self, flow: &mut Flow) {
        flow.blind = self.0;
    }
}

struct Explored {
    edges: Taken,
    findings: BTreeSet<String>,
    n_paths: u64,
    is_complete: bool,
}

fn explore(program: &Program, seed: u64, names: &[String], blind: Blind, max_paths: u64) -> Explored {
    let edges = Rc::new(RefCell::new(Taken::new()));
    let subject = Subject { module: &program.module, entry: program.entry };
    let mut line_up: LineUp =
        techniques::line_up(techniques::ALL, names, &Flags::default(), subject).expect("a line-up");
    line_up.techniques.push(Box::new(Edges(edges.clone())));
    line_up.techniques.push(Box::new(Blindfold(blind)));
    let mut options = Options { search: Search::Dfs, workers: 1, seed, ..Options::default() };
    options.budgets.paths = Some(max_paths);
    options.budgets.time = Some(Duration::from_secs(20));
    let outcome = explore::explore(program, &options, line_up, &mut NoTests).expect("the engine does not fail");
    let findings = outcome.findings.iter().map(|finding| {
        let bug = &finding.bug;
        format!("{:?} {}:{}", bug.kind, bug.place.file, bug.place.line)
    });
    let findings = findings.collect();
    Explored {
        edges: edges.borrow().clone(),
        findings,
        n_paths: outcome.counts.total,
        is_complete: outcome.is_complete(),
    }
}

fn place(module: &Module, func: FuncId, block: BlockId) -> String {
    let function = module.function(func);
    let line = function.block(block).spans.first().map_or(0, |span| module.span(*span).line);
    format!("{}:{line}", function.name)
}

/// `PARTITION_WITH` names techniques that go with it.
fn line_up() -> Vec<String> {
    let with = std::env::var("PARTITION_WITH").unwrap_or_default();
    let others = with.split(',').filter(|name| !name.is_empty()).map(str::to_string);
    std::iter::once("partition".to_string()).chain(others).collect()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// How programs of one kind are made.
struct Kind {
    header: &'static str,
    program: fn(u64, &str) -> String,
    /// How many of ten programs have to be explored completely by plain exploration.
    least_of_ten: u64,
}

const PROGRAMS: Kind = Kind { header: programs::HEADER, program: programs::program, least_of_ten: 7 };
const FLOWS: Kind = Kind { header: flows::HEADER, program: flows::program, least_of_ten: 8 };
const PIECES: Kind = Kind { header: pieces::HEADER, program: pieces::program, least_of_ten: 9 };

#[test]
fn it_reaches_what_plain_exploration_reaches() {
    compare(&PROGRAMS);
}

#[test]
fn it_overlooks_no_flow() {
    compare(&FLOWS);
}

#[test]
fn it_overlooks_no_piece_of_c() {
    compare(&PIECES);
}

#[test]
fn it_reaches_in_files_what_plain_exploration_reaches() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var("PARTITION_FILES").map_or(root.join("fixtures/partition"), PathBuf::from);
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    let (mut n_counted, mut n_plain, mut n_paths) = (0, 0, 0);
    let mut missed = Vec::new();
    for path in &paths {
        let mut sources = frontend::Sources::new(vec![path.clone()]);
        sources.include_dirs.push(root.join("include"));
        let loaded = frontend::load(&sources).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let module = Arc::new(loaded.module);
        let Some(entry) = module.find_function("main") else { continue };
        let program = Program { module, entry, constructors: loaded.constructors };
        let Some(compared) = compared(&program, number("PARTITION_SEED", 1), Blind::ToNothing) else {
            eprintln!("{}: plain exploration is not complete", path.display());
            continue;
        };
        n_counted += 1;
        n_plain += compared.n_plain;
        n_paths += compared.n_paths;
        if let Some(what) = compared.missed {
            eprintln!("{}: {what}", path.display());
            missed.push(path);
        }
    }
    eprintln!("{n_counted} of {} files, {n_plain} paths plain, {n_paths} with partition", paths.len());
    assert!(missed.is_empty(), "{missed:?}");
    assert!(n_counted * 2 > paths.len(), "only {n_counted} of {} files were explored completely", paths.len());
}

/// What comparing both on one program gave.
struct Compared {
    n_plain: u64,
    n_paths: u64,
    missed: Option<String>,
}

/// `None` where plain exploration is not complete.
fn compared(program: &Program, seed: u64, blind: Blind) -> Option<Compared> {
    let plain = explore(program, seed, &[], Blind::ToNothing, MAX_PATHS);
    if !plain.is_complete {
        return None;
    }
    let found = explore(program, seed, &line_up(), blind, 100 * MAX_PATHS);
    let edges: Vec<String> = plain
        .edges
        .iter()
        .filter(|(edge, _)| !found.edges.contains_key(edge))
        .map(|(_, (func, block))| place(&program.module, *func, *block))
        .collect();
    let findings: Vec<&String> = plain.findings.difference(&found.findings).collect();
    let is_less = !edges.is_empty() || !findings.is_empty() || !found.is_complete;
    let missed = is_less.then(|| format!("edges to {edges:?}, findings {findings:?}, complete {}", found.is_complete));
    Some(Compared { n_plain: plain.n_paths, n_paths: found.n_paths, missed })
}

fn compare(kind: &Kind) {
    let (mut n_counted, mut n_plain, mut n_paths) = (0, 0, 0);
    let mut missed = Vec::new();
    let count = number("PARTITION_COUNT", 400);
    for_each_program(kind, count, |seed, program, text| {
        let Some(compared) = compared(program, seed, Blind::ToNothing) else { return Go::On };
        if let Some(what) = compared.missed {
            eprintln!("seed {seed}: {what}\n{}{text}", kind.header);
            missed.push((seed, what));
        }
        n_counted += 1;
        n_plain += compared.n_plain;
        n_paths += compared.n_paths;
        Go::On
    });
    eprintln!("{n_counted} programs, {n_plain} paths plain, {n_paths} with partition");
    assert!(missed.is_empty(), "{missed:?}");
    assert!(
        n_counted * 10 >= count * kind.least_of_ten,
        "only {n_counted} of {count} programs were explored completely"
    );
}

#[derive(PartialEq, Eq)]
enum Go {
    On,
    Stop,
}

/// Calls `check` with programs from `PARTITION_SEED` on until it says to stop.
fn for_each_program(kind: &Kind, count: u64, mut check: impl FnMut(u64, &Program, &str) -> Go) {
    let first = number("PARTITION_SEED", 1);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut next = first;
    while next < first + count {
        let seeds = next..(next + PROGRAMS_PER_FILE).min(first + count);
        next = seeds.end;
        let texts: Vec<String> = seeds.clone().map(|seed| (kind.program)(seed, &format!("p{seed}"))).collect();
        let path = dir.path().join("programs.c");
        let mut file = std::fs::File::create(&path).expect("a file");
        writeln!(file, "{}{}\nint main(void) {{ return 0; }}", kind.header, texts.concat()).expect("writing");
        let loaded = frontend::load(&frontend::Sources::new(vec![path])).expect("generated programs compile");
        let module = Arc::new(loaded.module);
        for (seed, text) in seeds.zip(&texts) {
            let entry = module.find_function(&format!("p{seed}_entry")).expect("every program has its entry");
            let program = Program { module: module.clone(), entry, constructors: loaded.constructors.clone() };
            if check(seed, &program, text) == Go::Stop {
                return;
            }
        }
    }
}

/// Whether the programs above would show it if some flow were not tracked.
#[test]
fn flow_that_is_overlooked_is_noticed() {
    for blind in [Blind::ToControl, Blind::ToOtherSide, Blind::ToMemory] {
        let mut noticed = None;
        for_each_program(&FLOWS, 400, |seed, program, _| {
            let Some(compared) = compared(program, seed, blind) else { return Go::On };
            if compared.missed.is_none() {
                return Go::On;
            }
            noticed = Some(seed);
            Go::Stop
        });
        eprintln!("{blind:?} is noticed by program {noticed:?}");
        assert!(noticed.is_some(), "{blind:?} went unnoticed");
    }
}
