//! Which locals may be read before they are written. Those stay in memory, where a byte knows whether somebody wrote it; a
//! register does not.
//!
//! A local begins its life where it is declared, each time control passes there: in the second turn of a loop it is as
//! unwritten as in the first. The mark for that is the debug information's, which clang leaves at the declaration, or
//! `llvm.lifetime.start`. It ends where its block does, at `llvm.lifetime.end`: whoever uses it later by its address makes a
//! mistake.

use rustc_hash::FxHashMap;

use crate::debug::described_variable;
use crate::llvm::{BasicBlock, Opcode, Value, ValueKind};

/// What an instruction does to a local.
#[derive(Clone, Copy)]
enum Deed {
    Begins,
    Writes,
    Reads,
}

/// One bit for each of some locals.
type Set = Vec<u64>;

/// Of `locals`, which are only loaded and stored as a whole, those that some path reads unwritten.
pub(crate) fn may_be_read_unwritten(function: Value, locals: &[Value]) -> Vec<Value> {
    let numbers: FxHashMap<Value, usize> = locals.iter().enumerate().map(|(idx, local)| (*local, idx)).collect();
    let blocks: Vec<BasicBlock> = function.blocks().collect();
    let block_numbers: FxHashMap<BasicBlock, usize> =
        blocks.iter().enumerate().map(|(idx, block)| (*block, idx)).collect();
    let deeds: Vec<Vec<(Deed, usize)>> = blocks.iter().map(|block| deeds_of(*block, &numbers)).collect();
    let n_words = locals.len().div_ceil(64);
    let mut unwritten: Vec<Option<Set>> = vec![None; blocks.len()];
    unwritten[0] = Some(vec![u64::MAX; n_words]);
    let mut work = vec![0];
    while let Some(idx) = work.pop() {
        let mut set = unwritten[idx].clone().expect("only what was reached is worked on");
        deeds[idx].iter().for_each(|(deed, local)| apply(&mut set, *deed, *local));
        for next in blocks[idx].terminator().successors() {
            let next = block_numbers[&next];
            let is_new = unwritten[next].is_none();
            let known = unwritten[next].get_or_insert_with(|| vec![0; n_words]);
            let before = known.clone();
            known.iter_mut().zip(&set).for_each(|(known, more)| *known |= more);
            if is_new || *known != before {
                work.push(next);
            }
        }
    }
    let mut is_read = vec![false; locals.len()];
    for (idx, reached) in unwritten.into_iter().enumerate() {
        let Some(mut set) = reached else { continue };
        for (deed, local) in &deeds[idx] {
            is_read[*local] |= matches!(deed, Deed::Reads) && set[local / 64] >> (local % 64) & 1 == 1;
            apply(&mut set, *deed, *local);
        }
    }
    locals.iter().zip(is_read).filter(|(_, is_read)| *is_read).map(|(local, _)| *local).collect()
}

fn apply(set: &mut Set, deed: Deed, local: usize) {
    let bit = 1 << (local % 64);
    match deed {
        Deed::Begins => set[local / 64] |= bit,
        Deed::Writes => set[local / 64] &= !bit,
        Deed::Reads => {}
    }
}

fn deeds_of(block: BasicBlock, numbers: &FxHashMap<Value, usize>) -> Vec<(Deed, usize)> {
    let deed = |inst: Value| match inst.opcode() {
        Opcode::LLVMLoad => Some((Deed::Reads, *numbers.get(&inst.operand(0))?)),
        Opcode::LLVMStore => Some((Deed::Writes, *numbers.get(&inst.operand(1))?)),
        Opcode::LLVMCall => Some((Deed::Begins, *numbers.get(&begun(inst)?)?)),
        _ => None,
    };
    block.instructions().filter_map(deed).collect()
}

/// The variable whose life begins at a call, if it begins anew each time control comes here. Not what stands in the first
/// block, which is passed once; parameters are declared there behind their first store.
pub(crate) fn begun(call: Value) -> Option<Value> {
    let callee = call.called_value();
    if callee.kind() != ValueKind::LLVMFunctionValueKind {
        return None;
    }
    let is_mark = callee.name().starts_with("llvm.lifetime.start");
    let place = if is_mark { call.operand(1) } else { declared(call)? };
    let is_local = place.kind() == ValueKind::LLVMInstructionValueKind && place.opcode() == Opcode::LLVMAlloca;
    // What is allocated where it is declared is new each time in any case.
    if !is_local || !place.parent_block().is_first() || call.parent_block().is_first() {
        return None;
    }
    // Where it is declared as well as marked, the declaration counts.
    let is_new = if is_mark { !is_declared_elsewhere(call) } else { is_without_value(call, place) };
    is_new.then_some(place)
}

/// Whether the variable whose life begins has a declaration that is passed each time, too.
fn is_declared_elsewhere(start: Value) -> bool {
    let (block, place) = (start.parent_block(), start.operand(1));
    let mut behind = block.instructions().skip_while(|inst| *inst != start);
    behind.any(|inst| declared(inst) == Some(place) && is_without_value(inst, place))
}

/// The place that a call of the debug information is about.
fn declared(call: Value) -> Option<Value> {
    let is_call = call.opcode() == Opcode::LLVMCall;
    let callee =
        is_call.then(|| call.called_value()).filter(|callee| callee.kind() == ValueKind::LLVMFunctionValueKind)?;
    if callee.name() != "llvm.dbg.declare" {
        return None;
    }
    described_variable(call)?;
    call.operand(0).wrapped_value()
}

/// Whether what is declared has no value yet. To look at the declaration's text takes long, so that comes last.
fn is_without_value(declaration: Value, place: Value) -> bool {
    !is_argument(declaration, place) && !is_behind_pointer(declaration)
}

/// Whether the variable is a parameter of a function that was inlined: it is declared behind its first store.
fn is_argument(declaration: Value, place: Value) -> bool {
    let block = declaration.parent_block();
    let mut before = block.instructions().take_while(|inst| *inst != declaration);
    before.any(|inst| inst.opcode() == Opcode::LLVMStore && inst.operand(1) == place)
}

/// The variable whose life ends at a call. Not one that is allocated where it is declared: it goes with its stack.
pub(crate) fn ended(call: Value) -> Option<Value> {
    let callee = call.called_value();
    if callee.kind() != ValueKind::LLVMFunctionValueKind || !callee.name().starts_with("llvm.lifetime.end") {
        return None;
    }
    let place = call.operand(1);
    let is_local = place.kind() == ValueKind::LLVMInstructionValueKind && place.opcode() == Opcode::LLVMAlloca;
    (is_local && place.parent_block().is_first()).then_some(place)
}

/// Whether the alloca holds the address of the variable: a structure built where its function's result goes.
fn is_behind_pointer(call: Value) -> bool {
    call.operand(2).print().contains("DW_OP_deref")
}

/// Whether an instruction only says how long a variable lives.
pub(crate) fn is_lifetime_mark(inst: Value) -> bool {
    inst.opcode() == Opcode::LLVMCall && {
        let callee = inst.called_value();
        callee.kind() == ValueKind::LLVMFunctionValueKind && callee.name().starts_with("llvm.lifetime.")
    }
}
