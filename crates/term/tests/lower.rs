//! The circuits of float operations against what the evaluator computes, bit by bit.

use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use term::lower::{Circuit, Circuits, Operation};
use term::{Assignment, Eval, TermId, Terms};

/// Patterns tried for each operation, in all formats and roundings together.
const N_TRIED: u64 = 100_000;
const WIDTHS: [u32; 5] = [16, 32, 64, 80, 128];
const INTEGERS: [u32; 9] = [1, 7, 8, 16, 31, 32, 33, 64, 128];

/// splitmix64.
struct Dice(u64);

impl Dice {
    fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.any() % n
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.any()) << 64 | u128::from(self.any())
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Few runs of ones and zeros: what carries and shifts trip over.
    fn runs(&mut self, width: u32) -> u128 {
        let mut bits = 0u128;
        for _ in 0..self.below(4) {
            let (from, n) = (self.below(width.into()) as u32, self.below(width.into()) as u32 + 1);
            bits ^= mask(n) << from;
        }
        bits & mask(width)
    }

    fn integer(&mut self, width: u32) -> u128 {
        let value = match self.below(4) {
            0 => self.wide(),
            1 => self.runs(width),
            2 => self.below(16).into(),
            _ => (self.wide() >> self.below(128)).wrapping_neg(),
        };
        value & mask(width)
    }

    /// A float: any bits, a number of a middling size, or one at an edge of the format.
    fn float(&mut self, width: u32) -> u128 {
        let format = Format::of(width);
        let sign = if self.below(2) == 0 { 0 } else { format.sign_bit() };
        let fraction = match self.below(3) {
            0 => self.wide(),
            1 => self.runs(width),
            _ => (u128::from(self.below(8)).wrapping_sub(4)) & format.fraction_mask(),
        } & format.fraction_mask();
        let top = u64::from(format.top_exponent());
        let bias = format.bias() as u64;
        let exponent = match self.below(8) {
            0 => self.below(top + 1),
            1 => self.below(3),
            2 => top - self.below(3),
            3 => bias.wrapping_add(self.below(200)).min(top),
            4 => bias.saturating_sub(self.below(2 * u64::from(format.precision()))),
            _ => bias + self.below(9) - 4,
        };
        let edges = [0, 1, format.infinity(), format.infinity() | format.quiet_bit(), format.infinity() | 1];
        match self.below(12) {
            0 => self.wide() & mask(width),
            1 => sign | self.pick(&edges),
            _ => {
                // The written-out bit, mostly as it should be.
                let explicit = width == 80 && (exponent > 0) != (self.below(32) == 0);
                sign | u128::from(exponent) << format.exponent_at() | u128::from(explicit) << 63 | fraction
            }
        }
    }

    /// Another float, mostly one that has to do with the first.
    fn partner(&mut self, width: u32, first: u128) -> u128 {
        match self.below(4) {
            0 => first.wrapping_add(u128::from(self.below(7))).wrapping_sub(3) & mask(width),
            1 => first ^ Format::of(width).sign_bit() ^ self.runs(Format::of(width).precision() + 1),
            _ => self.float(width),
        }
    }
}

fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width.min(128))
}

/// The value of a circuit for these operands.
fn run(circuit: &Circuit, eval: &mut Eval, operands: &[u128]) -> u128 {
    let mut input = Assignment::new();
    for (pieces, operand) in circuit.operands.iter().zip(operands) {
        for (nth, &piece) in pieces.iter().enumerate() {
            let symbol = circuit.terms.symbols(piece)[0];
            let value = operand >> (nth as u32 * Circuit::MAX_PIECE);
            input.set(symbol, value as u64 & mask(circuit.terms.width(piece)) as u64);
        }
    }
    eval.eval(&circuit.terms, &input, circuit.result)
}

/// All circuits of one operation, each with its own evaluator.
struct Bench {
    circuits: Circuits,
    evals: std::collections::HashMap<(Operation, u32, u32), Eval>,
    n_compared: u64,
}

impl Bench {
    fn new() -> Bench {
        Bench { circuits: Circuits::default(), evals: Default::default(), n_compared: 0 }
    }

    /// Nothing where there is no circuit.
    fn compare(&mut self, operation: Operation, (from, to): (u32, u32), operands: &[u128], expected: u128) {
        let Some(circuit) = self.circuits.of(operation, from, to) else { return };
        let eval = self.evals.entry((operation, from, to)).or_default();
        let found = run(&circuit, eval, operands);
        self.n_compared += 1;
        assert_eq!(found, expected, "{operation:?} {from} to {to} of {operands:#x?}: {found:#x}, not {expected:#x}");
    }
}

fn binary(op: FloatBinary, widths: &[u32]) {
    let (mut bench, mut dice) = (Bench::new(), Dice(op as u64));
    while bench.n_compared < N_TRIED {
        let width = dice.pick(widths);
        // The one that programs use, every other time.
        let rounding =
            if op.rounds() && dice.below(2) == 0 { dice.pick(&Rounding::ALL) } else { Rounding::NearestEven };
        let x = dice.float(width);
        let y = dice.partner(width, x);
        let expected = float::binary(op, rounding, width, x, y);
        bench.compare(Operation::Binary(op, rounding), (width, width), &[x, y], expected);
    }
}

#[test]
fn sums() {
    binary(FloatBinary::Add, &WIDTHS);
}

