//! Instructions that make, read and write memory, and those that compute an address in it.

use std::rc::Rc;

use ir::{BinOp, BitOp, CmpOp, FloatBinOp, Inst, Reg};

use super::body::{Body, Choices, Regs, Unsupported};
use super::instruction::float_kind;
use super::shape::{Scalar, Shape};
use super::uses::is_instruction;
use crate::llvm::{Opcode, RmwOp, TypeKind, Value};

impl Body<'_, '_> {
    pub(super) fn alloca(&mut self, inst: Value) -> Result<(), Unsupported> {
        let ty = inst.allocated_type();
        let mut bytes = self.module.type_bytes(ty);
        let count = match self.immediate(inst.operand(0)) {
            Some(count) => {
                bytes = bytes.saturating_mul(count);
                None
            }
            None => {
                let bits = self.scalar_type(inst.operand(0))?.bits;
                let count = self.scalar(inst.operand(0))?;
                Some(self.resize(count, bits, self.pointer_bits()))
            }
        };
        let align = inst.align().max(1);
        let variable = self.variable_of.get(&inst).copied();
        let pointer_bits = self.pointer_bits();
        let reg = self.define(pointer_bits, |dst| Inst::Alloca { dst, bytes, align, count, variable });
        self.bind_one(inst, reg);
        Ok(())
    }

    pub(super) fn load(&mut self, inst: Value) -> Result<(), Unsupported> {
        let shape = self.module.shapes.in_memory(inst.ty())?;
        let addr = self.scalar(inst.operand(0))?;
        let regs = self.load_at(addr, &shape, inst.align());
        self.bind(inst, regs);
        Ok(())
    }

    pub(super) fn store(&mut self, inst: Value) -> Result<(), Unsupported> {
        let value = inst.operand(0);
        let shape = self.module.shapes.in_memory(value.ty())?;
        let regs = self.operand(value)?;
        let addr = self.scalar(inst.operand(1))?;
        self.store_at(addr, &regs, &shape, inst.align());
        Ok(())
    }

    fn load_at(&mut self, addr: Reg, shape: &Shape, align: u32) -> Regs {
        shape
            .iter()
            .map(|scalar| {
                let addr = self.address_of(addr, scalar.offset);
                let (bits, align) = (scalar.bits, align_at(align, scalar.offset));
                self.define(bits, |dst| Inst::Load { dst, bits, align, addr })
            })
            .collect()
    }

    fn store_at(&mut self, addr: Reg, regs: &Regs, shape: &Shape, align: u32) {
        for (src, scalar) in regs.iter().zip(shape.iter()) {
            let addr = self.address_of(addr, scalar.offset);
            let (bits, align) = (scalar.bits, align_at(align, scalar.offset));
            self.emit(Inst::Store { src: *src, bits, align, addr });
        }
    }

    fn address_of(&mut self, base: Reg, offset: u64) -> Reg {
        if offset == 0 { base } else { self.bin_imm(BinOp::Add, self.pointer_bits(), base, offset) }
    }

    pub(super) fn read_modify_write(&mut self, inst: Value) -> Result<(), Unsupported> {
        let (pointer, operand) = (inst.operand(0), inst.operand(1));
        let shape = self.module.shapes.in_memory(operand.ty())?;
        let scalar = self.scalar_type(operand)?;
        let addr = self.scalar(pointer)?;
        let operand = self.scalar(operand)?;
        let old = self.load_at(addr, &shape, inst.align());
        let new = self.modified(inst.rmw_op(), scalar, old[0], operand)?;
        self.store_at(addr, &Rc::from([new]), &shape, inst.align());
        self.bind(inst, old);
        Ok(())
    }

