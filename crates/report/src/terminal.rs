//! What a person at the terminal reads: findings in clang's form and a closing table.

use std::fmt::Write;

use witness::InputValue;

use crate::heap::shown;
use crate::{FindingSummary, Sources, Summary, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Always,
    Never,
}

const BOLD: &str = "1";
const RED: &str = "1;31";
const MAGENTA: &str = "1;35";
const GREEN: &str = "1;32";
const CYAN: &str = "36";

impl Colour {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Colour::Always => format!("\x1b[{code}m{text}\x1b[0m"),
            Colour::Never => text.to_string(),
        }
    }
}

/// Inputs shown beside a finding before the rest is left to the test file.
const INPUTS_SHOWN: usize = 16;

/// One finding: position, message and kind, the source line with a caret, the input that shows it.
pub fn finding_text(finding: &FindingSummary, inputs: &[InputValue], sources: &mut Sources, colour: Colour) -> String {
    let mut text = String::new();
    let position = match finding.column {
        0 => format!("{}:{}:", finding.file, finding.line),
        column => format!("{}:{}:{column}:", finding.file, finding.line),
    };
    let severity =
        if finding.confirmed { colour.paint(RED, "error:") } else { colour.paint(MAGENTA, "warning: unconfirmed:") };
    let message = printable(&finding.message);
    let _ = writeln!(
        text,
        "{} {severity} {} [{}]",
        colour.paint(BOLD, &printable(&position)),
        colour.paint(BOLD, &message),
        finding.kind
    );
    if let Some(line) = sources.line(&finding.file, finding.line) {
        let _ = writeln!(text, "{:5} | {}", finding.line, printable(&line.replace('\t', " ")));
        if finding.column > 0 {
            let indent = " ".repeat(finding.column as usize - 1);
            let _ = writeln!(text, "      | {indent}{}", colour.paint(GREEN, "^"));
        }
    }
    for input in inputs.iter().take(INPUTS_SHOWN) {
        let _ = writeln!(text, "        {} = {}", colour.paint(CYAN, &printable(&input.name)), shown(input, inputs));
    }
    if inputs.len() > INPUTS_SHOWN {
        let _ = writeln!(text, "        and {} more inputs", inputs.len() - INPUTS_SHOWN);
    }
    for caller in &finding.stack {
        let _ = writeln!(text, "        called from {}", printable(caller));
    }
    let paths = match finding.paths {
        0 | 1 => String::new(),
        n_paths => format!("; {} paths end here", thousands(n_paths)),
    };
    let verdict = if finding.confirmed {
        "shown by the native program".to_string()
    } else {
        format!("the native program did not show it: {}", printable(&finding.evidence))
    };
    let _ = writeln!(text, "        {} ({verdict}{paths})", finding.test);
    text
}

/// The closing table. `folder` is the output folder as the user knows it.
pub fn summary_text(summary: &Summary, folder: &str, colour: Colour) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.push(("paths", paths_row(summary)));
    rows.push(("findings", findings_row(summary)));
    rows.push(("coverage", coverage_row(summary)));
    rows.push(("tests", format!("{} in {folder}/campaign.sqlite", thousands(summary.tests))));
    rows.push(("queries", queries_row(summary)));
    let mega_per_s = if summary.time_s > 0.0 { summary.instructions as f64 / summary.time_s / 1e6 } else { 0.0 };
    rows.push((
        "work",
        format!(
            "{} instructions ({mega_per_s:.1} M/s), {} forks, at most {} pending",
            thousands(summary.instructions),
            thousands(summary.forks),
            thousands(summary.states_max)
        ),
    ));
    rows.push((
        "time",
        format!(
            "{:.2} s exploring, {:.2} s building, {:.2} s replaying; {} MB",
            summary.time_s, summary.build_s, summary.replay_s, summary.memory_mb
        ),
    ));
    let mut text = String::new();
    let verdict = match summary.verdict {
        Verdict::Complete => colour.paint(GREEN, "complete"),
        Verdict::Incomplete => colour.paint(MAGENTA, "incomplete"),
    };
    let _ = writeln!(text, "{} ({}): {verdict}", summary.program.join(" "), summary.entry);
    for (name, row) in rows {
        let _ = writeln!(text, "  {name:<10}{row}");
    }
    text.push_str(&why_incomplete(summary));
    text.push_str(&parts_text(summary));
    text.push_str(&skipped_text(summary));
    text
}

