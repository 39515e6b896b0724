//! Proposals: a guess at an input that makes the question true, by walking its term from the wanted value to a symbol.
//!
//! Each operator on the way is inverted, the other operand keeping the value it has under the current input. Where there is
//! a choice the number of the attempt decides. A proposal proves nothing: the stack evaluates it before use.

mod float;

use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use term::{Assignment, Eval, TermId, Terms, View, fold};

/// How many different guesses are worth their evaluation.
const N_ATTEMPTS: u32 = 4;

struct Proposals;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Proposals))
}

impl Answers for Proposals {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        (0..N_ATTEMPTS).find_map(|attempt| {
            let input = propose(query.terms, &mut tools.current, query.current, query.question, attempt)?;
            query.try_input(tools, &input)
        })
    }
}

/// An input that might satisfy the question.
pub fn propose(
    terms: &Terms,
    eval: &mut Eval,
    current: &Assignment,
    question: TermId,
    attempt: u32,
) -> Option<Assignment> {
    let mut walk = Walk { terms, eval, current, choices: attempt, proposal: current.clone() };
    walk.reach(question, 1, 48)?;
    (walk.proposal != *current).then_some(walk.proposal)
}

struct Walk<'a> {
    terms: &'a Terms,
    eval: &'a mut Eval,
    current: &'a Assignment,
    /// Bits not used up yet; each choice takes one.
    choices: u32,
    proposal: Assignment,
}

