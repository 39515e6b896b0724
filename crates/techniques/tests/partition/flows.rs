//! Small random C programs in which inputs meet in ways that are easy to overlook: early returns, exits, jumps out of loops and
//! functions, pointers and functions chosen by an input, objects freed by one input and used by another, copies of a
//! length that an input says, inputs that are only made now and then.

use std::fmt::Write;

use crate::programs::Dice;

/// Needed once before the programs of a file.
pub const HEADER: &str = r#"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
void colt_input(void *at, unsigned long size, const char *name);
void colt_assume(int holds);
void colt_assert(int holds);
typedef unsigned char u8;
struct wide { int v, w, filler[8]; };
union view { unsigned word; u8 byte[4]; };
struct bits { unsigned low : 3, high : 5; };
static int one(int v) { return v + 1; }
static int twice(int v) { return v == 4 ? 9 : 2 * v; }
static int none(int v) { (void)v; return 0; }
static int of_wide(struct wide s) { return s.v == 3 ? s.w : s.v; }
static int sum(int n, ...) {
    va_list list;
    va_start(list, n);
    int total = 0;
    while (n-- > 0)
        total += va_arg(list, int);
    va_end(list);
    return total;
}
static int down(int n, int v) { return n == 0 ? v : n == v ? 1 : down(n - 1, v) + 1; }
"#;

/// A program whose entry is `p_entry`, `p` being the prefix.
pub fn program(seed: u64, prefix: &str) -> String {
    let mut writer = Writer {
        dice: Dice(seed ^ 0xf10e_0000),
        p: prefix,
        text: String::new(),
        budget: 0,
        place: Place::Helper,
        n_names: 0,
        in_loop: false,
    };
    writer.program();
    writer.text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Helper,
    Entry,
}

struct Writer<'p> {
    dice: Dice,
    p: &'p str,
    text: String,
    /// Statements the function may still get.
    budget: u64,
    place: Place,
    n_names: u64,
    in_loop: bool,
}

