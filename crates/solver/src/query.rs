//! One question on its way down, and what layers work with.

use crate::clock::Clock;
use crate::config::{Config, Independence};
use crate::domain::Domains;
use crate::layers::Said;
use crate::path::{PathCondition, Relevant, conjuncts};
use crate::patience::Patience;
use crate::values::Sweep;
use crate::{cache, patience};
use std::cell::OnceCell;
use std::time::Duration;
use term::{Assignment, Eval, SymbolId, TermId, Terms};

/// What several layers need.
#[derive(Default)]
pub(crate) struct Tools {
    /// Evaluates under the current input of the state that asks; kept warm from question to question.
    pub current: Eval,
    /// Under inputs that are only tried.
    pub trial: Eval,
    pub domains: Domains,
}

/// The question. What only some layers need is put together when first asked for.
pub(crate) struct Query<'a> {
    pub terms: &'a Terms,
    pub current: &'a Assignment,
    pub question: TermId,
    pub patience: Patience,
    /// Whether another searching layer comes behind the first.
    pub has_last_resort: bool,
    /// Made ready to try all inputs, but too dear to do so before gates had a short try.
    pub sweep: Option<Box<Sweep>>,
    path: &'a PathCondition,
    config: &'a Config,
    relevant: OnceCell<Relevant<'a>>,
    constraints: OnceCell<Vec<TermId>>,
    clock: OnceCell<Clock>,
}

impl<'a> Query<'a> {
    #[inline]
    pub fn new(
        terms: &'a Terms,
        path: &'a PathCondition,
        current: &'a Assignment,
        question: TermId,
        config: &'a Config,
        patience: Patience,
    ) -> Query<'a> {
        Query {
            terms,
            current,
            question,
            patience,
            has_last_resort: false,
            sweep: None,
            path,
            config,
            relevant: OnceCell::new(),
            constraints: OnceCell::new(),
            clock: OnceCell::new(),
        }
    }

    /// Whether the path leaves every symbol of the question one value.
    pub fn is_about_fixed_symbols(&self) -> bool {
        self.path.has_fixed() && self.terms.symbols(self.question).iter().all(|symbol| self.path.is_fixed(*symbol))
    }

    /// The constraints that share symbols with the question.
    #[inline]
    pub fn relevant(&self) -> &Relevant<'a> {
        self.relevant.get_or_init(|| match self.config.independence {
            Independence::On => self.path.relevant(self.terms, self.question),
            Independence::Off => self.path.all(),
        })
    }

    /// The same, sorted.
    pub fn constraints(&self) -> &[TermId] {
        self.constraints.get_or_init(|| self.relevant().constraints())
    }

    /// The constraints and the question, the question last and taken apart.
    pub fn conjunction(&self) -> Vec<TermId> {
        let mut all = self.constraints().to_vec();
        all.extend(conjuncts(self.terms, self.question, 256));
        all
    }

    /// Identifies the question and its constraints.
    pub fn key(&self) -> u128 {
        cache::key(self.relevant().key(), self.question)
    }

    /// How long there is; runs from when it is first looked at.
    pub fn clock(&self) -> &Clock {
        self.clock.get_or_init(|| Clock::new(self.timeout(), &self.config.stop))
    }

    /// The time that a question of this patience has in all.
    pub fn timeout(&self) -> Duration {
        patience::timeout(self.patience, self.config)
    }

    pub fn conflict_budget(&self) -> u64 {
        patience::conflict_budget(self.patience, self.config)
    }

    pub fn is_satisfied(&self, eval: &mut Eval, input: &Assignment) -> bool {
        eval.holds(self.terms, input, self.question)
            && self.relevant().all(|constraint| eval.holds(self.terms, input, constraint))
    }

    /// Whether the current input with these values satisfies it.
    pub fn is_satisfied_by(&self, eval: &mut Eval, values: &[(SymbolId, u64)]) -> bool {
        let mut input = self.current.clone();
        values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
        self.is_satisfied(eval, &input)
    }

    /// The values of the relevant symbols under an input, if it satisfies the question.
    pub fn try_input(&self, tools: &mut Tools, input: &Assignment) -> Option<Said> {
        self.is_satisfied(&mut tools.trial, input)
            .then(|| Said::Sat(self.symbols().into_iter().map(|symbol| (symbol, input.get(symbol))).collect()))
    }

    pub fn symbols(&self) -> Vec<SymbolId> {
        self.relevant().symbols(self.terms, self.question)
    }
}
