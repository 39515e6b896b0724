//! What `shapes` is together with techniques declared before it.

use crate::{Pair, Together};

pub const COMPANY: &[Pair] = &[
    Pair {
        with: "lazy",
        together: Together::Refused,
        why: "a skipped call may have changed the heap that is still being made.",
    },
    Pair { with: "partition", together: Together::Refused, why: "both decide what an input looks like." },
    Pair {
        with: "rwset",
        together: Together::Refused,
        why: "which pointers are settled is not part of what it compares.",
    },
];
