//! lex and flex files: which texts are which token.
//!
//! What is read: definitions, patterns in all of flex's syntax, start conditions, trailing context, and which token an action
//! returns (`return NUM;`, `return *yytext;`; no return: blanks and comments), macros of the file included. Of some patterns it
//! cannot be said which token they give: those whose action does more than return a token, or returns it under a condition. They are
//! listed, and their texts are never written.

mod action;
mod flow;
mod macros;
mod pattern;

use rustc_hash::FxHashMap;

use super::cursor::Cursor;
use super::scanning::{self, Action, Returns, ScanRule, Surroundings};
use crate::draft::{Draft, FIRST_MODE};
use crate::language::{Alphabet, Case, Language};
use crate::{Error, Place, Unmatched};
use macros::Macros;
use pattern::Translated;

/// The scanner of a lex file; a draft without rules.
pub fn read(file: &str, text: &str) -> Result<Draft, Error> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        draft: Draft::new(file),
        definitions: FxHashMap::default(),
        macros: Macros::default(),
        exclusive: Vec::new(),
        inclusive: vec![FIRST_MODE.to_string()],
        case: Case::Matters,
        waiting: Vec::new(),
        rules: Vec::new(),
    };
    reader.definitions()?;
    reader.rules()?;
    let Reader { mut draft, rules, .. } = reader;
    scanning::give(&mut draft, &rules);
    Ok(draft)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    draft: Draft,
    definitions: FxHashMap<String, String>,
    macros: Macros,
    /// Start conditions in which only rules match that name them.
    exclusive: Vec<String>,
    /// The others, the first one among them.
    inclusive: Vec<String>,
    case: Case,
    /// Patterns whose action is that of the next one (`|`).
    waiting: Vec<LexRule>,
    rules: Vec<ScanRule>,
}

struct LexRule {
    pattern: String,
    line: usize,
    /// Start conditions it names; empty for none.
    conditions: Vec<String>,
}

