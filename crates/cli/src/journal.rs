//! `DIR/journal`: what `replay`, `export`, `why` and `resume` need to know about a campaign.
//!
//! Written when exploration starts (state `running`) and again when it ends. A campaign whose journal still says
//! `running` was killed: its tests are whole, but which states were pending is not known.

use std::fs;
use std::path::{Path, PathBuf};

use explore::Trail;
use replay::BuildPlan;
use serde::{Deserialize, Serialize};

use crate::out_dir::write_file;
use crate::outcome::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Running,
    Ended,
}

/// The file that calls an entry other than `main`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedHarness {
    pub text: String,
    /// The source that it includes and that is not compiled by itself.
    pub replaces: Option<PathBuf>,
    /// Flags that make another `main` give way.
    pub defines: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    pub version: u32,
    pub phase: Phase,
    /// Relative names in `args` and `build` start here.
    pub cwd: PathBuf,
    /// The command line after `colt`.
    pub args: Vec<String>,
    pub build: BuildPlan,
    pub harness: Option<SavedHarness>,
    /// Decisions that lead to the states not explored.
    pub pending: PendingTrails,
    /// Paths of the summary that `pending` stands for, counted there as cut.
    pub n_resumable: u64,
    /// Number of the last test.
    pub n_tests: u64,
    /// Numbers of the tests that reached something new.
    pub covering: Vec<u64>,
}

/// Trails, each as what it has in common with the one before it: how many decisions that are, and those after them.
/// Pending states are many and deep, and neighbours differ in their last decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingTrails(Vec<Vec<u64>>);

impl PendingTrails {
    pub fn new(trails: &[Trail]) -> PendingTrails {
        let mut before: Vec<u64> = Vec::new();
        let mut packed = Vec::with_capacity(trails.len());
        for trail in trails {
            let decisions: Vec<u64> = trail.iter().collect();
            let n_common = before.iter().zip(&decisions).take_while(|(a, b)| a == b).count();
            packed.push(std::iter::once(n_common as u64).chain(decisions[n_common..].iter().copied()).collect());
            before = decisions;
        }
        PendingTrails(packed)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn trails(&self) -> Vec<Trail> {
        let mut decisions: Vec<u64> = Vec::new();
        let unpack = |packed: &Vec<u64>| {
            let (n_common, rest) = packed.split_first().map_or((0, &[][..]), |(first, rest)| (*first as usize, rest));
            decisions.truncate(n_common);
            decisions.extend(rest);
            decisions.iter().copied().collect()
        };
        self.0.iter().map(unpack).collect()
    }
}

const VERSION: u32 = 2;
const NAME: &str = "journal";

impl Journal {
    pub fn start(cwd: PathBuf, args: Vec<String>, build: BuildPlan, harness: Option<SavedHarness>) -> Journal {
        Journal {
            version: VERSION,
            phase: Phase::Running,
            cwd,
            args,
            build,
            harness,
            pending: PendingTrails::default(),
            n_resumable: 0,
            n_tests: 0,
            covering: Vec::new(),
        }
    }

    pub fn write(&self, dir: &Path) -> Result<(), Failure> {
        // Plain data with string keys: serialising cannot fail.
        write_file(dir, NAME, &serde_json::to_vec(self).unwrap_or_default())
    }

    pub fn read(dir: &Path) -> Result<Journal, Failure> {
        let path = dir.join(NAME);
        let bytes = fs::read(&path).map_err(|error| {
            Failure::usage(format!(
                "{} is not the output folder of a campaign: cannot read {}: {error}",
                dir.display(),
                path.display()
            ))
        })?;
        let journal: Journal = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::usage(format!("{} is damaged: {error}", path.display())))?;
        if journal.version != VERSION {
            return Err(Failure::usage(format!(
                "{} was written by another version of Colt (form {}, this one reads {VERSION}); run the campaign again",
                path.display(),
                journal.version
            )));
        }
        Ok(journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_trails_come_back() {
        let trails: Vec<Trail> =
            [&[0, 1, 1][..], &[0, 1, 0, 7], &[], &[0, 1], &[0, 1]].map(|trail| trail.iter().copied().collect()).into();
        assert_eq!(PendingTrails::new(&trails).trails(), trails);
    }
}
