//! Strongly connected components of a graph over `0..n` (Tarjan's algorithm, without recursion).

/// The components of the subgraph on `is_member` nodes, each after every component it leads to.
///
/// `succs(node, k)` is the k-th successor. Nodes inside a component come in ascending order.
pub(crate) fn components(
    n_nodes: usize,
    is_member: impl Fn(usize) -> bool,
    succs: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; n_nodes];
    let mut lowest = vec![UNSEEN; n_nodes];
    let mut is_open = vec![false; n_nodes];
    let mut open = Vec::new();
    let mut found = Vec::new();
    let mut n_seen = 0;
    for root in (0..n_nodes).filter(|&node| is_member(node)) {
        if number[root] != UNSEEN {
            continue;
        }
        // Each entry: a node and which of its successors comes next.
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if number[node] == UNSEEN {
                number[node] = n_seen;
                lowest[node] = n_seen;
                n_seen += 1;
                is_open[node] = true;
                open.push(node);
            }
            if let Some(succ) = succs(node, *next) {
                *next += 1;
                if !is_member(succ) {
                    continue;
                }
                if number[succ] == UNSEEN {
                    path.push((succ, 0));
                } else if is_open[succ] {
                    lowest[node] = lowest[node].min(number[succ]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                lowest[*parent] = lowest[*parent].min(lowest[node]);
            }
            if lowest[node] == number[node] {
                let start = open.iter().rposition(|&member| member == node).expect("a root is open");
                let mut component = open.split_off(start);
                for &member in &component {
                    is_open[member] = false;
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}
