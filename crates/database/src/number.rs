//! Numbers tests by the order of their paths, when a campaign or a part of it is over.
//!
//! Tests arrive as it happens, and with several workers that is never twice the same. Their decisions do not depend on who
//! explored them, so sorting by those gives the same test the same number. Tests of earlier parts keep theirs: people may
//! have written them down.

use std::collections::HashMap;
use std::path::Path;

use report::{TestId, test_name};
use rusqlite::Connection;

use crate::read::Which;
use crate::writer::write_test;
use crate::{Database, Error};

/// The numbers that some tests got, by those they had.
#[derive(Debug, Default)]
pub struct Numbered {
    told: HashMap<u64, TestId>,
    /// Those of them that have files, under their old names.
    files: Vec<u64>,
}

impl Numbered {
    /// A test that was not asked about keeps its number.
    pub fn of(&self, test: TestId) -> TestId {
        self.told.get(&test.0).copied().unwrap_or(test)
    }
}

impl Database {
    /// Numbers the tests that have arrived since the last time; what became of those of `asked` is told. To be called in a
    /// transaction with whatever else speaks of tests by number; then [`Database::name_files`] is due.
    pub fn number_tests(&self, asked: impl Iterator<Item = TestId>) -> Result<Numbered, Error> {
        let n_numbered = self.number("numbered")? as i64;
        let files: Vec<u64> = self.run(|connection| {
            let sql = "SELECT id FROM paths WHERE is_new + has_file > 0 AND has_file = 1 AND id > ?1";
            connection.prepare(sql)?.query_map([n_numbered], |row| Ok(row.get::<_, i64>(0)? as u64))?.collect()
        })?;
        let asked = asked.map(|test| test.0).filter(|test| *test as i64 > n_numbered);
        let mut told: HashMap<u64, TestId> =
            asked.chain(files.iter().copied()).map(|test| (test, TestId(test))).collect();
        self.run(|connection| number_since(connection, n_numbered, &mut told))?;
        self.set("files", "unnamed")?;
        Ok(Numbered { told, files })
    }

    /// Renames the files of the tests.
    pub fn name_files(&self, folder: &Path, numbered: &Numbered) -> Result<(), Error> {
        rename(folder, &numbered.files, &numbered.told)?;
        self.set("files", "named")
    }

    /// Makes the files agree with the database, where a campaign was killed before they were written or named.
    pub fn repair_files(&self, folder: &Path) -> Result<(), Error> {
        let tests = folder.join("tests");
        let failed = |error: std::io::Error| Error::io(&tests, &error);
        std::fs::create_dir_all(&tests).map_err(failed)?;
        if self.get("files")?.as_deref() == Some("unnamed") {
            for entry in std::fs::read_dir(&tests).map_err(failed)? {
                std::fs::remove_file(entry.map_err(failed)?.path()).map_err(failed)?;
            }
        }
        self.each_test(Which::Files, |stored| match folder.join(test_name(stored.test)).is_file() {
            true => Ok(()),
            false => write_test(folder, stored.test, &stored.to_json()),
        })?;
        self.set("files", "named")
    }

    /// Gives a test a file, if it has none.
    pub fn give_file(&self, folder: &Path, test: TestId) -> Result<(), Error> {
        if folder.join(test_name(test)).is_file() {
            return Ok(());
        }
        let Some(stored) = self.test(test)? else { return Ok(()) };
        self.run(|connection| {
            let sql = "UPDATE paths SET has_file = 1 WHERE id = (SELECT path FROM numbers WHERE number = ?1)";
            connection.execute(sql, [test.0 as i64])
        })?;
        write_test(folder, test, &stored.to_json())
    }

    /// Takes a test out, its file as well.
    pub fn remove_test(&self, folder: &Path, test: TestId) -> Result<(), Error> {
        self.run(|connection| {
            let sql = "DELETE FROM paths WHERE id = coalesce((SELECT path FROM numbers WHERE number = ?1), ?1)";
            connection.prepare_cached(sql)?.execute([test.0 as i64])?;
            connection.prepare_cached("DELETE FROM numbers WHERE number = ?1")?.execute([test.0 as i64])
        })?;
        // Most have none.
        let _ = std::fs::remove_file(folder.join(test_name(test)));
        Ok(())
    }
}

/// Paths that take more bytes are sorted by the database, which sorts in files.
const MOST_IN_MEMORY: usize = 64 << 20;

