//! The harness of an entry whose pointers are inputs by their types: every parameter, and every global variable that starts as
//! zero and has pointers in it, is one input as it stands; what it points to is nobody's business here.

use std::fmt::Write as _;

use ir::{BaseKind, Module, SourceType, SourceTypeId};

use crate::compile::{self, FileKind, Unit};
use crate::debug::{DebugInfo, FileRules};
use crate::harness::{Opening, Signature, read_signature, signature_error};
use crate::llvm::{Context, Value};
use crate::{LoadError, LoadedUnit, Sources, parse_unit};

/// What is said about the structures that an entry is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// Functions that hold of every structure of their type before the call.
    pub valid: Vec<String>,
    /// Functions that must hold after it.
    pub keeps: Vec<String>,
}

/// A function of the user's that says whether a structure is as it should be.
struct Invariant {
    name: String,
    /// What it takes a pointer to.
    of: String,
}

/// Something that is made an input: how it is declared, and how the harness refers to it.
struct Input {
    /// Absent for a variable of the program.
    declaration: Option<String>,
    name: String,
    place: String,
    types: Pointed,
}

/// What a pointer, and the pointer behind it, point to.
#[derive(Default)]
struct Pointed {
    to: Option<String>,
    behind: Option<String>,
}

pub(crate) fn text(
    context: &Context,
    entry: &str,
    function: Value,
    opening: &Opening,
    units: &[LoadedUnit],
    unit: &LoadedUnit,
    sources: &Sources,
) -> Result<String, LoadError> {
    let typed = sources.typed.clone().unwrap_or_default();
    if function.value_type().is_variadic() {
        return Err(signature_error(entry, "it takes a variable number of arguments"));
    }
    if matches!(opening, Opening::Declare) {
        return Err(signature_error(entry, "pointers by their types need the source; it was given as bitcode"));
    }
    let signature = read_signature(context, function);
    let mut inputs = params(entry, &signature)?;
    let n_params = inputs.len();
    inputs.extend(globals(context, unit, &inputs));
    let find = |name: &str| find_invariant(context, sources, units, name);
    let valid = invariants(context, entry, find, &typed.valid, &inputs, &signature)?;
    let keeps = invariants(context, entry, find, &typed.keeps, &inputs, &signature)?;
    let result = signature.result.and_then(|ty| pointed(&signature.types, ty).to.map(|to| (ty, to)));

    let mut text = format!("// Generated: calls {entry} with every parameter an input, pointers too.\n");
    opening.write(&mut text);
    text.push_str(
        "extern void colt_input(void *object, __SIZE_TYPE__ size, const char *name);\n\
         extern void colt_assume(int condition);\nextern void __colt_keeps(int condition, const char *what);\n\
         extern void __colt_suppose(int begins);\n\
         extern void __colt_returned(const char *name, const char *type, int kind, __SIZE_TYPE__ size, unsigned long value);\n\n",
    );
    let is_word = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let functions =
        unit.module.functions().filter(|function| !function.is_declaration()).map(|function| function.name());
    text.push_str("#ifdef COLT_REPLAY\nconst struct { const char *name; void *at; } colt_functions[] = {");
    for name in functions.filter(is_word).filter(|name| name != "main") {
        let _ = write!(text, "{{\"{name}\", (void *){name}}}, ");
    }
    for name in unit.module.globals().filter(|global| global.initializer().is_some()).map(|global| global.name()) {
        if is_word(&name) {
            let _ = write!(text, "{{\"{name}\", (void *)&{name}}}, ");
        }
    }
    text.push_str("{0, 0}};\n#endif\n\nint main(void) {\n");
    for input in &inputs {
        if let Some(declaration) = &input.declaration {
            let _ = writeln!(text, "    {declaration};");
        }
        let Input { name, place, .. } = input;
        let _ = writeln!(text, "    colt_input((void *)&{place}, sizeof {place}, \"{name}\");");
    }
    for Invariant { name, of } in &valid {
        for argument in inputs.iter().flat_map(|input| input.arguments(of)) {
            let _ = writeln!(
                text,
                "    __colt_suppose(1);\n    int colt_{name}_{0} = !!({1});\n    __colt_suppose(0);\n    colt_assume(colt_{name}_{0});",
                argument.number(),
                argument.call(name)
            );
        }
    }
    let args: Vec<&str> = inputs[..n_params].iter().map(|input| input.place.as_str()).collect();
    let call = format!("{entry}({})", args.join(", "));
    // What it gives back takes the place of what it was given.
    let renewed = result.as_ref().filter(|(_, to)| keeps.iter().any(|keeps| keeps.of == *to));
    match signature.result.and_then(|ty| Some((ty, letter(&signature.types, ty)?))) {
        Some((ty, letter)) => {
            let _ = writeln!(text, "    {} = {call};", declare(&signature.types, Some(ty), "colt_result"));
            let _ = writeln!(
                text,
                "    unsigned long colt_bits = 0;\n    \
                 __builtin_memcpy(&colt_bits, (void *)&colt_result, sizeof colt_result);\n    \
                 __colt_returned(\"{entry}()\", \"{}\", '{letter}', sizeof colt_result, colt_bits);",
                signature.types.spell(Some(ty))
            );
        }
        None => {
            let _ = writeln!(text, "    {call};");
        }
    }
    if let Some((_, to)) = renewed {
        for Invariant { name, .. } in keeps.iter().filter(|keeps| keeps.of == *to) {
            let _ = writeln!(
                text,
                "    __colt_keeps({name}((void *)colt_result), \"{name} does not hold after {entry}\");"
            );
        }
    }
    let renewed = renewed.map(|(_, to)| to);
    for Invariant { name, of } in &keeps {
        for (idx, input) in inputs.iter().enumerate() {
            for argument in input.arguments(of) {
                if idx < n_params && Some(of) == renewed && !matches!(argument, Argument::Behind(_)) {
                    continue;
                }
                let call = argument.call(name);
                let _ = writeln!(text, "    __colt_keeps({call}, \"{name} does not hold after {entry}\");");
            }
        }
    }
    text.push_str("    return 0;\n}\n");
    Ok(text)
}

