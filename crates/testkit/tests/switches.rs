//! Layers of the solver stack left out, other numbers of workers, no native code: nothing but the speed changes. Same
//! paths, same findings.
//!
//! `SWITCH_FIXTURES` says how many fixtures are tried (5, spread over all); `all` for all of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::annotation::Fixture;
use testkit::command::find_colt;
use testkit::outcome::Outcome;
use testkit::runner::{explore_only, plain_fixtures, short_name};

/// What can be left out. `trivial` has no switch: a constant needs no layer.
const LAYERS: &[&str] =
    &["current", "domains", "cache", "recent", "proposals", "bounds", "values", "blaster", "smt", "independence"];
const USUAL_COUNT: usize = 5;
/// For one exploration.
const LIMIT_S: &str = "30";

#[test]
fn switches_change_no_path_and_no_finding() {
    let mut switches: Vec<Vec<&str>> = LAYERS.iter().map(|layer| vec!["--solver-without", layer]).collect();
    switches.extend([vec!["--workers", "2"], vec!["--workers", "4"], vec!["--compile=false"]]);
    let fixtures = plain_fixtures();
    let count = match std::env::var("SWITCH_FIXTURES").ok().as_deref() {
        Some("all") => fixtures.len(),
        Some(count) => count.parse().expect("SWITCH_FIXTURES is a number or `all`"),
        None => USUAL_COUNT,
    };
    let colt = find_colt().unwrap_or_else(|why| panic!("{why}"));
    let chosen: Vec<&Fixture> = fixtures.iter().step_by(fixtures.len().div_ceil(count.max(1)).max(1)).collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Found::default());
    let compare_some = || {
        while let Some(fixture) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = compare(&colt, fixture, &switches);
            // Said at once: all fixtures take long.
            one.complaints.iter().for_each(|complaint| eprintln!("{complaint}"));
            found.lock().expect("no thread panics with it").add(one);
        }
    };
    std::thread::scope(|scope| {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..n_threads).for_each(|_| _ = scope.spawn(compare_some));
    });
    let Found { complaints, too_slow, n_compared } = found.into_inner().expect("no thread panics with it");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_compared >= switches.len() * count.min(5), "only {n_compared} runs compared");
    println!("{n_compared} runs compared; too slow: {too_slow:?}");
    assert!(too_slow.len() * 50 < n_compared, "too many runs are too slow: {too_slow:?}");
}

#[derive(Default)]
struct Found {
    complaints: Vec<String>,
    too_slow: Vec<String>,
    n_compared: usize,
}

impl Found {
    fn add(&mut self, other: Found) {
        self.complaints.extend(other.complaints);
        self.too_slow.extend(other.too_slow);
        self.n_compared += other.n_compared;
    }
}

fn compare(colt: &Path, fixture: &Fixture, switches: &[Vec<&str>]) -> Found {
    let mut found = Found::default();
    let name = short_name(&fixture.path);
    let reference = outcome(colt, fixture, &[]);
    for switch in switches {
        let other = outcome(colt, fixture, switch);
        if is_cut(&other) && !is_cut(&reference) {
            // A layer may be left out at the price of time: that is what it is for.
            found.too_slow.push(format!("{name} with {}", switch.join(" ")));
            continue;
        }
        found.n_compared += 1;
        if let Some(difference) = difference(&reference, &other) {
            found.complaints.push(format!("{name} with {}: {difference}", switch.join(" ")));
        }
    }
    found
}

fn outcome(colt: &Path, fixture: &Fixture, more: &[&str]) -> Outcome {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let has_own_limit = fixture.flags.iter().any(|flag| flag.starts_with("--max-"));
    let limit: &[&str] = if has_own_limit { &[] } else { &["--max-time", LIMIT_S] };
    let found = explore_only(colt, fixture, scratch.path(), &[limit, more].concat());
    found.unwrap_or_else(|why| panic!("{} with {more:?}: {why}", fixture.path.display()))
}

fn is_cut(outcome: &Outcome) -> bool {
    outcome.endings.get("cut").is_some_and(|count| *count > 0)
}

fn difference(reference: &Outcome, other: &Outcome) -> Option<String> {
    if reference.verdict != other.verdict {
        return Some(format!("{} became {}", reference.verdict, other.verdict));
    }
    let findings = |outcome: &Outcome| -> BTreeSet<(String, String, u64)> {
        outcome.findings.iter().map(|found| (found.kind.clone(), found.file.clone(), found.line)).collect()
    };
    if findings(reference) != findings(other) {
        return Some(format!("{:?} became {:?}", findings(reference), findings(other)));
    }
    // Where precision was given up, which of the possible values was taken depends on the models.
    if reference.verdict != "complete" {
        return None;
    }
    let paths = |outcome: &Outcome| -> BTreeSet<(Vec<u64>, String)> {
        outcome.tests.iter().map(|test| (test.path.clone(), test.ending.clone())).collect()
    };
    let (before, after) = (paths(reference), paths(other));
    if before != after || reference.n_paths != other.n_paths {
        let missing: Vec<_> = before.difference(&after).take(3).collect();
        let new: Vec<_> = after.difference(&before).take(3).collect();
        return Some(format!("{} paths became {}; missing {missing:?}, new {new:?}", reference.n_paths, other.n_paths));
    }
    None
}
