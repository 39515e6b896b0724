//! Dominators and postdominators.
//!
//! Both are one algorithm (Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm") on two graphs. For
//! postdominators the graph is turned round and starts at a virtual exit, to which every place is joined where a path can
//! end. A loop that no path leaves has no such place; each strongly connected region without a way out gets one edge to
//! the exit, from the block through which reverse postorder first comes to it, so that the order inside the loop's turn
//! is kept.

use ir::BlockId;

use crate::Cfg;
use crate::cfg::Leaving;
use crate::components::components;

/// Which ends of a path count for postdominance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exits {
    /// Only returns: a path that ends the program, or hangs, restricts nothing. After `if (bad) abort();` both sides meet
    /// in what follows. Blocks from which no return can be reached are ordered among themselves as by `Certain`.
    Returns,
    /// Returns, calls that never return, and loops that no path leaves.
    Certain,
    /// These, and every call of a function that may end the program on some path.
    Possible,
}

/// A tree over nodes with constant-time ancestor tests.
#[derive(Clone, Debug)]
struct Tree {
    /// `None` for the root and for nodes outside the tree.
    parent: Vec<Option<usize>>,
    /// When a walk over the tree enters and leaves each node; `(0, 0)` for nodes outside the tree.
    interval: Vec<(u32, u32)>,
}

impl Tree {
    /// The dominator tree from `order[0]`; `order` is a reverse postorder of everything in the graph.
    fn of_dominators(order: &[usize], preds: &[Vec<usize>]) -> Self {
        let n_nodes = preds.len();
        let mut position = vec![usize::MAX; n_nodes];
        for (idx, &node) in order.iter().enumerate() {
            position[node] = idx;
        }
        // Immediate dominators as positions in `order`, so that a smaller number is nearer to the root.
        let mut idom: Vec<Option<usize>> = vec![None; order.len()];
        if !order.is_empty() {
            idom[0] = Some(0);
        }
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for at in 1..order.len() {
                let known = preds[order[at]]
                    .iter()
                    .map(|&pred| position[pred])
                    .filter(|&pred| pred != usize::MAX && idom[pred].is_some());
                let meet = known.reduce(|a, b| intersect(&idom, a, b));
                if meet.is_some() && idom[at] != meet {
                    idom[at] = meet;
                    is_changed = true;
                }
            }
        }
        let mut parent = vec![None; n_nodes];
        for at in 1..order.len() {
            parent[order[at]] = idom[at].map(|idom| order[idom]);
        }
        let interval = intervals(order, &parent);
        Self { parent, interval }
    }

    fn is_ancestor(&self, above: usize, below: usize) -> bool {
        let ((enter, leave), (at, _)) = (self.interval[above], self.interval[below]);
        at != 0 && enter != 0 && enter <= at && at <= leave
    }
}

fn intersect(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let (high, low) = (a.max(b), a.min(b));
        a = idom[high].expect("only processed nodes are compared");
        b = low;
    }
    a
}

/// `order` lists parents before children.
fn intervals(order: &[usize], parent: &[Option<usize>]) -> Vec<(u32, u32)> {
    let mut size = vec![0u32; parent.len()];
    for &node in order.iter().rev() {
        size[node] += 1;
        if let Some(parent) = parent[node] {
            size[parent] += size[node];
        }
    }
    let mut interval = vec![(0, 0); parent.len()];
    // The next free number below each node whose own number is given.
    let mut next = vec![1u32; parent.len()];
    for &node in order {
        let enter = match parent[node] {
            Some(parent) => {
                let enter = next[parent];
                next[parent] += size[node];
                enter
            }
            None => 1,
        };
        interval[node] = (enter, enter + size[node] - 1);
        next[node] = enter + 1;
    }
    interval
}

#[derive(Clone, Debug)]
pub struct Dominators {
    tree: Tree,
}

impl Dominators {
    pub fn new(cfg: &Cfg) -> Self {
        let order: Vec<usize> = cfg.blocks_in_reverse_postorder().iter().map(|block| block.idx()).collect();
        let preds: Vec<Vec<usize>> = (0..cfg.n_blocks())
            .map(|idx| cfg.preds(BlockId::new(idx)).iter().map(|pred| pred.idx()).collect())
            .collect();
        Self { tree: Tree::of_dominators(&order, &preds) }
    }

    /// The closest block, other than itself, on every path from the entry to `block`; `None` for the entry and for
    /// unreachable blocks.
    pub fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.tree.parent[block.idx()].map(BlockId::new)
    }

    /// Whether every path from the entry to `below` passes `above`. A block dominates itself. False when either is
    /// unreachable.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        self.tree.is_ancestor(above.idx(), below.idx())
    }
}