/// How a result is written down that is one word or less: as a pointer, a floating-point number, or with a sign or without.
fn letter(types: &Module, ty: SourceTypeId) -> Option<char> {
    match types.ty(types.strip(ty)?) {
        SourceType::Pointer { .. } => Some('p'),
        SourceType::Base { bytes, kind, .. } if *bytes <= 8 => match kind {
            BaseKind::Float => Some('f'),
            BaseKind::Signed | BaseKind::Char => Some('s'),
            BaseKind::Unsigned | BaseKind::UnsignedChar | BaseKind::Bool => Some('u'),
            BaseKind::Other => None,
        },
        SourceType::Enum { .. } => Some('s'),
        _ => None,
    }
}

/// How an invariant is asked about an input.
enum Argument<'a> {
    Itself(&'a str),
    /// Of what a pointer to a pointer points to.
    Behind(&'a str),
    /// A structure that is a variable.
    Address(&'a str),
}

impl Argument<'_> {
    fn call(&self, function: &str) -> String {
        match self {
            Argument::Itself(place) => format!("{function}((void *){place})"),
            Argument::Behind(place) => format!("{place} == 0 || {function}((void *)*{place})"),
            Argument::Address(place) => format!("{function}((void *)&{place})"),
        }
    }

    /// A word that tells the arguments apart.
    fn number(&self) -> String {
        match self {
            Argument::Itself(place) | Argument::Behind(place) | Argument::Address(place) => {
                place.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
            }
        }
    }
}

impl Input {
    fn arguments<'a>(&'a self, of: &str) -> Vec<Argument<'a>> {
        let mut arguments = Vec::new();
        if self.types.to.as_deref() == Some(of) {
            arguments.push(if self.declaration.is_none() && self.types.behind.as_deref() == Some("") {
                Argument::Address(&self.place)
            } else {
                Argument::Itself(&self.place)
            });
        } else if self.types.behind.as_deref() == Some(of) {
            arguments.push(Argument::Behind(&self.place));
        }
        arguments
    }
}

