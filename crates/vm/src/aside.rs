//! Running states that belong to no path.

use std::mem::{replace, take};

use crate::Machine;
use crate::coverage::Coverage;
use crate::watching::{Trace, Watching};

impl<'i> Machine<'i> {
    /// What runs in here shows nowhere: not in coverage, notes, footprints or flow, and nobody observes it.
    pub fn aside<R>(&mut self, work: impl FnOnce(&mut Machine<'i>) -> R) -> R {
        let coverage = replace(&mut self.coverage, Coverage::new(self.image.n_edges()));
        let (watching, notes) = (take(&mut self.watching), take(&mut self.notes));
        // Traced, so that it stops after every block where so much fuel is given.
        self.watching = Watching::traced(Trace::default());
        let result = work(self);
        (self.coverage, self.watching, self.notes) = (coverage, watching, notes);
        result
    }
}
