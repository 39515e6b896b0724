//! Small random C functions with memory that may or may not be written, each held against MemorySanitizer.
//!
//! What is written depends on the two inputs only, of which two bits each count: sixteen runs show all a function can do. What
//! depends on unwritten memory is never decided on again, so that the native program, which has one value there, comes along
//! every place that an engine with all values comes along. Everything that uses a value stands on a line of its own.
//!
//! Left out on purpose is what MemorySanitizer does not take exactly: arithmetic with carries, of which it misses what they carry,
//! and `x ^ x` and order between numbers of which a part is written, where it reports what no value changes.

use std::fmt::Write;

use crate::generate::Dice;

/// Needed once before the functions of a file.
pub const HEADER: &str = "\
#include <stdlib.h>
#include <string.h>
struct s { char c; int i; unsigned f : 3, g : 5; short h; };
union u { int i; unsigned char b[4]; short h; };
int sink;
int table[8];
static struct s pass(struct s v) { return v; }
static int give(int *p, int k) { if (k) *p = k; return *p; }
static struct s make(int k) { struct s v; v.i = k; if (k) v.c = 1; return v; }
static inline __attribute__((always_inline)) void keep(int *to, int k) { int t; if (k) t = k; *to = t; }
static void put(unsigned char *p, int n) { for (int i = 0; i < n; i++) p[i] = (unsigned char)i; }
";

/// The text of `int NAME(unsigned char a, unsigned char b)`.
pub fn function(seed: u64, name: &str) -> String {
    let mut writer = Writer { dice: Dice { seed }, text: String::new() };
    writer.function(name);
    writer.text
}

struct Writer {
    dice: Dice,
    text: String,
}

const SCALARS: &[&str] = &["x0", "x1", "x2", "*p2", "s0.i", "s1.i", "u0.i", "h[0]", "h[3]", "h[5]"];

/// Nearly all of it, for functions that may turn out clean.
const WRITES_ALL: &[&str] = &[
    "x0 = 1;",
    "x1 = 2;",
    "*p2 = 6;",
    "memset(&s0, 1, sizeof s0);",
    "memset(&s1, 2, sizeof s1);",
    "u0.i = 3;",
    "memset(buf, 4, sizeof buf);",
    "memset(h, 5, 16);",
];

impl Writer {
    fn function(&mut self, name: &str) {
        let _ = writeln!(self.text, "int {name}(unsigned char a, unsigned char b) {{");
        self.text.push_str(
            "  int x0, x1, x2, *p2 = &x2;\n  struct s s0, s1;\n  union u u0;\n  unsigned char buf[8];\n  int *h = malloc(16);\n",
        );
        if self.dice.one_in(2) {
            for write in WRITES_ALL.iter().filter(|_| !self.dice.one_in(9)) {
                let _ = writeln!(self.text, "  {write}");
            }
        }
        let grows = self.dice.one_in(2);
        let n_writes = 3 + self.dice.below(6);
        let grown_after = self.dice.below(n_writes);
        for idx in 0..n_writes {
            let write = self.write();
            // Beyond its end nothing is written before it has grown.
            let write = if idx <= grown_after || !grows { write.replace("h[5]", "h[1]") } else { write };
            let _ = writeln!(self.text, "  {write}");
            if grows && idx == grown_after {
                self.text.push_str("  h = realloc(h, 32);\n");
            }
        }
        for _ in 0..2 + self.dice.below(4) {
            let value = self.value();
            let value = if grows { value } else { value.replace("h[5]", "h[2]") };
            let line = match self.dice.below(6) {
                0..=2 => format!("if ({value}) sink ^= 1;"),
                3 => format!("switch ({value} & 3) {{ case 1: sink ^= 2; break; default: break; }}"),
                4 => format!("sink += table[{value} & 7];"),
                _ => format!("sink ^= 100 / (({value}) | 1);"),
            };
            let _ = writeln!(self.text, "  {line}");
        }
        self.text.push_str("  free(h);\n  return 0;\n}\n");
    }

    /// A condition on the inputs, or none.
    fn guard(&mut self) -> &'static str {
        self.dice.pick(&[
            "",
            "",
            "if (a & 1) ",
            "if (a & 2) ",
            "if (b & 1) ",
            "if ((b & 3) == 2) ",
            "if ((a & 3) > (b & 3)) ",
        ])
    }

    fn write(&mut self) -> String {
        let guard = self.guard();
        let scalar = self.dice.pick(SCALARS);
        let other = self.dice.pick(SCALARS);
        let number = 1 + self.dice.below(9);
        match self.dice.below(20) {
            18 => format!("keep(&x0, a & {});", number & 3),
            19 => "for (int i = 0; i < 2; i++) { int t, *p = &t; if (i == (a & 1)) *p = 3; if (i == 1) x1 = t; }"
                .to_string(),
            0..=3 => format!("{guard}{scalar} = {number};"),
            4 => format!("{guard}{scalar} = {other};"),
            5 => format!("{guard}s1 = s0;"),
            6 => format!("{guard}s0 = pass(s1);"),
            7 => format!("{guard}memcpy(&s1, &s0, sizeof s0);"),
            8 => format!("{guard}s0.f = {number} & 7;"),
            9 => format!("{guard}s1.g = {number};"),
            10 => format!("{guard}u0.h = {number};"),
            11 => format!("{guard}u0.b[{}] = {number};", number & 3),
            12 => format!("for (int i = 0; i < (a & 3); i++) buf[i + {}] = 1;", number & 3),
            13 => "for (int i = 0; i < 2; i++) { int t; if (i == (b & 1)) t = 3; if (i == 1) x1 = t; }".to_string(),
            14 => format!("{guard}give(&x0, a & {});", number & 3),
            15 => format!("{guard}s0 = make(b & {});", number & 3),
            16 => format!("{guard}memset(buf, 0, b & 3);"),
            _ => format!("put({}, b & 3);", self.dice.pick(&["buf", "buf + 4", "u0.b"])),
        }
    }

    fn value(&mut self) -> String {
        let place = match self.dice.below(12) {
            0..=4 => self.dice.pick(SCALARS).to_string(),
            5 => format!("buf[{}]", self.dice.below(8)),
            6 => format!("u0.b[{}]", self.dice.below(4)),
            7 => self.dice.pick(&["s0.f", "s0.g", "s1.f", "s1.g"]).to_string(),
            8 => self.dice.pick(&["s0.c", "s1.c", "s0.h", "u0.h"]).to_string(),
            _ => self.dice.pick(&["x0", "x1", "s1.i"]).to_string(),
        };
        let is_byte = place.starts_with("buf") || place.starts_with("u0.b");
        let other = self.dice.pick(&["buf[7]", "(a & 3)"]);
        match self.dice.below(8) {
            0 => format!("({place} & {})", 1u64 << self.dice.below(9)),
            1 => format!("({place} == {})", self.dice.below(4)),
            2 if other != place => format!("({place} ^ {other})"),
            3 => format!("({place} & 0)"),
            4 if is_byte => format!("({place} < {})", self.dice.below(9)),
            _ => place,
        }
    }
}
