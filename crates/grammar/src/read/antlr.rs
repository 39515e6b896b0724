//! ANTLR 4 grammars, combined or as parser and lexer. Actions and predicates are left out with a note.

use rustc_hash::FxHashMap;

use super::cursor::{Cursor, unescape};
use super::scanning::{self, Action, Returns, ScanRule, Surroundings, Then};
use crate::draft::{Draft, DraftRule, Expr, FIRST_MODE, Literals};
use crate::language::{Alphabet, Case, Language};
use crate::{Error, Place};

/// The deepest nesting of groups and fragments.
const DEEPEST: usize = 200;

pub fn read_into(draft: &mut Draft, file: &str, text: &str) -> Result<(), Error> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        draft,
        lexemes: Vec::new(),
        mode: FIRST_MODE.to_string(),
        case: Case::Matters,
        depth: 0,
    };
    reader.read()?;
    reader.finish()
}

struct Reader<'t, 'd> {
    cursor: Cursor<'t>,
    draft: &'d mut Draft,
    lexemes: Vec<Lexeme>,
    /// The mode of the lexer.
    mode: String,
    case: Case,
    depth: usize,
}

/// A rule of the lexer.
struct Lexeme {
    name: String,
    line: usize,
    expr: Lexed,
    mode: String,
    gives: LexemeGives,
    then: Then,
    case: Case,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LexemeGives {
    Scanned(Returns),
    /// Used by others only.
    Fragment,
}

/// The right-hand side of a lexer rule.
enum Lexed {
    Sequence(Vec<Lexed>),
    Choice(Vec<Lexed>),
    Repeat(Box<Lexed>, &'static str),
    Name(String),
    /// Already in the words of the regular-expression library.
    Regex(String),
    /// One character that none of these matches.
    Not(Box<Lexed>),
    /// The end of the text.
    End,
}

impl Reader<'_, '_> {
    fn read(&mut self) -> Result<(), Error> {
        loop {
            self.blanks()?;
            if self.cursor.is_over() {
                return Ok(());
            }
            let line = self.cursor.line();
            if self.cursor.eat("@") {
                // @header { ... }
                self.cursor.take_while(|byte| byte != b'{');
                self.cursor.braces()?;
                continue;
            }
            let Some(word) = self.cursor.name() else {
                return Err(self.cursor.error("a rule begins with its name"));
            };
            match word.as_str() {
                "grammar" | "parser" | "lexer" => drop(self.text_before_semicolon(&word)?),
                "import" => {
                    let names = self.text_before_semicolon(&word)?;
                    let text = format!("import {}: name that file as well", names.trim());
                    self.draft.note(Some(line), text);
                }
                "options" | "tokens" | "channels" => {
                    self.blanks()?;
                    let block = self.cursor.braces()?;
                    if word == "options" {
                        self.case = case_of(&block).unwrap_or(self.case);
                    }
                }
                "mode" => {
                    self.blanks()?;
                    self.mode = mode_name(&self.cursor.name().unwrap_or_default());
                    self.text_before_semicolon("mode")?;
                }
                "fragment" => {
                    self.blanks()?;
                    let name = self.cursor.name().ok_or_else(|| self.cursor.error("`fragment` needs a name"))?;
                    self.lexeme(name, line, LexemeGives::Fragment)?;
                }
                name if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    let gives = LexemeGives::Scanned(Returns::Tokens(vec![word.clone()]));
                    self.lexeme(word, line, gives)?;
                }
                _ => self.rule(word, line)?,
            }
        }
    }

    fn blanks(&mut self) -> Result<(), Error> {
        self.cursor.skip_blanks("//")
    }

    fn text_before_semicolon(&mut self, word: &str) -> Result<String, Error> {
        let text = self.cursor.take_while(|byte| byte != b';');
        if self.cursor.eat(";") {
            Ok(text)
        } else {
            Err(self.cursor.error(format!("a `;` is missing behind `{word}`")))
        }
    }

