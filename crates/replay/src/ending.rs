//! How a native run ended.

use std::fmt;

use witness::{BugKind, Place};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NativeEnding {
    /// The entry returned; `status` is 0 for other entries than `main`.
    Returned {
        status: i32,
    },
    Exited {
        status: i32,
    },
    /// An assumption failed.
    Assumed,
    Bug(NativeBug),
    /// Ended by a signal that no sanitizer explained.
    Signal(i32),
    TimedOut,
    /// It did not end, and was seen coming to a line of a cycle again and again.
    GoesRound {
        line: u32,
        count: u64,
        /// How the run ended: its time was over, or its stack was full.
        at_last: &'static str,
    },
    /// The program asked for an input that the test does not have.
    OutOfInputs {
        name: String,
    },
    /// The program asked for an input of another size than the test has.
    InputSize {
        name: String,
    },
    /// The run itself failed; nothing is known about the program.
    Lost {
        why: String,
    },
}

/// Which way memory was accessed, where the report says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Unknown,
}

/// A fault as the native run showed it: a sanitizer's report, or a failed assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeBug {
    /// None for a fault that has no kind of ours, such as overlapping arguments of `memcpy`.
    pub kind: Option<BugKind>,
    pub access: Access,
    /// The faulting instruction is inside a library function, not in the user's code.
    pub in_library: bool,
    /// The processor trapped: the sanitizer saw a signal and knows the access, not the object.
    pub by_signal: bool,
    /// One line, from the report.
    pub text: String,
    /// Frames in the user's own sources, innermost first.
    pub frames: Vec<Place>,
}

impl NativeBug {
    pub fn place(&self) -> Option<&Place> {
        self.frames.first()
    }
}

impl fmt::Display for NativeEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NativeEnding::Returned { status } => write!(f, "returned with status {status}"),
            NativeEnding::Exited { status } => write!(f, "exited with status {status}"),
            NativeEnding::Assumed => write!(f, "an assumption failed"),
            NativeEnding::Bug(bug) => bug.fmt(f),
            NativeEnding::Signal(number) => write!(f, "ended by signal {number}"),
            NativeEnding::TimedOut => write!(f, "still running when its time was over"),
            NativeEnding::GoesRound { line, count, at_last } => {
                write!(f, "line {line} was run {count} times until {at_last}")
            }
            NativeEnding::OutOfInputs { name } => write!(f, "asked for input `{name}`, which the test does not have"),
            NativeEnding::InputSize { name } => write!(f, "asked for input `{name}` in another size"),
            NativeEnding::Lost { why } => write!(f, "the native run failed: {why}"),
        }
    }
}

impl fmt::Display for NativeBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text)?;
        match self.place() {
            Some(place) => write!(f, " at {}:{} in {}", place.file, place.line, place.function),
            None => Ok(()),
        }
    }
}
