//! The bit-blaster: terms as gates over one long-lived SAT solver.
//!
//! Terms are hash-consed, so each is translated once for the whole campaign, and a constraint is a literal that is assumed.
//! What learning found out about one path serves all others. The context is dropped when it grows too large.

mod bits;
mod gates;
mod order;
mod sat;

use crate::answer::Why;
use crate::clock::Clock;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::patience::Patience;
use crate::query::{Query, Tools};
use gates::Gates;
use rustc_hash::FxHashMap;
use sat::{Limits, Lit, Outcome};
use term::{Assignment, SymbolId, TermId, Terms};

/// What the bit-blaster found.
pub enum Verdict {
    /// A value for each symbol that mattered.
    Sat(Vec<(SymbolId, u64)>),
    /// Constraints that contradict each other, among those asked.
    Unsat(Vec<TermId>),
    Unknown(Why),
}

/// The formula so far, and where each term's bits are in it.
pub struct Blaster {
    gates: Gates,
    /// Start of each term's literals in `pool`, lowest bit first; `UNKNOWN` when not translated.
    starts: Vec<u32>,
    pool: Vec<Lit>,
    symbols: Vec<SymbolId>,
    max_size: usize,
    /// How often the context was dropped for its size.
    pub n_resets: u64,
}

const UNKNOWN: u32 = u32::MAX;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Blaster::new()))
}

impl Answers for Blaster {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        let budget = match &query.sweep {
            // About as long as trying all inputs will take.
            Some(sweep) => (100 + sweep.cost() / 200).min(query.conflict_budget()),
            None if query.has_last_resort || query.patience == Patience::Short => query.conflict_budget(),
            // With nothing behind it, it may use the whole time.
            None => u64::MAX,
        };
        // The SMT solver has its share of the time, too.
        let clock = if query.has_last_resort { query.clock().half() } else { query.clock().clone() };
        let verdict = self.solve(query.terms, &query.conjunction(), query.current, budget, &clock);
        Some(match verdict {
            Verdict::Sat(values) => Said::Sat(values),
            Verdict::Unsat(core) => Said::Unsat(Some(core_with_question(core, query))),
            Verdict::Unknown(why) => Said::Unknown(why),
        })
    }

    fn cost(&self) -> Cost {
        Cost::Search
    }
}

/// The core in the cache's terms: constraints of the path and the question as a whole.
fn core_with_question(core: Vec<TermId>, query: &Query) -> Vec<TermId> {
    let constraints = query.constraints();
    let mut core: Vec<TermId> = core.into_iter().filter(|t| constraints.binary_search(t).is_ok()).collect();
    core.push(query.question);
    core.sort_unstable();
    core.dedup();
    core
}

impl Blaster {
    pub fn new() -> Blaster {
        Blaster {
            gates: Gates::new(),
            starts: Vec::new(),
            pool: Vec::new(),
            symbols: Vec::new(),
            max_size: 24 << 20,
            n_resets: 0,
        }
    }

    /// Whether all these one-bit terms can hold together. `near` is an input to stay close to.
    pub fn solve(
        &mut self,
        terms: &Terms,
        constraints: &[TermId],
        near: &Assignment,
        n_conflicts: u64,
        clock: &Clock,
    ) -> Verdict {
        if self.gates.sat.size() > self.max_size {
            *self = Blaster { n_resets: self.n_resets + 1, ..Blaster::new() };
        }
        let mut assumptions = Vec::with_capacity(constraints.len());
        for &constraint in constraints {
            if !self.translate(terms, constraint, clock) {
                return Verdict::Unknown(Why::TooLarge);
            }
            assumptions.push(self.bits(terms, constraint)[0]);
        }
        if let Some(at) = assumptions.iter().position(|&lit| lit == self.gates.fls()) {
            return Verdict::Unsat(vec![constraints[at]]);
        }
        let scope = self.gates.cone(&assumptions);
        self.prefer_input(terms, constraints, near);
        match self.gates.sat.solve(&assumptions, &scope, Limits { conflicts: n_conflicts, clock: Some(clock) }) {
            Outcome::Sat => Verdict::Sat(self.model(terms, near)),
            Outcome::Unsat(core) => {
                let by_lit: FxHashMap<Lit, TermId> =
                    assumptions.iter().copied().zip(constraints.iter().copied()).collect();
                Verdict::Unsat(core.iter().filter_map(|lit| by_lit.get(lit).copied()).collect())
            }
            Outcome::OutOfBudget => Verdict::Unknown(Why::Budget),
            Outcome::OutOfTime => Verdict::Unknown(Why::Timeout),
        }
    }

    fn prefer_input(&mut self, terms: &Terms, constraints: &[TermId], near: &Assignment) {
        self.symbols.clear();
        for &constraint in constraints {
            self.symbols.extend_from_slice(terms.symbols(constraint));
        }
        self.symbols.sort_unstable();
        self.symbols.dedup();
        for i in 0..self.symbols.len() {
            let symbol = self.symbols[i];
            let value = near.get(symbol);
            let start = self.starts.get(terms.symbol_term(symbol).index()).copied().unwrap_or(UNKNOWN);
            if start == UNKNOWN {
                continue; // its bits cancelled out on the way
            }
            for bit in 0..terms.symbol_width(symbol) {
                let var = self.pool[(start + bit) as usize].var();
                self.gates.sat.prefer(var, value >> bit & 1 == 1);
            }
        }
    }

    fn model(&self, terms: &Terms, near: &Assignment) -> Vec<(SymbolId, u64)> {
        let value_of = |symbol: SymbolId| {
            let start = self.starts.get(terms.symbol_term(symbol).index()).copied().unwrap_or(UNKNOWN);
            let mut value = near.get(symbol);
            if start == UNKNOWN {
                return value;
            }
            for bit in 0..terms.symbol_width(symbol) {
                if let Some(set) = self.gates.sat.value(self.pool[(start + bit) as usize]) {
                    value = value & !(1 << bit) | u64::from(set) << bit;
                }
            }
            value
        };
        self.symbols.iter().map(|&symbol| (symbol, value_of(symbol))).collect()
    }

    fn bits(&self, terms: &Terms, t: TermId) -> &[Lit] {
        let start = self.starts[t.index()] as usize;
        &self.pool[start..start + terms.width(t) as usize]
    }

    fn is_translated(&self, t: TermId) -> bool {
        self.starts[t.index()] != UNKNOWN
    }
}
