//! What the stack answers, and why it sometimes does not.

use term::Assignment;

/// The answer to "can these conditions hold together?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An input under which they hold, confirmed with the evaluator.
    Sat(Assignment),
    Unsat,
    Unknown(Why),
}

impl Answer {
    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }
}

/// Why a question stayed open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The time limit of one question ran out.
    Timeout,
    /// The conflict budget ran out and no SMT solver was there to go on.
    Budget,
    /// Too large to be translated into gates, and no SMT solver was there.
    TooLarge,
    /// There are float operations in it that have no circuit.
    Floats,
    /// The SMT solver itself said "unknown".
    SolverSaid,
    /// The SMT solver's process died, and died again after a restart, or could not be started.
    SolverDied,
    /// A model did not satisfy the question when evaluated: a fault of ours, counted and never passed on.
    WrongModel,
    /// In check mode: the bare solver answers differently. A fault of ours.
    Disagreement,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Why::Timeout => "the solver's time limit ran out",
            Why::Budget => "the conflict budget ran out",
            Why::TooLarge => "the question is too large for the bit-blaster",
            Why::Floats => "the question has float operations that no solver was told",
            Why::SolverSaid => "the SMT solver answered unknown",
            Why::SolverDied => "the SMT solver's process died",
            Why::WrongModel => "internal error: a model failed its check",
            Why::Disagreement => "internal error: the stack and the bare solver disagree",
        })
    }
}

/// What a condition can be under a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    Always,
    Never,
    /// Both; the input makes it what it is not under the current one.
    Sometimes(Assignment),
    Unknown(Why),
}

/// Whether an enumeration of values found them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    Exhaustive,
    /// There is at least one more than the limit.
    More,
    Unknown(Why),
}