#[test]
fn differences() {
    binary(FloatBinary::Sub, &WIDTHS);
}

#[test]
fn products() {
    binary(FloatBinary::Mul, &WIDTHS);
}

#[test]
fn quotients() {
    binary(FloatBinary::Div, &WIDTHS);
}

#[test]
fn rests() {
    binary(FloatBinary::Rem, &[16, 16, 16, 16, 32]);
}

#[test]
fn remainders() {
    binary(FloatBinary::Remainder, &[16, 16, 16, 16, 32]);
}

#[test]
fn fused_products_and_sums() {
    let (mut bench, mut dice) = (Bench::new(), Dice(1));
    while bench.n_compared < N_TRIED {
        let width = dice.pick(&[16, 32, 64]);
        let rounding = if dice.below(2) == 0 { dice.pick(&Rounding::ALL) } else { Rounding::NearestEven };
        let (x, y) = (dice.float(width), dice.float(width));
        // What is near the product cancels it.
        let product = float::binary(FloatBinary::Mul, Rounding::NearestEven, width, x, y);
        let z = if dice.below(2) == 0 { dice.float(width) } else { dice.partner(width, product) };
        let expected = float::fma(rounding, width, x, y, z);
        bench.compare(Operation::Fma(rounding), (width, width), &[x, y, z], expected);
    }
}

#[test]
fn comparisons() {
    for op in FloatCompare::ALL {
        let (mut bench, mut dice) = (Bench::new(), Dice(op as u64));
        while bench.n_compared < N_TRIED {
            let width = dice.pick(&WIDTHS);
            let x = dice.float(width);
            let y = dice.partner(width, x);
            let expected = u128::from(float::compare(op, width, x, y));
            bench.compare(Operation::Compare(op), (width, 1), &[x, y], expected);
        }
    }
}

fn unary(op: FloatUnary, from: &[u32], to: impl Fn(&mut Dice, u32) -> u32) {
    let (mut bench, mut dice) = (Bench::new(), Dice(op as u64));
    let is_from_integer = matches!(op, FloatUnary::FromSigned | FloatUnary::FromUnsigned);
    while bench.n_compared < N_TRIED {
        let from = dice.pick(from);
        let to = to(&mut dice, from);
        if op == FloatUnary::Resize && from == to {
            continue;
        }
        let rounding =
            if op.rounds() && dice.below(2) == 0 { dice.pick(&Rounding::ALL) } else { Rounding::NearestEven };
        let x = if is_from_integer { dice.integer(from) } else { dice.float(from) };
        let expected = float::unary(op, rounding, from, to, x);
        bench.compare(Operation::Unary(op, rounding), (from, to), &[x], expected);
    }
}

#[test]
fn square_roots() {
    unary(FloatUnary::Sqrt, &WIDTHS, |_, from| from);
}

#[test]
fn integral_values() {
    unary(FloatUnary::Integral, &WIDTHS, |_, from| from);
}

#[test]
fn conversions_between_formats() {
    unary(FloatUnary::Resize, &WIDTHS, |dice, _| dice.pick(&WIDTHS));
}

#[test]
fn conversions_with_integers() {
    unary(FloatUnary::ToSigned, &WIDTHS, |dice, _| dice.pick(&INTEGERS));
    unary(FloatUnary::ToUnsigned, &WIDTHS, |dice, _| dice.pick(&INTEGERS));
    unary(FloatUnary::FromSigned, &INTEGERS, |dice, _| dice.pick(&WIDTHS));
    unary(FloatUnary::FromUnsigned, &INTEGERS, |dice, _| dice.pick(&WIDTHS));
}

/// Every half-precision number, and every integer of 16 bits.
#[test]
fn all_of_half_precision() {
    let mut bench = Bench::new();
    for rounding in Rounding::ALL {
        for x in 0..1 << 16 {
            for op in FloatUnary::ALL {
                if !op.rounds() && rounding != Rounding::NearestEven {
                    continue;
                }
                let to = if op == FloatUnary::Resize { 32 } else { 16 };
                let expected = float::unary(op, rounding, 16, to, x);
                bench.compare(Operation::Unary(op, rounding), (16, to), &[x], expected);
            }
        }
    }
    assert!(bench.n_compared > 1_500_000);
}

/// What has no circuit says so, and all else has one.
#[test]
fn only_the_widest_have_no_circuit() {
    let mut circuits = Circuits::default();
    for width in WIDTHS {
        for op in FloatBinary::ALL {
            let has_circuit = circuits.of(Operation::Binary(op, Rounding::NearestEven), width, width).is_some();
            assert_eq!(has_circuit, op.rounds() || width <= 32, "{op:?} {width}");
        }
        let has_circuit = circuits.of(Operation::Fma(Rounding::NearestEven), width, width).is_some();
        assert_eq!(has_circuit, width <= 64);
    }
}

/// A circuit is terms without floats.
#[test]
fn circuits_have_no_floats() {
    let mut terms = Terms::new();
    let (a, b) = (terms.symbol("a", 64), terms.symbol("b", 64));
    let sum: TermId = terms.fadd(Rounding::NearestEven, a, b);
    let operation = Operation::of(terms.view(sum)).expect("a sum of floats");
    let circuit = Circuits::default().of(operation, 64, 64).expect("sums have one");
    assert!(terms.has_floats(sum) && !circuit.terms.has_floats(circuit.result));
}
