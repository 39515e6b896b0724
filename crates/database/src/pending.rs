//! Prefixes of paths not explored yet, as one run of bytes. They are many and deep, and have most of their decisions in common:
//! each piece that some of them share is there once, and says which piece it stands on.

use crate::code::{put, take};

/// Of a piece, in the order they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceId(u64);

/// Coded paths, in the order they are to be gone on with. A [`Packer`] makes them; those that were read from the database cannot
/// be added to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// For each piece how many pieces before it the one is that it stands on (0: none), how many bytes it has in common with the
    /// piece added before it, how many others, and those.
    pieces: Vec<u8>,
    /// For each prefix the number of its last piece, from 1; 0 where it has no decisions.
    ends: Vec<u8>,
    n_prefixes: u64,
}

/// Packs prefixes, piece by piece.
#[derive(Debug, Default)]
pub struct Packer {
    packed: Prefixes,
    n_pieces: u64,
    /// The piece that was added last, as a whole.
    last: Vec<u8>,
}

/// Bytes in one row of the table.
const ROW: usize = 1 << 20;

impl Packer {
    /// Adds decisions, not divided, that follow those of another piece.
    pub fn add_piece(&mut self, earlier: Option<PieceId>, bytes: &[u8]) -> PieceId {
        let n_common = self.last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        let out = &mut self.packed.pieces;
        put(earlier.map_or(0, |earlier| self.n_pieces - earlier.0), out);
        put(n_common as u64, out);
        put((bytes.len() - n_common) as u64, out);
        out.extend_from_slice(&bytes[n_common..]);
        self.last.truncate(n_common);
        self.last.extend_from_slice(&bytes[n_common..]);
        self.n_pieces += 1;
        PieceId(self.n_pieces - 1)
    }

    /// Adds the path that ends with a piece.
    pub fn add(&mut self, end: Option<PieceId>) {
        put(end.map_or(0, |end| end.0 + 1), &mut self.packed.ends);
        self.packed.n_prefixes += 1;
    }

    pub fn finish(self) -> Prefixes {
        self.packed
    }
}

impl Prefixes {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.n_prefixes
    }

    pub fn is_empty(&self) -> bool {
        self.n_prefixes == 0
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.pieces.len() + self.ends.len()
    }

    /// What `on` makes of each prefix from its pieces, beginning with `start`; `None` where the bytes are damaged.
    pub fn each<T: Clone>(&self, start: T, mut on: impl FnMut(&T, &[u8]) -> T) -> Option<Vec<T>> {
        let mut made: Vec<T> = Vec::new();
        let mut bytes: Vec<u8> = Vec::new();
        let mut rest = &self.pieces[..];
        while !rest.is_empty() {
            let (back, n_common, n_other) = (take(&mut rest)?, take(&mut rest)? as usize, take(&mut rest)? as usize);
            let (other, after) = rest.split_at_checked(n_other)?;
            bytes.get(..n_common)?;
            bytes.truncate(n_common);
            bytes.extend_from_slice(other);
            rest = after;
            let piece = match back {
                0 => on(&start, &bytes),
                back => on(made.get(made.len().checked_sub(back as usize)?)?, &bytes),
            };
            made.push(piece);
        }
        let mut prefixes = Vec::new();
        let mut rest = &self.ends[..];
        while !rest.is_empty() {
            prefixes.push(match take(&mut rest)? {
                0 => start.clone(),
                end => made.get(end as usize - 1)?.clone(),
            });
        }
        Some(prefixes)
    }

    /// As rows of the table.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let n_rows = self.pieces.len().max(self.ends.len()).div_ceil(ROW);
        let part = |bytes: &'_ [u8], row: usize| row * ROW..((row + 1) * ROW).min(bytes.len());
        (0..n_rows).map(move |row| {
            let (pieces, ends) = (part(&self.pieces, row), part(&self.ends, row));
            (self.pieces.get(pieces).unwrap_or_default(), self.ends.get(ends).unwrap_or_default())
        })
    }

    /// Takes the next row up.
    pub(crate) fn add_row(&mut self, pieces: &[u8], ends: &[u8]) {
        self.pieces.extend_from_slice(pieces);
        self.ends.extend_from_slice(ends);
        // The last byte of a number is below 128.
        self.n_prefixes += ends.iter().filter(|byte| **byte < 0x80).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(prefixes: &Prefixes) -> Option<Vec<Vec<u8>>> {
        prefixes.each(Vec::new(), |before: &Vec<u8>, bytes| [before, bytes].concat())
    }

    fn read_again(prefixes: &Prefixes) -> Prefixes {
        let mut again = Prefixes::default();
        prefixes.rows().for_each(|(pieces, ends)| again.add_row(pieces, ends));
        again
    }

    #[test]
    fn prefixes_come_back() {
        let mut packer = Packer::default();
        let root = packer.add_piece(None, &[0, 1, 1]);
        let one = packer.add_piece(Some(root), &[0, 7]);
        let two = packer.add_piece(Some(root), &[0, 8, 9]);
        let other = packer.add_piece(None, &[]);
        let long = packer.add_piece(Some(one), &vec![3; ROW]);
        [Some(two), None, Some(root), Some(one), Some(other), Some(long)].into_iter().for_each(|end| packer.add(end));
        let prefixes = packer.finish();
        let want = [
            &[0, 1, 1, 0, 8, 9][..],
            &[],
            &[0, 1, 1],
            &[0, 1, 1, 0, 7],
            &[],
            &[&[0, 1, 1, 0, 7][..], &vec![3; ROW]].concat(),
        ];
        assert_eq!(prefixes.rows().count(), 2);
        let again = read_again(&prefixes);
        assert_eq!((again.len(), &again), (6, &prefixes));
        assert_eq!(back(&again).expect("whole"), want);
        assert_eq!(back(&read_again(&Prefixes::default())), Some(Vec::new()));
    }

    #[test]
    fn damage_is_seen() {
        let damaged = |pieces: &[u8], ends: &[u8]| {
            let mut prefixes = Prefixes::default();
            prefixes.add_row(pieces, ends);
            back(&prefixes).is_none()
        };
        assert!(damaged(&[0, 5, 1], &[]) && damaged(&[1, 0, 0], &[]) && damaged(&[0, 0, 3, 1], &[]));
        assert!(damaged(&[], &[1]) && !damaged(&[], &[0]));
    }
}
