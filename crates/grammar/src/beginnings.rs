//! The beginnings of all texts as a tree of token sequences, which grows where it is asked for.
//!
//! With mistakes allowed, a beginning is everything it may be the beginning of: the text itself, and texts of which a token was
//! left out, doubled or replaced. One sequence of tokens is one node, however many ways there are to see it.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::parsing::{Parsing, Place};
use crate::{Grammar, ModeId, Then, TokenId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BeginningId(u32);

impl BeginningId {
    /// Nothing yet.
    pub const EMPTY: BeginningId = BeginningId(0);
}

/// A token that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    pub token: TokenId,
    /// The least size of all that follows, this token included.
    pub least: u32,
    pub by: By,
}

/// Why a token may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    Grammar,
    /// Only because a text may have mistakes.
    Mistake,
}

/// Whether a text may end after a beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    No,
    Yes,
}

/// One way to see a beginning.
#[derive(Clone)]
struct Reading {
    place: Place,
    n_mistakes: u32,
}

struct Node {
    above: BeginningId,
    last: Option<TokenId>,
    /// The mode of the scanner, behind those that it will come back to.
    modes: Rc<[ModeId]>,
    readings: Vec<Reading>,
    known: Option<(Rc<[Next]>, Whole)>,
}

pub struct Beginnings {
    parsing: Parsing,
    max_mistakes: u32,
    nodes: Vec<Node>,
    below: FxHashMap<(BeginningId, TokenId), BeginningId>,
}

impl Beginnings {
    pub fn new(grammar: Arc<Grammar>, max_mistakes: u32) -> Beginnings {
        let parsing = Parsing::new(grammar);
        let readings = vec![Reading { place: parsing.beginning(), n_mistakes: 0 }];
        let nodes = vec![Node {
            above: BeginningId::EMPTY,
            last: None,
            modes: Rc::from([ModeId::FIRST]),
            readings,
            known: None,
        }];
        Beginnings { parsing, max_mistakes, nodes, below: FxHashMap::default() }
    }

    pub fn grammar(&self) -> &Arc<Grammar> {
        self.parsing.grammar()
    }

    pub fn last(&self, beginning: BeginningId) -> Option<TokenId> {
        self.nodes[beginning.0 as usize].last
    }

    /// The beginning without its last token.
    pub fn above(&self, beginning: BeginningId) -> BeginningId {
        self.nodes[beginning.0 as usize].above
    }