/// The numbers of the tests stay the same as a whole; only who has which changes.
fn number_since(connection: &Connection, n_numbered: i64, told: &mut HashMap<u64, TestId>) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO numbers VALUES (?1, ?2)")?;
    let mut give = |number: i64, path: i64| {
        if let Some(test) = told.get_mut(&(path as u64)) {
            *test = TestId(number as u64);
        }
        insert.execute([number, path]).map(|_| ())
    };
    let last: Option<i64> = connection.query_row("SELECT max(id) FROM paths", [], |row| row.get(0))?;
    let Some(last) = last else { return Ok(()) };
    if let Some(sorted) = sorted_in_memory(connection, n_numbered, MOST_IN_MEMORY)? {
        for (number, path) in sorted {
            give(number, path)?;
        }
    } else {
        let mut free = connection.prepare("SELECT id FROM paths WHERE id > ?1 ORDER BY id")?;
        let mut sorted = connection.prepare("SELECT id FROM paths WHERE id > ?1 ORDER BY decisions, id")?;
        let (mut free, mut sorted) = (free.query([n_numbered])?, sorted.query([n_numbered])?);
        while let (Some(free), Some(path)) = (free.next()?, sorted.next()?) {
            give(free.get(0)?, path.get(0)?)?;
        }
    }
    connection.execute("UPDATE campaign SET value = ?1 WHERE key = 'numbered'", [last.to_string()]).map(|_| ())
}

/// Numbers, and who gets them; `None` where that takes more bytes than there is room for.
fn sorted_in_memory(
    connection: &Connection,
    n_numbered: i64,
    room: usize,
) -> rusqlite::Result<Option<Vec<(i64, i64)>>> {
    let mut all = connection.prepare("SELECT id, decisions FROM paths WHERE id > ?1 ORDER BY id")?;
    let mut rows = all.query([n_numbered])?;
    let (mut free, mut bytes, mut paths) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let decisions = row.get_ref(1)?.as_blob()?;
        let start = bytes.len();
        bytes.extend_from_slice(decisions);
        free.push(id);
        paths.push((head(decisions), start..bytes.len(), id));
        if bytes.len() + size_of_val(&paths[..]) > room {
            return Ok(None);
        }
    }
    paths.sort_unstable_by(|(a_head, a, a_id), (b_head, b, b_id)| {
        a_head.cmp(b_head).then_with(|| bytes[a.clone()].cmp(&bytes[b.clone()])).then(a_id.cmp(b_id))
    });
    Ok(Some(free.into_iter().zip(paths.into_iter().map(|(_, _, id)| id)).collect()))
}

/// The first bytes as a number that sorts as they do: mostly no more are looked at.
fn head(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let n = bytes.len().min(first.len());
    first[..n].copy_from_slice(&bytes[..n]);
    u64::from_be_bytes(first)
}

/// A file's new name may be the old one of another: all move aside first, or one that was not moved yet would be overwritten.
fn rename(folder: &Path, files: &[u64], told: &HashMap<u64, TestId>) -> Result<(), Error> {
    let renamed = || files.iter().filter_map(|old| Some((*old, *told.get(old)?))).filter(|(old, new)| *old != new.0);
    let aside = |old: u64| folder.join(format!("tests/.{old}.moving"));
    for (old, _) in renamed() {
        let path = folder.join(test_name(TestId(old)));
        std::fs::rename(&path, aside(old)).map_err(|error| Error::io(&path, &error))?;
    }
    for (old, new) in renamed() {
        let path = folder.join(test_name(new));
        std::fs::rename(aside(old), &path).map_err(|error| Error::io(&path, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_sorts_as_the_database_does() {
        let database = Database::in_memory(Path::new("none")).expect("made");
        let connection = &database.connection;
        let mut insert = connection.prepare("INSERT INTO paths VALUES (?1, 1, 0, 1, 0, 0, x'', ?2)").expect("prepared");
        // Short ones, equal ones, zeros at the end, long ones that differ late.
        let texts: Vec<Vec<u8>> = (0..300u64)
            .map(|idx| (0..idx * 7919 % 13).map(|at| (idx * at * 31 % 5) as u8 * u8::from(at != 9)).collect())
            .collect();
        for (idx, text) in texts.iter().enumerate() {
            insert.execute(rusqlite::params![3 * idx as i64 + 1, text]).expect("inserted");
        }
        let mut sorted =
            connection.prepare("SELECT id FROM paths WHERE id > 30 ORDER BY decisions, id").expect("prepared");
        let by_database: Vec<i64> =
            sorted.query_map([], |row| row.get(0)).expect("asked").map(|id| id.expect("read")).collect();
        let sort = |room: usize| sorted_in_memory(connection, 30, room).expect("readable");
        assert_eq!(sort(100), None, "there is no room");
        let in_memory = sort(MOST_IN_MEMORY).expect("there is room");
        assert_eq!(in_memory.iter().map(|(_, path)| *path).collect::<Vec<_>>(), by_database);
        assert!(in_memory.is_sorted_by_key(|(number, _)| *number));
    }
}
