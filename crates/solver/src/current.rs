//! The current input of the state that asks: where it satisfies the question, nothing is left to find.

use crate::Answer;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::query::{Query, Tools};

struct Current;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Current))
}

impl Answers for Current {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let holds = tools.current.holds(query.terms, query.current, query.question);
        holds.then(|| Said::Exactly(Answer::Sat(query.current.clone())))
    }

    fn cost(&self) -> Cost {
        Cost::Nothing
    }
}
