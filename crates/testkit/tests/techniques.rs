//! What a technique that prunes may leave out: ways to reach something, never the something. Under `rwset`, and under every pair
//! of techniques that is allowed, a fixture shows the lines, sides of branches and findings that it shows without, as far as
//! each of the two promises it.
//!
//! `TECHNIQUE_FIXTURES` says how many fixtures are tried (4, spread over all); `all` for all of them. Only those count of
//! which plain exploration is complete within a few seconds; how many that were is printed, and so is every other fixture.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use techniques::Together;
use testkit::annotation::{Fixture, LineUp};
use testkit::command::{find_colt, project_root};
use testkit::outcome::Outcome;
use testkit::runner::{explore_measured, explore_only, find_fixtures, short_name};

const USUAL_COUNT: usize = 4;
/// For plain exploration, and for what is compared with it: comparing states takes its time, too.
const PLAIN_LIMIT: [&str; 2] = ["--max-time", "5"];
const LIMIT: [&str; 2] = ["--max-time", "30"];
/// Said of 32-bit programs by techniques that are for others.
const NOT_TAKEN: &str = "needs a target with pointers of 64 bits";
/// More tests take too long to replay.
const MAX_TESTS: u64 = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    lines: BTreeSet<u64>,
    /// Line, the number of the branch on it, and the side.
    sides: BTreeSet<(u64, usize, bool)>,
    findings: BTreeSet<(String, String, u64)>,
}

impl Shown {
    fn of_outcome(outcome: &Outcome) -> Shown {
        let Outcome { coverage, findings, .. } = outcome;
        let lines = coverage.lines.iter().filter(|(_, count)| **count > 0).map(|(line, _)| *line).collect();
        let mut sides = BTreeSet::new();
        for (idx, branch) in coverage.branches.iter().enumerate() {
            sides.extend((branch.n_true > 0).then_some((branch.line, idx, true)));
            sides.extend((branch.n_false > 0).then_some((branch.line, idx, false)));
        }
        let findings = findings.iter().map(|found| (found.kind.clone(), found.file.clone(), found.line)).collect();
        Shown { lines, sides, findings }
    }

    /// Of a program that jumps back, or ends in the middle of its calls, llvm-cov derives wrong counts, which depend on the number
    /// of tests: only findings count.
    fn counted(mut self, fixture: &Fixture) -> Shown {
        let jumps = std::fs::read_to_string(&fixture.path).is_ok_and(|text| text.contains("longjmp"));
        if jumps || self.findings.iter().any(|(kind, _, _)| kind == "stack-overflow") {
            self.lines.clear();
            self.sides.clear();
        }
        self
    }

    /// With some techniques lines and failed assertions are promised, no more.
    fn without_sides(mut self) -> Shown {
        self.sides.clear();
        self.findings.retain(|(kind, _, _)| kind.contains("assert"));
        self
    }

    fn and(mut self, other: &Shown) -> Shown {
        self.lines.retain(|line| other.lines.contains(line));
        self.sides.retain(|side| other.sides.contains(side));
        self.findings.retain(|finding| other.findings.contains(finding));
        self
    }

    fn is_in(&self, other: &Shown) -> bool {
        self.lines.is_subset(&other.lines)
            && self.sides.is_subset(&other.sides)
            && self.findings.is_subset(&other.findings)
    }
}

/// What a technique promises of what plain exploration shows.
fn promised(colt: &Path, fixture: &Fixture, technique: &str, shown: Shown) -> Result<Shown, String> {
    match technique {
        "rwset" => Ok(shown),
        "partition" => Ok(shown.without_sides()),
        // The unit, not what it calls: as much as the technique shows by itself.
        _ => {
            let alone = explored(colt, fixture, technique, &LIMIT)?;
            Ok(shown.without_sides().and(&Shown::of_outcome(&alone).counted(fixture)))
        }
    }
}

fn explored(colt: &Path, fixture: &Fixture, line_up: &str, more: &[&str]) -> Result<Outcome, String> {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    explore_measured(colt, fixture, &LineUp::parse(line_up), scratch.path(), more)
}

/// What plain exploration shows; `Err` says why there is nothing to compare with.
fn shown_by_plain(colt: &Path, fixture: &Fixture) -> Result<Shown, String> {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let quick = explore_only(colt, fixture, scratch.path(), &PLAIN_LIMIT)?;
    if quick.verdict != "complete" || quick.n_tests == 0 || quick.n_tests > MAX_TESTS {
        return Err(format!("{}, {} tests", quick.verdict, quick.n_tests));
    }
    let plain = explored(colt, fixture, "plain", &LIMIT)?;
    match plain.verdict.as_str() {
        "complete" => Ok(Shown::of_outcome(&plain).counted(fixture)),
        verdict => Err(verdict.to_string()),
    }
}

