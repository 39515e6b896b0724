//! What `rwset` is together with techniques declared before it.

use crate::{Pair, Together};

pub const COMPANY: &[Pair] = &[
    Pair {
        with: "lazy",
        together: Together::NoGain,
        why: "`lazy` drops runs that can show nothing new, so nothing below a call it skips was ever seen whole, and `rwset` has \
              nothing to compare with there. It prunes only where `lazy` finds no call to skip.",
    },
    Pair {
        with: "partition",
        together: Together::Useful,
        why: "Within a part, a path is pruned if it repeats another in the inputs everything depends on as well: then it would \
              have shown the same decisions. Runs of a base, and `--partition-check`, are not pruned.",
    },
];
