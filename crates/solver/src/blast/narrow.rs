//! Symbols with fewer bits than their type has: what the path leaves of each, and where gates made for that are.
//!
//! An `int` that the path says is a digit has four bits that are open and 28 that are known. Sums, products and comparisons over
//! such symbols are made of a tenth of the gates, and what a search would have to find out about the others is there from the start.
//! It is exact: the constraints that say so are part of the question, and of every reason given for a contradiction.
//!
//! The low bits are the same variables with and without this, and a term's gates depend on what is left of its own symbols
//! only, so paths with the same limits share their gates. Only how many bits are open counts, not the limits themselves:
//! else every turn of a counting loop would have gates of its own. Bytes are left as they are: they have few bits to lose.

use super::sat::Lit;
use crate::bounds::OfSymbols;
use crate::domain::{Domain, Domains, intersect};
use crate::query::Query;
use crate::range::Range;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{SymbolId, SymbolSetId, TermId, Terms, fold};

/// What is left of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kept {
    /// The bits below `n_open` are open, those from there on are those of `value`.
    Below { n_open: u32, value: u64 },
    /// All bits from `n_open - 1` on are the same.
    Signed { n_open: u32 },
}

/// Where a bit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The symbol's own bit of this number.
    Bit(u32),
    Constant(bool),
}

/// What is left of the symbols of a term; none of them has all of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form(u32);

/// Fewer bits than this are not worth gates of their own.
const MIN_SAVED: u32 = 8;
/// Questions with more symbols have their gates as they are.
const MAX_SYMBOLS: usize = 512;

#[derive(Default)]
pub(super) struct Narrowing {
    kept: FxHashMap<SymbolId, Kept>,
    /// The constraints that say so.
    reasons: FxHashMap<SymbolId, Vec<TermId>>,
    forms: FxHashMap<SymbolSetId, Option<Form>>,
    known_forms: FxHashMap<Box<[(SymbolId, Kept)]>, Form>,
    /// Where the bits of each term are as things stand, and as they ever were.
    places: FxHashMap<TermId, u32>,
    known_places: FxHashMap<(TermId, Form), u32>,
    ranges: OfSymbols,
}

impl Narrowing {
    /// Reads off the constraints of a question what they leave of its symbols.
    pub fn prepare(&mut self, query: &Query, domains: &mut Domains) {
        let terms = query.terms;
        self.reasons.clear();
        let symbols = query.symbols();
        let mut left: FxHashMap<SymbolId, Rc<Domain>> = FxHashMap::default();
        let constraints = if symbols.len() <= MAX_SYMBOLS { query.constraints() } else { &[] };
        for &constraint in constraints {
            let &[symbol] = terms.symbols(constraint) else { continue };
            if terms.symbol_width(symbol) <= MIN_SAVED {
                continue;
            }
            let Some(domain) = domains.of_term(terms, constraint) else { continue };
            self.reasons.entry(symbol).or_default().push(constraint);
            let both = left.get(&symbol).map(|before| Rc::new(intersect(before, &domain)));
            left.insert(symbol, both.unwrap_or(domain));
        }
        let mut has_changed = false;
        for symbol in symbols {
            let width = terms.symbol_width(symbol);
            let kept = left.get(&symbol).and_then(|domain| Kept::of_domain(domain, width));
            has_changed |= self.keep(symbol, kept) != kept;
        }
        if has_changed {
            self.begin_anew();
        }
    }

    /// What was put away stays known, and is looked for again.
    pub fn begin_anew(&mut self) {
        self.forms.clear();
        self.places.clear();
        self.ranges.forget();
    }

    /// Notes what is left of a symbol; gives what was noted before.
    pub fn keep(&mut self, symbol: SymbolId, kept: Option<Kept>) -> Option<Kept> {
        match kept {
            Some(kept) => self.kept.insert(symbol, kept),
            None => self.kept.remove(&symbol),
        }
    }

