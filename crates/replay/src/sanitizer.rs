//! Reads the reports of AddressSanitizer, LeakSanitizer, MemorySanitizer and UBSan, printed without symbols.

use witness::BugKind;

use crate::ending::Access;

/// A report before its frames are turned into places.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    pub kind: Option<BugKind>,
    pub access: Access,
    pub by_signal: bool,
    pub text: String,
    /// The faulting stack, innermost first: offsets in the program's image, None for frames in other images.
    pub frames: Vec<Option<u64>>,
    /// File, line and column, where the report itself says so.
    pub stated: Option<(String, u32, u32)>,
}

/// The first fault reported in `text`; `program` is the path under which the program sees itself. Warnings, such as
/// about a refused allocation, are no faults.
pub fn parse(text: &str, program: &str) -> Option<Report> {
    for (idx, line) in text.lines().enumerate() {
        let rest = || text.lines().skip(idx + 1);
        if let Some((place, what)) = line.split_once(": runtime error: ") {
            return Some(undefined_behaviour(place, what, first_stack(rest(), program)));
        }
        if let Some((_, headline)) = line.split_once("ERROR: AddressSanitizer: ").filter(|_| !is_overlap(line)) {
            let body: Vec<&str> = rest().collect();
            return Some(memory_fault(headline, &body, program));
        }
        if line.contains("ERROR: LeakSanitizer: detected memory leaks") {
            let body: Vec<&str> = rest().collect();
            return Some(leak(&body, program));
        }
        if let Some((_, headline)) = line.split_once(": MemorySanitizer: ") {
            let body: Vec<&str> = rest().collect();
            return Some(memory_fault(headline, &body, program));
        }
    }
    text.lines().find(|line| is_breakdown(line) && !is_overlap(line)).map(|line| Report {
        kind: None,
        access: Access::Unknown,
        by_signal: false,
        text: line.trim_start_matches('=').to_string(),
        frames: Vec::new(),
        stated: None,
    })
}

/// A copy between ranges that overlap: reported, and the program went on.
pub fn overlap(text: &str, program: &str) -> Option<Report> {
    let (idx, line) = text.lines().enumerate().find(|(_, line)| is_overlap(line))?;
    let headline = line.split_once("ERROR: AddressSanitizer: ")?.1;
    let body: Vec<&str> = text.lines().skip(idx + 1).collect();
    Some(memory_fault(headline, &body, program))
}

fn is_overlap(line: &str) -> bool {
    line.contains("ERROR: AddressSanitizer: ") && line.contains("-param-overlap")
}

/// Of a report on leaks the stacks of blocks that the program's image asked for, not the C library for its own use.
pub fn own_stacks(text: &str, program: &str) -> Vec<Vec<Option<u64>>> {
    let body: Vec<&str> = text.lines().collect();
    let starts = body.iter().enumerate().filter(|(_, line)| line.contains(" leak of ")).map(|(idx, _)| idx + 1);
    // The first frame is the allocator's.
    let stacks = starts.map(|start| first_stack(body[start..].iter().copied(), program));
    stacks.filter(|stack| matches!(stack.get(1), Some(Some(_)))).collect()
}

/// Every use of unwritten memory that a program went on after.
pub fn parse_all(text: &str, program: &str) -> Vec<Report> {
    let mut reports = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        if let Some((_, headline)) = line.split_once(": MemorySanitizer: ") {
            let body: Vec<&str> = text.lines().skip(idx + 1).collect();
            reports.push(memory_fault(headline, &body, program));
        }
    }
    reports
}

/// The sanitizer itself gave up, for want of memory for example.
fn is_breakdown(line: &str) -> bool {
    line.contains("Sanitizer") && ["ERROR", "CHECK failed", "nested bug"].iter().any(|mark| line.contains(mark))
}

/// Parts of UBSan's texts, and what they are about. Looked for first, and in this order.
const UNDEFINED: &[(&str, BugKind)] = &[
    ("misaligned address", BugKind::MisalignedAccess),
    ("byte alignment for pointer of type", BugKind::MisalignedAccess),
    ("variable length array bound", BugKind::InvalidArgument),
    ("applying non-zero offset", BugKind::PointerOverflow),
    ("applying zero offset to null pointer", BugKind::PointerOverflow),
    ("pointer index expression", BugKind::PointerOverflow),
    ("addition of unsigned offset", BugKind::PointerOverflow),
    ("subtraction of unsigned offset", BugKind::PointerOverflow),
    ("which is not a valid value for type", BugKind::InvalidValue),
    ("passing zero to ", BugKind::InvalidArgument),
    ("null pointer passed as argument", BugKind::InvalidArgument),
    ("null pointer returned from function", BugKind::InvalidArgument),
    ("is outside the range of representable values", BugKind::InvalidConversion),
    ("implicit conversion from type", BugKind::LossyConversion),
];

