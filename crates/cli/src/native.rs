//! The native side of a campaign: what to build, confirming findings, measuring coverage.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use database::{Database, Which};
use replay::{BuildPlan, Expected, Session, Verdict};
use report::{CoverageSummary, FindingSummary, Ratio, TestId, test_name};
use tempfile::TempDir;
use witness::BugKind;

use crate::args::Uninit;
use crate::cache;
use crate::deadline::Deadline;
use crate::folder::SavedTest;
use crate::outcome::Failure;
use crate::sink::Witnesses;

/// Campaigns up to this size have every test replayed for coverage; larger ones those that reached something new and
/// an even choice of the others.
const REPLAY_ALL: u64 = 250;
/// What a test of a path that was cut may run.
const CUT_RUN_MS: u32 = 1000;
/// What a test of a hang may run, where only its coverage counts.
const HANGING_RUN_MS: u32 = 200;
/// What all tests that may never end may run together, where nobody says how much time there is.
const ENDLESS: Duration = Duration::from_secs(20);
/// The least that one of them gets: most show what they reach at once.
const LEAST_RUN_MS: u32 = 20;

/// Between two looks at whether the native build is ready.
const WAIT: Duration = Duration::from_millis(5);

/// A native build under way beside the exploration.
pub struct Building {
    thread: JoinHandle<Result<Native, String>>,
}

/// The built program, started.
pub struct Native {
    session: Session,
    /// Tests already run to confirm a finding: for coverage they count once.
    already_run: HashSet<TestId>,
    /// Holds the build; removed when the session is over.
    _folder: TempDir,
}

impl Building {
    pub fn start(plan: BuildPlan) -> Building {
        Building { thread: std::thread::spawn(move || Native::build(&plan)) }
    }

    pub fn wait(self, deadline: Deadline) -> Result<Native, String> {
        while deadline.for_replaying().is_some() && !self.thread.is_finished() {
            if deadline.is_over() {
                return Err("--max-time was used up before the native build was ready".to_string());
            }
            std::thread::sleep(WAIT);
        }
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Native {
    pub fn build(plan: &BuildPlan) -> Result<Native, String> {
        let folder = tempfile::Builder::new()
            .prefix("colt-native-")
            .tempdir()
            .map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let plan = BuildPlan { cache: cache::folder(), ..plan.clone() };
        let session = Session::build(&plan, folder.path()).map_err(|error| error.to_string())?;
        Ok(Native { session, already_run: HashSet::new(), _folder: folder })
    }

    /// Runs one test. `None` when the native program ended as the test says.
    pub fn disagreement(&mut self, test: &SavedTest) -> Option<String> {
        match self.session.judge(&test.case.inputs, &test.case.expected) {
            (_, Verdict::Agrees) => None,
            (_, Verdict::Differs(why)) => Some(why),
        }
    }

    pub fn caveat(&self) -> Option<&'static str> {
        self.session.caveat()
    }

    pub fn sandbox(&self) -> String {
        self.session.sandbox().to_string()
    }

    /// Replays tests of every finding until one shows it, and enters in the finding what came of it. Further tests are
    /// tried because a native run cannot show every fault: memory beside an object may belong to another one.
    pub fn confirm(
        &mut self,
        database: &Database,
        findings: &mut [FindingSummary],
        witnesses: &Witnesses,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.session.end_by(deadline.replay_until());
        for finding in findings.iter_mut().filter(|finding| !finding.confirmed) {
            let others = witnesses.get(&finding.key()).map_or(&[][..], Vec::as_slice);
            let first = finding.test_id();
            let others = others.iter().filter(|showing| showing.test != first);
            let tests = std::iter::once((first, None)).chain(others.map(|showing| (showing.test, Some(&showing.bug))));
            for (test, bug) in tests {
                if deadline.is_over() {
                    if finding.evidence.is_empty() {
                        finding.evidence = "not replayed: --max-time was used up".to_string();
                    }
                    break;
                }
                if self.confirm_by(database, finding, test)? == Verdict::Agrees {
                    bug.into_iter().for_each(|bug| finding.tell_of(bug));
                    break;
                }
            }
        }
        Ok(())
    }

    /// The evidence kept is that of the first test, unless a later one shows the finding.
    fn confirm_by(
        &mut self,
        database: &Database,
        finding: &mut FindingSummary,
        id: TestId,
    ) -> Result<Verdict, Failure> {
        let test = SavedTest::find(database, id)?;
        self.already_run.insert(id);
        // A path may show more than one: what was claimed here is what has to show.
        let expected = match &test.case.expected {
            Expected::Bug(bug) => Expected::Bug(replay::ExpectedBug {
                file: finding.file.clone(),
                line: finding.line,
                function: finding.function.clone(),
                ..bug.clone()
            }),
            other => other.clone(),
        };
        let (native, verdict) = self.session.judge(&test.case.inputs, &expected);
        match &verdict {
            Verdict::Agrees => {
                finding.confirmed = true;
                finding.evidence = native.to_string();
                finding.test = test_name(id);
            }
            Verdict::Differs(why) if finding.evidence.is_empty() => finding.evidence = why.clone(),
            Verdict::Differs(_) => {}
        }
        Ok(verdict)
    }

    /// Replays tests for their coverage, and says how many were left out: `stop` and the deadline end it early. Those that may
    /// run for ever come last and share what time is left.
    pub fn cover(
        &mut self,
        database: &Database,
        tests: &[TestId],
        deadline: Deadline,
        stop: &AtomicBool,
    ) -> Result<usize, Failure> {
        self.session.end_by(deadline.replay_until());
        let is_over = || stop.load(Ordering::Relaxed) || deadline.is_over();
        let mut endless = Vec::new();
        for (idx, id) in tests.iter().enumerate() {
            if is_over() {
                return Ok(tests.len() - idx + endless.len());
            }
            if self.already_run.contains(id) {
                continue;
            }
            let test = SavedTest::find(database, *id)?;
            match test.case.expected {
                // Such a path may run for ever, or does.
                Expected::Bug(ref bug) if bug.kind == BugKind::NonTermination => endless.push((*id, HANGING_RUN_MS)),
                Expected::Open => endless.push((*id, CUT_RUN_MS)),
                _ => drop(self.session.run(&test.case.inputs)),
            }
        }
        let until = deadline.replay_until().unwrap_or_else(|| Instant::now() + ENDLESS);
        for (idx, (id, most_ms)) in endless.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if is_over() || left.is_zero() {
                return Ok(endless.len() - idx);
            }
            let share_ms = (left.as_millis() / (endless.len() - idx) as u128) as u32;
            let test = SavedTest::find(database, *id)?;
            self.session.run_within(&test.case.inputs, share_ms.clamp(LEAST_RUN_MS, *most_ms));
        }
        Ok(0)
    }