impl Walk<'_> {
    fn value(&mut self, t: TermId) -> u128 {
        self.eval.eval(self.terms, self.current, t)
    }

    fn choose<T>(&mut self, usual: T, other: T) -> T {
        let bit = self.choices & 1;
        self.choices >>= 1;
        if bit == 0 { usual } else { other }
    }

    /// The operand to change, and the one to keep: one with symbols in any case.
    fn operand(&mut self, a: TermId, b: TermId) -> (TermId, TermId) {
        match (self.terms.symbols(a).is_empty(), self.terms.symbols(b).is_empty()) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => self.choose((a, b), (b, a)),
        }
    }

    /// Changes the proposal so that `t` may become `want`.
    fn reach(&mut self, t: TermId, want: u128, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let width = self.terms.width(t);
        let terms = self.terms;
        match terms.view(t) {
            View::Const(value) => (value == want).then_some(()),
            View::Symbol(symbol) => {
                self.proposal.set(symbol, want as u64);
                Some(())
            }
            View::Not(x) => self.reach(x, fold::not(want, width), depth),
            View::Neg(x) => self.reach(x, fold::neg(want, width), depth),
            View::Add(a, b) => {
                let (x, kept) = self.operand(a, b);
                let kept = self.value(kept);
                self.reach(x, fold::sub(want, kept, width), depth)
            }
            View::Sub(a, b) => {
                let (x, kept) = self.operand(a, b);
                let kept = self.value(kept);
                let goal = if x == a { fold::add(want, kept, width) } else { fold::sub(kept, want, width) };
                self.reach(x, goal, depth)
            }
            View::Xor(a, b) => {
                let (x, kept) = self.operand(a, b);
                let goal = want ^ self.value(kept);
                self.reach(x, goal, depth)
            }
            View::And(a, b) if width == 1 => self.reach_conjunction(a, b, want, depth),
            View::And(a, b) => {
                let (x, kept) = self.operand(a, b);
                let (now, mask) = (self.value(x), self.value(kept));
                (want & !mask == 0).then_some(())?;
                self.reach(x, now & !mask | want, depth)
            }
            View::Or(a, b) => {
                let (x, kept) = self.operand(a, b);
                let (now, set) = (self.value(x), self.value(kept));
                (set & !want == 0).then_some(())?;
                self.reach(x, now & set | want & !set, depth)
            }
            View::Mul(a, b) => self.reach_product(a, b, want, width, depth),
            View::UDiv(a, b) => {
                let divisor = terms.as_const(b).filter(|&divisor| divisor != 0)?;
                let goal = want.checked_mul(divisor).filter(|&goal| goal <= fold::mask(width))?;
                self.reach(a, goal, depth)
            }
            View::URem(a, b) => {
                let divisor = terms.as_const(b).filter(|&divisor| want < divisor)?;
                self.reach_rest(a, want, divisor, depth)
            }
            View::SDiv(a, b) => {
                let divisor = terms.as_const(b)?;
                self.reach(a, fold::mul(want, divisor, width), depth)
            }
            View::SRem(a, b) => {
                let divisor = terms.as_const(b)?;
                let now = self.value(a);
                let base = fold::sub(now, fold::srem(now, divisor, width), width);
                self.reach(a, fold::add(base, want, width), depth)
            }
            View::Shl(a, b) => {
                let by = terms.as_const(b)? as u32;
                let goal = want >> by;
                (fold::shl(goal, u128::from(by), width) == want).then_some(())?;
                let kept = self.value(a) & !(fold::mask(width) >> by);
                self.reach(a, kept | goal, depth)
            }
            View::LShr(..) | View::AShr(..) => None,
            View::Concat(hi, lo) => {
                let low_width = terms.width(lo);
                self.reach(hi, want >> low_width, depth)?;
                self.reach(lo, want & fold::mask(low_width), depth)
            }
            View::Extract { arg, lo } => {
                let now = self.value(arg);
                self.reach(arg, now & !(fold::mask(width) << lo) | want << lo, depth)
            }
            View::ZExt(x) => {
                (want <= fold::mask(terms.width(x))).then_some(())?;
                self.reach(x, want, depth)
            }
            View::SExt(x) => {
                let inner = terms.width(x);
                let narrow = want & fold::mask(inner);
                (fold::sext(narrow, inner, width) == want).then_some(())?;
                self.reach(x, narrow, depth)
            }
            View::Ite(c, a, b) => self.reach_choice(c, a, b, want, depth),
            View::Eq(a, b) => {
                let (x, kept) = self.operand(a, b);
                let kept = self.value(kept);
                self.reach(x, if want == 1 { kept } else { kept ^ 1 }, depth)
            }
            View::Ult(a, b) => self.reach_order(a, b, want, depth, 0, fold::mask(terms.width(a))),
            View::Slt(a, b) => {
                let inner = terms.width(a);
                self.reach_order(a, b, want, depth, fold::sign_bit(inner), fold::sign_bit(inner) - 1)
            }
            View::Select { array, index } => {
                let View::Table(table) = terms.view(array) else { return None };
                let elements = terms.table_elements(table);
                let at = elements.iter().position(|&element| terms.as_const(element) == Some(want))?;
                self.reach(index, at as u128, depth)
            }
            View::Table(_) | View::Store { .. } => None,
            View::FloatUnary { op, rounding, arg } => self.reach_float_unary(op, rounding, arg, (width, want), depth),
            View::FloatBinary { op, rounding, a, b } => self.reach_float_binary(op, rounding, (a, b), want, depth),
            View::FloatCompare { op, a, b } => self.reach_float_order(op, (a, b), want, depth),
            View::Fma { rounding, a, b, c } => self.reach_fma(rounding, [a, b, c], want, depth),
        }
    }

    fn reach_conjunction(&mut self, a: TermId, b: TermId, want: u128, depth: u32) -> Option<()> {
        if want == 0 {
            let (x, _) = self.operand(a, b);
            return self.reach(x, 0, depth);
        }
        for x in [a, b] {
            if self.value(x) == 0 {
                self.reach(x, 1, depth)?;
            }
        }
        Some(())
    }

    fn reach_product(&mut self, a: TermId, b: TermId, want: u128, width: u32, depth: u32) -> Option<()> {
        let (x, kept) = self.operand(a, b);
        let factor = self.value(kept);
        if factor == 0 {
            return (want == 0).then_some(());
        }
        let twos = factor.trailing_zeros();
        (want.trailing_zeros() >= twos).then_some(())?;
        // Dividing both by the common power of two leaves an odd factor, which has an inverse.
        let goal = (want >> twos).wrapping_mul(odd_inverse(factor >> twos)) & fold::mask(width) >> twos;
        self.reach(x, goal, depth)
    }

    /// Changes the proposal so that `t` may have this rest, as long as nothing in it wraps around.
    fn reach_rest(&mut self, t: TermId, want: u128, divisor: u128, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let (terms, width) = (self.terms, self.terms.width(t));
        // Products of two rests have to fit.
        if divisor <= u128::from(u64::MAX) {
            match terms.view(t) {
                View::Add(a, b) => {
                    let (x, kept) = self.operand(a, b);
                    let kept = self.value(kept) % divisor;
                    return self.reach_rest(x, (want + divisor - kept) % divisor, divisor, depth);
                }
                View::Mul(a, b) => {
                    let (x, kept) = self.operand(a, b);
                    let inverse = inverse_modulo(self.value(kept) % divisor, divisor)?;
                    return self.reach_rest(x, want * inverse % divisor, divisor, depth);
                }
                View::Shl(x, by) => {
                    let by = terms.as_const(by).filter(|&by| by < u128::from(width))?;
                    let inverse = inverse_modulo((1 << by) % divisor, divisor)?;
                    return self.reach_rest(x, want * inverse % divisor, divisor, depth);
                }
                View::ZExt(x) => return self.reach_rest(x, want, divisor, depth),
                View::URem(x, other) if terms.as_const(other) == Some(divisor) => {
                    return self.reach_rest(x, want, divisor, depth);
                }
                _ => {}
            }
        }
        let now = self.value(t);
        self.reach(t, fold::add(now - now % divisor, want, width), depth)
    }

    fn reach_choice(&mut self, c: TermId, a: TermId, b: TermId, want: u128, depth: u32) -> Option<()> {
        let taken = self.value(c);
        let (here, there) = if taken == 1 { (a, b) } else { (b, a) };
        let stay = match (self.terms.as_const(here), self.terms.as_const(there)) {
            (Some(value), _) => value == want,
            (None, Some(value)) => value != want,
            (None, None) => self.choose(true, false),
        };
        if stay {
            return self.reach(here, want, depth);
        }
        self.reach(c, 1 - taken, depth)?;
        if self.value(there) == want { Some(()) } else { self.reach(there, want, depth) }
    }

    /// `a < b` should be `want`; `least` and `greatest` are the ends of the order.
    fn reach_order(&mut self, a: TermId, b: TermId, want: u128, depth: u32, least: u128, greatest: u128) -> Option<()> {
        let width = self.terms.width(a);
        let (x, kept) = self.operand(a, b);
        let kept = self.value(kept);
        let goal = match (x == a, want == 1) {
            // x < kept
            (true, true) => {
                (kept != least).then_some(())?;
                self.choose(fold::sub(kept, 1, width), least)
            }
            // x >= kept
            (true, false) => self.choose(kept, greatest),
            // kept < x
            (false, true) => {
                (kept != greatest).then_some(())?;
                self.choose(fold::add(kept, 1, width), greatest)
            }
            // kept >= x
            (false, false) => self.choose(kept, least),
        };
        self.reach(x, goal, depth)
    }
}

