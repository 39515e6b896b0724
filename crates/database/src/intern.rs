//! What many tests have in common, stored once: the layout of their inputs, and how they end.

use std::collections::HashMap;
use std::sync::Arc;

use report::encode_ending;
use witness::{Bug, Ending, Gap, InputValue};

/// Row of the table `layouts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutId(pub i64);

impl LayoutId {
    /// Of a test without inputs: there is no row that would show it is taken.
    pub const EMPTY: LayoutId = LayoutId(0);
}

/// Row of the table `endings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndingId(pub i64);

/// Kept at a time. Where more are in use some are stored again, so that memory does not grow with the tests.
const KEPT: usize = 4096;

/// Layouts of more inputs than this are not looked for among all.
const SHORT: usize = 64;

/// One input of a layout: name, type, size, and how it divides where that is known.
type Shape = (Arc<str>, Arc<str>, usize, Option<witness::Layout>);

/// Whether something is known already or has to be stored.
pub enum Found<I> {
    Known(I),
    New(I),
}

/// Rows of a layout that are to be stored: from which input on, and where its bytes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    pub position: usize,
    pub start: usize,
}

impl Rest {
    pub const ALL: Rest = Rest { position: 0, start: 0 };
}

/// A test has the first inputs of a layout, perhaps not all: a path that reads on for ever has all the inputs of those that
/// parted from it, and theirs need not be stored again.
pub struct Layouts {
    next: i64,
    last: Last,
    known: HashMap<Vec<Shape>, LayoutId>,
}

struct Last {
    shapes: Vec<Shape>,
    n_bytes: usize,
    layout: LayoutId,
    /// What there is of the layout is in `shapes`: it may grow.
    is_whole: bool,
}

impl Layouts {
    pub fn starting_at(next: i64) -> Layouts {
        let last = Last { shapes: Vec::new(), n_bytes: 0, layout: LayoutId::EMPTY, is_whole: false };
        Layouts { next, last, known: HashMap::new() }
    }

    /// The layout that has these inputs first, and what is to be stored of it before.
    pub fn of(&mut self, inputs: &[InputValue]) -> (LayoutId, Option<Rest>) {
        if inputs.is_empty() {
            return (LayoutId::EMPTY, None);
        }
        let n_same = self.last.shapes.iter().zip(inputs).take_while(|(shape, input)| is_same(shape, input)).count();
        if n_same == inputs.len() {
            return (self.last.layout, None);
        }
        if n_same == self.last.shapes.len() && self.last.is_whole {
            let rest = Rest { position: n_same, start: self.last.n_bytes };
            self.last.grow(&inputs[n_same..]);
            self.keep(inputs.len());
            return (self.last.layout, Some(rest));
        }
        let mut last = Last { shapes: Vec::new(), n_bytes: 0, layout: LayoutId(self.next), is_whole: true };
        last.grow(inputs);
        if inputs.len() <= SHORT
            && let Some(layout) = self.known.get(&last.shapes)
        {
            // It may have grown since it was last in use.
            self.last = Last { layout: *layout, is_whole: false, ..last };
            return (*layout, None);
        }
        self.next += 1;
        self.last = last;
        self.keep(inputs.len());
        (self.last.layout, Some(Rest::ALL))
    }

    fn keep(&mut self, n_inputs: usize) {
        if n_inputs > SHORT {
            return;
        }
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        self.known.insert(self.last.shapes.clone(), self.last.layout);
    }
}

impl Last {
    fn grow(&mut self, inputs: &[InputValue]) {
        let shape =
            |input: &InputValue| (input.name.clone(), input.ty.clone(), input.bytes.len(), input.layout.clone());
        self.shapes.extend(inputs.iter().map(shape));
        self.n_bytes += inputs.iter().map(|input| input.bytes.len()).sum::<usize>();
    }
}

fn is_same((name, ty, size, layout): &Shape, input: &InputValue) -> bool {
    let same_text = |a: &Arc<str>, b: &Arc<str>| Arc::ptr_eq(a, b) || a == b;
    *size == input.bytes.len() && same_text(name, &input.name) && same_text(ty, &input.ty) && *layout == input.layout
}

pub struct Endings {
    next: i64,
    known: HashMap<Vec<u8>, EndingId>,
    code: Vec<u8>,
}

impl Endings {
    pub fn starting_at(next: i64) -> Endings {
        Endings { next, known: HashMap::new(), code: Vec::new() }
    }

    pub fn of(&mut self, ending: &Ending) -> Found<EndingId> {
        self.code.clear();
        encode_ending(ending, &mut self.code);
        if let Some(id) = self.known.get(&self.code) {
            return Found::Known(*id);
        }
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        let id = EndingId(self.next);
        self.next += 1;
        self.known.insert(self.code.clone(), id);
        Found::New(id)
    }
}

/// A row of `endings`.
pub struct EndingRow {
    pub ending: &'static str,
    pub status: Option<i32>,
    pub kind: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub function: Option<String>,
    pub message: Option<String>,
    /// As in the test's file.
    pub json: String,
}

impl EndingRow {
    pub fn new(ending: &Ending) -> EndingRow {
        let mut json = Vec::new();
        encode_ending(ending, &mut json);
        let mut row = EndingRow {
            ending: ending.name(),
            status: None,
            kind: None,
            file: None,
            line: None,
            function: None,
            message: None,
            json: String::from_utf8_lossy(&json).into_owned(),
        };
        match ending {
            Ending::Returned { status } | Ending::Exited { status } => row.status = Some(*status),
            Ending::Bug(Bug { kind, message, place, stack: _, also: _ }) => {
                row.kind = Some(kind.name().to_string());
                row.take_place(place);
                row.message = Some(message.clone());
            }
            Ending::Assumed => {}
            Ending::Pruned { technique, reason } => {
                row.kind = Some((*technique).to_string());
                row.message = Some(reason.clone());
            }
            Ending::Cut(budget) => row.kind = Some(budget.name().to_string()),
            Ending::Unsupported(Gap { message, place }) => {
                row.take_place(place);
                row.message = Some(message.clone());
            }
        }
        row
    }

    fn take_place(&mut self, place: &witness::Place) {
        self.file = Some(place.file.to_string());
        self.line = Some(place.line);
        self.function = Some(place.function.to_string());
    }
}
