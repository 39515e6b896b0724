//! Why a program could not be loaded: each variant prints as one paragraph that says what to do.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("no source file was given")]
    NoSources,
    #[error("{}: no such file", path.display())]
    Missing { path: PathBuf },
    #[error("{}: is a directory; name the C, .bc or .ll files in it", path.display())]
    Directory { path: PathBuf },
    #[error("{}: the file is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{}: cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{}: not a kind of file that Colt reads; it takes C source (.c), LLVM bitcode (.bc) and LLVM text (.ll)", path.display())]
    UnknownKind { path: PathBuf },
    #[error("no clang was found (tried {}); install clang 19 or name it in the environment variable COLT_CLANG", tried.join(", "))]
    NoClang { tried: Vec<String> },
    #[error("{}: clang does not accept this file:\n{}", path.display(), diagnostics.trim_end())]
    Compile { path: PathBuf, diagnostics: String },
    #[error("{}: this LLVM bitcode was written by {producer}, which is newer than LLVM 19 that Colt reads ({reason}); compile it again with clang 19 or older", path.display())]
    NewerBitcode { path: PathBuf, producer: String, reason: String },
    #[error("{}: not valid LLVM code, perhaps truncated or damaged: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
    #[error("the C library in bitcode is not in {}: make it with `scripts/libc` in Colt's source folder (once, a few minutes), or name its folder's parent in the environment variable COLT_CACHE", folder.display())]
    NoLibc { folder: PathBuf },
    #[error("the files cannot be linked into one program: {reason}")]
    Link { reason: String },
    #[error("{}: {}", list(files), no_entry(name, near))]
    NoEntry { files: Vec<PathBuf>, name: String, near: Vec<String> },
    #[error("the entry `{entry}` cannot get a harness: {reason}")]
    Signature { entry: String, reason: String },
    #[error("the program cannot be translated: {reason}")]
    Untranslatable { reason: String },
    #[error("the harness for `{entry}` could not be written to {}: {reason}", path.display())]
    Harness { entry: String, path: PathBuf, reason: String },
}

fn list(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

fn no_entry(name: &str, near: &[String]) -> String {
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    match near.as_slice() {
        [] => format!("no function `{name}` with a body to start from (see --entry), and no other either"),
        _ => format!(
            "no function `{name}` with a body to start from; name another with --entry, for example {}",
            near.join(", ")
        ),
    }
}
