//! Instructions other than calls, terminators and those about memory. Vector operations are made lane by lane.

use std::rc::Rc;

use ir::{BinOp, CastOp, CmpOp, FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind, FloatMathOp, Inst, Move, Reg};

use super::body::{Body, Regs, Unsupported, is_dead_extension};
use super::memory::is_folded_index;
use super::shape::{Scalar, ScalarKind};
use super::wide::is_wide;
use crate::llvm::{Opcode, RealPredicate, TypeKind, Value, ValueKind};

impl Body<'_, '_> {
    pub(super) fn instruction(&mut self, inst: Value) -> Result<(), Unsupported> {
        let opcode = inst.opcode();
        self.tell_uses(inst, opcode)?;
        match opcode {
            // Their registers are filled on the edges.
            Opcode::LLVMPHI => Ok(()),
            Opcode::LLVMICmp if self.is_fused_compare(inst) => Ok(()),
            Opcode::LLVMSelect if self.is_decision(inst) => self.decision(inst),
            Opcode::LLVMSExt if is_folded_index(inst) => Ok(()),
            Opcode::LLVMZExt if is_dead_extension(inst) => Ok(()),
            Opcode::LLVMAlloca => self.alloca(inst),
            Opcode::LLVMLoad => self.load(inst),
            Opcode::LLVMStore => self.store(inst),
            Opcode::LLVMFence => Ok(()),
            Opcode::LLVMAtomicRMW => self.read_modify_write(inst),
            Opcode::LLVMAtomicCmpXchg => self.compare_exchange(inst),
            Opcode::LLVMCall => self.call(inst),
            Opcode::LLVMExtractValue => self.extract_value(inst),
            Opcode::LLVMInsertValue => self.insert_value(inst),
            _ => {
                let regs = self.expression(inst, opcode)?;
                self.bind(inst, regs);
                Ok(())
            }
        }
    }

    /// Operations without effects, as an instruction or as a constant expression.
    pub(super) fn expression(&mut self, value: Value, opcode: Opcode) -> Result<Regs, Unsupported> {
        if is_wide(value) {
            return self.wide_expression(value, opcode);
        }
        if let Some(op) = integer_op(opcode) {
            return self.binary(value, op);
        }
        if let Some(op) = float_op(opcode) {
            return self.float_binary(value, op);
        }
        match opcode {
            Opcode::LLVMFNeg => self.float_negate(value),
            Opcode::LLVMICmp => self.compare(value),
            Opcode::LLVMFCmp => self.float_compare(value),
            Opcode::LLVMGetElementPtr => self.element_pointer(value),
            Opcode::LLVMTrunc | Opcode::LLVMZExt | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => {
                self.lanes(value, |body, a, from, to| Ok(body.resize(a, from.bits, to.bits)))
            }
            Opcode::LLVMSExt => self.lanes(value, |body, a, from, to| {
                let (from, to) = (from.bits, to.bits);
                Ok(body.define(to, |dst| Inst::Cast { op: CastOp::SExt, from, to, dst, a }))
            }),
            Opcode::LLVMFPTrunc | Opcode::LLVMFPExt => self.lanes(value, Self::float_resize),
            Opcode::LLVMFPToSI => {
                self.lanes(value, |body, a, from, to| body.float_to_int(FloatCastOp::ToSigned, a, from, to))
            }
            Opcode::LLVMFPToUI => {
                self.lanes(value, |body, a, from, to| body.float_to_int(FloatCastOp::ToUnsigned, a, from, to))
            }
            Opcode::LLVMSIToFP => {
                self.lanes(value, |body, a, from, to| body.int_to_float(FloatCastOp::FromSigned, a, from, to))
            }
            Opcode::LLVMUIToFP => {
                self.lanes(value, |body, a, from, to| body.int_to_float(FloatCastOp::FromUnsigned, a, from, to))
            }
            Opcode::LLVMBitCast => self.bit_cast(value),
            Opcode::LLVMAddrSpaceCast => self.operand(value.operand(0)),
            Opcode::LLVMFreeze => self.operand(value.operand(0)),
            Opcode::LLVMSelect => self.select(value),
            Opcode::LLVMExtractElement => self.extract_element(value),
            Opcode::LLVMInsertElement => self.insert_element(value),
            Opcode::LLVMShuffleVector => self.shuffle(value),
            Opcode::LLVMVAArg => Err("the instruction `va_arg`".to_string()),
            opcode => Err(format!("the instruction {opcode:?}")),
        }
    }

