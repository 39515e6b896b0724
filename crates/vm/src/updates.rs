//! Loads and stores that only change a value in place, such as those of `n++`.

use ir::{BlockId, FuncId};

/// What a footprint leaves out: by function, block and instruction.
#[derive(Default)]
pub struct Updates(pub Vec<Vec<Vec<bool>>>);

impl Updates {
    pub(crate) fn of_block(&self, func: FuncId, block: BlockId) -> &[bool] {
        self.0.get(func.idx()).and_then(|blocks| blocks.get(block.idx())).map_or(&[], Vec::as_slice)
    }
}
