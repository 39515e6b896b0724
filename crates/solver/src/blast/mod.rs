//! The bit-blaster: terms as gates over one long-lived SAT solver.
//!
//! Terms are hash-consed, so each is translated once for the whole campaign, and a constraint is a literal that is assumed.
//! What learning found out about one path serves all others. The context is dropped when it grows too large.
//!
//! What that solver does not answer within a few thousand conflicts is hard. Then CaDiCaL gets the gates that the question
//! is made of, with all of its constraints as facts, which it simplifies as no solver can that has to serve other questions, too. If its time runs out it is put aside as it is, and
//! goes on from there when the same question is asked again.

mod bits;
mod cadical;
mod float;
mod gates;
#[cfg(test)]
mod meaning;
mod narrow;
mod order;
mod product;
mod sat;

use crate::answer::Why;
use crate::clock::Clock;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::patience::Patience;
use crate::query::{Query, Tools};
use cadical::{Begun, Session, Suspended};
use gates::Gates;
use narrow::{Narrowing, Place, Source};
use rustc_hash::FxHashMap;
use sat::{Limits, Lit, Outcome, Var};
use std::time::Duration;
use term::lower::Circuits;
use term::{Assignment, Eval, SymbolId, TermId, Terms};

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
    narrowing: Narrowing,
    max_size: usize,
    circuits: Circuits,
    /// Whether an operation was translated that may give anything.
    has_gaps: bool,
    /// The question that is being asked, where our own solver did not find it easy.
    begun: Option<Begun>,
    /// Conflicts it was allowed.
    n_tried: u64,
    suspended: Suspended,
    /// How often the context was dropped for its size.
    pub n_resets: u64,
}

const UNKNOWN: u32 = u32::MAX;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Blaster::new()))
}

/// Conflicts after which a question is a hard one.
const EASY: u64 = 2_000;
const EASY_WITH_DICE: u64 = 200;
/// With less time than this the SMT solver has no share of it: it starts from nothing.
const ENOUGH_FOR_TWO: Duration = Duration::from_secs(2);
/// How often constraints come in one by one before all do.
const MAX_ROUNDS: u32 = 8;

/// What is asked, and how far to go.
pub struct Task<'a> {
    terms: &'a Terms,
    /// The constraints of the path, then the question.
    conditions: &'a [TermId],
    /// How many of them are the path's.
    n_of_path: usize,
    /// An input to stay close to. It satisfies the path.
    near: &'a Assignment,
    clock: &'a Clock,
}

/// Who searches.
enum Solver {
    /// Ours, up to so many conflicts.
    Own {
        conflicts: u64,
    },
    Cadical(Begun),
}

