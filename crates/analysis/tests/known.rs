//! Small functions in IR text whose answers can be read off by eye.

use analysis::{Analysis, Cfg, Exits, Loops, PostDominators};
use ir::{BlockId, FuncId, Module, Reg};

/// A module whose last function is `@f`, with helpers that end the program always or sometimes.
fn module(body: &str) -> Module {
    let text = format!(
        "func @die() noreturn
         func @setjmp(r0:64) -> 32
         func @check(r0:32) {{
         b0: br eq:32 r0, 0 ? b1 : b2
         b1: call @die()
             unreachable
         b2: ret
         }}
         func @f(r0:32) {{
         {body}
         }}"
    );
    let module = ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{errors:#?}"));
    module
}

fn last(module: &Module) -> FuncId {
    FuncId::new(module.functions.len() - 1)
}

fn blocks(numbers: &[u32]) -> Vec<BlockId> {
    numbers.iter().copied().map(BlockId).collect()
}

/// Immediate postdominators of all blocks; -1 is the virtual exit.
fn ipdoms(module: &Module, exits: Exits) -> Vec<i64> {
    let analysis = Analysis::new(module);
    let cfg = Cfg::new(module, last(module), analysis.call_graph());
    let postdominators = PostDominators::new(&cfg, exits);
    (0..cfg.n_blocks()).map(|idx| postdominators.ipdom(BlockId::new(idx)).map_or(-1, |block| block.0.into())).collect()
}

const DIAMOND: &str = "b0: br eq:32 r0, 0 ? b1 : b2\nb1: jump b3\nb2: jump b3\nb3: ret";

#[test]
fn a_diamond_meets_again() {
    let module = module(DIAMOND);
    let analysis = Analysis::new(&module);
    let control = analysis.control(&module, last(&module));
    assert_eq!(control.cfg.succs(BlockId(0)), blocks(&[1, 2]));
    assert_eq!(control.cfg.preds(BlockId(3)), blocks(&[1, 2]));
    assert_eq!(control.cfg.blocks_in_reverse_postorder(), blocks(&[0, 1, 2, 3]));
    assert_eq!(control.dominators.idom(BlockId(3)), Some(BlockId(0)));
    assert_eq!(control.dominators.idom(BlockId(0)), None);
    assert_eq!(control.postdominators.ipdom(BlockId(0)), Some(BlockId(3)));
    assert!(control.postdominators.postdominates(BlockId(3), BlockId(1)));
    assert!(!control.postdominators.postdominates(BlockId(1), BlockId(0)));
    assert_eq!(control.loops.iter().count(), 0);
}

#[test]
fn both_ways_to_one_block_are_one_edge() {
    let module = module("b0: br eq:32 r0, 0 ? b1 : b1\nb1: ret\nb2: jump b1");
    let analysis = Analysis::new(&module);
    let control = analysis.control(&module, last(&module));
    assert_eq!(control.cfg.succs(BlockId(0)), blocks(&[1]));
    assert_eq!(control.cfg.reachable_blocks().collect::<Vec<_>>(), blocks(&[0, 1]));
    assert!(!control.cfg.is_reachable(BlockId(2)));
    assert_eq!(control.dominators.idom(BlockId(1)), Some(BlockId(0)));
    assert!(!control.dominators.dominates(BlockId(2), BlockId(2)));
}

#[test]
fn a_call_that_never_returns_is_an_exit() {
    let module = module("b0: br eq:32 r0, 0 ? b1 : b2\nb1: call @die()\n jump b2\nb2: ret");
    assert_eq!(ipdoms(&module, Exits::Certain), [-1, -1, -1]);
    assert_eq!(ipdoms(&module, Exits::Returns), [2, -1, -1]);
    let analysis = Analysis::new(&module);
    let control = analysis.control(&module, last(&module));
    assert_eq!(control.cfg.succs(BlockId(1)), []);
    assert!(control.cfg.is_exit(BlockId(1)));
    assert_eq!(control.dominators.idom(BlockId(2)), Some(BlockId(0)));
}

#[test]
fn a_call_that_may_end_the_program_is_a_possible_exit() {
    let module = module("b0: call @check(r0:32)\n jump b1\nb1: ret");
    assert_eq!(ipdoms(&module, Exits::Certain), [1, -1]);
    assert_eq!(ipdoms(&module, Exits::Possible), [-1, -1]);
}

#[test]
fn an_endless_loop_keeps_the_order_of_its_turn() {
    // b1 is the header; b2 or b3, then b4, then b1 again.
    let body = "b0: jump b1\nb1: br eq:32 r0, 1 ? b2 : b3\nb2: jump b4\nb3: jump b4\nb4: jump b1";
    let module = module(body);
    assert_eq!(ipdoms(&module, Exits::Certain), [1, -1, 4, 4, 1]);
    let analysis = Analysis::new(&module);
    assert_eq!(analysis.control(&module, last(&module)).postdominators.endless(), blocks(&[1]));
}

#[test]
fn an_endless_loop_on_one_side_only() {
    let module = module("b0: br eq:32 r0, 1 ? b1 : b2\nb1: jump b1\nb2: jump b3\nb3: ret");
    assert_eq!(ipdoms(&module, Exits::Certain), [-1, -1, 3, -1]);
    assert_eq!(ipdoms(&module, Exits::Returns), [2, -1, 3, -1]);
}

#[test]
fn nested_loops() {
    // for (b1) { for (b2) { b3 } b4 } b5
    let body =
        "b0: jump b1\nb1: br eq:32 r0, 1 ? b2 : b5\nb2: br eq:32 r0, 2 ? b3 : b4\nb3: jump b2\nb4: jump b1\nb5: ret";
    let module = module(body);
    let analysis = Analysis::new(&module);
    let loops = &analysis.control(&module, last(&module)).loops;
    assert_eq!(loops.iter().count(), 2);
    let outer = loops.headed_by(BlockId(1)).unwrap();
    let inner = loops.headed_by(BlockId(2)).unwrap();
    assert_eq!(loops.get(outer).body, blocks(&[1, 2, 3, 4]));
    assert_eq!(loops.get(outer).latches, blocks(&[4]));
    assert_eq!(loops.get(outer).exits, [(BlockId(1), BlockId(5))]);
    assert_eq!((loops.get(outer).parent, loops.get(outer).depth), (None, 1));
    assert_eq!(loops.get(inner).body, blocks(&[2, 3]));
    assert_eq!((loops.get(inner).parent, loops.get(inner).depth), (Some(outer), 2));
    assert_eq!(loops.innermost(BlockId(3)), Some(inner));
    assert_eq!(loops.innermost(BlockId(4)), Some(outer));
    assert_eq!(loops.innermost(BlockId(5)), None);
    assert_eq!(loops.headed_by(BlockId(3)), None);
    assert!(!loops.get(outer).is_irreducible());
}

#[test]
fn a_goto_into_a_loop_makes_it_irreducible() {
    let body = "b0: br eq:32 r0, 1 ? b1 : b2\nb1: jump b2\nb2: br eq:32 r0, 2 ? b1 : b3\nb3: ret";
    let module = module(body);
    let analysis = Analysis::new(&module);
    let loops = &analysis.control(&module, last(&module)).loops;
    let (_, only) = loops.iter().next().unwrap();
    assert_eq!(loops.iter().count(), 1);
    assert!(only.is_irreducible());
    assert_eq!(only.entries, blocks(&[1, 2]));
    assert_eq!(only.body, blocks(&[1, 2]));
}

fn names<'m>(module: &'m Module, funcs: &[FuncId]) -> Vec<&'m str> {
    funcs.iter().map(|func| module.function(*func).name.as_str()).collect()
}

