//! Everything a campaign leaves behind: test files, the summary, SARIF, HTML, exports and the text on the terminal.
//!
//! Knows `witness` and nothing of the engine: it turns plain data into bytes. Reading test files back is `replay`'s
//! business; the exporters are handed [`Case`]s.

mod case;
mod drawing;
mod heap;
mod html;
mod sarif;
mod source;
mod summary;
mod terminal;
mod test_file;
mod value;

pub mod export;

pub use case::{Case, Expected};
pub use heap::shown;
pub use html::{CoverageView, HtmlReport, html};
pub use sarif::sarif;
pub use source::Sources;
pub use summary::{
    CoverageSummary, CutSummary, FindingKey, FindingSummary, GapSummary, LayerSummary, LedgerSummary, PathsSummary,
    QueriesSummary, Ratio, Summary, Verdict, call_of, finding_key,
};
pub use terminal::{Colour, finding_text, summary_text};
pub use test_file::{TestId, encode_ending, encode_stored, encode_test, test_id, test_name};
pub use value::describe;
