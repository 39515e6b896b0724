//! `grammar` against real scanners and parsers: flex and bison build a program of a `.l` and a `.y`, and every text over a small alphabet
//! is put through it natively. What the program accepts of these has to be what Colt writes from the same two files.
//!
//! A text counts by its trace: its tokens, the length of each, and whether it begins with two equal bytes. So blanks between
//! tokens make no difference, and a hole that holds too little or too much does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testkit::command::{read_json, run_colt, run_limited};
use testkit::runner::clang;

const LIMIT: Duration = Duration::from_secs(120);

/// What is expected of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// All texts are written, and the ledger is empty.
    All,
    /// Some texts of the language are not written, and the ledger says so.
    Fewer,
}

struct Case {
    name: &'static str,
    /// Declarations and rules; `%%` and what a program needs are added.
    declarations: &'static str,
    rules: &'static str,
    /// Definitions and rules of the scanner, the same.
    definitions: &'static str,
    patterns: &'static str,
    /// Bytes that stand for all there are.
    alphabet: &'static [u8],
    len: usize,
    promise: Promise,
}

/// Most cases differ from this in a few fields.
const SIMPLE: Case = Case {
    name: "",
    declarations: "",
    rules: "",
    definitions: "",
    patterns: "",
    alphabet: b"",
    len: 4,
    promise: Promise::All,
};

