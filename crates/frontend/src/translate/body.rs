//! One function's body: registers, blocks, edges and terminators.

use std::rc::Rc;

use ir::{
    Block, BlockId, Call, CallId, Callee, CastOp, CmpOp, Edge, Holding, Inst, Intrinsic, Move, Reg, SpanId, SymbolRef,
    Terminator, Variable,
};
use rustc_hash::FxHashMap;

use super::constant::Linear;
use super::shape::{Scalar, ScalarKind, Shape};
use super::{ModuleTranslator, Numbering, slot_count, slots};
use crate::debug::described_variable;
use crate::folded::is_folded_fault;
use crate::llvm::{BasicBlock, IntPredicate, Opcode, TypeKind, Value, ValueKind};
use crate::prepare::calls_returns_twice;

/// The registers of one value, a register per scalar.
pub(super) type Regs = Rc<[Reg]>;

/// What we cannot translate, in words; becomes a named gap at the place of the instruction.
pub(super) type Unsupported = String;

pub(super) struct Body<'m, 'c> {
    pub module: &'m mut ModuleTranslator<'c>,
    numbering: Rc<Numbering>,
    regs: FxHashMap<Value, Regs>,
    n_slots: u32,
    /// Finished blocks. Those that translation adds come after the numbered ones.
    blocks: Vec<Option<Block>>,
    /// The block being written.
    current: BlockId,
    insts: Vec<Inst>,
    spans: Vec<SpanId>,
    span: SpanId,
    pub calls: Vec<Call>,
    variables: Vec<Variable>,
    /// Allocas that hold a source variable.
    pub variable_of: FxHashMap<Value, u32>,
    pub choices: Choices,
    /// By number of the block, once somebody asked: whether control may come there a second time.
    comes_again: Option<Vec<bool>>,
}

/// What `c ? a : b` becomes where clang emits no branch for it because both arms are cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choices {
    /// The user's code: it is a decision of the program, and coverage counts its sides.
    Branch,
    /// Colt's own library: written so that symbolic data splits as few paths as possible.
    Select,
}

pub(super) fn translate(module: &mut ModuleTranslator<'_>, function: Value) {
    let func = module.function_id(function);
    let numbering = module.numbering(function);
    let header = &module.functions[func.idx()];
    let mut body = Body {
        n_slots: header.n_slots,
        numbering: numbering.clone(),
        blocks: vec![None; numbering.n_blocks],
        current: BlockId(0),
        choices: if header.is_runtime { Choices::Select } else { Choices::Branch },
        module,
        regs: FxHashMap::default(),
        insts: Vec::new(),
        spans: Vec::new(),
        span: SpanId(0),
        calls: Vec::new(),
        variables: Vec::new(),
        variable_of: FxHashMap::default(),
        comes_again: None,
    };
    body.bind_params(function);
    body.read_variables();
    body.reserve_phis();
    for block in &numbering.order {
        body.block(*block);
    }
    let holdings = body.holdings();
    let Body { n_slots, blocks, calls, variables, .. } = body;
    let result = &mut module.functions[func.idx()];
    result.blocks = blocks.into_iter().map(|block| block.expect("every numbered block is in the order")).collect();
    result.n_slots = n_slots;
    result.calls = calls;
    result.variables = variables;
    result.holdings = holdings;
    if !calls_returns_twice(module.context, function) {
        slots::compact(&mut module.functions[func.idx()], module.shapes.pointer_bits());
    }
}

impl Body<'_, '_> {
    fn bind_params(&mut self, function: Value) {
        let mut next = 0;
        for param in function.params() {
            let Ok(shape) = self.shape(param) else { continue };
            let regs = shape.iter().map(|scalar| {
                let reg = Reg(next);
                next += slot_count(scalar.bits);
                reg
            });
            let regs: Regs = regs.collect();
            self.regs.insert(param, regs);
        }
    }

