//! What conditions leave of a number: a progression.

use super::form::Forms;
use super::place::Places;
use crate::domain::Domains;
use rustc_hash::FxHashMap;
use term::{TermId, Terms, View, fold};

/// `first + t * step` for each `t` below `n`: numbers of up to 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Progression {
    pub first: u128,
    pub step: u128,
    pub n: u128,
}

impl Progression {
    pub fn new(most: u64) -> Progression {
        Progression { first: 0, step: 1, n: u128::from(most) + 1 }
    }

    pub fn at(&self, t: u128) -> u128 {
        self.first + t * self.step
    }

    /// Whether some remainder is known.
    pub fn is_sparse(&self) -> bool {
        self.step > 1
    }

    /// Keeps each `t` with this remainder.
    fn keep_rest(&mut self, rest: u128, modulus: u128) {
        if rest >= self.n {
            self.n = 0;
            return;
        }
        self.first += rest * self.step;
        self.n = (self.n - 1 - rest) / modulus + 1;
        // Of one number there is no step.
        self.step = if self.n == 1 { 1 } else { self.step * modulus };
    }

    /// Keeps each `t` from one to another.
    fn keep_between(&mut self, from: u128, to: u128) {
        let to = to.min(self.n.saturating_sub(1));
        if from > to || self.n == 0 {
            self.n = 0;
            return;
        }
        self.first += from * self.step;
        self.n = to - from + 1;
    }
}

/// `constant + factor * t` modulo two to the width. The constant is what it is for a `t` of zero, without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    factor: i128,
    constant: i128,
}

/// Looks at conditions.
pub(super) struct Learner<'a, 'b> {
    terms: &'a Terms,
    forms: &'b mut Forms<'a>,
    places: &'b Places,
    progression: Progression,
    lines: FxHashMap<TermId, Option<Line>>,
    has_changed: bool,
}

const MAX_DEPTH: u32 = 200;
/// How often all conditions are looked at.
const MAX_ROUNDS: u32 = 80;

impl<'a, 'b> Learner<'a, 'b> {
    pub fn new(terms: &'a Terms, forms: &'b mut Forms<'a>, places: &'b Places) -> Learner<'a, 'b> {
        Learner {
            terms,
            forms,
            places,
            progression: Progression::new(0),
            lines: FxHashMap::default(),
            has_changed: false,
        }
    }

    /// Leaves of the progression what the conditions leave of it, as far as they are understood.
    pub fn learn_all(&mut self, domains: &mut Domains, conditions: &[TermId], progression: &mut Progression) {
        self.progression = progression.clone();
        for _ in 0..MAX_ROUNDS {
            self.has_changed = false;
            for &condition in conditions {
                self.learn(domains, condition, true);
                if self.progression.n == 0 {
                    break;
                }
            }
            if !self.has_changed || self.progression.n == 0 {
                break;
            }
        }
        *progression = self.progression.clone();
    }

    fn learn(&mut self, domains: &mut Domains, condition: TermId, holds: bool) {
        let terms = self.terms;
        if self.progression.n == 0 {
            return;
        }
        match (terms.view(condition), holds) {
            (View::Not(inner), _) => self.learn(domains, inner, !holds),
            (View::And(a, b), true) | (View::Or(a, b), false) => {
                self.learn(domains, a, holds);
                self.learn(domains, b, holds);
            }
            (View::Eq(a, b), true) => match terms.as_const(b) {
                Some(k) => self.equal(domains, a, k, MAX_DEPTH),
                None => self.equal_lines(domains, a, b),
            },
            (View::Ult(a, b), _) => match (terms.as_const(a), terms.as_const(b), holds) {
                (_, Some(k), true) if k > 0 => self.at_most(domains, a, k - 1),
                (_, Some(k), false) => self.at_least(domains, a, k),
                (Some(k), _, true) => self.at_least(domains, b, k + 1),
                (Some(k), _, false) => self.at_most(domains, b, k),
                _ => {}
            },
            // Where neither is negative.
            (View::Slt(a, b), _) => {
                let top = fold::sign_bit(terms.width(a));
                match (terms.as_const(a), terms.as_const(b), holds) {
                    (_, Some(k), true) if k > 0 && k < top && self.is_below(domains, a, top) => {
                        self.at_most(domains, a, k - 1)
                    }
                    (_, Some(k), false) if k < top && self.is_below(domains, a, top) => self.at_least(domains, a, k),
                    (Some(k), _, true) if k < top && self.is_below(domains, b, top) => self.at_least(domains, b, k + 1),
                    (Some(k), _, false) if k < top && self.is_below(domains, b, top) => self.at_most(domains, b, k),
                    _ => {}
                }
            }
            _ if terms.width(condition) == 1 => self.equal(domains, condition, u128::from(holds), MAX_DEPTH),
            _ => {}
        }
    }

