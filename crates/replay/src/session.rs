//! One native build and the tests run on it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use witness::{BugKind, InputValue, Place};

use crate::compare::{Verdict, compare};
use crate::compile::{self, Flavor, Program};
use crate::coverage::{self, Coverage};
use crate::ending::{Access, NativeBug, NativeEnding};
use crate::exchange::{Exchange, Outcome, Record};
use crate::names::{HARNESS, SourceNames};
use crate::plan::{BuildPlan, Limits};
use crate::rounds;
use crate::sandbox::Sandbox;
use crate::sanitizer::{self, Report};
use crate::server::{Ended, Server};
use crate::symbolize::Symbolizer;
use crate::test_case::{Expected, ExpectedBug};
use crate::tools;
use crate::unwritten::has_locals;

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("no clang found; install clang-19 or name one in COLT_CLANG")]
    NoClang,
    #[error("cannot start {}: {source}", path.display())]
    CannotStart { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("clang rejected the program when building it natively:\n{message}")]
    Rejected { message: String },
    #[error("the sanitizer's runtime is missing; install libclang-rt-19-dev:\n{message}")]
    NoSanitizer { message: String },
    #[error("the natively built program does not start: {0}")]
    DoesNotStart(io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("{tool}: {why}")]
    Tool { tool: String, why: String },
    #[error("while reading coverage counters: {0}")]
    Io(#[from] io::Error),
}

/// The exit status of a process that a sanitizer ended, as in native/exchange.h.
const SANITIZER_STATUS: i32 = 99;

/// A natively built program, started, and everything needed to understand its endings.
pub struct Session {
    plan: BuildPlan,
    work_dir: PathBuf,
    main: Runner,
    /// Built only when there is a fault that the main one does not see; an error is kept so that it is not tried again.
    others: BTreeMap<Flavor, Result<Runner, String>>,
    /// When all runs have to be over.
    until: Option<Instant>,
}

/// How a program that is to go round is watched: for a moment, and where that shows too little, for as long as a test may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempts {
    Quick,
    Both,
}

/// What is said of a test that there was no time for.
const NO_TIME: &str = "the time for all tests was used up";
/// Between two looks at whether a build is ready.
const WAIT: Duration = Duration::from_millis(5);

/// One build and its server.
struct Runner {
    program: Program,
    names: SourceNames,
    dir: PathBuf,
    exchange: Exchange,
    server: Option<Server>,
    sandbox: Sandbox,
    wanted: Option<Sandbox>,
    symbolizer: Option<Symbolizer>,
    /// Counters of servers that are gone.
    old_profiles: Vec<Vec<u8>>,
    /// A copy between overlapping ranges that the last test did and went on behind.
    overlap: Option<Report>,
    leak_all: bool,
    /// Counters, and the coverage they are.
    counted: Option<(Vec<Vec<u8>>, Arc<Coverage>)>,
}

impl Session {
    /// Builds the program below `work_dir` and starts it.
    pub fn build(plan: &BuildPlan, work_dir: &Path) -> Result<Session, BuildError> {
        Session::build_in(plan, work_dir, None)
    }

    /// As [`Session::build`], in one certain sandbox.
    pub fn build_in(plan: &BuildPlan, work_dir: &Path, wanted: Option<Sandbox>) -> Result<Session, BuildError> {
        let main = match Runner::build(plan, Flavor::Address, &work_dir.join("native"), wanted) {
            Err(BuildError::NoSanitizer { .. }) => {
                Runner::build(plan, Flavor::Plain, &work_dir.join("native-plain"), wanted)?
            }
            built => built?,
        };
        Ok(Session { plan: plan.clone(), work_dir: work_dir.to_path_buf(), main, others: BTreeMap::new(), until: None })
    }

    /// The walls the tests run in.
    pub fn sandbox(&self) -> Sandbox {
        self.main.sandbox
    }

