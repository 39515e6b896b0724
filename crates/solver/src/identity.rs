//! Sums of bits: two ways of counting, spreading or multiplying that come to the same.
//!
//! Bit tricks add up bits in fields of a word, and gates of two of them have nothing in common, so that a search has to try out what a
//! line of algebra shows. Here each term is a sum of products of bits, with factors modulo a power of two. A field can be taken out
//! of a sum when nothing below it can carry into it. In the end what was made of bits is written out (`x | y` is
//! `x + y - xy`), and the two sides of an equation are subtracted from each other. If nothing but a constant is left, they are always or
//! never equal, whatever the path says. What is none of this counts as unknown bits.

use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{TermId, Terms, View, fold};

/// Products in one sum.
const MAX_PRODUCTS: usize = 4096;
/// Products that are added or multiplied for one question.
const MAX_WORK: usize = 1 << 17;
const MAX_DEPTH: u32 = 200;
/// Terms among which something is looked for that is worth it.
const MAX_TERMS: usize = 2048;

/// A product of different bits, sorted; without any it is one.
type Product = Rc<[u32]>;
/// `None` is zero.
type Bit = Option<Product>;

/// A bit that is no product.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Atom {
    /// Of a term of which nothing else is known.
    Of(TermId, u32),
    Not(Product),
    Or(Product, Product),
    Xor(Product, Product),
    /// The second where the first is one, else the third.
    Choice(Product, Bit, Bit),
}

/// Products with their factors, none of them zero.
type Sum = FxHashMap<Product, u128>;

struct Algebra<'t> {
    terms: &'t Terms,
    atoms: Vec<Atom>,
    numbers: FxHashMap<Atom, u32>,
    sums: FxHashMap<TermId, Rc<Sum>>,
    written_out: FxHashMap<u32, Rc<Sum>>,
    work_left: usize,
}

struct Identity;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Identity))
}

impl Answers for Identity {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        is_contradiction(query.terms, query.question).then(|| Said::Unsat(Some(vec![query.question])))
    }
}

/// Whether an equation never holds, or one that is not to hold always does.
fn is_contradiction(terms: &Terms, question: TermId) -> bool {
    let (equation, is_to_hold) = match terms.view(question) {
        View::Not(inner) => (inner, false),
        _ => (question, true),
    };
    let View::Eq(a, b) = terms.view(equation) else { return false };
    is_worth_it(terms, equation) && always(terms, a, b) == Some(!is_to_hold)
}

/// Whether two terms are always or never equal, where that is found out.
fn always(terms: &Terms, a: TermId, b: TermId) -> Option<bool> {
    let width = terms.width(a);
    let mut algebra = Algebra {
        terms,
        atoms: Vec::new(),
        numbers: FxHashMap::default(),
        sums: FxHashMap::default(),
        written_out: FxHashMap::default(),
        work_left: MAX_WORK,
    };
    let (a, b) = (algebra.sum(a, MAX_DEPTH)?, algebra.sum(b, MAX_DEPTH)?);
    let mut difference = (*a).clone();
    algebra.add_times(&mut difference, &b, u128::MAX, width)?;
    let left = algebra.write_out(&difference, width)?;
    match left.len() {
        0 => Some(true),
        1 => left.keys().all(|product| product.is_empty()).then_some(false),
        _ => None,
    }
}

/// Whether there are sums, and something else that other layers make nothing of.
fn is_worth_it(terms: &Terms, t: TermId) -> bool {
    let (mut has_sum, mut has_more) = (false, false);
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        match terms.view(t) {
            View::Add(..) | View::Sub(..) => has_sum = true,
            View::And(..) | View::Or(..) | View::Xor(..) => has_more |= terms.width(t) > 1,
            View::Mul(_, b) => has_more |= !terms.is_const(b),
            _ => {}
        }
        if has_sum && has_more {
            return true;
        }
        stack.extend(terms.view(t).operands().filter(|operand| seen.len() < MAX_TERMS && seen.insert(*operand)));
    }
    false
}

