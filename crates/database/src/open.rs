//! Making and opening a database: the schema and its version.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::error::{Error, Problem};

/// The database's file in the output folder.
pub const NAME: &str = "campaign.sqlite";

/// Of the schema.
pub const VERSION: i64 = 3;

/// `Colt` in ASCII: what `file` and we know the database by.
const APPLICATION: i64 = 0x436f_6c74;

/// How long another process may hold the database before we give up.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// Pages of the log before they are moved into the database: often enough to keep it small, seldom enough that waiting for
/// the disk does not show.
const LOG_PAGES: i64 = 4000;

const SCHEMA: &str = "
CREATE TABLE campaign (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE layouts (
    layout INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL, at INTEGER, fields TEXT,
    PRIMARY KEY (layout, position)) WITHOUT ROWID;

CREATE TABLE endings (
    id INTEGER PRIMARY KEY, ending TEXT NOT NULL, status INTEGER, kind TEXT, file TEXT, line INTEGER, function TEXT,
    message TEXT, json TEXT NOT NULL);

CREATE TABLE paths (
    id INTEGER PRIMARY KEY, layout INTEGER NOT NULL, n_inputs INTEGER NOT NULL, ending INTEGER NOT NULL,
    is_new INTEGER NOT NULL, has_file INTEGER NOT NULL, bytes BLOB NOT NULL, decisions BLOB NOT NULL);
CREATE INDEX marked ON paths (id) WHERE is_new + has_file > 0;

CREATE TABLE numbers (number INTEGER PRIMARY KEY, path INTEGER NOT NULL);

CREATE TABLE findings (
    kind TEXT NOT NULL, cwe INTEGER NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
    call TEXT NOT NULL, function TEXT NOT NULL, message TEXT NOT NULL, test INTEGER NOT NULL, confirmed INTEGER NOT NULL,
    paths INTEGER NOT NULL, PRIMARY KEY (kind, file, line, col, call)) WITHOUT ROWID;

CREATE TABLE ledger (
    kind TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, detail TEXT NOT NULL, count INTEGER NOT NULL);

CREATE TABLE lines (file TEXT NOT NULL, line INTEGER NOT NULL, count INTEGER NOT NULL);
CREATE TABLE branches (
    file TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, when_true INTEGER NOT NULL,
    when_false INTEGER NOT NULL);

CREATE TABLE pending (id INTEGER PRIMARY KEY, pieces BLOB NOT NULL, ends BLOB NOT NULL);

CREATE VIEW tests AS
    SELECT n.number, e.ending, e.status, e.kind, e.file, e.line, e.function, e.message, p.is_new, p.has_file, p.layout,
           p.n_inputs, p.ending AS ending_id, p.bytes, p.decisions, p.id AS path
    FROM numbers n JOIN paths p ON p.id = n.path JOIN endings e ON e.id = p.ending
    UNION ALL
    SELECT p.id, e.ending, e.status, e.kind, e.file, e.line, e.function, e.message, p.is_new, p.has_file, p.layout,
           p.n_inputs, p.ending, p.bytes, p.decisions, p.id
    FROM paths p JOIN endings e ON e.id = p.ending
    WHERE p.id > (SELECT CAST(value AS INTEGER) FROM campaign WHERE key = 'numbered');

CREATE VIEW inputs AS
    SELECT t.number, l.position, l.name, l.type, substr(t.bytes, l.start + 1, l.size) AS bytes
    FROM tests t JOIN layouts l ON l.layout = t.layout AND l.position < t.n_inputs;
";

/// An open database.
pub struct Database {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Keeps a second process from going on with the same campaign.
    _lock: Option<File>,
    /// A copy, where the folder cannot be written.
    _copy: Option<tempfile::TempDir>,
}

impl Database {
    /// A new one in `folder`.
    pub fn create(folder: &Path) -> Result<Database, Error> {
        let path = folder.join(NAME);
        let lock = lock(folder)?;
        let database = Database::connect(&path, OpenFlags::default(), Some(lock))?;
        // Killed in between, there is nothing rather than half of it.
        database.together(|database| {
            database.run(|connection| {
                connection.pragma_update(None, "application_id", APPLICATION)?;
                connection.pragma_update(None, "user_version", VERSION)?;
                connection.execute_batch(SCHEMA)?;
                connection.execute("INSERT INTO campaign VALUES ('numbered', '0')", [])
            })
        })?;
        Ok(database)
    }

    /// Nobody else's and on no disk, for what is read from elsewhere.
    pub fn in_memory(path: &Path) -> Result<Database, Error> {
        let failed = |error: rusqlite::Error| Error::sqlite(path, &error);
        let connection = Connection::open_in_memory().map_err(failed)?;
        connection.execute_batch(SCHEMA).map_err(failed)?;
        connection.execute("INSERT INTO campaign VALUES ('numbered', '0')", []).map_err(failed)?;
        Ok(Database { connection, path: path.to_path_buf(), _lock: None, _copy: None })
    }

    /// To go on with.
    pub fn open(folder: &Path) -> Result<Database, Error> {
        let path = existing(folder)?;
        let lock = lock(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Database::connect(&path, flags, Some(lock))?;
        database.check()?;
        // A database that cannot be written is opened for reading without a word.
        database.set("opened", "again")?;
        Ok(database)
    }

    /// To look at, also while a campaign runs, and where nothing can be written.
    pub fn read(folder: &Path) -> Result<Database, Error> {
        let path = existing(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Database::connect(&path, flags, None)?;
        match database.check() {
            Err(Error { problem: Problem::ReadOnly | Problem::Other(_), .. }) => Database::read_copy(&path),
            outcome => outcome.map(|()| database),
        }
    }

    /// The log of a campaign that was killed cannot be read without a file beside it.
    fn read_copy(path: &Path) -> Result<Database, Error> {
        let failed = |error: std::io::Error| Error::io(path, &error);
        let folder = tempfile::Builder::new().prefix("colt-campaign-").tempdir().map_err(failed)?;
        let copy = folder.path().join(NAME);
        std::fs::copy(path, &copy).map_err(failed)?;
        let log = format!("{}-wal", path.display());
        if Path::new(&log).exists() {
            std::fs::copy(&log, format!("{}-wal", copy.display())).map_err(failed)?;
        }
        let mut database = Database::connect(&copy, OpenFlags::default(), None)?;
        database.path = path.to_path_buf();
        database.check()?;
        database._copy = Some(folder);
        Ok(database)
    }

    fn connect(path: &Path, flags: OpenFlags, lock: Option<File>) -> Result<Database, Error> {
        let failed = |error: rusqlite::Error| Error::sqlite(path, &error);
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Database { connection, path: path.to_path_buf(), _lock: lock, _copy: None })
    }

    /// Whether it is ours, and of a version we read.
    fn check(&self) -> Result<(), Error> {
        let (application, version) = self.run(|connection| {
            let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            Ok((pragma("application_id")?, pragma("user_version")?))
        })?;
        let problem = match () {
            () if application != APPLICATION => Problem::Foreign,
            () if version > VERSION => Problem::Newer { found: version },
            () if version < VERSION => Problem::Older { found: version },
            () => return Ok(()),
        };
        Err(Error::new(&self.path, problem))
    }

    /// Commits go to a log: they need not wait for the disk, and others can read meanwhile.
    pub(crate) fn log_ahead(&self) -> Result<(), Error> {
        self.run(|connection| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)
        })
    }

    /// The campaign is over: the log goes into the database, and no file is needed beside it any more.
    pub fn close(self) -> Result<(), Error> {
        self.run(|connection| connection.pragma_update(None, "journal_mode", "DELETE"))
    }

    pub(crate) fn run<'d, T>(&'d self, work: impl FnOnce(&'d Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.connection).map_err(|error| Error::sqlite(&self.path, &error))
    }

    /// All of it or nothing.
    pub fn together<T, E: From<Error>>(&self, work: impl FnOnce(&Database) -> Result<T, E>) -> Result<T, E> {
        self.run(|connection| connection.execute_batch("BEGIN IMMEDIATE"))?;
        let outcome = work(self);
        let ended = match outcome {
            Ok(_) => self.run(|connection| connection.execute_batch("COMMIT")),
            Err(_) => Ok(()),
        };
        if outcome.is_err() || ended.is_err() {
            // After some failures nothing is open any more.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        ended.map_err(E::from).and(outcome)
    }

    pub fn set(&self, key: &str, value: &str) -> Result<(), Error> {
        self.run(|connection| {
            connection
                .prepare_cached("INSERT INTO campaign VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2")?
                .execute(params![key, value])
                .map(|_| ())
        })
    }

    pub fn get(&self, key: &str) -> Result<Option<String>, Error> {
        self.run(|connection| {
            let mut statement = connection.prepare_cached("SELECT value FROM campaign WHERE key = ?1")?;
            statement.query_row([key], |row| row.get(0)).optional()
        })
    }

    pub fn number(&self, key: &str) -> Result<u64, Error> {
        Ok(self.get(key)?.and_then(|value| value.parse().ok()).unwrap_or(0))
    }
}

fn existing(folder: &Path) -> Result<PathBuf, Error> {
    let path = folder.join(NAME);
    match path.try_exists() {
        Ok(true) => Ok(path),
        Ok(false) => Err(Error::new(&path, Problem::Absent)),
        Err(error) => Err(Error::io(&path, &error)),
    }
}

fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(NAME);
    let file = File::open(folder).map_err(|error| Error::io(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::new(&path, Problem::Held)),
        // A file system without locks has none to respect.
        Err(std::fs::TryLockError::Error(_)) => Ok(file),
    }
}
