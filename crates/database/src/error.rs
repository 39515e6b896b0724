//! What can go wrong with a database, in words for people.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A database that could not be used, and what to do about it.
#[derive(Debug)]
pub struct Error {
    pub path: PathBuf,
    pub problem: Problem,
}

#[derive(Debug)]
pub enum Problem {
    /// There is no such file.
    Absent,
    /// Some other file.
    Foreign,
    /// Written by a later version.
    Newer {
        found: i64,
    },
    /// Written by an earlier version whose form is not read any more.
    Older {
        found: i64,
    },
    /// Cut off or overwritten.
    Damaged(String),
    /// Another process holds it.
    Held,
    /// No room on the disk.
    Full,
    /// It, or its folder, cannot be written.
    ReadOnly,
    Other(String),
}

impl Error {
    pub(crate) fn new(path: &Path, problem: Problem) -> Error {
        Error { path: path.to_path_buf(), problem }
    }

    pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> Error {
        let problem = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Problem::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::Held,
            Some(ErrorCode::ReadOnly) => Problem::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt) => Problem::Damaged(error.to_string()),
            Some(ErrorCode::NotADatabase) => Problem::Foreign,
            // How a full disk shows where the log cannot be made or extended.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(path) => Problem::Full,
            _ => Problem::Other(error.to_string()),
        };
        Error::new(path, problem)
    }

    pub(crate) fn io(path: &Path, error: &io::Error) -> Error {
        let problem = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Problem::Full,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Problem::ReadOnly,
            io::ErrorKind::NotFound => Problem::Absent,
            _ => Problem::Other(error.to_string()),
        };
        Error::new(path, problem)
    }
}

/// Whether not even a page fits beside the database.
fn is_full(path: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    let probe = folder.join(".colt-room");
    let written = std::fs::write(&probe, [0; 8192]);
    let _ = std::fs::remove_file(&probe);
    written.is_err_and(|error| error.kind() == io::ErrorKind::StorageFull)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            Problem::Absent => write!(f, "{path} does not exist"),
            Problem::Foreign => write!(f, "{path} is not the database of a campaign"),
            Problem::Newer { found } => write!(
                f,
                "{path} was written by a later version of Colt (form {found}, this one reads up to {}); use that one",
                crate::VERSION
            ),
            Problem::Older { found } => write!(
                f,
                "{path} was written by an earlier version of Colt (form {found}, this one reads {}); run the campaign again",
                crate::VERSION
            ),
            Problem::Damaged(why) => write!(
                f,
                "{path} is damaged ({why}); the test files beside it are whole, and `sqlite3 {path} .recover` may bring back more"
            ),
            Problem::Held => {
                write!(f, "cannot write {path}: another process holds it; end that one, then `colt resume`")
            }
            Problem::Full => {
                write!(f, "cannot write {path}: no space is left on the disk; make room, then `colt resume`")
            }
            Problem::ReadOnly => write!(f, "cannot write {path}: it or its folder is read-only"),
            Problem::Other(why) => write!(f, "{path}: {why}"),
        }
    }
}

impl std::error::Error for Error {}
