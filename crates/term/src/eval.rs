//! Inputs, and the value of a term under one.

use crate::node::{SymbolId, TermId, View};
use crate::{Chunks, Terms};
use crate::{float, fold};

/// A value for each symbol; those without one are zero. Cloning shares.
#[derive(Clone, Default, Debug)]
pub struct Assignment {
    values: Chunks<u64>,
}

impl Assignment {
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// The values in the order of the symbols' numbers.
    pub fn from_values(values: Vec<u64>) -> Assignment {
        Assignment { values: values.into_iter().collect() }
    }

    #[inline]
    pub fn get(&self, symbol: SymbolId) -> u64 {
        self.values.get(symbol.index()).copied().unwrap_or(0)
    }

    /// Changes one value; the copies made earlier keep theirs.
    #[inline]
    pub fn set(&mut self, symbol: SymbolId, value: u64) {
        if self.get(symbol) != value {
            *self.values.get_mut(symbol.index()) = value;
        }
    }

    /// Whether the two are one shared value, not only equal.
    #[inline]
    pub fn same(&self, other: &Assignment) -> bool {
        self.values.same(&other.values)
    }
}

impl PartialEq for Assignment {
    fn eq(&self, other: &Assignment) -> bool {
        let is_in = |one: &Assignment, two: &Assignment| {
            one.values.iter().all(|(index, value)| *value == two.values.get(index).copied().unwrap_or(0))
        };
        self.same(other) || is_in(self, other) && is_in(other, self)
    }
}

impl Eq for Assignment {}

/// The evaluator: remembers the value of every term it met under the current assignment.
///
/// Changing the assignment costs nothing: entries carry the epoch in which they were computed. It holds a clone of the
/// assignment, so that its address identifies it.
pub struct Eval {
    current: Assignment,
    /// Never 0, which is the epoch of what was never computed.
    epoch: u32,
    epochs: Vec<u32>,
    values: Vec<u128>,
    stack: Vec<TermId>,
}

impl Default for Eval {
    fn default() -> Eval {
        Eval::new()
    }
}

impl Eval {
    pub fn new() -> Eval {
        Eval { current: Assignment::new(), epoch: 1, epochs: Vec::new(), values: Vec::new(), stack: Vec::new() }
    }

    /// Makes this the assignment to evaluate under; what is remembered stays if it is the same one.
    #[inline]
    pub fn set(&mut self, assignment: &Assignment) {
        if self.current.same(assignment) {
            return;
        }
        self.current = assignment.clone();
        self.forget();
    }

    fn forget(&mut self) {
        self.epoch = match self.epoch.checked_add(1) {
            Some(epoch) => epoch,
            None => {
                self.epochs.fill(0);
                1
            }
        };
    }

    /// The value of a bit-vector term under an assignment.
    #[inline]
    pub fn eval(&mut self, terms: &Terms, assignment: &Assignment, t: TermId) -> u128 {
        self.set(assignment);
        self.value(terms, t)
    }

    /// Whether a one-bit term holds.
    #[inline]
    pub fn holds(&mut self, terms: &Terms, assignment: &Assignment, t: TermId) -> bool {
        self.eval(terms, assignment, t) == 1
    }

    #[inline]
    fn value(&mut self, terms: &Terms, t: TermId) -> u128 {
        if self.epochs.len() < terms.len() {
            self.epochs.resize(terms.len(), 0);
            self.values.resize(terms.len(), 0);
        }
        if let Some(value) = self.known(t) {
            return value;
        }
        debug_assert!(self.stack.is_empty());
        self.stack.push(t);
        while let Some(&top) = self.stack.last() {
            if let Some(value) = self.step(terms, top) {
                self.stack.pop();
                self.epochs[top.index()] = self.epoch;
                self.values[top.index()] = value;
            }
        }
        self.values[t.index()]
    }

    fn known(&self, t: TermId) -> Option<u128> {
        (self.epochs[t.index()] == self.epoch).then(|| self.values[t.index()])
    }

    /// The value of an operand, or a request to compute it first.
    #[inline]
    fn want(&mut self, t: TermId) -> Option<u128> {
        let known = self.known(t);
        if known.is_none() {
            self.stack.push(t);
        }
        known
    }

    fn want2(&mut self, a: TermId, b: TermId) -> Option<(u128, u128)> {
        match (self.want(a), self.want(b)) {
            (Some(a), Some(b)) => Some((a, b)),
            _ => None,
        }
    }