    /// What may stand between the name of a rule and its colon.
    /// Whether case matters, if that is said there.
    fn skip_to_colon(&mut self, name: &str) -> Result<Option<Case>, Error> {
        let mut case = None;
        loop {
            self.blanks()?;
            match self.cursor.peek() {
                Some(b':') => {
                    self.cursor.bump();
                    return Ok(case);
                }
                Some(b'[') => {
                    self.cursor.take_while(|byte| byte != b']');
                    self.cursor.bump();
                }
                Some(b'{') => case = case_of(&self.cursor.braces()?).or(case),
                Some(b'@') => {
                    self.cursor.take_while(|byte| byte != b'{');
                    self.cursor.braces()?;
                }
                _ => match self.cursor.name().as_deref() {
                    Some("returns" | "locals" | "throws" | "options") => {}
                    _ => return Err(self.cursor.error(format!("a `:` is missing behind `{name}`"))),
                },
            }
        }
    }

    fn rule(&mut self, name: String, line: usize) -> Result<(), Error> {
        self.skip_to_colon(&name)?;
        let expr = self.choice()?;
        self.blanks()?;
        if !self.cursor.eat(";") {
            return Err(self.cursor.error(format!("a `;` is missing at the end of `{name}`")));
        }
        self.skip_handlers()?;
        self.draft.start.get_or_insert_with(|| name.clone());
        self.draft.rules.push(DraftRule { of: name, expr, line: Some(line) });
        Ok(())
    }

    /// `catch [...] { ... }` and `finally { ... }` behind a rule.
    fn skip_handlers(&mut self) -> Result<(), Error> {
        loop {
            self.blanks()?;
            let is_handler = ["catch", "finally"].iter().any(|word| {
                self.cursor.starts_with(word)
                    && !self.cursor.peek_at(word.len()).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            if !is_handler {
                return Ok(());
            }
            self.cursor.name();
            self.cursor.take_while(|byte| byte != b'{');
            self.cursor.braces()?;
        }
    }

    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.cursor.error("groups are nested too deeply")) } else { Ok(()) }
    }

    fn choice(&mut self) -> Result<Expr, Error> {
        self.deeper()?;
        let mut sides = vec![self.sequence()?];
        while self.cursor.eat("|") {
            sides.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if sides.len() == 1 { sides.remove(0) } else { Expr::Choice(sides) })
    }

    fn sequence(&mut self) -> Result<Expr, Error> {
        let mut parts = Vec::new();
        loop {
            self.blanks()?;
            let part = match self.cursor.peek() {
                None | Some(b'|' | b';' | b')') => return Ok(Expr::Sequence(parts)),
                Some(b'{') => {
                    self.action()?;
                    continue;
                }
                Some(b'<') => {
                    // <assoc=right>
                    self.cursor.take_while(|byte| byte != b'>');
                    self.cursor.bump();
                    continue;
                }
                // What this side is called; others may follow on the line.
                Some(b'#') => {
                    self.cursor.bump();
                    self.blanks()?;
                    self.cursor.name();
                    continue;
                }
                Some(b'~') => {
                    self.cursor.bump();
                    self.blanks()?;
                    Expr::AnyBut(alternatives(self.atom()?))
                }
                Some(_) => self.atom()?,
            };
            self.blanks()?;
            parts.push(self.repeated(part));
        }
    }

    fn action(&mut self) -> Result<(), Error> {
        let line = self.cursor.line();
        self.cursor.braces()?;
        let what = if self.cursor.eat("?") { "a predicate" } else { "an action" };
        self.draft.note(Some(line), format!("{what} is left out"));
        Ok(())
    }

