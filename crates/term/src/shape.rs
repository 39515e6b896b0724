//! `concat`, `extract`, zero and sign extension: pushed to where they cancel.
//!
//! Concatenations lean right, `(concat a (concat b c))`; leading zeros are a zero extension.

use crate::Terms;
use crate::fold;
use crate::node::{Op, TermId, View};

/// A bitwise operator with a constant.
#[derive(Clone, Copy)]
enum Mask {
    And,
    Or,
    Xor,
}

impl Terms {
    /// `hi` above `lo`.
    pub fn concat(&mut self, hi: TermId, lo: TermId) -> TermId {
        let (hi_width, lo_width) = (self.width(hi), self.width(lo));
        let width = hi_width + lo_width;
        debug_assert!(width <= 128, "a term has at most 128 bits");
        match self.view(hi) {
            // match: (concat 0 x)                    result: ((_ zero_extend n) x)
            View::Const(0) => return self.zext(lo, width),
            // match: (concat (concat x y) z)         result: (concat x (concat y z))
            View::Concat(x, y) => {
                let lower = self.concat(y, lo);
                return self.concat(x, lower);
            }
            // match: (concat ((_ zero_extend n) x) y)    result: ((_ zero_extend n) (concat x y))
            View::ZExt(x) => {
                let joined = self.concat(x, lo);
                return self.zext(joined, width);
            }
            _ => {}
        }
        match self.view(lo) {
            // match: (concat x (concat y z)), x and y fuse   result: (concat xy z)
            View::Concat(x, y) => {
                if let Some(fused) = self.fuse(hi, x) {
                    return self.concat(fused, y);
                }
            }
            // match: (concat K ((_ zero_extend n) x))    result: (concat K0..0 x)
            View::ZExt(x) => {
                if let Some(value) = self.as_const(hi) {
                    let narrow = self.width(x);
                    let upper = self.constant(value << (lo_width - narrow), width - narrow);
                    return self.concat(upper, x);
                }
            }
            _ => {
                if let Some(fused) = self.fuse(hi, lo) {
                    return fused;
                }
            }
        }
        self.make2(Op::Concat, width, hi, lo)
    }

    /// Two neighbours that are one term.
    fn fuse(&mut self, hi: TermId, lo: TermId) -> Option<TermId> {
        let width = self.width(hi) + self.width(lo);
        match (self.view(hi), self.view(lo)) {
            // match: (concat K1 K2)                  result: the constant
            (View::Const(x), View::Const(y)) => Some(self.constant(x << self.width(lo) | y, width)),
            // match: (concat ((_ extract h m+1) x) ((_ extract m l) x))   result: ((_ extract h l) x)
            (View::Extract { arg: x, lo: x_lo }, View::Extract { arg: y, lo: y_lo })
                if x == y && x_lo == y_lo + self.width(lo) =>
            {
                Some(self.extract(x, y_lo + width - 1, y_lo))
            }
            // match: (concat ((_ extract h m) t) y), y what ((_ extract m-1 0) t) became    result: ((_ extract h 0) t)
            (View::Extract { arg, lo: m }, _) if m == self.width(lo) && self.narrows(arg) => {
                (self.extract(arg, m - 1, 0) == lo).then(|| self.extract(arg, width - 1, 0))
            }
            // match: (concat ((_ sign_extend n) ((_ extract w-1 w-1) x)) x), x of w bits    result: ((_ sign_extend n+1) x)
            (View::SExt(top), _) if self.width(top) == 1 => {
                let sign = self.width(lo) - 1;
                (self.extract(lo, sign, sign) == top).then(|| self.sext(lo, width))
            }
            // match: (concat (ite c a b) (ite c x y)), a and x fuse, b and y fuse    result: (ite c ax by)
            (View::Ite(c, a, b), View::Ite(d, x, y)) if c == d => {
                let (a, b) = (self.fuse(a, x)?, self.fuse(b, y)?);
                Some(self.ite(c, a, b))
            }
            // match: (concat (op x J) (op y K)), op bitwise, x and y fuse, J or K may be what op leaves x or y with
            // result: (op xy JK)
            (View::And(_, k), _) | (_, View::And(_, k)) if self.is_const(k) => self.fuse_masked(Mask::And, hi, lo),
            (View::Or(_, k), _) | (_, View::Or(_, k)) if self.is_const(k) => self.fuse_masked(Mask::Or, hi, lo),
            (View::Xor(_, k), _) | (_, View::Xor(_, k)) if self.is_const(k) => self.fuse_masked(Mask::Xor, hi, lo),
            (View::Not(_), _) | (_, View::Not(_)) => self.fuse_masked(Mask::Xor, hi, lo),
            _ => None,
        }
    }

