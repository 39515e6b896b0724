//! Seeds: inputs somebody has already, whose paths are followed before anything else.
//!
//! A path carries the seeds that take it, and its current input is the first of them. Where it forks, each seed goes with
//! the side it takes, and a side that a seed takes needs no solver to be known as feasible. Paths with seeds go first,
//! so that every seed is followed to its end before what lies around them is explored. A campaign that goes on looks first
//! which of its prefixes seeds take. Nothing else depends on seeds: the same paths are pending with them and without.

use std::rc::Rc;
use std::sync::Arc;

use term::{Assignment, TermId, Terms, View};
use vm::{Effect, InputRecord, InputRequest, TextForm};

use crate::effects::{Decider, Parted};
use crate::{Path, World};

/// One input of a program, by the names it gives its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seed {
    pub inputs: Vec<(String, Vec<u8>)>,
    /// What to answer when the program asks for a number of bytes.
    pub size: Option<u64>,
}

impl Seed {
    /// The choice of arguments that follows it: as many as it has, if that is possible, and long enough.
    pub(crate) fn choice(&self, world: &World) -> Option<u64> {
        let args = self.inputs.iter().filter(|(name, _)| name.starts_with("argv["));
        let sizes: Vec<usize> =
            args.map(|(_, bytes)| bytes.split(|byte| *byte == 0).next().map_or(0, <[u8]>::len)).collect();
        let badness = |choice: &Option<u64>| {
            let lens = world.arg_lens(*choice);
            let n_cut = sizes.iter().zip(&lens).filter(|(size, len)| **size > **len as usize).count();
            (lens.len().abs_diff(sizes.len()), n_cut)
        };
        world.arg_choices().into_iter().min_by_key(badness).flatten()
    }
}

/// A seed on a path: its values for the symbols the path knows.
#[derive(Clone)]
pub(crate) struct Follower {
    seed: Arc<Seed>,
    pub input: Assignment,
}

/// One scalar of an input: its offset, its size and its symbol.
type Piece = (u64, u8, TermId);

impl Follower {
    pub fn new(seed: Arc<Seed>) -> Follower {
        Follower { seed, input: Assignment::new() }
    }

    /// Enters the seed's values for a new input; bytes it does not have are zero.
    fn learn(&mut self, terms: &Terms, name: &str, occurrence: usize, pieces: &[Piece]) {
        let mut namesakes = self.seed.inputs.iter().filter(|(other, _)| other == name);
        let Some((_, bytes)) = namesakes.nth(occurrence) else { return };
        for (offset, n_bytes, term) in pieces {
            let at = |idx: u64| bytes.get((offset + idx) as usize).copied().unwrap_or(0);
            let value = (0..u64::from(*n_bytes)).rev().fold(0, |value, idx| value << 8 | u64::from(at(idx)));
            match terms.view(*term) {
                View::Symbol(symbol) => self.input.set(symbol, value),
                // A `_Bool` is a widened bit.
                View::ZExt(bit) => {
                    if let View::Symbol(symbol) = terms.view(bit) {
                        self.input.set(symbol, u64::from(value != 0));
                    }
                }
                _ => {}
            }
        }
    }

    /// The same for an input that is a text.
    fn learn_text(&mut self, terms: &Terms, record: &InputRecord, occurrence: usize) {
        let mut namesakes = self.seed.inputs.iter().filter(|(other, _)| **other == *record.name);
        let (Some((_, bytes)), Some(tail)) = (namesakes.nth(occurrence), &record.tail) else { return };
        for (symbol, value) in tail.values_for(terms, &record.scalars, bytes) {
            self.input.set(symbol, value);
        }
    }

    pub fn choice(&self, max: u64) -> u64 {
        self.seed.size.unwrap_or(0).min(max)
    }
}

