//! From files to figures, step by step: load the program, line up the techniques, explore, sum up.
//!
//! Each step takes what the one before it gave and reads the command line for its own part of it. What is written, shown and
//! replayed around them is `run`'s.

mod figures;
mod load;
mod options;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use explore::{Decisions, LineUp, Outcome, Sink};

pub use figures::summary;
pub use load::{Loaded, load};

use crate::args::RunArgs;
use crate::deadline::Deadline;
use crate::outcome::Failure;
use crate::settings::Settings;
use crate::technique_args::TechniqueArgs;

/// The techniques of the command line, made for this program.
pub fn line_up(loaded: &Loaded, args: &RunArgs, settings: &Settings) -> Result<LineUp, Failure> {
    if settings.line_up.is_empty() {
        return Ok(LineUp::plain());
    }
    let module = Arc::new(loaded.program.module.clone());
    let entry = module.find_function(&loaded.program.entry_name).unwrap_or(loaded.program.entry);
    let subject = techniques::Subject { module: &module, entry };
    let TechniqueArgs { all, flags } = &args.techniques;
    techniques::line_up(all, &settings.line_up, flags, subject).map_err(|why| Failure::usage(format!("--with: {why}")))
}

/// Explores everything, or what lies behind these prefixes.
#[expect(clippy::too_many_arguments, reason = "everything that exploring needs, once")]
pub fn explore(
    loaded: &Loaded,
    args: &RunArgs,
    settings: &Settings,
    line_up: LineUp,
    prefixes: Vec<Decisions>,
    deadline: Deadline,
    stop: &Arc<AtomicBool>,
    sink: &mut dyn Sink,
) -> Result<Outcome, String> {
    let options = options::options(loaded, args, settings, prefixes, deadline, stop);
    let program = explore::Program {
        module: Arc::new(loaded.program.module.clone()),
        entry: loaded.program.entry,
        constructors: loaded.program.constructors.clone(),
    };
    let mut outcome = explore::explore(&program, &options, line_up, sink).map_err(|fault| fault.to_string())?;
    for file in &loaded.unchecked {
        let place = witness::Place { file: file.to_string_lossy().into(), ..Default::default() };
        let names = settings.checks.of_clang().join(", ");
        let detail =
            format!("not looked for here, because it was compiled elsewhere: {names}; give the C file instead");
        outcome.ledger.enter(witness::LedgerKind::UnmodelledBehaviour, place, detail);
    }
    Ok(outcome)
}
