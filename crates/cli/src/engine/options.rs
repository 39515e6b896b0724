//! What the command line asks of the explorer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use explore::{Budgets, Checkpoints, Decisions, Options, Search, World};

use super::Loaded;
use crate::args::{Order, RunArgs, Tests, Uninit};
use crate::deadline::Deadline;
use crate::resume;
use crate::settings::Settings;

pub fn options(
    loaded: &Loaded,
    args: &RunArgs,
    settings: &Settings,
    prefixes: Vec<Decisions>,
    deadline: Deadline,
    stop: &Arc<AtomicBool>,
) -> Options {
    Options {
        tests: tests(args.tests),
        search: search(args.search),
        seed: args.seed,
        checks: settings.checks,
        budgets: budgets(args, deadline),
        solver: settings.solver.clone(),
        workers: settings.n_workers,
        compile: args.compile,
        world: world(args, settings),
        stop: Arc::clone(stop),
        resume: prefixes,
        goal: loaded.goal.clone(),
        seeds: loaded.seeds.iter().cloned().map(Arc::new).collect(),
        record_output: args.show_output,
        checkpoints: if resume::starts_over(args) { Checkpoints::Off } else { Checkpoints::On },
    }
}

fn tests(tests: Tests) -> explore::Tests {
    match tests {
        Tests::Covering => explore::Tests::Covering,
        Tests::All | Tests::Files => explore::Tests::All,
    }
}

fn search(order: Order) -> Search {
    match order {
        Order::Coverage => Search::Coverage,
        Order::Dfs => Search::Dfs,
        Order::Bfs => Search::Bfs,
        Order::Random => Search::Random,
    }
}

fn budgets(args: &RunArgs, deadline: Deadline) -> Budgets {
    Budgets {
        time: deadline.for_exploring(),
        memory_mb: args.budgets.max_memory.or_else(usual_memory_mb),
        paths: args.budgets.max_paths,
        depth: args.budgets.max_depth,
        steps: args.budgets.max_steps,
    }
}

fn world(args: &RunArgs, settings: &Settings) -> World {
    World {
        stdin_bytes: args.sym_stdin,
        args: settings.sym_args.clone(),
        concrete_args: args.program_args.clone(),
        files: settings.sym_files.clone(),
        environment: args.env.clone(),
        fail_calls: args.fail_calls,
        readable: settings.readable.clone(),
        rand_input: args.rand_input,
        uninit: match args.uninit {
            Uninit::Any => vm::Uninit::Unknown,
            Uninit::Zero => vm::Uninit::Zero,
        },
    }
}

/// Where nobody said how much memory to use: three quarters of the machine's.
fn usual_memory_mb() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total_kb: u64 = total.split_whitespace().next()?.parse().ok()?;
    Some(total_kb / 1024 / 4 * 3)
}
