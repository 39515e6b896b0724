//! Who calls whom, who is recursive, and which calls come back.

use ir::{Call, Callee, FuncId, Init, Inst, Intrinsic, Module, SymbolRef, Terminator};

use crate::components::components;

#[derive(Clone, Debug)]
pub struct CallGraph {
    callees: Vec<Vec<FuncId>>,
    callers: Vec<Vec<FuncId>>,
    address_taken: Vec<FuncId>,
    /// Parameters of each address-taken function, in the same order.
    shapes: Vec<Shape>,
    components: Vec<Vec<FuncId>>,
    component_of: Vec<usize>,
    may_return: Vec<bool>,
    may_not_return: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    n_params: usize,
    variadic: bool,
}

impl CallGraph {
    pub fn new(module: &Module) -> Self {
        let address_taken = address_taken(module);
        let shapes = address_taken
            .iter()
            .map(|func| module.function(*func))
            .map(|function| Shape { n_params: function.params.len(), variadic: function.variadic })
            .collect();
        let n_functions = module.functions.len();
        let mut graph = Self {
            callees: Vec::new(),
            callers: vec![Vec::new(); n_functions],
            address_taken,
            shapes,
            components: Vec::new(),
            component_of: vec![0; n_functions],
            may_return: Vec::new(),
            may_not_return: Vec::new(),
        };
        graph.find_edges(module);
        graph.find_components();
        graph.find_returns(module);
        graph
    }

    fn find_edges(&mut self, module: &Module) {
        for (idx, function) in module.functions.iter().enumerate() {
            let mut callees: Vec<FuncId> = made_calls(function).flat_map(|call| self.targets(call)).collect();
            callees.sort_unstable();
            callees.dedup();
            for callee in &callees {
                self.callers[callee.idx()].push(FuncId::new(idx));
            }
            self.callees.push(callees);
        }
    }

    fn find_components(&mut self) {
        let succ = |node: usize, k: usize| self.callees[node].get(k).map(|callee: &FuncId| callee.idx());
        let found = components(self.callees.len(), |_| true, succ);
        for (number, component) in found.into_iter().enumerate() {
            for &node in &component {
                self.component_of[node] = number;
            }
            self.components.push(component.into_iter().map(FuncId::new).collect());
        }
    }

    /// Both are least fixed points from below: a function returns when some path to a return makes only calls that
    /// return, so endless recursion does not; it may fail to return when some path makes a call that may fail to.
    fn find_returns(&mut self, module: &Module) {
        let returns_unseen = |function: &ir::Function| !function.no_return && function.is_declaration();
        self.may_return = module.functions.iter().map(returns_unseen).collect();
        self.may_not_return = module.functions.iter().map(|function| function.no_return).collect();
        let components = std::mem::take(&mut self.components);
        // Callees first, so only recursion needs a second round. What may not return depends on what never does, which is
        // settled for a component only when its `may_return` no longer changes.
        for component in &components {
            while component.iter().any(|func| self.learn_to_return(module, *func)) {}
            while component.iter().any(|func| self.learn_to_fail(module, *func)) {}
        }
        self.components = components;
    }

    /// Whether it is news that `func` may return.
    fn learn_to_return(&mut self, module: &Module, func: FuncId) -> bool {
        let function = module.function(func);
        if self.may_return[func.idx()] || function.no_return {
            return false;
        }
        let returns = reached_blocks(function, |call| self.call_may_return(call))
            .into_iter()
            .any(|(block, goes_through)| goes_through && matches!(block.terminator, Terminator::Return(_)));
        self.may_return[func.idx()] = returns;
        returns
    }

    /// Whether it is news that `func` may fail to return.
    fn learn_to_fail(&mut self, module: &Module, func: FuncId) -> bool {
        if self.may_not_return[func.idx()] {
            return false;
        }
        let function = module.function(func);
        let fails =
            reached_blocks(function, |call| self.call_may_return(call)).into_iter().any(|(block, goes_through)| {
                !goes_through || block_calls(function, block).any(|call| self.call_may_not_return(call))
            });
        self.may_not_return[func.idx()] = fails;
        fails
    }

