//! Inputs: which symbols stand for which bytes.

use std::rc::Rc;
use std::sync::Arc;

use ir::{BaseKind, Module, SourceType, SourceTypeId};
use term::{TermId, Terms};
use witness::Layout;

use crate::tail;
pub use crate::tail::Tail;
use crate::{Freedom, InputForm, InputRequest, Label, Labels, List, StringKind};

/// How the names of inputs begin that are memory nobody wrote.
pub const UNWRITTEN: &str = witness::UNWRITTEN;

/// One scalar of an input: an array element, a field, or a byte where the type says nothing.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub offset: u64,
    /// 1 to 8.
    pub n_bytes: u8,
    /// Its symbol, widened to its bytes; absent when it was given a concrete value.
    pub term: Option<TermId>,
    /// The concrete value, or for a symbol the one to begin with.
    pub value: u64,
    /// What its bytes are labelled with, and the number of the input that this label stands for.
    pub label: Label,
    pub number: u32,
}

/// An input that was created on a path.
#[derive(Clone, Debug)]
pub struct InputRecord {
    pub name: Arc<str>,
    pub type_name: Arc<str>,
    pub n_bytes: u64,
    /// As in its request.
    pub origin: u64,
    pub scalars: Box<[Scalar]>,
    /// How many of its bytes there are; all where it is absent.
    pub size: Option<TermId>,
    /// What comes behind its scalars, where it is a text.
    pub tail: Option<Tail>,
    /// For tests: how it divides and where it lies.
    pub layout: Option<Layout>,
}

impl InputRecord {
    /// The memory image, each term valued by `value_of`.
    pub fn image(&self, mut value_of: impl FnMut(TermId) -> u128) -> Vec<u8> {
        let n_bytes = if self.tail.is_some() { self.scalars.len() } else { self.n_bytes as usize };
        let mut bytes = vec![0u8; n_bytes];
        for scalar in &self.scalars {
            let value = scalar.term.map_or(scalar.value, |term| value_of(term) as u64).to_le_bytes();
            let (at, n) = (scalar.offset as usize, scalar.n_bytes as usize);
            bytes[at..at + n].copy_from_slice(&value[..n]);
        }
        if let Some(tail) = &self.tail {
            return tail.image(bytes, self.n_bytes, value_of);
        }
        if let Some(size) = self.size {
            bytes.truncate(value_of(size) as usize);
        }
        bytes
    }
}

/// The inputs of a path in the order the program asked for them. Cloning shares.
#[derive(Clone, Default)]
pub struct Inputs {
    records: List<Arc<InputRecord>>,
    /// How many there are of each name.
    named: Rc<imbl::HashMap<Arc<str>, u32>>,
}

impl Inputs {
    pub fn push_back(&mut self, record: Arc<InputRecord>) {
        *Rc::make_mut(&mut self.named).entry(record.name.clone()).or_insert(0) += 1;
        self.records.push(record);
    }

    pub fn get(&self, idx: usize) -> &Arc<InputRecord> {
        &self.records[idx]
    }

    /// Puts another in place of one that turned out to be part of it.
    pub fn replace(&mut self, idx: usize, record: Arc<InputRecord>) {
        let old = self.records.replace(idx, record.clone());
        if let Some(n_old) = Rc::make_mut(&mut self.named).get_mut(&old.name) {
            *n_old -= 1;
        }
        *Rc::make_mut(&mut self.named).entry(record.name.clone()).or_insert(0) += 1;
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<InputRecord>> {
        self.records.iter()
    }

    /// Those after the first `n_known`, the newest first.
    pub fn added_since(&self, n_known: usize) -> impl Iterator<Item = &Arc<InputRecord>> {
        self.records.iter().rev().take(self.records.len() - n_known)
    }

    pub fn n_named(&self, name: &str) -> usize {
        self.named.get(name).map_or(0, |n_named| *n_named as usize)
    }
}

/// One scalar of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarShape {
    pub offset: u64,
    /// 1 to 8.
    pub n_bytes: u8,
    pub is_bool: bool,
}

/// Offset and size of the scalars that `bytes` bytes of a type divide into; all of it is covered.
pub fn scalars(module: &Module, ty: Option<SourceTypeId>, bytes: u64) -> Vec<(u64, u8)> {
    divide(module, ty, bytes).iter().map(|piece| (piece.offset, piece.n_bytes)).collect()
}

