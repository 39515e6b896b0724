//! Values: constants, globals, functions and instructions, and the blocks they stand in.

use std::ffi::c_uint;
use std::ptr;

use llvm_sys::{core, debuginfo, prelude as raw, target};

use super::{
    AttributeKind, IntPredicate, Layout, Linkage, Meta, Opcode, RealPredicate, RmwOp, Type, ValueKind, take_message,
    text,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(pub(super) raw::LLVMValueRef);

impl Value {
    pub(super) fn new(value: raw::LLVMValueRef) -> Option<Value> {
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

    pub fn is_poison(self) -> bool {
        unsafe { core::LLVMIsPoison(self.0) != 0 }
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

    pub fn set_volatile(self) {
        unsafe { core::LLVMSetVolatile(self.0, 1) }
    }

    pub fn is_volatile(self) -> bool {
        unsafe { core::LLVMGetVolatile(self.0) != 0 }
    }

    /// Makes a local an array of one element of its type, which is the same memory; passes do not take it for a value.
    pub fn make_array_of_one(self) {
        self.allocate_as(|ty| unsafe { core::LLVMArrayType2(ty, 1) });
    }

    /// Lets an instruction that allocates an array of one value allocate the value.
    pub fn make_single(self) -> Value {
        self.allocate_as(|ty| unsafe { core::LLVMGetElementType(ty) })
    }

    /// Replaces an allocation by one of another type, which takes as much room.
    fn allocate_as(self, change: impl FnOnce(raw::LLVMTypeRef) -> raw::LLVMTypeRef) -> Value {
        let name = std::ffi::CString::new(self.name()).unwrap_or_default();
        // SAFETY: the instruction is an allocation in a block; all its users get the new one before it goes.
        unsafe {
            let context = core::LLVMGetTypeContext(core::LLVMTypeOf(self.0));
            let builder = core::LLVMCreateBuilderInContext(context);
            core::LLVMPositionBuilderBefore(builder, self.0);
            let made = core::LLVMBuildAlloca(builder, change(core::LLVMGetAllocatedType(self.0)), name.as_ptr());
            core::LLVMSetAlignment(made, core::LLVMGetAlignment(self.0));
            core::LLVMReplaceAllUsesWith(self.0, made);
            core::LLVMInstructionEraseFromParent(self.0);
            core::LLVMDisposeBuilder(builder);
            Value(made)
        }
    }

    /// Takes an instruction that nobody uses out of its block.
    pub fn erase(self) {
        // SAFETY: the instruction has no users; whoever calls this does not touch it again.
        unsafe { core::LLVMInstructionEraseFromParent(self.0) }
    }

    /// How many bytes an instruction of one allocates; 0 where it allocates several, or as many as are computed.
    pub fn allocated_bytes(self) -> u64 {
        let count = self.operand(0);
        let is_one = count.kind() == ValueKind::LLVMConstantIntValueKind && count.int_bits(64) == 1;
        if is_one { self.layout().alloc_size(self.allocated_type()) } else { 0 }
    }

    /// How many bytes a store writes.
    pub fn stored_bytes(self) -> u64 {
        self.layout().store_size(self.operand(0).ty())
    }

    /// The layout of the module that an instruction stands in.
    fn layout(self) -> Layout {
        unsafe {
            let function = core::LLVMGetBasicBlockParent(core::LLVMGetInstructionParent(self.0));
            Layout(target::LLVMGetModuleDataLayout(core::LLVMGetGlobalParent(function)))
        }
    }

    pub fn allocated_type(self) -> Type {
        unsafe { Type(core::LLVMGetAllocatedType(self.0)) }
    }

    pub fn gep_element_type(self) -> Type {
        unsafe { Type(core::LLVMGetGEPSourceElementType(self.0)) }
    }

    /// How many bytes a `getelementptr` goes forward, where all its indices are constants.
    pub fn constant_step(self) -> Option<i64> {
        let (layout, mut ty) = (self.layout(), self.gep_element_type());
        let mut step = 0i64;
        for operand in 1..self.n_operands() {
            let index = self.operand(operand);
            if index.kind() != ValueKind::LLVMConstantIntValueKind {
                return None;
            }
            step = step.wrapping_add(layout.step_offset(&mut ty, operand, index.int_signed()));
        }
        Some(step)
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
pub struct BasicBlock(pub(super) raw::LLVMBasicBlockRef);

impl BasicBlock {
    /// Instructions that lead here, and other values that name the block.
    pub fn users(self) -> impl Iterator<Item = Value> {
        // SAFETY: a block of a module is a value, too.
        Value(unsafe { core::LLVMBasicBlockAsValue(self.0) }).users()
    }

    pub fn instructions(self) -> impl Iterator<Item = Value> {
        // SAFETY: the list is not changed while it is walked.
        let first = Value::new(unsafe { core::LLVMGetFirstInstruction(self.0) });
        std::iter::successors(first, |inst| Value::new(unsafe { core::LLVMGetNextInstruction(inst.0) }))
    }

    pub fn terminator(self) -> Value {
        // SAFETY: verified modules have a terminator in every block.
        unsafe { Value(core::LLVMGetBasicBlockTerminator(self.0)) }
    }

    /// Whether it is its function's first block.
    pub fn is_first(self) -> bool {
        // SAFETY: blocks of a module have a function.
        unsafe { core::LLVMGetEntryBasicBlock(core::LLVMGetBasicBlockParent(self.0)) == self.0 }
    }

    pub fn phis(self) -> impl Iterator<Item = Value> {
        self.instructions().take_while(|inst| inst.opcode() == Opcode::LLVMPHI)
    }
}
