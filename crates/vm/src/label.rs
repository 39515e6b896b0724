//! Labels: interned sets of inputs that influenced a value.

use rustc_hash::FxHashMap;

/// An interned set; 0 is the empty one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label(pub u32);

impl Label {
    pub const EMPTY: Label = Label(0);

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The table behind labels. Sets are sorted lists of input numbers.
pub struct Labels {
    sets: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, Label>,
    unions: FxHashMap<(Label, Label), Label>,
}

impl Default for Labels {
    fn default() -> Self {
        let empty: Box<[u32]> = Box::new([]);
        let ids = FxHashMap::from_iter([(empty.clone(), Label::EMPTY)]);
        Labels { sets: vec![empty], ids, unions: FxHashMap::default() }
    }
}

impl Labels {
    pub fn singleton(&mut self, input: u32) -> Label {
        self.intern(Box::new([input]))
    }

    pub fn members(&self, label: Label) -> &[u32] {
        &self.sets[label.0 as usize]
    }

    #[inline]
    pub fn union(&mut self, a: Label, b: Label) -> Label {
        if a == b || b.is_empty() {
            return a;
        }
        if a.is_empty() {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(label) = self.unions.get(&key) {
            return *label;
        }
        let mut members: Vec<u32> = self.members(a).iter().chain(self.members(b)).copied().collect();
        members.sort_unstable();
        members.dedup();
        let label = self.intern(members.into());
        self.unions.insert(key, label);
        label
    }

    fn intern(&mut self, members: Box<[u32]>) -> Label {
        if let Some(label) = self.ids.get(&members) {
            return *label;
        }
        let label = Label(u32::try_from(self.sets.len()).expect("fewer than 2^32 labels"));
        self.sets.push(members.clone());
        self.ids.insert(members, label);
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_sets() {
        let mut labels = Labels::default();
        let (a, b, c) = (labels.singleton(3), labels.singleton(1), labels.singleton(7));
        let ab = labels.union(a, b);
        let abc = labels.union(ab, c);
        assert_eq!(labels.members(abc), &[1, 3, 7]);
        let ca = labels.union(c, a);
        assert_eq!(labels.union(ca, b), abc);
        assert_eq!(labels.union(ab, a), ab);
        assert_eq!(labels.union(Label::EMPTY, a), a);
    }
}
