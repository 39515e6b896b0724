//! Keeps a panic inside from ending as a bare panic message: what was being done, and where the results so far lie.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::outcome::{Exit, Failure};

/// What the process is doing, for the message of a fault. Global because a panic hook has no other way to know.
struct Activity {
    doing: String,
    folder: Option<PathBuf>,
    panic: Option<String>,
}

static ACTIVITY: Mutex<Activity> = Mutex::new(Activity { doing: String::new(), folder: None, panic: None });

fn with_activity<T>(look: impl FnOnce(&mut Activity) -> T) -> T {
    // A poisoned lock still holds plain strings.
    let mut activity = ACTIVITY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    look(&mut activity)
}

/// From here on the process is doing this: `exploring f.c`.
pub fn doing(what: impl Into<String>) {
    with_activity(|activity| activity.doing = what.into());
}

/// Partial results lie here.
pub fn results_in(folder: &Path) {
    with_activity(|activity| activity.folder = Some(folder.to_path_buf()));
}

/// Runs a command; a panic in it, on any thread it waits for, becomes a [`Failure`].
pub fn guard(command: impl FnOnce() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    panic::set_hook(Box::new(remember));
    let outcome = panic::catch_unwind(AssertUnwindSafe(command));
    let _ = panic::take_hook();
    outcome.unwrap_or_else(|_| Err(Failure::fault(describe())))
}

fn remember(info: &PanicHookInfo) {
    let message = info
        .payload()
        .downcast_ref::<&str>()
        .map(|text| (*text).to_string())
        .or_else(|| info.payload().downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    let place = info.location().map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
    // The first panic is the cause; later ones are other threads noticing.
    with_activity(|activity| activity.panic.get_or_insert(format!("{message}{place}")).len());
    if std::env::var_os("COLT_BACKTRACE").is_some() {
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
    }
}

fn describe() -> String {
    with_activity(|activity| {
        let cause = activity.panic.take().unwrap_or_else(|| "no message".to_string());
        let doing = if activity.doing.is_empty() { "starting" } else { &activity.doing };
        let results = match &activity.folder {
            Some(folder) => format!("The results so far are in {}. ", folder.display()),
            None => String::new(),
        };
        format!(
            "an internal fault while {doing}: {cause}. {results}This is a defect of Colt, not of your program; please \
             report it with the command you used"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message() {
        doing("testing the guard");
        results_in(Path::new("some/folder"));
        let failure = guard(|| panic!("the sky fell")).expect_err("must fail");
        assert_eq!(failure.exit, Exit::Fault);
        for part in ["testing the guard", "the sky fell", "some/folder", "fault.rs"] {
            assert!(failure.message.contains(part), "{}", failure.message);
        }
    }
}
