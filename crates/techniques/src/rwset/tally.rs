//! What there is to tell in the end.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use witness::Place;

use super::compare::Miss;
use super::visit::PointKey;

#[derive(Default)]
pub struct Tally {
    n_hits: u64,
    points: FxHashSet<PointKey>,
    n_entries: u64,
    n_dropped: u64,
    /// What came closest to a hit where there was none.
    misses: BTreeMap<Miss, u64>,
    n_given_up: u64,
    by_location: BTreeMap<Place, u64>,
}

impl Tally {
    pub fn count_point(&mut self, key: PointKey) {
        self.points.insert(key);
    }

    pub fn count_hit(&mut self, place: Place) {
        self.n_hits += 1;
        *self.by_location.entry(place).or_insert(0) += 1;
    }

    pub fn count_miss(&mut self, miss: Miss) {
        *self.misses.entry(miss).or_insert(0) += 1;
    }

    pub fn count_given_up(&mut self) {
        self.n_given_up += 1;
    }

    /// Adds what a worker counted. Points are named the same by all.
    pub fn merge(&mut self, other: &Tally, n_entries: u64, n_dropped: u64) {
        self.n_hits += other.n_hits;
        self.points.extend(&other.points);
        self.n_entries += n_entries;
        self.n_dropped += n_dropped;
        self.n_given_up += other.n_given_up;
        for (miss, count) in &other.misses {
            *self.misses.entry(*miss).or_insert(0) += count;
        }
        for (place, n_hits) in &other.by_location {
            *self.by_location.entry(place.clone()).or_insert(0) += n_hits;
        }
    }

    pub fn to_json(&self) -> String {
        let of_place = |(place, n_hits): (&Place, &u64)| {
            let (file, function) = (json_text(&place.file), json_text(&place.function));
            format!(r#"{{"file":{file},"line":{},"function":{function},"hits":{n_hits}}}"#, place.line)
        };
        let by_location: Vec<String> = self.by_location.iter().map(of_place).collect();
        let misses: Vec<String> =
            self.misses.iter().map(|(miss, count)| format!(r#""{}":{count}"#, name_of(*miss))).collect();
        format!(
            r#"{{"hits":{},"points":{},"entries":{},"dropped":{},"given_up":{},"misses":{{{}}},"by_location":[{}]}}"#,
            self.n_hits,
            self.points.len(),
            self.n_entries,
            self.n_dropped,
            self.n_given_up,
            misses.join(","),
            by_location.join(",")
        )
    }
}

fn name_of(miss: Miss) -> &'static str {
    match miss {
        Miss::Nothing => "nothing_alike",
        Miss::Registers => "registers",
        Miss::Shape => "shape",
        Miss::Memory => "memory",
        Miss::Values => "values",
        Miss::Unproved => "unproved",
    }
}

fn json_text(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}
