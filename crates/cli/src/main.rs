//! The `colt` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os().collect(), techniques::ALL))
}
