//! Many inputs at once, against the evaluator: lanes, and graphs of terms over one byte.

use proptest::prelude::*;
use term::{Assignment, Eval, Graphs, Lanes, N_LANES, SymbolId, TermId, Terms, used_bits};

type Choice = (u8, u8, u8, u64);

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<u64>()), 1..24)
}

/// A condition over several symbols.
fn wide_condition(terms: &mut Terms, choices: &[Choice]) -> TermId {
    let bytes: Vec<TermId> = (0..3).map(|i| terms.symbol(&format!("b{i}"), 8)).collect();
    let word = terms.symbol("w", 32);
    let (_, truth) = build(terms, &bytes, word, choices);
    truth
}

/// A word and a condition made by a list of choices: each takes earlier terms as operands, so everything is shared a lot.
fn build(terms: &mut Terms, bytes: &[TermId], word: TermId, choices: &[Choice]) -> (TermId, TermId) {
    let mut words: Vec<TermId> = bytes.iter().map(|&byte| terms.zext(byte, 32)).collect();
    words.push(word);
    let mut truths = vec![terms.ult(words[0], words[1])];
    for &(operator, a, b, k) in choices {
        let (a, b) = (words[usize::from(a) % words.len()], words[usize::from(b) % words.len()]);
        let k32 = terms.constant(u128::from(k), 32);
        let t = match operator % 24 {
            0 => terms.add(a, b),
            1 => terms.sub(a, b),
            2 => terms.mul(a, b),
            3 => terms.udiv(a, b),
            4 => terms.urem(a, b),
            5 => terms.sdiv(a, b),
            6 => terms.srem(a, b),
            7 => terms.and(a, b),
            8 => terms.or(a, b),
            9 => terms.xor(a, b),
            10 => terms.shl(a, b),
            11 => terms.lshr(a, b),
            12 => terms.ashr(a, b),
            13 => terms.neg(a),
            14 => terms.not(a),
            15 => {
                let narrow = terms.extract(a, 20, 3);
                terms.sext(narrow, 32)
            }
            16 => {
                let (high, low) = (terms.extract(a, 11, 0), terms.extract(b, 19, 0));
                terms.concat(high, low)
            }
            17 => terms.ite(truths[truths.len() - 1], a, b),
            18 => lookup(terms, a, b, bytes, k),
            19 => terms.add(a, k32),
            20 => terms.and(a, k32),
            21 => {
                truths.push(terms.slt(a, b));
                terms.xor(a, k32)
            }
            22 => {
                truths.push(terms.eq(a, k32));
                terms.sub(b, a)
            }
            _ => {
                truths.push(terms.ult(a, b));
                terms.mul(a, k32)
            }
        };
        words.push(t);
    }
    let last = words[words.len() - 1];
    let bound = terms.constant(1 << 20, 32);
    let compared = terms.slt(last, bound);
    truths.push(compared);
    (last, truths[1..].iter().fold(truths[0], |all, &truth| terms.xor(all, truth)))
}

/// A byte from a table, half of the time one with symbolic elements, half of the time after a store.
fn lookup(terms: &mut Terms, a: TermId, b: TermId, bytes: &[TermId], k: u64) -> TermId {
    let elements: Vec<TermId> = (0..40u8)
        .map(|i| if k & 1 == 1 && i % 7 == 0 { bytes[1] } else { terms.byte_constant(i.wrapping_mul(37) ^ k as u8) })
        .collect();
    let mut array = terms.table(&elements);
    let mask = terms.constant(63, 32);
    let (low_a, low_b) = (terms.and(a, mask), terms.and(b, mask));
    let (at, other) = (terms.zext(low_a, 64), terms.zext(low_b, 64));
    if k & 2 == 2 {
        let byte = terms.extract(a, 15, 8);
        array = terms.store(array, other, byte);
    }
    let byte = terms.select(array, at);
    terms.zext(byte, 32)
}

proptest! {
    #[test]
    fn lanes_agree_with_the_evaluator(
        choices in choices(),
        seed in any::<u64>(),
    ) {
        let mut terms = Terms::new();
        let t = wide_condition(&mut terms, &choices);
        prop_assume!(!terms.is_const(t));
        let mut lanes = Lanes::new(&terms, &[t]).expect("nothing wide or large is in it");
        let value = |lane: usize, symbol: SymbolId, width: u32| {
            let mixed = (seed ^ (lane * 5 + symbol.index()) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if lane.is_multiple_of(3) { mixed % 5 } else { mixed >> (64 - width) }
        };
        let symbols = terms.symbols(t).to_vec();
        let mut graphs = Graphs::default();
        for (nth, input) in lanes.inputs().to_vec().into_iter().enumerate() {
            let &[symbol] = terms.symbols(input) else { panic!("an input has one symbol") };
            for lane in 0..N_LANES {
                let value = value(lane, symbol, terms.symbol_width(symbol));
                let graph = graphs.of(&terms, input);
                lanes.values_mut(nth)[lane] = graph.map_or(value, |graph| graph[value as usize] as u64);
            }
        }
        let holds = lanes.run();
        let used = used_bits(&terms, t).expect("nothing large is in it");
        let mut eval = Eval::new();
        for lane in 0..N_LANES {
            let (mut input, mut masked) = (Assignment::new(), Assignment::new());
            for &symbol in &symbols {
                let value = value(lane, symbol, terms.symbol_width(symbol));
                input.set(symbol, value);
                let bits = used.iter().find(|(other, _)| *other == symbol).expect("a symbol of the term").1;
                masked.set(symbol, value & bits);
            }
            prop_assert_eq!(holds >> lane & 1 == 1, eval.holds(&terms, &input, t), "lane {}", lane);
            prop_assert_eq!(eval.holds(&terms, &input, t), eval.holds(&terms, &masked, t), "unused bits in lane {}", lane);
        }
    }

    #[test]
    fn graphs_agree_with_the_evaluator(choices in choices(), width in 1u32..=8) {
        let mut terms = Terms::new();
        let symbol = terms.symbol("s", width);
        let byte = terms.zext(symbol, 8);
        let more = terms.not(byte);
        let wide = terms.zext(more, 32);
        let (word, truth) = build(&mut terms, &[byte, more, byte], wide, &choices);
        let mut graphs = Graphs::default();
        let mut eval = Eval::new();
        for t in [word, truth] {
            let Some(graph) = graphs.of(&terms, t) else {
                prop_assert!(terms.symbols(t).is_empty());
                continue;
            };
            let looked_up = graphs.lookup(&mut terms, t);
            prop_assert_eq!(looked_up.is_some(), terms.width(t) == 32);
            for value in 0..1u64 << width {
                let mut input = Assignment::new();
                input.set(terms.symbols(t)[0], value);
                let expected = eval.eval(&terms, &input, t);
                prop_assert_eq!(graph[value as usize], expected);
                if let Some(looked_up) = looked_up {
                    prop_assert_eq!(eval.eval(&terms, &input, looked_up), expected);
                }
            }
        }
    }
}

#[test]
fn only_the_bits_that_are_looked_at_are_used() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 32);
    let mask = terms.constant(0xff0, 32);
    let masked = terms.and(x, mask);
    let k = terms.constant(0x120, 32);
    let t = terms.ult(masked, k);
    assert_eq!(used_bits(&terms, t), Some(vec![(terms.symbols(x)[0], 0xff0)]));
    let whole = terms.ult(x, k);
    let either = terms.or(t, whole);
    assert_eq!(used_bits(&terms, either), Some(vec![(terms.symbols(x)[0], 0xffff_ffff)]));
}
