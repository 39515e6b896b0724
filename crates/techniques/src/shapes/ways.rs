//! What a pointer may mean when the program follows it, one way for each shape of the heap that it can make a difference for.
//!
//! The null pointer; each place of its type in the objects there are; an object around one that was made as a part of it; and one
//! new object. New objects are interchangeable, so only the next number is tried: no shape comes up twice. Objects that nobody
//! has followed a pointer to are not there yet, so no shape is left out either.

use std::rc::Rc;
use std::sync::Arc;

use explore::{Asked, LeftOut, Means, Path};
use term::{TermId, Terms};
use vm::{InputRecord, Label, Liveness, Machine};
use witness::Layout;

use super::heap::{Heap, Made, Origin, Settled, name_for, object_of, scalar};
use super::kinds::{Cell, Holds, KindId, Known, Tail, UNKNOWN, fields};
use super::pointers::{PointerId, Within};
use super::{Length, NAME, Shapes};

/// One thing that a pointer may mean.
#[derive(Clone, Debug)]
pub enum Way {
    Null,
    /// This address in an object there is.
    There(u64),
    New {
        kind: KindId,
        slot: u16,
        n_elements: u64,
        n_in_tail: u64,
    },
    /// An object of that kind around one there is, which lies so many bytes into it; the pointer means the place `at`.
    Around {
        made: usize,
        kind: KindId,
        offset: u64,
        at: u64,
    },
}

/// Ways to lie beside something in a larger object that are tried for one pointer.
const MAX_BESIDE: usize = 16;

/// What was listed last, for those who take one of it.
pub struct Listed {
    value: TermId,
    /// The pointer that is settled by it; none where what lies around something is.
    settles: Option<PointerId>,
    ways: Rc<[Way]>,
}

impl Shapes {
    /// What a pointer in a value may mean where that is open.
    pub fn list(&mut self, path: &Path, asked: &Asked, means: &mut Means) -> Option<(Vec<TermId>, Option<LeftOut>)> {
        let terms = &mut means.machine.terms;
        let pointer = match self.pointers.within(terms, asked.value) {
            Within::Nothing => {
                let addr = terms.as_const(asked.value)? as u64;
                return self.list_around(path, asked, addr, means);
            }
            Within::One { pointer, .. } if self.is_settled(path, pointer) => {
                let explore::Leads::At(addr) = self.lead(path, asked.value, means)? else { return None };
                return self.list_around(path, asked, addr, means);
            }
            Within::One { pointer, .. } => pointer,
            // One after the other.
            Within::Several(pointers) => pointers.into_iter().find(|pointer| !self.is_settled(path, *pointer))?,
        };
        let value = self.pointers.get(pointer).value;
        let kinds = self.kinds_of(path, pointer, terms);
        let heap = self.heap(path);
        let length = self.lengths.get(&value).copied();
        let mut list = List { terms, ways: Vec::new(), left_out: None };
        let null = null_condition(length, value, list.terms);
        list.add(null, Way::Null);
        for kind in kinds {
            self.list_there(heap, value, kind, length, &mut list);
            self.list_parts(path, heap, value, kind, &mut list);
            self.list_beside(path, heap, value, kind, &mut list);
            self.list_new(heap, value, kind, length, &mut list);
        }
        let List { ways, left_out, .. } = list;
        let (conditions, ways): (Vec<TermId>, Vec<Way>) = ways.into_iter().unzip();
        self.listed = Some(Listed { value: asked.value, settles: Some(pointer), ways: ways.into() });
        Some((conditions, left_out))
    }

    fn is_settled(&self, path: &Path, pointer: PointerId) -> bool {
        self.heap(path).settled(pointer).is_some()
    }

