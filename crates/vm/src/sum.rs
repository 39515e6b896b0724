//! A term as a sum of others, each so many times.

use std::collections::BTreeMap;

use term::{TermId, Terms, View};

use crate::positions::{MAX_LEVEL, Positions};

/// Equal to the term it was made of, up to multiples of two to the term's width.
#[derive(Clone, Default)]
pub(crate) struct Sum {
    pub parts: BTreeMap<TermId, i128>,
    pub constant: i128,
}

impl Sum {
    pub fn add(&mut self, positions: &Positions, terms: &Terms, term: TermId, times: i128, level: u32) {
        let level = level + 1;
        if level > MAX_LEVEL {
            positions.note_cut();
            return self.add_part(term, times);
        }
        let width = terms.width(term);
        match terms.view(term) {
            View::Const(value) if width <= 64 => {
                // A large number stands for a negative one.
                let negative = if width == 64 && value >> 63 == 1 { 1i128 << 64 } else { 0 };
                self.constant += (value as i128 - negative) * times;
            }
            View::Add(a, b) if width == 64 => {
                self.add(positions, terms, a, times, level);
                self.add(positions, terms, b, times, level);
            }
            View::Sub(a, b) if width == 64 => {
                self.add(positions, terms, a, times, level);
                self.add(positions, terms, b, -times, level);
            }
            View::Neg(a) if width == 64 => self.add(positions, terms, a, -times, level),
            View::Add(a, b) if self.is_plain_sum(positions, terms, term, level) => {
                self.add(positions, terms, a, times, level);
                self.add(positions, terms, b, times, level);
            }
            View::ZExt(x) => self.add(positions, terms, x, times, level),
            View::SExt(x) if terms.width(x) <= 64 => {
                let (_, most) = positions.range_at(terms, x, level);
                match most < 1 << (terms.width(x) - 1) {
                    true => self.add(positions, terms, x, times, level),
                    false => self.add_part(term, times),
                }
            }
            View::Extract { arg, lo: 0 } if terms.width(arg) <= 64 => {
                let (_, most) = positions.range_at(terms, arg, level);
                match width >= 64 || most < 1 << width {
                    true => self.add(positions, terms, arg, times, level),
                    false => self.add_part(term, times),
                }
            }
            _ => self.add_part(term, times),
        }
    }

    /// A narrow sum whose parts are so small that it does not wrap around.
    fn is_plain_sum(&self, positions: &Positions, terms: &Terms, term: TermId, level: u32) -> bool {
        let View::Add(a, b) = terms.view(term) else { return false };
        let (a, b) = (positions.range_at(terms, a, level), positions.range_at(terms, b, level));
        a.1.checked_add(b.1).is_some_and(|most| most < 1 << terms.width(term).min(63))
    }

    fn add_part(&mut self, term: TermId, times: i128) {
        *self.parts.entry(term).or_insert(0) += times;
    }

    pub fn remove(&mut self, part: TermId) {
        self.parts.remove(&part);
    }

    /// The parts that count, each `sign` times as often.
    pub fn parts_vec(&self, sign: i128) -> Vec<(TermId, i128)> {
        self.parts.iter().filter(|(_, times)| **times != 0).map(|(part, times)| (*part, times * sign)).collect()
    }
}
