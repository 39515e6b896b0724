//! Finding, for the symbols of an earlier state, terms of a new one that make the earlier state's values the new one's.
//!
//! The search is a heuristic: it walks both terms in step and binds symbols where it meets them. Whether what it found is
//! right is proved afterwards, so a bad guess costs a hit and nothing else.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{Replacement, SymbolId, TermId, Terms, View};

/// How deep terms are walked.
const MAX_DEPTH: u32 = 1_000;
/// How many pairs of terms are walked.
const MAX_PAIRS: usize = 20_000;

#[derive(Default)]
pub struct Renaming {
    replacement: Replacement,
    /// Parts of symbols: lowest bit, width, term.
    pieces: FxHashMap<SymbolId, Vec<(u32, u32, TermId)>>,
    walked: FxHashSet<(TermId, TermId)>,
}

impl Renaming {
    pub fn of_pairs(terms: &mut Terms, pairs: &[(TermId, TermId)]) -> Renaming {
        let mut renaming = Renaming::default();
        for (old, new) in pairs {
            renaming.walk(terms, *old, *new, MAX_DEPTH);
        }
        renaming.join_pieces(terms);
        renaming
    }

    pub fn of_binding(symbol: SymbolId, value: TermId) -> Renaming {
        let mut renaming = Renaming::default();
        renaming.replacement.bind(symbol, value);
        renaming
    }

    /// What stands for a symbol; a symbol nothing was found for stands for itself.
    pub fn of_symbol(&self, terms: &Terms, symbol: SymbolId) -> TermId {
        self.replacement.of_symbol(terms, symbol)
    }

    fn walk(&mut self, terms: &Terms, old: TermId, new: TermId, depth: u32) {
        if depth == 0 || self.walked.len() > MAX_PAIRS || !self.walked.insert((old, new)) {
            return;
        }
        match terms.view(old) {
            View::Const(_) => {}
            View::Symbol(symbol) => self.bind(terms, symbol, new),
            View::Extract { arg, lo } if matches!(terms.view(arg), View::Symbol(_)) => {
                let View::Symbol(symbol) = terms.view(arg) else { return };
                match terms.view(new) {
                    View::Extract { arg: other, lo: other_lo } if lo == other_lo => self.bind(terms, symbol, other),
                    _ => self.pieces.entry(symbol).or_default().push((lo, terms.width(old), new)),
                }
            }
            View::Table(table) => {
                let View::Table(other) = terms.view(new) else { return };
                let (elements, others) = (terms.table_elements(table), terms.table_elements(other));
                for (old, new) in elements.iter().zip(others) {
                    self.walk(terms, *old, *new, depth - 1);
                }
            }
            view => {
                let other = terms.view(new);
                if std::mem::discriminant(&view) == std::mem::discriminant(&other) {
                    for (old, new) in view.operands().zip(other.operands()) {
                        self.walk(terms, old, new, depth - 1);
                    }
                }
            }
        }
    }

    fn bind(&mut self, terms: &Terms, symbol: SymbolId, new: TermId) {
        if terms.sort(new) == term::Sort::BitVec(terms.symbol_width(symbol)) {
            self.replacement.bind(symbol, new);
        }
    }

    /// A symbol whose parts were found one by one is their concatenation.
    fn join_pieces(&mut self, terms: &mut Terms) {
        for (symbol, mut pieces) in std::mem::take(&mut self.pieces) {
            pieces.sort_unstable();
            pieces.dedup_by_key(|piece| piece.0);
            let mut next = 0;
            let mut joined: Option<TermId> = None;
            for (lo, width, new) in pieces {
                if lo != next {
                    break;
                }
                joined = Some(joined.map_or(new, |low| terms.concat(new, low)));
                next = lo + width;
            }
            if let Some(joined) = joined.filter(|_| next == terms.symbol_width(symbol)) {
                self.bind(terms, symbol, joined);
            }
        }
    }

    /// The term with every symbol replaced by what stands for it. `None` when it is too deep.
    pub fn apply(&mut self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        self.replacement.apply(terms, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_found_through_bytes_and_operators() {
        let mut terms = Terms::new();
        let (x, y, z) = (terms.symbol("x", 32), terms.symbol("y", 32), terms.symbol("z", 16));
        let one = terms.constant(1, 32);
        let (old, new) = (terms.add(x, one), terms.add(y, one));
        let mut renaming = Renaming::of_pairs(&mut terms, &[(old, new)]);
        assert_eq!(renaming.apply(&mut terms, old), Some(new));

        let (low, high) = (terms.byte(z, 0), terms.byte(z, 1));
        let (c, d) = (terms.byte_constant(0x34), terms.byte_constant(0x12));
        let mut renaming = Renaming::of_pairs(&mut terms, &[(low, c), (high, d)]);
        let z = renaming.apply(&mut terms, z).expect("shallow");
        assert_eq!(terms.as_const(z), Some(0x1234));
    }

    #[test]
    fn what_does_not_fit_stays_itself() {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", 32), terms.symbol("y", 32));
        let (old, new) = (terms.mul(x, x), terms.add(y, y));
        let mut renaming = Renaming::of_pairs(&mut terms, &[(old, new)]);
        assert_ne!(renaming.apply(&mut terms, old), Some(new));
    }
}
