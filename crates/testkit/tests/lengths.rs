//! The theorem of `lengths`, on generated programs over the string library and loops: with a prefix as long as the longest string, paths end as
//! plain ones do and find what they find; with a shorter one, whatever is found is shown natively and plain exploration has it too,
//! and a run that lacks something is not called complete. And what happens to bad input.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use testkit::command::run_colt;
use testkit::generate::Dice;

const LIMIT: Duration = Duration::from_secs(300);
/// In `make test`; `COLT_LENGTHS=1000` in `make fuzz`.
const FEW: u64 = 12;

const HEAD: &str = r#"#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <colt.h>
#ifdef PLAIN
static char *input(const char *name) {
    char bytes[MOST + 1];
    colt_input(bytes, MOST, name);
    bytes[MOST] = 0;
    size_t n = 0;
    while (bytes[n])
        n++;
    char *text = malloc(n + 1);
    for (size_t i = 0; i <= n; i++)
        text[i] = bytes[i];
    return text;
}
#else
static char *input(const char *name) { return colt_string(name); }
#endif
"#;

/// A program, and the longest string it is given.
struct Program {
    random: Dice,
    most: u64,
    n_buffers: u64,
    inputs: Vec<&'static str>,
    blocks: Vec<String>,
    n_names: u32,
    n_bits: u32,
    body: String,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut random = Dice { seed };
        let has_two = random.below(3) == 0;
        let most = if has_two { 3 + random.below(2) } else { 3 + random.below(4) };
        let mut program = Program {
            n_buffers: 1 + random.below(2),
            random,
            most,
            inputs: if has_two { vec!["a", "b"] } else { vec!["a"] },
            blocks: Vec::new(),
            n_names: 0,
            n_bits: 0,
            body: String::new(),
        };
        for buffer in 0..program.n_buffers {
            let size = program.random.pick(&["4", "6", "8", "10", "12"]);
            let text = program.random.pick(&["", "ab", "/"]);
            let _ = writeln!(program.body, "    char buf{buffer}[{size}] = \"{text}\";");
        }
        for input in program.inputs.clone() {
            let _ = writeln!(program.body, "    char *{input} = input(\"{input}\");");
        }
        let n_statements = 2 + program.random.below(4);
        (0..n_statements).for_each(|_| program.statement());
        program
    }

    fn text(&self, flavour: &str) -> String {
        format!(
            "#define MOST {}\n{flavour}{HEAD}int main(void) {{\n    int code = 0;\n{}    exit(code);\n}}\n",
            self.most, self.body
        )
    }

    fn buffer(&mut self) -> String {
        format!("buf{}", self.random.below(self.n_buffers))
    }

    /// A string that is not in a certain buffer: copying onto itself is undefined.
    fn source(&mut self, but: &str) -> String {
        let mut all: Vec<String> = self.inputs.iter().map(|input| input.to_string()).collect();
        all.extend((0..self.n_buffers).map(|buffer| format!("buf{buffer}")));
        all.extend(self.blocks.iter().cloned());
        all.retain(|name| name != but);
        let idx = self.random.below(all.len() as u64) as usize;
        all.swap_remove(idx)
    }

    fn bit(&mut self) -> u32 {
        self.n_bits += 1;
        1 << ((self.n_bits - 1) % 7)
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("p{}", self.n_names)
    }

    fn character(&mut self) -> &'static str {
        self.random.pick(&["'a'", "'/'", "':'", "' '"])
    }

    fn word(&mut self) -> &'static str {
        self.random.pick(&["\"a\"", "\"/\"", "\"\"", "\"ab\"", "\"/a\"", "\"xyz\""])
    }

    fn condition(&mut self) -> String {
        let (x, c, word) = (self.source(""), self.character(), self.word());
        let k = self.random.below(self.most + 3);
        match self.random.below(15) {
            10 => format!("strstr({x}, {word}) != 0"),
            11 => format!("strcasecmp({x}, {word}) {} 0", self.random.pick(&["==", "<", ">"])),
            12 => format!("strlen({x}) > 2 && memcmp({x}, {word}, 2) == 0"),
            13 => format!("strcmp({x}, {}) {} 0", self.source(""), self.random.pick(&["==", "<"])),
            14 => format!("strpbrk({x}, \"/:\") != 0"),
            0 => format!("strlen({x}) {} {k}", self.random.pick(&["<", ">", "=="])),
            1 => format!("{x}[0] == {c}"),
            2 => format!("strcmp({x}, {word}) == 0"),
            3 => format!("strchr({x}, {c}) != 0"),
            4 => format!("strcspn({x}, \"/:\") == {}", k % 4),
            5 => format!("strspn({x}, \"a/\") > {}", k % 3),
            6 => format!("strlen({x}) > 1 && {x}[1] == {c}"),
            7 => format!("strncmp({x}, {word}, 2) == 0"),
            8 => format!("strrchr({x}, {c}) != 0"),
            _ => format!("strnlen({x}, 3) == {}", k % 4),
        }
    }

    fn statement(&mut self) {
        let to = self.buffer();
        let from = self.source(&to);
        let (c, n, bit, name) = (self.character(), self.random.below(7) + 1, self.bit(), self.name());
        let line = match self.random.below(42) {
            24 => format!(
                "int n{name} = 0; for (char *{name} = {from}; *{name}; {name}++) if (*{name} == {c}) n{name}++; if (n{name} > 1) code |= {bit};"
            ),
            25 => format!(
                "char *{name} = 0; for (char *q = {from}; *q; q++) if (*q == {c}) {name} = q; if ({name}) {{ code |= {bit}; strcpy({to}, {name}); }}"
            ),
            26 => format!(
                "for (char *{name} = {from}; *{name}; {name}++) *{name} = (char)tolower((unsigned char)*{name});"
            ),
            27 => format!(
                "char *{name} = {from} + strlen({from}); while ({name} > {from} && {name}[-1] == {c}) {name}--; *{name} = 0;"
            ),
            28 => format!(
                "size_t {name} = 0; while ({name} < {n} && {from}[{name}]) {{ {to}[{name}] = {from}[{name}]; {name}++; }} {to}[{name}] = 0;"
            ),
            29 => {
                format!("char *{name} = strtok({from}, \"/:\"); if ({name}) {{ code |= {bit}; strcpy({to}, {name}); }}")
            }
            30 => format!("snprintf({to}, {n}, \"%-{n}.{}s|\", {from});", n % 4),
            31 => format!("int {name} = sscanf({from}, \"%3s\", {to}); if ({name} == 1) code |= {bit};"),
            32 => format!("size_t {name} = strlen({from}); if ({name} > {n}) {{ {from}[{n}] = 0; code |= {bit}; }}"),
            33 => format!(
                "char *{name} = {from}; if (*{name}) {name}++; if (strcmp({name}, \"a\") == 0) code |= {bit}; strncpy({to}, {name}, {n});"
            ),
            34 => format!(
                "size_t {name} = strlen({to}) + 1; if ({name} < sizeof {to}) {{ strncpy({to} + {name}, {from}, sizeof {to} - {name}); if ({to}[{name}] == {c}) code |= {bit}; }}"
            ),
            35 if self.blocks.len() < 2 => format!(
                "char *{name} = malloc(strlen({from}) + 2); sprintf({name}, \"%s/\", {from}); if ({name}[1] == {c}) code |= {bit};"
            ),
            36 => format!(
                "int {name} = colt_range(0, 9, \"{name}\"); memcpy({to}, \"abcdefghijk\", {name}); if ({name} > {n}) code |= {bit};"
            ),
            37 => format!(
                "int {name} = colt_range(0, 6, \"{name}\"); if ((size_t){name} < strlen({from})) {{ {from}[{name}] = {c}; code |= {bit}; }}"
            ),
            38 => format!(
                "int {name} = 0; for (char *q = {from}; *q; q++) {{ if (*q == '\\\\' && q[1]) q++; {name}++; }} if ({name} == {n}) code |= {bit};"
            ),
            39 => format!(
                "char *{name} = {from}, *q{name} = {to}; for (; *{name}; {name}++) if (*{name} != {c}) *q{name}++ = *{name}; *q{name} = 0;"
            ),
            40 => format!("int {name} = atoi({from}); if ({name} == {n}) code |= {bit};"),
            41 => format!("char *{name} = {to}; while (*{name}) {name}++; strcpy({name}, {from});"),
            0 => format!("strcpy({to}, {from});"),
            1 => format!("strcat({to}, {from});"),
            2 => format!("strncpy({to}, {from}, {n});"),
            3 => format!("strncat({to}, {from}, {});", n % 5),
            4 => format!("snprintf({to}, sizeof {to}, \"%s{}\", {from});", self.random.pick(&["", ":", "/x"])),
            5 => format!(
                "sprintf({to}, \"{}%{}s\", {from});",
                self.random.pick(&["", "/"]),
                self.random.pick(&["", ".2", "5", "-4"])
            ),
            6 => format!("{to}[strlen({from})] = {};", self.random.pick(&["0", "'a'", "':'"])),
            7 => format!("memcpy({to}, {from}, strlen({from}) + {});", n % 2),
            8 => format!("memset({to}, {c}, strlen({from}));"),
            9 if self.blocks.len() < 2 => {
                self.blocks.push(name.clone());
                format!("char *{name} = malloc(strlen({from}) + {}); strcpy({name}, {from});", n % 3)
            }
            10 if self.blocks.len() < 2 => {
                self.blocks.push(name.clone());
                format!("char *{name} = strdup({from});")
            }
            11 => format!(
                "char *{name} = strchr({from}, {c}); if ({name}) {{ code |= {bit}; strcpy({to}, {name} + {}); }}",
                n % 2
            ),
            12 => format!("char *{name} = strchr({from}, {c}); if ({name}) {{ code |= {bit}; *{name} = 0; }}"),
            13 => format!("char *{name} = strchr({from}, {c}); if ({name} && {name} - {from} > 1) code |= {bit};"),
            14 => format!("if (memchr({from}, {c}, strlen({from}))) code |= {bit};"),
            15 => format!(
                "char *{name} = {from}; while (*{name} && *{name} != {c}) {name}++; if (*{name}) code |= {bit};"
            ),
            16 => format!(
                "char *{name} = {from}; int i{name} = 0; while ({name}[i{name}] != 0) {{ {to}[i{name}] = {name}[i{name}]; i{name}++; }} {to}[i{name}] = 0;"
            ),
            17 => format!("char *{name} = {from}, *q{name} = {to}; while ((*q{name}++ = *{name}++)) ;"),
            18 => format!(
                "size_t {name} = 0; for (; {name} < {n} && {from}[{name}] == {c}; {name}++) ; if ({name} == {n}) code |= {bit};"
            ),
            19 => format!(
                "char *{name} = {from}; while (*{name} == ' ' || *{name} == 'a') {name}++; if ({name} - {from} > 2) code |= {bit};"
            ),
            _ => {
                let condition = self.condition();
                let word = self.word();
                let then = match self.random.below(3) {
                    0 => format!("strcat({to}, {word});"),
                    1 => format!("strcpy({to}, {word});"),
                    _ => String::new(),
                };
                format!("if ({condition}) {{ code |= {bit}; {then} }}")
            }
        };
        let _ = writeln!(self.body, "    {line}");
    }
}

