//! Terms as lines of text, each term once: `t7 = add t3 t5`. For keeping questions and asking them again elsewhere.

use crate::float::{FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use crate::node::{TermId, View};
use crate::{Sort, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Writes terms; remembers what it has written, so that later lines may refer to it.
#[derive(Default)]
pub struct TextWriter {
    written: FxHashSet<TermId>,
}

impl TextWriter {
    /// Writes a line for this term and each below it that has none yet; then `t<number>` names it.
    pub fn write(&mut self, terms: &Terms, t: TermId, text: &mut String) {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            let before = stack.len();
            match terms.view(top) {
                _ if self.written.contains(&top) => {}
                View::Table(table) => {
                    stack.extend(terms.table_elements(table).iter().filter(|t| !self.written.contains(t)));
                }
                view => stack.extend(view.operands().filter(|t| !self.written.contains(t))),
            }
            if stack.len() == before {
                stack.pop();
                if self.written.insert(top) {
                    write_line(terms, top, text);
                }
            }
        }
    }
}

fn write_line(terms: &Terms, t: TermId, text: &mut String) {
    let _ = write!(text, "{t:?} = ");
    // Writing into a String does not fail.
    let _ = match terms.view(t) {
        View::Const(value) => write!(text, "const {} {value:x}", terms.width(t)),
        View::Symbol(symbol) => write!(text, "symbol {} {}", terms.width(t), terms.symbol_name(symbol)),
        View::Extract { arg, lo } => write!(text, "extract {arg:?} {} {lo}", lo + terms.width(t) - 1),
        View::ZExt(a) => write!(text, "zext {a:?} {}", terms.width(t)),
        View::SExt(a) => write!(text, "sext {a:?} {}", terms.width(t)),
        View::Table(table) => {
            text.push_str("table");
            terms.table_elements(table).iter().try_for_each(|element| write!(text, " {element:?}"))
        }
        View::FloatUnary { op, rounding, arg } => {
            write!(text, "{} {arg:?} {} {}", op.name(), terms.width(t), rounding.name())
        }
        View::FloatBinary { op, rounding, a, b } => write!(text, "{} {a:?} {b:?} {}", op.name(), rounding.name()),
        View::Fma { rounding, a, b, c } => write!(text, "ffma {a:?} {b:?} {c:?} {}", rounding.name()),
        view => {
            text.push_str(name(view));
            view.operands().try_for_each(|operand| write!(text, " {operand:?}"))
        }
    };
    text.push('\n');
}

fn name(view: View) -> &'static str {
    match view {
        View::Not(_) => "not",
        View::Neg(_) => "neg",
        View::And(..) => "and",
        View::Or(..) => "or",
        View::Xor(..) => "xor",
        View::Add(..) => "add",
        View::Sub(..) => "sub",
        View::Mul(..) => "mul",
        View::UDiv(..) => "udiv",
        View::URem(..) => "urem",
        View::SDiv(..) => "sdiv",
        View::SRem(..) => "srem",
        View::Shl(..) => "shl",
        View::LShr(..) => "lshr",
        View::AShr(..) => "ashr",
        View::Concat(..) => "concat",
        View::Ite(..) => "ite",
        View::Eq(..) => "eq",
        View::Ult(..) => "ult",
        View::Slt(..) => "slt",
        View::Store { .. } => "store",
        View::Select { .. } => "select",
        View::FloatCompare { op, .. } => op.name(),
        View::Const(_)
        | View::Symbol(_)
        | View::Extract { .. }
        | View::ZExt(_)
        | View::SExt(_)
        | View::Table(_)
        | View::FloatUnary { .. }
        | View::FloatBinary { .. }
        | View::Fma { .. } => unreachable!("written with more than its operands"),
    }
}

/// Reads what [`TextWriter`] wrote into an arena of its own, where the numbers may be others.
#[derive(Default)]
pub struct TextReader {
    known: FxHashMap<String, TermId>,
}

impl TextReader {
    /// The term that a name of the text stands for.
    pub fn find(&self, name: &str) -> Option<TermId> {
        self.known.get(name).copied()
    }

    /// Reads one line; `None` where it is not a line that defines a term from known ones.
    pub fn read(&mut self, terms: &mut Terms, line: &str) -> Option<TermId> {
        let (name, definition) = line.split_once(" = ")?;
        let t = self.define(terms, definition)?;
        self.known.insert(name.to_string(), t);
        Some(t)
    }