    /// What the user should know about how far a confirmation can be trusted.
    pub fn caveat(&self) -> Option<&'static str> {
        (self.main.program.flavor == Flavor::Plain)
            .then_some("there is no AddressSanitizer for this target, so endings are judged by signals alone")
    }

    /// All runs have to be over by then. One that is stopped because of it has shown nothing.
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    pub fn run(&mut self, inputs: &[InputValue]) -> NativeEnding {
        self.run_with(inputs, self.plan.limits)
    }

    /// The limits of one run, as far as there is time.
    fn within(&self, limits: Limits) -> Limits {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let left_ms = left.map_or(u32::MAX, |left| u32::try_from(left.as_millis()).unwrap_or(u32::MAX));
        Limits { timeout_ms: limits.timeout_ms.min(left_ms), ..limits }
    }

    /// Where the test has values for local variables that nobody wrote, the program is the one that can be given them.
    fn run_with(&mut self, inputs: &[InputValue], limits: Limits) -> NativeEnding {
        let is_plain = self.main.program.flavor == Flavor::Plain || self.plan.checks.uninit_zero;
        if is_plain || !has_locals(inputs) {
            let allowed = self.within(limits);
            return seen(self.main.run(inputs, &allowed), allowed, limits);
        }
        let mut endings = self.run_other(Flavor::Unwritten, inputs, &limits);
        endings.swap_remove(0)
    }

    /// Runs a test for what it covers, with at most that much time.
    pub fn run_within(&mut self, inputs: &[InputValue], timeout_ms: u32) -> NativeEnding {
        let limits = Limits { timeout_ms: self.plan.limits.timeout_ms.min(timeout_ms), ..self.plan.limits };
        self.run_with(inputs, limits)
    }

    /// Runs a test and holds it against its promised ending.
    pub fn judge(&mut self, inputs: &[InputValue], expected: &Expected) -> (NativeEnding, Verdict) {
        if let Expected::Bug(bug) = expected
            && bug.kind == BugKind::NonTermination
            && !bug.is_deadlock()
        {
            let (wanted, allowed) = (self.plan.limits, self.within(self.plan.limits));
            let attempts = match allowed.timeout_ms < wanted.timeout_ms {
                true => Attempts::Quick,
                false => Attempts::Both,
            };
            let native = seen(self.main.run_round(inputs, &allowed, attempts, bug), allowed, wanted);
            let verdict = compare(expected, &native);
            return (native, verdict);
        }
        let mut native = self.run(inputs);
        if matches!(expected, Expected::Bug(bug) if bug.kind == BugKind::OverlappingCopy) {
            native = self.main.overlap().unwrap_or(native);
        }
        let verdict = compare(expected, &native);
        let Expected::Bug(bug) = expected else { return (native, verdict) };
        // Builds that look closer. What one shows besides was not asked for.
        let flavors: &[Flavor] = match bug.kind {
            BugKind::UninitialisedRead => return self.judge_use(inputs, expected),
            BugKind::OutOfBoundsRead | BugKind::OutOfBoundsWrite => &[Flavor::Index],
            BugKind::PointerOverflow => &[Flavor::Index, Flavor::Steps],
            _ => &[],
        };
        if verdict == Verdict::Agrees || self.main.program.flavor == Flavor::Plain {
            return (native, verdict);
        }
        let limits = self.plan.limits;
        for flavor in flavors {
            let other = self.run_other(*flavor, inputs, &limits).swap_remove(0);
            if compare(expected, &other) == Verdict::Agrees {
                return (other, Verdict::Agrees);
            }
        }
        (native, verdict)
    }

    /// A use of memory nobody wrote. One that MemorySanitizer sees only as an argument needs the stricter build.
    fn judge_use(&mut self, inputs: &[InputValue], expected: &Expected) -> (NativeEnding, Verdict) {
        let mut first = None;
        for flavor in [Flavor::Memory, Flavor::MemoryOfArguments] {
            let limits = self.plan.limits;
            for ending in self.run_other(flavor, inputs, &limits) {
                match compare(expected, &ending) {
                    Verdict::Agrees => return (ending, Verdict::Agrees),
                    differs => first = first.or(Some((ending, differs))),
                }
            }
        }
        first.expect("every run ends")
    }

    /// How the program ended in another build, and what else it reported before.
    fn run_other(&mut self, flavor: Flavor, inputs: &[InputValue], limits: &Limits) -> Vec<NativeEnding> {
        let (name, checks) = match flavor {
            Flavor::Memory => ("native-memory", "MemorySanitizer"),
            Flavor::MemoryOfArguments => ("native-memory-arguments", "MemorySanitizer"),
            Flavor::Unwritten => ("native-unwritten", "values for unwritten memory"),
            Flavor::Steps => ("native-steps", "checks of pointer arithmetic"),
            _ => ("native-index", "checks of indices"),
        };
        let (dir, wanted) = (self.work_dir.join(name), self.main.wanted);
        let allowed = self.within(*limits);
        if allowed.timeout_ms == 0 {
            return vec![NativeEnding::Lost { why: NO_TIME.into() }];
        }
        let (plan, until) = (&self.plan, self.until);
        let runner = self.others.entry(flavor).or_insert_with(|| build_by(until, plan, flavor, dir, wanted));
        match runner {
            Ok(runner) => {
                let endings = runner.run_all(inputs, &allowed).into_iter();
                endings.map(|ending| seen(ending, allowed, *limits)).collect()
            }
            Err(why) => vec![NativeEnding::Lost { why: format!("no build with {checks}: {why}") }],
        }
    }

    /// Coverage of the user's sources by all tests run in this session.
    pub fn coverage(&self) -> Result<Coverage, ReplayError> {
        let others = self.others.get(&Flavor::Unwritten).and_then(|runner| runner.as_ref().ok());
        // Made from the same sources, it counts the same.
        self.main.coverage(others.map_or(Ok(Vec::new()), Runner::profiles)?)
    }
}

