//! What lies in the database, and what is said of one that cannot be used.

use std::fs;
use std::path::Path;
use std::time::Duration;

use database::Database;
use testkit::command::{Finished, read_json, run_colt};

const LIMIT: Duration = Duration::from_secs(120);

/// 64 paths, seven of which end in one of two faults.
const PROGRAM: &str = r#"#include <assert.h>
#include <colt.h>
int main(void) {
    unsigned char a[6];
    colt_input(a, sizeof a, "a");
    int n_large = 0;
    for (int i = 0; i < 6; i++)
        if (a[i] > 100)
            n_large++;
    assert(n_large < 6);
    return 100 / (n_large - 5);
}
"#;

fn run(dir: &Path, words: &[&str]) -> Finished {
    run_colt(dir, words, LIMIT)
}

fn campaign(dir: &Path, out: &str, more: &[&str]) {
    fs::write(dir.join("large.c"), PROGRAM).expect("writable");
    let finished = run(dir, &[&["run", "large.c", "--no-replay", "--out", out], more].concat());
    assert!(matches!(finished.status, Some(5 | 10)), "{}", finished.output());
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("readable"))
    };
    let mut files: Vec<(String, String)> = entries.map(read).collect();
    files.sort();
    files
}

#[test]
fn tests_have_the_same_numbers_for_any_number_of_workers() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    for workers in ["1", "2", "3"] {
        campaign(dir, workers, &["--workers", workers]);
        let exported = run(dir, &["export", workers, "--to", "json"]);
        assert_eq!(exported.status, Some(0), "{}", exported.output());
        // The inputs are the solver's choice; what is numbered is the path.
        let paths = |out: &str| -> Vec<(String, String, String)> {
            let files = files(&dir.join(out).join("export/json"));
            let of = |(name, text): (String, String)| {
                let test: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                (name, test["path"].to_string(), test["ending"].to_string())
            };
            files.into_iter().map(of).collect()
        };
        assert_eq!(paths(workers).len(), 64);
        assert_eq!(paths(workers), paths("1"), "{workers} workers");
        let tests = |out: &str| {
            let summary = read_json(&dir.join(out).join("summary.json"));
            summary["findings"]
                .as_array()
                .map(|findings| findings.iter().map(|f| f["test"].clone()).collect::<Vec<_>>())
        };
        assert_eq!(tests(workers), tests("1"), "{workers} workers");
    }
}

#[test]
fn files_are_those_of_the_database() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    campaign(dir, "some", &["--workers", "1"]);
    campaign(dir, "all", &["--workers", "1", "--tests", "files"]);
    run(dir, &["export", "some", "--to", "json"]);
    let exported = files(&dir.join("some/export/json"));
    assert_eq!(files(&dir.join("all/tests")), exported);
    let some = files(&dir.join("some/tests"));
    assert!(some.len() < 10 && some.iter().all(|file| exported.contains(file)), "{} files", some.len());
    for finding in read_json(&dir.join("some/summary.json"))["findings"].as_array().expect("findings") {
        assert!(dir.join("some").join(finding["test"].as_str().unwrap_or_default()).is_file(), "{finding}");
    }
    let shown = run(dir, &["show", "some", "3", "--json"]);
    assert_eq!(shown.stdout, exported[2].1);
    let shown = run(dir, &["show", "some", "1"]);
    assert!(shown.stdout.contains("assertion-failure at large.c:10"), "{}", shown.output());
    assert_eq!(run(dir, &["show", "some", "65"]).status, Some(2));
}

