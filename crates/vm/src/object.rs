//! One allocation: its place, its lifetime and its bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use ir::{FuncId, SourceTypeId, SpanId};
use term::{Chunks, TermId, Terms};

use crate::access::Byte;
use crate::bytes::{Bytes, Moved};
use crate::layers::Layers;
use crate::marks::Marks;
use crate::written::Unwritten;
use crate::{Access, Label, Shadow, Slots};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    Global,
    /// A global that must not be written.
    Constant,
    Stack,
    Heap,
}

impl ObjectKind {
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Global | ObjectKind::Constant => "global",
            ObjectKind::Stack => "stack",
            ObjectKind::Heap => "heap",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveness {
    Alive,
    /// A variable whose block has ended; it may begin anew.
    OutOfScope,
    Freed,
}

/// Where something was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    pub func: FuncId,
    pub span: SpanId,
}

impl Default for Site {
    fn default() -> Self {
        Site { func: FuncId(0), span: SpanId(0) }
    }
}

/// Bytes are concrete (`data`) unless `shadows` has a term for them; those in `unwritten` nobody has written, and their `data`
/// is zero and means nothing. In array mode (`array`) only the bytes written since are where they were; all others are in its term. All of it
/// is shared between forks, and copied in pieces.
#[derive(Clone)]
pub struct Object {
    pub base: u64,
    /// With an extent, the most it may be.
    pub size: u64,
    /// How many bytes there are, where inputs decide that. 64 bits wide.
    pub extent: Option<TermId>,
    pub kind: ObjectKind,
    pub liveness: Liveness,
    /// The thread on whose stack it lies.
    pub thread: u16,
    /// Where it was allocated.
    pub site: Site,
    /// Declared type of the variable, where there is one.
    pub ty: Option<SourceTypeId>,
    /// Its name across runs, while flow is tracked.
    pub origin: u64,
    /// What its size and its being alive depend on.
    pub life: Label,
    /// What every byte depends on, once the object is in array mode.
    pub label: Label,
    /// The variable it is, by its number in the function of `site`.
    pub variable: Option<u32>,
    /// How many allocations the program had asked for when it asked for this one; for a variable that is declared in a loop,
    /// how often it was.
    pub number: u32,
    pub slots: Slots,
    data: Bytes,
    shadows: Chunks<Shadow>,
    /// How many of them say something.
    n_shadows: u64,
    unwritten: Option<Unwritten>,
    array: Option<Box<Contents>>,
    piled: Option<Box<Piled>>,
    /// The contents as they were when somebody last wanted them as a term: large objects only.
    known: RefCell<Option<Box<Contents>>>,
}

/// All bytes of an object as a term, and where it was written since.
#[derive(Clone)]
struct Contents {
    term: TermId,
    since: Marks,
    /// Writes that the term has on top of a table.
    n_stores: u64,
}

/// All bytes of an object as a pile of layers, and where it was written since.
#[derive(Clone)]
struct Piled {
    layers: Rc<Layers>,
    since: Marks,
}

/// Objects whose contents as a term are not remembered: making them anew is quick.
const SMALL: u64 = 1024;

impl Object {
    pub fn new(base: u64, size: u64, kind: ObjectKind, data: Box<[u8]>) -> Object {
        debug_assert_eq!(size, data.len() as u64);
        Object::of_bytes(base, size, kind, data.into())
    }

    pub fn zeroed(base: u64, size: u64, kind: ObjectKind) -> Object {
        Object::of_bytes(base, size, kind, Bytes::zeroed(size as usize))
    }

    fn of_bytes(base: u64, size: u64, kind: ObjectKind, data: Bytes) -> Object {
        Object {
            base,
            size,
            extent: None,
            kind,
            liveness: Liveness::Alive,
            thread: 0,
            site: Site::default(),
            ty: None,
            origin: 0,
            life: Label::EMPTY,
            label: Label::EMPTY,
            variable: None,
            number: 0,
            slots: Slots::default(),
            data,
            shadows: Chunks::default(),
            n_shadows: 0,
            unwritten: None,
            array: None,
            piled: None,
            known: RefCell::default(),
        }
    }

    /// Nobody has written any of it.
    pub fn mark_unwritten(&mut self) {
        self.unwritten = Unwritten::all(self.size);
    }

    /// These bytes, which are owned, are as if nobody had written them. Not for bytes that are in an array.
    pub fn unwrite(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        *self.known.get_mut() = None;
        self.data.fill(range.start as usize, range.end as usize, 0);
        if self.n_shadows > 0 {
            range.clone().for_each(|offset| self.set_shadow(offset, Shadow::NONE));
        }
        let size = self.size;
        self.unwritten.get_or_insert_with(|| Unwritten::none(size)).unwrite(range);
    }

