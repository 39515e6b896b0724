//! Which functions are skipped when the user does not say.
//!
//! Worth it are functions with many paths of their own whose results matter to their callers: a scan over a buffer, a
//! comparison of strings, a lexer. What only ties such functions together is entered, and so is everything recursive:
//! there the paths are what is to be tested. The library is entered, too: what fails in it is the fault of its caller.
//! Whether inputs have anything to do with a call is not asked here but of each call when the run meets it.

use std::collections::BTreeSet;

use analysis::CallGraph;
use ir::{Callee, FuncId, Function, Inst, Module, SourceType, Terminator};

use super::effects::Effects;

/// A function with fewer paths of its own is not worth the search that skipping costs.
const MANY_PATHS: u64 = 6;

pub fn choose(module: &Module, graph: &CallGraph, effects: &[Effects], entry: FuncId) -> Vec<FuncId> {
    let mut chooser = Chooser { module, graph, n_paths: vec![1; module.functions.len()], chosen: Vec::new() };
    for component in graph.components() {
        for func in component {
            chooser.consider(*func, effects, entry);
        }
    }
    let (below, above) = (reached(entry, |func| graph.callees(func)), reached(entry, |func| graph.callers(func)));
    chooser.chosen.retain(|func| below.contains(func) && !above.contains(func));
    chooser.chosen.sort_unstable();
    chooser.chosen
}

/// What can be got to from a function, itself included.
pub fn reached<'g>(from: FuncId, next: impl Fn(FuncId) -> &'g [FuncId]) -> BTreeSet<FuncId> {
    let mut reached = BTreeSet::from([from]);
    let mut work = vec![from];
    while let Some(func) = work.pop() {
        work.extend(next(func).iter().filter(|other| reached.insert(**other)));
    }
    reached
}

struct Chooser<'a> {
    module: &'a Module,
    graph: &'a CallGraph,
    /// Paths of each function seen so far, those of chosen callees not counted.
    n_paths: Vec<u64>,
    chosen: Vec<FuncId>,
}

impl Chooser<'_> {
    fn consider(&mut self, func: FuncId, effects: &[Effects], entry: FuncId) {
        let function = self.module.function(func);
        if function.is_declaration() {
            return;
        }
        let n_paths = self.own_paths(func, function);
        self.n_paths[func.idx()] = n_paths;
        let is_candidate = func != entry
            && !function.is_runtime
            && (MANY_PATHS..RECURSIVE).contains(&n_paths)
            && !function.variadic
            && !returns_pointer(self.module, function)
            && effects[func.idx()].obstacle().is_none()
            && self.matters(func, function, &effects[func.idx()]);
        if is_candidate {
            self.chosen.push(func);
            self.n_paths[func.idx()] = 1;
        }
    }

    /// Paths from entry to return, up to a bound; a loop counts as many.
    fn own_paths(&self, func: FuncId, function: &Function) -> u64 {
        if self.graph.is_recursive(func) {
            return RECURSIVE;
        }
        let mut below: Vec<Option<u64>> = vec![None; function.blocks.len()];
        let mut state = vec![Visit::New; function.blocks.len()];
        self.paths_from(function, 0, &mut below, &mut state)
    }

    fn paths_from(&self, function: &Function, start: usize, below: &mut [Option<u64>], state: &mut [Visit]) -> u64 {
        let mut stack = vec![start];
        let mut n_loops = 0u64;
        while let Some(&block_idx) = stack.last() {
            let block = &function.blocks[block_idx];
            if state[block_idx] == Visit::New {
                state[block_idx] = Visit::Open;
                for edge in block.terminator.edges() {
                    match state[edge.target.idx()] {
                        Visit::New => stack.push(edge.target.idx()),
                        // Back to a block on the way here: a loop, which counts as many paths when a choice can leave it.
                        Visit::Open => n_loops += 1,
                        Visit::Done => {}
                    }
                }
                continue;
            }
            stack.pop();
            if state[block_idx] == Visit::Done {
                continue;
            }
            state[block_idx] = Visit::Done;
            let edges = block.terminator.edges();
            let mut targets: Vec<usize> = edges.iter().map(|edge| edge.target.idx()).collect();
            targets.sort_unstable();
            targets.dedup();
            let after: u64 = match block.terminator {
                Terminator::Return(_) | Terminator::Unreachable => 1,
                _ => targets.iter().map(|target| below[*target].unwrap_or(0)).fold(0, u64::saturating_add).max(1),
            };
            let inside =
                block.insts.iter().fold(1u64, |paths, inst| paths.saturating_mul(self.call_paths(function, inst)));
            below[block_idx] = Some(after.saturating_mul(inside).min(RECURSIVE));
        }
        let n_paths = below[start].unwrap_or(1);
        if n_loops > 0 && n_paths < RECURSIVE { n_paths.max(MANY_PATHS) } else { n_paths }
    }

    fn call_paths(&self, function: &Function, inst: &Inst) -> u64 {
        match inst {
            Inst::Call { call } => match function.calls[call.idx()].callee {
                Callee::Function(callee) => self.n_paths[callee.idx()],
                _ => 1,
            },
            _ => 1,
        }
    }

    /// Whether some caller looks at what a call gives it.
    fn matters(&self, func: FuncId, function: &Function, effects: &Effects) -> bool {
        let writes = &effects.writes;
        if writes.params != 0 || writes.globals.iter().any(|global| !self.module.global(*global).is_runtime) {
            return true;
        }
        !function.results.is_empty() && self.graph.callers(func).iter().any(|caller| self.looks_at(*caller, func))
    }

    /// Whether a result of `func` decides anything in `caller`, or leaves it.
    fn looks_at(&self, caller: FuncId, func: FuncId) -> bool {
        let function = self.module.function(caller);
        let calls = function.calls.iter().filter(|call| call.callee == Callee::Function(func));
        calls.into_iter().any(|call| call.result_used)
    }
}

/// Stands for unboundedly many paths.
const RECURSIVE: u64 = 1 << 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

fn returns_pointer(module: &Module, function: &Function) -> bool {
    let Some(signature) = function.signature else { return false };
    match module.ty(signature) {
        SourceType::Function { result, .. } => {
            result.and_then(|ty| module.strip(ty)).is_some_and(|ty| matches!(module.ty(ty), SourceType::Pointer { .. }))
        }
        _ => false,
    }
}