fn params(entry: &str, signature: &Signature) -> Result<Vec<Input>, LoadError> {
    let mut inputs = Vec::new();
    for (number, (ty, name)) in signature.params.iter().enumerate() {
        let name = if name.is_empty() { format!("arg{number}") } else { name.clone() };
        let Some(ty) = *ty else {
            return Err(signature_error(entry, format!("the type of its parameter `{name}` is not known")));
        };
        let place = format!("colt_{number}_{name}");
        let unqualified = unqualified(&signature.types, ty);
        inputs.push(Input {
            declaration: Some(declare(&signature.types, Some(unqualified), &place)),
            name,
            place,
            types: pointed(&signature.types, ty),
        });
    }
    Ok(inputs)
}

/// The variables of the entry's file that have pointers in them, all null at first.
fn globals(context: &Context, unit: &LoadedUnit, params: &[Input]) -> Vec<Input> {
    let mut debug = DebugInfo::new(context, no_rules());
    let mut inputs = Vec::new();
    for global in unit.module.globals() {
        let name = global.name();
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let starts_as_zero = global.initializer().is_some_and(|value| value.is_null());
        if global.is_global_constant() || !starts_as_zero || !is_name {
            continue;
        }
        let Some(ty) = debug.global_type(global) else { continue };
        let types = module_of(std::mem::take(&mut debug.types));
        let mut pointed = pointed(&types, ty);
        if pointed.to.is_none()
            && let Some(stripped) = types.strip(ty)
            && matches!(types.ty(stripped), SourceType::Struct { .. })
        {
            pointed = Pointed { to: Some(key(&types, Some(stripped))), behind: Some(String::new()) };
        }
        let has_pointers = has_pointers(&types, ty);
        debug.types = types.types;
        if has_pointers {
            let shown =
                if params.iter().any(|param| param.name == name) { format!("global {name}") } else { name.clone() };
            inputs.push(Input { declaration: None, name: shown, place: name, types: pointed });
        }
    }
    inputs
}

fn has_pointers(types: &Module, ty: SourceTypeId) -> bool {
    let Some(ty) = types.strip(ty) else { return false };
    match types.ty(ty) {
        SourceType::Pointer { .. } => true,
        SourceType::Array { of: Some(of), .. } => has_pointers(types, *of),
        SourceType::Struct { fields, .. } | SourceType::Union { fields, .. } => {
            fields.iter().filter_map(|field| field.ty).any(|ty| has_pointers(types, ty))
        }
        _ => false,
    }
}

/// A function with a body. Clang leaves out a static one that nobody calls, as an invariant often is; then it is asked for all.
fn find_invariant(
    context: &Context,
    sources: &Sources,
    units: &[LoadedUnit],
    name: &str,
) -> Result<Option<Value>, LoadError> {
    let with_body = |unit: &LoadedUnit| unit.module.function(name).filter(|function| !function.is_declaration());
    if let Some(function) = units.iter().find_map(with_body) {
        return Ok(Some(function));
    }
    let mut all = sources.clone();
    all.cflags.push("-femit-all-decls".to_string());
    for unit in units.iter().filter(|unit| unit.kind == FileKind::C) {
        let bytes = compile::compile(&compile::find_clang()?, &unit.path, &all, &all.sanitizers)?;
        let whole = parse_unit(context, &Unit { path: unit.path.clone(), kind: FileKind::C, bytes })?;
        whole.module.use_debug_intrinsics();
        if let Some(function) = with_body(&whole) {
            return Ok(Some(function));
        }
    }
    Ok(None)
}

fn invariants(
    context: &Context,
    entry: &str,
    find: impl Fn(&str) -> Result<Option<Value>, LoadError>,
    names: &[String],
    inputs: &[Input],
    signature: &Signature,
) -> Result<Vec<Invariant>, LoadError> {
    let mut found = Vec::new();
    for name in names {
        let Some(function) = find(name)? else {
            return Err(signature_error(
                entry,
                format!("there is no function `{name}` to say whether its structures are valid"),
            ));
        };
        let its = read_signature(context, function);
        let pointee = match its.params[..] {
            [(Some(ty), _)] => pointed(&its.types, ty).to,
            _ => None,
        };
        let is_number = its
            .result
            .and_then(|ty| its.types.strip(ty))
            .is_some_and(|ty| matches!(its.types.ty(ty), SourceType::Base { .. } | SourceType::Enum { .. }));
        let Some(of) = pointee.filter(|_| is_number) else {
            let reason =
                format!("`{name}` is no `int {name}(const T *)`, so it cannot say whether a structure is valid");
            return Err(signature_error(entry, reason));
        };
        let result = signature.result.and_then(|ty| pointed(&signature.types, ty).to);
        if !inputs.iter().any(|input| !input.arguments(&of).is_empty()) && result.as_ref() != Some(&of) {
            let reason = format!("`{name}` is about a `{of}`, and no parameter points to one");
            return Err(signature_error(entry, reason));
        }
        found.push(Invariant { name: name.clone(), of });
    }
    Ok(found)
}

