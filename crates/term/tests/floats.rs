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

/// A comparison, a conversion to an integer and a test for NaN do not see which NaN it is: `x * y` and `y * x` are one term for them,
/// and mean for all values what they meant.
#[test]
fn nobody_sees_the_order_of_operands_in_a_comparison() {
    let mut terms = Terms::new();
    let even = Rounding::NearestEven;
    let [x, y, z] = ["x", "y", "z"].map(|name| terms.symbol(name, 16));
    let symbols = [x, y, z].map(|t| terms.symbols(t)[0]);
    let of = |terms: &mut Terms, x: TermId, y: TermId| {
        let (product, sum) = (terms.fmul(even, x, y), terms.fadd(even, y, x));
        let fused = terms.ffma(even, y, x, z);
        let (difference, root) = (terms.fsub(even, x, y), terms.fsqrt(even, product));
        let (square, size) = (terms.fmul(even, difference, difference), terms.fabs(difference));
        let negated = terms.fneg(sum);
        let opposite = terms.fneg(root);
        let less = if x < y { terms.fadd(even, opposite, z) } else { terms.fsub(even, z, root) };
        [product, sum, fused, root, square, size, negated, less]
    };
    let (one, other) = (of(&mut terms, x, y), of(&mut terms, y, x));
    let mut truths = Vec::new();
    for (a, b) in one.into_iter().zip(other) {
        assert_eq!(terms.flt(a, z), terms.flt(b, z));
        assert_eq!(terms.is_nan(a), terms.is_nan(b));
        assert_eq!(
            terms.float_unary(FloatUnary::ToSigned, even, a, 32),
            terms.float_unary(FloatUnary::ToSigned, even, b, 32)
        );
        truths.push((a, terms.flt(a, z), terms.is_nan(a)));
    }
    // Rounded up or down, the two differences are not each other's negatives.
    let [one, other] = [(x, y), (y, x)].map(|(x, y)| {
        let difference = terms.fsub(Rounding::Down, x, y);
        terms.fabs(difference)
    });
    assert_ne!(terms.flt(one, z), terms.flt(other, z));
    let format = Format::of(16);
    let interesting = [0u64, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x3555, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe07];
    let mut eval = Eval::new();
    for nth in 0..40_000u64 {
        let random = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let pick = |at: u32| match random >> (8 * at) & 3 {
            0 => random >> (16 * at) & 0xffff,
            n => interesting[(random >> (20 + 9 * at) ^ n) as usize % interesting.len()],
        };
        let mut input = Assignment::new();
        symbols.into_iter().zip(0..).for_each(|(symbol, at)| input.set(symbol, pick(at)));
        let right = eval.eval(&terms, &input, z);
        for &(number, is_less, is_nan) in &truths {
            let left = eval.eval(&terms, &input, number);
            assert_eq!(eval.holds(&terms, &input, is_less), float::compare(FloatCompare::Less, 16, left, right));
            assert_eq!(eval.holds(&terms, &input, is_nan), format.is_nan(left));
        }
    }
}

/// The sign of a difference is what a comparison of its operands says, however it is rounded: what is not zero does not become zero.
#[test]
fn a_difference_compared_with_zero_compares_its_operands() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.symbol(name, 16));
    let symbols = [x, y].map(|t| terms.symbols(t)[0]);
    let (x_is_less, y_is_less) = (terms.flt(x, y), terms.flt(y, x));
    let mut asked = Vec::new();
    for rounding in Rounding::ALL {
        let difference = terms.fsub(rounding, x, y);
        for zero in [0u128, 0x8000] {
            let constant = terms.constant(zero, 16);
            assert_eq!((terms.flt(difference, constant), terms.flt(constant, difference)), (x_is_less, y_is_less));
            asked.push((rounding, zero));
        }
    }
    let interesting = [0u64, 1, 2, 3, 0x3ff, 0x400, 0x401, 0x7ff, 0x800, 0x801, 0x3c00, 0x3c01, 0x7bfe, 0x7bff, 0x7c00];
    let values = || interesting.into_iter().flat_map(|bits| [bits, bits | 0x8000]).chain([0x7c01, 0x7e00, 0xfe07]);
    let mut eval = Eval::new();
    for (first, second) in values().flat_map(|first| values().map(move |second| (first, second))) {
        let mut input = Assignment::new();
        input.set(symbols[0], first);
        input.set(symbols[1], second);
        let [is_below, is_above] = [x_is_less, y_is_less].map(|t| eval.holds(&terms, &input, t));
        for &(rounding, zero) in &asked {
            let difference = float::binary(FloatBinary::Sub, rounding, 16, first.into(), second.into());
            assert_eq!(is_below, float::compare(FloatCompare::Less, 16, difference, zero), "{first:x} {second:x}");
            assert_eq!(is_above, float::compare(FloatCompare::Less, 16, zero, difference), "{first:x} {second:x}");
        }
    }
}
