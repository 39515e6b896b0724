//! Start conditions of lex and modes of ANTLR: which token may stand where, and tokens that are scanned in several steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use grammar::read::{Files, grammar};
use grammar::{BeginningId, Beginnings, Between, Grammar, Kind, Whole};

fn of_files(files: &[(&str, &str)]) -> Grammar {
    let dir = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    grammar(&Files { grammar: files.iter().map(write).collect(), tokens: None }).unwrap()
}

/// All texts of up to so many tokens, as the names of their tokens.
fn texts(grammar: Grammar, max: u32) -> BTreeSet<String> {
    let grammar = Arc::new(grammar);
    let mut tree = Beginnings::new(Arc::clone(&grammar), 0);
    let mut texts = BTreeSet::new();
    let mut open = vec![(BeginningId::EMPTY, Vec::new())];
    while let Some((at, tokens)) = open.pop() {
        let (next, whole) = tree.next(at);
        if whole == Whole::Yes {
            texts.insert(tokens.join(" "));
        }
        for step in next.iter().filter(|step| tokens.len() as u32 + step.least <= max) {
            let mut longer = tokens.clone();
            longer.push(grammar.token(step.token).name.clone());
            open.push((tree.advance(at, step.token), longer));
        }
    }
    texts
}

fn losses(grammar: &Grammar) -> Vec<String> {
    grammar.losses().map(|note| note.text.clone()).collect()
}

const RULES: &str = "text = { STRING | WORD } ;";

fn scanner(rules: &str) -> Grammar {
    of_files(&[("g.txt", RULES), ("g.l", &format!("%x TEXT NOTE\n%%\n[a-z]+ return WORD;\n[ ]+ ;\n{rules}\n"))])
}

#[test]
fn a_string_in_a_start_condition_of_its_own_is_one_token() {
    for rules in [
        "\\\" BEGIN(TEXT);\n<TEXT>\\\\. ;\n<TEXT>[^\"\\\\\\n]+ add(yytext);\n<TEXT>\\\" { BEGIN(INITIAL); return STRING; }",
        "\\\" { yymore(); BEGIN(TEXT); }\n<TEXT>\\\\. yymore();\n<TEXT>[^\"\\\\\\n] yymore();\n<TEXT>\\\" { BEGIN 0; return STRING; }",
        "\\\" yy_push_state(TEXT);\n<TEXT>{\n  \\\" { yy_pop_state(); return STRING; }\n  \\\\. |\n  [^\\\\\\n] ;\n  \\n exit(1);\n}",
    ] {
        let grammar = scanner(rules);
        assert!(losses(&grammar).is_empty(), "{:?}", grammar.notes);
        let string = grammar.tokens.iter().find(|token| token.name == "STRING").unwrap();
        for (text, is_one) in [
            ("\"\"", true),
            ("\"a b\"", true),
            ("\"\\\"\"", true),
            ("\"\n\"", false),
            ("\"a\"b\"", false),
            ("\"", false),
        ] {
            assert_eq!(string.language.accepts(text.as_bytes()), is_one, "{text} by {rules}");
        }
    }
}

/// What the scanner might see otherwise is not written, and that is said.
#[test]
fn a_string_that_may_end_elsewhere_is_left_out() {
    let swallowed = "\\\" BEGIN(TEXT);\n<TEXT>a\\\" ;\n<TEXT>[a-z] ;\n<TEXT>\\\" { BEGIN(INITIAL); return STRING; }";
    assert!(losses(&scanner(swallowed)).iter().any(|text| text.contains("not all that begins there")));
    let other_opening =
        "\\\"\\\"\\\" return WORD;\n\\\" BEGIN(TEXT);\n<TEXT>[a-z] ;\n<TEXT>\\\" { BEGIN(INITIAL); return STRING; }";
    assert!(losses(&scanner(other_opening)).iter().any(|text| text.contains("what begins there")));
    let under_condition = "\\\" if (n) BEGIN(TEXT);\n<TEXT>\\\" { BEGIN(INITIAL); return STRING; }";
    assert!(!losses(&scanner(under_condition)).is_empty());
    let nowhere = "<TEXT>\\\" { BEGIN(INITIAL); return STRING; }";
    assert!(losses(&scanner(nowhere)).iter().any(|text| text.contains("no text comes to")));
    let comment = "# BEGIN(NOTE);\n<NOTE>[^\\n]+ ;\n<NOTE>\\n BEGIN(INITIAL);\n[A-Z] return STRING;";
    assert!(losses(&scanner(comment)).is_empty());
}

