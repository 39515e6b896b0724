//! How a text goes on: the tokens that may follow, as conditions on the next bytes of the input.

use std::rc::Rc;

use ::grammar::{BeginningId, Beginnings, By, Bytes, Finish, Kind, Texts, TokenId, Whole};
use explore::{Path, Shaped, SlotId};
use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms, View};
use vm::InputRecord;

use super::words::Words;

/// The technique's slot of a state.
pub const SLOT: SlotId = SlotId(8);

/// What a path has decided of its text.
#[derive(Clone, Debug)]
pub struct Text {
    pub beginning: BeginningId,
    /// The size of what is there.
    pub size: u32,
    /// Its bytes.
    pub len: usize,
    /// Holes so far: token, where it begins, its length.
    holes: Vec<(TokenId, usize, usize)>,
    pub ends: Ends,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// What follows is open.
    NotYet,
    Here,
}

impl Default for Text {
    fn default() -> Self {
        Text { beginning: BeginningId::EMPTY, size: 0, len: 0, holes: Vec::new(), ends: Ends::NotYet }
    }
}

impl Text {
    pub fn of(path: &Path) -> Option<&Text> {
        path.state.slots.get::<Text>(SLOT)
    }

    /// The lengths of its holes.
    pub fn lengths(&self) -> Vec<usize> {
        self.holes.iter().map(|hole| hole.2).collect()
    }
}

/// Where a text stands.
#[derive(Clone, Debug)]
pub struct Room {
    pub name: String,
    pub bytes: Vec<TermId>,
    pub end: End,
    /// Whether the last byte has to stay a zero.
    pub needs_zero: bool,
}

impl Room {
    /// The room of an input that is a text.
    pub fn of(record: &InputRecord) -> Room {
        // What is behind an argument is a zero already.
        let bytes: Vec<TermId> = record.scalars.iter().map_while(|scalar| scalar.term).collect();
        let end = record.size.map_or(End::Zero, End::Size);
        let needs_zero = end == End::Zero && bytes.len() == record.scalars.len();
        Room { name: record.name.to_string(), bytes, end, needs_zero }
    }

    /// The room of a fuzzer's data, of which only the most bytes are known.
    pub fn to_be(name: &str, most: u64, terms: &mut Terms) -> Room {
        let bytes = (0..most).map(|idx| terms.symbol(&format!("{name}.{idx}"), 8)).collect();
        Room { name: name.to_string(), bytes, end: End::Made, needs_zero: false }
    }

    /// Whether these bytes can stand in it: no zero where a zero would end the text.
    fn takes(&self, bytes: &[u8]) -> bool {
        self.end != End::Zero || !bytes.contains(&0)
    }

    /// What does not fit, for the ledger.
    fn left_out(&self) -> String {
        let zeros = if self.end == End::Zero { ", or with a zero in them," } else { "" };
        format!("texts of more than {} bytes{zeros} do not fit `{}`", self.most(), self.name)
    }

    /// Bytes of the longest text.
    pub fn most(&self) -> usize {
        self.bytes.len() - usize::from(self.needs_zero)
    }
}

/// What says that a text is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The number of bytes that there are.
    Size(TermId),
    /// A zero, and nothing but zeros behind it.
    Zero,
    /// The input is made as long as the text is.
    Made,
}

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
    between: FxHashMap<(TokenId, TokenId), Option<Vec<u8>>>,
    holes: FxHashMap<(TokenId, usize), Option<Texts>>,
    examples: FxHashMap<(TokenId, usize), Option<Vec<u8>>>,
    shortest: Vec<usize>,
    /// How the smallest text goes on, and in how many bytes.
    smallest: FxHashMap<BeginningId, (Rest, usize)>,
    /// The same for those that had too little room for it.
    finished: FxHashMap<(BeginningId, u32, usize), Rest>,
}

type Tokens = Rc<[TokenId]>;

/// How a text may go on to its end.
#[derive(Clone, Debug)]
enum Rest {
    Is(Tokens),
    /// With more tokens than there may be.
    TooLarge,
    /// In more bytes than there are.
    NoRoom,
    Unknown,
}

impl Rest {
    fn tokens(&self) -> Option<Tokens> {
        match self {
            Rest::Is(tokens) => Some(Rc::clone(tokens)),
            Rest::TooLarge | Rest::NoRoom | Rest::Unknown => None,
        }
    }
}

/// Tokens that are tried to find a text for little room; beyond it such texts are left out.
const MAX_TRIES: u32 = 2_000;

