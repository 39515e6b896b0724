//! How the user spelled the files that tools report by their full paths.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::plan::BuildPlan;

/// The harness of an entry other than `main`, as findings in it name it.
pub const HARNESS: &str = "colt_harness.c";

/// The user's own sources under the names the user gave them.
pub struct SourceNames {
    base_dir: PathBuf,
    spelled: HashMap<PathBuf, String>,
    /// Where our own generated files lie: never the user's.
    own_dir: PathBuf,
}

impl SourceNames {
    pub fn new(plan: &BuildPlan, own_dir: &Path) -> SourceNames {
        let base_dir = if plan.base_dir.as_os_str().is_empty() { Path::new(".") } else { &plan.base_dir };
        let base_dir = canonical(base_dir);
        let spelled = plan
            .sources
            .iter()
            .map(|source| (canonical(&base_dir.join(source)), source.display().to_string()))
            .collect();
        SourceNames { base_dir, spelled, own_dir: canonical(own_dir) }
    }

    /// As [`SourceNames::spell`], for places of faults: they may be in the harness.
    pub fn spell_place(&self, reported: &str) -> Option<String> {
        let is_harness = || canonical(Path::new(reported)) == self.own_dir.join(HARNESS);
        self.spell(reported).or_else(|| is_harness().then(|| HARNESS.to_string()))
    }

    /// The user's spelling: as given for a source, relative to the base folder for a header below it. None for files
    /// that are not the user's: ours and the system's.
    pub fn spell(&self, reported: &str) -> Option<String> {
        if reported.is_empty() || reported.starts_with("??") {
            return None;
        }
        let path = canonical(&self.base_dir.join(reported));
        if let Some(name) = self.spelled.get(&path) {
            return Some(name.clone());
        }
        if path.starts_with(&self.own_dir) || path.starts_with("/usr") {
            return None;
        }
        Some(path.strip_prefix(&self.base_dir).unwrap_or(&path).display().to_string())
    }
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
