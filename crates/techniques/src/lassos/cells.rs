//! What a cycle changes, as cells: registers of the cut's frame and scalars in memory, each with a symbol of its own.

use std::collections::VecDeque;

use analysis::{Faults, Liveness, Readers};
use explore::Means;
use ir::{BlockId, FuncId, Module, Reg};
use rustc_hash::{FxHashMap, FxHashSet};
use term::{TermId, Terms, View};
use vm::{Label, Object, ObjectId, Region, State, Value};

use super::walk::{Cut, Shape, Walker, only_settled};

/// Cells beyond which nothing is looked for.
pub const MAX_CELLS: usize = 24;

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    /// Of the top frame.
    Register {
        slot: u32,
        bits: u8,
    },
    Memory {
        object: ObjectId,
        offset: u64,
        n_bytes: u8,
    },
}

/// A spot and the symbol that stands for what it holds at the cut.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub spot: Spot,
    pub symbol: TermId,
    /// How wide the symbol is.
    pub bits: u32,
}

/// What differs between two visits of a cut.
#[derive(Default)]
pub struct Changes {
    pub spots: Vec<Spot>,
    /// Objects that have changed in a way that no cell can stand for: under symbolic indices, or bytes nobody had written.
    pub blurred: Vec<ObjectId>,
    /// Something else has changed that no cell can stand for: a pointer, what is allocated.
    pub has_others: bool,
}

impl Changes {
    /// Whether cells stand for everything that has changed, beside what may be blurred.
    pub fn are_cells(&self, blur: Blur) -> bool {
        !self.has_others && (blur == Blur::Objects || self.blurred.is_empty())
    }
}

/// Whether a round may be looked at without knowing what is in some objects: right where nothing depends on that, such as
/// a buffer that is only written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blur {
    Nothing,
    Objects,
}

/// How symbols begin that stand for a byte of an object that may hold anything.
const ANYTHING: &str = "\u{0}lasso-any!";
/// Bytes of an object up to which it may hold anything.
const MAX_BLURRED: u64 = 4096;

/// Lets every byte of these objects be anything. `None` where one is too large or not of bytes.
pub fn blur(objects: &[ObjectId], state: &mut State, terms: &mut Terms) -> Option<()> {
    for id in objects {
        let found = find(state, *id)?;
        if found.size > MAX_BLURRED || !found.has_bytes() || found.is_piled() {
            return None;
        }
        for offset in 0..found.size {
            let symbol = terms.symbol(&format!("{ANYTHING}{:?}{}+{offset}", id.region, id.idx), 8);
            state.memory.get_mut(*id).set_term(terms, offset, symbol, Label::EMPTY);
        }
    }
    Some(())
}

/// Whether a term depends on what is in an object that may hold anything.
pub fn is_blurred(terms: &Terms, t: TermId) -> bool {
    terms.symbols(t).iter().any(|symbol| terms.symbol_name(*symbol).starts_with(ANYTHING))
}

impl Spot {
    pub fn bits(self) -> u32 {
        match self {
            Spot::Register { bits, .. } => u32::from(bits),
            Spot::Memory { n_bytes, .. } => u32::from(n_bytes) * 8,
        }
    }

    /// The object it lies in.
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Spot::Register { .. } => None,
            Spot::Memory { object, .. } => Some(object),
        }
    }

    /// The value there; `None` in an object that is gone or in array mode.
    pub fn read(self, terms: &mut Terms, state: &State) -> Option<TermId> {
        match self {
            Spot::Register { slot, bits } => {
                let value = state.top.value(Reg::new(slot as usize), bits);
                let term = value.to_term(terms, u32::from(bits));
                (terms.width(term) == u32::from(bits)).then_some(term)
            }
            Spot::Memory { object, offset, n_bytes } => {
                let found = find(state, object)?;
                if !found.contains(found.base + offset, u64::from(n_bytes)) || !found.has_bytes() {
                    return None;
                }
                let bytes: Vec<TermId> =
                    (0..u64::from(n_bytes)).map(|byte| found.byte_term(terms, offset + byte)).collect();
                Some(terms.concat_bytes(&bytes))
            }
        }
    }

    fn write(self, terms: &mut Terms, state: &mut State, value: TermId) {
        match self {
            Spot::Register { slot, bits } => {
                state.top.set(Reg::new(slot as usize), bits, Value::of_term(terms, value, Label::EMPTY));
            }
            Spot::Memory { object, offset, n_bytes } => {
                for byte in 0..u64::from(n_bytes) {
                    let term = terms.byte(value, byte as u32);
                    state.memory.get_mut(object).set_term(terms, offset + byte, term, Label::EMPTY);
                }
            }
        }
    }
}