const CASES: &[Case] = &[
    Case {
        name: "comparisons that do not associate",
        declarations: "%token N\n%nonassoc '<' '='\n%left '+'",
        rules: "e: e '<' e | e '=' e | e '+' e | N ;",
        patterns: "[0-9] return N;\n[<=+] return *yytext;\n. return 257;",
        alphabet: b"19<=+",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "a conflict that bison solves by refusing texts",
        rules: "s: o 'x' | s ',' o 'x' ;\no: %empty | 'x' ;",
        patterns: "[x,] return *yytext;\n. return 257;",
        alphabet: b"x,y",
        len: 6,
        ..SIMPLE
    },
    Case {
        name: "an end with a name of its own",
        declarations: "%token N\n%token END 0 \"end of file\"",
        rules: "s: N | s ',' N ;",
        patterns: "[0-9] return N;\n, return *yytext;\n<<EOF>> return END;\n. return 257;",
        alphabet: b"1,",
        ..SIMPLE
    },
    Case {
        name: "an end that is a token of the rules",
        declarations: "%token N STOP",
        rules: "s: t STOP { YYACCEPT; } ;\nt: N | t ',' N ;",
        patterns: "[0-9] return N;\n, return *yytext;\n<<EOF>> return STOP;\n. return 257;",
        alphabet: b"1,",
        ..SIMPLE
    },
    Case {
        name: "an end that the rules name",
        declarations: "%token N\n%token END 0 \"end of file\"",
        rules: "s: t END ;\nt: N | t ',' N ;",
        patterns: "[0-9] return N;\n, return *yytext;\n. return 257;",
        alphabet: b"1,",
        ..SIMPLE
    },
    Case {
        name: "an end that stands for a token which is written otherwise, too",
        declarations: "%token N LINE",
        rules: "s: N LINE { YYACCEPT; } ;",
        patterns: "[0-9] return N;\n; return LINE;\n<<EOF>> return LINE;\n. return 257;",
        alphabet: b"1;",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "an else that belongs to the nearest if",
        declarations: "%token I E",
        rules: "s: I s | I s E s | ';' ;",
        patterns: "i return I;\ne return E;\n; return ';';\n. return 257;",
        alphabet: b"ie;",
        len: 6,
        ..SIMPLE
    },
    Case {
        name: "two rules for the same texts",
        declarations: "%token N",
        rules: "s: a '.' | b '!' | a '!' ',' ;\na: N ;\nb: N ;",
        patterns: "[0-9]+ return N;\n[.!,] return *yytext;\n. return 257;",
        alphabet: b"19.!,",
        ..SIMPLE
    },
    Case {
        name: "recursion on both sides, and rules that may be empty",
        declarations: "%token N",
        rules: "s: %empty | s l ';' ;\nl: %empty | N l | '(' o o ')' ;\no: %empty | N | s ;",
        patterns: "[0-9] return N;\n[;()] return *yytext;\n. return 257;",
        alphabet: b"15;()",
        ..SIMPLE
    },
    Case {
        name: "actions in the middle of a rule",
        declarations: "%token N",
        rules: "s: { } N t | '-' { } N ;\nt: %empty | ',' { if (0) YYERROR; } s ;",
        patterns: "[0-9]+ return N;\n[-,] return *yytext;\n. return 257;",
        alphabet: b"19-,",
        ..SIMPLE
    },
    Case {
        name: "mistakes that the parser recovers from",
        declarations: "%token N",
        rules: "s: l | s l ;\nl: N ';' | error ';' ;",
        patterns: "[0-9]+ return N;\n; return *yytext;\n. return 257;",
        alphabet: b"19;x",
        ..SIMPLE
    },
    Case {
        name: "keywords are no names",
        declarations: "%token IF NAME",
        rules: "s: IF s | NAME | NAME s ;",
        patterns: "if return IF;\n[a-z]+ return NAME;\n[ ]+ ;\n. return 257;",
        alphabet: b"ifg ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "a keyword behind the pattern that takes it",
        declarations: "%token IF NAME",
        rules: "s: IF NAME | NAME ;",
        patterns: "[a-z]+ return NAME;\nif return IF;\n[ ]+ ;\n. return 257;",
        alphabet: b"ifg ",
        ..SIMPLE
    },
    Case {
        name: "the longest match wins",
        declarations: "%token INC ADD",
        rules: "s: p | s p ;\np: '+' | '=' | INC | ADD ;",
        patterns: "\"++\" return INC;\n\"+=\" return ADD;\n[+=] return *yytext;\n[ ] ;\n. return 257;",
        alphabet: b"+= ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "three in a row are another token",
        declarations: "%token DOTS",
        rules: "s: p | s p ;\np: '.' | DOTS | 'a' ;",
        patterns: "\"...\" return DOTS;\n[.a] return *yytext;\n. return 257;",
        alphabet: b".a",
        len: 5,
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "numbers that overlap",
        declarations: "%token INT REAL",
        rules: "s: v | s ',' v ;\nv: INT | REAL | INT '.' '.' INT ;",
        patterns: "[0-9]+ return INT;\n[0-9]+\".\"[0-9]* return REAL;\n\".\"[0-9]+ return REAL;\n[.,] return *yytext;\n[ ]+ ;\n. return 257;",
        alphabet: b"17., ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "lines matter and blanks do not",
        declarations: "%token NAME",
        rules: "s: l | s '\\n' l ;\nl: %empty | l NAME ;",
        patterns: "[a-z]+ return NAME;\n\\n return '\\n';\n[ \\t]+ ;\n. return 257;",
        alphabet: b"ab\n ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "names with blanks in them",
        declarations: "%token NAME",
        rules: "s: NAME | s ',' NAME | s NAME ';' ;",
        patterns: "[a-z][a-z ]* return NAME;\n[,;] return *yytext;\n\" \" ;\n. return 257;",
        alphabet: b"ab ,;",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "only a comment separates",
        declarations: "%token NAME",
        rules: "s: NAME | s NAME ;",
        patterns: "[a-z]+ return NAME;\n\"#\"[^#]*\"#\" ;\n. return 257;",
        alphabet: b"ab#",
        len: 6,
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "nothing separates",
        declarations: "%token NAME",
        rules: "s: NAME | NAME NAME | '(' s ')' ;",
        patterns: "[a-z]+ return NAME;\n[()] return *yytext;\n.|\\n return 257;",
        alphabet: b"ab()\n",
        ..SIMPLE
    },
    Case {
        name: "only a byte without a pattern separates",
        declarations: "%token NAME",
        rules: "s: NAME | NAME NAME | '(' s ')' ;",
        patterns: "[a-z]+ return NAME;\n[()] return *yytext;\n. return 257;",
        alphabet: b"ab()\n",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "only a comment by start conditions separates",
        declarations: "%token NAME",
        rules: "s: NAME | NAME NAME ;",
        definitions: "%x NOTE",
        patterns: "[a-z]+ return NAME;\n# BEGIN(NOTE);\n<NOTE># BEGIN(INITIAL);\n<*>.|\\n return 257;",
        alphabet: b"ab#",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "only a blank before something else separates",
        declarations: "%token NAME",
        rules: "s: NAME | NAME NAME ;",
        patterns: "[a-z]+ return NAME;\n\" \"/[a-z] ;\n.|\\n return 257;",
        alphabet: b"ab ",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "only a complaint separates",
        declarations: "%token NAME",
        rules: "s: NAME | NAME NAME ;",
        definitions: "%{\nvoid yyerror(const char *);\n%}",
        patterns: "[a-z]+ return NAME;\n# yyerror(\"a comment\");\n.|\\n return 257;",
        alphabet: b"ab#",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "letters that are another token at the beginning of a line",
        declarations: "%token LETTER",
        rules: "s: LETTER | LETTER LETTER | '(' s ')' ;",
        patterns: "^[a-z][a-z] return 257;\n[a-z] return LETTER;\n[()] return *yytext;\n.|\\n return 257;",
        alphabet: b"ab()\n",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "one token from two patterns with different conditions behind them",
        declarations: "%token NAME NUMBER",
        rules: "s: NAME | NAME NAME | NAME NUMBER ;",
        definitions: "%x MORE",
        patterns: "[a-z] return NAME;\n[A-Z] { BEGIN(MORE); return NAME; }\n<MORE>[0-9] return NUMBER;\n<*>.|\\n return 257;",
        alphabet: b"aA1",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "case makes no difference",
        declarations: "%token IF NAME",
        rules: "s: IF NAME | NAME ;",
        definitions: "%option case-insensitive",
        patterns: "if return IF;\n[a-z]+ return NAME;\n[ ]+ ;\n. return 257;",
        alphabet: b"iFGg ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "case makes no difference in a group",
        declarations: "%token IF NAME",
        rules: "s: IF NAME | NAME ;",
        patterns: "(?i:if) return IF;\n[a-z]+ return NAME;\n[ ]+ ;\n. return 257;",
        alphabet: b"iIFfg ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "a string by start conditions",
        declarations: "%token STRING NAME",
        rules: "s: v | s ',' v ;\nv: NAME | STRING ;",
        definitions: "%x TEXT",
        patterns: "[a-z]+ return NAME;\n, return *yytext;\n\\\" BEGIN(TEXT);\n<TEXT>\\\" BEGIN(INITIAL);\n<TEXT>[a-z]+ return STRING;\n<*>. return 257;",
        alphabet: b"ab,\"",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "a condition that adds patterns",
        declarations: "%token NAME NUMBER",
        rules: "s: NAME | s NAME | s NUMBER ;",
        definitions: "%s MORE",
        patterns: "[a-z]+ return NAME;\n! BEGIN(MORE);\n<MORE>[0-9]+ return NUMBER;\n[ ]+ ;\n. return 257;",
        alphabet: b"ab1! ",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "what follows decides",
        declarations: "%token CALL NAME",
        rules: "s: CALL '(' ')' | NAME | s ',' NAME ;",
        patterns: "[a-z]+/\"(\" return CALL;\n[a-z]+ return NAME;\n[(),] return *yytext;\n. return 257;",
        alphabet: b"ab(),",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "at the beginning and at the end of a line",
        declarations: "%token MARK LAST NAME",
        rules: "s: p | s p ;\np: MARK | LAST | NAME | '\\n' ;",
        patterns: "^x return MARK;\ny$ return LAST;\n[a-z] return NAME;\n\\n return '\\n';\n. return 257;",
        alphabet: b"xya\n",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "a token under a condition",
        declarations: "%token LONG NAME",
        rules: "s: LONG | NAME | s ',' LONG ;",
        patterns: "[a-z]+ { if (yyleng > 1) return LONG; }\n[0-9] return NAME;\n, return *yytext;\n. return 257;",
        alphabet: b"ab1,",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "how often",
        declarations: "%token A B C",
        rules: "s: p | s ',' p ;\np: A | B | C ;",
        definitions: "D [0-9]\nAB ab|ba",
        patterns: "{D}{2,3} return A;\n{AB}{AB}? return B;\n(x{1,2}\"yz\")+ return C;\n, return *yytext;\n. return 257;",
        alphabet: b"17abxyz,",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "classes",
        declarations: "%token A B C",
        rules: "s: p | s ',' p ;\np: A | B | C ;",
        patterns: "[[:digit:]]{-}[0-6]+ return A;\n[^[:alnum:],\\-]+ return B;\n[]a-]+ return C;\n, return *yytext;\n.|\\n return 257;",
        alphabet: b"78a]-!,",
        ..SIMPLE
    },
    Case {
        name: "one action for several patterns",
        declarations: "%token N \"number\" LE \"<=\"",
        rules: "s: \"number\" | s \"<=\" \"number\" | s '<' N ;",
        patterns: "0x[0-9a-f]+ |\n[1-9][0-9]* return N;\n\"<=\" return LE;\n\"<\" return '<';\n. return 257;",
        alphabet: b"0x12<=",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "bytes that the scanner passes over by itself",
        declarations: "%token N",
        rules: "s: N | s N ;",
        definitions: "%option nodefault",
        patterns: "[0-9] return N;\n[a-z] { count++; }\n. return 257;",
        alphabet: b"19a",
        ..SIMPLE
    },
    Case {
        name: "more than one match makes a token",
        declarations: "%token LONG SHORT",
        rules: "s: p | s ',' p ;\np: LONG | SHORT ;",
        patterns: "a yymore();\nb return LONG;\n[cd]+ { yyless(1); return SHORT; }\n, return *yytext;\n. return 257;",
        alphabet: b"abcd,",
        promise: Promise::Fewer,
        ..SIMPLE
    },
    Case {
        name: "the text ends before its end",
        declarations: "%token N",
        rules: "s: N | s N ;",
        patterns: "[0-9] return N;\n\\. return 0;\n; yyterminate();\n,return 257;",
        alphabet: b"19.,;",
        ..SIMPLE
    },
    Case {
        name: "what is negative ends a text",
        declarations: "%token N",
        rules: "s: N | s N ;",
        patterns: "[0-9] return N;\n[ ] ;\n. return -1;",
        alphabet: b"19 ?",
        ..SIMPLE
    },
    Case {
        name: "a string by pieces, and a token for what is wrong in it",
        declarations: "%token STRING BAD",
        rules: "s: STRING | s ',' STRING ;",
        definitions: "%x TEXT",
        patterns: "\\\" BEGIN(TEXT);\n, return *yytext;\n<TEXT>\\\" { BEGIN(INITIAL); return STRING; }\n<TEXT>[a-z]+ ;\n<*>.|\\n return BAD;",
        alphabet: b"ab\",",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "a sign or a word",
        declarations: "%token NOT AND NAME",
        rules: "s: p | s AND p ;\np: NAME | NOT p ;",
        patterns: "!|no return NOT;\n&|an return AND;\n[a-z]+ return NAME;\n[ ]+ ;\n. return 257;",
        alphabet: b"!&nox ",
        len: 5,
        ..SIMPLE
    },
    Case {
        name: "a token that nothing returns",
        declarations: "%token N GONE",
        rules: "s: N | s ',' N | GONE ;\nunused: N ;",
        patterns: "[0-9] return N;\n, return *yytext;\n. return 257;",
        alphabet: b"19,",
        promise: Promise::Fewer,
        ..SIMPLE
    },
];

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parser.h"
#define YY_DECL int scan(void)
int scan(void);
extern char *yytext;
extern int yyleng, yynerrs;
int count;
static char trace[400];
static int n_trace, is_native;
static void mark(int what) { if (n_trace < 390) trace[n_trace++] = 'a' + what % 26; }
int yylex(void) {
    int token = scan();
    if (token <= 0)
        return token;
    mark(token / 26), mark(token), mark(yyleng);
    if (yyleng > 1 && yytext[0] == yytext[1])
        mark(1);
    else
        mark(0);
    return token;
}
void yyerror(const char *message) {}
struct yy_buffer_state *yy_scan_string(const char *text);
int yylex_destroy(void);
static int parse(const char *text) {
    yy_scan_string(text);
    yynerrs = 0;
    int failed = yyparse() != 0 || yynerrs > 0;
    if (is_native)
        yylex_destroy();
    return failed;
}
static void tell(const char *text) {
    n_trace = 0;
    memset(trace, 0, sizeof trace);
    printf("%d %s\n", parse(text), trace);
}
static void all(char *text, int at, int len, const char *alphabet) {
    text[at] = 0;
    tell(text);
    for (const char *byte = alphabet; at < len && *byte; byte++) {
        text[at] = *byte;
        all(text, at + 1, len, alphabet);
    }
}
int main(int argc, char **argv) {
    char text[60];
    is_native = argc == 3;
    if (argc == 3 && atoi(argv[2]) > 0) {
        all(text, 0, atoi(argv[2]), argv[1]);
        return 0;
    }
    if (argc == 3) {
        FILE *file = fopen(argv[1], "r");
        char line[200];
        while (fgets(line, sizeof line, file)) {
            unsigned len = 0, byte;
            while (sscanf(line + 2 * len, "%2x", &byte) == 1)
                text[len++] = (char)byte;
            text[len] = 0;
            tell(text);
        }
        return 0;
    }
    return parse(argv[1]);
}
"#;

