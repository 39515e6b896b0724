//! Debug information: files, positions, variables and C types, read once per node and numbered as they are met.

use ir::{BaseKind, Enumerator, Field, FileId, SourceFile, SourceType, SourceTypeId, Span, SpanId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Context, Meta, MetaKind, Opcode, Value, ValueKind};

mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const ENUMERATION: u16 = 0x04;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER: u16 = 0x0f;
    pub const STRUCTURE: u16 = 0x13;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION: u16 = 0x17;
    pub const CONST: u16 = 0x26;
    pub const VOLATILE: u16 = 0x35;
}

/// Which source files are the user's; see `SourceFile::is_user`.
pub(crate) struct FileRules {
    /// Folders whose files are not the user's (Colt's own headers).
    pub foreign: Vec<String>,
    /// Absolute path of a file to the spelling the user gave: a harness includes by absolute path.
    pub spelling: FxHashMap<String, String>,
    /// The generated harness.
    pub harness: Option<String>,
    /// Our working folder. Relative names may start elsewhere: where bitcode was made, or where the name and the folder
    /// it was compiled in part.
    pub cwd: String,
}

/// Folder name that the library's files carry in their debug information (see `build.rs`).
pub(crate) const RUNTIME_FOLDER: &str = "colt-runtime";

impl FileRules {
    fn is_user(&self, path: &str, absolute: &str) -> bool {
        let is_system =
            ["/usr/include/", "/usr/lib/", "/usr/local/include/"].iter().any(|dir| absolute.starts_with(dir));
        let is_foreign = self.foreign.iter().any(|dir| absolute.starts_with(dir) || path.starts_with(dir));
        let is_harness = self.harness.as_deref().is_some_and(|harness| harness == path || harness == absolute);
        !(is_system || is_foreign || is_harness || is_runtime_path(path) || absolute.contains("/lib/clang/"))
    }
}

fn is_runtime_path(path: &str) -> bool {
    path.strip_prefix(RUNTIME_FOLDER).is_some_and(|rest| rest.starts_with('/'))
}

pub(crate) struct DebugInfo<'c> {
    context: &'c Context,
    rules: FileRules,
    pub types: Vec<SourceType>,
    pub files: Vec<SourceFile>,
    pub spans: Vec<Span>,
    type_ids: FxHashMap<Meta, SourceTypeId>,
    file_ids: FxHashMap<Meta, FileId>,
    file_names: FxHashMap<(String, String), FileId>,
    scope_files: FxHashMap<Meta, Option<FileId>>,
    span_ids: FxHashMap<Span, SpanId>,
}

