//! Sums of bits without carries: checksums, shift registers, parities and Gray codes are systems of linear equations.
//!
//! Each bit of a register after forty steps is the exclusive or of many bits of what it began with. A search has to guess its way through
//! such equations; elimination solves hundreds of them at once. Every bit of a term is written as an exclusive or of other bits:
//! those of symbols, and those of terms that are not made so. A table of constants counts when it is one of such sums itself, as those
//! of checksums are. Where the equations contradict each other the answer is no, and the conditions that took part are the
//! reason. Where they do not, the solution next to the current input is tried.

use crate::layers::{Answers, Said, Setup};
use crate::query::{Query, Tools};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use term::{TermId, Terms, View, fold};

/// Terms among which an exclusive or is looked for, and terms that are written as sums.
const MAX_TERMS: usize = 4096;
const MAX_DEPTH: u32 = 400;
const MAX_EQUATIONS: usize = 512;
const MAX_ATOMS: usize = 1024;
/// Numbers in all sums of one question.
const MAX_WORK: usize = 1 << 18;
/// Bits that something is looked up by.
const MAX_INDEX: usize = 10;

/// Some of the atoms, by number and sorted, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    atoms: Vec<u32>,
    is_odd: bool,
}

impl Sum {
    fn constant(value: bool) -> Sum {
        Sum { atoms: Vec::new(), is_odd: value }
    }

    fn as_constant(&self) -> Option<bool> {
        self.atoms.is_empty().then_some(self.is_odd)
    }

    fn not(&self) -> Sum {
        Sum { atoms: self.atoms.clone(), is_odd: !self.is_odd }
    }

    /// What is in both cancels out.
    fn plus(&self, other: &Sum) -> Sum {
        let mut atoms = Vec::with_capacity(self.atoms.len() + other.atoms.len());
        let (mut left, mut right) = (self.atoms.iter().peekable(), other.atoms.iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if a == b => {
                    left.next();
                    right.next();
                }
                (Some(a), Some(b)) if a > b => atoms.extend(right.next()),
                (Some(_), _) => atoms.extend(left.next()),
                (None, Some(_)) => atoms.extend(right.next()),
                (None, None) => break,
            }
        }
        Sum { atoms, is_odd: self.is_odd ^ other.is_odd }
    }
}

/// The bits of terms as sums.
struct Sums<'t> {
    terms: &'t Terms,
    /// Which bit of which term each atom is.
    atoms: Vec<(TermId, u32)>,
    numbers: FxHashMap<(TermId, u32), u32>,
    known: FxHashMap<TermId, Rc<Vec<Sum>>>,
    work_left: usize,
}

/// That some atoms add up to zero, or to one, and from which conditions that follows.
#[derive(Clone)]
struct Equation {
    sum: Sum,
    reasons: Vec<TermId>,
}

struct Parity;

pub(crate) fn layer(_setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Parity))
}

impl Answers for Parity {
    fn answer(&mut self, query: &mut Query, tools: &mut Tools) -> Option<Said> {
        let (terms, question) = (query.terms, query.question);
        if !has_sums(terms, question) {
            return None;
        }
        let mut sums = Sums::new(terms);
        let mut equations = Equations::default();
        for condition in query.constraints().iter().copied().chain([question]) {
            if let Some(reasons) = equations.add_condition(&mut sums, condition)? {
                return Some(Said::Unsat(Some(with(reasons, question))));
            }
        }
        // What is not to be equal and yet is.
        for condition in query.constraints().iter().copied().chain([question]) {
            if let Some(reasons) = equations.forced_equal(&mut sums, condition)? {
                return Some(Said::Unsat(Some(with(reasons, question))));
            }
        }
        let mut input = query.current.clone();
        let now = |(t, bit): (TermId, u32), input: &term::Assignment| match terms.view(t) {
            View::Symbol(symbol) => Some((symbol, input.get(symbol) >> bit & 1 == 1)),
            _ => None,
        };
        // Each is solved for its largest atom, by smaller ones.
        let mut solved: Vec<&Equation> = equations.solved.iter().collect();
        solved.sort_unstable_by_key(|equation| equation.sum.atoms.last().copied());
        for Equation { sum, .. } in solved {
            let (solved, others) = sum.atoms.split_last()?;
            let mut value = sum.is_odd;
            for &atom in others {
                value ^= now(sums.atoms[atom as usize], &input)?.1;
            }
            let (t, bit) = sums.atoms[*solved as usize];
            let (symbol, _) = now((t, bit), &input)?;
            input.set(symbol, input.get(symbol) & !(1 << bit) | u64::from(value) << bit);
        }
        query.try_input(tools, &input)
    }
}

