//! The techniques: one folder each, and the one list of them.

mod company;
mod flags;
pub mod grammar;
pub mod lassos;
pub mod lazy;
pub mod lengths;
mod line_up;
pub mod partition;
pub mod rwset;
pub mod shapes;

use std::sync::Arc;

use explore::{Driver, Technique};

pub use company::{Pair, Together, pairs, table, together};
pub use flags::{Flag, Flags, Takes};
pub use line_up::{check, find, line_up};

/// Every technique there is.
pub const ALL: &[Entry] =
    &[lazy::ENTRY, partition::ENTRY, rwset::ENTRY, shapes::ENTRY, lassos::ENTRY, grammar::ENTRY, lengths::ENTRY];

/// How a line-up names a technique and makes it; declared in its folder.
pub struct Entry {
    pub name: &'static str,
    pub flags: &'static [Flag],
    /// What is wrong with the flags can be said before anything is done.
    pub check: fn(&Flags, Named) -> Result<(), String>,
    pub make: fn(&Making) -> Result<Part, String>,
    pub resume: Resume,
    /// What it is together with techniques that come before it in the list; see `company`. Those not named are refused.
    pub company: &'static [Pair],
}

/// For a technique whose flags are right as they are.
pub const ANY_FLAGS: fn(&Flags, Named) -> Result<(), String> = |_, _| Ok(());

/// Whether the line-up has the technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Yes,
    No,
}

/// What a technique is made from.
pub struct Making<'a> {
    pub flags: &'a Flags,
    pub subject: Subject<'a>,
    pub others: Others,
}

/// Whether a technique shares the campaign with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    None,
    /// Others decide as well, by what it does not see.
    Some,
}

/// What is under test.
#[derive(Clone, Copy)]
pub struct Subject<'m> {
    pub module: &'m Arc<ir::Module>,
    /// The function the user named, which a harness of ours may call.
    pub entry: ir::FuncId,
}

/// What a technique brings into a line-up.
pub struct Part {
    pub technique: Box<dyn Technique>,
    /// Drivers wrap each other, see [`Drives`].
    pub driver: Option<(Drives, Box<dyn Driver>)>,
}

/// Which driver is around which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drives {
    /// It makes plans: around those that explore by themselves.
    ByPlans,
    /// It explores a plan of another by itself, path by path.
    Itself,
}

impl Part {
    /// A technique that observes and decides, and leaves driving to others.
    pub fn passive(technique: impl Technique + 'static) -> Part {
        Part { technique: Box::new(technique), driver: None }
    }
}

/// Where a campaign that was stopped is taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// At the states that were pending.
    FromPending,
    /// At the beginning: what was learned on the way is not on disk. Tests that are found again stay as they are.
    FromStart,
}
