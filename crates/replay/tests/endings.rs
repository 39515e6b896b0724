//! Every way a native run can end is told apart, with the line where it happened.

mod common;

use common::{Built, build, build_with, input, int};
use replay::{Entry, Expected, ExpectedBug, NativeEnding, Verdict};
use witness::BugKind;

/// One case a fault; the line where it shows is marked with the case's number.
const FAULTS: &str = r#"
#include <assert.h>
#include <klee/klee.h>
#include <colt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
int global[4];
int *escaped;
static void leave(void) { int local[4] = {1, 2}; escaped = local; }
void reach_error(void);
static int deeper(int n) { volatile char frame[4096]; frame[n & 7] = 1; return deeper(n + 1) + frame[0]; }
static int compare(const void *a, const void *b) { 
  return *(const int *)a / (*(const int *)b - 2); // 25
}
int main(void) {
  int which = colt_int("which"), i = colt_int("i");
  int stack[4] = {0};
  int *heap = malloc(16);
  volatile int sink = 0;
  switch (which) {
  case 1: sink = heap[i]; break; // 1
  case 2: heap[i] = 1; break; // 2
  case 3: sink = stack[i]; break; // 3
  case 4: global[i] = 1; break; // 4
  case 5: free(heap); sink = *heap; break; // 5
  case 6: leave(); sink = *escaped; break; // 6
  case 7: free(heap); free(heap); break; // 7
  case 8: free(stack); break; // 8
  case 9: free(heap + 1); break; // 9
  case 10: sink = *(int *)(long)(i * 4); break; // 10
  case 11: sink = *(int *)(0x123456789000 + i); break; // 11
  case 12: sink = 7 / i; break; // 12
  case 13: sink = INT_MIN / (i - 1); break; // 13
  case 14: assert(i == 1); break; // 14
  case 15: abort(); // 15
  case 16: __builtin_unreachable(); // 16
  case 17: sink = deeper(0); break; // 17
  case 18: colt_assert(i == 1); break; // 18
  case 19: memset(heap, 0, 17 + i); break; // 19
  case 20: reach_error(); break; // 20
  case 21: klee_report_error("x.c", 3, "odd", "err"); // 21
  case 22: ((void (*)(void))(long)i)(); break; // 22
  case 23: klee_abort(); // 23
  case 24: { char *none = malloc(i); sink = none[0]; break; } // 24
  case 25: { int both[2] = {2, 2}; qsort(both, 2, 4, compare); break; }
  case 26: memcpy(heap, stack, (size_t)-1 - i); break; // 26
  }
  return sink;
}
"#;

#[test]
fn each_fault_is_seen_at_its_line() {
    use BugKind::*;
    let mut built = build(FAULTS);
    let cases = [
        (1, 4, OutOfBoundsRead),
        (2, -1, OutOfBoundsWrite),
        (3, 4, OutOfBoundsRead),
        (4, 4, OutOfBoundsWrite),
        (5, 0, UseAfterFree),
        (6, 0, UseAfterFree),
        (7, 0, DoubleFree),
        (8, 0, InvalidFree),
        (9, 0, InvalidFree),
        (10, 0, NullDereference),
        (11, 0, InvalidPointer),
        (12, 0, DivisionByZero),
        (13, 0, DivisionByZero),
        (14, 0, AssertionFailure),
        (15, 0, Abort),
        (16, 0, UnreachableReached),
        (17, 0, StackOverflow),
        (18, 0, AssertionFailure),
        (19, 0, OutOfBoundsWrite),
        (20, 0, AssertionFailure),
        (21, 0, AssertionFailure),
        (22, 0, NullDereference),
        (23, 0, Abort),
        (24, 0, OutOfBoundsRead),
        (25, 0, DivisionByZero),
        (26, 0, OutOfBoundsWrite),
    ];
    for (which, i, kind) in cases {
        let inputs = [int("which", which), int("i", i)];
        let bug = built.bug(&inputs);
        assert_eq!(bug.kind, Some(kind), "case {which}: {bug:?}");
        let expected = ExpectedBug {
            kind,
            file: "f.c".into(),
            line: built.line(&which.to_string()),
            function: "main".into(),
            message: String::new(),
        };
        if kind != StackOverflow {
            let place = bug.place().unwrap_or_else(|| panic!("case {which} has no place: {bug:?}"));
            assert_eq!((&*place.file, place.line), ("f.c", expected.line), "case {which}: {bug:?}");
        }
        assert_eq!(built.session.judge(&inputs, &Expected::Bug(expected.clone())).1, Verdict::Agrees);
        let elsewhere = ExpectedBug { line: 1, ..expected };
        let verdict = built.session.judge(&inputs, &Expected::Bug(elsewhere)).1;
        assert_eq!(verdict == Verdict::Agrees, kind == StackOverflow, "case {which}");
    }
}

