//! Finding the `colt` binary and running commands that may not run for ever.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The binary under test: `$COLT`, or `colt` beside the running test in the target folder.
pub fn find_colt() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("COLT") {
        let path = PathBuf::from(path);
        return path.canonicalize().map_err(|error| format!("COLT={}: {error}", path.display()));
    }
    let exe = std::env::current_exe().map_err(|error| format!("where this test lies is unknown: {error}"))?;
    let profile_folders = exe.ancestors().skip(1).take(2);
    let target = exe.ancestors().nth(3).map(Path::to_path_buf).unwrap_or_default();
    let candidates = profile_folders.map(|folder| folder.join("colt"));
    let candidates = candidates.chain([target.join("release/colt"), target.join("debug/colt")]);
    candidates
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| "no `colt` binary: run `cargo build --release -p cli`, or set COLT to its path".to_string())
}

/// Runs `colt` with these words in a folder; a failure to run at all fails the test that asks.
pub fn run_colt(dir: &Path, words: &[&str], limit: Duration) -> Finished {
    let mut command = Command::new(find_colt().unwrap_or_else(|why| panic!("{why}")));
    command.args(words).current_dir(dir);
    run_limited(&mut command, limit).unwrap_or_else(|failure| panic!("colt {}: {failure}", words.join(" ")))
}

/// A file that is to hold JSON.
pub fn read_json(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The top folder of the project.
pub fn project_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// What a finished command left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// `None` when a signal ended it.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn output(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

#[derive(Clone, Debug)]
pub enum CommandFailure {
    TimedOut(Duration),
    NotStarted(String),
}

impl std::fmt::Display for CommandFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CommandFailure::TimedOut(limit) => write!(out, "still running after {} s", limit.as_secs()),
            CommandFailure::NotStarted(why) => write!(out, "not started: {why}"),
        }
    }
}

/// Runs to the end or kills at `limit`; output is collected while it runs, so a full pipe never blocks it.
pub fn run_limited(command: &mut Command, limit: Duration) -> Result<Finished, CommandFailure> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| CommandFailure::NotStarted(format!("{program}: {error}")))?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() >= limit => {
                // Failing to kill means it is gone already.
                let _ = child.kill();
                let _ = child.wait();
                return Err(CommandFailure::TimedOut(limit));
            }
            Ok(None) => thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(CommandFailure::NotStarted(format!("{program}: {error}"))),
        }
    };
    let text = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Finished { status: status.code(), stdout: text(stdout), stderr: text(stderr) })
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before a broken pipe is still worth having.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_are_collected() {
        let finished =
            run_limited(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(10));
        let finished = finished.expect("sh runs");
        assert_eq!((finished.status, finished.stdout.as_str(), finished.stderr.as_str()), (Some(3), "out\n", "err\n"));
    }

    #[test]
    fn a_hang_is_killed() {
        let result = run_limited(Command::new("sleep").arg("60"), Duration::from_millis(50));
        assert!(matches!(result, Err(CommandFailure::TimedOut(_))));
    }
}
