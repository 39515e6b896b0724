//! Conditions that sets are made of: templates over cells and over what does not change.

use explore::Means;
use rustc_hash::FxHashSet;
use term::{Assignment, SymbolId, TermId, Terms, View};

use super::round::{Round, symbol_of};
use super::sets::with_values;
use super::simulate::Trace;

/// Visits of a walk that a condition is tried on.
const N_SAMPLES: usize = 64;
/// Conditions looked at in all.
const MAX_POOL: usize = 160;

/// Values that are tried first: for all cells the same, and for two of them different ones.
pub const N_EXTREMES: usize = 6;

pub fn extreme(round: &Round, nth: usize, terms: &mut Terms) -> Vec<TermId> {
    let value = |bits: u32| match nth {
        0 => 0,
        1 => term::fold::mask(bits),
        2 => term::fold::sign_bit(bits),
        3 => term::fold::sign_bit(bits) - 1,
        4 => 1,
        _ => term::fold::mask(bits) - 1,
    };
    round.cells.iter().map(|cell| terms.constant(value(cell.bits), cell.bits)).collect()
}

/// The number of different terms in a term, counted up to a limit.
pub fn n_nodes(terms: &Terms, t: TermId, limit: usize) -> usize {
    let mut seen = FxHashSet::default();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if seen.insert(t) && seen.len() < limit {
            stack.extend(terms.view(t).operands());
        }
    }
    seen.len()
}

/// The largest terms without cells that conditions and updates of relevant cells are made of.
pub fn rigid_terms(round: &Round, terms: &Terms) -> Vec<TermId> {
    let cells: FxHashSet<SymbolId> = round.cells.iter().map(|cell| symbol_of(terms, cell.symbol)).collect();
    let mut stack: Vec<TermId> = round.ways.iter().flat_map(|way| way.conds.iter().copied()).collect();
    for (idx, _) in round.relevant_cells() {
        stack.extend(round.ways.iter().map(|way| way.updates[idx]));
    }
    let mut seen = FxHashSet::default();
    let mut rigid = Vec::new();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) || terms.symbols(t).is_empty() {
            continue;
        }
        let is_rigid = terms.symbols(t).iter().all(|symbol| !cells.contains(symbol));
        if is_rigid && matches!(terms.sort(t), term::Sort::BitVec(1..=64)) {
            rigid.push(t);
        } else {
            let view = terms.view(t);
            stack.extend(view.operands());
            if let View::Table(table) = view {
                stack.extend(terms.table_elements(table));
            }
        }
    }
    rigid.sort_unstable();
    rigid
}

