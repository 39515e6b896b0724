//! Which texts are scanned as which token: the longest match wins, then the earliest pattern, as lex does it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Language, Token, TokenId};

/// What a pattern of the scanner gives the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Yield {
    Token(TokenId),
    /// Nothing: blanks and comments.
    Nothing,
    /// The end of the text, or what no parser takes: no token comes behind it.
    Refused,
    /// One cannot say, and it may be nothing. No text is written for it, but it takes texts from others.
    Unknown,
}

/// What becomes of a byte that no pattern matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unmatched {
    /// The scanner goes on behind it, as flex does by default. So it is also where one cannot say.
    #[default]
    PassedOver,
    Refused,
}

/// Where a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Anywhere,
    LineStart,
}

/// What stands between two tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    Is(Vec<u8>),
    /// The scanner never sees one behind the other: no text has them so.
    Never,
    /// There may be texts that have them so.
    Unknown,
}

/// A start condition of lex, a mode of ANTLR: which patterns match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModeId(pub u32);

impl ModeId {
    /// That of a text's beginning.
    pub const FIRST: ModeId = ModeId(0);
}

/// The mode behind a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then<M> {
    Same,
    Goes(M),
    /// The same, until the one before comes back.
    Pushes(M),
    Pops,
}

#[derive(Clone, Debug)]
pub struct Pattern {
    pub gives: Yield,
    /// What is matched, with what has to follow it where the pattern says so.
    pub language: Language,
    pub place: Place,
    /// Where it matches; `None` in every mode.
    pub modes: Option<Vec<ModeId>>,
    pub then: Then<ModeId>,
}

impl Pattern {
    fn is_in(&self, mode: ModeId) -> bool {
        self.modes.as_ref().is_none_or(|modes| modes.contains(&mode))
    }
}

/// The patterns in their order.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    pub patterns: Vec<Pattern>,
    /// Names of the modes, the first one's first.
    pub modes: Vec<String>,
    pub unmatched: Unmatched,
    /// The plainest text that it skips.
    pub blank: Option<Vec<u8>>,
}

/// The texts that are scanned as a token in a mode.
#[derive(Debug)]
pub struct TextsOf {
    pub texts: Language,
    /// The mode behind them.
    pub then: Then<ModeId>,
    /// Texts with another mode behind them.
    pub elsewhere: Language,
}

/// Blanks to try, the plainest first.
const BLANKS: [&[u8]; 4] = [b" ", b"\n", b"\t", b"\r\n"];

impl Scanner {
    /// A scanner of these patterns, with the plainest blank that it skips.
    pub fn new(patterns: Vec<Pattern>, modes: Vec<String>, unmatched: Unmatched) -> Scanner {
        let mut scanner = Scanner { patterns, modes, unmatched, blank: None };
        let is_blank = |text: &&&[u8]| scanner.scan(text, ModeId::FIRST) == Some(Yield::Nothing);
        scanner.blank = BLANKS.iter().find(is_blank).map(|text| text.to_vec());
        scanner
    }

    pub fn modes(&self) -> impl Iterator<Item = ModeId> + use<> {
        (0..self.modes.len() as u32).map(ModeId)
    }

