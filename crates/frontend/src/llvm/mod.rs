//! Thin handles over LLVM's C interface: the only folder with `unsafe`.
//!
//! A handle is a pointer into a module of a `Context`. The crate keeps the context alive for the whole of `load` and
//! lets no handle out, so the methods here can be safe to call.

mod meta;
mod module;
mod types;
mod value;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::ptr;

pub use llvm_sys::debuginfo::LLVMMetadataKind as MetaKind;
pub use llvm_sys::{
    LLVMAtomicRMWBinOp as RmwOp, LLVMIntPredicate as IntPredicate, LLVMLinkage as Linkage, LLVMOpcode as Opcode,
    LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind, LLVMValueKind as ValueKind,
};
use llvm_sys::{LLVMDiagnosticSeverity, bit_reader, core, error_handling, ir_reader, linker, prelude as raw};

pub use meta::Meta;
pub use module::{Layout, Module};
pub use types::Type;
pub use value::{BasicBlock, Value};

pub struct Context {
    context: raw::LLVMContextRef,
    /// Boxed so that its address, which LLVM holds, does not move.
    errors: Box<RefCell<Vec<String>>>,
}

extern "C" fn collect_diagnostic(info: raw::LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: `sink` is the boxed cell of the context that reports, alive as long as that context.
    unsafe {
        let severity = core::LLVMGetDiagInfoSeverity(info);
        if severity == LLVMDiagnosticSeverity::LLVMDSError {
            let message = take_message(core::LLVMGetDiagInfoDescription(info));
            (*(sink as *const RefCell<Vec<String>>)).borrow_mut().push(message);
        }
    }
}

/// LLVM ends the process after a fatal error; leave with our own words and status instead of its abort.
extern "C" fn fatal_error(reason: *const c_char) {
    // SAFETY: LLVM passes a C string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    eprintln!("colt: the program could not be loaded: LLVM gave up on it ({reason})");
    // SAFETY: plain exit; destructors of a process in this state are not to be trusted.
    unsafe { libc::_exit(3) }
}

/// Takes ownership of a string that LLVM allocated.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        core::LLVMDisposeMessage(message);
        text
    }
}