/// A token that begins a start condition, and those that stand in it only.
/// To begin the start condition that holds already is to stay in it.
#[test]
fn a_token_that_begins_where_it_stands() {
    let lex = "%s A\n%%\nx BEGIN(INITIAL); return T;\ny return T;\nz BEGIN(A); return Z;\n";
    let grammar = of_files(&[("s.l", lex), ("s.txt", "s = { T } Z { T } ;")]);
    let texts = |mode: &str| {
        let is_it = |token: &&grammar::Token| token.name == "T" && grammar.scanner.modes[token.mode.0 as usize] == mode;
        let token = grammar.tokens.iter().find(is_it).unwrap();
        ["x", "y"].map(|text| token.language.accepts(text.as_bytes()))
    };
    assert_eq!(texts("INITIAL"), [true, true]);
    // Here one goes and one stays.
    assert_eq!(texts("A"), [true, false]);
    assert_eq!(losses(&grammar).len(), 1, "{:?}", grammar.notes);
}

#[test]
fn tokens_of_a_start_condition_stand_there_only() {
    let lex = "%x ARGS\n%s LOUD\n%%\n[a-z]+ { BEGIN(ARGS); return NAME; }\n\"!\" { BEGIN(LOUD); return BANG; }\n\
        <LOUD>[A-Z]+ { BEGIN(INITIAL); return CRY; }\n<ARGS>[0-9]+ return NUM;\n<ARGS>, return ',';\n<ARGS>\\n { BEGIN(INITIAL); return NL; }\n";
    let rules = "text = { word } ; word = NAME | NUM | NL | BANG | CRY | \",\" ;";
    let grammar = of_files(&[("g.txt", rules), ("g.l", lex)]);
    assert!(losses(&grammar).is_empty(), "{:?}", grammar.notes);
    let wanted = ["", "NAME", "NAME NUM", "NAME NL", "NAME \",\"", "BANG", "BANG NAME", "BANG BANG", "BANG CRY"];
    let literal: BTreeSet<String> = wanted.iter().map(|text| text.to_string()).collect();
    assert_eq!(texts(grammar, 2), literal);
}

#[test]
fn modes_of_antlr_are_followed() {
    let lexer = "lexer grammar L;\nOPEN : '<' -> pushMode(TAG) ;\nTEXT : ~[<&]+ ;\nmode TAG;\nCLOSE : '>' -> popMode ;\n\
        SLASH_CLOSE : '/>' -> type(CLOSE), popMode ;\nSLASH : '/' ;\nNAME : [a-z]+ ;\nS : [ \\t]+ -> skip ;\n\
        QUOTE : '\"' -> more, pushMode(VALUE) ;\nmode VALUE;\nSTRING : '\"' -> popMode ;\nCHAR : ~'\"' -> more ;\n";
    let parser = "parser grammar P;\noptions { tokenVocab = L; }\ndoc : (TEXT | tag)* EOF ;\n\
        tag : '<' NAME STRING? '>' | '<' SLASH NAME CLOSE ;\n";
    let grammar = of_files(&[("P.g4", parser), ("L.g4", lexer)]);
    assert!(losses(&grammar).is_empty(), "{:?}", grammar.notes);
    let string = grammar.tokens.iter().find(|token| token.name == "STRING").unwrap();
    assert!(string.language.accepts(b"\"a<b\"") && !string.language.accepts(b"\"\"\""));
    let close = grammar.tokens.iter().find(|token| token.name == "CLOSE").unwrap();
    assert!(matches!(close.kind, Kind::Finite { longest: 2 }));
    let found = texts(grammar, 4);
    let wanted = ["OPEN NAME CLOSE", "OPEN SLASH NAME CLOSE", "OPEN NAME STRING CLOSE", "TEXT OPEN NAME CLOSE"];
    assert!(wanted.iter().all(|text| found.contains(*text)), "{found:?}");
}