    /// Neighbours under a bitwise operator with constants; one that is not has the operator's neutral constant.
    fn fuse_masked(&mut self, mask: Mask, hi: TermId, lo: TermId) -> Option<TermId> {
        let ((x, j), (y, k)) = (self.unmasked(mask, hi), self.unmasked(mask, lo));
        let (width, low) = (self.width(hi) + self.width(lo), self.width(lo));
        let fused = self.fuse(x, y)?;
        let k = self.constant(j << low | (k & (u128::MAX >> (128 - low))), width);
        Some(match mask {
            Mask::And => self.and(fused, k),
            Mask::Or => self.or(fused, k),
            Mask::Xor => self.xor(fused, k),
        })
    }

    fn unmasked(&self, mask: Mask, t: TermId) -> (TermId, u128) {
        let (x, k) = match (mask, self.view(t)) {
            (Mask::And, View::And(x, k)) | (Mask::Or, View::Or(x, k)) | (Mask::Xor, View::Xor(x, k)) => {
                (x, self.as_const(k))
            }
            (Mask::Xor, View::Not(x)) => (x, Some(u128::MAX)),
            _ => (t, None),
        };
        match (k, mask) {
            (Some(k), _) => (x, k),
            (None, Mask::And) => (t, u128::MAX),
            (None, Mask::Or | Mask::Xor) => (t, 0),
        }
    }

    /// Whether a low extract of a term may have been pushed into its operands.
    fn narrows(&self, t: TermId) -> bool {
        matches!(self.view(t), View::Add(..) | View::Sub(..) | View::Mul(..))
    }

    /// Bits `hi` down to `lo`, both included.
    pub fn extract(&mut self, t: TermId, hi: u32, lo: u32) -> TermId {
        debug_assert!(lo <= hi && hi < self.width(t));
        let width = hi - lo + 1;
        // match: ((_ extract n-1 0) x), x of n bits  result: x
        if width == self.width(t) {
            return t;
        }
        match self.view(t) {
            View::Const(value) => return self.constant(value >> lo, width),
            // match: ((_ extract h l) ((_ extract i j) x))   result: ((_ extract h+j l+j) x)
            View::Extract { arg, lo: below } => return self.extract(arg, hi + below, lo + below),
            View::Concat(x, y) => return self.extract_of_concat(x, y, hi, lo),
            // match: ((_ extract h l) ((_ zero_extend n) x))   result: what remains of x, extended
            View::ZExt(x) => {
                let inner = self.width(x);
                if lo >= inner {
                    return self.constant(0, width);
                }
                let low = self.extract(x, hi.min(inner - 1), lo);
                return self.zext(low, width);
            }
            // match: ((_ extract h l) ((_ sign_extend n) x))   result: what remains of x, extended
            View::SExt(x) => {
                let inner = self.width(x);
                let low = self.extract(x, hi.min(inner - 1), lo.min(inner - 1));
                return self.sext(low, width);
            }
            // match: ((_ extract h l) (bvnot x))     result: (bvnot ((_ extract h l) x))
            View::Not(x) => {
                let low = self.extract(x, hi, lo);
                return self.not(low);
            }
            // match: ((_ extract h l) (op x K)), op bitwise    result: (op of both extracts)
            View::And(x, y) if self.is_const(y) => return self.extract_both(x, y, hi, lo, Terms::and),
            View::Or(x, y) if self.is_const(y) => return self.extract_both(x, y, hi, lo, Terms::or),
            View::Xor(x, y) if self.is_const(y) => return self.extract_both(x, y, hi, lo, Terms::xor),
            // match: ((_ extract h 0) (op x y)), op add, sub, mul, an operand that shrinks by it
            // result: (op of both extracts)
            View::Add(x, y) if lo == 0 && self.shrinks(x, y) => {
                if let Some(result) = self.descend(|terms| terms.extract_both(x, y, hi, 0, Terms::add)) {
                    return result;
                }
            }
            View::Sub(x, y) if lo == 0 && self.shrinks(x, y) => {
                if let Some(result) = self.descend(|terms| terms.extract_both(x, y, hi, 0, Terms::sub)) {
                    return result;
                }
            }
            View::Mul(x, y) if lo == 0 && self.shrinks(x, y) => {
                if let Some(result) = self.descend(|terms| terms.extract_both(x, y, hi, 0, Terms::mul)) {
                    return result;
                }
            }
            View::Shl(x, by) => {
                if let Some(by) = self.as_const(by) {
                    return self.extract_of_shl(x, by as u32, hi, lo);
                }
            }
            // match: ((_ extract h l) (ite c a b)), an arm constant    result: (ite c of both extracts)
            View::Ite(c, a, b) if self.is_const(a) || self.is_const(b) => {
                let pushed = self.descend(|terms| {
                    let (a, b) = (terms.extract(a, hi, lo), terms.extract(b, hi, lo));
                    terms.ite(c, a, b)
                });
                if let Some(result) = pushed {
                    return result;
                }
            }
            _ => {}
        }
        self.make_extract(width, t, lo)
    }