#[test]
fn a_database_that_cannot_be_used_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    campaign(dir, "out", &["--workers", "1"]);
    let path = dir.join("out").join(database::NAME);
    let whole = fs::read(&path).expect("readable");
    let refused = |what: &str, words: &[&str]| {
        for command in
            [&["replay", "out"][..], &["export", "out", "--to", "json"], &["report", "out"], &["resume", "out"]]
        {
            let finished = run(dir, command);
            assert!(matches!(finished.status, Some(2 | 6)), "{what}: {}", finished.output());
            for word in words {
                assert!(finished.stderr.contains(word), "{what}: `{word}` is not in:\n{}", finished.output());
            }
        }
    };
    fs::write(&path, &whole[..whole.len() / 2]).expect("writable");
    refused("cut off", &["campaign.sqlite", "damaged"]);
    fs::write(&path, "something else").expect("writable");
    refused("another file", &["campaign.sqlite", "not the database of a campaign"]);
    let mut newer = whole.clone();
    // The version of the schema is in the header.
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(&path, &newer).expect("writable");
    refused("a later version", &["campaign.sqlite", "later version", "99"]);
    fs::remove_file(&path).expect("removable");
    refused("no database", &["not the output folder of a campaign"]);
}

#[test]
fn one_campaign_is_gone_on_with_by_one_process() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    campaign(dir, "out", &["--workers", "1", "--max-paths", "20"]);
    let held = Database::open(&dir.join("out")).expect("opens");
    let refused = run(dir, &["resume", "out"]);
    assert_eq!(refused.status, Some(6), "{}", refused.output());
    assert!(refused.stderr.contains("another process"), "{}", refused.output());
    drop(held);
    let resumed = run(dir, &["resume", "out"]);
    assert_eq!(resumed.status, Some(10), "{}", resumed.output());
    assert_eq!(read_json(&dir.join("out/summary.json"))["paths"]["total"].as_u64(), Some(64));
}

/// As they were before there was a database: a journal and a file for each test.
#[test]
fn old_campaigns_are_read() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    campaign(dir, "out", &["--workers", "1", "--tests", "files"]);
    run(dir, &["export", "out", "--to", "json", "--out", "before"]);
    let database = Database::read(&dir.join("out")).expect("opens");
    let options = database.get("options").expect("readable").expect("there");
    drop(database);
    let mut journal: serde_json::Value = serde_json::from_str(&options).expect("JSON");
    for (key, value) in
        [("version", serde_json::json!(2)), ("phase", "ended".into()), ("pending", serde_json::json!([]))]
    {
        journal[key] = value;
    }
    fs::write(dir.join("out/journal"), journal.to_string()).expect("writable");
    fs::remove_file(dir.join("out").join(database::NAME)).expect("removable");
    let exported = run(dir, &["export", "out", "--to", "json", "--out", "after"]);
    assert_eq!(exported.status, Some(0), "{}", exported.output());
    assert_eq!(files(&dir.join("after")).len(), 64);
    let inputs = |folder: &str| -> Vec<serde_json::Value> {
        files(&dir.join(folder)).iter().map(|(_, text)| serde_json::from_str(text).expect("JSON")).collect()
    };
    assert_eq!(inputs("after"), inputs("before"));
    assert_eq!(run(dir, &["report", "out"]).status, Some(0));
    assert_eq!(run(dir, &["replay", "out"]).status, Some(0));
    let refused = run(dir, &["resume", "out"]);
    assert_eq!(refused.status, Some(2), "{}", refused.output());
    assert!(refused.stderr.contains("run it again"), "{}", refused.output());
}

/// Decisions of one run mean nothing in another, where a technique chooses what is symbolic in each.
#[test]
fn a_campaign_that_begins_again_says_so() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    campaign(dir, "out", &["--with", "partition", "--max-paths", "3"]);
    let resumed = run(dir, &["resume", "out"]);
    assert_eq!(resumed.status, Some(10), "{}", resumed.output());
    assert!(resumed.stdout.contains("begins again from the start"), "{}", resumed.output());
    campaign(dir, "plain", &["--workers", "1", "--max-paths", "3"]);
    let resumed = run(dir, &["resume", "plain"]);
    assert!(!resumed.output().contains("begins again"), "{}", resumed.output());
}