    pub fn kept(&self, symbol: SymbolId) -> Option<Kept> {
        self.kept.get(&symbol).copied()
    }

    /// Adds the constraints that say what is left of the symbols in these.
    pub fn with_reasons(&self, terms: &Terms, mut core: Vec<TermId>) -> Vec<TermId> {
        if !self.kept.is_empty() {
            let reasons_of = |symbol: &SymbolId| self.reasons.get(symbol).filter(|_| self.kept.contains_key(symbol));
            let reasons: Vec<TermId> =
                core.iter().flat_map(|&t| terms.symbols(t)).filter_map(reasons_of).flatten().copied().collect();
            core.extend(reasons);
            core.sort_unstable();
            core.dedup();
        }
        core
    }

    /// Whether a term's bits depend on what is left of its symbols, and are known then.
    pub fn place(&mut self, terms: &Terms, t: TermId) -> Place {
        if self.kept.is_empty() {
            return Place::AsEver;
        }
        if self.places.contains_key(&t) {
            return Place::Here;
        }
        let Some(form) = self.form(terms, t) else { return Place::AsEver };
        match self.known_places.get(&(t, form)) {
            Some(&start) => {
                self.places.insert(t, start);
                Place::Here
            }
            None => Place::Nowhere,
        }
    }

    /// Where they are, if they are here; only for what was asked about before.
    pub fn start(&self, t: TermId) -> Option<u32> {
        if self.places.is_empty() { None } else { self.places.get(&t).copied() }
    }

    pub fn put(&mut self, terms: &Terms, t: TermId, start: u32) {
        let form = self.form(terms, t).expect("only terms over such symbols are put here");
        self.known_places.insert((t, form), start);
        self.places.insert(t, start);
    }

    fn form(&mut self, terms: &Terms, t: TermId) -> Option<Form> {
        let set = terms.symbol_set(t);
        let Narrowing { kept, forms, known_forms, .. } = self;
        *forms.entry(set).or_insert_with(|| {
            let members = terms.set_members(set).iter();
            let with_kept: Box<[(SymbolId, Kept)]> =
                members.filter_map(|symbol| Some((*symbol, *kept.get(symbol)?))).collect();
            let next = Form(known_forms.len() as u32);
            (!with_kept.is_empty()).then(|| *known_forms.entry(with_kept).or_insert(next))
        })
    }

    /// What the bits of a term above some number are, whatever the open ones are.
    pub fn settle(&mut self, terms: &Terms, t: TermId, bits: &mut [Lit], constant: impl Fn(bool) -> Lit) {
        let Narrowing { kept, ranges, .. } = self;
        let of_symbol = |symbol: SymbolId| kept.get(&symbol).map(|kept| kept.range(terms.symbol_width(symbol)));
        let Some(range) = ranges.range(terms, t, &of_symbol) else { return };
        let width = bits.len() as u32;
        let n_open = open_bits(range.lo, range.hi);
        for bit in n_open..width {
            bits[bit as usize] = constant(range.lo >> bit & 1 == 1);
        }
        let n_signed = signed_bits(range.least).max(signed_bits(range.most));
        for bit in n_signed..n_open.min(width) {
            bits[bit as usize] = bits[n_signed as usize - 1];
        }
    }
}

/// See [`Narrowing::place`].
pub(super) enum Place {
    /// They are the same for every question.
    AsEver,
    /// They do, and are known.
    Here,
    /// They do, and are not known yet.
    Nowhere,
}

/// How many of the lower bits differ between two numbers, or between two in between.
fn open_bits(lo: u128, hi: u128) -> u32 {
    u128::BITS - (lo ^ hi).leading_zeros()
}

/// How many bits a number has as one with a sign.
fn signed_bits(value: i128) -> u32 {
    i128::BITS + 1 - (value ^ value >> (i128::BITS - 1)).leading_zeros()
}

