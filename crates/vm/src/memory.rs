//! Memory: objects at real addresses in four regions, shared between forks until written.
//!
//! Addresses only grow within a region and objects are kept in address order, so an address is found by binary search.
//! The region of inputs is the exception: objects there are made when they are asked for, at addresses that whoever makes them
//! chooses, and there are few of them.
//! On 64-bit targets nothing is ever placed where something else was: a stale pointer can never reach a newer object. A
//! 32-bit target has no room for that on the stack, which is reused from the top.

use std::ops::Range;
use std::rc::Rc;

use crate::{List, Object, ObjectKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Region {
    Global,
    Stack,
    Heap,
    /// What was there before the program started, made when a path first looks at it.
    Input,
}

/// An object of one state. Heap and global numbers are never reused; a stack number lives as long as its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    pub region: Region,
    pub idx: u32,
}

/// Where regions begin. The lowest page is never mapped, as on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub functions: u64,
    pub globals: u64,
    pub heap: u64,
    pub stack: u64,
    /// Bytes between two objects: room in which an overrun is still seen as one. Where there is much room, so much that an index
    /// that is wrong by thousands still hits nothing.
    pub gap: u64,
    /// How far behind an object, and how far before one, an address may be that belongs to it.
    near: (u64, u64),
}

impl Layout {
    const WIDE: Layout = Layout {
        functions: 0x40_1000,
        globals: 0x1000_0000,
        heap: 0x5555_0000_0000,
        stack: 0x7000_0000_0000,
        // No power of two: an address whose low bits are all zero and an index added to it would be taken apart into bits.
        gap: (1 << 16) + LEAST_GAP,
        near: (1 << 15, 1 << 15),
    };
    const NARROW: Layout = Layout {
        functions: 0x0804_8000,
        globals: 0x0a00_0000,
        heap: 0x2000_0000,
        stack: 0xb000_0000,
        gap: LEAST_GAP,
        near: NEAR_INPUT,
    };

    /// Between two of so many variables of the program, which take so many bytes.
    pub fn global_gap(&self, n_globals: u64, n_bytes: u64) -> u64 {
        let end = if self.heap > INPUTS.start { INPUTS.start } else { self.heap };
        let room = (end - self.globals).saturating_sub(n_bytes) / (n_globals + 1);
        self.gap.min(room).max(LEAST_GAP)
    }

    pub fn of_pointer_bytes(pointer_bytes: u8) -> &'static Layout {
        match pointer_bytes {
            8 => &Layout::WIDE,
            _ => &Layout::NARROW,
        }
    }
}

/// Where input objects lie on a 64-bit target; a 32-bit one has none.
pub const INPUTS: Range<u64> = 1 << 32..1 << 44;

/// However little room there is.
pub const LEAST_GAP: u64 = 64;
/// Whoever makes inputs puts them as close. Alignment makes gaps wider than they have to be.
const NEAR_INPUT: (u64, u64) = (LEAST_GAP, 2 * LEAST_GAP);

#[derive(Clone)]
pub struct Memory {
    globals: List<Rc<Object>>,
    stack: List<Rc<Object>>,
    heap: List<Rc<Object>>,
    /// In the order they were made.
    inputs: List<Rc<Object>>,
    /// Where they begin, in order, and their numbers.
    input_bases: Rc<Vec<(u64, u32)>>,
    layout: &'static Layout,
    next_stack: u64,
    next_heap: u64,
}

impl Memory {
    pub fn new(layout: &'static Layout, globals: List<Rc<Object>>) -> Memory {
        Memory {
            globals,
            stack: List::default(),
            heap: List::default(),
            inputs: List::default(),
            input_bases: Rc::default(),
            layout,
            // Room in front of the first object, so that a step before it is seen for what it is.
            next_stack: layout.stack + layout.gap,
            next_heap: layout.heap + layout.gap,
        }
    }

    fn reuses_stack(&self) -> bool {
        self.layout.stack <= Layout::NARROW.stack
    }

    #[inline]
    fn region(&self, region: Region) -> &List<Rc<Object>> {
        match region {
            Region::Global => &self.globals,
            Region::Stack => &self.stack,
            Region::Heap => &self.heap,
            Region::Input => &self.inputs,
        }
    }

    #[inline]
    fn region_mut(&mut self, region: Region) -> &mut List<Rc<Object>> {
        match region {
            Region::Global => &mut self.globals,
            Region::Stack => &mut self.stack,
            Region::Heap => &mut self.heap,
            Region::Input => &mut self.inputs,
        }
    }

    #[inline]
    fn region_at(&self, addr: u64) -> Region {
        if addr >= self.layout.stack {
            Region::Stack
        } else if addr >= self.layout.heap {
            Region::Heap
        } else if INPUTS.contains(&addr) && self.layout.heap > INPUTS.start {
            Region::Input
        } else {
            Region::Global
        }
    }

    #[inline]
    pub fn get(&self, object: ObjectId) -> &Rc<Object> {
        &self.region(object.region)[object.idx as usize]
    }

    /// For writing: copied first if another state shares it.
    #[inline]
    pub fn get_mut(&mut self, object: ObjectId) -> &mut Object {
        Rc::make_mut(&mut self.region_mut(object.region)[object.idx as usize])
    }

    /// The last object that begins at or before `addr`, alive or not.
    #[inline]
    pub fn below(&self, addr: u64) -> Option<ObjectId> {
        let region = self.region_at(addr);
        if region == Region::Input {
            return self.below_among_inputs(addr);
        }
        self.below_in(region, addr)
    }

    fn below_in(&self, region: Region, addr: u64) -> Option<ObjectId> {
        let objects = self.region(region);
        let idx = objects.partition_point(|object| object.base <= addr).checked_sub(1)?;
        Some(ObjectId { region, idx: idx as u32 })
    }

