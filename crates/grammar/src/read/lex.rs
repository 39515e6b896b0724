//! lex and flex files: which texts are which token.
//!
//! What is read: definitions, patterns in all of flex's syntax, start conditions, trailing context, and which token an action
//! returns (`return NUM;`, `return *yytext;`; no return: blanks and comments). Of some patterns it cannot be said which token they
//! give: those that are active only in a start condition other than the first, and those whose action does more than return
//! a token, or returns it under a condition. They are listed, and their texts are never written.

mod action;
mod pattern;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cursor::Cursor;
use crate::draft::{Draft, DraftPattern, Gives, text_name};
use crate::language::{Alphabet, Case, Kind, Language};
use crate::{Error, Place};
use action::Returns;
use pattern::Translated;

/// The scanner of a lex file; a draft without rules.
pub fn read(file: &str, text: &str) -> Result<Draft, Error> {
    let mut reader = Reader {
        cursor: Cursor::new(file, text),
        draft: Draft::new(file),
        definitions: FxHashMap::default(),
        exclusive: FxHashSet::default(),
        case: Case::Matters,
        waiting: Vec::new(),
        begins: Vec::new(),
        gives_elsewhere: false,
    };
    reader.definitions()?;
    reader.rules()?;
    reader.say_what_begins();
    Ok(reader.draft)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    draft: Draft,
    definitions: FxHashMap<String, String>,
    exclusive: FxHashSet<String>,
    case: Case,
    /// Patterns whose action is that of the next one (`|`).
    waiting: Vec<LexRule>,
    /// Patterns behind which another start condition matches.
    begins: Vec<LexRule>,
    /// Whether a pattern of another start condition gives something.
    gives_elsewhere: bool,
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
                self.skip_code("%}")?;
            } else if self.cursor.starts_with("/*") {
                self.cursor.skip_comment()?;
                self.cursor.rest_of_line();
            } else if self.cursor.peek() == Some(b'%') {
                let line = self.cursor.rest_of_line();
                self.directive(&line);
            } else if self.cursor.peek().is_some_and(|byte| byte == b' ' || byte == b'\t') {
                self.cursor.rest_of_line();
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
            Some("%option") if words.any(|word| word == "case-insensitive" || word == "caseless") => {
                self.case = Case::Ignored;
            }
            _ => {}
        }
    }

    fn skip_code(&mut self, end: &str) -> Result<(), Error> {
        let begun = self.cursor.error(format!("`{end}` is missing for what begins here"));
        while !self.cursor.eat(end) {
            if self.cursor.bump().is_none() {
                return Err(begun);
            }
        }
        self.cursor.rest_of_line();
        Ok(())
    }

    fn rules(&mut self) -> Result<(), Error> {
        // Start conditions of the blocks `<A>{ ... }` that are open.
        let mut blocks: Vec<Vec<String>> = Vec::new();
        while !self.cursor.is_over() && !self.cursor.starts_with("%%") {
            match self.cursor.peek() {
                Some(b'\n') => self.cursor.skip(),
                Some(b'%') if self.cursor.starts_with("%{") => self.skip_code("%}")?,
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
            let returns = action::returns(&action);
            for rule in std::mem::take(&mut self.waiting) {
                self.finish(rule, &returns)?;
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
                    self.skip_code("%}")?;
                    action.push_str("unknown();");
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

    fn finish(&mut self, rule: LexRule, returns: &Returns) -> Result<(), Error> {
        if rule.pattern.starts_with("<<EOF>>") {
            return Ok(());
        }
        let is_first = |name: &str| name == "INITIAL" || name == "*" || name == "0";
        if !rule.conditions.is_empty() && !rule.conditions.iter().any(|name| is_first(name)) {
            self.gives_elsewhere |= !matches!(returns, Returns::Nothing | Returns::Begins | Returns::Aside);
            if let Returns::Tokens(tokens) = returns {
                let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
                let condition = rule.conditions.join(", ");
                self.draft.note(
                    Some(rule.line),
                    format!(
                        "{} is returned in the start condition {condition} only, which is not followed",
                        names.join(", ")
                    ),
                );
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
        if let Some(follows) = &follows {
            language = language.then(&build(follows)?);
        }
        let is_passed_over = matches!(returns, Returns::Nothing | Returns::Aside);
        if follows.is_some() || place == Place::LineStart {
            let text = format!("`{}` depends on what stands around it; its texts are not written", rule.pattern);
            match place == Place::LineStart && follows.is_none() && is_passed_over {
                true => self.draft.note(Some(rule.line), text),
                false => self.draft.lose(Some(rule.line), text),
            }
            self.draft.patterns.push(DraftPattern { gives: Gives::Unknown, language, place });
            return Ok(());
        }
        self.give(&rule, returns, language);
        if *returns == Returns::Begins {
            self.begins.push(rule);
        }
        Ok(())
    }

    /// What another start condition only passes over is a comment. Otherwise texts are missing.
    fn say_what_begins(&mut self) {
        for rule in std::mem::take(&mut self.begins) {
            let text = format!("`{}`: its action calls BEGIN; what begins there is not written", rule.pattern);
            match self.gives_elsewhere {
                true => self.draft.lose(Some(rule.line), text),
                false => self.draft.note(Some(rule.line), text),
            }
        }
    }

    fn give(&mut self, rule: &LexRule, returns: &Returns, language: Language) {
        match returns {
            // Nobody needs a text with a comment in it, or one that ends early. But it takes its texts from others.
            Returns::Begins | Returns::Aside => {
                self.draft.patterns.push(DraftPattern::new(Gives::Unknown, language));
            }
            Returns::Nothing => self.draft.patterns.push(DraftPattern::new(Gives::Nothing, language)),
            Returns::Tokens(tokens) if tokens.len() == 1 => {
                self.draft.patterns.push(DraftPattern::new(Gives::Token(tokens[0].clone()), language));
            }
            Returns::ItsText => {
                // One pattern for each byte it matches; whatever is longer one cannot say.
                for byte in (0..=255u8).filter(|byte| language.accepts(&[*byte])) {
                    let gives = Gives::Token(text_name(&[byte]));
                    self.draft.patterns.push(DraftPattern::new(gives, Language::of_text(&[byte])));
                }
                if !matches!(language.kind(), Kind::Finite { longest: 1 } | Kind::One(_)) {
                    self.draft.lose(
                        Some(rule.line),
                        format!("`{}` returns its first character also where it matches more", rule.pattern),
                    );
                }
                self.draft.patterns.push(DraftPattern::new(Gives::Unknown, language));
            }
            Returns::Tokens(tokens) => {
                let names = tokens.join(" or ");
                self.draft.lose(
                    Some(rule.line),
                    format!("`{}` returns {names}, and one cannot say when; --grammar-tokens can", rule.pattern),
                );
                self.draft.patterns.push(DraftPattern::new(Gives::Unknown, language));
            }
            Returns::Unknown(why) => {
                self.draft
                    .lose(Some(rule.line), format!("`{}`: {why}; --grammar-tokens can say what it is", rule.pattern));
                self.draft.patterns.push(DraftPattern::new(Gives::Unknown, language));
            }
        }
    }
}
