//! Runs the given fixtures, for people who write or mend one: `cargo run -p testkit -- fixtures/ints/widths.c`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use testkit::annotation::Fixture;
use testkit::command::find_colt;
use testkit::runner::{find_fixtures, run_fixture, short_name};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if arguments.is_empty() {
        eprintln!("usage: testkit FIXTURE.c|FOLDER...   (the `colt` binary: $COLT, or the one in the target folder)");
        return ExitCode::from(2);
    }
    match run_all(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// How many fixtures failed.
fn run_all(arguments: &[PathBuf]) -> Result<usize, String> {
    let colt = find_colt()?;
    let mut paths = Vec::new();
    for argument in arguments {
        if argument.is_dir() { paths.extend(find_fixtures(argument)?) } else { paths.push(argument.clone()) }
    }
    let mut n_failed = 0;
    for path in &paths {
        n_failed += run_one(&colt, path);
    }
    println!("{} of {} fixtures as announced", paths.len() - n_failed, paths.len());
    Ok(n_failed)
}

/// 1 when any line-up fails.
fn run_one(colt: &Path, path: &Path) -> usize {
    let result = Fixture::read(path).and_then(|fixture| {
        fixture.line_ups.iter().try_for_each(|line_up| {
            run_fixture(colt, &fixture, line_up).map_err(|why| format!("under {}:\n{why}", line_up.name()))
        })
    });
    match result {
        Ok(()) => {
            println!("ok      {}", short_name(path));
            0
        }
        Err(why) => {
            println!("FAILED  {}\n{why}\n", short_name(path));
            1
        }
    }
}
