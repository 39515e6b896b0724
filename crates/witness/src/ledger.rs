//! The ledger: every place where precision was given up.

use std::collections::BTreeMap;

use crate::Place;

/// Why the explored paths may not be all there are.
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
