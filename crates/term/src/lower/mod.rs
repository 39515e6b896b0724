//! Operations on floats as plain bit-vector terms, for solvers that know nothing of floats.
//!
//! An operation takes floats as the bits they are stored in and gives the bits of the result, exactly as `float` computes it: take
//! apart, align, compute with a few bits more, bring the top bit up, round once, put together. A bit that stands for all that
//! were cut off (sticky) keeps the terms narrow.
//!
//! [`Circuits`] builds each operation once, in an arena of its own, and whoever asks puts it to use as often as it occurs: the
//! arena of the program does not grow by thousands of terms for each multiplication, and nobody who only wants an answer has to
//! be able to change it.
//!
//! Without a circuit are: remainders in formats above 32 bits, which take a step for each difference of two exponents (2,000 of
//! them for double), and `fma` above 64 bits, since no term is wider than 128.
//!
//! * `net`: builders that nest, shifters
//! * `parts`: taking apart, rounding, putting together
//! * `sum`, `product`, `rest`, `convert`, `compare`: the operations

mod compare;
mod convert;
mod net;
mod parts;
mod product;
mod rest;
mod sum;

use crate::float::{FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use crate::{TermId, Terms, View};
use net::Net;
use parts::{Parts, default_nan, quieted};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use sum::Second;

/// How the bits of a float are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the significand, with the one before the point.
    precision: u32,
    /// The bit before the point is stored.
    is_explicit: bool,
}

impl Layout {
    fn of_width(width: u32) -> Layout {
        let format = Format::of(width);
        let is_explicit = format == Format::Extended;
        Layout { exponent: format.exponent_bits(), precision: format.precision(), is_explicit }
    }

