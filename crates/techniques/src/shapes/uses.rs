//! What the program takes pointers for: as what a `void *` is followed, and whether it matters where objects lie.

use explore::{Leads, Means, Path};
use ir::{Callee, Inst, Intrinsic, Module, Reg, SourceTypeId};
use term::{TermId, Terms};

use super::Shapes;
use super::kinds::KindId;
use super::pointers::{PointerId, Within};

impl Shapes {
    /// The kind that a pointer to nobody knows what is taken to point to where a path stands.
    pub fn followed_as(&self, path: &Path, pointer: PointerId, terms: &mut Terms) -> Option<KindId> {
        let (module, top) = (self.kinds.module(), &path.state.top);
        let function = module.function(top.func);
        let insts = function.block(top.block).insts.get(..=top.inst_idx as usize)?;
        for (idx, inst) in insts.iter().enumerate().rev() {
            let Some((reg, ty)) = followed(function, inst, &insts[..idx]) else { continue };
            let Some(value) = top.value(reg, module.target.pointer_bits()).term() else { continue };
            // The register may have been used for what was computed from the pointer.
            if matches!(self.pointers.within(terms, value), Within::One { pointer: other, .. } if other == pointer) {
                return self.kinds.find(ty);
            }
        }
        None
    }

    /// Why two addresses might lie otherwise to each other: they are in different objects, whose order is what we made it.
    pub fn order_of(&self, path: &Path, a: TermId, b: TermId, means: &mut Means) -> Option<String> {
        let terms = &mut means.machine.terms;
        let is_number = terms.as_const(b) == Some(0);
        let (one, other) = (self.pointers.within(terms, a), self.pointers.within(terms, b));
        let is_given = |t: TermId| terms.as_const(t).is_some_and(|addr| vm::INPUTS.contains(&(addr as u64)));
        match (&one, &other) {
            (Within::Nothing, Within::Nothing) if !is_given(a) && !is_given(b) => return None,
            (Within::One { pointer: one, .. }, Within::One { pointer: other, .. }) if one == other => return None,
            _ => {}
        }
        if is_number {
            return Some("an address is used as a number: objects lie at one address each".to_string());
        }
        let objects = [a, b].map(|addr| self.object_of(path, addr, means));
        match objects {
            [Some(one), Some(other)] if one == other => None,
            _ => Some("the order of addresses: objects lie in one order".to_string()),
        }
    }

    /// Where the one object begins that an address lies in.
    fn object_of(&self, path: &Path, addr: TermId, means: &mut Means) -> Option<u64> {
        let at = match self.lead(path, addr, means) {
            Some(Leads::Into(bases)) => return bases.first().copied().filter(|_| bases.len() == 1),
            Some(Leads::At(at)) => at,
            None => means.machine.terms.as_const(addr)? as u64,
        };
        Some(self.heap(path).around(at)?.base)
    }
}

/// The register and the type of an instruction that says as what a pointer is followed.
fn followed(function: &ir::Function, inst: &Inst, before: &[Inst]) -> Option<(Reg, SourceTypeId)> {
    let Inst::Call { call } = inst else { return None };
    let call = &function.calls[call.idx()];
    let (Callee::Intrinsic(Intrinsic::FollowedAs), [pointer, ty]) = (&call.callee, &call.args[..]) else { return None };
    let number = before.iter().rev().find_map(|inst| match inst {
        Inst::Const { dst, value, .. } if *dst == ty.reg => Some(*value),
        _ => None,
    });
    Some((pointer.reg, SourceTypeId::new(number? as usize)))
}

/// The types that pointers are followed as, each once.
pub fn followed_types(module: &Module) -> Vec<SourceTypeId> {
    let mut types = Vec::new();
    for function in &module.functions {
        for block in &function.blocks {
            let found =
                block.insts.iter().enumerate().filter_map(|(idx, inst)| followed(function, inst, &block.insts[..idx]));
            types.extend(found.map(|(_, ty)| ty));
        }
    }
    types.sort_unstable();
    types.dedup();
    types
}
