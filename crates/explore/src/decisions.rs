//! The decisions of a path: a list that forks share up to where they part.
//!
//! Whatever speaks of a path that is not being run has such a list: states that were put away, work on its way to another
//! worker, what is pending at a checkpoint. A path of a hundred thousand decisions has a hundred thousand others beside it that
//! parted from it; as lists they cost their last pieces only, wherever they go.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Bytes in one piece of the list.
const PIECE: usize = 39;

/// Decisions that are shared together, seven bits a byte, the lowest first; the last byte of a decision is the one below 128.
/// None is divided.
#[derive(Clone)]
struct Piece {
    bytes: [u8; PIECE],
    n_bytes: u8,
    earlier: Option<Arc<Piece>>,
}

impl Piece {
    fn coded(&self) -> &[u8] {
        &self.bytes[..usize::from(self.n_bytes)]
    }
}

/// Newest piece first inside, oldest decision first outside.
#[derive(Clone, Default)]
pub struct Decisions {
    newest: Option<Arc<Piece>>,
    n_decisions: u64,
}

impl Decisions {
    pub fn push(&mut self, decision: u64) {
        self.n_decisions += 1;
        let (code, n_code) = encode(decision);
        let has_room = |piece: &Arc<Piece>| usize::from(piece.n_bytes + n_code) <= PIECE;
        let mut piece = match self.newest.take() {
            Some(piece) if has_room(&piece) => piece,
            earlier => Arc::new(Piece { bytes: [0; PIECE], n_bytes: 0, earlier }),
        };
        let owned = Arc::make_mut(&mut piece);
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
        decisions.extend(decode(&self.to_bytes()));
        decisions
    }

    /// As bytes: a list begins with another exactly if its bytes do.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut pieces = Vec::new();
        let mut next = &self.newest;
        while let Some(piece) = next {
            pieces.push(piece.coded());
            next = &piece.earlier;
        }
        pieces.reverse();
        pieces.concat()
    }

    /// These and further ones, which are given as [`Decisions::to_bytes`] gives them.
    pub fn with_bytes(&self, bytes: &[u8]) -> Decisions {
        let mut longer = self.clone();
        decode(bytes).for_each(|decision| longer.push(decision));
        longer
    }

    /// Takes lists apart: hands over their pieces, each one once and after the one before it, and tells for each list what its
    /// newest piece became. A list without decisions has none.
    pub fn take_apart<'l, T: Copy>(
        lists: &'l [Decisions],
        mut take: impl FnMut(Option<T>, &[u8]) -> T,
    ) -> Vec<Option<T>> {
        let mut taken: FxHashMap<*const Piece, T> = FxHashMap::default();
        let mut open = Vec::new();
        let mut newest = |list: &'l Decisions| {
            let mut next = list.newest.as_ref();
            let mut before = None;
            while let Some(piece) = next {
                before = taken.get(&Arc::as_ptr(piece)).copied();
                if before.is_some() {
                    break;
                }
                open.push(piece);
                next = piece.earlier.as_ref();
            }
            while let Some(piece) = open.pop() {
                let became = take(before, piece.coded());
                taken.insert(Arc::as_ptr(piece), became);
                before = Some(became);
            }
            before
        };
        lists.iter().map(&mut newest).collect()
    }
}

impl PartialEq for Decisions {
    fn eq(&self, other: &Decisions) -> bool {
        self.n_decisions == other.n_decisions && self.to_bytes() == other.to_bytes()
    }
}

impl Eq for Decisions {}

impl std::fmt::Debug for Decisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.to_vec()).finish()
    }
}

impl FromIterator<u64> for Decisions {
    fn from_iter<I: IntoIterator<Item = u64>>(from: I) -> Decisions {
        let mut decisions = Decisions::default();
        from.into_iter().for_each(|decision| decisions.push(decision));
        decisions
    }
}

fn decode(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut bytes = bytes.iter();
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

impl Drop for Piece {
    /// Long lists must not be dropped recursively.
    fn drop(&mut self) {
        let mut next = self.earlier.take();
        while let Some(piece) = next {
            // Of several workers that let go of a piece at the same time, exactly one goes on with what is before it.
            next = Arc::into_inner(piece).and_then(|mut owned| owned.earlier.take());
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
    fn bytes_give_back_what_they_were_made_from() {
        let decisions = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX, 0];
        let list: Decisions = decisions.into_iter().collect();
        let back = Decisions::default().with_bytes(&list.to_bytes());
        assert_eq!((back.to_vec(), back.len()), (decisions.to_vec(), 8));
    }

    #[test]
    fn each_piece_is_taken_once() {
        let mut long = Decisions::default();
        let mut lists = vec![Decisions::default()];
        for decision in 0..10_000 {
            let mut other = long.clone();
            other.push(2);
            lists.push(other);
            long.push(decision % 2);
        }
        let mut parts: Vec<(Option<usize>, Vec<u8>)> = Vec::new();
        let newest = Decisions::take_apart(&lists, |before, bytes| {
            parts.push((before, bytes.to_vec()));
            parts.len() - 1
        });
        let n_bytes: usize = parts.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(n_bytes < 25 * lists.len(), "{n_bytes}");
        for (list, newest) in lists.iter().zip(newest) {
            let mut chain = Vec::new();
            let mut next = newest;
            while let Some(part) = next {
                chain.push(&parts[part].1[..]);
                next = parts[part].0;
            }
            chain.reverse();
            assert_eq!(chain.concat(), list.to_bytes());
        }
    }
}