    /// Functions that one call may enter. Empty for intrinsics, gaps and indirect calls that nothing known fits.
    pub fn targets(&self, call: &Call) -> Vec<FuncId> {
        match call.callee {
            Callee::Function(func) => vec![func],
            Callee::Indirect(_) => {
                let n_args = call.args.len();
                let fits = |shape: &Shape| shape.n_params == n_args || shape.variadic && shape.n_params <= n_args;
                let pairs = self.address_taken.iter().zip(&self.shapes);
                pairs.filter(|(_, shape)| fits(shape)).map(|(func, _)| *func).collect()
            }
            Callee::Intrinsic(_) | Callee::Gap(_) => Vec::new(),
        }
    }

    /// Functions that `func` may call, ascending.
    pub fn callees(&self, func: FuncId) -> &[FuncId] {
        &self.callees[func.idx()]
    }

    /// Functions that may call `func`, ascending.
    pub fn callers(&self, func: FuncId) -> &[FuncId] {
        &self.callers[func.idx()]
    }

    /// Functions whose address is taken in code or in data, ascending.
    pub fn address_taken(&self) -> &[FuncId] {
        &self.address_taken
    }

    /// Functions that call each other in a circle, callees' components before their callers'.
    pub fn components(&self) -> &[Vec<FuncId>] {
        &self.components
    }

    /// Whether a call of `func` may lead to another before it returns.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.component(func).len() > 1 || self.callees(func).contains(&func)
    }

    /// The functions that `func` shares its circles of calls with, itself included.
    pub fn component(&self, func: FuncId) -> &[FuncId] {
        &self.components[self.component_of[func.idx()]]
    }

    /// False when a call of `func` never comes back: it always ends the program, jumps away or runs for ever.
    pub fn may_return(&self, func: FuncId) -> bool {
        self.may_return[func.idx()]
    }

    /// True when some path through `func` makes a call that never returns. Loops without end do not count.
    pub fn may_not_return(&self, func: FuncId) -> bool {
        self.may_not_return[func.idx()]
    }

    pub fn call_may_return(&self, call: &Call) -> bool {
        if call.callee == Callee::Intrinsic(Intrinsic::Trap) {
            return false;
        }
        let targets = self.targets(call);
        targets.is_empty() || targets.iter().any(|func| self.may_return(*func))
    }

    pub fn call_may_not_return(&self, call: &Call) -> bool {
        if call.callee == Callee::Intrinsic(Intrinsic::Trap) {
            return true;
        }
        self.targets(call).iter().any(|func| self.may_not_return(*func))
    }
}

fn made_calls(function: &ir::Function) -> impl Iterator<Item = &Call> {
    function.blocks.iter().flat_map(|block| block_calls(function, block))
}

fn block_calls<'f>(function: &'f ir::Function, block: &'f ir::Block) -> impl Iterator<Item = &'f Call> {
    block.insts.iter().filter_map(|inst| match inst {
        Inst::Call { call } => Some(&function.calls[call.idx()]),
        _ => None,
    })
}

/// Blocks that a path can reach when calls return as `call_returns` says, and whether the path reaches their end.
fn reached_blocks(function: &ir::Function, call_returns: impl Fn(&Call) -> bool) -> Vec<(&ir::Block, bool)> {
    let mut reached = Vec::new();
    let mut is_seen = vec![false; function.blocks.len()];
    let mut work = Vec::new();
    if !function.is_declaration() {
        work.push(ir::BlockId(0));
    }
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut is_seen[id.idx()], true) {
            continue;
        }
        let block = function.block(id);
        let goes_through = block_calls(function, block).all(&call_returns);
        reached.push((block, goes_through));
        if goes_through {
            work.extend(block.terminator.edges().iter().map(|edge| edge.target));
        }
    }
    reached
}

fn address_taken(module: &Module) -> Vec<FuncId> {
    let in_code = module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts);
    let in_code = in_code.filter_map(|inst| match inst {
        Inst::Address { symbol, .. } => Some(*symbol),
        _ => None,
    });
    let in_data = module.globals.iter().flat_map(|global| match &global.init {
        Init::Bytes { relocs, .. } => relocs.as_slice(),
        Init::External | Init::Zero => &[],
    });
    let in_data = in_data.flat_map(|reloc| std::iter::once(reloc.plus).chain(reloc.minus));
    let mut taken: Vec<FuncId> = in_code
        .chain(in_data)
        .filter_map(|symbol| match symbol {
            SymbolRef::Function(func) => Some(func),
            SymbolRef::Global(_) | SymbolRef::Block(..) => None,
        })
        .collect();
    taken.sort_unstable();
    taken.dedup();
    taken
}