    fn atom(&mut self) -> Result<Expr, Error> {
        match self.cursor.peek() {
            Some(b'\'') => {
                self.cursor.bump();
                Ok(Expr::Text(unescape(&self.cursor.quoted(b'\'')?)))
            }
            Some(b'(') => {
                self.cursor.bump();
                let inner = self.choice()?;
                self.blanks()?;
                if self.cursor.eat(")") { Ok(inner) } else { Err(self.cursor.error("a `)` is missing")) }
            }
            Some(b'.') => {
                self.cursor.bump();
                Ok(Expr::AnyBut(Vec::new()))
            }
            _ => {
                let name = self
                    .cursor
                    .name()
                    .ok_or_else(|| self.cursor.error("a name, a 'text' or a group is expected here"))?;
                self.blanks()?;
                // A label: `left=expr`, `all+=expr`.
                if self.cursor.eat("+=") || self.cursor.eat("=") {
                    self.blanks()?;
                    return self.atom();
                }
                if self.cursor.peek() == Some(b'[') {
                    self.cursor.take_while(|byte| byte != b']');
                    self.cursor.bump();
                }
                Ok(if name == "EOF" { Expr::Sequence(Vec::new()) } else { Expr::Name(name) })
            }
        }
    }

    fn repeated(&mut self, part: Expr) -> Expr {
        let wrap = match self.cursor.peek() {
            Some(b'?') => Expr::Optional,
            Some(b'*') => Expr::Repeated,
            Some(b'+') => Expr::Several,
            _ => return part,
        };
        self.cursor.bump();
        self.cursor.eat("?");
        wrap(Box::new(part))
    }

    fn lexeme(&mut self, name: String, line: usize, mut gives: LexemeGives) -> Result<(), Error> {
        let case = self.skip_to_colon(&name)?.unwrap_or(self.case);
        let expr = self.lex_choice()?;
        self.blanks()?;
        let mut then = Then::Same;
        if self.cursor.eat("->") {
            let commands = self.cursor.take_while(|byte| byte != b';');
            let unknown = |why: String| LexemeGives::Scanned(Returns::Unknown(why));
            if commands.contains('|') {
                gives = unknown("its alternatives have commands of their own".into());
            }
            for command in commands.split(',').map(str::trim).filter(|_| !commands.contains('|')) {
                let (word, argument) = command.trim_end_matches(')').split_once('(').unwrap_or((command, ""));
                let argument = argument.trim();
                match word.trim() {
                    "skip" | "channel" => gives = LexemeGives::Scanned(Returns::Nothing),
                    "more" => gives = LexemeGives::Scanned(Returns::More),
                    "type" => gives = LexemeGives::Scanned(Returns::Tokens(vec![argument.to_string()])),
                    "mode" => then = Then::Goes(mode_name(argument)),
                    "pushMode" => then = Then::Pushes(mode_name(argument)),
                    "popMode" => then = Then::Pops,
                    _ => gives = unknown(format!("`-> {command}` is not known")),
                }
            }
        }
        if !self.cursor.eat(";") {
            return Err(self.cursor.error(format!("a `;` is missing at the end of `{name}`")));
        }
        self.lexemes.push(Lexeme { name, line, expr, mode: self.mode.clone(), gives, then, case });
        Ok(())
    }

    fn lex_choice(&mut self) -> Result<Lexed, Error> {
        self.deeper()?;
        let mut sides = vec![self.lex_sequence()?];
        while self.cursor.eat("|") {
            sides.push(self.lex_sequence()?);
        }
        self.depth -= 1;
        Ok(Lexed::Choice(sides))
    }

    fn lex_sequence(&mut self) -> Result<Lexed, Error> {
        let mut parts = Vec::new();
        loop {
            self.blanks()?;
            match self.cursor.peek() {
                None | Some(b'|' | b';' | b')') => break,
                Some(b'-') if self.cursor.starts_with("->") => break,
                Some(b'{') => self.action()?,
                _ => {
                    let part = self.lex_atom()?;
                    self.blanks()?;
                    parts.push(self.lex_repeated(part));
                }
            }
        }
        Ok(Lexed::Sequence(parts))
    }

    fn lex_repeated(&mut self, part: Lexed) -> Lexed {
        let how = match self.cursor.peek() {
            Some(b'?') => "?",
            Some(b'*') => "*",
            Some(b'+') => "+",
            _ => return part,
        };
        self.cursor.bump();
        let how = match (self.cursor.eat("?"), how) {
            (false, how) => how,
            (true, "?") => "??",
            (true, "*") => "*?",
            (true, _) => "+?",
        };
        Lexed::Repeat(Box::new(part), how)
    }

