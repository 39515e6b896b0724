//! Questions kept in a file, to be asked again: by other solvers, by other versions of the stack, in tests.
//!
//! The file has the terms of `term::text`, each once, and between them for each question
//!
//! ```text
//! path t12 t17        the constraints of the path, in order; left out when they are those of the question before
//! input t3=5 t9=2f    the current input, symbols by the names of their terms, values in hexadecimal
//! ask t21 sat         the question, and what the stack answered: sat, unsat or unknown
//! ```

use crate::answer::Answer;
use crate::path::PathCondition;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use term::{Assignment, TermId, Terms, TextReader, TextWriter};

/// Writes questions as they are answered.
pub struct Recorder {
    file: BufWriter<File>,
    terms: TextWriter,
    last_path: Vec<TermId>,
    n_left: u64,
}

impl Recorder {
    /// A record of many questions is as good as one of all, and can be read.
    const MAX_QUESTIONS: u64 = 200_000;

    /// Starts a record at this path. Where there is one already, as with several workers, `.1`, `.2`... are tried.
    pub fn create(path: &Path) -> std::io::Result<Recorder> {
        let numbered = (1..1000).map(|n| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{n}"));
            name.into()
        });
        for path in std::iter::once(path.to_path_buf()).chain(numbered) {
            match File::create_new(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    return Ok(Recorder {
                        file: BufWriter::new(file),
                        terms: TextWriter::default(),
                        last_path: Vec::new(),
                        n_left: Self::MAX_QUESTIONS,
                    });
                }
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }

    pub fn write(
        &mut self,
        terms: &Terms,
        path: &PathCondition,
        current: &Assignment,
        question: TermId,
        answer: &Answer,
    ) -> std::io::Result<()> {
        if self.n_left == 0 {
            return Ok(());
        }
        self.n_left -= 1;
        let mut text = String::new();
        let path: Vec<TermId> = path.iter().collect();
        let mut symbols = terms.symbols(question).to_vec();
        for &t in path.iter().chain([&question]) {
            self.terms.write(terms, t, &mut text);
            symbols.extend_from_slice(terms.symbols(t));
        }
        if path != self.last_path {
            text.push_str("path");
            for t in &path {
                let _ = write!(text, " {t:?}");
            }
            text.push('\n');
            self.last_path = path;
        }
        symbols.sort_unstable();
        symbols.dedup();
        text.push_str("input");
        for symbol in symbols.into_iter().filter(|symbol| current.get(*symbol) != 0) {
            let _ = write!(text, " {:?}={:x}", terms.symbol_term(symbol), current.get(symbol));
        }
        let answer = match answer {
            Answer::Sat(_) => "sat",
            Answer::Unsat => "unsat",
            Answer::Unknown(_) => "unknown",
        };
        let _ = writeln!(text, "\nask {question:?} {answer}");
        self.file.write_all(text.as_bytes())
    }
}

/// What the stack answered when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Sat,
    Unsat,
    Unknown,
}

/// A question of a record.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub path: Vec<TermId>,
    pub current: Assignment,
    pub question: TermId,
    pub verdict: Verdict,
}

impl Recorded {
    pub fn path_condition(&self, terms: &mut Terms) -> PathCondition {
        let mut path = PathCondition::new();
        self.path.iter().for_each(|&t| path.add(terms, t));
        path
    }
}

/// Reads a record into an arena; `Err` names the first line that cannot be read.
pub fn read_record(terms: &mut Terms, text: &str) -> Result<Vec<Recorded>, String> {
    let mut reader = TextReader::default();
    let mut recorded = Vec::new();
    let (mut path, mut current) = (Vec::new(), Assignment::new());
    for (idx, line) in text.lines().enumerate() {
        let wrong = || format!("line {}: `{line}` is not understood", idx + 1);
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "path" => {
                let names = rest.split(' ').filter(|name| !name.is_empty());
                path = names.map(|name| reader.find(name)).collect::<Option<_>>().ok_or_else(wrong)?;
            }
            "input" => current = read_input(terms, &reader, rest).ok_or_else(wrong)?,
            "ask" => {
                let (question, answer) = rest.split_once(' ').ok_or_else(wrong)?;
                let question = reader.find(question).ok_or_else(wrong)?;
                let verdict = match answer {
                    "sat" => Verdict::Sat,
                    "unsat" => Verdict::Unsat,
                    "unknown" => Verdict::Unknown,
                    _ => return Err(wrong()),
                };
                recorded.push(Recorded { path: path.clone(), current: current.clone(), question, verdict });
            }
            _ => drop(reader.read(terms, line).ok_or_else(wrong)?),
        }
    }
    Ok(recorded)
}

fn read_input(terms: &Terms, reader: &TextReader, text: &str) -> Option<Assignment> {
    let mut input = Assignment::new();
    for pair in text.split(' ').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let &[symbol] = terms.symbols(reader.find(name)?) else { return None };
        input.set(symbol, u64::from_str_radix(value, 16).ok()?);
    }
    Some(input)
}
