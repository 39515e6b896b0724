//! Inputs that are texts: a prefix of symbols, something that repeats behind it, and an end that is a symbol.

use std::rc::Rc;
use std::sync::Arc;

use term::{SymbolId, TermId, Terms, View};

use crate::effect::{Pattern, StringKind, TextForm, TextKind};
use crate::layers::{Layers, Text, Zeros};
use crate::{InputRecord, InputRequest, Label, Scalar};

/// What stands at bytes that nothing is known about: where all symbols are zero, a text is so many of these.
const USUAL: u8 = b'a';

/// What comes behind the prefix of a text.
#[derive(Clone, Debug)]
pub struct Tail {
    pub kind: TextKind,
    pub room: Room,
    /// How many bytes come before its end.
    pub end: TermId,
    /// The most that can be.
    pub most: u64,
    pub repeat: Arc<[TermId]>,
    /// What stands somewhere behind the prefix and before the end.
    pub marks: Arc<[Mark]>,
    /// What stands behind the zero at the end, in a buffer.
    pub rest: Option<TermId>,
    pub conditions: Arc<[TermId]>,
    /// Symbols that stand for more than one byte.
    pub fillers: Arc<[SymbolId]>,
}

/// Bytes of their own, from an offset on. They count as far as they lie behind the prefix and before the end.
#[derive(Clone, Debug)]
pub struct Mark {
    pub at: TermId,
    pub bytes: Arc<[TermId]>,
}

/// How much memory a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// What it needs, its zero included.
    Exact,
    /// What the program gave it.
    Given,
    /// It is no memory.
    None,
}

struct Maker<'t> {
    terms: &'t mut Terms,
    name: String,
    conditions: Vec<TermId>,
    fillers: Vec<SymbolId>,
}

impl Maker<'_> {
    /// A byte that is zero or not.
    fn byte(&mut self, which: &str) -> TermId {
        self.terms.symbol(&format!("{}.{which}", self.name), 8)
    }

    /// A byte that is not zero, and the usual one where its symbol is zero.
    fn non_zero(&mut self, which: &str) -> TermId {
        let symbol = self.byte(which);
        let usual = self.terms.byte_constant(USUAL);
        let differs = self.terms.ne(symbol, usual);
        self.conditions.push(differs);
        self.terms.xor(symbol, usual)
    }

    /// A number from 0 to `most`, no wider than it has to be.
    fn number(&mut self, which: &str, most: u64) -> TermId {
        let width = (64 - most.leading_zeros()).max(1);
        let symbol = self.terms.symbol(&format!("{}.{which}", self.name), width);
        if most < u64::MAX >> (64 - width) {
            let most = self.terms.constant(u128::from(most), width);
            let fits = self.terms.ule(symbol, most);
            self.conditions.push(fits);
        }
        self.terms.zext(symbol, 64)
    }

    fn fills(&mut self, term: TermId) -> TermId {
        self.fillers.extend(self.terms.symbols(term).iter().copied());
        term
    }
}

/// Makes the symbols of a text.
pub fn create(terms: &mut Terms, request: &InputRequest, occurrence: usize, form: &TextForm) -> InputRecord {
    let name = match occurrence {
        0 => request.name.to_string(),
        _ => format!("{}#{}", request.name, occurrence + 1),
    };
    let mut maker = Maker { terms, name, conditions: Vec::new(), fillers: Vec::new() };
    if let Some(pattern) = &form.pattern {
        return create_written(maker, request, form, pattern);
    }
    let TextForm { most, kind, n_repeated, n_marks, .. } = *form;
    let n_prefix = form.prefix.min(most);
    let scalar = |idx: u64| {
        let term = match kind {
            TextKind::String => maker.non_zero(&idx.to_string()),
            TextKind::Buffer | TextKind::Stream => maker.byte(&idx.to_string()),
        };
        Scalar { offset: idx, n_bytes: 1, term: Some(term), value: 0, label: Label::EMPTY, number: 0 }
    };
    let scalars: Box<[Scalar]> = (0..n_prefix).map(scalar).collect();
    let start = maker.terms.constant(u128::from(n_prefix), 64);
    let has_tail = most > n_prefix;
    let end = match kind {
        TextKind::Buffer => {
            let n_behind = maker.number("end", most - n_prefix);
            maker.terms.add(start, n_behind)
        }
        TextKind::String | TextKind::Stream => maker.number("size", most),
    };
    let usual = maker.terms.byte_constant(USUAL);
    let (mut repeat, mut marks, mut rest) = (vec![usual], Vec::new(), None);
    if has_tail {
        repeat = (0..n_repeated.clamp(1, 2)).map(|idx| maker.non_zero(&format!("fill.{idx}"))).collect();
        repeat.iter().for_each(|byte| _ = maker.fills(*byte));
        for idx in 0..n_marks {
            let behind = maker.number(&format!("mark.{idx}.at"), most - n_prefix - 1);
            let byte = maker.non_zero(&format!("mark.{idx}"));
            let (behind, byte) = (maker.fills(behind), maker.fills(byte));
            marks.push(Mark { at: maker.terms.add(start, behind), bytes: Arc::new([byte]) });
        }
        if kind == TextKind::Buffer {
            let byte = maker.byte("rest");
            rest = Some(maker.fills(byte));
        }
    }
    let room = room_of(kind, request);
    let Maker { conditions, fillers, .. } = maker;
    let tail = Tail {
        kind,
        room,
        end,
        most,
        repeat: repeat.into(),
        marks: marks.into(),
        rest,
        conditions: conditions.into(),
        fillers: fillers.into(),
    };
    record(request, scalars, tail)
}

