//! Whether a native run shows what the engine claimed.
//!
//! A fault agrees when its kind could be the same fault seen by a sanitizer, and its place is on the native stack. The
//! sanitizers see less than the engine: a wild access may hit another object's redzone, freed memory or nothing at all,
//! so the kinds are compared by what the sanitizer can know, never more loosely.

use std::path::Path;

use witness::{BugKind, Place};

use crate::ending::{Access, NativeBug, NativeEnding};
use crate::test_case::{Expected, ExpectedBug};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    /// One sentence that says what was claimed and what happened.
    Differs(String),
}

pub fn compare(expected: &Expected, native: &NativeEnding) -> Verdict {
    match (expected, native) {
        (Expected::Open, NativeEnding::Lost { .. }) => differs("any ending", native),
        (Expected::Open, _) => Verdict::Agrees,
        (Expected::Assumed, NativeEnding::Assumed) => Verdict::Agrees,
        (Expected::Returned { status }, NativeEnding::Returned { status: actual })
        | (Expected::Exited { status }, NativeEnding::Exited { status: actual })
            if status & 0xff == actual & 0xff =>
        {
            Verdict::Agrees
        }
        (Expected::Returned { status }, _) => differs(&format!("return with status {status}"), native),
        (Expected::Exited { status }, _) => differs(&format!("exit with status {status}"), native),
        (Expected::Assumed, _) => differs("a failed assumption", native),
        (Expected::Bug(bug), _) => compare_bug(bug, native),
    }
}

fn compare_bug(expected: &ExpectedBug, native: &NativeEnding) -> Verdict {
    let agrees = match native {
        NativeEnding::Bug(bug) => same_fault(expected.kind, bug) && same_place(expected, bug),
        NativeEnding::Signal(number) => signal_shows(expected.kind, *number),
        // That time is over does not show a cycle: it may just be slow.
        NativeEnding::TimedOut => expected.kind == BugKind::NonTermination && expected.is_deadlock(),
        NativeEnding::GoesRound { .. } => expected.kind == BugKind::NonTermination,
        _ => false,
    };
    if agrees {
        return Verdict::Agrees;
    }
    differs(&format!("{} at {}:{}", expected.kind.name(), expected.file, expected.line), native)
}

fn differs(claimed: &str, native: &NativeEnding) -> Verdict {
    Verdict::Differs(format!("expected {claimed}; natively: {native}"))
}

fn same_fault(expected: BugKind, native: &NativeBug) -> bool {
    use BugKind::*;
    let Some(seen) = native.kind else { return false };
    let trapped = native.by_signal && matches!(seen, NullDereference | InvalidPointer);
    match expected {
        OutOfBoundsRead => same_access(Access::Read, native) && (is_access(seen) || trapped),
        OutOfBoundsWrite => same_access(Access::Write, native) && (is_access(seen) || trapped),
        // A dead object's memory may have a redzone of another object in it by now.
        // A library function that is handed what was freed may look into it first, or free it at once.
        UseAfterFree => is_access(seen) || trapped || (seen == DoubleFree && native.in_library),
        // A null pointer plus a large offset leaves the zero page.
        NullDereference => trapped,
        InvalidPointer => is_access(seen) || trapped,
        DoubleFree => seen == DoubleFree,
        InvalidFree => seen == InvalidFree || trapped,
        // The processor reports INT_MIN / -1 as it reports a zero divisor.
        DivisionByZero | IntegerOverflow => {
            seen == expected || (seen == DivisionByZero && native.by_signal) || is_minimum_by_minus_one(native)
        }
        UnreachableReached => seen == UnreachableReached || (seen == Abort && native.by_signal),
        AssertionFailure | Abort => matches!(seen, AssertionFailure | Abort),
        // Where a pointer leaves its object only an array's bounds can tell.
        PointerOverflow => seen == PointerOverflow || (seen == OutOfBoundsRead && native.text.starts_with("index ")),
        InvalidShift | UninitialisedRead | MemoryLeak | StackOverflow | NonTermination | MisalignedAccess
        | InvalidValue | InvalidArgument | InvalidConversion | LossyConversion | OverlappingCopy => seen == expected,
    }
}

fn is_access(seen: BugKind) -> bool {
    matches!(seen, BugKind::OutOfBoundsRead | BugKind::OutOfBoundsWrite | BugKind::UseAfterFree)
}

fn is_minimum_by_minus_one(native: &NativeBug) -> bool {
    native.kind == Some(BugKind::IntegerOverflow) && native.text.starts_with("division of")
}

/// A library function that both reads and writes checks its arguments in an order of its own.
fn same_access(expected: Access, native: &NativeBug) -> bool {
    native.access == expected || native.access == Access::Unknown || native.in_library
}