impl Reader<'_> {
    fn definitions(&mut self) -> Result<(), Error> {
        loop {
            if self.cursor.is_over() {
                return Err(self.cursor.error("there is no `%%`, so this has no rules; is it a lex file?"));
            }
            if self.cursor.starts_with("%%") {
                self.cursor.rest_of_line();
                return Ok(());
            }
            if self.cursor.starts_with("%{") {
                let code = self.code("%}")?;
                self.macros.learn(&code);
            } else if self.cursor.starts_with("%top") {
                self.cursor.take_while(|byte| byte != b'{' && byte != b'\n');
                let code = self.cursor.braces()?;
                self.macros.learn(&code);
            } else if self.cursor.starts_with("/*") {
                self.cursor.skip_comment()?;
                self.cursor.rest_of_line();
            } else if self.cursor.peek() == Some(b'%') {
                let line = self.cursor.rest_of_line();
                self.directive(&line);
            } else if self.cursor.peek().is_some_and(|byte| byte == b' ' || byte == b'\t') {
                let code = self.cursor.rest_of_line();
                self.macros.learn(&code);
            } else {
                let line = self.cursor.rest_of_line();
                if let Some((name, value)) = line.split_once(|c: char| c.is_ascii_whitespace()) {
                    self.definitions.insert(name.to_string(), value.trim().to_string());
                }
            }
        }
    }

    fn directive(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("%x" | "%X") => self.exclusive.extend(words.map(str::to_string)),
            Some("%s" | "%S" | "%start" | "%Start") => self.inclusive.extend(words.map(str::to_string)),
            Some("%option") => words.for_each(|word| match word {
                "case-insensitive" | "caseless" => self.case = Case::Ignored,
                // A byte that no pattern matches stops the program.
                "nodefault" => self.draft.unmatched = Unmatched::Refused,
                _ => {}
            }),
            _ => {}
        }
    }

    /// Code up to its end, which is passed over.
    fn code(&mut self, end: &str) -> Result<String, Error> {
        let begun = self.cursor.error(format!("`{end}` is missing for what begins here"));
        let mut code = Vec::new();
        while !self.cursor.eat(end) {
            let Some(byte) = self.cursor.bump() else { return Err(begun) };
            code.push(byte);
        }
        self.cursor.rest_of_line();
        Ok(String::from_utf8_lossy(&code).into_owned())
    }

    fn rules(&mut self) -> Result<(), Error> {
        // Start conditions of the blocks `<A>{ ... }` that are open.
        let mut blocks: Vec<Vec<String>> = Vec::new();
        while !self.cursor.is_over() && !self.cursor.starts_with("%%") {
            match self.cursor.peek() {
                Some(b'\n') => self.cursor.skip(),
                Some(b'%') if self.cursor.starts_with("%{") => drop(self.code("%}")?),
                Some(b'}') if !blocks.is_empty() => {
                    blocks.pop();
                    self.cursor.rest_of_line();
                }
                Some(b'/') if self.cursor.starts_with("/*") => self.cursor.skip_comment()?,
                // Code of the scanning function, unless it is an indented rule of a block.
                Some(b' ' | b'\t') if blocks.is_empty() => drop(self.cursor.rest_of_line()),
                Some(b' ' | b'\t' | b'\r') => self.cursor.skip(),
                _ => self.rule(&mut blocks)?,
            }
        }
        Ok(())
    }

    fn rule(&mut self, blocks: &mut Vec<Vec<String>>) -> Result<(), Error> {
        let line = self.cursor.line();
        let mut conditions = blocks.last().cloned().unwrap_or_default();
        if self.cursor.peek() == Some(b'<') && !self.cursor.starts_with("<<EOF>>") {
            self.cursor.bump();
            let names = self.cursor.take_while(|byte| byte != b'>' && byte != b'\n');
            if !self.cursor.eat(">") {
                return Err(self.cursor.error("a `>` is missing behind the start conditions"));
            }
            conditions.extend(names.split(',').map(|name| name.trim().to_string()));
            if self.cursor.peek() == Some(b'{') && !self.is_definition() {
                self.cursor.rest_of_line();
                blocks.push(conditions);
                return Ok(());
            }
        }
        let pattern = self.pattern()?;
        self.cursor.take_while(|byte| byte == b' ' || byte == b'\t');
        self.waiting.push(LexRule { pattern, line, conditions });
        let action = self.action()?;
        if action.trim() != "|" {
            let action = action::read(&self.macros.expand(&action));
            for rule in std::mem::take(&mut self.waiting) {
                self.finish(rule, &action)?;
            }
        }
        Ok(())
    }

    /// Whether `{` begins the name of a definition.
    fn is_definition(&self) -> bool {
        self.cursor.peek_at(1).is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    /// A pattern ends at the first blank outside of quotes, classes and groups that allow blanks.
    fn pattern(&mut self) -> Result<String, Error> {
        let mut pattern = String::new();
        let (mut is_quoted, mut is_class) = (false, false);
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' if is_quoted => return Err(self.cursor.error("a \" is missing in the pattern")),
                b'\n' if is_class => return Err(self.cursor.error("a ] is missing in the pattern")),
                b'\n' => break,
                b' ' | b'\t' | b'\r' if !is_quoted && !is_class => break,
                b'\\' => {
                    pattern.push('\\');
                    self.cursor.bump();
                    let escaped =
                        self.cursor.bump().ok_or_else(|| self.cursor.error("the file ends behind a backslash"))?;
                    pattern.push(escaped as char);
                    continue;
                }
                b'"' if !is_class => is_quoted = !is_quoted,
                b'[' if !is_quoted && !is_class => {
                    is_class = true;
                    // A bracket that comes first in a class belongs to it.
                    pattern.push('[');
                    self.cursor.bump();
                    for first in ["^", "]"] {
                        if self.cursor.eat(first) {
                            pattern.push_str(first);
                        }
                    }
                    continue;
                }
                b'[' if is_class && self.cursor.peek_at(1) == Some(b':') => {
                    let class = self.cursor.take_while(|byte| byte != b']');
                    pattern.push_str(&class);
                    pattern.push(']');
                    self.cursor.bump();
                    continue;
                }
                b']' if is_class => is_class = false,
                _ => {}
            }
            pattern.push(byte as char);
            self.cursor.bump();
        }
        Ok(pattern)
    }

    /// C code: to the end of the line, or of the block that begins on it.
    fn action(&mut self) -> Result<String, Error> {
        let mut action = String::new();
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' => break,
                b'{' => action.push_str(&self.cursor.braces()?),
                b'%' if self.cursor.starts_with("%{") => {
                    self.cursor.eat("%{");
                    action.push_str(&self.code("%}")?);
                    return Ok(action);
                }
                b'/' if self.cursor.starts_with("/*") => self.cursor.skip_comment()?,
                b'/' if self.cursor.starts_with("//") => drop(self.cursor.take_while(|byte| byte != b'\n')),
                b'"' | b'\'' => {
                    self.cursor.bump();
                    let inner = self.cursor.quoted(byte)?;
                    action.push(byte as char);
                    action.push_str(&inner);
                    action.push(byte as char);
                }
                _ => {
                    action.push(byte as char);
                    self.cursor.bump();
                }
            }
        }
        Ok(action)
    }

    fn finish(&mut self, rule: LexRule, action: &Action) -> Result<(), Error> {
        if rule.pattern.starts_with("<<EOF>>") {
            if let Returns::Tokens(tokens) = &action.gives {
                self.draft.at_end.extend(tokens.iter().cloned());
                let text =
                    format!("`<<EOF>>` gives {} as well; texts that end by it are not written", tokens.join(" or "));
                self.draft.lose_with(tokens.clone(), Some(rule.line), text);
            }
            return Ok(());
        }
        let wrong = |why: String| Error { file: self.draft.file.clone(), line: Some(rule.line), message: why };
        let Translated { regex, follows, place } = pattern::translate(&rule.pattern, &self.definitions)
            .map_err(|why| wrong(format!("the pattern `{}` is wrong: {why}", rule.pattern)))?;
        let build = |regex: &str| {
            Language::of_regex(regex, Alphabet::Bytes, self.case)
                .map_err(|why| wrong(format!("the pattern `{}` is wrong: {why}", rule.pattern)))
        };
        let mut language = build(&regex)?;
        let mut surroundings = if place == Place::LineStart { Surroundings::Matter } else { Surroundings::Any };
        if let Some(follows) = &follows {
            language = language.then(&build(follows)?);
            surroundings = Surroundings::Matter;
        }
        let name = |name: &String| if name == "0" { FIRST_MODE.to_string() } else { name.clone() };
        let modes = match rule.conditions.iter().any(|name| name == "*") {
            true => self.inclusive.iter().chain(&self.exclusive).cloned().collect(),
            false if rule.conditions.is_empty() => self.inclusive.clone(),
            false => rule.conditions.iter().map(name).collect(),
        };
        let LexRule { pattern, line, .. } = rule;
        self.rules.push(ScanRule { pattern, line, modes, language, place, surroundings, action: action.clone() });
        Ok(())
    }
}
