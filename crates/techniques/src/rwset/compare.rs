//! Whether a new state can do no more than an earlier one, as far as the earlier one's continuations looked.
//!
//! Both stand at the same point. What must agree is: the values of live registers and of the bytes in the read set, the
//! sizes and lives of objects that pointers among them lead to, and the few scalars of a state. Addresses of the stack
//! and the heap depend on what was called and allocated before, so a pointer is compared by object and offset, and
//! objects of the two heaps are paired off as pointers to them are met.
//!
//! Where the earlier value is symbolic, the new one may be any value the earlier one could have had. A renaming of the earlier
//! symbols into terms of the new state is guessed from the pairs of values. The solver must then agree that the new path
//! condition implies two things: all the values are equal, and they satisfy the earlier constraints, whatever the symbols are
//! that are not read any more (see `project`). Constraints on other symbols are satisfiable on their own and say nothing
//! about what is read.
//!
//! While flow is tracked, labels must agree wherever values do. So must the names that flow gives to things, and what it says
//! control depends on. Then every decision, write and ending that follows is noted with the labels it was noted with before.

use std::rc::Rc;
use std::sync::Arc;

use analysis::Faults;
use explore::Means;
use rustc_hash::FxHashMap;
use term::TermId;
use vm::{Frame, InputRecord, Object, ObjectId, ObjectKind, Ranges, Region, Shadow, State};

use super::live::Live;
use super::needed::Needed;
use super::reads::Reads;
use super::snapshot::{Seen, Snapshot};
use super::symbols::symbols_cover;
use super::visit::PointKey;

/// For objects on the earlier state's heap those of the new one's.
pub type Paired = FxHashMap<ObjectId, ObjectId>;

/// How a new state is covered.
pub struct Covered {
    pub paired: Paired,
    /// The new state's constraints that this relies on.
    pub relied_on: Vec<TermId>,
}

/// The live registers of each frame.
pub fn live_slots(key: PointKey, state: &State, live: &mut Live, means: &Means) -> Rc<Slots> {
    let image = means.machine.image;
    let faults = Faults { overflow: image.checks.overflow, shift: image.checks.shift };
    live.at(key, &image.module, state, faults)
}

pub type Slots = Vec<Rc<[u32]>>;

/// The cheap test that most comparisons end with: whether some live register rules out that `old` covers `new`.
pub fn is_ruled_out(old: &State, new: &State, slots: &[Rc<[u32]>]) -> bool {
    if old.depth != new.depth {
        return true;
    }
    let differs = |(old_frame, new_frame): (&Frame, &Frame), slots: &Rc<[u32]>| {
        old_frame.func != new_frame.func
            || slots.iter().any(|slot| {
                let (was, is) = (old_frame.regs[*slot as usize], new_frame.regs[*slot as usize]);
                was.shadow.term().is_none()
                    && (is.shadow.term().is_some() || was.bits != is.bits && !old.memory.is_moving(was.bits))
            })
    };
    old.frames().zip(new.frames()).zip(slots).any(|(frames, slots)| differs(frames, slots))
}

/// Why a state does not cover another, in the order it is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Miss {
    /// There is none to compare with.
    Nothing,
    Registers,
    /// Frames, objects on the stack, or what a state has one of.
    Shape,
    Memory,
    /// The new state's own input is one the earlier state does not have.
    Values,
    /// The solver does not confirm that every input is one it had.
    Unproved,
}