/// What a pointer points to, by a name that is the same for the same type in every file.
fn pointed(types: &Module, ty: SourceTypeId) -> Pointed {
    let to = |ty: SourceTypeId| match types.strip(ty).map(|ty| types.ty(ty)) {
        Some(SourceType::Pointer { to, .. }) => Some(*to),
        _ => None,
    };
    let Some(first) = to(ty) else { return Pointed::default() };
    let behind = first.and_then(to);
    Pointed { to: Some(key(types, first)), behind: behind.map(|behind| key(types, behind)) }
}

fn key(types: &Module, ty: Option<SourceTypeId>) -> String {
    let stripped = ty.and_then(|ty| types.strip(ty));
    match stripped.map(|ty| types.ty(ty)) {
        // A structure without a name goes by that of its typedef.
        Some(SourceType::Struct { name, .. } | SourceType::Union { name, .. }) if name.is_empty() => {
            let mut ty = ty;
            loop {
                match ty.map(|ty| types.ty(ty)) {
                    Some(SourceType::Const { of } | SourceType::Volatile { of } | SourceType::Qualified { of }) => {
                        ty = *of
                    }
                    _ => return types.spell(ty),
                }
            }
        }
        Some(SourceType::Pointer { to, .. }) => format!("{} *", key(types, *to)),
        _ => types.spell(stripped),
    }
}

fn unqualified(types: &Module, ty: SourceTypeId) -> SourceTypeId {
    match types.ty(ty) {
        SourceType::Const { of: Some(of) }
        | SourceType::Volatile { of: Some(of) }
        | SourceType::Qualified { of: Some(of) } => unqualified(types, *of),
        _ => ty,
    }
}

/// A declaration of `name` as C writes it: `struct node *name`, `int (*name)(void *)`.
fn declare(types: &Module, ty: Option<SourceTypeId>, name: &str) -> String {
    let Some(id) = ty else { return format!("void {name}") };
    match types.ty(id) {
        SourceType::Pointer { to, .. } => {
            let inner = to.map(|to| types.ty(to));
            let is_compound = matches!(inner, Some(SourceType::Array { .. } | SourceType::Function { .. }));
            declare(types, *to, &if is_compound { format!("(*{name})") } else { format!("*{name}") })
        }
        SourceType::Array { of, count } => {
            let count = count.map_or(String::new(), |count| count.to_string());
            declare(types, *of, &format!("{name}[{count}]"))
        }
        SourceType::Function { result, params, is_variadic } => {
            let mut params: Vec<String> = params.iter().map(|param| declare(types, *param, "")).collect();
            if *is_variadic {
                params.push("...".to_string());
            }
            let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
            declare(types, *result, &format!("{name}({params})"))
        }
        SourceType::Const { of } => match of.map(|of| types.ty(of)) {
            Some(SourceType::Pointer { .. }) => declare(types, *of, &format!("const {name}")),
            _ => format!("const {}", declare(types, *of, name)),
        },
        SourceType::Volatile { of } => match of.map(|of| types.ty(of)) {
            Some(SourceType::Pointer { .. }) => declare(types, *of, &format!("volatile {name}")),
            _ => format!("volatile {}", declare(types, *of, name)),
        },
        SourceType::Qualified { of } => declare(types, *of, name),
        _ => format!("{} {name}", types.spell(Some(id))),
    }
}

fn no_rules() -> FileRules {
    FileRules { foreign: Vec::new(), spelling: Default::default(), harness: None, cwd: String::new() }
}

fn module_of(types: Vec<SourceType>) -> Module {
    Module {
        target: ir::Target { triple: String::new(), pointer_bytes: 8 },
        functions: Vec::new(),
        globals: Vec::new(),
        types,
        files: Vec::new(),
        spans: Vec::new(),
    }
}
