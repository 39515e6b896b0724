//! What surrounds a hang that was found: its certificate, its exported test, what is said where nothing can be said.
//!
//! Every fixture of `fixtures/lassos` that announces a hang is explored; both solvers must accept each of its certificates, and
//! reject it once it is altered.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use testkit::annotation::Fixture;
use testkit::command::{Finished, find_colt, project_root, read_json, run_colt, run_limited};
use testkit::runner::{clang, find_fixtures, short_name};

const LIMIT: Duration = Duration::from_secs(120);

fn lassos(name: &str) -> PathBuf {
    project_root().join("fixtures/lassos").join(name)
}

/// Explores a fixture into `out` below `dir`.
fn explore(dir: &Path, fixture: &Path, more: &[&str]) -> (Finished, Value) {
    let annotated = Fixture::read(fixture).unwrap_or_else(|why| panic!("{}: {why}", fixture.display()));
    let line_up = annotated.line_ups[0].techniques().join(",");
    let path = fixture.display().to_string();
    let mut words = vec!["run", &path, "--with", &line_up, "--max-memory", "2000", "--out", "out"];
    if let Some(entry) = &annotated.entry {
        words.extend(["--entry", entry]);
    }
    words.extend(annotated.flags.iter().map(String::as_str));
    words.extend(more);
    if !words.contains(&"--max-time") {
        words.extend(["--max-time", "20s"]);
    }
    let finished = run_colt(dir, &words, LIMIT);
    (finished, read_json(&dir.join("out/summary.json")))
}

fn findings(summary: &Value) -> &[Value] {
    summary["findings"].as_array().map_or(&[], Vec::as_slice)
}

/// What is wrong with the certificates of a fixture, and how many there are.
fn certified(fixture: &Path) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, summary) = explore(folder.path(), fixture, &["--no-replay"]);
    let hangs: Vec<&Value> = findings(&summary).iter().filter(|found| found["kind"] == "non-termination").collect();
    let mut wrong = Vec::new();
    if hangs.is_empty() {
        wrong.push("no hang was found".to_string());
    }
    for hang in &hangs {
        let certificate = folder.path().join("out").join(hang["certificate"].as_str().unwrap_or("none"));
        let Ok(text) = std::fs::read_to_string(&certificate) else {
            wrong.push(format!("no certificate of line {}", hang["line"]));
            continue;
        };
        let accepted = run_colt(folder.path(), &["certify", "out"], LIMIT);
        if accepted.status != Some(0) || accepted.output().matches(" accepts all ").count() < 2 {
            wrong.push(accepted.output());
        }
        // That the input does not reach the set is not so.
        std::fs::write(&certificate, text.replacen(":status sat", ":status unsat", 1)).expect("a file");
        let altered = run_colt(folder.path(), &["certify", "out"], LIMIT);
        if altered.status != Some(1) || altered.output().matches(" rejects it").count() != 2 {
            wrong.push(format!("altered: {}", altered.output()));
        }
        std::fs::write(&certificate, text).expect("a file");
    }
    (hangs.len(), wrong)
}

