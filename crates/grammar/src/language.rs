//! The texts a token may have, as a deterministic automaton over bytes.

use num_bigint::BigUint;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use rustc_hash::FxHashMap;

/// The largest automaton that is built before a pattern is refused, in bytes.
const SIZE_LIMIT: usize = 16 << 20;

/// And in states: ours take 1 KB each, and there are several of each pattern.
const MOST_STATES: usize = 20_000;

const TOO_LARGE: &str = "it is too large; write it with fewer or smaller repetitions";

/// State 0 is dead: no text of the language goes through it. Every other state leads to an accepting one.
#[derive(Clone, Debug)]
pub struct Language {
    next: Vec<[u32; 256]>,
    accepts: Vec<bool>,
    start: u32,
}

/// How many texts there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Empty,
    One(Vec<u8>),
    /// Several, the longest of so many bytes.
    Finite {
        longest: usize,
    },
    Infinite,
}

/// How the bytes of a pattern are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// `.` and negated classes are single bytes.
    Bytes,
    /// They are characters in UTF-8.
    Unicode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Matters,
    Ignored,
}

impl Language {
    /// The language of a regular expression, in the syntax of the `regex` library. `Err` says what is wrong with it.
    pub fn of_regex(pattern: &str, alphabet: Alphabet, case: Case) -> Result<Language, String> {
        let language = Language::build(pattern, alphabet, case)?;
        if (alphabet, case) != (Alphabet::Unicode, Case::Ignored) {
            return Ok(language);
        }
        // The library takes the long s for an s, and the sign of Kelvin for a k. Scanners do not.
        let odd = Language::build(r"(?s-u:.)*(?:\u{17f}|\u{212a})(?s-u:.)*", Alphabet::Unicode, Case::Matters)?;
        Ok(language.minus(&odd).or(&Language::build(pattern, alphabet, Case::Matters)?))
    }

