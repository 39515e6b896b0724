//! The order of the layers and the way of the data, kept by reading what is really there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::command::project_root;

/// Each crate and the crates it may use directly; what those may use comes with them.
const MAY_USE: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("term", &[]),
    ("grammar", &[]),
    ("solver", &["term"]),
    ("frontend", &["ir"]),
    ("analysis", &["ir"]),
    ("witness", &["ir"]),
    ("vm", &["ir", "term", "witness"]),
    ("explore", &["vm", "solver", "analysis"]),
    ("techniques", &["explore", "grammar"]),
    ("replay", &["witness"]),
    ("report", &["witness"]),
    ("database", &["report"]),
    ("cli", &["techniques", "frontend", "replay", "database", "grammar"]),
    ("testkit", &["cli"]),
];

fn allowed(name: &str) -> BTreeSet<&'static str> {
    let mut all = BTreeSet::new();
    let mut todo = vec![name.to_string()];
    while let Some(name) = todo.pop() {
        let direct = MAY_USE.iter().find(|row| row.0 == name).map_or(&[][..], |row| row.1);
        for used in direct {
            if all.insert(*used) {
                todo.push((*used).to_string());
            }
        }
    }
    all
}

/// The workspace's crates with the workspace crates they use. What only tests use may cross the order.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]).current_dir(project_root());
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("metadata lists packages");
    let names: BTreeSet<String> =
        packages.iter().filter_map(|package| package["name"].as_str()).map(str::to_string).collect();
    let used = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().cloned().unwrap_or_default();
        let kept = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
        kept.filter_map(|dependency| dependency["name"].as_str())
            .filter(|name| names.contains(*name))
            .map(str::to_string)
            .collect()
    };
    packages.iter().map(|package| (package["name"].as_str().unwrap_or_default().to_string(), used(package))).collect()
}

#[test]
fn crates_use_only_what_is_above_them() {
    let edges = edges();
    assert!(edges.len() >= MAY_USE.len(), "crates are missing: {:?}", edges.keys());
    let mut complaints = Vec::new();
    for (name, used) in &edges {
        if !MAY_USE.iter().any(|row| row.0 == name) {
            complaints.push(format!("`{name}` has no place in the order of the layers"));
        }
        let allowed = allowed(name);
        complaints.extend(
            used.iter()
                .filter(|used| !allowed.contains(used.as_str()))
                .map(|used| format!("`{name}` may not use `{used}`")),
        );
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let files = paths.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The techniques: the folders of the crate of that name.
fn techniques() -> Vec<String> {
    let source = project_root().join("crates/techniques/src");
    let entries = std::fs::read_dir(source).expect("techniques has sources");
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Technique names are everyday words, so only their use as a path or as a whole string counts as naming one.
fn names(source: &str, technique: &str) -> bool {
    source.lines().any(|line| {
        let code = line.trim_start();
        if code.starts_with("//") {
            return false;
        }
        let as_string = format!("\"{technique}\"");
        let as_last =
            [format!("crate::{technique}"), format!("super::{technique}"), format!("techniques::{technique}")];
        code.contains(&as_string)
            || as_last.iter().any(|path| has_word(code, path))
            || has_word(code, technique) && code.contains(&format!("{technique}::"))
    })
}

fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].chars().next_back().is_some_and(is_part)
            && !code[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

#[test]
fn naming_is_told_from_everyday_words() {
    assert!(names("use crate::rwset::Footprint;", "rwset"));
    assert!(names("let x = \"rwset\";", "rwset"));
    assert!(names("use super::lazy;", "lazy"));
    assert!(!names("let lengths = vec![1];", "lengths"));
    assert!(!names("// lengths::x is elsewhere", "lengths"));
    assert!(!names("crate::lazy_init()", "lazy"));
}

#[test]
fn no_technique_names_another() {
    let techniques = techniques();
    let mut complaints = Vec::new();
    for own in &techniques {
        // What two are together is declared by one of them.
        let is_pairs = |file: &PathBuf| file.file_name().is_some_and(|name| name == "company.rs");
        let files = rust_files(&project_root().join("crates/techniques/src").join(own));
        for file in files.into_iter().filter(|file| !is_pairs(file)) {
            let source = std::fs::read_to_string(&file).expect("sources are readable");
            let named = techniques.iter().filter(|other| *other != own && names(&source, other));
            complaints.extend(named.map(|other| format!("{} names `{other}`", file.display())));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_machine_and_the_explorer_name_no_technique() {
    let techniques = techniques();
    let mut complaints = Vec::new();
    for layer in ["vm", "explore"] {
        for file in rust_files(&project_root().join("crates").join(layer).join("src")) {
            let source = std::fs::read_to_string(&file).expect("sources are readable");
            let named = techniques.iter().filter(|technique| names(&source, technique));
            complaints.extend(named.map(|technique| format!("{} names `{technique}`", file.display())));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// `file` `function` pairs of a line of the list of hops.
fn hops(line: &str) -> Vec<(String, String)> {
    let spans: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    let is_file = |span: &str| span.starts_with("crates/");
    spans
        .windows(2)
        .filter(|pair| is_file(pair[0]) && !is_file(pair[1]))
        .map(|pair| (pair[0].to_string(), pair[1].to_string()))
        .collect()
}

#[test]
fn hops_are_read_off_a_line() {
    let line = "8. `crates/a.rs` `one`: `x` goes to `crates/b.rs` `two`.";
    let pair = |file: &str, function: &str| (file.to_string(), function.to_string());
    assert_eq!(hops(line), [pair("crates/a.rs", "one"), pair("crates/b.rs", "two")]);
}

#[test]
fn the_way_of_the_data_names_what_is_there() {
    let text = std::fs::read_to_string(project_root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is readable");
    let way = text.split("### The way, hop by hop").nth(1).expect("ARCHITECTURE.md has the list of hops");
    let is_hop = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
    let list: Vec<&str> = way.lines().take_while(|line| !line.starts_with("##")).filter(is_hop).collect();
    assert!(list.len() >= 10, "the list of hops is short: {list:?}");
    let mut complaints = Vec::new();
    for (line, number) in list.iter().zip(1..) {
        let hops = hops(line);
        if hops.is_empty() || !line.starts_with(&format!("{number}. ")) {
            complaints.push(format!("no hop, or not number {number}: {line}"));
        }
        for (file, function) in hops {
            let source = std::fs::read_to_string(project_root().join(&file)).unwrap_or_default();
            let is_defined = |code: &str| {
                let rest = code.trim_start().split_once("fn ").map(|(_, rest)| rest);
                rest.and_then(|rest| rest.strip_prefix(function.as_str()))
                    .is_some_and(|rest| rest.starts_with(['(', '<']))
            };
            if !source.lines().any(is_defined) {
                complaints.push(format!("{file} has no function `{function}`"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
