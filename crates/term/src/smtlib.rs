//! Printing for SMT solvers: each shared term is defined once, so the text is linear in the number of terms.

use crate::lower::{Circuit, Circuits, Operation};
use crate::node::{SymbolId, TermId, View};
use crate::{Sort, Terms};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// Writes declarations, definitions and terms; remembers what it has written, so that later text may refer to it.
///
/// Operations on floats are written out by their circuits, so that solvers without floats understand them. One that has no circuit
/// may be anything: see [`Script::has_gaps`].
///
/// Terms appear under the name `t<number>`, symbols as `s<number>` (their own names are not always legal there).
#[derive(Default)]
pub struct Script {
    defined: FxHashSet<TermId>,
    declared: FxHashSet<SymbolId>,
    n_arrays: usize,
    circuits: Circuits,
    n_gaps: usize,
    /// Before every name: where it writes out a circuit, the name of the operation.
    prefix: String,
}

/// A whole script (logic QF_ABV, or QF_BV where there is no array) that asserts these one-bit terms and asks `check-sat`.
pub fn smtlib(terms: &Terms, asserted: &[TermId]) -> String {
    let mut script = Script::default();
    let mut body = String::new();
    for &t in asserted {
        script.assert(terms, t, &mut body);
    }
    let logic = if script.has_arrays() { "QF_ABV" } else { "QF_BV" };
    format!("(set-logic {logic})\n{body}(check-sat)\n")
}

impl Script {
    pub fn new() -> Script {
        Script::default()
    }

    /// Asserts that a one-bit term is 1, defining first what is not defined yet.
    pub fn assert(&mut self, terms: &Terms, t: TermId, text: &mut String) {
        self.define(terms, t, text);
        let _ = writeln!(text, "(assert (= {} #b1))", self.name(terms, t));
    }

    /// Whether an array was defined so far.
    pub fn has_arrays(&self) -> bool {
        self.n_arrays > 0
    }

    /// Whether something was written that has no circuit. Then `unsat` is an answer, and a model has to be looked at.
    pub fn has_gaps(&self) -> bool {
        self.n_gaps > 0
    }

    /// The symbols declared so far, in no particular order.
    pub fn declared(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.declared.iter().copied()
    }

    /// Writes definitions for a term and everything below it; afterwards `t<number>` names it.
    pub fn define(&mut self, terms: &Terms, t: TermId, text: &mut String) {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.defined.contains(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let view = terms.view(top);
            let missing = |t: &TermId| !self.defined.contains(t) && !terms.is_const(*t);
            stack.extend(view.operands().filter(missing));
            if let View::Table(table) = view {
                stack.extend(terms.table_elements(table).iter().copied().filter(missing));
            }
            if stack.len() == before {
                stack.pop();
                self.defined.insert(top);
                self.write_definition(terms, top, text);
            }
        }
    }

    fn write_definition(&mut self, terms: &Terms, t: TermId, text: &mut String) {
        if let View::Symbol(symbol) = terms.view(t) {
            if self.declared.insert(symbol) {
                let width = terms.symbol_width(symbol);
                let _ = writeln!(text, "(declare-const s{} (_ BitVec {width}))", symbol.0);
            }
            return;
        }
        if terms.is_const(t) {
            return;
        }
        if let Some(operation) = Operation::of(terms.view(t)) {
            return self.write_float(terms, t, operation, text);
        }
        let sort = match terms.sort(t) {
            Sort::BitVec(width) => format!("(_ BitVec {width})"),
            Sort::Array => {
                self.n_arrays += 1;
                "(Array (_ BitVec 64) (_ BitVec 8))".to_owned()
            }
        };
        let _ = write!(text, "(define-fun {}t{} () {sort} ", self.prefix, t.raw());
        self.write_body(terms, t, text);
        text.push_str(")\n");
    }

