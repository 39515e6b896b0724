//! What is asked often, in terms of `check`: what a condition can be, and which values a term can have.

use crate::answer::{Answer, Completeness, Truth};
use crate::bounds;
use crate::layers::Layer;
use crate::path::PathCondition;
use crate::refuted::Refuted;
use crate::stack::Stack;
use term::{Assignment, TermId, Terms};

impl Stack {
    /// Constraints looked at for the only value of a term.
    const N_LATEST: usize = 512;

    /// The only value that a term has on a path, where the bounds that the latest constraints give it show that. No layer, and
    /// so never left out: what a path does may depend on it.
    pub fn only_value(&mut self, terms: &Terms, path: &PathCondition, t: TermId) -> Option<u128> {
        let value = bounds::exact(terms, &path.latest(Self::N_LATEST), t)?;
        self.refuted.note(Refuted::OtherValues(t));
        Some(value)
    }

    /// What a condition can be under the path.
    pub fn must_be_true(&mut self, terms: &mut Terms, path: &PathCondition, current: &Assignment, t: TermId) -> Truth {
        let holds = self.tools.current.holds(terms, current, t);
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
        let mut found = vec![(self.tools.current.eval(terms, current, t), current.clone())];
        let mut others = terms.tru();
        loop {
            let last = found[found.len() - 1].0;
            let value = terms.constant(last, terms.width(t));
            let differs = terms.ne(t, value);
            others = terms.and(others, differs);
            match self.check(terms, path, current, others) {
                Answer::Sat(_) if found.len() >= limit => return (found, Completeness::More),
                Answer::Sat(input) => {
                    let value = self.tools.trial.eval(terms, &input, t);
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
        let inputs = self.tools.domains.small_values(terms, relevant.only(), symbol)?;
        let graph = self.tools.domains.graph(terms, t)?;
        let mut found = vec![(self.tools.current.eval(terms, current, t), current.clone())];
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
        self.refuted.note(Refuted::OtherValues(t));
        Some((found, Completeness::Exhaustive))
    }
}
