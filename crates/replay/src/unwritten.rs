//! Gives memory that nobody wrote the values of a test.
//!
//! Asked to initialise locals itself (`-ftrivial-auto-var-init`), clang leaves a marked store at each declaration, wherever control
//! passes it. In the assembly text of LLVM such a store is followed, or replaced, by a call of the runtime with the
//! variable's name: that looks up what the test says about it. On the heap the runtime stands in for `malloc`.

use std::collections::HashMap;
use std::fmt::Write as _;

use witness::{InputValue, UNWRITTEN};

/// What becomes of clang's own initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnStores {
    Stay,
    /// MemorySanitizer would take the variable for written.
    Go,
}

/// Whether a test has values for local variables that nobody wrote.
pub fn has_locals(inputs: &[InputValue]) -> bool {
    inputs.iter().any(|input| input.is_unwritten() && !input.name[UNWRITTEN.len()..].starts_with("malloc#"))
}

const MARK: &str = "!{!\"auto-init\"}";

/// The text of a module with the calls in it.
pub fn with_hooks(text: &str, own_stores: OwnStores) -> String {
    let Some(mark) = text.lines().find_map(|line| line.strip_suffix(MARK)?.trim().strip_suffix(" =")) else {
        return text.to_string();
    };
    let mark = format!("!annotation {mark}");
    let variables = variable_names(text);
    let mut made = String::with_capacity(text.len() + text.len() / 8);
    let mut names: Vec<String> = Vec::new();
    let mut function = String::new();
    let mut is_first_line = false;
    let mut declared: HashMap<&str, &str> = HashMap::new();
    for line in text.lines() {
        if line.starts_with("define ") {
            function = function_name(line).unwrap_or_default();
            declared.clear();
        }
        // Behind the name of the first block.
        if is_first_line && line.starts_with("  ") {
            is_first_line = false;
            // The lives of its variables are counted anew.
            let _ = writeln!(made, "  call void @__colt_enter(ptr @__colt_name.{})", names.len());
            names.push(function.clone());
        }
        if line.starts_with("define ") {
            is_first_line = true;
        }
        if let Some((place, variable)) = declaration(line) {
            declared.insert(place, variable);
        }
        let is_marked = line.split(mark.as_str()).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        let place = if is_marked { target(line) } else { None };
        if !is_marked || own_stores == OwnStores::Stay || place.is_none() {
            made.push_str(line);
            made.push('\n');
        }
        let Some(place) = place else { continue };
        let variable = declared.get(place).and_then(|number| variables.get(number));
        if let Some(variable) = variable {
            let _ = writeln!(made, "  call void @__colt_unwritten(ptr {place}, ptr @__colt_name.{})", names.len());
            names.push(format!("{variable}@{function}"));
        }
    }
    for (idx, name) in names.iter().enumerate() {
        let bytes: String = name.bytes().map(|byte| format!("\\{byte:02X}")).collect();
        let len = name.len() + 1;
        let _ = writeln!(made, "@__colt_name.{idx} = private unnamed_addr constant [{len} x i8] c\"{bytes}\\00\"");
    }
    made.push_str("declare void @__colt_unwritten(ptr, ptr)\ndeclare void @__colt_enter(ptr)\n");
    made
}

/// Names of local variables by the number of their description.
fn variable_names(text: &str) -> HashMap<&str, &str> {
    let name = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let number = line.find(" = !DILocalVariable(name: \"")?;
        let start = number + " = !DILocalVariable(name: \"".len();
        Some((number, start, start + line[start..].find('"')?))
    };
    let lines = text.lines().filter(|line| line.starts_with('!'));
    lines.filter_map(|line| name(line).map(|(number, start, end)| (&line[..number], &line[start..end]))).collect()
}

fn function_name(line: &str) -> Option<String> {
    let rest = &line[line.find(" @")? + 2..];
    match rest.strip_prefix('"') {
        Some(rest) => Some(rest[..rest.find('"')?].to_string()),
        None => Some(rest[..rest.find('(')?].to_string()),
    }
}

/// The alloca and the number of the variable it holds.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("#dbg_declare(ptr ")?;
    let mut parts = rest.split(", ");
    Some((parts.next()?, parts.next()?))
}

/// Where a store or a call that fills memory goes.
fn target(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = match line.strip_prefix("store ") {
        Some(rest) => &rest[rest.rfind(", ptr %")? + ", ptr ".len()..],
        None => {
            let args = &line[line.find("(ptr ")? + "(ptr ".len()..];
            &args[args.find('%')?..]
        }
    };
    rest.split([',', ' ', ')']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
define i32 @f(i32 %n) {
    #dbg_declare(ptr %x, !18, !DIExpression(), !19)
  store i32 0, ptr %x, align 4, !dbg !19, !annotation !2
    #dbg_declare(ptr %buf, !22, !DIExpression(), !27)
  call void @llvm.memset.p0.i64(ptr align 1 %buf, i8 0, i64 10, i1 false), !dbg !27, !annotation !2
  store i32 7, ptr %x, align 4, !dbg !19
}
!2 = !{!\"auto-init\"}
!18 = !DILocalVariable(name: \"x\", scope: !8)
!22 = !DILocalVariable(name: \"buf\", scope: !8)
";

    #[test]
    fn calls_follow_clang_s_stores() {
        let made = with_hooks(TEXT, OwnStores::Stay);
        assert_eq!(made.matches("call void @__colt_enter(ptr @__colt_name.0)").count(), 1);
        assert_eq!(made.matches("call void @__colt_unwritten(ptr %x, ptr @__colt_name.1)").count(), 1);
        assert_eq!(made.matches("call void @__colt_unwritten(ptr %buf, ptr @__colt_name.2)").count(), 1);
        assert!(made.contains("store i32 0, ptr %x"));
        let made = with_hooks(TEXT, OwnStores::Go);
        assert!(!made.contains("store i32 0, ptr %x") && !made.contains("@llvm.memset"));
        assert!(made.contains("store i32 7, ptr %x") && made.contains("@__colt_unwritten(ptr %buf"));
    }

    #[test]
    fn a_test_with_the_heap_alone_needs_no_calls() {
        let input = |name: &str| InputValue { name: name.into(), ty: "unwritten".into(), bytes: vec![1], layout: None };
        assert!(!has_locals(&[input("x"), input("unwritten:malloc#1@f:3+0")]));
        assert!(has_locals(&[input("unwritten:x@f+0")]));
    }
}
