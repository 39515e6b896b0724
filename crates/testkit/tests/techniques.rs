//! What a technique that prunes may leave out: ways to reach something, never the something. Under `rwset`, and under
//! `partition` and `rwset` together, a fixture shows the lines, sides of branches and findings that it shows without.
//!
//! `TECHNIQUE_FIXTURES` says how many fixtures are tried (6, spread over all); `all` for all of them. Only those count of
//! which plain exploration is complete.

use std::collections::BTreeSet;
use std::path::Path;

use testkit::annotation::{Fixture, LineUp};
use testkit::command::{find_colt, project_root};
use testkit::outcome::Outcome;
use testkit::runner::{explore_measured, find_fixtures, short_name};

const USUAL_COUNT: usize = 6;
const LIMIT: [&str; 2] = ["--max-time", "20"];

#[derive(Debug, PartialEq, Eq)]
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

    /// With `partition` lines and failed assertions are promised, no more.
    fn without_sides(mut self) -> Shown {
        self.sides.clear();
        self.findings.retain(|(kind, _, _)| kind.contains("assert"));
        self
    }
}

fn explored(colt: &Path, fixture: &Fixture, line_up: &str) -> Outcome {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let found = explore_measured(colt, fixture, &LineUp::parse(line_up), scratch.path(), &LIMIT);
    found.unwrap_or_else(|why| panic!("{} under {line_up}: {why}", fixture.path.display()))
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
    let (mut complaints, mut n_compared) = (Vec::new(), 0);
    for path in fixtures.iter().step_by(fixtures.len().div_ceil(count.max(1)).max(1)) {
        let fixture = Fixture::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let plain = explored(&colt, &fixture, "plain");
        if plain.verdict != "complete" || plain.n_tests == 0 {
            continue;
        }
        n_compared += 1;
        let (shown, pruned) = (Shown::of_outcome(&plain), explored(&colt, &fixture, "rwset"));
        if pruned.verdict != "complete" || Shown::of_outcome(&pruned) != shown {
            let (verdict, now) = (&pruned.verdict, Shown::of_outcome(&pruned));
            complaints.push(format!("{} under rwset, {verdict}: {shown:?} became {now:?}", short_name(path)));
        }
        let both = explored(&colt, &fixture, "partition+rwset");
        let (shown, now) = (shown.without_sides(), Shown::of_outcome(&both).without_sides());
        if !shown.lines.is_subset(&now.lines) || !shown.findings.is_subset(&now.findings) {
            complaints.push(format!("{} under partition and rwset: {shown:?} became {now:?}", short_name(path)));
        }
    }
    println!("{n_compared} fixtures compared");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_compared > 0, "nothing was compared");
}
