//! Where the workers' results come together: counts, findings, coverage by tests, and the sink.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ir::FuncId;
use vm::{Checks, EdgeId, Image};
use witness::{Bug, Certificate, Ending, Finding, FindingKey, Ledger, Witness};

use crate::checkpoint::{Checkpoint, Cut, PortionId, Rounds, Snapshot, Tally};
use crate::exchange::Portion;
use crate::goal::Finish;
use crate::{Covers, Decisions, Discovery, Goal, Outcome, PathCounts, Progress, Report, Sink, TestId};

/// A path that ended, as a worker tells it.
pub struct Ended {
    pub witness: Witness,
    /// Edges that the worker saw taken for the first time on this path.
    pub first_edges: Vec<EdgeId>,
    pub output: Option<Vec<u8>>,
    pub certificate: Option<Certificate>,
}

/// How far one worker is.
#[derive(Clone, Copy, Default)]
pub struct Standing {
    pub pending: u64,
    pub queries: u64,
}

/// What a worker leaves when it is done.
#[derive(Clone, Default)]
pub struct Leavings {
    pub tally: Tally,
    pub ledger: Ledger,
    pub instructions: u64,
    pub forks: u64,
    pub states_max: u64,
    pub n_put_away: u64,
    pub memory_mb: u64,
    pub queries: solver::Counters,
    /// Decision prefixes that were not explored; those without a test are counted in `n_untold`.
    pub unexplored: Vec<Decisions>,
    /// Cut paths without a test: they were put away, or there were too many to write one for each.
    pub n_untold: u64,
    pub techniques: Vec<(&'static str, Report)>,
}

/// Takes what a worker reports: directly with one worker, through a channel with several.
pub trait Reports {
    fn ended(&mut self, ended: Ended);
    fn found(&mut self, discovery: Discovery);
    fn standing(&mut self, standing: Standing);
    fn snapshot(&mut self, snapshot: Snapshot);
    /// Told before the portion can be taken.
    fn gave(&mut self, portion: &Portion);
    fn took(&mut self, portion: PortionId);
}

pub struct Collector<'s> {
    sink: &'s mut dyn Sink,
    checks: Checks,
    counts: PathCounts,
    findings: BTreeMap<FindingKey, Finding>,
    /// In the order they were made.
    order: Vec<FindingKey>,
    output: Option<Vec<u8>>,
    /// Edges some test takes.
    covered: Vec<bool>,
    is_user_edge: Vec<bool>,
    n_user_edges: u64,
    n_user_covered: u64,
    started: Instant,
    standings: Vec<Standing>,
    pub rounds: Rounds,
    /// The last test there is, if there is any.
    last: Option<TestId>,
    finish: Finish,
    /// The first test of a path that came to the goal.
    reached: Option<TestId>,
}