unsafe fn text(start: *const c_char, len: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

impl Context {
    pub fn new() -> Context {
        static HANDLER: std::sync::Once = std::sync::Once::new();
        // SAFETY: installs a handler once, before any context exists.
        HANDLER.call_once(|| unsafe { error_handling::LLVMInstallFatalErrorHandler(Some(fatal_error)) });
        let errors = Box::new(RefCell::new(Vec::new()));
        // SAFETY: a fresh context; the sink outlives it (see `Drop`).
        let context = unsafe { core::LLVMContextCreate() };
        let sink = (&raw const *errors).cast_mut().cast::<c_void>();
        unsafe { core::LLVMContextSetDiagnosticHandler(context, Some(collect_diagnostic), sink) };
        Context { context, errors }
    }

    fn take_errors(&self) -> String {
        std::mem::take(&mut *self.errors.borrow_mut()).join("; ")
    }

    /// Reads bitcode or IR text; `bytes` decide which.
    pub fn parse(&self, name: &str, bytes: &[u8]) -> Result<Module, String> {
        let name = CString::new(name).unwrap_or_default();
        let is_bitcode = bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B]);
        let mut module = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: the buffer is a copy that LLVM owns; on failure `module` stays unused.
        let failed = unsafe {
            let buffer =
                core::LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.as_ptr().cast(), bytes.len(), name.as_ptr());
            if is_bitcode {
                let failed = bit_reader::LLVMParseBitcodeInContext2(self.context, buffer, &mut module);
                core::LLVMDisposeMemoryBuffer(buffer);
                failed
            } else {
                ir_reader::LLVMParseIRInContext(self.context, buffer, &mut module, &mut message)
            }
        };
        // SAFETY: null or a message we now own.
        let message = unsafe { take_message(message) };
        let errors = self.take_errors();
        if failed != 0 {
            return Err(if message.is_empty() { errors } else { message });
        }
        Ok(Module(module))
    }

    pub fn link(&self, into: Module, from: Module) -> Result<(), String> {
        // SAFETY: both modules belong to this context; `from` is consumed.
        let failed = unsafe { linker::LLVMLinkModules2(into.0, from.0) };
        let errors = self.take_errors();
        if failed != 0 { Err(errors) } else { Ok(()) }
    }

    fn int_type(&self, bits: u32) -> Type {
        // SAFETY: `bits` is at least 1.
        Type(unsafe { core::LLVMIntTypeInContext(self.context, bits) })
    }

    /// The bits of a floating-point constant.
    pub fn float_bits(&self, constant: Value, bits: u32) -> u128 {
        // SAFETY: LLVM folds a bit cast of a floating-point constant to an integer constant of the same width.
        let int = Value(unsafe { core::LLVMConstBitCast(constant.0, self.int_type(bits).0) });
        int.int_bits(bits)
    }

    pub fn meta_value(&self, meta: Meta) -> Value {
        // SAFETY: both belong to this context.
        Value(unsafe { core::LLVMMetadataAsValue(self.context, meta.0) })
    }

    pub fn meta_operands(&self, meta: Meta) -> Vec<Option<Meta>> {
        let value = self.meta_value(meta);
        // SAFETY: `value` wraps a metadata node; the buffer has room for all of its operands.
        unsafe {
            let n = core::LLVMGetMDNodeNumOperands(value.0) as usize;
            let mut operands = vec![ptr::null_mut(); n];
            core::LLVMGetMDNodeOperands(value.0, operands.as_mut_ptr());
            operands
                .into_iter()
                .map(|operand| (!operand.is_null()).then(|| Meta(core::LLVMValueAsMetadata(operand))))
                .collect()
        }
    }

    /// The operands of a node as values: constants appear as themselves.
    pub fn meta_operand_values(&self, meta: Meta) -> Vec<Option<Value>> {
        let value = self.meta_value(meta);
        // SAFETY: as in `meta_operands`.
        unsafe {
            let n = core::LLVMGetMDNodeNumOperands(value.0) as usize;
            let mut operands = vec![ptr::null_mut(); n];
            core::LLVMGetMDNodeOperands(value.0, operands.as_mut_ptr());
            operands.into_iter().map(Value::new).collect()
        }
    }

    pub fn meta_string(&self, meta: Meta) -> String {
        let value = self.meta_value(meta);
        let mut len = 0;
        // SAFETY: gives null for anything but a string.
        unsafe {
            let start = core::LLVMGetMDString(value.0, &mut len);
            text(start, len as usize)
        }
    }

    /// LLVM's own text of a node: some fields (enumerator values, encodings) have no accessor.
    pub fn meta_text(&self, meta: Meta) -> String {
        self.meta_value(meta).print()
    }

    pub fn attribute_kind(&self, name: &str) -> AttributeKind {
        // SAFETY: the name is passed with its length.
        AttributeKind(unsafe { core::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) })
    }

    pub fn add_function_attribute(&self, function: Value, kind: AttributeKind) {
        // SAFETY: `kind` is a valueless attribute.
        unsafe {
            let attribute = core::LLVMCreateEnumAttribute(self.context, kind.0, 0);
            core::LLVMAddAttributeAtIndex(function.0, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    pub fn remove_function_attribute(&self, function: Value, kind: AttributeKind) {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        // SAFETY: removing an attribute that is not there does nothing.
        unsafe { core::LLVMRemoveEnumAttributeAtIndex(function.0, index, kind.0) }
    }

    pub fn dbg_kind(&self) -> c_uint {
        // SAFETY: the name is passed with its length.
        unsafe { core::LLVMGetMDKindIDInContext(self.context, c"dbg".as_ptr(), 3) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules that are left go with their context; `errors` is dropped after this.
        unsafe { core::LLVMContextDispose(self.context) }
    }
}

#[derive(Clone, Copy)]
pub struct AttributeKind(c_uint);
