//! A sequence that copies share until they change, a chunk at a time.

use std::rc::Rc;

/// Elements that are copied and shared together.
const CHUNK: usize = 16;

/// What has no element yet is `T::default()`. Cloning shares everything; changing an element of a shared sequence copies
/// its neighbours and one pointer for each other chunk: paths that read thousands of inputs differ from those they forked
/// from in a few.
#[derive(Clone, Debug, Default)]
pub struct Chunks<T> {
    chunks: Rc<Vec<Rc<[T; CHUNK]>>>,
}

impl<T: Clone + Default> Chunks<T> {
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK).map(|chunk| &chunk[index % CHUNK])
    }

    /// The element, for changing it; the copies made earlier keep theirs.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut T {
        let chunks = Rc::make_mut(&mut self.chunks);
        while chunks.len() <= index / CHUNK {
            chunks.push(Rc::new(std::array::from_fn(|_| T::default())));
        }
        &mut Rc::make_mut(&mut chunks[index / CHUNK])[index % CHUNK]
    }

    /// All elements, and those after them up to the end of the last chunk.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Whether the two are one shared sequence, not only equal.
    #[inline]
    pub fn same(&self, other: &Chunks<T>) -> bool {
        Rc::ptr_eq(&self.chunks, &other.chunks)
    }
}

impl<T: Clone + Default> FromIterator<T> for Chunks<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Chunks<T> {
        let mut chunks = Chunks { chunks: Rc::default() };
        for (index, element) in elements.into_iter().enumerate() {
            *chunks.get_mut(index) = element;
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_in_one_copy_only() {
        let mut one: Chunks<u64> = (0..40).collect();
        let two = one.clone();
        assert!(one.same(&two));
        *one.get_mut(17) = 99;
        assert_eq!((one.get(17), two.get(17)), (Some(&99), Some(&17)));
        assert_eq!((one.get(39), two.get(39)), (Some(&39), Some(&39)));
        assert_eq!((one.get(47), one.get(48)), (Some(&0), None));
        assert!(!one.same(&two));
    }

    #[test]
    fn what_lies_between_is_default() {
        let mut chunks = Chunks::<u32>::default();
        *chunks.get_mut(33) = 5;
        assert_eq!(chunks.iter().filter(|element| **element != 0).count(), 1);
        assert_eq!(chunks.get(20), Some(&0));
    }
}
