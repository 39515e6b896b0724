//! Flags checked against each other and turned into what the engine takes.

use std::path::PathBuf;
use std::time::Duration;

use explore::SymArgs;
use solver::{Checking, Config, Independence, Layer, Recording, SmtSolver};

use crate::args::{Check, RunArgs, SolverName, split_words};
use crate::outcome::Failure;
use crate::technique_args::TechniqueArgs;

/// A run's flags, valid.
pub struct Settings {
    pub cflags: Vec<String>,
    /// What the user should know about how the flags were taken.
    pub notes: Vec<String>,
    pub checks: vm::Checks,
    pub sym_args: Vec<SymArgs>,
    /// Symbolic files by name and size.
    pub sym_files: Vec<(String, u32)>,
    /// Real folders the program may read, by their real names.
    pub readable: Vec<PathBuf>,
    pub n_workers: usize,
    pub solver: Config,
    pub line_up: Vec<String>,
}

/// What is no layer of its own but can be left out like one: looking only at the constraints that matter.
const INDEPENDENCE: &str = "independence";
const SOLVER_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer a question may take when it is asked again; what is left of the campaign limits it, too.
const AGAIN: u32 = 10;

/// The least first try, however short the campaign.
const LEAST_SOLVER_TIMEOUT: Duration = Duration::from_millis(100);

/// What a question may take at first. One that stays open is asked again when nothing else is left to do, so with little
/// time for everything no single one may take much of it.
fn solver_timeout(max_time: Option<Duration>) -> Duration {
    max_time.map_or(SOLVER_TIMEOUT, |time| (time / 1000).clamp(LEAST_SOLVER_TIMEOUT, SOLVER_TIMEOUT))
}

impl Settings {
    pub fn new(args: &RunArgs) -> Result<Settings, Failure> {
        needs_libc(args)?;
        let TechniqueArgs { all, flags } = &args.techniques;
        techniques::check(all, &args.line_up, flags).map_err(Failure::usage)?;
        let mut cflags = split_words(&args.cflags).map_err(|why| Failure::usage(format!("--cflags: {why}")))?;
        let mut checks = checks(&args.check);
        let notes = take_sanitizers(&mut cflags, &mut checks);
        Ok(Settings {
            cflags,
            notes,
            checks,
            sym_args: sym_args(&args.sym_args)?,
            sym_files: sym_files(&args.sym_file)?,
            readable: readable(&args.allow_read)?,
            n_workers: match args.workers {
                Some(n_workers) => n_workers as usize,
                // What a technique prunes depends on what its worker has seen: one, unless asked for more.
                None if !args.line_up.is_empty() => 1,
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            solver: solver_config(args)?,
            line_up: args.line_up.clone(),
        })
    }
}

fn solver_config(args: &RunArgs) -> Result<Config, Failure> {
    let mut off = Vec::new();
    let mut independence = Independence::On;
    for name in &args.solver_without {
        if name == INDEPENDENCE {
            independence = Independence::Off;
            continue;
        }
        let layer = Layer::named(name).ok_or_else(|| {
            let known: Vec<&str> = Layer::ALL.iter().map(|layer| layer.name()).chain([INDEPENDENCE]).collect();
            Failure::usage(format!("--solver-without: there is no layer `{name}`; there are: {}", known.join(", ")))
        })?;
        off.push(layer);
    }
    Ok(Config {
        off,
        independence,
        smt: match args.solver {
            SolverName::Z3 => SmtSolver::Z3,
            SolverName::Cvc5 => SmtSolver::Cvc5,
            SolverName::None => SmtSolver::Absent,
        },
        timeout: args.budgets.solver_timeout.unwrap_or_else(|| solver_timeout(args.budgets.max_time)),
        timeout_again: args.budgets.solver_timeout.unwrap_or(SOLVER_TIMEOUT) * AGAIN,
        record: record(args)?,
        recording: if args.solver_record_hard { Recording::Hard } else { Recording::All },
        checking: if args.solver_check { Checking::On } else { Checking::Off },
        ..Config::default()
    })
}

/// The file for questions must be new, and somewhere it can be made.
fn record(args: &RunArgs) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = &args.solver_record else { return Ok(None) };
    let tried = std::fs::File::create_new(path).and_then(|_| std::fs::remove_file(path));
    tried.map_err(|error| Failure::usage(format!("--solver-record {}: {error}", path.display())))?;
    Ok(Some(path.clone()))
}

