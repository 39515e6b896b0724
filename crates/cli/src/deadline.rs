//! What `--max-time` allows: most of it for exploring, the rest for what comes after.
//!
//! The whole command is to take no more than the time given, a tenth of it and a second. Compiling comes before exploring and
//! is taken off its share; confirming findings comes before coverage, which takes what is left. The tenth and the second are for
//! what nobody can foresee: all parts aim at less.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Instant,
    max_time: Option<Duration>,
}

/// What exploring leaves at least of a long time, and how much of a short one.
const LEAST_REST: Duration = Duration::from_millis(250);
const REST_OF_SHORT: u32 = 10;
const REST_OF_LONG: u32 = 20;
/// Native runs may take this much longer than the time given: coverage is still to be measured and written.
const LATE: Duration = Duration::from_millis(400);

impl Deadline {
    pub fn start(max_time: Option<Duration>) -> Deadline {
        Deadline { started: Instant::now(), max_time }
    }

    /// What exploring may take from now on. Half the time at least: a program that takes long to compile is still explored.
    pub fn for_exploring(&self) -> Option<Duration> {
        let max_time = self.max_time?;
        let rest = (max_time / REST_OF_LONG + LEAST_REST).min(max_time / REST_OF_SHORT);
        Some((max_time - rest).saturating_sub(self.started.elapsed()).max(max_time / 2))
    }

    /// When native runs have to be over.
    pub fn replay_until(&self) -> Option<Instant> {
        let max_time = self.max_time?;
        Some(self.started + max_time + max_time / 20 + LATE)
    }

    /// What native runs may take from now on.
    pub fn for_replaying(&self) -> Option<Duration> {
        Some(self.replay_until()?.saturating_duration_since(Instant::now()))
    }

    pub fn is_over(&self) -> bool {
        self.for_replaying().is_some_and(|left| left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_stay_within_a_tenth_and_a_second() {
        let deadline = Deadline::start(Some(Duration::from_secs(10)));
        let exploring = deadline.for_exploring().expect("limited");
        let replaying = deadline.for_replaying().expect("limited");
        assert!(exploring <= Duration::from_millis(9_250) && exploring > Duration::from_secs(9));
        assert!(replaying <= Duration::from_millis(10_900) && replaying > exploring);
        let short = Deadline::start(Some(Duration::from_secs(1)));
        assert!(short.for_exploring().is_some_and(|exploring| exploring <= Duration::from_millis(900)));
        assert!(!deadline.is_over() && Deadline::start(None).for_replaying().is_none());
    }
}