/// The pairing under which `new` can do no more than `old`, or why there is none; and how many terms were looked at.
pub fn covers(
    old: &Snapshot,
    reads: &Reads,
    needed: &Needed,
    new: Seen,
    means: &mut Means,
) -> (Result<Covered, Miss>, usize) {
    if is_ruled_out(&old.state, new.state, &old.slots) {
        return (Err(Miss::Registers), 0);
    }
    if !same_shape(&old.state, new.state) {
        return (Err(Miss::Shape), 0);
    }
    let image = means.machine.image;
    let pointer_bytes = u64::from(image.module.target.pointer_bytes);
    let mut comparison = Comparison {
        old: &old.state,
        new: new.state,
        pointer_bytes,
        pairs: Vec::new(),
        paired: FxHashMap::default(),
        paired_back: FxHashMap::default(),
        found: Vec::new(),
        is_tracked: is_tracked(&old.state),
    };
    if comparison.registers(&old.slots, means).is_none() {
        return (Err(Miss::Registers), comparison.pairs.len());
    }
    if comparison.memory(reads, means).is_none() {
        return (Err(Miss::Memory), comparison.pairs.len());
    }
    let Comparison { mut pairs, paired, .. } = comparison;
    pairs.sort_unstable();
    pairs.dedup();
    let (relied_on, n_terms) = symbols_cover(old, needed, new, &pairs, &paired, means);
    (relied_on.map(|relied_on| Covered { paired, relied_on }), n_terms)
}

/// Same place, same frames, same scalars. Every field of a state is either compared or cannot matter.
fn same_shape(old: &State, new: &State) -> bool {
    let State {
        top: _,
        callers: _,
        depth,
        memory,
        // What was asked for so far is in memory, in registers and in the condition. What comes next may depend on it where
        // others decide what an input looks like.
        inputs,
        answers,
        jumps,
        threads,
        is_exiting,
        is_supposing,
        rounding,
        stdin_read,
        stack_bytes,
        pause_at,
        n_inputs_unseen,
        // A budget that steps use up cuts a path, and that is told.
        steps: _,
        // Only names come from these.
        n_allocations: _,
        n_unknown: _,
        // What an earlier path told is told.
        told_unwritten: _,
        output: _,
        // Where objects of a name lie: those that are compared have the same names.
        origins: _,
        left_guard,
        stdin_label,
        // Where sizes are terms, which does not go with this.
        is_at_rounds: _,
        facts: _,
        // Techniques that go with this one keep there what they know about the past.
        slots: _,
    } = old;
    let same_jumps = match (jumps, &new.jumps) {
        (None, None) => true,
        (Some(old), Some(new)) => Rc::ptr_eq(old, new),
        _ => false,
    };
    *depth == new.depth
        && same_jumps
        // What parked threads will read and write is not compared.
        && threads.is_none()
        && new.threads.is_none()
        && answers.is_empty()
        && new.answers.is_empty()
        && *is_exiting == new.is_exiting
        && *is_supposing == new.is_supposing
        && *rounding == new.rounding
        && *stdin_read == new.stdin_read
        && *stack_bytes == new.stack_bytes
        && *pause_at == new.pause_at
        && *n_inputs_unseen == new.n_inputs_unseen
        && *left_guard == new.left_guard
        && *stdin_label == new.stdin_label
        && (!is_tracked(old) || inputs.len() == new.inputs.len() && inputs.iter().zip(new.inputs.iter()).all(same_input))
        && memory.n_stack_objects() == new.memory.n_stack_objects()
        && old.frames().zip(new.frames()).all(|(old, new)| same_frame(old, new))
        && old.memory.objects(Region::Stack).zip(new.memory.objects(Region::Stack)).all(|(old, new)| {
            Rc::ptr_eq(old.1, new.1)
                || old.1.size == new.1.size
                    && old.1.ty == new.1.ty
                    && old.1.kind == new.1.kind
                    && same_in_flow(old.1, new.1)
        })
}

fn same_frame(old: &Frame, new: &Frame) -> bool {
    // Registers and the variadic area are compared by value, later.
    let Frame { func, block, inst_idx, regs: _, stack_mark, variadic: _, returns, control, track, slots: _ } = old;
    let same_track = match (track, &new.track) {
        (None, None) => true,
        (Some(old), Some(new)) => old.is_same(new),
        _ => false,
    };
    same_track
        && *func == new.func
        && *block == new.block
        && *inst_idx == new.inst_idx
        && *stack_mark == new.stack_mark
        && *returns == new.returns
        && *control == new.control
}