impl Kept {
    /// `None` where it is not worth it.
    fn of_domain(domain: &Domain, width: u32) -> Option<Kept> {
        let Domain::Ranges(ranges) = domain else { return None };
        let (&(lo, _), &(_, hi)) = (ranges.first()?, ranges.last()?);
        let n_open = open_bits(u128::from(lo), u128::from(hi));
        let half = fold::sign_bit(width) as u64;
        let signed = |value: u64| fold::signed(u128::from(value), width);
        let n_signed = |&(lo, hi): &(u64, u64)| match lo < half && half <= hi {
            true => width,
            false => signed_bits(signed(lo)).max(signed_bits(signed(hi))),
        };
        let n_signed = ranges.iter().map(n_signed).max()?;
        let is_worth_it = |n_open: u32| n_open + MIN_SAVED <= width;
        match n_open <= n_signed {
            true => is_worth_it(n_open).then(|| Kept::Below { n_open, value: lo >> n_open << n_open }),
            false => is_worth_it(n_signed).then_some(Kept::Signed { n_open: n_signed }),
        }
    }

    pub fn source(self, bit: u32) -> Source {
        match self {
            Kept::Below { n_open, value } if bit >= n_open => Source::Constant(value >> bit & 1 == 1),
            Kept::Signed { n_open } => Source::Bit(bit.min(n_open - 1)),
            Kept::Below { .. } => Source::Bit(bit),
        }
    }

    fn range(self, width: u32) -> Range {
        match self {
            Kept::Below { n_open, value } => {
                Range::unsigned(u128::from(value), u128::from(value) | ((1 << n_open) - 1), width)
            }
            Kept::Signed { n_open } => {
                let most = (1 << (n_open - 1)) - 1;
                Range::signed(-1 - most, most, width)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many ranges of a symbol of twelve bits: each value in them is one that the bits kept can make.
    #[test]
    fn what_is_kept_holds_every_value() {
        const WIDTH: u32 = 12;
        let last = (1u64 << WIDTH) - 1;
        let ends: Vec<u64> = (0..=last).filter(|value| value % 256 < 18 || value % 256 > 240).collect();
        let mut n_kept = [0, 0];
        for &lo in &ends {
            for &hi in ends.iter().filter(|&&hi| lo <= hi) {
                for ranges in [vec![(lo, hi)], vec![(0, lo), (hi, last)]] {
                    if ranges.windows(2).any(|pair| pair[0].1 >= pair[1].0) {
                        continue;
                    }
                    let Some(kept) = Kept::of_domain(&Domain::Ranges(ranges.clone()), WIDTH) else { continue };
                    n_kept[usize::from(matches!(kept, Kept::Signed { .. }))] += 1;
                    let range = kept.range(WIDTH);
                    for value in ranges.iter().flat_map(|&(lo, hi)| lo..=hi) {
                        let bit = |bit: u32| match kept.source(bit) {
                            Source::Bit(bit) => value >> bit & 1 == 1,
                            Source::Constant(value) => value,
                        };
                        let made: u64 = (0..WIDTH).map(|at| u64::from(bit(at)) << at).sum();
                        assert_eq!(made, value, "{ranges:?} {kept:?}");
                        assert!((range.lo..=range.hi).contains(&u128::from(value)), "{ranges:?} {range:?}");
                        let signed = fold::signed(u128::from(value), WIDTH);
                        assert!((range.least..=range.most).contains(&signed), "{ranges:?} {range:?}");
                    }
                }
            }
        }
        assert!(n_kept[0] > 5 && n_kept[1] > 5, "{n_kept:?}");
    }

    #[test]
    fn numbers_with_a_sign_have_so_many_bits() {
        let bits: Vec<u32> = [0, -1, 1, -2, 2, 7, 8, -8, -9].map(signed_bits).to_vec();
        assert_eq!(bits, [1, 1, 2, 2, 3, 4, 5, 4, 5]);
    }
}
