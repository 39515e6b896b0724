//! What constraints say about some of their symbols, whatever the others are.
//!
//! The constraints connected with what is read speak about symbols that are not read any more, too: a character that was
//! compared with another and is never looked at again. A new state need not satisfy them for the same values of those,
//! only for some. Here such symbols are taken out, where that can be done exactly: one that equals something is replaced
//! by it, and one that only has to differ from fewer values than it can have says nothing.

use rustc_hash::FxHashSet;
use term::{Assignment, Eval, SymbolId, TermId, Terms, View};

use super::renaming::Renaming;

/// More constraints are left as they are.
const MAX_CONSTRAINTS: usize = 256;

/// Constraints that hold for some values of the other symbols exactly when the given ones do. `constraints` must be
/// satisfiable.
pub fn project(
    terms: &mut Terms,
    eval: &mut Eval,
    constraints: Vec<TermId>,
    live: &FxHashSet<SymbolId>,
) -> Vec<TermId> {
    let mut left = constraints;
    if left.len() > MAX_CONSTRAINTS {
        return left;
    }
    loop {
        let mut dead: Vec<SymbolId> = left.iter().flat_map(|t| terms.symbols(*t)).copied().collect();
        dead.sort_unstable();
        dead.dedup();
        dead.retain(|symbol| !live.contains(symbol));
        let n_before = left.len();
        for symbol in dead {
            left = without(terms, eval, left, symbol);
        }
        if left.len() == n_before {
            return connected(terms, left, live);
        }
    }
}

/// The constraints without a symbol, or as they are where it cannot be taken out.
fn without(terms: &mut Terms, eval: &mut Eval, constraints: Vec<TermId>, symbol: SymbolId) -> Vec<TermId> {
    let (with, mut rest): (Vec<TermId>, Vec<TermId>) =
        constraints.iter().partition(|t| terms.symbols(**t).contains(&symbol));
    if with.is_empty() {
        return constraints;
    }
    let definition = with.iter().find_map(|t| Some((*t, equals(terms, *t, symbol)?)));
    if let Some((definition, value)) = definition {
        let mut renaming = Renaming::of_binding(symbol, value);
        for t in with.into_iter().filter(|t| *t != definition) {
            let Some(t) = renaming.apply(terms, t) else { return constraints };
            if !terms.is_true(t) && !rest.contains(&t) {
                rest.push(t);
            }
        }
        return rest;
    }
    let (alone, others): (Vec<TermId>, Vec<TermId>) = with.iter().partition(|t| terms.symbols(**t).len() == 1);
    let only_differs = others.iter().all(|t| differs(terms, *t, symbol));
    if only_differs && n_values(terms, eval, &alone, symbol, others.len() as u64 + 1) > others.len() as u64 {
        return rest;
    }
    constraints
}

/// What the constraint says the symbol is.
fn equals(terms: &Terms, t: TermId, symbol: SymbolId) -> Option<TermId> {
    let View::Eq(a, b) = terms.view(t) else { return None };
    let is_symbol = |t: TermId| matches!(terms.view(t), View::Symbol(found) if found == symbol);
    let (of, value) = if is_symbol(a) { (a, b) } else { (b, a) };
    (is_symbol(of) && !terms.symbols(value).contains(&symbol)).then_some(value)
}

/// Whether the constraint says no more about the symbol than that it is not some value.
fn differs(terms: &Terms, t: TermId, symbol: SymbolId) -> bool {
    matches!(terms.view(t), View::Not(t) if equals(terms, t, symbol).is_some())
}

/// How many values a symbol can have under constraints on it alone, as far as that matters.
fn n_values(terms: &Terms, eval: &mut Eval, alone: &[TermId], symbol: SymbolId, enough: u64) -> u64 {
    let width = terms.symbol_width(symbol);
    if width > 8 {
        let n_all = if width < 64 { 1 << width } else { u64::MAX };
        return if alone.is_empty() { n_all } else { 0 };
    }
    let mut n_found = 0;
    for value in 0..1u64 << width {
        let mut input = Assignment::new();
        input.set(symbol, value);
        n_found += u64::from(alone.iter().all(|t| eval.holds(terms, &input, *t)));
        if n_found >= enough {
            break;
        }
    }
    n_found
}

/// Those that share symbols with the live ones, directly or through others: the rest can be satisfied on its own.
fn connected(terms: &Terms, constraints: Vec<TermId>, live: &FxHashSet<SymbolId>) -> Vec<TermId> {
    let mut reached = live.clone();
    let (mut found, mut open) = (Vec::new(), constraints);
    loop {
        let (now, later): (Vec<TermId>, Vec<TermId>) =
            open.into_iter().partition(|t| terms.symbols(*t).iter().any(|symbol| reached.contains(symbol)));
        if now.is_empty() {
            return found;
        }
        reached.extend(now.iter().flat_map(|t| terms.symbols(*t)));
        found.extend(now);
        open = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On all values of two-bit symbols: the projection holds exactly where some value of the rest makes all hold.
    fn check(terms: &mut Terms, constraints: Vec<TermId>, live: TermId, dead: &[TermId]) -> usize {
        let symbol = |terms: &Terms, t: TermId| match terms.view(t) {
            View::Symbol(symbol) => symbol,
            _ => unreachable!("a symbol"),
        };
        let live = symbol(terms, live);
        let dead: Vec<SymbolId> = dead.iter().map(|t| symbol(terms, *t)).collect();
        let mut eval = Eval::new();
        let projected = project(terms, &mut eval, constraints.clone(), &FxHashSet::from_iter([live]));
        for value in 0..4 {
            let some = |all: &[TermId], eval: &mut Eval| {
                (0..1u64 << (2 * dead.len())).any(|others| {
                    let mut input = Assignment::new();
                    input.set(live, value);
                    for (idx, symbol) in dead.iter().enumerate() {
                        input.set(*symbol, others >> (2 * idx) & 3);
                    }
                    all.iter().all(|t| eval.holds(terms, &input, *t))
                })
            };
            assert_eq!(some(&constraints, &mut eval), some(&projected, &mut eval), "for {value}");
        }
        projected.len()
    }

    #[test]
    fn symbols_that_are_not_read_are_taken_out() {
        let mut terms = Terms::new();
        let (x, y, z) = (terms.symbol("x", 2), terms.symbol("y", 2), terms.symbol("z", 2));
        let zero = terms.constant(0, 2);
        let (y_is_x, y_is_not_zero) = (terms.eq(y, x), terms.ne(y, zero));
        assert_eq!(check(&mut terms, vec![y_is_x, y_is_not_zero], x, &[y]), 1);
        let (y_is_not_x, z_is_not_x) = (terms.ne(y, x), terms.ne(z, x));
        assert_eq!(check(&mut terms, vec![y_is_not_x, z_is_not_x], x, &[y, z]), 0);
        assert_eq!(check(&mut terms, vec![y_is_not_x, y_is_not_zero], x, &[y]), 0);
        // One value is left to it, which it must differ from: that says something.
        let one = terms.constant(1, 2);
        let small = terms.ult(y, one);
        assert_ne!(check(&mut terms, vec![y_is_not_x, small], x, &[y]), 0);
        let less = terms.ult(y, x);
        assert_ne!(check(&mut terms, vec![less], x, &[y]), 0);
    }
}
