//! Terms over one small symbol, under all of its values at once.
//!
//! A byte of input that goes through tables makes terms that are large and yet can have 256 values at most. [`Graphs`] remembers
//! those of every term it met, so a question about a term that was built on others costs only what is new in it.

use crate::eval::binary;
use crate::node::{TermId, View};
use crate::{Terms, float, fold};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Values a small symbol has at most.
const N_VALUES: usize = 256;

/// The value of a term for each value of its symbol; a symbol of fewer than eight bits starts again from zero.
pub type Graph = Rc<[u128; N_VALUES]>;

#[derive(Default)]
pub struct Graphs {
    known: FxHashMap<TermId, Graph>,
    stack: Vec<TermId>,
}

#[derive(Clone)]
enum Operand {
    Constant(u128),
    Graph(Graph),
}

impl Operand {
    fn at(&self, value: usize) -> u128 {
        match self {
            Operand::Constant(constant) => *constant,
            Operand::Graph(graph) => graph[value],
        }
    }
}

impl Graphs {
    /// The widest symbol all of whose values are tried.
    pub const MAX_WIDTH: u32 = 8;
    /// Each takes 4 kB; beyond this, all are forgotten.
    const MAX_KNOWN: usize = 1 << 13;

    /// `None` unless the term has one symbol, and a small one.
    pub fn of(&mut self, terms: &Terms, t: TermId) -> Option<Graph> {
        let &[symbol] = terms.symbols(t) else { return None };
        if terms.symbol_width(symbol) > Self::MAX_WIDTH {
            return None;
        }
        if let Some(graph) = self.known.get(&t) {
            return Some(graph.clone());
        }
        if self.known.len() > Self::MAX_KNOWN {
            self.known.clear();
        }
        debug_assert!(self.stack.is_empty());
        self.stack.push(t);
        while let Some(&top) = self.stack.last() {
            if let Some(graph) = self.step(terms, top) {
                self.stack.pop();
                self.known.insert(top, graph);
            }
        }
        self.known.get(&t).cloned()
    }

    /// The term as a lookup in tables of constants by its symbol, one table for each byte: what is left of it when it has been
    /// looked at from every side. `None` unless it has one symbol, a small one, and whole bytes.
    pub fn lookup(&mut self, terms: &mut Terms, t: TermId) -> Option<TermId> {
        let width = terms.width(t);
        if !width.is_multiple_of(8) {
            return None;
        }
        let graph = self.of(terms, t)?;
        let symbol = terms.symbols(t)[0];
        let symbol_width = terms.symbol_width(symbol);
        let symbol = terms.symbol_term(symbol);
        let index = terms.zext(symbol, 64);
        let bytes: Vec<TermId> = (0..width / 8)
            .map(|byte| {
                let values: Vec<u8> =
                    graph[..1 << symbol_width].iter().map(|value| (value >> (8 * byte)) as u8).collect();
                let table = terms.table_of_bytes(&values);
                terms.select(table, index)
            })
            .collect();
        Some(terms.concat_bytes(&bytes))
    }

    /// An operand that is known, or a request to compute it first.
    fn want(&mut self, terms: &Terms, t: TermId) -> Option<Operand> {
        if let Some(constant) = terms.as_const(t) {
            return Some(Operand::Constant(constant));
        }
        let known = self.known.get(&t).cloned().map(Operand::Graph);
        if known.is_none() {
            self.stack.push(t);
        }
        known
    }

