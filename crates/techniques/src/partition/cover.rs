//! A family of sets of inputs of which none lies inside another: the parts.

use std::rc::Rc;

use rustc_hash::FxHashMap;

/// A unit is what is never told apart: one scalar input, or one part of a partition given by hand.
pub type Unit = u32;

/// Ascending, without repeats.
pub type Set = Rc<[Unit]>;

pub fn set_of(mut units: Vec<Unit>) -> Set {
    units.sort_unstable();
    units.dedup();
    units.into()
}

pub fn union(a: &[Unit], b: &[Unit]) -> Set {
    set_of(a.iter().chain(b).copied().collect())
}

pub fn is_subset(small: &[Unit], large: &[Unit]) -> bool {
    small.len() <= large.len() && small.iter().all(|unit| large.binary_search(unit).is_ok())
}

pub fn meet(a: &[Unit], b: &[Unit]) -> bool {
    a.iter().any(|unit| b.binary_search(unit).is_ok())
}

/// Sets in the order they came; those inside others are gone.
#[derive(Default)]
pub struct Cover {
    sets: Vec<Option<Set>>,
    /// Which sets hold a unit; may name sets that are gone.
    holders: FxHashMap<Unit, Vec<usize>>,
}

impl Cover {
    /// Whether some set holds all of `units`.
    pub fn covers(&self, units: &[Unit]) -> bool {
        let holders = |unit: &Unit| self.holders.get(unit).map_or(&[][..], Vec::as_slice);
        let Some(rarest) = units.iter().min_by_key(|unit| holders(unit).len()) else { return true };
        holders(rarest).iter().filter_map(|idx| self.sets[*idx].as_ref()).any(|set| is_subset(units, set))
    }

    /// Adds a set unless another holds it, and takes away those inside it. Whether it was added.
    pub fn add(&mut self, set: Set) -> bool {
        if self.covers(&set) {
            return false;
        }
        for unit in set.iter() {
            for idx in self.holders.entry(*unit).or_default().iter() {
                if self.sets[*idx].as_ref().is_some_and(|other| is_subset(other, &set)) {
                    self.sets[*idx] = None;
                }
            }
        }
        let idx = self.sets.len();
        for unit in set.iter() {
            let sets = &self.sets;
            let holders = self.holders.entry(*unit).or_default();
            holders.retain(|idx| sets[*idx].is_some());
            holders.push(idx);
        }
        self.sets.push(Some(set));
        true
    }

    pub fn sets(&self) -> impl Iterator<Item = &Set> {
        self.sets.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_largest_stay() {
        let mut cover = Cover::default();
        assert!(cover.add(set_of(vec![1])));
        assert!(cover.add(set_of(vec![3, 2])));
        assert!(!cover.add(set_of(vec![2])));
        assert!(cover.add(set_of(vec![1, 2])));
        assert!(cover.add(set_of(vec![1, 3])));
        let sets: Vec<&[Unit]> = cover.sets().map(|set| &**set).collect();
        assert_eq!(sets, [&[2, 3][..], &[1, 2], &[1, 3]]);
        assert!(cover.covers(&[]) && cover.covers(&[3]) && !cover.covers(&[1, 2, 3]));
    }
}
