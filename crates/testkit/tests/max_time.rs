//! `--max-time` holds for the whole command: exploring, letting go of what is pending, writing and replaying.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::command::{read_json, run_colt};

const MAX_TIME: Duration = Duration::from_secs(4);
/// A colt that does not end by itself.
const LIMIT: Duration = Duration::from_secs(120);

struct Kind {
    name: &'static str,
    program: &'static str,
    flags: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "endless loop",
        program: "int main(void) {
    unsigned x, y = 0;
    colt_input(&x, sizeof x, \"x\");
    if (x > 5)
        for (;;)
            y += x;
    return y;
}
",
        flags: &[],
    },
    // Each turn of the loop leaves a state behind that is as deep as the path is then.
    Kind {
        name: "deep and never back",
        program: "int main(void) {
    for (unsigned n = 0;;) {
        unsigned char c;
        colt_input(&c, sizeof c, \"c\");
        if (c == 7)
            n++;
    }
}
",
        flags: &["--search", "dfs"],
    },
    Kind {
        name: "many pending",
        program: "int main(void) {
    int flags[40], n = 0;
    colt_input(flags, sizeof flags, \"flags\");
    for (int i = 0; i < 40; i++)
        if (flags[i] != 0)
            n++;
    return n;
}
",
        flags: &["--search", "bfs"],
    },
    Kind {
        name: "long replay",
        program: "int main(void) {
    unsigned char x[7];
    int n = 0;
    colt_input(x, sizeof x, \"x\");
    for (int i = 0; i < 7; i++)
        if (x[i] > 9)
            n++;
    for (volatile unsigned long i = 0; i < 5000000000; i++) {}
    return n;
}
",
        flags: &["--max-steps", "20000"],
    },
    Kind {
        name: "hard questions",
        program: "int main(void) {
    unsigned long a[8], h = 1;
    int n = 0;
    colt_input(a, sizeof a, \"a\");
    for (int i = 0; i < 8; i++) {
        h = h * a[i] + (h >> 7) * a[(i + 3) % 8];
        h ^= h >> 29;
        if (h % 1000003 * h == a[i] * a[i] + 77 * i)
            n++;
    }
    return n;
}
",
        flags: &[],
    },
];

fn seconds(dir: &Path, kind: &Kind) -> f64 {
    fs::write(dir.join("program.c"), format!("#include <colt.h>\n{}", kind.program)).expect("writable");
    let _ = fs::remove_dir_all(dir.join("out"));
    let max_time = MAX_TIME.as_secs().to_string();
    let words = ["run", "program.c", "--max-time", &max_time, "--max-memory", "2000", "--out", "out"];
    let started = Instant::now();
    let finished = run_colt(dir, &[&words, kind.flags].concat(), LIMIT);
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!(finished.status, Some(5), "{}: {}", kind.name, finished.output());
    assert_eq!(read_json(&dir.join("out/summary.json"))["verdict"], "incomplete", "{}", kind.name);
    seconds
}

#[test]
fn a_command_takes_no_longer_than_its_time_a_tenth_of_it_and_a_second() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let allowed = MAX_TIME.as_secs_f64() * 1.1 + 1.0;
    let mut late = Vec::new();
    for kind in KINDS {
        // Others may have the machine for a moment, not twice.
        let took = seconds(dir.path(), kind);
        let took = if took > allowed { seconds(dir.path(), kind) } else { took };
        println!("{}: {took:.2} s", kind.name);
        if took > allowed {
            late.push(format!("{}: {took:.2} s", kind.name));
        }
    }
    assert!(late.is_empty(), "more than {allowed} s: {late:?}");
}
