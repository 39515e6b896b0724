//! Pointers as terms.
//!
//! A pointer is an address made of two small symbols: the number of an object, and where in it. Number zero is the null pointer.
//! The bits below the number are those of the place in the object, so that two pointers are the same when their numbers and
//! places are, which is what the simplifier makes of it; a pointer that can only point to the start of an object has no second
//! symbol at all. What a number may be is a condition on eight bits, for which no solver is needed.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms};
use vm::Image;

use super::Representation;
use super::kinds::{KindId, Kinds};

/// Bits of a pointer.
const POINTER_BITS: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PointerId(u32);

impl PointerId {
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// Whether whatever is in memory must be a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    Pointer,
    /// A union may have something else there. It is a pointer once the program follows it.
    Either,
}

#[derive(Clone, Debug)]
pub struct Pointer {
    pub value: TermId,
    /// What it points to; several where it is part of a union.
    pub kinds: Arc<[KindId]>,
    pub nature: Nature,
    /// The address of the input object's member that holds it at first.
    pub home: Option<u64>,
}

/// The pointers made so far by this worker: the same name is the same pointer on every path.
#[derive(Default)]
pub struct Pointers {
    all: Vec<Pointer>,
    by_symbol: FxHashMap<SymbolId, PointerId>,
    by_value: FxHashMap<TermId, PointerId>,
    /// What was found in terms before: the symbols in a term do not change.
    found: RefCell<FxHashMap<TermId, Within>>,
    representation: Representation,
}

/// What is in a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within {
    Nothing,
    /// One pointer and what is added to it, which has nothing to do with it.
    One {
        pointer: PointerId,
        beside: TermId,
    },
    /// Several pointers, or one that something was computed from; other addresses may be in there as well.
    Several(Vec<PointerId>),
}

impl Pointers {
    pub fn new(representation: Representation) -> Pointers {
        Pointers { representation, ..Pointers::default() }
    }

    /// Whether a pointer that was followed goes on as the address it is.
    pub fn become_addresses(&self) -> bool {
        self.representation != Representation::Terms
    }

    pub fn get(&self, pointer: PointerId) -> &Pointer {
        &self.all[pointer.0 as usize]
    }

    /// A pointer of that name, and what it may be.
    pub fn make(
        &mut self,
        terms: &mut Terms,
        kinds: &Kinds,
        name: &str,
        kind: KindId,
        home: Option<u64>,
    ) -> (TermId, TermId) {
        let (value, condition) = match self.representation {
            Representation::Numbers | Representation::Terms => by_number(terms, kinds, name, kind),
            Representation::Addresses => by_address(terms, kinds, name, kind),
        };
        self.enter(terms, value, Arc::new([kind]), Nature::Pointer, home);
        (value, condition)
    }

    /// Memory that holds a pointer to one of these kinds or something else: any bits.
    pub fn make_either(&mut self, terms: &mut Terms, name: &str, kinds: &[KindId], home: Option<u64>) -> TermId {
        let value = terms.symbol(name, POINTER_BITS);
        self.enter(terms, value, kinds.into(), Nature::Either, home);
        value
    }

    /// A pointer to one of the functions of a type whose address somebody takes.
    pub fn make_function(&mut self, terms: &mut Terms, name: &str, addresses: &[u64]) -> (TermId, TermId) {
        let which = terms.symbol(&format!("{name}.which"), 8);
        let mut value = terms.constant(0, POINTER_BITS);
        for (idx, addr) in addresses.iter().enumerate().rev() {
            let number = terms.constant(idx as u128 + 1, 8);
            let (here, addr) = (terms.eq(which, number), terms.constant(u128::from(*addr), POINTER_BITS));
            value = terms.ite(here, addr, value);
        }
        let last = terms.constant(addresses.len() as u128, 8);
        (value, terms.ule(which, last))
    }

    fn enter(&mut self, terms: &Terms, value: TermId, kinds: Arc<[KindId]>, nature: Nature, home: Option<u64>) {
        if self.by_value.contains_key(&value) {
            return;
        }
        let id = PointerId(self.all.len() as u32);
        self.all.push(Pointer { value, kinds, nature, home });
        self.by_value.insert(value, id);
        for symbol in terms.symbols(value) {
            self.by_symbol.insert(*symbol, id);
        }
    }

    /// The pointer that a symbol is part of.
    pub fn of_symbol(&self, symbol: SymbolId) -> Option<PointerId> {
        self.by_symbol.get(&symbol).copied()
    }

    /// The pointers in a term.
    pub fn within(&self, terms: &mut Terms, t: TermId) -> Within {
        if let Some(known) = self.found.borrow().get(&t) {
            return known.clone();
        }
        let found = self.find_within(terms, t);
        self.found.borrow_mut().insert(t, found.clone());
        found
    }

    fn find_within(&self, terms: &mut Terms, t: TermId) -> Within {
        let mut found: Vec<PointerId> =
            terms.symbols(t).iter().filter_map(|symbol| self.by_symbol.get(symbol)).copied().collect();
        found.dedup();
        if found.is_empty() || terms.width(t) != POINTER_BITS {
            return Within::Nothing;
        }
        found.sort_unstable_by_key(|pointer| pointer.0);
        found.dedup();
        let [pointer] = found[..] else { return Within::Several(found) };
        match (self.beside(terms, t, pointer), self.get(pointer).nature) {
            (Some(beside), _) => Within::One { pointer, beside },
            (None, Nature::Either) => Within::Nothing,
            (None, Nature::Pointer) => Within::Several(found),
        }
    }

