//! Flow of inputs: what control depends on, which decisions inputs make, and what the side not taken would have written.
//!
//! Labels on values follow data by themselves. This file adds the rest, and costs nothing unless [`Machine::flow`] is set:
//!
//! * **Control.** A decision on a labelled value opens a *region* that lasts until the block where its sides meet again
//!   (or the frame is left). Whatever is written in an open region carries the region's label.
//! * **The side not taken.** A register that some side assigns and that is read behind the meeting gets the label there,
//!   on every side; which registers these are is known from the code. What the sides write to memory is not: it is
//!   learned from runs. `writes` keeps, for every region ever opened, all places any run wrote in it, and where a region
//!   closes all of them get its label, written on this side or not. A place learned after a region of the same name
//!   has closed makes the flow *stale*: what closed before saw too little, and has to be run again.
//! * **Names across runs.** Regions, objects and inputs are told apart by an *index*: the calls under way and the turns of
//!   the loops around, hashed. Two runs that decide alike where it matters give the same thing the same index. Where loop
//!   turns cannot be counted alike on all sides (`FunctionFlow::is_blurred`) they are left out, so several things share
//!   a name and are taken for one.
//! * **Decisions.** Every label that decided something (a branch, an address, a size, a check) is noted once.

use std::cell::OnceCell;
use std::rc::Rc;

use ir::{BlockId, FuncId, Reg, SpanId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::run::Machine;
use crate::{Frame, Label, Object, ObjectId, Region as MemoryRegion, Shadow, State};

/// What is known about one function's control flow; made by whoever can analyse it.
pub struct FunctionFlow {
    pub blocks: Vec<BlockFlow>,
    /// Loop turns are not counted in this function.
    pub is_blurred: bool,
    /// Calls made here may end in a `longjmp`: what decides about them stays in force until the program ends.
    pub may_jump: bool,
}

#[derive(Clone, Default)]
pub struct BlockFlow {
    /// Where the sides of the block's branch meet; `None`: not before the function is left.
    pub meets: Option<BlockId>,
    /// Registers assigned between the branch and the meeting and read behind it.
    pub reassigned: Rc<[Reg]>,
    /// Something happens on arrival: sides meet here, or a loop is entered, repeated or left.
    pub is_eventful: bool,
    /// Loops around the block.
    pub depth: u32,
    /// How many of the outermost loops around the branch are around the meeting, too.
    pub common_depth: u32,
    /// For the header of a loop, the blocks of the loop, ascending.
    pub headed: Option<Rc<[BlockId]>>,
    /// For a branch that only guards the rest of its function: the edge on which nothing but leaving is left to do.
    pub leaving_edge: Option<u32>,
}

/// Makes the facts about a function when it is first asked about.
pub type FlowSource<'i> = Box<dyn Fn(FuncId) -> FunctionFlow + 'i>;

/// What a label decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decides {
    Branch,
    Switch,
    Address,
    /// A size, a function pointer, a jump target or the like.
    Value,
    Assertion,
    Assumption,
    /// Arithmetic that may fault.
    Fault,
    /// Not a decision: two inputs met in a value written to memory.
    Write,
}

impl Decides {
    pub fn name(self) -> &'static str {
        match self {
            Decides::Branch => "branch",
            Decides::Switch => "switch",
            Decides::Address => "address",
            Decides::Value => "value",
            Decides::Assertion => "assertion",
            Decides::Assumption => "assumption",
            Decides::Fault => "fault",
            Decides::Write => "write",
        }
    }
}

/// A label that decided something, where it first did.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub label: Label,
    pub func: FuncId,
    pub span: SpanId,
    pub decides: Decides,
}

/// Bytes of an object, named so that other runs know them; `len` 0 stands for whether the object is alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Spot {
    origin: u64,
    offset: u32,
    len: u32,
}

/// Whether writes of values with several inputs are noted as decisions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteWrites {
    On,
    Off,
}

/// Whether a run only looks which guards it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scouting {
    On,
    Off,
}

/// What all runs of a campaign learned about flow.
pub struct Flow<'i> {
    source: FlowSource<'i>,
    functions: Vec<OnceCell<FunctionFlow>>,
    writes: FxHashMap<u64, FxHashSet<Spot>>,
    /// Regions that have closed.
    closed: FxHashSet<u64>,
    is_stale: bool,
    noted: FxHashSet<Label>,
    decisions: Vec<Decision>,
    pub note_writes: NoteWrites,
    noted_writes: FxHashSet<Label>,
    /// What the running instruction's last decision depended on.
    last: Label,
    /// The side the base run took at guards, by index.
    guards: FxHashMap<u64, u32>,
    pub scouting: Scouting,
    /// Guards that the running path fails although the base run passes them.
    failed: Vec<Label>,
}

