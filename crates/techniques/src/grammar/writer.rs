//! How a text goes on: the tokens that may follow, as conditions on the next bytes of the input.

use ::grammar::{BeginningId, Beginnings, Between, By, Kind, Texts, TokenId, Whole};
use explore::{Path, Shaped};
use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms};

use super::conditions::{and_not_text, holds, is_text, symbol};
use super::rest::Rest;
use super::room::{End, Room};
use super::text::{Ends, Longer, Text};
use super::words::Words;

/// One way for a text to go on.
pub struct Way {
    pub shaped: Shaped,
    pub text: Text,
}

/// All of them, and what had to be left out.
pub struct Ways {
    pub ways: Vec<Way>,
    pub left_out: Vec<String>,
}

/// What texts are made of.
pub struct Writer {
    pub beginnings: Beginnings,
    pub max: u32,
    pub words: Words,
    between: FxHashMap<(Option<TokenId>, TokenId), Between>,
    holes: FxHashMap<(TokenId, usize), Option<Texts>>,
    examples: FxHashMap<(TokenId, usize), Option<Vec<u8>>>,
    pub(super) shortest: Vec<usize>,
    /// How the smallest text goes on, and in how many bytes.
    pub(super) smallest: FxHashMap<BeginningId, (Rest, usize)>,
    /// The same for those that had too little room for it.
    pub(super) finished: FxHashMap<(BeginningId, u32, usize), Rest>,
}

/// The next bytes, with what is said about them.
struct Piece {
    condition: TermId,
    values: Vec<u8>,
    size: u32,
    hole: Hole,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hole {
    /// No hole: one text.
    No,
    Yes,
    /// A hole of at least so many bytes. How many is settled later: long ones are many, and most programs treat them alike.
    Longer(usize),
}

/// Lengths of a hole that are ways of their own at once. Of those left, as many again are, and so on.
const N_LENGTHS: usize = 2;

impl Writer {
    pub fn new(beginnings: Beginnings, max: u32, words: Words) -> Writer {
        let tokens = &beginnings.grammar().tokens;
        let shortest = tokens.iter().map(|token| token.language.shortest_len().unwrap_or(0)).collect();
        Writer {
            beginnings,
            max,
            words,
            between: FxHashMap::default(),
            holes: FxHashMap::default(),
            examples: FxHashMap::default(),
            shortest,
            smallest: FxHashMap::default(),
            finished: FxHashMap::default(),
        }
    }

    /// The same for texts that end in the same two tokens, and for all in which a long hole is to come.
    pub fn kind(&self, text: &Text) -> u64 {
        let number = |token: Option<TokenId>| token.map_or(0, |token| u64::from(token.0) + 1);
        let last = self.beginnings.last(text.beginning);
        let before = self.beginnings.last(self.beginnings.above(text.beginning));
        if text.longer.is_some() { u64::MAX } else { number(before) << 32 | number(last) }
    }

