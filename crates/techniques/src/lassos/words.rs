//! What repeats, in words.

use explore::Means;
use ir::{BaseKind, Field, Holding, Module, SourceType, SourceTypeId};
use term::{TermId, Terms, View, fold};
use vm::{ObjectId, Region};

use super::cells::{Cell, Spot};
use super::round::{Round, negative, symbol_of};
use super::sets::{Found, How};
use super::walk::{Cut, Shape};

/// Conditions that are written out.
const MAX_CONDITIONS: usize = 4;

/// One sentence: which cycle it is, and what stays.
pub fn words(round: &Round, found: &Found, means: &Means) -> String {
    let what = match round.cut.shape {
        Shape::Loop => "this loop",
        Shape::Recursion => "this recursion",
    };
    let names = Names { round, terms: &means.machine.terms, module: &means.machine.image.module };
    let ends = match round.counters.first() {
        None => "never ends".to_string(),
        Some(idx) => match names.name(*idx, round.cells[*idx]) {
            Some(Named { name, .. }) => format!("ends only when {name} overflows"),
            None => "ends only when a counter overflows".to_string(),
        },
    };
    format!("{what} {ends}: {}", names.stays(found))
}

/// A variable or a member of one, and its type where that is known.
struct Named {
    name: String,
    ty: Option<SourceTypeId>,
}

/// What stays, without saying of what.
pub fn stays(round: &Round, found: &Found, means: &Means) -> String {
    Names { round, terms: &means.machine.terms, module: &means.machine.image.module }.stays(found)
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
        let named = self.name(idx, cell);
        let ty = named.as_ref().and_then(|named| named.ty);
        let declared = ty.and_then(|ty| self.is_signed_type(ty));
        let shown = match ty.and_then(|ty| self.as_float(ty, value, cell.bits)) {
            Some(float) => float,
            None if declared.unwrap_or_else(|| self.is_compared_signed(cell.symbol)) => {
                fold::signed(value, cell.bits).to_string()
            }
            None => value.to_string(),
        };
        match named {
            Some(Named { name, .. }) => format!("{name} = {shown}"),
            None => format!("the value {shown}"),
        }
    }

    /// A number of a floating-point type.
    fn as_float(&self, ty: SourceTypeId, value: u128, bits: u32) -> Option<String> {
        match (self.module.ty(self.module.strip(ty)?), bits) {
            (SourceType::Base { kind: BaseKind::Float, .. }, 32) => Some(f32::from_bits(value as u32).to_string()),
            (SourceType::Base { kind: BaseKind::Float, .. }, 64) => Some(f64::from_bits(value as u64).to_string()),
            _ => None,
        }
    }

    fn is_signed_type(&self, ty: SourceTypeId) -> Option<bool> {
        match self.module.ty(self.module.strip(ty)?) {
            SourceType::Base { kind: BaseKind::Signed | BaseKind::Char, .. } => Some(true),
            SourceType::Base { kind: BaseKind::Unsigned | BaseKind::UnsignedChar | BaseKind::Bool, .. } => Some(false),
            _ => None,
        }
    }

    /// Whether a cell is compared as a signed number.
    fn is_compared_signed(&self, symbol: TermId) -> bool {
        let is_compared = |t: TermId| self.terms.symbols(t).contains(&symbol_of(self.terms, symbol));
        let mut stack: Vec<TermId> = self.round.ways.iter().flat_map(|way| way.conds.iter().copied()).collect();
        while let Some(t) = stack.pop() {
            match self.terms.view(t) {
                View::Slt(a, b) if is_compared(a) || is_compared(b) => return true,
                View::Extract { arg, .. } if negative(self.terms, t).is_some() && is_compared(arg) => return true,
                View::Not(a) => stack.push(a),
                View::And(a, b) | View::Or(a, b) => stack.extend([a, b]),
                _ => {}
            }
        }
        false
    }

    fn name(&self, idx: usize, cell: Cell) -> Option<Named> {
        let named = match cell.spot {
            Spot::Memory { object, offset, n_bytes } => self.name_in_memory(object, offset, u64::from(n_bytes)),
            Spot::Register { slot, .. } => self.name_in_register(slot),
        };
        named.or_else(|| Some(Named { name: self.input_name(self.round.start[idx])?, ty: None }))
    }

    fn name_in_memory(&self, id: ObjectId, offset: u64, n_bytes: u64) -> Option<Named> {
        let (_, object) = self.round.stem.state.memory.objects(id.region).nth(id.idx as usize)?;
        let whole = match id.region {
            Region::Global => self.module.globals.get(id.idx as usize)?.name.clone(),
            Region::Stack => {
                let function = self.module.function(object.site.func);
                function.variables.get(object.variable? as usize)?.name.clone()
            }
            Region::Heap | Region::Input => return None,
        };
        let mut named = Named { name: whole, ty: object.ty };
        if !(self.descend(&mut named, offset, n_bytes) || offset == 0 && object.size == n_bytes) {
            named = Named { name: format!("{}+{offset}", named.name), ty: None };
        }
        Some(named)
    }

    /// From a variable to the member at an offset; false where that is no member of its own.
    fn descend(&self, named: &mut Named, mut offset: u64, n_bytes: u64) -> bool {
        loop {
            let Some(ty) = named.ty.and_then(|ty| self.module.strip(ty)) else { return false };
            match self.module.ty(ty) {
                SourceType::Array { of: Some(of), .. } => {
                    let Some(size) = self.module.size_of(*of).filter(|size| *size > 0) else { return false };
                    *named = Named { name: format!("{}[{}]", named.name, offset / size), ty: Some(*of) };
                    offset %= size;
                }
                SourceType::Struct { fields, .. } => {
                    let holds = |field: &&Field| {
                        (field.bit_offset..field.bit_offset + field.bits).contains(&(offset * 8)) && !field.is_bit_field
                    };
                    let Some(field) = fields.iter().find(holds) else { return false };
                    *named = Named { name: format!("{}.{}", named.name, field.name), ty: field.ty };
                    offset -= field.bit_offset / 8;
                }
                _ => return offset == 0 && self.module.size_of(ty) == Some(n_bytes),
            }
        }
    }

    fn name_in_register(&self, slot: u32) -> Option<Named> {
        let Cut { func, block, shape, .. } = self.round.cut;
        let function = self.module.function(func);
        let is_here = |holding: &&Holding| holding.block == block && holding.reg.idx() as u32 == slot;
        if let Some(Holding { variable, .. }) = function.holdings.iter().find(is_here) {
            return Some(Named { name: variable.name.clone(), ty: variable.ty });
        }
        if shape != Shape::Recursion {
            return None;
        }
        let nth = function.params.iter().position(|param| param.reg.idx() as u32 == slot)?;
        let name = function.param_names.get(nth).filter(|name| !name.is_empty())?.clone();
        Some(Named { name, ty: None })
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
        let inner = match self.terms.view(cond) {
            View::Not(inner) => inner,
            _ => cond,
        };
        if let Some(number) = negative(self.terms, inner) {
            let op = if inner == cond { "<" } else { ">=" };
            return Some(format!("{} {op} 0", self.operand(number, true)?));
        }
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
                Some(idx) => self.name(idx, self.round.cells[idx]).map(|named| named.name),
                None => self.input_name(t),
            },
            _ => None,
        }
    }
}