    /// Variables of the program may have been placed among the inputs.
    fn below_among_inputs(&self, addr: u64) -> Option<ObjectId> {
        let n_below = self.input_bases.partition_point(|(base, _)| *base <= addr);
        let last = n_below.checked_sub(1).map(|last| self.input_bases[last].1);
        let input = last.map(|idx| ObjectId { region: Region::Input, idx });
        let global = self.below_in(Region::Global, addr);
        input.into_iter().chain(global).max_by_key(|object| self.get(*object).base)
    }

    /// The object whose bytes (or, when empty, whose base) hold `addr`, alive or not.
    #[inline]
    pub fn find(&self, addr: u64) -> Option<ObjectId> {
        let object = self.below(addr)?;
        let found = self.get(object);
        (addr < found.end() || addr == found.base).then_some(object)
    }

    /// The objects that an address in none follows closely and precedes closely.
    pub fn neighbours(&self, addr: u64) -> (Option<ObjectId>, Option<ObjectId>) {
        let (below, region) = (self.below(addr), self.region_at(addr));
        let (behind, before) = if region == Region::Input { NEAR_INPUT } else { self.layout.near };
        let is_above = |object: &Rc<Object>| object.base > addr && object.base - addr <= before;
        let above = if region == Region::Input {
            self.objects(region)
                .chain(self.objects(Region::Global))
                .find(|(_, object)| is_above(object))
                .map(|(id, _)| id)
        } else {
            let next = ObjectId { region, idx: below.map_or(0, |object| object.idx + 1) };
            self.region(region).get(next.idx as usize).filter(|object| is_above(object)).map(|_| next)
        };
        (below.filter(|object| addr - self.get(*object).end().min(addr) < behind), above)
    }

    /// The object an out-of-place address most likely belongs to: the one it follows closely, or precedes closely.
    pub fn near(&self, addr: u64) -> Option<ObjectId> {
        let (below, above) = self.neighbours(addr);
        below.or(above)
    }

    pub fn allocate_heap(&mut self, size: u64, align: u64, make: impl FnOnce(u64) -> Object) -> ObjectId {
        let base = self.next_heap.next_multiple_of(align.max(16));
        self.next_heap = base + size + self.layout.gap;
        self.heap.push(Rc::new(make(base)));
        ObjectId { region: Region::Heap, idx: (self.heap.len() - 1) as u32 }
    }

    /// Adds an object that was there before the program started. No other may overlap with it.
    pub fn add_input(&mut self, object: Object) -> ObjectId {
        debug_assert!(INPUTS.contains(&object.base));
        let idx = self.inputs.len() as u32;
        self.enter_base(object.base, idx);
        self.inputs.push(Rc::new(object));
        ObjectId { region: Region::Input, idx }
    }

    fn enter_base(&mut self, base: u64, idx: u32) {
        let place = self.input_bases.partition_point(|(other, _)| *other <= base);
        Rc::make_mut(&mut self.input_bases).insert(place, (base, idx));
    }

    /// Puts another in place of an input object: a larger one around it.
    pub fn replace_input(&mut self, object: ObjectId, with: Object) {
        debug_assert_eq!(object.region, Region::Input);
        Rc::make_mut(&mut self.input_bases).retain(|(_, idx)| *idx != object.idx);
        self.enter_base(with.base, object.idx);
        self.inputs[object.idx as usize] = Rc::new(with);
    }

    pub fn allocate_stack(&mut self, size: u64, align: u64, make: impl FnOnce(u64) -> Object) -> ObjectId {
        let base = self.next_stack.next_multiple_of(align.max(16));
        self.next_stack = base + size + self.layout.gap;
        self.stack.push(Rc::new(make(base)));
        ObjectId { region: Region::Stack, idx: (self.stack.len() - 1) as u32 }
    }

    pub fn n_stack_objects(&self) -> u32 {
        self.stack.len() as u32
    }

    /// Ends the lifetime of all stack objects from number `mark` on.
    pub fn truncate_stack(&mut self, mark: u32) {
        if self.reuses_stack() && (mark as usize) < self.stack.len() {
            self.next_stack = self.stack[mark as usize].base;
        }
        self.stack.truncate(mark as usize);
    }

    /// Where the next stack object would be put.
    pub fn stack_end(&self) -> u64 {
        self.next_stack
    }

    /// Puts further stack objects a whole number of strides behind `from`, at least one, and says how many; 1 where the
    /// stack is reused anyway.
    pub fn widen_stack(&mut self, from: u64, stride: u64) -> u64 {
        if self.reuses_stack() {
            return 1;
        }
        let n_strides = (self.next_stack - from).div_ceil(stride).max(1);
        self.next_stack = from + n_strides * stride;
        n_strides
    }

    /// Whether `addr` lies where stack objects have been.
    pub fn was_stack(&self, addr: u64) -> bool {
        addr >= self.layout.stack && addr < self.next_stack
    }

    pub fn objects(&self, region: Region) -> impl Iterator<Item = (ObjectId, &Rc<Object>)> {
        self.region(region).iter().enumerate().map(move |(idx, object)| (ObjectId { region, idx: idx as u32 }, object))
    }

    /// Whether an address is where objects come and go. Which of them lies where depends on what happened before.
    pub fn is_moving(&self, addr: u64) -> bool {
        addr >= self.layout.heap && addr < self.next_stack
    }

    pub fn n_heap_objects(&self) -> u32 {
        self.heap.len() as u32
    }

    pub fn heap_end(&self) -> u64 {
        self.next_heap
    }

    #[inline]
    pub fn is_writable(&self, object: ObjectId) -> bool {
        self.get(object).kind != ObjectKind::Constant
    }
}
