//! Every builder against the meaning of its operator, on all values of small widths.
//!
//! `Expr` is a term written down twice: once through the simplifying builders, once interpreted directly with `fold`.

use proptest::prelude::*;
use term::{Assignment, Eval, SymbolId, TermId, Terms, View, fold};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bin {
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    SDiv,
    SRem,
    Shl,
    LShr,
    AShr,
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
}
use Bin::*;

const BINARY: [Bin; 19] =
    [And, Or, Xor, Add, Sub, Mul, UDiv, URem, SDiv, SRem, Shl, LShr, AShr, Eq, Ne, Ult, Ule, Slt, Sle];

impl Bin {
    fn is_relation(self) -> bool {
        matches!(self, Eq | Ne | Ult | Ule | Slt | Sle)
    }

    fn meaning(self, a: u128, b: u128, width: u32) -> u128 {
        match self {
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            Add => fold::add(a, b, width),
            Sub => fold::sub(a, b, width),
            Mul => fold::mul(a, b, width),
            UDiv => fold::udiv(a, b, width),
            URem => fold::urem(a, b),
            SDiv => fold::sdiv(a, b, width),
            SRem => fold::srem(a, b, width),
            Shl => fold::shl(a, b, width),
            LShr => fold::lshr(a, b, width),
            AShr => fold::ashr(a, b, width),
            Eq => u128::from(a == b),
            Ne => u128::from(a != b),
            Ult => u128::from(a < b),
            Ule => u128::from(a <= b),
            Slt => u128::from(fold::signed(a, width) < fold::signed(b, width)),
            Sle => u128::from(fold::signed(a, width) <= fold::signed(b, width)),
        }
    }

    fn build(self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        let builder = match self {
            And => Terms::and,
            Or => Terms::or,
            Xor => Terms::xor,
            Add => Terms::add,
            Sub => Terms::sub,
            Mul => Terms::mul,
            UDiv => Terms::udiv,
            URem => Terms::urem,
            SDiv => Terms::sdiv,
            SRem => Terms::srem,
            Shl => Terms::shl,
            LShr => Terms::lshr,
            AShr => Terms::ashr,
            Eq => Terms::eq,
            Ne => Terms::ne,
            Ult => Terms::ult,
            Ule => Terms::ule,
            Slt => Terms::slt,
            Sle => Terms::sle,
        };
        builder(terms, a, b)
    }
}

#[derive(Clone, Debug)]
enum Expr {
    Var(usize),
    Const(u128, u32),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Bin(Bin, Box<Expr>, Box<Expr>),
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    Concat(Box<Expr>, Box<Expr>),
    Extract(Box<Expr>, u32, u32),
    ZExt(Box<Expr>, u32),
    SExt(Box<Expr>, u32),
}

/// Widths of the variables `v0`, `v1`, `v2`.
const VARS: [u32; 3] = [4, 3, 1];

fn inputs() -> impl Iterator<Item = [u128; 3]> {
    (0..256u128).map(|i| [i & 15, i >> 4 & 7, i >> 7])
}

impl Expr {
    fn width(&self) -> u32 {
        match self {
            Expr::Var(v) => VARS[*v],
            Expr::Const(_, width) | Expr::ZExt(_, width) | Expr::SExt(_, width) => *width,
            Expr::Not(a) | Expr::Neg(a) | Expr::Ite(_, a, _) => a.width(),
            Expr::Bin(op, a, _) => {
                if op.is_relation() {
                    1
                } else {
                    a.width()
                }
            }
            Expr::Concat(a, b) => a.width() + b.width(),
            Expr::Extract(_, hi, lo) => hi - lo + 1,
        }
    }

    fn meaning(&self, input: &[u128; 3]) -> u128 {
        let width = self.width();
        match self {
            Expr::Var(v) => input[*v],
            Expr::Const(value, _) => *value,
            Expr::Not(a) => fold::not(a.meaning(input), width),
            Expr::Neg(a) => fold::neg(a.meaning(input), width),
            Expr::Bin(op, a, b) => op.meaning(a.meaning(input), b.meaning(input), a.width()),
            Expr::Ite(c, a, b) => {
                if c.meaning(input) == 1 {
                    a.meaning(input)
                } else {
                    b.meaning(input)
                }
            }
            Expr::Concat(a, b) => a.meaning(input) << b.width() | b.meaning(input),
            Expr::Extract(a, hi, lo) => fold::extract(a.meaning(input), *hi, *lo),
            Expr::ZExt(a, _) => a.meaning(input),
            Expr::SExt(a, _) => fold::sext(a.meaning(input), a.width(), width),
        }
    }

