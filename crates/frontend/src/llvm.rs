//! Thin handles over LLVM's C interface: the only file with `unsafe`.
//!
//! A handle is a pointer into a module of a `Context`. The crate keeps the context alive for the whole of `load` and
//! lets no handle out, so the methods here can be safe to call.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::ptr;

pub use llvm_sys::debuginfo::LLVMMetadataKind as MetaKind;
pub use llvm_sys::{
    LLVMAtomicRMWBinOp as RmwOp, LLVMIntPredicate as IntPredicate, LLVMLinkage as Linkage, LLVMOpcode as Opcode,
    LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind, LLVMValueKind as ValueKind,
};
use llvm_sys::{
    LLVMDiagnosticSeverity, analysis, bit_reader, core, debuginfo, error, error_handling, ir_reader, linker,
};
use llvm_sys::{prelude as raw, target, transforms::pass_builder};

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

    /// Stores zero into `alloca` right after it.
    pub fn zero_after(&self, alloca: Value) {
        // SAFETY: an alloca is never a terminator, so it has a next instruction.
        unsafe {
            let builder = core::LLVMCreateBuilderInContext(self.context);
            core::LLVMPositionBuilderBefore(builder, core::LLVMGetNextInstruction(alloca.0));
            let zero = core::LLVMConstNull(core::LLVMGetAllocatedType(alloca.0));
            core::LLVMBuildStore(builder, zero, alloca.0);
            core::LLVMDisposeBuilder(builder);
        }
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

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Module(raw::LLVMModuleRef);

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
pub struct Layout(target::LLVMTargetDataRef);

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

    pub fn abi_align(self, ty: Type) -> u32 {
        if ty.is_sized() { unsafe { target::LLVMABIAlignmentOfType(self.0, ty.0) } } else { 1 }
    }

    pub fn field_offset(self, ty: Type, field: u32) -> u64 {
        unsafe { target::LLVMOffsetOfElement(self.0, ty.0, field) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type(raw::LLVMTypeRef);

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

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(raw::LLVMValueRef);

impl Value {
    fn new(value: raw::LLVMValueRef) -> Option<Value> {
        (!value.is_null()).then_some(Value(value))
    }

    pub fn kind(self) -> ValueKind {
        // SAFETY: every method here reads (or renames) a value; those for one kind are called for that kind.
        unsafe { core::LLVMGetValueKind(self.0) }
    }

    pub fn ty(self) -> Type {
        unsafe { Type(core::LLVMTypeOf(self.0)) }
    }

    pub fn name(self) -> String {
        let mut len = 0;
        unsafe {
            let start = core::LLVMGetValueName2(self.0, &mut len);
            text(start, len)
        }
    }

    pub fn set_name(self, name: &str) {
        unsafe { core::LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    pub fn print(self) -> String {
        unsafe { take_message(core::LLVMPrintValueToString(self.0)) }
    }

    pub fn is_constant(self) -> bool {
        unsafe { core::LLVMIsConstant(self.0) != 0 }
    }

    pub fn n_operands(self) -> u32 {
        unsafe { core::LLVMGetNumOperands(self.0).max(0) as u32 }
    }

    pub fn operand(self, operand: u32) -> Value {
        unsafe { Value(core::LLVMGetOperand(self.0, operand)) }
    }

    pub fn users(self) -> impl Iterator<Item = Value> {
        let first = unsafe { core::LLVMGetFirstUse(self.0) };
        let uses = std::iter::successors((!first.is_null()).then_some(first), |current| {
            let next = unsafe { core::LLVMGetNextUse(*current) };
            (!next.is_null()).then_some(next)
        });
        uses.map(|current| Value(unsafe { core::LLVMGetUser(current) }))
    }

    pub fn is_used(self) -> bool {
        unsafe { !core::LLVMGetFirstUse(self.0).is_null() }
    }

    // Constants.

    /// Integer constants of up to 128 bits, zero-extended.
    pub fn int_bits(self, bits: u32) -> u128 {
        if bits <= 64 {
            return u128::from(unsafe { core::LLVMConstIntGetZExtValue(self.0) });
        }
        let limbs = self.int_limbs(bits);
        u128::from(limbs[0]) | u128::from(limbs[1]) << 64
    }

    /// An integer constant of any width as 64-bit limbs, the lowest first, zero-extended.
    pub fn int_limbs(self, bits: u32) -> Vec<u64> {
        let n_limbs = bits.div_ceil(64) as usize;
        if bits <= 64 {
            return vec![self.int_bits(bits) as u64];
        }
        // The accessors stop at 64 bits; the printed form is `i200 -5`.
        let text = self.print();
        let digits = text.rsplit(' ').next().unwrap_or("0");
        let mut limbs = vec![0u64; n_limbs];
        for digit in digits.bytes().filter(u8::is_ascii_digit) {
            let mut carry = u128::from(digit - b'0');
            for limb in &mut limbs {
                carry += u128::from(*limb) * 10;
                *limb = carry as u64;
                carry >>= 64;
            }
        }
        if digits.starts_with('-') {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        if !bits.is_multiple_of(64) {
            limbs[n_limbs - 1] &= (1 << (bits % 64)) - 1;
        }
        limbs
    }

    pub fn int_signed(self) -> i64 {
        unsafe { core::LLVMConstIntGetSExtValue(self.0) }
    }

    pub fn is_null(self) -> bool {
        unsafe { core::LLVMIsNull(self.0) != 0 }
    }

    pub fn is_undef(self) -> bool {
        unsafe { core::LLVMIsUndef(self.0) != 0 }
    }

    /// Bytes of an array of 8-bit integers.
    pub fn string_bytes(self) -> Option<Vec<u8>> {
        unsafe {
            if core::LLVMIsConstantString(self.0) == 0 {
                return None;
            }
            let mut len = 0;
            let start = core::LLVMGetAsString(self.0, &mut len);
            Some(std::slice::from_raw_parts(start.cast::<u8>(), len).to_vec())
        }
    }

    pub fn aggregate_element(self, element: u32) -> Option<Value> {
        Value::new(unsafe { core::LLVMGetAggregateElement(self.0, element) })
    }

    pub fn const_opcode(self) -> Opcode {
        unsafe { core::LLVMGetConstOpcode(self.0) }
    }

    pub fn block_address(self) -> (Value, BasicBlock) {
        unsafe {
            let function = core::LLVMGetBlockAddressFunction(self.0);
            (Value(function), BasicBlock(core::LLVMGetBlockAddressBasicBlock(self.0)))
        }
    }

    // Globals and functions.

    pub fn is_declaration(self) -> bool {
        unsafe { core::LLVMIsDeclaration(self.0) != 0 }
    }

    pub fn linkage(self) -> Linkage {
        unsafe { core::LLVMGetLinkage(self.0) }
    }

    pub fn set_linkage(self, linkage: Linkage) {
        unsafe { core::LLVMSetLinkage(self.0, linkage) }
    }

    /// A global constant becomes a variable.
    pub fn set_variable(self) {
        unsafe { core::LLVMSetGlobalConstant(self.0, 0) }
    }

    pub fn is_local(self) -> bool {
        matches!(self.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
    }

    pub fn value_type(self) -> Type {
        unsafe { Type(core::LLVMGlobalGetValueType(self.0)) }
    }

    pub fn align(self) -> u32 {
        unsafe { core::LLVMGetAlignment(self.0) }
    }

    pub fn initializer(self) -> Option<Value> {
        Value::new(unsafe { core::LLVMGetInitializer(self.0) })
    }

    pub fn is_global_constant(self) -> bool {
        unsafe { core::LLVMIsGlobalConstant(self.0) != 0 }
    }

    pub fn aliasee(self) -> Value {
        unsafe { Value(core::LLVMAliasGetAliasee(self.0)) }
    }

    pub fn ifunc_resolver(self) -> Value {
        unsafe { Value(core::LLVMGetGlobalIFuncResolver(self.0)) }
    }

    pub fn params(self) -> Vec<Value> {
        unsafe {
            let mut params = vec![ptr::null_mut(); core::LLVMCountParams(self.0) as usize];
            core::LLVMGetParams(self.0, params.as_mut_ptr());
            params.into_iter().map(Value).collect()
        }
    }

    pub fn has_function_attribute(self, kind: AttributeKind) -> bool {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        unsafe { !core::LLVMGetEnumAttributeAtIndex(self.0, index, kind.0).is_null() }
    }

    pub fn blocks(self) -> impl Iterator<Item = BasicBlock> {
        let block = |block: raw::LLVMBasicBlockRef| (!block.is_null()).then_some(BasicBlock(block));
        let first = block(unsafe { core::LLVMGetFirstBasicBlock(self.0) });
        std::iter::successors(first, move |current| block(unsafe { core::LLVMGetNextBasicBlock(current.0) }))
    }

    pub fn subprogram(self) -> Option<Meta> {
        Meta::new(unsafe { debuginfo::LLVMGetSubprogram(self.0) })
    }

    pub fn global_metadata(self, kind: c_uint) -> Option<Meta> {
        unsafe {
            let mut n = 0;
            let entries = core::LLVMGlobalCopyAllMetadata(self.0, &mut n);
            let found = (0..n as c_uint)
                .find(|entry| core::LLVMValueMetadataEntriesGetKind(entries, *entry) == kind)
                .map(|entry| Meta(core::LLVMValueMetadataEntriesGetMetadata(entries, entry)));
            core::LLVMDisposeValueMetadataEntries(entries);
            found
        }
    }

    // Instructions.

    pub fn opcode(self) -> Opcode {
        unsafe { core::LLVMGetInstructionOpcode(self.0) }
    }

    pub fn parent_block(self) -> BasicBlock {
        unsafe { BasicBlock(core::LLVMGetInstructionParent(self.0)) }
    }

    pub fn location(self) -> Option<Meta> {
        Meta::new(unsafe { debuginfo::LLVMInstructionGetDebugLoc(self.0) })
    }

    pub fn int_predicate(self) -> IntPredicate {
        unsafe { core::LLVMGetICmpPredicate(self.0) }
    }

    pub fn real_predicate(self) -> RealPredicate {
        unsafe { core::LLVMGetFCmpPredicate(self.0) }
    }

    pub fn is_nsw(self) -> bool {
        unsafe { core::LLVMGetNSW(self.0) != 0 }
    }

    pub fn is_volatile(self) -> bool {
        unsafe { core::LLVMGetVolatile(self.0) != 0 }
    }

    pub fn allocated_type(self) -> Type {
        unsafe { Type(core::LLVMGetAllocatedType(self.0)) }
    }

    pub fn gep_element_type(self) -> Type {
        unsafe { Type(core::LLVMGetGEPSourceElementType(self.0)) }
    }

    pub fn indices(self) -> Vec<u32> {
        unsafe {
            let n = core::LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(core::LLVMGetIndices(self.0), n).to_vec()
        }
    }

    /// Lane numbers of a shuffle; `None` for a lane nobody reads.
    pub fn shuffle_mask(self) -> Vec<Option<u32>> {
        unsafe {
            let n = core::LLVMGetNumMaskElements(self.0);
            (0..n).map(|lane| u32::try_from(core::LLVMGetMaskValue(self.0, lane)).ok()).collect()
        }
    }

    pub fn rmw_op(self) -> RmwOp {
        unsafe { core::LLVMGetAtomicRMWBinOp(self.0) }
    }

    pub fn called_value(self) -> Value {
        unsafe { Value(core::LLVMGetCalledValue(self.0)) }
    }

    pub fn called_type(self) -> Type {
        unsafe { Type(core::LLVMGetCalledFunctionType(self.0)) }
    }

    pub fn n_args(self) -> u32 {
        unsafe { core::LLVMGetNumArgOperands(self.0) }
    }

    /// Whether the call site carries the attribute itself.
    pub fn has_call_attribute(self, kind: AttributeKind) -> bool {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        unsafe { !core::LLVMGetCallSiteEnumAttribute(self.0, index, kind.0).is_null() }
    }

    pub fn arg_type_attribute(self, arg: u32, kind: AttributeKind) -> Option<Type> {
        unsafe {
            let attribute = core::LLVMGetCallSiteEnumAttribute(self.0, arg + 1, kind.0);
            (!attribute.is_null()).then(|| Type(core::LLVMGetTypeAttributeValue(attribute)))
        }
    }

    pub fn arg_int_attribute(self, arg: u32, kind: AttributeKind) -> Option<u64> {
        unsafe {
            let attribute = core::LLVMGetCallSiteEnumAttribute(self.0, arg + 1, kind.0);
            (!attribute.is_null()).then(|| core::LLVMGetEnumAttributeValue(attribute))
        }
    }

    pub fn assembly(self) -> (String, String) {
        unsafe {
            let mut len = 0;
            let start = core::LLVMGetInlineAsmAsmString(self.0, &mut len);
            let code = text(start, len);
            let start = core::LLVMGetInlineAsmConstraintString(self.0, &mut len);
            (code, text(start, len))
        }
    }

    pub fn is_conditional(self) -> bool {
        unsafe { core::LLVMIsConditional(self.0) != 0 }
    }

    pub fn successors(self) -> Vec<BasicBlock> {
        unsafe {
            let n = core::LLVMGetNumSuccessors(self.0);
            (0..n).map(|successor| BasicBlock(core::LLVMGetSuccessor(self.0, successor))).collect()
        }
    }

    pub fn incoming(self) -> Vec<(BasicBlock, Value)> {
        unsafe {
            let n = core::LLVMCountIncoming(self.0);
            let pair =
                |i| (BasicBlock(core::LLVMGetIncomingBlock(self.0, i)), Value(core::LLVMGetIncomingValue(self.0, i)));
            (0..n).map(pair).collect()
        }
    }

    /// The metadata behind a metadata operand of a debug intrinsic.
    pub fn as_meta(self) -> Meta {
        unsafe { Meta(core::LLVMValueAsMetadata(self.0)) }
    }

    /// The value behind a metadata operand such as the first one of `llvm.dbg.declare`.
    pub fn wrapped_value(self) -> Option<Value> {
        unsafe {
            if core::LLVMGetMDNodeNumOperands(self.0) != 1 {
                return None;
            }
            let mut value = ptr::null_mut();
            core::LLVMGetMDNodeOperands(self.0, &mut value);
            Value::new(value)
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BasicBlock(raw::LLVMBasicBlockRef);

impl BasicBlock {
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        // SAFETY: the list is not changed while it is walked.
        let first = Value::new(unsafe { core::LLVMGetFirstInstruction(self.0) });
        std::iter::successors(first, |inst| Value::new(unsafe { core::LLVMGetNextInstruction(inst.0) }))
    }

    pub fn terminator(self) -> Value {
        // SAFETY: verified modules have a terminator in every block.
        unsafe { Value(core::LLVMGetBasicBlockTerminator(self.0)) }
    }

    pub fn phis(self) -> impl Iterator<Item = Value> {
        self.instructions().take_while(|inst| inst.opcode() == Opcode::LLVMPHI)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Meta(raw::LLVMMetadataRef);

impl Meta {
    fn new(meta: raw::LLVMMetadataRef) -> Option<Meta> {
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
