//! One allocation: its place, its lifetime and its bytes.

use ir::{FuncId, SourceTypeId, SpanId};
use term::{TermId, Terms};

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

/// Bytes are concrete (`data`) unless `shadows` has a term for them; once an object is in array mode (`array`), only the
/// array counts. `undef` marks bytes never written, kept only where that is checked.
#[derive(Clone)]
pub struct Object {
    pub base: u64,
    pub size: u64,
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
    pub slots: Slots,
    data: Box<[u8]>,
    shadows: Option<Box<[Shadow]>>,
    undef: Option<Box<[bool]>>,
    array: Option<TermId>,
}

impl Object {
    pub fn new(base: u64, size: u64, kind: ObjectKind, data: Box<[u8]>) -> Object {
        debug_assert_eq!(size, data.len() as u64);
        Object {
            base,
            size,
            kind,
            liveness: Liveness::Alive,
            thread: 0,
            site: Site::default(),
            ty: None,
            origin: 0,
            life: Label::EMPTY,
            label: Label::EMPTY,
            slots: Slots::default(),
            data,
            shadows: None,
            undef: None,
            array: None,
        }
    }

    pub fn zeroed(base: u64, size: u64, kind: ObjectKind) -> Object {
        Object::new(base, size, kind, vec![0; size as usize].into_boxed_slice())
    }

    pub fn mark_undefined(&mut self) {
        self.undef = Some(vec![true; self.size as usize].into_boxed_slice());
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
        self.data = Box::default();
        self.shadows = None;
        self.undef = None;
        self.array = None;
    }

    /// Whether every byte is plain bits, so that the fast path may touch `data` directly.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.shadows.is_none() && self.undef.is_none() && self.array.is_none()
    }

    #[inline]
    pub fn array(&self) -> Option<TermId> {
        self.array
    }

    pub fn set_array(&mut self, array: TermId) {
        self.array = Some(array);
    }

    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    #[inline]
    pub fn is_undefined(&self, offset: u64) -> bool {
        self.undef.as_ref().is_some_and(|undef| undef[offset as usize])
    }

    /// The byte's bits where concrete, and its shadow. Not for objects in array mode.
    #[inline]
    pub fn byte(&self, offset: u64) -> (u8, Shadow) {
        let shadow = self.shadows.as_ref().map_or(Shadow::NONE, |shadows| shadows[offset as usize]);
        (self.data[offset as usize], shadow)
    }

    /// Whether the byte is a term of its own. Not in array mode, where only the array counts.
    #[inline]
    pub fn is_symbolic_at(&self, offset: u64) -> bool {
        self.array.is_none() && self.shadows.as_ref().is_some_and(|shadows| shadows[offset as usize].term().is_some())
    }

    /// The concrete byte, if it is concrete.
    pub fn concrete_byte(&self, offset: u64) -> Option<u8> {
        let (byte, shadow) = self.byte(offset);
        (self.array.is_none() && shadow.term().is_none() && !self.is_undefined(offset)).then_some(byte)
    }

    #[inline]
    pub fn set_byte(&mut self, offset: u64, byte: u8, shadow: Shadow) {
        self.data[offset as usize] = byte;
        if let Some(undef) = &mut self.undef {
            undef[offset as usize] = false;
        }
        match &mut self.shadows {
            Some(shadows) => shadows[offset as usize] = shadow,
            None if shadow.is_none() => {}
            None => {
                let mut shadows = vec![Shadow::NONE; self.size as usize].into_boxed_slice();
                shadows[offset as usize] = shadow;
                self.shadows = Some(shadows);
            }
        }
    }

    /// The byte stays what it is, undefined too, and depends on `label`. Not for objects in array mode.
    pub fn set_label(&mut self, offset: u64, label: Label) {
        let size = self.size as usize;
        let shadows = self.shadows.get_or_insert_with(|| vec![Shadow::NONE; size].into_boxed_slice());
        let shadow = &mut shadows[offset as usize];
        *shadow = Shadow::new(shadow.term(), label);
    }

    pub fn set_term(&mut self, terms: &Terms, offset: u64, term: TermId, label: Label) {
        match terms.as_const(term) {
            Some(bits) => self.set_byte(offset, bits as u8, Shadow::new(None, label)),
            None => self.set_byte(offset, 0, Shadow::new(Some(term), label)),
        }
    }

    /// The byte as an 8-bit term. Not for objects in array mode.
    #[inline]
    pub fn byte_term(&self, terms: &mut Terms, offset: u64) -> TermId {
        let (byte, shadow) = self.byte(offset);
        shadow.term().unwrap_or_else(|| terms.byte_constant(byte))
    }

    /// The whole contents as an array term.
    pub fn as_array(&self, terms: &mut Terms) -> TermId {
        if let Some(array) = self.array {
            return array;
        }
        let bytes: Vec<TermId> = (0..self.size).map(|offset| self.byte_term(terms, offset)).collect();
        terms.table(&bytes)
    }

    /// Drops the shadows when nothing symbolic or labelled is left, so that accesses become fast again.
    pub fn settle(&mut self) {
        if self.shadows.as_ref().is_some_and(|shadows| shadows.iter().all(|shadow| shadow.is_none())) {
            self.shadows = None;
        }
        if self.undef.as_ref().is_some_and(|undef| undef.iter().all(|undef| !undef)) {
            self.undef = None;
        }
    }

    /// Rough heap use, for budgets.
    pub fn footprint(&self) -> usize {
        let shadows = self.shadows.as_ref().map_or(0, |shadows| shadows.len() * size_of::<Shadow>());
        size_of::<Object>() + self.data.len() + shadows
    }
}
