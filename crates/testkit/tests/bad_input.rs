//! Whatever a user, the disk or a signal does to it, the command ends with one clear paragraph, its documented status, and
//! the tests found so far.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::command::{Finished, find_colt, run_limited};
use testkit::outcome::read_test;
use testkit::runner::clang;

const LIMIT: Duration = Duration::from_secs(120);

const FINE: &str = "int main(void) { return 0; }\n";

/// One fault and three paths.
const BUGGY: &str = "#include <colt.h>\nint main(void) {\n    int x;\n    colt_input(&x, sizeof x, \"x\");\n    \
                     if (x > 5)\n        return 1;\n    return 100 / x;\n}\n";

/// Far more paths than can be explored, each found quickly.
const ENDLESS: &str = "#include <colt.h>\n\
    int main(void) {\n\
        unsigned char a[40];\n\
        int n = 0;\n\
        colt_input(a, sizeof a, \"a\");\n\
        for (int i = 0; i < 40; i++)\n\
            if (a[i] > 7) n += i;\n\
        return n & 1;\n\
    }\n";

/// A path that needs the solver, and one that does not.
const HARD: &str = "#include <colt.h>\n\
    int main(void) {\n\
        unsigned a, b, c;\n\
        colt_input(&a, sizeof a, \"a\");\n\
        colt_input(&b, sizeof b, \"b\");\n\
        colt_input(&c, sizeof c, \"c\");\n\
        if (c == 5) return 2;\n\
        if (a > 1 && b > 1 && (unsigned long)a * b == 3215031751UL * 3) return 1;\n\
        return 0;\n\
    }\n";

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("the temporary folder is writable");
    path
}

fn colt() -> Command {
    Command::new(find_colt().unwrap_or_else(|why| panic!("{why}")))
}

fn run(command: &mut Command) -> Finished {
    run_limited(command, LIMIT).unwrap_or_else(|failure| panic!("colt: {failure}"))
}

/// No trace of the inside may reach the user.
fn assert_clear(finished: &Finished) {
    let said = finished.output();
    for word in ["panicked", "RUST_BACKTRACE", "stack backtrace", "LLVM ERROR", "PLEASE submit a bug report"] {
        assert!(!said.contains(word), "`{word}` in:\n{said}");
    }
}

/// The command ends with `status` and a message that has all of `words`, in any case.
fn assert_refused(finished: &Finished, status: i32, words: &[&str]) {
    assert_clear(finished);
    let said = finished.stderr.to_lowercase();
    assert_eq!(finished.status, Some(status), "said:\n{}", finished.output());
    for word in words {
        assert!(said.contains(&word.to_lowercase()), "`{word}` is missing from:\n{}", finished.stderr);
    }
}

fn run_file(folder: &Path, file: &Path, more: &[&str]) -> Finished {
    run(colt().arg("run").arg(file).arg("--out").arg(folder.join("out")).args(["--workers", "1"]).args(more))
}

#[test]
fn a_missing_file() {
    let folder = scratch();
    assert_refused(&run_file(folder.path(), &folder.path().join("absent.c"), &[]), 3, &["absent.c"]);
    assert!(!folder.path().join("out/summary.json").exists());
}

#[test]
fn a_directory() {
    let folder = scratch();
    let inner = folder.path().join("sources.c");
    fs::create_dir(&inner).expect("a folder is made");
    assert_refused(&run_file(folder.path(), &inner, &[]), 3, &["sources.c", "director"]);
}

#[test]
fn an_empty_file() {
    let folder = scratch();
    let file = write(folder.path(), "empty.c", "");
    assert_refused(&run_file(folder.path(), &file, &[]), 3, &["empty.c"]);
}

#[test]
fn a_syntax_error_shows_what_clang_says() {
    let folder = scratch();
    let file = write(folder.path(), "broken.c", "int main(void) {\n    return 0\n}\n");
    assert_refused(&run_file(folder.path(), &file, &[]), 3, &["broken.c", ":2:", "expected ';'"]);
}

fn bitcode(folder: &Path) -> Vec<u8> {
    let source = write(folder, "program.c", FINE);
    let target = folder.join("program.bc");
    let mut command = Command::new(clang());
    command.args(["-O0", "-emit-llvm", "-c"]).arg(source).arg("-o").arg(&target);
    assert_eq!(run(&mut command).status, Some(0));
    fs::read(target).expect("clang wrote bitcode")
}