    /// A term has a value.
    fn equal(&mut self, domains: &mut Domains, x: TermId, k: u128, depth: u32) {
        let (terms, width) = (self.terms, self.terms.width(x));
        let Some(depth) = depth.checked_sub(1) else { return };
        if width > 64 && !matches!(terms.view(x), View::ZExt(_) | View::Concat(..)) {
            return;
        }
        if let Some(line) = self.line(domains, x) {
            return self.rest(line.factor, k as i128 - line.constant, 1 << width);
        }
        match terms.view(x) {
            View::URem(y, by) => {
                let (Some(by), Some(line)) = (terms.as_const(by), self.exact(domains, y)) else { return };
                if by > 0 {
                    self.rest_of_division(line, k, by);
                }
            }
            View::SRem(y, by) => {
                let top = fold::sign_bit(width);
                let (Some(by), Some(line)) = (terms.as_const(by), self.exact(domains, y)) else { return };
                if by > 0 && by < top && self.is_below(domains, y, top) {
                    self.rest_of_division(line, k, by);
                }
            }
            View::And(y, mask) => {
                let Some(mask) = terms.as_const(mask) else { return };
                if mask.count_ones() == mask.trailing_ones()
                    && let Some(line) = self.line(domains, y)
                {
                    if k > mask {
                        self.progression.n = 0;
                        return;
                    }
                    self.rest(line.factor, k as i128 - line.constant, mask + 1);
                }
            }
            View::ZExt(y) if k <= fold::mask(terms.width(y)) => self.equal(domains, y, k, depth),
            View::Concat(zero, y) if terms.as_const(zero) == Some(0) && k <= fold::mask(terms.width(y)) => {
                self.equal(domains, y, k, depth);
            }
            View::Not(y) => self.equal(domains, y, fold::not(k, width), depth),
            _ if self.quotient_of(x).is_some() => {
                self.at_least(domains, x, k);
                self.at_most(domains, x, k);
            }
            _ => {}
        }
    }

    fn rest_of_division(&mut self, line: Line, k: u128, by: u128) {
        if k >= by {
            self.progression.n = 0;
            return;
        }
        self.rest(line.factor, k as i128 - line.constant, by);
    }

    fn equal_lines(&mut self, domains: &mut Domains, a: TermId, b: TermId) {
        let width = self.terms.width(a);
        if width > 64 {
            return;
        }
        if let (Some(a), Some(b)) = (self.line(domains, a), self.line(domains, b)) {
            self.rest(a.factor - b.factor, b.constant - a.constant, 1 << width);
        }
    }

    /// `factor * t` and a number leave the same rest when divided by the modulus, which is at most two to the 64.
    fn rest(&mut self, factor: i128, number: i128, modulus: u128) {
        let (factor, number) = (rest_of(factor, modulus), rest_of(number, modulus));
        let (common, inverse) = common_and_inverse(factor, modulus);
        if number % common != 0 {
            self.progression.n = 0;
            return;
        }
        let modulus = modulus / common;
        if modulus == 1 {
            return;
        }
        let rest = product_rest(number / common, inverse % modulus, modulus);
        if rest > 0 || self.progression.n > 1 {
            self.has_changed = true;
            self.lines.clear();
        }
        self.progression.keep_rest(rest, modulus);
    }