/// How a run ended.
struct Run {
    verdict: String,
    findings: BTreeSet<String>,
    /// Endings of paths, with the status.
    endings: BTreeSet<String>,
    unconfirmed: Vec<String>,
    n_cut: u64,
}

fn explore(dir: &Path, name: &str, text: &str, flags: &[&str]) -> Run {
    let (source, out) = (dir.join("program.c"), dir.join(name));
    fs::write(&source, text).unwrap();
    let mut words = vec!["run", source.to_str().unwrap(), "--out", out.to_str().unwrap(), "--tests", "files"];
    words.extend(["--max-time", "60", "--workers", "1", "--cflags", "-w"]);
    words.extend(flags);
    let done = run_colt(dir, &words, LIMIT);
    assert!(matches!(done.status, Some(0 | 5 | 10)), "{words:?}: {}\n{text}", done.stderr);
    let json = |path: &Path| -> serde_json::Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let summary = json(&out.join("summary.json"));
    let found = summary["findings"].as_array().unwrap();
    let describe = |finding: &serde_json::Value| format!("{} {}", finding["kind"], finding["line"]);
    let mut endings = BTreeSet::new();
    for entry in fs::read_dir(out.join("tests")).unwrap() {
        let test = json(&entry.unwrap().path());
        endings.insert(format!("{} {}", test["ending"], test["status"]));
    }
    Run {
        verdict: summary["verdict"].as_str().unwrap().to_string(),
        findings: found.iter().map(describe).collect(),
        endings,
        unconfirmed: found.iter().filter(|finding| finding["confirmed"] != true).map(|f| f.to_string()).collect(),
        n_cut: summary["paths"]["cut"].as_u64().unwrap(),
    }
}