impl<'s> Collector<'s> {
    pub fn new(image: &Image, goal: &Goal, n_workers: usize, sink: &'s mut dyn Sink) -> Collector<'s> {
        let is_user_edge = user_edges(image);
        Collector {
            sink,
            checks: image.checks,
            counts: PathCounts::default(),
            findings: BTreeMap::new(),
            order: Vec::new(),
            output: None,
            covered: vec![false; is_user_edge.len()],
            n_user_edges: is_user_edge.iter().filter(|is_user| **is_user).count() as u64,
            is_user_edge,
            n_user_covered: 0,
            started: Instant::now(),
            standings: vec![Standing::default(); n_workers],
            rounds: Rounds::new(n_workers),
            last: None,
            finish: Finish::new(goal, image),
            reached: None,
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn ended(&mut self, ended: Ended) {
        let Ended { witness, first_edges, output, certificate } = ended;
        self.counts.count(&witness.ending);
        let covers = self.claim(&first_edges);
        if self.output.is_none() {
            self.output = output;
        }
        let test = self.sink.path_ended(&witness, covers);
        self.last = self.last.max(Some(test));
        if self.reached.is_none() && self.finish.is_among(&first_edges) {
            self.reached = Some(test);
        }
        if let Ending::Bug(bug) = witness.ending
            && self.checks.reports(bug.kind)
        {
            bug.each().for_each(|bug| self.find(bug, test, certificate.clone()));
        }
    }

    /// What a technique found gets a test like a path that ended there, but is no path.
    pub fn found(&mut self, discovery: Discovery) {
        let Discovery { bug, inputs, path, certificate } = discovery;
        if let Some(finding) = self.findings.get_mut(&bug.key()) {
            finding.n_paths += 1;
            return;
        }
        let witness = Witness { inputs, ending: Ending::Bug(bug.clone()), path };
        let test = self.sink.path_ended(&witness, Covers::Old);
        self.last = self.last.max(Some(test));
        self.find(bug, test, certificate);
    }

    pub fn standing(&mut self, worker: usize, standing: Standing) {
        self.standings[worker] = standing;
        self.sink.progress(&Progress {
            paths: self.counts.total,
            findings: self.findings.len() as u64,
            pending: self.standings.iter().map(|standing| standing.pending).sum(),
            edges_covered: self.n_user_covered,
            edges_total: self.n_user_edges,
            queries: self.standings.iter().map(|standing| standing.queries).sum(),
            elapsed: self.elapsed(),
        });
    }

    /// Whether a test is the first to take some edge.
    fn claim(&mut self, first_edges: &[EdgeId]) -> Covers {
        let mut covers = Covers::Old;
        for edge in first_edges {
            let idx = edge.0 as usize;
            if !std::mem::replace(&mut self.covered[idx], true) && self.is_user_edge[idx] {
                self.n_user_covered += 1;
                covers = Covers::New;
            }
        }
        covers
    }

    fn find(&mut self, bug: Bug, test: TestId, certificate: Option<Certificate>) {
        let key = bug.key();
        match self.findings.get_mut(&key) {
            Some(finding) => finding.n_paths += 1,
            None => {
                let test = format!("tests/{:06}.json", test.0);
                self.order.push(key.clone());
                let finding = Finding { bug, test, confirmed: false, evidence: String::new(), n_paths: 1, certificate };
                self.findings.insert(key, finding);
            }
        }
    }

    /// Takes one worker's part of a checkpoint; says what it cost if that was the last of them.
    pub fn snapshot(&mut self, worker: usize, snapshot: Snapshot) -> Option<Duration> {
        let started = Instant::now();
        let Cut { pending, leavings, settled, cost } = self.rounds.take(worker, snapshot, self.last)?;
        let n_resumable = leavings.iter().map(|left| left.unexplored.len() as u64).sum();
        // What was counted after the cut is going to be counted again.
        let until_then = |key: &FindingKey| leavings.iter().filter_map(|left| left.tally.findings.get(key)).sum();
        let finding = |key: &FindingKey| Some(Finding { n_paths: until_then(key), ..self.findings.get(key)?.clone() });
        let findings = self.order.iter().filter_map(finding).collect();
        let outcome = Outcome { pending, ..self.outcome(1, findings, leavings) };
        self.sink.checkpoint(Checkpoint { outcome, n_resumable, settled });
        Some(cost + started.elapsed())
    }

    pub fn finish(mut self, runs: u64, leavings: Vec<Leavings>) -> Outcome {
        let findings = self.order.iter().filter_map(|key| self.findings.remove(key)).collect();
        let output = self.output.take().unwrap_or_default();
        Outcome { output, ..self.outcome(runs, findings, leavings) }
    }

    fn outcome(&self, runs: u64, findings: Vec<Finding>, leavings: Vec<Leavings>) -> Outcome {
        let (elapsed, reached) = (self.started.elapsed(), self.reached);
        let mut outcome = Outcome { findings, runs, elapsed, reached, ..Outcome::default() };
        let mut tally = Tally::default();
        for left in leavings {
            tally.add(&left.tally);
            outcome.counts.total += left.n_untold;
            outcome.counts.cut += left.n_untold;
            outcome.ledger.merge(&left.ledger);
            outcome.instructions += left.instructions;
            outcome.forks += left.forks;
            outcome.states_max += left.states_max;
            outcome.put_away += left.n_put_away;
            outcome.queries.merge(&left.queries);
            outcome.pending.extend(left.unexplored);
            outcome.memory_mb = outcome.memory_mb.max(left.memory_mb);
            outcome.techniques.extend(left.techniques);
        }
        outcome.counts.add(&tally.counts);
        (outcome.gaps, outcome.cuts) = (tally.gaps, tally.cuts);
        outcome
    }
}

/// Edges of functions of the program under test.
pub fn user_edges(image: &Image) -> Vec<bool> {
    let mut is_user = vec![false; image.n_edges() as usize];
    for (idx, function) in image.module.functions.iter().enumerate().filter(|(_, function)| !function.is_runtime) {
        let func = FuncId::new(idx);
        is_user[image.entry_edge(func) as usize] = true;
        for (block_idx, block) in function.blocks.iter().enumerate() {
            let first = image.first_edge(func, ir::BlockId::new(block_idx)) as usize;
            let n_edges = block.terminator.edges().len();
            is_user[first..first + n_edges].fill(true);
        }
    }
    is_user
}
