//! Entries other than `main`: a generated `main` that makes every parameter an input and calls them.
//!
//! For C the harness includes the file that defines the entry, so that static functions and local types are in reach,
//! and takes that file's place in the program. For bitcode it is one more file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ir::{Module, SourceType, SourceTypeId};

use crate::compile::{self, FileKind, Unit};
use crate::debug::{DebugInfo, FileRules};
use crate::llvm::{Context, Type, TypeKind, Value};
use crate::{FUZZER_ENTRY, LoadError, LoadedUnit, Sources, StringParams, parse_with_faults, typed};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessKind {
    Function,
    /// A function whose pointers are inputs by their types.
    Typed,
    /// `LLVMFuzzerTestOneInput` with an input of symbolic size.
    Fuzzer,
}

/// The generated file and how it takes part in a native build: compile the program's files with `defines`, the harness
/// in place of `replaces`.
#[derive(Clone, Debug)]
pub struct Harness {
    pub kind: HarnessKind,
    pub text: String,
    pub path: PathBuf,
    /// The source file that the harness includes; none for bitcode.
    pub replaces: Option<PathBuf>,
    /// Flags for the program's other C files: their `main` must give way.
    pub defines: Vec<String>,
    /// Keeps a temporary folder alive.
    _folder: Option<Arc<tempfile::TempDir>>,
}

/// The harness's file, wherever it lies, and its name in all results.
pub const FILE_NAME: &str = "colt_harness.c";

/// The name that the program's own `main` gets.
const RENAMED_MAIN: &str = "colt_user_main";

/// Elements behind a pointer to characters, or to nobody knows what.
const TEXT_ELEMENTS: u32 = 16;

/// Makes the harness for `entry` and puts its module among `units`.
pub(crate) fn attach(
    context: &Context,
    sources: &Sources,
    entry: &str,
    units: &mut Vec<LoadedUnit>,
) -> Result<Harness, LoadError> {
    let defines_entry =
        |unit: &LoadedUnit| unit.module.function(entry).is_some_and(|function| !function.is_declaration());
    let unit_idx = units.iter().position(defines_entry).expect("the entry was found with a body");
    let unit = &units[unit_idx];
    unit.module.use_debug_intrinsics();
    let function = unit.module.function(entry).expect("the entry was found in this unit");
    if unit.kind == FileKind::Llvm && function.is_local() {
        return Err(signature_error(entry, "it is static in a bitcode file, so no other file can call it"));
    }
    let kind = match entry {
        FUZZER_ENTRY => HarnessKind::Fuzzer,
        _ if sources.typed.is_some() => HarnessKind::Typed,
        _ => HarnessKind::Function,
    };
    let opening = match unit.kind {
        FileKind::C => Opening::Include(std::path::absolute(&unit.path).unwrap_or_else(|_| unit.path.clone())),
        FileKind::Llvm => Opening::Declare,
    };
    let text = match kind {
        HarnessKind::Fuzzer => fuzzer_text(&opening, sources.fuzzer_size, sources.strings),
        HarnessKind::Typed => typed::text(context, entry, function, &opening, units, unit, sources)?,
        HarnessKind::Function => function_text(context, entry, function, &opening, sources.strings)?,
    };
    let replaces = (unit.kind == FileKind::C).then(|| unit.path.clone());
    let harness = write_harness(sources, entry, kind, text, replaces)?;
    let bytes = compile::compile(&compile::find_clang()?, &harness.path, sources, &sources.sanitizers)?;
    let made = parse_with_faults(context, sources, &Unit { path: harness.path.clone(), kind: FileKind::C, bytes })?;
    if let Some(main) = made.module.function("main")
        && main.is_declaration()
    {
        return Err(signature_error(entry, "its file redefines `main` in a way that hides the harness"));
    }
    match unit.kind {
        FileKind::C => units[unit_idx] = made,
        FileKind::Llvm => units.push(made),
    }
    let harness_path = harness.path.clone();
    for unit in units.iter().filter(|unit| unit.path != harness_path) {
        if let Some(main) = unit.module.function("main") {
            main.set_name(RENAMED_MAIN);
        }
    }
    Ok(harness)
}