/// Makes the symbols of an input. `occurrence` tells apart inputs of one name on one path.
pub fn create(
    terms: &mut Terms,
    labels: &mut Labels,
    request: &InputRequest,
    occurrence: usize,
    form: &InputForm,
) -> InputRecord {
    if let InputForm::Text(form) = form {
        return tail::create(terms, request, occurrence, form);
    }
    let scalar = |(idx, piece): (usize, &ScalarShape)| {
        let fixed = |value: u64| (Freedom::Fixed, value, None);
        let (freedom, value, number) = match form {
            InputForm::Symbolic | InputForm::UpTo | InputForm::Given { .. } | InputForm::Text(_) => {
                (Freedom::Symbol, 0, None)
            }
            InputForm::Mixed(values) => values.get(idx).copied().flatten().map_or((Freedom::Symbol, 0, None), fixed),
            InputForm::Labelled(scalars) => match scalars.get(idx) {
                Some(scalar) => (scalar.freedom, scalar.value, Some(scalar.number)),
                None => (Freedom::Symbol, 0, None),
            },
        };
        let label = number.map_or(Label::EMPTY, |number| labels.singleton(number));
        let term = (freedom == Freedom::Symbol).then(|| symbol(terms, request, occurrence, idx, piece));
        let number = number.unwrap_or(0);
        Scalar { offset: piece.offset, n_bytes: piece.n_bytes, term, value, label, number }
    };
    let scalars = match form {
        InputForm::Given { scalars, .. } => scalars.to_vec().into(),
        _ => request.scalars.iter().enumerate().map(scalar).collect(),
    };
    // A string whose bytes are given is as long as those.
    let n_bytes = match form {
        InputForm::Given { scalars, .. } if request.string == Some(StringKind::Own) => scalars.len() as u64,
        _ => request.bytes,
    };
    let size = matches!(form, InputForm::UpTo).then(|| terms.symbol(&format!("{}.size", request.name), 64));
    InputRecord {
        size,
        tail: None,
        name: request.name.clone(),
        type_name: request.type_name.clone(),
        n_bytes,
        origin: request.origin,
        scalars,
        layout: match form {
            InputForm::Given { layout, .. } => layout.clone(),
            _ => None,
        },
    }
}

/// The symbol of a scalar of an input.
pub fn symbol(terms: &mut Terms, request: &InputRequest, occurrence: usize, idx: usize, piece: &ScalarShape) -> TermId {
    let name = match occurrence {
        0 => format!("{}.{idx}", request.name),
        _ => format!("{}#{}.{idx}", request.name, occurrence + 1),
    };
    let width = u32::from(piece.n_bytes) * 8;
    if piece.is_bool {
        // A _Bool that is neither 0 nor 1 is not a value a C program can have without having gone wrong before.
        let bit = terms.symbol(&name, 1);
        return terms.zext(bit, width);
    }
    terms.symbol(&name, width)
}

pub fn divide(module: &Module, ty: Option<SourceTypeId>, bytes: u64) -> Vec<ScalarShape> {
    let mut pieces = Vec::new();
    if let Some(ty) = ty
        && let Some(size) = module.size_of(ty).filter(|size| *size > 0)
        && bytes.is_multiple_of(size)
    {
        for copy in 0..bytes / size {
            divide_type(module, ty, copy * size, &mut pieces);
        }
    }
    pieces.sort_by_key(|piece| piece.offset);
    // Padding and whatever the type does not describe: bytes.
    let mut filled = Vec::with_capacity(pieces.len());
    let mut next = 0;
    for piece in pieces {
        if piece.offset < next {
            continue;
        }
        filled.extend((next..piece.offset).map(|offset| ScalarShape { offset, n_bytes: 1, is_bool: false }));
        next = piece.offset + u64::from(piece.n_bytes);
        filled.push(piece);
    }
    filled.extend((next..bytes).map(|offset| ScalarShape { offset, n_bytes: 1, is_bool: false }));
    filled
}

fn divide_type(module: &Module, ty: SourceTypeId, offset: u64, pieces: &mut Vec<ScalarShape>) {
    let Some(ty) = module.strip(ty) else { return };
    match module.ty(ty) {
        SourceType::Base { bytes, kind, .. } => {
            divide_word(offset, *bytes, *kind == BaseKind::Bool && *bytes == 1, pieces);
        }
        SourceType::Pointer { bytes, .. } | SourceType::Enum { bytes, .. } => {
            divide_word(offset, *bytes, false, pieces)
        }
        SourceType::Array { of: Some(of), count: Some(count) } => {
            let size = module.size_of(*of).unwrap_or(0);
            for idx in 0..if size == 0 { 0 } else { *count } {
                divide_type(module, *of, offset + idx * size, pieces);
            }
        }
        SourceType::Struct { fields, .. } => {
            for field in fields.iter().filter(|field| !field.is_bit_field) {
                if let Some(ty) = field.ty {
                    divide_type(module, ty, offset + field.bit_offset / 8, pieces);
                }
            }
        }
        _ => {}
    }
}

/// What a word may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Number,
    Bool,
}

/// The scalars of one word.
pub fn word(bytes: u64, kind: Word) -> Vec<ScalarShape> {
    let mut pieces = Vec::new();
    divide_word(0, bytes, kind == Word::Bool, &mut pieces);
    pieces
}

fn divide_word(offset: u64, bytes: u64, is_bool: bool, pieces: &mut Vec<ScalarShape>) {
    let mut at = 0;
    while at < bytes {
        let n_bytes = (bytes - at).min(8) as u8;
        pieces.push(ScalarShape { offset: offset + at, n_bytes, is_bool });
        at += u64::from(n_bytes);
    }
}
