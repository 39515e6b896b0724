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

mod places;
mod regions;

use std::cell::OnceCell;
use std::rc::Rc;

use ir::{BlockId, FuncId, Reg, SpanId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::access::Byte;
use crate::run::Machine;
use crate::{Label, State};
use places::{Spot, Written};
use regions::{KeyNode, Keys, Region};

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

/// What tracking overlooks on purpose, so that a test can show that overlooking it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blind {
    ToNothing,
    /// What is written depends on no branch around it.
    ToControl,
    /// What the side not taken would have written is not known.
    ToOtherSide,
    /// Writes take no label into memory.
    ToMemory,
}

/// What all runs of a campaign learned about flow.
pub struct Flow<'i> {
    source: FlowSource<'i>,
    functions: Vec<OnceCell<FunctionFlow>>,
    writes: FxHashMap<u64, Written>,
    /// Regions that have closed.
    closed: FxHashSet<u64>,
    is_stale: bool,
    noted: FxHashSet<Label>,
    decisions: Vec<Decision>,
    pub note_writes: NoteWrites,
    pub blind: Blind,
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
            blind: Blind::ToNothing,
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
        if self.blind == Blind::ToOtherSide {
            return;
        }
        if self.writes.entry(key).or_default().add(spot) && self.closed.contains(&key) {
            self.is_stale = true;
        }
    }
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

/// Indexes have the highest bit, which no address of a global has.
const INDEX: u64 = 1 << 63;

impl Track {
    fn root() -> Track {
        Track { context: 0x51ed_270b, turns: Vec::new(), regions: Vec::new(), keys: None, passed: Label::EMPTY }
    }

    /// Whether from here on everything gets the same names and the same labels.
    pub fn is_same(&self, other: &Track) -> bool {
        let Track { context, turns, regions, keys, passed } = self;
        *context == other.context
            && *turns == other.turns
            && *passed == other.passed
            && regions::same_keys(keys, &other.keys)
            && regions.len() == other.regions.len()
            && regions.iter().zip(&other.regions).all(|(one, other)| one.is_same(other))
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
        self.watching.flow().is_some()
    }

    pub(crate) fn is_blind_to(&self, what: Blind) -> bool {
        self.watching.flow().is_some_and(|flow| flow.blind == what)
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
        let Some(flow) = self.watching.flow_mut() else { return Label::EMPTY };
        let label = self.labels.union(label, state.top.control);
        flow.last = label;
        if label.is_empty() || flow.scouting == Scouting::On || !flow.noted.insert(label) {
            return label;
        }
        let site = self.image.user_site(state);
        flow.decisions.push(Decision { label, func: site.func, span: site.span, decides });
        label
    }

    /// The symbolic address of the running instruction may mean the objects at `bases`: whether it is right depends on how
    /// large they are and whether they are alive, too.
    pub fn depend_on_meant(&mut self, state: &State, bases: &[u64]) {
        let Some(flow) = self.watching.flow() else { return };
        let mut label = flow.last;
        for object in bases.iter().filter_map(|base| state.memory.find(*base)) {
            label = self.labels.union(label, state.memory.get(object).life);
        }
        self.depend(state, label, Decides::Address);
    }

    /// Where inputs meet in a byte written, if that is asked for. Bytes of one write that depend on different inputs, as those
    /// of a structure that is copied, do not meet.
    pub(crate) fn note_values(&mut self, state: &State, bytes: &[Byte]) {
        let Some(flow) = self.watching.flow_mut() else { return };
        if flow.note_writes == NoteWrites::Off {
            return;
        }
        for byte in bytes {
            let label = self.labels.union(byte.shadow.label(), state.top.control);
            if !label.is_empty() && flow.noted_writes.insert(label) {
                let site = self.image.user_site(state);
                flow.decisions.push(Decision { label, func: site.func, span: site.span, decides: Decides::Write });
            }
        }
    }

    pub(crate) fn forget_last(&mut self) {
        if let Some(flow) = self.watching.flow_mut() {
            flow.last = Label::EMPTY;
        }
    }

    /// What an ending at the current instruction depends on.
    pub fn ending_label(&mut self, state: &State) -> Label {
        match self.watching.flow() {
            None => Label::EMPTY,
            Some(flow) => {
                let label = self.labels.union(flow.last, state.top.control);
                self.labels.union(label, state.top.track.as_ref().map_or(Label::EMPTY, |track| track.passed))
            }
        }
    }
}