    fn modified(&mut self, op: RmwOp, scalar: Scalar, old: Reg, operand: Reg) -> Result<Reg, Unsupported> {
        let bits = scalar.bits;
        let bit_op = |body: &mut Self, op| body.define(bits, |dst| Inst::BitOp { op, bits, dst, a: old, b: operand });
        Ok(match op {
            RmwOp::LLVMAtomicRMWBinOpXchg => operand,
            RmwOp::LLVMAtomicRMWBinOpAdd => self.bin(BinOp::Add, bits, old, operand),
            RmwOp::LLVMAtomicRMWBinOpSub => self.bin(BinOp::Sub, bits, old, operand),
            RmwOp::LLVMAtomicRMWBinOpAnd => self.bin(BinOp::And, bits, old, operand),
            RmwOp::LLVMAtomicRMWBinOpNand => {
                let both = self.bin(BinOp::And, bits, old, operand);
                let ones = self.number(bits, u128::MAX);
                self.bin(BinOp::Xor, bits, both, ones)
            }
            RmwOp::LLVMAtomicRMWBinOpOr => self.bin(BinOp::Or, bits, old, operand),
            RmwOp::LLVMAtomicRMWBinOpXor => self.bin(BinOp::Xor, bits, old, operand),
            RmwOp::LLVMAtomicRMWBinOpMax => bit_op(self, BitOp::SMax),
            RmwOp::LLVMAtomicRMWBinOpMin => bit_op(self, BitOp::SMin),
            RmwOp::LLVMAtomicRMWBinOpUMax => bit_op(self, BitOp::UMax),
            RmwOp::LLVMAtomicRMWBinOpUMin => bit_op(self, BitOp::UMin),
            RmwOp::LLVMAtomicRMWBinOpFAdd | RmwOp::LLVMAtomicRMWBinOpFSub => {
                let kind = float_kind(scalar)?;
                let is_add = op == RmwOp::LLVMAtomicRMWBinOpFAdd;
                let op = if is_add { FloatBinOp::Add } else { FloatBinOp::Sub };
                self.define(bits, |dst| Inst::FloatBin { op, kind, dst, a: old, b: operand })
            }
            op => return Err(format!("the atomic operation {op:?}")),
        })
    }

    /// Writes the old value back where the comparison fails: on one thread nobody can tell.
    pub(super) fn compare_exchange(&mut self, inst: Value) -> Result<(), Unsupported> {
        let (pointer, expected, new) = (inst.operand(0), inst.operand(1), inst.operand(2));
        let shape = self.module.shapes.in_memory(expected.ty())?;
        let bits = self.scalar_type(expected)?.bits;
        let addr = self.scalar(pointer)?;
        let (expected, new) = (self.scalar(expected)?, self.scalar(new)?);
        let old = self.load_at(addr, &shape, inst.align());
        let same = self.cmp(CmpOp::Eq, bits, old[0], expected);
        let stored = self.pick(bits, same, new, old[0]);
        self.store_at(addr, &Rc::from([stored]), &shape, inst.align());
        self.bind(inst, Rc::from([old[0], same]));
        Ok(())
    }

    pub(super) fn element_pointer(&mut self, value: Value) -> Result<Regs, Unsupported> {
        if value.ty().kind() == TypeKind::LLVMVectorTypeKind {
            return Err("arithmetic on vectors of pointers".to_string());
        }
        let mut ty = value.gep_element_type();
        let mut offset = 0i64;
        let mut steps: Vec<(Value, u64)> = Vec::new();
        for operand in 1..value.n_operands() {
            let index = value.operand(operand);
            if let Some(number) = self.signed_immediate(index) {
                offset = offset.wrapping_add(self.module.layout.step_offset(&mut ty, operand, number));
                continue;
            }
            if operand > 1 {
                ty = ty.element();
            }
            steps.push((index, self.module.type_bytes(ty)));
        }
        let is_told = self.tells_step(value);
        // What is folded into the base would not be seen as a step.
        let mut folded = if is_told { 0 } else { offset };
        let mut pointer = self.element_base(value.operand(0), &mut folded)?;
        if !is_told {
            offset = folded;
        }
        let before = pointer;
        for (index, scale) in steps {
            pointer = self.index_step(pointer, index, scale)?;
        }
        if offset != 0 {
            let bits = self.pointer_bits();
            let imm = if bits == 64 { offset as u64 } else { offset as u64 & ((1 << bits) - 1) };
            pointer = self.bin_imm(BinOp::Add, bits, pointer, imm);
        }
        if is_told && pointer != before {
            let bits = self.pointer_bits();
            let arg = |reg: Reg| ir::Arg { reg, bits, byval: None, float: None };
            let args = vec![arg(before), arg(pointer)];
            let callee = ir::Callee::Intrinsic(ir::Intrinsic::PointerStep);
            self.emit_call(ir::Call { callee, args, results: Vec::new(), n_fixed: u32::MAX, result_used: false });
        }
        Ok(Rc::from([pointer]))
    }

