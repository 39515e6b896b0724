//! Builds the native program: the user's sources, the harness for the entry and the runtime.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::{Visibility, harness};
use crate::plan::{BuildPlan, BuildUnit, Entry};
use crate::session::BuildError;
use crate::steps::with_steps;
use crate::unwritten::{OwnStores, with_hooks, with_uses};
use crate::{headers, kept, tools};

/// Which faults the program looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flavor {
    /// AddressSanitizer and UBSan.
    Address,
    /// The same, and whether indices stay within the declared arrays: what lies just beside one may be nobody's, where an
    /// address tells nothing. A program may do so within an object, so this is only for a fault that is claimed.
    Index,
    /// As `Address`, with the test's values in local variables that nobody wrote.
    Unwritten,
    /// The same, and whether pointer arithmetic stays in its object.
    Steps,
    /// MemorySanitizer: uses of memory nobody wrote, which no other sanitizer sees. Without coverage.
    Memory,
    /// The same, and whether what is passed to a function was written: all that tells of output and sizes.
    MemoryOfArguments,
    /// No sanitizer exists for the target: signals have to tell.
    Plain,
}

#[derive(Debug)]
pub struct Program {
    pub path: PathBuf,
    pub flavor: Flavor,
    pub clang: PathBuf,
    /// There are sources that llvm-cov can say something about.
    pub has_coverage: bool,
}

const RUNTIME: &[(&str, &str)] = &[
    ("runtime.c", include_str!("native/runtime.c")),
    ("exchange.h", include_str!("native/exchange.h")),
    ("record.c", include_str!("native/record.c")),
    ("inputs.c", include_str!("native/inputs.c")),
    ("own.h", include_str!("native/own.h")),
    ("identity.c", include_str!("native/identity.c")),
    ("leaks.c", include_str!("native/leaks.c")),
    ("library.c", include_str!("native/library.c")),
    ("unwritten.c", include_str!("native/unwritten.c")),
    ("steps.c", include_str!("native/steps.c")),
    ("folder.c", include_str!("native/folder.c")),
    ("wild_call.c", include_str!("native/wild_call.c")),
    ("world.c", include_str!("native/world.c")),
    ("alone.c", include_str!("native/alone.c")),
    ("failing.c", include_str!("native/failing.c")),
    ("stuck.c", include_str!("native/stuck.c")),
    ("server.c", include_str!("native/server.c")),
    ("entry.c", include_str!("native/entry.c")),
];

/// Builds in `dir`, which is this build's own.
pub fn build(plan: &BuildPlan, flavor: Flavor, dir: &Path) -> Result<Program, BuildError> {
    let compiler = Compiler {
        clang: tools::clang().ok_or(BuildError::NoClang)?,
        plan,
        flavor,
        dir,
        include_dir: dir.join("include"),
    };
    compiler.write_own_files().map_err(|source| BuildError::Unwritable { path: dir.to_path_buf(), source })?;
    let mut units = compiler.units()?;
    let runtime = compiler.runtime_unit();
    let runtime_object = runtime.object.clone();
    let cache = plan.cache.as_deref();
    let kept = cache.and_then(|cache| kept::place(cache, &compiler.clang, &runtime.command, RUNTIME));
    let is_kept = kept.as_ref().is_some_and(|kept| kept::fetch(kept, &runtime_object));
    if !is_kept {
        units.push(runtime);
    }
    let mut objects = compiler.compile_all(&mut units)?;
    match kept {
        _ if is_kept => objects.push(runtime_object),
        Some(kept) => kept::keep(&runtime_object, &kept),
        None => {}
    }
    let path = compiler.link(&objects)?;
    let has_source = !plan.units.is_empty() || plan.sources.iter().any(|source| !is_bitcode(source));
    let has_coverage = compiler.has_counters() && has_source;
    Ok(Program { path, flavor, clang: compiler.clang, has_coverage })
}

/// As where the program was explored: of arrays at a structure's end only those of no, of one or of no stated length may be
/// longer than they say, unless the user's flags say otherwise.
const TRAILING_ARRAYS: &str = "-fstrict-flex-arrays=1";

