//! Loops and how they nest.
//!
//! A loop is a strongly connected region. Taking its header away leaves its inner loops, found the same way. Where the
//! region can be entered through one block only, that block is the header, dominates the body, and the region is the
//! natural loop of the textbook (all back edges to one header taken together). A region with several entries is
//! irreducible; its header is the entry that comes first in reverse postorder.
//!
//! So every cycle of the function passes through the header of some loop, irreducible or not: watching headers is enough
//! to see every repetition.

use ir::BlockId;

use crate::Cfg;
use crate::components::components;

/// Index into `Loops::all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

impl LoopId {
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub header: BlockId,
    /// All blocks through which the body is entered from outside, ascending. Just the header unless irreducible.
    pub entries: Vec<BlockId>,
    /// Header and inner loops included, ascending.
    pub body: Vec<BlockId>,
    /// Blocks of the body with an edge to the header, ascending.
    pub latches: Vec<BlockId>,
    /// Edges out of the body.
    pub exits: Vec<(BlockId, BlockId)>,
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

impl Loop {
    pub fn is_irreducible(&self) -> bool {
        self.entries.len() > 1
    }

    pub fn contains(&self, block: BlockId) -> bool {
        self.body.binary_search(&block).is_ok()
    }
}

#[derive(Clone, Debug)]
pub struct Loops {
    /// A loop comes before the loops inside it.
    all: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
    headed: Vec<Option<LoopId>>,
}

impl Loops {
    pub fn new(cfg: &Cfg) -> Self {
        let n_blocks = cfg.n_blocks();
        let mut loops = Self { all: Vec::new(), innermost: vec![None; n_blocks], headed: vec![None; n_blocks] };
        let everything: Vec<BlockId> = cfg.reachable_blocks().collect();
        let mut work = vec![(everything, None)];
        while let Some((blocks, parent)) = work.pop() {
            for region in regions(cfg, &blocks) {
                let id = loops.add(cfg, region, parent);
                let added = &loops.all[id.idx()];
                let inside = added.body.iter().copied().filter(|block| *block != added.header).collect();
                work.push((inside, Some(id)));
            }
        }
        loops
    }

    fn add(&mut self, cfg: &Cfg, body: Vec<BlockId>, parent: Option<LoopId>) -> LoopId {
        let id = LoopId(self.all.len() as u32);
        let is_inside = |block: &BlockId| body.binary_search(block).is_ok();
        let is_entered = |block: &BlockId| {
            cfg.preds(*block).iter().any(|pred| cfg.is_reachable(*pred) && !is_inside(pred)) || *block == BlockId(0)
        };
        let entries: Vec<BlockId> = body.iter().copied().filter(is_entered).collect();
        let header =
            *entries.iter().min_by_key(|block| cfg.position(**block)).expect("a reachable region is entered somewhere");
        let latches = body.iter().copied().filter(|block| cfg.succs(*block).contains(&header)).collect();
        let exits = body
            .iter()
            .flat_map(|block| cfg.succs(*block).iter().map(|succ| (*block, *succ)))
            .filter(|(_, succ)| !is_inside(succ))
            .collect();
        for block in &body {
            self.innermost[block.idx()] = Some(id);
        }
        self.headed[header.idx()] = Some(id);
        let depth = parent.map_or(1, |parent| self.all[parent.idx()].depth + 1);
        self.all.push(Loop { header, entries, body, latches, exits, parent, depth });
        id
    }

    /// Every loop, each before the loops inside it.
    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &Loop)> {
        self.all.iter().enumerate().map(|(idx, it)| (LoopId(idx as u32), it))
    }

    pub fn get(&self, id: LoopId) -> &Loop {
        &self.all[id.idx()]
    }

    /// The smallest loop around `block`.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block.idx()]
    }

    /// The loop that `block` is the header of.
    pub fn headed_by(&self, block: BlockId) -> Option<LoopId> {
        self.headed[block.idx()]
    }
}

/// The strongly connected regions with a cycle in the subgraph on `blocks`, which is in ascending order.
fn regions(cfg: &Cfg, blocks: &[BlockId]) -> Vec<Vec<BlockId>> {
    // Nodes are places in `blocks`: the work is in proportion to the part looked at, not to the whole function.
    let place = |block: &BlockId| blocks.binary_search(block).ok();
    let succs: Vec<Vec<usize>> =
        blocks.iter().map(|block| cfg.succs(*block).iter().filter_map(place).collect()).collect();
    components(blocks.len(), |_| true, |node, k| succs[node].get(k).copied())
        .into_iter()
        .filter(|region| region.len() > 1 || succs[region[0]].contains(&region[0]))
        .map(|region| region.into_iter().map(|node| blocks[node]).collect())
        .collect()
}
