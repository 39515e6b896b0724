//! The outcome of an exploration as the figures of a summary, with files named as the user does.

use std::sync::Arc;

use explore::{Outcome, PathCounts};
use report::{
    CutSummary, FindingSummary, GapSummary, LayerSummary, LedgerSummary, PathsSummary, QueriesSummary, Summary,
};

use super::Loaded;
use crate::args::RunArgs;
use crate::names::Names;
use crate::settings::Settings;

/// The figures of one exploration; tests, coverage and the other times are entered by the caller.
pub fn summary(loaded: &Loaded, args: &RunArgs, settings: &Settings, outcome: &Outcome, names: &mut Names) -> Summary {
    Summary {
        program: args.files.iter().map(|file| file.display().to_string()).collect(),
        entry: loaded.program.entry_name.clone(),
        line_up: settings.line_up.clone(),
        seed: args.seed,
        paths: paths(&outcome.counts),
        runs: outcome.runs,
        instructions: outcome.instructions,
        forks: outcome.forks,
        states_max: outcome.states_max,
        queries: queries(&outcome.queries),
        findings: findings(loaded, outcome, names),
        ledger: ledger(outcome, names),
        gaps: gaps(outcome, names),
        cuts: cuts(outcome),
        time_s: outcome.elapsed.as_secs_f64(),
        memory_mb: outcome.memory_mb,
        techniques: outcome
            .techniques
            .iter()
            .filter_map(|(name, report)| Some((name.to_string(), serde_json::from_str(report.summary.as_ref()?).ok()?)))
            .map(|(name, value)| (name, spelled(value, names)))
            .collect(),
        ..Summary::default()
    }
}

/// A technique's object with files named as the user does.
fn spelled(mut value: serde_json::Value, names: &mut Names) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = spelled(item.take(), names));
        }
        serde_json::Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                match field.as_str() {
                    Some(file) if key == "file" && !file.is_empty() => {
                        *field = serde_json::Value::from(&*names.spell(&file.into()));
                    }
                    _ => *field = spelled(field.take(), names),
                }
            }
        }
        _ => {}
    }
    value
}

fn paths(counts: &PathCounts) -> PathsSummary {
    let PathCounts { total, returned, exited, bug, assumed, pruned, cut, unsupported } = *counts;
    PathsSummary { total, returned, exited, bug, assumed, pruned, cut, unsupported }
}

fn queries(counters: &solver::Counters) -> QueriesSummary {
    QueriesSummary {
        asked: counters.n_asked,
        solver: counters.n_solver,
        unknown: counters.n_unknown,
        solver_s: counters.solver_time.as_secs_f64(),
        by_layer: counters
            .by_layer()
            .map(|(layer, count)| LayerSummary {
                layer: layer.to_string(),
                sat: count.n_sat,
                unsat: count.n_unsat,
                time_s: count.time.as_secs_f64(),
            })
            .collect(),
    }
}

fn findings(loaded: &Loaded, outcome: &Outcome, names: &mut Names) -> Vec<FindingSummary> {
    let has_harness = loaded.program.harness.is_some();
    // The harness is ours: no caller the user would know.
    let is_users = |place: &witness::Place| !has_harness || &*place.file != frontend::HARNESS_FILE;
    let spell = |finding: &witness::Finding| {
        let mut finding = finding.clone();
        let mut named = finding.bug.clone();
        names.fix_bug(&mut named);
        finding.bug.stack.retain(is_users);
        names.fix_place(&mut finding.bug.place);
        finding.bug.stack.iter_mut().for_each(|place| names.fix_place(place));
        FindingSummary { call: report::call_of(&named), ..FindingSummary::from(&finding) }
    };
    outcome.findings.iter().map(spell).collect()
}

fn gaps(outcome: &Outcome, names: &mut Names) -> Vec<GapSummary> {
    let gap = |((file, line, message), count): (&(Arc<str>, u32, String), &u64)| GapSummary {
        message: message.clone(),
        file: if file.is_empty() { String::new() } else { names.spell(file).to_string() },
        line: *line,
        count: *count,
    };
    outcome.gaps.iter().map(gap).collect()
}

fn cuts(outcome: &Outcome) -> Vec<CutSummary> {
    let cut =
        |(budget, count): (&witness::Budget, &u64)| CutSummary { budget: budget.name().to_string(), count: *count };
    outcome.cuts.iter().map(cut).collect()
}

fn ledger(outcome: &Outcome, names: &mut Names) -> Vec<LedgerSummary> {
    let spell = |mut entry: witness::LedgerEntry| {
        names.fix_place(&mut entry.place);
        LedgerSummary::from(&entry)
    };
    outcome.ledger.entries().map(spell).collect()
}