/// One whose bytes are known.
fn create_written(mut maker: Maker, request: &InputRequest, form: &TextForm, pattern: &Pattern) -> InputRecord {
    let TextForm { most, kind, .. } = *form;
    let Pattern { before, repeat, after } = pattern;
    let before = &before[..before.len().min(most as usize)];
    let n_room = most.saturating_sub((before.len() + after.len()) as u64);
    let scalar = |(idx, byte): (usize, &u8)| Scalar {
        offset: idx as u64,
        n_bytes: 1,
        term: None,
        value: u64::from(*byte),
        label: Label::EMPTY,
        number: 0,
    };
    let scalars: Box<[Scalar]> = before.iter().enumerate().map(scalar).collect();
    let missing = (n_room > 0).then(|| maker.number("missing", n_room));
    let Maker { terms, conditions, .. } = maker;
    let longest = terms.constant(u128::from(n_room) + before.len() as u128, 64);
    let at = missing.map_or(longest, |missing| terms.sub(longest, missing));
    let n_after = terms.constant(after.len() as u128, 64);
    let end = terms.add(at, n_after);
    let constants = |bytes: &[u8]| -> Arc<[TermId]> { bytes.iter().map(|byte| terms.byte_constant(*byte)).collect() };
    let repeat = constants(repeat);
    let marks = if after.is_empty() { Vec::new() } else { vec![Mark { at, bytes: constants(after) }] };
    let rest = (kind == TextKind::Buffer).then(|| terms.byte_constant(0));
    let tail = Tail {
        kind,
        room: room_of(kind, request),
        end,
        most,
        repeat,
        marks: marks.into(),
        rest,
        conditions: conditions.into(),
        fillers: Arc::new([]),
    };
    record(request, scalars, tail)
}

fn room_of(kind: TextKind, request: &InputRequest) -> Room {
    match (kind, request.string) {
        (TextKind::Stream, _) => Room::None,
        (TextKind::String, Some(StringKind::Within)) | (TextKind::Buffer, _) => Room::Given,
        (TextKind::String, _) => Room::Exact,
    }
}

fn record(request: &InputRequest, scalars: Box<[Scalar]>, tail: Tail) -> InputRecord {
    InputRecord {
        name: request.name.clone(),
        type_name: request.type_name.clone(),
        n_bytes: request.bytes,
        origin: request.origin,
        scalars,
        size: (tail.kind == TextKind::Stream).then_some(tail.end),
        tail: Some(tail),
        layout: None,
    }
}

impl Tail {
    /// The bytes, of which the first are those of the prefix.
    pub fn image(&self, mut bytes: Vec<u8>, n_bytes: u64, mut value_of: impl FnMut(TermId) -> u128) -> Vec<u8> {
        let (n_prefix, end) = (bytes.len(), value_of(self.end) as usize);
        let repeat: Vec<u8> = self.repeat.iter().map(|byte| value_of(*byte) as u8).collect();
        if end > n_prefix {
            bytes.extend((0..end - n_prefix).map(|idx| repeat[idx % repeat.len()]));
            for Mark { at, bytes: written } in self.marks.iter() {
                let at = value_of(*at) as usize;
                for (at, byte) in (at..end).zip(written.iter()).filter(|(at, _)| *at >= n_prefix) {
                    bytes[at] = value_of(*byte) as u8;
                }
            }
        }
        match (self.kind, self.room) {
            (TextKind::Buffer, _) => {
                if bytes.len() < n_bytes as usize {
                    bytes.push(0);
                }
                let rest = self.rest.map_or(0, |byte| value_of(byte) as u8);
                bytes.resize(n_bytes as usize, rest);
            }
            (_, Room::None) => bytes.truncate(end),
            (_, Room::Exact) => {
                bytes.truncate(end);
                bytes.push(0);
            }
            (_, Room::Given) => {
                bytes.truncate(end);
                bytes.resize(n_bytes as usize, 0);
            }
        }
        bytes
    }

