//! Reads an output folder back.

use std::fs;
use std::path::{Path, PathBuf};

use database::{Database, StoredTest, Which};
use replay::TestCase;
use report::{Case, CoverageView, Expected, Summary, TestId};

use crate::journal::Journal;
use crate::old;
use crate::outcome::Failure;

/// A test of a campaign.
pub struct SavedTest {
    /// `000012`.
    pub id: String,
    pub case: TestCase,
}

impl SavedTest {
    pub fn new(stored: &StoredTest) -> Result<SavedTest, Failure> {
        let id = format!("{:06}", stored.test.0);
        let case = replay::parse_test(&String::from_utf8_lossy(&stored.to_json()))
            .map_err(|why| Failure::usage(format!("test {id} is damaged: {why}")))?;
        Ok(SavedTest { id, case })
    }

    pub fn read(path: &Path) -> Result<SavedTest, Failure> {
        let case = replay::read_test(path).map_err(|error| Failure::usage(error.to_string()))?;
        let id = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        Ok(SavedTest { id, case })
    }

    /// The test of that number.
    pub fn find(database: &Database, test: TestId) -> Result<SavedTest, Failure> {
        let stored = database.test(test)?;
        SavedTest::new(&stored.ok_or_else(|| Failure::fault(format!("test {} is not in the database", test.0)))?)
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
    pub database: Database,
}

impl Folder {
    /// To look at. A campaign from before there was a database is read as if it had one.
    pub fn open(dir: &Path) -> Result<Folder, Failure> {
        Folder::open_with(dir, |absolute| match old::is_old(absolute) {
            true => old::read(absolute),
            false => Ok(Database::read(absolute)?),
        })
    }

    /// To go on with.
    pub fn open_again(dir: &Path) -> Result<Folder, Failure> {
        Folder::open_with(dir, |absolute| match old::is_old(absolute) {
            true => Err(Failure::usage(format!(
                "{} is a campaign of an earlier version of Colt, which can be replayed, exported and reported but not gone on with; run it again",
                dir.display()
            ))),
            false => Ok(Database::open(absolute)?),
        })
    }

    fn open_with(dir: &Path, open: impl FnOnce(&Path) -> Result<Database, Failure>) -> Result<Folder, Failure> {
        let absolute =
            fs::canonicalize(dir).map_err(|error| Failure::usage(format!("cannot open {}: {error}", dir.display())))?;
        if !absolute.is_dir() {
            return Err(Failure::usage(format!("{} is not a folder", dir.display())));
        }
        if !old::is_old(&absolute) && !absolute.join(database::NAME).exists() {
            return Err(Failure::usage(format!(
                "{} is not the output folder of a campaign: it has no {}",
                dir.display(),
                database::NAME
            )));
        }
        let database = open(&absolute)?;
        let journal = Journal::read(&database)?;
        std::env::set_current_dir(&journal.cwd).map_err(|error| {
            Failure::usage(format!(
                "the campaign ran in {}, which cannot be entered any more: {error}",
                journal.cwd.display()
            ))
        })?;
        Ok(Folder { dir: absolute, shown: dir.display().to_string(), journal, database })
    }

    pub fn summary(&self) -> Result<Summary, Failure> {
        let checkpoint = self.database.checkpoint()?;
        let none = || {
            Failure::usage(format!(
                "the run of {} was killed before it had any figures; `colt resume {}` brings it to an end",
                self.shown, self.shown
            ))
        };
        checkpoint.map(|checkpoint| checkpoint.summary).ok_or_else(none)
    }

    /// Empty where nothing was measured.
    pub fn coverage(&self) -> Result<CoverageView, Failure> {
        Ok(self.database.coverage()?)
    }

    /// Hands every test to `take`, in order; none of them stays in memory.
    pub fn each_test(&self, mut take: impl FnMut(SavedTest) -> Result<(), Failure>) -> Result<(), Failure> {
        self.database.each_test(Which::All, |stored| take(SavedTest::new(&stored)?))
    }

    pub fn cases(&self) -> Result<Vec<Case>, Failure> {
        let mut cases = Vec::new();
        self.each_test(|test| {
            cases.push(test.to_case());
            Ok(())
        })?;
        Ok(cases)
    }
}
