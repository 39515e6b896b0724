//! What `lengths` is together with techniques declared before it.

use crate::{Pair, Together};

pub const COMPANY: &[Pair] = &[
    Pair { with: "lazy", together: Together::Refused, why: "a skipped call may have changed how long a string is." },
    Pair { with: "partition", together: Together::Refused, why: "both decide what an input looks like." },
    Pair {
        with: "rwset",
        together: Together::Refused,
        why: "memory whose bounds are terms is not among what it compares.",
    },
    Pair { with: "shapes", together: Together::Refused, why: "both decide what a pointer to characters points to." },
    Pair {
        with: "lassos",
        together: Together::Refused,
        why: "memory whose bounds are terms is not among what its proofs speak about.",
    },
    Pair { with: "grammar", together: Together::Refused, why: "both decide how long a text is." },
];
