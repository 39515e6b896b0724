//! Grammars people already have: reading them, what their tokens may say, how many texts there are, and which token may come
//! next. Knows nothing of programs and paths.

mod beginnings;
mod chart;
mod composed;
mod count;
mod draft;
mod hole;
mod language;
mod lr;
mod parsing;
pub mod read;
mod scanner;
mod syntax;

pub use beginnings::{BeginningId, Beginnings, By, Finish, Next, Whole};
pub use count::{Count, Measure, count};
pub use hole::{Arrow, Bytes, Texts};
pub use language::{Kind, Language};
pub use scanner::{Between, ModeId, Pattern, Place, Scanner, Then, Unmatched, Yield};
pub use syntax::{Grammar, Lost, Note, Rule, RuleIdx, Symbol, Token, TokenId, VariableId};

/// What is wrong with a grammar file, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", place(.file, *.line))]
pub struct Error {
    pub file: String,
    pub line: Option<usize>,
    pub message: String,
}

fn place(file: &str, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{file}:{line}: "),
        None => format!("{file}: "),
    }
}