    /// All its tokens.
    pub fn tokens(&self, beginning: BeginningId) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        let mut at = &self.nodes[beginning.0 as usize];
        while let Some(last) = at.last {
            tokens.push(last);
            at = &self.nodes[at.above.0 as usize];
        }
        tokens.reverse();
        tokens
    }

    /// What may follow, smallest token first, and whether the text may end here.
    pub fn next(&mut self, beginning: BeginningId) -> (Rc<[Next]>, Whole) {
        if let Some(known) = &self.nodes[beginning.0 as usize].known {
            return known.clone();
        }
        let node = &self.nodes[beginning.0 as usize];
        let mut least: FxHashMap<TokenId, (u32, By)> = FxHashMap::default();
        let mut whole = Whole::No;
        let mut allow = |token: TokenId, size: u32, by: By| {
            let known = least.entry(token).or_insert((size, by));
            *known = (size.min(known.0), by.min(known.1));
        };
        for reading in self.with_tokens_left_out(&node.readings) {
            let Reading { place, n_mistakes } = &*reading;
            let n_left = self.max_mistakes - n_mistakes;
            let next = self.parsing.next(place);
            let by = if *n_mistakes == 0 { By::Grammar } else { By::Mistake };
            // Every token that is left out makes the rest smaller.
            let less = |size: u32, n_left: u32| size.saturating_sub(n_left).max(1);
            next.iter().for_each(|(token, size)| allow(*token, less(*size, n_left), by));
            if self.parsing.is_whole(place) {
                whole = Whole::Yes;
            }
            if n_left == 0 {
                continue;
            }
            let least_left = next.iter().map(|(_, size)| *size).min();
            let to_the_end = if self.parsing.is_whole(place) { Some(0) } else { least_left };
            if let (Some(last), Some(rest)) = (node.last, to_the_end) {
                let last = self.grammar().token(last).known_as;
                allow(last, less(rest + 1, n_left - 1), By::Mistake);
            }
            if let Some(size) = least_left {
                let all = (0..self.parsing.grammar().n_named).map(|token| TokenId(token as u32));
                all.for_each(|token| allow(token, less(size, n_left - 1), By::Mistake));
            }
        }
        let in_mode = |(token, (least, by))| Some(Next { token: self.in_mode(node, token)?, least, by });
        let mut next: Vec<Next> = least.into_iter().filter_map(in_mode).collect();
        next.sort_by_key(|next| next.token);
        let known = (Rc::from(next), whole);
        self.nodes[beginning.0 as usize].known = Some(known.clone());
        known
    }

    /// What a token of the rules is behind a beginning, if the scanner can see it there.
    fn in_mode(&self, node: &Node, token: TokenId) -> Option<TokenId> {
        let token = self.grammar().token_in(token, *node.modes.last()?)?;
        let comes_back = self.grammar().token(token).then == Then::Pops;
        (!comes_back || node.modes.len() > 1).then_some(token)
    }

    /// The beginning with one token more, which must be one of those that may follow.
    pub fn advance(&mut self, beginning: BeginningId, token: TokenId) -> BeginningId {
        if let Some(below) = self.below.get(&(beginning, token)) {
            return *below;
        }
        let node = &self.nodes[beginning.0 as usize];
        let (last, token) = (token, self.grammar().token(token).known_as);
        let is_doubled = node.last.is_some_and(|last| self.grammar().token(last).known_as == token);
        let modes = behind(&node.modes, self.grammar().token(last).then);
        let mut readings = Vec::new();
        for reading in self.with_tokens_left_out(&node.readings) {
            let Reading { place, n_mistakes } = &*reading;
            let mut read = |place: Option<Place>, n_more: u32| {
                readings.extend(place.map(|place| Reading { place, n_mistakes: n_mistakes + n_more }));
            };
            read(self.parsing.advance(place, token), 0);
            if *n_mistakes == self.max_mistakes {
                continue;
            }
            if is_doubled {
                read(Some(place.clone()), 1);
            }
            for (other, _) in self.parsing.next(place).into_iter().filter(|(other, _)| *other != token) {
                read(self.parsing.advance(place, other), 1);
            }
        }
        let id = BeginningId(self.nodes.len() as u32);
        self.nodes.push(Node { above: beginning, last: Some(last), modes, readings, known: None });
        self.below.insert((beginning, last), id);
        id
    }

    /// These, and what they are when tokens that may follow are left out.
    fn with_tokens_left_out<'r>(&self, readings: &'r [Reading]) -> Vec<Cow<'r, Reading>> {
        let mut all: Vec<Cow<Reading>> = readings.iter().map(Cow::Borrowed).collect();
        let mut at = 0;
        while let Some(Reading { place, n_mistakes }) = all.get(at).map(|reading| &**reading) {
            if *n_mistakes < self.max_mistakes {
                let next = self.parsing.next(place).into_iter();
                let left_out = next.filter_map(|(token, _)| self.parsing.advance(place, token));
                let n_mistakes = n_mistakes + 1;
                let more: Vec<_> = left_out.map(|place| Cow::Owned(Reading { place, n_mistakes })).collect();
                all.extend(more);
            }
            at += 1;
        }
        all
    }

    /// How the smallest text of at most this size goes on from here. What a beginning needs is known exactly where the rules say all.
    /// Where a parser refuses some of it or mistakes are allowed, it is searched for.
    pub fn finish(&mut self, beginning: BeginningId, largest: u32) -> Finish {
        let mut n_tries = MAX_TRIES;
        let (next, whole) = self.next(beginning);
        if whole == Whole::Yes {
            return Finish::By(Vec::new());
        }
        let least = next.iter().map(|next| next.least).min().unwrap_or(u32::MAX);
        for size in least..=largest {
            let mut tokens = Vec::new();
            if self.search(beginning, size, &mut tokens, &mut n_tries) {
                return Finish::By(tokens);
            }
            if n_tries == 0 {
                return Finish::Unknown;
            }
        }
        Finish::Never
    }

    fn search(&mut self, at: BeginningId, size: u32, tokens: &mut Vec<TokenId>, n_tries: &mut u32) -> bool {
        let (next, whole) = self.next(at);
        if whole == Whole::Yes {
            return true;
        }
        let mut next: Vec<Next> = next.iter().filter(|next| next.least <= size).copied().collect();
        next.sort_by_key(|next| next.least);
        for Next { token, .. } in next {
            if *n_tries == 0 {
                return false;
            }
            *n_tries -= 1;
            tokens.push(token);
            let below = self.advance(at, token);
            if self.search(below, size - 1, tokens, n_tries) {
                return true;
            }
            tokens.pop();
        }
        false
    }
}

