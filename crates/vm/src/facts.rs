//! What the conditions of a path say about sums of lengths.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};
use term::TermId;

use crate::sum::Sum;

/// A sum is this at most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fact {
    /// In the order of the terms.
    pub parts: Box<[(TermId, i128)]>,
    pub most: i128,
}

/// Sums of more parts are not kept.
const MAX_PARTS: usize = 4;
/// How many sums are kept for one path.
const MAX_FACTS: usize = 256;

impl Fact {
    /// That a sum is `most` at most. `None` where that is not worth knowing.
    pub fn new(sum: Sum, most: i128) -> Option<Fact> {
        let parts = sum.parts_vec(1);
        let is_kept = !parts.is_empty() && parts.len() <= MAX_PARTS;
        is_kept.then(|| Fact { parts: parts.into(), most: most - sum.constant })
    }
}

/// What a path knows, and conditions that it has heard of since. Most paths keep nothing: a pointer's room is all it takes then.
#[derive(Clone, Default)]
pub struct Facts(Option<Box<Kept>>);

#[derive(Clone, Default)]
struct Kept {
    known: Rc<Known>,
    heard: Vec<TermId>,
}

#[derive(Clone, Default)]
pub(crate) struct Known {
    most: FxHashMap<Box<[(TermId, i128)]>, i128>,
    id: u64,
}

impl Facts {
    /// From here on conditions are taken note of.
    pub fn keep(&mut self) {
        self.0.get_or_insert_with(Box::default);
    }

    /// The path goes on under a condition.
    pub fn hear(&mut self, condition: TermId) {
        if let Some(kept) = &mut self.0 {
            kept.heard.push(condition);
        }
    }

    pub(crate) fn known(&self) -> Option<&Rc<Known>> {
        self.0.as_ref().map(|kept| &kept.known)
    }

    pub(crate) fn has_heard_nothing(&self) -> bool {
        self.0.as_ref().is_none_or(|kept| kept.heard.is_empty())
    }

    pub(crate) fn take_heard(&mut self) -> Vec<TermId> {
        self.0.as_mut().map(|kept| std::mem::take(&mut kept.heard)).unwrap_or_default()
    }

    pub(crate) fn learn(&mut self, fact: Fact) {
        let Some(Kept { known, .. }) = self.0.as_deref_mut() else { return };
        let is_new = match known.most.get(&fact.parts) {
            Some(most) => fact.most < *most,
            None => known.most.len() < MAX_FACTS,
        };
        if !is_new {
            return;
        }
        let known = Rc::make_mut(known);
        let mut hasher = FxHasher::default();
        (known.id, &fact).hash(&mut hasher);
        known.id = hasher.finish();
        known.most.insert(fact.parts, fact.most);
    }
}

impl Known {
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The most that a sum of these parts is.
    pub fn most_of(&self, parts: &[(TermId, i128)]) -> Option<i128> {
        self.most.get(parts).copied()
    }

    /// Between which numbers one part lies.
    pub fn range_of(&self, part: TermId) -> (u64, u64) {
        let least = self.most_of(&[(part, -1)]).map_or(0, |most| (-most).max(0) as u64);
        let most = self.most_of(&[(part, 1)]).map_or(u64::MAX, |most| most.clamp(0, i128::from(u64::MAX)) as u64);
        (least, most)
    }
}
