//! What a campaign keeps beside its tests: findings, ledger, coverage, and from where to go on.

use report::{CoverageView, FindingSummary, LedgerSummary, Summary, TestId};
use rusqlite::{Connection, params};

use crate::pending::Prefixes;
use crate::{Database, Error};

/// From where a campaign can be gone on with: all figures until there, and what was pending.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    pub summary: Summary,
    pub pending: Prefixes,
    /// Paths of the summary that are pending, counted there as cut.
    pub n_resumable: u64,
    /// Tests above this number may be of paths below what is pending.
    pub n_settled: u64,
}

impl Checkpoint {
    /// About what it takes in memory: nearly all of it is what is pending.
    pub(crate) fn n_bytes(&self) -> usize {
        let Checkpoint { summary, pending, n_resumable: _, n_settled: _ } = self;
        let findings = summary.findings.len() * size_of::<FindingSummary>();
        let ledger = summary.ledger.len() * size_of::<LedgerSummary>();
        size_of::<Checkpoint>() + findings + ledger + pending.n_bytes()
    }
}

impl Database {
    /// Replaces the checkpoint before.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let Checkpoint { summary, pending, n_resumable, n_settled } = checkpoint;
        self.save_figures(summary)?;
        self.set("n_resumable", &n_resumable.to_string())?;
        self.set("n_settled", &n_settled.to_string())?;
        self.run(|connection| {
            connection.execute("DELETE FROM pending", [])?;
            let mut insert = connection.prepare_cached("INSERT INTO pending (pieces, ends) VALUES (?1, ?2)")?;
            pending.rows().try_for_each(|(pieces, ends)| insert.execute([pieces, ends]).map(|_| ()))
        })
    }

    /// What the summary says, without what was pending when it was made.
    pub fn save_figures(&self, summary: &Summary) -> Result<(), Error> {
        self.set("summary", &summary.to_json())?;
        self.run(|connection| {
            connection.execute("DELETE FROM ledger", [])?;
            let mut insert = connection.prepare_cached("INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for entry in &summary.ledger {
                insert.execute(params![entry.kind, entry.file, entry.line, entry.detail, entry.count as i64])?;
            }
            Ok(())
        })
    }

    /// The checkpoint to go on from; `None` where the campaign has to begin.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        let Some(summary) = self.get("summary")? else { return Ok(None) };
        let summary = Summary::from_json(&summary).map_err(|error| self.damaged(&format!("the summary: {error}")))?;
        let mut pending = Prefixes::default();
        self.run(|connection| {
            let mut statement = connection.prepare("SELECT pieces, ends FROM pending ORDER BY id")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                pending.add_row(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
            }
            Ok(())
        })?;
        let (n_resumable, n_settled) = (self.number("n_resumable")?, self.number("n_settled")?);
        Ok(Some(Checkpoint { summary, pending, n_resumable, n_settled }))
    }

    /// Findings as they are reported at the end.
    pub fn save_findings(&self, findings: &[FindingSummary]) -> Result<(), Error> {
        self.run(|connection| {
            connection.execute("DELETE FROM findings", [])?;
            findings.iter().try_for_each(|finding| insert_finding(connection, finding, finding.test_id()))
        })
    }

    pub fn save_coverage(&self, coverage: &CoverageView) -> Result<(), Error> {
        self.run(|connection| {
            connection.execute_batch("DELETE FROM lines; DELETE FROM branches")?;
            let mut insert = connection.prepare("INSERT INTO lines VALUES (?1, ?2, ?3)")?;
            for (file, lines) in &coverage.lines {
                for (line, count) in lines {
                    insert.execute(params![file, line, *count as i64])?;
                }
            }
            let mut insert = connection.prepare("INSERT INTO branches VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (file, branches) in &coverage.branches {
                for (line, column, when_true, when_false) in branches {
                    insert.execute(params![file, line, column, *when_true as i64, *when_false as i64])?;
                }
            }
            Ok(())
        })
    }

    /// Empty where nothing was measured.
    pub fn coverage(&self) -> Result<CoverageView, Error> {
        let mut view = CoverageView::default();
        self.run(|connection| {
            let mut statement = connection.prepare("SELECT file, line, count FROM lines ORDER BY rowid")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                view.lines.entry(row.get(0)?).or_default().push((row.get(1)?, row.get::<_, i64>(2)? as u64));
            }
            let mut statement =
                connection.prepare("SELECT file, line, col, when_true, when_false FROM branches ORDER BY rowid")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let counts = (row.get::<_, i64>(3)? as u64, row.get::<_, i64>(4)? as u64);
                let branch = (row.get(1)?, row.get(2)?, counts.0, counts.1);
                view.branches.entry(row.get(0)?).or_default().push(branch);
            }
            Ok(())
        })?;
        Ok(view)
    }
}

pub(crate) fn insert_finding(connection: &Connection, finding: &FindingSummary, test: TestId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
        .execute(params![
            finding.kind,
            finding.cwe,
            finding.file,
            finding.line,
            finding.column,
            finding.call,
            finding.function,
            finding.message,
            test.0 as i64,
            finding.confirmed,
            finding.paths as i64
        ])
        .map(|_| ())
}