/// The modes behind a token.
fn behind(modes: &Rc<[ModeId]>, then: Then<ModeId>) -> Rc<[ModeId]> {
    let (before, _) = modes.split_at(modes.len() - 1);
    match then {
        Then::Same => Rc::clone(modes),
        Then::Goes(mode) => before.iter().copied().chain([mode]).collect(),
        Then::Pushes(mode) => modes.iter().copied().chain([mode]).collect(),
        // There is one to come back to, or the token could not stand there.
        Then::Pops => Rc::from(if before.is_empty() { modes } else { before }),
    }
}

/// How a text may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    By(Vec<TokenId>),
    /// Not within the size.
    Never,
    /// It takes too long to find out.
    Unknown,
}

/// Tokens that are tried to find out how a text may end.
const MAX_TRIES: u32 = 20_000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Measure, count, read};

    fn grammar(text: &str) -> Arc<Grammar> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("grammar.txt");
        std::fs::write(&file, text).unwrap();
        Arc::new(read::grammar(&read::Files { grammar: vec![file], tokens: None }).unwrap())
    }

    /// Every text of up to `max` tokens, by following the tree.
    fn texts(grammar: &Arc<Grammar>, max: u32, mistakes: u32) -> BTreeSet<Vec<String>> {
        let mut tree = Beginnings::new(Arc::clone(grammar), mistakes);
        let mut found = BTreeSet::new();
        let mut open = vec![(BeginningId::EMPTY, Vec::new())];
        while let Some((at, tokens)) = open.pop() {
            let (next, whole) = tree.next(at);
            if whole == Whole::Yes {
                assert!(found.insert(tokens.clone()), "{tokens:?} twice");
            }
            for step in next.iter().filter(|step| tokens.len() as u32 + step.least <= max) {
                let mut longer = tokens.clone();
                longer.push(grammar.token(step.token).name.clone());
                open.push((tree.advance(at, step.token), longer));
            }
        }
        found
    }

    const SUMS: &str = r#"sum = sum "+" term | term; term = "n" | "(" sum ")" | "-" term;"#;

    #[test]
    fn every_text_is_found_once_and_none_is_begun_in_vain() {
        let grammar = grammar(SUMS);
        let counts = count(&grammar, Measure::Symbols, 9);
        let wanted: u32 = counts.iter().map(|n| u32::try_from(n.clone()).unwrap()).sum();
        assert_eq!(texts(&grammar, 9, 0).len() as u32, wanted);
    }

    #[test]
    fn rules_that_vanish_and_rules_that_name_themselves() {
        let grammar = grammar(r#"list = list | list item | ; item = opt "x" opt | item; opt = "y" | ;"#);
        let of_two: Vec<_> = texts(&grammar, 2, 0).into_iter().collect();
        assert_eq!(of_two.len(), 5, "{of_two:?}");
    }

    /// All sequences that one mistake makes of a text, by making them.
    #[test]
    fn mistakes_are_those_one_can_make() {
        let grammar = grammar(SUMS);
        let names: Vec<String> = grammar.tokens.iter().map(|token| token.name.clone()).collect();
        let max = 4;
        let mut wanted = BTreeSet::new();
        for text in texts(&grammar, max + 1, 0) {
            wanted.insert(text.clone());
            for at in 0..text.len() {
                let mut left_out = text.clone();
                left_out.remove(at);
                wanted.insert(left_out);
                let mut doubled = text.clone();
                doubled.insert(at, text[at].clone());
                wanted.insert(doubled);
                for name in &names {
                    let mut replaced = text.clone();
                    replaced[at] = name.clone();
                    wanted.insert(replaced);
                }
            }
        }
        wanted.retain(|text| text.len() <= max as usize);
        assert_eq!(texts(&grammar, max, 1), wanted);
    }
}
