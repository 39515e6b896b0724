//! A place in a grammar file: what the hand-written readers have in common.

use crate::Error;

pub struct Cursor<'t> {
    file: &'t str,
    text: &'t [u8],
    at: usize,
    line: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(file: &'t str, text: &'t str) -> Cursor<'t> {
        Cursor { file, text: text.as_bytes(), at: 0, line: 1 }
    }

    pub fn line(&self) -> usize {
        self.line
    }

    pub fn error(&self, message: impl Into<String>) -> Error {
        Error { file: self.file.to_string(), line: Some(self.line), message: message.into() }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub fn peek_at(&self, n: usize) -> Option<u8> {
        self.text.get(self.at + n).copied()
    }

    pub fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    pub fn skip(&mut self) {
        self.bump();
    }

    pub fn is_over(&self) -> bool {
        self.at >= self.text.len()
    }

    pub fn starts_with(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text.as_bytes())
    }

    /// Takes the text if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        let is_next = self.starts_with(text);
        if is_next {
            text.bytes().for_each(|_| self.skip());
        }
        is_next
    }

    pub fn take_while(&mut self, mut takes: impl FnMut(u8) -> bool) -> String {
        let from = self.at;
        while self.peek().is_some_and(&mut takes) {
            self.bump();
        }
        String::from_utf8_lossy(&self.text[from..self.at]).into_owned()
    }

    pub fn rest_of_line(&mut self) -> String {
        let rest = self.take_while(|byte| byte != b'\n');
        self.bump();
        rest
    }

    pub fn name(&mut self) -> Option<String> {
        let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        self.peek().filter(|byte| is_first(*byte))?;
        Some(self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    }

    /// Blanks and C comments; comments that begin with `line_comment` too.
    pub fn skip_blanks(&mut self, line_comment: &str) -> Result<(), Error> {
        loop {
            self.take_while(|byte| byte.is_ascii_whitespace());
            if self.starts_with(line_comment) {
                self.rest_of_line();
            } else if self.starts_with("/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    pub fn skip_comment(&mut self) -> Result<(), Error> {
        let begun = self.line;
        while !self.eat("*/") {
            if self.bump().is_none() {
                self.line = begun;
                return Err(self.error("the comment that begins here has no end"));
            }
        }
        Ok(())
    }

    /// What is between the quotes, escapes as they are; stands behind the opening quote.
    pub fn quoted(&mut self, quote: u8) -> Result<String, Error> {
        let from = self.at;
        loop {
            match self.peek() {
                Some(b'\\') => {
                    self.bump();
                    self.bump();
                }
                Some(byte) if byte == quote => break,
                None | Some(b'\n') => return Err(self.error(format!("a {} is missing", quote as char))),
                Some(_) => self.skip(),
            }
        }
        let inner = String::from_utf8_lossy(&self.text[from..self.at]).into_owned();
        self.bump();
        Ok(inner)
    }

    /// A block of C in braces; stands at the opening one. Strings, characters and comments in it are passed over.
    pub fn braces(&mut self) -> Result<String, Error> {
        let (from, begun) = (self.at, self.line);
        let mut depth = 0usize;
        loop {
            let Some(byte) = self.peek() else {
                self.line = begun;
                return Err(self.error("the brace that opens here is never closed"));
            };
            match byte {
                b'"' | b'\'' => {
                    self.bump();
                    self.quoted(byte)?;
                    continue;
                }
                b'/' if self.starts_with("/*") => {
                    self.skip_comment()?;
                    continue;
                }
                b'/' if self.starts_with("//") => {
                    self.rest_of_line();
                    continue;
                }
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return Ok(String::from_utf8_lossy(&self.text[from..self.at]).into_owned());
            }
        }
    }
}

/// The bytes of a text with C's escapes.
pub fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' || at + 1 == bytes.len() {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let (value, n_bytes) = escape(&bytes[at + 1..]);
        out.extend(value);
        at += 1 + n_bytes;
    }
    out
}

/// What an escape stands for, and how many bytes follow its backslash.
pub fn escape(rest: &[u8]) -> (Vec<u8>, usize) {
    let digits = |from: usize, most: usize, radix: u32| {
        let is_digit = |byte: &&u8| (**byte as char).is_digit(radix);
        let digits: Vec<u8> = rest[from..].iter().take(most).take_while(is_digit).copied().collect();
        let value =
            digits.iter().fold(0u32, |value, digit| value * radix + (*digit as char).to_digit(radix).unwrap_or(0));
        (value, digits.len())
    };
    let plain = match rest[0] {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'f' => 12,
        b'v' => 11,
        b'a' => 7,
        b'b' => 8,
        b'x' => {
            let (value, n_digits) = digits(1, 2, 16);
            return if n_digits == 0 { (vec![b'x'], 1) } else { (vec![value as u8], 1 + n_digits) };
        }
        b'u' if rest.get(1) == Some(&b'{') => {
            let (value, n_digits) = digits(2, 6, 16);
            return (utf8(value), 3 + n_digits);
        }
        b'u' => {
            let (value, n_digits) = digits(1, 4, 16);
            return if n_digits == 4 { (utf8(value), 5) } else { (vec![b'u'], 1) };
        }
        b'0'..=b'7' => {
            let (value, n_digits) = digits(0, 3, 8);
            return (vec![value as u8], n_digits);
        }
        other => other,
    };
    (vec![plain], 1)
}

fn utf8(value: u32) -> Vec<u8> {
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER).to_string().into_bytes()
}