/// A run that was stopped early does not show that the program hangs.
fn seen(ending: NativeEnding, allowed: Limits, wanted: Limits) -> NativeEnding {
    match ending {
        NativeEnding::TimedOut if allowed.timeout_ms < wanted.timeout_ms => NativeEnding::Lost { why: NO_TIME.into() },
        ending => ending,
    }
}

/// Builds beside whoever waits: that one goes on when it is time, and the build comes to nothing.
fn build_by(
    until: Option<Instant>,
    plan: &BuildPlan,
    flavor: Flavor,
    dir: PathBuf,
    wanted: Option<Sandbox>,
) -> Result<Runner, String> {
    let plan = plan.clone();
    let work = move || Runner::build(&plan, flavor, &dir, wanted).map_err(|error| error.to_string());
    let Some(until) = until else { return work() };
    let building = std::thread::spawn(work);
    while !building.is_finished() {
        if Instant::now() >= until {
            return Err(NO_TIME.into());
        }
        std::thread::sleep(WAIT);
    }
    building.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Runner {
    fn build(plan: &BuildPlan, flavor: Flavor, dir: &Path, wanted: Option<Sandbox>) -> Result<Runner, BuildError> {
        let unwritable = |source| BuildError::Unwritable { path: dir.to_path_buf(), source };
        std::fs::create_dir_all(dir).map_err(unwritable)?;
        let program = compile::build(plan, flavor, dir)?;
        let mut runner = Runner {
            names: SourceNames::new(plan, dir),
            dir: dir.to_path_buf(),
            exchange: Exchange::new().map_err(BuildError::DoesNotStart)?,
            program,
            server: None,
            sandbox: Sandbox::Limits,
            wanted,
            symbolizer: None,
            old_profiles: Vec::new(),
            overlap: None,
            leak_all: plan.checks.leak_all,
            counted: None,
        };
        runner.start_server().map_err(BuildError::DoesNotStart)?;
        Ok(runner)
    }

    fn start_server(&mut self) -> io::Result<()> {
        let folder = std::path::absolute(self.dir.join("folder"))?;
        std::fs::create_dir_all(&folder)?;
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777))?;
        let wanted = self.wanted;
        let accepts = |sandbox| wanted.is_none_or(|wanted| wanted == sandbox);
        let server = Server::start(&self.program.path, &folder, &self.exchange, accepts)?;
        self.sandbox = server.sandbox;
        self.server = Some(server);
        Ok(())
    }

    fn run(&mut self, inputs: &[InputValue], limits: &Limits) -> NativeEnding {
        self.run_all(inputs, limits).swap_remove(0)
    }

    /// The ending, and behind it the other faults that were reported.
    fn run_all(&mut self, inputs: &[InputValue], limits: &Limits) -> Vec<NativeEnding> {
        match self.try_run(inputs, limits) {
            Ok(endings) => endings,
            Err(error) => {
                // A program that harms its own server must not harm the tests after it.
                if let Some(server) = self.server.take() {
                    self.old_profiles.extend(server.read_profile());
                }
                vec![NativeEnding::Lost { why: error.to_string() }]
            }
        }
    }

    /// Runs a test that is to go round for ever, and counts how often it does.
    fn run_round(
        &mut self,
        inputs: &[InputValue],
        limits: &Limits,
        attempts: Attempts,
        expected: &ExpectedBug,
    ) -> NativeEnding {
        let mut ending = NativeEnding::TimedOut;
        let n_runs = if attempts == Attempts::Both { rounds::RUNS.len() } else { rounds::RUNS.len() - 1 };
        for (timeout_ms, n_least) in &rounds::RUNS[..n_runs] {
            let timeout_ms = limits.timeout_ms.min(*timeout_ms);
            let before = self.counts();
            ending = self.run(inputs, &Limits { timeout_ms, ..*limits });
            let Some(at_last) = rounds::endless(&ending) else { return ending };
            let (Ok(before), Ok(after)) = (before, self.counts()) else { return ending };
            match rounds::count(expected, &before, &after) {
                Some((line, count)) if count >= *n_least => return NativeEnding::GoesRound { line, count, at_last },
                _ => {}
            }
        }
        ending
    }

    /// The coverage of this build. What was measured last is kept: asking llvm-cov takes longer than most tests.
    fn counts(&mut self) -> Result<Arc<Coverage>, ReplayError> {
        let profiles = self.profiles()?;
        if let Some((known, coverage)) = &self.counted
            && *known == profiles
        {
            return Ok(Arc::clone(coverage));
        }
        let coverage = Arc::new(self.coverage(Vec::new())?);
        self.counted = Some((profiles, Arc::clone(&coverage)));
        Ok(coverage)
    }

    fn try_run(&mut self, inputs: &[InputValue], limits: &Limits) -> io::Result<Vec<NativeEnding>> {
        if self.server.is_none() {
            self.start_server()?;
        }
        if !self.exchange.write_test(inputs, limits)? {
            return Ok(vec![NativeEnding::Lost { why: "the inputs are larger than 64 MiB".into() }]);
        }
        let Some(server) = &mut self.server else { return Err(io::ErrorKind::NotConnected.into()) };
        let ended = server.run(Duration::from_millis(limits.timeout_ms.into()))?;
        let report = server.take_report()?;
        let program = server.program.display().to_string();
        let record = self.exchange.read_record()?;
        self.overlap = sanitizer::overlap(&report, &program);
        let mut fault = sanitizer::parse(&report, &program);
        let is_leak = fault.as_ref().is_some_and(|fault| fault.kind == Some(BugKind::MemoryLeak));
        if is_leak && self.leak_all && !self.leaks_own_blocks(&report, &program) {
            fault = None;
        }
        let mut endings = Vec::new();
        if matches!(self.program.flavor, Flavor::Memory | Flavor::MemoryOfArguments) {
            for report in sanitizer::parse_all(&report, &program) {
                endings.push(NativeEnding::Bug(self.reported_bug(report, &record)));
            }
        }
        endings.push(self.ending(&ended, fault, record));
        Ok(endings)
    }

    /// What the runtimes that are linked into the program keep for themselves has no line in a source.
    fn leaks_own_blocks(&mut self, report: &str, program: &str) -> bool {
        let stacks = sanitizer::own_stacks(report, program);
        stacks.into_iter().any(|stack| stack.into_iter().flatten().any(|offset| !self.places(offset).is_empty()))
    }

    /// What the last test shows beside its ending, as a fault.
    fn overlap(&mut self) -> Option<NativeEnding> {
        let report = self.overlap.take()?;
        let record = self.exchange.read_record().ok()?;
        Some(NativeEnding::Bug(self.reported_bug(report, &record)))
    }

    /// The strongest evidence first: a hang, a sanitizer's report, a signal, what the runtime noted, the exit status.
    fn ending(&mut self, ended: &Ended, report: Option<Report>, record: Record) -> NativeEnding {
        let status = ended.wait_status;
        if ended.timed_out || (libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGXCPU) {
            return NativeEnding::TimedOut;
        }
        if libc::WIFSIGNALED(status) {
            return NativeEnding::Signal(libc::WTERMSIG(status));
        }
        let exit_status = libc::WEXITSTATUS(status);
        if let Some(report) = report
            && (exit_status == SANITIZER_STATUS || report.kind == Some(BugKind::MemoryLeak))
        {
            return NativeEnding::Bug(self.reported_bug(report, &record));
        }
        match record.outcome {
            // A handler of atexit may still have ended the process its own way.
            Outcome::Returned if exit_status != record.status & 0xff => NativeEnding::Exited { status: exit_status },
            Outcome::Returned => NativeEnding::Returned { status: record.status },
            Outcome::Assumed => NativeEnding::Assumed,
            Outcome::Assertion => NativeEnding::Bug(self.recorded_bug(BugKind::AssertionFailure, record)),
            Outcome::Abort => NativeEnding::Bug(self.recorded_bug(BugKind::Abort, record)),
            Outcome::Pointer => NativeEnding::Bug(self.recorded_bug(BugKind::PointerOverflow, record)),
            Outcome::OutOfInputs => NativeEnding::OutOfInputs { name: record.message },
            Outcome::InputSize => NativeEnding::InputSize { name: record.message },
            Outcome::None => NativeEnding::Exited { status: exit_status },
        }
    }

    fn reported_bug(&mut self, report: Report, record: &Record) -> NativeBug {
        let mut frames = Vec::new();
        let mut in_library = false;
        for (idx, frame) in report.frames.iter().enumerate() {
            let places = frame.map(|offset| self.places(offset)).unwrap_or_default();
            in_library |= idx == 0 && places.is_empty();
            frames.extend(places);
        }
        if report.by_signal && frames.iter().all(|frame: &Place| &*frame.file == HARNESS) {
            // A call to nowhere: the runtime noted the caller, which the report leaves out.
            let noted: Vec<Place> = record.frames.iter().flat_map(|offset| self.places(*offset)).collect();
            frames.splice(0..0, noted);
        }
        if let Some((file, line, column)) = report.stated {
            // More precise than the frame, which knows only the instruction that called the report.
            let function = frames.first().map_or_else(|| Arc::from(""), |frame: &Place| frame.function.clone());
            let file = Arc::from(self.names.spell(&file).unwrap_or(file));
            frames.insert(0, Place { file, line, column, function });
        }
        NativeBug {
            kind: report.kind,
            access: report.access,
            in_library,
            by_signal: report.by_signal,
            text: report.text,
            frames,
        }
    }

    fn recorded_bug(&mut self, kind: BugKind, record: Record) -> NativeBug {
        let frames = record.frames.iter().flat_map(|offset| self.places(*offset)).collect();
        let text = match kind {
            BugKind::AssertionFailure => format!("assertion failed: {}", record.message),
            _ => record.message,
        };
        NativeBug { kind: Some(kind), access: Access::Unknown, in_library: false, by_signal: false, text, frames }
    }

    fn places(&mut self, offset: u64) -> Vec<Place> {
        if self.symbolizer.is_none() {
            self.symbolizer = tools::llvm_tool(&self.program.clang, "llvm-symbolizer")
                .and_then(|tool| Symbolizer::start(&tool, &self.program.path).ok());
        }
        match &mut self.symbolizer {
            Some(symbolizer) => symbolizer.places(offset, &self.names),
            None => Vec::new(),
        }
    }

    fn profiles(&self) -> Result<Vec<Vec<u8>>, ReplayError> {
        let mut profiles = self.old_profiles.clone();
        if let Some(server) = &self.server {
            profiles.push(server.read_profile()?);
        }
        Ok(profiles)
    }

    /// `more` are counters of another build.
    fn coverage(&self, more: Vec<Vec<u8>>) -> Result<Coverage, ReplayError> {
        if !self.program.has_coverage {
            return Ok(Coverage::default());
        }
        let mut profiles = self.profiles()?;
        profiles.extend(more);
        let mut paths = Vec::new();
        for (idx, profile) in profiles.iter().filter(|profile| !profile.is_empty()).enumerate() {
            let path = self.dir.join(format!("{idx}.profraw"));
            std::fs::write(&path, profile)?;
            paths.push(path);
        }
        coverage::measure(&self.program.clang, &self.program.path, &paths, &self.dir, &self.names)
    }
}
