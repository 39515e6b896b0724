//! Random functions, with every answer compared with the definition worked out the slow way.

use std::fmt::Write as _;

use analysis::{Analysis, Cfg, Exits, Loops, PostDominators};
use ir::{BlockId, FuncId, Function, Inst, Module, Reg, slots_of};
use proptest::prelude::*;

const F: FuncId = FuncId(0);

/// How a random block ends.
#[derive(Clone, Debug)]
enum End {
    Goto(Vec<usize>),
    Return,
    Unreachable,
    Die(usize),
}

#[derive(Clone, Debug)]
struct RandomBlock {
    may_die: bool,
    end: End,
}

fn any_cfg() -> impl Strategy<Value = Module> {
    let end = prop_oneof![
        12 => prop::collection::vec(any::<usize>(), 1..4).prop_map(End::Goto),
        2 => Just(End::Return),
        1 => Just(End::Unreachable),
        1 => any::<usize>().prop_map(End::Die),
    ];
    let block = (prop::bool::weighted(0.1), end).prop_map(|(may_die, end)| RandomBlock { may_die, end });
    prop::collection::vec(block, 2..14).prop_map(|blocks| cfg_module(&blocks))
}

fn cfg_module(blocks: &[RandomBlock]) -> Module {
    let mut text = String::from("func @f(r0:32) {\n");
    // The entry has no predecessors.
    let target = |number: &usize| 1 + number % (blocks.len() - 1);
    for (idx, block) in blocks.iter().enumerate() {
        writeln!(text, "b{idx}:").unwrap();
        if block.may_die {
            text.push_str("call @check(r0:32)\n");
        }
        match &block.end {
            End::Goto(targets) => {
                text.push_str("switch r0:32 (");
                for (case, number) in targets.iter().enumerate().skip(1) {
                    write!(text, "{case}: b{}, ", target(number)).unwrap();
                }
                writeln!(text, "default: b{})", target(&targets[0])).unwrap();
            }
            End::Return => text.push_str("ret\n"),
            End::Unreachable => text.push_str("unreachable\n"),
            End::Die(number) => writeln!(text, "call @die()\njump b{}", target(number)).unwrap(),
        }
    }
    text.push_str("}\nfunc @die() noreturn\nfunc @check(r0:32) {\nb0: br eq:32 r0, 0 ? b1 : b2\n");
    text.push_str("b1: call @die()\nunreachable\nb2: ret\n}\n");
    let module = ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    module
}

/// The graph read from the module without any help from the code under test.
struct Graph {
    succs: Vec<Vec<usize>>,
    returns: Vec<bool>,
    /// Ends here for certain (a return included).
    ends: Vec<bool>,
    may_end: Vec<bool>,
}

impl Graph {
    fn new(module: &Module) -> Self {
        let function = module.function(F);
        let calls = |block: &ir::Block, name: &str| {
            let func = module.find_function(name).unwrap();
            block.insts.iter().any(|inst| match inst {
                Inst::Call { call } => function.calls[call.idx()].callee == ir::Callee::Function(func),
                _ => false,
            })
        };
        let mut graph = Self { succs: Vec::new(), returns: Vec::new(), ends: Vec::new(), may_end: Vec::new() };
        for block in &function.blocks {
            let dies = calls(block, "die");
            let targets = block.terminator.edges().iter().map(|edge| edge.target.idx()).collect();
            graph.succs.push(if dies { Vec::new() } else { targets });
            graph.returns.push(!dies && matches!(block.terminator, ir::Terminator::Return(_)));
            graph.ends.push(dies || block.terminator.edges().is_empty());
            graph.may_end.push(calls(block, "check"));
        }
        graph
    }

    fn len(&self) -> usize {
        self.succs.len()
    }

    /// Nodes that a path from `start` visits when `removed` is taken out of the graph.
    fn reach(&self, start: usize, removed: Option<usize>) -> Vec<bool> {
        let mut is_seen = vec![false; self.len()];
        let mut work = vec![start];
        while let Some(node) = work.pop() {
            if Some(node) != removed && !std::mem::replace(&mut is_seen[node], true) {
                work.extend(&self.succs[node]);
            }
        }
        is_seen
    }

