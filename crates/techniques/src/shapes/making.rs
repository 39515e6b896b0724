//! Objects come into being: new ones when a pointer to one is followed, larger ones around what turned out to be a part.

use std::sync::Arc;

use explore::{Means, Path};
use term::TermId;
use vm::{InputRecord, Label, Machine};
use witness::Layout;

use super::cells::{Cell, Holds, fields};
use super::heap::{Made, Origin, name_for, object_of, scalar};
use super::kinds::{KindId, Tail};
use super::{Length, Shapes};

impl Shapes {
    pub(super) fn make(
        &mut self,
        path: &mut Path,
        kind: KindId,
        slot: u16,
        (n_elements, n_in_tail): (u64, u64),
        means: &mut Means,
    ) {
        let whole = self.kinds.get(kind).clone();
        let mut cells = Vec::new();
        for element in 0..n_elements {
            let prefix = if n_elements == 1 { String::new() } else { format!("[{element}]") };
            cells.extend(moved(&whole.cells, element * whole.size, &prefix));
        }
        let mut size = n_elements * whole.size;
        if let Some(Tail { name, offset, element, element_bytes }) = whole.tail.as_ref().filter(|_| n_in_tail > 0) {
            let element_cells = self.kinds.cells_of(*element);
            cells.retain(|cell| cell.offset + u64::from(cell.n_bytes) <= *offset);
            for idx in 0..n_in_tail {
                cells.extend(moved(&element_cells, offset + idx * element_bytes, &format!(".{name}[{idx}]")));
            }
            let end = offset + n_in_tail * element_bytes;
            size = size.max(end);
        }
        let is_usual = n_elements == 1 && n_in_tail == 0;
        let name: Arc<str> = match n_elements {
            1 => whole.name.clone(),
            _ => format!("{}[{n_elements}]", whole.name).into(),
        };
        let unique = format!("@{slot:x}.{}.{n_elements}.{n_in_tail}", kind.0);
        let base = self.kinds.base(slot);
        let shown = if is_usual { Arc::clone(&whole.fields) } else { fields(&cells) };
        let scalars = self.scalars(path, &unique, base, &cells, means);
        if let Some(tail) = &whole.tail {
            self.measure_tail(path, &tail.name, n_in_tail, &cells, &scalars, means);
        }
        let record = InputRecord {
            name: name_for(path, &whole.name, self.heap(path).n_inputs(kind)),
            type_name: name,
            n_bytes: size,
            origin: 0,
            scalars: scalars.into(),
            size: None,
            tail: None,
            layout: Some(Layout { at: Some(base), fields: shown }),
        };
        let mut object = object_of(&mut means.machine.terms, &record, base);
        object.ty = whole.ty.filter(|_| is_usual);
        let object = path.state.memory.add_input(object);
        let origin = Origin::Input { object, record: path.state.inputs.len() };
        path.state.inputs.push_back(Arc::new(record));
        self.heap_mut(path).made.push(Made { kind, slot, base, size, n_elements, origin });
    }

    /// A flexible array that a member of its struct is said to have the length of.
    fn measure_tail(
        &self,
        path: &mut Path,
        tail: &str,
        n_in_tail: u64,
        cells: &[Cell],
        scalars: &[vm::Scalar],
        means: &mut Means,
    ) {
        let terms = &mut means.machine.terms;
        for (_, length) in self.arrays.iter().filter(|(array, _)| array == tail) {
            let at = cells.iter().position(|cell| cell.path.strip_prefix('.') == Some(length));
            let Some((at, term)) = at.and_then(|at| Some((at, scalars[at].term?))) else { continue };
            let length = Length { term, shown: cells[at].shown };
            let condition = match n_in_tail {
                0 => length.is_at_most(terms, 0),
                _ => length.is(terms, n_in_tail),
            };
            for symbol in terms.symbols(term) {
                path.input.set(*symbol, n_in_tail);
            }
            path.constrain_new(terms, means.eval, condition);
        }
    }

