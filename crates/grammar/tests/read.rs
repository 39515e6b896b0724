//! Grammars in each form: what is understood, what is counted, what is said about mistakes.

use std::path::{Path, PathBuf};

use grammar::read::{Files, grammar};
use grammar::{Error, Grammar, Kind, Measure, count};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn of_files(names: &[&str]) -> Grammar {
    grammar(&Files { grammar: names.iter().map(|name| data(name)).collect(), tokens: None }).unwrap()
}

fn of_text(name: &str, text: &str) -> Result<Grammar, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    grammar(&Files { grammar: vec![path], tokens: None })
}

fn counts(grammar: &Grammar, measure: Measure, largest: usize) -> Vec<u64> {
    count(grammar, measure, largest).iter().map(|n| n.to_string().parse().unwrap()).collect()
}

fn kind(grammar: &Grammar, name: &str) -> Kind {
    grammar.tokens.iter().find(|token| token.name == name).unwrap_or_else(|| panic!("no token {name}")).kind.clone()
}

fn has_bison() -> bool {
    std::process::Command::new("bison").arg("--version").output().is_ok()
}

/// The numbers of the paper's section 3.1 for its calculator: 62, 62, 27,032 and 80,910 texts of 1 to 4 bytes.
#[test]
fn the_calculator_has_as_many_texts_as_published() {
    if !has_bison() {
        return;
    }
    let calc = of_files(&["calc.y", "calc.l"]);
    assert_eq!(counts(&calc, Measure::Bytes, 4), [0, 62, 62, 27_032, 80_910]);
    // With letters and numbers told apart; the paper counts both as one kind of hole.
    assert_eq!(counts(&calc, Measure::Symbols, 3), [0, 2, 2, 7 * 4 + 2 + 2]);
    assert_eq!(kind(&calc, "NUMBER"), Kind::Finite { longest: 1 });
    assert_eq!(kind(&calc, "\"+\""), Kind::One(b"+".to_vec()));
    assert_eq!(calc.scanner.blank.as_deref(), Some(&b" "[..]));
}

/// One kind of hole, as in table 3.1: 1, 2, 11, 35, 201 and 652 symbolic strings of up to 1 to 6 bytes.
#[test]
fn symbolic_strings_are_counted_as_published() {
    let calc = of_text(
        "calc.txt",
        r#"e = "(" e ")" | e "*" e | e "/" e | e "%" e | e "+" e | e "-" e | e "|" e | e "&" e | "-" e | A ;
           A = /[a-zA-Z0-9]/ ;"#,
    )
    .unwrap();
    let own = counts(&calc, Measure::Symbols, 6);
    let up_to: Vec<u64> = own
        .iter()
        .scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        })
        .collect();
    assert_eq!(up_to[1..5], [1, 2, 11, 35]);
}