struct Comparison<'a> {
    old: &'a State,
    new: &'a State,
    pointer_bytes: u64,
    /// Terms that must have the same value.
    pairs: Vec<(TermId, TermId)>,
    paired: Paired,
    paired_back: Paired,
    /// Paired but not looked into yet.
    found: Vec<ObjectId>,
    is_tracked: bool,
}

impl Comparison<'_> {
    fn registers(&mut self, slots: &[Rc<[u32]>], means: &mut Means) -> Option<()> {
        for ((old, new), slots) in self.old.frames().zip(self.new.frames()).zip(slots) {
            self.words(old.variadic, new.variadic)?;
            for slot in slots.iter() {
                let (old, new) = (old.regs[*slot as usize], new.regs[*slot as usize]);
                match self.shadows(old.shadow, new.shadow)? {
                    Kind::Concrete => self.words(old.bits, new.bits)?,
                    Kind::Terms(old, Some(new)) => self.pairs.push((old, new)),
                    Kind::Terms(old, None) => {
                        let terms = &mut means.machine.terms;
                        let width = terms.width(old);
                        if width > 64 {
                            return None;
                        }
                        let new = terms.constant(u128::from(new.bits), width);
                        self.pairs.push((old, new));
                    }
                }
            }
        }
        Some(())
    }

    fn shadows(&self, old: Shadow, new: Shadow) -> Option<Kind> {
        if old.label() != new.label() {
            return None;
        }
        match (old.term(), new.term()) {
            (None, None) => Some(Kind::Concrete),
            (None, Some(_)) => None,
            // A symbol may mean several objects where a value means one: what is decided by it may depend on other inputs.
            (Some(_), None) if self.is_tracked => None,
            (Some(old), new) => Some(Kind::Terms(old, new)),
        }
    }

    /// Two concrete words: equal, or pointers to the same place of paired objects.
    fn words(&mut self, old: u64, new: u64) -> Option<()> {
        let (from, to) = (place(self.old, old), place(self.new, new));
        match (from, to) {
            (None, None) => (old == new).then_some(()),
            (Some((old, at)), Some((new, new_at))) if at == new_at => self.pair(old, new),
            _ => None,
        }
    }

    fn pair(&mut self, old: ObjectId, new: ObjectId) -> Option<()> {
        if old.region != new.region {
            return None;
        }
        if old.region != Region::Heap {
            return (old == new).then_some(());
        }
        match (self.paired.get(&old), self.paired_back.get(&new)) {
            (Some(known), Some(_)) => return (*known == new).then_some(()),
            (None, None) => {}
            _ => return None,
        }
        if !same_outside(self.old.memory.get(old), self.new.memory.get(new)) {
            return None;
        }
        self.paired.insert(old, new);
        self.paired_back.insert(new, old);
        self.found.push(old);
        Some(())
    }

    fn memory(&mut self, reads: &Reads, means: &mut Means) -> Option<()> {
        for (object, ranges) in reads.iter().filter(|(object, _)| object.region != Region::Heap) {
            if object.region == Region::Stack && object.idx >= self.old.memory.n_stack_objects() {
                continue;
            }
            self.bytes(object, object, ranges, means)?;
        }
        loop {
            while let Some(old) = self.found.pop() {
                if let Some(ranges) = reads.get(old) {
                    let new = self.paired[&old];
                    self.bytes(old, new, ranges, means)?;
                }
            }
            // Read, but not by any pointer met: then it must be the very same object.
            let (n_old, n_new) = (self.old.memory.n_heap_objects(), self.new.memory.n_heap_objects());
            let is_open = |object: &ObjectId| object.region == Region::Heap && object.idx < n_old;
            let mut rest = reads.iter().map(|(object, _)| object).filter(is_open);
            match rest.find(|object| !self.paired.contains_key(object)) {
                None => return Some(()),
                Some(object) if object.idx < n_new => self.pair(object, object)?,
                Some(_) => return None,
            }
        }
    }

    fn bytes(&mut self, old_id: ObjectId, new_id: ObjectId, ranges: &Ranges, means: &mut Means) -> Option<()> {
        let (old, new) = (self.old.memory.get(old_id).clone(), self.new.memory.get(new_id).clone());
        if !same_outside(&old, &new) {
            return None;
        }
        if old.kind == ObjectKind::Constant || !old.has_bytes() {
            return Some(());
        }
        if old.is_array() || new.is_array() {
            // Bytes nobody wrote have no term yet.
            if !old.is_written(0..old.size) || !new.is_written(0..new.size) {
                return None;
            }
            let terms = &mut means.machine.terms;
            let pair = (old.as_array(terms), new.as_array(terms));
            self.pairs.push(pair);
            return Some(());
        }
        for (from, to) in ranges.iter() {
            let to = to.min(old.size);
            let mut at = from;
            while at < to {
                at += self.at(&old, &new, at, to, means)?;
            }
        }
        Some(())
    }

    /// Compares what is at an offset; returns how many bytes that were.
    fn at(&mut self, old: &Object, new: &Object, at: u64, end: u64, means: &mut Means) -> Option<u64> {
        if old.is_unwritten(at) != new.is_unwritten(at) {
            return None;
        }
        let ((old_byte, old_shadow), (new_byte, new_shadow)) = (old.byte(at), new.byte(at));
        match self.shadows(old_shadow, new_shadow)? {
            Kind::Terms(old, new) => {
                let new = new.unwrap_or_else(|| means.machine.terms.byte_constant(new_byte));
                self.pairs.push((old, new));
            }
            Kind::Concrete => {
                if let Some((old, new)) = self.pointers(old, new, at, end) {
                    self.words(old, new)?;
                    return Some(self.pointer_bytes);
                }
                if old_byte != new_byte {
                    return None;
                }
            }
        }
        Some(1)
    }

    /// The words at an offset, if one of them is a pointer to something that may lie elsewhere in the other state.
    fn pointers(&self, old: &Object, new: &Object, at: u64, end: u64) -> Option<(u64, u64)> {
        let after = at + self.pointer_bytes;
        if after > end {
            return None;
        }
        let word = |object: &Object| {
            let mut bytes = [0u8; 8];
            object.read_plain(at, &mut bytes[..self.pointer_bytes as usize]);
            u64::from_le_bytes(bytes)
        };
        let (old_word, new_word) = (word(old), word(new));
        if !self.old.memory.is_moving(old_word) && !self.new.memory.is_moving(new_word) {
            return None;
        }
        let is_concrete = |object: &Object| (at..after).all(|at| object.concrete_byte(at).is_some());
        let is_pointer = place(self.old, old_word).is_some() || place(self.new, new_word).is_some();
        (is_pointer && is_concrete(old) && is_concrete(new)).then_some((old_word, new_word))
    }
}

