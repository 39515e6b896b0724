//! Byte arrays: literal tables, `store` and `select`. Indices are 64 bits wide; a table is zero beyond its end.

use crate::Terms;
use crate::fold;
use crate::node::{Op, TermId, View};

impl Terms {
    /// How many stores a `select` with a constant index looks through.
    const MAX_STORES: usize = 64;
    /// Tables up to this length take a store at a constant index as a new table.
    const SMALL_TABLE: usize = 256;

    /// The array whose byte `i` is `elements[i]`, and zero beyond.
    pub fn table(&mut self, elements: &[TermId]) -> TermId {
        debug_assert!(elements.iter().all(|&byte| self.width(byte) == 8));
        self.make_table(elements)
    }

    /// The table of these constant bytes.
    pub fn table_of_bytes(&mut self, bytes: &[u8]) -> TermId {
        let elements: Vec<TermId> = bytes.iter().map(|&byte| self.byte_constant(byte)).collect();
        self.make_table(&elements)
    }

    pub fn store(&mut self, array: TermId, index: TermId, byte: TermId) -> TermId {
        debug_assert_eq!((self.width(index), self.width(byte)), (64, 8));
        match self.view(array) {
            // match: (store (store a i x) i y)       result: (store a i y)
            View::Store { array: base, index: same, .. } if same == index => return self.store(base, index, byte),
            // match: (store (table ...) K x), K inside a small table   result: the changed table
            View::Table(table) => {
                let elements = self.table_elements(table);
                if let Some(position) = self.as_const(index)
                    && elements.len() <= Self::SMALL_TABLE
                    && position < elements.len() as u128
                {
                    let mut elements = elements.to_vec();
                    elements[position as usize] = byte;
                    return self.make_table(&elements);
                }
            }
            _ => {}
        }
        self.make3(Op::Store, 0, array, index, byte)
    }

    pub fn select(&mut self, array: TermId, index: TermId) -> TermId {
        debug_assert_eq!(self.width(index), 64);
        let mut array = array;
        for _ in 0..Self::MAX_STORES {
            let View::Store { array: base, index: at, byte } = self.view(array) else { break };
            // match: (select (store a i x) i)        result: x
            if at == index {
                return byte;
            }
            // match: (select (store a i x) j), i and j certainly different    result: (select a j)
            if !self.certainly_different(at, index) {
                break;
            }
            array = base;
        }
        if let View::Table(table) = self.view(array)
            && let Some(result) = self.select_of_table(array, table, index)
        {
            return result;
        }
        self.make2(Op::Select, 8, array, index)
    }

    fn select_of_table(&mut self, array: TermId, table: crate::TableId, index: TermId) -> Option<TermId> {
        let elements = self.table_elements(table);
        match self.view(index) {
            // match: (select (table ...) K)          result: element K, or 0 beyond the end
            View::Const(position) => {
                let element = usize::try_from(position).ok().and_then(|position| elements.get(position).copied());
                return Some(element.unwrap_or(self.byte_constant(0)));
            }
            // match: (select (table ...) (ite c K1 K2))   result: (ite c element K1, element K2)
            View::Ite(c, x, y) if self.is_const(x) && self.is_const(y) => {
                let (x, y) = (self.select(array, x), self.select(array, y));
                return Some(self.ite(c, x, y));
            }
            _ => {}
        }
        // match: (select (table ...) i), i with one unknown bit c   result: (ite c element i with c one, with c zero)
        if let Some((c, with_zero, with_one)) = self.one_bit(index) {
            let (with_one, with_zero) = (self.constant(with_one, 64), self.constant(with_zero, 64));
            let (x, y) = (self.select(array, with_one), self.select(array, with_zero));
            return Some(self.ite(c, x, y));
        }
        let elements = self.table_elements(table);
        // match: (select (table x x ... x) ((_ zero_extend n) i)), every i inside   result: x
        let &first = elements.first()?;
        let reachable = match self.view(index) {
            View::ZExt(narrow) => fold::mask(self.width(narrow)),
            _ => fold::mask(64),
        };
        let zero = self.byte_constant(0);
        if first != zero && reachable >= elements.len() as u128 {
            return None;
        }
        let n_reachable = elements.len().min(usize::try_from(reachable).ok()?.saturating_add(1));
        elements[..n_reachable].iter().all(|&element| element == first).then_some(first)
    }

    /// The only unknown bit of a term, and what the term is where that is zero and where it is one: a pointer moved on by a
    /// condition, as in `s += *s == '+'`.
    fn one_bit(&self, t: TermId) -> Option<(TermId, u128, u128)> {
        let width = self.width(t);
        let map = |x: TermId, to: &dyn Fn(u128) -> u128| {
            let (c, with_zero, with_one) = self.one_bit(x)?;
            Some((c, to(with_zero), to(with_one)))
        };
        match self.view(t) {
            View::Const(_) => None,
            _ if width == 1 => Some((t, 0, 1)),
            View::ZExt(x) => self.one_bit(x),
            View::SExt(x) => map(x, &|value| fold::sext(value, self.width(x), width)),
            View::Concat(x, low) if self.is_const(low) => {
                let value = self.as_const(low)?;
                map(x, &|high| high << self.width(low) | value)
            }
            View::Concat(high, x) => {
                let high = self.as_const(high)?;
                map(x, &|value| high << self.width(x) | value)
            }
            View::Add(x, k) => {
                let k = self.as_const(k)?;
                map(x, &|value| fold::add(value, k, width))
            }
            _ => None,
        }
    }

    /// Whether two indices differ under every input, as far as a look at their outermost constants tells.
    fn certainly_different(&self, a: TermId, b: TermId) -> bool {
        let split = |t: TermId| match self.view(t) {
            View::Const(value) => (None, value),
            View::Add(x, k) => self.as_const(k).map_or((Some(t), 0), |value| (Some(x), value)),
            _ => (Some(t), 0),
        };
        let ((x, i), (y, j)) = (split(a), split(b));
        x == y && i != j
    }
}
