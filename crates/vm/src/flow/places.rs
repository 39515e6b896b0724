//! Places in memory: which of them regions write, names for objects across runs, and what freeing and leaking depend on.

use ir::BlockId;
use rustc_hash::FxHashMap;

use super::{INDEX, mix};
use crate::run::Machine;
use crate::{Decides, Label, Object, ObjectId, Region as MemoryRegion, State};

/// Bytes of an object, named so that other runs know them; `len` 0 stands for whether the object is alive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    origin: u64,
    offset: u32,
    len: u32,
}

/// All that one region is known to write, by the names of objects.
#[derive(Default)]
pub(super) struct Written {
    objects: FxHashMap<u64, Reach>,
}

/// What is written of one object.
#[derive(Default)]
struct Reach {
    life: bool,
    /// Starts and ends, ascending; none touches the next.
    bytes: Vec<(u32, u32)>,
}

impl Written {
    /// Whether it was not known.
    pub fn add(&mut self, spot: Spot) -> bool {
        self.objects.entry(spot.origin).or_default().add(spot.offset, spot.len)
    }
}

impl Reach {
    fn add(&mut self, offset: u32, len: u32) -> bool {
        if len == 0 {
            return !std::mem::replace(&mut self.life, true);
        }
        let (mut start, mut end) = (offset, offset + len);
        let first = self.bytes.partition_point(|range| range.1 < start);
        if self.bytes.get(first).is_some_and(|range| range.0 <= start && end <= range.1) {
            return false;
        }
        let past = first + self.bytes[first..].partition_point(|range| range.0 <= end);
        if first < past {
            start = start.min(self.bytes[first].0);
            end = end.max(self.bytes[past - 1].1);
        }
        self.bytes.splice(first..past, [(start, end)]);
        true
    }
}

/// The place of reading in standard input, as if it were an object; no object lies there.
const STDIN: u64 = 8;

/// Words below this stand for no object.
const NEAR_NULL: u64 = 4096;

