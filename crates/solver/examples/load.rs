//! Loads typical of exploration, with the time and the layer that answered: `cargo run --release -p solver --example load`.

use solver::{Answer, Config, PathCondition, SmtSolver, Stack};
use std::time::Instant;
use term::{Assignment, TermId, Terms};

struct Run {
    terms: Terms,
    stack: Stack,
    n_paths: u64,
}

impl Run {
    fn new() -> Run {
        Run {
            terms: Terms::new(),
            stack: Stack::new(Config { smt: SmtSolver::Absent, ..Config::default() }),
            n_paths: 0,
        }
    }

    /// Both sides of a condition, depth first, as an explorer does; `then` goes on with each.
    fn branch(
        &mut self,
        path: &PathCondition,
        current: &Assignment,
        condition: TermId,
        then: &mut dyn FnMut(&mut Run, &PathCondition, &Assignment, bool),
    ) {
        let holds = self.stack.eval(&self.terms, current, condition) == 1;
        let not = self.terms.not(condition);
        let (taken, other) = if holds { (condition, not) } else { (not, condition) };
        let answer = self.stack.check(&mut self.terms, path, current, other);
        let mut here = path.clone();
        here.add(&mut self.terms, taken);
        then(self, &here, current, holds);
        match answer {
            Answer::Sat(input) => {
                let mut there = path.clone();
                there.add(&mut self.terms, other);
                then(self, &there, &input, !holds);
            }
            Answer::Unsat => {}
            Answer::Unknown(why) => println!("unknown: {why}"),
        }
    }

    fn report(&self, name: &str, start: Instant) {
        let seconds = start.elapsed().as_secs_f64();
        let counters = self.stack.counters();
        println!(
            "{name}: {} paths, {} questions, {seconds:.3} s, {:.0} questions/s, {} terms",
            self.n_paths,
            counters.n_asked,
            counters.n_asked as f64 / seconds,
            self.terms.len()
        );
        for (layer, count) in counters.by_layer() {
            println!(
                "    {layer:10} {:8} sat {:8} unsat {:8.3} s",
                count.n_sat,
                count.n_unsat,
                count.time.as_secs_f64()
            );
        }
    }
}

/// One independent condition for each of n symbols.
fn independent(n: usize, width: u32) {
    fn go(run: &mut Run, path: &PathCondition, current: &Assignment, conditions: &[TermId]) {
        let Some((&first, rest)) = conditions.split_first() else {
            run.n_paths += 1;
            return;
        };
        run.branch(path, current, first, &mut |run, path, current, _| go(run, path, current, rest));
    }
    let mut run = Run::new();
    let conditions: Vec<TermId> = (0..n)
        .map(|i| {
            let x = run.terms.symbol(&format!("x{i}"), width);
            let zero = run.terms.constant(0, width);
            run.terms.ne(x, zero)
        })
        .collect();
    let start = Instant::now();
    go(&mut run, &PathCondition::new(), &Assignment::new(), &conditions);
    run.report(&format!("{n} independent conditions of {width} bits"), start);
}

/// Bubble sort of n ints: comparisons of symbols with each other.
fn sort(n: usize) {
    fn go(run: &mut Run, path: &PathCondition, current: &Assignment, values: &[TermId], i: usize, j: usize) {
        let n = values.len();
        if i == n {
            run.n_paths += 1;
            return;
        }
        if j + 1 + i >= n {
            return go(run, path, current, values, i + 1, 0);
        }
        let above = run.terms.slt(values[j + 1], values[j]);
        run.branch(path, current, above, &mut |run, path, current, swap| {
            let mut values = values.to_vec();
            if swap {
                values.swap(j, j + 1);
            }
            go(run, path, current, &values, i, j + 1);
        });
    }
    let mut run = Run::new();
    let values: Vec<TermId> = (0..n).map(|i| run.terms.symbol(&format!("x{i}"), 32)).collect();
    let start = Instant::now();
    go(&mut run, &PathCondition::new(), &Assignment::new(), &values, 0, 0);
    run.report(&format!("bubble sort of {n}"), start);
}

/// A decimal number of n digits compared with constants: sums over several bytes.
fn number(n: usize) {
    fn digits(run: &mut Run, path: &PathCondition, current: &Assignment, bytes: &[TermId], value: TermId) {
        let Some((&byte, rest)) = bytes.split_first() else {
            for_bounds(run, path, current, value, &[7, 100, 999, 12345]);
            return;
        };
        let (low, high) = (run.terms.byte_constant(b'0'), run.terms.byte_constant(b'9'));
        let (above, below) = (run.terms.ule(low, byte), run.terms.ule(byte, high));
        let is_digit = run.terms.and(above, below);
        run.branch(path, current, is_digit, &mut |run, path, current, taken| {
            if !taken {
                for_bounds(run, path, current, value, &[7, 100]);
                return;
            }
            let wide = run.terms.zext(byte, 32);
            let zero = run.terms.constant(48, 32);
            let digit = run.terms.sub(wide, zero);
            let ten = run.terms.constant(10, 32);
            let scaled = run.terms.mul(value, ten);
            let next = run.terms.add(scaled, digit);
            digits(run, path, current, rest, next);
        });
    }
    fn for_bounds(run: &mut Run, path: &PathCondition, current: &Assignment, value: TermId, bounds: &[u128]) {
        let Some((&bound, rest)) = bounds.split_first() else {
            run.n_paths += 1;
            return;
        };
        let bound = run.terms.constant(bound, 32);
        let below = run.terms.slt(value, bound);
        run.branch(path, current, below, &mut |run, path, current, _| for_bounds(run, path, current, value, rest));
    }
    let mut run = Run::new();
    let bytes: Vec<TermId> = (0..n).map(|i| run.terms.symbol(&format!("b{i}"), 8)).collect();
    let zero = run.terms.constant(0, 32);
    let start = Instant::now();
    digits(&mut run, &PathCondition::new(), &Assignment::new(), &bytes, zero);
    run.report(&format!("number of {n} digits"), start);
}

