//! All values tried: exact answers where few inputs are possible at all.
//!
//! The symbols that matter to a question often have few values between them: an index below the length of a table, two
//! bytes, four digits. Then evaluating the question and the constraints under each of them decides it, whatever is in
//! them; a lookup in a large table or a product costs no more than a sum. What each symbol may be on its own is known from
//! the domains, so only the remaining conditions are evaluated, for a block of inputs at a time.
//!
//! Where there are too many inputs, some are tried at random: which of a hundred lists a name hashes to is hard to say for a
//! solver, while every hundredth name is in the one that is wanted.

use crate::domain::{Domain, Domains, intersect, n_values, pick, values_of};
use crate::path::{Relevant, conjuncts};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Assignment, Lanes, N_LANES, SymbolId, TermId, Terms, used_bits};

/// Inputs that are tried at most.
pub const MAX_INPUTS: u64 = 1 << 20;
/// More symbols than this nearly always have too many values between them.
const MAX_SYMBOLS: usize = 16;
/// Steps over one block that trying inputs at random may take.
const MAX_SAMPLING: u64 = 16_000;
/// Blocks of inputs tried at random.
const MAX_SAMPLED: u64 = 32;

/// Symbols and the bits of them that matter.
type Used = Rc<[(SymbolId, u64)]>;

/// The layer: remembers which bits of its symbols each condition looks at.
#[derive(Default)]
pub struct Values {
    used: FxHashMap<TermId, Option<Used>>,
}

/// A question made ready: what to evaluate, and under which inputs.
pub struct Sweep {
    lanes: Lanes,
    /// The symbols of the lanes.
    swept: Vec<Possible>,
    /// `None` where there are too many to try them all.
    n_inputs: Option<u64>,
    /// Gives the bits that nobody looks at.
    current: Assignment,
    /// For each symbol that no remaining condition looks at, a value that its own constraints allow.
    others: Vec<(SymbolId, u64)>,
}

/// What is known about a symbol.
struct Possible {
    symbol: SymbolId,
    /// Its values, as far as conditions about it alone tell.
    domain: Option<Rc<Domain>>,
    /// The bits that the other conditions look at.
    used: u64,
}