    fn build(pattern: &str, alphabet: Alphabet, case: Case) -> Result<Language, String> {
        let is_unicode = alphabet == Alphabet::Unicode;
        let syntax = syntax::Config::new()
            .unicode(is_unicode)
            .utf8(false)
            .case_insensitive(case == Case::Ignored)
            .nest_limit(200);
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(SIZE_LIMIT))
            .determinize_size_limit(Some(SIZE_LIMIT));
        let dfa = dense::Builder::new()
            .configure(config)
            .syntax(syntax)
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(SIZE_LIMIT)))
            .build(pattern)
            .map_err(|error| innermost(&error))?;
        if dfa.memory_usage() / (dfa.stride() * size_of::<u32>()) > MOST_STATES {
            return Err(TOO_LARGE.to_string());
        }
        let input = Input::new(b"").anchored(Anchored::Yes);
        let start = dfa.start_state_forward(&input).map_err(|error| error.to_string())?;
        Ok(explore(
            start,
            |state, byte| {
                let next = dfa.next_state(*state, byte);
                (!dfa.is_dead_state(next)).then_some(next)
            },
            |state| dfa.is_match_state(dfa.next_eoi_state(*state)),
        ))
    }

    pub fn of_text(text: &[u8]) -> Language {
        Language::of_text_in(text, Case::Matters)
    }

    /// A text, of which the case may not matter.
    pub fn of_text_in(text: &[u8], case: Case) -> Language {
        let same =
            |one: u8, other: u8| if case == Case::Ignored { one.eq_ignore_ascii_case(&other) } else { one == other };
        let next = |at: &usize, byte: u8| text.get(*at).is_some_and(|wanted| same(*wanted, byte)).then_some(at + 1);
        explore(0, next, |at| *at == text.len())
    }

    /// One of these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Language {
        explore(false, |is_over, byte| (!is_over && bytes.contains(&byte)).then_some(true), |is_over| *is_over)
    }

    pub fn empty() -> Language {
        explore(0u8, |_, _| None, |_| false)
    }

    pub fn start(&self) -> u32 {
        self.start
    }

    #[inline]
    pub fn next(&self, state: u32, byte: u8) -> u32 {
        self.next[state as usize][byte as usize]
    }

    #[inline]
    pub fn accepts_at(&self, state: u32) -> bool {
        self.accepts[state as usize]
    }

    pub fn n_states(&self) -> usize {
        self.accepts.len()
    }

    pub fn accepts(&self, text: &[u8]) -> bool {
        let end = text.iter().fold(self.start, |state, byte| self.next(state, *byte));
        self.accepts_at(end)
    }

    pub fn is_empty(&self) -> bool {
        self.start == 0
    }

    pub fn has_empty_text(&self) -> bool {
        self.accepts_at(self.start)
    }

    /// Whether a text ends in this byte.
    pub fn may_end_in(&self, byte: u8) -> bool {
        (1..self.n_states() as u32).any(|state| self.accepts_at(self.next(state, byte)))
    }

    /// The texts of this language that are not in the other.
    pub fn minus(&self, other: &Language) -> Language {
        self.product(other, |this, other| this && !other)
    }

    pub fn or(&self, other: &Language) -> Language {
        self.product(other, |this, other| this || other)
    }

    pub fn and(&self, other: &Language) -> Language {
        self.product(other, |this, other| this && other)
    }

    fn product(&self, other: &Language, accepts: fn(bool, bool) -> bool) -> Language {
        explore(
            (self.start, other.start),
            |(this, that), byte| {
                let pair = (self.next(*this, byte), other.next(*that, byte));
                (pair != (0, 0)).then_some(pair)
            },
            |(this, that)| accepts(self.accepts_at(*this), other.accepts_at(*that)),
        )
    }

    /// The texts no shorter beginning of which is a text too: what a pattern that stops as soon as it can matches.
    pub fn shortest(&self) -> Language {
        explore(
            self.start,
            |state, byte| {
                if self.accepts_at(*state) { None } else { Some(self.next(*state, byte)).filter(|next| *next != 0) }
            },
            |state| self.accepts_at(*state),
        )
    }

    /// A text of one of them behind a text of the other.
    pub fn then(&self, other: &Language) -> Language {
        // A subset construction: where the first is, and the set of places where the second may be.
        let enter = |this: u32, mut those: Vec<u32>| {
            if self.accepts_at(this) {
                those.push(other.start);
            }
            those.retain(|state| *state != 0);
            those.sort_unstable();
            those.dedup();
            (this, those)
        };
        explore(
            enter(self.start, Vec::new()),
            |(this, those), byte| {
                let here = self.next(*this, byte);
                let pair = enter(here, those.iter().map(|state| other.next(*state, byte)).collect());
                (pair.0 != 0 || !pair.1.is_empty()).then_some(pair)
            },
            |(_, those)| those.iter().any(|state| other.accepts_at(*state)),
        )
    }

    /// None or more of its texts, one behind the other.
    pub fn repeated(&self) -> Language {
        // A subset construction: whether a text is over, and the places in the one that stands there.
        explore(
            (true, vec![self.start]),
            |(_, states), byte| {
                let mut next: Vec<u32> = states.iter().map(|state| self.next(*state, byte)).collect();
                let is_over = next.iter().any(|state| self.accepts_at(*state));
                if is_over {
                    next.push(self.start);
                }
                next.retain(|state| *state != 0);
                next.sort_unstable();
                next.dedup();
                (!next.is_empty()).then_some((is_over, next))
            },
            |(is_over, _)| *is_over,
        )
    }

    pub fn kind(&self) -> Kind {
        if self.is_empty() {
            return Kind::Empty;
        }
        let Some(longest) = self.longest() else { return Kind::Infinite };
        match self.only_text() {
            Some(text) => Kind::One(text),
            None => Kind::Finite { longest },
        }
    }

    fn only_text(&self) -> Option<Vec<u8>> {
        let (mut text, mut state) = (Vec::new(), self.start);
        loop {
            let mut ways = (0..=255u8).filter(|byte| self.next(state, *byte) != 0);
            let way = ways.next();
            match (self.accepts_at(state), way) {
                (true, None) => return Some(text),
                (false, Some(byte)) if ways.next().is_none() => {
                    text.push(byte);
                    state = self.next(state, byte);
                }
                _ => return None,
            }
        }
    }

    /// Bytes of the longest text; `None` where there is no longest.
    fn longest(&self) -> Option<usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Above,
            Done(usize),
        }
        // Depth first by hand: automata of large character classes are deep.
        let mut seen = vec![Seen::No; self.n_states()];
        let mut stack = vec![(self.start, 0usize, 0usize)];
        seen[self.start as usize] = Seen::Above;
        while let Some((state, byte, best)) = stack.pop() {
            let Some(byte_found) = (byte..256).find(|byte| self.next(state, *byte as u8) != 0) else {
                seen[state as usize] = Seen::Done(best);
                if let Some((_, _, above)) = stack.last_mut() {
                    *above = (*above).max(best + 1);
                }
                continue;
            };
            let next = self.next(state, byte_found as u8);
            match seen[next as usize] {
                Seen::Above => return None,
                Seen::Done(below) => stack.push((state, byte_found + 1, best.max(below + 1))),
                Seen::No => {
                    stack.push((state, byte_found + 1, best));
                    seen[next as usize] = Seen::Above;
                    stack.push((next, 0, 0));
                }
            }
        }
        match seen[self.start as usize] {
            Seen::Done(longest) => Some(longest),
            _ => None,
        }
    }

    /// Bytes of the shortest text.
    pub fn shortest_len(&self) -> Option<usize> {
        let mut layer = vec![self.start];
        let mut seen = vec![false; self.n_states()];
        let mut len = 0;
        while !layer.is_empty() && layer != [0] {
            if layer.iter().any(|state| self.accepts_at(*state)) {
                return Some(len);
            }
            let mut below = Vec::new();
            for state in layer {
                for byte in 0..=255u8 {
                    let next = self.next(state, byte);
                    if next != 0 && !std::mem::replace(&mut seen[next as usize], true) {
                        below.push(next);
                    }
                }
            }
            layer = below;
            len += 1;
        }
        None
    }

    /// How many texts there are of 0, 1, ... `longest` bytes.
    pub fn count(&self, longest: usize) -> Vec<BigUint> {
        let mut ways = vec![BigUint::ZERO; self.n_states()];
        ways[self.start as usize] = BigUint::from(1u8);
        let mut counts = Vec::with_capacity(longest + 1);
        for len in 0..=longest {
            let accepted = (0..self.n_states()).filter(|state| self.accepts[*state]).map(|state| &ways[state]).sum();
            counts.push(accepted);
            if len == longest {
                break;
            }
            let mut below = vec![BigUint::ZERO; self.n_states()];
            for state in (1..self.n_states()).filter(|state| ways[*state] != BigUint::ZERO) {
                let mut to: FxHashMap<u32, u32> = FxHashMap::default();
                for next in self.next[state].iter().filter(|next| **next != 0) {
                    *to.entry(*next).or_default() += 1;
                }
                for (next, n) in to {
                    below[next as usize] += &ways[state] * n;
                }
            }
            ways = below;
        }
        counts
    }
}

