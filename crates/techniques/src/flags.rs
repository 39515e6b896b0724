//! Flags of techniques: each declares its own in its folder, and reads there what the command line gave.

use std::collections::BTreeMap;
use std::path::Path;

/// One flag of a technique.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// As on the command line, without the dashes; begins with the technique's name.
    pub name: &'static str,
    /// One sentence for `--help`.
    pub help: &'static str,
    pub takes: Takes,
}

impl Flag {
    /// One that a number follows.
    pub const fn number(name: &'static str, named: &'static str, default: u64, help: &'static str) -> Flag {
        Flag { name, help, takes: Takes::Number { named, default } }
    }
}

/// What follows the flag. Words in capitals stand for the value in `--help`.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Nothing: it is there or not.
    Nothing,
    Number {
        named: &'static str,
        default: u64,
    },
    /// Words separated by commas; the flag may also be repeated.
    List {
        named: &'static str,
    },
    File {
        named: &'static str,
    },
    /// One of these words, each with what it means.
    OneOf {
        named: &'static str,
        words: &'static [(&'static str, &'static str)],
        default: &'static str,
    },
}

/// What the command line gave, by name of the flag.
#[derive(Clone, Debug, Default)]
pub struct Flags(BTreeMap<&'static str, Vec<String>>);

impl Flags {
    pub fn set(&mut self, flag: &Flag, values: impl IntoIterator<Item = impl Into<String>>) {
        self.0.insert(flag.name, values.into_iter().map(Into::into).collect());
    }

    pub fn is_given(&self, flag: &Flag) -> bool {
        self.0.contains_key(flag.name)
    }

    /// The words of a list; none when it is not given.
    pub fn list(&self, flag: &Flag) -> &[String] {
        self.0.get(flag.name).map_or(&[], Vec::as_slice)
    }

    pub fn file(&self, flag: &Flag) -> Option<&Path> {
        self.last(flag).map(Path::new)
    }

    pub fn number(&self, flag: &Flag) -> u64 {
        let usual = match flag.takes {
            Takes::Number { default, .. } => default,
            _ => 0,
        };
        // What is no number was refused when the command line was read.
        self.last(flag).and_then(|word| word.parse().ok()).unwrap_or(usual)
    }

    pub fn word(&self, flag: &Flag) -> &str {
        let usual = match flag.takes {
            Takes::OneOf { default, .. } => default,
            _ => "",
        };
        self.last(flag).unwrap_or(usual)
    }

    fn last(&self, flag: &Flag) -> Option<&str> {
        self.list(flag).last().map(String::as_str)
    }
}
