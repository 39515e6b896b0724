//! Macros that a lex file defines, as its actions use them: `#define TOKEN(t) return t`.

use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
pub struct Macros(FxHashMap<String, Macro>);

#[derive(Debug)]
struct Macro {
    /// `None`: it takes none, and no parentheses.
    parameters: Option<Vec<String>>,
    body: String,
}

/// Macros in macros are replaced so deep.
const DEEPEST: usize = 8;

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Macros {
    /// Remembers what the code defines.
    pub fn learn(&mut self, code: &str) {
        let code = code.replace("\\\r\n", " ").replace("\\\n", " ");
        for line in code.lines() {
            let Some(rest) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
            let Some(rest) = rest.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t'])) else { continue };
            let rest = rest.trim();
            let n = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (name, rest) = rest.split_at(n);
            let (parameters, body) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
                Some((inner, body)) => (Some(inner.split(',').map(|name| name.trim().to_string()).collect()), body),
                None => (None, rest),
            };
            let body = body.split("/*").next().unwrap_or_default().split("//").next().unwrap_or_default().trim();
            // A number that a name stands for is a token by that name.
            let is_number =
                |body: &str| body.trim_matches(['(', ')', ' ']).chars().all(|c| c.is_ascii_hexdigit() || c == 'x');
            if parameters.is_some() || !is_number(body) {
                self.0.insert(name.to_string(), Macro { parameters, body: body.to_string() });
            }
        }
    }

    /// The code with macros replaced, but for what is in quotes.
    pub fn expand(&self, code: &str) -> String {
        let mut code = code.to_string();
        for _ in 0..DEEPEST {
            let next = self.expand_once(&code);
            if next == code {
                break;
            }
            code = next;
        }
        code
    }

    fn expand_once(&self, code: &str) -> String {
        let mut out = String::with_capacity(code.len());
        let mut rest = code;
        while let Some(first) = rest.chars().next() {
            if first == '"' || first == '\'' {
                let len = quoted_len(rest, first);
                out.push_str(&rest[..len]);
                rest = &rest[len..];
                continue;
            }
            if !is_word(first) {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(len);
            match self.0.get(word).map(|found| (found, arguments(behind))) {
                Some((Macro { parameters: None, body }, _)) => {
                    out.push_str(body);
                    rest = behind;
                }
                Some((Macro { parameters: Some(parameters), body }, Some((given, n_bytes)))) => {
                    out.push_str(&replace(body, parameters, &given));
                    rest = &behind[n_bytes..];
                }
                _ => {
                    out.push_str(word);
                    rest = behind;
                }
            }
        }
        out
    }
}

/// How long the text in quotes is that this begins with.
fn quoted_len(code: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (idx, c) in code.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return idx + 1,
            _ => {}
        }
    }
    code.len()
}

/// What stands in the parentheses that this begins with, and how long that is.
fn arguments(code: &str) -> Option<(Vec<String>, usize)> {
    let begun = code.len() - code.trim_start().len();
    if !code[begun..].starts_with('(') {
        return None;
    }
    let (mut depth, mut given, mut argument) = (0u32, Vec::new(), String::new());
    let mut at = begun;
    while let Some(c) = code[at..].chars().next() {
        if c == '"' || c == '\'' {
            let len = quoted_len(&code[at..], c);
            argument.push_str(&code[at..at + len]);
            at += len;
            continue;
        }
        at += c.len_utf8();
        match c {
            '(' if depth == 0 => depth = 1,
            ')' if depth == 1 => {
                given.push(argument.trim().to_string());
                return Some((given, at));
            }
            ',' if depth == 1 => given.push(std::mem::take(&mut argument).trim().to_string()),
            _ => {
                depth = if c == '(' { depth + 1 } else { depth - u32::from(c == ')') };
                argument.push(c);
            }
        }
    }
    None
}

fn replace(body: &str, parameters: &[String], given: &[String]) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some(first) = rest.chars().next() {
        let len = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (piece, behind) = rest.split_at(len);
        let idx = parameters.iter().position(|name| name == piece);
        out.push_str(idx.and_then(|idx| given.get(idx)).map_or(piece, String::as_str));
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_replaced_as_c_does() {
        let mut macros = Macros::default();
        macros.learn("#define RET(t) do { n++; \\\n  return (t); } while (0)\n# define CHAR return yytext[0] /* one */\n#define NUM 258");
        assert_eq!(macros.expand("return NUM;"), "return NUM;");
        assert_eq!(macros.expand("RET('+');"), "do { n++;    return ('+'); } while (0);");
        assert_eq!(macros.expand("{ CHAR; }"), "{ return yytext[0]; }");
        assert_eq!(
            macros.expand("RET (f(1, ')')) \"CHAR\" RETURN"),
            "do { n++;    return (f(1, ')')); } while (0) \"CHAR\" RETURN"
        );
    }
}
