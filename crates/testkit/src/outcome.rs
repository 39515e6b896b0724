//! What a campaign left in its output folder, read back for comparison.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::input::Input;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    pub kind: String,
    pub file: String,
    pub line: u64,
    pub column: u64,
    pub message: String,
    /// File name of the test that shows it.
    pub test: String,
    pub confirmed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// File name inside `tests/`.
    pub name: String,
    pub inputs: Vec<Input>,
    pub ending: String,
    pub status: Option<i64>,
    /// Kind, file and line, for tests that end in a bug.
    pub bug: Option<(String, String, u64)>,
    /// Column and message of that bug.
    pub told: Option<(u64, String)>,
    /// The decisions of its path.
    pub path: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCount {
    pub line: u64,
    pub n_true: u64,
    pub n_false: u64,
}

/// Of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub lines: BTreeMap<u64, u64>,
    pub branches: Vec<BranchCount>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status of `colt run`; `None` when a signal ended it.
    pub run_status: Option<i32>,
    pub verdict: String,
    /// Paths by ending, without the total.
    pub endings: BTreeMap<String, u64>,
    pub n_paths: u64,
    pub n_tests: u64,
    pub findings: Vec<Finding>,
    pub ledger: Vec<String>,
    pub tests: Vec<TestCase>,
    pub coverage: Coverage,
    /// What `colt replay` said when it did not agree.
    pub replay_complaint: Option<String>,
}

fn read_json(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Paths are compared by file name: how the compiler was given the folder is not the fixture's business.
pub fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_string()
}

impl Outcome {
    /// Reads `summary.json`, the tests and the coverage of `source` from an output folder.
    pub fn read(folder: &Path, source: &Path) -> Result<Outcome, String> {
        let mut outcome = Outcome::from_summary(&read_json(&folder.join("summary.json"))?)?;
        outcome.tests = read_tests(&folder.join("tests"))?;
        let coverage = folder.join("coverage.json");
        if coverage.is_file() {
            let name = file_name(&source.to_string_lossy());
            outcome.coverage = Coverage::from_json(&read_json(&coverage)?, &name);
        }
        Ok(outcome)
    }

    fn from_summary(summary: &Value) -> Result<Outcome, String> {
        let number = |pointer: &str| {
            let value = summary.pointer(pointer).and_then(Value::as_u64);
            value.ok_or_else(|| format!("summary.json has no number at {pointer}"))
        };
        let mut endings = BTreeMap::new();
        for name in crate::annotation::ENDINGS {
            endings.insert((*name).to_string(), number(&format!("/paths/{name}"))?);
        }
        Ok(Outcome {
            verdict: text(&summary["verdict"]),
            endings,
            n_paths: number("/paths/total")?,
            n_tests: number("/tests")?,
            findings: items(&summary["findings"]).iter().map(read_finding).collect(),
            ledger: items(&summary["ledger"]).iter().map(|entry| text(&entry["kind"])).collect(),
            ..Outcome::default()
        })
    }
}

fn read_finding(finding: &Value) -> Finding {
    Finding {
        kind: text(&finding["kind"]),
        file: file_name(&text(&finding["file"])),
        line: finding["line"].as_u64().unwrap_or(0),
        column: finding["column"].as_u64().unwrap_or(0),
        message: text(&finding["message"]),
        test: file_name(&text(&finding["test"])),
        confirmed: finding["confirmed"].as_bool().unwrap_or(false),
    }
}

fn read_tests(folder: &Path) -> Result<Vec<TestCase>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| read_test(path)).collect()
}

pub fn read_test(path: &Path) -> Result<TestCase, String> {
    let json = read_json(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let inputs = items(&json["inputs"]).iter().map(read_input).collect::<Result<_, _>>();
    let bug = json.get("bug").filter(|bug| bug.is_object());
    Ok(TestCase {
        inputs: inputs.map_err(|why| format!("{name}: {why}"))?,
        ending: text(&json["ending"]),
        status: json["status"].as_i64(),
        path: items(&json["path"]).iter().filter_map(Value::as_u64).collect(),
        bug: bug.map(|bug| (text(&bug["kind"]), file_name(&text(&bug["file"])), bug["line"].as_u64().unwrap_or(0))),
        told: bug.map(|bug| (bug["column"].as_u64().unwrap_or(0), text(&bug["message"]))),
        name,
    })
}

fn read_input(input: &Value) -> Result<Input, String> {
    let hex = text(&input["bytes"]);
    let name = text(&input["name"]);
    let bytes = decode_hex(&hex).ok_or_else(|| format!("input `{name}`: `{hex}` is not hexadecimal"))?;
    Ok(Input { name, ty: text(&input["type"]), bytes })
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

impl Coverage {
    fn from_json(json: &Value, source: &str) -> Coverage {
        let rows = |key: &str| -> Vec<Vec<u64>> {
            let files = json[key].as_object();
            let file = files.and_then(|files| files.iter().find(|(path, _)| file_name(path) == source));
            let rows = file.map_or(&[][..], |(_, rows)| items(rows));
            rows.iter().map(|row| items(row).iter().map(|cell| cell.as_u64().unwrap_or(0)).collect()).collect()
        };
        let mut coverage = Coverage::default();
        for row in rows("lines") {
            if let [line, count] = row[..] {
                coverage.lines.insert(line, count);
            }
        }
        for row in rows("branches") {
            if let [line, _column, n_true, n_false] = row[..] {
                coverage.branches.push(BranchCount { line, n_true, n_false });
            }
        }
        coverage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_decoded_or_refused() {
        assert_eq!(decode_hex("0c00ff"), Some(vec![12, 0, 255]));
        assert_eq!(decode_hex(""), Some(vec![]));
        assert_eq!(decode_hex("0"), None);
        assert_eq!(decode_hex("zz"), None);
    }

    #[test]
    fn coverage_is_picked_by_file_name() {
        let json = serde_json::json!({
            "lines": {"/some/f.c": [[1, 5], [2, 0]], "g.c": [[1, 9]]},
            "branches": {"/some/f.c": [[1, 7, 3, 2]]},
        });
        let coverage = Coverage::from_json(&json, "f.c");
        assert_eq!(coverage.lines, BTreeMap::from([(1, 5), (2, 0)]));
        assert_eq!(coverage.branches, [BranchCount { line: 1, n_true: 3, n_false: 2 }]);
        assert_eq!(Coverage::from_json(&json, "h.c"), Coverage::default());
    }

    #[test]
    fn a_summary_without_its_keys_is_refused() {
        let message = Outcome::from_summary(&serde_json::json!({"verdict": "complete"})).expect_err("no paths");
        assert!(message.contains("/paths/"), "{message}");
    }
}
