//! Exact answers for a question whose only symbol is small or simply bounded.
//!
//! A symbol of up to eight bits has its 256-bit set of values: each constraint is evaluated once for every value and the sets
//! are intersected. A wider symbol has a list of ranges, as long as every constraint on it is a comparison of the symbol,
//! shifted by a constant or extended, with a constant, or one of floats (`float_domain`). Either way the answer is final, for both
//! outcomes.

use crate::Answer;
use crate::float_domain;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::path::{Group, Node};
use crate::query::{Query, Tools};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Graph, Graphs, SymbolId, TermId, Terms, View, fold};

/// The values one symbol can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    Bytes([u64; 4]),
    Ranges(Ranges),
}

/// Disjoint inclusive ranges in ascending order.
pub type Ranges = Vec<(u64, u64)>;

/// What the layer found: a value that is allowed, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Value(SymbolId, u64),
    Nothing,
}

/// What layers ask: remembers what each single-symbol constraint allows.
#[derive(Default)]
pub struct Domains {
    graphs: Graphs,
    known: FxHashMap<TermId, Option<Rc<Domain>>>,
}

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(OneSymbol))
}

/// The layer. The domains are among the tools, because others ask them, too.
struct OneSymbol;

impl Answers for OneSymbol {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let &[symbol] = query.terms.symbols(query.question) else { return None };
        let relevant = query.relevant();
        if relevant.only().is_none() && !relevant.is_empty() {
            return None;
        }
        let near = query.current.get(symbol);
        Some(Said::Exactly(match tools.domains.ask(query.terms, relevant.only(), query.question, near)? {
            // No check: the set holds the very values for which the evaluator said yes.
            Found::Value(symbol, value) => {
                let mut input = query.current.clone();
                input.set(symbol, value);
                debug_assert!(tools.trial.holds(query.terms, &input, query.question));
                Answer::Sat(input)
            }
            Found::Nothing => Answer::Unsat,
        }))
    }

    fn cost(&self) -> Cost {
        Cost::Nothing
    }
}

impl Domains {
    /// Answers if the question and the group it meets have one symbol in common and nothing else.
    pub(crate) fn ask(&mut self, terms: &Terms, group: Option<&Group>, question: TermId, near: u64) -> Option<Found> {
        let &[symbol] = terms.symbols(question) else { return None };
        let asked = self.of_term(terms, question)?;
        let allowed = match group {
            None => asked,
            // Without independence the only group may be about another symbol.
            Some(group) if group.symbols[..] == [symbol] => {
                let path = self.of_list(terms, &group.newest)?;
                Rc::new(intersect(&path, &asked))
            }
            Some(_) => return None,
        };
        Some(match pick(&allowed, near) {
            Some(value) => Found::Value(symbol, value),
            None => Found::Nothing,
        })
    }

    /// All values of the symbol under the group, if it is a small one; for enumeration.
    pub(crate) fn small_values(&mut self, terms: &Terms, group: Option<&Group>, symbol: SymbolId) -> Option<Vec<u64>> {
        if terms.symbol_width(symbol) > 8 {
            return None;
        }
        let all = full(terms.symbol_width(symbol));
        let domain = match group {
            None => Rc::new(all),
            Some(group) if group.symbols.len() == 1 => self.of_list(terms, &group.newest)?,
            Some(_) => return None,
        };
        let Domain::Bytes(set) = &*domain else { return None };
        Some((0..256).filter(|&value| contains(set, value)).collect())
    }

    /// What a term is for each value of its symbol, if that is its only one and small.
    pub(crate) fn graph(&mut self, terms: &Terms, t: TermId) -> Option<Graph> {
        self.graphs.of(terms, t)
    }

    /// What a list of constraints allows, remembered in its nodes: each is looked at once however often it is shared.
    fn of_list(&mut self, terms: &Terms, newest: &Rc<Node>) -> Option<Rc<Domain>> {
        let mut open: Vec<&Node> = Vec::new();
        let mut below = None;
        let mut next = Some(&**newest);
        while let Some(node) = next {
            if let Some(domain) = node.domain.get() {
                below = Some(domain.clone());
                break;
            }
            open.push(node);
            next = node.previous.as_deref();
        }
        let mut domain = below;
        for node in open.into_iter().rev() {
            let here = node.term.and_then(|t| self.of_term(terms, t));
            let both = match (domain, here) {
                (None, here) => here,
                (Some(Some(below)), Some(here)) => Some(Rc::new(intersect(&below, &here))),
                _ => None,
            };
            let _ = node.domain.set(both.clone());
            domain = Some(both);
        }
        domain.flatten()
    }

