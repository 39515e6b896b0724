//! What can be said about a module without running it: control flow, dominance, loops, calls, liveness.
//!
//! `Analysis` is the way in: it looks at the calls of the whole module once and at each function when it is first asked
//! about. Everything here is immutable once computed and may be shared between threads.
//!
//! Deliberately absent: the way back from `longjmp` to `setjmp` is no edge of any graph here (liveness allows for it,
//! see there), and nothing is known about memory, so an indirect call may reach every function whose address is taken
//! and whose parameters fit the call.

mod call_graph;
mod cfg;
mod components;
mod counting;
mod dominators;
mod liveness;
mod loops;
mod taken;
mod updates;

use std::sync::OnceLock;

use ir::{FuncId, Module};

pub use call_graph::CallGraph;
pub use cfg::Cfg;
pub use counting::counting;
pub use dominators::{Dominators, Exits, PostDominators};
pub use liveness::{Faults, Liveness, Readers, SlotSet};
pub use loops::{Loop, LoopId, Loops};
pub use taken::taken_globals;
pub use updates::updates;

/// Facts about a module, each computed when first asked for. Made for one module; ask it about no other.
pub struct Analysis {
    call_graph: CallGraph,
    functions: Vec<FunctionCells>,
}

#[derive(Default)]
struct FunctionCells {
    control: OnceLock<Control>,
    liveness: OnceLock<Liveness>,
}

/// The shape of one function.
pub struct Control {
    pub cfg: Cfg,
    pub dominators: Dominators,
    /// By `Exits::Certain`; the other readings are made with `PostDominators::new`.
    pub postdominators: PostDominators,
    pub loops: Loops,
}

impl Analysis {
    pub fn new(module: &Module) -> Self {
        let functions = module.functions.iter().map(|_| FunctionCells::default()).collect();
        Self { call_graph: CallGraph::new(module), functions }
    }

    pub fn call_graph(&self) -> &CallGraph {
        &self.call_graph
    }

    pub fn control(&self, module: &Module, func: FuncId) -> &Control {
        self.functions[func.idx()].control.get_or_init(|| {
            let cfg = Cfg::new(module, func, &self.call_graph);
            let dominators = Dominators::new(&cfg);
            let postdominators = PostDominators::new(&cfg, Exits::Certain);
            let loops = Loops::new(&cfg);
            Control { cfg, dominators, postdominators, loops }
        })
    }

    pub fn liveness(&self, module: &Module, func: FuncId) -> &Liveness {
        self.functions[func.idx()].liveness.get_or_init(|| Liveness::new(module, func))
    }
}
