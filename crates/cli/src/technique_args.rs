//! Flags that techniques declare, as flags of `colt run`.

use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, value_parser};
use techniques::{Entry, Flag, Flags, Takes};

use crate::args::{Cli, Command};

/// The techniques there are, and what the command line says to them.
#[derive(Clone)]
pub struct TechniqueArgs {
    pub all: &'static [Entry],
    pub flags: Flags,
}

impl Default for TechniqueArgs {
    fn default() -> Self {
        TechniqueArgs { all: techniques::ALL, flags: Flags::default() }
    }
}

impl std::fmt::Debug for TechniqueArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.flags.fmt(f)
    }
}

/// Our own flags and those of the techniques.
pub fn parse<T: Into<OsString> + Clone>(
    all: &'static [Entry],
    words: impl IntoIterator<Item = T>,
) -> Result<Cli, clap::Error> {
    let mut command = command(all);
    let matches = command.try_get_matches_from_mut(words)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    if let (Command::Run(run), Some(matches)) = (&mut cli.command, matches.subcommand_matches(RUN)) {
        run.techniques = TechniqueArgs { all, flags: given(all, matches) };
    }
    Ok(cli)
}

const RUN: &str = "run";
/// The field of [`crate::args::RunArgs`].
const LINE_UP: &str = "line_up";
const HEADING: &str = "Options of techniques";

pub fn command(all: &'static [Entry]) -> clap::Command {
    let flags = all.iter().flat_map(|entry| entry.flags).map(arg);
    let names: Vec<&str> = all.iter().map(|entry| entry.name).collect();
    let with = format!("Techniques, separated by commas: {}", names.join(", "));
    let add = |run: clap::Command| run.mut_arg(LINE_UP, |arg| arg.help(with)).next_help_heading(HEADING).args(flags);
    Cli::command().mut_subcommand(RUN, add)
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name).long(flag.name).help(flag.help);
    match flag.takes {
        Takes::Nothing => arg.action(ArgAction::SetTrue),
        Takes::Number { named, default } => {
            let help = format!("{} [default: {default}]", flag.help);
            arg.value_name(named).value_parser(value_parser!(u64)).help(help)
        }
        Takes::List { named } => arg.value_name(named).value_delimiter(',').action(ArgAction::Append),
        Takes::File { named } => arg.value_name(named).value_hint(clap::ValueHint::FilePath),
        Takes::OneOf { named, words, default } => {
            let words = words.iter().map(|(word, meaning)| PossibleValue::new(*word).help(*meaning));
            arg.value_name(named).value_parser(PossibleValuesParser::new(words)).default_value(default)
        }
    }
}

/// What was given, as it was written: what it means is for the technique to say.
fn given(all: &'static [Entry], matches: &ArgMatches) -> Flags {
    let mut flags = Flags::default();
    for flag in all.iter().flat_map(|entry| entry.flags) {
        if matches.value_source(flag.name) != Some(ValueSource::CommandLine) {
            continue;
        }
        let words = match flag.takes {
            Takes::Nothing => Vec::new(),
            _ => matches.get_raw(flag.name).into_iter().flatten().collect(),
        };
        flags.set(flag, words.into_iter().map(|word| word.to_string_lossy().into_owned()));
    }
    flags
}
