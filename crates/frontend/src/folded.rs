//! Faults that clang has computed already. `60 / (0 & 7)` and `1 << 40` are no instructions any more when bitcode is made: each
//! is a poison constant, and nobody can tell which operation it was. A file that has one is compiled again, with clang's own
//! checks of these operations, which come before the constant is made. What remains poison then is told where it is used.

use crate::llvm::{Module, TypeKind, Value};

/// Whether some instruction uses a number that clang got from a fault. Vectors and structures begin as poison and are
/// filled piece by piece, which is none.
pub(crate) fn has_folded_fault(module: Module) -> bool {
    let instructions = module.functions().flat_map(|function| function.blocks()).flat_map(|block| block.instructions());
    instructions.into_iter().any(|inst| (0..inst.n_operands()).any(|idx| is_folded_fault(inst.operand(idx))))
}

/// Whether a value is a number that clang got from a fault.
pub(crate) fn is_folded_fault(value: Value) -> bool {
    let is_number = || {
        !matches!(
            value.ty().kind(),
            TypeKind::LLVMStructTypeKind
                | TypeKind::LLVMArrayTypeKind
                | TypeKind::LLVMVectorTypeKind
                | TypeKind::LLVMScalableVectorTypeKind
                | TypeKind::LLVMMetadataTypeKind
        )
    };
    value.is_constant() && value.is_poison() && is_number()
}
