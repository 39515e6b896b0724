//! `rwset`: paths that can only repeat are cut off.
//!
//! **Problem.** Most paths of a program do, from some point on, what another path did from there. Boonstoppel, Cadar and
//! Engler ("RWset: Attacking Path Explosion in Constraint-Based Test Generation", TACAS 2008) stop such a path and keep
//! a test for the part of it that was its own.
//!
//! **Idea.** A path that reaches a program point (call stack and position) in a state that was there before repeats what
//! followed. Two states count as the same when they agree on what is read from there on, and not overwritten first: the *read
//! set*. It is known byte by byte once everything below the earlier visit has been explored. Concrete bytes of the read set must
//! be equal. Symbolic ones must be equally constrained, counting all constraints connected with them. Reading at a symbolic
//! offset reads the whole object; writing at one overwrites nothing.
//!
//! **Where we differ.**
//! - *Points* are the places where the engine has to decide something (before it asks the solver about the other side) and,
//!   for each branch that parted two paths, the place where they meet again (its immediate postdominator). Between them
//!   the machine runs at full speed; its footprint is flags beside the bytes, collected once per stretch.
//! - *Registers* have no addresses and are compared where they are live, by the static analysis.
//! - *The write set* is not kept. States share their memory, so what was not written is the same object in both, which one
//!   comparison of pointers shows.
//! - *A hit needs no equality.* It is enough that the new state can do no more than the earlier one: its condition implies the
//!   earlier constraints on the read set, after a renaming of the earlier symbols (see `compare`).
//! - *Of the earlier constraints only those must hold that were relied on*: those that refuted something below the earlier
//!   visit, a side of a branch, a value or an object (see `needed`). A constraint that never ruled anything out may be
//!   violated, although it speaks about what is read.
//! - *Symbols that are not read any more* need not have the same values: where it can be done exactly they are taken out of
//!   the earlier constraints first (see `project`). The paper's transitive closure keeps them.
//! - *Addresses* of the stack and the heap are compared by object, so that the order of allocations does not matter.
//! - *Of the sides of a branch* the one with the shortest way to where they meet again goes first. It comes there with the
//!   fewest conditions, so what it sees covers most of those that come later.
//! - *Any search order* works: the read set of a visit is complete when the explorer says that its subtree is over. Depth
//!   first, subtrees are over soonest and most is pruned.
//! - *Several workers* have entries of their own each. A path that is given to another worker counts as cut where it came
//!   from. So a prune is always justified by what one worker has seen whole, and some paths are explored by two of them.
//! - *Its cost has a limit* (see `economy`): some milliseconds, a few per cent of the work it goes with, and what prunes have
//!   saved. When more was spent, paths run on unwatched, as if the technique were not there, until it can be afforded
//!   again. An unwatched path spoils what is above it.
//! - *Where flow is tracked* a path must also repeat which inputs things depend on: labels of all that is compared, what control
//!   depends on, and the names by which flow knows objects and places (calls under way, turns of loops). Then whatever the
//!   rest of it would show about flow was shown.
//! - *Loops over fresh input* never finish their subtrees. A path is held when it comes to a point and an unfinished visit above
//!   it looks the same, as far as is known yet. When only held paths are left, each is taken for an edge back to the visit
//!   it resembles. The read sets are then equations over the explored graph, and their least solution is computed. If every
//!   held path still resembles its visit on that solution, all of them are pruned: whatever runs from a held state is
//!   matched step by step, for ever, by what runs from its visit, because they agree on what is read until the next point,
//!   and then again. Otherwise those that differ go on.
//!
//! **Why it is sound.** A prune is justified by a visit whose subtree was explored whole, or by the solution above. A cut,
//! an unsupported operation or an entry in the ledger anywhere below a visit spoils it for ever. So does a prune by another
//! technique. So what a pruned path would have shown (branches, bugs) was shown below the visit: it reads the same
//! values until a condition decides something. What was impossible below the visit was refuted by constraints that the new
//! state satisfies as well. So it goes a way that was seen, and so on to the end. For what lies above, a pruned path
//! needs those of its own constraints from which that was proved.
//!
//! **What it assumes.** That the program does not decide by the numerical value of an address, beyond comparing pointers for
//! equality and within one object. (Natively, such a decision would change from run to run.)
//!
//! **What it can miss.** Paths, by design: the number of ways to reach something is not preserved. With `--check leak`
//! nothing is pruned, because leaks depend on all of memory.
//!
//! **What it costs.** A copy of the state at every point that is worth it (shared until written), comparisons with earlier
//! visits that have the same plain values in their registers (see `entries`), and a solver question when only constraints
//! differ. Entries are bounded; dropping one loses prunes, never a path.

