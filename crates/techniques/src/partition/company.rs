//! What `partition` is together with techniques declared before it.

use crate::{Pair, Together};

pub const COMPANY: &[Pair] = &[Pair {
    with: "lazy",
    together: Together::Useful,
    why: "`partition` is the outer one. What flow shows is needed of every path of a part, so parts are explored plainly; \
          where the inputs cannot be told apart, the one run that fixes none of them is left to `lazy`.",
}];
