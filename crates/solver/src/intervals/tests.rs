//! Against every value of half precision: what is refuted has no solution.

use super::{LATE_BUDGET, refutes};
use crate::dice::Dice;
use term::float::{self, FloatBinary, FloatCompare, Format, Rounding};
use term::{Assignment, Eval, TermId, Terms};

const WIDTH: u32 = 16;

fn constant(terms: &mut Terms, dice: &mut Dice) -> TermId {
    let format = Format::of(WIDTH);
    let bits = match dice.below(6) {
        0 => [0, format.sign_bit(), format.infinity(), format.largest(), 1][dice.below(5) as usize],
        1 => u128::from(dice.any() & 0xffff),
        _ => float::from_signed(format, Rounding::NearestEven, i128::from(dice.below(21)) - 10),
    };
    terms.constant(bits, WIDTH)
}

fn number(terms: &mut Terms, dice: &mut Dice, x: TermId, depth: u32) -> TermId {
    if depth == 0 || dice.below(5) == 0 {
        return if dice.below(3) == 0 { constant(terms, dice) } else { x };
    }
    let rounding = if dice.below(4) == 0 { Rounding::ALL[dice.below(5) as usize] } else { Rounding::NearestEven };
    let a = number(terms, dice, x, depth - 1);
    match dice.below(10) {
        0 => terms.fsqrt(rounding, a),
        1 => terms.fintegral(rounding, a),
        2 => {
            let wide = terms.fresize(rounding, a, 32);
            terms.fresize(rounding, wide, WIDTH)
        }
        3 => terms.fneg(a),
        4 => terms.fabs(a),
        5 => {
            let b = number(terms, dice, x, depth - 1);
            let c = number(terms, dice, x, depth - 1);
            terms.ffma(rounding, a, b, c)
        }
        _ => {
            let b = number(terms, dice, x, depth - 1);
            let op = FloatBinary::ALL[dice.below(FloatBinary::ALL.len() as u64) as usize];
            terms.float_binary(op, rounding, a, b)
        }
    }
}

fn condition(terms: &mut Terms, dice: &mut Dice, x: TermId) -> TermId {
    let (a, b) = (number(terms, dice, x, 3), number(terms, dice, x, 1));
    let holds = terms.float_compare(FloatCompare::ALL[dice.below(3) as usize], a, b);
    match dice.below(6) {
        0 | 1 => terms.not(holds),
        2 => {
            // One of two.
            let (c, d) = (number(terms, dice, x, 2), constant(terms, dice));
            let other = terms.float_compare(FloatCompare::Less, c, d);
            terms.or(holds, other)
        }
        _ => holds,
    }
}

#[test]
fn what_is_refuted_has_no_solution() {
    let (mut n_refuted, mut n_empty) = (0, 0);
    for seed in 0..160 {
        let mut terms = Terms::new();
        let mut dice = Dice::new(seed);
        let x = terms.symbol("x", WIDTH);
        let symbol = terms.symbols(x)[0];
        let n_conditions = 1 + dice.below(3);
        let conditions: Vec<TermId> = (0..n_conditions).map(|_| condition(&mut terms, &mut dice, x)).collect();
        if conditions.iter().any(|&condition| terms.is_const(condition)) {
            continue;
        }
        let mut eval = Eval::new();
        let solution = (0..1 << WIDTH).find(|&value| {
            let mut input = Assignment::new();
            input.set(symbol, value);
            conditions.iter().all(|&condition| eval.holds(&terms, &input, condition))
        });
        let is_refuted = refutes(&terms, &conditions, LATE_BUDGET, || false);
        if let Some(solution) = solution {
            assert!(!is_refuted, "seed {seed}: {solution:#x} satisfies what was refuted");
        } else {
            n_empty += 1;
            n_refuted += u32::from(is_refuted);
        }
    }
    assert!(n_empty > 20 && n_refuted * 4 > n_empty, "{n_refuted} of {n_empty} refuted");
}

