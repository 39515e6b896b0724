//! Predicates on a witness: C-like boolean expressions over the names of its inputs.
//!
//! Arithmetic is done in 128 bits and never wraps at the width of the C type, so `a + b` is the sum of the two numbers;
//! a predicate about a wrapped value says so with a mask.

use crate::input::Input;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Number(i128),
    Name(String),
    Symbol(&'static str),
}

/// Longer symbols first, so that the first match is the longest.
const SYMBOLS: &[&str] = &[
    "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "!", "~", "(",
    ")", "[", "]",
];

/// Binary operators by how tightly they bind, loosest first, as in C.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expr {
    Number(i128),
    /// The `nth` input (from 1) called `name`, at `indices`.
    Input {
        name: String,
        nth: usize,
        indices: Vec<Expr>,
    },
    /// `size(name)`: how many bytes the input has.
    Size {
        name: String,
        nth: usize,
    },
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

/// A parsed predicate; keeps its text for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    text: String,
    expr: Expr,
}

impl Predicate {
    pub fn parse(text: &str) -> Result<Predicate, String> {
        let tokens = tokenize(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0 };
        let expr = parser.binary(0)?;
        match parser.peek() {
            None => Ok(Predicate { text: text.trim().to_string(), expr }),
            Some(token) => Err(format!("`{}`: unexpected {} in predicate", text.trim(), describe(token))),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn holds(&self, inputs: &[Input]) -> Result<bool, String> {
        eval(&self.expr, inputs).map(|value| value != 0)
    }
}

fn describe(token: &Token) -> String {
    match token {
        Token::Number(number) => format!("number {number}"),
        Token::Name(name) => format!("name `{name}`"),
        Token::Symbol(symbol) => format!("`{symbol}`"),
    }
}

fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() {
            number_token(rest)?
        } else if first == '\'' {
            char_token(rest)?
        } else if first == '"' {
            quoted_name(rest)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '#';
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            (Token::Name(rest[..length].to_string()), length)
        } else {
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
            let symbol = symbol.ok_or_else(|| format!("`{text}`: unexpected character `{first}` in predicate"))?;
            (Token::Symbol(symbol), symbol.len())
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn number_token(rest: &str) -> Result<(Token, usize), String> {
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let word = &rest[..length];
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    number.map(|number| (Token::Number(number), length)).map_err(|_| format!("`{word}` is no number"))
}

fn char_token(rest: &str) -> Result<(Token, usize), String> {
    let bad = || format!("bad character literal at `{rest}`");
    let body = &rest.as_bytes()[1..];
    let (value, length) = match body {
        [b'\\', escape, b'\'', ..] => (escape_value(*escape).ok_or_else(bad)?, 4),
        [plain, b'\'', ..] if *plain != b'\\' && *plain != b'\'' => (*plain, 3),
        _ => return Err(bad()),
    };
    Ok((Token::Number(value.into()), length))
}

fn escape_value(escape: u8) -> Option<u8> {
    Some(match escape {
        b'0' => 0,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'\\' | b'\'' | b'"' => escape,
        _ => return None,
    })
}

/// Names that are no identifiers (`"argv[1]"`) are written in quotes.
fn quoted_name(rest: &str) -> Result<(Token, usize), String> {
    let end = rest[1..].find('"').ok_or_else(|| format!("unclosed quote at `{rest}`"))?;
    Ok((Token::Name(rest[1..1 + end].to_string()), end + 2))
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(symbol)) if *symbol == wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) { Ok(()) } else { Err(format!("`{wanted}` expected in predicate")) }
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().copied().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        for operator in ["!", "~", "-"] {
            if self.take(operator) {
                return Ok(Expr::Unary(operator, Box::new(self.unary()?)));
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.take("(") {
            let inner = self.binary(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Expr::Number(number))
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                self.named(&name)
            }
            Some(token) => Err(format!("unexpected {} in predicate", describe(&token))),
            None => Err("predicate ends too early".to_string()),
        }
    }

    fn named(&mut self, word: &str) -> Result<Expr, String> {
        if word == "size" && self.take("(") {
            let Some(Token::Name(inner)) = self.peek().cloned() else {
                return Err("size() takes the name of an input".to_string());
            };
            self.at += 1;
            self.expect(")")?;
            let (name, nth) = occurrence(&inner)?;
            return Ok(Expr::Size { name, nth });
        }
        let (name, nth) = occurrence(word)?;
        let mut indices = Vec::new();
        while self.take("[") {
            indices.push(self.binary(0)?);
            self.expect("]")?;
        }
        Ok(Expr::Input { name, nth, indices })
    }
}

/// `x#2` is the second input called `x`.
fn occurrence(word: &str) -> Result<(String, usize), String> {
    match word.split_once('#') {
        None => Ok((word.to_string(), 1)),
        Some((name, nth)) => match nth.parse() {
            Ok(nth) if nth > 0 && !name.is_empty() => Ok((name.to_string(), nth)),
            _ => Err(format!("`{word}`: a number from 1 must follow `#`")),
        },
    }
}

/// A pointer parameter `p` gives an input called `*p`; predicates may leave the star out.
fn find<'a>(inputs: &'a [Input], name: &str, nth: usize) -> Result<&'a Input, String> {
    let starred = format!("*{name}");
    let mut matching = inputs.iter().filter(|input| input.name == name || input.name == starred);
    matching.nth(nth - 1).ok_or_else(|| format!("the test has no input `{name}` number {nth}"))
}

