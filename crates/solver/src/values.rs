//! All values tried: exact answers where few inputs are possible at all.
//!
//! The symbols that matter to a question often have few values between them: an index below the length of a table, two
//! bytes, four digits. Then evaluating the question and the constraints under each of them decides it, whatever is in
//! them; a lookup in a large table or a product costs no more than a sum. What each symbol may be on its own is known from
//! the domains, so only the remaining conditions are evaluated, for a block of inputs at a time. And of the values of a byte that
//! make no difference to any of them, as the letters do to a scanner's tables, only one is tried.
//!
//! A remainder or a product of one wide symbol leaves it few of its values. These are looked for first, so that they alone are tried with
//! those of the others.
//!
//! Where there are too many inputs, some are tried at random: which of a hundred lists a name hashes to is hard to say for a
//! solver, while every hundredth name is in the one that is wanted.

use crate::answer::Why;
use crate::clock::Clock;
use crate::dice::Dice;
use crate::divisors;
use crate::domain::{Domain, Domains, Ranges, intersect, n_in, pick, values_of};
use crate::layers::{Answers, Said, Setup};
use crate::path::conjuncts;
use crate::query::{Query, Tools};
use crate::tried::completed;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use term::{Assignment, Graph, Graphs, Lanes, N_LANES, SymbolId, TermId, Terms, View, fold, used_bits};

/// Inputs that are tried at most.
pub const MAX_INPUTS: u64 = 1 << 20;
/// The same where neither gates nor inputs at random found it easy, and the steps over one block that may take. Where gates are no
/// hopeless way, as they are for floats, it has a share of the time.
const MAX_INPUTS_LATE: u64 = 1 << 27;
const MAX_COST_LATE: u64 = 60_000_000;
const SHARE_LATE: u32 = 3;
/// Values of a symbol of which those are looked for that the conditions about it alone allow.
const MAX_FILTERED: u64 = 1 << 16;
/// Fewer inputs than this are tried at once as they are.
const MIN_FILTERED: u64 = 1 << 12;
/// What was looked for is remembered, so many times.
const MAX_REMEMBERED: usize = 1 << 10;
/// More symbols than this nearly always have too many values between them.
pub(crate) const MAX_SYMBOLS: usize = 16;
/// Steps over one block that trying inputs at random may take, and blocks it may try.
const MAX_SAMPLING: u64 = 16_000;
const MAX_SAMPLED: u64 = 32;
/// The same where gates did not find it easy, in each of some rounds.
const MAX_SAMPLING_LATE: u64 = 40_000;
const MAX_SAMPLED_LATE: u64 = 400;
const N_LATE_ROUNDS: u64 = 10;
/// Steps over one block between two looks at the clock.
const COST_OF_A_LOOK: u64 = 20_000;

/// The cost up to which trying all inputs is quicker than most questions are for the bit-blaster.
pub(crate) const QUICK_SWEEP: u64 = 1000;

/// Symbols and the bits of them that matter.
type Used = Rc<[(SymbolId, u64)]>;

/// The layer: remembers which bits of its symbols each condition looks at, and which values of a symbol conditions about it
/// alone allow.
#[derive(Default)]
pub struct Values {
    used: FxHashMap<TermId, Option<Used>>,
    filtered: FxHashMap<Vec<TermId>, Rc<Domain>>,
}

/// A question made ready: what to evaluate, and under which inputs.
pub struct Sweep {
    lanes: Lanes,
    /// For each input of the lanes its symbol, as a place in `swept`.
    symbol_of: Vec<usize>,
    /// The symbols the lanes depend on.
    swept: Vec<Choices>,
    /// How many inputs there are; `u64::MAX` for that many and more.
    n_inputs: u64,
    /// For each symbol that no remaining condition looks at, a value that its own constraints allow.
    others: Vec<(SymbolId, u64)>,
}

/// What trying all inputs came to.
pub enum Swept {
    Found(Vec<(SymbolId, u64)>),
    Nothing,
    OutOfTime,
}

/// What a symbol can be.
struct Choices {
    symbol: SymbolId,
    /// What it is in the current input, or as near to that as can be.
    now: u64,
    values: Eligible,
}

/// A value of a symbol, and what each input of the lanes over that symbol, in their order, is then.
#[derive(Clone)]
struct Choice {
    value: u64,
    inputs: Vec<u64>,
}

