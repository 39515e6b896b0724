//! `rwset`: paths that can only repeat are cut off.
//!
//! **Problem.** Most paths of a program do, from some point on, what another path did from there. Boonstoppel, Cadar and
//! Engler ("RWset: Attacking Path Explosion in Constraint-Based Test Generation", TACAS 2008) stop such a path and keep
//! a test for the part of it that was its own.
//!
//! **Idea.** A path that reaches a program point (call stack and position) in a state that was there before repeats what
//! followed. Two states are the same when they agree on what the continuations read: the *read set*, which is known
//! byte by byte once everything below the earlier visit has been explored: what is read there minus what is
//! overwritten first. Concrete bytes of the read set must be equal; symbolic ones must be equally constrained,
//! counting all constraints connected with them. Reading at a symbolic offset reads the whole object, writing at one
//! overwrites nothing.
//!
//! **Where we differ.**
//! - *Points* are the places where the engine has to decide something (before it asks the solver about the other side) and,
//!   for each branch that parted two paths, the place where they meet again (its immediate postdominator). Between them
//!   the machine runs at full speed; its footprint is flags beside the bytes, collected once per stretch.
//! - *Registers* have no addresses and are compared where they are live, by the static analysis.
//! - *The write set* is not kept: states share their memory, so what was not written is the same object in both, which one
//!   comparison of pointers shows.
//! - *A hit needs no equality*: it is enough that the new state can do no more than the earlier one, that is, that its
//!   condition implies the earlier constraints on the read set, after a renaming of the earlier symbols (see `compare`).
//! - *Addresses* of the stack and the heap are compared by object, so that the order of allocations does not matter.
//! - *Any search order* works: the read set of a visit is complete when the explorer says that its subtree is over, whichever
//!   order that came about in. With several workers the technique asks for one, because hits need a common cache.
//! - *Loops over fresh input* never finish their subtrees. A path that comes to a point above which an unfinished visit looks
//!   the same, as far as is known yet, is held. When only held paths are left, the read sets are a system of equations
//!   over the explored graph with held paths as edges back to the visits they resemble; its least solution is
//!   computed, and if every held path still resembles its visit on it, all of them are pruned: every execution from a
//!   held state is matched step by step by one from its visit, for ever, because they agree on what is read until the
//!   next point and then again. Otherwise those that differ go on.
//!
//! **Why it is sound.** A prune is justified by a visit whose subtree was explored whole, or by the solution above. A cut,
//! an unsupported operation or an entry in the ledger anywhere below a visit spoils it for ever; a prune by another
//! technique does, too. So what a pruned path would have shown (branches, bugs) was shown below the visit.
//!
//! **What it assumes.** That the program does not decide by the numerical value of an address, beyond comparing pointers for
//! equality and within one object. (Natively, such a decision would change from run to run.)
//!
//! **What it can miss.** Paths, by design: the number of ways to reach something is not preserved. With `--check leak`
//! nothing is pruned, because leaks depend on all of memory.
//!
//! **What it costs.** A copy of the state at every point (shared until written), a comparison per earlier visit of the point,
//! and a solver question when only constraints differ. Entries are bounded; dropping one loses prunes, never a path.

mod compare;
mod live;
mod reads;
mod renaming;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use explore::{Admission, Decisions, Means, NodeId, Path, Point, Settlement, Subtree, Technique, Watch};
use rustc_hash::{FxHashMap, FxHasher};
use vm::{Effect, State, Touched};
use witness::{Ending, Place};

use compare::{covers, is_ruled_out, live_slots, Paired, Slots, Snapshot};
use live::Live;
use reads::Reads;

const NAME: &str = "rwset";

/// What a hit leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hits {
    #[default]
    Prune,
    /// Everything is computed, nothing pruned: what the technique costs.
    Count,
}

/// Deliberate faults, so that tests can show they would notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sabotage {
    #[default]
    None,
    /// One byte of every read set is left out.
    DropByte,
}

/// Which states may be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    #[default]
    Any,
    /// Only those that asked for equally many inputs: another technique may decide by their number what the next looks
    /// like.
    EquallyMany,
}

