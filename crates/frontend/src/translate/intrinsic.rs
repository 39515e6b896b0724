//! Calls: functions, LLVM's intrinsics and inline assembly.

use std::rc::Rc;

use ir::{
    Arg, BinOp, BitOp, ByVal, Call, Callee, CmpOp, FloatBinOp, FloatCastOp, FloatCmpOp, FloatMathOp, Inst, Intrinsic,
    OverflowOp, Reg,
};

use super::body::{Body, Regs, Unsupported};
use super::instruction::float_kind;
use super::shape::{Scalar, ScalarKind};
use crate::lifetime::{begun, ended, revived};
use crate::llvm::{Linkage, Opcode, TypeKind, Value, ValueKind};

impl Body<'_, '_> {
    pub(super) fn call(&mut self, inst: Value) -> Result<(), Unsupported> {
        let callee = self.stripped(inst.called_value());
        match callee.kind() {
            ValueKind::LLVMInlineAsmValueKind => self.assembly(inst, callee),
            ValueKind::LLVMFunctionValueKind => {
                let name = callee.name();
                if let Some(name) = name.strip_prefix("llvm.") {
                    return self.intrinsic(inst, name);
                }
                let is_absent = callee.is_declaration() && callee.linkage() == Linkage::LLVMExternalWeakLinkage;
                if is_absent {
                    let null = self.number(self.pointer_bits(), 0);
                    return self.plain_call(inst, Callee::Indirect(null));
                }
                let func = self.module.function_id(callee);
                self.plain_call(inst, Callee::Function(func))
            }
            _ => {
                let target = self.scalar(callee)?;
                self.plain_call(inst, Callee::Indirect(target))
            }
        }
    }

    /// The function behind aliases that name it as it is.
    fn stripped(&mut self, callee: Value) -> Value {
        let mut callee = callee;
        while callee.kind() == ValueKind::LLVMGlobalAliasValueKind {
            callee = callee.aliasee();
        }
        callee
    }

    /// Asks the resolver at every use: it is a pure function, and start-up order is not our concern.
    pub(super) fn resolved_ifunc(&mut self, ifunc: Value) -> Result<Reg, Unsupported> {
        let resolver = self.stripped(ifunc.ifunc_resolver());
        if resolver.kind() != ValueKind::LLVMFunctionValueKind {
            return Err(format!("the indirect function `{}`", ifunc.name()));
        }
        let callee = Callee::Function(self.module.function_id(resolver));
        let bits = self.pointer_bits();
        let reg = self.fresh(bits);
        let results = vec![(reg, bits)];
        self.emit_call(Call { callee, args: Vec::new(), results, n_fixed: u32::MAX, result_used: true });
        Ok(reg)
    }

    fn plain_call(&mut self, inst: Value, callee: Callee) -> Result<(), Unsupported> {
        let ty = inst.called_type();
        let n_params = ty.params().len() as u32;
        let mut args = Vec::new();
        let mut n_fixed = u32::MAX;
        for arg in 0..inst.n_args() {
            if ty.is_variadic() && arg == n_params {
                n_fixed = args.len() as u32;
            }
            let is_variadic = arg >= n_params;
            self.push_args(inst, arg, is_variadic.then_some(Variadic), &mut args)?;
        }
        if ty.is_variadic() && n_fixed == u32::MAX {
            n_fixed = args.len() as u32;
        }
        self.finish_call(inst, callee, args, n_fixed)
    }

    pub(super) fn finish_call(
        &mut self,
        inst: Value,
        callee: Callee,
        args: Vec<Arg>,
        n_fixed: u32,
    ) -> Result<(), Unsupported> {
        let shape = self.shape(inst)?;
        let regs = self.fresh_all(&shape);
        let results = regs.iter().zip(shape.iter()).map(|(reg, scalar)| (*reg, scalar.bits)).collect();
        self.emit_call(Call { callee, args, results, n_fixed, result_used: inst.is_used() });
        self.bind(inst, regs);
        Ok(())
    }

