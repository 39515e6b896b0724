//! What techniques foresee: inputs that come to a known ending take it at once, the others go on without them.

use std::rc::Rc;

use solver::Answer;
use vm::Effect;

use crate::effects::{Decider, Fate, Parted};
use crate::{Asking, Foreseen, LineUp, Path, WhatEnded};

/// The decision of a path that inputs were taken from. It stands before that of the effect, and says to those who follow it
/// that what was foreseen is to be taken out again.
const AVERTED: u64 = 0x0a5e_77ed;

impl Decider<'_> {
    /// Asks what is foreseen for a path before an effect is decided.
    pub(crate) fn foresee(&mut self, path: &mut Path, effect: &Effect, line_up: &mut LineUp) -> Fate {
        if !path.seeds.is_empty() {
            return Fate::Goes;
        }
        let is_followed = !path.follow.is_empty();
        if is_followed && path.follow.front() != Some(AVERTED) {
            return Fate::Goes;
        }
        path.follow.pop_front();
        let foreseen =
            line_up.foresee(path, effect, &mut self.means(), if is_followed { Asking::Again } else { Asking::First });
        match foreseen {
            Some(Foreseen { holds, .. }) if is_followed => self.go_without(path, holds),
            Some(foreseen) => self.avert(path, foreseen),
            None => Fate::Goes,
        }
    }

    /// Takes inputs away that were taken away before.
    fn go_without(&mut self, path: &mut Path, holds: term::TermId) -> Fate {
        if !self.holds(path, holds) {
            match self.stack.check(&mut self.machine.terms, &path.condition, &path.input, holds) {
                Answer::Sat(input) => path.input = input,
                // It went on before, so it does: with a few inputs too many.
                Answer::Unsat | Answer::Unknown(_) => return Fate::Goes,
            }
        }
        path.condition.add(&mut self.machine.terms, holds);
        path.decisions.push(AVERTED);
        Fate::Goes
    }

    fn avert(&mut self, path: &mut Path, foreseen: Foreseen) -> Fate {
        let Foreseen { holds, ending, input, certificate } = foreseen;
        let violated = self.machine.terms.not(holds);
        let mut failing = path.clone();
        failing.input = input;
        if !self.holds(&failing, violated) {
            return Fate::Goes;
        }
        failing.condition.add(&mut self.machine.terms, violated);
        if let Some(certificate) = certificate {
            failing.ended =
                Some(Rc::new(WhatEnded { certificate: Some(Rc::new(certificate)), ..WhatEnded::default() }));
        }
        if !self.holds(path, holds) {
            match self.stack.check(&mut self.machine.terms, &path.condition, &path.input, holds) {
                Answer::Sat(input) => path.input = input,
                Answer::Unsat => {
                    *path = failing;
                    return Fate::Ended(ending);
                }
                Answer::Unknown(why) => {
                    self.doubt(path, holds, why);
                    *path = failing;
                    return Fate::Ended(ending);
                }
            }
        }
        self.parted.push(Parted::Ended { path: Box::new(failing), ending });
        path.condition.add(&mut self.machine.terms, holds);
        path.decisions.push(AVERTED);
        Fate::Goes
    }
}
