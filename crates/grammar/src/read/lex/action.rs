//! Which token an action returns, and which start condition it begins, as far as its text tells.

use super::super::scanning::{Action, Returns, Then};
use super::flow::{always_comes_to, always_returns};

/// Calls that change what is matched next.
const STEERING: [&str; 6] = ["REJECT", "yymore", "yyless", "unput", "input", "yy_top_state"];

/// Calls after which there is no text any more, or a message that it is wrong.
const REFUSING: [&str; 15] = [
    "exit",
    "_exit",
    "_Exit",
    "abort",
    "longjmp",
    "siglongjmp",
    "yyerror",
    "yy_fatal_error",
    "YY_FATAL_ERROR",
    "err",
    "errx",
    "error",
    "die",
    "fatal",
    "throw",
];

/// Macros of the scanner itself that give nothing.
const KNOWN: [&str; 2] = ["ECHO", "REJECT"];

pub fn read(action: &str) -> Action {
    let code = without_texts(action);
    Action { gives: returns(&code, action), then: then(&code) }
}

fn returns(code: &str, action: &str) -> Returns {
    let has = |name: &str| words(code).any(|word| word == name);
    let steers = STEERING.iter().find(|name| has(name)).copied();
    let mut tokens: Vec<String> = Vec::new();
    let (mut returns_its_text, mut ends) = (false, has("yyterminate"));
    for value in returned(code, action) {
        match value_of(&value) {
            Value::Token(token) if tokens.contains(&token) => {}
            Value::Token(token) => tokens.push(token),
            Value::ItsText => returns_its_text = true,
            Value::End | Value::Refused => ends = true,
            Value::Computed => return Returns::Unknown(format!("one cannot say what `return {value}` is")),
        }
    }
    let returns_something = returns_its_text || ends || !tokens.is_empty();
    match steers {
        Some("input") if !returns_something => return Returns::Aside,
        Some("yymore") if !returns_something => return Returns::More,
        Some(name) => {
            return Returns::Unknown(format!("its action calls {name}, so what follows is scanned otherwise"));
        }
        None => {}
    }
    if !returns_something {
        if REFUSING.iter().any(|name| has(name)) {
            return Returns::Aside;
        }
        if let Some(name) = unknown_macro(code) {
            return Returns::Unknown(format!("one cannot say what `{name}` does"));
        }
    }
    if returns_something && !always_returns(code) {
        return Returns::Unknown("it returns only under a condition".into());
    }
    match (tokens.is_empty(), returns_its_text, ends) {
        (true, false, false) => Returns::Nothing,
        (true, false, true) => Returns::Refused,
        (true, true, false) => Returns::ItsText,
        (false, false, false) => Returns::Tokens(tokens),
        _ => Returns::Unknown("it returns one or the other, and one cannot say when".into()),
    }
}

/// The first statement that looks like a macro which the file does not define.
fn unknown_macro(code: &str) -> Option<&str> {
    let statements = code.split([';', '{', '}']).map(str::trim_start);
    let mut names = statements
        .map(|statement| statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default());
    names.find(|name| {
        let is_upper = name.len() > 1 && name.chars().all(|c| !c.is_ascii_lowercase());
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        is_upper && is_name && !KNOWN.contains(name) && *name != "BEGIN" && !name.starts_with("YY_")
    })
}

/// Which start condition is next.
fn then(code: &str) -> Then {
    let mut found: Vec<Then> = Vec::new();
    for (word, behind) in calls(code) {
        let name = argument(behind);
        match word {
            "BEGIN" => found.push(name.map_or(Then::Unclear, Then::Goes)),
            "yy_push_state" => found.push(name.map_or(Then::Unclear, Then::Pushes)),
            "yy_pop_state" => found.push(Then::Pops),
            _ => {}
        }
    }
    // Always, and on every way that returns.
    let steers = ["BEGIN", "yy_push_state", "yy_pop_state"];
    let begun =
        calls(code).find(|(word, _)| steers.contains(word)).map_or(code.len(), |(_, rest)| code.len() - rest.len());
    let is_plain = always_comes_to(code, &steers) && !words(&code[..begun]).any(|word| word == "return");
    match (found.len(), found.pop()) {
        (_, None) => Then::Same,
        (1, Some(then)) if is_plain => then,
        _ => Then::Unclear,
    }
}

/// Words, each with what stands behind it.
fn calls(code: &str) -> impl Iterator<Item = (&str, &str)> {
    words(code).filter(|word| !word.is_empty()).map(move |word| {
        let end = word.as_ptr() as usize - code.as_ptr() as usize + word.len();
        (word, &code[end..])
    })
}

