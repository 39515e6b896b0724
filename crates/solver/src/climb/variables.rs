//! What the search moves: symbols, or several that together are one number, and by how much.

use crate::dice::Dice;
use crate::ulps::{at, last, place};
use rustc_hash::FxHashSet;
use term::float::{Format, Rounding, from_signed};
use term::{SymbolId, TermId, Terms, View, fold};

/// Numbers that occur in conditions and are tried.
const MAX_NUMBERS: usize = 96;
/// Terms that are looked at.
const MAX_TERMS: usize = 4_096;

/// A number of the input.
pub(super) struct Variable {
    /// Places of the symbols it consists of and their widths, the lowest bits first.
    parts: Vec<(usize, u32)>,
    /// Whether it is used as a float.
    format: Option<Format>,
}

impl Variable {
    pub fn width(&self) -> u32 {
        self.parts.iter().map(|(_, width)| width).sum()
    }

    pub fn get(&self, point: &[u64]) -> u64 {
        let (mut value, mut lo) = (0, 0);
        for &(symbol, width) in &self.parts {
            value |= (point[symbol] & fold::mask(width) as u64) << lo;
            lo += width;
        }
        value
    }

    /// The point with another value of it.
    pub fn set(&self, point: &[u64], value: u64) -> Vec<u64> {
        let mut point = point.to_vec();
        let mut lo = 0;
        for &(symbol, width) in &self.parts {
            point[symbol] = value >> lo & fold::mask(width) as u64;
            lo += width;
        }
        point
    }

    /// By every power of two, up and down; for a byte, all values.
    pub fn moves(&self, now: u64) -> Vec<u64> {
        let width = self.width();
        if width <= 8 {
            return (0..1 << width).filter(|&value| value != now).collect();
        }
        let powers = |n: u32| (0..n).flat_map(|power| [1i128 << power, -(1i128 << power)]);
        match self.format {
            Some(format) if !format.is_nan(now.into()) => {
                let (here, end) = (place(format, now.into()), last(format));
                let places = powers(width - 1).map(|by| here + by).chain([-here]);
                places.filter(|place| place.abs() <= end).map(|place| at(format, place) as u64).collect()
            }
            Some(format) => [0, 1, -1].map(|n| from_signed(format, Rounding::NearestEven, n) as u64).to_vec(),
            None => powers(width).map(|by| (i128::from(now) + by) as u64 & fold::mask(width) as u64).collect(),
        }
    }

    /// A value not far from this one.
    pub fn nearby(&self, now: u64, dice: &mut Dice) -> u64 {
        let width = self.width();
        if width <= 8 {
            return dice.any() & fold::mask(width) as u64;
        }
        let by = (dice.any() >> dice.below(63).max(64 - u64::from(width - 1))) as i128;
        let by = if dice.below(2) == 0 { by } else { -by };
        match self.format {
            Some(format) if !format.is_nan(now.into()) => {
                let end = last(format);
                at(format, (place(format, now.into()) + by).clamp(-end, end)) as u64
            }
            _ => (i128::from(now) + by) as u64 & fold::mask(width) as u64,
        }
    }

    /// Any value: of a float, one of a usual size more often than the others.
    pub fn any(&self, dice: &mut Dice) -> u64 {
        let width = self.width();
        let bits = dice.any() & fold::mask(width) as u64;
        let Some(format) = self.format else { return bits };
        match dice.below(4) {
            0 => bits,
            1 => from_signed(format, Rounding::NearestEven, i128::from(dice.below(2_001)) - 1_000) as u64,
            _ => {
                let sign = if dice.below(2) == 0 { 0 } else { format.sign_bit() };
                let exponent = i64::from(format.bias()) - 12 + dice.below(25) as i64;
                let exponent = (exponent.max(0) as u128) << format.exponent_at();
                (sign | exponent | u128::from(bits) & format.fraction_mask()) as u64
            }
        }
    }
}

