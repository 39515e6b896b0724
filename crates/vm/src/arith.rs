//! Integer operations on values: concrete ones as the machine computes them, symbolic ones as terms.

use ir::{BinOp, BitOp, CastOp, CmpOp, OverflowOp};
use term::{TermId, Terms};

use crate::value::{mask64, mask128, sext64, sext128};

/// The concrete result up to 64 bits; `None` where the operation faults.
#[inline(always)]
pub fn bin64(op: BinOp, bits: u8, a: u64, b: u64) -> Option<u64> {
    let mask = mask64(bits);
    Some(match op {
        BinOp::Add => a.wrapping_add(b) & mask,
        BinOp::Sub => a.wrapping_sub(b) & mask,
        BinOp::Mul => a.wrapping_mul(b) & mask,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => (a << shift_amount(b, bits)) & mask,
        BinOp::LShr => a >> shift_amount(b, bits),
        BinOp::AShr => (sext64(a, bits) >> shift_amount(b, bits)) as u64 & mask,
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv => {
            let (a, b) = (sext64(a, bits), sext64(b, bits));
            let quotient = a.checked_div(b)?;
            (b != -1 || a != min_of(bits) as i64).then_some(quotient as u64 & mask)?
        }
        BinOp::SRem => {
            let (a, b) = (sext64(a, bits), sext64(b, bits));
            let remainder = a.checked_rem(b)?;
            (b != -1 || a != min_of(bits) as i64).then_some(remainder as u64 & mask)?
        }
    })
}

/// What x86 does with an amount beyond the width: it takes it modulo 32 or 64.
#[inline(always)]
fn shift_amount(amount: u64, bits: u8) -> u32 {
    let amount = (amount & u64::from(shift_mask(bits))) as u32;
    amount.min(63)
}

#[inline(always)]
pub fn shift_mask(bits: u8) -> u8 {
    match bits {
        0..=32 => 31,
        33..=64 => 63,
        _ => 127,
    }
}

/// Smallest signed value of a width.
pub fn min_of(bits: u8) -> i128 {
    sext128(1 << (bits - 1), bits)
}

/// As [`bin64`] for any width up to 128.
pub fn bin128(op: BinOp, bits: u8, a: u128, b: u128) -> Option<u128> {
    if bits <= 64 {
        return bin64(op, bits, a as u64, b as u64).map(u128::from);
    }
    let mask = mask128(bits);
    let amount = (b & 127) as u32;
    Some(match op {
        BinOp::Add => a.wrapping_add(b) & mask,
        BinOp::Sub => a.wrapping_sub(b) & mask,
        BinOp::Mul => a.wrapping_mul(b) & mask,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => (a << amount) & mask,
        BinOp::LShr => a >> amount,
        BinOp::AShr => (sext128(a, bits) >> amount) as u128 & mask,
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv => sext128(a, bits).checked_div(sext128(b, bits))? as u128 & mask,
        BinOp::SRem => sext128(a, bits).checked_rem(sext128(b, bits))? as u128 & mask,
    })
}

/// Whether the signed operation leaves its width.
pub fn overflows(op: BinOp, bits: u8, a: u128, b: u128) -> bool {
    let (a, b) = (sext128(a, bits), sext128(b, bits));
    let exact = match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        _ => return false,
    };
    exact.is_none_or(|exact| exact < min_of(bits) || exact > -(min_of(bits) + 1))
}

#[inline(always)]
pub fn cmp64(op: CmpOp, bits: u8, a: u64, b: u64) -> bool {
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Ugt => a > b,
        CmpOp::Uge => a >= b,
        CmpOp::Slt => sext64(a, bits) < sext64(b, bits),
        CmpOp::Sle => sext64(a, bits) <= sext64(b, bits),
        CmpOp::Sgt => sext64(a, bits) > sext64(b, bits),
        CmpOp::Sge => sext64(a, bits) >= sext64(b, bits),
    }
}

pub fn cmp128(op: CmpOp, bits: u8, a: u128, b: u128) -> bool {
    let (sa, sb) = (sext128(a, bits), sext128(b, bits));
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Ugt => a > b,
        CmpOp::Uge => a >= b,
        CmpOp::Slt => sa < sb,
        CmpOp::Sle => sa <= sb,
        CmpOp::Sgt => sa > sb,
        CmpOp::Sge => sa >= sb,
    }
}

