//! `colt run`: the pipeline from source files to confirmed findings, and what `resume` shares with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use database::{Checkpoint, Database, Numbered, Which};
use explore::Decisions;
use report::{
    CutSummary, FindingSummary, Sources, Summary, TestId, Verdict, finding_text, summary_text, test_id, test_name,
};

use crate::args::RunArgs;
use crate::deadline::Deadline;
use crate::engine::{self, Loaded};
use crate::fault;
use crate::folder::SavedTest;
use crate::interrupt;
use crate::journal::{Journal, Phase};
use crate::known::Known;
use crate::merge;
use crate::names::Names;
use crate::native::{self, Building};
use crate::out_dir::{self, write_file};
use crate::outcome::{Exit, Failure};
use crate::place::Place;
use crate::prefixes::{self, Digests};
use crate::screen::{Screen, print};
use crate::settings::Settings;
use crate::sink::{CampaignSink, Collected, SinkStart, Witnesses};
use crate::technique_files;

/// What a campaign starts from: nothing, or what an earlier part of it left.
#[derive(Default)]
pub struct Base {
    /// Where it is kept, if it was begun before.
    pub database: Option<Database>,
    /// Figures to add to.
    pub summary: Option<Summary>,
    pub start: Start,
    /// Tests already there whose paths will be met again.
    pub known: Known,
}

/// What there is to explore.
#[derive(Default)]
pub enum Start {
    #[default]
    Everything,
    /// What lies below these decisions.
    Prefixes(Vec<Decisions>),
    /// Nothing: it was killed after that.
    Nothing,
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
    /// The place that the search is to come to.
    pub towards: Option<Place>,
}

pub fn run(args: &RunArgs, words: Vec<String>) -> Result<Exit, Failure> {
    let settings = Settings::new(args)?;
    let cwd = std::env::current_dir().map_err(|error| Failure::usage(format!("no working folder: {error}")))?;
    let first_file = args.files.first().map_or(Path::new("program"), PathBuf::as_path);
    let dir = out_dir::create(args.out.as_deref(), first_file)?;
    let shown = dir.display().to_string();
    let campaign = Campaign { args, words, cwd, dir, shown, base: Base::default(), towards: None };
    campaign.run(&settings)
}

