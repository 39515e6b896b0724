//! `--tests covering`: fewer tests, everything else as it was.

use std::fs;
use std::time::Duration;

use testkit::command::{read_json, run_colt};

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

#[test]
fn covering_tests_are_fewer_and_show_as_much() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    fs::write(dir.join("large.c"), PROGRAM).expect("writable");
    let all = run_colt(dir, &["run", "large.c", "--workers", "1", "--out", "all"], LIMIT);
    assert_eq!(all.status, Some(10), "{}", all.output());
    let all = read_json(&dir.join("all/summary.json"));
    for workers in ["1", "2"] {
        let words = ["run", "large.c", "--tests", "covering", "--workers", workers, "--out", workers];
        let few = run_colt(dir, &words, LIMIT);
        assert_eq!(few.status, Some(10), "{}", few.output());
        let summary = read_json(&dir.join(workers).join("summary.json"));
        for kept in ["paths", "coverage", "verdict"] {
            assert_eq!(summary[kept], all[kept], "{kept} with {workers} workers");
        }
        let n_tests = fs::read_dir(dir.join(workers).join("tests")).expect("tests").count() as u64;
        assert_eq!(summary["tests"].as_u64(), Some(n_tests));
        assert!(n_tests * 2 < all["tests"].as_u64().unwrap_or(0), "{n_tests} tests of {}", all["tests"]);
        let findings = summary["findings"].as_array().expect("a list");
        assert_eq!(findings.len(), all["findings"].as_array().map_or(0, Vec::len));
        for finding in findings {
            assert_eq!(finding["confirmed"], true, "{finding}");
            let test = dir.join(workers).join(finding["test"].as_str().unwrap_or_default());
            assert!(test.is_file(), "{}", test.display());
        }
    }
}
