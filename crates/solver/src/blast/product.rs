//! Sums, products and quotients as gates, no wider than what they can be.
//!
//! Many numbers have a few open bits and then the same one again and again: the sign of a difference of digits, the zeros above
//! a byte. What comes after the first of these is not computed again; products and quotients of such numbers are as small as
//! those of their open bits.

use super::Blaster;
use super::sat::Lit;

/// How many bits a number with a sign has before its top bit only repeats.
pub(super) fn n_signed(bits: &[Lit]) -> usize {
    let top = bits[bits.len() - 1];
    bits.iter().rposition(|&lit| lit != top).map_or(1, |last| last + 2)
}

/// What a row is to a sum.
#[derive(Clone, Copy)]
enum Part {
    More,
    Less,
}

impl Blaster {
    pub(super) fn add(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> Vec<Lit> {
        let width = a.len();
        // The sum of two numbers has one bit more than they have.
        let n = (n_signed(a).max(n_signed(b)) + 1).min(width);
        let mut carry = carry;
        let mut sum = Vec::with_capacity(width);
        for (i, (&x, &y)) in a[..n].iter().zip(b).enumerate() {
            let half = self.gates.xor(x, y);
            sum.push(self.gates.xor(half, carry));
            if i + 1 < n {
                carry = self.gates.majority(x, y, carry);
            }
        }
        sum.resize(width, sum[n - 1]);
        sum
    }

    pub(super) fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let flipped: Vec<Lit> = b.iter().map(|&lit| !lit).collect();
        self.add(a, &flipped, self.gates.tru())
    }

    pub(super) fn negate(&mut self, a: &[Lit]) -> Vec<Lit> {
        let zero = vec![self.gates.fls(); a.len()];
        self.subtract(&zero, a)
    }

    pub(super) fn negate_if(&mut self, flip: Lit, a: &[Lit]) -> Vec<Lit> {
        let negated = self.negate(a);
        self.choose(flip, &negated, a)
    }

    /// How far from zero, read without a sign.
    pub(super) fn magnitude(&mut self, a: &[Lit]) -> Vec<Lit> {
        let n = n_signed(a);
        let mut bits = self.negate_if(a[n - 1], &a[..n]);
        bits.resize(a.len(), self.gates.fls());
        bits
    }

    pub(super) fn choose(&mut self, c: Lit, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        a.iter().zip(b).map(|(&x, &y)| self.gates.mux(c, x, y)).collect()
    }

