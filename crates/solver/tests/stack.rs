//! The stack's interface: paths and groups, enumeration, limits, and what happens when the SMT solver fails.

mod common;

use common::config;
use solver::{
    Answer, Backend, Completeness, Config, Layer, PathCondition, Reply, SmtSolver, Stack, Truth, Why, backend,
};
use std::time::{Duration, Instant};
use term::{Assignment, Eval, TermId, Terms};

fn stack() -> Stack {
    Stack::new(config(SmtSolver::Absent))
}

fn byte_at_least(terms: &mut Terms, name: &str, bound: u8) -> (TermId, TermId) {
    let byte = terms.symbol(name, 8);
    let bound = terms.byte_constant(bound);
    let condition = terms.ule(bound, byte);
    (byte, condition)
}

#[test]
fn groups_follow_common_symbols() {
    let mut terms = Terms::new();
    let (a, a_large) = byte_at_least(&mut terms, "a", 10);
    let (b, b_large) = byte_at_least(&mut terms, "b", 10);
    let (c, c_large) = byte_at_least(&mut terms, "c", 10);
    let mut path = PathCondition::new();
    for t in [a_large, b_large, c_large] {
        path.add(&mut terms, t);
    }
    let before = path.clone();
    assert_eq!(path.relevant(&terms, a).constraints(), [a_large]);
    let linked = terms.ult(a, c);
    path.add(&mut terms, linked);
    let mut want = vec![a_large, c_large, linked];
    want.sort_unstable();
    assert_eq!(path.relevant(&terms, a).constraints(), want);
    assert_eq!(path.relevant(&terms, c).constraints(), want);
    assert_eq!(path.relevant(&terms, b).constraints(), [b_large]);
    assert_eq!(before.relevant(&terms, a).constraints(), [a_large], "the clone kept its groups");
    assert_eq!(path.iter().collect::<Vec<_>>(), [a_large, b_large, c_large, linked]);
    assert_eq!((before.len(), path.len()), (3, 4));
}

#[test]
fn a_symbol_with_one_value_connects_nothing() {
    let mut terms = Terms::new();
    let (a, b) = (terms.symbol("a", 8), terms.symbol("b", 8));
    let (three, ten) = (terms.constant(3, 8), terms.constant(10, 8));
    let mut path = PathCondition::new();
    let is_three = terms.eq(a, three);
    path.add(&mut terms, is_three);
    let sum = terms.add(a, b);
    let below = terms.ult(sum, ten);
    path.add(&mut terms, below);
    assert_eq!(path.iter().collect::<Vec<_>>(), [is_three, below], "what was added is told as it was");
    let own = path.relevant(&terms, b).constraints();
    assert!(own.iter().all(|t| terms.symbols(*t) == terms.symbols(b)), "a has no say in what b can be");
    // A contradiction is met by whoever asks about its symbols.
    let is_ten = terms.eq(a, ten);
    path.add(&mut terms, is_ten);
    assert_eq!(path.relevant(&terms, a).constraints().len(), 2);
}

#[test]
fn what_a_fixed_value_made_plainer_follows_with_what_fixed_it() {
    let mut terms = Terms::new();
    let (a, b, c) = (terms.symbol("a", 8), terms.symbol("b", 8), terms.symbol("c", 8));
    let (three, ten) = (terms.constant(3, 8), terms.constant(10, 8));
    let mut path = PathCondition::new();
    let is_three = terms.eq(a, three);
    let sum = terms.add(a, b);
    let is_ten = terms.eq(sum, ten);
    let (next, other) = (terms.add(b, c), terms.ult(c, ten));
    let is_next = terms.eq(next, ten);
    for t in [other, is_three, is_ten, is_next] {
        path.add(&mut terms, t);
    }
    // c is 3 because b is 7, and b is 7 because a is 3.
    let own = path.relevant(&terms, c).constraints();
    let mut want = vec![other, is_three, is_ten, is_next];
    want.sort_unstable();
    assert_eq!(path.reasons(&terms, &own), want);
    assert_eq!(path.reasons(&terms, &[is_three]), [is_three]);
    assert_eq!(path.reasons(&terms, &[other]), [other]);
}

