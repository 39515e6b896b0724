//! The techniques: one folder each, and the one list of them.

use explore::Technique;

/// How a line-up names a technique and makes it.
pub struct Entry {
    pub name: &'static str,
    pub make: fn() -> Box<dyn Technique>,
}

/// Every technique there is.
pub const ALL: &[Entry] = &[];

/// The technique of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