mod company;
mod compare;
mod config;
mod economy;
mod entries;
mod live;
mod needed;
mod project;
mod reads;
mod renaming;
mod snapshot;
mod symbols;
mod tally;
mod visit;

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use explore::{
    Admission, Decisions, Endings, First, Maker, Means, NodeId, Path, Point, Points, Refuted, Report, Settlement,
    Subtree, Technique, Under, Unwatched, Watch,
};
use rustc_hash::FxHashMap;
use term::TermId;
use vm::{Effect, Touched};
use witness::Ending;

pub use config::{Config, ENTRY, Hits, Inputs, Sabotage};
pub use economy::Effort;

use compare::{Covered, Miss, Paired, Slots, covers, is_ruled_out, live_slots};
use economy::Economy;
use entries::{Entries, Entry};
use live::Live;
use needed::{Cores, Needed};
use reads::Reads;
use snapshot::{Seen, Snapshot};
use tally::Tally;
use visit::{Held, MAX_FRAMES, PointKey, Visit, Worth};

const NAME: &str = "rwset";

/// Unfinished visits of a point that a path is compared with.
const MAX_CANDIDATES: usize = 8;

/// Entries a state is compared with byte by byte.
const MAX_COMPARISONS: usize = 16;

#[derive(Default)]
pub struct Rwset {
    config: Config,
    economy: Economy,
    live: Live,
    visits: Vec<Option<Visit>>,
    /// Unfinished visits by point.
    open: FxHashMap<PointKey, Vec<NodeId>>,
    entries: Entries,
    /// What was ever seen to be read from a point on: a guess at what will be.
    usual: FxHashMap<PointKey, Reads>,
    held: Vec<Held>,
    worth: FxHashMap<PointKey, Worth>,
    cores: Cores,
    tally: Tally,
    /// Of all workers.
    total: Arc<Mutex<Tally>>,
}

impl Rwset {
    pub fn new(config: Config) -> Rwset {
        Rwset { config, economy: Economy::new(config.effort), ..Rwset::default() }
    }

    fn visit(&self, node: NodeId) -> Option<&Visit> {
        self.visits.get(node.0 as usize)?.as_ref()
    }

    fn visit_mut(&mut self, node: NodeId) -> Option<&mut Visit> {
        self.visits.get_mut(node.0 as usize)?.as_mut()
    }

    fn begin_visit(&mut self, point: &Point) -> PointKey {
        let state = &point.path.state;
        let key = PointKey::of_state(state, self.config.inputs);
        let above = self.visit(point.from);
        let (parent, depth) = (above.map(|_| point.from), above.map_or(0, |visit| visit.depth + 1));
        let n_steps = above.map_or(0, |visit| state.steps.saturating_sub(visit.steps));
        let added = match above {
            Some(above) => point.path.condition.added_since(above.n_constraints),
            None => Vec::new(),
        };
        let work = self.economy.point(point.effect, n_steps, point.touched.len());
        let idx = point.here.0 as usize;
        if self.visits.len() <= idx {
            self.visits.resize_with(idx + 1, || None);
        }
        self.visits[idx] = Some(Visit {
            parent,
            depth,
            touched: point.touched.clone(),
            reads: Reads::default(),
            added,
            needed: Needed::default(),
            n_constraints: point.path.condition.len(),
            snapshot: None,
            key,
            steps: state.steps,
            work,
            decisions: point.path.decisions.clone(),
            is_spoiled: false,
        });
        key
    }

    /// Whether anything was executed since the last point. A path that stops at the beginning of a block and has to decide
    /// there is asked about twice, and so is one that was held; it must not be taken for a repetition of itself.
    fn has_moved(&self, point: &Point) -> bool {
        // A terminator that asks is counted when it asks and again when it is executed.
        let is_still = |before: &Visit, here: &Visit| before.key == here.key && here.steps <= before.steps + 1;
        match (self.visit(point.from), self.visit(point.here)) {
            (Some(before), Some(here)) => !is_still(before, here),
            _ => true,
        }
    }

