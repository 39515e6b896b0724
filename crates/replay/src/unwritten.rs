//! Gives memory that nobody wrote the values of a test.
//!
//! Asked to initialise locals itself (`-ftrivial-auto-var-init`), clang leaves a marked store at each declaration, wherever control
//! passes it. In the assembly text of LLVM such a store is followed, or replaced, by a call of the runtime with the
//! variable's name: that looks up what the test says about it. On the heap the runtime stands in for `malloc`.

use std::collections::{HashMap, HashSet};
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
    let mark = text.lines().find_map(|line| line.strip_suffix(MARK)?.trim().strip_suffix(" ="));
    let variables = variable_names(text);
    let bypassed = bypassed_variables(text, mark);
    if mark.is_none() && bypassed.is_empty() {
        return text.to_string();
    }
    // No line has an empty one.
    let mark = mark.map_or("\n".to_string(), |mark| format!("!annotation {mark}"));
    let mut made = String::with_capacity(text.len() + text.len() / 8);
    let mut names: Vec<String> = Vec::new();
    let mut function = String::new();
    let mut is_first_line = false;
    let mut declared: HashMap<&str, &str> = HashMap::new();
    let mut at_start: &[Bypassed<'_>] = &[];
    for (line, line_idx) in text.lines().zip(0..) {
        if line.starts_with("define ") {
            function = function_name(line).unwrap_or_default();
            declared.clear();
            at_start = bypassed.get(&line_idx).map_or(&[], Vec::as_slice);
        }
        if !at_start.is_empty() && line.starts_with("  ") && !line.contains(" = alloca ") {
            for Bypassed { place, variable, has_value } in std::mem::take(&mut at_start) {
                let Some(variable) = variables.get(variable) else { continue };
                let has_value = i32::from(*has_value);
                let name = format!("@__colt_name.{}", names.len());
                let _ =
                    writeln!(made, "  call void @__colt_unwritten_before(ptr {place}, ptr {name}, i32 {has_value})");
                names.push(format!("{variable}@{function}"));
            }
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
        let is_marked = is_marked(line, &mark);
        let place = if is_marked { target(line) } else { None };
        if !is_marked || own_stores == OwnStores::Stay || place.is_none() {
            made.push_str(line);
            made.push('\n');
        }
        let Some(place) = place else { continue };
        let variable = declared.get(place).and_then(|number| variables.get(number));
        // Where a jump leads back before the declaration, clang does not tell MemorySanitizer that the variable begins anew.
        if own_stores == OwnStores::Go
            && let Some(n_bytes) = stored_bytes(line)
        {
            let _ = writeln!(made, "  call void @__msan_poison(ptr {place}, i64 {n_bytes})");
        }
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
    made.push_str("declare void @__colt_unwritten_before(ptr, ptr, i32)\n");
    if own_stores == OwnStores::Go && !text.contains("@__msan_poison(") {
        made.push_str("declare void @__msan_poison(ptr, i64)\n");
    }
    made
}

/// How many bytes one of clang's own stores writes, where its text says so.
fn stored_bytes(line: &str) -> Option<u64> {
    let line = line.trim_start();
    match line.strip_prefix("store ") {
        Some(rest) => match rest.split(' ').next()? {
            "ptr" | "double" => Some(8),
            "float" => Some(4),
            ty => ty.strip_prefix('i')?.parse::<u64>().ok().map(|bits| bits.div_ceil(8)),
        },
        None => {
            let (_, rest) = line.split_once("@llvm.memset.")?;
            let mut args = rest.split(", ");
            args.nth(2)?.strip_prefix("i64 ")?.parse().ok()
        }
    }
}

/// A variable whose declaration a jump may pass by.
struct Bypassed<'t> {
    place: &'t str,
    /// The number of its description.
    variable: &'t str,
    /// Its declaration gives it a value, so that clang leaves no marked store there.
    has_value: bool,
}

/// For each function, by the line it begins at: in one with labels of its own or a `switch`, what is declared behind its first block.
fn bypassed_variables<'t>(text: &'t str, mark: Option<&str>) -> HashMap<usize, Vec<Bypassed<'t>>> {
    let mark = mark.map(|mark| format!("!annotation {mark}"));
    let mut found = HashMap::new();
    let mut here: Vec<Bypassed<'t>> = Vec::new();
    let (mut start, mut n_labels, mut has_jumps) = (0, 0, false);
    let mut rooms: HashSet<&str> = HashSet::new();
    for (line, line_idx) in text.lines().zip(0..) {
        let code = line.trim_start();
        if line.starts_with("define ") {
            (start, n_labels, has_jumps) = (line_idx, 0, false);
            rooms.clear();
            here.clear();
        } else if line == "}" {
            if has_jumps && !here.is_empty() {
                found.insert(start, std::mem::take(&mut here));
            }
        } else if !line.starts_with([' ', '\t'])
            && line.split(';').next().is_some_and(|line| line.trim_end().ends_with(':'))
        {
            n_labels += 1;
        } else if code.starts_with("#dbg_label(") || code.starts_with("switch ") || code.starts_with("indirectbr ") {
            has_jumps = true;
        } else if let Some((place, _)) = code.split_once(" = alloca ").filter(|_| n_labels <= 1) {
            rooms.insert(place);
        } else if let Some((place, variable)) = declaration(line) {
            if n_labels > 1 && rooms.contains(place) {
                here.push(Bypassed { place, variable, has_value: true });
            }
        } else if mark.as_deref().is_some_and(|mark| is_marked(line, mark))
            && let Some(place) = target(line)
            && let Some(one) = here.iter_mut().find(|one| one.place == place)
        {
            one.has_value = false;
        }
    }
    found
}

