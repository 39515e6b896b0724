//! The theorem of `shapes`: every ending that plain exploration reaches when a harness lists all heaps of up to three objects is
//! reached with pointers as inputs, no other is, and every test replays natively to the same ending. And what bad input gets.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use testkit::command::run_colt;
use testkit::generate::Dice;

const LIMIT: Duration = Duration::from_secs(600);

/// Programs in one file: each leaf of each ends with a status of its own.
const PROGRAMS_IN_BATCH: u64 = 20;
const MAX_LEAVES: u32 = 12;

/// In `make test`; `COLT_SHAPES_PROGRAMS=500` for all that were ever tried.
const FEW: u64 = 20;

const POINTERS: &[&str] = &["p", "q", "p->a", "q->b", "p->b", "x"];

/// How a node has its links: as members, or as an array of which either is at an index that is an input.
const MEMBERS: &str =
    "struct node { int v; struct node *a, *b; };\n#define link(n) (*((n)->v & 1 ? &(n)->a : &(n)->b))\n";
const ARRAY: &str = "struct node { int v; struct node *k[2]; };\n#define a k[0]\n#define b k[1]\n\
    #define link(n) ((n)->k[(n)->v & 1])\n";

/// A statement that steps, links or writes; unguarded ones may fault, which is an ending like any other.
fn statement(random: &mut Dice) -> String {
    let pointer = random.pick(&["p", "q", "x"]);
    match random.below(8) {
        6 => format!("if ({pointer}) x = link({pointer});"),
        7 => format!("if ({pointer} && x != {pointer}) link({pointer}) = x;"),
        0 => format!("x = {};", random.pick(POINTERS)),
        1 => {
            format!("if ({pointer}) {pointer}->{} = {};", random.pick(&["a", "b"]), random.pick(&["p", "q", "x", "0"]))
        }
        2 => format!("if ({pointer} && {pointer}->a) {pointer} = {pointer}->a;"),
        3 => format!("if ({pointer}) {pointer}->v = {};", random.below(3)),
        4 => format!("{pointer}->v++;"),
        _ => "if (p && q) { struct node *t = p->a; p->a = q->b; q->b = t; }".to_string(),
    }
}

fn condition(random: &mut Dice) -> String {
    let (one, two) = (random.pick(&["p", "q", "x"]), random.pick(&["p", "q", "x"]));
    match random.below(5) {
        0 => format!("{one} == {two}"),
        1 => format!("{one} != 0"),
        2 => format!("{one} && {one}->v == {}", random.below(3)),
        3 => format!("{one} && {one}->{} == {two}", random.pick(&["a", "b"])),
        _ => format!("{one} && {two} && {one}->v < {two}->v"),
    }
}

fn body(random: &mut Dice, depth: u32, leaf: &mut u32, last: u32, text: &mut String) {
    let _ = writeln!(text, "{}", statement(random));
    if depth == 0 || *leaf + 2 > last {
        let _ = writeln!(text, "exit({});", (*leaf).min(last));
        *leaf += 1;
        return;
    }
    let _ = writeln!(text, "if ({}) {{", condition(random));
    body(random, depth - 1, leaf, last, text);
    text.push_str("} else {\n");
    body(random, depth - 1, leaf, last, text);
    text.push_str("}\n");
}

fn batch(seed: u64) -> String {
    let mut random = Dice { seed };
    let nodes = if seed.is_multiple_of(2) { ARRAY } else { MEMBERS };
    let mut text = format!(
        "#include <stdlib.h>\n#include <colt.h>\n{nodes}\
         void f(struct node *p, struct node *q, int which) {{\nstruct node *x = p;\nswitch (which) {{\n",
    );
    for program in 0..PROGRAMS_IN_BATCH {
        let mut leaf = 1 + program as u32 * MAX_LEAVES;
        let last = leaf + MAX_LEAVES - 1;
        let _ = writeln!(text, "case {program}: {{");
        body(&mut random, 3, &mut leaf, last, &mut text);
        text.push_str("}\n");
    }
    text.push_str("}\nexit(0);\n}\n");
    text
}

