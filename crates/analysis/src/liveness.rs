//! Which registers' values may still be read.
//!
//! By slots: a wide register is two. Edges carry moves, so there are two sets at the end of a block: `live_out` before
//! any edge is taken, and what an edge's target needs after its moves, which is the target's `live_in`.
//!
//! In a function that calls `setjmp`, any later call may jump back behind it. Whatever is live there is therefore kept
//! live across every call of that function.

use ir::{BinOp, BlockId, Callee, FuncId, Function, Inst, Module, Reg, slots_of};

/// A set of 64-bit slots of one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotSet {
    words: Vec<u64>,
}

impl SlotSet {
    fn new(n_slots: u32) -> Self {
        Self { words: vec![0; n_slots.div_ceil(64) as usize] }
    }

    /// Whether the slot at which `reg` starts is in the set.
    pub fn contains(&self, reg: Reg) -> bool {
        self.words[reg.idx() / 64] >> (reg.idx() % 64) & 1 == 1
    }

    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        let starts = self.words.iter().enumerate();
        starts.flat_map(|(idx, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| Reg::new(idx * 64 + bit))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    fn insert(&mut self, reg: Reg, bits: u8) {
        for slot in reg.idx()..reg.idx() + slots_of(bits) as usize {
            self.words[slot / 64] |= 1 << (slot % 64);
        }
    }

    fn remove(&mut self, reg: Reg, bits: u8) {
        for slot in reg.idx()..reg.idx() + slots_of(bits) as usize {
            self.words[slot / 64] &= !(1 << (slot % 64));
        }
    }

    fn extend(&mut self, other: &SlotSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }
}

/// Which reads make a register live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    All,
    /// Only those on which something depends that can be seen: a branch, an address, a store, a call, a fault. A counter
    /// that only counts is not live.
    Observable {
        faults: Faults,
    },
}

/// Which arithmetic can end the program, beside division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    pub overflow: bool,
    pub shift: bool,
}

