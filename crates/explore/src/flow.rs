//! What the machine has to know about control flow to track what depends on what: where sides meet, what they assign.

use analysis::{Analysis, Cfg, Exits, Loops, PostDominators};
use ir::{BlockId, Callee, FuncId, Function, Inst, Module, Reg, Terminator};
use vm::{BlockFlow, FlowSource, FunctionFlow};

/// Facts about each function, made when it is first asked about.
pub fn source(module: &Module) -> FlowSource<'_> {
    let analysis = Analysis::new(module);
    let may_jump = jumpers(module, &analysis);
    Box::new(move |func| function_flow(module, &analysis, func, may_jump[func.idx()]))
}

/// Functions from which a call may lead to `longjmp`, and those it may come back to.
fn jumpers(module: &Module, analysis: &Analysis) -> Vec<bool> {
    let mut may_jump = vec![false; module.functions.len()];
    let names = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
    let mut work: Vec<FuncId> = names.iter().filter_map(|name| module.find_function(name)).collect();
    while let Some(func) = work.pop() {
        if !std::mem::replace(&mut may_jump[func.idx()], true) {
            work.extend(analysis.call_graph().callers(func));
        }
    }
    may_jump
}

fn function_flow(module: &Module, analysis: &Analysis, func: FuncId, may_jump: bool) -> FunctionFlow {
    let function = module.function(func);
    let control = analysis.control(module, func);
    let exits = if may_jump { Exits::Possible } else { Exits::Returns };
    let meetings = PostDominators::new(&control.cfg, exits);
    let is_blurred = may_jump || !counts_alike(&control.cfg, &control.loops, &meetings);
    let shape = Shape { module, function, cfg: &control.cfg, loops: &control.loops, meetings: &meetings };
    let liveness = analysis.liveness(module, func);
    let mut blocks: Vec<BlockFlow> = (0..function.blocks.len()).map(|_| BlockFlow::default()).collect();
    for block in control.cfg.reachable_blocks() {
        let facts = &mut blocks[block.idx()];
        facts.depth = shape.depth(block);
        facts.headed = shape.loops.headed_by(block).map(|id| shape.loops.get(id).body.clone().into());
        if shape.is_branch(block) {
            facts.meets = shape.meetings.ipdom(block);
            facts.common_depth = facts.meets.map_or(0, |meets| shape.common_depth(block, meets));
            facts.leaving_edge = if may_jump { None } else { shape.leaving_edge(block, facts.meets) };
            if let Some(meets) = facts.meets {
                let live = liveness.live_in(meets);
                let mut assigned = shape.assigned_between(block, meets);
                assigned.retain(|reg| live.contains(*reg));
                facts.reassigned = assigned.into();
            }
        }
    }
    for block in control.cfg.reachable_blocks() {
        if let Some(meets) = blocks[block.idx()].meets {
            blocks[meets.idx()].is_eventful = true;
        }
        let depth = blocks[block.idx()].depth;
        let is_left_to = control.cfg.preds(block).iter().any(|pred| blocks[pred.idx()].depth > depth);
        if blocks[block.idx()].headed.is_some() || is_left_to {
            blocks[block.idx()].is_eventful = true;
        }
    }
    // Two loops of one depth may follow each other without a block between: both have headers, so both are seen.
    FunctionFlow { blocks, is_blurred, may_jump }
}

struct Shape<'m> {
    module: &'m Module,
    function: &'m Function,
    cfg: &'m Cfg,
    loops: &'m Loops,
    meetings: &'m PostDominators,
}

