//! Checks that a module keeps the rules the other layers rely on.
//!
//! Registers are checked by one forward data flow: along every path a slot holds what was last written to it, so a use
//! must find a value of its own width there on all paths. Slots may be used again for another value, of another width
//! too, as the spare registers of edge moves are.
//!
//! Deliberately not checked: that a call's arguments and results match the callee's. C lets a program call through a
//! wrong prototype, and that is a finding when the call is reached, not a broken module.

use std::collections::VecDeque;
use std::fmt;

use crate::operands::slots_of;
use crate::{
    BinOp, Block, BlockId, CallId, Callee, CastOp, Edge, FileId, FuncId, Function, Global, Init, Inst, Intrinsic,
    Module, Reg, SourceType, SourceTypeId, SymbolRef, Terminator,
};

/// Where a rule is broken (`@f b2 #3`: the fourth instruction of a block) and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    pub place: String,
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Every broken rule that was found. Registers of a function are checked only when the rest of it holds.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { module, place: String::new(), errors: Vec::new() };
    verifier.tables();
    for (idx, ty) in module.types.iter().enumerate() {
        verifier.source_type(SourceTypeId::new(idx), ty);
    }
    for global in &module.globals {
        verifier.global(global);
    }
    for function in &module.functions {
        verifier.function(function);
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'m> {
    module: &'m Module,
    place: String,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn check(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.errors.push(VerifyError { place: self.place.clone(), message: message() });
        }
    }

    fn tables(&mut self) {
        self.place = "module".to_string();
        let module = self.module;
        self.check(matches!(module.target.pointer_bytes, 4 | 8), || "pointers have 4 or 8 bytes".to_string());
        self.check(!module.spans.is_empty(), || "position s0 (\"no position\") is missing".to_string());
        for span in &module.spans {
            self.file_ref(span.file);
        }
    }

    fn file_ref(&mut self, file: Option<FileId>) {
        if let Some(file) = file {
            self.check(file.idx() < self.module.files.len(), || format!("no file {file}"));
        }
    }

    fn type_ref(&mut self, ty: Option<SourceTypeId>) {
        if let Some(ty) = ty {
            self.check(ty.idx() < self.module.types.len(), || format!("no type {ty}"));
        }
    }

    fn source_type(&mut self, id: SourceTypeId, ty: &SourceType) {
        self.place = format!("type {id}");
        match ty {
            SourceType::Base { .. } | SourceType::Enum { .. } => {}
            SourceType::Pointer { to, .. } => self.type_ref(*to),
            SourceType::Struct { fields, .. } | SourceType::Union { fields, .. } => {
                for field in fields {
                    self.type_ref(field.ty);
                }
            }
            SourceType::Function { result, params, .. } => {
                self.type_ref(*result);
                for param in params {
                    self.type_ref(*param);
                }
            }
            SourceType::Array { of, .. }
            | SourceType::Typedef { of, .. }
            | SourceType::Const { of }
            | SourceType::Volatile { of }
            | SourceType::Qualified { of } => {
                self.type_ref(*of);
                self.check(!self.contains_itself(id), || "the type is made of itself".to_string());
            }
        }
    }

    /// Whether following typedefs, qualifiers and elements comes back to `id`: `strip` and `size_of` would not end.
    fn contains_itself(&self, id: SourceTypeId) -> bool {
        let mut at = id;
        for _ in 0..=self.module.types.len() {
            at = match self.module.types.get(at.idx()) {
                Some(
                    SourceType::Array { of: Some(of), .. }
                    | SourceType::Typedef { of: Some(of), .. }
                    | SourceType::Const { of: Some(of) }
                    | SourceType::Volatile { of: Some(of) }
                    | SourceType::Qualified { of: Some(of) },
                ) => *of,
                _ => return false,
            };
            if at == id {
                return true;
            }
        }
        false
    }

    fn global(&mut self, global: &Global) {
        self.place = format!("global @{}", global.name);
        self.type_ref(global.ty);
        self.check(global.align.is_power_of_two(), || format!("alignment {} is no power of two", global.align));
        let Init::Bytes { bytes, relocs } = &global.init else { return };
        let n_bytes = bytes.len() as u64;
        self.check(n_bytes <= global.bytes, || {
            format!("{n_bytes} bytes of data for an object of {} bytes", global.bytes)
        });
        for reloc in relocs {
            let end = reloc.offset.checked_add(u64::from(reloc.bytes));
            self.check((1..=8).contains(&reloc.bytes), || format!("an address of {} bytes", reloc.bytes));
            self.check(end.is_some_and(|end| end <= n_bytes), || {
                format!("the address at {} lies outside the data", reloc.offset)
            });
            self.symbol(reloc.plus);
            if let Some(minus) = reloc.minus {
                self.symbol(minus);
            }
        }
    }

    fn symbol(&mut self, symbol: SymbolRef) {
        match symbol {
            SymbolRef::Global(global) => {
                self.check(global.idx() < self.module.globals.len(), || format!("no global {global}"));
            }
            SymbolRef::Function(func) => self.func_ref(func),
            SymbolRef::Block(func, block) => {
                self.func_ref(func);
                if let Some(function) = self.module.functions.get(func.idx()) {
                    self.check(block.idx() < function.blocks.len(), || {
                        format!("no block {block} in @{}", function.name)
                    });
                }
            }
        }
    }

    fn func_ref(&mut self, func: FuncId) {
        self.check(func.idx() < self.module.functions.len(), || format!("no function {func}"));
    }

    fn function(&mut self, function: &Function) {
        let n_errors = self.errors.len();
        self.place = format!("@{}", function.name);
        self.file_ref(function.file);
        self.type_ref(function.signature);
        for variable in &function.variables {
            self.type_ref(variable.ty);
        }
        for holding in &function.holdings {
            self.type_ref(holding.variable.ty);
            self.check(holding.block.idx() < function.blocks.len(), || format!("no block {}", holding.block));
            self.check(holding.reg.idx() < function.n_slots as usize, || format!("no register {}", holding.reg));
        }
        for result in &function.results {
            self.width(result.bits);
        }
        for param in &function.params {
            self.register(function, param.reg, param.bits);
        }
        self.disjoint(function.params.iter().map(|param| (param.reg, param.bits)).collect());
        self.calls(function);
        if self.errors.len() > n_errors {
            return;
        }
        for (idx, block) in function.blocks.iter().enumerate() {
            self.block(function, BlockId::new(idx), block);
        }
        if self.errors.len() == n_errors && !function.is_declaration() {
            self.registers_hold_values(function);
        }
    }

    /// The call table is checked first because operands of call instructions are looked up in it.
    fn calls(&mut self, function: &Function) {
        let mut is_made = vec![false; function.calls.len()];
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let Inst::Call { call } = *inst else { continue };
            let is_first = is_made.get_mut(call.idx()).map(|is_made| !std::mem::replace(is_made, true));
            self.check(is_first.is_some(), || format!("no call {call}"));
            self.check(is_first != Some(false), || format!("call {call} is made by two instructions"));
        }
        for (idx, call) in function.calls.iter().enumerate() {
            let id = CallId::new(idx);
            match &call.callee {
                Callee::Function(func) => self.func_ref(*func),
                Callee::Indirect(_) | Callee::Gap(_) => {}
                Callee::Intrinsic(intrinsic) => {
                    let (n_args, n_results) = (call.args.len(), call.results.len());
                    let fits = intrinsic_shape(*intrinsic).is_none_or(|shape| shape == (n_args, n_results));
                    self.check(fits, || {
                        format!("call {id} of {intrinsic:?} with {n_args} arguments and {n_results} results")
                    });
                }
            }
            for byval in call.args.iter().filter_map(|arg| arg.byval) {
                self.check(byval.align.is_power_of_two(), || format!("call {id}: alignment {}", byval.align));
            }
        }
    }

    fn width(&mut self, bits: u8) {
        self.check((1..=128).contains(&bits), || format!("a width of {bits} bits"));
    }

    fn register(&mut self, function: &Function, reg: Reg, bits: u8) {
        self.width(bits);
        let end = reg.0.checked_add(slots_of(bits));
        self.check(end.is_some_and(|end| end <= function.n_slots), || {
            format!("{reg}:{bits} lies outside the {} slots of the frame", function.n_slots)
        });
    }

    /// Registers written at the same time.
    fn disjoint(&mut self, mut written: Vec<(Reg, u8)>) {
        written.sort_unstable();
        for pair in written.windows(2) {
            let ((first, first_bits), (second, _)) = (pair[0], pair[1]);
            let end = first.0.saturating_add(slots_of(first_bits));
            self.check(end <= second.0, || format!("{first}:{first_bits} and {second} share a slot"));
        }
    }

    fn fits(&mut self, value: u64, bits: u8) {
        self.check(bits >= 64 || value >> bits == 0, || format!("{value} does not fit {bits} bits"));
    }

    fn block(&mut self, function: &Function, id: BlockId, block: &Block) {
        self.place = format!("@{} {id}", function.name);
        let n_expected = block.insts.len() + 1;
        self.check(block.spans.len() == n_expected, || {
            format!("{} positions for {n_expected} instructions", block.spans.len())
        });
        for span in &block.spans {
            self.check(span.idx() < self.module.spans.len(), || format!("no position {span}"));
        }
        for (idx, inst) in block.insts.iter().enumerate() {
            self.place = format!("@{} {id} #{idx}", function.name);
            self.inst(function, inst);
        }
        self.place = format!("@{} {id} terminator", function.name);
        self.terminator(function, &block.terminator);
    }

    fn inst(&mut self, function: &Function, inst: &Inst) {
        let pointer_bits = self.module.target.pointer_bits();
        let mut written = Vec::new();
        function.for_each_def(inst, pointer_bits, |reg, bits| written.push((reg, bits)));
        function.for_each_use(inst, pointer_bits, |reg, bits| self.register(function, reg, bits));
        for &(reg, bits) in &written {
            self.register(function, reg, bits);
        }
        self.disjoint(written);
        match *inst {
            Inst::Const { bits, value, .. } => {
                self.check(bits <= 64, || format!("a constant of {bits} bits must be a wide one"));
                self.fits(value, bits);
            }
            Inst::WideConst { bits, ref value, .. } => {
                self.check(bits > 64, || format!("a wide constant of {bits} bits"));
                self.check(bits >= 128 || **value >> bits == 0, || format!("{value} does not fit {bits} bits"));
            }
            Inst::Address { symbol, .. } => self.symbol(symbol),
            Inst::Bin { op, nsw, .. } => self.nsw(op, nsw),
            Inst::BinImm { op, nsw, bits, imm, .. } => {
                self.nsw(op, nsw);
                self.fits(imm, bits);
            }
            Inst::CmpImm { bits, imm, .. } => self.fits(imm, bits),
            Inst::Cast { op, from, to, .. } => {
                let is_right_way = match op {
                    CastOp::ZExt | CastOp::SExt => from < to,
                    CastOp::Trunc => from > to,
                };
                self.check(is_right_way, || format!("{op:?} from {from} to {to} bits"));
            }
            Inst::Load { align, .. } | Inst::Store { align, .. } => {
                self.check(align.is_power_of_two(), || format!("alignment {align} is no power of two"));
            }
            Inst::Alloca { align, variable, .. } => {
                self.check(align.is_power_of_two(), || format!("alignment {align} is no power of two"));
                let is_known = variable.is_none_or(|variable| (variable as usize) < function.variables.len());
                self.check(is_known, || "no such variable".to_string());
            }
            Inst::Undef { .. }
            | Inst::Copy { .. }
            | Inst::Cmp { .. }
            | Inst::Select { .. }
            | Inst::Overflow { .. }
            | Inst::BitOp { .. }
            | Inst::FunnelShl { .. }
            | Inst::FunnelShr { .. }
            | Inst::Index { .. }
            | Inst::FloatBin { .. }
            | Inst::FloatCmp { .. }
            | Inst::FloatCast { .. }
            | Inst::FloatMath { .. }
            | Inst::Call { .. } => {}
        }
    }

    fn nsw(&mut self, op: BinOp, nsw: bool) {
        let may_be = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl);
        self.check(!nsw || may_be, || format!("nsw on {op:?}"));
    }

    fn terminator(&mut self, function: &Function, terminator: &Terminator) {
        let pointer_bits = self.module.target.pointer_bits();
        function.for_each_terminator_use(terminator, pointer_bits, |reg, bits| self.register(function, reg, bits));
        for edge in terminator.edges() {
            self.edge(function, edge);
        }
        match terminator {
            Terminator::CmpImmBranch { bits, imm, .. } => self.fits(*imm, *bits),
            Terminator::Switch { bits, cases, .. } => {
                let mut values: Vec<u64> = cases.iter().map(|case| case.0).collect();
                for &value in &values {
                    self.fits(value, *bits);
                }
                values.sort_unstable();
                let is_distinct = values.windows(2).all(|pair| pair[0] != pair[1]);
                self.check(is_distinct, || "a case stands twice".to_string());
            }
            Terminator::Return(values) => {
                let (n_values, n_results) = (values.len(), function.results.len());
                self.check(n_values == n_results, || format!("{n_values} values returned, {n_results} in the head"));
            }
            Terminator::IndirectJump { targets, .. } => {
                for (block, _) in targets {
                    self.check(block.idx() < function.blocks.len(), || format!("no block {block}"));
                }
            }
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::CmpBranch { .. }
            | Terminator::Unreachable => {}
        }
    }

    fn edge(&mut self, function: &Function, edge: &Edge) {
        self.check(edge.target.idx() < function.blocks.len(), || format!("no block {}", edge.target));
        self.check(edge.target != BlockId(0), || "the entry has a predecessor".to_string());
        for it in &edge.moves {
            self.register(function, it.src, it.bits);
            self.register(function, it.dst, it.bits);
        }
    }

    fn registers_hold_values(&mut self, function: &Function) {
        let entries = entry_frames(function, self.module.target.pointer_bits());
        for (idx, frame) in entries.into_iter().enumerate() {
            // Blocks that nothing reaches may read what they like.
            let Some(frame) = frame else { continue };
            self.block_uses(function, BlockId::new(idx), frame);
        }
    }

    fn block_uses(&mut self, function: &Function, id: BlockId, mut frame: Frame) {
        let pointer_bits = self.module.target.pointer_bits();
        let block = function.block(id);
        for (idx, inst) in block.insts.iter().enumerate() {
            self.place = format!("@{} {id} #{idx}", function.name);
            function.for_each_use(inst, pointer_bits, |reg, bits| self.held(&frame, reg, bits));
            function.for_each_def(inst, pointer_bits, |reg, bits| frame.write(reg, bits));
        }
        self.place = format!("@{} {id} terminator", function.name);
        function.for_each_terminator_use(&block.terminator, pointer_bits, |reg, bits| self.held(&frame, reg, bits));
        for edge in block.terminator.edges() {
            self.place = format!("@{} {id} to {}", function.name, edge.target);
            let mut frame = frame.clone();
            for it in &edge.moves {
                self.held(&frame, it.src, it.bits);
                frame.write(it.dst, it.bits);
            }
        }
    }

    fn held(&mut self, frame: &Frame, reg: Reg, bits: u8) {
        self.check(frame.holds(reg, bits), || match frame.slots[reg.idx()] {
            Frame::UNSET => format!("{reg}:{bits} is read but not set to one width on every path"),
            Frame::UPPER_HALF => format!("{reg}:{bits} is the upper half of a wide value"),
            found => format!("{reg} is read as {bits} bits but holds {found}"),
        });
    }
}

