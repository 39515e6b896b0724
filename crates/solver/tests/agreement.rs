//! The stack against the bare SMT solver, with all layers and with each of them left out.

mod common;

use common::{config, walk};
use solver::{Answer, Checking, Config, Independence, Layer, Reply, SmtSolver, Stack, backend, is_installed};
use std::time::Duration;
use term::{Eval, TermId};

fn with_solver() -> bool {
    assert!(is_installed(SmtSolver::Z3), "these tests compare with z3, which is part of the set-up");
    true
}

/// Asks both about every question; gives the number of satisfiable and of contradictory ones.
fn agree(config: Config, seeds: std::ops::Range<u64>) -> (u64, u64) {
    let (mut n_sat, mut n_unsat) = (0, 0);
    let mut bare = backend(SmtSolver::Z3, &Default::default()).expect("z3 has a backend");
    for seed in seeds {
        let mut stack = Stack::new(config.clone());
        let mut eval = Eval::new();
        walk(seed, &mut stack, |terms, path, _, question, answer| {
            let mut all: Vec<TermId> = path.iter().collect();
            all.push(question);
            let reply = bare.check(terms, &all, Duration::from_secs(20));
            match (answer, reply) {
                (Answer::Sat(input), Reply::Sat(_)) => {
                    n_sat += 1;
                    for &t in &all {
                        assert!(eval.holds(terms, input, t), "seed {seed}: the model breaks {t:?}");
                    }
                }
                (Answer::Unsat, Reply::Unsat) => n_unsat += 1,
                (answer, reply) => panic!("seed {seed}: we say {answer:?}, z3 says {reply:?} on {all:?}"),
            }
        });
        assert_eq!(stack.counters().n_wrong_models, 0);
    }
    (n_sat, n_unsat)
}

#[test]
fn whole_stack() {
    assert!(with_solver());
    let (n_sat, n_unsat) = agree(config(SmtSolver::Absent), 0..20);
    assert!(n_sat > 100 && n_unsat > 25, "{n_sat} satisfiable, {n_unsat} not: too few to mean anything");
}

#[test]
fn blaster_alone() {
    let off = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Blaster).collect();
    let (n_sat, n_unsat) = agree(Config { off, ..config(SmtSolver::Absent) }, 100..112);
    assert!(n_sat > 60 && n_unsat > 15);
}

/// With no conflict allowed to our own SAT solver everything that is not plain goes to CaDiCaL.
#[test]
fn cadical_alone() {
    let off = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Blaster).collect();
    let (n_sat, n_unsat) = agree(Config { off, conflict_budget: 0, ..config(SmtSolver::Absent) }, 600..612);
    assert!(n_sat > 60 && n_unsat > 15, "{n_sat} satisfiable, {n_unsat} not");
}

/// Layers that answer a part of the questions only, each on its own: what they say is right.
#[test]
fn partial_layers_are_right_when_they_answer() {
    let mut bare = backend(SmtSolver::Z3, &Default::default()).expect("z3 has a backend");
    for only in [Layer::Slice, Layer::Walk] {
        let off: Vec<Layer> = Layer::ALL.into_iter().filter(|layer| *layer != only).collect();
        let (mut n_sat, mut n_unsat) = (0, 0);
        for seed in 700..716 {
            let mut stack = Stack::new(Config { off: off.clone(), ..config(SmtSolver::Absent) });
            walk(seed, &mut stack, |terms, path, _, question, answer| {
                if matches!(answer, Answer::Unknown(_)) {
                    return;
                }
                let mut all: Vec<TermId> = path.iter().collect();
                all.push(question);
                match (answer, bare.check(terms, &all, Duration::from_secs(20))) {
                    (Answer::Sat(_), Reply::Sat(_)) => n_sat += 1,
                    (Answer::Unsat, Reply::Unsat) => n_unsat += 1,
                    (answer, reply) => panic!("{} on seed {seed}: {answer:?}, z3 says {reply:?}", only.name()),
                }
            });
        }
        assert!(n_sat + n_unsat > 10, "{}: {n_sat} satisfiable, {n_unsat} not", only.name());
    }
}

#[test]
fn each_layer_left_out() {
    for (i, layer) in Layer::ALL.into_iter().enumerate() {
        if matches!(layer, Layer::Trivial | Layer::Smt) {
            continue;
        }
        let seeds = 200 + 10 * i as u64..202 + 10 * i as u64;
        agree(Config { off: vec![layer], ..config(SmtSolver::Z3) }, seeds);
    }
    agree(Config { independence: Independence::Off, ..config(SmtSolver::Z3) }, 300..303);
}

/// Cheap layers alone: what they do answer is right.
#[test]
fn cheap_layers_are_right_when_they_answer() {
    let off = vec![Layer::Blaster, Layer::Smt];
    let mut bare = backend(SmtSolver::Z3, &Default::default()).expect("z3 has a backend");
    let mut n_answered = 0;
    for seed in 400..408 {
        let mut stack = Stack::new(Config { off: off.clone(), ..config(SmtSolver::Absent) });
        walk(seed, &mut stack, |terms, path, _, question, answer| {
            let mut all: Vec<TermId> = path.iter().collect();
            all.push(question);
            let reply = bare.check(terms, &all, Duration::from_secs(20));
            match (answer, &reply) {
                (Answer::Unknown(_), _) => {}
                (Answer::Sat(_), Reply::Sat(_)) | (Answer::Unsat, Reply::Unsat) => n_answered += 1,
                _ => panic!("seed {seed}: we say {answer:?}, z3 says {reply:?}"),
            }
        });
    }
    assert!(n_answered > 50);
}

#[test]
fn check_mode_finds_nothing_to_report() {
    let mut stack = Stack::new(Config { checking: Checking::On, ..config(SmtSolver::Z3) });
    walk(7, &mut stack, |_, _, _, _, answer| assert!(!matches!(answer, Answer::Unknown(_))));
    assert_eq!(stack.counters().n_disagreements, 0);
    assert!(stack.counters().n_asked >= 32);
}

#[test]
fn second_solver_agrees_with_the_first() {
    assert!(is_installed(SmtSolver::Cvc5), "these tests compare with cvc5, which is part of the set-up");
    let mut second = backend(SmtSolver::Cvc5, &Default::default()).expect("cvc5 has a backend");
    let mut eval = Eval::new();
    for seed in 500..502 {
        let off = vec![Layer::Blaster];
        let mut stack = Stack::new(Config { off, ..config(SmtSolver::Z3) });
        walk(seed, &mut stack, |terms, path, _, question, answer| {
            let mut all: Vec<TermId> = path.iter().collect();
            all.push(question);
            match second.check(terms, &all, Duration::from_secs(20)) {
                Reply::Sat(values) => {
                    assert!(answer.is_sat());
                    let mut input = term::Assignment::new();
                    values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
                    assert!(all.iter().all(|&t| eval.holds(terms, &input, t)), "seed {seed}: cvc5's model");
                }
                Reply::Unsat => assert_eq!(*answer, Answer::Unsat),
                Reply::Unknown(why) => panic!("seed {seed}: {why}"),
            }
        });
    }
}