#[test]
fn truncated_bitcode() {
    let folder = scratch();
    let whole = bitcode(folder.path());
    for length in [0, 3, whole.len() / 3, whole.len() - 40] {
        let file = folder.path().join("truncated.bc");
        fs::write(&file, &whole[..length]).expect("written");
        assert_refused(&run_file(folder.path(), &file, &[]), 3, &["truncated.bc"]);
    }
}

/// The epoch is the number LLVM raises when older readers must refuse. It follows the producer's name in the
/// identification block: with a name of ten letters, from bit 3 of byte 28.
#[test]
fn bitcode_of_a_newer_llvm() {
    let folder = scratch();
    let mut newer = bitcode(folder.path());
    newer[28] |= 1 << 3;
    let file = folder.path().join("newer.bc");
    fs::write(&file, newer).expect("written");
    assert_refused(&run_file(folder.path(), &file, &[]), 3, &["newer.bc", "newer"]);
}

#[test]
fn no_such_entry() {
    let folder = scratch();
    let file = write(folder.path(), "program.c", "int other(int x) { return x; }\n");
    assert_refused(&run_file(folder.path(), &file, &[]), 3, &["program.c", "main", "--entry"]);
    assert_refused(&run_file(folder.path(), &file, &["--entry", "othr"]), 3, &["othr", "other"]);
}

#[test]
fn an_entry_with_an_unsupported_signature() {
    let folder = scratch();
    let file = write(folder.path(), "program.c", "int sum(int n, ...) { return n; }\n");
    assert_refused(&run_file(folder.path(), &file, &["--entry", "sum"]), 3, &["sum"]);
}

#[test]
fn unknown_flags_and_values() {
    let folder = scratch();
    let file = write(folder.path(), "program.c", FINE);
    assert_refused(&run_file(folder.path(), &file, &["--serach", "dfs"]), 2, &["--serach", "--search"]);
    assert_refused(&run_file(folder.path(), &file, &["--search", "sideways"]), 2, &["sideways", "dfs"]);
    assert_refused(&run_file(folder.path(), &file, &["--with", "telepathy"]), 2, &["telepathy"]);
    assert_refused(&run(colt().arg("run")), 2, &["FILE"]);
}

#[test]
fn an_existing_output_folder_is_refused_and_kept() {
    let folder = scratch();
    let file = write(folder.path(), "program.c", FINE);
    fs::create_dir(folder.path().join("out")).expect("a folder is made");
    let precious = write(&folder.path().join("out"), "summary.json", "precious");
    assert_refused(&run_file(folder.path(), &file, &[]), 2, &["out"]);
    assert_eq!(fs::read_to_string(precious).expect("still there"), "precious");
}

/// Permissions do not stop the superuser, so the folder is also one that nobody can make: below a file.
#[test]
fn an_unwritable_output_folder() {
    let folder = scratch();
    let file = write(folder.path(), "program.c", FINE);
    let plain = write(folder.path(), "plain", "a file");
    let finished = run(colt().arg("run").arg(&file).arg("--out").arg(plain.join("out")));
    assert_refused(&finished, 2, &["plain/out"]);

    let locked = folder.path().join("locked");
    fs::create_dir(&locked).expect("a folder is made");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("permissions are set");
    if fs::write(locked.join("probe"), "").is_err() {
        let finished = run(colt().arg("run").arg(&file).arg("--out").arg(locked.join("out")));
        assert_refused(&finished, 2, &["locked/out"]);
    }
}

/// Runs a script that mounts file systems of its own (`$1`) for colt (`$2`) with a program (`$3`), and has a folder (`$4`), in its own
/// mount namespace, so that nothing is left behind; `None` where that is not allowed.
fn in_own_namespace(script: &str, disk: &Path, file: &Path, folder: &Path) -> Option<Finished> {
    let colt = find_colt().unwrap_or_else(|why| panic!("{why}"));
    let attempt = |unshare: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(unshare).args(["sh", "-c", script, "sh"]).arg(disk).arg(&colt).arg(file).arg(folder);
        run(&mut command)
    };
    let as_root = attempt(&["--mount"]);
    let started = |finished: &Finished| finished.status.is_some_and(|status| status != 99 && status != 1);
    let finished = if started(&as_root) { as_root } else { attempt(&["--mount", "--map-root-user"]) };
    if !started(&finished) {
        println!("skipped: this machine does not allow a file system of one's own: {}", finished.stderr);
        return None;
    }
    Some(finished)
}