impl Writer<'_> {
    fn program(&mut self) {
        let p = self.p;
        let _ = writeln!(
            self.text,
            "static int {p}_g, {p}_h = 2, *{p}_q;\nstatic u8 {p}_t[4];\nstatic jmp_buf {p}_jump;\nstatic int {p}_can;\n\
             static int (*{p}_f)(int) = none;"
        );
        for idx in 0..2 {
            let _ = writeln!(
                self.text,
                "static int {p}_k{idx}(int a, int b, int *o) {{\n    int x = a, y = 0, z = 1, *r = &y;\n    (void)x; (void)y; (void)z; (void)r; (void)b;"
            );
            self.place = Place::Helper;
            self.budget = 5;
            self.statements(1, 3);
            let value = self.value();
            let _ = writeln!(self.text, "    *o = {value};\n    return x;\n}}");
        }
        let _ = writeln!(
            self.text,
            "int {p}_entry(void) {{\n    u8 a, b, c, d;\n    int x = 0, y = 1, z = 2, *r = &x, *heap = malloc(8);\n    \
             struct wide s = {{0}}, m[2] = {{{{1, 2, {{0}}}}, {{3, 4, {{0}}}}}};\n    union view u = {{0}};\n    struct bits bits = {{0}};\n    \
             char text[4] = \"ab\";\n    heap[0] = 1;\n    heap[1] = 0;\n    {p}_q = heap;\n    \
             (void)s; (void)u; (void)bits; (void)text; (void)m; (void)z;"
        );
        for name in ["a", "b", "c", "d"] {
            let _ = writeln!(self.text, "    colt_input(&{name}, 1, \"{name}\");");
        }
        self.place = Place::Entry;
        self.budget = 16;
        self.statements(1, 8);
        let (one, two) = (self.condition(), self.condition());
        let _ = writeln!(
            self.text,
            "    if ({one})\n        x += 100;\n    if ({two})\n        {p}_g = 7;\n    if ({p}_g == 7 && x > 99)\n        return 1;\n    return x == y;\n}}"
        );
    }

    fn statements(&mut self, depth: usize, n: u64) {
        for _ in 0..n {
            self.statement(depth);
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(depth));
    }

    fn name(&mut self) -> u64 {
        self.n_names += 1;
        self.n_names
    }

    fn value(&mut self) -> String {
        let p = self.p;
        let entry = self.place == Place::Entry;
        match self.dice.below(if entry { 20 } else { 12 }) {
            0..4 => self.dice.pick(if entry { &["a", "b", "c", "d"] } else { &["a", "b"] }).to_string(),
            4..7 => self.dice.pick(&["x", "y", "z"]).to_string(),
            7 => format!("{p}_g"),
            8 => format!("{p}_h"),
            9 => "*r".to_string(),
            10 => {
                let at = self.dice.pick(&["0", "1", "x & 3", "a & 3", "z & 3"]);
                format!("{p}_t[{at}]")
            }
            11 => self.dice.below(6).to_string(),
            12 => "s.v".to_string(),
            13 => "(int)u.word".to_string(),
            14 => "(int)bits.high".to_string(),
            15 => "heap[0]".to_string(),
            16 => "heap[1]".to_string(),
            17 => "(int)strlen(text)".to_string(),
            18 => "of_wide(s)".to_string(),
            _ => {
                let at = self.dice.pick(&["a & 1", "b & 1", "x & 1"]);
                format!("of_wide(m[{at}])")
            }
        }
    }

    fn condition(&mut self) -> String {
        let (one, two, n) = (self.value(), self.value(), self.dice.below(8));
        match self.dice.below(8) {
            0..4 => format!("{one} == {n}"),
            4 => format!("{one} > {n}"),
            5 => format!("{one} != {n}"),
            6 => format!("{one} == {two}"),
            _ => {
                let more = self.value();
                format!("{one} == {n} && {more} != {n}")
            }
        }
    }

    fn assignment(&mut self) -> String {
        let p = self.p;
        let (value, n) = (self.value(), self.dice.below(6));
        let entry = self.place == Place::Entry;
        match self.dice.below(if entry { 18 } else { 11 }) {
            0 => format!("x = {value};"),
            1 => format!("y = {value};"),
            2 => format!("z = {n};"),
            3 => "x++;".to_string(),
            4 => format!("{p}_g = {n};"),
            5 => format!("{p}_h += {n};"),
            6 => format!("*r = {n};"),
            7 => self.dice.pick(&["r = &x;", "r = &y;", "r = &z;"]).to_string(),
            8 => {
                let at = self.dice.pick(&["2", "x & 3", "a & 3", "b & 3"]);
                format!("{p}_t[{at}] = {n};")
            }
            9 => {
                let function = self.dice.pick(&["one", "twice", "none"]);
                format!("{p}_f = {function};")
            }
            10 => format!("r = &{p}_g;"),
            11 => format!("s.{} = {value};", self.dice.pick(&["v", "w"])),
            12 => format!("u.byte[{}] = {value};", n & 3),
            13 => format!("bits.{} = {value};", self.dice.pick(&["low", "high"])),
            14 => format!("heap[{}] = {n};", n & 1),
            15 => format!("text[{}] = {};", n & 1, self.dice.pick(&["a", "b", "0", "'a'"])),
            16 => "s = m[z & 1];".to_string(),
            _ => format!("{p}_q = {};", self.dice.pick(&["&x", "heap", "&y"])),
        }
    }

    fn assign(&mut self, depth: usize) {
        let text = self.assignment();
        self.line(depth, &text);
    }

    fn statement(&mut self, depth: usize) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        match self.dice.below(30) {
            0..8 => self.branch(depth),
            8..10 => self.jumping(depth),
            10..12 => self.ending(depth),
            12 => self.switch(depth),
            13..15 => self.repeat(depth),
            15..17 => self.call(depth),
            17 => {
                let value = self.value();
                let p = self.p;
                self.line(depth, &format!("y = {p}_f({value} & 7);"));
            }
            18 => {
                let (to, from, len) = (self.dice.pick(&["0", "1"]), self.dice.pick(&["0", "1"]), self.value());
                let p = self.p;
                self.line(depth, &format!("memmove({p}_t + {to}, {p}_t + {from}, ({len}) & 3);"));
            }
            19 => {
                let (n, len) = (self.dice.below(5), self.value());
                let p = self.p;
                self.line(depth, &format!("memset({p}_t, {n}, ({len}) & 3);"));
            }
            20 if self.place == Place::Entry => {
                let cond = self.condition();
                let text = match self.dice.below(3) {
                    0 => "{ free(heap); heap = malloc(8); heap[0] = 3; heap[1] = 3; }",
                    1 => "free(heap);",
                    _ => "{ int *bigger = realloc(heap, 16); heap = bigger; heap[1]++; }",
                };
                self.line(depth, &format!("if ({cond}) {text}"));
            }
            21 if self.place == Place::Entry => {
                let (name, cond) = (self.name(), self.condition());
                self.line(depth, &format!("if ({cond}) {{ u8 w{name}; colt_input(&w{name}, 1, \"w{name}\"); if (w{name} == 3) x++; else y = w{name}; }}"));
            }
            22 => {
                let (n, one, two) = (self.value(), self.value(), self.value());
                self.line(depth, &format!("x = sum(({n}) & 1 ? 2 : 1, (int)({one}), (int)({two}));"));
            }
            23 => {
                let value = self.value();
                self.line(depth, &format!("y = down(3, ({value}) & 7);"));
            }
            24 if self.place == Place::Entry => {
                let other = self.dice.pick(&["\"aa\"", "\"b\"", "\"ab\""]);
                self.line(depth, &format!("if (strcmp(text, {other}) == 0) z = 5;"));
            }
            _ => self.assign(depth),
        }
    }

    fn branch(&mut self, depth: usize) {
        let cond = self.condition();
        self.line(depth, &format!("if ({cond}) {{"));
        self.assign(depth + 1);
        self.statement(depth + 1);
        if self.dice.below(2) == 0 {
            self.line(depth, "} else {");
            self.statement(depth + 1);
            self.assign(depth + 1);
        }
        self.line(depth, "}");
    }

    /// Ways out of a loop or a function.
    fn jumping(&mut self, depth: usize) {
        let cond = self.condition();
        let p = self.p;
        if self.in_loop && self.dice.below(3) > 0 {
            let word = self.dice.pick(&["break", "continue"]);
            return self.line(depth, &format!("if ({cond}) {word};"));
        }
        let text = match (self.place, self.dice.below(4)) {
            (Place::Helper, 0) => format!("if ({cond}) {{ {p}_g = 4; return y; }}"),
            (Place::Helper, 1) => format!("if ({cond} && {p}_can) longjmp({p}_jump, 2);"),
            (Place::Helper, _) => format!("if ({cond}) return {};", self.dice.below(5)),
            (Place::Entry, 0) => format!("if ({cond}) return 5;"),
            (Place::Entry, _) => {
                let (one, two) = (self.assignment(), self.assignment());
                format!(
                    "if (setjmp({p}_jump) == 0) {{ {p}_can = 1; {one} y = {p}_k1(a, z, &z); }} else {{ {two} }} {p}_can = 0;"
                )
            }
        };
        self.line(depth, &text);
    }

    fn ending(&mut self, depth: usize) {
        let cond = self.condition();
        let text = match self.dice.below(6) {
            0 => format!("if ({cond}) exit(3);"),
            1 => format!("colt_assume(!({cond}));"),
            2 => format!("if ({cond}) abort();"),
            3 => format!("if ({cond}) {{ y = 3; exit(y); }}"),
            _ => format!("colt_assert(!({cond}));"),
        };
        self.line(depth, &text);
    }

    fn switch(&mut self, depth: usize) {
        let (value, one, two, three) = (self.value(), self.assignment(), self.assignment(), self.assignment());
        let cond = self.condition();
        self.line(
            depth,
            &format!("switch (({value}) & 3) {{ case 0: {one} case 1: {two} if ({cond}) break; case 3: {three} default: break; }}"),
        );
    }

    fn repeat(&mut self, depth: usize) {
        if self.in_loop {
            return self.assign(depth);
        }
        let (name, value) = (self.name(), self.value());
        let turns = match self.dice.below(3) {
            0 => "2".to_string(),
            _ => format!("(({value}) & 3)"),
        };
        let head = match self.dice.below(2) {
            0 => format!("for (int i{name} = 0, n{name} = {turns}; i{name} < n{name}; i{name}++) {{"),
            _ => format!("for (int i{name} = 0; i{name} < 3 && i{name} != {turns}; i{name}++) {{"),
        };
        self.line(depth, &head);
        self.in_loop = true;
        self.assign(depth + 1);
        self.statement(depth + 1);
        self.statement(depth + 1);
        self.in_loop = false;
        self.line(depth, "}");
    }

    fn call(&mut self, depth: usize) {
        if self.place == Place::Helper {
            return self.assign(depth);
        }
        let p = self.p;
        let (idx, one, two) = (self.dice.below(2), self.value(), self.value());
        let out = self.dice.pick(&["&x", "&y", "r"]);
        self.line(depth, &format!("z = {p}_k{idx}({one}, {two}, {out});"));
    }
}
