//! `colt cc` in builds: what comes out runs as with the plain compiler, and `colt run` finds the code again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testkit::command::{Finished, find_colt, run_limited};

const LIMIT: Duration = Duration::from_secs(120);

const MAIN: &str = r#"#include <stdio.h>
#include "twice.h"
int main(void) {
    int c = getchar();
    if (twice(c) == LIMIT)
        return 100 / (c - LIMIT / 2);
    return GREETING[0];
}
"#;
const TWICE: &str = "#include \"twice.h\"\nint twice(int x) {\n    return 2 * x;\n}\n";
/// Nothing of it is linked.
const UNUSED: &str = "int nowhere(void);\nint unused(void) { return nowhere(); }\n";

fn colt() -> String {
    find_colt().unwrap_or_else(|why| panic!("{why}")).display().to_string()
}

/// A project with a library in a folder of its own.
fn project() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("writable");
    fs::create_dir_all(dir.path().join("lib")).expect("writable");
    write("main.c", MAIN);
    write("lib/twice.c", TWICE);
    write("lib/twice.h", "int twice(int x);\n");
    write("lib/unused.c", UNUSED);
    dir
}

/// Runs a script with `CC` set to `colt cc`; any failing command fails the test.
fn build(dir: &Path, script: &str) -> Finished {
    let mut shell = Command::new("sh");
    shell.args(["-euc", script]).current_dir(dir).env("CC", format!("{} cc", colt()));
    let done = run_limited(&mut shell, LIMIT).unwrap_or_else(|failure| panic!("{script}: {failure}"));
    assert_eq!(done.status, Some(0), "{script}\n{}", done.output());
    done
}

