//! Small random C programs: they end, have few enough paths to explore them all, and no undefined behaviour unless wild.
//!
//! A program with prefix `p` has functions `p_f0`, `p_f1`, ... (each may call those before it), `p_r` (recursive), `p_s`
//! (returns a structure), `p_unit`, which calls them and branches on what they give, and `p_entry`, which declares three
//! inputs of a byte each and calls the unit. Functions read and write globals, arrays and what their pointers point to.
//! Several programs with different prefixes can stand in one file.
//!
//! Wild programs also have lists, objects on the heap, results and out-parameters that are pointers, calls through a pointer
//! that calls change, ends of the program in a call, and faults: aborts, divisions by zero, indexes out of bounds.

use std::fmt::Write;

/// splitmix64: the same seed gives the same program everywhere.
pub struct Dice {
    pub seed: u64,
}

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    Calm,
    Wild,
}

/// The text of a program, and the functions its unit may call.
pub struct Generated {
    pub text: String,
    pub callees: Vec<String>,
}

/// Needed once before the programs of a file.
pub const HEADER: &str = "#include <stdlib.h>\nvoid colt_input(void *at, unsigned long size, const char *name);\n";

/// Functions of wild programs, by what follows the prefix.
const WILD_FUNCTIONS: &[&str] = &["walk", "either", "place", "fresh", "leave", "turn"];

pub fn program(seed: u64, prefix: &str, temper: Temper) -> Generated {
    let mut writer = Writer {
        dice: Dice { seed },
        prefix,
        text: String::new(),
        n_functions: 0,
        values: Vec::new(),
        places: Vec::new(),
        n_loops: 0,
        budget: 0,
        temper,
    };
    writer.program();
    let mut callees: Vec<String> = (0..writer.n_functions).map(|idx| format!("{prefix}_f{idx}")).collect();
    callees.extend([format!("{prefix}_r"), format!("{prefix}_s")]);
    if temper == Temper::Wild {
        callees.extend(WILD_FUNCTIONS.iter().map(|name| format!("{prefix}_{name}")));
    }
    Generated { text: writer.text, callees }
}

struct Writer<'p> {
    dice: Dice,
    prefix: &'p str,
    text: String,
    /// Functions that may be called so far.
    n_functions: u64,
    /// What may be read in the function being written.
    values: Vec<String>,
    /// What may be written.
    places: Vec<String>,
    n_loops: u64,
    /// Statements the function may still get.
    budget: u64,
    temper: Temper,
}

const INDENT: &str = "    ";

