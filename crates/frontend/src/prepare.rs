//! The one pass we let LLVM run, and what has to hold before it does.

use crate::Promote;
use crate::llvm::{Context, Module, Opcode, TypeKind, Value, ValueKind};
use crate::unwritten::{is_lifetime_mark, may_be_read_unwritten};

/// Promotes scalar locals to registers where asked, and makes debug information readable.
pub(crate) fn prepare(context: &Context, module: Module, promote: Promote) -> Result<(), String> {
    // Declarations are where a variable's life begins.
    module.use_debug_intrinsics();
    if promote == Promote::On {
        for function in module.functions().filter(|function| !function.is_declaration()) {
            shield_or_open(context, function);
        }
        module.run_passes("function(mem2reg)")?;
    }
    module.use_debug_intrinsics();
    Ok(())
}

/// A function that calls `setjmp` keeps its locals in memory: `longjmp` must find there what was last stored. The
/// others must not be kept from promotion by an attribute that older bitcode carries.
fn shield_or_open(context: &Context, function: Value) {
    let (optnone, noinline) = (context.attribute_kind("optnone"), context.attribute_kind("noinline"));
    if calls_returns_twice(context, function) {
        context.add_function_attribute(function, noinline);
        context.add_function_attribute(function, optnone);
    } else {
        context.remove_function_attribute(function, optnone);
        keep_unwritten(function);
    }
}

/// Whether the function calls `setjmp` or its like.
pub(crate) fn calls_returns_twice(context: &Context, function: Value) -> bool {
    let kind = context.attribute_kind("returns_twice");
    let mut calls =
        function.blocks().flat_map(|block| block.instructions()).filter(|inst| inst.opcode() == Opcode::LLVMCall);
    calls.any(|call| {
        let callee = call.called_value();
        let is_function = callee.kind() == ValueKind::LLVMFunctionValueKind;
        let is_builtin = is_function && callee.name() == "llvm.eh.sjlj.setjmp";
        is_builtin || call.has_call_attribute(kind) || (is_function && callee.has_function_attribute(kind))
    })
}

/// Keeps in memory what may be read before it is written. `mem2reg` would merge "never set" with any other value.
fn keep_unwritten(function: Value) {
    let Some(entry) = function.blocks().next() else { return };
    let scalars: Vec<Value> = entry.instructions().filter(|inst| is_scalar(*inst)).collect();
    let (locals, others): (Vec<Value>, Vec<Value>) = scalars.into_iter().partition(|inst| is_promotable(*inst));
    // `p = &x` is gone once `p` is a register, and `x` would be promoted next, without anybody having looked at it.
    others.into_iter().for_each(Value::make_array_of_one);
    if locals.is_empty() {
        return;
    }
    for local in may_be_read_unwritten(function, &locals) {
        // A volatile access is no other one for us, and keeps `mem2reg` away.
        if let Some(load) = local.users().find(|user| user.opcode() == Opcode::LLVMLoad) {
            load.set_volatile();
        }
    }
}

/// Whether an instruction allocates one value, which is neither a structure nor an array.
fn is_scalar(inst: Value) -> bool {
    let is_one = |count: Value| {
        count.kind() == ValueKind::LLVMConstantIntValueKind && count.int_bits(count.ty().int_width()) == 1
    };
    inst.opcode() == Opcode::LLVMAlloca
        && is_one(inst.operand(0))
        && !matches!(
            inst.allocated_type().kind(),
            TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind | TypeKind::LLVMScalableVectorTypeKind
        )
}

/// Whether a scalar is only loaded and stored as a whole.
fn is_promotable(inst: Value) -> bool {
    let ty = inst.allocated_type();
    inst.users().all(|user| match user.opcode() {
        Opcode::LLVMLoad => !user.is_volatile() && user.ty() == ty,
        Opcode::LLVMStore => {
            let is_target = user.operand(1) == inst && user.operand(0) != inst;
            is_target && !user.is_volatile() && user.operand(0).ty() == ty
        }
        _ => is_lifetime_mark(user),
    })
}
