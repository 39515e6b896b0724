//! What was learned in earlier expansions: ways through a function, as decisions, and what they gave.

use std::rc::Rc;

use explore::Path;
use ir::{FuncId, Inst};
use rustc_hash::{FxHashMap, FxHashSet};
use vm::Image;

/// Longer ways are not kept: they rarely fit elsewhere.
pub const MAX_DECISIONS: usize = 400;
/// Ways kept for one function.
const MAX_WAYS: usize = 512;

#[derive(Clone)]
pub struct Learned {
    pub decisions: Rc<[u64]>,
    /// The results that did not depend on inputs.
    pub results: Rc<[Option<u128>]>,
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

    /// `path` has just returned from a call of `func` by these decisions.
    pub fn learn(&mut self, image: &Image, func: FuncId, decisions: Vec<u64>, path: &Path) {
        if self.n_ways(func) >= MAX_WAYS {
            return;
        }
        let decisions: Rc<[u64]> = decisions.into();
        if self.known.insert((func, decisions.clone())) {
            let results = results(image, path).into();
            self.ways.entry(func).or_default().push(Learned { decisions, results });
        }
    }
}

fn results(image: &Image, path: &Path) -> Vec<Option<u128>> {
    let frame = &path.state.top;
    let function = image.module.function(frame.func);
    let insts = &function.block(frame.block).insts;
    let Some(Inst::Call { call }) = (frame.inst_idx as usize).checked_sub(1).and_then(|before| insts.get(before)) else {
        return Vec::new();
    };
    let results = &function.calls[call.idx()].results;
    results.iter().map(|(reg, bits)| frame.value(*reg, *bits)).map(|value| value.term().is_none().then_some(value.bits)).collect()
}