#[test]
fn every_certificate_is_accepted_by_both_solvers_and_rejected_when_altered() {
    let announces = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("//~ BUG non-term"));
    let all = find_fixtures(&project_root().join("fixtures/lassos")).expect("fixtures are there");
    let hanging: Vec<PathBuf> = all.into_iter().filter(announces).collect();
    assert!(hanging.len() >= 25, "only {} fixtures hang", hanging.len());
    let (next, n_certificates) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let complaints = std::sync::Mutex::new(Vec::new());
    let work = || {
        while let Some(fixture) = hanging.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (n, wrong) = certified(fixture);
            n_certificates.fetch_add(n, Ordering::Relaxed);
            let wrong = wrong.into_iter().map(|why| format!("{}: {why}", short_name(fixture)));
            complaints.lock().expect("nobody panics here").extend(wrong);
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let complaints = complaints.into_inner().expect("nobody panics here");
    println!("{} certificates of {} fixtures", n_certificates.into_inner(), hanging.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_set_that_is_left_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    explore(folder.path(), &lassos("wraps_around.c"), &["--no-replay"]);
    let certificate = folder.path().join("out/certificates/1.smt2");
    let text = std::fs::read_to_string(&certificate).expect("a certificate");
    // Counting up to the last value but one ends.
    std::fs::write(&certificate, text.replace("#xffffffff", "#xfffffffe")).expect("a file");
    let said = run_colt(folder.path(), &["certify", "out"], LIMIT);
    assert_eq!((said.status, said.output().matches(" rejects it").count()), (Some(1), 2), "{}", said.output());
}

/// `certify` with solvers of our own, or none, in the path.
fn certify_with(dir: &Path, solvers: &[(&str, &str)]) -> Finished {
    let tools = dir.join("tools");
    std::fs::create_dir_all(&tools).expect("a folder");
    for (name, answer) in solvers {
        let path = tools.join(name);
        std::fs::write(&path, format!("#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do echo {answer}; done\n"))
            .expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let mut command = Command::new(find_colt().expect("colt"));
    command.args(["certify", "out"]).current_dir(dir).env("PATH", &tools);
    run_limited(&mut command, LIMIT).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_solver_that_is_missing_or_does_not_know_is_no_acceptance() {
    let folder = tempfile::tempdir().expect("a folder");
    explore(folder.path(), &lassos("flag_nobody_sets.c"), &["--no-replay"]);
    let missing = certify_with(folder.path(), &[]);
    assert_eq!(missing.status, Some(5), "{}", missing.output());
    assert!(missing.output().contains("z3 is not installed"), "{}", missing.output());
    let unknown = certify_with(folder.path(), &[("z3", "unknown"), ("cvc5", "unknown")]);
    assert_eq!(
        (unknown.status, unknown.output().matches("does not say").count()),
        (Some(5), 2),
        "{}",
        unknown.output()
    );
}

/// Hangs are found without any solver of others, and where it knows nothing.
#[test]
fn hangs_are_found_without_a_solver_installed() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixture = lassos("wraps_around.c").display().to_string();
    let tools = folder.path().join("tools");
    std::fs::create_dir_all(&tools).expect("a folder");
    let unknown = "#!/bin/sh\nwhile read -r line; do case $line in *check-sat*) echo unknown;; esac; done\n";
    for solvers in [false, true] {
        for name in ["z3", "cvc5", "bitwuzla"] {
            if solvers {
                std::fs::write(tools.join(name), unknown).expect("a file");
                std::fs::set_permissions(tools.join(name), std::fs::Permissions::from_mode(0o755))
                    .expect("permissions");
            }
        }
        for clang in ["clang-19", "clang", "llvm-link-19", "ld"] {
            let _ = std::os::unix::fs::symlink(Path::new("/usr/bin").join(clang), tools.join(clang));
        }
        let out = if solvers { "knows-nothing" } else { "none" };
        let mut command = Command::new(find_colt().expect("colt"));
        let words = ["run", &fixture, "--with", "lassos", "--no-replay", "--max-paths", "20", "--out", out];
        command.args(words).current_dir(folder.path()).env("PATH", &tools);
        let finished = run_limited(&mut command, LIMIT).unwrap_or_else(|failure| panic!("{failure}"));
        let summary = read_json(&folder.path().join(out).join("summary.json"));
        assert_eq!(findings(&summary).len(), 1, "{}", finished.output());
    }
}

#[test]
fn a_cycle_with_floats_is_said_to_be_undecided() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, summary) = explore(folder.path(), &lassos("floats.c"), &["--no-replay"]);
    let line = "floats.c:8: a cycle with floating-point numbers is not decided";
    assert!(said.output().contains(line), "{}", said.output());
    assert!(summary["lassos"]["floats"].as_u64() > Some(0) && findings(&summary).is_empty(), "{summary}");
}

