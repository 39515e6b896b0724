//! A question about symbols that the path leaves one value each: evaluating it is all there is to do.
//!
//! A size that was chosen, `4 * n = 400`, leaves `n` the value 100, and a loop up to `n` asks about it at every turn. Which
//! symbols a path fixes is noted as constraints are added, where a look at the equation tells.

use crate::Answer;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::query::{Query, Tools};
use term::{SymbolId, TermId, Terms, View, fold};

struct Fixed;

pub(crate) fn layer(_: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Fixed))
}

impl Answers for Fixed {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        if !query.is_about_fixed_symbols() {
            return None;
        }
        // The current input satisfies the path, so it has the only values there are.
        let holds = tools.current.holds(query.terms, query.current, query.question);
        Some(Said::Exactly(if holds { Answer::Sat(query.current.clone()) } else { Answer::Unsat }))
    }

    fn cost(&self) -> Cost {
        Cost::Nothing
    }
}

/// The symbol for which an equation leaves exactly one value, and that value.
pub(crate) fn fixes(terms: &Terms, condition: TermId) -> Option<(SymbolId, u64)> {
    let (mut t, mut value) = match terms.view(condition) {
        View::Eq(t, k) => (t, terms.as_const(k)?),
        View::Not(t) => (t, 0),
        _ => (condition, 1),
    };
    loop {
        let width = terms.width(t);
        (t, value) = match terms.view(t) {
            View::Symbol(symbol) => return Some((symbol, value as u64)),
            View::Not(x) => (x, fold::not(value, width)),
            View::Neg(x) => (x, fold::neg(value, width)),
            View::ZExt(x) if value <= fold::mask(terms.width(x)) => (x, value),
            View::SExt(x) => {
                let narrow = value & fold::mask(terms.width(x));
                (fold::sext(narrow, terms.width(x), width) == value).then_some((x, narrow))?
            }
            View::Add(x, k) => (x, fold::sub(value, terms.as_const(k)?, width)),
            View::Sub(k, x) if terms.is_const(k) => (x, fold::sub(terms.as_const(k)?, value, width)),
            View::Sub(x, k) => (x, fold::add(value, terms.as_const(k)?, width)),
            View::Xor(x, k) => (x, value ^ terms.as_const(k)?),
            View::Concat(high, low) => {
                let n_low = terms.width(low);
                let (above, below) = (value >> n_low, value & fold::mask(n_low));
                match (terms.as_const(high), terms.as_const(low)) {
                    (None, Some(k)) if k == below => (high, above),
                    (Some(k), None) if k == above => (low, below),
                    _ => return None,
                }
            }
            View::Mul(x, k) => (x, factor(terms, x, terms.as_const(k)?, value, width)?),
            View::Shl(x, k) => {
                let places = terms.as_const(k)?;
                let k = if places < u128::from(width) { 1u128 << places } else { return None };
                (x, factor(terms, x, k, value, width)?)
            }
            _ => return None,
        };
    }
}

/// The only `x` with `x * k = value`, where `x` was extended and the product cannot wrap.
fn factor(terms: &Terms, x: TermId, k: u128, value: u128, width: u32) -> Option<u128> {
    if k == 0 || width > 64 {
        return None;
    }
    match terms.view(x) {
        View::ZExt(narrow) => {
            let most = fold::mask(terms.width(narrow)).checked_mul(k).filter(|most| *most <= fold::mask(width))?;
            (value <= most && value.is_multiple_of(k)).then_some(value / k)
        }
        View::SExt(narrow) => {
            let half = fold::sign_bit(terms.width(narrow));
            let fits = k < 1 << 62 && half.checked_mul(k).is_some_and(|most| most <= fold::sign_bit(width));
            let signed = fold::sext(value, width, 128) as i128;
            let (quotient, rest) = (signed / k as i128, signed % k as i128);
            (fits && rest == 0).then_some(quotient as u128 & fold::mask(width))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::{Assignment, Eval};

    /// Whatever is said to be the only value is, by trying all values of a small symbol.
    #[test]
    fn only_values_are_the_only_ones() {
        let mut terms = Terms::new();
        let mut n_fixed = 0;
        for width in [1, 3, 6] {
            let x = terms.symbol(&format!("x{width}"), width);
            let symbol = terms.symbols(x)[0];
            let mut forms = vec![x, terms.zext(x, 9), terms.sext(x, 9), terms.not(x), terms.neg(x)];
            for round in 0..3u128 {
                for form in forms.clone() {
                    let wide = terms.width(form);
                    let k = terms.constant(3 + round * 5, wide);
                    let two = terms.constant(2, wide);
                    let low = terms.constant(1, 2);
                    let made = [
                        terms.add(form, k),
                        terms.sub(k, form),
                        terms.xor(form, k),
                        terms.mul(form, k),
                        terms.shl(form, two),
                        terms.mul(form, two),
                    ];
                    forms.extend(made);
                    if wide < 12 {
                        forms.push(terms.concat(form, low));
                        forms.push(terms.concat(low, form));
                        forms.push(terms.zext(form, wide + 3));
                        forms.push(terms.sext(form, wide + 3));
                    }
                }
                forms.sort_unstable();
                forms.dedup();
                forms.truncate(400);
            }
            let mut eval = Eval::new();
            for form in forms {
                for value in 0..1u128 << terms.width(form).min(8) {
                    let k = terms.constant(value * 7, terms.width(form));
                    let equal = terms.eq(form, k);
                    let Some((fixed, only)) = fixes(&terms, equal) else { continue };
                    assert_eq!(fixed, symbol);
                    n_fixed += 1;
                    for value in 0..1u64 << width {
                        let mut input = Assignment::new();
                        input.set(symbol, value);
                        assert!(!eval.holds(&terms, &input, equal) || value == only, "{:?}", terms.view(equal));
                    }
                }
            }
        }
        assert!(n_fixed > 1000, "{n_fixed}");
    }
}
