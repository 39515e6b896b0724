//! Hash-consed bit-vector, float and array terms: the language in which Colt writes down what a program computes.
//!
//! One [`Terms`] arena belongs to one worker. It is handed around as `&mut`, so there are no locks and no reference counts:
//! a term is a 32-bit [`TermId`], two equal terms have the same id, and children always have smaller ids than their
//! parents. Every builder method (`terms.add(a, b)`, ...) simplifies while it builds and returns the canonical term.
//! Nothing here recurses deeper than the width of a term or a small constant, so a chain of a million nodes is fine.
//!
//! * `node`: ids, operators, the compact stored node and its readable [`View`]
//! * `arena`: interning, symbols, the symbol set of each term
//! * `bits`, `arith`, `compare`, `shape`, `choice`, `array`: the builders, one file for each family, with their rewrite rules
//! * `fold`: what each operator means on concrete values; the simplifier and the evaluator share it
//! * `float`: IEEE floats, which are bits: what the operators on them mean, and their builders
//! * `eval`: [`Assignment`] and the memoised evaluator [`Eval`]
//! * `graph`: terms over one small symbol under all of its values, [`Graphs`]
//! * `lanes`: conditions under many inputs at once, [`Lanes`]
//! * `lower`: operations on floats as terms without floats
//! * `replace`: terms in place of symbols, [`Replacement`]
//! * `smtlib`: printing assertions for an SMT solver
//! * `text`: terms written to a file and read back
//!
//! Deliberately absent: solving, path conditions and program types. Canonical forms worth knowing: there are no `Ule`/`Sle`
//! nodes (`ule a b` is `not (ult b a)`, with constants on the right), one-bit `or`/`eq` are written with `and`, `xor` and
//! `not`, right shifts by constants are extensions of extracts, and masks of contiguous bits are concatenations.

mod arena;
mod arith;
mod array;
mod bits;
mod choice;
mod chunks;
mod compare;
mod eval;
pub mod float;
pub mod fold;
mod graph;
mod lanes;
pub mod lower;
mod node;
mod replace;
mod shape;
mod smtlib;
mod text;

pub use arena::{SymbolSetId, Terms};
pub use chunks::Chunks;
pub use eval::{Assignment, Eval};
pub use graph::{Graph, Graphs};
pub use lanes::{Lanes, N_LANES, used_bits};
pub use node::{Sort, SymbolId, TableId, TermId, View};
pub use replace::Replacement;
pub use smtlib::{Script, smtlib};
pub use text::{TextReader, TextWriter};
