//! Float operations against the processor: every operation on interesting and random bits, in every rounding mode it has.
//!
//! `FLOAT_PAIRS` says how many pairs each operation is tried on.
#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use term::float::{self, FloatBinary, FloatCompare, FloatUnary, Format, Rounding};

const MODES: [(Rounding, u32); 4] =
    [(Rounding::NearestEven, 0), (Rounding::Down, 1), (Rounding::Up, 2), (Rounding::ToZero, 3)];

unsafe extern "C" {
    fn fmod(x: f64, y: f64) -> f64;
    fn fmodf(x: f32, y: f32) -> f32;
    fn remainder(x: f64, y: f64) -> f64;
    fn remainderf(x: f32, y: f32) -> f32;
    fn fma(x: f64, y: f64, z: f64) -> f64;
    fn fmaf(x: f32, y: f32, z: f32) -> f32;
}

fn n_pairs() -> usize {
    std::env::var("FLOAT_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000)
}

/// Pairs of bit patterns: all of the interesting ones, then random ones that are mostly near each other.
struct Pairs {
    format: Format,
    state: u64,
    interesting: Vec<u128>,
    nth: usize,
}

impl Pairs {
    fn new(format: Format) -> Pairs {
        let mut interesting = vec![0, 1, 2, format.infinity(), format.largest(), format.largest() - 1];
        interesting.extend([format.quiet_bit(), format.fraction_mask(), format.fraction_mask() - 1]);
        interesting.extend([format.infinity() | 1, format.infinity() | format.quiet_bit() | 5, format.default_nan()]);
        // The smallest normal number and its neighbours.
        let one_exponent = 1u128 << format.exponent_at();
        let top = if format == Format::Extended { 1 << 63 } else { 0 };
        interesting.extend([one_exponent | top, one_exponent | top | 1]);
        for integer in [1, 2, 3, 10, 255, 1 << 15, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, i64::MAX, i64::MAX - 512] {
            let bits = float::from_signed(format, Rounding::NearestEven, i128::from(integer));
            interesting.extend([bits, bits + 1, bits - 1]);
        }
        let wide = float::from_unsigned(format, Rounding::NearestEven, 1 << 64);
        interesting.extend([wide, wide - 1, wide + 1]);
        let half = float::binary(
            FloatBinary::Div,
            Rounding::NearestEven,
            format.width(),
            float::from_signed(format, Rounding::NearestEven, 1),
            float::from_signed(format, Rounding::NearestEven, 2),
        );
        interesting.extend([half, half + 1, half - 1]);
        if format == Format::Extended {
            // What the x87 does not support, and denormals with a bit too much.
            interesting.extend([0x4000 << 64 | 1, 0x7fff << 64, 0x7fff << 64 | 7, 1 << 63 | 3, 1 << 63]);
        }
        let negative: Vec<u128> = interesting.iter().map(|bits| bits | format.sign_bit()).collect();
        interesting.extend(negative);
        Pairs { format, state: 0x243f_6a88_85a3_08d3, interesting, nth: 0 }
    }

    fn random(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn any(&mut self) -> u128 {
        let bits = u128::from(self.random()) << 64 | u128::from(self.random());
        let bits = bits >> (128 - self.format.width());
        match self.random() % 8 {
            0 => {
                let nth = self.random() as usize % self.interesting.len();
                self.interesting[nth]
            }
            // Few bits set: halfway cases.
            1 => bits & !(self.format.fraction_mask() >> 4) | u128::from(self.random().is_multiple_of(3)),
            _ if self.format == Format::Extended && !self.random().is_multiple_of(16) => bits | 1 << 63,
            _ => bits,
        }
    }

    fn next(&mut self) -> (u128, u128) {
        let n = self.interesting.len();
        let nth = self.nth;
        self.nth += 1;
        if nth < n * n {
            return (self.interesting[nth / n], self.interesting[nth % n]);
        }
        let x = self.any();
        let at = self.format.exponent_at();
        let y = match self.random() % 4 {
            0 => self.any(),
            1 => x ^ u128::from(self.random() % 8),
            // An exponent near the other one's.
            _ => {
                let exponent = (x >> at & u128::from(self.format.top_exponent())) as i64;
                let near = (exponent + self.random() as i64 % 70).clamp(0, self.format.top_exponent().into());
                let low = self.any() & ((1 << at) - 1);
                low | (near as u128) << at | if self.random().is_multiple_of(2) { 0 } else { self.format.sign_bit() }
            }
        };
        (x, y)
    }
}

/// Runs with this rounding mode of the SSE unit.
fn sse<T>(mode: u32, run: impl FnOnce() -> T) -> T {
    let set = |csr: u32| unsafe { asm!("ldmxcsr [{}]", in(reg) &csr, options(nostack)) };
    set(0x1f80 | mode << 13);
    let result = run();
    set(0x1f80);
    result
}

macro_rules! sse_binary {
    ($name:ident, $float:ty, $bits:ty, $add:literal, $sub:literal, $mul:literal, $div:literal) => {
        fn $name(op: FloatBinary, mode: u32, x: u128, y: u128) -> u128 {
            let (mut a, b) = (<$float>::from_bits(x as $bits), <$float>::from_bits(y as $bits));
            // SAFETY: instructions on registers only.
            sse(mode, || unsafe {
                match op {
                    FloatBinary::Add => asm!($add, inout(xmm_reg) a, in(xmm_reg) b, options(nostack, nomem)),
                    FloatBinary::Sub => asm!($sub, inout(xmm_reg) a, in(xmm_reg) b, options(nostack, nomem)),
                    FloatBinary::Mul => asm!($mul, inout(xmm_reg) a, in(xmm_reg) b, options(nostack, nomem)),
                    _ => asm!($div, inout(xmm_reg) a, in(xmm_reg) b, options(nostack, nomem)),
                }
            });
            u128::from(a.to_bits())
        }
    };
}

sse_binary!(sse64, f64, u64, "addsd {}, {}", "subsd {}, {}", "mulsd {}, {}", "divsd {}, {}");
sse_binary!(sse32, f32, u32, "addss {}, {}", "subss {}, {}", "mulss {}, {}", "divss {}, {}");

const ARITHMETIC: [FloatBinary; 4] = [FloatBinary::Add, FloatBinary::Sub, FloatBinary::Mul, FloatBinary::Div];

#[test]
fn arithmetic_of_float_and_double() {
    for (format, processor) in [(Format::Double, sse64 as fn(_, _, _, _) -> _), (Format::Single, sse32)] {
        for (rounding, mode) in MODES {
            let mut pairs = Pairs::new(format);
            for _ in 0..n_pairs() {
                let (x, y) = pairs.next();
                for op in ARITHMETIC {
                    let want: u128 = processor(op, mode, x, y);
                    let got = float::binary(op, rounding, format.width(), x, y);
                    assert_eq!(got, want, "{op:?} {rounding:?} {x:#x} {y:#x}: {got:#x}, not {want:#x}");
                }
            }
        }
    }
}

#[test]
fn remainders_and_fused_products_of_float_and_double() {
    let mut pairs = Pairs::new(Format::Double);
    let double = |bits: u128| f64::from_bits(bits as u64);
    for _ in 0..n_pairs() {
        let ((x, y), z) = (pairs.next(), pairs.any());
        // SAFETY: plain functions of numbers.
        let (rem, nearest, fused) = unsafe {
            (fmod(double(x), double(y)), remainder(double(x), double(y)), fma(double(x), double(y), double(z)))
        };
        let same = |got: u128, want: f64, what: &str| {
            assert_eq!(got as u64, want.to_bits(), "{what} {x:#x} {y:#x} {z:#x}");
        };
        same(float::binary(FloatBinary::Rem, Rounding::NearestEven, 64, x, y), rem, "fmod");
        // glibc 2.36 gives a zero the wrong sign where the divisor is very small; IEEE says that it is the dividend's.
        let nearest = if nearest == 0.0 { nearest.copysign(double(x)) } else { nearest };
        same(float::binary(FloatBinary::Remainder, Rounding::NearestEven, 64, x, y), nearest, "remainder");
        same(float::fma(Rounding::NearestEven, 64, x, y, z), fused, "fma");
    }
    let mut pairs = Pairs::new(Format::Single);
    let single = |bits: u128| f32::from_bits(bits as u32);
    for _ in 0..n_pairs() {
        let ((x, y), z) = (pairs.next(), pairs.any());
        // SAFETY: plain functions of numbers.
        let (rem, nearest, fused) = unsafe {
            (fmodf(single(x), single(y)), remainderf(single(x), single(y)), fmaf(single(x), single(y), single(z)))
        };
        let same = |got: u128, want: f32, what: &str| {
            assert_eq!(got as u32, want.to_bits(), "{what} {x:#x} {y:#x} {z:#x}");
        };
        same(float::binary(FloatBinary::Rem, Rounding::NearestEven, 32, x, y), rem, "fmodf");
        same(float::binary(FloatBinary::Remainder, Rounding::NearestEven, 32, x, y), nearest, "remainderf");
        same(float::fma(Rounding::NearestEven, 32, x, y, z), fused, "fmaf");
    }
}

macro_rules! sse_unary {
    ($result:ty, $code:literal, $class_out:ident, $x:expr) => {{
        let result: $result;
        // SAFETY: an instruction on registers only.
        unsafe { asm!($code, out($class_out) result, in(xmm_reg) $x, options(nostack, nomem)) };
        result
    }};
}

#[test]
fn roots_and_conversions_of_float_and_double() {
    for (rounding, mode) in MODES {
        let mut pairs = Pairs::new(Format::Double);
        let mut narrow = Pairs::new(Format::Single);
        for _ in 0..n_pairs() {
            let (bits, integer) = pairs.next();
            let (narrow_bits, _) = narrow.next();
            let (x, n) = (f64::from_bits(bits as u64), integer as u64);
            let s = f32::from_bits(narrow_bits as u32);
            let is = |op: FloatUnary, rounding: Rounding, from: u32, to: u32, x: u128, want: u128| {
                let got = float::unary(op, rounding, from, to, x);
                assert_eq!(got, want, "{op:?} {rounding:?} {from} {to} {x:#x}: {got:#x}, not {want:#x}");
            };
            sse(mode, || {
                let root = sse_unary!(f64, "sqrtsd {}, {}", xmm_reg, x);
                is(FloatUnary::Sqrt, rounding, 64, 64, bits, root.to_bits().into());
                let root = sse_unary!(f32, "sqrtss {}, {}", xmm_reg, s);
                is(FloatUnary::Sqrt, rounding, 32, 32, narrow_bits, root.to_bits().into());
                let less = sse_unary!(f32, "cvtsd2ss {}, {}", xmm_reg, x);
                is(FloatUnary::Resize, rounding, 64, 32, bits, less.to_bits().into());
                let more = sse_unary!(f64, "cvtss2sd {}, {}", xmm_reg, s);
                is(FloatUnary::Resize, rounding, 32, 64, narrow_bits, more.to_bits().into());
                let integer = sse_unary!(u32, "cvttsd2si {:e}, {}", reg, x);
                is(FloatUnary::ToSigned, rounding, 64, 32, bits, integer.into());
                let integer = sse_unary!(u64, "cvttsd2si {}, {}", reg, x);
                is(FloatUnary::ToSigned, rounding, 64, 64, bits, integer.into());
                let integer = sse_unary!(u64, "cvttss2si {}, {}", reg, s);
                is(FloatUnary::ToSigned, rounding, 32, 64, narrow_bits, integer.into());
                // Rounding and converting in one is rounding, then converting.
                let integer = sse_unary!(u64, "cvtsd2si {}, {}", reg, x);
                let integral = float::unary(FloatUnary::Integral, rounding, 64, 64, bits);
                is(FloatUnary::ToSigned, rounding, 64, 64, integral, integer.into());
                let (mut from, mut from32, mut single): (f64, f64, f32);
                // SAFETY: instructions on registers only.
                unsafe {
                    asm!("xorpd {0}, {0}", "cvtsi2sd {0}, {1}", out(xmm_reg) from, in(reg) n, options(nostack, nomem));
                    asm!("xorpd {0}, {0}", "cvtsi2sd {0}, {1:e}", out(xmm_reg) from32, in(reg) n, options(nostack, nomem));
                    asm!("xorps {0}, {0}", "cvtsi2ss {0}, {1}", out(xmm_reg) single, in(reg) n, options(nostack, nomem));
                }
                is(FloatUnary::FromSigned, rounding, 64, 64, n.into(), from.to_bits().into());
                is(FloatUnary::FromSigned, rounding, 32, 64, (n as u32).into(), from32.to_bits().into());
                is(FloatUnary::FromSigned, rounding, 64, 32, n.into(), single.to_bits().into());
            });
            if rounding == Rounding::NearestEven {
                is(FloatUnary::FromUnsigned, rounding, 64, 64, n.into(), (n as f64).to_bits().into());
                is(FloatUnary::FromUnsigned, rounding, 64, 32, n.into(), (n as f32).to_bits().into());
            }
        }
    }
}

#[test]
fn integral_values_of_float_and_double() {
    if !std::arch::is_x86_feature_detected!("sse4.1") {
        return;
    }
    let mut pairs = Pairs::new(Format::Double);
    let mut narrow = Pairs::new(Format::Single);
    for _ in 0..n_pairs() {
        let ((bits, _), (narrow_bits, _)) = (pairs.next(), narrow.next());
        let (x, s) = (f64::from_bits(bits as u64), f32::from_bits(narrow_bits as u32));
        let is = |rounding: Rounding, width: u32, x: u128, want: u128| {
            let got = float::unary(FloatUnary::Integral, rounding, width, width, x);
            assert_eq!(got, want, "integral {rounding:?} {x:#x}: {got:#x}, not {want:#x}");
        };
        is(Rounding::NearestEven, 64, bits, sse_unary!(f64, "roundsd {}, {}, 0", xmm_reg, x).to_bits().into());
        is(Rounding::Down, 64, bits, sse_unary!(f64, "roundsd {}, {}, 1", xmm_reg, x).to_bits().into());
        is(Rounding::Up, 64, bits, sse_unary!(f64, "roundsd {}, {}, 2", xmm_reg, x).to_bits().into());
        is(Rounding::ToZero, 64, bits, sse_unary!(f64, "roundsd {}, {}, 3", xmm_reg, x).to_bits().into());
        is(Rounding::NearestEven, 32, narrow_bits, sse_unary!(f32, "roundss {}, {}, 0", xmm_reg, s).to_bits().into());
        is(Rounding::Down, 32, narrow_bits, sse_unary!(f32, "roundss {}, {}, 1", xmm_reg, s).to_bits().into());
        is(Rounding::Up, 32, narrow_bits, sse_unary!(f32, "roundss {}, {}, 2", xmm_reg, s).to_bits().into());
        is(Rounding::ToZero, 32, narrow_bits, sse_unary!(f32, "roundss {}, {}, 3", xmm_reg, s).to_bits().into());
        if !x.is_nan() {
            is(Rounding::NearestAway, 64, bits, x.round().to_bits().into());
        }
    }
}

#[test]
fn comparisons_of_float_and_double() {
    let mut pairs = Pairs::new(Format::Double);
    for _ in 0..n_pairs() {
        let (x, y) = pairs.next();
        let (a, b) = (f64::from_bits(x as u64), f64::from_bits(y as u64));
        assert_eq!(float::compare(FloatCompare::Less, 64, x, y), a < b, "{a:e} {b:e}");
        assert_eq!(float::compare(FloatCompare::LessOrEqual, 64, x, y), a <= b, "{a:e} {b:e}");
        assert_eq!(float::compare(FloatCompare::Equal, 64, x, y), a == b, "{a:e} {b:e}");
        assert_eq!(Format::Double.is_nan(x), a.is_nan(), "{a:e}");
        let (x, y) = (x >> 32, y >> 32);
        let (a, b) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
        assert_eq!(float::compare(FloatCompare::Less, 32, x, y), a < b, "{a:e} {b:e}");
        assert_eq!(float::compare(FloatCompare::Equal, 32, x, y), a == b, "{a:e} {b:e}");
    }
}

// ---- x87

/// Runs with this rounding mode of the x87, at full precision.
fn x87<T>(mode: u32, run: impl FnOnce() -> T) -> T {
    let set = |word: u16| unsafe { asm!("fldcw [{}]", in(reg) &word, options(nostack)) };
    set(0x037f | (mode as u16) << 10);
    let result = run();
    set(0x037f);
    result
}

fn bytes(bits: u128) -> [u8; 16] {
    bits.to_le_bytes()
}

fn extended(bytes: [u8; 16]) -> u128 {
    u128::from_le_bytes(bytes) & (u128::MAX >> 48)
}

macro_rules! x87_code {
    ($code:literal, $x:expr, $y:expr) => {{
        let (x, y, mut z) = (bytes($x), bytes($y), [0u8; 16]);
        // SAFETY: reads and writes ten bytes each, and leaves the x87's stack empty.
        unsafe {
            asm!("fld tbyte ptr [{0}]", "fld tbyte ptr [{1}]", $code, "fstp tbyte ptr [{2}]",
                in(reg) &x, in(reg) &y, in(reg) &mut z, out("ax") _,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        extended(z)
    }};
}

fn x87_binary(op: FloatBinary, x: u128, y: u128) -> u128 {
    match op {
        FloatBinary::Add => x87_code!("faddp st(1), st", x, y),
        FloatBinary::Sub => x87_code!("fsubp st(1), st", x, y),
        FloatBinary::Mul => x87_code!("fmulp st(1), st", x, y),
        FloatBinary::Div => x87_code!("fdivp st(1), st", x, y),
        // Again and again until the quotient is done.
        FloatBinary::Rem => {
            x87_code!("fxch st(1)\n2:\nfprem\nfnstsw ax\ntest ah, 4\njnz 2b\nfstp st(1)", x, y)
        }
        FloatBinary::Remainder => {
            x87_code!("fxch st(1)\n2:\nfprem1\nfnstsw ax\ntest ah, 4\njnz 2b\nfstp st(1)", x, y)
        }
    }
}

#[test]
fn arithmetic_of_long_double() {
    for (rounding, mode) in MODES {
        let mut pairs = Pairs::new(Format::Extended);
        for _ in 0..n_pairs() {
            let (x, y) = pairs.next();
            for op in ARITHMETIC {
                let want = x87(mode, || x87_binary(op, x, y));
                let got = float::binary(op, rounding, 80, x, y);
                assert_eq!(got, want, "{op:?} {rounding:?} {x:#x} {y:#x}: {got:#x}, not {want:#x}");
            }
        }
    }
}

#[test]
fn remainders_of_long_double() {
    let mut pairs = Pairs::new(Format::Extended);
    // A quotient of 2^32000 takes the instruction a while.
    for _ in 0..n_pairs() {
        let (x, y) = pairs.next();
        for op in [FloatBinary::Rem, FloatBinary::Remainder] {
            let want = x87(0, || x87_binary(op, x, y));
            let got = float::binary(op, Rounding::NearestEven, 80, x, y);
            assert_eq!(got, want, "{op:?} {x:#x} {y:#x}: {got:#x}, not {want:#x}");
        }
    }
}

macro_rules! x87_store {
    ($code:literal, $x:expr) => {{
        let (x, mut z) = (bytes($x), [0u8; 16]);
        // SAFETY: reads ten bytes, writes ten at most, and leaves the x87's stack empty.
        unsafe {
            asm!("fld tbyte ptr [{0}]", $code, in(reg) &x, in(reg) &mut z,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        u128::from_le_bytes(z)
    }};
}

macro_rules! x87_load {
    ($code:literal, $x:expr) => {{
        let (x, mut z) = (bytes($x), [0u8; 16]);
        // SAFETY: reads eight bytes at most, writes ten, and leaves the x87's stack empty.
        unsafe {
            asm!($code, "fstp tbyte ptr [{1}]", in(reg) &x, in(reg) &mut z,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        extended(z)
    }};
}

#[test]
fn roots_and_conversions_of_long_double() {
    for (rounding, mode) in MODES {
        let mut pairs = Pairs::new(Format::Extended);
        for _ in 0..n_pairs() {
            let (x, y) = pairs.next();
            let is = |op: FloatUnary, from: u32, to: u32, x: u128, want: u128| {
                let got = float::unary(op, rounding, from, to, x);
                assert_eq!(got, want, "{op:?} {rounding:?} {from} {to} {x:#x}: {got:#x}, not {want:#x}");
            };
            x87(mode, || {
                is(FloatUnary::Sqrt, 80, 80, x, extended(x87_store!("fsqrt\nfstp tbyte ptr [{1}]", x).to_le_bytes()));
                let integral = x87_store!("frndint\nfstp tbyte ptr [{1}]", x);
                is(FloatUnary::Integral, 80, 80, x, extended(integral.to_le_bytes()));
                is(FloatUnary::Resize, 80, 64, x, x87_store!("fstp qword ptr [{1}]", x));
                is(FloatUnary::Resize, 80, 32, x, x87_store!("fstp dword ptr [{1}]", x));
                is(FloatUnary::ToSigned, 80, 16, x, x87_store!("fisttp word ptr [{1}]", x));
                is(FloatUnary::ToSigned, 80, 32, x, x87_store!("fisttp dword ptr [{1}]", x));
                is(FloatUnary::ToSigned, 80, 64, x, x87_store!("fisttp qword ptr [{1}]", x));
                let (wide, narrow) = (y & u128::from(u64::MAX), y & u128::from(u32::MAX));
                is(FloatUnary::Resize, 64, 80, wide, x87_load!("fld qword ptr [{0}]", wide));
                is(FloatUnary::Resize, 32, 80, narrow, x87_load!("fld dword ptr [{0}]", narrow));
                is(FloatUnary::FromSigned, 64, 80, wide, x87_load!("fild qword ptr [{0}]", wide));
                is(FloatUnary::FromSigned, 32, 80, narrow, x87_load!("fild dword ptr [{0}]", narrow));
            });
        }
    }
}

#[test]
fn comparisons_of_long_double() {
    let mut pairs = Pairs::new(Format::Extended);
    for _ in 0..n_pairs() {
        let (x, y) = pairs.next();
        let (a, b) = (bytes(x), bytes(y));
        let (carry, zero, parity): (u8, u8, u8);
        // SAFETY: reads ten bytes each, and leaves the x87's stack empty.
        unsafe {
            asm!("fld tbyte ptr [{1}]", "fld tbyte ptr [{0}]", "fucomip st, st(1)", "fstp st(0)",
                "setb {2}", "setz {3}", "setp {4}",
                in(reg) &a, in(reg) &b, out(reg_byte) carry, out(reg_byte) zero, out(reg_byte) parity,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        let (less, same) = (carry == 1 && parity == 0, zero == 1 && parity == 0);
        assert_eq!(float::compare(FloatCompare::Less, 80, x, y), less, "{x:#x} {y:#x}");
        assert_eq!(float::compare(FloatCompare::LessOrEqual, 80, x, y), less || same, "{x:#x} {y:#x}");
        assert_eq!(float::compare(FloatCompare::Equal, 80, x, y), same, "{x:#x} {y:#x}");
        assert_eq!(Format::Extended.is_nan(x) || Format::Extended.is_nan(y), parity == 1, "{x:#x} {y:#x}");
    }
}
