//! Small random C programs in which paths part and meet: branches on inputs, dead and live variables, loops, calls, tables
//! at symbolic offsets, lists on the heap, and now and then a fault.

use std::fmt::Write;

/// splitmix64: the same seed gives the same program everywhere.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }

    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// Needed once before the programs of a file.
pub const HEADER: &str = "
void colt_input(void *at, unsigned long size, const char *name);
void *malloc(unsigned long);
void free(void *);
void *memcpy(void *, const void *, unsigned long);
struct node { unsigned v; struct node *next; };
static struct node *push(struct node *list, unsigned v) {
    struct node *n = malloc(sizeof *n);
    n->v = v;
    n->next = list;
    return n;
}
static struct node *append(struct node *list, unsigned v) {
    struct node *n = push(0, v);
    if (!list)
        return n;
    struct node *last = list;
    while (last->next)
        last = last->next;
    last->next = n;
    return list;
}
static struct node *drop(struct node *list) {
    if (!list)
        return 0;
    struct node *next = list->next;
    free(list);
    return next;
}
static unsigned total(struct node *list) {
    unsigned sum = 0;
    for (; list; list = list->next)
        sum += list->v;
    return sum;
}
";

/// A program whose entry is `p_entry`, `p` being the prefix.
pub fn program(seed: u64, prefix: &str) -> String {
    let mut writer =
        Writer { dice: Dice(seed), p: prefix, text: String::new(), budget: 0, in_entry: false, n_loops: 0 };
    writer.program();
    writer.text
}

struct Writer<'p> {
    dice: Dice,
    p: &'p str,
    text: String,
    /// Statements the function may still get.
    budget: u64,
    in_entry: bool,
    n_loops: u64,
}

impl Writer<'_> {
    fn program(&mut self) {
        let p = self.p;
        let _ = writeln!(
            self.text,
            "static unsigned {p}_g0, {p}_g1 = 3, {p}_count;\nstatic unsigned char {p}_t[8], {p}_u[8] = {{ 1, 2, 3 }};"
        );
        for idx in 0..2 {
            let _ = writeln!(
                self.text,
                "static unsigned {p}_f{idx}(unsigned a, unsigned b, unsigned *q) {{\n    unsigned x = a, y = 0;\n    (void)x; (void)y;"
            );
            self.budget = 3;
            self.statements(1, 2);
            let value = self.value(1);
            let _ = writeln!(self.text, "    *q = {value};\n    return x + y;\n}}");
        }
        let _ = writeln!(
            self.text,
            "int {p}_entry(void) {{\n    unsigned char a, b, c, d;\n    unsigned x = 0, y = 1;\n    struct node *l = 0, *m = 0;\n    \
             colt_input(&a, 1, \"a\");\n    colt_input(&b, 1, \"b\");\n    colt_input(&c, 1, \"c\");\n    colt_input(&d, 1, \"d\");"
        );
        self.in_entry = true;
        self.budget = 18;
        self.statements(1, 9);
        let _ = writeln!(
            self.text,
            "    if ((x ^ {p}_g0) == 5)\n        return 1;\n    if (total(l) + total(m) == y)\n        return 2;\n    return 0;\n}}"
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

    fn statement(&mut self, depth: usize) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        let p = self.p;
        match self.dice.below(20) {
            0..6 => {
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
            6 => {
                let (value, one, two) = (self.value(1), self.assignment(), self.assignment());
                self.line(
                    depth,
                    &format!("switch ({value} & 3) {{ case 0: {one} break; case 2: {two} default: break; }}"),
                );
            }
            7 if self.n_loops < 2 => {
                self.n_loops += 1;
                let i = format!("i{}", self.n_loops);
                let bound = self.value(1);
                self.line(depth, &format!("for (unsigned {i} = 0, n{i} = {bound} & 3; {i} < n{i}; {i}++) {{"));
                self.assign(depth + 1);
                self.statement(depth + 1);
                self.line(depth, "}");
            }
            8..11 if self.in_entry => {
                let (f, a, b) = (self.dice.below(2), self.value(1), self.value(1));
                let pointer = self.dice.pick(&["&x", "&y"]);
                let text = match self.dice.below(3) {
                    0 => format!("{p}_f{f}({a}, {b}, &{p}_g0);"),
                    _ => format!("{p}_g1 = {p}_f{f}({a}, {b}, {pointer});"),
                };
                self.line(depth, &text);
            }
            11..15 if self.in_entry => {
                let (list, value) = (self.dice.pick(&["l", "m"]), self.value(0));
                let text = match self.dice.below(6) {
                    0..2 => format!("{list} = push({list}, {value});"),
                    2 => format!("{list} = append({list}, {value});"),
                    3 => format!("{list} = drop({list});"),
                    4 => format!("if ({list}) x = {list}->v;"),
                    _ => "{ struct node *s = l; l = m; m = s; }".to_string(),
                };
                self.line(depth, &text);
            }
            15 => self.line(depth, &format!("{p}_count++;")),
            16 => self.line(depth, &format!("memcpy({p}_t, {p}_u, 4);")),
            17 => {
                let value = self.value(1);
                let text = match self.dice.below(4) {
                    0 => format!("y = 60 / ({value} & 7);"),
                    1 => format!("y = {p}_t[{value} & 15];"),
                    _ => format!("y = {p}_t[{value} & 7];"),
                };
                self.line(depth, &text);
            }
            _ => self.assign(depth),
        }
    }

    fn assignment(&mut self) -> String {
        let p = self.p;
        let value = self.value(2);
        match self.dice.below(8) {
            0..2 => format!("x = {value};"),
            2..4 => format!("y = {value};"),
            4 => format!("{p}_g0 = {value};"),
            5 => format!("{p}_g1 += {value};"),
            6 => format!("{p}_t[{} & 7] = {value};", self.value(0)),
            _ => format!("{p}_u[{}] = {value};", self.dice.below(8)),
        }
    }

    fn assign(&mut self, depth: usize) {
        let text = self.assignment();
        self.line(depth, &text);
    }

    fn value(&mut self, depth: usize) -> String {
        let p = self.p;
        match self.dice.below(if depth == 0 { 13 } else { 18 }) {
            9..13 | 0..2 => self.dice.pick(if self.in_entry { &["a", "b", "c", "d"] } else { &["a", "b"] }).to_string(),
            2..4 => self.dice.pick(&["x", "y"]).to_string(),
            4 => format!("{p}_g0"),
            5 => format!("{p}_g1"),
            6 => format!("{p}_t[{}]", self.dice.below(8)),
            7..9 => self.dice.below(6).to_string(),
            13 => format!("{p}_u[{} & 7]", self.value(depth - 1)),
            14 => format!("({} & {})", self.value(depth - 1), 1 + self.dice.below(15)),
            _ => {
                let op = self.dice.pick(&["+", "-", "^"]);
                format!("({} {op} {})", self.value(depth - 1), self.value(depth - 1))
            }
        }
    }

    fn condition(&mut self) -> String {
        let op = self.dice.pick(&["==", "!=", "<", ">", "=="]);
        let (value, number) = (self.value(1), self.dice.below(6));
        match self.dice.below(5) {
            0 => format!("{value} {op} {number} && {} > {number}", self.value(0)),
            _ => format!("{value} {op} {number}"),
        }
    }
}
