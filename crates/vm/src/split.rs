//! Choices in a length become choices of the path: one way for each.
//!
//! "The first byte of the prefix that is a colon, else the second, ..., else somewhere behind" is one term, and everything that is
//! computed from it carries all of these cases along: searched and copied a few times, more than a solver can take. So the path takes one of
//! them. How many there are depends on the prefix, not on the length.

use std::rc::Rc;

use term::{TermId, View};

use crate::run::{Machine, Step};
use crate::{Answer, Effect, State};

/// Cases that are told apart; what is left of them stays together.
const MANY: usize = 24;

/// A case of a term: when it is the one, what the term is then, and how the choices on the way there come out.
struct Case {
    cond: TermId,
    value: TermId,
    choices: Vec<(TermId, Side)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Then,
    Else,
}

/// The case that a path has taken.
pub(crate) struct Taken {
    pub value: TermId,
    pub cond: TermId,
    choices: Vec<(TermId, Side)>,
}

impl Machine<'_> {
    /// Takes one of the cases of a length, where there are several.
    pub(crate) fn split(&mut self, state: &State, term: TermId) -> Step<Taken> {
        let cases = self.cases(term);
        if cases.len() == 1 {
            self.looks_at_term(state, term);
            return Ok(Taken { value: term, cond: self.terms.tru(), choices: Vec::new() });
        }
        let conds: Rc<[(u32, TermId)]> = cases.iter().enumerate().map(|(idx, case)| (idx as u32, case.cond)).collect();
        let edge = match self.ask(state, || Effect::Switch { conds })? {
            Answer::Edge(edge) => edge as usize,
            other => unreachable!("a switch is answered with an edge, not {other:?}"),
        };
        let Case { cond, value, choices } = cases.into_iter().nth(edge).expect("the edge is one of those offered");
        self.looks_at_term(state, cond);
        self.looks_at_term(state, value);
        Ok(Taken { value, cond, choices })
    }

    /// What a term is where a case was taken that its choices are about.
    pub(crate) fn in_case(&self, taken: &Taken, mut term: TermId) -> TermId {
        while let View::Ite(cond, a, b) = self.terms.view(term) {
            match taken.choices.iter().find(|(known, _)| *known == cond) {
                Some((_, Side::Then)) => term = a,
                Some((_, Side::Else)) => term = b,
                None => break,
            }
        }
        term
    }

    /// The cases of a term; they exclude each other, and one of them holds.
    fn cases(&mut self, term: TermId) -> Vec<Case> {
        let mut open =
            std::collections::VecDeque::from([Case { cond: self.terms.tru(), value: term, choices: Vec::new() }]);
        let mut cases = Vec::new();
        while let Some(case) = open.pop_front() {
            let Case { cond, value, choices } = &case;
            let View::Ite(choice, a, b) = self.terms.view(*value) else {
                cases.push(case);
                continue;
            };
            if cases.len() + open.len() + 2 > MANY {
                cases.push(case);
                continue;
            }
            let fails = self.terms.not(choice);
            for (value, here, side) in [(a, choice, Side::Then), (b, fails, Side::Else)] {
                let cond = self.terms.and(*cond, here);
                if !self.terms.is_false(cond) {
                    let mut choices = choices.clone();
                    choices.push((choice, side));
                    open.push_back(Case { cond, value, choices });
                }
            }
        }
        self.together(cases)
    }

    /// Cases in which the term is the same are one.
    fn together(&mut self, cases: Vec<Case>) -> Vec<Case> {
        let mut merged: Vec<Case> = Vec::new();
        for case in cases {
            match merged.iter_mut().find(|known| known.value == case.value) {
                Some(known) => {
                    known.cond = self.terms.or(known.cond, case.cond);
                    known.choices.retain(|choice| case.choices.contains(choice));
                }
                None => merged.push(case),
            }
        }
        merged
    }
}