impl<'c> DebugInfo<'c> {
    pub fn new(context: &'c Context, rules: FileRules) -> DebugInfo<'c> {
        DebugInfo {
            context,
            rules,
            types: Vec::new(),
            files: Vec::new(),
            spans: vec![Span { file: None, line: 0, column: 0 }],
            type_ids: FxHashMap::default(),
            file_ids: FxHashMap::default(),
            file_names: FxHashMap::default(),
            scope_files: FxHashMap::default(),
            span_ids: FxHashMap::default(),
        }
    }

    pub fn span(&mut self, inst: Value) -> SpanId {
        let Some(location) = inst.location() else { return SpanId(0) };
        let file = location.location_scope().and_then(|scope| self.scope_file(scope));
        let span = Span { file, line: location.location_line(), column: location.location_column() };
        if span.file.is_none() && span.line == 0 {
            return SpanId(0);
        }
        *self.span_ids.entry(span).or_insert_with(|| {
            self.spans.push(span);
            SpanId::new(self.spans.len() - 1)
        })
    }

    pub fn scope_file(&mut self, scope: Meta) -> Option<FileId> {
        if let Some(file) = self.scope_files.get(&scope) {
            return *file;
        }
        let file = scope.scope_file().map(|file| self.file(file));
        self.scope_files.insert(scope, file);
        file
    }

    fn file(&mut self, meta: Meta) -> FileId {
        if let Some(file) = self.file_ids.get(&meta) {
            return *file;
        }
        let (directory, name) = (meta.file_directory(), meta.file_name());
        let absolute = if name.starts_with('/') { name.clone() } else { format!("{directory}/{name}") };
        let is_elsewhere = directory.starts_with('/') && directory != self.rules.cwd;
        let name = if is_elsewhere { absolute.clone() } else { name };
        let path = self.rules.spelling.get(&absolute).cloned().unwrap_or(name);
        // The same file is described anew in every translation unit.
        let key = if path.starts_with('/') { (String::new(), path.clone()) } else { (directory, path.clone()) };
        let file = match self.file_names.get(&key) {
            Some(file) => *file,
            None => {
                let is_user = self.rules.is_user(&path, &absolute);
                self.files.push(SourceFile { path, is_user });
                let file = FileId::new(self.files.len() - 1);
                self.file_names.insert(key, file);
                file
            }
        };
        self.file_ids.insert(meta, file);
        file
    }

    /// Name, file, line, signature and parameter names of a function.
    pub fn function(&mut self, function: Value) -> FunctionInfo {
        let Some(subprogram) = function.subprogram() else { return FunctionInfo::default() };
        let operands = self.context.meta_operands(subprogram);
        let name = self.string_operand(&operands, 2);
        let signature = operands.get(4).copied().flatten().map(|ty| self.ty(ty));
        let n_params = match signature.map(|ty| &self.types[ty.idx()]) {
            Some(SourceType::Function { params, .. }) => params.len(),
            _ => 0,
        };
        FunctionInfo {
            name: Some(name),
            file: self.scope_file(subprogram),
            line: subprogram.subprogram_line(),
            signature,
            param_names: self.param_names(function, n_params),
        }
    }

    fn string_operand(&self, operands: &[Option<Meta>], operand: usize) -> String {
        let meta = operands.get(operand).copied().flatten();
        meta.filter(|meta| matches!(meta.kind(), MetaKind::LLVMMDStringMetadataKind))
            .map_or_else(String::new, |meta| self.context.meta_string(meta))
    }

    /// A local variable or parameter.
    pub fn variable(&mut self, meta: Meta) -> Variable {
        let operands = self.context.meta_operands(meta);
        let name = self.string_operand(&operands, 1);
        let ty = operands.get(3).copied().flatten().map(|ty| self.ty(ty));
        Variable { name, ty }
    }

    /// Names of the source parameters, as many as the signature has.
    ///
    /// Clang names the machine's parameters after them, which is quick to read. Files without such names make us
    /// print the variables, since the number of a parameter has no accessor, and printing numbers the whole module.
    fn param_names(&self, function: Value, n_params: usize) -> Vec<String> {
        let names = machine_names(function);
        if names.len() == n_params && names.iter().all(|name| !name.is_empty()) {
            return names;
        }
        let mut names = vec![String::new(); n_params];
        let mut seen = FxHashSet::default();
        for inst in function.blocks().flat_map(|block| block.instructions()) {
            let Some(variable) = described_variable(inst).filter(|variable| seen.insert(*variable)) else { continue };
            if names.iter().all(|name| !name.is_empty()) {
                break;
            }
            if let Some(name) = self.parameter_number(variable).and_then(|number| names.get_mut(number)) {
                *name = self.string_operand(&self.context.meta_operands(variable), 1);
            }
        }
        names
    }

    fn parameter_number(&self, variable: Meta) -> Option<usize> {
        let text = self.context.meta_text(variable);
        let (_, rest) = text.split_once(" arg: ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().ok()?.checked_sub(1)
    }

    pub fn global_type(&mut self, global: Value) -> Option<SourceTypeId> {
        let expression = global.global_metadata(self.context.dbg_kind())?;
        let variable = match expression.kind() {
            MetaKind::LLVMDIGlobalVariableExpressionMetadataKind => expression.global_variable()?,
            _ => expression,
        };
        let ty = self.context.meta_operands(variable).get(3).copied().flatten()?;
        Some(self.ty(ty))
    }

    /// The types that a file's code casts to, which may be the only mention of them.
    pub fn read_retained(&mut self, compile_unit: Meta) {
        const RETAINED_TYPES: usize = 5;
        let retained = self.context.meta_operands(compile_unit).get(RETAINED_TYPES).copied().flatten();
        let nodes = retained.map_or_else(Vec::new, |retained| self.context.meta_operands(retained));
        let is_type = |meta: &Meta| {
            matches!(meta.kind(), MetaKind::LLVMDIDerivedTypeMetadataKind | MetaKind::LLVMDICompositeTypeMetadataKind)
        };
        for node in nodes.into_iter().flatten().filter(is_type) {
            self.ty(node);
        }
    }

    /// A type that no source names: what an access takes a pointer to point to.
    pub fn unnamed(&mut self, ty: SourceType) -> SourceTypeId {
        if let Some(idx) = self.types.iter().position(|known| *known == ty) {
            return SourceTypeId::new(idx);
        }
        self.types.push(ty);
        SourceTypeId::new(self.types.len() - 1)
    }

    pub fn ty(&mut self, meta: Meta) -> SourceTypeId {
        if let Some(ty) = self.type_ids.get(&meta) {
            return *ty;
        }
        // Reserve the number first: a structure may contain a pointer to itself.
        let id = SourceTypeId::new(self.types.len());
        self.types.push(SourceType::Qualified { of: None });
        self.type_ids.insert(meta, id);
        let ty = self.read_type(meta);
        self.types[id.idx()] = ty;
        id
    }

    fn read_type(&mut self, meta: Meta) -> SourceType {
        match meta.kind() {
            MetaKind::LLVMDIBasicTypeMetadataKind => SourceType::Base {
                name: meta.type_name(),
                bytes: meta.type_bits().div_ceil(8),
                kind: base_kind(&self.context.meta_text(meta)),
            },
            MetaKind::LLVMDIDerivedTypeMetadataKind => self.read_derived(meta),
            MetaKind::LLVMDICompositeTypeMetadataKind => self.read_composite(meta),
            MetaKind::LLVMDISubroutineTypeMetadataKind => self.read_subroutine(meta),
            _ => SourceType::Base { name: meta.type_name(), bytes: 0, kind: BaseKind::Other },
        }
    }

    fn read_derived(&mut self, meta: Meta) -> SourceType {
        let operands = self.context.meta_operands(meta);
        let of = operands.get(3).copied().flatten().map(|ty| self.ty(ty));
        match meta.tag() {
            tag::POINTER => SourceType::Pointer { to: of, bytes: meta.type_bits() / 8 },
            tag::TYPEDEF => SourceType::Typedef { name: meta.type_name(), of },
            tag::CONST => SourceType::Const { of },
            tag::VOLATILE => SourceType::Volatile { of },
            _ => SourceType::Qualified { of },
        }
    }

    fn read_composite(&mut self, meta: Meta) -> SourceType {
        const FORWARD_DECLARATION: i32 = 1 << 2;
        let operands = self.context.meta_operands(meta);
        let bytes = meta.type_bits().div_ceil(8);
        let name = meta.type_name();
        let is_complete = meta.type_flags() & FORWARD_DECLARATION == 0;
        let elements = operands.get(4).copied().flatten();
        match meta.tag() {
            tag::STRUCTURE => SourceType::Struct { name, bytes, fields: self.read_fields(elements), is_complete },
            tag::UNION => SourceType::Union { name, bytes, fields: self.read_fields(elements), is_complete },
            tag::ENUMERATION => SourceType::Enum { name, bytes, values: self.read_enumerators(elements) },
            tag::ARRAY => self.read_array(operands.get(3).copied().flatten(), elements),
            _ => SourceType::Base { name, bytes, kind: BaseKind::Other },
        }
    }

    fn read_fields(&mut self, elements: Option<Meta>) -> Vec<Field> {
        const BIT_FIELD: i32 = 1 << 19;
        let Some(elements) = elements else { return Vec::new() };
        let members = self.context.meta_operands(elements);
        let members = members.into_iter().flatten().filter(|member| member.tag() == tag::MEMBER);
        members
            .map(|member| Field {
                name: member.type_name(),
                bit_offset: member.type_offset(),
                bits: member.type_bits(),
                is_bit_field: member.type_flags() & BIT_FIELD != 0,
                ty: self.context.meta_operands(member).get(3).copied().flatten().map(|ty| self.ty(ty)),
            })
            .collect()
    }

    fn read_enumerators(&mut self, elements: Option<Meta>) -> Vec<Enumerator> {
        let Some(elements) = elements else { return Vec::new() };
        let nodes = self.context.meta_operands(elements);
        let value_of = |text: &str| {
            let (_, rest) = text.split_once("value: ")?;
            let digits: String = rest.chars().take_while(|c| *c == '-' || c.is_ascii_digit()).collect();
            digits.parse::<i64>().ok().or_else(|| digits.parse::<u64>().ok().map(|value| value as i64))
        };
        nodes
            .into_iter()
            .flatten()
            .map(|node| Enumerator {
                name: self.string_operand(&self.context.meta_operands(node), 0),
                value: value_of(&self.context.meta_text(node)).unwrap_or(0),
            })
            .collect()
    }

    /// One level per dimension: `int a[2][3]` is an array of two arrays of three.
    fn read_array(&mut self, element: Option<Meta>, subranges: Option<Meta>) -> SourceType {
        let dimensions = subranges.map_or_else(Vec::new, |node| self.context.meta_operands(node));
        let counts: Vec<Option<u64>> = dimensions.into_iter().flatten().map(|range| self.read_count(range)).collect();
        let mut of = element.map(|element| self.ty(element));
        for count in counts.iter().skip(1).rev() {
            self.types.push(SourceType::Array { of, count: *count });
            of = Some(SourceTypeId::new(self.types.len() - 1));
        }
        SourceType::Array { of, count: counts.first().copied().flatten() }
    }

    fn read_count(&self, subrange: Meta) -> Option<u64> {
        let count = self.context.meta_operand_values(subrange).first().copied().flatten()?;
        let is_number = count.kind() == ValueKind::LLVMConstantIntValueKind;
        // -1 is the mark of an array without a count.
        is_number.then(|| count.int_signed()).and_then(|count| u64::try_from(count).ok())
    }

    fn read_subroutine(&mut self, meta: Meta) -> SourceType {
        let types = self.context.meta_operands(meta).get(3).copied().flatten();
        let types = types.map_or_else(Vec::new, |types| self.context.meta_operands(types));
        let mut types = types.into_iter().map(|ty| ty.map(|ty| self.ty(ty))).collect::<Vec<_>>().into_iter();
        let result = types.next().flatten();
        let mut params: Vec<Option<SourceTypeId>> = types.collect();
        // A trailing void stands for `...`.
        let is_variadic = params.last().is_some_and(Option::is_none);
        if is_variadic {
            params.pop();
        }
        SourceType::Function { result, params, is_variadic }
    }
}

#[derive(Default)]
pub(crate) struct FunctionInfo {
    pub name: Option<String>,
    pub file: Option<FileId>,
    pub line: u32,
    pub signature: Option<SourceTypeId>,
    pub param_names: Vec<String>,
}

/// The variable that a debug intrinsic speaks of.
pub(crate) fn described_variable(inst: Value) -> Option<Meta> {
    if inst.opcode() != Opcode::LLVMCall || inst.n_args() < 3 {
        return None;
    }
    let callee = inst.called_value();
    let is_debug = callee.kind() == ValueKind::LLVMFunctionValueKind && callee.name().starts_with("llvm.dbg.");
    is_debug.then(|| inst.operand(1).as_meta())
}

/// Source names in the names of the machine's parameters: a structure in pieces is `s.coerce0`, `s.coerce1` or `s.0`.
fn machine_names(function: Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for param in function.params() {
        let full = param.name();
        let name = full.split('.').next().unwrap_or_default().to_string();
        let is_result = full == "agg.result";
        let continues = full.contains('.') && names.last() == Some(&name);
        if !is_result && !continues {
            names.push(name);
        }
    }
    names
}

fn base_kind(text: &str) -> BaseKind {
    let kinds = [
        ("DW_ATE_signed_char", BaseKind::Char),
        ("DW_ATE_unsigned_char", BaseKind::UnsignedChar),
        ("DW_ATE_signed", BaseKind::Signed),
        ("DW_ATE_unsigned", BaseKind::Unsigned),
        ("DW_ATE_boolean", BaseKind::Bool),
        ("DW_ATE_float", BaseKind::Float),
    ];
    kinds.iter().find(|(name, _)| text.contains(name)).map_or(BaseKind::Other, |(_, kind)| *kind)
}
