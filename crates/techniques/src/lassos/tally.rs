//! What came of all looks: figures for the summary, and what people are told in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use witness::Place;

/// Places that are named on the terminal; the summary has them all.
const MAX_NAMED: usize = 8;

/// A line of the source.
type Line = (String, u32);

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub n_candidates: u64,
    pub n_rounds: u64,
    pub n_repeats: u64,
    pub n_recurs: u64,
    /// Rounds with a number that falls.
    pub n_ended: u64,
    pub n_left: u64,
    pub n_outside: u64,
    pub n_floats: u64,
    pub n_unknown: u64,
    pub n_asked: u64,
    pub n_endless: u64,
    pub n_allowed: u64,
    /// Cycles that were shown to end on some path.
    ended: BTreeSet<Line>,
    hanging: BTreeSet<Line>,
    /// Cycles with floating-point numbers.
    floats: BTreeSet<Line>,
    /// Cycles that never end over unbounded integers, and why.
    integers: BTreeMap<Line, String>,
}

fn line(place: &Place) -> Line {
    (place.file.to_string(), place.line)
}

impl Tally {
    pub fn ends(&mut self, place: &Place) {
        self.n_ended += 1;
        self.ended.insert(line(place));
    }

    pub fn hangs(&mut self, place: &Place) {
        self.hanging.insert(line(place));
    }

    pub fn has_floats(&mut self, place: &Place) {
        self.n_floats += 1;
        self.floats.insert(line(place));
    }

    pub fn hangs_over_integers(&mut self, place: &Place, why: String) {
        self.integers.entry(line(place)).or_insert(why);
    }

    /// Takes what another has counted.
    fn add(&mut self, other: Tally) {
        let Tally {
            n_candidates,
            n_rounds,
            n_repeats,
            n_recurs,
            n_ended,
            n_left,
            n_outside,
            n_floats,
            n_unknown,
            n_asked,
            n_endless,
            n_allowed,
            ended,
            hanging,
            floats,
            integers,
        } = other;
        self.n_candidates += n_candidates;
        self.n_rounds += n_rounds;
        self.n_repeats += n_repeats;
        self.n_recurs += n_recurs;
        self.n_ended += n_ended;
        self.n_left += n_left;
        self.n_outside += n_outside;
        self.n_floats += n_floats;
        self.n_unknown += n_unknown;
        self.n_asked += n_asked;
        self.n_endless += n_endless;
        self.n_allowed += n_allowed;
        self.ended.extend(ended);
        self.hanging.extend(hanging);
        self.floats.extend(floats);
        self.integers.extend(integers);
    }

    fn only_ended(&self) -> Vec<String> {
        self.ended.difference(&self.hanging).map(|(file, line)| format!("{file}:{line}")).collect()
    }

    pub fn to_json(&self) -> String {
        let integers = self.integers.iter().map(|((file, line), why)| json!({"file": file, "line": line, "why": why}));
        json!({
            "candidates": self.n_candidates,
            "rounds": self.n_rounds,
            "repeating": self.n_repeats,
            "recurrent": self.n_recurs,
            "ending": self.n_ended,
            "shown_to_end": self.only_ended(),
            "left": self.n_left,
            "outside": self.n_outside,
            "floats": self.n_floats,
            "unknown": self.n_unknown,
            "asked": self.n_asked,
            "endless_by_construction": self.n_endless,
            "allowed": self.n_allowed,
            "integers": integers.collect::<Vec<_>>(),
        })
        .to_string()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let ended = self.only_ended();
        if let Some((named, more)) = ended.split_at_checked(ended.len().min(MAX_NAMED)).filter(|_| !ended.is_empty()) {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            text.push_str(&format!("lassos: shown to end where it was looked: {}{more}\n", named.join(", ")));
        }
        for (file, line) in &self.floats {
            text.push_str(&format!("lassos: {file}:{line}: a cycle with floating-point numbers is not decided\n"));
        }
        for ((file, line), why) in &self.integers {
            text.push_str(&format!("lassos: {file}:{line}: over unbounded integers this never ends: {why}\n"));
        }
        text
    }
}

/// What all workers have counted together.
#[derive(Clone, Default)]
pub struct Total(Arc<Mutex<Sum>>);

#[derive(Default)]
struct Sum {
    tally: Tally,
    /// Workers that have not told theirs yet.
    n_open: usize,
}

impl Total {
    pub fn open(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).n_open += 1;
    }

    /// Adds the tally of one worker: the figures so far, and whether they are all.
    pub fn close(&self, tally: Tally) -> (Tally, Told) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sum.tally.add(tally);
        sum.n_open = sum.n_open.saturating_sub(1);
        (sum.tally.clone(), if sum.n_open == 0 { Told::All } else { Told::Some })
    }
}

/// Whether every worker has told its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    All,
    Some,
}
