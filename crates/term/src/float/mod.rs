//! IEEE floats as bits: formats, rounding, and what the processor makes of each operation on concrete values.
//!
//! A float is a bit-vector, and its width says which format it has: 16, 32, 64, 80 (x87) or 128 bits. Nothing else in a term tells
//! a float from an integer, so loads, stores, casts between the two and `memcpy` need nothing special.
//!
//! NaNs are those of an x86 processor, because C can look at their bits: the first NaN operand with its quiet bit set, on the x87 the
//! one with the larger fraction; where there was none, the default NaN, which is negative. The bit patterns that the x87 calls
//! unsupported give the default NaN and compare as unordered.
//!
//! * `arith`: arithmetic, comparison, rounding to an integral value
//! * `convert`: to and from integers, and between formats
//! * `parts`: sign, exponent and significand taken apart, and put together with one rounding
//! * `build`: the builders, with their rewrite rules
//! * `payload`: floats for those who cannot tell one NaN from another

mod arith;
mod build;
mod convert;
mod parts;
mod payload;

pub use arith::{binary, compare, fma, is_less, is_same};
pub use convert::{from_signed, from_unsigned, resize, to_signed, to_unsigned};

/// How a result is made from its exact value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rounding {
    /// To the nearest; of two, to the one with an even fraction. What a program starts with.
    #[default]
    NearestEven,
    /// To the nearest; of two, away from zero. No processor's mode, but what `round` does.
    NearestAway,
    Up,
    Down,
    ToZero,
}

impl Rounding {
    pub const ALL: [Rounding; 5] =
        [Rounding::NearestEven, Rounding::NearestAway, Rounding::Up, Rounding::Down, Rounding::ToZero];

    /// The word for it in the text form of terms.
    pub fn name(self) -> &'static str {
        match self {
            Rounding::NearestEven => "even",
            Rounding::NearestAway => "away",
            Rounding::Up => "up",
            Rounding::Down => "down",
            Rounding::ToZero => "zero",
        }
    }
}

/// Operators on one float, or on one integer that becomes a float. The widths say from what to what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatUnary {
    Sqrt,
    /// To an integral value, still a float, by the node's rounding.
    Integral,
    /// A float to a float of another format.
    Resize,
    /// A float without its fraction as a signed integer; what does not fit, and a NaN, gives the smallest one.
    ToSigned,
    /// A float without its fraction as an unsigned integer. What is negative and fits a signed one wraps around; all else that
    /// does not fit, and a NaN, gives the highest bit alone.
    ToUnsigned,
    FromSigned,
    FromUnsigned,
}

impl FloatUnary {
    pub const ALL: [FloatUnary; 7] = [
        FloatUnary::Sqrt,
        FloatUnary::Integral,
        FloatUnary::Resize,
        FloatUnary::ToSigned,
        FloatUnary::ToUnsigned,
        FloatUnary::FromSigned,
        FloatUnary::FromUnsigned,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FloatUnary::Sqrt => "fsqrt",
            FloatUnary::Integral => "fintegral",
            FloatUnary::Resize => "fresize",
            FloatUnary::ToSigned => "ftosigned",
            FloatUnary::ToUnsigned => "ftounsigned",
            FloatUnary::FromSigned => "ffromsigned",
            FloatUnary::FromUnsigned => "ffromunsigned",
        }
    }

    /// Whether the result depends on the node's rounding.
    pub fn rounds(self) -> bool {
        !matches!(self, FloatUnary::ToSigned | FloatUnary::ToUnsigned)
    }
}

/// Operators on two floats of one format that give a third.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatBinary {
    Add,
    Sub,
    Mul,
    Div,
    /// What is left of a quotient without its fraction: C's `fmod`.
    Rem,
    /// What is left of a quotient to the nearest integer: C's `remainder`.
    Remainder,
}

impl FloatBinary {
    pub const ALL: [FloatBinary; 6] = [
        FloatBinary::Add,
        FloatBinary::Sub,
        FloatBinary::Mul,
        FloatBinary::Div,
        FloatBinary::Rem,
        FloatBinary::Remainder,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FloatBinary::Add => "fadd",
            FloatBinary::Sub => "fsub",
            FloatBinary::Mul => "fmul",
            FloatBinary::Div => "fdiv",
            FloatBinary::Rem => "frem",
            FloatBinary::Remainder => "fremainder",
        }
    }

    /// Whether the result depends on the node's rounding; the others are exact.
    pub fn rounds(self) -> bool {
        !matches!(self, FloatBinary::Rem | FloatBinary::Remainder)
    }

    /// Whether the operands may change places where none is a NaN.
    pub fn commutes(self) -> bool {
        matches!(self, FloatBinary::Add | FloatBinary::Mul)
    }
}

/// Comparisons of two floats of one format. All are false where one is a NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatCompare {
    Less,
    LessOrEqual,
    Equal,
}

impl FloatCompare {
    pub const ALL: [FloatCompare; 3] = [FloatCompare::Less, FloatCompare::LessOrEqual, FloatCompare::Equal];

    pub fn name(self) -> &'static str {
        match self {
            FloatCompare::Less => "flt",
            FloatCompare::LessOrEqual => "fle",
            FloatCompare::Equal => "feq",
        }
    }
}

/// What the bits of a float of some width mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    Half,
    Single,
    Double,
    /// The x87's: the highest bit of the significand is written out.
    Extended,
    Quad,
}

impl Format {
    pub const ALL: [Format; 5] = [Format::Half, Format::Single, Format::Double, Format::Extended, Format::Quad];

