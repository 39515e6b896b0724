//! Writes test files beside the exploration.
//!
//! One thread takes encoded tests from a bounded channel and writes each under a temporary name that is then renamed, so
//! a test file is whole whenever it is visible, even after a kill. The first failure (a full disk) ends the thread; the
//! explorer learns of it at its next test and at the end.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use witness::Witness;

use crate::{TestId, encode_test, test_name};

/// Tests under way between explorer and disk; bounds memory when the disk is the slower one.
const QUEUE: usize = 16_384;
/// How long tests gather once all are written: to be woken for each one would cost the explorer more than its path does.
const GATHERING: Duration = Duration::from_millis(1);

/// A test could not be written.
#[derive(Debug)]
pub struct WriteError {
    pub path: PathBuf,
    pub source: io::Error,
    /// Tests that are on disk.
    pub n_written: u64,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot write {}: {}; {} earlier tests of this run are kept",
            self.path.display(),
            self.source,
            self.n_written
        )
    }
}

impl std::error::Error for WriteError {}

struct Job {
    test: TestId,
    bytes: Vec<u8>,
}

/// The sending side; [`TestWriter::finish`] waits until everything is on disk.
pub struct TestWriter {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Result<u64, WriteError>>>,
}

impl TestWriter {
    /// `folder` is the output folder; its `tests` folder is made if need be.
    pub fn start(folder: &Path) -> Result<TestWriter, WriteError> {
        let tests = folder.join("tests");
        fs::create_dir_all(&tests).map_err(|source| WriteError { path: tests, source, n_written: 0 })?;
        let (sender, receiver) = sync_channel(QUEUE);
        let folder = folder.to_path_buf();
        let thread = std::thread::Builder::new()
            .name("test-writer".to_string())
            .spawn({
                let folder = folder.clone();
                move || write_all(&folder, receiver)
            })
            .map_err(|source| WriteError { path: folder, source, n_written: 0 })?;
        Ok(TestWriter { jobs: Some(sender), thread: Some(thread) })
    }

    /// Hands one test over. An error is an earlier test's: from then on nothing is written any more.
    pub fn put(&mut self, test: TestId, witness: &Witness) -> Result<(), WriteError> {
        let mut bytes = Vec::with_capacity(256);
        encode_test(witness, &mut bytes);
        let Some(jobs) = &self.jobs else { return Ok(()) };
        if jobs.send(Job { test, bytes }).is_err() {
            return self.join().map(|_| ());
        }
        Ok(())
    }

    /// Waits for the last test and says how many were written.
    pub fn finish(mut self) -> Result<u64, WriteError> {
        self.join()
    }

    fn join(&mut self) -> Result<u64, WriteError> {
        self.jobs = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(0),
        }
    }
}

impl Drop for TestWriter {
    // A writer dropped on the way out of a fault still puts on disk what it was given.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(folder: &Path, jobs: Receiver<Job>) -> Result<u64, WriteError> {
    // Not beside the tests: the file system finds, adds and removes a name faster where there are few.
    let writing = folder.join(".test.writing");
    let mut n_written = 0;
    while let Ok(first) = jobs.recv() {
        for job in std::iter::once(first).chain(jobs.try_iter()) {
            let path = folder.join(test_name(job.test));
            let written = fs::write(&writing, &job.bytes).and_then(|()| fs::rename(&writing, &path));
            if let Err(source) = written {
                let _ = fs::remove_file(&writing);
                return Err(WriteError { path, source, n_written });
            }
            n_written += 1;
        }
        std::thread::sleep(GATHERING);
    }
    Ok(n_written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use witness::{Ending, InputValue};

    fn witness() -> Witness {
        Witness {
            inputs: vec![InputValue { name: "x".into(), ty: "int".into(), bytes: vec![1, 0, 0, 0] }],
            ending: Ending::Assumed,
            path: vec![1],
        }
    }

    #[test]
    fn writes_whole_files_and_leaves_no_temporary() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let mut writer = TestWriter::start(dir.path()).expect("start");
        for test in 1..=300 {
            writer.put(TestId(test), &witness()).expect("put");
        }
        assert_eq!(writer.finish().expect("finish"), 300);
        let mut names: Vec<String> = fs::read_dir(dir.path().join("tests"))
            .expect("tests folder")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names.len(), 300);
        assert_eq!(names[0], "000001.json");
        assert_eq!(names[299], "000300.json");
    }

    #[test]
    fn a_failure_surfaces_and_names_the_file() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let mut writer = TestWriter::start(dir.path()).expect("start");
        // A folder where the second test should go makes its rename fail, as a full disk would.
        fs::create_dir_all(dir.path().join("tests/000002.json/x")).expect("obstacle");
        let mut first_error = None;
        for test in 1..=5000 {
            if let Err(error) = writer.put(TestId(test), &witness()) {
                first_error = Some(error);
                break;
            }
        }
        let error = match first_error {
            Some(error) => error,
            None => writer.finish().expect_err("the obstacle must be noticed"),
        };
        assert!(error.to_string().contains("000002.json"), "{error}");
        assert_eq!(error.n_written, 1);
    }
}