/// The automaton of what can be reached, without what leads nowhere.
fn explore<S: Clone + Eq + std::hash::Hash>(
    start: S,
    next: impl Fn(&S, u8) -> Option<S>,
    accepts: impl Fn(&S) -> bool,
) -> Language {
    let mut numbers: FxHashMap<S, u32> = FxHashMap::default();
    let mut states = vec![start.clone()];
    numbers.insert(start, 1);
    let mut table: Vec<[u32; 256]> = vec![[0; 256]];
    let mut at = 0;
    while at < states.len() {
        let state = states[at].clone();
        let mut row = [0u32; 256];
        for byte in 0..=255u8 {
            if let Some(to) = next(&state, byte) {
                row[byte as usize] = *numbers.entry(to).or_insert_with_key(|to| {
                    states.push(to.clone());
                    states.len() as u32
                });
            }
        }
        table.push(row);
        at += 1;
    }
    let accepting: Vec<bool> = std::iter::once(false).chain(states.iter().map(accepts)).collect();
    trim(table, accepting)
}

/// Leaves out what does not lead to a text.
fn trim(table: Vec<[u32; 256]>, accepting: Vec<bool>) -> Language {
    let n_states = accepting.len();
    let mut comes_from: Vec<Vec<u32>> = vec![Vec::new(); n_states];
    for (state, row) in table.iter().enumerate() {
        let mut last = 0;
        for next in row.iter().filter(|next| **next != 0) {
            if *next != last {
                comes_from[*next as usize].push(state as u32);
                last = *next;
            }
        }
    }
    let mut is_useful = vec![false; n_states];
    let mut open: Vec<u32> = (0..n_states as u32).filter(|state| accepting[*state as usize]).collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut is_useful[state as usize], true) {
            open.extend(&comes_from[state as usize]);
        }
    }
    let mut numbers = vec![0u32; n_states];
    let mut n_useful = 0;
    for state in (1..n_states).filter(|state| is_useful[*state]) {
        n_useful += 1;
        numbers[state] = n_useful;
    }
    let mut language = Language { next: vec![[0; 256]], accepts: vec![false], start: numbers[1] };
    for state in (1..n_states).filter(|state| is_useful[*state]) {
        let mut row = table[state];
        row.iter_mut().for_each(|next| *next = numbers[*next as usize]);
        language.next.push(row);
        language.accepts.push(accepting[state]);
    }
    language
}