/// Arguments and results of intrinsics with a fixed shape.
fn intrinsic_shape(intrinsic: Intrinsic) -> Option<(usize, usize)> {
    match intrinsic {
        Intrinsic::MemCpy | Intrinsic::MemMove | Intrinsic::MemSet => Some((3, 0)),
        Intrinsic::VaStart | Intrinsic::VaEnd | Intrinsic::StackRestore => Some((1, 0)),
        Intrinsic::VaCopy | Intrinsic::Begin | Intrinsic::Revive | Intrinsic::End => Some((2, 0)),
        Intrinsic::Folded => Some((0, 0)),
        Intrinsic::StackSave => Some((0, 1)),
        Intrinsic::ThreadLocal | Intrinsic::SetJump => Some((1, 1)),
        Intrinsic::LongJump => Some((1, 0)),
        Intrinsic::TimeStamp => Some((0, 1)),
        Intrinsic::ObjectSize => Some((2, 1)),
        Intrinsic::Fault => Some((1, 0)),
        Intrinsic::PointerStep | Intrinsic::AddressOrder | Intrinsic::FollowedAs => Some((2, 0)),
        Intrinsic::Trap | Intrinsic::FrameAddress | Intrinsic::ReturnAddress | Intrinsic::CpuId => None,
    }
}

