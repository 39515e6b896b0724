//! From C to our bytecode: clang compiles, LLVM reads and links, this crate translates. The only crate that knows LLVM.
//!
//! `load` is the whole pipeline. Of LLVM's passes it runs `mem2reg` alone: every load, store, check and branch of the
//! program is still there afterwards, except accesses to scalar locals whose address nobody takes.

mod compile;
mod debug;
mod error;
mod folded;
mod harness;
mod libc;
mod lifetime;
mod link;
mod llvm;
mod prepare;
mod runtime;
mod translate;
mod typed;
mod unwritten;

use std::path::PathBuf;

use ir::{FuncId, Module};
use rustc_hash::{FxHashMap, FxHashSet};

pub use compile::{Compiled, compile_unit, find_clang};
pub use error::LoadError;
pub use harness::{FILE_NAME as HARNESS_FILE, Harness, HarnessKind};
pub use libc::Libc;
pub use typed::Typed;

use compile::{FileKind, Unit};
use debug::{DebugInfo, FileRules};
use llvm::Context;

/// Whether scalar locals become registers, apart from those that may be read before they are written. Off keeps each of
/// them an object in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promote {
    #[default]
    On,
    Off,
}

/// Whether arithmetic on pointers of the user's own code is told to the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointerSteps {
    #[default]
    Untold,
    Told,
}

/// Whether the machine is told what the user's own code takes pointers for: numbers, or pointers to something else than their
/// types say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PointerUses {
    #[default]
    Untold,
    Told,
}

/// A file of somebody's build, compiled there with flags of its own.
#[derive(Clone, Debug)]
pub struct BuildUnit {
    pub path: PathBuf,
    pub bitcode: Vec<u8>,
}

/// A file of an archive that the build was linked with, to be taken if the program turns out to need it: unoptimised
/// code needs more than the optimised program did.
#[derive(Clone, Debug)]
pub struct ArchiveMember {
    pub unit: BuildUnit,
    /// The names it defines for others.
    pub defines: Vec<String>,
}

/// What to load.
#[derive(Clone, Debug)]
pub struct Sources {
    /// `.c`, `.bc` and `.ll` files, linked into one program.
    pub files: Vec<PathBuf>,
    /// Further parts of it, from a build.
    pub units: Vec<BuildUnit>,
    pub archive: Vec<ArchiveMember>,
    /// Passed to clang.
    pub cflags: Vec<String>,
    /// Folders with Colt's own headers; what they hold is not the user's.
    pub include_dirs: Vec<PathBuf>,
    pub promote: Promote,
    /// Where to start. `None` is `main`, or `LLVMFuzzerTestOneInput` in a program without it.
    pub entry: Option<String>,
    /// The largest input of `LLVMFuzzerTestOneInput`, in bytes.
    pub fuzzer_size: u32,
    /// Functions of Colt's own library that the engine calls, besides those named `__colt_...`.
    pub runtime_roots: Vec<String>,
    /// Where a harness is written; a temporary folder if absent.
    pub work_dir: Option<PathBuf>,
    /// The whole C library in bitcode instead of Colt's own small one.
    pub libc: Option<Libc>,
    /// Checks that clang puts into C code, by its names for them. A failing one is an [`ir::Intrinsic::Fault`].
    pub sanitizers: Vec<String>,
    /// Those that a file gets besides when clang has computed a fault away.
    pub sanitizers_of_folded: Vec<String>,
    pub pointer_steps: PointerSteps,
    /// Pointers that the entry is given are inputs by their types.
    pub typed: Option<Typed>,
    /// What a parameter that points to characters is given.
    pub strings: StringParams,
}

/// What a parameter of an entry that points to characters is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StringParams {
    /// A few bytes.
    #[default]
    Buffers,
    /// A string, by `colt_string`.
    Strings,
}

impl Sources {
    pub fn new(files: Vec<PathBuf>) -> Sources {
        Sources {
            files,
            units: Vec::new(),
            archive: Vec::new(),
            cflags: Vec::new(),
            include_dirs: Vec::new(),
            promote: Promote::On,
            entry: None,
            fuzzer_size: 8,
            runtime_roots: Vec::new(),
            work_dir: None,
            libc: None,
            sanitizers: Vec::new(),
            sanitizers_of_folded: vec!["integer-divide-by-zero".to_string()],
            pointer_steps: PointerSteps::Untold,
            typed: None,
            strings: StringParams::Buffers,
        }
    }
}

/// A program ready to run.
#[derive(Debug)]
pub struct Program {
    pub module: Module,
    /// Always a `main`: the user's or the harness's.
    pub entry: FuncId,
    /// The function the user asked for.
    pub entry_name: String,
    /// To be called before the entry, in this order.
    pub constructors: Vec<FuncId>,
    /// To be called after it.
    pub destructors: Vec<FuncId>,
    /// Present when the entry is not `main`.
    pub harness: Option<Harness>,
    /// Which members of `Sources::archive` were taken.
    pub from_archive: Vec<usize>,
}