    fn push_args(
        &mut self,
        inst: Value,
        arg: u32,
        variadic: Option<Variadic>,
        args: &mut Vec<Arg>,
    ) -> Result<(), Unsupported> {
        let value = inst.operand(arg);
        let shape = self.shape(value)?;
        let regs = self.operand(value)?;
        let is_vector = value.ty().kind() == TypeKind::LLVMVectorTypeKind;
        if let (Some(Variadic), true, Some(lane)) = (variadic, is_vector, shape.first()) {
            // The callee finds a vector in one piece in its argument area.
            let total = usize::from(lane.bits) * shape.len();
            let bits = u8::try_from(total).ok().filter(|bits| *bits <= 128);
            let bits = bits.ok_or_else(|| format!("`{}` as a variadic argument", value.ty().print()))?;
            let reg = self.join(&regs, lane.bits, bits);
            args.push(Arg { reg, bits, byval: None, float: None });
            return Ok(());
        }
        let attributes = (self.module.attributes.byval, self.module.attributes.align);
        let byval = inst.arg_type_attribute(arg, attributes.0).map(|ty| ByVal {
            bytes: self.module.type_bytes(ty),
            align: inst.arg_int_attribute(arg, attributes.1).unwrap_or(u64::from(self.pointer_bits() / 8)) as u32,
        });
        for (reg, scalar) in regs.iter().zip(shape.iter()) {
            args.push(Arg { reg: *reg, bits: scalar.bits, byval, float: scalar.float() });
        }
        Ok(())
    }

    /// Passes the first `n_args` arguments on to one of our intrinsics.
    fn own_intrinsic(&mut self, inst: Value, intrinsic: Intrinsic, n_args: u32) -> Result<(), Unsupported> {
        let mut args = Vec::new();
        for arg in 0..n_args {
            self.push_args(inst, arg, None, &mut args)?;
        }
        self.finish_call(inst, Callee::Intrinsic(intrinsic), args, u32::MAX)
    }

    fn intrinsic(&mut self, inst: Value, name: &str) -> Result<(), Unsupported> {
        if let Some(op) = lookup(OVERFLOW_OPS, name) {
            return self.overflow(inst, op);
        }
        if let Some((op, n_operands)) = lookup(BIT_OPS, name) {
            return self.bit_op(inst, op, n_operands);
        }
        if let Some((op, n_operands)) = lookup(FLOAT_OPS, name) {
            return self.float_op(inst, op, n_operands);
        }
        if let Some(variable) = begun(inst).filter(|_| self.may_come_again(inst.parent_block())) {
            return self.mark(inst, variable, Intrinsic::Begin);
        }
        if let Some(variable) = revived(inst).filter(|_| self.may_come_again(inst.parent_block())) {
            return self.mark(inst, variable, Intrinsic::Revive);
        }
        if let Some(variable) = ended(inst) {
            return self.mark(inst, variable, Intrinsic::End);
        }
        if is_listed(IGNORED, name) {
            return self.ignored(inst);
        }
        if is_listed(COPIES, name) {
            let regs = self.operand(inst.operand(0))?;
            self.bind(inst, regs);
            return Ok(());
        }
        if let Some(rest) = name.strip_prefix("experimental.constrained.") {
            return self.constrained(inst, rest);
        }
        if let Some(rest) = name.strip_prefix("vector.reduce.") {
            return self.reduce(inst, rest);
        }
        match base_name(name) {
            "memcpy" | "memcpy.inline" => self.own_intrinsic(inst, Intrinsic::MemCpy, 3),
            "memmove" => self.own_intrinsic(inst, Intrinsic::MemMove, 3),
            "memset" | "memset.inline" => self.own_intrinsic(inst, Intrinsic::MemSet, 3),
            "va_start" => self.own_intrinsic(inst, Intrinsic::VaStart, 1),
            "va_end" => self.own_intrinsic(inst, Intrinsic::VaEnd, 1),
            "va_copy" => self.own_intrinsic(inst, Intrinsic::VaCopy, 2),
            "stacksave" => self.own_intrinsic(inst, Intrinsic::StackSave, 0),
            "stackrestore" => self.own_intrinsic(inst, Intrinsic::StackRestore, 1),
            "trap" | "debugtrap" => self.own_intrinsic(inst, Intrinsic::Trap, 0),
            "ubsantrap" => self.fault(inst),
            // Asked for the least size, zero is always right.
            "objectsize" if self.immediate(inst.operand(1)) == Some(1) => self.known(inst, 0),
            "objectsize" => self.own_intrinsic(inst, Intrinsic::ObjectSize, 2),
            "frameaddress" => self.own_intrinsic(inst, Intrinsic::FrameAddress, 0),
            "returnaddress" => self.own_intrinsic(inst, Intrinsic::ReturnAddress, 0),
            "threadlocal.address" => self.own_intrinsic(inst, Intrinsic::ThreadLocal, 1),
            "is.constant" => self.known(inst, 0),
            "allow.runtime.check" | "allow.ubsan.check" => self.known(inst, 1),
            // Round to nearest.
            "get.rounding" | "flt.rounds" => self.known(inst, 1),
            "fshl" => self.funnel(inst, |bits, dst, hi, lo, amount| Inst::FunnelShl { bits, dst, hi, lo, amount }),
            "fshr" => self.funnel(inst, |bits, dst, hi, lo, amount| Inst::FunnelShr { bits, dst, hi, lo, amount }),
            "eh.sjlj.setjmp" => self.own_intrinsic(inst, Intrinsic::SetJump, 1),
            "eh.sjlj.longjmp" => self.own_intrinsic(inst, Intrinsic::LongJump, 1),
            "x86.rdtsc" | "readcyclecounter" => self.own_intrinsic(inst, Intrinsic::TimeStamp, 0),
            "ptrmask" => self.pointer_mask(inst),
            "is.fpclass" => self.float_class(inst),
            "lrint" | "llrint" => self.round_to_int(inst, FloatMathOp::Rint),
            "lround" | "llround" => self.round_to_int(inst, FloatMathOp::Round),
            _ => Err(format!("the compiler intrinsic `llvm.{name}`")),
        }
    }

