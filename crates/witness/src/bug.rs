//! Faults of the program under test, and what is reported about them.

use crate::Place;

/// What went wrong. The spelling in [`BugKind::name`] is part of the interface scripts rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BugKind {
    OutOfBoundsRead,
    OutOfBoundsWrite,
    UseAfterFree,
    DoubleFree,
    InvalidFree,
    NullDereference,
    InvalidPointer,
    DivisionByZero,
    IntegerOverflow,
    InvalidShift,
    UninitialisedRead,
    MemoryLeak,
    AssertionFailure,
    Abort,
    UnreachableReached,
    StackOverflow,
    NonTermination,
    MisalignedAccess,
    PointerOverflow,
    InvalidValue,
    InvalidArgument,
    InvalidConversion,
    LossyConversion,
    OverlappingCopy,
}

/// One row per kind: the kind, its spelling, its CWE number.
const KINDS: &[(BugKind, &str, u32)] = &[
    (BugKind::OutOfBoundsRead, "out-of-bounds-read", 125),
    (BugKind::OutOfBoundsWrite, "out-of-bounds-write", 787),
    (BugKind::UseAfterFree, "use-after-free", 416),
    (BugKind::DoubleFree, "double-free", 415),
    (BugKind::InvalidFree, "invalid-free", 763),
    (BugKind::NullDereference, "null-dereference", 476),
    (BugKind::InvalidPointer, "invalid-pointer", 822),
    (BugKind::DivisionByZero, "division-by-zero", 369),
    (BugKind::IntegerOverflow, "integer-overflow", 190),
    (BugKind::InvalidShift, "invalid-shift", 1335),
    (BugKind::UninitialisedRead, "uninitialised-read", 457),
    (BugKind::MemoryLeak, "memory-leak", 401),
    (BugKind::AssertionFailure, "assertion-failure", 617),
    (BugKind::Abort, "abort", 617),
    (BugKind::UnreachableReached, "unreachable-reached", 561),
    (BugKind::StackOverflow, "stack-overflow", 674),
    (BugKind::NonTermination, "non-termination", 835),
    (BugKind::MisalignedAccess, "misaligned-access", 758),
    (BugKind::PointerOverflow, "pointer-overflow", 823),
    (BugKind::InvalidValue, "invalid-value", 758),
    (BugKind::InvalidArgument, "invalid-argument", 628),
    (BugKind::InvalidConversion, "invalid-conversion", 681),
    (BugKind::LossyConversion, "lossy-conversion", 197),
    (BugKind::OverlappingCopy, "overlapping-copy", 475),
];

impl BugKind {
    pub fn all() -> impl Iterator<Item = BugKind> {
        KINDS.iter().map(|row| row.0)
    }

    pub fn name(self) -> &'static str {
        KINDS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    pub fn cwe(self) -> u32 {
        KINDS.iter().find(|row| row.0 == self).map_or(0, |row| row.2)
    }

    pub fn from_name(name: &str) -> Option<BugKind> {
        KINDS.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

/// A fault of the program under test at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    pub kind: BugKind,
    pub message: String,
    /// The innermost place in the user's own sources.
    pub place: Place,
    /// Callers of `place`, innermost first.
    pub stack: Vec<Place>,
    /// Further places at which the same end of the path shows the same kind of fault: blocks that leak together.
    pub also: Vec<(Place, String)>,
}

/// What makes two faults the same finding: kind and place, and for faults in a helper the call of it.
pub type FindingKey = (BugKind, Place, Option<Place>);

impl Bug {
    pub fn key(&self) -> FindingKey {
        (self.kind, self.place.clone(), self.call_site().cloned())
    }

    /// The call of the function it is in, where that tells it apart from others at its place.
    pub fn call_site(&self) -> Option<&Place> {
        // Where a block was allocated says nothing about the end of the path, and a recursion ends anywhere.
        let is_local = !matches!(self.kind, BugKind::MemoryLeak | BugKind::StackOverflow | BugKind::NonTermination);
        self.stack.first().filter(|_| is_local)
    }

    /// One fault for each place.
    pub fn each(mut self) -> impl Iterator<Item = Bug> {
        let also = std::mem::take(&mut self.also);
        let first = self.clone();
        let others = also.into_iter().map(move |(place, message)| Bug { place, message, ..self.clone() });
        std::iter::once(first).chain(others)
    }
}

/// What is reported: one kind at one place; further paths to it are counted, not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub bug: Bug,
    /// File of the test that shows it, relative to the output folder.
    pub test: String,
    pub confirmed: bool,
    /// Why it was not confirmed, or what the native run printed when it was.
    pub evidence: String,
    /// How many paths ended here.
    pub n_paths: u64,
    pub certificate: Option<Certificate>,
}

/// The proof of a finding, to be checked by others. Becomes `certificates/N.SUFFIX` in the output folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub suffix: &'static str,
    pub text: String,
}