    fn keep_between(&mut self, from: u128, to: u128) {
        if from > 0 || to < self.progression.n - 1 {
            self.progression.keep_between(from, to);
            self.has_changed = true;
            self.lines.clear();
        }
    }

    fn at_most(&mut self, domains: &mut Domains, x: TermId, k: u128) {
        let (terms, width) = (self.terms, self.terms.width(x));
        if width > 64 || self.progression.n == 0 {
            return;
        }
        if let Some(line) = self.exact(domains, x) {
            return self.between(line, 0, k);
        }
        if let Some((y, by)) = self.quotient_of(x) {
            self.at_most(domains, y, (k * by).saturating_add(by - 1));
        } else if let View::ZExt(y) = terms.view(x) {
            self.at_most(domains, y, k);
        }
        if self.progression.n == 0 {
            return;
        }
        let Some(line) = self.line(domains, x) else { return };
        let mask = fold::mask(width);
        let last = self.progression.n - 1;
        // `n * inverse` is at most as large as the largest quotient only where nothing is left: it is the quotient then. A quotient of what was
        // divided before is a product with a fraction.
        let quotient = fractions(line.factor as u128 & mask, width).find_map(|(times, divisor)| {
            let shift = (line.constant as u128).wrapping_mul(divisor) & mask;
            let most = k.checked_mul(divisor).filter(|&most| most <= mask)?;
            let end = times.checked_mul(last).and_then(|far| far.checked_add(shift))?;
            // Neither wraps around, so they are equal: `times * t + shift`, and the divisor as often as the term says.
            (end <= mask).then_some((times, divisor, shift, most))
        });
        let Some((times, divisor, shift, most)) = quotient else { return };
        if most < shift {
            self.progression.n = 0;
            return;
        }
        self.keep_between(0, (most - shift) / times);
        self.rest(times as i128, -(shift as i128), divisor);
    }

    fn at_least(&mut self, domains: &mut Domains, x: TermId, k: u128) {
        let terms = self.terms;
        if terms.width(x) > 64 || self.progression.n == 0 {
            return;
        }
        if let Some(line) = self.exact(domains, x) {
            return self.between(line, k, u128::from(u64::MAX));
        }
        if let Some((y, by)) = self.quotient_of(x) {
            self.at_least(domains, y, k * by);
        } else if let View::ZExt(y) = terms.view(x) {
            self.at_least(domains, y, k);
        }
    }

    /// What a term is a whole part of, and by what it is divided.
    fn quotient_of(&self, x: TermId) -> Option<(TermId, u128)> {
        let (terms, width) = (self.terms, self.terms.width(x));
        match terms.view(x) {
            View::UDiv(y, by) => Some((y, terms.as_const(by).filter(|&by| by > 0)?)),
            View::LShr(y, by) => Some((y, 1 << terms.as_const(by).filter(|&by| by < u128::from(width))?)),
            View::Extract { arg, lo } if lo > 0 && lo + width == terms.width(arg) && lo + width <= 64 => {
                Some((arg, 1 << lo))
            }
            _ => None,
        }
    }

    /// A line that does not wrap around lies between these.
    fn between(&mut self, line: Line, lo: u128, hi: u128) {
        let (lo, hi) = (lo.min(1 << 65) as i128 - line.constant, hi.min(1 << 65) as i128 - line.constant);
        let factor = line.factor;
        if factor == 0 {
            if lo > 0 || hi < 0 {
                self.progression.n = 0;
            }
            return;
        }
        // Upwards to the first, downwards to the last.
        let (first, last) = match factor > 0 {
            true => (-(-lo).div_euclid(factor), hi.div_euclid(factor)),
            false => (-hi.div_euclid(-factor), (-lo).div_euclid(-factor)),
        };
        if last < 0 {
            self.progression.n = 0;
            return;
        }
        self.keep_between(first.max(0) as u128, last as u128);
    }

