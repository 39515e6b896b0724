//! Writes tests beside the exploration, on a thread of its own.
//!
//! The explorer hands rows over through a bounded channel and never waits for the disk, unless the disk is slower than it for
//! long. The thread takes what is there, writes it in one transaction, then the files that go with it, and sleeps some
//! milliseconds: to be woken for each test would cost the explorer more than its path does. The first failure ends the
//! thread; the explorer learns of it at its next test, or at the end.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use report::{FindingSummary, TestId, encode_test, test_name};
use rusqlite::{Connection, params};
use witness::{InputValue, Witness};

use crate::code::encode_path;
use crate::fields;
use crate::intern::{EndingId, EndingRow, Endings, Found, LayoutId, Layouts};
use crate::save::Checkpoint;
use crate::{Database, Error};

/// Rows under way between explorer and disk; bounds memory when the disk is the slower one.
const QUEUE: usize = 16_384;
/// Rows of one transaction.
const TOGETHER: usize = 8192;
/// Between two transactions. A finding waits no longer than this, and what else is lost with the process is not more.
const GATHERING: Duration = Duration::from_millis(4);

/// What becomes of a test beside its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// It reached something new.
    pub is_new: bool,
    /// People get a file.
    pub has_file: bool,
}

struct Row {
    test: TestId,
    layout: LayoutId,
    ending: EndingId,
    keep: Keep,
    /// The inputs' bytes, then the decisions.
    blob: Vec<u8>,
    n_bytes: usize,
}

enum Job {
    Layout(LayoutId, Vec<InputValue>),
    Ending(EndingId, Box<EndingRow>),
    Path(Row),
    File(TestId, Vec<u8>),
    Finding(Box<FindingSummary>, TestId),
    Checkpoint(Box<Checkpoint>),
}

type Outcome = (Database, Result<(), Error>);

/// The sending side; [`Writer::finish`] waits until everything is written.
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Outcome>>,
    layouts: Layouts,
    endings: Endings,
}

impl Writer {
    /// `folder` is the output folder, for the files.
    pub fn start(database: Database, folder: &Path) -> Result<Writer, Error> {
        let next = |table: &str, column: &str| {
            let most = format!("SELECT coalesce(max({column}), 0) + 1 FROM {table}");
            database.run(|connection| connection.query_row(&most, [], |row| row.get(0)))
        };
        let layouts = Layouts::starting_at(next("layouts", "layout")?);
        let endings = Endings::starting_at(next("endings", "id")?);
        database.log_ahead()?;
        let path = database.path.clone();
        let tests = folder.join("tests");
        std::fs::create_dir_all(&tests).map_err(|error| Error::io(&tests, &error))?;
        let (sender, receiver) = sync_channel(QUEUE);
        let folder = folder.to_path_buf();
        let work = move || {
            let outcome = write_all(&database, &folder, &receiver);
            (database, outcome)
        };
        let thread = std::thread::Builder::new().name("writer".to_string()).spawn(work);
        let thread = thread.map_err(|error| Error::io(&path, &error))?;
        Ok(Writer { jobs: Some(sender), thread: Some(thread), layouts, endings })
    }

    /// Hands one test over. `Err` says that nothing is written any more; [`Writer::finish`] says why.
    pub fn put(&mut self, test: TestId, witness: &Witness, keep: Keep) -> Result<(), Stopped> {
        let Witness { inputs, ending, path } = witness;
        let layout = match self.layouts.of(inputs) {
            Found::Known(layout) => layout,
            Found::New(layout) => {
                self.send(Job::Layout(layout, inputs.clone()))?;
                layout
            }
        };
        let ending = match self.endings.of(ending) {
            Found::Known(id) => id,
            Found::New(id) => {
                self.send(Job::Ending(id, Box::new(EndingRow::new(ending))))?;
                id
            }
        };
        let n_bytes = inputs.iter().map(|input| input.bytes.len()).sum();
        let mut blob = Vec::with_capacity(n_bytes + path.len() + 8);
        inputs.iter().for_each(|input| blob.extend_from_slice(&input.bytes));
        encode_path(path, &mut blob);
        self.send(Job::Path(Row { test, layout, ending, keep, blob, n_bytes }))?;
        if keep.has_file {
            let mut bytes = Vec::with_capacity(256);
            encode_test(witness, &mut bytes);
            self.send(Job::File(test, bytes))?;
        }
        Ok(())
    }

