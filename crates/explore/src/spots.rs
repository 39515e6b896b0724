//! Where states wait in the program's own code, and how far that is from code nobody has run.

use std::hash::{Hash, Hasher};

use analysis::CallGraph;
use ir::{BlockId, FuncId, Inst, Module};
use rustc_hash::{FxHashMap, FxHasher};
use vm::{Coverage, EdgeId, Image, State};

use crate::Goal;
use crate::collector::user_edges;
use crate::search::Promise;

/// A chain of places in the program's own code: the innermost, and the calls that led there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpotId(pub u32);

impl SpotId {
    /// Of a state whose place is not known.
    pub const UNKNOWN: SpotId = SpotId(0);
}

/// Where below a spot a state waits: the places in a library, the edge that comes next, and the kind of its input. Two that
/// are taken for one by chance only share their turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nook(pub u64);

/// Own frames that make a spot; those further out are the same for most states.
const N_FRAMES: usize = 6;
/// Frames looked at for them.
const N_LOOKED_AT: usize = 64;
/// Innermost frames of libraries that make a nook.
const N_LIBRARY_FRAMES: usize = 3;
/// What returning from a function counts, in blocks.
const RETURN_STEPS: u32 = 2;
/// States chosen between two computations of the distances.
const STALE_AFTER: u32 = 128;
const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Site {
    func: FuncId,
    block: BlockId,
}

/// The innermost first.
type Chain = [Option<Site>; N_FRAMES];

pub struct Spots {
    chains: Vec<Chain>,
    of_chain: FxHashMap<Chain, SpotId>,
    /// For each edge whether it is of the program itself, not of a library.
    is_own: Vec<bool>,
    /// Nodes are blocks of the program's own functions, numbered through.
    first_nodes: Vec<Option<u32>>,
    /// By node: the edges that leave it, and the nodes from which one step leads to it.
    leaving: Vec<std::ops::Range<u32>>,
    before: Vec<Vec<u32>>,
    /// By node: steps to an edge that nobody has taken, or to the goal.
    steps: Vec<u32>,
    /// Nodes that are the goal. Where there are some, nothing else counts.
    goal: Vec<u32>,
    /// By edge, where there is a goal: the node it leads to.
    targets: Vec<Option<u32>>,
    /// Own edges ever taken, and how many they were when the steps were computed.
    n_own_seen: usize,
    computed_at: Option<usize>,
    n_asked: u32,
}

impl Spots {
    pub fn new(image: &Image, goal: &Goal) -> Spots {
        let module = &*image.module;
        let mut first_nodes = Vec::with_capacity(module.functions.len());
        let mut leaving = Vec::new();
        for (idx, function) in module.functions.iter().enumerate() {
            if function.is_runtime || function.blocks.is_empty() {
                first_nodes.push(None);
                continue;
            }
            let func = FuncId::new(idx);
            first_nodes.push(Some(leaving.len() as u32));
            for (block_idx, block) in function.blocks.iter().enumerate() {
                let first = image.first_edge(func, BlockId::new(block_idx));
                leaving.push(first..first + block.terminator.edges().len() as u32);
            }
        }
        let before = steps_back(module, &first_nodes, leaving.len());
        let node = |(func, block): &(FuncId, BlockId)| Some(first_nodes[func.idx()]? + block.idx() as u32);
        let goal: Vec<u32> = goal.blocks.iter().filter_map(node).collect();
        let targets = if goal.is_empty() { Vec::new() } else { targets(image, &first_nodes) };
        Spots {
            chains: vec![Chain::default()],
            of_chain: FxHashMap::default(),
            is_own: user_edges(image),
            first_nodes,
            steps: vec![NOWHERE; leaving.len()],
            leaving,
            before,
            goal,
            targets,
            n_own_seen: 0,
            computed_at: None,
            n_asked: 0,
        }
    }

    pub fn is_own(&self, edge: EdgeId) -> bool {
        self.is_own[edge.0 as usize]
    }

    /// What a path that goes over this edge next promises.
    pub fn promise(&self, next_edge: Option<EdgeId>, coverage: &Coverage) -> Promise {
        match next_edge.filter(|edge| !coverage.is_seen(*edge)) {
            Some(edge) if !self.goal.is_empty() && !self.leads_to_goal(edge) => Promise::Nothing,
            Some(edge) if self.is_own(edge) => Promise::OwnEdge,
            Some(_) => Promise::LibraryEdge,
            None => Promise::Nothing,
        }
    }

    fn leads_to_goal(&self, edge: EdgeId) -> bool {
        self.targets[edge.0 as usize].is_some_and(|node| self.steps[node as usize] != NOWHERE)
    }

    pub fn note_seen(&mut self, fresh: &[EdgeId]) {
        self.n_own_seen += fresh.iter().filter(|edge| self.is_own(**edge)).count();
    }

    pub fn n_own_seen(&self) -> usize {
        self.n_own_seen
    }