    fn build(&self, terms: &mut Terms) -> TermId {
        match self {
            Expr::Var(v) => terms.symbol(&format!("v{v}"), VARS[*v]),
            Expr::Const(value, width) => terms.constant(*value, *width),
            Expr::Not(a) => {
                let a = a.build(terms);
                terms.not(a)
            }
            Expr::Neg(a) => {
                let a = a.build(terms);
                terms.neg(a)
            }
            Expr::Bin(op, a, b) => {
                let (a, b) = (a.build(terms), b.build(terms));
                op.build(terms, a, b)
            }
            Expr::Ite(c, a, b) => {
                let (c, a, b) = (c.build(terms), a.build(terms), b.build(terms));
                terms.ite(c, a, b)
            }
            Expr::Concat(a, b) => {
                let (a, b) = (a.build(terms), b.build(terms));
                terms.concat(a, b)
            }
            Expr::Extract(a, hi, lo) => {
                let a = a.build(terms);
                terms.extract(a, *hi, *lo)
            }
            Expr::ZExt(a, width) => {
                let a = a.build(terms);
                terms.zext(a, *width)
            }
            Expr::SExt(a, width) => {
                let a = a.build(terms);
                terms.sext(a, *width)
            }
        }
    }

    /// The same expression brought to a width, the way a compiler would.
    fn resized(self, width: u32, signed: bool) -> Expr {
        match self.width() {
            w if w == width => self,
            w if w > width => Expr::Extract(Box::new(self), width - 1, 0),
            _ if signed => Expr::SExt(Box::new(self), width),
            _ => Expr::ZExt(Box::new(self), width),
        }
    }
}

/// An arena with the variables made in order, and all inputs to try a term on.
struct Checker {
    terms: Terms,
    eval: Eval,
    inputs: Vec<([u128; 3], Assignment)>,
}

impl Checker {
    fn new() -> Checker {
        let mut terms = Terms::new();
        for (v, width) in VARS.iter().enumerate() {
            terms.symbol(&format!("v{v}"), *width);
        }
        let with_assignment =
            |input: [u128; 3]| (input, Assignment::from_values(input.iter().map(|&value| value as u64).collect()));
        Checker { terms, eval: Eval::new(), inputs: inputs().map(with_assignment).collect() }
    }

    fn check(&mut self, expr: &Expr) {
        self.check_first(expr, 256);
    }

    /// As [`Checker::check`], for expressions over `v0` alone.
    fn check_on_v0(&mut self, expr: &Expr) {
        self.check_first(expr, 16);
    }

    fn check_first(&mut self, expr: &Expr, n_inputs: usize) {
        let t = expr.build(&mut self.terms);
        assert_eq!(self.terms.width(t), expr.width(), "width of {expr:?}");
        for (input, assignment) in &self.inputs[..n_inputs] {
            let got = self.eval.eval(&self.terms, assignment, t);
            let view = self.terms.view(t);
            assert_eq!(got, expr.meaning(input), "{expr:?} became {t:?} {view:?}, wrong at {input:?}");
        }
    }
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        3 => (0usize..3).prop_map(Expr::Var),
        2 => (1u32..=4, any::<u8>()).prop_map(|(w, v)| Expr::Const(u128::from(v) & fold::mask(w), w)),
    ];
    leaf.prop_recursive(7, 48, 3, |inner| {
        let unary = (inner.clone(), 0u32..4, any::<(u8, u8)>()).prop_map(|(a, kind, (p, q))| {
            let w = a.width();
            match kind {
                0 => Expr::Not(Box::new(a)),
                1 => Expr::Neg(Box::new(a)),
                2 => {
                    let (p, q) = (u32::from(p) % w, u32::from(q) % w);
                    Expr::Extract(Box::new(a), p.max(q), p.min(q))
                }
                _ => {
                    let width = w + u32::from(p) % 5;
                    if q % 2 == 0 { Expr::ZExt(Box::new(a), width) } else { Expr::SExt(Box::new(a), width) }
                }
            }
        });
        let binary = (inner.clone(), inner.clone(), 0usize..19, any::<bool>()).prop_map(|(a, b, op, signed)| {
            let b = b.resized(a.width(), signed);
            Expr::Bin(BINARY[op], Box::new(a), Box::new(b))
        });
        let with_const = (inner.clone(), any::<u8>(), 0usize..19, any::<bool>()).prop_map(|(a, k, op, swap)| {
            let width = a.width();
            let k = Expr::Const(u128::from(k) & fold::mask(width), width);
            let (a, b) = if swap { (k, a) } else { (a, k) };
            Expr::Bin(BINARY[op], Box::new(a), Box::new(b))
        });
        let ite = (inner.clone(), inner.clone(), inner.clone(), any::<bool>()).prop_map(|(c, a, b, signed)| {
            let b = b.resized(a.width(), signed);
            Expr::Ite(Box::new(c.resized(1, false)), Box::new(a), Box::new(b))
        });
        let ite_const = (inner.clone(), any::<(u8, u8)>(), 1u32..=5).prop_map(|(c, (p, q), w)| {
            let k = |v: u8| Box::new(Expr::Const(u128::from(v) & fold::mask(w), w));
            Expr::Ite(Box::new(c.resized(1, false)), k(p), k(q))
        });
        let concat = (inner.clone(), inner).prop_map(|(a, b)| match a.width() + b.width() {
            0..=20 => Expr::Concat(Box::new(a), Box::new(b)),
            _ => a,
        });
        prop_oneof![2 => unary, 3 => binary, 3 => with_const, 1 => ite, 1 => ite_const, 2 => concat]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]
    #[test]
    fn random_terms_keep_their_meaning(expr in expr()) {
        Checker::new().check(&expr);
    }
}