pub(crate) const FUZZER_ENTRY: &str = "LLVMFuzzerTestOneInput";

/// One file's module.
pub(crate) struct LoadedUnit {
    pub path: PathBuf,
    pub kind: FileKind,
    pub module: llvm::Module,
}

pub fn load(sources: &Sources) -> Result<Program, LoadError> {
    if sources.files.is_empty() && sources.units.is_empty() {
        return Err(LoadError::NoSources);
    }
    let context = Context::new();
    let mut units = parse_units(&context, sources, compile::read_units(sources)?)?;
    let entry_name = choose_entry(sources, &units)?;
    let harness = match entry_name.as_str() {
        "main" => None,
        entry => Some(harness::attach(&context, sources, entry, &mut units)?),
    };
    let module = link_units(&context, units)?;
    check_target(module)?;
    let from_archive = link_archive(&context, module, &sources.archive)?;
    let linked = link::link_runtime(&context, module, &sources.runtime_roots, sources.libc.as_ref())
        .map_err(|reason| LoadError::Link { reason })?;
    prepare::prepare(&context, linked.module, sources.promote)
        .map_err(|reason| LoadError::Untranslatable { reason })?;
    let debug = DebugInfo::new(&context, file_rules(sources, harness.as_ref()));
    let translated = translate::translate(&context, &linked, debug, told(sources))
        .map_err(|reason| LoadError::Untranslatable { reason })?;
    let translate::Translated { module, constructors, destructors } = translated;
    let is_main =
        |function: &ir::Function| function.name == "main" && !function.is_static && !function.is_declaration();
    let entry = module.functions.iter().position(is_main).map(FuncId::new);
    let entry = entry.ok_or_else(|| LoadError::NoEntry {
        files: sources.files.clone(),
        name: "main".to_string(),
        near: Vec::new(),
    })?;
    Ok(Program { module, entry, entry_name, constructors, destructors, harness, from_archive })
}

fn told(sources: &Sources) -> translate::Told {
    let uses = if sources.typed.is_some() { PointerUses::Told } else { PointerUses::Untold };
    translate::Told { steps: sources.pointer_steps, uses }
}

/// Takes members of the archive as long as something undefined is defined by one.
fn link_archive(context: &Context, module: llvm::Module, members: &[ArchiveMember]) -> Result<Vec<usize>, LoadError> {
    let mut taken = Vec::new();
    loop {
        let undefined: FxHashSet<String> = link::undefined_names(module).collect();
        let is_wanted =
            |idx: &usize| !taken.contains(idx) && members[*idx].defines.iter().any(|name| undefined.contains(name));
        let Some(idx) = (0..members.len()).find(is_wanted) else { return Ok(taken) };
        let BuildUnit { path, bitcode } = members[idx].unit.clone();
        let unit = parse_unit(context, &Unit { path, kind: FileKind::Llvm, bytes: bitcode })?;
        unit.module.adopt_target(module);
        context.link(module, unit.module).map_err(|reason| LoadError::Link { reason: clear_link_error(&reason) })?;
        taken.push(idx);
    }
}

fn parse_units(context: &Context, sources: &Sources, units: Vec<Unit>) -> Result<Vec<LoadedUnit>, LoadError> {
    units.iter().map(|unit| parse_with_faults(context, sources, unit)).collect()
}

/// Of a C file, with a check wherever clang has computed a fault away.
pub(crate) fn parse_with_faults(context: &Context, sources: &Sources, unit: &Unit) -> Result<LoadedUnit, LoadError> {
    let loaded = parse_unit(context, unit)?;
    if unit.kind != FileKind::C || !folded::has_folded_fault(loaded.module) {
        return Ok(loaded);
    }
    let sanitizers = [&sources.sanitizers[..], &sources.sanitizers_of_folded].concat();
    let bytes = compile::compile(&compile::find_clang()?, &unit.path, sources, &sanitizers)?;
    parse_unit(context, &Unit { path: unit.path.clone(), kind: unit.kind, bytes })
}

pub(crate) fn parse_unit(context: &Context, unit: &Unit) -> Result<LoadedUnit, LoadError> {
    let Unit { path, kind, bytes } = unit;
    let module = context.parse(&path.to_string_lossy(), bytes).map_err(|reason| malformed(path.clone(), reason))?;
    if *kind == FileKind::Llvm {
        module.verify().map_err(|reason| malformed(path.clone(), reason))?;
    }
    Ok(LoadedUnit { path: path.clone(), kind: *kind, module })
}

