//! The bytes of one test file.
//!
//! Written by hand rather than through serde: a campaign may write tens of thousands of these while it explores, and the
//! form is fixed.

use std::io::Write;

use witness::{Bug, Ending, InputValue, Witness};

use crate::heap;

/// Number of a test in its campaign, counted from 1; 0 is before all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestId(pub u64);

/// The test's file relative to the output folder: `tests/000012.json`.
pub fn test_name(test: TestId) -> String {
    format!("tests/{:06}.json", test.0)
}

/// The number in a name made by [`test_name`]; 0 for any other.
pub fn test_id(name: &str) -> TestId {
    let number = name.strip_prefix("tests/").and_then(|name| name.strip_suffix(".json"));
    TestId(number.and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// Appends the JSON text of `witness` to `out`.
pub fn encode_test(witness: &Witness, out: &mut Vec<u8>) {
    let Witness { inputs, ending, path } = witness;
    encode(inputs, |out| encode_ending(ending, out), path, out);
}

/// As [`encode_test`], with the ending as [`encode_ending`] spelled it.
pub fn encode_stored(inputs: &[InputValue], ending: &str, path: &[u64], out: &mut Vec<u8>) {
    encode(inputs, |out| out.extend_from_slice(ending.as_bytes()), path, out);
}

fn encode(all: &[InputValue], ending: impl FnOnce(&mut Vec<u8>), path: &[u64], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"inputs\":[");
    let (returned, given): (Vec<&InputValue>, Vec<&InputValue>) = all.iter().partition(|input| input.is_returned());
    let (heap, inputs): (Vec<&InputValue>, Vec<&InputValue>) =
        given.into_iter().partition(|input| input.address().is_some());
    list(&inputs, all, out);
    if !heap.is_empty() {
        out.extend_from_slice(b"],\"heap\":[");
        list(&heap, all, out);
    }
    if !returned.is_empty() {
        out.extend_from_slice(b"],\"returned\":[");
        list(&returned, all, out);
    }
    out.extend_from_slice(b"],");
    ending(out);
    out.extend_from_slice(b",\"path\":[");
    for (decision_idx, decision) in path.iter().enumerate() {
        if decision_idx > 0 {
            out.push(b',');
        }
        number(*decision, out);
    }
    out.extend_from_slice(b"]}\n");
}

/// Appends the members of a test's object that say how its path ended: `"ending":"returned","status":0`.
pub fn encode_ending(ending: &Ending, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"ending\":");
    string(ending.name(), out);
    self::ending(ending, out);
}

fn list(inputs: &[&InputValue], all: &[InputValue], out: &mut Vec<u8>) {
    for (input_idx, input) in inputs.iter().enumerate() {
        if input_idx > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"name\":");
        string(&input.name, out);
        out.extend_from_slice(b",\"type\":");
        string(&input.ty, out);
        out.extend_from_slice(b",\"bytes\":\"");
        hex(&input.bytes, out);
        out.push(b'"');
        heap::encode_layout(input, all, out);
        out.push(b'}');
    }
}

/// What the ending's name alone does not say.
fn ending(ending: &Ending, out: &mut Vec<u8>) {
    match ending {
        Ending::Returned { status } | Ending::Exited { status } => {
            // Writing to a Vec cannot fail.
            let _ = write!(out, ",\"status\":{status}");
        }
        Ending::Bug(bug) => self::bug(bug, out),
        Ending::Assumed => {}
        Ending::Pruned { technique, reason } => {
            out.extend_from_slice(b",\"pruned\":{\"technique\":");
            string(technique, out);
            out.extend_from_slice(b",\"reason\":");
            string(reason, out);
            out.push(b'}');
        }
        Ending::Cut(budget) => {
            out.extend_from_slice(b",\"cut\":");
            string(budget.name(), out);
        }
        Ending::Unsupported(gap) => {
            out.extend_from_slice(b",\"gap\":{\"message\":");
            string(&gap.message, out);
            out.extend_from_slice(b",\"file\":");
            string(&gap.place.file, out);
            let _ = write!(out, ",\"line\":{}}}", gap.place.line);
        }
    }
}

fn bug(bug: &Bug, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"bug\":{\"kind\":");
    string(bug.kind.name(), out);
    out.extend_from_slice(b",\"file\":");
    string(&bug.place.file, out);
    let _ = write!(out, ",\"line\":{},\"column\":{},\"function\":", bug.place.line, bug.place.column);
    string(&bug.place.function, out);
    out.extend_from_slice(b",\"message\":");
    string(&bug.message, out);
    out.push(b'}');
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

fn number(value: u64, out: &mut Vec<u8>) {
    // Nearly every decision is 0 or 1.
    if value < 10 {
        out.push(b'0' + value as u8);
    } else {
        let _ = write!(out, "{value}");
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0..=0x1f | 0x7f => {
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use witness::{BugKind, Gap, Place};

    fn parse(ending: Ending) -> Value {
        let witness = Witness {
            inputs: vec![InputValue::new("a\"\n", "char[2]", vec![0x0c, 0xff])],
            ending,
            path: vec![0, 1, 17],
        };
        let mut out = Vec::new();
        encode_test(&witness, &mut out);
        serde_json::from_slice(&out).expect("valid JSON")
    }

    fn place() -> Place {
        Place { file: "dir/f\\g.c".into(), line: 12, column: 5, function: "g".into() }
    }

    #[test]
    fn inputs_and_path() {
        let value = parse(Ending::Returned { status: 3 });
        assert_eq!(value["inputs"], json!([{"name": "a\"\n", "type": "char[2]", "bytes": "0cff"}]));
        assert_eq!(value["path"], json!([0, 1, 17]));
        assert_eq!((&value["ending"], &value["status"]), (&json!("returned"), &json!(3)));
    }

    #[test]
    fn every_ending_is_valid_json() {
        let bug =
            Bug { kind: BugKind::Abort, message: "a \"b\"\t".into(), place: place(), stack: vec![], also: vec![] };
        let value = parse(Ending::Bug(bug));
        assert_eq!(
            value["bug"],
            json!({"kind": "abort", "file": "dir/f\\g.c", "line": 12, "column": 5, "function": "g", "message": "a \"b\"\t"})
        );
        let value = parse(Ending::Unsupported(Gap { message: "m".into(), place: place() }));
        assert_eq!(value["gap"], json!({"message": "m", "file": "dir/f\\g.c", "line": 12}));
        assert_eq!(parse(Ending::Cut(witness::Budget::Time))["cut"], json!("time"));
        let value = parse(Ending::Pruned { technique: "t", reason: "r".into() });
        assert_eq!(value["pruned"], json!({"technique": "t", "reason": "r"}));
        assert_eq!(parse(Ending::Assumed)["ending"], json!("assumed"));
    }
}
