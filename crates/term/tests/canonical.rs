//! What the simplifier promises about form, arrays, and very deep terms.

use term::{Assignment, Eval, Sort, TermId, Terms, View};

fn bytes_of(terms: &mut Terms, t: TermId) -> Vec<TermId> {
    (0..terms.width(t) / 8).map(|i| terms.byte(t, i)).collect()
}

#[test]
fn bytes_of_a_word_fuse_back_into_it() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 64);
    let bytes = bytes_of(&mut terms, x);
    assert_eq!(terms.concat_bytes(&bytes), x);
    let half = terms.extract(x, 47, 16);
    assert_eq!(terms.concat_bytes(&bytes[2..6]), half);
}

/// Whatever a program computes, stores and loads again is what it computed.
#[test]
fn bytes_of_a_computed_word_fuse_back_into_it() {
    let mut terms = Terms::new();
    let (x, y, b) = (terms.symbol("x", 32), terms.symbol("y", 32), terms.symbol("b", 8));
    let (c, k) = (terms.symbol("c", 1), terms.constant(0x1200_ff78, 32));
    let l = terms.constant(0x1234_5678, 32);
    let product = terms.mul(x, y);
    let computed = [
        terms.add(x, k),
        terms.add(x, y),
        terms.sub(x, y),
        product,
        terms.add(product, k),
        terms.xor(x, k),
        terms.or(x, l),
        terms.not(x),
        terms.sext(b, 32),
        terms.zext(b, 32),
        terms.ite(c, x, y),
        terms.ite(c, x, k),
    ];
    for whole in computed {
        let bytes = bytes_of(&mut terms, whole);
        assert_eq!(terms.concat_bytes(&bytes), whole, "{:?}", terms.view(whole));
    }
}

/// `b[0] | b[1] << 8 | ...` is the word itself, whatever the order and operator.
#[test]
fn shifted_and_joined_bytes_fuse_back() {
    // A sum is known to be free of carries only where one part lies wholly above the other.
    assert_fuses(Terms::add, &[[0, 1, 2, 3], [3, 2, 1, 0]]);
    assert_fuses(Terms::or, &[[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 1, 3], [1, 3, 0, 2]]);
    assert_fuses(Terms::xor, &[[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 1, 3], [1, 3, 0, 2]]);
}

fn assert_fuses(join: fn(&mut Terms, TermId, TermId) -> TermId, orders: &[[usize; 4]]) {
    for order in orders {
        let mut terms = Terms::new();
        let x = terms.symbol("x", 32);
        let bytes = bytes_of(&mut terms, x);
        let mut word = terms.constant(0, 32);
        for &i in order {
            let wide = terms.zext(bytes[i], 32);
            let by = terms.constant(8 * i as u128, 32);
            let shifted = terms.shl(wide, by);
            word = join(&mut terms, word, shifted);
        }
        assert_eq!(word, x, "{order:?}");
    }
}

#[test]
fn comparisons_of_extended_bytes_are_narrowed() {
    let mut terms = Terms::new();
    let b = terms.symbol("b", 8);
    let wide = terms.zext(b, 32);
    let (k, narrow) = (terms.constant(65, 32), terms.constant(65, 8));
    let want = terms.slt(wide, k);
    let ult = terms.ult(b, narrow);
    assert_eq!(want, ult);
    let eq = terms.eq(wide, k);
    assert_eq!(terms.view(eq), View::Eq(b, narrow));
    let big = terms.constant(300, 32);
    let below = terms.slt(wide, big);
    assert!(terms.is_true(below));
    let equal = terms.eq(wide, big);
    assert!(terms.is_false(equal));
}

#[test]
fn a_condition_and_its_negation_share_their_node() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 32);
    let k = terms.constant(10, 32);
    let (below, above) = (terms.slt(x, k), terms.sle(k, x));
    assert_eq!(terms.not(below), above);
    let next = terms.constant(9, 32);
    assert_eq!(terms.sle(x, next), below);
}

#[test]
fn address_arithmetic_cancels() {
    let mut terms = Terms::new();
    let i = terms.symbol("i", 64);
    let (four, base) = (terms.constant(4, 64), terms.constant(0x5000_0000, 64));
    let scaled = terms.mul(i, four);
    let address = terms.add(base, scaled);
    let offset = terms.sub(address, base);
    assert_eq!(offset, scaled);
}

#[test]
fn symbols_are_interned_and_tracked() {
    let mut terms = Terms::new();
    let (a, b) = (terms.symbol("a", 8), terms.symbol("b", 8));
    assert_eq!(terms.symbol("a", 8), a);
    assert_ne!(terms.symbol("a", 16), a);
    let sum = terms.add(a, b);
    let again = terms.mul(sum, a);
    assert_eq!(terms.symbols(sum).len(), 2);
    assert_eq!(terms.symbol_set(sum), terms.symbol_set(again));
    let cancelled = terms.sub(sum, b);
    assert_eq!(terms.symbols(cancelled), terms.symbols(a));
    assert_eq!(terms.symbol_name(terms.symbols(a)[0]), "a");
}

