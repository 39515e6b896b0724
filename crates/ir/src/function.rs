//! Functions, their blocks and the edges between them.

use crate::{BlockId, Call, FileId, Inst, Reg, SourceTypeId, SpanId, Terminator, Variable};

/// Copies made on an edge, executed in order (the front end has already broken cycles with spare registers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub dst: Reg,
    pub src: Reg,
    pub bits: u8,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub target: BlockId,
    pub moves: Box<[Move]>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub terminator: Terminator,
    /// One per instruction and one more for the terminator.
    pub spans: Vec<SpanId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub reg: Reg,
    pub bits: u8,
}

/// One scalar of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub bits: u8,
}

/// At the beginning of a block a register holds a variable of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    pub block: BlockId,
    pub reg: Reg,
    pub variable: Variable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    /// Scalars as the machine passes them (after the compiler's lowering of structures).
    pub params: Vec<Param>,
    pub results: Vec<Slot>,
    pub variadic: bool,
    pub no_return: bool,
    /// Number of 64-bit slots a frame needs.
    pub n_slots: u32,
    /// Empty for a declaration. Block 0 is the entry and has no predecessors.
    pub blocks: Vec<Block>,
    pub calls: Vec<Call>,
    /// Local variables with an address; parameters too.
    pub variables: Vec<Variable>,
    /// Local variables that registers hold at the beginning of blocks where several values of them meet.
    pub holdings: Vec<Holding>,
    pub file: Option<FileId>,
    pub line: u32,
    /// Source-level signature (a `SourceType::Function`) and the parameters' names.
    pub signature: Option<SourceTypeId>,
    pub param_names: Vec<String>,
    /// Part of Colt's own C library rather than of the program under test.
    pub is_runtime: bool,
    /// Visible in its own file only.
    pub is_static: bool,
}

impl Function {
    pub fn is_declaration(&self) -> bool {
        self.blocks.is_empty()
    }

    #[inline]
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.idx()]
    }
}