fn with(mut reasons: Vec<TermId>, question: TermId) -> Vec<TermId> {
    reasons.push(question);
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

/// Whether there is an exclusive or in it.
fn has_sums(terms: &Terms, question: TermId) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![question];
    while let Some(t) = stack.pop() {
        if matches!(terms.view(t), View::Xor(..)) {
            return true;
        }
        stack.extend(terms.view(t).operands().filter(|operand| seen.len() < MAX_TERMS && seen.insert(*operand)));
    }
    false
}

/// Each is solved for its last atom, by smaller ones.
#[derive(Default)]
struct Equations {
    solved: Vec<Equation>,
    /// Which of them is solved for an atom.
    by_atom: FxHashMap<u32, usize>,
}

impl Equations {
    /// Replaces what the equations are solved for.
    fn reduce(&self, mut equation: Equation) -> Equation {
        // From the largest atom down: what comes in is smaller.
        let mut below = u32::MAX;
        loop {
            let known = |atom: &&u32| **atom < below && self.by_atom.contains_key(atom);
            let Some(&atom) = equation.sum.atoms.iter().rev().find(known) else { return equation };
            let by = &self.solved[self.by_atom[&atom]];
            equation.sum = equation.sum.plus(&by.sum);
            equation.reasons.extend_from_slice(&by.reasons);
            equation.reasons.sort_unstable();
            equation.reasons.dedup();
            below = atom;
        }
    }

    /// Adds that a sum is zero; the conditions that say it is not, if they do.
    fn add(&mut self, sum: Sum, condition: TermId) -> Option<Vec<TermId>> {
        let equation = self.reduce(Equation { sum, reasons: vec![condition] });
        if let Some(is_odd) = equation.sum.as_constant() {
            return is_odd.then_some(equation.reasons);
        }
        if self.solved.len() < MAX_EQUATIONS {
            let solved = *equation.sum.atoms.last()?;
            self.by_atom.insert(solved, self.solved.len());
            self.solved.push(equation);
        }
        None
    }

    /// Adds what a condition says; the conditions that contradict each other then, if any do. `None` where there is too much.
    fn add_condition(&mut self, sums: &mut Sums, condition: TermId) -> Option<Option<Vec<TermId>>> {
        let mut open = vec![(condition, false)];
        while let Some((t, is_zero)) = open.pop() {
            match sums.terms.view(t) {
                View::Not(inner) => open.push((inner, !is_zero)),
                View::And(a, b) if !is_zero => open.extend([(a, false), (b, false)]),
                View::Eq(a, b) if !is_zero => {
                    let (a, b) = (sums.of(a, MAX_DEPTH)?, sums.of(b, MAX_DEPTH)?);
                    for (a, b) in a.iter().zip(b.iter()) {
                        if let Some(reasons) = self.add(a.plus(b), condition) {
                            return Some(Some(reasons));
                        }
                    }
                }
                View::Xor(..) | View::Extract { .. } => {
                    let bits = sums.of(t, MAX_DEPTH)?;
                    let sum = if is_zero { bits[0].clone() } else { bits[0].not() };
                    if let Some(reasons) = self.add(sum, condition) {
                        return Some(Some(reasons));
                    }
                }
                _ => {}
            }
        }
        Some(None)
    }

