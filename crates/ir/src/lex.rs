//! Tokens of the text form. A line is a statement; inside round or square brackets line breaks do not count.

use crate::ParseError;
use crate::print::is_symbol_byte;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// Keywords, operations and ids (`add`, `r3`, `b0`).
    Word(String),
    /// `@name`
    Symbol(String),
    Number(u128),
    Text(Vec<u8>),
    Punct(&'static str),
    LineEnd,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Lexed {
    pub token: Token,
    pub line: usize,
}

const PUNCTS: &[&str] = &["...", "->", "(", ")", "[", "]", "{", "}", "=", ",", ":", "?", "!", "*", "+", "-", "%"];

/// The last token is always `End`, and a `LineEnd` stands before it.
pub(crate) fn lex(text: &str) -> Result<Vec<Lexed>, ParseError> {
    let mut lexer = Lexer { bytes: text.as_bytes(), pos: 0, line: 1, depth: 0, tokens: Vec::new() };
    while lexer.pos < lexer.bytes.len() {
        lexer.step()?;
    }
    lexer.push(Token::LineEnd);
    lexer.push(Token::End);
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    bytes: &'t [u8],
    pos: usize,
    line: usize,
    /// Open round and square brackets.
    depth: u32,
    tokens: Vec<Lexed>,
}

impl Lexer<'_> {
    fn push(&mut self, token: Token) {
        self.tokens.push(Lexed { token, line: self.line });
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, message: message.into() })
    }

    fn step(&mut self) -> Result<(), ParseError> {
        let rest = &self.bytes[self.pos..];
        match rest[0] {
            b'\n' => {
                let is_blank = self.tokens.last().is_none_or(|last| last.token == Token::LineEnd);
                if self.depth == 0 && !is_blank {
                    self.push(Token::LineEnd);
                }
                self.pos += 1;
                self.line += 1;
            }
            b' ' | b'\t' | b'\r' => self.pos += 1,
            b'/' if rest.starts_with(b"//") => {
                self.pos += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            }
            b'"' => {
                let text = self.text()?;
                self.push(Token::Text(text));
            }
            b'@' => self.symbol()?,
            b'0'..=b'9' => self.number()?,
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let word = self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
                self.push(Token::Word(word));
            }
            _ => self.punct()?,
        }
        Ok(())
    }

    fn punct(&mut self) -> Result<(), ParseError> {
        let rest = &self.bytes[self.pos..];
        let Some(punct) = PUNCTS.iter().find(|punct| rest.starts_with(punct.as_bytes())) else {
            return self.error(format!("unexpected character `{}`", char::from(rest[0]).escape_default()));
        };
        match *punct {
            "(" | "[" => self.depth += 1,
            ")" | "]" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.pos += punct.len();
        self.push(Token::Punct(punct));
        Ok(())
    }

    /// `is_part` accepts ASCII only, so the bytes taken are a string.
    fn take_while(&mut self, is_part: impl Fn(u8) -> bool) -> String {
        let rest = &self.bytes[self.pos..];
        let len = rest.iter().position(|&byte| !is_part(byte)).unwrap_or(rest.len());
        self.pos += len;
        rest[..len].iter().copied().map(char::from).collect()
    }

    fn symbol(&mut self) -> Result<(), ParseError> {
        self.pos += 1;
        let name = if self.bytes.get(self.pos) == Some(&b'"') {
            match String::from_utf8(self.text()?) {
                Ok(name) => name,
                Err(_) => return self.error("a symbol's name is not UTF-8"),
            }
        } else {
            let name = self.take_while(is_symbol_byte);
            if name.is_empty() {
                return self.error("`@` without a name");
            }
            name
        };
        self.push(Token::Symbol(name));
        Ok(())
    }

    fn number(&mut self) -> Result<(), ParseError> {
        let digits = self.take_while(|byte| byte.is_ascii_alphanumeric());
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match value {
            Ok(value) => self.push(Token::Number(value)),
            Err(_) => return self.error(format!("`{digits}` is not a number of at most 128 bits")),
        }
        Ok(())
    }

    fn text(&mut self) -> Result<Vec<u8>, ParseError> {
        let mut text = Vec::new();
        self.pos += 1;
        loop {
            let Some(&byte) = self.bytes.get(self.pos) else { return self.error("text without a closing quote") };
            self.pos += 1;
            match byte {
                b'"' => return Ok(text),
                b'\n' => return self.error("text without a closing quote on its line"),
                b'\\' => text.push(self.escape()?),
                _ => text.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<u8, ParseError> {
        let rest = &self.bytes[self.pos..];
        let (byte, len) = match rest {
            [b'n', ..] => (b'\n', 1),
            [byte @ (b'"' | b'\\'), ..] => (*byte, 1),
            [b'x', high, low, ..] => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                    return self.error("`\\x` needs two hexadecimal digits");
                };
                ((high * 16 + low) as u8, 3)
            }
            _ => return self.error("unknown escape in text (known: `\\n`, `\\\"`, `\\\\`, `\\xNN`)"),
        };
        self.pos += len;
        Ok(byte)
    }
}
