//! From offsets in the program's image to source places, through one llvm-symbolizer that stays running.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use serde::Deserialize;
use witness::Place;

use crate::names::SourceNames;

/// Starting the tool costs a tenth of a second, an answer much less than a millisecond.
pub struct Symbolizer {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    known: HashMap<u64, Vec<Place>>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Symbol", default)]
    symbols: Vec<Symbol>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Symbol {
    #[serde(default)]
    column: u32,
    #[serde(default)]
    file_name: String,
    #[serde(default)]
    function_name: String,
    #[serde(default)]
    line: u32,
}

impl Symbolizer {
    pub fn start(tool: &Path, program: &Path) -> std::io::Result<Symbolizer> {
        let mut child = Command::new(tool)
            .arg(format!("--obj={}", program.display()))
            .args(["--output-style=JSON", "--inlines", "--functions=linkage"])
            .env_remove("DEBUGINFOD_URLS")
            // An interrupt from the terminal is for Colt, which may still need answers afterwards.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take());
        match (questions, answers) {
            (Some(questions), Some(answers)) => {
                Ok(Symbolizer { child, questions, answers: BufReader::new(answers), known: HashMap::new() })
            }
            _ => Err(std::io::Error::other("no pipes to the symbolizer")),
        }
    }

    /// The user's places at that offset, innermost of inlined calls first; empty for code that is not the user's.
    pub fn places(&mut self, offset: u64, names: &SourceNames) -> Vec<Place> {
        if let Some(places) = self.known.get(&offset) {
            return places.clone();
        }
        let places = self.ask(offset).map(|answer| to_places(answer, names)).unwrap_or_default();
        self.known.insert(offset, places.clone());
        places
    }

    fn ask(&mut self, offset: u64) -> Option<Answer> {
        writeln!(self.questions, "{offset:#x}").ok()?;
        self.questions.flush().ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}

impl Drop for Symbolizer {
    fn drop(&mut self) {
        // A failure means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn to_places(answer: Answer, names: &SourceNames) -> Vec<Place> {
    answer
        .symbols
        .into_iter()
        .filter(|symbol| symbol.line != 0)
        .filter_map(|symbol| {
            Some(Place {
                file: Arc::from(names.spell_place(&symbol.file_name)?),
                line: symbol.line,
                column: symbol.column,
                function: Arc::from(symbol.function_name),
            })
        })
        .collect()
}