    /// Variables that live in an alloca.
    fn read_variables(&mut self) {
        let numbering = self.numbering.clone();
        for inst in numbering.order.iter().flat_map(|block| block.instructions()) {
            let Some(variable) = described_variable(inst) else { continue };
            let Some(place) = inst.operand(0).wrapped_value() else { continue };
            let is_alloca = place.kind() == ValueKind::LLVMInstructionValueKind && place.opcode() == Opcode::LLVMAlloca;
            if is_alloca && !self.variable_of.contains_key(&place) {
                self.variable_of.insert(place, self.variables.len() as u32);
                let variable = self.module.debug.variable(variable);
                self.variables.push(variable);
            }
        }
    }

    /// Variables in registers, where a phi stands for one.
    fn holdings(&mut self) -> Vec<Holding> {
        let numbering = self.numbering.clone();
        let mut holdings = Vec::new();
        for block in &numbering.order {
            for inst in block.instructions() {
                let Some(variable) = described_variable(inst) else { continue };
                let Some(value) = inst.operand(0).wrapped_value() else { continue };
                let is_phi = value.kind() == ValueKind::LLVMInstructionValueKind && value.opcode() == Opcode::LLVMPHI;
                if !is_phi || value.parent_block() != *block {
                    continue;
                }
                if let Some([reg]) = self.regs.get(&value).map(|regs| &**regs) {
                    let (reg, variable) = (*reg, self.module.debug.variable(variable));
                    holdings.push(Holding { block: self.block_id(*block), reg, variable });
                }
            }
        }
        holdings
    }

    /// Whether control may come to a block a second time: then some edge leads from there or behind it to there or before it.
    pub fn may_come_again(&mut self, block: BasicBlock) -> bool {
        let numbering = self.numbering.clone();
        let comes_again = self.comes_again.get_or_insert_with(|| {
            let mut comes_again = vec![false; numbering.n_blocks];
            for from in &numbering.order {
                let from_id = numbering.id(*from).map_or(0, |id| id.idx());
                for to in from.terminator().successors() {
                    let to_id = numbering.id(to).map_or(usize::MAX, |id| id.idx());
                    if to_id <= from_id {
                        comes_again[to_id..=from_id].fill(true);
                    }
                }
            }
            comes_again
        });
        numbering.id(block).is_none_or(|id| comes_again[id.idx()])
    }

    /// Phis are read on edges that may be translated before the block they stand in.
    fn reserve_phis(&mut self) {
        let numbering = self.numbering.clone();
        for phi in numbering.order.iter().flat_map(|block| block.phis()) {
            if let Ok(shape) = self.shape(phi) {
                let regs = self.fresh_all(&shape);
                self.regs.insert(phi, regs);
            }
        }
    }

    fn block(&mut self, block: BasicBlock) {
        self.current = self.block_id(block);
        for inst in block.instructions() {
            if inst == block.terminator() {
                break;
            }
            self.span = self.module.debug.span(inst);
            let mark = (self.insts.len(), self.calls.len());
            if let Err(what) = self.instruction(inst) {
                self.insts.truncate(mark.0);
                self.spans.truncate(mark.0);
                self.calls.truncate(mark.1);
                self.gap(inst, what);
            }
        }
        let last = block.terminator();
        self.span = self.module.debug.span(last);
        let mark = self.insts.len();
        let terminator = match self.terminator(block, last) {
            Ok(terminator) => terminator,
            Err(what) => {
                self.insts.truncate(mark);
                self.spans.truncate(mark);
                self.gap(last, what);
                Terminator::Unreachable
            }
        };
        self.seal(terminator);
    }

    fn seal(&mut self, terminator: Terminator) {
        self.spans.push(self.span);
        let (insts, spans) = (std::mem::take(&mut self.insts), std::mem::take(&mut self.spans));
        self.blocks[self.current.idx()] = Some(Block { insts, terminator, spans });
    }

    /// Ends the current block by a decision between two sets of moves; what follows goes into a block of its own.
    pub fn decide(&mut self, cond: Value, then: Box<[Move]>, other: Box<[Move]>) -> Result<(), Unsupported> {
        let target = BlockId::new(self.blocks.len());
        let terminator = self.conditional(cond, Edge { target, moves: then }, Edge { target, moves: other })?;
        self.blocks.push(None);
        self.seal(terminator);
        self.current = target;
        Ok(())
    }