    /// An earlier visit after which there is nothing new to see.
    fn hit(&mut self, key: PointKey, seen: Seen, slots: &Slots, means: &mut Means) -> Option<Hit> {
        let (like, n_masks) = self.entries.like(key, seen.state, slots);
        self.economy.lookup(n_masks);
        let mut miss = Miss::Nothing;
        let mut n_compared = 0;
        for id in like {
            let Some(entry) = self.entries.get(id) else { continue };
            if entry.snapshot.fails_again(seen, means) {
                self.economy.failed_again();
                miss = miss.max(Miss::Values);
                continue;
            }
            n_compared += 1;
            if n_compared > MAX_COMPARISONS {
                break;
            }
            let Entry { snapshot, reads, needed, .. } = entry;
            match self.economy.compare(means, |means| covers(snapshot, reads, needed, seen, means)) {
                Ok(Covered { paired, relied_on }) => {
                    let reads = seen_from(reads, &paired);
                    return Some(Hit { reads, relied_on, decisions: entry.decisions.clone(), work: entry.work });
                }
                Err(why) => miss = miss.max(why),
            }
        }
        self.tally.count_miss(miss);
        None
    }

    /// An unfinished visit that looks the same, as far as is known.
    fn resembled(
        &mut self,
        key: PointKey,
        node: NodeId,
        seen: Seen,
        slots: &Slots,
        means: &mut Means,
    ) -> Option<NodeId> {
        let candidates: Vec<NodeId> = self.open.get(&key)?.iter().rev().take(MAX_CANDIDATES).copied().collect();
        self.economy.lookup(candidates.len());
        for like in candidates {
            let Some(visit) = self.visit(like).filter(|visit| !visit.is_spoiled) else { continue };
            let Some(earlier) = visit.snapshot.clone() else { continue };
            if is_ruled_out(&earlier.state, seen.state, slots) {
                continue;
            }
            if let Some(way) = self.reads_on_the_way(like, node) {
                self.usual.entry(key).or_default().extend(&way);
            }
            let Some(usual) = self.usual.get(&key) else { continue };
            let Some(visit) = self.visit(like) else { continue };
            let mut reads = visit.reads.clone();
            reads.extend(usual);
            let all = Needed::everything();
            if self.economy.compare(means, |means| covers(&earlier, &reads, &all, seen, means)).is_ok() {
                return Some(like);
            }
        }
        None
    }

    /// What is read between an ancestor and a node; `None` when it is no ancestor.
    fn reads_on_the_way(&mut self, ancestor: NodeId, node: NodeId) -> Option<Reads> {
        let limit = self.visit(ancestor)?.depth;
        let mut reads = Reads::default();
        let mut at = node;
        let mut n_visits = 0;
        while at != ancestor {
            let visit = self.visit(at).filter(|visit| visit.depth > limit)?;
            let mut before = Reads::default();
            before.absorb_all(&visit.touched, reads);
            reads = before;
            at = visit.parent?;
            n_visits += 1;
        }
        self.economy.lookup(n_visits);
        Some(reads)
    }

    /// Carries what is read from a node on up to all its ancestors. Not only as far as it is news: what they read
    /// themselves has not been carried anywhere while they were unfinished.
    fn carry_up(&mut self, node: NodeId) -> bool {
        let mut at = node;
        let mut any = false;
        while let Some(visit) = self.visit(at)
            && let Some(parent) = visit.parent
        {
            let (touched, reads) = (visit.touched.clone(), visit.reads.clone());
            let Some(above) = self.visit_mut(parent) else { break };
            any |= above.reads.absorb(&touched, &reads);
            at = parent;
        }
        any
    }

    /// What a held path reads if it still resembles the visit it is held for.
    fn seen_by_held(&mut self, held: &Held, means: &mut Means) -> Option<Reads> {
        let visit = self.visit(held.like).filter(|visit| !visit.is_spoiled)?;
        let (snapshot, reads) = (visit.snapshot.clone()?, visit.reads.clone());
        let seen = held.snapshot.as_seen();
        let all = Needed::everything();
        let covered = self.economy.compare(means, |means| covers(&snapshot, &reads, &all, seen, means)).ok()?;
        Some(seen_from(&reads, &covered.paired))
    }