/// Whether clang itself made this store. Behind the number of the mark no other digit stands.
fn is_marked(line: &str, mark: &str) -> bool {
    line.split(mark).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The text of a module that hands conditions and addresses to the runtime where MemorySanitizer does not look at them: where clang
/// made no branch of `c ? a : b`, and where a function is called through a pointer.
pub fn with_uses(text: &str) -> String {
    let mut made = String::with_capacity(text.len() + text.len() / 16);
    for line in text.lines() {
        if let Some(place) = line.find(", !dbg !") {
            let place = line[place..].split(", !").nth(1).unwrap_or_default();
            if let Some(condition) = selecting(line) {
                let _ = writeln!(made, "  call void @__colt_decides(i1 noundef zeroext {condition}), !{place}");
            }
            if let Some(function) = called(line) {
                let _ = writeln!(made, "  call void @__colt_called(ptr noundef {function}), !{place}");
            }
        }
        made.push_str(line);
        made.push('\n');
    }
    made.push_str("declare void @__colt_decides(i1 noundef zeroext)\ndeclare void @__colt_called(ptr noundef)\n");
    made
}

/// The condition of a `select` of one value.
fn selecting(line: &str) -> Option<&str> {
    let (_, rest) = line.trim_start().strip_prefix('%')?.split_once(" = select i1 ")?;
    Some(&rest[..rest.find(',')?])
}

/// The register that a call takes its function from: the one in front of the arguments.
fn called(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let call = line.split_once(" = ").filter(|_| line.starts_with('%')).map_or(line, |(_, call)| call);
    let call = call.strip_prefix("call ")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._$-".contains(c);
    call.match_indices(" %").find_map(|(at, _)| {
        let rest = &call[at + 1..];
        let end = 1 + rest[1..].find(|c: char| !is_name(c))?;
        rest[end..].starts_with('(').then(|| &rest[..end])
    })
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
        assert!(made.contains("@__msan_poison(ptr %x, i64 4)") && made.contains("@__msan_poison(ptr %buf, i64 10)"));
    }

    const JUMP: &str = "\
define i32 @f(i32 %n) {
entry:
  %x = alloca i32, align 4
  %y = alloca i32, align 4
  br label %end, !dbg !9

then:                                             ; preds = %entry
    #dbg_declare(ptr %x, !18, !DIExpression(), !19)
  store i32 0, ptr %x, align 4, !dbg !19
    #dbg_declare(ptr %y, !20, !DIExpression(), !19)
  store i32 0, ptr %y, align 4, !dbg !19, !annotation !2
  br label %end, !dbg !9

end:                                              ; preds = %then, %entry
    #dbg_label(!36, !37)
  ret i32 0
}
!2 = !{!\"auto-init\"}
!18 = !DILocalVariable(name: \"x\", scope: !8)
!20 = !DILocalVariable(name: \"y\", scope: !8)
";

    #[test]
    fn what_a_jump_may_pass_by_is_filled_at_the_start() {
        let made = with_hooks(JUMP, OwnStores::Stay);
        let lines: Vec<&str> = made.lines().collect();
        assert!(lines[5].ends_with("@__colt_unwritten_before(ptr %x, ptr @__colt_name.1, i32 1)"), "{made}");
        assert!(lines[6].ends_with("@__colt_unwritten_before(ptr %y, ptr @__colt_name.2, i32 0)"), "{made}");
        assert_eq!(made.matches("call void @__colt_unwritten(ptr %y").count(), 1);
        // Without a jump every variable is declared before it is used.
        let made = with_hooks(&JUMP.replace("    #dbg_label(!36, !37)\n", ""), OwnStores::Stay);
        assert!(!made.contains("call void @__colt_unwritten_before"));
    }

    #[test]
    fn conditions_and_functions_are_handed_on() {
        let uses = |line: &str| with_uses(line).lines().next().unwrap_or_default().trim().to_string();
        let select = "  %cond = select i1 %tobool4, i32 2, i32 3, !dbg !43";
        assert_eq!(uses(select), "call void @__colt_decides(i1 noundef zeroext %tobool4), !dbg !43");
        let call = "  %call = call noundef i32 (i32, ...) %0(i32 noundef 3, ptr %x), !dbg !9, !srcloc !3";
        assert_eq!(uses(call), "call void @__colt_called(ptr noundef %0), !dbg !9");
        assert_eq!(uses("  call void %op.addr(), !dbg !9"), "call void @__colt_called(ptr noundef %op.addr), !dbg !9");
        for line in
            ["call void @f(ptr noundef %x), !dbg !9", "%v = select <2 x i1> %c, <2 x i8> %a, <2 x i8> %b, !dbg !9"]
        {
            assert_eq!(uses(line), line);
        }
        assert_eq!(uses("call void %p()"), "call void %p()", "nothing tells its place");
    }

    #[test]
    fn a_test_with_the_heap_alone_needs_no_calls() {
        let input = |name: &str| InputValue { name: name.into(), ty: "unwritten".into(), bytes: vec![1], layout: None };
        assert!(!has_locals(&[input("x"), input("unwritten:malloc#1@f:3+0")]));
        assert!(has_locals(&[input("unwritten:x@f+0")]));
    }
}
