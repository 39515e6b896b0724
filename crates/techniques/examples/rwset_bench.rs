//! What `rwset` saves and what it costs, on the programs named on the command line.
//!
//! Effect: branches of the program's own code that plain exploration covers, the tests it needed until the last new one,
//! and the tests exploration with `rwset` needed until it had as many. Cost: processor time of exploring with `rwset`
//! computing everything and pruning nothing, against plain, the smallest of several runs each. Of files named with `cost:`
//! before them only that is measured.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use explore::{Covers, Event, Events, Interest, LineUp, Options, Program, Progress, Search, Sink, Technique, TestId};
use techniques::rwset::{Config, Effort, Hits, Rwset};
use vm::{EdgeId, State};
use witness::Witness;

const N_RUNS: usize = 3;

/// Edges of the program's own code that some path has taken.
#[derive(Clone)]
struct Edges {
    module: Arc<ir::Module>,
    taken: Rc<RefCell<BTreeSet<EdgeId>>>,
}

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
        if let Event::Block { func, edge, .. } = event
            && !self.module.function(*func).is_runtime
        {
            self.taken.borrow_mut().insert(*edge);
        }
    }
}

/// Counts tests, and notes those that cover something new with the edges taken by then.
#[derive(Default)]
struct Counts {
    n_tests: u64,
    taken: Rc<RefCell<BTreeSet<EdgeId>>>,
    new: Vec<(u64, usize)>,
}

impl Counts {
    /// Tests until so many edges were covered.
    fn n_needed(&self, n_edges: usize) -> u64 {
        let last = self.new.last().copied().unwrap_or_default();
        match last.1 > n_edges {
            true => self.new.iter().find(|(_, taken)| *taken >= n_edges).map_or(0, |(n_tests, _)| *n_tests),
            false => last.0,
        }
    }
}

impl Sink for Counts {
    fn path_ended(&mut self, _: &Witness, covers: Covers) -> TestId {
        self.n_tests += 1;
        if covers == Covers::New {
            self.new.push((self.n_tests, self.taken.borrow().len()));
        }
        TestId(self.n_tests)
    }

    fn progress(&mut self, _: &Progress) {}
}

struct Run {
    counts: Counts,
    seconds: f64,
    is_complete: bool,
}

/// Of this process.
fn processor_seconds() -> f64 {
    // The kernel adds up what a thread has used when it gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn run(program: &Program, rwset: Option<Hits>, limit: Duration, edges: Option<Edges>) -> Run {
    let mut line_up = LineUp { techniques: Vec::new(), drivers: Vec::new() };
    let mut counts = Counts::default();
    if let Some(edges) = edges {
        counts.taken = edges.taken.clone();
        line_up.techniques.push(Box::new(edges));
    }
    if let Some(hits) = rwset {
        line_up.techniques.push(Box::new(Rwset::new(Config { hits, effort: effort(), ..Config::default() })));
    }
    let mut options = Options { search: Search::Dfs, workers: 1, compile: true, ..Options::default() };
    options.budgets.time = Some(limit);
    let before = processor_seconds();
    let outcome = explore::explore(program, &options, line_up, &mut counts).expect("the engine does not fail");
    Run { counts, seconds: processor_seconds() - before, is_complete: outcome.is_complete() }
}

/// `RWSET_EFFORT` as `--rwset-effort` has it.
fn effort() -> Effort {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let mut effort = Effort::default();
    if let Some(percent) = number("RWSET_EFFORT") {
        effort.percent = Some(percent).filter(|percent| *percent > 0);
    }
    effort.at_least = number("RWSET_AT_LEAST").unwrap_or(effort.at_least);
    effort
}

fn load(path: &Path, include: &Path) -> Program {
    let mut sources = frontend::Sources::new(vec![path.to_path_buf()]);
    sources.include_dirs = vec![include.to_path_buf()];
    let loaded = frontend::load(&sources).expect("the program compiles");
    Program { module: Arc::new(loaded.module), entry: loaded.entry, constructors: loaded.constructors }
}

