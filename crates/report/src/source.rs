//! Source lines for messages, read once per file.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Looks files up as the compiler was given them; one that cannot be read has no lines.
#[derive(Default)]
pub struct Sources {
    /// Where relative names start.
    base: PathBuf,
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    pub fn new(base: &Path) -> Sources {
        Sources { base: base.to_path_buf(), files: HashMap::new() }
    }

    pub fn lines(&mut self, file: &str) -> &[String] {
        let base = &self.base;
        self.files.entry(file.to_string()).or_insert_with(|| {
            let bytes = fs::read(base.join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
        })
    }

    /// `line` counts from 1.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let line_idx = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines(file).get(line_idx).map(String::as_str)
    }
}