impl Writer<'_> {
    fn program(&mut self) {
        let p = self.prefix;
        let _ = writeln!(self.text, "static unsigned {p}_g0, {p}_g1 = 1, {p}_t[4];");
        let _ = writeln!(self.text, "struct {p}_pair {{ unsigned u, v; }};");
        let n_functions = 1 + self.dice.below(3);
        for idx in 0..n_functions {
            self.function(&format!("static unsigned {p}_f{idx}(unsigned a, unsigned b, unsigned *q)"), Body::Plain);
            self.n_functions += 1;
        }
        self.function(&format!("static unsigned {p}_r(unsigned n, unsigned a, unsigned *q)"), Body::Recursive);
        self.function(&format!("static struct {p}_pair {p}_s(unsigned a, unsigned b)"), Body::Pair);
        if self.temper == Temper::Wild {
            self.wild_functions();
        }
        self.function(&format!("static unsigned {p}_unit(unsigned a, unsigned b, unsigned c)"), Body::Unit);
        let _ = writeln!(
            self.text,
            "int {p}_entry(void) {{\n    unsigned char a, b, c;\n    colt_input(&a, 1, \"a\");\n    colt_input(&b, 1, \"b\");\n    \
             colt_input(&c, 1, \"c\");\n    return (int)({p}_unit(a, b, c) & 63);\n}}"
        );
    }

    /// Functions whose effects are hard to bound. Each takes one of two ways or more.
    fn wild_functions(&mut self) {
        let p = self.prefix;
        self.values = ["a", "(a + 1)"].map(str::to_string).to_vec();
        self.values.push(format!("{p}_g0"));
        let conds: Vec<String> = (0..6).map(|_| self.condition()).collect();
        let (amount, last) = (self.value(1), self.n_functions - 1);
        let [walk, either, place, fresh, leave, turn] = conds.as_slice() else { unreachable!("six were made") };
        let _ = writeln!(
            self.text,
            "struct {p}_node {{ unsigned v; struct {p}_node *next; }};
static struct {p}_node {p}_n0, {p}_n1 = {{ 2, &{p}_n0 }};
static unsigned (*{p}_fn)(unsigned, unsigned, unsigned *) = {p}_f0;
static unsigned {p}_walk(struct {p}_node *n, unsigned a) {{
    unsigned k = 0;
    for (; n; n = n->next, k++)
        if (n->v == (a & 3)) {{
            n->v = {amount};
            if ({walk})
                n->next = 0;
            return k;
        }}
    return 7;
}}
static unsigned *{p}_either(unsigned a, unsigned *q, unsigned *o) {{
    if ({either})
        return q;
    *o = a;
    return o;
}}
static unsigned {p}_place(unsigned a, unsigned **to) {{
    if ({place}) {{
        *to = &{p}_t[a & 3];
        return 1;
    }}
    *to = &{p}_g1;
    return a & 2;
}}
static unsigned *{p}_fresh(unsigned a) {{
    if ({fresh})
        return 0;
    unsigned *made = malloc(sizeof *made);
    *made = {amount};
    return made;
}}
static unsigned {p}_leave(unsigned a) {{
    if ({leave})
        exit((int)(a & 7));
    return a & 5;
}}
static void {p}_turn(unsigned a) {{
    if ({turn})
        {p}_fn = {p}_f{last};
}}"
        );
    }

    fn function(&mut self, signature: &str, body: Body) {
        let p = self.prefix;
        let _ = writeln!(self.text, "{signature} {{\n    unsigned x = 0, y = 1;");
        let mut values: Vec<String> = ["a", "b", "x", "y"].map(str::to_string).to_vec();
        let mut places: Vec<String> = ["x", "y"].map(str::to_string).to_vec();
        for global in ["g0", "g1"] {
            values.push(format!("{p}_{global}"));
            places.push(format!("{p}_{global}"));
        }
        match body {
            Body::Plain | Body::Recursive => {
                values.push("*q".to_string());
                places.extend(["*q".to_string(), "*q".to_string()]);
            }
            Body::Pair => {}
            Body::Unit => values.push("c".to_string()),
        }
        if let (Body::Unit, Temper::Wild) = (body, self.temper) {
            let _ = writeln!(
                self.text,
                "    unsigned *w = &y;\n    struct {p}_node *l = malloc(sizeof *l);\n    l->v = a;\n    l->next = &{p}_n1;"
            );
            values.extend(["*w", "l->v", "(l->next ? l->next->v : 3)"].map(str::to_string));
            places.extend(["*w", "l->v"].map(str::to_string));
        }
        if let Body::Recursive = body {
            values.retain(|value| value != "b");
            let _ = writeln!(self.text, "    if (n == 0)\n        return a & 7;");
        }
        (self.values, self.places, self.n_loops) = (values, places, 0);
        self.budget = if let Body::Unit = body { 7 } else { 3 };
        let n_statements = self.budget - 2;
        for _ in 0..n_statements {
            self.statement(1, body);
        }
        if let Body::Unit = body {
            self.call(1);
            self.branch(1, body);
        }
        let result = self.value(1);
        let _ = match body {
            Body::Plain | Body::Unit => writeln!(self.text, "    return {result};\n}}"),
            Body::Recursive => writeln!(self.text, "    return {p}_r(n - 1, {result}, q) + 1;\n}}"),
            Body::Pair => {
                let other = self.value(1);
                writeln!(self.text, "    struct {p}_pair z = {{ {result}, {other} }};\n    return z;\n}}")
            }
        };
    }

    fn statement(&mut self, depth: usize, body: Body) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        let is_unit = matches!(body, Body::Unit);
        if self.temper == Temper::Wild && self.dice.one_in(if is_unit { 3 } else { 8 }) {
            return if is_unit && !self.dice.one_in(3) { self.wild_call(depth) } else { self.fault(depth) };
        }
        match self.dice.below(10) {
            0..4 if is_unit => self.call(depth),
            0 if self.n_functions > 0 => self.call(depth),
            0..6 => self.branch(depth, body),
            6 if self.n_loops == 0 => self.repeat(depth, body),
            _ => self.assign(depth),
        }
    }

    fn assign(&mut self, depth: usize) {
        let (place, value) = (self.place(), self.value(2));
        let _ = writeln!(self.text, "{}{place} = {value};", INDENT.repeat(depth));
    }

    fn branch(&mut self, depth: usize, body: Body) {
        let indent = INDENT.repeat(depth);
        let cond = self.condition();
        let _ = writeln!(self.text, "{indent}if ({cond}) {{");
        self.assign(depth + 1);
        self.statement(depth + 1, body);
        if self.dice.one_in(6) && matches!(body, Body::Plain | Body::Unit) {
            let value = self.value(1);
            let _ = writeln!(self.text, "{indent}    return {value};");
        }
        if self.dice.one_in(2) {
            let _ = writeln!(self.text, "{indent}}} else {{");
            self.assign(depth + 1);
            self.statement(depth + 1, body);
        }
        let _ = writeln!(self.text, "{indent}}}");
    }

    fn repeat(&mut self, depth: usize, body: Body) {
        self.n_loops += 1;
        let indent = INDENT.repeat(depth);
        let name = format!("i{}", self.n_loops);
        let bound = if self.dice.one_in(2) { "2".to_string() } else { format!("({} & 3)", self.value(1)) };
        // The bound is taken once: the body may change what it is made of.
        let _ =
            writeln!(self.text, "{indent}for (unsigned {name} = 0, n{name} = {bound}; {name} < n{name}; {name}++) {{");
        self.values.push(name);
        self.statement(depth + 1, body);
        self.assign(depth + 1);
        self.values.pop();
        let _ = writeln!(self.text, "{indent}}}");
    }

    fn call(&mut self, depth: usize) {
        let (p, indent) = (self.prefix, INDENT.repeat(depth));
        let (a, b) = (self.value(1), self.value(1));
        let pointer = match self.dice.below(8) {
            0..3 => "&x".to_string(),
            3..5 => "&y".to_string(),
            5 => format!("&{p}_g0"),
            6 => format!("&{p}_t[1]"),
            _ => format!("&{p}_t[{} & 3]", self.value(1)),
        };
        let place = self.place();
        let _ = match self.dice.below(6) {
            0 if self.is_late() => writeln!(self.text, "{indent}{place} = {p}_r({a} & 3, {b}, {pointer});"),
            1 if self.is_late() => {
                writeln!(self.text, "{indent}{{ struct {p}_pair z = {p}_s({a}, {b}); {place} = z.u + 2 * z.v; }}")
            }
            2 => {
                let callee = self.callee();
                writeln!(self.text, "{indent}{callee}({a}, {b}, {pointer});")
            }
            _ => {
                let callee = self.callee();
                writeln!(self.text, "{indent}{place} = {callee}({a}, {b}, {pointer});")
            }
        };
    }

    fn wild_call(&mut self, depth: usize) {
        let (p, indent) = (self.prefix, INDENT.repeat(depth));
        let (a, b, place) = (self.value(1), self.value(1), self.place());
        let _ = match self.dice.below(7) {
            0 => writeln!(self.text, "{indent}w = {p}_either({a}, &x, w);"),
            1 => writeln!(self.text, "{indent}w = {p}_either({a}, &{p}_t[{b} & 3], &{p}_g0);"),
            2 => writeln!(self.text, "{indent}{place} = {p}_place({a}, &w);"),
            3 => writeln!(self.text, "{indent}{place} = {p}_walk(l, {a});"),
            4 => writeln!(
                self.text,
                "{indent}{{ unsigned *z = {p}_fresh({a}); if (z) {{ {place} = *z; if ({b} == 1) free(z); else w = z; }} }}"
            ),
            5 => writeln!(self.text, "{indent}{place} = {p}_leave({a});"),
            _ => writeln!(self.text, "{indent}{p}_turn({a});\n{indent}{place} = {p}_fn({b}, {a}, w);"),
        };
    }

    fn fault(&mut self, depth: usize) {
        let (p, indent) = (self.prefix, INDENT.repeat(depth));
        let (value, place) = (self.value(1), self.place());
        let _ = match self.dice.below(4) {
            0 => {
                let cond = self.condition();
                writeln!(self.text, "{indent}if ({cond})\n{indent}    abort();")
            }
            1 => writeln!(self.text, "{indent}{place} = 12 / ({value} & 3);"),
            2 => writeln!(self.text, "{indent}{place} = {p}_t[{value} & 7];"),
            _ => writeln!(self.text, "{indent}{p}_t[{value} % 5] = {place};"),
        };
    }

    /// Whether the functions written last are there to be called.
    fn is_late(&self) -> bool {
        self.text.contains("_unit(")
    }

    fn callee(&mut self) -> String {
        format!("{}_f{}", self.prefix, self.dice.below(self.n_functions))
    }

    fn place(&mut self) -> String {
        if self.dice.one_in(8) {
            let index = self.value(1);
            return format!("{}_t[{index} & 3]", self.prefix);
        }
        let idx = self.dice.below(self.places.len() as u64) as usize;
        self.places[idx].clone()
    }

    fn value(&mut self, depth: usize) -> String {
        match self.dice.below(if depth == 0 { 6 } else { 11 }) {
            0..5 => {
                let idx = self.dice.below(self.values.len() as u64) as usize;
                self.values[idx].clone()
            }
            5 => self.dice.below(8).to_string(),
            6 => {
                let index = self.value(depth - 1);
                format!("{}_t[{index} & 3]", self.prefix)
            }
            7 => format!("({} & {})", self.value(depth - 1), 1 + self.dice.below(15)),
            8 => format!("({} * {})", self.value(depth - 1), 2 + self.dice.below(3)),
            _ => {
                let op = self.dice.pick(&["+", "-", "^", "+"]);
                format!("({} {op} {})", self.value(depth - 1), self.value(depth - 1))
            }
        }
    }

    fn condition(&mut self) -> String {
        let simple = |writer: &mut Self| {
            let op = writer.dice.pick(&["==", "!=", "<", ">", "<=", "=="]);
            let (left, right) = (writer.value(1), writer.dice.below(6));
            format!("{left} {op} {right}")
        };
        match self.dice.below(6) {
            0 => format!("{} && {}", simple(self), simple(self)),
            1 => format!("{} || {}", simple(self), simple(self)),
            _ => simple(self),
        }
    }
}

/// What a function is like.
#[derive(Clone, Copy)]
enum Body {
    Plain,
    Recursive,
    Pair,
    Unit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        assert_eq!(program(7, "p", Temper::Wild).text, program(7, "p", Temper::Wild).text);
        assert_ne!(program(7, "p", Temper::Wild).text, program(8, "p", Temper::Wild).text);
    }
}