/// What needs no halves is refuted at once: comparisons with constants, through operations that only grow.
#[test]
fn comparisons_fall_at_once() {
    let mut terms = Terms::new();
    let even = Rounding::NearestEven;
    let x = terms.symbol("x", 64);
    let real = |terms: &mut Terms, value: f64| terms.constant(value.to_bits().into(), 64);
    let (one, two, ten) = (real(&mut terms, 1.0), real(&mut terms, 2.0), real(&mut terms, 10.0));
    let above = terms.flt(ten, x);
    let twice = terms.fmul(even, x, two);
    let more = terms.fadd(even, twice, one);
    let below = terms.flt(more, ten);
    assert!(refutes(&terms, &[above, below], super::BUDGET, || false));
    assert!(!refutes(&terms, &[below], super::BUDGET, || false));
    let square = terms.fmul(even, x, x);
    let zero = real(&mut terms, 0.0);
    let negative = terms.flt(square, zero);
    assert!(refutes(&terms, &[negative], super::BUDGET, || false));
}

/// What is done to a number, with a constant or with another number.
type Step = (u64, u64, Option<TermId>);

/// Three numbers, and what is said about their order and about sums, products and quotients of them: against pairs and triples of
/// interesting values, so that what is refuted is at least not satisfied by one of those.
#[test]
fn order_refutes_nothing_that_has_a_solution() {
    let format = Format::of(WIDTH);
    let end = format.infinity();
    let small = (-3..=3).map(|n| float::from_signed(format, Rounding::NearestEven, n));
    let odd = [
        1,
        2,
        3,
        0x3ff,
        0x400,
        0x3bff,
        0x3c01,
        0x3555,
        end - 1,
        end,
        format.default_nan(),
        0x8000,
        0x8001,
        0xb800,
        0xfc00,
    ];
    let values: Vec<u128> = small.chain(odd).collect();
    let mut n_refuted = 0;
    for seed in 0..4_000 {
        let mut terms = Terms::new();
        let mut dice = Dice::new(seed);
        let numbers = ["x", "y", "z"].map(|name| terms.symbol(name, WIDTH));
        let symbols = numbers.map(|number| terms.symbols(number)[0]);
        let any = |dice: &mut Dice| numbers[dice.below(3) as usize];
        let mut conditions = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let (a, b) = (any(&mut dice), any(&mut dice));
            let b = if dice.below(3) == 0 { constant(&mut terms, &mut dice) } else { b };
            let (a, b) = if dice.below(2) == 0 { (a, b) } else { (b, a) };
            let holds = terms.float_compare(FloatCompare::ALL[dice.below(3) as usize], a, b);
            conditions.push(if dice.below(3) == 0 { terms.not(holds) } else { holds });
        }
        let rounding = if dice.below(3) == 0 { Rounding::ALL[dice.below(5) as usize] } else { Rounding::NearestEven };
        // The same is done to both of two numbers, more often than not.
        let steps = |dice: &mut Dice| -> Vec<Step> {
            let step = |dice: &mut Dice| {
                let operand = (dice.below(2) == 0).then(|| any(dice));
                (dice.below(8), dice.below(20), operand)
            };
            (0..dice.below(3)).map(|_| step(dice)).collect()
        };
        let (one, other) = (steps(&mut dice), steps(&mut dice));
        let other = if dice.below(4) == 0 { other } else { one.clone() };
        let side = |terms: &mut Terms, start: TermId, steps: &[Step]| {
            steps.iter().fold(start, |side, &(kind, which, operand)| {
                let other = operand.unwrap_or_else(|| constant(terms, &mut Dice::new(seed + which)));
                let op = [FloatBinary::Add, FloatBinary::Sub, FloatBinary::Mul, FloatBinary::Div][which as usize % 4];
                match kind {
                    0 => terms.fintegral(Rounding::ALL[which as usize % 5], side),
                    1 => terms.fabs(side),
                    2 => terms.fmin(side, other),
                    3 => terms.fmax(other, side),
                    4 => terms.float_binary(op, rounding, other, side),
                    5 => terms.float_binary(op, Rounding::ALL[which as usize % 5], side, other),
                    _ => terms.float_binary(op, rounding, side, other),
                }
            })
        };
        let (a, b) = (any(&mut dice), any(&mut dice));
        let (a, b) = (side(&mut terms, a, &one), side(&mut terms, b, &other));
        let holds = terms.float_compare(FloatCompare::ALL[dice.below(3) as usize], a, b);
        conditions.push(if dice.below(2) == 0 { terms.not(holds) } else { holds });
        if conditions.iter().any(|&condition| terms.is_const(condition))
            || !refutes(&terms, &conditions, 2_000, || false)
        {
            continue;
        }
        n_refuted += 1;
        let mut eval = Eval::new();
        let n = values.len();
        for nth in 0..n * n * n {
            let mut input = Assignment::new();
            for (symbol, at) in symbols.into_iter().zip([nth % n, nth / n % n, nth / n / n]) {
                input.set(symbol, values[at] as u64);
            }
            let is_solution = conditions.iter().all(|&condition| eval.holds(&terms, &input, condition));
            assert!(!is_solution, "seed {seed}: {input:?} satisfies what was refuted");
        }
    }
    assert!(n_refuted > 300, "{n_refuted} refuted");
}