#[test]
fn an_antlr_grammar_is_understood() {
    let json = of_files(&["json.g4"]);
    let string = json.tokens.iter().find(|token| token.name == "STRING").unwrap();
    assert!(
        string.language.accepts(br#""a\n\u00e4""#)
            && !string.language.accepts(b"\"\n\"")
            && !string.language.accepts(b"\"\"\"")
    );
    assert!(string.language.accepts("\"ä\"".as_bytes()));
    assert_eq!(kind(&json, "NUMBER"), Kind::Infinite);
    assert_eq!(kind(&json, "\"true\""), Kind::One(b"true".to_vec()));
    assert_eq!(json.variables[json.start.idx()], "json");
    let comment = &json.scanner.patterns.iter().find(|pattern| pattern.language.accepts(b"/**/")).unwrap().language;
    assert!(!comment.accepts(b"/* */ */"));
    // {} [] and the five kinds of plain values; NUMBER and STRING grow.
    assert_eq!(counts(&json, Measure::Symbols, 2), [0, 5, 2 + 2]);
}

#[test]
fn size_sixty_is_counted_at_once() {
    let json = of_files(&["json.g4"]);
    let started = std::time::Instant::now();
    assert!(count(&json, Measure::Symbols, 60)[60].bits() > 64);
    assert!(started.elapsed().as_secs() < 5);
}

/// As many symbolic strings as a language people use has, by counting alone.
#[test]
fn size_sixty_of_c_is_counted_at_once() {
    let started = std::time::Instant::now();
    let c = of_files(&["c.txt"]);
    assert!(c.notes.is_empty(), "{:?}", c.notes);
    let counts = count(&c, Measure::Symbols, 60);
    // The smallest program is an assertion. Then come one of 23 words, or a short name of a type, and a semicolon, or two assertions.
    assert_eq!(counts[..3].iter().map(|n| n.to_string()).collect::<Vec<_>>(), ["0", "1", "25"]);
    assert!(counts[60].bits() > 200, "{}", counts[60]);
    // Optimised and alone it takes a tenth of this.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn rules_that_only_name_each_other_count_once() {
    let grammar = of_text("g.txt", "a = b | \"x\" ; b = a | \"y\" | b ; ").unwrap();
    assert_eq!(counts(&grammar, Measure::Symbols, 2), [0, 2, 0]);
    let left = of_text("g.txt", "a = a \"x\" | ; ").unwrap();
    assert_eq!(counts(&left, Measure::Symbols, 3), [1, 1, 1, 1]);
    let empty = of_text("g.txt", "a = b b ; b = | \"x\" ; ").unwrap();
    assert_eq!(counts(&empty, Measure::Symbols, 2), [1, 2, 1]);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let said = |name: &str, text: &str| of_text(name, text).unwrap_err().to_string();
    assert!(said("g.txt", "a = a \"x\" ;").contains("no text can be made of `a`"));
    assert!(said("g.txt", "a = A ;\nA = /[a-/ ;").contains("g.txt:2: the regular expression of `A` is wrong"));
    assert!(said("g.txt", "a = B ;").contains("`B` has neither a rule nor a pattern"));
    assert!(said("g.txt", "").contains("there is no rule"));
    assert!(said("g.txt", "a \"x\" ;").contains("g.txt:1: `=` is missing behind `a`"));
    assert!(said("g.l", "%%\n[a-z  return X;\n").contains("g.l:2: a ] is missing"));
    let large = ["/[a-z]{100000}/", "/[a-z]{1000}{1000}/", "/(a|b)*a(a|b){22}/"];
    assert!(large.iter().all(|regex| said("g.txt", &format!("a = A ;\nA = {regex} ;")).contains("g.txt:2: ")));
    assert!(
        large
            .iter()
            .all(|regex| said("g.txt", &format!("a = A ;\nA = {regex} ;")).contains("fewer or smaller repetitions"))
    );
    assert!(said("g.l", "no rules here").contains("there is no `%%`"));
    assert!(said("g.g4", "grammar G;\na : 'x' \n").contains("a `;` is missing at the end of `a`"));
    if has_bison() {
        assert!(said("g.y", "%%\na: 'x' | ; ;; b\n").contains("bison does not accept it"));
    }
}

/// A word that stands for a token may describe it only.
#[test]
fn names_in_quotes_are_no_scanner() {
    if !has_bison() {
        return;
    }
    let text = "%token NUM \"number\" LE \"<=\"\n%%\ns: \"number\" \"<=\" NUM;\n";
    let alone = of_text("g.y", text).unwrap();
    let losses: Vec<(Option<usize>, &str)> = alone.losses().map(|note| (note.line, note.text.as_str())).collect();
    assert!(
        matches!(losses[..], [(Some(1), said)] if said.contains("`NUM` is taken to be written \"number\"")),
        "{losses:?}"
    );
    let dir = tempfile::tempdir().unwrap();
    let (file, tokens) = (dir.path().join("g.y"), dir.path().join("g.tokens"));
    std::fs::write(&file, text).unwrap();
    std::fs::write(&tokens, "NUM = /[0-9]+/ ;").unwrap();
    let said = grammar(&Files { grammar: vec![file], tokens: Some(tokens) }).unwrap();
    assert_eq!(said.losses().count(), 0, "{:?}", said.notes);
    assert_eq!(kind(&said, "NUM"), Kind::Infinite);
}

/// Rules that lead nowhere, name only themselves or stand for nothing.
#[test]
fn rules_without_use_are_left_out() {
    if !has_bison() {
        return;
    }
    let said = |rules: &str| of_text("g.y", &format!("%token T U\n%%\n{rules}\n")).map_err(|why| why.to_string());
    assert!(said("a: a;").unwrap_err().contains("bison does not accept it"));
    assert!(said("a: a | a 'x';").unwrap_err().contains("bison does not accept it"));
    let itself = said("a: a | 'x';").unwrap();
    assert_eq!(counts(&itself, Measure::Symbols, 2), [0, 1, 0]);
    let empty = said("a: b b ; b: %empty ;").unwrap();
    assert_eq!(counts(&empty, Measure::Symbols, 2), [1, 0, 0]);
    let left = said("a: %empty | a b 'x' ; b: %empty | b 'y' ;").unwrap();
    assert_eq!(counts(&left, Measure::Symbols, 4), [1, 1, 2, 4, 8]);
    let useless = said("a: 'x' | b 'y' ; b: b 'z' ; c: 'x' ;").unwrap();
    assert_eq!((useless.rules.len(), counts(&useless, Measure::Symbols, 2)), (1, vec![0, 1, 0]));
    // Texts with a token of which nothing says what it looks like are missing, and that is said.
    let unknown = said("a: 'x' | T ;").unwrap();
    assert!(unknown.losses().any(|note| note.text.contains("`T`") && note.text.contains("--grammar-tokens")));
    assert!(said("a: T ;").unwrap_err().contains("no text can be made of `a`"));
}

/// A file may name what bison writes; nobody asked for that.
#[test]
fn nothing_is_left_where_colt_was_called() {
    if !has_bison() {
        return;
    }
    of_text("g.y", "%defines \"left-behind.h\"\n%output \"left-behind.c\"\n%%\na: 'x' ;\n").unwrap();
    assert!(!Path::new("left-behind.h").exists() && !Path::new("left-behind.c").exists());
}

/// What bison refuses although the rules derive it: by `%nonassoc`, and by a conflict that it solves.
#[test]
fn what_the_parser_refuses_is_no_text() {
    if !has_bison() {
        return;
    }
    let texts = |declarations: &str, rules: &str, largest: u32| -> Vec<String> {
        let grammar = std::sync::Arc::new(of_text("g.y", &format!("{declarations}\n%%\n{rules}\n")).unwrap());
        let mut tree = grammar::Beginnings::new(grammar.clone(), 0);
        let (mut texts, mut open) = (Vec::new(), vec![(grammar::BeginningId::EMPTY, String::new())]);
        while let Some((at, text)) = open.pop() {
            let (next, whole) = tree.next(at);
            if whole == grammar::Whole::Yes {
                texts.push(text.clone());
            }
            for step in next.iter().filter(|step| text.len() as u32 + step.least <= largest) {
                let letter = grammar.token(step.token).name.trim_matches('"').to_string();
                open.push((tree.advance(at, step.token), format!("{text}{letter}")));
            }
        }
        texts.sort();
        texts
    };
    assert_eq!(texts("%nonassoc '<'", "e: e '<' e | 'a' ;", 5), ["a", "a<a"]);
    assert_eq!(texts("%left '<'", "e: e '<' e | 'a' ;", 5), ["a", "a<a", "a<a<a"]);
    assert_eq!(texts("", "s: o 'x' ; o: %empty | 'x' ;", 5), ["xx"]);
    assert_eq!(texts("%glr-parser", "s: o 'x' ; o: %empty | 'x' ;", 5), ["x", "xx"]);
}

#[test]
fn actions_that_may_return_nothing_are_not_relied_on() {
    let dir = tempfile::tempdir().unwrap();
    let (lex, plain) = (dir.path().join("g.l"), dir.path().join("g.txt"));
    std::fs::write(&plain, "a = NUM | WORD ;").unwrap();
    let with = |rules: &str| {
        std::fs::write(&lex, format!("%x NOTE\n%%\n{rules}\n")).unwrap();
        grammar(&Files { grammar: vec![plain.clone(), lex.clone()], tokens: None }).unwrap()
    };
    let certain = with("[0-9]+ { if (n) { n--; } return NUM; }\n[a-z]+ return WORD;");
    assert_eq!(certain.losses().count(), 0);
    let doubtful = with("[0-9]+ return NUM;\n[a-z]+ { if (yyleng > 1) return WORD; }");
    assert!(doubtful.losses().any(|note| note.text.contains("only under a condition")), "{:?}", doubtful.notes);
    // A comment in a start condition of its own takes no texts away, a string does.
    let rules = "[0-9]+ return NUM;\n[a-z]+ return WORD;\n# BEGIN(NOTE);\n<NOTE>\\n BEGIN(INITIAL);\n<NOTE>.";
    assert_eq!(with(&format!("{rules} ;")).losses().count(), 0);
    assert_eq!(with(&format!("{rules} return WORD;")).losses().count(), 1);
}

#[test]
fn noise_is_refused_quickly() {
    let mut noise = String::new();
    let mut seed = 1u64;
    for _ in 0..1_000_000 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        noise.push((32 + (seed >> 33) % 95) as u8 as char);
    }
    for name in ["g.txt", "g.g4", "g.l", "g.y"] {
        assert!(of_text(name, &noise).is_err(), "{name}");
    }
}