#[test]
fn calls_direct_and_through_pointers() {
    let text = "
        global @handlers bytes 16 align 8 = data \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\" (at 0 bytes 8 = @one)
        func @one(r0:32)
        func @also_one(r0:32)
        func @two(r0:32, r1:32)
        func @many(r0:64, ...)
        func @never_taken(r0:32)
        func @main(r0:32) {
        b0: r1 = addr @also_one
            r2 = addr @two
            r3 = addr @many
            call *r1(r0:32)
            call @helper()
            ret
        }
        func @helper() {
        b0: call @main(r0:32)
            ret
        }";
    let text = text.replace("call @main(r0:32)", "r0:32 = const 1\n call @main(r0:32)");
    let module = ir::parse(&text).unwrap();
    ir::verify(&module).unwrap();
    let graph = analysis::CallGraph::new(&module);
    let func = |name: &str| module.find_function(name).unwrap();
    assert_eq!(names(&module, graph.address_taken()), ["one", "also_one", "two", "many"]);
    assert_eq!(names(&module, graph.callees(func("main"))), ["one", "also_one", "many", "helper"]);
    assert_eq!(names(&module, graph.callers(func("one"))), ["main"]);
    assert!(graph.is_recursive(func("main")) && graph.is_recursive(func("helper")));
    assert!(!graph.is_recursive(func("one")));
    assert_eq!(names(&module, graph.component(func("main"))), ["main", "helper"]);
    assert_eq!(names(&module, graph.components().last().unwrap()), ["main", "helper"]);
}

