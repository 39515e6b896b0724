//! Terms as sums of digits: factors and a constant, modulo two to the width.

use crate::domain::Domains;
use crate::possible::Possible;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Graphs, SymbolId, TermId, Terms, View, fold};

/// `constant + Σ factor * (symbol - its smallest value)`, modulo two to the width. Factors are as small as they can be in
/// magnitude, and the constant is between zero and two to the width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    /// By the place of the symbol among all; none is zero.
    pub factors: Vec<(usize, i128)>,
    pub constant: i128,
}

/// Forms of terms, remembered.
pub(super) struct Forms<'a> {
    terms: &'a Terms,
    possible: &'a [Possible],
    known: FxHashMap<TermId, Option<Rc<Form>>>,
}

const MAX_DEPTH: u32 = 200;

/// A number modulo two to the width, as small in magnitude as it can be.
fn smallest(value: i128, width: u32) -> i128 {
    fold::signed(value as u128 & fold::mask(width), width)
}

impl<'a> Forms<'a> {
    pub fn new(terms: &'a Terms, possible: &'a [Possible]) -> Forms<'a> {
        Forms { terms, possible, known: FxHashMap::default() }
    }

    pub fn of(&mut self, domains: &mut Domains, t: TermId) -> Option<Rc<Form>> {
        self.at_depth(domains, t, MAX_DEPTH)
    }

    fn at_depth(&mut self, domains: &mut Domains, t: TermId, depth: u32) -> Option<Rc<Form>> {
        if let Some(form) = self.known.get(&t) {
            return form.clone();
        }
        let form = self.find(domains, t, depth.checked_sub(1)?).map(Rc::new);
        self.known.insert(t, form.clone());
        form
    }

    fn find(&mut self, domains: &mut Domains, t: TermId, depth: u32) -> Option<Form> {
        let (terms, width) = (self.terms, self.terms.width(t));
        if width > 64 {
            return None;
        }
        match terms.view(t) {
            View::Const(value) => {
                return Some(self.reduced(Form { factors: Vec::new(), constant: value as i128 }, width));
            }
            View::Symbol(symbol) => return Some(self.of_symbol(symbol)),
            _ => {}
        }
        if let &[symbol] = terms.symbols(t)
            && terms.symbol_width(symbol) <= Graphs::MAX_WIDTH
        {
            return self.of_graph(domains, t, symbol);
        }
        let form = match terms.view(t) {
            View::Add(a, b) | View::Sub(a, b) => {
                let times = if matches!(terms.view(t), View::Add(..)) { 1 } else { -1 };
                let (a, b) = (self.at_depth(domains, a, depth)?, self.at_depth(domains, b, depth)?);
                sum(&a, &b, times)?
            }
            // Of one bit.
            View::Xor(a, b) if width == 1 => {
                let (a, b) = (self.at_depth(domains, a, depth)?, self.at_depth(domains, b, depth)?);
                sum(&a, &b, 1)?
            }
            View::Neg(a) => times(&*self.at_depth(domains, a, depth)?, -1)?,
            View::Not(a) => {
                let mut form = times(&*self.at_depth(domains, a, depth)?, -1)?;
                form.constant -= 1;
                form
            }
            View::Mul(a, k) => {
                let factor = smallest(terms.as_const(k)? as i128, width);
                times(&*self.at_depth(domains, a, depth)?, factor)?
            }
            View::Shl(a, by) => {
                let by = terms.as_const(by).filter(|&by| by < u128::from(width))?;
                times(&*self.at_depth(domains, a, depth)?, smallest(1 << by, width))?
            }
            View::ZExt(a) => {
                let form = self.at_depth(domains, a, depth)?;
                self.is_exact(&form, 0, fold::mask(terms.width(a)) as i128).then(|| (*form).clone())?
            }
            View::SExt(a) => {
                let (form, narrow) = (self.at_depth(domains, a, depth)?, terms.width(a));
                let mut form = (*form).clone();
                form.constant = smallest(form.constant, narrow);
                let top = 1i128 << (narrow - 1);
                self.is_exact(&form, -top, top - 1).then_some(form)?
            }
            View::Extract { arg, lo: 0 } => (*self.at_depth(domains, arg, depth)?).clone(),
            View::Concat(hi, lo) => {
                let n_low = terms.width(lo);
                let (hi, lo) = (self.at_depth(domains, hi, depth)?, self.at_depth(domains, lo, depth)?);
                if !self.is_exact(&lo, 0, fold::mask(n_low) as i128) {
                    return None;
                }
                sum(&lo, &hi, 1 << n_low)?
            }
            _ => return None,
        };
        Some(self.reduced(form, width))
    }

    fn reduced(&self, mut form: Form, width: u32) -> Form {
        form.factors.iter_mut().for_each(|(_, factor)| *factor = smallest(*factor, width));
        form.factors.retain(|(_, factor)| *factor != 0);
        form.constant &= fold::mask(width) as i128;
        form
    }

    fn of_symbol(&self, symbol: SymbolId) -> Form {
        let at = self.at(symbol);
        let possible = &self.possible[at];
        // The only value of a symbol is a constant.
        let factors = if possible.lo < possible.hi { vec![(at, 1)] } else { Vec::new() };
        self.reduced(Form { factors, constant: i128::from(possible.lo) }, self.terms.symbol_width(symbol))
    }

    fn at(&self, symbol: SymbolId) -> usize {
        let at = self.possible.binary_search_by_key(&symbol, |possible| possible.symbol);
        at.expect("every symbol of the conditions is there")
    }

    /// Whatever is done to a digit, if each next value of it makes the same difference.
    fn of_graph(&self, domains: &mut Domains, t: TermId, symbol: SymbolId) -> Option<Form> {
        let width = self.terms.width(t);
        let at = self.at(symbol);
        let graph = domains.graph(self.terms, t)?;
        let values = &graph[self.possible[at].lo as usize..=self.possible[at].hi as usize];
        let step = values.get(1).map_or(0, |second| fold::sub(*second, values[0], width));
        if !values.windows(2).all(|pair| fold::sub(pair[1], pair[0], width) == step) {
            return None;
        }
        Some(self.reduced(Form { factors: vec![(at, step as i128)], constant: values[0] as i128 }, width))
    }

    /// Whether the sum as it stands lies between these for all values of the digits.
    pub fn is_exact(&self, form: &Form, lo: i128, hi: i128) -> bool {
        let (mut least, mut most) = (form.constant, form.constant);
        for &(at, factor) in &form.factors {
            let possible = &self.possible[at];
            let Some(far) = factor.checked_mul(i128::from(possible.hi - possible.lo)) else { return false };
            let side = if far < 0 { &mut least } else { &mut most };
            let Some(sum) = side.checked_add(far) else { return false };
            *side = sum;
        }
        lo <= least && most <= hi
    }
}

fn times(form: &Form, factor: i128) -> Option<Form> {
    sum(&Form::default(), form, factor)
}

/// `a + times * b`; `None` where that is beyond what can be counted.
fn sum(a: &Form, b: &Form, times: i128) -> Option<Form> {
    let mut factors = a.factors.clone();
    for &(at, factor) in &b.factors {
        let more = factor.checked_mul(times)?;
        match factors.iter_mut().find(|(other, _)| *other == at) {
            Some((_, here)) => *here = here.checked_add(more)?,
            None => factors.push((at, more)),
        }
    }
    factors.sort_unstable_by_key(|&(at, _)| at);
    Some(Form { factors, constant: a.constant.checked_add(b.constant.checked_mul(times)?)? })
}