    /// The format of floats of this width.
    #[inline]
    pub fn of(width: u32) -> Format {
        Format::find(width).unwrap_or_else(|| panic!("no float has {width} bits"))
    }

    #[inline]
    pub fn find(width: u32) -> Option<Format> {
        match width {
            16 => Some(Format::Half),
            32 => Some(Format::Single),
            64 => Some(Format::Double),
            80 => Some(Format::Extended),
            128 => Some(Format::Quad),
            _ => None,
        }
    }

    #[inline]
    pub const fn width(self) -> u32 {
        match self {
            Format::Half => 16,
            Format::Single => 32,
            Format::Double => 64,
            Format::Extended => 80,
            Format::Quad => 128,
        }
    }

    /// Bits of a significand, the highest one included.
    #[inline]
    pub const fn precision(self) -> u32 {
        match self {
            Format::Half => 11,
            Format::Single => 24,
            Format::Double => 53,
            Format::Extended => 64,
            Format::Quad => 113,
        }
    }

    /// Where the exponent begins.
    #[inline]
    pub const fn exponent_at(self) -> u32 {
        match self {
            Format::Extended => 64,
            _ => self.precision() - 1,
        }
    }

    #[inline]
    pub const fn exponent_bits(self) -> u32 {
        self.width() - 1 - self.exponent_at()
    }

    /// The exponent of infinities and NaNs as it is stored.
    #[inline]
    pub const fn top_exponent(self) -> u32 {
        (1 << self.exponent_bits()) - 1
    }

    /// What is stored for exponent zero.
    #[inline]
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits() - 1)) - 1
    }

    #[inline]
    pub const fn sign_bit(self) -> u128 {
        1 << (self.width() - 1)
    }

    /// Bits below the highest one of the significand.
    #[inline]
    pub const fn fraction_mask(self) -> u128 {
        (1 << (self.precision() - 1)) - 1
    }

    /// The bit that tells a quiet NaN from a signalling one.
    #[inline]
    pub const fn quiet_bit(self) -> u128 {
        1 << (self.precision() - 2)
    }

    /// Positive infinity.
    #[inline]
    pub const fn infinity(self) -> u128 {
        let exponent = (self.top_exponent() as u128) << self.exponent_at();
        match self {
            Format::Extended => exponent | 1 << 63,
            _ => exponent,
        }
    }

    /// The NaN of operations that had none among their operands.
    #[inline]
    pub const fn default_nan(self) -> u128 {
        self.sign_bit() | self.infinity() | self.quiet_bit()
    }

    /// The largest finite number.
    pub const fn largest(self) -> u128 {
        let exponent = ((self.top_exponent() - 1) as u128) << self.exponent_at();
        match self {
            Format::Extended => exponent | u64::MAX as u128,
            _ => exponent | self.fraction_mask(),
        }
    }

    /// Whether this is no number: a NaN, or a pattern that the x87 does not support.
    #[inline]
    pub fn is_nan(self, bits: u128) -> bool {
        match self {
            Format::Extended => {
                let (exponent, significand) = (bits >> 64 & 0x7fff, bits as u64);
                exponent == 0x7fff && significand << 1 != 0 || exponent != 0 && significand >> 63 == 0
            }
            _ => bits & !self.sign_bit() > self.infinity(),
        }
    }

    /// A pattern without a meaning: an exponent, but the highest bit of the significand is zero.
    fn is_unsupported(self, bits: u128) -> bool {
        self == Format::Extended && bits >> 64 & 0x7fff != 0 && bits as u64 >> 63 == 0
    }

    fn is_signalling(self, bits: u128) -> bool {
        bits & self.quiet_bit() == 0
    }

    /// The NaN that comes out where this one went in.
    fn quieted(self, bits: u128) -> u128 {
        if self.is_unsupported(bits) { self.default_nan() } else { bits | self.quiet_bit() }
    }

    /// The NaN that comes out of an operation with operands of which one or both are NaNs.
    #[cold]
    fn nan_of(self, a: u128, b: u128) -> u128 {
        match (self.is_nan(a), self.is_nan(b)) {
            _ if self.is_unsupported(a) || self.is_unsupported(b) => self.default_nan(),
            (true, true) if self == Format::Extended => self.larger_nan(a, b),
            (true, _) => self.quieted(a),
            (_, true) => self.quieted(b),
            (false, false) => self.default_nan(),
        }
    }

    /// The x87's choice: a quiet one rather than a signalling one, then the larger fraction, then the positive one.
    fn larger_nan(self, a: u128, b: u128) -> u128 {
        let key = |bits: u128| (!self.is_signalling(bits), bits as u64, bits >> 79 == 0);
        self.quieted(if key(b) > key(a) { b } else { a })
    }
}

/// What an operator with one operand makes of its value. `from` and `to` are the widths of operand and result.
pub fn unary(op: FloatUnary, rounding: Rounding, from: u32, to: u32, x: u128) -> u128 {
    match op {
        FloatUnary::Sqrt => arith::sqrt(Format::of(to), rounding, x),
        FloatUnary::Integral => arith::integral(Format::of(to), rounding, x),
        FloatUnary::Resize => resize(Format::of(from), Format::of(to), rounding, x),
        FloatUnary::ToSigned => to_signed(Format::of(from), to, x),
        FloatUnary::ToUnsigned => to_unsigned(Format::of(from), to, x),
        FloatUnary::FromSigned => from_signed(Format::of(to), rounding, crate::fold::signed(x, from)),
        FloatUnary::FromUnsigned => from_unsigned(Format::of(to), rounding, x),
    }
}
