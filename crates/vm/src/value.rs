//! Values: bits with an optional term and an optional label.

use term::{TermId, Terms};

use crate::Label;

/// What a value carries beside its bits. Zero means "concrete, influenced by nothing", so one compare tells.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Shadow(u64);

impl Shadow {
    pub const NONE: Shadow = Shadow(0);

    #[inline]
    pub fn new(term: Option<TermId>, label: Label) -> Shadow {
        Shadow(u64::from(term.map_or(0, TermId::raw)) | u64::from(label.0) << 32)
    }

    /// As one word.
    #[inline]
    pub fn raw(self) -> u64 {
        self.0
    }

    /// From what [`Shadow::raw`] gave.
    #[inline]
    pub fn from_raw(raw: u64) -> Shadow {
        Shadow(raw)
    }

    #[inline]
    pub fn of_term(term: TermId) -> Shadow {
        Shadow(u64::from(term.raw()))
    }

    #[inline]
    pub fn term(self) -> Option<TermId> {
        TermId::from_raw(self.0 as u32)
    }

    #[inline]
    pub fn label(self) -> Label {
        Label((self.0 >> 32) as u32)
    }

    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    pub fn either(self, other: Shadow) -> Shadow {
        Shadow(self.0 | other.0)
    }
}

/// A value of up to 128 bits. `bits` is meaningful only without a term.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Value {
    pub bits: u128,
    pub shadow: Shadow,
}

impl Value {
    #[inline]
    pub fn concrete(bits: u128) -> Value {
        Value { bits, shadow: Shadow::NONE }
    }

    /// A term that folded to a constant becomes plain bits again.
    #[inline]
    pub fn of_term(terms: &Terms, term: TermId, label: Label) -> Value {
        match terms.as_const(term) {
            Some(bits) => Value { bits, shadow: Shadow::new(None, label) },
            None => Value { bits: 0, shadow: Shadow::new(Some(term), label) },
        }
    }

    #[inline]
    pub fn term(self) -> Option<TermId> {
        self.shadow.term()
    }

    #[inline]
    pub fn label(self) -> Label {
        self.shadow.label()
    }

    /// The value as a term of `width` bits.
    #[inline]
    pub fn to_term(self, terms: &mut Terms, width: u32) -> TermId {
        match self.shadow.term() {
            Some(term) => term,
            None => terms.constant(self.bits, width),
        }
    }
}

/// All ones in the lowest `bits`.
#[inline(always)]
pub fn mask64(bits: u8) -> u64 {
    u64::MAX >> (64 - u32::from(bits))
}

pub fn mask128(bits: u8) -> u128 {
    u128::MAX >> (128 - u32::from(bits))
}

#[inline(always)]
pub fn sext64(value: u64, bits: u8) -> i64 {
    let unused = 64 - u32::from(bits);
    ((value << unused) as i64) >> unused
}

pub fn sext128(value: u128, bits: u8) -> i128 {
    let unused = 128 - u32::from(bits);
    ((value << unused) as i128) >> unused
}