#[test]
fn faults_stay_away_where_the_input_avoids_them() {
    let mut built = build(FAULTS);
    for (which, i) in [(1, 3), (2, 0), (3, 0), (12, 3), (13, 2), (14, 1), (18, 1), (24, 1), (99, 0)] {
        match built.session.run(&[int("which", which), int("i", i)]) {
            NativeEnding::Returned { .. } => {}
            other => panic!("case {which}: {other}"),
        }
    }
}

const ENDINGS: &str = r#"
#include <colt.h>
#include <klee/klee.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv, char **environment) {
  switch (colt_int("which")) {
  case 1: return 300;
  case 2: exit(7);
  case 3: _exit(8);
  case 4: colt_assume(0); return 1;
  case 5: klee_silent_exit(9);
  case 6: raise(SIGTERM); return 1;
  case 7: for (;;) {}
  case 8: return colt_int("more");
  case 9: { char small[2]; colt_input(small, 2, "small"); return small[1]; }
  case 10: return getenv("PATH") != NULL || environment[0] != NULL;
  case 11: srand(5); return rand() == 18655 && rand() == 8457 ? 0 : 1;
  case 12: return time(NULL) == 77 && clock() == 78 ? 0 : 1;
  case 13: { char line[16]; return fgets(line, 16, stdin) && strcmp(line, "ab\n") == 0 && getchar() == EOF ? 0 : 1; }
  case 14: return getchar() == EOF ? 0 : 1;
  case 15: return argc == 3 && strcmp(argv[0], "program") == 0 && strcmp(argv[2], "yz") == 0 && !argv[3] ? 0 : 1;
  case 16: return argv[1][4];
  case 17: return malloc((size_t)257 << 20) == NULL && malloc((size_t)255 << 20) != NULL ? 0 : 1;
  case 18: { char *p = malloc(5000); int sum = 0; for (int i = 0; i < 5000; i++) sum |= p[i]; return sum; }
  case 19: { int fresh[100]; int sum = 0; for (int i = 0; i < 100; i++) sum |= fresh[i]; return sum; }
  case 20: return klee_range(3, 6, "r");
  case 21: exit(99);
  case 22: for (;;) if (!malloc(1 << 20)) return 0;
  case 23: if (fork() == 0) { colt_assert(0); } return 4;
  case 24: klee_assume(klee_int("k") == 2); return klee_get_value_i32(5) + klee_is_symbolic(1);
  }
  return 0;
}
"#;

fn ending(built: &mut Built, which: i32, more: &[witness::InputValue]) -> NativeEnding {
    let mut inputs = more.to_vec();
    inputs.push(int("which", which));
    built.session.run(&inputs)
}

#[test]
fn endings_without_a_fault() {
    let mut built = build_with(ENDINGS, Entry::Main, |plan| {
        plan.limits.timeout_ms = 700;
        plan.limits.memory_mb = 600;
    });
    let returned = |status| NativeEnding::Returned { status };
    let long = |name, value: i64| input(name, &value.to_le_bytes());
    let cases = [
        (1, vec![], returned(300 & 0xff)),
        (2, vec![], NativeEnding::Exited { status: 7 }),
        (3, vec![], NativeEnding::Exited { status: 8 }),
        (4, vec![], NativeEnding::Assumed),
        (5, vec![], NativeEnding::Exited { status: 9 }),
        (6, vec![], NativeEnding::Signal(libc_sigterm())),
        (7, vec![], NativeEnding::TimedOut),
        (8, vec![], NativeEnding::OutOfInputs { name: "more".into() }),
        (8, vec![int("more", 5)], returned(5)),
        (8, vec![input("more", &[1, 2])], NativeEnding::InputSize { name: "more".into() }),
        (9, vec![input("small", &[1, 2])], returned(2)),
        (10, vec![], returned(0)),
        (11, vec![], returned(0)),
        (12, vec![long("clock", 78), long("time", 77)], returned(0)),
        (13, vec![input("stdin", b"ab\n")], returned(0)),
        (14, vec![], returned(0)),
        (15, vec![input("argv[1]", b"x\0"), input("argv[2]", b"yz\0")], returned(0)),
        (17, vec![], returned(0)),
        // What nobody wrote is a pattern, or what the test says.
        (18, vec![], returned(0xaa)),
        (18, vec![input("unwritten:malloc#1@main:31+0", &[0; 5000])], returned(0)),
        (19, vec![], returned(0xaa)),
        (19, vec![input("unwritten:fresh@main+0", &[0; 400])], returned(0)),
        (20, vec![int("r", 5)], returned(5)),
        (20, vec![int("r", 6)], NativeEnding::Assumed),
        (21, vec![], NativeEnding::Exited { status: 99 }),
        (23, vec![], returned(4)),
        (24, vec![int("k", 2)], returned(5)),
        (24, vec![int("k", 3)], NativeEnding::Assumed),
    ];
    for (which, inputs, expected) in cases {
        assert_eq!(ending(&mut built, which, &inputs), expected, "case {which}");
    }
    // An argument ends where its bytes end.
    match ending(&mut built, 16, &[input("argv[1]", b"abc\0")]) {
        NativeEnding::Bug(bug) => assert_eq!(bug.kind, Some(BugKind::OutOfBoundsRead)),
        other => panic!("{other}"),
    }
    // Memory without end is refused, by a null pointer or by the sanitizer, long before the machine is out of it.
    match ending(&mut built, 22, &[]) {
        NativeEnding::Returned { status: 0 } | NativeEnding::TimedOut | NativeEnding::Signal(_) => {}
        NativeEnding::Bug(bug) => assert_eq!(bug.kind, None, "{bug:?}"),
        other => panic!("{other}"),
    }
    assert_eq!(ending(&mut built, 1, &[]), returned(300 & 0xff), "the server lives on");
}

