//! Equations whose sides are about different symbols, each side tried alone.
//!
//! `a * a + b * b = c * c` with numbers up to a thousand has a thousand million inputs, and gates of squares take a search as long.
//! But what `c * c` can be is a thousand numbers, and whether `a * a + b * b` is one of them is looked up. So the symbols of a
//! sum are put on two sides, such that no addend is about both; the sums of one side are kept in a table, and those of the other looked up
//! in it. What meets is evaluated. Other equations that fall apart in the same way make the table finer, and conditions about one side thin
//! it out. Ten letters of a sum of words are 100,000 inputs twice.
//!
//! All inputs that satisfy the equation are looked at, so finding none says that there is none.

use crate::clock::Clock;
use crate::domain::{Domain, Domains, n_in, values_of};
use crate::layers::{Answers, Said, Setup};
use crate::linear::Sum;
use crate::possible::{Possible, sort};
use crate::query::{Query, Tools};
use crate::tried::{Found, Inputs};
use rustc_hash::FxHashMap;
use term::{Lanes, N_LANES, SymbolId, TermId, Terms, View, fold};

/// Inputs of the side that is kept, and of the other.
const MAX_KEPT: u64 = 1 << 20;
const MAX_TRIED: u64 = 1 << 23;
const MAX_SYMBOLS: usize = 64;
/// Steps over blocks in all; about 50 ns each.
const MAX_COST: u64 = 10_000_000;
/// Equations that are looked at.
const MAX_EQUATIONS: usize = 16;
/// Share of the time.
const SHARE: u32 = 10;

struct Meet;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Meet))
}

impl Answers for Meet {
    /// What gates find easy is best left to them.
    fn answer(&mut self, _query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        None
    }

    fn answer_late(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let symbols = query.symbols();
        if symbols.len() > MAX_SYMBOLS {
            return None;
        }
        let clock = query.clock().share(1, SHARE);
        Some(ask(query.terms, &mut tools.domains, &query.conjunction(), &clock)?.said(query))
    }
}

/// A sum that is zero.
struct Equation {
    addends: Vec<(TermId, u128)>,
    constant: u128,
    width: u32,
}

/// Some of the symbols, and what is to be computed from them alone.
struct Side {
    symbols: Vec<SymbolId>,
    values: Vec<Vec<u64>>,
    lanes: Lanes,
    inputs: Inputs,
    n_conditions: usize,
    /// For each equation the results that are added, and how often.
    addends: Vec<Vec<(usize, u64)>>,
}

fn ask(terms: &Terms, domains: &mut Domains, conditions: &[TermId], clock: &Clock) -> Option<Found> {
    let mut conditions = conditions.to_vec();
    conditions.sort_unstable();
    conditions.dedup();
    let (possible, conditions) = sort(terms, domains, &conditions)?;
    let equations: Vec<Equation> = conditions.iter().filter_map(|&t| equation(terms, t)).take(MAX_EQUATIONS).collect();
    let mut open: Vec<SymbolId> = conditions.iter().flat_map(|&t| terms.symbols(t)).copied().collect();
    open.sort_unstable();
    open.dedup();
    let n_values = |symbol: SymbolId| possible[place_of(&possible, symbol)].n_values(terms);
    let [kept, tried] = equations.iter().filter_map(|equation| divide(terms, equation, &open, n_values)).next()?;
    let keys: Vec<&Equation> = equations
        .iter()
        .filter(|equation| {
            equation.addends.iter().all(|&(t, _)| is_within(terms, t, &kept) || is_within(terms, t, &tried))
        })
        .collect();
    let mut kept = Side::new(terms, domains, &conditions, &possible, kept, &keys)?;
    let mut tried = Side::new(terms, domains, &conditions, &possible, tried, &keys)?;
    if kept.n_inputs() > MAX_KEPT || tried.n_inputs() > MAX_TRIED || kept.cost().saturating_add(tried.cost()) > MAX_COST
    {
        return None;
    }
    let mut table = Table::default();
    kept.run(&keys, clock, |n, sums| {
        table.add(key_of(&keys, sums, |sum, _| sum), n);
        Some(false)
    })?;
    let mut pairs = Pairs::new(terms, domains, &conditions, &kept, &tried)?;
    let mut cost = kept.cost().saturating_add(tried.cost());
    let is_found = tried.run(&keys, clock, |n, sums| {
        // What the other side has to be for the sum to be zero.
        let key = key_of(&keys, sums, |sum, equation| sum.wrapping_add(equation.constant as u64).wrapping_neg());
        for other in table.at(key) {
            if pairs.put(other, n) {
                cost += pairs.cost();
                if pairs.look() {
                    return Some(true);
                }
                if cost > MAX_COST || clock.is_over() {
                    return None;
                }
            }
        }
        Some(false)
    })?;
    if !is_found && !pairs.look() {
        return Some(Found::Nothing);
    }
    let mut values = pairs.found();
    let others = possible.iter().filter(|one| open.binary_search(&one.symbol).is_err());
    values.extend(others.map(|one| (one.symbol, one.lo)));
    Some(Found::Values(values))
}

