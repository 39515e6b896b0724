//! Questions with floats: the stack against every value of half precision, against an SMT solver that reads circuits, and against one
//! that knows floats.

mod common;

use common::{Numbers, config};
use solver::{Answer, Config, Layer, PathCondition, Reply, SmtSolver, Stack, backend};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;
use term::float::{FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use term::{Assignment, Eval, TermId, Terms, View};

/// What a question is about.
#[derive(Clone, Copy)]
struct Inputs {
    width: u32,
    n_symbols: usize,
}

/// So few values that all can be tried.
const ONE_HALF: Inputs = Inputs { width: 16, n_symbols: 1 };
const TWO_HALVES: Inputs = Inputs { width: 16, n_symbols: 2 };

/// Float terms as programs make them.
struct Generator {
    numbers: Numbers,
    width: u32,
    symbols: Vec<TermId>,
    integer: TermId,
}

impl Generator {
    fn new(terms: &mut Terms, seed: u64, Inputs { width, n_symbols }: Inputs) -> Generator {
        let symbols: Vec<TermId> = (0..n_symbols).map(|nth| terms.symbol(&format!("x{nth}"), width)).collect();
        let integer = terms.extract(symbols[0], 9, 2);
        Generator { numbers: Numbers::new(seed), width, symbols, integer }
    }

    fn rounding(&mut self) -> Rounding {
        if self.numbers.below(4) == 0 { self.numbers.pick(&Rounding::ALL) } else { Rounding::NearestEven }
    }

    fn constant(&mut self, terms: &mut Terms) -> TermId {
        let format = Format::of(self.width);
        let small = i128::from(self.numbers.below(41)) - 20;
        let bits = match self.numbers.below(6) {
            0 => {
                self.numbers.pick(&[0, format.sign_bit(), format.infinity(), format.largest(), 1, format.default_nan()])
            }
            1 => u128::from(self.numbers.next()) & (format.sign_bit() * 2 - 1),
            _ => term::float::from_signed(format, Rounding::NearestEven, small),
        };
        terms.constant(bits, self.width)
    }

    fn float(&mut self, terms: &mut Terms, depth: u32) -> TermId {
        if depth == 0 || self.numbers.below(4) == 0 {
            return match self.numbers.below(3) {
                0 => self.constant(terms),
                _ => self.numbers.pick(&self.symbols),
            };
        }
        let rounding = self.rounding();
        let a = self.float(terms, depth - 1);
        match self.numbers.below(12) {
            0 => terms.float_unary(FloatUnary::Sqrt, rounding, a, self.width),
            1 => terms.float_unary(FloatUnary::Integral, rounding, a, self.width),
            2 => {
                let other = if self.width == 16 { 32 } else { 16 };
                let there = terms.fresize(rounding, a, other);
                terms.fresize(rounding, there, self.width)
            }
            3 => {
                let wide = terms.sext(self.integer, 16);
                terms.float_unary(FloatUnary::FromSigned, rounding, wide, self.width)
            }
            4 => {
                // The sign flipped.
                let sign = terms.constant(Format::of(self.width).sign_bit(), self.width);
                terms.xor(a, sign)
            }
            5 => {
                let (b, c) = (self.float(terms, depth - 1), self.condition(terms, depth - 1));
                terms.ite(c, a, b)
            }
            _ => {
                let op = self.numbers.pick(&[FloatBinary::Add, FloatBinary::Sub, FloatBinary::Mul, FloatBinary::Div]);
                let b = self.float(terms, depth - 1);
                terms.float_binary(op, rounding, a, b)
            }
        }
    }

    fn condition(&mut self, terms: &mut Terms, depth: u32) -> TermId {
        let (a, b) = (self.float(terms, depth), self.float(terms, depth.min(1)));
        let op = self.numbers.pick(&FloatCompare::ALL);
        let condition = terms.float_compare(op, a, b);
        if self.numbers.below(3) == 0 { terms.not(condition) } else { condition }
    }
}

/// A path of conditions that hold under the current input, the other side asked at each.
fn walk(seed: u64, inputs: Inputs, stack: &mut Stack, mut asked: impl FnMut(&Terms, &PathCondition, TermId, &Answer)) {
    let mut terms = Terms::new();
    let mut generator = Generator::new(&mut terms, seed, inputs);
    let mut path = PathCondition::new();
    let mut current = Assignment::new();
    let mut eval = Eval::new();
    for _ in 0..5 {
        let condition = generator.condition(&mut terms, 2);
        if terms.is_const(condition) {
            continue;
        }
        let not = terms.not(condition);
        let holds = eval.holds(&terms, &current, condition);
        let (taken, other) = if holds { (condition, not) } else { (not, condition) };
        let answer = stack.check(&mut terms, &path, &current, other);
        asked(&terms, &path, other, &answer);
        match answer {
            // The side that was asked about, every other time.
            Answer::Sat(input) if generator.numbers.below(2) == 0 => {
                path.add(&mut terms, other);
                current = input;
            }
            _ => path.add(&mut terms, taken),
        }
    }
}

fn conditions(path: &PathCondition, question: TermId) -> Vec<TermId> {
    path.iter().chain([question]).collect()
}

fn hold(terms: &Terms, eval: &mut Eval, input: &Assignment, conditions: &[TermId]) -> bool {
    conditions.iter().all(|&condition| eval.holds(terms, input, condition))
}

/// Looks at all values of the symbol; gives how many questions were satisfiable, how many not, and how many stayed open.
fn agree_with_all_values(config: &Config, seeds: std::ops::Range<u64>) -> [u64; 3] {
    let mut n = [0; 3];
    for seed in seeds {
        let mut stack = Stack::new(config.clone());
        let mut eval = Eval::new();
        walk(seed, ONE_HALF, &mut stack, |terms, path, question, answer| {
            let all = conditions(path, question);
            match answer {
                Answer::Sat(input) => {
                    assert!(hold(terms, &mut eval, input, &all), "seed {seed}: a wrong model");
                    n[0] += 1;
                }
                Answer::Unsat => {
                    n[1] += 1;
                    let Some(&symbol) = terms.symbols(question).first() else { return };
                    for value in 0..1 << 16 {
                        let mut input = Assignment::new();
                        input.set(symbol, value);
                        let holds = hold(terms, &mut eval, &input, &all);
                        assert!(!holds, "seed {seed}: {value:#x} satisfies what was refuted");
                    }
                }
                Answer::Unknown(_) => n[2] += 1,
            }
        });
        assert_eq!(stack.counters().n_wrong_models, 0, "seed {seed}");
    }
    n
}

/// All layers but these are off.
fn only(layers: &[Layer]) -> Config {
    let off = Layer::ALL.into_iter().filter(|layer| !layers.contains(layer)).collect();
    Config { off, ..config(SmtSolver::Absent) }
}

#[test]
fn whole_stack() {
    let [n_sat, n_unsat, n_open] = agree_with_all_values(&config(SmtSolver::Absent), 0..100);
    assert!(n_sat > 150 && n_unsat > 40 && n_open == 0, "{n_sat} {n_unsat} {n_open}");
}

#[test]
fn blaster_alone() {
    let [n_sat, n_unsat, n_open] = agree_with_all_values(&only(&[Layer::Blaster]), 200..230);
    assert!(n_sat > 40 && n_unsat > 12 && n_open == 0, "{n_sat} {n_unsat} {n_open}");
}

/// Each layer that knows something of floats, on its own: what it says is right, and it says something.
#[test]
fn partial_layers_are_right_when_they_answer() {
    // Climbing tries for long where there is nothing to be found.
    for (layer, says_yes, says_no, seeds) in [
        (Layer::Proposals, true, false, 300..312),
        (Layer::Intervals, false, true, 300..312),
        (Layer::Climb, true, false, 300..303),
        (Layer::Bounds, false, false, 300..312),
        (Layer::Values, true, true, 300..312),
        (Layer::Walk, false, false, 300..312),
    ] {
        let [n_sat, n_unsat, _] = agree_with_all_values(&only(&[layer]), seeds);
        assert!(!says_yes || n_sat > 5, "{layer:?} found {n_sat}");
        assert!(!says_no || n_unsat > 1, "{layer:?} refuted {n_unsat}");
    }
}

/// What z3 makes of the same circuits: one operation at a time, larger ones are too hard for it.
#[test]
fn smt_solver_on_circuits() {
    let mut bare = backend(SmtSolver::Z3, &Default::default()).expect("z3 has a backend");
    let mut stack = Stack::new(config(SmtSolver::Absent));
    let (mut terms, path) = (Terms::new(), PathCondition::new());
    let mut generator = Generator::new(&mut terms, 100, ONE_HALF);
    let mut n_alike = 0;
    for _ in 0..16 {
        let question = generator.condition(&mut terms, 1);
        if terms.is_const(question) {
            continue;
        }
        let answer = stack.check(&mut terms, &path, &Assignment::new(), question);
        match (&answer, bare.check(&terms, &[question], Duration::from_secs(3))) {
            (Answer::Sat(_), Reply::Sat(_)) | (Answer::Unsat, Reply::Unsat) => n_alike += 1,
            (Answer::Unknown(_), _) | (_, Reply::Unknown(_)) => {}
            (answer, reply) => panic!("we say {answer:?}, z3 says {reply:?}"),
        }
    }
    assert!(n_alike > 6, "{n_alike}");
}

/// What a solver that knows floats says of the same questions: the circuits are not on either side of the scales.
#[test]
fn whole_stack_against_a_theory_of_floats() {
    let (mut n_sat, mut n_unsat) = (0, 0);
    for seed in 400..412 {
        let mut stack = Stack::new(config(SmtSolver::Absent));
        walk(seed, TWO_HALVES, &mut stack, |terms, path, question, answer| {
            let text = with_theory(terms, &conditions(path, question));
            match (answer, theory_says(&text).as_str()) {
                (Answer::Sat(_), "sat") => n_sat += 1,
                (Answer::Unsat, "unsat") => n_unsat += 1,
                (Answer::Unknown(_), _) | (_, "unknown" | "timeout") => {}
                (answer, said) => panic!("seed {seed}: we say {answer:?}, z3 says {said} on\n{text}"),
            }
        });
    }
    assert!(n_sat > 12 && n_unsat > 3, "{n_sat} {n_unsat}");
}

/// Operations without a circuit: no wrong model, and no wrong no.
#[test]
fn without_a_circuit() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 64);
    let three = terms.constant(3.0f64.to_bits().into(), 64);
    let rest = terms.float_binary(FloatBinary::Rem, Rounding::NearestEven, x, three);
    let one = terms.constant(1.0f64.to_bits().into(), 64);
    let is_one = terms.feq(rest, one);
    let both = {
        let not = terms.not(is_one);
        terms.and(is_one, not)
    };
    assert!(terms.is_false(both));
    for layer in [Layer::Blaster, Layer::Smt] {
        let config = Config { off: only(&[layer]).off, ..config(SmtSolver::Z3) };
        let mut stack = Stack::new(config);
        let answer = stack.check(&mut terms, &PathCondition::new(), &Assignment::new(), is_one);
        assert!(matches!(answer, Answer::Sat(_) | Answer::Unknown(_)), "{answer:?}");
        assert_eq!(stack.counters().n_wrong_models, 0);
    }
    let mut stack = Stack::new(config(SmtSolver::Absent));
    let answer = stack.check(&mut terms, &PathCondition::new(), &Assignment::new(), is_one);
    assert!(answer.is_sat(), "others find it: {answer:?}");
}

