//! The question is a constant.

use crate::Answer;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::query::{Query, Tools};

struct Trivial;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Trivial))
}

impl Answers for Trivial {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        let holds = query.terms.as_const(query.question)? == 1;
        Some(Said::Exactly(if holds { Answer::Sat(query.current.clone()) } else { Answer::Unsat }))
    }

    fn cost(&self) -> Cost {
        Cost::Nothing
    }
}