    /// A variable in memory is declared where control may have been before, or its block ends.
    fn mark(&mut self, inst: Value, variable: Value, mark: Intrinsic) -> Result<(), Unsupported> {
        let Some(bytes) = self.local_bytes(variable) else { return self.ignored(inst) };
        let pointer_bits = self.pointer_bits();
        let reg = self.scalar(variable)?;
        let len = self.number(pointer_bits, u128::from(bytes));
        let arg = |reg: Reg| Arg { reg, bits: pointer_bits, byval: None, float: None };
        let callee = Callee::Intrinsic(mark);
        let args = vec![arg(reg), arg(len)];
        self.emit_call(Call { callee, args, results: Vec::new(), n_fixed: u32::MAX, result_used: false });
        Ok(())
    }

    fn local_bytes(&mut self, variable: Value) -> Option<u64> {
        let count = self.immediate(variable.operand(0))?;
        Some(self.module.type_bytes(variable.allocated_type()).saturating_mul(count))
    }

    /// Nothing to do; a result, where there is one, is zero.
    fn ignored(&mut self, inst: Value) -> Result<(), Unsupported> {
        let shape = self.shape(inst)?;
        let regs: Regs = shape.iter().map(|scalar| self.number(scalar.bits, 0)).collect();
        self.bind(inst, regs);
        Ok(())
    }

    fn known(&mut self, inst: Value, value: u128) -> Result<(), Unsupported> {
        let bits = self.scalar_type(inst)?.bits;
        let reg = self.number(bits, value);
        self.bind_one(inst, reg);
        Ok(())
    }

    /// The result is all lanes followed by all flags.
    fn overflow(&mut self, inst: Value, op: OverflowOp) -> Result<(), Unsupported> {
        let shape = self.shape(inst.operand(0))?;
        let (a, b) = (self.operand(inst.operand(0))?, self.operand(inst.operand(1))?);
        let (mut values, mut flags) = (Vec::new(), Vec::new());
        for ((a, b), scalar) in a.iter().zip(b.iter()).zip(shape.iter()) {
            let bits = scalar.bits;
            let (dst, flag) = (self.fresh(bits), self.fresh(1));
            self.emit(Inst::Overflow { op, bits, dst, flag, a: *a, b: *b });
            values.push(dst);
            flags.push(flag);
        }
        values.append(&mut flags);
        self.bind(inst, values.into());
        Ok(())
    }