    /// A place and kind that no test showed before.
    pub fn find(&mut self, finding: FindingSummary, test: TestId) -> Result<(), Stopped> {
        self.send(Job::Finding(Box::new(finding), test))
    }

    /// From where the campaign can be gone on with.
    pub fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<(), Stopped> {
        self.send(Job::Checkpoint(Box::new(checkpoint)))
    }

    fn send(&mut self, job: Job) -> Result<(), Stopped> {
        match &self.jobs {
            Some(jobs) => jobs.send(job).map_err(|_| Stopped),
            None => Err(Stopped),
        }
    }

    /// Waits for the last row, and gives the database back.
    pub fn finish(mut self) -> (Option<Database>, Result<(), Error>) {
        self.jobs = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok((database, outcome))) => (Some(database), outcome),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => (None, Ok(())),
        }
    }
}

/// The writing thread has ended.
#[derive(Debug)]
pub struct Stopped;

impl Drop for Writer {
    // A writer dropped on the way out of a fault still writes what it was given.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(database: &Database, folder: &Path, jobs: &Receiver<Job>) -> Result<(), Error> {
    let mut files = Vec::new();
    while let Ok(first) = jobs.recv() {
        database.together(|database| {
            for job in std::iter::once(first).chain(jobs.try_iter().take(TOGETHER)) {
                match job {
                    Job::File(test, bytes) => files.push((test, bytes)),
                    Job::Checkpoint(checkpoint) => database.save(&checkpoint)?,
                    job => database.run(|connection| insert(connection, job))?,
                }
            }
            Ok(())
        })?;
        for (test, bytes) in files.drain(..) {
            write_test(folder, test, &bytes)?;
        }
        std::thread::sleep(GATHERING);
    }
    Ok(())
}

fn insert(connection: &Connection, job: Job) -> rusqlite::Result<()> {
    match job {
        Job::Path(Row { test, layout, ending, keep, blob, n_bytes }) => {
            let (bytes, decisions) = blob.split_at(n_bytes);
            connection.prepare_cached("INSERT INTO paths VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?.execute(params![
                test.0 as i64,
                layout.0,
                ending.0,
                keep.is_new,
                keep.has_file,
                bytes,
                decisions
            ])?;
        }
        Job::Layout(layout, inputs) => insert_layout(connection, layout.0, &inputs)?,
        Job::Ending(id, row) => {
            let EndingRow { ending, status, kind, file, line, function, message, json } = *row;
            connection
                .prepare_cached("INSERT INTO endings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
                .execute(params![id.0, ending, status, kind, file, line, function, message, json])?;
        }
        Job::Finding(finding, test) => crate::save::insert_finding(connection, &finding, test)?,
        Job::File(..) | Job::Checkpoint(_) => {}
    }
    Ok(())
}

pub(crate) fn insert_layout(connection: &Connection, layout: i64, inputs: &[InputValue]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT INTO layouts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    let mut start = 0;
    for (position, input) in inputs.iter().enumerate() {
        let size = input.bytes.len() as i64;
        let at = input.address().map(|at| at as i64);
        let fields = input.layout.as_ref().map(|layout| fields::to_text(&layout.fields));
        statement.execute(params![layout, position as i64, &*input.name, &*input.ty, start, size, at, fields])?;
        start += size;
    }
    Ok(())
}

/// Writes a test's file whole or not at all: under another name first, which is then renamed. That one does not lie beside the
/// tests: the file system finds, adds and removes a name faster where there are few.
pub(crate) fn write_test(folder: &Path, test: TestId, bytes: &[u8]) -> Result<(), Error> {
    let (writing, path): (PathBuf, PathBuf) = (folder.join(".test.writing"), folder.join(test_name(test)));
    std::fs::write(&writing, bytes).and_then(|()| std::fs::rename(&writing, &path)).map_err(|error| {
        let _ = std::fs::remove_file(&writing);
        Error::io(&path, &error)
    })
}
