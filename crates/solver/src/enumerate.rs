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

    /// All values of a term over symbols of 16 bits together, found by trying every value of those. `None` where there are
    /// more bits, or where other symbols have a say in which values are possible.
    pub fn enumerate_by_trial(
        &mut self,
        terms: &Terms,
        path: &PathCondition,
        current: &Assignment,
        t: TermId,
    ) -> Option<Vec<(u128, Assignment)>> {
        let symbols = terms.symbols(t);
        let n_bits: u32 = symbols.iter().map(|symbol| terms.symbol_width(*symbol)).sum();
        if n_bits > 16 {
            return None;
        }
        let concerns = |constraint: &TermId| terms.symbols(*constraint).iter().any(|symbol| symbols.contains(symbol));
        let constraints: Vec<TermId> = path.iter().filter(concerns).collect();
        let is_own = |constraint: &TermId| terms.symbols(*constraint).iter().all(|symbol| symbols.contains(symbol));
        if !constraints.iter().all(is_own) {
            return None;
        }
        let mut found = vec![(self.tools.current.eval(terms, current, t), current.clone())];
        let mut seen = rustc_hash::FxHashSet::from_iter([found[0].0]);
        for number in 0..1u64 << n_bits {
            let mut input = current.clone();
            let mut rest = number;
            for symbol in symbols {
                let width = terms.symbol_width(*symbol);
                input.set(*symbol, rest & ((1 << width) - 1));
                rest >>= width;
            }
            if constraints.iter().all(|constraint| self.tools.trial.holds(terms, &input, *constraint)) {
                let value = self.tools.trial.eval(terms, &input, t);
                if seen.insert(value) {
                    found.push((value, input));
                }
            }
        }
        self.refuted.note(Refuted::OtherValues(t));
        Some(found)
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
