//! What a technique brings out by itself: findings, figures, files and text.

use witness::{Bug, Certificate, InputValue};

/// A fault that a technique found, with the input that shows it. The path it was found on is none of its business: that
/// goes on, or ends by a decision in a seat.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// Kind, place and message. A kind at a place that is found already is only counted.
    pub bug: Bug,
    /// Made by [`crate::inputs_of`]. They become a test, which is run natively like that of any finding.
    pub inputs: Vec<InputValue>,
    /// The decisions on the way there.
    pub path: Vec<u64>,
    /// The proof, where there is one.
    pub certificate: Option<Certificate>,
}

/// What a technique has to tell in the end; any of it may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What goes into `summary.json` under the technique's name: a JSON object.
    pub summary: Option<String>,
    /// Files in the output folder.
    pub files: Vec<TextFile>,
    /// Text for people, below the figures on the terminal.
    pub text: String,
}

impl Report {
    pub fn summary(json: impl Into<String>) -> Report {
        Report { summary: Some(json.into()), ..Report::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// Relative to the output folder.
    pub name: String,
    pub text: String,
}