#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub hits: Hits,
    pub sabotage: Sabotage,
    pub inputs: Inputs,
    /// Earlier visits kept in all, and of one point.
    pub max_entries: usize,
    pub max_entries_at_point: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config { hits: Hits::Prune, sabotage: Sabotage::None, inputs: Inputs::Any, max_entries: 20_000, max_entries_at_point: 64 }
    }
}

pub(crate) fn make(flags: &crate::Flags, _: crate::Subject) -> Result<crate::Part, String> {
    Ok(crate::Part::passive(Rwset::new(flags.rwset)))
}

/// A program point as a hash; whether two states really stand at the same one is checked when they are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PointKey(u64);

impl PointKey {
    fn of_state(state: &State, inputs: Inputs) -> PointKey {
        let mut hasher = FxHasher::default();
        for frame in state.frames().take(MAX_FRAMES as usize) {
            (frame.func, frame.block, frame.inst_idx).hash(&mut hasher);
        }
        if inputs == Inputs::EquallyMany {
            state.inputs.len().hash(&mut hasher);
        }
        PointKey(hasher.finish())
    }
}

/// A point some path is below of.
struct Visit {
    parent: Option<NodeId>,
    depth: u32,
    /// On the way from the parent.
    touched: Vec<Touched>,
    /// What is known to be read from here on.
    reads: Reads,
    /// Absent where the state is no candidate: in the middle of an instruction, or pruned.
    snapshot: Option<Rc<Snapshot>>,
    key: PointKey,
    /// Instructions executed before it.
    steps: u64,
    decisions: Decisions,
    is_spoiled: bool,
}

/// A visit whose continuations are all known.
struct Entry {
    snapshot: Rc<Snapshot>,
    reads: Reads,
    decisions: Decisions,
}

/// A path that waits because it looks like an unfinished visit.
struct Held {
    node: NodeId,
    like: NodeId,
    snapshot: Snapshot,
    place: Place,
}

/// What comparing states at a point has brought.
#[derive(Default)]
struct Worth {
    n_compared: u64,
    n_hits: u64,
}

impl Worth {
    /// Where hundreds of comparisons bring one hit, only the newest entries are tried.
    fn n_tries(&self) -> usize {
        if self.n_compared > 256 * (1 + self.n_hits) { 4 } else { usize::MAX }
    }
}

/// Unfinished visits of a point that a path is compared with.
const MAX_CANDIDATES: usize = 8;

/// States with more frames are not compared: a recursion that deep would spend its time on comparing frames.
const MAX_FRAMES: u32 = 256;

#[derive(Default)]
pub struct Rwset {
    config: Config,
    live: Live,
    visits: Vec<Option<Visit>>,
    /// Unfinished visits by point.
    open: FxHashMap<PointKey, Vec<NodeId>>,
    entries: FxHashMap<PointKey, VecDeque<Entry>>,
    /// The points of the entries, oldest first.
    order: VecDeque<PointKey>,
    /// What was ever seen to be read from a point on: a guess at what will be.
    usual: FxHashMap<PointKey, Reads>,
    held: Vec<Held>,
    n_hits: u64,
    n_entries: u64,
    n_dropped: u64,
    points: FxHashMap<PointKey, Worth>,
    by_location: BTreeMap<Place, u64>,
}

impl Rwset {
    pub fn new(config: Config) -> Rwset {
        Rwset { config, ..Rwset::default() }
    }

    fn visit(&self, node: NodeId) -> Option<&Visit> {
        self.visits.get(node.0 as usize)?.as_ref()
    }

    fn visit_mut(&mut self, node: NodeId) -> Option<&mut Visit> {
        self.visits.get_mut(node.0 as usize)?.as_mut()
    }

