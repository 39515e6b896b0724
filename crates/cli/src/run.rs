//! `colt run`: the pipeline from source files to confirmed findings, and what `resume` shares with it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use explore::Trail;
use report::{CutSummary, FindingSummary, Sources, Summary, TestId, Verdict, finding_text, summary_text, test_name};

use crate::args::RunArgs;
use crate::engine::{self, Loaded};
use crate::fault;
use crate::folder::{self, SavedTest};
use crate::interrupt;
use crate::journal::{Journal, PendingTrails, Phase};
use crate::merge;
use crate::names::Names;
use crate::native::{self, Building};
use crate::order;
use crate::out_dir::{self, write_file};
use crate::outcome::{Exit, Failure};
use crate::screen::{Screen, print};
use crate::settings::Settings;
use crate::sink::{CampaignSink, Collected, PathKey, Witnesses};
use crate::technique_files;

/// What a campaign starts from: nothing, or what an earlier part of it left.
#[derive(Default)]
pub struct Base {
    /// Figures to add to.
    pub summary: Option<Summary>,
    /// Decision prefixes to explore; empty for everything.
    pub prefixes: Vec<Trail>,
    /// Number of the last test.
    pub n_tests: u64,
    /// Tests that reached something new.
    pub covering: Vec<TestId>,
    /// Tests of paths that were cut and are now gone on with; out of date once they are explored.
    pub cut_tests: Vec<(Vec<u64>, PathBuf)>,
    /// Tests already on disk whose paths will be met again.
    pub known: HashMap<PathKey, TestId>,
    /// Numbers below that of the last known test that no test has.
    pub n_unused: u64,
}

/// Seconds spent before replay.
struct Times {
    build_s: f64,
    /// Until the last test was on disk.
    time_s: f64,
}

/// One campaign, or one part of it.
pub struct Campaign<'a> {
    pub args: &'a RunArgs,
    /// The command line after `colt`.
    pub words: Vec<String>,
    pub cwd: PathBuf,
    pub dir: PathBuf,
    /// The folder as the user knows it.
    pub shown: String,
    pub base: Base,
}

pub fn run(args: &RunArgs, words: Vec<String>) -> Result<Exit, Failure> {
    let settings = Settings::new(args)?;
    let cwd = std::env::current_dir().map_err(|error| Failure::usage(format!("no working folder: {error}")))?;
    let first_file = args.files.first().map_or(Path::new("program"), PathBuf::as_path);
    let dir = out_dir::create(args.out.as_deref(), first_file)?;
    let shown = dir.display().to_string();
    let campaign = Campaign { args, words, cwd, dir, shown, base: Base::default() };
    campaign.run(&settings)
}

