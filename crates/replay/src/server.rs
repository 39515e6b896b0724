//! The running fork server, seen from outside.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::exchange::{Exchange, memory_file};
use crate::sandbox::{Attempt, Sandbox, attempts};

/// Descriptors the program is started with, as in native/exchange.h; the last one is where coverage counters live.
const CONTROL_FD: RawFd = 200;
const RESULT_FD: RawFd = 201;
const EXCHANGE_FD: RawFd = 202;
const REPORT_FD: RawFd = 203;
const PROFILE_FD: RawFd = 204;

const STACK_BYTES: u64 = 8 << 20;
const START_TIMEOUT: Duration = Duration::from_secs(20);

pub struct Server {
    child: Child,
    control: Option<io::PipeWriter>,
    result: io::PipeReader,
    report: File,
    profile: File,
    pub sandbox: Sandbox,
    /// The program's path as it sees it.
    pub program: PathBuf,
}

/// How the process of one test ended.
pub struct Ended {
    pub wait_status: i32,
    pub timed_out: bool,
}

impl Server {
    /// Starts the program in the strongest sandbox that works here, of those that `wanted` accepts.
    pub fn start(
        program: &Path,
        folder: &Path,
        exchange: &Exchange,
        wanted: impl Fn(Sandbox) -> bool,
    ) -> io::Result<Server> {
        let mut failure = io::Error::other("no sandbox to start the program in");
        for attempt in attempts(program, folder) {
            if !wanted(attempt.sandbox) {
                continue;
            }
            match Server::start_attempt(attempt, exchange) {
                Ok(server) => return Ok(server),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn start_attempt(attempt: Attempt, exchange: &Exchange) -> io::Result<Server> {
        let Attempt { sandbox, mut command, program } = attempt;
        let (control_end, control) = io::pipe()?;
        let (result, result_end) = io::pipe()?;
        let (report, profile) = (memory_file(c"colt-report")?, memory_file(c"colt-profile")?);
        command.env_clear().env("LLVM_PROFILE_FILE", format!("%c/proc/self/fd/{PROFILE_FD}"));
        // An interrupt from the terminal is for Colt, which may still have tests to run.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        hand_over(
            &mut command,
            [
                (control_end.as_raw_fd(), CONTROL_FD),
                (result_end.as_raw_fd(), RESULT_FD),
                (exchange.file().as_raw_fd(), EXCHANGE_FD),
                (report.as_raw_fd(), REPORT_FD),
                (profile.as_raw_fd(), PROFILE_FD),
            ],
        );
        let child = command.spawn()?;
        drop((control_end, result_end));
        let mut server = Server { child, control: Some(control), result, report, profile, sandbox, program };
        let mut greeting = [0; 1];
        server.read_within(&mut greeting, START_TIMEOUT)?;
        Ok(server)
    }

    /// Runs the test that lies in the exchange.
    pub fn run(&mut self, timeout: Duration) -> io::Result<Ended> {
        match &mut self.control {
            Some(control) => control.write_all(b"r")?,
            None => return Err(io::ErrorKind::NotConnected.into()),
        }
        let mut bytes = [0; 8];
        // The server keeps the time; the rest is for what it does afterwards.
        self.read_within(&mut bytes, timeout + Duration::from_secs(10))?;
        let [a, b, c, d, rest @ ..] = bytes;
        Ok(Ended { wait_status: i32::from_le_bytes([a, b, c, d]), timed_out: rest != [0; 4] })
    }

    /// What the sanitizers printed since the last call.
    pub fn take_report(&mut self) -> io::Result<String> {
        if self.report.metadata()?.len() == 0 {
            return Ok(String::new());
        }
        // The offset is shared with the server, so that the next report starts at the beginning again.
        use std::io::Seek;
        self.report.rewind()?;
        let mut bytes = Vec::new();
        (&self.report).take(1 << 20).read_to_end(&mut bytes)?;
        self.report.set_len(0)?;
        self.report.rewind()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The raw profile as it is now.
    pub fn read_profile(&self) -> io::Result<Vec<u8>> {
        use std::os::unix::fs::FileExt;
        let mut bytes = vec![0; self.profile.metadata()?.len() as usize];
        self.profile.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    fn read_within(&mut self, bytes: &mut [u8], timeout: Duration) -> io::Result<()> {
        let deadline = Instant::now() + timeout;
        let mut n_read = 0;
        while n_read < bytes.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut ready = libc::pollfd { fd: self.result.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid pollfd.
            let n_ready = unsafe { libc::poll(&mut ready, 1, left.as_millis().min(60_000) as i32) };
            if n_ready < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                continue;
            }
            if n_ready <= 0 && left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if n_ready > 0 {
                match self.result.read(&mut bytes[n_read..])? {
                    0 => return Err(io::Error::other("the native program's server ended")),
                    n => n_read += n,
                }
            }
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Closing the pipe asks it to end; ending it by force is for a server that hangs.
        drop(self.control.take());
        for _ in 0..200 {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gives the child our descriptors under fixed numbers, and the limits that must hold before it starts.
fn hand_over<const N: usize>(command: &mut Command, descriptors: [(RawFd, RawFd); N]) {
    // SAFETY: between fork and exec only system calls on plain numbers are made.
    unsafe {
        command.pre_exec(move || {
            // First out of the way of the target numbers, then to them.
            let mut moved = [0; N];
            for (idx, (from, _)) in descriptors.iter().enumerate() {
                moved[idx] = libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, 220);
                if moved[idx] < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            for (from, (_, to)) in moved.iter().zip(&descriptors) {
                if libc::dup2(*from, *to) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            set_limit(libc::RLIMIT_STACK, STACK_BYTES);
            set_limit(libc::RLIMIT_CORE, 0);
            Ok(())
        });
    }
}

/// Lowers the soft limit only, so that a lower hard limit is no failure.
fn set_limit(what: libc::__rlimit_resource_t, value: u64) {
    let mut both = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid rlimit for both calls.
    unsafe {
        if libc::getrlimit(what, &mut both) == 0 {
            both.rlim_cur = value.min(both.rlim_max);
            libc::setrlimit(what, &both);
        }
    }
}