    /// Marks everything above, too: nothing that contains it will be whole.
    fn spoil(&mut self, node: NodeId) {
        let mut next = Some(node);
        while let Some(visit) = next.and_then(|node| self.visit_mut(node)) {
            if std::mem::replace(&mut visit.is_spoiled, true) {
                break;
            }
            // Nothing will be compared with it.
            visit.snapshot = None;
            next = visit.parent;
        }
    }

    /// Looks for earlier visits like this one.
    fn look(&mut self, key: PointKey, point: &Point, means: &mut Means) -> Admission {
        let position = PointKey::of_position(&point.path.state);
        let slots = live_slots(key, &point.path.state, &mut self.live, means);
        let seen = Seen::of_path(point.path);
        if let Some(Hit { reads, relied_on, decisions, work }) = self.hit(key, seen, &slots, means) {
            self.worth.entry(position).or_default().n_hits += 1;
            if self.config.hits == Hits::Prune {
                self.economy.pruned(work);
            }
            let (place, _) = means.machine.image.whereabouts(&point.path.state);
            let reason = reason(&place, &decisions);
            self.tally.count_hit(place);
            if let Some(visit) = self.visit_mut(point.here) {
                visit.reads = reads;
                visit.needed.extend(relied_on);
            }
            return match self.config.hits {
                Hits::Prune => Admission::Prune(reason),
                Hits::Count => Admission::Unwatch(Unwatched::Known),
            };
        }
        let worth = self.worth.entry(position).or_default();
        if self.open.get(&key).is_some_and(|open| !open.is_empty()) && self.config.hits == Hits::Prune {
            worth.n_candidates += 1;
            if worth.is_worth_holding()
                && self.has_moved(point)
                && let Some(like) = self.resembled(key, point.here, seen, &slots, means)
            {
                self.worth.entry(position).or_default().n_held += 1;
                self.economy.held();
                let (place, _) = means.machine.image.whereabouts(&point.path.state);
                let snapshot = Snapshot::of_path(point.path, slots);
                self.held.push(Held { node: point.here, like, snapshot, place });
                return Admission::Hold;
            }
        }
        self.economy.snapshot();
        if let Some(visit) = self.visit_mut(point.here) {
            visit.snapshot = Some(Rc::new(Snapshot::of_path(point.path, slots)));
        }
        self.open.entry(key).or_default().push(point.here);
        Admission::Keep
    }
}

/// An earlier visit that makes a prune right.
struct Hit {
    reads: Reads,
    relied_on: Vec<TermId>,
    decisions: Decisions,
    work: u64,
}

impl Technique for Rwset {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(&mut self) -> Option<&mut dyn Points> {
        Some(self)
    }

    fn endings(&mut self) -> Option<&mut dyn Endings> {
        Some(self)
    }

    fn for_workers(&self) -> Option<Maker> {
        let (config, total) = (self.config, self.total.clone());
        Some(Arc::new(move || Box::new(Rwset { total: total.clone(), ..Rwset::new(config) })))
    }

    fn run_begins(&mut self) {
        self.visits.clear();
        self.open.clear();
        self.entries.clear();
        self.usual.clear();
        self.cores.clear();
        self.held.clear();
    }

    fn report(&mut self) -> Report {
        let mut total = self.total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        total.merge(&self.tally, self.entries.n_kept, self.entries.n_dropped);
        Report::summary(total.to_json())
    }
}

impl Endings for Rwset {
    fn ended(&mut self, path: &Path, ending: &Ending) {
        // Whatever another technique left out here, it had its own reasons for.
        if let (Ending::Pruned { technique, .. }, Some(node)) = (ending, path.node())
            && *technique != NAME
        {
            self.spoil(node);
        }
    }
}

impl Points for Rwset {
    fn first(&self) -> First {
        First::Nearest
    }

    fn adopts(&mut self, _: &Path, means: &mut Means) -> Watch {
        if self.economy.is_tired(means) { Watch::Nothing } else { Watch::Points }
    }

    fn admit_at(&mut self, point: &Point, means: &mut Means) -> Admission {
        let key = self.begin_visit(point);
        if self.economy.is_tired(means) {
            self.tally.count_given_up();
            return Admission::Unwatch(Unwatched::GivenUp);
        }
        let is_between = point.path.state.answers.is_empty() && !matches!(point.effect, Effect::OutOfFuel);
        if !is_between || point.path.state.depth > MAX_FRAMES || means.machine.image.checks.any_leak() {
            return Admission::Keep;
        }
        self.tally.count_point(key);
        let worth = self.worth.entry(PointKey::of_position(&point.path.state)).or_default();
        worth.n_visits += 1;
        if worth.is_worth_a_look() { self.look(key, point, means) } else { Admission::Keep }
    }

