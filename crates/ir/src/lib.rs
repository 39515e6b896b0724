//! Colt's bytecode: modules, functions, blocks, instructions, source types and positions.
//!
//! One form serves every layer: the front end writes it, analyses read its control-flow graph, the machine runs it.
//! Registers hold one 64-bit slot; values of 65 to 128 bits take two consecutive slots. Aggregates and vectors do not
//! exist here: the front end gives each scalar a register of its own. Phis do not exist either: an edge carries the
//! moves that its target needs.

mod function;
mod ids;
mod inst;
mod lex;
mod module;
mod names;
mod operands;
mod parse;
mod place;
mod print;
mod source;
mod verify;

pub use function::{Block, Edge, Function, Holding, Move, Param, Slot};
pub use ids::{BlockId, CallId, FileId, FuncId, GlobalId, Reg, SourceTypeId, SpanId};
pub use inst::{
    Arg, BinOp, BitOp, ByVal, Call, Callee, CastOp, CmpOp, FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind, FloatMathOp,
    Inst, Intrinsic, OUT_OF_BOUNDS, OverflowOp, SymbolRef, Terminator, WRITTEN_OUT_OF_BOUNDS,
};
pub use module::{Global, Init, Module, Reloc, Target};
pub use operands::slots_of;
pub use parse::{ParseError, parse};
pub use print::{print, print_function};
pub use source::{BaseKind, Enumerator, Field, SourceFile, SourceType, Span, Variable};
pub use verify::{VerifyError, verify};
