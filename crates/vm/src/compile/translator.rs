//! One function as native code.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use ir::{
    BinOp, BlockId, CastOp, CmpOp, Edge, FloatBinOp, FloatCmpOp, FloatKind, FuncId, Function, Inst, Reg, Terminator,
};

use super::{ENTRY_OFFSET, EPOCH_OFFSET, FUEL_OFFSET, REGS_OFFSET, SLOT_BYTES};
use crate::image::Image;
use crate::tlb::{Tlb, site_of};

/// Writes the native code of one function.
pub(super) struct Translator<'a, 'f> {
    builder: FunctionBuilder<'f>,
    image: &'a Image,
    func: FuncId,
    function: &'a Function,
    seen: &'a [bool],
    tlb: &'a Tlb,
    pointer: Type,
    context: Value,
    regs: Value,
    epoch: Value,
    fuel: Variable,
    slots: Vec<Variable>,
    blocks: Vec<Block>,
    /// Takes the place to go on at.
    leave: Block,
}

impl<'a, 'f> Translator<'a, 'f> {
    pub(super) fn new(
        mut builder: FunctionBuilder<'f>,
        image: &'a Image,
        func: FuncId,
        seen: &'a [bool],
        tlb: &'a Tlb,
        pointer: Type,
    ) -> Translator<'a, 'f> {
        let function = image.module.function(func);
        let start = builder.create_block();
        builder.append_block_params_for_function_params(start);
        builder.switch_to_block(start);
        let context = builder.block_params(start)[0];
        let trusted = MemFlagsData::trusted();
        let regs = builder.ins().load(pointer, trusted, context, REGS_OFFSET);
        let epoch = builder.ins().load(types::I64, trusted, context, EPOCH_OFFSET);
        let fuel = builder.declare_var(types::I64);
        let first_fuel = builder.ins().load(types::I64, trusted, context, FUEL_OFFSET);
        builder.def_var(fuel, first_fuel);
        let mut slots = Vec::with_capacity(function.n_slots as usize);
        for idx in 0..function.n_slots {
            let slot = builder.declare_var(types::I64);
            let bits = builder.ins().load(types::I64, trusted, regs, idx as i32 * SLOT_BYTES);
            builder.def_var(slot, bits);
            slots.push(slot);
        }
        let blocks = function.blocks.iter().map(|_| builder.create_block()).collect();
        let leave = builder.create_block();
        builder.append_block_param(leave, types::I64);
        builder.set_cold_block(leave);
        Translator {
            builder,
            image,
            func,
            function,
            seen,
            tlb,
            pointer,
            context,
            regs,
            epoch,
            fuel,
            slots,
            blocks,
            leave,
        }
    }

    pub(super) fn translate(mut self, entries: &[BlockId], config: TargetFrontendConfig) {
        let entry = self.builder.ins().load(types::I64, MemFlagsData::trusted(), self.context, ENTRY_OFFSET);
        let mut switch = Switch::new();
        for entry in entries {
            switch.set_entry(u128::from(entry.0), self.blocks[entry.idx()]);
        }
        let nowhere = self.builder.create_block();
        switch.emit(&mut self.builder, entry, nowhere);
        self.builder.switch_to_block(nowhere);
        // Entered only at entries; going on at the start of the asked block is right in any case.
        let shift = self.builder.ins().ishl_imm_s(entry, 32);
        self.builder.ins().jump(self.leave, &[BlockArg::Value(shift)]);
        for idx in 0..self.function.blocks.len() {
            self.block(BlockId::new(idx));
        }
        self.builder.switch_to_block(self.leave);
        let place = self.builder.block_params(self.leave)[0];
        let fuel = self.builder.use_var(self.fuel);
        self.builder.ins().store(MemFlagsData::trusted(), fuel, self.context, FUEL_OFFSET);
        self.builder.ins().return_(&[place]);
        self.builder.seal_all_blocks();
        self.builder.finalize(config);
    }