pub fn bin_term(terms: &mut Terms, op: BinOp, a: TermId, b: TermId) -> TermId {
    match op {
        BinOp::Add => terms.add(a, b),
        BinOp::Sub => terms.sub(a, b),
        BinOp::Mul => terms.mul(a, b),
        BinOp::UDiv => terms.udiv(a, b),
        BinOp::SDiv => terms.sdiv(a, b),
        BinOp::URem => terms.urem(a, b),
        BinOp::SRem => terms.srem(a, b),
        BinOp::And => terms.and(a, b),
        BinOp::Or => terms.or(a, b),
        BinOp::Xor => terms.xor(a, b),
        BinOp::Shl | BinOp::LShr | BinOp::AShr => shift_term(terms, op, a, b),
    }
}

/// As [`shift_amount`]: the amount is taken modulo 32, 64 or 128.
fn shift_term(terms: &mut Terms, op: BinOp, a: TermId, amount: TermId) -> TermId {
    let width = terms.width(a);
    let mask = u128::from(shift_mask(width as u8)) & mask128(width as u8);
    let mask = terms.constant(mask, width);
    let amount = terms.and(amount, mask);
    match op {
        BinOp::Shl => terms.shl(a, amount),
        BinOp::LShr => terms.lshr(a, amount),
        _ => terms.ashr(a, amount),
    }
}

pub fn cmp_term(terms: &mut Terms, op: CmpOp, a: TermId, b: TermId) -> TermId {
    match op {
        CmpOp::Eq => terms.eq(a, b),
        CmpOp::Ne => terms.ne(a, b),
        CmpOp::Ult => terms.ult(a, b),
        CmpOp::Ule => terms.ule(a, b),
        CmpOp::Ugt => terms.ult(b, a),
        CmpOp::Uge => terms.ule(b, a),
        CmpOp::Slt => terms.slt(a, b),
        CmpOp::Sle => terms.sle(a, b),
        CmpOp::Sgt => terms.slt(b, a),
        CmpOp::Sge => terms.sle(b, a),
    }
}

pub fn cast128(op: CastOp, from: u8, to: u8, a: u128) -> u128 {
    match op {
        CastOp::ZExt => a,
        CastOp::SExt => sext128(a, from) as u128 & mask128(to),
        CastOp::Trunc => a & mask128(to),
    }
}

pub fn cast_term(terms: &mut Terms, op: CastOp, to: u8, a: TermId) -> TermId {
    match op {
        CastOp::ZExt => terms.zext(a, u32::from(to)),
        CastOp::SExt => terms.sext(a, u32::from(to)),
        CastOp::Trunc => terms.extract(a, u32::from(to) - 1, 0),
    }
}

/// Whether a signed operation overflows, as a 1-bit term.
pub fn overflow_term(terms: &mut Terms, op: OverflowOp, a: TermId, b: TermId) -> TermId {
    let width = terms.width(a);
    let zero = terms.constant(0, width);
    match op {
        OverflowOp::UAdd => {
            let sum = terms.add(a, b);
            terms.ult(sum, a)
        }
        OverflowOp::USub => terms.ult(a, b),
        OverflowOp::SAdd | OverflowOp::SSub => {
            let (result, is_add) = match op {
                OverflowOp::SAdd => (terms.add(a, b), true),
                _ => (terms.sub(a, b), false),
            };
            let (a_neg, b_neg, r_neg) = (terms.slt(a, zero), terms.slt(b, zero), terms.slt(result, zero));
            let same = terms.eq(a_neg, b_neg);
            let operands = if is_add { same } else { terms.not(same) };
            let flipped = terms.ne(r_neg, a_neg);
            terms.and(operands, flipped)
        }
        OverflowOp::SMul if width <= 64 => {
            let (wide_a, wide_b) = (terms.sext(a, width * 2), terms.sext(b, width * 2));
            let wide = terms.mul(wide_a, wide_b);
            let low = terms.extract(wide, width - 1, 0);
            let back = terms.sext(low, width * 2);
            terms.ne(wide, back)
        }
        OverflowOp::UMul if width <= 64 => {
            let (wide_a, wide_b) = (terms.zext(a, width * 2), terms.zext(b, width * 2));
            let wide = terms.mul(wide_a, wide_b);
            let high = terms.extract(wide, width * 2 - 1, width);
            terms.ne(high, zero)
        }
        // Too wide to double: divide back instead.
        OverflowOp::UMul => {
            let product = terms.mul(a, b);
            let back = terms.udiv(product, a);
            let (nonzero, differs) = (terms.ne(a, zero), terms.ne(back, b));
            terms.and(nonzero, differs)
        }
        OverflowOp::SMul => {
            let product = terms.mul(a, b);
            let back = terms.sdiv(product, a);
            let (nonzero, differs) = (terms.ne(a, zero), terms.ne(back, b));
            let ones = terms.constant(mask128(width as u8), width);
            let min = terms.constant(1 << (width - 1), width);
            let (a_minus_one, b_min) = (terms.eq(a, ones), terms.eq(b, min));
            let special = terms.and(a_minus_one, b_min);
            let general = terms.and(nonzero, differs);
            terms.or(special, general)
        }
    }
}

