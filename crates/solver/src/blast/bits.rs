//! Each operator as gates over bits.

use super::narrow::{Place, Source};
use super::product::n_signed;
use super::sat::Lit;
use super::{Blaster, UNKNOWN};
use crate::bounds::is_magnitude;
use crate::clock::Clock;
use crate::linear::Sum;
use term::lower::Operation;
use term::{SymbolId, TermId, Terms, View, fold};

impl Blaster {
    /// A select from a larger array, or through more stores, is left to the SMT solver.
    const MAX_ARRAY: usize = 1 << 16;

    /// Translates a term and all below it. False when something in it is too large.
    pub(super) fn translate(&mut self, terms: &Terms, t: TermId, clock: &Clock) -> bool {
        if self.starts.len() < terms.len() {
            self.starts.resize(terms.len(), UNKNOWN);
        }
        let mut stack = vec![t];
        let mut n_steps = 0u32;
        while let Some(&top) = stack.last() {
            if self.is_translated(terms, top) {
                stack.pop();
                continue;
            }
            n_steps += 1;
            if n_steps.is_multiple_of(1024) && clock.is_over() {
                return false;
            }
            let before = stack.len();
            if !self.push_operands(terms, top, &mut stack) {
                return false;
            }
            if stack.len() == before {
                stack.pop();
                let bits = match Operation::of(terms.view(top)) {
                    None => self.bits_of(terms, top),
                    Some(operation) => match self.bits_of_float(terms, top, operation, clock) {
                        Some(bits) => bits,
                        None => return false,
                    },
                };
                self.put(terms, top, bits);
            }
        }
        true
    }

    /// Keeps the bits of a term.
    fn put(&mut self, terms: &Terms, t: TermId, mut bits: Vec<Lit>) {
        debug_assert_eq!(bits.len(), terms.width(t) as usize);
        if let Place::AsEver = self.narrowing.place(terms, t) {
            self.starts[t.index()] = self.pool.len() as u32;
        } else {
            let Blaster { narrowing, gates, pool, .. } = self;
            narrowing.settle(terms, t, &mut bits, |value| gates.constant(value));
            narrowing.put(terms, t, pool.len() as u32);
        }
        self.pool.extend_from_slice(&bits);
    }

    /// The bits of a symbol: all open, or those that the path leaves of it.
    fn bits_of_symbol(&mut self, terms: &Terms, symbol: SymbolId) -> Vec<Lit> {
        let width = terms.symbol_width(symbol) as usize;
        let Some(kept) = self.narrowing.kept(symbol) else { return (0..width).map(|_| self.gates.input()).collect() };
        let own = terms.symbol_term(symbol).index();
        if self.starts[own] == UNKNOWN {
            self.starts[own] = self.pool.len() as u32;
            let open: Vec<Lit> = (0..width).map(|_| self.gates.input()).collect();
            self.pool.extend(open);
        }
        let start = self.starts[own];
        let bit = |bit: u32| match kept.source(bit) {
            Source::Bit(own) => self.pool[(start + own) as usize],
            Source::Constant(value) => self.gates.constant(value),
        };
        (0..width as u32).map(bit).collect()
    }

    /// Pushes the operands that are not translated yet; a select looks through its whole array.
    fn push_operands(&mut self, terms: &Terms, t: TermId, stack: &mut Vec<TermId>) -> bool {
        let mut missing = |t: &TermId| !self.is_translated(terms, *t);
        let View::Select { array, index } = terms.view(t) else {
            stack.extend(terms.view(t).operands().filter(&mut missing));
            return true;
        };
        stack.extend(Some(index).filter(&mut missing));
        let mut array = array;
        let mut n_stores = 0;
        loop {
            match terms.view(array) {
                View::Store { array: base, index, byte } => {
                    stack.extend([index, byte].iter().copied().filter(&mut missing));
                    array = base;
                    n_stores += 1;
                }
                View::Table(table) => {
                    let elements = terms.table_elements(table);
                    stack.extend(elements.iter().copied().filter(&mut missing));
                    return elements.len() <= Self::MAX_ARRAY && n_stores <= Self::MAX_ARRAY;
                }
                _ => unreachable!("an array is a chain of stores on a table"),
            }
        }
    }

