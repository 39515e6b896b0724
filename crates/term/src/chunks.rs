//! A sequence that copies share until they change, a chunk at a time.

use std::rc::Rc;

/// Elements, or branches, that are copied and shared together. Every pending state has its own copies of a few chunks in each
/// of its sequences: wide ones make it large.
const CHUNK: usize = 8;
/// Bits of an index that one level of the tree decides.
const CHUNK_BITS: u32 = 3;

/// What has no element yet is `T::default()`. Cloning shares everything; changing an element of a shared sequence copies
/// its neighbours and the branches above them: paths that read a hundred thousand inputs differ from those they forked
/// from in a few.
#[derive(Clone, Debug)]
pub struct Chunks<T> {
    root: Option<Rc<Node<T>>>,
    /// Levels of branches above the elements.
    height: u32,
}

/// Branches only above elements: where nothing was changed there is nothing.
#[derive(Clone, Debug)]
enum Node<T> {
    Elements([T; CHUNK]),
    Branches([Option<Rc<Node<T>>>; CHUNK]),
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { root: None, height: 0 }
    }
}

/// Which branch leads to an element.
#[inline]
fn branch(index: usize, level: u32) -> usize {
    index >> (level * CHUNK_BITS) & (CHUNK - 1)
}

impl<T: Clone + Default> Chunks<T> {
    /// `None` where nothing near was ever changed.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >> (self.height * CHUNK_BITS) >= CHUNK {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut level = self.height;
        loop {
            match node {
                Node::Elements(elements) => return Some(&elements[branch(index, 0)]),
                Node::Branches(branches) => node = branches[branch(index, level)].as_deref()?,
            }
            level -= 1;
        }
    }

    /// The element, for changing it; the copies made earlier keep theirs.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut T {
        while index >> (self.height * CHUNK_BITS) >= CHUNK {
            let mut branches: [Option<Rc<Node<T>>>; CHUNK] = Default::default();
            branches[0] = self.root.take();
            self.root = branches[0].is_some().then(|| Rc::new(Node::Branches(branches)));
            self.height += 1;
        }
        let mut level = self.height;
        let mut place = &mut self.root;
        loop {
            let node = Rc::make_mut(place.get_or_insert_with(|| Rc::new(Node::empty(level))));
            match node {
                Node::Elements(elements) => return &mut elements[branch(index, 0)],
                Node::Branches(branches) => place = &mut branches[branch(index, level)],
            }
            level -= 1;
        }
    }

    /// Elements with their indices, in order; those that were never near a changed one are left out.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let mut open: Vec<(usize, u32, &Node<T>)> = Vec::new();
        open.extend(self.root.as_deref().map(|root| (0, self.height, root)));
        let mut elements: Option<(usize, &[T; CHUNK])> = None;
        let mut next = 0;
        std::iter::from_fn(move || {
            loop {
                if let Some((start, elements)) = elements
                    && next < CHUNK
                {
                    next += 1;
                    return Some((start + next - 1, &elements[next - 1]));
                }
                match open.pop()? {
                    (start, _, Node::Elements(found)) => (elements, next) = (Some((start, found)), 0),
                    (start, level, Node::Branches(branches)) => {
                        let below = branches.iter().enumerate().rev();
                        open.extend(below.filter_map(|(idx, node)| {
                            Some((start + (idx << (level * CHUNK_BITS)), level - 1, node.as_deref()?))
                        }));
                    }
                }
            }
        })
    }

    /// Whether the two are one shared sequence, not only equal.
    #[inline]
    pub fn same(&self, other: &Chunks<T>) -> bool {
        match (&self.root, &other.root) {
            (Some(one), Some(two)) => Rc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        }
    }
}

impl<T: Default> Node<T> {
    fn empty(level: u32) -> Node<T> {
        match level {
            0 => Node::Elements(std::array::from_fn(|_| T::default())),
            _ => Node::Branches(Default::default()),
        }
    }
}

impl<T: Clone + Default> FromIterator<T> for Chunks<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Chunks<T> {
        let mut chunks = Chunks::default();
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
        assert_eq!((one.get(40), two.get(48)), (None, None));
        assert!(!one.same(&two));
    }

    #[test]
    fn what_lies_between_is_default() {
        let mut chunks = Chunks::<u32>::default();
        *chunks.get_mut(70_000) = 5;
        *chunks.get_mut(3) = 1;
        let changed: Vec<_> = chunks.iter().filter(|(_, element)| **element != 0).collect();
        assert_eq!(changed, [(3, &1), (70_000, &5)]);
        assert_eq!(chunks.get(20), None);
    }

    /// Against a plain list, at every height: copies made on the way keep what they had.
    #[test]
    fn long_sequences_keep_every_element() {
        let mut chunks = Chunks::<u64>::default();
        let mut plain = vec![0; 10_000];
        let mut copies = Vec::new();
        let mut index = 1;
        for round in 1..3_000u64 {
            *chunks.get_mut(index) = round;
            plain[index] = round;
            if round % 1_000 == 0 {
                copies.push((chunks.clone(), plain.clone()));
            }
            index = (index * 7 + 13) % plain.len().min(round as usize * 20);
        }
        copies.push((chunks, plain));
        for (chunks, plain) in copies {
            for (index, element) in plain.iter().enumerate() {
                assert_eq!(chunks.get(index).copied().unwrap_or(0), *element);
            }
            assert!(chunks.iter().all(|(index, element)| plain.get(index).is_none_or(|other| other == element)));
        }
    }
}
