//! Names tests by the order of their paths.
//!
//! With one worker tests arrive in the same order every time. With several they arrive as it happens, so their files are
//! numbered anew when the last one is on disk: by their decisions, which do not depend on who explored them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use report::{TestId, test_name};

use crate::outcome::Failure;
use crate::sink::{Collected, FindingKey, WITNESSES_KEPT};

/// A test as it arrived: its decisions, its number then, and the finding it shows.
pub struct Arrival {
    pub path: Vec<u64>,
    pub test: TestId,
    pub finding: Option<FindingKey>,
}

/// Renames the tests and corrects whatever speaks of them by number.
pub fn by_path(dir: &Path, collected: &mut Collected, findings: &mut [witness::Finding]) -> Result<(), Failure> {
    let mut arrivals = std::mem::take(&mut collected.arrivals);
    if arrivals.is_empty() {
        return Ok(());
    }
    let mut numbers: Vec<TestId> = arrivals.iter().map(|arrival| arrival.test).collect();
    numbers.sort_by_key(|test| test.0);
    arrivals.sort_by(|a, b| a.path.cmp(&b.path));
    let renamed: HashMap<u64, TestId> =
        arrivals.iter().zip(&numbers).map(|(arrival, number)| (arrival.test.0, *number)).collect();
    rename(dir, &renamed)?;
    for test in &mut collected.covering {
        *test = renamed.get(&test.0).copied().unwrap_or(*test);
    }
    collected.covering.sort_by_key(|test| test.0);
    collected.witnesses.clear();
    for arrival in &arrivals {
        if let Some(key) = &arrival.finding {
            let tests = collected.witnesses.entry(key.clone()).or_default();
            if tests.len() < WITNESSES_KEPT {
                tests.push(renamed[&arrival.test.0]);
            }
        }
    }
    for finding in findings.iter_mut() {
        let number = |name: &str| name.strip_prefix("tests/")?.strip_suffix(".json")?.parse::<u64>().ok();
        if let Some(test) =
            number(&finding.test).and_then(|test| arrivals.iter().find(|arrival| arrival.test.0 == test))
            && let Some(first) = test.finding.as_ref().and_then(|key| collected.witnesses.get(key)?.first())
        {
            finding.test = test_name(*first);
        }
    }
    findings.sort_by(|a, b| a.test.cmp(&b.test));
    Ok(())
}

/// Files whose names are exchanged form circles: one of each circle moves out of the way, and every other one then moves
/// once, to the name that became free.
fn rename(dir: &Path, renamed: &HashMap<u64, TestId>) -> Result<(), Failure> {
    let came_from: HashMap<u64, u64> = renamed.iter().map(|(old, new)| (new.0, *old)).collect();
    let aside = dir.join("tests/.aside");
    let of = |test: u64| dir.join(test_name(TestId(test)));
    let failed = |error: std::io::Error| Failure::fault(format!("cannot rename tests in {}: {error}", dir.display()));
    let mut placed: HashSet<u64> = HashSet::new();
    for &first in renamed.keys() {
        if came_from[&first] == first || placed.contains(&first) {
            continue;
        }
        fs::rename(of(first), &aside).map_err(failed)?;
        let mut free = first;
        while came_from[&free] != first {
            fs::rename(of(came_from[&free]), of(free)).map_err(failed)?;
            placed.insert(free);
            free = came_from[&free];
        }
        fs::rename(&aside, of(free)).map_err(failed)?;
        placed.insert(free);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_gets_the_name_of_its_place() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::create_dir(dir.path().join("tests")).expect("tests folder");
        // A circle of three, an exchange, and one that stays.
        let renamed: HashMap<u64, TestId> =
            [(1, 2), (2, 5), (5, 1), (3, 4), (4, 3), (6, 6)].map(|(old, new)| (old, TestId(new))).into();
        for old in renamed.keys() {
            fs::write(dir.path().join(test_name(TestId(*old))), old.to_string()).expect("a test");
        }
        rename(dir.path(), &renamed).expect("renamed");
        for (old, new) in &renamed {
            assert_eq!(fs::read_to_string(dir.path().join(test_name(*new))).expect("a test"), old.to_string());
        }
        assert_eq!(fs::read_dir(dir.path().join("tests")).expect("tests folder").count(), renamed.len());
    }
}