impl Campaign<'_> {
    pub fn run(mut self, settings: &Settings) -> Result<Exit, Failure> {
        let stop = interrupt::install();
        let screen = Screen::new(&self.args.output);
        let names: Vec<String> = self.args.files.iter().map(|file| file.display().to_string()).collect();

        fault::doing(format!("compiling and loading {}", names.join(" ")));
        screen.progress(format!("compiling {}", names.join(" ")));
        let started = Instant::now();
        let loaded = engine::load(self.args, settings).inspect_err(|_| out_dir::abandon(&self.dir))?;
        let line_up = engine::line_up(&loaded, self.args, settings).inspect_err(|_| out_dir::abandon(&self.dir))?;
        let build_s = started.elapsed().as_secs_f64();
        loaded.notes.iter().for_each(|note| screen.chat(&format!("note: {note}\n")));

        let mut journal =
            Journal::start(self.cwd.clone(), self.words.clone(), loaded.plan.clone(), loaded.harness.clone());
        journal.n_tests = self.base.n_tests;
        journal.write(&self.dir).inspect_err(|_| out_dir::abandon(&self.dir))?;
        let building = (!self.args.no_replay).then(|| Building::start(loaded.plan.clone()));

        fault::doing(format!("exploring {}", names.join(" ")));
        fault::results_in(&self.dir);
        let started = Instant::now();
        let (mut outcome, mut collected) = self.explore(&loaded, settings, line_up, &screen, &stop)?;
        if collected.error.is_none() {
            order::by_path(&self.dir, &mut collected, &mut outcome.findings)?;
        }
        let time_s = started.elapsed().as_secs_f64();

        let times = Times { build_s, time_s };
        let mut summary = self.summarise(&loaded, settings, &outcome, &mut collected, times);
        if let Some(error) = collected.error {
            // Best effort: a full disk may refuse this as well, and the message below is the same.
            let _ = write_file(&self.dir, "summary.json", summary.to_json().as_bytes());
            return Err(Failure::fault(format!("{error}. The results so far are in {}", self.shown)));
        }
        technique_files::certify(&self.dir, &outcome, &mut summary)?;

        fault::doing(format!("replaying tests of {}", names.join(" ")));
        screen.progress("replaying natively".to_string());
        let started = Instant::now();
        let mut covering = std::mem::take(&mut self.base.covering);
        covering.extend(&collected.covering);
        self.replay(building, &mut summary, &collected.witnesses, &covering, &stop)?;
        summary.replay_s += started.elapsed().as_secs_f64();

        fault::doing("writing the results");
        technique_files::write_all(&self.dir, &outcome)?;
        if self.args.show_output {
            write_file(&self.dir, "stdout.txt", &outcome.output)?;
        }
        write_file(&self.dir, "findings.sarif", report::sarif(&summary).as_bytes())?;
        write_file(&self.dir, "summary.json", summary.to_json().as_bytes())?;
        journal.phase = Phase::Ended;
        journal.n_tests = collected.n_tests;
        journal.covering = covering.iter().map(|test| test.0).collect();
        journal.n_resumable = outcome.pending.len() as u64;
        journal.pending = PendingTrails::new(&outcome.pending);
        journal.write(&self.dir)?;

        screen.end_progress();
        self.show(&summary, &technique_files::text(&outcome), &screen)?;
        Ok(exit(&summary))
    }

    fn explore(
        &mut self,
        loaded: &Loaded,
        settings: &Settings,
        line_up: explore::LineUp,
        screen: &Screen,
        stop: &Arc<AtomicBool>,
    ) -> Result<(explore::Outcome, Collected), Failure> {
        let names = Names::new(&self.cwd, &self.args.files);
        let known = std::mem::take(&mut self.base.known);
        let mut sink = CampaignSink::start(&self.dir, self.base.n_tests, known, names, screen, Arc::clone(stop))
            .map_err(|error| Failure::fault(error.to_string()))?;
        if self.args.workers.is_some_and(|n_workers| n_workers > 1) && !line_up.takes_workers() {
            screen.chat(&format!("note: --with {} explores with one worker\n", settings.line_up.join(",")));
        }
        if settings.n_workers > 1 {
            sink.keep_arrivals();
        }
        sink.keep_tests(self.args.tests);
        let prefixes = std::mem::take(&mut self.base.prefixes);
        let outcome = engine::explore(loaded, self.args, settings, line_up, prefixes, stop, &mut sink);
        let collected = sink.finish();
        match outcome {
            Ok(outcome) => Ok((outcome, collected)),
            Err(why) => Err(Failure::fault(format!(
                "exploration could not go on: {why}. {} tests found so far are in {}",
                collected.n_tests, self.shown
            ))),
        }
    }

    fn summarise(
        &mut self,
        loaded: &Loaded,
        settings: &Settings,
        outcome: &explore::Outcome,
        collected: &mut Collected,
        times: Times,
    ) -> Summary {
        let mut summary = engine::summary(loaded, self.args, settings, outcome, &mut collected.names);
        summary.tests = collected.n_tests - self.base.n_unused;
        summary.time_s = times.time_s;
        summary.build_s = times.build_s;
        summary.gaps = std::mem::take(&mut collected.gaps);
        summary.cuts = std::mem::take(&mut collected.cuts);
        count_put_away(&mut summary, self.args);
        let still_pending: HashSet<&Trail> = outcome.pending.iter().collect();
        for (path, file) in std::mem::take(&mut self.base.cut_tests) {
            if !still_pending.contains(&path.into_iter().collect::<Trail>()) && std::fs::remove_file(file).is_ok() {
                summary.tests -= 1;
            }
        }
        if let Some(base) = self.base.summary.take() {
            // Numbers of tests removed by an earlier part stay unused.
            summary.tests -= self.base.n_tests - base.tests;
            summary = merge::merge(base, summary);
        }
        summary.judge();
        summary
    }

    /// Confirms findings and measures coverage; what cannot be done is said in the summary.
    fn replay(
        &self,
        building: Option<Building>,
        summary: &mut Summary,
        witnesses: &Witnesses,
        covering: &[TestId],
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let built = match building {
            None => Err("replay was switched off".to_string()),
            Some(building) => building.wait(),
        };
        let mut native = match built {
            Ok(native) => native,
            Err(why) => {
                for finding in summary.findings.iter_mut().filter(|finding| !finding.confirmed) {
                    finding.evidence = format!("not replayed: {why}");
                }
                summary.coverage.note = why;
                return Ok(());
            }
        };
        native.confirm(&self.dir, &mut summary.findings, witnesses)?;
        let tests = folder::test_files(&self.dir)?;
        let covering = positions(&self.dir, &tests, covering);
        let chosen: Vec<&PathBuf> =
            native::choose(tests.len(), &covering).iter().filter_map(|test_idx| tests.get(*test_idx)).collect();
        native.cover(&chosen, stop)?;
        match native.coverage() {
            Ok((coverage, bytes)) => {
                summary.coverage = coverage;
                write_file(&self.dir, "coverage.json", &bytes)
            }
            Err(why) => {
                summary.coverage.note = why;
                Ok(())
            }
        }
    }

    fn show(&self, summary: &Summary, of_techniques: &str, screen: &Screen) -> Result<(), Failure> {
        let mut sources = Sources::new(&self.cwd);
        for finding in &summary.findings {
            let test = SavedTest::read(&self.dir.join(&finding.test))?;
            screen.say(&finding_text(
                &shown_finding(finding, &self.shown),
                &test.case.inputs,
                &mut sources,
                screen.colour,
            ));
        }
        screen.chat(&summary_text(summary, &self.shown, screen.colour));
        screen.chat(of_techniques);
        if self.args.output.json {
            print(&summary.to_json());
        }
        Ok(())
    }
}

