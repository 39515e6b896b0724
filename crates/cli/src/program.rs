//! What the files of a command line stand for: sources as they are, and programs, libraries and objects made by `colt cc`
//! or described by `compile_commands.json` as the files they were compiled from.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use frontend::{Compiled, compile_unit};
use replay::BuildUnit;

use crate::cc::elf::{self, Elf, Member};
use crate::cc::record::{Record, SECTION};
use crate::compile_db;
use crate::outcome::Failure;

/// The parts of a program.
#[derive(Debug, Default)]
pub struct Parts {
    /// C, `.bc` and `.ll` files.
    pub files: Vec<PathBuf>,
    /// Files of a build, those without bitcode (assembler) too: the native program needs them.
    pub units: Vec<BuildUnit>,
    pub bitcode: Vec<frontend::BuildUnit>,
    /// Members of archives that the build was linked with, taken if need be, and how to build each.
    pub archive: Vec<frontend::ArchiveMember>,
    pub archive_units: Vec<BuildUnit>,
    /// Shared libraries the built program is linked with, by their full paths.
    pub libraries: Vec<PathBuf>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Parts {
    pub fn read(files: &[PathBuf]) -> Result<Parts, Failure> {
        let mut parts = Parts::default();
        let mut database = Vec::new();
        for file in files {
            let failed = |why: String| Failure::program(format!("{}: {why}", file.display()));
            if file.extension().is_some_and(|extension| extension == "json") {
                database.extend(compile_db::read(file).map_err(failed)?);
                continue;
            }
            match binary(file) {
                Some((path, bytes)) => parts.add_binary(&path, &bytes).map_err(failed)?,
                None => parts.files.push(file.clone()),
            }
        }
        let chosen = parts.choose(database);
        parts.compile(chosen)?;
        Ok(parts)
    }

    fn add_binary(&mut self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        let records = records(path, bytes)?;
        if records.is_empty() {
            return Err("holds no bitcode; build it with CC=\"colt cc\"".to_string());
        }
        for Record { dir, source, args, without, archives, bitcode } in records {
            if !archives.is_empty() {
                archives.iter().for_each(|archive| self.add_archive(archive));
                continue;
            }
            let unit = BuildUnit { dir, source, args };
            if bitcode.is_empty() {
                let first = without.lines().find(|line| line.contains("error:")).or(without.lines().next());
                self.notes.push(format!("{} has no bitcode: {}", unit.path().display(), first.unwrap_or_default()));
            } else {
                self.bitcode.push(frontend::BuildUnit { path: unit.path(), bitcode });
            }
            self.units.push(unit);
        }
        if let Some(elf) = Elf::read(bytes) {
            let found = libraries(path, &elf.needed());
            self.libraries.extend(found);
        }
        Ok(())
    }

    /// An archive that is gone, or whose members have no bitcode, has nothing to give.
    fn add_archive(&mut self, path: &Path) {
        let Ok(bytes) = fs::read(path) else { return };
        for member in elf::members(&bytes, path) {
            let content = match member {
                Member::Within(content) => content.to_vec(),
                Member::File(path) => fs::read(path).unwrap_or_default(),
            };
            let Some(defines) = Elf::read(&content).map(|elf| elf.defined()) else { continue };
            // An object of one file, as compilers make them.
            let records = elf_records(&content).unwrap_or_default();
            let [Record { dir, source, args, bitcode, .. }] = records.as_slice() else { continue };
            let unit = BuildUnit { dir: dir.clone(), source: source.clone(), args: args.clone() };
            if !bitcode.is_empty() && !self.archive_units.contains(&unit) {
                let bitcode = frontend::BuildUnit { path: unit.path(), bitcode: bitcode.clone() };
                self.archive.push(frontend::ArchiveMember { unit: bitcode, defines });
                self.archive_units.push(unit);
            }
        }
    }

    /// Sources named beside a database are compiled as it says, and no others of it are; without any, all are.
    fn choose(&mut self, units: Vec<BuildUnit>) -> Vec<BuildUnit> {
        let named: HashSet<PathBuf> = self.files.iter().map(|file| canonical(file)).collect();
        let is_named = |unit: &BuildUnit| named.contains(&canonical(&unit.path()));
        if !units.iter().any(is_named) {
            return units;
        }
        let chosen: Vec<BuildUnit> = units.into_iter().filter(is_named).collect();
        let listed: HashSet<PathBuf> = chosen.iter().map(|unit| canonical(&unit.path())).collect();
        self.files.retain(|file| !listed.contains(&canonical(file)));
        chosen
    }

    /// As many at a time as there are cores.
    fn compile(&mut self, units: Vec<BuildUnit>) -> Result<(), Failure> {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        for group in units.chunks(at_once) {
            let compile = |unit: &BuildUnit| compile_unit(&unit.dir, &unit.args, &unit.source);
            let compiled: Vec<_> = std::thread::scope(|scope| {
                let running: Vec<_> = group.iter().map(|unit| scope.spawn(move || compile(unit))).collect();
                running.into_iter().map(|thread| thread.join().expect("compiling does not panic")).collect()
            });
            for (unit, compiled) in group.iter().zip(compiled) {
                let Compiled { bitcode, args } = compiled.map_err(|error| Failure::program(error.to_string()))?;
                self.bitcode.push(frontend::BuildUnit { path: unit.path(), bitcode });
                self.units.push(BuildUnit { args, ..unit.clone() });
            }
        }
        Ok(())
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The file's content if it is an ELF file or an archive. A script that libtool left in the place of a program stands
/// for the program itself.
fn binary(path: &Path) -> Option<(PathBuf, Vec<u8>)> {
    let is_binary = |bytes: &[u8]| elf::is_elf(bytes) || elf::is_archive(bytes);
    if path.extension().is_some_and(|extension| matches!(extension.to_str(), Some("c" | "i" | "bc" | "ll"))) {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    if is_binary(&bytes) {
        return Some((path.to_path_buf(), bytes));
    }
    let hidden = path.parent()?.join(".libs").join(path.file_name()?);
    let bytes = bytes.starts_with(b"#!").then(|| fs::read(&hidden).ok()).flatten()?;
    is_binary(&bytes).then_some((hidden, bytes))
}

fn records(path: &Path, bytes: &[u8]) -> Result<Vec<Record>, String> {
    if elf::is_archive(bytes) {
        let mut all = Vec::new();
        for member in elf::members(bytes, path) {
            match member {
                Member::Within(bytes) => all.extend(elf_records(bytes)?),
                Member::File(path) => {
                    let bytes = fs::read(&path).map_err(|error| format!("its member {}: {error}", path.display()))?;
                    all.extend(elf_records(&bytes)?);
                }
            }
        }
        return Ok(all);
    }
    elf_records(bytes)
}

fn elf_records(bytes: &[u8]) -> Result<Vec<Record>, String> {
    let Some(elf) = Elf::read(bytes) else { return Ok(Vec::new()) };
    let sections: Option<Vec<Vec<Record>>> = elf.sections(SECTION).map(Record::read_all).collect();
    sections.map(|records| records.concat()).ok_or_else(|| format!("its section {SECTION} is damaged"))
}

/// Libraries that every native build is linked with anyway.
const ALWAYS: &[&str] = &["libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux", "libgcc_s.so"];

/// Where the loader finds the libraries of a program. A library that it does not find is left out: what it defines is
/// then missing natively as it is in the engine.
fn libraries(program: &Path, needed: &[String]) -> Vec<PathBuf> {
    let wanted: Vec<&String> =
        needed.iter().filter(|name| !ALWAYS.iter().any(|always| name.starts_with(always))).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let folders = Command::new("ldconfig").arg("-p").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let cache = folders.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let beside = program.parent().unwrap_or(Path::new("."));
    let find = |name: &&String| -> Option<PathBuf> {
        let local = [beside.join(name), beside.join(".libs").join(name)].into_iter().find(|path| path.is_file());
        let cached = || {
            let line = cache.lines().find(|line| line.trim_start().split(' ').next() == Some(name.as_str()))?;
            line.split_once(" => ").map(|(_, path)| PathBuf::from(path))
        };
        let path = local.or_else(cached)?;
        Some(std::path::absolute(&path).unwrap_or(path))
    };
    wanted.iter().filter_map(find).collect()
}
