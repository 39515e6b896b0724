//! What a user can choose about solving.

use crate::layers::Layer;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Which SMT solver to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtSolver {
    Z3,
    Cvc5,
    /// None: what the layers before cannot answer stays unknown.
    Absent,
}

impl SmtSolver {
    pub fn named(name: &str) -> Option<SmtSolver> {
        match name {
            "z3" => Some(SmtSolver::Z3),
            "cvc5" => Some(SmtSolver::Cvc5),
            "none" => Some(SmtSolver::Absent),
            _ => None,
        }
    }
}

/// Whether every answer is asked again from the bare SMT solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checking {
    Off,
    On,
}

/// Which questions are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    All,
    /// Those that only a layer that searches could answer.
    Hard,
}

#[derive(Clone, Debug)]
pub struct Config {
    /// Layers left out. Without `Smt` and `Blaster` nothing hard is answered.
    pub off: Vec<Layer>,
    /// Whether only the constraints that share symbols with the question are looked at.
    pub independence: Independence,
    pub smt: SmtSolver,
    /// For one question, over all layers.
    pub timeout: Duration,
    /// The same when it is asked again.
    pub timeout_again: Duration,
    /// Conflicts the bit-blaster may meet on one question while an SMT solver stands behind it.
    pub conflict_budget: u64,
    pub checking: Checking,
    /// Where to write questions down, and which.
    pub record: Option<PathBuf>,
    pub recording: Recording,
    /// Set from outside to leave the question that is being asked unanswered, and all later hard ones.
    pub stop: Arc<AtomicBool>,
}

/// The splitting into independent groups, which is no layer but a view of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Independence {
    On,
    Off,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            off: Vec::new(),
            independence: Independence::On,
            smt: SmtSolver::Z3,
            timeout: Duration::from_secs(10),
            timeout_again: Duration::from_secs(100),
            conflict_budget: 20_000,
            checking: Checking::Off,
            record: None,
            recording: Recording::All,
            stop: Arc::default(),
        }
    }
}

impl Config {
    #[inline]
    pub fn is_on(&self, layer: Layer) -> bool {
        !self.off.contains(&layer)
    }
}
