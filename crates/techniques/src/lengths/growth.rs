//! Growing texts: words and signs that the program looks for are put together as long as that makes it do something new. Then each place of
//! what grew is stretched: it repeats there as often as a symbol says.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use vm::{EdgeId, Pattern};

use super::texts::{Texts, USUAL};

/// Texts that are run, that are kept, and places of them that are stretched.
const MAX_RUNS: usize = 3000;
const MAX_KEPT: usize = 48;
const MAX_STRETCHES: usize = 240;
/// Most tokens of a text.
const MAX_TOKENS: usize = 16;

/// A text, as tokens.
type Tokens = Vec<u16>;

pub struct Growth {
    tokens: Vec<Vec<u8>>,
    open: VecDeque<Tokens>,
    running: Option<Tokens>,
    seen: BTreeSet<Tokens>,
    edges: BTreeSet<EdgeId>,
    kept: Vec<Tokens>,
    n_runs: usize,
}

impl Growth {
    pub fn new(texts: &Texts) -> Growth {
        let open = [vec![], vec![0]].into();
        let tokens = texts.tokens.clone();
        Growth {
            tokens,
            open,
            running: None,
            seen: BTreeSet::new(),
            edges: BTreeSet::new(),
            kept: Vec::new(),
            n_runs: 0,
        }
    }

    /// The next text to run.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        if self.n_runs == MAX_RUNS || self.kept.len() == MAX_KEPT {
            return None;
        }
        let next = self.open.pop_front()?;
        self.n_runs += 1;
        let bytes = self.bytes(&next);
        self.running = Some(next);
        Some(bytes)
    }

    /// Which edges that took: if one of them is new, it is gone on with first.
    pub fn judge(&mut self, edges: &[EdgeId]) {
        let Some(text) = self.running.take() else { return };
        let n_known = self.edges.len();
        self.edges.extend(edges);
        if self.edges.len() == n_known {
            return;
        }
        let mut longer = Vec::new();
        if text.len() < MAX_TOKENS {
            // At its end, then before its last token, then in front.
            let places = BTreeSet::from([text.len(), text.len().saturating_sub(1), 0]);
            for place in places.into_iter().rev() {
                for token in 0..self.tokens.len() as u16 {
                    let mut other = text.clone();
                    other.insert(place, token);
                    longer.push(other);
                }
            }
        }
        longer.retain(|text| self.seen.insert(text.clone()));
        longer.into_iter().rev().for_each(|text| self.open.push_front(text));
        self.kept.push(text);
    }

    fn bytes(&self, text: &[u16]) -> Vec<u8> {
        text.iter().flat_map(|token| self.tokens[usize::from(*token)].iter().copied()).collect()
    }

    /// What grew, stretched in each place: those that grew last first.
    pub fn stretches(&self) -> VecDeque<Rc<Pattern>> {
        let mut seen = BTreeSet::new();
        let (mut usual, mut others) = (VecDeque::new(), VecDeque::new());
        for text in self.kept.iter().rev() {
            for place in 0..=text.len() {
                let pattern = (self.bytes(&text[..place]), vec![USUAL], self.bytes(&text[place..]));
                if pattern.0.last() != Some(&USUAL) && seen.insert(pattern.clone()) {
                    usual.push_back(pattern);
                }
                let Some(token) = text.get(place).map(|token| &self.tokens[usize::from(*token)]) else { continue };
                let pattern = (self.bytes(&text[..place]), token.clone(), self.bytes(&text[place + 1..]));
                if token.len() <= 2 && *token != [USUAL] && !pattern.0.ends_with(token) && seen.insert(pattern.clone())
                {
                    others.push_back(pattern);
                }
            }
        }
        let all = usual.into_iter().chain(others).take(MAX_STRETCHES);
        let pattern = |(before, repeat, after): (Vec<u8>, Vec<u8>, Vec<u8>)| {
            Rc::new(Pattern { before: before.into(), repeat: repeat.into(), after: after.into() })
        };
        all.map(pattern).collect()
    }
}