impl Path {
    /// Gives the path its seeds; it is at its beginning, and has standard input and arguments only.
    pub(crate) fn plant(&mut self, terms: &Terms, seeds: impl Iterator<Item = Arc<Seed>>) {
        let mut followers: Vec<Follower> = seeds.map(Follower::new).collect();
        for record in self.state.inputs.iter() {
            let pieces = pieces_of(record);
            for follower in &mut followers {
                match record.tail {
                    Some(_) => follower.learn_text(terms, record, 0),
                    None => follower.learn(terms, &record.name, 0, &pieces),
                }
            }
        }
        self.carry(followers);
    }

    pub(crate) fn carry(&mut self, followers: Vec<Follower>) {
        if let Some(first) = followers.first() {
            self.input = first.input.clone();
        }
        self.seeds = Rc::new(followers);
    }
}

fn pieces_of(record: &InputRecord) -> Vec<Piece> {
    let pieces = record.scalars.iter().filter_map(|scalar| Some((scalar.offset, scalar.n_bytes, scalar.term?)));
    pieces.collect()
}

impl Decider<'_> {
    /// Before an effect is decided: the seeds get to know a new input.
    pub(crate) fn teach_seeds(&mut self, path: &mut Path, effect: &Effect) {
        let Effect::Input(request) = effect else { return };
        let occurrence = path.state.inputs.n_named(&request.name);
        let pieces = self.pieces_to_be(request, occurrence + path.state.n_inputs_unseen as usize);
        let mut followers = path.seeds.to_vec();
        let terms = &self.machine.terms;
        followers.iter_mut().for_each(|follower| follower.learn(terms, &request.name, occurrence, &pieces));
        path.carry(followers);
    }

    /// The same where the input turns out to be a text.
    pub(crate) fn teach_text(&mut self, path: &mut Path, request: &InputRequest, form: &TextForm) {
        if path.seeds.is_empty() {
            return;
        }
        let occurrence = path.state.inputs.n_named(&request.name);
        let number = occurrence + path.state.n_inputs_unseen as usize;
        let record = vm::create_text(&mut self.machine.terms, request, number, form);
        let mut followers = path.seeds.to_vec();
        let terms = &self.machine.terms;
        followers.iter_mut().for_each(|follower| follower.learn_text(terms, &record, occurrence));
        path.carry(followers);
    }

    /// The symbols that the machine is going to make.
    fn pieces_to_be(&mut self, request: &InputRequest, occurrence: usize) -> Vec<Piece> {
        let terms = &mut self.machine.terms;
        let symbol = |(idx, piece): (usize, &vm::ScalarShape)| {
            (piece.offset, piece.n_bytes, vm::input_symbol(terms, request, occurrence, idx, piece))
        };
        request.scalars.iter().enumerate().map(symbol).collect()
    }

    /// After it: each seed stays with the paths whose condition it satisfies. `n_known` constraints are older.
    pub(crate) fn sort_seeds(&mut self, path: &mut Path, n_known: usize) {
        self.sort_path(path, n_known);
        let mut parted = std::mem::take(&mut self.parted);
        for parted in &mut parted {
            match parted {
                Parted::Waits { path, .. } | Parted::Ended { path, .. } => self.sort_path(path, n_known),
                Parted::Doubtful(doubt) => doubt.path.seeds = Rc::default(),
            }
        }
        self.parted = parted;
    }

    fn sort_path(&mut self, path: &mut Path, n_known: usize) {
        let added = path.condition.added_since(n_known);
        let mut followers = path.seeds.to_vec();
        followers
            .retain(|follower| added.iter().all(|cond| self.eval.holds(&self.machine.terms, &follower.input, *cond)));
        path.carry(followers);
    }

    /// A seed of the path that satisfies a condition.
    pub(crate) fn seed_for(&mut self, path: &Path, cond: TermId) -> Option<Assignment> {
        let holds = |follower: &&Follower| self.eval.holds(&self.machine.terms, &follower.input, cond);
        path.seeds.iter().find(holds).map(|follower| follower.input.clone())
    }
}
