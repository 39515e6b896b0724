//! `colt grammar FILE...`: what was understood of a grammar, and how many symbolic strings there are of each size.

use std::collections::HashSet;
use std::fmt::Write;

use grammar::read::Files;
use grammar::{Grammar, Kind, Measure, ModeId, Note, Symbol, Token, TokenId};

use crate::args::GrammarArgs;
use crate::fault;
use crate::outcome::{Exit, Failure};
use crate::screen::print;

/// Tokens without use that are named.
const FEW: usize = 8;

/// Counting takes time with the square of the size, and the counts have thousands of digits.
const LARGEST: usize = 1000;

pub fn grammar(args: &GrammarArgs) -> Result<Exit, Failure> {
    if args.grammar_max > LARGEST {
        return Err(Failure::usage(format!(
            "--grammar-max {}: sizes of at most {LARGEST} are counted",
            args.grammar_max
        )));
    }
    fault::doing("reading a grammar".to_string());
    let files = Files { grammar: args.files.clone(), tokens: args.grammar_tokens.clone() };
    let grammar = grammar::read::grammar(&files).map_err(|error| Failure::usage(error.to_string()))?;
    let mut out = String::new();
    rules(&grammar, &mut out);
    tokens(&grammar, &mut out);
    counts(&grammar, args.grammar_max, &mut out);
    grammar.notes.iter().for_each(|note| line_of(note, &mut out));
    print(&out);
    Ok(Exit::Success)
}

fn rules(grammar: &Grammar, out: &mut String) {
    let _ = writeln!(out, "{} rules; the start is `{}`", grammar.rules.len(), grammar.variables[grammar.start.idx()]);
    for rule in &grammar.rules {
        let side: Vec<&str> = rule.symbols.iter().map(|symbol| grammar.name(*symbol)).collect();
        let side = if side.is_empty() { "(nothing)".to_string() } else { side.join(" ") };
        let _ = writeln!(out, "  {} = {side}", grammar.variables[rule.of.idx()]);
    }
}

fn tokens(grammar: &Grammar, out: &mut String) {
    let named: HashSet<TokenId> = grammar.rules.iter().flat_map(|rule| &rule.symbols).filter_map(token_of).collect();
    let has_text = |token: &&Token| token.kind != Kind::Empty;
    let is_used = |token: &&Token| named.contains(&token.known_as);
    let (used, others): (Vec<&Token>, Vec<&Token>) = grammar.tokens.iter().filter(has_text).partition(is_used);
    let _ = writeln!(out, "{} tokens", used.len());
    for token in used {
        let what = match &token.kind {
            Kind::Empty => "no text".to_string(),
            Kind::One(text) => format!("one text, \"{}\"", text.escape_ascii()),
            Kind::Finite { longest } => format!("a hole of at most {longest} bytes"),
            Kind::Infinite => format!("a hole of any length from {} on", token.language.shortest_len().unwrap_or(0)),
        };
        let mode = &grammar.scanner.modes[token.mode.0 as usize];
        let mode = if token.mode == ModeId::FIRST { String::new() } else { format!(" in {mode}") };
        let _ = writeln!(out, "  {}{mode}: {what}", token.name);
    }
    if !others.is_empty() {
        let few: Vec<&str> = others.iter().take(FEW).map(|token| token.name.as_str()).collect();
        let more = if others.len() > FEW { ", ..." } else { "" };
        let _ = writeln!(out, "and {} that no rule has: {}{more}", others.len(), few.join(" "));
    }
    let _ = match &grammar.scanner.blank {
        Some(blank) => {
            writeln!(out, "where two tokens would run together, \"{}\" stands between them", blank.escape_ascii())
        }
        None => writeln!(
            out,
            "no blank was found: texts where two tokens would run together are left out; \
             if there is one, --grammar-tokens can say it: skip = / +/ ;"
        ),
    };
}

fn token_of(symbol: &Symbol) -> Option<TokenId> {
    match symbol {
        Symbol::Token(token) => Some(*token),
        Symbol::Variable(_) => None,
    }
}

fn counts(grammar: &Grammar, largest: usize, out: &mut String) {
    let symbolic = grammar::count(grammar, Measure::Symbols, largest);
    let texts = grammar::count(grammar, Measure::Bytes, largest);
    let _ = writeln!(out, "by derivation, so that what an ambiguous grammar derives twice counts twice:");
    let _ = writeln!(out, "  size  symbolic strings of so many tokens, texts of so many bytes");
    for (size, (strings, texts)) in symbolic.iter().zip(&texts).enumerate() {
        let _ = writeln!(out, "  {size:>4}  {strings}, {texts}");
    }
}

fn line_of(note: &Note, out: &mut String) {
    let Note { file, line, text, lost: _ } = note;
    let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let _ = writeln!(out, "{place}: note: {text}");
}