fn same_place(expected: &ExpectedBug, native: &NativeBug) -> bool {
    match expected.kind {
        // Which frame of a recursion is the last depends on frame sizes.
        BugKind::StackOverflow => true,
        _ => native.frames.iter().any(|frame| at(expected, frame)),
    }
}

fn at(expected: &ExpectedBug, frame: &Place) -> bool {
    expected.line == frame.line && same_file(&expected.file, &frame.file)
}

/// One spelling may be absolute or start in another folder than the other.
pub(crate) fn same_file(left: &str, right: &str) -> bool {
    let (left, right) = (Path::new(left), Path::new(right));
    let strip = |path: &Path| {
        path.components().filter(|part| *part != std::path::Component::CurDir).collect::<std::path::PathBuf>()
    };
    let (left, right) = (strip(left), strip(right));
    left.ends_with(&right) || right.ends_with(&left)
}

/// Without a sanitizer the signal is all there is.
fn signal_shows(expected: BugKind, number: i32) -> bool {
    use BugKind::*;
    match expected {
        OutOfBoundsRead | OutOfBoundsWrite | UseAfterFree | NullDereference | InvalidPointer | DoubleFree
        | InvalidFree => matches!(number, libc::SIGSEGV | libc::SIGBUS | libc::SIGABRT),
        StackOverflow => number == libc::SIGSEGV,
        DivisionByZero | IntegerOverflow => number == libc::SIGFPE,
        AssertionFailure | Abort => matches!(number, libc::SIGABRT | libc::SIGILL | libc::SIGTRAP),
        UnreachableReached => matches!(number, libc::SIGILL | libc::SIGTRAP),
        NonTermination => matches!(number, libc::SIGXCPU),
        InvalidShift | UninitialisedRead | MemoryLeak | MisalignedAccess | PointerOverflow | InvalidValue
        | InvalidArgument | InvalidConversion | LossyConversion | OverlappingCopy => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn expected(kind: BugKind, line: u32) -> Expected {
        Expected::Bug(ExpectedBug {
            kind,
            file: "src/f.c".into(),
            line,
            function: "g".into(),
            message: "deadlock: m".into(),
        })
    }

    fn native(kind: BugKind, access: Access) -> NativeBug {
        let place = Place { file: Arc::from("f.c"), line: 7, column: 1, function: Arc::from("g") };
        NativeBug {
            kind: Some(kind),
            access,
            in_library: false,
            by_signal: false,
            text: String::new(),
            frames: vec![place],
        }
    }

    fn agrees(expected: &Expected, bug: NativeBug) -> bool {
        compare(expected, &NativeEnding::Bug(bug)) == Verdict::Agrees
    }

    #[test]
    fn kind_and_line_must_both_agree() {
        let claim = expected(BugKind::OutOfBoundsRead, 7);
        assert!(agrees(&claim, native(BugKind::OutOfBoundsRead, Access::Read)));
        assert!(!agrees(&claim, native(BugKind::OutOfBoundsWrite, Access::Write)));
        assert!(!agrees(&claim, native(BugKind::DoubleFree, Access::Unknown)));
        assert!(!agrees(&expected(BugKind::OutOfBoundsRead, 8), native(BugKind::OutOfBoundsRead, Access::Read)));
    }

    #[test]
    fn a_library_may_free_again_what_another_one_reads() {
        let claim = expected(BugKind::UseAfterFree, 7);
        let again = native(BugKind::DoubleFree, Access::Unknown);
        assert!(!agrees(&claim, again.clone()), "the program itself frees it");
        assert!(agrees(&claim, NativeBug { in_library: true, ..again }));
    }

    #[test]
    fn a_trap_may_be_a_wild_access_but_no_double_free() {
        let trap = NativeBug { by_signal: true, ..native(BugKind::InvalidPointer, Access::Read) };
        assert!(agrees(&expected(BugKind::OutOfBoundsRead, 7), trap.clone()));
        assert!(agrees(&expected(BugKind::NullDereference, 7), trap.clone()));
        assert!(!agrees(&expected(BugKind::DoubleFree, 7), trap.clone()));
        assert!(!agrees(&expected(BugKind::OutOfBoundsWrite, 7), trap));
    }

    #[test]
    fn a_hang_is_only_non_termination() {
        assert_eq!(compare(&expected(BugKind::NonTermination, 1), &NativeEnding::TimedOut), Verdict::Agrees);
        assert_ne!(compare(&Expected::Returned { status: 0 }, &NativeEnding::TimedOut), Verdict::Agrees);
        assert_eq!(compare(&Expected::Open, &NativeEnding::TimedOut), Verdict::Agrees);
    }

    #[test]
    fn files_agree_by_their_last_components() {
        assert!(same_file("./a/f.c", "a/f.c"));
        assert!(same_file("/x/a/f.c", "a/f.c"));
        assert!(!same_file("b/f.c", "a/f.c"));
        assert!(!same_file("af.c", "f.c"));
    }
}
