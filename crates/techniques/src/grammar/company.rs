//! What `grammar` is together with techniques declared before it.

use crate::{Pair, Together};

pub const COMPANY: &[Pair] = &[
    Pair {
        with: "lazy",
        together: Together::Refused,
        why: "a skipped call may have read on, and nobody would know how far.",
    },
    Pair { with: "partition", together: Together::Refused, why: "both decide what an input looks like." },
    Pair {
        with: "rwset",
        together: Together::Refused,
        why: "how far the text is decided is not part of what it compares.",
    },
    Pair {
        with: "shapes",
        together: Together::Refused,
        why: "nobody has looked at pointers that lead into a text which is still open.",
    },
    Pair {
        with: "lassos",
        together: Together::Refused,
        why: "a round that reads on in an open text is not the same round.",
    },
];
