//! `colt resume --towards FILE:LINE`: a search for one place, where exploring everything would not come to its end.

use std::fs;
use std::path::Path;
use std::time::Duration;

use testkit::command::{Finished, read_json, run_colt};

const LIMIT: Duration = Duration::from_secs(180);

/// 2^24 paths; the place is behind two calls and a condition on six of the bytes.
const PROGRAM: &str = r#"#include <colt.h>
static int state;
static void deep(const char *text) {
    if (text[4] == 'e' && text[5] == 'd')
        state = 2;                       // line 5
}
static void look(const char *text) {
    if (text[0] == 'n' && text[1] == 'e' && text[2] == 'e' && text[3] == 'd')
        deep(text);
    if (state == 7)
        state = 8;                       // line 11
}
int main(void) {
    char text[6];
    unsigned char flags[24];
    colt_input(flags, sizeof flags, "flags");
    colt_input(text, sizeof text, "text");
    int n = 0;
    for (int i = 0; i < 24; i++)
        if (flags[i] > 100)
            n++;
    look(text);
    return n;
}
"#;

fn run(dir: &Path, words: &[&str]) -> Finished {
    run_colt(dir, words, LIMIT)
}

fn started(dir: &Path, out: &str, more: &[&str]) {
    fs::write(dir.join("far.c"), PROGRAM).expect("writable");
    let finished = run(dir, &[&["run", "far.c", "--max-paths", "3", "--out", out], more].concat());
    assert_eq!(finished.status, Some(5), "{}", finished.output());
}

/// The name of the test that the run says comes to a place.
fn test_of(finished: &Finished, place: &str) -> String {
    let says = format!("{place} is reached by ");
    let line = finished.stdout.lines().find(|line| line.starts_with(&says));
    line.unwrap_or_else(|| panic!("said:\n{}", finished.output()))[says.len()..].to_string()
}

#[test]
fn a_place_is_reached_and_the_test_shows_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    for workers in ["1", "2"] {
        let out = format!("out{workers}");
        started(dir, &out, &["--workers", workers, "--search", "dfs"]);
        let found = run(dir, &["resume", &out, "--towards", "far.c:5", "--max-time", "60"]);
        let test = read_json(&dir.join(test_of(&found, "far.c:5")));
        let text = test["inputs"].as_array().expect("inputs").iter().find(|input| input["name"] == "text");
        assert_eq!(text.expect("the text")["bytes"], "6e6565646564");
        // It ended there, and says what is left.
        let summary = read_json(&dir.join(&out).join("summary.json"));
        assert!(summary["paths"]["total"].as_u64().expect("a number") < 100_000, "{summary}");
        assert_eq!(summary["verdict"], "incomplete");
        let why = run(dir, &["why", &out, "far.c:5"]);
        assert!(why.stdout.contains("was reached"), "{}", why.output());
        let again = run(dir, &["resume", &out, "--towards", "far.c:5"]);
        assert!(again.stdout.contains("was reached before"), "{}", again.output());
    }
}

#[test]
fn what_cannot_be_reached_is_not() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    let program = PROGRAM.replace("24", "2");
    fs::write(dir.join("near.c"), program).expect("writable");
    let finished = run(dir, &["run", "near.c", "--max-paths", "3", "--out", "out"]);
    assert_eq!(finished.status, Some(5), "{}", finished.output());
    let nothing = run(dir, &["resume", "out", "--towards", "near.c:11"]);
    assert_eq!(nothing.status, Some(0), "{}", nothing.output());
    assert!(nothing.stdout.contains("near.c:11 cannot be reached"), "{}", nothing.output());
}

#[test]
fn a_place_without_code_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    started(dir, "out", &["--no-replay"]);
    for (place, why) in [("far.c:3000", "no code at far.c:3000"), ("far.c", "not FILE:LINE"), ("other.c:5", "no code")]
    {
        let refused = run(dir, &["resume", "out", "--towards", place]);
        assert_eq!(refused.status, Some(2), "{}", refused.output());
        assert!(refused.output().contains(why), "{}", refused.output());
    }
    // Nothing was lost.
    let resumed = run(dir, &["resume", "out", "--max-paths", "10"]);
    assert_eq!(resumed.status, Some(5), "{}", resumed.output());
}
