//! The decisions of a path: a list that forks share up to where they part.

use std::rc::Rc;

/// Bytes in one piece of the list.
const PIECE: usize = 39;

/// Decisions that are shared together, coded as in a [`Trail`]; none is divided.
#[derive(Clone)]
struct Piece {
    bytes: [u8; PIECE],
    n_bytes: u8,
    earlier: Option<Rc<Piece>>,
}

impl Piece {
    fn decisions(&self) -> &[u8] {
        &self.bytes[..usize::from(self.n_bytes)]
    }
}

/// Newest piece first inside, oldest decision first outside.
#[derive(Clone, Default)]
pub struct Decisions {
    newest: Option<Rc<Piece>>,
    n_decisions: u64,
}

impl Decisions {
    pub fn push(&mut self, decision: u64) {
        self.n_decisions += 1;
        let (code, n_code) = encode(decision);
        let has_room = |piece: &Rc<Piece>| usize::from(piece.n_bytes + n_code) <= PIECE;
        let mut piece = match self.newest.take() {
            Some(piece) if has_room(&piece) => piece,
            earlier => Rc::new(Piece { bytes: [0; PIECE], n_bytes: 0, earlier }),
        };
        let owned = Rc::make_mut(&mut piece);
        let (from, to) = (usize::from(owned.n_bytes), usize::from(owned.n_bytes + n_code));
        owned.bytes[from..to].copy_from_slice(&code[..usize::from(n_code)]);
        owned.n_bytes += n_code;
        self.newest = Some(piece);
    }

    pub fn len(&self) -> u64 {
        self.n_decisions
    }

    pub fn is_empty(&self) -> bool {
        self.n_decisions == 0
    }

    pub fn to_vec(&self) -> Vec<u64> {
        let mut decisions = Vec::with_capacity(self.n_decisions as usize);
        decisions.extend(self.to_trail().iter());
        decisions
    }

    pub fn to_trail(&self) -> Trail {
        let mut pieces = Vec::new();
        let mut next = &self.newest;
        while let Some(piece) = next {
            pieces.push(piece.decisions());
            next = &piece.earlier;
        }
        pieces.reverse();
        Trail(pieces.concat().into())
    }
}

/// Seven bits a byte, the lowest first; the last byte is the one below 128.
fn encode(mut decision: u64) -> ([u8; 10], u8) {
    let mut code = [0; 10];
    let mut n_bytes = 0;
    while decision > 0x7f {
        code[n_bytes] = decision as u8 | 0x80;
        decision >>= 7;
        n_bytes += 1;
    }
    code[n_bytes] = decision as u8;
    (code, n_bytes as u8 + 1)
}

/// Decisions of a path that is not in memory: a byte for each, as hardly one is above 127.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Trail(Box<[u8]>);

impl Trail {
    /// The code of the decisions. A trail begins with another exactly if its bytes do.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From what [`Trail::as_bytes`] gave.
    pub fn from_bytes(bytes: Box<[u8]>) -> Trail {
        Trail(bytes)
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let mut bytes = self.0.iter();
        std::iter::from_fn(move || {
            let mut decision = 0;
            let mut shift = 0;
            loop {
                let byte = *bytes.next()?;
                decision |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return Some(decision);
                }
                shift += 7;
            }
        })
    }
}

impl FromIterator<u64> for Trail {
    fn from_iter<I: IntoIterator<Item = u64>>(decisions: I) -> Trail {
        let mut bytes = Vec::new();
        for decision in decisions {
            let (code, n_code) = encode(decision);
            bytes.extend_from_slice(&code[..usize::from(n_code)]);
        }
        Trail(bytes.into())
    }
}

impl std::fmt::Debug for Trail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Drop for Piece {
    /// Long lists must not be dropped recursively.
    fn drop(&mut self) {
        let mut next = self.earlier.take();
        while let Some(piece) = next {
            match Rc::try_unwrap(piece) {
                Ok(mut owned) => next = owned.earlier.take(),
                Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_share_and_part() {
        let mut one = Decisions::default();
        one.push(1);
        one.push(0);
        let mut two = one.clone();
        one.push(7);
        two.push(8);
        assert_eq!(one.to_vec(), [1, 0, 7]);
        assert_eq!(two.to_vec(), [1, 0, 8]);
        assert_eq!(two.len(), 3);
    }

    #[test]
    fn a_million_decisions_are_dropped_without_recursion() {
        let mut long = Decisions::default();
        (0..1_000_000).for_each(|decision| long.push(decision));
        drop(long);
    }

    #[test]
    fn long_lists_keep_their_order() {
        let mut decisions = Decisions::default();
        let mut forks = Vec::new();
        for decision in 0..1000 {
            decisions.push(decision * decision);
            forks.push(decisions.clone());
        }
        for (last, fork) in forks.iter().enumerate() {
            let want: Vec<u64> = (0..=last as u64).map(|decision| decision * decision).collect();
            assert_eq!(fork.to_vec(), want);
        }
    }

    #[test]
    fn a_trail_gives_back_what_it_was_made_from() {
        let decisions = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX, 0];
        let trail: Trail = decisions.into_iter().collect();
        assert_eq!(trail.iter().collect::<Vec<_>>(), decisions);
        assert_eq!(Trail::default().iter().count(), 0);
    }
}
