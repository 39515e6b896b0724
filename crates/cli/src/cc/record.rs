//! What `colt cc` keeps of every file it compiles, in a section of the object: how it was compiled, and its bitcode.
//!
//! The section is not loaded, and linkers, `ar` and `ld -r` carry it along like any other, so that a program holds the
//! records of exactly the objects linked into it. A record is a mark, two sizes, a line of JSON and the bitcode.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub const SECTION: &str = ".colt.units";
const MARK: &[u8; 8] = b"COLTUNIT";
const HEADER: usize = 8 + 8 + 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub dir: PathBuf,
    pub source: PathBuf,
    pub args: Vec<String>,
    /// Why there is no bitcode.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub without: String,
    /// Of a link instead of a file: the archives that it had to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<PathBuf>,
    #[serde(skip)]
    pub bitcode: Vec<u8>,
}

impl Record {
    pub fn write(&self, bytes: &mut Vec<u8>) {
        // Plain data with string keys: serialising cannot fail.
        let text = serde_json::to_vec(self).unwrap_or_default();
        bytes.extend_from_slice(MARK);
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(self.bitcode.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&text);
        bytes.extend_from_slice(&self.bitcode);
    }

    /// The records of a section; `None` when it is damaged. Linkers may put zeros between records.
    pub fn read_all(mut bytes: &[u8]) -> Option<Vec<Record>> {
        let mut records = Vec::new();
        loop {
            let n_zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            bytes = &bytes[n_zeros..];
            if bytes.is_empty() {
                return Some(records);
            }
            if !bytes.starts_with(MARK) {
                return None;
            }
            let size = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?) as usize);
            let (n_text, n_bitcode) = (size(8)?, size(16)?);
            let text = bytes.get(HEADER..HEADER.checked_add(n_text)?)?;
            let bitcode = bytes.get(HEADER + n_text..(HEADER + n_text).checked_add(n_bitcode)?)?;
            let mut record: Record = serde_json::from_slice(text).ok()?;
            record.bitcode = bitcode.to_vec();
            records.push(record);
            bytes = &bytes[HEADER + n_text + n_bitcode..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_written() {
        let record = |name: &str| Record {
            dir: "/d".into(),
            source: name.into(),
            args: vec!["-DA=\"x y\"".to_string()],
            without: String::new(),
            archives: Vec::new(),
            bitcode: b"BC\xc0\xde\0\0".to_vec(),
        };
        let mut bytes = Vec::new();
        record("a.c").write(&mut bytes);
        bytes.extend_from_slice(&[0; 7]);
        record("b.c").write(&mut bytes);
        assert_eq!(Record::read_all(&bytes), Some(vec![record("a.c"), record("b.c")]));
        assert_eq!(Record::read_all(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Record::read_all(b"x"), None);
    }
}