    fn is_below(&mut self, domains: &mut Domains, x: TermId, limit: u128) -> bool {
        let Some(line) = self.exact(domains, x) else { return false };
        let last = line.constant + line.factor * (self.progression.n as i128 - 1);
        (line.constant.max(last) as u128) < limit
    }

    fn line(&mut self, domains: &mut Domains, t: TermId) -> Option<Line> {
        self.line_at(domains, t, MAX_DEPTH)
    }

    /// One whose numbers do not wrap around.
    fn exact(&mut self, domains: &mut Domains, t: TermId) -> Option<Line> {
        let line = self.line(domains, t)?;
        self.is_exact(line, 0, fold::mask(self.terms.width(t)) as i128).then_some(line)
    }

    fn exact_at(&mut self, domains: &mut Domains, t: TermId, depth: u32) -> Option<Line> {
        let line = self.line_at(domains, t, depth)?;
        self.is_exact(line, 0, fold::mask(self.terms.width(t)) as i128).then_some(line)
    }

    fn is_exact(&self, line: Line, lo: i128, hi: i128) -> bool {
        let last =
            line.factor.checked_mul(self.progression.n as i128 - 1).and_then(|far| far.checked_add(line.constant));
        last.is_some_and(|last| lo <= line.constant.min(last) && line.constant.max(last) <= hi)
    }

    fn line_at(&mut self, domains: &mut Domains, t: TermId, depth: u32) -> Option<Line> {
        if self.terms.width(t) > 64 {
            return None;
        }
        if let Some(line) = self.lines.get(&t) {
            return *line;
        }
        let line = match self.line_of_number(domains, t) {
            Some(line) => Some(line),
            None => self.line_by_operands(domains, t, depth.checked_sub(1)?),
        };
        let line = line.map(|line| reduced(line, self.terms.width(t)));
        self.lines.insert(t, line);
        line
    }

    /// A multiple of the number.
    fn line_of_number(&mut self, domains: &mut Domains, t: TermId) -> Option<Line> {
        let width = self.terms.width(t);
        let form = self.forms.of(domains, t)?;
        let (times, constant) = match form.factors.is_empty() {
            true => (0, form.constant),
            false => self.places.multiple(&form, width)?,
        };
        let times = times as u128;
        let factor = times.wrapping_mul(self.progression.step) & fold::mask(width);
        let constant = (constant as u128).wrapping_add(times.wrapping_mul(self.progression.first)) & fold::mask(width);
        Some(Line { factor: factor as i128, constant: constant as i128 })
    }

    fn line_by_operands(&mut self, domains: &mut Domains, t: TermId, depth: u32) -> Option<Line> {
        let (terms, width) = (self.terms, self.terms.width(t));
        let line = |factor: i128, constant: i128| Some(Line { factor, constant });
        match terms.view(t) {
            View::Add(a, b) => {
                let (a, b) = (self.line_at(domains, a, depth)?, self.line_at(domains, b, depth)?);
                line(a.factor + b.factor, a.constant + b.constant)
            }
            View::Sub(a, b) => {
                let (a, b) = (self.line_at(domains, a, depth)?, self.line_at(domains, b, depth)?);
                line(a.factor - b.factor, a.constant - b.constant)
            }
            View::Neg(a) => {
                let a = self.line_at(domains, a, depth)?;
                line(-a.factor, -a.constant)
            }
            View::Not(a) => {
                let a = self.line_at(domains, a, depth)?;
                line(-a.factor, -1 - a.constant)
            }
            View::Mul(a, k) => {
                let (k, a) = (terms.as_const(k)?, self.line_at(domains, a, depth)?);
                line((a.factor as u128).wrapping_mul(k) as i128, (a.constant as u128).wrapping_mul(k) as i128)
            }
            View::Shl(a, by) => {
                let by = terms.as_const(by).filter(|&by| by < u128::from(width))?;
                let a = self.line_at(domains, a, depth)?;
                line(((a.factor as u128) << by) as i128, ((a.constant as u128) << by) as i128)
            }
            View::ZExt(a) => self.exact_at(domains, a, depth),
            View::SExt(a) => {
                let narrow = terms.width(a);
                let a = self.line_at(domains, a, depth)?;
                let signed = Line { constant: fold::signed(a.constant as u128, narrow), ..a };
                let top = 1i128 << (narrow - 1);
                self.is_exact(signed, -top, top - 1).then_some(signed)
            }
            View::Extract { arg, lo: 0 } => self.line_at(domains, arg, depth),
            View::Extract { arg, lo } => self.quotient(domains, arg, 1 << lo, depth),
            View::LShr(a, by) => {
                let by = terms.as_const(by).filter(|&by| by < u128::from(width))?;
                self.quotient(domains, a, 1 << by, depth)
            }
            View::UDiv(a, by) => self.quotient(domains, a, terms.as_const(by)?, depth),
            View::URem(a, by) => self.remainder(domains, a, terms.as_const(by)?, depth),
            View::And(a, mask) => {
                let mask = terms.as_const(mask)?;
                (mask.count_ones() == mask.trailing_ones()).then_some(())?;
                self.remainder(domains, a, mask + 1, depth)
            }
            View::Concat(hi, lo) => {
                let n_low = terms.width(lo);
                let (hi, lo) = (self.line_at(domains, hi, depth)?, self.exact_at(domains, lo, depth)?);
                line((hi.factor << n_low) + lo.factor, (hi.constant << n_low) + lo.constant)
            }
            _ => None,
        }
    }

