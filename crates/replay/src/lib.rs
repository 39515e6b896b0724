//! Runs witnesses on the natively built program and compares how it ends.
//!
//! The program is built once with sanitizers and coverage, together with a small runtime that hands out the inputs of a
//! test ([`Session::build`]). It is then started once, in a sandbox, as a fork server; each test runs in a forked child
//! ([`Session::run`]). What the child did comes back as a [`NativeEnding`], which [`compare`] holds against what the
//! engine claimed. [`Session::coverage`] is what llvm-cov says about all tests run so far.
//!
//! Deliberately absent: anything about how test files are written (that is `report`), and any policy about which tests to
//! run or what a disagreement means for the user (that is `cli`).

mod compare;
mod compile;
mod coverage;
mod ending;
mod exchange;
mod harness;
mod headers;
mod kept;
mod names;
mod plan;
mod rounds;
mod sandbox;
mod sanitizer;
mod server;
mod session;
mod steps;
mod symbolize;
mod test_case;
mod tools;
mod unwritten;

pub use compare::{Verdict, compare};
pub use coverage::{BranchCount, Coverage, FileCoverage, LineCount, Share};
pub use ending::{Access, NativeBug, NativeEnding};
pub use headers::write_headers;
pub use plan::{BuildPlan, BuildUnit, Checks, Entry, Limits, Param, ParamKind};
pub use sandbox::Sandbox;
pub use session::{BuildError, ReplayError, Session};
pub use test_case::{Expected, ExpectedBug, TestCase, TestError, parse_test, read_test};
