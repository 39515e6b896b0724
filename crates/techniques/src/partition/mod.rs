//! `partition`: inputs that do not interfere are tested apart.
//!
//! **Problem.** The paths of a program multiply with its inputs, even where no two inputs have anything to do with each
//! other: 20 independent flags, each looked at once, make a million paths that show 40 different things.
//!
//! **Paper.** Majumdar and Xu, *Reducing Test Inputs Using Information Partitions* (FlowTest). Its algorithm starts with every
//! input in a part of its own. It explores one part at a time with the others fixed, tracks which inputs flow together (by
//! data or by control), merges their parts, and repeats until nothing changes. The paper's tool was given the partition by
//! hand.
//!
//! **Idea.** Everything is labelled with the inputs it depends on (`vm::flow`). A value depends on what it was computed from.
//! What is written under a decision also depends on the inputs of the decision, until its sides meet again. A *decision* is
//! whatever makes a path different: a branch, an address, a size, a check. The inputs that one decision depends on have to be
//! explored together; they are a part. First a *base*, all inputs fixed, is run alone: it shows most decisions there are. Then
//! every part is explored in turn, with the other inputs as in the base. That shows further decisions. It is over when every
//! decision that any run made lies inside a part that was explored.
//!
//! **Where we differ.**
//! * *Parts may share inputs.* A part is a largest set of inputs that some decision depended on, not a class of a partition,
//!   so `{type, a}` and `{type, b}` do not become one. (The paper names this as a limitation.) Why this is sound: look at a
//!   place `l` that some input `v` reaches, and at the decisions in front of it in order. Run the base, and take the first
//!   decision that goes otherwise than under `v`. Its label `P` was noted, so `P` is inside an explored part, so the run
//!   "`v` on `P`, base elsewhere" was explored. That run agrees with `v` on what the decision looked at first. So what the
//!   decision looks at next is the same as under `v`, and its label, noted again, has one more of the inputs that matter
//!   under `v`. After finitely many such runs the decision goes as under `v`. The next one follows in the same way.
//! * *A part is joined by decisions, not by assignments*: a checksum that is printed and never looked at merges nothing.
//!   `--partition-check` also reports where inputs meet in a write, because there the flow itself is the question.
//! * *Ways to end early are no merges.* Strictly, whatever follows `if (bad(p)) exit(1);` or an assertion depends on `p`. We
//!   choose a base that goes on instead (by exploring the inputs that ended the first one), and explore what follows under it.
//!   If a guard depends on inputs inside an explored part and on others, the part could make it fail. Then the others are
//!   added to the part. The proof stays: if a run "`v` on `P`, base elsewhere" stops at a guard that `v` passes, the guard's
//!   inputs are added, and the next such run passes it.
//! * *Guards that leave a function are no merges either*: `if (!valid(p)) return;`, the paper's other limitation. If the base
//!   passes the guard, what follows in the function is explored with `p` fixed. Behind the function everything that either side
//!   may have written carries the guard's label, so nothing that happens there is taken for independent of it. A path that
//!   ends behind a passed guard depends on the guard's inputs as well: whoever fails the guard goes on.
//! * *The side not taken.* What it would have written is learned from the runs that took it, as in the paper's flow map. We
//!   keep that for each decision, not for each variable, and label a place where the sides meet. So a buffer that is used
//!   again for something else loses its label. A round is repeated when something was learned too late for an earlier run.
//! * *Objects, regions and inputs are named by calls under way and loop turns.* So two objects of one allocation site stay
//!   two, and have the same name in all runs that come there alike. Where turns cannot be counted alike on all sides
//!   (irreducible loops, nested loops that share a way back, functions from which a `longjmp` may happen) they are left out,
//!   and what shares a name is treated as one.
//! * *Worlds.* No label decides the number of arguments or the size of a fuzzer's input. A first run with all inputs fixed
//!   shows every choice of them, and each is explored by itself, with a base of its own.
//! * *longjmp*: what decides about calls that may jump stays in force until the program ends.
//!
//! **Assumes** that programs end (a run that hangs or is cut makes the verdict incomplete); that no decision depends on
//! where objects lie in memory, other than through pointers to them; and that no stack is filled by several inputs that each
//! take a part of it. Where all bases end early, further ones are taken from the paths that get further, one for each place
//! and set of inputs at which a path ends. That these suffice is tested, not proved.
//!
//! **Can miss** no place and no failure: the theorem is about these. It does not show all *combinations* of what independent
//! inputs do; such paths are left out by design. Where one value stands for many it is in the ledger, as in plain exploration.
//! Where others prune (see `company`), what the rest of a path would show about flow must be what another has shown.
//!
//! **Costs** three runs of the base, then each part, for a few rounds, each of which judges the base again. A part begins
//! with the values of the base, so the base's own path is told once. A run that fixes nothing is plain exploration, and the
//! last one. Labelled values take the machine's slow path.

mod bases;
mod company;
mod cover;
mod names;
mod search;
mod start;
mod units;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use explore::{
    Driver, Endings, Flows, History, InputForm, InputRequest, Looks, Means, Rank, Report, RunPlan, Seats, Technique,
    Told,
};
use vm::{Flow, Image, Labels};
use witness::Witness;

