//! The `colt` command as a library: flags, files, progress and exit statuses. The only crate with I/O policy.

mod args;
mod cache;
mod cc;
mod certify;
mod compile_db;
mod deadline;
mod engine;
mod entry;
mod export;
mod fault;
mod folder;
mod grammar_file;
mod html;
mod interrupt;
mod journal;
mod known;
mod merge;
mod names;
mod native;
mod old;
mod out_dir;
mod outcome;
mod place;
mod prefixes;
mod program;
mod replay_tests;
mod resume;
mod run;
mod screen;
mod seeds;
mod settings;
mod show;
mod sink;
mod technique_args;
mod technique_files;
mod why;

use std::ffi::OsString;

use args::{Cli, Command};
use outcome::{Exit, Failure};

/// Runs one command line and returns its exit status. `techniques` are those there are.
pub fn main(command_line: Vec<OsString>, techniques: &'static [techniques::Entry]) -> u8 {
    // A compiler's command line is not ours to parse, and a build starts it thousands of times.
    if let Some(words) = cc::called(&command_line) {
        return cc::main(words);
    }
    let cli = match technique_args::parse(techniques, &command_line) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, with status 0.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code());
        }
    };
    let words: Vec<String> = command_line.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match fault::guard(|| dispatch(cli, words, techniques)) {
        Ok(exit) => exit.code(),
        Err(failure) => {
            eprintln!("colt: {failure}");
            failure.exit.code()
        }
    }
}

fn dispatch(cli: Cli, words: Vec<String>, techniques: &'static [techniques::Entry]) -> Result<Exit, Failure> {
    match cli.command {
        Command::Run(args) => run::run(&args, words),
        Command::Replay(args) => replay_tests::replay(&args),
        Command::Export(args) => export::export(&args),
        Command::Report(args) => html::report(&args),
        Command::Show(args) => show::show(&args),
        Command::Why(args) => why::why(&args),
        Command::Certify(args) => certify::certify(&args),
        Command::Resume(args) => resume::resume(&args, techniques),
        Command::Grammar(args) => grammar_file::grammar(&args),
        // Taken care of before flags are parsed; it is in the list of commands for the sake of `--help`.
        Command::Cc(_) => Err(Failure::usage("`cc` has to be the first word after `colt`")),
    }
}