#[test]
fn which_functions_return() {
    let text = "
        func @exit(r0:32) noreturn
        func @unknown()
        func @leave() {
        b0: r0:32 = const 1
            call @exit(r0:32)
            ret
        }
        func @leave_too() {
        b0: call @leave()
            ret
        }
        func @maybe(r0:32) {
        b0: br eq:32 r0, 0 ? b1 : b2
        b1: call @leave_too()
            jump b2
        b2: ret
        }
        func @calls_maybe(r0:32) {
        b0: call @maybe(r0:32)
            call @unknown()
            ret
        }
        func @spin() {
        b0: jump b1
        b1: jump b1
        }
        func @dive() {
        b0: call @dive()
            ret
        }
        func @recurse(r0:32) {
        b0: br eq:32 r0, 0 ? b1 : b2
        b1: ret
        b2: r1:32 = sub r0, 1
            call @recurse(r1:32)
            ret
        }
        func @even(r0:32) {
        b0: call @odd(r0:32)
            ret
        }
        func @odd(r0:32) {
        b0: br eq:32 r0, 0 ? b1 : b2
        b1: ret
        b2: call @even(r0:32)
            ret
        }
        func @traps() {
        b0: call %trap()
            unreachable
        }";
    let module = ir::parse(text).unwrap();
    ir::verify(&module).unwrap();
    let graph = analysis::CallGraph::new(&module);
    let expected = [
        // name, may return, may not return
        ("exit", false, true),
        ("unknown", true, false),
        ("leave", false, true),
        ("leave_too", false, true),
        ("maybe", true, true),
        ("calls_maybe", true, true),
        ("spin", false, false),
        ("dive", false, true),
        ("recurse", true, false),
        ("even", true, false),
        ("odd", true, false),
        ("traps", false, true),
    ];
    for (name, may_return, may_not_return) in expected {
        let func = module.find_function(name).unwrap();
        assert_eq!((graph.may_return(func), graph.may_not_return(func)), (may_return, may_not_return), "{name}");
    }
}

fn live(set: &analysis::SlotSet) -> Vec<u32> {
    set.iter().map(|reg| reg.0).collect()
}

#[test]
fn liveness_follows_moves_and_wide_registers() {
    let body = "
        b0: r1:128 = zext r0:32
            r3:32 = const 7
            br eq:32 r0, 0 ? b1 [r4:32 = r3] : b2
        b1: r5:32 = add r4, r0
            jump b2
        b2: r6:128 = add r1, 1
            ret";
    let module = module(body);
    let function = module.function(last(&module));
    let analysis = Analysis::new(&module);
    let liveness = analysis.liveness(&module, last(&module));
    assert_eq!(live(liveness.live_in(BlockId(0))), [0]);
    assert_eq!(live(liveness.live_out(BlockId(0))), [0, 1, 2, 3]);
    assert_eq!(live(liveness.live_in(BlockId(1))), [0, 1, 2, 4]);
    assert_eq!(live(liveness.live_in(BlockId(2))), [1, 2]);
    assert!(liveness.live_out(BlockId(2)).is_empty());
    assert_eq!(live(&liveness.live_before(function, BlockId(0), 1)), [0, 1, 2]);
    assert_eq!(live(&liveness.live_before(function, BlockId(0), 2)), [0, 1, 2, 3]);
    assert!(liveness.live_in(BlockId(2)).contains(Reg(1)));
}

#[test]
fn what_setjmp_comes_back_to_stays_live_across_calls() {
    let body = "
        b0: r1:64 = const 0
            r2:32 = const 5
            r3:32 = call @setjmp(r1:64)
            br eq:32 r3, 0 ? b1 : b2
        b1: call @check(r0:32)
            ret
        b2: call @check(r2:32)
            ret";
    let module = module(body);
    let function = module.function(last(&module));
    let analysis = Analysis::new(&module);
    let liveness = analysis.liveness(&module, last(&module));
    assert_eq!(live(liveness.live_in(BlockId(1))), [0, 2]);
    assert!(live(&liveness.live_before(function, BlockId(1), 1)).is_empty());
}

