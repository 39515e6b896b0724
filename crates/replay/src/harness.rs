//! The C text that calls an entry function with inputs for its parameters.

use std::fmt::Write as _;
use std::path::Path;

use crate::plan::{Param, ParamKind};

/// How the harness gets to see the function.
pub enum Visibility<'a> {
    /// Its source is included, so that static functions and the source's own types can be used, and coverage still
    /// counts for the source.
    Included(&'a Path),
    /// It is linked from bitcode; only types every C file knows can be spelled.
    Linked,
}

/// A translation unit defining `colt_replay_entry`.
pub fn harness(function: &str, params: &[Param], visibility: Visibility<'_>) -> String {
    let mut text = String::new();
    match visibility {
        Visibility::Included(path) => {
            let _ = writeln!(text, "#include \"{}\"", path.display());
        }
        Visibility::Linked => {
            let types: Vec<String> = params.iter().map(|param| type_of(&param.ty)).collect();
            let types = if types.is_empty() { "void".to_string() } else { types.join(", ") };
            let _ = writeln!(text, "#include <stddef.h>\n#include <stdint.h>\nextern void {function}({types});");
        }
    }
    let args: Vec<String> = params.iter().map(argument).collect();
    let _ = write!(
        text,
        "void *colt_replay_value(const char *, __SIZE_TYPE__);\n\
         void *colt_replay_pointer(const char *, const char *);\n\
         void colt_replay_entry(void);\n\
         void colt_replay_entry(void) {{\n  {function}({});\n}}\n",
        args.join(", ")
    );
    text
}

/// Through `__typeof__`, any type can stand where a plain type name is expected, `int (*)(int)` too.
fn type_of(spelling: &str) -> String {
    format!("__typeof__({spelling})")
}

fn argument(param: &Param) -> String {
    let (name, ty) = (&param.name, type_of(&param.ty));
    match param.kind {
        ParamKind::Value => format!("*({ty} *)colt_replay_value(\"{name}\", sizeof({ty}))"),
        ParamKind::Pointer => format!("({ty})colt_replay_pointer(\"*{name}\", \"{name}\")"),
    }
}