fn undefined_behaviour(place: &str, what: &str, frames: Vec<Option<u64>>) -> Report {
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next().and_then(|text| text.parse().ok());
    let line = parts.next().and_then(|text| text.parse().ok());
    let stated = match (parts.next(), line, column) {
        (Some(file), Some(line), Some(column)) => Some((file.to_string(), line, column)),
        _ => None,
    };
    let kind = if let Some((_, kind)) = UNDEFINED.iter().find(|(mark, _)| what.contains(mark)) {
        Some(*kind)
    } else if what == "division by zero" {
        Some(BugKind::DivisionByZero)
    } else if what.starts_with("index ") && what.contains("out of bounds") {
        // It does not say what for, and a read is the lesser claim.
        Some(BugKind::OutOfBoundsRead)
    } else if what.contains("shift") {
        Some(BugKind::InvalidShift)
    } else if what.contains("unreachable") {
        Some(BugKind::UnreachableReached)
    } else if what.contains("overflow") || what.contains("cannot be represented") {
        Some(BugKind::IntegerOverflow)
    } else {
        None
    };
    Report { kind, access: Access::Unknown, by_signal: false, text: what.to_string(), frames, stated }
}

fn memory_fault(headline: &str, body: &[&str], program: &str) -> Report {
    let access = access(body);
    let word = headline.split([' ', ':']).next().unwrap_or("");
    let by_signal = matches!(word, "SEGV" | "BUS" | "FPE" | "ILL" | "ABRT" | "TRAP");
    let kind = match word {
        "heap-buffer-overflow"
        | "stack-buffer-overflow"
        | "stack-buffer-underflow"
        | "dynamic-stack-buffer-overflow"
        | "global-buffer-overflow"
        | "container-overflow"
        | "use-after-poison"
        | "negative-size-param"
        | "unknown-crash" => match access {
            Access::Read => Some(BugKind::OutOfBoundsRead),
            Access::Write | Access::Unknown => Some(BugKind::OutOfBoundsWrite),
        },
        "heap-use-after-free" | "stack-use-after-return" | "stack-use-after-scope" => Some(BugKind::UseAfterFree),
        "attempting" if headline.contains("double-free") => Some(BugKind::DoubleFree),
        "attempting" if headline.contains("free on address") => Some(BugKind::InvalidFree),
        "alloc-dealloc-mismatch" => Some(BugKind::InvalidFree),
        "stack-overflow" => Some(BugKind::StackOverflow),
        "use-of-uninitialized-value" => Some(BugKind::UninitialisedRead),
        _ if headline.contains("-param-overlap") => Some(BugKind::OverlappingCopy),
        "FPE" => Some(BugKind::DivisionByZero),
        "ABRT" | "ILL" | "TRAP" => Some(BugKind::Abort),
        "SEGV" | "BUS" if in_zero_page(headline, body) => Some(BugKind::NullDereference),
        "SEGV" | "BUS" => Some(BugKind::InvalidPointer),
        _ => None,
    };
    let frames = first_stack(body.iter().copied(), program);
    Report { kind, access, by_signal, text: shorten(headline), frames, stated: None }
}

fn access(body: &[&str]) -> Access {
    for line in body.iter().take(6) {
        if line.starts_with("READ of size") || line.contains("caused by a READ") {
            return Access::Read;
        }
        if line.starts_with("WRITE of size") || line.contains("caused by a WRITE") {
            return Access::Write;
        }
    }
    Access::Unknown
}

fn in_zero_page(headline: &str, body: &[&str]) -> bool {
    let address = headline
        .split_once("unknown address 0x")
        .and_then(|(_, rest)| rest.split([' ', '(']).next())
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    address.is_some_and(|address| address < 4096)
        || body.iter().take(6).any(|line| line.contains("address points to the zero page"))
}

