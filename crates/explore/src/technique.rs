//! How a technique plugs in: it observes events, and it decides in seats with a fixed rule for combining.

use std::rc::Rc;
use std::sync::Arc;

use ir::FuncId;
use solver::{PathCondition, Refuted, Stack};
use term::{Assignment, Eval};
use vm::{Effect, Event, Flow, Image, InputForm, InputRequest, Interest, Labels, Machine, State, Touched};
use witness::{Ending, Witness};

use crate::{Driver, NodeId, Path, Plain, Rank, Subtree};

/// Whether a state is kept. Any prune wins, and the technique's name goes into the ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Keep,
    Prune(String),
    /// Only at a point: let the path wait until nothing else is left to run, then ask again, by `settle`.
    Hold,
    /// Only at a point: the path goes on, but neither it nor what forks from it is watched from here on.
    Unwatch(Unwatched),
}

/// Why a path is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatched {
    /// What follows is known: for the tree it is explored.
    Known,
    /// It costs too much at the moment: nothing above will have been seen whole. See [`Technique::adopts`].
    GivenUp,
}

/// What a technique wants the explorer to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    Nothing,
    /// The tree of points.
    Points,
}

/// Which of the paths that part at a branch is followed first, in an order that follows one at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The one its input takes.
    Current,
    /// One whose side nobody has taken yet, then the one with the shortest way to where they meet again: it comes there with
    /// the fewest conditions.
    Nearest,
}

/// Where a path stands when techniques are asked about it: before an effect is decided, or where it meets paths it
/// parted from.
pub struct Point<'a> {
    pub path: &'a Path,
    pub effect: &'a Effect,
    /// The path's last point; absent at its first.
    pub from: NodeId,
    /// This point.
    pub here: NodeId,
    /// What was read and written on the way from there.
    pub touched: &'a Rc<[Touched]>,
}

/// The condition that a path had when something was decided, and an input that satisfies it.
pub struct Under {
    pub condition: PathCondition,
    pub input: Assignment,
}

/// What there is to answer questions with.
pub struct Means<'d, 'i> {
    pub machine: &'d mut Machine<'i>,
    pub stack: &'d mut Stack,
    pub eval: &'d mut Eval,
    pub work: Work,
}

/// What this worker has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub n_instructions: u64,
    /// What the machine asked.
    pub n_effects: u64,
}

/// What becomes of the held paths when nothing else is left to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Every one of them is pruned, for the reason given for its node.
    PruneAll(Vec<(NodeId, String)>),
    /// These go on after all, the others stay held.
    Release(Vec<NodeId>),
}

/// Whether a path is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Yes,
    No,
}

/// What happens at a claimed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallChoice {
    Enter,
    /// Leave it out; its results are fresh symbols.
    Skip,
}

/// Everything has a default that does nothing, so a technique says only what it is about.
pub trait Technique {
    /// Folder, flag and doc section share this spelling.
    fn name(&self) -> &'static str;

    /// Which events to be told.
    fn interest(&self) -> Interest {
        Interest::NONE
    }

    /// Something happened. May write the technique's own slots of the state.
    fn observe(&mut self, _state: &mut State, _event: &Event) {}

    /// A path ended.
    fn ended(&mut self, _path: &Path, _ending: &Ending) {}

    /// Whether the explorer is to keep the tree of points and the footprints between them, for those that follow and for
    /// `admit_at`. Points are where something is to be decided, and where paths that parted at a branch meet again.
    fn watches(&self) -> Watch {
        Watch::Nothing
    }

    /// Which side of a branch goes first while paths are watched.
    fn first(&self) -> First {
        First::Current
    }

    /// A path that was given up is taken from those pending: whether to watch what it does from here on.
    fn adopts(&mut self, _path: &Path, _means: &mut Means) -> Watch {
        Watch::Nothing
    }

    /// How to make another of these for another worker; `None` where one worker has to see everything. What the others
    /// have to tell in the end is told by the `summary` of the one they were made by.
    fn for_workers(&self) -> Option<Maker> {
        None
    }

    /// A run starts: the points of earlier ones have nothing to do with it.
    fn run_begins(&mut self) {}

    /// A path that belongs to this node ended after this.
    fn ended_at(&mut self, _node: NodeId, _touched: &[Touched], _ending: &Ending) {}

    /// Something below the node was cut, is not supported, or gave up precision: it will never have been seen whole.
    fn spoiled(&mut self, _node: NodeId) {}

    /// Deciding what a path does at this node, its condition turned out to exclude these; `None`: one cannot say what.
    fn refuted(&mut self, _node: NodeId, _under: &Under, _refuted: Option<&[Refuted]>, _means: &mut Means) {}

    /// Everything below the node has ended. Children come before their parents.
    fn subtree_finished(&mut self, _node: NodeId, _subtree: Subtree, _means: &mut Means) {}

    /// Nothing is left to run but paths this technique asked to hold.
    fn settle(&mut self, _means: &mut Means) -> Settlement {
        Settlement::Release(Vec::new())
    }

    /// A path ended, with the input that shows it.
    fn witnessed(&mut self, _path: &Path, _witness: &Witness) {}

    /// Whether a path that ended is told: counted, and written as a test. `No` only where another path shows the same.
    fn tells(&self, _path: &Path, _witness: &Witness) -> Told {
        Told::Yes
    }

    /// While flow is tracked: a run is about to begin; what flow is to learn in it can be set.
    fn flow_begins(&mut self, _flow: &mut Flow) {}

