//! Which token an action returns, as far as its text tells.

/// What an action gives the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returns {
    Nothing,
    /// The character that was matched.
    ItsText,
    /// One of these.
    Tokens(Vec<String>),
    /// Why one cannot say.
    Unknown(String),
}

/// Calls that change what is matched next.
const STEERING: [&str; 8] = ["BEGIN", "REJECT", "yymore", "yyless", "unput", "input", "yy_push_state", "yyterminate"];

pub fn returns(action: &str) -> Returns {
    let code = without_texts(action);
    let steers = STEERING.iter().find(|name| words(&code).any(|word| word == **name));
    let mut tokens: Vec<String> = Vec::new();
    let mut returns_its_text = false;
    for value in returned(&code, action) {
        match value_of(&value) {
            Value::Token(token) if tokens.contains(&token) => {}
            Value::Token(token) => tokens.push(token),
            Value::ItsText => returns_its_text = true,
            Value::End => return Returns::Unknown("the action ends the text".into()),
            Value::Computed => return Returns::Unknown(format!("one cannot say what `return {value}` is")),
        }
    }
    match (tokens.is_empty(), returns_its_text, steers) {
        (true, false, None) if code.contains("unknown()") => Returns::Unknown("its action is a block of code".into()),
        (true, false, None) => Returns::Nothing,
        (_, _, Some(name)) => {
            Returns::Unknown(format!("its action calls {name}, so what follows is scanned otherwise"))
        }
        (true, true, None) => Returns::ItsText,
        (false, true, None) => Returns::Unknown("it returns a token or its text, and one cannot say when".into()),
        (false, false, None) => Returns::Tokens(tokens),
    }
}

enum Value {
    Token(String),
    ItsText,
    End,
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
        _ => {}
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
        assert!(matches!(returns("BEGIN(COMMENT);"), Returns::Unknown(_)));
        assert_eq!(returns("{ returned = 1; }"), Returns::Nothing);
    }
}
