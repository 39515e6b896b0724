//! The whole of a campaign: plans, workers, and what they bring together.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ir::{FuncId, GlobalId, Module};
use vm::Image;

use crate::checkpoint::{PortionId, Round, Snapshot};
use crate::collector::{Collector, Ended, Leavings, Reports, Standing};
use crate::exchange::{Exchange, Portion};
use crate::worker::{Worker, next_in};
use crate::{
    Checkpoints, Conducts, Decisions, Discovery, Driver, History, LineUp, Maker, Options, Outcome, RunPlan, Sink,
};

/// What to explore.
pub struct Program {
    pub module: Arc<Module>,
    pub entry: FuncId,
    pub constructors: Vec<FuncId>,
}

/// A failure of ours, not of the program under test.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("the stack of solver layers and the bare solver disagree ({0} times); please report this program")]
    Disagreement(u64),
    #[error("{0} questions to the solver could not be written to the record")]
    Unrecorded(u64),
    #[error("a worker failed: {0}")]
    Worker(String),
}

/// A technique that keeps one history of the campaign explores with one worker. Plain exploration, and techniques of which
/// every worker can have its own, use as many as they are given.
pub fn explore(
    program: &Program,
    options: &Options,
    mut line_up: LineUp,
    sink: &mut dyn Sink,
) -> Result<Outcome, Fault> {
    let places = line_up.places();
    let makers = line_up.for_workers().filter(|_| options.workers > 1);
    let outcome = match makers {
        Some(makers) => {
            let mut outcome = explore_together(program, options, &makers, &places, sink)?;
            outcome.techniques = line_up.reports();
            outcome
        }
        None => explore_alone(program, options, line_up, &places, sink),
    };
    match (outcome.queries.n_disagreements, outcome.queries.n_unrecorded) {
        (0, 0) => Ok(outcome),
        (0, n) => Err(Fault::Unrecorded(n)),
        (n, _) => Err(Fault::Disagreement(n)),
    }
}

impl Program {
    /// With some variables at addresses of their own.
    fn image(&self, options: &Options, places: &[(GlobalId, u64)]) -> Image {
        let asked = &options.world;
        let world = vm::World {
            compile: options.compile,
            stdin_bytes: asked.stdin_bytes.unwrap_or(0),
            args: asked.concrete_args.clone(),
            files: asked.files.clone(),
            environment: asked.environment.clone(),
            fail_calls: asked.fail_calls,
            readable: asked.readable.clone(),
            uninit: asked.uninit,
            record_output: options.record_output,
            rand_input: asked.rand_input,
        };
        Image::new(self.module.clone(), self.entry, self.constructors.clone(), options.checks, world, places)
    }
}

/// The collector itself, for the only worker.
struct Direct<'c, 's>(&'c mut Collector<'s>);

impl Reports for Direct<'_, '_> {
    fn ended(&mut self, ended: Ended) {
        self.0.ended(ended);
    }

    fn found(&mut self, discovery: Discovery) {
        self.0.found(discovery);
    }

    fn standing(&mut self, standing: Standing) {
        self.0.standing(0, standing);
    }

    fn snapshot(&mut self, snapshot: Snapshot) {
        self.0.snapshot(0, snapshot);
    }

    // There is nobody to share with.
    fn gave(&mut self, _: &Portion) {}

    fn took(&mut self, _: PortionId) {}
}

fn explore_alone(
    program: &Program,
    options: &Options,
    mut line_up: LineUp,
    places: &[(GlobalId, u64)],
    sink: &mut dyn Sink,
) -> Outcome {
    let image = program.image(options, places);
    let mut collector = Collector::new(&image, &options.goal, 1, sink);
    // What a driver learned before a campaign was stopped is not known: what is left of it is explored as it is.
    let mut drivers = match options.resume.is_empty() {
        true => std::mem::take(&mut line_up.drivers),
        false => Vec::new(),
    };
    let everything = RunPlan { prefixes: options.resume.clone(), ..RunPlan::default() };
    let mut reports = Direct(&mut collector);
    let mut worker = Worker::new(&image, options, line_up, &mut reports, None);
    let runs = explore_plan(everything, &mut drivers, &mut worker);
    let left = worker.finish();
    collector.finish(runs, vec![left])
}

/// Explores a plan by the first driver, and its plans by those after it. Returns how many runs that were.
fn explore_plan(plan: RunPlan, drivers: &mut [Box<dyn Driver>], worker: &mut Worker) -> u64 {
    let Some((driver, inner)) = drivers.split_first_mut() else {
        worker.run(plan);
        return 1;
    };
    if worker.conduct(&mut **driver, &plan) == Conducts::Yes {
        return 1;
    }
    let (mut history, mut runs) = (History::default(), 0);
    while let Some(next) = driver.next(&plan, &history) {
        if worker.is_over() {
            worker.leave_plan();
            break;
        }
        runs += explore_plan(next, inner, worker);
        history.runs += 1;
    }
    runs
}

