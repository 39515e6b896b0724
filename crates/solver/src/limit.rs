//! Bounds of one term by constants: which of two says more.

use term::{TermId, Terms, View, fold};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The term is at most this.
    Above,
    /// The term is at least this.
    Below,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Unsigned,
    Signed,
}

/// A constraint that compares a term with a constant, the constant included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    of: TermId,
    side: Side,
    reading: Reading,
    value: i128,
}

impl Limit {
    /// What a constraint is, if it is a limit.
    pub fn of_constraint(terms: &Terms, constraint: TermId) -> Option<Limit> {
        let (compared, holds) = match terms.view(constraint) {
            View::Not(compared) => (compared, false),
            _ => (constraint, true),
        };
        let (a, b, reading) = match terms.view(compared) {
            View::Ult(a, b) => (a, b, Reading::Unsigned),
            View::Slt(a, b) => (a, b, Reading::Signed),
            _ => return None,
        };
        let width = terms.width(a);
        let read = |k: u128| match reading {
            Reading::Unsigned => i128::try_from(k).ok(),
            Reading::Signed => Some(fold::sext(k, width, 128) as i128),
        };
        let (of, side, value) = match (terms.as_const(a), terms.as_const(b), holds) {
            (None, Some(k), true) => (a, Side::Above, read(k)?.checked_sub(1)?),
            (None, Some(k), false) => (a, Side::Below, read(k)?),
            (Some(k), None, true) => (b, Side::Below, read(k)?.checked_add(1)?),
            (Some(k), None, false) => (b, Side::Above, read(k)?),
            _ => return None,
        };
        Some(Limit { of, side, reading, value })
    }

    /// Whether whatever keeps to this limit keeps to the other, too.
    pub fn implies(&self, other: &Limit) -> bool {
        let Limit { of, side, reading, value } = *self;
        of == other.of
            && side == other.side
            && reading == other.reading
            && match side {
                Side::Above => value <= other.value,
                Side::Below => value >= other.value,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::{Assignment, Eval};

    /// Every pair of limits on a symbol of four bits, by all its values.
    #[test]
    fn implied_limits_hold() {
        let mut terms = Terms::new();
        let x = terms.symbol("x", 4);
        let symbol = terms.symbols(x)[0];
        let mut constraints = Vec::new();
        for k in 0..16 {
            let k = terms.constant(k, 4);
            let compared = [terms.ult(x, k), terms.ult(k, x), terms.slt(x, k), terms.slt(k, x)];
            constraints.extend(compared);
            constraints.extend(compared.map(|t| terms.not(t)));
        }
        let limits: Vec<(TermId, Limit)> =
            constraints.into_iter().filter_map(|t| Some((t, Limit::of_constraint(&terms, t)?))).collect();
        assert!(limits.len() > 90, "{}", limits.len());
        let mut eval = Eval::new();
        let mut n_implied = 0;
        for (one, stronger) in &limits {
            for (other, weaker) in limits.iter().filter(|(_, weaker)| stronger.implies(weaker)) {
                n_implied += 1;
                for value in 0..16 {
                    let mut input = Assignment::new();
                    input.set(symbol, value);
                    assert!(
                        !eval.holds(&terms, &input, *one) || eval.holds(&terms, &input, *other),
                        "{stronger:?} {weaker:?}"
                    );
                }
            }
        }
        assert!(n_implied > 1000, "{n_implied}");
    }
}