    /// The figures of the summary and the contents of `coverage.json`.
    pub fn coverage(&self) -> Result<(CoverageSummary, Vec<u8>), String> {
        let coverage = self.session.coverage().map_err(|error| error.to_string())?;
        let ratio = |share: replay::Share| Ratio { covered: share.covered, total: share.total };
        let summary =
            CoverageSummary { lines: ratio(coverage.lines), branches: ratio(coverage.branches), note: String::new() };
        let mut bytes = coverage.to_json().to_string().into_bytes();
        bytes.push(b'\n');
        Ok((summary, bytes))
    }
}

/// Which tests are replayed for coverage: all where they are few, else those that reached something new and an even choice of
/// the others.
pub fn choose(database: &Database) -> Result<Vec<TestId>, Failure> {
    let (n_tests, last) = database.n_tests()?;
    if n_tests <= REPLAY_ALL {
        return Ok(database.numbers(Which::All)?);
    }
    let mut chosen = database.numbers(Which::New)?;
    for from in evenly(last) {
        chosen.extend(database.number_from(from)?);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn evenly(last: TestId) -> impl Iterator<Item = TestId> {
    let step = last.0.div_ceil(REPLAY_ALL).max(1);
    (1..=last.0).step_by(step as usize).map(TestId)
}

/// The checks that change the native build.
pub fn build_checks(checks: &vm::Checks, uninit: Uninit) -> replay::Checks {
    let mut sanitizers: Vec<String> = checks.of_clang().into_iter().map(str::to_string).collect();
    if checks.pointer {
        sanitizers.push("pointer-overflow".to_string());
    }
    replay::Checks {
        overflow: checks.overflow,
        shift: checks.shift,
        uninit: checks.uninit,
        uninit_zero: uninit == Uninit::Zero,
        leak: checks.leak,
        leak_all: checks.leak_all,
        abort_is_end: !checks.assertion,
        sanitizers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_even_and_bounded() {
        let chosen: Vec<TestId> = evenly(TestId(100_000)).collect();
        assert!(chosen.len() as u64 <= REPLAY_ALL, "{}", chosen.len());
        assert_eq!((chosen[0], chosen[1]), (TestId(1), TestId(401)));
    }
}
