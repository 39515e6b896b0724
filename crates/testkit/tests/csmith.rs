//! The machine agrees with the native program on random programs.
//!
//! `CSMITH_COUNT` (default 100) programs from seed `CSMITH_SEED` (default 1) on, and `CSMITH_FLOAT_COUNT` (default 200) with floats.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use testkit::command::find_colt;
use testkit::csmith::{Comparison, Numbers, compare_seed};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[derive(Default)]
struct Tally {
    n_agreed: u64,
    n_without_reference: u64,
    failures: Vec<(u64, String)>,
}

fn main() -> ExitCode {
    // Listing asks every test binary for its tests; this one has none to list by name.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let colt = match find_colt() {
        Ok(colt) => colt,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let first = number("CSMITH_SEED", 1);
    let tally = Mutex::new(Tally::default());
    compare_all(&colt, first, number("CSMITH_COUNT", 100), Numbers::Integers, &tally);
    compare_all(&colt, first, number("CSMITH_FLOAT_COUNT", 200), Numbers::FloatsToo, &tally);
    report(&tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn compare_all(colt: &std::path::Path, first: u64, count: u64, numbers: Numbers, tally: &Mutex<Tally>) {
    println!("running {count} csmith programs from seed {first}, {numbers:?}");
    let next = AtomicU64::new(first);
    // A program without a reference is replaced by one more seed, so that `count` programs are really compared.
    let end = AtomicU64::new(first + count);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    // A thread that finds nothing left takes no seed: `end` may still move.
                    let take = |seed| (seed < end.load(Ordering::SeqCst)).then_some(seed + 1);
                    let Ok(seed) = next.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) else { break };
                    let result = one(colt, seed, numbers);
                    if matches!(result, Ok(Comparison::NoReference)) {
                        end.fetch_add(1, Ordering::SeqCst);
                    }
                    record(tally, seed, result);
                }
            });
        }
    });
}

fn one(colt: &std::path::Path, seed: u64, numbers: Numbers) -> Result<Comparison, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    compare_seed(colt, seed, numbers, folder.path())
}

fn record(tally: &Mutex<Tally>, seed: u64, result: Result<Comparison, String>) {
    let mut tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match result {
        Ok(Comparison::Agrees) => tally.n_agreed += 1,
        Ok(Comparison::NoReference) => tally.n_without_reference += 1,
        Ok(Comparison::Differs(why)) | Err(why) => {
            println!("seed {seed} FAILED: {why}");
            tally.failures.push((seed, why));
        }
    }
}

fn report(tally: &Tally) -> ExitCode {
    let mut seeds: Vec<u64> = tally.failures.iter().map(|failure| failure.0).collect();
    seeds.sort_unstable();
    if !seeds.is_empty() {
        println!("\ndisagreeing seeds: {seeds:?}");
    }
    let verdict = if seeds.is_empty() && tally.n_agreed > 0 { "ok" } else { "FAILED" };
    println!(
        "\n{} programs had no native result to compare with\n\ntest result: {verdict}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out\n",
        tally.n_without_reference,
        tally.n_agreed,
        seeds.len(),
        tally.n_without_reference
    );
    if verdict == "ok" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
