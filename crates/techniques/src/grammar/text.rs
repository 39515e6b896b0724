//! What a path has decided of its text.

use ::grammar::{BeginningId, TokenId};
use explore::{Path, SlotId};

use super::looks::Look;

/// The technique's slot of a state.
pub const SLOT: SlotId = SlotId(8);

/// What a path has decided of its text.
#[derive(Clone, Debug)]
pub struct Text {
    pub beginning: BeginningId,
    /// What its last token looks like.
    pub last: Option<Look>,
    /// The size of what is there.
    pub size: u32,
    /// Its bytes.
    pub len: usize,
    /// Holes so far: token, where it begins, its length.
    pub holes: Vec<(TokenId, usize, usize)>,
    /// Where it is settled that a hole comes next, of at least so many bytes.
    pub longer: Option<Longer>,
    pub ends: Ends,
    pub decided_at: DecidedAt,
}

/// How much was decided while the path stood in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecidedAt {
    /// How many instructions the path had behind it.
    pub steps: u64,
    pub n_tokens: u32,
}

/// A hole that is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longer {
    pub token: TokenId,
    pub least: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// What follows is open.
    NotYet,
    Here,
}

impl Default for Text {
    fn default() -> Self {
        Text {
            beginning: BeginningId::EMPTY,
            last: None,
            size: 0,
            len: 0,
            holes: Vec::new(),
            longer: None,
            ends: Ends::NotYet,
            decided_at: DecidedAt::default(),
        }
    }
}

impl Text {
    pub fn of(path: &Path) -> Option<&Text> {
        path.state.slots.get::<Text>(SLOT)
    }

    /// The lengths of its holes.
    pub fn lengths(&self) -> Vec<usize> {
        self.holes.iter().map(|hole| hole.2).collect()
    }
}