#[test]
fn a_conjunction_is_added_by_its_parts() {
    let mut terms = Terms::new();
    let (a, a_large) = byte_at_least(&mut terms, "a", 10);
    let (_, b_large) = byte_at_least(&mut terms, "b", 10);
    let both = terms.and(a_large, b_large);
    let mut path = PathCondition::new();
    path.add(&mut terms, both);
    assert_eq!(path.len(), 2);
    assert_eq!(path.relevant(&terms, a).constraints(), [a_large]);
}

#[test]
fn a_very_long_path_is_dropped_without_recursion() {
    let mut terms = Terms::new();
    let x = terms.symbol("x", 32);
    let mut path = PathCondition::new();
    for k in 0..300_000u128 {
        let k = terms.constant(k, 32);
        let t = terms.ne(x, k);
        path.add(&mut terms, t);
    }
    assert_eq!(path.len(), 300_000);
    drop(path);
}

#[test]
fn a_model_changes_only_what_the_question_touches() {
    let mut terms = Terms::new();
    let (a, _) = byte_at_least(&mut terms, "a", 0);
    let (b, _) = byte_at_least(&mut terms, "b", 0);
    let (c, _) = byte_at_least(&mut terms, "c", 0);
    let current = Assignment::from_values(vec![7, 8, 9]);
    let mut path = PathCondition::new();
    let linked = terms.ult(a, b);
    path.add(&mut terms, linked);
    let hundred = terms.byte_constant(100);
    let question = terms.ule(hundred, a);
    let Answer::Sat(input) = stack().check(&mut terms, &path, &current, question) else { panic!("100 <= a < b") };
    let mut eval = Eval::new();
    assert!(eval.holds(&terms, &input, question) && eval.holds(&terms, &input, linked));
    assert_eq!(eval.eval(&terms, &input, c), 9);
}

#[test]
fn truth_under_a_path() {
    let mut terms = Terms::new();
    let (a, at_least_ten) = byte_at_least(&mut terms, "a", 10);
    let mut path = PathCondition::new();
    path.add(&mut terms, at_least_ten);
    let current = Assignment::from_values(vec![20]);
    let mut stack = stack();
    let (five, thirty) = (terms.byte_constant(5), terms.byte_constant(30));
    let (above_five, below_five, below_thirty) = (terms.ult(five, a), terms.ult(a, five), terms.ult(a, thirty));
    assert_eq!(stack.must_be_true(&mut terms, &path, &current, above_five), Truth::Always);
    assert_eq!(stack.must_be_true(&mut terms, &path, &current, below_five), Truth::Never);
    let Truth::Sometimes(input) = stack.must_be_true(&mut terms, &path, &current, below_thirty) else { panic!() };
    assert!(!Eval::new().holds(&terms, &input, below_thirty));
}

#[test]
fn enumeration_finds_each_value_once() {
    let mut terms = Terms::new();
    let a = terms.symbol("a", 8);
    let w = terms.symbol("w", 32);
    let mut path = PathCondition::new();
    let three = terms.byte_constant(3);
    let (low, small) = (terms.extract(a, 1, 0), terms.and(a, three));
    let (k, seven) = (terms.constant(12, 32), terms.constant(7, 32));
    let bounded = terms.ult(w, k);
    path.add(&mut terms, bounded);
    let rest = terms.urem(w, seven);
    let current = Assignment::new();
    for off in [vec![], vec![Layer::Domains]] {
        let mut stack = Stack::new(Config { off, ..config(SmtSolver::Absent) });
        for (t, want) in [(low, 4), (small, 4), (rest, 7), (w, 12)] {
            let (found, completeness) = stack.enumerate(&mut terms, &path, &current, t, 100);
            assert_eq!(completeness, Completeness::Exhaustive);
            let mut values: Vec<u128> = found.iter().map(|(value, _)| *value).collect();
            values.sort_unstable();
            assert_eq!(values, (0..want).collect::<Vec<u128>>());
            for (value, input) in &found {
                let mut eval = Eval::new();
                assert!(eval.eval(&terms, input, t) == *value && eval.holds(&terms, input, bounded));
            }
            let (found, completeness) = stack.enumerate(&mut terms, &path, &current, t, 3);
            assert_eq!((found.len(), completeness), (3, Completeness::More));
        }
    }
}

