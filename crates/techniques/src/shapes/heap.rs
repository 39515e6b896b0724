//! What one path knows of the heap it was given: the objects somebody followed a pointer to, and which pointers are settled.

use std::sync::Arc;

use explore::{Path, SlotId};
use term::{Chunks, TermId, Terms};
use vm::{InputRecord, Label, Object, ObjectId, ObjectKind, Scalar};

use super::kinds::KindId;
use super::pointers::PointerId;

/// The technique's slot of a state.
pub const SLOT: SlotId = SlotId(6);

/// An object that a path looked at.
#[derive(Clone, Debug)]
pub struct Made {
    pub kind: KindId,
    pub slot: u16,
    pub base: u64,
    pub size: u64,
    pub n_elements: u64,
    pub origin: Origin,
}

/// Where an object comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// It was made when a pointer to it was followed; `record` is its place among the state's inputs.
    Input { object: ObjectId, record: usize },
    /// A variable of the program, there from the start.
    Variable,
}

/// What became of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    At(u64),
    /// It is none, whatever it was computed from.
    Foreign,
}

/// The technique's data with a state; without any, a state has the heap that every path begins with.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    pub made: Vec<Made>,
    /// By the number of the pointer.
    settled: Chunks<Option<Settled>>,
    pub n_settled: u32,
}

impl Heap {
    pub fn of(made: Vec<Made>) -> Heap {
        Heap { made, ..Heap::default() }
    }

    pub fn settled(&self, pointer: PointerId) -> Option<Settled> {
        self.settled.get(pointer.idx()).copied().flatten()
    }

    pub fn settle(&mut self, pointer: PointerId, settled: Settled) {
        *self.settled.get_mut(pointer.idx()) = Some(settled);
        self.n_settled += 1;
    }

    /// Objects of the kind that were made on the way.
    pub fn n_inputs(&self, kind: KindId) -> u64 {
        let is_input = |made: &&Made| made.kind == kind && matches!(made.origin, Origin::Input { .. });
        self.made.iter().filter(is_input).count() as u64
    }

    /// The object that an address lies in, or just past which it does.
    pub fn around(&self, addr: u64) -> Option<&Made> {
        self.made.iter().find(|made| addr >= made.base && addr <= made.base + made.size)
    }
}

/// One scalar of an object on its way into memory and into the tests.
pub fn scalar(offset: u64, n_bytes: u8, term: TermId) -> Scalar {
    Scalar { offset, n_bytes, term: Some(term), value: 0, label: Label::EMPTY, number: 0 }
}

/// An object of memory with the values of a record.
pub fn object_of(terms: &mut Terms, record: &InputRecord, base: u64) -> Object {
    let mut object = Object::zeroed(base, record.n_bytes, ObjectKind::Heap);
    for scalar in &record.scalars {
        let Some(term) = scalar.term else { continue };
        for byte in 0..u32::from(scalar.n_bytes) {
            let value = terms.byte(term, byte);
            object.set_term(terms, scalar.offset + u64::from(byte), value, Label::EMPTY);
        }
    }
    object
}

/// A name that no other input of the path has: the first letter of the type, and a number, if possible this one.
pub fn name_for(path: &Path, type_name: &str, number: u64) -> Arc<str> {
    let word = type_name.rsplit([' ', '*']).find(|word| !word.is_empty()).unwrap_or("object");
    let letter = word.chars().find(char::is_ascii_alphabetic).map_or('x', |letter| letter.to_ascii_lowercase());
    let is_free = |name: &String| path.state.inputs.n_named(name) == 0;
    (number..).map(|number| format!("{letter}{number}")).find(is_free).unwrap_or_default().into()
}
