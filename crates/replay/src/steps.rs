//! Tells the runtime of every step of pointer arithmetic, in the assembly text of LLVM: no sanitizer looks whether a pointer
//! stays in its object before it is used, but AddressSanitizer knows which object that is.

use std::fmt::Write as _;

/// The text of a module with a call behind each step.
pub fn with_steps(text: &str) -> String {
    let mut made = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        made.push_str(line);
        made.push('\n');
        if let Some(Step { before, after, place }) = step(line) {
            let _ = writeln!(made, "  call void @__colt_step(ptr {before}, ptr {after}){place}");
        }
    }
    made.push_str("declare void @__colt_step(ptr, ptr)\n");
    made
}

struct Step<'t> {
    before: &'t str,
    after: &'t str,
    /// `, !dbg !17`, or nothing.
    place: &'t str,
}

/// `%after = getelementptr TYPE, ptr %before, INDEX..., !dbg !17`, unless it leads to a member of a structure.
fn step(line: &str) -> Option<Step<'_>> {
    let (after, rest) = line.strip_prefix("  ")?.split_once(" = getelementptr ")?;
    let (ty, rest) = rest.split_at(rest.find(", ptr %").or_else(|| rest.find(", ptr @"))?);
    let rest = &rest[", ptr ".len()..];
    let (before, rest) = rest.split_at(rest.find(',')?);
    let place = rest.find(", !dbg ").map_or("", |at| &rest[at..]);
    let indices = rest[..rest.len() - place.len()].matches(", i").count();
    let ty = ty.trim_start_matches("inbounds ").trim_start_matches("nusw ").trim_start_matches("nuw ");
    let is_member = (ty.starts_with('%') || ty.starts_with('{')) && indices > 1 && rest.starts_with(", i32 0,");
    (!is_member).then_some(Step { before, after, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_told_and_members_are_not() {
        let told = |line: &str| with_steps(line).lines().nth(1).map(str::to_string);
        assert_eq!(
            told("  %x = getelementptr inbounds [4 x i32], ptr %cells, i64 0, i64 %i, !dbg !33").as_deref(),
            Some("  call void @__colt_step(ptr %cells, ptr %x), !dbg !33")
        );
        assert_eq!(
            told("  %add.ptr = getelementptr inbounds { i32, ptr }, ptr @g, i64 %i").as_deref(),
            Some("  call void @__colt_step(ptr @g, ptr %add.ptr)")
        );
        let member = "  %b = getelementptr inbounds %struct.item, ptr %p, i32 0, i32 1, !dbg !9";
        assert_eq!(told(member).as_deref(), Some("declare void @__colt_step(ptr, ptr)"));
    }
}
