use super::*;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use term::{Assignment, Eval, fold};

fn clock() -> Clock {
    Clock::new(Duration::from_secs(10), &Arc::default())
}

fn inverse(odd: u128, width: u32) -> u128 {
    (1..1 << width).step_by(2).find(|&other| fold::mul(odd, other, width) == 1).expect("odd numbers have one")
}

/// Numbers of eight bits made from two digits of six bits, or from one symbol of nine.
fn number(terms: &mut Terms, kind: u8) -> (TermId, Vec<(SymbolId, u32)>) {
    if kind == 0 {
        let x = terms.symbol("x", 9);
        return (x, vec![(SymbolId(0), 9)]);
    }
    let (a, b) = (terms.symbol("a", 6), terms.symbol("b", 6));
    let zero = terms.constant(u128::from(48 & 63u8), 6);
    let (a, b) = (terms.sub(a, zero), terms.sub(b, zero));
    let (a, b) = if kind == 1 { (terms.zext(a, 9), terms.zext(b, 9)) } else { (terms.sext(a, 9), terms.sext(b, 9)) };
    let ten = terms.constant(10, 9);
    let tens = terms.mul(a, ten);
    (terms.add(tens, b), vec![(SymbolId(0), 6), (SymbolId(1), 6)])
}

fn term(terms: &mut Terms, number: TermId, steps: &[(u8, u8)]) -> TermId {
    let width = terms.width(number);
    steps.iter().fold(number, |x, &(op, k)| {
        let value = u128::from(k);
        let small = terms.constant(value % 11 + 1, width);
        let any = terms.constant(value * 3, width);
        match op % 11 {
            0 => terms.add(x, any),
            1 => terms.sub(any, x),
            2 => terms.mul(x, any),
            3 | 4 => {
                let factor = terms.constant(inverse([3, 5, 7, 9][k as usize % 4], width), width);
                terms.mul(x, factor)
            }
            5 => terms.udiv(x, small),
            6 => terms.urem(x, small),
            7 => {
                let by = terms.constant(value % 4, width);
                terms.lshr(x, by)
            }
            8 => {
                let mask = terms.constant((1 << (value % 5)) - 1, width);
                terms.and(x, mask)
            }
            9 => {
                let low = terms.extract(x, 2 + u32::from(k % 4), u32::from(k % 3));
                terms.zext(low, width)
            }
            _ => {
                let low = terms.extract(x, 3 + u32::from(k % 5), 0);
                terms.sext(low, width)
            }
        }
    })
}

type Made = (Vec<(u8, u8)>, u8, u8);

fn condition(terms: &mut Terms, number: TermId, (steps, kind, k): &Made) -> TermId {
    let x = term(terms, number, steps);
    let width = terms.width(x);
    let k = u128::from(*k);
    match kind % 10 {
        0 | 1 => {
            let k = terms.constant(k % 8, width);
            terms.eq(x, k)
        }
        2 => {
            let k = terms.constant(k, width);
            terms.ult(x, k)
        }
        3 => {
            let k = terms.constant(k, width);
            terms.slt(k, x)
        }
        4 => {
            let k = terms.constant(k, width);
            terms.ult(k, x)
        }
        5 => {
            let k = terms.constant(k % 16, width);
            let equal = terms.eq(x, k);
            terms.not(equal)
        }
        6 => terms.extract(x, k as u32 % 4, k as u32 % 4),
        7 => terms.eq(x, number),
        8 => {
            let by = terms.constant(k % 7 + 2, width);
            let rest = terms.urem(x, by);
            let wanted = terms.constant(k % 3, width);
            terms.eq(rest, wanted)
        }
        // Division as a product and a limit, of a quotient perhaps.
        _ => {
            let x = if k % 2 == 0 {
                x
            } else {
                let before = terms.constant(inverse(9, width), width);
                terms.mul(x, before)
            };
            let by = [3, 5, 7, 11][k as usize % 4];
            let factor = terms.constant(inverse(by, width), width);
            let limit = terms.constant(fold::mask(width) / by, width);
            let product = terms.mul(x, factor);
            let more = terms.ult(limit, product);
            terms.not(more)
        }
    }
}

