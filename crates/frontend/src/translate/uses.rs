//! What the code takes pointers for, where that matters to somebody who makes pointers up: as numbers whose order or bits decide
//! something, and as pointers to what their types do not say.

use ir::{BaseKind, Callee, Intrinsic, Reg, SourceType, SourceTypeId};
use rustc_hash::FxHashMap;

use super::ModuleTranslator;
use super::body::{Body, Choices, Unsupported};
use crate::PointerUses;
use crate::debug::described_variable;
use crate::llvm::{IntPredicate, Opcode, Type, TypeKind, Value, ValueKind};

/// Numbers computed from an address that are followed to what becomes of them.
const MAX_DEPTH: u32 = 6;

/// Bits of an address below which it says nothing about where an object lies.
const LOW: u64 = 16;

/// By which types pointers to `void` are followed.
#[derive(Default)]
pub(super) struct Followed {
    /// Types by LLVM's names for them; empty where nothing has a pointer to `void`.
    structs: FxHashMap<String, SourceTypeId>,
}

impl ModuleTranslator<'_> {
    /// Types that only variables and casts mention.
    pub(super) fn read_all_types(&mut self) {
        for unit in self.llvm.compile_units() {
            self.debug.read_retained(unit);
        }
        let functions: Vec<Value> = self.llvm.functions().collect();
        for function in functions.into_iter().filter(|function| !function.is_declaration()) {
            if !self.linked.is_root(function) {
                continue;
            }
            self.debug.function(function);
            for inst in function.blocks().flat_map(|block| block.instructions()) {
                if let Some(variable) = described_variable(inst) {
                    self.debug.variable(variable);
                }
            }
        }
        let types = &self.debug.types;
        let is_void = |ty: &Option<SourceTypeId>| match ty.map(|ty| &types[ty.idx()]) {
            None => true,
            Some(SourceType::Const { of } | SourceType::Volatile { of } | SourceType::Qualified { of }) => of.is_none(),
            Some(_) => false,
        };
        if !types.iter().any(|ty| matches!(ty, SourceType::Pointer { to, .. } if is_void(to))) {
            return;
        }
        for (idx, ty) in types.iter().enumerate() {
            let name = match ty {
                SourceType::Struct { name, is_complete: true, .. } if !name.is_empty() => format!("struct.{name}"),
                SourceType::Union { name, is_complete: true, .. } if !name.is_empty() => format!("union.{name}"),
                // LLVM calls a structure without a name by that of its typedef.
                SourceType::Typedef { name, of: Some(of) } => match &types[of.idx()] {
                    SourceType::Struct { name: tag, .. } if tag.is_empty() => format!("struct.{name}"),
                    SourceType::Union { name: tag, .. } if tag.is_empty() => format!("union.{name}"),
                    _ => continue,
                },
                _ => continue,
            };
            self.followed.structs.entry(name).or_insert(SourceTypeId::new(idx));
        }
    }
}

impl Body<'_, '_> {
    pub(super) fn tell_uses(&mut self, inst: Value, opcode: Opcode) -> Result<(), Unsupported> {
        if self.module.told.uses != PointerUses::Told || self.choices != Choices::Branch {
            return Ok(());
        }
        match opcode {
            Opcode::LLVMICmp if is_order_of_pointers(inst) => {
                let (a, b) = (self.scalar(inst.operand(0))?, self.scalar(inst.operand(1))?);
                self.tell(Intrinsic::AddressOrder, a, b);
            }
            Opcode::LLVMPtrToInt if is_pointer(inst.operand(0)) && is_telling(inst, MAX_DEPTH) => {
                let (a, null) = (self.scalar(inst.operand(0))?, self.number(self.pointer_bits(), 0));
                self.tell(Intrinsic::AddressOrder, a, null);
            }
            Opcode::LLVMSub if is_difference(inst) => {
                let (a, b) = (self.scalar(inst.operand(0))?, self.scalar(inst.operand(1))?);
                self.tell(Intrinsic::AddressOrder, a, b);
            }
            Opcode::LLVMGetElementPtr => {
                let ty = inst.gep_element_type();
                self.tell_followed(inst.operand(0), ty)?;
            }
            Opcode::LLVMLoad => self.tell_followed(inst.operand(0), inst.ty())?,
            Opcode::LLVMStore => self.tell_followed(inst.operand(1), inst.operand(0).ty())?,
            _ => {}
        }
        Ok(())
    }

