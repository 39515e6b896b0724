//! A trial of the seam: a technique that the project does not have is given to the command with those it has. Nothing of
//! `vm`, `explore`, `cli` or `report` knows it.

mod loop_heads;

use std::ffi::OsString;
use std::path::Path;

use techniques::Entry;

const PROGRAM: &str = r#"#include <colt.h>
int main(void) {
    unsigned char n;
    colt_input(&n, 1, "n");
    int sum = 0;
    for (int i = 0; i < (n & 3); i++)
        sum += i;
    for (int i = 0; i < 50; i++)
        sum ^= i;
    return sum;
}
"#;

/// The list of `techniques::ALL` with one line more.
const ALL: &[Entry] =
    &[techniques::lazy::ENTRY, techniques::partition::ENTRY, techniques::rwset::ENTRY, loop_heads::ENTRY];

fn colt(words: &[&str]) -> u8 {
    let words = std::iter::once("colt").chain(words.iter().copied()).map(OsString::from);
    cli::main(words.collect(), ALL)
}

fn heads(out: &Path) -> Vec<(String, u64)> {
    let text = std::fs::read_to_string(out.join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let heads = summary["loop-heads"]["heads"].as_array().expect("a table").clone();
    let row = |head: &serde_json::Value| {
        (head["head"].as_str().unwrap_or_default().to_string(), head["passed"].as_u64().unwrap_or_default())
    };
    heads.iter().map(row).collect()
}

#[test]
fn a_technique_is_a_folder_and_a_line() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (file, out) = (dir.path().join("loops.c"), dir.path().join("out"));
    std::fs::write(&file, PROGRAM).expect("writable");
    let (file, out_word) = (file.display().to_string(), out.display().to_string());
    assert_eq!(colt(&["run", &file, "--with", "loop-heads", "--loop-heads-least", "many"]), 2, "no number");
    assert_eq!(colt(&["run", &file, "--loop-heads-most", "3"]), 2, "no such flag");
    assert_eq!(colt(&["run", &file, "--with", "loop-heads,rwset"]), 2, "a pair that nobody has declared");
    let words = ["run", &file, "--with", "loop-heads", "--loop-heads-least", "100", "--no-replay", "--quiet"];
    assert_eq!(colt(&[&words[..], &["--max-paths", "2", "--out", &out_word]].concat()), 5);
    let before = heads(&out);
    // The flag is kept: what is below it stays out of the table, before and after.
    assert_eq!(colt(&["resume", &out_word, "--quiet"]), 0);
    let after = heads(&out);
    assert_eq!((before.len(), after.len()), (1, 1), "{before:?} {after:?}");
    // Four paths pass the second loop 51 times each; the figures are those of the part that ran last.
    assert_eq!(before[0].1 + after[0].1, 4 * 51, "{before:?} {after:?}");
}
