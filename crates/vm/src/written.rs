//! Which bytes of an object nobody has written yet.
//!
//! One bit for a byte, in pages that cost nothing until somebody writes a part of them, and that forks share: a large array is
//! allocated in no time, and what is written of it is paid for as it is written.

use std::ops::Range;
use std::rc::Rc;

const WORDS: usize = 64;
const PAGE_BYTES: u64 = 64 * WORDS as u64;

/// How far to look for the end of what is written around a place.
const MAX_LOOK: u64 = 1 << 11;

/// The unwritten bytes of an object, of which there is at least one.
#[derive(Clone, Debug)]
pub struct Unwritten {
    bits: Bits,
    size: u64,
    n_left: u64,
}

#[derive(Clone, Debug)]
enum Bits {
    /// Objects of at most 64 bytes, which most are.
    Few(u64),
    Many(Vec<Page>),
}

/// A bit is set where the byte is unwritten.
#[derive(Clone, Debug)]
enum Page {
    Untouched,
    Mixed(Rc<[u64; WORDS]>),
    Written,
}

impl Unwritten {
    /// All `size` bytes; `None` where there are none.
    pub fn all(size: u64) -> Option<Unwritten> {
        let bits = match size {
            0 => return None,
            1..=64 => Bits::Few(ones(size)),
            _ => Bits::Many(vec![Page::Untouched; size.div_ceil(PAGE_BYTES) as usize]),
        };
        Some(Unwritten { bits, size, n_left: size })
    }

    /// None of `size` bytes, before some are added.
    pub fn none(size: u64) -> Unwritten {
        let bits = match size {
            0..=64 => Bits::Few(0),
            _ => Bits::Many(vec![Page::Written; size.div_ceil(PAGE_BYTES) as usize]),
        };
        Unwritten { bits, size, n_left: 0 }
    }

    pub fn len(&self) -> u64 {
        self.n_left
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.n_left == 0
    }

    #[inline]
    pub fn contains(&self, at: u64) -> bool {
        self.word(at / 64) >> (at % 64) & 1 == 1
    }

    /// Bytes `64 * idx` and the next 63; beyond the end none is unwritten.
    #[inline]
    fn word(&self, idx: u64) -> u64 {
        match &self.bits {
            Bits::Few(bits) => *bits,
            Bits::Many(pages) => match &pages[idx as usize / WORDS] {
                Page::Untouched => ones((self.size - (idx * 64).min(self.size)).min(64)),
                Page::Mixed(words) => words[idx as usize % WORDS],
                Page::Written => 0,
            },
        }
    }

    fn set_word(&mut self, idx: u64, new: u64) {
        let old = self.word(idx);
        if old == new {
            return;
        }
        self.n_left = self.n_left + u64::from(new.count_ones()) - u64::from(old.count_ones());
        let page = match &mut self.bits {
            Bits::Few(bits) => {
                *bits = new;
                return;
            }
            Bits::Many(pages) => &mut pages[idx as usize / WORDS],
        };
        if !matches!(page, Page::Mixed(_)) {
            let first = idx / WORDS as u64 * WORDS as u64;
            let size = self.size;
            let all_unwritten = |word: usize| ones((size - ((first + word as u64) * 64).min(size)).min(64));
            let words = match page {
                Page::Untouched => std::array::from_fn(all_unwritten),
                _ => [0; WORDS],
            };
            *page = Page::Mixed(Rc::new(words));
        }
        let Page::Mixed(words) = page else { return };
        let words = Rc::make_mut(words);
        words[idx as usize % WORDS] = new;
        if new == 0 && words.iter().all(|word| *word == 0) {
            *page = Page::Written;
        }
    }

    /// Each word that the range touches, with a mask of its bytes in the range.
    fn pieces(range: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        let words = if range.is_empty() { 0..0 } else { range.start / 64..range.end.div_ceil(64) };
        words.map(move |idx| {
            let (from, to) = (range.start.max(idx * 64), range.end.min(idx * 64 + 64));
            (idx, ones(to - from) << (from - idx * 64))
        })
    }