    /// Applies a one-operand operation to each lane.
    fn lanes(
        &mut self,
        value: Value,
        mut lane: impl FnMut(&mut Self, Reg, Scalar, Scalar) -> Result<Reg, Unsupported>,
    ) -> Result<Regs, Unsupported> {
        let operand = value.operand(0);
        let (from, to) = (self.shape(operand)?, self.shape(value)?);
        let regs = self.operand(operand)?;
        let lanes = regs.iter().zip(from.iter().zip(to.iter()));
        lanes.map(|(reg, (from, to))| lane(self, *reg, *from, *to)).collect()
    }

    /// Applies a two-operand operation of one type to each lane; `lane` gets the operands' scalar.
    pub(super) fn lane_pairs(
        &mut self,
        a: Value,
        b: Value,
        mut lane: impl FnMut(&mut Self, Reg, Reg, Scalar) -> Result<Reg, Unsupported>,
    ) -> Result<Regs, Unsupported> {
        let shape = self.shape(a)?;
        let (a, b) = (self.operand(a)?, self.operand(b)?);
        let lanes = a.iter().zip(b.iter()).zip(shape.iter());
        lanes.map(|((a, b), scalar)| lane(self, *a, *b, *scalar)).collect()
    }

    pub(super) fn bin(&mut self, op: BinOp, bits: u8, a: Reg, b: Reg) -> Reg {
        self.define(bits, |dst| Inst::Bin { op, bits, nsw: false, dst, a, b })
    }

    /// `imm` fits the width; beyond 64 bits the constant gets a register.
    pub(super) fn bin_imm(&mut self, op: BinOp, bits: u8, a: Reg, imm: u64) -> Reg {
        if bits > 64 {
            let b = self.number(bits, u128::from(imm));
            return self.bin(op, bits, a, b);
        }
        self.define(bits, |dst| Inst::BinImm { op, bits, nsw: false, dst, a, imm })
    }

    pub(super) fn cmp(&mut self, op: CmpOp, bits: u8, a: Reg, b: Reg) -> Reg {
        self.define(1, |dst| Inst::Cmp { op, bits, dst, a, b })
    }

    pub(super) fn pick(&mut self, bits: u8, cond: Reg, a: Reg, b: Reg) -> Reg {
        self.define(bits, |dst| Inst::Select { bits, dst, cond, a, b })
    }

