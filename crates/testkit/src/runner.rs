//! Runs one fixture under one line-up: explore, replay, compare.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::annotation::{Fixture, Form, LineUp};
use crate::command::{CommandFailure, Finished, project_root, run_limited};
use crate::judge::judge;
use crate::outcome::Outcome;

const EXPLORE_LIMIT_S: u64 = 60;
/// Building natively and replaying come on top of exploring.
const COMMAND_LIMIT: Duration = Duration::from_secs(EXPLORE_LIMIT_S + 120);

/// The project's fixtures that are to be explored without techniques, too: some of the others have no end then.
pub fn plain_fixtures() -> Vec<Fixture> {
    let paths = find_fixtures(&project_root().join("fixtures")).expect("fixtures are there");
    let read = |path: &PathBuf| Fixture::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    paths.iter().map(read).filter(|fixture| fixture.line_ups.contains(&LineUp::plain())).collect()
}

/// All fixtures below `folder`, sorted. Files whose name starts with `_` are parts of others.
pub fn find_fixtures(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".c") && !name.starts_with('_') {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `group/name`, as the fixture is called in listings.
pub fn short_name(fixture: &Path) -> String {
    let stem = fixture.with_extension("");
    let parts: Vec<_> = stem.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// `Err` carries every complaint, one a line.
pub fn run_fixture(colt: &Path, fixture: &Fixture, line_up: &LineUp) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let out = scratch.path().join("out");
    let programs = programs(fixture, scratch.path())?;
    let run = explore(colt, fixture, line_up, &programs, &out, &[])?;
    let mut outcome = Outcome::read(&out, &fixture.path)
        .map_err(|why| format!("{why}\ncolt run ended with {:?}:\n{}", run.status, run.output()))?;
    outcome.run_status = run.status;
    let (has_tests, not_own) = (!outcome.tests.is_empty(), fixture.form != Form::Source);
    if has_tests {
        outcome.replay_complaint = replay(colt, &out)?;
    }
    let complaints = judge(fixture, &outcome);
    if complaints.is_empty() {
        return Ok(());
    }
    let hint = if not_own { " (given as bitcode)" } else { "" };
    let said = tail(&run.output());
    Err(format!("{}{hint}\ncolt run said:\n{said}", complaints.join("\n")))
}

/// Explores a fixture without replaying anything, under further flags, and reads what came out. `scratch` must be empty.
pub fn explore_only(colt: &Path, fixture: &Fixture, scratch: &Path, more: &[&str]) -> Result<Outcome, String> {
    let more = [&["--no-replay"], more].concat();
    explore_measured(colt, fixture, &LineUp::plain(), scratch, &more)
}

/// Explores a fixture under a line-up and further flags, with its coverage measured. `scratch` must be empty.
pub fn explore_measured(
    colt: &Path,
    fixture: &Fixture,
    line_up: &LineUp,
    scratch: &Path,
    more: &[&str],
) -> Result<Outcome, String> {
    let out = scratch.join("out");
    let programs = programs(fixture, scratch)?;
    let run = explore(colt, fixture, line_up, &programs, &out, more)?;
    Outcome::read(&out, &fixture.path).map_err(|why| format!("{why}\ncolt run said:\n{}", tail(&run.output())))
}

/// The files to analyse: the fixture itself, or what clang makes of it.
fn programs(fixture: &Fixture, scratch: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = fixture.path.parent().unwrap_or(Path::new("."));
    let own = match fixture.form {
        Form::Source => fixture.path.clone(),
        Form::Bitcode => compile(&fixture.path, scratch, "bc", &["-c"])?,
        Form::Assembly => compile(&fixture.path, scratch, "ll", &["-S"])?,
    };
    let others = fixture.also.iter().map(|name| folder.join(name));
    Ok(std::iter::once(own).chain(others).collect())
}

fn compile(source: &Path, scratch: &Path, extension: &str, mode: &[&str]) -> Result<PathBuf, String> {
    let target = scratch.join(source.with_extension(extension).file_name().unwrap_or_default());
    let mut clang = Command::new(clang());
    clang.args(["-g", "-O0", "-Xclang", "-disable-O0-optnone", "-emit-llvm"]).args(mode);
    clang.arg("-I").arg(project_root().join("include")).arg(source).arg("-o").arg(&target);
    let finished = run_limited(&mut clang, COMMAND_LIMIT).map_err(|failure| format!("clang: {failure}"))?;
    match finished.status {
        Some(0) => Ok(target),
        _ => Err(format!("clang does not compile {}:\n{}", source.display(), finished.stderr)),
    }
}

/// The compiler that Colt itself would use.
pub fn clang() -> String {
    std::env::var("COLT_CLANG").unwrap_or_else(|_| "clang-19".to_string())
}

fn explore(
    colt: &Path,
    fixture: &Fixture,
    line_up: &LineUp,
    programs: &[PathBuf],
    out: &Path,
    more: &[&str],
) -> Result<Finished, String> {
    let mut command = Command::new(colt);
    command.arg("run").args(programs).arg("--out").arg(out).args(["--tests", "files"]);
    command.args(["--workers", "1", "--max-time", &EXPLORE_LIMIT_S.to_string()]);
    if let Some(entry) = &fixture.entry {
        command.args(["--entry", entry]);
    }
    if !line_up.techniques().is_empty() {
        command.args(["--with", &line_up.techniques().join(",")]);
    }
    // A fixture's own flags come last, so that one about budgets can set its own.
    let here = fixture.path.parent().unwrap_or(Path::new(".")).display().to_string();
    command.args(fixture.flags.iter().map(|flag| flag.replace("{here}", &here))).args(more);
    let finished = run_limited(&mut command, COMMAND_LIMIT).map_err(|failure| format!("colt run: {failure}"))?;
    if finished.output().contains("panicked at") {
        return Err(format!("colt run panicked:\n{}", tail(&finished.output())));
    }
    Ok(finished)
}

/// The complaint, if `colt replay` does not agree with every test.
fn replay(colt: &Path, out: &Path) -> Result<Option<String>, String> {
    match run_limited(Command::new(colt).arg("replay").arg(out), COMMAND_LIMIT) {
        Ok(finished) if finished.status == Some(0) => Ok(None),
        Ok(finished) => Ok(Some(format!("exit status {:?}\n{}", finished.status, tail(&finished.output())))),
        Err(failure @ CommandFailure::TimedOut(_)) => Ok(Some(failure.to_string())),
        Err(failure @ CommandFailure::NotStarted(_)) => Err(format!("colt replay: {failure}")),
    }
}

/// The last lines of an output, enough to see what went wrong.
fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}
