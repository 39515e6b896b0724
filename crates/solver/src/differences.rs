//! What a path says about the difference of two terms: between which numbers it lies, and what it is not.
//!
//! A loop that goes on while `p != q` says at every turn that `q` is not one further. None of these says much; together, and
//! with a bound on how far apart the two are, they leave nothing in the end, which gates take minutes to find out.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{TermId, Terms, View, fold};

/// A term, or a term less another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Difference {
    pub of: TermId,
    pub less: Option<TermId>,
}

/// The unsigned numbers that one may be, both ends included.
#[derive(Clone, Copy, Debug)]
struct Span {
    lo: u128,
    hi: u128,
}

#[derive(Default)]
pub(crate) struct Differences {
    spans: FxHashMap<Difference, Span>,
    excluded: FxHashMap<Difference, FxHashSet<u128>>,
}

impl Differences {
    /// `a` and `b` are not equal.
    pub fn exclude(&mut self, terms: &Terms, a: TermId, b: TermId) {
        for (difference, value) in readings(terms, a, b) {
            self.excluded.entry(difference).or_default().insert(value);
        }
    }

    /// An unsigned term lies between two numbers.
    pub fn limit(&mut self, terms: &Terms, t: TermId, lo: u128, hi: u128) {
        let difference = match terms.view(t) {
            View::Sub(of, less) if !terms.is_const(of) && !terms.is_const(less) => Difference { of, less: Some(less) },
            _ => Difference { of: t, less: None },
        };
        self.meet(difference, lo, hi);
        // Read the other way round, unless zero lies between.
        if let Some(less) = difference.less
            && lo > 0
        {
            let turned = Difference { of: less, less: Some(difference.of) };
            let width = terms.width(t);
            self.meet(turned, fold::neg(hi, width), fold::neg(lo, width));
        }
    }

    fn meet(&mut self, difference: Difference, lo: u128, hi: u128) {
        let span = self.spans.entry(difference).or_insert(Span { lo, hi });
        (span.lo, span.hi) = (span.lo.max(lo), span.hi.min(hi));
    }

    /// Moves the ends inwards over what is excluded. Only terms that something is excluded of are told.
    pub fn close(&mut self, terms: &Terms) -> Vec<(TermId, u128, u128)> {
        let mut told = Vec::new();
        for (difference, excluded) in &self.excluded {
            let most = fold::mask(terms.width(difference.of));
            let span = self.spans.entry(*difference).or_insert(Span { lo: 0, hi: most });
            while span.lo < span.hi && excluded.contains(&span.lo) {
                span.lo += 1;
            }
            while span.lo < span.hi && excluded.contains(&span.hi) {
                span.hi -= 1;
            }
            if difference.less.is_none() {
                told.push((difference.of, span.lo, span.hi));
            }
        }
        told
    }

    /// Whether two terms must be equal.
    pub fn is_equal(&self, terms: &Terms, a: TermId, b: TermId) -> bool {
        let is_only = |span: &Span, value: u128| span.lo == value && span.hi == value;
        !self.spans.is_empty()
            && readings(terms, a, b)
                .into_iter()
                .any(|(difference, value)| self.spans.get(&difference).is_some_and(|span| is_only(span, value)))
    }

    /// Whether two terms cannot be equal.
    pub fn is_apart(&self, terms: &Terms, a: TermId, b: TermId) -> bool {
        !self.spans.is_empty()
            && readings(terms, a, b).into_iter().any(|(difference, value)| {
                let is_outside = |span: &Span| value < span.lo || span.hi < value;
                self.spans.get(&difference).is_some_and(is_outside)
                    || self.excluded.get(&difference).is_some_and(|excluded| excluded.contains(&value))
            })
    }
}

/// `a = b` as statements that a difference has a value.
fn readings(terms: &Terms, a: TermId, b: TermId) -> Vec<(Difference, u128)> {
    let width = terms.width(a);
    if let Some(value) = terms.as_const(b) {
        return vec![(Difference { of: a, less: None }, value)];
    }
    let split = |t: TermId| match terms.view(t) {
        View::Add(x, k) => terms.as_const(k).map_or((t, 0), |k| (x, k)),
        _ => (t, 0),
    };
    let ((x, j), (y, k)) = (split(a), split(b));
    vec![
        (Difference { of: x, less: Some(y) }, fold::sub(k, j, width)),
        (Difference { of: y, less: Some(x) }, fold::sub(j, k, width)),
    ]
}
