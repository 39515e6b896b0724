//! KLEE's binary test form, version 3: magic, arguments, objects, all numbers big-endian.

use super::ExportFile;
use crate::Case;

const MAGIC: &[u8] = b"KTEST";
const VERSION: u32 = 3;

/// One `.ktest` file a test. `program` becomes argument 0, as KLEE records the command line.
pub fn ktest(cases: &[Case], program: &str) -> Vec<ExportFile> {
    cases
        .iter()
        .map(|case| ExportFile { name: format!("test{}.ktest", case.id), bytes: encode(case, program) })
        .collect()
}

fn encode(case: &Case, program: &str) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    word(VERSION, &mut out);
    word(1, &mut out);
    block(program.as_bytes(), &mut out);
    // Symbolic argument count and length: 0, the arguments are ordinary objects here.
    word(0, &mut out);
    word(0, &mut out);
    let asked_for = || case.inputs.iter().filter(|input| !input.is_returned());
    word(asked_for().count() as u32, &mut out);
    for input in asked_for() {
        block(input.name.as_bytes(), &mut out);
        block(&input.bytes, &mut out);
    }
    out
}

fn word(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn block(bytes: &[u8], out: &mut Vec<u8>) {
    word(bytes.len() as u32, out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;
    use witness::InputValue;

    #[test]
    fn layout() {
        let case = Case {
            id: "000001".into(),
            inputs: vec![InputValue::new("ab", "short", vec![7, 8])],
            expected: Expected::Assumed,
            path: vec![],
        };
        let files = ktest(&[case], "f.c");
        assert_eq!(files[0].name, "test000001.ktest");
        let expected =
            b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x03f.c\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x02ab\0\0\0\x02\x07\x08";
        assert_eq!(files[0].bytes, expected);
    }
}