/// The name in parentheses, or without them.
fn argument(behind: &str) -> Option<String> {
    let behind = behind.trim_start().trim_start_matches('(').trim_start();
    let name = words(behind).next().unwrap_or_default();
    let is_over =
        behind[name.len()..].trim_start().is_empty() || behind[name.len()..].trim_start().starts_with([')', ';', '}']);
    (!name.is_empty() && is_over).then(|| if name == "0" { "INITIAL".to_string() } else { name.to_string() })
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
    // The last of several, and what is assigned.
    if let Some((_, last)) = split_last(value, ',') {
        return value_of(last);
    }
    if let Some((left, right)) = split_last(value, '=')
        && !left.ends_with(['=', '!', '<', '>'])
    {
        return value_of(right);
    }
    match value {
        "*yytext" | "yytext[0]" | "yytext [0]" | "* yytext" => return Value::ItsText,
        "0" | "YY_NULL" | "YYEOF" | "EOF" => return Value::End,
        // What yacc keeps for itself: no rule has these.
        "256" | "257" | "YYerror" | "YYUNDEF" => return Value::Refused,
        _ => {}
    }
    // A parser of yacc takes whatever is negative for the end.
    if value.parse::<i64>().is_ok_and(|number| number < 0) {
        return Value::End;
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

/// What stands before and behind the last of such characters that is in no parentheses and no quotes.
fn split_last(value: &str, by: char) -> Option<(&str, &str)> {
    let (mut depth, mut found) = (0i32, None);
    for (idx, c) in without_texts(value).char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            c if c == by && depth == 0 => found = Some(idx),
            _ => {}
        }
    }
    found.map(|idx| (&value[..idx], &value[idx + 1..]))
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

    fn returns(action: &str) -> Returns {
        read(action).gives
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
        assert_eq!(returns("BEGIN(COMMENT);"), Returns::Nothing);
        assert_eq!(returns("{ BEGIN(TEXT); return QUOTE; }"), token("QUOTE"));
        assert_eq!(returns("yyterminate();"), Returns::Refused);
        assert_eq!(returns("return 256;"), Returns::Refused);
        assert_eq!(returns("return -1;"), Returns::Refused);
        assert_eq!(returns("{ return (EOF); }"), Returns::Refused);
        assert_eq!(returns("return 43;"), token("\"+\""));
        assert!(matches!(returns("return 300;"), Returns::Unknown(_)));
        assert_eq!(returns("{ while (input() != '\n') ; }"), Returns::Aside);
        assert!(matches!(returns("{ if (yyleng > 1) return LONG; }"), Returns::Unknown(_)));
        assert!(matches!(returns("{ while (n--) { return A; } }"), Returns::Unknown(_)));
        assert_eq!(returns("{ if (n) { m(); } return A; }"), token("A"));
        assert_eq!(returns("{ for (;;) n++; return(A); }"), token("A"));
        assert_eq!(returns("{ returned = 1; }"), Returns::Nothing);
    }
    #[test]
    fn values_that_are_assigned_on_the_way() {
        assert_eq!(returns("return yylval.token = PLUS;"), token("PLUS"));
        assert_eq!(returns("return (yylval = 5, NUM);"), token("NUM"));
        assert_eq!(returns("return ',';"), token("\",\""));
        assert_eq!(returns("return '=';"), token("\"=\""));
        assert!(matches!(returns("return yylval = atoi(yytext);"), Returns::Unknown(_)));
        assert!(matches!(returns("return a == b;"), Returns::Unknown(_)));
    }

    #[test]
    fn what_refuses_a_text_and_what_one_does_not_know() {
        assert_eq!(returns("{ exit(2); }"), Returns::Aside);
        assert_eq!(returns("yyerror(\"bad\");"), Returns::Aside);
        assert_eq!(returns("{ printf(\"exit\"); }"), Returns::Nothing);
        assert!(matches!(returns("{ n++; ADVANCE(1); }"), Returns::Unknown(_)));
        assert_eq!(returns("ECHO;"), Returns::Nothing);
        assert_eq!(returns("{ yymore(); }"), Returns::More);
    }

    #[test]
    fn which_start_condition_is_next() {
        let then = |action: &str| read(action).then;
        assert_eq!(then("BEGIN(TEXT);"), Then::Goes("TEXT".into()));
        assert_eq!(then("{ BEGIN 0; return A; }"), Then::Goes("INITIAL".into()));
        assert_eq!(then("yy_push_state( TEXT );"), Then::Pushes("TEXT".into()));
        assert_eq!(then("{ yy_pop_state(); }"), Then::Pops);
        assert_eq!(then("return A;"), Then::Same);
        assert_eq!(then("{ if (n) BEGIN(TEXT); }"), Then::Unclear);
        assert_eq!(then("{ if (n) m(); BEGIN(TEXT); do { return (A); } while (0); }"), Then::Goes("TEXT".into()));
        assert_eq!(then("{ if (n) return A; BEGIN(TEXT); return A; }"), Then::Unclear);
        assert_eq!(then("BEGIN(n + 1);"), Then::Unclear);
        assert_eq!(then("{ BEGIN(A); BEGIN(B); }"), Then::Unclear);
    }
}