fn libc_sigterm() -> i32 {
    15
}

const FLAGGED: &str = r#"
#include <colt.h>
#include <stdlib.h>
int main(void) {
  int which = colt_int("which"), i = colt_int("i");
  volatile int sink = 0;
  switch (which) {
  case 1: sink = i + 1; break; // 1
  case 2: sink = 1 << i; break; // 2
  case 3: { volatile char *lost = malloc(5); lost[0] = 1; lost = 0; break; } // 3
  case 4: { int x[2]; x[0] = i; if (x[i]) sink = 1; break; } // 4
  case 5: sink = i / -1; break; // 5
  }
  return 0;
}
"#;

#[test]
fn checks_by_flag_are_off_unless_asked_for() {
    let mut built = build(FLAGGED);
    for (which, i) in [(1, i32::MAX), (2, 40), (3, 0), (4, 1)] {
        let ending = built.session.run(&[int("which", which), int("i", i)]);
        assert_eq!(ending, NativeEnding::Returned { status: 0 }, "case {which}");
    }
}

#[test]
fn checks_by_flag_see_their_faults() {
    let mut built = build_with(FLAGGED, Entry::Main, |plan| {
        plan.checks = replay::Checks { overflow: true, shift: true, uninit: true, leak: true, ..Default::default() };
    });
    for (which, i, kind) in [
        (1, i32::MAX, BugKind::IntegerOverflow),
        (2, 40, BugKind::InvalidShift),
        (3, 0, BugKind::MemoryLeak),
        (4, 1, BugKind::UninitialisedRead),
        (5, i32::MIN, BugKind::IntegerOverflow),
        (5, i32::MIN, BugKind::DivisionByZero),
    ] {
        let line = built.line(&which.to_string());
        let expected = ExpectedBug { kind, file: "f.c".into(), line, function: "main".into(), message: String::new() };
        let (native, verdict) = built.session.judge(&[int("which", which), int("i", i)], &Expected::Bug(expected));
        assert_eq!(verdict, Verdict::Agrees, "case {which}: {native:?}");
    }
    let nothing = built.session.run(&[int("which", 0), int("i", 0)]);
    assert_eq!(nothing, NativeEnding::Returned { status: 0 });
}

#[test]
fn competition_programs_run_unchanged() {
    let text = r#"
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __assert_fail(const char *, const char *, unsigned int, const char *);
void reach_error(void) { __assert_fail("0", "f.c", 6, "reach_error"); } // inner
int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  __VERIFIER_assume(a < b);
  if (__VERIFIER_nondet_bool() && b - a == 3) reach_error(); // outer
  return 0;
}
"#;
    let mut built = build(text);
    let inputs = |a, b, flag| {
        [int("__VERIFIER_nondet_int", a), int("__VERIFIER_nondet_int", b), input("__VERIFIER_nondet_bool", &[flag])]
    };
    assert_eq!(built.session.run(&inputs(2, 1, 1)), NativeEnding::Assumed);
    assert_eq!(built.session.run(&inputs(1, 4, 0)), NativeEnding::Returned { status: 0 });
    let bug = built.bug(&inputs(1, 4, 1));
    assert_eq!(bug.kind, Some(BugKind::AssertionFailure));
    let lines: Vec<u32> = bug.frames.iter().map(|frame| frame.line).collect();
    assert_eq!(lines, [built.line("inner"), built.line("outer")]);
}

#[test]
fn a_32_bit_program_is_judged_too() {
    let text = r#"
#include <colt.h>
#include <stdlib.h>
int main(void) {
  int i = colt_int("i");
  char *p = malloc(4);
  p[i] = 1; // oob
  return sizeof(long) == 4 ? 0 : 1;
}
"#;
    let mut built = build_with(text, Entry::Main, |plan| plan.cflags = vec!["-m32".into()]);
    assert_eq!(built.session.run(&[int("i", 3)]), NativeEnding::Returned { status: 0 });
    if built.session.caveat().is_none() {
        let bug = built.bug(&[int("i", 4)]);
        assert_eq!(bug.kind, Some(BugKind::OutOfBoundsWrite));
        assert_eq!(bug.place().map(|place| place.line), Some(built.line("oob")));
    }
    assert!(built.session.coverage().unwrap().lines.covered > 0);
}