impl<'i> Flow<'i> {
    pub fn new(n_functions: usize, source: FlowSource<'i>) -> Flow<'i> {
        Flow {
            source,
            functions: (0..n_functions).map(|_| OnceCell::new()).collect(),
            writes: FxHashMap::default(),
            closed: FxHashSet::default(),
            is_stale: false,
            noted: FxHashSet::default(),
            decisions: Vec::new(),
            note_writes: NoteWrites::Off,
            noted_writes: FxHashSet::default(),
            last: Label::EMPTY,
            guards: FxHashMap::default(),
            scouting: Scouting::Off,
            failed: Vec::new(),
        }
    }

    fn function(&self, func: FuncId) -> &FunctionFlow {
        self.functions[func.idx()].get_or_init(|| (self.source)(func))
    }

    /// Labels that decided something for the first time since last asked.
    pub fn take_decisions(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.decisions)
    }

    /// Whether something learned since last asked may change labels of runs before.
    pub fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.is_stale)
    }

    /// Labels of guards that paths failed since last asked where the base run passes.
    pub fn take_failed_guards(&mut self) -> Vec<Label> {
        std::mem::take(&mut self.failed)
    }

    /// There is a new base: which guards it passes and what decides anything is to be seen anew. What regions write stays.
    pub fn forget_base(&mut self) {
        self.guards.clear();
        self.noted.clear();
        self.noted_writes.clear();
    }

    fn learn(&mut self, key: u64, spot: Spot) {
        if self.writes.entry(key).or_default().insert(spot) && self.closed.contains(&key) {
            self.is_stale = true;
        }
    }
}

/// The keys of all open regions, of the callers too.
type Keys = Option<Rc<KeyNode>>;

pub struct KeyNode {
    key: u64,
    next: Keys,
}

/// An open region of a frame.
#[derive(Clone)]
struct Region {
    block: BlockId,
    meets: Option<BlockId>,
    key: u64,
    label: Label,
    /// What to go back to when it closes.
    control: Label,
    keys: Keys,
}

/// A frame's part in flow.
#[derive(Clone)]
pub struct Track {
    /// Index of the call this frame is.
    context: u64,
    /// Turns of the loops around the current block, outermost first.
    turns: Vec<u32>,
    regions: Vec<Region>,
    keys: Keys,
    /// What the guards depend on that were passed as the base run passes them, here and in the callers. Control does not
    /// depend on it, but whoever ends here would have gone on had a guard failed.
    passed: Label,
}

fn mix(hash: u64, value: u64) -> u64 {
    let mixed = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
}

/// The place of reading in standard input, as if it were an object; no object lies there.
const STDIN: u64 = 8;

/// Words below this stand for no object.
const NEAR_NULL: u64 = 4096;

/// Indexes have the highest bit, which no address of a global has.
const INDEX: u64 = 1 << 63;

impl Track {
    fn root() -> Track {
        Track { context: 0x51ed_270b, turns: Vec::new(), regions: Vec::new(), keys: None, passed: Label::EMPTY }
    }

    fn index(&self, n_turns: usize, frame: (FuncId, BlockId, u32)) -> u64 {
        let mut hash = mix(self.context, u64::from(frame.0.0) << 32 | u64::from(frame.1.0));
        hash = mix(hash, u64::from(frame.2));
        for turn in self.turns.iter().take(n_turns) {
            hash = mix(hash, u64::from(*turn));
        }
        hash | INDEX
    }
}

