//! Inputs found lately for other questions: paths that follow each other ask alike.

use crate::layers::{Answers, Layer, Learnt, Said, Setup};
use crate::query::{Query, Tools};
use std::collections::VecDeque;
use term::Assignment;

const N_RECENT: usize = 4;

/// The newest last.
#[derive(Default)]
struct Recent(VecDeque<Assignment>);

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::<Recent>::default())
}

impl Answers for Recent {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        self.0.iter().rev().find_map(|input| query.try_input(tools, input))
    }

    fn learn(&mut self, _query: &Query, _by: Layer, learnt: &Learnt) {
        if let Learnt::Sat { input, .. } = learnt {
            if self.0.len() == N_RECENT {
                self.0.pop_front();
            }
            self.0.push_back((*input).clone());
        }
    }
}
