//! `colt report DIR`.

use std::fs;

use report::{HtmlReport, Sources};

use crate::args::ReportArgs;
use crate::fault;
use crate::folder::Folder;
use crate::outcome::{Exit, Failure};
use crate::screen::print;

pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    fault::doing(format!("reporting on {}", args.dir.display()));
    let shown = args.out.clone().unwrap_or_else(|| args.dir.join("report.html"));
    // Opening the folder changes the working folder.
    let out = std::path::absolute(&shown).map_err(|error| Failure::usage(format!("{}: {error}", shown.display())))?;
    let folder = Folder::open(&args.dir)?;
    let (summary, coverage, cases) = (folder.summary()?, folder.coverage()?, folder.cases()?);
    let mut sources = Sources::new(&folder.journal.cwd);
    let page = report::html(&HtmlReport { summary: &summary, coverage: &coverage, cases: &cases }, &mut sources);
    fs::write(&out, page).map_err(|error| Failure::usage(format!("cannot write {}: {error}", shown.display())))?;
    print(&format!("{}\n", shown.display()));
    Ok(Exit::Success)
}
