//! The conditions as a list of nodes, each after its operands, and what one node says about itself and its operands.

use super::order;
use super::span::{self, Span, binary_at, from_first, unary_at, up_to_last};
use crate::ulps::last;
use rustc_hash::FxHashMap;
use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};
use term::{TermId, Terms, View, fold};

/// Nodes of one question.
const MAX_NODES: usize = 2_000;

/// Operands are places in the list.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// A float or a condition that nothing more is known of.
    Leaf,
    Unary(FloatUnary, Rounding, Format, usize),
    Binary(FloatBinary, Rounding, usize, usize),
    Fma(Rounding, [usize; 3]),
    Negated(usize),
    Magnitude(usize),
    Ite(usize, usize, usize),
    Compare(FloatCompare, usize, usize),
    Not(usize),
    And(usize, usize),
}

#[derive(Clone, Copy)]
pub(super) struct Node {
    pub what: What,
    /// `None` for a condition.
    pub format: Option<Format>,
}

/// Makes a node on one operand.
type OfOne = fn(usize) -> What;

/// There is nothing that satisfies everything.
pub(super) struct Contradiction;

pub(super) struct Net {
    pub nodes: Vec<Node>,
    /// What is known before anything is looked at.
    pub start: Vec<Span>,
    /// The comparisons of two floats with each other, in either order.
    pub facts: FxHashMap<(usize, usize), Vec<usize>>,
    /// The floats that one is compared with.
    pub compared_with: FxHashMap<usize, Vec<usize>>,
}

