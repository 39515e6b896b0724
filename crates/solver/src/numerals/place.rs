//! Which symbols are the digits of one number, and what each place counts.

use super::MAX_DIGITS;
use super::form::{Form, Forms};
use crate::domain::Domains;
use crate::possible::Possible;
use term::{SymbolId, TermId, Terms};

/// One digit: `symbol` is its value and `lo` together.
struct Place {
    at: usize,
    symbol: SymbolId,
    lo: u64,
    most: u64,
    counts: u64,
}

/// The digits of a number, the last one first. No number is written in two ways.
pub(super) struct Places {
    places: Vec<Place>,
}

impl Places {
    /// The number that the conditions are about, if all of their symbols are its digits.
    pub fn find(
        terms: &Terms,
        forms: &mut Forms,
        domains: &mut Domains,
        possible: &[Possible],
        conditions: &[TermId],
        sums: &[TermId],
    ) -> Option<Places> {
        let mut open: Vec<SymbolId> = conditions.iter().flat_map(|&t| terms.symbols(t)).copied().collect();
        open.sort_unstable();
        open.dedup();
        let is_open = |one: &&Possible| one.lo < one.hi && open.binary_search(&one.symbol).is_ok();
        let mut left = possible.iter().enumerate().filter(|(_, one)| is_open(one));
        let n_open = left.clone().count();
        if n_open == 0 || n_open > MAX_DIGITS {
            return None;
        }
        let fixed =
            possible.iter().enumerate().filter(|(_, one)| one.lo == one.hi && open.binary_search(&one.symbol).is_ok());
        let place = |at: usize, counts: u64| {
            let one = &possible[at];
            Place { at, symbol: one.symbol, lo: one.lo, most: one.hi - one.lo, counts }
        };
        // Digits with one value count nothing; they are there to be put into the conditions.
        let mut places: Vec<Place> = fixed.map(|(at, _)| place(at, 0)).collect();
        if n_open == 1 {
            places.push(place(left.next()?.0, 1));
            return Some(Places { places });
        }
        let of_sum = |form: &Form| {
            if form.factors.len() != n_open {
                return None;
            }
            let mut digits: Vec<Place> = form
                .factors
                .iter()
                .map(|&(at, factor)| Some(place(at, u64::try_from(factor).ok()?)))
                .collect::<Option<_>>()?;
            digits.sort_unstable_by_key(|digit| digit.counts);
            // What all places below count together is less than this place.
            let mut below = 0u64;
            for digit in &digits {
                if digit.counts <= below {
                    return None;
                }
                below = digit.counts.checked_mul(digit.most).and_then(|most| below.checked_add(most))?;
            }
            (digits[0].counts == 1).then_some(digits)
        };
        let digits = sums
            .iter()
            .take_while(|&&t| terms.symbols(t).len() >= n_open)
            .find_map(|&t| of_sum(&*forms.of(domains, t)?))?;
        places.extend(digits);
        Some(Places { places })
    }

    pub fn symbols(&self) -> impl Iterator<Item = SymbolId> {
        self.places.iter().map(|place| place.symbol)
    }

    /// The largest number.
    pub fn span(&self) -> u64 {
        self.places.iter().map(|place| place.counts * place.most).sum()
    }

    /// How often a sum counts the number, and what it adds, if it is a multiple of the number and a constant modulo two to the width.
    pub fn multiple(&self, form: &Form, width: u32) -> Option<(i128, i128)> {
        let open = || self.places.iter().filter(|place| place.counts > 0);
        let factor_at =
            |at: usize| form.factors.iter().find(|(other, _)| *other == at).map_or(0, |&(_, factor)| factor);
        let times = factor_at(open().next()?.at);
        let mask = term::fold::mask(width);
        let is_multiple = |place: &Place| {
            let wanted = (times as u128).wrapping_mul(u128::from(place.counts)) & mask;
            factor_at(place.at) as u128 & mask == wanted
        };
        (open().all(is_multiple) && form.factors.iter().all(|(at, _)| open().any(|place| place.at == *at)))
            .then_some((times, form.constant))
    }

    /// Writes the values of the symbols whose number this is; false if there are none.
    pub fn write(&self, number: u64, values: &mut Vec<u64>) -> bool {
        let mut rest = number;
        values.clear();
        values.resize(self.places.len(), 0);
        for (nth, place) in self.places.iter().enumerate().rev() {
            let digit = rest.checked_div(place.counts).unwrap_or(0);
            if digit > place.most {
                return false;
            }
            rest -= digit * place.counts;
            values[nth] = place.lo + digit;
        }
        rest == 0
    }
}
