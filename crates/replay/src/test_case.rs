//! Test cases as they lie in an output folder, and the ending each one promises.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use witness::{BugKind, Ending, Field, FieldKind, InputValue, Layout, RETURNED};

/// The part of an ending that a native run can be held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Returned {
        status: i32,
    },
    Exited {
        status: i32,
    },
    Bug(ExpectedBug),
    Assumed,
    /// Pruned, cut or unsupported: the engine did not see the end of the path.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedBug {
    pub kind: BugKind,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub message: String,
}

impl ExpectedBug {
    /// Whether threads wait for each other, rather than one going round for ever.
    pub fn is_deadlock(&self) -> bool {
        self.message.starts_with("deadlock:")
    }
}

impl From<&Ending> for Expected {
    fn from(ending: &Ending) -> Expected {
        match ending {
            Ending::Returned { status } => Expected::Returned { status: *status },
            Ending::Exited { status } => Expected::Exited { status: *status },
            Ending::Bug(bug) => Expected::Bug(ExpectedBug {
                kind: bug.kind,
                file: bug.place.file.to_string(),
                line: bug.place.line,
                function: bug.place.function.to_string(),
                message: bug.message.clone(),
            }),
            Ending::Assumed => Expected::Assumed,
            Ending::Pruned { .. } | Ending::Cut(_) | Ending::Unsupported(_) => Expected::Open,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    pub inputs: Vec<InputValue>,
    /// The ending as spelled in the file.
    pub ending: String,
    pub expected: Expected,
    /// The decisions of the path.
    pub path: Vec<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{} is not a test case: {why}", path.display())]
    Malformed { path: PathBuf, why: String },
}

#[derive(Deserialize)]
struct TestFile {
    inputs: Vec<InputFile>,
    /// Objects that pointers point to.
    #[serde(default)]
    heap: Vec<InputFile>,
    /// What the entry gave back.
    #[serde(default)]
    returned: Vec<InputFile>,
    ending: String,
    #[serde(default)]
    status: i32,
    bug: Option<BugFile>,
    #[serde(default)]
    path: Vec<u64>,
}

#[derive(Deserialize)]
struct InputFile {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    bytes: String,
    at: Option<String>,
    #[serde(default)]
    fields: Vec<FieldFile>,
}

#[derive(Deserialize)]
struct FieldFile {
    name: String,
    offset: u64,
    bytes: u64,
    kind: String,
}

#[derive(Deserialize)]
struct BugFile {
    kind: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: u32,
    #[serde(default)]
    function: String,
    #[serde(default)]
    message: String,
}

pub fn read_test(path: &Path) -> Result<TestCase, TestError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| TestError::Unreadable { path: path.to_path_buf(), source })?;
    parse_test(&text).map_err(|why| TestError::Malformed { path: path.to_path_buf(), why })
}

/// A test from the text of its file.
pub fn parse_test(text: &str) -> Result<TestCase, String> {
    let file: TestFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut inputs = Vec::with_capacity(file.inputs.len() + file.heap.len() + 1);
    let given = file.inputs.iter().chain(&file.heap).map(|input| (input, None));
    for (input, mark) in given.chain(file.returned.iter().map(|input| (input, Some(RETURNED)))) {
        let bytes = parse_hex(&input.bytes)
            .ok_or_else(|| format!("the bytes of input `{}` are not pairs of hexadecimal digits", input.name))?;
        let layout = layout(input, mark)?;
        inputs.push(InputValue { layout, ..InputValue::new(input.name.as_str(), input.ty.as_str(), bytes) });
    }
    let expected = expected(&file.ending, file.status, file.bug)?;
    Ok(TestCase { inputs, ending: file.ending, expected, path: file.path })
}

/// `mark` stands for the paths of the fields where that is not what the file says.
fn layout(input: &InputFile, mark: Option<&str>) -> Result<Option<Layout>, String> {
    if input.at.is_none() && input.fields.is_empty() {
        return Ok(None);
    }
    let wrong = |what: &str| format!("the {what} of input `{}` cannot be read", input.name);
    let address = |text: &String| u64::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|_| wrong("address"));
    let field = |field: &FieldFile| {
        let kind = FieldKind::from_name(&field.kind).ok_or_else(|| wrong("fields"))?;
        Ok(Field { path: mark.unwrap_or(&field.name).into(), offset: field.offset, n_bytes: field.bytes, kind })
    };
    let fields = input.fields.iter().map(field).collect::<Result<_, String>>()?;
    Ok(Some(Layout { at: input.at.as_ref().map(address).transpose()?, fields }))
}

fn expected(ending: &str, status: i32, bug: Option<BugFile>) -> Result<Expected, String> {
    match ending {
        "returned" => Ok(Expected::Returned { status }),
        "exited" => Ok(Expected::Exited { status }),
        "assumed" => Ok(Expected::Assumed),
        "pruned" | "cut" | "unsupported" => Ok(Expected::Open),
        "bug" => {
            let bug = bug.ok_or("the ending is `bug` but there is no bug")?;
            let kind = BugKind::from_name(&bug.kind).ok_or_else(|| format!("unknown kind of bug `{}`", bug.kind))?;
            let BugFile { file, line, function, message, .. } = bug;
            Ok(Expected::Bug(ExpectedBug { kind, file, line, function, message }))
        }
        _ => Err(format!("unknown ending `{ending}`")),
    }
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    digits.chunks(2).map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_is_read_with_its_place() {
        let text = r#"{"inputs":[{"name":"x","type":"int","bytes":"0c0000FF"}],"ending":"bug",
            "bug":{"kind":"division-by-zero","file":"f.c","line":12,"column":5,"function":"g","message":"m"},"path":[0,1]}"#;
        let test = parse_test(text).unwrap();
        assert_eq!(test.inputs[0].bytes, [0x0c, 0, 0, 0xff]);
        assert_eq!(test.path, [0, 1]);
        let Expected::Bug(bug) = test.expected else { panic!("not a bug") };
        assert_eq!((bug.kind, bug.file.as_str(), bug.line), (BugKind::DivisionByZero, "f.c", 12));
    }

    #[test]
    fn malformed_files_say_what_is_wrong() {
        for (text, word) in [
            (r#"{"inputs":[],"ending":"gone"}"#, "gone"),
            (r#"{"inputs":[{"name":"x","type":"int","bytes":"0"}],"ending":"cut"}"#, "`x`"),
            (r#"{"inputs":[],"ending":"bug"}"#, "no bug"),
            (r#"{"inputs":[],"ending":"bug","bug":{"kind":"odd"}}"#, "odd"),
            ("{", "EOF"),
        ] {
            let why = parse_test(text).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }
}
