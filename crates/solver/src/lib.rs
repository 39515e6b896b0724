//! Answers to "can the path and this condition hold together?": a stack of cheap layers before the expensive ones.
//!
//! A [`PathCondition`] keeps a path's constraints and which of them are connected. [`Stack::check`] takes it, the path's
//! current input and a question, and goes down the list in `layers` until one answers:
//!
//! 1. `trivial`: the question is a constant
//! 2. `current`: the current input satisfies it
//! 3. `domains`: one symbol, of which we know the exact set of values (`domain`)
//! 4. `cache`: the same set of constraints, a contradictory subset, or an input that satisfied the question before (`cache`)
//! 5. `recent`: inputs found lately
//! 6. `proposals`: guesses by inverting the question, then evaluated (`invert`)
//! 7. `bounds`: what terms can be at most and at least refutes it (`bounds`)
//! 8. `linear`: equations of sums contradict it (`linear`)
//! 9. `intervals`: between which floats terms lie refutes it (`intervals`)
//! 10. `slice`: the same as the next, for the question and the constraints over its own symbols alone (`slice`)
//! 11. `values`: every input tried, where there are few (`values`)
//! 12. `numerals`: numbers written in digits, of which remainders are known (`numerals`)
//! 13. `meet`: an equation whose sides are about different symbols, each tried alone (`meet`)
//! 14. `parity`: equations of exclusive ors, solved (`parity`)
//! 15. `identity`: sums of bits that are always or never equal (`identity`)
//! 16. `climb`: a search that moves floats towards satisfying the conditions (`climb`)
//! 17. `walk`: local search, where gates would be large (`walk`)
//! 18. `blaster`: gates over our own incremental SAT solver, and CaDiCaL for what that finds hard (`blast`)
//! 19. `smt`: an SMT solver in a process of its own (`smt`)
//!
//! Where trying every input is dear, gates have a short try first. From layer 3 on only the constraints that share symbols
//! with the question are looked at. Every model is evaluated before it is passed on; a model that fails is an `Unknown` and
//! a counter, never an answer. Deliberately absent: states, forking and what an `Unknown` means for a path.

mod answer;
mod blast;
mod bounds;
mod cache;
mod climb;
mod clock;
mod config;
mod counters;
mod current;
mod dice;
mod differences;
mod divisors;
mod domain;
mod enumerate;
mod fixed;
mod float_domain;
mod identity;
mod intervals;
mod invert;
mod layers;
mod limit;
mod linear;
mod meet;
mod numerals;
mod parity;
mod path;
mod patience;
mod possible;
mod query;
mod range;
mod recent;
mod record;
mod refuted;
mod slice;
mod smt;
mod stack;
mod tried;
mod trivial;
mod ulps;
mod values;
mod walk;

pub use answer::{Answer, Completeness, Truth, Why};
pub use config::{Checking, Config, Independence, Recording, SmtSolver};
pub use counters::{Counters, LayerCount};
pub use dice::Dice;
pub use layers::Layer;
pub use path::{PathCondition, Relevant};
pub use patience::Patience;
pub use record::{Recorded, Recorder, Verdict, read_record};
pub use refuted::{Keeping, Refuted};
pub use smt::{Backend, Reply, backend, is_installed, program_as_backend};
pub use stack::Stack;
