//! Colt's include folder, carried in the binary so that an installed Colt finds it anywhere.

use std::io;
use std::path::Path;

const HEADERS: &[(&str, &str)] = &[
    ("colt.h", include_str!("../../../include/colt.h")),
    ("klee/klee.h", include_str!("../../../include/klee/klee.h")),
];

/// Writes the headers below `dir`, which then serves as an include folder.
pub fn write_headers(dir: &Path) -> io::Result<()> {
    for (name, text) in HEADERS {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
