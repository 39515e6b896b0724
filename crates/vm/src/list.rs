//! A list that copies share until they change, a few elements at a time.

use std::ops::{Index, IndexMut};

use term::Chunks;

/// Elements are added and removed at its end. A fork that changes one copies a few, not all: states are many, and most
/// differ from their neighbours in an object or two.
#[derive(Clone)]
pub struct List<T> {
    chunks: Chunks<Option<T>>,
    len: u32,
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List { chunks: Chunks::default(), len: 0 }
    }
}

impl<T: Clone> List<T> {
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn get(&self, idx: usize) -> Option<&T> {
        self.chunks.get(idx)?.as_ref()
    }

    pub fn push(&mut self, element: T) {
        *self.chunks.get_mut(self.len()) = Some(element);
        self.len += 1;
    }

    /// Puts another element in the place of one, which is returned.
    pub fn replace(&mut self, idx: usize, element: T) -> T {
        std::mem::replace(&mut self[idx], element)
    }

    /// Lets go of all elements from that one on.
    pub fn truncate(&mut self, len: usize) {
        (len..self.len()).for_each(|idx| *self.chunks.get_mut(idx) = None);
        self.len = self.len.min(len as u32);
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len()).map(|idx| &self[idx])
    }

    /// How many elements come before the first of which `is_before` does not hold; it must not hold for any after that.
    #[inline]
    pub fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(&self[middle]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

impl<T: Clone> Index<usize> for List<T> {
    type Output = T;

    #[inline]
    fn index(&self, idx: usize) -> &T {
        self.get(idx).expect("an element of the list")
    }
}

impl<T: Clone> IndexMut<usize> for List<T> {
    #[inline]
    fn index_mut(&mut self, idx: usize) -> &mut T {
        self.chunks.get_mut(idx).as_mut().expect("an element of the list")
    }
}

impl<T: Clone> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> List<T> {
        let mut list = List::default();
        elements.into_iter().for_each(|element| list.push(element));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_it_had() {
        let mut list: List<u32> = (0..100).collect();
        let before = list.clone();
        list[40] = 7;
        list.truncate(50);
        list.push(9);
        assert_eq!(before.iter().copied().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        assert_eq!((list.len(), list[40], list[50], list.get(51)), (51, 7, 9, None));
        assert_eq!(list.iter().rev().take(2).copied().collect::<Vec<_>>(), [9, 49]);
    }

    #[test]
    fn what_was_let_go_of_is_gone() {
        let element = std::rc::Rc::new(1);
        let mut list: List<_> = (0..20).map(|_| element.clone()).collect();
        list.truncate(3);
        assert_eq!(std::rc::Rc::strong_count(&element), 4);
        assert_eq!(list.partition_point(|_| true), 3);
        assert_eq!(list.partition_point(|_| false), 0);
    }
}
