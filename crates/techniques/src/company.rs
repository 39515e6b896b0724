//! Pairs of techniques: what two of them are together, declared where the second one is, and the table made from that.

use std::fmt::Write;

use crate::Entry;

/// What a technique says about one declared before it.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub with: &'static str,
    pub together: Together,
    /// Why that is so, in a sentence or two.
    pub why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Sound, and they save more than each of them.
    Useful,
    /// Sound, and no better than one of them.
    NoGain,
    /// Not sound, or nobody has shown that it is.
    Refused,
}

impl Together {
    fn words(self) -> &'static str {
        match self {
            Together::Useful => "sound and useful",
            Together::NoGain => "sound without gain",
            Together::Refused => "refused",
        }
    }
}

/// What holds until somebody declares something else.
const UNDECLARED: &str = "nobody has shown yet what they may leave out together.";

/// What the two are together; the order they are named in does not matter.
pub fn together(all: &[Entry], one: &str, other: &str) -> (Together, &'static str) {
    let declared = |by: &str, with: &str| {
        let entry = all.iter().find(|entry| entry.name == by)?;
        entry.company.iter().find(|pair| pair.with == with)
    };
    let pair = declared(one, other).or_else(|| declared(other, one));
    pair.map_or((Together::Refused, UNDECLARED), |pair| (pair.together, pair.why))
}

/// Every pair once, the one that is declared first in front.
pub fn pairs(all: &[Entry]) -> Vec<(&'static str, &'static str)> {
    let seconds = |first: usize| all[first + 1..].iter().map(move |second| (all[first].name, second.name));
    (0..all.len()).flat_map(seconds).collect()
}

/// The table of docs/techniques/README.md.
pub fn table(all: &[Entry]) -> String {
    let mut text = String::from("| `--with` | together | why |\n|---|---|---|\n");
    for (one, other) in pairs(all) {
        let (together, why) = together(all, one, other);
        let _ = writeln!(text, "| `{one},{other}` | {} | {why} |", together.words());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands around the table.
    const DOC: &str = include_str!("../../../docs/techniques/README.md");

    #[test]
    fn the_table_is_up_to_date() {
        let table = table(crate::ALL);
        assert!(DOC.contains(&table), "docs/techniques/README.md is to have this table:\n{table}");
    }

    #[test]
    fn every_pair_is_declared_once_and_by_the_second() {
        for (idx, entry) in crate::ALL.iter().enumerate() {
            for pair in entry.company {
                let before = crate::ALL[..idx].iter().filter(|other| other.name == pair.with).count();
                assert_eq!(before, 1, "`{}` declares `{}`, which does not come before it", entry.name, pair.with);
                let n_times = entry.company.iter().filter(|other| other.with == pair.with).count();
                assert_eq!(n_times, 1, "`{}` declares `{}` twice", entry.name, pair.with);
            }
        }
    }
}
