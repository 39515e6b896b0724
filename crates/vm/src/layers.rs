//! Contents with symbolic bounds: a pile of layers, each lying on those below from one term to another.
//!
//! A copy whose length is a term cannot be said byte by byte. It can be said as a layer: from `at` on, `len` bytes are those of
//! another pile. What a byte is then follows from the terms alone: it is the layer's where its offset lies inside, and that of
//! the pile below elsewhere. So a layer is exact, whatever the terms are, and costs the same for every length.

use std::rc::Rc;

use term::{SymbolId, TermId};

use crate::Object;

/// What the bytes of an object are. Offsets are terms of 64 bits.
pub enum Layers {
    Zero,
    Text(Text),
    /// What an object held at some time.
    Was(Rc<Object>),
    Over(Over),
    Mapped(Mapped),
}

/// What is computed from each byte of a pile.
pub struct Mapped {
    pub of: Rc<Layers>,
    /// Stands for the byte in `value`.
    pub byte: SymbolId,
    pub value: TermId,
}

/// `len` bytes from `at` on are those of `above` from its offset `from` on; all others are those of `below`.
pub struct Over {
    pub below: Rc<Layers>,
    pub above: Rc<Layers>,
    pub at: TermId,
    pub from: TermId,
    pub len: TermId,
}

/// Bytes without end: `prefix`, and then `repeat` again and again.
#[derive(Clone)]
pub struct Text {
    pub prefix: Rc<[TermId]>,
    /// One or two bytes.
    pub repeat: Rc<[TermId]>,
    pub zeros: Zeros,
}

/// Whether there may be zeros among the bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeros {
    Some,
    None,
}

impl Text {
    /// One byte without end.
    pub fn of_byte(byte: TermId, zeros: Zeros) -> Text {
        Text { prefix: Rc::from([]), repeat: Rc::from([byte]), zeros }
    }
}

impl Layers {
    pub fn over(below: Rc<Layers>, at: TermId, above: Rc<Layers>, from: TermId, len: TermId) -> Rc<Layers> {
        Rc::new(Layers::Over(Over { below, above, at, from, len }))
    }
}
