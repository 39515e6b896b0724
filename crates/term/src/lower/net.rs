//! Builders that nest: a thin cover over the arena, so that a circuit reads as an expression.

use crate::{TermId, Terms};
use std::cell::RefCell;

/// The arena behind a shared reference. No method calls another while it holds the borrow.
pub(super) struct Net<'t>(RefCell<&'t mut Terms>);

impl<'t> Net<'t> {
    pub fn new(terms: &'t mut Terms) -> Net<'t> {
        Net(RefCell::new(terms))
    }

    fn with<R>(&self, build: impl FnOnce(&mut Terms) -> R) -> R {
        build(&mut self.0.borrow_mut())
    }

    pub fn width(&self, a: TermId) -> u32 {
        self.0.borrow().width(a)
    }

    /// The low `width` bits of a value.
    pub fn constant(&self, value: u128, width: u32) -> TermId {
        self.with(|terms| terms.constant(value & crate::fold::mask(width), width))
    }

    /// A signed constant.
    pub fn signed(&self, value: i64, width: u32) -> TermId {
        self.constant(i128::from(value) as u128, width)
    }

    pub fn zero(&self, width: u32) -> TermId {
        self.constant(0, width)
    }

    pub fn ones(&self, width: u32) -> TermId {
        self.constant(u128::MAX, width)
    }

    pub fn truth(&self, value: bool) -> TermId {
        self.constant(u128::from(value), 1)
    }

    pub fn not(&self, a: TermId) -> TermId {
        self.with(|terms| terms.not(a))
    }

    pub fn neg(&self, a: TermId) -> TermId {
        self.with(|terms| terms.neg(a))
    }

    pub fn and(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.and(a, b))
    }

