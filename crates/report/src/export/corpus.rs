//! A fuzzing corpus: raw bytes, one file a test, equal contents once.

use std::collections::HashSet;

use super::ExportFile;
use crate::Case;

/// The bytes a fuzzer would feed: `data` or `stdin` where the program has such an input, else all inputs one after another.
pub fn corpus(cases: &[Case]) -> Vec<ExportFile> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for case in cases {
        let bytes = feed(case);
        if seen.insert(bytes.clone()) {
            files.push(ExportFile { name: case.id.clone(), bytes });
        }
    }
    files
}

fn feed(case: &Case) -> Vec<u8> {
    let whole = case.inputs.iter().find(|input| matches!(&*input.name, "data" | "stdin"));
    match whole {
        Some(input) => input.bytes.clone(),
        None => case
            .inputs
            .iter()
            .filter(|input| !input.is_returned())
            .flat_map(|input| input.bytes.iter().copied())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;
    use witness::InputValue;

    fn case(id: &str, inputs: &[(&str, &[u8])]) -> Case {
        let inputs = inputs.iter().map(|(name, bytes)| InputValue::new(*name, "bytes", bytes.to_vec())).collect();
        Case { id: id.into(), inputs, expected: Expected::Assumed, path: vec![] }
    }

    #[test]
    fn equal_contents_once() {
        let cases = [
            case("1", &[("a", b"x"), ("b", b"yz")]),
            case("2", &[("data", b"xyz")]),
            case("3", &[("t", b"1"), ("stdin", b"q")]),
        ];
        let files = corpus(&cases);
        let contents: Vec<(&str, &[u8])> =
            files.iter().map(|file| (file.name.as_str(), file.bytes.as_slice())).collect();
        assert_eq!(contents, [("1", b"xyz".as_slice()), ("3", b"q".as_slice())]);
    }
}
