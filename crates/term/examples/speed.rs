//! Nanoseconds to build and to evaluate a term: `cargo run --release -p term --example speed`.

use std::time::Instant;
use term::{Assignment, Eval, TermId, Terms};

fn main() {
    const N: u32 = 2_000_000;
    let mut terms = Terms::new();
    let bytes: Vec<TermId> = (0..16).map(|i| terms.symbol(&format!("b{i}"), 8)).collect();
    let start = Instant::now();
    let mut t = terms.constant(1, 32);
    for i in 0..N {
        let byte = terms.zext(bytes[i as usize % 16], 32);
        let sum = terms.add(t, byte);
        let k = terms.constant(u128::from(i | 3), 32);
        t = terms.xor(sum, k);
    }
    let n_built = terms.len() as f64;
    println!("build: {:.0} ns a call, {n_built} terms", start.elapsed().as_nanos() as f64 / f64::from(4 * N));
    let start = Instant::now();
    for i in 0..N {
        let byte = bytes[i as usize % 16];
        let wide = terms.zext(byte, 32);
        let k = terms.constant(u128::from(i % 100), 32);
        let below = terms.slt(wide, k);
        std::hint::black_box(terms.not(below));
    }
    println!("again: {:.0} ns a call", start.elapsed().as_nanos() as f64 / f64::from(4 * N));
    let mut eval = Eval::new();
    for round in 0..2 {
        let assignment = Assignment::from_values((0..16).map(|i| i * 7 + round).collect());
        let start = Instant::now();
        std::hint::black_box(eval.eval(&terms, &assignment, t));
        println!("evaluate: {:.1} ns a term", start.elapsed().as_nanos() as f64 / n_built);
    }
}