/// In a grammar that ignores case its texts do, and nothing else is taken for a letter.
#[test]
fn a_grammar_of_antlr_that_ignores_case() {
    let grammar = of_files(&[(
        "q.g4",
        "grammar q;\noptions { caseInsensitive = true; }\nq : SELECT 'from' ID ;\nSELECT : 'SELECT' ;\nID : [a-z]+ ;\nWS : ' ' -> skip ;\n",
    )]);
    let of = |name: &str| grammar.tokens.iter().find(|token| token.name == name).unwrap();
    assert!(of("SELECT").language.accepts(b"sElEcT") && !of("SELECT").language.accepts("\u{17f}elect".as_bytes()));
    assert!(of("\"from\"").language.accepts(b"FROM"));
    assert!(of("ID").language.accepts(b"X") && !of("ID").language.accepts(b"From"));
}

/// A text in a rule is the token whose only text it is.
#[test]
fn a_text_in_a_rule_of_antlr_may_be_a_token_with_a_name() {
    let grammar = of_files(&[(
        "g.g4",
        "grammar g;\na : '(' B RPAREN | LPAREN ')' ;\nLPAREN : '(' ;\nRPAREN : ')' ;\nB : 'b' ;\n",
    )]);
    assert!(grammar.notes.is_empty(), "{:?}", grammar.notes);
    let wanted: BTreeSet<String> = ["LPAREN B RPAREN", "LPAREN RPAREN"].map(str::to_string).into();
    assert_eq!(texts(grammar, 3), wanted);
}

/// Anchors count where a definition stands for the whole pattern.
#[test]
fn anchors_of_definitions_are_anchors() {
    let lex = "note (#).*$\nopen ^[ ]*@\n%%\n{note} ;\n{open} return AT;\n[a-z] return WORD;\n[$^] return SIGN;\n";
    let grammar = of_files(&[("g.txt", "a = WORD | SIGN | AT ;"), ("g.l", lex)]);
    let said: Vec<String> = grammar.notes.iter().map(|note| note.text.clone()).collect();
    assert!(
        said.iter().any(|text| text.contains("{note}")) && said.iter().any(|text| text.contains("{open}")),
        "{said:?}"
    );
    assert_eq!(losses(&grammar).len(), 2, "{said:?}");
    assert_eq!(texts(grammar, 1), ["SIGN", "WORD"].map(str::to_string).into());
}

/// Two words are one where nothing keeps them apart. All that flex goes on behind does.
#[test]
fn what_flex_goes_on_behind() {
    let between = |lex: &str| {
        let grammar = of_files(&[("g.txt", "text = WORD WORD | WORD ;"), ("g.l", lex)]);
        let word = grammar.tokens.iter().find(|token| token.name == "WORD").unwrap();
        grammar.scanner.between(Some(word), word)
    };
    for (definitions, rules, wanted) in [
        ("", "", Between::Unknown),
        ("%option nodefault", "", Between::Never),
        ("%option noyywrap nodefault case-insensitive", "", Between::Never),
        ("", ". return 257;", Between::Unknown),
        ("", ".|\\n return 257;", Between::Never),
        ("", ".|\\n return *yytext;", Between::Never),
        ("", ".|\\n yyterminate();", Between::Never),
        ("", ".|\\n yyerror(\"bad\");", Between::Unknown),
        ("", "# while (input() != '#') ;\n.|\\n return 257;", Between::Unknown),
        ("%x NOTE", "# BEGIN(NOTE);\n<NOTE># BEGIN(INITIAL);\n<*>.|\\n return 257;", Between::Unknown),
        ("", "[ ]/a ;\n.|\\n return 257;", Between::Unknown),
        ("", "[ ]+ ;\n.|\\n return 257;", Between::Is(b" ".to_vec())),
    ] {
        assert_eq!(
            between(&format!("{definitions}\n%%\n[a-z]+ return WORD;\n{rules}\n")),
            wanted,
            "{definitions} {rules}"
        );
    }
}