/// The next bytes, with what is said about them.
struct Piece {
    condition: TermId,
    values: Vec<u8>,
    size: u32,
    hole: Option<TokenId>,
}

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

    /// The same for texts that end in the same two tokens.
    pub fn kind(&self, text: &Text) -> u64 {
        let number = |token: Option<TokenId>| token.map_or(0, |token| u64::from(token.0) + 1);
        let last = self.beginnings.last(text.beginning);
        let before = self.beginnings.last(self.beginnings.above(text.beginning));
        number(before) << 32 | number(last)
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
        if whole == Whole::Yes {
            let shaped = ends(text, room, terms);
            ways.push(Way { shaped, text: Text { ends: Ends::Here, ..text.clone() } });
        }
        let mut pieces = Vec::new();
        let max = self.max;
        for step in next.iter().filter(|step| text.size + step.least <= max) {
            let Some(blank) = self.between(self.beginnings.last(text.beginning), step.token) else {
                if step.by == By::Grammar {
                    leave_out("two tokens would run together, and no blank keeps them apart".to_string());
                }
                continue;
            };
            let spare = max - text.size - step.least;
            for piece in self.pieces(path, text, room, step.token, text.len + blank.len(), spare as usize, terms) {
                pieces.push((step.least, step.token, blank.clone(), piece));
            }
        }
        // Small texts first, and those with the fewest holes.
        pieces.sort_by_key(|(least, _, _, piece)| (least + piece.size, piece.hole.is_some()));
        for (_, token, blank, piece) in pieces {
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
            holes.extend(piece.hole.map(|token| (token, start, piece.values.len())));
            let text = Text { beginning, size, len, holes, ends: Ends::NotYet };
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
            return vec![Piece { condition, values: written.clone(), size: 1, hole: None }];
        }
        let shortest = self.shortest[token.idx()];
        let words = self.words.get(&token).cloned().unwrap_or_default();
        let mut pieces = Vec::new();
        for len in shortest..=shortest + spare {
            let Some(texts) = self.hole(token, len) else { continue };
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
            pieces.push(Piece { condition, values, size: (1 + len - shortest) as u32, hole: Some(token) });
        }
        for word in &words {
            if word.len() > bytes.len() || !room.takes(word) {
                pieces.push(does_not_fit(terms, room));
                continue;
            }
            let condition = is_text(terms, bytes, word);
            pieces.push(Piece { condition, values: word.clone(), size: 1, hole: None });
        }
        self.repeat(path, text, room, token, start, shortest + spare, terms, &mut pieces);
        pieces
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
            pieces.push(Piece { condition, values, size: 1, hole: None });
        }
    }

    /// What stands between two tokens; `None` where they cannot stand together.
    fn between(&mut self, first: Option<TokenId>, second: TokenId) -> Option<Vec<u8>> {
        let Some(first) = first else { return Some(Vec::new()) };
        let grammar = self.beginnings.grammar().clone();
        let between = self.between.entry((first, second)).or_insert_with(|| {
            let (first, second) = (&grammar.token(first).language, &grammar.token(second).language);
            grammar.scanner.between(first, second)
        });
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
    fn shortest_text(&mut self, token: TokenId) -> Option<Vec<u8>> {
        let len = self.shortest[token.idx()];
        let is_short = |word: &&Vec<u8>| word.len() == len;
        let word = self.words.get(&token).and_then(|words| words.iter().find(is_short)).cloned();
        self.example(token, len).or(word)
    }

    /// A small text that begins so, within what is left of its size and of its bytes: the tokens that follow.
    fn finish(&mut self, beginning: BeginningId, size: u32, bytes: usize) -> Rest {
        let smallest = match self.smallest.get(&beginning) {
            Some(known) => known.clone(),
            None => {
                let rest = match self.beginnings.finish(beginning, self.max) {
                    Finish::By(tokens) => Rest::Is(tokens.into()),
                    Finish::Never => Rest::TooLarge,
                    Finish::Unknown => Rest::Unknown,
                };
                let written = rest.tokens().and_then(|tokens| self.write(beginning, &tokens));
                let smallest = (rest, written.map_or(usize::MAX, |written| written.len()));
                self.smallest.insert(beginning, smallest.clone());
                smallest
            }
        };
        match smallest.0.tokens() {
            None => return smallest.0,
            Some(tokens) if tokens.len() > size as usize => return Rest::TooLarge,
            Some(_) if smallest.1 <= bytes => return smallest.0,
            Some(_) => {}
        }
        // The one with the fewest tokens is too long. Another may be shorter.
        if let Some(known) = self.finished.get(&(beginning, size, bytes)) {
            return known.clone();
        }
        let mut tokens = Vec::new();
        let mut n_tries = MAX_TRIES;
        let found = match self.search(beginning, size, bytes, &mut tokens, &mut n_tries) {
            true => Rest::Is(Rc::from(tokens)),
            false => Rest::NoRoom,
        };
        self.finished.insert((beginning, size, bytes), found.clone());
        found
    }

    fn search(
        &mut self,
        at: BeginningId,
        size: u32,
        bytes: usize,
        tokens: &mut Vec<TokenId>,
        n_tries: &mut u32,
    ) -> bool {
        let (next, whole) = self.beginnings.next(at);
        if whole == Whole::Yes {
            return true;
        }
        for step in next.iter().filter(|step| step.least <= size) {
            if *n_tries == 0 {
                return false;
            }
            *n_tries -= 1;
            let Some(blank) = self.between(self.beginnings.last(at), step.token) else { continue };
            let len = blank.len() + self.shortest[step.token.idx()];
            if len > bytes {
                continue;
            }
            let below = self.beginnings.advance(at, step.token);
            tokens.push(step.token);
            if self.search(below, size - 1, bytes - len, tokens, n_tries) {
                return true;
            }
            tokens.pop();
        }
        false
    }

    /// What tokens look like behind a beginning, each as short as it can be; `None` where they cannot stand together.
    fn write(&mut self, beginning: BeginningId, tokens: &[TokenId]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut last = self.beginnings.last(beginning);
        for token in tokens {
            text.extend(self.between(last, *token)?);
            text.extend(self.shortest_text(*token)?);
            last = Some(*token);
        }
        Some(text)
    }

    /// The rest of a text that begins so and has this room.
    pub fn rest(&mut self, text: &Text, bytes: usize) -> Vec<u8> {
        let size = self.max - text.size;
        let Some(tokens) = self.finish(text.beginning, size, bytes).tokens() else { return Vec::new() };
        self.write(text.beginning, &tokens).unwrap_or_default()
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
    Piece { condition: terms.fls(), values: vec![0; room.bytes.len() + 1], size: 1, hole: None }
}

pub fn symbol(terms: &Terms, byte: TermId) -> SymbolId {
    match terms.view(byte) {
        View::Symbol(symbol) => symbol,
        _ => unreachable!("the bytes and the size of a text are symbols"),
    }
}

fn is_text(terms: &mut Terms, bytes: &[TermId], text: &[u8]) -> TermId {
    let mut condition = terms.tru();
    for (byte, value) in bytes.iter().zip(text) {
        let value = terms.constant(u128::from(*value), 8);
        let same = terms.eq(*byte, value);
        condition = terms.and(condition, same);
    }
    condition
}

fn and_not_text(terms: &mut Terms, condition: TermId, bytes: &[TermId], text: &[u8]) -> TermId {
    let same = is_text(terms, bytes, text);
    let differs = terms.not(same);
    terms.and(condition, differs)
}

fn is_one_of(terms: &mut Terms, byte: TermId, set: &Bytes) -> TermId {
    let mut condition = terms.fls();
    for (low, high) in set.ranges() {
        let (low, high) = (terms.constant(u128::from(low), 8), terms.constant(u128::from(high), 8));
        let (above, below) = (terms.ule(low, byte), terms.ule(byte, high));
        let inside = terms.and(above, below);
        condition = terms.or(condition, inside);
    }
    condition
}

/// The bytes are one of the texts.
fn holds(terms: &mut Terms, bytes: &[TermId], texts: &Texts) -> TermId {
    match texts {
        Texts::Each { sets, except } => {
            let mut condition = terms.tru();
            for (byte, set) in bytes.iter().zip(sets) {
                let inside = is_one_of(terms, *byte, set);
                condition = terms.and(condition, inside);
            }
            except.iter().fold(condition, |condition, text| and_not_text(terms, condition, bytes, text))
        }
        Texts::Along { start, layers } => {
            let mut at: Vec<(u32, TermId)> = vec![(*start, terms.tru())];
            for (layer, byte) in layers.iter().zip(bytes) {
                let mut then: Vec<(u32, TermId)> = Vec::new();
                for arrow in layer {
                    let Some((_, here)) = at.iter().find(|(state, _)| *state == arrow.from).copied() else { continue };
                    let goes = is_one_of(terms, *byte, &arrow.by);
                    let goes = terms.and(here, goes);
                    match then.iter_mut().find(|(state, _)| *state == arrow.to) {
                        Some((_, there)) => *there = terms.or(*there, goes),
                        None => then.push((arrow.to, goes)),
                    }
                }
                at = then;
            }
            let none = terms.fls();
            at.into_iter().fold(none, |any, (_, here)| terms.or(any, here))
        }
    }
}