/// A question no layer but the last can take: a table beyond what is translated into gates.
fn array_question(terms: &mut Terms, n_elements: usize) -> TermId {
    let elements: Vec<TermId> = (0..n_elements).map(|i| terms.symbol(&format!("e{}", i % 50), 8)).collect();
    let table = terms.table(&elements);
    let (i, j) = (terms.symbol("i", 64), terms.symbol("j", 64));
    let (x, y) = (terms.select(table, i), terms.select(table, j));
    let sum = terms.add(x, y);
    let k = terms.byte_constant(77);
    terms.eq(sum, k)
}

struct Dead;

impl Backend for Dead {
    fn check(&mut self, _: &Terms, _: &[TermId], _: Duration) -> Reply {
        Reply::Unknown(Why::SolverDied)
    }
}

struct Liar;

impl Backend for Liar {
    fn check(&mut self, _: &Terms, _: &[TermId], _: Duration) -> Reply {
        Reply::Sat(Vec::new())
    }
}

fn only_smt() -> Vec<Layer> {
    vec![Layer::Domains, Layer::Cache, Layer::Recent, Layer::Proposals, Layer::Values, Layer::Blaster]
}

#[test]
fn failures_of_the_backend_are_unknown_and_counted() {
    let mut terms = Terms::new();
    let question = array_question(&mut terms, 100);
    let (path, current) = (PathCondition::new(), Assignment::new());
    for (smt, why) in
        [(Some(Box::new(Dead) as Box<dyn Backend>), Why::SolverDied), (Some(Box::new(Liar)), Why::WrongModel)]
    {
        let mut stack = Stack::with_backend(Config { off: only_smt(), ..Config::default() }, smt);
        assert_eq!(stack.check(&mut terms, &path, &current, question), Answer::Unknown(why));
        assert_eq!(stack.counters().n_unknown, 1);
        assert_eq!(stack.counters().n_wrong_models, u64::from(why == Why::WrongModel));
    }
}

#[test]
fn arrays_go_to_the_smt_solver_when_the_blaster_is_off() {
    let mut terms = Terms::new();
    let question = array_question(&mut terms, 60);
    let off = vec![Layer::Proposals, Layer::Blaster];
    let mut stack = Stack::new(Config { off, timeout: Duration::from_secs(60), ..config(SmtSolver::Z3) });
    let answer = stack.check(&mut terms, &PathCondition::new(), &Assignment::new(), question);
    assert!(answer.is_sat(), "{answer:?}");
    assert_eq!(stack.counters().layer(Layer::Smt).n_sat, 1);
}

/// Rounds of multiply, rotate and xor on 64 bits, forced to a value: nobody inverts this.
fn hopeless(terms: &mut Terms) -> TermId {
    let (a, b) = (terms.symbol("a", 64), terms.symbol("b", 64));
    let mut t = a;
    for round in 0..24u128 {
        let squared = terms.mul(t, t);
        let k = terms.constant(0x9e37_79b9_7f4a_7c15 ^ round << 7, 64);
        let sum = terms.add(squared, b);
        let (low, high) = (terms.extract(sum, 40, 0), terms.extract(sum, 63, 41));
        let rotated = terms.concat(low, high);
        let mixed = terms.xor(rotated, k);
        t = terms.mul(mixed, b);
    }
    let target = terms.constant(0x1234_5678_9abc_def1, 64);
    terms.eq(t, target)
}