#[test]
fn arrays_agree_with_a_plain_vector() {
    let mut terms = Terms::new();
    let mut eval = Eval::new();
    let (i, j, v) = (terms.symbol("i", 64), terms.symbol("j", 64), terms.symbol("v", 8));
    let elements: Vec<TermId> = (0..6).map(|k| if k == 3 { v } else { terms.byte_constant(10 + k) }).collect();
    let table = terms.table(&elements);
    let one = terms.add(i, j);
    let forty_two = terms.byte_constant(42);
    let two = terms.constant(2, 64);
    let stored = terms.store(table, i, forty_two);
    let stored = terms.store(stored, two, v);
    let stored = terms.store(stored, one, v);
    assert_eq!(terms.sort(stored), Sort::Array);
    let read = terms.select(stored, j);
    for (iv, jv) in (0..8u64).flat_map(|a| (0..8u64).map(move |b| (a, b))) {
        let assignment = Assignment::from_values(vec![iv, jv, 77]);
        let mut plain = vec![10u128, 11, 12, 77, 14, 15];
        plain.resize(32, 0);
        plain[iv as usize] = 42;
        plain[2] = 77;
        plain[(iv + jv) as usize] = 77;
        assert_eq!(eval.eval(&terms, &assignment, read), plain[jv as usize], "i={iv} j={jv}");
    }
}

#[test]
fn constant_indices_see_through_stores_and_tables() {
    let mut terms = Terms::new();
    let (i, v) = (terms.symbol("i", 64), terms.symbol("v", 8));
    let table = terms.table_of_bytes(&[1; 1000]);
    let (five, one) = (terms.constant(5, 64), terms.constant(1, 64));
    let stored = terms.store(table, five, v);
    assert_eq!(terms.select(stored, five), v);
    let seen = terms.select(stored, one);
    assert_eq!(terms.as_const(seen), Some(1));
    let next = terms.add(i, one);
    let at_i = terms.store(table, i, v);
    let neighbour = terms.select(at_i, next);
    assert_eq!(neighbour, terms.select(table, next));
    let beyond = terms.constant(1000, 64);
    let outside = terms.select(table, beyond);
    assert_eq!(terms.as_const(outside), Some(0));
}

/// `s += *s == '+'` and the like: what is read there is one of two bytes, and looks at no other.
#[test]
fn an_index_with_one_unknown_bit_chooses_between_two_elements() {
    let mut terms = Terms::new();
    let mut eval = Eval::new();
    let c = terms.symbol("c", 1);
    let elements: Vec<TermId> = (0..9).map(|k| terms.symbol(&format!("e{k}"), 8)).collect();
    let table = terms.table(&elements);
    let (zext, sext) = (terms.zext(c, 64), terms.sext(c, 64));
    let (zeros, high, low) = (terms.constant(0, 63), terms.constant(3, 63), terms.constant(5, 61));
    let (top, two) = (terms.constant(0, 2), terms.constant(2, 64));
    let shifted = terms.concat(c, low);
    let forms =
        [zext, sext, terms.concat(zeros, c), terms.concat(high, c), terms.concat(top, shifted), terms.shl(zext, two)];
    for form in forms {
        for offset in [0u64, 1, 4, 7, 8, 9, 1 << 61, u64::MAX, (1 << 61) + 3, u64::MAX - 5] {
            for sign in [1u64, u64::MAX] {
                let k = terms.constant(u128::from(offset.wrapping_mul(sign)), 64);
                let index = terms.add(form, k);
                let read = terms.select(table, index);
                assert!(terms.symbols(read).len() <= 3, "{:?}", terms.view(read));
                for bit in [0, 1] {
                    let values: Vec<u64> = std::iter::once(bit).chain(100..109).collect();
                    let assignment = Assignment::from_values(values);
                    let at = eval.eval(&terms, &assignment, index);
                    let expected = if at < 9 { 100 + at } else { 0 };
                    assert_eq!(eval.eval(&terms, &assignment, read), expected, "index {at}");
                }
            }
        }
    }
}

/// A chain this deep overflows the stack wherever something recurses along it.
#[test]
fn deep_chains_are_built_evaluated_and_printed() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 32);
    let mut t = x;
    let mut want = 3u32;
    for k in 0..200_000u32 {
        let c = terms.constant(u128::from(k | 1), 32);
        t = terms.mul(t, c);
        t = terms.xor(t, x);
        want = want.wrapping_mul(k | 1) ^ 3;
    }
    let mut eval = Eval::new();
    assert_eq!(eval.eval(&terms, &Assignment::from_values(vec![3]), t), u128::from(want));
    let zero = terms.constant(0, 32);
    let question = terms.eq(t, zero);
    let text = term::smtlib(&terms, &[question]);
    assert!(text.lines().count() >= 400_000);
}

#[test]
fn long_cascades_of_choices_stay_cheap() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 32);
    let mut value = terms.constant(0, 32);
    for k in 1..5000u128 {
        let k = terms.constant(k, 32);
        let here = terms.eq(x, k);
        value = terms.ite(here, k, value);
    }
    let k = terms.constant(77, 32);
    let before = terms.len();
    let question = terms.eq(value, k);
    assert!(terms.len() - before < 200, "a rule walked the whole cascade");
    let mut eval = Eval::new();
    assert!(eval.holds(&terms, &Assignment::from_values(vec![77]), question));
    assert!(!eval.holds(&terms, &Assignment::from_values(vec![78]), question));
}

#[test]
fn switching_the_assignment_forgets_the_old_values() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 8);
    let t = terms.neg(x);
    let mut eval = Eval::new();
    let mut first = Assignment::from_values(vec![1]);
    assert_eq!(eval.eval(&terms, &first, t), 255);
    first.set(terms.symbols(x)[0], 2);
    assert_eq!(eval.eval(&terms, &first, t), 254);
    assert_eq!(eval.eval(&terms, &Assignment::new(), t), 0);
}
