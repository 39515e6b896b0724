//! Memory that nobody has freed when the program ends, and that nobody could free any more.
//!
//! Roots are globals, variables of functions that have not returned, and results of calls that a suspended function
//! still uses. What a register held before is no root: with this check on, variables are objects in memory, and a
//! register is a passing result. A pointer that depends on inputs keeps everything alive that it may point to, so that a
//! leak is never claimed wrongly; what that hides is entered in the ledger.

use std::rc::Rc;

use ir::Reg;
use rustc_hash::FxHashSet;
use term::{TermId, Terms, View};
use witness::{Bug, BugKind, Ending, LedgerKind, Place};

use crate::run::{Machine, Step};
use crate::{Effect, Frame, Liveness, Object, ObjectId, ObjectKind, Region, State};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing is left of its functions.
    Returned,
    /// Every function that was running still has its variables.
    Stopped,
}

/// Terms looked into for what a symbolic pointer may be, for one check.
const MAX_TERMS: usize = 100_000;

impl Machine<'_> {
    /// Stops with the first leak, the others beside it.
    pub(crate) fn check_leaks(&mut self, state: &State, end: End) -> Step<()> {
        if !self.image.checks.any_leak() {
            return Ok(());
        }
        self.depend_on_pointers(state);
        let mut search = Search::new(&self.terms, state, usize::from(self.image.module.target.pointer_bytes));
        if !self.image.checks.leak_all {
            self.add_roots(state, end, &mut search);
            search.run();
        }
        let is_lost = |(id, object): &(ObjectId, &Rc<Object>)| is_block(object) && !search.reached[id.idx as usize];
        let lost: Vec<Rc<Object>> =
            state.memory.objects(Region::Heap).filter(is_lost).map(|row| row.1.clone()).collect();
        if search.is_vague {
            let detail = "whether memory is lost here depends on a pointer that depends on inputs".to_string();
            self.note(state, LedgerKind::UnmodelledBehaviour, detail);
        }
        // Pointers among bytes whose number is an input are not seen.
        let is_piled = |region| state.memory.objects(region).any(|(_, object)| object.layers().is_some());
        if !lost.is_empty() && [Region::Global, Region::Stack, Region::Heap].into_iter().any(is_piled) {
            let detail = "memory may be lost here, or be known to a buffer as long as an input says".to_string();
            self.note(state, LedgerKind::UnmodelledBehaviour, detail);
            return Ok(());
        }
        let mut leaks: Vec<(Place, String)> = Vec::new();
        for object in lost {
            let place = self.image.place_at(object.site.func, object.site.span);
            if leaks.iter().all(|leak| leak.0 != place) {
                leaks.push((place, format!("{} bytes allocated here are never freed", object.size)));
            }
        }
        if leaks.is_empty() {
            return Ok(());
        }
        let (place, message) = leaks.remove(0);
        let bug = Bug { place, also: leaks, ..self.bug(state, BugKind::MemoryLeak, message) };
        Err(Effect::Ended(Box::new(Ending::Bug(bug))))
    }

    fn add_roots<'s>(&self, state: &'s State, end: End, search: &mut Search<'s>) {
        // What nobody may write holds no pointer to a block.
        let globals = state.memory.objects(Region::Global).filter(|(_, object)| object.kind != ObjectKind::Constant);
        search.work.extend(globals.map(|(_, object)| object.as_ref()));
        // Copies of thread-local variables are nobody's to free.
        let variables = state.memory.objects(Region::Heap).filter(|(_, object)| object.kind != ObjectKind::Heap);
        search.work.extend(variables.map(|(_, object)| object.as_ref()));
        let thread = state.thread().0 as u16;
        let is_there =
            |object: &Object| object.liveness == Liveness::Alive && (end == End::Stopped || object.thread != thread);
        let stack = state.memory.objects(Region::Stack).map(|(_, object)| object.as_ref());
        search.work.extend(stack.filter(|object| is_there(object)));
        for frame in state.parked_frames() {
            self.add_passing(frame, search);
        }
        if end == End::Stopped {
            for frame in state.frames() {
                self.add_passing(frame, search);
            }
        }
    }

    /// What the rest of the block a function stands in still uses.
    fn add_passing(&self, frame: &Frame, search: &mut Search<'_>) {
        let function = self.image.module.function(frame.func);
        let block = function.block(frame.block);
        let mut regs: Vec<Reg> = Vec::new();
        for inst in block.insts.iter().skip(frame.inst_idx as usize + 1) {
            function.for_each_use(inst, self.image.pointer_bits(), |reg, _| regs.push(reg));
        }
        regs.extend(block.terminator.edges().iter().flat_map(|edge| edge.moves.iter().map(|step| step.src)));
        for reg in regs {
            let slot = frame.regs[reg.idx()];
            match slot.shadow.term() {
                None => search.reach(slot.bits),
                Some(term) => search.reach_constants(term),
            }
        }
    }
}

/// A block of the program's own that is still there.
fn is_block(object: &Object) -> bool {
    object.liveness == Liveness::Alive && object.kind == ObjectKind::Heap
}

