//! Where paths that part at a branch meet again, and how far that is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use analysis::{Analysis, Exits, PostDominators};
use ir::{BlockId, FuncId, Inst, Module};
use rustc_hash::FxHashMap;

/// What a call counts, in instructions: it may come to other branches, again and again.
const CALL: u64 = 64;

pub struct Meets {
    analysis: Analysis,
    postdominators: FxHashMap<FuncId, PostDominators>,
    /// From the start of every block to a meeting place.
    ways: FxHashMap<(FuncId, Option<BlockId>), Box<[u64]>>,
}

impl Meets {
    pub fn new(module: &Module) -> Meets {
        Meets { analysis: Analysis::new(module), postdominators: FxHashMap::default(), ways: FxHashMap::default() }
    }

    /// The closest block on every way from the end of this one to a return; `None`: they meet in the caller.
    pub fn behind(&mut self, module: &Module, func: FuncId, block: BlockId) -> Option<BlockId> {
        let cfg = &self.analysis.control(module, func).cfg;
        self.postdominators.entry(func).or_insert_with(|| PostDominators::new(cfg, Exits::Returns)).ipdom(block)
    }

    /// The shortest way from the start of a block to where those that part at `at` meet, in instructions; without end where
    /// there is none.
    pub fn way(&mut self, module: &Module, func: FuncId, at: BlockId, from: BlockId) -> u64 {
        let meet = self.behind(module, func, at);
        if !self.ways.contains_key(&(func, meet)) {
            let ways = self.ways_to(module, func, meet);
            self.ways.insert((func, meet), ways);
        }
        self.ways[&(func, meet)][from.idx()]
    }

    fn ways_to(&self, module: &Module, func: FuncId, meet: Option<BlockId>) -> Box<[u64]> {
        let (function, cfg) = (module.function(func), &self.analysis.control(module, func).cfg);
        let mut ways = vec![u64::MAX; cfg.n_blocks()].into_boxed_slice();
        let mut open = BinaryHeap::new();
        let length = |block: BlockId| -> u64 {
            let insts = &function.block(block).insts;
            insts.iter().map(|inst| if matches!(inst, Inst::Call { .. }) { CALL } else { 1 }).sum::<u64>() + 1
        };
        match meet {
            Some(meet) => open.push(Reverse((0, meet))),
            None => open.extend(
                cfg.reachable_blocks()
                    .filter(|block| matches!(function.block(*block).terminator, ir::Terminator::Return(_)))
                    .map(|block| Reverse((length(block), block))),
            ),
        }
        while let Some(Reverse((way, block))) = open.pop() {
            if ways[block.idx()] <= way {
                continue;
            }
            ways[block.idx()] = way;
            open.extend(cfg.preds(block).iter().map(|pred| Reverse((way + length(*pred), *pred))));
        }
        ways
    }
}
