//! Looking for a recurrent set: values of the cells that the cycle is never left from.
//!
//! A set is a conjunction of conditions over cells and inputs. It counts when three things are shown, bit by bit: the
//! stem reaches it, it implies that some way leads back, and every way from it leads into it again. Candidates come
//! from four places, the cheap ones first: values that a way leaves as they are (the paper's equation 6.1), the
//! cycle's own conditions for a few rounds, a walk with concrete values (a set of all values met where they repeat, or the
//! conditions that hold for all of them), and inputs under which every value at all stays.

use std::time::Duration;

use explore::Means;
use solver::{Answer, PathCondition};
use term::{Assignment, TermId, Terms};

use super::pool;
use super::round::{Round, all_of, set};
use super::simulate::{Fate, Trace, simulate};

/// Questions about one round, those of them that may stay open, and what slow ones may take together: where a round is
/// too hard, others are not.
const MAX_ASKED: u64 = 3_000;
const MAX_OPEN: u32 = 4;
const MAX_SLOW: Duration = Duration::from_secs(3);
/// Rounds for which a cycle's conditions are taken together.
const MAX_UNROLLED: usize = 3;
/// Inputs that are walked with.
const MAX_INPUTS: usize = 6;
/// Questions for one candidate of the last kind.
const MAX_GUESSES: usize = 16;
/// Repeating values written out one by one.
const MAX_LISTED: usize = 512;
/// Conditions beyond which it is not tried which of them are needed for repeating values.
const MAX_WEAKENED: usize = 16;
/// Times conditions are dropped until a set is closed.
const MAX_DROPS: usize = 48;

/// A set, and an input that reaches it.
pub struct Found {
    /// All of them together are the set.
    pub set: Vec<TermId>,
    pub how: How,
    /// Values of the inputs, and of the cells when the cut is first reached.
    pub input: Assignment,
}

/// What stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The values themselves.
    Repeats,
    /// After this many rounds the values are the same.
    Period(usize),
    /// The conditions of the set.
    Recurs,
}

/// Asks questions about one round, and counts them.
pub struct Judge<'a, 'd, 'i> {
    pub round: &'a Round,
    pub means: &'a mut Means<'d, 'i>,
    pub n_asked: u64,
    pub max_steps: usize,
    /// Questions that stayed open.
    n_open: u32,
    /// What slow questions had taken when it began.
    slow_before: Duration,
}

impl<'a, 'd, 'i> Judge<'a, 'd, 'i> {
    pub fn new(round: &'a Round, means: &'a mut Means<'d, 'i>, max_steps: usize) -> Self {
        let slow_before = means.stack.counters().slow_time;
        Judge { round, means, n_asked: 0, max_steps, n_open: 0, slow_before }
    }
}

