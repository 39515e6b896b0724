//! Decisions as bytes: seven bits a byte, the lowest first; the last byte of a decision is the one below 128. So a path of
//! small decisions is one byte for each, and a path begins with another exactly if its bytes do.

/// Appends the code of one number.
pub fn put(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes one number off the front; `None` where the bytes end too early.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

pub fn encode_path(path: &[u64], out: &mut Vec<u8>) {
    path.iter().for_each(|decision| put(*decision, out));
}

pub fn decisions(mut bytes: &[u8]) -> Vec<u64> {
    std::iter::from_fn(|| take(&mut bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_coded_comes_back() {
        let path = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX, 0];
        let mut bytes = Vec::new();
        encode_path(&path, &mut bytes);
        assert_eq!(decisions(&bytes), path);
        bytes.push(0x80);
        assert_eq!(decisions(&bytes), path, "a decision cut off is none");
    }
}
