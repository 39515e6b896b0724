//! Finds clang and the LLVM tools that belong to it.

use std::path::{Path, PathBuf};

/// The compiler to use: `$COLT_CLANG` when set, else the first of the usual names on the path.
pub fn clang() -> Option<PathBuf> {
    match std::env::var_os("COLT_CLANG") {
        Some(chosen) if !chosen.is_empty() => on_path(Path::new(&chosen)),
        _ => ["clang-19", "clang"].iter().find_map(|name| on_path(Path::new(name))),
    }
}

/// An LLVM tool of the same version as `clang`: beside it, with the same version suffix, or plain on the path.
pub fn llvm_tool(clang: &Path, tool: &str) -> Option<PathBuf> {
    let clang_name = clang.file_name()?.to_string_lossy().into_owned();
    let suffix = clang_name.strip_prefix("clang").unwrap_or("");
    let real_clang = std::fs::canonicalize(clang).unwrap_or_else(|_| clang.to_path_buf());
    let beside = real_clang.parent().map(|dir| dir.join(tool));
    [clang.with_file_name(format!("{tool}{suffix}")), beside.unwrap_or_default()]
        .into_iter()
        .find(|path| path.is_file())
        .or_else(|| on_path(Path::new(&format!("{tool}{suffix}"))))
        .or_else(|| on_path(Path::new(&format!("{tool}-19"))))
        .or_else(|| on_path(Path::new(tool)))
}

/// Where a command is found, by the rules of a shell.
pub fn on_path(command: &Path) -> Option<PathBuf> {
    if command.components().count() > 1 {
        return command.is_file().then(|| command.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(command)).find(|candidate| candidate.is_file())
}