impl Judge<'_, '_, '_> {
    /// A set of any other kind than values that stay.
    pub fn find(&mut self) -> Option<Found> {
        self.unrolled().or_else(|| self.walked()).or_else(|| self.whatever())
    }

    /// Values that are met again on a walk with the path's own input. For floats, about which more is too hard to ask.
    pub fn returns(&mut self) -> Option<Found> {
        let input = self.round.with_start(&self.round.stem.input, self.means);
        let trace = simulate(self.round, &input, self.max_steps, self.means);
        self.listed(&trace, &input)
    }

    /// A set of values that grow, by conditions alone.
    pub fn find_growing(&mut self) -> Option<Found> {
        self.unrolled().or_else(|| {
            let inputs = self.inputs();
            inputs.into_iter().find_map(|input| {
                let trace = simulate(self.round, &input, self.max_steps, self.means);
                if trace.fate == Fate::Leaves { None } else { self.generalised(&trace, &input) }
            })
        })
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.means.machine.terms
    }

    fn condition(&self) -> &PathCondition {
        &self.round.stem.condition
    }

    /// An assignment of cells and inputs that satisfies the path condition and the question; `Err` where that stays open.
    pub fn ask(&mut self, question: TermId) -> Result<Option<Assignment>, ()> {
        let slow = self.means.stack.counters().slow_time - self.slow_before;
        if self.n_open >= MAX_OPEN || self.n_asked >= MAX_ASKED || slow >= MAX_SLOW {
            return Err(());
        }
        self.n_asked += 1;
        let current = self.round.with_start(&self.round.stem.input, self.means);
        let condition = self.condition().clone();
        match self.means.stack.check(&mut self.means.machine.terms, &condition, &current, question) {
            Answer::Sat(input) => Ok(Some(input)),
            Answer::Unsat => Ok(None),
            Answer::Unknown(_) => {
                self.n_open += 1;
                Err(())
            }
        }
    }

    pub fn never(&mut self, question: TermId) -> bool {
        self.ask(question) == Ok(None)
    }

    /// An input whose stem reaches the set.
    pub fn reaches(&mut self, set: &[TermId]) -> Option<Assignment> {
        let whole = all_of(self.terms(), set);
        let start = self.round.at_start(&mut self.means.machine.terms, whole)?;
        let input = self.ask(start).ok()??;
        Some(self.round.with_start(&input, self.means))
    }

    /// Whether a set implies that some way leads back.
    fn stays(&mut self, set: &[TermId]) -> bool {
        let whole = all_of(self.terms(), set);
        let stays = self.round.stays(self.terms());
        let leaves = self.terms().not(stays);
        let both = self.terms().and(whole, leaves);
        self.never(both)
    }

    /// A value of the set from which a way leads out of it; `Err` where that stays open.
    fn escapes(&mut self, set: &[TermId]) -> Result<Option<(usize, Assignment)>, ()> {
        let whole = all_of(self.terms(), set);
        for (idx, way) in self.round.ways.iter().enumerate() {
            let after = self.round.after(&mut self.means.machine.terms, way, whole).ok_or(())?;
            let outside = self.terms().not(after);
            let taken = all_of(self.terms(), &way.conds);
            let from = self.terms().and(whole, taken);
            let escape = self.terms().and(from, outside);
            if let Some(model) = self.ask(escape)? {
                return Ok(Some((idx, model)));
            }
        }
        Ok(None)
    }

    pub fn is_recurrent(&mut self, set: &[TermId]) -> bool {
        self.stays(set) && self.escapes(set) == Ok(None)
    }

    /// Values that a way leaves as they are.
    pub fn repeats(&mut self) -> Option<Found> {
        for way in &self.round.ways {
            let mut set = way.conds.clone();
            for (idx, cell) in self.round.relevant_cells() {
                let same = self.terms().eq(way.updates[idx], cell.symbol);
                set.push(same);
            }
            if let Some(input) = self.reaches(&set) {
                return Some(Found { set, how: How::Repeats, input });
            }
        }
        None
    }

    /// Values that stay for a few rounds, if that many are as good as all.
    fn unrolled(&mut self) -> Option<Found> {
        let step = self.round.step(self.terms());
        let mut next = self.round.stays(self.terms());
        let mut set = Vec::new();
        for _ in 0..MAX_UNROLLED {
            set.push(next);
            self.reaches(&set)?;
            next = self.round.replace(&mut self.means.machine.terms, next, |idx| step[idx])?;
            if is_large(self.terms(), next) {
                return None;
            }
            let whole = all_of(self.terms(), &set);
            let leaves = self.terms().not(next);
            let out = self.terms().and(whole, leaves);
            if self.never(out) {
                let input = self.reaches(&set)?;
                return Some(Found { set, how: How::Recurs, input });
            }
        }
        None
    }

    /// From what a walk with concrete values shows.
    fn walked(&mut self) -> Option<Found> {
        for input in self.inputs() {
            let trace = simulate(self.round, &input, self.max_steps, self.means);
            if trace.fate == Fate::Leaves {
                continue;
            }
            if let Some(found) = self.generalised(&trace, &input) {
                return Some(found);
            }
            if let Some(found) = self.listed(&trace, &input) {
                return Some(found);
            }
        }
        None
    }

    /// Inputs of the path: the one it has, some that stay longer, and some extreme ones.
    fn inputs(&mut self) -> Vec<Assignment> {
        let current = self.round.with_start(&self.round.stem.input, self.means);
        let mut inputs = vec![current];
        let step = self.round.step(self.terms());
        let mut next = self.round.stays(self.terms());
        let mut all = self.terms().tru();
        for _ in 0..2 * MAX_UNROLLED {
            all = self.terms().and(all, next);
            let Some(start) = self.round.at_start(&mut self.means.machine.terms, all) else { break };
            match self.ask(start) {
                Ok(Some(input)) => inputs.push(self.round.with_start(&input, self.means)),
                _ => break,
            }
            match self.round.replace(&mut self.means.machine.terms, next, |idx| step[idx]) {
                Some(later) if !is_large(self.terms(), later) => next = later,
                _ => break,
            }
        }
        // Those that stay longest are the most promising.
        inputs[1..].reverse();
        inputs.dedup_by(|a, b| a.same(b));
        inputs.truncate(MAX_INPUTS);
        inputs
    }

    /// The conditions that hold all along a walk, without those that a round may break.
    fn generalised(&mut self, trace: &Trace, input: &Assignment) -> Option<Found> {
        let mut set = pool::candidates(self.round, trace, input, self.means);
        for _ in 0..MAX_DROPS {
            match self.escapes(&set).ok()? {
                None => break,
                Some((way, model)) => {
                    let n_before = set.len();
                    let way = &self.round.ways[way];
                    let mut kept = Vec::with_capacity(set.len());
                    for cond in set {
                        let after = self.round.after(&mut self.means.machine.terms, way, cond)?;
                        if self.means.eval.holds(&self.means.machine.terms, &model, after) {
                            kept.push(cond);
                        }
                    }
                    set = kept;
                    if set.len() == n_before {
                        return None;
                    }
                }
            }
        }
        if !self.is_recurrent(&set) {
            return None;
        }
        let set = self.weakened(set);
        let input = self.reaches(&set)?;
        Some(Found { set, how: How::Recurs, input })
    }

    /// Leaves out what is not needed, the most special conditions first: more inputs, and fewer words.
    fn weakened(&mut self, mut set: Vec<TermId>) -> Vec<TermId> {
        // In halves first: most of them are not needed.
        let mut chunk = (set.len() / 2).max(1);
        loop {
            let mut at = 0;
            while at < set.len() {
                let mut without = set.clone();
                without.drain(at..(at + chunk).min(set.len()));
                if self.is_recurrent(&without) {
                    set = without;
                } else {
                    at += chunk;
                }
            }
            if chunk == 1 {
                return set;
            }
            chunk /= 2;
        }
    }

    /// All the values met, where they repeat. Shown by going through them; no question needed.
    fn listed(&mut self, trace: &Trace, input: &Assignment) -> Option<Found> {
        let Fate::Repeats { from } = trace.fate else { return None };
        let orbit = &trace.values[from..];
        if orbit.len() > MAX_LISTED {
            return None;
        }
        let round = self.round;
        let rigid = pool::rigid_terms(round, self.terms());
        let mut set = Vec::new();
        for t in rigid {
            let value = self.means.eval.eval(&self.means.machine.terms, input, t);
            let width = self.terms().width(t);
            let constant = self.terms().constant(value, width);
            set.push(self.terms().eq(t, constant));
        }
        // From where the cut is first reached on, so that the stem reaches it.
        let mut any = self.terms().fls();
        for values in &trace.values {
            let mut here = self.terms().tru();
            for (idx, cell) in round.relevant_cells() {
                let constant = self.terms().constant(u128::from(values[idx]), cell.bits);
                let same = self.terms().eq(cell.symbol, constant);
                here = self.terms().and(here, same);
            }
            any = self.terms().or(any, here);
        }
        set.push(any);
        let how = How::Period(orbit.len());
        if !self.is_recurrent(&set) {
            return None;
        }
        // What the values do not depend on may be anything: otherwise every input would be a finding of its own.
        let set = if set.len() <= MAX_WEAKENED { self.weakened(set) } else { set };
        Some(Found { set, how, input: input.clone() })
    }

    /// An input under which every value of the cells stays: guessed from extreme values, then shown for all.
    fn whatever(&mut self) -> Option<Found> {
        let stays = self.round.stays(self.terms());
        let mut all = self.terms().tru();
        for nth in 0..pool::N_EXTREMES {
            let at = pool::extreme(self.round, nth, self.terms());
            let here = self.round.replace(&mut self.means.machine.terms, stays, |idx| at[idx])?;
            all = self.terms().and(all, here);
        }
        for _ in 0..MAX_GUESSES {
            let input = self.ask(all).ok()??;
            let rigid = pool::rigid_terms(self.round, self.terms());
            let mut set = Vec::new();
            for t in rigid {
                let value = self.means.eval.eval(&self.means.machine.terms, &input, t);
                let width = self.terms().width(t);
                let constant = self.terms().constant(value, width);
                set.push(self.terms().eq(t, constant));
            }
            let whole = all_of(self.terms(), &set);
            let leaves = self.terms().not(stays);
            let out = self.terms().and(whole, leaves);
            match self.ask(out).ok()? {
                None => {
                    let set = self.weakened(set);
                    let input = self.reaches(&set)?;
                    return Some(Found { set, how: How::Recurs, input });
                }
                Some(model) => {
                    let mut at = Vec::new();
                    for cell in &self.round.cells {
                        let value = self.means.eval.eval(&self.means.machine.terms, &model, cell.symbol);
                        at.push(self.terms().constant(value, cell.bits));
                    }
                    let here = self.round.replace(&mut self.means.machine.terms, stays, |idx| at[idx])?;
                    all = self.terms().and(all, here);
                }
            }
        }
        None
    }
}

/// Whether a term has grown too large to ask about.
fn is_large(terms: &Terms, t: TermId) -> bool {
    pool::n_nodes(terms, t, 4000) >= 4000
}

/// Values of the cells put into an input.
pub fn with_values(round: &Round, input: &Assignment, values: &[u64], terms: &Terms) -> Assignment {
    let mut both = input.clone();
    for (cell, value) in round.cells.iter().zip(values) {
        set(terms, &mut both, cell.symbol, *value);
    }
    both
}