/// What only the world below the whole C library can give.
fn needs_libc(args: &RunArgs) -> Result<(), Failure> {
    let given = [
        ("--sym-file", !args.sym_file.is_empty()),
        ("--fail-calls", args.fail_calls > 0),
        ("--allow-read", !args.allow_read.is_empty()),
        ("--env", !args.env.is_empty()),
    ];
    match given.iter().find(|flag| flag.1) {
        Some((flag, _)) if !args.libc => Err(Failure::usage(format!("{flag} needs --libc, too"))),
        _ => match args.env.iter().find(|variable| !variable.contains('=')) {
            Some(variable) => Err(Failure::usage(format!("--env {variable}: write NAME=VALUE"))),
            None => Ok(()),
        },
    }
}

/// The largest symbolic file.
const MAX_FILE_BYTES: u32 = 1 << 20;

fn sym_files(words: &[String]) -> Result<Vec<(String, u32)>, Failure> {
    let mut files: Vec<(String, u32)> = Vec::new();
    for pair in words.chunks(2) {
        let [name, size] = pair else { continue };
        let wrong = |why: &str| Failure::usage(format!("--sym-file {name} {size}: {why}"));
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if name.len() > 250 || !name.split('/').all(is_plain) {
            return Err(wrong("NAME is a short name in the program's working folder, without `..`"));
        }
        if files.iter().any(|file| file.0 == *name) {
            return Err(wrong("there is a file of that name already"));
        }
        let n_bytes = size.parse().ok().filter(|n_bytes| *n_bytes <= MAX_FILE_BYTES);
        let n_bytes = n_bytes.ok_or_else(|| wrong("N is a number of bytes, at most 1048576"))?;
        files.push((name.clone(), n_bytes));
    }
    Ok(files)
}

fn readable(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let real = |folder: &PathBuf| match folder.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(Failure::usage(format!("--allow-read {}: not a folder", folder.display()))),
        Err(error) => Err(Failure::usage(format!("--allow-read {}: {error}", folder.display()))),
    };
    folders.iter().map(real).collect()
}

/// Most ways to choose how many arguments there are: each is a path from the beginning.
const MAX_ARG_CHOICES: u64 = 4096;

fn sym_args(words: &[u32]) -> Result<Vec<SymArgs>, Failure> {
    let group = |words: &[u32]| match *words {
        [min, max, len] if min <= max => Ok(SymArgs { min, max, len }),
        _ => {
            let words: Vec<String> = words.iter().map(u32::to_string).collect();
            Err(Failure::usage(format!("--sym-args {}: MIN is larger than MAX", words.join(" "))))
        }
    };
    let groups: Vec<SymArgs> = words.chunks(3).map(group).collect::<Result<_, _>>()?;
    let counts = groups.iter().map(|group| u64::from(group.max - group.min) + 1);
    if counts.fold(1, u64::saturating_mul) > MAX_ARG_CHOICES {
        return Err(Failure::usage(format!(
            "--sym-args: more than {MAX_ARG_CHOICES} ways to choose how many there are"
        )));
    }
    Ok(groups)
}

/// The default checks and those of the list, read from left to right.
fn checks(list: &[Check]) -> vm::Checks {
    let mut checks = vm::Checks::default();
    list.iter().for_each(|check| switch_on(&mut checks, *check));
    checks
}

fn switch_on(checks: &mut vm::Checks, check: Check) {
    match check {
        Check::Memory => checks.memory = true,
        Check::Assert => checks.assertion = true,
        Check::Div => checks.division = true,
        Check::Overflow => checks.overflow = true,
        Check::Shift => checks.shift = true,
        Check::Uninit => checks.uninit = true,
        Check::Leak => checks.leak = true,
        Check::LeakAll => checks.leak_all = true,
        Check::Pointer => checks.pointer = true,
        Check::Overlap => checks.overlap = true,
        Check::Align => checks.built_in.alignment = true,
        Check::Bool => checks.built_in.boolean = true,
        Check::Builtin => checks.built_in.builtin = true,
        Check::Float => checks.built_in.float = true,
        Check::Nonnull => checks.built_in.nonnull = true,
        Check::Conversion => checks.built_in.conversion = true,
        Check::Bounds => checks.built_in.bounds = true,
        Check::None => *checks = vm::Checks::NONE,
        Check::All => *checks = ALL_CHECKS,
    }
}

/// What is wrong in every program: not what is only unusual, as memory that is still in use at the end.
const ALL_CHECKS: vm::Checks = vm::Checks {
    memory: true,
    assertion: true,
    division: true,
    overflow: true,
    shift: true,
    uninit: true,
    leak: true,
    leak_all: false,
    pointer: true,
    overlap: true,
    built_in: vm::BuiltIn {
        alignment: true,
        boolean: true,
        builtin: true,
        float: true,
        nonnull: true,
        conversion: false,
        bounds: true,
    },
};