/// Traces of the texts that were accepted, and how many were not.
struct Told {
    accepted: BTreeSet<String>,
    n_refused: usize,
}

fn run(command: &mut Command) -> String {
    let done = run_limited(command, LIMIT).unwrap_or_else(|why| panic!("{why}"));
    assert!(done.status == Some(0), "{command:?}: {}", done.output());
    done.stdout
}

fn told(said: &str) -> Told {
    let accepted = said.lines().filter_map(|line| line.strip_prefix("0 ")).map(str::to_string).collect();
    Told { accepted, n_refused: said.lines().filter(|line| line.starts_with('1')).count() }
}

impl Case {
    fn build(&self, dir: &Path) {
        let Case { declarations, rules, definitions, patterns, .. } = self;
        let head = "int yylex(void); void yyerror(const char *);";
        let grammar = format!("%{{\n{head}\n%}}\n{declarations}\n%%\n{rules}\n");
        let head = "#include \"parser.h\"\n#define YY_DECL int scan(void)\nextern int count;";
        let options = "%option noyywrap nounput noinput";
        let scanner = format!("%{{\n{head}\n%}}\n{options}\n{definitions}\n%%\n{patterns}\n");
        fs::write(dir.join("g.y"), grammar).unwrap();
        fs::write(dir.join("g.l"), scanner).unwrap();
        fs::write(dir.join("program.c"), PROGRAM).unwrap();
        run(Command::new("bison").current_dir(dir).args(["-Wnone", "-d", "-o", "parser.c", "g.y"]));
        run(Command::new("flex").current_dir(dir).args(["-w", "-o", "scanner.c", "g.l"]));
        let sources = ["program.c", "parser.c", "scanner.c"];
        run(Command::new(clang()).current_dir(dir).args(["-w", "-O1", "-o", "native"]).args(sources));
    }

