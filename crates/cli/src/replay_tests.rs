//! `colt replay DIR|TEST`: run tests natively and compare their endings.

use std::collections::BTreeMap;
use std::path::Path;

use crate::args::ReplayArgs;
use crate::fault;
use crate::folder::{Folder, SavedTest};
use crate::native::Native;
use crate::outcome::{Exit, Failure};
use crate::screen::print;

#[derive(Default)]
struct Tally {
    n_agree: u64,
    n_differ: u64,
}

pub fn replay(args: &ReplayArgs) -> Result<Exit, Failure> {
    fault::doing(format!("replaying {}", args.path.display()));
    let (folder, only) = open(&args.path)?;
    let mut native = Native::build(&folder.journal.build).map_err(|why| {
        Failure::program(format!("the program cannot be built natively, so its tests cannot be replayed: {why}"))
    })?;
    let mut by_ending: BTreeMap<String, Tally> = BTreeMap::new();
    let mut run = |test: SavedTest| {
        let tally = by_ending.entry(test.case.ending.clone()).or_default();
        match native.disagreement(&test) {
            None => tally.n_agree += 1,
            Some(why) => {
                tally.n_differ += 1;
                print(&format!("test {}: {why}\n", test.id));
            }
        }
        Ok(())
    };
    match only {
        Some(test) => run(test)?,
        None => folder.each_test(run)?,
    }
    if !args.quiet {
        print(&table(&by_ending));
        print(&format!("sandbox: {}\n", native.sandbox()));
        if let Some(caveat) = native.caveat() {
            print(&format!("note: {caveat}\n"));
        }
    }
    let n_differ: u64 = by_ending.values().map(|tally| tally.n_differ).sum();
    let n_tests = n_differ + by_ending.values().map(|tally| tally.n_agree).sum::<u64>();
    print(&match n_differ {
        0 => format!("{n_tests} tests, every one ends natively as expected\n"),
        _ => format!("{n_tests} tests, {n_differ} end differently\n"),
    });
    Ok(if n_differ == 0 { Exit::Success } else { Exit::Disagreement })
}

/// The campaign's folder, and the test that was named if it was only one.
fn open(path: &Path) -> Result<(Folder, Option<SavedTest>), Failure> {
    if !path.is_file() {
        return Ok((Folder::open(path)?, None));
    }
    let test =
        path.canonicalize().map_err(|error| Failure::usage(format!("cannot open {}: {error}", path.display())))?;
    let dir = test
        .parent()
        .and_then(Path::parent)
        .ok_or_else(|| Failure::usage(format!("{} does not lie in the tests folder of a campaign", path.display())))?;
    Ok((Folder::open(dir)?, Some(SavedTest::read(&test)?)))
}

fn table(by_ending: &BTreeMap<String, Tally>) -> String {
    let mut text = format!("{:<14}{:>8}{:>10}\n", "ending", "agree", "differ");
    for (ending, tally) in by_ending {
        text.push_str(&format!("{ending:<14}{:>8}{:>10}\n", tally.n_agree, tally.n_differ));
    }
    text
}