fn find(state: &State, object: ObjectId) -> Option<&Object> {
    state.memory.objects(object.region).nth(object.idx as usize).map(|(_, found)| &**found)
}

/// Puts a symbol into every spot. The symbols' names say where they belong, so that one cycle is always the same terms.
pub fn generalise(spots: &[Spot], cut: &Cut, state: &mut State, means: &mut Means) -> Vec<Cell> {
    let terms = &mut means.machine.terms;
    let mut cells = Vec::with_capacity(spots.len());
    for spot in spots {
        let place = match spot {
            Spot::Register { slot, .. } => format!("r{slot}"),
            Spot::Memory { object, offset, .. } => format!("{:?}{}+{offset}", object.region, object.idx),
        };
        let name = format!("\u{0}lasso!{}:{}!{place}:{}", cut.func.0, cut.block.0, spot.bits());
        let symbol = terms.symbol(&name, spot.bits());
        spot.write(terms, state, symbol);
        cells.push(Cell { spot: *spot, symbol, bits: spot.bits() });
    }
    cells
}

/// What is known about functions, made when first asked for.
#[derive(Default)]
pub struct Registers {
    live: FxHashMap<FuncId, Liveness>,
    widths: FxHashMap<(FuncId, BlockId, Reg), u8>,
}

impl Registers {
    /// The registers that something depends on which is executed from the beginning of a block on.
    fn live_in(&mut self, module: &Module, func: FuncId, block: BlockId, faults: Faults) -> Vec<(u32, u8)> {
        let readers = Readers::Observable { faults };
        let live = self.live.entry(func).or_insert_with(|| Liveness::for_readers(module, func, readers));
        let slots: Vec<Reg> = live.live_in(block).iter().collect();
        let widths = &mut self.widths;
        let mut width =
            |reg: Reg| *widths.entry((func, block, reg)).or_insert_with(|| width_at(module, func, block, reg));
        slots.into_iter().map(|reg| (reg.idx() as u32, width(reg))).collect()
    }
}

/// The width of the value that a register holds at the beginning of a block, by the first that reads it; 0 where nobody does.
/// Values of several widths share registers, and moves copy whole slots, so only a reader knows.
fn width_at(module: &Module, func: FuncId, block: BlockId, reg: Reg) -> u8 {
    let function = module.function(func);
    let pointer_bits = module.target.pointer_bits();
    let mut seen = FxHashSet::default();
    let mut waiting = VecDeque::from([(block, reg)]);
    while let Some((block, reg)) = waiting.pop_front() {
        if !seen.insert((block, reg)) {
            continue;
        }
        let block = function.block(block);
        let (mut found, mut is_over) = (0, false);
        for inst in &block.insts {
            function.for_each_use(inst, pointer_bits, |used, bits| found = if used == reg { bits } else { found });
            function.for_each_def(inst, pointer_bits, |made, _| is_over |= made == reg);
            if found != 0 || is_over {
                break;
            }
        }
        if found == 0 && !is_over {
            let note = |used: Reg, bits: u8| found = if used == reg { bits } else { found };
            function.for_each_terminator_use(&block.terminator, pointer_bits, note);
        }
        if found != 0 {
            return found;
        }
        if is_over {
            continue;
        }
        for edge in block.terminator.edges() {
            let mut holding = vec![reg];
            for step in &edge.moves {
                let is_copied = holding.contains(&step.src);
                holding.retain(|held| *held != step.dst);
                if is_copied {
                    holding.push(step.dst);
                }
            }
            waiting.extend(holding.into_iter().map(|held| (edge.target, held)));
        }
    }
    0
}

/// Takes the one address that a symbolic pointer in a register has under the walker's input. The walk is about this one: as
/// a cell, a pointer could be anything.
pub fn pin_pointers(cut: &Cut, walker: &mut Walker, registers: &mut Registers, means: &mut Means) {
    let image = means.machine.image;
    let faults = Faults { overflow: image.checks.overflow, shift: image.checks.shift };
    for (slot, _) in registers.live_in(&image.module, cut.func, cut.block, faults) {
        let reg = Reg::new(slot as usize);
        let Some(term) = walker.state.top.regs[slot as usize].shadow.term() else { continue };
        let terms = &mut means.machine.terms;
        if terms.width(term) != u32::from(image.pointer_bits()) {
            continue;
        }
        let value = means.eval.eval(terms, &walker.input, term);
        if value == 0 || walker.state.memory.find(value as u64).is_none() {
            continue;
        }
        let constant = terms.constant(value, terms.width(term));
        let is_there = terms.eq(term, constant);
        walker.restrict(means, is_there);
        walker.state.top.set(reg, image.pointer_bits(), Value::concrete(value));
    }
}