    fn bit_op(&mut self, inst: Value, op: BitOp, n_operands: u32) -> Result<(), Unsupported> {
        let second = inst.operand(if n_operands == 2 { 1 } else { 0 });
        let regs = self.lane_pairs(inst.operand(0), second, |body, a, b, scalar| {
            let bits = scalar.bits;
            Ok(body.define(bits, |dst| Inst::BitOp { op, bits, dst, a, b }))
        })?;
        self.bind(inst, regs);
        Ok(())
    }

    fn float_op(&mut self, inst: Value, op: FloatMathOp, n_operands: u32) -> Result<(), Unsupported> {
        let shape = self.shape(inst)?;
        let mut operands = Vec::new();
        for operand in 0..3 {
            let used = if operand < n_operands { operand } else { 0 };
            operands.push(self.operand(inst.operand(used))?);
        }
        let mut regs = Vec::new();
        for (lane, scalar) in shape.iter().enumerate() {
            let kind = float_kind(*scalar)?;
            regs.push(self.float_math(op, kind, operands[0][lane], operands[1][lane], operands[2][lane]));
        }
        self.bind(inst, regs.into());
        Ok(())
    }

    /// Floating-point operations of code that looks at rounding modes or exceptions; we always round to nearest.
    fn constrained(&mut self, inst: Value, name: &str) -> Result<(), Unsupported> {
        if let Some((op, n_operands)) = lookup(FLOAT_OPS, name) {
            return self.float_op(inst, op, n_operands);
        }
        let opcode = match base_name(name) {
            "fadd" => Opcode::LLVMFAdd,
            "fsub" => Opcode::LLVMFSub,
            "fmul" => Opcode::LLVMFMul,
            "fdiv" => Opcode::LLVMFDiv,
            "frem" => Opcode::LLVMFRem,
            "fptosi" => Opcode::LLVMFPToSI,
            "fptoui" => Opcode::LLVMFPToUI,
            "sitofp" => Opcode::LLVMSIToFP,
            "uitofp" => Opcode::LLVMUIToFP,
            "fptrunc" => Opcode::LLVMFPTrunc,
            "fpext" => Opcode::LLVMFPExt,
            "fcmp" | "fcmps" => return self.constrained_compare(inst),
            _ => return Err(format!("the compiler intrinsic `llvm.experimental.constrained.{name}`")),
        };
        let regs = self.expression(inst, opcode)?;
        self.bind(inst, regs);
        Ok(())
    }

    fn constrained_compare(&mut self, inst: Value) -> Result<(), Unsupported> {
        let predicate = self.module.context.meta_string(inst.operand(2).as_meta());
        let op = COMPARISONS.iter().find(|(name, _)| *name == predicate).map(|(_, op)| *op);
        let op = op.ok_or_else(|| format!("the comparison `{predicate}`"))?;
        let regs = self.lane_pairs(inst.operand(0), inst.operand(1), |body, a, b, scalar| {
            let kind = float_kind(scalar)?;
            Ok(body.define(1, |dst| Inst::FloatCmp { op, kind, dst, a, b }))
        })?;
        self.bind(inst, regs);
        Ok(())
    }

    fn funnel(&mut self, inst: Value, make: impl Fn(u8, Reg, Reg, Reg, Reg) -> Inst) -> Result<(), Unsupported> {
        let shape = self.shape(inst)?;
        let (hi, lo) = (self.operand(inst.operand(0))?, self.operand(inst.operand(1))?);
        let amount = self.operand(inst.operand(2))?;
        let mut regs = Vec::new();
        for (lane, scalar) in shape.iter().enumerate() {
            let bits = scalar.bits;
            regs.push(self.define(bits, |dst| make(bits, dst, hi[lane], lo[lane], amount[lane])));
        }
        self.bind(inst, regs.into());
        Ok(())
    }