struct Compiler<'a> {
    clang: PathBuf,
    plan: &'a BuildPlan,
    flavor: Flavor,
    dir: &'a Path,
    include_dir: PathBuf,
}

/// One compiler call.
struct Unit {
    object: PathBuf,
    command: Command,
    /// The command makes this text, which gets its hooks and is then compiled by another.
    hooked: Option<(PathBuf, Command)>,
}

impl Compiler<'_> {
    fn write_own_files(&self) -> std::io::Result<()> {
        let runtime_dir = self.dir.join("runtime");
        std::fs::create_dir_all(&runtime_dir)?;
        headers::write_headers(&self.include_dir)?;
        for (name, text) in RUNTIME {
            std::fs::write(runtime_dir.join(name), text)?;
        }
        Ok(())
    }

    /// The user's sources in order, one of them inside the harness when the entry is a function.
    fn units(&self) -> Result<Vec<Unit>, BuildError> {
        let mut units = Vec::new();
        let harnessed = match &self.plan.entry {
            Entry::Function { name, params, file } if is_bitcode(file) || !self.is_source(file) => {
                let path = self.write_harness(&harness(name, params, Visibility::Linked))?;
                units.push(self.source_unit(&path, units.len()));
                None
            }
            Entry::Function { name, params, file } => {
                let included = std::path::absolute(self.resolve(file)).unwrap_or_else(|_| self.resolve(file));
                let path = self.write_harness(&harness(name, params, Visibility::Included(&included)))?;
                units.push(self.source_unit(&path, units.len()));
                Some(self.identity(file))
            }
            Entry::Harness { text, file, .. } => {
                let path = self.write_harness(text)?;
                let mut unit = self.source_unit(&path, units.len());
                unit.command.arg("-DCOLT_REPLAY");
                units.push(unit);
                Some(self.identity(file))
            }
            Entry::Main | Entry::LibFuzzer => None,
        };
        for source in &self.plan.sources {
            if harnessed.as_ref() == Some(&self.identity(source)) {
                continue;
            }
            let mut unit = if is_bitcode(source) {
                self.bitcode_unit(source, units.len())
            } else {
                self.source_unit(source, units.len())
            };
            if let Entry::Harness { defines, .. } = &self.plan.entry {
                unit.command.args(defines);
            }
            units.push(unit);
        }
        for unit in &self.plan.units {
            units.push(self.build_unit(unit, units.len()));
        }
        Ok(units)
    }

    /// A file given by itself, which a harness can include; those of a build need their own flags.
    fn is_source(&self, file: &Path) -> bool {
        self.plan.sources.iter().any(|source| self.identity(source) == self.identity(file))
    }

    fn build_unit(&self, unit: &BuildUnit, idx: usize) -> Unit {
        let object = self.object_path(idx);
        let mut command = self.clang();
        command.current_dir(&unit.dir).args(&unit.args);
        command.arg("-c").arg(&unit.source).arg("-o").arg(&object);
        self.add_own_flags(&mut command);
        self.hooked(command, object, idx)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.plan.base_dir.join(path)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        let path = self.resolve(path);
        std::fs::canonicalize(&path).unwrap_or(path)
    }

    fn write_harness(&self, text: &str) -> Result<PathBuf, BuildError> {
        let path = self.dir.join(crate::names::HARNESS);
        let path = std::path::absolute(&path).unwrap_or(path);
        std::fs::write(&path, text).map_err(|source| BuildError::Unwritable { path: path.clone(), source })?;
        Ok(path)
    }

    fn clang(&self) -> Command {
        let mut command = Command::new(&self.clang);
        if !self.plan.base_dir.as_os_str().is_empty() {
            command.current_dir(&self.plan.base_dir);
        }
        command.args(["-g", "-Qunused-arguments", "-w"]);
        command
    }

    fn object_path(&self, idx: usize) -> PathBuf {
        let path = self.dir.join(format!("unit{idx}.o"));
        std::path::absolute(&path).unwrap_or(path)
    }

    fn source_unit(&self, source: &Path, idx: usize) -> Unit {
        let object = self.object_path(idx);
        let mut command = self.clang();
        command.arg("-c").arg(source).arg("-o").arg(&object).arg(TRAILING_ARRAYS).args(&self.plan.cflags);
        command.arg("-I").arg(std::path::absolute(&self.include_dir).unwrap_or_else(|_| self.include_dir.clone()));
        self.add_own_flags(&mut command);
        self.hooked(command, object, idx)
    }

    /// One unit in two steps where local variables get the values of the test.
    fn hooked(&self, mut command: Command, object: PathBuf, idx: usize) -> Unit {
        if !self.is_hooked() {
            return Unit { object, command, hooked: None };
        }
        let text = self.dir.join(format!("unit{idx}.ll"));
        let text = std::path::absolute(&text).unwrap_or(text);
        // The last output wins, and so does the last form of it.
        command
            .args(["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-o"])
            .arg(&text);
        let mut second = self.clang();
        second.arg("-c").arg(&text).arg("-o").arg(&object).args(self.machine_flags());
        second.args(["-O0", "-fPIE", "-Wno-override-module"]).args(self.sanitizer_flags());
        if self.has_counters() {
            second.args(["-fprofile-instr-generate", "-mllvm", "-runtime-counter-relocation"]);
        }
        Unit { object, command, hooked: Some((text, second)) }
    }

    /// Last, so that they win: the engine runs unoptimised code too.
    fn add_own_flags(&self, command: &mut Command) {
        command.args(["-O0", "-fPIE", "-fno-omit-frame-pointer", "-U_FORTIFY_SOURCE"]);
        command.args(["-Wno-implicit-function-declaration", "-Wno-implicit-int", "-Wno-int-conversion"]);
        command.arg("-Wno-incompatible-function-pointer-types").args(self.sanitizer_flags());
        // What nobody wrote may be anything for the engine, so that here it is nothing that looks right by chance.
        let is_zero = self.plan.checks.uninit_zero || self.is_hooked();
        command.arg(if is_zero { "-ftrivial-auto-var-init=zero" } else { "-ftrivial-auto-var-init=pattern" });
        if self.has_counters() {
            // The counters live in a shared mapping, so that those of a child that crashes are kept.
            command.args(["-fprofile-instr-generate", "-fcoverage-mapping"]);
            command.args(["-mllvm", "-runtime-counter-relocation"]);
        }
    }

    fn bitcode_unit(&self, source: &Path, idx: usize) -> Unit {
        let object = self.object_path(idx);
        let marked = self.mark_for_sanitizer(source, idx);
        let mut command = self.clang();
        command.arg("-c").arg(marked.as_deref().unwrap_or(source)).arg("-o").arg(&object);
        command.args(self.machine_flags()).args(["-O0", "-fPIE", "-Wno-override-module"]);
        match self.flavor {
            Flavor::Address | Flavor::Index | Flavor::Unwritten | Flavor::Steps => command.arg("-fsanitize=address"),
            Flavor::Memory | Flavor::MemoryOfArguments => command.args(self.sanitizer_flags()),
            Flavor::Plain => &mut command,
        };
        Unit { object, command, hooked: None }
    }

    /// Bitcode made without a sanitizer lacks the attribute that asks for its checks. Without `opt` it stays as it is.
    fn mark_for_sanitizer(&self, source: &Path, idx: usize) -> Option<PathBuf> {
        let attribute = match self.flavor {
            Flavor::Address | Flavor::Index | Flavor::Unwritten | Flavor::Steps => "sanitize_address",
            Flavor::Memory | Flavor::MemoryOfArguments => "sanitize_memory",
            Flavor::Plain => return None,
        };
        let marked = std::path::absolute(self.dir.join(format!("unit{idx}.bc"))).ok()?;
        let status = Command::new(tools::llvm_tool(&self.clang, "opt")?)
            .arg(self.resolve(source))
            .args(["-passes=forceattrs", &format!("-force-attribute={attribute}"), "-o"])
            .arg(&marked)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .ok()?;
        status.success().then_some(marked)
    }

    fn runtime_unit(&self) -> Unit {
        let object = std::path::absolute(self.dir.join("runtime.o")).unwrap_or_else(|_| self.dir.join("runtime.o"));
        let source = self.dir.join("runtime").join("runtime.c");
        let mut command = self.clang();
        command.arg("-c").arg(std::path::absolute(&source).unwrap_or(source)).arg("-o").arg(&object);
        // Without debug information, so that its frames are never taken for the user's.
        command.args(["-g0", "-O1", "-fPIE", "-std=gnu11", "-fno-omit-frame-pointer"]).args(self.machine_flags());
        match self.flavor {
            Flavor::Address | Flavor::Index | Flavor::Unwritten | Flavor::Steps => {
                command.args(["-DCOLT_SANITIZER", "-DCOLT_ADDRESS_SANITIZER"])
            }
            Flavor::Memory | Flavor::MemoryOfArguments => command.arg("-DCOLT_SANITIZER").args(self.sanitizer_flags()),
            Flavor::Plain => &mut command,
        };
        let checks = &self.plan.checks;
        let leaks = u8::from(checks.leak || checks.leak_all);
        command.arg(format!("-DCOLT_DETECT_LEAKS=\"{leaks}\"")).arg(format!("-DCOLT_LEAKS={leaks}"));
        command.arg(format!("-DCOLT_LEAK_ALL={}", u8::from(checks.leak_all)));
        let at_exit = if checks.leak_all { ":leak_check_at_exit=0" } else { "" };
        // The C library keeps no frame pointers, and a block it allocates for the program is the caller's.
        let stacks = if leaks == 1 { ":fast_unwind_on_malloc=0" } else { "" };
        command.arg(format!("-DCOLT_LEAK_OPTIONS=\"{at_exit}{stacks}\""));
        command.arg(format!("-DCOLT_ABORT_IS_END={}", u8::from(checks.abort_is_end)));
        if checks.uninit_zero {
            command.arg("-DCOLT_UNINIT_ZERO");
        }
        match self.plan.entry {
            Entry::Main | Entry::Harness { .. } => command.arg("-DCOLT_ENTRY_MAIN"),
            Entry::LibFuzzer => command.arg("-DCOLT_ENTRY_FUZZER"),
            Entry::Function { .. } => &mut command,
        };
        Unit { object, command, hooked: None }
    }

    /// Whether local variables get the values of the test.
    fn is_hooked(&self) -> bool {
        matches!(self.flavor, Flavor::Unwritten | Flavor::Steps | Flavor::Memory | Flavor::MemoryOfArguments)
    }

    fn has_counters(&self) -> bool {
        !matches!(self.flavor, Flavor::Memory | Flavor::MemoryOfArguments)
    }

    /// Flags that change the machine and so must be the same everywhere.
    fn machine_flags(&self) -> impl Iterator<Item = &String> {
        let of_cflags = self.plan.cflags.iter().filter(|flag| flag.starts_with("-m") || flag.starts_with("--target="));
        let of_build = self.plan.units.first().map_or(&[][..], |unit| &unit.args[..]).iter();
        of_cflags
            .chain(of_build.filter(|flag| matches!(flag.as_str(), "-m32" | "-m64") || flag.starts_with("--target=")))
    }

    fn sanitizer_flags(&self) -> Vec<String> {
        match self.flavor {
            Flavor::Plain => Vec::new(),
            // It goes on after a use, because the one in question may come later.
            Flavor::Memory => ["-fsanitize=memory", "-fsanitize-recover=memory", "-fno-sanitize-memory-param-retval"]
                .map(str::to_string)
                .to_vec(),
            Flavor::MemoryOfArguments => {
                ["-fsanitize=memory", "-fsanitize-recover=memory"].map(str::to_string).to_vec()
            }
            Flavor::Address | Flavor::Index | Flavor::Unwritten | Flavor::Steps => {
                let mut flags = vec!["-fsanitize=address,integer-divide-by-zero,unreachable"];
                if self.flavor == Flavor::Index {
                    flags.push("-fsanitize=array-bounds");
                }
                if self.plan.checks.overflow {
                    flags.push("-fsanitize=signed-integer-overflow");
                }
                if self.plan.checks.shift {
                    flags.push("-fsanitize=shift");
                }
                let mut flags: Vec<String> = flags.into_iter().map(str::to_string).collect();
                flags.extend(self.plan.checks.sanitizers.iter().map(|name| format!("-fsanitize={name}")));
                flags.push("-fno-sanitize-recover=all".to_string());
                flags
            }
        }
    }

    fn compile_all(&self, units: &mut [Unit]) -> Result<Vec<PathBuf>, BuildError> {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        for group in units.chunks_mut(at_once) {
            let mut running = Vec::new();
            for unit in &mut *group {
                unit.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
                running.push(unit.command.spawn());
            }
            for child in running {
                let output =
                    child.and_then(|child| child.wait_with_output()).map_err(|source| self.cannot_start(source))?;
                if !output.status.success() {
                    return Err(BuildError::Rejected { message: String::from_utf8_lossy(&output.stderr).into_owned() });
                }
            }
            for unit in group {
                self.finish_hooked(unit)?;
            }
        }
        Ok(units.iter().map(|unit| unit.object.clone()).collect())
    }

    fn finish_hooked(&self, unit: &mut Unit) -> Result<(), BuildError> {
        let Some((path, command)) = &mut unit.hooked else { return Ok(()) };
        let unwritable = |source| BuildError::Unwritable { path: path.clone(), source };
        // Names in it may be in any encoding.
        let text = std::fs::read(&*path).map_err(unwritable)?;
        let own_stores = match self.flavor {
            Flavor::Unwritten | Flavor::Steps => OwnStores::Stay,
            _ => OwnStores::Go,
        };
        if let Ok(text) = String::from_utf8(text) {
            let mut text = with_hooks(&text, own_stores);
            match self.flavor {
                Flavor::Steps => text = with_steps(&text),
                Flavor::MemoryOfArguments => text = with_uses(&text),
                _ => {}
            }
            std::fs::write(&*path, text).map_err(unwritable)?;
        }
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
        let output = output.map_err(|source| self.cannot_start(source))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(BuildError::Rejected { message: String::from_utf8_lossy(&output.stderr).into_owned() }),
        }
    }

    fn link(&self, objects: &[PathBuf]) -> Result<PathBuf, BuildError> {
        let path = self.dir.join("program");
        let path = std::path::absolute(&path).unwrap_or(path);
        let mut command = self.clang();
        command.args(objects).arg("-o").arg(&path).args(&self.plan.cflags).args(self.machine_flags());
        command.args(["-fPIE", "-pie"]);
        command.args(self.sanitizer_flags()).args(["-Wl,--wrap=main", "-Wl,--wrap=time"]);
        command.args(["-Wl,--wrap=clock_gettime", "-Wl,--wrap=gettimeofday"]);
        command.args(["-Wl,--wrap=malloc", "-Wl,--wrap=calloc", "-Wl,--wrap=realloc"]);
        let looks_for_leaks = self.plan.checks.leak || self.plan.checks.leak_all;
        if looks_for_leaks && matches!(self.flavor, Flavor::Address | Flavor::Index | Flavor::Unwritten | Flavor::Steps)
        {
            command.args(["-Wl,--wrap=abort", "-Wl,--wrap=_exit", "-Wl,--wrap=_Exit"]);
        }
        if self.has_counters() {
            command.arg("-fprofile-instr-generate");
        }
        // A function nobody defines must not keep the paths that do not call it from being replayed.
        // Binding at once, because the loader refuses the lazy form of a missing function. The entry itself must be there.
        if matches!(self.plan.entry, Entry::Main | Entry::Harness { .. }) {
            command.arg("-Wl,--require-defined=main");
        }
        command.args(&self.plan.libraries);
        command.args(["-lm", "-lpthread", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,now"]).stdin(Stdio::null());
        let output = command.output().map_err(|source| self.cannot_start(source))?;
        if output.status.success() {
            return Ok(path);
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let lacks_runtime = message.contains("unsupported option '-fsanitize")
            || message.lines().any(|line| {
                line.contains("libclang_rt.") && (line.contains("cannot find") || line.contains("No such file"))
            });
        if lacks_runtime { Err(BuildError::NoSanitizer { message }) } else { Err(BuildError::Rejected { message }) }
    }

    fn cannot_start(&self, source: std::io::Error) -> BuildError {
        BuildError::CannotStart { path: self.clang.clone(), source }
    }
}

pub fn is_bitcode(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "bc" || extension == "ll")
}