/// What differs at the cut between an earlier and a later visit, but in the objects left out.
pub fn changes(
    cut: &Cut,
    earlier: &State,
    later: &State,
    left_out: &[ObjectId],
    registers: &mut Registers,
    means: &mut Means,
) -> Changes {
    let image = means.machine.image;
    let faults = Faults { overflow: image.checks.overflow, shift: image.checks.shift };
    let mut changes = Changes::default();
    if !has_same_shape(cut, earlier, later) {
        changes.has_others = true;
        return changes;
    }
    for (slot, bits) in registers.live_in(&image.module, cut.func, cut.block, faults) {
        let (was, is) = (earlier.top.regs[slot as usize], later.top.regs[slot as usize]);
        let same_bits = was.shadow.term().is_some() || was.bits == is.bits;
        if was.shadow.term() == is.shadow.term() && same_bits {
            continue;
        }
        // A term knows its width; what is known about the register may be that of another value in it.
        let terms = &means.machine.terms;
        let known = [was, is].iter().find_map(|slot| slot.shadow.term()).map(|term| terms.width(term) as u8);
        let bits = known.unwrap_or(bits);
        if !(1..=64).contains(&bits) || was.bits.max(is.bits) & !(term::fold::mask(u32::from(bits)) as u64) != 0 {
            changes.has_others = true;
            continue;
        }
        let is_pointer = bits == image.pointer_bits() && [was, is].iter().any(|slot| points(earlier, later, slot.bits));
        match is_pointer {
            true => changes.has_others = true,
            false => changes.spots.push(Spot::Register { slot, bits }),
        }
    }
    for region in [Region::Global, Region::Stack, Region::Heap, Region::Input] {
        memory_changes(cut, region, earlier, later, left_out, &mut changes, means);
    }
    changes
}

fn points(earlier: &State, later: &State, value: u64) -> bool {
    value != 0 && (earlier.memory.find(value).is_some() || later.memory.find(value).is_some())
}

/// Whether nothing differs but values: no field of a state may be left out here without a reason.
fn has_same_shape(cut: &Cut, earlier: &State, later: &State) -> bool {
    let State {
        // Compared by `changes`.
        top: _,
        memory: _,
        // Frames below the cut's are not touched before it is left.
        callers: _,
        depth,
        inputs,
        answers,
        jumps,
        threads,
        is_exiting,
        is_supposing,
        rounding,
        stdin_read,
        pause_at: _,
        n_inputs_unseen,
        // A stack that grows is what a recursion does; a loop comes back to its frame.
        stack_bytes,
        steps: _,
        // Only names what is found in memory that nobody wrote.
        n_allocations: _,
        n_unknown,
        told_unwritten: _,
        output: _,
        // Belong to flow, which is not tracked here.
        origins: _,
        left_guard: _,
        stdin_label: _,
        // Where sizes are terms, which does not go with this.
        is_at_rounds: _,
        facts: _,
        slots: _,
    } = earlier;
    let same_jumps = match (jumps, &later.jumps) {
        (None, None) => true,
        (Some(earlier), Some(later)) => std::rc::Rc::ptr_eq(earlier, later),
        _ => false,
    };
    let same_stack = match cut.shape {
        Shape::Loop => *depth == later.depth && *stack_bytes == later.stack_bytes,
        Shape::Recursion => true,
    };
    same_jumps
        && same_stack
        // Another thread may change anything.
        && threads.is_none()
        && later.threads.is_none()
        && answers.is_empty()
        && later.answers.is_empty()
        // What a round reads of memory that nobody wrote may be anything in each.
        && only_settled(later, inputs.len())
        && *is_exiting == later.is_exiting
        && *is_supposing == later.is_supposing
        && *rounding == later.rounding
        && *stdin_read == later.stdin_read
        && *n_inputs_unseen == later.n_inputs_unseen
        // A value made up on the way may be another one in the next round.
        && *n_unknown == later.n_unknown
        && earlier.top.variadic == later.top.variadic
}