impl Answers for Blaster {
    /// Our own solver.
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let conflicts = match &query.sweep {
            // About as long as trying all inputs will take.
            Some(sweep) if sweep.is_exhaustive() => 100 + sweep.cost() / 200,
            // Inputs will be tried at random, which takes less than so many conflicts over large gates.
            Some(_) => EASY_WITH_DICE,
            None => EASY,
        };
        let clock = query.clock().clone();
        let begun = if query.patience == Patience::Short { None } else { self.suspended.take(query.key()) };
        if begun.is_some() {
            self.begun = begun;
            // Inputs were tried at random the first time.
            query.sweep.take_if(|sweep| !sweep.is_exhaustive() && !sweep.is_worth_it_late());
            return None;
        }
        let conflicts = conflicts.min(query.conflict_budget());
        self.n_tried = conflicts;
        self.say(query, tools, &clock, Solver::Own { conflicts })
    }

    /// CaDiCaL, where ours did not find it easy.
    fn answer_late(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let left = query.clock();
        let clock = match query.patience {
            // A solver that starts from nothing needs some time.
            _ if !query.has_last_resort || left.left() < ENOUGH_FOR_TWO => left.clone(),
            Patience::Long { .. } => left.share(1, 2),
            _ => left.share(4, 5),
        };
        // However long the layers before took: what is begun must get on each time.
        let clock = clock.with_at_least(query.timeout() / 4);
        let mut begun = self.begun.take()?;
        if begun.is_new() && self.n_tried < EASY.min(query.conflict_budget()) {
            // The dice did not find it: now ours may go on, with what it learnt.
            let said = self.say(query, tools, &clock, Solver::Own { conflicts: EASY });
            match self.begun.take() {
                Some(still_open) => begun = still_open,
                None => return said,
            }
        }
        self.say(query, tools, &clock, Solver::Cadical(begun))
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
            narrowing: Narrowing::default(),
            max_size: 24 << 20,
            circuits: Circuits::default(),
            has_gaps: false,
            begun: None,
            n_tried: 0,
            suspended: Suspended::default(),
            n_resets: 0,
        }
    }

    /// Begins anew when the formula has grown too large.
    fn make_room(&mut self) {
        if self.gates.sat.size() > self.max_size {
            let circuits = std::mem::take(&mut self.circuits);
            *self = Blaster { n_resets: self.n_resets + 1, n_tried: self.n_tried, circuits, ..Blaster::new() };
        }
    }

    fn say(&mut self, query: &Query, tools: &mut Tools, clock: &Clock, solver: Solver) -> Option<Said> {
        let task = Task {
            terms: query.terms,
            conditions: &query.conjunction(),
            n_of_path: query.constraints().len(),
            near: query.current,
            clock,
        };
        self.make_room();
        self.narrowing.prepare(query, &mut tools.domains);
        let verdict = self.solve(&task, &mut tools.trial, solver);
        // What is begun and did not come to an end is kept for when the question comes again.
        if let Verdict::Unknown(Why::Timeout) = verdict
            && let Some(begun) = self.begun.take()
        {
            self.suspended.keep(query.key(), begun);
        }
        Some(match verdict {
            Verdict::Sat(values) if self.has_gaps && !query.is_satisfied_by(&mut tools.trial, &values) => {
                Said::Unknown(Why::Floats)
            }
            Verdict::Sat(values) => Said::Sat(values),
            Verdict::Unsat(core) => Said::Unsat(Some(core_with_question(core, query))),
            Verdict::Unknown(why) => Said::Unknown(why),
        })
    }

    /// Whether all conditions can hold together.
    ///
    /// Ours looks at all of them, since that costs it little. CaDiCaL is asked about the question and the constraints over its
    /// symbols first. If they contradict each other that is the answer, and a small reason for it; if not, the constraints that the
    /// input found breaks come in, and so on.
    fn solve(&mut self, task: &Task, eval: &mut Eval, solver: Solver) -> Verdict {
        self.begun = None;
        let (mut chosen, mut session, conflicts) = match solver {
            Solver::Own { conflicts } => ((0..task.conditions.len()).collect(), None, conflicts),
            Solver::Cadical(begun) => (begun.chosen, Some(begun.session), 0),
        };
        let mut n_rounds = 0;
        loop {
            let assumptions = match self.assumptions(task, &chosen) {
                Ok(assumptions) => assumptions,
                Err(verdict) => return verdict,
            };
            let scope = self.gates.cone(&assumptions);
            let outcome = match &mut session {
                None => self.search(task, &assumptions, &scope, conflicts),
                Some(session) => {
                    session.assert(&self.gates, &scope, &assumptions);
                    session.solve(task.clock, &assumptions)
                }
            };
            match outcome {
                Outcome::Sat => {}
                Outcome::Unsat(core) => {
                    let core = conditions_of(task, &chosen, &assumptions, &core);
                    return Verdict::Unsat(self.narrowing.with_reasons(task.terms, core));
                }
                Outcome::OutOfTime | Outcome::OutOfBudget => {
                    let why = if outcome == Outcome::OutOfTime { Why::Timeout } else { Why::Budget };
                    self.begun = Some(match session {
                        Some(session) => Begun { session, chosen },
                        None => Begun { session: Session::new(), chosen: first_conditions(task) },
                    });
                    return Verdict::Unknown(why);
                }
            }
            let values = self.model(task, &chosen, session.as_mut());
            let broken = broken_by(task, &chosen, &values, eval);
            if broken.is_empty() {
                return Verdict::Sat(values);
            }
            n_rounds += 1;
            match n_rounds < MAX_ROUNDS {
                true => chosen.extend(broken),
                false => chosen = (0..task.conditions.len()).collect(),
            }
        }
    }

    /// The literals of the chosen conditions; `Err` where that is the end of it.
    fn assumptions(&mut self, task: &Task, chosen: &[usize]) -> Result<Vec<Lit>, Verdict> {
        let mut assumptions = Vec::with_capacity(chosen.len());
        for &at in chosen {
            let condition = task.conditions[at];
            if !self.translate(task.terms, condition, task.clock) {
                return Err(Verdict::Unknown(Why::TooLarge));
            }
            let lit = self.bits(task.terms, condition)[0];
            if lit == self.gates.fls() {
                return Err(Verdict::Unsat(self.narrowing.with_reasons(task.terms, vec![condition])));
            }
            assumptions.push(lit);
        }
        Ok(assumptions)
    }

    /// Our own solver.
    fn search(&mut self, task: &Task, assumptions: &[Lit], scope: &[Var], conflicts: u64) -> Outcome {
        let conditions = task.conditions.iter();
        self.prefer_input(task, &symbols_of(task.terms, conditions.copied()));
        let limits = Limits { conflicts, clock: Some(task.clock) };
        self.gates.sat.solve(assumptions, scope, limits)
    }

    /// Where a symbol's bits are; `None` when they cancelled out on the way.
    fn start_of(&self, terms: &Terms, symbol: SymbolId) -> Option<u32> {
        self.starts.get(terms.symbol_term(symbol).index()).copied().filter(|&start| start != UNKNOWN)
    }

    fn prefer_input(&mut self, task: &Task, symbols: &[SymbolId]) {
        for &symbol in symbols {
            let Some(start) = self.start_of(task.terms, symbol) else { continue };
            let value = task.near.get(symbol);
            for bit in 0..task.terms.symbol_width(symbol) {
                let var = self.pool[(start + bit) as usize].var();
                self.gates.sat.prefer(var, value >> bit & 1 == 1);
            }
        }
    }

    /// What the symbols of the chosen conditions are in the session's model, or in that of our own solver.
    fn model(&self, task: &Task, chosen: &[usize], mut session: Option<&mut Session>) -> Vec<(SymbolId, u64)> {
        let symbols = symbols_of(task.terms, chosen.iter().map(|&at| task.conditions[at]));
        let mut value_of = |symbol: SymbolId| {
            let mut value = task.near.get(symbol);
            let Some(start) = self.start_of(task.terms, symbol) else { return value };
            let mut set_of = |bit: u32| {
                let lit = self.pool[(start + bit) as usize];
                match &mut session {
                    Some(session) => session.value(lit),
                    None => self.gates.sat.value(lit),
                }
            };
            let kept = self.narrowing.kept(symbol);
            for bit in 0..task.terms.symbol_width(symbol) {
                let set = match kept.map_or(Source::Bit(bit), |kept| kept.source(bit)) {
                    Source::Bit(own) => set_of(own),
                    Source::Constant(set) => Some(set),
                };
                if let Some(set) = set {
                    value = value & !(1 << bit) | u64::from(set) << bit;
                }
            }
            value
        };
        symbols.into_iter().map(|symbol| (symbol, value_of(symbol))).collect()
    }

    /// Of a term that is translated.
    fn bits(&self, terms: &Terms, t: TermId) -> &[Lit] {
        let start = self.narrowing.start(t).unwrap_or(self.starts[t.index()]) as usize;
        &self.pool[start..start + terms.width(t) as usize]
    }

    fn is_translated(&mut self, terms: &Terms, t: TermId) -> bool {
        match self.narrowing.place(terms, t) {
            Place::AsEver => self.starts[t.index()] != UNKNOWN,
            Place::Here => true,
            Place::Nowhere => false,
        }
    }
}

