//! What a term can be at most and at least, and how operators carry that on.

use term::fold;

/// Both ends included, read without and with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub lo: u128,
    pub hi: u128,
    pub least: i128,
    pub most: i128,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Unsigned,
    Signed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Included,
    Excluded,
}

/// All bits below the highest one set.
pub(crate) fn smear(value: u128) -> u128 {
    u128::MAX.checked_shr(value.leading_zeros()).unwrap_or(0)
}

impl Range {
    pub fn full(width: u32) -> Range {
        let half = fold::sign_bit(width);
        Range { lo: 0, hi: fold::mask(width), least: fold::signed(half, width), most: fold::signed(half - 1, width) }
    }

    pub fn exact(value: u128, width: u32) -> Range {
        let signed = fold::signed(value, width);
        Range { lo: value, hi: value, least: signed, most: signed }
    }

    /// A condition that can hold, and one that must.
    pub fn truth(can: bool, must: bool) -> Range {
        Range::unsigned(u128::from(must), u128::from(can), 1)
    }

    pub fn unsigned(lo: u128, hi: u128, width: u32) -> Range {
        Range { lo, hi, ..Range::full(width) }.settled(width)
    }

    pub fn signed(least: i128, most: i128, width: u32) -> Range {
        Range { least, most, ..Range::full(width) }.settled(width)
    }

    /// `None` when nothing lies there.
    pub fn up_to(value: u128, bound: Bound, sign: Sign, width: u32) -> Option<Range> {
        let (full, step) = (Range::full(width), i128::from(bound == Bound::Excluded));
        match sign {
            Sign::Unsigned => Some(Range::unsigned(0, value.checked_sub(step as u128)?, width)),
            Sign::Signed => {
                let most = fold::signed(value, width).checked_sub(step)?;
                (most >= full.least).then(|| Range::signed(full.least, most, width))
            }
        }
    }

    /// `None` when nothing lies there.
    pub fn from(value: u128, bound: Bound, sign: Sign, width: u32) -> Option<Range> {
        let (full, step) = (Range::full(width), i128::from(bound == Bound::Excluded));
        match sign {
            Sign::Unsigned => {
                let lo = value.checked_add(step as u128)?;
                (lo <= full.hi).then(|| Range::unsigned(lo, full.hi, width))
            }
            Sign::Signed => {
                let least = fold::signed(value, width).checked_add(step)?;
                (least <= full.most).then(|| Range::signed(least, full.most, width))
            }
        }
    }

    pub fn value(self) -> Option<u128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Each reading narrowed by the other, where all values have one sign.
    pub fn settled(mut self, width: u32) -> Range {
        let half = fold::sign_bit(width);
        if self.hi < half || self.lo >= half {
            self.least = self.least.max(fold::signed(self.lo, width));
            self.most = self.most.min(fold::signed(self.hi, width));
        }
        if self.least >= 0 || self.most < 0 {
            let bits = |value: i128| value as u128 & fold::mask(width);
            self.lo = self.lo.max(bits(self.least));
            self.hi = self.hi.min(bits(self.most));
        }
        self
    }

    /// What lies in both; `None` when nothing does.
    pub fn meet(self, other: Range, width: u32) -> Option<Range> {
        let both = Range {
            lo: self.lo.max(other.lo),
            hi: self.hi.min(other.hi),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
        };
        let is_some = |range: &Range| range.lo <= range.hi && range.least <= range.most;
        Some(both).filter(is_some).map(|both| both.settled(width)).filter(is_some)
    }

    pub fn join(self, other: Range) -> Range {
        Range {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// Each reading on its own: where it may leave the width, nothing is known of it.
    pub fn of_ends(unsigned: Option<(u128, u128)>, signed: Option<(i128, i128)>, width: u32) -> Range {
        let full = Range::full(width);
        let (lo, hi) = unsigned.filter(|ends| ends.1 <= full.hi).unwrap_or((full.lo, full.hi));
        let fits = |ends: &(i128, i128)| ends.0 >= full.least && ends.1 <= full.most;
        let (least, most) = signed.filter(fits).unwrap_or((full.least, full.most));
        Range { lo, hi, least, most }.settled(width)
    }

    pub fn plus(self, other: Range, width: u32) -> Range {
        let (lo, hi) = (self.lo.checked_add(other.lo), self.hi.checked_add(other.hi));
        let unsigned = match (lo, hi) {
            // All sums leave the width, and all by once: adding what stands for a negative number.
            (Some(lo), Some(hi)) if width < 128 && lo > fold::mask(width) => {
                Some((lo & fold::mask(width), hi & fold::mask(width)))
            }
            (lo, hi) => lo.zip(hi),
        };
        let signed = self.least.checked_add(other.least).zip(self.most.checked_add(other.most));
        Range::of_ends(unsigned, signed, width)
    }

    pub fn minus(self, other: Range, width: u32) -> Range {
        let unsigned = self.lo.checked_sub(other.hi).map(|lo| (lo, self.hi - other.lo));
        let signed = self.least.checked_sub(other.most).zip(self.most.checked_sub(other.least));
        Range::of_ends(unsigned, signed, width)
    }

    pub fn times(self, other: Range, width: u32) -> Range {
        let unsigned = self.hi.checked_mul(other.hi).map(|hi| (self.lo * other.lo, hi));
        let corners =
            [(self.least, other.least), (self.least, other.most), (self.most, other.least), (self.most, other.most)]
                .map(|(a, b)| a.checked_mul(b));
        let signed = corners
            .iter()
            .copied()
            .collect::<Option<Vec<i128>>>()
            .and_then(|corners| Some((*corners.iter().min()?, *corners.iter().max()?)));
        Range::of_ends(unsigned, signed, width)
    }

    /// The quotient by a constant, rounded to zero.
    pub fn divided(self, divisor: Option<i128>, width: u32) -> Range {
        let ends = match divisor {
            Some(divisor) if divisor > 0 => Some((self.least / divisor, self.most / divisor)),
            Some(divisor) if divisor < 0 => self.most.checked_div(divisor).zip(self.least.checked_div(divisor)),
            _ => None,
        };
        Range::of_ends(None, ends, width)
    }

    /// What is left of a division; it has the dividend's sign.
    pub fn remainder(self, divisor: Option<i128>, width: u32) -> Range {
        let most = match divisor {
            // Dividing by zero leaves the dividend.
            Some(0) | None => i128::MAX,
            Some(divisor) => (divisor.unsigned_abs() - 1) as i128,
        };
        Range::signed(self.least.min(0).max(-most), self.most.max(0).min(most), width)
    }

    /// How far from zero.
    pub fn magnitude(self, width: u32) -> Range {
        let most = self.most.unsigned_abs().max(self.least.unsigned_abs());
        let is_across = self.least < 0 && self.most > 0;
        let least = if is_across { 0 } else { self.most.unsigned_abs().min(self.least.unsigned_abs()) };
        Range::unsigned(least, most & fold::mask(width), width)
    }
}
