//! `--seeds`: what is known comes first, and nothing else changes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use testkit::command::{Finished, read_json, run_colt};

const LIMIT: Duration = Duration::from_secs(120);

/// Four bytes that no search would come to early: the way there is one of 2^40 paths.
const DEEP: &str = r#"#include <stdio.h>
int main(void) {
    unsigned hash = 0;
    int n_large = 0;
    for (int i = 0; i < 40; i++) {
        int c = getchar();
        hash = hash * 31 + c;
        if (c >= 'm')
            n_large++;
    }
    if (n_large == 23 && hash % 1000 == 7)
        return 1 / (n_large - 23);
    return 0;
}
"#;

const SMALL: &str = r#"#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 3 && data[0] == 'a' && data[1] == 'b')
        return data[2] == 'c' ? 1 : 2;
    return 0;
}
"#;

fn run(dir: &Path, words: &[&str]) -> Finished {
    run_colt(dir, &[&["run", "--tests", "files"], words].concat(), LIMIT)
}

/// 40 bytes with 23 large ones whose hash ends in 007.
fn deep_seed() -> Vec<u8> {
    let hash = |text: &[u8]| text.iter().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    let mut text = [b"z".repeat(23), b"a".repeat(17)].concat();
    for first in b'a'..b'm' {
        for (second, third) in (b'a'..b'm').flat_map(|second| (b'a'..b'm').map(move |third| (second, third))) {
            text[37..].copy_from_slice(&[first, second, third]);
            if hash(&text) % 1000 == 7 {
                return text;
            }
        }
    }
    unreachable!("1,728 texts have a hash that ends in 007 among them");
}

#[test]
fn a_seed_is_followed_first() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    fs::write(dir.join("deep.c"), DEEP).expect("writable");
    fs::create_dir(dir.join("seeds")).expect("writable");
    fs::write(dir.join("seeds/zero"), [0; 40]).expect("writable");
    fs::write(dir.join("seeds/crash"), deep_seed()).expect("writable");
    let words =
        ["deep.c", "--sym-stdin", "40", "--seeds", "seeds", "--max-paths", "4", "--workers", "1", "--out", "out"];
    let done = run(dir, &words);
    assert_eq!(done.status, Some(10), "{}", done.output());
    let summary = read_json(&dir.join("out/summary.json"));
    assert_eq!(summary["findings"][0]["kind"], "division-by-zero");
    assert_eq!(summary["findings"][0]["confirmed"], true);
    assert_eq!(summary["verdict"], "incomplete");
}

#[test]
fn seeds_change_the_order_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    fs::write(dir.join("small.c"), SMALL).expect("writable");
    fs::create_dir(dir.join("seeds")).expect("writable");
    for (name, text) in [("1", "abc"), ("2", ""), ("3", "abxyz"), ("4", "much too long")] {
        fs::write(dir.join("seeds").join(name), text).expect("writable");
    }
    let plain = run(dir, &["small.c", "--out", "plain"]);
    assert_eq!(plain.status, Some(0), "{}", plain.output());
    // A campaign's own tests and ktest files are seeds as well.
    let exported = run_colt(dir, &["export", "plain", "--to", "ktest"], LIMIT);
    assert_eq!(exported.status, Some(0), "{}", exported.output());
    for (seeds, workers) in [("seeds", "1"), ("seeds", "2"), ("plain/tests", "1"), ("plain/export/ktest", "1")] {
        let out = format!("out-{}-{workers}", seeds.replace('/', "-"));
        let done = run(dir, &["small.c", "--seeds", seeds, "--workers", workers, "--out", &out]);
        assert_eq!(done.status, Some(0), "{}", done.output());
        let (with, without) =
            (read_json(&dir.join(&out).join("summary.json")), read_json(&dir.join("plain/summary.json")));
        assert_eq!(with["paths"], without["paths"], "{seeds}");
        assert_eq!(with["coverage"], without["coverage"], "{seeds}");
    }
    // The seeds are among the tests, byte for byte.
    let tests = fs::read_dir(dir.join("out-seeds-1/tests"))
        .expect("tests")
        .map(|entry| read_json(&entry.expect("entry").path()));
    let bytes: Vec<String> =
        tests.map(|test| test["inputs"][0]["bytes"].as_str().unwrap_or_default().to_string()).collect();
    assert!(bytes.contains(&"616263".to_string()) && bytes.contains(&"616278797a".to_string()), "{bytes:?}");
}

