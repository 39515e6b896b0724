//! Each kind of entry gets its inputs, from C and from bitcode.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{build_with, input, int, plan};
use replay::{BuildError, BuildPlan, Entry, NativeEnding, Param, ParamKind, Session};
use tempfile::TempDir;
use witness::{BugKind, InputValue};

fn param(name: &str, ty: &str, kind: ParamKind) -> Param {
    Param { name: name.into(), ty: ty.into(), kind }
}

fn function(name: &str, params: Vec<Param>) -> Entry {
    Entry::Function { name: name.into(), params, file: PathBuf::from("f.c") }
}

const FUNCTION: &str = r#"
#include <assert.h>
struct pair { char c; long n; };
typedef unsigned char byte;
static int last(const byte *text, const int n, struct pair pair, double d, int (*unused)(int)) {
  assert(d != 2.5); // half
  if (pair.n == 7 && pair.c == 'p')
    return text[n]; // read
  return 0;
}
int main(void) { return last(0, 0, (struct pair){0}, 0, 0); }
"#;

#[test]
fn a_static_function_gets_values_and_blocks() {
    let params = vec![
        param("text", "const byte *", ParamKind::Pointer),
        param("n", "const int", ParamKind::Value),
        param("pair", "struct pair", ParamKind::Value),
        param("d", "double", ParamKind::Value),
        param("unused", "int (*)(int)", ParamKind::Value),
    ];
    let mut built = build_with(FUNCTION, function("last", params), |_| {});
    let inputs = |n: i32, pair_n: i64, d: f64| -> Vec<InputValue> {
        let pair = [b"p\0\0\0\0\0\0\0".to_vec(), pair_n.to_le_bytes().to_vec()].concat();
        vec![
            input("*text", b"abc"),
            int("n", n),
            input("pair", &pair),
            input("d", &d.to_le_bytes()),
            input("unused", &[0; 8]),
        ]
    };
    let fine = NativeEnding::Returned { status: 0 };
    assert_eq!(built.session.run(&inputs(2, 7, 1.0)), fine);
    assert_eq!(built.session.run(&inputs(3, 6, 1.0)), fine);
    let bug = built.bug(&inputs(3, 7, 1.0));
    assert_eq!(bug.kind, Some(BugKind::OutOfBoundsRead));
    let place = bug.place().unwrap();
    assert_eq!((&*place.file, place.line, &*place.function), ("f.c", built.line("read"), "last"));
    assert_eq!(built.bug(&inputs(0, 0, 2.5)).place().unwrap().line, built.line("half"));
    // Coverage counts for the user's file alone, the harness is not in it.
    let coverage = built.session.coverage().unwrap();
    assert_eq!(coverage.files.keys().collect::<Vec<_>>(), ["f.c"]);
}

#[test]
fn a_pointer_may_be_given_as_a_value() {
    let text = "int f(int *p) { return p ? *p : 0; }\n";
    let mut built = build_with(text, function("f", vec![param("p", "int *", ParamKind::Pointer)]), |_| {});
    assert_eq!(built.session.run(&[input("p", &[0; 8])]), NativeEnding::Returned { status: 0 });
    assert_eq!(built.session.run(&[]), NativeEnding::OutOfInputs { name: "*p".into() });
}

#[test]
fn a_fuzz_target_gets_exactly_its_bytes() {
    let text = r#"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || data[0] == 'a')
    return data[size]; // past
  return 1;
}
"#;
    let mut built = build_with(text, Entry::LibFuzzer, |_| {});
    assert_eq!(built.session.run(&[input("data", b"b")]), NativeEnding::Returned { status: 0 });
    for bytes in [&b"a"[..], b"", b"abcdefghijklmnopqrstuvwx"] {
        let bug = built.bug(&[input("data", bytes)]);
        assert_eq!(bug.kind, Some(BugKind::OutOfBoundsRead), "{bytes:?}");
        assert_eq!(bug.place().unwrap().line, built.line("past"));
    }
}

#[test]
fn several_sources_are_linked() {
    let text = "int helper(int); int colt_int(const char *); int main(void) { return helper(colt_int(\"x\")); }\n";
    let mut built = build_with(text, Entry::Main, |plan| {
        std::fs::create_dir(plan.base_dir.join("sub")).unwrap();
        let helper = "#include \"deep.h\"\nint helper(int x) { return inner(x); }\n";
        std::fs::write(plan.base_dir.join("sub/helper.c"), helper).unwrap();
        let deep = "static int inner(int x) { if (x > 5) return x + OFFSET; return 0; }\n";
        std::fs::write(plan.base_dir.join("sub/deep.h"), deep).unwrap();
        plan.sources.push(PathBuf::from("sub/helper.c"));
        plan.cflags.push("-DOFFSET=2".into());
    });
    assert_eq!(built.session.run(&[int("x", 6)]), NativeEnding::Returned { status: 8 });
    let coverage = built.session.coverage().unwrap();
    assert_eq!(coverage.files.keys().collect::<Vec<_>>(), ["f.c", "sub/deep.h", "sub/helper.c"]);
}

fn emit(dir: &Path, flags: &[&str], out: &str) {
    let status = Command::new("clang-19")
        .current_dir(dir)
        .args(["-g", "-O0", "-emit-llvm", "f.c", "-o", out])
        .args(flags)
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn bitcode_and_text_run_with_memory_checks() {
    let text = r#"
#include <stdlib.h>
int colt_int(const char *);
int pick(int i, long n) { char *p = malloc(4); p[3] = 9; return n ? p[i] : 0; } // read
int main(void) { return pick(colt_int("i"), 1); }
"#;
    for (out, flag) in [("f.bc", "-c"), ("f.ll", "-S")] {
        let dir = TempDir::new().unwrap();
        let mut plan = plan(&dir, text, Entry::Main);
        emit(dir.path(), &[flag], out);
        plan.sources = vec![PathBuf::from(out)];
        let mut session = Session::build(&plan, &dir.path().join("out")).unwrap();
        assert_eq!(session.run(&[int("i", 3)]), NativeEnding::Returned { status: 9 });
        let NativeEnding::Bug(bug) = session.run(&[int("i", 4)]) else { panic!("no bug in {out}") };
        assert_eq!((bug.kind, bug.place().map(|place| place.line)), (Some(BugKind::OutOfBoundsRead), Some(4)));
        assert_eq!(session.coverage().unwrap(), replay::Coverage::default());

        let params = vec![param("i", "int", ParamKind::Value), param("n", "long", ParamKind::Value)];
        plan.entry = Entry::Function { name: "pick".into(), params, file: PathBuf::from(out) };
        let mut session = Session::build(&plan, &dir.path().join("out2")).unwrap();
        let ending = session.run(&[int("i", 9), input("n", &[0; 8])]);
        assert_eq!(ending, NativeEnding::Returned { status: 0 });
    }
}

#[test]
fn code_that_clang_rejects_says_so() {
    let dir = TempDir::new().unwrap();
    let rejected = |plan: &BuildPlan| match Session::build(plan, &dir.path().join("out")) {
        Err(BuildError::Rejected { message }) => message,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    };
    let wrong = plan(&dir, "int main(void) { return 0 }\n", Entry::Main);
    assert!(rejected(&wrong).contains("f.c:1:26"));
    let no_entry = plan(&dir, "int f(void) { return 0; }\n", Entry::Main);
    assert!(rejected(&no_entry).contains("main"));
    let mut missing = plan(&dir, "int main(void) { return 0; }\n", Entry::Main);
    missing.sources = vec![PathBuf::from("gone.c")];
    assert!(rejected(&missing).contains("gone.c"));
}
