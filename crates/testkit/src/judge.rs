//! Compares what a fixture announces with what the campaign left; every difference is one complaint.

use crate::annotation::{Claim, Fixture, LineClaim, Sides, Verdict};
use crate::outcome::{BranchCount, Outcome, file_name};

/// Empty when everything announced happened and nothing else did.
pub fn judge(fixture: &Fixture, outcome: &Outcome) -> Vec<String> {
    let mut complaints = Vec::new();
    check_figures(fixture, outcome, &mut complaints);
    check_bookkeeping(outcome, &mut complaints);
    check_exit_status(fixture, outcome, &mut complaints);
    for claim in &fixture.claims {
        check_claim(fixture, claim, outcome, &mut complaints);
    }
    check_unannounced(fixture, outcome, &mut complaints);
    check_confirmed(outcome, &mut complaints);
    complaints.extend(outcome.replay_complaint.iter().map(|why| format!("replay disagrees: {why}")));
    complaints
}

fn check_figures(fixture: &Fixture, outcome: &Outcome, complaints: &mut Vec<String>) {
    if outcome.verdict != fixture.verdict.name() {
        let ledger = outcome.ledger.join(", ");
        let wanted = fixture.verdict.name();
        complaints.push(format!("verdict {wanted} expected, got {} (ledger: [{ledger}])", outcome.verdict));
    }
    let mut compare = |what: &str, expected: Option<u64>, actual: u64| {
        if let Some(expected) = expected.filter(|expected| *expected != actual) {
            complaints.push(format!("{what}: {expected} expected, got {actual} {:?}", outcome.endings));
        }
    };
    compare("paths", fixture.n_paths, outcome.n_paths);
    compare("tests", fixture.n_tests, outcome.n_tests);
    for ending in &fixture.endings {
        let actual = outcome.endings.get(&ending.name).copied().unwrap_or(0);
        match ending.count {
            Some(_) => compare(&format!("paths that ended `{}`", ending.name), ending.count, actual),
            None => compare(&format!("some path that ended `{}`", ending.name), Some(1), actual.min(1)),
        }
    }
    for kind in &fixture.ledger {
        if !outcome.ledger.contains(kind) {
            complaints.push(format!("ledger entry `{kind}` is missing from {:?}", outcome.ledger));
        }
    }
    for status in &fixture.statuses {
        if !outcome.tests.iter().any(|test| test.status == Some(*status)) {
            let seen: Vec<_> = outcome.tests.iter().filter_map(|test| test.status).collect();
            complaints.push(format!("no path ends with status {status}; seen: {seen:?}"));
        }
    }
}

/// The parts of the output folder must agree with each other in every campaign.
fn check_bookkeeping(outcome: &Outcome, complaints: &mut Vec<String>) {
    let sum: u64 = outcome.endings.values().sum();
    if sum != outcome.n_paths {
        complaints.push(format!("endings add up to {sum}, paths.total is {}", outcome.n_paths));
    }
    if outcome.tests.len() as u64 != outcome.n_tests {
        complaints.push(format!("{} test files, summary says {}", outcome.tests.len(), outcome.n_tests));
    }
    for found in &outcome.findings {
        let Some(test) = outcome.tests.iter().find(|test| test.name == found.test) else {
            complaints.push(format!("line {} is shown by {}, which is not there", found.line, found.test));
            continue;
        };
        // One path may show a fault at several places; its test tells of the first.
        let is_same = test.bug.as_ref() == Some(&(found.kind.clone(), found.file.clone(), found.line));
        if let Some((_, message)) = test.told.as_ref().filter(|told| is_same && told.0 == found.column)
            && *message != found.message
        {
            complaints.push(format!("line {}: `{}`, but its test says `{message}`", found.line, found.message));
        }
    }
}

fn check_exit_status(fixture: &Fixture, outcome: &Outcome, complaints: &mut Vec<String>) {
    let expected = match (outcome.findings.is_empty(), fixture.verdict) {
        (false, _) => 10,
        (true, Verdict::Incomplete) => 5,
        (true, Verdict::Complete) => 0,
    };
    if outcome.run_status != Some(expected) {
        complaints.push(format!("exit status {expected} expected, got {:?}", outcome.run_status));
    }
}