    fn begin_visit(&mut self, point: &Point) -> PointKey {
        let key = PointKey::of_state(&point.path.state, self.config.inputs);
        let parent = self.visit(point.from).map(|_| point.from);
        let depth = self.visit(point.from).map_or(0, |visit| visit.depth + 1);
        let idx = point.here.0 as usize;
        if self.visits.len() <= idx {
            self.visits.resize_with(idx + 1, || None);
        }
        self.visits[idx] = Some(Visit {
            parent,
            depth,
            touched: point.touched.to_vec(),
            reads: Reads::default(),
            snapshot: None,
            key,
            steps: point.path.state.steps,
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
    fn hit(&mut self, key: PointKey, snapshot: &Snapshot, slots: &Slots, means: &mut Means) -> Option<(Reads, Decisions)> {
        let entries = self.entries.get(&key)?;
        let worth = self.points.entry(key).or_default();
        for entry in entries.iter().rev().take(worth.n_tries()) {
            worth.n_compared += 1;
            if let Some(paired) = covers(&entry.snapshot, &entry.reads, snapshot, slots, means) {
                worth.n_hits += 1;
                return Some((seen_from(&entry.reads, &paired), entry.decisions.clone()));
            }
        }
        None
    }

    /// An unfinished visit that looks the same, as far as is known.
    fn resembled(
        &mut self,
        key: PointKey,
        node: NodeId,
        snapshot: &Snapshot,
        slots: &Slots,
        means: &mut Means,
    ) -> Option<NodeId> {
        let candidates: Vec<NodeId> = self.open.get(&key)?.iter().rev().take(MAX_CANDIDATES).copied().collect();
        for like in candidates {
            let earlier = self.visit(like).and_then(|visit| visit.snapshot.as_deref());
            if earlier.is_none_or(|earlier| is_ruled_out(&earlier.state, &snapshot.state, slots)) {
                continue;
            }
            let way = self.reads_on_the_way(like, node);
            if let Some(way) = &way {
                self.usual.entry(key).or_default().extend(way);
            }
            let Some(visit) = self.visit(like) else { continue };
            let Some(usual) = self.usual.get(&key).filter(|_| !visit.is_spoiled) else { continue };
            let Some(earlier) = visit.snapshot.clone() else { continue };
            let mut reads = visit.reads.clone();
            reads.extend(usual);
            if covers(&earlier, &reads, snapshot, slots, means).is_some() {
                return Some(like);
            }
        }
        None
    }

    /// What is read between an ancestor and a node; `None` when it is no ancestor.
    fn reads_on_the_way(&self, ancestor: NodeId, node: NodeId) -> Option<Reads> {
        let limit = self.visit(ancestor)?.depth;
        let mut reads = Reads::default();
        let mut at = node;
        while at != ancestor {
            let visit = self.visit(at).filter(|visit| visit.depth > limit)?;
            let mut before = Reads::default();
            before.absorb(&visit.touched, &reads);
            reads = before;
            at = visit.parent?;
        }
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
        let slots = live_slots(&snapshot.state, &mut self.live, means);
        let paired = covers(&snapshot, &reads, &held.snapshot, &slots, means)?;
        Some(seen_from(&reads, &paired))
    }

    fn count_hit(&mut self, place: Place) {
        self.n_hits += 1;
        *self.by_location.entry(place).or_insert(0) += 1;
    }

    fn keep_entry(&mut self, key: PointKey, entry: Entry) {
        self.n_entries += 1;
        self.order.push_back(key);
        let entries = self.entries.entry(key).or_default();
        entries.push_back(entry);
        if entries.len() > self.config.max_entries_at_point {
            entries.pop_front();
            self.n_dropped += 1;
        }
        while self.order.len() > self.config.max_entries {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(entries) = self.entries.get_mut(&oldest) {
                self.n_dropped += u64::from(entries.pop_front().is_some());
            }
        }
    }

    /// Marks everything above, too: nothing that contains it will be whole.
    fn spoil(&mut self, node: NodeId) {
        let mut next = Some(node);
        while let Some(visit) = next.and_then(|node| self.visit_mut(node)) {
            if std::mem::replace(&mut visit.is_spoiled, true) {
                break;
            }
            next = visit.parent;
        }
    }
}

impl Technique for Rwset {
    fn name(&self) -> &'static str {
        NAME
    }

    fn watches(&self) -> Watch {
        Watch::Points
    }

    fn run_begins(&mut self) {
        self.visits.clear();
        self.open.clear();
        self.entries.clear();
        self.order.clear();
        self.usual.clear();
        self.held.clear();
    }

    fn admit_at(&mut self, point: &Point, means: &mut Means) -> Admission {
        let key = self.begin_visit(point);
        let is_between = point.path.state.answers.is_empty() && !matches!(point.effect, Effect::OutOfFuel);
        if !is_between || point.path.state.depth > MAX_FRAMES || means.machine.image.checks.leak {
            return Admission::Keep;
        }
        self.points.entry(key).or_default();
        let snapshot = Snapshot::of_path(point.path);
        let slots = live_slots(&snapshot.state, &mut self.live, means);
        if let Some((reads, decisions)) = self.hit(key, &snapshot, &slots, means) {
            self.count_hit(means.machine.image.whereabouts(&snapshot.state).0);
            if self.config.hits == Hits::Count {
                return Admission::Keep;
            }
            if let Some(visit) = self.visit_mut(point.here) {
                visit.reads = reads;
            }
            return Admission::Prune(reason(&decisions));
        }
        if self.has_moved(point)
            && let Some(like) = self.resembled(key, point.here, &snapshot, &slots, means)
            && self.config.hits == Hits::Prune
        {
            let (place, _) = means.machine.image.whereabouts(&snapshot.state);
            self.held.push(Held { node: point.here, like, snapshot, place });
            return Admission::Hold;
        }
        if let Some(visit) = self.visit_mut(point.here) {
            visit.snapshot = Some(Rc::new(snapshot));
        }
        self.open.entry(key).or_default().push(point.here);
        Admission::Keep
    }

    fn ended_at(&mut self, node: NodeId, touched: &[Touched], _: &Ending) {
        if let Some(visit) = self.visit_mut(node) {
            visit.reads.absorb(touched, &Reads::default());
        }
    }

    fn ended(&mut self, path: &Path, ending: &Ending) {
        // Whatever another technique left out here, it had its own reasons for.
        if let (Ending::Pruned { technique, .. }, Some(node)) = (ending, path.node())
            && *technique != NAME
        {
            self.spoil(node);
        }
    }

    fn spoiled(&mut self, node: NodeId) {
        self.spoil(node);
    }

    fn subtree_finished(&mut self, node: NodeId, subtree: Subtree, _: &mut Means) {
        let Some(visit) = self.visits.get_mut(node.0 as usize).and_then(Option::take) else { return };
        if let Some(open) = self.open.get_mut(&visit.key) {
            open.retain(|open| *open != node);
        }
        let Visit { parent, touched, mut reads, snapshot, key, decisions, is_spoiled, depth: _, steps: _ } = visit;
        if let Some(above) = parent.and_then(|parent| self.visit_mut(parent)) {
            above.reads.absorb(&touched, &reads);
        }
        self.usual.entry(key).or_default().extend(&reads);
        if let Some(snapshot) = snapshot.filter(|_| subtree == Subtree::Whole && !is_spoiled) {
            if self.config.sabotage == Sabotage::DropByte {
                reads.drop_a_byte();
            }
            self.keep_entry(key, Entry { snapshot, reads, decisions });
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
            reasons.push((held.node, reason(&decisions)));
            self.count_hit(held.place);
        }
        Settlement::PruneAll(reasons)
    }

    fn summary(&self) -> Option<String> {
        let by_location: Vec<String> = self
            .by_location
            .iter()
            .map(|(place, n_hits)| {
                let (file, function) = (json_text(&place.file), json_text(&place.function));
                format!(r#"{{"file":{file},"line":{},"function":{function},"hits":{n_hits}}}"#, place.line)
            })
            .collect();
        Some(format!(
            r#"{{"hits":{},"points":{},"entries":{},"dropped":{},"by_location":[{}]}}"#,
            self.n_hits,
            self.points.len(),
            self.n_entries,
            self.n_dropped,
            by_location.join(",")
        ))
    }
}

/// The read set as the new state numbers its objects.
fn seen_from(reads: &Reads, paired: &Paired) -> Reads {
    let mut seen = Reads::default();
    for (object, ranges) in reads.iter() {
        seen.add(paired.get(&object).copied().unwrap_or(object), ranges);
    }
    seen
}

/// Names the earlier path by its decisions.
fn reason(decisions: &Decisions) -> String {
    let decisions: Vec<String> = decisions.to_vec().iter().map(u64::to_string).collect();
    format!("repeats what follows decisions [{}]", decisions.join(","))
}

fn json_text(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}
