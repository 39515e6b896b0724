//! The constraints that continuations relied on.
//!
//! A condition keeps a path from doing things only where a side of a branch, an object or a value turns out to be
//! impossible. What refuted it is needed; the other constraints of a visit are not: a state that satisfies only the needed
//! ones takes no way that was not seen. What follows a visit may need much less than what led to it.

use std::rc::Rc;

use explore::{Means, Refuted};
use rustc_hash::{FxHashMap, FxHashSet};
use solver::{Answer, PathCondition};
use term::{Assignment, TermId, View};

/// A set of constraints.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    /// Where it is not known which: all.
    is_everything: bool,
    /// Ascending.
    terms: Vec<TermId>,
}

impl Needed {
    pub fn everything() -> Needed {
        Needed { is_everything: true, terms: Vec::new() }
    }

    pub fn is_everything(&self) -> bool {
        self.is_everything
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn extend(&mut self, more: impl IntoIterator<Item = TermId>) {
        if self.is_everything {
            return;
        }
        let n_known = self.terms.len();
        for t in more {
            if self.terms[..n_known].binary_search(&t).is_err() {
                self.terms.push(t);
            }
        }
        if self.terms.len() > n_known {
            self.terms.sort_unstable();
            self.terms.dedup();
        }
    }

    /// Adds what is needed behind a stretch, minus what the stretch says itself.
    pub fn absorb(&mut self, added: &[TermId], behind: &Needed) {
        if behind.is_everything {
            *self = Needed::everything();
        }
        self.extend(behind.terms.iter().copied().filter(|t| !added.contains(t)));
    }

    /// Those of a condition's constraints that are needed.
    pub fn of_condition(&self, condition: &PathCondition) -> Vec<TermId> {
        let mut found: Vec<TermId> = condition.iter().filter(|t| self.terms.binary_search(t).is_ok()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Small sets of constraints that refute a question, remembered.
#[derive(Default)]
pub struct Cores {
    /// By question and the constraints connected with it; as the condition's groups have them.
    known: FxHashMap<(TermId, u128), Rc<[TermId]>>,
}

/// More are forgotten.
const MAX_CORES: usize = 100_000;
/// More constraints than this are not taken apart one by one.
const MAX_SHRUNK: usize = 12;

impl Cores {
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// Constraints of the condition under which this is impossible, and how many were looked at.
    pub fn of(
        &mut self,
        refuted: &Refuted,
        condition: &PathCondition,
        input: &Assignment,
        means: &mut Means,
    ) -> (Vec<TermId>, usize) {
        let question = match refuted {
            Refuted::Question(question) => *question,
            Refuted::OtherValues(t) => {
                let terms = &means.machine.terms;
                let found = condition.relevant(terms, *t).constraints();
                return (condition.reasons(terms, &found), found.len());
            }
        };
        let relevant = condition.relevant(&means.machine.terms, question);
        let key = (question, relevant.key());
        if let Some(core) = self.known.get(&key) {
            return (condition.reasons(&means.machine.terms, core), 0);
        }
        let all = relevant.constraints();
        let n_all = all.len();
        let core = core(question, all, input, means);
        if self.known.len() >= MAX_CORES {
            self.known.clear();
        }
        let reasons = condition.reasons(&means.machine.terms, &core);
        self.known.insert(key, core.into());
        (reasons, n_all)
    }
}

/// Some of the constraints that refute the question together.
fn core(question: TermId, all: Vec<TermId>, input: &Assignment, means: &mut Means) -> Vec<TermId> {
    let terms = &mut means.machine.terms;
    let opposite = terms.not(question);
    if all.binary_search(&opposite).is_ok() {
        return vec![opposite];
    }
    let asked: FxHashSet<_> = terms.symbols(question).iter().copied().collect();
    let direct: Vec<TermId> =
        all.iter().copied().filter(|t| terms.symbols(*t).iter().all(|symbol| asked.contains(symbol))).collect();
    let mut core = all;
    if direct.len() < core.len() {
        if !refutes(&direct, question, input, means) {
            return core;
        }
        core = direct;
    }
    if asked.len() > 1 || core.len() > MAX_SHRUNK {
        return core;
    }
    // An equality says all there is to say.
    let terms = &means.machine.terms;
    let equality = core.iter().copied().find(|t| matches!(terms.view(*t), View::Eq(..)));
    if let Some(equality) = equality
        && core.len() > 1
        && refutes(&[equality], question, input, means)
    {
        return vec![equality];
    }
    let mut idx = 0;
    while core.len() > 1 && idx < core.len() {
        let mut fewer = core.clone();
        fewer.remove(idx);
        if refutes(&fewer, question, input, means) {
            core = fewer;
        } else {
            idx += 1;
        }
    }
    core
}

fn refutes(constraints: &[TermId], question: TermId, input: &Assignment, means: &mut Means) -> bool {
    let terms = &mut means.machine.terms;
    let mut condition = PathCondition::new();
    constraints.iter().for_each(|t| condition.add(terms, *t));
    matches!(means.stack.check(terms, &condition, input, question), Answer::Unsat)
}
