//! The output folder: made new, never overwritten.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::outcome::Failure;

/// Makes the folder named by `--out`, or the next free `colt-out/NAME-K`.
pub fn create(chosen: Option<&Path>, first_file: &Path) -> Result<PathBuf, Failure> {
    match chosen {
        Some(dir) => create_chosen(dir),
        None => create_numbered(first_file),
    }
}

fn create_chosen(dir: &Path) -> Result<PathBuf, Failure> {
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent).map_err(|error| cannot_make(dir, &error))?;
    }
    match fs::create_dir(dir) {
        Ok(()) => Ok(dir.to_path_buf()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::usage(format!(
            "{} exists already, and results are never overwritten: choose another --out, or remove it first",
            dir.display()
        ))),
        Err(error) => Err(cannot_make(dir, &error)),
    }
}

fn create_numbered(first_file: &Path) -> Result<PathBuf, Failure> {
    let name = first_file.file_stem().map_or("program".into(), |stem| stem.to_string_lossy().into_owned());
    let base = Path::new("colt-out");
    fs::create_dir_all(base).map_err(|error| cannot_make(base, &error))?;
    for number in 1u32.. {
        let dir = base.join(format!("{name}-{number}"));
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_make(&dir, &error)),
        }
    }
    Err(Failure::usage("no free number below colt-out; use --out"))
}

fn cannot_make(dir: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!(
        "cannot make the output folder {}: {error}; choose a folder you can write to with --out",
        dir.display()
    ))
}

/// Takes back a folder in which nothing was written yet; one with contents stays.
pub fn abandon(dir: &Path) {
    let _ = fs::remove_dir(dir);
    if let Some(parent) = dir.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "colt-out")) {
        let _ = fs::remove_dir(parent);
    }
}

/// Writes a file of the output folder whole or not at all.
pub fn write_file(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let path = dir.join(name);
    let writing = dir.join(format!(".{name}.writing"));
    fs::write(&writing, bytes).and_then(|()| fs::rename(&writing, &path)).map_err(|error| {
        let _ = fs::remove_file(&writing);
        Failure::fault(format!("cannot write {}: {error}; what was written before is kept", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_folder_is_refused() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let out = dir.path().join("a/b");
        assert_eq!(create(Some(&out), Path::new("f.c")).expect("made"), out);
        let failure = create(Some(&out), Path::new("f.c")).expect_err("refused");
        assert_eq!(failure.exit.code(), 2);
        assert!(failure.message.contains("exists already"));
        fs::write(out.join("x"), "").expect("contents");
        abandon(&out);
        assert!(out.exists(), "a folder with contents stays");
    }
}
