//! Which texts are scanned as which token: the longest match wins, then the earliest pattern, as lex does it.

use rustc_hash::FxHashSet;

use crate::{Language, TokenId};

/// What a pattern of the scanner gives the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Yield {
    Token(TokenId),
    /// Nothing: blanks and comments.
    Nothing,
    /// One cannot say. No text is written for it, but it takes texts from others.
    Unknown,
}

/// Where a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Anywhere,
    LineStart,
}

#[derive(Clone, Debug)]
pub struct Pattern {
    pub gives: Yield,
    /// What is matched, with what has to follow it where the pattern says so.
    pub language: Language,
    pub place: Place,
}

/// The patterns in their order.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    pub patterns: Vec<Pattern>,
    /// The plainest text that it skips.
    pub blank: Option<Vec<u8>>,
}

/// Blanks to try, the plainest first.
const BLANKS: [&[u8]; 4] = [b" ", b"\n", b"\t", b"\r\n"];

impl Scanner {
    /// A scanner of these patterns, with the plainest blank that it skips.
    pub fn new(patterns: Vec<Pattern>) -> Scanner {
        let mut scanner = Scanner { patterns, blank: None };
        scanner.blank = BLANKS.iter().find(|text| scanner.scan(text) == Some(Yield::Nothing)).map(|text| text.to_vec());
        scanner
    }

    /// What the whole text is scanned as, if it is one match.
    pub fn scan(&self, text: &[u8]) -> Option<Yield> {
        self.patterns.iter().find(|pattern| pattern.language.accepts(text)).map(|pattern| pattern.gives)
    }

    /// The texts that are scanned as this token, but for the beginning of a line: what its patterns match, less what earlier
    /// patterns take.
    pub fn texts_of(&self, token: TokenId) -> Language {
        let mut texts = Language::empty();
        for (idx, pattern) in self.patterns.iter().enumerate() {
            if pattern.gives != Yield::Token(token) {
                continue;
            }
            let mut own = pattern.language.clone();
            let takes = |earlier: &&Pattern| earlier.gives != pattern.gives && earlier.place == Place::Anywhere;
            for earlier in self.patterns[..idx].iter().filter(takes) {
                if !own.and(&earlier.language).is_empty() {
                    own = own.minus(&earlier.language);
                }
            }
            texts = texts.or(&own);
        }
        // A scanner that matches nothing stands still.
        if texts.has_empty_text() { texts.minus(&Language::of_text(b"")) } else { texts }
    }

    /// What has to stand before a text of the second, behind one of the first or at the beginning of the text; `None` where no blank
    /// makes the scanner see it.
    pub fn between(&self, first: Option<&Language>, second: &Language) -> Option<Vec<u8>> {
        let begins_line = first.is_none_or(|first| first.may_end_in(b'\n'));
        if begins_line && self.is_taken_at_line_start(second) {
            return None;
        }
        let Some(first) = first else { return Some(Vec::new()) };
        if !self.runs_together(first, second) {
            return Some(Vec::new());
        }
        let keeps_apart = |blank: &&&[u8]| {
            let blank_text = Language::of_text(blank);
            self.scan(blank) == Some(Yield::Nothing)
                && !self.runs_together(first, &blank_text)
                && !self.runs_together(&blank_text, second)
        };
        BLANKS.iter().find(keeps_apart).map(|blank| blank.to_vec())
    }

    /// Whether a pattern for the beginning of a line may take a text of the language there, or it and more.
    fn is_taken_at_line_start(&self, language: &Language) -> bool {
        let mut of_lines = self.patterns.iter().filter(|pattern| pattern.place == Place::LineStart);
        of_lines.any(|pattern| begins_with(&pattern.language, language))
    }

    /// Whether a text of the first directly before a text of the second may be scanned as something longer.
    fn runs_together(&self, first: &Language, second: &Language) -> bool {
        self.patterns.iter().any(|pattern| takes_more(&pattern.language, first, second))
    }
}

