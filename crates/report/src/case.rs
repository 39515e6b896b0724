//! A test as the exporters see it.

use witness::InputValue;

/// One generated test, read back from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file's name without folder and suffix: `000012`.
    pub id: String,
    pub inputs: Vec<InputValue>,
    pub expected: Expected,
    pub path: Vec<u64>,
}

/// What the program does on a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Ends with this exit status, by returning from its entry or by calling `exit`.
    Status(i32),
    Bug {
        kind: String,
        file: String,
        line: u32,
        message: String,
    },
    /// An assumption of the program does not hold for these inputs.
    Assumed,
    /// The path was not followed to its end (`pruned`, `cut`, `unsupported`).
    Open(String),
}

impl Expected {
    /// For people, in a few words.
    pub fn describe(&self) -> String {
        match self {
            Expected::Status(status) => format!("ends with status {status}"),
            Expected::Bug { kind, file, line, .. } => format!("{kind} at {file}:{line}"),
            Expected::Assumed => "an assumption fails".to_string(),
            Expected::Open(ending) => format!("not followed to its end ({ending})"),
        }
    }
}
