//! What a hole of a given length may hold: the texts of a language that have so many bytes.

use num_bigint::BigUint;

use crate::Language;

/// At most so many texts are named one by one.
const MAX_EXCEPTIONS: u32 = 128;

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bytes([u128; 2]);

impl Bytes {
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 7)] |= 1 << (byte & 127);
    }

    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 7)] >> (byte & 127) & 1 == 1
    }

    pub fn len(&self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As ranges, both ends included.
    pub fn ranges(&self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=255u8).filter(|byte| self.contains(*byte)) {
            match ranges.last_mut() {
                Some((_, last)) if u16::from(*last) + 1 == u16::from(byte) => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }
}

/// From a state by some bytes to a state.
#[derive(Clone, Copy, Debug)]
pub struct Arrow {
    pub from: u32,
    pub by: Bytes,
    pub to: u32,
}

/// The texts of one length.
#[derive(Clone, Debug)]
pub enum Texts {
    /// A byte of each set, in order, but none of these texts.
    Each { sets: Vec<Bytes>, except: Vec<Vec<u8>> },
    /// What goes along these arrows, one layer after the other; all of them lead to an accepting state.
    Along { start: u32, layers: Vec<Vec<Arrow>> },
}

impl Language {
    /// The texts of `len` bytes; `None` where there are none.
    pub fn of_len(&self, len: usize) -> Option<Texts> {
        let ways = self.ways(len);
        let is_open = |left: usize, state: u32| ways[left][state as usize] != BigUint::ZERO;
        if !is_open(len, self.start()) {
            return None;
        }
        let mut layers: Vec<Vec<Arrow>> = Vec::new();
        let mut states = vec![self.start()];
        for at in 0..len {
            let mut layer: Vec<Arrow> = Vec::new();
            for from in &states {
                for byte in 0..=255u8 {
                    let to = self.next(*from, byte);
                    if to == 0 || !is_open(len - at - 1, to) {
                        continue;
                    }
                    match layer.iter_mut().find(|arrow| arrow.from == *from && arrow.to == to) {
                        Some(arrow) => arrow.by.insert(byte),
                        None => {
                            let mut by = Bytes::default();
                            by.insert(byte);
                            layer.push(Arrow { from: *from, by, to });
                        }
                    }
                }
            }
            states = layer.iter().map(|arrow| arrow.to).collect();
            states.sort_unstable();
            states.dedup();
            layers.push(layer);
        }
        let union = |layer: &Vec<Arrow>| {
            layer
                .iter()
                .fold(Bytes::default(), |all, arrow| Bytes([all.0[0] | arrow.by.0[0], all.0[1] | arrow.by.0[1]]))
        };
        let sets: Vec<Bytes> = layers.iter().map(union).collect();
        let n_all = sets.iter().fold(BigUint::from(1u8), |product, set| product * set.len());
        let n_more = &n_all - &ways[len][self.start() as usize];
        if n_more > BigUint::from(MAX_EXCEPTIONS) {
            return Some(Texts::Along { start: self.start(), layers });
        }
        let mut except = Vec::new();
        self.others(&sets, &ways, self.start(), &mut Vec::new(), &mut except);
        Some(Texts::Each { sets, except })
    }

    /// For 0, 1, ... `len` bytes to come, in how many ways each state accepts.
    fn ways(&self, len: usize) -> Vec<Vec<BigUint>> {
        let n_states = self.n_states() as u32;
        let mut ways: Vec<Vec<BigUint>> =
            vec![(0..n_states).map(|state| BigUint::from(u8::from(self.accepts_at(state)))).collect()];
        for left in 1..=len {
            let of = |state: u32| {
                let mut n_to: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
                if state != 0 {
                    (0..=255u8).for_each(|byte| *n_to.entry(self.next(state, byte)).or_default() += 1);
                }
                let sum = |sum: BigUint, (to, n): (u32, u32)| sum + &ways[left - 1][to as usize] * n;
                n_to.into_iter().filter(|(to, _)| *to != 0).fold(BigUint::ZERO, sum)
            };
            let row = (0..n_states).map(of).collect();
            ways.push(row);
        }
        ways
    }

    /// What takes a byte of each set and is not in the language.
    fn others(&self, sets: &[Bytes], ways: &[Vec<BigUint>], state: u32, text: &mut Vec<u8>, others: &mut Vec<Vec<u8>>) {
        let left = &sets[text.len()..];
        let n_all = left.iter().fold(BigUint::from(1u8), |product, set| product * set.len());
        if n_all == ways[left.len()][state as usize] {
            return;
        }
        let Some(set) = left.first() else { return others.push(text.clone()) };
        for byte in (0..=255u8).filter(|byte| set.contains(*byte)) {
            text.push(byte);
            self.others(sets, ways, self.next(state, byte), text, others);
            text.pop();
        }
    }

    /// A text of `len` bytes that reads well and is none of those.
    pub fn example(&self, len: usize, except: &[Vec<u8>]) -> Option<Vec<u8>> {
        let ways = self.ways(len);
        let mut text = Vec::new();
        self.search_example(&ways, self.start(), len, &mut text, except).then_some(text)
    }

    fn search_example(
        &self,
        ways: &[Vec<BigUint>],
        state: u32,
        left: usize,
        text: &mut Vec<u8>,
        except: &[Vec<u8>],
    ) -> bool {
        if left == 0 {
            return !except.contains(text);
        }
        let plain = b'a'..=b'z';
        let digits = (b'1'..=b'9').chain([b'0']);
        let others = (0x21..=0x7eu8).chain(1..=0x20).chain(0x7f..=0xff).chain([0]);
        for byte in plain.chain(digits).chain(others) {
            let to = self.next(state, byte);
            if to == 0 || ways[left - 1][to as usize] == BigUint::ZERO {
                continue;
            }
            text.push(byte);
            if self.search_example(ways, to, left - 1, text, except) {
                return true;
            }
            text.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Alphabet, Case};

    fn language(pattern: &str) -> Language {
        Language::of_regex(pattern, Alphabet::Bytes, Case::Matters).unwrap()
    }

    fn takes(texts: &Texts, text: &[u8]) -> bool {
        match texts {
            Texts::Each { sets, except } => {
                sets.iter().zip(text).all(|(set, byte)| set.contains(*byte))
                    && !except.iter().any(|other| other == text)
            }
            Texts::Along { start, layers } => {
                let mut states = vec![*start];
                for (layer, byte) in layers.iter().zip(text) {
                    let arrows = layer.iter().filter(|arrow| states.contains(&arrow.from) && arrow.by.contains(*byte));
                    states = arrows.map(|arrow| arrow.to).collect();
                }
                !states.is_empty()
            }
        }
    }

    /// Over a small alphabet every text can be tried.
    #[test]
    fn holes_hold_exactly_the_texts_of_their_length() {
        let name = language("[abc][abc1]*").minus(&language("ab|cab"));
        for language in [name, language("[a1]+b[a1]*|cc"), language("(ab|ba)*c?"), language("[^a]b")] {
            for len in 0..=4usize {
                let texts = language.of_len(len);
                for number in 0..5usize.pow(len as u32) {
                    let text: Vec<u8> = (0..len).map(|at| b"abc1x"[number / 5usize.pow(at as u32) % 5]).collect();
                    let is_taken = texts.as_ref().is_some_and(|texts| takes(texts, &text));
                    assert_eq!(is_taken, language.accepts(&text), "{text:?}");
                }
                if texts.is_some() {
                    assert!(language.accepts(&language.example(len, &[]).unwrap()));
                }
            }
        }
    }

    #[test]
    fn a_few_words_less_is_a_list_of_exceptions() {
        let name = language("[a-z]+").minus(&language("if|do|for"));
        let Some(Texts::Each { sets, except }) = name.of_len(2) else { panic!("names are letters") };
        assert_eq!((sets.len(), except), (2, vec![b"do".to_vec(), b"if".to_vec()]));
        assert_eq!(name.example(3, &[b"aaa".to_vec()]), Some(b"aab".to_vec()));
    }
}