fn leak(body: &[&str], program: &str) -> Report {
    let text = body.iter().find(|line| line.contains(" leak of ")).copied().unwrap_or("memory leak");
    Report {
        kind: Some(BugKind::MemoryLeak),
        access: Access::Unknown,
        by_signal: false,
        text: text.split(" allocated from").next().unwrap_or(text).to_string(),
        frames: all_stacks(body, program),
        stated: None,
    }
}

/// Every block of a report on leaks has the stack of its allocation.
fn all_stacks(body: &[&str], program: &str) -> Vec<Option<u64>> {
    let starts = body.iter().enumerate().filter(|(_, line)| line.contains(" leak of ")).map(|(idx, _)| idx + 1);
    starts.flat_map(|start| first_stack(body[start..].iter().copied(), program)).take(MAX_LEAK_FRAMES).collect()
}

/// Frames that are turned into places for one report.
const MAX_LEAK_FRAMES: usize = 400;

/// Addresses differ from run to run and say nothing to a reader.
fn shorten(headline: &str) -> String {
    let end = [" on address", " on unknown address", " (pc ", ": (size", " 0x"]
        .iter()
        .filter_map(|mark| headline.find(mark))
        .min()
        .unwrap_or(headline.len());
    headline[..end].to_string()
}

/// The first run of lines like `    #1 0x5612f0 (/path/program+0xcbe3) (BuildId: ...)`.
fn first_stack<'a>(lines: impl Iterator<Item = &'a str>, program: &str) -> Vec<Option<u64>> {
    lines
        .map(str::trim_start)
        .skip_while(|line| !line.starts_with("#0 "))
        .take_while(|line| line.starts_with('#'))
        .map(|line| {
            let (_, module) = line.split_once('(')?;
            let (path, offset) = module.split(')').next()?.rsplit_once("+0x")?;
            (path == program).then(|| u64::from_str_radix(offset, 16).ok()).flatten()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERFLOW: &str = "\
=================================================================
==2==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x502000000014 at pc 0x564c bp 0x7ffd sp 0x7ffd
WRITE of size 9 at 0x502000000014 thread T0
    #0 0x564c2045a6c4  (/tmp/colt/program+0xc96c4) (BuildId: 1006)
    #1 0x564c2049cbe3  (/tmp/colt/program+0x10bbe3) (BuildId: 1006)
    #2 0x7f9c2490b249  (/lib/x86_64-linux-gnu/libc.so.6+0x27249) (BuildId: 93ac)

0x502000000014 is located 0 bytes after 4-byte region [0x502000000010,0x502000000014)
allocated by thread T0 here:
    #0 0x564c2045c6af  (/tmp/colt/program+0xcb6af) (BuildId: 1006)
";

    #[test]
    fn only_the_faulting_stack_is_taken() {
        let report = parse(OVERFLOW, "/tmp/colt/program").unwrap();
        assert_eq!(report.kind, Some(BugKind::OutOfBoundsWrite));
        assert_eq!(report.frames, [Some(0xc96c4), Some(0x10bbe3), None]);
        assert_eq!(report.text, "heap-buffer-overflow");
    }

    #[test]
    fn a_refused_allocation_is_no_fault() {
        let text = "==2==WARNING: AddressSanitizer failed to allocate 0x20000000 bytes\n";
        assert_eq!(parse(text, "/p"), None);
    }

    #[test]
    fn undefined_behaviour_states_its_place() {
        let text = "/home/a:b/f.c:4:10: runtime error: shift exponent 40 is too large for 32-bit type 'int'\n    #0 0x5  (/p+0x5)\n";
        let report = parse(text, "/p").unwrap();
        assert_eq!(report.kind, Some(BugKind::InvalidShift));
        assert_eq!(report.stated, Some(("/home/a:b/f.c".to_string(), 4, 10)));
        assert_eq!(report.frames, [Some(5)]);
    }

    #[test]
    fn the_zero_page_is_null() {
        let text = "==2==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000008 (pc 0x1 bp 0x2 sp 0x3 T0)\n\
                    ==2==The signal is caused by a READ memory access.\n    #0 0x5  (/p+0x5)\n";
        let report = parse(text, "/p").unwrap();
        assert_eq!(
            (report.kind, report.access, report.by_signal),
            (Some(BugKind::NullDereference), Access::Read, true)
        );
    }
}