/// The variables that the conditions depend on. Symbols that are put together to one operand of a float operation are one.
pub(super) fn variables_of(terms: &Terms, conditions: &[TermId], symbols: &[SymbolId]) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    let mut taken: FxHashSet<usize> = FxHashSet::default();
    for t in below(terms, conditions) {
        let view = terms.view(t);
        let is_on_floats = match view {
            View::FloatUnary { arg, .. } => Format::find(terms.width(arg)).is_some(),
            View::FloatBinary { .. } | View::FloatCompare { .. } | View::Fma { .. } => true,
            _ => false,
        };
        if !is_on_floats {
            continue;
        }
        for operand in view.operands().filter(|operand| terms.width(*operand) <= 64) {
            let Some(parts) = parts_of(terms, operand, symbols) else { continue };
            if parts.iter().all(|(symbol, _)| !taken.contains(symbol)) {
                taken.extend(parts.iter().map(|(symbol, _)| *symbol));
                variables.push(Variable { parts, format: Format::find(terms.width(operand)) });
            }
        }
    }
    for (nth, &symbol) in symbols.iter().enumerate().filter(|(nth, _)| !taken.contains(nth)) {
        variables.push(Variable { parts: vec![(nth, terms.symbol_width(symbol))], format: None });
    }
    variables
}

/// The symbols that a term is a concatenation of, the lowest bits first. The sign of a float may be flipped or cut off.
fn parts_of(terms: &Terms, t: TermId, symbols: &[SymbolId]) -> Option<Vec<(usize, u32)>> {
    let (mut parts, mut stack) = (Vec::new(), vec![t]);
    while let Some(t) = stack.pop() {
        match terms.view(t) {
            View::Symbol(symbol) => parts.push((symbols.binary_search(&symbol).ok()?, terms.width(t))),
            View::Concat(hi, lo) => stack.extend([hi, lo]),
            _ => return None,
        }
    }
    let mut places: Vec<usize> = parts.iter().map(|(place, _)| *place).collect();
    places.sort_unstable();
    places.dedup();
    (places.len() == parts.len()).then_some(parts)
}

/// Constants of the conditions and their neighbours, and the numbers that are worth trying anywhere.
pub(super) fn numbers_of(terms: &Terms, conditions: &[TermId]) -> Vec<(u32, u64)> {
    let mut numbers = Vec::new();
    let constant = |t: TermId| Some((terms.width(t), u64::try_from(terms.as_const(t)?).ok()?));
    for (width, value) in below(terms, conditions).into_iter().filter_map(constant) {
        match Format::find(width) {
            Some(format) if !format.is_nan(value.into()) => {
                let here = place(format, value.into());
                numbers.extend([0, 1, -1].map(|by| (width, at(format, here + by) as u64)));
                numbers.push((width, value ^ format.sign_bit() as u64));
            }
            _ => numbers.extend([value, value.wrapping_add(1), value.wrapping_sub(1)].map(|value| (width, value))),
        }
        if numbers.len() > MAX_NUMBERS {
            break;
        }
    }
    for format in [Format::Half, Format::Single, Format::Double] {
        let edges = [
            0,
            format.sign_bit(),
            1,
            format.infinity(),
            format.sign_bit() | format.infinity(),
            format.default_nan(),
            format.largest(),
            from_signed(format, Rounding::NearestEven, 1),
            from_signed(format, Rounding::NearestEven, -1),
        ];
        numbers.extend(edges.map(|bits| (format.width(), bits as u64)));
    }
    numbers.iter_mut().for_each(|(width, value)| *value &= fold::mask(*width) as u64);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Terms below and including these, but not what is in arrays.
fn below(terms: &Terms, roots: &[TermId]) -> Vec<TermId> {
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    let (mut order, mut stack) = (Vec::new(), roots.to_vec());
    while let Some(t) = stack.pop() {
        if seen.len() < MAX_TERMS && !matches!(terms.view(t), View::Store { .. } | View::Table(_)) && seen.insert(t) {
            order.push(t);
            stack.extend(terms.view(t).operands());
        }
    }
    order
}