    fn binary(&mut self, value: Value, op: BinOp) -> Result<Regs, Unsupported> {
        let is_flagged = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl);
        let nsw = is_flagged && value.kind() == ValueKind::LLVMInstructionValueKind && value.is_nsw();
        let (mut a, mut b) = (value.operand(0), value.operand(1));
        let is_commutative = matches!(op, BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor);
        if is_commutative && self.immediate(a).is_some() {
            std::mem::swap(&mut a, &mut b);
        }
        if let Some(imm) = self.immediate(b) {
            let bits = self.scalar_type(a)?.bits;
            let a = self.scalar(a)?;
            return Ok(Rc::from([self.define(bits, |dst| Inst::BinImm { op, bits, nsw, dst, a, imm })]));
        }
        self.lane_pairs(a, b, |body, a, b, scalar| {
            let bits = scalar.bits;
            Ok(body.define(bits, |dst| Inst::Bin { op, bits, nsw, dst, a, b }))
        })
    }

    fn float_binary(&mut self, value: Value, op: FloatBinOp) -> Result<Regs, Unsupported> {
        self.lane_pairs(value.operand(0), value.operand(1), |body, a, b, scalar| {
            let kind = float_kind(scalar)?;
            Ok(body.define(scalar.bits, |dst| Inst::FloatBin { op, kind, dst, a, b }))
        })
    }

    fn float_negate(&mut self, value: Value) -> Result<Regs, Unsupported> {
        self.lanes(value, |body, a, from, _| {
            let kind = float_kind(from)?;
            Ok(body.float_math(FloatMathOp::Neg, kind, a, a, a))
        })
    }

    pub(super) fn float_math(&mut self, op: FloatMathOp, kind: FloatKind, a: Reg, b: Reg, c: Reg) -> Reg {
        self.define(kind.bits(), |dst| Inst::FloatMath { op, kind, dst, a, b, c })
    }

    fn compare(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let (op, a, b) = self.ordered_compare(value);
        if let Some(imm) = self.immediate(b) {
            let bits = self.scalar_type(a)?.bits;
            let a = self.scalar(a)?;
            return Ok(Rc::from([self.define(1, |dst| Inst::CmpImm { op, bits, dst, a, imm })]));
        }
        self.lane_pairs(a, b, |body, a, b, scalar| Ok(body.cmp(op, scalar.bits, a, b)))
    }

    fn float_compare(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let op = float_compare_op(value.real_predicate());
        self.lane_pairs(value.operand(0), value.operand(1), |body, a, b, scalar| {
            let kind = float_kind(scalar)?;
            Ok(body.define(1, |dst| Inst::FloatCmp { op, kind, dst, a, b }))
        })
    }

    fn float_resize(&mut self, a: Reg, from: Scalar, to: Scalar) -> Result<Reg, Unsupported> {
        let (a, from) = match from.kind {
            // A bfloat is the upper half of a single.
            ScalarKind::BFloat => {
                let wide = self.resize(a, 16, 32);
                let single = Scalar { bits: 32, kind: ScalarKind::Float(FloatKind::Single), offset: from.offset };
                (self.bin_imm(BinOp::Shl, 32, wide, 16), single)
            }
            _ => (a, from),
        };
        let (kind, to_kind) = (float_kind(from)?, float_kind(to)?);
        if kind == to_kind {
            return Ok(a);
        }
        let (op, from, to) = (FloatCastOp::Resize, from.bits, to.bits);
        Ok(self.define(to, |dst| Inst::FloatCast { op, from, to, kind, to_kind, dst, a }))
    }

    pub(super) fn float_to_int(
        &mut self,
        op: FloatCastOp,
        a: Reg,
        from: Scalar,
        to: Scalar,
    ) -> Result<Reg, Unsupported> {
        let kind = float_kind(from)?;
        let (from, to) = (from.bits, to.bits);
        Ok(self.define(to, |dst| Inst::FloatCast { op, from, to, kind, to_kind: kind, dst, a }))
    }

    fn int_to_float(&mut self, op: FloatCastOp, a: Reg, from: Scalar, to: Scalar) -> Result<Reg, Unsupported> {
        let kind = float_kind(to)?;
        let (from, to) = (from.bits, to.bits);
        Ok(self.define(to, |dst| Inst::FloatCast { op, from, to, kind, to_kind: kind, dst, a }))
    }

    fn decision(&mut self, inst: Value) -> Result<(), Unsupported> {
        let shape = self.shape(inst)?;
        let (a, b) = (self.operand(inst.operand(1))?, self.operand(inst.operand(2))?);
        let regs = self.fresh_all(&shape);
        let moves = |from: &Regs| {
            let copies = regs.iter().zip(from.iter()).zip(shape.iter());
            copies.map(|((dst, src), scalar)| Move { dst: *dst, src: *src, bits: scalar.bits }).collect()
        };
        self.decide(inst.operand(0), moves(&a), moves(&b))?;
        self.bind(inst, regs);
        Ok(())
    }

    pub(super) fn select(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let shape = self.shape(value)?;
        let cond = self.operand(value.operand(0))?;
        let (a, b) = (self.operand(value.operand(1))?, self.operand(value.operand(2))?);
        let lanes = a.iter().zip(b.iter()).zip(shape.iter()).enumerate();
        Ok(lanes
            .map(|(lane, ((a, b), scalar))| {
                let cond = if cond.len() == 1 { cond[0] } else { cond[lane] };
                self.pick(scalar.bits, cond, *a, *b)
            })
            .collect())
    }

    // Casts between shapes.

    fn bit_cast(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let operand = value.operand(0);
        let (from, to) = (self.shape(operand)?, self.shape(value)?);
        let regs = self.operand(operand)?;
        if from.iter().map(|scalar| scalar.bits).eq(to.iter().map(|scalar| scalar.bits)) {
            return Ok(regs);
        }
        let unsupported = || format!("a cast from `{}` to `{}`", operand.ty().print(), value.ty().print());
        let (Some(wide), Some(narrow)) = (from.first(), to.first()) else { return Err(unsupported()) };
        let (wide, narrow) = (wide.bits, narrow.bits);
        if wide % narrow == 0 {
            return Ok(regs.iter().flat_map(|reg| self.split(*reg, wide, narrow)).collect());
        }
        if narrow % wide == 0 {
            let group = usize::from(narrow / wide);
            return Ok(regs.chunks(group).map(|regs| self.join(regs, wide, narrow)).collect());
        }
        let total = from.len() * usize::from(wide);
        if total > 128 {
            return Err(unsupported());
        }
        let all = self.join(&regs, wide, total as u8);
        Ok(self.split(all, total as u8, narrow).into())
    }

    /// Cuts a register into lanes, the lowest first.
    pub(super) fn split(&mut self, reg: Reg, bits: u8, lane_bits: u8) -> Vec<Reg> {
        let lanes = 0..bits / lane_bits;
        lanes
            .map(|lane| {
                let shifted = match lane {
                    0 => reg,
                    _ => self.bin_imm(BinOp::LShr, bits, reg, u64::from(lane) * u64::from(lane_bits)),
                };
                self.resize(shifted, bits, lane_bits)
            })
            .collect()
    }

    /// Puts lanes into one register, the first lowest.
    pub(super) fn join(&mut self, lanes: &[Reg], lane_bits: u8, bits: u8) -> Reg {
        let mut all = self.resize(lanes[0], lane_bits, bits);
        for (lane, reg) in lanes.iter().enumerate().skip(1) {
            let wide = self.resize(*reg, lane_bits, bits);
            let shifted = self.bin_imm(BinOp::Shl, bits, wide, lane as u64 * u64::from(lane_bits));
            all = self.bin(BinOp::Or, bits, all, shifted);
        }
        all
    }

    // Aggregates and vectors: mostly renames.

    /// First scalar and number of scalars of the element that `indices` select.
    fn element_range(&mut self, aggregate: Value, indices: &[u32]) -> Result<(usize, usize), Unsupported> {
        let mut ty = aggregate.ty();
        let mut start = 0;
        for index in indices {
            let is_struct = ty.kind() == TypeKind::LLVMStructTypeKind;
            if is_struct {
                for field in 0..*index {
                    start += self.module.shapes.of(ty.field(field))?.len();
                }
                ty = ty.field(*index);
            } else {
                ty = ty.element();
                start += self.module.shapes.of(ty)?.len() * *index as usize;
            }
        }
        Ok((start, self.module.shapes.of(ty)?.len()))
    }

    fn extract_value(&mut self, inst: Value) -> Result<(), Unsupported> {
        let aggregate = inst.operand(0);
        let (start, n) = self.element_range(aggregate, &inst.indices())?;
        let regs = self.operand(aggregate)?;
        self.bind(inst, regs[start..start + n].into());
        Ok(())
    }

    fn insert_value(&mut self, inst: Value) -> Result<(), Unsupported> {
        let aggregate = inst.operand(0);
        let (start, n) = self.element_range(aggregate, &inst.indices())?;
        let mut regs = self.operand(aggregate)?.to_vec();
        let element = self.operand(inst.operand(1))?;
        regs[start..start + n].copy_from_slice(&element);
        self.bind(inst, regs.into());
        Ok(())
    }

    fn extract_element(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let (vector, index) = (value.operand(0), value.operand(1));
        let lanes = self.operand(vector)?;
        if let Some(lane) = self.immediate(index) {
            let bits = self.scalar_type(value)?.bits;
            let reg = lanes.get(lane as usize).copied();
            return Ok(Rc::from([reg.unwrap_or_else(|| self.undefined(bits))]));
        }
        let bits = self.scalar_type(value)?.bits;
        let index_bits = self.scalar_type(index)?.bits;
        let index = self.scalar(index)?;
        let mut result = lanes[0];
        for (lane, reg) in lanes.iter().enumerate().skip(1) {
            let cond = self.is_lane(index, index_bits, lane);
            result = self.pick(bits, cond, *reg, result);
        }
        Ok(Rc::from([result]))
    }

    fn is_lane(&mut self, index: Reg, bits: u8, lane: usize) -> Reg {
        self.define(1, |dst| Inst::CmpImm { op: CmpOp::Eq, bits, dst, a: index, imm: lane as u64 })
    }

    fn insert_element(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let (vector, element, index) = (value.operand(0), value.operand(1), value.operand(2));
        let mut lanes = self.operand(vector)?.to_vec();
        let bits = self.scalar_type(element)?.bits;
        let element = self.scalar(element)?;
        if let Some(lane) = self.immediate(index) {
            if let Some(reg) = lanes.get_mut(lane as usize) {
                *reg = element;
            }
            return Ok(lanes.into());
        }
        let index_bits = self.scalar_type(index)?.bits;
        let index = self.scalar(index)?;
        let lanes = lanes.into_iter().enumerate().map(|(lane, reg)| {
            let cond = self.is_lane(index, index_bits, lane);
            self.pick(bits, cond, element, reg)
        });
        Ok(lanes.collect())
    }

    fn shuffle(&mut self, value: Value) -> Result<Regs, Unsupported> {
        let bits = self.shape(value)?.first().map_or(1, |scalar| scalar.bits);
        let (a, b) = (self.operand(value.operand(0))?, self.operand(value.operand(1))?);
        let source: Vec<Reg> = a.iter().chain(b.iter()).copied().collect();
        let lanes = value.shuffle_mask().into_iter();
        Ok(lanes
            .map(|lane| match lane {
                Some(lane) => source[lane as usize],
                None => self.undefined(bits),
            })
            .collect())
    }
}

