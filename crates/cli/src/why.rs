//! `colt why DIR FILE:LINE`: what the campaign knows about one line.
//!
//! Nothing new is explored: the answer is read from the measured coverage, the ledger, the gaps and the cuts. A line no
//! path reached in a complete campaign cannot be reached at all; otherwise the places where precision was given up
//! are the candidates, nearest first. A path that was pruned at the line is told with the earlier one it repeats.

use database::Which;
use report::{CoverageView, LedgerSummary, Summary, Verdict, test_name};
use serde_json::Value;
use witness::LedgerKind;

use crate::args::WhyArgs;
use crate::fault;
use crate::folder::Folder;
use crate::outcome::{Exit, Failure};
use crate::place::Place;
use crate::screen::print;

pub fn why(args: &WhyArgs) -> Result<Exit, Failure> {
    fault::doing(format!("explaining {}", args.place));
    let Place { file, line } = Place::parse(&args.place)?;
    let folder = Folder::open(&args.dir)?;
    let (summary, coverage) = (folder.summary()?, folder.coverage()?);
    let file = find_file(&coverage, &file)?;
    let mut text = match count_at(&coverage, &file, line) {
        None => not_code(&coverage, &file, line),
        Some(0) => not_reached(&summary, &file, line, &folder.shown),
        Some(count) => reached(&summary, &coverage, &file, line, count),
    };
    text.push_str(&prunes(&saved_paths(&folder)?, &file, line));
    print(&text);
    Ok(Exit::Success)
}

/// A test, its decisions, and why its path was pruned.
struct SavedPath {
    test: String,
    path: Vec<u64>,
    pruned: Option<String>,
}

fn saved_paths(folder: &Folder) -> Result<Vec<SavedPath>, Failure> {
    // Where nothing was pruned there is nothing to compare with.
    if folder.summary()?.paths.pruned == 0 {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    folder.database.each_test(Which::All, |stored| {
        let test = test_name(stored.test);
        let value: Value = serde_json::from_slice(&stored.to_json())
            .map_err(|error| Failure::usage(format!("{test} is damaged: {error}")))?;
        let path = value["path"].as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_u64).collect();
        let pruned = value["pruned"]["reason"].as_str().map(str::to_string);
        paths.push(SavedPath { test, path, pruned });
        Ok::<(), Failure>(())
    })?;
    Ok(paths)
}

/// Prunes at a line that are told in full.
const MAX_PRUNES: usize = 5;

/// The paths that were pruned at a line, each with the earlier path that makes that right.
fn prunes(paths: &[SavedPath], file: &str, line: u32) -> String {
    let is_here = |reason: &str| {
        let place =
            reason.strip_prefix("at ").and_then(|rest| rest.split(' ').next()).and_then(|at| at.rsplit_once(':'));
        place.is_some_and(|(at, at_line)| {
            at_line == line.to_string() && (at == file || file.ends_with(&format!("/{at}")))
        })
    };
    let here: Vec<(&SavedPath, &str)> = paths
        .iter()
        .filter_map(|saved| Some((saved, saved.pruned.as_deref()?)))
        .filter(|(_, reason)| is_here(reason))
        .collect();
    let mut text = String::new();
    for (saved, reason) in here.iter().take(MAX_PRUNES) {
        text.push_str(&format!("  {} was pruned here: {reason}", saved.test));
        if let Some(earlier) = earlier_path(paths, reason) {
            text.push_str(&format!(", as {earlier} does"));
        }
        text.push('\n');
    }
    if here.len() > MAX_PRUNES {
        text.push_str(&format!("  and {} more paths were pruned here\n", here.len() - MAX_PRUNES));
    }
    text
}

/// A test that was not pruned and begins with the decisions a reason ends with.
fn earlier_path<'a>(paths: &'a [SavedPath], reason: &str) -> Option<&'a str> {
    let (_, decisions) = reason.strip_suffix(']')?.rsplit_once('[')?;
    let decisions: Vec<u64> = decisions.split(',').filter_map(|text| text.parse().ok()).collect();
    let begins_so = |saved: &&SavedPath| saved.pruned.is_none() && saved.path.starts_with(&decisions);
    paths.iter().find(begins_so).map(|saved| saved.test.as_str())
}

/// The measured file whose name is, or ends with, what the user wrote.
fn find_file(coverage: &CoverageView, wanted: &str) -> Result<String, Failure> {
    let ends_with = |file: &&String| file.ends_with(&format!("/{wanted}"));
    let found = coverage.lines.keys().find(|file| *file == wanted).or_else(|| coverage.lines.keys().find(ends_with));
    found.cloned().ok_or_else(|| {
        let known: Vec<&str> = coverage.lines.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none: coverage was not measured".to_string() } else { known.join(", ") };
        Failure::usage(format!("no coverage is known of {wanted}; files of this campaign: {known}"))
    })
}

/// How often the replayed tests passed a place, as far as that was measured.
pub fn n_passed(coverage: &CoverageView, place: &Place) -> u64 {
    let Ok(file) = find_file(coverage, &place.file) else { return 0 };
    count_at(coverage, &file, place.line).unwrap_or(0)
}

fn count_at(coverage: &CoverageView, file: &str, line: u32) -> Option<u64> {
    coverage.lines.get(file)?.iter().find(|(at, _)| *at == line).map(|(_, count)| *count)
}

