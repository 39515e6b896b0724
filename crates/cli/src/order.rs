//! Names tests by the order of their paths.
//!
//! With one worker tests arrive in the same order every time. With several they arrive as it happens, so their files are
//! numbered anew when the last one is on disk: by their decisions, which do not depend on who explored them.

use std::collections::HashMap;
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

/// Every file moves out of the way first, so that no name is taken when it is needed.
fn rename(dir: &Path, renamed: &HashMap<u64, TestId>) -> Result<(), Failure> {
    let moved = renamed.iter().filter(|(old, new)| **old != new.0);
    let aside = |new: TestId| dir.join(format!("tests/.{:06}", new.0));
    let failed = |error: std::io::Error| Failure::fault(format!("cannot rename tests in {}: {error}", dir.display()));
    for (old, new) in moved.clone() {
        fs::rename(dir.join(test_name(TestId(*old))), aside(*new)).map_err(failed)?;
    }
    for (_, new) in moved {
        fs::rename(aside(*new), dir.join(test_name(*new))).map_err(failed)?;
    }
    Ok(())
}