    fn block(&mut self, id: BlockId) {
        let block = self.function.block(id);
        self.builder.switch_to_block(self.blocks[id.idx()]);
        // Fuel for what was executed is taken when the block is left, wherever that is, as the interpreter does.
        let fuel = self.builder.use_var(self.fuel);
        let has_fuel = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, fuel, 0);
        self.guard(has_fuel, id, 0);
        for (idx, inst) in block.insts.iter().enumerate() {
            if self.inst(inst, id, idx).is_none() {
                return self.leave_at(id, idx);
            }
        }
        self.spend(block.insts.len() as i64 + 1);
        self.terminator(id, &block.terminator);
    }

    fn spend(&mut self, n_insts: i64) {
        let fuel = self.builder.use_var(self.fuel);
        let left = self.builder.ins().iadd_imm_s(fuel, -n_insts);
        self.builder.def_var(self.fuel, left);
    }

    /// Ends the block: the interpreter goes on at `idx`.
    fn leave_at(&mut self, id: BlockId, idx: usize) {
        self.spend(idx as i64);
        let place = self.place(id, idx);
        self.builder.ins().jump(self.leave, &[BlockArg::Value(place)]);
    }

    fn place(&mut self, id: BlockId, idx: usize) -> Value {
        self.builder.ins().iconst(types::I64, (i64::from(id.0) << 32) | idx as i64)
    }

    /// Goes on only if `cond` holds; else the interpreter goes on at `idx`.
    fn guard(&mut self, cond: Value, id: BlockId, idx: usize) {
        let (on, off) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(off);
        self.builder.ins().brif(cond, on, &[], off, &[]);
        self.builder.switch_to_block(off);
        self.leave_at(id, idx);
        self.builder.switch_to_block(on);
    }

    fn get(&mut self, reg: Reg) -> Value {
        self.builder.use_var(self.slots[reg.idx()])
    }

    /// A result: into a native register for what follows, and into its slot for whoever goes on.
    fn put(&mut self, reg: Reg, bits: Value) {
        self.builder.def_var(self.slots[reg.idx()], bits);
        self.builder.ins().store(MemFlagsData::trusted(), bits, self.regs, reg.0 as i32 * SLOT_BYTES);
    }

    fn constant(&mut self, bits: u64) -> Value {
        self.builder.ins().iconst(types::I64, bits as i64)
    }

    /// Cuts off what lies above `bits`.
    fn mask(&mut self, value: Value, bits: u8) -> Value {
        match bits {
            64 => value,
            32 => {
                let low = self.builder.ins().ireduce(types::I32, value);
                self.builder.ins().uextend(types::I64, low)
            }
            _ => {
                let mask = self.constant(crate::value::mask64(bits));
                self.builder.ins().band(value, mask)
            }
        }
    }

    fn sext(&mut self, value: Value, bits: u8) -> Value {
        let narrow = match bits {
            64 => return value,
            32 => types::I32,
            16 => types::I16,
            8 => types::I8,
            _ => {
                let unused = i64::from(64 - bits);
                let high = self.builder.ins().ishl_imm_s(value, unused);
                return self.builder.ins().sshr_imm_s(high, unused);
            }
        };
        let low = self.builder.ins().ireduce(narrow, value);
        self.builder.ins().sextend(types::I64, low)
    }

    /// `None`: not for native code.
    fn inst(&mut self, inst: &Inst, id: BlockId, idx: usize) -> Option<()> {
        match *inst {
            Inst::Const { dst, value, .. } => {
                let value = self.constant(value);
                self.put(dst, value);
            }
            Inst::Address { dst, symbol, addend } => {
                let mask = crate::value::mask64(self.image.pointer_bits());
                let addr = self.constant(self.image.address_of(symbol).wrapping_add(addend as u64) & mask);
                self.put(dst, addr);
            }
            Inst::Copy { dst, src, bits } if bits <= 64 => {
                let value = self.get(src);
                self.put(dst, value);
            }
            Inst::Bin { op, bits, dst, a, b, .. } if bits <= 64 => {
                let (a, b) = (self.get(a), self.get(b));
                let value = self.binary(op, bits, a, b, id, idx);
                self.put(dst, value);
            }
            Inst::BinImm { op, bits, dst, a, imm, .. } if bits <= 64 => {
                let (a, b) = (self.get(a), self.constant(imm));
                let value = self.binary(op, bits, a, b, id, idx);
                self.put(dst, value);
            }
            Inst::Cmp { op, bits, dst, a, b } if bits <= 64 => {
                let (a, b) = (self.get(a), self.get(b));
                let truth = self.compare(op, bits, a, b);
                let value = self.builder.ins().uextend(types::I64, truth);
                self.put(dst, value);
            }
            Inst::CmpImm { op, bits, dst, a, imm } if bits <= 64 => {
                let (a, b) = (self.get(a), self.constant(imm));
                let truth = self.compare(op, bits, a, b);
                let value = self.builder.ins().uextend(types::I64, truth);
                self.put(dst, value);
            }
            Inst::Cast { op, from, to, dst, a } if from <= 64 && to <= 64 => {
                let a = self.get(a);
                let value = match op {
                    CastOp::ZExt => a,
                    CastOp::SExt => {
                        let wide = self.sext(a, from);
                        self.mask(wide, to)
                    }
                    CastOp::Trunc => self.mask(a, to),
                };
                self.put(dst, value);
            }
            Inst::Select { bits, dst, cond, a, b } if bits <= 64 => {
                let (cond, a, b) = (self.get(cond), self.get(a), self.get(b));
                let value = self.builder.ins().select(cond, a, b);
                self.put(dst, value);
            }
            Inst::Index { dst, base, index, index_bits, scale } if index_bits <= 64 => {
                let (base, index) = (self.get(base), self.get(index));
                let index = self.sext(index, index_bits);
                let offset = self.builder.ins().imul_imm_s(index, scale as i64);
                let sum = self.builder.ins().iadd(base, offset);
                let value = self.mask(sum, self.image.pointer_bits());
                self.put(dst, value);
            }
            Inst::Load { dst, bits, addr, .. } => {
                let ty = word_type(bits)?;
                let addr = self.get(addr);
                let at = self.remembered(site_of(inst), addr, bits / 8, Access::Read, id, idx);
                let word = self.builder.ins().load(ty, unaligned(), at, 0);
                let value = if bits == 64 { word } else { self.builder.ins().uextend(types::I64, word) };
                self.put(dst, value);
            }
            Inst::Store { src, bits, addr, .. } => {
                let ty = word_type(bits)?;
                let (addr, value) = (self.get(addr), self.get(src));
                let at = self.remembered(site_of(inst), addr, bits / 8, Access::Write, id, idx);
                let word = if bits == 64 { value } else { self.builder.ins().ireduce(ty, value) };
                self.builder.ins().store(unaligned(), word, at, 0);
            }
            Inst::FloatBin { op, kind, dst, a, b } => {
                let (a, b) = (self.float(kind, a)?, self.float(kind, b)?);
                let value = match op {
                    FloatBinOp::Add => self.builder.ins().fadd(a, b),
                    FloatBinOp::Sub => self.builder.ins().fsub(a, b),
                    FloatBinOp::Mul => self.builder.ins().fmul(a, b),
                    FloatBinOp::Div => self.builder.ins().fdiv(a, b),
                    FloatBinOp::Rem => return None,
                };
                self.put_float(kind, dst, value);
            }
            Inst::FloatCmp { op, kind, dst, a, b } => {
                let code = float_code(op)?;
                let (a, b) = (self.float(kind, a)?, self.float(kind, b)?);
                let truth = self.builder.ins().fcmp(code, a, b);
                let value = self.builder.ins().uextend(types::I64, truth);
                self.put(dst, value);
            }
            _ => return None,
        }
        Some(())
    }

    fn float(&mut self, kind: FloatKind, reg: Reg) -> Option<Value> {
        let bits = self.get(reg);
        match kind {
            FloatKind::Double => Some(self.builder.ins().bitcast(types::F64, MemFlagsData::new(), bits)),
            FloatKind::Single => {
                let low = self.builder.ins().ireduce(types::I32, bits);
                Some(self.builder.ins().bitcast(types::F32, MemFlagsData::new(), low))
            }
            FloatKind::Half | FloatKind::Extended | FloatKind::Quad => None,
        }
    }

    fn put_float(&mut self, kind: FloatKind, dst: Reg, value: Value) {
        let bits = match kind {
            FloatKind::Single => {
                let low = self.builder.ins().bitcast(types::I32, MemFlagsData::new(), value);
                self.builder.ins().uextend(types::I64, low)
            }
            _ => self.builder.ins().bitcast(types::I64, MemFlagsData::new(), value),
        };
        self.put(dst, bits);
    }

    fn binary(&mut self, op: BinOp, bits: u8, a: Value, b: Value, id: BlockId, idx: usize) -> Value {
        let value = match op {
            BinOp::Add => self.builder.ins().iadd(a, b),
            BinOp::Sub => self.builder.ins().isub(a, b),
            BinOp::Mul => self.builder.ins().imul(a, b),
            BinOp::And => return self.builder.ins().band(a, b),
            BinOp::Or => return self.builder.ins().bor(a, b),
            BinOp::Xor => return self.builder.ins().bxor(a, b),
            BinOp::Shl => {
                let amount = self.amount(b, bits);
                self.builder.ins().ishl(a, amount)
            }
            BinOp::LShr => {
                let amount = self.amount(b, bits);
                return self.builder.ins().ushr(a, amount);
            }
            BinOp::AShr => {
                let (wide, amount) = (self.sext(a, bits), self.amount(b, bits));
                self.builder.ins().sshr(wide, amount)
            }
            BinOp::UDiv | BinOp::URem => {
                let nonzero = self.builder.ins().icmp_imm_s(IntCC::NotEqual, b, 0);
                self.guard(nonzero, id, idx);
                return match op {
                    BinOp::UDiv => self.builder.ins().udiv(a, b),
                    _ => self.builder.ins().urem(a, b),
                };
            }
            BinOp::SDiv | BinOp::SRem => {
                let (a, b) = (self.sext(a, bits), self.sext(b, bits));
                // 0 and -1 are the divisors that can trap.
                let shifted = self.builder.ins().iadd_imm_s(b, 1);
                let harmless = self.builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, shifted, 1);
                self.guard(harmless, id, idx);
                match op {
                    BinOp::SDiv => self.builder.ins().sdiv(a, b),
                    _ => self.builder.ins().srem(a, b),
                }
            }
        };
        self.mask(value, bits)
    }

    fn amount(&mut self, amount: Value, bits: u8) -> Value {
        self.builder.ins().band_imm_s(amount, i64::from(crate::arith::shift_mask(bits)))
    }

    fn compare(&mut self, op: CmpOp, bits: u8, a: Value, b: Value) -> Value {
        let (code, is_signed) = match op {
            CmpOp::Eq => (IntCC::Equal, false),
            CmpOp::Ne => (IntCC::NotEqual, false),
            CmpOp::Ult => (IntCC::UnsignedLessThan, false),
            CmpOp::Ule => (IntCC::UnsignedLessThanOrEqual, false),
            CmpOp::Ugt => (IntCC::UnsignedGreaterThan, false),
            CmpOp::Uge => (IntCC::UnsignedGreaterThanOrEqual, false),
            CmpOp::Slt => (IntCC::SignedLessThan, true),
            CmpOp::Sle => (IntCC::SignedLessThanOrEqual, true),
            CmpOp::Sgt => (IntCC::SignedGreaterThan, true),
            CmpOp::Sge => (IntCC::SignedGreaterThanOrEqual, true),
        };
        let (a, b) = if is_signed { (self.sext(a, bits), self.sext(b, bits)) } else { (a, b) };
        self.builder.ins().icmp(code, a, b)
    }

    /// The host address of `addr`, if the object remembered at the site covers it; else the interpreter does the access.
    fn remembered(&mut self, site: usize, addr: Value, n_bytes: u8, access: Access, id: BlockId, idx: usize) -> Value {
        let trusted = MemFlagsData::trusted();
        let entry = self.builder.ins().iconst(self.pointer, self.tlb.entry_addr(site) as i64);
        let offset = |field: usize| i32::try_from(field).expect("a small struct");
        let fields = Tlb::LAYOUT;
        let epoch = self.builder.ins().uload32(
            trusted,
            entry,
            offset(match access {
                Access::Read => fields.epoch,
                Access::Write => fields.write_epoch,
            }),
        );
        let base = self.builder.ins().load(types::I64, trusted, entry, offset(fields.base));
        let end = self.builder.ins().load(types::I64, trusted, entry, offset(fields.end));
        let data = self.builder.ins().load(self.pointer, trusted, entry, offset(fields.data));
        let is_current = self.builder.ins().icmp(IntCC::Equal, epoch, self.epoch);
        let above = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, addr, base);
        let last = self.builder.ins().iadd_imm_s(addr, i64::from(n_bytes));
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, last, end);
        let inside = self.builder.ins().band(above, below);
        let good = self.builder.ins().band(inside, is_current);
        self.guard(good, id, idx);
        let distance = self.builder.ins().isub(addr, base);
        self.builder.ins().iadd(data, distance)
    }

    fn terminator(&mut self, id: BlockId, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(edge) => self.edge(id, 0, edge),
            Terminator::Branch { cond, then, other } => {
                let cond = self.get(*cond);
                self.branch(id, cond, then, other);
            }
            Terminator::CmpBranch { op, bits, a, b, then, other } if *bits <= 64 => {
                let (a, b) = (self.get(*a), self.get(*b));
                let cond = self.compare(*op, *bits, a, b);
                self.branch(id, cond, then, other);
            }
            Terminator::CmpImmBranch { op, bits, a, imm, then, other } if *bits <= 64 => {
                let (a, b) = (self.get(*a), self.constant(*imm));
                let cond = self.compare(*op, *bits, a, b);
                self.branch(id, cond, then, other);
            }
            Terminator::Switch { value, bits, cases, default } if *bits <= 64 => {
                let value = self.get(*value);
                let mut switch = Switch::new();
                let targets: Vec<Block> = cases.iter().map(|_| self.builder.create_block()).collect();
                for (case, target) in cases.iter().zip(&targets) {
                    switch.set_entry(u128::from(case.0), *target);
                }
                let otherwise = self.builder.create_block();
                switch.emit(&mut self.builder, value, otherwise);
                for ((case, target), edge_idx) in cases.iter().zip(&targets).zip(0..) {
                    self.builder.switch_to_block(*target);
                    self.edge(id, edge_idx, &case.1);
                }
                self.builder.switch_to_block(otherwise);
                self.edge(id, cases.len() as u32, default);
            }
            _ => self.leave_at_terminator(id),
        }
    }

    fn branch(&mut self, id: BlockId, cond: Value, then: &Edge, other: &Edge) {
        let (on, off) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(cond, on, &[], off, &[]);
        self.builder.switch_to_block(on);
        self.edge(id, 0, then);
        self.builder.switch_to_block(off);
        self.edge(id, 1, other);
    }

    /// The whole block was paid for; the interpreter pays for its terminator again.
    fn leave_at_terminator(&mut self, id: BlockId) {
        self.spend(-1);
        let place = self.place(id, self.function.block(id).insts.len());
        self.builder.ins().jump(self.leave, &[BlockArg::Value(place)]);
    }

    /// Takes an edge; one that nobody has taken yet is left to the interpreter, which keeps the books on coverage.
    fn edge(&mut self, id: BlockId, edge_idx: u32, edge: &Edge) {
        let number = self.image.first_edge(self.func, id) + edge_idx;
        let flag = self.builder.ins().iconst(self.pointer, &raw const self.seen[number as usize] as i64);
        let seen = self.builder.ins().uload8(types::I64, MemFlagsData::trusted(), flag, 0);
        let (on, off) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(off);
        self.builder.ins().brif(seen, on, &[], off, &[]);
        self.builder.switch_to_block(off);
        self.leave_at_terminator(id);
        self.builder.switch_to_block(on);
        for step in &edge.moves {
            let value = self.get(step.src);
            self.put(step.dst, value);
            if step.bits > 64 {
                let high = self.get(Reg(step.src.0 + 1));
                self.put(Reg(step.dst.0 + 1), high);
            }
        }
        self.builder.ins().jump(self.blocks[edge.target.idx()], &[]);
    }
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