impl Readers {
    /// Whether an instruction does nothing but compute what it defines.
    fn is_pure(self, inst: &Inst) -> bool {
        let Readers::Observable { faults } = self else { return false };
        match inst {
            Inst::Bin { op, nsw, .. } | Inst::BinImm { op, nsw, .. } => faults.is_silent(*op, *nsw),
            Inst::Const { .. }
            | Inst::WideConst { .. }
            | Inst::Address { .. }
            | Inst::Copy { .. }
            | Inst::Cmp { .. }
            | Inst::CmpImm { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Overflow { .. }
            | Inst::BitOp { .. }
            | Inst::FunnelShl { .. }
            | Inst::FunnelShr { .. }
            | Inst::Index { .. } => true,
            _ => false,
        }
    }
}

impl Faults {
    /// Whether the operation cannot end the program.
    pub(crate) fn is_silent(self, op: BinOp, nsw: bool) -> bool {
        match op {
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => false,
            BinOp::Add | BinOp::Sub | BinOp::Mul => !(nsw && self.overflow),
            BinOp::Shl | BinOp::LShr | BinOp::AShr => !(self.shift || nsw && self.overflow),
            BinOp::And | BinOp::Or | BinOp::Xor => true,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Liveness {
    readers: Readers,
    pointer_bits: u8,
    live_in: Vec<SlotSet>,
    live_out: Vec<SlotSet>,
    /// What a jump back behind a `setjmp` may read; empty in a function without one.
    kept_by_calls: SlotSet,
    returns_twice: Vec<FuncId>,
}

impl Liveness {
    pub fn new(module: &Module, func: FuncId) -> Self {
        Self::for_readers(module, func, Readers::All)
    }

    pub fn for_readers(module: &Module, func: FuncId, readers: Readers) -> Self {
        let function = module.function(func);
        let nothing = SlotSet::new(function.n_slots);
        let mut liveness = Self {
            readers,
            pointer_bits: module.target.pointer_bits(),
            live_in: vec![nothing.clone(); function.blocks.len()],
            live_out: vec![nothing.clone(); function.blocks.len()],
            kept_by_calls: nothing,
            returns_twice: returns_twice(module),
        };
        loop {
            liveness.solve(function);
            let kept = liveness.live_behind_setjmp(function);
            if kept == liveness.kept_by_calls {
                return liveness;
            }
            liveness.kept_by_calls = kept;
        }
    }

    /// Sets only grow, so an earlier solution is a start for a later one.
    fn solve(&mut self, function: &Function) {
        let mut preds = vec![Vec::new(); function.blocks.len()];
        for (idx, block) in function.blocks.iter().enumerate() {
            for edge in block.terminator.edges() {
                preds[edge.target.idx()].push(BlockId::new(idx));
            }
        }
        let mut work: Vec<BlockId> = (0..function.blocks.len()).map(BlockId::new).collect();
        let mut is_waiting = vec![true; work.len()];
        while let Some(block) = work.pop() {
            is_waiting[block.idx()] = false;
            self.live_out[block.idx()] = self.at_end(function, block);
            let live_in = self.live_before(function, block, 0);
            if live_in != self.live_in[block.idx()] {
                self.live_in[block.idx()] = live_in;
                for pred in &preds[block.idx()] {
                    if !std::mem::replace(&mut is_waiting[pred.idx()], true) {
                        work.push(*pred);
                    }
                }
            }
        }
    }

    /// Behind the terminator's own reads, before the moves of any edge.
    fn at_end(&self, function: &Function, block: BlockId) -> SlotSet {
        let mut live = SlotSet::new(function.n_slots);
        for edge in function.block(block).terminator.edges() {
            let mut needed = self.live_in[edge.target.idx()].clone();
            for it in edge.moves.iter().rev() {
                let is_needed = self.readers == Readers::All || needed.contains(it.dst);
                needed.remove(it.dst, it.bits);
                if is_needed {
                    needed.insert(it.src, it.bits);
                }
            }
            live.extend(&needed);
        }
        live
    }

    /// Slots whose value a path from the start of `block` may read before writing it.
    pub fn live_in(&self, block: BlockId) -> &SlotSet {
        &self.live_in[block.idx()]
    }

    /// The same at the end of `block`, before the moves of the edge taken.
    pub fn live_out(&self, block: BlockId) -> &SlotSet {
        &self.live_out[block.idx()]
    }

    /// The same before the instruction at `inst_idx`; before the terminator when that is the number of instructions.
    pub fn live_before(&self, function: &Function, block: BlockId, inst_idx: usize) -> SlotSet {
        let mut live = self.live_out[block.idx()].clone();
        let block = function.block(block);
        function.for_each_terminator_use(&block.terminator, self.pointer_bits, |reg, bits| live.insert(reg, bits));
        for inst in block.insts[inst_idx..].iter().rev() {
            let mut is_needed = !self.readers.is_pure(inst);
            function.for_each_def(inst, self.pointer_bits, |reg, bits| {
                is_needed |= live.contains(reg);
                live.remove(reg, bits);
            });
            if !is_needed {
                continue;
            }
            function.for_each_use(inst, self.pointer_bits, |reg, bits| live.insert(reg, bits));
            if matches!(inst, Inst::Call { .. }) {
                live.extend(&self.kept_by_calls);
            }
        }
        live
    }

    fn live_behind_setjmp(&self, function: &Function) -> SlotSet {
        let mut kept = SlotSet::new(function.n_slots);
        for (block_idx, block) in function.blocks.iter().enumerate() {
            for (inst_idx, inst) in block.insts.iter().enumerate() {
                let Inst::Call { call } = inst else { continue };
                let Callee::Function(callee) = function.calls[call.idx()].callee else { continue };
                if self.returns_twice.contains(&callee) {
                    let mut live = self.live_before(function, BlockId::new(block_idx), inst_idx + 1);
                    function.for_each_def(inst, self.pointer_bits, |reg, bits| live.remove(reg, bits));
                    kept.extend(&live);
                }
            }
        }
        kept
    }
}

/// C compilers know these by name; so do we.
pub(crate) fn returns_twice(module: &Module) -> Vec<FuncId> {
    let names = ["setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext"];
    names.iter().filter_map(|name| module.find_function(name)).collect()
}
