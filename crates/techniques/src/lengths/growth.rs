//! Growing texts: words and signs that the program looks for are put together as long as that makes it do something new. Then each place of
//! what grew is lengthened, so that it does not fit into one of the program's buffers, and at last stretched: it repeats there as often as a
//! symbol says. Many texts in the order of their promise, as a fuzzer does it, but without chance: the same program has the same texts.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use vm::{EdgeId, Pattern};

use super::texts::{Texts, USUAL};

/// Texts that are run, that are kept, and places of them that are stretched.
const MAX_RUNS: usize = 8000;
const MAX_KEPT: usize = 64;
const MAX_STRETCHES: usize = 240;
/// After so many runs, what grew is lengthened.
const ROUND_RUNS: usize = 1500;
/// Texts that are kept though they do nothing new, since they are the first to do all that they do in one run.
const MAX_JOINED: usize = 12;
/// Most tokens of a text.
const MAX_TOKENS: usize = 16;

/// A text, as tokens.
type Tokens = Vec<u16>;

/// How texts are made from those that are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A token more, at the end, before the last one, or in front. These are run first, the others in turn.
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
    from: Way,
    text: Tokens,
    edges: BTreeSet<EdgeId>,
}

/// A text that is to be kept, without what it does not need: long ones do not go together well.
struct Shortening {
    kept: Kept,
    /// What it is kept for.
    wanted: BTreeSet<EdgeId>,
    /// Tokens from here on are needed.
    place: usize,
}

impl Shortening {
    fn next(&self) -> Tokens {
        let mut text = self.kept.text.clone();
        text.remove(self.place - 1);
        text
    }

    fn judge(&mut self, edges: BTreeSet<EdgeId>) {
        if self.wanted.is_subset(&edges) {
            self.kept = Kept { text: self.next(), edges, ..self.kept };
        }
        self.place -= 1;
    }
}

pub struct Growth {
    tokens: Vec<Vec<u8>>,
    /// For each way, the last of them first.
    open: [Vec<Tokens>; WAYS.len()],
    running: Option<(Way, Tokens)>,
    shortening: Option<Shortening>,
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
            shortening: None,
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
        self.n_runs += 1;
        if let Some(shortening) = &self.shortening {
            return Some(self.bytes(&shortening.next()));
        }
        let turn = self.n_runs % 3;
        let order = [Way::More, WAYS[1 + turn], WAYS[1 + (turn + 1) % 3], WAYS[1 + (turn + 2) % 3]];
        let (way, next) = order.into_iter().find_map(|way| Some((way, self.open[way as usize].pop()?)))?;
        let bytes = self.bytes(&next);
        self.running = Some((way, next));
        Some(bytes)
    }

    /// What the round grew, and another round begins.
    pub fn next_round(&mut self) -> VecDeque<Rc<Pattern>> {
        let grown = self.stretched(self.kept[self.n_stretched..].iter().rev().filter(|kept| kept.from != Way::Joined));
        self.n_stretched = self.kept.len();
        self.round_ends = self.n_runs + ROUND_RUNS;
        grown
    }

    /// Whether there is nothing more to run.
    pub fn is_over(&self) -> bool {
        let is_left = self.shortening.is_some() || self.open.iter().any(|open| !open.is_empty());
        self.n_runs == MAX_RUNS || self.kept.len() == MAX_KEPT || !is_left
    }

    /// Which edges that took: if one of them is new, it is gone on with first.
    pub fn judge(&mut self, edges: &[EdgeId]) {
        let edges: BTreeSet<EdgeId> = edges.iter().copied().collect();
        if let Some(shortening) = &mut self.shortening {
            shortening.judge(edges);
        } else if let Some((way, text)) = self.running.take() {
            let mut wanted: BTreeSet<EdgeId> = edges.difference(&self.edges).copied().collect();
            if wanted.is_empty() {
                let is_first = || self.kept.iter().all(|kept| !edges.is_subset(&kept.edges));
                if way != Way::Joined || self.n_joined == MAX_JOINED || !is_first() {
                    return;
                }
                self.n_joined += 1;
                wanted = edges.clone();
            }
            let place = text.len();
            self.shortening = Some(Shortening { kept: Kept { from: way, text, edges }, wanted, place });
        }
        if let Some(Shortening { kept, .. }) = self.shortening.take_if(|shortening| shortening.place == 0) {
            // Two lines may mean something else the other way round, without another edge.
            let turned = (kept.from == Way::Joined).then(|| self.turned(&kept.text)).flatten();
            let turned = turned.map(|text| Kept { text, edges: kept.edges.clone(), ..kept });
            self.keep(kept);
            turned.into_iter().for_each(|kept| self.keep(kept));
        }
    }

    fn keep(&mut self, kept: Kept) {
        self.edges.extend(&kept.edges);
        for way in WAYS {
            // Of two texts, a token more may be missing anywhere.
            let by = match (kept.from, way) {
                (Way::Joined, Way::More | Way::Joined) => continue,
                (Way::Joined, Way::Between) => (0..=kept.text.len()).collect(),
                _ => places(way, kept.text.len()),
            };
            let mut made = self.made(way, &kept.text, by);
            made.retain(|made| made.len() <= MAX_TOKENS && self.seen.insert(made.clone()));
            self.open[way as usize].extend(made.into_iter().rev());
        }
        self.kept.push(kept);
    }

    /// What is made from a text that is kept, at these places, the likeliest first.
    fn made(&self, way: Way, text: &Tokens, places: Vec<usize>) -> Vec<Tokens> {
        if way == Way::Joined {
            return self.grown().flat_map(|kept| self.joined(&kept.text, text)).collect();
        }
        let made = places.into_iter().flat_map(|place| {
            (0..self.tokens.len() as u16).map(move |token| {
                let mut made = text.clone();
                match way {
                    Way::Instead => made[place] = token,
                    _ => made.insert(place, token),
                }
                made
            })
        });
        made.collect()
    }

    /// What is kept for something new, the newest first.
    fn grown(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter().rev().filter(|kept| kept.from != Way::Joined)
    }

    fn line(&self) -> Option<u16> {
        self.tokens.iter().position(|token| token == b"\n").map(|idx| idx as u16)
    }

    /// The first of several lines behind the others.
    fn turned(&self, text: &Tokens) -> Option<Tokens> {
        let line = self.line()?;
        let at = text.iter().position(|token| *token == line)?;
        Some([&text[at + 1..], &[line], &text[..at]].concat())
    }

    fn joined(&self, one: &Tokens, other: &Tokens) -> Vec<Tokens> {
        if one.is_empty() || other.is_empty() {
            return Vec::new();
        }
        let line = self.line();
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

    /// All that grew, stretched in each place: those that grew last first.
    pub fn stretches(&self) -> VecDeque<Rc<Pattern>> {
        self.stretched(self.grown().chain(self.kept.iter().filter(|kept| kept.from == Way::Joined)))
    }

    fn stretched<'a>(&self, grown: impl Iterator<Item = &'a Kept>) -> VecDeque<Rc<Pattern>> {
        let mut seen = BTreeSet::new();
        let (mut usual, mut others) = (VecDeque::new(), VecDeque::new());
        for Kept { text, .. } in grown {
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

/// Where a text of so many tokens is changed.
fn places(way: Way, n_tokens: usize) -> Vec<usize> {
    match way {
        Way::More => BTreeSet::from([n_tokens, n_tokens.saturating_sub(1), 0]).into_iter().rev().collect(),
        Way::Instead => (0..n_tokens).collect(),
        Way::Between => (1..n_tokens.saturating_sub(1)).collect(),
        Way::Joined => Vec::new(),
    }
}