fn check_claim(fixture: &Fixture, claim: &LineClaim, outcome: &Outcome, complaints: &mut Vec<String>) {
    let line = claim.line;
    match &claim.claim {
        Claim::Reached | Claim::Unreached => {
            let reached = claim.claim == Claim::Reached;
            match outcome.coverage.lines.get(&line) {
                None => complaints.push(format!("line {line}: coverage has no such line")),
                Some(0) if reached => complaints.push(format!("line {line}: not reached")),
                Some(count) if !reached && *count > 0 => complaints.push(format!("line {line}: reached {count} times")),
                Some(_) => {}
            }
        }
        Claim::Branches(sides) => check_branches(line, *sides, &outcome.coverage.branches, complaints),
        Claim::Bug { .. } => check_bug(fixture, claim, outcome, complaints),
    }
}

fn check_branches(line: u64, sides: Sides, branches: &[BranchCount], complaints: &mut Vec<String>) {
    let (wants_true, wants_false) = match sides {
        Sides::Both => (true, true),
        Sides::True => (true, false),
        Sides::False => (false, true),
    };
    let on_line: Vec<_> = branches.iter().filter(|branch| branch.line == line).collect();
    if on_line.is_empty() {
        complaints.push(format!("line {line}: coverage has no branch there"));
    }
    for branch in on_line {
        if (branch.n_true > 0) != wants_true || (branch.n_false > 0) != wants_false {
            let BranchCount { n_true, n_false, .. } = branch;
            complaints
                .push(format!("line {line}: {sides:?} expected, seen {n_true} times true, {n_false} times false"));
        }
    }
}

fn check_bug(fixture: &Fixture, claim: &LineClaim, outcome: &Outcome, complaints: &mut Vec<String>) {
    let (line, Claim::Bug { kind, holds }) = (claim.line, &claim.claim) else { return };
    let file = file_name(&fixture.path.to_string_lossy());
    if !outcome.findings.iter().any(|found| (&found.kind, &found.file, found.line) == (kind, &file, line)) {
        complaints.push(format!("line {line}: finding `{kind}` is missing"));
        return;
    }
    let Some(predicate) = holds else { return };
    let here = (kind.clone(), file, line);
    for test in outcome.tests.iter().filter(|test| test.bug.as_ref() == Some(&here)) {
        match predicate.holds(&test.inputs) {
            Ok(true) => {}
            Ok(false) => complaints.push(format!(
                "line {line}: `{}` does not hold for {}: {:?}",
                predicate.text(),
                test.name,
                test.inputs
            )),
            Err(why) => complaints.push(format!("line {line}: `{}` on {}: {why}", predicate.text(), test.name)),
        }
    }
}

fn check_unannounced(fixture: &Fixture, outcome: &Outcome, complaints: &mut Vec<String>) {
    let own_file = file_name(&fixture.path.to_string_lossy());
    let announced = |kind: &str, file: &str, line: u64| {
        let has_claim = |claim: &LineClaim| {
            claim.line == line && matches!(&claim.claim, Claim::Bug { kind: claimed, .. } if claimed == kind)
        };
        file == own_file && fixture.claims.iter().any(has_claim)
    };
    for found in &outcome.findings {
        if !announced(&found.kind, &found.file, found.line) {
            let (file, line, kind) = (&found.file, found.line, &found.kind);
            complaints.push(format!("unannounced finding {file}:{line}: {} [{kind}]", found.message));
        }
    }
    // A fault that nobody looks for ends its path all the same.
    let has_checks_off = fixture.flags.iter().any(|flag| flag.split(',').any(|check| check == "none"));
    for test in &outcome.tests {
        if let Some((kind, file, line)) = &test.bug
            && !has_checks_off
            && !announced(kind, file, *line)
        {
            complaints.push(format!("{} ends in an unannounced bug {file}:{line} [{kind}]", test.name));
        }
    }
}

