//! The one pass we let LLVM run, and what has to hold before it does.

use crate::Promote;
use crate::lifetime::{drop_idle_ends, is_lifetime_mark};
use crate::llvm::{Context, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::unwritten::may_be_misused;

/// Pointers to pointers to pointers: how deep we look.
const MAX_ROUNDS: usize = 4;

/// Promotes scalar locals to registers where asked, and makes debug information readable.
pub(crate) fn prepare(context: &Context, module: Module, promote: Promote) -> Result<(), String> {
    // Declarations are where a variable's life begins.
    module.use_debug_intrinsics();
    let bodies = || module.functions().filter(|function| !function.is_declaration());
    bodies().for_each(drop_idle_ends);
    if promote == Promote::On {
        bodies().for_each(|function| shield_or_open(context, function));
        module.run_passes("function(mem2reg)")?;
        // Where a pointer became a register, what it points to may become one, too.
        for _ in 0..MAX_ROUNDS {
            if bodies().map(|function| open_again(context, function)).sum::<usize>() == 0 {
                break;
            }
            module.run_passes("function(mem2reg)")?;
        }
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
    shield(function, &locals);
}

/// Keeps those of some locals in memory that may be read before they are written, or used after they have ended.
fn shield(function: Value, locals: &[Value]) {
    if locals.is_empty() {
        return;
    }
    for local in may_be_misused(function, locals) {
        // A volatile access is no other one for us, and keeps `mem2reg` away.
        if let Some(access) = local.users().find(|user| matches!(user.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore)) {
            access.set_volatile();
        }
    }
}

/// Makes scalars of what `keep_unwritten` hid and nobody points to any more; how many there are.
fn open_again(context: &Context, function: Value) -> usize {
    let Some(entry) = function.blocks().next() else { return 0 };
    if function.has_function_attribute(context.attribute_kind("optnone")) {
        return 0;
    }
    let hidden: Vec<Value> = entry.instructions().filter(|inst| is_array_of_one(*inst)).collect();
    let is_free = |inst: &Value| is_promotable_as(*inst, inst.allocated_type().element());
    let locals: Vec<Value> = hidden.into_iter().filter(is_free).map(Value::make_single).collect();
    shield(function, &locals);
    locals.len()
}

/// Whether an instruction allocates one value, which is neither a structure nor an array.
fn is_scalar(inst: Value) -> bool {
    is_single(inst)
        && !matches!(
            inst.allocated_type().kind(),
            TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind | TypeKind::LLVMScalableVectorTypeKind
        )
}

fn is_array_of_one(inst: Value) -> bool {
    is_single(inst) && {
        let ty = inst.allocated_type();
        ty.kind() == TypeKind::LLVMArrayTypeKind && ty.array_len() == 1
    }
}

fn is_single(inst: Value) -> bool {
    let is_one = |count: Value| {
        count.kind() == ValueKind::LLVMConstantIntValueKind && count.int_bits(count.ty().int_width()) == 1
    };
    inst.opcode() == Opcode::LLVMAlloca && is_one(inst.operand(0))
}

fn is_promotable(inst: Value) -> bool {
    is_promotable_as(inst, inst.allocated_type())
}

/// Whether what is allocated is only loaded and stored as a whole, as a value of type `ty`.
fn is_promotable_as(inst: Value, ty: Type) -> bool {
    inst.users().all(|user| match user.opcode() {
        Opcode::LLVMLoad => !user.is_volatile() && user.ty() == ty,
        Opcode::LLVMStore => {
            let is_target = user.operand(1) == inst && user.operand(0) != inst;
            is_target && !user.is_volatile() && user.operand(0).ty() == ty
        }
        _ => is_lifetime_mark(user),
    })
}
