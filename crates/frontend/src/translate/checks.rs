//! Checks that clang put into the code: branches to a trap that says only which check has failed.

use ir::{Arg, Callee, Intrinsic};

use super::body::{Body, Unsupported};
use super::uses::is_instruction;
use crate::llvm::{Opcode, TypeKind, Value, ValueKind};

/// Steps from an element to what is read or written in it.
const MAX_STEPS: u32 = 6;

impl Body<'_, '_> {
    /// Of an index clang does not say what it is for, which the access behind its check tells.
    pub(super) fn fault(&mut self, inst: Value) -> Result<(), Unsupported> {
        let mut handler = inst.operand(0).int_bits(8);
        if handler == u128::from(ir::OUT_OF_BOUNDS) && is_for_writing(inst) {
            handler = u128::from(ir::WRITTEN_OUT_OF_BOUNDS);
        }
        let arg = Arg { reg: self.number(8, handler), bits: 8, byval: None, float: None };
        self.finish_call(inst, Callee::Intrinsic(Intrinsic::Fault), vec![arg], u32::MAX)
    }
}

/// Whether the element whose index is checked is written to before it is read. Where nothing is done with it at once, a read is
/// the lesser claim.
fn is_for_writing(trap: Value) -> bool {
    let here = trap.parent_block();
    let mut branches = here.users().filter(|user| is_instruction(*user, Opcode::LLVMBr));
    let (Some(branch), None) = (branches.next(), branches.next()) else { return false };
    let Some(behind) = branch.successors().into_iter().find(|block| *block != here) else { return false };
    let element = behind.instructions().find(|inst| {
        inst.opcode() == Opcode::LLVMGetElementPtr && inst.gep_element_type().kind() == TypeKind::LLVMArrayTypeKind
    });
    element.is_some_and(|element| use_of(element, MAX_STEPS) == Use::Write)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
    Unknown,
}

/// What is done with the memory a pointer points to.
fn use_of(pointer: Value, steps: u32) -> Use {
    if steps == 0 {
        return Use::Unknown;
    }
    let uses = || pointer.users().map(|user| use_by(user, pointer, steps));
    [Use::Read, Use::Write].into_iter().find(|wanted| uses().any(|found| found == *wanted)).unwrap_or(Use::Unknown)
}

fn use_by(user: Value, pointer: Value, steps: u32) -> Use {
    let is_target = |operand: u32| user.operand(operand) == pointer;
    match user.opcode() {
        Opcode::LLVMLoad => Use::Read,
        Opcode::LLVMStore if is_target(1) => Use::Write,
        Opcode::LLVMGetElementPtr if is_target(0) => use_of(user, steps - 1),
        Opcode::LLVMCall if copies_to(user) => match is_target(0) {
            true => Use::Write,
            false => Use::Read,
        },
        _ => Use::Unknown,
    }
}

/// A structure is assigned by a call.
fn copies_to(call: Value) -> bool {
    let callee = call.called_value();
    callee.kind() == ValueKind::LLVMFunctionValueKind
        && ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|name| callee.name().starts_with(name))
}