    /// While flow is tracked: a run is over.
    fn flow_ended(&mut self, _flow: &mut Flow, _labels: &Labels, _image: &Image) {}

    /// Seat `admit`: asked whenever a path is about to be run on.
    fn admit(&mut self, _path: &Path) -> Admission {
        Admission::Keep
    }

    /// Seat `admit` at every point of the tree, for techniques that watch.
    fn admit_at(&mut self, _point: &Point, _means: &mut Means) -> Admission {
        Admission::Keep
    }

    /// Seat `call`: the functions whose calls this technique wants to decide about.
    fn claims(&self, _module: &ir::Module) -> Vec<FuncId> {
        Vec::new()
    }

    /// Seat `call`, one owner: asked only about claimed functions.
    fn call(&mut self, _path: &Path, _func: FuncId) -> Option<CallChoice> {
        None
    }

    /// Seat `input`, one owner per input.
    fn input(&mut self, _path: &Path, _request: &InputRequest) -> Option<InputForm> {
        None
    }

    /// Seat `input` for what is there before the program starts: standard input and the arguments.
    fn world_input(&mut self, _request: &InputRequest) -> Option<InputForm> {
        None
    }

    /// Seat `resolve`, one owner: the bases of the objects an address may point into, where the technique knows better.
    fn resolve(&mut self, _path: &Path, _addr: term::TermId) -> Option<Vec<u64>> {
        None
    }

    /// Seat `rank`, exactly one: a search order of the technique's own.
    fn rank(&mut self, _seed: u64) -> Option<Box<dyn Rank>> {
        None
    }

    /// What goes into `summary.json` under the technique's name: a JSON object.
    fn summary(&self) -> Option<String> {
        None
    }
}

pub type Maker = Arc<dyn Fn() -> Box<dyn Technique> + Send + Sync>;

/// The techniques of a campaign and who drives it.
pub struct LineUp {
    pub techniques: Vec<Box<dyn Technique>>,
    pub driver: Box<dyn Driver>,
}

impl Default for LineUp {
    fn default() -> Self {
        LineUp::plain()
    }
}

impl LineUp {
    pub fn plain() -> LineUp {
        LineUp { techniques: Vec::new(), driver: Box::new(Plain::default()) }
    }

    /// Whether several workers can share the work.
    pub fn takes_workers(&self) -> bool {
        self.for_workers().is_some()
    }

    /// How to make as much for other workers, where every technique can be had more than once.
    pub(crate) fn for_workers(&self) -> Option<Vec<Maker>> {
        self.techniques.iter().map(|technique| technique.for_workers()).collect()
    }

    pub(crate) fn interest(&self) -> Interest {
        self.techniques.iter().fold(Interest::NONE, |interest, technique| interest.with(technique.interest()))
    }

    pub(crate) fn admit(&mut self, path: &Path) -> Option<(&'static str, String)> {
        self.techniques.iter_mut().find_map(|technique| match technique.admit(path) {
            Admission::Keep | Admission::Hold | Admission::Unwatch(_) => None,
            Admission::Prune(reason) => Some((technique.name(), reason)),
        })
    }

    pub(crate) fn input(&mut self, path: &Path, request: &InputRequest) -> InputForm {
        let owner = self.techniques.iter_mut().find_map(|technique| technique.input(path, request));
        owner.unwrap_or(InputForm::Symbolic)
    }

    pub(crate) fn world_input(&mut self, request: &InputRequest) -> InputForm {
        let owner = self.techniques.iter_mut().find_map(|technique| technique.world_input(request));
        owner.unwrap_or(InputForm::Symbolic)
    }

    pub(crate) fn call(&mut self, path: &Path, func: FuncId) -> CallChoice {
        let owner = self.techniques.iter_mut().find_map(|technique| technique.call(path, func));
        owner.unwrap_or(CallChoice::Enter)
    }

    pub(crate) fn resolve(&mut self, path: &Path, addr: term::TermId) -> Option<Vec<u64>> {
        self.techniques.iter_mut().find_map(|technique| technique.resolve(path, addr))
    }

    /// The first technique that does not keep the path decides.
    pub(crate) fn admit_at(&mut self, point: &Point, means: &mut Means) -> (&'static str, Admission) {
        let mut verdict = ("", Admission::Keep);
        for technique in &mut self.techniques {
            let admission = technique.admit_at(point, means);
            if verdict.1 == Admission::Keep {
                verdict = (technique.name(), admission);
            }
        }
        verdict
    }

    /// What the techniques have to tell in the end.
    pub(crate) fn summaries(&self) -> Vec<(&'static str, String)> {
        self.techniques.iter().filter_map(|technique| Some((technique.name(), technique.summary()?))).collect()
    }

    pub(crate) fn watches(&self) -> bool {
        self.techniques.iter().any(|technique| technique.watches() == Watch::Points)
    }

    pub(crate) fn goes_nearest_first(&self) -> bool {
        self.techniques.iter().any(|technique| technique.first() == First::Nearest)
    }

    pub(crate) fn is_told(&self, path: &Path, witness: &Witness) -> bool {
        self.techniques.iter().all(|technique| technique.tells(path, witness) == Told::Yes)
    }

    pub(crate) fn witnessed(&mut self, path: &Path, witness: &Witness) {
        for technique in &mut self.techniques {
            technique.witnessed(path, witness);
        }
    }

    pub(crate) fn ended(&mut self, path: &Path, ending: &Ending) {
        for technique in &mut self.techniques {
            technique.ended(path, ending);
        }
    }
}
