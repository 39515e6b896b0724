//! `summary.json`: the figures scripts rely on. Keys are never renamed; new ones may be added.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use witness::{Bug, Ending, Finding, LedgerEntry, Place};

use crate::{TestId, test_id};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The tests show everything the program can do.
    Complete,
    #[default]
    Incomplete,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathsSummary {
    pub total: u64,
    pub returned: u64,
    pub exited: u64,
    pub bug: u64,
    pub assumed: u64,
    pub pruned: u64,
    pub cut: u64,
    pub unsupported: u64,
}

impl PathsSummary {
    pub fn count(&mut self, ending: &Ending) {
        self.total += 1;
        *match ending {
            Ending::Returned { .. } => &mut self.returned,
            Ending::Exited { .. } => &mut self.exited,
            Ending::Bug(_) => &mut self.bug,
            Ending::Assumed => &mut self.assumed,
            Ending::Pruned { .. } => &mut self.pruned,
            Ending::Cut(_) => &mut self.cut,
            Ending::Unsupported(_) => &mut self.unsupported,
        } += 1;
    }

    /// Name and count of each ending, in the order of the file.
    pub fn by_ending(&self) -> [(&'static str, u64); 7] {
        [
            ("returned", self.returned),
            ("exited", self.exited),
            ("bug", self.bug),
            ("assumed", self.assumed),
            ("pruned", self.pruned),
            ("cut", self.cut),
            ("unsupported", self.unsupported),
        ]
    }

    pub fn add(&mut self, other: &PathsSummary) {
        let PathsSummary { total, returned, exited, bug, assumed, pruned, cut, unsupported } = other;
        self.total += total;
        self.returned += returned;
        self.exited += exited;
        self.bug += bug;
        self.assumed += assumed;
        self.pruned += pruned;
        self.cut += cut;
        self.unsupported += unsupported;
    }
}

/// What one layer of the solver stack answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerSummary {
    pub layer: String,
    pub sat: u64,
    pub unsat: u64,
    pub time_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueriesSummary {
    pub asked: u64,
    pub solver: u64,
    pub unknown: u64,
    pub solver_s: f64,
    #[serde(default)]
    pub by_layer: Vec<LayerSummary>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ratio {
    pub covered: u64,
    pub total: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageSummary {
    pub lines: Ratio,
    pub branches: Ratio,
    /// Why the figures are missing, where they are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingSummary {
    pub kind: String,
    pub cwe: u32,
    pub file: String,
    pub line: u32,
    #[serde(default)]
    pub column: u32,
    pub function: String,
    pub message: String,
    pub test: String,
    pub confirmed: bool,
    /// Why it was not confirmed, or what the native program printed.
    #[serde(default)]
    pub evidence: String,
    /// How many paths end here.
    #[serde(default)]
    pub paths: u64,
    /// Callers, innermost first, each `file:line function`.
    #[serde(default)]
    pub stack: Vec<String>,
    /// The call of the function it is in, `file:line:column function`, where that tells it apart from others.
    #[serde(default)]
    pub call: String,
    /// File of the proof, relative to the output folder, where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub certificate: String,
}

/// What makes two faults one finding: kind, file, line, column, and the call of the function they are in.
pub type FindingKey = (String, String, u32, u32, String);

pub fn finding_key(bug: &Bug) -> FindingKey {
    let place = &bug.place;
    (bug.kind.name().to_string(), place.file.to_string(), place.line, place.column, call_of(bug))
}

pub fn call_of(bug: &Bug) -> String {
    let spell = |place: &Place| format!("{}:{}:{} {}", place.file, place.line, place.column, place.function);
    bug.call_site().map_or(String::new(), spell)
}

fn stack_of(bug: &Bug) -> Vec<String> {
    bug.stack.iter().map(|place| format!("{}:{} {}", place.file, place.line, place.function)).collect()
}

impl FindingSummary {
    /// Says of the finding what the path of its test says, which is not always what the first path said.
    pub fn tell_of(&mut self, bug: &Bug) {
        self.message.clone_from(&bug.message);
        self.stack = stack_of(bug);
    }
}

impl From<&Finding> for FindingSummary {
    fn from(finding: &Finding) -> FindingSummary {
        let bug = &finding.bug;
        FindingSummary {
            kind: bug.kind.name().to_string(),
            cwe: bug.kind.cwe(),
            file: bug.place.file.to_string(),
            line: bug.place.line,
            column: bug.place.column,
            function: bug.place.function.to_string(),
            message: bug.message.clone(),
            test: finding.test.clone(),
            confirmed: finding.confirmed,
            evidence: finding.evidence.clone(),
            paths: finding.n_paths,
            stack: stack_of(bug),
            certificate: String::new(),
            call: call_of(bug),
        }
    }
}

impl FindingSummary {
    /// What makes two findings the same one.
    pub fn key(&self) -> FindingKey {
        (self.kind.clone(), self.file.clone(), self.line, self.column, self.call.clone())
    }

    /// Number of the test that shows it.
    pub fn test_id(&self) -> TestId {
        test_id(&self.test)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerSummary {
    pub kind: String,
    pub file: String,
    pub line: u32,
    pub count: u64,
    #[serde(default)]
    pub detail: String,
    #[serde(default)]
    pub function: String,
}

impl From<&LedgerEntry> for LedgerSummary {
    fn from(entry: &LedgerEntry) -> LedgerSummary {
        LedgerSummary {
            kind: entry.kind.name().to_string(),
            file: entry.place.file.to_string(),
            line: entry.place.line,
            count: entry.count,
            detail: entry.detail.clone(),
            function: entry.place.function.to_string(),
        }
    }
}

/// Something the engine cannot do, and how many paths ended there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapSummary {
    pub message: String,
    pub file: String,
    pub line: u32,
    pub count: u64,
}

/// How many paths one budget ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutSummary {
    pub budget: String,
    pub count: u64,
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub program: Vec<String>,
    pub entry: String,
    pub line_up: Vec<String>,
    pub seed: u64,
    pub verdict: Verdict,
    pub paths: PathsSummary,
    pub runs: u64,
    pub tests: u64,
    pub instructions: u64,
    pub forks: u64,
    pub states_max: u64,
    pub queries: QueriesSummary,
    pub coverage: CoverageSummary,
    pub findings: Vec<FindingSummary>,
    pub ledger: Vec<LedgerSummary>,
    #[serde(default)]
    pub gaps: Vec<GapSummary>,
    #[serde(default)]
    pub cuts: Vec<CutSummary>,
    pub time_s: f64,
    pub build_s: f64,
    pub replay_s: f64,
    pub memory_mb: u64,
    /// One object a technique, under its name.
    #[serde(flatten)]
    pub techniques: BTreeMap<String, Value>,
}

impl Summary {
    pub fn to_json(&self) -> String {
        // Plain data with string keys: serialising cannot fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    pub fn from_json(text: &str) -> Result<Summary, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Complete: nothing cut, nothing unsupported, an empty ledger.
    pub fn judge(&mut self) {
        let is_complete = self.paths.cut == 0 && self.paths.unsupported == 0 && self.ledger.is_empty();
        self.verdict = if is_complete { Verdict::Complete } else { Verdict::Incomplete };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_interface() {
        let mut summary = Summary { program: vec!["f.c".into()], entry: "main".into(), ..Summary::default() };
        summary.findings.push(FindingSummary::default());
        summary.ledger.push(LedgerSummary::default());
        summary.techniques.insert("rwset".into(), serde_json::json!({"pruned": 1}));
        summary.judge();
        let value: Value = serde_json::from_str(&summary.to_json()).expect("valid JSON");
        let keys = [
            "program",
            "entry",
            "line_up",
            "seed",
            "verdict",
            "paths",
            "runs",
            "tests",
            "instructions",
            "forks",
            "states_max",
            "queries",
            "coverage",
            "findings",
            "ledger",
            "time_s",
            "build_s",
            "replay_s",
            "memory_mb",
            "rwset",
        ];
        for key in keys {
            assert!(value.get(key).is_some(), "{key} is missing");
        }
        for key in ["kind", "cwe", "file", "line", "function", "message", "test", "confirmed"] {
            assert!(value["findings"][0].get(key).is_some(), "{key} is missing");
        }
        for key in ["asked", "solver", "unknown", "solver_s"] {
            assert!(value["queries"].get(key).is_some(), "{key} is missing");
        }
        assert_eq!(value["verdict"], "incomplete");
        assert_eq!(Summary::from_json(&summary.to_json()).expect("reads back"), summary);
    }

    #[test]
    fn complete_needs_an_empty_ledger_and_no_cut() {
        let mut summary = Summary::default();
        summary.judge();
        assert_eq!(summary.verdict, Verdict::Complete);
        summary.paths.cut = 1;
        summary.judge();
        assert_eq!(summary.verdict, Verdict::Incomplete);
    }
}