    pub fn or(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.or(a, b))
    }

    pub fn xor(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.xor(a, b))
    }

    pub fn add(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.add(a, b))
    }

    pub fn sub(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.sub(a, b))
    }

    pub fn mul(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.mul(a, b))
    }

    pub fn concat(&self, hi: TermId, lo: TermId) -> TermId {
        self.with(|terms| terms.concat(hi, lo))
    }

    pub fn extract(&self, a: TermId, hi: u32, lo: u32) -> TermId {
        self.with(|terms| terms.extract(a, hi, lo))
    }

    pub fn zext(&self, a: TermId, width: u32) -> TermId {
        self.with(|terms| terms.zext(a, width))
    }

    pub fn sext(&self, a: TermId, width: u32) -> TermId {
        self.with(|terms| terms.sext(a, width))
    }

    pub fn ite(&self, c: TermId, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.ite(c, a, b))
    }

    pub fn eq(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.eq(a, b))
    }

    pub fn ult(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.ult(a, b))
    }

    pub fn slt(&self, a: TermId, b: TermId) -> TermId {
        self.with(|terms| terms.slt(a, b))
    }

    // ---- put together from those

    pub fn any(&self, bits: &[TermId]) -> TermId {
        bits.iter().fold(self.truth(false), |any, &bit| self.or(any, bit))
    }

    pub fn all(&self, bits: &[TermId]) -> TermId {
        bits.iter().fold(self.truth(true), |all, &bit| self.and(all, bit))
    }

    pub fn bit(&self, a: TermId, at: u32) -> TermId {
        self.extract(a, at, at)
    }

    pub fn top(&self, a: TermId) -> TermId {
        self.bit(a, self.width(a) - 1)
    }

    /// The highest bits.
    pub fn high(&self, a: TermId, n: u32) -> TermId {
        let width = self.width(a);
        self.extract(a, width - 1, width - n)
    }

    /// The lowest bits.
    pub fn low(&self, a: TermId, n: u32) -> TermId {
        self.extract(a, n - 1, 0)
    }

    pub fn is_zero(&self, a: TermId) -> TermId {
        self.eq(a, self.zero(self.width(a)))
    }

    pub fn is_any(&self, a: TermId) -> TermId {
        self.not(self.is_zero(a))
    }

    pub fn is_ones(&self, a: TermId) -> TermId {
        self.eq(a, self.ones(self.width(a)))
    }

    /// With zeros below.
    pub fn widen_low(&self, a: TermId, n: u32) -> TermId {
        if n == 0 { a } else { self.concat(a, self.zero(n)) }
    }

    /// One constant adder more or less: `a + 1` where the bit is set.
    pub fn add_bit(&self, a: TermId, bit: TermId) -> TermId {
        self.add(a, self.zext(bit, self.width(a)))
    }

    /// `a + b`, or `a - b` where `minus` holds: one adder whose carry in is a bit below the others.
    pub fn add_or_subtract(&self, a: TermId, b: TermId, minus: TermId) -> TermId {
        let width = self.width(a);
        let flipped = self.xor(b, self.sext(minus, width));
        let sum = self.add(self.concat(a, self.truth(true)), self.concat(flipped, minus));
        self.extract(sum, width, 1)
    }

    /// Towards bit 0 by an amount of any width, and whether a bit that was set went out.
    pub fn shift_right(&self, a: TermId, by: TermId) -> (TermId, TermId) {
        let width = self.width(a);
        let n_stages = (u32::BITS - (width - 1).leading_zeros()).min(self.width(by));
        let (mut bits, mut lost) = (a, self.truth(false));
        for stage in 0..n_stages {
            let step = 1 << stage;
            let shifts = self.bit(by, stage);
            let moved = if step < width { self.zext(self.high(bits, width - step), width) } else { self.zero(width) };
            let out = self.is_any(self.low(bits, step.min(width)));
            lost = self.or(lost, self.and(shifts, out));
            bits = self.ite(shifts, moved, bits);
        }
        if n_stages == self.width(by) {
            return (bits, lost);
        }
        let beyond = self.is_any(self.high(by, self.width(by) - n_stages));
        let lost = self.or(lost, self.and(beyond, self.is_any(bits)));
        (self.ite(beyond, self.zero(width), bits), lost)
    }

    /// Away from bit 0 by an amount of any width.
    pub fn shift_left(&self, a: TermId, by: TermId) -> TermId {
        let width = self.width(a);
        let n_stages = (u32::BITS - (width - 1).leading_zeros()).min(self.width(by));
        let mut bits = a;
        for stage in 0..n_stages {
            let step = 1 << stage;
            let moved = match step < width {
                true => self.widen_low(self.low(bits, width - step), step),
                false => self.zero(width),
            };
            bits = self.ite(self.bit(by, stage), moved, bits);
        }
        if n_stages == self.width(by) {
            return bits;
        }
        let beyond = self.is_any(self.high(by, self.width(by) - n_stages));
        self.ite(beyond, self.zero(width), bits)
    }

    /// Away from bit 0 until the top bit is set, and by how many. Zero stays zero, by some number.
    pub fn normalise(&self, a: TermId) -> (TermId, TermId) {
        let width = self.width(a);
        let n_stages = u32::BITS - (width - 1).leading_zeros();
        let (mut bits, mut count) = (a, None);
        for stage in (0..n_stages).rev() {
            let step = 1 << stage;
            let shifts = self.is_zero(self.high(bits, step));
            let moved = self.widen_low(self.low(bits, width - step), step);
            bits = self.ite(shifts, moved, bits);
            count = Some(match count {
                None => shifts,
                Some(count) => self.concat(count, shifts),
            });
        }
        (bits, count.unwrap_or_else(|| self.zero(1)))
    }

    /// Away from bit 0 until the top bit is set or the exponent, which goes down with each step, is one.
    pub fn normalise_down_to_one(&self, a: TermId, exponent: TermId) -> (TermId, TermId) {
        let (width, exponent_width) = (self.width(a), self.width(exponent));
        let n_stages = u32::BITS - (width - 1).leading_zeros();
        let (mut bits, mut exponent) = (a, exponent);
        for stage in (0..n_stages).rev() {
            let step = 1 << stage;
            if step >= width || stage >= exponent_width {
                continue;
            }
            let step_term = self.constant(step.into(), exponent_width);
            let shifts = self.and(self.is_zero(self.high(bits, step)), self.ult(step_term, exponent));
            bits = self.ite(shifts, self.widen_low(self.low(bits, width - step), step), bits);
            exponent = self.ite(shifts, self.sub(exponent, step_term), exponent);
        }
        (bits, exponent)
    }
}