    fn pointer_mask(&mut self, inst: Value) -> Result<(), Unsupported> {
        let (a, b) = (self.scalar(inst.operand(0))?, self.scalar(inst.operand(1))?);
        let reg = self.bin(BinOp::And, self.pointer_bits(), a, b);
        self.bind_one(inst, reg);
        Ok(())
    }

    fn round_to_int(&mut self, inst: Value, op: FloatMathOp) -> Result<(), Unsupported> {
        let (from, to) = (self.scalar_type(inst.operand(0))?, self.scalar_type(inst)?);
        let kind = float_kind(from)?;
        let a = self.scalar(inst.operand(0))?;
        let rounded = self.float_math(op, kind, a, a, a);
        let reg = self.float_to_int(FloatCastOp::ToSigned, rounded, from, to)?;
        self.bind_one(inst, reg);
        Ok(())
    }

    /// Folds the lanes of a vector from the first to the last; `fadd` and `fmul` start from their first operand.
    fn reduce(&mut self, inst: Value, name: &str) -> Result<(), Unsupported> {
        let op = base_name(name);
        let has_start = matches!(op, "fadd" | "fmul");
        let vector = inst.operand(u32::from(has_start));
        let scalar = self.scalar_type(inst)?;
        let lanes = self.operand(vector)?;
        let mut rest = lanes.iter().copied();
        let start = if has_start { Some(self.scalar(inst.operand(0))?) } else { rest.next() };
        let mut result = start.ok_or("a reduction of an empty vector")?;
        for lane in rest {
            result = self.reduce_step(op, scalar, result, lane)?;
        }
        self.bind_one(inst, result);
        Ok(())
    }

    fn reduce_step(&mut self, op: &str, scalar: Scalar, a: Reg, b: Reg) -> Result<Reg, Unsupported> {
        let bits = scalar.bits;
        let integer =
            [("add", BinOp::Add), ("mul", BinOp::Mul), ("and", BinOp::And), ("or", BinOp::Or), ("xor", BinOp::Xor)];
        if let Some((_, op)) = integer.iter().find(|(name, _)| *name == op) {
            return Ok(self.bin(*op, bits, a, b));
        }
        let ordered = [("smax", BitOp::SMax), ("smin", BitOp::SMin), ("umax", BitOp::UMax), ("umin", BitOp::UMin)];
        if let Some((_, op)) = ordered.iter().find(|(name, _)| *name == op) {
            let op = *op;
            return Ok(self.define(bits, |dst| Inst::BitOp { op, bits, dst, a, b }));
        }
        let kind = float_kind(scalar)?;
        match op {
            "fadd" => Ok(self.define(bits, |dst| Inst::FloatBin { op: FloatBinOp::Add, kind, dst, a, b })),
            "fmul" => Ok(self.define(bits, |dst| Inst::FloatBin { op: FloatBinOp::Mul, kind, dst, a, b })),
            "fmax" => Ok(self.float_math(FloatMathOp::MaxNum, kind, a, b, a)),
            "fmin" => Ok(self.float_math(FloatMathOp::MinNum, kind, a, b, a)),
            _ => Err(format!("the compiler intrinsic `llvm.vector.reduce.{op}`")),
        }
    }

    /// `isnan` and its relatives: each class is a range of the bit pattern without its sign.
    fn float_class(&mut self, inst: Value) -> Result<(), Unsupported> {
        /// Signalling and quiet.
        const NAN: u32 = 3;
        let classes = inst.operand(1).int_bits(32) as u32;
        let shape = self.shape(inst.operand(0))?;
        let values = self.operand(inst.operand(0))?;
        let mut regs = Vec::new();
        for (value, scalar) in values.iter().zip(shape.iter()) {
            if let (NAN, Some(kind)) = (classes, scalar.float()) {
                let a = *value;
                regs.push(self.define(1, |dst| Inst::FloatCmp { op: FloatCmpOp::Uno, kind, dst, a, b: a }));
                continue;
            }
            let layout = FloatLayout::of(*scalar)?;
            regs.push(self.is_in_classes(*value, layout, classes));
        }
        self.bind(inst, regs.into());
        Ok(())
    }