fn theory_says(text: &str) -> String {
    let mut child = Command::new("z3")
        .args(["-in", "-smt2", "-T:5"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is part of the set-up");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("z3 reads");
    let output = child.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("").to_string()
}

/// The conditions in SMT-LIB's theory of floats: each result is a bit-vector that stands for the theory's result, and where that
/// is a NaN, the NaN that the processor makes.
fn with_theory(terms: &Terms, conditions: &[TermId]) -> String {
    let mut text = String::from("(set-logic QF_BVFP)\n");
    let mut below: Vec<TermId> = Vec::new();
    let mut stack = conditions.to_vec();
    while let Some(t) = stack.pop() {
        if !below.contains(&t) {
            below.push(t);
            stack.extend(terms.view(t).operands());
        }
    }
    // Operands have smaller ids.
    below.sort_unstable();
    for t in below {
        define(terms, t, &mut text);
    }
    for t in conditions {
        let _ = writeln!(text, "(assert (= t{} #b1))", t.raw());
    }
    text + "(check-sat)\n"
}

fn define(terms: &Terms, t: TermId, text: &mut String) {
    let width = terms.width(t);
    let name = |t: TermId| format!("t{}", t.raw());
    let sort_of = |width: u32| {
        let format = Format::of(width);
        format!("{} {}", format.exponent_bits(), format.precision())
    };
    let float = |t: TermId| format!("((_ to_fp {}) {})", sort_of(terms.width(t)), name(t));
    let constant = |bits: u128, width: u32| format!("#b{bits:0width$b}", width = width as usize);
    let word = |rounding: Rounding| match rounding {
        Rounding::NearestEven => "RNE",
        Rounding::NearestAway => "RNA",
        Rounding::Up => "RTP",
        Rounding::Down => "RTN",
        Rounding::ToZero => "RTZ",
    };
    let quiet = |t: TermId| {
        let bit = constant(Format::of(terms.width(t)).quiet_bit(), terms.width(t));
        format!("(bvor {} {bit})", name(t))
    };
    // A bit-vector for a float, and what it is where that is a NaN.
    let mut result = |value: String, nan: String| {
        let _ = writeln!(text, "(declare-const r{} (_ BitVec {width}))", t.raw());
        let _ = writeln!(text, "(assert (= ((_ to_fp {}) r{}) {value}))", sort_of(width), t.raw());
        format!("(ite (fp.isNaN {value}) {nan} r{})", t.raw())
    };
    let default = || constant(Format::of(width).default_nan(), width);
    let first_nan = |operands: &[TermId]| {
        operands.iter().rev().fold(default(), |other, &operand| {
            format!("(ite (fp.isNaN {}) {} {other})", float(operand), quiet(operand))
        })
    };
    let body = match terms.view(t) {
        View::Const(bits) => constant(bits, width),
        View::Symbol(symbol) => {
            let _ = writeln!(text, "(declare-const s{} (_ BitVec {width}))", symbol.0);
            format!("s{}", symbol.0)
        }
        View::Not(a) => format!("(bvnot {})", name(a)),
        View::And(a, b) => format!("(bvand {} {})", name(a), name(b)),
        View::Or(a, b) => format!("(bvor {} {})", name(a), name(b)),
        View::Xor(a, b) => format!("(bvxor {} {})", name(a), name(b)),
        View::Concat(a, b) => format!("(concat {} {})", name(a), name(b)),
        View::Extract { arg, lo } => format!("((_ extract {} {lo}) {})", lo + width - 1, name(arg)),
        View::ZExt(a) => format!("((_ zero_extend {}) {})", width - terms.width(a), name(a)),
        View::SExt(a) => format!("((_ sign_extend {}) {})", width - terms.width(a), name(a)),
        View::Ite(c, a, b) => format!("(ite (= {} #b1) {} {})", name(c), name(a), name(b)),
        View::Eq(a, b) => format!("(ite (= {} {}) #b1 #b0)", name(a), name(b)),
        View::Ult(a, b) => format!("(ite (bvult {} {}) #b1 #b0)", name(a), name(b)),
        View::Slt(a, b) => format!("(ite (bvslt {} {}) #b1 #b0)", name(a), name(b)),
        View::FloatCompare { op, a, b } => {
            let relation = match op {
                FloatCompare::Less => "fp.lt",
                FloatCompare::LessOrEqual => "fp.leq",
                FloatCompare::Equal => "fp.eq",
            };
            format!("(ite ({relation} {} {}) #b1 #b0)", float(a), float(b))
        }
        View::FloatBinary { op, rounding, a, b } => {
            let operator = match op {
                FloatBinary::Add => "fp.add",
                FloatBinary::Sub => "fp.sub",
                FloatBinary::Mul => "fp.mul",
                FloatBinary::Div => "fp.div",
                FloatBinary::Rem | FloatBinary::Remainder => unreachable!("not generated"),
            };
            result(format!("({operator} {} {} {})", word(rounding), float(a), float(b)), first_nan(&[a, b]))
        }
        View::FloatUnary { op, rounding, arg } => {
            let sort = sort_of(width);
            let rounding = word(rounding);
            match op {
                FloatUnary::Sqrt => result(format!("(fp.sqrt {rounding} {})", float(arg)), first_nan(&[arg])),
                FloatUnary::Integral => {
                    result(format!("(fp.roundToIntegral {rounding} {})", float(arg)), first_nan(&[arg]))
                }
                FloatUnary::FromSigned => result(format!("((_ to_fp {sort}) {rounding} {})", name(arg)), default()),
                FloatUnary::FromUnsigned => {
                    result(format!("((_ to_fp_unsigned {sort}) {rounding} {})", name(arg)), default())
                }
                FloatUnary::Resize => {
                    // The upper bits of the fraction.
                    let (from, to) = (Format::of(terms.width(arg)), Format::of(width));
                    let (had, has) = (from.precision() - 1, to.precision() - 1);
                    let kept = had.min(has);
                    let fraction = format!("((_ extract {} {}) {})", had - 1, had - kept, quiet(arg));
                    let fraction = match has - kept {
                        0 => fraction,
                        more => format!("(concat {fraction} {})", constant(0, more)),
                    };
                    let sign = format!("((_ extract {0} {0}) {1})", from.width() - 1, name(arg));
                    let exponent = constant(to.top_exponent().into(), to.exponent_bits());
                    let nan = format!("(concat {sign} (concat {exponent} {fraction}))");
                    result(format!("((_ to_fp {sort}) {rounding} {})", float(arg)), nan)
                }
                FloatUnary::ToSigned | FloatUnary::ToUnsigned => unreachable!("not generated"),
            }
        }
        view => unreachable!("not generated: {view:?}"),
    };
    let _ = writeln!(text, "(define-fun t{} () (_ BitVec {width}) {body})", t.raw());
}
