//! Loops whose rounds the machine may do at once, as far as a look at their blocks tells.

use std::collections::BTreeMap;
use std::rc::Rc;

use analysis::{CallGraph, Cfg, Liveness, Loop, SlotSet};
use ir::{Call, Callee, Function, Inst, Module, Reg};
use vm::{LoopShape, Loops};

/// Loops of more blocks are not looked at.
const MAX_BLOCKS: usize = 16;
/// How deep calls in a loop may lie.
const MAX_CALLS: u32 = 3;

/// Every loop without a loop inside that goes through bytes and does nothing that a round done at once cannot do.
pub fn loops(module: &Module) -> Loops {
    let calls = CallGraph::new(module);
    let mut found = Loops::default();
    for (func, function) in module.functions.iter().enumerate() {
        if function.is_declaration() {
            continue;
        }
        let func = ir::FuncId::new(func);
        let cfg = Cfg::new(module, func, &calls);
        let loops = analysis::Loops::new(&cfg);
        let mut liveness = None;
        let is_innermost = |id: analysis::LoopId| !loops.iter().any(|(_, other)| other.parent == Some(id));
        for (id, candidate) in loops.iter() {
            if candidate.is_irreducible() || candidate.body.len() > MAX_BLOCKS || !is_innermost(id) {
                continue;
            }
            let insts = || candidate.body.iter().flat_map(|block| &function.block(*block).insts);
            let is_byte = |inst: &Inst| matches!(inst, Inst::Load { bits: 8, .. } | Inst::Store { bits: 8, .. });
            let is_other = |inst: &Inst| match inst {
                Inst::Call { call } => !only_computes(module, &function.calls[call.idx()], MAX_CALLS),
                Inst::Store { bits, .. } => *bits != 8,
                Inst::Alloca { .. } => true,
                _ => false,
            };
            if !insts().any(is_byte) || insts().any(is_other) {
                continue;
            }
            let liveness = liveness.get_or_insert_with(|| Liveness::new(module, func));
            let live = liveness.live_in(candidate.header);
            if let Some(variables) = variables(module, function, candidate, live) {
                found.insert((func, candidate.header), Rc::new(LoopShape { body: candidate.body.clone(), variables }));
            }
        }
    }
    found
}

/// Whether a call reads and computes, and does nothing else. How long a string is may be asked, too.
fn only_computes(module: &Module, call: &Call, n_deep: u32) -> bool {
    let (Callee::Function(func), Some(n_deep)) = (&call.callee, n_deep.checked_sub(1)) else { return false };
    let function = module.function(*func);
    if function.is_runtime && function.name == "strlen" {
        return true;
    }
    let is_other = |inst: &Inst| match inst {
        Inst::Call { call } => !only_computes(module, &function.calls[call.idx()], n_deep),
        Inst::Store { .. } | Inst::Alloca { .. } => true,
        _ => false,
    };
    !function.is_declaration()
        && function.blocks.len() <= MAX_BLOCKS
        && !function.blocks.iter().flat_map(|block| &block.insts).any(is_other)
}

/// The registers that a round assigns and the next one reads. `None` where it is not plain how wide one of them is then: registers
/// are used for values of different widths.
fn variables(module: &Module, function: &Function, candidate: &Loop, live: &SlotSet) -> Option<Vec<(Reg, u8)>> {
    let mut widths: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    // What is assigned last before the head is reached again.
    let mut last: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for block_id in &candidate.body {
        let block = function.block(*block_id);
        let mut here: BTreeMap<u32, u8> = BTreeMap::new();
        for inst in &block.insts {
            function.for_each_def(inst, module.target.pointer_bits(), |reg, bits| {
                widths.entry(reg.idx() as u32).or_default().push(bits);
                here.insert(reg.idx() as u32, bits);
            });
        }
        for edge in block.terminator.edges() {
            if !candidate.contains(edge.target) {
                continue;
            }
            let mut here = here.clone();
            for step in &edge.moves {
                widths.entry(step.dst.idx() as u32).or_default().push(step.bits);
                here.insert(step.dst.idx() as u32, step.bits);
            }
            if edge.target == candidate.header {
                here.into_iter().for_each(|(reg, bits)| last.entry(reg).or_default().push(bits));
            }
        }
    }
    let n_latches = candidate.latches.len();
    let mut variables = Vec::new();
    for (reg, bits) in widths {
        if !live.contains(Reg(reg)) {
            continue;
        }
        let at_end = last.get(&reg).filter(|at_end| at_end.len() == n_latches).unwrap_or(&bits);
        if at_end.iter().any(|other| *other != at_end[0] || *other > 64) {
            return None;
        }
        variables.push((Reg(reg), at_end[0]));
    }
    Some(variables)
}