fn place_of(possible: &[Possible], symbol: SymbolId) -> usize {
    let at = possible.binary_search_by_key(&symbol, |one| one.symbol);
    at.expect("every symbol of the conditions is there")
}

impl Possible {
    fn n_values(&self, terms: &Terms) -> u64 {
        match self.domain.as_deref() {
            Some(Domain::Ranges(ranges)) => n_in(ranges),
            Some(Domain::Bytes(set)) => set.iter().map(|part| u64::from(part.count_ones())).sum(),
            None => 1u64.checked_shl(terms.symbol_width(self.symbol)).unwrap_or(u64::MAX),
        }
    }

    fn values(&self, terms: &Terms) -> Vec<u64> {
        match self.domain.as_deref() {
            Some(domain) => values_of(domain),
            None => (0..1 << terms.symbol_width(self.symbol)).collect(),
        }
    }
}

/// The sum that a condition says is zero, if it has more addends than one.
fn equation(terms: &Terms, condition: TermId) -> Option<Equation> {
    let View::Eq(a, b) = terms.view(condition) else { return None };
    let width = terms.width(a);
    if width > 64 || width == 1 {
        return None;
    }
    let sum = Sum::of_difference(terms, a, b)?;
    let mut addends: Vec<(TermId, u128)> = sum.factors.into_iter().collect();
    addends.sort_unstable();
    (addends.len() > 1).then_some(Equation { addends, constant: sum.constant, width })
}

fn is_within(terms: &Terms, t: TermId, symbols: &[SymbolId]) -> bool {
    terms.symbols(t).iter().all(|symbol| symbols.binary_search(symbol).is_ok())
}

/// All symbols on two sides, such that no addend is about both: the smaller side first.
fn divide(
    terms: &Terms,
    equation: &Equation,
    open: &[SymbolId],
    n_values: impl Fn(SymbolId) -> u64,
) -> Option<[Vec<SymbolId>; 2]> {
    // Symbols that an addend has in common stay together.
    let mut groups: Vec<Vec<SymbolId>> = Vec::new();
    let single = open.iter().map(std::slice::from_ref);
    for together in equation.addends.iter().map(|&(t, _)| terms.symbols(t)).chain(single) {
        let mut joined = together.to_vec();
        groups.retain(|group| {
            let is_apart = group.iter().all(|symbol| !together.contains(symbol));
            if !is_apart {
                joined.extend_from_slice(group);
            }
            is_apart
        });
        joined.sort_unstable();
        joined.dedup();
        groups.push(joined);
    }
    let size = |group: &[SymbolId]| group.iter().fold(1u64, |n, &symbol| n.saturating_mul(n_values(symbol)));
    groups.sort_by_key(|group| std::cmp::Reverse(size(group)));
    let mut sides = [(1u64, Vec::new()), (1u64, Vec::new())];
    for group in groups {
        let smaller = usize::from(sides[1].0 < sides[0].0);
        let (n, symbols) = &mut sides[smaller];
        *n = n.saturating_mul(size(&group));
        symbols.extend(group);
    }
    sides.sort();
    let is_possible = sides[0].0 <= MAX_KEPT && sides[1].0 <= MAX_TRIED && !sides[0].1.is_empty();
    is_possible.then(|| {
        sides.map(|(_, mut symbols)| {
            symbols.sort_unstable();
            symbols
        })
    })
}

