//! `partition`: inputs that do not interfere are tested apart.

mod cover;
mod names;
mod search;
mod start;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use explore::{Driver, History, InputForm, InputRequest, Interest, Path, Rank, RunPlan, Technique};
use vm::{Flow, Image, Labels};
use witness::Witness;

pub use search::Mode;

use crate::{Part, Subject};
use search::{Meeting, Search};
use start::Start;

/// What the command line says to this technique.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// A partition by hand to start from.
    pub start: Option<PathBuf>,
    pub mode: Mode,
}

pub fn make(flags: &crate::Flags, subject: Subject) -> Result<Part, String> {
    let flags = &flags.partition;
    let start = match &flags.start {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| format!("--partition-start {}: {error}", file.display()))?;
            Some(Start::parse(&text).map_err(|why| format!("--partition-start {}: {why}", file.display()))?)
        }
    };
    let search = Rc::new(RefCell::new(Search::new(subject.module.clone(), flags.mode, start)));
    Ok(Part {
        technique: Box::new(Partition { search: search.clone() }),
        driver: Some(Box::new(PartitionDriver { search })),
    })
}

struct Partition {
    search: Rc<RefCell<Search>>,
}

struct PartitionDriver {
    search: Rc<RefCell<Search>>,
}

impl Driver for PartitionDriver {
    fn next(&mut self, _history: &History) -> Option<RunPlan> {
        self.search.borrow_mut().next()
    }
}

impl Technique for Partition {
    fn name(&self) -> &'static str {
        "partition"
    }

    fn interest(&self) -> Interest {
        Interest::FLOW
    }

    fn rank(&mut self, seed: u64) -> Option<Box<dyn Rank>> {
        self.search.borrow_mut().seed = seed;
        None
    }

    fn input(&mut self, path: &Path, request: &InputRequest) -> Option<InputForm> {
        Some(self.search.borrow_mut().form(request, Some(&path.state)))
    }

    fn world_input(&mut self, request: &InputRequest) -> Option<InputForm> {
        Some(self.search.borrow_mut().form(request, None))
    }

    fn flow_begins(&mut self, flow: &mut Flow) {
        self.search.borrow_mut().run_begins(flow);
    }

    fn flow_ended(&mut self, flow: &mut Flow, labels: &Labels, image: &Image) {
        self.search.borrow_mut().run_ended(flow, labels, image);
    }

    fn witnessed(&mut self, path: &Path, witness: &Witness) {
        self.search.borrow_mut().witnessed(path, witness);
    }

    fn summary(&self) -> Option<String> {
        let search = self.search.borrow();
        let meeting = |meeting: &Meeting| {
            serde_json::json!({
                "a": search.unit_name(meeting.a),
                "b": search.unit_name(meeting.b),
                "file": &*meeting.place.file,
                "line": meeting.place.line,
                "why": meeting.why,
            })
        };
        let meetings: Vec<serde_json::Value> = search.merges.iter().map(meeting).collect();
        let (merges, interferences) = match search.mode() {
            Mode::Merge => (meetings, None),
            Mode::Check => (Vec::new(), Some(meetings)),
        };
        let mut summary = serde_json::json!({
            "parts": search.parts(),
            "rounds": search.rounds,
            "shared": search.shared(),
            "merges": merges,
        });
        if let Some(interferences) = interferences {
            summary["interferences"] = interferences.into();
        }
        let unknown = search.unknown_names();
        if !unknown.is_empty() {
            summary["unknown_names"] = serde_json::json!(unknown);
        }
        Some(summary.to_string())
    }
}