fn measure(name: &str, program: &Program, limit: Duration) {
    let effect = |rwset: Option<Hits>| {
        let edges = Edges { module: program.module.clone(), taken: Rc::default() };
        run(program, rwset, limit, Some(edges))
    };
    let (plain, pruned) = (effect(None), effect(Some(Hits::Prune)));
    let least = |rwset: Option<Hits>| {
        let times = (0..N_RUNS).map(|_| run(program, rwset, limit, None).seconds);
        times.fold(f64::MAX, f64::min)
    };
    let (alone, counting, pruning) = (least(None), least(Some(Hits::Count)), least(Some(Hits::Prune)));
    let paths = |run: &Run| format!("{}{}", run.counts.n_tests, if run.is_complete { "" } else { "+" });
    let n_edges = |run: &Run| run.counts.taken.borrow().len();
    let n_needed = plain.counts.n_needed(n_edges(&plain));
    let n_pruned = pruned.counts.n_needed(n_edges(&plain));
    let share = match n_edges(&pruned) < n_edges(&plain) {
        true => "-".to_string(),
        false => format!("{:.1}%", 100.0 * n_pruned as f64 / n_needed.max(1) as f64),
    };
    // A run that was cut did as much as fitted into its time, which says nothing about what it costs.
    let cost = match plain.is_complete {
        true => format!("{:+.1}%", 100.0 * (counting / alone - 1.0)),
        false => "-".to_string(),
    };
    println!(
        "{name:12} {:>8} {:>11} {n_needed:>6} {:>8} {:>11} {n_pruned:>6} {share:>7} {alone:>8.3} {pruning:>8.3} {counting:>8.3} {cost:>7}",
        n_edges(&plain),
        paths(&plain),
        n_edges(&pruned),
        paths(&pruned),
    );
}

/// What computing everything and pruning nothing costs, for programs of which that is all there is to say.
fn measure_cost(name: &str, program: &Program, limit: Duration) {
    let (mut alone, mut counting) = (f64::MAX, f64::MAX);
    // In turn, so that both have the same luck.
    for _ in 0..N_RUNS {
        let plain = run(program, None, limit, None);
        if !plain.is_complete {
            return println!("{name:14} is not complete in {} s", limit.as_secs());
        }
        alone = alone.min(plain.seconds);
        counting = counting.min(run(program, Some(Hits::Count), 2 * limit, None).seconds);
    }
    let (more, share) = (1e3 * (counting - alone), 100.0 * (counting / alone - 1.0));
    println!("{name:14} {:>9.1} {:>9.1} {more:>+9.1} {share:>+7.1}%", 1e3 * alone, 1e3 * counting);
}

fn main() {
    let mut args = std::env::args().skip(1);
    let seconds: u64 =
        args.next().and_then(|text| text.parse().ok()).expect("usage: rwset_bench SECONDS INCLUDE_DIR FILE...");
    let include = PathBuf::from(args.next().expect("the folder with colt.h"));
    let limit = Duration::from_secs(seconds);
    let (costs, effects): (Vec<String>, Vec<String>) = args.partition(|file| file.starts_with(ONLY_COST));
    if !effects.is_empty() {
        print_head();
    }
    for file in effects.iter().map(PathBuf::from) {
        measure(&name_of(&file), &load(&file, &include), limit);
    }
    if !costs.is_empty() {
        println!("{:14} {:>9} {:>9} {:>9} {:>8}", "program", "plain ms", "count ms", "more ms", "cost");
    }
    for file in costs.iter().map(|file| PathBuf::from(&file[ONLY_COST.len()..])) {
        measure_cost(&name_of(&file), &load(&file, &include), limit);
    }
}

/// Before a file's name: only what it costs is measured.
const ONLY_COST: &str = "cost:";

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn print_head() {
    println!(
        "{:12} {:>8} {:>11} {:>6} {:>8} {:>11} {:>6} {:>7} {:>8} {:>8} {:>8} {:>7}",
        "program",
        "branches",
        "plain tests",
        "needed",
        "branches",
        "rwset tests",
        "needed",
        "of",
        "plain s",
        "rwset s",
        "count s",
        "cost"
    );
}