pub(crate) fn signature_error(entry: &str, reason: impl Into<String>) -> LoadError {
    LoadError::Signature { entry: entry.to_string(), reason: reason.into() }
}

fn write_harness(
    sources: &Sources,
    entry: &str,
    kind: HarnessKind,
    text: String,
    replaces: Option<PathBuf>,
) -> Result<Harness, LoadError> {
    let failed = |path: &Path, error: std::io::Error| LoadError::Harness {
        entry: entry.to_string(),
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let (folder, temporary) = match &sources.work_dir {
        Some(folder) => (folder.clone(), None),
        None => {
            let temporary = tempfile::Builder::new().prefix("colt-harness").tempdir();
            let temporary = temporary.map_err(|error| failed(&std::env::temp_dir(), error))?;
            (temporary.path().to_path_buf(), Some(Arc::new(temporary)))
        }
    };
    let path = folder.join(FILE_NAME);
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    std::fs::write(&path, &text).map_err(|error| failed(&path, error))?;
    let defines = vec![format!("-Dmain={RENAMED_MAIN}")];
    Ok(Harness { kind, text, path, replaces, defines, _folder: temporary })
}

/// How the harness comes to know the entry.
pub(crate) enum Opening {
    Include(PathBuf),
    Declare,
}

impl Opening {
    pub(crate) fn write(&self, text: &mut String) {
        if let Opening::Include(path) = self {
            let path = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(text, "#define main {RENAMED_MAIN}\n#include \"{path}\"\n#undef main\n");
        }
    }
}

fn fuzzer_text(opening: &Opening, max_bytes: u32, strings: StringParams) -> String {
    let mut text = format!("// Generated: calls {FUZZER_ENTRY} with up to {max_bytes} bytes.\n");
    opening.write(&mut text);
    if matches!(opening, Opening::Declare) {
        let _ = writeln!(text, "extern int {FUZZER_ENTRY}(const unsigned char *data, __SIZE_TYPE__ size);");
    }
    if strings == StringParams::Strings {
        let _ = write!(
            text,
            "extern void *__colt_data(const char *name, __SIZE_TYPE__ most, __SIZE_TYPE__ *size);

int main(void) {{
    __SIZE_TYPE__ colt_size;
    unsigned char *colt_data = __colt_data(\"data\", {max_bytes}, &colt_size);
    {FUZZER_ENTRY}(colt_data, colt_size);
    return 0;
}}
"
        );
        return text;
    }
    let _ = write!(
        text,
        "extern void colt_input(void *object, __SIZE_TYPE__ size, const char *name);
extern __SIZE_TYPE__ __colt_next_size(__SIZE_TYPE__ max);
extern void *malloc(__SIZE_TYPE__ size);
extern void free(void *block);

int main(void) {{
    __SIZE_TYPE__ colt_size = __colt_next_size({max_bytes});
    unsigned char *colt_data = malloc(colt_size);
    colt_input(colt_data, colt_size, \"data\");
    {FUZZER_ENTRY}(colt_data, colt_size);
    free(colt_data);
    return 0;
}}
"
    );
    text
}

/// The source-level view of the entry's parameters.
pub(crate) struct Signature {
    /// Only its types are filled.
    pub types: Module,
    /// Type and name of each parameter; the type is absent where debug information is.
    pub params: Vec<(Option<SourceTypeId>, String)>,
    pub result: Option<SourceTypeId>,
}

fn function_text(
    context: &Context,
    entry: &str,
    function: Value,
    opening: &Opening,
    strings: StringParams,
) -> Result<String, LoadError> {
    if function.value_type().is_variadic() {
        return Err(signature_error(entry, "it takes a variable number of arguments"));
    }
    let signature = read_signature(context, function);
    let mut params = Vec::new();
    for (number, (ty, name)) in signature.params.iter().enumerate() {
        let name = if name.is_empty() { format!("arg{number}") } else { name.clone() };
        let local = format!("colt_{number}_{name}");
        let plan = match (ty, opening) {
            (Some(ty), Opening::Include(_)) => plan_param(&signature.types, *ty),
            (Some(ty), Opening::Declare) => plan_plain_param(&signature.types, *ty),
            (None, _) => match function.value_type().params().get(number) {
                Some(ty) => plan_machine_param(*ty),
                None => Err("of unknown type".to_string()),
            },
        };
        let mut plan = plan.map_err(|why| signature_error(entry, format!("its parameter `{name}` is {why}")))?;
        if strings == StringParams::Strings && ty.is_some_and(|ty| is_string(&signature.types, ty)) {
            plan = Plan::String;
        }
        params.push(HarnessParam { name, local, plan });
    }
    Ok(write_function_harness(entry, &params, opening))
}

pub(crate) fn read_signature(context: &Context, function: Value) -> Signature {
    let rules = FileRules { foreign: Vec::new(), spelling: Default::default(), harness: None, cwd: String::new() };
    let mut debug = DebugInfo::new(context, rules);
    let info = debug.function(function);
    let names = info.param_names;
    let types = Module {
        target: ir::Target { triple: String::new(), pointer_bytes: 8 },
        functions: Vec::new(),
        globals: Vec::new(),
        types: debug.types,
        files: Vec::new(),
        spans: Vec::new(),
    };
    let signature = info.signature.map(|ty| types.ty(ty).clone());
    let result = match &signature {
        Some(SourceType::Function { result, .. }) => *result,
        _ => None,
    };
    let params = match signature {
        Some(SourceType::Function { params, .. }) => params
            .iter()
            .zip(names.into_iter().chain(std::iter::repeat(String::new())))
            .map(|(ty, name)| (*ty, name))
            .collect(),
        _ => function.value_type().params().iter().map(|_| (None, String::new())).collect(),
    };
    Signature { types, params, result }
}

/// What the harness does for one parameter.
enum Plan {
    /// An object of this type, filled as a whole.
    Value {
        spelling: String,
        is_bool: bool,
    },
    /// A pointer to so many elements, filled as a whole.
    Pointee {
        spelling: String,
        n_elements: u32,
    },
    /// A string.
    String,
    /// A pointer to a null pointer.
    PointerToNull,
    Null,
}

struct HarnessParam {
    name: String,
    local: String,
    plan: Plan,
}

/// For C: any complete type can be spelled, since the harness includes the source.
fn plan_param(types: &Module, ty: SourceTypeId) -> Result<Plan, String> {
    let spelling = spell_unqualified(types, ty);
    let Some(stripped) = types.strip(ty) else { return Err("void".to_string()) };
    match types.ty(stripped) {
        SourceType::Pointer { to, .. } => Ok(plan_pointee(types, *to)),
        SourceType::Base { kind, .. } => {
            Ok(Plan::Value { spelling: spelled(spelling)?, is_bool: *kind == ir::BaseKind::Bool })
        }
        SourceType::Enum { .. } | SourceType::Struct { .. } | SourceType::Union { .. } => {
            Ok(Plan::Value { spelling: spelled(spelling)?, is_bool: false })
        }
        SourceType::Array { .. } => Ok(Plan::Value { spelling: spelled(spelling)?, is_bool: false }),
        _ => Err(format!("of type `{}`, for which Colt cannot make an input", types.spell(Some(ty)))),
    }
}

/// Whether a parameter points to plain characters.
fn is_string(types: &Module, ty: SourceTypeId) -> bool {
    let Some(SourceType::Pointer { to: Some(to), .. }) = types.strip(ty).map(|ty| types.ty(ty)) else { return false };
    let pointee = types.strip(*to).map(|ty| types.ty(ty));
    matches!(pointee, Some(SourceType::Base { bytes: 1, kind: ir::BaseKind::Char, .. }))
}

fn spelled(spelling: Option<String>) -> Result<String, String> {
    spelling.ok_or_else(|| "of an unnamed type, which a harness cannot spell".to_string())
}

fn plan_pointee(types: &Module, to: Option<SourceTypeId>) -> Plan {
    let text = |spelling: &str| Plan::Pointee { spelling: spelling.to_string(), n_elements: TEXT_ELEMENTS };
    let Some(to) = to else { return text("char") };
    let Some(stripped) = types.strip(to) else { return text("char") };
    let Some(spelling) = spell_unqualified(types, to) else { return Plan::Null };
    match types.ty(stripped) {
        SourceType::Base { bytes: 1, kind, .. } if *kind != ir::BaseKind::Bool => text(&spelling),
        SourceType::Base { .. } | SourceType::Enum { .. } => Plan::Pointee { spelling, n_elements: 1 },
        SourceType::Struct { is_complete: true, .. } | SourceType::Union { is_complete: true, .. } => {
            Plan::Pointee { spelling, n_elements: 1 }
        }
        SourceType::Pointer { .. } => Plan::PointerToNull,
        _ => Plan::Null,
    }
}

/// A declaration specifier for the type, outer qualifiers left out so that an object of it can be filled. `None` for
/// types without a name and for those that need a declarator.
fn spell_unqualified(types: &Module, ty: SourceTypeId) -> Option<String> {
    match types.ty(ty) {
        SourceType::Const { of } | SourceType::Volatile { of } | SourceType::Qualified { of } => {
            of.map_or(Some("void".to_string()), |of| spell_unqualified(types, of))
        }
        SourceType::Typedef { name, of } => match of.map(|of| types.ty(of)) {
            // `typedef const struct s t`: the name would carry the qualifier along.
            Some(SourceType::Const { .. } | SourceType::Volatile { .. }) => spell_unqualified(types, (*of)?),
            _ => Some(name.clone()),
        },
        SourceType::Struct { name, .. } if name.is_empty() => None,
        SourceType::Union { name, .. } if name.is_empty() => None,
        SourceType::Enum { name, .. } if name.is_empty() => Some("int".to_string()),
        SourceType::Pointer { .. } => Some("void *".to_string()),
        SourceType::Array { .. } | SourceType::Function { .. } => None,
        _ => Some(types.spell(Some(ty))),
    }
}

/// For bitcode: the harness knows no names, so only scalars and pointers to scalars can be declared.
fn plan_plain_param(types: &Module, ty: SourceTypeId) -> Result<Plan, String> {
    let unsupported = || {
        format!("of type `{}`; for bitcode only scalars and pointers to scalars are possible", types.spell(Some(ty)))
    };
    let Some(stripped) = types.strip(ty) else { return Err("void".to_string()) };
    let scalar = |ty: SourceTypeId| match types.ty(ty) {
        SourceType::Base { .. } => Some(types.spell(Some(ty))),
        SourceType::Enum { .. } => Some("int".to_string()),
        _ => None,
    };
    match types.ty(stripped) {
        SourceType::Pointer { to, .. } => match to.and_then(|to| types.strip(to)) {
            None => Ok(plan_pointee(types, None)),
            Some(pointee) => {
                scalar(pointee).ok_or_else(unsupported)?;
                Ok(plan_pointee(types, Some(pointee)))
            }
        },
        SourceType::Base { kind, .. } => {
            let spelling = types.spell(Some(stripped));
            Ok(Plan::Value { spelling, is_bool: *kind == ir::BaseKind::Bool })
        }
        _ => Ok(Plan::Value { spelling: scalar(stripped).ok_or_else(unsupported)?, is_bool: false }),
    }
}

/// Without debug information: C types by width.
fn plan_machine_param(ty: Type) -> Result<Plan, String> {
    let spelling = match ty.kind() {
        TypeKind::LLVMPointerTypeKind => return Ok(plan_pointee_text()),
        TypeKind::LLVMFloatTypeKind => "float",
        TypeKind::LLVMDoubleTypeKind => "double",
        TypeKind::LLVMX86_FP80TypeKind => "long double",
        TypeKind::LLVMIntegerTypeKind => match ty.int_width() {
            8 => "signed char",
            16 => "short",
            32 => "int",
            64 => "long long",
            _ => return Err(format!("of type `{}`, for which Colt cannot make an input", ty.print())),
        },
        _ => return Err(format!("of type `{}`, for which Colt cannot make an input", ty.print())),
    };
    Ok(Plan::Value { spelling: spelling.to_string(), is_bool: false })
}

fn plan_pointee_text() -> Plan {
    Plan::Pointee { spelling: "char".to_string(), n_elements: TEXT_ELEMENTS }
}

fn write_function_harness(entry: &str, params: &[HarnessParam], opening: &Opening) -> String {
    let mut text = format!("// Generated: calls {entry} with every parameter an input.\n");
    opening.write(&mut text);
    if matches!(opening, Opening::Declare) {
        let types: Vec<String> = params.iter().map(|param| param.plan.declared_type()).collect();
        let types = if types.is_empty() { "void".to_string() } else { types.join(", ") };
        let _ = writeln!(text, "extern void {entry}({types});");
    }
    text.push_str(
        "extern void colt_input(void *object, __SIZE_TYPE__ size, const char *name);\n\
         extern char *colt_string(const char *name);\n\
         extern void __colt_bounded_pointer(const char *parameter);\n\nint main(void) {\n",
    );
    for param in params {
        param.declare(&mut text);
    }
    for param in params {
        param.fill(&mut text);
    }
    let args: Vec<&str> = params.iter().map(HarnessParam::arg).collect();
    let _ = write!(text, "    {entry}({});\n    return 0;\n}}\n", args.join(", "));
    text
}

impl Plan {
    fn declared_type(&self) -> String {
        match self {
            Plan::Value { spelling, .. } => spelling.clone(),
            Plan::Pointee { .. } | Plan::String | Plan::PointerToNull | Plan::Null => "void *".to_string(),
        }
    }
}

impl HarnessParam {
    fn declare(&self, text: &mut String) {
        let local = &self.local;
        let _ = match &self.plan {
            Plan::Value { spelling, .. } => writeln!(text, "    {spelling} {local};"),
            Plan::Pointee { spelling, n_elements } => writeln!(text, "    {spelling} {local}[{n_elements}];"),
            Plan::String => writeln!(text, "    char *{local};"),
            Plan::PointerToNull => writeln!(text, "    void *{local}[1];"),
            Plan::Null => writeln!(text, "    void *{local};"),
        };
    }

    fn fill(&self, text: &mut String) {
        let (name, local) = (&self.name, &self.local);
        let _ = match &self.plan {
            Plan::Value { is_bool, .. } => {
                let _ = writeln!(text, "    colt_input(&{local}, sizeof {local}, \"{name}\");");
                if *is_bool { writeln!(text, "    *(unsigned char *)&{local} &= 1;") } else { Ok(()) }
            }
            Plan::Pointee { .. } => {
                let _ = writeln!(text, "    colt_input({local}, sizeof {local}, \"*{name}\");");
                writeln!(text, "    __colt_bounded_pointer(\"{name}\");")
            }
            Plan::String => {
                let _ = writeln!(text, "    {local} = colt_string(\"*{name}\");");
                writeln!(text, "    __colt_bounded_pointer(\"{name}\");")
            }
            // An input all the same, so that every test has something for every parameter; nobody reads it.
            Plan::PointerToNull => {
                let _ = writeln!(text, "    colt_input({local}, sizeof {local}, \"*{name}\");\n    {local}[0] = 0;");
                writeln!(text, "    __colt_bounded_pointer(\"{name}\");")
            }
            Plan::Null => {
                let _ = writeln!(text, "    colt_input(&{local}, sizeof {local}, \"{name}\");");
                writeln!(text, "    __colt_bounded_pointer(\"{name}\");")
            }
        };
    }

    fn arg(&self) -> &str {
        match self.plan {
            Plan::Null => "0",
            _ => &self.local,
        }
    }
}
