//! Places in memory: which of them regions write, names for objects across runs, and what freeing and leaking depend on.

use ir::BlockId;

use super::{INDEX, mix};
use crate::run::Machine;
use crate::{Decides, Label, Object, ObjectId, Region as MemoryRegion, State};

/// Bytes of an object, named so that other runs know them; `len` 0 stands for whether the object is alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Spot {
    origin: u64,
    offset: u32,
    len: u32,
}

/// The place of reading in standard input, as if it were an object; no object lies there.
const STDIN: u64 = 8;

/// Words below this stand for no object.
const NEAR_NULL: u64 = 4096;

impl Machine<'_> {
    /// Everything ever written under `key` gets the label.
    pub(super) fn spread(&mut self, state: &mut State, key: u64, label: Label) {
        let Some(flow) = &mut self.flow else { return };
        flow.closed.insert(key);
        let Some(spots) = flow.writes.get(&key) else { return };
        // Order does not matter: a union is a union.
        let spots: Vec<Spot> = spots.iter().copied().collect();
        for spot in spots {
            if spot.origin == STDIN {
                state.stdin_label = self.labels.union(state.stdin_label, label);
            }
            for object in self.named(state, spot.origin) {
                self.add_label(state, object, spot, label);
            }
        }
    }

    /// Live objects of that name.
    fn named(&self, state: &State, origin: u64) -> Vec<ObjectId> {
        let is_named = |object: &ObjectId| state.memory.get(*object).origin == origin;
        if origin & INDEX == 0 {
            return state.memory.find(origin).into_iter().filter(is_named).collect();
        }
        let bases = state.origins.get(&origin);
        bases
            .into_iter()
            .flat_map(|bases| bases.iter())
            .filter_map(|base| state.memory.find(*base))
            .filter(is_named)
            .collect()
    }

    fn add_label(&mut self, state: &mut State, object: ObjectId, spot: Spot, label: Label) {
        let found = state.memory.get(object);
        if spot.len == 0 {
            let union = self.labels.union(found.life, label);
            if union != found.life {
                state.memory.get_mut(object).life = union;
            }
            return;
        }
        if found.array().is_some() {
            let union = self.labels.union(found.label, label);
            if union != found.label {
                self.writable(state, object).label = union;
            }
            return;
        }
        if found.data().is_empty() {
            return;
        }
        let was_plain = found.is_plain();
        for offset in u64::from(spot.offset)..(u64::from(spot.offset) + u64::from(spot.len)).min(found.size) {
            let (_, shadow) = state.memory.get(object).byte(offset);
            let union = self.labels.union(shadow.label(), label);
            if union != shadow.label() {
                self.writable(state, object).set_label(offset, union);
            }
        }
        if was_plain && !state.memory.get(object).is_plain() {
            self.tlb.flush();
        }
    }

    /// Before a write: remembers it for all open regions, and says what it depends on beside its value.
    pub(crate) fn note_written(
        &mut self,
        state: &State,
        object: ObjectId,
        offset: u64,
        len: u64,
        label: Label,
    ) -> Label {
        let control = state.top.control;
        if let Some(track) = &state.top.track {
            let spot = Spot { origin: state.memory.get(object).origin, offset: offset as u32, len: len as u32 };
            let mut keys = &track.keys;
            while let Some(node) = keys {
                if let Some(flow) = &mut self.flow {
                    flow.learn(node.key, spot);
                }
                keys = &node.next;
            }
            let whole = self.labels.union(label, control);
            self.note_write(state, whole);
        }
        control
    }

    /// A write whose place or length depends on `label`: other inputs would have written elsewhere.
    pub(crate) fn scatter(&mut self, state: &mut State, object: ObjectId, offset: u64, len: u64, label: Label) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let key = self.index_here(state);
        let spot = Spot { origin: state.memory.get(object).origin, offset: offset as u32, len: len as u32 };
        if let Some(flow) = &mut self.flow {
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
                if let Some(flow) = &mut self.flow {
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
        let mut bases: Vec<u64> = match state.origins.get(&origin) {
            None => Vec::new(),
            Some(bases) => bases
                .iter()
                .copied()
                .filter(|base| memory.find(*base).is_some_and(|twin| memory.get(twin).origin == origin))
                .collect(),
        };
        bases.push(base);
        state.origins.insert(origin, bases.into());
    }

    /// Stack objects from number `mark` on are about to end.
    pub(crate) fn forget_names(&mut self, state: &mut State, mark: u32) {
        if !self.is_tracking() {
            return;
        }
        for idx in mark..state.memory.n_stack_objects() {
            let ended = state.memory.get(ObjectId { region: MemoryRegion::Stack, idx });
            let (origin, base) = (ended.origin, ended.base);
            let left: Vec<u64> = match state.origins.get(&origin) {
                None => continue,
                Some(bases) => bases.iter().copied().filter(|other| *other != base).collect(),
            };
            if left.is_empty() {
                state.origins.remove(&origin);
            } else {
                state.origins.insert(origin, left.into());
            }
        }
    }

    /// The object is freed, and whether it is depends on `label` and on control.
    pub(crate) fn note_freed(&mut self, state: &mut State, object: ObjectId, label: Label) {
        if !self.is_tracking() {
            return;
        }
        let control = self.note_written(state, object, 0, 0, Label::EMPTY);
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
                if object.is_plain() || object.array().is_some() {
                    continue;
                }
                for start in (0..object.data().len().saturating_sub(word - 1)).step_by(word) {
                    let value = object.data()[start..start + word]
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u64::from(*byte));
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
        if self.is_tracking() && object.array().is_none() {
            for offset in 0..object.data().len() as u64 {
                label = self.labels.union(label, object.byte(offset).1.label());
            }
        }
        label
    }
}
