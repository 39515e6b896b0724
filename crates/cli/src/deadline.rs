//! What `--max-time` allows: most of it for exploring, the rest for what comes after.
//!
//! The whole command is to take no more than the time given, a tenth of it and a second. Compiling comes before exploring and
//! is taken off its share; confirming findings comes before coverage, which takes what is left.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Instant,
    max_time: Option<Duration>,
}

/// After the last native run something is still to be written.
const WRITING: Duration = Duration::from_millis(400);

impl Deadline {
    pub fn start(max_time: Option<Duration>) -> Deadline {
        Deadline { started: Instant::now(), max_time }
    }

    /// What exploring may take from now on. Half the time at least: a program that takes long to compile is still explored.
    pub fn for_exploring(&self) -> Option<Duration> {
        let max_time = self.max_time?;
        Some((max_time * 19 / 20).saturating_sub(self.started.elapsed()).max(max_time / 2))
    }

    /// What native runs may take from now on.
    pub fn for_replaying(&self) -> Option<Duration> {
        let allowed = self.max_time? * 11 / 10 + Duration::from_secs(1) - WRITING;
        Some(allowed.saturating_sub(self.started.elapsed()))
    }

    pub fn is_over(&self) -> bool {
        self.for_replaying().is_some_and(|left| left.is_zero())
    }

    /// The same as milliseconds for one run, and no more than `most`.
    pub fn run_ms(&self, most: u32) -> u32 {
        self.for_replaying().map_or(most, |left| most.min(u32::try_from(left.as_millis()).unwrap_or(u32::MAX)))
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
        assert!(exploring <= Duration::from_millis(9_500) && exploring > Duration::from_secs(9));
        assert!(replaying <= Duration::from_millis(11_600) && replaying > exploring);
        assert_eq!(deadline.run_ms(1000), 1000);
        assert!(!deadline.is_over() && Deadline::start(None).for_replaying().is_none());
    }
}
