//! Where a traced run is to stop, so that paths which parted are looked at again where they meet.

use ir::BlockId;

/// Where a traced run is to return [`Effect::Arrived`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How many frames there are then.
    pub depth: u32,
    /// At the beginning of this block; `None`: right behind the call that frame was entered by.
    pub block: Option<BlockId>,
}

/// The stops of the running path: the newest comes first, and with a frame its own are gone.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    waiting: Vec<Stop>,
}

impl Stops {
    pub fn push(&mut self, stop: Stop) {
        if self.waiting.last() != Some(&stop) {
            self.waiting.push(stop);
        }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn truncate(&mut self, n_stops: usize) {
        self.waiting.truncate(n_stops);
    }

    /// Control enters a block.
    #[inline]
    pub(crate) fn enters(&mut self, depth: u32, block: BlockId) -> bool {
        let mut arrives = false;
        while let Some(stop) = self.waiting.last()
            && (stop.depth > depth || stop.depth == depth && stop.block == Some(block))
        {
            arrives |= stop.depth == depth;
            self.waiting.pop();
        }
        arrives
    }

    /// A frame was left; `depth` are still there.
    pub(crate) fn leaves(&mut self, depth: u32) -> bool {
        let mut arrives = false;
        while let Some(stop) = self.waiting.last().filter(|stop| stop.depth > depth) {
            arrives |= stop.block.is_none();
            self.waiting.pop();
        }
        arrives
    }
}