    fn bits_of(&mut self, terms: &Terms, t: TermId) -> Vec<Lit> {
        use View::*;
        let width = terms.width(t) as usize;
        let get = |blaster: &Blaster, t: TermId| blaster.bits(terms, t).to_vec();
        match terms.view(t) {
            Const(value) => (0..width).map(|i| self.gates.constant(value >> i & 1 == 1)).collect(),
            Symbol(symbol) => self.bits_of_symbol(terms, symbol),
            Not(a) => self.bits(terms, a).iter().map(|&lit| !lit).collect(),
            Neg(a) => {
                let a = get(self, a);
                self.negate(&a)
            }
            And(a, b) => self.bitwise(terms, a, b, |blaster, x, y| blaster.gates.and(x, y)),
            Or(a, b) => self.bitwise(terms, a, b, |blaster, x, y| blaster.gates.or(x, y)),
            Xor(a, b) => self.bitwise(terms, a, b, |blaster, x, y| blaster.gates.xor(x, y)),
            Add(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.add(&a, &b, self.gates.fls())
            }
            Sub(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.subtract(&a, &b)
            }
            Mul(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.multiply(&a, &b)
            }
            UDiv(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.divide(&a, &b).0
            }
            URem(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.divide(&a, &b).1
            }
            SDiv(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                let (magnitude, _) = self.divide_magnitudes(&a, &b);
                let differ = self.gates.xor(a[width - 1], b[width - 1]);
                self.negate_if(differ, &magnitude)
            }
            SRem(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                let (_, magnitude) = self.divide_magnitudes(&a, &b);
                self.negate_if(a[width - 1], &magnitude)
            }
            Shl(a, b) => {
                let (mut a, b) = (get(self, a), get(self, b));
                a.reverse();
                let mut shifted = self.shift_down(&a, &b, self.gates.fls());
                shifted.reverse();
                shifted
            }
            LShr(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.shift_down(&a, &b, self.gates.fls())
            }
            AShr(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                self.shift_down(&a, &b, a[width - 1])
            }
            Concat(hi, lo) => [self.bits(terms, lo), self.bits(terms, hi)].concat(),
            Extract { arg, lo } => self.bits(terms, arg)[lo as usize..lo as usize + width].to_vec(),
            ZExt(a) => {
                let mut bits = get(self, a);
                bits.resize(width, self.gates.fls());
                bits
            }
            SExt(a) => {
                let mut bits = get(self, a);
                bits.resize(width, bits[bits.len() - 1]);
                bits
            }
            Ite(c, a, b) if is_magnitude(terms, c, a, b) => {
                let b = get(self, b);
                self.magnitude(&b)
            }
            Ite(c, a, b) => {
                let c = self.bits(terms, c)[0];
                self.bitwise(terms, a, b, |blaster, x, y| blaster.gates.mux(c, x, y))
            }
            Eq(a, b) => vec![self.equal_sums(terms, a, b).unwrap_or_else(|| self.equal(terms, a, b))],
            Ult(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                vec![self.less(&a, &b)]
            }
            Slt(a, b) => {
                let (mut a, mut b) = (get(self, a), get(self, b));
                let n = n_signed(&a).max(n_signed(&b));
                a.truncate(n);
                b.truncate(n);
                (a[n - 1], b[n - 1]) = (!a[n - 1], !b[n - 1]);
                vec![self.less(&a, &b)]
            }
            Select { array, index } => self.select(terms, array, index),
            Table(_) | Store { .. } => unreachable!("arrays are translated at their selects"),
            FloatUnary { .. } | FloatBinary { .. } | FloatCompare { .. } | Fma { .. } => {
                unreachable!("floats are translated by their circuits")
            }
        }
    }

    fn equal(&mut self, terms: &Terms, a: TermId, b: TermId) -> Lit {
        let same = self.bitwise(terms, a, b, |blaster, x, y| !blaster.gates.xor(x, y));
        self.gates.all(&same)
    }