impl Machine<'_> {
    /// Everything ever written under `key` gets the label.
    pub(super) fn spread(&mut self, state: &mut State, key: u64, label: Label) {
        let Some(flow) = self.watching.flow_mut() else { return };
        flow.closed.insert(key);
        let Some(written) = flow.writes.get_mut(&key).map(std::mem::take) else { return };
        // Order does not matter: a union is a union.
        for (origin, reach) in &written.objects {
            if *origin == STDIN {
                state.stdin_label = self.labels.union(state.stdin_label, label);
            }
            for object in self.named(state, *origin) {
                self.add_label(state, object, reach, label);
            }
        }
        if let Some(flow) = self.watching.flow_mut() {
            flow.writes.insert(key, written);
        }
    }

    /// Live objects of that name.
    fn named(&self, state: &State, origin: u64) -> Vec<ObjectId> {
        let is_named = |object: &ObjectId| state.memory.get(*object).origin == origin;
        if origin & INDEX == 0 {
            return state.memory.find(origin).into_iter().filter(is_named).collect();
        }
        let bases = state.origins.as_ref().and_then(|origins| origins.get(&origin));
        bases
            .into_iter()
            .flat_map(|bases| bases.iter())
            .filter_map(|base| state.memory.find(*base))
            .filter(is_named)
            .collect()
    }

    fn add_label(&mut self, state: &mut State, object: ObjectId, reach: &Reach, label: Label) {
        let found = state.memory.get(object);
        if reach.life {
            let union = self.labels.union(found.life, label);
            if union != found.life {
                state.memory.get_mut(object).life = union;
            }
        }
        let found = state.memory.get(object);
        if reach.bytes.is_empty() {
            return;
        }
        if !found.has_bytes() {
            return;
        }
        let found = if found.is_array() {
            let union = self.labels.union(found.label, label);
            if union != found.label {
                state.memory.get_mut(object).label = union;
            }
            state.memory.get(object)
        } else {
            found
        };
        let mut changed: Vec<(u64, Label)> = Vec::new();
        for (start, end) in &reach.bytes {
            let bytes = u64::from(*start)..u64::from(*end).min(found.size);
            for offset in bytes.filter(|offset| found.array_at(*offset).is_none()) {
                let old = found.byte(offset).1.label();
                let union = self.labels.union(old, label);
                if union != old {
                    changed.push((offset, union));
                }
            }
        }
        if changed.is_empty() {
            return;
        }
        let was_plain = found.is_plain();
        let written = state.memory.get_mut(object);
        for (offset, label) in changed {
            written.set_label(offset, label);
        }
        if was_plain {
            self.tlb.flush();
        }
    }

    /// Before a write: remembers it for all open regions, and says what it depends on beside its value.
    pub(crate) fn note_written(&mut self, state: &State, object: ObjectId, offset: u64, len: u64) -> Label {
        if let Some(track) = &state.top.track {
            let spot = Spot { origin: state.memory.get(object).origin, offset: offset as u32, len: len as u32 };
            let mut keys = &track.keys;
            while let Some(node) = keys {
                if let Some(flow) = self.watching.flow_mut() {
                    flow.learn(node.key, spot);
                }
                keys = &node.next;
            }
        }
        state.top.control
    }

    /// A write whose place or length depends on `label`: other inputs would have written elsewhere.
    pub(crate) fn scatter(&mut self, state: &mut State, object: ObjectId, offset: u64, len: u64, label: Label) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let key = self.index_here(state);
        let spot = Spot { origin: state.memory.get(object).origin, offset: offset as u32, len: len as u32 };
        if let Some(flow) = self.watching.flow_mut() {
            flow.learn(key, spot);
        }
        self.scatter_nothing(state, label);
    }

    /// A write of no bytes at all because of `label`: other inputs would have written some.
    pub(crate) fn scatter_nothing(&mut self, state: &mut State, label: Label) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let key = self.index_here(state);
        let label = self.labels.union(label, state.top.control);
        self.spread(state, key, label);
    }

    /// A byte of standard input is read: what the place of reading depends on.
    pub(crate) fn note_stdin(&mut self, state: &mut State) -> Label {
        if let Some(track) = &state.top.track {
            let mut keys = &track.keys;
            while let Some(node) = keys {
                if let Some(flow) = self.watching.flow_mut() {
                    flow.learn(node.key, Spot { origin: STDIN, offset: 0, len: 1 });
                }
                keys = &node.next;
            }
            state.stdin_label = self.labels.union(state.stdin_label, state.top.control);
        }
        state.stdin_label
    }

    /// An object came to be: its name, and what its size depends on.
    pub(crate) fn name_object(&mut self, state: &mut State, object: ObjectId, size: Label) {
        if !self.is_tracking() {
            return;
        }
        let mut origin = self.index_here(state);
        if state.depth == 1 && state.top.inst_idx == 0 && state.top.block == BlockId(0) {
            // The program's surroundings are made before its first instruction.
            origin = mix(origin, u64::from(object.idx)) | INDEX;
        }
        let life = self.labels.union(size, state.top.control);
        let found = state.memory.get_mut(object);
        found.origin = origin;
        found.life = if size.is_empty() { Label::EMPTY } else { life };
        let base = found.base;
        let memory = &state.memory;
        let mut bases: Vec<u64> = match state.origins.as_ref().and_then(|origins| origins.get(&origin)) {
            None => Vec::new(),
            Some(bases) => bases
                .iter()
                .copied()
                .filter(|base| memory.find(*base).is_some_and(|twin| memory.get(twin).origin == origin))
                .collect(),
        };
        bases.push(base);
        state.origins.get_or_insert_default().insert(origin, bases.into());
    }

    /// Stack objects from number `mark` on are about to end.
    pub(crate) fn forget_names(&mut self, state: &mut State, mark: u32) {
        if !self.is_tracking() {
            return;
        }
        for idx in mark..state.memory.n_stack_objects() {
            let ended = state.memory.get(ObjectId { region: MemoryRegion::Stack, idx });
            let (origin, base) = (ended.origin, ended.base);
            let left: Vec<u64> = match state.origins.as_ref().and_then(|origins| origins.get(&origin)) {
                None => continue,
                Some(bases) => bases.iter().copied().filter(|other| *other != base).collect(),
            };
            if left.is_empty() {
                state.origins.get_or_insert_default().remove(&origin);
            } else {
                state.origins.get_or_insert_default().insert(origin, left.into());
            }
        }
    }

    /// The object is freed, and whether it is depends on `label` and on control.
    pub(crate) fn note_freed(&mut self, state: &mut State, object: ObjectId, label: Label) {
        if !self.is_tracking() {
            return;
        }
        let control = self.note_written(state, object, 0, 0);
        let life = self.labels.union(label, control);
        let union = self.labels.union(state.memory.get(object).life, life);
        state.memory.get_mut(object).life = union;
        self.scatter(state, object, 0, 0, label);
    }

    /// Whether something leaks depends on every word that is a pointer, or might have been one under other inputs.
    pub(crate) fn depend_on_pointers(&mut self, state: &State) {
        if !self.is_tracking() {
            return;
        }
        let word = usize::from(self.image.pointer_bits() / 8);
        let mut label = Label::EMPTY;
        let is_pointer = |value: u64| value < NEAR_NULL || state.memory.find(value).is_some();
        for region in [MemoryRegion::Global, MemoryRegion::Stack, MemoryRegion::Heap] {
            for (_, object) in state.memory.objects(region) {
                label = self.labels.union(label, object.life);
                label = self.labels.union(label, object.label);
                if object.is_plain() || object.is_array() {
                    label = object.labels().fold(label, |label, other| self.labels.union(label, other));
                    continue;
                }
                let data = object.data();
                for start in (0..data.len().saturating_sub(word - 1)).step_by(word) {
                    let value =
                        data[start..start + word].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                    if is_pointer(value) {
                        let bytes = start as u64..(start + word) as u64;
                        label =
                            bytes.fold(label, |label, offset| self.labels.union(label, object.byte(offset).1.label()));
                    }
                }
            }
        }
        for slot in state.frames().flat_map(|frame| frame.regs.iter()).filter(|slot| is_pointer(slot.bits)) {
            label = self.labels.union(label, slot.shadow.label());
        }
        self.depend(state, label, Decides::Value);
    }

    /// What reading these bytes of an object depends on beyond the bytes' own labels.
    pub(crate) fn whole_label(&mut self, object: &Object) -> Label {
        let mut label = object.label;
        if self.is_tracking() {
            label = object.labels().fold(label, |label, other| self.labels.union(label, other));
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_together() {
        let mut reach = Reach::default();
        assert!(reach.add(4, 4) && reach.add(12, 4) && reach.add(20, 1));
        assert!(!reach.add(5, 2) && !reach.add(4, 4));
        assert!(reach.add(8, 4));
        assert_eq!(reach.bytes, [(4, 16), (20, 21)]);
        assert!(reach.add(0, 30));
        assert_eq!(reach.bytes, [(0, 30)]);
        assert!(reach.add(0, 0) && !reach.add(7, 0));
    }
}
