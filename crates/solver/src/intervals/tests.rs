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
