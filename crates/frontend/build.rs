//! Compiles Colt's own C library and the world below a whole one to bitcode, once for 64-bit and once for 32-bit programs;
//! writes the table that embeds them. Debug information is kept to line tables: nobody inspects the library's types, and
//! loading stays fast.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let runtime = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("runtime");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    println!("cargo:rerun-if-changed={}", runtime.display());
    println!("cargo:rerun-if-env-changed=COLT_CLANG");
    let clang = find_clang().expect("clang 19 is needed to build (package clang-19)");
    let mut table = String::new();
    let world = runtime.join("world");
    for (constant, flag, folder) in [
        ("RUNTIME_64", "-m64", &runtime),
        ("RUNTIME_32", "-m32", &runtime),
        ("WORLD_64", "-m64", &world),
        ("WORLD_32", "-m32", &world),
    ] {
        writeln!(table, "pub const {constant}: &[(&str, &[u8])] = &[").unwrap();
        for source in c_files(folder) {
            let name = source.file_stem().unwrap().to_string_lossy().into_owned();
            let object = out.join(format!("{constant}-{name}.bc"));
            compile(&clang, flag, &runtime, &source, &object);
            writeln!(table, "    ({name:?}, include_bytes!({object:?})),").unwrap();
        }
        writeln!(table, "];").unwrap();
    }
    fs::write(out.join("runtime_table.rs"), table).unwrap();
}

fn find_clang() -> Option<String> {
    let candidates = env::var("COLT_CLANG").ok().into_iter().chain(["clang-19".to_string(), "clang".to_string()]);
    candidates.into_iter().find(|clang| Command::new(clang).arg("--version").output().is_ok())
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    files
}

fn compile(clang: &str, flag: &str, runtime: &Path, source: &Path, object: &Path) {
    let resources = Command::new(clang).arg("-print-resource-dir").output().expect("clang runs").stdout;
    let resources = String::from_utf8_lossy(&resources).trim().to_string();
    let output = Command::new(clang)
        .args([flag, "-ffreestanding", "-fno-builtin", "-nostdinc", "-isystem"])
        .arg(format!("{resources}/include"))
        .args(["-gline-tables-only", "-O0", "-Xclang", "-disable-O0-optnone", "-fno-stack-protector"])
        .arg(format!("-ffile-prefix-map={}=colt-runtime", runtime.display()))
        .args(["-fdebug-compilation-dir=.", "-emit-llvm", "-c"])
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .expect("clang runs");
    assert!(output.status.success(), "{}:\n{}", source.display(), String::from_utf8_lossy(&output.stderr));
}
