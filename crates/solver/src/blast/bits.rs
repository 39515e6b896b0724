//! Each operator as gates over bits.

use super::sat::Lit;
use super::{Blaster, UNKNOWN};
use crate::clock::Clock;
use term::{TermId, Terms, View};

impl Blaster {
    /// A select from a larger array, or through more stores, is left to the SMT solver.
    const MAX_ARRAY: usize = 1 << 16;

    /// Translates a term and all below it. False when something in it is too large, or a float operation.
    pub(super) fn translate(&mut self, terms: &Terms, t: TermId, clock: &Clock) -> bool {
        if terms.has_floats(t) {
            return false;
        }
        if self.starts.len() < terms.len() {
            self.starts.resize(terms.len(), UNKNOWN);
        }
        let mut stack = vec![t];
        let mut n_steps = 0u32;
        while let Some(&top) = stack.last() {
            if self.is_translated(top) {
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
                let bits = self.bits_of(terms, top);
                debug_assert_eq!(bits.len(), terms.width(top) as usize);
                self.starts[top.index()] = self.pool.len() as u32;
                self.pool.extend_from_slice(&bits);
            }
        }
        true
    }

    /// Pushes the operands that are not translated yet; a select looks through its whole array.
    fn push_operands(&self, terms: &Terms, t: TermId, stack: &mut Vec<TermId>) -> bool {
        let missing = |t: &TermId| !self.is_translated(*t);
        let View::Select { array, index } = terms.view(t) else {
            stack.extend(terms.view(t).operands().filter(missing));
            return true;
        };
        stack.extend(Some(index).filter(missing));
        let mut array = array;
        let mut n_stores = 0;
        loop {
            match terms.view(array) {
                View::Store { array: base, index, byte } => {
                    stack.extend([index, byte].iter().copied().filter(missing));
                    array = base;
                    n_stores += 1;
                }
                View::Table(table) => {
                    let elements = terms.table_elements(table);
                    stack.extend(elements.iter().copied().filter(missing));
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
            Symbol(_) => (0..width).map(|_| self.gates.input()).collect(),
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
            Ite(c, a, b) => {
                let c = self.bits(terms, c)[0];
                self.bitwise(terms, a, b, |blaster, x, y| blaster.gates.mux(c, x, y))
            }
            Eq(a, b) => {
                let same = self.bitwise(terms, a, b, |blaster, x, y| !blaster.gates.xor(x, y));
                vec![self.gates.all(&same)]
            }
            Ult(a, b) => {
                let (a, b) = (get(self, a), get(self, b));
                vec![self.less(&a, &b)]
            }
            Slt(a, b) => {
                let (mut a, mut b) = (get(self, a), get(self, b));
                let top = a.len() - 1;
                (a[top], b[top]) = (!a[top], !b[top]);
                vec![self.less(&a, &b)]
            }
            Select { array, index } => self.select(terms, array, index),
            Table(_) | Store { .. } => unreachable!("arrays are translated at their selects"),
            FloatUnary { .. } | FloatBinary { .. } | FloatCompare { .. } | Fma { .. } => {
                unreachable!("translate refuses what has float operations in it")
            }
        }
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

    fn add(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> Vec<Lit> {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(a.len());
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let half = self.gates.xor(x, y);
            sum.push(self.gates.xor(half, carry));
            if i + 1 < a.len() {
                carry = self.gates.majority(x, y, carry);
            }
        }
        sum
    }

    fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let flipped: Vec<Lit> = b.iter().map(|&lit| !lit).collect();
        self.add(a, &flipped, self.gates.tru())
    }

    fn negate(&mut self, a: &[Lit]) -> Vec<Lit> {
        let zero = vec![self.gates.fls(); a.len()];
        self.subtract(&zero, a)
    }

    fn negate_if(&mut self, flip: Lit, a: &[Lit]) -> Vec<Lit> {
        let negated = self.negate(a);
        self.choose(flip, &negated, a)
    }

    fn choose(&mut self, c: Lit, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        a.iter().zip(b).map(|(&x, &y)| self.gates.mux(c, x, y)).collect()
    }

    /// Adds the shifted rows of the operand with fewer open bits.
    fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let zero = self.gates.fls();
        let n_zero = |bits: &[Lit]| bits.iter().filter(|&&lit| lit == zero).count();
        let (rows, row) = if n_zero(a) > n_zero(b) { (a, b) } else { (b, a) };
        let width = a.len();
        let mut sum = vec![zero; width];
        for (shift, &factor) in rows.iter().enumerate() {
            if factor == zero {
                continue;
            }
            let addend: Vec<Lit> = row[..width - shift].iter().map(|&lit| self.gates.and(lit, factor)).collect();
            let upper = self.add(&sum[shift..], &addend, zero);
            sum.truncate(shift);
            sum.extend(upper);
        }
        sum
    }

    /// `a < b` without signs: the borrow of the subtraction.
    fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut below = self.gates.fls();
        for (&x, &y) in a.iter().zip(b) {
            below = self.gates.majority(!x, y, below);
        }
        below
    }

