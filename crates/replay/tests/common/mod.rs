//! Builds small C programs and names their inputs.

#![allow(dead_code)]

use std::path::PathBuf;

use replay::{BuildPlan, Checks, Entry, Limits, NativeBug, NativeEnding, Session};
use tempfile::TempDir;
use witness::InputValue;

/// A session with the folder it lives in.
pub struct Built {
    pub session: Session,
    pub dir: TempDir,
    text: String,
}

pub fn plan(dir: &TempDir, text: &str, entry: Entry) -> BuildPlan {
    std::fs::write(dir.path().join("f.c"), text).unwrap();
    BuildPlan {
        units: Vec::new(),
        libraries: Vec::new(),
        sources: vec![PathBuf::from("f.c")],
        cflags: Vec::new(),
        base_dir: dir.path().to_path_buf(),
        entry,
        checks: Checks::default(),
        limits: Limits::default(),
        cache: None,
    }
}

pub fn build_with(text: &str, entry: Entry, change: impl FnOnce(&mut BuildPlan)) -> Built {
    let dir = TempDir::new().unwrap();
    let mut plan = plan(&dir, text, entry);
    change(&mut plan);
    let session = Session::build(&plan, &dir.path().join("out")).unwrap();
    Built { session, dir, text: text.to_string() }
}

pub fn build(text: &str) -> Built {
    build_with(text, Entry::Main, |_| {})
}

impl Built {
    /// The line that carries the comment `mark`.
    pub fn line(&self, mark: &str) -> u32 {
        let needle = format!("// {mark}");
        let mut lines = self.text.lines().zip(1..).filter(|(line, _)| line.ends_with(&needle));
        let (_, line) = lines.next().unwrap_or_else(|| panic!("no line marked {mark}"));
        assert!(lines.next().is_none(), "{mark} marks two lines");
        line
    }

    pub fn bug(&mut self, inputs: &[InputValue]) -> NativeBug {
        match self.session.run(inputs) {
            NativeEnding::Bug(bug) => bug,
            other => panic!("no bug but: {other}"),
        }
    }
}

pub fn input(name: &str, bytes: &[u8]) -> InputValue {
    InputValue::new(name, "bytes", bytes.to_vec())
}

pub fn int(name: &str, value: i32) -> InputValue {
    InputValue::new(name, "int", value.to_le_bytes().to_vec())
}