fn not_code(coverage: &CoverageView, file: &str, line: u32) -> String {
    let next = coverage.lines.get(file).and_then(|lines| lines.iter().map(|(at, _)| *at).find(|at| *at > line));
    match next {
        Some(next) => format!("{file}:{line} has no code; the next line that has is {next}\n"),
        None => format!("{file}:{line} has no code\n"),
    }
}

fn reached(summary: &Summary, coverage: &CoverageView, file: &str, line: u32, count: u64) -> String {
    let mut text = format!("{file}:{line} was reached, {count} times in the tests replayed\n");
    for finding in summary.findings.iter().filter(|finding| finding.file == file && finding.line == line) {
        text.push_str(&format!("  {} is shown by {}: {}\n", finding.kind, finding.test, finding.message));
    }
    let branches = coverage.branches.get(file).map_or(&[][..], Vec::as_slice);
    for (_, column, when_true, when_false) in branches.iter().filter(|branch| branch.0 == line) {
        let side = match (when_true, when_false) {
            (0, 0) => "never decided",
            (0, _) => "never true",
            (_, 0) => "never false",
            _ => continue,
        };
        text.push_str(&format!("  the condition at column {column} was {side}\n"));
        text.push_str(&reasons(summary, file, line));
    }
    text
}

fn not_reached(summary: &Summary, file: &str, line: u32, folder: &str) -> String {
    let mut text = format!("{file}:{line} was not reached\n");
    text.push_str(&reasons(summary, file, line));
    if summary.paths.cut > 0 {
        text.push_str(&format!("  to go on where the budget ended: colt resume {folder}\n"));
        text.push_str(&format!("  to search for this place: colt resume {folder} --towards {file}:{line}\n"));
    }
    text
}

/// Why there may be paths that were not seen, candidates in this file and nearest to the line first.
fn reasons(summary: &Summary, file: &str, line: u32) -> String {
    if summary.verdict == Verdict::Complete {
        let pruned = match summary.paths.pruned {
            0 => String::new(),
            n_pruned => format!(" ({n_pruned} paths were pruned by a technique that says they show nothing new)"),
        };
        return format!("  the campaign is complete: no input of the declared kind leads there{pruned}\n");
    }
    let mut text = String::new();
    for cut in &summary.cuts {
        text.push_str(&format!(
            "  {} paths were cut by the {} budget: raise --max-{}\n",
            cut.count, cut.budget, cut.budget
        ));
    }
    for gap in &summary.gaps {
        text.push_str(&format!("  {} paths ended at {}:{}: {}\n", gap.count, gap.file, gap.line, gap.message));
    }
    let mut entries: Vec<&LedgerSummary> = summary.ledger.iter().collect();
    entries.sort_by_key(|entry| (entry.file != file, entry.line.abs_diff(line)));
    for entry in entries {
        let LedgerSummary { kind, file, line, detail, count, .. } = entry;
        text.push_str(&format!("  {file}:{line} {kind} {detail} ({count} paths)"));
        // A folder of another version may have kinds that are not known here.
        if let Some(kind) = LedgerKind::from_name(kind) {
            text.push_str(&format!(": {}", kind.advice()));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prune_is_told_with_the_path_that_makes_it_right() {
        let saved = |test: &str, path: &[u64], pruned: Option<&str>| SavedPath {
            test: test.to_string(),
            path: path.to_vec(),
            pruned: pruned.map(str::to_string),
        };
        let reason = "at a.c:7 it repeats what follows decisions [1,0]";
        let paths =
            [saved("tests/1", &[1, 1], None), saved("tests/2", &[1, 0, 3], None), saved("tests/3", &[0], Some(reason))];
        assert_eq!(prunes(&paths, "src/a.c", 7), format!("  tests/3 was pruned here: {reason}, as tests/2 does\n"));
        assert_eq!(prunes(&paths, "src/a.c", 8), "");
        assert_eq!(prunes(&paths, "src/aa.c", 7), "");
    }

    #[test]
    fn the_nearest_reason_comes_first() {
        let entry =
            |line| LedgerSummary { kind: "concretised-size".into(), file: "f.c".into(), line, ..Default::default() };
        let summary = Summary { ledger: vec![entry(90), entry(11)], ..Summary::default() };
        let text = reasons(&summary, "f.c", 10);
        assert!(text.find("f.c:11") < text.find("f.c:90"), "{text}");
    }

    #[test]
    fn a_reason_comes_with_what_to_do() {
        let entry =
            |kind: LedgerKind| LedgerSummary { kind: kind.name().into(), file: "f.c".into(), ..Default::default() };
        let summary = Summary { ledger: LedgerKind::ALL.map(entry).to_vec(), ..Summary::default() };
        let text = reasons(&summary, "f.c", 10);
        for (line, kind) in text.lines().zip(LedgerKind::ALL) {
            assert!(line.contains(kind.name()) && line.ends_with(kind.advice()), "{line}");
        }
        assert_eq!(text.lines().count(), LedgerKind::ALL.len());
    }

    #[test]
    fn a_complete_campaign_says_so() {
        let mut summary = Summary::default();
        summary.judge();
        assert!(not_reached(&summary, "f.c", 3, "out").contains("no input of the declared kind leads there"));
    }
}
