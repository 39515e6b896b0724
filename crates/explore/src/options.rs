//! What a campaign is asked to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::{Goal, Seed};

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
    /// Symbolic arguments, one group after the other.
    pub args: Vec<SymArgs>,
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
    /// Whether numbers of `rand` and its relatives are inputs.
    pub rand_input: bool,
    /// What memory nobody wrote is taken for.
    pub uninit: vm::Uninit,
}

impl World {
    /// The ways to choose how many arguments each group has; `None` is the only one where there are no groups.
    pub fn arg_choices(&self) -> Vec<Option<u64>> {
        if self.args.is_empty() {
            return vec![None];
        }
        // Numbered so that with one group the number is that of the arguments.
        let (mut choices, mut factor) = (vec![0u64], 1u64);
        for group in &self.args {
            let max = group.max.max(group.min);
            choices = (group.min..=max)
                .flat_map(|n_args| choices.iter().map(move |choice| choice + factor * u64::from(n_args)))
                .collect();
            factor *= u64::from(max) + 1;
        }
        choices.into_iter().map(Some).collect()
    }

    /// The longest each argument may be.
    pub fn arg_lens(&self, choice: Option<u64>) -> Vec<u32> {
        let mut rest = choice.unwrap_or(0);
        let mut lens = Vec::new();
        for group in &self.args {
            let base = u64::from(group.max.max(group.min)) + 1;
            lens.resize(lens.len() + (rest % base) as usize, group.len);
            rest /= base;
        }
        lens
    }
}

/// Which paths get a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tests {
    #[default]
    All,
    /// Those that take an edge no earlier path took, and the first few of each fault. The others are told without their inputs
    /// and decisions.
    Covering,
}

/// Whether the sink is told from time to time from where the campaign could be gone on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checkpoints {
    /// Nobody asks, or decisions mean nothing outside of the run they were made in.
    #[default]
    Off,
    On,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub tests: Tests,
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
    pub resume: Vec<crate::Decisions>,
    /// Where the search is to come to; without one, everywhere.
    pub goal: Goal,
    /// Inputs to follow first.
    pub seeds: Vec<Arc<Seed>>,
    /// Keep what the first path to end wrote to standard output.
    pub record_output: bool,
    pub checkpoints: Checkpoints,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_group_is_numbered_by_its_arguments() {
        let world = World { args: vec![SymArgs { min: 1, max: 3, len: 5 }], ..World::default() };
        assert_eq!(world.arg_choices(), [Some(1), Some(2), Some(3)]);
        assert_eq!(world.arg_lens(Some(2)), [5, 5]);
        assert_eq!(World::default().arg_choices(), [None]);
        assert!(World::default().arg_lens(None).is_empty());
    }

    #[test]
    fn groups_are_combined_each_with_its_own_length() {
        let groups = vec![SymArgs { min: 0, max: 1, len: 10 }, SymArgs { min: 1, max: 2, len: 2 }];
        let world = World { args: groups, ..World::default() };
        let lens: Vec<Vec<u32>> = world.arg_choices().into_iter().map(|choice| world.arg_lens(choice)).collect();
        assert_eq!(lens, [vec![2], vec![10, 2], vec![2, 2], vec![10, 2, 2]]);
    }
}
