//! Asks recorded questions again, of one back end after the other, and prints how many each answers in which time.
//!
//! `cargo run --release --example replay -- [--timeout MS] [--at-most N] [--only hard|floats] [--each FILE] [--slow FILE] BACKEND... -- RECORD...`,
//! where a record is a file of
//! `colt run --solver-record`. A back end is `stack` (all layers as a campaign has them), `gates` (the bit-blaster alone), `z3`, `cvc5`, or
//! a command in one word that reads SMT-LIB: `"bitwuzla --lang smt2"`. All must agree; a disagreement ends in status 1. `--each` writes down what each
//! question took, `--slow` asks only those that such a file has as slow. Times are processor time, the limit is by the clock.

use solver::{
    Answer, Backend, Config, Counters, Layer, Recorded, Reply, SmtSolver, Stack, backend, program_as_backend,
    read_record,
};
use std::fmt::Write as _;
use std::time::Duration;
use term::{Assignment, Eval, TermId, Terms};

/// One record, and what is known about its questions.
struct Set {
    name: String,
    terms: Terms,
    questions: Vec<Recorded>,
    /// Their numbers in the record.
    numbers: Vec<usize>,
    verdicts: Vec<Option<bool>>,
}

/// Who answers.
enum Answerer {
    Layers(Box<Stack>),
    Bare(Box<dyn Backend>),
}

fn answerer(name: &str, timeout: Duration) -> Answerer {
    let config = Config { timeout, ..Config::default() };
    let stop = Default::default();
    match name {
        "stack" => Answerer::Layers(Box::new(Stack::new(config))),
        "gates" => {
            let off = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Blaster).collect();
            Answerer::Layers(Box::new(Stack::new(Config { off, smt: SmtSolver::Absent, ..config })))
        }
        _ => Answerer::Bare(match SmtSolver::named(name) {
            Some(solver) => backend(solver, &stop).expect("a solver that is one"),
            None => program_as_backend(&name.split(' ').collect::<Vec<_>>()),
        }),
    }
}

impl Answerer {
    /// Whether it can hold, if that was found out. A model is checked.
    fn ask(&mut self, terms: &mut Terms, query: &Recorded, timeout: Duration) -> Option<bool> {
        match self {
            Answerer::Layers(stack) => {
                let path = query.path_condition(terms);
                match stack.check(terms, &path, &query.current, query.question) {
                    Answer::Sat(input) => holds(terms, query, &input).then_some(true),
                    Answer::Unsat => Some(false),
                    Answer::Unknown(_) => None,
                }
            }
            Answerer::Bare(bare) => {
                let path = query.path_condition(terms);
                let mut all: Vec<TermId> = path.relevant(terms, query.question).constraints();
                all.push(query.question);
                match bare.check(terms, &all, timeout) {
                    Reply::Sat(values) => {
                        let mut input = query.current.clone();
                        values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
                        holds(terms, query, &input).then_some(true)
                    }
                    Reply::Unsat => Some(false),
                    Reply::Unknown(_) => None,
                }
            }
        }
    }
}

fn holds(terms: &Terms, query: &Recorded, input: &Assignment) -> bool {
    let mut eval = Eval::new();
    let holds = query.path.iter().chain([&query.question]).all(|&t| eval.holds(terms, input, t));
    if !holds {
        println!("a model that does not satisfy the question");
    }
    holds
}

/// Processor time that this process and its children have spent: other work on the machine does not count.
fn now() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let mut spent = Duration::ZERO;
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: the call writes to a structure of ours, which is plain numbers.
        let usage = unsafe {
            libc::getrusage(who, usage.as_mut_ptr());
            usage.assume_init()
        };
        for time in [usage.ru_utime, usage.ru_stime] {
            spent += Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
        }
    }
    // Those that are still running are not in the count yet.
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    for pid in children.collect::<String>().split_whitespace() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        spent += Duration::from_nanos(stat.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0));
    }
    spent
}

const WITHIN_MS: [u64; 5] = [1, 10, 100, 1000, 10_000];

