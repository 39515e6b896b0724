//! Bounds: what a term can be at most and at least, from its operators and from what the path says of its parts.
//!
//! An index made of remainders, masks and loop counters lies inside its table whatever the inputs are; gates of dividers and
//! multipliers take seconds to find that out. Every term has an unsigned and a signed interval, each narrowed by the other.
//! A question whose interval is zero cannot hold; this layer never says more than that.

use crate::differences::Differences;
use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use crate::range::{Bound, Range, Sign, smear};
use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms, View, fold};

/// Terms looked at for one question: beyond that, gates may as well have it.
const MAX_TERMS: usize = 4096;
/// Elements of a table that are looked at.
const MAX_ELEMENTS: usize = 1024;

struct Refuter;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Refuter))
}

impl Answers for Refuter {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        refutes(query.terms, query.constraints(), query.question).then_some(Said::Unsat(None))
    }
}

/// Whether no input that satisfies the constraints can satisfy the question.
pub fn refutes(terms: &Terms, constraints: &[TermId], question: TermId) -> bool {
    Bounds::new(terms, constraints).range(question).is_some_and(|range| range.hi == 0)
}

/// The only value that a term has under all inputs that satisfy the constraints, where its bounds show that.
pub fn exact(terms: &Terms, constraints: &[TermId], t: TermId) -> Option<u128> {
    Bounds::new(terms, constraints).range(t)?.value()
}

/// Bounds that follow from those of the symbols alone, remembered as long as these stay.
#[derive(Default)]
pub(crate) struct OfSymbols {
    ranges: FxHashMap<TermId, Range>,
}

impl OfSymbols {
    /// So many are remembered before all are forgotten.
    const MAX_REMEMBERED: usize = 1 << 16;

    pub fn forget(&mut self) {
        self.ranges.clear();
    }

    /// What a term can be; `None` where there is too much to look at. Symbols of which nothing is known can be anything.
    pub fn range<'t>(
        &mut self,
        terms: &'t Terms,
        t: TermId,
        of_symbol: &'t dyn Fn(SymbolId) -> Option<Range>,
    ) -> Option<Range> {
        if self.ranges.len() > Self::MAX_REMEMBERED {
            self.ranges.clear();
        }
        if let Some(range) = self.ranges.get(&t) {
            return Some(*range);
        }
        let mut bounds = Bounds::new(terms, &[]);
        bounds.max_terms += self.ranges.len();
        bounds.of_symbol = Some(of_symbol);
        bounds.ranges = std::mem::take(&mut self.ranges);
        let range = bounds.range(t);
        self.ranges = bounds.ranges;
        range
    }
}

struct Bounds<'t> {
    terms: &'t Terms,
    known: FxHashMap<TermId, Range>,
    ranges: FxHashMap<TermId, Range>,
    max_terms: usize,
    of_symbol: Option<&'t dyn Fn(SymbolId) -> Option<Range>>,
    differences: Differences,
    stack: Vec<TermId>,
}

