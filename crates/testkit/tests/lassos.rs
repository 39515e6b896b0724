//! Hangs against ground truth: random loops over two or three bytes, whose states are all simulated.
//!
//! `LASSO_LOOPS` (default 12) loops from `LASSO_SEED` (default 1) on, in programs of six. A loop that ends on every input must
//! never be reported, an input that is reported must hang, and of the loops that hang on some input at least 95 % must be. Limits are
//! of processor time: a program that got less of it than the clock says, because the machine is busy, is run again for longer.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use testkit::command::{read_json, run_colt};
use testkit::generate::Dice;

const N_IN_A_PROGRAM: u64 = 6;
/// Seconds of processor time for a program, of which a run has to get most; and by the clock at most.
const SECONDS: u64 = 20;
const MAX_SECONDS: u64 = 16 * SECONDS;
const NAMES: [&str; 3] = ["a", "b", "c"];

type State = [u8; 3];

#[derive(Clone, Copy)]
enum Operand {
    Variable(usize),
    Constant(u8),
}

#[derive(Clone, Copy)]
struct Comparison(usize, &'static str, Operand);

enum Condition {
    One(Comparison),
    Both(Comparison, Comparison),
    Either(Comparison, Comparison),
}

struct Assignment {
    to: usize,
    from: usize,
    op: &'static str,
    by: Operand,
}

enum Statement {
    Assign(Assignment),
    If(Condition, Assignment, Option<Assignment>),
}

struct Loop {
    /// Two are inputs; a third one starts as this.
    third: Option<u8>,
    condition: Condition,
    body: Vec<Statement>,
}

impl Operand {
    fn random(dice: &mut Dice, n: u64) -> Operand {
        match dice.below(2) {
            0 => Operand::Variable(dice.below(n) as usize),
            _ => Operand::Constant([0, 1, 2, 3, 5, 7, 10, 16, 100, 127, 128, 200, 255][dice.below(13) as usize]),
        }
    }

    fn value(self, at: State) -> u8 {
        match self {
            Operand::Variable(idx) => at[idx],
            Operand::Constant(value) => value,
        }
    }

    fn text(self) -> String {
        match self {
            Operand::Variable(idx) => NAMES[idx].to_string(),
            Operand::Constant(value) => value.to_string(),
        }
    }
}

impl Comparison {
    fn random(dice: &mut Dice, n: u64) -> Comparison {
        let op = dice.pick(&["<", "<=", ">", ">=", "!=", "=="]);
        Comparison(dice.below(n) as usize, op, Operand::random(dice, n))
    }

    fn holds(self, at: State) -> bool {
        let (a, b) = (at[self.0], self.2.value(at));
        match self.1 {
            "<" => a < b,
            "<=" => a <= b,
            ">" => a > b,
            ">=" => a >= b,
            "!=" => a != b,
            _ => a == b,
        }
    }

    fn text(self) -> String {
        format!("{} {} {}", NAMES[self.0], self.1, self.2.text())
    }
}

impl Condition {
    fn random(dice: &mut Dice, n: u64) -> Condition {
        let one = Comparison::random(dice, n);
        match dice.below(4) {
            0 => Condition::Both(one, Comparison::random(dice, n)),
            1 => Condition::Either(one, Comparison::random(dice, n)),
            _ => Condition::One(one),
        }
    }

    fn holds(&self, at: State) -> bool {
        match self {
            Condition::One(one) => one.holds(at),
            Condition::Both(one, two) => one.holds(at) && two.holds(at),
            Condition::Either(one, two) => one.holds(at) || two.holds(at),
        }
    }

    fn text(&self) -> String {
        match self {
            Condition::One(one) => one.text(),
            Condition::Both(one, two) => format!("{} && {}", one.text(), two.text()),
            Condition::Either(one, two) => format!("{} || {}", one.text(), two.text()),
        }
    }
}

impl Assignment {
    fn random(dice: &mut Dice, n: u64) -> Assignment {
        let op = dice.pick(&["+", "+", "-", "-", "^", "&", "|", ">>", "/", "*"]);
        let by = match op {
            ">>" => Operand::Constant(1 + dice.below(3) as u8),
            "/" => Operand::Constant(2 + dice.below(3) as u8),
            "*" => Operand::Constant([2, 3, 5][dice.below(3) as usize]),
            _ => Operand::random(dice, n),
        };
        let to = dice.below(n) as usize;
        let from = if dice.below(3) == 0 { dice.below(n) as usize } else { to };
        Assignment { to, from, op, by }
    }

    fn apply(&self, at: &mut State) {
        let (x, y) = (at[self.from], self.by.value(*at));
        at[self.to] = match self.op {
            "+" => x.wrapping_add(y),
            "-" => x.wrapping_sub(y),
            "^" => x ^ y,
            "&" => x & y,
            "|" => x | y,
            ">>" => x >> y,
            "/" => x / y,
            _ => x.wrapping_mul(y),
        };
    }

    fn text(&self) -> String {
        format!("{} = (unsigned char)({} {} {});", NAMES[self.to], NAMES[self.from], self.op, self.by.text())
    }
}

impl Loop {
    fn random(seed: u64) -> Loop {
        let mut dice = Dice { seed: seed.wrapping_mul(0x1234_5678_9abc_def1) };
        let third = (dice.below(3) == 0).then(|| dice.below(256) as u8);
        let n = if third.is_some() { 3 } else { 2 };
        let condition = Condition::random(&mut dice, n);
        let n_statements = 1 + dice.below(3);
        let mut body = Vec::new();
        for _ in 0..n_statements {
            let one = Assignment::random(&mut dice, n);
            body.push(match dice.below(3) {
                0 => {
                    let other = (dice.below(2) == 0).then(|| Assignment::random(&mut dice, n));
                    Statement::If(Condition::random(&mut dice, n), one, other)
                }
                _ => Statement::Assign(one),
            });
        }
        Loop { third, condition, body }
    }

    fn step(&self, mut at: State) -> State {
        for statement in &self.body {
            match statement {
                Statement::Assign(assignment) => assignment.apply(&mut at),
                Statement::If(condition, one, other) => match (condition.holds(at), other) {
                    (true, _) => one.apply(&mut at),
                    (false, Some(other)) => other.apply(&mut at),
                    (false, None) => {}
                },
            }
        }
        at
    }

    /// For every pair of inputs whether the loop goes on for ever: each state is walked from once.
    fn hangs(&self) -> Vec<bool> {
        const UNSEEN: u8 = 0;
        const ON_THE_WAY: u8 = 1;
        const ENDS: u8 = 2;
        const HANGS: u8 = 3;
        let index = |at: State| usize::from(at[0]) | usize::from(at[1]) << 8 | usize::from(at[2]) << 16;
        let mut known = vec![UNSEEN; if self.third.is_some() { 1 << 24 } else { 1 << 16 }];
        let start = |input: usize| [input as u8, (input >> 8) as u8, self.third.unwrap_or(0)];
        let mut way = Vec::new();
        for input in 0..1 << 16 {
            let mut at = start(input);
            way.clear();
            let fate = loop {
                match known[index(at)] {
                    UNSEEN => {}
                    ON_THE_WAY => break HANGS,
                    fate => break fate,
                }
                known[index(at)] = ON_THE_WAY;
                way.push(index(at));
                if !self.condition.holds(at) {
                    break ENDS;
                }
                at = self.step(at);
            };
            way.iter().for_each(|state| known[*state] = fate);
        }
        (0..1 << 16).map(|input| known[index(start(input))] == HANGS).collect()
    }

    /// A function, and the line in it that the loop is on.
    fn write(&self, name: &str, text: &mut String) -> usize {
        let _ = writeln!(text, "static void {name}(unsigned char a, unsigned char b) {{");
        if let Some(third) = self.third {
            let _ = writeln!(text, "    unsigned char c = {third};");
        }
        let line = text.lines().count() + 1;
        let _ = writeln!(text, "    while ({}) {{", self.condition.text());
        for statement in &self.body {
            let _ = match statement {
                Statement::Assign(assignment) => writeln!(text, "        {}", assignment.text()),
                Statement::If(condition, one, None) => {
                    writeln!(text, "        if ({}) {{ {} }}", condition.text(), one.text())
                }
                Statement::If(condition, one, Some(other)) => {
                    writeln!(text, "        if ({}) {{ {} }} else {{ {} }}", condition.text(), one.text(), other.text())
                }
            };
        }
        text.push_str("    }\n}\n\n");
        line
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Explores `loops.c` in a folder: the summary, and the limit that was long enough.
fn explored(folder: &Path) -> (serde_json::Value, u64) {
    let mut seconds = SECONDS;
    loop {
        let limit = format!("{seconds}s");
        let words = ["run", "loops.c", "--with", "lassos", "--no-replay", "--max-memory", "2000", "--out", "out"];
        let words = [&words[..], &["--max-time", &limit]].concat();
        let before = processor_seconds();
        let finished = run_colt(folder, &words, Duration::from_secs(seconds + 300));
        let got = processor_seconds() - before;
        let file = folder.join("out/summary.json");
        assert!(file.is_file(), "no summary in {}: {}", folder.display(), finished.output());
        let summary = read_json(&file);
        let was_cut = summary["cuts"].as_array().is_some_and(|cuts| !cuts.is_empty());
        if !was_cut || got >= SECONDS as f64 / 2.0 || seconds >= MAX_SECONDS {
            return (summary, seconds);
        }
        std::fs::remove_dir_all(folder.join("out")).expect("an empty place");
        seconds *= 2;
    }
}

/// What commands that this process has waited for have used.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // Behind the name, which may hold spaces: `cutime` and `cstime` are fields 16 and 17, in hundredths.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    [13, 14].iter().map(|nth| fields[*nth].parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}

#[test]
fn generated_loops_hang_where_they_are_said_to() {
    let (first, count) = (number("LASSO_SEED", 1), number("LASSO_LOOPS", 12));
    let (mut n_hanging, mut missed, mut wrong) = (0u64, Vec::new(), Vec::new());
    for start in (first..first + count).step_by(N_IN_A_PROGRAM as usize) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = String::from("#include <colt.h>\n\n");
        let mut loops = Vec::new();
        for seed in start..(start + N_IN_A_PROGRAM).min(first + count) {
            let it = Loop::random(seed);
            let line = it.write(&format!("loop_{seed}"), &mut text);
            loops.push((seed, line, it.hangs()));
        }
        text.push_str("int main(void) {\n    unsigned char a = colt_uchar(\"a\"), b = colt_uchar(\"b\");\n");
        let _ = writeln!(text, "    switch (colt_range(0, {}, \"which\")) {{", loops.len());
        for (nth, (seed, ..)) in loops.iter().enumerate() {
            let _ = writeln!(text, "    case {nth}: loop_{seed}(a, b); break;");
        }
        text.push_str("    }\n    return 0;\n}\n");
        std::fs::write(folder.path().join("loops.c"), &text).expect("a program");
        let (summary, seconds) = explored(folder.path());
        let was_cut = summary["cuts"].as_array().is_some_and(|cuts| !cuts.is_empty());
        let findings = summary["findings"].as_array().cloned().unwrap_or_default();
        for (seed, line, hangs) in &loops {
            let said = findings.iter().find(|finding| finding["line"].as_u64() == Some(*line as u64));
            let is_hanging = hangs.contains(&true);
            n_hanging += u64::from(is_hanging);
            match said {
                None if is_hanging => {
                    let why = if was_cut { format!(" within {seconds} s") } else { String::new() };
                    println!(
                        "loop {seed} hangs, and is not reported{why}; its program (loops {start} and on):\n{text}"
                    );
                    missed.push(*seed);
                }
                None => {}
                Some(finding) => {
                    let test = read_json(&folder.path().join("out").join(finding["test"].as_str().unwrap_or("")));
                    let byte = |name: &str| {
                        let inputs = test["inputs"].as_array().map_or(&[][..], Vec::as_slice);
                        let input = inputs.iter().find(|input| input["name"] == name);
                        let bytes = input.and_then(|input| input["bytes"].as_str()).unwrap_or("00");
                        usize::from_str_radix(bytes, 16).unwrap_or(0)
                    };
                    if !hangs[byte("a") | byte("b") << 8] {
                        let (a, b) = (byte("a"), byte("b"));
                        println!(
                            "loop {seed} is reported for a = {a}, b = {b}, and ends; its program (loops {start} and on):\n{text}"
                        );
                        wrong.push(*seed);
                    }
                }
            }
        }
    }
    println!("{count} loops, {n_hanging} hang; missed: {missed:?}; wrong: {wrong:?}");
    assert!(wrong.is_empty(), "reported, but they end: loops {wrong:?}");
    assert!(missed.len() as u64 * 20 <= n_hanging, "missed {} of {n_hanging}: loops {missed:?}", missed.len());
}