#[test]
fn a_hole_that_earlier_patterns_take_whole_is_left_out() {
    let grammar = of_text("g.txt", "a = A | B ; A = /[a-z]+/ ; B = /x|y/ ;").unwrap();
    assert!(grammar.notes.iter().any(|note| note.text.contains("token B has no text of its own")));
    assert_eq!(grammar.rules.len(), 1);
}

#[test]
fn start_conditions_and_doubtful_actions_are_listed() {
    let scanner = "%x COMMENT\n%%\n\"/*\" BEGIN(COMMENT);\n<COMMENT>{\n  \"*/\" BEGIN(INITIAL);\n  . ;\n}\n[a-z]+ return kind(yytext);\n[0-9]+ |\n0x[0-9a-f]+ return NUM;\n";
    let dir = tempfile::tempdir().unwrap();
    let (lex, plain) = (dir.path().join("g.l"), dir.path().join("g.txt"));
    std::fs::write(&lex, scanner).unwrap();
    std::fs::write(&plain, "a = NUM NAME? ;").unwrap();
    let grammar = grammar(&Files { grammar: vec![plain, lex], tokens: None }).unwrap();
    let notes: Vec<String> = grammar.notes.iter().map(|note| note.text.clone()).collect();
    assert!(notes.iter().any(|note| note.contains("what begins there")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("return kind(yytext)")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("`NAME` has neither")), "{notes:?}");
    let number = grammar.tokens.iter().find(|token| token.name == "NUM").unwrap();
    assert!(number.language.accepts(b"12") && number.language.accepts(b"0xff"));
}