/// The inverse of an odd number modulo 2^128.
fn odd_inverse(odd: u128) -> u128 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))))
}

/// The number whose product with this one leaves one, if there is one; `number` is below `divisor`.
fn inverse_modulo(number: u128, divisor: u128) -> Option<u128> {
    // Euclid's algorithm; both factors are kept below the divisor.
    let (mut rest, mut next) = (divisor, number);
    let (mut factor, mut next_factor) = (0, 1 % divisor);
    while next != 0 {
        let taken = (rest / next % divisor) * next_factor % divisor;
        (factor, next_factor) = (next_factor, (factor + divisor - taken) % divisor);
        (rest, next) = (next, rest % next);
    }
    (rest == 1).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::SymbolId;

    #[test]
    fn inverses_are_inverses() {
        for divisor in 1..200u128 {
            for number in 0..divisor {
                match inverse_modulo(number, divisor) {
                    Some(inverse) => assert_eq!(number * inverse % divisor, 1 % divisor, "{number} modulo {divisor}"),
                    None => assert!((0..divisor).all(|other| number * other % divisor != 1 % divisor)),
                }
            }
        }
        let large = 0xffff_ffff_ffff_ffc5;
        assert_eq!(inverse_modulo(12345, large).map(|inverse| inverse * 12345 % large), Some(1));
    }

    /// Two unknowns under two remainders: each walk from one of them gives what it takes.
    #[test]
    fn rests_of_sums_and_products_are_reached() {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", 32), terms.symbol("y", 32));
        let (x, y) = (terms.zext(x, 64), terms.zext(y, 64));
        let product = terms.mul(x, y);
        let three = terms.constant(3, 64);
        let tripled = terms.mul(y, three);
        let sum = terms.add(product, tripled);
        let prime = terms.constant(1_000_003, 64);
        let rest = terms.urem(sum, prime);
        let wanted = terms.constant(77, 64);
        let question = terms.eq(rest, wanted);
        let mut input = Assignment::new();
        input.set(SymbolId(0), 4711);
        input.set(SymbolId(1), 1234);
        let mut eval = Eval::new();
        let found = (0..64).filter(|&dice| {
            propose(&terms, &mut eval, &input, question, dice)
                .is_some_and(|there| Eval::new().holds(&terms, &there, question))
        });
        assert!(found.count() > 8);
    }
}
