//! Every fixture under each of its line-ups, one test each.
//!
//! A fixture that cannot be read is a failing test, not a missing one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use testkit::annotation::Fixture;
use testkit::command::{find_colt, project_root};
use testkit::runner::{find_fixtures, run_fixture, short_name};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each test is a process that compiles twice; more of them at once only slow each other down.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let folder = project_root().join("fixtures");
    match trials(&folder) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn trials(folder: &Path) -> Result<Vec<Trial>, String> {
    let colt = find_colt()?;
    let paths = find_fixtures(folder)?;
    Ok(paths.iter().flat_map(|path| trials_of(&colt, path)).collect())
}

fn trials_of(colt: &Path, path: &Path) -> Vec<Trial> {
    let name = short_name(path);
    match Fixture::read(path) {
        Err(why) => vec![Trial::test(name, move || Err(Failed::from(why)))],
        Ok(fixture) => fixture
            .line_ups
            .iter()
            .map(|line_up| {
                let (colt, fixture, line_up): (PathBuf, _, _) = (colt.to_path_buf(), fixture.clone(), line_up.clone());
                let test_name = format!("{name} [{}]", line_up.name());
                Trial::test(test_name, move || run_fixture(&colt, &fixture, &line_up).map_err(Failed::from))
            })
            .collect(),
    }
}
