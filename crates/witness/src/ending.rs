//! How a path ended, and the evidence for it.

use std::sync::Arc;

use crate::{Bug, InputValue};

/// A position in the program's sources. `file` is as the compiler was given it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    pub function: Arc<str>,
}

/// Which limit ended a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Budget {
    Time,
    Memory,
    Paths,
    Depth,
    Steps,
    Interrupt,
}

impl Budget {
    pub fn name(self) -> &'static str {
        match self {
            Budget::Time => "time",
            Budget::Memory => "memory",
            Budget::Paths => "paths",
            Budget::Depth => "depth",
            Budget::Steps => "steps",
            Budget::Interrupt => "interrupt",
        }
    }
}

/// Something the engine cannot do, met on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Which thing, where it matters and what the user can do about it, in one sentence.
    pub message: String,
    pub place: Place,
}

/// Every path has exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The entry function returned; `status` is the process's exit status when the entry is `main`.
    Returned {
        status: i32,
    },
    /// `exit` or a sibling was called.
    Exited {
        status: i32,
    },
    Bug(Bug),
    /// An assumption of the program (`colt_assume` and its relatives) failed.
    Assumed,
    Pruned {
        technique: &'static str,
        reason: String,
    },
    Cut(Budget),
    Unsupported(Gap),
}

impl Ending {
    /// The spelling used as a key of `summary.json` and in test files.
    pub fn name(&self) -> &'static str {
        match self {
            Ending::Returned { .. } => "returned",
            Ending::Exited { .. } => "exited",
            Ending::Bug(_) => "bug",
            Ending::Assumed => "assumed",
            Ending::Pruned { .. } => "pruned",
            Ending::Cut(_) => "cut",
            Ending::Unsupported(_) => "unsupported",
        }
    }
}

/// Input, path and ending: the evidence for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub inputs: Vec<InputValue>,
    pub ending: Ending,
    /// The decisions from entry to ending: which alternative was taken at each place where there was a choice.
    pub path: Vec<u64>,
}