    /// Arithmetic of the user's own; a member of a structure is no step.
    fn tells_step(&mut self, value: Value) -> bool {
        let is_member = value.gep_element_type().kind() == TypeKind::LLVMStructTypeKind
            && self.signed_immediate(value.operand(1)) == Some(0);
        self.module.told.steps == crate::PointerSteps::Told && self.choices == Choices::Branch && !is_member
    }

    fn signed_immediate(&mut self, index: Value) -> Option<i64> {
        let number = self.immediate(index)?;
        let bits = self.scalar_type(index).ok()?.bits;
        Some(((number << (64 - bits)) as i64) >> (64 - bits))
    }

    /// The pointer to start from; the constant part is folded into the address of a global.
    fn element_base(&mut self, base: Value, offset: &mut i64) -> Result<Reg, Unsupported> {
        if base.is_constant() && !base.is_undef() {
            let bits = self.pointer_bits();
            if let Some(linear) = self.module.linear(base)
                && let (Some(symbol), None) = (linear.plus, linear.minus)
            {
                let addend = linear.addend.wrapping_add(std::mem::take(offset));
                return Ok(self.define(bits, |dst| Inst::Address { dst, symbol, addend }));
            }
        }
        self.scalar(base)
    }

    fn index_step(&mut self, base: Reg, index: Value, scale: u64) -> Result<Reg, Unsupported> {
        if scale == 0 {
            return Ok(base);
        }
        let index =
            if is_instruction(index, Opcode::LLVMSExt) && is_folded_index(index) { index.operand(0) } else { index };
        let bits = self.scalar_type(index)?.bits;
        let pointer_bits = self.pointer_bits();
        let mut reg = self.scalar(index)?;
        let mut index_bits = bits;
        if bits > pointer_bits {
            reg = self.resize(reg, bits, pointer_bits);
            index_bits = pointer_bits;
        }
        Ok(self.define(pointer_bits, |dst| Inst::Index { dst, base, index: reg, index_bits, scale }))
    }
}

/// Whether a sign extension is left to the address computation that is its only reader: `Index` extends by itself.
pub(super) fn is_folded_index(extension: Value) -> bool {
    let is_scalar = |value: Value| value.ty().kind() == TypeKind::LLVMIntegerTypeKind && value.ty().int_width() <= 64;
    if !is_scalar(extension) || extension.operand(0).is_constant() {
        return false;
    }
    let mut users = extension.users();
    let (Some(user), None) = (users.next(), users.next()) else { return false };
    is_instruction(user, Opcode::LLVMGetElementPtr) && user.ty().kind() == TypeKind::LLVMPointerTypeKind
}

/// Known alignment at `offset` from an address aligned to `align`.
fn align_at(align: u32, offset: u64) -> u8 {
    let align = u64::from(align.clamp(1, 128));
    let at_offset = if offset == 0 { align } else { 1 << offset.trailing_zeros().min(7) };
    align.min(at_offset) as u8
}