    /// Puts a named gap in the place of `inst`; its results exist so that what follows can be written down.
    fn gap(&mut self, inst: Value, what: Unsupported) {
        let shape = self.shape(inst).unwrap_or_else(|_| Shape::from([]));
        let regs = self.fresh_all(&shape);
        let results = regs.iter().zip(shape.iter()).map(|(reg, scalar)| (*reg, scalar.bits)).collect();
        self.emit_call(Call {
            callee: Callee::Gap(what),
            args: Vec::new(),
            results,
            n_fixed: u32::MAX,
            result_used: inst.is_used(),
        });
        if !shape.is_empty() {
            self.regs.insert(inst, regs);
        }
    }

    // Registers and operands.

    pub fn shape(&mut self, value: Value) -> Result<Shape, Unsupported> {
        self.module.shapes.of(value.ty())
    }

    pub fn pointer_bits(&self) -> u8 {
        self.module.shapes.pointer_bits()
    }

    pub fn fresh(&mut self, bits: u8) -> Reg {
        let reg = Reg(self.n_slots);
        self.n_slots += slot_count(bits);
        reg
    }

    pub fn fresh_all(&mut self, shape: &Shape) -> Regs {
        shape.iter().map(|scalar| self.fresh(scalar.bits)).collect()
    }

    pub fn emit(&mut self, inst: Inst) {
        self.insts.push(inst);
        self.spans.push(self.span);
    }

    pub fn emit_call(&mut self, call: Call) {
        let id = CallId::new(self.calls.len());
        self.calls.push(call);
        self.emit(Inst::Call { call: id });
    }

    /// Emits an instruction with a fresh destination of `bits`.
    pub fn define(&mut self, bits: u8, inst: impl FnOnce(Reg) -> Inst) -> Reg {
        let dst = self.fresh(bits);
        self.emit(inst(dst));
        dst
    }

    pub fn bind(&mut self, value: Value, regs: Regs) {
        self.regs.insert(value, regs);
    }

    pub fn bind_one(&mut self, value: Value, reg: Reg) {
        self.regs.insert(value, Rc::from([reg]));
    }

    pub fn operand(&mut self, value: Value) -> Result<Regs, Unsupported> {
        if let Some(regs) = self.regs.get(&value) {
            return Ok(regs.clone());
        }
        if value.is_constant() {
            return self.constant(value);
        }
        self.shape(value)?;
        Err(format!("a use of `{}`, which has no value here", value.print().trim()))
    }

    pub fn scalar(&mut self, value: Value) -> Result<Reg, Unsupported> {
        let regs = self.operand(value)?;
        match &*regs {
            [reg] => Ok(*reg),
            _ => Err(format!("a value of type `{}` in this place", value.ty().print())),
        }
    }

    /// The width and kind of a value that is one scalar.
    pub fn scalar_type(&mut self, value: Value) -> Result<Scalar, Unsupported> {
        let shape = self.shape(value)?;
        match &*shape {
            [scalar] => Ok(*scalar),
            _ => Err(format!("a value of type `{}` in this place", value.ty().print())),
        }
    }

    pub fn number(&mut self, bits: u8, value: u128) -> Reg {
        let value = if bits < 128 { value & ((1 << bits) - 1) } else { value };
        self.define(bits, |dst| match u64::try_from(value) {
            Ok(value) if bits <= 64 => Inst::Const { dst, bits, value },
            _ => Inst::WideConst { dst, bits, value: Box::new(value) },
        })
    }

    /// A constant scalar that fits the `Imm` forms.
    pub fn immediate(&mut self, value: Value) -> Option<u64> {
        if !value.is_constant() || value.is_undef() {
            return None;
        }
        let shape = self.shape(value).ok()?;
        let [scalar] = &*shape else { return None };
        if scalar.bits > 64 || !matches!(scalar.kind, ScalarKind::Int | ScalarKind::Pointer) {
            return None;
        }
        let number = self.module.linear(value)?.as_number()?;
        Some(if scalar.bits == 64 { number as u64 } else { number as u64 & ((1 << scalar.bits) - 1) })
    }

