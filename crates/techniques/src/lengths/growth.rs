//! Growing texts: words and signs that the program looks for are put together as long as that makes it do something new. Then each place of
//! what grew is stretched: it repeats there as often as a symbol says.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use vm::{EdgeId, Pattern};

use super::texts::{Texts, USUAL};

/// Texts that are run, that are kept, and places of them that are stretched.
const MAX_RUNS: usize = 8000;
/// After so many runs, what grew is lengthened.
const ROUND_RUNS: usize = 1500;
const MAX_KEPT: usize = 64;
const MAX_STRETCHES: usize = 240;
/// Texts that are kept though they do nothing new, since they are the first to do all that they do in one run.
const MAX_JOINED: usize = 24;
/// Most tokens of a text.
const MAX_TOKENS: usize = 16;

/// A text, as tokens.
type Tokens = Vec<u16>;

/// In which order the texts made from those that are kept are run: all of a way before any of the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A token more, at the end, before the last one, or in front.
    More,
    /// Another token instead of one.
    Instead,
    /// A token more at any other place.
    Between,
    /// Two texts that are kept, one behind the other, as two lines or as one.
    Joined,
}

const WAYS: [Way; 4] = [Way::More, Way::Instead, Way::Between, Way::Joined];

struct Kept {
    text: Tokens,
    edges: BTreeSet<EdgeId>,
}

pub struct Growth {
    tokens: Vec<Vec<u8>>,
    /// For each way, the last ones first.
    open: [Vec<Tokens>; WAYS.len()],
    running: Option<(Way, Tokens)>,
    seen: BTreeSet<Tokens>,
    edges: BTreeSet<EdgeId>,
    kept: Vec<Kept>,
    n_joined: usize,
    n_runs: usize,
    /// When the round ends, and how many of what was kept earlier rounds had.
    round_ends: usize,
    n_stretched: usize,
}

impl Growth {
    pub fn new(texts: &Texts) -> Growth {
        let mut open = [const { Vec::new() }; WAYS.len()];
        open[0] = vec![vec![0], vec![]];
        let tokens = texts.tokens.clone();
        Growth {
            tokens,
            open,
            running: None,
            seen: BTreeSet::new(),
            edges: BTreeSet::new(),
            kept: Vec::new(),
            n_joined: 0,
            n_runs: 0,
            round_ends: ROUND_RUNS,
            n_stretched: 0,
        }
    }

    /// The next text to run in this round.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        if self.n_runs == self.round_ends.min(MAX_RUNS) || self.kept.len() == MAX_KEPT {
            return None;
        }
        let (way, next) = WAYS.iter().zip(&mut self.open).find_map(|(way, open)| Some((*way, open.pop()?)))?;
        self.n_runs += 1;
        let bytes = self.bytes(&next);
        self.running = Some((way, next));
        Some(bytes)
    }

    /// What the round grew, and another round begins.
    pub fn next_round(&mut self) -> VecDeque<Rc<Pattern>> {
        let grown = self.stretches(self.n_stretched);
        self.n_stretched = self.kept.len();
        self.round_ends = self.n_runs + ROUND_RUNS;
        grown
    }

    /// Whether there is nothing more to run.
    pub fn is_over(&self) -> bool {
        self.n_runs == MAX_RUNS || self.kept.len() == MAX_KEPT || self.open.iter().all(Vec::is_empty)
    }

    /// Which edges that took: if one of them is new, it is gone on with first.
    pub fn judge(&mut self, edges: &[EdgeId]) {
        let Some((way, text)) = self.running.take() else { return };
        let n_known = self.edges.len();
        self.edges.extend(edges);
        let edges: BTreeSet<EdgeId> = edges.iter().copied().collect();
        if self.edges.len() == n_known {
            let is_first = || self.kept.iter().all(|kept| !edges.is_subset(&kept.edges));
            if way != Way::Joined || self.n_joined == MAX_JOINED || !is_first() {
                return;
            }
            self.n_joined += 1;
        }
        for (idx, way) in WAYS.iter().enumerate() {
            let mut made = self.made(*way, &text);
            made.retain(|made| made.len() <= MAX_TOKENS && self.seen.insert(made.clone()));
            self.open[idx].extend(made.into_iter().rev());
        }
        self.kept.push(Kept { text, edges });
    }

    /// What is made from a text that is kept, the likeliest first.
    fn made(&self, way: Way, text: &Tokens) -> Vec<Tokens> {
        let all = 0..self.tokens.len() as u16;
        let ends = BTreeSet::from([text.len(), text.len().saturating_sub(1), 0]);
        let inserted = |places: Vec<usize>| {
            let made = places.into_iter().flat_map(|place| {
                all.clone().map(move |token| {
                    let mut made = text.clone();
                    made.insert(place, token);
                    made
                })
            });
            made.collect()
        };
        match way {
            Way::More => inserted(ends.into_iter().rev().collect()),
            Way::Instead => {
                let made = (0..text.len()).flat_map(|place| {
                    all.clone().map(move |token| {
                        let mut made = text.clone();
                        made[place] = token;
                        made
                    })
                });
                made.collect()
            }
            Way::Joined => self.kept.iter().rev().flat_map(|kept| self.joined(&kept.text, text)).collect(),
            Way::Between => inserted((1..text.len().saturating_sub(1)).collect()),
        }
    }

    fn joined(&self, one: &Tokens, other: &Tokens) -> Vec<Tokens> {
        if one.is_empty() || other.is_empty() {
            return Vec::new();
        }
        let line = self.tokens.iter().position(|token| token == b"\n").map(|idx| idx as u16);
        let between = |front: &Tokens, back: &Tokens| {
            let is_line = front.last().copied() == line;
            let by = line.filter(|_| !is_line);
            front.iter().chain(by.as_ref()).chain(back).copied().collect::<Tokens>()
        };
        vec![between(one, other), between(other, one), [&one[..], &other[..]].concat(), [&other[..], &one[..]].concat()]
    }

    fn bytes(&self, text: &[u16]) -> Vec<u8> {
        text.iter().flat_map(|token| self.tokens[usize::from(*token)].iter().copied()).collect()
    }

    /// What grew after the first ones, stretched in each place: those that grew last first.
    pub fn stretches(&self, first: usize) -> VecDeque<Rc<Pattern>> {
        let mut seen = BTreeSet::new();
        let (mut usual, mut others) = (VecDeque::new(), VecDeque::new());
        for Kept { text, .. } in self.kept[first..].iter().rev() {
            for place in 0..=text.len() {
                let (before, after) = (self.bytes(&text[..place]), self.bytes(&text[place..]));
                // What belongs to a word often stands behind a blank.
                let is_word = before.len() > 1 && before.last().is_some_and(u8::is_ascii_alphanumeric);
                let blank = is_word.then(|| [&before[..], b" "].concat());
                for before in blank.into_iter().chain([before]) {
                    let pattern = (before, vec![USUAL], after.clone());
                    if pattern.0.last() != Some(&USUAL) && seen.insert(pattern.clone()) {
                        usual.push_back(pattern);
                    }
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
