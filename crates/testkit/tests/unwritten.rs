//! Colt and MemorySanitizer name the same uses of unwritten memory, on generated functions.
//!
//! `UNWRITTEN=N` says how many functions; a few by default.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::command::{Finished, read_json, run_colt, run_limited};
use testkit::runner::clang;
use testkit::unwritten::{HEADER, function};

const LIMIT: Duration = Duration::from_secs(120);
/// Functions in one file, which is compiled once.
const BATCH: u64 = 20;

type Lines = BTreeSet<u32>;

#[test]
fn colt_and_memory_sanitizer_agree() {
    let n_functions: u64 = std::env::var("UNWRITTEN").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let first: u64 = std::env::var("UNWRITTEN_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut n_told, mut n_clean, mut n_seen) = (0, 0, 0);
    let mut wrong = String::new();
    for batch in 0..n_functions.div_ceil(BATCH) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let source = dir.path().join("program.c");
        let seeds: Vec<u64> = (0..BATCH).map(|idx| first + batch * BATCH + idx).collect();
        let mut text = HEADER.to_string();
        let mut ranges = Vec::new();
        for seed in &seeds {
            let start = text.lines().count() as u32 + 1;
            text.push_str(&function(*seed, &format!("f{seed}")));
            ranges.push(start..text.lines().count() as u32 + 1);
        }
        std::fs::write(&source, &text).expect("writable");
        let native = sanitizer_lines(&source, &seeds);
        for (seed, range) in seeds.iter().zip(ranges) {
            let expected: Lines = native.iter().copied().filter(|line| range.contains(line)).collect();
            n_seen += 1;
            let told = match colt_lines(&source, *seed) {
                Ok(told) => told,
                Err(why) => {
                    let _ = writeln!(wrong, "function of seed {seed}: {why}");
                    continue;
                }
            };
            if expected.is_empty() {
                n_clean += 1
            } else {
                n_told += 1
            }
            if told != expected {
                let lines: Vec<&str> = text.lines().collect();
                for (whose, line) in expected
                    .difference(&told)
                    .map(|line| ("only MemorySanitizer", line))
                    .chain(told.difference(&expected).map(|line| ("only Colt", line)))
                {
                    let _ = writeln!(wrong, "seed {seed}, {whose}: {}", lines[*line as usize - 1].trim());
                }
                let _ = writeln!(wrong, "{}", lines[range.start as usize - 1..range.end as usize - 1].join("\n"));
            }
        }
    }
    println!("{n_seen} functions: {n_told} with a use of unwritten memory, {n_clean} without");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_told > 0 && n_clean > 0, "the functions are all alike");
}

/// Where the native functions use unwritten memory, on every input that makes a difference.
fn sanitizer_lines(source: &Path, seeds: &[u64]) -> Lines {
    let dir = source.parent().expect("in a folder");
    let mut main = format!("#include \"{}\"\n", source.display());
    main.push_str("int main(void) { for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) {\n");
    for seed in seeds {
        let _ = writeln!(main, "f{seed}(a, b);");
    }
    main.push_str("} return 0; }\n");
    let (harness, program) = (dir.join("main.c"), dir.join("main"));
    std::fs::write(&harness, main).expect("writable");
    let mut build = Command::new(clang());
    build.args(["-g", "-O0", "-w", "-fno-omit-frame-pointer", "-fsanitize=memory", "-fsanitize-recover=memory"]);
    build.args(["-fno-sanitize-memory-param-retval", "-o"]).arg(&program).arg(&harness);
    assert_eq!(run(&mut build).status, Some(0), "clang rejects {}", harness.display());
    let report = run(Command::new(&program).env("MSAN_OPTIONS", "symbolize=0:halt_on_error=0"));
    let mut offsets: BTreeSet<&str> = BTreeSet::new();
    let mut lines = report.stderr.lines();
    while lines.by_ref().any(|line| line.contains("WARNING: MemorySanitizer")) {
        if let Some(at) = lines.next().and_then(|frame| frame.split_once("main+")).map(|(_, at)| at) {
            offsets.insert(at.split(')').next().unwrap_or(at));
        }
    }
    if offsets.is_empty() {
        return Lines::new();
    }
    let mut symbolizer = Command::new("llvm-symbolizer-19");
    symbolizer.arg(format!("--obj={}", program.display())).args(["--no-inlines", "--functions=none"]).args(&offsets);
    let places = run(&mut symbolizer).stdout;
    let place = |line: &str| line.rsplit(':').nth(1)?.parse().ok();
    places.lines().filter(|line| line.contains("program.c")).filter_map(place).collect()
}

fn run(command: &mut Command) -> Finished {
    run_limited(command, LIMIT).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The places that Colt tells for one function; it has to have seen all of it.
fn colt_lines(source: &Path, seed: u64) -> Result<Lines, String> {
    let dir = source.parent().expect("in a folder");
    let (entry, out) = (format!("f{seed}"), format!("out{seed}"));
    let words = ["run", "program.c", "--entry", &entry, "--no-replay", "--max-time", "60", "--max-memory", "2000"];
    let finished = run_colt(dir, &[&words[..], &["--out", &out]].concat(), LIMIT);
    let path = dir.join(&out).join("summary.json");
    if !path.is_file() {
        return Err(format!("no summary:\n{}", finished.output()));
    }
    let summary = read_json(&path);
    if summary["verdict"] != "complete" {
        return Err(format!("not complete:\n{}", finished.output()));
    }
    let findings = summary["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let of_unwritten = findings.iter().filter(|finding| finding["kind"] == "uninitialised-read");
    Ok(of_unwritten.filter_map(|finding| finding["line"].as_u64()).map(|line| line as u32).collect())
}
