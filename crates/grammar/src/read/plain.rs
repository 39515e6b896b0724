//! Our own form of a grammar: rules, and regular expressions for what has more than one text.
//!
//! ```text
//! # Sums of numbers and names. The first rule is the start.
//! sum    = term { "+" term } ;
//! term   = NUMBER | NAME | "(" sum ")" ;
//! NUMBER = /[0-9]+/ ;
//! NAME   = /[a-z]+/ ;
//! skip   = /[ \t\n]+/ ;          # blanks: the scanner leaves them out
//! ```
//!
//! `a?`, `a*`, `a+` and `[ a ]`, `{ a }` are optional and repeated; `:` may stand for `=`.

use super::cursor::{Cursor, unescape};
use crate::Error;
use crate::draft::{Draft, DraftPattern, DraftRule, Expr, Gives};
use crate::language::{Alphabet, Case, Language};

/// The deepest nesting of groups.
const DEEPEST: usize = 200;

pub fn read(file: &str, text: &str) -> Result<Draft, Error> {
    let mut reader = Reader { cursor: Cursor::new(file, text), draft: Draft::new(file), depth: 0 };
    reader.rules()?;
    Ok(reader.draft)
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    draft: Draft,
    depth: usize,
}

impl Reader<'_> {
    fn rules(&mut self) -> Result<(), Error> {
        loop {
            self.blanks()?;
            if self.cursor.is_over() {
                return Ok(());
            }
            let line = self.cursor.line();
            let Some(name) = self.cursor.name() else {
                return Err(self.cursor.error("a rule begins with its name, as in `sum = term \"+\" term ;`"));
            };
            self.blanks()?;
            if !(self.cursor.eat("::=") || self.cursor.eat("=") || self.cursor.eat(":")) {
                return Err(self.cursor.error(format!("`=` is missing behind `{name}`")));
            }
            self.blanks()?;
            if self.cursor.peek() == Some(b'/') {
                self.pattern(name)?;
            } else {
                let expr = self.choice()?;
                self.draft.rules.push(DraftRule { of: name, expr, line: Some(line) });
            }
            self.blanks()?;
            if !self.cursor.eat(";") {
                return Err(self.cursor.error("a `;` is missing at the end of the rule"));
            }
        }
    }

    fn blanks(&mut self) -> Result<(), Error> {
        self.cursor.skip_blanks("#")
    }

    fn pattern(&mut self, name: String) -> Result<(), Error> {
        let mut language = Language::empty();
        loop {
            self.cursor.bump();
            let regex = self.cursor.quoted(b'/')?.replace("\\/", "/");
            let case = if self.cursor.eat("i") { Case::Ignored } else { Case::Matters };
            let own = Language::of_regex(&regex, Alphabet::Bytes, case)
                .map_err(|why| self.cursor.error(format!("the regular expression of `{name}` is wrong: {why}")))?;
            language = language.or(&own);
            self.blanks()?;
            if !self.cursor.eat("|") {
                break;
            }
            self.blanks()?;
            if self.cursor.peek() != Some(b'/') {
                return Err(self
                    .cursor
                    .error(format!("`{name}` is a token: only regular expressions follow `|` here")));
            }
        }
        let gives = if name == "skip" { Gives::Nothing } else { Gives::Token(name) };
        self.draft.patterns.push(DraftPattern::new(gives, language));
        Ok(())
    }

    fn choice(&mut self) -> Result<Expr, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.cursor.error("groups are nested too deeply"));
        }
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
                None | Some(b'|' | b';' | b')' | b']' | b'}') => return Ok(Expr::Sequence(parts)),
                Some(quote @ (b'"' | b'\'')) => {
                    self.cursor.bump();
                    Expr::Text(unescape(&self.cursor.quoted(quote)?))
                }
                Some(b'(') => self.group(")")?,
                Some(b'[') => Expr::Optional(Box::new(self.group("]")?)),
                Some(b'{') => Expr::Repeated(Box::new(self.group("}")?)),
                Some(b'/') => {
                    return Err(self.cursor.error("a regular expression has a rule of its own: NAME = /.../ ;"));
                }
                Some(_) => match self.cursor.name() {
                    Some(name) => Expr::Name(name),
                    None => return Err(self.cursor.error("a name, a \"text\" or a group is expected here")),
                },
            };
            parts.push(self.repeated(part));
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
        wrap(Box::new(part))
    }

    fn group(&mut self, close: &str) -> Result<Expr, Error> {
        self.cursor.bump();
        let inner = self.choice()?;
        self.blanks()?;
        if !self.cursor.eat(close) {
            return Err(self.cursor.error(format!("a `{close}` is missing")));
        }
        Ok(inner)
    }
}
