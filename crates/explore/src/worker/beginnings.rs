//! Beginnings: paths at the start of the program, paths executed again from their decisions, and the seeds they follow.

use std::collections::VecDeque;

use vm::InputRequest;

use super::Worker;
use crate::effects::Decider;
use crate::path::Follow;
use crate::pending::{Prefix, Waiting};
use crate::search::{Outlook, Promise};
use crate::spots::{Nook, SpotId};
use crate::{Path, RunPlan};

/// Of a path known by its decisions only.
pub const NO_OUTLOOK: Outlook = Outlook { promise: Promise::Nothing, spot: SpotId::UNKNOWN, nook: Nook(0), depth: 0 };

impl Worker<'_, '_> {
    pub(super) fn begin(&mut self, plan: RunPlan) {
        if plan.prefixes.is_empty() {
            self.try_out();
            // With symbolic arguments, how many there are is the first decision.
            for choice in self.options.world.arg_choices().into_iter().rev() {
                let mut path = self.start(choice);
                path.node = self.watching.root();
                self.plant(&mut path, choice);
                self.push(path, None);
            }
        }
        let may_have_seeds = !self.options.seeds.is_empty();
        for decisions in plan.prefixes {
            let prefix = Prefix { may_have_seeds, ..Prefix::of_decisions(decisions) };
            self.pending.push(Waiting::Away(Box::new(prefix)), None, NO_OUTLOOK);
        }
    }

    /// A path at the beginning; which arguments there are is its first decision where there is a choice.
    pub(crate) fn start(&mut self, choice: Option<u64>) -> Path {
        let arg_lens = self.options.world.arg_lens(choice);
        let line_up = &self.line_up;
        let mut form_of = |request: &InputRequest| line_up.borrow_mut().world_input(request);
        let mut path = Path::new(self.decider.machine.start(&arg_lens, &mut form_of));
        let Decider { machine, eval, .. } = &mut self.decider;
        let tails: Vec<_> = path.state.inputs.iter().filter_map(|record| record.tail.clone()).collect();
        for condition in tails.iter().flat_map(|tail| tail.conditions.iter()) {
            path.constrain_new(&mut machine.terms, eval, *condition);
        }
        self.begin_with(&mut path, 0);
        self.decider.take_footprint();
        if let Some(choice) = choice {
            path.decisions.push(choice);
        }
        path
    }

    /// Gives a path at the beginning the seeds whose arguments fit it best.
    fn plant(&self, path: &mut Path, choice: Option<u64>) {
        let world = &self.options.world;
        let seeds = self.options.seeds.iter().filter(|seed| seed.choice(world) == choice);
        path.plant(&self.decider.machine.terms, seeds.cloned());
    }

    /// New inputs begin with the values that their forms say. One that is executed again, or follows
    /// a seed, has its input already.
    pub(super) fn begin_with(&mut self, path: &mut Path, n_known: usize) {
        if !path.follow.is_empty() || !path.seeds.is_empty() || path.state.inputs.len() == n_known {
            return;
        }
        let terms = &self.decider.machine.terms;
        for scalar in path.state.inputs.added_since(n_known).flat_map(|record| record.scalars.iter()) {
            if let (Some(term), 1..) = (scalar.term, scalar.value)
                && let Some(symbol) = terms.symbols(term).first()
            {
                path.input.set(*symbol, scalar.value);
            }
        }
    }

    pub(super) fn wake(&mut self, waiting: Waiting) -> Path {
        match waiting {
            Waiting::Live(path) => *path,
            Waiting::Away(prefix) => self.start_again(*prefix),
        }
    }

    fn start_again(&mut self, prefix: Prefix) -> Path {
        let Prefix { decisions, input, node, unwatched, may_have_seeds } = prefix;
        let mut follow: VecDeque<u64> = decisions.to_vec().into();
        let has_choice = !self.options.world.args.is_empty();
        let choice = if has_choice { follow.pop_front() } else { None };
        let mut path = self.start(choice);
        if may_have_seeds {
            self.plant(&mut path, choice);
        }
        path.follow = Follow::new(follow);
        if let Some(input) = input {
            path.input = input;
        }
        // What is read until it is where it was is not known to belong below its node.
        (path.node, path.unwatched) = (node, unwatched);
        self.spoil(&path);
        path
    }

    /// A prefix that no seed takes waits for its turn like any other.
    pub(super) fn put_back(&mut self, path: Path) {
        let (node, unwatched) = (path.node, path.unwatched);
        let prefix = Prefix { node, unwatched, ..Prefix::of_decisions(path.all_decisions()) };
        self.pending.push(Waiting::Away(Box::new(prefix)), None, NO_OUTLOOK);
    }
}