    fn define(&self, terms: &mut Terms, definition: &str) -> Option<TermId> {
        let (operator, rest) = definition.split_once(' ').unwrap_or((definition, ""));
        let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
        let at = |i: usize| words.get(i).and_then(|word| self.find(word));
        let number = |i: usize| words.get(i).and_then(|word| word.parse::<u32>().ok());
        let is_width = |width: &u32| (1..=128).contains(width);
        match operator {
            "const" => {
                let width = number(0).filter(is_width)?;
                return Some(terms.constant(u128::from_str_radix(words.get(1)?, 16).ok()?, width));
            }
            "symbol" => {
                let (width, name) = rest.split_once(' ')?;
                return Some(terms.symbol(name, width.parse().ok().filter(|width| (1..=64).contains(width))?));
            }
            "table" => {
                let elements: Option<Vec<TermId>> = (0..words.len()).map(at).collect();
                return Some(terms.table(&elements?));
            }
            "store" => return Some(terms.store(at(0)?, at(1)?, at(2)?)),
            "select" => return Some(terms.select(at(0)?, at(1)?)),
            _ => {}
        }
        let a = at(0).filter(|&a| terms.sort(a) != Sort::Array)?;
        let width = terms.width(a);
        if let Some(float) = self.define_float(terms, operator, a, &words) {
            return Some(float);
        }
        Some(match operator {
            "extract" => {
                let (hi, lo) = (number(1)?, number(2)?);
                (lo <= hi && hi < width).then(|| terms.extract(a, hi, lo))?
            }
            "zext" => number(1).filter(is_width).filter(|to| *to >= width).map(|to| terms.zext(a, to))?,
            "sext" => number(1).filter(is_width).filter(|to| *to >= width).map(|to| terms.sext(a, to))?,
            "not" => terms.not(a),
            "neg" => terms.neg(a),
            "concat" => {
                let b = at(1)?;
                terms.concat(a, b)
            }
            "ite" => {
                let (b, c) = (at(1)?, at(2)?);
                terms.ite(a, b, c)
            }
            _ => {
                let b = at(1).filter(|&b| terms.sort(b) == terms.sort(a))?;
                binary(operator)?(terms, a, b)
            }
        })
    }
}

impl TextReader {
    fn define_float(&self, terms: &mut Terms, operator: &str, a: TermId, words: &[&str]) -> Option<TermId> {
        let width = terms.width(a);
        let is_like_a = |terms: &Terms, t: TermId| terms.sort(t) == terms.sort(a) && Format::find(width).is_some();
        let at =
            |terms: &Terms, i: usize| words.get(i).and_then(|word| self.find(word)).filter(|&t| is_like_a(terms, t));
        let rounding = |i: usize| Rounding::ALL.into_iter().find(|rounding| Some(&rounding.name()) == words.get(i));
        if let Some(op) = FloatUnary::ALL.into_iter().find(|op| op.name() == operator) {
            let to = words.get(1)?.parse::<u32>().ok().filter(|to| (1..=128).contains(to))?;
            let (from_format, to_format) = (Format::find(width), Format::find(to));
            let is_right = match op {
                FloatUnary::Sqrt | FloatUnary::Integral => from_format.is_some() && to == width,
                FloatUnary::Resize => from_format.is_some() && to_format.is_some(),
                FloatUnary::ToSigned | FloatUnary::ToUnsigned => from_format.is_some(),
                FloatUnary::FromSigned | FloatUnary::FromUnsigned => to_format.is_some(),
            };
            let rounding = rounding(2)?;
            return is_right.then(|| terms.float_unary(op, rounding, a, to));
        }
        if let Some(op) = FloatBinary::ALL.into_iter().find(|op| op.name() == operator) {
            let b = at(terms, 1)?;
            return Some(terms.float_binary(op, rounding(2)?, a, b));
        }
        if let Some(op) = FloatCompare::ALL.into_iter().find(|op| op.name() == operator) {
            let b = at(terms, 1)?;
            return Some(terms.float_compare(op, a, b));
        }
        if operator != "ffma" {
            return None;
        }
        let (b, c) = (at(terms, 1)?, at(terms, 2)?);
        Some(terms.ffma(rounding(3)?, a, b, c))
    }
}

fn binary(operator: &str) -> Option<fn(&mut Terms, TermId, TermId) -> TermId> {
    Some(match operator {
        "and" => Terms::and,
        "or" => Terms::or,
        "xor" => Terms::xor,
        "add" => Terms::add,
        "sub" => Terms::sub,
        "mul" => Terms::mul,
        "udiv" => Terms::udiv,
        "urem" => Terms::urem,
        "sdiv" => Terms::sdiv,
        "srem" => Terms::srem,
        "shl" => Terms::shl,
        "lshr" => Terms::lshr,
        "ashr" => Terms::ashr,
        "eq" => Terms::eq,
        "ult" => Terms::ult,
        "slt" => Terms::slt,
        _ => return None,
    })
}
