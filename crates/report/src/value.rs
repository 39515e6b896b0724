//! Shows input values the way a C programmer would write them.

use witness::InputValue;

enum Scalar {
    Signed,
    Unsigned,
    Char,
    Float,
}

/// `12`, `"ab\x00c"`, `{1, 2, 3}`; raw bytes (`0c 00 ff`) where the type says nothing.
pub fn describe(input: &InputValue) -> String {
    let ty = input.ty.trim();
    let (base, counts) = match ty.find('[') {
        Some(bracket) => (&ty[..bracket], &ty[bracket..]),
        None => (ty, ""),
    };
    let scalar = scalar(base);
    if base == "string" {
        let text = input.bytes.strip_suffix(&[0]).unwrap_or(&input.bytes);
        return shortened(text);
    }
    if counts.is_empty() {
        return match scalar {
            Some(scalar) if input.bytes.len() <= 16 && !input.bytes.is_empty() => number(&scalar, &input.bytes),
            None if matches!(input.bytes.len(), 1 | 2 | 4 | 8) && !base.starts_with("struct") && base != "bytes" => {
                number(&Scalar::Unsigned, &input.bytes)
            }
            _ if input.name.starts_with("argv[") || &*input.name == "stdin" => shortened(&input.bytes),
            _ => raw(&input.bytes),
        };
    }
    let n_elements: usize =
        counts.split(['[', ']']).filter(|part| !part.is_empty()).map(|part| part.parse().unwrap_or(0)).product();
    if input.name.starts_with("argv[") && input.bytes.len() != n_elements {
        return shortened(&input.bytes);
    }
    match scalar {
        Some(Scalar::Char) if input.bytes.len() == n_elements => shortened(&input.bytes),
        Some(scalar) if n_elements > 0 && !input.bytes.is_empty() && input.bytes.len().is_multiple_of(n_elements) => {
            let elements: Vec<String> =
                input.bytes.chunks(input.bytes.len() / n_elements).map(|bytes| number(&scalar, bytes)).collect();
            format!("{{{}}}", elements.join(", "))
        }
        _ => raw(&input.bytes),
    }
}

/// An integer as a constant of C; `None` for anything else.
pub fn integer(input: &InputValue) -> Option<String> {
    match scalar(input.ty.trim())? {
        Scalar::Float => None,
        _ if !(1..=8).contains(&input.bytes.len()) => None,
        Scalar::Char => Some(input.bytes[0].to_string()),
        scalar => Some(number(&scalar, &input.bytes)),
    }
}

fn scalar(spelling: &str) -> Option<Scalar> {
    let words: Vec<&str> = spelling.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile")).collect();
    Some(match words.join(" ").as_str() {
        "char" | "signed char" | "unsigned char" | "uint8_t" | "int8_t" | "uchar" | "u8" => Scalar::Char,
        "short" | "int" | "long" | "long long" | "long int" | "long long int" | "short int" | "__int128"
        | "int16_t" | "int32_t" | "int64_t" | "ssize_t" | "intptr_t" | "ptrdiff_t" | "off_t" | "time_t" | "clock_t" => {
            Scalar::Signed
        }
        "unsigned short" | "unsigned int" | "unsigned" | "unsigned long" | "unsigned long long" | "uint16_t"
        | "uint32_t" | "uint64_t" | "size_t" | "uintptr_t" | "_Bool" | "bool" | "unsigned __int128" => Scalar::Unsigned,
        "float" | "double" | "long double" => Scalar::Float,
        _ if spelling.trim_end().ends_with('*') => Scalar::Unsigned,
        _ => return None,
    })
}

/// The little-endian value of up to 16 bytes.
fn bits(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))
}

fn number(scalar: &Scalar, bytes: &[u8]) -> String {
    let value = bits(bytes);
    match scalar {
        Scalar::Unsigned => value.to_string(),
        Scalar::Char => match value as u8 {
            byte @ (b' '..=b'~') => format!("{byte} ('{}')", escape(byte, '\'')),
            byte => byte.to_string(),
        },
        Scalar::Signed => {
            let shift = 128 - 8 * bytes.len() as u32;
            ((value << shift) as i128 >> shift).to_string()
        }
        Scalar::Float if bytes.len() == 4 && f32::from_bits(value as u32).is_nan() => format!("NaN ({value:#x})"),
        Scalar::Float if bytes.len() == 8 && f64::from_bits(value as u64).is_nan() => format!("NaN ({value:#x})"),
        // As short as it can be told from its neighbours: 0.1, 1e300.
        Scalar::Float if bytes.len() == 4 => format!("{:?}", f32::from_bits(value as u32)),
        Scalar::Float if bytes.len() == 8 => format!("{:?}", f64::from_bits(value as u64)),
        Scalar::Float if bytes.len() >= 10 => extended(value & (u128::MAX >> 48)),
        Scalar::Float => raw(bytes),
    }
}