/// Whether a text of the pattern begins with one of the language, or is one.
fn begins_with(pattern: &Language, language: &Language) -> bool {
    let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut open = vec![(pattern.start(), language.start())];
    while let Some((state, text)) = open.pop() {
        if state == 0 || text == 0 || !seen.insert((state, text)) {
            continue;
        }
        if language.accepts_at(text) {
            return true;
        }
        open.extend((0..=255u8).map(|byte| (pattern.next(state, byte), language.next(text, byte))));
    }
    false
}

/// Whether the pattern may match a text of `first` and more behind it, where a text of `second` follows.
fn takes_more(pattern: &Language, first: &Language, second: &Language) -> bool {
    let mut seen: FxHashSet<(u32, u32, bool)> = FxHashSet::default();
    // The last says whether the text of `first` is over; what follows is then of `second`.
    let mut open = vec![(pattern.start(), first.start(), false)];
    while let Some((state, text, is_behind)) = open.pop() {
        if state == 0 || !seen.insert((state, text, is_behind)) {
            continue;
        }
        let language = if is_behind { second } else { first };
        if !is_behind && first.accepts_at(text) {
            for byte in 0..=255u8 {
                push(&mut open, pattern, state, second, second.start(), byte);
            }
        }
        if is_behind && (pattern.accepts_at(state) || second.accepts_at(text)) {
            // Matched further than it should, or may yet, by what follows the second.
            return true;
        }
        for byte in 0..=255u8 {
            let (state, text) = (pattern.next(state, byte), language.next(text, byte));
            if state != 0 && text != 0 {
                open.push((state, text, is_behind));
            }
        }
    }
    false
}

fn push(open: &mut Vec<(u32, u32, bool)>, pattern: &Language, state: u32, second: &Language, text: u32, byte: u8) {
    let (state, text) = (pattern.next(state, byte), second.next(text, byte));
    if state != 0 && text != 0 {
        open.push((state, text, true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Alphabet, Case};

    fn language(pattern: &str) -> Language {
        Language::of_regex(pattern, Alphabet::Bytes, Case::Matters).unwrap()
    }

    fn scanner(patterns: &[(Yield, &str)]) -> Scanner {
        Scanner::new(
            patterns
                .iter()
                .map(|(gives, text)| Pattern { gives: *gives, language: language(text), place: Place::Anywhere })
                .collect(),
        )
    }

    #[test]
    fn an_earlier_pattern_takes_its_texts() {
        let scanner = scanner(&[
            (Yield::Token(TokenId(0)), "if"),
            (Yield::Token(TokenId(1)), "[a-z]+"),
            (Yield::Nothing, "[ \t]+"),
        ]);
        let name = scanner.texts_of(TokenId(1));
        assert!(name.accepts(b"iff") && !name.accepts(b"if"));
        assert_eq!(scanner.blank.as_deref(), Some(&b" "[..]));
    }

    #[test]
    fn what_runs_together() {
        let scanner = scanner(&[
            (Yield::Token(TokenId(0)), "[0-9]+"),
            (Yield::Token(TokenId(1)), "[a-z]+"),
            (Yield::Token(TokenId(2)), r"\+"),
            (Yield::Token(TokenId(3)), r"\+="),
            (Yield::Token(TokenId(4)), "="),
            (Yield::Token(TokenId(5)), r"\."),
            (Yield::Token(TokenId(6)), r"\.\.\."),
        ]);
        let of = |token: u32| scanner.texts_of(TokenId(token));
        assert!(scanner.runs_together(&of(0), &of(0)) && scanner.runs_together(&of(1), &of(1)));
        assert!(!scanner.runs_together(&of(0), &of(1)) && !scanner.runs_together(&of(0), &of(2)));
        assert!(scanner.runs_together(&of(2), &of(4)) && !scanner.runs_together(&of(4), &of(2)));
        assert!(scanner.runs_together(&of(5), &of(5)), "a third one would make it an ellipsis");
    }
}
