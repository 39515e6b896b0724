//! The hunt: guesses say which paths the unit may have, expansions make them real, until every one is real or impossible.

use std::cell::RefCell;
use std::rc::Rc;

use explore::{Explorer, Fork, Path, Stop, Trust};
use ir::FuncId;
use rustc_hash::FxHashMap;
use witness::{Ending, LedgerKind};

use super::bound::{Bound, meets};
use super::expand::{Expansion, Pulled, tag};
use super::tree::{Goals, Kind, Real, Tree, VertexId};
use super::{Campaign, Plan, begin_call, end_call, mark, trace};

/// Executed paths that one search for one goal may cost in the first round; later rounds may cost more.
pub const FIRST_EFFORT: u64 = 64;
/// Searches longer than this do not keep others from looking for another way.
const LONG_EFFORT: u64 = 1 << 14;
pub const FUEL: u64 = 4_000_000;
/// Instructions a call may take to show that it has only one path.
const STRAIGHT_FUEL: u64 = 200_000;
/// Forks after which a run waits for the others.
const MAX_RUN_FORKS: u64 = 256;
/// Goals up to which runs that cannot meet any are given up early.
const FEW_GOALS: usize = 6;

pub struct Hunt<'h, 'w, 'i, 'r> {
    pub explorer: &'h mut Explorer<'w, 'i, 'r>,
    pub plan: Rc<Plan>,
    pub tree: Tree,
    pub campaign: Campaign,
    n_rounds: u64,
    pub effort: u64,
    /// Searches through each function that were broken off in this round. What one of them finds later helps the others,
    /// so only a few are made in each round.
    n_stalled: FxHashMap<FuncId, u64>,
    /// Executed paths after which a round is broken off.
    pub limit: u64,
    /// Whether some search was broken off.
    pub unfinished: bool,
}

enum Step {
    Again,
    Into(VertexId),
    Done,
}

impl<'h, 'w, 'i, 'r> Hunt<'h, 'w, 'i, 'r> {
    pub fn new(explorer: &'h mut Explorer<'w, 'i, 'r>, plan: Rc<Plan>, figures: Rc<RefCell<super::Figures>>) -> Self {
        let campaign = Campaign::new(explorer.image().module.clone(), figures, plan.fault_effort);
        Hunt {
            explorer,
            plan,
            tree: Tree::new(),
            campaign,
            n_rounds: 0,
            effort: FIRST_EFFORT,
            n_stalled: FxHashMap::default(),
            limit: u64::MAX,
            unfinished: false,
        }
    }

    pub fn run(mut self) {
        for path in self.explorer.starts().into_iter().rev() {
            self.tree[VertexId::ROOT].call.running.push_back(Real { path, bound: Bound::default() });
        }
        self.rounds();
        self.look_for_ways();
        let is_complete = !self.explorer.is_over();
        if is_complete {
            self.look_for_faults();
        }
        self.close(is_complete);
    }

    /// Goes through the tree with more and more effort, until all that is looked for is found or excluded.
    pub fn rounds(&mut self) {
        loop {
            self.round();
            if !self.unfinished || self.explorer.is_over() {
                return;
            }
            self.effort *= 2;
        }
    }

    /// Goes through the tree depth first, as far as the effort allows.
    pub fn round(&mut self) {
        self.n_rounds += 1;
        self.n_stalled.clear();
        self.unfinished = false;
        let mut stack = vec![VertexId::ROOT];
        for vertex in self.tree.ids() {
            if !matches!(self.tree[vertex].kind, Kind::Call(_)) || self.tree[vertex].n_unmet == 0 {
                continue;
            }
            if let Some(parent) = self.tree[vertex].parent {
                self.tree[parent].call.todo.push(vertex);
            }
        }
        while let Some(vertex) = stack.last().copied() {
            if self.explorer.is_over() {
                return;
            }
            // Searches end; what they found is still brought to its place in the tree.
            if self.campaign.figures.borrow().iterations >= self.limit {
                self.effort = 0;
            }
            match self.step(vertex) {
                Step::Again => {}
                Step::Into(child) => stack.push(child),
                Step::Done => {
                    stack.pop();
                }
            }
        }
    }

    /// One thing to do at a call.
    fn step(&mut self, vertex: VertexId) -> Step {
        if self.has_guesses(vertex) {
            self.run_guesses(vertex);
            return Step::Again;
        }
        while let Some(child) = self.tree[vertex].call.todo.pop() {
            if self.tree[child].realised && (self.tree[child].n_unmet > 0 || self.has_guesses(child)) {
                return Step::Into(child);
            }
        }
        if let Some(real) = self.tree[vertex].call.running.pop_back() {
            self.run_real(vertex, real);
            return Step::Again;
        }
        if self.tree[vertex].n_unmet == 0 {
            self.drop_alternatives(vertex);
            return Step::Done;
        }
        self.pull(vertex)
    }

    fn has_guesses(&self, vertex: VertexId) -> bool {
        let call = &self.tree[vertex].call;
        !call.guesses.is_empty() || !call.running_guesses.is_empty()
    }

