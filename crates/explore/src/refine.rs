//! Inputs that take shape as the program looks at them.
//!
//! A technique may leave a part of an input open until something depends on it. Before an effect is decided, the technique that owns
//! the input says in which ways the open part may go on; one path goes on for each. Nothing is answered by that: the machine asks
//! again, and by then the part is settled.

use term::{SymbolId, TermId};
use vm::Effect;
use witness::{Ending, Ledger, LedgerKind};

use crate::effects::{Decider, Fate, Parted};
use crate::{LineUp, Path};

/// One way to go on.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// Says something about symbols that no condition of the path mentions. The ways exclude each other, by now or by what the
    /// technique will say of them later.
    pub condition: TermId,
    /// Values of these symbols that satisfy it.
    pub values: Vec<(SymbolId, u64)>,
}

/// All ways to go on.
#[derive(Clone, Debug)]
pub struct Shapings {
    pub by: &'static str,
    pub ways: Vec<Shaped>,
    /// What was left out, for the ledger.
    pub left_out: Vec<String>,
}

impl Decider<'_> {
    /// Lets an input take shape where the effect depends on it; `None` if there is nothing to settle.
    pub(crate) fn refine(
        &mut self,
        path: &mut Path,
        effect: &Effect,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Option<Fate> {
        let Shapings { by, ways, left_out } = line_up.refine(path, effect, &mut self.means())?;
        if let Some(decision) = path.follow.pop_front() {
            return Some(match ways.get(decision as usize) {
                Some(way) => {
                    self.shape(path, decision, way, line_up);
                    Fate::Goes
                }
                // Decisions of another program.
                None => Fate::Ended(Ending::Cut(witness::Budget::Interrupt)),
            });
        }
        for why in left_out {
            let (place, _) = self.machine.image.whereabouts(&path.state);
            ledger.enter(LedgerKind::BoundedInput, place, why);
        }
        let Some((first, others)) = ways.split_first() else {
            return Some(Fate::Ended(Ending::Pruned { technique: by, reason: "nothing can follow".to_string() }));
        };
        // Those who list them begin with the smallest: of what waits, that is to be the newest.
        for (idx, way) in others.iter().enumerate().rev() {
            let mut other = path.clone();
            self.shape(&mut other, idx as u64 + 1, way, line_up);
            self.parted.push(Parted::Waits { path: Box::new(other), next_edge: None });
        }
        self.shape(path, 0, first, line_up);
        Some(Fate::Goes)
    }

    fn shape(&mut self, path: &mut Path, decision: u64, way: &Shaped, line_up: &mut LineUp) {
        way.values.iter().for_each(|(symbol, value)| path.input.set(*symbol, *value));
        path.mean(&mut self.machine.terms, decision, way.condition);
        line_up.refined(path, decision as usize);
    }
}
