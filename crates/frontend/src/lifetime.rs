//! Where the lives of locals begin and end.
//!
//! A local begins its life where it is declared, each time control passes there. The mark for that is the debug information's, which
//! clang leaves at the declaration, or `llvm.lifetime.start`. It ends where its block does, at `llvm.lifetime.end`: whoever uses it
//! later by its address makes a mistake. Marks cost time in every turn of a loop, so those that cannot matter are left out: the end of
//! a variable whose address nobody keeps, and the beginning of one that is set at once.

use crate::debug::described_variable;
use crate::llvm::{Opcode, Value, ValueKind};

/// The variable whose life begins at a call, if it begins anew each time control comes here. Not what stands in the first
/// block, which is passed once; parameters are declared there behind their first store.
pub(crate) fn begun(call: Value) -> Option<Value> {
    let is_mark = called(call)?.name().starts_with("llvm.lifetime.start");
    let place = if is_mark { call.operand(1) } else { declared(call)? };
    // What is allocated where it is declared is new each time in any case.
    if !is_at_entry(place) || call.parent_block().is_first() {
        return None;
    }
    // Where it is declared as well as marked, the declaration counts.
    let is_new = if is_mark { !is_declared_elsewhere(call) } else { is_without_value(call, place) };
    (is_new && !is_set_at_once(call, place)).then_some(place)
}

/// The variable that is there again at a call, although it does not begin anew: it is set before anybody could miss what it held.
pub(crate) fn revived(call: Value) -> Option<Value> {
    let place = started(call)?;
    let mut behind = call.parent_block().instructions().skip_while(|inst| *inst != call);
    let is_about = |inst: Value| inst == call || declared(inst) == Some(place);
    let is_begun = behind.any(|inst| is_about(inst) && begun(inst).is_some());
    let has_end = place.users().any(|user| ended(user) == Some(place));
    (has_end && !is_begun).then_some(place)
}

/// The variable that lives from a call on, whatever it holds.
pub(crate) fn started(call: Value) -> Option<Value> {
    let is_mark = called(call)?.name().starts_with("llvm.lifetime.start");
    is_mark.then(|| call.operand(1)).filter(|place| is_at_entry(*place))
}

/// The variable whose life ends at a call. Not one that is allocated where it is declared: it goes with its stack.
pub(crate) fn ended(call: Value) -> Option<Value> {
    let is_mark = called(call)?.name().starts_with("llvm.lifetime.end");
    is_mark.then(|| call.operand(1)).filter(|place| is_at_entry(*place))
}

/// Whether an instruction only says how long a variable lives.
pub(crate) fn is_lifetime_mark(inst: Value) -> bool {
    called(inst).is_some_and(|callee| callee.name().starts_with("llvm.lifetime."))
}

/// Takes away the ends of variables that nobody can use later. This is to be done before promotion: `p = &x` is gone
/// once `p` is a register, and `*p` behind the block of `x` is a load of `x` then.
pub(crate) fn drop_idle_ends(function: Value) {
    let Some(entry) = function.blocks().next() else { return };
    for place in entry.instructions().filter(|inst| inst.opcode() == Opcode::LLVMAlloca) {
        let is_kept = may_be_kept(place);
        let is_idle = |user: &Value| ended(*user) == Some(place) && (!is_kept || is_before_return(*user));
        let ends: Vec<Value> = place.users().filter(is_idle).collect();
        ends.into_iter().for_each(Value::erase);
    }
}

/// Whether nothing but the return comes behind an end: all variables of the function go with it.
fn is_before_return(end: Value) -> bool {
    let mut behind = end.parent_block().instructions().skip_while(|inst| *inst != end);
    behind.all(|inst| match inst.opcode() {
        Opcode::LLVMRet => true,
        Opcode::LLVMLoad => is_at_entry(inst.operand(0)),
        _ => is_lifetime_mark(inst),
    })
}

/// The function that an instruction calls by its name.
fn called(inst: Value) -> Option<Value> {
    let callee = (inst.opcode() == Opcode::LLVMCall).then(|| inst.called_value())?;
    (callee.kind() == ValueKind::LLVMFunctionValueKind).then_some(callee)
}

/// Whether a place is a variable that its function has from the start.
fn is_at_entry(place: Value) -> bool {
    place.kind() == ValueKind::LLVMInstructionValueKind
        && place.opcode() == Opcode::LLVMAlloca
        && place.parent_block().is_first()
}