/// What is wrong with `lengths` on a program; empty if nothing is.
fn differences(program: &Program, prefix: u64) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    // A line more in one of them would move the findings.
    let plain = explore(dir.path(), "plain", &program.text("#define PLAIN\n"), &["--no-replay"]);
    let most = program.most.to_string();
    let with = ["--with", "lengths", "--lengths-max", &most, "--lengths-prefix"];
    let text = program.text("#define LENGTHS\n");
    let full = explore(dir.path(), "full", &text, &[&with[..], &[&most, "--no-replay"]].concat());
    let short = explore(dir.path(), "short", &text, &[&with[..], &[&prefix.to_string()]].concat());
    let mut wrong = Vec::new();
    wrong.extend(short.unconfirmed.iter().map(|finding| format!("not shown natively: {finding}")));
    if plain.verdict != "complete" || plain.n_cut > 0 {
        return wrong;
    }
    if full.findings != plain.findings {
        wrong.push(format!("findings {:?}, plain {:?}", full.findings, plain.findings));
    }
    if full.endings != plain.endings {
        wrong.push(format!("endings {:?}, plain {:?}", full.endings, plain.endings));
    }
    if full.verdict != "complete" {
        wrong.push("a prefix as long as the string is not complete".to_string());
    }
    if !short.findings.is_subset(&plain.findings) || !short.endings.is_subset(&plain.endings) {
        wrong.push(format!(
            "more than plain: {:?} {:?}, plain {:?} {:?}",
            short.findings, short.endings, plain.findings, plain.endings
        ));
    }
    let is_less = short.findings != plain.findings || short.endings != plain.endings;
    if short.verdict == "complete" && is_less {
        wrong.push(format!(
            "called complete with {:?} {:?}, plain {:?} {:?}",
            short.findings, short.endings, plain.findings, plain.endings
        ));
    }
    wrong
}

