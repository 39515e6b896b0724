//! What a pointer may mean when the program follows it, one way for each shape of the heap that it can make a difference for.
//!
//! The null pointer; each place of its type in the objects there are; an object around one that was made as a part of it; and one
//! new object. New objects are interchangeable, so only the next number is tried: no shape comes up twice. Objects that nobody
//! has followed a pointer to are not there yet, so no shape is left out either.

use std::rc::Rc;

use explore::{Asked, LeftOut, Means, Path};
use term::{TermId, Terms};
use vm::Liveness;

use super::cells::Cell;
use super::heap::{Heap, Made, Origin, Settled};
use super::kinds::{KindId, Known, UNKNOWN};
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
        // A list goes through one member of its elements, and what steps from there to the whole relies on that.
        let mut is_tried = true;
        for (idx, made) in heap.made.iter().enumerate().filter(|(_, made)| is_whole(path, made)) {
            for around in self.kinds.ids() {
                for (offset, at) in self.pairs(around, made.kind, kind) {
                    let at = made.base - offset + at;
                    ways.push((list.is_at(value, at), Way::Around { made: idx, kind: around, offset, at }));
                    is_tried &= made.kind != kind || !self.kinds.is_link(kind);
                }
            }
        }
        if is_tried && ways.len() <= MAX_BESIDE {
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
        let mut around: Vec<(KindId, u64)> = Vec::new();
        for kind in self.kinds.ids() {
            let places = self.kinds.get(kind).places.iter().filter(|(_, part)| *part == made.kind);
            around.extend(places.map(|(offset, _)| (kind, *offset)).filter(|(kind, offset)| fits(kind, *offset)));
        }
        // A struct may have several such parts. The one that is meant is that from which whole members are reached.
        let is_exact = |(kind, offset): &(KindId, u64)| {
            let (cells, from) = (&self.kinds.get(*kind).cells, addr - (made.base - offset));
            let is_end = |cell: &Cell| cell.offset + u64::from(cell.n_bytes) == from + n_bytes;
            asked.access.is_none() || cells.iter().any(|cell| cell.offset == from) && cells.iter().any(is_end)
        };
        if around.iter().any(is_exact) {
            around.retain(is_exact);
        }
        let way = |(kind, offset): (KindId, u64)| Way::Around { made: idx, kind, offset, at: addr };
        let ways: Vec<Way> = around.into_iter().map(way).collect();
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