struct Search<'s> {
    terms: &'s Terms,
    state: &'s State,
    word_bytes: usize,
    reached: Vec<bool>,
    work: Vec<&'s Object>,
    seen_terms: FxHashSet<TermId>,
    /// Something was kept alive that may be lost on some inputs of the path.
    is_vague: bool,
}

impl<'s> Search<'s> {
    fn new(terms: &'s Terms, state: &'s State, word_bytes: usize) -> Search<'s> {
        let reached = vec![false; state.memory.n_heap_objects() as usize];
        Search {
            terms,
            state,
            word_bytes,
            reached,
            work: Vec::new(),
            seen_terms: FxHashSet::default(),
            is_vague: false,
        }
    }

    fn run(&mut self) {
        while let Some(object) = self.work.pop() {
            if let Some(array) = (0..object.size).find_map(|offset| object.array_at(offset)) {
                self.reach_constants(array);
                self.reach_by_bytes(&[array]);
            }
            let data = object.data();
            for (word, idx) in data.chunks_exact(self.word_bytes).zip(0..) {
                self.scan_word(object, word, idx * self.word_bytes as u64);
            }
        }
    }

    fn scan_word(&mut self, object: &Object, bytes: &[u8], start: u64) {
        let offsets = start..start + self.word_bytes as u64;
        if !object.is_plain() {
            if offsets.clone().any(|offset| object.array_at(offset).is_some()) {
                return;
            }
            let terms: Vec<TermId> = offsets.filter_map(|offset| object.byte(offset).1.term()).collect();
            if !terms.is_empty() {
                terms.iter().for_each(|term| self.reach_constants(*term));
                self.reach_by_bytes(&terms);
                return;
            }
        }
        let mut word = [0u8; 8];
        word[..self.word_bytes].copy_from_slice(bytes);
        self.reach(u64::from_le_bytes(word));
    }

    fn reach(&mut self, word: u64) {
        let memory = &self.state.memory;
        // A pointer to the end of a block is one to the block.
        let object =
            memory.find(word).or_else(|| memory.below(word).filter(|object| memory.get(*object).end() == word));
        if let Some(object) = object
            && object.region == Region::Heap
            && !std::mem::replace(&mut self.reached[object.idx as usize], true)
            && memory.get(object).liveness == Liveness::Alive
        {
            self.work.push(memory.get(object).as_ref());
        }
    }

    /// Every address inside of a term counts as a pointer.
    fn reach_constants(&mut self, term: TermId) {
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            if self.seen_terms.len() > MAX_TERMS || !self.seen_terms.insert(term) {
                continue;
            }
            match self.terms.view(term) {
                View::Const(value) if value > 0xffff => {
                    if let Some(object) = self.state.memory.find(value as u64)
                        && object.region == Region::Heap
                        && is_block(self.state.memory.get(object))
                    {
                        self.is_vague |= !self.reached[object.idx as usize];
                        self.reach(value as u64);
                    }
                }
                View::Table(table) => work.extend(self.terms.table_elements(table)),
                view => work.extend(view.operands()),
            }
        }
    }

    /// A pointer that was stored at a symbolic place lies there in single bytes, each one of several constants: blocks
    /// whose address can be put together from them are kept.
    fn reach_by_bytes(&mut self, terms: &[TermId]) {
        let mut bytes = [false; 256];
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut work = terms.to_vec();
        while let Some(term) = work.pop() {
            if seen.len() > MAX_TERMS || !seen.insert(term) {
                continue;
            }
            match self.terms.view(term) {
                View::Const(value) if value < 256 => bytes[value as usize] = true,
                View::Const(value) => value.to_le_bytes().iter().for_each(|byte| bytes[usize::from(*byte)] = true),
                View::Table(table) => work.extend(self.terms.table_elements(table)),
                View::Ite(_, then, other) => work.extend([then, other]),
                View::Store { array, byte, .. } => work.extend([array, byte]),
                View::Select { array, .. } => work.push(array),
                View::Extract { arg, .. } => work.push(arg),
                View::Concat(high, low) => work.extend([high, low]),
                // One of two constants, of which zero is one.
                View::ZExt(bit) if self.terms.width(bit) == 1 => (bytes[0], bytes[1]) = (true, true),
                View::SExt(bit) if self.terms.width(bit) == 1 => (bytes[0], bytes[0xff]) = (true, true),
                View::ZExt(inner) | View::SExt(inner) => {
                    bytes[0] = true;
                    work.push(inner);
                }
                // Arithmetic on inputs makes no addresses.
                _ => {}
            }
        }
        let memory = &self.state.memory;
        let may_be = |base: u64| base.to_le_bytes()[..self.word_bytes].iter().all(|byte| bytes[usize::from(*byte)]);
        let found: Vec<u64> = memory
            .objects(Region::Heap)
            .filter(|(id, object)| is_block(object) && !self.reached[id.idx as usize] && may_be(object.base))
            .map(|(_, object)| object.base)
            .collect();
        self.is_vague |= !found.is_empty();
        found.into_iter().for_each(|base| self.reach(base));
    }
}
