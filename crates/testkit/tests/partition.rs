//! `partition` through the command line: it reaches what plain exploration reaches on every fixture, says what it did, and is
//! honest when it was stopped.
//!
//! `PARTITION_FIXTURES` says how many fixtures are compared (8, spread over all); `all` for all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testkit::annotation::{Fixture, LineUp};
use testkit::command::{Finished, find_colt, run_limited};
use testkit::outcome::Outcome;
use testkit::runner::{explore_measured, plain_fixtures, short_name};

const USUAL_COUNT: usize = 8;
/// For one exploration, plain and with partition. What plain exploration does not finish in its time is left out.
const PLAIN_LIMIT_S: &str = "5";
const LIMIT_S: &str = "20";
const COMMAND_LIMIT: Duration = Duration::from_secs(120);

#[test]
fn it_reaches_on_fixtures_what_plain_exploration_reaches() {
    let fixtures = plain_fixtures();
    let count = match std::env::var("PARTITION_FIXTURES").ok().as_deref() {
        Some("all") => fixtures.len(),
        Some(count) => count.parse().expect("PARTITION_FIXTURES is a number or `all`"),
        None => USUAL_COUNT,
    };
    let colt = find_colt().unwrap_or_else(|why| panic!("{why}"));
    let (mut n_tried, mut n_compared) = (0, 0);
    let (mut complaints, mut cut) = (Vec::new(), Vec::new());
    for fixture in fixtures.iter().step_by(fixtures.len().div_ceil(count.max(1)).max(1)) {
        let path = &fixture.path;
        n_tried += 1;
        let plain = outcome(&colt, fixture, PLAIN_LIMIT_S, &[]);
        if plain.verdict != "complete" {
            continue;
        }
        let found = outcome(&colt, fixture, LIMIT_S, &["--with", "partition"]);
        if found.verdict != "complete" {
            eprintln!("{} is {} under partition", short_name(path), found.verdict);
            cut.push(short_name(path));
            continue;
        }
        n_compared += 1;
        let text = fs::read_to_string(path).unwrap_or_default();
        if let Some(what) = missing(&plain, &found, &text) {
            eprintln!("{} lacks {what}", short_name(path));
            complaints.push(format!("{}: {what}", short_name(path)));
        }
    }
    let n_plain = n_compared + cut.len();
    eprintln!(
        "{n_tried} fixtures, {n_plain} complete by plain exploration, {n_compared} compared; not complete: {cut:?}"
    );
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_compared * 10 >= n_plain * 9, "only {n_compared} of {n_plain} fixtures are complete under partition");
    assert!(n_plain * 2 >= n_tried, "only {n_plain} of {n_tried} fixtures are complete by plain exploration");
}

fn outcome(colt: &Path, fixture: &Fixture, limit_s: &str, more: &[&str]) -> Outcome {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let has_own_limit = fixture.flags.iter().any(|flag| flag.starts_with("--max-"));
    let limit: &[&str] = if has_own_limit { &[] } else { &["--max-time", limit_s] };
    let found = explore_measured(colt, fixture, &LineUp::plain(), scratch.path(), &[limit, more].concat());
    found.unwrap_or_else(|why| panic!("{} with {more:?}: {why}", fixture.path.display()))
}

/// What plain exploration shows and partition does not.
fn missing(plain: &Outcome, found: &Outcome, text: &str) -> Option<String> {
    let findings = |outcome: &Outcome| -> BTreeSet<(String, String, u64)> {
        outcome.findings.iter().map(|finding| (finding.kind.clone(), finding.file.clone(), finding.line)).collect()
    };
    let lost: Vec<_> = findings(plain).difference(&findings(found)).cloned().collect();
    if !lost.is_empty() {
        return Some(format!("findings {lost:?}"));
    }
    // llvm-cov derives most counts by subtraction, which a longjmp or a crash in between makes meaningless.
    let is_measurable = !text.contains("longjmp") && plain.findings.is_empty();
    if !is_measurable {
        return None;
    }
    let lines = |outcome: &Outcome| -> BTreeSet<u64> {
        outcome.coverage.lines.iter().filter(|(_, count)| **count > 0).map(|(line, _)| *line).collect()
    };
    let sides = |outcome: &Outcome| -> BTreeSet<(usize, u64, bool)> {
        let sides = |(idx, branch): (usize, &testkit::outcome::BranchCount)| {
            [(idx, branch.line, true, branch.n_true), (idx, branch.line, false, branch.n_false)]
        };
        let all = outcome.coverage.branches.iter().enumerate().flat_map(sides);
        all.filter(|side| side.3 > 0).map(|(idx, line, side, _)| (idx, line, side)).collect()
    };
    let lost: Vec<u64> = lines(plain).difference(&lines(found)).copied().collect();
    let lost_sides: Vec<_> = sides(plain).difference(&sides(found)).copied().collect();
    (!lost.is_empty() || !lost_sides.is_empty()).then(|| format!("lines {lost:?}, sides of branches {lost_sides:?}"))
}

