//! A technique from outside, with public API only: it observes, decides in every seat, and drives.

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use common::{explore_with, tree};
use explore::{
    Admission, Discovery, Driver, Endings, Event, Events, History, InputForm, InputRequest, Interest, LineUp, Looks,
    Options, Path, Rank, Report, RunPlan, Seats, SlotId, Technique, Ticket,
};
use vm::State;
use witness::{Bug, BugKind, Certificate, Ending, Place, Witness};

#[derive(Default)]
struct Seen {
    n_branches: u64,
    n_endings: u64,
    deepest: u64,
    asked_inputs: Vec<String>,
}

/// Fixes the first scalar of every input to 7, prunes after four branches, and counts with a state slot.
struct Dummy {
    seen: Rc<RefCell<Seen>>,
    found: Vec<Discovery>,
}

const SLOT: SlotId = SlotId(3);

impl Technique for Dummy {
    fn name(&self) -> &'static str {
        "dummy"
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }

    fn endings(&mut self) -> Option<&mut dyn Endings> {
        Some(self)
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }

    fn discoveries(&mut self) -> Vec<Discovery> {
        std::mem::take(&mut self.found)
    }

    fn report(&mut self) -> Report {
        Report::summary(format!("{{\"branches\":{}}}", self.seen.borrow().n_branches))
    }
}

impl Events for Dummy {
    fn interest(&self) -> Interest {
        Interest::BRANCH
    }

    fn observe(&mut self, state: &mut State, event: &Event) {
        if let Event::Branch { .. } = event {
            self.seen.borrow_mut().n_branches += 1;
            *state.slots.get_mut::<u64>(SLOT) += 1;
        }
    }
}

impl Endings for Dummy {
    fn looks(&self) -> Looks {
        Looks::AtEveryWitness
    }

    fn ended(&mut self, path: &Path, _: &Ending) {
        let mut seen = self.seen.borrow_mut();
        seen.n_endings += 1;
        seen.deepest = seen.deepest.max(path.state.slots.get::<u64>(SLOT).copied().unwrap_or(0));
    }

    /// Finds the same at every path.
    fn witnessed(&mut self, _: &Path, witness: &Witness) {
        self.found.push(Discovery {
            bug: Bug {
                kind: BugKind::NonTermination,
                message: "never ends".to_string(),
                place: Place::default(),
                stack: Vec::new(),
                also: Vec::new(),
            },
            inputs: witness.inputs.clone(),
            path: witness.path.clone(),
            certificate: Some(Certificate { suffix: "smt2", text: "(check-sat)".to_string() }),
        });
    }
}

impl Seats for Dummy {
    fn admit(&mut self, path: &Path) -> Admission {
        match path.state.slots.get::<u64>(SLOT) {
            Some(n_branches) if *n_branches >= 4 => Admission::Prune("four branches are enough".to_string()),
            _ => Admission::Keep,
        }
    }

    fn input(&mut self, _: &Path, request: &InputRequest, _: &mut explore::Means) -> Option<InputForm> {
        self.seen.borrow_mut().asked_inputs.push(request.name.to_string());
        Some(InputForm::Mixed([Some(7), None].into()))
    }

    fn rank(&mut self, _: u64) -> Option<Box<dyn Rank>> {
        Some(Box::new(Newest::default()))
    }
}

#[derive(Default)]
struct Newest(Vec<Ticket>);

impl Rank for Newest {
    fn stays(&self, _: u64) -> bool {
        false
    }

    fn push(&mut self, ticket: Ticket, _: explore::Outlook) {
        self.0.push(ticket);
    }

    fn pop(&mut self, _: &mut dyn explore::View) -> Option<Ticket> {
        self.0.pop()
    }
}

/// Two runs of everything.
struct Twice;

impl Driver for Twice {
    fn next(&mut self, outer: &RunPlan, history: &History) -> Option<RunPlan> {
        (history.runs < 2).then(|| outer.clone())
    }
}

#[test]
fn a_technique_from_outside_observes_decides_and_drives() {
    let seen = Rc::new(RefCell::new(Seen::default()));
    let dummy = Dummy { seen: seen.clone(), found: Vec::new() };
    let line_up = LineUp { techniques: vec![Box::new(dummy)], drivers: vec![Box::new(Twice)] };
    let (outcome, witnesses) = explore_with(&tree(6), &Options { workers: 1, ..Options::default() }, line_up);
    let seen = seen.borrow();
    assert_eq!(outcome.runs, 2);
    assert_eq!(seen.asked_inputs, ["x", "x"]);
    // The first byte is fixed, so five branches are symbolic. A branch is observed when it is taken, that is after the
    // fork at it: at the fifth fork four have been, and all 2^5 states of it are refused. And that twice.
    assert_eq!(outcome.counts.pruned, outcome.counts.total);
    assert_eq!(outcome.counts.total, 2 * 32);
    assert_eq!(seen.n_endings, outcome.counts.total);
    assert_eq!(seen.deepest, 4);
    assert!(witnesses.iter().all(|witness| witness.inputs[0].bytes[0] == 7));
    // What it found itself is one finding with one test, whatever paths showed it; it is no path.
    let is_pruned = |witness: &&Witness| matches!(&witness.ending, Ending::Pruned { technique: "dummy", .. });
    assert_eq!(witnesses.iter().filter(is_pruned).count(), 2 * 32);
    assert_eq!(witnesses.len(), 2 * 32 + 1);
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].n_paths, 2 * 32);
    assert!(outcome.findings[0].certificate.is_some());
    let (name, report) = &outcome.techniques[0];
    assert_eq!(*name, "dummy");
    assert_eq!(*report, Report::summary(format!("{{\"branches\":{}}}", seen.n_branches)));
}

#[test]
fn a_driver_explores_the_plans_of_the_one_around_it() {
    let line_up = LineUp { techniques: Vec::new(), drivers: vec![Box::new(Twice), Box::new(Twice)] };
    let (outcome, _) = explore_with(&tree(3), &Options { workers: 1, ..Options::default() }, line_up);
    assert_eq!((outcome.runs, outcome.counts.total), (4, 4 * 8));
}
