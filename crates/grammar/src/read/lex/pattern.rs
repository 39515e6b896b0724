//! A pattern of flex in the words of the regular-expression library.

use rustc_hash::FxHashMap;

use super::super::cursor::escape;
use crate::Place;

pub struct Translated {
    pub regex: String,
    /// What has to follow (`r/s`, `r$`).
    pub follows: Option<String>,
    pub place: Place,
}

/// The deepest nesting of definitions: one that names itself has no end.
const DEEPEST: usize = 50;

pub fn translate(pattern: &str, definitions: &FxHashMap<String, String>) -> Result<Translated, String> {
    let pattern = with_anchors(pattern, definitions);
    let pattern = pattern.as_str();
    let (place, rest) = match pattern.strip_prefix('^') {
        Some(rest) => (Place::LineStart, rest),
        None => (Place::Anywhere, pattern),
    };
    let mut out = Translating { definitions, regex: String::new(), follows: None, depth: 0 };
    out.run(rest.as_bytes())?;
    let (regex, follows) = match out.follows {
        Some(before) => (before, Some(out.regex)),
        None => (out.regex, None),
    };
    Ok(Translated { regex, follows, place })
}

/// A definition that begins with `^` or ends in `$` stands for just that at the beginning or the end of a pattern.
fn with_anchors(pattern: &str, definitions: &FxHashMap<String, String>) -> String {
    let mut pattern = pattern.to_string();
    let first = pattern.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    if let Some((name, rest)) = first
        && let Some(definition) = definitions.get(name).filter(|definition| definition.starts_with('^'))
    {
        pattern = format!("{definition}{rest}");
    }
    let last = pattern.strip_suffix('}').and_then(|rest| rest.rsplit_once('{'));
    if let Some((rest, name)) = last
        && let Some(definition) = definitions.get(name)
        && definition.ends_with('$')
        && !definition.ends_with("\\$")
    {
        pattern = format!("{rest}{definition}");
    }
    pattern
}

struct Translating<'d> {
    definitions: &'d FxHashMap<String, String>,
    regex: String,
    /// What was before the slash of a trailing context.
    follows: Option<String>,
    depth: usize,
}

impl Translating<'_> {
    fn run(&mut self, pattern: &[u8]) -> Result<(), String> {
        let mut at = 0;
        while at < pattern.len() {
            at += match pattern[at] {
                b'"' => self.quoted(&pattern[at..])?,
                b'\\' => {
                    if at + 1 == pattern.len() {
                        return Err("it ends in a backslash".into());
                    }
                    let (bytes, n_bytes) = escape(&pattern[at + 1..]);
                    bytes.iter().for_each(|byte| self.literal(*byte));
                    1 + n_bytes
                }
                b'[' => self.classes(&pattern[at..])?,
                b'{' => self.braces(&pattern[at..])?,
                b'/' if self.depth == 0 => {
                    if self.follows.is_some() {
                        return Err("it has two trailing contexts".into());
                    }
                    self.follows = Some(std::mem::take(&mut self.regex));
                    1
                }
                b'$' if at + 1 == pattern.len() && self.depth == 0 && self.follows.is_none() => {
                    self.follows = Some(std::mem::replace(&mut self.regex, r"\n".into()));
                    1
                }
                b'.' => self.verbatim(r"[^\n]"),
                b'(' if pattern[at..].starts_with(b"(?#") => {
                    pattern[at..].iter().position(|byte| *byte == b')').ok_or("a ) is missing")? + 1
                }
                b'(' if pattern[at + 1..].first() == Some(&b'?') => {
                    // Options of a group; those that the library calls the same.
                    let end = pattern[at..].iter().position(|byte| *byte == b':').ok_or("a : is missing behind (?")?;
                    let options = String::from_utf8_lossy(&pattern[at..=at + end]).into_owned();
                    self.regex.push_str(&options);
                    end + 1
                }
                b'(' => self.verbatim("(?:"),
                byte @ (b')' | b'|' | b'*' | b'+' | b'?') => {
                    self.regex.push(byte as char);
                    1
                }
                byte => {
                    self.literal(byte);
                    1
                }
            };
        }
        Ok(())
    }

    /// For one byte of the pattern.
    fn verbatim(&mut self, regex: &str) -> usize {
        self.regex.push_str(regex);
        1
    }

    fn literal(&mut self, byte: u8) {
        self.regex.push_str(&byte_regex(byte));
    }

    /// Text in quotes, as one group: a quantifier behind it is for all of it.
    fn quoted(&mut self, rest: &[u8]) -> Result<usize, String> {
        self.regex.push_str("(?:");
        let mut at = 1;
        loop {
            match rest.get(at) {
                None => return Err("a \" is missing".into()),
                Some(b'"') => break,
                Some(b'\\') if at + 1 < rest.len() => {
                    let (bytes, n_bytes) = escape(&rest[at + 1..]);
                    bytes.iter().for_each(|byte| self.literal(*byte));
                    at += 1 + n_bytes;
                }
                Some(byte) => {
                    self.literal(*byte);
                    at += 1;
                }
            }
        }
        self.regex.push(')');
        Ok(at + 1)
    }

    /// `{name}`, or how often: `{2,3}`.
    fn braces(&mut self, rest: &[u8]) -> Result<usize, String> {
        let end = rest.iter().position(|byte| *byte == b'}').ok_or("a } is missing")?;
        let inner = String::from_utf8_lossy(&rest[1..end]).into_owned();
        if inner.starts_with(|c: char| c.is_ascii_digit() || c == ',') {
            self.regex.push_str(&format!("{{{}}}", inner.trim()));
            return Ok(end + 1);
        }
        let definition = self.definitions.get(inner.trim()).ok_or_else(|| format!("`{inner}` is not defined"))?.clone();
        if self.depth > DEEPEST {
            return Err(format!("the definition of `{inner}` names itself"));
        }
        self.depth += 1;
        self.regex.push_str("(?:");
        self.run(definition.as_bytes())?;
        self.regex.push(')');
        self.depth -= 1;
        Ok(end + 1)
    }

    /// A class, or several with `{+}` and `{-}` between them.
    fn classes(&mut self, rest: &[u8]) -> Result<usize, String> {
        let (mut set, mut at) = class(rest)?;
        loop {
            let joins = match rest.get(at..at + 3) {
                Some(b"{+}") => true,
                Some(b"{-}") => false,
                _ => break,
            };
            if rest.get(at + 3) != Some(&b'[') {
                return Err("a class follows {+} and {-}".into());
            }
            let (other, n_bytes) = class(&rest[at + 3..])?;
            set.iter_mut()
                .zip(other)
                .for_each(|(set, other)| *set = if joins { *set || other } else { *set && !other });
            at += 3 + n_bytes;
        }
        self.regex.push('[');
        // A class without a byte: the library has no other way to say so.
        if set.iter().all(|is_in| !is_in) {
            self.regex.push_str(r"^\x00-\xff");
        }
        (0..=255u8).filter(|byte| set[*byte as usize]).for_each(|byte| self.literal(byte));
        self.regex.push(']');
        Ok(at)
    }
}

