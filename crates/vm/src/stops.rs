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
    #[expect(clippy::box_collection, reason = "one word where there are none")]
    waiting: Option<Box<Vec<Stop>>>,
}

impl Stops {
    pub fn push(&mut self, stop: Stop) {
        if self.last() != Some(&stop) {
            self.waiting.get_or_insert_default().push(stop);
        }
    }

    pub fn len(&self) -> usize {
        self.waiting.as_ref().map_or(0, |waiting| waiting.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn truncate(&mut self, n_stops: usize) {
        if let Some(waiting) = &mut self.waiting {
            waiting.truncate(n_stops);
        }
    }

    #[inline]
    fn last(&self) -> Option<&Stop> {
        self.waiting.as_ref()?.last()
    }

    fn pop(&mut self) {
        self.truncate(self.len().saturating_sub(1));
    }

    /// Control enters a block.
    #[inline]
    pub(crate) fn enters(&mut self, depth: u32, block: BlockId) -> bool {
        let mut arrives = false;
        while let Some(stop) = self.last()
            && (stop.depth > depth || stop.depth == depth && stop.block == Some(block))
        {
            arrives |= stop.depth == depth;
            self.pop();
        }
        arrives
    }

    /// A frame was left; `depth` are still there.
    pub(crate) fn leaves(&mut self, depth: u32) -> bool {
        let mut arrives = false;
        while let Some(stop) = self.last().filter(|stop| stop.depth > depth) {
            arrives |= stop.block.is_none();
            self.pop();
        }
        arrives
    }
}