/// Program memory: mapped, but not aligned.
fn unaligned() -> MemFlagsData {
    let mut flags = MemFlagsData::new();
    flags.set_notrap();
    flags
}

fn word_type(bits: u8) -> Option<Type> {
    match bits {
        8 => Some(types::I8),
        16 => Some(types::I16),
        32 => Some(types::I32),
        64 => Some(types::I64),
        _ => None,
    }
}

fn float_code(op: FloatCmpOp) -> Option<FloatCC> {
    Some(match op {
        FloatCmpOp::Oeq => FloatCC::Equal,
        FloatCmpOp::Ogt => FloatCC::GreaterThan,
        FloatCmpOp::Oge => FloatCC::GreaterThanOrEqual,
        FloatCmpOp::Olt => FloatCC::LessThan,
        FloatCmpOp::Ole => FloatCC::LessThanOrEqual,
        FloatCmpOp::One => FloatCC::OrderedNotEqual,
        FloatCmpOp::Ord => FloatCC::Ordered,
        FloatCmpOp::Ueq => FloatCC::UnorderedOrEqual,
        FloatCmpOp::Ugt => FloatCC::UnorderedOrGreaterThan,
        FloatCmpOp::Uge => FloatCC::UnorderedOrGreaterThanOrEqual,
        FloatCmpOp::Ult => FloatCC::UnorderedOrLessThan,
        FloatCmpOp::Ule => FloatCC::UnorderedOrLessThanOrEqual,
        FloatCmpOp::Une => FloatCC::NotEqual,
        FloatCmpOp::Uno => FloatCC::Unordered,
        FloatCmpOp::False | FloatCmpOp::True => return None,
    })
}
