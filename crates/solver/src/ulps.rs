//! Floats as places on a line: how many floats lie between zero and one of them, and on which side.
//!
//! Both zeros are at place 0, the infinities at the ends. Neighbours differ by one unit in the last place, so a distance of places
//! means something for large numbers and for small ones, and halving a distance halves it wherever it is.

use term::float::Format;

/// The place of a float that is no NaN.
pub(crate) fn place(format: Format, bits: u128) -> i128 {
    let magnitude = bits & !format.sign_bit();
    let magnitude = match format {
        // Without the bit before the point; with it, an exponent of zero means the same as one.
        Format::Extended => {
            let exponent = (magnitude >> 64).max(magnitude >> 63 & 1);
            exponent << 63 | magnitude & format.fraction_mask()
        }
        _ => magnitude,
    };
    if bits & format.sign_bit() == 0 { magnitude as i128 } else { -(magnitude as i128) }
}

/// The float at a place; beyond the ends, an infinity. Of the two zeros, the positive one.
pub(crate) fn at(format: Format, place: i128) -> u128 {
    let magnitude = place.unsigned_abs().min(last(format).unsigned_abs());
    let magnitude = match format {
        Format::Extended => {
            let exponent = magnitude >> 63;
            exponent << 64 | u128::from(exponent > 0) << 63 | magnitude & format.fraction_mask()
        }
        _ => magnitude,
    };
    if place < 0 { magnitude | format.sign_bit() } else { magnitude }
}

/// The place of positive infinity.
pub(crate) fn last(format: Format) -> i128 {
    place(format, format.infinity())
}

/// The float so many places further.
pub(crate) fn moved(format: Format, bits: u128, by: i128) -> u128 {
    if by == 0 { bits } else { at(format, place(format, bits) + by) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::float::{self, FloatCompare};

    #[test]
    fn places_are_in_order() {
        for format in Format::ALL {
            let last = last(format);
            assert_eq!(at(format, last), format.infinity());
            assert_eq!(at(format, last + 1), format.infinity());
            let places = [-last, 1 - last, -last / 2, -(1 << 63), -2, -1, 0, 1, 1 << 10, last / 3, last - 1, last];
            for pair in places.windows(2) {
                let (a, b) = (at(format, pair[0]), at(format, pair[1]));
                assert_eq!(place(format, a), pair[0].clamp(-last, last));
                let is_less = float::compare(FloatCompare::Less, format.width(), a, b);
                assert_eq!(is_less, pair[0].clamp(-last, last) < pair[1].clamp(-last, last), "{format:?} {pair:?}");
            }
            assert_eq!(place(format, format.sign_bit()), 0);
        }
    }
}
