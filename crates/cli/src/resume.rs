//! `colt resume DIR`: go on where a campaign stopped.
//!
//! A campaign that ended by a budget or by Ctrl-C left the decisions that lead to each pending state; exploration
//! starts from those. Where decisions mean nothing outside of the run they were made in, as under `partition`, it is
//! explored from the start again. One that was killed left only its tests: it is explored from the start again, and paths whose
//! tests are on disk keep them.

use std::path::PathBuf;

use report::TestId;
use techniques::Entry;

use crate::args::{BudgetArgs, Command, ResumeArgs, RunArgs};
use crate::folder::{Folder, SavedTest};
use crate::journal::Phase;
use crate::merge;
use crate::outcome::{Exit, Failure};
use crate::run::{Base, Campaign, exit};
use crate::screen::print;
use crate::settings::Settings;
use crate::sink::path_key;
use crate::technique_args;

pub fn resume(args: &ResumeArgs, all: &'static [Entry]) -> Result<Exit, Failure> {
    // Opening the folder goes to where the first run was.
    let seeds = args.seeds.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let folder = Folder::open(&args.dir)?;
    let mut run_args = original(&folder, args, all)?;
    run_args.seeds = seeds.or(run_args.seeds);
    let base = match folder.journal.phase {
        Phase::Running => killed(&folder)?,
        Phase::Ended if folder.journal.pending.is_empty() => {
            print(&format!("nothing is pending in {}: the campaign has ended\n", folder.shown));
            return Ok(exit(&folder.summary()?));
        }
        Phase::Ended if starts_over(&run_args) => {
            if !run_args.output.quiet && !run_args.output.json {
                print("this line-up begins again from the start; tests already found are kept\n");
            }
            again(&folder)?
        }
        Phase::Ended => stopped(&folder)?,
    };
    let settings = Settings::new(&run_args)?;
    let campaign = Campaign {
        args: &run_args,
        words: folder.journal.args.clone(),
        cwd: folder.journal.cwd.clone(),
        dir: folder.dir.clone(),
        shown: folder.shown.clone(),
        base,
    };
    campaign.run(&settings)
}

fn starts_over(run_args: &RunArgs) -> bool {
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

fn stopped(folder: &Folder) -> Result<Base, Failure> {
    let mut summary = folder.summary()?;
    merge::reopen(&mut summary, folder.journal.n_resumable);
    Ok(Base {
        summary: Some(summary),
        prefixes: folder.journal.pending.trails(),
        n_tests: folder.journal.n_tests,
        covering: folder.journal.covering.iter().map(|number| TestId(*number)).collect(),
        cut_tests: cut_tests(folder)?,
        known: Default::default(),
        n_unused: 0,
    })
}

fn cut_tests(folder: &Folder) -> Result<Vec<(Vec<u64>, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for file in folder.test_files()? {
        let test = SavedTest::read(&file)?;
        if test.case.ending == "cut" {
            found.push((test.case.path, file));
        }
    }
    Ok(found)
}

fn killed(folder: &Folder) -> Result<Base, Failure> {
    let mut known = std::collections::HashMap::new();
    // A path that was cut goes on this time, and its test will be another one.
    for test in folder.tests()?.into_iter().filter(|test| test.case.ending != "cut") {
        if let Ok(number) = test.id.parse() {
            known.insert(
                path_key(&test.case.path, test.case.inputs.iter().map(|input| &input.bytes[..])),
                TestId(number),
            );
        }
    }
    Ok(Base { known, ..Base::default() })
}

/// Explores everything again. Paths that ended keep their tests; those of paths that were cut are out of date.
fn again(folder: &Folder) -> Result<Base, Failure> {
    for (_, file) in cut_tests(folder)? {
        std::fs::remove_file(&file)
            .map_err(|error| Failure::fault(format!("cannot remove {}: {error}", file.display())))?;
    }
    let base = killed(folder)?;
    let n_largest = base.known.values().map(|test| test.0).max().unwrap_or(0);
    Ok(Base { n_unused: n_largest - base.known.len() as u64, ..base })
}