/// CRC-32 of n bytes must be a given value: xors of table lookups.
fn crc(n: usize) {
    let mut run = Run::new();
    let entry = |i: u32| (0..8).fold(i, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ c >> 1 } else { c >> 1 });
    let mut crc = run.terms.constant(0xffff_ffff, 32);
    let planes: Vec<TermId> = (0..4)
        .map(|k| run.terms.table_of_bytes(&(0..256).map(|i| (entry(i) >> (8 * k)) as u8).collect::<Vec<u8>>()))
        .collect();
    let terms = &mut run.terms;
    for i in 0..n {
        let byte = terms.symbol(&format!("b{i}"), 8);
        let low = terms.extract(crc, 7, 0);
        let index = terms.xor(low, byte);
        let index = terms.zext(index, 64);
        let bytes: Vec<TermId> = planes.iter().map(|&plane| terms.select(plane, index)).collect();
        let looked_up = terms.concat_bytes(&bytes);
        let eight = terms.constant(8, 32);
        let shifted = terms.lshr(crc, eight);
        crc = terms.xor(looked_up, shifted);
    }
    let target = terms.constant(0x1234_5678, 32);
    let question = terms.eq(crc, target);
    let start = Instant::now();
    let answer = run.stack.check(&mut run.terms, &PathCondition::new(), &Assignment::new(), question);
    println!("{}", if answer.is_sat() { "sat" } else { "not sat" });
    run.report(&format!("crc of {n} bytes"), start);
}

/// A product of two words must be a given value.
fn product(width: u32, target: u128) {
    let mut run = Run::new();
    let terms = &mut run.terms;
    let (a, b) = (terms.symbol("a", width), terms.symbol("b", width));
    let one = terms.constant(1, width);
    let (above_a, above_b) = (terms.ult(one, a), terms.ult(one, b));
    let (wide_a, wide_b) = (terms.zext(a, 2 * width), terms.zext(b, 2 * width));
    let product = terms.mul(wide_a, wide_b);
    let target = terms.constant(target, 2 * width);
    let equal = terms.eq(product, target);
    let question = terms.and(above_a, above_b);
    let question = terms.and(question, equal);
    let start = Instant::now();
    let answer = run.stack.check(&mut run.terms, &PathCondition::new(), &Assignment::new(), question);
    println!("{answer:?}");
    run.report(&format!("product of {width} bits"), start);
}

/// Two bytes of a large constant table, read at symbolic places, must add up; then must not.
fn table(n: u32) {
    let mut run = Run::new();
    let terms = &mut run.terms;
    let bytes: Vec<u8> = (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 & 0x3f).collect();
    let table = terms.table_of_bytes(&bytes);
    let (i, j) = (terms.symbol("i", 32), terms.symbol("j", 32));
    let bound = terms.constant(u128::from(n), 32);
    let (inside_i, inside_j) = (terms.ult(i, bound), terms.ult(j, bound));
    let (wide_i, wide_j) = (terms.zext(i, 64), terms.zext(j, 64));
    let (x, y) = (terms.select(table, wide_i), terms.select(table, wide_j));
    let sum = terms.add(x, y);
    let mut path = PathCondition::new();
    path.add(terms, inside_i);
    path.add(terms, inside_j);
    let start = Instant::now();
    for target in [126, 127] {
        let target = run.terms.byte_constant(target);
        let question = run.terms.eq(sum, target);
        let answer = run.stack.check(&mut run.terms, &path, &Assignment::new(), question);
        println!("{answer:?}");
    }
    run.report(&format!("table of {n} bytes"), start);
}

/// One long path whose conditions all hang together: a rolling hash of n bytes, a bit of it tested after each.
fn rolling(n: usize) {
    let mut run = Run::new();
    let mut path = PathCondition::new();
    let mut current = Assignment::new();
    let mut hash = run.terms.constant(5381, 32);
    let start = Instant::now();
    for i in 0..n {
        let byte = run.terms.symbol(&format!("b{i}"), 8);
        let wide = run.terms.zext(byte, 32);
        let factor = run.terms.constant(33, 32);
        let scaled = run.terms.mul(hash, factor);
        hash = run.terms.add(scaled, wide);
        let bit = run.terms.extract(hash, 9, 9);
        let holds = run.stack.eval(&run.terms, &current, bit) == 1;
        let not = run.terms.not(bit);
        let other = if holds { not } else { bit };
        match run.stack.check(&mut run.terms, &path, &current, other) {
            Answer::Sat(input) => {
                path.add(&mut run.terms, other);
                current = input;
            }
            answer => println!("{answer:?}"),
        }
    }
    run.report(&format!("rolling hash of {n} bytes"), start);
}

fn main() {
    table(1 << 12);
    table(1 << 16);
    rolling(100);

    independent(16, 8);
    independent(16, 32);
    sort(6);
    sort(7);
    number(5);
    crc(4);
    crc(8);
    product(16, 1_022_117);
    product(20, 999_983 * 1_000_003);
}
