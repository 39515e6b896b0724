//! How a command ends: exit statuses, and the one paragraph a user gets when it fails.

use std::fmt;

/// What a command's exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success,
    /// `colt replay`: some test ended differently.
    Disagreement,
    Usage,
    Program,
    Incomplete,
    Fault,
    Finding,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Disagreement => 1,
            Exit::Usage => 2,
            Exit::Program => 3,
            Exit::Incomplete => 5,
            Exit::Fault => 6,
            Exit::Finding => 10,
        }
    }
}

/// A command could not do its work. The message is one paragraph and says what the user can do.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    /// The user asked for something that cannot be.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, message: message.into() }
    }

    /// The program under test cannot be compiled or loaded.
    pub fn program(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Program, message: message.into() }
    }

    /// Our own failure, or the machine's.
    pub fn fault(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Fault, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Failure {
        use database::Problem;
        match error.problem {
            Problem::Absent
            | Problem::Foreign
            | Problem::Newer { .. }
            | Problem::Older { .. }
            | Problem::Damaged(_)
            | Problem::ReadOnly => Failure::usage(error.to_string()),
            Problem::Held | Problem::Full | Problem::Other(_) => Failure::fault(error.to_string()),
        }
    }
}
