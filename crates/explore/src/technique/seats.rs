//! The seats: where a technique decides, each with a fixed rule for what several of them say.

use ir::{FuncId, GlobalId};
use term::TermId;
use vm::{EdgeId, Effect, InputForm, InputRequest, Sizes};
use witness::{Bug, Ending, InputValue};

use crate::{Asked, Leads, Meanings, Means, Meant, Path, Rank, Shapings, Unwatched};

/// Whether a state is kept. Any prune wins, and the technique's name goes into the ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Keep,
    Prune(String),
    /// The path ends here, and how is known: it never would, for one.
    End(Box<Ending>),
    /// Only at a point: let the path wait until nothing else is left to run, then ask again, by `settle`.
    Hold,
    /// Only at a point: the path goes on, but neither it nor what forks from it is watched from here on.
    Unwatch(Unwatched),
}

/// What happens at a claimed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallChoice {
    Enter,
    /// Leave it out; its results are fresh symbols.
    Skip,
}

/// A run of the program on inputs that a technique has fixed, or nearly so, before anything is explored. Nothing is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Instructions it may take.
    pub fuel: u64,
    /// How many paths are followed, the newest first. With one of them, sizes are numbers.
    pub n_paths: u32,
    /// A path that so many have parted from is left, and one of those followed.
    pub n_forks: usize,
}

/// What a trial came to.
pub struct Tried {
    /// Faults, and inputs that show them.
    pub shown: Vec<(Bug, Vec<InputValue>)>,
    /// Edges of the user's own functions that it took.
    pub edges: Vec<EdgeId>,
    pub n_steps: u64,
    pub n_forks: usize,
}

/// Whether there is time for another trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreTrials {
    Yes,
    No,
}

/// A seat that is left alone decides as if the technique were not there.
pub trait Seats {
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
    fn input(&mut self, _path: &Path, _request: &InputRequest, _means: &mut Means) -> Option<InputForm> {
        None
    }

    /// Seat `input` for what is there before the program starts: standard input and the arguments.
    fn world_input(&mut self, _request: &InputRequest) -> Option<InputForm> {
        None
    }

    /// Seat `input`: what sizes that depend on inputs are. One that wants terms gets them.
    fn sizes(&self) -> Sizes {
        Sizes::Picked
    }

    /// Seat `input`: the next trial. From here on its inputs are fixed, until there is no more to be tried. Told what the last one came
    /// to.
    fn trial(&mut self, _last: Option<Tried>, _more: MoreTrials) -> Option<Trial> {
        None
    }

    /// Seat `refine`, one owner: in which ways an input of its own goes on, where the effect depends on a part of it that is open.
    fn refine(&mut self, _path: &Path, _effect: &Effect, _means: &mut Means) -> Option<Shapings> {
        None
    }

    /// Seat `refine`: the path has taken that way of the last `refine`. May write the technique's own slots of the state.
    fn refined(&mut self, _path: &mut Path, _way: usize) {}

    /// Seat `input`: the size that the next input is to have, where the technique has decided it already.
    fn chosen(&mut self, _path: &Path) -> Option<u64> {
        None
    }

    /// Seat `resolve`, one owner: what the pointer in a value may mean, where that is open. Asked before anything else is decided
    /// about the value.
    fn meanings(&mut self, _path: &Path, _asked: &Asked, _means: &mut Means) -> Option<Meanings> {
        None
    }

    /// Seat `resolve`: a path has taken one of the `meanings`; what was asked must be settled on it afterwards.
    fn mean(&mut self, _path: &mut Path, _asked: &Asked, _meant: Meant, _means: &mut Means) {}

    /// Seat `resolve`, one owner: where an address leads, where the technique knows better.
    fn leads(&mut self, _path: &Path, _addr: TermId, _means: &mut Means) -> Option<Leads> {
        None
    }

    /// Seat `resolve`, one owner: a condition that means the same on this path, with what the technique has settled put in.
    fn known(&mut self, _path: &Path, _condition: TermId, _means: &mut Means) -> Option<TermId> {
        None
    }

    /// Seat `resolve`: why two addresses might lie otherwise to each other than they do on this path, if they might.
    fn order(&mut self, _path: &Path, _addresses: (TermId, TermId), _means: &mut Means) -> Option<String> {
        None
    }

    /// Seat `input`: variables of the program that are to lie at these addresses, among the objects that are inputs.
    fn places(&self) -> Vec<(GlobalId, u64)> {
        Vec::new()
    }

    /// Seat `rank`: of what kind a path's input is where it waits. Search orders that give every place its turn give each kind one.
    fn kind(&self, _path: &Path) -> u64 {
        0
    }

    /// Seat `rank`, exactly one: a search order of the technique's own.
    fn rank(&mut self, _seed: u64) -> Option<Box<dyn Rank>> {
        None
    }
}