impl Shape<'_> {
    fn is_branch(&self, block: BlockId) -> bool {
        self.function.block(block).terminator.edges().len() > 1
    }

    fn depth(&self, block: BlockId) -> u32 {
        self.loops.innermost(block).map_or(0, |id| self.loops.get(id).depth)
    }

    /// How many loops are around both.
    fn common_depth(&self, block: BlockId, meets: BlockId) -> u32 {
        let mut around = self.loops.innermost(block);
        while let Some(id) = around {
            let found = self.loops.get(id);
            if found.contains(meets) {
                return found.depth;
            }
            around = found.parent;
        }
        0
    }

    /// Registers that some path from the branch to the meeting assigns, on edges too.
    fn assigned_between(&self, branch: BlockId, meets: BlockId) -> Vec<Reg> {
        let mut assigned = Vec::new();
        let pointer_bits = self.module.target.pointer_bits();
        let add_moves = |block: BlockId, assigned: &mut Vec<Reg>| {
            for edge in self.function.block(block).terminator.edges() {
                assigned.extend(edge.moves.iter().map(|step| step.dst));
            }
        };
        add_moves(branch, &mut assigned);
        for block in between(self.cfg, branch, meets).into_iter().filter(|block| can_come_back(self.cfg, *block, meets))
        {
            for inst in &self.function.block(block).insts {
                self.function.for_each_def(inst, pointer_bits, |reg, _| assigned.push(reg));
            }
            add_moves(block, &mut assigned);
        }
        assigned.sort_unstable();
        assigned.dedup();
        assigned
    }

    /// For a branch behind which one side only leaves the function and the other has all the work: the leaving edge.
    fn leaving_edge(&self, block: BlockId, meets: Option<BlockId>) -> Option<u32> {
        let terminator = &self.function.block(block).terminator;
        // How the C library returns is no matter of the program's design.
        if self.function.is_runtime {
            return None;
        }
        if !matches!(
            terminator,
            Terminator::Branch { .. } | Terminator::CmpBranch { .. } | Terminator::CmpImmBranch { .. }
        ) {
            return None;
        }
        let is_end = |block: BlockId| matches!(self.function.block(block).terminator, Terminator::Return(_));
        if meets.is_some_and(|meets| !is_end(meets)) {
            return None;
        }
        let edges = terminator.edges();
        let (first, second) = (self.only_leaves(edges[0].target, meets), self.only_leaves(edges[1].target, meets));
        let (leaving, staying) = match (first, second) {
            (true, false) => (0, 1),
            (false, true) => (1, 0),
            _ => return None,
        };
        // Where the other side only ends the program, this one is the usual way.
        self.may_return(edges[staying].target).then_some(leaving)
    }

    fn may_return(&self, from: BlockId) -> bool {
        let is_return = |block: &BlockId| matches!(self.function.block(*block).terminator, Terminator::Return(_));
        self.cfg.reachable_blocks().filter(is_return).any(|end| can_come_back(self.cfg, from, end))
    }

    /// Whether a way leads straight to the end of the function, with neither a branch nor a call on it.
    fn only_leaves(&self, from: BlockId, meets: Option<BlockId>) -> bool {
        let mut at = from;
        for _ in 0..self.function.blocks.len() {
            if Some(at) == meets {
                return true;
            }
            let block = self.function.block(at);
            if block.insts.iter().any(|inst| self.is_real_call(inst)) {
                return false;
            }
            match &block.terminator {
                Terminator::Return(_) => return true,
                Terminator::Jump(edge) => at = edge.target,
                _ => return false,
            }
        }
        false
    }

    fn is_real_call(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Call { call } => !matches!(self.function.calls[call.idx()].callee, Callee::Intrinsic(_)),
            _ => false,
        }
    }
}

/// Blocks that a path from behind the branch can be in before it comes to the meeting.
fn between(cfg: &Cfg, branch: BlockId, meets: BlockId) -> Vec<BlockId> {
    let mut is_seen = vec![false; cfg.n_blocks()];
    let mut found = Vec::new();
    let mut work: Vec<BlockId> = cfg.succs(branch).to_vec();
    while let Some(block) = work.pop() {
        if block == meets || std::mem::replace(&mut is_seen[block.idx()], true) {
            continue;
        }
        found.push(block);
        work.extend(cfg.succs(block));
    }
    found
}

/// Whether the turns of loops can be counted: on all ways from a branch to its meeting, every loop around the meeting makes
/// the same number of turns. Otherwise what is the same thing in two runs could get two names.
fn counts_alike(cfg: &Cfg, loops: &Loops, meetings: &PostDominators) -> bool {
    if loops.iter().any(|(_, found)| found.is_irreducible()) {
        return false;
    }
    if loops.iter().next().is_none() {
        return true;
    }
    for block in cfg.reachable_blocks().filter(|block| cfg.succs(*block).len() > 1) {
        let Some(meets) = meetings.ipdom(block) else { continue };
        let mut around = loops.innermost(meets);
        if around.is_none() {
            continue;
        }
        let ways = between(cfg, block, meets);
        while let Some(id) = around {
            let found = loops.get(id);
            let is_clean = !found.contains(block)
                || ways.iter().all(|way| found.contains(*way) || !can_come_back(cfg, *way, meets))
                    && !ways.contains(&found.header);
            if !is_clean {
                return false;
            }
            around = found.parent;
        }
    }
    true
}

/// Whether a way leads from `block` to `target`: what ends the program on the way there changes nothing behind it.
fn can_come_back(cfg: &Cfg, block: BlockId, target: BlockId) -> bool {
    let mut is_seen = vec![false; cfg.n_blocks()];
    let mut work = vec![block];
    while let Some(block) = work.pop() {
        if block == target {
            return true;
        }
        if !std::mem::replace(&mut is_seen[block.idx()], true) {
            work.extend(cfg.succs(block));
        }
    }
    false
}
