//! What each operator means on concrete values, with SMT-LIB's answers for division by zero and oversized shifts.
//!
//! Values are `u128` with all bits above the width zero. Widths are 1 to 128.

/// All ones at a width.
#[inline]
pub fn mask(width: u32) -> u128 {
    debug_assert!((1..=128).contains(&width));
    u128::MAX >> (128 - width)
}

/// The value read as a signed number.
#[inline]
pub fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// The value with only the sign bit set.
#[inline]
pub fn sign_bit(width: u32) -> u128 {
    1 << (width - 1)
}

/// Whether the sign bit is set.
#[inline]
pub fn is_negative(value: u128, width: u32) -> bool {
    value >> (width - 1) & 1 == 1
}

pub fn neg(a: u128, width: u32) -> u128 {
    a.wrapping_neg() & mask(width)
}

pub fn not(a: u128, width: u32) -> u128 {
    !a & mask(width)
}

pub fn add(a: u128, b: u128, width: u32) -> u128 {
    a.wrapping_add(b) & mask(width)
}

pub fn sub(a: u128, b: u128, width: u32) -> u128 {
    a.wrapping_sub(b) & mask(width)
}

pub fn mul(a: u128, b: u128, width: u32) -> u128 {
    a.wrapping_mul(b) & mask(width)
}

pub fn udiv(a: u128, b: u128, width: u32) -> u128 {
    a.checked_div(b).unwrap_or(mask(width))
}

pub fn urem(a: u128, b: u128) -> u128 {
    a.checked_rem(b).unwrap_or(a)
}

pub fn sdiv(a: u128, b: u128, width: u32) -> u128 {
    if b == 0 {
        return if is_negative(a, width) { 1 } else { mask(width) };
    }
    signed(a, width).wrapping_div(signed(b, width)) as u128 & mask(width)
}

pub fn srem(a: u128, b: u128, width: u32) -> u128 {
    if b == 0 {
        return a;
    }
    signed(a, width).wrapping_rem(signed(b, width)) as u128 & mask(width)
}

pub fn shl(a: u128, by: u128, width: u32) -> u128 {
    if by >= u128::from(width) { 0 } else { a << by & mask(width) }
}

pub fn lshr(a: u128, by: u128, width: u32) -> u128 {
    if by >= u128::from(width) { 0 } else { a >> by }
}

pub fn ashr(a: u128, by: u128, width: u32) -> u128 {
    let by = by.min(u128::from(width - 1));
    (signed(a, width) >> by) as u128 & mask(width)
}

pub fn extract(a: u128, hi: u32, lo: u32) -> u128 {
    a >> lo & mask(hi - lo + 1)
}

pub fn sext(a: u128, from: u32, to: u32) -> u128 {
    signed(a, from) as u128 & mask(to)
}

pub fn ult(a: u128, b: u128) -> u128 {
    u128::from(a < b)
}

pub fn slt(a: u128, b: u128, width: u32) -> u128 {
    u128::from(signed(a, width) < signed(b, width))
}