    fn write_body(&self, terms: &Terms, t: TermId, text: &mut String) {
        use View::*;
        let of = |t: TermId| self.name(terms, t);
        let width = || terms.width(t);
        let mut op = |op: &str, args: &[TermId]| {
            let _ = write!(text, "({op}");
            for &arg in args {
                let _ = write!(text, " {}", of(arg));
            }
            text.push(')');
        };
        let mut truth = |relation: &str, a: TermId, b: TermId| {
            op(&format!("ite ({relation} {} {}) #b1 #b0", of(a), of(b)), &[]);
        };
        match terms.view(t) {
            Eq(a, b) => truth("=", a, b),
            Ult(a, b) => truth("bvult", a, b),
            Slt(a, b) => truth("bvslt", a, b),
            Not(a) => op("bvnot", &[a]),
            Neg(a) => op("bvneg", &[a]),
            And(a, b) => op("bvand", &[a, b]),
            Or(a, b) => op("bvor", &[a, b]),
            Xor(a, b) => op("bvxor", &[a, b]),
            Add(a, b) => op("bvadd", &[a, b]),
            Sub(a, b) => op("bvsub", &[a, b]),
            Mul(a, b) => op("bvmul", &[a, b]),
            UDiv(a, b) => op("bvudiv", &[a, b]),
            URem(a, b) => op("bvurem", &[a, b]),
            SDiv(a, b) => op("bvsdiv", &[a, b]),
            SRem(a, b) => op("bvsrem", &[a, b]),
            Shl(a, b) => op("bvshl", &[a, b]),
            LShr(a, b) => op("bvlshr", &[a, b]),
            AShr(a, b) => op("bvashr", &[a, b]),
            Concat(a, b) => op("concat", &[a, b]),
            Extract { arg, lo } => op(&format!("(_ extract {} {lo})", lo + width() - 1), &[arg]),
            ZExt(a) => op(&format!("(_ zero_extend {})", width() - terms.width(a)), &[a]),
            SExt(a) => op(&format!("(_ sign_extend {})", width() - terms.width(a)), &[a]),
            Ite(c, a, b) => op(&format!("ite (= {} #b1)", of(c)), &[a, b]),
            Select { array, index } => op("select", &[array, index]),
            Store { array, index, byte } => op("store", &[array, index, byte]),
            Table(table) => {
                let elements = terms.table_elements(table);
                let zero = terms.byte_constant(0);
                let present = || elements.iter().enumerate().filter(|&(_, &element)| element != zero);
                text.push_str(&"(store ".repeat(present().count()));
                text.push_str("((as const (Array (_ BitVec 64) (_ BitVec 8))) #x00)");
                for (position, &element) in present() {
                    let _ = write!(text, " #x{position:016x} {})", of(element));
                }
            }
            Const(_) | Symbol(_) => text.push_str(&of(t)),
            FloatUnary { .. } | FloatBinary { .. } | FloatCompare { .. } | Fma { .. } => {
                unreachable!("floats are written by their circuits")
            }
        }
    }

    /// The circuit of an operation under names of its own, and then what it is for.
    fn write_float(&mut self, terms: &Terms, t: TermId, operation: Operation, text: &mut String) {
        let operands: Vec<TermId> = terms.view(t).operands().collect();
        let width = terms.width(t);
        let Some(circuit) = self.circuits.of(operation, terms.width(operands[0]), width) else {
            self.n_gaps += 1;
            let _ = writeln!(text, "(declare-const {} (_ BitVec {width}))", self.name(terms, t));
            return;
        };
        let mut inner = Script { prefix: format!("{}_", self.name(terms, t)), ..Script::default() };
        for (&operand, pieces) in operands.iter().zip(&circuit.operands) {
            for (nth, &piece) in (0..).zip(pieces) {
                let (lo, n_bits) = (nth * Circuit::MAX_PIECE, circuit.terms.width(piece));
                let _ = writeln!(
                    text,
                    "(define-fun {} () (_ BitVec {n_bits}) ((_ extract {} {lo}) {}))",
                    inner.name(&circuit.terms, piece),
                    lo + n_bits - 1,
                    self.name(terms, operand)
                );
                inner.declared.extend(circuit.terms.symbols(piece));
            }
        }
        inner.define(&circuit.terms, circuit.result, text);
        let result = inner.name(&circuit.terms, circuit.result);
        let _ = writeln!(text, "(define-fun {} () (_ BitVec {width}) {result})", self.name(terms, t));
    }

    /// How a defined term is referred to; constants are written out.
    fn name(&self, terms: &Terms, t: TermId) -> String {
        match terms.view(t) {
            View::Const(value) => {
                let width = terms.width(t) as usize;
                if width.is_multiple_of(4) {
                    format!("#x{value:0digits$x}", digits = width / 4)
                } else {
                    format!("#b{value:0width$b}")
                }
            }
            View::Symbol(symbol) => format!("{}s{}", self.prefix, symbol.0),
            _ => format!("{}t{}", self.prefix, t.raw()),
        }
    }
}
