//! Readers of grammar files, one for each form; which one is told by the file's name.

mod antlr;
mod cursor;
mod lex;
mod plain;
mod scanning;
mod yacc;

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::{Error, Grammar, Unmatched};

/// A grammar larger than this is refused: nobody wrote it.
const LARGEST: u64 = 4 << 20;

/// The files of one grammar.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The grammar, and its scanner where that is a file of its own.
    pub grammar: Vec<PathBuf>,
    /// Patterns of tokens that the others do not tell, in the plain form.
    pub tokens: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Yacc,
    Lex,
    Antlr,
    Plain,
}

/// Reads a grammar.
pub fn grammar(files: &Files) -> Result<Grammar, Error> {
    let mut texts = Vec::new();
    for path in &files.grammar {
        texts.push((form_of(path), path, text_of(path)?));
    }
    // The scanner knows what the parser only names.
    texts.sort_by_key(|(form, _, _)| *form != Form::Lex);
    let Some((_, last, _)) = texts.last() else {
        return Err(Error { file: "--grammar-file".into(), line: None, message: "names no file".into() });
    };
    let mut draft = Draft::new(&last.display().to_string());
    if let Some(path) = &files.tokens {
        let mut more = plain::read(&path.display().to_string(), &text_of(path)?)?;
        draft.patterns.append(&mut more.patterns);
    }
    let has_scanner = texts.iter().any(|(form, _, _)| *form == Form::Lex);
    draft.unmatched = Unmatched::Refused;
    for (form, path, text) in &texts {
        let file = path.display().to_string();
        match form {
            Form::Lex => {
                let mut scanner = lex::read(&file, text)?;
                draft.patterns.append(&mut scanner.patterns);
                draft.notes.append(&mut scanner.notes);
                draft.notes_with.append(&mut scanner.notes_with);
                draft.at_end.append(&mut scanner.at_end);
                if scanner.unmatched == Unmatched::PassedOver {
                    draft.unmatched = Unmatched::PassedOver;
                }
            }
            Form::Yacc => {
                yacc::read_into(&mut draft, path, text)?;
                // Its scanner is written by hand, and nobody knows what it passes over.
                if !has_scanner {
                    draft.unmatched = Unmatched::PassedOver;
                }
            }
            Form::Antlr => antlr::read_into(&mut draft, &file, text)?,
            Form::Plain => {
                let mut more = plain::read(&file, text)?;
                draft.rules.append(&mut more.rules);
                draft.patterns.append(&mut more.patterns);
                draft.start = draft.start.take().or(more.start);
            }
        }
    }
    if texts.iter().filter(|(form, _, _)| *form != Form::Lex).count() > 1 {
        // Rules of several files together: no parser was made of all of them.
        draft.parser = None;
    }
    draft.into_grammar()
}

fn form_of(path: &Path) -> Form {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("y" | "yy" | "ypp" | "y++") => Form::Yacc,
        Some("l" | "ll" | "lex" | "lpp") => Form::Lex,
        Some("g4") => Form::Antlr,
        _ => Form::Plain,
    }
}

fn text_of(path: &Path) -> Result<String, Error> {
    let error = |message: String| Error { file: path.display().to_string(), line: None, message };
    let size = std::fs::metadata(path).map_err(|why| error(format!("cannot be read: {why}")))?.len();
    if size > LARGEST {
        return Err(error(format!("is {} MB large; a grammar of more than 4 MB is not read", size >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|why| error(format!("cannot be read: {why}")))?;
    // Latin-1 in a comment should not stop anybody.
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().iter().map(|byte| *byte as char).collect()))
}