/// The cause at the bottom of a chain of errors: the line a person understands.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    let said = cause.to_string();
    if said.contains("exceeded") { format!("{TOO_LARGE} ({said})") } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(pattern: &str) -> Language {
        Language::of_regex(pattern, Alphabet::Bytes, Case::Matters).unwrap()
    }

    #[test]
    fn a_regular_expression_accepts_its_texts() {
        let number = language("[0-9]+(\\.[0-9]*)?");
        assert!(number.accepts(b"12") && number.accepts(b"1.") && number.accepts(b"1.5"));
        assert!(!number.accepts(b"") && !number.accepts(b".5") && !number.accepts(b"1.5x"));
    }

    #[test]
    fn kinds() {
        assert_eq!(language("while").kind(), Kind::One(b"while".to_vec()));
        assert_eq!(language("a|bcd").kind(), Kind::Finite { longest: 3 });
        assert_eq!(language("a+").kind(), Kind::Infinite);
        assert_eq!(language("a").minus(&language("[a-z]")).kind(), Kind::Empty);
        assert_eq!(language("").kind(), Kind::One(Vec::new()));
        assert_eq!(Language::empty().kind(), Kind::Empty);
    }

    #[test]
    fn a_keyword_is_no_name() {
        let name = language("[a-z]+").minus(&language("if|while"));
        assert!(name.accepts(b"i") && name.accepts(b"ifx") && name.accepts(b"whil") && !name.accepts(b"if"));
    }

    #[test]
    fn stopping_early() {
        let comment = language(r"(?s-u:/\*.*\*/)").shortest();
        assert!(comment.accepts(b"/* x */") && comment.accepts(b"/**/") && !comment.accepts(b"/* */ */"));
    }

    #[test]
    fn one_behind_the_other() {
        let both = language("a*").then(&language("ab|b"));
        assert!(both.accepts(b"ab") && both.accepts(b"b") && both.accepts(b"aaab") && !both.accepts(b"aa"));
    }

    #[test]
    fn one_after_another() {
        let several = language("ab|c").repeated();
        assert!(several.accepts(b"") && several.accepts(b"abcab") && !several.accepts(b"aba"));
        let back = language("(?:ab)*c").repeated();
        assert!(back.accepts(b"ababccabc") && !back.accepts(b"ab"));
        assert!(Language::empty().repeated().accepts(b""));
    }

    #[test]
    fn counting() {
        let counts = language("[a-z][a-z0-9]*").count(3);
        let expected: Vec<BigUint> = [0u32, 26, 26 * 36, 26 * 36 * 36].map(BigUint::from).to_vec();
        assert_eq!(counts, expected);
        assert_eq!(language("ab|abc").shortest_len(), Some(2));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let why = Language::of_regex("[a-", Alphabet::Bytes, Case::Matters).unwrap_err();
        assert!(why.contains("unclosed character class"), "{why}");
    }
}