fn variable(width: u32) -> Expr {
    Expr::Var(0).resized(width, false)
}

/// (op2 (op1 x K1) K2) with constants on every side: this is where most rules are.
#[test]
fn pairs_of_operators_with_constants() {
    for width in 1..=4 {
        let mut checker = Checker::new();
        let constants: Vec<u128> = (0..=fold::mask(width)).collect();
        for op1 in BINARY {
            for &k1 in &constants {
                for left1 in [false, true] {
                    let (x, k) = (Box::new(variable(width)), Box::new(Expr::Const(k1, width)));
                    let inner = if left1 { Expr::Bin(op1, k, x) } else { Expr::Bin(op1, x, k) };
                    let outer_width = inner.width();
                    for op2 in BINARY {
                        for k2 in 0..=fold::mask(outer_width) {
                            // Width 4 would be a million cases; every other constant reaches all rules.
                            if width == 4 && (k2 + k1) % 3 != 0 {
                                continue;
                            }
                            let k = Box::new(Expr::Const(k2, outer_width));
                            let outer = Expr::Bin(op2, Box::new(inner.clone()), k.clone());
                            checker.check_on_v0(&outer);
                            let outer = Expr::Bin(op2, k, Box::new(inner.clone()));
                            checker.check_on_v0(&outer);
                        }
                    }
                }
            }
        }
    }
}

/// (op (shape x) (shape y)) for all shapes of operands: extensions, concatenations, extracts, negations, choices.
#[test]
fn operators_on_shapes() {
    let b = |e: Expr| Box::new(e);
    let v0 = || Expr::Var(0);
    let v1 = || Expr::Var(1);
    let mut shapes: Vec<Expr> = vec![
        v0(),
        Expr::Not(b(v0())),
        Expr::Neg(b(v0())),
        v1().resized(4, false),
        v1().resized(4, true),
        Expr::Concat(b(v1()), b(Expr::Var(2))),
        Expr::Concat(b(Expr::Var(2)), b(v1())),
        Expr::Concat(b(Expr::Extract(b(v0()), 1, 0)), b(Expr::Extract(b(v0()), 3, 2))),
        Expr::Concat(b(Expr::Extract(b(v0()), 3, 2)), b(Expr::Extract(b(v0()), 1, 0))),
        Expr::Concat(b(v1()), b(Expr::Const(0, 1))),
        Expr::Concat(b(Expr::Const(1, 1)), b(v1())),
        Expr::Ite(b(Expr::Var(2)), b(Expr::Const(3, 4)), b(Expr::Const(12, 4))),
        Expr::Ite(b(Expr::Var(2)), b(v0()), b(Expr::Const(5, 4))),
    ];
    for op in [And, Or, Xor, Add, Sub, Mul, Shl, SRem] {
        shapes.push(Expr::Bin(op, b(v0()), b(v1().resized(4, false))));
        shapes.push(Expr::Bin(op, b(v0()), b(Expr::Const(6, 4))));
    }
    shapes.extend((0..16).map(|k| Expr::Const(k, 4)));
    let mut checker = Checker::new();
    for x in &shapes {
        for y in &shapes {
            for op in BINARY {
                checker.check(&Expr::Bin(op, b(x.clone()), b(y.clone())));
            }
            checker.check(&Expr::Concat(b(x.clone()), b(y.clone())));
            checker.check(&Expr::Ite(b(Expr::Var(2)), b(x.clone()), b(y.clone())));
        }
        for hi in 0..4 {
            for lo in 0..=hi {
                checker.check(&Expr::Extract(b(x.clone()), hi, lo));
            }
        }
        for width in 4..7 {
            checker.check(&Expr::ZExt(b(x.clone()), width));
            checker.check(&Expr::SExt(b(x.clone()), width));
        }
    }
}

