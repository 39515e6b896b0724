//! Faults of the unit that guesses show. Most of them are only made up: the skipped call never gives such a value.
//!
//! A fault to which no run took the way is part of what the unit covers and is looked for like any other path. Where runs
//! took the way and did not fail, nothing but the fault itself is in question: it is looked for last, and how hard is up to
//! the user. What was neither found nor excluded goes into the ledger.

use witness::{Bug, BugKind, LedgerKind, Place};

use super::hunt::{FIRST_EFFORT, Hunt};
use super::tree::{Keeps, VertexId};

/// How hard faults on ways that were taken without them are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// A few tries for each place.
    #[default]
    Few,
    /// Until each is found or excluded.
    All,
}

/// One kind of fault in one place.
struct Suspect {
    kind: BugKind,
    place: Place,
    /// Ways to it that are tried.
    samples: Vec<VertexId>,
    /// Ways to it that are not, unless nothing else shows that they can be taken.
    others: Vec<VertexId>,
}

/// Faults that guesses showed.
#[derive(Default)]
pub struct Suspects {
    effort: Effort,
    all: Vec<Suspect>,
}

/// Ways to a fault that are tried when not all are.
const N_SAMPLES: usize = 4;
/// Executed paths that one try may cost at least.
const FAULT_EFFORT: u64 = 4;
/// What a try may cost as a part of all that was executed before.
const EFFORT_SHARE: u64 = 256;

impl Suspects {
    pub fn new(effort: Effort) -> Suspects {
        Suspects { effort, all: Vec::new() }
    }

    /// A guess failed in a way no guess did before.
    pub fn add(&mut self, vertex: VertexId, bug: &Bug) -> Keeps {
        let known = self.all.iter().position(|suspect| suspect.kind == bug.kind && suspect.place == bug.place);
        let idx = known.unwrap_or_else(|| {
            let (kind, place) = (bug.kind, bug.place.clone());
            self.all.push(Suspect { kind, place, samples: Vec::new(), others: Vec::new() });
            self.all.len() - 1
        });
        let suspect = &mut self.all[idx];
        if self.effort == Effort::All || suspect.samples.len() < N_SAMPLES {
            suspect.samples.push(vertex);
            return Keeps::ForGood;
        }
        suspect.others.push(vertex);
        Keeps::UntilVouched
    }
}

impl Hunt<'_, '_, '_, '_> {
    /// Looks for faults to which no run took the way so far.
    pub fn look_for_ways(&mut self) {
        loop {
            let unvouched = self.tree.unvouched();
            if unvouched.is_empty() || self.explorer.is_over() {
                return;
            }
            unvouched.into_iter().for_each(|fault| self.tree.promote(fault));
            self.effort = FIRST_EFFORT;
            self.rounds();
        }
    }

    /// Looks for faults on ways that were taken without them.
    pub fn look_for_faults(&mut self) {
        let suspects = std::mem::take(&mut self.campaign.suspects);
        for suspect in suspects.all {
            let is_found = |hunt: &Self| hunt.campaign.is_found(suspect.kind, &suspect.place);
            let mut is_open = suspect.others.iter().any(|vertex| !self.is_settled(*vertex));
            for vertex in &suspect.samples {
                if is_found(self) {
                    break;
                }
                is_open |= !self.is_settled(*vertex) && !self.try_fault(*vertex, suspects.effort);
            }
            if is_open && !is_found(self) {
                self.campaign.figures.borrow_mut().open += 1;
                let detail = format!("{} seen with calls skipped, neither made real nor excluded", suspect.kind.name());
                self.explorer.enter_ledger(LedgerKind::SuspectedFault, suspect.place, detail);
            }
        }
    }

    /// Whether a fault was found, or excluded by a search for it as for any other path.
    fn is_settled(&self, fault: VertexId) -> bool {
        self.tree[fault].realised || self.tree[fault].promoted
    }

    /// Whether a fault was found or excluded.
    fn try_fault(&mut self, fault: VertexId, effort: Effort) -> bool {
        self.tree.promote(fault);
        match effort {
            Effort::Few => {
                let n_before = self.campaign.figures.borrow().iterations;
                self.effort = FAULT_EFFORT.max(n_before / EFFORT_SHARE);
                self.limit = n_before + self.effort;
                self.round();
                self.limit = u64::MAX;
            }
            Effort::All => {
                self.effort = FIRST_EFFORT;
                self.rounds();
            }
        }
        let is_settled = self.tree[fault].realised || !self.unfinished && !self.explorer.is_over();
        self.tree.demote(fault);
        is_settled
    }
}
