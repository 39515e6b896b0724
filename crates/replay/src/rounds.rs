//! Whether a native run goes round a cycle: how often it comes to the cycle's line before its time is over.
//!
//! The clock alone shows nothing, a program may be slow. The counters of coverage lie in memory that outlives the process, so
//! that of a line before and after the run says how often it was run.

use witness::BugKind;

use crate::compare::same_file;
use crate::coverage::Coverage;
use crate::ending::{NativeBug, NativeEnding};
use crate::test_case::ExpectedBug;

/// What the runs may take, one after the other, and how often each has to be seen going round. Most loops are quick; the last run
/// has all the time there is.
pub(crate) const RUNS: [(u32, u64); 3] = [(50, 100), (300, 100), (u32::MAX, FEW_ROUNDS)];
/// How often in a run of full length.
const FEW_ROUNDS: u64 = 3;
/// Lines below that of a loop on which its body begins.
const N_LINES_BELOW: u32 = 8;

/// How a run ended that may be going round for ever; `None` where it ended otherwise.
pub(crate) fn endless(ending: &NativeEnding) -> Option<&'static str> {
    match ending {
        NativeEnding::TimedOut => Some("its time was over"),
        NativeEnding::Bug(NativeBug { kind: Some(BugKind::StackOverflow), .. }) => Some("its stack was full"),
        _ => None,
    }
}

/// The line of the cycle that was run most often between two measurements, and how often: the loop's own, or where that has no
/// count of its own, as in `for (;;)`, one of its first.
pub(crate) fn count(expected: &ExpectedBug, before: &Coverage, after: &Coverage) -> Option<(u32, u64)> {
    let count_in = |coverage: &Coverage, line: u32| {
        let files = coverage.files.iter().filter(|(name, _)| same_file(name, &expected.file));
        let rows = files.flat_map(|(_, file)| &file.lines).filter(|row| row.line == line);
        rows.map(|row| row.count).max()
    };
    let risen = |line: u32| Some((line, count_in(after, line)? - count_in(before, line).unwrap_or(0)));
    (expected.line..=expected.line + N_LINES_BELOW).filter_map(risen).find(|(_, count)| *count >= FEW_ROUNDS)
}
