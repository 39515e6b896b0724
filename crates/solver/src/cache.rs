//! Earlier answers: the same set of constraints, a subset known to be contradictory, an input that satisfied the question once.

use crate::layers::{Answers, Layer, Learnt, Said, Setup};
use crate::path::fingerprint;
use crate::query::{Query, Tools};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Assignment, SymbolId, TermId};

/// An answer to exactly this set of constraints.
#[derive(Clone, Debug)]
pub enum Cached {
    Sat(Rc<[(SymbolId, u64)]>),
    Unsat,
}

#[derive(Default)]
pub struct Cache {
    exact: FxHashMap<u128, Cached>,
    /// Contradictory sets, listed under each of their members.
    cores: FxHashMap<TermId, Vec<Rc<[TermId]>>>,
    /// Inputs that made a question true, the newest last.
    inputs: FxHashMap<TermId, Vec<Assignment>>,
}

impl Cache {
    /// When a table is this large it is emptied: simple, bounded, and rare.
    const MAX_ENTRIES: usize = 1 << 20;
    /// Larger contradictions hardly ever come back.
    const MAX_CORE: usize = 24;
    const MAX_CORES_A_TERM: usize = 32;
    const MAX_INPUTS_A_TERM: usize = 2;

    pub fn exact(&self, key: u128) -> Option<&Cached> {
        self.exact.get(&key)
    }

    /// Whether a contradiction known from earlier lies within these (sorted) constraints and the question.
    pub fn contradicts(&self, constraints: &[TermId], question: TermId) -> bool {
        // The constraints alone are satisfiable, so every contradiction has the question in it.
        self.cores.get(&question).is_some_and(|cores| {
            cores.iter().any(|core| core.iter().all(|t| *t == question || constraints.binary_search(t).is_ok()))
        })
    }

    /// Inputs that made this question true on other paths.
    pub fn inputs(&self, question: TermId) -> &[Assignment] {
        self.inputs.get(&question).map_or(&[], Vec::as_slice)
    }

    pub fn put_unsat(&mut self, key: u128, core: &[TermId]) {
        self.make_room();
        self.exact.insert(key, Cached::Unsat);
        if core.len() > Self::MAX_CORE {
            return;
        }
        let core: Rc<[TermId]> = core.into();
        for &t in core.iter() {
            let cores = self.cores.entry(t).or_default();
            if cores.len() < Self::MAX_CORES_A_TERM {
                cores.push(core.clone());
            }
        }
    }

    pub fn put_sat(&mut self, key: u128, question: TermId, values: Rc<[(SymbolId, u64)]>, input: &Assignment) {
        self.make_room();
        self.exact.insert(key, Cached::Sat(values));
        let inputs = self.inputs.entry(question).or_default();
        if inputs.len() == Self::MAX_INPUTS_A_TERM {
            inputs.remove(0);
        }
        inputs.push(input.clone());
    }

    fn make_room(&mut self) {
        if self.exact.len() >= Self::MAX_ENTRIES {
            self.exact.clear();
        }
        if self.cores.len() >= Self::MAX_ENTRIES {
            self.cores.clear();
        }
        if self.inputs.len() >= Self::MAX_ENTRIES {
            self.inputs.clear();
        }
    }
}

/// The key of a question: the set of it and its constraints, whichever of them is the question.
pub fn key(constraints: u128, question: TermId) -> u128 {
    constraints.wrapping_add(fingerprint(question))
}

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::<Cache>::default())
}

impl Answers for Cache {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        match self.exact(query.key()) {
            Some(Cached::Sat(values)) => return Some(Said::Sat(values.to_vec())),
            Some(Cached::Unsat) => return Some(Said::Unsat(None)),
            None => {}
        }
        if self.contradicts(query.constraints(), query.question) {
            return Some(Said::Unsat(None));
        }
        self.inputs(query.question).iter().find_map(|input| query.try_input(tools, input))
    }

    fn learn(&mut self, query: &Query, by: Layer, learnt: &Learnt) {
        if by == Layer::Cache {
            return;
        }
        match learnt {
            Learnt::Sat { values, input } => self.put_sat(query.key(), query.question, (*values).into(), input),
            Learnt::Unsat { core } => self.put_unsat(query.key(), core.unwrap_or(&[])),
        }
    }
}