/// What each slot is known to hold at one point: the width of the value that starts there, or one of two marks.
#[derive(Clone, PartialEq)]
struct Frame {
    slots: Vec<u8>,
}

impl Frame {
    const UNSET: u8 = 0;
    const UPPER_HALF: u8 = u8::MAX;

    fn write(&mut self, reg: Reg, bits: u8) {
        self.slots[reg.idx()] = bits;
        if slots_of(bits) == 2 {
            self.slots[reg.idx() + 1] = Self::UPPER_HALF;
        }
    }

    /// An upper half is only ever written together with the slot before it, so the two marks belong together.
    fn holds(&self, reg: Reg, bits: u8) -> bool {
        let upper_holds = slots_of(bits) == 1 || self.slots[reg.idx() + 1] == Self::UPPER_HALF;
        self.slots[reg.idx()] == bits && upper_holds
    }

    /// Keeps what both paths agree on; says whether anything was lost.
    fn meet(&mut self, other: &Frame) -> bool {
        let mut is_changed = false;
        for (slot, other) in self.slots.iter_mut().zip(&other.slots) {
            if *slot != *other && *slot != Self::UNSET {
                *slot = Self::UNSET;
                is_changed = true;
            }
        }
        is_changed
    }
}

/// What holds on entry to each block on every path from the function's entry; `None` for unreachable blocks.
fn entry_frames(function: &Function, pointer_bits: u8) -> Vec<Option<Frame>> {
    let mut entries: Vec<Option<Frame>> = vec![None; function.blocks.len()];
    let mut entry = Frame { slots: vec![Frame::UNSET; function.n_slots as usize] };
    for param in &function.params {
        entry.write(param.reg, param.bits);
    }
    entries[0] = Some(entry);
    let mut work = VecDeque::from([BlockId(0)]);
    while let Some(id) = work.pop_front() {
        let mut frame = entries[id.idx()].clone().expect("only reached blocks are in the work list");
        let block = function.block(id);
        for inst in &block.insts {
            function.for_each_def(inst, pointer_bits, |reg, bits| frame.write(reg, bits));
        }
        for edge in block.terminator.edges() {
            let mut frame = frame.clone();
            for it in &edge.moves {
                frame.write(it.dst, it.bits);
            }
            let is_changed = match &mut entries[edge.target.idx()] {
                Some(entry) => entry.meet(&frame),
                unreached => {
                    *unreached = Some(frame);
                    true
                }
            };
            if is_changed && !work.contains(&edge.target) {
                work.push_back(edge.target);
            }
        }
    }
    entries
}