    /// Nothing below is looked for any more: other ways to the same call would show nothing new.
    fn drop_alternatives(&mut self, vertex: VertexId) {
        if self.tree[vertex].n_faults == 0 {
            self.tree[vertex].call.alternatives.clear();
        }
    }

    /// Executes the call at this vertex once more for what is still looked for behind it.
    fn pull(&mut self, vertex: VertexId) -> Step {
        let version = (self.tree[vertex].version, self.n_rounds);
        let mut alternatives = std::mem::take(&mut self.tree[vertex].call.alternatives);
        let fresh = self.tree[vertex].call.fresh.clone();
        let mut found = None;
        if alternatives.iter().any(|alternative| alternative.tried != Some(version)) {
            let not_behind = (self.effort < LONG_EFFORT).then_some(self.n_rounds);
            let goals = self.tree.goals(self.explorer.terms(), vertex, not_behind);
            if let Goals::Any(conds) = &goals
                && conds.is_empty()
            {
                self.tree[vertex].call.alternatives = alternatives;
                self.tree[vertex].stalled = self.n_rounds;
                return Step::Done;
            }
            for alternative in alternatives.iter_mut().filter(|alternative| alternative.tried != Some(version)) {
                let effort = if self.n_stalled.get(&alternative.func).is_some_and(|n| *n >= self.n_rounds) {
                    0
                } else {
                    self.effort
                };
                match alternative.pull(self.explorer, &mut self.campaign, &goals, &fresh, effort) {
                    Pulled::Got(real) => {
                        found = Some(*real);
                        break;
                    }
                    Pulled::Nothing => alternative.tried = Some(version),
                    Pulled::NotYet => {
                        alternative.tried = Some(version);
                        self.unfinished = true;
                        self.tree[vertex].stalled = self.n_rounds;
                        *self.n_stalled.entry(alternative.func).or_default() += u64::from(effort > 0);
                        if self.effort < LONG_EFFORT {
                            break;
                        }
                    }
                }
            }
        }
        alternatives.retain(|alternative| !alternative.is_done());
        self.tree[vertex].call.alternatives = alternatives;
        match found {
            Some(real) => {
                self.tree[vertex].call.running.push_back(real);
                Step::Again
            }
            None => Step::Done,
        }
    }

    /// Runs the program on behind a call until it comes to the next one or to its end.
    fn run_real(&mut self, vertex: VertexId, mut real: Real) {
        let mut n_forks = 0;
        loop {
            match self.explorer.advance(&mut real.path, Trust::Program, FUEL) {
                Stop::Call(func) if !self.plan.is_skipped(func) => self.explorer.enter(&mut real.path),
                Stop::Call(func) => {
                    mark(&mut real.path, func);
                    let known = self.tree.find(trace(&real.path)).is_some();
                    if !known && let Some(path) = self.straight(&real.path, Trust::Program) {
                        real.path = path;
                        continue;
                    }
                    return self.arrive(vertex, func, real);
                }
                Stop::Forked(forks) => {
                    n_forks += 1;
                    self.part(vertex, &real.bound, forks);
                    if !self.is_promising(vertex, &real) {
                        return self.leave_out();
                    }
                    if n_forks >= MAX_RUN_FORKS {
                        self.tree[vertex].call.running.push_front(real);
                        return;
                    }
                }
                Stop::Ended(ending, forks) => {
                    self.part(vertex, &real.bound, forks);
                    return self.arrive_at_end(vertex, real.path, ending);
                }
                Stop::Tired => {
                    self.tree[vertex].call.running.push_front(real);
                    return;
                }
                Stop::Paused | Stop::Lost => unreachable!("the unit neither pauses nor gets lost"),
            }
        }
    }

    fn part(&mut self, vertex: VertexId, bound: &Bound, forks: Vec<Fork>) {
        for fork in forks {
            match fork {
                Fork::Waits(path) => {
                    let real = Real { path: *path, bound: bound.clone() };
                    if self.is_promising(vertex, &real) {
                        self.tree[vertex].call.running.push_back(real);
                    } else {
                        self.leave_out();
                    }
                }
                Fork::Ended(path, ending) => self.arrive_at_end(vertex, *path, ending),
            }
        }
    }

    /// Whether a run can still become something that is looked for. Asked only where that is little.
    fn is_promising(&mut self, vertex: VertexId, real: &Real) -> bool {
        let found = &self.tree[vertex];
        if vertex == VertexId::ROOT || found.n_unmet as usize > FEW_GOALS || found.n_faults > 0 {
            return true;
        }
        match self.tree.goals(self.explorer.terms(), vertex, None) {
            Goals::Anything => true,
            Goals::Any(conds) => {
                conds.iter().any(|cond| meets(self.explorer, &real.path, &real.bound, *cond).is_some())
            }
        }
    }

    fn leave_out(&mut self) {
        self.campaign.figures.borrow_mut().left_out += 1;
    }