    fn constant(&mut self, constant: Value) -> Result<Regs, Unsupported> {
        let shape = self.shape(constant)?;
        if constant.is_poison() {
            // No memory that nobody wrote: what clang computed by a fault, or where a vector begins.
            if is_folded_fault(constant) {
                let callee = Callee::Intrinsic(Intrinsic::Folded);
                self.emit_call(Call { callee, args: vec![], results: vec![], n_fixed: u32::MAX, result_used: false });
            }
            return Ok(shape.iter().map(|scalar| self.number(scalar.bits, 0)).collect());
        }
        if constant.is_undef() {
            return Ok(shape.iter().map(|scalar| self.undefined(scalar.bits)).collect());
        }
        if constant.kind() == ValueKind::LLVMConstantAggregateZeroValueKind {
            return Ok(shape.iter().map(|scalar| self.number(scalar.bits, 0)).collect());
        }
        let n_elements = match constant.ty().kind() {
            TypeKind::LLVMStructTypeKind => u64::from(constant.ty().n_fields()),
            TypeKind::LLVMArrayTypeKind => constant.ty().array_len(),
            TypeKind::LLVMVectorTypeKind => constant.ty().vector_len(),
            TypeKind::LLVMIntegerTypeKind if shape.len() > 1 => return self.wide_constant(constant, &shape),
            _ => return Ok(Rc::from([self.scalar_constant(constant, shape[0])?])),
        };
        let mut regs = Vec::new();
        for i in 0..n_elements {
            let element = constant.aggregate_element(i as u32);
            let element = element.ok_or_else(|| format!("the constant `{}`", constant.print()))?;
            // A vector that is filled piece by piece has pieces that nobody has filled yet.
            if element.is_poison() && constant.ty().kind() == TypeKind::LLVMVectorTypeKind {
                regs.extend(self.shape(element)?.iter().map(|scalar| self.number(scalar.bits, 0)));
                continue;
            }
            regs.extend(self.constant(element)?.iter());
        }
        Ok(regs.into())
    }

    fn wide_constant(&mut self, constant: Value, shape: &Shape) -> Result<Regs, Unsupported> {
        if constant.kind() != ValueKind::LLVMConstantIntValueKind {
            return Err(format!("the constant `{}`", constant.print()));
        }
        let limbs = constant.int_limbs(constant.ty().int_width());
        let limbs = limbs.into_iter().zip(shape.iter());
        Ok(limbs.map(|(limb, scalar)| self.number(scalar.bits, u128::from(limb))).collect())
    }

    pub fn undefined(&mut self, bits: u8) -> Reg {
        self.define(bits, |dst| Inst::Undef { dst, bits })
    }

    fn scalar_constant(&mut self, constant: Value, scalar: Scalar) -> Result<Reg, Unsupported> {
        let bits = scalar.bits;
        match constant.kind() {
            ValueKind::LLVMConstantIntValueKind => return Ok(self.number(bits, constant.int_bits(u32::from(bits)))),
            ValueKind::LLVMConstantFPValueKind => {
                let value = self.module.context.float_bits(constant, u32::from(bits));
                return Ok(self.number(bits, value));
            }
            ValueKind::LLVMGlobalIFuncValueKind => return self.resolved_ifunc(constant),
            _ => {}
        }
        match self.module.linear(constant) {
            Some(value) => Ok(self.linear(value, bits)),
            None if constant.kind() == ValueKind::LLVMConstantExprValueKind => {
                let regs = self.expression(constant, constant.const_opcode())?;
                Ok(regs[0])
            }
            None => Err(format!("the constant `{}`", constant.print())),
        }
    }

    fn linear(&mut self, value: Linear, bits: u8) -> Reg {
        let Linear { plus, minus, addend } = value;
        let pointer_bits = self.pointer_bits();
        let address = |body: &mut Self, symbol: SymbolRef, addend| {
            body.define(pointer_bits, |dst| Inst::Address { dst, symbol, addend })
        };
        let start = match plus {
            None if minus.is_none() => return self.number(bits, addend as u128),
            None => self.number(pointer_bits, addend as u128),
            Some(symbol) => address(self, symbol, addend),
        };
        let difference = match minus {
            None => start,
            Some(symbol) => {
                let b = address(self, symbol, 0);
                let op = ir::BinOp::Sub;
                self.define(pointer_bits, |dst| Inst::Bin { op, bits: pointer_bits, nsw: false, dst, a: start, b })
            }
        };
        self.resize(difference, pointer_bits, bits)
    }