    /// In which ways the text may go on.
    pub fn ways(&mut self, path: &Path, text: &Text, room: &Room, terms: &mut Terms) -> Ways {
        let (next, whole) = self.beginnings.next(text.beginning);
        let mut ways = Vec::new();
        let mut left_out = Vec::new();
        let mut leave_out = |why: String| {
            if !left_out.contains(&why) {
                left_out.push(why);
            }
        };
        if whole == Whole::Yes && text.longer.is_none() {
            let shaped = ends(text, room, terms);
            ways.push(Way { shaped, text: Text { ends: Ends::Here, ..text.clone() } });
        }
        let mut pieces = Vec::new();
        let max = self.max;
        let may_come = |token: TokenId| text.longer.is_none_or(|longer| longer.token == token);
        for step in next.iter().filter(|step| text.size + step.least <= max && may_come(step.token)) {
            let blank = match self.between(self.beginnings.last(text.beginning), step.token) {
                Between::Is(blank) => blank,
                Between::Unknown if step.by == By::Grammar => {
                    leave_out(
                        "tokens stand where the scanner would see others, and no blank keeps them apart".to_string(),
                    );
                    continue;
                }
                Between::Unknown | Between::Never => continue,
            };
            let spare = max - text.size - step.least;
            for piece in self.pieces(path, text, room, step.token, text.len + blank.len(), spare as usize, terms) {
                pieces.push((step.least, step.token, blank.clone(), piece));
            }
        }
        // Small texts first, and those with the fewest holes.
        pieces.sort_by_key(|(least, _, _, piece)| (least + piece.size, piece.hole));
        for (_, token, blank, piece) in pieces {
            if let Hole::Longer(least) = piece.hole {
                let text = Text { longer: Some(Longer { token, least }), ..text.clone() };
                ways.push(Way { shaped: Shaped { condition: piece.condition, values: Vec::new() }, text });
                continue;
            }
            let start = text.len + blank.len();
            let len = start + piece.values.len();
            if len > room.most() {
                leave_out(room.left_out());
                continue;
            }
            let beginning = self.beginnings.advance(text.beginning, token);
            let size = text.size + piece.size;
            match self.finish(beginning, max - size, room.most() - len) {
                Rest::Is(_) => {}
                Rest::TooLarge => continue,
                Rest::NoRoom => {
                    leave_out(room.left_out());
                    continue;
                }
                Rest::Unknown => {
                    leave_out("how some texts could end is too hard to find out".to_string());
                    continue;
                }
            }
            let mut condition = is_text(terms, &room.bytes[text.len..start], &blank);
            condition = terms.and(condition, piece.condition);
            let written = blank.iter().chain(&piece.values);
            let mut values: Vec<(SymbolId, u64)> =
                written.zip(&room.bytes[text.len..]).map(|(byte, at)| (symbol(terms, *at), u64::from(*byte))).collect();
            if let End::Size(size) = room.end {
                let (low, high) = (terms.constant(len as u128, 64), terms.constant(room.bytes.len() as u128, 64));
                let (above, below) = (terms.ule(low, size), terms.ule(size, high));
                condition = terms.and(condition, above);
                if text.len == 0 {
                    condition = terms.and(condition, below);
                }
                values.push((symbol(terms, size), room.bytes.len() as u64));
            }
            let mut holes = text.holes.clone();
            holes.extend((piece.hole == Hole::Yes).then_some((token, start, piece.values.len())));
            let text = Text { beginning, size, len, holes, longer: None, ends: Ends::NotYet };
            ways.push(Way { shaped: Shaped { condition, values }, text });
        }
        Ways { ways, left_out }
    }

    /// What a token may look like at a place, where it may be larger than its least size by `spare`.
    #[expect(clippy::too_many_arguments, reason = "what, where, and how much of it")]
    fn pieces(
        &mut self,
        path: &Path,
        text: &Text,
        room: &Room,
        token: TokenId,
        start: usize,
        spare: usize,
        terms: &mut Terms,
    ) -> Vec<Piece> {
        let grammar = self.beginnings.grammar().clone();
        let Some(bytes) = room.bytes.get(start..) else { return vec![does_not_fit(terms, room)] };
        if let Kind::One(written) = &grammar.token(token).kind {
            if written.len() > bytes.len() || !room.takes(written) {
                return vec![does_not_fit(terms, room)];
            }
            let condition = is_text(terms, bytes, written);
            return vec![Piece { condition, values: written.clone(), size: 1, hole: Hole::No }];
        }
        let shortest = self.shortest[token.idx()];
        let words = self.words.get(&token).cloned().unwrap_or_default();
        let mut pieces = Vec::new();
        let first = text.longer.map_or(shortest, |longer| longer.least);
        let mut n_left = N_LENGTHS.max(first - shortest);
        for len in first..=shortest + spare {
            let Some(texts) = self.hole(token, len) else { continue };
            let size = (1 + len - shortest) as u32;
            if n_left == 0 && self.fits(text, room, token, start, len, size) {
                let hole = Hole::Longer(len);
                pieces.push(Piece { condition: terms.tru(), values: Vec::new(), size, hole });
                break;
            }
            n_left = n_left.saturating_sub(1);
            if len > bytes.len() {
                pieces.push(does_not_fit(terms, room));
                break;
            }
            let Some(values) = self.example(token, len) else { continue };
            if !room.takes(&values) {
                pieces.push(does_not_fit(terms, room));
                continue;
            }
            let mut condition = holds(terms, &bytes[..len], &texts);
            if room.end == End::Zero {
                condition = bytes[..len]
                    .iter()
                    .fold(condition, |condition, byte| and_not_text(terms, condition, &[*byte], &[0]));
            }
            for word in words.iter().filter(|word| word.len() == len) {
                condition = and_not_text(terms, condition, &bytes[..len], word);
            }
            pieces.push(Piece { condition, values, size, hole: Hole::Yes });
        }
        if text.longer.is_some() {
            return pieces;
        }
        for word in &words {
            if word.len() > bytes.len() || !room.takes(word) {
                pieces.push(does_not_fit(terms, room));
                continue;
            }
            let condition = is_text(terms, bytes, word);
            pieces.push(Piece { condition, values: word.clone(), size: 1, hole: Hole::No });
        }
        self.repeat(path, text, room, token, start, shortest + spare, terms, &mut pieces);
        pieces
    }

