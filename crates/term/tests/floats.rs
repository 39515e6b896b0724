//! Builders of float operations against their meaning, and the ways terms are looked at: text, lanes, replacement.

use proptest::prelude::*;
use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use term::{Assignment, Eval, Graphs, Lanes, Replacement, TermId, Terms, TextReader, TextWriter};

/// One step of a program over floats: operator, which operands, and a constant that may take the place of one.
type Choice = (u8, u8, u8, u8, u64);

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), special()), 1..16)
}

/// Bits of doubles, most of which are near something.
fn special() -> impl Strategy<Value = u64> {
    let named =
        [0.0, 1.0, -1.0, 0.5, 2.0, 1.5, 0.1, 1e300, 1e-310, 3.0, 255.0, 256.0, -128.0, 65504.0, 1e9, f64::INFINITY];
    prop_oneof![
        proptest::sample::select(named.to_vec()).prop_map(f64::to_bits),
        proptest::sample::select(vec![0x7ff0_0000_0000_0001, 0x7ff8_0000_0000_0007, 0xfff8_0000_0000_0000, 1 << 63]),
        any::<u64>(),
    ]
}

/// What a term means, written down beside it.
#[derive(Clone)]
struct Both {
    term: TermId,
    value: u128,
}

/// Builds terms by the choices and computes what they mean without the builders' rules: `x` 64 bits, `n` 32 bits, `s` 16 bits.
fn build(terms: &mut Terms, choices: &[Choice], x: u64, n: u32, s: u16) -> (Vec<Both>, Vec<Both>) {
    let sx = terms.symbol("x", 64);
    let sn = terms.symbol("n", 32);
    let ss = terms.symbol("s", 16);
    let mut all: Vec<Both> = vec![Both { term: sx, value: x.into() }, Both { term: sn, value: n.into() }];
    all.push(Both { term: ss, value: s.into() });
    let mut truths = Vec::new();
    for &(operator, a, b, mode, k) in choices {
        let rounding = Rounding::ALL[usize::from(mode) % 5];
        let a = all[usize::from(a) % all.len()].clone();
        let width = terms.width(a.term);
        let constant = |terms: &mut Terms, width: u32| {
            let format = Format::find(width).unwrap_or(Format::Double);
            let value = float::resize(Format::Double, format, Rounding::NearestEven, k.into());
            Both { term: terms.constant(value, width), value: value & (u128::MAX >> (128 - width)) }
        };
        let other = all[usize::from(b) % all.len()].clone();
        let b = if terms.width(other.term) == width && b % 3 != 0 { other } else { constant(terms, width) };
        let is_float = Format::find(width).is_some();
        match operator % 16 {
            0..=5 if is_float => {
                let op = FloatBinary::ALL[usize::from(operator % 16)];
                let (a, b) = if mode % 2 == 0 { (a, b) } else { (b, a) };
                let term = terms.float_binary(op, rounding, a.term, b.term);
                all.push(Both {
                    term,
                    value: float::binary(
                        op,
                        if op.rounds() { rounding } else { Rounding::default() },
                        width,
                        a.value,
                        b.value,
                    ),
                });
            }
            6..=8 if is_float => {
                let op = FloatCompare::ALL[usize::from(operator % 16 - 6)];
                let (a, b) = if mode % 2 == 0 { (a, b) } else { (b, a) };
                let term = terms.float_compare(op, a.term, b.term);
                truths.push(Both { term, value: float::compare(op, width, a.value, b.value).into() });
            }
            9 if is_float => {
                let op = if mode % 3 == 0 { FloatUnary::Sqrt } else { FloatUnary::Integral };
                let term = terms.float_unary(op, rounding, a.term, width);
                all.push(Both { term, value: float::unary(op, rounding, width, width, a.value) });
            }
            10 | 11 if is_float => {
                let to = [16, 32, 64, 80, 128][usize::from(mode / 5) % 5];
                let term = terms.fresize(rounding, a.term, to);
                let value = float::resize(Format::of(width), Format::of(to), rounding, a.value);
                all.push(Both { term, value: if to == width { a.value } else { value } });
            }
            12 if is_float => {
                let to = [8, 16, 32, 64][usize::from(mode) % 4];
                let op = if mode % 7 < 4 { FloatUnary::ToSigned } else { FloatUnary::ToUnsigned };
                let term = terms.float_unary(op, rounding, a.term, to);
                all.push(Both { term, value: float::unary(op, rounding, width, to, a.value) });
            }
            13 if width <= 64 => {
                let to = [16, 32, 64, 80][usize::from(mode) % 4];
                let op = if mode % 3 == 0 { FloatUnary::FromSigned } else { FloatUnary::FromUnsigned };
                let term = terms.float_unary(op, rounding, a.term, to);
                all.push(Both { term, value: float::unary(op, rounding, width, to, a.value) });
            }
            14 if is_float => {
                let term = terms.ffma(rounding, a.term, b.term, a.term);
                all.push(Both { term, value: float::fma(rounding, width, a.value, b.value, a.value) });
                let term = terms.is_nan(a.term);
                truths.push(Both { term, value: Format::of(width).is_nan(a.value).into() });
            }
            _ if is_float => {
                let term = terms.fmin(a.term, b.term);
                let is_other = Format::of(width).is_nan(a.value) || float::is_less(width, b.value, a.value);
                all.push(Both { term, value: if is_other { b.value } else { a.value } });
            }
            _ => {}
        }
    }
    (all, truths)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn builders_keep_the_meaning(choices in choices(), x in special(), n in any::<u32>(), s in any::<u16>()) {
        let mut terms = Terms::new();
        let (all, truths) = build(&mut terms, &choices, x, n, s);
        let input = Assignment::from_values(vec![x, n.into(), s.into()]);
        let mut eval = Eval::new();
        for both in all.iter().chain(&truths) {
            prop_assert_eq!(eval.eval(&terms, &input, both.term), both.value);
        }
        // Text, read back into another arena.
        let mut text = String::new();
        let mut writer = TextWriter::default();
        all.iter().chain(&truths).for_each(|both| writer.write(&terms, both.term, &mut text));
        let (mut other, mut reader) = (Terms::new(), TextReader::default());
        for line in text.lines() {
            prop_assert!(reader.read(&mut other, line).is_some(), "{}", line);
        }
        let value_of = |name: &str| match name { "x" => x, "n" => n.into(), _ => s.into() };
        let values = (0..other.n_symbols()).map(|nth| value_of(other.symbol_name(term::SymbolId(nth as u32)))).collect();
        let there = Assignment::from_values(values);
        let mut eval = Eval::new();
        for both in all.iter().chain(&truths) {
            let read = reader.find(&format!("{:?}", both.term)).unwrap();
            prop_assert_eq!(eval.eval(&other, &there, read), both.value);
        }
        // Constants in place of the symbols.
        let mut replacement = Replacement::default();
        for (nth, value) in [u128::from(x), n.into(), s.into()].into_iter().enumerate() {
            let symbol = term::SymbolId(nth as u32);
            let constant = terms.constant(value, terms.symbol_width(symbol));
            replacement.bind(symbol, constant);
        }
        for both in all.iter().chain(&truths) {
            let constant = replacement.apply(&mut terms, both.term).unwrap();
            prop_assert_eq!(terms.as_const(constant), Some(both.value));
        }
    }

    #[test]
    fn lanes_and_graphs_agree_with_the_evaluator(choices in choices(), x in special(), s in any::<u16>()) {
        let mut terms = Terms::new();
        let (all, truths) = build(&mut terms, &choices, x, 7, s);
        let mut eval = Eval::new();
        for truth in &truths {
            let Some(mut lanes) = Lanes::new(&terms, &[truth.term]) else { continue };
            let inputs = lanes.inputs().to_vec();
            let input = Assignment::from_values(vec![x, 7, s.into()]);
            for (nth, t) in inputs.iter().enumerate() {
                let value = eval.eval(&terms, &input, *t) as u64;
                lanes.values_mut(nth).fill(value);
            }
            prop_assert_eq!(lanes.run(), if truth.value == 1 { u64::MAX } else { 0 });
        }
        // The same over a byte.
        let byte = terms.symbol("b", 8);
        let mut replacement = Replacement::default();
        let (wide, small) = (terms.zext(byte, 64), terms.zext(byte, 16));
        let from = terms.float_unary(FloatUnary::FromUnsigned, Rounding::NearestEven, wide, 64);
        let seven = terms.constant(7, 32);
        replacement.bind(term::SymbolId(0), from);
        replacement.bind(term::SymbolId(1), seven);
        replacement.bind(term::SymbolId(2), small);
        let mut graphs = Graphs::default();
        for both in all.iter().chain(&truths) {
            let t = replacement.apply(&mut terms, both.term).unwrap();
            let Some(graph) = graphs.of(&terms, t) else { continue };
            for value in [0u64, 1, 77, 255] {
                let input = Assignment::from_values(vec![0, 0, 0, value]);
                prop_assert_eq!(graph[value as usize], eval.eval(&terms, &input, t));
            }
        }
    }
}
