//! Where in a module a line of the source is.

use crate::{Block, BlockId, Edge, FuncId, Function, Module, SpanId, Terminator};

impl Module {
    /// The blocks of the program itself that begin a line. A block that comes to the line in its middle is split there, so
    /// whoever enters one of these blocks is at the line.
    pub fn blocks_at(&mut self, is_file: impl Fn(&str) -> bool, line: u32) -> Vec<(FuncId, BlockId)> {
        let Module { functions, spans, files, .. } = self;
        let mut found = Vec::new();
        for (idx, function) in functions.iter_mut().enumerate().filter(|(_, function)| !function.is_runtime) {
            let own_file = function.file;
            let is_here = |span: SpanId| {
                let span = &spans[span.idx()];
                let file = span.file.or(own_file);
                span.line == line && file.is_some_and(|file| is_file(&files[file.idx()].path))
            };
            for block in 0..function.blocks.len() {
                let Some(first) = function.blocks[block].spans.iter().position(|span| is_here(*span)) else { continue };
                let at = if first == 0 { BlockId::new(block) } else { split(function, BlockId::new(block), first) };
                found.push((FuncId::new(idx), at));
            }
        }
        found
    }
}

/// Moves a block's instructions from the given one on into a block of their own, and says which that is.
fn split(function: &mut Function, block: BlockId, from: usize) -> BlockId {
    let new = BlockId::new(function.blocks.len());
    let front = &mut function.blocks[block.idx()];
    let (insts, spans) = (front.insts.split_off(from), front.spans.split_off(from));
    let jump = Terminator::Jump(Edge { target: new, moves: Box::new([]) });
    let terminator = std::mem::replace(&mut front.terminator, jump);
    // Of what comes before: the jump is not at the line yet.
    front.spans.push(front.spans[from - 1]);
    function.blocks.push(Block { insts, terminator, spans });
    new
}