enum Eligible {
    /// One for each class of values that no condition tells apart, that of the current value first.
    Classes(Vec<Choice>),
    Ranges(Ranges),
    /// These bits are free.
    Bits(u64),
}

/// What is known about a symbol.
struct Possible {
    symbol: SymbolId,
    /// Its values, as far as conditions about it alone tell.
    domain: Option<Rc<Domain>>,
    /// The conditions that say so.
    reasons: Vec<TermId>,
    /// The bits that the other conditions look at.
    used: u64,
}

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::<Values>::default())
}

impl Answers for Values {
    /// Tries all inputs at once where that is quick, or quicker than making gates of large tables, products and quotients.
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let mut sweep = self.plan(query, &mut tools.domains, query.symbols(), || query.constraints())?;
        if !sweep.is_exhaustive() {
            // What is easy as gates is best left to them.
            if sweep.gate_work() == 0 {
                return None;
            }
            if let Some(found) = sweep.sample(query.key() as u64, MAX_SAMPLING, MAX_SAMPLED) {
                return Some(completed(query, &found));
            }
            query.sweep = Some(Box::new(sweep));
            return None;
        }
        if sweep.cost() <= QUICK_SWEEP + sweep.gate_work() {
            return Some(try_all(query, sweep));
        }
        query.sweep = Some(Box::new(sweep));
        None
    }

    fn answer_late(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        let mut sweep = query.sweep.take()?;
        if sweep.is_exhaustive() {
            return Some(try_all(query, *sweep));
        }
        let clock = query.clock().clone().with_at_least(query.timeout() / 4);
        for round in 0..N_LATE_ROUNDS {
            if clock.is_over() {
                return None;
            }
            let seed = (query.key() as u64).wrapping_add(round + 1);
            if let Some(found) = sweep.sample(seed, MAX_SAMPLING_LATE, MAX_SAMPLED_LATE) {
                return Some(completed(query, &found));
            }
        }
        if !sweep.is_worth_it_late() {
            return None;
        }
        // A float between 1 and 4 has 16 million values: more than a byte, and less work than a square root as gates.
        if is_about_floats(query) {
            return Some(try_all(query, *sweep));
        }
        match sweep.run(&query.clock().share(1, SHARE_LATE)) {
            Swept::Found(found) => Some(completed(query, &found)),
            Swept::Nothing => Some(Said::Unsat(None)),
            Swept::OutOfTime => None,
        }
    }
}

fn is_about_floats(query: &Query) -> bool {
    query.conjunction().iter().any(|&condition| query.terms.has_floats(condition))
}

fn try_all(query: &Query, sweep: Sweep) -> Said {
    match sweep.run(query.clock()) {
        Swept::Found(found) => completed(query, &found),
        Swept::Nothing => Said::Unsat(None),
        Swept::OutOfTime => Said::Unknown(Why::Timeout),
    }
}

