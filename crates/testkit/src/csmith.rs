//! Random C programs whose output the machine must reproduce: csmith writes them, clang says what is right.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command::{CommandFailure, run_limited};
use crate::runner::clang;

const NATIVE_LIMIT: Duration = Duration::from_secs(1);
/// The machine interprets what ran natively for at most `NATIVE_LIMIT`; csmith programs that end at all end early.
const EXPLORE_LIMIT_S: u64 = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    Agrees,
    /// The native program did not end in time, or means nothing: nothing to compare with.
    NoReference,
    Differs(String),
}

/// What programs compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    Integers,
    FloatsToo,
}

/// Compares one program, chosen by its seed, in `folder`.
pub fn compare_seed(colt: &Path, seed: u64, numbers: Numbers, folder: &Path) -> Result<Comparison, String> {
    let source = generate(seed, numbers, folder)?;
    let Some(expected) = native_output(&source, folder)? else { return Ok(Comparison::NoReference) };
    match machine_output(colt, &source, folder) {
        Ok(actual) if actual == expected => Ok(Comparison::Agrees),
        Ok(actual) => Ok(Comparison::Differs(format!("expected {:?}, got {:?}", expected.trim(), actual.trim()))),
        // csmith converts constants to integers that cannot hold them, and clang may make anything of that.
        Err(why) if numbers == Numbers::FloatsToo && why.contains("by an operation without a result") => {
            Ok(Comparison::NoReference)
        }
        Err(why) => Ok(Comparison::Differs(why)),
    }
}

/// No builtins: csmith calls some of them on values for which they are undefined, and some that need other processors.
/// Every third seed has packed structs, every other one large functions, so that both shapes are always met.
fn generate(seed: u64, numbers: Numbers, folder: &Path) -> Result<PathBuf, String> {
    let source = folder.join(format!("csmith{seed}.c"));
    let mut csmith = Command::new("csmith");
    csmith.args(["--seed", &seed.to_string(), "--no-argc", "--no-volatiles", "--no-volatile-pointers"]);
    csmith.args(["--bitfields", "--unions", "--jumps", "--longlong"]);
    csmith.arg(if seed.is_multiple_of(3) { "--packed-struct" } else { "--no-packed-struct" });
    if seed.is_multiple_of(2) {
        csmith.args(["--max-funcs", "5", "--max-block-depth", "3"]);
    }
    if numbers == Numbers::FloatsToo {
        csmith.arg("--float");
    }
    csmith.arg("--output").arg(&source);
    match run_limited(&mut csmith, Duration::from_secs(60)) {
        Ok(finished) if finished.status == Some(0) => Ok(source),
        Ok(finished) => Err(format!("csmith --seed {seed}: {}", finished.output())),
        Err(failure) => Err(format!("csmith --seed {seed}: {failure}")),
    }
}

fn include_flag() -> String {
    let folder = std::env::var("CSMITH_INCLUDE").unwrap_or_else(|_| "/usr/include/csmith".to_string());
    format!("-I{folder}")
}

fn native_output(source: &Path, folder: &Path) -> Result<Option<String>, String> {
    let binary = folder.join("native");
    let mut compiler = Command::new(clang());
    compiler.args(["-O0", "-w", &include_flag()]).arg(source).arg("-o").arg(&binary).arg("-lm");
    let compiled =
        run_limited(&mut compiler, Duration::from_secs(120)).map_err(|failure| format!("clang: {failure}"))?;
    if compiled.status != Some(0) {
        return Err(format!("clang: {}", compiled.stderr));
    }
    match run_limited(&mut Command::new(&binary), NATIVE_LIMIT) {
        Ok(finished) if finished.status == Some(0) => Ok(Some(finished.stdout)),
        Ok(finished) => Err(format!("the native program ended with {:?}", finished.status)),
        Err(CommandFailure::TimedOut(_)) => Ok(None),
        Err(failure) => Err(failure.to_string()),
    }
}

fn machine_output(colt: &Path, source: &Path, folder: &Path) -> Result<String, String> {
    let out = folder.join("out");
    let mut command = Command::new(colt);
    command.arg("run").arg(source).arg("--out").arg(&out).args(["--workers", "1", "--show-output", "--no-replay"]);
    command.args(["--max-time", &EXPLORE_LIMIT_S.to_string(), &format!("--cflags=-w {}", include_flag())]);
    let limit = Duration::from_secs(EXPLORE_LIMIT_S + 60);
    let finished = run_limited(&mut command, limit).map_err(|failure| format!("colt run: {failure}"))?;
    if finished.status != Some(0) {
        let said = finished.output();
        let last: Vec<&str> = said.lines().rev().take(5).collect();
        return Err(format!("colt run ended with {:?}: {}", finished.status, last.join(" | ")));
    }
    std::fs::read_to_string(out.join("stdout.txt")).map_err(|error| format!("stdout.txt: {error}"))
}