/// Wrapped result and whether it overflowed.
pub fn overflow128(op: OverflowOp, bits: u8, a: u128, b: u128) -> (u128, bool) {
    let mask = mask128(bits);
    let signed = |op| overflows(op, bits, a, b);
    match op {
        OverflowOp::SAdd => (a.wrapping_add(b) & mask, signed(BinOp::Add)),
        OverflowOp::SSub => (a.wrapping_sub(b) & mask, signed(BinOp::Sub)),
        OverflowOp::SMul => (a.wrapping_mul(b) & mask, signed(BinOp::Mul)),
        OverflowOp::UAdd => (a.wrapping_add(b) & mask, a.checked_add(b).is_none_or(|sum| sum > mask)),
        OverflowOp::USub => (a.wrapping_sub(b) & mask, a < b),
        OverflowOp::UMul => (a.wrapping_mul(b) & mask, a.checked_mul(b).is_none_or(|product| product > mask)),
    }
}

pub fn overflow_result_term(terms: &mut Terms, op: OverflowOp, a: TermId, b: TermId) -> TermId {
    match op {
        OverflowOp::SAdd | OverflowOp::UAdd => terms.add(a, b),
        OverflowOp::SSub | OverflowOp::USub => terms.sub(a, b),
        OverflowOp::SMul | OverflowOp::UMul => terms.mul(a, b),
    }
}

pub fn bit_op128(op: BitOp, bits: u8, a: u128, b: u128) -> u128 {
    let mask = mask128(bits);
    let width = u32::from(bits);
    let (sa, sb) = (sext128(a, bits), sext128(b, bits));
    let (min, max) = (min_of(bits), -(min_of(bits) + 1));
    let clamp = |exact: Option<i128>, negative: bool| {
        exact.map_or(if negative { min } else { max }, |exact| exact.clamp(min, max)) as u128 & mask
    };
    match op {
        BitOp::PopCount => u128::from(a.count_ones()),
        BitOp::LeadingZeros => u128::from(a.leading_zeros() - (128 - width)),
        BitOp::TrailingZeros => u128::from(a.trailing_zeros().min(width)),
        BitOp::ByteSwap => a.swap_bytes() >> (128 - width),
        BitOp::BitReverse => a.reverse_bits() >> (128 - width),
        BitOp::Abs => sa.wrapping_abs() as u128 & mask,
        BitOp::SMin => sa.min(sb) as u128 & mask,
        BitOp::SMax => sa.max(sb) as u128 & mask,
        BitOp::UMin => a.min(b),
        BitOp::UMax => a.max(b),
        BitOp::UAddSat => a.checked_add(b).map_or(mask, |sum| sum.min(mask)),
        BitOp::USubSat => a.saturating_sub(b),
        BitOp::SAddSat => clamp(sa.checked_add(sb), sa < 0),
        BitOp::SSubSat => clamp(sa.checked_sub(sb), sa < 0),
        BitOp::UShlSat => {
            let amount = (b as u32).min(127);
            if amount > 0 && a >> (width - amount.min(width)) != 0 { mask } else { (a << amount) & mask }
        }
        BitOp::SShlSat => {
            let amount = (b as u32).min(127);
            let shifted = sext128((a << amount) & mask, bits);
            if shifted >> amount == sa { shifted as u128 & mask } else { clamp(None, sa < 0) }
        }
    }
}