    pub fn spot(&mut self, state: &State) -> SpotId {
        let own = |frame: &&vm::Frame| self.first_nodes[frame.func.idx()].is_some();
        let sites = state.frames().take(N_LOOKED_AT).filter(own).take(N_FRAMES);
        let mut chain = Chain::default();
        for (place, frame) in chain.iter_mut().zip(sites) {
            *place = Some(Site { func: frame.func, block: frame.block });
        }
        if let Some(spot) = self.of_chain.get(&chain) {
            return *spot;
        }
        let spot = SpotId(self.chains.len() as u32);
        self.chains.push(chain);
        self.of_chain.insert(chain, spot);
        spot
    }

    pub fn nook(&self, state: &State, next_edge: Option<EdgeId>, kind: u64) -> Nook {
        let is_library = |frame: &&vm::Frame| self.first_nodes[frame.func.idx()].is_none();
        let mut hasher = FxHasher::default();
        (next_edge.map(|edge| edge.0), kind).hash(&mut hasher);
        for frame in state.frames().take_while(is_library).take(N_LIBRARY_FRAMES) {
            Site { func: frame.func, block: frame.block }.hash(&mut hasher);
        }
        Nook(hasher.finish())
    }

    /// The function in which a spot lies.
    pub fn func(&self, spot: SpotId) -> Option<FuncId> {
        self.chains[spot.0 as usize][0].map(|site| site.func)
    }

    /// Steps from a spot to an edge of the program itself that nobody has taken, or to the goal; `None` if none is known to lead there.
    pub fn distance(&self, spot: SpotId) -> Option<u32> {
        let node = |site: &Site| self.first_nodes[site.func.idx()].map(|first| first + site.block.idx() as u32);
        let chain = &self.chains[spot.0 as usize];
        let ways = chain.iter().flatten().zip(0u32..).filter_map(|(site, depth)| {
            let steps = self.steps[node(site)? as usize];
            (steps != NOWHERE).then(|| steps + depth * RETURN_STEPS)
        });
        ways.min()
    }

    /// Called for every state chosen: now and then the distances are computed anew.
    pub fn refresh(&mut self, coverage: &Coverage) {
        self.n_asked += 1;
        if self.computed_at == Some(self.n_own_seen) || (self.computed_at.is_some() && self.n_asked < STALE_AFTER) {
            return;
        }
        let is_first = self.computed_at.is_none();
        (self.computed_at, self.n_asked) = (Some(self.n_own_seen), 0);
        if !self.goal.is_empty() {
            // It stays where it is.
            if is_first {
                self.compute_steps(self.goal.clone(), 0);
            }
            return;
        }
        let has_new = |edges: &std::ops::Range<u32>| edges.clone().any(|edge| !coverage.is_seen(EdgeId(edge)));
        let nodes = self.leaving.iter().zip(0u32..).filter(|(edges, _)| has_new(edges)).map(|(_, node)| node);
        let nodes = nodes.collect();
        self.compute_steps(nodes, 1);
    }

    /// From each node to the nearest of the given ones, which are so many steps away.
    fn compute_steps(&mut self, nearest: Vec<u32>, n_steps: u32) {
        self.steps.fill(NOWHERE);
        nearest.iter().for_each(|node| self.steps[*node as usize] = n_steps);
        let mut reached = nearest;
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            let steps = self.steps[node as usize] + 1;
            for &earlier in &self.before[node as usize] {
                if self.steps[earlier as usize] == NOWHERE {
                    self.steps[earlier as usize] = steps;
                    reached.push(earlier);
                }
            }
        }
    }
}

/// By edge of the program itself, the node it leads to.
fn targets(image: &Image, first_nodes: &[Option<u32>]) -> Vec<Option<u32>> {
    let mut targets = vec![None; image.n_edges() as usize];
    for (idx, (function, first)) in image.module.functions.iter().zip(first_nodes).enumerate() {
        let (func, Some(first)) = (FuncId::new(idx), first) else { continue };
        targets[image.entry_edge(func) as usize] = Some(*first);
        for (block_idx, block) in function.blocks.iter().enumerate() {
            let numbers = image.first_edge(func, BlockId::new(block_idx))..;
            for (edge, number) in block.terminator.edges().into_iter().zip(numbers) {
                targets[number as usize] = Some(first + edge.target.idx() as u32);
            }
        }
    }
    targets
}

/// By node, those with an edge to it or a call of the function it begins.
fn steps_back(module: &Module, first_nodes: &[Option<u32>], n_nodes: usize) -> Vec<Vec<u32>> {
    let graph = CallGraph::new(module);
    let mut before = vec![Vec::new(); n_nodes];
    for (function, first) in module.functions.iter().zip(first_nodes) {
        let Some(first) = first else { continue };
        for (block, node) in function.blocks.iter().zip(*first..) {
            for edge in block.terminator.edges() {
                before[(first + edge.target.idx() as u32) as usize].push(node);
            }
            for inst in &block.insts {
                let Inst::Call { call } = inst else { continue };
                let targets = graph.targets(&function.calls[call.idx()]);
                let entries = targets.into_iter().filter_map(|callee| first_nodes[callee.idx()]);
                entries.for_each(|entry| before[entry as usize].push(node));
            }
        }
    }
    before
}
