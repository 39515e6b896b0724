//! The theorem of `grammar`: on texts of the language, the paths of plain exploration are those that it takes, and no others. Tried
//! on generated pairs of a grammar and a program that reads its language with branches on values; and what happens to bad input.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::command::{run_colt, run_limited};
use testkit::generate::Dice;
use testkit::runner::clang;

const LIMIT: Duration = Duration::from_secs(300);
/// In `make test`; `COLT_GRAMMARS=300` for all that were ever tried.
const FEW: u64 = 6;
/// Bytes of the longest text.
const LEN: usize = 6;
const PUNCTUATION: &[u8] = b"!#$&*+,-.:;<=>?@^_|~";
const KEYWORDS: &[&str] = &["if", "do"];

/// A grammar and a program that reads its language, made side by side. Whatever is optional begins with a character of its
/// own, and one stands behind every hole: so the program needs to look one token ahead only, and no blank is needed.
struct Pair {
    random: Dice,
    n_used: usize,
    rule: String,
    code: String,
}

impl Pair {
    fn new(seed: u64) -> Pair {
        let random = Dice { seed };
        let mut pair = Pair { random, n_used: 0, rule: String::new(), code: String::new() };
        let n_parts = 1 + pair.random.below(2);
        (0..n_parts).for_each(|_| pair.part(3));
        pair
    }

    fn mark(&mut self) -> char {
        self.n_used += 1;
        PUNCTUATION[(self.n_used - 1) % PUNCTUATION.len()] as char
    }

    fn fixed(&mut self) {
        let mark = self.mark();
        let _ = write!(self.rule, "\"{mark}\" ");
        let _ = writeln!(self.code, "want('{mark}');");
    }

    fn part(&mut self, depth: u32) {
        let is_full = self.n_used + 4 > PUNCTUATION.len();
        let choice = if depth == 0 || is_full { self.random.below(4) } else { self.random.below(8) };
        match choice {
            0 => self.fixed(),
            1 | 2 => {
                // Values that a hole without a 9, without a last 0 or of one digit cannot take.
                let (low, exact) = (self.random.below(30), self.random.pick(&["9", "10", "0", "5"]));
                self.rule.push_str("NUMBER ");
                let _ = writeln!(
                    self.code,
                    "{{ int was = value; want(NUMBER); if (was > {low}) mark(1); else mark(2); if (was == {exact}) mark(3); }}"
                );
                self.fixed();
            }
            3 => {
                let letter = (b'a' + self.random.below(26) as u8) as char;
                self.rule.push_str("NAME ");
                let _ = writeln!(
                    self.code,
                    "{{ int was = length; want(NAME); if (name[0] == '{letter}') mark(4); else mark(5); if (was > 1 && name[0] == name[1]) mark(6); }}"
                );
                self.fixed();
            }
            4 => {
                let keyword = self.random.below(KEYWORDS.len() as u64) as usize;
                let _ = write!(self.rule, "\"{}\" ", KEYWORDS[keyword]);
                let _ = writeln!(self.code, "want(KEYWORD + {keyword});");
                self.fixed();
            }
            5 => {
                let (one, two) = (self.mark(), self.mark());
                let _ = write!(self.rule, "( \"{one}\" ");
                let _ = writeln!(self.code, "if (token == '{one}') {{ scan();");
                self.part(depth - 1);
                let _ = write!(self.rule, "| \"{two}\" ");
                let _ = writeln!(self.code, "}} else {{ want('{two}');");
                self.part(depth - 1);
                self.rule.push_str(") ");
                self.code.push_str("}\n");
            }
            6 => {
                let mark = self.mark();
                let _ = write!(self.rule, "{{ \"{mark}\" ");
                let _ = writeln!(self.code, "while (!failed && token == '{mark}') {{ scan(); mark(7);");
                self.part(depth - 1);
                self.rule.push_str("} ");
                self.code.push_str("}\n");
            }
            _ => {
                let mark = self.mark();
                let _ = write!(self.rule, "[ \"{mark}\" ");
                let _ = writeln!(self.code, "if (token == '{mark}') {{ scan(); mark(8);");
                self.part(depth - 1);
                self.rule.push_str("] ");
                self.code.push_str("}\n");
            }
        }
    }

    fn grammar(&self, number: &str, name: &str) -> String {
        format!("text = {};\nNUMBER = /{number}/;\nNAME = /{name}/;\n", self.rule)
    }

    fn program(&self) -> String {
        let text = format!("{HEAD}\nstatic void parse(void) {{\nscan();\n{}want(0);\n}}\n{TAIL}", self.code);
        let text = text.replace("LEN", &LEN.to_string());
        // A word that the grammar does not know is a name like others.
        let unknown = KEYWORDS.iter().filter(|word| !self.rule.contains(*word));
        unknown.fold(text, |text, word| text.replace(&format!("\"{word}\""), "\"-\""))
    }
}

