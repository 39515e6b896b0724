//! The walls around a program under test: no network, a private working folder, nothing else writable.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools;

/// Which walls are up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// bubblewrap: own process, network, IPC and mount namespaces, everything read-only but the private folder.
    Bubblewrap,
    /// Where bubblewrap is missing or not allowed: limits on time, memory, processes and files, another user when
    /// started as root, and no network where the kernel lets us leave it.
    Limits,
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sandbox::Bubblewrap => write!(f, "bubblewrap"),
            Sandbox::Limits => write!(f, "resource limits only (bubblewrap does not work here)"),
        }
    }
}

/// A way to start the program, and where it will find itself and its folder.
pub struct Attempt {
    pub sandbox: Sandbox,
    pub command: Command,
    /// The program's path as it sees it.
    pub program: PathBuf,
}

const INNER_PROGRAM: &str = "/tmp/colt/program";
const INNER_FOLDER: &str = "/tmp/work";
const FOLDER_BYTES: &str = "67108864";

/// Ways to start `program`, strongest first. `folder` is used as the working folder where no private one can be made.
pub fn attempts(program: &Path, folder: &Path) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    // SAFETY: has no preconditions.
    let is_root = unsafe { libc::geteuid() } == 0;
    if let Some(bwrap) = tools::on_path(Path::new("bwrap")) {
        // As root no user namespace is needed, and without one the server can become another user.
        let users: &[&[&str]] = if is_root {
            &[&["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"], &["--unshare-user"]]
        } else {
            &[&["--unshare-user"]]
        };
        for user in users {
            // Some containers forbid a fresh /proc.
            for proc in [&["--proc", "/proc"][..], &[]] {
                attempts.push(bubblewrap(&bwrap, program, user, proc));
            }
        }
    }
    attempts.push(limits_only(program, folder));
    attempts
}

/// Not `--die-with-parent`: it follows the thread that started the server, which may end long before the session. The
/// server ends by itself when its control pipe is closed.
fn bubblewrap(bwrap: &Path, program: &Path, user: &[&str], proc: &[&str]) -> Attempt {
    let mut command = Command::new(bwrap);
    command.args(["--unshare-pid", "--as-pid-1", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--new-session"]);
    command.args(user).args(["--ro-bind", "/", "/", "--dev", "/dev"]).args(proc);
    // Sockets can be connected to on a read-only file system too, so the folders that hold them are hidden.
    // Temporary files may be made, and are gone after the test.
    command.args(["--perms", "1777", "--size", FOLDER_BYTES, "--tmpfs", "/tmp"]);
    command.args(["--tmpfs", "/run", "--perms", "0777", "--size", FOLDER_BYTES, "--tmpfs", INNER_FOLDER]);
    command.arg("--ro-bind").arg(program).arg(INNER_PROGRAM).args(["--chdir", INNER_FOLDER]);
    command.args([INNER_PROGRAM, INNER_FOLDER]);
    Attempt { sandbox: Sandbox::Bubblewrap, command, program: PathBuf::from(INNER_PROGRAM) }
}

fn limits_only(program: &Path, folder: &Path) -> Attempt {
    let mut command = Command::new(program);
    command.arg(folder);
    use std::os::unix::process::CommandExt;
    // SAFETY: only a system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let cut_off = libc::CLONE_NEWNET | libc::CLONE_NEWIPC;
            if libc::unshare(cut_off) != 0 {
                libc::unshare(cut_off | libc::CLONE_NEWUSER);
            }
            Ok(())
        });
    }
    Attempt { sandbox: Sandbox::Limits, command, program: program.to_path_buf() }
}
