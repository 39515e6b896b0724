//! Asks recorded questions again, of one back end after the other, and prints how many each answers in which time.
//!
//! `cargo run --release --example replay -- [--timeout MS] [--at-most N] [--each FILE] BACKEND... -- RECORD...`, where a record is a file of
//! `colt run --solver-record`. A back end is `stack` (all layers as a campaign has them), `gates` (the bit-blaster alone), `z3`, `cvc5`, or
//! a command in one word that reads SMT-LIB: `"bitwuzla --lang smt2"`. All must agree; a disagreement ends in status 1.

use solver::{
    Answer, Backend, Config, Layer, Recorded, Reply, SmtSolver, Stack, backend, program_as_backend, read_record,
};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use term::{Assignment, Eval, TermId, Terms};

/// One record, and what is known about its questions.
struct Set {
    name: String,
    terms: Terms,
    questions: Vec<Recorded>,
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

/// Time that this process has spent; that of the machine for a solver in a process of its own.
fn now(name: &str) -> Duration {
    if !matches!(name, "stack" | "gates") {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        return START.get_or_init(Instant::now).elapsed();
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to a structure of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

const WITHIN_MS: [u64; 5] = [1, 10, 100, 1000, 10_000];

/// Asks everything of one; gives whether it agreed with those before.
fn measure(name: &str, sets: &mut [Set], timeout: Duration, each: &mut String) -> bool {
    let mut times: Vec<Duration> = Vec::new();
    let (mut n_sat, mut n_unsat, mut n_open, mut total, mut agrees) = (0, 0, 0, Duration::ZERO, true);
    for set in sets {
        let mut answerer = answerer(name, timeout);
        let mut in_set = Duration::ZERO;
        for (idx, query) in set.questions.iter().enumerate() {
            let start = now(name);
            let verdict = answerer.ask(&mut set.terms, query, timeout);
            let took = now(name).saturating_sub(start);
            in_set += took;
            let _ = writeln!(each, "{name}\t{}\t{idx}\t{verdict:?}\t{:.3}", set.name, took.as_secs_f64() * 1e3);
            match verdict {
                Some(true) => n_sat += 1,
                Some(false) => n_unsat += 1,
                None => n_open += 1,
            }
            times.extend(verdict.map(|_| took));
            match (set.verdicts[idx], verdict) {
                (Some(before), Some(now)) if before != now => {
                    println!("{name} disagrees on question {idx} of {}: {now}", set.name);
                    agrees = false;
                }
                (before, now) => set.verdicts[idx] = before.or(now),
            }
        }
        total += in_set;
    }
    let n = (n_sat + n_unsat + n_open).max(1);
    print!("{:24}", name.chars().take(24).collect::<String>());
    for ms in WITHIN_MS {
        let n_within = times.iter().filter(|took| **took <= Duration::from_millis(ms)).count();
        print!(" {:6.1}", 100.0 * n_within as f64 / n as f64);
    }
    println!(" {:9.1} {n_sat:6} {n_unsat:6} {n_open:6}", total.as_secs_f64());
    agrees
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
    let hard_only = option("--only").is_some_and(|word| word == "hard");
    let each_file = option("--each");
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
        // Evenly over the whole record.
        let step = questions.len().div_ceil(at_most.min(questions.len()).max(1)).max(1);
        questions = questions.into_iter().step_by(step).collect();
        let verdicts = vec![None; questions.len()];
        let name = file.rsplit('/').next().unwrap_or(file).to_string();
        sets.push(Set { name, terms, questions, verdicts });
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
