//! Metadata: what the compiler says about the source.

use llvm_sys::{debuginfo, prelude as raw};

use super::{MetaKind, text};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Meta(pub(super) raw::LLVMMetadataRef);

impl Meta {
    pub(super) fn new(meta: raw::LLVMMetadataRef) -> Option<Meta> {
        (!meta.is_null()).then_some(Meta(meta))
    }

    pub fn kind(self) -> MetaKind {
        // SAFETY: every method here reads a node of the kind it is called for.
        unsafe { debuginfo::LLVMGetMetadataKind(self.0) }
    }

    pub fn tag(self) -> u16 {
        unsafe { debuginfo::LLVMGetDINodeTag(self.0) }
    }

    pub fn location_line(self) -> u32 {
        unsafe { debuginfo::LLVMDILocationGetLine(self.0) }
    }

    pub fn location_column(self) -> u32 {
        unsafe { debuginfo::LLVMDILocationGetColumn(self.0) }
    }

    pub fn location_scope(self) -> Option<Meta> {
        Meta::new(unsafe { debuginfo::LLVMDILocationGetScope(self.0) })
    }

    pub fn scope_file(self) -> Option<Meta> {
        Meta::new(unsafe { debuginfo::LLVMDIScopeGetFile(self.0) })
    }

    pub fn file_name(self) -> String {
        let mut len = 0;
        unsafe {
            let start = debuginfo::LLVMDIFileGetFilename(self.0, &mut len);
            text(start, len as usize)
        }
    }

    pub fn file_directory(self) -> String {
        let mut len = 0;
        unsafe {
            let start = debuginfo::LLVMDIFileGetDirectory(self.0, &mut len);
            text(start, len as usize)
        }
    }

    pub fn subprogram_line(self) -> u32 {
        unsafe { debuginfo::LLVMDISubprogramGetLine(self.0) }
    }

    pub fn type_name(self) -> String {
        let mut len = 0;
        unsafe {
            let start = debuginfo::LLVMDITypeGetName(self.0, &mut len);
            text(start, len)
        }
    }

    pub fn type_bits(self) -> u64 {
        unsafe { debuginfo::LLVMDITypeGetSizeInBits(self.0) }
    }

    pub fn type_offset(self) -> u64 {
        unsafe { debuginfo::LLVMDITypeGetOffsetInBits(self.0) }
    }

    pub fn type_flags(self) -> i32 {
        unsafe { debuginfo::LLVMDITypeGetFlags(self.0) }
    }

    pub fn global_variable(self) -> Option<Meta> {
        Meta::new(unsafe { debuginfo::LLVMDIGlobalVariableExpressionGetVariable(self.0) })
    }
}
