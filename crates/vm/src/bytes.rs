//! The concrete bytes of an object: one run of them, and pages beside it once a fork has written to a large one.
//!
//! Forks share all bytes. The first to write copies a small object whole, and of a large one the page it writes to. As
//! long as nobody else has them the bytes are one run, which is what the fast path wants: a page at a time it would miss
//! often. So a path that comes back to the pages of a large object again and again gets a run of its own after as many
//! accesses as the object has pages, and one whose siblings have all ended puts its pages back into the run it was left.

use std::cell::Cell;
use std::rc::Rc;

use term::Chunks;

/// Bytes that are copied together.
const PAGE: usize = 1024;
/// Objects up to this size are copied whole.
const SMALL: usize = 4096;

type Page = [u8; PAGE];

#[derive(Clone)]
pub struct Bytes {
    /// All of them; where there is a page they are out of date.
    run: Rc<[u8]>,
    pages: Chunks<Option<Rc<Page>>>,
    n_pages: u32,
    /// Accesses that found only a page since there was one run.
    n_missed: Cell<u32>,
}

/// Whether bytes lie elsewhere than before: nobody may go on using where they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    Yes,
    No,
}

impl From<Box<[u8]>> for Bytes {
    fn from(bytes: Box<[u8]>) -> Bytes {
        Bytes::of_run(bytes.into())
    }
}

impl Bytes {
    fn of_run(run: Rc<[u8]>) -> Bytes {
        Bytes { run, pages: Chunks::default(), n_pages: 0, n_missed: Cell::new(0) }
    }

    pub fn zeroed(len: usize) -> Bytes {
        // SAFETY: a byte of zeros is a byte. Memory of the system that is zero already is not touched this way.
        Bytes::of_run(unsafe { Rc::new_zeroed_slice(len).assume_init() })
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.run.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.run.is_empty()
    }

    #[inline]
    fn page(&self, offset: usize) -> Option<&Rc<Page>> {
        if self.n_pages == 0 {
            return None;
        }
        self.pages.get(offset / PAGE)?.as_ref()
    }

    #[inline]
    pub fn get(&self, offset: usize) -> u8 {
        match self.page(offset) {
            None => self.run[offset],
            Some(page) => page[offset % PAGE],
        }
    }

    /// Bytes that lie together around one, and the offset of the first.
    pub fn around(&self, offset: usize) -> (usize, &[u8]) {
        if self.n_pages == 0 {
            return (0, &self.run);
        }
        let start = offset - offset % PAGE;
        let end = (start + PAGE).min(self.run.len());
        match self.page(offset) {
            None => (start, &self.run[start..end]),
            Some(page) => (start, &page[..end - start]),
        }
    }

    /// As [`Bytes::around`] for writing; the byte must be owned.
    pub fn around_mut(&mut self, offset: usize) -> (usize, &mut [u8]) {
        if self.n_pages == 0 {
            return (0, Rc::get_mut(&mut self.run).expect("owned before it is written"));
        }
        let start = offset - offset % PAGE;
        let len = PAGE.min(self.run.len() - start);
        let page = self.pages.get_mut(offset / PAGE).as_mut().and_then(Rc::get_mut);
        (start, &mut page.expect("owned before it is written")[..len])
    }

    /// Makes bytes nobody else's, so that they can be written.
    pub fn own(&mut self, from: usize, to: usize) -> Moved {
        if from == to {
            return Moved::No;
        }
        let is_alone = Rc::get_mut(&mut self.run).is_some();
        match (is_alone, self.n_pages) {
            (true, 0) => return Moved::No,
            (false, 0) if self.run.len() <= SMALL => {
                self.run = Rc::from(&*self.run);
                return Moved::Yes;
            }
            (true, _) => {
                self.put_back();
                return Moved::Yes;
            }
            (false, _) => {}
        }
        if (to - from) * 2 > self.run.len() {
            self.join();
            return Moved::Yes;
        }
        let mut moved = Moved::No;
        for idx in from / PAGE..to.div_ceil(PAGE) {
            let page = self.pages.get_mut(idx);
            match page {
                Some(page) if Rc::strong_count(page) == 1 => continue,
                Some(page) => *page = Rc::new(**page),
                None => {
                    let start = idx * PAGE;
                    let end = (start + PAGE).min(self.run.len());
                    let mut copy = [0; PAGE];
                    copy[..end - start].copy_from_slice(&self.run[start..end]);
                    *page = Some(Rc::new(copy));
                    self.n_pages += 1;
                }
            }
            moved = Moved::Yes;
        }
        moved
    }

    /// Notes an access that found only a page; whether [`Bytes::join`] is worth it by now.
    pub fn miss(&self) -> bool {
        if self.n_pages == 0 {
            return false;
        }
        self.n_missed.set(self.n_missed.get() + 1);
        self.n_missed.get() as usize * PAGE >= self.run.len()
    }

