//! The stack: each question goes down the layers until one answers.

use crate::answer::{Answer, Completeness, Truth, Why};
use crate::blast::{Blaster, Verdict};
use crate::bounds;
use crate::cache::{Cache, Cached};
use crate::clock::Clock;
use crate::config::{Checking, Config, Independence, Layer};
use crate::counters::Counters;
use crate::domain::{Domains, Found};
use crate::invert;
use crate::path::{PathCondition, Relevant, conjuncts};
use crate::record::Recorder;
use crate::smt::{Backend, Reply, backend};
use crate::values::{Sweep, Swept, Values};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use term::{Assignment, Eval, SymbolId, TermId, Terms};

/// The solver of one worker.
pub struct Stack {
    config: Config,
    counters: Counters,
    /// Under the current input of the state that asks; kept warm from question to question.
    current: Eval,
    /// Under inputs that are only tried.
    trial: Eval,
    domains: Domains,
    values: Values,
    cache: Cache,
    recent: VecDeque<Assignment>,
    blaster: Blaster,
    patience: Patience,
    smt: Option<Box<dyn Backend>>,
    bare: Option<Box<dyn Backend>>,
    recorder: Option<Recorder>,
    /// What was found to be impossible since it was last taken; kept where somebody wants to know.
    refuted: Option<Vec<Refuted>>,
}

/// Whether what is refuted is kept for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    On,
    Off,
}

/// What a path condition was found to exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuted {
    Question(TermId),
    /// That the term has another value than those enumerated.
    OtherValues(TermId),
}

/// How long a question may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// For a question whose answer can wait: only what needs no search.
    None,
    /// For a question whose answer can be done without: only as long as it is easy, and never by the clock.
    Short,
    /// As configured, but within what is left of the campaign.
    Usual { at_most: Option<Duration> },
    /// Many times longer, for asking again, but within what is left of the campaign.
    Long { at_most: Option<Duration> },
}

/// One question on its way down.
struct Query<'a> {
    current: &'a Assignment,
    question: TermId,
    relevant: Relevant<'a>,
    /// The relevant constraints, sorted; empty until a layer needs them.
    constraints: Vec<TermId>,
    /// Made ready to try all inputs, but too dear to do so before gates had a short try.
    sweep: Option<Sweep>,
    key: u128,
    clock: Clock,
}

impl Query<'_> {
    /// The relevant constraints, sorted; put together when first asked for.
    fn constraints(&mut self) -> &[TermId] {
        if self.constraints.is_empty() {
            self.constraints = self.relevant.constraints();
        }
        &self.constraints
    }
}

/// A layer: `None` when it has nothing to say.
type Ask = fn(&mut Stack, &Terms, &mut Query) -> Option<Local>;

/// An answer without the values the question does not touch.
enum Local {
    Sat(Vec<(SymbolId, u64)>),
    /// With the constraints that contradict each other, when the layer knows them.
    Unsat(Option<Vec<TermId>>),
    Unknown(Why),
}

impl Stack {
    const N_RECENT: usize = 4;
    /// Constraints looked at for the only value of a term.
    const N_LATEST: usize = 512;
    /// How many more conflicts a question may meet when it is asked again.
    const LONG_FACTOR: u32 = 10;
    /// Conflicts after which a question is not easy any more.
    const SHORT_CONFLICTS: u64 = 100;
    /// A question that takes longer is a slow one.
    const SLOW: Duration = Duration::from_millis(10);
    /// The cost up to which trying all inputs is quicker than most questions are for the bit-blaster.
    const QUICK_SWEEP: u64 = 1000;

    pub fn new(config: Config) -> Stack {
        let smt = if config.is_on(Layer::Smt) { backend(config.smt, &config.stop) } else { None };
        Stack::with_backend(config, smt)
    }

    /// A stack over a backend of the caller's own.
    pub fn with_backend(config: Config, smt: Option<Box<dyn Backend>>) -> Stack {
        let bare = match config.checking {
            Checking::On => backend(config.smt, &config.stop),
            Checking::Off => None,
        };
        let mut counters = Counters::default();
        let recorder = config.record.as_deref().and_then(|path| {
            let recorder = Recorder::create(path);
            counters.n_unrecorded += u64::from(recorder.is_err());
            recorder.ok()
        });
        Stack {
            config,
            counters,
            current: Eval::new(),
            trial: Eval::new(),
            domains: Domains::default(),
            values: Values::default(),
            cache: Cache::default(),
            recent: VecDeque::new(),
            blaster: Blaster::new(),
            patience: Patience::Usual { at_most: None },
            smt,
            bare,
            recorder,
            refuted: None,
        }
    }