fn made() -> impl Strategy<Value = Made> {
    (prop::collection::vec((any::<u8>(), any::<u8>()), 0..3), any::<u8>(), any::<u8>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// What is found satisfies the conditions, and where there is said to be nothing, no input does; and what is tried has not
    /// lost an input on the way.
    #[test]
    fn answers_are_those_of_all_inputs(kind in 0u8..3, limits in any::<(u8, u8)>(), made in prop::collection::vec(made(), 1..5)) {
        let mut terms = Terms::new();
        let (number, symbols) = number(&mut terms, kind);
        let mut conditions: Vec<TermId> = made.iter().map(|made| condition(&mut terms, number, made)).collect();
        for (nth, &(symbol, width)) in symbols.iter().enumerate() {
            let x = terms.symbol_term(symbol);
            let (lo, hi) = match width {
                9 => (u128::from(limits.0), 511),
                _ => (48 + u128::from(limits.0 % 3), 57 - u128::from(limits.1) % (1 + nth as u128)),
            };
            let (lo, hi) = (terms.constant(lo, width), terms.constant(hi, width));
            let (below, above) = (terms.ult(x, lo), terms.ult(hi, x));
            conditions.extend([terms.not(below), terms.not(above)]);
        }
        // Something that makes it worth looking at.
        let seven = terms.constant(7, 9);
        let rest = terms.urem(number, seven);
        conditions.push(terms.ult(rest, seven));
        let mut eval = Eval::new();
        let mut holds = |values: &[(SymbolId, u64)]| {
            let mut input = Assignment::new();
            values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
            conditions.iter().all(|&t| eval.holds(&terms, &input, t))
        };
        match ask(&terms, &mut Domains::default(), &conditions, &clock(), 1) {
            Some(Found::Values(values)) => prop_assert!(holds(&values), "{values:?}"),
            Some(Found::Nothing) => {
                for input in 0..1u64 << symbols.iter().map(|(_, width)| width).sum::<u32>() {
                    let mut rest = input;
                    let values: Vec<(SymbolId, u64)> = symbols.iter().map(|&(symbol, width)| {
                        let value = rest & ((1 << width) - 1);
                        rest >>= width;
                        (symbol, value)
                    }).collect();
                    prop_assert!(!holds(&values), "{values:?}");
                }
            }
            None => {}
        }
    }
}

/// A number of ten digits that primes were divided out of, each by a product and a limit.
fn factored(terms: &mut Terms, by: &[u64]) -> (Vec<TermId>, TermId) {
    let mut conditions = Vec::new();
    let (zero, nine) = (terms.constant(48, 8), terms.constant(57, 8));
    let (ten, minus) = (terms.constant(10, 64), terms.constant(48u128.wrapping_neg(), 32));
    let mut number = terms.constant(0, 64);
    for nth in 0..10 {
        let digit = terms.symbol(&format!("s{nth}"), 8);
        let (below, above) = (terms.slt(digit, zero), terms.slt(nine, digit));
        conditions.extend([terms.not(below), terms.not(above)]);
        let digit = terms.sext(digit, 32);
        let digit = terms.add(digit, minus);
        let digit = terms.sext(digit, 64);
        number = terms.mul(number, ten);
        number = terms.add(number, digit);
    }
    for &prime in by {
        let inverse = terms.constant(
            (0..7).fold(u128::from(prime), |x, _| {
                x.wrapping_mul(2u128.wrapping_sub(x.wrapping_mul(u128::from(prime)))) & u128::from(u64::MAX)
            }),
            64,
        );
        let limit = terms.constant(u128::from(u64::MAX / prime), 64);
        let product = terms.mul(number, inverse);
        let more = terms.ult(limit, product);
        conditions.push(terms.not(more));
        number = product;
    }
    (conditions, number)
}

#[test]
fn primes_are_divided_out_of_ten_digits() {
    let mut terms = Terms::new();
    let primes = [3, 3, 7, 11, 13, 101, 4999];
    let (mut conditions, rest) = factored(&mut terms, &primes);
    let one = terms.constant(1, 64);
    conditions.push(terms.ult(one, rest));
    let found = ask(&terms, &mut Domains::default(), &conditions, &clock(), 1);
    let Some(Found::Values(mut values)) = found else { panic!("{found:?}") };
    values.sort_unstable();
    let number = values.iter().fold(0, |number, (_, digit)| 10 * number + (digit - 48));
    assert_eq!(number % primes.iter().product::<u64>(), 0);
    assert!(number > 0);
    // Twice as much again has more than ten digits.
    let least = terms.constant(5, 64);
    conditions.push(terms.ult(least, rest));
    assert_eq!(ask(&terms, &mut Domains::default(), &conditions, &clock(), 1), Some(Found::Nothing));
}

#[test]
fn remainders_of_a_wide_number_say_what_it_is_together() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 64);
    let mut rest = |by: u128, wanted: u128| {
        let (by, wanted) = (terms.constant(by, 64), terms.constant(wanted, 64));
        let rest = terms.urem(x, by);
        terms.eq(rest, wanted)
    };
    let mut conditions = vec![rest(1009, 12), rest(2003, 345), rest(3001, 678)];
    let found = ask(&terms, &mut Domains::default(), &conditions, &clock(), 1);
    let Some(Found::Values(values)) = found else { panic!("{found:?}") };
    let number = values[0].1;
    assert_eq!((number % 1009, number % 2003, number % 3001), (12, 345, 678));
    let limit = terms.constant(1_000_000, 64);
    conditions.push(terms.ult(x, limit));
    assert_eq!(ask(&terms, &mut Domains::default(), &conditions, &clock(), 1), Some(Found::Nothing));
}
