//! yacc and bison files, read by bison itself: `bison --xml` knows all of its syntax, and what it makes of it.
//!
//! What bison reports as rules is the grammar, and what it reports as automaton is the parser that decides where the rules leave a choice; rules with the token `error` are for recovery from mistakes and are left out.
//! Names that a token has beside a string (`%token LE "<="`) are read from the file, as the report has only one of them.

use std::path::Path;
use std::process::Command;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cursor::{Cursor, unescape};
use crate::Error;
use crate::draft::{Draft, DraftPattern, DraftRule, Expr, Gives, text_name, token_name};
use crate::language::Language;
use crate::lr::{Action, Parser, Reduction, State};

pub fn read_into(draft: &mut Draft, path: &Path, text: &str) -> Result<(), Error> {
    let file = path.display().to_string();
    let xml = report(&file, path)?;
    let wrong = |message: String| Error { file: file.clone(), line: None, message };
    // A report of bison has no doctype; one that has is not bison's.
    let tree =
        roxmltree::Document::parse(&xml).map_err(|why| wrong(format!("bison's report cannot be read: {why}")))?;
    let aliases = aliases(&file, text)?;
    let terminals: FxHashSet<&str> = tree
        .descendants()
        .filter(|node| node.has_tag_name("terminal"))
        .filter_map(|node| node.attribute("name"))
        .collect();
    let mut tokens: FxHashMap<&str, String> = FxHashMap::default();
    let (described, ends) = (FxHashSet::default(), FxHashSet::default());
    let end = end_of(&tree);
    let mut names = Names { aliases: &aliases, terminals: &terminals, end, described, ends, draft };
    for rule in tree.descendants().filter(|node| node.has_tag_name("rule") && node.has_attribute("usefulness")) {
        let child = |name: &str| rule.children().find(|node| node.has_tag_name(name));
        let (Some(of), Some(side)) = (child("lhs").and_then(|node| node.text()), child("rhs")) else { continue };
        let symbols: Vec<&str> =
            side.children().filter(|node| node.has_tag_name("symbol")).filter_map(|node| node.text()).collect();
        if of == "$accept" {
            names.draft.start = symbols.first().map(|name| name.to_string());
        } else if !symbols.contains(&"error") {
            let mut parts = Vec::new();
            for symbol in symbols {
                let part = names.symbol(symbol);
                if let (true, Some(name)) = (terminals.contains(symbol), token_name(&part)) {
                    tokens.insert(symbol, name);
                }
                parts.push(part);
            }
            names.draft.rules.push(DraftRule { of: of.to_string(), expr: Expr::Sequence(parts), line: None });
        } else {
            // A variable that is there for mistakes alone has no side.
            names.draft.rules.push(DraftRule { of: of.to_string(), expr: Expr::Choice(Vec::new()), line: None });
        }
    }
    let has_end = !names.ends.is_empty();
    draft.parser = match follows_all(text) || has_end {
        true => None,
        false => Some(parser(&tree, &tokens).ok_or_else(|| wrong("bison's report has no automaton".into()))?),
    };
    Ok(())
}

/// Whether the parser follows all choices at once.
fn follows_all(text: &str) -> bool {
    text.contains("%glr-parser") || text.contains("\"glr.c\"") || text.contains("\"glr.cc\"")
}

/// What the end of a text is called: `$end`, unless the file says otherwise (`%token END 0 "end of file"`).
fn end_of<'r>(report: &'r roxmltree::Document) -> &'r str {
    let mut terminals = report.descendants().filter(|node| node.has_tag_name("terminal"));
    let end = terminals.find(|node| node.attribute("token-number") == Some("0"));
    end.and_then(|node| node.attribute("name")).unwrap_or("$end")
}

