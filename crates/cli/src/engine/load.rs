//! Loading: from what the command line names to a program, how to build it natively, and seeds for it.

use std::path::PathBuf;

use frontend::{Libc, PointerSteps, Program, Promote, Sources, StringParams, Typed};
use replay::{BuildPlan, Limits};
use techniques::{lengths, shapes};

use crate::args::RunArgs;
use crate::journal::SavedHarness;
use crate::outcome::Failure;
use crate::place::Place;
use crate::program::Parts;
use crate::settings::Settings;
use crate::{cache, entry, native, seeds};

/// A program ready to be explored, and how to build it natively.
pub struct Loaded {
    pub program: Program,
    pub plan: BuildPlan,
    pub harness: Option<SavedHarness>,
    /// What the user should know about how it was loaded.
    pub notes: Vec<String>,
    pub seeds: Vec<explore::Seed>,
    /// Files without the checks that were asked for.
    pub unchecked: Vec<PathBuf>,
    /// Where the search is to come to, if somebody asked for that.
    pub goal: explore::Goal,
}

impl Loaded {
    /// Searches for a way to this place.
    pub fn aim(&mut self, place: &Place) -> Result<(), Failure> {
        let blocks = self.program.module.blocks_at(|path| place.is_in(path), place.line);
        if blocks.is_empty() {
            return Err(Failure::usage(format!("--towards: the program has no code at {place}")));
        }
        self.goal = explore::Goal::new(blocks);
        Ok(())
    }
}

pub fn load(args: &RunArgs, settings: &Settings) -> Result<Loaded, Failure> {
    let headers = headers()?;
    let mut parts = Parts::read(&args.files)?;
    let sources = sources(args, settings, &mut parts, headers.path().to_path_buf())?;
    let program = frontend::load(&sources).map_err(|error| load_failure(&args.files, &error.to_string()))?;
    let mut notes = std::mem::take(&mut parts.notes);
    notes.extend(settings.notes.iter().cloned());
    if sources.typed.is_some() && program.harness.is_some() {
        let entry = program.module.find_function(&program.entry_name).unwrap_or(program.entry);
        if !shapes::has_pointers(&program.module, entry) {
            let name = &program.entry_name;
            notes.push(format!("`{name}` is given no pointers, so it is explored as without --with shapes"));
        }
    }
    let plan = plan(args, settings, parts, &program)?;
    let of_clang = settings.checks.of_clang();
    let unchecked = if of_clang.is_empty() { Vec::new() } else { compiled_elsewhere(&plan) };
    let harness = saved_harness(&program);
    let seeds = match &args.seeds {
        Some(path) => seeds::read(
            path,
            &seeds::Target::new(args, &settings.sym_files, &settings.line_up, &plan.entry),
            &mut notes,
        )?,
        None => Vec::new(),
    };
    Ok(Loaded { program, plan, harness, notes, seeds, unchecked, goal: explore::Goal::default() })
}

/// Files that clang did not compile for us, so that checks it puts into the code are not in them.
fn compiled_elsewhere(plan: &BuildPlan) -> Vec<PathBuf> {
    let is_bitcode = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "bc" || extension == "ll");
    let files = plan.sources.iter().filter(is_bitcode).cloned();
    files.chain(plan.units.iter().map(|unit| unit.source.clone())).collect()
}

/// `colt.h` and the like in a folder of their own, for as long as it is held.
fn headers() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new()
        .prefix("colt-include-")
        .tempdir()
        .and_then(|dir| replay::write_headers(dir.path()).map(|()| dir))
        .map_err(|error| Failure::fault(format!("cannot write Colt's headers to a temporary folder: {error}")))
}

/// What the front end compiles and links.
fn sources(args: &RunArgs, settings: &Settings, parts: &mut Parts, headers: PathBuf) -> Result<Sources, Failure> {
    Ok(Sources {
        units: std::mem::take(&mut parts.bitcode),
        archive: std::mem::take(&mut parts.archive),
        cflags: settings.cflags.clone(),
        include_dirs: vec![headers],
        // Nobody knows how long a register points to something.
        promote: if settings.checks.any_leak() { Promote::Off } else { Promote::On },
        entry: args.entry.clone(),
        fuzzer_size: args.fuzzer_bytes(&settings.line_up),
        libc: libc(args)?,
        sanitizers: native::build_checks(&settings.checks, args.uninit).sanitizers,
        sanitizers_of_folded: sanitizers_of_folded(&settings.checks),
        pointer_steps: if settings.checks.pointer { PointerSteps::Told } else { PointerSteps::Untold },
        typed: typed(args, settings),
        strings: match lengths::makes_strings(&settings.line_up) {
            true => StringParams::Strings,
            false => StringParams::Buffers,
        },
        ..Sources::new(parts.files.clone())
    })
}

/// What clang's checks are called for operations that it may compute itself.
fn sanitizers_of_folded(checks: &vm::Checks) -> Vec<String> {
    let rows = [(true, "integer-divide-by-zero"), (checks.shift, "shift")];
    rows.iter().filter(|row| row.0).map(|row| row.1.to_string()).collect()
}

/// What the harness is to do about pointers.
fn typed(args: &RunArgs, settings: &Settings) -> Option<Typed> {
    let shapes::Claims { valid, keeps } = shapes::claims(&settings.line_up, &args.techniques.flags)?;
    Some(Typed { valid, keeps })
}

fn libc(args: &RunArgs) -> Result<Option<Libc>, Failure> {
    if !args.libc {
        return Ok(None);
    }
    let cache = cache::folder().unwrap_or_else(|| std::env::temp_dir().join("colt"));
    Libc::open(&cache).map(Some).map_err(|error| Failure::usage(error.to_string()))
}

/// How to build the same program natively.
fn plan(args: &RunArgs, settings: &Settings, parts: Parts, program: &Program) -> Result<BuildPlan, Failure> {
    let cwd = std::env::current_dir().map_err(|error| Failure::usage(format!("no working folder: {error}")))?;
    let mut units = parts.units;
    units.extend(program.from_archive.iter().map(|idx| parts.archive_units[*idx].clone()));
    Ok(BuildPlan {
        sources: parts.files,
        units,
        libraries: parts.libraries,
        cflags: settings.cflags.clone(),
        base_dir: cwd,
        entry: entry::entry(program),
        checks: native::build_checks(&settings.checks, args.uninit),
        limits: Limits::default(),
        cache: None,
    })
}

fn saved_harness(program: &Program) -> Option<SavedHarness> {
    program.harness.as_ref().map(|harness| SavedHarness {
        text: harness.text.clone(),
        replaces: harness.replaces.clone(),
        defines: harness.defines.clone(),
    })
}

/// Messages that concern the program as a whole name its files, too.
fn load_failure(files: &[PathBuf], message: &str) -> Failure {
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    if files.iter().any(|file| message.contains(file.as_str())) {
        return Failure::program(message);
    }
    Failure::program(format!("{}: {message}", files.join(" ")))
}
