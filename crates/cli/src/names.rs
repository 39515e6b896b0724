//! How the user spelled the files that debug information knows by their full paths.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use witness::{Bug, Ending, Place};

/// Spellings of source files, looked up once each.
pub struct Names {
    cwd: PathBuf,
    given: HashMap<PathBuf, Arc<str>>,
    known: HashMap<Arc<str>, Arc<str>>,
}

impl Names {
    pub fn new(cwd: &Path, files: &[PathBuf]) -> Names {
        let given = files.iter().map(|file| (canonical(&cwd.join(file)), file.to_string_lossy().into())).collect();
        Names { cwd: cwd.to_path_buf(), given, known: HashMap::new() }
    }

    /// As given on the command line; for a header below the working folder, relative to it.
    pub fn spell(&mut self, file: &Arc<str>) -> Arc<str> {
        if let Some(spelled) = self.known.get(file) {
            return Arc::clone(spelled);
        }
        let path = canonical(&self.cwd.join(&**file));
        let spelled = match self.given.get(&path) {
            Some(given) => Arc::clone(given),
            None => match path.strip_prefix(&self.cwd) {
                Ok(below) => below.to_string_lossy().into(),
                Err(_) => Arc::clone(file),
            },
        };
        self.known.insert(Arc::clone(file), Arc::clone(&spelled));
        spelled
    }

    pub fn fix_place(&mut self, place: &mut Place) {
        if !place.file.is_empty() {
            place.file = self.spell(&place.file);
        }
    }

    pub fn fix_bug(&mut self, bug: &mut Bug) {
        self.fix_place(&mut bug.place);
        bug.stack.iter_mut().for_each(|place| self.fix_place(place));
        bug.also.iter_mut().for_each(|(place, _)| self.fix_place(place));
    }

    pub fn fix_ending(&mut self, ending: &mut Ending) {
        match ending {
            Ending::Bug(bug) => self.fix_bug(bug),
            Ending::Unsupported(gap) => self.fix_place(&mut gap.place),
            Ending::Returned { .. }
            | Ending::Exited { .. }
            | Ending::Assumed
            | Ending::Pruned { .. }
            | Ending::Cut(_) => {}
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_paths_become_the_users_own() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let cwd = canonical(dir.path());
        std::fs::create_dir(cwd.join("src")).expect("folder");
        std::fs::write(cwd.join("src/f.c"), "").expect("source");
        std::fs::write(cwd.join("src/f.h"), "").expect("header");
        let mut names = Names::new(&cwd, &[PathBuf::from("./src/../src/f.c")]);
        let full = |name: &str| -> Arc<str> { cwd.join(name).to_string_lossy().into() };
        assert_eq!(&*names.spell(&full("src/f.c")), "./src/../src/f.c");
        assert_eq!(&*names.spell(&full("src/f.h")), "src/f.h");
        assert_eq!(&*names.spell(&"/elsewhere/x.h".into()), "/elsewhere/x.h");
    }
}