impl Values {
    /// `None` where there are too many symbols, or where the conditions are too large or too wide.
    pub fn plan(
        &mut self,
        terms: &Terms,
        domains: &mut Domains,
        relevant: &Relevant,
        question: TermId,
        current: &Assignment,
    ) -> Option<Sweep> {
        let symbols = relevant.symbols(terms, question);
        (symbols.len() <= MAX_SYMBOLS).then_some(())?;
        let mut possible: Vec<Possible> =
            symbols.into_iter().map(|symbol| Possible { symbol, domain: None, used: 0 }).collect();
        let mut conditions = Vec::new();
        let mut sort = |condition: TermId| {
            if !narrow(terms, domains, &mut possible, condition) {
                conditions.push(condition);
            }
        };
        conjuncts(terms, question, 64).into_iter().for_each(&mut sort);
        relevant.all(|constraint| {
            sort(constraint);
            true
        });
        conditions.sort_unstable();
        conditions.dedup();
        for &condition in &conditions {
            self.note_used(terms, condition, &mut possible)?;
        }
        Some(Sweep::new(Lanes::new(terms, &conditions)?, possible, current))
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

impl Possible {
    /// How many values have to be tried.
    fn n_values(&self) -> u64 {
        match &self.domain {
            _ if self.used == 0 => 1,
            Some(domain) => n_values(domain),
            None => 1u64.checked_shl(self.used.count_ones()).unwrap_or(u64::MAX),
        }
    }

    fn values(&self, current: &Assignment) -> Vec<u64> {
        match &self.domain {
            Some(domain) => values_of(domain),
            None => spread(self.used, current.get(self.symbol)),
        }
    }
}

impl Sweep {
    fn new(lanes: Lanes, possible: Vec<Possible>, current: &Assignment) -> Sweep {
        let mut sweep =
            Sweep { lanes, swept: Vec::new(), n_inputs: None, current: current.clone(), others: Vec::new() };
        let mut n_inputs = 1u64;
        for possible in possible {
            let now = current.get(possible.symbol);
            if sweep.lanes.symbols().contains(&possible.symbol) {
                n_inputs = n_inputs.saturating_mul(possible.n_values());
                sweep.swept.push(possible);
            } else if let Some(domain) = &possible.domain {
                match pick(domain, now) {
                    Some(value) => sweep.others.push((possible.symbol, value)),
                    None => n_inputs = 0,
                }
            }
        }
        sweep.n_inputs = (n_inputs <= MAX_INPUTS).then_some(n_inputs);
        sweep
    }

    /// Whether all inputs can be tried, so that finding none says that there is none.
    pub fn is_exhaustive(&self) -> bool {
        self.n_inputs.is_some()
    }

    /// Steps over one block: about 50 ns each.
    pub fn cost(&self) -> u64 {
        let n_blocks = self.n_inputs.unwrap_or(u64::MAX).div_ceil(N_LANES as u64);
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
    pub fn sample(mut self, seed: u64) -> Option<Vec<(SymbolId, u64)>> {
        let mut dice = Dice(seed);
        let ways: Vec<Ways> = self.lanes.symbols().iter().map(|&symbol| self.ways(symbol)).collect();
        for _ in 0..(MAX_SAMPLING / self.block_cost()).min(MAX_SAMPLED) {
            for lane in 0..N_LANES {
                for (nth, ways) in ways.iter().enumerate() {
                    // Near the input that is known to satisfy the constraints, or anywhere.
                    let stays = lane % 2 == 0 && dice.below(4) > 0;
                    self.lanes.values_mut(nth)[lane] = if stays { ways.now } else { ways.choose(&mut dice) };
                }
            }
            let holds = self.lanes.run();
            if holds != 0 {
                return Some(self.input(holds.trailing_zeros() as usize));
            }
        }
        None
    }

    fn ways(&self, symbol: SymbolId) -> Ways {
        let now = self.current.get(symbol);
        let possible = self.swept.iter().find(|possible| possible.symbol == symbol);
        let Some(domain) = possible.and_then(|possible| possible.domain.as_deref()) else {
            return Ways { now, choices: Choices::Bits(possible.map_or(0, |possible| possible.used)) };
        };
        let ranges = match domain {
            Domain::Ranges(ranges) => ranges.clone(),
            Domain::Bytes(_) => values_of(domain).into_iter().map(|value| (value, value)).collect(),
        };
        // The question may exclude what is now.
        Ways { now: pick(domain, now).unwrap_or(now), choices: Choices::Ranges(ranges) }
    }

    /// The first input that satisfies everything.
    pub fn run(mut self) -> Option<Vec<(SymbolId, u64)>> {
        let choices: Vec<Vec<u64>> = self.lanes.symbols().iter().map(|&symbol| self.values(symbol)).collect();
        let mut digits = vec![0usize; choices.len()];
        let mut n_left = self.n_inputs.unwrap_or(0);
        while n_left > 0 {
            for lane in 0..N_LANES {
                // Lanes beyond the last input start again from the first one.
                for (nth, digit) in digits.iter().enumerate() {
                    self.lanes.values_mut(nth)[lane] = choices[nth][*digit];
                }
                count_up(&mut digits, &choices);
            }
            let holds = self.lanes.run();
            if holds != 0 {
                return Some(self.input(holds.trailing_zeros() as usize));
            }
            n_left = n_left.saturating_sub(N_LANES as u64);
        }
        None
    }

    fn values(&self, symbol: SymbolId) -> Vec<u64> {
        let possible = self.swept.iter().find(|possible| possible.symbol == symbol);
        possible.map_or_else(Vec::new, |possible| possible.values(&self.current))
    }

    fn input(mut self, lane: usize) -> Vec<(SymbolId, u64)> {
        let mut input = std::mem::take(&mut self.others);
        for nth in 0..self.lanes.symbols().len() {
            input.push((self.lanes.symbols()[nth], self.lanes.values_mut(nth)[lane]));
        }
        input
    }
}

/// What a symbol can be when inputs are tried at random.
struct Ways {
    /// What it is in the current input, or as near to that as can be.
    now: u64,
    choices: Choices,
}

enum Choices {
    /// One of them, then a value in it.
    Ranges(Vec<(u64, u64)>),
    /// These bits are free.
    Bits(u64),
}

impl Ways {
    fn choose(&self, dice: &mut Dice) -> u64 {
        match &self.choices {
            Choices::Ranges(ranges) if ranges.is_empty() => self.now,
            Choices::Ranges(ranges) => {
                let (lo, hi) = ranges[dice.below(ranges.len() as u64) as usize];
                match (hi - lo).checked_add(1) {
                    Some(n) => lo + dice.below(n),
                    None => dice.next(),
                }
            }
            Choices::Bits(bits) => {
                let value = match dice.below(4) {
                    0 => dice.below(16),
                    1 => self.now.wrapping_add(dice.below(16)).wrapping_sub(8),
                    _ => dice.next(),
                };
                self.now & !bits | value & bits
            }
        }
    }
}

/// A small generator (splitmix64): the same question is answered in the same way everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

fn count_up(digits: &mut [usize], choices: &[Vec<u64>]) {
    for (digit, values) in digits.iter_mut().zip(choices) {
        *digit += 1;
        if *digit < values.len() {
            return;
        }
        *digit = 0;
    }
}

/// Notes what a condition about one symbol allows; false when it is not of that kind.
fn narrow(terms: &Terms, domains: &mut Domains, possible: &mut [Possible], condition: TermId) -> bool {
    let &[symbol] = terms.symbols(condition) else { return false };
    let Some(allowed) = domains.of_term(terms, condition) else { return false };
    let Some(possible) = possible.iter_mut().find(|possible| possible.symbol == symbol) else { return false };
    possible.domain = Some(match &possible.domain {
        None => allowed,
        Some(domain) => Rc::new(intersect(domain, &allowed)),
    });
    true
}

/// All values that differ from `now` in these bits only.
fn spread(bits: u64, now: u64) -> Vec<u64> {
    let mut values = Vec::new();
    let mut chosen = 0u64;
    loop {
        values.push(now & !bits | chosen);
        // Counts within the bits: the carry runs through those that are not among them.
        chosen = (chosen | !bits).wrapping_add(1) & bits;
        if chosen == 0 {
            return values;
        }
    }
}
