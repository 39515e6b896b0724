//! Reads the text form that `print` writes.
//!
//! Made for writing modules by hand as well: positions, source types, alignments, `slots` and the target may be left
//! out. Left-out positions are `SpanId(0)`, `slots` is what the registers need, the target is x86-64.

mod functions;
mod instructions;
mod tables;
mod tokens;

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::lex::{Lexed, Token, lex};
use crate::{Call, CallId, FuncId, GlobalId, Module, Reg, Span, SymbolRef, Target};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

type Parsed<T> = Result<T, ParseError>;

/// Reads a module from its text form. The result is well-formed text, not yet a verified module.
pub fn parse(text: &str) -> Parsed<Module> {
    let tokens = lex(text)?;
    let symbols = collect_symbols(&tokens);
    let module = Module {
        target: Target { triple: "x86_64-unknown-linux-gnu".to_string(), pointer_bytes: 8 },
        functions: Vec::new(),
        globals: Vec::new(),
        types: Vec::new(),
        files: Vec::new(),
        spans: vec![Span { file: None, line: 0, column: 0 }],
    };
    let mut parser = Parser { tokens, pos: 0, symbols, module };
    parser.items()?;
    Ok(parser.module)
}

/// Functions and globals may be named before they are defined. A name borne twice is `None`: only its number will do.
fn collect_symbols(tokens: &[Lexed]) -> FxHashMap<String, Option<SymbolRef>> {
    let mut symbols = FxHashMap::default();
    let (mut n_functions, mut n_globals) = (0, 0);
    for (idx, pair) in tokens.windows(2).enumerate() {
        let is_line_start = idx == 0 || tokens[idx - 1].token == Token::LineEnd;
        let (Token::Word(word), Token::Symbol(name)) = (&pair[0].token, &pair[1].token) else { continue };
        let symbol = match word.as_str() {
            "func" if is_line_start => {
                n_functions += 1;
                SymbolRef::Function(FuncId::new(n_functions - 1))
            }
            "global" if is_line_start => {
                n_globals += 1;
                SymbolRef::Global(GlobalId::new(n_globals - 1))
            }
            _ => continue,
        };
        symbols.entry(name.clone()).and_modify(|earlier| *earlier = None).or_insert(Some(symbol));
    }
    symbols
}

struct Parser {
    tokens: Vec<Lexed>,
    pos: usize,
    symbols: FxHashMap<String, Option<SymbolRef>>,
    module: Module,
}

/// Calls of the function being read, by number; `next` is the number of a call that gives none.
#[derive(Default)]
struct CallTable {
    calls: BTreeMap<CallId, Call>,
    next: u32,
}

/// What stands left of `=`; widths may be left out where the instruction fixes them.
struct Destination {
    reg: Reg,
    bits: Option<u8>,
}

enum Operand {
    Reg(Reg),
    Imm(u64),
}