/// One number for the sums of all equations.
fn key_of(keys: &[&Equation], sums: &[u64], wanted: impl Fn(u64, &Equation) -> u64) -> u64 {
    keys.iter().zip(sums).fold(0u64, |key, (equation, &sum)| {
        let sum = wanted(sum, equation) & fold::mask(equation.width) as u64;
        (key.rotate_left(23) ^ sum).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl Side {
    fn new(
        terms: &Terms,
        domains: &mut Domains,
        conditions: &[TermId],
        possible: &[Possible],
        symbols: Vec<SymbolId>,
        keys: &[&Equation],
    ) -> Option<Side> {
        let mut roots: Vec<TermId> = conditions.iter().copied().filter(|&t| is_within(terms, t, &symbols)).collect();
        let n_conditions = roots.len();
        let mut addends = Vec::new();
        for equation in keys {
            let mut own = Vec::new();
            for &(t, factor) in equation.addends.iter().filter(|(t, _)| is_within(terms, *t, &symbols)) {
                own.push((roots.len(), factor as u64));
                roots.push(t);
            }
            addends.push(own);
        }
        let lanes = Lanes::new(terms, &roots)?;
        let inputs = Inputs::of(terms, domains, &lanes, |symbol| symbols.binary_search(&symbol).ok())?;
        let values = symbols.iter().map(|&symbol| possible[place_of(possible, symbol)].values(terms)).collect();
        Some(Side { symbols, values, lanes, inputs, n_conditions, addends })
    }

    fn n_inputs(&self) -> u64 {
        self.values.iter().fold(1, |n, values| n * values.len() as u64)
    }

    fn cost(&self) -> u64 {
        self.n_inputs().div_ceil(N_LANES as u64) * (self.lanes.n_steps() + 24 * self.values.len() + 64) as u64
    }

    /// The values of the symbols in the input of this number.
    fn input(&self, mut n: u64) -> Vec<u64> {
        let digit = |values: &Vec<u64>| {
            let digit = n % values.len() as u64;
            n /= values.len() as u64;
            values[digit as usize]
        };
        self.values.iter().map(digit).collect()
    }

    /// All inputs that satisfy the conditions about this side alone, with their sums, until one is said to be the last. `None` where
    /// that was given up.
    fn run(
        &mut self,
        keys: &[&Equation],
        clock: &Clock,
        mut each: impl FnMut(u64, &[u64]) -> Option<bool>,
    ) -> Option<bool> {
        let n_inputs = self.n_inputs();
        let mut sums = vec![0; keys.len()];
        let mut start = 0;
        while start < n_inputs {
            let filled = (n_inputs - start).min(N_LANES as u64) as usize;
            for lane in 0..filled {
                let values = self.input(start + lane as u64);
                self.inputs.write(&mut self.lanes, lane, &values);
            }
            self.lanes.compute();
            for lane in 0..filled {
                if !(0..self.n_conditions).all(|nth| self.lanes.result(nth)[lane] == 1) {
                    continue;
                }
                for (sum, addends) in sums.iter_mut().zip(&self.addends) {
                    let add = |sum: u64, &(nth, factor): &(usize, u64)| {
                        sum.wrapping_add(factor.wrapping_mul(self.lanes.result(nth)[lane]))
                    };
                    *sum = addends.iter().fold(0, add);
                }
                if each(start + lane as u64, &sums)? {
                    return Some(true);
                }
            }
            start += N_LANES as u64;
            if start.is_multiple_of(1 << 12) && clock.is_over() {
                return None;
            }
        }
        Some(false)
    }
}

/// Inputs by the key of their sums.
#[derive(Default)]
struct Table {
    newest: FxHashMap<u64, u32>,
    /// Each with the one before it of the same key.
    inputs: Vec<(u64, u32)>,
}

const NONE: u32 = u32::MAX;

impl Table {
    fn add(&mut self, key: u64, input: u64) {
        let before = self.newest.insert(key, self.inputs.len() as u32).unwrap_or(NONE);
        self.inputs.push((input, before));
    }

    fn at(&self, key: u64) -> impl Iterator<Item = u64> {
        let mut next = self.newest.get(&key).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let &(input, before) = self.inputs.get(next as usize)?;
            next = before;
            Some(input)
        })
    }
}

/// Inputs of both sides together.
struct Pairs {
    lanes: Lanes,
    inputs: Inputs,
    symbols: Vec<SymbolId>,
    /// The values of each symbol, and from where on they are those of the second side.
    values: Vec<Vec<u64>>,
    n_first: usize,
    filled: Vec<Vec<u64>>,
    found: Option<Vec<u64>>,
}

impl Pairs {
    fn new(terms: &Terms, domains: &mut Domains, conditions: &[TermId], first: &Side, second: &Side) -> Option<Pairs> {
        let symbols: Vec<SymbolId> = first.symbols.iter().chain(&second.symbols).copied().collect();
        let lanes = Lanes::new(terms, conditions)?;
        let inputs = Inputs::of(terms, domains, &lanes, |symbol| symbols.iter().position(|other| *other == symbol))?;
        let values = first.values.iter().chain(&second.values).cloned().collect();
        Some(Pairs { lanes, inputs, symbols, values, n_first: first.symbols.len(), filled: Vec::new(), found: None })
    }

    fn cost(&self) -> u64 {
        (self.lanes.n_steps() + 24 * self.symbols.len()) as u64
    }

    /// Puts one more in; says whether it is time to look.
    fn put(&mut self, first: u64, second: u64) -> bool {
        let mut numbers = [first, second];
        let input: Vec<u64> = self
            .values
            .iter()
            .enumerate()
            .map(|(at, values)| {
                let n = &mut numbers[usize::from(at >= self.n_first)];
                let digit = *n % values.len() as u64;
                *n /= values.len() as u64;
                values[digit as usize]
            })
            .collect();
        self.inputs.write(&mut self.lanes, self.filled.len(), &input);
        self.filled.push(input);
        self.filled.len() == N_LANES
    }

    /// Evaluates what was put in.
    fn look(&mut self) -> bool {
        let filled = std::mem::take(&mut self.filled);
        if filled.is_empty() {
            return false;
        }
        let holds = self.lanes.run() & (u64::MAX >> (N_LANES - filled.len()));
        self.found = filled.into_iter().nth(holds.trailing_zeros() as usize);
        self.found.is_some()
    }

    fn found(&self) -> Vec<(SymbolId, u64)> {
        self.symbols.iter().copied().zip(self.found.iter().flatten().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use std::time::Duration;
    use term::{Assignment, Eval};

    fn clock() -> Clock {
        Clock::new(Duration::from_secs(10), &Arc::default())
    }

    /// Something of one symbol or two, of eight bits.
    fn addend(terms: &mut Terms, (kind, a, b, k): (u8, u8, u8, u8)) -> TermId {
        let symbol = |terms: &mut Terms, nth: u8| {
            let symbol = terms.symbol(["x", "y", "z"][usize::from(nth % 3)], [4, 3, 9][usize::from(nth % 3)]);
            if nth % 3 == 2 { terms.extract(symbol, 7, 0) } else { terms.zext(symbol, 8) }
        };
        let (a, b) = (symbol(terms, a), symbol(terms, b));
        let k = terms.constant(u128::from(k), 8);
        match kind % 6 {
            0 => terms.mul(a, a),
            1 => terms.mul(a, b),
            2 => terms.xor(a, k),
            3 => terms.mul(a, k),
            4 => {
                let less = terms.ult(a, k);
                terms.ite(less, a, k)
            }
            _ => a,
        }
    }

    type Addends = Vec<(u8, u8, u8, u8)>;

    fn addends() -> impl Strategy<Value = Addends> {
        prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..4)
    }

    fn sum(terms: &mut Terms, addends: Addends) -> TermId {
        let zero = terms.constant(0, 8);
        addends.into_iter().fold(zero, |sum, one| {
            let one = addend(terms, one);
            terms.add(sum, one)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        /// Of three symbols: what is found satisfies all conditions, and where there is said to be nothing, no input does.
        #[test]
        fn answers_are_those_of_all_inputs(
            equations in prop::collection::vec((addends(), addends()), 1..4),
            others in prop::collection::vec((addends(), 0u8..60, any::<bool>()), 0..3),
            limit in 1u128..40,
        ) {
            let mut terms = Terms::new();
            let (x, y, z) = (terms.symbol("x", 4), terms.symbol("y", 3), terms.symbol("z", 9));
            let limit = terms.constant(limit, 9);
            let mut conditions = vec![terms.ult(z, limit)];
            for (left, right) in equations {
                let (left, right) = (sum(&mut terms, left), sum(&mut terms, right));
                conditions.push(terms.eq(left, right));
            }
            for (addends, k, is_less) in others {
                let (left, k) = (sum(&mut terms, addends), terms.constant(u128::from(k), 8));
                conditions.push(if is_less { terms.ult(left, k) } else { terms.ne(left, k) });
            }
            conditions.retain(|&t| !terms.is_true(t));
            let mut eval = Eval::new();
            let mut holds = |values: &[(SymbolId, u64)]| {
                let mut input = Assignment::new();
                values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
                conditions.iter().all(|&t| eval.holds(&terms, &input, t))
            };
            let symbols = [x, y, z].map(|t| terms.symbols(t)[0]);
            match ask(&terms, &mut Domains::default(), &conditions, &clock()) {
                Some(Found::Values(values)) => prop_assert!(holds(&values), "{values:?}"),
                Some(Found::Nothing) => for input in 0..1u64 << 16 {
                    let values = [(symbols[0], input & 15), (symbols[1], input >> 4 & 7), (symbols[2], input >> 7)];
                    prop_assert!(!holds(&values), "{values:?}");
                }
                None => {}
            }
        }
    }

    #[test]
    fn squares_are_looked_up() {
        let mut terms = Terms::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| terms.symbol(name, 32));
        let [one, limit] = [1, 1001].map(|k| terms.constant(k, 32));
        let mut conditions = Vec::new();
        for x in [a, b, c] {
            let (is_zero, is_small) = (terms.ult(x, one), terms.ult(x, limit));
            conditions.extend([terms.not(is_zero), is_small]);
        }
        let [a2, b2, c2] = [a, b, c].map(|x| terms.mul(x, x));
        let sum = terms.add(a2, b2);
        conditions.push(terms.eq(sum, c2));
        let round = [b, c].into_iter().fold(a, |sum, x| terms.add(sum, x));
        let thousand = terms.constant(1000, 32);
        let is_round = terms.eq(round, thousand);
        let mut asked = conditions.clone();
        asked.push(is_round);
        let Some(Found::Values(mut values)) = ask(&terms, &mut Domains::default(), &asked, &clock()) else { panic!() };
        values.sort_unstable();
        let mut values: Vec<u64> = values.into_iter().map(|(_, value)| value).collect();
        values.sort_unstable();
        assert_eq!(values, [200, 375, 425]);
        // Both short sides odd: the sum of their squares leaves two when divided by four.
        let odd = [a, b].map(|x| terms.extract(x, 0, 0));
        conditions.extend(odd);
        assert_eq!(ask(&terms, &mut Domains::default(), &conditions, &clock()), Some(Found::Nothing));
    }
}
