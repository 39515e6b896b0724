//! What was learned in earlier expansions: ways through a function, as decisions, and what they gave.

use std::rc::Rc;

use explore::{Explorer, Path};
use ir::{FuncId, Inst};
use rustc_hash::{FxHashMap, FxHashSet};
use term::TermId;

/// Longer ways are not kept: they rarely fit elsewhere.
pub const MAX_DECISIONS: usize = 400;
/// Ways kept for one function.
const MAX_WAYS: usize = 512;

#[derive(Clone)]
pub struct Learned {
    pub decisions: Rc<[u64]>,
    /// What was added to the path's condition on the way.
    pub cond: TermId,
    pub results: Rc<[TermId]>,
    /// Whether the results do not depend on inputs.
    pub is_constant: bool,
}

#[derive(Default)]
pub struct Summaries {
    ways: FxHashMap<FuncId, Vec<Learned>>,
    known: FxHashSet<(FuncId, Rc<[u64]>)>,
}

impl Summaries {
    pub fn n_ways(&self, func: FuncId) -> usize {
        self.ways.get(&func).map_or(0, Vec::len)
    }

    pub fn way(&self, func: FuncId, idx: usize) -> Learned {
        self.ways[&func][idx].clone()
    }

    /// `path` has just returned from a call of `func` by these decisions; at the call its condition had length `from`.
    pub fn learn(&mut self, explorer: &mut Explorer, func: FuncId, decisions: Vec<u64>, path: &Path, from: usize) {
        if self.n_ways(func) >= MAX_WAYS {
            return;
        }
        let decisions: Rc<[u64]> = decisions.into();
        if self.known.insert((func, decisions.clone())) {
            let results: Rc<[TermId]> = results(explorer, path).into();
            let terms = explorer.terms();
            let is_constant = results.iter().all(|result| terms.is_const(*result));
            let cond = path.condition.iter().skip(from).fold(terms.tru(), |all, cond| terms.and(all, cond));
            self.ways.entry(func).or_default().push(Learned { decisions, cond, results, is_constant });
        }
    }
}

fn results(explorer: &mut Explorer, path: &Path) -> Vec<TermId> {
    let module = explorer.image().module.clone();
    let frame = &path.state.top;
    let function = module.function(frame.func);
    let insts = &function.block(frame.block).insts;
    let Some(Inst::Call { call }) = (frame.inst_idx as usize).checked_sub(1).and_then(|before| insts.get(before)) else {
        return Vec::new();
    };
    let results = &function.calls[call.idx()].results;
    results.iter().map(|(reg, bits)| frame.value(*reg, *bits).to_term(explorer.terms(), u32::from(*bits))).collect()
}
