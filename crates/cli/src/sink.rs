//! Takes paths from the explorer as they end: writes their tests, counts what only endings tell, shows progress.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use explore::{Covers, Progress, Sink};
use report::{CutSummary, GapSummary, TestId, TestWriter, WriteError};
use witness::{Ending, Witness};

use crate::args::Tests;
use crate::names::Names;
use crate::order::Arrival;
use crate::screen::Screen;

/// What makes two faults one finding: kind, file and line.
pub type FindingKey = (String, String, u32);

/// What tells paths of a campaign apart: their decisions, and the bytes of their inputs where runs of a campaign decide
/// about different things.
pub type PathKey = (Vec<u64>, Vec<Vec<u8>>);

pub fn path_key<'a>(path: &[u64], inputs: impl Iterator<Item = &'a [u8]>) -> PathKey {
    (path.to_vec(), inputs.map(<[u8]>::to_vec).collect())
}

/// Tests that show one finding: the first few, should the first not show it natively.
pub type Witnesses = HashMap<FindingKey, Vec<TestId>>;

/// Tests kept for one finding.
pub const WITNESSES_KEPT: usize = 8;

pub struct CampaignSink<'a> {
    /// Absent once writing has failed.
    writer: Option<TestWriter>,
    error: Option<WriteError>,
    n_tests: u64,
    names: Names,
    /// Tests of a campaign that was killed, by path: they are on disk already.
    known: HashMap<PathKey, TestId>,
    gaps: BTreeMap<(Arc<str>, u32, String), u64>,
    cuts: BTreeMap<&'static str, u64>,
    covering: Vec<TestId>,
    witnesses: Witnesses,
    /// New tests in the order they came, kept only where that order means nothing.
    arrivals: Option<Vec<Arrival>>,
    /// Which paths get a test.
    tests: Tests,
    screen: &'a Screen,
    stop: Arc<AtomicBool>,
}

/// What the sink learned.
pub struct Collected {
    pub n_tests: u64,
    pub gaps: Vec<GapSummary>,
    pub cuts: Vec<CutSummary>,
    pub covering: Vec<TestId>,
    pub witnesses: Witnesses,
    pub arrivals: Vec<Arrival>,
    pub error: Option<WriteError>,
    pub names: Names,
}

impl<'a> CampaignSink<'a> {
    /// Tests are numbered on from `n_tests`, or from the largest number among the `known` ones.
    pub fn start(
        dir: &Path,
        n_tests: u64,
        known: HashMap<PathKey, TestId>,
        names: Names,
        screen: &'a Screen,
        stop: Arc<AtomicBool>,
    ) -> Result<CampaignSink<'a>, WriteError> {
        let n_tests = known.values().map(|test| test.0).max().unwrap_or(0).max(n_tests);
        Ok(CampaignSink {
            writer: Some(TestWriter::start(dir)?),
            error: None,
            n_tests,
            names,
            known,
            gaps: BTreeMap::new(),
            cuts: BTreeMap::new(),
            covering: Vec::new(),
            witnesses: Witnesses::new(),
            arrivals: None,
            tests: Tests::All,
            screen,
            stop,
        })
    }

    /// Remembers every new test's path, so that they can be put in order at the end.
    pub fn keep_arrivals(&mut self) {
        self.arrivals = Some(Vec::new());
    }

    pub fn keep_tests(&mut self, tests: Tests) {
        self.tests = tests;
    }

    /// Whether a path that ended gets a test: enough of those that show the same are left out when few are wanted.
    fn is_kept(&self, finding: Option<&FindingKey>, covers: Covers) -> bool {
        let n_witnesses = finding.map(|key| self.witnesses.get(key).map_or(0, Vec::len));
        self.tests == Tests::All
            || covers == Covers::New
            || n_witnesses.is_some_and(|n_witnesses| n_witnesses < WITNESSES_KEPT)
    }

    /// Waits until the last test is on disk.
    pub fn finish(mut self) -> Collected {
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.finish()
        {
            self.error.get_or_insert(error);
        }
        let gaps = self.gaps.into_iter().map(|((file, line, message), count)| GapSummary {
            message,
            file: file.to_string(),
            line,
            count,
        });
        let cuts = self.cuts.into_iter().map(|(budget, count)| CutSummary { budget: budget.to_string(), count });
        Collected {
            n_tests: self.n_tests,
            gaps: gaps.collect(),
            cuts: cuts.collect(),
            covering: self.covering,
            witnesses: self.witnesses,
            arrivals: self.arrivals.unwrap_or_default(),
            error: self.error,
            names: self.names,
        }
    }

    fn count(&mut self, ending: &Ending) {
        match ending {
            Ending::Cut(budget) => *self.cuts.entry(budget.name()).or_insert(0) += 1,
            Ending::Unsupported(gap) => {
                let key = (Arc::clone(&gap.place.file), gap.place.line, gap.message.clone());
                *self.gaps.entry(key).or_insert(0) += 1;
            }
            Ending::Returned { .. }
            | Ending::Exited { .. }
            | Ending::Bug(_)
            | Ending::Assumed
            | Ending::Pruned { .. } => {}
        }
    }

    fn write(&mut self, test: TestId, witness: &Witness) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.put(test, witness) {
            // Without tests on disk there is no point in finding more.
            self.stop.store(true, Ordering::SeqCst);
            self.error = Some(error);
            self.writer = None;
        }
    }
}

impl Sink for CampaignSink<'_> {
    fn path_ended(&mut self, witness: &Witness, covers: Covers) -> explore::TestId {
        let renamed = matches!(witness.ending, Ending::Bug(_) | Ending::Unsupported(_)).then(|| {
            let mut witness = witness.clone();
            self.names.fix_ending(&mut witness.ending);
            witness
        });
        let witness = renamed.as_ref().unwrap_or(witness);
        self.count(&witness.ending);
        let finding = match &witness.ending {
            Ending::Bug(bug) => Some((bug.kind.name().to_string(), bug.place.file.to_string(), bug.place.line)),
            _ => None,
        };
        let known = match self.known.is_empty() {
            true => None,
            false => self.known.get(&path_key(&witness.path, witness.inputs.iter().map(|input| &input.bytes[..]))),
        };
        let test = match known {
            Some(test) => *test,
            None if !self.is_kept(finding.as_ref(), covers) => {
                // Nothing refers to a test of a path that shows nothing new.
                let first = finding.and_then(|key| self.witnesses.get(&key)?.first().copied());
                return explore::TestId(first.map_or(0, |test| test.0));
            }
            None => {
                self.n_tests += 1;
                let test = TestId(self.n_tests);
                self.write(test, witness);
                if let Some(arrivals) = &mut self.arrivals {
                    arrivals.push(Arrival { path: witness.path.clone(), test, finding: finding.clone() });
                }
                test
            }
        };
        if let Some(key) = finding {
            let tests = self.witnesses.entry(key).or_default();
            if tests.len() < WITNESSES_KEPT {
                tests.push(test);
            }
        }
        if covers == Covers::New {
            self.covering.push(test);
        }
        explore::TestId(test.0)
    }

    fn progress(&mut self, progress: &Progress) {
        let seconds = progress.elapsed.as_secs_f64();
        let queries_per_s = if seconds > 0.0 { progress.queries as f64 / seconds } else { 0.0 };
        self.screen.progress(format!(
            "{} paths, {} findings, {} pending, {}/{} edges, {queries_per_s:.0} queries/s, {seconds:.0} s",
            progress.paths, progress.findings, progress.pending, progress.edges_covered, progress.edges_total
        ));
    }
}