    /// The conditions that make two terms equal of which this one says that they are not.
    fn forced_equal(&self, sums: &mut Sums, condition: TermId) -> Option<Option<Vec<TermId>>> {
        let View::Not(inner) = sums.terms.view(condition) else { return Some(None) };
        let View::Eq(a, b) = sums.terms.view(inner) else { return Some(None) };
        let (a, b) = (sums.of(a, MAX_DEPTH)?, sums.of(b, MAX_DEPTH)?);
        let mut reasons = vec![condition];
        for (a, b) in a.iter().zip(b.iter()) {
            let equation = self.reduce(Equation { sum: a.plus(b), reasons: Vec::new() });
            if equation.sum.as_constant() != Some(false) {
                return Some(None);
            }
            reasons.extend(equation.reasons);
        }
        Some(Some(reasons))
    }
}

impl<'t> Sums<'t> {
    fn new(terms: &'t Terms) -> Sums<'t> {
        Sums {
            terms,
            atoms: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
            work_left: MAX_WORK,
        }
    }

    /// The bits of a term, the lowest first; `None` where there is too much to do.
    fn of(&mut self, t: TermId, depth: u32) -> Option<Rc<Vec<Sum>>> {
        if let Some(bits) = self.known.get(&t) {
            return Some(Rc::clone(bits));
        }
        let bits = match depth.checked_sub(1) {
            Some(depth) => match self.by_operands(t, depth)? {
                Some(bits) => bits,
                None => self.unknown(t)?,
            },
            None => self.unknown(t)?,
        };
        let work = bits.iter().map(|sum| 1 + sum.atoms.len()).sum();
        self.work_left = self.work_left.checked_sub(work)?;
        let bits = Rc::new(bits);
        self.known.insert(t, Rc::clone(&bits));
        Some(bits)
    }

    fn atom(&mut self, t: TermId, bit: u32) -> Option<Sum> {
        let next = self.atoms.len() as u32;
        let number = *self.numbers.entry((t, bit)).or_insert(next);
        if number == next {
            self.atoms.push((t, bit));
        }
        (self.atoms.len() <= MAX_ATOMS).then(|| Sum { atoms: vec![number], is_odd: false })
    }

    fn unknown(&mut self, t: TermId) -> Option<Vec<Sum>> {
        (0..self.terms.width(t)).map(|bit| self.atom(t, bit)).collect()
    }

    /// What the bits are by the operands; `Some(None)` where that says nothing.
    fn by_operands(&mut self, t: TermId, depth: u32) -> Option<Option<Vec<Sum>>> {
        let terms = self.terms;
        let width = terms.width(t) as usize;
        let amount = |by: TermId| terms.as_const(by).filter(|&by| by < width as u128).map(|by| by as usize);
        Some(Some(match terms.view(t) {
            View::Const(value) => (0..width).map(|bit| Sum::constant(value >> bit & 1 == 1)).collect(),
            View::Not(x) => self.of(x, depth)?.iter().map(Sum::not).collect(),
            View::Xor(a, b) => {
                let (a, b) = (self.of(a, depth)?, self.of(b, depth)?);
                a.iter().zip(b.iter()).map(|(a, b)| a.plus(b)).collect()
            }
            View::And(a, b) | View::Or(a, b) => {
                let absorbing = matches!(terms.view(t), View::Or(..));
                let (a, b) = (self.of(a, depth)?, self.of(b, depth)?);
                let mut bits = Vec::with_capacity(width);
                for (bit, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                    bits.push(match (a.as_constant(), b.as_constant()) {
                        (Some(known), _) if known == absorbing => Sum::constant(absorbing),
                        (_, Some(known)) if known == absorbing => Sum::constant(absorbing),
                        (Some(_), _) => b.clone(),
                        (_, Some(_)) => a.clone(),
                        _ if a == b => a.clone(),
                        _ => self.atom(t, bit as u32)?,
                    });
                }
                bits
            }
            // Where no two bits meet there are no carries.
            View::Add(a, b) => {
                let (a, b) = (self.of(a, depth)?, self.of(b, depth)?);
                let is_apart = |(a, b): (&Sum, &Sum)| a.as_constant() == Some(false) || b.as_constant() == Some(false);
                if !a.iter().zip(b.iter()).all(is_apart) {
                    return Some(None);
                }
                a.iter().zip(b.iter()).map(|(a, b)| a.plus(b)).collect()
            }
            // Of a single bit at the bottom.
            View::Neg(x) => {
                let x = self.of(x, depth)?;
                if x[1..].iter().any(|bit| bit.as_constant() != Some(false)) {
                    return Some(None);
                }
                vec![x[0].clone(); width]
            }
            View::Shl(x, by) => {
                let Some(by) = amount(by) else { return Some(None) };
                let x = self.of(x, depth)?;
                let zeros = std::iter::repeat_n(Sum::default(), by);
                zeros.chain(x[..width - by].iter().cloned()).collect()
            }
            View::LShr(x, by) if terms.is_const(x) => {
                let x = terms.as_const(x)?;
                let by = self.of(by, depth)?;
                return self.looked_up(t, &by, |by| Some(fold::lshr(x, by as u128, width as u32)));
            }
            View::LShr(x, by) | View::AShr(x, by) => {
                let Some(by) = amount(by) else { return Some(None) };
                let x = self.of(x, depth)?;
                let fill = if matches!(terms.view(t), View::AShr(..)) { x[width - 1].clone() } else { Sum::default() };
                x[by..].iter().cloned().chain(std::iter::repeat_n(fill, by)).collect()
            }
            View::Concat(hi, lo) => {
                let (hi, lo) = (self.of(hi, depth)?, self.of(lo, depth)?);
                lo.iter().chain(hi.iter()).cloned().collect()
            }
            View::Extract { arg, lo } => self.of(arg, depth)?[lo as usize..lo as usize + width].to_vec(),
            View::ZExt(x) => {
                let mut bits = self.of(x, depth)?.to_vec();
                bits.resize(width, Sum::default());
                bits
            }
            View::SExt(x) => {
                let mut bits = self.of(x, depth)?.to_vec();
                let top = bits[bits.len() - 1].clone();
                bits.resize(width, top);
                bits
            }
            View::Ite(c, a, b) => {
                let (c, a, b) = (self.of(c, depth)?, self.of(a, depth)?, self.of(b, depth)?);
                let mut bits = Vec::with_capacity(width);
                for (bit, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                    bits.push(match a.plus(b).as_constant() {
                        Some(false) => a.clone(),
                        Some(true) => b.plus(&c[0]),
                        None => self.atom(t, bit as u32)?,
                    });
                }
                bits
            }
            View::Select { array, index } => {
                let View::Table(table) = terms.view(array) else { return Some(None) };
                let elements = terms.table_elements(table);
                let index = self.of(index, depth)?;
                return self.looked_up(t, &index, |at| match elements.get(at) {
                    Some(&element) => terms.as_const(element),
                    None => Some(0),
                });
            }
            _ => return Some(None),
        }))
    }

    /// What a term is whose value for each value of some bits is known. Of a bit of it that each of them flips whatever the others
    /// are, it is said which do. `Some(None)` where there are too many.
    fn looked_up(
        &mut self,
        t: TermId,
        index: &[Sum],
        value_at: impl Fn(usize) -> Option<u128>,
    ) -> Option<Option<Vec<Sum>>> {
        let n_open = index.iter().rposition(|bit| bit.as_constant() != Some(false)).map_or(0, |last| last + 1);
        if n_open > MAX_INDEX {
            return Some(None);
        }
        let Some(values) = (0..1 << n_open).map(value_at).collect::<Option<Vec<u128>>>() else { return Some(None) };
        let mut bits = Vec::with_capacity(self.terms.width(t) as usize);
        for bit in 0..self.terms.width(t) {
            let is_set = |at: usize| values[at] >> bit & 1 == 1;
            let flipping: Vec<usize> = (0..n_open).filter(|&by| is_set(1 << by) != is_set(0)).collect();
            let mask: usize = flipping.iter().map(|by| 1 << by).sum();
            let is_sum = (0..values.len()).all(|at| is_set(at) == (is_set(0) ^ ((at & mask).count_ones() % 2 == 1)));
            bits.push(match is_sum {
                true => flipping.iter().fold(Sum::constant(is_set(0)), |sum, &by| sum.plus(&index[by])),
                false => self.atom(t, bit)?,
            });
        }
        Some(Some(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::{Assignment, Eval, SymbolId};

    fn build(terms: &mut Terms, steps: &[(u8, u8, u8, u8)]) -> Vec<TermId> {
        let mut made = vec![terms.symbol("x", 4), terms.symbol("y", 4)];
        for &(op, a, b, k) in steps {
            let at = |idx: u8| made[usize::from(idx) % made.len()];
            let (a, b) = (at(a), at(b));
            let k = terms.constant(u128::from(k % 16), 4);
            let small = terms.constant(u128::from(op / 16 % 4), 4);
            let t = match op % 15 {
                0..=2 => terms.xor(a, b),
                3 => terms.xor(a, k),
                4 => terms.and(a, k),
                5 => terms.or(a, k),
                6 => terms.shl(a, small),
                7 => terms.lshr(a, small),
                8 => terms.and(a, b),
                9 => {
                    let low = terms.extract(a, 0, 0);
                    let low = terms.zext(low, 4);
                    terms.neg(low)
                }
                10 => {
                    let (high, low) = (terms.extract(a, 1, 0), terms.extract(b, 3, 2));
                    terms.concat(high, low)
                }
                11 => {
                    // Linear for one of its two forms.
                    let bytes: Vec<u8> =
                        (0..16).map(|at: u8| if op >= 128 { (at * 3) & 15 } else { at ^ at >> 1 ^ 5 }).collect();
                    let table = terms.table_of_bytes(&bytes);
                    let index = terms.zext(a, 64);
                    let byte = terms.select(table, index);
                    terms.extract(byte, 3, 0)
                }
                12 => terms.add(a, b),
                13 => {
                    let by = terms.and(b, k);
                    terms.lshr(k, by)
                }
                _ => {
                    let top = terms.extract(a, 3, 3);
                    let flipped = terms.xor(b, k);
                    terms.ite(top, flipped, b)
                }
            };
            made.push(t);
        }
        made
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Each bit is the sum that is said, and what is called a contradiction is one.
        #[test]
        fn sums_and_contradictions_are_true(
            steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..9),
            wanted in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..6),
        ) {
            let mut terms = Terms::new();
            let made = build(&mut terms, &steps);
            let conditions: Vec<TermId> = wanted.iter().map(|&(a, b, form)| {
                let (a, b) = (made[usize::from(a) % made.len()], made[usize::from(b) % made.len()]);
                let k = terms.constant(u128::from(form / 4 % 16), 4);
                let equal = if form % 2 == 0 { terms.eq(a, k) } else { terms.eq(a, b) };
                if form % 4 == 3 { terms.not(equal) } else { equal }
            }).collect();
            let mut sums = Sums::new(&terms);
            let bits: Vec<Rc<Vec<Sum>>> = made.iter().map(|&t| sums.of(t, MAX_DEPTH).unwrap()).collect();
            let mut equations = Equations::default();
            let mut core = None;
            for &condition in &conditions {
                core = core.or(equations.add_condition(&mut sums, condition).unwrap());
            }
            for &condition in &conditions {
                core = core.or(equations.forced_equal(&mut sums, condition).unwrap());
            }
            let mut eval = Eval::new();
            for input in 0..256u64 {
                let mut values = Assignment::new();
                values.set(SymbolId(0), input & 15);
                values.set(SymbolId(1), input >> 4);
                for (&t, bits) in made.iter().zip(&bits) {
                    let value = eval.eval(&terms, &values, t);
                    for (at, sum) in bits.iter().enumerate() {
                        let is_set = |&atom: &u32| {
                            let (t, bit) = sums.atoms[atom as usize];
                            Eval::new().eval(&terms, &values, t) >> bit & 1 == 1
                        };
                        let n_set = sum.atoms.iter().filter(|atom| is_set(atom)).count();
                        prop_assert_eq!(value >> at & 1 == 1, (n_set % 2 == 1) != sum.is_odd, "{:?}", terms.view(t));
                    }
                }
                if let Some(core) = &core {
                    prop_assert!(!core.iter().all(|&t| eval.holds(&terms, &values, t)), "{:?} hold at {}", core, input);
                }
            }
        }
    }
}
