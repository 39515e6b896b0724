//! What the conditions about one symbol alone leave of it, and the conditions that are left then.

use crate::domain::{Domain, Domains, Ranges, intersect, pick};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{SymbolId, TermId, Terms, View, fold};

/// What a symbol can be, by the conditions about it alone.
pub(crate) struct Possible {
    pub symbol: SymbolId,
    pub domain: Option<Rc<Domain>>,
    pub lo: u64,
    pub hi: u64,
}

/// The conditions about one symbol alone as what they leave of it, and the others.
pub(crate) fn sort(
    terms: &Terms,
    domains: &mut Domains,
    conditions: &[TermId],
) -> Option<(Vec<Possible>, Vec<TermId>)> {
    let mut left: FxHashMap<SymbolId, Rc<Domain>> = FxHashMap::default();
    let mut others = Vec::new();
    let mut symbols = Vec::new();
    for &condition in conditions {
        symbols.extend_from_slice(terms.symbols(condition));
        let own = match terms.symbols(condition) {
            [symbol] => domains.of_term(terms, condition).map(|domain| (*symbol, domain)),
            _ => None,
        };
        match own {
            Some((symbol, domain)) => {
                let both = match left.get(&symbol) {
                    Some(before) => Rc::new(intersect(before, &domain)),
                    None => domain,
                };
                left.insert(symbol, both);
            }
            None => others.push(condition),
        }
    }
    narrow_by_order(terms, &others, &mut left);
    symbols.sort_unstable();
    symbols.dedup();
    let possible = symbols.into_iter().map(|symbol| {
        let most = u64::MAX >> (64 - terms.symbol_width(symbol));
        let domain = left.get(&symbol).cloned();
        let (lo, hi) = match domain.as_deref() {
            None => (0, most),
            Some(domain) => (pick(domain, 0)?, largest(domain)?),
        };
        Some(Possible { symbol, domain, lo, hi })
    });
    Some((possible.collect::<Option<_>>()?, others))
}

/// Passes limits on along `a <= b <= c`, where one of them is known.
fn narrow_by_order(terms: &Terms, conditions: &[TermId], left: &mut FxHashMap<SymbolId, Rc<Domain>>) {
    let orders: Vec<Order> = conditions.iter().filter_map(|&condition| order(terms, condition)).collect();
    for _ in 0..MAX_ROUNDS {
        let mut has_changed = false;
        for order in &orders {
            // The smaller is at most what the larger is at most, and the other way round.
            for (one, other, is_most) in [(order.small, order.large, true), (order.large, order.small, false)] {
                let Some(limit) = left.get(&other).and_then(|domain| extreme(domain, order.shift, is_most)) else {
                    continue;
                };
                let limit = match (order.is_strict, is_most) {
                    (false, _) => Some(limit),
                    (true, true) => limit.checked_sub(1),
                    (true, false) => limit.checked_add(1).filter(|&limit| limit <= order.mask),
                };
                let Some(limit) = limit else { continue };
                let allowed = match is_most {
                    true => moved(0, limit, order),
                    false => moved(limit, order.mask, order),
                };
                let narrowed = match left.get(&one).map(Rc::as_ref) {
                    Some(before @ Domain::Ranges(_)) => intersect(before, &Domain::Ranges(allowed)),
                    Some(Domain::Bytes(_)) => continue,
                    None => Domain::Ranges(allowed),
                };
                if left.get(&one).is_none_or(|before| **before != narrowed) {
                    has_changed = true;
                    left.insert(one, Rc::new(narrowed));
                }
            }
        }
        if !has_changed {
            return;
        }
    }
}

/// How often limits are passed on.
const MAX_ROUNDS: u32 = 12;

/// Two wide symbols of which one is at most, or less than, the other, when both are moved by `shift`: by half of all numbers where they have signs.
struct Order {
    small: SymbolId,
    large: SymbolId,
    is_strict: bool,
    shift: u64,
    mask: u64,
}