#[test]
fn a_hopeless_question_ends_in_time_and_harms_no_other() {
    for smt in [SmtSolver::Absent, SmtSolver::Z3] {
        let mut terms = Terms::new();
        let question = hopeless(&mut terms);
        let timeout = Duration::from_millis(700);
        let mut stack = Stack::new(Config { timeout, ..config(smt) });
        let (path, current) = (PathCondition::new(), Assignment::new());
        let start = Instant::now();
        let answer = stack.check(&mut terms, &path, &current, question);
        assert!(matches!(answer, Answer::Unknown(Why::Timeout | Why::SolverSaid)), "{answer:?}");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        let (x, y) = (terms.symbol("x", 32), terms.symbol("y", 32));
        let (sum, k) = (terms.add(x, y), terms.constant(12345, 32));
        let easy = terms.eq(sum, k);
        assert!(stack.check(&mut terms, &path, &current, easy).is_sat());
    }
}

/// The process is killed from outside between two questions: the next question starts it again.
#[test]
fn a_killed_solver_is_started_again() {
    let mut terms = Terms::new();
    let (x, y) = (terms.symbol("x", 16), terms.symbol("y", 16));
    let (product, k) = (terms.mul(x, y), terms.constant(391, 16));
    let question = terms.eq(product, k);
    let mut z3 = backend(SmtSolver::Z3, &Default::default()).expect("z3 has a backend");
    let limit = Duration::from_secs(20);
    assert!(matches!(z3.check(&terms, &[question], limit), Reply::Sat(_)));
    kill_children_named("z3");
    assert!(matches!(z3.check(&terms, &[question], limit), Reply::Sat(_)));
}

/// Kills this thread's own child processes of a name; those of other tests are left alone.
fn kill_children_named(name: &str) {
    let thread = std::fs::read_link("/proc/thread-self").expect("the system has /proc");
    let children = std::fs::read_to_string(std::path::Path::new("/proc").join(thread).join("children"))
        .expect("the system lists children");
    let mut n_killed = 0;
    for id in children.split_whitespace() {
        let comm = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        if comm.trim() == name {
            let status = std::process::Command::new("kill").args(["-9", id]).status().expect("kill runs");
            assert!(status.success());
            n_killed += 1;
        }
    }
    assert!(n_killed > 0, "no {name} among the children {children:?}");
}

#[test]
fn answers_are_remembered() {
    let mut terms = Terms::new();
    let (x, y) = (terms.symbol("x", 16), terms.symbol("y", 16));
    let (product, k) = (terms.mul(x, y), terms.constant(391, 16));
    let question = terms.eq(product, k);
    let two = terms.constant(2, 16);
    let (rest, zero) = (terms.urem(x, two), terms.constant(0, 16));
    let x_even = terms.eq(rest, zero);
    let mut stack = stack();
    let (mut path, current) = (PathCondition::new(), Assignment::new());
    assert!(stack.check(&mut terms, &path, &current, question).is_sat());
    let n_solver = stack.counters().n_solver;
    assert!(stack.check(&mut terms, &path, &current, question).is_sat());
    path.add(&mut terms, x_even);
    assert_eq!(stack.check(&mut terms, &path, &current, question), Answer::Unsat);
    let n_after = stack.counters().n_solver;
    assert_eq!(n_after, n_solver + 1);
    // More constraints do not make it satisfiable again.
    let below = terms.ult(y, k);
    path.add(&mut terms, below);
    assert_eq!(stack.check(&mut terms, &path, &current, question), Answer::Unsat);
    assert_eq!(stack.counters().n_solver, n_after);
}

#[test]
fn names_of_layers_read_back() {
    for layer in Layer::ALL {
        assert_eq!(Layer::named(layer.name()), Some(layer));
    }
    assert_eq!(Layer::named("magic"), None);
}

/// A table of 16-bit entries, read at an index: two bytes put together.
fn entry(terms: &mut Terms, entries: &[u16], index: TermId) -> TermId {
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
    let table = terms.table_of_bytes(&bytes);
    let (two, one) = (terms.constant(2, 64), terms.constant(1, 64));
    let low_at = terms.mul(index, two);
    let high_at = terms.add(low_at, one);
    let (low, high) = (terms.select(table, low_at), terms.select(table, high_at));
    terms.concat(high, low)
}