    fn patterns_in(&self, mode: ModeId) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter().filter(move |pattern| pattern.is_in(mode))
    }

    /// The mode behind a pattern that matched in a mode. To begin the mode that holds already changes nothing.
    fn behind(pattern: &Pattern, mode: ModeId) -> Then<ModeId> {
        if pattern.then == Then::Goes(mode) { Then::Same } else { pattern.then }
    }

    /// What the whole text is scanned as, if it is one match.
    pub fn scan(&self, text: &[u8], mode: ModeId) -> Option<Yield> {
        self.patterns_in(mode).find(|pattern| pattern.language.accepts(text)).map(|pattern| pattern.gives)
    }

    /// The texts that are scanned as this token in a mode, but for the beginning of a line, and the mode behind them: what its patterns
    /// match, less what earlier patterns take. Of several patterns with different modes behind them the first counts.
    pub fn texts_of(&self, token: TokenId, mode: ModeId) -> TextsOf {
        let (mut texts, mut elsewhere) = (Language::empty(), Language::empty());
        let mut then = None;
        let patterns: Vec<&Pattern> = self.patterns_in(mode).collect();
        for (idx, pattern) in patterns.iter().enumerate() {
            if pattern.gives != Yield::Token(token) {
                continue;
            }
            let mut own = pattern.language.clone();
            let behind = Self::behind(pattern, mode);
            let takes = |earlier: &&&Pattern| {
                let is_other = earlier.gives != pattern.gives || Self::behind(earlier, mode) != behind;
                is_other && earlier.place == Place::Anywhere
            };
            for earlier in patterns[..idx].iter().filter(takes) {
                if !own.and(&earlier.language).is_empty() {
                    own = own.minus(&earlier.language);
                }
            }
            let leads_there = *then.get_or_insert(behind) == behind;
            let all = if leads_there { &mut texts } else { &mut elsewhere };
            *all = all.or(&own);
        }
        // A scanner that matches nothing stands still.
        let texts = if texts.has_empty_text() { texts.minus(&Language::of_text(b"")) } else { texts };
        TextsOf { texts, then: then.unwrap_or(Then::Same), elsewhere }
    }

    /// What has to stand before the second token, behind the first or at the beginning of the text.
    pub fn between(&self, first: Option<&Token>, second: &Token) -> Between {
        let begins_line = first.is_none_or(|first| first.language.may_end_in(b'\n'));
        if begins_line && self.is_taken_at_line_start(&second.language, second.mode) {
            return Between::Unknown;
        }
        let Some(first) = first else { return Between::Is(Vec::new()) };
        if !self.runs_together(&first.language, &second.language, first.mode) {
            return Between::Is(Vec::new());
        }
        let keeps_apart = |blank: &&&[u8]| {
            let blank_text = Language::of_text(blank);
            self.scan(blank, second.mode) == Some(Yield::Nothing)
                && !self.runs_together(&first.language, &blank_text, first.mode)
                && !self.runs_together(&blank_text, &second.language, second.mode)
        };
        let blank = BLANKS.iter().find(keeps_apart);
        // A pattern of which one cannot say what it does may give back what it took.
        let mut here = self
            .patterns_in(first.mode)
            .filter(|pattern| pattern.place == Place::Anywhere && pattern.gives != Yield::Unknown);
        match blank {
            Some(blank) => Between::Is(blank.to_vec()),
            // Other blanks than the plain ones might do it.
            None if self.may_pass_over(second.mode) => Between::Unknown,
            None if here.any(|pattern| always_takes_more(&pattern.language, &first.language, &second.language)) => {
                Between::Never
            }
            None => Between::Unknown,
        }
    }

    /// A byte that may stand behind any of these tokens as often as one likes, and the scanner skips it; the plainest.
    pub fn padding(&self, tokens: &[Token]) -> Option<u8> {
        let pads = |byte: &u8| {
            let one = Language::of_bytes(&[*byte]);
            let several = one.then(&one.repeated());
            let is_skipped = |mode: ModeId| {
                let mut patterns = self.patterns_in(mode).filter(|pattern| pattern.gives != Yield::Nothing);
                self.scan(&[*byte], mode) == Some(Yield::Nothing)
                    && patterns.all(|pattern| pattern.language.and(&several).is_empty())
            };
            let ends = |token: &Token| {
                let mut modes = self.modes();
                token.language.is_empty() || !modes.any(|mode| self.runs_together(&token.language, &one, mode))
            };
            self.modes().all(is_skipped) && tokens.iter().all(ends)
        };
        BLANKS.iter().filter(|blank| blank.len() == 1).map(|blank| blank[0]).find(pads)
    }

    /// Whether a text may have something in this mode that the parser does not get to see: blanks, comments, bytes without a pattern.
    fn may_pass_over(&self, mode: ModeId) -> bool {
        let gives_none = |pattern: &Pattern| matches!(pattern.gives, Yield::Nothing | Yield::Unknown);
        let matches_alone = |byte: u8| {
            let mut patterns = self.patterns_in(mode).filter(|pattern| pattern.place == Place::Anywhere);
            patterns.any(|pattern| pattern.language.accepts(&[byte]))
        };
        self.patterns_in(mode).any(gives_none)
            || self.unmatched == Unmatched::PassedOver && !(0..=255u8).all(matches_alone)
    }

    /// Whether a pattern for the beginning of a line may take a text of the language there, or it and more.
    fn is_taken_at_line_start(&self, language: &Language, mode: ModeId) -> bool {
        let mut of_lines = self.patterns_in(mode).filter(|pattern| pattern.place == Place::LineStart);
        of_lines.any(|pattern| begins_with(&pattern.language, language))
    }

    /// Whether a text of the first directly before a text of the second may be scanned as something longer.
    fn runs_together(&self, first: &Language, second: &Language, mode: ModeId) -> bool {
        self.patterns_in(mode).any(|pattern| takes_more(&pattern.language, first, second))
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
pub fn takes_more(pattern: &Language, first: &Language, second: &Language) -> bool {
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

/// Whether the pattern matches every text of `first` and more behind it, whichever text of `second` follows.
fn always_takes_more(pattern: &Language, first: &Language, second: &Language) -> bool {
    let mut taken = FxHashMap::default();
    let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut open = vec![(pattern.start(), first.start())];
    while let Some((state, text)) = open.pop() {
        if text == 0 || !seen.insert((state, text)) {
            continue;
        }
        if first.accepts_at(text) && !takes_some(pattern, state, second, second.start(), &mut taken) {
            return false;
        }
        open.extend((0..=255u8).map(|byte| (pattern.next(state, byte), first.next(text, byte))));
    }
    true
}

/// Whether the pattern comes to an end within every text of the language. A character may be of several bytes.
fn takes_some(
    pattern: &Language,
    state: u32,
    language: &Language,
    text: u32,
    taken: &mut FxHashMap<(u32, u32), bool>,
) -> bool {
    if let Some(known) = taken.get(&(state, text)) {
        return *known;
    }
    // Round and round without an end is none.
    taken.insert((state, text), false);
    let takes = (0..=255u8).all(|byte| {
        let (state, text) = (pattern.next(state, byte), language.next(text, byte));
        let is_open = state != 0 && !language.accepts_at(text);
        text == 0 || pattern.accepts_at(state) || is_open && takes_some(pattern, state, language, text, taken)
    });
    taken.insert((state, text), takes);
    takes
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
                .map(|(gives, text)| Pattern {
                    gives: *gives,
                    language: language(text),
                    place: Place::Anywhere,
                    modes: None,
                    then: Then::Same,
                })
                .collect(),
            vec!["INITIAL".into()],
            Unmatched::Refused,
        )
    }

    #[test]
    fn an_earlier_pattern_takes_its_texts() {
        let scanner = scanner(&[
            (Yield::Token(TokenId(0)), "if"),
            (Yield::Token(TokenId(1)), "[a-z]+"),
            (Yield::Nothing, "[ \t]+"),
        ]);
        let name = scanner.texts_of(TokenId(1), ModeId::FIRST).texts;
        assert!(name.accepts(b"iff") && !name.accepts(b"if"));
        assert_eq!(scanner.blank.as_deref(), Some(&b" "[..]));
    }

    #[test]
    fn what_never_stands_together() {
        let (name, word) = (language("[a-z]+"), language("[a-c]|x1"));
        assert!(always_takes_more(&name, &name, &word) && always_takes_more(&name, &language("[a-b]"), &name));
        assert!(!always_takes_more(&name, &name, &language("[a-z0-9]")), "a digit stands alone");
        assert!(!always_takes_more(&language("ab"), &language("[ab]"), &language("b")), "bb is two");
        let text = Language::of_regex("[^<]+", Alphabet::Unicode, Case::Matters).unwrap();
        assert!(always_takes_more(&text, &text, &text), "a character of several bytes is one more");
        assert!(!always_takes_more(&language("a(bc)?"), &language("a"), &language("b|bc")), "b alone is not taken");
    }

    /// Two names without a blank are one, as long as nothing else can stand between them.
    #[test]
    fn what_else_may_stand_between() {
        let name = (Yield::Token(TokenId(0)), "[a-z]+");
        let between = |scanner: &Scanner| {
            let TextsOf { texts: language, then, .. } = scanner.texts_of(TokenId(0), ModeId::FIRST);
            let (kind, mode) = (language.kind(), ModeId::FIRST);
            let token = Token { name: "NAME".into(), kind, language, mode, then, known_as: TokenId(0) };
            scanner.between(Some(&token), &token)
        };
        assert_eq!(between(&scanner(&[name])), Between::Never);
        assert_eq!(between(&scanner(&[name, (Yield::Refused, "[^a-z]")])), Between::Never);
        assert_eq!(between(&scanner(&[name, (Yield::Unknown, "#")])), Between::Unknown, "it may be a comment");
        assert_eq!(between(&scanner(&[name, (Yield::Nothing, "#")])), Between::Unknown);
        let goes_on = |patterns: &[(Yield, &str)]| Scanner { unmatched: Unmatched::PassedOver, ..scanner(patterns) };
        assert_eq!(between(&goes_on(&[name])), Between::Unknown);
        assert_eq!(between(&goes_on(&[name, (Yield::Refused, "(?-u:[^a-z\n])")])), Between::Unknown, "a line's end");
        assert_eq!(between(&goes_on(&[name, (Yield::Refused, "(?-u:[^a-z])")])), Between::Never);
        let letter = (Yield::Token(TokenId(0)), "[a-z]");
        let mut at_line_start = scanner(&[letter, (Yield::Refused, "[a-z][a-z]")]);
        assert_eq!(between(&at_line_start), Between::Never);
        at_line_start.patterns[1].place = Place::LineStart;
        assert_eq!(between(&at_line_start), Between::Unknown, "elsewhere it takes nothing");
    }

    /// Behind a name that may have blanks in it none can be put.
    #[test]
    fn what_fills_the_room_behind_a_text() {
        let padding = |patterns: &[(Yield, &str)]| {
            let scanner = scanner(patterns);
            let TextsOf { texts: language, then, .. } = scanner.texts_of(TokenId(0), ModeId::FIRST);
            let kind = language.kind();
            let token = Token { name: "NAME".into(), kind, language, mode: ModeId::FIRST, then, known_as: TokenId(0) };
            scanner.padding(&[token])
        };
        let name = (Yield::Token(TokenId(0)), "[a-z]+");
        assert_eq!(padding(&[name, (Yield::Nothing, "[ \t]+")]), Some(b' '));
        assert_eq!(padding(&[(Yield::Token(TokenId(0)), "[a-z][a-z ]*"), (Yield::Nothing, "[ \n]+")]), Some(b'\n'));
        assert_eq!(padding(&[name]), None);
        assert_eq!(padding(&[name, (Yield::Nothing, " "), (Yield::Token(TokenId(1)), "  ")]), None);
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
        let of = |token: u32| scanner.texts_of(TokenId(token), ModeId::FIRST).texts;
        let runs_together = |first: u32, second: u32| scanner.runs_together(&of(first), &of(second), ModeId::FIRST);
        assert!(runs_together(0, 0) && runs_together(1, 1));
        assert!(!runs_together(0, 1) && !runs_together(0, 2));
        assert!(runs_together(2, 4) && !runs_together(4, 2));
        assert!(runs_together(5, 5), "a third one would make it an ellipsis");
    }
}
