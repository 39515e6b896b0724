//! The coverage reported is what llvm-cov says when the same inputs are run by hand.

mod common;

use std::path::Path;
use std::process::Command;

use common::{build_with, int};
use replay::{Entry, Share};
use serde_json::Value;

const PROGRAM: &str = r#"
#ifdef BY_HAND
#include <stdlib.h>
static int argument;
static int colt_int(const char *name) { (void)name; return argument; }
#else
#include <colt.h>
#endif
static int grade(int x) {
  if (x > 100 && x % 2 == 0)
    return 1;
  for (int i = 0; i < 3; i++)
    x += i;
  return x < 0 ? 2 : 3;
}
static int never(int x) {
  return x ? 1 : 2;
}
int program(void) {
  int x = colt_int("x");
  if (x == 1234)
    return never(x);
  return grade(x);
}
#ifdef BY_HAND
int main(int argc, char **argv) { argument = atoi(argv[1]); return program(); }
#else
int main(void) {
  int status = program();
  if (status == 1)
    __builtin_trap();
  return status;
}
#endif
"#;

fn tool(dir: &Path, name: &str, args: &[&str]) -> String {
    let output = Command::new(name).current_dir(dir).args(args).output().unwrap();
    // The program's own status means nothing here.
    assert!(name.starts_with("./") || output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Counts of the lines of the functions that both builds share.
fn shared_lines(counts: impl Iterator<Item = (u32, u64)>) -> Vec<(u32, u64)> {
    let first = PROGRAM.lines().position(|line| line.starts_with("static int grade")).unwrap() as u32 + 1;
    let last = PROGRAM.lines().position(|line| line.contains("return grade(x)")).unwrap() as u32 + 2;
    counts.filter(|(line, _)| (first..=last).contains(line)).collect()
}

#[test]
fn counts_are_those_of_a_run_by_hand() {
    let mut built = build_with(PROGRAM, Entry::Main, |_| {});
    let values = [5, -50, 102, 103, 5];
    for value in values {
        // 102 ends in a trap, and its counts are kept all the same.
        built.session.run(&[int("x", value)]);
    }
    let coverage = built.session.coverage().unwrap();

    let dir = built.dir.path();
    let flags = ["-g", "-O0", "-DBY_HAND", "-fprofile-instr-generate", "-fcoverage-mapping", "f.c", "-o", "by-hand"];
    tool(dir, "clang-19", &flags);
    let mut merge = vec!["merge".to_string(), "-o".into(), "all".into()];
    for (idx, value) in values.iter().enumerate() {
        let raw = format!("{idx}.raw");
        Command::new("./by-hand")
            .current_dir(dir)
            .arg(value.to_string())
            .env("LLVM_PROFILE_FILE", &raw)
            .status()
            .unwrap();
        merge.push(raw);
    }
    tool(dir, "llvm-profdata-19", &merge.iter().map(String::as_str).collect::<Vec<_>>());
    let lcov = tool(dir, "llvm-cov-19", &["export", "-format=lcov", "-instr-profile=all", "by-hand"]);
    let by_hand = lcov.lines().filter_map(|row| row.strip_prefix("DA:")?.split_once(','));
    let by_hand = shared_lines(by_hand.map(|(line, count)| (line.parse().unwrap(), count.parse().unwrap())));
    let ours = shared_lines(coverage.files["f.c"].lines.iter().map(|row| (row.line, row.count)));
    assert!(ours.iter().any(|row| row.1 == 0) && ours.iter().any(|row| row.1 == 5));
    assert_eq!(ours, by_hand);
}

#[test]
fn totals_and_file_agree_with_llvm_cov_on_the_same_counters() {
    let mut built = build_with(PROGRAM, Entry::Main, |_| {});
    let untouched = built.session.coverage().unwrap();
    assert_eq!((untouched.lines.covered, untouched.branches.covered), (0, 0));
    built.session.run(&[int("x", 102)]);
    built.session.run(&[int("x", 3)]);
    let coverage = built.session.coverage().unwrap();

    let native = built.dir.path().join("out/native");
    tool(&native, "llvm-profdata-19", &["merge", "0.profraw", "-o", "again"]);
    let export = tool(&native, "llvm-cov-19", &["export", "-summary-only", "-instr-profile=again", "program"]);
    let export: Value = serde_json::from_str(&export).unwrap();
    let totals = &export["data"][0]["totals"];
    let share = |what: &str| Share {
        covered: totals[what]["covered"].as_u64().unwrap(),
        total: totals[what]["count"].as_u64().unwrap(),
    };
    assert_eq!(coverage.lines, share("lines"));
    assert_eq!(coverage.branches, share("branches"));
    assert_eq!(coverage.lines.total, untouched.lines.total);

    let file = coverage.to_json();
    let covered = file["lines"]["f.c"].as_array().unwrap().iter().filter(|row| row[1] != 0).count();
    assert_eq!(covered as u64, coverage.lines.covered);
    let sides = file["branches"]["f.c"].as_array().unwrap();
    let taken: usize = sides.iter().map(|row| usize::from(row[2] != 0) + usize::from(row[3] != 0)).sum();
    assert_eq!((taken as u64, sides.len() as u64 * 2), (coverage.branches.covered, coverage.branches.total));
}