#[test]
fn few_values_are_all_tried() {
    let off = vec![Layer::Recent, Layer::Proposals, Layer::Blaster, Layer::Smt];
    let mut stack = Stack::new(Config { off, ..config(SmtSolver::Absent) });
    let mut terms = Terms::new();
    let current = Assignment::new();
    // An index that the path bounds.
    let i = terms.symbol("i", 32);
    let bound = terms.constant(4096, 32);
    let mut path = PathCondition::new();
    let bounded = terms.ult(i, bound);
    path.add(&mut terms, bounded);
    let entries: Vec<u16> = (0..4096u16).map(|i| i.wrapping_mul(7)).collect();
    let wide = terms.zext(i, 64);
    let read = entry(&mut terms, &entries, wide);
    let mut ask = |terms: &mut Terms, path: &PathCondition, t: TermId, want: u128| {
        let want = terms.constant(want, terms.width(t));
        let question = terms.eq(t, want);
        (question, stack.check(terms, path, &current, question))
    };
    let (question, answer) = ask(&mut terms, &path, read, 21_000);
    let Answer::Sat(input) = answer else { panic!("{answer:?}") };
    assert!(Eval::new().holds(&terms, &input, question) && Eval::new().eval(&terms, &input, i) == 3000);
    assert_eq!(ask(&mut terms, &path, read, 21_001).1, Answer::Unsat);
    // A mask does as well as a bound, and the other bits keep their values.
    let mask = terms.constant(0xfff0, 32);
    let masked = terms.and(i, mask);
    let squared = terms.mul(masked, masked);
    let free = PathCondition::new();
    assert!(ask(&mut terms, &free, squared, 0x1230 * 0x1230).1.is_sat());
    assert_eq!(ask(&mut terms, &free, squared, 0x1230 * 0x1230 + 1).1, Answer::Unsat);
    // Two bytes, and three digits.
    let bytes: Vec<TermId> = (0..3).map(|n| terms.symbol(&format!("c{n}"), 8)).collect();
    let (a, b) = (terms.zext(bytes[0], 32), terms.zext(bytes[1], 32));
    let product = terms.mul(a, b);
    assert!(ask(&mut terms, &free, product, 251 * 241).1.is_sat());
    assert_eq!(ask(&mut terms, &free, product, 257).1, Answer::Unsat);
    let mut path = PathCondition::new();
    for &byte in &bytes {
        let (low, high) = (terms.byte_constant(b'0'), terms.byte_constant(b'9'));
        let (above, below) = (terms.ule(low, byte), terms.ule(byte, high));
        path.add(&mut terms, above);
        path.add(&mut terms, below);
    }
    let c = terms.zext(bytes[2], 32);
    let all = terms.mul(product, c);
    assert!(ask(&mut terms, &path, all, 0x31 * 0x35 * 0x37).1.is_sat());
    assert_eq!(ask(&mut terms, &path, all, 0x31 * 0x35 * 0x37 + 1).1, Answer::Unsat);
    // Four free bytes are too many, where three are tried late.
    let d = terms.symbol("d", 8);
    let d = terms.zext(d, 32);
    let four_free = terms.mul(all, d);
    assert!(matches!(ask(&mut terms, &free, four_free, 4_000_000_007).1, Answer::Unknown(_)));
    assert_eq!(stack.counters().layer(Layer::Values).n_unsat, 4);
    assert!(stack.counters().layer(Layer::Values).n_sat >= 4);
}

/// A lookup in 64 KiB is no burden for any layer that can take it.
#[test]
fn a_large_table_is_quick_for_values_and_for_gates() {
    let entries: Vec<u16> = (0..32_768u32).map(|i| (i.wrapping_mul(40_503) >> 3) as u16).collect();
    for off in [vec![Layer::Proposals, Layer::Blaster], vec![Layer::Proposals, Layer::Values]] {
        let mut stack = Stack::new(Config { off: off.clone(), ..config(SmtSolver::Absent) });
        let mut terms = Terms::new();
        let i = terms.symbol("i", 64);
        let bound = terms.constant(entries.len() as u128, 64);
        let mut path = PathCondition::new();
        let bounded = terms.ult(i, bound);
        path.add(&mut terms, bounded);
        let read = entry(&mut terms, &entries, i);
        let start = Instant::now();
        for at in [30_000usize, 7, 12_345] {
            let want = terms.constant(u128::from(entries[at]), 16);
            let question = terms.eq(read, want);
            assert!(stack.check(&mut terms, &path, &Assignment::new(), question).is_sat());
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?} without {off:?}", start.elapsed());
    }
}

