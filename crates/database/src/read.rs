//! Reads tests back.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use report::{TestId, encode_stored};
use rusqlite::{OptionalExtension, Row};
use witness::InputValue;

use crate::code::{decisions, encode_path};
use crate::error::Problem;
use crate::{Database, Error};

/// A test as it lies in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTest {
    pub test: TestId,
    pub inputs: Vec<InputValue>,
    /// As in the test's file: `"ending":"returned","status":0`.
    ending: Rc<str>,
    path: Vec<u64>,
}

impl StoredTest {
    /// The contents of its file.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        encode_stored(&self.inputs, &self.ending, &self.path, &mut out);
        out
    }

    /// How its path ended, as in its file: `"ending":"returned","status":0`.
    pub fn ending(&self) -> &str {
        &self.ending
    }

    /// The decisions of its path as bytes, as those of what is pending.
    pub fn coded_path(&self) -> Vec<u8> {
        let mut coded = Vec::with_capacity(self.path.len());
        encode_path(&self.path, &mut coded);
        coded
    }
}

/// Which tests to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    /// That number only.
    One(TestId),
    /// Those stored after so many.
    After(u64),
    /// Those of paths that a budget ended.
    Cut,
    /// Those that reached something new.
    New,
    /// Those that have a file.
    Files,
}

impl Which {
    /// The condition on the view `tests`, which has one parameter.
    fn condition(self) -> (&'static str, i64) {
        match self {
            Which::All => ("?1 = 0", 0),
            Which::One(test) => ("number = ?1", test.0 as i64),
            Which::After(n_before) => ("path > ?1", n_before as i64),
            Which::Cut => ("?1 = 0 AND ending = 'cut'", 0),
            Which::New => ("?1 = 0 AND is_new + has_file > 0 AND is_new = 1", 0),
            Which::Files => ("?1 = 0 AND is_new + has_file > 0 AND has_file = 1", 0),
        }
    }
}

/// One input of a layout.
struct Shape {
    name: Arc<str>,
    ty: Arc<str>,
    size: usize,
    layout: Option<witness::Layout>,
}

struct Layout(Vec<Shape>);

