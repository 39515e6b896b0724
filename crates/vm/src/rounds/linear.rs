//! Terms as sums with the number of the round in them.
//!
//! The rounds that are done lie within objects, so their number is small, and a number of 32 bits that begins small does not wrap
//! around in them. So it may be taken for the wider number it is.

use term::{TermId, View};

use super::Counter;
use crate::run::Machine;

/// `times * round + rest`, of 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Linear {
    pub times: i64,
    pub rest: TermId,
}

/// One that is known to lie between two numbers, with its sign.
#[derive(Clone, Copy)]
pub(super) struct Small {
    pub linear: Linear,
    pub low: i128,
    pub high: i128,
}

impl Small {
    /// The least that it can be in the first round.
    pub fn first_low(&self) -> i128 {
        if self.linear.times < 0 { self.low + MOST_ROUNDS } else { self.low }
    }
}

/// No object has more bytes, so no loop that goes through one has more rounds.
const MOST_ROUNDS: i128 = 1 << 29;
/// Sums of a few numbers below this do not wrap around.
const SMALL: i128 = 1 << 40;

impl Machine<'_> {
    /// What it is in the first round.
    pub(super) fn first_of(&mut self, linear: Linear, counter: &Counter) -> TermId {
        let begin = i128::from(linear.times) * counter.begins_at as i128;
        let begin = self.terms.constant(u128::from(begin as u64), 64);
        self.terms.add(linear.rest, begin)
    }

    /// A term of 64 bits as such a sum.
    pub(super) fn linear(&mut self, term: TermId, counter: &Counter) -> Option<Linear> {
        if !self.mentions(term, &counter.symbols) {
            return Some(Linear { times: 0, rest: term });
        }
        match self.terms.view(term) {
            View::ZExt(x) if x == counter.term => Some(Linear { times: 1, rest: self.terms.constant(0, 64) }),
            View::ZExt(x) if self.terms.width(x) == 32 => {
                self.widened(x, counter).filter(|small| small.low >= 0).map(|small| small.linear)
            }
            View::SExt(x) if self.terms.width(x) == 32 => self.widened(x, counter).map(|small| small.linear),
            View::Add(a, b) => {
                let (a, b) = (self.linear(a, counter)?, self.linear(b, counter)?);
                Some(Linear { times: a.times + b.times, rest: self.terms.add(a.rest, b.rest) })
            }
            View::Sub(a, b) => {
                let (a, b) = (self.linear(a, counter)?, self.linear(b, counter)?);
                Some(Linear { times: a.times - b.times, rest: self.terms.sub(a.rest, b.rest) })
            }
            View::Neg(a) => {
                let a = self.linear(a, counter)?;
                Some(Linear { times: -a.times, rest: self.terms.neg(a.rest) })
            }
            _ => None,
        }
    }

    /// One whose bounds can be told.
    pub(super) fn small(&mut self, term: TermId, counter: &Counter) -> Option<Small> {
        let linear = self.linear(term, counter)?;
        let (low, high) = self.interval(linear.rest)?;
        Some(with_rounds(linear, low, high, counter))
    }

    /// A term of 32 bits, with its sign, as one of 64.
    pub(super) fn widened(&mut self, term: TermId, counter: &Counter) -> Option<Small> {
        let zero = self.terms.constant(0, 64);
        let small = match self.terms.view(term) {
            View::Const(value) => {
                let value = value as u32 as i32;
                let rest = self.terms.constant(u128::from(i64::from(value) as u64), 64);
                Small { linear: Linear { times: 0, rest }, low: value.into(), high: value.into() }
            }
            View::ZExt(x) if x == counter.term => with_rounds(Linear { times: 1, rest: zero }, 0, 0, counter),
            View::ZExt(x) if !self.mentions(x, &counter.symbols) => {
                let rest = self.terms.zext(x, 64);
                let (least, most) = self.spans.positions.range(&self.terms, x);
                Small { linear: Linear { times: 0, rest }, low: least.into(), high: most.into() }
            }
            View::Extract { arg, lo: 0 } if self.terms.width(arg) == 64 => self.small(arg, counter)?,
            View::Add(a, b) => {
                let (a, b) = (self.widened(a, counter)?, self.widened(b, counter)?);
                let rest = self.terms.add(a.linear.rest, b.linear.rest);
                let linear = Linear { times: a.linear.times + b.linear.times, rest };
                Small { linear, low: a.low + b.low, high: a.high + b.high }
            }
            View::Sub(a, b) => {
                let (a, b) = (self.widened(a, counter)?, self.widened(b, counter)?);
                let rest = self.terms.sub(a.linear.rest, b.linear.rest);
                let linear = Linear { times: a.linear.times - b.linear.times, rest };
                Small { linear, low: a.low - b.high, high: a.high - b.low }
            }
            View::Neg(a) => {
                let Small { linear, low, high } = self.widened(a, counter)?;
                Small {
                    linear: Linear { times: -linear.times, rest: self.terms.neg(linear.rest) },
                    low: -high,
                    high: -low,
                }
            }
            View::Ite(cond, a, b) if !self.mentions(term, &counter.symbols) => {
                let (a, b) = (self.widened(a, counter)?, self.widened(b, counter)?);
                let rest = self.terms.ite(cond, a.linear.rest, b.linear.rest);
                Small { linear: Linear { times: 0, rest }, low: a.low.min(b.low), high: a.high.max(b.high) }
            }
            _ => return None,
        };
        let fits = small.low >= i128::from(i32::MIN) && small.high <= i128::from(i32::MAX);
        (fits && small.linear.times.abs() <= 1).then_some(small)
    }

    /// Between which numbers a term of 64 bits lies that has no rounds in it.
    fn interval(&mut self, term: TermId) -> Option<(i128, i128)> {
        let (low, high) = match self.terms.view(term) {
            View::Const(value) => (i128::from(value as u64 as i64), i128::from(value as u64 as i64)),
            View::Add(a, b) => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                (a.0 + b.0, a.1 + b.1)
            }
            View::Sub(a, b) => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                (a.0 - b.1, a.1 - b.0)
            }
            View::Neg(a) => {
                let a = self.interval(a)?;
                (-a.1, -a.0)
            }
            View::Ite(_, a, b) => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                (a.0.min(b.0), a.1.max(b.1))
            }
            _ => {
                let (least, most) = self.spans.positions.range(&self.terms, term);
                (least.into(), most.into())
            }
        };
        (low > -SMALL && high < SMALL).then_some((low, high))
    }
}

fn with_rounds(linear: Linear, low: i128, high: i128, counter: &Counter) -> Small {
    let first = counter.begins_at as i128;
    let (a, b) = (first * i128::from(linear.times), (first + MOST_ROUNDS) * i128::from(linear.times));
    Small { linear, low: low + a.min(b), high: high + a.max(b) }
}
