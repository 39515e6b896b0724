//! Integers of more than 128 bits, as clang makes them for long runs of packed bit-fields: a register per 64-bit limb,
//! the lowest first, the last one as narrow as the width leaves it. Only what bit-fields need is here: moves, bitwise
//! operations, shifts by constants, and changes of width. Arithmetic on them is a gap.

use ir::{BinOp, CastOp, Inst, Reg};

use super::body::{Body, Regs, Unsupported};
use crate::llvm::{Opcode, Type, TypeKind, Value, ValueKind};

/// The width of an integer type beyond 128 bits.
pub(super) fn wide_width(ty: Type) -> Option<u32> {
    (ty.kind() == TypeKind::LLVMIntegerTypeKind).then(|| ty.int_width()).filter(|bits| *bits > 128)
}

/// Whether an operation concerns such integers.
pub(super) fn is_wide(value: Value) -> bool {
    let has_operand = value.n_operands() > 0 && wide_width(value.operand(0).ty()).is_some();
    wide_width(value.ty()).is_some() || has_operand
}

impl Body<'_, '_> {
    pub(super) fn wide_expression(&mut self, value: Value, opcode: Opcode) -> Result<Regs, Unsupported> {
        match opcode {
            Opcode::LLVMAnd => self.wide_bitwise(value, BinOp::And),
            Opcode::LLVMOr => self.wide_bitwise(value, BinOp::Or),
            Opcode::LLVMXor => self.wide_bitwise(value, BinOp::Xor),
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => self.wide_shift(value, opcode),
            Opcode::LLVMTrunc | Opcode::LLVMZExt | Opcode::LLVMSExt => self.wide_resize(value, opcode),
            Opcode::LLVMSelect => self.select(value),
            Opcode::LLVMFreeze => self.operand(value.operand(0)),
            _ => Err(format!("arithmetic on integers of {} bits", self.wide_bits(value))),
        }
    }

    fn wide_bits(&self, value: Value) -> u32 {
        wide_width(value.ty()).or_else(|| wide_width(value.operand(0).ty())).unwrap_or(0)
    }

    fn wide_bitwise(&mut self, value: Value, op: BinOp) -> Result<Regs, Unsupported> {
        let shape = self.shape(value)?;
        let (a, b) = (self.operand(value.operand(0))?, self.operand(value.operand(1))?);
        let limbs = a.iter().zip(b.iter()).zip(shape.iter());
        Ok(limbs.map(|((a, b), scalar)| self.bin(op, scalar.bits, *a, *b)).collect())
    }

    fn wide_shift(&mut self, value: Value, opcode: Opcode) -> Result<Regs, Unsupported> {
        let amount = value.operand(1);
        if amount.kind() != ValueKind::LLVMConstantIntValueKind {
            return Err(format!("shifts of integers of {} bits by a variable amount", self.wide_bits(value)));
        }
        let bits = value.ty().int_width();
        let amount = amount.int_limbs(bits)[0].min(u64::from(bits)) as usize;
        let is_signed = opcode == Opcode::LLVMAShr;
        let (limbs, fill) = self.full_limbs(value.operand(0), is_signed.then_some(Signed))?;
        let (words, rest) = (amount / 64, (amount % 64) as u64);
        let at = |i: Option<usize>| i.and_then(|i| limbs.get(i).copied());
        let mut shifted = Vec::new();
        for i in 0..limbs.len() {
            shifted.push(if opcode == Opcode::LLVMShl {
                let high = at(i.checked_sub(words)).unwrap_or(fill);
                let low = at(i.checked_sub(words + 1)).unwrap_or(fill);
                self.funnel_limb(high, low, rest)
            } else {
                let low = at(Some(i + words)).unwrap_or(fill);
                let high = at(Some(i + words + 1)).unwrap_or(fill);
                if rest == 0 { low } else { self.funnel_limb(high, low, 64 - rest) }
            });
        }
        Ok(self.narrow_last(shifted, bits))
    }

    /// The upper half of `high:low << amount`, `amount` below 64.
    fn funnel_limb(&mut self, high: Reg, low: Reg, amount: u64) -> Reg {
        if amount == 0 {
            return high;
        }
        let upper = self.bin_imm(BinOp::Shl, 64, high, amount);
        let lower = self.bin_imm(BinOp::LShr, 64, low, 64 - amount);
        self.bin(BinOp::Or, 64, upper, lower)
    }

    fn wide_resize(&mut self, value: Value, opcode: Opcode) -> Result<Regs, Unsupported> {
        let is_signed = opcode == Opcode::LLVMSExt;
        let (mut limbs, fill) = self.full_limbs(value.operand(0), is_signed.then_some(Signed))?;
        let bits = value.ty().int_width();
        limbs.resize(bits.div_ceil(64) as usize, fill);
        match bits {
            0..=64 => Ok([self.resize(limbs[0], 64, bits as u8)].into()),
            65..=128 => {
                let joined = self.join(&limbs, 64, 128);
                Ok([self.resize(joined, 128, bits as u8)].into())
            }
            _ => Ok(self.narrow_last(limbs, bits)),
        }
    }

    fn narrow_last(&mut self, mut limbs: Vec<Reg>, bits: u32) -> Regs {
        if let (Some(last), 1..) = (limbs.last_mut(), bits % 64) {
            *last = self.resize(*last, 64, (bits % 64) as u8);
        }
        limbs.into()
    }

    /// The value as limbs of 64 bits each, and the limb that continues it upwards.
    fn full_limbs(&mut self, value: Value, signed: Option<Signed>) -> Result<(Vec<Reg>, Reg), Unsupported> {
        let bits = value.ty().int_width();
        let regs = self.operand(value)?;
        let mut limbs = match bits {
            65..=128 => {
                let wide = self.extend(regs[0], bits as u8, 128, signed);
                self.split(wide, 128, 64)
            }
            _ => regs.to_vec(),
        };
        let last_bits = if bits <= 64 || bits > 128 { (bits - 1) % 64 + 1 } else { 64 };
        if let Some(last) = limbs.last_mut() {
            *last = self.extend(*last, last_bits as u8, 64, signed);
        }
        let last = *limbs.last().ok_or("an integer without bits")?;
        let fill = match signed {
            Some(Signed) => self.bin_imm(BinOp::AShr, 64, last, 63),
            None => self.number(64, 0),
        };
        Ok((limbs, fill))
    }

    fn extend(&mut self, a: Reg, from: u8, to: u8, signed: Option<Signed>) -> Reg {
        match signed {
            Some(Signed) if from < to => self.define(to, |dst| Inst::Cast { op: CastOp::SExt, from, to, dst, a }),
            _ => self.resize(a, from, to),
        }
    }
}

/// Marks a value whose sign continues upwards.
#[derive(Clone, Copy)]
struct Signed;
