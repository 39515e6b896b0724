//! Modules: their functions, globals and layout.

use std::ffi::{CStr, CString};
use std::ptr;

use llvm_sys::{analysis, core, error, prelude as raw, target, transforms::pass_builder};

use super::{Meta, Type, TypeKind, Value, take_message};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Module(pub(super) raw::LLVMModuleRef);

impl Module {
    pub fn verify(self) -> Result<(), String> {
        let mut message = ptr::null_mut();
        // SAFETY: the action returns the status and prints nothing.
        unsafe {
            let action = analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction;
            let failed = analysis::LLVMVerifyModule(self.0, action, &mut message);
            let message = take_message(message);
            if failed != 0 { Err(message) } else { Ok(()) }
        }
    }

    pub fn run_passes(self, passes: &str) -> Result<(), String> {
        let passes = CString::new(passes).expect("pass names have no NUL");
        // SAFETY: no target machine is needed for passes independent of the target.
        unsafe {
            let options = pass_builder::LLVMCreatePassBuilderOptions();
            let failure = pass_builder::LLVMRunPasses(self.0, passes.as_ptr(), ptr::null_mut(), options);
            pass_builder::LLVMDisposePassBuilderOptions(options);
            if failure.is_null() {
                return Ok(());
            }
            let message = error::LLVMGetErrorMessage(failure);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            error::LLVMDisposeErrorMessage(message);
            Err(text)
        }
    }

    /// Turns debug records into calls of `llvm.dbg.*`: the C interface cannot read the records.
    pub fn use_debug_intrinsics(self) {
        // SAFETY: a conversion in place.
        unsafe { core::LLVMSetIsNewDbgInfoFormat(self.0, 0) }
    }

    pub fn triple(self) -> String {
        // SAFETY: a C string owned by the module.
        unsafe { CStr::from_ptr(core::LLVMGetTarget(self.0)) }.to_string_lossy().into_owned()
    }

    /// Takes over the other module's target, so that linking the two is not an argument.
    pub fn adopt_target(self, other: Module) {
        // SAFETY: both strings are owned by `other`, which is alive.
        unsafe {
            core::LLVMSetTarget(self.0, core::LLVMGetTarget(other.0));
            core::LLVMSetDataLayout(self.0, core::LLVMGetDataLayoutStr(other.0));
        }
    }

    pub fn layout(self) -> Layout {
        // SAFETY: the layout lives as long as the module.
        Layout(unsafe { target::LLVMGetModuleDataLayout(self.0) })
    }

    pub fn functions(self) -> impl Iterator<Item = Value> {
        // SAFETY: the list is not changed while it is walked.
        let first = Value::new(unsafe { core::LLVMGetFirstFunction(self.0) });
        std::iter::successors(first, |function| Value::new(unsafe { core::LLVMGetNextFunction(function.0) }))
    }

    pub fn globals(self) -> impl Iterator<Item = Value> {
        // SAFETY: as in `functions`.
        let first = Value::new(unsafe { core::LLVMGetFirstGlobal(self.0) });
        std::iter::successors(first, |global| Value::new(unsafe { core::LLVMGetNextGlobal(global.0) }))
    }

    pub fn aliases(self) -> impl Iterator<Item = Value> {
        // SAFETY: as in `functions`.
        let first = Value::new(unsafe { core::LLVMGetFirstGlobalAlias(self.0) });
        std::iter::successors(first, |alias| Value::new(unsafe { core::LLVMGetNextGlobalAlias(alias.0) }))
    }

    /// The nodes of the compile units, one for each file that was compiled with debug information.
    pub fn compile_units(self) -> Vec<Meta> {
        let name = c"llvm.dbg.cu".as_ptr();
        // SAFETY: the buffer has room for all of the operands, which are nodes.
        unsafe {
            let mut operands = vec![ptr::null_mut(); core::LLVMGetNamedMetadataNumOperands(self.0, name) as usize];
            core::LLVMGetNamedMetadataOperands(self.0, name, operands.as_mut_ptr());
            operands.into_iter().filter_map(|operand| Meta::new(core::LLVMValueAsMetadata(operand))).collect()
        }
    }

    pub fn global(self, name: &str) -> Option<Value> {
        let name = CString::new(name).ok()?;
        // SAFETY: a lookup by name.
        Value::new(unsafe { core::LLVMGetNamedGlobal(self.0, name.as_ptr()) })
    }

    pub fn function(self, name: &str) -> Option<Value> {
        let name = CString::new(name).ok()?;
        // SAFETY: a lookup by name.
        Value::new(unsafe { core::LLVMGetNamedFunction(self.0, name.as_ptr()) })
    }
}

#[derive(Clone, Copy)]
pub struct Layout(pub(super) target::LLVMTargetDataRef);

impl Layout {
    pub fn pointer_bytes(self) -> u8 {
        // SAFETY: every method here asks the layout about a type of the same context.
        unsafe { target::LLVMPointerSize(self.0) as u8 }
    }

    pub fn is_little_endian(self) -> bool {
        unsafe { target::LLVMByteOrder(self.0) == target::LLVMByteOrdering::LLVMLittleEndian }
    }

    /// Distance between array elements of this type.
    pub fn alloc_size(self, ty: Type) -> u64 {
        if ty.is_sized() { unsafe { target::LLVMABISizeOfType(self.0, ty.0) } } else { 0 }
    }

    /// How many bytes a store of this type writes.
    pub fn store_size(self, ty: Type) -> u64 {
        if ty.is_sized() { unsafe { target::LLVMStoreSizeOfType(self.0, ty.0) } } else { 0 }
    }

    pub fn abi_align(self, ty: Type) -> u32 {
        if ty.is_sized() { unsafe { target::LLVMABIAlignmentOfType(self.0, ty.0) } } else { 1 }
    }

    /// The byte offset of one constant index of a `getelementptr`; `ty` becomes what it selects.
    pub fn step_offset(self, ty: &mut Type, operand: u32, index: i64) -> i64 {
        if operand == 1 {
            return index.wrapping_mul(self.alloc_size(*ty) as i64);
        }
        if ty.kind() == TypeKind::LLVMStructTypeKind {
            let offset = self.field_offset(*ty, index as u32);
            *ty = ty.field(index as u32);
            return offset as i64;
        }
        *ty = ty.element();
        index.wrapping_mul(self.alloc_size(*ty) as i64)
    }

    pub fn field_offset(self, ty: Type, field: u32) -> u64 {
        unsafe { target::LLVMOffsetOfElement(self.0, ty.0, field) }
    }
}