    /// The value of these bits where all are constants.
    fn constant_of(&self, bits: &[Lit]) -> Option<u128> {
        bits.iter().enumerate().try_fold(0, |value, (i, &lit)| match lit {
            _ if lit == self.gates.tru() => Some(value | 1 << i),
            _ if lit == self.gates.fls() => Some(value),
            _ => None,
        })
    }

    /// Long division by a constant that is not zero: the rest stays below it, so no step is wider than the constant, and a
    /// step at which nothing fits yet is none.
    fn divide_by_constant(&mut self, a: &[Lit], divisor: u128) -> (Vec<Lit>, Vec<Lit>) {
        let width = a.len();
        let zero = self.gates.fls();
        let n_bits = (u128::BITS - divisor.leading_zeros()) as usize;
        let wide: Vec<Lit> = (0..=n_bits).map(|i| self.gates.constant(i < n_bits && divisor >> i & 1 == 1)).collect();
        let mut quotient = vec![zero; width];
        let mut rest: Vec<Lit> = Vec::new();
        // The largest value that the rest can have.
        let mut most = 0u128;
        for i in (0..width).rev() {
            rest.insert(0, a[i]);
            most = most.saturating_mul(2).saturating_add(u128::from(a[i] != zero));
            if most >= divisor {
                rest.resize(n_bits + 1, zero);
                let fits = !self.less(&rest, &wide);
                let reduced = self.subtract(&rest, &wide);
                quotient[i] = fits;
                rest = self.choose(fits, &reduced, &rest);
                most = divisor - 1;
            }
            rest.truncate((u128::BITS - most.leading_zeros()) as usize);
        }
        rest.resize(width, zero);
        (quotient, rest)
    }

    /// Quotient and rest by long division. A divisor of zero gives ones and the dividend, as SMT-LIB wants.
    fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let width = a.len();
        let zero = self.gates.fls();
        if let Some(divisor) = self.constant_of(b).filter(|&divisor| divisor != 0) {
            return self.divide_by_constant(a, divisor);
        }
        // One bit more than the operands: the rest is doubled before it is compared.
        let mut wide = b.to_vec();
        wide.push(zero);
        let mut quotient = vec![zero; width];
        let mut rest = vec![zero; width + 1];
        for i in (0..width).rev() {
            rest.pop();
            rest.insert(0, a[i]);
            let fits = !self.less(&rest, &wide);
            let reduced = self.subtract(&rest, &wide);
            quotient[i] = fits;
            rest = self.choose(fits, &reduced, &rest);
        }
        rest.pop();
        (quotient, rest)
    }

    /// Division of the absolute values. By zero the quotient's magnitude is ones, which with the dividend's sign gives what
    /// SMT-LIB wants: minus one, or one for a negative dividend.
    fn divide_magnitudes(&mut self, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let (a_sign, b_sign) = (a[a.len() - 1], b[b.len() - 1]);
        let (a, b) = (self.negate_if(a_sign, a), self.negate_if(b_sign, b));
        self.divide(&a, &b)
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