    /// Whether a hole of so many bytes can stand there, and the text can be finished behind it.
    fn fits(&mut self, text: &Text, room: &Room, token: TokenId, start: usize, len: usize, size: u32) -> bool {
        let Some(values) = self.example(token, len) else { return false };
        let (end, size) = (start + len, text.size + size);
        if !room.takes(&values) || end > room.most() || size > self.max {
            return false;
        }
        let beginning = self.beginnings.advance(text.beginning, token);
        matches!(self.finish(beginning, self.max - size, room.most() - end), Rest::Is(_))
    }

    /// A name that stands there already may be repeated, even one that is too long to be made up anew.
    #[expect(clippy::too_many_arguments, reason = "what, where, and how much of it")]
    fn repeat(
        &self,
        path: &Path,
        text: &Text,
        room: &Room,
        token: TokenId,
        start: usize,
        longest: usize,
        terms: &mut Terms,
        pieces: &mut Vec<Piece>,
    ) {
        let words = self.words.get(&token).map_or(&[][..], Vec::as_slice);
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for (_, at, len) in text.holes.iter().filter(|hole| hole.0 == token && hole.2 > longest) {
            let Some(bytes) = room.bytes.get(start..start + len) else { continue };
            let earlier = &room.bytes[*at..at + len];
            let values: Vec<u8> = earlier.iter().map(|byte| path.input.get(symbol(terms, *byte)) as u8).collect();
            if seen.contains(&values) || words.contains(&values) {
                continue;
            }
            let mut condition = terms.tru();
            for (one, other) in bytes.iter().zip(earlier) {
                let same = terms.eq(*one, *other);
                condition = terms.and(condition, same);
            }
            for other in seen.iter().chain(words).filter(|other| other.len() == *len) {
                condition = and_not_text(terms, condition, bytes, other);
            }
            seen.push(values.clone());
            pieces.push(Piece { condition, values, size: 1, hole: Hole::No });
        }
    }

    /// What stands between two tokens.
    pub(super) fn between(&mut self, first: Option<TokenId>, second: TokenId) -> Between {
        let grammar = self.beginnings.grammar();
        let between = self
            .between
            .entry((first, second))
            .or_insert_with(|| grammar.scanner.between(first.map(|first| grammar.token(first)), grammar.token(second)));
        between.clone()
    }

    fn hole(&mut self, token: TokenId, len: usize) -> Option<Texts> {
        let grammar = self.beginnings.grammar().clone();
        self.holes.entry((token, len)).or_insert_with(|| grammar.token(token).language.of_len(len)).clone()
    }

    /// A text of a hole that is no word.
    fn example(&mut self, token: TokenId, len: usize) -> Option<Vec<u8>> {
        let Writer { beginnings, words, examples, .. } = self;
        let words = words.get(&token).map_or(&[][..], Vec::as_slice);
        let make = || beginnings.grammar().token(token).language.example(len, words);
        examples.entry((token, len)).or_insert_with(make).clone()
    }

    /// The shortest text of a token, or one of them.
    pub(super) fn shortest_text(&mut self, token: TokenId) -> Option<Vec<u8>> {
        let len = self.shortest[token.idx()];
        let is_short = |word: &&Vec<u8>| word.len() == len;
        let word = self.words.get(&token).and_then(|words| words.iter().find(is_short)).cloned();
        self.example(token, len).or(word)
    }
}

/// The text is over.
fn ends(text: &Text, room: &Room, terms: &mut Terms) -> Shaped {
    let rest = &room.bytes[text.len..];
    match room.end {
        End::Made => Shaped { condition: terms.tru(), values: Vec::new() },
        End::Zero => {
            let zeros = vec![0; rest.len()];
            let values = rest.iter().map(|byte| (symbol(terms, *byte), 0)).collect();
            Shaped { condition: is_text(terms, rest, &zeros), values }
        }
        End::Size(size) => {
            let len = terms.constant(text.len as u128, 64);
            Shaped { condition: terms.eq(size, len), values: vec![(symbol(terms, size), text.len as u64)] }
        }
    }
}

/// Stands for whatever is too long.
fn does_not_fit(terms: &Terms, room: &Room) -> Piece {
    Piece { condition: terms.fls(), values: vec![0; room.bytes.len() + 1], size: 1, hole: Hole::No }
}