/// Without independence the only group of a path may have nothing to do with the question.
#[test]
fn a_group_about_another_symbol_is_no_domain_of_the_question() {
    let mut terms = Terms::new();
    let (a, ten) = (terms.symbol("a", 32), terms.constant(10, 32));
    let below = terms.ult(a, ten);
    let (_, large) = byte_at_least(&mut terms, "b", 250);
    let mut path = PathCondition::new();
    path.add(&mut terms, below);
    let config = Config { independence: solver::Independence::Off, ..config(SmtSolver::Absent) };
    let answer = Stack::new(config).check(&mut terms, &path, &Assignment::new(), large);
    let Answer::Sat(input) = answer else { panic!("{answer:?}") };
    assert!(Eval::new().holds(&terms, &input, large) && Eval::new().holds(&terms, &input, below));
}

/// What a campaign records can be read back and asked again.
#[test]
fn a_record_reads_back() {
    let folder = std::env::temp_dir().join(format!("colt-record-{}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    let recording = Config { record: Some(folder.clone()), ..config(SmtSolver::Absent) };
    let mut asked = Vec::new();
    let mut stack = Stack::new(recording);
    common::walk(11, &mut stack, |_, path, _, _, answer| asked.push((path.len(), answer.is_sat())));
    assert_eq!(stack.counters().n_unrecorded, 0);
    drop(stack);
    let text = std::fs::read_to_string(&folder).expect("the record was written");
    std::fs::remove_file(&folder).expect("the record can be removed");
    let mut terms = Terms::new();
    let recorded = solver::read_record(&mut terms, &text).expect("the record reads back");
    assert_eq!(recorded.len(), asked.len());
    let mut again = Stack::new(config(SmtSolver::Absent));
    for (query, (len, is_sat)) in recorded.iter().zip(asked) {
        assert_eq!((query.path.len(), query.verdict == solver::Verdict::Sat), (len, is_sat));
        let path = query.path_condition(&mut terms);
        assert!(query.path.iter().all(|&t| Eval::new().holds(&terms, &query.current, t)));
        assert_eq!(again.check(&mut terms, &path, &query.current, query.question).is_sat(), is_sat);
    }
    assert!(solver::read_record(&mut Terms::new(), "t1 = nonsense t0").is_err());
}

/// A question that ran out of time is gone on with, not begun again.
#[test]
fn a_suspended_question_is_answered_in_the_end() {
    let mut terms = Terms::new();
    let (a, b) = (terms.symbol("a", 20), terms.symbol("b", 20));
    let one = terms.constant(1, 20);
    let (above_a, above_b) = (terms.ult(one, a), terms.ult(one, b));
    let (wide_a, wide_b) = (terms.zext(a, 40), terms.zext(b, 40));
    let product = terms.mul(wide_a, wide_b);
    let target = terms.constant(999_983 * 1_000_003, 40);
    let question = terms.eq(product, target);
    let mut path = PathCondition::new();
    path.add(&mut terms, above_a);
    path.add(&mut terms, above_b);
    let mut current = Assignment::new();
    [a, b].iter().for_each(|&t| current.set(terms.symbols(t)[0], 2));
    let timeout = Duration::from_millis(50);
    let mut stack = Stack::new(Config { timeout, ..config(SmtSolver::Absent) });
    let answered = (0..2_000).find_map(|_| match stack.check(&mut terms, &path, &current, question) {
        Answer::Sat(input) => Some(input),
        answer => {
            assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
            None
        }
    });
    assert!(Eval::new().holds(&terms, &answered.expect("it has an answer"), question));
}