    /// Puts a larger object around one there is, whose memory and whose input become part of it.
    pub(super) fn grow(&mut self, path: &mut Path, idx: usize, kind: KindId, offset: u64, means: &mut Means) {
        let made = self.heap(path).made[idx].clone();
        let Origin::Input { object: inner, record: part_idx } = made.origin else { return };
        let whole = self.kinds.get(kind).clone();
        let part = path.state.inputs.get(part_idx).clone();
        let is_beside =
            |cell: &Cell| cell.offset + u64::from(cell.n_bytes) <= offset || cell.offset >= offset + part.n_bytes;
        let beside: Vec<Cell> = whole.cells.iter().filter(|cell| is_beside(cell)).cloned().collect();
        let unique = format!("@{:x}.{}+{offset}", made.slot, kind.0);
        let base = made.base - offset;
        let mut scalars = self.scalars(path, &unique, base, &beside, means);
        scalars.extend(part.scalars.iter().cloned().map(|mut scalar| {
            scalar.offset += offset;
            scalar
        }));
        scalars.sort_by_key(|scalar| scalar.offset);
        let record = InputRecord {
            name: name_for(path, &whole.name, self.heap(path).n_inputs(kind)),
            type_name: whole.name.clone(),
            n_bytes: whole.size,
            origin: 0,
            scalars: scalars.into(),
            size: None,
            tail: None,
            layout: Some(Layout { at: Some(base), fields: Arc::clone(&whole.fields) }),
        };
        let terms = &mut means.machine.terms;
        let mut object = object_of(terms, &record, base);
        object.ty = whole.ty;
        let smaller = path.state.memory.get(inner).clone();
        for at in 0..smaller.size {
            match smaller.array_at(at) {
                None => {
                    let (byte, shadow) = smaller.byte(at);
                    object.set_byte(offset + at, byte, shadow);
                }
                Some(array) => {
                    let index = terms.constant(u128::from(at), 64);
                    let byte = terms.select(array, index);
                    object.set_term(terms, offset + at, byte, Label::EMPTY);
                }
            }
        }
        path.state.memory.replace_input(inner, object);
        path.state.inputs.replace(part_idx, Arc::new(record));
        let here = &mut self.heap_mut(path).made[idx];
        (here.kind, here.base, here.size) = (kind, base, whole.size);
    }

    /// The terms of an object's cells; what is true of them by their nature becomes true on the path.
    fn scalars(
        &mut self,
        path: &mut Path,
        unique: &str,
        base: u64,
        cells: &[Cell],
        means: &mut Means,
    ) -> Vec<vm::Scalar> {
        let mut scalars = Vec::with_capacity(cells.len());
        let mut conditions = Vec::new();
        for cell in cells {
            let home = Some(base + cell.offset);
            let term = self.term_of(unique, cell, home, means.machine, &mut conditions);
            scalars.push(scalar(cell.offset, cell.n_bytes, term));
        }
        self.measure(cells, &scalars, &mut means.machine.terms, &mut conditions);
        for condition in conditions {
            path.constrain_new(&mut means.machine.terms, means.eval, condition);
        }
        scalars
    }

    pub(super) fn term_of(
        &mut self,
        unique: &str,
        cell: &Cell,
        home: Option<u64>,
        machine: &mut Machine,
        conditions: &mut Vec<TermId>,
    ) -> TermId {
        let name = format!("{unique}.{}", cell.offset);
        let width = u32::from(cell.n_bytes) * 8;
        let terms = &mut machine.terms;
        let (term, condition) = match &cell.holds {
            Holds::Number => return terms.symbol(&name, width),
            Holds::Bool => {
                let bit = terms.symbol(&name, 1);
                return terms.zext(bit, width);
            }
            Holds::Either(kinds) => return self.pointers.make_either(terms, &name, kinds, home),
            Holds::Pointer(kind) => self.pointers.make(terms, &self.kinds, &name, *kind, home),
            Holds::Function(signature) => {
                let targets = super::pointers::functions_of(&self.kinds, machine.image, &self.taken, signature);
                self.functions.extend(targets.iter().map(|(func, addr)| (*addr, *func)));
                let addresses: Vec<u64> = targets.into_iter().map(|(_, addr)| addr).collect();
                self.pointers.make_function(terms, &name, &addresses)
            }
        };
        conditions.push(condition);
        term
    }
}

fn moved(cells: &[Cell], by: u64, prefix: &str) -> Vec<Cell> {
    // Padding has no name, whatever it lies in.
    let is_named = |cell: &Cell| !cell.path.is_empty() || cells.len() == 1;
    let moved = |cell: &Cell| Cell {
        offset: cell.offset + by,
        path: if is_named(cell) { format!("{prefix}{}", cell.path).into() } else { "".into() },
        ..cell.clone()
    };
    cells.iter().map(moved).collect()
}