    /// A call that takes only one path, executed; `None` when it takes several. The path stands at the call.
    pub fn straight(&mut self, path: &Path, trust: Trust) -> Option<Path> {
        let mut trial = path.clone();
        begin_call(&mut trial);
        self.explorer.enter(&mut trial);
        loop {
            match self.explorer.advance(&mut trial, trust, STRAIGHT_FUEL) {
                Stop::Paused => {
                    end_call(&mut trial);
                    return Some(trial);
                }
                Stop::Call(func) if trust == Trust::Guess && !self.plan.is_skipped(func) => return None,
                Stop::Call(_) => self.explorer.enter(&mut trial),
                _ => return None,
            }
        }
    }

    /// The program stands at a call that takes several paths.
    fn arrive(&mut self, from: VertexId, func: FuncId, real: Real) {
        let trace = trace(&real.path);
        let vertex = match self.tree.find(trace) {
            Some(vertex) => vertex,
            None => {
                self.diverged(from, &real.path);
                let vertex = self.tree.insert(trace, Kind::Call(func), from);
                self.tree[vertex].call.own_guesses = true;
                vertex
            }
        };
        self.tree.realise(vertex);
        if self.tree[vertex].call.own_guesses || self.tree[from].exhaust {
            self.tree[vertex].call.guesses.push(real.path.clone());
        }
        if self.tree[vertex].n_unmet == 0 && self.tree[vertex].n_faults == 0 && !self.has_guesses(vertex) {
            return self.leave_out();
        }
        self.tree[vertex].call.alternatives.push(Expansion::new(func, real));
        self.tree[from].call.todo.push(vertex);
    }

    /// Guesses behind this call do not tell everything: at the next calls each run is its own guess.
    pub fn exhaust(&mut self, vertex: VertexId) {
        if vertex == VertexId::ROOT || self.tree[vertex].exhaust {
            return;
        }
        self.tree.exhaust(vertex);
        for child in self.tree[vertex].children.clone() {
            let call = &mut self.tree[child].call;
            call.guesses.extend(call.alternatives.iter().map(|alternative| alternative.root().clone()));
            if !call.guesses.is_empty() && self.tree[child].realised {
                self.tree[vertex].call.todo.push(child);
            }
        }
    }

    /// The program did what no guess did: from there on guesses are not relied on. At the root every run is its own guess.
    fn diverged(&mut self, from: VertexId, path: &Path) {
        if from == VertexId::ROOT || self.has_guesses(from) || self.tree[from].exhaust {
            return;
        }
        // Runs may have been left out before on the word of these guesses.
        let (place, _) = self.explorer.image().whereabouts(&path.state);
        let detail = "the program did what no run with calls skipped foresaw";
        self.explorer.enter_ledger(LedgerKind::UnmodelledBehaviour, place, detail.to_string());
        self.exhaust(from);
    }

    fn arrive_at_end(&mut self, from: VertexId, path: Path, ending: Ending) {
        let trace = super::mixed(trace(&path), 4, tag(&ending));
        // Behind a call the run is the last path through that call gone on with, which was counted there.
        self.campaign.figures.borrow_mut().iterations += u64::from(from == VertexId::ROOT);
        let always = matches!(ending, Ending::Cut(_) | Ending::Pruned { .. });
        let vertex = match self.tree.find(trace) {
            Some(vertex) => vertex,
            None => {
                let kind = match ending {
                    Ending::Returned { .. } | Ending::Exited { .. } => Kind::End,
                    _ => Kind::Fault,
                };
                if kind == Kind::End {
                    self.diverged(from, &path);
                    self.campaign.figures.borrow_mut().unforeseen += u64::from(from != VertexId::ROOT);
                }
                self.tree.insert(trace, kind, from)
            }
        };
        if self.tree.realise(vertex) || always {
            self.campaign.found(&ending);
            self.explorer.report(path, ending);
        } else {
            self.leave_out();
        }
    }

    fn close(&mut self, is_complete: bool) {
        let mut figures = self.campaign.figures.borrow_mut();
        for vertex in self.tree.ids() {
            let found = &self.tree[vertex];
            let is_path = match found.kind {
                Kind::Root => false,
                Kind::Call(_) => !found.realised,
                Kind::End => true,
                Kind::Fault => found.promoted,
            };
            if is_path {
                figures.abstract_paths += 1;
                figures.concretised += u64::from(found.realised);
                figures.infeasible += u64::from(!found.realised && is_complete);
                figures.open += u64::from(!found.realised && !is_complete);
            }
        }
        drop(figures);
        if is_complete {
            return;
        }
        let mut n_put_off = 0;
        for vertex in self.tree.ids() {
            let call = &self.tree[vertex].call;
            for path in
                call.running.iter().map(|real| &real.path).chain(call.alternatives.iter().flat_map(Expansion::paths))
            {
                self.explorer.put_off(path);
                n_put_off += 1;
            }
        }
        // Guesses may be left where every run has ended: that is no completeness either.
        if n_put_off == 0 && self.tree[VertexId::ROOT].n_unmet > 0 {
            for path in self.explorer.starts() {
                self.explorer.put_off(&path);
            }
        }
    }
}