/// What clang's sanitizers are called here. Those that look for what is looked for anyway have no row of their own.
const SANITIZERS: &[(&str, &[Check])] = &[
    ("address", &[Check::Memory]),
    ("kernel-address", &[Check::Memory]),
    ("bounds", &[Check::Memory, Check::Bounds]),
    ("array-bounds", &[Check::Bounds]),
    ("local-bounds", &[Check::Memory]),
    ("null", &[Check::Memory]),
    ("object-size", &[Check::Memory]),
    ("memory", &[Check::Uninit]),
    ("leak", &[Check::Leak]),
    (
        "undefined",
        &[
            Check::Memory,
            Check::Div,
            Check::Overflow,
            Check::Shift,
            Check::Pointer,
            Check::Align,
            Check::Bool,
            Check::Builtin,
            Check::Nonnull,
            Check::Bounds,
        ],
    ),
    ("integer", &[Check::Div, Check::Overflow, Check::Shift, Check::Conversion]),
    ("signed-integer-overflow", &[Check::Overflow]),
    ("integer-divide-by-zero", &[Check::Div]),
    ("shift", &[Check::Shift]),
    ("shift-base", &[Check::Shift]),
    ("shift-exponent", &[Check::Shift]),
    ("unreachable", &[Check::Assert]),
    ("return", &[Check::Assert]),
    ("pointer-overflow", &[Check::Pointer]),
    ("alignment", &[Check::Align]),
    ("bool", &[Check::Bool]),
    ("builtin", &[Check::Builtin]),
    ("vla-bound", &[Check::Builtin]),
    ("float-cast-overflow", &[Check::Float]),
    ("float-divide-by-zero", &[Check::Float]),
    ("nonnull-attribute", &[Check::Nonnull]),
    ("returns-nonnull-attribute", &[Check::Nonnull]),
    ("implicit-conversion", &[Check::Conversion]),
    ("implicit-integer-conversion", &[Check::Conversion]),
    ("implicit-integer-truncation", &[Check::Conversion]),
    ("implicit-unsigned-integer-truncation", &[Check::Conversion]),
    ("implicit-signed-integer-truncation", &[Check::Conversion]),
    ("implicit-integer-sign-change", &[Check::Conversion]),
];

/// Takes sanitizers out of the compiler's flags, where they would change the program that is explored and the one that is
/// run, and switches on the checks that look for the same. What nobody here looks for is said.
fn take_sanitizers(cflags: &mut Vec<String>, checks: &mut vm::Checks) -> Vec<String> {
    let mut notes = Vec::new();
    for list in cflags.iter().filter_map(|flag| flag.strip_prefix("-fsanitize=")) {
        for name in list.split(',') {
            match SANITIZERS.iter().find(|row| row.0 == name) {
                Some((_, asked)) => asked.iter().for_each(|check| switch_on(checks, *check)),
                None => notes.push(format!("--cflags -fsanitize={name}: there is no such check here; it is left out")),
            }
        }
    }
    cflags.retain(|flag| !flag.starts_with("-fsanitize") && !flag.starts_with("-fno-sanitize"));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_add_up() {
        let with_overflow = checks(&[Check::Overflow]);
        assert!(with_overflow.memory && with_overflow.overflow && !with_overflow.leak);
        let only_leak = checks(&[Check::None, Check::Leak]);
        assert!(!only_leak.memory && !only_leak.assertion && only_leak.leak);
        assert!(checks(&[Check::All]).uninit);
    }

    #[test]
    fn sanitizers_become_checks() {
        let mut cflags =
            vec!["-O1".to_string(), "-fsanitize=undefined,thread".into(), "-fno-sanitize-recover=all".into()];
        let mut found = checks(&[]);
        let notes = take_sanitizers(&mut cflags, &mut found);
        assert_eq!(cflags, ["-O1"]);
        assert!(found.overflow && found.built_in.alignment && !found.built_in.conversion);
        assert!(notes.len() == 1 && notes[0].contains("thread"), "{notes:?}");
    }

    #[test]
    fn argument_counts_are_ordered() {
        assert_eq!(sym_args(&[0, 2, 3]).expect("valid"), [SymArgs { min: 0, max: 2, len: 3 }]);
        assert_eq!(sym_args(&[0, 2, 3, 3, 2, 3]).expect_err("invalid").exit.code(), 2);
    }
}
