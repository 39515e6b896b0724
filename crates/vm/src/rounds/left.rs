//! How many rounds a condition on the counter lets go by.

use term::{SymbolId, TermId, View};

use super::Counter;
use crate::run::Machine;

/// A condition under which a loop goes on: the counter is compared with something that stays.
struct Compared {
    moving: TermId,
    fixed: TermId,
    width: u32,
    relation: Relation,
    order: Order,
}

/// The counter is this of what it is compared with.
#[derive(Clone, Copy)]
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

impl Machine<'_> {
    /// How many rounds a condition lets go by. `None` where that is not plain.
    pub(super) fn rounds_left(&mut self, stay: TermId, counter: &Counter) -> Option<TermId> {
        let compared = self.compared_with(stay, &counter.symbols)?;
        let Compared { moving, width, .. } = compared;
        let narrow = self.terms.zext(counter.term, width);
        let begins_at = self.terms.constant(counter.begins_at, width);
        let (up, down) = (self.terms.sub(moving, narrow), self.terms.add(moving, narrow));
        let (distance, goes_on) = if !self.mentions(up, &counter.symbols) {
            let start = self.terms.add(up, begins_at);
            self.left_upwards(&compared, start)?
        } else if !self.mentions(down, &counter.symbols) {
            let start = self.terms.sub(down, begins_at);
            self.left_downwards(&compared, start)?
        } else {
            return None;
        };
        let zero = self.terms.constant(0, width);
        let distance = self.terms.ite(goes_on, distance, zero);
        Some(self.terms.zext(distance, 64))
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
        let mut width = self.terms.width(moving);
        if width == super::COUNT_BITS && order == Order::Unsigned {
            // Compared with something small, the counter was left as narrow as it is.
            (moving, fixed, width) = (self.terms.zext(moving, 64), self.terms.zext(fixed, 64), 64);
        }
        (width >= 32).then_some(Compared { moving, fixed, width, relation, order })
    }

    /// From `start` on the counter grows: how far it is to where the loop ends, and whether it goes on at all.
    fn left_upwards(&mut self, compared: &Compared, start: TermId) -> Option<(TermId, TermId)> {
        let Compared { fixed, width, relation, order, .. } = *compared;
        let most = 1u128 << if width == 64 { 62 } else { 30 };
        let is_small = self.terms.as_const(start).is_some_and(|start| start < most);
        if order == Order::Signed && !is_small {
            return None;
        }
        let distance = self.terms.sub(fixed, start);
        let one = self.terms.constant(1, width);
        Some(match (relation, order) {
            (Relation::Other, _) => {
                let is_before = self.terms.ule(start, fixed);
                // Beyond it the counter goes on for very long.
                let most = self.terms.constant(u128::from(u32::MAX >> 2), width);
                (self.terms.ite(is_before, distance, most), self.terms.tru())
            }
            (Relation::Less, Order::Signed) => (distance, self.terms.slt(start, fixed)),
            (Relation::Less, Order::Unsigned) => (distance, self.terms.ult(start, fixed)),
            (Relation::AtMost, _) => {
                let goes_on = match order {
                    Order::Signed => self.terms.sle(start, fixed),
                    Order::Unsigned => self.terms.ule(start, fixed),
                };
                // One more would wrap around only where the counter never ends.
                let top = self.terms.constant(u128::MAX >> (128 - width), width);
                let is_top = self.terms.eq(distance, top);
                if self.terms.is_true(is_top) {
                    return None;
                }
                let more = self.terms.add(distance, one);
                (self.terms.ite(is_top, distance, more), goes_on)
            }
            (Relation::More | Relation::AtLeast, _) => return None,
        })
    }

    /// From `start` on the counter falls.
    fn left_downwards(&mut self, compared: &Compared, start: TermId) -> Option<(TermId, TermId)> {
        let Compared { fixed, width, relation, order, .. } = *compared;
        if order == Order::Signed {
            return None;
        }
        let distance = self.terms.sub(start, fixed);
        match relation {
            Relation::Other => {
                let is_above = self.terms.ule(fixed, start);
                let zero = self.terms.constant(0, width);
                Some((self.terms.ite(is_above, distance, zero), self.terms.tru()))
            }
            Relation::More => Some((distance, self.terms.ult(fixed, start))),
            Relation::Less | Relation::AtMost | Relation::AtLeast => None,
        }
    }
}