/// Operations keep order, and it says on which side of zero a difference is.
#[test]
fn order_is_kept() {
    let mut terms = Terms::new();
    let even = Rounding::NearestEven;
    let [x, y, lo, hi] = ["x", "y", "lo", "hi"].map(|name| terms.symbol(name, 64));
    let real = |terms: &mut Terms, value: f64| terms.constant(value.to_bits().into(), 64);
    let (tenth, one, zero) = (real(&mut terms, 0.1), real(&mut terms, 1.0), real(&mut terms, 0.0));
    let in_order = terms.fle(x, y);
    let positive = terms.fle(zero, x);
    let fails = |terms: &mut Terms, path: &[TermId], op: FloatCompare, a: TermId, b: TermId| {
        let holds = terms.float_compare(op, a, b);
        let fails = terms.not(holds);
        let conditions: Vec<TermId> = path.iter().copied().chain([fails]).collect();
        refutes(terms, &conditions, super::BUDGET, || false)
    };
    // Products, sums and roots of what is in order. An infinity less an infinity would be none.
    let finite = real(&mut terms, 1e300);
    let below = terms.fle(y, finite);
    let path = [in_order, positive, below];
    let pairs = [x, y].map(|number| {
        let product = terms.fmul(even, number, tenth);
        let sum = terms.fadd(even, product, one);
        [product, sum, terms.fsqrt(even, sum), terms.fintegral(Rounding::Down, sum)]
    });
    for (a, b) in pairs[0].into_iter().zip(pairs[1]) {
        assert!(fails(&mut terms, &path, FloatCompare::LessOrEqual, a, b));
        assert!(!fails(&mut terms, &path, FloatCompare::Less, a, b));
        assert!(!fails(&mut terms, &path, FloatCompare::LessOrEqual, b, a));
    }
    // Rounded down, to the nearest and up.
    let quotients = [Rounding::Down, even, Rounding::Up].map(|rounding| terms.fdiv(rounding, tenth, x));
    let above = terms.fle(one, x);
    for (a, b) in [(0, 1), (1, 2), (0, 2)] {
        assert!(fails(&mut terms, &[above], FloatCompare::LessOrEqual, quotients[a], quotients[b]));
        assert!(!fails(&mut terms, &[above], FloatCompare::LessOrEqual, quotients[b], quotients[a]));
    }
    // (x - lo) / (hi - lo) is between zero and one.
    let between = [terms.fle(lo, x), terms.fle(x, hi), terms.flt(lo, hi), terms.fle(hi, finite), terms.fle(one, lo)];
    let (part, whole) = (terms.fsub(even, x, lo), terms.fsub(even, hi, lo));
    let share = terms.fdiv(even, part, whole);
    assert!(fails(&mut terms, &between, FloatCompare::LessOrEqual, share, one));
    assert!(fails(&mut terms, &between, FloatCompare::LessOrEqual, zero, share));
    assert!(!fails(&mut terms, &between, FloatCompare::Less, share, one));
    // Where the two ends may be the same, it may be no number at all.
    assert!(!fails(
        &mut terms,
        &[between[0], between[1], between[3], between[4]],
        FloatCompare::LessOrEqual,
        share,
        one
    ));
}