#[test]
fn what_holds_for_unbounded_integers_only_is_told_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, summary) = explore(folder.path(), &lassos("integers.c"), &["--no-replay"]);
    assert!(said.output().contains("over unbounded integers this never ends: "), "{}", said.output());
    let integers = summary["lassos"]["integers"].as_array().expect("a list");
    assert_eq!((integers.len(), integers[0]["line"].as_u64()), (1, Some(9)), "{summary}");
    // The finding is about what does not change at all, on the machine too.
    assert!(
        findings(&summary).iter().all(|found| found["message"].as_str().is_some_and(|words| words.contains(" stay")))
    );
    let folder = tempfile::tempdir().expect("a folder");
    let (said, summary) = explore(folder.path(), &lassos("wraps_around.c"), &["--no-replay", "--lassos-integers"]);
    assert_eq!(summary["lassos"]["integers"].as_array().map(Vec::len), Some(0), "{}", said.output());
}

#[test]
fn what_stays_is_said_by_the_names_of_the_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, _) = explore(folder.path(), &lassos("gcd_zero.c"), &["--no-replay"]);
    assert!(said.output().contains("a = ") && !said.output().contains("the value "), "{}", said.output());
    let folder = tempfile::tempdir().expect("a folder");
    let (said, _) = explore(folder.path(), &lassos("halving.c"), &["--no-replay"]);
    assert!(said.output().contains(" stays as it is after a round"), "{}", said.output());
    assert!(!said.output().contains("the value "), "{}", said.output());
}

#[test]
fn several_workers_find_the_same_hangs() {
    for name in ["zero_length_block.c", "gcd_zero.c", "circular_list.c"] {
        let places = |workers: &str| -> BTreeSet<String> {
            let folder = tempfile::tempdir().expect("a folder");
            let (said, summary) = explore(folder.path(), &lassos(name), &["--no-replay", "--workers", workers]);
            assert!(!said.output().contains("explores with one worker"), "{}", said.output());
            assert_eq!(summary["verdict"], "complete", "{name}");
            findings(&summary).iter().map(|found| format!("{} {}", found["kind"], found["line"])).collect()
        };
        assert_eq!(places("1"), places("2"), "{name}");
    }
}

/// The exported test fails by its time limit until the bug is gone.
#[test]
fn an_exported_hang_fails_until_it_is_mended() {
    let folder = tempfile::tempdir().expect("a folder");
    let (dir, source) = (folder.path(), folder.path().join("reader.c"));
    let hangs = std::fs::read_to_string(lassos("zero_length_block.c")).expect("a fixture");
    std::fs::write(&source, &hangs).expect("a file");
    let words = ["run", "reader.c", "--with", "lassos", "--no-replay", "--max-time", "20s", "--out", "out"];
    run_colt(dir, &words, LIMIT);
    let summary = read_json(&dir.join("out/summary.json"));
    let test = findings(&summary)[0]["test"].as_str().expect("a test");
    let id = test.trim_start_matches("tests/").trim_end_matches(".json").to_string();
    for to in ["c", "gtest"] {
        let exported = run_colt(dir, &["export", "out", "--to", to], LIMIT);
        assert_eq!(exported.status, Some(0), "{}", exported.output());
        assert!(dir.join("out/export").join(to).join("colt_tests.c").is_file());
    }
    assert!(run_exported(dir, &id).contains("FAILED"), "it hangs");
    let mended = hangs.replace("if (length > 3)", "if (length > 3 || length == 0)");
    assert_ne!(mended, hangs);
    std::fs::write(&source, mended).expect("a file");
    let said = run_exported(dir, &id);
    assert!(said.contains("ok ") && said.contains("1 of 1 tests pass"), "{said}");
}

fn run_exported(dir: &Path, id: &str) -> String {
    let export = dir.join("out/export/c");
    let mut build = Command::new(clang());
    build.args(["-g", "-Iinclude", "colt_tests.c"]).arg(dir.join("reader.c")).args(["-o", "colt_tests"]);
    let built = run_limited(build.current_dir(&export), LIMIT).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(built.status, Some(0), "{}", built.output());
    let mut run = Command::new(export.join("colt_tests"));
    run.arg(id).env("COLT_SECONDS", "1");
    let finished = run_limited(run.current_dir(&export), LIMIT).unwrap_or_else(|failure| panic!("{failure}"));
    finished.output()
}
