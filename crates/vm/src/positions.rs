//! Order of positions: what can be told about two offsets without asking a solver.
//!
//! Offsets that are used were found to lie inside of their objects before. So they are small, a sum of them never wraps around,
//! and their difference as terms is their difference as numbers. What the conditions of a path say about sums of lengths is known
//! here as well ([`Facts`]).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms, View};

use crate::facts::{Fact, Facts, Known};
use crate::sum::Sum;

/// Above every offset of an object.
pub(crate) const SMALL: u64 = 1 << 40;
/// Terms that are higher are not told anything about.
const MAX_DEPTH: u32 = 40;
/// How deep a look goes before it gives up.
pub(crate) const MAX_LEVEL: u32 = 200;
/// How many choices in a sum are looked at on both sides.
const MAX_CHOICES: u32 = 4;

/// What is known about symbols.
#[derive(Default)]
pub struct Positions {
    /// The greatest value of symbols that have one.
    most: FxHashMap<SymbolId, u64>,
    /// What holds on the path that runs.
    known: Option<Rc<Known>>,
    ranges: RefCell<Ranges>,
    /// Whether a look had to stop before it came to the end.
    is_cut: Cell<bool>,
}

/// What holds where a choice was made.
type Supposed = Vec<Fact>;

/// How a condition comes out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Holds,
    Fails,
}

impl Outcome {
    fn other(self) -> Outcome {
        if self == Outcome::Holds { Outcome::Fails } else { Outcome::Holds }
    }
}

/// What was found out about the ranges of terms, while nothing else becomes known.
#[derive(Default)]
struct Ranges {
    known_id: u64,
    /// How high the term is, and between which numbers it lies.
    found: FxHashMap<TermId, (u32, (u64, u64))>,
}

impl Positions {
    pub fn bound(&mut self, symbol: SymbolId, most: u64) {
        if self.most.insert(symbol, most) != Some(most) {
            self.ranges.borrow_mut().found.clear();
        }
    }

    /// From here on a path runs that knows this.
    pub(crate) fn enter(&mut self, facts: &Facts) {
        self.known = facts.known().cloned();
    }

    /// The running path takes in what it has heard, which is nothing for most instructions.
    #[inline]
    pub(crate) fn learn(&mut self, terms: &Terms, facts: &mut Facts) {
        if !facts.has_heard_nothing() {
            self.learn_heard(terms, facts);
        }
    }

    #[cold]
    fn learn_heard(&mut self, terms: &Terms, facts: &mut Facts) {
        for condition in facts.take_heard() {
            let mut found = Vec::new();
            self.facts_in(terms, condition, Outcome::Holds, &mut found);
            found.into_iter().for_each(|fact| facts.learn(fact));
            self.enter(facts);
        }
    }

    /// Tells apart what different paths know.
    pub(crate) fn known_id(&self) -> u64 {
        self.known.as_ref().map_or(0, |known| known.id())
    }

    /// Whether `a` is less than `b`, where they may be any numbers: a constant where that can be told.
    pub fn less_number(&self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        let (x, y) = (self.range(terms, a), self.range(terms, b));
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
        match self.difference(terms, a, b) {
            Some((low, _)) if low >= 0 => a,
            Some((_, high)) if high <= 0 => b,
            _ => {
                let is_first = terms.ult(a, b);
                terms.ite(is_first, a, b)
            }
        }
    }

    pub fn max(&self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        match self.difference(terms, a, b) {
            Some((low, _)) if low >= 0 => b,
            Some((_, high)) if high <= 0 => a,
            _ => {
                let is_first = terms.ult(a, b);
                terms.ite(is_first, b, a)
            }
        }
    }

    /// The least and the greatest value of `b - a`.
    fn difference(&self, terms: &Terms, a: TermId, b: TermId) -> Option<(i128, i128)> {
        let mut sum = Sum::default();
        sum.add(self, terms, b, 1, 0);
        sum.add(self, terms, a, -1, 0);
        self.span_of(terms, sum, &mut Vec::new(), MAX_CHOICES)
    }

