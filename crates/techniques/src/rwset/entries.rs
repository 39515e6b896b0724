//! The visits whose continuations are all known, found by what must be equal.
//!
//! Most comparisons fail, and most of those in the registers. Where an earlier state has a plain value in a live register,
//! a new one must have the same; where it has a term the new one may have anything. So the entries of a point are kept
//! by which of their registers are terms, and below that by the values of the others: a new state is compared only
//! with entries whose plain registers it shares.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use explore::Decisions;
use rustc_hash::{FxHashMap, FxHasher};
use vm::{Region, State};

use super::compare::{Slots, place};
use super::needed::Needed;
use super::reads::Reads;
use super::snapshot::Snapshot;
use super::visit::PointKey;

/// A visit whose continuations are all known.
pub struct Entry {
    pub snapshot: Rc<Snapshot>,
    pub reads: Reads,
    pub needed: Needed,
    pub decisions: Decisions,
    /// What exploring them cost.
    pub work: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryId(u64);

/// Which live registers are terms, from the top frame down.
type Mask = Rc<[bool]>;

#[derive(Default)]
pub struct Entries {
    /// With the number of the bucket.
    by_id: FxHashMap<EntryId, (u64, Entry)>,
    /// Oldest first.
    order: VecDeque<EntryId>,
    next: u64,
    masks: FxHashMap<PointKey, Vec<Mask>>,
    /// By point, mask and values; oldest first.
    buckets: FxHashMap<u64, VecDeque<EntryId>>,
    pub n_kept: u64,
    pub n_dropped: u64,
}

impl Entries {
    /// Keeps an entry, and at most so many in all and beside it.
    pub fn keep(&mut self, key: PointKey, entry: Entry, max_entries: usize, max_in_bucket: usize) {
        let Snapshot { state, slots, .. } = &*entry.snapshot;
        let mask = terms_of(state, slots);
        let Some(hash) = values_under(key, &mask, state, slots) else { return };
        let masks = self.masks.entry(key).or_default();
        if !masks.contains(&mask) {
            masks.push(mask);
        }
        let id = EntryId(self.next);
        self.next += 1;
        self.n_kept += 1;
        self.by_id.insert(id, (hash, entry));
        self.order.push_back(id);
        let bucket = self.buckets.entry(hash).or_default();
        bucket.push_back(id);
        if bucket.len() > max_in_bucket
            && let Some(oldest) = bucket.pop_front()
        {
            self.n_dropped += u64::from(self.by_id.remove(&oldest).is_some());
        }
        while self.by_id.len() > max_entries {
            let Some(oldest) = self.order.pop_front() else { break };
            self.drop_oldest(oldest);
        }
        if self.order.len() > 2 * max_entries {
            self.order.retain(|id| self.by_id.contains_key(id));
        }
    }

    fn drop_oldest(&mut self, oldest: EntryId) {
        let Some((hash, _)) = self.by_id.remove(&oldest) else { return };
        self.n_dropped += 1;
        if let Some(bucket) = self.buckets.get_mut(&hash) {
            bucket.retain(|id| *id != oldest);
            if bucket.is_empty() {
                self.buckets.remove(&hash);
            }
        }
    }

    /// Those that a state may be like, the newest first, and how many masks were tried.
    pub fn like(&self, key: PointKey, state: &State, slots: &Slots) -> (Vec<EntryId>, usize) {
        let Some(masks) = self.masks.get(&key) else { return (Vec::new(), 0) };
        let mut found = Vec::new();
        for mask in masks {
            let Some(hash) = values_under(key, mask, state, slots) else { continue };
            if let Some(bucket) = self.buckets.get(&hash) {
                found.extend(bucket.iter().rev());
            }
        }
        (found, masks.len())
    }

    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.by_id.get(&id).map(|(_, entry)| entry)
    }

    pub fn clear(&mut self) {
        self.by_id.clear();
        self.order.clear();
        self.masks.clear();
        self.buckets.clear();
    }
}

fn terms_of(state: &State, slots: &Slots) -> Mask {
    let frames = state.frames().zip(slots.iter());
    frames
        .flat_map(|(frame, slots)| slots.iter().map(|slot| frame.regs[*slot as usize].shadow.term().is_some()))
        .collect()
}

/// A number for the values of the registers that are not terms under a mask; `None` when one of them is a term here.
/// Addresses on the stack and the heap count by object, those on the heap by the offset only.
fn values_under(key: PointKey, mask: &[bool], state: &State, slots: &Slots) -> Option<u64> {
    let mut hasher = FxHasher::default();
    (key, mask).hash(&mut hasher);
    let mut is_term = mask.iter();
    for (frame, slots) in state.frames().zip(slots.iter()) {
        for slot in slots.iter() {
            if *is_term.next()? {
                continue;
            }
            let slot = frame.regs[*slot as usize];
            if slot.shadow.term().is_some() {
                return None;
            }
            match place(state, slot.bits) {
                None => slot.bits.hash(&mut hasher),
                Some((object, offset)) if object.region == Region::Stack => (object.idx, offset).hash(&mut hasher),
                Some((_, offset)) => offset.hash(&mut hasher),
            }
        }
    }
    Some(hasher.finish())
}
