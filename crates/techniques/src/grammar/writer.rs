//! How a text goes on: the tokens that may follow, as conditions on the next bytes of the input.

use ::grammar::{BeginningId, Beginnings, Between, By, Kind, Texts, TokenId, Whole};
use explore::{Path, Shaped};
use rustc_hash::FxHashMap;
use term::{SymbolId, TermId, Terms};

use super::conditions::{and_not_text, holds, is_text, symbol};
use super::looks::{Look, Looks};
use super::rest::Rest;
use super::room::{End, Room};
use super::text::{DecidedAt, Ends, Longer, Text};
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
    /// What fills the room behind a text, if it is filled.
    pub fill: Option<u8>,
    looks: Looks,
    between: FxHashMap<(Option<Look>, Look), Between>,
    holes: FxHashMap<(Look, usize), Option<Texts>>,
    examples: FxHashMap<(Look, usize), Option<Vec<u8>>>,
    pub(super) shortest: Vec<usize>,
    /// How the smallest text goes on, and in how many bytes.
    pub(super) smallest: FxHashMap<BeginningId, (Rest, usize)>,
    /// The same for those that had too little room for it.
    pub(super) finished: FxHashMap<(BeginningId, u32, usize), Rest>,
}

/// The next bytes, with what is said about them, behind a blank that may be empty.
struct Piece {
    look: Look,
    blank: Vec<u8>,
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
    pub fn new(beginnings: Beginnings, max: u32, words: Words, fill: Option<u8>) -> Writer {
        let tokens = &beginnings.grammar().tokens;
        let shortest = tokens.iter().map(|token| token.language.shortest_len().unwrap_or(0)).collect();
        let looks = Looks::new(tokens);
        Writer {
            beginnings,
            max,
            words,
            fill,
            looks,
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
            let shaped = ends(text, room, self.filling(room), terms);
            ways.push(Way { shaped, text: Text { ends: Ends::Here, ..text.clone() } });
        }
        let mut pieces = Vec::new();
        let max = self.max;
        let may_come = |token: TokenId| text.longer.is_none_or(|longer| longer.token == token);
        for step in next.iter().filter(|step| text.size + step.least <= max && may_come(step.token)) {
            let mut joints = Vec::new();
            for look in self.looks.of(step.token) {
                match self.between(text.last, look) {
                    Between::Is(blank) => joints.push((look, blank)),
                    Between::Unknown if step.by == By::Grammar => {
                        leave_out(
                            "tokens stand where the scanner would see others, and no blank keeps them apart"
                                .to_string(),
                        );
                    }
                    Between::Unknown | Between::Never => {}
                }
            }
            let spare = max - text.size - step.least;
            for piece in self.pieces(path, text, room, &joints, spare as usize, terms) {
                pieces.push((step.least, piece));
            }
        }
        // Small texts first, and those with the fewest holes.
        pieces.sort_by_key(|(least, piece)| (least + piece.size, piece.hole));
        for (_, piece) in pieces {
            let (token, blank) = (piece.look.token, &piece.blank);
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
            let mut condition = is_text(terms, &room.bytes[text.len..start], blank);
            condition = terms.and(condition, piece.condition);
            let written = blank.iter().chain(&piece.values);
            let mut values: Vec<(SymbolId, u64)> =
                written.zip(&room.bytes[text.len..]).map(|(byte, at)| (symbol(terms, *at), u64::from(*byte))).collect();
            if let (End::Size(size), None) = (room.end, self.filling(room)) {
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
            let last = Some(piece.look);
            let decided_at = DecidedAt { n_tokens: text.decided_at.n_tokens + 1, ..text.decided_at };
            let text = Text { beginning, last, size, len, holes, longer: None, ends: Ends::NotYet, decided_at };
            ways.push(Way { shaped: Shaped { condition, values }, text });
        }
        Ways { ways, left_out }
    }

    /// What may stand behind these blanks, each look of one token, where it may be larger than its least size by `spare`.
    fn pieces(
        &mut self,
        path: &Path,
        text: &Text,
        room: &Room,
        joints: &[(Look, Vec<u8>)],
        spare: usize,
        terms: &mut Terms,
    ) -> Vec<Piece> {
        let Some(token) = joints.first().map(|(look, _)| look.token) else { return Vec::new() };
        let grammar = self.beginnings.grammar().clone();
        let mut pieces = Vec::new();
        let fixed = |look: Look, blank: &[u8], written: &[u8], terms: &mut Terms| {
            let at = room.bytes.get(text.len + blank.len()..).unwrap_or_default();
            if written.len() > at.len() || !room.takes(written) {
                return does_not_fit(look, terms, room);
            }
            let condition = is_text(terms, at, written);
            Piece { look, blank: blank.to_vec(), condition, values: written.to_vec(), size: 1, hole: Hole::No }
        };
        if let Kind::One(written) = &grammar.token(token).kind {
            return joints.iter().map(|(look, blank)| fixed(*look, blank, written, terms)).collect();
        }
        let shortest = self.shortest[token.idx()];
        let words = self.words.get(&token).cloned().unwrap_or_default();
        let first = text.longer.map_or(shortest, |longer| longer.least);
        let mut n_left = N_LENGTHS.max(first - shortest);
        for len in first..=shortest + spare {
            let holes: Vec<_> =
                joints.iter().filter_map(|(look, blank)| Some((*look, blank, self.hole(*look, len)?))).collect();
            let Some((look, _, _)) = holes.first() else { continue };
            let size = (1 + len - shortest) as u32;
            let mut fitting = holes.iter();
            if n_left == 0
                && fitting.any(|(look, blank, _)| self.fits(text, room, *look, text.len + blank.len(), len, size))
            {
                let hole = Hole::Longer(len);
                let condition = terms.tru();
                pieces.push(Piece { look: *look, blank: Vec::new(), condition, values: Vec::new(), size, hole });
                break;
            }
            n_left = n_left.saturating_sub(1);
            let mut n_fit = 0;
            for (look, blank, texts) in &holes {
                let bytes = room.bytes.get(text.len + blank.len()..).unwrap_or_default();
                if len > bytes.len() {
                    pieces.push(does_not_fit(*look, terms, room));
                    continue;
                }
                n_fit += 1;
                let Some(values) = self.example(*look, len) else { continue };
                if !room.takes(&values) {
                    pieces.push(does_not_fit(*look, terms, room));
                    continue;
                }
                let mut condition = holds(terms, &bytes[..len], texts);
                if room.end == End::Zero {
                    condition = bytes[..len]
                        .iter()
                        .fold(condition, |condition, byte| and_not_text(terms, condition, &[*byte], &[0]));
                }
                for word in words.iter().filter(|word| word.len() == len) {
                    condition = and_not_text(terms, condition, &bytes[..len], word);
                }
                pieces.push(Piece { look: *look, blank: blank.to_vec(), condition, values, size, hole: Hole::Yes });
            }
            if n_fit == 0 {
                break;
            }
        }
        if text.longer.is_some() {
            return pieces;
        }
        for word in &words {
            let mut own = joints.iter().filter(|(look, _)| self.looks.language(*look, &grammar).accepts(word));
            if let Some((look, blank)) = own.next() {
                pieces.push(fixed(*look, blank, word, terms));
            }
        }
        // Tokens with several looks are no names.
        if let [joint] = joints {
            self.repeat(path, text, room, joint, shortest + spare, terms, &mut pieces);
        }
        pieces
    }

    /// What fills a room: only where there would be less input otherwise, and it is not enough to know that a zero follows.
    pub fn filling(&self, room: &Room) -> Option<u8> {
        self.fill.filter(|_| matches!(room.end, End::Size(_)))
    }

    /// All of a room is used: what follows a text is to be filled.
    pub fn use_all(&self, room: &Room, terms: &mut Terms) -> Option<Ways> {
        let End::Size(size) = room.end else { return None };
        self.filling(room)?;
        let most = terms.constant(room.bytes.len() as u128, 64);
        let values = vec![(symbol(terms, size), room.bytes.len() as u64)];
        let shaped = Shaped { condition: terms.eq(size, most), values };
        let left_out = vec![format!("every text is filled up with blanks to {} bytes", room.bytes.len())];
        Some(Ways { ways: vec![Way { shaped, text: Text::default() }], left_out })
    }

    /// Whether a hole of so many bytes can stand there, and the text can be finished behind it.
    fn fits(&mut self, text: &Text, room: &Room, look: Look, start: usize, len: usize, size: u32) -> bool {
        let Some(values) = self.example(look, len) else { return false };
        let (end, size) = (start + len, text.size + size);
        if !room.takes(&values) || end > room.most() || size > self.max {
            return false;
        }
        let beginning = self.beginnings.advance(text.beginning, look.token);
        matches!(self.finish(beginning, self.max - size, room.most() - end), Rest::Is(_))
    }

    /// A name that stands there already may be repeated, even one that is too long to be made up anew.
    #[expect(clippy::too_many_arguments, reason = "what, where, and how much of it")]
    fn repeat(
        &self,
        path: &Path,
        text: &Text,
        room: &Room,
        (look, blank): &(Look, Vec<u8>),
        longest: usize,
        terms: &mut Terms,
        pieces: &mut Vec<Piece>,
    ) {
        let (token, start) = (look.token, text.len + blank.len());
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
            pieces.push(Piece { look: *look, blank: blank.clone(), condition, values, size: 1, hole: Hole::No });
        }
    }

