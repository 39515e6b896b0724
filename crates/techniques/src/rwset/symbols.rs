//! Whether what two states have symbols in agrees: guessed by renaming, proved by the solver.

use explore::Means;
use rustc_hash::FxHashSet;
use solver::Answer;
use term::{Assignment, Sort, SymbolId, TermId, View};
use vm::{Region, State};

use super::compare::{Miss, Paired};
use super::needed::Needed;
use super::renaming::Renaming;
use super::snapshot::{Seen, Snapshot, all_connected};

/// Whether every value the pairs can have in the new state they could have in the earlier one.
/// Also how many terms were looked at.
pub fn symbols_cover(
    old: &Snapshot,
    needed: &Needed,
    new: Seen,
    pairs: &[(TermId, TermId)],
    paired: &Paired,
    means: &mut Means,
) -> (Result<Vec<TermId>, Miss>, usize) {
    if pairs.is_empty() {
        return (Ok(Vec::new()), 0);
    }
    if is_the_same(old, new, pairs, paired, means) {
        // The groups agree, but what they have may follow from other constraints than it did.
        if !needed.is_everything() {
            let found = needed.of_condition(new.condition);
            if found.len() == needed.len() {
                return (Ok(found), pairs.len());
            }
        }
        let terms = &means.machine.terms;
        let grouped = all_connected(terms, new.condition, pairs.iter().map(|(_, new_term)| *new_term));
        return (Ok(new.condition.reasons(terms, &grouped)), pairs.len());
    }
    let (constraints, n_new) = old.connected(pairs.iter().map(|(old_term, _)| *old_term), needed, means);
    // Mostly the terms are the same and a constraint fails.
    if pairs.iter().all(|(old_term, new_term)| old_term == new_term) {
        let fails = |t: &TermId| !means.eval.holds(&means.machine.terms, new.input, *t);
        if let Some(idx) = constraints.iter().position(fails) {
            old.failed.set(Some(constraints[idx]));
            return (Err(Miss::Values), pairs.len() / 2 + idx + n_new);
        }
    }
    let n_terms = 2 * pairs.len() + constraints.len() + n_new;
    let terms = &mut means.machine.terms;
    let renaming = Renaming::of_pairs(terms, pairs);
    if !holds_now(pairs, &constraints, &renaming, new, means) {
        return (Err(Miss::Values), n_terms);
    }
    let relied_on = proof(old, new, pairs, &constraints, renaming, paired, means);
    (relied_on.ok_or(Miss::Unproved), n_terms)
}

/// The constraints of the new state from which all that is needed follows, where it does.
fn proof(
    old: &Snapshot,
    new: Seen,
    pairs: &[(TermId, TermId)],
    constraints: &[TermId],
    mut renaming: Renaming,
    paired: &Paired,
    means: &mut Means,
) -> Option<Vec<TermId>> {
    let terms = &mut means.machine.terms;
    if !same_addresses(&old.state, new.state, paired) {
        let all = pairs.iter().flat_map(|(old, new)| [*old, *new]).chain(constraints.iter().copied());
        let mut walked = FxHashSet::default();
        for t in all {
            if has_address(terms, &old.state, t, &mut walked) {
                return None;
            }
        }
    }
    // What depends on memory nobody wrote is a fault there; the earlier state told it only for the same value.
    if !means.machine.unwritten.is_empty() {
        let mut others = pairs.iter().filter(|(old, new)| old != new).flat_map(|(_, new)| terms.symbols(*new));
        if others.any(|symbol| means.machine.unwritten.contains(symbol)) {
            return None;
        }
    }
    let mut needed = terms.tru();
    for (old_term, new_term) in pairs {
        let old_term = renaming.apply(terms, *old_term)?;
        if old_term == *new_term {
            continue;
        }
        if terms.sort(old_term) == Sort::Array {
            return None;
        }
        let same = terms.eq(old_term, *new_term);
        needed = terms.and(needed, same);
    }
    let known: FxHashSet<TermId> = new.condition.iter().collect();
    let mut relied_on = Vec::new();
    for constraint in constraints.iter() {
        let constraint = renaming.apply(terms, *constraint)?;
        match known.contains(&constraint) {
            true => relied_on.push(constraint),
            false => needed = terms.and(needed, constraint),
        }
    }
    if !terms.is_true(needed) {
        let fails = terms.not(needed);
        let relevant = new.condition.relevant(terms, fails).constraints();
        relied_on.extend(new.condition.reasons(terms, &relevant));
        let answer = means.stack.check(&mut means.machine.terms, new.condition, new.input, fails);
        matches!(answer, Answer::Unsat).then_some(())?;
    }
    Some(relied_on)
}