    /// Values of the symbols for a text that is like this one: what its form cannot say is left out.
    pub fn values_for(&self, terms: &Terms, scalars: &[Scalar], text: &[u8]) -> Vec<(SymbolId, u64)> {
        let n_prefix = scalars.len();
        let zero_from = |from: usize| text.iter().skip(from).position(|byte| *byte == 0).map(|idx| from + idx);
        let end = match self.kind {
            TextKind::String => zero_from(0).unwrap_or(text.len()),
            TextKind::Buffer => zero_from(n_prefix).unwrap_or(text.len()).max(n_prefix),
            TextKind::Stream => text.len(),
        };
        let end = end.min(self.most as usize);
        let mut values = vec![(self.end, end as u64)];
        for (scalar, byte) in scalars.iter().zip(text.iter().take(end.max(n_prefix))) {
            if let (Some(term), true) = (scalar.term, scalar.offset < end as u64 || self.kind == TextKind::Buffer) {
                values.push((term, u64::from(*byte)));
            }
        }
        let behind = text.get(n_prefix..end).unwrap_or(&[]);
        let n_repeated = self.repeat.len();
        let common = |first: usize| {
            let mut counts = [0u32; 256];
            behind.iter().skip(first).step_by(n_repeated).for_each(|byte| counts[usize::from(*byte)] += 1);
            (1..256).max_by_key(|byte| (counts[*byte], 256 - byte)).filter(|byte| counts[*byte] > 0)
        };
        let fillers: Vec<Option<usize>> = (0..n_repeated).map(common).collect();
        for (term, filler) in self.repeat.iter().zip(&fillers) {
            values.extend(filler.map(|byte| (*term, byte as u64)));
        }
        let differs = |idx: &usize| behind[*idx] != 0 && fillers[idx % n_repeated] != Some(usize::from(behind[*idx]));
        for (mark, idx) in self.marks.iter().zip((0..behind.len()).filter(differs)) {
            values.extend([(mark.at, (n_prefix + idx) as u64), (mark.bytes[0], u64::from(behind[idx]))]);
        }
        if let (Some(rest), Some(byte)) = (self.rest, text.get(end + 1)) {
            values.push((rest, u64::from(*byte)));
        }
        values.into_iter().filter_map(|(term, value)| symbol_for(terms, term, value)).collect()
    }

    /// The bytes as a pile.
    pub fn layers(&self, terms: &mut Terms, scalars: &[Scalar]) -> Rc<Layers> {
        let byte_of = |scalar: &Scalar| scalar.term.unwrap_or_else(|| terms.byte_constant(scalar.value as u8));
        let prefix: Rc<[TermId]> = scalars.iter().map(byte_of).collect();
        let (zero, one) = (terms.constant(0, 64), terms.constant(1, 64));
        let start = terms.constant(prefix.len() as u128, 64);
        if self.kind != TextKind::Buffer {
            let zeros = if self.kind == TextKind::String { Zeros::None } else { Zeros::Some };
            let text = Rc::new(Layers::Text(Text { prefix, repeat: self.repeat.iter().copied().collect(), zeros }));
            let text = self.marks.iter().fold(text, |below, mark| mark.over(terms, below, mark.at));
            return Layers::over(Rc::new(Layers::Zero), zero, text, zero, self.end);
        }
        let filler = Text { prefix: Rc::from([]), repeat: self.repeat.iter().copied().collect(), zeros: Zeros::None };
        let mut pile = match self.rest {
            Some(rest) => Rc::new(Layers::Text(Text::of_byte(rest, Zeros::Some))),
            None => Rc::new(Layers::Zero),
        };
        let mut text = Rc::new(Layers::Text(filler));
        for mark in self.marks.iter() {
            let behind = terms.sub(mark.at, start);
            text = mark.over(terms, text, behind);
        }
        let n_behind = terms.sub(self.end, start);
        pile = Layers::over(pile, start, text, zero, n_behind);
        pile = Layers::over(pile, self.end, Rc::new(Layers::Zero), zero, one);
        let zero_byte = terms.byte_constant(0);
        let front = Text { prefix, repeat: Rc::from([zero_byte]), zeros: Zeros::Some };
        Layers::over(pile, zero, Rc::new(Layers::Text(front)), zero, start)
    }
}

impl Mark {
    fn over(&self, terms: &mut Terms, below: Rc<Layers>, at: TermId) -> Rc<Layers> {
        let (zero, n_bytes) = (terms.constant(0, 64), terms.constant(self.bytes.len() as u128, 64));
        let last = self.bytes.last().copied().into_iter().collect();
        let text = Text { prefix: self.bytes.iter().copied().collect(), repeat: last, zeros: Zeros::None };
        Layers::over(below, at, Rc::new(Layers::Text(text)), zero, n_bytes)
    }
}

/// What the symbol in a term has to be for the term to have that value.
fn symbol_for(terms: &Terms, term: TermId, value: u64) -> Option<(SymbolId, u64)> {
    match terms.view(term) {
        View::Symbol(symbol) => Some((symbol, value)),
        View::ZExt(x) => symbol_for(terms, x, value),
        View::Xor(a, b) => match (terms.as_const(a), terms.as_const(b)) {
            (Some(known), None) => symbol_for(terms, b, value ^ known as u64),
            (None, Some(known)) => symbol_for(terms, a, value ^ known as u64),
            _ => None,
        },
        View::Add(a, b) => match (terms.as_const(a), terms.as_const(b)) {
            (Some(known), None) => symbol_for(terms, b, value.wrapping_sub(known as u64)),
            (None, Some(known)) => symbol_for(terms, a, value.wrapping_sub(known as u64)),
            _ => None,
        },
        _ => None,
    }
}
