//! The decisions of a path: a list that forks share up to where they part.

use std::rc::Rc;

struct Node {
    decision: u64,
    earlier: Decisions,
}

/// Newest first inside, oldest first outside.
#[derive(Clone, Default)]
pub struct Decisions {
    newest: Option<Rc<Node>>,
    n_decisions: u64,
}

impl Decisions {
    pub fn push(&mut self, decision: u64) {
        let earlier = std::mem::take(self);
        let n_decisions = earlier.n_decisions + 1;
        *self = Decisions { newest: Some(Rc::new(Node { decision, earlier })), n_decisions };
    }

    pub fn len(&self) -> u64 {
        self.n_decisions
    }

    pub fn is_empty(&self) -> bool {
        self.n_decisions == 0
    }

    pub fn to_vec(&self) -> Vec<u64> {
        let mut decisions = Vec::with_capacity(self.n_decisions as usize);
        let mut node = &self.newest;
        while let Some(here) = node {
            decisions.push(here.decision);
            node = &here.earlier.newest;
        }
        decisions.reverse();
        decisions
    }
}

impl Drop for Decisions {
    /// Long lists must not be dropped recursively.
    fn drop(&mut self) {
        let mut node = self.newest.take();
        while let Some(here) = node {
            match Rc::try_unwrap(here) {
                Ok(mut owned) => node = owned.earlier.newest.take(),
                Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_share_and_part() {
        let mut one = Decisions::default();
        one.push(1);
        one.push(0);
        let mut two = one.clone();
        one.push(7);
        two.push(8);
        assert_eq!(one.to_vec(), [1, 0, 7]);
        assert_eq!(two.to_vec(), [1, 0, 8]);
        assert_eq!(two.len(), 3);
    }

    #[test]
    fn a_million_decisions_are_dropped_without_recursion() {
        let mut long = Decisions::default();
        (0..1_000_000).for_each(|decision| long.push(decision));
        drop(long);
    }
}
