//! Generated terms and paths for the tests of the stack.
#![allow(dead_code)] // each test file uses its part

use solver::{Answer, Config, PathCondition, SmtSolver, Stack};
use term::{Assignment, TermId, Terms};

/// A small generator of numbers: the same seed, the same terms.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Terms as programs make them: bytes and ints, extended, combined and compared.
pub struct Generator {
    pub numbers: Numbers,
    pub symbols: Vec<TermId>,
}

impl Generator {
    pub fn new(terms: &mut Terms, seed: u64) -> Generator {
        let mut symbols: Vec<TermId> = (0..4).map(|i| terms.symbol(&format!("b{i}"), 8)).collect();
        symbols.push(terms.symbol("h", 16));
        symbols.push(terms.symbol("w", 32));
        Generator { numbers: Numbers::new(seed), symbols }
    }

    fn constant(&mut self, terms: &mut Terms, width: u32) -> TermId {
        let value = match self.numbers.below(4) {
            0 => self.numbers.below(4),
            1 => self.numbers.below(256),
            2 => self.numbers.next(),
            _ => 0u64.wrapping_sub(self.numbers.below(4)),
        };
        terms.constant(u128::from(value), width)
    }

    /// A term of 16 bits.
    pub fn word(&mut self, terms: &mut Terms, depth: u32) -> TermId {
        const W: u32 = 16;
        if depth == 0 || self.numbers.below(5) == 0 {
            let symbol = self.numbers.pick(&self.symbols.clone());
            let width = terms.width(symbol);
            return match self.numbers.below(4) {
                0 => self.constant(terms, W),
                1 if width < W => terms.sext(symbol, W),
                _ if width <= W => terms.zext(symbol, W),
                _ => terms.extract(symbol, W + 3, 4),
            };
        }
        let a = self.word(terms, depth - 1);
        let b = match self.numbers.below(3) {
            0 => self.constant(terms, W),
            _ => self.word(terms, depth - 1),
        };
        match self.numbers.below(18) {
            0..=2 => terms.add(a, b),
            3 => terms.sub(a, b),
            4 => terms.mul(a, b),
            5 => terms.udiv(a, b),
            6 => terms.urem(a, b),
            7 => terms.sdiv(a, b),
            8 => terms.srem(a, b),
            9 => terms.and(a, b),
            10 => terms.or(a, b),
            11 => terms.xor(a, b),
            12 => terms.shl(a, b),
            13 => terms.lshr(a, b),
            14 => terms.ashr(a, b),
            15 => {
                let c = self.condition(terms, depth - 1);
                terms.ite(c, a, b)
            }
            16 => self.lookup(terms, a, b),
            _ => {
                let (hi, lo) = (terms.extract(a, 7, 0), terms.extract(b, 15, 8));
                terms.concat(hi, lo)
            }
        }
    }

    /// A byte read from a small array, half of the time after a write.
    fn lookup(&mut self, terms: &mut Terms, index: TermId, value: TermId) -> TermId {
        let n = 1 + self.numbers.below(20);
        let elements: Vec<TermId> = (0..n)
            .map(|_| match self.numbers.below(6) {
                0 => self.symbols[self.numbers.below(4) as usize],
                _ => terms.byte_constant(self.numbers.next() as u8),
            })
            .collect();
        let table = terms.table(&elements);
        let at = terms.zext(index, 64);
        let array = match self.numbers.below(2) {
            0 => table,
            _ => {
                let other = terms.zext(value, 64);
                let byte = terms.extract(index, 7, 0);
                terms.store(table, other, byte)
            }
        };
        let byte = terms.select(array, at);
        terms.zext(byte, 16)
    }

    pub fn condition(&mut self, terms: &mut Terms, depth: u32) -> TermId {
        if depth > 1 && self.numbers.below(4) == 0 {
            let (a, b) = (self.condition(terms, depth - 1), self.condition(terms, depth - 1));
            return match self.numbers.below(3) {
                0 => terms.and(a, b),
                1 => terms.or(a, b),
                _ => terms.xor(a, b),
            };
        }
        let a = self.word(terms, depth);
        let b = if self.numbers.below(3) > 0 { self.constant(terms, 16) } else { self.word(terms, depth) };
        let t = match self.numbers.below(5) {
            0 | 1 => terms.eq(a, b),
            2 => terms.ult(a, b),
            _ => terms.slt(a, b),
        };
        if self.numbers.below(3) == 0 { terms.not(t) } else { t }
    }
}

/// Walks a random path the way an explorer does, and gives each question and its answer to `visit`.
pub fn walk(seed: u64, stack: &mut Stack, mut visit: impl FnMut(&Terms, &PathCondition, &Assignment, TermId, &Answer)) {
    let mut terms = Terms::new();
    let mut generator = Generator::new(&mut terms, seed);
    for _ in 0..4 {
        let mut path = PathCondition::new();
        let mut current = Assignment::new();
        for step in 0..8 {
            let condition = generator.condition(&mut terms, 1 + step % 3);
            let holds = stack.eval(&terms, &current, condition) == 1;
            let taken = if holds { condition } else { terms.not(condition) };
            let other = terms.not(taken);
            let answer = stack.check(&mut terms, &path, &current, other);
            visit(&terms, &path, &current, other, &answer);
            match answer {
                Answer::Sat(input) if generator.numbers.below(2) == 0 => {
                    path.add(&mut terms, other);
                    current = input;
                }
                _ => path.add(&mut terms, taken),
            }
        }
    }
}

pub fn config(smt: SmtSolver) -> Config {
    Config { smt, ..Config::default() }
}
