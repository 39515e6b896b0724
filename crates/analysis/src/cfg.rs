//! The control-flow graph of one function.

use ir::{BlockId, FuncId, Inst, Module, Terminator};

use crate::CallGraph;

/// Blocks and the edges that execution can take between them.
///
/// A block with a call that never returns has no successors: its path ends there. Several edges between the same two
/// blocks are one edge here.
#[derive(Clone, Debug)]
pub struct Cfg {
    succs: Vec<Vec<BlockId>>,
    preds: Vec<Vec<BlockId>>,
    leaving: Vec<Leaving>,
    /// Blocks reachable from the entry.
    reverse_postorder: Vec<BlockId>,
    /// Position in `reverse_postorder`, `None` for unreachable blocks.
    position: Vec<Option<u32>>,
}

/// How a block's path may leave the function at that block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// It always goes on to a successor.
    No,
    /// It goes on, unless a call it makes ends the program.
    Maybe,
    /// By `return`.
    Return,
    /// By a call that never returns, or by running into `unreachable`.
    End,
}

impl Cfg {
    pub fn new(module: &Module, func: FuncId, call_graph: &CallGraph) -> Self {
        let function = module.function(func);
        let mut succs = Vec::with_capacity(function.blocks.len());
        let mut leaving = Vec::with_capacity(function.blocks.len());
        for block in &function.blocks {
            let calls = block.insts.iter().filter_map(|inst| match inst {
                Inst::Call { call } => Some(&function.calls[call.idx()]),
                _ => None,
            });
            let mut how = match block.terminator {
                Terminator::Return(_) => Leaving::Return,
                Terminator::Unreachable => Leaving::End,
                _ => Leaving::No,
            };
            for call in calls {
                if !call_graph.call_may_return(call) {
                    how = Leaving::End;
                } else if how == Leaving::No && call_graph.call_may_not_return(call) {
                    how = Leaving::Maybe;
                }
            }
            let mut targets: Vec<BlockId> = Vec::new();
            if matches!(how, Leaving::No | Leaving::Maybe) {
                for edge in block.terminator.edges() {
                    if !targets.contains(&edge.target) {
                        targets.push(edge.target);
                    }
                }
            }
            succs.push(targets);
            leaving.push(how);
        }
        Self::from_edges(succs, leaving)
    }

    fn from_edges(succs: Vec<Vec<BlockId>>, leaving: Vec<Leaving>) -> Self {
        let mut preds = vec![Vec::new(); succs.len()];
        for (idx, targets) in succs.iter().enumerate() {
            for target in targets {
                preds[target.idx()].push(BlockId::new(idx));
            }
        }
        let reverse_postorder = reverse_postorder(&succs);
        let mut position = vec![None; succs.len()];
        for (idx, block) in reverse_postorder.iter().enumerate() {
            position[block.idx()] = Some(idx as u32);
        }
        Self { succs, preds, leaving, reverse_postorder, position }
    }

    pub fn n_blocks(&self) -> usize {
        self.succs.len()
    }

    pub fn succs(&self, block: BlockId) -> &[BlockId] {
        &self.succs[block.idx()]
    }

    /// Unreachable blocks are among them.
    pub fn preds(&self, block: BlockId) -> &[BlockId] {
        &self.preds[block.idx()]
    }

    /// Reachable blocks, each before its successors but for edges that close a cycle.
    pub fn blocks_in_reverse_postorder(&self) -> &[BlockId] {
        &self.reverse_postorder
    }

    /// Blocks that a path from the entry can reach, in ascending order.
    pub fn reachable_blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        (0..self.n_blocks()).map(BlockId::new).filter(|block| self.is_reachable(*block))
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.idx()].is_some()
    }

    /// Where `block` stands in reverse postorder.
    pub(crate) fn position(&self, block: BlockId) -> Option<usize> {
        self.position[block.idx()].map(|position| position as usize)
    }

    pub(crate) fn leaving(&self, block: BlockId) -> Leaving {
        self.leaving[block.idx()]
    }

    /// Whether a path ends at this block for certain: by `return`, by a call that never returns, or at `unreachable`.
    pub fn is_exit(&self, block: BlockId) -> bool {
        matches!(self.leaving(block), Leaving::Return | Leaving::End)
    }
}

fn reverse_postorder(succs: &[Vec<BlockId>]) -> Vec<BlockId> {
    let mut order = Vec::new();
    let mut is_seen = vec![false; succs.len()];
    let mut path = Vec::new();
    if !succs.is_empty() {
        is_seen[0] = true;
        path.push((BlockId(0), 0));
    }
    while let Some((block, next)) = path.last_mut() {
        // Successors from the last to the first, so that the first alternative stands first in the result.
        match succs[block.idx()].iter().rev().nth(*next) {
            Some(succ) => {
                *next += 1;
                if !std::mem::replace(&mut is_seen[succ.idx()], true) {
                    path.push((*succ, 0));
                }
            }
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}
