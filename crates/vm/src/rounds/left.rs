//! How many rounds a condition on the counter lets go by.

use term::{SymbolId, TermId, View};

use super::{Counter, Linear};
use crate::run::Machine;

/// A condition under which a loop goes on: the counter is compared with something that stays.
struct Compared {
    moving: TermId,
    fixed: TermId,
    relation: Relation,
    order: Order,
}

/// The counter is this of what it is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Other,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Signed,
    Unsigned,
}

/// More rounds than there ever are.
const VERY_MANY: u64 = 1 << 40;

impl Machine<'_> {
    /// How many rounds a condition lets go by. `None` where that is not plain.
    pub(super) fn rounds_left(&mut self, stay: TermId, counter: &Counter) -> Option<TermId> {
        let Compared { moving, fixed, relation, order } = self.compared_with(stay, &counter.symbols)?;
        if self.terms.width(moving) == 32 || order == Order::Signed {
            return self.left_of_numbers(moving, fixed, relation, order, counter);
        }
        if self.terms.width(moving) != 64 {
            return None;
        }
        let Linear { times, rest } = self.linear(moving, counter)?;
        let start = self.first_of(Linear { times, rest }, counter);
        let (distance, goes_on) = match times {
            1 => self.left_upwards(start, fixed, relation)?,
            -1 => self.left_downwards(start, fixed, relation)?,
            _ => return None,
        };
        let zero = self.terms.constant(0, 64);
        Some(self.terms.ite(goes_on, distance, zero))
    }

    fn compared_with(&mut self, stay: TermId, counter: &[SymbolId]) -> Option<Compared> {
        let (view, is_negated) = match self.terms.view(stay) {
            View::Not(inner) => (self.terms.view(inner), true),
            view => (view, false),
        };
        let (a, b, order) = match view {
            View::Ult(a, b) => (a, b, Some(Order::Unsigned)),
            View::Slt(a, b) => (a, b, Some(Order::Signed)),
            View::Eq(a, b) => (a, b, None),
            _ => return None,
        };
        let (mut moving, mut fixed, is_left) = match (self.mentions(a, counter), self.mentions(b, counter)) {
            (true, false) => (a, b, true),
            (false, true) => (b, a, false),
            _ => return None,
        };
        let relation = match (order, is_left, is_negated) {
            (None, _, true) => Relation::Other,
            (None, _, false) => return None,
            (Some(_), true, false) => Relation::Less,
            (Some(_), false, true) => Relation::AtMost,
            (Some(_), false, false) => Relation::More,
            (Some(_), true, true) => Relation::AtLeast,
        };
        let order = order.unwrap_or(Order::Unsigned);
        if self.terms.width(moving) == super::COUNT_BITS && order == Order::Unsigned {
            // Compared with something small, the counter was left as narrow as it is.
            (moving, fixed) = (self.terms.zext(moving, 64), self.terms.zext(fixed, 64));
        }
        Some(Compared { moving, fixed, relation, order })
    }

    /// Numbers with a sign, and those of 32 bits, are small on both sides: then their widened difference is what it is.
    fn left_of_numbers(
        &mut self,
        moving: TermId,
        fixed: TermId,
        relation: Relation,
        order: Order,
        counter: &Counter,
    ) -> Option<TermId> {
        let (moving, fixed) = match self.terms.width(moving) {
            32 => (self.widened(moving, counter)?, self.widened(fixed, counter)?),
            64 => (self.small(moving, counter)?, self.small(fixed, counter)?),
            _ => return None,
        };
        // Without a sign a negative number is a very large one.
        if order == Order::Unsigned && (moving.first_low() < 0 || fixed.low < 0) {
            return None;
        }
        let start = self.first_of(moving.linear, counter);
        let fixed = fixed.linear.rest;
        let (from, to) = match moving.linear.times {
            1 => (start, fixed),
            -1 => (fixed, start),
            _ => return None,
        };
        let distance = self.terms.sub(to, from);
        let (zero, one) = (self.terms.constant(0, 64), self.terms.constant(1, 64));
        Some(match (relation, moving.linear.times) {
            (Relation::Less, 1) | (Relation::More, -1) => {
                let goes_on = self.terms.slt(from, to);
                self.terms.ite(goes_on, distance, zero)
            }
            (Relation::AtMost, 1) | (Relation::AtLeast, -1) => {
                let goes_on = self.terms.sle(from, to);
                let more = self.terms.add(distance, one);
                self.terms.ite(goes_on, more, zero)
            }
            (Relation::Other, _) => {
                let is_before = self.terms.sle(from, to);
                let most = self.terms.constant(u128::from(VERY_MANY), 64);
                self.terms.ite(is_before, distance, most)
            }
            _ => return None,
        })
    }

    /// From `start` on the counter grows: how far it is to where the loop ends, and whether it goes on at all.
    fn left_upwards(&mut self, start: TermId, fixed: TermId, relation: Relation) -> Option<(TermId, TermId)> {
        let distance = self.terms.sub(fixed, start);
        Some(match relation {
            Relation::Other => {
                let is_before = self.terms.ule(start, fixed);
                // Beyond it the counter goes on for very long.
                let most = self.terms.constant(u128::from(VERY_MANY), 64);
                (self.terms.ite(is_before, distance, most), self.terms.tru())
            }
            Relation::Less => (distance, self.terms.ult(start, fixed)),
            Relation::AtMost => {
                // One more would wrap around only where the counter never ends.
                let (one, top) = (self.terms.constant(1, 64), self.terms.constant(u128::from(u64::MAX), 64));
                let is_top = self.terms.eq(distance, top);
                let more = self.terms.add(distance, one);
                (self.terms.ite(is_top, distance, more), self.terms.ule(start, fixed))
            }
            Relation::More | Relation::AtLeast => return None,
        })
    }

    /// From `start` on the counter falls.
    fn left_downwards(&mut self, start: TermId, fixed: TermId, relation: Relation) -> Option<(TermId, TermId)> {
        let distance = self.terms.sub(start, fixed);
        Some(match relation {
            Relation::Other => {
                let is_above = self.terms.ule(fixed, start);
                let most = self.terms.constant(u128::from(VERY_MANY), 64);
                (self.terms.ite(is_above, distance, most), self.terms.tru())
            }
            Relation::More => (distance, self.terms.ult(fixed, start)),
            Relation::AtLeast => {
                let (one, top) = (self.terms.constant(1, 64), self.terms.constant(u128::from(u64::MAX), 64));
                let is_top = self.terms.eq(distance, top);
                let more = self.terms.add(distance, one);
                (self.terms.ite(is_top, distance, more), self.terms.ule(fixed, start))
            }
            Relation::Less | Relation::AtMost => return None,
        })
    }
}