    /// What a pointer may point to. One to nobody knows what points to what the program takes it for.
    fn kinds_of(&self, path: &Path, pointer: PointerId, terms: &mut Terms) -> Vec<KindId> {
        let followed = self.pointers.get(pointer).kinds.iter().map(|kind| match *kind {
            UNKNOWN => self.followed_as(path, pointer, terms).unwrap_or(UNKNOWN),
            kind => kind,
        });
        let mut kinds: Vec<KindId> = followed.collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Where something of the kind lies in the objects there are.
    fn list_there(&self, heap: &Heap, value: TermId, kind: KindId, length: Option<Length>, list: &mut List) {
        let mut places: Vec<u64> = Vec::new();
        for made in &heap.made {
            let whole = self.kinds.get(made.kind);
            if kind == UNKNOWN {
                places.push(made.base);
                continue;
            }
            for element in 0..made.n_elements {
                let start = made.base + element * whole.size;
                places.extend((made.kind == kind).then_some(start));
                places.extend(whole.places.iter().filter(|(_, part)| *part == kind).map(|(at, _)| start + at));
            }
        }
        places.sort_unstable();
        places.dedup();
        for at in places {
            let mut here = list.is_at(value, at);
            if let Some(length) = length {
                let room =
                    heap.around(at).map_or(0, |made| (made.base + made.size - at) / self.kinds.get(kind).size.max(1));
                let fits = length.is_at_most(list.terms, room);
                here = list.terms.and(here, fits);
            }
            list.add(here, Way::There(at));
        }
    }

    /// Objects of the kind around those that were made as a part of one.
    fn list_parts(&self, path: &Path, heap: &Heap, value: TermId, kind: KindId, list: &mut List) {
        for (idx, made) in heap.made.iter().enumerate().filter(|(_, made)| is_whole(path, made)) {
            for (offset, _) in self.kinds.get(kind).places.iter().filter(|(_, part)| *part == made.kind) {
                let here = list.is_at(value, made.base - offset);
                list.add(here, Way::Around { made: idx, kind, offset: *offset, at: made.base - offset });
            }
        }
    }

    /// Places beside an object that was made as a part, in something larger that has both: two pointers to members of one struct,
    /// neither of which knows of the struct. Once they are told apart they can never turn out to be that any more.
    fn list_beside(&self, path: &Path, heap: &Heap, value: TermId, kind: KindId, list: &mut List) {
        let mut ways = Vec::new();
        for (idx, made) in heap.made.iter().enumerate().filter(|(_, made)| is_whole(path, made)) {
            for around in self.kinds.ids() {
                for (offset, at) in self.pairs(around, made.kind, kind) {
                    let at = made.base - offset + at;
                    ways.push((list.is_at(value, at), Way::Around { made: idx, kind: around, offset, at }));
                }
            }
        }
        if ways.len() <= MAX_BESIDE {
            ways.into_iter().for_each(|(here, way)| list.add(here, way));
            return;
        }
        let reason =
            format!("pointers to a `{}` in something larger that has another one's, too", self.kinds.get(kind).name);
        for (here, _) in ways {
            list.leave_out(here, reason.clone());
        }
    }

    /// Where two parts of these kinds lie in an object of the kind `around`, if nothing smaller in it has both.
    fn pairs(&self, around: KindId, one: KindId, other: KindId) -> Vec<(u64, u64)> {
        let (places, size_of) = (&self.kinds.get(around).places, |kind: KindId| self.kinds.get(kind).size);
        let of = |kind: KindId| places.iter().filter(move |(_, part)| *part == kind).map(|(offset, _)| *offset);
        let has = |kind: KindId, start: u64, part: KindId, offset: u64| {
            offset >= start && self.kinds.get(kind).places.contains(&(offset - start, part))
        };
        let mut pairs = Vec::new();
        for offset in of(one) {
            for at in of(other) {
                let is_apart = offset + size_of(one) <= at || at + size_of(other) <= offset;
                let is_smaller_around =
                    |(start, inner): &(u64, KindId)| has(*inner, *start, one, offset) && has(*inner, *start, other, at);
                if is_apart && !places.iter().any(is_smaller_around) {
                    pairs.push((offset, at));
                }
            }
        }
        pairs
    }

    /// The next object of the kind, unless there are as many as there may be.
    fn list_new(&self, heap: &Heap, value: TermId, kind: KindId, length: Option<Length>, list: &mut List) {
        let whole = self.kinds.get(kind);
        let n_numbers = heap.made.iter().filter(|made| whole.slots.contains(&made.slot)).count() as u16;
        let n_made = heap.n_inputs(kind);
        let slot = whole.slots.start + n_numbers;
        let beyond = |list: &mut List, first: u16| {
            let (first, last) = (self.kinds.base(first), self.kinds.base(whole.slots.end - 1));
            list.is_between(value, first, last)
        };
        if whole.known == Known::NameOnly {
            let there = beyond(list, slot);
            list.leave_out(
                there,
                format!("nothing is known of what lies behind a `{} *`: the type is not defined", whole.name),
            );
            return;
        }
        if n_made >= self.max_objects || slot >= whole.slots.end {
            if slot < whole.slots.end {
                let there = beyond(list, slot);
                let (max, name) = (self.max_objects, &whole.name);
                list.leave_out(there, format!("more than {max} objects of type `{name}` (--shapes-max)"));
            }
            return;
        }
        let here = list.is_at(value, self.kinds.base(slot));
        match (length, &whole.tail) {
            (Some(length), _) => {
                for n_elements in 0..=self.max_objects {
                    let exactly = match n_elements {
                        0 => length.is_at_most(list.terms, 0),
                        _ => length.is(list.terms, n_elements),
                    };
                    let both = list.terms.and(here, exactly);
                    list.add(both, Way::New { kind, slot, n_elements, n_in_tail: 0 });
                }
                let fits = length.is_at_most(list.terms, self.max_objects);
                let longer = list.terms.not(fits);
                let both = list.terms.and(here, longer);
                list.leave_out(both, format!("more than {} elements of an array (--shapes-max)", self.max_objects));
            }
            (None, Some(_)) => {
                for n_in_tail in 0..=self.max_objects {
                    list.add(here, Way::New { kind, slot, n_elements: 1, n_in_tail });
                }
                list.leave_out(
                    here,
                    format!("more than {} elements of a flexible array (--shapes-max)", self.max_objects),
                );
            }
            (None, None) => list.add(here, Way::New { kind, slot, n_elements: 1, n_in_tail: 0 }),
        }
    }

    /// An address outside of the object that it was computed from: what was made is part of something larger. Something that is
    /// to be given back as a whole has to begin there.
    fn list_around(
        &mut self,
        path: &Path,
        asked: &Asked,
        addr: u64,
        means: &mut Means,
    ) -> Option<(Vec<TermId>, Option<LeftOut>)> {
        let slot = self.kinds.slot_near(addr);
        let (idx, made) = self.heap(path).made.iter().enumerate().find(|(_, made)| made.slot == slot)?;
        let n_bytes = asked.access.map_or(1, |(_, n_bytes)| n_bytes);
        let is_inside = addr >= made.base && addr + n_bytes <= made.base + made.size;
        if is_inside || !is_whole(path, made) {
            return None;
        }
        let fits = |kind: &KindId, offset: u64| {
            let base = made.base - offset;
            match asked.access {
                Some(_) => addr >= base && addr + n_bytes <= base + self.kinds.get(*kind).size,
                None => addr == base,
            }
        };
        let mut ways = Vec::new();
        for kind in self.kinds.ids() {
            let places = self.kinds.get(kind).places.iter().filter(|(_, part)| *part == made.kind);
            let fitting = places.map(|(offset, _)| *offset).filter(|offset| fits(&kind, *offset));
            ways.extend(fitting.map(|offset| Way::Around { made: idx, kind, offset, at: addr }));
        }
        if ways.is_empty() {
            return None;
        }
        let always = means.machine.terms.tru();
        let conditions = vec![always; ways.len()];
        self.listed = Some(Listed { value: asked.value, settles: None, ways: ways.into() });
        Some((conditions, None))
    }

    /// Makes a path's heap what one of the listed ways says.
    pub fn take(&mut self, path: &mut Path, asked: &Asked, nth: usize, means: &mut Means) {
        let Some(Listed { value, settles, ways }) = self.listed.as_ref() else { return };
        debug_assert_eq!(*value, asked.value);
        let (settles, way) = (*settles, ways[nth].clone());
        let at = match way {
            Way::Null => 0,
            Way::There(at) => at,
            Way::New { kind, slot, n_elements, n_in_tail } => {
                self.make(path, kind, slot, (n_elements, n_in_tail), means);
                self.kinds.base(slot)
            }
            Way::Around { made, kind, offset, at } => {
                self.grow(path, made, kind, offset, means);
                at
            }
        };
        if let Some(pointer) = settles {
            self.heap_mut(path).settle(pointer, Settled::At(at));
            self.put_in(path, pointer, at, means);
        }
    }

    pub fn take_none(&mut self, path: &mut Path) {
        let Some(Listed { settles: Some(pointer), .. }) = self.listed.as_ref() else { return };
        let pointer = *pointer;
        self.heap_mut(path).settle(pointer, Settled::Foreign);
    }

    fn make(
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
    fn grow(&mut self, path: &mut Path, idx: usize, kind: KindId, offset: u64, means: &mut Means) {
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
            path.constrain_new(&means.machine.terms, means.eval, condition);
        }
        scalars
    }

    pub fn term_of(
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

/// An array with elements is never null.
fn null_condition(length: Option<Length>, value: TermId, terms: &mut Terms) -> TermId {
    let zero = terms.constant(0, 64);
    let null = terms.eq(value, zero);
    match length {
        Some(length) => {
            let empty = length.is_at_most(terms, 0);
            terms.and(null, empty)
        }
        None => null,
    }
}

/// Whether an object can turn out to be part of a larger one.
fn is_whole(path: &Path, made: &Made) -> bool {
    let is_alive = |object| path.state.memory.get(object).liveness == Liveness::Alive;
    made.n_elements == 1 && matches!(made.origin, Origin::Input { object, .. } if is_alive(object))
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

/// Ways while they are put together.
struct List<'t> {
    terms: &'t mut Terms,
    ways: Vec<(TermId, Way)>,
    left_out: Option<LeftOut>,
}

impl List<'_> {
    fn add(&mut self, condition: TermId, way: Way) {
        if !self.terms.is_false(condition) {
            self.ways.push((condition, way));
        }
    }

    fn leave_out(&mut self, condition: TermId, why: String) {
        if self.terms.is_false(condition) {
            return;
        }
        match &mut self.left_out {
            None => self.left_out = Some(LeftOut { by: NAME, condition, why }),
            Some(known) => {
                known.condition = self.terms.or(known.condition, condition);
                known.why = format!("{}, or {why}", known.why);
            }
        }
    }

    fn is_at(&mut self, value: TermId, at: u64) -> TermId {
        let at = self.terms.constant(u128::from(at), 64);
        self.terms.eq(value, at)
    }

    fn is_between(&mut self, value: TermId, first: u64, last: u64) -> TermId {
        let (first, last) = (self.terms.constant(u128::from(first), 64), self.terms.constant(u128::from(last), 64));
        let (above, below) = (self.terms.ule(first, value), self.terms.ule(value, last));
        self.terms.and(above, below)
    }
}