    /// As when it was allocated.
    pub fn unwrite_all(&mut self) {
        (self.array, self.shadows, self.n_shadows, self.label) = (None, Chunks::default(), 0, Label::EMPTY);
        self.piled = None;
        self.unwrite(0..self.size);
    }

    /// Whether nobody has written any of it.
    pub fn is_untouched(&self) -> bool {
        self.is_plain() && self.unwritten.as_ref().is_some_and(|unwritten| unwritten.len() == self.size)
    }

    /// Somebody wrote these bytes.
    #[inline]
    pub fn mark_written(&mut self, range: Range<u64>) {
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.write(range);
            if unwritten.is_empty() {
                self.unwritten = None;
            }
        }
    }

    /// The bytes around an offset, which is written, that all are.
    #[inline]
    pub fn written_around(&self, at: u64) -> Range<u64> {
        self.unwritten.as_ref().map_or(0..self.size, |unwritten| unwritten.written_around(at))
    }

    /// Where in a range nobody has written.
    pub fn unwritten_in(&self, range: Range<u64>) -> Vec<Range<u64>> {
        self.unwritten.as_ref().map_or(Vec::new(), |unwritten| unwritten.runs(range))
    }

    #[inline]
    pub fn is_written(&self, range: Range<u64>) -> bool {
        self.unwritten.as_ref().is_none_or(|unwritten| unwritten.first(range).is_none())
    }

    #[inline]
    pub fn end(&self) -> u64 {
        self.base + self.size
    }

    /// Whether an access of `bytes` at `addr` stays inside.
    #[inline]
    pub fn contains(&self, addr: u64, bytes: u64) -> bool {
        addr >= self.base && bytes <= self.size && addr - self.base <= self.size - bytes
    }

    /// Whether an access of `bytes` at `addr` is right.
    #[inline]
    pub fn allows(&self, addr: u64, bytes: u64, access: Access) -> bool {
        self.liveness == Liveness::Alive
            && self.contains(addr, bytes)
            && (access == Access::Read || self.kind != ObjectKind::Constant)
    }

    /// Frees the contents; place and size stay for the diagnosis of later uses.
    pub fn free(&mut self) {
        self.liveness = Liveness::Freed;
        self.data = Bytes::zeroed(0);
        self.shadows = Chunks::default();
        self.n_shadows = 0;
        self.unwritten = None;
        self.array = None;
        self.piled = None;
        self.known = RefCell::default();
    }

    /// Whether what is written of it is plain bits, so that the fast path may touch that directly.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.n_shadows == 0 && self.array.is_none() && self.piled.is_none() && self.extent.is_none()
    }

    /// The pile of layers that the bytes without a place of their own are in.
    pub fn layers(&self) -> Option<&Rc<Layers>> {
        self.piled.as_ref().map(|piled| &piled.layers)
    }

    /// The pile that a byte is in: none where it has a place of its own.
    #[inline]
    pub fn layers_at(&self, offset: u64) -> Option<&Rc<Layers>> {
        self.piled.as_ref().filter(|piled| !piled.since.has(offset)).map(|piled| &piled.layers)
    }

    /// Whether bytes lie in a pile of layers.
    #[inline]
    pub fn is_piled(&self) -> bool {
        self.piled.is_some()
    }

    /// From now on all bytes are in this pile.
    pub fn set_layers(&mut self, layers: Rc<Layers>) {
        self.piled = Some(Box::new(Piled { layers, since: Marks::default() }));
        self.array = None;
        self.known = RefCell::default();
        self.shadows = Chunks::default();
        self.n_shadows = 0;
        self.unwritten = None;
    }

    /// Where a piled object has bytes in places of their own.
    pub fn own_runs(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for offset in self.piled.iter().flat_map(|piled| piled.since.iter()) {
            match runs.last_mut() {
                Some(run) if run.end == offset => run.end += 1,
                _ => runs.push(offset..offset + 1),
            }
        }
        runs
    }

    /// A copy with only the bytes that have places of their own.
    pub fn without_layers(&self) -> Object {
        Object { piled: None, ..self.clone() }
    }

    /// What its size is called in messages.
    pub fn size_words(&self) -> String {
        match self.extent {
            None => format!("of {} bytes", self.size),
            Some(_) => "whose size depends on inputs".to_string(),
        }
    }

    /// Whether bytes may have to be looked up in a term of the whole contents.
    #[inline]
    pub fn is_array(&self) -> bool {
        self.array.is_some()
    }

    /// The term that holds a byte: none where the byte has a place of its own.
    #[inline]
    pub fn array_at(&self, offset: u64) -> Option<TermId> {
        self.array.as_ref().filter(|array| !array.since.has(offset)).map(|array| array.term)
    }

    /// From now on all bytes are in this term.
    pub fn set_array(&mut self, term: TermId) {
        self.array = Some(Box::new(Contents { term, since: Marks::default(), n_stores: 0 }));
        self.piled = None;
        self.known = RefCell::default();
        self.shadows = Chunks::default();
        self.n_shadows = 0;
        self.unwritten = None;
    }

    /// Whether there are bytes to read: a freed object has none.
    #[inline]
    pub fn has_bytes(&self) -> bool {
        !self.data.is_empty()
    }

    /// All concrete bytes in a row. Those of large objects may have to be put together first.
    pub fn data(&self) -> Cow<'_, [u8]> {
        match self.data.around(0) {
            (_, all) if all.len() == self.data.len() => Cow::Borrowed(all),
            _ => {
                let mut all = vec![0; self.data.len()];
                self.data.read(0, &mut all);
                Cow::Owned(all)
            }
        }
    }

    /// Concrete bytes from an offset on.
    pub fn read_plain(&self, offset: u64, into: &mut [u8]) {
        self.data.read(offset as usize, into);
    }

    /// Concrete bytes that lie together around an offset, and the offset of the first.
    pub fn plain_around(&self, offset: u64) -> (u64, &[u8]) {
        let (start, bytes) = self.data.around(offset as usize);
        (start as u64, bytes)
    }

    /// As [`Object::plain_around`] for writing by somebody who does not tell; the bytes must be owned.
    pub fn plain_around_mut(&mut self, offset: u64) -> (u64, &mut [u8]) {
        *self.known.get_mut() = None;
        let (start, bytes) = self.data.around_mut(offset as usize);
        (start as u64, bytes)
    }

    /// Makes bytes nobody else's.
    pub fn own(&mut self, offset: u64, len: u64) -> Moved {
        if self.data.is_empty() { Moved::No } else { self.data.own(offset as usize, (offset + len) as usize) }
    }

    /// Notes an access that the fast path did not cover; whether [`Object::join`] is worth it.
    pub fn miss(&self) -> bool {
        self.data.miss()
    }

    /// Puts all its bytes in a row.
    pub fn join(&mut self) {
        self.data.join();
    }

    /// Writes bytes into a plain object.
    pub fn write_plain(&mut self, offset: u64, bytes: &[u8]) {
        debug_assert!(self.is_plain());
        *self.known.get_mut() = None;
        self.data.write(offset as usize, bytes);
        self.mark_written(offset..offset + bytes.len() as u64);
    }

    /// Fills a part of a plain object.
    pub fn fill_plain(&mut self, offset: u64, len: u64, byte: u8) {
        debug_assert!(self.is_plain());
        *self.known.get_mut() = None;
        self.data.fill(offset as usize, (offset + len) as usize, byte);
        self.mark_written(offset..offset + len);
    }

    #[inline]
    pub fn is_unwritten(&self, offset: u64) -> bool {
        self.unwritten.as_ref().is_some_and(|unwritten| unwritten.contains(offset))
    }

    #[inline]
    fn shadow(&self, offset: u64) -> Shadow {
        if self.n_shadows == 0 {
            return Shadow::NONE;
        }
        self.shadows.get(offset as usize).copied().unwrap_or_default()
    }

    fn set_shadow(&mut self, offset: u64, shadow: Shadow) {
        let old = self.shadow(offset);
        if old == shadow {
            return;
        }
        self.n_shadows += u64::from(old.is_none());
        self.n_shadows -= u64::from(shadow.is_none());
        match self.n_shadows {
            0 => self.shadows = Chunks::default(),
            _ => *self.shadows.get_mut(offset as usize) = shadow,
        }
    }

    /// The byte's bits where concrete, and its shadow. Not for bytes that are in an array.
    #[inline]
    pub fn byte(&self, offset: u64) -> (u8, Shadow) {
        (self.data.get(offset as usize), self.shadow(offset))
    }

    /// Whether the byte has a place of its own.
    #[inline]
    fn is_own(&self, offset: u64) -> bool {
        self.array_at(offset).is_none() && self.layers_at(offset).is_none()
    }

    /// Whether the byte is a term of its own.
    #[inline]
    pub fn is_symbolic_at(&self, offset: u64) -> bool {
        self.is_own(offset) && self.shadow(offset).term().is_some()
    }

    /// The concrete byte, if it is concrete.
    pub fn concrete_byte(&self, offset: u64) -> Option<u8> {
        let (byte, shadow) = self.byte(offset);
        (self.is_own(offset) && shadow.term().is_none() && !self.is_unwritten(offset)).then_some(byte)
    }

    #[inline]
    pub fn set_byte(&mut self, offset: u64, byte: u8, shadow: Shadow) {
        self.mark_written(offset..offset + 1);
        self.put_byte(offset, byte, shadow);
    }

    #[inline]
    fn put_byte(&mut self, offset: u64, byte: u8, shadow: Shadow) {
        self.data.set(offset as usize, byte);
        self.set_shadow(offset, shadow);
        self.note_written(offset);
    }

    /// What came from elsewhere; bytes nobody wrote there are not written here either.
    pub fn set_bytes(&mut self, offset: u64, bytes: &[Byte]) {
        self.mark_written(offset..offset + bytes.len() as u64);
        for (byte, at) in bytes.iter().zip(offset..) {
            self.put_byte(at, byte.bits, byte.shadow);
        }
        for (byte, at) in bytes.iter().zip(offset..).filter(|(byte, _)| !byte.is_written) {
            self.unwrite(at..at + 1);
            self.set_shadow(at, Shadow::new(None, byte.shadow.label()));
        }
    }

    /// A byte has a new value of its own.
    fn note_written(&mut self, offset: u64) {
        let size = self.size;
        if let Some(piled) = &mut self.piled {
            piled.since.insert(offset);
            if piled.since.len() == size {
                self.piled = None;
            }
        }
        if let Some(array) = &mut self.array {
            array.since.insert(offset);
            if array.since.len() == size {
                self.array = None;
            }
        }
        if let Some(known) = self.known.get_mut() {
            known.since.insert(offset);
            if known.n_stores + known.since.len() > most_stores(size) {
                *self.known.get_mut() = None;
            }
        }
    }

    /// The byte stays what it is, unwritten too, and depends on `label`. Not for bytes that are in an array.
    pub fn set_label(&mut self, offset: u64, label: Label) {
        self.set_shadow(offset, Shadow::new(self.shadow(offset).term(), label));
    }

    pub fn set_term(&mut self, terms: &Terms, offset: u64, term: TermId, label: Label) {
        match terms.as_const(term) {
            Some(bits) => self.set_byte(offset, bits as u8, Shadow::new(None, label)),
            None => self.set_byte(offset, 0, Shadow::new(Some(term), label)),
        }
    }

    /// The byte as an 8-bit term.
    #[inline]
    pub fn byte_term(&self, terms: &mut Terms, offset: u64) -> TermId {
        if let Some(array) = self.array_at(offset) {
            let index = terms.constant(u128::from(offset), 64);
            return terms.select(array, index);
        }
        let (byte, shadow) = self.byte(offset);
        shadow.term().unwrap_or_else(|| terms.byte_constant(byte))
    }

    /// The whole contents as an array term. Of a large object it is remembered, so that whoever writes through pointers of
    /// his own must ask [`Object::is_known`] first.
    pub fn as_array(&self, terms: &mut Terms) -> TermId {
        if let Some(array) = &self.array {
            return self.brought_up(array, terms);
        }
        let mut known = self.known.borrow_mut();
        if let Some(known) = known.as_mut() {
            known.term = self.brought_up(known, terms);
            known.n_stores += known.since.len();
            known.since = Marks::default();
            return known.term;
        }
        let bytes: Vec<TermId> = (0..self.size).map(|offset| self.byte_term(terms, offset)).collect();
        let term = terms.table(&bytes);
        if self.size > SMALL {
            *known = Some(Box::new(Contents { term, since: Marks::default(), n_stores: 0 }));
        }
        term
    }

    /// The term with what was written since on top.
    fn brought_up(&self, contents: &Contents, terms: &mut Terms) -> TermId {
        contents.since.iter().fold(contents.term, |array, offset| {
            let (index, byte) = (terms.constant(u128::from(offset), 64), self.byte_term(terms, offset));
            terms.store(array, index, byte)
        })
    }

    /// Whether its contents as a term are remembered: every write must be told.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.known.borrow().is_some()
    }

    /// What the bytes with a place of their own depend on, each label once or more often.
    pub fn labels(&self) -> impl Iterator<Item = Label> + '_ {
        self.shadows.iter().map(|(_, shadow)| shadow.label()).filter(|label| !label.is_empty())
    }
}

/// Writes above which contents are better made into a table again: whoever looks something up goes through all of them.
fn most_stores(size: u64) -> u64 {
    64 + size.isqrt()
}