/// The automaton of a report, with tokens by the names that a draft has for them.
fn parser(report: &roxmltree::Document, tokens: &FxHashMap<&str, String>) -> Option<Parser<String>> {
    let end = end_of(report);
    let mut variables: FxHashMap<&str, u32> = FxHashMap::default();
    let mut number = |name| {
        let next = variables.len() as u32;
        *variables.entry(name).or_insert(next)
    };
    let mut reductions = FxHashMap::default();
    for rule in report.descendants().filter(|node| node.has_tag_name("rule") && node.has_attribute("usefulness")) {
        let child = |name: &str| rule.children().find(|node| node.has_tag_name(name));
        let n_symbols = child("rhs")?.children().filter(|node| node.has_tag_name("symbol")).count();
        let variable = number(child("lhs")?.text()?);
        reductions.insert(rule.attribute("number")?.parse().ok()?, Reduction { n_symbols, variable });
    }
    let mut states = Vec::new();
    for node in report.descendants().filter(|node| node.has_tag_name("state") && node.has_attribute("number")) {
        let mut state = State::default();
        let mut act = |symbol: &str, action: Action| match (symbol, tokens.get(symbol)) {
            ("$default", _) => state.otherwise = action,
            (symbol, _) if symbol == end => state.at_end = Some(action),
            (_, Some(token)) => drop(state.actions.insert(token.clone(), action)),
            // Never seen: `error`, and what no rule has.
            (_, None) => {}
        };
        for part in node.descendants() {
            let symbol = part.attribute("symbol").unwrap_or_default();
            match (part.tag_name().name(), part.attribute("type"), part.attribute("enabled")) {
                ("reduction", _, Some("true")) => match part.attribute("rule")? {
                    "accept" => act(symbol, Action::Accept),
                    rule => act(symbol, Action::Reduce(rule.parse().ok()?)),
                },
                ("transition", Some("shift"), _) => act(symbol, Action::Shift(part.attribute("state")?.parse().ok()?)),
                ("error", _, _) => act(symbol, Action::Refuse),
                _ => {}
            }
        }
        for part in node.descendants().filter(|part| part.attribute("type") == Some("goto")) {
            state.goes.insert(number(part.attribute("symbol")?), part.attribute("state")?.parse().ok()?);
        }
        states.push(state);
    }
    (!states.is_empty()).then_some(Parser { states, reductions })
}

/// Runs bison.
fn report(file: &str, path: &Path) -> Result<String, Error> {
    let error = |message: String| Error { file: file.to_string(), line: None, message };
    let dir = tempfile::tempdir().map_err(|why| error(format!("no temporary folder for bison's report: {why}")))?;
    let xml = dir.path().join("report.xml");
    let path = path.canonicalize().map_err(|why| error(format!("cannot be read: {why}")))?;
    let output = Command::new("bison")
        .arg("-Wnone")
        .arg(format!("--xml={}", xml.display()))
        .arg(format!("--output={}", dir.path().join("parser.c").display()))
        .arg(&path)
        // A file may name what bison writes, and that is written beside its caller.
        .current_dir(dir.path())
        .output()
        .map_err(|why| {
            error(format!("bison is needed to read this and cannot be run ({why}); install the package `bison`"))
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said
            .lines()
            .find(|line| line.contains("error"))
            .or_else(|| said.lines().next())
            .unwrap_or("no reason given");
        // Bison's own message names file and line.
        return Err(error(format!(
            "bison does not accept it: {}",
            first.strip_prefix(&format!("{}:", path.display())).unwrap_or(first).trim()
        )));
    }
    std::fs::read_to_string(&xml).map_err(|why| error(format!("bison wrote no report: {why}")))
}

struct Names<'d> {
    /// Strings that stand for a named token.
    aliases: &'d FxHashMap<String, Alias>,
    terminals: &'d FxHashSet<&'d str>,
    /// What the end of a text is called.
    end: &'d str,
    /// Tokens of which only such a string tells what they look like.
    described: FxHashSet<String>,
    /// Tokens of the rules that only the end of a text gives.
    ends: FxHashSet<String>,
    draft: &'d mut Draft,
}

/// The token that a string stands for, and where that is said.
struct Alias {
    token: String,
    line: usize,
}