    /// match: ((_ extract h l) (concat x y))         result: the part in x, the part in y, or their concat
    fn extract_of_concat(&mut self, x: TermId, y: TermId, hi: u32, lo: u32) -> TermId {
        let split = self.width(y);
        if lo >= split {
            return self.extract(x, hi - split, lo - split);
        }
        if hi < split {
            return self.extract(y, hi, lo);
        }
        let (upper, lower) = (self.extract(x, hi - split, 0), self.extract(y, split - 1, lo));
        self.concat(upper, lower)
    }

    /// match: ((_ extract h l) (bvshl x k))          result: the part above k from x, zeros below
    fn extract_of_shl(&mut self, x: TermId, by: u32, hi: u32, lo: u32) -> TermId {
        if lo >= by {
            return self.extract(x, hi - by, lo - by);
        }
        if hi < by {
            return self.constant(0, hi - lo + 1);
        }
        let upper = self.extract(x, hi - by, 0);
        let zeros = self.constant(0, by - lo);
        self.concat(upper, zeros)
    }

    /// One operand becomes smaller under a low extract; at most the other one is followed further.
    fn shrinks(&self, x: TermId, y: TermId) -> bool {
        let simple = |t| {
            matches!(
                self.view(t),
                View::Const(_)
                    | View::ZExt(_)
                    | View::SExt(_)
                    | View::Concat(..)
                    | View::Symbol(_)
                    | View::Extract { .. }
            )
        };
        simple(x) || simple(y)
    }

    fn extract_both(
        &mut self,
        x: TermId,
        y: TermId,
        hi: u32,
        lo: u32,
        op: fn(&mut Terms, TermId, TermId) -> TermId,
    ) -> TermId {
        let (x, y) = (self.extract(x, hi, lo), self.extract(y, hi, lo));
        op(self, x, y)
    }

    /// Zero extension to `width`; the same term when it is that wide already.
    pub fn zext(&mut self, t: TermId, width: u32) -> TermId {
        debug_assert!(width >= self.width(t) && width <= 128);
        if width == self.width(t) {
            return t;
        }
        match self.view(t) {
            View::Const(value) => self.constant(value, width),
            // match: ((_ zero_extend m) ((_ zero_extend n) x))   result: ((_ zero_extend m+n) x)
            View::ZExt(x) => self.zext(x, width),
            _ => match self.lift_ite(t, width, |value| value) {
                Some(result) => result,
                None => self.make1(Op::ZExt, width, t),
            },
        }
    }

    /// Sign extension to `width`; the same term when it is that wide already.
    pub fn sext(&mut self, t: TermId, width: u32) -> TermId {
        let inner = self.width(t);
        debug_assert!(width >= inner && width <= 128);
        if width == inner {
            return t;
        }
        match self.view(t) {
            View::Const(value) => return self.constant(fold::sext(value, inner, width), width),
            // match: ((_ sign_extend m) ((_ sign_extend n) x))   result: ((_ sign_extend m+n) x)
            View::SExt(x) => return self.sext(x, width),
            // match: ((_ sign_extend m) ((_ zero_extend n) x)), n > 0   result: ((_ zero_extend m+n) x)
            View::ZExt(x) => return self.zext(x, width),
            // match: ((_ sign_extend m) (concat K x)), K not negative   result: ((_ zero_extend m) (concat K x))
            View::Concat(x, _) => {
                if let Some(value) = self.as_const(x)
                    && !fold::is_negative(value, self.width(x))
                {
                    return self.zext(t, width);
                }
            }
            _ => {}
        }
        match self.lift_ite(t, width, |value| fold::sext(value, inner, width)) {
            Some(result) => result,
            None => self.make1(Op::SExt, width, t),
        }
    }

    /// Byte `index` of a term whose width is a multiple of eight; byte 0 is the lowest.
    pub fn byte(&mut self, t: TermId, index: u32) -> TermId {
        self.extract(t, index * 8 + 7, index * 8)
    }

    /// One term from bytes, the lowest first; at least one and at most 16.
    pub fn concat_bytes(&mut self, bytes: &[TermId]) -> TermId {
        let mut joined = bytes[0];
        for &byte in &bytes[1..] {
            joined = self.concat(byte, joined);
        }
        joined
    }
}