    /// Zero-extends or truncates.
    pub fn resize(&mut self, a: Reg, from: u8, to: u8) -> Reg {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => a,
            std::cmp::Ordering::Less => self.define(to, |dst| Inst::Cast { op: CastOp::ZExt, from, to, dst, a }),
            std::cmp::Ordering::Greater => self.define(to, |dst| Inst::Cast { op: CastOp::Trunc, from, to, dst, a }),
        }
    }

    // Control flow.

    fn terminator(&mut self, block: BasicBlock, inst: Value) -> Result<Terminator, Unsupported> {
        match inst.opcode() {
            Opcode::LLVMBr if inst.is_conditional() => self.branch(block, inst),
            Opcode::LLVMBr => Ok(Terminator::Jump(self.edge(block, inst.successors()[0])?)),
            Opcode::LLVMSwitch => self.switch(block, inst),
            Opcode::LLVMIndirectBr => {
                let addr = self.scalar(inst.operand(0))?;
                let mut targets: Vec<(BlockId, Edge)> = Vec::new();
                for successor in inst.successors() {
                    let id = self.block_id(successor);
                    if targets.iter().all(|(known, _)| *known != id) {
                        targets.push((id, self.edge(block, successor)?));
                    }
                }
                Ok(Terminator::IndirectJump { addr, targets: targets.into() })
            }
            Opcode::LLVMRet if inst.n_operands() == 0 => Ok(Terminator::Return(Box::new([]))),
            Opcode::LLVMRet => Ok(Terminator::Return(self.operand(inst.operand(0))?.iter().copied().collect())),
            Opcode::LLVMUnreachable => Ok(Terminator::Unreachable),
            Opcode::LLVMCallBr => Err("`asm goto`".to_string()),
            opcode => Err(format!("the instruction {opcode:?}")),
        }
    }

    fn block_id(&self, block: BasicBlock) -> BlockId {
        self.numbering.id(block).expect("a successor of a reached block is reached")
    }

    fn branch(&mut self, block: BasicBlock, inst: Value) -> Result<Terminator, Unsupported> {
        let successors = inst.successors();
        let (then, other) = (self.edge(block, successors[0])?, self.edge(block, successors[1])?);
        self.conditional(inst.operand(0), then, other)
    }

    /// A branch on `cond`, with the compare in it where that was left to us.
    fn conditional(&mut self, cond: Value, then: Edge, other: Edge) -> Result<Terminator, Unsupported> {
        if !self.is_fused_compare(cond) {
            let cond = self.scalar(cond)?;
            return Ok(Terminator::Branch { cond, then, other });
        }
        let (op, a, b) = self.ordered_compare(cond);
        let bits = self.scalar_type(a)?.bits;
        let imm = self.immediate(b);
        let a = self.scalar(a)?;
        Ok(match imm {
            Some(imm) => Terminator::CmpImmBranch { op, bits, a, imm, then, other },
            None => Terminator::CmpBranch { op, bits, a, b: self.scalar(b)?, then, other },
        })
    }

    /// Whether a compare is left to the decision in its block that is its only reader.
    pub fn is_fused_compare(&self, value: Value) -> bool {
        if value.kind() != ValueKind::LLVMInstructionValueKind || value.opcode() != Opcode::LLVMICmp {
            return false;
        }
        let mut users = value.users().filter(|user| !is_dead_extension(*user));
        let (Some(user), None) = (users.next(), users.next()) else { return false };
        let is_decision = user.opcode() == Opcode::LLVMBr || self.is_decision(user);
        is_decision && user.operand(0) == value && user.parent_block() == value.parent_block()
    }

    /// Whether a `select` becomes a branch.
    pub fn is_decision(&self, value: Value) -> bool {
        let is_select = value.kind() == ValueKind::LLVMInstructionValueKind && value.opcode() == Opcode::LLVMSelect;
        is_select
            && self.choices == Choices::Branch
            && value.operand(0).ty().kind() == TypeKind::LLVMIntegerTypeKind
            && !value.operand(0).is_constant()
    }

    /// Operator and operands of an integer compare, a constant moved to the right.
    pub fn ordered_compare(&mut self, inst: Value) -> (CmpOp, Value, Value) {
        let op = compare_op(inst.int_predicate());
        let (a, b) = (inst.operand(0), inst.operand(1));
        if self.immediate(a).is_some() && self.immediate(b).is_none() { (op.mirrored(), b, a) } else { (op, a, b) }
    }

    fn switch(&mut self, block: BasicBlock, inst: Value) -> Result<Terminator, Unsupported> {
        let value = self.scalar(inst.operand(0))?;
        let bits = self.scalar_type(inst.operand(0))?.bits;
        let successors = inst.successors();
        let mut edges: FxHashMap<BasicBlock, Edge> = FxHashMap::default();
        for successor in &successors {
            if !edges.contains_key(successor) {
                edges.insert(*successor, self.edge(block, *successor)?);
            }
        }
        let mut cases = Vec::new();
        for (i, successor) in successors.iter().enumerate().skip(1) {
            let case = inst.operand(2 * i as u32).int_bits(u32::from(bits));
            let case = u64::try_from(case).map_err(|_| "a switch over values beyond 64 bits".to_string())?;
            cases.push((case, edges[successor].clone()));
        }
        Ok(Terminator::Switch { value, bits, cases: cases.into(), default: edges[&successors[0]].clone() })
    }

    fn edge(&mut self, from: BasicBlock, to: BasicBlock) -> Result<Edge, Unsupported> {
        let mut moves = Vec::new();
        for phi in to.phis() {
            let Some(dst) = self.regs.get(&phi).cloned() else { continue };
            let shape = self.shape(phi)?;
            let incoming = phi.incoming().into_iter().find(|(block, _)| *block == from);
            let (_, value) = incoming.expect("a phi lists every predecessor");
            let src = self.operand(value)?;
            for ((dst, src), scalar) in dst.iter().zip(src.iter()).zip(shape.iter()) {
                moves.push(Move { dst: *dst, src: *src, bits: scalar.bits });
            }
        }
        Ok(Edge { target: self.block_id(to), moves: self.sequence(moves) })
    }

    /// Orders copies that happen at once so that they can be made one after the other.
    ///
    /// A copy whose destination nobody still reads is safe to make; when none is left, all are in cycles, and saving
    /// one source in a spare register opens its cycle.
    fn sequence(&mut self, moves: Vec<Move>) -> Box<[Move]> {
        let mut pending: Vec<Move> = moves.into_iter().filter(|m| m.dst != m.src).collect();
        let mut ordered = Vec::with_capacity(pending.len());
        while !pending.is_empty() {
            let safe = pending.iter().position(|m| pending.iter().all(|other| other.src != m.dst));
            if let Some(safe) = safe {
                ordered.push(pending.remove(safe));
                continue;
            }
            let Move { src, bits, .. } = pending[0];
            let spare = self.fresh(bits);
            ordered.push(Move { dst: spare, src, bits });
            for m in pending.iter_mut().filter(|m| m.src == src) {
                m.src = spare;
            }
        }
        ordered.into()
    }
}

/// Clang leaves behind an extension that nobody reads wherever it would count the sides of a condition.
pub(super) fn is_dead_extension(value: Value) -> bool {
    value.opcode() == Opcode::LLVMZExt && !value.is_used()
}

pub(super) fn compare_op(predicate: IntPredicate) -> CmpOp {
    match predicate {
        IntPredicate::LLVMIntEQ => CmpOp::Eq,
        IntPredicate::LLVMIntNE => CmpOp::Ne,
        IntPredicate::LLVMIntUGT => CmpOp::Ugt,
        IntPredicate::LLVMIntUGE => CmpOp::Uge,
        IntPredicate::LLVMIntULT => CmpOp::Ult,
        IntPredicate::LLVMIntULE => CmpOp::Ule,
        IntPredicate::LLVMIntSGT => CmpOp::Sgt,
        IntPredicate::LLVMIntSGE => CmpOp::Sge,
        IntPredicate::LLVMIntSLT => CmpOp::Slt,
        IntPredicate::LLVMIntSLE => CmpOp::Sle,
    }
}