    fn lex_atom(&mut self) -> Result<Lexed, Error> {
        match self.cursor.peek() {
            Some(b'\'') => self.lex_text(),
            Some(b'[') => {
                self.cursor.bump();
                let inner = self.cursor.quoted(b']')?;
                Ok(Lexed::Regex(set(&inner)))
            }
            Some(b'~') => {
                self.cursor.bump();
                self.blanks()?;
                Ok(Lexed::Not(Box::new(self.lex_atom()?)))
            }
            Some(b'.') => {
                self.cursor.bump();
                Ok(Lexed::Regex("(?s:.)".into()))
            }
            Some(b'(') => {
                self.cursor.bump();
                let inner = self.lex_choice()?;
                self.blanks()?;
                if self.cursor.eat(")") { Ok(inner) } else { Err(self.cursor.error("a `)` is missing")) }
            }
            _ => {
                let name = self
                    .cursor
                    .name()
                    .ok_or_else(|| self.cursor.error("a 'text', a [set] or a name is expected here"))?;
                Ok(if name == "EOF" { Lexed::End } else { Lexed::Name(name) })
            }
        }
    }

    /// `'text'`, or a range `'a'..'z'`.
    fn lex_text(&mut self) -> Result<Lexed, Error> {
        self.cursor.bump();
        let from = unescape(&self.cursor.quoted(b'\'')?);
        self.blanks()?;
        if !self.cursor.eat("..") {
            return Ok(Lexed::Regex(format!("(?:{})", regex_syntax::escape(&String::from_utf8_lossy(&from)))));
        }
        self.blanks()?;
        if !self.cursor.eat("'") {
            return Err(self.cursor.error("a range ends with a 'character'"));
        }
        let to = unescape(&self.cursor.quoted(b'\'')?);
        let one = |text: &[u8]| String::from_utf8_lossy(text).chars().next().map_or(0, |c| c as u32);
        Ok(Lexed::Regex(format!(r"[\x{{{:x}}}-\x{{{:x}}}]", one(&from), one(&to))))
    }

    /// The patterns of the lexer, in order.
    fn finish(self) -> Result<(), Error> {
        let (mut losses, mut notes) = (Vec::new(), Vec::new());
        let by_name: ByName = self.lexemes.iter().map(|lexeme| (lexeme.name.as_str(), lexeme)).collect();
        let mut rules = Vec::new();
        for lexeme in &self.lexemes {
            let LexemeGives::Scanned(gives) = &lexeme.gives else { continue };
            let wrong = |why: String| Error {
                file: self.draft.file.clone(),
                line: Some(lexeme.line),
                message: format!("`{}`: {why}", lexeme.name),
            };
            let mut writing = Writing { names: &by_name, within: vec![&lexeme.name], left_out: None };
            let mut language = match writing.write(&lexeme.expr, 0).map_err(wrong)? {
                Some(regex) => Language::of_regex(&regex, Alphabet::Unicode, lexeme.case).map_err(wrong)?,
                None => Language::empty(),
            };
            if let Some(why) = writing.left_out {
                let text = format!("`{}`: {why}", lexeme.name);
                match gives {
                    Returns::Nothing => notes.push((lexeme.line, text)),
                    _ => losses.push((lexeme.line, text)),
                }
            }
            if stops_early(&lexeme.expr, &by_name, 0) {
                language = language.shortest();
                if repeats_behind(&lexeme.expr, &by_name, 0) {
                    let why = format!("what `{}` repeats behind a part that stops early is left out", lexeme.name);
                    losses.push((lexeme.line, why));
                }
            }
            rules.push(ScanRule {
                pattern: lexeme.name.clone(),
                line: lexeme.line,
                modes: vec![lexeme.mode.clone()],
                language,
                place: Place::Anywhere,
                surroundings: Surroundings::Any,
                action: Action { gives: gives.clone(), then: lexeme.then.clone() },
            });
        }
        scanning::give(self.draft, &rules);
        // A parser in a file of its own knows nothing of case.
        let case = match self.draft.texts {
            Literals::AsScanned(Case::Ignored) => Case::Ignored,
            Literals::AsScanned(Case::Matters) | Literals::Own => self.case,
        };
        self.draft.texts = Literals::AsScanned(case);
        notes.into_iter().for_each(|(line, what)| self.draft.note(Some(line), what));
        losses.into_iter().for_each(|(line, why)| self.draft.lose(Some(line), why));
        Ok(())
    }
}

