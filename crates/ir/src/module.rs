//! A whole program: functions, globals, source types and positions.

use crate::{FuncId, Function, GlobalId, SourceFile, SourceType, SourceTypeId, Span, SpanId, SymbolRef};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub triple: String,
    /// 4 or 8.
    pub pointer_bytes: u8,
}

/// An address inside an initialiser: `plus - minus + addend`, stored little-endian in `bytes` bytes at `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloc {
    pub offset: u64,
    pub bytes: u8,
    pub plus: SymbolRef,
    pub minus: Option<SymbolRef>,
    pub addend: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Init {
    /// Defined in no file that was given.
    External,
    Zero,
    Bytes {
        bytes: Vec<u8>,
        relocs: Vec<Reloc>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    pub name: String,
    pub bytes: u64,
    pub align: u32,
    pub init: Init,
    pub is_constant: bool,
    pub ty: Option<SourceTypeId>,
    pub is_runtime: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    pub target: Target,
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    pub types: Vec<SourceType>,
    pub files: Vec<SourceFile>,
    /// Entry 0 is "no position".
    pub spans: Vec<Span>,
}

impl Module {
    #[inline]
    pub fn function(&self, func: FuncId) -> &Function {
        &self.functions[func.idx()]
    }

    #[inline]
    pub fn global(&self, global: GlobalId) -> &Global {
        &self.globals[global.idx()]
    }

    #[inline]
    pub fn ty(&self, ty: SourceTypeId) -> &SourceType {
        &self.types[ty.idx()]
    }

    #[inline]
    pub fn span(&self, span: SpanId) -> &Span {
        &self.spans[span.idx()]
    }

    pub fn find_function(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().position(|function| function.name == name).map(FuncId::new)
    }

    pub fn find_global(&self, name: &str) -> Option<GlobalId> {
        self.globals.iter().position(|global| global.name == name).map(GlobalId::new)
    }
}