impl Campaign<'_> {
    pub fn run(mut self, settings: &Settings) -> Result<Exit, Failure> {
        let stop = interrupt::install();
        let deadline = Deadline::start(self.args.budgets.max_time);
        let screen = Screen::new(&self.args.output);
        let names: Vec<String> = self.args.files.iter().map(|file| file.display().to_string()).collect();

        fault::doing(format!("compiling and loading {}", names.join(" ")));
        screen.progress(format!("compiling {}", names.join(" ")));
        let started = Instant::now();
        let mut loaded = engine::load(self.args, settings).inspect_err(|_| out_dir::abandon(&self.dir))?;
        if let Some(place) = &self.towards {
            loaded.aim(place)?;
        }
        let line_up = engine::line_up(&loaded, self.args, settings).inspect_err(|_| out_dir::abandon(&self.dir))?;
        let build_s = started.elapsed().as_secs_f64();
        loaded.notes.iter().for_each(|note| screen.chat(&format!("note: {note}\n")));

        let database = self.begin(&loaded).inspect_err(|_| out_dir::abandon(&self.dir))?;
        let building = (!self.args.no_replay).then(|| Building::start(loaded.plan.clone()));

        fault::doing(format!("exploring {}", names.join(" ")));
        fault::results_in(&self.dir);
        let started = Instant::now();
        let (n_before, _) = database.n_tests()?;
        let (mut outcome, mut collected, database, written) =
            self.explore(database, build_s, &loaded, settings, line_up, deadline, &screen, &stop)?;
        written.map_err(|error| self.stopped_writing(&error))?;
        // Numbers and whatever speaks of them change together.
        let (numbered, mut summary) = database.together(|database| {
            let numbered = self.number(database, &mut outcome, &mut collected)?;
            let times = Times { build_s, time_s: started.elapsed().as_secs_f64() };
            let mut summary = self.summarise(&loaded, settings, &outcome, &mut collected.names, times);
            summary.tests = n_before + collected.n_new;
            self.save(database, &summary, &outcome, collected.last)?;
            Ok::<_, Failure>((numbered, summary))
        })?;
        database.name_files(&self.dir, &numbered)?;
        summary.tests -= self.remove_stale(&database, &outcome)?;
        technique_files::certify(&self.dir, &outcome, &mut summary)?;

        fault::doing(format!("replaying tests of {}", names.join(" ")));
        screen.progress("replaying natively".to_string());
        let started = Instant::now();
        let n_left_out = self.replay(building, &database, &mut summary, &collected.witnesses, deadline, &stop)?;
        if n_left_out > 0 {
            screen.chat(&format!("note: {n_left_out} tests were not replayed for coverage: there was no time left\n"));
        }
        summary.replay_s += started.elapsed().as_secs_f64();

        fault::doing("writing the results");
        technique_files::write_all(&self.dir, &outcome)?;
        if self.args.show_output {
            write_file(&self.dir, "stdout.txt", &outcome.output)?;
        }
        for finding in &summary.findings {
            database.give_file(&self.dir, finding.test_id())?;
        }
        let reached = outcome.reached.map(|test| TestId(test.0));
        reached.map_or(Ok(()), |test| database.give_file(&self.dir, test))?;
        write_file(&self.dir, "findings.sarif", report::sarif(&summary).as_bytes())?;
        database.together(|database| {
            database.save_figures(&summary)?;
            database.save_findings(&summary.findings)
        })?;
        write_file(&self.dir, "summary.json", summary.to_json().as_bytes())?;
        // Last of all: whoever goes on with a campaign that has ended finds everything there.
        Phase::Ended.write(&database)?;

        screen.end_progress();
        self.show(&database, &summary, &technique_files::text(&outcome), &screen)?;
        if let Some(place) = &self.towards {
            screen.chat(&arrival_text(place, reached, outcome.pending.len(), &summary, &self.shown));
        }
        database.close()?;
        Ok(exit(&summary))
    }

    /// The database, with what is known before anything is explored.
    fn begin(&mut self, loaded: &Loaded) -> Result<Database, Failure> {
        let database = match self.base.database.take() {
            Some(database) => database,
            None => Database::create(&self.dir)?,
        };
        let journal = Journal {
            cwd: self.cwd.clone(),
            args: self.words.clone(),
            build: loaded.plan.clone(),
            harness: loaded.harness.clone(),
        };
        database.together(|database| {
            journal.write(database)?;
            Phase::Running.write(database)
        })?;
        Ok(database)
    }

    /// Gives the new tests their numbers, and corrects whatever speaks of them.
    fn number(
        &mut self,
        database: &Database,
        outcome: &mut explore::Outcome,
        collected: &mut Collected,
    ) -> Result<Numbered, Failure> {
        let first_ones = outcome.findings.iter().map(|finding| test_id(&finding.test));
        let base = self.base.summary.iter_mut().flat_map(|summary| summary.findings.iter_mut());
        let mut earlier: Vec<&mut FindingSummary> = base.collect();
        let asked = collected.witnesses.values().flatten().map(|showing| showing.test).chain(first_ones);
        let asked = asked.chain(earlier.iter().map(|finding| finding.test_id()));
        let asked = asked.chain(outcome.reached.map(|test| TestId(test.0)));
        let numbered = database.number_tests(asked)?;
        for showing in collected.witnesses.values_mut().flatten() {
            showing.test = numbered.of(showing.test);
        }
        earlier.iter_mut().for_each(|finding| finding.test = test_name(numbered.of(finding.test_id())));
        for finding in &mut outcome.findings {
            let mut named = finding.bug.clone();
            collected.names.fix_bug(&mut named);
            let key = report::finding_key(&named);
            let by_path = collected.witnesses.get(&key).and_then(|showing| showing.first());
            // A certificate is of the path it was made on.
            match by_path.filter(|_| finding.certificate.is_none()) {
                None => finding.test = test_name(numbered.of(test_id(&finding.test))),
                Some(showing) => {
                    finding.test = test_name(showing.test);
                    finding.bug.message.clone_from(&showing.bug.message);
                    finding.bug.stack.clone_from(&showing.bug.stack);
                }
            }
        }
        outcome.findings.sort_by(|a, b| a.test.cmp(&b.test));
        outcome.reached = outcome.reached.map(|test| explore::TestId(numbered.of(TestId(test.0)).0));
        Ok(numbered)
    }

    /// Tests of paths that an earlier part cut and this one went on with are out of date. Says how many those were.
    fn remove_stale(&self, database: &Database, outcome: &explore::Outcome) -> Result<u64, Failure> {
        if self.base.summary.is_none() {
            return Ok(0);
        }
        let still_pending = Digests::of(&outcome.pending);
        let mut stale = Vec::new();
        database.each_test(Which::Cut, |stored| {
            if !still_pending.has(&stored.coded_path()) {
                stale.push(stored.test);
            }
            Ok::<(), Failure>(())
        })?;
        stale.iter().try_for_each(|test| database.remove_test(&self.dir, *test))?;
        Ok(stale.len() as u64)
    }

    /// What is known goes into the database: a killed campaign is gone on with from there.
    fn save(
        &self,
        database: &Database,
        summary: &Summary,
        outcome: &explore::Outcome,
        last: TestId,
    ) -> Result<(), Failure> {
        let checkpoint = Checkpoint {
            summary: summary.clone(),
            pending: prefixes::pack(&outcome.pending),
            n_resumable: outcome.pending.len() as u64,
            n_settled: last.0,
        };
        database.save(&checkpoint)?;
        Ok(database.save_findings(&summary.findings)?)
    }

    fn stopped_writing(&self, error: &database::Error) -> Failure {
        Failure::fault(format!("{error}. The results so far are in {}", self.shown))
    }

    #[expect(clippy::too_many_arguments, reason = "everything that exploring needs, once")]
    fn explore(
        &mut self,
        database: Database,
        build_s: f64,
        loaded: &Loaded,
        settings: &Settings,
        line_up: explore::LineUp,
        deadline: Deadline,
        screen: &Screen,
        stop: &Arc<AtomicBool>,
    ) -> Result<(explore::Outcome, Collected, Database, Result<(), database::Error>), Failure> {
        let (n_before, last) = database.n_tests()?;
        let (known, start) = (std::mem::take(&mut self.base.known), std::mem::take(&mut self.base.start));
        let this = &*self;
        let summarise = |outcome: &explore::Outcome, names: &mut Names| {
            let times = Times { build_s, time_s: outcome.elapsed.as_secs_f64() };
            // Whatever it is later, it is not complete yet.
            let summary = this.summarise(loaded, settings, outcome, names, times);
            Summary { tests: n_before, verdict: Verdict::Incomplete, ..summary }
        };
        let sink_start = SinkStart {
            dir: &self.dir,
            last,
            known,
            names: Names::new(&self.cwd, &self.args.files),
            tests: self.args.tests,
            summarise: &summarise,
        };
        let mut sink = CampaignSink::start(database, sink_start, screen, Arc::clone(stop))?;
        if self.args.workers.is_some_and(|n_workers| n_workers > 1) && !line_up.takes_workers() {
            screen.chat(&format!("note: --with {} explores with one worker\n", settings.line_up.join(",")));
        }
        let outcome = match start {
            Start::Everything => {
                engine::explore(loaded, self.args, settings, line_up, Vec::new(), deadline, stop, &mut sink)
            }
            Start::Prefixes(prefixes) => {
                engine::explore(loaded, self.args, settings, line_up, prefixes, deadline, stop, &mut sink)
            }
            Start::Nothing => Ok(explore::Outcome::default()),
        };
        let (collected, database, written) = sink.finish();
        let database = database.ok_or_else(|| Failure::fault("the database was lost"))?;
        match outcome {
            Ok(outcome) => Ok((outcome, collected, database, written)),
            Err(why) => Err(Failure::fault(format!(
                "exploration could not go on: {why}. {} tests found so far are in {}",
                collected.n_new, self.shown
            ))),
        }
    }

    /// The figures of all parts of the campaign.
    fn summarise(
        &self,
        loaded: &Loaded,
        settings: &Settings,
        outcome: &explore::Outcome,
        names: &mut Names,
        times: Times,
    ) -> Summary {
        let mut summary = engine::summary(loaded, self.args, settings, outcome, names);
        summary.time_s = times.time_s;
        summary.build_s = times.build_s;
        count_put_away(&mut summary, self.args);
        if let Some(base) = &self.base.summary {
            summary = merge::merge(base.clone(), summary);
        }
        summary.judge();
        summary
    }

    /// Confirms findings and measures coverage; what cannot be done is said in the summary.
    fn replay(
        &self,
        building: Option<Building>,
        database: &Database,
        summary: &mut Summary,
        witnesses: &Witnesses,
        deadline: Deadline,
        stop: &AtomicBool,
    ) -> Result<usize, Failure> {
        let built = match building {
            None => Err("replay was switched off".to_string()),
            Some(building) => building.wait(deadline),
        };
        let mut native = match built {
            Ok(native) => native,
            Err(why) => {
                for finding in summary.findings.iter_mut().filter(|finding| !finding.confirmed) {
                    finding.evidence = format!("not replayed: {why}");
                }
                summary.coverage.note = why;
                return Ok(0);
            }
        };
        native.confirm(database, &mut summary.findings, witnesses, deadline)?;
        let n_left_out = native.cover(database, &native::choose(database)?, deadline, stop)?;
        match native.coverage() {
            Ok((coverage, bytes)) => {
                summary.coverage = coverage;
                let view = serde_json::from_slice(&bytes).unwrap_or_default();
                database.together(|database| database.save_coverage(&view))?;
                write_file(&self.dir, "coverage.json", &bytes)?;
            }
            Err(why) => summary.coverage.note = why,
        }
        Ok(n_left_out)
    }

    fn show(
        &self,
        database: &Database,
        summary: &Summary,
        of_techniques: &str,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let mut sources = Sources::new(&self.cwd);
        for finding in &summary.findings {
            let test = SavedTest::find(database, finding.test_id())?;
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

/// What became of the search for a place.
fn arrival_text(place: &Place, reached: Option<TestId>, n_pending: usize, summary: &Summary, shown: &str) -> String {
    match reached {
        Some(test) => format!("{place} is reached by {}/{}\n", shown.trim_end_matches('/'), test_name(test)),
        None if n_pending > 0 => format!("{place} was not reached yet: {n_pending} paths are still to be explored\n"),
        None if summary.verdict == Verdict::Complete => {
            format!("{place} cannot be reached: no input of the declared kind leads there\n")
        }
        None => format!("{place} was not reached; what may be behind it: colt why {shown} {place}\n"),
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