    fn dominates(&self, above: usize, below: usize) -> bool {
        self.reach(0, None)[below] && self.reach(0, None)[above] && !self.reach(0, Some(above))[below]
    }

    /// Whether a path from `start` comes to one of `goals` without `removed`.
    fn reaches_any(&self, start: usize, removed: Option<usize>, goals: &[bool]) -> bool {
        self.reach(start, removed).iter().zip(goals).any(|(reached, goal)| *reached && *goal)
    }
}

fn blocks(n_blocks: usize) -> impl Iterator<Item = BlockId> {
    (0..n_blocks).map(BlockId::new)
}

/// Checks `immediate` against the full relation `is_above`: the closest of the strict ones.
fn is_closest(immediate: Option<usize>, node: usize, n_nodes: usize, is_above: impl Fn(usize, usize) -> bool) -> bool {
    let strict: Vec<usize> = (0..n_nodes).filter(|&other| other != node && is_above(other, node)).collect();
    match immediate {
        None => strict.is_empty(),
        Some(closest) => strict.contains(&closest) && strict.iter().all(|&other| is_above(other, closest)),
    }
}

fn check_dominators(module: &Module) -> Result<(), TestCaseError> {
    let graph = Graph::new(module);
    let analysis = Analysis::new(module);
    let control = analysis.control(module, F);
    let reached = graph.reach(0, None);
    for block in blocks(graph.len()) {
        prop_assert_eq!(control.cfg.is_reachable(block), reached[block.idx()]);
        for above in blocks(graph.len()) {
            let expected = graph.dominates(above.idx(), block.idx());
            prop_assert_eq!(control.dominators.dominates(above, block), expected, "{} over {}", above, block);
        }
        let idom = control.dominators.idom(block).map(BlockId::idx);
        prop_assert!(is_closest(idom, block.idx(), graph.len(), |a, b| graph.dominates(a, b)), "idom of {}", block);
    }
    let order = control.cfg.blocks_in_reverse_postorder();
    prop_assert_eq!(order.len(), reached.iter().filter(|reached| **reached).count());
    let place = |block: BlockId| order.iter().position(|other| *other == block).unwrap();
    for block in order {
        if let Some(idom) = control.dominators.idom(*block) {
            prop_assert!(place(idom) < place(*block));
        }
    }
    Ok(())
}

fn check_postdominators(module: &Module, exits: Exits) -> Result<(), TestCaseError> {
    let graph = Graph::new(module);
    let analysis = Analysis::new(module);
    let cfg = Cfg::new(module, F, analysis.call_graph());
    let postdominators = PostDominators::new(&cfg, exits);
    let reached = graph.reach(0, None);

    let mut goals: Vec<bool> = (0..graph.len())
        .map(|node| reached[node] && (graph.ends[node] || exits == Exits::Possible && graph.may_end[node]))
        .collect();
    let reaches_an_end =
        |goals: &[bool]| (0..graph.len()).all(|node| !reached[node] || graph.reaches_any(node, None, goals));
    for block in postdominators.endless() {
        prop_assert!(!graph.reaches_any(block.idx(), None, &goals), "{} is not endless", block);
    }
    for block in postdominators.endless() {
        goals[block.idx()] = true;
    }
    prop_assert!(reaches_an_end(&goals), "some block has no end");
    for block in postdominators.endless() {
        goals[block.idx()] = false;
        prop_assert!(!reaches_an_end(&goals), "{} is joined to the exit without need", block);
        goals[block.idx()] = true;
    }

    let is_after = |after: usize, node: usize| {
        let can_return = graph.reaches_any(node, None, &graph.returns);
        let goals = if exits == Exits::Returns && can_return { &graph.returns } else { &goals };
        reached[node] && reached[after] && !graph.reaches_any(node, Some(after), goals)
    };
    for block in blocks(graph.len()) {
        for after in blocks(graph.len()) {
            let expected = is_after(after.idx(), block.idx());
            prop_assert_eq!(postdominators.postdominates(after, block), expected, "{} after {}", after, block);
        }
        let ipdom = postdominators.ipdom(block).map(BlockId::idx);
        prop_assert!(is_closest(ipdom, block.idx(), graph.len(), is_after), "ipdom of {}", block);
    }
    Ok(())
}

