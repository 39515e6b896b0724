//! Tests that somebody else wrote.

use report::TestId;
use rusqlite::params;
use witness::InputValue;

use crate::code::encode_path;
use crate::intern::{LayoutId, Rest};
use crate::{Database, Error};

/// A test known by its file.
pub struct Imported<'a> {
    pub test: TestId,
    pub inputs: &'a [InputValue],
    /// `returned`, `bug`.
    pub ending: &'a str,
    /// The members of its object that say how it ended, as in `"ending":"returned","status":0`.
    pub members: &'a str,
    pub path: &'a [u64],
}

impl Database {
    pub fn import(&self, imported: &Imported) -> Result<(), Error> {
        let Imported { test, inputs, ending, members, path } = imported;
        let id = test.0 as i64;
        let bytes: Vec<u8> = inputs.iter().flat_map(|input| input.bytes.iter().copied()).collect();
        let mut coded = Vec::new();
        encode_path(path, &mut coded);
        self.run(|connection| {
            crate::writer::insert_layout(connection, LayoutId(id), Rest::ALL, inputs)?;
            connection
                .prepare_cached("INSERT INTO endings (id, ending, json) VALUES (?1, ?2, ?3)")?
                .execute(params![id, ending, members])?;
            connection.prepare_cached("INSERT INTO paths VALUES (?1, ?1, ?4, ?1, 0, 1, ?2, ?3)")?.execute(params![
                id,
                bytes,
                coded,
                inputs.len() as i64
            ])?;
            connection.prepare_cached("INSERT INTO numbers VALUES (?1, ?1)")?.execute([id])?;
            connection
                .prepare_cached("UPDATE campaign SET value = ?1 WHERE key = 'numbered'")?
                .execute([id.to_string()])
                .map(|_| ())
        })
    }
}
