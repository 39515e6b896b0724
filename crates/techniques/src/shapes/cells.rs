//! The cells of a type: the scalars it divides into, what each of them holds, and what of it people are shown.

use std::sync::Arc;

use witness::{Field, FieldKind};

use super::kinds::{KindId, UNKNOWN};

/// One scalar of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub offset: u64,
    pub n_bytes: u8,
    pub holds: Holds,
    /// As C designates it.
    pub path: Box<str>,
    pub shown: FieldKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    Number,
    Bool,
    /// A pointer to an object of that kind.
    Pointer(KindId),
    /// A pointer to a function of that type.
    Function(Box<str>),
    /// Memory that a union uses for pointers of these kinds and for something else.
    Either(Vec<KindId>),
}

impl Holds {
    /// Whether it is a pointer to nobody knows what.
    pub(super) fn is_unknown(&self) -> bool {
        match self {
            Holds::Pointer(kind) => *kind == UNKNOWN,
            Holds::Either(kinds) => kinds.contains(&UNKNOWN),
            Holds::Number | Holds::Bool | Holds::Function(_) => false,
        }
    }
}

/// The path of a member; what has no name is part of what it lies in.
pub(super) fn below(path: &str, name: &str) -> String {
    if name.is_empty() { path.to_string() } else { format!("{path}.{name}") }
}

pub(super) fn byte_cell(offset: u64, path: String) -> Cell {
    Cell { offset, n_bytes: 1, holds: Holds::Number, path: path.into(), shown: FieldKind::Char }
}

pub(super) fn words(offset: u64, bytes: u64, holds: Holds, path: String, shown: FieldKind, cells: &mut Vec<Cell>) {
    let mut at = 0;
    while at < bytes {
        let n_bytes = (bytes - at).min(8) as u8;
        cells.push(Cell { offset: offset + at, n_bytes, holds: holds.clone(), path: path.clone().into(), shown });
        at += u64::from(n_bytes);
    }
}

/// The cells of a union: where one of its members has a pointer and another does not, either may be there.
pub(super) fn united(members: Vec<Vec<Cell>>, cells: &mut Vec<Cell>) {
    let same = |cell: &Cell, other: &Cell| cell.offset == other.offset && cell.holds == other.holds;
    let overlap = |cell: &Cell, other: &Cell| {
        cell.offset < other.offset + u64::from(other.n_bytes) && other.offset < cell.offset + u64::from(cell.n_bytes)
    };
    let mut all: Vec<Cell> = Vec::new();
    for cell in members.iter().flatten().filter(|cell| matches!(cell.holds, Holds::Pointer(_))) {
        let Holds::Pointer(kind) = cell.holds else { continue };
        if let Some(known) = all.iter_mut().find(|known| known.offset == cell.offset) {
            let kinds = match &known.holds {
                Holds::Pointer(first) if *first == kind => continue,
                Holds::Pointer(first) => vec![*first, kind],
                Holds::Either(kinds) => [kinds.as_slice(), &[kind]].concat(),
                _ => continue,
            };
            known.holds = Holds::Either(kinds);
        } else if !all.iter().any(|known| overlap(known, cell)) {
            all.push(cell.clone());
        }
    }
    for pointer in &mut all {
        let shares =
            members.iter().any(|member| member.iter().any(|cell| overlap(cell, pointer) && !same(cell, pointer)));
        if let (true, Holds::Pointer(kind)) = (shares, &pointer.holds) {
            pointer.holds = Holds::Either(vec![*kind]);
        }
    }
    let mut rest: Vec<Cell> =
        members.into_iter().flatten().filter(|cell| !matches!(cell.holds, Holds::Pointer(_))).collect();
    // The smallest pieces: whatever a member is read as is then made of whole ones.
    rest.sort_by_key(|cell| (cell.offset, cell.n_bytes));
    for mut cell in rest {
        if !all.iter().any(|known| overlap(known, &cell)) {
            cell.holds = Holds::Number;
            all.push(cell);
        }
    }
    cells.extend(all);
}

/// Padding and whatever the type does not describe are bytes.
pub(super) fn filled(mut cells: Vec<Cell>, size: u64) -> Vec<Cell> {
    cells.sort_by_key(|cell| cell.offset);
    let mut all: Vec<Cell> = Vec::with_capacity(cells.len());
    let mut next = 0;
    for cell in cells.into_iter().filter(|cell| cell.offset + u64::from(cell.n_bytes) <= size) {
        if cell.offset < next {
            continue;
        }
        all.extend((next..cell.offset).map(|offset| byte_cell(offset, String::new())));
        next = cell.offset + u64::from(cell.n_bytes);
        all.push(cell);
    }
    all.extend((next..size).map(|offset| byte_cell(offset, String::new())));
    all
}

/// What of the cells people are shown.
pub fn fields(cells: &[Cell]) -> Arc<[Field]> {
    let is_shown = |cell: &&Cell| !cell.path.is_empty() || cells.len() == 1;
    let field = |cell: &Cell| Field {
        path: cell.path.clone(),
        offset: cell.offset,
        n_bytes: u64::from(cell.n_bytes),
        kind: cell.shown,
    };
    cells.iter().filter(is_shown).map(field).collect()
}