impl Machine<'_> {
    pub(crate) fn is_tracking(&self) -> bool {
        self.flow.is_some()
    }

    /// The name of what happens at the current instruction, the same in every run that comes here alike.
    pub fn index_here(&self, state: &State) -> u64 {
        let top = &state.top;
        top.track.as_ref().map_or(0, |track| track.index(usize::MAX, (top.func, top.block, top.inst_idx)))
    }

    /// Gives the first frame of a path its place in flow.
    pub(crate) fn root_track(&self) -> Option<Box<Track>> {
        self.is_tracking().then(|| Box::new(Track::root()))
    }

    /// What a callee's frame starts with. `pointer` labels an indirect call's target: everything the callee does
    /// depends on it.
    pub(crate) fn callee_track(&mut self, state: &State, pointer: Label) -> (Option<Box<Track>>, Label) {
        let Some(track) = &state.top.track else { return (None, Label::EMPTY) };
        let context = self.index_here(state);
        let mut callee =
            Track { context, turns: Vec::new(), regions: Vec::new(), keys: track.keys.clone(), passed: track.passed };
        let control = state.top.control;
        if pointer.is_empty() {
            return (Some(Box::new(callee)), control);
        }
        let key = mix(context, 1) | INDEX;
        callee.regions.push(Region {
            block: BlockId(0),
            meets: None,
            key,
            label: pointer,
            control,
            keys: callee.keys.clone(),
        });
        callee.keys = Some(Rc::new(KeyNode { key, next: callee.keys.take() }));
        (Some(Box::new(callee)), self.labels.union(control, pointer))
    }

    /// After the top frame changed: under open regions every write goes the slow way.
    pub(crate) fn sync_control(&mut self, state: &State) {
        if self.is_tracking() {
            let is_open = state.top.track.as_ref().is_some_and(|track| track.keys.is_some());
            self.tlb.set_frozen(is_open);
        }
    }

    /// Notes that a decision here depends on `label` and on what control depends on.
    pub(crate) fn depend(&mut self, state: &State, label: Label, decides: Decides) -> Label {
        let Some(flow) = &mut self.flow else { return Label::EMPTY };
        let label = self.labels.union(label, state.top.control);
        flow.last = label;
        if label.is_empty() || flow.scouting == Scouting::On || !flow.noted.insert(label) {
            return label;
        }
        let site = self.image.user_site(state);
        flow.decisions.push(Decision { label, func: site.func, span: site.span, decides });
        label
    }

    fn note_write(&mut self, state: &State, label: Label) {
        let Some(flow) = &mut self.flow else { return };
        if flow.note_writes == NoteWrites::On && !label.is_empty() && flow.noted_writes.insert(label) {
            let site = self.image.user_site(state);
            flow.decisions.push(Decision { label, func: site.func, span: site.span, decides: Decides::Write });
        }
    }

    pub(crate) fn forget_last(&mut self) {
        if let Some(flow) = &mut self.flow {
            flow.last = Label::EMPTY;
        }
    }

    /// What an ending at the current instruction depends on.
    pub fn ending_label(&mut self, state: &State) -> Label {
        match &self.flow {
            None => Label::EMPTY,
            Some(flow) => {
                let label = self.labels.union(flow.last, state.top.control);
                self.labels.union(label, state.top.track.as_ref().map_or(Label::EMPTY, |track| track.passed))
            }
        }
    }

    /// The terminator of the current block decided on a labelled value and takes `edge`.
    pub(crate) fn open_region(&mut self, state: &mut State, label: Label, edge: u32, decides: Decides) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let whole = self.depend(state, label, decides);
        let Some(flow) = &mut self.flow else { return };
        let top = &mut state.top;
        let facts = flow.functions[top.func.idx()].get_or_init(|| (flow.source)(top.func));
        let block = &facts.blocks[top.block.idx()];
        let Some(track) = &mut top.track else { return };
        let n_turns = if facts.is_blurred { 0 } else { block.common_depth as usize };
        let key = track.index(n_turns, (top.func, top.block, u32::MAX));
        let mut carried = label;
        if let Some(leaving) = block.leaving_edge {
            if edge == leaving && state.left_guard.is_none() {
                state.left_guard = Some((key, whole));
            }
            if flow.scouting == Scouting::On {
                // Passed once and failed once under one name is no guard.
                let taken = flow.guards.entry(key).or_insert(edge);
                if *taken != edge {
                    *taken = leaving;
                }
            } else if let Some(taken) = flow.guards.get(&key)
                && *taken != leaving
            {
                if edge == *taken {
                    // The guard holds, as in the base run: what follows is explored under it, not together with it.
                    carried = Label::EMPTY;
                    track.passed = self.labels.union(track.passed, whole);
                } else {
                    flow.failed.push(whole);
                }
            }
        }
        // Turns of a loop that is left at the meeting are one region.
        let meets = block.meets;
        let same = track
            .regions
            .iter_mut()
            .rev()
            .take_while(|region| region.meets == meets)
            .find(|region| region.block == top.block);
        if let Some(region) = same {
            region.label = self.labels.union(region.label, label);
        } else {
            let region = Region { block: top.block, meets, key, label, control: top.control, keys: track.keys.clone() };
            track.regions.push(region);
            track.keys = Some(Rc::new(KeyNode { key, next: track.keys.take() }));
        }
        top.control = self.labels.union(top.control, carried);
        self.tlb.set_frozen(true);
    }

    /// Control comes from `from` to the current block of the top frame.
    pub(crate) fn arrive(&mut self, state: &mut State, from: BlockId) {
        let Some(flow) = &self.flow else { return };
        let (func, here) = (state.top.func, state.top.block);
        let facts = flow.function(func);
        let block = &facts.blocks[here.idx()];
        if !block.is_eventful {
            return;
        }
        let is_blurred = facts.is_blurred;
        let (depth, headed) = (block.depth as usize, block.headed.clone());
        while let Some(track) = &mut state.top.track
            && track.regions.last().is_some_and(|region| region.meets == Some(here))
        {
            let Some(region) = track.regions.pop() else { break };
            track.keys = region.keys.clone();
            state.top.control = region.control;
            self.close_region(state, &region);
        }
        self.sync_control(state);
        let Some(track) = &mut state.top.track else { return };
        if is_blurred {
            return;
        }
        match headed {
            None => track.turns.truncate(depth),
            Some(body) if body.binary_search(&from).is_ok() && track.turns.len() >= depth => {
                track.turns.truncate(depth);
                track.turns[depth - 1] += 1;
            }
            Some(_) => {
                track.turns.truncate(depth - 1);
                track.turns.push(0);
            }
        }
    }

    /// The sides of a decision have met: what any of them may have written depends on it from now on.
    fn close_region(&mut self, state: &mut State, region: &Region) {
        if let (Some(flow), Some(_)) = (&self.flow, region.meets) {
            let facts = flow.function(state.top.func);
            let reassigned = facts.blocks[region.block.idx()].reassigned.clone();
            for reg in reassigned.iter() {
                let slot = &mut state.top.regs[reg.idx()];
                let label = self.labels.union(slot.shadow.label(), region.label);
                slot.shadow = Shadow::new(slot.shadow.term(), label);
            }
        }
        self.spread(state, region.key, region.label);
    }

    /// Everything ever written under `key` gets the label.
    fn spread(&mut self, state: &mut State, key: u64, label: Label) {
        let Some(flow) = &mut self.flow else { return };
        flow.closed.insert(key);
        let Some(spots) = flow.writes.get(&key) else { return };
        // Order does not matter: a union is a union.
        let spots: Vec<Spot> = spots.iter().copied().collect();
        for spot in spots {
            if spot.origin == STDIN {
                state.stdin_label = self.labels.union(state.stdin_label, label);
            }
            for object in self.named(state, spot.origin) {
                self.add_label(state, object, spot, label);
            }
        }
    }

    /// Live objects of that name.
    fn named(&self, state: &State, origin: u64) -> Vec<ObjectId> {
        let is_named = |object: &ObjectId| state.memory.get(*object).origin == origin;
        if origin & INDEX == 0 {
            return state.memory.find(origin).into_iter().filter(is_named).collect();
        }
        let bases = state.origins.get(&origin);
        bases
            .into_iter()
            .flat_map(|bases| bases.iter())
            .filter_map(|base| state.memory.find(*base))
            .filter(is_named)
            .collect()
    }

    fn add_label(&mut self, state: &mut State, object: ObjectId, spot: Spot, label: Label) {
        let found = state.memory.get(object);
        if spot.len == 0 {
            let union = self.labels.union(found.life, label);
            if union != found.life {
                state.memory.get_mut(object).life = union;
            }
            return;
        }
        if found.array().is_some() {
            let union = self.labels.union(found.label, label);
            if union != found.label {
                self.writable(state, object).label = union;
            }
            return;
        }
        if found.data().is_empty() {
            return;
        }
        let was_plain = found.is_plain();
        for offset in u64::from(spot.offset)..(u64::from(spot.offset) + u64::from(spot.len)).min(found.size) {
            let (_, shadow) = state.memory.get(object).byte(offset);
            let union = self.labels.union(shadow.label(), label);
            if union != shadow.label() {
                self.writable(state, object).set_label(offset, union);
            }
        }
        if was_plain && !state.memory.get(object).is_plain() {
            self.tlb.flush();
        }
    }

    /// Before a write: remembers it for all open regions, and says what it depends on beside its value.
    pub(crate) fn note_written(
        &mut self,
        state: &State,
        object: ObjectId,
        offset: u64,
        len: u64,
        label: Label,
    ) -> Label {
        let control = state.top.control;
        if let Some(track) = &state.top.track {
            let spot = Spot { origin: state.memory.get(object).origin, offset: offset as u32, len: len as u32 };
            let mut keys = &track.keys;
            while let Some(node) = keys {
                if let Some(flow) = &mut self.flow {
                    flow.learn(node.key, spot);
                }
                keys = &node.next;
            }
            let whole = self.labels.union(label, control);
            self.note_write(state, whole);
        }
        control
    }

    /// A write whose place or length depends on `label`: other inputs would have written elsewhere.
    pub(crate) fn scatter(&mut self, state: &mut State, object: ObjectId, offset: u64, len: u64, label: Label) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let key = self.index_here(state);
        let spot = Spot { origin: state.memory.get(object).origin, offset: offset as u32, len: len as u32 };
        if let Some(flow) = &mut self.flow {
            flow.learn(key, spot);
        }
        self.scatter_nothing(state, label);
    }

    /// A write of no bytes at all because of `label`: other inputs would have written some.
    pub(crate) fn scatter_nothing(&mut self, state: &mut State, label: Label) {
        if label.is_empty() || !self.is_tracking() {
            return;
        }
        let key = self.index_here(state);
        let label = self.labels.union(label, state.top.control);
        self.spread(state, key, label);
    }

    /// A byte of standard input is read: what the place of reading depends on.
    pub(crate) fn note_stdin(&mut self, state: &mut State) -> Label {
        if let Some(track) = &state.top.track {
            let mut keys = &track.keys;
            while let Some(node) = keys {
                if let Some(flow) = &mut self.flow {
                    flow.learn(node.key, Spot { origin: STDIN, offset: 0, len: 1 });
                }
                keys = &node.next;
            }
            state.stdin_label = self.labels.union(state.stdin_label, state.top.control);
        }
        state.stdin_label
    }

    /// An object came to be: its name, and what its size depends on.
    pub(crate) fn name_object(&mut self, state: &mut State, object: ObjectId, size: Label) {
        if !self.is_tracking() {
            return;
        }
        let mut origin = self.index_here(state);
        if state.depth == 1 && state.top.inst_idx == 0 && state.top.block == BlockId(0) {
            // The program's surroundings are made before its first instruction.
            origin = mix(origin, u64::from(object.idx)) | INDEX;
        }
        let life = self.labels.union(size, state.top.control);
        let found = state.memory.get_mut(object);
        found.origin = origin;
        found.life = if size.is_empty() { Label::EMPTY } else { life };
        let base = found.base;
        let memory = &state.memory;
        let mut bases: Vec<u64> = match state.origins.get(&origin) {
            None => Vec::new(),
            Some(bases) => bases
                .iter()
                .copied()
                .filter(|base| memory.find(*base).is_some_and(|twin| memory.get(twin).origin == origin))
                .collect(),
        };
        bases.push(base);
        state.origins.insert(origin, bases.into());
    }

    /// Stack objects from number `mark` on are about to end.
    pub(crate) fn forget_names(&mut self, state: &mut State, mark: u32) {
        if !self.is_tracking() {
            return;
        }
        for idx in mark..state.memory.n_stack_objects() {
            let ended = state.memory.get(ObjectId { region: MemoryRegion::Stack, idx });
            let (origin, base) = (ended.origin, ended.base);
            let left: Vec<u64> = match state.origins.get(&origin) {
                None => continue,
                Some(bases) => bases.iter().copied().filter(|other| *other != base).collect(),
            };
            if left.is_empty() {
                state.origins.remove(&origin);
            } else {
                state.origins.insert(origin, left.into());
            }
        }
    }

    /// The object is freed, and whether it is depends on `label` and on control.
    pub(crate) fn note_freed(&mut self, state: &mut State, object: ObjectId, label: Label) {
        if !self.is_tracking() {
            return;
        }
        let control = self.note_written(state, object, 0, 0, Label::EMPTY);
        let life = self.labels.union(label, control);
        let union = self.labels.union(state.memory.get(object).life, life);
        state.memory.get_mut(object).life = union;
        self.scatter(state, object, 0, 0, label);
    }

    /// Before the top frame is left by a return: closes its regions. The result is what its return values depend on.
    pub(crate) fn close_frame(&mut self, state: &mut State) -> Label {
        let Some(flow) = &self.flow else { return Label::EMPTY };
        let is_lasting = flow.function(state.top.func).may_jump;
        let Some(track) = &mut state.top.track else { return Label::EMPTY };
        if track.regions.is_empty() {
            return Label::EMPTY;
        }
        let regions = std::mem::take(&mut track.regions);
        track.keys = regions[0].keys.clone();
        let mut whole = Label::EMPTY;
        for region in regions.iter().rev() {
            whole = self.labels.union(whole, region.label);
            self.spread(state, region.key, region.label);
        }
        if is_lasting {
            self.last(state, whole, &regions);
        }
        whole
    }

    /// What decided whether a `longjmp` happened stays in force in the caller.
    fn last(&mut self, state: &mut State, label: Label, regions: &[Region]) {
        let Some(caller) = &state.callers else { return };
        let mut caller_frame: Frame = caller.frame.clone();
        let Some(track) = &mut caller_frame.track else { return };
        for region in regions {
            if track.regions.iter().any(|open| open.key == region.key) {
                continue;
            }
            // Below the frame's own regions, so that these still close where they should.
            track.regions.insert(
                0,
                Region { meets: None, block: BlockId(0), control: Label::EMPTY, keys: None, ..region.clone() },
            );
            track.keys = Some(Rc::new(KeyNode { key: region.key, next: track.keys.take() }));
        }
        for region in &mut track.regions {
            region.control = self.labels.union(region.control, label);
            if region.keys.is_none() {
                region.keys = track.keys.clone();
            }
        }
        caller_frame.control = self.labels.union(caller_frame.control, label);
        let next = caller.next.clone();
        state.callers = Some(Rc::new(crate::state::Caller { frame: caller_frame, next }));
    }

    /// A `longjmp` came to the top frame under `label`: what follows depends on it for good.
    pub(crate) fn land(&mut self, state: &mut State, label: Label) {
        if !self.is_tracking() || label.is_empty() {
            return;
        }
        let key = self.index_here(state);
        let top = &mut state.top;
        let Some(track) = &mut top.track else { return };
        track.regions.clear();
        track.turns.clear();
        top.control = self.labels.union(top.control, label);
        let region = Region {
            block: BlockId(0),
            meets: None,
            key,
            label: top.control,
            control: top.control,
            keys: track.keys.clone(),
        };
        track.regions.push(region);
        track.keys = Some(Rc::new(KeyNode { key, next: track.keys.take() }));
        self.sync_control(state);
    }

    /// Whether something leaks depends on every word that is a pointer, or might have been one under other inputs.
    pub(crate) fn depend_on_pointers(&mut self, state: &State) {
        if !self.is_tracking() {
            return;
        }
        let word = usize::from(self.image.pointer_bits() / 8);
        let mut label = Label::EMPTY;
        let is_pointer = |value: u64| value < NEAR_NULL || state.memory.find(value).is_some();
        for region in [MemoryRegion::Global, MemoryRegion::Stack, MemoryRegion::Heap] {
            for (_, object) in state.memory.objects(region) {
                label = self.labels.union(label, object.life);
                label = self.labels.union(label, object.label);
                if object.is_plain() || object.array().is_some() {
                    continue;
                }
                for start in (0..object.data().len().saturating_sub(word - 1)).step_by(word) {
                    let value = object.data()[start..start + word]
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u64::from(*byte));
                    if is_pointer(value) {
                        let bytes = start as u64..(start + word) as u64;
                        label =
                            bytes.fold(label, |label, offset| self.labels.union(label, object.byte(offset).1.label()));
                    }
                }
            }
        }
        for slot in state.frames().flat_map(|frame| frame.regs.iter()).filter(|slot| is_pointer(slot.bits)) {
            label = self.labels.union(label, slot.shadow.label());
        }
        self.depend(state, label, Decides::Value);
    }

    /// What reading these bytes of an object depends on beyond the bytes' own labels.
    pub(crate) fn whole_label(&mut self, object: &Object) -> Label {
        let mut label = object.label;
        if self.is_tracking() && object.array().is_none() {
            for offset in 0..object.data().len() as u64 {
                label = self.labels.union(label, object.byte(offset).1.label());
            }
        }
        label
    }
}
