//! How a technique plugs in: it observes events, and it decides in seats with a fixed rule for combining.

use ir::FuncId;
use vm::{Event, InputForm, InputRequest, Interest, State};
use witness::Ending;

use crate::{Driver, Path, Plain, Rank};

/// Whether a state is kept. Any prune wins, and the technique's name goes into the ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Keep,
    Prune(String),
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

    /// Everything that was forked from the state with this decision prefix has ended.
    fn subtree_finished(&mut self, _decisions: &[u64]) {}

    /// Seat `admit`: asked whenever a path is about to be run on.
    fn admit(&mut self, _path: &Path) -> Admission {
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

    /// Whether nobody observes, decides or drives.
    pub(crate) fn is_plain(&self) -> bool {
        self.techniques.is_empty()
    }

    pub(crate) fn interest(&self) -> Interest {
        self.techniques.iter().fold(Interest::NONE, |interest, technique| interest.with(technique.interest()))
    }

    pub(crate) fn admit(&mut self, path: &Path) -> Option<(&'static str, String)> {
        self.techniques.iter_mut().find_map(|technique| match technique.admit(path) {
            Admission::Keep => None,
            Admission::Prune(reason) => Some((technique.name(), reason)),
        })
    }

    pub(crate) fn input(&mut self, path: &Path, request: &InputRequest) -> InputForm {
        let owner = self.techniques.iter_mut().find_map(|technique| technique.input(path, request));
        owner.unwrap_or(InputForm::Symbolic)
    }

    pub(crate) fn call(&mut self, path: &Path, func: FuncId) -> CallChoice {
        let owner = self.techniques.iter_mut().find_map(|technique| technique.call(path, func));
        owner.unwrap_or(CallChoice::Enter)
    }

    pub(crate) fn resolve(&mut self, path: &Path, addr: term::TermId) -> Option<Vec<u64>> {
        self.techniques.iter_mut().find_map(|technique| technique.resolve(path, addr))
    }

    pub(crate) fn ended(&mut self, path: &Path, ending: &Ending) {
        for technique in &mut self.techniques {
            technique.ended(path, ending);
        }
    }
}