/// LLVM names both sides when it meets a record it does not know: `(Producer: 'LLVM21.1.0' Reader: 'LLVM 19.1.7')`.
fn malformed(path: PathBuf, reason: String) -> LoadError {
    let reason = reason.trim().replace('\n', " ");
    let producer = reason.split_once("Producer: '").and_then(|(_, rest)| rest.split_once('\'')).map(|(name, _)| name);
    let major = producer.and_then(|name| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.split('.').next()?.parse::<u32>().ok()
    });
    // The epoch is raised when older readers must refuse.
    let is_newer = major.is_some_and(|major| major > 19) || reason.contains("Incompatible epoch");
    if !is_newer {
        return LoadError::Malformed { path, reason };
    }
    let producer = producer.unwrap_or("an LLVM").to_string();
    LoadError::NewerBitcode { path, producer, reason }
}

/// The function to start from, known to have a body.
fn choose_entry(sources: &Sources, units: &[LoadedUnit]) -> Result<String, LoadError> {
    let has_body = |name: &str| {
        let functions = units.iter().filter_map(|unit| unit.module.function(name));
        functions.into_iter().any(|function| !function.is_declaration())
    };
    let wanted = match &sources.entry {
        Some(entry) => entry.as_str(),
        None if !has_body("main") && has_body(FUZZER_ENTRY) => FUZZER_ENTRY,
        None => "main",
    };
    if has_body(wanted) {
        return Ok(wanted.to_string());
    }
    Err(LoadError::NoEntry { files: sources.files.clone(), name: wanted.to_string(), near: near_names(wanted, units) })
}

/// Up to five functions with a body, the most similar names first.
fn near_names(wanted: &str, units: &[LoadedUnit]) -> Vec<String> {
    let functions = units.iter().flat_map(|unit| unit.module.functions());
    let mut names: Vec<String> =
        functions.filter(|function| !function.is_declaration()).map(|function| function.name()).collect();
    names.sort_by_cached_key(|name| (edit_distance(wanted, name), name.clone()));
    names.dedup();
    names.truncate(5);
    names
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn link_units(context: &Context, units: Vec<LoadedUnit>) -> Result<llvm::Module, LoadError> {
    let mut units = units.into_iter();
    let first = units.next().ok_or(LoadError::NoSources)?.module;
    for unit in units {
        let sizes = (first.layout().pointer_bytes(), unit.module.layout().pointer_bytes());
        if sizes.0 != sizes.1 {
            let reason = format!(
                "{} is made for {}-bit pointers and the files before it for {}-bit ones",
                unit.path.display(),
                sizes.1 * 8,
                sizes.0 * 8
            );
            return Err(LoadError::Link { reason });
        }
        unit.module.adopt_target(first);
        context.link(first, unit.module).map_err(|reason| LoadError::Link { reason: clear_link_error(&reason) })?;
    }
    Ok(first)
}

/// `Linking globals named 'f': symbol multiply defined!` in plainer words.
fn clear_link_error(reason: &str) -> String {
    match reason.split_once("named '").and_then(|(_, rest)| rest.split_once('\'')) {
        Some((name, rest)) if rest.contains("multiply defined") => {
            format!("`{name}` is defined in more than one of them")
        }
        _ => reason.to_string(),
    }
}

fn check_target(module: llvm::Module) -> Result<(), LoadError> {
    let layout = module.layout();
    if layout.is_little_endian() && matches!(layout.pointer_bytes(), 4 | 8) {
        return Ok(());
    }
    let reason = format!(
        "it is made for `{}`; Colt runs little-endian programs with pointers of 32 or 64 bits",
        module.triple()
    );
    Err(LoadError::Untranslatable { reason })
}

fn file_rules(sources: &Sources, harness: Option<&Harness>) -> FileRules {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut spelling: FxHashMap<String, String> =
        sources.files.iter().map(|path| (text(absolute(path)), text(path.clone()))).collect();
    if let Some(harness) = harness {
        // Its folder may be a temporary one, which must not show in the results.
        spelling.insert(text(absolute(&harness.path)), harness::FILE_NAME.to_string());
    }
    let foreign = sources.include_dirs.iter().map(|path| format!("{}/", text(absolute(path)))).collect();
    let cwd = std::env::current_dir().map(text).unwrap_or_default();
    FileRules { foreign, spelling, harness: harness.map(|harness| text(absolute(&harness.path))), cwd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_producer_is_named() {
        let reason = "Unknown attribute kind (102) (Producer: 'LLVM21.1.8' Reader: 'LLVM 19.1.7')".to_string();
        let error = malformed(PathBuf::from("x.bc"), reason);
        assert!(matches!(&error, LoadError::NewerBitcode { producer, .. } if producer == "LLVM21.1.8"), "{error}");
        let reason = "Invalid record (Producer: 'LLVM14.0.6' Reader: 'LLVM 19.1.7')".to_string();
        assert!(matches!(malformed(PathBuf::from("x.bc"), reason), LoadError::Malformed { .. }));
    }

    #[test]
    fn similar_names_are_near() {
        assert_eq!(edit_distance("main", "main"), 0);
        assert_eq!(edit_distance("mian", "main"), 2);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
