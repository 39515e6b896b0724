//! Plain data that leaves the engine: inputs, endings, bugs, gaps, findings, witnesses, ledger entries and coverage.
//!
//! Nothing here computes. `vm` and `explore` fill these in, `replay` and `report` read them, so neither side needs the other.

mod bug;
mod ending;
mod input;
mod ledger;

pub use bug::{Bug, BugKind, Certificate, Finding, FindingKey};
pub use ending::{Budget, Ending, Gap, Place, Witness};
pub use input::{Field, FieldKind, InputValue, Layout, RETURNED, UNWRITTEN};
pub use ledger::{Ledger, LedgerEntry, LedgerKind};
