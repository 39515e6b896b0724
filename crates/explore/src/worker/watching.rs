//! What a worker keeps for techniques that watch paths: the tree of points, footprints and what was refuted.

use solver::Keeping;
use vm::{Answer, EdgeId, Effect, State, Stop};
use witness::Ending;

use super::Worker;
use crate::effects::Parted;
use crate::{Admission, NodeId, Path, Point, Settlement, Under, Unwatched, Watch};

impl Worker<'_, '_> {
    /// Has the machine keep footprints, and the solver what it refutes, for paths that are watched only.
    pub(super) fn watch(&mut self, path: &Path) {
        if path.node.is_some() != self.decider.machine.watching.trace().is_some() && self.tree.is_some() {
            self.trace = self.decider.machine.watching.swap_trace(self.trace.take());
            self.decider.stack.keep_refuted(if path.node.is_some() { Keeping::On } else { Keeping::Off });
        }
    }

    pub(super) fn unwatch(&mut self, path: &mut Path, why: Unwatched) {
        if why == Unwatched::GivenUp {
            self.spoil(path);
        }
        self.leave(path.node.take());
        path.unwatched = why;
        path.stops.truncate(0);
    }

    /// A path that is not watched may be again.
    pub(super) fn adopt(&mut self, path: &mut Path) {
        if let (Some(tree), None, Unwatched::GivenUp) = (&mut self.tree, path.node, path.unwatched) {
            let line_up = &mut self.line_up.borrow_mut();
            let mut means = self.decider.means();
            if line_up.points().any(|points| points.adopts(path, &mut means) == Watch::Points) {
                path.node = Some(tree.root());
            }
        }
    }

    /// Paths that part at a branch are asked about again where they meet.
    pub(super) fn plan_stop(&mut self, path: &mut Path, effect: &Effect) {
        if path.node.is_none() {
            return;
        }
        if let (Some(meets), Effect::Branch { .. } | Effect::Switch { .. }) = (&mut self.meets, effect) {
            let State { top, depth, .. } = &path.state;
            let block = meets.behind(&self.decider.machine.image.module, top.func, top.block);
            path.stops.push(Stop { depth: *depth, block });
        }
    }

    /// What a path that is watched knows before something is decided.
    pub(super) fn under(&mut self, path: &Path) -> Option<Under> {
        path.node?;
        self.watch(path);
        self.decider.stack.take_refuted();
        Some(Under { condition: path.condition.clone(), input: path.input.clone() })
    }

    /// Tells what was refuted since then.
    pub(super) fn tell_refuted(&mut self, node: Option<NodeId>, under: Option<Under>) {
        let (Some(node), Some(under)) = (node, under) else { return };
        // A way in doubt takes constraints along that were not there before.
        let is_known = !self.decider.parted.iter().any(|parted| matches!(parted, Parted::Doubtful(_)));
        let refuted = self.decider.stack.take_refuted();
        if refuted.is_empty() && is_known {
            return;
        }
        for points in self.line_up.borrow_mut().points() {
            points.refuted(node, &under, is_known.then_some(&refuted[..]), &mut self.decider.means());
        }
    }

    /// Goes on with that one of the paths just parted which takes a new edge, or is soonest where they meet.
    pub(super) fn turn_to_nearest(&mut self, path: &mut Path) {
        let (Some(meets), Some(_), true) = (&mut self.meets, path.node, path.seeds.is_empty()) else { return };
        let (module, top) = (&self.decider.machine.image.module, &path.state.top);
        let (func, block) = (top.func, top.block);
        let edges = module.function(func).block(block).terminator.edges();
        let image = self.decider.machine.image;
        let coverage = &self.decider.machine.coverage;
        // A side nobody has taken comes before all others.
        let mut way = |path: &Path| {
            let edge = match path.state.answers.last()? {
                Answer::Side(side) => u32::from(!side),
                Answer::Edge(edge) => *edge,
                _ => return None,
            };
            let is_seen = coverage.is_seen(EdgeId(image.first_edge(func, block) + edge));
            Some(((is_seen, meets.way(module, func, block, edges.get(edge as usize)?.target)), edge))
        };
        let Some((mut least, here)) = way(path) else { return };
        let mut nearest = None;
        for parted in &mut self.decider.parted {
            if let Parted::Waits { path: other, next_edge: Some(next) } = parted
                && let Some((way, _)) = way(other)
                && way < least
            {
                least = way;
                nearest = Some((other, next));
            }
        }
        if let Some((other, next)) = nearest {
            std::mem::swap(&mut **other, path);
            *next = EdgeId(image.first_edge(func, block) + here);
        }
    }

    /// Asks about a path at a point. One that is executed again is no news until it is where it was.
    pub(super) fn arrive(&mut self, path: &mut Path, effect: &Effect) -> (&'static str, Admission) {
        let touched = self.decider.take_footprint();
        let (Some(tree), Some(from)) = (&mut self.tree, path.node) else { return ("", Admission::Keep) };
        if !path.follow.is_empty() {
            return ("", Admission::Keep);
        }
        if let Effect::Ended(ending) = effect {
            for points in self.line_up.borrow_mut().points() {
                points.ended_at(from, &touched, ending);
            }
            return ("", Admission::Keep);
        }
        let here = tree.grow(from);
        path.node = Some(here);
        let point = Point { path, effect, from, here, touched: &touched.into() };
        self.line_up.borrow_mut().admit_at(&point, &mut self.decider.means())
    }

    pub(super) fn spoil(&mut self, path: &Path) {
        let (Some(tree), Some(node)) = (&mut self.tree, path.node) else { return };
        tree.spoil(node);
        self.line_up.borrow_mut().points().for_each(|points| points.spoiled(node));
    }

    /// A path of the tree ended: whatever is over with it is told.
    pub(super) fn leave(&mut self, node: Option<NodeId>) {
        let (Some(tree), Some(node)) = (&mut self.tree, node) else { return };
        let line_up = &mut self.line_up.borrow_mut();
        for (node, subtree) in tree.leave(node) {
            for points in line_up.points() {
                points.subtree_finished(node, subtree, &mut self.decider.means());
            }
        }
    }

    /// Nothing is pending: what is held is pruned or goes on. `false` when there is nothing to go on with.
    pub(super) fn settle_held(&mut self) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let mut technique = "";
        let mut settlement = None;
        for candidate in &mut self.line_up.borrow_mut().techniques {
            let Some(points) = candidate.points() else { continue };
            match points.settle(&mut self.decider.means()) {
                Settlement::Release(nodes) if nodes.is_empty() => {}
                found => (technique, settlement) = (candidate.name(), Some(found)),
            }
        }
        match settlement {
            Some(Settlement::PruneAll(reasons)) => {
                for path in std::mem::take(&mut self.held) {
                    let reason = reasons.iter().find(|(node, _)| Some(*node) == path.node);
                    let reason = reason.map(|(_, reason)| reason.clone()).unwrap_or_default();
                    self.end(path, Ending::Pruned { technique, reason });
                }
                self.pending.len() > 0
            }
            Some(Settlement::Release(nodes)) => {
                let held = std::mem::take(&mut self.held);
                for path in held {
                    match path.node {
                        Some(node) if !nodes.contains(&node) => self.held.push(path),
                        _ => self.push(path, None),
                    }
                }
                true
            }
            None => {
                std::mem::take(&mut self.held).into_iter().for_each(|path| self.push(path, None));
                true
            }
        }
    }
}