    fn is_in_classes(&mut self, value: Reg, layout: FloatLayout, classes: u32) -> Reg {
        let FloatLayout { bits, magnitude_mask, infinity, quiet, smallest_normal } = layout;
        let mask = self.number(bits, magnitude_mask);
        let magnitude = self.bin(BinOp::And, bits, value, mask);
        let is_negative = self.cmp(CmpOp::Ne, bits, magnitude, value);
        let is_positive = self.bin_imm(BinOp::Xor, 1, is_negative, 1);
        // Inclusive ranges of the magnitude with the class bits of their negative and positive halves.
        let ranges = [
            (infinity + 1, quiet - 1, 1 << 0, 1 << 0),
            (quiet, magnitude_mask, 1 << 1, 1 << 1),
            (infinity, infinity, 1 << 2, 1 << 9),
            (smallest_normal, infinity - 1, 1 << 3, 1 << 8),
            (1, smallest_normal - 1, 1 << 4, 1 << 7),
            (0, 0, 1 << 5, 1 << 6),
        ];
        let mut result = self.number(1, 0);
        for (low, high, negative, positive) in ranges {
            let wants = (classes & negative != 0, classes & positive != 0);
            if wants == (false, false) {
                continue;
            }
            let mut is_member = self.is_between(magnitude, bits, low, high);
            if wants == (true, false) {
                is_member = self.bin(BinOp::And, 1, is_member, is_negative);
            } else if wants == (false, true) {
                is_member = self.bin(BinOp::And, 1, is_member, is_positive);
            }
            result = self.bin(BinOp::Or, 1, result, is_member);
        }
        result
    }

    fn is_between(&mut self, value: Reg, bits: u8, low: u128, high: u128) -> Reg {
        let (low, high) = (self.number(bits, low), self.number(bits, high));
        let above = self.cmp(CmpOp::Uge, bits, value, low);
        let below = self.cmp(CmpOp::Ule, bits, value, high);
        self.bin(BinOp::And, 1, above, below)
    }

    /// Assembly without text only hides values from the compiler: outputs tied to inputs pass through. Questions to the
    /// processor are answered by the machine. Everything else is a gap.
    fn assembly(&mut self, inst: Value, assembly: Value) -> Result<(), Unsupported> {
        let (code, constraints) = assembly.assembly();
        if code.trim().is_empty() {
            return self.empty_assembly(inst, &constraints);
        }
        if asks_processor(&code) && !constraints.contains('*') {
            return self.finish_call(inst, Callee::Intrinsic(Intrinsic::CpuId), Vec::new(), u32::MAX);
        }
        if self.known_assembly(inst, &code, &constraints)?.is_some() {
            return Ok(());
        }
        let code = code.trim().replace(['\n', '\t'], " ");
        let shown: String = code.chars().take(60).collect();
        let dots = if shown.len() < code.len() { "..." } else { "" };
        Err(format!("inline assembly `{shown}{dots}`"))
    }

    fn empty_assembly(&mut self, inst: Value, constraints: &str) -> Result<(), Unsupported> {
        let constraints: Vec<&str> = constraints.split(',').filter(|text| !text.starts_with('~')).collect();
        let is_direct_output = |text: &str| text.starts_with('=') && !text.contains('*');
        let outputs = constraints.iter().filter(|text| is_direct_output(text)).count();
        // Every other constraint consumes an argument.
        let consumers: Vec<&str> = constraints.iter().copied().filter(|text| !is_direct_output(text)).collect();
        let mut sources: Vec<Option<Value>> = Vec::new();
        for (number, _) in constraints.iter().enumerate().filter(|(_, text)| is_direct_output(text)) {
            let tied = consumers.iter().position(|text| *text == number.to_string());
            sources.push(tied.map(|arg| inst.operand(arg as u32)));
        }
        let shape = self.shape(inst)?;
        if sources.len() != outputs || shape.len() != outputs {
            return Err("inline assembly with aggregate operands".to_string());
        }
        let mut regs = Vec::new();
        for (source, scalar) in sources.into_iter().zip(shape.iter()) {
            regs.push(match source {
                Some(value) => self.scalar(value)?,
                None => self.undefined(scalar.bits),
            });
        }
        self.bind(inst, Rc::from(regs));
        Ok(())
    }
}

