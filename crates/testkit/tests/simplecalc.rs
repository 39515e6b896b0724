//! The theorem of `grammar` on the calculator of the paper: on texts of the language, the paths that it takes are those that there are.
//!
//! What paths there are is found out natively: every text over a few bytes that stand for all is put through the program, which is
//! built so that it tells its path, the edges of its code one after the other. Plain exploration may find no others, and finds all of them
//! where it is complete. `COLT_GRAMMARS` set: plain exploration with 4 bytes, too, which takes a minute.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::command::{project_root, read_json, run_colt, run_limited};
use testkit::runner::clang;

const LIMIT: Duration = Duration::from_secs(300);

/// Digits and letters whose values are zero and one, and those that are neither; all the operators.
const ALPHABET: &str = "019aAb-()*/%+|&";

/// Prints how a text ended (0: well, 8: it divides by zero, 1: it is not in the language) and its path. A text that divides by zero may
/// end before a mistake in it shows, so whether it is in the language is found out beforehand, by other means.
const DRIVER: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int calc_main(int argc, char **argv);
int yylex_destroy(void);
static uint64_t path;
static sigjmp_buf out;
void __sanitizer_cov_trace_pc_guard_init(uint32_t *from, uint32_t *to) {
    static uint32_t n;
    if (from == to || *from)
        return;
    while (from < to)
        *from++ = ++n;
}
void __sanitizer_cov_trace_pc_guard(uint32_t *guard) { path = (path ^ *guard) * 1099511628211ull; }
static void divided(int signal) { siglongjmp(out, 8); }
static const char *expression(const char *text) {
    while (*text == '-')
        text++;
    if (*text == '(') {
        text = expression(text + 1);
        if (!text || *text++ != ')')
            return NULL;
    } else if (*text >= '0' && *text <= '9' || *text >= 'a' && *text <= 'z' || *text >= 'A' && *text <= 'Z')
        text++;
    else
        return NULL;
    return *text && strchr("*/%+-|&", *text) ? expression(text + 1) : text;
}
static int is_expression(const char *text) {
    const char *end = expression(text);
    return end && !*end;
}
static void tell(char *text) {
    char *words[] = {"calc", text, NULL};
    path = 0;
    int ended = sigsetjmp(out, 1);
    if (ended == 0)
        ended = calc_main(2, words);
    fprintf(stderr, "path %d %llx\n", is_expression(text) ? ended : 1, (unsigned long long)path);
    yylex_destroy();
}
static void all(char *text, int at, int len, const char *alphabet) {
    for (const char *byte = alphabet; *byte; byte++) {
        text[at] = *byte, text[at + 1] = 0;
        tell(text);
        if (at + 1 < len)
            all(text, at + 1, len, alphabet);
    }
}
int main(int argc, char **argv) {
    char text[20];
    signal(SIGFPE, divided);
    if (argc == 3) {
        all(text, 0, atoi(argv[2]), argv[1]);
        return 0;
    }
    FILE *file = fopen(argv[1], "r");
    char line[100];
    while (fgets(line, sizeof line, file)) {
        unsigned len = 0, byte;
        while (sscanf(line + 2 * len, "%2x", &byte) == 1)
            text[len++] = (char)byte;
        text[len] = 0;
        tell(text);
    }
    return 0;
}
"#;

fn run(command: &mut Command) -> String {
    let done = run_limited(command, LIMIT).unwrap_or_else(|why| panic!("{why}"));
    assert!(done.status == Some(0), "{command:?}: {}", done.output());
    done.stderr
}

fn build(dir: &Path) {
    for file in ["calc.y", "calc.l"] {
        fs::copy(project_root().join("examples/simplecalc").join(file), dir.join(file)).unwrap();
    }
    fs::write(dir.join("driver.c"), DRIVER).unwrap();
    run(Command::new("bison").current_dir(dir).args(["-Wnone", "-d", "-o", "calc.tab.c", "calc.y"]));
    run(Command::new("flex").current_dir(dir).args(["-o", "lex.yy.c", "calc.l"]));
    let clang = || {
        let mut clang = Command::new(clang());
        clang.current_dir(dir).args(["-w", "-O0"]);
        clang
    };
    let traced = ["-fsanitize-coverage=trace-pc-guard", "-Dmain=calc_main", "-c", "calc.tab.c", "lex.yy.c"];
    run(clang().args(traced));
    run(clang().args(["-o", "native", "driver.c", "calc.tab.o", "lex.yy.o"]));
}

/// The paths of texts of the language, and how many texts were of none.
fn paths(told: &str) -> (BTreeSet<String>, usize) {
    let (of_language, others): (Vec<&str>, Vec<&str>) =
        told.lines().filter_map(|line| line.strip_prefix("path ")).partition(|line| !line.starts_with("1 "));
    (of_language.into_iter().map(str::to_string).collect(), others.len())
}

fn explore(dir: &Path, len: &str, more: &[&str]) -> (BTreeSet<String>, usize, String) {
    let out = dir.join("out");
    let _ = fs::remove_dir_all(&out);
    let mut words =
        vec!["run", "calc.tab.c", "lex.yy.c", "--sym-args", "1", "1", len, "--out", "out", "--tests", "files"];
    words.extend(["--no-replay", "--workers", "1", "--max-time", "150", "--max-memory", "2000"]);
    words.extend(more);
    let done = run_colt(dir, &words, LIMIT);
    assert!(matches!(done.status, Some(0 | 5 | 10)), "{}", done.output());
    let mut texts = String::new();
    for entry in fs::read_dir(out.join("tests")).unwrap() {
        let bytes = read_json(&entry.unwrap().path())["inputs"][0]["bytes"].as_str().unwrap().to_string();
        texts.push_str(&format!("{bytes}\n"));
    }
    fs::write(dir.join("texts"), texts).unwrap();
    let (paths, n_others) = paths(&run(Command::new(dir.join("native")).arg(dir.join("texts"))));
    let verdict = read_json(&out.join("summary.json"))["verdict"].as_str().unwrap().to_string();
    (paths, n_others, verdict)
}

#[test]
fn paths_on_texts_of_the_calculator_are_all_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    build(dir);
    let longest_plain = if std::env::var_os("COLT_GRAMMARS").is_some() { 4 } else { 3 };
    for len in 1..=4 {
        let len_word = len.to_string();
        let (wanted, _) = paths(&run(Command::new(dir.join("native")).args([ALPHABET, &len_word])));
        let with = ["--with", "grammar", "--grammar-file", "calc.y,calc.l", "--grammar-max", &len_word];
        let (found, n_others, verdict) = explore(dir, &len_word, &with);
        assert_eq!((n_others, verdict.as_str()), (0, "complete"), "{len} bytes");
        let missed: Vec<_> = wanted.difference(&found).collect();
        let more: Vec<_> = found.difference(&wanted).collect();
        assert!(missed.is_empty() && more.is_empty(), "{len} bytes: missed {missed:?}, more {more:?}");
        if len <= longest_plain {
            let (plain, _, verdict) = explore(dir, &len_word, &[]);
            assert!(plain.is_subset(&found), "{len} bytes: plain exploration finds more");
            assert!(plain == found || verdict != "complete", "{len} bytes: {} of {}", plain.len(), found.len());
            println!(
                "{len} bytes: {} paths on texts of the language, plain exploration has {}",
                found.len(),
                plain.len()
            );
        }
    }
}