#[test]
fn a_raw_seed_is_the_one_symbolic_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    let from_file = DEEP.replace("unsigned hash", "freopen(\"in\", \"r\", stdin);\n    unsigned hash");
    fs::write(dir.join("deep.c"), from_file).expect("writable");
    fs::write(dir.join("crash"), deep_seed()).expect("writable");
    let words = ["deep.c", "--libc", "--sym-file", "in", "40", "--seeds", "crash", "--max-paths", "1", "--out", "out"];
    let done = run(dir, &words);
    let findings = read_json(&dir.join("out/summary.json"));
    assert_eq!(findings["findings"].as_array().map(Vec::len), Some(1), "{}", done.output());
    let two =
        ["deep.c", "--libc", "--sym-file", "in", "40", "--sym-file", "b", "1", "--seeds", "crash", "--out", "two"];
    assert_eq!(run(dir, &two).status, Some(2));
}

#[test]
fn a_stopped_campaign_goes_on_with_its_seeds() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    fs::write(dir.join("deep.c"), DEEP).expect("writable");
    fs::write(dir.join("zero"), [0; 40]).expect("writable");
    fs::write(dir.join("crash"), deep_seed()).expect("writable");
    let words =
        ["deep.c", "--sym-stdin", "40", "--seeds", "zero", "--max-paths", "5", "--workers", "1", "--out", "out"];
    let done = run(dir, &words);
    assert_eq!(
        read_json(&dir.join("out/summary.json"))["findings"].as_array().map(Vec::len),
        Some(0),
        "{}",
        done.output()
    );
    let resumed = run_colt(dir, &["resume", "out", "--seeds", "crash", "--max-paths", "1"], LIMIT);
    let summary = read_json(&dir.join("out/summary.json"));
    assert_eq!(summary["findings"].as_array().map(Vec::len), Some(1), "{}", resumed.output());
}

#[test]
fn a_resumed_campaign_has_the_same_paths_with_seeds() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    fs::write(dir.join("small.c"), SMALL).expect("writable");
    fs::create_dir(dir.join("seeds")).expect("writable");
    for (name, text) in [("1", "abc"), ("2", ""), ("3", "abxyz"), ("4", "qqq")] {
        fs::write(dir.join("seeds").join(name), text).expect("writable");
    }
    let plain = run(dir, &["small.c", "--out", "plain"]);
    assert_eq!(plain.status, Some(0), "{}", plain.output());
    for workers in ["1", "2"] {
        let out = format!("out-{workers}");
        run(dir, &["small.c", "--seeds", "seeds", "--workers", workers, "--max-paths", "2", "--out", &out]);
        let resumed = run_colt(dir, &["resume", &out], LIMIT);
        assert_eq!(resumed.status, Some(0), "{}", resumed.output());
        let (with, without) =
            (read_json(&dir.join(&out).join("summary.json")), read_json(&dir.join("plain/summary.json")));
        assert_eq!(with["paths"], without["paths"], "{workers}");
        assert_eq!(with["verdict"], "complete", "{workers}");
    }
}

#[test]
fn seeds_nobody_can_use_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    fs::write(dir.join("f.c"), "int main(void) { return 0; }\n").expect("writable");
    fs::write(dir.join("seed"), "x").expect("writable");
    fs::write(dir.join("bad.ktest"), "x").expect("writable");
    for (seeds, word) in [("seed", "--sym-stdin"), ("bad.ktest", ".ktest"), ("missing", "missing")] {
        let done = run(dir, &["f.c", "--seeds", seeds, "--out", "out"]);
        assert_eq!(done.status, Some(2), "{}", done.output());
        assert!(done.stderr.contains(word), "{}", done.stderr);
    }
}