const FIELDS: &str = "
#include <colt.h>
int main(void) {
    unsigned char a, b, c, d;
    colt_input(&a, 1, \"a\");
    colt_input(&b, 1, \"b\");
    colt_input(&c, 1, \"c\");
    colt_input(&d, 1, \"d\");
    if (a == 1 && b == 2)
        a = 3;
    if (c == 4)
        c = 5;
    colt_assert(d != 9);
    return 0;
}
";

struct Campaign {
    _folder: tempfile::TempDir,
    program: PathBuf,
    out: PathBuf,
}

impl Campaign {
    fn new(text: &str) -> Campaign {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join("program.c");
        fs::write(&program, text).expect("writing");
        let out = folder.path().join("out");
        Campaign { _folder: folder, program, out }
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.program.with_file_name(name);
        fs::write(&path, text).expect("writing");
        path.display().to_string()
    }

    fn run(&self, flags: &[&str]) -> Finished {
        let mut command = Command::new(find_colt().unwrap_or_else(|why| panic!("{why}")));
        command.arg("run").arg(&self.program).arg("--out").arg(&self.out);
        command.args(["--with", "partition", "--no-replay", "--tests", "files"]).args(flags);
        run_limited(&mut command, COMMAND_LIMIT).expect("colt runs")
    }

    fn resume(&self, flags: &[&str]) -> Finished {
        let mut command = Command::new(find_colt().unwrap_or_else(|why| panic!("{why}")));
        command.arg("resume").arg(&self.out).args(flags);
        run_limited(&mut command, COMMAND_LIMIT).expect("colt runs")
    }

    fn summary(&self) -> Value {
        let text = fs::read_to_string(self.out.join("summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("JSON")
    }

    fn n_tests(&self) -> u64 {
        fs::read_dir(self.out.join("tests")).expect("tests").count() as u64
    }
}

fn names(part: &Value) -> Vec<&str> {
    part.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn parts(summary: &Value) -> Vec<Vec<&str>> {
    summary["partition"]["parts"].as_array().into_iter().flatten().map(names).collect()
}

#[test]
fn the_summary_has_parts_and_merges() {
    let campaign = Campaign::new(FIELDS);
    let finished = campaign.run(&[]);
    assert_eq!(finished.status, Some(10), "said:\n{}", finished.output());
    let summary = campaign.summary();
    assert_eq!(summary["verdict"], "complete");
    assert_eq!(parts(&summary), [vec!["a", "b"], vec!["c"], vec!["d"]]);
    let merges = &summary["partition"]["merges"];
    assert_eq!(merges.as_array().map(Vec::len), Some(1), "{merges}");
    assert_eq!((&merges[0]["a"], &merges[0]["b"], &merges[0]["line"]), (&"a".into(), &"b".into(), &9.into()));
    assert!(finished.output().contains("a and b meet (branch)"), "said:\n{}", finished.output());
}

#[test]
fn a_partition_by_hand_is_started_from() {
    let campaign = Campaign::new(FIELDS);
    let start = campaign.write("start", "c, d   # together\n");
    let finished = campaign.run(&["--partition-start", &start]);
    assert_eq!(finished.status, Some(10), "said:\n{}", finished.output());
    let summary = campaign.summary();
    assert_eq!(parts(&summary), [vec!["a", "b"], vec!["c", "d"]]);
    assert!(summary["partition"].get("unknown_names").is_none());
}

#[test]
fn a_partition_is_only_checked_when_asked() {
    let campaign = Campaign::new(FIELDS);
    let start = campaign.write("start", "[[\"a\", \"c\"], [\"b\"], [\"e\"]]");
    let finished = campaign.run(&["--partition-start", &start, "--partition-check"]);
    let summary = campaign.summary();
    assert_eq!(parts(&summary), [vec!["a", "c"], vec!["b"], vec!["d"]], "said:\n{}", finished.output());
    assert_eq!(summary["partition"]["merges"].as_array().map(Vec::len), Some(0));
    let met = summary["partition"]["interferences"].as_array().expect("interferences");
    let branch = met.iter().find(|one| one["why"] == "branch").expect("a branch");
    assert_eq!((&branch["a"], &branch["b"], &branch["line"]), (&"a".into(), &"b".into(), &9.into()));
    assert!(
        met.iter().all(|one| [&one["a"], &one["b"]].iter().all(|name| ["a", "b"].iter().any(|known| name == known)))
    );
    assert_eq!(names(&summary["partition"]["unknown_names"]), ["e"]);
}

const COPIED: &str = "
#include <colt.h>
struct p { unsigned char a, b, c; };
int main(void) {
    struct p p, q;
    colt_input(&p, sizeof p, \"p\");
    q = p;
    if (q.a == q.b)
        q.a = 0;
    if (q.c == 3)
        q.c = 1;
    return 0;
}
";

/// Neither being one input nor being copied together makes fields interfere.
#[test]
fn fields_of_one_structure_do_not_interfere() {
    let campaign = Campaign::new(COPIED);
    let finished = campaign.run(&["--partition-check"]);
    let summary = campaign.summary();
    assert_eq!(parts(&summary), [vec!["p.a"], vec!["p.b"], vec!["p.c"]], "said:\n{}", finished.output());
    let met = summary["partition"]["interferences"].as_array().expect("interferences");
    let told: Vec<_> = met.iter().map(|one| (one["a"].as_str(), one["b"].as_str(), one["line"].as_u64())).collect();
    assert_eq!(told, [(Some("p.a"), Some("p.b"), Some(8))]);
    assert!(finished.output().contains("p.a and p.b meet (branch)"), "said:\n{}", finished.output());
}

#[test]
fn a_bad_partition_is_refused_clearly() {
    for (text, complaint) in
        [("a b\nb c\n", "`b` is in two parts"), ("[[1]]", "not a list of lists of names"), ("[", "not a list")]
    {
        let campaign = Campaign::new(FIELDS);
        let start = campaign.write("start", text);
        let finished = campaign.run(&["--partition-start", &start]);
        assert_eq!(finished.status, Some(2), "said:\n{}", finished.output());
        assert!(finished.output().contains(complaint), "said:\n{}", finished.output());
        assert!(!campaign.out.exists(), "nothing was explored");
    }
    let campaign = Campaign::new(FIELDS);
    let finished = campaign.run(&["--partition-start", "/nowhere/start"]);
    assert_eq!(finished.status, Some(2), "said:\n{}", finished.output());
    assert!(finished.output().contains("/nowhere/start"), "said:\n{}", finished.output());
}

/// Whichever budget ends it, and wherever between two runs it does, the verdict says so, and going on brings it to an end.
#[test]
fn what_was_cut_is_incomplete_and_can_be_resumed() {
    let whole = Campaign::new(FIELDS);
    whole.run(&[]);
    let n_paths = whole.summary()["paths"]["total"].as_u64().expect("a number");
    for limit in 1..n_paths {
        let campaign = Campaign::new(FIELDS);
        let finished = campaign.run(&["--max-paths", &limit.to_string()]);
        assert!(matches!(finished.status, Some(5 | 10)), "said:\n{}", finished.output());
        let cut = campaign.summary();
        assert_eq!(cut["verdict"], "incomplete", "after {limit} of {n_paths} paths");
        assert_eq!(cut["tests"].as_u64(), Some(campaign.n_tests()));
        let resumed = campaign.resume(&[]);
        assert_eq!(resumed.status, Some(10), "said:\n{}", resumed.output());
        let summary = campaign.summary();
        assert_eq!(summary["verdict"], "complete", "resumed after {limit} paths");
        assert_eq!(summary["paths"]["total"].as_u64(), Some(n_paths));
        assert_eq!(summary["tests"].as_u64(), Some(n_paths));
        assert_eq!(campaign.n_tests(), n_paths);
    }
    for budget in [["--max-depth", "0"], ["--max-steps", "10"]] {
        let campaign = Campaign::new(FIELDS);
        let finished = campaign.run(&budget);
        assert_eq!(campaign.summary()["verdict"], "incomplete", "{budget:?} said:\n{}", finished.output());
    }
}
