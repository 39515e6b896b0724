//! The explorer on bytecode text: every path once, whatever the order, the number of workers or the budget.

mod common;

use std::time::Duration;

use common::{explore_with, paths, tree};
use explore::{Budgets, LineUp, Options, Search};
use witness::{Budget, BugKind, Ending};

fn options() -> Options {
    Options { workers: 1, ..Options::default() }
}

#[test]
fn every_path_is_found_once_with_an_input_that_takes_it() {
    let (outcome, witnesses) = explore_with(&tree(6), &options(), LineUp::plain());
    assert!(outcome.is_complete());
    assert_eq!(outcome.counts.total, 64);
    assert_eq!(outcome.counts.bug, 1);
    for witness in &witnesses {
        let bytes = &witness.inputs[0].bytes;
        let n_small = bytes.iter().filter(|byte| **byte < 100).count() as i32;
        match &witness.ending {
            Ending::Returned { status } => assert_eq!(*status, n_small),
            Ending::Bug(bug) => {
                assert_eq!(bug.kind, BugKind::DivisionByZero);
                assert_eq!(n_small, 6);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_order_of_search_does_not_change_the_paths() {
    let (_, reference) = explore_with(&tree(6), &options(), LineUp::plain());
    for search in [Search::Dfs, Search::Bfs, Search::Random, Search::Coverage] {
        let (outcome, witnesses) = explore_with(&tree(6), &Options { search, seed: 7, ..options() }, LineUp::plain());
        assert!(outcome.is_complete());
        assert_eq!(paths(&witnesses), paths(&reference), "{search:?}");
    }
}

#[test]
fn the_number_of_workers_does_not_change_the_paths() {
    let (reference_outcome, reference) = explore_with(&tree(9), &options(), LineUp::plain());
    for workers in [2, 4] {
        let (outcome, witnesses) = explore_with(&tree(9), &Options { workers, ..options() }, LineUp::plain());
        assert!(outcome.is_complete());
        assert_eq!(outcome.counts, reference_outcome.counts);
        assert_eq!(paths(&witnesses), paths(&reference), "{workers} workers");
    }
}

#[test]
fn one_worker_is_deterministic() {
    let (_, one) = explore_with(&tree(6), &options(), LineUp::plain());
    let (_, two) = explore_with(&tree(6), &options(), LineUp::plain());
    assert_eq!(one, two);
}

#[test]
fn what_a_budget_cut_can_be_resumed_without_loss_or_repetition() {
    let (_, reference) = explore_with(&tree(6), &options(), LineUp::plain());
    let budgets = Budgets { paths: Some(10), ..Budgets::default() };
    let (outcome, mut first) = explore_with(&tree(6), &Options { budgets, ..options() }, LineUp::plain());
    assert!(!outcome.is_complete());
    assert!(outcome.counts.cut > 0);
    assert_eq!(outcome.pending.len() as u64, outcome.counts.cut);
    first.retain(|witness| !matches!(witness.ending, Ending::Cut(Budget::Paths)));
    let (rest, second) = explore_with(&tree(6), &Options { resume: outcome.pending, ..options() }, LineUp::plain());
    assert!(rest.is_complete());
    first.extend(second);
    assert_eq!(paths(&first), paths(&reference));
}

#[test]
fn depth_and_steps_cut_single_paths() {
    let by_depth = Budgets { depth: Some(3), ..Budgets::default() };
    let (outcome, _) = explore_with(&tree(6), &Options { budgets: by_depth, ..options() }, LineUp::plain());
    assert_eq!(outcome.counts.total, outcome.counts.cut);
    assert!(outcome.counts.cut > 0 && outcome.counts.cut < 64);
    let by_steps = Budgets { steps: Some(12), ..Budgets::default() };
    let (outcome, _) = explore_with(&tree(6), &Options { budgets: by_steps, ..options() }, LineUp::plain());
    assert!(outcome.counts.cut > 0);
}

#[test]
fn time_ends_a_program_that_does_not() {
    let endless = "func @main() -> 32 {\nb0: jump b1\nb1: jump b1\n}\n";
    let budgets = Budgets { time: Some(Duration::from_millis(200)), ..Budgets::default() };
    let (outcome, witnesses) = explore_with(endless, &Options { budgets, ..options() }, LineUp::plain());
    assert_eq!(outcome.counts.cut, 1);
    assert_eq!(witnesses[0].ending, Ending::Cut(Budget::Time));
}

#[test]
fn time_ends_a_path_that_asks_for_ever_without_forking() {
    // x == 7 is decided once; after that every round asks again and is answered by what is known.
    let text = "global @name bytes 2 align 1 const = data \"x\\x00\"\n\
         func @colt_input(r0:64, r1:64, r2:64)\n\
         func @main() -> 32 {\n\
         b0: r0 = alloca 4 align 4\n    r1 = addr @name\n    r2:64 = const 4\n    call @colt_input(r0:64, r2:64, r1:64)\n\
             r3:32 = load r0\n    jump b1\n\
         b1: br eq:32 r3, 7 ? b1 : b2\n\
         b2: r4:32 = const 0\n    ret r4\n}\n";
    let budgets = Budgets { time: Some(Duration::from_millis(300)), ..Budgets::default() };
    let (outcome, _) = explore_with(text, &Options { budgets, search: Search::Dfs, ..options() }, LineUp::plain());
    assert_eq!((outcome.counts.returned, outcome.counts.cut), (1, 1));
}

#[test]
fn under_memory_pressure_states_are_put_away_and_come_back() {
    let (_, reference) = explore_with(&tree(12), &options(), LineUp::plain());
    // Every look finds too much memory in use, so whatever waits is put away over and over.
    let budgets = Budgets { memory_mb: Some(1), ..Budgets::default() };
    let pressed = Options { budgets, search: Search::Bfs, ..options() };
    let (outcome, witnesses) = explore_with(&tree(12), &pressed, LineUp::plain());
    assert!(outcome.put_away > 0);
    assert!(outcome.is_complete());
    assert_eq!(paths(&witnesses), paths(&reference));
}

#[test]
fn a_function_nobody_knows_is_a_gap_on_its_path_only() {
    let text =
        tree(2).replace("func @main()", "func @mystery()\nfunc @main()").replace("b2: ", "b2: call @mystery()\n    ");
    let (outcome, witnesses) = explore_with(&text, &options(), LineUp::plain());
    assert!(!outcome.is_complete());
    assert!(outcome.counts.unsupported > 0 && outcome.counts.returned > 0);
    let gap = witnesses.iter().find_map(|witness| match &witness.ending {
        Ending::Unsupported(gap) => Some(gap.message.clone()),
        _ => None,
    });
    assert!(gap.is_some_and(|message| message.contains("`mystery`")));
    assert!(!outcome.ledger.is_empty());
}
