//! Which locals may be read before they are written, or used when their block has ended. Those stay in memory, where a byte knows
//! whether somebody wrote it and a variable whether it lives; a register does not.
//!
//! A local begins its life where it is declared, each time control passes there: in the second turn of a loop it is as
//! unwritten as in the first.

use rustc_hash::FxHashMap;

use crate::lifetime::{begun, ended, started};
use crate::llvm::{BasicBlock, Opcode, Value};

/// What an instruction does to a local.
#[derive(Clone, Copy)]
enum Deed {
    Begins,
    /// It is there again, and its next access is a write of the whole.
    Revives,
    Writes,
    Reads,
    Ends,
}

/// What may be true of each of some locals at a point of the function.
#[derive(Clone, PartialEq, Eq)]
struct Lives {
    unwritten: Set,
    ended: Set,
}

/// One bit for each of some locals.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, local: usize) -> bool {
        self.0[local / 64] >> (local % 64) & 1 == 1
    }

    fn insert(&mut self, local: usize) {
        self.0[local / 64] |= 1 << (local % 64);
    }

    fn remove(&mut self, local: usize) {
        self.0[local / 64] &= !(1 << (local % 64));
    }

    fn join(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

impl Lives {
    fn all(n_locals: usize, unwritten: u64) -> Lives {
        let n_words = n_locals.div_ceil(64);
        Lives { unwritten: Set(vec![unwritten; n_words]), ended: Set(vec![0; n_words]) }
    }

    fn is_misused_by(&self, deed: Deed, local: usize) -> bool {
        match deed {
            Deed::Reads => self.unwritten.has(local) || self.ended.has(local),
            Deed::Writes => self.ended.has(local),
            Deed::Begins | Deed::Revives | Deed::Ends => false,
        }
    }

    fn apply(&mut self, deed: Deed, local: usize) {
        match deed {
            Deed::Begins => {
                self.unwritten.insert(local);
                self.ended.remove(local);
            }
            Deed::Revives => self.ended.remove(local),
            Deed::Writes => self.unwritten.remove(local),
            Deed::Reads => {}
            Deed::Ends => self.ended.insert(local),
        }
    }

    fn join(&mut self, other: &Lives) {
        self.unwritten.join(&other.unwritten);
        self.ended.join(&other.ended);
    }
}

/// Of `locals`, which are only loaded and stored as a whole, those that some path reads unwritten or uses after their end.
pub(crate) fn may_be_misused(function: Value, locals: &[Value]) -> Vec<Value> {
    let numbers: FxHashMap<Value, usize> = locals.iter().enumerate().map(|(idx, local)| (*local, idx)).collect();
    let blocks: Vec<BasicBlock> = function.blocks().collect();
    let block_numbers: FxHashMap<BasicBlock, usize> =
        blocks.iter().enumerate().map(|(idx, block)| (*block, idx)).collect();
    let deeds: Vec<Vec<(Deed, usize)>> = blocks.iter().map(|block| deeds_of(*block, &numbers)).collect();
    let mut at_start: Vec<Option<Lives>> = vec![None; blocks.len()];
    at_start[0] = Some(Lives::all(locals.len(), u64::MAX));
    let mut work = vec![0];
    while let Some(idx) = work.pop() {
        let mut lives = at_start[idx].clone().expect("only what was reached is worked on");
        deeds[idx].iter().for_each(|(deed, local)| lives.apply(*deed, *local));
        for next in blocks[idx].terminator().successors() {
            let next = block_numbers[&next];
            let is_new = at_start[next].is_none();
            let known = at_start[next].get_or_insert_with(|| Lives::all(locals.len(), 0));
            let before = known.clone();
            known.join(&lives);
            if is_new || *known != before {
                work.push(next);
            }
        }
    }
    let mut is_misused = vec![false; locals.len()];
    for (idx, reached) in at_start.into_iter().enumerate() {
        let Some(mut lives) = reached else { continue };
        for (deed, local) in &deeds[idx] {
            is_misused[*local] |= lives.is_misused_by(*deed, *local);
            lives.apply(*deed, *local);
        }
    }
    locals.iter().zip(is_misused).filter(|(_, is_misused)| *is_misused).map(|(local, _)| *local).collect()
}

fn deeds_of(block: BasicBlock, numbers: &FxHashMap<Value, usize>) -> Vec<(Deed, usize)> {
    let of_mark = |call: Value| {
        let begins = begun(call).map(|local| (Deed::Begins, local));
        let revives = || started(call).map(|local| (Deed::Revives, local));
        begins.or_else(revives).or_else(|| ended(call).map(|local| (Deed::Ends, local)))
    };
    let deed = |inst: Value| match inst.opcode() {
        Opcode::LLVMLoad => Some((Deed::Reads, *numbers.get(&inst.operand(0))?)),
        Opcode::LLVMStore => Some((Deed::Writes, *numbers.get(&inst.operand(1))?)),
        Opcode::LLVMCall => of_mark(inst).and_then(|(deed, local)| Some((deed, *numbers.get(&local)?))),
        _ => None,
    };
    block.instructions().filter_map(deed).collect()
}
