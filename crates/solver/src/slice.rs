//! The question and the constraints that speak of its symbols alone.
//!
//! A constraint that ties a symbol of the question to others brings all of theirs in, and then there are too many inputs to
//! try. Without it there are often few. If none of them will do, the answer is no, whatever the others say; if one
//! does, it may satisfy the others, too, with the values they have in the current input.

use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use crate::values::{QUICK_SWEEP, Swept, Values};
use term::TermId;

#[derive(Default)]
struct Slice {
    values: Values,
}

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::<Slice>::default())
}

impl Answers for Slice {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let terms = query.terms;
        let asked = terms.symbols(query.question);
        let is_about_asked = |t: &TermId| terms.symbols(*t).iter().all(|symbol| asked.contains(symbol));
        let inner: Vec<TermId> = query.constraints().iter().copied().filter(is_about_asked).collect();
        if inner.len() == query.constraints().len() {
            return None; // that is the whole question
        }
        let sweep = self.values.plan(query, &mut tools.domains, asked.to_vec(), || &inner)?;
        if !sweep.is_exhaustive() || sweep.cost() > QUICK_SWEEP + sweep.gate_work() {
            return None;
        }
        match sweep.run(query.clock()) {
            Swept::Found(found) => {
                let mut input = query.current.clone();
                found.iter().for_each(|&(symbol, value)| input.set(symbol, value));
                query.try_input(tools, &input)
            }
            Swept::Nothing => {
                let mut core = inner;
                core.push(query.question);
                core.sort_unstable();
                core.dedup();
                Some(Said::Unsat(Some(core)))
            }
            Swept::OutOfTime => None,
        }
    }
}
