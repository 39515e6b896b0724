//! Types.

use std::ffi::CStr;
use std::ptr;

use llvm_sys::{core, prelude as raw};

use super::{TypeKind, take_message};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type(pub(super) raw::LLVMTypeRef);

impl Type {
    pub fn kind(self) -> TypeKind {
        // SAFETY: every method here reads a type; those for one kind are called for that kind.
        unsafe { core::LLVMGetTypeKind(self.0) }
    }

    pub fn is_sized(self) -> bool {
        unsafe { core::LLVMTypeIsSized(self.0) != 0 }
    }

    pub fn int_width(self) -> u32 {
        unsafe { core::LLVMGetIntTypeWidth(self.0) }
    }

    pub fn element(self) -> Type {
        unsafe { Type(core::LLVMGetElementType(self.0)) }
    }

    pub fn array_len(self) -> u64 {
        unsafe { core::LLVMGetArrayLength2(self.0) }
    }

    pub fn vector_len(self) -> u64 {
        unsafe { u64::from(core::LLVMGetVectorSize(self.0)) }
    }

    pub fn n_fields(self) -> u32 {
        unsafe { core::LLVMCountStructElementTypes(self.0) }
    }

    pub fn field(self, field: u32) -> Type {
        unsafe { Type(core::LLVMStructGetTypeAtIndex(self.0, field)) }
    }

    /// Of a structure; empty for one without.
    pub fn struct_name(self) -> String {
        unsafe {
            let name = core::LLVMGetStructName(self.0);
            if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }

    pub fn result(self) -> Type {
        unsafe { Type(core::LLVMGetReturnType(self.0)) }
    }

    pub fn is_variadic(self) -> bool {
        unsafe { core::LLVMIsFunctionVarArg(self.0) != 0 }
    }

    pub fn params(self) -> Vec<Type> {
        unsafe {
            let mut params = vec![ptr::null_mut(); core::LLVMCountParamTypes(self.0) as usize];
            core::LLVMGetParamTypes(self.0, params.as_mut_ptr());
            params.into_iter().map(Type).collect()
        }
    }

    pub fn print(self) -> String {
        unsafe { take_message(core::LLVMPrintTypeToString(self.0)) }
    }
}