/// Whether the reachable part of the graph has no cycle once edges that `is_kept` refuses are gone.
fn is_acyclic(graph: &Graph, is_kept: impl Fn(usize, usize) -> bool) -> bool {
    let mut remaining: Vec<usize> =
        graph.reach(0, None).iter().enumerate().filter(|(_, reached)| **reached).map(|(node, _)| node).collect();
    loop {
        let has_succ =
            |node: usize| graph.succs[node].iter().any(|&succ| remaining.contains(&succ) && is_kept(node, succ));
        let left: Vec<usize> = remaining.iter().copied().filter(|&node| has_succ(node)).collect();
        if left.len() == remaining.len() {
            return left.is_empty();
        }
        remaining = left;
    }
}

/// Header, and everything that comes to a back edge's source without passing the header.
fn natural_loop(graph: &Graph, header: usize) -> Vec<BlockId> {
    let is_back_edge = |node: usize| graph.succs[node].contains(&header) && graph.dominates(header, node);
    let is_latch: Vec<bool> = (0..graph.len()).map(is_back_edge).collect();
    let reached = graph.reach(0, None);
    let in_body = |node: usize| node == header || reached[node] && graph.reaches_any(node, Some(header), &is_latch);
    (0..graph.len()).filter(|&node| in_body(node)).map(BlockId::new).collect()
}

fn check_loops(module: &Module) -> Result<(), TestCaseError> {
    let graph = Graph::new(module);
    let analysis = Analysis::new(module);
    let loops: &Loops = &analysis.control(module, F).loops;
    let is_header = |node: usize| loops.headed_by(BlockId::new(node)).is_some();
    prop_assert!(is_acyclic(&graph, |_, succ| !is_header(succ)), "a cycle passes no header");

    let is_back_edge = |node: usize, succ: usize| graph.dominates(succ, node);
    let is_reducible = is_acyclic(&graph, |node, succ| !is_back_edge(node, succ));
    prop_assert_eq!(is_reducible, loops.iter().all(|(_, it)| !it.is_irreducible()));
    for node in 0..graph.len() {
        for &succ in graph.succs[node].iter().filter(|succ| is_back_edge(node, **succ)) {
            let headed = loops.headed_by(BlockId::new(succ));
            prop_assert!(headed.is_some_and(|id| loops.get(id).contains(BlockId::new(node))), "b{} to b{}", node, succ);
        }
    }
    for (id, it) in loops.iter() {
        prop_assert_eq!(loops.headed_by(it.header), Some(id));
        if !it.is_irreducible() {
            prop_assert_eq!(&it.body, &natural_loop(&graph, it.header.idx()));
        }
        let dominates_body = it.body.iter().all(|block| graph.dominates(it.header.idx(), block.idx()));
        prop_assert_eq!(dominates_body, !it.is_irreducible());
        match it.parent {
            Some(parent) => {
                let outer = loops.get(parent);
                prop_assert!(parent < id && outer.depth + 1 == it.depth && !it.contains(outer.header));
                prop_assert!(it.body.iter().all(|block| outer.contains(*block)));
            }
            None => prop_assert_eq!(it.depth, 1),
        }
    }
    for block in blocks(graph.len()) {
        let smallest = loops.iter().filter(|(_, it)| it.contains(block)).min_by_key(|(_, it)| it.body.len());
        prop_assert_eq!(loops.innermost(block), smallest.map(|(id, _)| id));
    }
    Ok(())
}