#[test]
fn a_full_disk() {
    let folder = scratch();
    let file = write(folder.path(), "endless.c", ENDLESS);
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).expect("a folder is made");
    // What was written is read on the full disk, then on one that cannot be written at all.
    let script = "mount -t tmpfs -o size=4m none \"$1\" || exit 99\n\
                  \"$2\" run \"$3\" --out \"$1/out\" --workers 1 --max-time 60 --no-replay\n\
                  status=$?\n\
                  \"$2\" export \"$1/out\" --to json --out \"$4/full\" >&2\n\
                  mount -o remount,ro \"$1\"\n\
                  \"$2\" export \"$1/out\" --to json --out \"$4/read-only\" >&2\n\
                  \"$2\" resume \"$1/out\" --max-paths 1\n\
                  echo resume $?\n\
                  ls \"$4/full\" | wc -l; ls \"$4/read-only\" | wc -l\n\
                  exit $status";
    let Some(finished) = in_own_namespace(script, &disk, &file, folder.path()) else { return };
    assert_refused(&finished, 6, &["disk", "space"]);
    assert!(finished.stderr.contains("read-only"), "said:\n{}", finished.output());
    let lines: Vec<&str> = finished.stdout.lines().map(str::trim).collect();
    let [.., "resume 2", full, read_only] = lines[..] else { panic!("said:\n{}", finished.output()) };
    let n_tests: u64 = full.parse().unwrap_or(0);
    assert!(n_tests > 1000, "tests written before the disk was full are gone:\n{}", finished.output());
    assert_eq!(full, read_only, "said:\n{}", finished.output());
}

/// A file system with room for a few files only: one after the other is the first that cannot be made, from the database to the
/// summary. Each time what was there before is kept, and with more room the campaign comes to its end.
#[test]
fn a_disk_without_room_for_one_more_file() {
    let folder = scratch();
    let file = write(folder.path(), "program.c", BUGGY);
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).expect("a folder is made");
    let script = "for n in 3 4 5 6 7 8 9 10 11 12 13 14; do\n\
                  mount -t tmpfs -o size=4m,nr_inodes=$n none \"$1\" || exit 99\n\
                  \"$2\" run \"$3\" --out \"$1/out\" --workers 1 --max-time 60 --no-replay >/dev/null 2>\"$4/said\"\n\
                  status=$?\n\
                  said=$(grep -c -i 'space' \"$4/said\")\n\
                  summary=$(ls \"$1/out/summary.json\" 2>/dev/null | wc -l)\n\
                  mount -o remount,nr_inodes=0 \"$1\"\n\
                  again=none\n\
                  if [ -f \"$1/out/campaign.sqlite\" ]; then\n\
                  \"$2\" resume \"$1/out\" --max-time 60 >/dev/null 2>&1; again=$?; fi\n\
                  echo \"run $status $said $summary $again $(ls \"$1/out/summary.json\" 2>/dev/null | wc -l)\"\n\
                  umount \"$1\"\n\
                  done\n\
                  exit 77";
    let Some(finished) = in_own_namespace(script, &disk, &file, folder.path()) else { return };
    let rows: Vec<Vec<&str>> =
        finished.stdout.lines().filter_map(|line| Some(line.strip_prefix("run ")?.split(' ').collect())).collect();
    assert_eq!(rows.len(), 12, "said:\n{}", finished.output());
    let mut n_without_summary = 0;
    for row in &rows {
        let [status, said, summary, again, summary_again] = row[..] else { panic!("said:\n{}", finished.output()) };
        match status {
            "10" => assert_eq!(summary, "1", "{rows:?}"),
            // The folder itself could not be made.
            "2" => assert_eq!((said, again), ("1", "none"), "{rows:?}"),
            _ => {
                assert_eq!((status, said, summary), ("6", "1", "0"), "{rows:?}");
                n_without_summary += u32::from(again == "10");
            }
        }
        // A database without a word of how the campaign was started is refused.
        assert!(matches!((again, summary_again), ("10", "1") | ("none" | "2", "0")), "{rows:?}");
    }
    assert!(n_without_summary > 1 && rows.iter().any(|row| row[0] == "10"), "{rows:?}");
}