    /// Where the divisor divides what comes with each step.
    fn quotient(&mut self, domains: &mut Domains, a: TermId, by: u128, depth: u32) -> Option<Line> {
        let a = self.exact_at(domains, a, depth)?;
        let by = i128::try_from(by).ok().filter(|&by| by > 0)?;
        (a.factor % by == 0).then_some(Line { factor: a.factor / by, constant: a.constant / by })
    }

    fn remainder(&mut self, domains: &mut Domains, a: TermId, by: u128, depth: u32) -> Option<Line> {
        let a = self.exact_at(domains, a, depth)?;
        let by = i128::try_from(by).ok().filter(|&by| by > 0)?;
        match a.factor % by == 0 {
            true => Some(Line { factor: 0, constant: a.constant % by }),
            false => self.is_exact(a, 0, by - 1).then_some(a),
        }
    }
}

/// The factor as small in magnitude as it can be, the constant without a sign.
fn reduced(line: Line, width: u32) -> Line {
    let mask = fold::mask(width);
    Line { factor: fold::signed(line.factor as u128 & mask, width), constant: (line.constant as u128 & mask) as i128 }
}

fn rest_of(number: i128, modulus: u128) -> u128 {
    number.rem_euclid(modulus as i128) as u128
}

/// Both below two to the 64.
fn product_rest(a: u128, b: u128, modulus: u128) -> u128 {
    a * b % modulus
}

/// The greatest common divisor with the modulus, and a number whose product with `a` leaves it.
fn common_and_inverse(a: u128, modulus: u128) -> (u128, u128) {
    let (mut r, mut next_r) = (modulus as i128, a as i128);
    let (mut s, mut next_s) = (0i128, 1i128);
    while next_r != 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (s, next_s) = (next_s, s - quotient * next_s);
    }
    (r as u128, rest_of(s, modulus))
}

/// Pairs of numbers `(times, divisor)` such that `factor * divisor` and `times` are the same modulo two to the width: what Euclid's method
/// comes by.
fn fractions(factor: u128, width: u32) -> impl Iterator<Item = (u128, u128)> {
    let (mut r, mut next_r) = (1i128 << width, factor as i128);
    let (mut s, mut next_s) = (0i128, 1i128);
    std::iter::from_fn(move || {
        if next_r == 0 {
            return None;
        }
        let pair = (next_r as u128, next_s);
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (s, next_s) = (next_s, s - quotient * next_s);
        Some(pair)
    })
    .filter(|&(_, divisor)| divisor > 1)
    .map(|(times, divisor)| (times, divisor as u128))
}