/// All heaps of up to three nodes, listed by a harness.
const LISTS: &str = "
static struct node *pick(struct node **nodes, const char *name) {
    int i = colt_range(0, 4, name);
    return nodes[i];
}
int main(void) {
    struct node *nodes[4] = {0, malloc(sizeof(struct node)), malloc(sizeof(struct node)), malloc(sizeof(struct node))};
    for (int i = 1; i < 4; i++) {
        nodes[i]->v = colt_int(\"v\");
        nodes[i]->a = pick(nodes, \"a\");
        nodes[i]->b = pick(nodes, \"b\");
    }
    struct node *p = pick(nodes, \"p\"), *q = pick(nodes, \"q\");
    f(p, q, colt_int(\"which\"));
}
";

/// How the paths of a campaign ended: by status, or by fault and line.
fn endings(folder: &Path) -> BTreeSet<String> {
    let mut endings = BTreeSet::new();
    for entry in fs::read_dir(folder.join("tests")).expect("there are tests") {
        let text = fs::read_to_string(entry.expect("a test").path()).expect("a readable test");
        let test: serde_json::Value = serde_json::from_str(&text).expect("a test is JSON");
        match test["ending"].as_str() {
            Some("exited") => endings.insert(format!("exit {}", test["status"])),
            Some("bug") => endings.insert(format!("{} at {}", test["bug"]["kind"], test["bug"]["line"])),
            _ => false,
        };
    }
    endings
}

#[test]
fn every_ending_of_listed_heaps_is_reached() {
    let n_programs: u64 = std::env::var("COLT_SHAPES_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(FEW);
    for seed in 1..=n_programs.div_ceil(PROGRAMS_IN_BATCH) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let programs = batch(seed);
        fs::write(at("typed.c"), &programs).expect("writable");
        fs::write(at("listed.c"), format!("{programs}{LISTS}")).expect("writable");
        let usual = ["--tests", "files", "--max-time", "300", "--max-memory", "2000", "--quiet"];
        let typed =
            ["run", &at("typed.c"), "--with", "shapes", "--entry", "f", "--shapes-max", "3", "--out", &at("typed")];
        let listed = ["run", &at("listed.c"), "--no-replay", "--out", &at("listed")];
        run_colt(folder.path(), &[&typed[..], &usual[..]].concat(), LIMIT);
        run_colt(folder.path(), &[&listed[..], &usual[..]].concat(), LIMIT);
        let (found, wanted) = (endings(Path::new(&at("typed"))), endings(Path::new(&at("listed"))));
        assert_eq!(found, wanted, "seed {seed}:\n{programs}");
        let replayed = run_colt(folder.path(), &["replay", &at("typed")], LIMIT);
        assert_eq!(replayed.status, Some(0), "seed {seed}: {}\n{programs}", replayed.output());
    }
}

#[test]
fn what_is_wrong_with_the_flags_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("list.c");
    let text = "struct node { struct node *next; };\nstruct other { int x; };\nint odd(int x) { return x; }\n\
        void silent(const struct node *n) { (void)n; }\nint strange(const struct other *o) { return o == 0; }\n\
        int good(const struct node *n) { return n == 0; }\n\
        void f(struct node *n) { (void)n; }\nvoid g(int x) { (void)x; }\n";
    fs::write(&file, text).expect("writable");
    let file = file.to_string_lossy().into_owned();
    let run = |words: &[&str]| {
        let out = folder.path().join("out");
        let _ = fs::remove_dir_all(&out);
        let out = out.to_string_lossy().into_owned();
        run_colt(folder.path(), &[&["run", &file, "--with", "shapes", "--out", &out], words].concat(), LIMIT)
    };
    for (words, said) in [
        (&["--entry", "f", "--shapes-valid", "gone"][..], "there is no function `gone`"),
        (&["--entry", "f", "--shapes-keeps", "gone"][..], "there is no function `gone`"),
        (&["--entry", "f", "--shapes-valid", "odd"][..], "`odd` is no `int odd(const T *)`"),
        (&["--entry", "f", "--shapes-valid", "silent"][..], "`silent` is no `int silent(const T *)`"),
        (&["--entry", "f", "--shapes-valid", "strange"][..], "`strange` is about a `struct other`, and no parameter"),
        (&["--entry", "g", "--shapes-valid", "good"][..], "no parameter"),
        (&["--entry", "f", "--shapes-max", "0"][..], "--shapes-max 0 leaves no heap at all"),
        (&["--entry", "f", "--shapes-array", "n"][..], "a:n"),
    ] {
        let finished = run(words);
        assert!(matches!(finished.status, Some(2 | 3)), "{words:?}: {:?}", finished.status);
        assert!(finished.output().contains(said), "{words:?} said:\n{}", finished.output());
    }
    let plain = run(&["--entry", "g"]);
    assert_eq!(plain.status, Some(0), "{}", plain.output());
    let note = "`g` is given no pointers, so it is explored as without --with shapes";
    assert!(plain.output().contains(note), "{}", plain.output());
}