#[derive(Clone, Debug)]
pub struct PostDominators {
    /// Node `n_blocks` is the virtual exit.
    tree: Tree,
    endless: Vec<BlockId>,
}

impl PostDominators {
    pub fn new(cfg: &Cfg, exits: Exits) -> Self {
        let graph = ExitGraph::new(cfg, exits);
        let order = graph.order_from_exit();
        // In the graph turned round, what comes before a node is what follows it in the function.
        Self { tree: Tree::of_dominators(&order, &graph.succs), endless: graph.endless }
    }

    /// The closest block, other than itself, on every path from `block` to the end; `None` when there is none short of
    /// the virtual exit, and for unreachable blocks.
    pub fn ipdom(&self, block: BlockId) -> Option<BlockId> {
        let exit = self.tree.parent.len() - 1;
        self.tree.parent[block.idx()].filter(|&parent| parent != exit).map(BlockId::new)
    }

    /// Whether every path from `block` to its end passes `after`. A block postdominates itself. False when either is
    /// unreachable.
    pub fn postdominates(&self, after: BlockId, block: BlockId) -> bool {
        self.tree.is_ancestor(after.idx(), block.idx())
    }

    /// Blocks joined to the virtual exit because no path leaves the cycles they are on, in ascending order.
    pub fn endless(&self) -> &[BlockId] {
        &self.endless
    }
}

/// The reachable blocks and the virtual exit, which every node reaches.
struct ExitGraph {
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    endless: Vec<BlockId>,
}

impl ExitGraph {
    fn new(cfg: &Cfg, exits: Exits) -> Self {
        let exit = cfg.n_blocks();
        let mut succs = vec![Vec::new(); exit + 1];
        for block in cfg.reachable_blocks() {
            succs[block.idx()].extend(cfg.succs(block).iter().map(|succ| succ.idx()));
            let leaves = match cfg.leaving(block) {
                Leaving::No => false,
                Leaving::Maybe => exits == Exits::Possible,
                Leaving::Return | Leaving::End => true,
            };
            if leaves {
                succs[block.idx()].push(exit);
            }
        }
        let endless = endless_blocks(cfg, &succs);
        for block in &endless {
            succs[block.idx()].push(exit);
        }
        if exits == Exits::Returns {
            forget_what_cannot_return(cfg, &mut succs);
        }
        let mut preds = vec![Vec::new(); exit + 1];
        for (node, targets) in succs.iter().enumerate() {
            for &target in targets {
                preds[target].push(node);
            }
        }
        Self { succs, preds, endless }
    }

    /// Reverse postorder of the graph turned round.
    fn order_from_exit(&self) -> Vec<usize> {
        let exit = self.succs.len() - 1;
        let mut order = Vec::new();
        let mut is_seen = vec![false; self.succs.len()];
        is_seen[exit] = true;
        let mut path = vec![(exit, 0)];
        while let Some((node, next)) = path.last_mut() {
            match self.preds[*node].get(*next) {
                Some(&pred) => {
                    *next += 1;
                    if !std::mem::replace(&mut is_seen[pred], true) {
                        path.push((pred, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

/// One block for each strongly connected region that no path leaves.
fn endless_blocks(cfg: &Cfg, succs: &[Vec<usize>]) -> Vec<BlockId> {
    let is_reachable = |node: usize| node < cfg.n_blocks() && cfg.is_reachable(BlockId::new(node));
    let mut endless: Vec<BlockId> = components(succs.len(), is_reachable, |node, k| succs[node].get(k).copied())
        .into_iter()
        .filter(|region| region.iter().all(|&node| succs[node].iter().all(|succ| region.binary_search(succ).is_ok())))
        .filter_map(|region| region.into_iter().map(BlockId::new).min_by_key(|block| cfg.position(*block)))
        .collect();
    endless.sort_unstable();
    endless
}

/// Takes away every edge from a block that can reach a return to one that cannot.
fn forget_what_cannot_return(cfg: &Cfg, succs: &mut [Vec<usize>]) {
    let mut can_return = vec![false; succs.len()];
    let mut work: Vec<BlockId> =
        cfg.reachable_blocks().filter(|block| cfg.leaving(*block) == Leaving::Return).collect();
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut can_return[block.idx()], true) {
            work.extend(cfg.preds(block).iter().filter(|pred| cfg.is_reachable(**pred)));
        }
    }
    let exit = succs.len() - 1;
    for (node, targets) in succs.iter_mut().enumerate() {
        if can_return[node] {
            targets.retain(|&target| target == exit || can_return[target]);
        }
    }
}