#[test]
fn declarations_have_nothing() {
    let module = ir::parse("func @f(r0:32)").unwrap();
    let analysis = Analysis::new(&module);
    let control = analysis.control(&module, FuncId(0));
    assert_eq!(control.cfg.reachable_blocks().count(), 0);
    assert_eq!(control.loops.iter().count(), 0);
    assert!(control.postdominators.endless().is_empty());
    analysis.liveness(&module, FuncId(0));
}

#[test]
fn reading_and_writing_a_variable_takes_no_address() {
    let text = "global @plain bytes 8 align 8 = zero
        global @stored bytes 8 align 8 = zero
        global @passed bytes 8 align 8 = zero
        global @harness bytes 8 align 8 = zero
        func @g(r0:64)
        func @f() {
        b0: r0 = addr @plain
            r1:32 = load r0
            store r1:32 -> r0
            r2 = addr @stored + 4
            store r2:64 -> r0
            r3 = addr @passed
            call @g(r3:64)
            ret
        }
        func @main() {
        b0: r0 = addr @harness
            call @g(r0:64)
            ret
        }";
    let module = ir::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let taken = analysis::taken_globals(&module, FuncId::new(2));
    let names: Vec<&str> = taken.iter().map(|global| module.globals[global.idx()].name.as_str()).collect();
    assert_eq!(names, ["stored", "passed"]);
}

/// Whether the one loop of a function counts: `test` decides in b1 whether b2 goes round, `step` makes r3 from r2.
fn counts(test: &str, step: &str) -> bool {
    let module = module(&format!(
        "b0: r1:32 = const 0
             jump b1 [r2:32 = r1]
         b1: {test}
         b2: {step}
             call @check(r2:32)
             jump b1 [r2:32 = r3]
         b3: ret"
    ));
    let func = last(&module);
    let cfg = Cfg::new(&module, func, Analysis::new(&module).call_graph());
    analysis::counting(&module, func, &cfg, &Loops::new(&cfg)) == [true]
}

#[test]
fn loops_that_count_are_told_from_those_that_may_not_end() {
    assert!(counts("br slt:32 r2, 10 ? b2 : b3", "r3:32 = add r2, 1"));
    assert!(counts("br slt:32 r2, r0 ? b2 : b3", "r3:32 = add r2, 1"));
    assert!(counts("br ule:32 r0, r2 ? b3 : b2", "r3:32 = sub r2, 1"));
    assert!(counts("br ne:32 r2, r0 ? b2 : b3", "r3:32 = sub r2, 3"));
    assert!(counts("br ult:32 r2, 100 ? b2 : b3", "r3:32 = add r2, 2"));
    assert!(counts("r7:32 = sub r0, 1\n br slt:32 r2, r7 ? b2 : b3", "r3:32 = add r2, 1"));
    // It may jump over the limit, stay where it is, or the limit may be the greatest value.
    assert!(!counts("br ult:32 r2, r0 ? b2 : b3", "r3:32 = add r2, 2"));
    assert!(!counts("br ne:32 r2, r0 ? b2 : b3", "r3:32 = add r2, 2"));
    assert!(!counts("br ule:32 r2, r0 ? b2 : b3", "r3:32 = add r2, 1"));
    assert!(!counts("br slt:32 r2, 10 ? b2 : b3", "r3:32 = add r2, 0"));
    assert!(!counts("br slt:32 r2, 10 ? b2 : b3", "r3:32 = add r2, r0"));
    // Not in every round, or in a width of its own.
    assert!(!counts("br eq:32 r0, 0 ? b2 : b3", "r3:32 = add r2, 1"));
    assert!(!counts("br slt:32 r2, 300 ? b2 : b3", "r4:8 = trunc r2:32\n r4:8 = add r4, 1\n r3:32 = zext r4:8"));
    // A jump may come back behind the test.
    assert!(!counts("br slt:32 r2, 10 ? b2 : b3", "r5:64 = const 0\n r6:32 = call @setjmp(r5:64)\n r3:32 = add r2, 1"));
}
