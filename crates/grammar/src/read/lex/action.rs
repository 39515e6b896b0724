//! Which token an action returns, as far as its text tells.

/// What an action gives the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returns {
    Nothing,
    /// The character that was matched.
    ItsText,
    /// One of these.
    Tokens(Vec<String>),
    /// Nothing that a text needs: it ends the text, refuses it, or passes over more of it than it matched.
    Aside,
    /// Nothing, but patterns of another start condition match next.
    Begins,
    /// Why one cannot say.
    Unknown(String),
}

/// Calls that change what is matched next.
const STEERING: [&str; 8] =
    ["REJECT", "yymore", "yyless", "unput", "input", "yy_push_state", "yy_pop_state", "yy_top_state"];

pub fn returns(action: &str) -> Returns {
    let code = without_texts(action);
    let has = |name: &str| words(&code).any(|word| word == name);
    let steers = STEERING.iter().find(|name| has(name));
    let mut tokens: Vec<String> = Vec::new();
    let (mut returns_its_text, mut ends) = (false, has("yyterminate"));
    for value in returned(&code, action) {
        match value_of(&value) {
            Value::Token(token) if tokens.contains(&token) => {}
            Value::Token(token) => tokens.push(token),
            Value::ItsText => returns_its_text = true,
            Value::End | Value::Refused => ends = true,
            Value::Computed => return Returns::Unknown(format!("one cannot say what `return {value}` is")),
        }
    }
    let returns_something = returns_its_text || ends || !tokens.is_empty();
    if steers == Some(&"input") && !returns_something {
        return Returns::Aside;
    }
    if let Some(name) = steers {
        return Returns::Unknown(format!("its action calls {name}, so what follows is scanned otherwise"));
    }
    if has("BEGIN") {
        let why = "its action calls BEGIN, so what follows is scanned otherwise";
        return if returns_something { Returns::Unknown(why.into()) } else { Returns::Begins };
    }
    if code.contains("unknown()") && !returns_something {
        return Returns::Unknown("its action is a block of code".into());
    }
    if returns_something && !always_returns(&code) {
        return Returns::Unknown("it returns only under a condition".into());
    }
    match (tokens.is_empty(), returns_its_text, ends) {
        (true, false, false) => Returns::Nothing,
        (true, false, true) => Returns::Aside,
        (true, true, false) => Returns::ItsText,
        (false, false, false) => Returns::Tokens(tokens),
        _ => Returns::Unknown("it returns one or the other, and one cannot say when".into()),
    }
}

/// Whether the code comes to a `return` on every way, as far as its text tells: one stands by itself at the end, or behind the last
/// `else`. (Of several that return different tokens it is said that one cannot say when.)
fn always_returns(code: &str) -> bool {
    let is_exit = |word: &str| word == "return" || word == "yyterminate";
    let mut depth = 0u32;
    let mut before = String::new();
    let mut word = String::new();
    // The block that the whole action is in does not count.
    let inner = code.trim();
    let inner = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inner);
    for c in inner.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            let stands_alone = before.is_empty() || before.ends_with([';', '}', '{']);
            if depth == 0 && is_exit(&word) && (stands_alone || before.ends_with("else")) {
                return true;
            }
            before = std::mem::take(&mut word);
        }
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !c.is_whitespace() {
            before = c.to_string();
        }
    }
    false
}

enum Value {
    Token(String),
    ItsText,
    End,
    /// A token that no text has.
    Refused,
    Computed,
}