/// Conditions that hold at every visit of a walk: the most special ones first.
pub fn candidates(round: &Round, trace: &Trace, input: &Assignment, means: &mut Means) -> Vec<TermId> {
    let terms = &mut means.machine.terms;
    let first = &trace.values[0];
    let mut pool: Vec<TermId> = Vec::new();
    for t in rigid_terms(round, terms) {
        let value = means.eval.eval(terms, input, t);
        let width = terms.width(t);
        let constant = terms.constant(value, width);
        pool.push(terms.eq(t, constant));
        if width > 1 {
            signs(terms, t, &mut pool);
        }
    }
    let cells: Vec<(usize, TermId, u32)> =
        round.relevant_cells().map(|(idx, cell)| (idx, cell.symbol, cell.bits)).collect();
    for (idx, x, bits) in &cells {
        let value = terms.constant(u128::from(first[*idx]), *bits);
        pool.push(terms.eq(*x, value));
        for low in [1, 2, 3, 4, 8] {
            if low < *bits {
                let (part, of_value) = (terms.extract(*x, low - 1, 0), terms.extract(value, low - 1, 0));
                pool.push(terms.eq(part, of_value));
            }
        }
        orders(terms, *x, value, &mut pool);
        // The least and the greatest value met.
        for key in [|value: u64, _: u32| i128::from(value), signed] {
            let met = || trace.values.iter().map(|values| values[*idx]);
            let (Some(least), Some(most)) =
                (met().min_by_key(|v| key(*v, *bits)), met().max_by_key(|v| key(*v, *bits)))
            else {
                continue;
            };
            let (least, most) = (terms.constant(u128::from(least), *bits), terms.constant(u128::from(most), *bits));
            let both = [terms.ule(least, *x), terms.ule(*x, most), terms.sle(least, *x), terms.sle(*x, most)];
            pool.extend(both);
        }
        signs(terms, *x, &mut pool);
    }
    for (nth, (i, x, bits)) in cells.iter().enumerate() {
        for (j, y, other_bits) in &cells[nth + 1..] {
            if bits != other_bits {
                continue;
            }
            pool.push(terms.eq(*x, *y));
            let (difference, sum) = (terms.sub(*x, *y), terms.add(*x, *y));
            for (t, value) in
                [(difference, first[*i].wrapping_sub(first[*j])), (sum, first[*i].wrapping_add(first[*j]))]
            {
                let value = terms.constant(u128::from(value) & term::fold::mask(*bits), *bits);
                pool.push(terms.eq(t, value));
            }
            orders(terms, *x, *y, &mut pool);
        }
    }
    pool.extend(round.ways.iter().flat_map(|way| way.conds.iter().copied()));
    if let [only] = &round.ways[..] {
        for cond in only.conds.clone() {
            let sides = match terms.view(cond) {
                View::Ult(a, b) | View::Slt(a, b) | View::Eq(a, b) => Some((a, b)),
                View::Not(inner) => match terms.view(inner) {
                    View::Ult(a, b) | View::Slt(a, b) | View::Eq(a, b) => Some((a, b)),
                    _ => None,
                },
                _ => None,
            };
            let Some((a, b)) = sides.filter(|(a, b)| terms.width(*a) == terms.width(*b) && terms.width(*a) > 1) else {
                continue;
            };
            // How far the two are apart, by its lowest bits.
            let difference = terms.sub(a, b);
            let here = with_values(round, input, first, terms);
            let value = means.eval.eval(terms, &here, difference);
            for low in [1, 2, 3, 4] {
                if low < terms.width(a) {
                    let part = terms.extract(difference, low - 1, 0);
                    let value = terms.constant(value & term::fold::mask(low), low);
                    pool.push(terms.eq(part, value));
                }
            }
        }
    }
    let mut seen = FxHashSet::default();
    pool.retain(|cond| !terms.is_const(*cond) && seen.insert(*cond));
    // A walk that is still open was not seen whole: what holds on the visits seen may be broken later, and is then dropped.
    let step = (trace.values.len() / N_SAMPLES).max(1);
    for values in trace.values.iter().step_by(step) {
        let here = with_values(round, input, values, terms);
        pool.retain(|cond| means.eval.holds(terms, &here, *cond));
    }
    pool.truncate(MAX_POOL);
    pool
}

fn signed(value: u64, bits: u32) -> i128 {
    term::fold::signed(u128::from(value), bits)
}

fn signs(terms: &mut Terms, x: TermId, pool: &mut Vec<TermId>) {
    let zero = terms.constant(0, terms.width(x));
    let conds = [terms.eq(x, zero), terms.slt(x, zero), terms.slt(zero, x), terms.sle(x, zero), terms.sle(zero, x)];
    pool.extend(conds);
    pool.push(terms.ne(x, zero));
}

fn orders(terms: &mut Terms, a: TermId, b: TermId, pool: &mut Vec<TermId>) {
    let conds = [
        terms.ult(a, b),
        terms.ult(b, a),
        terms.slt(a, b),
        terms.slt(b, a),
        terms.ule(a, b),
        terms.ule(b, a),
        terms.sle(a, b),
        terms.sle(b, a),
    ];
    pool.extend(conds);
}
