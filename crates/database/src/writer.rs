//! Writes tests beside the exploration, on a thread of its own.
//!
//! The explorer hands rows over through a bounded channel. It waits for the disk only where the disk is slower for long. The
//! thread takes what is there, writes it in one transaction, then the files that go with it, and sleeps some milliseconds:
//! waking it for each test would cost the explorer more than a path does. The first failure ends the thread; the explorer
//! learns of it at its next test, or at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use report::{FindingSummary, TestId, encode_test, test_name};
use rusqlite::{Connection, Statement, params};
use witness::{InputValue, Witness};

use crate::code::encode_path;
use crate::fields;
use crate::intern::{EndingId, EndingRow, Endings, Found, LayoutId, Layouts, Rest};
use crate::save::Checkpoint;
use crate::{Database, Error};

/// Rows under way between explorer and disk; bounds memory when the disk is the slower one.
const QUEUE: usize = 16_384;
/// Bytes of them: a path may have read a hundred thousand inputs, and a checkpoint has all that is pending.
const QUEUE_BYTES: usize = 64 << 20;
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
    n_inputs: usize,
    ending: EndingId,
    keep: Keep,
    /// The inputs' bytes, then the decisions.
    blob: Vec<u8>,
    n_bytes: usize,
}

enum Job {
    Layout(LayoutId, Rest, Vec<InputValue>),
    Ending(EndingId, Box<EndingRow>),
    Path(Row),
    File(TestId, Vec<u8>),
    Finding(Box<FindingSummary>, TestId),
    Checkpoint(Box<Checkpoint>),
}

impl Job {
    /// About what it takes in memory.
    fn n_bytes(&self) -> usize {
        let more = match self {
            Job::Path(row) => row.blob.len(),
            Job::File(_, bytes) => bytes.len(),
            Job::Layout(_, _, inputs) => inputs.iter().map(|input| size_of::<InputValue>() + input.bytes.len()).sum(),
            Job::Checkpoint(checkpoint) => checkpoint.n_bytes(),
            Job::Ending(_, row) => size_of::<EndingRow>() + row.json.len(),
            Job::Finding(finding, _) => size_of::<FindingSummary>() + finding.message.len(),
        };
        size_of::<Job>() + more
    }
}

type Outcome = (Database, Result<(), Error>);

