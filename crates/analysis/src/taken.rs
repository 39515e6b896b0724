//! Variables that something may point to: those whose address the code uses for more than to read and write them.
//!
//! Too many are said to be rather than too few. What is computed from an address is followed within a block; where it may be used
//! in another one, the variable counts.

use std::collections::BTreeMap;

use ir::{BinOp, Callee, FuncId, Function, GlobalId, Init, Inst, Module, Reg, SymbolRef};

/// The variables whose address is taken by a function other than `apart`, or by an initialiser; in order.
pub fn taken_globals(module: &Module, apart: FuncId) -> Vec<GlobalId> {
    let mut taken = Vec::new();
    for global in &module.globals {
        let Init::Bytes { relocs, .. } = &global.init else { continue };
        taken.extend(
            relocs.iter().flat_map(|reloc| std::iter::once(reloc.plus).chain(reloc.minus)).filter_map(variable),
        );
    }
    let pointer_bits = module.target.pointer_bits();
    for (_, function) in module.functions.iter().enumerate().filter(|(idx, _)| FuncId::new(*idx) != apart) {
        let mut taking = Taking { function, pointer_bits, holds: BTreeMap::default(), taken: &mut taken };
        taking.look();
    }
    taken.sort_unstable();
    taken.dedup();
    taken
}

fn variable(symbol: SymbolRef) -> Option<GlobalId> {
    match symbol {
        SymbolRef::Global(global) => Some(global),
        SymbolRef::Function(_) | SymbolRef::Block(..) => None,
    }
}

struct Taking<'m> {
    function: &'m Function,
    pointer_bits: u8,
    /// Registers that hold the address of a variable, or of a part of one.
    holds: BTreeMap<Reg, GlobalId>,
    taken: &'m mut Vec<GlobalId>,
}

impl Taking<'_> {
    fn look(&mut self) {
        let function = self.function;
        for (block_idx, block) in function.blocks.iter().enumerate() {
            self.holds.clear();
            for inst in &block.insts {
                self.inst(inst);
            }
            let (holds, taken) = (&self.holds, &mut *self.taken);
            let mut uses = |reg: Reg| taken.extend(holds.get(&reg));
            function.for_each_terminator_use(&block.terminator, self.pointer_bits, |reg, _| uses(reg));
            for edge in block.terminator.edges() {
                edge.moves.iter().for_each(|place| uses(place.src));
            }
            let left: Vec<(Reg, GlobalId)> = std::mem::take(&mut self.holds).into_iter().collect();
            for (reg, global) in left {
                if self.is_used_outside(block_idx, reg) {
                    self.taken.push(global);
                }
            }
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let (holds, taken) = (&self.holds, &mut *self.taken);
        let mut uses = |reg: Reg| taken.extend(holds.get(&reg));
        let passed_on = match inst {
            Inst::Address { symbol, .. } => variable(*symbol),
            Inst::Load { .. } => None,
            Inst::Store { src, .. } => {
                uses(*src);
                None
            }
            Inst::Index { base, index, .. } => {
                uses(*index);
                holds.get(base).copied()
            }
            Inst::BinImm { op: BinOp::Add, a: src, .. } | Inst::Copy { src, .. } => holds.get(src).copied(),
            Inst::Call { call } if matches!(self.function.calls[call.idx()].callee, Callee::Intrinsic(_)) => None,
            _ => {
                self.function.for_each_use(inst, self.pointer_bits, |reg, _| uses(reg));
                None
            }
        };
        let mut written = Vec::new();
        self.function.for_each_def(inst, self.pointer_bits, |reg, _| written.push(reg));
        for reg in written {
            match passed_on {
                Some(global) => self.holds.insert(reg, global),
                None => self.holds.remove(&reg),
            };
        }
    }

    fn is_used_outside(&self, block_idx: usize, reg: Reg) -> bool {
        let blocks = self.function.blocks.iter().enumerate().filter(|(idx, _)| *idx != block_idx);
        blocks.map(|(_, block)| block).any(|block| {
            let mut is_used = false;
            for inst in &block.insts {
                self.function.for_each_use(inst, self.pointer_bits, |used, _| is_used |= used == reg);
            }
            self.function
                .for_each_terminator_use(&block.terminator, self.pointer_bits, |used, _| is_used |= used == reg);
            is_used || block.terminator.edges().iter().any(|edge| edge.moves.iter().any(|place| place.src == reg))
        })
    }
}