    pub(crate) fn of_term(&mut self, terms: &Terms, t: TermId) -> Option<Rc<Domain>> {
        if let Some(domain) = self.known.get(&t) {
            return domain.clone();
        }
        let &[symbol] = terms.symbols(t) else { return None };
        let width = terms.symbol_width(symbol);
        let domain = if width <= 8 {
            let mut set = [0u64; 4];
            for (value, _) in
                self.graphs.of(terms, t)?[..1 << width].iter().enumerate().filter(|(_, holds)| **holds == 1)
            {
                set[value / 64] |= 1 << (value % 64);
            }
            Some(Domain::Bytes(set))
        } else {
            ranges_of(terms, t, width, 8).map(Domain::Ranges)
        };
        let domain = domain.map(Rc::new);
        self.known.insert(t, domain.clone());
        domain
    }
}

fn contains(set: &[u64; 4], value: u64) -> bool {
    set[value as usize / 64] >> (value % 64) & 1 == 1
}

fn full(width: u32) -> Domain {
    let mut set = [0u64; 4];
    for value in 0..1usize << width {
        set[value / 64] |= 1 << (value % 64);
    }
    Domain::Bytes(set)
}

pub(crate) fn intersect(a: &Domain, b: &Domain) -> Domain {
    match (a, b) {
        (Domain::Bytes(a), Domain::Bytes(b)) => Domain::Bytes(std::array::from_fn(|i| a[i] & b[i])),
        (Domain::Ranges(a), Domain::Ranges(b)) => Domain::Ranges(common(a, b)),
        _ => unreachable!("one symbol has one kind of domain"),
    }
}

/// How many values ranges have; at the end of what can be counted, no more.
pub(crate) fn n_in(ranges: &Ranges) -> u64 {
    ranges.iter().fold(0u64, |n, &(lo, hi)| n.saturating_add((hi - lo).saturating_add(1)))
}

/// All values of a domain in ascending order.
pub(crate) fn values_of(domain: &Domain) -> Vec<u64> {
    match domain {
        Domain::Bytes(set) => (0..256).filter(|&value| contains(set, value)).collect(),
        Domain::Ranges(ranges) => ranges.iter().flat_map(|&(lo, hi)| lo..=hi).collect(),
    }
}

/// An allowed value as close to `near` as can be.
pub(crate) fn pick(domain: &Domain, near: u64) -> Option<u64> {
    match domain {
        Domain::Bytes(set) => {
            if set.iter().all(|&word| word == 0) {
                return None;
            }
            let above = (near.min(255)..256).find(|&value| contains(set, value));
            let below = (0..near.min(255)).rev().find(|&value| contains(set, value));
            [above, below].into_iter().flatten().min_by_key(|&value| value.abs_diff(near))
        }
        Domain::Ranges(ranges) => {
            ranges.iter().map(|&(lo, hi)| near.clamp(lo, hi)).min_by_key(|&value| value.abs_diff(near))
        }
    }
}

