//! The programs that `lazy` was published with, or like them: how many iterations their paths take.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use testkit::command::{Finished, project_root, read_json, run_colt};

fn colt(words: &[&str]) -> Finished {
    run_colt(&project_root(), words, Duration::from_secs(300))
}

struct Campaign {
    folder: tempfile::TempDir,
}

impl Campaign {
    fn run(file: &str, flags: &[&str]) -> Campaign {
        let campaign = Campaign { folder: tempfile::tempdir().expect("a temporary folder") };
        let (file, out) = (format!("bench/lazy/{file}"), campaign.out());
        let args = [&["run", &file, "--with", "lazy", "--no-replay", "--out", &out], flags].concat();
        let finished = colt(&args);
        assert!(matches!(finished.status, Some(0 | 5)), "{finished:?}");
        campaign
    }

    fn out(&self) -> String {
        self.folder.path().join("out").display().to_string()
    }

    fn summary(&self) -> Value {
        read_json(&self.folder.path().join("out/summary.json"))
    }

    fn figure(&self, key: &str) -> u64 {
        self.summary()["lazy"][key].as_u64().unwrap_or_else(|| panic!("no figure {key}"))
    }

    fn n_paths(&self) -> u64 {
        self.summary()["paths"]["total"].as_u64().expect("a number")
    }

    fn tests(&self) -> Vec<Value> {
        let folder = std::fs::read_dir(self.folder.path().join("out/tests")).expect("tests were written");
        folder.map(|entry| read_json(&entry.expect("an entry").path())).collect()
    }

    /// The texts, up to their terminators, that one input has in the tests.
    fn texts(&self, input: usize) -> BTreeSet<Vec<u8>> {
        let text = |test: &Value| {
            let hex = test["inputs"][input]["bytes"].as_str().expect("bytes").as_bytes().to_vec();
            let digit = |at: usize| (hex[at] as char).to_digit(16).expect("hex") as u8;
            (0..hex.len() / 2)
                .map(|idx| digit(2 * idx) * 16 + digit(2 * idx + 1))
                .take_while(|byte| *byte != 0)
                .collect()
        };
        self.tests().iter().map(text).collect()
    }
}

#[test]
fn two_comparisons_take_few_iterations() {
    let campaign = Campaign::run("figure1.c", &["--entry", "testme"]);
    assert_eq!(campaign.n_paths(), 3);
    assert_eq!(campaign.summary()["verdict"], "complete");
    assert!(campaign.figure("iterations") <= 60);
    assert!(campaign.texts(0).contains(b"Hello World".as_slice()));
    assert!(campaign.texts(1).contains(b"Hello ESEC/FSE".as_slice()));
}

#[test]
fn iterations_do_not_grow_with_the_buffer() {
    for flag in ["-DN=16", "-DN=256", "-DN=4096"] {
        let campaign = Campaign::run("figure7.c", &["--cflags", flag]);
        assert_eq!((campaign.n_paths(), campaign.figure("concretised")), (3, 3), "{flag}");
        assert!(campaign.figure("iterations") <= 10, "{flag}");
    }
}

#[test]
fn published_programs_take_at_most_half_the_published_iterations() {
    for (file, entry, n_paths, published) in
        [("program1.c", "main", 5, 59), ("program2.c", "main", 5, 63), ("program3.c", "testme", 4, 68)]
    {
        let campaign = Campaign::run(file, &["--entry", entry]);
        assert_eq!((campaign.n_paths(), campaign.figure("concretised")), (n_paths, n_paths), "{file}");
        assert!(2 * campaign.figure("iterations") <= published, "{file}");
    }
}

#[test]
fn what_a_skipped_call_hides_is_not_believed() {
    let campaign = Campaign::run("figure6.c", &["--lazy-skip", "foo"]);
    assert_eq!((campaign.figure("concretised"), campaign.figure("infeasible")), (1, 2));
    assert!(campaign.tests().iter().all(|test| test["status"] == 0));
}

#[test]
fn the_calculator_takes_fewer_iterations_than_published() {
    for (flag, published) in [("-DOPS=1", 206), ("-DOPS=2", 1671)] {
        let campaign = Campaign::run("calculator.c", &["--cflags", flag]);
        assert_eq!(campaign.summary()["verdict"], "complete", "{flag}");
        assert!(campaign.figure("iterations") < published, "{flag}");
    }
}

#[test]
fn a_stopped_campaign_ends_like_one_that_was_not() {
    let whole = Campaign::run("calculator.c", &["--cflags", "-DOPS=1"]);
    let parts = Campaign::run("calculator.c", &["--cflags", "-DOPS=1", "--max-paths", "20"]);
    assert_eq!(parts.summary()["verdict"], "incomplete");
    let resumed = colt(&["resume", &parts.out()]);
    assert_eq!(resumed.status, Some(0), "{resumed:?}");
    let (whole_summary, parts_summary) = (whole.summary(), parts.summary());
    for key in ["verdict", "paths", "tests"] {
        assert_eq!(whole_summary[key], parts_summary[key], "{key}");
    }
    assert_eq!(whole.texts(0), parts.texts(0));
}

/// Beside others it explores what is left to it, and as far as it does nobody prunes.
#[test]
fn it_shows_no_less_beside_others() {
    let alone = Campaign::run("figure6.c", &["--lazy-skip", "foo"]);
    let n_alone = alone.summary()["paths"]["total"].as_u64();
    for line_up in ["lazy,rwset", "partition,lazy"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("out").display().to_string();
        let words = ["--lazy-skip", "foo", "--no-replay", "--out", &out];
        let finished = colt(&[&["run", "bench/lazy/figure6.c", "--with", line_up], &words[..]].concat());
        let summary = read_json(&folder.path().join("out/summary.json"));
        assert_eq!(summary["verdict"], "complete", "{finished:?}");
        assert!(summary["paths"]["total"].as_u64() >= n_alone, "{line_up}: {summary}");
    }
}