fn check_confirmed(outcome: &Outcome, complaints: &mut Vec<String>) {
    for found in outcome.findings.iter().filter(|found| !found.confirmed) {
        let (file, line, kind) = (&found.file, found.line, &found.kind);
        complaints.push(format!("not confirmed natively: {file}:{line}: {} [{kind}]", found.message));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::input::Input;
    use crate::outcome::{Finding, TestCase};

    const FIXTURE: &str = "// Divides.\n\
        //@ paths: 2\n\
        if (a) //~ BOTH\n\
        x = 1 / (a - 3); //~ BUG division-by-zero where a == 3\n\
        y; //~ REACHED\n\
        z; //~ UNREACHED\n";

    fn fixture() -> Fixture {
        Fixture::parse(Path::new("dir/f.c"), FIXTURE).expect("parses")
    }

    /// The outcome that satisfies `FIXTURE`.
    fn outcome() -> Outcome {
        let mut outcome = Outcome {
            run_status: Some(10),
            verdict: "complete".into(),
            n_paths: 2,
            n_tests: 2,
            findings: vec![Finding {
                kind: "division-by-zero".into(),
                file: "f.c".into(),
                line: 4,
                column: 7,
                message: "by zero".into(),
                test: "2".into(),
                confirmed: true,
            }],
            ..Outcome::default()
        };
        outcome.endings.extend([("returned".to_string(), 1), ("bug".to_string(), 1)]);
        let input = |low: u8| vec![Input { name: "a".into(), ty: "int".into(), bytes: vec![low, 0, 0, 0] }];
        let test = |name: &str, ending: &str, low: u8, status, bug| TestCase {
            name: name.into(),
            inputs: input(low),
            ending: ending.into(),
            status,
            told: Some((7, "by zero".to_string())),
            bug,
            path: Vec::new(),
        };
        let bug = Some(("division-by-zero".to_string(), "f.c".to_string(), 4));
        outcome.tests = vec![test("1", "returned", 0, Some(0), None), test("2", "bug", 3, None, bug)];
        outcome.coverage.lines.extend([(3, 2), (4, 1), (5, 1), (6, 0)]);
        outcome.coverage.branches.push(BranchCount { line: 3, n_true: 1, n_false: 1 });
        outcome
    }

    #[test]
    fn the_announced_outcome_passes() {
        assert_eq!(judge(&fixture(), &outcome()), Vec::<String>::new());
    }

    #[test]
    fn every_difference_is_a_complaint() {
        type Change = fn(&mut Outcome);
        let changes: &[(&str, Change)] = &[
            ("verdict", |outcome| outcome.verdict = "incomplete".into()),
            ("paths: 2", |outcome| outcome.n_paths = 3),
            ("add up", |outcome| outcome.n_paths = 3),
            ("test files", |outcome| outcome.n_tests = 3),
            ("exit status", |outcome| outcome.run_status = Some(0)),
            ("exit status", |outcome| outcome.run_status = None),
            ("is missing", |outcome| outcome.findings.clear()),
            ("not confirmed", |outcome| outcome.findings[0].confirmed = false),
            ("but its test says", |outcome| outcome.findings[0].message = "by one".into()),
            ("which is not there", |outcome| outcome.findings[0].test = "3".into()),
            ("unannounced finding", |outcome| outcome.findings[0].line = 5),
            ("unannounced bug", |outcome| outcome.tests[1].bug.as_mut().expect("bug").2 = 5),
            ("does not hold", |outcome| outcome.tests[1].inputs[0].bytes[0] = 4),
            ("no input", |outcome| outcome.tests[1].inputs.clear()),
            ("not reached", |outcome| *outcome.coverage.lines.get_mut(&5).expect("line") = 0),
            ("reached 1 times", |outcome| *outcome.coverage.lines.get_mut(&6).expect("line") = 1),
            ("no such line", |outcome| outcome.coverage.lines.retain(|line, _| *line != 5)),
            ("Both expected", |outcome| outcome.coverage.branches[0].n_false = 0),
            ("no branch", |outcome| outcome.coverage.branches.clear()),
            ("replay disagrees", |outcome| outcome.replay_complaint = Some("test 2".into())),
        ];
        for (word, change) in changes {
            let mut changed = outcome();
            change(&mut changed);
            let complaints = judge(&fixture(), &changed);
            assert!(complaints.iter().any(|complaint| complaint.contains(word)), "{word}: {complaints:?}");
        }
    }

    #[test]
    fn endings_ledger_and_status_are_compared() {
        let text = "// x\n//@ endings: bug 2, cut\n//@ ledger: concretised-size\n//@ status: 9\n\
                    x; //~ BUG division-by-zero\n";
        let complaints = judge(&Fixture::parse(Path::new("f.c"), text).expect("parses"), &outcome()).join("\n");
        for word in ["`bug`: 2 expected, got 1", "`cut`: 1 expected, got 0", "`concretised-size`", "status 9"] {
            assert!(complaints.contains(word), "{word}: {complaints}");
        }
    }
}