    fn ended_at(&mut self, node: NodeId, touched: &[Touched], _: &Ending) {
        if let Some(visit) = self.visit_mut(node) {
            visit.reads.absorb(touched, &Reads::default());
        }
    }

    fn refuted(&mut self, node: NodeId, under: &Under, refuted: Option<&[Refuted]>, means: &mut Means) {
        let Some(visit) = self.visits.get_mut(node.0 as usize).and_then(Option::as_mut) else { return };
        let Some(refuted) = refuted else {
            visit.needed = Needed::everything();
            return;
        };
        if visit.is_spoiled {
            return;
        }
        for refuted in refuted {
            let Under { condition, input } = under;
            let core = self.economy.refuted(means, |means| self.cores.of(refuted, condition, input, means));
            visit.needed.extend(core);
        }
    }

    fn spoiled(&mut self, node: NodeId) {
        self.spoil(node);
    }

    fn subtree_finished(&mut self, node: NodeId, subtree: Subtree, _: &mut Means) {
        let Some(visit) = self.visits.get_mut(node.0 as usize).and_then(Option::take) else { return };
        let Visit { parent, touched, mut reads, added, needed, snapshot, key, decisions, is_spoiled, work, .. } = visit;
        if let Some(open) = self.open.get_mut(&key) {
            open.retain(|open| *open != node);
        }
        if let Some(above) = parent.and_then(|parent| self.visit_mut(parent)) {
            above.work += work;
            if !is_spoiled {
                above.needed.absorb(&added, &needed);
            }
            match &snapshot {
                Some(_) => drop(above.reads.absorb(&touched, &reads)),
                None => return above.reads.absorb_all(&touched, reads),
            }
        }
        if let Some(snapshot) = snapshot {
            self.usual.entry(key).or_default().extend(&reads);
            if subtree == Subtree::Whole && !is_spoiled {
                if self.config.sabotage == Sabotage::DropByte {
                    reads.drop_a_byte();
                }
                let entry = Entry { snapshot, reads, needed, decisions, work };
                self.entries.keep(key, entry, self.config.max_entries, self.config.max_entries_alike);
            }
        }
    }

    fn settle(&mut self, means: &mut Means) -> Settlement {
        let mut held = std::mem::take(&mut self.held);
        let mut released = Vec::new();
        // Sets only grow and are bounded by what was read at all, so this ends.
        loop {
            let mut any = false;
            held.retain(|held| {
                let Some(reads) = self.seen_by_held(held, means) else {
                    released.push(held.node);
                    return false;
                };
                if let Some(visit) = self.visit_mut(held.node) {
                    any |= visit.reads.extend(&reads);
                }
                any |= self.carry_up(held.node);
                true
            });
            if !any {
                break;
            }
        }
        if !released.is_empty() {
            self.held = held;
            return Settlement::Release(released);
        }
        let mut reasons = Vec::with_capacity(held.len());
        for held in held {
            let decisions = self.visit(held.like).map(|visit| visit.decisions.clone()).unwrap_or_default();
            reasons.push((held.node, reason(&held.place, &decisions)));
            self.tally.count_hit(held.place);
            if let Some(visit) = self.visit_mut(held.node) {
                visit.needed = Needed::everything();
            }
        }
        Settlement::PruneAll(reasons)
    }
}

/// The read set as the new state numbers its objects.
fn seen_from(reads: &Reads, paired: &Paired) -> Reads {
    if paired.iter().all(|(old, new)| old == new) {
        return reads.clone();
    }
    let mut seen = Reads::default();
    for (object, ranges) in reads.iter() {
        seen.add(paired.get(&object).copied().unwrap_or(object), ranges);
    }
    seen
}

/// Names the place, and the earlier path by its decisions.
fn reason(place: &witness::Place, decisions: &Decisions) -> String {
    let decisions: Vec<String> = decisions.to_vec().iter().map(u64::to_string).collect();
    format!("at {}:{} it repeats what follows decisions [{}]", place.file, place.line, decisions.join(","))
}