#[test]
fn paths_end_as_plain_ones_do() {
    let n_programs = std::env::var("COLT_LENGTHS").ok().and_then(|n| n.parse().ok()).unwrap_or(FEW);
    for seed in 1..=n_programs {
        let program = Program::new(seed);
        let wrong = differences(&program, 1 + seed % 2);
        assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}\n{}", program.text(""));
    }
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("program.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let rows: &[(&[&str], &str)] = &[
        (&["--with", "lengths", "--lengths-max", "0"], "the smallest is 1"),
        (&["--with", "lengths", "--lengths-max", "4", "--lengths-prefix", "9"], "longer than the longest string"),
        (&["--with", "lengths", "--lengths-max", "1000000000000"], "at most"),
        (&["--with", "lengths", "--lengths-prefix", "many"], "many"),
        (&["--lengths-max", "4"], "no effect without --with lengths"),
        (&["--with", "lengths,rwset"], "cannot be combined"),
    ];
    for (flags, message) in rows {
        let out = dir.path().join("out");
        let words = [&["run", source.to_str().unwrap(), "--out", out.to_str().unwrap()], *flags].concat();
        let done = run_colt(dir.path(), &words, LIMIT);
        assert_eq!(done.status, Some(2), "{flags:?}: {}", done.stderr);
        assert!(done.stderr.contains(message), "{flags:?}: {}", done.stderr);
    }
}