/// Whether options say that case matters.
fn case_of(options: &str) -> Option<Case> {
    let plain: String = options.split_ascii_whitespace().collect();
    let (_, value) = plain.split_once("caseInsensitive=")?;
    Some(if value.starts_with("true") { Case::Ignored } else { Case::Matters })
}

fn mode_name(name: &str) -> String {
    if name == "DEFAULT_MODE" { FIRST_MODE.to_string() } else { name.to_string() }
}

/// `~('a' | B)` names several.
fn alternatives(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Choice(sides) => sides.into_iter().flat_map(alternatives).collect(),
        Expr::Sequence(mut parts) if parts.len() == 1 => alternatives(parts.remove(0)),
        other => vec![other],
    }
}

/// A set in brackets, in the words of the library.
fn set(inner: &str) -> String {
    let mut out = String::from("[");
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        if c == '\\' && rest.len() > 1 {
            if rest.starts_with("\\p") || rest.starts_with("\\P") {
                let end = rest.find('}').map_or(rest.len(), |at| at + 1);
                out.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            let (bytes, n_bytes) = super::cursor::escape(&rest.as_bytes()[1..]);
            String::from_utf8_lossy(&bytes).chars().for_each(|c| push_char(c, &mut out));
            rest = &rest[1 + n_bytes..];
            continue;
        }
        if c == '-' && out.len() > 1 && rest.len() > 1 {
            out.push('-');
        } else {
            push_char(c, &mut out);
        }
        rest = &rest[c.len_utf8()..];
    }
    out.push(']');
    out
}

fn push_char(c: char, out: &mut String) {
    out.push_str(&format!(r"\x{{{:x}}}", c as u32));
}

type ByName<'l> = FxHashMap<&'l str, &'l Lexeme>;

/// What a part of a rule stands for where it is a name; `None` for what nests too deeply.
fn named<'l>(name: &str, names: &ByName<'l>, depth: usize) -> Option<&'l Lexed> {
    names.get(name).filter(|_| depth < MOST_NAMES).map(|lexeme| &lexeme.expr)
}

/// Whether the rule matches as little as it can: ANTLR stops at the first end that fits.
fn stops_early(expr: &Lexed, names: &ByName, depth: usize) -> bool {
    match expr {
        Lexed::Sequence(parts) | Lexed::Choice(parts) => parts.iter().any(|part| stops_early(part, names, depth)),
        Lexed::Repeat(inner, how) => how.len() == 2 || stops_early(inner, names, depth),
        Lexed::Name(name) => named(name, names, depth).is_some_and(|inner| stops_early(inner, names, depth + 1)),
        Lexed::Regex(_) | Lexed::Not(_) | Lexed::End => false,
    }
}

/// Whether something is repeated behind a part that stops early.
fn repeats_behind(expr: &Lexed, names: &ByName, depth: usize) -> bool {
    match expr {
        Lexed::Sequence(parts) => {
            let first = parts.iter().position(|part| stops_early(part, names, depth));
            first.is_some_and(|first| {
                repeats_behind(&parts[first], names, depth) || parts[first + 1..].iter().any(repeats)
            })
        }
        Lexed::Choice(parts) => parts.iter().any(|part| repeats_behind(part, names, depth)),
        Lexed::Repeat(inner, how) => how.len() == 1 && stops_early(inner, names, depth),
        Lexed::Name(name) => named(name, names, depth).is_some_and(|inner| repeats_behind(inner, names, depth + 1)),
        Lexed::Regex(_) | Lexed::Not(_) | Lexed::End => false,
    }
}

