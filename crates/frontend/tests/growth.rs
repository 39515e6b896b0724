//! Reading a program takes time in proportion to its size.

mod common;

use std::fmt::Write;
use std::time::{Duration, Instant};

use common::Folder;
use frontend::{Sources, load};

/// Functions with loops, arrays, and locals that are reached through pointers: what preparing a module looks at most.
fn program(n_functions: usize, n_loops: usize) -> String {
    let mut text = String::new();
    for func in 0..n_functions {
        writeln!(text, "static int f{func}(int n) {{ int s = 0;").unwrap();
        for row in 0..n_loops {
            writeln!(
                text,
                "  for (int i = 0; i < n; i++) {{ int t[3] = {{i, 1, {row}}}; int u = n + {row}; int *p = &u;"
            )
            .unwrap();
            writeln!(text, "    s += t[n % 3] + *p; }}").unwrap();
        }
        writeln!(text, "  return s; }}").unwrap();
    }
    writeln!(text, "int main(void) {{ int s = 0;").unwrap();
    for func in 0..n_functions {
        writeln!(text, "  s += f{func}({});", func % 7).unwrap();
    }
    text + "  return s; }\n"
}

/// The shorter of two times: a machine with other work to do disturbs one of them at most.
fn time_to_load(n_functions: usize, n_loops: usize) -> Duration {
    let folder = Folder::new();
    let sources = Sources::new(vec![folder.write("large.c", program(n_functions, n_loops))]);
    let once = || {
        let started = Instant::now();
        load(&sources).unwrap_or_else(|error| panic!("{error}"));
        started.elapsed()
    };
    once().min(once())
}

/// In proportion it would be 8 times as long, by the square 64 times.
fn expect_proportion(small: Duration, large: Duration) {
    assert!(large < small * 24, "{small:?}, and for a program of eight times the size {large:?}");
}

#[test]
fn eight_times_the_functions_take_eight_times_as_long() {
    expect_proportion(time_to_load(25, 8), time_to_load(200, 8));
}

#[test]
fn a_function_eight_times_as_long_takes_eight_times_as_long() {
    expect_proportion(time_to_load(4, 25), time_to_load(4, 200));
}
