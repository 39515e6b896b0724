//! `colt resume DIR`: go on where a campaign stopped.
//!
//! The database has the decisions that lead to each pending state: as they were when a budget or Ctrl-C ended the campaign, or
//! at the last checkpoint before it was killed. Exploration starts from those. Under `partition` and `lazy` decisions mean nothing
//! outside of the run they were made in. Such a campaign is explored from the start again, and paths whose tests are there keep
//! them.

use std::collections::HashMap;
use std::path::Path;

use database::{Checkpoint, Database, Which};
use explore::Decisions;
use report::{Summary, TestId};
use techniques::Entry;

use crate::args::{BudgetArgs, Command, ResumeArgs, RunArgs};
use crate::folder::{Folder, SavedTest};
use crate::journal::Phase;
use crate::known::{Known, PathKey, path_key};
use crate::merge;
use crate::outcome::{Exit, Failure};
use crate::place::Place;
use crate::prefixes;
use crate::run::{Base, Campaign, Start, exit};
use crate::screen::print;
use crate::settings::Settings;
use crate::technique_args;
use crate::why;

pub fn resume(args: &ResumeArgs, all: &'static [Entry]) -> Result<Exit, Failure> {
    // Opening the folder goes to where the first run was.
    let seeds = args.seeds.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let towards = args.towards.as_deref().map(Place::parse).transpose()?;
    let folder = Folder::open_again(&args.dir)?;
    let mut run_args = original(&folder, args, all)?;
    run_args.seeds = seeds.or(run_args.seeds);
    let checkpoint = folder.database.checkpoint()?;
    let phase = Phase::read(&folder.database)?;
    if let (Phase::Ended, Some(checkpoint)) = (phase, &checkpoint)
        && checkpoint.pending.is_empty()
    {
        print(&format!("nothing is pending in {}: the campaign has ended\n", folder.shown));
        return Ok(exit(&checkpoint.summary));
    }
    if let Some(place) = &towards
        && why::n_passed(&folder.coverage()?, place) > 0
    {
        print(&format!("{place} was reached before; colt why {} {place} says more\n", folder.shown));
        return Ok(Exit::Success);
    }
    folder.database.repair_files(&folder.dir)?;
    let Folder { dir, shown, journal, database } = folder;
    let (start, summary, known) = match checkpoint {
        Some(checkpoint) if !starts_over(&run_args) => go_on(&database, checkpoint)?,
        _ => {
            if !run_args.output.quiet && !run_args.output.json {
                print("this campaign begins again from the start; tests already found are kept\n");
            }
            again(&database, &dir)?
        }
    };
    let settings = Settings::new(&run_args)?;
    let base = Base { database: Some(database), summary, start, known };
    let (words, cwd) = (journal.args, journal.cwd);
    let campaign = Campaign { args: &run_args, words, cwd, dir, shown, base, towards };
    campaign.run(&settings)
}

/// Whether decisions mean nothing outside of the run they were made in.
pub fn starts_over(run_args: &RunArgs) -> bool {
    let found = run_args.line_up.iter().filter_map(|name| techniques::find(run_args.techniques.all, name));
    found.into_iter().any(|entry| entry.resume == techniques::Resume::FromStart)
}

/// The flags of the first run with the new budgets.
fn original(folder: &Folder, args: &ResumeArgs, all: &'static [Entry]) -> Result<RunArgs, Failure> {
    let words = std::iter::once("colt").chain(folder.journal.args.iter().map(String::as_str));
    let cli = technique_args::parse(all, words)
        .map_err(|error| Failure::usage(format!("the journal of {} is damaged: {error}", folder.shown)))?;
    let Command::Run(mut run_args) = cli.command else {
        return Err(Failure::usage(format!("the journal of {} is not of a run", folder.shown)));
    };
    let BudgetArgs { max_time, max_memory, max_paths, max_depth, max_steps, solver_timeout } = args.budgets.clone();
    let old = run_args.budgets;
    run_args.budgets = BudgetArgs {
        max_time,
        max_paths,
        max_memory: max_memory.or(old.max_memory),
        max_depth: max_depth.or(old.max_depth),
        max_steps: max_steps.or(old.max_steps),
        solver_timeout: solver_timeout.or(old.solver_timeout),
    };
    run_args.output = args.output.clone();
    Ok(*run_args)
}

type Going = (Start, Option<Summary>, Known);

/// Goes on with what was pending when the checkpoint was made. What was told after it is met again, and known.
fn go_on(database: &Database, checkpoint: Checkpoint) -> Result<Going, Failure> {
    let Checkpoint { mut summary, pending, n_resumable, n_settled } = checkpoint;
    merge::reopen(&mut summary, n_resumable);
    let prefixes = prefixes::unpack(&pending).ok_or_else(|| database.damaged("what was pending"))?;
    let known = Known::new(tests_by_path(database, Which::After(n_settled))?, TestId(n_settled));
    let start = match () {
        () if prefixes.is_empty() => Start::Nothing,
        // Everything lies below no decision at all.
        () if prefixes.iter().any(Decisions::is_empty) => Start::Everything,
        () => Start::Prefixes(prefixes),
    };
    Ok((start, Some(summary), known))
}

/// Explores everything again. Paths that ended keep their tests; those of paths that were cut are out of date.
fn again(database: &Database, dir: &Path) -> Result<Going, Failure> {
    for test in database.numbers(Which::Cut)? {
        database.remove_test(dir, test)?;
    }
    let known = Known::new(tests_by_path(database, Which::All)?, TestId(0));
    Ok((Start::Everything, None, known))
}

/// Tests by path. A path that was cut goes on this time, and its test will be another one.
fn tests_by_path(database: &Database, which: Which) -> Result<HashMap<PathKey, TestId>, Failure> {
    let mut tests = HashMap::new();
    database.each_test(which, |stored| {
        let test = SavedTest::new(&stored)?;
        if test.case.ending != "cut" {
            let inputs = test.case.inputs.iter().map(|input| &input.bytes[..]);
            tests.insert(path_key(&test.case.path, inputs), stored.test);
        }
        Ok::<(), Failure>(())
    })?;
    Ok(tests)
}
