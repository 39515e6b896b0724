//! Takes paths from the explorer as they end: writes their tests, counts what only endings tell, shows progress.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use database::{Database, Keep, Writer};
use explore::{Covers, Outcome, Progress, Sink};
use report::{FindingKey, FindingSummary, Summary, TestId, finding_key};
use witness::{Bug, Ending, Witness};

use crate::args::Tests;
use crate::known::Known;
use crate::names::Names;
use crate::prefixes;
use crate::screen::Screen;

/// A test that shows a finding, and what its path says about it: how far outside, on which of several ways there.
#[derive(Clone)]
pub struct Showing {
    pub test: TestId,
    pub bug: Bug,
}

/// Tests that show one finding: a few, should the first not show it natively.
pub type Witnesses = HashMap<FindingKey, Vec<Showing>>;

/// Tests kept for one finding.
const WITNESSES_KEPT: usize = 8;

/// The tests of one finding whose paths come first: the same ones whoever explored them, if all are explored.
#[derive(Default)]
struct First(Vec<(Vec<u64>, Showing)>);

impl First {
    fn note(&mut self, path: &[u64], test: TestId, bug: &Bug) {
        let place = self.0.partition_point(|(other, _)| other.as_slice() <= path);
        if place < WITNESSES_KEPT {
            self.0.insert(place, (path.to_vec(), Showing { test, bug: bug.clone() }));
            self.0.truncate(WITNESSES_KEPT);
        }
    }
}

pub struct CampaignSink<'a> {
    /// Absent once writing has failed.
    writer: Option<Writer>,
    ended: Option<(Option<Database>, Result<(), database::Error>)>,
    /// The last number given to a test, the one before this part of the campaign, and how many got one since.
    last: TestId,
    before: TestId,
    n_new: u64,
    /// The figures of an outcome.
    summarise: &'a dyn Fn(&Outcome, &mut Names) -> Summary,
    names: Names,
    known: Known,
    firsts: HashMap<FindingKey, First>,
    /// Which paths get a test.
    tests: Tests,
    screen: &'a Screen,
    stop: Arc<AtomicBool>,
}

/// What the sink has to know.
pub struct SinkStart<'a> {
    pub dir: &'a Path,
    /// Tests are numbered on from here.
    pub last: TestId,
    pub known: Known,
    pub names: Names,
    pub tests: Tests,
    /// The figures of an outcome, those of earlier parts added.
    pub summarise: &'a dyn Fn(&Outcome, &mut Names) -> Summary,
}

/// What the sink learned.
pub struct Collected {
    /// Tests that were not in the database before.
    pub n_new: u64,
    pub last: TestId,
    pub witnesses: Witnesses,
    pub names: Names,
}

impl<'a> CampaignSink<'a> {
    pub fn start(
        database: Database,
        start: SinkStart<'a>,
        screen: &'a Screen,
        stop: Arc<AtomicBool>,
    ) -> Result<CampaignSink<'a>, database::Error> {
        let SinkStart { dir, last, known, names, tests, summarise } = start;
        Ok(CampaignSink {
            writer: Some(Writer::start(database, dir)?),
            ended: None,
            last,
            before: last,
            n_new: 0,
            summarise,
            names,
            known,
            firsts: HashMap::new(),
            tests,
            screen,
            stop,
        })
    }

    /// Whether a path that ended gets a test, and what else: enough of those that show the same are left out when few are
    /// wanted.
    fn keep(&self, finding: Option<&FindingKey>, covers: Covers) -> Option<Keep> {
        let is_new = covers == Covers::New;
        let n_witnesses = finding.map(|key| self.firsts.get(key).map_or(0, |first| first.0.len()));
        let has_file = match self.tests {
            Tests::All => is_new || n_witnesses == Some(0),
            Tests::Covering if is_new || n_witnesses.is_some_and(|n_witnesses| n_witnesses < WITNESSES_KEPT) => true,
            Tests::Covering => return None,
            Tests::Files => true,
        };
        Some(Keep { is_new, has_file })
    }

    /// Waits until the last test is in the database, and gives that back.
    pub fn finish(mut self) -> (Collected, Option<Database>, Result<(), database::Error>) {
        self.close();
        let witnesses = self
            .firsts
            .into_iter()
            .map(|(key, first)| (key, first.0.into_iter().map(|(_, showing)| showing).collect()));
        let collected =
            Collected { n_new: self.n_new, last: self.last, witnesses: witnesses.collect(), names: self.names };
        let (database, written) = self.ended.unwrap_or((None, Ok(())));
        (collected, database, written)
    }

    fn close(&mut self) {
        if let Some(writer) = self.writer.take() {
            self.ended = Some(writer.finish());
        }
    }

    /// Where nothing can be written there is no point in finding more.
    fn give_up(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.close();
    }

    fn write(&mut self, test: TestId, witness: &Witness, keep: Keep, finding: Option<FindingSummary>) {
        let Some(writer) = &mut self.writer else { return };
        let mut written = writer.put(test, witness, keep);
        if let Some(finding) = finding {
            written = written.and_then(|()| writer.find(finding, test));
        }
        if written.is_err() {
            self.give_up();
        }
    }
}

/// A finding as it is known when the first path shows it.
fn first_seen(bug: &Bug) -> FindingSummary {
    FindingSummary {
        kind: bug.kind.name().to_string(),
        cwe: bug.kind.cwe(),
        file: bug.place.file.to_string(),
        line: bug.place.line,
        column: bug.place.column,
        function: bug.place.function.to_string(),
        message: bug.message.clone(),
        call: report::call_of(bug),
        paths: 1,
        ..FindingSummary::default()
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
        let bug = match &witness.ending {
            Ending::Bug(bug) => Some(bug),
            _ => None,
        };
        let finding = bug.map(finding_key);
        let known = self.known.meet(witness, self.last);
        let test = match (known, self.keep(finding.as_ref(), covers)) {
            (Some(test), _) => test,
            (None, None) => {
                // Nothing refers to a test of a path that shows nothing new.
                let first = finding.and_then(|key| self.firsts.get(&key)?.0.first().map(|(_, showing)| showing.test));
                return explore::TestId(first.map_or(0, |test| test.0));
            }
            (None, Some(keep)) => {
                self.last = TestId(self.last.0 + 1);
                self.n_new += 1;
                let is_first = finding.as_ref().is_some_and(|key| !self.firsts.contains_key(key));
                let found = bug.filter(|_| is_first).map(first_seen);
                self.write(self.last, witness, keep, found);
                self.last
            }
        };
        if let (Some(key), Some(bug)) = (finding, bug) {
            self.firsts.entry(key).or_default().note(&witness.path, test, bug);
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

    fn checkpoint(&mut self, checkpoint: explore::Checkpoint) {
        let explore::Checkpoint { outcome, n_resumable, settled } = checkpoint;
        let mut summary = (self.summarise)(&outcome, &mut self.names);
        summary.tests += self.n_new;
        let checkpoint = database::Checkpoint {
            summary,
            pending: prefixes::pack(&outcome.pending),
            n_resumable,
            n_settled: self.known.settled(settled.map(|test| TestId(test.0)), self.before).0,
        };
        let written = self.writer.as_mut().map(|writer| writer.checkpoint(checkpoint));
        if written.is_some_and(|written| written.is_err()) {
            self.give_up();
        }
    }
}