    #[inline]
    pub fn write(&mut self, range: Range<u64>) {
        if let Bits::Few(bits) = &mut self.bits {
            *bits &= !(ones(range.end - range.start) << (range.start & 63));
            self.n_left = u64::from(bits.count_ones());
            return;
        }
        for (idx, mask) in Unwritten::pieces(range) {
            let word = self.word(idx);
            self.set_word(idx, word & !mask);
        }
    }

    /// These bytes are as if they had never been written.
    pub fn unwrite(&mut self, range: Range<u64>) {
        for (idx, mask) in Unwritten::pieces(range) {
            let word = self.word(idx);
            self.set_word(idx, word | mask);
        }
    }

    /// The first unwritten byte of a range.
    pub fn first(&self, range: Range<u64>) -> Option<u64> {
        Unwritten::pieces(range).find_map(|(idx, mask)| {
            let found = self.word(idx) & mask;
            (found != 0).then(|| idx * 64 + u64::from(found.trailing_zeros()))
        })
    }

    /// Runs of unwritten bytes in a range.
    pub fn runs(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut runs = Vec::new();
        let mut next = range.start;
        while let Some(start) = self.first(next..range.end) {
            let mut end = start + 1;
            while end < range.end && self.contains(end) {
                end += 1;
            }
            runs.push(start..end);
            next = end;
        }
        runs
    }

    /// The written bytes around one that is, as far as they are easily seen; an object's whole range where `at` is in none.
    pub fn written_around(&self, at: u64) -> Range<u64> {
        let (least, most) = (at.saturating_sub(MAX_LOOK), (at + MAX_LOOK).min(self.size));
        let end = self.first(at..most).unwrap_or(most);
        let mut start = at;
        while start > least {
            let idx = (start - 1) / 64;
            let before = self.word(idx) & ones(start - idx * 64);
            if before != 0 {
                start = idx * 64 + 64 - u64::from(before.leading_zeros());
                break;
            }
            start = idx * 64;
        }
        start.max(least)..end
    }
}

/// The lowest `n` bits, up to 64.
#[inline]
fn ones(n: u64) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Held against one flag for each byte.
    #[test]
    fn behaves_like_a_list_of_flags() {
        let mut random = 12_345u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for size in [1u64, 7, 63, 64, 65, 200, 4_096, 4_097, 10_000] {
            let mut set = Unwritten::all(size).expect("not empty");
            let mut flags = vec![true; size as usize];
            for _ in 0..200 {
                let start = next(size);
                let end = start + 1 + next((size - start).min(1 + size / 3));
                let is_write = next(3) > 0;
                if is_write {
                    set.write(start..end)
                } else {
                    set.unwrite(start..end)
                }
                flags[start as usize..end as usize].fill(!is_write);
                assert_eq!(set.is_empty(), flags.iter().all(|flag| !flag));
                assert!((0..size).all(|at| set.contains(at) == flags[at as usize]), "{size}");
                let at = next(size);
                let first = (at..size).find(|at| flags[*at as usize]);
                assert_eq!(set.first(at..size), first);
                if !flags[at as usize] {
                    let around = set.written_around(at);
                    assert!(around.contains(&at) && around.clone().all(|at| !flags[at as usize]), "{size} {around:?}");
                    assert!(around.start == 0 || flags[around.start as usize - 1] || at - around.start >= MAX_LOOK);
                    assert!(around.end == size || flags[around.end as usize] || around.end - at >= MAX_LOOK);
                }
                let in_runs: u64 = set.runs(0..size).iter().map(|run| run.end - run.start).sum();
                assert_eq!(in_runs, flags.iter().filter(|flag| **flag).count() as u64);
            }
        }
    }
}