impl Values {
    /// The question with some constraints, whose symbols are given, too. `None` where there are too many symbols, or where the conditions are too large or too wide.
    pub(crate) fn plan<'c>(
        &mut self,
        query: &Query,
        domains: &mut Domains,
        symbols: Vec<SymbolId>,
        constraints: impl FnOnce() -> &'c [TermId],
    ) -> Option<Sweep> {
        let terms = query.terms;
        (symbols.len() <= MAX_SYMBOLS).then_some(())?;
        let mut possible: Vec<Possible> =
            symbols.into_iter().map(|symbol| Possible { symbol, domain: None, reasons: Vec::new(), used: 0 }).collect();
        let mut conditions = Vec::new();
        let mut sort = |condition: TermId| {
            if !narrow(terms, domains, &mut possible, condition) {
                conditions.push(condition);
            }
        };
        conjuncts(terms, query.question, 64).into_iter().for_each(&mut sort);
        constraints().iter().copied().for_each(&mut sort);
        conditions.sort_unstable();
        conditions.dedup();
        conditions.iter().for_each(|&condition| divide(terms, &mut possible, condition));
        self.filter(terms, &mut possible, &mut conditions);
        for &condition in &conditions {
            self.note_used(terms, condition, &mut possible)?;
        }
        Sweep::new(terms, domains, Lanes::new(terms, &conditions)?, &possible, query.current)
    }

    /// Takes the conditions about one symbol alone out, where few values are left to be tried under them.
    fn filter(&mut self, terms: &Terms, possible: &mut [Possible], conditions: &mut Vec<TermId>) {
        if possible.iter().all(|possible| terms.symbol_width(possible.symbol) <= Graphs::MAX_WIDTH) {
            return;
        }
        let n_values = |possible: &Possible| match possible.domain.as_deref() {
            Some(Domain::Ranges(ranges)) => n_in(ranges),
            Some(Domain::Bytes(set)) => set.iter().map(|part| u64::from(part.count_ones())).sum(),
            None => 1u64.checked_shl(terms.symbol_width(possible.symbol)).unwrap_or(u64::MAX),
        };
        if possible.iter().fold(1, |all: u64, one| all.saturating_mul(n_values(one))) < MIN_FILTERED {
            return;
        }
        for possible in possible.iter_mut() {
            let Some(Domain::Ranges(ranges)) = possible.domain.as_deref() else { continue };
            let is_own = |t: &TermId| terms.symbols(*t) == [possible.symbol];
            let own: Vec<TermId> = conditions.iter().copied().filter(is_own).collect();
            if own.is_empty() || own.len() == conditions.len() || n_in(ranges) > MAX_FILTERED {
                continue;
            }
            let key: Vec<TermId> = possible.reasons.iter().chain(&own).copied().collect();
            let left = match self.filtered.get(&key) {
                Some(left) => Rc::clone(left),
                None => {
                    let Some(left) = allowed_by(terms, &own, ranges) else { continue };
                    if self.filtered.len() >= MAX_REMEMBERED {
                        self.filtered.clear();
                    }
                    let left = Rc::new(Domain::Ranges(left));
                    self.filtered.insert(key, Rc::clone(&left));
                    left
                }
            };
            conditions.retain(|t| !is_own(t));
            possible.domain = Some(left);
        }
    }

    /// Adds the bits that a condition looks at; `None` when it is too large.
    fn note_used(&mut self, terms: &Terms, condition: TermId, possible: &mut [Possible]) -> Option<()> {
        let used = self.used.entry(condition).or_insert_with(|| used_bits(terms, condition).map(Into::into));
        for &(symbol, bits) in used.as_ref()?.iter() {
            let at = possible.binary_search_by_key(&symbol, |possible| possible.symbol).ok()?;
            possible[at].used |= bits;
        }
        Some(())
    }
}

impl Choices {
    fn new(terms: &Terms, domains: &mut Domains, possible: &Possible, inputs: &[TermId], now: u64) -> Option<Choices> {
        let symbol = possible.symbol;
        let near = possible.domain.as_deref().and_then(|domain| pick(domain, now)).unwrap_or(now);
        let values = match possible.domain.as_deref() {
            _ if terms.symbol_width(symbol) <= Graphs::MAX_WIDTH => {
                let all = || (0..1 << terms.symbol_width(symbol)).collect();
                let values = possible.domain.as_deref().map_or_else(all, values_of);
                Eligible::Classes(classes(terms, domains, values, inputs, near)?)
            }
            Some(Domain::Ranges(ranges)) => Eligible::Ranges(ranges.clone()),
            _ => Eligible::Bits(possible.used),
        };
        Some(Choices { symbol, now: near, values })
    }

    fn n_values(&self) -> u64 {
        match &self.values {
            Eligible::Classes(classes) => classes.len() as u64,
            Eligible::Ranges(ranges) => n_in(ranges),
            Eligible::Bits(bits) => 1u64.checked_shl(bits.count_ones()).unwrap_or(u64::MAX),
        }
    }

    /// The first of all values. There is one.
    fn first(&self) -> Digit {
        let pick = match &self.values {
            Eligible::Classes(_) => Pick::Class(0),
            Eligible::Ranges(ranges) => Pick::Value(ranges[0].0),
            Eligible::Bits(bits) => Pick::Value(self.now & !bits),
        };
        Digit { pick, range: 0 }
    }

