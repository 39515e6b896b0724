//! Reads an output folder back.

use std::fs;
use std::path::{Path, PathBuf};

use replay::TestCase;
use report::{Case, CoverageView, Expected, Summary};

use crate::journal::Journal;
use crate::outcome::Failure;

/// A test of a campaign.
pub struct SavedTest {
    /// `000012`.
    pub id: String,
    pub case: TestCase,
}

impl SavedTest {
    pub fn read(path: &Path) -> Result<SavedTest, Failure> {
        let case = replay::read_test(path).map_err(|error| Failure::usage(error.to_string()))?;
        let id = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        Ok(SavedTest { id, case })
    }

    pub fn to_case(&self) -> Case {
        let expected = match &self.case.expected {
            replay::Expected::Returned { status } | replay::Expected::Exited { status } => Expected::Status(*status),
            replay::Expected::Bug(bug) => Expected::Bug {
                kind: bug.kind.name().to_string(),
                file: bug.file.clone(),
                line: bug.line,
                message: String::new(),
            },
            replay::Expected::Assumed => Expected::Assumed,
            replay::Expected::Open => Expected::Open(self.case.ending.clone()),
        };
        Case { id: self.id.clone(), inputs: self.case.inputs.clone(), expected, path: self.case.path.clone() }
    }
}

/// An output folder, opened. The working folder becomes the campaign's, so that relative names mean what they meant.
pub struct Folder {
    /// Absolute.
    pub dir: PathBuf,
    /// As the user spelled it.
    pub shown: String,
    pub journal: Journal,
}

impl Folder {
    pub fn open(dir: &Path) -> Result<Folder, Failure> {
        let absolute =
            fs::canonicalize(dir).map_err(|error| Failure::usage(format!("cannot open {}: {error}", dir.display())))?;
        if !absolute.is_dir() {
            return Err(Failure::usage(format!("{} is not a folder", dir.display())));
        }
        let journal = Journal::read(&absolute)?;
        std::env::set_current_dir(&journal.cwd).map_err(|error| {
            Failure::usage(format!(
                "the campaign ran in {}, which cannot be entered any more: {error}",
                journal.cwd.display()
            ))
        })?;
        Ok(Folder { dir: absolute, shown: dir.display().to_string(), journal })
    }

    pub fn summary(&self) -> Result<Summary, Failure> {
        let path = self.dir.join("summary.json");
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::usage(format!(
                "cannot read {}: {error}; if the run was killed, `colt resume {}` brings it to an end",
                path.display(),
                self.shown
            ))
        })?;
        Summary::from_json(&text).map_err(|error| Failure::usage(format!("{} is damaged: {error}", path.display())))
    }

    /// Empty where nothing was measured.
    pub fn coverage(&self) -> Result<CoverageView, Failure> {
        let path = self.dir.join("coverage.json");
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| Failure::usage(format!("{} is damaged: {error}", path.display()))),
            Err(_) => Ok(CoverageView::default()),
        }
    }

    /// Files of the tests, in order.
    pub fn test_files(&self) -> Result<Vec<PathBuf>, Failure> {
        test_files(&self.dir)
    }

    pub fn tests(&self) -> Result<Vec<SavedTest>, Failure> {
        self.test_files()?.iter().map(|path| SavedTest::read(path)).collect()
    }

    pub fn cases(&self) -> Result<Vec<Case>, Failure> {
        Ok(self.tests()?.iter().map(SavedTest::to_case).collect())
    }
}

/// Files of the tests below an output folder, in order.
pub fn test_files(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let tests = dir.join("tests");
    let entries =
        fs::read_dir(&tests).map_err(|error| Failure::usage(format!("cannot read {}: {error}", tests.display())))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "json"))
        .collect();
    // Numbers above 999999 have more digits.
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(files)
}
