//! Questions recorded from campaigns, asked again: what the stack answered then and what it answers now must be what the bare
//! solver says.
//!
//! `QUERIES` says how many (1,000); fewer are asked where twenty seconds do not suffice, unless it is set.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use solver::{Answer, Config, Reply, SmtSolver, Stack, Verdict, backend, read_record};
use term::{Eval, TermId, Terms};
use testkit::command::{find_colt, project_root, run_limited};
use testkit::runner::find_fixtures;

const USUAL_COUNT: usize = 1000;
const USUAL_LIMIT: Duration = Duration::from_secs(20);
const LONG_LIMIT: Duration = Duration::from_secs(80);
/// For one question to the bare solver; what it does not answer by then is left out.
const BARE_TIMEOUT: Duration = Duration::from_secs(3);

#[test]
fn recorded_questions_have_the_same_answers_from_the_bare_solver() {
    let wanted = std::env::var("QUERIES").ok().and_then(|count| count.parse::<usize>().ok());
    let (count, limit) = (wanted.unwrap_or(USUAL_COUNT), wanted.map_or(Some(USUAL_LIMIT), |_| None));
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let records = record(scratch.path(), count);
    let mut tally = compare_all(&records, count, limit);
    // On a machine with much else to do, fewer fit.
    if limit.is_some() && !tally.is_enough() {
        tally = compare_all(&records, count, Some(LONG_LIMIT));
    }
    assert!(tally.is_enough(), "too few to mean anything: {tally:?}");
    assert!(tally.n_open * 20 < tally.n_asked, "too many left open: {tally:?}");
}

/// As many questions as fit into the time.
fn compare_all(records: &[String], count: usize, limit: Option<Duration>) -> Tally {
    let mut tally = Tally::default();
    let started = Instant::now();
    // Every record has its share; what a small one leaves goes to those after it.
    for (idx, text) in records.iter().enumerate() {
        let share = (count.saturating_sub(tally.n_asked)).div_ceil(records.len() - idx);
        let deadline = limit.map(|limit| started + limit.mul_f64((idx + 1) as f64 / records.len() as f64));
        compare(text, share, deadline, &mut tally);
    }
    println!("{tally:?} in {:.1} s", started.elapsed().as_secs_f64());
    tally
}

#[derive(Debug, Default)]
struct Tally {
    n_asked: usize,
    n_sat: usize,
    n_unsat: usize,
    /// The bare solver or the stack did not know.
    n_open: usize,
}

impl Tally {
    fn is_enough(&self) -> bool {
        self.n_sat > 100 && self.n_unsat > 100
    }
}

/// Runs programs that ask much, and where more is wanted all fixtures, with a record each; the smallest first.
fn record(scratch: &Path, count: usize) -> Vec<String> {
    let root = project_root();
    let names =
        ["calculator", "regexp", "bubble_6", "sorted_list", "search_tree", "binary_search", "strcmp_twice", "crc32"];
    let mut programs: Vec<PathBuf> =
        names.iter().map(|name| root.join("bench").join(name).with_extension("c")).collect();
    let mut groups = vec!["arrays", "pointers"];
    if count > USUAL_COUNT {
        groups.extend(["ints", "structs", "unions", "bitfields", "memory", "paths"]);
    }
    for group in groups {
        programs.extend(find_fixtures(&root.join("fixtures").join(group)).expect("fixtures are there"));
    }
    let mut records: Vec<String> =
        programs.iter().enumerate().filter_map(|(idx, program)| record_one(scratch, idx, program)).collect();
    records.sort_by_key(String::len);
    records
}

/// `None` where the program asks nothing.
fn record_one(scratch: &Path, idx: usize, program: &Path) -> Option<String> {
    let file = scratch.join(format!("{idx}.queries"));
    let mut command = Command::new(find_colt().unwrap_or_else(|why| panic!("{why}")));
    command.arg("run").arg(program).arg("--out").arg(scratch.join(idx.to_string())).arg("--solver-record").arg(&file);
    command.args(["--workers", "1", "--no-replay", "--quiet", "--max-paths", "400", "--max-time", "5"]);
    let source = std::fs::read_to_string(program).expect("a program can be read");
    if let Some(entry) = source.lines().find_map(|line| line.strip_prefix("//@ entry: ")) {
        command.args(["--entry", entry.trim()]);
    }
    run_limited(&mut command, Duration::from_secs(120)).unwrap_or_else(|failure| panic!("colt: {failure}"));
    std::fs::read_to_string(&file).ok().filter(|text| text.contains("ask "))
}

/// Compares up to `count` questions, evenly spread over the record.
fn compare(text: &str, count: usize, deadline: Option<Instant>, tally: &mut Tally) {
    let mut terms = Terms::new();
    let recorded = read_record(&mut terms, text).unwrap_or_else(|why| panic!("{why}"));
    let n_taken = count.min(recorded.len());
    let mut stack = Stack::new(Config::default());
    let mut bare = backend(SmtSolver::Z3, &Default::default()).expect("z3 has a backend");
    let mut eval = Eval::new();
    for query in (0..n_taken).map(|nth| &recorded[nth * recorded.len() / n_taken]) {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return;
        }
        let mut all: Vec<TermId> = query.path.clone();
        assert!(all.iter().all(|&t| eval.holds(&terms, &query.current, t)), "the recorded input takes its path");
        all.push(query.question);
        let path = query.path_condition(&mut terms);
        let now = stack.check(&mut terms, &path, &query.current, query.question);
        if let Answer::Sat(input) = &now {
            assert!(all.iter().all(|&t| eval.holds(&terms, input, t)), "a model satisfies path and question");
        }
        tally.n_asked += 1;
        let now = match now {
            Answer::Sat(_) => Verdict::Sat,
            Answer::Unsat => Verdict::Unsat,
            Answer::Unknown(_) => Verdict::Unknown,
        };
        let said = match bare.check(&terms, &all, BARE_TIMEOUT) {
            Reply::Sat(_) => Verdict::Sat,
            Reply::Unsat => Verdict::Unsat,
            Reply::Unknown(_) => Verdict::Unknown,
        };
        let known: Vec<Verdict> =
            [query.verdict, now, said].into_iter().filter(|verdict| *verdict != Verdict::Unknown).collect();
        assert!(
            known.windows(2).all(|pair| pair[0] == pair[1]),
            "recorded {:?}, now {now:?}, z3 {said:?}",
            query.verdict
        );
        match said {
            Verdict::Sat => tally.n_sat += 1,
            Verdict::Unsat => tally.n_unsat += 1,
            Verdict::Unknown => tally.n_open += 1,
        }
    }
}