/// Marks an argument that the callee's type does not name.
#[derive(Clone, Copy)]
struct Variadic;

/// Bit patterns of a floating-point format, sign apart.
#[derive(Clone, Copy)]
struct FloatLayout {
    bits: u8,
    magnitude_mask: u128,
    infinity: u128,
    /// The smallest quiet NaN.
    quiet: u128,
    smallest_normal: u128,
}

impl FloatLayout {
    fn of(scalar: Scalar) -> Result<FloatLayout, Unsupported> {
        // Stored fraction bits; x87 stores the leading one as well.
        let (fraction, leading) = match scalar.kind {
            ScalarKind::Float(ir::FloatKind::Half) => (10, 0),
            ScalarKind::BFloat => (7, 0),
            ScalarKind::Float(ir::FloatKind::Single) => (23, 0),
            ScalarKind::Float(ir::FloatKind::Double) => (52, 0),
            ScalarKind::Float(ir::FloatKind::Extended) => (63, 1),
            ScalarKind::Float(ir::FloatKind::Quad) => (112, 0),
            ScalarKind::Int | ScalarKind::Pointer => return Err("a class test of an integer".to_string()),
        };
        let bits = scalar.bits;
        let stored = fraction + leading;
        let exponent_bits = u32::from(bits) - 1 - stored;
        let one = u128::from(leading) << fraction;
        let infinity = (((1u128 << exponent_bits) - 1) << stored) | one;
        Ok(FloatLayout {
            bits,
            magnitude_mask: (1u128 << (bits - 1)) - 1,
            infinity,
            quiet: infinity | (1 << (fraction - 1)),
            smallest_normal: (1 << stored) | one,
        })
    }
}

/// Whether assembly is one question of what the processor can do, as in `<cpuid.h>`. The register that the answer shares
/// with position-independent code may be saved around it by exchanging it twice.
fn asks_processor(code: &str) -> bool {
    let lines: Vec<&str> = code.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_question = |line: &str| matches!(line, "cpuid" | "xgetbv");
    let saves = |line: &str| {
        let operands = line.strip_prefix("xchg").map(|rest| rest.trim_start_matches(['l', 'q']));
        operands.is_some_and(|operands| {
            let (first, second) = operands.trim().split_once(',').unwrap_or_default();
            matches!(first.trim(), "%rbx" | "%ebx") && second.trim().starts_with('$')
        })
    };
    match lines[..] {
        [question] => is_question(question),
        [before, question, after] => before == after && saves(before) && is_question(question),
        _ => false,
    }
}

/// `ctpop.i32` is the entry `ctpop`: what follows the base name is the overloaded types.
fn matches_base(base: &str, name: &str) -> bool {
    name.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn lookup<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(base, _)| matches_base(base, name)).map(|(_, entry)| *entry)
}

fn is_listed(list: &[&str], name: &str) -> bool {
    list.iter().any(|base| matches_base(base, name))
}

