//! Ids, sorts, the compact stored node and the readable view of it.

use crate::float::{FloatBinary, FloatCompare, FloatUnary, Rounding};
use std::num::NonZeroU32;

/// A term of one arena. Never zero, so `Option<TermId>` is four bytes and raw zero can stand for "no term".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(NonZeroU32);

impl TermId {
    /// The number behind the id; never zero.
    #[inline]
    pub fn raw(self) -> u32 {
        self.0.get()
    }

    /// The term with this number, `None` for zero.
    #[inline]
    pub fn from_raw(raw: u32) -> Option<TermId> {
        NonZeroU32::new(raw).map(TermId)
    }

    #[inline]
    pub(crate) fn at(index: u32) -> TermId {
        TermId(NonZeroU32::new(index).expect("slot 0 of the arena is never a term"))
    }

    /// Position in vectors indexed by term.
    #[inline]
    pub fn index(self) -> usize {
        self.0.get() as usize
    }
}

impl std::fmt::Debug for TermId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "t{}", self.raw())
    }
}

/// A free variable, numbered from zero in the order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub u32);

impl SymbolId {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned list of byte terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TableId(pub(crate) u32);

/// What kind of thing a term denotes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// A bit-vector of 1 to 128 bits; one bit doubles as truth value.
    BitVec(u32),
    /// From 64-bit indices to bytes.
    Array,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Op {
    Const,
    WideConst,
    Symbol,
    Not,
    Neg,
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    SDiv,
    SRem,
    Shl,
    LShr,
    AShr,
    Concat,
    Extract,
    ZExt,
    SExt,
    Ite,
    Eq,
    Ult,
    Slt,
    Table,
    Store,
    Select,
    FloatUnary,
    FloatBinary,
    FloatCompare,
    Fma,
}

/// The stored form: 16 bytes. `width` is zero for arrays; unused operands are zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    pub op: Op,
    pub width: u8,
    /// Of a float operation: the operator and, in the lowest three bits, the rounding.
    pub detail: u8,
    /// Whether there is a float operation in it. The rest says so too, so nodes that are equal otherwise are equal here.
    pub has_floats: bool,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Node {
    pub(crate) fn detail_of(operator: u8, rounding: Rounding) -> u8 {
        operator << 3 | rounding as u8
    }

    pub(crate) fn operator(&self) -> usize {
        usize::from(self.detail >> 3)
    }

    pub(crate) fn rounding(&self) -> Rounding {
        Rounding::ALL[usize::from(self.detail & 7)]
    }
}

/// A term's operator and operands, to match on. The width is asked from the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    Const(u128),
    Symbol(SymbolId),
    Not(TermId),
    Neg(TermId),
    And(TermId, TermId),
    Or(TermId, TermId),
    Xor(TermId, TermId),
    Add(TermId, TermId),
    Sub(TermId, TermId),
    Mul(TermId, TermId),
    UDiv(TermId, TermId),
    URem(TermId, TermId),
    SDiv(TermId, TermId),
    SRem(TermId, TermId),
    Shl(TermId, TermId),
    LShr(TermId, TermId),
    AShr(TermId, TermId),
    /// The first operand holds the high bits.
    Concat(TermId, TermId),
    /// Bits from `lo` upwards, as many as the term is wide.
    Extract {
        arg: TermId,
        lo: u32,
    },
    ZExt(TermId),
    SExt(TermId),
    Ite(TermId, TermId, TermId),
    Eq(TermId, TermId),
    Ult(TermId, TermId),
    Slt(TermId, TermId),
    /// Byte `i` of the list at index `i`, zero beyond its end.
    Table(TableId),
    Store {
        array: TermId,
        index: TermId,
        byte: TermId,
    },
    Select {
        array: TermId,
        index: TermId,
    },
    FloatUnary {
        op: FloatUnary,
        rounding: Rounding,
        arg: TermId,
    },
    FloatBinary {
        op: FloatBinary,
        rounding: Rounding,
        a: TermId,
        b: TermId,
    },
    FloatCompare {
        op: FloatCompare,
        a: TermId,
        b: TermId,
    },
    /// `a * b + c` with one rounding.
    Fma {
        rounding: Rounding,
        a: TermId,
        b: TermId,
        c: TermId,
    },
}

impl View {
    /// The direct operands, except the elements of a table.
    #[inline]
    pub fn operands(self) -> impl Iterator<Item = TermId> {
        use View::*;
        let (a, b, c) = match self {
            Const(_) | Symbol(_) | Table(_) => (None, None, None),
            Not(a) | Neg(a) | ZExt(a) | SExt(a) | Extract { arg: a, .. } | FloatUnary { arg: a, .. } => {
                (Some(a), None, None)
            }
            And(a, b)
            | Or(a, b)
            | Xor(a, b)
            | Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | UDiv(a, b)
            | URem(a, b)
            | SDiv(a, b)
            | SRem(a, b)
            | Shl(a, b)
            | LShr(a, b)
            | AShr(a, b)
            | Concat(a, b)
            | Eq(a, b)
            | Ult(a, b)
            | Slt(a, b)
            | Select { array: a, index: b }
            | FloatBinary { a, b, .. }
            | FloatCompare { a, b, .. } => (Some(a), Some(b), None),
            Ite(a, b, c) | Store { array: a, index: b, byte: c } | Fma { a, b, c, .. } => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }
}