/// The scanner marks which way it went, so that a program's marks are its path.
const HEAD: &str = r#"
#include <stdio.h>
#include <string.h>
#include <colt.h>
enum { NUMBER = 256, NAME, BAD, KEYWORD };
static const char *const keywords[] = {"if", "do"};
static char text[LEN + 1], name[LEN + 1];
static unsigned long long trace;
static int at, token, value, length, failed;
static void mark(unsigned what) { trace = (trace ^ what) * 1099511628211ull; }
static void scan(void) {
    int c = at == LEN ? 0 : (unsigned char)text[at];
    length = value = 0;
    if (c >= '0' && c <= '9') {
        for (; at < LEN && text[at] >= '0' && text[at] <= '9'; at++, length++)
            value = value * 10 + text[at] - '0';
        token = NUMBER;
    } else if (c >= 'a' && c <= 'z') {
        for (; at < LEN && text[at] >= 'a' && text[at] <= 'z'; at++)
            name[length++] = text[at];
        name[length] = 0;
        token = NAME;
        for (int i = 0; i < 2; i++) {
            int same = 0;
            while (keywords[i][same] && keywords[i][same] == name[same])
                same++;
            mark(20 + same);
            if (!keywords[i][same] && !name[same])
                token = KEYWORD + i;
        }
    } else {
        token = c;
        at += c != 0;
    }
    mark(token);
    mark(length);
}
static void want(int wanted) {
    if (failed)
        return;
    if (token != wanted)
        failed = 1;
    else if (wanted)
        scan();
}
"#;

const TAIL: &str = r#"
int main(int argc, char **argv) {
    if (argc > 1) {
        FILE *file = fopen(argv[1], "r");
        char line[4 * LEN];
        while (fgets(line, sizeof line, file)) {
            memset(text, 0, sizeof text);
            for (int i = 0; i < LEN; i++) {
                unsigned byte = 0;
                sscanf(line + 2 * i, "%2x", &byte);
                text[i] = (char)byte;
            }
            trace = 0, at = failed = 0;
            parse();
            printf("%d %llx\n", failed, trace);
        }
        return 0;
    }
    colt_input(text, sizeof text, "text");
    parse();
    return failed;
}
"#;

struct Compared {
    n_tests: usize,
    accepted: Vec<String>,
    n_rejected: usize,
}

fn explore(dir: &Path, name: &str, flags: &[&str]) -> Compared {
    let out = dir.join(name);
    let source = dir.join("program.c");
    let mut words =
        vec!["run", source.to_str().unwrap(), "--out", out.to_str().unwrap(), "--tests", "files", "--no-replay"];
    words.extend(["--max-time", "100", "--workers", "1"]);
    words.extend(flags);
    let done = run_colt(dir, &words, LIMIT);
    // Texts that do not fit leave an entry in the ledger, which makes the verdict `incomplete`.
    assert!(matches!(done.status, Some(0 | 5)), "{words:?}: {}\n{}", done.stderr, fs::read_to_string(&source).unwrap());
    let mut texts = Vec::new();
    for entry in fs::read_dir(out.join("tests")).unwrap() {
        let test: serde_json::Value = serde_json::from_slice(&fs::read(entry.unwrap().path()).unwrap()).unwrap();
        let bytes = test["inputs"][0]["bytes"].as_str().unwrap().to_string();
        texts.push(bytes);
    }
    let list = dir.join("texts");
    fs::write(&list, texts.join("\n") + "\n").unwrap();
    let native = run_limited(Command::new(dir.join("native")).arg(&list), LIMIT).unwrap();
    let lines: Vec<&str> = native.stdout.lines().collect();
    assert_eq!(lines.len(), texts.len());
    let accepted = lines.iter().filter(|line| line.starts_with("0 ")).map(|line| line.to_string()).collect::<Vec<_>>();
    Compared { n_tests: texts.len(), n_rejected: lines.len() - accepted.len(), accepted }
}

/// What is different between plain exploration and `grammar`; empty if nothing is.
fn difference(pair: &Pair, number: &str, name: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let program = pair.program();
    fs::write(dir.path().join("program.c"), program).unwrap();
    let file = dir.path().join("grammar.txt");
    fs::write(&file, pair.grammar(number, name)).unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    let stub = dir.path().join("stub.c");
    fs::write(&stub, "#include <stddef.h>\nvoid colt_input(void *a, size_t n, const char *s) {}\n").unwrap();
    let mut build = Command::new(clang());
    build.args(["-w", "-O1", "-I", include, "-o"]).arg(dir.path().join("native"));
    build.arg(dir.path().join("program.c")).arg(&stub);
    let built = run_limited(&mut build, LIMIT).unwrap();
    assert!(built.status == Some(0), "{}", built.stderr);
    let plain = explore(dir.path(), "plain", &[]);
    let max = LEN.to_string();
    let with = ["--with", "grammar", "--grammar-max", &max, "--grammar-file", file.to_str().unwrap()];
    let ours = explore(dir.path(), "grammar", &with);
    let mut differences = Vec::new();
    let set = |compared: &Compared| compared.accepted.iter().cloned().collect::<BTreeSet<_>>();
    let (wanted, found) = (set(&plain), set(&ours));
    if plain.accepted.len() != wanted.len() {
        differences.push("plain exploration tells a path twice: the marks do not tell all".to_string());
    }
    if ours.n_rejected > 0 {
        differences.push(format!("{} texts are not in the language", ours.n_rejected));
    }
    if ours.n_tests - ours.n_rejected != found.len() {
        differences.push(format!("{} tests for {} paths", ours.n_tests, found.len()));
    }
    if wanted != found {
        let (n_missed, n_more) = (wanted.difference(&found).count(), found.difference(&wanted).count());
        differences.push(format!("{n_missed} paths missed, {n_more} more than plain, of {}", wanted.len()));
    }
    differences
}