    fn width(self) -> u32 {
        self.exponent + self.precision + u32::from(self.is_explicit)
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Bits of exponent and fraction.
    fn magnitude(self) -> u32 {
        self.exponent + self.precision - 1
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Signed {
    Yes,
    No,
}

/// An operation on floats without its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    Unary(FloatUnary, Rounding),
    Binary(FloatBinary, Rounding),
    Compare(FloatCompare),
    Fma(Rounding),
}

impl Operation {
    /// What a term does, if that is an operation on floats.
    pub fn of(view: View) -> Option<Operation> {
        match view {
            View::FloatUnary { op, rounding, .. } => Some(Operation::Unary(op, rounding)),
            View::FloatBinary { op, rounding, .. } => Some(Operation::Binary(op, rounding)),
            View::FloatCompare { op, .. } => Some(Operation::Compare(op)),
            View::Fma { rounding, .. } => Some(Operation::Fma(rounding)),
            _ => None,
        }
    }

    fn n_operands(self) -> usize {
        match self {
            Operation::Unary(..) => 1,
            Operation::Binary(..) | Operation::Compare(_) => 2,
            Operation::Fma(_) => 3,
        }
    }

    /// The operation on these operands as a term of width `to`. `None` where there is no circuit for it.
    fn lower(self, terms: &mut Terms, to: u32, operands: &[TermId]) -> Option<TermId> {
        let from = terms.width(operands[0]);
        let net = &Net::new(terms);
        match (self, operands) {
            (Operation::Unary(op, rounding), &[a]) => Some(unary(net, op, rounding, (from, to), a)),
            (Operation::Binary(op, rounding), &[a, b]) => binary(net, op, rounding, Layout::of_width(to), [a, b]),
            (Operation::Compare(op), &[a, b]) => Some(comparison(net, op, Layout::of_width(from), [a, b])),
            (Operation::Fma(rounding), &[a, b, c]) => {
                let layout = Layout::of_width(to);
                let fits = 2 * layout.precision + 4 <= 128;
                fits.then(|| sum::fma(net, layout, rounding, [a, b, c]))
            }
            _ => unreachable!("each has as many operands as it takes"),
        }
    }
}

fn unary(net: &Net, op: FloatUnary, rounding: Rounding, (from, to): (u32, u32), a: TermId) -> TermId {
    match op {
        FloatUnary::Sqrt => product::sqrt(net, Layout::of_width(to), rounding, a),
        FloatUnary::Integral => convert::round_to_integral(net, Layout::of_width(to), rounding, a),
        FloatUnary::Resize => convert::resize(net, (Layout::of_width(from), Layout::of_width(to)), rounding, a),
        FloatUnary::ToSigned => convert::to_signed(net, Layout::of_width(from), to, a),
        FloatUnary::ToUnsigned => convert::to_unsigned(net, Layout::of_width(from), to, a),
        FloatUnary::FromSigned => convert::from_int(net, Layout::of_width(to), rounding, Signed::Yes, a),
        FloatUnary::FromUnsigned => convert::from_int(net, Layout::of_width(to), rounding, Signed::No, a),
    }
}

fn binary(net: &Net, op: FloatBinary, rounding: Rounding, layout: Layout, operands: [TermId; 2]) -> Option<TermId> {
    Some(match op {
        FloatBinary::Add => sum::add(net, layout, rounding, Second::Added, operands),
        FloatBinary::Sub => sum::add(net, layout, rounding, Second::Subtracted, operands),
        FloatBinary::Mul => product::mul(net, layout, rounding, operands),
        FloatBinary::Div => product::div(net, layout, rounding, operands),
        FloatBinary::Rem | FloatBinary::Remainder if layout.exponent > rest::MAX_EXPONENT => return None,
        FloatBinary::Rem => rest::rem(net, layout, operands),
        FloatBinary::Remainder => rest::remainder(net, layout, operands),
    })
}

fn comparison(net: &Net, op: FloatCompare, layout: Layout, [a, b]: [TermId; 2]) -> TermId {
    match op {
        FloatCompare::Less => compare::is_less(net, layout, [a, b]),
        FloatCompare::LessOrEqual => compare::is_at_most(net, layout, [a, b]),
        FloatCompare::Equal => compare::is_equal(net, layout, [a, b]),
    }
}

/// The NaN that comes out of an operation: the first operand that is one, made quiet, on the x87 the larger of two; or the one that
/// the processor makes.
fn nan_of(net: &Net, layout: Layout, operands: &[(TermId, Parts)]) -> TermId {
    let default = default_nan(net, layout);
    let first_of = |operands: &[(TermId, Parts)]| {
        operands
            .iter()
            .rev()
            .fold(default, |other, &(bits, parts)| net.ite(parts.is_nan, quieted(net, layout, bits, parts), other))
    };
    let first = first_of(operands);
    let (true, &[(a, x), (b, y)]) = (layout.is_explicit, operands) else { return first };
    let key = |bits: TermId| {
        let fraction = net.low(bits, layout.precision);
        let is_quiet = net.bit(bits, layout.precision - 2);
        net.concat(net.concat(is_quiet, fraction), net.not(net.top(bits)))
    };
    let second_wins = net.all(&[x.is_nan, y.is_nan, net.ult(key(a), key(b))]);
    let larger = net.ite(second_wins, quieted(net, layout, b, y), first);
    net.ite(net.or(x.is_unsupported, y.is_unsupported), default, larger)
}

/// An operation as terms over symbols of its own.
pub struct Circuit {
    pub terms: Terms,
    /// For each operand the symbols it consists of, the lowest bits first.
    pub operands: Vec<Vec<TermId>>,
    pub result: TermId,
}

impl Circuit {
    /// The widest symbol.
    pub const MAX_PIECE: u32 = 64;

    /// `None` where there is none.
    fn new(operation: Operation, from: u32, to: u32) -> Option<Circuit> {
        let mut terms = Terms::new();
        let mut operands = Vec::new();
        let mut whole = Vec::new();
        for nth in 0..operation.n_operands() {
            let starts = (0..from).step_by(Self::MAX_PIECE as usize);
            let piece = |lo: u32| terms.symbol(&format!("{nth}.{lo}"), Self::MAX_PIECE.min(from - lo));
            let pieces: Vec<TermId> = starts.map(piece).collect();
            let (first, others) = pieces.split_first()?;
            whole.push(others.iter().fold(*first, |low, &high| terms.concat(high, low)));
            operands.push(pieces);
        }
        let result = operation.lower(&mut terms, to, &whole)?;
        Some(Circuit { terms, operands, result })
    }
}

/// The circuits of all operations that were asked for.
#[derive(Default)]
pub struct Circuits {
    known: FxHashMap<(Operation, u32, u32), Option<Rc<Circuit>>>,
}

impl Circuits {
    /// That of an operation on operands of width `from`, with a result of width `to`; `None` where there is none.
    pub fn of(&mut self, operation: Operation, from: u32, to: u32) -> Option<Rc<Circuit>> {
        let make = || Circuit::new(operation, from, to).map(Rc::new);
        self.known.entry((operation, from, to)).or_insert_with(make).clone()
    }
}
