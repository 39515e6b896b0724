//! Terms in place of symbols.

use rustc_hash::FxHashMap;

use crate::node::{SymbolId, TermId, View};
use crate::{Sort, Terms};

/// How deep terms are walked.
const MAX_DEPTH: u32 = 1_000;

/// What stands for which symbol.
#[derive(Clone, Default)]
pub struct Replacement {
    bound: FxHashMap<SymbolId, TermId>,
    replaced: FxHashMap<TermId, TermId>,
}

impl Replacement {
    /// `value`, of the same width, stands for the symbol from now on. What stood for it first stays.
    pub fn bind(&mut self, symbol: SymbolId, value: TermId) {
        self.bound.entry(symbol).or_insert(value);
        self.replaced.clear();
    }

    /// What stands for a symbol; one that nothing was bound to stands for itself.
    pub fn of_symbol(&self, terms: &Terms, symbol: SymbolId) -> TermId {
        self.bound.get(&symbol).copied().unwrap_or_else(|| terms.symbol_term(symbol))
    }

    /// The term with every symbol replaced by what stands for it. `None` when it is too deep.
    pub fn apply(&mut self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        self.replace(terms, t, MAX_DEPTH)
    }

    fn replace(&mut self, terms: &mut Terms, t: TermId, depth: u32) -> Option<TermId> {
        let depth = depth.checked_sub(1)?;
        let is_same = |symbol: &SymbolId| self.of_symbol(terms, *symbol) == terms.symbol_term(*symbol);
        if terms.symbols(t).iter().all(is_same) {
            return Some(t);
        }
        if let Some(known) = self.replaced.get(&t) {
            return Some(*known);
        }
        let view = terms.view(t);
        let width = if terms.sort(t) == Sort::Array { 0 } else { terms.width(t) };
        let mut of = |terms: &mut Terms, t: TermId| self.replace(terms, t, depth);
        let made = match view {
            View::Const(_) => t,
            View::Symbol(symbol) => self.of_symbol(terms, symbol),
            View::Not(a) => {
                let a = of(terms, a)?;
                terms.not(a)
            }
            View::Neg(a) => {
                let a = of(terms, a)?;
                terms.neg(a)
            }
            View::ZExt(a) => {
                let a = of(terms, a)?;
                terms.zext(a, width)
            }
            View::SExt(a) => {
                let a = of(terms, a)?;
                terms.sext(a, width)
            }
            View::Extract { arg, lo } => {
                let arg = of(terms, arg)?;
                terms.extract(arg, lo + width - 1, lo)
            }
            View::Ite(cond, a, b) => {
                let (cond, a, b) = (of(terms, cond)?, of(terms, a)?, of(terms, b)?);
                terms.ite(cond, a, b)
            }
            View::FloatUnary { op, rounding, arg } => {
                let arg = of(terms, arg)?;
                terms.float_unary(op, rounding, arg, width)
            }
            View::Fma { rounding, a, b, c } => {
                let (a, b, c) = (of(terms, a)?, of(terms, b)?, of(terms, c)?);
                terms.ffma(rounding, a, b, c)
            }
            View::Store { array, index, byte } => {
                let (array, index, byte) = (of(terms, array)?, of(terms, index)?, of(terms, byte)?);
                terms.store(array, index, byte)
            }
            View::Table(table) => {
                let elements = terms.table_elements(table).to_vec();
                let elements: Option<Vec<TermId>> = elements.into_iter().map(|element| of(terms, element)).collect();
                terms.table(&elements?)
            }
            View::And(a, b)
            | View::Or(a, b)
            | View::Xor(a, b)
            | View::Add(a, b)
            | View::Sub(a, b)
            | View::Mul(a, b)
            | View::UDiv(a, b)
            | View::URem(a, b)
            | View::SDiv(a, b)
            | View::SRem(a, b)
            | View::Shl(a, b)
            | View::LShr(a, b)
            | View::AShr(a, b)
            | View::Concat(a, b)
            | View::Eq(a, b)
            | View::Ult(a, b)
            | View::Slt(a, b)
            | View::Select { array: a, index: b }
            | View::FloatBinary { a, b, .. }
            | View::FloatCompare { a, b, .. } => {
                let (a, b) = (of(terms, a)?, of(terms, b)?);
                binary(terms, view, a, b)
            }
        };
        self.replaced.insert(t, made);
        Some(made)
    }
}

/// The operator of `view` on other operands.
fn binary(terms: &mut Terms, view: View, a: TermId, b: TermId) -> TermId {
    match view {
        View::And(..) => terms.and(a, b),
        View::Or(..) => terms.or(a, b),
        View::Xor(..) => terms.xor(a, b),
        View::Add(..) => terms.add(a, b),
        View::Sub(..) => terms.sub(a, b),
        View::Mul(..) => terms.mul(a, b),
        View::UDiv(..) => terms.udiv(a, b),
        View::URem(..) => terms.urem(a, b),
        View::SDiv(..) => terms.sdiv(a, b),
        View::SRem(..) => terms.srem(a, b),
        View::Shl(..) => terms.shl(a, b),
        View::LShr(..) => terms.lshr(a, b),
        View::AShr(..) => terms.ashr(a, b),
        View::Concat(..) => terms.concat(a, b),
        View::Eq(..) => terms.eq(a, b),
        View::Ult(..) => terms.ult(a, b),
        View::Slt(..) => terms.slt(a, b),
        View::Select { .. } => terms.select(a, b),
        View::FloatBinary { op, rounding, .. } => terms.float_binary(op, rounding, a, b),
        View::FloatCompare { op, .. } => terms.float_compare(op, a, b),
        _ => unreachable!("called for two operands only"),
    }
}
