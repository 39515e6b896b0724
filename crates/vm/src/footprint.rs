//! Footprints: which bytes a stretch of execution read before it wrote them, and which it wrote.
//!
//! Kept by the machine rather than told as events, because it must cost next to nothing: every byte of an object that
//! was touched has two bits in a table beside it, and the fast path sets them eight bytes at a time. An allocation
//! writes all of its object, so what a stretch reads of an object that is younger than the stretch is never part of
//! its reads, even where the object's number was another's before.

use rustc_hash::FxHashMap;

use crate::ObjectId;

/// A set of byte offsets: ascending ranges that do not touch each other, ends exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub fn of(from: u64, to: u64) -> Ranges {
        Ranges(if from < to { vec![(from, to)] } else { Vec::new() })
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn n_bytes(&self) -> u64 {
        self.iter().map(|(from, to)| to - from).sum()
    }

    pub fn contains(&self, offset: u64) -> bool {
        let idx = self.0.partition_point(|(_, to)| *to <= offset);
        self.0.get(idx).is_some_and(|(from, _)| *from <= offset)
    }

    /// Ranges must be added in ascending order.
    fn push(&mut self, from: u64, to: u64) {
        match self.0.last_mut() {
            Some((_, end)) if *end >= from => *end = (*end).max(to),
            _ => self.0.push((from, to)),
        }
    }

    /// Adds `other`; tells whether that made a difference.
    pub fn extend(&mut self, other: &Ranges) -> bool {
        if other.iter().all(|(from, to)| self.covers(from, to)) {
            return false;
        }
        let mut all: Vec<(u64, u64)> = self.iter().chain(other.iter()).collect();
        all.sort_unstable();
        let mut merged = Ranges(Vec::with_capacity(all.len()));
        for (from, to) in all {
            merged.push(from, to);
        }
        *self = merged;
        true
    }

    fn covers(&self, from: u64, to: u64) -> bool {
        let idx = self.0.partition_point(|(_, end)| *end <= from);
        self.0.get(idx).is_some_and(|(start, end)| *start <= from && to <= *end)
    }

    /// What is in `self` and not in `other`.
    pub fn without(&self, other: &Ranges) -> Ranges {
        let mut rest = Ranges::default();
        for (mut from, to) in self.iter() {
            let first = other.0.partition_point(|(_, end)| *end <= from);
            for (start, end) in other.0[first..].iter().copied().take_while(|(start, _)| *start < to) {
                if from < start {
                    rest.push(from, start);
                }
                from = from.max(end);
            }
            if from < to {
                rest.push(from, to);
            }
        }
        rest
    }

    /// Leaves the first byte out; for tests that must notice.
    pub fn drop_first(&mut self) {
        if let Some(first) = self.0.first_mut() {
            first.0 += 1;
            if first.0 == first.1 {
                self.0.remove(0);
            }
        }
    }
}

/// What a stretch did to one object.
#[derive(Clone, Debug)]
pub struct Touched {
    pub object: ObjectId,
    /// Read before the stretch wrote them.
    pub reads: Ranges,
    /// Certainly written.
    pub writes: Ranges,
    /// Whether it was allocated on the way: what was read then belonged to an object that had its number before.
    pub is_new: bool,
}

pub(crate) const READ: u64 = 0x0101_0101_0101_0101;
pub(crate) const WRITTEN: u64 = 0x0202_0202_0202_0202;

/// Collects the footprint of the running stretch.
#[derive(Default)]
pub struct Footprint {
    /// Two bits a byte. Longer than the object by a word, so that words can be used at the end, too; all zero between
    /// stretches.
    tables: FxHashMap<ObjectId, Table>,
    touched: Vec<ObjectId>,
}

#[derive(Default)]
struct Table {
    flags: Vec<u8>,
    is_touched: bool,
    is_new: bool,
}