/// Whether a pointer to a variable, or into it, goes anywhere but into a load or a store.
fn may_be_kept(pointer: Value) -> bool {
    pointer.users().any(|user| match user.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMICmp => false,
        Opcode::LLVMStore => user.operand(0) == pointer,
        Opcode::LLVMGetElementPtr => may_be_kept(user),
        Opcode::LLVMCall => !is_lifetime_mark(user) && !is_fill(user),
        _ => true,
    })
}

/// Whether a call only copies or sets bytes, at places that it does not keep.
fn is_fill(inst: Value) -> bool {
    let is_one =
        |name: &str| ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|fill| name.starts_with(fill));
    called(inst).is_some_and(|callee| is_one(&callee.name()))
}

/// Larger variables are not looked at byte by byte.
const MAX_BYTES: u64 = 4096;

/// Whether all that a variable held is written over before anything can read it.
fn is_set_at_once(mark: Value, place: Value) -> bool {
    let size = place.allocated_bytes();
    let is_kept = may_be_kept(place);
    let may_be_read = |address: Value| match base_of(address) {
        base if base == place => true,
        base => is_kept && !is_at_entry(base) && base.kind() != ValueKind::LLVMGlobalVariableValueKind,
    };
    let mut is_set = vec![false; size.min(MAX_BYTES) as usize];
    for inst in mark.parent_block().instructions().skip_while(|inst| *inst != mark).skip(1) {
        let written = match inst.opcode() {
            Opcode::LLVMStore => (inst.operand(1), inst.stored_bytes()),
            Opcode::LLVMLoad if may_be_read(inst.operand(0)) => return false,
            Opcode::LLVMCall if is_lifetime_mark(inst) || declared(inst).is_some() => continue,
            Opcode::LLVMCall if is_fill(inst) && !is_read_by(inst, place) => match inst.operand(2) {
                len if len.kind() == ValueKind::LLVMConstantIntValueKind => (inst.operand(0), len.int_bits(64) as u64),
                _ => continue,
            },
            Opcode::LLVMCall if is_kept || is_fill(inst) => return false,
            Opcode::LLVMInvoke
            | Opcode::LLVMCallBr
            | Opcode::LLVMVAArg
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg => return false,
            _ => continue,
        };
        let (address, n_bytes) = written;
        let Some(offset) = offset_in(address, place) else { continue };
        if offset == 0 && n_bytes >= size {
            return true;
        }
        let part = offset.min(size)..offset.saturating_add(n_bytes).min(size);
        if let Some(part) = is_set.get_mut(part.start as usize..part.end as usize) {
            part.fill(true);
        }
        if size <= MAX_BYTES && is_set.iter().all(|is_set| *is_set) {
            return true;
        }
    }
    false
}

/// Whether a call that copies may read a variable.
fn is_read_by(copy: Value, place: Value) -> bool {
    let is_set = called(copy).is_some_and(|callee| callee.name().starts_with("llvm.memset."));
    let source = base_of(copy.operand(1));
    !is_set && (source == place || !(is_at_entry(source) || source.kind() == ValueKind::LLVMGlobalVariableValueKind))
}

/// How far into a variable a pointer points, where that is a constant.
fn offset_in(pointer: Value, place: Value) -> Option<u64> {
    if pointer == place {
        return Some(0);
    }
    let is_step =
        pointer.kind() == ValueKind::LLVMInstructionValueKind && pointer.opcode() == Opcode::LLVMGetElementPtr;
    let before = is_step.then(|| offset_in(pointer.operand(0), place))??;
    before.checked_add_signed(pointer.constant_step()?)
}

/// What a pointer was made from by steps inside of one object.
fn base_of(pointer: Value) -> Value {
    let is_step =
        pointer.kind() == ValueKind::LLVMInstructionValueKind && pointer.opcode() == Opcode::LLVMGetElementPtr;
    if is_step { base_of(pointer.operand(0)) } else { pointer }
}

/// Whether the variable whose life begins has a declaration that is passed each time, too.
fn is_declared_elsewhere(start: Value) -> bool {
    let (block, place) = (start.parent_block(), start.operand(1));
    let mut behind = block.instructions().skip_while(|inst| *inst != start);
    behind.any(|inst| declared(inst) == Some(place) && is_without_value(inst, place))
}

/// The place that a call of the debug information is about.
fn declared(call: Value) -> Option<Value> {
    if called(call)?.name() != "llvm.dbg.declare" {
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

/// Whether the alloca holds the address of the variable: a structure built where its function's result goes.
fn is_behind_pointer(call: Value) -> bool {
    call.operand(2).print().contains("DW_OP_deref")
}
