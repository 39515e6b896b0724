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

/// One input of a layout: name, type, size, and how it divides where that is known.
type Shape = (Arc<str>, Arc<str>, usize, Option<witness::Layout>);

/// Whether something is known already or has to be stored.
pub enum Found<I> {
    Known(I),
    New(I),
}

pub struct Layouts {
    next: i64,
    last: Option<(Vec<Shape>, LayoutId)>,
    known: HashMap<Vec<Shape>, LayoutId>,
}

impl Layouts {
    pub fn starting_at(next: i64) -> Layouts {
        Layouts { next, last: None, known: HashMap::new() }
    }

    pub fn of(&mut self, inputs: &[InputValue]) -> Found<LayoutId> {
        if inputs.is_empty() {
            return Found::Known(LayoutId::EMPTY);
        }
        let is_same = |shapes: &[Shape]| {
            shapes.len() == inputs.len()
                && shapes.iter().zip(inputs).all(|((name, ty, size, layout), input)| {
                    *size == input.bytes.len() && **name == *input.name && **ty == *input.ty && *layout == input.layout
                })
        };
        if let Some((_, layout)) = self.last.as_ref().filter(|(shapes, _)| is_same(shapes)) {
            return Found::Known(*layout);
        }
        let shape =
            |input: &InputValue| (input.name.clone(), input.ty.clone(), input.bytes.len(), input.layout.clone());
        let shapes: Vec<Shape> = inputs.iter().map(shape).collect();
        let found = match self.known.get(&shapes) {
            Some(layout) => Found::Known(*layout),
            None => {
                if self.known.len() >= KEPT {
                    self.known.clear();
                }
                let layout = LayoutId(self.next);
                self.next += 1;
                self.known.insert(shapes.clone(), layout);
                Found::New(layout)
            }
        };
        let (Found::Known(layout) | Found::New(layout)) = found;
        self.last = Some((shapes, layout));
        found
    }
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