    /// The one after it; `None` after the last one.
    fn after(&self, Digit { pick, range }: Digit) -> Option<Digit> {
        let (pick, range) = match (pick, &self.values) {
            (Pick::Class(nth), Eligible::Classes(classes)) => {
                ((nth + 1 < classes.len()).then_some(Pick::Class(nth + 1))?, range)
            }
            (Pick::Value(value), Eligible::Ranges(ranges)) => match value < ranges[range].1 {
                true => (Pick::Value(value + 1), range),
                false => (Pick::Value(ranges.get(range + 1)?.0), range + 1),
            },
            (Pick::Value(value), Eligible::Bits(bits)) => {
                // Counts within the bits: the carry runs through those that are not among them.
                let chosen = (value | !bits).wrapping_add(1) & bits;
                ((chosen != 0).then_some(Pick::Value(self.now & !bits | chosen))?, range)
            }
            _ => unreachable!("only classes are picked by number"),
        };
        Some(Digit { pick, range })
    }

    fn nearest(&self) -> Pick {
        match &self.values {
            Eligible::Classes(_) => Pick::Class(0),
            _ => Pick::Value(self.now),
        }
    }

    fn some(&self, dice: &mut Dice) -> Pick {
        match &self.values {
            Eligible::Classes(classes) => Pick::Class(dice.below(classes.len() as u64) as usize),
            Eligible::Ranges(ranges) => {
                let (lo, hi) = ranges[dice.below(ranges.len() as u64) as usize];
                Pick::Value(match (hi - lo).checked_add(1) {
                    Some(n) => lo + dice.below(n),
                    None => dice.any(),
                })
            }
            Eligible::Bits(bits) => {
                let value = match dice.below(4) {
                    0 => dice.below(16),
                    1 => self.now.wrapping_add(dice.below(16)).wrapping_sub(8),
                    _ => dice.any(),
                };
                Pick::Value(self.now & !bits | value & bits)
            }
        }
    }

    /// What the inputs over the symbol are when this is picked.
    fn inputs<'a>(&'a self, pick: &'a Pick) -> &'a [u64] {
        match (pick, &self.values) {
            (Pick::Class(nth), Eligible::Classes(classes)) => &classes[*nth].inputs,
            (Pick::Class(_), _) => unreachable!("only classes are picked by number"),
            (Pick::Value(value), _) => std::slice::from_ref(value),
        }
    }

    fn value(&self, pick: Pick) -> u64 {
        match (pick, &self.values) {
            (Pick::Class(nth), Eligible::Classes(classes)) => classes[nth].value,
            (Pick::Class(_), _) => unreachable!("only classes are picked by number"),
            (Pick::Value(value), _) => value,
        }
    }
}

/// Where counting through the values of a symbol has come to.
#[derive(Clone, Copy)]
struct Digit {
    pick: Pick,
    /// In which of its ranges, where there are some.
    range: usize,
}

/// One value of many.
#[derive(Clone, Copy)]
enum Pick {
    Class(usize),
    /// Of a symbol that is itself the input.
    Value(u64),
}

/// Of the values of a symbol one for each class of those that all these terms take for the same, that of `near` first. `None`
/// where it is not known what the terms are.
fn classes(
    terms: &Terms,
    domains: &mut Domains,
    values: Vec<u64>,
    inputs: &[TermId],
    near: u64,
) -> Option<Vec<Choice>> {
    let graphs: Vec<Graph> = inputs.iter().map(|&input| domains.graph(terms, input)).collect::<Option<_>>()?;
    let inputs_at = |value: u64| graphs.iter().map(|graph| graph[value as usize] as u64).collect();
    let mut seen = FxHashSet::default();
    let near_first = values.iter().copied().filter(|&value| value == near).chain(values.iter().copied());
    let choices = near_first.map(|value| Choice { value, inputs: inputs_at(value) });
    Some(choices.filter(|choice| seen.insert(choice.inputs.clone())).collect())
}