/// The common case of the proof: the same terms under the same constraints.
fn is_the_same(old: &Snapshot, new: Seen, pairs: &[(TermId, TermId)], paired: &Paired, means: &Means) -> bool {
    let terms = &means.machine.terms;
    let same_constraints = |t: TermId| old.condition.relevant(terms, t).key() == new.condition.relevant(terms, t).key();
    pairs.iter().all(|(old_term, new_term)| old_term == new_term && same_constraints(*old_term))
        && same_addresses(&old.state, new.state, paired)
}

/// The cheap half of the proof: whether it holds for the one input at hand.
fn holds_now(
    pairs: &[(TermId, TermId)],
    constraints: &[TermId],
    renaming: &Renaming,
    new: Seen,
    means: &mut Means,
) -> bool {
    let (terms, eval) = (&means.machine.terms, &mut *means.eval);
    let mut symbols: Vec<SymbolId> =
        pairs.iter().map(|(old, _)| old).chain(constraints).flat_map(|t| terms.symbols(*t).iter().copied()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let mut input = Assignment::new();
    for symbol in symbols {
        let value = eval.eval(terms, new.input, renaming.of_symbol(terms, symbol));
        input.set(symbol, value as u64);
    }
    let same = |eval: &mut term::Eval, old: TermId, new_term: TermId| {
        terms.sort(old) == Sort::Array || {
            let now = eval.eval(terms, new.input, new_term);
            eval.eval(terms, &input, old) == now
        }
    };
    pairs.iter().all(|(old, new)| same(eval, *old, *new)) && constraints.iter().all(|c| eval.holds(terms, &input, *c))
}

/// Whether every object lies where it lay.
fn same_addresses(old: &State, new: &State, paired: &Paired) -> bool {
    let stacks = old.memory.objects(Region::Stack).zip(new.memory.objects(Region::Stack));
    stacks.into_iter().all(|(old, new)| old.1.base == new.1.base)
        && paired.iter().all(|(from, to)| old.memory.get(*from).base == new.memory.get(*to).base)
}

/// Whether a term may have an address of the stack or the heap in it.
fn has_address(terms: &term::Terms, state: &State, t: TermId, walked: &mut FxHashSet<TermId>) -> bool {
    let mut work = vec![t];
    while let Some(t) = work.pop() {
        if !walked.insert(t) {
            continue;
        }
        match terms.view(t) {
            View::Const(value) => {
                let is_wide = terms.width(t) >= 32;
                if is_wide && u64::try_from(value).is_ok_and(|value| state.memory.is_moving(value)) {
                    return true;
                }
            }
            View::Table(table) => {
                let elements = terms.table_elements(table);
                let bytes: Vec<Option<u8>> =
                    elements.iter().map(|t| terms.as_const(*t).map(|byte| byte as u8)).collect();
                if bytes.windows(8).any(|word| is_moving_word(state, word)) {
                    return true;
                }
                work.extend_from_slice(elements);
            }
            view => work.extend(view.operands()),
        }
    }
    false
}

fn is_moving_word(state: &State, bytes: &[Option<u8>]) -> bool {
    let mut word = 0u64;
    for byte in bytes.iter().rev() {
        let Some(byte) = byte else { return false };
        word = word << 8 | u64::from(*byte);
    }
    state.memory.is_moving(word) || state.memory.is_moving(word & 0xffff_ffff)
}
