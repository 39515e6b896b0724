//! The tree of what has been explored, for techniques that want to know when everything below a point is over.
//!
//! A node is a point some path was asked about. The path then belongs to the node, and so does every path that forks
//! from it before it comes to its next point, which is a child. A node is over when no path belongs to it any more and
//! all its children are over. What was cut anywhere below makes it incomplete for ever.

/// A point on some path. Numbers are used again after a node is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Whether everything below a node was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subtree {
    Whole,
    /// Something was cut, not supported, or given up precision on.
    Cut,
}

struct Node {
    parent: Option<NodeId>,
    /// Paths that belong to it, and children that are not over.
    n_open: u32,
    subtree: Subtree,
}

#[derive(Default)]
pub struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
}

impl Tree {
    /// A path at the beginning of the program.
    pub fn root(&mut self) -> NodeId {
        self.add(None)
    }

    /// A path comes from one point to its next: it now belongs to the child.
    pub fn grow(&mut self, from: NodeId) -> NodeId {
        self.add(Some(from))
    }

    fn add(&mut self, parent: Option<NodeId>) -> NodeId {
        let node = Node { parent, n_open: 1, subtree: Subtree::Whole };
        match self.free.pop() {
            Some(id) => {
                self.nodes[id.0 as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                NodeId(self.nodes.len() as u32 - 1)
            }
        }
    }

    /// One more path belongs to the node.
    pub fn fork(&mut self, node: NodeId) {
        self.nodes[node.0 as usize].n_open += 1;
    }

    pub fn spoil(&mut self, node: NodeId) {
        self.nodes[node.0 as usize].subtree = Subtree::Cut;
    }

    /// A path that belongs to the node ended; returns the nodes that are over with it, children first.
    pub fn leave(&mut self, node: NodeId) -> Vec<(NodeId, Subtree)> {
        let mut over = Vec::new();
        let mut next = Some(node);
        while let Some(id) = next {
            let node = &mut self.nodes[id.0 as usize];
            node.n_open -= 1;
            if node.n_open > 0 {
                break;
            }
            let (parent, subtree) = (node.parent, node.subtree);
            over.push((id, subtree));
            self.free.push(id);
            if let (Some(parent), Subtree::Cut) = (parent, subtree) {
                self.spoil(parent);
            }
            next = parent;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_over_after_all_that_forked_from_it() {
        let mut tree = Tree::default();
        let root = tree.root();
        tree.fork(root);
        let child = tree.grow(root);
        assert_eq!(tree.leave(child), [(child, Subtree::Whole)]);
        let other = tree.grow(root);
        tree.fork(other);
        assert!(tree.leave(other).is_empty());
        assert_eq!(tree.leave(other), [(other, Subtree::Whole), (root, Subtree::Whole)]);
    }

    #[test]
    fn a_cut_path_spoils_all_above_it() {
        let mut tree = Tree::default();
        let root = tree.root();
        tree.fork(root);
        let (left, right) = (tree.grow(root), tree.grow(root));
        tree.spoil(left);
        assert_eq!(tree.leave(left), [(left, Subtree::Cut)]);
        assert_eq!(tree.leave(right), [(right, Subtree::Whole), (root, Subtree::Cut)]);
    }
}
