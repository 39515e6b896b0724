//! Tests: the gates of a term compute what the evaluator says, under everything that the path leaves of its symbols.

use super::Blaster;
use super::narrow::{Kept, Source};
use crate::clock::Clock;
use proptest::prelude::*;
use std::time::Duration;
use term::{Assignment, Eval, SymbolId, TermId, Terms};

const WIDTH: u32 = 12;

/// Terms over two symbols, each made from earlier ones: operator, operands, a constant.
fn build(terms: &mut Terms, steps: &[(u8, u8, u8, u16)]) -> Vec<TermId> {
    let mut made = vec![terms.symbol("x", WIDTH), terms.symbol("y", WIDTH)];
    for &(op, a, b, k) in steps {
        let at = |idx: u8| made[usize::from(idx) % made.len()];
        let (a, b) = (at(a), at(b));
        let k = terms.constant(u128::from(if k % 2 == 0 { k % 16 } else { k % 4096 }), WIDTH);
        let t = match op % 20 {
            0 | 1 => terms.add(a, b),
            2 | 3 => terms.sub(a, b),
            4 => terms.mul(a, b),
            5 => terms.mul(a, a),
            6 => terms.mul(a, k),
            7 => terms.udiv(a, b),
            8 => terms.urem(a, k),
            9 => terms.sdiv(a, b),
            10 => terms.srem(a, b),
            11 => terms.and(a, b),
            12 => terms.xor(a, k),
            13 => terms.shl(a, b),
            14 => terms.ashr(a, k),
            15 => terms.add(a, k),
            16 => {
                let zero = terms.constant(0, WIDTH);
                let (is_below, turned) = (terms.slt(a, zero), terms.neg(a));
                terms.ite(is_below, turned, a)
            }
            17 => {
                let less = terms.slt(a, b);
                terms.ite(less, b, k)
            }
            18 => {
                let less = terms.ult(a, b);
                terms.zext(less, WIDTH)
            }
            _ => {
                let (high, low) = (terms.extract(a, 7, 0), terms.extract(b, 3, 0));
                terms.concat(high, low)
            }
        };
        made.push(t);
    }
    // Comparisons of sums, with addends in common more often than not.
    for pair in 0..made.len().saturating_sub(2) {
        let (left, right) = (terms.add(made[pair], made[pair + 1]), terms.sub(made[pair + 2], made[pair]));
        let again = terms.add(right, made[pair + 1]);
        made.extend([terms.eq(left, right), terms.eq(left, again)].map(|equal| terms.zext(equal, WIDTH)));
    }
    made
}

fn kept(kind: u8, value: u16) -> Option<Kept> {
    let n_open = u32::from(kind % 4);
    match kind / 4 % 3 {
        0 => Some(Kept::Below { n_open, value: u64::from(value % 4096) >> n_open << n_open }),
        1 => Some(Kept::Signed { n_open: n_open + 1 }),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn gates_mean_what_terms_mean(
        steps in prop::collection::vec(any::<(u8, u8, u8, u16)>(), 1..8),
        limits in (any::<u8>(), any::<u16>(), any::<u8>(), any::<u16>()),
        inputs in prop::collection::vec(any::<(u16, u16)>(), 40),
    ) {
        let mut terms = Terms::new();
        let made = build(&mut terms, &steps);
        let mut blaster = Blaster::new();
        let left = [kept(limits.0, limits.1), kept(limits.2, limits.3)];
        for (symbol, kept) in (0..).map(SymbolId).zip(left) {
            blaster.narrowing.keep(symbol, kept);
        }
        let clock = Clock::new(Duration::from_secs(1000), &Default::default());
        for &t in &made {
            // As if a question with other limits had come in between.
            blaster.narrowing.begin_anew();
            prop_assert!(blaster.translate(&terms, t, &clock));
        }
        prop_assert!(made.iter().all(|&t| blaster.is_translated(&terms, t)));
        let mut eval = Eval::new();
        for (x, y) in inputs {
            // The values that the bits left can make.
            let made_of = |kept: Option<Kept>, any: u16| -> u64 {
                let bit = |bit: u32| match kept.map_or(Source::Bit(bit), |kept| kept.source(bit)) {
                    Source::Bit(own) => u64::from(any >> own & 1),
                    Source::Constant(value) => u64::from(value),
                };
                (0..WIDTH).map(|at| bit(at) << at).sum()
            };
            let values = [made_of(left[0], x), made_of(left[1], y)];
            let mut input = Assignment::new();
            for (symbol, value) in (0..).map(SymbolId).zip(values) {
                input.set(symbol, value);
            }
            let simulated = blaster.gates.simulate(|var| {
                (0..2).any(|nth| {
                    let start = blaster.start_of(&terms, SymbolId(nth));
                    start.is_some_and(|start| {
                        (0..WIDTH).any(|bit| {
                            blaster.pool[(start + bit) as usize].var() == var && values[nth as usize] >> bit & 1 == 1
                        })
                    })
                })
            });
            for &t in &made {
                let bits = blaster.bits(&terms, t).iter().enumerate();
                let set = |lit: super::sat::Lit| simulated[lit.var().index()] != lit.is_negated();
                let value: u128 = bits.map(|(at, &lit)| u128::from(set(lit)) << at).sum();
                prop_assert_eq!(value, eval.eval(&terms, &input, t), "{:?} at {:?} with {:?}", terms.view(t), values, left);
            }
        }
    }
}
