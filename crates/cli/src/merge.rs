//! Adds the figures of a resumed part to those of the parts before it.

use report::{CutSummary, FindingSummary, GapSummary, LedgerSummary, QueriesSummary, Summary};

/// `earlier` without the paths that `later` went on with, and `later`.
pub fn merge(earlier: Summary, later: Summary) -> Summary {
    let mut merged = later;
    merged.paths.add(&earlier.paths);
    merged.runs += earlier.runs;
    merged.instructions += earlier.instructions;
    merged.forks += earlier.forks;
    merged.states_max = merged.states_max.max(earlier.states_max);
    merged.memory_mb = merged.memory_mb.max(earlier.memory_mb);
    merged.time_s += earlier.time_s;
    merged.build_s += earlier.build_s;
    merged.replay_s += earlier.replay_s;
    queries(&mut merged.queries, &earlier.queries);
    merged.findings = findings(earlier.findings, merged.findings);
    merged.ledger = ledger(earlier.ledger, merged.ledger);
    merged.gaps = gaps(earlier.gaps, merged.gaps);
    merged.cuts = cuts(earlier.cuts, merged.cuts);
    merged
}

/// Takes back paths that were counted as cut and are now explored.
pub fn reopen(summary: &mut Summary, n_resumable: u64) {
    let n_reopened = n_resumable.min(summary.paths.cut);
    summary.paths.cut -= n_reopened;
    summary.paths.total -= n_reopened;
    let mut n_left = n_reopened;
    for cut in &mut summary.cuts {
        let n_taken = cut.count.min(n_left);
        cut.count -= n_taken;
        n_left -= n_taken;
    }
    summary.cuts.retain(|cut| cut.count > 0);
}

fn queries(later: &mut QueriesSummary, earlier: &QueriesSummary) {
    later.asked += earlier.asked;
    later.solver += earlier.solver;
    later.unknown += earlier.unknown;
    later.solver_s += earlier.solver_s;
    for layer in &earlier.by_layer {
        match later.by_layer.iter_mut().find(|other| other.layer == layer.layer) {
            Some(other) => {
                other.sat += layer.sat;
                other.unsat += layer.unsat;
                other.time_s += layer.time_s;
            }
            None => later.by_layer.push(layer.clone()),
        }
    }
}

/// The earlier test of a finding stays the one that shows it.
fn findings(mut earlier: Vec<FindingSummary>, later: Vec<FindingSummary>) -> Vec<FindingSummary> {
    for finding in later {
        match earlier.iter_mut().find(|other| other.key() == finding.key()) {
            Some(other) => other.paths += finding.paths,
            None => earlier.push(finding),
        }
    }
    earlier
}

fn ledger(mut earlier: Vec<LedgerSummary>, later: Vec<LedgerSummary>) -> Vec<LedgerSummary> {
    for entry in later {
        let same = |other: &&mut LedgerSummary| {
            (&other.kind, &other.file, other.line, &other.detail)
                == (&entry.kind, &entry.file, entry.line, &entry.detail)
        };
        match earlier.iter_mut().find(same) {
            Some(other) => other.count += entry.count,
            None => earlier.push(entry),
        }
    }
    earlier
}

fn gaps(mut earlier: Vec<GapSummary>, later: Vec<GapSummary>) -> Vec<GapSummary> {
    for gap in later {
        let same =
            |other: &&mut GapSummary| (&other.message, &other.file, other.line) == (&gap.message, &gap.file, gap.line);
        match earlier.iter_mut().find(same) {
            Some(other) => other.count += gap.count,
            None => earlier.push(gap),
        }
    }
    earlier
}

fn cuts(mut earlier: Vec<CutSummary>, later: Vec<CutSummary>) -> Vec<CutSummary> {
    for cut in later {
        match earlier.iter_mut().find(|other| other.budget == cut.budget) {
            Some(other) => other.count += cut.count,
            None => earlier.push(cut),
        }
    }
    earlier
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reopened_path_is_counted_once() {
        let mut first = Summary::default();
        first.paths.total = 5;
        first.paths.returned = 2;
        first.paths.cut = 3;
        first.cuts = vec![CutSummary { budget: "time".into(), count: 3 }];
        reopen(&mut first, 3);
        assert_eq!(first.cuts, []);
        let mut second = Summary::default();
        second.paths.total = 5;
        second.paths.returned = 4;
        second.paths.cut = 1;
        second.cuts = vec![CutSummary { budget: "paths".into(), count: 1 }];
        let merged = merge(first, second);
        assert_eq!((merged.paths.total, merged.paths.returned, merged.paths.cut), (7, 6, 1));
        assert_eq!(merged.cuts, [CutSummary { budget: "paths".into(), count: 1 }]);
    }

    #[test]
    fn one_place_and_kind_stay_one_finding() {
        let finding = |line, test: &str| FindingSummary {
            kind: "abort".into(),
            file: "f.c".into(),
            line,
            test: test.into(),
            paths: 2,
            ..FindingSummary::default()
        };
        let earlier = Summary { findings: vec![finding(3, "a")], ..Summary::default() };
        let later = Summary { findings: vec![finding(3, "b"), finding(4, "c")], ..Summary::default() };
        let merged = merge(earlier, later);
        assert_eq!(merged.findings.len(), 2);
        assert_eq!((merged.findings[0].test.as_str(), merged.findings[0].paths), ("a", 4));
    }
}
