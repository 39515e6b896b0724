//! A round over unbounded integers: what it would be if nothing wrapped around.
//!
//! The paper solves for linear inequalities over the rationals by Farkas' lemma. Here the same conditions are tried as over the
//! machine's numbers, on a round in which every value has room to grow: cells hold up to 41 bits, one round computes in
//! 64. Whether linear conditions imply each other is decided by small numbers (a counterexample lies where some of them are
//! tight), so what holds with this room holds for all integers, as long as coefficients are as small as a program's.
//!
//! Such a set says nothing about the program as it runs: there the numbers do wrap around. It is told beside the
//! findings and never as one.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{SymbolId, TermId, Terms, View};

use super::cells::Cell;
use super::round::{Round, Way, negative, symbol_of};
use super::walk::Walker;

/// Values have this many bits, computations twice as many.
const NARROW: u32 = 32;
const WIDE: u32 = 64;
/// Cells stay below the power of two with this exponent, above its negative.
const ROOM: u32 = 40;

/// The round without wrapping around; `None` where it is not linear, or has wider values.
pub fn widened(round: &Round, terms: &mut Terms) -> Option<Round> {
    if round.has_floats || round.cells.iter().any(|cell| cell.bits > NARROW) {
        return None;
    }
    let conds = round.ways.iter().flat_map(|way| &way.conds);
    let sign = if conds.into_iter().any(|cond| compares_signed(terms, *cond)) { Sign::Signed } else { Sign::Unsigned };
    let mut cells = Vec::with_capacity(round.cells.len());
    let mut widening = Widening { symbols: FxHashMap::default(), rigid: FxHashMap::default(), sign };
    for cell in &round.cells {
        let symbol = symbol_of(terms, cell.symbol);
        let name = format!("{}!wide", terms.symbol_name(symbol));
        let wide = terms.symbol(&name, WIDE);
        widening.symbols.insert(symbol, wide);
        cells.push(Cell { symbol: wide, bits: WIDE, ..*cell });
    }
    let mut ways = Vec::with_capacity(round.ways.len());
    for way in &round.ways {
        let conds = way.conds.iter().map(|cond| widening.condition(terms, *cond)).collect::<Option<Vec<_>>>()?;
        let mut updates = Vec::with_capacity(way.updates.len());
        for (idx, update) in way.updates.iter().enumerate() {
            // What does not matter may be anything.
            updates.push(match round.relevant[idx] {
                true => widening.number(terms, *update)?,
                false => cells[idx].symbol,
            });
        }
        ways.push(Way { conds, updates });
    }
    let start = round.start.iter().map(|start| sign.widen(terms, *start)).collect();
    let mut condition = round.stem.condition.clone();
    for cell in &cells {
        let (least, most) = (terms.constant(u128::from((1u64 << ROOM).wrapping_neg()), WIDE), 1 << ROOM);
        let most = terms.constant(most, WIDE);
        let (above, below) = (terms.sle(least, cell.symbol), terms.sle(cell.symbol, most));
        condition.add(terms, above);
        condition.add(terms, below);
    }
    let stem = Walker { condition, ..round.stem.clone() };
    let (cut, rest, n_visits) = (round.cut, round.rest, round.n_visits);
    let (relevant, counters) = (round.relevant.clone(), round.counters.clone());
    Some(Round { cut, cells, start, stem, ways, rest, n_visits, relevant, counters, has_floats: false })
}

/// What the bits of a value mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
}

impl Sign {
    fn widen(self, terms: &mut Terms, t: TermId) -> TermId {
        match self {
            Sign::Signed => terms.sext(t, WIDE),
            Sign::Unsigned => terms.zext(t, WIDE),
        }
    }
}

fn compares_signed(terms: &Terms, cond: TermId) -> bool {
    let mut stack = vec![cond];
    let mut seen = FxHashSet::default();
    while let Some(t) = stack.pop() {
        match terms.view(t) {
            View::Slt(..) => return true,
            View::Extract { .. } if negative(terms, t).is_some() => return true,
            view if seen.insert(t) => stack.extend(view.operands()),
            _ => {}
        }
    }
    false
}

struct Widening {
    symbols: FxHashMap<SymbolId, TermId>,
    rigid: FxHashMap<TermId, TermId>,
    sign: Sign,
}

impl Widening {
    fn is_rigid(&self, terms: &Terms, t: TermId) -> bool {
        terms.symbols(t).iter().all(|symbol| !self.symbols.contains_key(symbol))
    }

    fn number(&mut self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        if let View::Const(value) = terms.view(t) {
            // A negative number is added where the program subtracts.
            return Some(terms.constant(term::fold::sext(value, terms.width(t), WIDE), WIDE));
        }
        if terms.width(t) > NARROW {
            return None;
        }
        if self.is_rigid(terms, t) {
            let sign = self.sign;
            return Some(*self.rigid.entry(t).or_insert_with(|| sign.widen(terms, t)));
        }
        let mut both = |terms: &mut Terms, a, b| Some((self.number(terms, a)?, self.number(terms, b)?));
        Some(match terms.view(t) {
            View::Symbol(symbol) => *self.symbols.get(&symbol)?,
            View::Add(a, b) => both(terms, a, b).map(|(a, b)| terms.add(a, b))?,
            View::Sub(a, b) => both(terms, a, b).map(|(a, b)| terms.sub(a, b))?,
            View::Mul(a, b) if terms.is_const(a) || terms.is_const(b) => {
                both(terms, a, b).map(|(a, b)| terms.mul(a, b))?
            }
            View::Neg(a) => {
                let a = self.number(terms, a)?;
                terms.neg(a)
            }
            View::ZExt(a) | View::SExt(a) => self.number(terms, a)?,
            View::Ite(cond, a, b) => {
                let cond = self.condition(terms, cond)?;
                let (a, b) = (self.number(terms, a)?, self.number(terms, b)?);
                terms.ite(cond, a, b)
            }
            _ => return None,
        })
    }

    fn condition(&mut self, terms: &mut Terms, cond: TermId) -> Option<TermId> {
        if self.is_rigid(terms, cond) {
            return Some(cond);
        }
        Some(match terms.view(cond) {
            View::Slt(a, b) | View::Ult(a, b) => {
                let (a, b) = (self.number(terms, a)?, self.number(terms, b)?);
                terms.slt(a, b)
            }
            View::Eq(a, b) if terms.width(a) > 1 => {
                let (a, b) = (self.number(terms, a)?, self.number(terms, b)?);
                terms.eq(a, b)
            }
            View::Extract { .. } => {
                let number = negative(terms, cond)?;
                let (number, zero) = (self.number(terms, number)?, terms.constant(0, WIDE));
                terms.slt(number, zero)
            }
            View::Not(a) => {
                let a = self.condition(terms, a)?;
                terms.not(a)
            }
            View::And(a, b) => {
                let (a, b) = (self.condition(terms, a)?, self.condition(terms, b)?);
                terms.and(a, b)
            }
            View::Or(a, b) => {
                let (a, b) = (self.condition(terms, a)?, self.condition(terms, b)?);
                terms.or(a, b)
            }
            _ => return None,
        })
    }
}
