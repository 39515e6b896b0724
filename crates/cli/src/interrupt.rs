//! Ctrl-C: the first one asks the run to end cleanly, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag everything that runs long looks at.
pub fn install() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // A second handler in one process (the library used twice) keeps the first; that run then cannot be interrupted.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("\ncolt: stopping; once more to end at once");
    });
    stop
}