impl Database {
    /// Hands tests to `take`, by number; none of them stays in memory.
    pub fn each_test<E: From<Error>>(
        &self,
        which: Which,
        mut take: impl FnMut(StoredTest) -> Result<(), E>,
    ) -> Result<(), E> {
        let (condition, parameter) = which.condition();
        let sql = format!(
            "SELECT number, layout, n_inputs, ending_id, bytes, decisions FROM tests WHERE {condition} ORDER BY number"
        );
        let failed = |error: rusqlite::Error| Error::sqlite(&self.path, &error);
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed)?;
        let mut rows = statement.query([parameter]).map_err(failed)?;
        let mut known = Known::default();
        while let Some(row) = rows.next().map_err(failed)? {
            take(self.stored(row, &mut known)?)?;
        }
        Ok(())
    }

    pub fn test(&self, test: TestId) -> Result<Option<StoredTest>, Error> {
        let mut found = None;
        self.each_test(Which::One(test), |stored| {
            found = Some(stored);
            Ok::<(), Error>(())
        })?;
        Ok(found)
    }

    /// Numbers only.
    pub fn numbers(&self, which: Which) -> Result<Vec<TestId>, Error> {
        let (condition, parameter) = which.condition();
        self.run(|connection| {
            let sql = format!("SELECT number FROM tests WHERE {condition} ORDER BY number");
            let mut statement = connection.prepare(&sql)?;
            statement.query_map([parameter], |row| Ok(TestId(row.get::<_, i64>(0)? as u64)))?.collect()
        })
    }

    /// The first number from `test` on.
    pub fn number_from(&self, test: TestId) -> Result<Option<TestId>, Error> {
        self.run(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT number FROM numbers WHERE number >= ?1 ORDER BY number LIMIT 1")?;
            statement.query_row([test.0 as i64], |row| Ok(TestId(row.get::<_, i64>(0)? as u64))).optional()
        })
    }

    /// How many tests there are, and the largest number one of them has.
    pub fn n_tests(&self) -> Result<(u64, TestId), Error> {
        self.run(|connection| {
            let sql = "SELECT count(*), coalesce(max(id), 0) FROM paths";
            connection
                .query_row(sql, [], |row| Ok((row.get::<_, i64>(0)? as u64, TestId(row.get::<_, i64>(1)? as u64))))
        })
    }

    fn stored(&self, row: &Row, known: &mut Known) -> Result<StoredTest, Error> {
        let columns = |row: &Row| -> rusqlite::Result<(i64, i64, i64, i64)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        };
        let blobs = |row: &Row| -> rusqlite::Result<(Vec<u8>, Vec<u8>)> { Ok((row.get(4)?, row.get(5)?)) };
        let failed = |error: rusqlite::Error| Error::sqlite(&self.path, &error);
        let (number, layout, n_inputs, ending) = columns(row).map_err(failed)?;
        let (bytes, coded) = blobs(row).map_err(failed)?;
        let layout = known.layout(self, layout)?;
        let ending = known.ending(self, ending)?;
        let mut rest = &bytes[..];
        let shapes = layout.0.get(..n_inputs as usize);
        let shapes = shapes.ok_or_else(|| self.damaged(&format!("the inputs of test {number}")))?;
        let mut inputs = Vec::with_capacity(shapes.len());
        for Shape { name, ty, size, layout } in shapes {
            let (value, after) =
                rest.split_at_checked(*size).ok_or_else(|| self.damaged(&format!("the inputs of test {number}")))?;
            let bytes = value.to_vec();
            inputs.push(InputValue { name: name.clone(), ty: ty.clone(), bytes, layout: layout.clone() });
            rest = after;
        }
        Ok(StoredTest { test: TestId(number as u64), inputs, ending, path: decisions(&coded) })
    }

    pub fn damaged(&self, what: &str) -> Error {
        Error::new(&self.path, Problem::Damaged(what.to_string()))
    }
}

/// Layouts and endings read already; forgotten when they are many.
#[derive(Default)]
struct Known {
    layouts: HashMap<i64, Rc<Layout>>,
    endings: HashMap<i64, Rc<str>>,
}

const KEPT: usize = 4096;

impl Known {
    fn layout(&mut self, database: &Database, layout: i64) -> Result<Rc<Layout>, Error> {
        if let Some(known) = self.layouts.get(&layout) {
            return Ok(known.clone());
        }
        if self.layouts.len() >= KEPT {
            self.layouts.clear();
        }
        let inputs = database.run(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT name, type, size, at, fields FROM layouts WHERE layout = ?1 ORDER BY position",
            )?;
            let text = |row: &Row, idx: usize| row.get::<_, String>(idx).map(Arc::<str>::from);
            let divided = |row: &Row| -> rusqlite::Result<Option<witness::Layout>> {
                let at = row.get::<_, Option<i64>>(3)?.map(|at| at as u64);
                let fields = row.get::<_, Option<String>>(4)?;
                Ok(fields.map(|text| witness::Layout { at, fields: crate::fields::from_text(&text) }))
            };
            statement
                .query_map([layout], |row| {
                    let size = row.get::<_, i64>(2)? as usize;
                    Ok(Shape { name: text(row, 0)?, ty: text(row, 1)?, size, layout: divided(row)? })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let found = Rc::new(Layout(inputs));
        self.layouts.insert(layout, found.clone());
        Ok(found)
    }

    fn ending(&mut self, database: &Database, ending: i64) -> Result<Rc<str>, Error> {
        if let Some(known) = self.endings.get(&ending) {
            return Ok(known.clone());
        }
        if self.endings.len() >= KEPT {
            self.endings.clear();
        }
        let json: String = database.run(|connection| {
            let mut statement = connection.prepare_cached("SELECT json FROM endings WHERE id = ?1")?;
            statement.query_row([ending], |row| row.get(0))
        })?;
        let found: Rc<str> = json.into();
        self.endings.insert(ending, found.clone());
        Ok(found)
    }
}