impl Net {
    /// `None` where there is too much of it.
    pub fn new(terms: &Terms, conditions: &[TermId]) -> Option<Net> {
        let (facts, compared_with) = Default::default();
        let mut net = Net { nodes: Vec::new(), start: Vec::new(), facts, compared_with };
        let mut places: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut stack: Vec<(TermId, Option<Format>)> = conditions.iter().map(|&t| (t, None)).collect();
        while let Some(&(t, format)) = stack.last() {
            if places.contains_key(&t) {
                stack.pop();
                continue;
            }
            let wanted = operands(terms, t, format);
            let before = stack.len();
            stack.extend(wanted.iter().copied().filter(|(operand, _)| !places.contains_key(operand)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if net.nodes.len() == MAX_NODES {
                return None;
            }
            let node = Node { what: what(terms, t, format, &places), format };
            places.insert(t, net.nodes.len());
            net.start.push(first_span(terms, t, format));
            net.note_comparison(node.what);
            net.nodes.push(node);
        }
        for condition in conditions {
            let at = places[condition];
            net.start[at] = net.start[at].meet(Span::truth(false, true));
        }
        Some(net)
    }

    /// For what order says, where the node that comes next is a comparison.
    fn note_comparison(&mut self, what: What) {
        let What::Compare(_, a, b) = what else { return };
        for (one, other) in [(a, b), (b, a)] {
            self.facts.entry((one, other)).or_default().push(self.nodes.len());
            self.compared_with.entry(one).or_default().push(other);
        }
    }

    /// Narrows a node by its operands; whether that changed it.
    pub fn forward(&self, spans: &mut [Span], at: usize) -> Result<bool, Contradiction> {
        let Node { what, format } = self.nodes[at];
        let span = match what {
            What::Leaf => return Ok(false),
            What::Not(a) => Span::numbers(1 - spans[a].hi, 1 - spans[a].lo),
            What::And(a, b) => Span::numbers(spans[a].lo & spans[b].lo, spans[a].hi & spans[b].hi),
            What::Compare(op, a, b) => {
                let by_spans = span::compare(op, spans[a], spans[b], a == b);
                match by_spans.lo < by_spans.hi && a != b {
                    true => by_spans.meet(order::of_comparison(self, spans, op, a, b)),
                    false => by_spans,
                }
            }
            What::Negated(a) => spans[a].negated(),
            What::Magnitude(a) => spans[a].magnitude(),
            What::Ite(c, a, b) => match (spans[c].has(0), spans[c].has(1)) {
                (false, _) => spans[a],
                (_, false) => spans[b],
                _ => spans[a].join(spans[b]),
            },
            What::Unary(op, rounding, from, a) => span::unary(op, rounding, (from, format.expect("a float")), spans[a]),
            What::Binary(FloatBinary::Mul, rounding, a, b) if a == b => {
                span::square(rounding, format.expect("a float"), spans[a])
            }
            What::Binary(op, rounding, a, b) => {
                let format = format.expect("a float");
                let by_spans = span::binary(op, rounding, format, spans[a], spans[b]);
                match op {
                    FloatBinary::Sub | FloatBinary::Div => {
                        by_spans.meet(order::of_result(self, spans, (op, format), a, b))
                    }
                    _ => by_spans,
                }
            }
            What::Fma(rounding, operands) => {
                span::fma(rounding, format.expect("a float"), operands.map(|operand| spans[operand]))
            }
        };
        narrow(spans, at, span)
    }

    /// Narrows the operands of a node by what the node is; whether that changed one.
    pub fn backward(&self, spans: &mut [Span], at: usize) -> Result<bool, Contradiction> {
        let Node { what, format } = self.nodes[at];
        let here = spans[at];
        match what {
            What::Leaf => Ok(false),
            What::Not(a) => narrow(spans, a, Span::numbers(1 - here.hi, 1 - here.lo)),
            What::And(a, b) if here.lo == 1 => {
                Ok(narrow(spans, a, Span::truth(false, true))? | narrow(spans, b, Span::truth(false, true))?)
            }
            What::And(a, b) if here.hi == 0 => {
                // One of them fails; if the other cannot, it is this one.
                let mut changed = false;
                for (one, other) in [(a, b), (b, a)] {
                    if spans[other].lo == 1 {
                        changed |= narrow(spans, one, Span::truth(true, false))?;
                    }
                }
                Ok(changed)
            }
            What::And(..) => Ok(false),
            What::Compare(op, a, b) => backward_compare(spans, here, op, a, b),
            What::Negated(a) => narrow(spans, a, here.negated()),
            What::Magnitude(a) => narrow(spans, a, Span { lo: -here.hi, ..here }),
            What::Ite(c, a, b) => match (spans[c].has(0), spans[c].has(1)) {
                (false, _) => narrow(spans, a, here),
                (_, false) => narrow(spans, b, here),
                _ if spans[a].meet(here).is_nothing() => narrow(spans, c, Span::truth(true, false)),
                _ if spans[b].meet(here).is_nothing() => narrow(spans, c, Span::truth(false, true)),
                _ => Ok(false),
            },
            // What may be a NaN says nothing about the numbers it is made of.
            _ if here.has_nan || !here.has_numbers() => Ok(false),
            What::Unary(op, rounding, from, a) => {
                let of = |x: i128| unary_at(op, rounding, from, format.expect("a float"), x);
                let start = if op == FloatUnary::Sqrt { Span::numbers(0, last(from)) } else { Span::full(from) };
                let numbers = Span { has_nan: false, ..spans[a].meet(start) };
                let span = from_first(numbers, |x| of(x).is_none_or(|result| result >= here.lo));
                narrow(spans, a, up_to_last(span, |x| of(x).is_none_or(|result| result <= here.hi)))
            }
            What::Binary(op, rounding, a, b) => {
                backward_binary(spans, here, (op, rounding, format.expect("a float")), a, b)
            }
            What::Fma(_, operands) => operands.into_iter().try_fold(false, |changed, operand| {
                Ok(changed | narrow(spans, operand, Span { has_nan: false, ..spans[operand] })?)
            }),
        }
    }
}

fn narrow(spans: &mut [Span], at: usize, by: Span) -> Result<bool, Contradiction> {
    let narrower = spans[at].meet(by);
    if narrower.is_nothing() {
        return Err(Contradiction);
    }
    let changed = narrower != spans[at];
    spans[at] = narrower;
    Ok(changed)
}

fn backward_compare(
    spans: &mut [Span],
    here: Span,
    op: FloatCompare,
    a: usize,
    b: usize,
) -> Result<bool, Contradiction> {
    let (x, y) = (spans[a], spans[b]);
    let must_hold = here.lo == 1;
    let step = i128::from(match op {
        FloatCompare::Less => must_hold,
        FloatCompare::LessOrEqual => !must_hold,
        FloatCompare::Equal => false,
    });
    match (must_hold, op) {
        (true, FloatCompare::Equal) => {
            let both = Span { has_nan: false, ..x.meet(y) };
            Ok(narrow(spans, a, both)? | narrow(spans, b, both)?)
        }
        (true, _) => {
            let (below, above) = (Span::numbers(x.lo, y.hi - step), Span::numbers(x.lo + step, y.hi));
            Ok(narrow(spans, a, below)? | narrow(spans, b, above)?)
        }
        // It fails: no number is equal, so an end that is the other one's only value is none.
        (false, FloatCompare::Equal) if here.hi == 0 => {
            Ok(narrow(spans, a, without(x, y))? | narrow(spans, b, without(y, x))?)
        }
        // It fails, and not for a NaN: then it is the other way around.
        (false, FloatCompare::Less | FloatCompare::LessOrEqual) if here.hi == 0 && !x.has_nan && !y.has_nan => {
            let (above, below) = (Span::numbers(y.lo + step, x.hi), Span::numbers(y.lo, x.hi - step));
            Ok(narrow(spans, a, above)? | narrow(spans, b, below)?)
        }
        _ => Ok(false),
    }
}

/// A span without the only value of another one, where that is at an end of it.
fn without(span: Span, other: Span) -> Span {
    if other.lo != other.hi || other.has_nan {
        return span;
    }
    match other.lo {
        place if place == span.lo => span.meet(Span { lo: span.lo + 1, ..span }),
        place if place == span.hi => span.meet(Span { hi: span.hi - 1, ..span }),
        _ => span,
    }
}

/// The result is a number, so the operands are; and each is where some value of the other makes such a result of it.
fn backward_binary(
    spans: &mut [Span],
    here: Span,
    (op, rounding, format): (FloatBinary, Rounding, Format),
    a: usize,
    b: usize,
) -> Result<bool, Contradiction> {
    let number = |span: Span| Span { has_nan: false, ..span };
    let mut changed = narrow(spans, a, number(spans[a]))? | narrow(spans, b, number(spans[b]))?;
    let (x, y) = (spans[a], spans[b]);
    let of = |x: i128, y: i128| binary_at(op, rounding, format, x, y);
    let reaches = |result: Option<i128>| result.is_none_or(|result| result >= here.lo);
    let stays = |result: Option<i128>| result.is_none_or(|result| result <= here.hi);
    if a == b {
        if op == FloatBinary::Mul {
            let size = up_to_last(x.magnitude(), |x| stays(of(x, x)));
            changed |= narrow(spans, a, Span { lo: -size.hi, ..size })?;
        }
        return Ok(changed);
    }
    match op {
        FloatBinary::Add => {
            let span = up_to_last(from_first(x, |x| reaches(of(x, y.hi))), |x| stays(of(x, y.lo)));
            changed |= narrow(spans, a, span)?;
            let x = spans[a];
            let span = up_to_last(from_first(y, |y| reaches(of(x.hi, y))), |y| stays(of(x.lo, y)));
            changed |= narrow(spans, b, span)?;
        }
        FloatBinary::Sub => {
            let span = up_to_last(from_first(x, |x| reaches(of(x, y.lo))), |x| stays(of(x, y.hi)));
            changed |= narrow(spans, a, span)?;
            let x = spans[a];
            let span = from_first(up_to_last(y, |y| reaches(of(x.hi, y))), |y| stays(of(x.lo, y)));
            changed |= narrow(spans, b, span)?;
        }
        FloatBinary::Mul => {
            changed |= narrow(spans, a, factor(x, y, here, of))?;
            changed |= narrow(spans, b, factor(y, spans[a], here, |y, x| of(x, y)))?;
        }
        FloatBinary::Div if !y.has(0) => changed |= narrow(spans, a, factor(x, y, here, of))?,
        FloatBinary::Div | FloatBinary::Rem | FloatBinary::Remainder => {}
    }
    Ok(changed)
}

/// Where a factor lies, or a dividend, given the other operand, if that has one sign.
fn factor(x: Span, y: Span, here: Span, of: impl Fn(i128, i128) -> Option<i128>) -> Span {
    let (grows, falls) = (y.lo >= 0, y.hi <= 0);
    if !grows && !falls {
        return x;
    }
    // The most and the least that it can come to; what is no number says nothing.
    let ends = |x: i128| of(x, y.lo).zip(of(x, y.hi));
    let reaches = |x: i128| ends(x).is_none_or(|(one, other)| one.max(other) >= here.lo);
    let stays = |x: i128| ends(x).is_none_or(|(one, other)| one.min(other) <= here.hi);
    if grows { up_to_last(from_first(x, reaches), stays) } else { from_first(up_to_last(x, reaches), stays) }
}

/// What is looked at below a term, and as what: as a float of a format, or as a condition.
fn operands(terms: &Terms, t: TermId, format: Option<Format>) -> Vec<(TermId, Option<Format>)> {
    let of_width = |t: TermId| Format::find(terms.width(t));
    match (terms.view(t), format) {
        (View::Not(a), None) => vec![(a, None)],
        (View::And(a, b), None) => vec![(a, None), (b, None)],
        (View::FloatCompare { a, b, .. }, None) => vec![(a, of_width(a)), (b, of_width(b))],
        (View::FloatBinary { a, b, .. }, Some(_)) => vec![(a, format), (b, format)],
        (View::Fma { a, b, c, .. }, Some(_)) => vec![(a, format), (b, format), (c, format)],
        (View::FloatUnary { op: FloatUnary::Sqrt | FloatUnary::Integral | FloatUnary::Resize, arg, .. }, Some(_)) => {
            vec![(arg, of_width(arg))]
        }
        (View::Ite(c, a, b), Some(_)) => vec![(c, None), (a, format), (b, format)],
        (_, Some(format)) => sign_changed(terms, t, format).map(|(a, _)| (a, Some(format))).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Whose sign a term changes: to the other one, or to none.
fn sign_changed(terms: &Terms, t: TermId, format: Format) -> Option<(TermId, OfOne)> {
    match terms.view(t) {
        View::Xor(a, k) if terms.as_const(k) == Some(format.sign_bit()) => Some((a, What::Negated)),
        View::And(a, k) if terms.as_const(k) == Some(format.sign_bit() - 1) => Some((a, What::Magnitude)),
        // What is left of a number without its sign, below a zero.
        View::ZExt(inner) if terms.width(inner) + 1 == format.width() => match terms.view(inner) {
            View::Extract { arg, lo: 0 } if terms.width(arg) == format.width() => Some((arg, What::Magnitude)),
            _ => None,
        },
        View::Concat(sign, rest) => match (terms.view(sign), terms.view(rest)) {
            (View::Not(top), View::Extract { arg, lo: 0 }) => match terms.view(top) {
                View::Extract { arg: same, lo } if same == arg && lo + 1 == format.width() => {
                    (terms.width(arg) == format.width()).then_some((arg, What::Negated))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn what(terms: &Terms, t: TermId, format: Option<Format>, places: &FxHashMap<TermId, usize>) -> What {
    let at = |t: TermId| places[&t];
    match (terms.view(t), format) {
        (View::Not(a), None) => What::Not(at(a)),
        (View::And(a, b), None) => What::And(at(a), at(b)),
        (View::FloatCompare { op, a, b }, None) => What::Compare(op, at(a), at(b)),
        (View::FloatBinary { op, rounding, a, b }, Some(_)) => What::Binary(op, rounding, at(a), at(b)),
        (View::Fma { rounding, a, b, c }, Some(_)) => What::Fma(rounding, [at(a), at(b), at(c)]),
        (
            View::FloatUnary { op: op @ (FloatUnary::Sqrt | FloatUnary::Integral | FloatUnary::Resize), rounding, arg },
            Some(_),
        ) => What::Unary(op, rounding, Format::of(terms.width(arg)), at(arg)),
        (View::Ite(c, a, b), Some(_)) => What::Ite(at(c), at(a), at(b)),
        (_, Some(format)) => sign_changed(terms, t, format).map_or(What::Leaf, |(a, change)| change(at(a))),
        _ => What::Leaf,
    }
}

fn first_span(terms: &Terms, t: TermId, format: Option<Format>) -> Span {
    let Some(format) = format else {
        return terms.as_const(t).map_or(Span::truth(true, true), |value| Span::truth(value == 0, value == 1));
    };
    match terms.view(t) {
        View::Const(bits) => Span::exact(format, bits),
        View::FloatUnary { op: FloatUnary::FromSigned, rounding, arg } => {
            // An integer that was made longer has the bounds of the shorter one.
            let (n_bits, is_signed) = match terms.view(arg) {
                View::SExt(inner) => (terms.width(inner), true),
                View::ZExt(inner) => (terms.width(inner), false),
                _ => (terms.width(arg), true),
            };
            let (least, most) = match is_signed {
                true => (fold::signed(fold::sign_bit(n_bits), n_bits), (fold::sign_bit(n_bits) - 1) as i128),
                false => (0, fold::mask(n_bits) as i128),
            };
            let of = |value: i128| Span::exact(format, float::from_signed(format, rounding, value));
            of(least).join(of(most))
        }
        View::FloatUnary { op: FloatUnary::FromUnsigned, rounding, arg } => {
            let n_bits = if let View::ZExt(inner) = terms.view(arg) { terms.width(inner) } else { terms.width(arg) };
            let most = float::from_unsigned(format, rounding, fold::mask(n_bits));
            Span::exact(format, 0).join(Span::exact(format, most))
        }
        _ => Span::full(format),
    }
}