use crate::{Drives, Entry, Flag, Flags, Making, Named, Others, Part, Resume, Takes};
use company::COMPANY;
use search::{Meeting, Mode, Search};
use start::Start;

/// How the line-up makes it.
pub const ENTRY: Entry =
    Entry { name: NAME, flags: &[START, CHECK], check, make, resume: Resume::FromStart, company: COMPANY };

const NAME: &str = "partition";

pub const START: Flag = Flag {
    name: "partition-start",
    help: "A partition of the inputs to start `--with partition` from: one part a line, or JSON [default: every scalar apart]",
    takes: Takes::File { named: "FILE" },
};

pub const CHECK: Flag = Flag {
    name: "partition-check",
    help: "With `--with partition`, only check the partition: report where parts interfere, merge nothing",
    takes: Takes::Nothing,
};

/// A partition by hand is read before anything is done, so that what is wrong with it is said at once.
fn check(flags: &Flags, named: Named) -> Result<(), String> {
    if named == Named::No && (flags.is_given(&START) || flags.is_given(&CHECK)) {
        let message = "--partition-start and --partition-check say something to `partition` only: add --with partition";
        return Err(message.to_string());
    }
    flags.file(&START).map_or(Ok(()), |file| read_start(file).map(|_| ()))
}

fn make(making: &Making) -> Result<Part, String> {
    let Making { flags, subject, others } = making;
    let start = flags.file(&START).map(read_start).transpose()?;
    let mode = if flags.is_given(&CHECK) { Mode::Check } else { Mode::Merge };
    let mut search = Search::new(subject.module.clone(), mode, start);
    if *others == Others::Some {
        search.offer_whole();
    }
    let search = Rc::new(RefCell::new(search));
    Ok(Part {
        technique: Box::new(Partition { search: search.clone() }),
        driver: Some((Drives::ByPlans, Box::new(PartitionDriver { search }))),
    })
}

fn read_start(file: &Path) -> Result<Start, String> {
    let wrong = |why: String| format!("--partition-start {}: {why}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    Start::parse(&text).map_err(wrong)
}

struct Partition {
    search: Rc<RefCell<Search>>,
}

struct PartitionDriver {
    search: Rc<RefCell<Search>>,
}

impl Driver for PartitionDriver {
    fn next(&mut self, _: &RunPlan, _: &History) -> Option<RunPlan> {
        self.search.borrow_mut().next()
    }
}

impl Technique for Partition {
    fn name(&self) -> &'static str {
        NAME
    }

    fn flows(&mut self) -> Option<&mut dyn Flows> {
        Some(self)
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }

    fn endings(&mut self) -> Option<&mut dyn Endings> {
        Some(self)
    }

    fn report(&mut self) -> Report {
        let search = self.search.borrow();
        let meeting = |meeting: &Meeting| {
            serde_json::json!({
                "a": search.units.name(meeting.a),
                "b": search.units.name(meeting.b),
                "file": &*meeting.place.file,
                "line": meeting.place.line,
                "why": meeting.why,
            })
        };
        let meetings: Vec<serde_json::Value> = search.merges().iter().map(meeting).collect();
        let (merges, interferences) = match search.mode() {
            Mode::Merge => (meetings, None),
            Mode::Check => (Vec::new(), Some(meetings)),
        };
        let mut summary = serde_json::json!({
            "parts": search.parts(),
            "rounds": search.rounds,
            "paths_run": search.n_paths_run,
            "shared": search.shared(),
            "merges": merges,
        });
        if let Some(interferences) = interferences {
            summary["interferences"] = interferences.into();
        }
        let unknown = search.units.unknown_names();
        if !unknown.is_empty() {
            summary["unknown_names"] = serde_json::json!(unknown);
        }
        Report::summary(summary.to_string())
    }
}

impl Flows for Partition {
    fn flow_begins(&mut self, flow: &mut Flow) {
        self.search.borrow_mut().run_begins(flow);
    }

    fn flow_ended(&mut self, flow: &mut Flow, labels: &Labels, image: &Image) {
        self.search.borrow_mut().run_ended(flow, labels, image);
    }
}

impl Seats for Partition {
    fn rank(&mut self, seed: u64) -> Option<Box<dyn Rank>> {
        self.search.borrow_mut().seed = seed;
        None
    }

    fn input(&mut self, path: &explore::Path, request: &InputRequest, _: &mut Means) -> Option<InputForm> {
        Some(self.search.borrow_mut().form(request, Some(&path.state)))
    }

    fn world_input(&mut self, request: &InputRequest) -> Option<InputForm> {
        Some(self.search.borrow_mut().form(request, None))
    }
}

impl Endings for Partition {
    fn looks(&self) -> Looks {
        Looks::AtEveryWitness
    }

    fn witnessed(&mut self, path: &explore::Path, witness: &Witness) {
        self.search.borrow_mut().witnessed(path, witness);
    }

    /// An access at a fixed wild address shows little of the fault; the part of the inputs it depends on shows all of it.
    fn tells(&mut self, path: &explore::Path, witness: &Witness) -> Told {
        self.search.borrow().tells(path, &witness.ending)
    }
}