enum Kind {
    Concrete,
    /// The earlier term, and the new one where it is one.
    Terms(TermId, Option<TermId>),
}

/// What can be known about an object without reading its bytes.
fn same_outside(old: &Rc<Object>, new: &Rc<Object>) -> bool {
    Rc::ptr_eq(old, new)
        || old.size == new.size
            && old.kind == new.kind
            && old.liveness == new.liveness
            && old.ty == new.ty
            && same_in_flow(old, new)
}

/// Whether flow knows the objects by one name, and they depend on the same inputs; so it is where no flow is tracked.
fn same_in_flow(old: &Object, new: &Object) -> bool {
    old.origin == new.origin && old.life == new.life && old.label == new.label
}

fn is_tracked(state: &State) -> bool {
    state.top.track.is_some()
}

fn same_input((old, new): (&Arc<InputRecord>, &Arc<InputRecord>)) -> bool {
    Arc::ptr_eq(old, new) || old.origin == new.origin && old.name == new.name
}

/// The object on the stack or the heap that a word points into, just behind or just before, and where.
pub fn place(state: &State, word: u64) -> Option<(ObjectId, u64)> {
    if !state.memory.is_moving(word) {
        return None;
    }
    let object = state.memory.find(word).or_else(|| state.memory.near(word))?;
    (object.region != Region::Global).then(|| (object, word.wrapping_sub(state.memory.get(object).base)))
}