    /// The product of numbers with signs has as many bits as both together.
    pub(super) fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let width = a.len();
        let n = (n_signed(a) + n_signed(b)).min(width);
        let mut product = match a == b {
            true => self.square(&a[..n]),
            false => self.multiply_rows(&a[..n], &b[..n]),
        };
        product.resize(width, product[n - 1]);
        product
    }

    /// Adds the shifted rows of the operand with fewer open bits; that of its sign is taken off.
    fn multiply_rows(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let zero = self.gates.fls();
        let n_rows = |bits: &[Lit]| bits[..n_signed(bits)].iter().filter(|&&lit| lit != zero).count();
        let (rows, row) = if n_rows(a) < n_rows(b) { (a, b) } else { (b, a) };
        let n_signed = n_signed(rows);
        let mut sum = vec![zero; a.len()];
        for (shift, &factor) in rows[..n_signed].iter().enumerate() {
            let addend: Vec<Lit> = row[..row.len() - shift].iter().map(|&lit| self.gates.and(lit, factor)).collect();
            let part = if shift + 1 == n_signed { Part::Less } else { Part::More };
            self.accumulate(&mut sum, shift, &addend, part);
        }
        sum
    }

    /// Each pair of different bits counts twice, so that half of the rows are enough.
    fn square(&mut self, a: &[Lit]) -> Vec<Lit> {
        let (width, zero) = (a.len(), self.gates.fls());
        let n_signed = n_signed(a);
        let mut sum = vec![zero; width];
        for (i, &factor) in a[..n_signed].iter().enumerate().take_while(|(i, _)| 2 * i < width) {
            // Its own square, then twice its products with the bits above.
            let mut addend = vec![zero; width - 2 * i];
            addend[0] = factor;
            for (j, &other) in a[..n_signed - 1].iter().enumerate().skip(i + 1) {
                if let Some(bit) = addend.get_mut(j + 1 - i) {
                    *bit = self.gates.and(factor, other);
                }
            }
            self.accumulate(&mut sum, 2 * i, &addend, Part::More);
        }
        // The products with the sign are to be taken off.
        let sign = a[n_signed - 1];
        let crossed: Vec<Lit> = a[..n_signed - 1]
            .iter()
            .take(width.saturating_sub(n_signed))
            .map(|&lit| self.gates.and(lit, sign))
            .collect();
        if !crossed.is_empty() {
            let mut addend = crossed;
            addend.resize(width - n_signed, zero);
            self.accumulate(&mut sum, n_signed, &addend, Part::Less);
        }
        sum
    }

    /// Adds a row to a sum, or takes it off.
    fn accumulate(&mut self, sum: &mut Vec<Lit>, shift: usize, row: &[Lit], part: Part) {
        let zero = self.gates.fls();
        if row.iter().all(|&lit| lit == zero) {
            return;
        }
        let upper = match part {
            Part::More => self.add(&sum[shift..], row, zero),
            Part::Less => self.subtract(&sum[shift..], row),
        };
        sum.truncate(shift);
        sum.extend(upper);
    }

    /// `a < b` without signs: the borrow of the subtraction.
    pub(super) fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let n = n_signed(a).max(n_signed(b));
        let mut below = self.gates.fls();
        for (&x, &y) in a[..n].iter().zip(b) {
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
    pub(super) fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let width = a.len();
        let zero = self.gates.fls();
        if let Some(divisor) = self.constant_of(b).filter(|&divisor| divisor != 0) {
            return self.divide_by_constant(a, divisor);
        }
        let n_divisor = b.iter().rposition(|&lit| lit != zero).map_or(1, |last| last + 1);
        // One bit more than the divisor: the rest is doubled before it is compared.
        let mut wide = b[..n_divisor].to_vec();
        wide.push(zero);
        let mut quotient = vec![zero; width];
        let mut rest = vec![zero; n_divisor + 1];
        for i in (0..width).rev() {
            rest.pop();
            rest.insert(0, a[i]);
            let fits = !self.less(&rest, &wide);
            let reduced = self.subtract(&rest, &wide);
            quotient[i] = fits;
            rest = self.choose(fits, &reduced, &rest);
        }
        // The rest is below the divisor, unless that is zero: then everything fits, and all of the dividend is left.
        rest.pop();
        rest.resize(width, zero);
        if n_divisor == width {
            return (quotient, rest);
        }
        let flipped: Vec<Lit> = b[..n_divisor].iter().map(|&lit| !lit).collect();
        let by_zero = self.gates.all(&flipped);
        let rest = self.choose(by_zero, a, &rest);
        (quotient, rest)
    }

    /// Division of the absolute values. By zero the quotient's magnitude is ones, which with the dividend's sign gives what
    /// SMT-LIB wants: minus one, or one for a negative dividend.
    pub(super) fn divide_magnitudes(&mut self, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let (a, b) = (self.magnitude(a), self.magnitude(b));
        self.divide(&a, &b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::fold;

    const WIDTH: usize = 6;

    /// Numbers of six bits of which only some are open.
    fn shapes(blaster: &mut Blaster) -> Vec<Vec<Lit>> {
        let (no, yes) = (blaster.gates.fls(), blaster.gates.tru());
        let mut open = |n: usize| -> Vec<Lit> { (0..n).map(|_| blaster.gates.input()).collect() };
        let filled = |mut bits: Vec<Lit>, top: Lit| {
            bits.resize(WIDTH, top);
            bits
        };
        let mut shapes = vec![open(6), open(6), open(5), open(4), open(3), open(2), open(1)];
        let signed: Vec<Vec<Lit>> = shapes[2..].iter().map(|bits| filled(bits.clone(), bits[bits.len() - 1])).collect();
        shapes = shapes.into_iter().map(|bits| filled(bits, no)).chain(signed).collect();
        let below = filled(open(3), yes);
        let twice = [vec![no], open(3), vec![no, no]].concat();
        shapes.extend([below, twice]);
        shapes.extend(
            [0u32, 1, 5, 7, 31, 32, 43, 63]
                .map(|k| (0..WIDTH).map(|bit| if k >> bit & 1 == 1 { yes } else { no }).collect::<Vec<Lit>>()),
        );
        shapes
    }

    /// Every operator on every pair of shapes under all values of their open bits, against what it means.
    #[test]
    fn gates_compute_what_operators_mean() {
        let w = WIDTH as u32;
        let n_shapes = shapes(&mut Blaster::new()).len();
        let mut n_checked = 0;
        for first in 0..n_shapes {
            for second in 0..n_shapes {
                let mut blaster = Blaster::new();
                let shapes = shapes(&mut blaster);
                let (a, b) = (&shapes[first], &shapes[second]);
                let sum = blaster.add(a, b, blaster.gates.fls());
                let difference = blaster.subtract(a, b);
                let product = blaster.multiply(a, b);
                let (quotient, rest) = blaster.divide(a, b);
                let magnitude = blaster.magnitude(a);
                let less = blaster.less(a, b);
                let mut open: Vec<Lit> = a.iter().chain(b).copied().filter(|lit| lit.var().index() > 0).collect();
                open.sort_unstable();
                open.dedup();
                for input in 0..1u64 << open.len() {
                    let values = blaster.gates.simulate(|var| {
                        open.iter().position(|lit| lit.var() == var).is_some_and(|at| input >> at & 1 == 1)
                    });
                    let number = |bits: &[Lit]| -> u128 {
                        let is_set = |lit: Lit| values[lit.var().index()] != lit.is_negated();
                        bits.iter().enumerate().map(|(at, &lit)| u128::from(is_set(lit)) << at).sum()
                    };
                    let (x, y) = (number(a), number(b));
                    let far = fold::signed(x, w).unsigned_abs();
                    assert_eq!(number(&sum), fold::add(x, y, w), "{x} + {y}");
                    assert_eq!(number(&difference), fold::sub(x, y, w), "{x} - {y}");
                    assert_eq!(number(&product), fold::mul(x, y, w), "{x} * {y}");
                    assert_eq!(number(&quotient), fold::udiv(x, y, w), "{x} / {y}");
                    assert_eq!(number(&rest), fold::urem(x, y), "{x} % {y}");
                    assert_eq!(number(&magnitude), far, "|{x}|");
                    assert_eq!(number(&[less]), u128::from(x < y), "{x} < {y}");
                    n_checked += 1;
                }
            }
        }
        assert!(n_checked > 30_000, "{n_checked}");
    }
}