enum Message {
    Ended(Box<Ended>),
    Found(Box<Discovery>),
    Standing(usize, Standing),
    Snapshot(usize, Box<Snapshot>),
    Gave(PortionId, Round, Vec<Decisions>),
    Took(usize, PortionId),
}

/// Sends what a worker reports to the thread that owns the sink.
struct Remote {
    worker: usize,
    messages: mpsc::SyncSender<Message>,
}

impl Reports for Remote {
    fn ended(&mut self, ended: Ended) {
        // The receiver outlives the workers, unless the sink panicked: then there is nobody left to tell.
        let _ = self.messages.send(Message::Ended(Box::new(ended)));
    }

    fn found(&mut self, discovery: Discovery) {
        let _ = self.messages.send(Message::Found(Box::new(discovery)));
    }

    fn standing(&mut self, standing: Standing) {
        let _ = self.messages.send(Message::Standing(self.worker, standing));
    }

    fn snapshot(&mut self, snapshot: Snapshot) {
        let _ = self.messages.send(Message::Snapshot(self.worker, Box::new(snapshot)));
    }

    fn gave(&mut self, portion: &Portion) {
        let _ = self.messages.send(Message::Gave(portion.id, portion.round, portion.paths.clone()));
    }

    fn took(&mut self, portion: PortionId) {
        let _ = self.messages.send(Message::Took(self.worker, portion));
    }
}

/// Messages that may lie unread before workers wait.
const N_MESSAGES: usize = 4096;
/// How long messages gather once all are read: to wake the reader for each one would cost the workers more than a path.
const GATHERING: Duration = Duration::from_millis(1);
/// Deep recursion in the program must not exhaust a worker's own stack when its frames are dropped or compared.
const STACK_BYTES: usize = 64 << 20;

fn explore_together(
    program: &Program,
    options: &Options,
    makers: &[Maker],
    places: &[(GlobalId, u64)],
    sink: &mut dyn Sink,
) -> Result<Outcome, Fault> {
    let exchange = Exchange::new(options.workers);
    let (sender, receiver) = mpsc::sync_channel(N_MESSAGES);
    let mut collector = Collector::new(&program.image(options, places), &options.goal, options.workers, sink);
    std::thread::scope(|scope| {
        let spawn = |worker: usize| {
            let (exchange, messages) = (&exchange, sender.clone());
            let name = format!("worker-{worker}");
            let work = move || work_on(program, options, (makers, places), exchange, Remote { worker, messages });
            std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn_scoped(scope, work)
        };
        let workers: Result<Vec<_>, _> = (0..options.workers).map(spawn).collect();
        let workers = workers.map_err(|error| {
            exchange.close();
            Fault::Worker(format!("a thread could not be started: {error}"))
        })?;
        drop(sender);
        // The next round begins some time after all of the last one is there.
        let mut next_round = Some(Instant::now() + next_in(Duration::ZERO));
        while let Ok(first) = receiver.recv() {
            for message in std::iter::once(first).chain(receiver.try_iter()) {
                match message {
                    Message::Ended(ended) => collector.ended(*ended),
                    Message::Found(discovery) => collector.found(*discovery),
                    Message::Standing(worker, standing) => collector.standing(worker, standing),
                    Message::Gave(portion, round, paths) => collector.rounds.gave(portion, round, paths),
                    Message::Took(worker, portion) => collector.rounds.took(worker, portion),
                    Message::Snapshot(worker, snapshot) => {
                        if let Some(cost) = collector.snapshot(worker, *snapshot) {
                            next_round = Some(Instant::now() + next_in(cost));
                        }
                    }
                }
            }
            if options.checkpoints == Checkpoints::On && next_round.is_some_and(|at| at <= Instant::now()) {
                next_round = None;
                exchange.begin_round();
            }
            std::thread::sleep(GATHERING);
        }
        let leavings: Result<Vec<Leavings>, Fault> = workers
            .into_iter()
            .map(|worker| worker.join().map_err(|panic| Fault::Worker(panic_text(&*panic))))
            .collect();
        Ok(collector.finish(1, leavings?))
    })
}

/// One thread of several. The first starts from the plan, the others from what is given away.
fn work_on(
    program: &Program,
    options: &Options,
    (makers, places): (&[Maker], &[(GlobalId, u64)]),
    exchange: &Exchange,
    mut reports: Remote,
) -> Leavings {
    // Whoever fails must not keep the others waiting.
    let _closing = CloseOnPanic(exchange);
    let image = program.image(options, places);
    let is_first = reports.worker == 0;
    let mut line_up = LineUp::plain();
    line_up.techniques = makers.iter().map(|make| make()).collect();
    let mut worker = Worker::new(&image, options, line_up, &mut reports, Some(exchange));
    if is_first {
        worker.run(RunPlan { prefixes: options.resume.clone(), ..RunPlan::default() });
        if worker.is_over() {
            worker.abandon(exchange);
        }
    }
    worker.serve(exchange);
    worker.finish()
}

struct CloseOnPanic<'e>(&'e Exchange);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "for an unknown reason".to_string())
}
