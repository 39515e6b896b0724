//! Binds the command to the front end and the explorer: loads a program, explores it, turns the outcome into figures.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use explore::{Budgets, LineUp, Options, Outcome, PathCounts, Search, Sink, Trail, World};
use frontend::{Libc, Program, Promote, Sources};
use replay::{BuildPlan, Limits};
use report::{FindingSummary, LayerSummary, LedgerSummary, PathsSummary, QueriesSummary, Summary};

use crate::args::{Order, RunArgs};
use crate::cache;
use crate::entry;
use crate::journal::SavedHarness;
use crate::names::Names;
use crate::native;
use crate::outcome::Failure;
use crate::program::Parts;
use crate::seeds;
use crate::settings::Settings;
use crate::technique_args::TechniqueArgs;

/// A program ready to be explored, and how to build it natively.
pub struct Loaded {
    pub program: Program,
    pub plan: BuildPlan,
    pub harness: Option<SavedHarness>,
    /// What the user should know about how it was loaded.
    pub notes: Vec<String>,
    pub seeds: Vec<explore::Seed>,
}

pub fn load(args: &RunArgs, settings: &Settings) -> Result<Loaded, Failure> {
    let headers = tempfile::Builder::new()
        .prefix("colt-include-")
        .tempdir()
        .and_then(|dir| replay::write_headers(dir.path()).map(|()| dir))
        .map_err(|error| Failure::fault(format!("cannot write Colt's headers to a temporary folder: {error}")))?;
    let parts = Parts::read(&args.files)?;
    let sources = Sources {
        units: parts.bitcode,
        archive: parts.archive,
        cflags: settings.cflags.clone(),
        include_dirs: vec![headers.path().to_path_buf()],
        // A local in a register has no bytes that could be uninitialised.
        promote: if settings.checks.uninit { Promote::Off } else { Promote::On },
        entry: args.entry.clone(),
        fuzzer_size: args.fuzzer_size,
        libc: libc(args)?,
        ..Sources::new(parts.files.clone())
    };
    let program = frontend::load(&sources).map_err(|error| load_failure(&args.files, &error.to_string()))?;
    let cwd = std::env::current_dir().map_err(|error| Failure::usage(format!("no working folder: {error}")))?;
    let mut units = parts.units;
    units.extend(program.from_archive.iter().map(|idx| parts.archive_units[*idx].clone()));
    let plan = BuildPlan {
        sources: parts.files,
        units,
        libraries: parts.libraries,
        cflags: settings.cflags.clone(),
        base_dir: cwd,
        entry: entry::entry(&program),
        checks: native::build_checks(&settings.checks),
        limits: Limits::default(),
        cache: None,
    };
    let harness = program.harness.as_ref().map(|harness| SavedHarness {
        text: harness.text.clone(),
        replaces: harness.replaces.clone(),
        defines: harness.defines.clone(),
    });
    let mut notes = parts.notes;
    let seeds = match &args.seeds {
        Some(path) => seeds::read(path, &seeds::Target::new(args, &settings.sym_files, &plan.entry), &mut notes)?,
        None => Vec::new(),
    };
    Ok(Loaded { program, plan, harness, notes, seeds })
}

fn libc(args: &RunArgs) -> Result<Option<Libc>, Failure> {
    if !args.libc {
        return Ok(None);
    }
    let cache = cache::folder().unwrap_or_else(|| std::env::temp_dir().join("colt"));
    Libc::open(&cache.join("libc")).map(Some).map_err(|error| Failure::usage(error.to_string()))
}

/// Messages that concern the program as a whole name its files, too.
fn load_failure(files: &[PathBuf], message: &str) -> Failure {
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    if files.iter().any(|file| message.contains(file.as_str())) {
        return Failure::program(message);
    }
    Failure::program(format!("{}: {message}", files.join(" ")))
}

/// The techniques of the command line, made for this program.
pub fn line_up(loaded: &Loaded, args: &RunArgs, settings: &Settings) -> Result<LineUp, Failure> {
    if settings.line_up.is_empty() {
        return Ok(LineUp::plain());
    }
    let module = Arc::new(loaded.program.module.clone());
    let entry = module.find_function(&loaded.program.entry_name).unwrap_or(loaded.program.entry);
    let subject = techniques::Subject { module: &module, entry };
    let TechniqueArgs { all, flags } = &args.techniques;
    techniques::line_up(all, &settings.line_up, flags, subject).map_err(|why| Failure::usage(format!("--with: {why}")))
}

/// Where nobody said how much memory to use: three quarters of the machine's.
fn usual_memory_mb() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total_kb: u64 = total.split_whitespace().next()?.parse().ok()?;
    Some(total_kb / 1024 / 4 * 3)
}

