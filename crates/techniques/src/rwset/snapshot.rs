//! A state as it was visited, and one that is compared with it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use explore::{Means, Path};
use solver::PathCondition;
use term::{Assignment, TermId, Terms};
use vm::State;

use super::compare::Slots;
use super::needed::Needed;
use super::project::project;

/// A state that was visited, with the condition it was visited under.
pub struct Snapshot {
    pub state: State,
    pub condition: PathCondition,
    /// Satisfies the condition.
    pub input: Assignment,
    /// The live registers of each frame, from the top down. The same for all states at one point.
    pub slots: Rc<Slots>,
    /// The terms last compared, and the constraints that matter for them: mostly the same the next time.
    connected: RefCell<Connected>,
    /// The constraint that last told a state from this one, and how often it did without more being compared.
    pub(super) failed: Cell<Option<TermId>>,
    n_failed: Cell<u32>,
}

/// So often one constraint is enough to tell a state from another; then more is compared, because symbols may be renamed.
const MAX_FAILED: u32 = 15;

#[derive(Default)]
struct Connected {
    with: Vec<TermId>,
    /// Of how many that are needed; absent: of all.
    n_needed: Option<usize>,
    constraints: Rc<[TermId]>,
}

impl Snapshot {
    pub fn of_path(path: &Path, slots: Rc<Slots>) -> Snapshot {
        let (state, condition, input) = (path.state.clone(), path.condition.clone(), path.input.clone());
        Snapshot {
            state,
            condition,
            input,
            slots,
            connected: RefCell::default(),
            failed: Cell::new(None),
            n_failed: Cell::new(0),
        }
    }

    pub fn as_seen(&self) -> Seen<'_> {
        Seen { state: &self.state, condition: &self.condition, input: &self.input }
    }

    /// Whether the constraint that the last state failed, which had the same terms, fails for this one: then more need not be
    /// compared. At worst a hit is lost.
    pub fn fails_again(&self, new: Seen, means: &mut Means) -> bool {
        let Some(t) = self.failed.get().filter(|_| self.n_failed.get() < MAX_FAILED) else {
            self.n_failed.set(0);
            return false;
        };
        let fails = !means.eval.holds(&means.machine.terms, new.input, t);
        if fails {
            self.n_failed.set(self.n_failed.get() + 1);
        }
        fails
    }

    /// What the needed constraints that share symbols with these terms, directly or through others, say about them, and how
    /// many were looked at for that.
    pub(super) fn connected(
        &self,
        with: impl Iterator<Item = TermId>,
        needed: &Needed,
        means: &mut Means,
    ) -> (Rc<[TermId]>, usize) {
        let mut with: Vec<TermId> = with.collect();
        with.dedup();
        let n_needed = (!needed.is_everything()).then(|| needed.len());
        let mut known = self.connected.borrow_mut();
        let mut n_new = 0;
        if known.with != with || known.n_needed != n_needed {
            let terms = &mut means.machine.terms;
            let found = match needed.is_everything() {
                true => all_connected(terms, &self.condition, with.iter().copied()),
                false => needed.of_condition(&self.condition),
            };
            n_new = 4 * found.len();
            let read = with.iter().flat_map(|t| terms.symbols(*t)).copied().collect();
            let constraints = project(terms, means.eval, found, &read).into();
            *known = Connected { with, n_needed, constraints };
        }
        (known.constraints.clone(), n_new)
    }
}

/// The constraints that share symbols with these terms, directly or through others.
pub(super) fn all_connected(
    terms: &Terms,
    condition: &PathCondition,
    with: impl Iterator<Item = TermId>,
) -> Vec<TermId> {
    let mut found: Vec<TermId> = with.flat_map(|t| condition.relevant(terms, t).constraints()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A state that is compared with earlier ones.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub state: &'a State,
    pub condition: &'a PathCondition,
    pub input: &'a Assignment,
}

impl<'a> Seen<'a> {
    pub fn of_path(path: &'a Path) -> Seen<'a> {
        Seen { state: &path.state, condition: &path.condition, input: &path.input }
    }
}
