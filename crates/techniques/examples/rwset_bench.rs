//! What `rwset` saves and what it costs, on the programs named on the command line.
//!
//! Effect: edges of the program's own code that plain exploration covers, the tests it needed until the last new one, and
//! the tests exploration with `rwset` needed until it had as many. Cost: time of exploring with `rwset` computing
//! everything and pruning nothing, against plain, the smallest of several runs each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use explore::{Covers, LineUp, Options, Plain, Program, Progress, Search, Sink, TestId};
use techniques::rwset::{Config, Hits, Rwset};
use witness::Witness;

const N_RUNS: usize = 3;

/// Counts tests until the last that covers something new.
#[derive(Default)]
struct Counts {
    n_tests: u64,
    n_needed: u64,
    n_new: u64,
    edges: u64,
}

impl Sink for Counts {
    fn path_ended(&mut self, _: &Witness, covers: Covers) -> TestId {
        self.n_tests += 1;
        if covers == Covers::New {
            self.n_needed = self.n_tests;
            self.n_new += 1;
        }
        TestId(self.n_tests)
    }

    fn progress(&mut self, progress: &Progress) {
        self.edges = self.edges.max(progress.edges_covered);
    }
}

struct Run {
    counts: Counts,
    seconds: f64,
    is_complete: bool,
}

fn run(program: &Program, rwset: Option<Hits>, limit: Duration) -> Run {
    let mut line_up = LineUp { techniques: Vec::new(), driver: Box::new(Plain::default()) };
    if let Some(hits) = rwset {
        line_up.techniques.push(Box::new(Rwset::new(Config { hits, ..Config::default() })));
    }
    let mut options = Options { search: Search::Dfs, workers: 1, ..Options::default() };
    options.budgets.time = Some(limit);
    let mut counts = Counts::default();
    let outcome = explore::explore(program, &options, line_up, &mut counts).expect("the engine does not fail");
    Run { counts, seconds: outcome.elapsed.as_secs_f64(), is_complete: outcome.is_complete() }
}

fn load(path: &Path, include: &Path) -> Program {
    let mut sources = frontend::Sources::new(vec![path.to_path_buf()]);
    sources.include_dirs = vec![include.to_path_buf()];
    let loaded = frontend::load(&sources).expect("the program compiles");
    Program { module: Arc::new(loaded.module), entry: loaded.entry, constructors: loaded.constructors }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let seconds: u64 = args.next().and_then(|text| text.parse().ok()).expect("usage: rwset_bench SECONDS INCLUDE_DIR FILE...");
    let include = PathBuf::from(args.next().expect("the folder with colt.h"));
    let limit = Duration::from_secs(seconds);
    println!(
        "{:12} {:>11} {:>6} {:>11} {:>6} {:>7} {:>9} {:>9} {:>7}",
        "program", "plain paths", "needed", "rwset paths", "needed", "of", "plain s", "count s", "cost"
    );
    for file in args.map(PathBuf::from) {
        let program = load(&file, &include);
        let (plain, pruned) = (run(&program, None, limit), run(&program, Some(Hits::Prune), limit));
        let least = |rwset: Option<Hits>| (0..N_RUNS).map(|_| run(&program, rwset, limit).seconds).fold(f64::MAX, f64::min);
        let (alone, counted) = (least(None), least(Some(Hits::Count)));
        let star = |run: &Run| if run.is_complete { "" } else { "+" };
        println!(
            "{:12} {:>11} {:>6} {:>11} {:>6} {:>6.1}% {:>9.3} {:>9.3} {:>+6.1}%",
            file.file_stem().unwrap_or_default().to_string_lossy(),
            format!("{}{}", plain.counts.n_tests, star(&plain)),
            plain.counts.n_needed,
            format!("{}{}", pruned.counts.n_tests, star(&pruned)),
            pruned.counts.n_needed,
            100.0 * pruned.counts.n_needed as f64 / plain.counts.n_needed.max(1) as f64,
            alone,
            counted,
            100.0 * (counted / alone - 1.0),
        );
    }
}
