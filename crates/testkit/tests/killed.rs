//! Campaigns killed at random moments: nothing told is lost, and going on ends as if nothing had happened.
//!
//! `KILLS` says how many; `make fuzz` asks for a hundred.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use database::{Database, Which};
use testkit::command::{find_colt, read_json, run_limited};

const LIMIT: Duration = Duration::from_secs(300);

/// 2^14 paths, half of which end in one of two faults.
const FLAGS: &str = r#"#include <assert.h>
#include <colt.h>
enum { N = 14 };
int main(void) {
    int flags[N], count = 0;
    colt_input(flags, sizeof flags, "flags");
    for (int i = 0; i < N; i++)
        if (flags[i] != 0)
            count += i;
    assert(count != 20);
    return 100 / (count - 30);
}
"#;

/// 2^11 paths through the C library.
const STDIN: &str = r#"#include <stdio.h>
int main(void) {
    int n_large = 0;
    for (int i = 0; i < 11; i++)
        if (getchar() > 'a')
            n_large += i;
    printf("%d\n", n_large);
    return n_large == 20;
}
"#;

struct Campaign {
    name: &'static str,
    program: &'static str,
    flags: &'static [&'static str],
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign { name: "alone", program: FLAGS, flags: &["--workers", "1"] },
    Campaign { name: "together", program: FLAGS, flags: &["--workers", "2"] },
    Campaign { name: "libc", program: STDIN, flags: &["--workers", "1", "--libc", "--sym-stdin", "11"] },
];

fn colt(dir: &Path) -> Command {
    let mut command = Command::new(find_colt().unwrap_or_else(|why| panic!("{why}")));
    command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

impl Campaign {
    fn run(&self, dir: &Path, out: &str) -> Command {
        let mut command = colt(dir);
        let source = format!("{}.c", self.name);
        command.args(["run", &source, "--no-replay", "--max-time", "200", "--max-memory", "2000", "--out", out]);
        command.args(self.flags);
        command
    }
}

/// Decisions and file of every test, by number.
fn tests(out: &Path) -> BTreeMap<u64, (Vec<u8>, String)> {
    let database = Database::read(out).unwrap_or_else(|error| panic!("{error}"));
    let mut tests = BTreeMap::new();
    let note = |stored: database::StoredTest| {
        // Which input takes a path is up to whoever explored it.
        let (path, ending) = (stored.coded_path(), stored.ending().to_string());
        tests.insert(stored.test.0, (path, ending));
        Ok::<(), database::Error>(())
    };
    database.each_test(Which::All, note).unwrap_or_else(|error| panic!("{error}"));
    tests
}

/// What has to be the same however often the campaign was killed.
fn figures(out: &Path) -> String {
    let summary = read_json(&out.join("summary.json"));
    let findings = summary["findings"].as_array().cloned().unwrap_or_default();
    let mut findings: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {} {}", finding["kind"], finding["line"], finding["paths"]))
        .collect();
    findings.sort();
    format!("{} {} {} {} {findings:?}", summary["verdict"], summary["paths"], summary["tests"], summary["ledger"])
}

/// Starts a command and kills it after some time, unless it ended before. Says how long it ran.
fn kill_after(mut command: Command, time: Duration) -> Duration {
    let started = Instant::now();
    let mut child = command.spawn().expect("colt starts");
    while started.elapsed() < time {
        if child.try_wait().expect("colt is waited for").is_some() {
            break;
        }
        sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    let _ = child.wait();
    started.elapsed()
}

/// Every path the explorer had counted at the last checkpoint is there as a test.
fn check_nothing_lost(out: &Path, told: usize) {
    let database = Database::read(out).unwrap_or_else(|error| panic!("{error}"));
    if let Some(checkpoint) = database.checkpoint().unwrap_or_else(|error| panic!("{error}")) {
        let n_counted = checkpoint.summary.paths.total;
        assert!(n_counted <= told as u64, "{n_counted} paths were counted, {told} are there");
    }
}

#[test]
fn killed_campaigns_end_as_if_nothing_had_happened() {
    let n_kills: u32 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    let mut wanted = Vec::new();
    for campaign in CAMPAIGNS {
        fs::write(dir.join(format!("{}.c", campaign.name)), campaign.program).expect("writable");
        let started = Instant::now();
        run_limited(&mut campaign.run(dir, campaign.name), LIMIT).unwrap_or_else(|why| panic!("{why}"));
        let out = dir.join(campaign.name);
        wanted.push((started.elapsed(), tests(&out), figures(&out)));
    }
    let (mut n_done, mut seed, mut n_from_start) = (0, 1u64, 0);
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut round = 0;
    while n_done < n_kills {
        let (campaign, (whole, tests_wanted, figures_wanted)) = {
            let idx = round % CAMPAIGNS.len();
            (&CAMPAIGNS[idx], &wanted[idx])
        };
        let name = format!("{}-{round}", campaign.name);
        let out: PathBuf = dir.join(&name);
        round += 1;
        kill_after(campaign.run(dir, &name), whole.mul_f64(random()));
        n_done += 1;
        // Now and then a second time.
        for _ in 0..2 {
            if !out.join(database::NAME).exists() {
                break;
            }
            let Ok(database) = Database::read(&out) else { break };
            if database.get("options").ok().flatten().is_none() {
                break;
            }
            n_from_start += u32::from(database.checkpoint().is_ok_and(|checkpoint| checkpoint.is_none()));
            drop(database);
            check_nothing_lost(&out, tests(&out).len());
            if random() < 0.5 || n_done >= n_kills {
                break;
            }
            let mut again = colt(dir);
            again.args(["resume", &name]);
            kill_after(again, whole.mul_f64(random()));
            n_done += 1;
        }
        let mut again = colt(dir);
        again.args(["resume", &name]);
        let finished = run_limited(&mut again, LIMIT).unwrap_or_else(|why| panic!("{why}"));
        if finished.status == Some(2) {
            // It was killed before there was anything to go on with.
            let options = Database::read(&out).ok().and_then(|database| database.get("options").ok().flatten());
            assert_eq!(options, None, "{name}: {}", finished.output());
            continue;
        }
        assert_eq!(&figures(&out), figures_wanted, "{name}");
        assert_eq!(&tests(&out), tests_wanted, "{name}");
        fs::remove_dir_all(&out).expect("removable");
    }
    println!("{n_done} kills, {n_from_start} of them before the first checkpoint");
}
