//! The whole C library as bitcode: one file for each of its sources, made once by `scripts/libc`, of which a program gets
//! those it needs, as from an archive.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::LoadError;

/// The folder with the library's files and the index of what each defines and needs.
#[derive(Clone, Debug)]
pub struct Libc {
    folder: PathBuf,
    members: Vec<Member>,
    /// The member that defines a name; the first where several do.
    definers: FxHashMap<String, usize>,
}

#[derive(Clone, Debug, Default)]
struct Member {
    path: String,
    needs: Vec<String>,
}

/// A member that is always linked: it makes the world ready before the program starts.
const START: &str = "glue/start.bc";

impl Libc {
    /// From the folder that `scripts/libc` filled.
    pub fn open(folder: &Path) -> Result<Libc, LoadError> {
        let missing = || LoadError::NoLibc { folder: folder.to_path_buf() };
        let index = std::fs::read_to_string(folder.join("index")).map_err(|_| missing())?;
        let mut libc = Libc { folder: folder.to_path_buf(), members: Vec::new(), definers: FxHashMap::default() };
        for line in index.lines() {
            let mut words = line.split(' ');
            let (Some(path), Some(role), Some(name)) = (words.next(), words.next(), words.next()) else {
                return Err(missing());
            };
            if libc.members.last().is_none_or(|member| member.path != path) {
                libc.members.push(Member { path: path.to_string(), needs: Vec::new() });
            }
            let idx = libc.members.len() - 1;
            match role {
                "D" => {
                    libc.definers.entry(name.to_string()).or_insert(idx);
                }
                _ => libc.members[idx].needs.push(name.to_string()),
            }
        }
        Ok(libc)
    }

    /// The members that `wanted` needs, directly or through others, and their bitcode. Names in `defined` come from
    /// elsewhere.
    pub fn members_for<'a>(
        &self,
        wanted: impl Iterator<Item = &'a String>,
        defined: &FxHashSet<String>,
    ) -> Result<Vec<(String, Vec<u8>)>, String> {
        let mut chosen: Vec<usize> = self.members.iter().position(|member| member.path == START).into_iter().collect();
        let mut is_chosen = vec![false; self.members.len()];
        chosen.iter().for_each(|idx| is_chosen[*idx] = true);
        let mut choose = |name: &String, chosen: &mut Vec<usize>| {
            if !defined.contains(name)
                && let Some(&idx) = self.definers.get(name)
                && !std::mem::replace(&mut is_chosen[idx], true)
            {
                chosen.push(idx);
            }
        };
        wanted.for_each(|name| choose(name, &mut chosen));
        let mut at = 0;
        while let Some(&idx) = chosen.get(at) {
            self.members[idx].needs.iter().for_each(|name| choose(name, &mut chosen));
            at += 1;
        }
        chosen.sort_unstable();
        let read = |idx: &usize| {
            let path = self.folder.join(&self.members[*idx].path);
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok((self.members[*idx].path.clone(), bytes))
        };
        chosen.iter().map(read).collect()
    }
}
