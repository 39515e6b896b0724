//! Bases: what inputs are fixed to while others are explored, and what a path that stops early says about them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use explore::{InputRequest, Path};
use rustc_hash::{FxHashMap, FxHasher};
use witness::{Ending, Witness};

use super::cover::Set;
use super::units::ScalarKey;

/// How much of the program a path leaves out, from nothing to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Nothing,
    /// It left a function at a guard.
    Guarded,
    /// The program ended, though with other inputs it would have gone on.
    Ended,
}

/// Where a path stopped short of what other inputs may reach, and which inputs made it.
#[derive(Clone)]
pub struct Loss {
    pub severity: Severity,
    pub site: u64,
    pub units: Set,
}

impl Loss {
    pub fn of_path(path: &Path, ending: &Ending) -> Option<Loss> {
        let ended = path.ended.as_ref()?;
        if !matches!(ending, Ending::Returned { .. }) && !ended.by.is_empty() {
            return Some(Loss { severity: Severity::Ended, site: ended.at, units: ended.by.clone() });
        }
        let (guard, units) = ended.left_guard.as_ref()?;
        Some(Loss { severity: Severity::Guarded, site: *guard, units: units.clone() })
    }
}

/// What all inputs are fixed to, those of the running part aside.
pub struct Base {
    /// 0 for the random one; no two others of a campaign have the same.
    pub id: u64,
    /// Where that is not the random choice; the last number counts repeats of an input on a path.
    values: FxHashMap<(ScalarKey, u32), u64>,
    /// How the path it was made from ended.
    pub promise: Severity,
    /// Known once it has been run.
    pub severity: Option<Severity>,
}

impl Base {
    pub fn random() -> Base {
        Base { id: 0, values: FxHashMap::default(), promise: Severity::Ended, severity: None }
    }

    /// This base, changed to what a path's input says.
    pub fn changed_by(&self, path: &Path, witness: &Witness, id: u64, promise: Severity) -> Base {
        let mut values = self.values.clone();
        values.extend(values_of(path, witness));
        Base { id, values, promise, severity: None }
    }

    /// What a scalar is fixed to.
    pub fn value(&self, seed: u64, request: &InputRequest, idx: usize, repeat: u32) -> u64 {
        let key = (ScalarKey::new(request, idx), repeat);
        if let Some(value) = self.values.get(&key) {
            return *value;
        }
        let mut hasher = FxHasher::default();
        (seed, &key.0, repeat).hash(&mut hasher);
        let random = scramble(hasher.finish());
        let shape = request.scalars[idx];
        match request.range {
            Some((low, high)) if low < high => {
                low.wrapping_add((random % high.abs_diff(low)) as i64) as u64 & mask(shape.n_bytes)
            }
            _ if shape.is_bool => random & 1,
            _ => random & mask(shape.n_bytes),
        }
    }
}

/// What the path's input says about each scalar.
fn values_of(path: &Path, witness: &Witness) -> Vec<((ScalarKey, u32), u64)> {
    let mut repeats: FxHashMap<(u64, Arc<str>), u32> = FxHashMap::default();
    let mut values = Vec::new();
    for (record, input) in path.state.inputs.iter().zip(&witness.inputs) {
        let repeat = repeats.entry((record.origin, record.name.clone())).or_default();
        for (idx, scalar) in record.scalars.iter().enumerate() {
            let bytes = input.bytes.get(scalar.offset as usize..scalar.offset as usize + scalar.n_bytes as usize);
            let value = bytes.unwrap_or_default().iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let key = ScalarKey { origin: record.origin, input: record.name.clone(), idx: idx as u32 };
            values.push(((key, *repeat), value));
        }
        *repeat += 1;
    }
    values
}

fn mask(n_bytes: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(n_bytes.clamp(1, 8)))
}

fn scramble(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