    /// What stands between two tokens.
    pub(super) fn between(&mut self, first: Option<Look>, second: Look) -> Between {
        let Writer { beginnings, looks, between, .. } = self;
        let grammar = beginnings.grammar();
        let make = || {
            let first = first.map(|first| looks.token(first, grammar));
            grammar.scanner.between(first.as_deref(), &looks.token(second, grammar))
        };
        between.entry((first, second)).or_insert_with(make).clone()
    }

    fn hole(&mut self, look: Look, len: usize) -> Option<Texts> {
        let Writer { beginnings, looks, holes, .. } = self;
        let make = || looks.language(look, beginnings.grammar()).of_len(len);
        holes.entry((look, len)).or_insert_with(make).clone()
    }

    /// A text of a hole that is no word.
    fn example(&mut self, look: Look, len: usize) -> Option<Vec<u8>> {
        let Writer { beginnings, words, looks, examples, .. } = self;
        let words = words.get(&look.token).map_or(&[][..], Vec::as_slice);
        let make = || looks.language(look, beginnings.grammar()).example(len, words);
        examples.entry((look, len)).or_insert_with(make).clone()
    }

    /// The shortest text of a token, or one of them, and its look.
    pub(super) fn shortest_text(&mut self, token: TokenId) -> Option<(Vec<u8>, Look)> {
        let len = self.shortest[token.idx()];
        let is_short = |word: &&Vec<u8>| word.len() == len;
        let word = self.words.get(&token).and_then(|words| words.iter().find(is_short)).cloned();
        let text = self.example(Look::any(token), len).or(word)?;
        let grammar = self.beginnings.grammar();
        let look = self.looks.of(token).find(|look| self.looks.language(*look, grammar).accepts(&text))?;
        Some((text, look))
    }
}

/// The text is over.
fn ends(text: &Text, room: &Room, filling: Option<u8>, terms: &mut Terms) -> Shaped {
    let rest = &room.bytes[text.len..];
    let all = |byte: u8, terms: &mut Terms| {
        let values = rest.iter().map(|at| (symbol(terms, *at), u64::from(byte))).collect();
        Shaped { condition: is_text(terms, rest, &vec![byte; rest.len()]), values }
    };
    if let Some(blank) = filling {
        return all(blank, terms);
    }
    match room.end {
        End::Made => Shaped { condition: terms.tru(), values: Vec::new() },
        End::Zero => all(0, terms),
        End::Size(size) => {
            let len = terms.constant(text.len as u128, 64);
            Shaped { condition: terms.eq(size, len), values: vec![(symbol(terms, size), text.len as u64)] }
        }
    }
}

/// Stands for whatever is too long.
fn does_not_fit(look: Look, terms: &Terms, room: &Room) -> Piece {
    let values = vec![0; room.bytes.len() + 1];
    Piece { look, blank: Vec::new(), condition: terms.fls(), values, size: 1, hole: Hole::No }
}
