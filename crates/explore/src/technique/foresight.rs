//! Interest in what is to come: some inputs of a path are known to come to an ending before they get there.

use term::{Assignment, TermId};
use vm::Effect;
use witness::{Certificate, Ending};

use crate::{Means, Path};

/// Whether a path is asked about for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    First,
    /// Something was foreseen here, and the path is executed again.
    Again,
}

/// What a technique foresees for some inputs of a path.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// Holds for the inputs for which it does not come to this.
    pub holds: TermId,
    pub ending: Ending,
    /// An input of the path that comes to it.
    pub input: Assignment,
    /// The proof that it does.
    pub certificate: Option<Certificate>,
}

pub trait Foresight {
    /// Asked before an effect is decided. Inputs for which an ending is foreseen end there and then, the others go on. May
    /// write the technique's own slots of the state. Asked again, it must foresee the same.
    fn foresee(&mut self, path: &mut Path, at: &Effect, means: &mut Means, asking: Asking) -> Option<Foreseen>;
}