/// Random code over a few registers, narrow and wide overlapping, with moves on edges.
fn any_code() -> impl Strategy<Value = Module> {
    let inst = (0u8..4, 0u32..6, 0u32..6, 0u32..6);
    let moves = prop::collection::vec((0u32..6, 0u32..6, any::<bool>()), 0..3);
    let edge = (any::<usize>(), moves);
    let end = prop::option::weighted(0.8, (0u32..6, edge.clone(), edge));
    let block = (prop::collection::vec(inst, 0..4), end);
    prop::collection::vec(block, 2..8).prop_map(|blocks| {
        let mut text = String::from("func @f() slots 7 {\n");
        let n_targets = blocks.len() - 1;
        let edge = |(number, moves): &(usize, Vec<(u32, u32, bool)>)| {
            let moves: Vec<String> = moves
                .iter()
                .map(|(dst, src, is_wide)| format!("r{dst}:{} = r{src}", if *is_wide { 128 } else { 32 }))
                .collect();
            format!("b{} [{}]", 1 + number % n_targets, moves.join(", "))
        };
        for (idx, (insts, end)) in blocks.iter().enumerate() {
            writeln!(text, "b{idx}:").unwrap();
            for (kind, dst, a, b) in insts {
                match kind {
                    0 => writeln!(text, "r{dst}:32 = add r{a}, r{b}").unwrap(),
                    1 => writeln!(text, "r{dst}:128 = add r{a}, r{b}").unwrap(),
                    2 => writeln!(text, "r{dst}:32 = const 1").unwrap(),
                    _ => writeln!(text, "r{dst}:32 = call @g(r{a}:128)").unwrap(),
                }
            }
            match end {
                Some((cond, then, other)) => {
                    writeln!(text, "br eq:32 r{cond}, 0 ? {} : {}", edge(then), edge(other)).unwrap();
                }
                None => text.push_str("ret\n"),
            }
        }
        text.push_str("}\nfunc @g(r0:128) -> 32\n");
        // Not verified: reading registers that were never set is fine here and makes for more cases.
        ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    })
}

/// One step of execution: what it reads, then writes, then where it goes.
struct Step {
    reads: Vec<usize>,
    writes: Vec<usize>,
    next: Vec<usize>,
}

fn slots(reg: Reg, bits: u8) -> impl Iterator<Item = usize> {
    reg.idx()..reg.idx() + slots_of(bits) as usize
}

/// The function as a graph of single steps, moves included, and the first step of each instruction.
fn steps(function: &Function) -> (Vec<Step>, Vec<Vec<usize>>) {
    let mut first = Vec::new();
    let mut n_steps = 0;
    for block in &function.blocks {
        first.push((n_steps..=n_steps + block.insts.len()).collect::<Vec<usize>>());
        n_steps += block.insts.len() + 1;
    }
    let mut all: Vec<Step> = Vec::new();
    let mut edges = Vec::new();
    for block in &function.blocks {
        for inst in &block.insts {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            function.for_each_use(inst, 64, |reg, bits| reads.extend(slots(reg, bits)));
            function.for_each_def(inst, 64, |reg, bits| writes.extend(slots(reg, bits)));
            all.push(Step { reads, writes, next: vec![all.len() + 1] });
        }
        let mut reads = Vec::new();
        function.for_each_terminator_use(&block.terminator, 64, |reg, bits| reads.extend(slots(reg, bits)));
        edges.push((all.len(), block.terminator.edges()));
        all.push(Step { reads, writes: Vec::new(), next: Vec::new() });
    }
    for (source, edges) in edges {
        for edge in edges {
            let mut at = source;
            for it in &edge.moves {
                let step = Step {
                    reads: slots(it.src, it.bits).collect(),
                    writes: slots(it.dst, it.bits).collect(),
                    next: vec![],
                };
                all.push(step);
                let new = all.len() - 1;
                all[at].next.push(new);
                at = new;
            }
            all[at].next.push(first[edge.target.idx()][0]);
        }
    }
    (all, first)
}

/// Whether some path from `start` reads the slot before writing it.
fn is_read_later(all: &[Step], start: usize, slot: usize) -> bool {
    let mut is_seen = vec![false; all.len()];
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        if std::mem::replace(&mut is_seen[at], true) {
            continue;
        }
        if all[at].reads.contains(&slot) {
            return true;
        }
        if !all[at].writes.contains(&slot) {
            work.extend(&all[at].next);
        }
    }
    false
}

