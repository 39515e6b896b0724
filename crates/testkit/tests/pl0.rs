//! Every valid PL/0 program of so many tokens is generated: `lazy` on a parser, against an enumeration of the grammar.
//!
//! `PL0_TOKENS` (default 5) is the number of tokens up to which programs are generated.

use std::collections::{BTreeMap, BTreeSet};

use testkit::command::{find_colt, project_root};

/// Token sequences; a token is one character of [`KEYWORDS`] or [`SIGNS`].
type Programs = BTreeSet<String>;

const KEYWORDS: &[(&str, char)] = &[
    ("call", 'C'),
    ("const", 'K'),
    ("var", 'V'),
    ("procedure", 'P'),
    ("begin", 'B'),
    ("end", 'E'),
    ("if", 'I'),
    ("then", 'T'),
    ("while", 'W'),
    ("do", 'D'),
    ("odd", 'O'),
];
const SIGNS: &[(&str, char)] = &[
    (":=", ':'),
    ("<=", 'l'),
    (">=", 'g'),
    ("=", '='),
    ("#", '#'),
    ("<", '<'),
    (">", '>'),
    ("+", '+'),
    ("-", '-'),
    ("*", '*'),
    ("/", '/'),
    ("(", '('),
    (")", ')'),
    (",", ','),
    (";", ';'),
    (".", '.'),
];

/// The grammar: what each symbol can be, by number of tokens.
#[derive(Default)]
struct Grammar {
    known: BTreeMap<(&'static str, usize), Programs>,
}

/// Each alternative is a list of symbols; a symbol of one character is a token.
const RULES: &[(&str, &[&[&str]])] = &[
    ("program", &[&["block", "."]]),
    ("block", &[&["constants", "variables", "procedures", "statement"]]),
    ("constants", &[&[], &["K", "constant", "more_constants", ";"]]),
    ("constant", &[&["n", "=", "0"]]),
    ("more_constants", &[&[], &[",", "constant", "more_constants"]]),
    ("variables", &[&[], &["V", "n", "more_variables", ";"]]),
    ("more_variables", &[&[], &[",", "n", "more_variables"]]),
    ("procedures", &[&[], &["P", "n", ";", "block", ";", "procedures"]]),
    (
        "statement",
        &[
            &[],
            &["n", ":", "expression"],
            &["C", "n"],
            &["B", "statement", "more_statements", "E"],
            &["I", "condition", "T", "statement"],
            &["W", "condition", "D", "statement"],
        ],
    ),
    ("more_statements", &[&[], &[";", "statement", "more_statements"]]),
    ("condition", &[&["O", "expression"], &["expression", "relation", "expression"]]),
    ("relation", &[&["="], &["#"], &["<"], &["l"], &[">"], &["g"]]),
    ("expression", &[&["sum"], &["+", "sum"], &["-", "sum"]]),
    ("sum", &[&["product"], &["sum", "+", "product"], &["sum", "-", "product"]]),
    ("product", &[&["factor"], &["product", "*", "factor"], &["product", "/", "factor"]]),
    ("factor", &[&["n"], &["0"], &["(", "expression", ")"]]),
];

const MAY_BE_EMPTY: &[&str] = &[
    "block",
    "constants",
    "more_constants",
    "variables",
    "more_variables",
    "procedures",
    "statement",
    "more_statements",
];

impl Grammar {
    /// What `symbol` can be in exactly `n_tokens` tokens.
    fn of(&mut self, symbol: &'static str, n_tokens: usize) -> Programs {
        let Some((name, alternatives)) = RULES.iter().find(|rule| rule.0 == symbol) else {
            return if n_tokens == 1 { Programs::from([symbol.to_string()]) } else { Programs::new() };
        };
        if let Some(known) = self.known.get(&(name, n_tokens)) {
            return known.clone();
        }
        let found: Programs = alternatives.iter().flat_map(|parts| self.sequence(parts, n_tokens)).collect();
        self.known.insert((name, n_tokens), found.clone());
        found
    }

