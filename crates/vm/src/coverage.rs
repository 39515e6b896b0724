//! Which edges of the program this machine has ever taken.

/// One edge of the whole program's control-flow graphs (or the entry of a function).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(pub u32);

/// Edges ever taken by this machine, and those taken for the first time since last asked.
pub struct Coverage {
    seen: Vec<bool>,
    fresh: Vec<EdgeId>,
}

impl Coverage {
    pub(crate) fn new(n_edges: u32) -> Coverage {
        Coverage { seen: vec![false; n_edges as usize], fresh: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn mark(&mut self, edge: u32) {
        if !self.seen[edge as usize] {
            self.seen[edge as usize] = true;
            self.fresh.push(EdgeId(edge));
        }
    }

    pub(crate) fn seen(&self) -> &[bool] {
        &self.seen
    }

    pub fn take_fresh(&mut self) -> Vec<EdgeId> {
        std::mem::take(&mut self.fresh)
    }

    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Takes these for seen, though not just now.
    pub fn recall(&mut self, edges: &[EdgeId]) {
        edges.iter().for_each(|edge| self.seen[edge.0 as usize] = true);
    }

    /// Takes these for never seen: the next path over them is the first again.
    pub fn forget(&mut self, edges: &[EdgeId]) {
        edges.iter().for_each(|edge| self.seen[edge.0 as usize] = false);
    }

    pub fn is_seen(&self, edge: EdgeId) -> bool {
        self.seen[edge.0 as usize]
    }
}