/// What the techniques do not show of it.
fn hidden(colt: &Path, fixture: &Fixture, shown: Shown) -> Vec<String> {
    let mut complaints = Vec::new();
    match explored(colt, fixture, "rwset", &LIMIT) {
        Ok(pruned) if pruned.verdict == "complete" && Shown::of_outcome(&pruned).counted(fixture) == shown => {}
        Ok(pruned) => {
            let (verdict, now) = (&pruned.verdict, Shown::of_outcome(&pruned).counted(fixture));
            complaints.push(format!("under rwset, {verdict}: {shown:?} became {now:?}"));
        }
        Err(why) => complaints.push(format!("under rwset: {why}")),
    }
    for (one, other) in techniques::pairs(techniques::ALL) {
        if techniques::together(techniques::ALL, one, other).0 != Together::Refused
            && let Err(why) = compare_pair(colt, fixture, (one, other), shown.clone())
        {
            complaints.push(format!("under {one} and {other}{why}"));
        }
    }
    complaints
}

fn compare_pair(colt: &Path, fixture: &Fixture, pair: (&str, &str), shown: Shown) -> Result<(), String> {
    let line_up = format!("{}+{}", pair.0, pair.1);
    let mut shown = shown;
    for technique in [pair.0, pair.1] {
        shown = match promised(colt, fixture, technique, shown) {
            Ok(shown) => shown,
            // What one of them does not take, both together do not take.
            Err(why) if why.contains(NOT_TAKEN) => {
                return match explored(colt, fixture, &line_up, &LIMIT) {
                    Err(why) if why.contains(NOT_TAKEN) => Ok(()),
                    _ => Err(format!(": {technique} alone does not take it: {why}")),
                };
            }
            Err(why) => return Err(format!(": {technique} alone: {why}")),
        };
    }
    let both = explored(colt, fixture, &line_up, &LIMIT).map_err(|why| format!(": {why}"))?;
    let now = Shown::of_outcome(&both).counted(fixture);
    if shown.is_in(&now) {
        return Ok(());
    }
    Err(format!(", {}: {shown:?} became {now:?}", both.verdict))
}

#[test]
fn pruning_hides_nothing() {
    let fixtures = find_fixtures(&project_root().join("fixtures")).expect("fixtures are there");
    let count = match std::env::var("TECHNIQUE_FIXTURES").ok().as_deref() {
        Some("all") => fixtures.len(),
        Some(count) => count.parse().expect("TECHNIQUE_FIXTURES is a number or `all`"),
        None => USUAL_COUNT,
    };
    let colt = find_colt().unwrap_or_else(|why| panic!("{why}"));
    let step = fixtures.len().div_ceil(count.max(1)).max(1);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Compared::default()));
    let compare_all = || {
        while let Some(path) = fixtures.get(next.fetch_add(step, Ordering::Relaxed)) {
            let compared = compare(&colt, path);
            found.lock().expect("nobody panics here").add(compared);
        }
    };
    std::thread::scope(|scope| {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..n_threads).for_each(|_| drop(scope.spawn(compare_all)));
    });
    let Compared { n_compared, n_left_out, complaints } = found.into_inner().expect("nobody panics here");
    println!("{n_compared} fixtures compared, {n_left_out} left out");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_compared > 0, "nothing was compared");
}

#[derive(Default)]
struct Compared {
    n_compared: u64,
    n_left_out: u64,
    complaints: Vec<String>,
}

impl Compared {
    fn add(&mut self, other: Compared) {
        self.n_compared += other.n_compared;
        self.n_left_out += other.n_left_out;
        self.complaints.extend(other.complaints);
    }
}

fn compare(colt: &Path, path: &Path) -> Compared {
    let name = short_name(path);
    let fixture = Fixture::read(path).unwrap_or_else(|why| panic!("{name}: {why}"));
    match shown_by_plain(colt, &fixture) {
        Ok(shown) => {
            let complaints = hidden(colt, &fixture, shown).into_iter().map(|why| format!("{name} {why}")).collect();
            let compared = Compared { n_compared: 1, n_left_out: 0, complaints };
            compared.complaints.iter().for_each(|complaint| println!("{complaint}"));
            compared
        }
        Err(why) => {
            println!("{name} is left out: plain exploration: {why}");
            Compared { n_left_out: 1, ..Compared::default() }
        }
    }
}