/// Asks everything of one; gives whether it agreed with those before.
fn measure(name: &str, sets: &mut [Set], timeout: Duration, each: &mut String) -> bool {
    let mut times: Vec<Duration> = Vec::new();
    let mut counted = Counters::default();
    let (mut n_sat, mut n_unsat, mut n_open, mut total, mut agrees) = (0, 0, 0, Duration::ZERO, true);
    for set in sets {
        let mut answerer = answerer(name, timeout);
        let mut in_set = Duration::ZERO;
        for (idx, query) in set.questions.iter().enumerate() {
            let start = now();
            let verdict = answerer.ask(&mut set.terms, query, timeout);
            let took = now().saturating_sub(start);
            in_set += took;
            let _ = writeln!(
                each,
                "{name}\t{}\t{}\t{verdict:?}\t{:.3}",
                set.name,
                set.numbers[idx],
                took.as_secs_f64() * 1e3
            );
            match verdict {
                Some(true) => n_sat += 1,
                Some(false) => n_unsat += 1,
                None => n_open += 1,
            }
            times.extend(verdict.map(|_| took));
            match (set.verdicts[idx], verdict) {
                (Some(before), Some(now)) if before != now => {
                    println!("{name} disagrees on question {} of {}: {now}", set.numbers[idx], set.name);
                    agrees = false;
                }
                (before, now) => set.verdicts[idx] = before.or(now),
            }
        }
        total += in_set;
        if let Answerer::Layers(stack) = &answerer {
            counted.merge(stack.counters());
        }
    }
    let n = (n_sat + n_unsat + n_open).max(1);
    print!("{:24}", name.chars().take(24).collect::<String>());
    for ms in WITHIN_MS {
        let n_within = times.iter().filter(|took| **took <= Duration::from_millis(ms)).count();
        print!(" {:6.1}", 100.0 * n_within as f64 / n as f64);
    }
    println!(" {:9.1} {n_sat:6} {n_unsat:6} {n_open:6}", total.as_secs_f64());
    for (layer, count) in counted.by_layer().filter(|(_, count)| count.n_sat + count.n_unsat > 0) {
        let seconds = count.time.as_secs_f64();
        println!("    {layer:12} {:6} sat {:6} unsat {seconds:8.3} s", count.n_sat, count.n_unsat);
    }
    agrees
}

/// Set and number of a line of an `--each` file where the question was open or took longer than a tenth of a second.
fn slow_one(line: &str) -> Option<(String, usize)> {
    let [_, set, number, verdict, ms] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
    let is_slow = verdict == "None" || ms.parse::<f64>().is_ok_and(|ms| ms > 100.0);
    is_slow.then(|| Some((set.to_string(), number.parse().ok()?)))?
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.remove(at);
        Some(words.remove(at))
    };
    let timeout = Duration::from_millis(option("--timeout").map_or(10_000, |text| text.parse().expect("milliseconds")));
    let at_most = option("--at-most").map_or(usize::MAX, |text| text.parse().expect("a number"));
    let only = option("--only");
    let (hard_only, floats_only) = (only.as_deref() == Some("hard"), only.as_deref() == Some("floats"));
    let each_file = option("--each");
    let slow = option("--slow").map(|file| {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        text.lines().filter_map(slow_one).collect::<std::collections::HashSet<(String, usize)>>()
    });
    let at = words.iter().position(|word| word == "--").expect("BACKEND... -- RECORD...");
    let mut sets: Vec<Set> = Vec::new();
    for file in &words[at + 1..] {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut terms = Terms::new();
        let mut questions = read_record(&mut terms, &text).unwrap_or_else(|error| panic!("{file}: {error}"));
        if hard_only {
            let off = vec![Layer::Blaster, Layer::Smt];
            let mut cheap = Stack::new(Config { off, smt: SmtSolver::Absent, ..Config::default() });
            questions.retain(|query| {
                let path = query.path_condition(&mut terms);
                matches!(cheap.check(&mut terms, &path, &query.current, query.question), Answer::Unknown(_))
            });
        }
        if floats_only {
            questions.retain(|query| terms.has_floats(query.question));
        }
        // Evenly over the whole record.
        let step = questions.len().div_ceil(at_most.min(questions.len()).max(1)).max(1);
        let name = file.rsplit('/').next().unwrap_or(file).to_string();
        let is_chosen = |number: usize| {
            number.is_multiple_of(step) && slow.as_ref().is_none_or(|slow| slow.contains(&(name.clone(), number)))
        };
        let chosen = questions.into_iter().enumerate().filter(|(number, _)| is_chosen(*number));
        let (numbers, questions): (Vec<usize>, Vec<Recorded>) = chosen.unzip();
        let verdicts = vec![None; questions.len()];
        sets.push(Set { name, terms, questions, numbers, verdicts });
    }
    println!("{} questions of {} programs", sets.iter().map(|set| set.questions.len()).sum::<usize>(), sets.len());
    println!(
        "{:24} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>6} {:>6} {:>6}",
        "% within", "1ms", "10ms", "100ms", "1s", "10s", "seconds", "sat", "unsat", "open"
    );
    let mut each = String::new();
    let mut agree = true;
    for name in &words[..at] {
        agree &= measure(name, &mut sets, timeout, &mut each);
    }
    if let Some(file) = each_file {
        std::fs::write(&file, each).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    std::process::exit(i32::from(!agree));
}