pub(super) fn float_kind(scalar: Scalar) -> Result<FloatKind, Unsupported> {
    scalar.float().ok_or_else(|| match scalar.kind {
        ScalarKind::BFloat => "arithmetic on `__bf16`".to_string(),
        _ => "floating-point arithmetic on another type".to_string(),
    })
}

fn integer_op(opcode: Opcode) -> Option<BinOp> {
    Some(match opcode {
        Opcode::LLVMAdd => BinOp::Add,
        Opcode::LLVMSub => BinOp::Sub,
        Opcode::LLVMMul => BinOp::Mul,
        Opcode::LLVMUDiv => BinOp::UDiv,
        Opcode::LLVMSDiv => BinOp::SDiv,
        Opcode::LLVMURem => BinOp::URem,
        Opcode::LLVMSRem => BinOp::SRem,
        Opcode::LLVMAnd => BinOp::And,
        Opcode::LLVMOr => BinOp::Or,
        Opcode::LLVMXor => BinOp::Xor,
        Opcode::LLVMShl => BinOp::Shl,
        Opcode::LLVMLShr => BinOp::LShr,
        Opcode::LLVMAShr => BinOp::AShr,
        _ => return None,
    })
}

fn float_op(opcode: Opcode) -> Option<FloatBinOp> {
    Some(match opcode {
        Opcode::LLVMFAdd => FloatBinOp::Add,
        Opcode::LLVMFSub => FloatBinOp::Sub,
        Opcode::LLVMFMul => FloatBinOp::Mul,
        Opcode::LLVMFDiv => FloatBinOp::Div,
        Opcode::LLVMFRem => FloatBinOp::Rem,
        _ => return None,
    })
}

