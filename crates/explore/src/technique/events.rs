//! Interests in what happens: events of the machine, and endings.

use vm::{Event, Interest, State};
use witness::{Ending, InputValue, Witness};

use crate::Path;

pub trait Events {
    /// Which events to be told.
    fn interest(&self) -> Interest;

    /// Something happened. May write the technique's own slots of the state.
    fn observe(&mut self, state: &mut State, event: &Event);
}

/// Whether a path is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Yes,
    No,
}

/// Whether a technique looks at the inputs and decisions of every path, which cost more than many a path does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    AtEveryWitness,
    AtEndings,
}

pub trait Endings {
    /// Unless at every witness, those of paths that nobody writes come without inputs and decisions.
    fn looks(&self) -> Looks {
        Looks::AtEndings
    }

    /// A path ended.
    fn ended(&mut self, _path: &Path, _ending: &Ending) {}

    /// A path ended, with the input that shows it.
    fn witnessed(&mut self, _path: &Path, _witness: &Witness) {}

    /// A path ended, and its inputs become a test: what belongs to them and was not asked for by the program.
    fn furnish(&mut self, _path: &Path, _inputs: &mut Vec<InputValue>) {}

    /// Whether a path that ended is told: counted, and written as a test. `No` only where another path shows the same.
    fn tells(&mut self, _path: &Path, _witness: &Witness) -> Told {
        Told::Yes
    }
}
