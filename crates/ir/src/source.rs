//! What debug information says: files, positions, variables and the C types behind the bytes.

use crate::{FileId, Module, SourceTypeId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the compiler was given it.
    pub path: String,
    /// The program under test rather than Colt's own C library or a system header.
    pub is_user: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    pub file: Option<FileId>,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub ty: Option<SourceTypeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseKind {
    Signed,
    Unsigned,
    Char,
    UnsignedChar,
    Bool,
    Float,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub bit_offset: u64,
    pub bits: u64,
    pub is_bit_field: bool,
    pub ty: Option<SourceTypeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    pub name: String,
    pub value: i64,
}

/// `None` as a target means `void`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceType {
    Base {
        name: String,
        bytes: u64,
        kind: BaseKind,
    },
    Pointer {
        to: Option<SourceTypeId>,
        bytes: u64,
    },
    /// `count` is absent for `T x[]` and variable-length arrays.
    Array {
        of: Option<SourceTypeId>,
        count: Option<u64>,
    },
    Struct {
        name: String,
        bytes: u64,
        fields: Vec<Field>,
        is_complete: bool,
    },
    Union {
        name: String,
        bytes: u64,
        fields: Vec<Field>,
        is_complete: bool,
    },
    Enum {
        name: String,
        bytes: u64,
        values: Vec<Enumerator>,
    },
    Typedef {
        name: String,
        of: Option<SourceTypeId>,
    },
    Const {
        of: Option<SourceTypeId>,
    },
    Volatile {
        of: Option<SourceTypeId>,
    },
    /// Restrict, _Atomic and whatever else changes nothing for us.
    Qualified {
        of: Option<SourceTypeId>,
    },
    Function {
        result: Option<SourceTypeId>,
        params: Vec<Option<SourceTypeId>>,
        is_variadic: bool,
    },
}

impl Module {
    /// The type behind typedefs and qualifiers; `None` for void.
    pub fn strip(&self, ty: SourceTypeId) -> Option<SourceTypeId> {
        let mut ty = ty;
        loop {
            match self.ty(ty) {
                SourceType::Typedef { of, .. }
                | SourceType::Const { of }
                | SourceType::Volatile { of }
                | SourceType::Qualified { of } => ty = (*of)?,
                _ => return Some(ty),
            }
        }
    }

    /// Size in bytes, where the type is complete.
    pub fn size_of(&self, ty: SourceTypeId) -> Option<u64> {
        match self.ty(self.strip(ty)?) {
            SourceType::Base { bytes, .. } | SourceType::Pointer { bytes, .. } | SourceType::Enum { bytes, .. } => {
                Some(*bytes)
            }
            SourceType::Struct { bytes, is_complete, .. } | SourceType::Union { bytes, is_complete, .. } => {
                is_complete.then_some(*bytes)
            }
            SourceType::Array { of, count } => Some(self.size_of((*of)?)? * (*count)?),
            _ => None,
        }
    }

    /// C spelling of a type (`unsigned int`, `struct point`, `char[16]`, `const char *`), `void` for none.
    pub fn spell(&self, ty: Option<SourceTypeId>) -> String {
        let Some(ty) = ty else { return "void".to_string() };
        match self.ty(ty) {
            SourceType::Base { name, .. } | SourceType::Typedef { name, .. } => name.clone(),
            SourceType::Struct { name, .. } => format!("struct {name}"),
            SourceType::Union { name, .. } => format!("union {name}"),
            // An enumeration without a name can be written as what it is.
            SourceType::Enum { name, .. } if name.is_empty() => "int".to_string(),
            SourceType::Enum { name, .. } => format!("enum {name}"),
            SourceType::Const { of } => format!("const {}", self.spell(*of)),
            SourceType::Volatile { of } => format!("volatile {}", self.spell(*of)),
            SourceType::Qualified { of } => self.spell(*of),
            SourceType::Pointer { to, .. } => format!("{} *", self.spell(*to)),
            SourceType::Array { .. } => {
                let mut suffix = String::new();
                let mut element = Some(ty);
                while let Some(SourceType::Array { of, count }) = element.map(|ty| self.ty(ty)) {
                    suffix.push_str(&count.map_or("[]".to_string(), |count| format!("[{count}]")));
                    element = *of;
                }
                format!("{}{suffix}", self.spell(element))
            }
            SourceType::Function { result, params, .. } => {
                let params: Vec<String> = params.iter().map(|param| self.spell(*param)).collect();
                format!("{} ({})", self.spell(*result), params.join(", "))
            }
        }
    }
}