    /// The value of a term whose needed operands are known; otherwise pushes those and gives `None`.
    fn step(&mut self, terms: &Terms, t: TermId) -> Option<u128> {
        use View::*;
        if let Some(value) = self.known(t) {
            return Some(value);
        }
        let width = terms.width(t);
        let value = match terms.view(t) {
            Const(value) => value,
            Symbol(symbol) => u128::from(self.current.get(symbol)) & fold::mask(width),
            Not(a) => fold::not(self.want(a)?, width),
            Neg(a) => fold::neg(self.want(a)?, width),
            ZExt(a) => self.want(a)?,
            SExt(a) => fold::sext(self.want(a)?, terms.width(a), width),
            Extract { arg, lo } => fold::extract(self.want(arg)?, lo + width - 1, lo),
            Ite(c, a, b) => match self.want(c)? {
                1 => self.want(a)?,
                _ => self.want(b)?,
            },
            FloatUnary { op, rounding, arg } => float::unary(op, rounding, terms.width(arg), width, self.want(arg)?),
            Fma { rounding, a, b, c } => {
                let (c, (x, y)) = (self.want(c)?, self.want2(a, b)?);
                float::fma(rounding, width, x, y, c)
            }
            Select { array, index } => return self.step_select(terms, array, index),
            Table(_) | Store { .. } => unreachable!("arrays are evaluated at an index, by select"),
            view => {
                let mut operands = view.operands();
                let (a, b) = operands.next().zip(operands.next()).expect("all others have two operands");
                let (x, y) = self.want2(a, b)?;
                binary(terms, view, width, x, y)
            }
        };
        Some(value)
    }

    /// Walks the stores from the newest to the oldest; asks for all unknown store indices at once, so that a chain of n
    /// stores is walked twice and not n times.
    fn step_select(&mut self, terms: &Terms, array: TermId, index: TermId) -> Option<u128> {
        let at = self.want(index)?;
        let mut missing = false;
        let mut array = array;
        loop {
            match terms.view(array) {
                View::Store { array: base, index, byte } => {
                    match terms.as_const(index).or_else(|| self.want(index)) {
                        Some(stored) if stored == at && !missing => return self.want(byte),
                        Some(_) => {}
                        None => missing = true,
                    }
                    array = base;
                }
                View::Table(table) if !missing => {
                    let element = usize::try_from(at).ok().and_then(|at| terms.table_elements(table).get(at));
                    return match element {
                        Some(&element) => self.want(element),
                        None => Some(0),
                    };
                }
                _ => {
                    debug_assert!(missing, "an array is a chain of stores on a table");
                    return None;
                }
            }
        }
    }
}

/// What an operator with two operands makes of their values.
pub(crate) fn binary(terms: &Terms, view: View, width: u32, x: u128, y: u128) -> u128 {
    use View::*;
    match view {
        And(..) => x & y,
        Or(..) => x | y,
        Xor(..) => x ^ y,
        Add(..) => fold::add(x, y, width),
        Sub(..) => fold::sub(x, y, width),
        Mul(..) => fold::mul(x, y, width),
        UDiv(..) => fold::udiv(x, y, width),
        URem(..) => fold::urem(x, y),
        SDiv(..) => fold::sdiv(x, y, width),
        SRem(..) => fold::srem(x, y, width),
        Shl(..) => fold::shl(x, y, width),
        LShr(..) => fold::lshr(x, y, width),
        AShr(..) => fold::ashr(x, y, width),
        Concat(_, low) => x << terms.width(low) | y,
        Eq(..) => u128::from(x == y),
        Ult(..) => fold::ult(x, y),
        Slt(a, _) => fold::slt(x, y, terms.width(a)),
        FloatBinary { op, rounding, .. } => float::binary(op, rounding, width, x, y),
        FloatCompare { op, a, .. } => u128::from(float::compare(op, terms.width(a), x, y)),
        _ => unreachable!("not an operator with two operands"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An evaluator that has seen nothing yet knows nothing, under an input without a value too.
    #[test]
    fn a_fresh_evaluator_knows_nothing() {
        let mut terms = Terms::new();
        let x = terms.symbol("x", 32);
        let seven = terms.constant(7, 32);
        let differs = terms.ne(x, seven);
        assert!(Eval::default().holds(&terms, &Assignment::new(), differs));
        assert!(Eval::new().holds(&terms, &Assignment::new(), differs));
    }
}