#[test]
fn paths_on_texts_of_the_language_are_those_of_plain_exploration() {
    let n_pairs = std::env::var("COLT_GRAMMARS").ok().and_then(|n| n.parse().ok()).unwrap_or(FEW);
    for seed in 1..=n_pairs {
        let pair = Pair::new(seed);
        let differences = difference(&pair, "[0-9]+", "[a-z]+");
        assert!(differences.is_empty(), "seed {seed}: {differences:?}\n{}", pair.grammar("[0-9]+", "[a-z]+"));
    }
}

/// A hole that holds more or less than its token is noticed.
#[test]
fn holes_that_are_wrong_are_noticed() {
    for (number, name) in
        [("[0-8]+", "[a-z]+"), ("[0-9]+", "[a-z0-9]+"), ("[0-9]", "[a-z]+"), ("[0-9]*[1-9]", "[a-z]+")]
    {
        let is_noticed = (1..=40).any(|seed| !difference(&Pair::new(seed), number, name).is_empty());
        assert!(is_noticed, "{number} and {name} make no difference");
    }
}

/// Without bison a `.y` cannot be read, and that is said.
#[test]
fn bison_is_asked_for_by_name() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("g.y"), "%%\na: 'x' ;\n").unwrap();
    let mut command = Command::new(testkit::command::find_colt().unwrap());
    command.current_dir(dir.path()).env("PATH", dir.path()).args(["grammar", "g.y"]);
    let done = run_limited(&mut command, LIMIT).unwrap();
    assert!(done.status == Some(2) && done.stderr.contains("install the package `bison`"), "{}", done.output());
}

/// A program that asks for all of its input gets to know how long it is before it looks at anything. One that reads by characters
/// does not.
#[test]
fn reading_at_once_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("sums.txt"), "s = N { \"+\" N } ; N = /[0-9]/ ; skip = /[ ]+/ ;\n").unwrap();
    let programs = [
        ("char t[9]; long n = read(0, t, 8); if (n != 5) return 0; return t[0] == '7';", &["--libc"][..]),
        ("int c, n = 0; while ((c = getchar()) != EOF) n += c == '7'; return n;", &[][..]),
    ];
    for (body, libc) in programs {
        let head = "#include <stdio.h>\n#include <unistd.h>";
        fs::write(dir.path().join("p.c"), format!("{head}\nint main(void) {{ {body} }}\n")).unwrap();
        let flags =
            ["run", "p.c", "--with", "grammar", "--grammar-file", "sums.txt", "--sym-stdin", "8", "--no-replay"];
        let done = run_colt(dir.path(), &[&flags, libc].concat(), LIMIT);
        assert!(done.stdout.contains("symbolic strings"), "{}{}", done.stdout, done.stderr);
        assert_eq!(done.stdout.contains("--grammar-fill decides"), !libc.is_empty(), "{}", done.stdout);
    }
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("program.c"), "int main(void) { return 0; }\n").unwrap();
    fs::write(at("good"), "text = \"a\" ;\n").unwrap();
    fs::write(at("endless"), "text = \"a\" text ;\n").unwrap();
    fs::write(
        at("noise"),
        (0..1 << 20).map(|idx: u32| (idx.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>(),
    )
    .unwrap();
    fs::write(at("words"), "print\n").unwrap();
    for (words, said) in [
        (&["--with", "grammar"][..], "--grammar-file"),
        (&["--grammar-file", "good"][..], "without --with grammar"),
        (&["--with", "grammar", "--grammar-file", "good", "--grammar-max", "0"][..], "--grammar-max 0"),
        (&["--with", "grammar", "--grammar-file", "gone"][..], "gone"),
        (&["--with", "grammar", "--grammar-file", "endless"][..], "endless"),
        (&["--with", "grammar", "--grammar-file", "noise"][..], "noise"),
        (&["--with", "grammar", "--grammar-file", "good", "--grammar-words", "words"][..], "words:1:"),
        (&["--with", "grammar,partition", "--grammar-file", "good"][..], "cannot be combined"),
    ] {
        let done = run_colt(dir.path(), &[&["run", "program.c"], words].concat(), LIMIT);
        assert!(done.status == Some(2) && done.stderr.contains(said), "{words:?}: {:?} {}", done.status, done.stderr);
    }
}
