//! A set of offsets of one object.

use term::Chunks;

/// Bits of a word.
const WORD: u64 = 64;

/// Cloning shares. Small objects need no more than what is here.
#[derive(Clone, Default)]
pub struct Marks {
    first: u64,
    /// Of the offsets beyond; the word of the first ones is empty.
    others: Chunks<u64>,
    n_marks: u64,
}

impl Marks {
    #[inline]
    pub fn len(&self) -> u64 {
        self.n_marks
    }

    #[inline]
    pub fn has(&self, offset: u64) -> bool {
        let word = match offset / WORD {
            0 => self.first,
            word => self.others.get(word as usize).copied().unwrap_or(0),
        };
        word >> (offset % WORD) & 1 == 1
    }

    #[inline]
    pub fn insert(&mut self, offset: u64) {
        if self.has(offset) {
            return;
        }
        let word = match offset / WORD {
            0 => &mut self.first,
            word => self.others.get_mut(word as usize),
        };
        *word |= 1 << (offset % WORD);
        self.n_marks += 1;
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let words = std::iter::once((0, self.first)).chain(self.others.iter().map(|(idx, word)| (idx as u64, *word)));
        words.flat_map(|(idx, word)| (0..WORD).filter(move |bit| word >> bit & 1 == 1).map(move |bit| idx * WORD + bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_kept_in_order_and_once() {
        let mut marks = Marks::default();
        let offsets = [70_000, 3, 64, 63, 3, 65, 70_000];
        offsets.into_iter().for_each(|offset| marks.insert(offset));
        assert_eq!(marks.iter().collect::<Vec<_>>(), [3, 63, 64, 65, 70_000]);
        assert_eq!(marks.len(), 5);
        assert!(marks.has(63) && !marks.has(62) && !marks.has(1 << 40));
    }
}