fn value_of(value: &str) -> Value {
    let mut value = value.trim();
    while let Some(inner) = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        value = inner.trim();
    }
    // A cast changes nothing.
    for cast in ["(int)", "(unsigned char)", "(token_t)"] {
        value = value.strip_prefix(cast).unwrap_or(value).trim();
    }
    match value {
        "*yytext" | "yytext[0]" | "yytext [0]" | "* yytext" => return Value::ItsText,
        "0" | "YY_NULL" | "END" | "YYEOF" => return Value::End,
        // What yacc keeps for itself: no rule has these.
        "256" | "257" | "YYerror" | "YYUNDEF" => return Value::Refused,
        _ => {}
    }
    if let Ok(byte) = value.parse::<u8>() {
        return Value::Token(crate::draft::text_name(&[byte]));
    }
    if let Some(inner) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let text = super::super::cursor::unescape(inner);
        return if text.len() == 1 { Value::Token(crate::draft::text_name(&text)) } else { Value::Computed };
    }
    // `token::NUM` of C++ scanners.
    let name = value.rsplit("::").next().unwrap_or(value).trim();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { Value::Token(name.to_string()) } else { Value::Computed }
}

/// What stands between each `return` and its semicolon.
fn returned(code: &str, action: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(found) = code[at..].find("return") {
        let from = at + found;
        at = from + "return".len();
        let is_word = !code[..from].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && !code[at..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !is_word {
            continue;
        }
        let end = code[at..].find(';').map_or(code.len(), |n| at + n);
        values.push(action[at..end].trim().to_string());
    }
    values
}

/// The same code, as long, with what is in quotes blanked out.
fn without_texts(action: &str) -> String {
    let mut out = String::with_capacity(action.len());
    let mut quote: Option<char> = None;
    let mut is_escaped = false;
    for c in action.chars() {
        let keep = match quote {
            Some(_) if is_escaped => {
                is_escaped = false;
                false
            }
            Some(_) if c == '\\' => {
                is_escaped = true;
                false
            }
            Some(open) if c == open => {
                quote = None;
                true
            }
            Some(_) => false,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                true
            }
            None => true,
        };
        if keep { out.push(c) } else { (0..c.len_utf8()).for_each(|_| out.push('_')) }
    }
    out
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> Returns {
        Returns::Tokens(vec![name.to_string()])
    }

    #[test]
    fn what_actions_return() {
        assert_eq!(returns("return NUM;"), token("NUM"));
        assert_eq!(returns("{ yylval.n = atoi(yytext); return(NUM); }"), token("NUM"));
        assert_eq!(returns("return '+';"), token("\"+\""));
        assert_eq!(returns("return ';';"), token("\";\""));
        assert_eq!(returns("{ return *yytext; }"), Returns::ItsText);
        assert_eq!(returns("return yytext[0];"), Returns::ItsText);
        assert_eq!(returns("/* nothing */"), Returns::Nothing);
        assert_eq!(returns("{ line++; }"), Returns::Nothing);
        assert_eq!(returns("{ printf(\"return X;\"); }"), Returns::Nothing);
        assert_eq!(returns("{ if (x) return A; else return B; }"), Returns::Tokens(vec!["A".into(), "B".into()]));
        assert!(matches!(returns("{ return lookup(yytext); }"), Returns::Unknown(_)));
        assert_eq!(returns("BEGIN(COMMENT);"), Returns::Begins);
        assert!(matches!(returns("{ BEGIN(TEXT); return QUOTE; }"), Returns::Unknown(_)));
        assert_eq!(returns("yyterminate();"), Returns::Aside);
        assert_eq!(returns("return 256;"), Returns::Aside);
        assert_eq!(returns("return 43;"), token("\"+\""));
        assert!(matches!(returns("return 300;"), Returns::Unknown(_)));
        assert_eq!(returns("{ while (input() != '\n') ; }"), Returns::Aside);
        assert!(matches!(returns("{ if (yyleng > 1) return LONG; }"), Returns::Unknown(_)));
        assert!(matches!(returns("{ while (n--) { return A; } }"), Returns::Unknown(_)));
        assert_eq!(returns("{ if (n) { m(); } return A; }"), token("A"));
        assert_eq!(returns("{ for (;;) n++; return(A); }"), token("A"));
        assert_eq!(returns("{ returned = 1; }"), Returns::Nothing);
    }
}
