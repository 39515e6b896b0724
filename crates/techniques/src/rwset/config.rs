//! What can be set, by flags or by tests, and how the line-up makes the technique.

use super::company::COMPANY;
use super::economy::Effort;
use super::{NAME, Rwset};
use crate::{ANY_FLAGS, Entry, Flag, Making, Others, Part, Resume, Takes};

/// What a hit leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hits {
    #[default]
    Prune,
    /// Everything is computed, nothing pruned: what the technique costs. What would have been pruned is explored as if
    /// the technique were not there.
    Count,
}

/// Deliberate faults, so that tests can show they would notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sabotage {
    #[default]
    None,
    /// One byte of every read set is left out.
    DropByte,
}

/// Which states may be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    #[default]
    Any,
    /// Only those that asked for equally many inputs: another technique may decide by their number what the next looks
    /// like.
    EquallyMany,
}

#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub hits: Hits,
    pub sabotage: Sabotage,
    pub inputs: Inputs,
    pub effort: Effort,
    /// Earlier visits kept in all, and of those that can only be told apart by their memory.
    pub max_entries: usize,
    pub max_entries_alike: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            hits: Hits::Prune,
            sabotage: Sabotage::None,
            inputs: Inputs::Any,
            effort: Effort::default(),
            max_entries: 20_000,
            max_entries_alike: 64,
        }
    }
}

/// How the line-up makes it.
pub const ENTRY: Entry = Entry {
    name: NAME,
    flags: &[COUNT_ONLY, MAX_ENTRIES, EFFORT],
    check: ANY_FLAGS,
    make,
    resume: Resume::FromPending,
    company: COMPANY,
};

const COUNT_ONLY: Flag = Flag {
    name: "rwset-count-only",
    help: "`rwset`: compute everything, prune nothing; shows what the technique costs",
    takes: Takes::Nothing,
};

const MAX_ENTRIES: Flag = Flag::number(
    "rwset-max-entries",
    "N",
    20_000,
    "`rwset`: earlier states to compare with; beyond it the oldest are forgotten, which loses prunes and nothing else",
);

const EFFORT: Flag = Flag::number(
    "rwset-effort",
    "PERCENT",
    2,
    "`rwset`: how much it may cost where it saves nothing, in per cent of plain exploration's work; 0 for no limit",
);

fn make(making: &Making) -> Result<Part, String> {
    let Making { flags, others, .. } = making;
    let percent = Some(flags.number(&EFFORT)).filter(|percent| *percent > 0);
    Ok(Part::passive(Rwset::new(Config {
        hits: if flags.is_given(&COUNT_ONLY) { Hits::Count } else { Hits::Prune },
        max_entries: flags.number(&MAX_ENTRIES) as usize,
        effort: Effort { percent, ..Effort::default() },
        inputs: if *others == Others::None { Inputs::Any } else { Inputs::EquallyMany },
        ..Config::default()
    })))
}
