//! Runs clang: C source in, bitcode out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use crate::{BuildUnit, LoadError, Sources};

/// The bitcode or IR text of one file.
pub(crate) struct Unit {
    pub path: PathBuf,
    pub kind: FileKind,
    pub bytes: Vec<u8>,
}

/// How a file is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    C,
    Llvm,
}

pub(crate) fn file_kind(path: &Path) -> Option<FileKind> {
    match path.extension()?.to_str()? {
        "c" | "i" => Some(FileKind::C),
        "bc" | "ll" => Some(FileKind::Llvm),
        _ => None,
    }
}

/// The clang to use: `COLT_CLANG`, `clang-19` or `clang`, whichever is there first.
pub fn find_clang() -> Result<String, LoadError> {
    let named = std::env::var("COLT_CLANG").ok().filter(|name| !name.is_empty());
    let tried: Vec<String> = named.into_iter().chain(["clang-19".to_string(), "clang".to_string()]).collect();
    tried.iter().find(|clang| is_program(clang)).cloned().ok_or(LoadError::NoClang { tried: tried.clone() })
}

/// Looks where the system would; starting the program to find out takes longer than compiling a small file.
fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

/// Reads or compiles every file, as many at a time as there are cores; the first file with a fault decides the error.
pub(crate) fn read_units(sources: &Sources) -> Result<Vec<Unit>, LoadError> {
    for path in &sources.files {
        check_file(path)?;
    }
    let has_c = sources.files.iter().any(|path| file_kind(path) == Some(FileKind::C));
    let clang = if has_c { find_clang()? } else { String::new() };
    let n_workers = thread::available_parallelism().map_or(1, usize::from).min(sources.files.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let idx = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = sources.files.get(idx) else { return done };
            done.push((idx, read_unit(&clang, path, sources)));
        }
    };
    let mut units: Vec<(usize, Result<Unit, LoadError>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a compile worker does not panic")).collect()
    });
    units.sort_by_key(|(idx, _)| *idx);
    // Bitcode for a harness as well: it cannot include what is compiled with flags of its own.
    let built = |unit: &BuildUnit| Unit { path: unit.path.clone(), kind: FileKind::Llvm, bytes: unit.bitcode.clone() };
    units.into_iter().map(|(_, unit)| unit).chain(sources.units.iter().map(|unit| Ok(built(unit)))).collect()
}

fn check_file(path: &Path) -> Result<(), LoadError> {
    let path_buf = || path.to_path_buf();
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => LoadError::Missing { path: path_buf() },
        _ => LoadError::Unreadable { path: path_buf(), reason: error.to_string() },
    })?;
    if metadata.is_dir() {
        return Err(LoadError::Directory { path: path_buf() });
    }
    if file_kind(path).is_none() {
        return Err(LoadError::UnknownKind { path: path_buf() });
    }
    let content =
        fs::read(path).map_err(|error| LoadError::Unreadable { path: path_buf(), reason: error.to_string() })?;
    if content.iter().all(u8::is_ascii_whitespace) {
        return Err(LoadError::Empty { path: path_buf() });
    }
    Ok(())
}

fn read_unit(clang: &str, path: &Path, sources: &Sources) -> Result<Unit, LoadError> {
    let kind = file_kind(path).unwrap_or(FileKind::Llvm);
    let bytes = match kind {
        FileKind::C => compile(clang, path, sources, &sources.sanitizers)?,
        FileKind::Llvm => fs::read(path)
            .map_err(|error| LoadError::Unreadable { path: path.to_path_buf(), reason: error.to_string() })?,
    };
    Ok(Unit { path: path.to_path_buf(), kind, bytes })
}

/// What the engine needs of clang, whatever the user's own flags say; to come after them.
const OWN_FLAGS: &[&str] = &[
    "-g",
    "-O0",
    "-Xclang",
    "-disable-O0-optnone",
    // Marks where variables begin and end to live, as for AddressSanitizer.
    "-Xclang",
    "-fsanitize-address-use-after-scope",
    "-fno-discard-value-names",
    "-fno-stack-protector",
    "-fno-sanitize=all",
    "-fno-lto",
    "-U_FORTIFY_SOURCE",
    "-Qunused-arguments",
    "-fno-color-diagnostics",
    "-emit-llvm",
    "-c",
    "-o",
    "-",
];

/// For checks of indices: of arrays at a structure's end only those of no, of one or of no stated length may be longer than
/// they say. Comes before the user's flags, which may say otherwise.
const TRAILING_ARRAYS: &str = "-fstrict-flex-arrays=1";

/// Bitcode, and the flags it was made with.
pub struct Compiled {
    pub bitcode: Vec<u8>,
    pub args: Vec<String>,
}

/// Unoptimised code calls the inline functions of C99 instead of holding them, and who defines them for everybody may
/// not be linked, because the build was optimised and needed nobody. So they are put in place here, too.
const INLINE: &str = "-Dinline=__inline__ __attribute__((__always_inline__))";

/// Compiles one file of a build in its folder and with its own flags. Flags that clang does not know, because another
/// compiler was meant, are left out.
pub fn compile_unit(dir: &Path, args: &[String], source: &Path) -> Result<Compiled, LoadError> {
    let mut with_inline = args.to_vec();
    with_inline.push(INLINE.to_string());
    // It may be a word of the program's own; then the second attempt tells what is wrong, if anything is.
    compile_with(dir, with_inline, source).or_else(|_| compile_with(dir, args.to_vec(), source))
}

fn compile_with(dir: &Path, mut args: Vec<String>, source: &Path) -> Result<Compiled, LoadError> {
    let clang = find_clang()?;
    loop {
        let output = Command::new(&clang)
            .current_dir(dir)
            .arg("-w")
            .args(&args)
            .args(OWN_FLAGS)
            .arg(source)
            .stdin(Stdio::null())
            .output();
        let diagnostics = match output {
            Ok(output) if output.status.success() => return Ok(Compiled { bitcode: output.stdout, args }),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => format!("{clang}: {error}"),
        };
        let n_args = args.len();
        args.retain(|arg| !is_refused(arg, &diagnostics));
        if args.len() == n_args {
            return Err(LoadError::Compile { path: dir.join(source), diagnostics });
        }
    }
}

/// `error: unknown argument: '-fx'`, `error: unsupported option '-fx' for target ...`.
fn is_refused(arg: &str, diagnostics: &str) -> bool {
    let named = format!("'{arg}'");
    let names = |line: &str| line.contains("unknown argument") || line.contains("unsupported option");
    diagnostics.lines().any(|line| names(line) && line.contains(&named))
}

/// Compiles one C file. Our flags come last: they must hold whatever the user's say.
pub(crate) fn compile(
    clang: &str,
    path: &Path,
    sources: &Sources,
    sanitizers: &[String],
) -> Result<Vec<u8>, LoadError> {
    let mut command = Command::new(clang);
    command.arg(TRAILING_ARRAYS).args(&sources.cflags);
    for folder in &sources.include_dirs {
        command.arg("-I").arg(folder);
    }
    command.args(OWN_FLAGS);
    if !sanitizers.is_empty() {
        command.arg(format!("-fsanitize={}", sanitizers.join(","))).arg("-fsanitize-trap=all");
    }
    let output = command.arg(path).stdin(Stdio::null()).output();
    let diagnostics = match output {
        Ok(output) if output.status.success() => return Ok(output.stdout),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => format!("{clang}: {error}"),
    };
    Err(LoadError::Compile { path: path.to_path_buf(), diagnostics })
}
