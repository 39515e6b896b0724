//! Telling: what becomes of a path that ended, and which paths were told before.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};
use vm::EdgeId;
use witness::{Ending, Witness};

use super::Worker;
use super::wanted::Wanted;
use crate::checkpoint::Tally;
use crate::collector::{Ended, Reports, Standing};
use crate::effects::Decider;
use crate::{LineUp, Path, RunPlan, Tests, inputs_of};

pub struct Telling<'r> {
    reports: &'r mut dyn Reports,
    n_paths: u64,
    tally: Tally,
    /// Name of the running plan, and the paths that plans of a name have told.
    plan: Option<u64>,
    told: Told,
    /// Edges that told paths were the first to take.
    told_edges: Vec<bool>,
    wanted: Wanted,
}

impl<'r> Telling<'r> {
    pub fn new(reports: &'r mut dyn Reports, n_edges: u32) -> Telling<'r> {
        let told_edges = vec![false; n_edges as usize];
        Telling {
            reports,
            n_paths: 0,
            tally: Tally::default(),
            plan: None,
            told: Told::default(),
            told_edges,
            wanted: Wanted::default(),
        }
    }

    pub fn plan_begins(&mut self, plan: &RunPlan) {
        self.plan = plan.name;
    }

    pub fn standing(&mut self, standing: Standing) {
        self.reports.standing(standing);
    }

    /// Sums of what was told.
    pub fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// What goes between workers, and checkpoints.
    pub fn reports(&mut self) -> &mut dyn Reports {
        self.reports
    }

    /// What techniques found by themselves.
    pub fn tell_discoveries(&mut self, line_up: &RefCell<LineUp>) {
        for discovery in line_up.borrow_mut().discoveries() {
            self.reports.found(discovery);
        }
    }

    pub fn takes_untold_edge(&self, path: &Path) -> bool {
        path.first_edges.iter().any(|edge| !self.told_edges[edge.0 as usize])
    }

    /// Whether somebody may want the inputs and decisions of a path. Plans tell paths apart by them.
    fn is_wanted(&mut self, tests: Tests, path: &Path, ending: &Ending) -> bool {
        self.wanted.is_wanted(tests, path, ending, &self.told_edges) || self.plan.is_some()
    }

    fn tell(&mut self, path: &Path, witness: Witness) {
        if self.plan.is_some_and(|plan| !self.is_news(plan, &witness)) {
            return;
        }
        self.n_paths += 1;
        self.tally.count(&witness.ending);
        let first_edges: Vec<EdgeId> = path.first_edges.to_vec();
        first_edges.iter().for_each(|edge| self.told_edges[edge.0 as usize] = true);
        let output = path.state.output.as_ref().map(|output| output.to_vec());
        let certificate = path.ended.as_ref().and_then(|ended| ended.certificate.as_deref().cloned());
        self.reports.ended(Ended { witness, first_edges, output, certificate });
    }

    /// Whether neither a plan of that name nor any other has told the path: by its decisions, or by the very input, to that fault.
    fn is_news(&mut self, plan: u64, witness: &Witness) -> bool {
        let hash = |what: &dyn Fn(&mut FxHasher)| {
            let mut hasher = FxHasher::default();
            what(&mut hasher);
            hasher.finish()
        };
        // A path that goes on behind a fault has the input of the one that ended there, and ends otherwise.
        let fault = match &witness.ending {
            Ending::Bug(bug) => Some((bug.kind, &bug.place, &bug.also)),
            _ => None,
        };
        let ending = (std::mem::discriminant(&witness.ending), fault);
        let decisions = hash(&|hasher| (plan, &witness.path, &ending).hash(hasher));
        if matches!(witness.ending, Ending::Cut(_) | Ending::Unsupported(_)) {
            // The input may also show a path that ended: this one stands for what is not known.
            return self.told.insert(decisions);
        }
        let input = hash(&|hasher| {
            fault.hash(hasher);
            witness.inputs.iter().for_each(|input| (&input.name, &input.bytes).hash(hasher));
        });
        let is_new_path = self.told.insert(decisions);
        self.told.insert(!input) && is_new_path
    }
}

/// Hashes of what was told, the latest of it: memory does not grow with the paths. What two plans with millions of paths between
/// them both come to may be told twice.
#[derive(Default)]
struct Told {
    latest: FxHashSet<u64>,
    before: FxHashSet<u64>,
}

/// Hashes in one of the two sets.
const N_TOLD: usize = 1 << 21;

impl Told {
    /// Whether it was not there.
    fn insert(&mut self, hash: u64) -> bool {
        if self.latest.len() >= N_TOLD {
            self.before = std::mem::take(&mut self.latest);
        }
        self.latest.insert(hash) && !self.before.contains(&hash)
    }
}

impl Worker<'_, '_> {
    pub(crate) fn n_paths(&self) -> u64 {
        self.telling.n_paths
    }

    pub(crate) fn tell_discoveries(&mut self) {
        self.telling.tell_discoveries(&self.line_up);
    }

    /// The end of every path: techniques learn of it, and unless they say otherwise it is told.
    pub(crate) fn end(&mut self, mut path: Path, ending: Ending) {
        let ending = match ending {
            Ending::Bug(_) if path.state.is_supposing => Ending::Assumed,
            ending => ending,
        };
        self.tell_discoveries();
        self.decider.note_what_ended(&mut path);
        if let Ending::Cut(_) = ending {
            self.left.unexplored.push(path.all_decisions());
        }
        self.note_ledger();
        self.line_up.borrow_mut().ended(&path, &ending);
        if matches!(ending, Ending::Cut(_) | Ending::Unsupported(_)) {
            self.spoil(&path);
        }
        self.leave(path.node);
        let is_wanted = self.telling.is_wanted(self.options.tests, &path, &ending);
        let mut line_up = self.line_up.borrow_mut();
        let witness = if is_wanted || line_up.looks_at_witnesses() {
            let Decider { machine, eval, .. } = &mut self.decider;
            let mut inputs = inputs_of(&path.state, &path.input, &machine.terms, eval);
            line_up.furnish(&path, &mut inputs);
            Witness { inputs, ending, path: path.decisions.to_vec() }
        } else {
            Witness { inputs: Vec::new(), ending, path: Vec::new() }
        };
        line_up.witnessed(&path, &witness);
        if line_up.is_told(&path, &witness) {
            self.telling.tell(&path, witness);
        }
        drop(line_up);
        self.note_finish(&path);
    }
}
