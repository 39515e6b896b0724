//! The whole C library as bitcode: one file for each of its sources, made once by `scripts/libc`, of which a program gets
//! those it needs, as from an archive.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::LoadError;

/// Where the library's files are, in a folder for each width of pointers.
#[derive(Clone, Debug)]
pub struct Libc {
    cache: PathBuf,
}

/// How wide a pointer of the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Bits32,
    Bits64,
}

/// The files for one width, with what each defines and needs.
#[derive(Debug)]
pub(crate) struct Index {
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
    pub fn open(cache: &Path) -> Result<Libc, LoadError> {
        let folder = cache.join("libc");
        if folder.join("index").is_file() {
            Ok(Libc { cache: cache.to_path_buf() })
        } else {
            Err(LoadError::NoLibc { folder })
        }
    }

    pub(crate) fn index(&self, width: Width) -> Result<Index, String> {
        let folder = self.cache.join(match width {
            Width::Bits32 => "libc/m32",
            Width::Bits64 => "libc",
        });
        let text = std::fs::read_to_string(folder.join("index"));
        let text = text.map_err(|error| format!("{}: {error}; run scripts/libc", folder.join("index").display()))?;
        Index::parse(folder, &text)
    }
}

impl Index {
    /// Lines of `member D|U name`.
    fn parse(folder: PathBuf, text: &str) -> Result<Index, String> {
        let mut index = Index { folder, members: Vec::new(), definers: FxHashMap::default() };
        for line in text.lines() {
            let mut words = line.split(' ');
            let (Some(path), Some(role), Some(name)) = (words.next(), words.next(), words.next()) else {
                return Err(format!("{}: `{line}` is no line of an index", index.folder.join("index").display()));
            };
            if index.members.last().is_none_or(|member| member.path != path) {
                index.members.push(Member { path: path.to_string(), needs: Vec::new() });
            }
            let idx = index.members.len() - 1;
            match role {
                "D" => {
                    index.definers.entry(name.to_string()).or_insert(idx);
                }
                _ => index.members[idx].needs.push(name.to_string()),
            }
        }
        Ok(index)
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