fn check_liveness(module: &Module) -> Result<(), TestCaseError> {
    let function = module.function(F);
    let analysis = Analysis::new(module);
    let liveness = analysis.liveness(module, F);
    let (all, first) = steps(function);
    for block in blocks(function.blocks.len()) {
        for (inst_idx, &step) in first[block.idx()].iter().enumerate() {
            let live = liveness.live_before(function, block, inst_idx);
            for slot in 0..function.n_slots as usize {
                let expected = is_read_later(&all, step, slot);
                prop_assert_eq!(live.contains(Reg::new(slot)), expected, "slot {} in {} #{}", slot, block, inst_idx);
            }
            if inst_idx == 0 {
                prop_assert_eq!(&live, liveness.live_in(block));
            }
        }
        let end = *first[block.idx()].last().unwrap();
        for slot in 0..function.n_slots as usize {
            let expected = all[end].next.iter().any(|&next| is_read_later(&all, next, slot));
            prop_assert_eq!(liveness.live_out(block).contains(Reg::new(slot)), expected);
        }
    }
    Ok(())
}

/// Functions that call each other at random, directly only.
fn any_calls() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(any::<usize>(), 0..3), 1..9).prop_map(|functions| {
        let n_functions = functions.len();
        functions.into_iter().map(|callees| callees.into_iter().map(|callee| callee % n_functions).collect()).collect()
    })
}

fn check_call_graph(callees: &[Vec<usize>]) -> Result<(), TestCaseError> {
    let mut text = String::new();
    for (idx, callees) in callees.iter().enumerate() {
        writeln!(text, "func @f{idx}() {{\nb0:").unwrap();
        for callee in callees {
            writeln!(text, "call @f{callee}()").unwrap();
        }
        text.push_str("ret\n}\n");
    }
    let module = ir::parse(&text).unwrap();
    let graph = analysis::CallGraph::new(&module);
    let n_functions = callees.len();
    let mut leads_to = vec![vec![false; n_functions]; n_functions];
    for (from, row) in leads_to.iter_mut().enumerate() {
        let mut work = callees[from].clone();
        while let Some(func) = work.pop() {
            if !std::mem::replace(&mut row[func], true) {
                work.extend(&callees[func]);
            }
        }
    }
    // All paths are straight: a function returns just when it cannot run into a circle.
    for from in 0..n_functions {
        let func = FuncId::new(from);
        prop_assert_eq!(graph.is_recursive(func), leads_to[from][from]);
        let runs_into_circle = (0..n_functions).any(|at| (at == from || leads_to[from][at]) && leads_to[at][at]);
        prop_assert_eq!(graph.may_return(func), !runs_into_circle);
        prop_assert_eq!(graph.may_not_return(func), runs_into_circle);
        for (to, back) in leads_to.iter().enumerate() {
            let together = from == to || leads_to[from][to] && back[from];
            prop_assert_eq!(graph.component(func).contains(&FuncId::new(to)), together);
            prop_assert_eq!(graph.callees(func).contains(&FuncId::new(to)), callees[from].contains(&to));
            prop_assert_eq!(graph.callers(FuncId::new(to)).contains(&func), callees[from].contains(&to));
        }
    }
    let number = |func: usize| graph.components().iter().position(|it| it.contains(&FuncId::new(func))).unwrap();
    for (from, callees) in callees.iter().enumerate() {
        prop_assert!(callees.iter().all(|&to| number(to) <= number(from)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dominators_are_what_no_path_avoids(module in any_cfg()) {
        check_dominators(&module)?;
    }

    #[test]
    fn postdominators_are_what_no_path_to_the_end_avoids(module in any_cfg()) {
        for exits in [Exits::Returns, Exits::Certain, Exits::Possible] {
            check_postdominators(&module, exits)?;
        }
    }

    #[test]
    fn loops_hold_every_cycle(module in any_cfg()) {
        check_loops(&module)?;
    }

    #[test]
    fn live_slots_are_those_read_later(module in any_code()) {
        check_liveness(&module)?;
    }

    #[test]
    fn call_circles_are_mutual_reachability(callees in any_calls()) {
        check_call_graph(&callees)?;
    }
}