    /// One run of all bytes, nobody else's.
    pub fn join(&mut self) {
        self.run = Rc::from(&*self.run);
        self.put_back();
    }

    fn put_back(&mut self) {
        let run = Rc::get_mut(&mut self.run).expect("nobody else's");
        for (idx, page) in self.pages.iter() {
            if let Some(page) = page {
                let start = idx * PAGE;
                let end = (start + PAGE).min(run.len());
                run[start..end].copy_from_slice(&page[..end - start]);
            }
        }
        self.pages = Chunks::default();
        self.n_pages = 0;
        self.n_missed.set(0);
    }

    #[inline]
    pub fn set(&mut self, offset: usize, byte: u8) {
        self.own(offset, offset + 1);
        let (start, bytes) = self.around_mut(offset);
        bytes[offset - start] = byte;
    }

    pub fn fill(&mut self, from: usize, to: usize, byte: u8) {
        self.change(from, to, |bytes, _| bytes.fill(byte));
    }

    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.change(at, at + bytes.len(), |place, start| place.copy_from_slice(&bytes[start - at..][..place.len()]));
    }

    /// Changes the bytes of a range, those that lie together at a time.
    fn change(&mut self, from: usize, to: usize, mut change: impl FnMut(&mut [u8], usize)) {
        self.own(from, to);
        let mut at = from;
        while at < to {
            let (start, bytes) = self.around_mut(at);
            let end = to.min(start + bytes.len());
            change(&mut bytes[at - start..end - start], at);
            at = end;
        }
    }

    pub fn read(&self, at: usize, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let (start, bytes) = self.around(at + done);
            let from = at + done - start;
            let n = (bytes.len() - from).min(into.len() - done);
            into[done..done + n].copy_from_slice(&bytes[from..from + n]);
            done += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Fork,
        Drop(usize),
        Set(usize, usize, u8),
        Fill(usize, usize, usize, u8),
        Join(usize),
    }

    fn step(len: usize) -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::Fork),
            (0..8usize).prop_map(Step::Drop),
            (0..8usize, 0..len, any::<u8>()).prop_map(|(who, at, byte)| Step::Set(who, at, byte)),
            (0..8usize, 0..len, 0..len, any::<u8>()).prop_map(|(who, a, b, byte)| Step::Fill(who, a, b, byte)),
            (0..8usize).prop_map(Step::Join),
        ]
    }

    proptest! {
        /// Whatever forks do, each has the bytes that a copy of its own would have.
        #[test]
        fn forks_are_copies(steps in (1usize..20_000).prop_flat_map(|len| (Just(len), prop::collection::vec(step(len), 0..60)))) {
            let (len, steps) = steps;
            let mut forks = vec![(Bytes::zeroed(len), vec![0u8; len])];
            for step in steps {
                let n_forks = forks.len();
                match step {
                    Step::Fork => forks.push(forks[n_forks - 1].clone()),
                    Step::Drop(who) if n_forks > 1 => _ = forks.remove(who % n_forks),
                    Step::Drop(_) => {}
                    Step::Set(who, at, byte) => {
                        let (bytes, copy) = &mut forks[who % n_forks];
                        bytes.set(at, byte);
                        copy[at] = byte;
                    }
                    Step::Fill(who, a, b, byte) => {
                        let (bytes, copy) = &mut forks[who % n_forks];
                        let (from, to) = (a.min(b), a.max(b));
                        if byte % 2 == 0 {
                            bytes.fill(from, to, byte);
                        } else {
                            bytes.write(from, &vec![byte; to - from]);
                        }
                        copy[from..to].fill(byte);
                    }
                    Step::Join(who) => forks[who % n_forks].0.join(),
                }
            }
            for (bytes, copy) in &forks {
                let mut read = vec![0; len];
                bytes.read(0, &mut read);
                prop_assert_eq!(&read, copy);
                prop_assert!((0..len).all(|at| bytes.get(at) == copy[at]));
            }
        }
    }

    #[test]
    fn a_fork_that_writes_copies_one_page() {
        let mut one = Bytes::zeroed(1 << 20);
        assert_eq!(one.own(5, 9), Moved::No);
        let two = one.clone();
        assert_eq!(one.own(5, 9), Moved::Yes);
        assert_eq!((one.own(5, 9), one.n_pages), (Moved::No, 1));
        one.set(7, 3);
        assert_eq!((one.get(7), two.get(7)), (3, 0));
        drop(two);
        assert_eq!(one.own(5, 9), Moved::Yes);
        assert_eq!((one.n_pages, one.around(0).1.len(), one.get(7)), (0, 1 << 20, 3));
    }

    #[test]
    fn one_that_is_used_much_becomes_a_run_again() {
        let mut one = Bytes::zeroed(64 * PAGE);
        let _two = one.clone();
        one.set(0, 1);
        let n_misses = (0..1000).position(|_| one.miss());
        assert_eq!(n_misses, Some(63));
    }
}