    fn sequence(&mut self, parts: &[&'static str], n_tokens: usize) -> Programs {
        let Some((first, rest)) = parts.split_first() else {
            return if n_tokens == 0 { Programs::from([String::new()]) } else { Programs::new() };
        };
        let mut found = Programs::new();
        // What cannot be empty takes a token, so a recursion always gets fewer tokens than its whole.
        let n_least = rest.iter().filter(|part| !MAY_BE_EMPTY.contains(part)).count();
        let n_first = usize::from(!MAY_BE_EMPTY.contains(first));
        for n_rest in n_least..(n_tokens + 1).saturating_sub(n_first) {
            let tails = self.sequence(rest, n_rest);
            if tails.is_empty() {
                continue;
            }
            for head in self.of(first, n_tokens - n_rest) {
                found.extend(tails.iter().map(|tail| format!("{head}{tail}")));
            }
        }
        found
    }
}

/// The tokens of a text, which ends at its first zero.
fn tokens(text: &[u8]) -> String {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8(text.to_vec()).expect("valid programs are ASCII");
    let mut rest = text.as_str();
    let mut tokens = String::new();
    loop {
        rest = rest.trim_start_matches([' ', '\n']);
        let Some(first) = rest.chars().next() else { return tokens };
        let n_bytes = match first {
            'a'..='z' => {
                let word = rest.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
                // The parser looks at the first nine letters only.
                let seen = &word[..word.len().min(9)];
                tokens.push(KEYWORDS.iter().find(|keyword| keyword.0 == seen).map_or('n', |keyword| keyword.1));
                word.len()
            }
            '0'..='9' => {
                tokens.push('0');
                rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len()
            }
            _ => {
                let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.0)) else { return tokens };
                tokens.push(sign.1);
                if sign.1 == '.' {
                    return tokens;
                }
                sign.0.len()
            }
        };
        rest = &rest[n_bytes..];
    }
}

fn accepted(n_tokens: usize) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("out");
    let status = std::process::Command::new(find_colt().expect("colt is built"))
        .current_dir(project_root())
        .args(["run", "bench/lazy/pl0.c", "--with", "lazy", "--no-replay", "--quiet", "--workers", "1"])
        .args(["--tests", "files"])
        .arg("--cflags")
        .arg(format!("-DTOKENS={n_tokens}"))
        .arg("--out")
        .arg(&out)
        .status()
        .expect("colt runs");
    assert_eq!(status.code(), Some(0), "complete and without findings");
    let mut accepted = Vec::new();
    for entry in std::fs::read_dir(out.join("tests")).expect("tests were written") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a test");
        let test: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        if test["ending"] == "returned" && test["status"] == 0 {
            let hex = test["inputs"][0]["bytes"].as_str().expect("bytes");
            let bytes: Vec<u8> = (0..hex.len() / 2)
                .map(|idx| u8::from_str_radix(&hex[2 * idx..2 * idx + 2], 16).expect("hex"))
                .collect();
            accepted.push(tokens(&bytes));
        }
    }
    accepted
}

#[test]
fn all_valid_programs_are_generated() {
    let n_tokens = std::env::var("PL0_TOKENS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut grammar = Grammar::default();
    let by_length: Vec<Programs> = (1..=n_tokens).map(|n| grammar.of("program", n)).collect();
    let all: Programs = by_length.iter().flatten().cloned().collect();
    let accepted = accepted(n_tokens);
    let distinct: Programs = accepted.iter().cloned().collect();
    let counts: Vec<usize> = by_length.iter().map(Programs::len).collect();
    println!(
        "programs by number of tokens: {counts:?}; {} generated, {} of them distinct",
        accepted.len(),
        distinct.len()
    );
    assert_eq!(distinct, all);
    assert_eq!(accepted.len(), all.len(), "each is generated once");
}