/// What `complete` does not speak of, where functions were skipped.
fn skipped_text(summary: &Summary) -> String {
    let Some(found) = summary.techniques.get("lazy") else { return String::new() };
    let names: Vec<&str> = found["skipped"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    if names.is_empty() {
        return "  lazy: no function is worth skipping, so every path was explored\n".to_string();
    }
    let more =
        if names.len() > NAMES_SHOWN { format!(" and {} more", names.len() - NAMES_SHOWN) } else { String::new() };
    let names = printable(&format!("{}{more}", names.iter().take(NAMES_SHOWN).copied().collect::<Vec<_>>().join(", ")));
    format!(
        "  lazy: skipped where possible, so test them by themselves, not all of their own paths were run: {names}\n"
    )
}

/// Names of one part shown.
const NAMES_SHOWN: usize = 8;

/// The parts of the inputs, and where inputs met, where a technique says so.
fn parts_text(summary: &Summary) -> String {
    let mut text = String::new();
    let Some(found) = summary.techniques.get("partition") else { return text };
    let list = |key: &str| found[key].as_array().map_or(&[][..], Vec::as_slice);
    let names = |part: &serde_json::Value| {
        let names: Vec<&str> = part.as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
        printable(&some_of(&names))
    };
    let parts = list("parts");
    let shared = list("shared").len();
    let sharing = if shared > 0 { format!(", {} inputs in several", thousands(shared as u64)) } else { String::new() };
    let rounds = found["rounds"].as_u64().unwrap_or(0);
    let _ = writeln!(text, "  {:<10}{} after {rounds} rounds{sharing}", "parts", thousands(parts.len() as u64));
    rows(&mut text, parts.iter().map(names), parts.len());
    for (key, title) in [("merges", "explored together because"), ("interferences", "parts interfere")] {
        let met = meetings(list(key));
        if !met.is_empty() {
            let _ = writeln!(text, "  {title}");
            let n_met = met.len();
            rows(&mut text, met.into_iter(), n_met);
        }
    }
    let unknown = list("unknown_names");
    if !unknown.is_empty() {
        let _ = writeln!(text, "  no input is called {}", names(&found["unknown_names"]));
    }
    text
}

fn some_of(names: &[&str]) -> String {
    let more =
        if names.len() > NAMES_SHOWN { format!(", and {} more", names.len() - NAMES_SHOWN) } else { String::new() };
    format!("{}{more}", names.iter().take(NAMES_SHOWN).copied().collect::<Vec<_>>().join(", "))
}

/// One row for all inputs that met the same one at the same place.
fn meetings(met: &[serde_json::Value]) -> Vec<String> {
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap_or_default().to_string();
    let is_alike = |one: &serde_json::Value, other: &serde_json::Value| {
        ["a", "file", "line", "why"].iter().all(|key| one[key] == other[key])
    };
    let row = |alike: &[serde_json::Value]| {
        let (a, why) = (text(&alike[0], "a"), text(&alike[0], "why"));
        let place = match alike[0]["line"].as_u64() {
            Some(line) if line > 0 => format!("{}:{line}: ", text(&alike[0], "file")),
            _ => String::new(),
        };
        let others: Vec<&str> = alike.iter().filter_map(|one| one["b"].as_str()).collect();
        printable(&match others.as_slice() {
            [b] => format!("{place}{a} and {b} meet ({why})"),
            others => format!("{place}{a} meets {} ({why})", some_of(others)),
        })
    };
    met.chunk_by(is_alike).map(row).collect()
}

fn rows(text: &mut String, rows: impl Iterator<Item = String>, n_rows: usize) {
    for row in rows.take(ROWS_SHOWN) {
        let _ = writeln!(text, "    {row}");
    }
    if n_rows > ROWS_SHOWN {
        let _ = writeln!(text, "    and {} more, in summary.json", n_rows - ROWS_SHOWN);
    }
}

fn paths_row(summary: &Summary) -> String {
    let parts: Vec<String> = summary
        .paths
        .by_ending()
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{} {name}", thousands(*count)))
        .collect();
    format!("{} ({})", thousands(summary.paths.total), parts.join(", "))
}

fn findings_row(summary: &Summary) -> String {
    let n_confirmed = summary.findings.iter().filter(|finding| finding.confirmed).count();
    match summary.findings.len() {
        0 => "none".to_string(),
        n_findings if n_findings == n_confirmed => format!("{n_findings}, each shown by the native program"),
        n_findings => format!("{n_findings}, of which {n_confirmed} shown by the native program"),
    }
}

fn coverage_row(summary: &Summary) -> String {
    let coverage = &summary.coverage;
    if !coverage.note.is_empty() {
        return format!("not measured: {}", coverage.note);
    }
    let percent = |covered: u64, total: u64| if total == 0 { 100.0 } else { 100.0 * covered as f64 / total as f64 };
    format!(
        "lines {}/{} ({:.0} %), branches {}/{} ({:.0} %)",
        coverage.lines.covered,
        coverage.lines.total,
        percent(coverage.lines.covered, coverage.lines.total),
        coverage.branches.covered,
        coverage.branches.total,
        percent(coverage.branches.covered, coverage.branches.total)
    )
}

fn queries_row(summary: &Summary) -> String {
    let queries = &summary.queries;
    format!(
        "{} asked, {} reached a solver ({:.2} s), {} unanswered",
        thousands(queries.asked),
        thousands(queries.solver),
        queries.solver_s,
        thousands(queries.unknown)
    )
}

/// Rows of the ledger shown before the rest is left to `summary.json`.
const ROWS_SHOWN: usize = 10;

/// Every reason the verdict is `incomplete`, each with its place and what it touched.
fn why_incomplete(summary: &Summary) -> String {
    let mut reasons = Vec::new();
    for cut in &summary.cuts {
        reasons.push(format!("{} paths cut by the {} budget", thousands(cut.count), cut.budget));
    }
    for gap in &summary.gaps {
        let place = if gap.line > 0 { format!("{}:{}: ", gap.file, gap.line) } else { String::new() };
        reasons.push(format!("{place}unsupported: {} ({} paths)", printable(&gap.message), thousands(gap.count)));
    }
    for entry in &summary.ledger {
        let detail = if entry.detail.is_empty() { String::new() } else { format!(" {}", printable(&entry.detail)) };
        let place = if entry.line > 0 { format!("{}:{}: ", entry.file, entry.line) } else { String::new() };
        reasons.push(format!("{place}{}{detail} ({} paths)", entry.kind, thousands(entry.count)));
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = String::from("  there may be more paths, because of\n");
    for reason in reasons.iter().take(ROWS_SHOWN) {
        let _ = writeln!(text, "    {reason}");
    }
    if reasons.len() > ROWS_SHOWN {
        let _ = writeln!(text, "    and {} more, in summary.json", reasons.len() - ROWS_SHOWN);
    }
    text
}

/// The program under test chooses names and messages; it must not drive the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (digit_idx, digit) in digits.chars().enumerate() {
        if digit_idx > 0 && (digits.len() - digit_idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_finding_reads_like_clang() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::write(dir.path().join("f.c"), "int f(int a) {\n\treturn 100 / a;\n}\n").expect("source");
        let finding = FindingSummary {
            kind: "division-by-zero".into(),
            file: "f.c".into(),
            line: 2,
            column: 13,
            message: "division by zero\x1b[2J".into(),
            test: "tests/000002.json".into(),
            confirmed: true,
            paths: 1200,
            ..FindingSummary::default()
        };
        let inputs = [InputValue::new("a", "int", vec![0; 4])];
        let text = finding_text(&finding, &inputs, &mut Sources::new(dir.path()), Colour::Never);
        assert_eq!(
            text,
            "f.c:2:13: error: division by zero\u{fffd}[2J [division-by-zero]\n    2 |  return 100 / a;\n      |             ^\n        \
             a = 0\n        tests/000002.json (shown by the native program; 1,200 paths end here)\n"
        );
    }

    #[test]
    fn the_table_says_why_it_is_incomplete() {
        let mut summary = Summary { program: vec!["f.c".into()], entry: "main".into(), ..Summary::default() };
        summary.cuts.push(crate::CutSummary { budget: "time".into(), count: 1234567 });
        let text = summary_text(&summary, "out", Colour::Never);
        assert!(text.starts_with("f.c (main): incomplete\n"), "{text}");
        assert!(text.contains("1,234,567 paths cut by the time budget"), "{text}");
        assert!(!text.contains('\x1b'));
    }
}