fn memory_changes(
    cut: &Cut,
    region: Region,
    earlier: &State,
    later: &State,
    left_out: &[ObjectId],
    changes: &mut Changes,
    means: &mut Means,
) {
    let n_earlier = earlier.memory.objects(region).count();
    let n_later = later.memory.objects(region).count();
    if cut.shape == Shape::Loop || region != Region::Stack {
        // What was allocated on the way must be gone again: otherwise memory is used up one day.
        let has_grown = n_later < n_earlier
            || later.memory.objects(region).skip(n_earlier).any(|(_, new)| new.liveness == vm::Liveness::Alive);
        changes.has_others |= has_grown;
    }
    let pairs = earlier.memory.objects(region).zip(later.memory.objects(region));
    for ((id, was), (_, is)) in pairs {
        if std::rc::Rc::ptr_eq(was, is) {
            continue;
        }
        if was.liveness != is.liveness || was.size != is.size {
            changes.has_others = true;
            continue;
        }
        if !was.has_bytes() || left_out.contains(&id) {
            continue;
        }
        // Where bytes are looked up in a term, the terms must be the same.
        if was.is_array() || is.is_array() {
            let terms = &mut means.machine.terms;
            if was.as_array(terms) != is.as_array(terms) {
                changes.blurred.push(id);
            }
            continue;
        }
        let mut offset = 0;
        while offset < was.size {
            if was.byte(offset) == is.byte(offset) && was.is_unwritten(offset) == is.is_unwritten(offset) {
                offset += 1;
                continue;
            }
            let (start, n_bytes) = scalar_at(was, is, offset, means);
            let spot = Spot::Memory { object: id, offset: start, n_bytes };
            let holds_pointer = u32::from(n_bytes) * 8 == u32::from(means.machine.image.pointer_bits())
                && [was, is]
                    .iter()
                    .any(|object| concrete(object, start, n_bytes).is_some_and(|value| points(earlier, later, value)));
            if holds_pointer {
                changes.has_others = true;
            } else if was.is_unwritten(offset) || is.is_unwritten(offset) {
                changes.blurred.push(id);
                break;
            } else {
                changes.spots.push(spot);
            }
            offset = start + u64::from(n_bytes);
        }
    }
}

fn concrete(object: &Object, offset: u64, n_bytes: u8) -> Option<u64> {
    let mut bytes = (0..u64::from(n_bytes)).rev().map(|byte| object.concrete_byte(offset + byte));
    bytes.try_fold(0, |value, byte| Some(value << 8 | u64::from(byte?)))
}

/// The scalar that a changed byte belongs to: by the object's type, by the value that was stored there, or by alignment.
/// Where it is taken for too wide or too narrow a set is harder to find, never wrong.
fn scalar_at(was: &Object, is: &Object, offset: u64, means: &Means) -> (u64, u8) {
    let module = &means.machine.image.module;
    if was.ty.is_some() && was.size <= 4096 {
        let scalars = vm::scalars(module, was.ty, was.size);
        let holding = scalars.iter().find(|(start, n)| (*start..start + u64::from(*n)).contains(&offset));
        if let Some(scalar) = holding {
            return *scalar;
        }
    }
    let terms = &means.machine.terms;
    for object in [is, was] {
        let Some(term) = object.byte(offset).1.term() else { continue };
        if let View::Extract { arg, lo } = terms.view(term) {
            let (bits, lo) = (terms.width(arg), u64::from(lo));
            let fits = matches!(bits, 16 | 32 | 64) && lo.is_multiple_of(8) && lo / 8 <= offset;
            if fits && offset - lo / 8 + u64::from(bits / 8) <= was.size {
                return (offset - lo / 8, (bits / 8) as u8);
            }
        }
    }
    for n_bytes in [8, 4] {
        let start = offset - offset % n_bytes;
        let is_whole = start + n_bytes <= was.size;
        let looks_wide = || {
            let value = |object| concrete(object, start, 8).unwrap_or(0);
            means.machine.image.pointer_bits() == 64
                && (value(was) >> 32 != 0 || value(is) >> 32 != 0)
                && (value(was) >> 40 != 0 || value(is) >> 40 != 0)
        };
        if is_whole && (n_bytes == 4 || looks_wide()) {
            return (start, n_bytes as u8);
        }
    }
    (offset, 1)
}
