//! Where paths that part at a branch meet again.

use analysis::{Analysis, Exits, PostDominators};
use ir::{BlockId, FuncId, Module};
use rustc_hash::FxHashMap;

pub struct Meets {
    analysis: Analysis,
    postdominators: FxHashMap<FuncId, PostDominators>,
}

impl Meets {
    pub fn new(module: &Module) -> Meets {
        Meets { analysis: Analysis::new(module), postdominators: FxHashMap::default() }
    }

    /// The closest block on every way from the end of this one to a return; `None`: they meet in the caller.
    pub fn behind(&mut self, module: &Module, func: FuncId, block: BlockId) -> Option<BlockId> {
        let cfg = &self.analysis.control(module, func).cfg;
        self.postdominators.entry(func).or_insert_with(|| PostDominators::new(cfg, Exits::Returns)).ipdom(block)
    }
}
