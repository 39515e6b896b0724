//! A place that the search is to come to: which edges lead there, and when it was reached.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ir::{BlockId, FuncId};
use vm::{EdgeId, Image};

/// Blocks of the program that somebody wants an input for. No blocks: nobody does.
#[derive(Clone, Debug, Default)]
pub struct Goal {
    pub blocks: Vec<(FuncId, BlockId)>,
    /// A path that came there was told. Exploring ends then.
    pub reached: Arc<AtomicBool>,
}

impl Goal {
    pub fn new(blocks: Vec<(FuncId, BlockId)>) -> Goal {
        Goal { blocks, reached: Arc::default() }
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

/// The edges that lead to a goal.
pub(crate) struct Finish {
    is_last: Vec<bool>,
}

impl Finish {
    pub fn new(goal: &Goal, image: &Image) -> Finish {
        if goal.blocks.is_empty() {
            return Finish { is_last: Vec::new() };
        }
        let mut is_last = vec![false; image.n_edges() as usize];
        for &(func, wanted) in &goal.blocks {
            // The first block of a function is entered by calls.
            is_last[image.entry_edge(func) as usize] |= wanted.idx() == 0;
            for (idx, block) in image.module.function(func).blocks.iter().enumerate() {
                let first = image.first_edge(func, BlockId::new(idx)) as usize;
                for (edge, number) in block.terminator.edges().into_iter().zip(first..) {
                    is_last[number] |= edge.target == wanted;
                }
            }
        }
        Finish { is_last }
    }

    pub fn is_among(&self, edges: &[EdgeId]) -> bool {
        !self.is_last.is_empty() && edges.iter().any(|edge| self.is_last[edge.0 as usize])
    }
}
