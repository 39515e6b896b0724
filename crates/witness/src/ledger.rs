//! The ledger: every place where precision was given up.

use std::collections::BTreeMap;

use crate::Place;

/// Why the explored paths may not be all there are. docs/guide.md has a table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LedgerKind {
    ConcretisedSize,
    ConcretisedAddress,
    ConcretisedFunctionPointer,
    ConcretisedFloat,
    ConcretisedArgument,
    BoundedPointerInput,
    /// Objects may lie in another order, or at other addresses.
    AddressOrder,
    BoundedInput,
    UnknownFunction,
    UnknownAnswer,
    UnmodelledBehaviour,
    UnwrittenMemory,
    SuspectedFault,
}

impl LedgerKind {
    pub const ALL: [LedgerKind; 13] = [
        LedgerKind::ConcretisedSize,
        LedgerKind::ConcretisedAddress,
        LedgerKind::ConcretisedFunctionPointer,
        LedgerKind::ConcretisedFloat,
        LedgerKind::ConcretisedArgument,
        LedgerKind::BoundedPointerInput,
        LedgerKind::AddressOrder,
        LedgerKind::BoundedInput,
        LedgerKind::UnknownFunction,
        LedgerKind::UnknownAnswer,
        LedgerKind::UnmodelledBehaviour,
        LedgerKind::UnwrittenMemory,
        LedgerKind::SuspectedFault,
    ];

    pub fn from_name(name: &str) -> Option<LedgerKind> {
        LedgerKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            LedgerKind::ConcretisedSize => "concretised-size",
            LedgerKind::ConcretisedAddress => "concretised-address",
            LedgerKind::ConcretisedFunctionPointer => "concretised-function-pointer",
            LedgerKind::ConcretisedFloat => "concretised-float",
            LedgerKind::ConcretisedArgument => "concretised-argument",
            LedgerKind::BoundedPointerInput => "bounded-pointer-input",
            LedgerKind::AddressOrder => "address-order",
            LedgerKind::BoundedInput => "bounded-input",
            LedgerKind::UnknownFunction => "unknown-function",
            LedgerKind::UnknownAnswer => "unknown-answer",
            LedgerKind::UnmodelledBehaviour => "unmodelled-behaviour",
            LedgerKind::UnwrittenMemory => "unwritten-memory",
            LedgerKind::SuspectedFault => "suspected-fault",
        }
    }

    /// What people can do about an entry.
    pub fn advice(self) -> &'static str {
        match self {
            LedgerKind::ConcretisedSize => "bound the size with `colt_assume`",
            LedgerKind::ConcretisedAddress => "bound the index with `colt_assume`",
            LedgerKind::ConcretisedFunctionPointer => {
                "compare the pointer with the functions it may be, before the call"
            }
            LedgerKind::ConcretisedFloat => {
                "compute with integers where other values matter, or make the argument depend on two bytes at most: then \
                 all its values are tried"
            }
            LedgerKind::ConcretisedArgument => "compare the argument with the values that matter, before the call",
            LedgerKind::BoundedPointerInput => "write a `main` that declares the memory, or raise `--shapes-max`",
            LedgerKind::AddressOrder => "compare what the objects hold instead",
            LedgerKind::BoundedInput => "make the input larger, or give the grammar a blank to skip",
            LedgerKind::UnknownFunction => "add the source file that has the function",
            LedgerKind::UnknownAnswer => "raise `--solver-timeout`",
            LedgerKind::UnmodelledBehaviour => "the detail says what; where it matters, test this part on its own",
            LedgerKind::UnwrittenMemory => "leave `--uninit zero` out, or initialise it",
            LedgerKind::SuspectedFault => "`--lazy-faults all`, or explore without `lazy`",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub kind: LedgerKind,
    pub place: Place,
    /// What exactly, for people: a function's name, a bound.
    pub detail: String,
    /// How many paths it touched.
    pub count: u64,
}

/// Entries keyed by kind, place and detail, so that repeats are counted.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: BTreeMap<(LedgerKind, Place, String), u64>,
    n_entered: u64,
}

impl Ledger {
    pub fn enter(&mut self, kind: LedgerKind, place: Place, detail: impl Into<String>) {
        *self.entries.entry((kind, place, detail.into())).or_insert(0) += 1;
        self.n_entered += 1;
    }

    /// Adds another worker's entries.
    pub fn merge(&mut self, other: &Ledger) {
        for (key, count) in &other.entries {
            *self.entries.entry(key.clone()).or_insert(0) += count;
        }
    }

    /// How often anything was entered; only grows.
    pub fn n_entered(&self) -> u64 {
        self.n_entered
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> impl Iterator<Item = LedgerEntry> + '_ {
        self.entries.iter().map(|((kind, place, detail), count)| LedgerEntry {
            kind: *kind,
            place: place.clone(),
            detail: detail.clone(),
            count: *count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../docs/guide.md");

    #[test]
    fn the_guide_explains_every_kind_and_gives_the_same_advice() {
        for (idx, kind) in LedgerKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, idx, "{kind:?} is not in its place");
            let row = GUIDE.lines().find(|line| line.starts_with(&format!("| `{}` |", kind.name())));
            let row = row.unwrap_or_else(|| panic!("docs/guide.md does not explain {}", kind.name()));
            assert!(row.ends_with(&format!(" | {} |", kind.advice())), "{row}");
        }
    }

    #[test]
    fn names_lead_back_to_their_kinds() {
        assert!(LedgerKind::ALL.into_iter().all(|kind| LedgerKind::from_name(kind.name()) == Some(kind)));
        assert_eq!(LedgerKind::from_name("concretised"), None);
    }
}
