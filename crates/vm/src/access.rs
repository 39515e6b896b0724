//! Reading and writing memory where the fast path does not apply: checks, symbolic bytes, symbolic addresses.

use term::{TermId, View};
use witness::{BugKind, Ending};

use crate::bytes::Moved;
use crate::memory::{INPUTS, LEAST_GAP};
use crate::run::{Machine, Step};
use crate::unwritten::byte_of;
use crate::{
    Access, Answer, Blind, Decides, Effect, Event, Interest, Label, Liveness, ObjectId, ObjectKind, Region, Shadow,
    Sizes, State, Value,
};

/// Objects up to this many bytes are written at a symbolic offset byte by byte; larger ones become arrays.
const SMALL_OBJECT: u64 = 1024;

/// Where in an object. A symbolic offset is known to stay inside.
#[derive(Clone, Copy, Debug)]
pub enum Offset {
    At(u64),
    Symbolic(TermId),
}

/// One byte on its way between objects.
#[derive(Clone, Copy, Debug)]
pub struct Byte {
    pub bits: u8,
    pub shadow: Shadow,
    /// Copied, a byte that nobody wrote stays what it is.
    pub is_written: bool,
}

impl Machine<'_> {
    /// Checks an access and says where it goes.
    pub(crate) fn locate(
        &mut self,
        state: &mut State,
        addr: Value,
        bytes: u64,
        access: Access,
    ) -> Step<(ObjectId, Offset)> {
        let Some(term) = addr.term() else {
            return self.locate_at(state, addr.bits as u64, addr.label(), bytes, access);
        };
        self.depend(state, addr.label(), Decides::Address);
        self.uses_address(state, term)?;
        let answer = self.ask(state, || Effect::Address { addr: term, bytes, access })?;
        let base = match answer {
            Answer::Object(base) => base,
            Answer::At(at) => return self.locate_at(state, at, addr.label(), bytes, access),
            _ => unreachable!("an address is answered with an object"),
        };
        self.depend_on_place(state, base, addr.label());
        let object = match state.memory.find(base).filter(|object| state.memory.get(*object).extent.is_some()) {
            // That it lies inside was part of the question.
            Some(object) => object,
            None => self.locate_concrete(state, base, bytes, access)?,
        };
        let base = self.terms.constant(u128::from(base), u32::from(self.image.pointer_bits()));
        let offset = self.terms.sub(term, base);
        Ok((
            object,
            match self.terms.as_const(offset) {
                Some(offset) => Offset::At(offset as u64),
                None => Offset::Symbolic(self.terms.zext(offset, 64)),
            },
        ))
    }

    fn locate_at(
        &mut self,
        state: &State,
        at: u64,
        label: Label,
        bytes: u64,
        access: Access,
    ) -> Step<(ObjectId, Offset)> {
        self.depend_on_place(state, at, label);
        let object = self.locate_concrete(state, at, bytes, access)?;
        Ok((object, Offset::At(at - state.memory.get(object).base)))
    }

    /// Whether an access is right depends on the address, and on whether and how large the object there is.
    fn depend_on_place(&mut self, state: &State, addr: u64, label: Label) {
        if !self.is_tracking() {
            return;
        }
        let life = match state.memory.find(addr) {
            Some(object) => state.memory.get(object).life,
            None => self.reaching_label(state, addr),
        };
        let label = self.labels.union(label, life);
        if label.is_empty() {
            self.forget_last();
        } else {
            self.depend(state, label, Decides::Address);
        }
    }

    /// Where nothing is now something would be, had an object in front been made larger.
    fn reaching_label(&mut self, state: &State, addr: u64) -> Label {
        let mut label = Label::EMPTY;
        for region in [Region::Stack, Region::Heap] {
            for (_, object) in state.memory.objects(region).filter(|(_, object)| object.base <= addr) {
                label = self.labels.union(label, object.life);
            }
        }
        label
    }

    fn locate_concrete(&mut self, state: &State, addr: u64, bytes: u64, access: Access) -> Step<ObjectId> {
        match state.memory.find(addr).filter(|object| state.memory.get(*object).allows(addr, bytes, access)) {
            Some(object) => {
                self.running.located = Some(object);
                self.check_extent(state, object, addr, bytes, access)?;
                Ok(object)
            }
            None => Err(self.bad_access(state, addr, bytes, access)),
        }
    }

    /// The fault that an access at a concrete address is.
    fn bad_access(&self, state: &State, addr: u64, bytes: u64, access: Access) -> Effect {
        let (kind, message) = self.diagnose(state, addr, bytes, access);
        self.fault_at(state, addr, Some((access, bytes)), kind, message)
    }

    /// A fault at a concrete address. What lies among the inputs may turn out to be larger.
    pub(crate) fn fault_at(
        &self,
        state: &State,
        addr: u64,
        access: Option<(Access, u64)>,
        kind: BugKind,
        message: String,
    ) -> Effect {
        let bug = self.bug(state, kind, message);
        match INPUTS.contains(&addr) {
            true => Effect::Beyond { addr, access, bug: Box::new(bug) },
            false => Effect::Ended(Box::new(Ending::Bug(bug))),
        }
    }

    /// What is wrong with an access that does not lie inside one live object.
    pub fn diagnose(&self, state: &State, addr: u64, bytes: u64, access: Access) -> (BugKind, String) {
        let (verb, out_of_bounds) = match access {
            Access::Read => ("read", BugKind::OutOfBoundsRead),
            Access::Write => ("write", BugKind::OutOfBoundsWrite),
        };
        let plural = if bytes == 1 { "" } else { "s" };
        if addr < 4096 {
            return (BugKind::NullDereference, format!("{verb} of {bytes} byte{plural} through a null pointer"));
        }
        let describe = |object: ObjectId| {
            let found = state.memory.get(object);
            let what = found.kind.name();
            let offset = addr.wrapping_sub(found.base) as i64;
            (
                found.liveness,
                found.kind,
                format!("{verb} of {bytes} byte{plural} at offset {offset} of a {what} object {}", found.size_words()),
            )
        };
        match state.memory.find(addr).or_else(|| state.memory.near(addr)).map(describe) {
            Some((Liveness::OutOfScope, _, text)) => (BugKind::UseAfterFree, format!("{text} whose block has ended")),
            Some((Liveness::Freed, _, text)) => (BugKind::UseAfterFree, format!("{text} that was freed")),
            Some((Liveness::Alive, ObjectKind::Constant, text))
                if access == Access::Write && state.memory.find(addr).is_some() =>
            {
                (BugKind::InvalidPointer, format!("{text}, which is read-only"))
            }
            Some((Liveness::Alive, _, text)) => (out_of_bounds, text),
            None if state.memory.was_stack(addr) => (
                BugKind::UseAfterFree,
                format!("{verb} of {bytes} byte{plural} of a local variable whose function has returned"),
            ),
            None => (BugKind::InvalidPointer, format!("{verb} of {bytes} byte{plural} at {addr:#x}, where nothing is")),
        }
    }

    /// As [`Machine::diagnose`] where the object at `base` was meant: whatever lies outside of it is out of its bounds.
    pub fn diagnose_outside(
        &self,
        state: &State,
        addr: u64,
        bytes: u64,
        access: Access,
        base: u64,
    ) -> (BugKind, String) {
        let object = state.memory.find(base).map(|object| state.memory.get(object));
        let (kind, verb) = match access {
            Access::Read => (BugKind::OutOfBoundsRead, "read"),
            Access::Write => (BugKind::OutOfBoundsWrite, "write"),
        };
        match object {
            Some(object)
                if object.liveness == Liveness::Alive
                    && (object.kind != ObjectKind::Constant || access == Access::Read) =>
            {
                let offset = addr.wrapping_sub(object.base) as i64;
                let plural = if bytes == 1 { "" } else { "s" };
                let what = object.kind.name();
                (
                    kind,
                    format!(
                        "{verb} of {bytes} byte{plural} at offset {offset} of a {what} object {}",
                        object.size_words()
                    ),
                )
            }
            _ => self.diagnose(state, addr, bytes, access),
        }
    }

    /// Distance beyond an object's end at which a native sanitizer still sees an overrun for what it is.
    pub const REDZONE: u64 = LEAST_GAP / 2;

    pub(crate) fn load(&mut self, state: &mut State, addr: Value, bits: u8) -> Step<Value> {
        let n_bytes = u64::from(bits).div_ceil(8);
        let (object, offset) = self.locate(state, addr, n_bytes, Access::Read)?;
        self.settle_unwritten(state, object, offset, n_bytes)?;
        if let Offset::At(offset) = offset
            && addr.label().is_empty()
            && let Some(whole) = self.whole_term(state.memory.get(object), offset, bits)
            && !self.watching.interest().has(Interest::READ)
        {
            let size = state.memory.get(object).size;
            self.trace_read(object, size, Offset::At(offset), n_bytes);
            let value = Value { bits: 0, shadow: whole };
            self.looks_at(state, value);
            return Ok(value);
        }
        let bytes = self.read_bytes(state, object, offset, n_bytes);
        let value = self.compose(&bytes, bits, addr.label());
        self.looks_at(state, value);
        Ok(value)
    }

    /// The term whose bytes, one by one and all of them, lie at `offset`: what a program that stores a value and loads
    /// it again has. `None` for anything else, and where it takes more than a look.
    fn whole_term(&mut self, object: &crate::Object, offset: u64, bits: u8) -> Option<Shadow> {
        let first = if object.is_symbolic_at(offset) { object.byte(offset).1 } else { return None };
        if bits == 8 {
            return Some(first);
        }
        if !bits.is_multiple_of(8) {
            return None;
        }
        // The lowest byte of a sum is the sum of the lowest bytes, so it is the highest that tells the whole.
        let last = u64::from(bits / 8) - 1;
        let View::Extract { arg, .. } = self.terms.view(object.byte(offset + last).1.term()?) else { return None };
        if self.terms.width(arg) != u32::from(bits) || first.term() != Some(self.terms.byte(arg, 0)) {
            return None;
        }
        let is_next = |idx: u64| {
            let (_, shadow) = object.byte(offset + idx);
            let view = shadow.term().map(|term| self.terms.view(term));
            shadow.label() == first.label()
                && matches!(view, Some(View::Extract { arg: whole, lo }) if whole == arg && u64::from(lo) == idx * 8)
        };
        (1..=last).all(is_next).then(|| Shadow::new(Some(arg), first.label()))
    }

    pub(crate) fn store(&mut self, state: &mut State, addr: Value, bits: u8, value: Value) -> Step<()> {
        let n_bytes = u64::from(bits).div_ceil(8);
        let (object, offset) = self.locate(state, addr, n_bytes, Access::Write)?;
        if let Offset::Symbolic(_) = offset
            && self.spans.sizes == Sizes::Picked
        {
            self.settle_unwritten(state, object, offset, n_bytes)?;
        }
        let bytes = self.decompose(value, bits, addr.label());
        self.write_bytes(state, object, offset, &bytes);
        let (at, len) = self.span_written(state, object, offset, n_bytes);
        self.scatter(state, object, at, len, addr.label());
        Ok(())
    }

    /// Little-endian bytes put together to a value of `bits`.
    pub(crate) fn compose(&mut self, bytes: &[Byte], bits: u8, label: Label) -> Value {
        let label = bytes.iter().fold(label, |label, byte| self.labels.union(label, byte.shadow.label()));
        if bytes.iter().all(|byte| byte.shadow.term().is_none()) {
            let mut image = [0u8; 16];
            for (at, byte) in image.iter_mut().zip(bytes) {
                *at = byte.bits;
            }
            let value = u128::from_le_bytes(image) & crate::value::mask128(bits);
            return Value { bits: value, shadow: Shadow::new(None, label) };
        }
        let parts: Vec<TermId> = bytes.iter().map(|byte| self.byte_term(*byte)).collect();
        let mut term = self.terms.concat_bytes(&parts);
        if self.terms.width(term) > u32::from(bits) {
            term = self.terms.extract(term, u32::from(bits) - 1, 0);
        }
        Value::of_term(&self.terms, term, label)
    }

    pub(crate) fn decompose(&mut self, value: Value, bits: u8, label: Label) -> Vec<Byte> {
        let n_bytes = u32::from(bits).div_ceil(8);
        let label = self.labels.union(value.label(), label);
        match value.term() {
            None => {
                let shadow = Shadow::new(None, label);
                let image = value.bits.to_le_bytes();
                image[..n_bytes as usize].iter().map(|bits| Byte { bits: *bits, shadow, is_written: true }).collect()
            }
            Some(term) => {
                let term = self.terms.zext(term, n_bytes * 8);
                (0..n_bytes).map(|idx| self.term_byte(term, idx, label)).collect()
            }
        }
    }

    pub(crate) fn term_byte(&mut self, term: TermId, idx: u32, label: Label) -> Byte {
        let byte = self.terms.byte(term, idx);
        match self.terms.as_const(byte) {
            Some(bits) => Byte { bits: bits as u8, shadow: Shadow::new(None, label), is_written: true },
            None => Byte { bits: 0, shadow: Shadow::new(Some(byte), label), is_written: true },
        }
    }

    pub(crate) fn byte_term(&mut self, byte: Byte) -> TermId {
        byte.shadow.term().unwrap_or_else(|| self.terms.byte_constant(byte.bits))
    }

    /// The bytes of a checked access. Those that nobody wrote are said to be so; whoever wants their values settles them
    /// first, and for a symbolic offset that has been done.
    pub(crate) fn read_bytes(
        &mut self,
        state: &mut State,
        object: ObjectId,
        offset: Offset,
        n_bytes: u64,
    ) -> Vec<Byte> {
        self.tell(state, Interest::READ, || Event::Read { object, offset: offset.at_or_zero(), bytes: n_bytes });
        let found = state.memory.get(object).clone();
        self.trace_read(object, found.size, offset, n_bytes);
        match offset {
            Offset::At(_) | Offset::Symbolic(_) if self.reads_layers(&found, offset, n_bytes) => {
                self.read_layers(&found, offset, n_bytes)
            }
            Offset::At(offset) => (offset..offset + n_bytes)
                .map(|offset| match found.array_at(offset) {
                    None => byte_of(&found, offset),
                    Some(array) => self.select(array, Offset::At(offset), 0, found.label),
                })
                .collect(),
            Offset::Symbolic(_) => {
                let label = self.whole_label(&found);
                let array = self.array_of(&found);
                (0..n_bytes).map(|byte| self.select(array, offset, byte, label)).collect()
            }
        }
    }

    /// The contents as a term. Where they are remembered from now on, no write may go by unseen.
    fn array_of(&mut self, object: &crate::Object) -> TermId {
        let was_known = object.is_known();
        let array = object.as_array(&mut self.terms);
        if !was_known && object.is_known() {
            self.tlb.flush();
        }
        array
    }

    /// Read at a symbolic offset, any byte of the object may be meant.
    pub(crate) fn trace_read(&mut self, object: ObjectId, size: u64, offset: Offset, n_bytes: u64) {
        let Some(footprint) = self.watching.footprint() else { return };
        match offset {
            Offset::At(offset) => footprint.read(object, size, offset, n_bytes),
            Offset::Symbolic(_) => footprint.read(object, size, 0, size),
        }
    }

    /// Only for certain offsets: written at a symbolic one, every byte may still have its old value.
    pub(crate) fn trace_write(&mut self, state: &State, object: ObjectId, offset: u64, n_bytes: u64) {
        if let Some(footprint) = self.watching.footprint() {
            footprint.write(object, state.memory.get(object).size, offset, n_bytes);
        }
    }

    pub(crate) fn trace_allocation(&mut self, state: &State, object: ObjectId) {
        if let Some(trace) = self.watching.trace_mut() {
            trace.footprint.allocate(object, state.memory.get(object).size);
        }
    }

    fn select(&mut self, array: TermId, offset: Offset, byte: u64, label: Label) -> Byte {
        let index = self.index_term(offset, byte);
        let term = self.terms.select(array, index);
        let term = self.shortened(term);
        self.term_byte(term, 0, label)
    }

    /// What was read at a place that one input byte says is a lookup by that byte in a table of its own: however many tables and
    /// writes lie behind it, nobody has to go through them again.
    fn shortened(&mut self, term: TermId) -> TermId {
        let View::Select { array, index } = self.terms.view(term) else { return term };
        let by_symbol =
            matches!(self.terms.view(index), View::ZExt(narrow) if matches!(self.terms.view(narrow), View::Symbol(_)));
        if by_symbol && matches!(self.terms.view(array), View::Table(_)) {
            return term;
        }
        self.graphs.lookup(&mut self.terms, term).unwrap_or(term)
    }

    pub(crate) fn index_term(&mut self, offset: Offset, byte: u64) -> TermId {
        match offset {
            Offset::At(offset) => self.terms.constant(u128::from(offset + byte), 64),
            Offset::Symbolic(term) => {
                let byte = self.terms.constant(u128::from(byte), 64);
                self.terms.add(term, byte)
            }
        }
    }

    /// An object for writing these of its bytes. Remembered sites are forgotten when that moved some.
    pub(crate) fn writable<'s>(
        &mut self,
        state: &'s mut State,
        object: ObjectId,
        offset: u64,
        len: u64,
    ) -> &'s mut crate::Object {
        let found = state.memory.get_mut(object);
        if found.own(offset, len) == Moved::Yes {
            self.tlb.flush();
        }
        found
    }

    pub(crate) fn write_bytes(&mut self, state: &mut State, object: ObjectId, offset: Offset, bytes: &[Byte]) {
        self.tell(state, Interest::WRITE, || Event::Write {
            object,
            offset: offset.at_or_zero(),
            bytes: bytes.len() as u64,
        });
        if let Offset::At(offset) = offset {
            self.trace_write(state, object, offset, bytes.len() as u64);
        }
        let was_plain = state.memory.get(object).is_plain();
        let labelled = self.label_written(state, object, offset, bytes);
        let bytes = labelled.as_deref().unwrap_or(bytes);
        match offset {
            Offset::At(offset) => {
                let found = self.writable(state, object, offset, bytes.len() as u64);
                found.set_bytes(offset, bytes);
            }
            Offset::Symbolic(_) if self.spans.sizes == Sizes::Terms => self.write_layer(state, object, offset, bytes),
            Offset::Symbolic(term)
                if !state.memory.get(object).is_array() && state.memory.get(object).size <= SMALL_OBJECT =>
            {
                self.write_choices(state, object, term, bytes);
            }
            Offset::Symbolic(_) => {
                let found = state.memory.get(object).clone();
                let whole = self.whole_label(&found);
                let whole = bytes.iter().fold(whole, |label, byte| self.labels.union(label, byte.shadow.label()));
                let mut array = self.array_of(&found);
                for (byte, idx) in bytes.iter().zip(0..) {
                    let (index, byte) = (self.index_term(offset, idx), self.byte_term(*byte));
                    array = self.terms.store(array, index, byte);
                }
                drop(found);
                let object = self.writable(state, object, 0, 0);
                object.set_array(array);
                object.label = whole;
            }
        }
        if was_plain && !state.memory.get(object).is_plain() {
            self.tlb.flush();
        }
    }

    /// Which bytes a write may touch.
    fn span_written(&self, state: &State, object: ObjectId, offset: Offset, n_bytes: u64) -> (u64, u64) {
        match offset {
            Offset::At(at) => (at, n_bytes),
            Offset::Symbolic(_) => (0, state.memory.get(object).size),
        }
    }

    /// The bytes with what control depends on, while flow is tracked.
    fn label_written(&mut self, state: &State, object: ObjectId, offset: Offset, bytes: &[Byte]) -> Option<Vec<Byte>> {
        if !self.is_tracking() {
            return None;
        }
        let (at, len) = self.span_written(state, object, offset, bytes.len() as u64);
        let control = self.note_written(state, object, at, len);
        self.note_values(state, bytes);
        if self.is_blind_to(Blind::ToMemory) {
            let without = |byte: &Byte| Byte { shadow: Shadow::new(byte.shadow.term(), Label::EMPTY), ..*byte };
            return Some(bytes.iter().map(without).collect());
        }
        if control.is_empty() {
            return None;
        }
        let with_control = |byte: &Byte| {
            let label = self.labels.union(byte.shadow.label(), control);
            Byte { shadow: Shadow::new(byte.shadow.term(), label), ..*byte }
        };
        Some(bytes.iter().map(with_control).collect())
    }

    /// Every byte the write may touch becomes "new if the offset says so, else old".
    fn write_choices(&mut self, state: &mut State, object: ObjectId, offset: TermId, bytes: &[Byte]) {
        let (size, n_bytes) = (state.memory.get(object).size, bytes.len() as u64);
        let stride = 1u64 << self.trailing_zeros(offset).min(10);
        let mut start = 0;
        while start + n_bytes <= size {
            let at = self.terms.constant(u128::from(start), 64);
            let here = self.terms.eq(offset, at);
            if !self.terms.is_false(here) {
                for (byte, at) in bytes.iter().zip(start..) {
                    let (_, shadow) = state.memory.get(object).byte(at);
                    let old = state.memory.get(object).byte_term(&mut self.terms, at);
                    let new = self.byte_term(*byte);
                    let term = self.terms.ite(here, new, old);
                    let label = self.labels.union(shadow.label(), byte.shadow.label());
                    let terms = &self.terms;
                    state.memory.get_mut(object).set_term(terms, at, term, label);
                }
            }
            start += stride;
        }
        self.tlb.flush();
    }

    /// How many low bits of a term are certainly zero.
    fn trailing_zeros(&mut self, term: TermId) -> u32 {
        let mut n_zeros = 0;
        while n_zeros < 10 {
            let bit = self.terms.extract(term, n_zeros, n_zeros);
            if self.terms.as_const(bit) != Some(0) {
                break;
            }
            n_zeros += 1;
        }
        n_zeros
    }

    /// Whether a byte of the string at an address, or of its place, depends on an input.
    pub(crate) fn is_labelled_text(&self, state: &State, addr: u64) -> bool {
        if !self.is_tracking() {
            return false;
        }
        let Some(object) = state.memory.find(addr) else { return false };
        let found = state.memory.get(object);
        if !found.life.is_empty() || found.is_array() {
            return true;
        }
        for offset in addr - found.base..if found.has_bytes() { found.size } else { 0 } {
            let (byte, shadow) = found.byte(offset);
            if !shadow.is_none() {
                return true;
            }
            if byte == 0 {
                return false;
            }
        }
        false
    }

    /// The concrete C string at an address, where all of it is concrete and inside its object.
    pub(crate) fn concrete_string(&mut self, state: &State, addr: u64) -> Option<Vec<u8>> {
        let object = state.memory.find(addr)?;
        let found = state.memory.get(object);
        if found.liveness != Liveness::Alive {
            return None;
        }
        let start = addr - found.base;
        let mut text = Vec::new();
        let mut is_text = false;
        for offset in start..found.size {
            match found.concrete_byte(offset) {
                Some(0) => is_text = true,
                Some(byte) => {
                    text.push(byte);
                    continue;
                }
                None => {}
            }
            break;
        }
        // The byte that ended the search was looked at, too.
        let n_read = (text.len() as u64 + 1).min(found.size - start);
        self.trace_read(object, found.size, Offset::At(start), n_read);
        is_text.then_some(text)
    }
}

impl Offset {
    fn at_or_zero(self) -> u64 {
        match self {
            Offset::At(offset) => offset,
            Offset::Symbolic(_) => 0,
        }
    }
}