fn symbols_of(terms: &Terms, conditions: impl Iterator<Item = TermId>) -> Vec<SymbolId> {
    let mut symbols: Vec<SymbolId> = conditions.flat_map(|t| terms.symbols(t).iter().copied()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// The question, and the constraints that speak of nothing else.
fn first_conditions(task: &Task) -> Vec<usize> {
    let asked = symbols_of(task.terms, task.conditions[task.n_of_path..].iter().copied());
    let is_about_asked = |t: TermId| task.terms.symbols(t).iter().all(|symbol| asked.binary_search(symbol).is_ok());
    (0..task.conditions.len()).filter(|&at| at >= task.n_of_path || is_about_asked(task.conditions[at])).collect()
}

/// The constraints left out that do not hold under these values.
fn broken_by(task: &Task, chosen: &[usize], values: &[(SymbolId, u64)], eval: &mut Eval) -> Vec<usize> {
    if chosen.len() == task.conditions.len() {
        return Vec::new();
    }
    let mut input = task.near.clone();
    values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
    let is_left_out = |at: &usize| !chosen.contains(at);
    let is_broken = |at: &usize| !eval.holds(task.terms, &input, task.conditions[*at]);
    (0..task.conditions.len()).filter(is_left_out).filter(is_broken).collect()
}

/// The conditions of these literals.
fn conditions_of(task: &Task, chosen: &[usize], assumptions: &[Lit], core: &[Lit]) -> Vec<TermId> {
    let by_lit: FxHashMap<Lit, usize> = assumptions.iter().copied().zip(chosen.iter().copied()).collect();
    core.iter().filter_map(|lit| by_lit.get(lit)).map(|&at| task.conditions[at]).collect()
}