fn order(terms: &Terms, condition: TermId) -> Option<Order> {
    let (compared, holds) = match terms.view(condition) {
        View::Not(inner) => (inner, false),
        _ => (condition, true),
    };
    let (a, b, is_signed) = match terms.view(compared) {
        View::Ult(a, b) => (a, b, false),
        View::Slt(a, b) => (a, b, true),
        _ => return None,
    };
    let (View::Symbol(a), View::Symbol(b)) = (terms.view(a), terms.view(b)) else { return None };
    let width = terms.symbol_width(a);
    if !(9..=64).contains(&width) {
        return None;
    }
    // Not less is at least.
    let (small, large) = if holds { (a, b) } else { (b, a) };
    let shift = if is_signed { fold::sign_bit(width) as u64 } else { 0 };
    Some(Order { small, large, is_strict: holds, shift, mask: fold::mask(width) as u64 })
}

/// The largest or the smallest value, moved.
fn extreme(domain: &Domain, shift: u64, is_most: bool) -> Option<u64> {
    let Domain::Ranges(ranges) = domain else { return None };
    // A range across the place where the sign changes has both ends of the order.
    let ends = ranges.iter().flat_map(|&(lo, hi)| {
        let is_across = shift > 0 && lo < shift && shift <= hi;
        let across = is_across.then(|| [shift, shift - 1]).into_iter().flatten();
        [lo, hi].into_iter().chain(across)
    });
    let moved = ends.map(|value| value ^ shift);
    if is_most { moved.max() } else { moved.min() }
}

/// The values that are between these when they are moved.
fn moved(lo: u64, hi: u64, order: &Order) -> Ranges {
    let shift = order.shift;
    match shift == 0 || lo >= shift || hi < shift {
        true => vec![(lo ^ shift, hi ^ shift)],
        // Those without the sign come first.
        false => vec![(0, hi ^ shift), (lo ^ shift, order.mask)],
    }
}

fn largest(domain: &Domain) -> Option<u64> {
    match domain {
        Domain::Bytes(set) => (0..256).rev().find(|&value| set[value as usize / 64] >> (value % 64) & 1 == 1),
        Domain::Ranges(ranges) => ranges.last().map(|&(_, hi)| hi),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::{Assignment, Eval};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Every input that satisfies comparisons of three symbols is among what is left of them.
        #[test]
        fn no_value_is_lost(
            limits in prop::collection::vec((0usize..3, 0u8..4, 0u16..512), 0..4),
            orders in prop::collection::vec((0usize..3, 0usize..3, 0u8..4), 1..5),
            inputs in prop::collection::vec((0u64..512, 0u64..512, 0u64..512), 400),
        ) {
            let mut terms = Terms::new();
            let symbols = ["x", "y", "z"].map(|name| terms.symbol(name, 9));
            let mut condition = |a, b, kind: u8| {
                let less = if kind & 1 == 0 { terms.ult(a, b) } else { terms.slt(a, b) };
                if kind & 2 == 0 { less } else { terms.not(less) }
            };
            let mut conditions: Vec<TermId> = Vec::new();
            conditions.extend(orders.iter().map(|&(a, b, kind)| condition(symbols[a], symbols[b], kind)));
            for (at, kind, k) in limits {
                let k = terms.constant(u128::from(k), 9);
                let less = if kind & 1 == 0 { terms.ult(symbols[at], k) } else { terms.slt(k, symbols[at]) };
                conditions.push(if kind & 2 == 0 { less } else { terms.not(less) });
            }
            let known = sort(&terms, &mut Domains::default(), &conditions);
            let mut eval = Eval::new();
            for (x, y, z) in inputs {
                let mut input = Assignment::new();
                [x, y, z].into_iter().enumerate().for_each(|(nth, value)| input.set(SymbolId(nth as u32), value));
                if !conditions.iter().all(|&t| eval.holds(&terms, &input, t)) {
                    continue;
                }
                let Some((possible, _)) = &known else { panic!("{x} {y} {z}") };
                for one in possible {
                    let value = input.get(one.symbol);
                    prop_assert!(one.lo <= value && value <= one.hi, "{value}");
                    prop_assert!(one.domain.as_deref().is_none_or(|domain| pick(domain, value) == Some(value)), "{value}");
                }
            }
        }
    }
}
