//! What cannot be loaded is refused with one message that names the file and what is wrong.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::{Folder, check};
use frontend::{LoadError, Sources, find_clang, load};

fn refused(files: Vec<PathBuf>) -> LoadError {
    match load(&Sources::new(files)) {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error,
    }
}

fn bitcode(folder: &Folder) -> Vec<u8> {
    let source = folder.write("good.c", "int f(int x) { return x + 1; } int main(void) { return f(2); }");
    let clang = find_clang().expect("clang");
    let output = Command::new(clang).args(["-g", "-emit-llvm", "-c", "-o", "-"]).arg(source).output().expect("runs");
    assert!(output.status.success());
    output.stdout
}

#[test]
fn missing_directory_empty_and_unknown_files() {
    let folder = Folder::new();
    assert!(matches!(refused(vec![]), LoadError::NoSources));
    assert!(matches!(refused(vec![folder.path().join("absent.c")]), LoadError::Missing { .. }));
    assert!(matches!(refused(vec![folder.path()]), LoadError::Directory { .. }));
    assert!(matches!(refused(vec![folder.write("empty.c", " \n")]), LoadError::Empty { .. }));
    assert!(matches!(refused(vec![folder.write("notes.txt", "hello")]), LoadError::UnknownKind { .. }));
}

#[test]
fn what_clang_says_is_shown() {
    let folder = Folder::new();
    let error = refused(vec![folder.write("bad.c", "int main(void) { return x; }")]);
    assert!(matches!(&error, LoadError::Compile { diagnostics, .. } if diagnostics.contains("undeclared")), "{error}");
}

#[test]
fn damaged_bitcode() {
    let folder = Folder::new();
    let whole = bitcode(&folder);
    for length in [3, 40, whole.len() / 3, whole.len() / 2, whole.len() - 40] {
        let error = refused(vec![folder.write("cut.bc", &whole[..length])]);
        assert!(matches!(error, LoadError::Malformed { .. }), "{length}: {error}");
    }
    let error = refused(vec![folder.write("text.bc", "hello")]);
    assert!(matches!(error, LoadError::Malformed { .. }), "{error}");
    let error = refused(vec![folder.write("bad.ll", "define i32 @main() { ret i64 0 }")]);
    assert!(matches!(error, LoadError::Malformed { .. }), "{error}");
}

/// The epoch, which LLVM raises when older readers must refuse, follows the ten letters of the producer's name.
#[test]
fn newer_bitcode() {
    let folder = Folder::new();
    let mut newer = bitcode(&folder);
    newer[28] |= 1 << 3;
    let error = refused(vec![folder.write("newer.bc", newer)]);
    assert!(matches!(error, LoadError::NewerBitcode { .. }), "{error}");
}

#[test]
fn good_bitcode_and_text() {
    let folder = Folder::new();
    let file = folder.write("good.bc", bitcode(&folder));
    let program = load(&Sources::new(vec![file])).unwrap_or_else(|error| panic!("{error}"));
    check(&program);
    // Clang marks everything "do not optimise" by default; locals are promoted all the same.
    assert!(
        program.module.function(program.entry).blocks[0]
            .insts
            .iter()
            .all(|inst| !matches!(inst, ir::Inst::Alloca { .. }))
    );
}

/// Written by clang 14, whose pointers still had types.
#[test]
fn bitcode_of_an_older_clang() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/clang14.bc");
    let program = load(&Sources::new(vec![file])).unwrap_or_else(|error| panic!("{error}"));
    check(&program);
    let sum = program.module.find_function("sum").expect("defined");
    assert_eq!(program.module.function(sum).param_names, ["n"]);
    assert!(program.module.types.iter().any(|ty| matches!(ty, ir::SourceType::Struct { name, .. } if name == "node")));
}

#[test]
fn conflicting_definitions() {
    let folder = Folder::new();
    let a = folder.write("a.c", "int twice(void) { return 1; } int main(void) { return 0; }");
    let b = folder.write("b.c", "int twice(void) { return 2; }");
    let error = refused(vec![a, b]).to_string();
    assert!(error.contains("`twice`"), "{error}");
}

#[test]
fn a_missing_entry_lists_near_names() {
    let folder = Folder::new();
    let file = folder.write("lib.c", "int parse(int x) { return x; } int parse_line(int x) { return x; }");
    let mut sources = Sources::new(vec![file]);
    let error = load(&sources).expect_err("no main").to_string();
    assert!(error.contains("`main`") && error.contains("`parse`") && error.contains("--entry"), "{error}");
    sources.entry = Some("pares".to_string());
    let error = load(&sources).expect_err("no such function");
    assert!(matches!(&error, LoadError::NoEntry { near, .. } if near[0] == "parse"), "{error}");
}