/// A long double of the x87: in decimal where a double is the same number, else in C's hexadecimal form.
fn extended(value: u128) -> String {
    let (stored, fraction) = ((value >> 64) as i32 & 0x7fff, value as u64);
    let sign = if value >> 79 == 1 { "-" } else { "" };
    let exponent = stored.max(1) - 16383;
    match (stored, fraction) {
        (0, 0) => format!("{sign}0.0"),
        (0x7fff, 0x8000_0000_0000_0000) => format!("{sign}inf"),
        (1.., _) if stored == 0x7fff || fraction >> 63 == 0 => format!("NaN ({value:#x})"),
        (1.., _) if fraction & 0x7ff == 0 && (-1000..1000).contains(&exponent) => {
            format!("{sign}{:?}", fraction as f64 * 2f64.powi(exponent - 63))
        }
        _ => format!("{sign}0x{fraction:x}p{}", exponent - 63),
    }
}

/// Texts up to this length are written out.
const SHORT: usize = 48;

/// `"/" + 1019 * "a"`: what one or two bytes repeat at length is counted.
fn shortened(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    if end <= SHORT {
        return quoted(bytes);
    }
    let (mut pieces, mut plain, mut at) = (Vec::new(), 0, 0);
    while at < end {
        let repeats = |period: usize| {
            let n_more = (at + period..end).take_while(|idx| bytes[*idx] == bytes[*idx - period]).count();
            (n_more / period + 1, period)
        };
        let (n_times, period) = [repeats(1), repeats(2)]
            .into_iter()
            .max_by_key(|(n_times, period)| (n_times * period, 2 - period))
            .unwrap_or((1, 1));
        if n_times * period < 16 {
            at += 1;
            continue;
        }
        if plain < at {
            pieces.push(written(&bytes[plain..at]));
        }
        pieces.push(format!("{n_times} * {}", written(&bytes[at..at + period])));
        at += n_times * period;
        plain = at;
    }
    if plain < end {
        pieces.push(written(&bytes[plain..end]));
    }
    pieces.join(" + ")
}

/// Trailing NULs are left out: the size is part of the type.
fn quoted(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    written(&bytes[..end])
}

fn written(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for (byte_idx, byte) in bytes.iter().enumerate() {
        text.push_str(&escape(*byte, '"'));
        // `\x1` followed by `2` would read as one escape in C.
        let next_is_digit = bytes.get(byte_idx + 1).is_some_and(u8::is_ascii_hexdigit);
        if !(b' '..=b'~').contains(byte) && !matches!(byte, b'\n' | b'\t' | b'\r') && next_is_digit {
            text.push_str("\"\"");
        }
    }
    text.push('"');
    text
}

fn escape(byte: u8, quote: char) -> String {
    match byte {
        b'\n' => "\\n".to_string(),
        b'\t' => "\\t".to_string(),
        b'\r' => "\\r".to_string(),
        b'\\' => "\\\\".to_string(),
        _ if char::from(byte) == quote => format!("\\{quote}"),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

/// Bytes as a C string.
pub fn text(bytes: &[u8]) -> String {
    quoted(bytes)
}

fn raw(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(ty: &str, bytes: &[u8]) -> String {
        describe(&InputValue::new("x", ty, bytes.to_vec()))
    }

    #[test]
    fn scalars() {
        assert_eq!(show("int", &[0xff, 0xff, 0xff, 0xff]), "-1");
        assert_eq!(show("unsigned int", &[0xff, 0xff, 0xff, 0xff]), "4294967295");
        assert_eq!(show("char", b"a"), "97 ('a')");
        assert_eq!(show("const long", &[12, 0, 0, 0, 0, 0, 0, 0]), "12");
        assert_eq!(show("double", &1.5f64.to_le_bytes()), "1.5");
        assert_eq!(show("my_id_t", &[1, 2]), "513");
    }

    #[test]
    fn aggregates() {
        assert_eq!(show("char[4]", b"a\"\0\0"), "\"a\\\"\"");
        assert_eq!(show("char[3]", &[1, b'2', 0]), "\"\\x01\"\"2\"");
        assert_eq!(show("int[2]", &[1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff]), "{1, -2}");
        assert_eq!(show("short[2][2]", &[1, 0, 2, 0, 3, 0, 4, 0]), "{1, 2, 3, 4}");
        assert_eq!(show("struct s", &[1, 2]), "01 02");
        assert_eq!(show("char[0]", &[]), "\"\"");
        assert_eq!(show("int[0]", &[]), "");
        assert_eq!(show("string", b"ab\0"), "\"ab\"");
    }

    #[test]
    fn long_texts_are_counted() {
        let text = [b"/".as_slice(), &[b'a'; 1019], b"x\0"].concat();
        assert_eq!(show("string", &text), "\"/\" + 1019 * \"a\" + \"x\"");
        assert_eq!(show("char[64]", &b"<>".repeat(32)), "32 * \"<>\"");
    }
}