    /// What was added to a pointer to get a term, if that has nothing to do with the pointer itself.
    fn beside(&self, terms: &mut Terms, t: TermId, pointer: PointerId) -> Option<TermId> {
        let value = self.get(pointer).value;
        let is_free = |terms: &Terms, beside: TermId| {
            !terms.symbols(beside).iter().any(|symbol| self.by_symbol.get(symbol) == Some(&pointer))
        };
        let beside = terms.sub(t, value);
        if is_free(terms, beside) {
            return Some(beside);
        }
        // A sum that fits into the bits below the number is no sum any more.
        if let (Some((slot, low)), Some((own_slot, own_low))) = (low_part(terms, t), low_part(terms, value)) {
            let (low, own_low) = (terms.zext(low, POINTER_BITS), terms.zext(own_low, POINTER_BITS));
            let beside = terms.sub(low, own_low);
            return (slot == own_slot && is_free(terms, beside)).then_some(beside);
        }
        // Something that was added to such a one.
        let term::View::Add(a, b) = terms.view(t) else { return None };
        let (with, other) = if is_free(terms, b) { (a, b) } else { (b, a) };
        if !is_free(terms, other) {
            return None;
        }
        let inner = self.beside(terms, with, pointer)?;
        Some(terms.add(inner, other))
    }
}

/// The number of an object and the bits below it.
fn low_part(terms: &Terms, t: TermId) -> Option<(TermId, TermId)> {
    let term::View::ZExt(address) = terms.view(t) else { return None };
    match terms.view(address) {
        term::View::Concat(slot, low) if matches!(terms.view(slot), term::View::Symbol(_)) => Some((slot, low)),
        _ => None,
    }
}

fn by_number(terms: &mut Terms, kinds: &Kinds, name: &str, kind: KindId) -> (TermId, TermId) {
    let reaches = Arc::clone(kinds.reach(kind));
    let (bits, shift) = (kinds.slot_bits, kinds.shift());
    let slot = terms.symbol(&format!("{name}.at"), bits);
    let (lowest, highest) = (reaches[0].delta, reaches[reaches.len() - 1].delta);
    let zero = terms.constant(0, bits);
    let mut condition = terms.eq(slot, zero);
    let between = |terms: &mut Terms, slots: &std::ops::Range<u16>| {
        let (first, last) = (terms.constant(slots.start.into(), bits), terms.constant(u128::from(slots.end) - 1, bits));
        let (above, below) = (terms.ule(first, slot), terms.ule(slot, last));
        terms.and(above, below)
    };
    if (lowest, highest) == (0, 0) {
        for slots in &reaches[0].slots {
            let here = between(terms, slots);
            condition = terms.or(condition, here);
        }
        let low = terms.constant(0, shift);
        let value = terms.concat(slot, low);
        return (terms.zext(value, POINTER_BITS), condition);
    }
    let place_bits = if lowest >= 0 && highest < 256 || lowest >= -128 && highest < 128 { 8 } else { 32 };
    let place = terms.symbol(&format!("{name}.in"), place_bits);
    let at_start = terms.constant(0, place_bits);
    let nowhere = terms.eq(place, at_start);
    condition = terms.and(condition, nowhere);
    for reach in reaches.iter() {
        let delta = terms.constant(reach.delta as u128 & (u128::MAX >> (128 - place_bits)), place_bits);
        let mut here = terms.fls();
        for slots in &reach.slots {
            let inside = between(terms, slots);
            here = terms.or(here, inside);
        }
        let there = terms.eq(place, delta);
        let both = terms.and(here, there);
        condition = terms.or(condition, both);
    }
    let value = if lowest >= 0 {
        let low = terms.zext(place, shift);
        let value = terms.concat(slot, low);
        terms.zext(value, POINTER_BITS)
    } else {
        let low = terms.constant(0, shift);
        let start = terms.concat(slot, low);
        let (start, offset) = (terms.zext(start, POINTER_BITS), terms.sext(place, POINTER_BITS));
        terms.add(start, offset)
    };
    (value, condition)
}

/// The other representation: one symbol as wide as an address.
fn by_address(terms: &mut Terms, kinds: &Kinds, name: &str, kind: KindId) -> (TermId, TermId) {
    let value = terms.symbol(name, POINTER_BITS);
    let null = terms.constant(0, POINTER_BITS);
    let mut condition = terms.eq(value, null);
    let low = terms.constant((1u128 << kinds.shift()) - 1, POINTER_BITS);
    for reach in kinds.reach(kind).iter() {
        let delta = terms.constant(u128::from(reach.delta as u64), POINTER_BITS);
        let start = terms.sub(value, delta);
        let below = terms.and(start, low);
        let aligned = terms.eq(below, null);
        for slots in &reach.slots {
            let first = terms.constant(u128::from(kinds.base(slots.start)), POINTER_BITS);
            let last = terms.constant(u128::from(kinds.base(slots.end - 1)), POINTER_BITS);
            let (above, under) = (terms.ule(first, start), terms.ule(start, last));
            let inside = terms.and(above, under);
            let here = terms.and(aligned, inside);
            condition = terms.or(condition, here);
        }
    }
    (value, condition)
}

/// The functions of a type whose address is taken, in the order they were defined.
pub fn functions_of(kinds: &Kinds, image: &Image, taken: &[ir::FuncId], signature: &str) -> Vec<(ir::FuncId, u64)> {
    let module = kinds.module();
    let fits = |func: &&ir::FuncId| {
        let ty = module.function(**func).signature;
        ty.is_some_and(|ty| kinds.signature(ty) == signature)
    };
    taken.iter().filter(fits).map(|func| (*func, image.address_of(ir::SymbolRef::Function(*func)))).collect()
}
