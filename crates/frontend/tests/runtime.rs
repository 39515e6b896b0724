//! Colt's C library behaves like the system's: the same random calls of both, natively, with the sanitizers watching.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

const FREESTANDING: &[&str] = &["-ffreestanding", "-nostdinc", "-fno-builtin", "-g"];
const SANITIZED: &[&str] = &["-O1", "-msse2", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];

#[test]
fn agrees_with_the_system_library_on_64_bits() {
    compare_with_system("-m64");
}

#[test]
fn agrees_with_the_system_library_on_32_bits() {
    compare_with_system("-m32");
}

#[test]
fn compiles_to_bitcode_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    for width in ["-m64", "-m32"] {
        for source in sources() {
            let object = object_path(folder.path(), &source, "bc");
            let output = clang()
                .args(FREESTANDING)
                .args([width, "-O0", "-Xclang", "-disable-O0-optnone", "-Wall", "-Wextra", "-Werror", "-emit-llvm"])
                .arg("-isystem")
                .arg(resource_headers())
                .arg("-c")
                .arg(&source)
                .arg("-o")
                .arg(&object)
                .output()
                .unwrap();
            expect_success(&output, &source);
        }
    }
}

/// A plain compilation tells which names the library defines; a second one, with those names changed to `rt_*`, can be
/// linked into one program together with the system's library.
fn compare_with_system(width: &str) {
    let folder = tempfile::tempdir().unwrap();
    let plain: Vec<PathBuf> = sources()
        .iter()
        .map(|source| compile(source, width, &["-O0"], &object_path(folder.path(), source, "plain.o")))
        .collect();
    let renames = folder.path().join("rename.h");
    fs::write(&renames, renaming_header(&plain)).unwrap();
    let include = ["-include", renames.to_str().unwrap()];
    let flags: Vec<&str> = SANITIZED.iter().chain(&include).copied().collect();
    let objects: Vec<PathBuf> = sources()
        .iter()
        .map(|source| compile(source, width, &flags, &object_path(folder.path(), source, "o")))
        .collect();

    let program = folder.path().join("differential");
    let output = clang()
        .args([width, "-w", "-fno-builtin", "-g"])
        .args(SANITIZED)
        .arg(crate_folder().join("tests/runtime_differential.c"))
        .args(&objects)
        .args(["-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    expect_success(&output, &program);
    let output =
        Command::new(&program).env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1").output().unwrap();
    expect_success(&output, &program);
}

fn compile(source: &Path, width: &str, flags: &[&str], object: &Path) -> PathBuf {
    let output = clang()
        .args(FREESTANDING)
        .arg(width)
        .args(flags)
        .arg("-isystem")
        .arg(resource_headers())
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .unwrap();
    expect_success(&output, source);
    object.to_path_buf()
}

fn renaming_header(objects: &[PathBuf]) -> String {
    let output = Command::new("nm").args(["--defined-only", "-g"]).args(objects).output().unwrap();
    expect_success(&output, Path::new("nm"));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .filter(|name| !name.starts_with("__colt"))
        .map(|name| format!("#define {name} rt_{name}\n"))
        .collect()
}

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<PathBuf> {
    let mut sources: Vec<PathBuf> = fs::read_dir(crate_folder().join("runtime"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension() == Some(OsStr::new("c")))
        .collect();
    sources.sort();
    sources
}

fn object_path(folder: &Path, source: &Path, extension: &str) -> PathBuf {
    folder.join(source.file_name().unwrap()).with_extension(extension)
}

fn clang() -> Command {
    Command::new(env::var("COLT_CLANG").unwrap_or_else(|_| "clang-19".into()))
}

fn resource_headers() -> PathBuf {
    let output = clang().arg("-print-resource-dir").output().unwrap();
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()).join("include")
}

fn expect_success(output: &Output, what: &Path) {
    assert!(
        output.status.success(),
        "{}: {}\n{}\n{}",
        what.display(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
