//! The `colt` command.
fn main() {}