    /// What is different between what is accepted and what is written; empty if nothing is.
    fn differences(&self) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        self.build(dir);
        let alphabet = String::from_utf8(self.alphabet.to_vec()).unwrap();
        let len = self.len.to_string();
        let wanted = told(&run(Command::new(dir.join("native")).args([&alphabet, &len])));
        let mut words = vec!["run", "program.c", "parser.c", "scanner.c", "--out", "out", "--tests", "files"];
        words.extend(["--no-replay", "--max-time", "60", "--max-memory", "2000", "--workers", "1"]);
        words.extend(["--with", "grammar", "--grammar-file", "g.y,g.l", "--grammar-max", &len]);
        // Room for blanks, so that all texts of so many tokens fit.
        let room = (3 * self.len).to_string();
        words.extend(["--sym-args", "1", "1", &room]);
        let done = run_colt(dir, &words, LIMIT);
        assert!(matches!(done.status, Some(0 | 5)), "{}: {}", self.name, done.output());
        let (mut short, mut long) = (String::new(), String::new());
        for entry in fs::read_dir(dir.join("out/tests")).unwrap() {
            let bytes = read_json(&entry.unwrap().path())["inputs"][0]["bytes"].as_str().unwrap().to_string();
            let is_short = bytes.get(2 * self.len..2 * self.len + 2) == Some("00");
            if is_short { &mut short } else { &mut long }.push_str(&format!("{bytes}\n"));
        }
        let tell = |texts: &str| {
            fs::write(dir.join("texts"), texts).unwrap();
            told(&run(Command::new(dir.join("native")).arg(dir.join("texts")).arg("0")))
        };
        let (short, long) = (tell(&short), tell(&long));
        let summary = read_json(&dir.join("out/summary.json"));
        let entries: Vec<String> =
            summary["ledger"].as_array().unwrap().iter().map(|entry| entry.to_string()).collect();
        let mut differences = Vec::new();
        if short.n_refused + long.n_refused > 0 {
            differences.push(format!("{} texts are refused", short.n_refused + long.n_refused));
        }
        let more: Vec<_> = short.accepted.difference(&wanted.accepted).take(3).collect();
        if !more.is_empty() {
            differences.push(format!("texts that the alphabet has no bytes for: {more:?}"));
        }
        let found: BTreeSet<String> = short.accepted.union(&long.accepted).cloned().collect();
        let n_missed = wanted.accepted.difference(&found).count();
        if n_missed > 0 && entries.is_empty() {
            differences.push(format!("{n_missed} of {} are missed, and nothing says so", wanted.accepted.len()));
        }
        if (self.promise == Promise::Fewer) == entries.is_empty() {
            differences.push(format!("expected {:?}, the ledger has {entries:?}", self.promise));
        }
        if short.accepted.is_empty() {
            differences.push("nothing was written".to_string());
        }
        differences
    }
}

#[test]
fn what_real_parsers_accept_is_what_is_written() {
    let only = std::env::var("CASE").unwrap_or_default();
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = if case.name.contains(&only) { case.differences() } else { Vec::new() };
                    if !differences.is_empty() {
                        wrong.lock().unwrap().push(format!("{}: {}", case.name, differences.join("; ")));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
