//! Measures `colt run` on the programs of `bench/` with one worker, and compares with a saved measurement.
//!
//! `bench [--save] [--runs N] [NAME...]`: the median of N runs (3) of each program, or of those named. `bench/baseline.json`
//! has the figures that the last column compares with; `--save` writes it anew. Tests are written below `$BENCH_DIR`, or
//! the folder for temporary files, and deleted only at the end: an ext4 file system is slow right after deletions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::command::{find_colt, project_root, run_limited};

/// For one exploration, and for the whole command.
const MAX_TIME_S: &str = "120";
const LIMIT: Duration = Duration::from_secs(240);
/// Times differ by this factor from run to run.
const USUAL_CHANGE: f64 = 1.25;

/// A program with one set of flags.
struct Case {
    name: String,
    source: PathBuf,
    flags: Vec<String>,
}

struct Figures {
    paths: u64,
    instructions: u64,
    time_s: f64,
    memory_mb: u64,
    asked: u64,
    by_layer: Vec<(String, u64)>,
}

struct Args {
    save: bool,
    n_runs: usize,
    names: Vec<String>,
}

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), String> {
    let args = parse_args(std::env::args().skip(1))?;
    let colt = find_colt()?;
    let folder = std::env::var_os("BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let scratch = tempfile::Builder::new().prefix("colt-bench-").tempdir_in(&folder);
    let scratch = scratch.map_err(|error| format!("{}: {error}", folder.display()))?;
    let root = project_root();
    let baseline_path = root.join("bench/baseline.json");
    let mut baseline = read_baseline(&baseline_path)?;
    println!(
        "{:<28} {:>7} {:>12} {:>8} {:>9} {:>8} {:>6}  baseline",
        "program", "paths", "instructions", "M/s", "asked", "time", "MB"
    );
    let mut layers = Vec::new();
    for case in find_cases(&root.join("bench"))? {
        if !args.names.is_empty() && !args.names.iter().any(|name| case.name.starts_with(name.as_str())) {
            continue;
        }
        let figures = median(&colt, &case, args.n_runs, scratch.path())?;
        println!("{}", row(&case.name, &figures, baseline.get(&case.name)));
        layers.push((case.name.clone(), figures.by_layer.clone()));
        if args.save {
            baseline.insert(case.name, to_json(&figures));
        }
    }
    println!("\nwhich layer answered");
    for (name, by_layer) in layers {
        let answered = by_layer.iter().filter(|(_, count)| *count > 0).map(|(layer, count)| format!("{layer} {count}"));
        println!("{name:<28} {}", answered.collect::<Vec<_>>().join(", "));
    }
    if args.save {
        let text = serde_json::to_string_pretty(&baseline).map_err(|error| error.to_string())?;
        fs::write(&baseline_path, text + "\n").map_err(|error| format!("{}: {error}", baseline_path.display()))?;
    }
    Ok(())
}

fn parse_args(words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { save: false, n_runs: 3, names: Vec::new() };
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--save" => args.save = true,
            "--runs" => {
                let n_runs = words.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
                args.n_runs = n_runs.ok_or("--runs takes a number")?;
            }
            flag if flag.starts_with('-') => return Err(format!("there is no flag {flag}")),
            _ => args.names.push(word),
        }
    }
    Ok(args)
}

fn read_baseline(path: &Path) -> Result<BTreeMap<String, Value>, String> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
        Err(_) => Ok(BTreeMap::new()),
    }
}

/// Each program with its `//@ flags:`, and once more for each line `//@ also:` with those flags added.
fn find_cases(folder: &Path) -> Result<Vec<Case>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut sources: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    let mut cases = Vec::new();
    for source in sources {
        let text = fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let words = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_string).collect() };
        let flags: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("//@ flags:")).flat_map(words).collect();
        cases.push(Case { name: stem.clone(), source: source.clone(), flags: flags.clone() });
        for also in text.lines().filter_map(|line| line.strip_prefix("//@ also:")) {
            let name = format!("{stem} {}", also.trim());
            cases.push(Case { name, source: source.clone(), flags: [flags.clone(), words(also)].concat() });
        }
    }
    Ok(cases)
}

fn median(colt: &Path, case: &Case, n_runs: usize, scratch: &Path) -> Result<Figures, String> {
    let mut all = Vec::new();
    for run in 0..n_runs {
        let out = scratch.join(format!("{}-{run}", case.name.replace(' ', "")));
        let mut command = Command::new(colt);
        command.arg("run").arg(&case.source).args(&case.flags);
        command.args(["--workers", "1", "--quiet", "--no-replay", "--max-time", MAX_TIME_S, "--out"]).arg(&out);
        let finished = run_limited(&mut command, LIMIT).map_err(|why| format!("{}: {why}", case.name))?;
        let summary = fs::read_to_string(out.join("summary.json"))
            .map_err(|_| format!("{}: no summary; colt said:\n{}", case.name, finished.output()))?;
        all.push(figures(&summary).ok_or_else(|| format!("{}: its summary lacks a figure", case.name))?);
    }
    all.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    Ok(all.swap_remove((n_runs - 1) / 2))
}

fn figures(summary: &str) -> Option<Figures> {
    let summary: Value = serde_json::from_str(summary).ok()?;
    let layers = summary["queries"]["by_layer"].as_array()?;
    Some(Figures {
        paths: summary["paths"]["total"].as_u64()?,
        instructions: summary["instructions"].as_u64()?,
        time_s: summary["time_s"].as_f64()?,
        memory_mb: summary["memory_mb"].as_u64()?,
        asked: summary["queries"]["asked"].as_u64()?,
        by_layer: layers
            .iter()
            .filter_map(|layer| {
                let answered = layer["sat"].as_u64()? + layer["unsat"].as_u64()?;
                Some((layer["layer"].as_str()?.to_string(), answered))
            })
            .collect(),
    })
}

fn row(name: &str, figures: &Figures, baseline: Option<&Value>) -> String {
    let Figures { paths, instructions, time_s, memory_mb, asked, .. } = figures;
    let speed = *instructions as f64 / time_s.max(1e-6) / 1e6;
    let compared = baseline.map_or_else(|| "none".to_string(), |baseline| compare(figures, baseline));
    format!("{name:<28} {paths:>7} {instructions:>12} {speed:>8.1} {asked:>9} {time_s:>8.3} {memory_mb:>6}  {compared}")
}

fn compare(figures: &Figures, baseline: &Value) -> String {
    let before = baseline["time_s"].as_f64().unwrap_or(0.0);
    let ratio = figures.time_s / before.max(1e-6);
    let mut text = format!("{ratio:.2}x of {before:.3} s");
    if ratio > USUAL_CHANGE && figures.time_s > 0.02 {
        text.push_str(", SLOWER");
    }
    if baseline["paths"].as_u64() != Some(figures.paths) {
        text.push_str(&format!(", {} paths before", baseline["paths"]));
    }
    text
}

fn to_json(figures: &Figures) -> Value {
    let Figures { paths, instructions, time_s, memory_mb, asked, .. } = figures;
    json!({"paths": paths, "instructions": instructions, "time_s": time_s, "memory_mb": memory_mb, "asked": asked})
}