fn joined(a: &Product, b: &Product) -> Product {
    let mut both: Vec<u32> = a.iter().chain(b.iter()).copied().collect();
    both.sort_unstable();
    both.dedup();
    both.into()
}

/// The largest value that a sum can have before it wraps around.
fn most(sum: &Sum) -> u128 {
    sum.values().fold(0, |most: u128, factor| most.saturating_add(*factor))
}

/// Whether a sum of so many bits never wraps around.
fn is_exact(sum: &Sum, width: u32) -> bool {
    most(sum) <= fold::mask(width)
}

impl Algebra<'_> {
    fn add(&mut self, sum: &mut Sum, product: Product, factor: u128, width: u32) -> Option<()> {
        self.work_left = self.work_left.checked_sub(1 + product.len())?;
        let before = sum.remove(&product).unwrap_or(0);
        let after = before.wrapping_add(factor) & fold::mask(width);
        if after != 0 {
            sum.insert(product, after);
        }
        (sum.len() <= MAX_PRODUCTS).then_some(())
    }

    fn add_times(&mut self, sum: &mut Sum, other: &Sum, times: u128, width: u32) -> Option<()> {
        other.iter().try_for_each(|(product, factor)| self.add(sum, product.clone(), factor.wrapping_mul(times), width))
    }

    fn multiply(&mut self, a: &Sum, b: &Sum, width: u32) -> Option<Sum> {
        let mut product = Sum::default();
        for (x, j) in a {
            for (y, k) in b {
                let factor = j.wrapping_mul(*k) & fold::mask(width);
                if factor != 0 {
                    self.add(&mut product, joined(x, y), factor, width)?;
                }
            }
        }
        Some(product)
    }

    fn atom(&mut self, atom: Atom) -> Product {
        let next = self.atoms.len() as u32;
        let number = *self.numbers.entry(atom.clone()).or_insert(next);
        if number == next {
            self.atoms.push(atom);
        }
        Rc::from([number])
    }

    fn one() -> Bit {
        Some(Rc::from([]))
    }

    fn not(&mut self, bit: &Bit) -> Bit {
        let Some(product) = bit else { return Self::one() };
        match product[..] {
            [] => None,
            [only] if let Atom::Not(inner) = &self.atoms[only as usize] => Some(inner.clone()),
            _ => Some(self.atom(Atom::Not(product.clone()))),
        }
    }

    fn or(&mut self, a: &Bit, b: &Bit) -> Bit {
        let (Some(x), Some(y)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
        if x.is_empty() || y.is_empty() || x == y {
            return if x.is_empty() { a.clone() } else { b.clone() };
        }
        let (x, y) = if x < y { (x, y) } else { (y, x) };
        Some(self.atom(Atom::Or(x.clone(), y.clone())))
    }

    fn xor(&mut self, a: &Bit, b: &Bit) -> Bit {
        let (Some(x), Some(y)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
        match (x.is_empty(), y.is_empty()) {
            _ if x == y => None,
            (true, _) => self.not(b),
            (_, true) => self.not(a),
            _ => {
                let (x, y) = if x < y { (x, y) } else { (y, x) };
                Some(self.atom(Atom::Xor(x.clone(), y.clone())))
            }
        }
    }

    fn choice(&mut self, c: &Bit, a: &Bit, b: &Bit) -> Bit {
        match c {
            _ if a == b => a.clone(),
            None => b.clone(),
            Some(c) if c.is_empty() => a.clone(),
            Some(c) => Some(self.atom(Atom::Choice(c.clone(), a.clone(), b.clone()))),
        }
    }

    fn of_bits(&mut self, bits: &[Bit]) -> Option<Sum> {
        let (mut sum, width) = (Sum::default(), bits.len() as u32);
        for (at, product) in bits.iter().enumerate().filter_map(|(at, bit)| Some((at, bit.clone()?))) {
            self.add(&mut sum, product, 1 << at, width)?;
        }
        Some(sum)
    }

    /// A sum in which every bit of the result is one product.
    fn bits_of(sum: &Sum, width: u32) -> Option<Vec<Bit>> {
        let mut bits: Vec<Bit> = vec![None; width as usize];
        for (product, &factor) in sum {
            if !product.is_empty() && !factor.is_power_of_two() {
                return None;
            }
            for at in (0..width).filter(|at| factor >> at & 1 == 1) {
                let bit = &mut bits[at as usize];
                if bit.is_some() {
                    return None;
                }
                *bit = Some(product.clone());
            }
        }
        Some(bits)
    }

    /// Some bits of a sum, where those below cannot carry into them.
    fn field(&mut self, sum: &Sum, lo: u32, width: u32) -> Option<Sum> {
        let (mut field, mut below, low_bits) = (Sum::default(), 0u128, (1u128 << lo) - 1);
        for (product, &factor) in sum {
            below = below.saturating_add(factor & low_bits);
            let factor = (factor >> lo) & fold::mask(width);
            if factor != 0 {
                self.add(&mut field, product.clone(), factor, width)?;
            }
        }
        (below <= low_bits).then_some(field)
    }

    /// The bits of a term that is unknown.
    fn unknown(&mut self, t: TermId) -> Option<Sum> {
        let bits: Vec<Bit> = (0..self.terms.width(t)).map(|at| Some(self.atom(Atom::Of(t, at)))).collect();
        self.of_bits(&bits)
    }

    /// The value of a term as a number that does not wrap around.
    fn exact(&mut self, t: TermId, depth: u32) -> Option<Rc<Sum>> {
        let sum = self.sum(t, depth)?;
        match is_exact(&sum, self.terms.width(t)) {
            true => Some(sum),
            false => self.unknown(t).map(Rc::new),
        }
    }

    fn sum(&mut self, t: TermId, depth: u32) -> Option<Rc<Sum>> {
        if let Some(sum) = self.sums.get(&t) {
            return Some(Rc::clone(sum));
        }
        let sum = match depth.checked_sub(1) {
            Some(depth) => match self.known(t, depth)? {
                Some(sum) => sum,
                None => self.unknown(t)?,
            },
            None => self.unknown(t)?,
        };
        let sum = Rc::new(sum);
        self.sums.insert(t, Rc::clone(&sum));
        Some(sum)
    }

    /// What a term is by its operands; `Some(None)` where that says nothing, `None` where there is too much to do.
    fn known(&mut self, t: TermId, depth: u32) -> Option<Option<Sum>> {
        let terms = self.terms;
        let width = terms.width(t);
        Some(Some(match terms.view(t) {
            View::Const(0) => Sum::default(),
            View::Const(value) => Sum::from_iter([(Rc::from([]), value)]),
            View::Not(x) => {
                let x = self.sum(x, depth)?;
                match Self::bits_of(&x, width) {
                    Some(bits) => {
                        let bits: Vec<Bit> = bits.iter().map(|bit| self.not(bit)).collect();
                        self.of_bits(&bits)?
                    }
                    None => {
                        let mut sum = Sum::from_iter([(Rc::from([]), fold::mask(width))]);
                        self.add_times(&mut sum, &x, u128::MAX, width)?;
                        sum
                    }
                }
            }
            View::Neg(x) => {
                let x = self.sum(x, depth)?;
                let mut sum = Sum::default();
                self.add_times(&mut sum, &x, u128::MAX, width)?;
                sum
            }
            View::Add(a, b) | View::Sub(a, b) => {
                let times = if matches!(terms.view(t), View::Add(..)) { 1 } else { u128::MAX };
                let (a, b) = (self.sum(a, depth)?, self.sum(b, depth)?);
                let mut sum = (*a).clone();
                self.add_times(&mut sum, &b, times, width)?;
                sum
            }
            View::Mul(a, b) => {
                let (a, b) = (self.sum(a, depth)?, self.sum(b, depth)?);
                self.multiply(&a, &b, width)?
            }
            View::Shl(x, by) => {
                let Some(by) = terms.as_const(by).filter(|&by| by < u128::from(width)) else { return Some(None) };
                let x = self.sum(x, depth)?;
                let mut sum = Sum::default();
                self.add_times(&mut sum, &x, 1 << by, width)?;
                sum
            }
            View::LShr(x, by) => {
                let Some(by) = terms.as_const(by).filter(|&by| by < u128::from(width)) else { return Some(None) };
                let (x, n_left) = (self.sum(x, depth)?, width - by as u32);
                return Some(self.field(&x, by as u32, n_left).filter(|field| is_exact(field, n_left)));
            }
            View::Extract { arg, lo } => {
                let arg = self.sum(arg, depth)?;
                return Some(self.field(&arg, lo, width));
            }
            View::Concat(hi, lo) => {
                let n_low = terms.width(lo);
                let (hi, lo) = (self.sum(hi, depth)?, self.exact(lo, depth)?);
                let mut sum = (*lo).clone();
                self.add_times(&mut sum, &hi, 1 << n_low, width)?;
                sum
            }
            View::ZExt(x) => (*self.exact(x, depth)?).clone(),
            View::SExt(x) => {
                let n_bits = terms.width(x);
                let x = self.sum(x, depth)?;
                let Some(mut bits) = Self::bits_of(&x, n_bits) else { return Some(None) };
                let top = bits[bits.len() - 1].clone();
                bits.resize(width as usize, top);
                self.of_bits(&bits)?
            }
            View::And(a, b) | View::Or(a, b) | View::Xor(a, b) => return self.bitwise(t, a, b, depth),
            View::Ite(c, a, b) => {
                let (c, a, b) = (self.sum(c, depth)?, self.sum(a, depth)?, self.sum(b, depth)?);
                let (c, a, b) = (Self::bits_of(&c, 1), Self::bits_of(&a, width), Self::bits_of(&b, width));
                let (Some(c), Some(a), Some(b)) = (c, a, b) else { return Some(None) };
                let bits: Vec<Bit> = a.iter().zip(&b).map(|(a, b)| self.choice(&c[0], a, b)).collect();
                self.of_bits(&bits)?
            }
            _ => return Some(None),
        }))
    }

    fn bitwise(&mut self, t: TermId, a: TermId, b: TermId, depth: u32) -> Option<Option<Sum>> {
        let (terms, width) = (self.terms, self.terms.width(t));
        let (x, y) = (self.sum(a, depth)?, self.sum(b, depth)?);
        if let (Some(x), Some(y)) = (Self::bits_of(&x, width), Self::bits_of(&y, width)) {
            let bits: Vec<Bit> = x
                .iter()
                .zip(&y)
                .map(|(x, y)| match terms.view(t) {
                    View::And(..) => Some(joined(x.as_ref()?, y.as_ref()?)),
                    View::Or(..) => self.or(x, y),
                    _ => self.xor(x, y),
                })
                .collect();
            return Some(Some(self.of_bits(&bits)?));
        }
        // A mask takes fields out.
        let (View::And(..), Some(mask)) = (terms.view(t), terms.as_const(b)) else { return Some(None) };
        let mut sum = Sum::default();
        let mut lo = 0;
        while mask >> lo != 0 {
            lo += (mask >> lo).trailing_zeros();
            let n_bits = (mask >> lo).trailing_ones();
            let Some(field) = self.field(&x, lo, n_bits) else { return Some(None) };
            if !is_exact(&field, n_bits) {
                return Some(None);
            }
            self.add_times(&mut sum, &field, 1 << lo, width)?;
            lo += n_bits;
            if lo >= width {
                break;
            }
        }
        Some(Some(sum))
    }

    /// The same sum over unknown bits alone.
    fn write_out(&mut self, sum: &Sum, width: u32) -> Option<Sum> {
        let mut whole = Sum::default();
        for (product, &factor) in sum {
            let product = self.product_written_out(product)?;
            self.add_times(&mut whole, &product, factor, width)?;
        }
        Some(whole)
    }

    fn product_written_out(&mut self, product: &Product) -> Option<Sum> {
        let mut whole = Sum::from_iter([(Rc::from([]), 1)]);
        for &atom in product.iter() {
            let atom = self.atom_written_out(atom)?;
            whole = self.multiply(&whole, &atom, 128)?;
        }
        Some(whole)
    }

    fn bit_written_out(&mut self, bit: &Bit) -> Option<Sum> {
        bit.as_ref().map_or(Some(Sum::default()), |product| self.product_written_out(product))
    }

    fn atom_written_out(&mut self, atom: u32) -> Option<Rc<Sum>> {
        if let Some(sum) = self.written_out.get(&atom) {
            return Some(Rc::clone(sum));
        }
        // `a + b` and so many times `ab`.
        let sum = match self.atoms[atom as usize].clone() {
            Atom::Of(..) => Sum::from_iter([(Rc::from([atom]), 1)]),
            Atom::Not(x) => {
                let x = self.product_written_out(&x)?;
                let mut sum = Sum::from_iter([(Rc::from([]), 1)]);
                self.add_times(&mut sum, &x, u128::MAX, 128)?;
                sum
            }
            Atom::Or(x, y) => self.both_written_out(&x, &y, 1)?,
            Atom::Xor(x, y) => self.both_written_out(&x, &y, 2)?,
            Atom::Choice(c, a, b) => {
                let (c, a, mut sum) =
                    (self.product_written_out(&c)?, self.bit_written_out(&a)?, self.bit_written_out(&b)?);
                let mut apart = a;
                self.add_times(&mut apart, &sum.clone(), u128::MAX, 128)?;
                let moved = self.multiply(&c, &apart, 128)?;
                self.add_times(&mut sum, &moved, 1, 128)?;
                sum
            }
        };
        let sum = Rc::new(sum);
        self.written_out.insert(atom, Rc::clone(&sum));
        Some(sum)
    }

    /// `x + y` less so many times `xy`.
    fn both_written_out(&mut self, x: &Product, y: &Product, times: u128) -> Option<Sum> {
        let (x, y) = (self.product_written_out(x)?, self.product_written_out(y)?);
        let both = self.multiply(&x, &y, 128)?;
        let mut sum = x;
        self.add_times(&mut sum, &y, 1, 128)?;
        self.add_times(&mut sum, &both, times.wrapping_neg(), 128)?;
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::{Assignment, Eval, SymbolId};

    /// Terms of four bits over two symbols, each made from earlier ones.
    fn build(terms: &mut Terms, steps: &[(u8, u8, u8, u8)]) -> Vec<TermId> {
        let mut made = vec![terms.symbol("x", 4), terms.symbol("y", 4)];
        for &(op, a, b, k) in steps {
            let at = |idx: u8| made[usize::from(idx) % made.len()];
            let (a, b) = (at(a), at(b));
            let k = terms.constant(u128::from(k % 16), 4);
            let small = terms.constant(u128::from(op / 16 % 4), 4);
            let t = match op % 16 {
                0 | 1 => terms.add(a, b),
                2 => terms.sub(a, b),
                3 => terms.mul(a, b),
                4 => terms.mul(a, k),
                5 => terms.and(a, b),
                6 | 7 => terms.and(a, k),
                8 => terms.or(a, b),
                9 => terms.xor(a, b),
                10 => terms.not(a),
                11 => terms.lshr(a, small),
                12 => terms.shl(a, small),
                13 => {
                    let (high, low) = (terms.extract(a, 1, 0), terms.extract(b, 3, 2));
                    terms.concat(high, low)
                }
                14 => {
                    let low = terms.extract(a, 2, 1);
                    if op >= 128 { terms.sext(low, 4) } else { terms.zext(low, 4) }
                }
                _ => {
                    let top = terms.extract(a, 3, 3);
                    terms.ite(top, b, k)
                }
            };
            made.push(t);
        }
        made
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        /// What is said to be always or never equal is, under all values of both symbols; of twice the same, one in other words is.
        #[test]
        fn always_and_never_are_true(steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..9)) {
            let mut terms = Terms::new();
            let made = build(&mut terms, &steps);
            let mut eval = Eval::new();
            let table = |eval: &mut Eval, terms: &Terms, t: TermId| -> Vec<u128> {
                (0..256u64).map(|input| {
                    let mut values = Assignment::new();
                    values.set(SymbolId(0), input & 15);
                    values.set(SymbolId(1), input >> 4);
                    eval.eval(terms, &values, t)
                }).collect()
            };
            let tables: Vec<Vec<u128>> = made.iter().map(|&t| table(&mut eval, &terms, t)).collect();
            for (i, &a) in made.iter().enumerate() {
                for (j, &b) in made.iter().enumerate().skip(i) {
                    let n_equal = tables[i].iter().zip(&tables[j]).filter(|(x, y)| x == y).count();
                    match always(&terms, a, b) {
                        Some(true) => prop_assert_eq!(n_equal, 256, "{:?} = {:?}", terms.view(a), terms.view(b)),
                        Some(false) => prop_assert_eq!(n_equal, 0, "{:?} = {:?}", terms.view(a), terms.view(b)),
                        None => {}
                    }
                }
            }
        }
    }

    fn count(terms: &mut Terms, x: TermId) -> TermId {
        let k = |terms: &mut Terms, value: u128| terms.constant(value, 32);
        let halves = |terms: &mut Terms, x: TermId, by: u128, mask: u128| {
            let (by, mask) = (k(terms, by), k(terms, mask));
            let moved = terms.lshr(x, by);
            (terms.and(x, mask), terms.and(moved, mask))
        };
        let (_, odd) = halves(terms, x, 1, 0x5555_5555);
        let x = terms.sub(x, odd);
        let (a, b) = halves(terms, x, 2, 0x3333_3333);
        let x = terms.add(a, b);
        let four = k(terms, 4);
        let moved = terms.lshr(x, four);
        let (x, mask) = (terms.add(x, moved), k(terms, 0x0f0f_0f0f));
        let x = terms.and(x, mask);
        let (ones, by) = (k(terms, 0x0101_0101), k(terms, 24));
        let x = terms.mul(x, ones);
        terms.lshr(x, by)
    }

    #[test]
    fn tricks_count_what_a_loop_counts() {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", 32), terms.symbol("y", 32));
        let tricky = count(&mut terms, x);
        let mut plain = terms.constant(0, 32);
        for at in 0..32 {
            let bit = terms.extract(x, at, at);
            let bit = terms.zext(bit, 32);
            plain = terms.add(plain, bit);
        }
        assert_eq!(always(&terms, tricky, plain), Some(true));
        let (both, either) = (terms.and(x, y), terms.or(x, y));
        let [a, b, c, d] = [x, y, both, either].map(|t| count(&mut terms, t));
        let (left, right) = (terms.add(a, b), terms.add(c, d));
        assert_eq!(always(&terms, left, right), Some(true));
        assert_eq!(always(&terms, a, b), None);
    }

    #[test]
    fn products_of_sums_are_sums_of_products() {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", 32), terms.symbol("y", 32));
        let (sum, difference) = (terms.add(x, y), terms.sub(x, y));
        let product = terms.mul(sum, difference);
        let (x2, y2) = (terms.mul(x, x), terms.mul(y, y));
        let squares = terms.sub(x2, y2);
        assert_eq!(always(&terms, product, squares), Some(true));
        let one = terms.constant(1, 32);
        let more = terms.add(squares, one);
        assert_eq!(always(&terms, product, more), Some(false));
        let (both, apart) = (terms.and(x, y), terms.xor(x, y));
        let twice = terms.shl(both, one);
        let again = terms.add(twice, apart);
        assert_eq!(always(&terms, again, sum), Some(true));
    }
}
