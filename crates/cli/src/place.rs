//! A line of a source file, as the user names it.

use std::fmt;

use crate::outcome::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

impl Place {
    pub fn parse(text: &str) -> Result<Place, Failure> {
        text.rsplit_once(':')
            .and_then(|(file, line)| Some(Place { file: file.to_string(), line: line.parse().ok()? }))
            .filter(|place| !place.file.is_empty() && place.line > 0)
            .ok_or_else(|| Failure::usage(format!("`{text}` is not FILE:LINE, such as parser.c:12")))
    }

    /// Whether the user means this file: by its whole path, or by the end of it.
    pub fn is_in(&self, path: &str) -> bool {
        path == self.file || path.strip_suffix(self.file.as_str()).is_some_and(|folder| folder.ends_with('/'))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let place = Place::parse("a/b.c:12").expect("valid");
        assert_eq!(place, Place { file: "a/b.c".into(), line: 12 });
        for bad in ["b.c", "b.c:x", ":3", "b.c:0"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
        assert!(place.is_in("a/b.c") && place.is_in("/src/a/b.c") && !place.is_in("aa/b.c") && !place.is_in("b.c"));
    }
}
