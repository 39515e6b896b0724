//! `DIR/campaign.sqlite`: every test of a campaign, what was found, and what going on with it needs. The only crate that
//! knows SQLite.
//!
//! A test is a row, and a row costs microseconds. [`Writer`] takes rows from the explorer and writes what came in some
//! milliseconds in one transaction, on a thread of its own. The schema, for people who want to ask the database themselves,
//! is in `docs/campaign.md`; [`VERSION`] is raised with every change of it.
//!
//! Killing the process loses what was not committed, which is some milliseconds of tests: the write-ahead log is kept by the
//! operating system. A campaign that ended is one ordinary file without a log beside it, which may be copied, and read where
//! nothing can be written.

mod code;
mod error;
mod fields;
mod import;
mod intern;
mod number;
mod open;
mod pending;
mod read;
mod save;
mod writer;

pub use code::{decisions, encode_path};
pub use error::{Error, Problem};
pub use import::Imported;
pub use number::Numbered;
pub use open::{Database, NAME, VERSION};
pub use pending::{Packer, PieceId, Prefixes};
pub use read::{StoredTest, Which};
pub use save::Checkpoint;
pub use writer::{Keep, Writer};
