//! The headers compile under every standard, and everything they declare exists natively.

mod common;

use std::process::Command;

use common::build_with;
use replay::{Entry, NativeEnding};
use tempfile::TempDir;

#[test]
fn headers_compile_under_every_standard() {
    let dir = TempDir::new().unwrap();
    replay::write_headers(dir.path()).unwrap();
    let source = dir.path().join("f.c");
    std::fs::write(&source, "#include <colt.h>\n#include <klee/klee.h>\nint x;\n").unwrap();
    for standard in ["c89", "gnu89", "c99", "c11", "c17", "c23"] {
        for width in ["-m32", "-m64"] {
            let output = Command::new("clang-19")
                .args(["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", width, "-I"])
                .arg(dir.path())
                .arg(format!("-std={standard}"))
                .arg(&source)
                .output()
                .unwrap();
            assert!(output.status.success(), "{standard}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// Names before an opening parenthesis on lines that declare something.
fn declared(header: &str) -> Vec<&str> {
    header
        .lines()
        .filter(|line| line.contains(");") || line.contains(") COLT_NO_RETURN;"))
        .filter(|line| !line.starts_with('#') && !line.starts_with("/*"))
        .filter_map(|line| line.split('(').next()?.split([' ', '*']).next_back())
        .collect()
}

#[test]
fn everything_declared_is_there_natively() {
    let dir = TempDir::new().unwrap();
    replay::write_headers(dir.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let (colt, klee) = (read("colt.h"), read("klee/klee.h"));
    let names = [declared(&colt), declared(&klee)].concat();
    assert!(names.contains(&"colt_input") && names.contains(&"klee_get_valuell") && names.len() > 35, "{names:?}");
    let table: String = names.iter().map(|name| format!("(void *){name}, ")).collect();
    let text = format!(
        "#include <colt.h>\n#include <klee/klee.h>\nvoid *volatile table[] = {{{table}}};\n\
         int main(void) {{ return table[0] == 0; }}\n"
    );
    let mut built = build_with(&text, Entry::Main, |_| {});
    assert_eq!(built.session.run(&[]), NativeEnding::Returned { status: 0 });
}
