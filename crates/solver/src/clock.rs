//! When the time for a question is over: at its deadline, or when the whole campaign is to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct Clock {
    deadline: Instant,
    stop: Arc<AtomicBool>,
}

impl Clock {
    pub fn new(timeout: Duration, stop: &Arc<AtomicBool>) -> Clock {
        Clock { deadline: Instant::now() + timeout, stop: Arc::clone(stop) }
    }

    /// One that is over when so many parts of what is left have passed.
    pub fn share(&self, parts: u32, of: u32) -> Clock {
        Clock { deadline: Instant::now() + self.left() / of * parts, stop: Arc::clone(&self.stop) }
    }

    /// One that leaves no less than this from now on.
    pub fn with_at_least(self, least: Duration) -> Clock {
        Clock { deadline: self.deadline.max(Instant::now() + least), stop: self.stop }
    }

    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Zero when it is over.
    pub fn left(&self) -> Duration {
        if self.stop.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        self.deadline.saturating_duration_since(Instant::now())
    }
}