/// Paths that were put away when a budget was used up write no test, so the sink has not seen them.
fn count_put_away(summary: &mut Summary, args: &RunArgs) {
    let n_seen: u64 = summary.cuts.iter().map(|cut| cut.count).sum();
    let n_away = summary.paths.cut.saturating_sub(n_seen);
    if n_away == 0 {
        return;
    }
    let is_campaign_wide = |cut: &&mut CutSummary| !matches!(cut.budget.as_str(), "depth" | "steps");
    match summary.cuts.iter_mut().find(is_campaign_wide) {
        Some(cut) => cut.count += n_away,
        None => {
            let budget = if args.budgets.max_paths.is_some() { "paths" } else { "time" };
            summary.cuts.push(CutSummary { budget: budget.to_string(), count: n_away });
        }
    }
}

/// Where tests stand among the files; one that is gone stands nowhere.
fn positions(dir: &Path, files: &[PathBuf], tests: &[TestId]) -> Vec<usize> {
    let by_file: HashMap<&Path, usize> = files.iter().enumerate().map(|(idx, file)| (file.as_path(), idx)).collect();
    tests.iter().filter_map(|test| by_file.get(dir.join(test_name(*test)).as_path()).copied()).collect()
}

/// On the terminal a test is named so that it can be copied into a command.
fn shown_finding(finding: &FindingSummary, folder: &str) -> FindingSummary {
    FindingSummary { test: format!("{}/{}", folder.trim_end_matches('/'), finding.test), ..finding.clone() }
}

pub fn exit(summary: &Summary) -> Exit {
    if !summary.findings.is_empty() {
        Exit::Finding
    } else if summary.verdict == Verdict::Complete {
        Exit::Success
    } else {
        Exit::Incomplete
    }
}
