//! Which of two floats is the smaller one, where intervals alone do not say.
//!
//! `x <= y` makes `x * 1.1 <= y * 1.1` and `x - lo <= y - lo`: an operation that rounds keeps the order of numbers, whatever they are.
//! And `x + y` is at least `x` where `y` is not negative. Facts come from the comparisons that are known to hold or to fail. All that is
//! said here is about numbers: an operation that gives a number had no NaN among its operands, so it holds for the operands, too.

use super::net::{Net, What};
use super::span::Span;
use crate::ulps::place;
use term::float::{FloatBinary, FloatCompare, FloatUnary, Format, Rounding, from_signed};

/// How deep operations are looked into, and how many pairs for one question.
const MAX_DEPTH: u32 = 8;
const MAX_PAIRS: u32 = 100;

/// How two numbers compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AtMost,
    Less,
}

pub(super) struct Ordering<'a> {
    net: &'a Net,
    spans: &'a [Span],
    /// Conditions of the choices that were gone through, and what they are there.
    given: Vec<(usize, bool)>,
    left: u32,
}

impl<'a> Ordering<'a> {
    pub fn new(net: &'a Net, spans: &'a [Span]) -> Ordering<'a> {
        Ordering { net, spans, given: Vec::new(), left: MAX_PAIRS }
    }

    /// Whether `a` is known to be at most `b`, or less, where both are numbers.
    pub fn is(&mut self, order: Order, a: usize, b: usize) -> bool {
        match order {
            Order::AtMost => self.at_most(a, b, MAX_DEPTH),
            Order::Less => self.spans[a].hi < self.spans[b].lo || self.is_fact(Order::Less, a, b),
        }
    }

    fn at_most(&mut self, a: usize, b: usize, depth: u32) -> bool {
        if a == b || self.spans[a].hi <= self.spans[b].lo || self.is_fact(Order::AtMost, a, b) {
            return true;
        }
        if depth == 0 || self.left == 0 {
            return false;
        }
        self.left -= 1;
        let depth = depth - 1;
        self.keeps(a, b, depth) || self.shrinks(a, b, depth) || self.grows(a, b, depth) || self.through(a, b, depth)
    }

    fn is_fact(&self, order: Order, a: usize, b: usize) -> bool {
        let facts = self.net.facts.get(&(a, b)).into_iter().flatten();
        facts.into_iter().any(|&at| {
            let What::Compare(op, first, _) = self.net.nodes[at].what else { return false };
            let Some(holds) = self.truth(at) else { return false };
            match (op, holds, first == a) {
                (FloatCompare::Less, true, true) | (FloatCompare::LessOrEqual, false, false) => true,
                (FloatCompare::LessOrEqual, true, true) | (FloatCompare::Less, false, false) => order == Order::AtMost,
                (FloatCompare::Equal, true, _) => order == Order::AtMost,
                _ => false,
            }
        })
    }

    /// What a condition is known to be.
    fn truth(&self, at: usize) -> Option<bool> {
        if let Some((_, holds)) = self.given.iter().rev().find(|(given, _)| *given == at) {
            return Some(*holds);
        }
        let span = self.spans[at];
        (span.lo == span.hi).then_some(span.lo == 1)
    }

    /// Something lies between them, and is a number.
    fn through(&mut self, a: usize, b: usize, depth: u32) -> bool {
        let net = self.net;
        let above = net.compared_with.get(&a).into_iter().flatten();
        let between: Vec<usize> = above
            .copied()
            .filter(|&other| !self.spans[other].has_nan && self.is_fact(Order::AtMost, a, other))
            .collect();
        between.into_iter().any(|other| self.at_most(other, b, depth.min(3)))
    }

    fn is_at_least(&self, at: usize, place: i128) -> bool {
        self.spans[at].lo >= place
    }

    fn is_at_most(&self, at: usize, place: i128) -> bool {
        self.spans[at].hi <= place
    }

    fn one(&self, at: usize) -> i128 {
        let format = self.net.nodes[at].format.expect("a float");
        place(format, from_signed(format, Rounding::NearestEven, 1))
    }

    /// Both are the same operation, on operands that are in order.
    fn keeps(&mut self, a: usize, b: usize, depth: u32) -> bool {
        match (self.net.nodes[a].what, self.net.nodes[b].what) {
            (What::Unary(op, rounding, from, x), What::Unary(other, same, also, y)) => {
                (op, from) == (other, also) && keep_order(rounding, same) && self.at_most(x, y, depth)
            }
            (What::Negated(x), What::Negated(y)) => self.at_most(y, x, depth),
            (What::Magnitude(x), What::Magnitude(y)) => self.is_at_least(x, 0) && self.at_most(x, y, depth),
            (What::Binary(op, rounding, x1, x2), What::Binary(other, same, y1, y2))
                if op == other && keep_order(rounding, same) =>
            {
                match op {
                    FloatBinary::Add => {
                        self.at_most(x1, y1, depth) && self.at_most(x2, y2, depth)
                            || self.at_most(x1, y2, depth) && self.at_most(x2, y1, depth)
                    }
                    FloatBinary::Sub => self.at_most(x1, y1, depth) && self.at_most(y2, x2, depth),
                    FloatBinary::Mul => {
                        self.products((x1, x2), (y1, y2), depth) || self.products((x1, x2), (y2, y1), depth)
                    }
                    FloatBinary::Div => self.quotients((x1, x2), (y1, y2), depth),
                    FloatBinary::Rem | FloatBinary::Remainder => false,
                }
            }
            _ => false,
        }
    }

    fn products(&mut self, (x1, x2): (usize, usize), (y1, y2): (usize, usize), depth: u32) -> bool {
        if x2 == y2 {
            return self.is_at_least(x2, 0) && self.at_most(x1, y1, depth)
                || self.is_at_most(x2, 0) && self.at_most(y1, x1, depth);
        }
        if x1 == y1 {
            return self.is_at_least(x1, 0) && self.at_most(x2, y2, depth)
                || self.is_at_most(x1, 0) && self.at_most(y2, x2, depth);
        }
        let (first, second) = (self.is_at_least(x1, 0), self.is_at_least(x2, 0));
        // From one to the other with one factor changed after the other; what stays meanwhile must not be negative.
        let has_way = second && (first || self.is_at_least(y1, 0)) || first && self.is_at_least(y2, 0);
        has_way && self.at_most(x1, y1, depth) && self.at_most(x2, y2, depth)
    }

    /// A divisor that can be a zero could be a negative one.
    fn quotients(&mut self, (x1, x2): (usize, usize), (y1, y2): (usize, usize), depth: u32) -> bool {
        if x2 == y2 {
            return self.is_at_least(x2, 1) && self.at_most(x1, y1, depth)
                || self.is_at_most(x2, -1) && self.at_most(y1, x1, depth);
        }
        let is_positive = self.is_at_least(y1, 0) || self.is_at_least(x1, 0);
        is_positive && self.is_at_least(y2, 1) && self.at_most(x1, y1, depth) && self.at_most(y2, x2, depth)
    }

    /// The first is made of something that is at most the second, and made smaller by it.
    fn shrinks(&mut self, a: usize, b: usize, depth: u32) -> bool {
        match self.net.nodes[a].what {
            What::Binary(FloatBinary::Add, _, x, y) => {
                self.is_at_most(y, 0) && self.at_most(x, b, depth) || self.is_at_most(x, 0) && self.at_most(y, b, depth)
            }
            What::Binary(FloatBinary::Sub, _, x, y) => self.is_at_least(y, 0) && self.at_most(x, b, depth),
            What::Binary(FloatBinary::Mul, _, x, y) => [(x, y), (y, x)].into_iter().any(|(x, y)| {
                let is_part = self.is_at_least(x, 0) && self.is_at_least(y, 0) && self.is_at_most(y, self.one(y));
                let is_more = self.is_at_most(x, 0) && self.is_at_least(y, self.one(y));
                (is_part || is_more) && self.at_most(x, b, depth)
            }),
            What::Binary(FloatBinary::Div, _, x, y) => {
                self.is_at_least(x, 0) && self.is_at_least(y, self.one(y)) && self.at_most(x, b, depth)
            }
            What::Unary(FloatUnary::Integral, rounding, _, x) => {
                let is_below = rounding == Rounding::Down || rounding == Rounding::ToZero && self.is_at_least(x, 0);
                is_below && self.at_most(x, b, depth)
            }
            What::Magnitude(x) => self.is_at_least(x, 0) && self.at_most(x, b, depth),
            What::Ite(c, x, y) => {
                self.with(c, true, |here| here.at_most(x, b, depth))
                    && self.with(c, false, |here| here.at_most(y, b, depth))
            }
            _ => false,
        }
    }

    /// The second is made of something that is at least the first, and made larger by it.
    fn grows(&mut self, a: usize, b: usize, depth: u32) -> bool {
        match self.net.nodes[b].what {
            What::Binary(FloatBinary::Add, _, x, y) => {
                self.is_at_least(y, 0) && self.at_most(a, x, depth)
                    || self.is_at_least(x, 0) && self.at_most(a, y, depth)
            }
            What::Binary(FloatBinary::Sub, _, x, y) => self.is_at_most(y, 0) && self.at_most(a, x, depth),
            What::Binary(FloatBinary::Mul, _, x, y) => [(x, y), (y, x)].into_iter().any(|(x, y)| {
                let is_more = self.is_at_least(x, 0) && self.is_at_least(y, self.one(y));
                let is_part = self.is_at_most(x, 0) && self.is_at_least(y, 0) && self.is_at_most(y, self.one(y));
                (is_more || is_part) && self.at_most(a, x, depth)
            }),
            What::Binary(FloatBinary::Div, _, x, y) => {
                let is_more = self.is_at_least(x, 0) && self.is_at_least(y, 1) && self.is_at_most(y, self.one(y));
                is_more && self.at_most(a, x, depth)
            }
            What::Unary(FloatUnary::Integral, rounding, _, x) => {
                let is_above = rounding == Rounding::Up || rounding == Rounding::ToZero && self.is_at_most(x, 0);
                is_above && self.at_most(a, x, depth)
            }
            What::Magnitude(x) => self.at_most(a, x, depth),
            What::Ite(c, x, y) => {
                self.with(c, true, |here| here.at_most(a, x, depth))
                    && self.with(c, false, |here| here.at_most(a, y, depth))
            }
            _ => false,
        }
    }

    /// What holds where a condition is so; everything, where it cannot be so.
    fn with(&mut self, condition: usize, holds: bool, what: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.truth(condition).is_some_and(|known| known != holds) {
            return true;
        }
        let before = self.given.len();
        self.assume(condition, holds);
        let result = what(self);
        self.given.truncate(before);
        result
    }

    fn assume(&mut self, condition: usize, holds: bool) {
        self.given.push((condition, holds));
        match (self.net.nodes[condition].what, holds) {
            (What::Not(inner), _) => self.assume(inner, !holds),
            (What::And(a, b), true) => {
                self.assume(a, true);
                self.assume(b, true);
            }
            _ => {}
        }
    }
}