fn common(a: &Ranges, b: &Ranges) -> Ranges {
    let mut result = Vec::with_capacity(a.len().max(b.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (lo, hi) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
        if lo <= hi {
            result.push((lo, hi));
        }
        if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
    }
    result
}

fn complement(ranges: &Ranges, width: u32) -> Ranges {
    let last = fold::mask(width) as u64;
    let mut result = Vec::with_capacity(ranges.len() + 1);
    let mut next = Some(0);
    for &(lo, hi) in ranges {
        if let Some(start) = next.filter(|&start| start < lo) {
            result.push((start, lo - 1));
        }
        next = hi.checked_add(1).filter(|&start| start <= last);
    }
    result.extend(next.map(|start| (start, last)));
    result
}

/// The values of the only symbol (of this width) under which a condition holds, when it has a form we know.
fn ranges_of(terms: &Terms, t: TermId, width: u32, depth: u32) -> Option<Ranges> {
    let depth = depth.checked_sub(1)?;
    match terms.view(t) {
        View::Not(x) => Some(complement(&ranges_of(terms, x, width, depth)?, width)),
        View::And(x, y) => Some(common(&ranges_of(terms, x, width, depth)?, &ranges_of(terms, y, width, depth)?)),
        View::Eq(x, k) => {
            let value = terms.as_const(k)?;
            // (= ((_ extract n-1 l) x) K): the top bits fix a range.
            if let View::Extract { arg, lo } = terms.view(x)
                && lo + terms.width(x) == terms.width(arg)
            {
                return preimage(terms, arg, width, value << lo, (value << lo) + fold::mask(lo));
            }
            preimage(terms, x, width, value, value)
        }
        View::Ult(x, k) => preimage(terms, x, width, 0, terms.as_const(k)? - 1),
        View::Slt(x, k) => {
            let inner = terms.width(x);
            preimage(terms, x, width, fold::sign_bit(inner), fold::sub(terms.as_const(k)?, 1, inner))
        }
        View::FloatCompare { op, a, b } => float_domain::ranges(terms, op, a, b),
        // The sign bit.
        View::Extract { arg, lo } if lo + 1 == terms.width(arg) => {
            preimage(terms, arg, width, fold::sign_bit(lo + 1), fold::mask(lo + 1))
        }
        _ => None,
    }
}

/// Where `t` lies between `lo` and `hi`, upwards and around the end, given that `t` is the symbol with constants added or
/// subtracted around at most one extension.
fn preimage(terms: &Terms, t: TermId, width: u32, lo: u128, hi: u128) -> Option<Ranges> {
    let outer = terms.width(t);
    match terms.view(t) {
        View::Symbol(_) => Some(cut(lo, hi, outer, (0, fold::mask(outer)), |value| value)),
        View::Add(x, k) => {
            let k = terms.as_const(k)?;
            preimage(terms, x, width, fold::sub(lo, k, outer), fold::sub(hi, k, outer))
        }
        View::Sub(k, x) => {
            let k = terms.as_const(k)?;
            preimage(terms, x, width, fold::sub(k, hi, outer), fold::sub(k, lo, outer))
        }
        View::ZExt(x) if matches!(terms.view(x), View::Symbol(_)) => {
            Some(cut(lo, hi, outer, (0, fold::mask(width)), |value| value))
        }
        View::SExt(x) if matches!(terms.view(x), View::Symbol(_)) => {
            let half = fold::sign_bit(width);
            let mut ranges = cut(lo, hi, outer, (0, half - 1), |value| value);
            let negative = (fold::sext(half, width, outer), fold::mask(outer));
            ranges.extend(cut(lo, hi, outer, negative, |value| value & fold::mask(width)));
            Some(ranges)
        }
        _ => None,
    }
}

/// The cyclic range from `lo` to `hi` within a window, its ends mapped.
fn cut(lo: u128, hi: u128, width: u32, window: (u128, u128), map: impl Fn(u128) -> u128) -> Ranges {
    let pieces = if lo <= hi { vec![(lo, hi)] } else { vec![(0, hi), (lo, fold::mask(width))] };
    pieces
        .into_iter()
        .map(|(lo, hi)| (lo.max(window.0), hi.min(window.1)))
        .filter(|(lo, hi)| lo <= hi)
        .map(|(lo, hi)| (map(lo) as u64, map(hi) as u64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::{Assignment, Eval};

    /// Every condition of the known forms over a symbol of ten bits, against the evaluator on all its values.
    #[test]
    fn ranges_are_exact() {
        const WIDTH: u32 = 10;
        let mut terms = Terms::new();
        let x = terms.symbol("x", WIDTH);
        let symbol = terms.symbols(x)[0];
        let mut forms = vec![x, terms.zext(x, 16), terms.sext(x, 16)];
        for form in forms.clone() {
            for k in [1u128, 3, 500, 512, 1000, 65_000] {
                let k = terms.constant(k, terms.width(form));
                forms.push(terms.add(form, k));
                forms.push(terms.sub(k, form));
            }
        }
        let mut conditions = Vec::new();
        for &form in &forms {
            for k in [0u128, 1, 2, 77, 511, 512, 513, 1022, 1023, 1024, 40_000, 65_023, 65_024, 65_535] {
                let k = terms.constant(k, terms.width(form));
                conditions.extend([terms.eq(form, k), terms.ult(form, k), terms.slt(form, k), terms.slt(k, form)]);
            }
            let high = terms.extract(form, terms.width(form) - 1, 6);
            let k = terms.constant(3, terms.width(high));
            conditions.push(terms.eq(high, k));
        }
        let pairs: Vec<TermId> = conditions.windows(2).map(|pair| terms.and(pair[0], pair[1])).collect();
        conditions.extend(pairs);
        let negated: Vec<TermId> = conditions.iter().map(|&t| terms.not(t)).collect();
        conditions.extend(negated);
        conditions.retain(|&t| !terms.is_const(t));
        let mut eval = Eval::new();
        let mut n_known = 0;
        for &t in &conditions {
            let Some(ranges) = ranges_of(&terms, t, WIDTH, 8) else { continue };
            n_known += 1;
            assert!(ranges.iter().all(|(lo, hi)| lo <= hi) && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            for value in 0..1 << WIDTH {
                let inside = ranges.iter().any(|&(lo, hi)| (lo..=hi).contains(&value));
                let mut input = Assignment::new();
                input.set(symbol, value);
                let holds = eval.holds(&terms, &input, t);
                assert_eq!(inside, holds, "{t:?} {:?} at {value}: {ranges:?}", terms.view(t));
            }
        }
        assert!(n_known > 1000 && n_known * 10 > conditions.len() * 9, "{n_known} of {} known", conditions.len());
    }

    #[test]
    fn picks_the_nearest_value() {
        let ranges = Domain::Ranges(vec![(3, 5), (100, 200)]);
        assert_eq!(pick(&ranges, 0), Some(3));
        assert_eq!(pick(&ranges, 60), Some(100));
        assert_eq!(pick(&ranges, 150), Some(150));
        assert_eq!(pick(&Domain::Ranges(vec![]), 1), None);
        assert_eq!(pick(&Domain::Bytes([0, 0, 0, 1 << 63]), 7), Some(255));
        assert_eq!(pick(&Domain::Bytes([0; 4]), 7), None);
    }
}
