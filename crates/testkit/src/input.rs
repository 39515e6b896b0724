//! Inputs of a generated test, decoded from their memory image by the C spelling of their type.

/// One input of a test as the test file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub name: String,
    /// C spelling (`unsigned char[4]`), or `bytes` when the engine did not know the type.
    pub ty: String,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
}

/// The element spelling and the dimensions, outermost first.
fn split_type(ty: &str) -> (&str, Vec<usize>) {
    match ty.find('[') {
        None => (ty.trim(), Vec::new()),
        Some(at) => {
            let dims = ty[at..]
                .split('[')
                .skip(1)
                .filter_map(|dim| dim.trim().trim_end_matches(']').trim().parse().ok())
                .collect();
            (ty[..at].trim(), dims)
        }
    }
}

/// Only the sign comes from the spelling; the width comes from the bytes, so `long` is right on every target.
fn sign_of(element: &str) -> Sign {
    let unsigned_words = ["unsigned", "_Bool", "bool", "size_t", "uintptr_t", "bytes", "enum", "struct", "union"];
    let is_unsigned = element
        .split_whitespace()
        .any(|word| unsigned_words.contains(&word) || word.starts_with("uint") || word.starts_with("__uint"));
    if is_unsigned || element.contains('*') { Sign::Unsigned } else { Sign::Signed }
}

/// Widths that are the same on every target. An input may be only the first part of an array, so the number of bytes
/// does not always tell.
fn known_width(element: &str) -> Option<usize> {
    let word = element.split_whitespace().last()?;
    Some(match word {
        "char" | "_Bool" | "bool" | "int8_t" | "uint8_t" => 1,
        "short" | "int16_t" | "uint16_t" => 2,
        "unsigned" | "int32_t" | "uint32_t" => 4,
        "int" if element.contains("short") => 2,
        "int" if !element.contains("long") => 4,
        "int64_t" | "uint64_t" => 8,
        _ => return None,
    })
}

/// Types whose elements are single bytes to us: unknown ones and aggregates.
fn is_opaque(element: &str) -> bool {
    element == "bytes" || element.contains("struct ") || element.contains("union ")
}

fn number(bytes: &[u8], sign: Sign) -> Result<i128, String> {
    if bytes.is_empty() || bytes.len() > 16 {
        return Err(format!("cannot read {} bytes as a number", bytes.len()));
    }
    let negative = sign == Sign::Signed && bytes[bytes.len() - 1] & 0x80 != 0;
    let mut image = if negative { [0xff; 16] } else { [0; 16] };
    image[..bytes.len()].copy_from_slice(bytes);
    Ok(i128::from_le_bytes(image))
}

impl Input {
    /// The value of a scalar (no indices) or of one element.
    pub fn value(&self, indices: &[i128]) -> Result<i128, String> {
        let (element, dims) = split_type(&self.ty);
        if indices.is_empty() {
            return if dims.is_empty() && !is_opaque(element) {
                number(&self.bytes, sign_of(element))
            } else {
                Err(format!("`{}` has type `{}`: give an index", self.name, self.ty))
            };
        }
        let (count, width, sign) = if dims.is_empty() || is_opaque(element) {
            (self.bytes.len(), 1, Sign::Unsigned)
        } else {
            let count: usize = dims.iter().product();
            let width = known_width(element).or(self.bytes.len().checked_div(count)).unwrap_or(0);
            (self.bytes.len().checked_div(width).unwrap_or(0), width, sign_of(element))
        };
        let position = self.position(indices, &dims)?;
        if position >= count || width == 0 {
            return Err(format!("index {position} is outside `{}` of type `{}`", self.name, self.ty));
        }
        number(&self.bytes[position * width..(position + 1) * width], sign)
    }

    fn position(&self, indices: &[i128], dims: &[usize]) -> Result<usize, String> {
        let expected = dims.len().max(1);
        if indices.len() != expected {
            return Err(format!("`{}` has {expected} dimension(s), {} index(es) given", self.name, indices.len()));
        }
        let mut position = 0usize;
        for (nth, index) in indices.iter().enumerate() {
            let index = usize::try_from(*index).map_err(|_| format!("negative index into `{}`", self.name))?;
            let size = dims.get(nth).copied().unwrap_or(usize::MAX);
            position = position.saturating_mul(size).saturating_add(index);
        }
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(ty: &str, bytes: &[u8]) -> Input {
        Input { name: "x".into(), ty: ty.into(), bytes: bytes.to_vec() }
    }

    #[test]
    fn scalars_follow_sign_and_width() {
        assert_eq!(input("int", &[0xfe, 0xff, 0xff, 0xff]).value(&[]), Ok(-2));
        assert_eq!(input("unsigned int", &[0xfe, 0xff, 0xff, 0xff]).value(&[]), Ok(0xffff_fffe));
        assert_eq!(input("uint8_t", &[200]).value(&[]), Ok(200));
        assert_eq!(input("const char", &[200]).value(&[]), Ok(-56));
        assert_eq!(input("long", &[1, 0, 0, 0]).value(&[]), Ok(1));
    }

    #[test]
    fn arrays_are_indexed_by_element() {
        let ints = input("short[2][2]", &[1, 0, 2, 0, 3, 0, 0xff, 0xff]);
        assert_eq!(ints.value(&[1, 0]), Ok(3));
        assert_eq!(ints.value(&[1, 1]), Ok(-1));
        assert!(ints.value(&[1]).is_err());
        assert!(ints.value(&[2, 0]).is_err());
        assert!(ints.value(&[-1, 0]).is_err());
    }

    #[test]
    fn an_input_may_be_part_of_an_array() {
        let part = input("char[8]", b"ab");
        assert_eq!(part.value(&[1]), Ok(i128::from(b'b')));
        assert!(part.value(&[2]).is_err());
        assert_eq!(input("unsigned int[4]", &[1, 0, 0, 0, 2, 0, 0, 0]).value(&[1]), Ok(2));
    }

    #[test]
    fn unknown_types_are_bytes() {
        let raw = input("bytes", &[7, 255]);
        assert_eq!(raw.value(&[1]), Ok(255));
        assert!(raw.value(&[]).is_err());
        assert_eq!(input("struct point", &[7, 255]).value(&[1]), Ok(255));
        assert!(input("struct point", &[7]).value(&[1]).is_err());
    }
}
