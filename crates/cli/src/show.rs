//! `colt show DIR N`: one test, readably.

use std::fmt::Write;

use report::TestId;

use crate::args::ShowArgs;
use crate::folder::{Folder, SavedTest};
use crate::outcome::{Exit, Failure};
use crate::screen::print;

/// Decisions printed before the rest is left out.
const DECISIONS: usize = 400;

pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let folder = Folder::open(&args.dir)?;
    let Some(stored) = folder.database.test(TestId(args.number))? else {
        let (n_tests, _) = folder.database.n_tests()?;
        return Err(Failure::usage(format!("{} has no test {}; it has {n_tests} tests", folder.shown, args.number)));
    };
    if args.json {
        print(&String::from_utf8_lossy(&stored.to_json()));
        return Ok(Exit::Success);
    }
    let test = SavedTest::new(&stored)?;
    let case = test.to_case();
    let mut text = format!("test {} of {}: {}\n", args.number, folder.shown, case.expected.describe());
    for input in &case.inputs {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {} {} = {}", input.ty, input.name, report::shown(input, &case.inputs));
    }
    let decisions: Vec<String> = case.path.iter().take(DECISIONS).map(u64::to_string).collect();
    let _ = write!(text, "decisions: {}", decisions.join(" "));
    if case.path.len() > DECISIONS {
        let _ = write!(text, " ... ({} in all)", case.path.len());
    }
    text.push('\n');
    print(&text);
    Ok(Exit::Success)
}