/// What a name stands for may be repeated as well.
fn repeats(expr: &Lexed) -> bool {
    match expr {
        Lexed::Sequence(parts) | Lexed::Choice(parts) => parts.iter().any(repeats),
        Lexed::Repeat(..) | Lexed::Name(_) => true,
        Lexed::Regex(_) | Lexed::Not(_) | Lexed::End => false,
    }
}

/// Names of fragments in each other that are looked through.
const MOST_NAMES: usize = 20;

/// Writes rules of the lexer in the words of the library.
struct Writing<'l> {
    names: &'l ByName<'l>,
    /// The rules that are being written, one in the other.
    within: Vec<&'l str>,
    /// Why something was left out.
    left_out: Option<&'static str>,
}

impl<'l> Writing<'l> {
    /// `None`: nothing is left of it.
    fn write(&mut self, expr: &'l Lexed, depth: usize) -> Result<Option<String>, String> {
        if depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        match expr {
            Lexed::Sequence(parts) => {
                let mut all = String::new();
                for part in parts {
                    let Some(part) = self.write(part, depth + 1)? else { return Ok(None) };
                    all.push_str(&part);
                }
                Ok(Some(all))
            }
            Lexed::Choice(sides) => {
                let is_end = |side: &&Lexed| match side {
                    Lexed::Sequence(parts) => matches!(parts[..], [Lexed::End]),
                    other => matches!(other, Lexed::End),
                };
                let mut written = Vec::new();
                for side in sides {
                    if sides.len() > 1 && is_end(&side) {
                        self.left_out = Some("what ends at the end of the text is left out");
                    } else {
                        written.extend(self.write(side, depth + 1)?);
                    }
                }
                Ok((!written.is_empty()).then(|| format!("(?:{})", written.join("|"))))
            }
            Lexed::Repeat(inner, how) => Ok(match (self.write(inner, depth + 1)?, &how[..1]) {
                (Some(inner), how) => Some(format!("(?:{inner}){how}")),
                (None, "+") => None,
                (None, _) => Some(String::new()),
            }),
            Lexed::Name(name) if self.within.contains(&name.as_str()) => {
                self.left_out = Some("what it has of itself within is left out");
                Ok(None)
            }
            Lexed::Name(name) => {
                let lexeme = self.names.get(name.as_str()).ok_or_else(|| format!("`{name}` is not defined"))?;
                self.within.push(name);
                let written = self.write(&lexeme.expr, depth + 1);
                self.within.pop();
                written
            }
            Lexed::Regex(regex) => Ok(Some(regex.clone())),
            Lexed::Not(inner) => {
                let mut sides = Vec::new();
                characters(inner, self.names, depth + 1, &mut sides)?;
                Ok(Some(format!("[^{}]", sides.concat())))
            }
            Lexed::End => Ok(Some(String::new())),
        }
    }
}

/// The sets of single characters that `~` is about.
fn characters(
    expr: &Lexed,
    names: &FxHashMap<&str, &Lexeme>,
    depth: usize,
    sides: &mut Vec<String>,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Err("it names itself, which a token cannot do here".into());
    }
    match expr {
        Lexed::Choice(parts) => parts.iter().try_for_each(|part| characters(part, names, depth + 1, sides)),
        Lexed::Sequence(parts) if parts.len() == 1 => characters(&parts[0], names, depth + 1, sides),
        Lexed::Name(name) => {
            let lexeme = names.get(name.as_str()).ok_or_else(|| format!("`{name}` is not defined"))?;
            characters(&lexeme.expr, names, depth + 1, sides)
        }
        Lexed::Regex(regex) if regex.starts_with('[') => {
            sides.push(regex.clone());
            Ok(())
        }
        Lexed::Regex(regex) => {
            let inner = regex.trim_start_matches("(?:").trim_end_matches(')');
            let plain = inner.strip_prefix('\\').unwrap_or(inner);
            let mut chars = plain.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => {
                    let mut one = String::new();
                    push_char(c, &mut one);
                    sides.push(one);
                    Ok(())
                }
                _ => Err("`~` is about single characters".into()),
            }
        }
        _ => Err("`~` is about single characters".into()),
    }
}
