//! Soundness of `rwset`: on generated programs it covers the edges and makes the findings that plain exploration does.
//!
//! `RWSET_COUNT` (default 1000) programs from seed `RWSET_SEED` (default 1) on, in all search orders, with one worker and
//! with several, and with more and less effort allowed. A program counts when plain exploration of it is complete. A read
//! set with one byte left out must be noticed.

mod programs;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use explore::{
    Covers, Event, Events, Interest, LineUp, Maker, Options, Program, Progress, Search, Sink, Technique, TestId,
};
use techniques::rwset::{Config, Effort, Rwset, Sabotage};
use vm::{EdgeId, State};
use witness::Witness;

const PROGRAMS_PER_FILE: u64 = 50;
const MAX_PLAIN_PATHS: u64 = 1_500;

struct NoTests;

impl Sink for NoTests {
    fn path_ended(&mut self, _: &Witness, _: Covers) -> TestId {
        TestId(1)
    }

    fn progress(&mut self, _: &Progress) {}
}

/// Notes every edge anybody takes.
#[derive(Clone, Default)]
struct Edges(Arc<Mutex<BTreeSet<EdgeId>>>);

impl Technique for Edges {
    fn name(&self) -> &'static str {
        "edges"
    }

    fn for_workers(&self) -> Option<Maker> {
        let edges = self.clone();
        Some(Arc::new(move || Box::new(edges.clone())))
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
        if let Event::Block { edge, .. } = event {
            self.0.lock().expect("nobody panics here").insert(*edge);
        }
    }
}

#[derive(PartialEq, Eq, Debug)]
struct Seen {
    edges: BTreeSet<EdgeId>,
    findings: BTreeSet<String>,
}

struct Explored {
    seen: Seen,
    n_paths: u64,
    is_complete: bool,
}

fn explore(program: &Program, search: Search, workers: usize, rwset: Option<Config>) -> Explored {
    let edges = Edges::default();
    let mut line_up = LineUp { techniques: vec![Box::new(edges.clone())], drivers: Vec::new() };
    if let Some(config) = rwset {
        line_up.techniques.push(Box::new(Rwset::new(config)));
    }
    let mut options = Options { search, workers, ..Options::default() };
    options.budgets.paths = Some(MAX_PLAIN_PATHS);
    options.budgets.time = Some(Duration::from_secs(10));
    let outcome = explore::explore(program, &options, line_up, &mut NoTests).expect("the engine does not fail");
    let findings = outcome.findings.iter().map(|finding| {
        let bug = &finding.bug;
        format!("{:?} {}:{}", bug.kind, bug.place.file, bug.place.line)
    });
    let seen = Seen { edges: edges.0.lock().expect("nobody panics here").clone(), findings: findings.collect() };
    Explored { seen, n_paths: outcome.counts.total, is_complete: outcome.is_complete() }
}

/// Calls `check` with each program until it says to stop.
fn for_each_program(seed: u64, count: u64, mut check: impl FnMut(u64, &Program, &str) -> Go) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut first = seed;
    while first < seed + count {
        let seeds = first..(first + PROGRAMS_PER_FILE).min(seed + count);
        first = seeds.end;
        let texts: Vec<String> = seeds.clone().map(|seed| programs::program(seed, &format!("p{seed}"))).collect();
        let path = dir.path().join("programs.c");
        let mut file = std::fs::File::create(&path).expect("a file");
        writeln!(file, "{}{}\nint main(void) {{ return 0; }}", programs::HEADER, texts.concat()).expect("writing");
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

#[derive(PartialEq, Eq)]
enum Go {
    On,
    Stop,
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn search_of(seed: u64) -> Search {
    [Search::Dfs, Search::Coverage, Search::Bfs, Search::Random][(seed % 4) as usize]
}

/// Every third program is explored with all the effort there is, every third with hardly any, so that paths are given up
/// and taken up again.
fn effort_of(seed: u64) -> Effort {
    match seed / 4 % 3 {
        0 => Effort { percent: None, at_least: 0 },
        1 => Effort::default(),
        _ => Effort { percent: Some(20), at_least: 20_000 },
    }
}

#[test]
fn it_shows_what_plain_exploration_shows() {
    let (mut n_counted, mut n_plain, mut n_paths) = (0, 0, 0);
    for_each_program(number("RWSET_SEED", 1), number("RWSET_COUNT", 1_000), |seed, program, text| {
        let plain = explore(program, Search::Dfs, 1, None);
        if !plain.is_complete {
            return Go::On;
        }
        let config = Config { effort: effort_of(seed), ..Config::default() };
        let workers = if seed % 5 == 0 { 3 } else { 1 };
        let found = explore(program, search_of(seed), workers, Some(config));
        assert!(found.is_complete, "seed {seed}: incomplete\n{text}");
        assert_eq!(found.seen, plain.seen, "seed {seed}\n{text}");
        n_counted += 1;
        n_plain += plain.n_paths;
        n_paths += found.n_paths;
        Go::On
    });
    eprintln!("{n_counted} programs, {n_plain} paths plain, {n_paths} with rwset");
    assert!(n_paths < n_plain, "nothing was pruned");
}

#[test]
fn a_byte_left_out_of_a_read_set_is_noticed() {
    let config = Config { sabotage: Sabotage::DropByte, ..Config::default() };
    let mut noticed = None;
    for_each_program(number("RWSET_SEED", 1), number("RWSET_COUNT", 1_000), |seed, program, _| {
        let plain = explore(program, Search::Dfs, 1, None);
        if plain.is_complete && explore(program, search_of(seed), 1, Some(config)).seen != plain.seen {
            noticed = Some(seed);
            return Go::Stop;
        }
        Go::On
    });
    assert!(noticed.is_some(), "a wrong read set went unnoticed");
}