impl Sweep {
    fn new(
        terms: &Terms,
        domains: &mut Domains,
        lanes: Lanes,
        possible: &[Possible],
        current: &Assignment,
    ) -> Option<Sweep> {
        let inputs_of = |symbol: SymbolId| -> Vec<TermId> {
            lanes.inputs().iter().copied().filter(|&input| terms.symbols(input) == [symbol]).collect()
        };
        let (mut swept, mut others, mut n_inputs) = (Vec::new(), Vec::new(), 1u64);
        for possible in possible {
            let now = current.get(possible.symbol);
            let inputs = inputs_of(possible.symbol);
            if !inputs.is_empty() {
                let choices = Choices::new(terms, domains, possible, &inputs, now)?;
                n_inputs = n_inputs.saturating_mul(choices.n_values());
                swept.push(choices);
            } else if let Some(domain) = &possible.domain {
                match pick(domain, now) {
                    Some(value) => others.push((possible.symbol, value)),
                    None => n_inputs = 0,
                }
            }
        }
        let place = |input: &TermId| swept.iter().position(|choices| terms.symbols(*input) == [choices.symbol]);
        let symbol_of = lanes.inputs().iter().map(place).collect::<Option<_>>()?;
        Some(Sweep { lanes, symbol_of, swept, n_inputs, others })
    }

    /// Whether all inputs can be tried, so that finding none says that there is none.
    pub fn is_exhaustive(&self) -> bool {
        self.n_inputs <= MAX_INPUTS
    }

    /// Whether all inputs can be tried where nothing else found an answer quickly.
    pub fn is_worth_it_late(&self) -> bool {
        self.n_inputs <= MAX_INPUTS_LATE && self.cost() <= MAX_COST_LATE
    }

    /// Steps over one block: about 50 ns each.
    pub fn cost(&self) -> u64 {
        let n_blocks = self.n_inputs.div_ceil(N_LANES as u64);
        n_blocks.saturating_mul(self.block_cost())
    }

    fn block_cost(&self) -> u64 {
        (self.lanes.n_steps() + 2 * self.swept.len()) as u64
    }

    /// Up to which cost trying all inputs is likely to be quicker than gates.
    pub fn gate_work(&self) -> u64 {
        self.lanes.gate_work()
    }

    /// An input that satisfies everything, of some that are tried; `None` says nothing.
    pub fn sample(&mut self, seed: u64, max_cost: u64, max_blocks: u64) -> Option<Vec<(SymbolId, u64)>> {
        let mut dice = Dice::new(seed);
        let n_symbols = self.swept.len();
        if self.swept.iter().any(|choices| choices.n_values() == 0) {
            return None;
        }
        let mut picks: Vec<Pick> = Vec::with_capacity(N_LANES * n_symbols);
        for _ in 0..(max_cost / self.block_cost()).min(max_blocks) {
            picks.clear();
            for lane in 0..N_LANES {
                // Near the input that is known to satisfy the constraints, or anywhere.
                picks.extend(self.swept.iter().map(|choices| match lane % 2 == 0 && dice.below(4) > 0 {
                    true => choices.nearest(),
                    false => choices.some(&mut dice),
                }));
                let Sweep { lanes, symbol_of, swept, .. } = self;
                let here = &picks[lane * n_symbols..];
                write(lanes, symbol_of, lane, |symbol| swept[symbol].inputs(&here[symbol]));
            }
            let holds = self.lanes.run();
            if holds != 0 {
                let here = &picks[holds.trailing_zeros() as usize * n_symbols..];
                return Some(self.input(|symbol| self.swept[symbol].value(here[symbol])));
            }
        }
        None
    }

    /// The first input that satisfies everything.
    pub fn run(self, clock: &Clock) -> Swept {
        let block_cost = self.block_cost();
        let Sweep { mut lanes, symbol_of, swept, n_inputs, others } = self;
        let mut n_left = n_inputs;
        if n_left == 0 {
            return Swept::Nothing;
        }
        let mut digits: Vec<Digit> = swept.iter().map(Choices::first).collect();
        let mut cost = 0;
        while n_left > 0 {
            let first = digits.clone();
            for lane in 0..N_LANES {
                // Lanes beyond the last input start again from the first one.
                write(&mut lanes, &symbol_of, lane, |symbol| swept[symbol].inputs(&digits[symbol].pick));
                count_up(&mut digits, &swept);
            }
            let holds = lanes.run();
            if holds != 0 {
                digits = first;
                (0..holds.trailing_zeros()).for_each(|_| count_up(&mut digits, &swept));
                let found =
                    swept.iter().zip(digits).map(|(choices, digit)| (choices.symbol, choices.value(digit.pick)));
                return Swept::Found(others.into_iter().chain(found).collect());
            }
            n_left = n_left.saturating_sub(N_LANES as u64);
            cost += block_cost;
            if cost > COST_OF_A_LOOK {
                cost = 0;
                if clock.is_over() {
                    return Swept::OutOfTime;
                }
            }
        }
        Swept::Nothing
    }

