//! What repeats, in words.

use explore::Means;
use ir::Module;
use term::{TermId, Terms, View, fold};
use vm::Region;

use super::cells::{Cell, Spot};
use super::round::{Round, symbol_of};
use super::sets::{Found, How};
use super::walk::Shape;

/// Conditions that are written out.
const MAX_CONDITIONS: usize = 4;

/// One sentence: which cycle it is, and what stays.
pub fn words(round: &Round, found: &Found, means: &Means) -> String {
    let what = match round.cut.shape {
        Shape::Loop => "this loop never ends",
        Shape::Recursion => "this recursion never ends",
    };
    let names = Names { round, terms: &means.machine.terms, module: &means.machine.image.module };
    format!("{what}: {}", names.stays(found))
}

struct Names<'a> {
    round: &'a Round,
    terms: &'a Terms,
    module: &'a Module,
}

impl Names<'_> {
    fn stays(&self, found: &Found) -> String {
        let cells: Vec<(usize, Cell)> = self.round.relevant_cells().collect();
        let visits = self.round.n_visits;
        let rounds = if visits == 1 { "a round".to_string() } else { format!("{visits} rounds") };
        match found.how {
            How::Repeats if cells.is_empty() => {
                format!("nothing that {rounds} changes decides whether there is another")
            }
            How::Repeats => {
                let values: Vec<String> = cells.iter().map(|(idx, cell)| self.value(*idx, *cell, found)).collect();
                let verb = if values.len() == 1 { "stays as it is" } else { "stay as they are" };
                format!("{} {verb} after {rounds}", values.join(", "))
            }
            How::Period(n_rounds) => {
                format!("after {n_rounds} times {rounds} all values it depends on are the same again")
            }
            How::Recurs => {
                let written: Option<Vec<String>> = found.set.iter().map(|cond| self.condition(*cond)).collect();
                match written {
                    Some(conditions) if conditions.is_empty() => "every value leads back".to_string(),
                    Some(conditions) if conditions.len() <= MAX_CONDITIONS => {
                        let verb = if conditions.len() == 1 { "holds" } else { "hold" };
                        format!("{} {verb} for ever", conditions.join(" and "))
                    }
                    _ => "a set of values is never left".to_string(),
                }
            }
        }
    }

    fn value(&self, idx: usize, cell: Cell, found: &Found) -> String {
        let value = u128::from(found.input.get(symbol_of(self.terms, cell.symbol)));
        let shown = match self.is_signed(cell.symbol) {
            true => fold::signed(value, cell.spot.bits()).to_string(),
            false => value.to_string(),
        };
        match self.name(idx, cell) {
            Some(name) => format!("{name} = {shown}"),
            None => format!("the value {shown}"),
        }
    }

    /// Whether a cell is compared as a signed number.
    fn is_signed(&self, symbol: TermId) -> bool {
        let is_compared = |t: TermId| self.terms.symbols(t).contains(&symbol_of(self.terms, symbol));
        let mut stack: Vec<TermId> = self.round.ways.iter().flat_map(|way| way.conds.iter().copied()).collect();
        while let Some(t) = stack.pop() {
            match self.terms.view(t) {
                View::Slt(a, b) if is_compared(a) || is_compared(b) => return true,
                View::Not(a) => stack.push(a),
                View::And(a, b) | View::Or(a, b) => stack.extend([a, b]),
                _ => {}
            }
        }
        false
    }

    fn name(&self, idx: usize, cell: Cell) -> Option<String> {
        match cell.spot {
            Spot::Memory { object, offset, n_bytes } if object.region == Region::Global => {
                let global = self.module.globals.get(object.idx as usize)?;
                let is_whole = offset == 0 && global.bytes == u64::from(n_bytes);
                Some(if is_whole { global.name.clone() } else { format!("{}+{offset}", global.name) })
            }
            Spot::Register { slot, .. } if self.round.cut.shape == Shape::Recursion => {
                let function = self.module.function(self.round.cut.func);
                let nth = function.params.iter().position(|param| param.reg.idx() as u32 == slot)?;
                function.param_names.get(nth).filter(|name| !name.is_empty()).cloned()
            }
            _ => self.input_name(self.round.start[idx]),
        }
    }

    /// The name of the input that a term is.
    fn input_name(&self, t: TermId) -> Option<String> {
        match self.terms.view(t) {
            View::Symbol(symbol) => {
                let name = self.terms.symbol_name(symbol);
                let plain = name.split('.').next().filter(|name| !name.starts_with('\u{0}'))?;
                Some(plain.to_string())
            }
            View::ZExt(a) | View::SExt(a) => self.input_name(a),
            _ => None,
        }
    }

    fn condition(&self, cond: TermId) -> Option<String> {
        let (a, op, b, is_signed) = match self.terms.view(cond) {
            View::Ult(a, b) => (a, "<", b, false),
            View::Slt(a, b) => (a, "<", b, true),
            View::Eq(a, b) => (a, "=", b, false),
            View::Not(inner) => match self.terms.view(inner) {
                View::Ult(a, b) => (a, ">=", b, false),
                View::Slt(a, b) => (a, ">=", b, true),
                View::Eq(a, b) => (a, "!=", b, false),
                _ => return None,
            },
            _ => return None,
        };
        Some(format!("{} {op} {}", self.operand(a, is_signed)?, self.operand(b, is_signed)?))
    }

    fn operand(&self, t: TermId, is_signed: bool) -> Option<String> {
        match self.terms.view(t) {
            View::Const(value) if is_signed => Some(fold::signed(value, self.terms.width(t)).to_string()),
            View::Const(value) => Some(value.to_string()),
            View::ZExt(a) | View::SExt(a) => self.operand(a, is_signed),
            View::Symbol(_) => match self.round.cells.iter().position(|cell| cell.symbol == t) {
                Some(idx) => self.name(idx, self.round.cells[idx]),
                None => self.input_name(t),
            },
            _ => None,
        }
    }
}