#[test]
fn macros_of_the_file_are_seen_through() {
    let lex = "%{\n#define TOK(t) do { n++; return (t); } while (0)\n#define CHAR return yytext[0]\n%}\n%%\n\
        [0-9]+ { n = 1; TOK(NUM); }\n[a-z]+ %{\n  return WORD;\n%}\n[+] CHAR;\n\" \" ;\n. OTHER(1);\n";
    let grammar = of_files(&[("g.txt", "a = NUM | WORD \"+\" ;"), ("g.l", lex)]);
    let wanted: BTreeSet<String> = ["NUM", "WORD \"+\""].map(str::to_string).into();
    let said = losses(&grammar);
    assert!(said.len() == 1 && said[0].contains("`OTHER`"), "{said:?}");
    assert_eq!(texts(grammar, 2), wanted);
}

/// What stands around rules of parsers that people generate: handlers, labels, options of a rule.
#[test]
fn what_stands_around_rules_of_antlr() {
    let grammar = of_files(&[(
        "g.g4",
        "grammar g;\na returns [int v] locals [int n] @init { n = 0; } : B rest # one | left=c+ # other ;\n\
         catch [RecognitionException e] { throw e; }\nfinally { done(); }\nrest : <assoc=right> c ;\n\
         c : C ;\ncatching : C ;\nB options { caseInsensitive = true; } : 'b' ;\nC : 'c' ;\n",
    )]);
    assert!(losses(&grammar).is_empty(), "{:?}", grammar.notes);
    let b = grammar.tokens.iter().find(|token| token.name == "B").unwrap();
    assert!(b.language.accepts(b"b") && b.language.accepts(b"B"));
    let c = grammar.tokens.iter().find(|token| token.name == "C").unwrap();
    assert!(!c.language.accepts(b"C"));
    let wanted: BTreeSet<String> = ["B C", "C", "C C"].map(str::to_string).into();
    assert_eq!(texts(grammar, 2), wanted);
}

/// A comment may have comments in it, and end where the text does: tokens lose nothing by that, but a string would.
#[test]
fn tokens_of_antlr_that_have_themselves_within() {
    let of = |rules: &str| of_files(&[("g.g4", &format!("grammar g;\na : B* ;\nB : 'b' ;\n{rules}\n") as &str)]);
    let comment = of(
        "NOTE : '/*' ( NOTE | . )*? '*/' -> skip ;\nLINE : '//' BODY ('\\n' | EOF) -> channel(HIDDEN) ;\nfragment BODY : .*? ;",
    );
    assert!(losses(&comment).is_empty() && comment.notes.len() == 2, "{:?}", comment.notes);
    let grammar = of_files(&[(
        "g.g4",
        "grammar g;\na : S L ;\nS : '(' (S | [a-z])* ')' ;\nL : BODY ('\\n' | EOF) ;\nfragment BODY : '#' .*? ;\n",
    )]);
    assert_eq!(losses(&grammar).len(), 2, "{:?}", grammar.notes);
    let of = |name: &str| &grammar.tokens.iter().find(|token| token.name == name).unwrap().language;
    assert!(of("S").accepts(b"(ab)") && !of("S").accepts(b"((a)"));
    assert!(of("L").accepts(b"#a\n") && !of("L").accepts(b"#a\n\n"), "what a fragment repeats stops early, too");
}

/// A token that no rule has is in no text, so what leads to it is no loss; and it is not worth a word.
#[test]
fn tokens_that_no_rule_has() {
    let rules = "\\\" BEGIN(TEXT);\n<TEXT>\\\" { BEGIN(INITIAL); return STRING; }\n<TEXT>[a-z]+ ;\n<TEXT>.|\\n return BAD;\n. return *yytext;";
    let grammar = scanner(rules);
    assert!(grammar.notes.is_empty(), "{:?}", grammar.notes);
    let used = of_files(&[
        ("g.txt", "text = { STRING | WORD | BAD } ;"),
        ("g.l", &format!("%x TEXT NOTE\n%%\n[a-z]+ return WORD;\n[ ]+ ;\n{rules}\n")),
    ]);
    assert_eq!(losses(&used).len(), 1, "{:?}", used.notes);
}
