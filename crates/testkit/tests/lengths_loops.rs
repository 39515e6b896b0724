//! Loops of people's own over strings: thirty that `lengths` does at once, and ten that look like them and must be executed as they are.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use testkit::command::run_colt;

/// Each is the body of a function with a string `s`, its length `n` and a buffer `buf` that is long enough.
const DONE_AT_ONCE: &[&str] = &[
    "char *p = s; while (*p) p++; return p - s;",
    "char *p = s; while (*p && *p != ':') p++; return p - s;",
    "char *p = s; for (; *p == ' '; p++) ; return p - s;",
    "char *p = s; while (isspace((unsigned char)*p)) p++; return p - s;",
    "char *p = s; while (isdigit((unsigned char)*p)) p++; return p - s;",
    "char *p = s, *q = buf; while ((*q++ = *p++)) ; return q - buf;",
    "int i; for (i = 0; s[i]; i++) buf[i] = s[i]; return i;",
    "int i; for (i = 0; i < 20 && s[i]; i++) buf[i] = s[i]; return i;",
    "char *p = s, *q = buf; while (*p && q < buf + 20) *q++ = *p++; return q - buf;",
    "int k = 0; for (char *p = s; *p; p++) if (*p == '/') k++; return k;",
    "char *last = 0; for (char *p = s; *p; p++) if (*p == '/') last = p; return last != 0;",
    "int last = -1; for (int i = 0; s[i]; i++) if (s[i] == '.') last = i; return last;",
    "char *p; for (p = s; *p; p++) *p = (char)tolower((unsigned char)*p); return p - s;",
    "char *q = buf; for (char *p = s; *p; p++) *q++ = (char)toupper((unsigned char)*p); return q - buf;",
    "char *e = s + n; while (e > s && e[-1] == ' ') e--; return e - s;",
    "char *p = s + n; while (p > s && *p != '/') p--; return p - s;",
    "size_t i; for (i = n; i > 0 && s[i - 1] == '\\n'; i--) ; return i;",
    "size_t i; for (i = 0; i < n; i++) buf[i] = 0; return i;",
    "char c, *p = s; do { c = *p++; } while (c && c != ','); return p - s;",
    "char *p = s; while (*p && *p != ',' && *p != ';') p++; return p - s;",
    "char *p = s; while (isalnum((unsigned char)*p) || *p == '_') p++; return p - s;",
    "int i = 0; while (s[i] != '\\0') i++; return i;",
    "size_t i = 0; while (i < 100 && s[i]) i++; return i;",
    "int k = 0; for (char *p = s; *p; p++) { if (*p == '\\\\') *p = '/'; k++; } return k;",
    "int k = 1; for (char *p = s; *p; p++) if (*p == '\\n' || *p == '\\r') k++; return k;",
    "char *p = s; while (table[(unsigned char)*p]) p++; return p - s;",
    "char *p = s, *q = buf; while (*p && *p != '@') *q++ = *p++; return q - buf;",
    "char *p; for (p = s + n; p > s && p[-1] == '/'; p--) ; return p - s;",
    "size_t i = n; while (i < 100) buf[i++] = ' '; return i;",
    "char *p = s; for (;; p++) { switch (*p) { case 0: case ' ': return p - s; default: continue; } }",
];

const LOOK_ALIKES: &[&str] = &[
    "int sum = 0; for (char *p = s; *p; p++) sum += *p; return sum & 3;",
    "int d = 0; for (char *p = s; *p; p++) { if (*p == '(') d++; else if (*p == ')' && d > 0) d--; } return d;",
    "int i; for (i = 0; s[i] && s[i + 1]; i += 2) ; return i;",
    "int k = 0; for (int i = 0; s[i]; i++) if (s[i] != ' ') buf[k++] = s[i]; return k;",
    "char *p; for (p = s; *p; p++) if (*p == '\\\\' && p[1]) p++; return p - s;",
    "int q = 0; for (char *p = s; *p; p++) if (*p == '\"') q = !q; return q;",
    "char *p = s, *q = buf; while (*p && *p == *q) p++, q++; return p - s;",
    "char last = 0, *p; for (p = s; *p && *p != last; p++) last = *p; return p - s;",
    "for (char *p = s; *p; p++) total++; return total;",
    "int k = 0; char *p; for (p = s; *p && k < 3; p++) if (*p == '.') k++; return p - s;",
    "int k = 0; for (char *p = s; *p; p++) k = k * 10 + (*p - '0'); return k & 1;",
];

const HEAD: &str = "#include <ctype.h>
#include <string.h>
#include <colt.h>
static char table[256] = {['a'] = 1, ['b'] = 1, ['z'] = 1};
volatile int total;
";

/// The program, and the line of each function's loop.
fn program(bodies: &[&str]) -> String {
    let mut text = HEAD.to_string();
    for (idx, body) in bodies.iter().enumerate() {
        text += &format!("static long f{idx}(char *s, size_t n, char *buf) {{ (void)n; (void)buf; {body} }}\n");
    }
    text += "int main(void) {\n    char buf[200] = \"aab\", *s = colt_string(\"s\");\n    size_t n = strlen(s);\n    if (n > 60)\n        return 1;\n";
    text += "    switch (colt_range(0, 100, \"which\")) {\n";
    for idx in 0..bodies.len() {
        text += &format!("    case {idx}: return f{idx}(s, n, buf) == 7;\n");
    }
    text + "    }\n    return 0;\n}\n"
}

/// Which of the loops were done at once.
fn summarised(bodies: &[&str]) -> BTreeSet<usize> {
    let dir = tempfile::tempdir().unwrap();
    let (source, out) = (dir.path().join("program.c"), dir.path().join("out"));
    fs::write(&source, program(bodies)).unwrap();
    let words = ["run", source.to_str().unwrap(), "--out", out.to_str().unwrap(), "--with", "lengths"];
    let more = ["--lengths-prefix", "2", "--max-time", "60", "--no-replay", "--cflags", "-w"];
    let done = run_colt(dir.path(), &[&words[..], &more].concat(), Duration::from_secs(300));
    assert!(matches!(done.status, Some(0 | 5 | 10)), "{}", done.stderr);
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let first = HEAD.lines().count() + 1;
    let places = summary["lengths"]["summarised"].as_array().unwrap();
    let loops = places.iter().filter(|place| place["what"] == "loop");
    loops.map(|place| place["line"].as_u64().unwrap() as usize - first).collect()
}

#[test]
fn thirty_loops_are_done_at_once() {
    let found = summarised(DONE_AT_ONCE);
    let missing: Vec<&str> =
        DONE_AT_ONCE.iter().enumerate().filter(|(idx, _)| !found.contains(idx)).map(|(_, body)| *body).collect();
    assert!(missing.is_empty(), "executed round by round: {missing:#?}");
}

#[test]
fn loops_that_look_like_them_are_executed() {
    let found = summarised(LOOK_ALIKES);
    let wrong: Vec<&str> = found.iter().map(|idx| LOOK_ALIKES[*idx]).collect();
    assert!(wrong.is_empty(), "done at once: {wrong:#?}");
}
