//! What a pointer that nobody has followed yet may mean.
//!
//! A technique may keep a pointer open until the program needs to know where it leads. Before an address is looked at, or a value
//! is picked, the technique lists what the pointer in it may mean; one path goes on for each that is possible, with the
//! technique's state changed to fit. Nothing is answered by that: the machine asks again, and then the pointer is settled.

use term::TermId;
use vm::{Access, Answer, Effect, PickWhy};
use witness::{Bug, Ending, Ledger, LedgerKind};

use crate::effects::{Decider, Fate, Feasible, Parted};
use crate::{LineUp, Path};

/// The value that has a pointer in it, and what it is needed for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub value: TermId,
    /// What is accessed there; `None` where only the value is wanted.
    pub access: Option<(Access, u64)>,
}

/// What a pointer may mean: each way under its condition. The conditions exclude each other.
#[derive(Clone, Debug)]
pub struct Meanings {
    pub ways: Vec<TermId>,
    /// What else it may be and nobody looks at, where that is possible.
    pub left_out: Option<LeftOut>,
}

#[derive(Clone, Debug)]
pub struct LeftOut {
    pub by: &'static str,
    pub condition: TermId,
    /// For the ledger.
    pub why: String,
}

/// Which of its meanings a pointer has on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// That way.
    Way(usize),
    /// None of those that were listed: the value is no pointer of the technique's, whatever is in it.
    None,
}

/// Where an address leads, where a technique knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// There, on every input of the path.
    At(u64),
    /// Into one of the objects that begin there, or it is an error.
    Into(Vec<u64>),
}

impl Asked {
    /// What an effect asks about that may be a pointer.
    pub(crate) fn of(effect: &Effect) -> Option<Asked> {
        match effect {
            Effect::Address { addr, bytes, access } => Some(Asked { value: *addr, access: Some((*access, *bytes)) }),
            Effect::Pick { value, why } if *why != PickWhy::Status => Some(Asked { value: *value, access: None }),
            _ => None,
        }
    }
}

impl Decider<'_> {
    /// Settles what the pointer in a value means, or says where an address leads; `None` if that is nobody's business.
    pub(crate) fn settle_pointer(
        &mut self,
        path: &mut Path,
        asked: Asked,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Option<Fate> {
        if let Some(meanings) = line_up.meanings(path, &asked, &mut self.means()) {
            return Some(match path.follow.pop_front() {
                Some(decision) => self.follow_meaning(path, &asked, &meanings, decision, line_up),
                None => self.part_by_meaning(path, &asked, meanings, line_up, ledger),
            });
        }
        asked.access?;
        match line_up.leads(path, asked.value, &mut self.means())? {
            Leads::At(at) => {
                path.answer(Answer::At(at));
                Some(Fate::Goes)
            }
            Leads::Into(_) => None,
        }
    }

    /// Something larger may lie around what is at a concrete address; otherwise using that is a fault.
    pub(crate) fn beyond(
        &mut self,
        path: &mut Path,
        addr: u64,
        access: Option<(Access, u64)>,
        bug: Bug,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Fate {
        let value = self.machine.terms.constant(u128::from(addr), u32::from(self.machine.image.pointer_bits()));
        let settled = self.settle_pointer(path, Asked { value, access }, line_up, ledger);
        settled.unwrap_or(Fate::Ended(Ending::Bug(bug)))
    }

    /// The program makes something of where objects lie. Nothing is asked: whoever placed them says whether they could lie
    /// otherwise.
    pub(crate) fn order(
        &mut self,
        path: &mut Path,
        a: TermId,
        b: TermId,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Fate {
        if let Some(why) = line_up.order(path, (a, b), &mut self.means()) {
            let (place, _) = self.machine.image.whereabouts(&path.state);
            ledger.enter(LedgerKind::AddressOrder, place, why);
        }
        path.state.answers.push(Answer::Proceed);
        Fate::Goes
    }

    fn part_by_meaning(
        &mut self,
        path: &mut Path,
        asked: &Asked,
        meanings: Meanings,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Fate {
        let Meanings { ways, left_out } = meanings;
        let n_ways = ways.len();
        let mut open = Vec::new();
        let mut is_doubtful = false;
        for (nth, cond) in ways.into_iter().enumerate() {
            if self.holds(path, cond) {
                open.push((nth, cond, path.input.clone()));
                continue;
            }
            match self.ask(path, cond) {
                Feasible::Yes(input) => open.push((nth, cond, input)),
                Feasible::No => {}
                Feasible::Doubtful => is_doubtful = true,
            }
        }
        let beyond = left_out.and_then(|left_out| {
            let input = if self.holds(path, left_out.condition) {
                path.input.clone()
            } else {
                self.feasible(path, left_out.condition)?
            };
            Some((left_out, input))
        });
        if let Some((LeftOut { by, condition, why }, input)) = beyond {
            let (place, _) = self.machine.image.whereabouts(&path.state);
            ledger.enter(LedgerKind::BoundedPointerInput, place, why.clone());
            let mut other = path.clone();
            other.input = input;
            other.mean(&mut self.machine.terms, n_ways as u64 + 1, condition);
            let ending = Ending::Pruned { technique: by, reason: why };
            if open.is_empty() && !is_doubtful {
                *path = other;
                return Fate::Ended(ending);
            }
            self.parted.push(Parted::Ended { path: Box::new(other), ending });
        }
        // The first way goes on: those who list them begin with what makes the least of it.
        for (nth, cond, input) in open.iter().skip(1) {
            let mut other = path.clone();
            other.input = input.clone();
            self.mean(&mut other, asked, *nth, *cond, line_up);
            self.parted.push(Parted::Waits { path: Box::new(other), next_edge: None });
        }
        match open.into_iter().next() {
            Some((nth, cond, input)) => {
                path.input = input;
                self.mean(path, asked, nth, cond, line_up);
                Fate::Goes
            }
            None if is_doubtful => Fate::Doubtful,
            None => {
                path.decisions.push(n_ways as u64);
                line_up.mean(path, asked, Meant::None, &mut self.means());
                Fate::Goes
            }
        }
    }

    fn follow_meaning(
        &mut self,
        path: &mut Path,
        asked: &Asked,
        meanings: &Meanings,
        decision: u64,
        line_up: &mut LineUp,
    ) -> Fate {
        if decision == meanings.ways.len() as u64 {
            path.decisions.push(decision);
            line_up.mean(path, asked, Meant::None, &mut self.means());
            return Fate::Goes;
        }
        let cond = meanings.ways.get(decision as usize).copied().unwrap_or_else(|| self.machine.terms.fls());
        if !self.holds(path, cond) {
            path.follow.push_front(decision);
            match self.ask(path, cond) {
                Feasible::Yes(input) => path.input = input,
                // Decisions of another program.
                Feasible::No => return Fate::Ended(Ending::Cut(witness::Budget::Interrupt)),
                Feasible::Doubtful => return Fate::Doubtful,
            }
            path.follow.pop_front();
        }
        self.mean(path, asked, decision as usize, cond, line_up);
        Fate::Goes
    }

    fn mean(&mut self, path: &mut Path, asked: &Asked, nth: usize, cond: TermId, line_up: &mut LineUp) {
        path.mean(&mut self.machine.terms, nth as u64, cond);
        line_up.mean(path, asked, Meant::Way(nth), &mut self.means());
    }
}
