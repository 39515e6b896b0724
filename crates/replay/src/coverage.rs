//! What llvm-cov says about the tests run so far.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::names::SourceNames;
use crate::session::ReplayError;
use crate::tools;

/// Coverage of the user's own sources, keyed by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub files: BTreeMap<String, FileCoverage>,
    pub lines: Share,
    /// Outcomes of branches: two for each condition.
    pub branches: Share,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub covered: u64,
    pub total: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    pub lines: Vec<LineCount>,
    pub branches: Vec<BranchCount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCount {
    pub line: u32,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCount {
    pub line: u32,
    pub column: u32,
    pub true_count: u64,
    pub false_count: u64,
}

impl Coverage {
    /// The content of `coverage.json`.
    pub fn to_json(&self) -> Value {
        let mut lines = serde_json::Map::new();
        let mut branches = serde_json::Map::new();
        for (file, coverage) in &self.files {
            let rows = coverage.lines.iter().map(|row| json!([row.line, row.count])).collect();
            lines.insert(file.clone(), Value::Array(rows));
            let rows =
                coverage.branches.iter().map(|row| json!([row.line, row.column, row.true_count, row.false_count]));
            branches.insert(file.clone(), Value::Array(rows.collect()));
        }
        json!({ "lines": lines, "branches": branches })
    }
}

#[derive(Deserialize)]
struct Export {
    data: Vec<ExportData>,
}

#[derive(Deserialize)]
struct ExportData {
    files: Vec<ExportFile>,
}

#[derive(Deserialize)]
struct ExportFile {
    filename: String,
    #[serde(default)]
    branches: Vec<Vec<Value>>,
    summary: ExportSummary,
}

#[derive(Deserialize)]
struct ExportSummary {
    lines: ExportShare,
    branches: ExportShare,
}

#[derive(Deserialize)]
struct ExportShare {
    count: u64,
    covered: u64,
}

/// Merges the raw profiles and reads off lines and branches. `dir` takes the intermediate files.
pub fn measure(
    clang: &Path,
    program: &Path,
    profiles: &[PathBuf],
    dir: &Path,
    names: &SourceNames,
) -> Result<Coverage, ReplayError> {
    let merged = dir.join("merged.profdata");
    let mut merge = llvm(clang, "llvm-profdata")?;
    merge.args(["merge", "-sparse"]).args(profiles).arg("-o").arg(&merged);
    run(merge)?;
    let export = |format: &str| -> Result<Command, ReplayError> {
        let mut command = llvm(clang, "llvm-cov")?;
        command.arg("export").arg(format).arg(format!("-instr-profile={}", merged.display())).arg(program);
        Ok(command)
    };
    let export_json = run(export("-format=text")?)?;
    // The JSON form has regions; only this form has a count for every line.
    let export_lcov = run(export("-format=lcov")?)?;
    let export: Export = serde_json::from_str(&export_json)
        .map_err(|error| ReplayError::Tool { tool: "llvm-cov".into(), why: error.to_string() })?;
    let mut coverage = Coverage::default();
    for file in export.data.iter().flat_map(|data| &data.files) {
        coverage.add_summary(file, names);
    }
    coverage.add_lines(&export_lcov, names);
    Ok(coverage)
}

impl Coverage {
    fn add_summary(&mut self, file: &ExportFile, names: &SourceNames) {
        let Some(name) = names.spell(&file.filename) else { return };
        for (share, add) in [(&mut self.lines, &file.summary.lines), (&mut self.branches, &file.summary.branches)] {
            share.covered += add.covered;
            share.total += add.count;
        }
        // A row: start line and column, end line and column, count when true, count when false, then ids.
        let rows = file.branches.iter().filter_map(|row| {
            let number = |idx: usize| row.get(idx).and_then(Value::as_u64);
            Some(BranchCount {
                line: number(0)? as u32,
                column: number(1)? as u32,
                true_count: number(4)?,
                false_count: number(5)?,
            })
        });
        self.files.entry(name).or_default().branches.extend(rows);
    }

    fn add_lines(&mut self, lcov: &str, names: &SourceNames) {
        let mut current = None;
        for row in lcov.lines() {
            if let Some(path) = row.strip_prefix("SF:") {
                current = names.spell(path);
            } else if let (Some(name), Some(counts)) = (&current, row.strip_prefix("DA:"))
                && let Some((line, count)) = counts.split_once(',')
                && let (Ok(line), Ok(count)) = (line.parse(), count.parse())
            {
                self.files.entry(name.clone()).or_default().lines.push(LineCount { line, count });
            }
        }
    }
}

fn llvm(clang: &Path, tool: &str) -> Result<Command, ReplayError> {
    tools::llvm_tool(clang, tool)
        .map(Command::new)
        .ok_or_else(|| ReplayError::Tool { tool: tool.into(), why: "not found; it comes with LLVM (llvm-19)".into() })
}

fn run(mut command: Command) -> Result<String, ReplayError> {
    let failed = |why: String, command: &Command| ReplayError::Tool {
        tool: command.get_program().to_string_lossy().into_owned(),
        why,
    };
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string(), &command))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned(), &command));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
