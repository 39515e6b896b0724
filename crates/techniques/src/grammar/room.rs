//! The input that a text stands in: its bytes, and what says where the text is over.

use term::{TermId, Terms};
use vm::InputRecord;

/// Where a text stands.
#[derive(Clone, Debug)]
pub struct Room {
    pub name: String,
    pub bytes: Vec<TermId>,
    pub end: End,
    /// Whether the last byte has to stay a zero.
    pub needs_zero: bool,
}

impl Room {
    /// The room of an input that is a text.
    pub fn of(record: &InputRecord) -> Room {
        // What is behind an argument is a zero already.
        let bytes: Vec<TermId> = record.scalars.iter().map_while(|scalar| scalar.term).collect();
        let end = record.size.map_or(End::Zero, End::Size);
        let needs_zero = end == End::Zero && bytes.len() == record.scalars.len();
        Room { name: record.name.to_string(), bytes, end, needs_zero }
    }

    /// The room of a fuzzer's data, of which only the most bytes are known.
    pub fn to_be(name: &str, most: u64, terms: &mut Terms) -> Room {
        let bytes = (0..most).map(|idx| terms.symbol(&format!("{name}.{idx}"), 8)).collect();
        Room { name: name.to_string(), bytes, end: End::Made, needs_zero: false }
    }

    /// Whether these bytes can stand in it: no zero where a zero would end the text.
    pub fn takes(&self, bytes: &[u8]) -> bool {
        self.end != End::Zero || !bytes.contains(&0)
    }

    /// What does not fit, for the ledger.
    pub fn left_out(&self) -> String {
        let zeros = if self.end == End::Zero { ", or with a zero in them," } else { "" };
        format!("texts of more than {} bytes{zeros} do not fit `{}`", self.most(), self.name)
    }

    /// Bytes of the longest text.
    pub fn most(&self) -> usize {
        self.bytes.len() - usize::from(self.needs_zero)
    }
}

/// What says that a text is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The number of bytes that there are.
    Size(TermId),
    /// A zero, and nothing but zeros behind it.
    Zero,
    /// The input is made as long as the text is.
    Made,
}
