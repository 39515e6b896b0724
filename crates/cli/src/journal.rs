//! What `replay`, `export`, `why` and `resume` need to know about how a campaign was started, and how far it is.

use std::path::PathBuf;

use database::Database;
use replay::BuildPlan;
use serde::{Deserialize, Serialize};

use crate::outcome::Failure;

/// How far a campaign is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Still so when nothing runs: it was killed.
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
    /// Relative names in `args` and `build` start here.
    pub cwd: PathBuf,
    /// The command line after `colt`.
    pub args: Vec<String>,
    pub build: BuildPlan,
    pub harness: Option<SavedHarness>,
}

impl Journal {
    pub fn write(&self, database: &Database) -> Result<(), Failure> {
        // Plain data with string keys: serialising cannot fail.
        database.set("options", &serde_json::to_string(self).unwrap_or_default())?;
        database.set("colt", env!("CARGO_PKG_VERSION"))?;
        Ok(())
    }

    pub fn read(database: &Database) -> Result<Journal, Failure> {
        let text = database.get("options")?.unwrap_or_default();
        serde_json::from_str(&text).map_err(|error| {
            Failure::usage(format!("the database says nothing of how the campaign was started: {error}"))
        })
    }
}

impl Phase {
    pub fn write(self, database: &Database) -> Result<(), Failure> {
        let name = match self {
            Phase::Running => "running",
            Phase::Ended => "ended",
        };
        Ok(database.set("phase", name)?)
    }

    pub fn read(database: &Database) -> Result<Phase, Failure> {
        Ok(match database.get("phase")?.as_deref() {
            Some("ended") => Phase::Ended,
            _ => Phase::Running,
        })
    }
}
