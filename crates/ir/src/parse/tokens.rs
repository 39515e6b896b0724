//! Tokens: looking at the next one, taking it, and what single tokens mean.

use super::{ParseError, Parsed, Parser};
use crate::lex::Token;
use crate::names::Named;
use crate::{BlockId, FileId, FuncId, GlobalId, Reg, SourceTypeId, SymbolRef};

impl Parser {
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.pos].token
    }

    pub(super) fn peek_second(&self) -> &Token {
        &self.tokens[(self.pos + 1).min(self.tokens.len() - 1)].token
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
        token
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: self.tokens[self.pos].line, message: message.into() })
    }

    /// An error about the token just taken.
    pub(super) fn error_before<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let line = self.tokens[self.pos.saturating_sub(1)].line;
        Err(ParseError { line, message: message.into() })
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Symbol(name) => format!("`@{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(_) => "a quoted text".to_string(),
            Token::Punct(punct) => format!("`{punct}`"),
            Token::LineEnd => "the end of the line".to_string(),
            Token::End => "the end of the text".to_string(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub(super) fn at(&self, punct: &str) -> bool {
        matches!(self.peek(), Token::Punct(found) if *found == punct)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    pub(super) fn eat(&mut self, punct: &str) -> bool {
        let is_there = self.at(punct);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { self.expected(&format!("`{punct}`")) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub(super) fn line_end(&mut self) -> Parsed<()> {
        if *self.peek() != Token::LineEnd {
            return self.expected("the end of the line");
        }
        self.advance();
        Ok(())
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn named<T: Named>(&mut self, what: &str) -> Parsed<T> {
        let op = match self.peek() {
            Token::Word(word) => T::from_name(word),
            _ => None,
        };
        let Some(op) = op else { return self.expected(what) };
        self.advance();
        Ok(op)
    }

    pub(super) fn bytes(&mut self) -> Parsed<Vec<u8>> {
        match self.peek() {
            Token::Text(_) => match self.advance() {
                Token::Text(bytes) => Ok(bytes),
                _ => unreachable!("just seen"),
            },
            _ => self.expected("a quoted text"),
        }
    }

    pub(super) fn string(&mut self) -> Parsed<String> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).or_else(|_| self.error_before("this text is not UTF-8"))
    }

    pub(super) fn number<T: TryFrom<u128>>(&mut self) -> Parsed<T> {
        let Token::Number(number) = *self.peek() else { return self.expected("a number") };
        self.advance();
        T::try_from(number).or_else(|_| self.error_before(format!("{number} is too large here")))
    }

    pub(super) fn signed(&mut self) -> Parsed<i64> {
        let is_negative = self.eat("-");
        let magnitude: u128 = self.number()?;
        signed_value(is_negative, magnitude).map_or_else(|| self.error_before("does not fit 64 bits, signed"), Ok)
    }

    /// `+ 5`, `- 5` or nothing.
    pub(super) fn addend(&mut self) -> Parsed<i64> {
        if self.eat("+") {
            return self.signed();
        }
        if self.at("-") { self.signed() } else { Ok(0) }
    }

    /// An unsigned number as it is, a negative one as the bits of its two's complement.
    pub(super) fn constant(&mut self, bits: u8) -> Parsed<u128> {
        let is_negative = self.eat("-");
        let magnitude: u128 = self.number()?;
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        Ok(if is_negative { magnitude.wrapping_neg() & mask } else { magnitude })
    }

    pub(super) fn immediate(&mut self, bits: u8) -> Parsed<u64> {
        let value = self.constant(bits)?;
        u64::try_from(value).or_else(|_| self.error_before("an immediate has at most 64 bits"))
    }

    pub(super) fn width(&mut self) -> Parsed<u8> {
        let bits = self.number()?;
        if (1..=128).contains(&bits) {
            Ok(bits)
        } else {
            self.error_before(format!("a width is 1 to 128 bits, not {bits}"))
        }
    }

    /// The number of an id such as `b3` when the token is one with this prefix.
    pub(super) fn id_number(token: &Token, prefix: &str) -> Option<u32> {
        let Token::Word(word) = token else { return None };
        let digits = word.strip_prefix(prefix)?;
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { digits.parse().ok() } else { None }
    }

    pub(super) fn id(&mut self, prefix: &str, what: &str) -> Parsed<u32> {
        let Some(number) = Self::id_number(self.peek(), prefix) else { return self.expected(what) };
        self.advance();
        Ok(number)
    }

    pub(super) fn reg(&mut self) -> Parsed<Reg> {
        Ok(Reg(self.id("r", "a register (`r0`)")?))
    }

    pub(super) fn sized_reg(&mut self) -> Parsed<(Reg, u8)> {
        let reg = self.reg()?;
        self.expect(":")?;
        Ok((reg, self.width()?))
    }

    pub(super) fn block_id(&mut self) -> Parsed<BlockId> {
        Ok(BlockId(self.id("b", "a block (`b0`)")?))
    }

    pub(super) fn type_or_void(&mut self) -> Parsed<Option<SourceTypeId>> {
        if self.eat_word("void") {
            return Ok(None);
        }
        Ok(Some(SourceTypeId(self.id("t", "a type (`t0` or `void`)")?)))
    }

    pub(super) fn file_or_none(&mut self) -> Parsed<Option<FileId>> {
        if self.eat_word("none") {
            return Ok(None);
        }
        Ok(Some(FileId(self.id("file", "a file (`file0` or `none`)")?)))
    }

    /// Items separated by commas up to `close`, which is taken too.
    pub(super) fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.at(close) {
                self.expect(",")?;
            }
        }
        Ok(items)
    }

    pub(super) fn symbol(&mut self) -> Parsed<SymbolRef> {
        let symbol = if let Token::Symbol(name) = self.peek() {
            match self.symbols.get(name) {
                Some(Some(symbol)) => *symbol,
                Some(None) => return self.error(format!("several symbols are called `@{name}`; use `f0` or `g0`")),
                None => return self.error(format!("no function or global is called `@{name}`")),
            }
        } else if let Some(number) = Self::id_number(self.peek(), "f") {
            SymbolRef::Function(FuncId(number))
        } else if let Some(number) = Self::id_number(self.peek(), "g") {
            SymbolRef::Global(GlobalId(number))
        } else {
            return self.expected("a symbol (`@name`)");
        };
        self.advance();
        match symbol {
            SymbolRef::Function(func) if self.eat(":") => Ok(SymbolRef::Block(func, self.block_id()?)),
            _ => Ok(symbol),
        }
    }
}

fn signed_value(is_negative: bool, magnitude: u128) -> Option<i64> {
    let value = i128::try_from(magnitude).ok()?;
    i64::try_from(if is_negative { -value } else { value }).ok()
}
