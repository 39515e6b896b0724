//! What `lassos` is together with techniques declared before it.

use crate::{Pair, Together};

pub const COMPANY: &[Pair] = &[
    Pair {
        with: "lazy",
        together: Together::Refused,
        why: "a hang behind a call that was skipped need not be one of the program.",
    },
    Pair {
        with: "partition",
        together: Together::Refused,
        why: "cycles are walked aside, where nobody sees which inputs flow together in them.",
    },
    Pair {
        with: "rwset",
        together: Together::Refused,
        why: "what a hang would go on reading for ever is not among what `rwset` compares.",
    },
    Pair {
        with: "shapes",
        together: Together::Useful,
        why: "A list that `shapes` closes to a ring is a cycle like any other. Pointers that are still open are left to `shapes`: \
              a cycle that follows one is not decided before it is settled.",
    },
];