/// A solver that dies on every question costs answers, not the campaign.
#[test]
fn a_killed_solver() {
    let folder = scratch();
    let file = write(folder.path(), "hard.c", HARD);
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).expect("a folder is made");
    let fake = write(&tools, "z3", "#!/bin/sh\nkill -9 $$\n");
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).expect("permissions are set");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = colt();
    command.arg("run").arg(&file).arg("--out").arg(folder.path().join("out")).args([
        "--workers",
        "1",
        "--max-time",
        "30",
        "--tests",
        "files",
    ]);
    command.args(["--solver-without", "domains,recent,proposals,values,blaster"]).env("PATH", path);
    let finished = run(&mut command);
    assert_clear(&finished);
    assert_eq!(finished.status, Some(5), "said:\n{}", finished.output());
    let summary = summary(&folder.path().join("out"));
    assert_eq!(summary["verdict"], "incomplete");
    let kinds: Vec<_> = summary["ledger"].as_array().into_iter().flatten().map(|entry| entry["kind"].clone()).collect();
    assert!(kinds.iter().any(|kind| kind == "unknown-answer"), "ledger: {kinds:?}");
    assert!(count_whole_tests(&folder.path().join("out")) > 0);
}

fn summary(out: &Path) -> serde_json::Value {
    let text = fs::read_to_string(out.join("summary.json")).expect("a summary was written");
    serde_json::from_str(&text).expect("the summary is JSON")
}

/// Every file in `tests/` that carries a test's name must be a whole test.
fn count_whole_tests(out: &Path) -> usize {
    let Ok(entries) = fs::read_dir(out.join("tests")) else { return 0 };
    let paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    let tests = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let whole: Vec<_> = tests.map(|path| read_test(path).unwrap_or_else(|why| panic!("{why}"))).collect();
    whole.len()
}

/// A campaign in its own process, which ends with the test however the test ends.
struct Campaign(Option<Child>);

impl Drop for Campaign {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself; then there is nothing to do.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Campaign {
    fn signal(&self, signal: i32) {
        let child = self.0.as_ref().expect("not finished yet");
        let id = i32::try_from(child.id()).expect("process ids are small");
        // SAFETY: `kill` takes plain numbers, and the child has not been waited for, so its id is still its own.
        let result = unsafe { libc::kill(id, signal) };
        assert_eq!(result, 0, "the signal is delivered");
    }

    fn finish(mut self) -> Finished {
        let output = self.0.take().expect("not finished yet").wait_with_output().expect("colt is waited for");
        Finished {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Starts a campaign that would not end and waits until it has written tests.
fn start_endless(folder: &Path) -> (Campaign, PathBuf) {
    let file = write(folder, "endless.c", ENDLESS);
    let out = folder.join("out");
    let mut command = colt();
    command.arg("run").arg(&file).arg("--out").arg(&out).args([
        "--workers",
        "1",
        "--max-time",
        "100",
        "--no-replay",
        "--tests",
        "files",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let campaign = Campaign(Some(command.spawn().expect("colt starts")));
    let started = Instant::now();
    loop {
        // One of the entries may be a test still being written.
        let n_entries = fs::read_dir(out.join("tests")).map_or(0, Iterator::count);
        if n_entries > 20 {
            return (campaign, out);
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no tests after a minute");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn interrupted_by_the_user_then_resumed() {
    let folder = scratch();
    let (campaign, out) = start_endless(folder.path());
    let asked = Instant::now();
    campaign.signal(libc::SIGINT);
    let finished = campaign.finish();
    assert!(asked.elapsed() < Duration::from_secs(30), "ending took {:?}", asked.elapsed());
    assert_clear(&finished);
    assert_eq!(finished.status, Some(5), "said:\n{}", finished.output());
    let first = summary(&out);
    assert_eq!(first["verdict"], "incomplete");
    let n_before = count_whole_tests(&out);
    assert_eq!(first["tests"].as_u64(), Some(n_before as u64));

    let resumed = run(colt().arg("resume").arg(&out).args(["--max-paths", "50"]));
    assert_clear(&resumed);
    assert_eq!(resumed.status, Some(5), "said:\n{}", resumed.output());
    let n_after = count_whole_tests(&out);
    assert!(n_after > n_before, "{n_before} tests before resuming, {n_after} after");
    assert_eq!(summary(&out)["tests"].as_u64(), Some(n_after as u64));
}

#[test]
fn killed_outright_keeps_whole_tests() {
    let folder = scratch();
    let (campaign, out) = start_endless(folder.path());
    campaign.signal(libc::SIGKILL);
    assert_eq!(campaign.finish().status, None);
    let n_before = count_whole_tests(&out);
    assert!(n_before >= 20);
    let resumed = run(colt().arg("resume").arg(&out).args(["--max-paths", "50"]));
    assert_clear(&resumed);
    assert!(matches!(resumed.status, Some(2 | 5)), "said:\n{}", resumed.output());
    assert!(count_whole_tests(&out) >= n_before, "resuming lost tests");
}