/// Explores the program and checks the bug that is in it, natively too.
fn check_found(dir: &Path, file: &str) -> Value {
    let out = dir.join(format!("out-{}", file.replace('/', "-")));
    let mut run = Command::new(colt());
    run.args(["run", file, "--sym-stdin", "1", "--workers", "1", "--out"]).arg(&out).current_dir(dir);
    let done = run_limited(&mut run, LIMIT).unwrap_or_else(|failure| panic!("colt: {failure}"));
    assert_eq!(done.status, Some(10), "{}", done.output());
    let text = fs::read_to_string(out.join("summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(summary["verdict"], "complete", "{text}");
    let finding = &summary["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["file"], &finding["line"]),
        (&"division-by-zero".into(), &"main.c".into(), &6.into())
    );
    assert_eq!(finding["confirmed"], true, "{text}");
    // Both files of the program, and no other.
    assert_eq!(summary["coverage"]["lines"]["covered"], 9, "{text}");
    assert_eq!(summary["coverage"]["lines"]["total"], 9, "{text}");
    summary
}

const FLAGS: &str = "-DLIMIT=200 -DGREETING='\"hi there\"' -Ilib";

#[test]
fn objects_survive_archives_and_moves() {
    let dir = project();
    build(
        dir.path(),
        &format!(
            "cd lib
            $CC -O2 -flto -g -MD -MP -MF twice.d -MT x.o -c twice.c
            $CC -O3 -DNDEBUG -c unused.c -o made.tmp && mv made.tmp unused.o
            test -s twice.d
            ar rcs libtwice.a twice.o unused.o && rm *.o && cd ..
            $CC -O2 -Wall {FLAGS} -c -o sub.o main.c
            ld -r sub.o -o whole.o && rm sub.o
            $CC -O2 whole.o -Llib -ltwice -o prog && rm whole.o lib/libtwice.a
            cp prog prog2 && strip prog2
            status=0; echo -n d | ./prog || status=$?; test $status != 0
            status=0; ./prog </dev/null || status=$?; test $status = 104"
        ),
    );
    check_found(dir.path(), "prog");
    check_found(dir.path(), "prog2");
}

#[test]
fn several_sources_in_one_command() {
    let dir = project();
    build(
        dir.path(),
        &format!("$CC {FLAGS} main.c lib/twice.c -o prog; $CC {FLAGS} -c main.c lib/twice.c; $CC main.o twice.o"),
    );
    check_found(dir.path(), "prog");
    check_found(dir.path(), "a.out");
}

#[test]
fn another_compiler_does_the_work() {
    let dir = project();
    let real = "gcc -O2 -fno-tree-loop-distribute-patterns";
    build(
        dir.path(),
        &format!(
            "export COLT_CC_REAL='{real}'; $CC {FLAGS} -fconserve-stack -c main.c; $CC -c lib/twice.c; $CC *.o -o prog"
        ),
    );
    check_found(dir.path(), "prog");
}

/// Optimised, nobody calls `half`, so the member of the archive that defines it is not linked.
#[test]
fn inline_functions_are_there() {
    let dir = project();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("writable");
    write("lib/half.h", "int half(int x);\ninline int half(int x) { return x / 2; }\n");
    write("lib/half.c", "#include \"half.h\"\nextern inline int half(int x);\n");
    let text = MAIN.replace("LIMIT / 2", "half(LIMIT)").replace("\"twice.h\"", "\"twice.h\"\n#include \"half.h\"");
    write("main.c", &text);
    build(
        dir.path(),
        &format!(
            "$CC -O2 {FLAGS} -c main.c; $CC -c lib/half.c lib/twice.c; ar rc libx.a half.o twice.o; $CC main.o libx.a -o prog"
        ),
    );
    let mut run = Command::new(colt());
    run.args(["run", "prog", "--sym-stdin", "1", "--out", "out"]).current_dir(dir.path());
    let done = run_limited(&mut run, LIMIT).unwrap_or_else(|failure| panic!("colt: {failure}"));
    assert_eq!(done.status, Some(10), "{}", done.output());
    let text = fs::read_to_string(dir.path().join("out/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&summary["verdict"], &summary["findings"][0]["confirmed"]),
        (&"complete".into(), &true.into()),
        "{text}"
    );
}

/// Optimised code leaves out a call whose result makes no difference, and with it the member of the archive; ours makes it.
#[test]
fn archives_give_what_only_unoptimised_code_needs() {
    let dir = project();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("writable");
    write(
        "main.c",
        "__attribute__((const)) int f(int);\n#include <stdio.h>\nint main(void) { int r = f(getchar()); return r - r; }\n",
    );
    write("lib/f.c", "int g(int);\nint f(int x) { return 100 / (g(x) - 7); }\n");
    write("lib/g.c", "int g(int x) { return x; }\n");
    build(
        dir.path(),
        "cd lib; $CC -c f.c g.c unused.c; ar rc libf.a f.o g.o unused.o; cd ..; $CC -O2 -c main.c; $CC main.o -Llib -lf -o prog
        ! nm prog | grep -w f",
    );
    let mut run = Command::new(colt());
    run.args(["run", "prog", "--sym-stdin", "1", "--out", "out"]).current_dir(dir.path());
    let done = run_limited(&mut run, LIMIT).unwrap_or_else(|failure| panic!("colt: {failure}"));
    assert_eq!(done.status, Some(10), "{}", done.output());
    let text = fs::read_to_string(dir.path().join("out/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&summary["verdict"], &summary["findings"][0]["file"]),
        (&"complete".into(), &"lib/f.c".into()),
        "{text}"
    );
    assert_eq!(summary["findings"][0]["confirmed"], true, "{text}");
}

#[test]
fn a_database_of_commands() {
    let dir = project();
    let text = r#"[{"directory": "DIR", "file": "main.c", "command": "cc -DLIMIT=200 '-DGREETING=\"hi there\"' -Ilib -c -o m.o main.c"},
        {"directory": "DIR/lib", "file": "twice.c", "arguments": ["cc", "-O2", "-c", "twice.c"]}]"#;
    let text = text.replace("DIR", &dir.path().display().to_string());
    fs::write(dir.path().join("compile_commands.json"), text).expect("writable");
    check_found(dir.path(), "compile_commands.json");
}

#[test]
fn what_is_no_compilation_is_handed_over() {
    let dir = project();
    let done = build(
        dir.path(),
        "$CC --version; $CC -E lib/twice.c; $CC -M -Ilib main.c; $CC -S lib/twice.c -o twice.s; $CC -c twice.s -o t.o
        $CC -dumpmachine; echo 'int x;' | $CC -x c - -c -o stdin.o; $CC -x c -fsyntax-only lib/twice.c
        nm t.o; nm stdin.o; printf '%s\\n' -c lib/twice.c >words; $CC @words; nm twice.o",
    );
    assert!(done.stdout.contains("clang version") && done.stdout.contains("twice.h"), "{}", done.stdout);
}

#[test]
fn failures_are_the_compilers() {
    let dir = project();
    fs::write(dir.path().join("bad.c"), "int main(void) { return x; }\n").expect("writable");
    for words in ["-c bad.c", "bad.c", "-c missing.c", "-fno-such-flag -c lib/twice.c", "main.c -DLIMIT=1 -DGREETING=0"]
    {
        let status = |program: &str| {
            let script = format!("{program} {words} -o made");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(dir.path());
            let done = run_limited(&mut shell, LIMIT).unwrap_or_else(|failure| panic!("{script}: {failure}"));
            (done.status, done.stderr)
        };
        let (ours, plain) = (status(&format!("{} cc", colt())), status(&testkit::runner::clang()));
        // Names of temporary objects differ.
        let lines =
            |text: &str| text.lines().filter(|line| !line.contains("/tmp/")).map(str::to_string).collect::<Vec<_>>();
        assert_eq!((ours.0, lines(&ours.1)), (plain.0, lines(&plain.1)), "{words}");
        assert_ne!(ours.0, Some(0), "{words}");
    }
}

#[test]
fn a_program_without_bitcode_says_what_to_do() {
    let dir = project();
    build(dir.path(), &format!("{} {FLAGS} main.c lib/twice.c -o prog", testkit::runner::clang()));
    let mut run = Command::new(colt());
    run.args(["run", "prog", "--out", "out"]).current_dir(dir.path());
    let done = run_limited(&mut run, LIMIT).unwrap_or_else(|failure| panic!("colt: {failure}"));
    assert_eq!(done.status, Some(3), "{}", done.output());
    assert!(done.stderr.contains("colt cc"), "{}", done.stderr);
}
