//! Read sets: the bytes that continuations read before they write them.

use vm::{ObjectId, Ranges, Region, Touched};

/// By object, as numbered where the set is kept. An object on the heap may be there without bytes: then only its size
/// and whether it is alive were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Ascending.
    by_object: Vec<(ObjectId, Ranges)>,
}

impl Reads {
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Ranges)> {
        self.by_object.iter().map(|(object, ranges)| (*object, ranges))
    }

    pub fn get(&self, object: ObjectId) -> Option<&Ranges> {
        self.find(object).ok().map(|idx| &self.by_object[idx].1)
    }

    fn find(&self, object: ObjectId) -> Result<usize, usize> {
        match self.by_object.last() {
            Some((last, _)) if *last >= object => self.by_object.binary_search_by_key(&object, |(object, _)| *object),
            _ => Err(self.by_object.len()),
        }
    }

    /// Adds bytes of an object; tells whether that made a difference.
    pub fn add(&mut self, object: ObjectId, ranges: &Ranges) -> bool {
        match self.find(object) {
            Ok(idx) => self.by_object[idx].1.extend(ranges),
            Err(_) if ranges.is_empty() && object.region != Region::Heap => false,
            Err(idx) => {
                self.by_object.insert(idx, (object, ranges.clone()));
                true
            }
        }
    }

    pub fn extend(&mut self, other: &Reads) -> bool {
        other.iter().fold(false, |changed, (object, ranges)| self.add(object, ranges) | changed)
    }

    /// Adds what a stretch reads and what is read behind it, minus what the stretch writes first.
    pub fn absorb(&mut self, touched: &[Touched], behind: &Reads) -> bool {
        let mut changed = false;
        for (object, ranges) in behind.iter() {
            changed |= match stretch_on(touched, object) {
                None => self.add(object, ranges),
                Some(touched) if touched.is_new => false,
                Some(touched) if touched.writes.is_empty() => self.add(object, ranges),
                Some(touched) => self.add(object, &ranges.without(&touched.writes)),
            };
        }
        changed | self.add_reads_of(touched)
    }

    /// The same, where what is read behind is not needed any more.
    pub fn absorb_all(&mut self, touched: &[Touched], mut behind: Reads) {
        if !self.by_object.is_empty() {
            self.absorb(touched, &behind);
            return;
        }
        behind.by_object.retain_mut(|(object, ranges)| match stretch_on(touched, *object) {
            None => true,
            Some(touched) if touched.is_new => false,
            Some(touched) if touched.writes.is_empty() => true,
            Some(touched) => {
                *ranges = ranges.without(&touched.writes);
                !ranges.is_empty() || object.region == Region::Heap
            }
        });
        *self = behind;
        self.add_reads_of(touched);
    }

    fn add_reads_of(&mut self, touched: &[Touched]) -> bool {
        let mut changed = false;
        for touched in touched.iter().filter(|touched| !touched.is_new || !touched.reads.is_empty()) {
            changed |= self.add(touched.object, &touched.reads);
        }
        changed
    }

    /// Leaves one byte out. A read set without it is wrong: tests must notice.
    pub fn drop_a_byte(&mut self) {
        if let Some(ranges) = self.by_object.iter_mut().map(|(_, ranges)| ranges).find(|ranges| !ranges.is_empty()) {
            ranges.drop_first();
        }
    }
}

fn stretch_on(touched: &[Touched], object: ObjectId) -> Option<&Touched> {
    touched.binary_search_by_key(&object, |touched| touched.object).ok().map(|idx| &touched[idx])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(region: Region, idx: u32) -> ObjectId {
        ObjectId { region, idx }
    }

    fn touched(object: ObjectId, reads: Ranges, writes: Ranges) -> Touched {
        Touched { object, reads, writes, is_new: false }
    }

    #[test]
    fn what_a_stretch_overwrites_is_not_read_before_it() {
        let global = object(Region::Global, 3);
        let mut behind = Reads::default();
        behind.add(global, &Ranges::of(0, 8));
        let mut reads = Reads::default();
        reads.absorb(&[touched(global, Ranges::of(20, 21), Ranges::of(2, 4))], &behind);
        let ranges = reads.get(global).expect("read");
        assert!(
            ranges.contains(0)
                && !ranges.contains(2)
                && !ranges.contains(3)
                && ranges.contains(7)
                && ranges.contains(20)
        );
    }

    #[test]
    fn an_object_is_unknown_before_its_allocation() {
        let heap = object(Region::Heap, 0);
        let mut behind = Reads::default();
        behind.add(heap, &Ranges::of(0, 8));
        let mut reads = Reads::default();
        let stretch = Touched { is_new: true, ..touched(heap, Ranges::default(), Ranges::of(0, 4)) };
        assert!(!reads.absorb(&[stretch], &behind));
        assert_eq!(reads, Reads::default());
    }
}
