//! Watching: what is kept for techniques with an interest in points: the tree, footprints, what was refuted, and held paths.

use std::cell::RefCell;
use std::rc::Rc;

use analysis::{Faults, Liveness};
use solver::{Keeping, Stack};
use vm::{Answer, EdgeId, Effect, Image, Machine, State, Stop, Trace};
use witness::Ending;

use super::Worker;
use crate::effects::{Decider, Parted};
use crate::meets::Meets;
use crate::tree::Tree;
use crate::{Admission, LeavesOut, LineUp, NodeId, Path, Point, RunPlan, Settlement, Under, Unwatched, Watch};

pub struct Watching {
    /// Absent where nobody watches: then everything here does nothing.
    kept: Option<Kept>,
    held: Vec<Path>,
}

struct Kept {
    tree: Tree,
    /// The machine's, while a path runs that is not watched.
    trace: Option<Box<Trace>>,
    meets: Meets,
    goes_nearest_first: bool,
    /// Of the running plan: where no path may be left out, none is watched.
    leaves_out: LeavesOut,
}

/// What those that watch say about a path at a point.
pub enum Arrival {
    Goes,
    Held,
    Ended(Ending),
}

impl Watching {
    pub fn new(line_up: &mut LineUp, machine: &mut Machine, stack: &mut Stack) -> Watching {
        if !line_up.watches() {
            return Watching { kept: None, held: Vec::new() };
        }
        machine.watching.swap_trace(Some(Box::new(Trace::new(updates(machine.image)))));
        stack.keep_refuted(Keeping::On);
        let meets = Meets::new(&machine.image.module);
        let goes_nearest_first = line_up.goes_nearest_first();
        let (tree, leaves_out) = (Tree::default(), LeavesOut::default());
        let kept = Kept { tree, trace: None, meets, goes_nearest_first, leaves_out };
        Watching { kept: Some(kept), held: Vec::new() }
    }

    pub fn plan_begins(&mut self, plan: &RunPlan) {
        if let Some(kept) = &mut self.kept {
            kept.leaves_out = plan.leaves_out;
        }
    }

    /// Where a path at the beginning stands, if it is watched.
    pub fn root(&mut self) -> Option<NodeId> {
        self.watched().map(|kept| kept.tree.root())
    }

    fn watched(&mut self) -> Option<&mut Kept> {
        self.kept.as_mut().filter(|kept| kept.leaves_out != LeavesOut::Nothing)
    }

    /// Nothing is watched until a path is that is.
    pub fn rest(&mut self, decider: &mut Decider) {
        if let Some(kept) = &mut self.kept
            && decider.machine.watching.trace().is_some()
        {
            kept.trace = decider.machine.watching.swap_trace(None);
            decider.stack.keep_refuted(Keeping::Off);
        }
    }

    pub fn fork(&mut self, node: Option<NodeId>) {
        if let (Some(kept), Some(node)) = (&mut self.kept, node) {
            kept.tree.fork(node);
        }
    }

    pub fn hold(&mut self, path: Path) {
        self.held.push(path);
    }

    pub fn held(&self) -> &[Path] {
        &self.held
    }

    pub fn take_held(&mut self) -> Vec<Path> {
        std::mem::take(&mut self.held)
    }

    /// A path's turn begins: whatever was touched before belongs to another.
    pub fn begin(&mut self, path: &Path, decider: &mut Decider) {
        self.watch(path, decider);
        decider.take_footprint();
    }

    /// Has the machine keep footprints, and the solver what it refutes, for paths that are watched only.
    pub fn watch(&mut self, path: &Path, decider: &mut Decider) {
        let Some(kept) = &mut self.kept else { return };
        if path.node.is_some() != decider.machine.watching.trace().is_some() {
            kept.trace = decider.machine.watching.swap_trace(kept.trace.take());
            decider.stack.keep_refuted(if path.node.is_some() { Keeping::On } else { Keeping::Off });
        }
    }

    /// A path that is not watched may be again.
    pub fn adopt(&mut self, path: &mut Path, decider: &mut Decider, line_up: &RefCell<LineUp>) {
        if let (Some(kept), None, Unwatched::GivenUp) = (self.watched(), path.node, path.unwatched) {
            let mut means = decider.means();
            if line_up.borrow_mut().points().any(|points| points.adopts(path, &mut means) == Watch::Points) {
                path.node = Some(kept.tree.root());
            }
        }
    }

    /// Paths that part at a branch are asked about again where they meet.
    pub fn plan_stop(&mut self, path: &mut Path, effect: &Effect, decider: &Decider) {
        if path.node.is_none() {
            return;
        }
        if let (Some(kept), Effect::Branch { .. } | Effect::Switch { .. }) = (&mut self.kept, effect) {
            let State { top, depth, .. } = &path.state;
            let block = kept.meets.behind(&decider.machine.image.module, top.func, top.block);
            path.stops.push(Stop { depth: *depth, block });
        }
    }

    /// What a path that is watched knows before something is decided.
    pub fn under(&mut self, path: &Path, decider: &mut Decider) -> Option<Under> {
        path.node?;
        self.watch(path, decider);
        decider.stack.take_refuted();
        Some(Under { condition: path.condition.clone(), input: path.input.clone() })
    }

    /// Tells what was refuted since then.
    pub fn tell_refuted(
        &mut self,
        node: Option<NodeId>,
        under: Option<Under>,
        decider: &mut Decider,
        line_up: &RefCell<LineUp>,
    ) {
        let (Some(node), Some(under)) = (node, under) else { return };
        // A way in doubt takes constraints along that were not there before.
        let is_known = !decider.parted.iter().any(|parted| matches!(parted, Parted::Doubtful(_)));
        let refuted = decider.stack.take_refuted();
        if refuted.is_empty() && is_known {
            return;
        }
        for points in line_up.borrow_mut().points() {
            points.refuted(node, &under, is_known.then_some(&refuted[..]), &mut decider.means());
        }
    }

