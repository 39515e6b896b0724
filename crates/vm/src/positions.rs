//! Order of positions: what can be told about two offsets without asking a solver.
//!
//! Offsets that are used were found to lie inside of their objects before. So they are small, a sum of them never wraps around,
//! and their difference as terms is their difference as numbers.

use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms, View};

/// Above every offset of an object.
const SMALL: u64 = 1 << 40;
/// How deep into a sum is looked.
const MAX_DEPTH: u32 = 24;

/// What is known about symbols.
#[derive(Default)]
pub struct Positions {
    /// The greatest value of symbols that have one.
    most: FxHashMap<SymbolId, u64>,
}

impl Positions {
    pub fn bound(&mut self, symbol: SymbolId, most: u64) {
        self.most.insert(symbol, most);
    }

    /// Whether `a` is less than `b`, where they may be any numbers: a constant where that can be told.
    pub fn less_number(&self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        let (x, y) = (self.range(terms, a, MAX_DEPTH), self.range(terms, b, MAX_DEPTH));
        if x.1 < y.0 {
            return terms.tru();
        }
        if x.0 >= y.1 {
            return terms.fls();
        }
        if x.1 < SMALL && y.1 < SMALL { self.less(terms, a, b) } else { terms.ult(a, b) }
    }

    /// Whether `a` lies before `b`: a constant where that can be told.
    pub fn less(&self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        match self.difference(terms, a, b) {
            Some((low, _)) if low > 0 => terms.tru(),
            Some((_, high)) if high <= 0 => terms.fls(),
            _ => terms.ult(a, b),
        }
    }

    pub fn min(&self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        let is_first = self.less(terms, a, b);
        terms.ite(is_first, a, b)
    }

    pub fn max(&self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        let is_first = self.less(terms, a, b);
        terms.ite(is_first, b, a)
    }

    /// The least and the greatest value of `b - a`.
    fn difference(&self, terms: &Terms, a: TermId, b: TermId) -> Option<(i128, i128)> {
        let mut sum = Sum::default();
        sum.add(terms, b, 1, MAX_DEPTH);
        sum.add(terms, a, -1, MAX_DEPTH);
        let (mut low, mut high) = (sum.constant, sum.constant);
        for (term, times) in sum.parts {
            let (least, most) = self.range(terms, term, MAX_DEPTH);
            if times == 0 {
                continue;
            }
            if most >= SMALL || times.abs() >= 1 << 16 {
                return None;
            }
            let (x, y) = (i128::from(least) * times, i128::from(most) * times);
            low += x.min(y);
            high += x.max(y);
        }
        Some((low, high))
    }

    /// The least and the greatest value that a term can have, as far as a look at it tells.
    pub fn range(&self, terms: &Terms, term: TermId, depth: u32) -> (u64, u64) {
        let all = (0, u64::MAX >> (64 - terms.width(term).clamp(1, 64)));
        let Some(depth) = depth.checked_sub(1) else { return all };
        match terms.view(term) {
            View::Const(value) => (value as u64, value as u64),
            View::Symbol(symbol) => (0, self.most.get(&symbol).copied().unwrap_or(all.1)),
            View::ZExt(x) => self.range(terms, x, depth),
            View::Ite(_, x, y) => {
                let (x, y) = (self.range(terms, x, depth), self.range(terms, y, depth));
                (x.0.min(y.0), x.1.max(y.1))
            }
            View::Add(..) | View::Sub(..) | View::Neg(_) if terms.width(term) == 64 => {
                self.range_of_sum(terms, term, depth)
            }
            _ => all,
        }
    }
}

impl Positions {
    /// Of a sum that cannot wrap around, or always does.
    fn range_of_sum(&self, terms: &Terms, term: TermId, depth: u32) -> (u64, u64) {
        let mut sum = Sum::default();
        sum.add(terms, term, 1, MAX_DEPTH);
        let (mut low, mut high) = (sum.constant, sum.constant);
        for (part, times) in sum.parts {
            if part == term || times.abs() >= 1 << 16 {
                return (0, u64::MAX);
            }
            let (least, most) = self.range(terms, part, depth);
            let (x, y) = (i128::from(least) * times, i128::from(most) * times);
            low += x.min(y);
            high += x.max(y);
        }
        let fits = |round: i128| Some((u64::try_from(low + round).ok()?, u64::try_from(high + round).ok()?));
        fits(0).or_else(|| fits(1 << 64)).unwrap_or((0, u64::MAX))
    }
}

/// A sum of terms, each so many times.
#[derive(Default)]
struct Sum {
    parts: FxHashMap<TermId, i128>,
    constant: i128,
}

impl Sum {
    fn add(&mut self, terms: &Terms, term: TermId, times: i128, depth: u32) {
        let depth = depth.saturating_sub(1);
        match terms.view(term) {
            View::Const(value) if terms.width(term) == 64 => self.constant += i128::from(value as u64 as i64) * times,
            View::Const(value) => self.constant += value as i128 * times,
            View::Add(a, b) if depth > 0 && terms.width(term) == 64 => {
                self.add(terms, a, times, depth);
                self.add(terms, b, times, depth);
            }
            View::Sub(a, b) if depth > 0 && terms.width(term) == 64 => {
                self.add(terms, a, times, depth);
                self.add(terms, b, -times, depth);
            }
            View::Neg(a) if depth > 0 && terms.width(term) == 64 => self.add(terms, a, -times, depth),
            _ => *self.parts.entry(term).or_insert(0) += times,
        }
    }
}