    fn input(&self, value: impl Fn(usize) -> u64) -> Vec<(SymbolId, u64)> {
        let swept = self.swept.iter().enumerate().map(|(idx, choices)| (choices.symbol, value(idx)));
        self.others.iter().copied().chain(swept).collect()
    }
}

/// Writes one input into the lanes: for each symbol what the terms over it are.
fn write<'a>(lanes: &mut Lanes, symbol_of: &[usize], lane: usize, values: impl Fn(usize) -> &'a [u64]) {
    let mut n_written = [0; MAX_SYMBOLS];
    for (nth, &symbol) in symbol_of.iter().enumerate() {
        lanes.values_mut(nth)[lane] = values(symbol)[n_written[symbol]];
        n_written[symbol] += 1;
    }
}

fn count_up(digits: &mut [Digit], choices: &[Choices]) {
    for (digit, choices) in digits.iter_mut().zip(choices) {
        match choices.after(*digit) {
            Some(next) => {
                *digit = next;
                return;
            }
            None => *digit = choices.first(),
        }
    }
}

/// Notes what an equation of a product allows, which stays a condition.
fn divide(terms: &Terms, possible: &mut [Possible], condition: TermId) {
    let most = |symbol: SymbolId| {
        let known = possible.iter().find(|possible| possible.symbol == symbol);
        match known.and_then(|possible| possible.domain.as_deref()) {
            Some(Domain::Ranges(ranges)) => ranges.last().map_or(0, |&(_, hi)| hi),
            _ => fold::mask(terms.symbol_width(symbol)) as u64,
        }
    };
    for (symbol, values) in divisors::left_by(terms, condition, most).into_iter().flatten() {
        let Some(possible) = possible.iter_mut().find(|possible| possible.symbol == symbol) else { continue };
        if terms.symbol_width(symbol) <= Graphs::MAX_WIDTH {
            continue; // few enough
        }
        let allowed = Domain::Ranges(values);
        possible.reasons.push(condition);
        possible.domain = Some(Rc::new(match &possible.domain {
            None => allowed,
            Some(domain) => intersect(domain, &allowed),
        }));
    }
}

/// Notes what a condition about one symbol allows; false when it is not of that kind.
fn narrow(terms: &Terms, domains: &mut Domains, possible: &mut [Possible], condition: TermId) -> bool {
    let &[symbol] = terms.symbols(condition) else { return false };
    let Some(allowed) = domains.of_term(terms, condition) else { return false };
    let Some(possible) = possible.iter_mut().find(|possible| possible.symbol == symbol) else { return false };
    possible.reasons.push(condition);
    possible.domain = Some(match &possible.domain {
        None => allowed,
        Some(domain) => Rc::new(intersect(domain, &allowed)),
    });
    true
}

/// Which values of the only symbol of these conditions they allow, of those in the ranges. `None` where they are too large.
fn allowed_by(terms: &Terms, conditions: &[TermId], ranges: &Ranges) -> Option<Ranges> {
    let mut lanes = Lanes::new(terms, conditions)?;
    let graphs: Vec<TermId> = lanes.inputs().to_vec();
    // Of a wide symbol nothing but itself is put in.
    graphs.iter().all(|&input| matches!(terms.view(input), View::Symbol(_))).then_some(())?;
    let mut values = ranges.iter().flat_map(|&(lo, hi)| lo..=hi).peekable();
    let mut left = Ranges::new();
    while let Some(&first) = values.peek() {
        let block: Vec<u64> = values.by_ref().take(N_LANES).collect();
        for nth in 0..graphs.len() {
            let lanes = lanes.values_mut(nth);
            lanes.fill(first);
            lanes[..block.len()].copy_from_slice(&block);
        }
        let holds = lanes.run();
        for (_, &value) in block.iter().enumerate().filter(|(lane, _)| holds >> lane & 1 == 1) {
            match left.last_mut() {
                Some((_, hi)) if *hi + 1 == value => *hi = value,
                _ => left.push((value, value)),
            }
        }
    }
    Some(left)
}