impl Names<'_> {
    fn symbol(&mut self, name: &str) -> Expr {
        if !self.terminals.contains(name) {
            return Expr::Name(name.to_string());
        }
        if name == self.end {
            return self.end(name);
        }
        let is_quoted = |quote: char| name.len() >= 3 && name.starts_with(quote) && name.ends_with(quote);
        if is_quoted('\'') {
            return self.text(unescape(&name[1..name.len() - 1]));
        }
        if is_quoted('"') {
            let text = unescape(&name[1..name.len() - 1]);
            if let Some(Alias { token, line }) = self.aliases.get(name) {
                if self.is_end(token) {
                    return self.end(token);
                }
                if self.draft.patterns.iter().any(|pattern| pattern.gives == Gives::Token(token.clone())) {
                    return Expr::Name(token.clone());
                }
                // Without a scanner the string is the best there is to tell what the token looks like. A word may as well only
                // describe it: `%token NUM "number"`.
                let is_word = text.iter().any(u8::is_ascii_alphanumeric);
                if is_word && self.described.insert(token.clone()) {
                    let said = format!(
                        "`{token}` is taken to be written {name}, as no pattern gives it; --grammar-tokens can say what it looks like"
                    );
                    self.draft.lose(Some(*line), said);
                }
            }
            return self.text(text);
        }
        if self.is_end(name) {
            return self.end(name);
        }
        self.draft.declared.push((name.to_string(), None));
        Expr::Name(name.to_string())
    }

    /// Whether the scanner gives a token at the end of a text, and nowhere else.
    fn is_end(&self, token: &str) -> bool {
        let mut patterns = self.draft.patterns.iter();
        self.draft.at_end.iter().any(|end| end == token)
            && !patterns.any(|pattern| matches!(&pattern.gives, Gives::Token(name) if name == token))
    }

    fn end(&mut self, token: &str) -> Expr {
        if self.ends.insert(token.to_string()) {
            let text = format!(
                "`{token}` is the end of the text and stands for nothing; what bison refuses by precedence is written as well"
            );
            self.draft.note(None, text);
        }
        Expr::Sequence(Vec::new())
    }

    fn text(&mut self, text: Vec<u8>) -> Expr {
        let name = text_name(&text);
        let is_known = self.draft.patterns.iter().any(|pattern| pattern.gives == Gives::Token(name.clone()));
        if is_known || self.draft.patterns.is_empty() {
            return Expr::Text(text);
        }
        // The scanner does not return it by its character: perhaps a pattern of one text with an unknown action does.
        self.draft.patterns.insert(0, DraftPattern::new(Gives::Token(name), Language::of_text(&text)));
        Expr::Text(text)
    }
}

/// `"<="` to `LE`, from the declarations.
fn aliases(file: &str, text: &str) -> Result<FxHashMap<String, Alias>, Error> {
    let mut aliases = FxHashMap::default();
    let mut cursor = Cursor::new(file, text);
    let mut last: Option<String> = None;
    let mut declares = false;
    while !cursor.is_over() && !cursor.starts_with("%%") {
        if cursor.eat("%{") {
            while !cursor.is_over() && !cursor.eat("%}") {
                cursor.bump();
            }
        } else if cursor.eat("%") {
            let word = cursor.name().unwrap_or_default();
            declares = matches!(word.as_str(), "token" | "left" | "right" | "nonassoc" | "precedence");
            last = None;
        } else if cursor.starts_with("/*") {
            cursor.skip_comment()?;
        } else if cursor.starts_with("//") {
            cursor.rest_of_line();
        } else if cursor.peek() == Some(b'{') {
            cursor.braces()?;
        } else if cursor.eat("\"") {
            let alias = format!("\"{}\"", cursor.quoted(b'"')?);
            if let (true, Some(token)) = (declares, last.take()) {
                aliases.insert(alias, Alias { token, line: cursor.line() });
            }
        } else if cursor.eat("'") {
            cursor.quoted(b'\'')?;
        } else if let Some(name) = cursor.name() {
            last = Some(name);
        } else {
            cursor.bump();
        }
    }
    Ok(aliases)
}