impl<'t> Bounds<'t> {
    fn new(terms: &'t Terms, constraints: &[TermId]) -> Bounds<'t> {
        let mut bounds = Bounds {
            terms,
            known: FxHashMap::default(),
            ranges: FxHashMap::default(),
            max_terms: MAX_TERMS,
            of_symbol: None,
            differences: Differences::default(),
            stack: Vec::new(),
        };
        constraints.iter().for_each(|constraint| bounds.learn(*constraint));
        bounds.learn_differences();
        bounds
    }

    /// What all bounds and all that is not equal say together.
    fn learn_differences(&mut self) {
        for (t, range) in &self.known {
            self.differences.limit(self.terms, *t, range.lo, range.hi);
        }
        for (t, lo, hi) in self.differences.close(self.terms) {
            self.narrow(t, Some(Range::unsigned(lo, hi, self.terms.width(t))));
        }
    }

    /// Enters what a condition that holds says about itself and about the terms it compares with constants.
    fn learn(&mut self, condition: TermId) {
        let terms = self.terms;
        let mut conditions = vec![(condition, true)];
        while let Some((condition, holds)) = conditions.pop() {
            self.narrow(condition, Some(Range::exact(u128::from(holds), 1)));
            match (terms.view(condition), holds) {
                (View::Not(inner), _) => conditions.push((inner, !holds)),
                (View::And(a, b), true) | (View::Or(a, b), false) => conditions.extend([(a, holds), (b, holds)]),
                (View::Eq(a, b), true) => {
                    let value = terms.as_const(b);
                    self.narrow(a, value.map(|value| Range::exact(value, terms.width(a))));
                }
                (View::Eq(a, b), false) => self.differences.exclude(terms, a, b),
                (View::Ult(a, b), _) => self.learn_order(a, b, Sign::Unsigned, holds),
                (View::Slt(a, b), _) => self.learn_order(a, b, Sign::Signed, holds),
                _ => {}
            }
        }
    }

    /// `a < b` holds, or `b <= a` does.
    fn learn_order(&mut self, a: TermId, b: TermId, sign: Sign, holds: bool) {
        let width = self.terms.width(a);
        match (self.terms.as_const(a), self.terms.as_const(b), holds) {
            (None, Some(k), true) => self.narrow(a, Range::up_to(k, Bound::Excluded, sign, width)),
            (None, Some(k), false) => self.narrow(a, Range::from(k, Bound::Included, sign, width)),
            (Some(k), None, true) => self.narrow(b, Range::from(k, Bound::Excluded, sign, width)),
            (Some(k), None, false) => self.narrow(b, Range::up_to(k, Bound::Included, sign, width)),
            _ => {}
        }
    }

    /// Constraints of a path that can be walked never leave nothing; if they seem to, nothing is learnt.
    fn narrow(&mut self, t: TermId, range: Option<Range>) {
        let Some(range) = range else { return };
        let width = self.terms.width(t);
        let known = self.known.entry(t).or_insert_with(|| Range::full(width));
        *known = known.meet(range, width).unwrap_or(*known);
    }

    /// `None` where there is too much to look at.
    fn range(&mut self, t: TermId) -> Option<Range> {
        self.stack.push(t);
        while let Some(&top) = self.stack.last() {
            if self.ranges.len() > self.max_terms {
                return None;
            }
            let Some(range) = self.step(top) else { continue };
            let width = self.terms.width(top);
            let range = match self.known.get(&top) {
                Some(known) => range.meet(*known, width).unwrap_or(range),
                None => range,
            };
            self.ranges.insert(top, range);
            self.stack.pop();
        }
        self.ranges.get(&t).copied()
    }

    /// The range of an operand, or a request to find it first.
    fn want(&mut self, t: TermId) -> Option<Range> {
        let range = self.ranges.get(&t).copied();
        if range.is_none() {
            self.stack.push(t);
        }
        range
    }

    fn want2(&mut self, a: TermId, b: TermId) -> Option<(Range, Range)> {
        match (self.want(a), self.want(b)) {
            (Some(a), Some(b)) => Some((a, b)),
            _ => None,
        }
    }

    /// What a table of constants has at most.
    fn bytes_of(&self, array: TermId) -> Option<Range> {
        let View::Table(table) = self.terms.view(array) else { return None };
        let elements = self.terms.table_elements(table);
        if elements.len() > MAX_ELEMENTS {
            return None;
        }
        // Beyond its end are zeros.
        let most = elements.iter().try_fold(0, |most, &element| Some(self.terms.as_const(element)?.max(most)))?;
        Some(Range::unsigned(0, most, 8))
    }

    fn step(&mut self, t: TermId) -> Option<Range> {
        use View::*;
        let terms = self.terms;
        let width = terms.width(t);
        let constant = |t: TermId| terms.as_const(t);
        let range = match terms.view(t) {
            Const(value) => Range::exact(value, width),
            Symbol(symbol) => self.of_symbol.and_then(|of| of(symbol)).unwrap_or(Range::full(width)),
            FloatUnary { .. } | FloatBinary { .. } | FloatCompare { .. } | Fma { .. } => Range::full(width),
            Select { array, .. } => self.bytes_of(array).unwrap_or(Range::full(width)),
            Table(_) | Store { .. } => unreachable!("arrays are looked at through select"),
            Not(a) => {
                let a = self.want(a)?;
                Range { lo: fold::not(a.hi, width), hi: fold::not(a.lo, width), least: -1 - a.most, most: -1 - a.least }
            }
            Neg(a) => Range::exact(0, width).minus(self.want(a)?, width),
            Add(a, b) => self.want2(a, b).map(|(a, b)| a.plus(b, width))?,
            Sub(a, b) => self.want2(a, b).map(|(a, b)| a.minus(b, width))?,
            Mul(a, b) => self.want2(a, b).map(|(a, b)| a.times(b, width))?,
            UDiv(a, b) => self.want2(a, b).map(|(a, b)| match b.lo {
                0 => Range::full(width),
                _ => Range::unsigned(a.lo / b.hi, a.hi / b.lo, width),
            })?,
            URem(a, b) => self.want2(a, b).map(|(a, b)| match b.lo {
                // Dividing by zero leaves the dividend.
                0 => Range::unsigned(0, a.hi, width),
                _ if a.hi < b.lo => a,
                _ => Range::unsigned(0, a.hi.min(b.hi - 1), width),
            })?,
            SDiv(a, b) => {
                let divisor = constant(b).map(|value| fold::signed(value, width));
                self.want(a)?.divided(divisor, width)
            }
            SRem(a, b) => {
                let divisor = constant(b).map(|value| fold::signed(value, width));
                self.want(a)?.remainder(divisor, width)
            }
            And(a, b) => self.want2(a, b).map(|(a, b)| match width {
                1 => Range::unsigned(a.lo & b.lo, a.hi & b.hi, 1),
                _ => Range::unsigned(0, a.hi.min(b.hi), width),
            })?,
            Or(a, b) => self.want2(a, b).map(|(a, b)| Range::unsigned(a.lo.max(b.lo), smear(a.hi | b.hi), width))?,
            Xor(a, b) => self.want2(a, b).map(|(a, b)| match (a.value(), b.value()) {
                (Some(a), Some(b)) => Range::exact(a ^ b, width),
                _ => Range::unsigned(0, smear(a.hi | b.hi), width),
            })?,
            Shl(a, b) => {
                let (a, by) = (self.want(a)?, constant(b));
                match by {
                    Some(by) if by < u128::from(width) && a.hi <= fold::mask(width) >> by => {
                        Range::unsigned(a.lo << by, a.hi << by, width)
                    }
                    Some(by) if by >= u128::from(width) => Range::exact(0, width),
                    _ => Range::full(width),
                }
            }
            LShr(a, b) => {
                let (a, by) = (self.want(a)?, constant(b));
                match by {
                    Some(by) if by < u128::from(width) => Range::unsigned(a.lo >> by, a.hi >> by, width),
                    Some(_) => Range::exact(0, width),
                    None => Range::unsigned(0, a.hi, width),
                }
            }
            AShr(a, b) => {
                let (a, by) = (self.want(a)?, constant(b));
                match by {
                    Some(by) => {
                        let by = by.min(u128::from(width - 1)) as u32;
                        Range::signed(a.least >> by, a.most >> by, width)
                    }
                    None => Range::signed(a.least.min(0), a.most.max(-1), width),
                }
            }
            Concat(a, b) => {
                let low = terms.width(b);
                self.want2(a, b).map(|(a, b)| Range::unsigned(a.lo << low | b.lo, a.hi << low | b.hi, width))?
            }
            Extract { arg, lo } => {
                let a = self.want(arg)?;
                match a.hi >> lo <= fold::mask(width) {
                    true => Range::unsigned(a.lo >> lo, a.hi >> lo, width),
                    false => Range::full(width),
                }
            }
            ZExt(a) => self.want(a).map(|a| Range::unsigned(a.lo, a.hi, width))?,
            SExt(a) => self.want(a).map(|a| Range::signed(a.least, a.most, width))?,
            Ite(c, a, b) if is_magnitude(terms, c, a, b) => self.want(b)?.magnitude(width),
            Ite(c, a, b) => {
                let (c, (a, b)) = (self.want(c)?, self.want2(a, b)?);
                match c.value() {
                    Some(1) => a,
                    Some(_) => b,
                    None => a.join(b),
                }
            }
            Eq(a, b) if self.differences.is_apart(terms, a, b) => Range::truth(false, false),
            Eq(a, b) if self.differences.is_equal(terms, a, b) => Range::truth(true, true),
            Eq(a, b) => self.want2(a, b).map(|(a, b)| {
                let is_apart = a.hi < b.lo || b.hi < a.lo || a.most < b.least || b.most < a.least;
                Range::truth(!is_apart, a.value().is_some() && a.value() == b.value())
            })?,
            Ult(a, b) => self.want2(a, b).map(|(a, b)| Range::truth(a.lo < b.hi, a.hi < b.lo))?,
            Slt(a, b) => self.want2(a, b).map(|(a, b)| Range::truth(a.least < b.most, a.most < b.least))?,
        };
        Some(range)
    }
}

/// Whether a choice is between a number below zero, turned round, and the number itself.
pub(crate) fn is_magnitude(terms: &Terms, condition: TermId, then: TermId, other: TermId) -> bool {
    let is_sign = match terms.view(condition) {
        View::Extract { arg, lo } => arg == other && lo + 1 == terms.width(arg),
        View::Slt(arg, limit) => arg == other && terms.as_const(limit) == Some(0),
        _ => false,
    };
    is_sign && terms.view(then) == View::Neg(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::{Assignment, Eval};

    /// Terms over two bytes and a half-word, each made from earlier ones: operator, operands, a constant.
    fn build(terms: &mut Terms, steps: &[(u8, u8, u8, u16)]) -> Vec<TermId> {
        let (x, y, h) = (terms.symbol("x", 8), terms.symbol("y", 8), terms.symbol("h", 16));
        let mut made = vec![terms.zext(x, 16), terms.sext(y, 16), h];
        for &(op, a, b, k) in steps {
            let at = |idx: u8| made[usize::from(idx) % made.len()];
            let (a, b) = (at(a), at(b));
            let small = terms.constant(u128::from(k % 40), 16);
            let k = terms.constant(u128::from(k), 16);
            let t = match op % 21 {
                0 => terms.add(a, b),
                1 => terms.sub(a, b),
                2 => terms.mul(a, b),
                3 => terms.urem(a, small),
                4 => terms.srem(a, k),
                5 => terms.udiv(a, small),
                6 => terms.sdiv(a, k),
                7 => terms.and(a, k),
                8 => terms.or(a, b),
                9 => terms.xor(a, k),
                10 => terms.shl(a, small),
                11 => terms.lshr(a, small),
                12 => terms.ashr(a, small),
                13 => terms.not(a),
                14 => terms.neg(a),
                15 => terms.urem(a, b),
                16 => {
                    let (high, low) = (terms.extract(a, 11, 4), terms.extract(b, 7, 0));
                    terms.concat(high, low)
                }
                17 => {
                    let less = terms.slt(a, b);
                    terms.ite(less, a, b)
                }
                18 => {
                    let less = terms.ult(a, k);
                    terms.ite(less, b, a)
                }
                19 => {
                    let table = terms.table_of_bytes(&[7, 3, 90, 12, 55, 2, 18, 31]);
                    let index = terms.zext(a, 64);
                    let byte = terms.select(table, index);
                    terms.zext(byte, 16)
                }
                _ => terms.srem(a, b),
            };
            made.push(t);
        }
        made
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        /// Whatever a term is worth under an input that satisfies the constraints lies in its range.
        #[test]
        fn values_lie_in_their_ranges(
            steps in prop::collection::vec(any::<(u8, u8, u8, u16)>(), 1..12),
            limits in prop::collection::vec((any::<u8>(), prop_oneof![0u16..6, any::<u16>()], 0u8..10), 0..6),
            inputs in prop::collection::vec(any::<(u8, u8, u16)>(), 60),
        ) {
            let mut terms = Terms::new();
            let made = build(&mut terms, &steps);
            let constraints: Vec<TermId> = limits
                .iter()
                .map(|&(at, k, form)| {
                    let (t, k) = (made[usize::from(at) % made.len()], terms.constant(u128::from(k), 16));
                    let other = made[usize::from(at / 7) % made.len()];
                    let condition = match form / 2 {
                        0 => terms.ult(t, k),
                        1 => terms.slt(k, t),
                        2 => terms.eq(t, k),
                        3 => {
                            let further = terms.add(other, k);
                            terms.eq(t, further)
                        }
                        _ => {
                            let apart = terms.sub(t, other);
                            terms.ult(apart, k)
                        }
                    };
                    if form % 2 == 0 { condition } else { terms.not(condition) }
                })
                .collect();
            let mut eval = Eval::new();
            for (x, y, h) in inputs {
                let mut input = Assignment::new();
                for (symbol, value) in [(0, u64::from(x)), (1, u64::from(y)), (2, u64::from(h))] {
                    input.set(term::SymbolId(symbol), value);
                }
                if !constraints.iter().all(|constraint| eval.holds(&terms, &input, *constraint)) {
                    continue;
                }
                let pairs: Vec<(TermId, TermId)> = made.iter().copied().zip(made.iter().copied().skip(1)).collect();
                for (a, b) in pairs {
                    let equal = terms.eq(a, b);
                    let range = Bounds::new(&terms, &constraints).range(equal).expect("few terms");
                    let value = eval.eval(&terms, &input, equal);
                    prop_assert!(range.lo <= value && value <= range.hi, "{value} of {a:?} = {b:?} in {range:?}");
                }
                let mut bounds = Bounds::new(&terms, &constraints);
                for t in &made {
                    let range = bounds.range(*t).expect("few terms");
                    let value = eval.eval(&terms, &input, *t);
                    let signed = fold::signed(value, 16);
                    prop_assert!(range.lo <= value && value <= range.hi, "{value} of {t:?} in {range:?}");
                    prop_assert!(range.least <= signed && signed <= range.most, "{signed} of {t:?} in {range:?}");
                }
            }
        }
    }

    /// `while (a != b) a++;` with `b` at most three further.
    #[test]
    fn what_is_not_equal_adds_up() {
        let mut terms = Terms::new();
        let (a, b, four) = (terms.symbol("a", 32), terms.symbol("b", 32), terms.constant(4, 32));
        let apart = terms.sub(b, a);
        let mut path = vec![terms.ult(apart, four)];
        for k in 0..4 {
            let k = terms.constant(k, 32);
            let next = terms.add(a, k);
            let ends = terms.eq(b, next);
            let goes_on = terms.not(ends);
            assert!(!refutes(&terms, &path, ends));
            assert_eq!(refutes(&terms, &path, goes_on), terms.as_const(k) == Some(3));
            path.push(goes_on);
        }
    }

    #[test]
    fn an_index_of_remainders_stays_inside() {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", 32), terms.symbol("y", 32));
        let (ten, limit) = (terms.constant(10, 32), terms.constant(18, 32));
        let (a, b) = (terms.urem(x, ten), terms.urem(y, ten));
        let index = terms.add(a, b);
        let outside = terms.ult(limit, index);
        assert!(refutes(&terms, &[], outside));
        let (c, d) = (terms.srem(x, ten), terms.srem(y, ten));
        let sum = terms.add(c, d);
        let outside = terms.slt(limit, sum);
        assert!(refutes(&terms, &[], outside));
        let inside = terms.ult(index, limit);
        assert!(!refutes(&terms, &[], inside));
    }

    /// A length that is one for every character but the last.
    #[test]
    fn what_is_known_to_hold_is_one() {
        let mut terms = Terms::new();
        let c = terms.symbol("c", 8);
        let (zero, four) = (terms.constant(0, 8), terms.constant(4, 64));
        let is_last = terms.eq(c, zero);
        let is_inside = terms.not(is_last);
        let length = terms.zext(is_inside, 64);
        let at = terms.add(length, four);
        assert_eq!(exact(&terms, &[], at), None);
        assert_eq!(exact(&terms, &[is_inside], at), Some(5));
        assert_eq!(exact(&terms, &[is_last], at), Some(4));
    }

    #[test]
    fn rows_and_columns_within_their_limits_stay_inside() {
        let mut terms = Terms::new();
        let (row, column) = (terms.symbol("row", 32), terms.symbol("column", 32));
        let (ten, hundred) = (terms.constant(10, 32), terms.constant(100, 32));
        let limits = [terms.ult(row, ten), terms.ult(column, ten)];
        let start = terms.mul(row, ten);
        let at = terms.add(start, column);
        let inside = terms.ult(at, hundred);
        let outside = terms.not(inside);
        assert!(refutes(&terms, &limits, outside));
        assert!(!refutes(&terms, &limits[..1], outside));
    }
}