    /// Two sums that have addends in common, without these; `None` where there are none.
    fn equal_sums(&mut self, terms: &Terms, a: TermId, b: TermId) -> Option<Lit> {
        let is_sum = |t: TermId| matches!(terms.view(t), View::Add(..) | View::Sub(..) | View::Neg(_));
        if !is_sum(a) && !is_sum(b) {
            return None;
        }
        let sum = Sum::of_difference(terms, a, b).filter(|sum| sum.factors.len() < sum.n_addends)?;
        // They are among what the sums are made of; where that was found as a whole, it is looked for now.
        if !sum.factors.keys().all(|&t| self.is_translated(terms, t)) {
            return None;
        }
        let width = terms.width(a);
        let mut addends: Vec<(Option<TermId>, u128)> =
            sum.factors.iter().map(|(&t, &factor)| (Some(t), factor)).collect();
        addends.push((None, sum.constant));
        addends.sort_unstable(); // the same gates whatever the order in the map
        let mut sides = [vec![self.gates.fls(); width as usize], vec![self.gates.fls(); width as usize]];
        for (t, factor) in addends {
            // What is taken off on one side is added on the other.
            let (side, factor) = match fold::is_negative(factor, width) {
                true => (1, fold::neg(factor, width)),
                false => (0, factor),
            };
            let constant: Vec<Lit> = (0..width).map(|bit| self.gates.constant(factor >> bit & 1 == 1)).collect();
            let addend = match t {
                Some(t) => {
                    let bits = self.bits(terms, t).to_vec();
                    self.multiply(&bits, &constant)
                }
                None => constant,
            };
            sides[side] = self.add(&sides[side], &addend, self.gates.fls());
        }
        let same: Vec<Lit> = (0..width as usize).map(|bit| !self.gates.xor(sides[0][bit], sides[1][bit])).collect();
        Some(self.gates.all(&same))
    }

    fn bitwise(
        &mut self,
        terms: &Terms,
        a: TermId,
        b: TermId,
        gate: impl Fn(&mut Blaster, Lit, Lit) -> Lit,
    ) -> Vec<Lit> {
        (0..terms.width(a) as usize)
            .map(|i| {
                let (x, y) = (self.bits(terms, a)[i], self.bits(terms, b)[i]);
                gate(self, x, y)
            })
            .collect()
    }

    /// A shift towards bit 0 by a symbolic amount; `fill` comes in from above.
    fn shift_down(&mut self, a: &[Lit], by: &[Lit], fill: Lit) -> Vec<Lit> {
        let width = a.len();
        let mut bits = a.to_vec();
        let n_stages = by.len().min(usize::BITS as usize - (width - 1).leading_zeros() as usize);
        for (stage, &shifts) in by[..n_stages].iter().enumerate() {
            let step = 1 << stage;
            let moved: Vec<Lit> = (0..width).map(|i| bits.get(i + step).copied().unwrap_or(fill)).collect();
            bits = self.choose(shifts, &moved, &bits);
        }
        // Amounts beyond the stages move everything out.
        let none_beyond: Vec<Lit> = by[n_stages..].iter().map(|&lit| !lit).collect();
        let beyond = !self.gates.all(&none_beyond);
        let filled = vec![fill; width];
        self.choose(beyond, &filled, &bits)
    }

    fn select(&mut self, terms: &Terms, array: TermId, index: TermId) -> Vec<Lit> {
        let at = self.bits(terms, index).to_vec();
        let mut stores = Vec::new();
        let mut base = array;
        while let View::Store { array, index, byte } = terms.view(base) {
            stores.push((index, byte));
            base = array;
        }
        let View::Table(table) = terms.view(base) else { unreachable!("an array is a chain of stores on a table") };
        let mut value = self.select_of_table(terms, terms.table_elements(table), &at);
        for (index, byte) in stores.into_iter().rev() {
            let stored = self.bits(terms, index).to_vec();
            let same: Vec<Lit> = stored.iter().zip(&at).map(|(&x, &y)| !self.gates.xor(x, y)).collect();
            let hit = self.gates.all(&same);
            let byte = self.bits(terms, byte).to_vec();
            value = self.choose(hit, &byte, &value);
        }
        value
    }

    /// Halves the table by one index bit after the other, the lowest first; zero beyond its end. Bit by bit, so that where
    /// the elements are constants the first levels are a handful of gates, shared over the whole table.
    fn select_of_table(&mut self, terms: &Terms, elements: &[TermId], at: &[Lit]) -> Vec<Lit> {
        let zero = self.gates.fls();
        let n_levels = elements.len().next_power_of_two().trailing_zeros() as usize;
        let beyond: Vec<Lit> = at[n_levels..].iter().map(|&lit| !lit).collect();
        let inside = self.gates.all(&beyond);
        let mut row: Vec<Lit> = Vec::with_capacity(elements.len());
        (0..8)
            .map(|bit| {
                row.clear();
                row.extend(elements.iter().map(|&element| self.bits(terms, element)[bit]));
                for &c in &at[..n_levels] {
                    for i in 0..row.len().div_ceil(2) {
                        row[i] = self.gates.mux(c, row.get(2 * i + 1).copied().unwrap_or(zero), row[2 * i]);
                    }
                    row.truncate(row.len().div_ceil(2));
                }
                let value = row.first().copied().unwrap_or(zero);
                self.gates.mux(inside, value, zero)
            })
            .collect()
    }
}