pub fn explore(
    loaded: &Loaded,
    args: &RunArgs,
    settings: &Settings,
    line_up: LineUp,
    prefixes: Vec<Trail>,
    stop: &Arc<AtomicBool>,
    sink: &mut dyn Sink,
) -> Result<Outcome, String> {
    let seeds = loaded.seeds.iter().cloned().map(Arc::new).collect();
    let options = Options {
        search: match args.search {
            Order::Coverage => Search::Coverage,
            Order::Dfs => Search::Dfs,
            Order::Bfs => Search::Bfs,
            Order::Random => Search::Random,
        },
        seed: args.seed,
        checks: settings.checks,
        budgets: Budgets {
            time: args.budgets.max_time,
            memory_mb: args.budgets.max_memory.or_else(usual_memory_mb),
            paths: args.budgets.max_paths,
            depth: args.budgets.max_depth,
            steps: args.budgets.max_steps,
        },
        solver: settings.solver.clone(),
        workers: settings.n_workers,
        compile: args.compile,
        world: World {
            stdin_bytes: args.sym_stdin,
            args: settings.sym_args.clone(),
            concrete_args: args.program_args.clone(),
            files: settings.sym_files.clone(),
            environment: args.env.clone(),
            fail_calls: args.fail_calls,
            readable: settings.readable.clone(),
        },
        stop: Arc::clone(stop),
        resume: prefixes,
        seeds,
        record_output: args.show_output,
    };
    let program = explore::Program {
        module: Arc::new(loaded.program.module.clone()),
        entry: loaded.program.entry,
        constructors: loaded.program.constructors.clone(),
    };
    explore::explore(&program, &options, line_up, sink).map_err(|fault| fault.to_string())
}

/// The figures of one exploration; tests, gaps, cuts, coverage and the other times are entered by the caller.
pub fn summary(loaded: &Loaded, args: &RunArgs, settings: &Settings, outcome: &Outcome, names: &mut Names) -> Summary {
    Summary {
        program: args.files.iter().map(|file| file.display().to_string()).collect(),
        entry: loaded.program.entry_name.clone(),
        line_up: settings.line_up.clone(),
        seed: args.seed,
        paths: paths(&outcome.counts),
        runs: outcome.runs,
        instructions: outcome.instructions,
        forks: outcome.forks,
        states_max: outcome.states_max,
        queries: queries(&outcome.queries),
        findings: findings(loaded, outcome, names),
        ledger: ledger(outcome, names),
        time_s: outcome.elapsed.as_secs_f64(),
        memory_mb: outcome.memory_mb,
        techniques: outcome
            .techniques
            .iter()
            .filter_map(|(name, report)| Some((name.to_string(), serde_json::from_str(report.summary.as_ref()?).ok()?)))
            .map(|(name, value)| (name, spelled(value, names)))
            .collect(),
        ..Summary::default()
    }
}

/// A technique's object with files named as the user does.
fn spelled(mut value: serde_json::Value, names: &mut Names) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = spelled(item.take(), names));
        }
        serde_json::Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                match field.as_str() {
                    Some(file) if key == "file" && !file.is_empty() => {
                        *field = serde_json::Value::from(&*names.spell(&file.into()));
                    }
                    _ => *field = spelled(field.take(), names),
                }
            }
        }
        _ => {}
    }
    value
}

fn paths(counts: &PathCounts) -> PathsSummary {
    let PathCounts { total, returned, exited, bug, assumed, pruned, cut, unsupported } = *counts;
    PathsSummary { total, returned, exited, bug, assumed, pruned, cut, unsupported }
}

fn queries(counters: &solver::Counters) -> QueriesSummary {
    QueriesSummary {
        asked: counters.n_asked,
        solver: counters.n_solver,
        unknown: counters.n_unknown,
        solver_s: counters.solver_time.as_secs_f64(),
        by_layer: counters
            .by_layer()
            .map(|(layer, count)| LayerSummary {
                layer: layer.to_string(),
                sat: count.n_sat,
                unsat: count.n_unsat,
                time_s: count.time.as_secs_f64(),
            })
            .collect(),
    }
}

fn findings(loaded: &Loaded, outcome: &Outcome, names: &mut Names) -> Vec<FindingSummary> {
    let harness = loaded.program.harness.as_ref().map(|harness| harness.path.clone());
    // The harness is ours: no caller the user would know.
    let is_users = |place: &witness::Place| harness.as_deref() != Some(std::path::Path::new(&*place.file));
    let spell = |finding: &witness::Finding| {
        let mut finding = finding.clone();
        finding.bug.stack.retain(is_users);
        names.fix_place(&mut finding.bug.place);
        finding.bug.stack.iter_mut().for_each(|place| names.fix_place(place));
        FindingSummary::from(&finding)
    };
    outcome.findings.iter().map(spell).collect()
}

fn ledger(outcome: &Outcome, names: &mut Names) -> Vec<LedgerSummary> {
    let spell = |mut entry: witness::LedgerEntry| {
        names.fix_place(&mut entry.place);
        LedgerSummary::from(&entry)
    };
    outcome.ledger.entries().map(spell).collect()
}
