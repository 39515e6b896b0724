//! What a campaign is asked to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::Seed;

/// Which pending state comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Search {
    /// States about to take an edge nobody has taken come first.
    #[default]
    Coverage,
    Dfs,
    Bfs,
    Random,
}

/// Limits; absent means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    pub time: Option<Duration>,
    /// Resident memory above which pending states are put away as prefixes.
    pub memory_mb: Option<u64>,
    pub paths: Option<u64>,
    /// Decisions on one path.
    pub depth: Option<u64>,
    /// Instructions on one path.
    pub steps: Option<u64>,
}

/// From `min` to `max` arguments of up to `len` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymArgs {
    pub min: u32,
    pub max: u32,
    pub len: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    pub stdin_bytes: Option<u32>,
    pub args: Option<SymArgs>,
    /// Arguments given as they are, before the symbolic ones.
    pub concrete_args: Vec<String>,
    /// Symbolic files by name and size.
    pub files: Vec<(String, u32)>,
    /// `NAME=VALUE`.
    pub environment: Vec<String>,
    /// How many calls may fail on one path.
    pub fail_calls: u32,
    /// Real folders the program may read.
    pub readable: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub search: Search,
    pub seed: u64,
    pub checks: vm::Checks,
    pub budgets: Budgets,
    pub solver: solver::Config,
    pub workers: usize,
    /// Translate hot concrete code to native code; the interpreter alone gives the same results.
    pub compile: bool,
    pub world: World,
    /// Set from outside to end the campaign cleanly.
    pub stop: Arc<AtomicBool>,
    /// Decision prefixes to explore; empty for everything.
    pub resume: Vec<crate::Trail>,
    /// Inputs to follow first.
    pub seeds: Vec<Arc<Seed>>,
    /// Keep what the first path to end wrote to standard output.
    pub record_output: bool,
}
