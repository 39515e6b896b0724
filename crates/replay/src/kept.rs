//! The runtime's object, kept from one build to the next: it is the same for every program built with the same flags.
//!
//! Whatever goes wrong here costs time only: without a kept object the runtime is compiled again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where in the cache the object that a command makes of these sources is kept; `None` where that cannot be told.
pub fn place(cache: &Path, clang: &Path, command: &Command, sources: &[(&str, &str)]) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    let compiler = std::fs::metadata(clang).ok()?;
    (clang, compiler.len(), compiler.modified().ok()?).hash(&mut hasher);
    // Where this build's files lie is no difference.
    command.get_args().filter(|arg| !Path::new(arg).is_absolute()).for_each(|arg| arg.hash(&mut hasher));
    sources.hash(&mut hasher);
    Some(cache.join("native").join(format!("runtime-{:016x}.o", hasher.finish())))
}

/// Whether the kept object, if there is one, was put at `object`.
pub fn fetch(kept: &Path, object: &Path) -> bool {
    std::fs::copy(kept, object).is_ok_and(|n_bytes| n_bytes > 0)
}

/// Keeps an object. Others may do the same at this moment: each writes a file of its own and renames it.
pub fn keep(object: &Path, kept: &Path) {
    let (Some(folder), Some(name)) = (kept.parent(), kept.file_name()) else { return };
    let own = folder.join(format!(".{}-{}", name.to_string_lossy(), std::process::id()));
    let done = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::copy(object, &own))
        .and_then(|_| std::fs::rename(&own, kept));
    if done.is_err() {
        // What is left of it is never read.
        let _ = std::fs::remove_file(&own);
    }
}