fn byte_regex(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || byte == b'_' { (byte as char).to_string() } else { format!(r"\x{byte:02x}") }
}

/// The bytes of a class, and its length in the pattern.
fn class(rest: &[u8]) -> Result<([bool; 256], usize), String> {
    let mut set = [false; 256];
    let mut at = 1;
    let is_negated = rest.get(at) == Some(&b'^');
    at += usize::from(is_negated);
    let first = at;
    let mut last: Option<u8> = None;
    loop {
        match rest.get(at) {
            None => return Err("a ] is missing".into()),
            Some(b']') if at > first => break,
            Some(b'[') if rest.get(at + 1) == Some(&b':') => {
                let end = rest[at..].windows(2).position(|pair| pair == b":]").ok_or("`:]` is missing")?;
                named(&String::from_utf8_lossy(&rest[at + 2..at + end]), &mut set)?;
                at += end + 2;
                last = None;
            }
            Some(b'-') if last.is_some() && rest.get(at + 1).is_some_and(|byte| *byte != b']') => {
                let (to, n_bytes) = member(&rest[at + 1..])?;
                let from = last.take().unwrap_or(to);
                if from > to {
                    return Err("a range goes backwards".into());
                }
                (from..=to).for_each(|byte| set[byte as usize] = true);
                at += 1 + n_bytes;
            }
            Some(_) => {
                let (byte, n_bytes) = member(&rest[at..])?;
                set[byte as usize] = true;
                last = Some(byte);
                at += n_bytes;
            }
        }
    }
    if is_negated {
        set.iter_mut().for_each(|is_in| *is_in = !*is_in);
    }
    Ok((set, at + 1))
}

fn member(rest: &[u8]) -> Result<(u8, usize), String> {
    match rest {
        [b'\\', escaped @ ..] if !escaped.is_empty() => {
            let (bytes, n_bytes) = escape(escaped);
            Ok((bytes[0], 1 + n_bytes))
        }
        [byte, ..] => Ok((*byte, 1)),
        [] => Err("a ] is missing".into()),
    }
}

fn named(name: &str, set: &mut [bool; 256]) -> Result<(), String> {
    let (name, is_negated) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    let holds: fn(u8) -> bool = match name {
        "alpha" => |byte| byte.is_ascii_alphabetic(),
        "digit" => |byte| byte.is_ascii_digit(),
        "alnum" => |byte| byte.is_ascii_alphanumeric(),
        "upper" => |byte| byte.is_ascii_uppercase(),
        "lower" => |byte| byte.is_ascii_lowercase(),
        "space" => |byte| byte.is_ascii_whitespace() || byte == 11,
        "blank" => |byte| byte == b' ' || byte == b'\t',
        "punct" => |byte| byte.is_ascii_punctuation(),
        "print" => |byte| byte.is_ascii_graphic() || byte == b' ',
        "graph" => |byte| byte.is_ascii_graphic(),
        "cntrl" => |byte| byte.is_ascii_control(),
        "xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return Err(format!("there is no class `{name}`")),
    };
    (0..=255u8).filter(|byte| holds(*byte) != is_negated).for_each(|byte| set[byte as usize] = true);
    Ok(())
}
