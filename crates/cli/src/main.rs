//! The `colt` command.

use std::process::ExitCode;

/// Hundreds of thousands of small pieces that forks share come and go in any order, on several threads: what the C library's
/// allocator takes for that grows with how many there are.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os().collect(), techniques::ALL))
}