/// The sending side; [`Writer::finish`] waits until everything is written.
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<Outcome>>,
    /// Bytes of what is not written yet.
    under_way: Arc<AtomicUsize>,
    /// Beyond so many of them whoever hands something over waits.
    room: usize,
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
        let under_way = Arc::new(AtomicUsize::new(0));
        let counter = under_way.clone();
        let work = move || {
            let outcome = write_all(&database, &folder, &receiver, &counter, QUEUE_BYTES);
            (database, outcome)
        };
        let thread = std::thread::Builder::new().name("writer".to_string()).spawn(work);
        let thread = thread.map_err(|error| Error::io(&path, &error))?;
        Ok(Writer { jobs: Some(sender), thread: Some(thread), under_way, room: QUEUE_BYTES, layouts, endings })
    }

    /// Hands one test over. `Err` says that nothing is written any more; [`Writer::finish`] says why.
    pub fn put(&mut self, test: TestId, witness: &Witness, keep: Keep) -> Result<(), Stopped> {
        let Witness { inputs, ending, path } = witness;
        let (layout, rest) = self.layouts.of(inputs);
        if let Some(rest) = rest {
            self.send(Job::Layout(layout, rest, inputs[rest.position..].to_vec()))?;
        }
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
        let n_inputs = inputs.len();
        self.send(Job::Path(Row { test, layout, n_inputs, ending, keep, blob, n_bytes }))?;
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

    fn wait_for_room(&self) -> Result<(), Stopped> {
        while self.under_way.load(Ordering::Relaxed) > self.room {
            if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(Stopped);
            }
            std::thread::sleep(GATHERING);
        }
        Ok(())
    }

    fn send(&mut self, job: Job) -> Result<(), Stopped> {
        self.wait_for_room()?;
        self.under_way.fetch_add(job.n_bytes(), Ordering::Relaxed);
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

fn write_all(
    database: &Database,
    folder: &Path,
    jobs: &Receiver<Job>,
    under_way: &AtomicUsize,
    room: usize,
) -> Result<(), Error> {
    let mut files = Vec::new();
    let mut paths =
        database.run(|connection| connection.prepare("INSERT INTO paths VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"))?;
    while let Ok(first) = jobs.recv() {
        let mut n_bytes = 0;
        database.together(|database| {
            for job in std::iter::once(first).chain(jobs.try_iter().take(TOGETHER)) {
                n_bytes += job.n_bytes();
                match job {
                    Job::Path(row) => database.run(|_| insert_path(&mut paths, &row))?,
                    Job::File(test, bytes) => files.push((test, bytes)),
                    Job::Checkpoint(checkpoint) => database.save(&checkpoint)?,
                    job => database.run(|connection| insert(connection, job))?,
                }
                if n_bytes > room / 4 {
                    break;
                }
            }
            Ok(())
        })?;
        for (test, bytes) in files.drain(..) {
            write_test(folder, test, &bytes)?;
        }
        under_way.fetch_sub(n_bytes, Ordering::Relaxed);
        std::thread::sleep(GATHERING);
    }
    Ok(())
}

fn insert_path(insert: &mut Statement, row: &Row) -> rusqlite::Result<()> {
    let Row { test, layout, n_inputs, ending, keep: Keep { is_new, has_file }, blob, n_bytes } = row;
    let (bytes, decisions) = blob.split_at(*n_bytes);
    insert
        .execute(params![test.0 as i64, layout.0, *n_inputs as i64, ending.0, is_new, has_file, bytes, decisions])
        .map(|_| ())
}

fn insert(connection: &Connection, job: Job) -> rusqlite::Result<()> {
    match job {
        Job::Layout(layout, rest, inputs) => insert_layout(connection, layout, rest, &inputs)?,
        Job::Ending(id, row) => {
            let EndingRow { ending, status, kind, file, line, function, message, json } = *row;
            connection
                .prepare_cached("INSERT INTO endings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
                .execute(params![id.0, ending, status, kind, file, line, function, message, json])?;
        }
        Job::Finding(finding, test) => crate::save::insert_finding(connection, &finding, test)?,
        Job::Path(_) | Job::File(..) | Job::Checkpoint(_) => {}
    }
    Ok(())
}

pub(crate) fn insert_layout(
    connection: &Connection,
    layout: LayoutId,
    rest: Rest,
    inputs: &[InputValue],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT INTO layouts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    let mut start = rest.start as i64;
    for (position, input) in (rest.position as i64..).zip(inputs) {
        let size = input.bytes.len() as i64;
        let at = input.address().map(|at| at as i64);
        let fields = input.layout.as_ref().map(|layout| fields::to_text(&layout.fields));
        statement.execute(params![layout.0, position, &*input.name, &*input.ty, start, size, at, fields])?;
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

#[cfg(test)]
mod tests {
    use witness::Ending;

    use super::*;
    use crate::error::Problem;
    use crate::pending::Packer;

    fn witness(bytes: &[u8]) -> Witness {
        let input = InputValue { name: "x".into(), ty: "char".into(), bytes: bytes.to_vec(), layout: None };
        Witness { inputs: vec![input; 3], ending: Ending::Assumed, path: vec![1, 0, 300] }
    }

    fn put(writer: &mut Writer, numbers: std::ops::Range<u64>) -> Result<(), Stopped> {
        numbers.map(TestId).try_for_each(|test| writer.put(test, &witness(&[7]), Keep::default()))
    }

    #[test]
    fn a_database_that_another_process_holds_is_given_up_and_keeps_what_it_has() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let database = Database::create(dir.path()).expect("made");
        let path = database.path.clone();
        let mut writer = Writer::start(database, dir.path()).expect("starts");
        put(&mut writer, 1..10).expect("taken");
        let other = Connection::open(&path).expect("opens");
        other.busy_timeout(Duration::from_secs(5)).expect("set");
        while other.query_row("SELECT count(*) FROM paths", [], |row| row.get::<_, i64>(0)).is_ok_and(|n| n < 9) {
            std::thread::sleep(GATHERING);
        }
        other.execute_batch("BEGIN IMMEDIATE").expect("held");
        put(&mut writer, 10..20).expect("taken");
        let (database, written) = writer.finish();
        let error = written.expect_err("it was held");
        assert!(matches!(error.problem, Problem::Held) && error.to_string().contains("another process"), "{error}");
        drop((other, database));
        let again = Database::open(dir.path()).expect("opens");
        assert_eq!(again.n_tests().expect("readable"), (9, TestId(9)));
    }

    fn checkpoint(n_bytes: usize) -> Checkpoint {
        let mut packer = Packer::default();
        let piece = packer.add_piece(None, &vec![1; n_bytes]);
        packer.add(Some(piece));
        Checkpoint { pending: packer.finish(), ..Checkpoint::default() }
    }

    #[test]
    fn what_is_under_way_counts_with_all_it_carries() {
        let inputs = vec![InputValue::new("x", "char", vec![0; 5000]); 3];
        assert!(Job::Layout(LayoutId(1), Rest::ALL, inputs).n_bytes() > 15_000);
        assert!(Job::Checkpoint(Box::new(checkpoint(20_000))).n_bytes() > 20_000);
    }

    /// A writer with little room whose thread does nothing until it is told to.
    fn idle(dir: &Path, room: usize) -> (Writer, std::sync::mpsc::Sender<()>) {
        let database = Database::create(dir).expect("made");
        let (go, told) = std::sync::mpsc::channel();
        let (jobs, receiver) = sync_channel(QUEUE);
        let (under_way, folder) = (Arc::new(AtomicUsize::new(0)), dir.to_path_buf());
        let counter = under_way.clone();
        let thread = std::thread::spawn(move || {
            told.recv().expect("told");
            let outcome = write_all(&database, &folder, &receiver, &counter, room);
            (database, outcome)
        });
        let (layouts, endings) = (Layouts::starting_at(1), Endings::starting_at(1));
        (Writer { jobs: Some(jobs), thread: Some(thread), under_way, room, layouts, endings }, go)
    }

    #[test]
    fn checkpoints_wait_for_room() {
        const ROOM: usize = 1 << 20;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (mut writer, go) = idle(dir.path(), ROOM);
        let under_way = writer.under_way.clone();
        let n_taken = Arc::new(AtomicUsize::new(0));
        let counter = n_taken.clone();
        let hands_over = std::thread::spawn(move || {
            for _ in 0..8 {
                writer.checkpoint(checkpoint(ROOM * 2 / 3)).expect("taken");
                counter.fetch_add(1, Ordering::Relaxed);
            }
            writer
        });
        while n_taken.load(Ordering::Relaxed) < 2 {
            std::thread::sleep(GATHERING);
        }
        std::thread::sleep(20 * GATHERING);
        assert_eq!(n_taken.load(Ordering::Relaxed), 2, "there is room for one and a half");
        assert!(under_way.load(Ordering::Relaxed) < 2 * ROOM);
        go.send(()).expect("waiting");
        let writer = hands_over.join().expect("all were taken");
        let (database, written) = writer.finish();
        written.expect("written");
        let last = database.expect("given back").checkpoint().expect("readable").expect("there");
        assert_eq!((last.pending.len(), under_way.load(Ordering::Relaxed)), (1, 0));
    }

    #[test]
    fn a_test_has_the_first_inputs_of_a_layout() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut writer = Writer::start(Database::create(dir.path()).expect("made"), dir.path()).expect("starts");
        let all: Vec<InputValue> = (0..300u32)
            .map(|idx| InputValue {
                name: format!("i{}", idx % 7).as_str().into(),
                ty: "char".into(),
                bytes: vec![idx as u8; idx as usize % 3],
                layout: None,
            })
            .collect();
        // Longer, shorter, another one, and the first again.
        let mut others = all.clone();
        others[1].name = "other".into();
        let inputs = [
            &all[..2],
            &all[..200],
            &all[..50],
            &all[..],
            &others[..3],
            &all[..2],
            &others[..2],
            &all[..0],
            &others[..],
        ];
        for (idx, inputs) in inputs.iter().enumerate() {
            let witness = Witness { inputs: inputs.to_vec(), ending: Ending::Assumed, path: vec![idx as u64] };
            writer.put(TestId(idx as u64 + 1), &witness, Keep::default()).expect("taken");
        }
        let (database, written) = writer.finish();
        written.expect("written");
        let database = database.expect("given back");
        for (idx, inputs) in inputs.iter().enumerate() {
            let stored = database.test(TestId(idx as u64 + 1)).expect("readable").expect("there");
            assert_eq!(stored.inputs, *inputs, "{idx}");
        }
        let n_rows = |sql: &str| database.run(|connection| connection.query_row(sql, [], |row| row.get::<_, i64>(0)));
        assert!(n_rows("SELECT count(*) FROM layouts").expect("readable") < 700);
        assert_eq!(n_rows("SELECT count(*) FROM inputs WHERE number = 3").expect("readable"), 50);
    }
}