/// (op (op1 x K1) (op2 x K2)): rules that meet the same operand on both sides.
#[test]
fn operators_on_one_operand_twice() {
    let b = |e: Expr| Box::new(e);
    let mut sides = vec![Expr::Var(0), Expr::Not(b(Expr::Var(0))), Expr::Neg(b(Expr::Var(0)))];
    for op in [Add, Sub, Mul, Shl, And, Or, Xor] {
        for k in [1u128, 2, 3, 5, 8, 15] {
            sides.push(Expr::Bin(op, b(Expr::Var(0)), b(Expr::Const(k, 4))));
        }
        // The second operand is another variable, so that x and y meet x, y or both.
        let y = || b(Expr::Var(1).resized(4, false));
        sides.push(Expr::Bin(op, b(Expr::Var(0)), y()));
        sides.push(Expr::Bin(op, y(), b(Expr::Var(0))));
    }
    for k in [1u128, 7, 15] {
        sides.push(Expr::Bin(Sub, b(Expr::Const(k, 4)), b(Expr::Var(0))));
    }
    let mut checker = Checker::new();
    for x in &sides {
        for y in &sides {
            for op in BINARY {
                checker.check(&Expr::Bin(op, b(x.clone()), b(y.clone())));
            }
        }
    }
}

/// Conditions about few things, so that they meet, imply and exclude each other.
fn conditions() -> Vec<Expr> {
    let b = |e: Expr| Box::new(e);
    let mut conditions = vec![Expr::Var(2)];
    for op in [Eq, Ult, Slt] {
        for k in [2u128, 5] {
            conditions.push(Expr::Bin(op, b(Expr::Var(0)), b(Expr::Const(k, 4))));
        }
        conditions.push(Expr::Bin(op, b(Expr::Var(0)), b(Expr::Var(1).resized(4, false))));
    }
    let negated: Vec<Expr> = conditions.iter().map(|c| Expr::Not(b(c.clone()))).collect();
    conditions.extend(negated);
    conditions
}

#[test]
fn logic_of_conditions() {
    let b = |e: &Expr| Box::new(e.clone());
    let mut checker = Checker::new();
    let conditions = conditions();
    for x in &conditions {
        for y in &conditions {
            for inner in [And, Or, Xor, Eq] {
                let pair = Expr::Bin(inner, b(x), b(y));
                for outer in [And, Or, Xor] {
                    // The third is one of the first two or something else.
                    for z in [x, y, &conditions[0], &conditions[1]] {
                        checker.check(&Expr::Bin(outer, b(&pair), b(z)));
                        let not = Expr::Not(b(&pair));
                        checker.check(&Expr::Bin(outer, b(z), b(&not)));
                    }
                }
            }
        }
    }
}

#[test]
fn choices_within_choices() {
    let b = |e: &Expr| Box::new(e.clone());
    let mut checker = Checker::new();
    let arms = [Expr::Var(0), Expr::Var(1).resized(4, false), Expr::Const(0, 4), Expr::Const(1, 4), Expr::Const(15, 4)];
    let conditions = conditions();
    for c in conditions.iter().step_by(3) {
        for d in [&conditions[0], &conditions[1], &conditions[3], c] {
            for x in &arms {
                for y in &arms {
                    for z in &arms {
                        let inner = Expr::Ite(b(d), b(x), b(y));
                        let left = Expr::Ite(b(c), b(&inner), b(z));
                        let right = Expr::Ite(b(c), b(z), b(&inner));
                        checker.check(&left);
                        checker.check(&right);
                        for k in [0, 1, 5, 15] {
                            let k = Expr::Const(k, 4);
                            checker.check(&Expr::Bin(Eq, b(&right), b(&k)));
                        }
                        checker.check(&Expr::Extract(b(&left), 2, 1));
                    }
                }
            }
        }
    }
}

#[test]
fn products_with_inverses_below_the_largest_quotient_are_divisions() {
    for width in 3..=8 {
        let mask = fold::mask(width);
        let mut n_rewritten = 0;
        for factor in 1..=mask {
            for limit in 1..=mask {
                let mut terms = Terms::new();
                let x = terms.symbol("x", width);
                let (k, bound) = (terms.constant(factor, width), terms.constant(limit, width));
                let product = terms.mul(x, k);
                let below = terms.ult(product, bound);
                if !matches!(terms.view(below), View::Eq(rest, _) if matches!(terms.view(rest), View::URem(..))) {
                    continue;
                }
                n_rewritten += 1;
                let mut eval = Eval::new();
                for value in 0..=mask {
                    let mut input = Assignment::new();
                    input.set(SymbolId(0), value as u64);
                    let is_below = fold::mul(value, factor, width) < limit;
                    assert_eq!(eval.holds(&terms, &input, below), is_below, "{value} * {factor} < {limit}");
                }
            }
        }
        // One for each odd number that is smaller than its inverse.
        let n_wanted =
            (3..=mask).step_by(2).filter(|by| (by + 1..=mask).any(|k| fold::mul(*by, k, width) == 1)).count();
        assert_eq!(n_rewritten, n_wanted, "{width} bits");
    }
}
