//! How long a question may take.

use crate::config::Config;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// For a question whose answer can wait: only what needs no search.
    None,
    /// For a question whose answer can be done without: only as long as it is easy, and never by the clock.
    Short,
    /// As configured, but within what is left of the campaign.
    Usual { at_most: Option<Duration> },
    /// Many times longer, for asking again, but within what is left of the campaign.
    Long { at_most: Option<Duration> },
}

/// How many more conflicts a question may meet when it is asked again.
const LONG_FACTOR: u64 = 10;
/// Conflicts after which a question is not easy any more.
const SHORT_CONFLICTS: u64 = 100;

pub(crate) fn timeout(patience: Patience, config: &Config) -> Duration {
    let within = |timeout: Duration, at_most: Option<Duration>| at_most.map_or(timeout, |at_most| timeout.min(at_most));
    match patience {
        Patience::Usual { at_most } => within(config.timeout, at_most),
        Patience::None | Patience::Short => config.timeout,
        Patience::Long { at_most } => within(config.timeout_again, at_most),
    }
}

pub(crate) fn conflict_budget(patience: Patience, config: &Config) -> u64 {
    match patience {
        Patience::Usual { .. } => config.conflict_budget,
        Patience::None | Patience::Short => SHORT_CONFLICTS,
        Patience::Long { .. } => config.conflict_budget.saturating_mul(LONG_FACTOR),
    }
}