/// The name without the suffixes that spell overloaded types (`.p0`, `.i64`, `.v4i32`, `.f80`).
fn base_name(name: &str) -> &str {
    let is_type = |part: &str| {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let letters = &part[..part.len() - digits.len()];
        let known = ["p", "i", "f", "v", "nxv", "bf", "ppcf"].contains(&letters);
        known && digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut base = name;
    while let Some((rest, last)) = base.rsplit_once('.') {
        if !is_type(last) {
            break;
        }
        base = rest;
    }
    base
}

const COMPARISONS: &[(&str, FloatCmpOp)] = &[
    ("oeq", FloatCmpOp::Oeq),
    ("ogt", FloatCmpOp::Ogt),
    ("oge", FloatCmpOp::Oge),
    ("olt", FloatCmpOp::Olt),
    ("ole", FloatCmpOp::Ole),
    ("one", FloatCmpOp::One),
    ("ord", FloatCmpOp::Ord),
    ("uno", FloatCmpOp::Uno),
    ("ueq", FloatCmpOp::Ueq),
    ("ugt", FloatCmpOp::Ugt),
    ("uge", FloatCmpOp::Uge),
    ("ult", FloatCmpOp::Ult),
    ("ule", FloatCmpOp::Ule),
    ("une", FloatCmpOp::Une),
];

const OVERFLOW_OPS: &[(&str, OverflowOp)] = &[
    ("sadd.with.overflow", OverflowOp::SAdd),
    ("uadd.with.overflow", OverflowOp::UAdd),
    ("ssub.with.overflow", OverflowOp::SSub),
    ("usub.with.overflow", OverflowOp::USub),
    ("smul.with.overflow", OverflowOp::SMul),
    ("umul.with.overflow", OverflowOp::UMul),
];

/// With the number of operands that matter.
const BIT_OPS: &[(&str, (BitOp, u32))] = &[
    ("ctpop", (BitOp::PopCount, 1)),
    ("ctlz", (BitOp::LeadingZeros, 1)),
    ("cttz", (BitOp::TrailingZeros, 1)),
    ("bswap", (BitOp::ByteSwap, 1)),
    ("bitreverse", (BitOp::BitReverse, 1)),
    ("abs", (BitOp::Abs, 1)),
    ("smin", (BitOp::SMin, 2)),
    ("smax", (BitOp::SMax, 2)),
    ("umin", (BitOp::UMin, 2)),
    ("umax", (BitOp::UMax, 2)),
    ("uadd.sat", (BitOp::UAddSat, 2)),
    ("usub.sat", (BitOp::USubSat, 2)),
    ("sadd.sat", (BitOp::SAddSat, 2)),
    ("ssub.sat", (BitOp::SSubSat, 2)),
    ("ushl.sat", (BitOp::UShlSat, 2)),
    ("sshl.sat", (BitOp::SShlSat, 2)),
];

const FLOAT_OPS: &[(&str, (FloatMathOp, u32))] = &[
    ("fabs", (FloatMathOp::Abs, 1)),
    ("sqrt", (FloatMathOp::Sqrt, 1)),
    ("floor", (FloatMathOp::Floor, 1)),
    ("ceil", (FloatMathOp::Ceil, 1)),
    ("trunc", (FloatMathOp::Trunc, 1)),
    ("round", (FloatMathOp::Round, 1)),
    ("roundeven", (FloatMathOp::RoundEven, 1)),
    ("rint", (FloatMathOp::Rint, 1)),
    ("nearbyint", (FloatMathOp::NearbyInt, 1)),
    ("copysign", (FloatMathOp::CopySign, 2)),
    ("minnum", (FloatMathOp::MinNum, 2)),
    ("maxnum", (FloatMathOp::MaxNum, 2)),
    ("fma", (FloatMathOp::Fma, 3)),
    ("fmuladd", (FloatMathOp::MulAdd, 3)),
    ("sin", (FloatMathOp::Sin, 1)),
    ("cos", (FloatMathOp::Cos, 1)),
    ("tan", (FloatMathOp::Tan, 1)),
    ("exp", (FloatMathOp::Exp, 1)),
    ("exp2", (FloatMathOp::Exp2, 1)),
    ("log", (FloatMathOp::Log, 1)),
    ("log2", (FloatMathOp::Log2, 1)),
    ("log10", (FloatMathOp::Log10, 1)),
    ("pow", (FloatMathOp::Pow, 2)),
];

/// Hints and marks without meaning for one thread of execution.
const IGNORED: &[&str] = &[
    "dbg",
    "lifetime.start",
    "lifetime.end",
    "invariant.start",
    "invariant.end",
    "assume",
    "donothing",
    "sideeffect",
    "prefetch",
    "pseudoprobe",
    "var.annotation",
    "experimental.noalias.scope.decl",
    "clear_cache",
    "instrprof",
    "x86.sse2.pause",
    "x86.sse2.mfence",
    "x86.sse2.lfence",
    "x86.sse.sfence",
];

/// Intrinsics that give back their first operand.
const COPIES: &[&str] = &[
    "expect",
    "expect.with.probability",
    "launder.invariant.group",
    "strip.invariant.group",
    "ssa.copy",
    "annotation",
    "ptr.annotation",
    "canonicalize",
    "arithmetic.fence",
];