/// Whether what is at most something else, before both are rounded, is so behind that, too.
fn keep_order(one: Rounding, other: Rounding) -> bool {
    one == other || one == Rounding::Down || other == Rounding::Up
}

/// What order says about a difference or a quotient: on which side of zero it is, and that it is no more than one.
pub(super) fn of_result(net: &Net, spans: &[Span], (op, format): (FloatBinary, Format), a: usize, b: usize) -> Span {
    let mut ordering = Ordering::new(net, spans);
    let mut span = Span::full(format);
    match op {
        FloatBinary::Sub => {
            if ordering.is(Order::AtMost, b, a) {
                span.lo = i128::from(ordering.is(Order::Less, b, a));
            }
            if ordering.is(Order::AtMost, a, b) {
                span.hi = -i128::from(ordering.is(Order::Less, a, b));
            }
        }
        FloatBinary::Div if spans[a].lo >= 0 && spans[b].lo >= 1 && ordering.is(Order::AtMost, a, b) => {
            span.hi = place(format, from_signed(format, Rounding::NearestEven, 1));
        }
        _ => {}
    }
    span
}

/// What order says about a comparison.
pub(super) fn of_comparison(net: &Net, spans: &[Span], op: FloatCompare, a: usize, b: usize) -> Span {
    let is = |order: Order, a: usize, b: usize| Ordering::new(net, spans).is(order, a, b);
    let has_nan = spans[a].has_nan || spans[b].has_nan;
    let (can_fail, can_hold) = match op {
        FloatCompare::Less => (!is(Order::Less, a, b), !is(Order::AtMost, b, a)),
        FloatCompare::LessOrEqual => (!is(Order::AtMost, a, b), !is(Order::Less, b, a)),
        FloatCompare::Equal => {
            let is_apart = is(Order::Less, a, b) || is(Order::Less, b, a);
            (!(is(Order::AtMost, a, b) && is(Order::AtMost, b, a)), !is_apart)
        }
    };
    Span::truth(can_fail || has_nan, can_hold)
}