fn float_compare_op(predicate: RealPredicate) -> FloatCmpOp {
    match predicate {
        RealPredicate::LLVMRealPredicateFalse => FloatCmpOp::False,
        RealPredicate::LLVMRealOEQ => FloatCmpOp::Oeq,
        RealPredicate::LLVMRealOGT => FloatCmpOp::Ogt,
        RealPredicate::LLVMRealOGE => FloatCmpOp::Oge,
        RealPredicate::LLVMRealOLT => FloatCmpOp::Olt,
        RealPredicate::LLVMRealOLE => FloatCmpOp::Ole,
        RealPredicate::LLVMRealONE => FloatCmpOp::One,
        RealPredicate::LLVMRealORD => FloatCmpOp::Ord,
        RealPredicate::LLVMRealUNO => FloatCmpOp::Uno,
        RealPredicate::LLVMRealUEQ => FloatCmpOp::Ueq,
        RealPredicate::LLVMRealUGT => FloatCmpOp::Ugt,
        RealPredicate::LLVMRealUGE => FloatCmpOp::Uge,
        RealPredicate::LLVMRealULT => FloatCmpOp::Ult,
        RealPredicate::LLVMRealULE => FloatCmpOp::Ule,
        RealPredicate::LLVMRealUNE => FloatCmpOp::Une,
        RealPredicate::LLVMRealPredicateTrue => FloatCmpOp::True,
    }
}
