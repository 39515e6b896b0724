//! Prefixes of paths not explored yet, packed: each as what it has in common with the one before it. They are many and deep, and
//! neighbours differ in their last decisions.

use crate::code::{put, take};

/// Coded paths, in the order they are to be gone on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes(pub Vec<Box<[u8]>>);

/// Bytes in one row of the table.
const ROW: usize = 1 << 20;

impl Prefixes {
    /// As rows of the table.
    pub(crate) fn pack(&self) -> Vec<Vec<u8>> {
        let mut rows = vec![Vec::new()];
        let mut before: &[u8] = &[];
        for prefix in &self.0 {
            if rows.last().is_none_or(|row| row.len() > ROW) {
                rows.push(Vec::new());
                before = &[];
            }
            let n_common = before.iter().zip(prefix.iter()).take_while(|(a, b)| a == b).count();
            if let Some(row) = rows.last_mut() {
                put(n_common as u64, row);
                put((prefix.len() - n_common) as u64, row);
                row.extend_from_slice(&prefix[n_common..]);
            }
            before = prefix;
        }
        rows
    }

    /// Appends those of one row; `None` where it is damaged.
    pub(crate) fn unpack(&mut self, mut row: &[u8]) -> Option<()> {
        let mut before: Vec<u8> = Vec::new();
        while !row.is_empty() {
            let (n_common, n_rest) = (take(&mut row)? as usize, take(&mut row)? as usize);
            let (rest, after) = row.split_at_checked(n_rest)?;
            (n_common <= before.len()).then_some(())?;
            before.truncate(n_common);
            before.extend_from_slice(rest);
            row = after;
            self.0.push(before.as_slice().into());
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_prefixes_come_back() {
        let long = vec![3; ROW];
        let prefixes: Vec<Box<[u8]>> =
            [&[0, 1, 1][..], &[0, 1, 0, 7], &[], &[0, 1], &[0, 1], &long, &[3, 3, 4]].map(Box::from).into();
        let prefixes = Prefixes(prefixes);
        let rows = prefixes.pack();
        assert_eq!(rows.len(), 2);
        let mut back = Prefixes::default();
        assert!(rows.iter().all(|row| back.unpack(row).is_some()));
        assert_eq!(back, prefixes);
        assert_eq!(Prefixes::default().unpack(&[0, 5, 1]), None);
        assert_eq!(Prefixes::default().unpack(&[1, 0]), None);
    }
}