impl Footprint {
    /// The object's flags; `size` is that of its bytes.
    pub(crate) fn flags(&mut self, object: ObjectId, size: u64) -> &mut [u8] {
        let table = self.tables.entry(object).or_default();
        let n_flags = size as usize + 8;
        if table.flags.len() < n_flags {
            table.flags.resize(n_flags, 0);
        }
        if !table.is_touched {
            table.is_touched = true;
            self.touched.push(object);
        }
        &mut table.flags
    }

    pub(crate) fn read(&mut self, object: ObjectId, size: u64, from: u64, n_bytes: u64) {
        for flag in &mut self.flags(object, size)[from as usize..(from + n_bytes) as usize] {
            *flag |= !(*flag >> 1) & 1;
        }
    }

    pub(crate) fn write(&mut self, object: ObjectId, size: u64, from: u64, n_bytes: u64) {
        for flag in &mut self.flags(object, size)[from as usize..(from + n_bytes) as usize] {
            *flag |= 2;
        }
    }

    /// A new object: whatever its number meant before is over.
    pub(crate) fn allocate(&mut self, object: ObjectId, size: u64) {
        self.flags(object, size).iter_mut().for_each(|flag| *flag |= 2);
        if let Some(table) = self.tables.get_mut(&object) {
            table.is_new = true;
        }
    }

    /// The footprint since it was last taken, in the order of the objects.
    pub fn take(&mut self) -> Vec<Touched> {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        let collect = |object: ObjectId| {
            let table = self.tables.get_mut(&object).expect("a touched object has a table");
            table.is_touched = false;
            let is_new = std::mem::take(&mut table.is_new);
            let reads = runs(&table.flags, 1);
            let writes = runs(&table.flags, 2);
            table.flags.fill(0);
            // A giant's table is not worth keeping.
            if table.flags.len() > 1 << 20 {
                table.flags = Vec::new();
            }
            Touched { object, reads, writes, is_new }
        };
        touched.into_iter().map(collect).collect()
    }
}

fn runs(flags: &[u8], bit: u8) -> Ranges {
    let mut ranges = Ranges::default();
    let mut idx = 0;
    while idx < flags.len() {
        // Eight untouched bytes at a time.
        if idx + 8 <= flags.len() && flags[idx..idx + 8] == [0; 8] {
            idx += 8;
            continue;
        }
        if flags[idx] & bit != 0 {
            ranges.push(idx as u64, idx as u64 + 1);
        }
        idx += 1;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;

    fn object(idx: u32) -> ObjectId {
        ObjectId { region: Region::Heap, idx }
    }

    #[test]
    fn what_is_written_first_is_not_read() {
        let mut footprint = Footprint::default();
        footprint.write(object(0), 16, 4, 4);
        footprint.read(object(0), 16, 2, 4);
        footprint.read(object(1), 3, 0, 1);
        let touched = footprint.take();
        assert_eq!(touched[0].reads, Ranges::of(2, 4));
        assert_eq!(touched[0].writes, Ranges::of(4, 8));
        assert_eq!(touched[1].reads, Ranges::of(0, 1));
        assert!(footprint.take().is_empty());
    }

    #[test]
    fn reads_of_an_objects_predecessor_stay() {
        let mut footprint = Footprint::default();
        footprint.read(object(0), 4, 0, 4);
        footprint.allocate(object(0), 8);
        footprint.read(object(0), 8, 0, 8);
        let touched = footprint.take();
        assert_eq!(touched[0].reads, Ranges::of(0, 4));
        assert!(touched[0].writes.covers(0, 8));
    }

    #[test]
    fn ranges_are_sets() {
        let mut a = Ranges::of(0, 10);
        assert_eq!(a.without(&Ranges::of(3, 5)).0, [(0, 3), (5, 10)]);
        assert!(!a.extend(&Ranges::of(2, 9)));
        assert!(a.extend(&Ranges::of(20, 30)));
        assert_eq!(a.0, [(0, 10), (20, 30)]);
        assert_eq!(a.without(&Ranges(vec![(0, 1), (9, 25)])).0, [(1, 9), (25, 30)]);
        assert!(a.contains(9) && !a.contains(10) && a.contains(29));
    }
}
