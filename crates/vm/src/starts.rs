//! From which pointer a symbolic address was computed.
//!
//! A term does not keep it: `table[c - 128]` and `(table - 128)[c]` are the same sum, and its constant part may be any
//! object's address, even the very start of one that has nothing to do with it.

use rustc_hash::FxHashMap;
use term::TermId;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    One(u64),
    /// The same sum was made from different pointers, so nothing can be said about it.
    Several,
}

#[derive(Default)]
pub struct Starts {
    of: FxHashMap<TermId, Start>,
}

impl Starts {
    /// The concrete pointer to which something symbolic was added, where there is exactly one.
    pub fn of(&self, address: TermId) -> Option<u64> {
        match self.of.get(&address) {
            Some(Start::One(pointer)) => Some(*pointer),
            Some(Start::Several) | None => None,
        }
    }

    pub(crate) fn enter(&mut self, address: TermId, pointer: u64) {
        let start = self.of.entry(address).or_insert(Start::One(pointer));
        if *start != Start::One(pointer) {
            *start = Start::Several;
        }
    }

    /// `address` lies a constant beside `other`, and so has the same start.
    pub(crate) fn pass_on(&mut self, other: TermId, address: TermId) {
        if let Some(pointer) = self.of(other) {
            self.enter(address, pointer);
        }
    }
}