    /// Between which numbers a sum lies. Where there is a choice in it, both sides are looked at.
    fn span_of(&self, terms: &Terms, sum: Sum, supposed: &mut Supposed, n_choices: u32) -> Option<(i128, i128)> {
        let own = self.span_of_parts(terms, &sum, supposed);
        if own.is_some_and(|(low, high)| low > 0 || high < 0 || low == high) || n_choices == 0 {
            return own;
        }
        let choice = sum.parts.iter().find_map(|(part, times)| match terms.view(*part) {
            View::Ite(cond, a, b) if *times != 0 => Some((*part, *times, cond, [a, b])),
            _ => None,
        });
        let Some((part, times, cond, branches)) = choice else { return own };
        let mut both: Option<(i128, i128)> = None;
        for (branch, outcome) in branches.into_iter().zip([Outcome::Holds, Outcome::Fails]) {
            let n_supposed = supposed.len();
            self.facts_in(terms, cond, outcome, supposed);
            let is_possible = supposed[n_supposed..].iter().all(|fact| {
                let sum = Sum { parts: fact.parts.iter().copied().collect(), constant: 0 };
                self.span_of_parts(terms, &sum, &supposed[..n_supposed].to_vec())
                    .is_none_or(|(low, _)| low <= fact.most)
            });
            let mut other = sum.clone();
            other.remove(part);
            other.add(self, terms, branch, times, 0);
            let span =
                if is_possible { self.span_of(terms, other, supposed, n_choices - 1).map(Some) } else { Some(None) };
            supposed.truncate(n_supposed);
            match span {
                None => return own,
                Some(None) => {}
                Some(Some((low, high))) => {
                    both = Some(both.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
                }
            }
        }
        match (own, both) {
            (Some(own), Some(both)) => Some((own.0.max(both.0), own.1.min(both.1))),
            (own, both) => both.or(own),
        }
    }

    fn span_of_parts(&self, terms: &Terms, sum: &Sum, supposed: &Supposed) -> Option<(i128, i128)> {
        let (mut low, mut high) = (sum.constant, sum.constant);
        let mut is_bounded = true;
        for (term, times) in &sum.parts {
            if *times == 0 {
                continue;
            }
            let (least, most) = self.range(terms, *term);
            if most >= SMALL || times.abs() >= 1 << 16 {
                is_bounded = false;
                continue;
            }
            let (x, y) = (i128::from(least) * times, i128::from(most) * times);
            low += x.min(y);
            high += x.max(y);
        }
        if !is_bounded {
            (low, high) = (i128::MIN, i128::MAX);
        }
        let (mut up, mut down) = (sum.parts_vec(1), sum.parts_vec(-1));
        up.sort_unstable();
        down.sort_unstable();
        for (parts, is_up) in [(up, true), (down, false)] {
            let path = self.known.as_ref().and_then(|known| known.most_of(&parts));
            let here = supposed.iter().filter(|fact| *fact.parts == *parts).map(|fact| fact.most).min();
            let Some(most) = [path, here].into_iter().flatten().min() else { continue };
            match is_up {
                true => high = high.min(sum.constant + most),
                false => low = low.max(sum.constant - most),
            }
        }
        (low != i128::MIN || high != i128::MAX).then_some((low, high))
    }

    /// What a condition that comes out so says about sums.
    fn facts_in(&self, terms: &Terms, condition: TermId, outcome: Outcome, found: &mut Vec<Fact>) {
        use Outcome::{Fails, Holds};
        match (terms.view(condition), outcome) {
            (View::Not(inner), _) => self.facts_in(terms, inner, outcome.other(), found),
            (View::And(a, b), Holds) | (View::Or(a, b), Fails) if terms.width(condition) == 1 => {
                self.facts_in(terms, a, outcome, found);
                self.facts_in(terms, b, outcome, found);
            }
            (View::Ult(a, b), Holds) => self.at_most(terms, a, b, -1, found),
            (View::Ult(a, b), Fails) => self.at_most(terms, b, a, 0, found),
            (View::Slt(a, b), _) if self.has_no_sign(terms, a) && self.has_no_sign(terms, b) => match outcome {
                Holds => self.at_most(terms, a, b, -1, found),
                Fails => self.at_most(terms, b, a, 0, found),
            },
            (View::Eq(a, b), _) if terms.width(a) <= 8 => _ = (a, b),
            (View::Eq(a, b), Holds) => {
                self.at_most(terms, a, b, 0, found);
                self.at_most(terms, b, a, 0, found);
            }
            // Nothing is less than zero.
            (View::Eq(a, b), Fails) => match (terms.as_const(a), terms.as_const(b)) {
                (Some(0), _) => self.at_most(terms, a, b, -1, found),
                (_, Some(0)) => self.at_most(terms, b, a, -1, found),
                _ => {}
            },
            _ => {}
        }
    }

    /// What is being looked at is deeper than looks go.
    pub(crate) fn note_cut(&self) {
        self.is_cut.set(true);
    }

    fn has_no_sign(&self, terms: &Terms, term: TermId) -> bool {
        let (_, most) = self.range(terms, term);
        most < 1 << (terms.width(term).clamp(1, 64) - 1)
    }

    /// `a - b <= most`, where both are what their sums say.
    fn at_most(&self, terms: &Terms, a: TermId, b: TermId, most: i128, found: &mut Vec<Fact>) {
        if terms.width(a) > 64 || !self.is_its_sum(terms, a) || !self.is_its_sum(terms, b) {
            return;
        }
        let mut sum = Sum::default();
        sum.add(self, terms, a, 1, 0);
        sum.add(self, terms, b, -1, 0);
        found.extend(Fact::new(sum, most));
    }

    /// Whether a term does not wrap around.
    pub(crate) fn is_its_sum(&self, terms: &Terms, term: TermId) -> bool {
        let mut sum = Sum::default();
        sum.add(self, terms, term, 1, 0);
        let (mut low, mut high) = (sum.constant, sum.constant);
        for (part, times) in &sum.parts {
            let (least, most) = self.range(terms, *part);
            let (x, y) = (i128::from(least) * times, i128::from(most) * times);
            low += x.min(y);
            high += x.max(y);
        }
        low >= 0 && high < 1 << terms.width(term).min(64)
    }

    /// The least and the greatest value that a term can have, as far as a look at it tells. It depends on the term and on
    /// what the path knows alone, so that a path executed again is told the same.
    pub fn range(&self, terms: &Terms, term: TermId) -> (u64, u64) {
        self.range_at(terms, term, 0)
    }

    /// As [`Positions::range`], `level` looks deep already.
    pub(crate) fn range_at(&self, terms: &Terms, term: TermId, level: u32) -> (u64, u64) {
        let (height, range) = self.ranged(terms, term, level);
        if height > MAX_DEPTH { all_of(terms, term) } else { range }
    }

    fn ranged(&self, terms: &Terms, term: TermId, level: u32) -> (u32, (u64, u64)) {
        if let View::Const(value) = terms.view(term) {
            return (0, (value as u64, value as u64));
        }
        if level > MAX_LEVEL {
            self.is_cut.set(true);
            return (MAX_DEPTH + 1, all_of(terms, term));
        }
        {
            let mut ranges = self.ranges.borrow_mut();
            if ranges.known_id != self.known_id() {
                ranges.known_id = self.known_id();
                ranges.found.clear();
            }
            if let Some(found) = ranges.found.get(&term) {
                return *found;
            }
        }
        let was_cut = self.is_cut.replace(false);
        let found = self.look_at(terms, term, level + 1);
        if !self.is_cut.get() {
            self.ranges.borrow_mut().found.insert(term, found);
        }
        self.is_cut.set(self.is_cut.get() || was_cut);
        found
    }

    fn look_at(&self, terms: &Terms, term: TermId, level: u32) -> (u32, (u64, u64)) {
        let (width, all) = (terms.width(term), all_of(terms, term));
        let (height, (low, high)) = match terms.view(term) {
            View::Symbol(symbol) => (0, (0, self.most.get(&symbol).copied().unwrap_or(all.1))),
            View::ZExt(x) => self.ranged(terms, x, level),
            View::SExt(x) | View::Extract { arg: x, lo: 0 } if terms.width(x) <= 64 => {
                let (height, (least, most)) = self.ranged(terms, x, level);
                // As a number with a sign, and of that width, it has to be what it was.
                let limit = terms.width(x).min(width + 1) - 1;
                (height, if most >> limit == 0 { (least, most) } else { all })
            }
            View::Ite(_, x, y) => {
                let (x, y) = (self.ranged(terms, x, level), self.ranged(terms, y, level));
                (x.0.max(y.0), (x.1.0.min(y.1.0), x.1.1.max(y.1.1)))
            }
            View::Add(..) | View::Sub(..) | View::Neg(_) if width <= 64 => self.range_of_sum(terms, term, level),
            _ => (0, all),
        };
        let (least, most) = self.known.as_ref().map_or((0, u64::MAX), |known| known.range_of(term));
        let low = low.max(least);
        (height + 1, (low, high.min(most).max(low)))
    }

    /// Of a sum that cannot wrap around, or always does.
    fn range_of_sum(&self, terms: &Terms, term: TermId, level: u32) -> (u32, (u64, u64)) {
        let all = all_of(terms, term);
        let mut sum = Sum::default();
        sum.add(self, terms, term, 1, level);
        let (mut low, mut high, mut height) = (sum.constant, sum.constant, 0);
        for (part, times) in &sum.parts {
            if *part == term || times.abs() >= 1 << 16 {
                return (0, all);
            }
            let (part_height, (least, most)) = self.ranged(terms, *part, level);
            height = height.max(part_height);
            let (x, y) = (i128::from(least) * times, i128::from(most) * times);
            low += x.min(y);
            high += x.max(y);
        }
        let top = i128::from(all.1);
        let fits = |round: i128| {
            let (low, high) = (low + round, high + round);
            (low >= 0 && high <= top).then_some((low as u64, high as u64))
        };
        (height, fits(0).or_else(|| fits(top + 1)).unwrap_or(all))
    }
}

/// Every value of a term's width.
fn all_of(terms: &Terms, term: TermId) -> (u64, u64) {
    (0, u64::MAX >> (64 - terms.width(term).clamp(1, 64)))
}