    fn tell(&mut self, what: Intrinsic, a: Reg, b: Reg) {
        let bits = self.pointer_bits();
        let arg = |reg: Reg| ir::Arg { reg, bits, byval: None, float: None };
        let args = vec![arg(a), arg(b)];
        let callee = Callee::Intrinsic(what);
        self.emit_call(ir::Call { callee, args, results: Vec::new(), n_fixed: u32::MAX, result_used: false });
    }

    /// A pointer that somebody gave us is taken for one to `ty`.
    fn tell_followed(&mut self, pointer: Value, ty: Type) -> Result<(), Unsupported> {
        let is_given = match pointer.kind() {
            ValueKind::LLVMArgumentValueKind => true,
            ValueKind::LLVMInstructionValueKind => {
                !matches!(pointer.opcode(), Opcode::LLVMAlloca | Opcode::LLVMGetElementPtr)
            }
            _ => false,
        };
        if !is_given || self.module.followed.structs.is_empty() || !is_pointer(pointer) {
            return Ok(());
        }
        let Some(ty) = self.source_type(ty) else { return Ok(()) };
        let pointer = self.scalar(pointer)?;
        let ty = self.number(self.pointer_bits(), ty.idx() as u128);
        self.tell(Intrinsic::FollowedAs, pointer, ty);
        Ok(())
    }

    fn source_type(&mut self, ty: Type) -> Option<SourceTypeId> {
        let base = |name: &str, bytes: u64, kind: BaseKind| SourceType::Base { name: name.to_string(), bytes, kind };
        let bytes = self.module.type_bytes(ty);
        let scalar = match ty.kind() {
            TypeKind::LLVMStructTypeKind => {
                return self.module.followed.structs.get(plain_name(&ty.struct_name())).copied();
            }
            TypeKind::LLVMPointerTypeKind => SourceType::Pointer { to: None, bytes },
            TypeKind::LLVMIntegerTypeKind => match bytes {
                2 => base("short", 2, BaseKind::Signed),
                4 => base("int", 4, BaseKind::Signed),
                8 => base("long", 8, BaseKind::Signed),
                _ => return None,
            },
            TypeKind::LLVMFloatTypeKind => base("float", 4, BaseKind::Float),
            TypeKind::LLVMDoubleTypeKind => base("double", 8, BaseKind::Float),
            _ => return None,
        };
        Some(self.module.debug.unnamed(scalar))
    }
}

/// Without the number that LLVM gives the same type of another file.
fn plain_name(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((plain, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => plain,
        _ => name,
    }
}

fn is_pointer(value: Value) -> bool {
    value.ty().kind() == TypeKind::LLVMPointerTypeKind
}

pub(super) fn is_instruction(value: Value, opcode: Opcode) -> bool {
    value.kind() == ValueKind::LLVMInstructionValueKind && value.opcode() == opcode
}

fn is_equality(inst: Value) -> bool {
    matches!(inst.int_predicate(), IntPredicate::LLVMIntEQ | IntPredicate::LLVMIntNE)
}

/// Every object lies above the null pointer.
fn is_order_of_pointers(inst: Value) -> bool {
    let (a, b) = (inst.operand(0), inst.operand(1));
    is_pointer(a) && !is_equality(inst) && !a.is_null() && !b.is_null()
}

/// `p - q`.
fn is_difference(inst: Value) -> bool {
    is_instruction(inst.operand(0), Opcode::LLVMPtrToInt) && is_instruction(inst.operand(1), Opcode::LLVMPtrToInt)
}

/// Whether something is made of a number that was an address that depends on which one it is: not if it becomes a pointer again,
/// is compared for equality, or only its lowest bits are looked at, as where they hold a tag.
fn is_telling(number: Value, depth: u32) -> bool {
    if depth == 0 {
        return true;
    }
    number.users().any(|user| {
        let constant = || (0..user.n_operands()).map(|n| user.operand(n)).find(|operand| is_number(*operand));
        match user.opcode() {
            Opcode::LLVMICmp => !is_equality(user),
            Opcode::LLVMIntToPtr => false,
            Opcode::LLVMSub if is_difference(user) => false,
            Opcode::LLVMAnd => match constant().map(|mask| mask.int_signed()) {
                Some(mask) if (0..LOW as i64).contains(&mask) => false,
                Some(mask) if (-(LOW as i64)..0).contains(&mask) => is_telling(user, depth - 1),
                _ => true,
            },
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMOr | Opcode::LLVMXor => {
                constant().is_none() || is_telling(user, depth - 1)
            }
            Opcode::LLVMPHI => is_telling(user, depth - 1),
            _ => described_variable(user).is_none(),
        }
    })
}

fn is_number(value: Value) -> bool {
    value.kind() == ValueKind::LLVMConstantIntValueKind
}