pub fn bit_op_term(terms: &mut Terms, op: BitOp, a: TermId, b: TermId) -> TermId {
    let width = terms.width(a);
    match op {
        BitOp::PopCount => {
            let mut count = terms.constant(0, width);
            for bit in 0..width {
                let one = terms.extract(a, bit, bit);
                let one = terms.zext(one, width);
                count = terms.add(count, one);
            }
            count
        }
        BitOp::LeadingZeros => first_set(terms, a, (0..width).rev(), |bit| width - 1 - bit),
        BitOp::TrailingZeros => first_set(terms, a, 0..width, |bit| bit),
        BitOp::ByteSwap => {
            let bytes: Vec<TermId> = (0..width / 8).map(|byte| terms.extract(a, byte * 8 + 7, byte * 8)).collect();
            let first = bytes[0];
            bytes[1..].iter().fold(first, |high, low| terms.concat(high, *low))
        }
        BitOp::BitReverse => {
            let first = terms.extract(a, 0, 0);
            (1..width).fold(first, |high, bit| {
                let low = terms.extract(a, bit, bit);
                terms.concat(high, low)
            })
        }
        BitOp::Abs => {
            let zero = terms.constant(0, width);
            let (negative, negated) = (terms.slt(a, zero), terms.neg(a));
            terms.ite(negative, negated, a)
        }
        BitOp::SMin | BitOp::SMax | BitOp::UMin | BitOp::UMax => {
            let less = match op {
                BitOp::SMin | BitOp::SMax => terms.slt(a, b),
                _ => terms.ult(a, b),
            };
            match op {
                BitOp::SMin | BitOp::UMin => terms.ite(less, a, b),
                _ => terms.ite(less, b, a),
            }
        }
        BitOp::UAddSat => saturate(terms, OverflowOp::UAdd, a, b),
        BitOp::USubSat => saturate(terms, OverflowOp::USub, a, b),
        BitOp::SAddSat => saturate(terms, OverflowOp::SAdd, a, b),
        BitOp::SSubSat => saturate(terms, OverflowOp::SSub, a, b),
        BitOp::UShlSat | BitOp::SShlSat => {
            let shifted = terms.shl(a, b);
            let back = if op == BitOp::UShlSat { terms.lshr(shifted, b) } else { terms.ashr(shifted, b) };
            let fits = terms.eq(back, a);
            let limit =
                if op == BitOp::UShlSat { terms.constant(mask128(width as u8), width) } else { signed_limit(terms, a) };
            terms.ite(fits, shifted, limit)
        }
    }
}

fn first_set(
    terms: &mut Terms,
    a: TermId,
    bits: impl DoubleEndedIterator<Item = u32>,
    rank: impl Fn(u32) -> u32,
) -> TermId {
    let width = terms.width(a);
    let none = terms.constant(u128::from(width), width);
    bits.rev().fold(none, |rest, bit| {
        let (set, count) = (terms.extract(a, bit, bit), terms.constant(u128::from(rank(bit)), width));
        terms.ite(set, count, rest)
    })
}

fn signed_limit(terms: &mut Terms, a: TermId) -> TermId {
    let width = terms.width(a);
    let (zero, min) = (terms.constant(0, width), terms.constant(1 << (width - 1), width));
    let max = terms.constant(mask128(width as u8) >> 1, width);
    let negative = terms.slt(a, zero);
    terms.ite(negative, min, max)
}

fn saturate(terms: &mut Terms, op: OverflowOp, a: TermId, b: TermId) -> TermId {
    let width = terms.width(a);
    let (result, overflow) = (overflow_result_term(terms, op, a, b), overflow_term(terms, op, a, b));
    let limit = match op {
        OverflowOp::UAdd | OverflowOp::UMul => terms.constant(mask128(width as u8), width),
        OverflowOp::USub => terms.constant(0, width),
        _ => signed_limit(terms, a),
    };
    terms.ite(overflow, limit, result)
}
