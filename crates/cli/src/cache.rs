//! The folder for what is made once and used by every campaign: the C library in bitcode, the compiled native runtime.

use std::path::PathBuf;

/// `$COLT_CACHE`, or `colt` in the user's cache folder; `scripts/libc` goes by the same rule.
pub fn folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = named("COLT_CACHE").or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("colt")));
    own.or_else(|| named("HOME").map(|home| home.join(".cache/colt")))
}
