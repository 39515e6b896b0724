//! Generated tests in other people's forms. Each exporter returns files; writing them is the caller's business.

mod c;
mod corpus;
mod ktest;
mod lcov;
mod readable;
mod testcomp;

pub use c::{NativeProgram, c, gtest};
pub use corpus::corpus;
pub use ktest::ktest;
pub use lcov::lcov;
pub use testcomp::{Machine, TestCompProgram, testcomp};

/// One file of an export, its name relative to the export's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl ExportFile {
    fn text(name: impl Into<String>, text: impl Into<String>) -> ExportFile {
        ExportFile { name: name.into(), bytes: text.into().into_bytes() }
    }
}