    /// Keeps what is refuted from now on, or does not.
    pub fn keep_refuted(&mut self, keeping: Keeping) {
        match keeping {
            Keeping::On => _ = self.refuted.get_or_insert_default(),
            Keeping::Off => self.refuted = None,
        }
    }

    /// What was refuted since this was last called.
    pub fn take_refuted(&mut self) -> Vec<Refuted> {
        self.refuted.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note_refuted(&mut self, refuted: Refuted) {
        if let Some(known) = &mut self.refuted {
            known.push(refuted);
        }
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How long questions may take from now on; returns how long they might until now.
    pub fn set_patience(&mut self, patience: Patience) -> Patience {
        std::mem::replace(&mut self.patience, patience)
    }

    fn timeout(&self) -> Duration {
        match self.patience {
            Patience::Usual { at_most } => {
                at_most.map_or(self.config.timeout, |at_most| self.config.timeout.min(at_most))
            }
            Patience::None | Patience::Short => self.config.timeout,
            Patience::Long { at_most } => {
                at_most.map_or(self.config.timeout_again, |at_most| self.config.timeout_again.min(at_most))
            }
        }
    }

    fn conflict_budget(&self) -> u64 {
        match self.patience {
            Patience::Usual { .. } => self.config.conflict_budget,
            Patience::None | Patience::Short => Self::SHORT_CONFLICTS,
            Patience::Long { .. } => self.config.conflict_budget.saturating_mul(Self::LONG_FACTOR.into()),
        }
    }

    /// The value of a term under an input; shares what the stack remembers about the current one.
    pub fn eval(&mut self, terms: &Terms, current: &Assignment, t: TermId) -> u128 {
        self.current.eval(terms, current, t)
    }

    /// Whether the path and the question can hold together. `current` must satisfy the path.
    ///
    /// A satisfying input is `current` with other values only for symbols connected with the question.
    pub fn check(&mut self, terms: &mut Terms, path: &PathCondition, current: &Assignment, question: TermId) -> Answer {
        self.counters.n_asked += 1;
        let answer = self.answer(terms, path, current, question);
        if let Some(recorder) = &mut self.recorder
            && recorder.write(terms, path, current, question, &answer).is_err()
        {
            self.counters.n_unrecorded += 1;
        }
        let answer = match self.bare {
            Some(_) => self.compare(terms, path, question, answer),
            None => answer,
        };
        match answer {
            Answer::Unknown(_) => self.counters.n_unknown += 1,
            Answer::Unsat => self.note_refuted(Refuted::Question(question)),
            Answer::Sat(_) => {}
        }
        answer
    }

    /// The only value that a term has on a path, where the bounds that the latest constraints give it show that. No layer, and
    /// so never left out: what a path does may depend on it.
    pub fn only_value(&mut self, terms: &Terms, path: &PathCondition, t: TermId) -> Option<u128> {
        let value = bounds::exact(terms, &path.latest(Self::N_LATEST), t)?;
        self.note_refuted(Refuted::OtherValues(t));
        Some(value)
    }

    fn answer(&mut self, terms: &Terms, path: &PathCondition, current: &Assignment, question: TermId) -> Answer {
        if let Some(value) = terms.as_const(question) {
            return self.count(Layer::Trivial, if value == 1 { Answer::Sat(current.clone()) } else { Answer::Unsat });
        }
        if self.config.is_on(Layer::Current) && self.current.holds(terms, current, question) {
            return self.count(Layer::Current, Answer::Sat(current.clone()));
        }
        let relevant = match self.config.independence {
            Independence::On => path.relevant(terms, question),
            Independence::Off => path.all(),
        };
        if self.config.is_on(Layer::Domains)
            && let Some(answer) = self.ask_domains(terms, &relevant, current, question)
        {
            return self.count(Layer::Domains, answer);
        }
        let query = Query {
            current,
            question,
            key: Cache::key(relevant.key(), question),
            relevant,
            constraints: Vec::new(),
            sweep: None,
            clock: Clock::new(self.timeout(), &self.config.stop),
        };
        self.descend(terms, query)
    }

    /// The layers that are worth measuring.
    fn descend(&mut self, terms: &Terms, mut query: Query) -> Answer {
        let layers: [(Layer, Ask); 8] = [
            (Layer::Cache, Stack::ask_cache),
            (Layer::Recent, Stack::ask_recent),
            (Layer::Proposals, Stack::ask_proposals),
            (Layer::Bounds, Stack::ask_bounds),
            (Layer::Values, Stack::ask_few_values),
            (Layer::Blaster, Stack::ask_blaster),
            (Layer::Values, Stack::ask_all_values),
            (Layer::Smt, Stack::ask_smt),
        ];
        let mut why = Why::Budget;
        let mut reached_solver = false;
        let mut start = Instant::now();
        for (layer, ask) in layers {
            if !self.config.is_on(layer) || (layer == Layer::Smt && self.smt.is_none()) {
                continue;
            }
            let is_last_resort = layer == Layer::Smt || query.sweep.is_some() && layer == Layer::Values;
            let is_solver = matches!(layer, Layer::Blaster | Layer::Smt);
            if is_last_resort && self.patience == Patience::Short
                || (is_last_resort || is_solver) && self.patience == Patience::None
            {
                continue;
            }
            if is_solver && !std::mem::replace(&mut reached_solver, true) {
                self.counters.n_solver += 1;
            }
            let local = ask(self, terms, &mut query);
            let end = Instant::now();
            self.counters.layer_mut(layer).time += end - start;
            if is_solver {
                self.counters.solver_time += end - start;
            }
            if is_solver && end - start > Self::SLOW {
                self.counters.slow_time += end - start;
            }
            start = end;
            match local {
                None => {}
                Some(Local::Unknown(reason)) => why = reason,
                Some(local) => {
                    let answer = self.conclude(terms, &query, layer, local);
                    return self.count(layer, answer);
                }
            }
        }
        Answer::Unknown(why)
    }

    fn count(&mut self, layer: Layer, answer: Answer) -> Answer {
        let count = self.counters.layer_mut(layer);
        match answer {
            Answer::Sat(_) => count.n_sat += 1,
            Answer::Unsat => count.n_unsat += 1,
            Answer::Unknown(_) => {}
        }
        answer
    }

    /// Confirms a model with the evaluator, completes it and remembers the answer.
    fn conclude(&mut self, terms: &Terms, query: &Query, layer: Layer, local: Local) -> Answer {
        let values = match local {
            Local::Sat(values) => values,
            Local::Unsat(core) => {
                if layer != Layer::Cache {
                    self.cache.put_unsat(query.key, core.as_deref().unwrap_or(&[]));
                }
                return Answer::Unsat;
            }
            Local::Unknown(why) => return Answer::Unknown(why),
        };
        let mut input = query.current.clone();
        for &(symbol, value) in &values {
            input.set(symbol, value);
        }
        if !self.satisfies(terms, query, &input) {
            self.counters.n_wrong_models += 1;
            return Answer::Unknown(Why::WrongModel);
        }
        if layer != Layer::Cache {
            self.cache.put_sat(query.key, query.question, values.into(), &input);
        }
        if self.recent.len() == Self::N_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(input.clone());
        Answer::Sat(input)
    }

    fn satisfies(&mut self, terms: &Terms, query: &Query, input: &Assignment) -> bool {
        self.trial.holds(terms, input, query.question)
            && query.relevant.all(|constraint| self.trial.holds(terms, input, constraint))
    }

    /// The values of the relevant symbols under an input, if it satisfies the question.
    fn try_input(&mut self, terms: &Terms, query: &Query, input: &Assignment) -> Option<Local> {
        self.satisfies(terms, query, input).then(|| {
            let symbols = query.relevant.symbols(terms, query.question);
            Local::Sat(symbols.into_iter().map(|symbol| (symbol, input.get(symbol))).collect())
        })
    }

    // ---- the layers

    fn ask_domains(
        &mut self,
        terms: &Terms,
        relevant: &Relevant,
        current: &Assignment,
        question: TermId,
    ) -> Option<Answer> {
        let &[symbol] = terms.symbols(question) else { return None };
        if relevant.only().is_none() && !relevant.is_empty() {
            return None;
        }
        Some(match self.domains.ask(terms, relevant.only(), question, current.get(symbol))? {
            // No check: the set holds the very values for which the evaluator said yes.
            Found::Value(symbol, value) => {
                let mut input = current.clone();
                input.set(symbol, value);
                debug_assert!(self.trial.holds(terms, &input, question));
                Answer::Sat(input)
            }
            Found::Nothing => Answer::Unsat,
        })
    }

    fn ask_cache(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        match self.cache.exact(query.key) {
            Some(Cached::Sat(values)) => return Some(Local::Sat(values.to_vec())),
            Some(Cached::Unsat) => return Some(Local::Unsat(None)),
            None => {}
        }
        let question = query.question;
        if self.cache.contradicts(query.constraints(), question) {
            return Some(Local::Unsat(None));
        }
        for input in self.cache.inputs(query.question).to_vec() {
            if let Some(local) = self.try_input(terms, query, &input) {
                return Some(local);
            }
        }
        None
    }

    fn ask_recent(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        for i in (0..self.recent.len()).rev() {
            let input = self.recent[i].clone();
            if let Some(local) = self.try_input(terms, query, &input) {
                return Some(local);
            }
        }
        None
    }

    fn ask_proposals(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        for attempt in 0..invert::N_ATTEMPTS {
            let proposal = invert::propose(terms, &mut self.current, query.current, query.question, attempt);
            if let Some(input) = proposal
                && let Some(local) = self.try_input(terms, query, &input)
            {
                return Some(local);
            }
        }
        None
    }

    fn ask_bounds(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        let question = query.question;
        bounds::refutes(terms, query.constraints(), question).then_some(Local::Unsat(None))
    }

    /// Tries all inputs at once where that is quick, or quicker than making gates of large tables, products and quotients.
    fn ask_few_values(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        let sweep = self.values.plan(terms, &mut self.domains, &query.relevant, query.question, query.current)?;
        if !sweep.is_exhaustive() {
            // What is easy as gates is best left to them.
            if sweep.gate_work() == 0 {
                return None;
            }
            return sweep.sample(query.key as u64).map(|found| Stack::completed(terms, query, &found));
        }
        if sweep.cost() <= Self::QUICK_SWEEP + sweep.gate_work() {
            return Some(Stack::sweep(terms, query, sweep));
        }
        query.sweep = Some(sweep);
        None
    }

    fn ask_all_values(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        let sweep = query.sweep.take()?;
        Some(Stack::sweep(terms, query, sweep))
    }

    fn sweep(terms: &Terms, query: &Query, sweep: Sweep) -> Local {
        match sweep.run(&query.clock) {
            Swept::Found(found) => Stack::completed(terms, query, &found),
            Swept::Nothing => Local::Unsat(None),
            Swept::OutOfTime => Local::Unknown(Why::Timeout),
        }
    }

    /// The values found, and those of the current input for the symbols that make no difference.
    fn completed(terms: &Terms, query: &Query, found: &[(SymbolId, u64)]) -> Local {
        let symbols = query.relevant.symbols(terms, query.question).into_iter();
        let value = |symbol| found.iter().find(|(other, _)| *other == symbol).map(|(_, value)| *value);
        let value_or_now = |symbol| value(symbol).unwrap_or_else(|| query.current.get(symbol));
        Local::Sat(symbols.map(|symbol| (symbol, value_or_now(symbol))).collect())
    }

    /// The constraints and the question, the question last and taken apart.
    fn conjunction(terms: &Terms, query: &mut Query) -> Vec<TermId> {
        let mut all = query.constraints().to_vec();
        all.extend(conjuncts(terms, query.question, 256));
        all
    }

    fn ask_blaster(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        let all = Stack::conjunction(terms, query);
        let budget = match &query.sweep {
            // About as long as trying all inputs will take.
            Some(sweep) => (100 + sweep.cost() / 200).min(self.conflict_budget()),
            None if self.smt.is_some() => self.conflict_budget(),
            None if self.patience == Patience::Short => self.conflict_budget(),
            // With nothing behind it, it may use the whole time.
            None => u64::MAX,
        };
        // The SMT solver has its share of the time, too.
        let clock = if self.smt.is_some() { query.clock.half() } else { query.clock.clone() };
        let verdict = self.blaster.solve(terms, &all, query.current, budget, &clock);
        Some(match verdict {
            Verdict::Sat(values) => Local::Sat(values),
            Verdict::Unsat(core) => Local::Unsat(core_with_question(core, query)),
            Verdict::Unknown(why) => Local::Unknown(why),
        })
    }

    fn ask_smt(&mut self, terms: &Terms, query: &mut Query) -> Option<Local> {
        let all = Stack::conjunction(terms, query);
        let left = query.clock.left();
        if left.is_zero() {
            return Some(Local::Unknown(Why::Timeout));
        }
        let smt = self.smt.as_mut()?;
        Some(match smt.check(terms, &all, left) {
            Reply::Sat(values) => Local::Sat(values),
            Reply::Unsat => Local::Unsat(None),
            Reply::Unknown(why) => Local::Unknown(why),
        })
    }

    /// Check mode: the whole path to the bare solver.
    fn compare(&mut self, terms: &Terms, path: &PathCondition, question: TermId, answer: Answer) -> Answer {
        let Some(bare) = self.bare.as_mut() else { return answer };
        let mut all: Vec<TermId> = path.iter().collect();
        all.push(question);
        let reply = bare.check(terms, &all, self.config.timeout);
        let agree = match (&answer, &reply) {
            (Answer::Sat(input), Reply::Sat(_)) => all.iter().all(|&t| self.trial.holds(terms, input, t)),
            (Answer::Sat(_), Reply::Unsat) | (Answer::Unsat, Reply::Sat(_)) => false,
            _ => true,
        };
        if agree {
            return answer;
        }
        self.counters.n_disagreements += 1;
        Answer::Unknown(Why::Disagreement)
    }

    // ---- what is asked often, in terms of `check`

    /// What a condition can be under the path.
    pub fn must_be_true(&mut self, terms: &mut Terms, path: &PathCondition, current: &Assignment, t: TermId) -> Truth {
        let holds = self.current.holds(terms, current, t);
        let other = if holds { terms.not(t) } else { t };
        match self.check(terms, path, current, other) {
            Answer::Sat(input) => Truth::Sometimes(input),
            Answer::Unsat if holds => Truth::Always,
            Answer::Unsat => Truth::Never,
            Answer::Unknown(why) => Truth::Unknown(why),
        }
    }

    /// The values a term can have under the path, each with an input that gives it, the current one first. Stops at `limit`.
    pub fn enumerate(
        &mut self,
        terms: &mut Terms,
        path: &PathCondition,
        current: &Assignment,
        t: TermId,
        limit: usize,
    ) -> (Vec<(u128, Assignment)>, Completeness) {
        if let Some(found) = self.enumerate_small(terms, path, current, t, limit) {
            return found;
        }
        let mut found = vec![(self.current.eval(terms, current, t), current.clone())];
        let mut others = terms.tru();
        loop {
            let last = found[found.len() - 1].0;
            let value = terms.constant(last, terms.width(t));
            let differs = terms.ne(t, value);
            others = terms.and(others, differs);
            match self.check(terms, path, current, others) {
                Answer::Sat(_) if found.len() >= limit => return (found, Completeness::More),
                Answer::Sat(input) => {
                    let value = self.trial.eval(terms, &input, t);
                    found.push((value, input));
                }
                Answer::Unsat => return (found, Completeness::Exhaustive),
                Answer::Unknown(why) => return (found, Completeness::Unknown(why)),
            }
        }
    }

    /// All values of a term over one small symbol, without asking anything.
    fn enumerate_small(
        &mut self,
        terms: &Terms,
        path: &PathCondition,
        current: &Assignment,
        t: TermId,
        limit: usize,
    ) -> Option<(Vec<(u128, Assignment)>, Completeness)> {
        let &[symbol] = terms.symbols(t) else { return None };
        if !self.config.is_on(Layer::Domains) {
            return None;
        }
        let relevant = path.relevant(terms, t);
        let inputs = self.domains.small_values(terms, relevant.only(), symbol)?;
        let graph = self.domains.graph(terms, t)?;
        let mut found = vec![(self.current.eval(terms, current, t), current.clone())];
        let mut seen = rustc_hash::FxHashSet::from_iter([found[0].0]);
        for input_value in inputs {
            let value = graph[input_value as usize];
            if !seen.insert(value) {
                continue;
            }
            if found.len() >= limit {
                return Some((found, Completeness::More));
            }
            let mut input = current.clone();
            input.set(symbol, input_value);
            found.push((value, input));
        }
        self.note_refuted(Refuted::OtherValues(t));
        Some((found, Completeness::Exhaustive))
    }
}

/// The core in the cache's terms: constraints of the path and the question as a whole.
fn core_with_question(core: Vec<TermId>, query: &Query) -> Option<Vec<TermId>> {
    let mut core: Vec<TermId> = core.into_iter().filter(|t| query.constraints.binary_search(t).is_ok()).collect();
    core.push(query.question);
    core.sort_unstable();
    core.dedup();
    Some(core)
}