    /// The graph of a term whose needed operands are known; otherwise pushes those and gives `None`.
    fn step(&mut self, terms: &Terms, t: TermId) -> Option<Graph> {
        let width = terms.width(t);
        let graph: [u128; N_VALUES] = match terms.view(t) {
            View::Const(constant) => [constant; N_VALUES],
            View::Symbol(_) => std::array::from_fn(|value| value as u128 & fold::mask(width)),
            View::Not(a) => self.want(terms, a).map(|a| std::array::from_fn(|value| fold::not(a.at(value), width)))?,
            View::Neg(a) => self.want(terms, a).map(|a| std::array::from_fn(|value| fold::neg(a.at(value), width)))?,
            View::ZExt(a) => self.want(terms, a).map(|a| std::array::from_fn(|value| a.at(value)))?,
            View::SExt(a) => {
                let from = terms.width(a);
                let a = self.want(terms, a)?;
                std::array::from_fn(|value| fold::sext(a.at(value), from, width))
            }
            View::Extract { arg, lo } => {
                let a = self.want(terms, arg)?;
                std::array::from_fn(|value| fold::extract(a.at(value), lo + width - 1, lo))
            }
            View::Ite(c, a, b) => {
                let c = self.want(terms, c)?;
                let is_needed = |side: u128| (0..N_VALUES).any(|value| c.at(value) == side);
                // A side that is never taken may be anything.
                let (a, b) = (if is_needed(1) { a } else { b }, if is_needed(0) { b } else { a });
                let (Some(a), Some(b)) = (self.want(terms, a), self.want(terms, b)) else { return None };
                std::array::from_fn(|value| if c.at(value) == 1 { a.at(value) } else { b.at(value) })
            }
            View::FloatUnary { op, rounding, arg } => {
                let from = terms.width(arg);
                let a = self.want(terms, arg)?;
                std::array::from_fn(|value| float::unary(op, rounding, from, width, a.at(value)))
            }
            View::Fma { rounding, a, b, c } => {
                let (Some(a), Some(b), Some(c)) = (self.want(terms, a), self.want(terms, b), self.want(terms, c))
                else {
                    return None;
                };
                std::array::from_fn(|value| float::fma(rounding, width, a.at(value), b.at(value), c.at(value)))
            }
            View::Select { array, index } => self.step_select(terms, array, index)?,
            view => {
                let mut operands = view.operands();
                let (a, b) = operands.next().zip(operands.next()).expect("all others have two operands");
                let (Some(x), Some(y)) = (self.want(terms, a), self.want(terms, b)) else { return None };
                std::array::from_fn(|value| binary(terms, view, width, x.at(value), y.at(value)))
            }
        };
        Some(Rc::new(graph))
    }

    /// Walks the stores from the newest to the oldest, with the values of the symbol whose place is still open.
    fn step_select(&mut self, terms: &Terms, array: TermId, index: TermId) -> Option<[u128; N_VALUES]> {
        let at = self.want(terms, index)?;
        let mut graph = [0; N_VALUES];
        // By index, the values of the symbol that lead there.
        let mut open: FxHashMap<u128, Vec<usize>> = FxHashMap::default();
        for value in 0..N_VALUES {
            open.entry(at.at(value)).or_default().push(value);
        }
        let mut missing = false;
        let mut take = |graphs: &mut Graphs, byte: TermId, values: &[usize]| match graphs.want(terms, byte) {
            Some(byte) => values.iter().for_each(|&value| graph[value] = byte.at(value)),
            None => missing = true,
        };
        let mut is_index_missing = false;
        let mut array = array;
        while let View::Store { array: base, index, byte } = terms.view(array) {
            array = base;
            match self.want(terms, index) {
                Some(Operand::Constant(stored)) => {
                    if let Some(values) = open.remove(&stored) {
                        take(self, byte, &values);
                    }
                }
                Some(Operand::Graph(stored)) => {
                    let mut here = Vec::new();
                    open.retain(|index, values| {
                        values.retain(|&value| {
                            let is_here = stored[value] == *index;
                            if is_here {
                                here.push(value);
                            }
                            !is_here
                        });
                        !values.is_empty()
                    });
                    if !here.is_empty() {
                        take(self, byte, &here);
                    }
                }
                // What lies below may not be needed, but then it is known for the next one.
                None => is_index_missing = true,
            }
        }
        let View::Table(table) = terms.view(array) else { unreachable!("an array is a chain of stores on a table") };
        if !is_index_missing {
            for (index, values) in open {
                let element = usize::try_from(index).ok().and_then(|index| terms.table_elements(table).get(index));
                if let Some(&element) = element {
                    take(self, element, &values);
                }
            }
        }
        (!missing && !is_index_missing).then_some(graph)
    }
}
