//! Programs in bytecode text, explored without a C compiler.

use std::sync::Arc;

use explore::{Covers, LineUp, Options, Outcome, Program, Progress, Sink, TestId};
use witness::Witness;

#[derive(Default)]
pub struct Gathered {
    pub witnesses: Vec<Witness>,
}

impl Sink for Gathered {
    fn path_ended(&mut self, witness: &Witness, _: Covers) -> TestId {
        self.witnesses.push(witness.clone());
        TestId(self.witnesses.len() as u64)
    }

    fn progress(&mut self, _: &Progress) {}
}

pub fn program(text: &str) -> Program {
    let module = ir::parse(text).unwrap_or_else(|error| panic!("line {}: {}", error.line, error.message));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let entry = module.find_function("main").expect("a main");
    Program { module: Arc::new(module), entry, constructors: Vec::new() }
}

pub fn explore_with(text: &str, options: &Options, line_up: LineUp) -> (Outcome, Vec<Witness>) {
    let mut gathered = Gathered::default();
    let outcome = explore::explore(&program(text), options, line_up, &mut gathered).expect("no fault");
    (outcome, gathered.witnesses)
}

/// Endings with the decisions that lead there, in a fixed order.
#[allow(dead_code, reason = "each test file uses what it needs")]
pub fn paths(witnesses: &[Witness]) -> Vec<(Vec<u64>, &'static str)> {
    let mut paths: Vec<_> = witnesses.iter().map(|witness| (witness.path.clone(), witness.ending.name())).collect();
    paths.sort();
    paths
}

/// `n` bytes, one branch on each, and a division that fails for one combination.
pub fn tree(n: u32) -> String {
    let mut text = String::from(
        "global @name bytes 2 align 1 const = data \"x\\x00\"\n\
         func @colt_input(r0:64, r1:64, r2:64)\n\
         func @main() -> 32 {\n\
         b0: r0 = alloca 32 align 1\n\
             r1 = addr @name\n",
    );
    text.push_str(&format!(
        "    r2:64 = const {n}\n    call @colt_input(r0:64, r2:64, r1:64)\n    r3:32 = const 0\n    jump b1\n"
    ));
    for idx in 0..n {
        let (head, then, next) = (2 * idx + 1, 2 * idx + 2, 2 * idx + 3);
        let sum = if idx == 0 { "r3".to_string() } else { format!("r{}", 10 + 8 * (idx - 1) + 4) };
        let base = 10 + 8 * idx;
        text.push_str(&format!(
            "b{head}: r{base}:64 = add r0, {idx}\n    r{}:8 = load r{base}\n    br ult:8 r{}, 100 ? b{then} : b{next} [r{}:32 = {sum}]\n",
            base + 1,
            base + 1,
            base + 4
        ));
        text.push_str(&format!(
            "b{then}: r{}:32 = add {sum}, 1\n    jump b{next} [r{}:32 = r{}]\n",
            base + 3,
            base + 4,
            base + 3
        ));
    }
    let last = 10 + 8 * (n - 1);
    text.push_str(&format!(
        "b{}: r5:32 = sub r{}, {n}\n    r6:32 = const 7\n    r7:32 = sdiv r6, r5\n    ret r{}\n}}\n",
        2 * n + 1,
        last + 4,
        last + 4
    ));
    text
}
