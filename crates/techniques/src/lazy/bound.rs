//! What made-up values turned out to be on a run of the program.

use std::rc::Rc;

use explore::{Explorer, Path};
use ir::Inst;
use term::{SymbolId, TermId, Terms};
use vm::{Liveness, State};

use super::tree::{Fresh, Where};

/// Equations between made-up values and the program's; forks share.
#[derive(Clone, Default)]
pub struct Bound {
    equations: Rc<Vec<(SymbolId, TermId)>>,
}

impl Bound {
    /// With what the made-up values of a call are on a path that has just returned from it.
    pub fn with(&self, terms: &mut Terms, module: &ir::Module, fresh: &[Fresh], path: &Path) -> Bound {
        let mut equations = (*self.equations).clone();
        for made_up in fresh {
            let Some(value) = value_at(terms, module, &path.state, made_up.at) else { continue };
            if terms.width(value) != terms.width(made_up.term) {
                continue;
            }
            let equation = terms.eq(made_up.term, value);
            let symbols = terms.symbols(made_up.term).to_vec();
            equations.extend(symbols.into_iter().map(|symbol| (symbol, equation)));
        }
        Bound { equations: Rc::new(equations) }
    }

    /// The condition together with all that is known about the made-up values it speaks of.
    pub fn apply(&self, terms: &mut Terms, cond: TermId) -> TermId {
        let symbols = terms.symbols(cond).to_vec();
        let mut all = cond;
        let mut last = None;
        for (symbol, equation) in self.equations.iter() {
            if last != Some(*equation) && symbols.binary_search(symbol).is_ok() {
                all = terms.and(all, *equation);
                last = Some(*equation);
            }
        }
        all
    }
}

fn value_at(terms: &mut Terms, module: &ir::Module, state: &State, at: Where) -> Option<TermId> {
    match at {
        Where::Result(idx) => {
            let function = module.function(state.top.func);
            let before = (state.top.inst_idx as usize).checked_sub(1)?;
            let Inst::Call { call } = function.block(state.top.block).insts.get(before)? else { return None };
            let (reg, bits) = *function.calls[call.idx()].results.get(idx)?;
            Some(state.top.value(reg, bits).to_term(terms, u32::from(bits)))
        }
        Where::Memory { object, base, offset, n_bytes } => {
            let is_there = state.memory.objects(object.region).nth(object.idx as usize).is_some();
            if !is_there {
                return None;
            }
            let found = state.memory.get(object).clone();
            if found.liveness != Liveness::Alive || found.base != base || offset + u64::from(n_bytes) > found.size {
                return None;
            }
            let bytes: Vec<TermId> =
                (offset..offset + u64::from(n_bytes)).map(|at| found.byte_term(terms, at)).collect();
            Some(terms.concat_bytes(&bytes))
        }
    }
}

/// Whether a path can satisfy a condition that speaks of made-up values; then with an input of its own that does.
pub fn meets(explorer: &mut Explorer, path: &Path, bound: &Bound, cond: TermId) -> Option<term::Assignment> {
    let question = bound.apply(explorer.terms(), cond);
    match explorer.solve(path, question) {
        explore::Solved::Yes(input) => Some(input),
        explore::Solved::Unknown => Some(path.input.clone()),
        explore::Solved::No => None,
    }
}
