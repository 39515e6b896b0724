//! Updates in place: a load whose value, changed, is stored back to where it came from and goes nowhere else.
//!
//! `n++` of a variable in memory is one. To whoever asks what is read, it is neither a read nor a write: the variable
//! matters before it exactly when it matters after it.

use ir::{BlockId, FuncId, Function, Inst, Module, Reg, SymbolRef};

use crate::{Faults, Liveness};

/// For each block, in the order of its instructions, which are half of an update; an empty list where none is.
pub fn updates(module: &Module, func: FuncId, liveness: &Liveness, faults: Faults) -> Vec<Vec<bool>> {
    let function = module.function(func);
    let of_block = |idx: usize| Search { module, function, block: BlockId::new(idx), liveness, faults }.updates();
    (0..function.blocks.len()).map(of_block).collect()
}

struct Search<'m> {
    module: &'m Module,
    function: &'m Function,
    block: BlockId,
    liveness: &'m Liveness,
    faults: Faults,
}

/// What an address register holds, as far as it can be told within a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    Fixed(SymbolRef, i64),
    /// Whatever the register held before this instruction.
    Of(Reg),
}

impl Search<'_> {
    fn insts(&self) -> &[Inst] {
        &self.function.block(self.block).insts
    }

    fn updates(&self) -> Vec<bool> {
        let insts = self.insts();
        let mut found = Vec::new();
        for (idx, inst) in insts.iter().enumerate() {
            let Inst::Load { dst, bits, addr, .. } = inst else { continue };
            if let Some(store_idx) = self.store_back(idx, *dst, *bits, *addr) {
                found.resize(insts.len(), false);
                found[idx] = true;
                found[store_idx] = true;
            }
        }
        found
    }

    /// The store that takes the value loaded at `load_idx` back.
    fn store_back(&self, load_idx: usize, dst: Reg, bits: u8, addr: Reg) -> Option<usize> {
        let from = self.address(addr, load_idx);
        let mut carriers = vec![dst];
        for (idx, inst) in self.insts().iter().enumerate().skip(load_idx + 1) {
            if let Inst::Store { src, bits: stored, addr, .. } = inst {
                let back = self.address_since(*addr, load_idx, idx);
                let is_back =
                    carriers.contains(src) && !carriers.contains(addr) && *stored == bits && back == Some(from);
                return (is_back && !self.used_after(idx, &carriers)).then_some(idx);
            }
            let is_used = self.uses(inst, &carriers);
            if is_used && !self.is_silent(inst) || matches!(inst, Inst::Call { .. }) {
                return None;
            }
            self.redefine(inst, &mut carriers, is_used);
        }
        None
    }

    fn uses(&self, inst: &Inst, carriers: &[Reg]) -> bool {
        let mut is_used = false;
        self.function
            .for_each_use(inst, self.module.target.pointer_bits(), |reg, _| is_used |= carriers.contains(&reg));
        is_used
    }

    /// What is computed from a carrier is one, too; what is computed from others is none any more.
    fn redefine(&self, inst: &Inst, carriers: &mut Vec<Reg>, is_used: bool) {
        self.function.for_each_def(inst, self.module.target.pointer_bits(), |reg, _| {
            carriers.retain(|carrier| *carrier != reg);
            if is_used {
                carriers.push(reg);
            }
        });
    }

    fn is_silent(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Bin { op, nsw, bits, .. } | Inst::BinImm { op, nsw, bits, .. } => {
                *bits <= 64 && self.faults.is_silent(*op, *nsw)
            }
            Inst::Cast { from, to, .. } => *from <= 64 && *to <= 64,
            Inst::Copy { bits, .. } => *bits <= 64,
            _ => false,
        }
    }

    fn used_after(&self, store_idx: usize, carriers: &[Reg]) -> bool {
        let live = self.liveness.live_before(self.function, self.block, store_idx + 1);
        carriers.iter().any(|carrier| live.contains(*carrier))
    }

    /// What `addr` holds at `idx`.
    fn address(&self, addr: Reg, idx: usize) -> Address {
        self.last_definition(addr, 0, idx).unwrap_or(Address::Of(addr))
    }

    /// What `addr` holds at `idx`, told in what registers held at `since`.
    fn address_since(&self, addr: Reg, since: usize, idx: usize) -> Option<Address> {
        let insts = &self.insts()[since..idx];
        let mut is_defined = false;
        for inst in insts {
            self.function.for_each_def(inst, self.module.target.pointer_bits(), |reg, bits| {
                is_defined |= (reg.idx()..reg.idx() + ir::slots_of(bits) as usize).contains(&addr.idx());
            });
        }
        if !is_defined {
            return Some(self.address(addr, since));
        }
        match self.last_definition(addr, since, idx) {
            Some(fixed @ Address::Fixed(..)) => Some(fixed),
            _ => None,
        }
    }

    fn last_definition(&self, addr: Reg, from: usize, to: usize) -> Option<Address> {
        for inst in self.insts()[from..to].iter().rev() {
            let mut defines = false;
            self.function.for_each_def(inst, self.module.target.pointer_bits(), |reg, bits| {
                defines |= (reg.idx()..reg.idx() + ir::slots_of(bits) as usize).contains(&addr.idx());
            });
            match inst {
                Inst::Address { symbol, addend, .. } if defines => return Some(Address::Fixed(*symbol, *addend)),
                _ if defines => return Some(Address::Of(addr)),
                _ => {}
            }
        }
        None
    }
}