fn eval(expr: &Expr, inputs: &[Input]) -> Result<i128, String> {
    Ok(match expr {
        Expr::Number(number) => *number,
        Expr::Size { name, nth } => find(inputs, name, *nth)?.bytes.len() as i128,
        Expr::Input { name, nth, indices } => {
            let indices: Vec<i128> = indices.iter().map(|index| eval(index, inputs)).collect::<Result<_, _>>()?;
            find(inputs, name, *nth)?.value(&indices)?
        }
        Expr::Unary("!", inner) => i128::from(eval(inner, inputs)? == 0),
        Expr::Unary("~", inner) => !eval(inner, inputs)?,
        Expr::Unary(_, inner) => eval(inner, inputs)?.wrapping_neg(),
        // The right side may index beyond an input that the left side rules out.
        Expr::Binary("&&", left, right) => i128::from(eval(left, inputs)? != 0 && eval(right, inputs)? != 0),
        Expr::Binary("||", left, right) => i128::from(eval(left, inputs)? != 0 || eval(right, inputs)? != 0),
        Expr::Binary(operator, left, right) => apply(operator, eval(left, inputs)?, eval(right, inputs)?)?,
    })
}

fn apply(operator: &str, left: i128, right: i128) -> Result<i128, String> {
    let shift = || u32::try_from(right).ok().filter(|amount| *amount < 128).ok_or("shift out of range");
    Ok(match operator {
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i128::from(left == right),
        "!=" => i128::from(left != right),
        "<" => i128::from(left < right),
        "<=" => i128::from(left <= right),
        ">" => i128::from(left > right),
        ">=" => i128::from(left >= right),
        "<<" => left << shift()?,
        ">>" => left >> shift()?,
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right).ok_or("division by zero in predicate")?,
        "%" => left.checked_rem(right).ok_or("division by zero in predicate")?,
        other => return Err(format!("no operator `{other}`")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> Vec<Input> {
        let input =
            |name: &str, ty: &str, bytes: &[u8]| Input { name: name.into(), ty: ty.into(), bytes: bytes.to_vec() };
        vec![
            input("a", "int", &[12, 0, 0, 0]),
            input("b", "int", &[0xff, 0xff, 0xff, 0xff]),
            input("buf", "char[3]", b"x\0\n"),
            input("a", "int", &[5, 0, 0, 0]),
            input("*p", "int[1]", &[9, 0, 0, 0]),
            input("argv[1]", "char[2]", b"k\0"),
        ]
    }

    fn holds(text: &str) -> Result<bool, String> {
        Predicate::parse(text)?.holds(&inputs())
    }

    #[test]
    fn precedence_is_that_of_c() {
        assert_eq!(holds("a == 12 && b == -1"), Ok(true));
        assert_eq!(holds("1 + 2 * 3 == 7"), Ok(true));
        assert_eq!(holds("(1 + 2) * 3 == 7"), Ok(false));
        assert_eq!(holds("a & 4 == 4"), Ok(false));
        assert_eq!(holds("(a & 4) == 4"), Ok(true));
        assert_eq!(holds("1 << 2 + 1 == 8"), Ok(true));
        assert_eq!(holds("0 && 1 || 1"), Ok(true));
        assert_eq!(holds("10 - 3 - 2 == 5"), Ok(true));
        assert_eq!(holds("!a == 0 && ~0 == -1"), Ok(true));
        assert_eq!(holds("7 / 2 == 3 && -7 % 4 == -3"), Ok(true));
        assert_eq!(holds("(5 ^ 1 | 8) == 12 && 16 >> 2 >= 4 && 3 <= 3 && 2 < 3 && 4 > 3"), Ok(true));
    }

    #[test]
    fn names_reach_every_kind_of_input() {
        assert_eq!(holds("a#2 == 5"), Ok(true));
        assert_eq!(holds("buf[0] == 'x' && buf[1] == '\\0' && buf[a - 10] == '\\n'"), Ok(true));
        assert_eq!(holds("p[0] == 0x9"), Ok(true));
        assert_eq!(holds("\"argv[1]\"[0] == 'k'"), Ok(true));
        assert_eq!(holds("size(buf) == 3 && size(a#2) == 4"), Ok(true));
    }

    #[test]
    fn short_circuit_guards_an_index() {
        assert_eq!(holds("size(buf) > 5 && buf[5] == 1"), Ok(false));
        assert!(holds("buf[5] == 1").is_err());
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (text, word) in [
            ("a ==", "early"),
            ("a b", "unexpected name `b`"),
            ("(a", "`)` expected"),
            ("a @ b", "`@`"),
            ("'ab' == 1", "character literal"),
            ("0xzz == 1", "no number"),
            ("\"argv", "unclosed"),
            ("a#0 == 1", "from 1"),
            ("size(3) == 1", "name of an input"),
            (") == 1", "unexpected `)`"),
            ("", "early"),
        ] {
            let message = Predicate::parse(text).expect_err(text);
            assert!(message.contains(word), "{text}: {message}");
        }
        for (text, word) in [
            ("missing == 1", "no input `missing`"),
            ("a#3 == 1", "number 3"),
            ("buf == 1", "give an index"),
            ("a / 0 == 1", "division by zero"),
            ("1 << 200 == 1", "shift"),
        ] {
            let message = holds(text).expect_err(text);
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