    /// Goes on with that one of the paths just parted which takes a new edge, or is soonest where they meet.
    pub fn turn_to_nearest(&mut self, path: &mut Path, decider: &mut Decider) {
        let Some(Kept { meets, goes_nearest_first: true, .. }) = &mut self.kept else { return };
        if path.node.is_none() || !path.seeds.is_empty() {
            return;
        }
        let (image, coverage) = (decider.machine.image, &decider.machine.coverage);
        let (module, func, block) = (&image.module, path.state.top.func, path.state.top.block);
        let edges = module.function(func).block(block).terminator.edges();
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
        for parted in &mut decider.parted {
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
    fn ask(
        &mut self,
        path: &mut Path,
        effect: &Effect,
        decider: &mut Decider,
        line_up: &RefCell<LineUp>,
    ) -> (&'static str, Admission) {
        let touched = decider.take_footprint();
        let (Some(kept), Some(from)) = (&mut self.kept, path.node) else { return ("", Admission::Keep) };
        if !path.follow.is_empty() {
            return ("", Admission::Keep);
        }
        let mut line_up = line_up.borrow_mut();
        if let Effect::Ended(ending) = effect {
            line_up.points().for_each(|points| points.ended_at(from, &touched, ending));
            return ("", Admission::Keep);
        }
        let here = kept.tree.grow(from);
        path.node = Some(here);
        let point = Point { path, effect, from, here, touched: &touched.into() };
        line_up.admit_at(&point, &mut decider.means())
    }

    /// Nothing above the node will have been seen whole.
    pub fn spoil(&mut self, node: Option<NodeId>, line_up: &RefCell<LineUp>) {
        let (Some(kept), Some(node)) = (&mut self.kept, node) else { return };
        kept.tree.spoil(node);
        line_up.borrow_mut().points().for_each(|points| points.spoiled(node));
    }

    /// A path of the tree ended: whatever is over with it is told.
    fn leave(&mut self, node: Option<NodeId>, decider: &mut Decider, line_up: &RefCell<LineUp>) {
        let (Some(kept), Some(node)) = (&mut self.kept, node) else { return };
        let mut line_up = line_up.borrow_mut();
        for (node, subtree) in kept.tree.leave(node) {
            for points in line_up.points() {
                points.subtree_finished(node, subtree, &mut decider.means());
            }
        }
    }

    /// What the one that asked to hold paths says about them, and its name.
    fn settlement(&mut self, decider: &mut Decider, line_up: &RefCell<LineUp>) -> Option<(&'static str, Settlement)> {
        let mut last = None;
        for technique in &mut line_up.borrow_mut().techniques {
            let Some(points) = technique.points() else { continue };
            match points.settle(&mut decider.means()) {
                Settlement::Release(nodes) if nodes.is_empty() => {}
                found => last = Some((technique.name(), found)),
            }
        }
        last
    }
}

impl Worker<'_, '_> {
    pub(super) fn spoil(&mut self, path: &Path) {
        self.watching.spoil(path.node, &self.line_up);
    }

    pub(super) fn leave(&mut self, node: Option<NodeId>) {
        self.watching.leave(node, &mut self.decider, &self.line_up);
    }

    pub(super) fn arrive(&mut self, path: &mut Path, effect: &Effect) -> Arrival {
        if path.node.is_none() {
            return Arrival::Goes;
        }
        match self.watching.ask(path, effect, &mut self.decider, &self.line_up) {
            (_, Admission::Keep) => Arrival::Goes,
            (_, Admission::Unwatch(why)) => {
                self.unwatch(path, why);
                Arrival::Goes
            }
            (_, Admission::Hold) => Arrival::Held,
            (_, Admission::End(ending)) => Arrival::Ended(*ending),
            (technique, Admission::Prune(reason)) => Arrival::Ended(Ending::Pruned { technique, reason }),
        }
    }

    fn unwatch(&mut self, path: &mut Path, why: Unwatched) {
        if why == Unwatched::GivenUp {
            self.spoil(path);
        }
        self.leave(path.node.take());
        path.unwatched = why;
        path.stops.truncate(0);
    }

    /// Nothing is pending: what is held is pruned or goes on. `false` when there is nothing to go on with.
    pub(super) fn settle_held(&mut self) -> bool {
        if self.watching.held.is_empty() {
            return false;
        }
        let settlement = self.watching.settlement(&mut self.decider, &self.line_up);
        let held = self.watching.take_held();
        match settlement {
            Some((technique, Settlement::PruneAll(reasons))) => {
                for path in held {
                    let reason = reasons.iter().find(|(node, _)| Some(*node) == path.node);
                    let reason = reason.map(|(_, reason)| reason.clone()).unwrap_or_default();
                    self.end(path, Ending::Pruned { technique, reason });
                }
                return self.pending.len() > 0;
            }
            Some((_, Settlement::Release(nodes))) => {
                for path in held {
                    match path.node {
                        Some(node) if !nodes.contains(&node) => self.watching.hold(path),
                        _ => self.push(path, None),
                    }
                }
            }
            None => held.into_iter().for_each(|path| self.push(path, None)),
        }
        true
    }
}

/// What a footprint leaves out.
fn updates(image: &Image) -> Rc<vm::Updates> {
    let module = &image.module;
    let faults = Faults { overflow: image.checks.overflow, shift: image.checks.shift };
    let of_function = |idx: usize| {
        let func = ir::FuncId::new(idx);
        analysis::updates(module, func, &Liveness::new(module, func), faults)
    };
    Rc::new(vm::Updates((0..module.functions.len()).map(of_function).collect()))
}
