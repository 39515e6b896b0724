//! A path being explored: the machine's state, the condition under which it is reached, and one input that reaches it.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use solver::PathCondition;
use term::{Assignment, Eval, TermId, Terms};
use vm::{Answer, EdgeId, InputRecord, State, Stops};
use witness::{Certificate, InputValue};

use crate::seeds::Follower;
use crate::{Decisions, NodeId, Unwatched};

/// Cloning is a fork.
#[derive(Clone)]
pub struct Path {
    pub state: State,
    pub condition: PathCondition,
    /// Satisfies `condition`.
    pub input: Assignment,
    pub decisions: Decisions,
    /// Edges that this path, or one it forked from, was the first to take.
    pub(crate) first_edges: Rc<Vec<EdgeId>>,
    /// Decisions still to be followed when a path is executed again from its prefix.
    pub(crate) follow: Follow,
    /// The point it came to last, where a tree of them is kept.
    pub(crate) node: Option<NodeId>,
    /// Why it has none.
    pub(crate) unwatched: Unwatched,
    /// Where it meets the paths it parted from, where a tree is kept.
    pub(crate) stops: Stops,
    /// The seeds that take it; `input` is the first of them.
    pub(crate) seeds: Rc<Vec<Follower>>,
    /// Once the path has ended, where there is something to say.
    pub ended: Option<Rc<WhatEnded>>,
    /// It ended only to tell of a fault that the path it parted from goes on after.
    pub is_aside: bool,
}

/// What is known of the end of a path.
#[derive(Clone, Default)]
pub struct WhatEnded {
    /// The inputs that its ending depends on, while flow is tracked.
    pub by: Rc<[u32]>,
    /// The name of the place where it ended, the same in every run.
    pub at: u64,
    /// The first guard it left its function at, and the inputs that guard depends on.
    pub left_guard: Option<(u64, Rc<[u32]>)>,
    /// The proof of its ending.
    pub(crate) certificate: Option<Rc<Certificate>>,
}

/// Decisions that a path is still to take. Most have none, and those cost one word.
#[derive(Clone, Default)]
pub(crate) struct Follow {
    #[expect(clippy::box_collection, reason = "one word where there are none")]
    decisions: Option<Box<VecDeque<u64>>>,
}

impl Follow {
    pub fn new(decisions: VecDeque<u64>) -> Follow {
        Follow { decisions: (!decisions.is_empty()).then(|| Box::new(decisions)) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.decisions.as_ref().map_or(0, |decisions| decisions.len())
    }

    pub fn front(&self) -> Option<u64> {
        self.decisions.as_ref()?.front().copied()
    }

    pub fn pop_front(&mut self) -> Option<u64> {
        self.decisions.as_mut()?.pop_front()
    }

    pub fn push_front(&mut self, decision: u64) {
        self.decisions.get_or_insert_default().push_front(decision);
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.decisions.iter().flat_map(|decisions| decisions.iter().copied())
    }
}

impl Path {
    pub(crate) fn new(state: State) -> Path {
        Path {
            state,
            condition: PathCondition::new(),
            input: Assignment::new(),
            decisions: Decisions::default(),
            first_edges: Rc::default(),
            follow: Follow::default(),
            node: None,
            unwatched: Unwatched::GivenUp,
            stops: Stops::default(),
            seeds: Rc::default(),
            ended: None,
            is_aside: false,
        }
    }

    /// All its decisions, those it is still to follow too.
    pub(crate) fn all_decisions(&self) -> Decisions {
        let mut decisions = self.decisions.clone();
        self.follow.iter().for_each(|decision| decisions.push(decision));
        decisions
    }

    /// The inputs that its ending depends on, as far as that is known.
    pub fn ended_by(&self) -> &[u32] {
        self.ended.as_ref().map_or(&[], |ended| &ended.by)
    }

    /// Answers the machine. One answer is all that most instructions ask for, and what waits is not to have room for more.
    pub(crate) fn answer(&mut self, answer: Answer) {
        self.state.answers.reserve_exact(1);
        self.state.answers.push(answer);
    }

    pub fn node(&self) -> Option<NodeId> {
        self.node
    }

    /// Goes on under `condition` with `answer`; `input` must satisfy both the path and it.
    pub(crate) fn take(&mut self, terms: &mut Terms, decision: u64, condition: TermId, answer: Answer) {
        if !terms.is_true(condition) {
            self.condition.add(terms, condition);
        }
        self.state.facts.hear(condition);
        self.decisions.push(decision);
        self.answer(answer);
    }

    /// As [`Path::take`] for a condition that follows from those the path has: no question needs it.
    pub(crate) fn take_implied(&mut self, decision: u64, condition: TermId, answer: Answer) {
        self.condition.add_implied(condition);
        self.state.facts.hear(condition);
        self.decisions.push(decision);
        self.answer(answer);
    }

    /// Goes on under `condition`, with nothing answered: the machine asks again.
    pub(crate) fn mean(&mut self, terms: &mut Terms, decision: u64, condition: TermId) {
        if !terms.is_true(condition) {
            self.condition.add(terms, condition);
        }
        self.decisions.push(decision);
    }

    /// What is true of new symbols by their nature: none of them is in the path's condition yet, and all of them zero satisfies
    /// it.
    pub fn constrain_new(&mut self, terms: &mut Terms, eval: &mut Eval, condition: TermId) {
        if terms.is_true(condition) {
            return;
        }
        if !eval.holds(terms, &self.input, condition) {
            for symbol in terms.symbols(condition) {
                self.input.set(*symbol, 0);
            }
        }
        self.condition.add(terms, condition);
    }

    /// A fork that takes another way, under an input that goes there.
    pub(crate) fn fork(
        &self,
        terms: &mut Terms,
        decision: u64,
        condition: TermId,
        answer: Answer,
        input: Assignment,
    ) -> Path {
        let mut other = self.clone();
        other.input = input;
        other.take(terms, decision, condition, answer);
        other
    }
}

/// The inputs a state has asked for, with the values that `input` gives them.
pub fn inputs_of(state: &State, input: &Assignment, terms: &Terms, eval: &mut Eval) -> Vec<InputValue> {
    let value = |record: &Arc<InputRecord>| InputValue {
        name: record.name.clone(),
        ty: record.type_name.clone(),
        bytes: record.image(|term| eval.eval(terms, input, term)),
        layout: record.layout.clone(),
    };
    state.inputs.iter().map(value).collect()
}
