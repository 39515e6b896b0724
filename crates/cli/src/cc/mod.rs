//! `colt cc`: a compiler that compiles as usual and keeps the bitcode of every C file in a section of its object.
//!
//! The real compiler does exactly what it is told, with the words it was given; beside it clang makes the bitcode, and
//! afterwards a section is added to the object. Whatever goes wrong on our side leaves the object as the compiler wrote
//! it, so that no build fails that would have passed. Commands without C sources are handed over to the real compiler
//! and cost nothing more than starting it.

mod command;
pub mod elf;
pub mod record;

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

pub use command::{CompileCommand, Language};
use command::{Goal, Input, expand_response_files};
use elf::Elf;
use record::{Record, SECTION};

/// The compiler that does the real work: a program and words that go before all others.
const REAL: &str = "COLT_CC_REAL";
/// Set to anything: keep nothing, compile only.
const OFF: &str = "COLT_CC_OFF";

/// The command line behind `colt cc`, or that of the program under the name `colt-cc`.
pub fn called(command_line: &[OsString]) -> Option<&[OsString]> {
    let (program, words) = command_line.split_first()?;
    if Path::new(program).file_name().is_some_and(|name| name == "colt-cc") {
        return Some(words);
    }
    let (first, rest) = words.split_first()?;
    (first == "cc").then_some(rest)
}

/// Runs one compiler command and returns its exit status.
pub fn main(words: &[OsString]) -> u8 {
    let real = match Real::find() {
        Ok(real) => real,
        Err(why) => {
            eprintln!("colt cc: {why}");
            return 1;
        }
    };
    let Some(texts) = words.iter().map(|word| word.to_str().map(str::to_string)).collect::<Option<Vec<_>>>() else {
        return real.become_it(words);
    };
    let command = CompileCommand::read(&expand_response_files(texts));
    let is_off = std::env::var_os(OFF).is_some();
    match command.goal {
        _ if is_off || (!command.inputs.is_empty() && command.inputs.iter().all(is_probe)) => real.become_it(words),
        Goal::Other => real.become_it(words),
        Goal::Objects if command.inputs.is_empty() => real.become_it(words),
        Goal::Objects => compile_objects(&real, words, &command),
        Goal::Program => compile_program(&real, words, &command),
    }
}

/// The file that configure scripts try the compiler with; nobody explores what it makes.
fn is_probe(input: &Input) -> bool {
    Path::new(&input.path).file_name().is_some_and(|name| name == "conftest.c" || name == "conftest.s")
}

struct Real {
    program: String,
    first_words: Vec<String>,
}

impl Real {
    fn find() -> Result<Real, String> {
        let named = std::env::var(REAL).ok().filter(|text| !text.trim().is_empty());
        let mut words = match named {
            Some(text) => crate::args::split_words(&text).map_err(|why| format!("{REAL}: {why}"))?.into_iter(),
            None => vec![frontend::find_clang().map_err(|error| error.to_string())?].into_iter(),
        };
        let program = words.next().ok_or_else(|| format!("{REAL} names no compiler"))?;
        Ok(Real { program, first_words: words.collect() })
    }

    fn command(&self, words: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.first_words).args(words);
        command
    }

    fn become_it(&self, words: &[OsString]) -> u8 {
        let error = self.command(words).exec();
        eprintln!("colt cc: cannot start {}: {error}", self.program);
        1
    }

    fn run(&self, words: &[OsString]) -> u8 {
        match self.command(words).status() {
            Ok(status) => exit_code(status),
            Err(error) => {
                eprintln!("colt cc: cannot start {}: {error}", self.program);
                1
            }
        }
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}

/// `-c`: each input has its own object.
fn compile_objects(real: &Real, words: &[OsString], command: &CompileCommand) -> u8 {
    let mut words = words.to_vec();
    if command.uses_lto {
        // The object would be LLVM's own, which has no sections; linkers take ordinary ones just as well.
        words.push("-fno-lto".into());
    }
    let (code, records) = std::thread::scope(|scope| {
        let records = scope.spawn(|| make_records(command));
        (real.run(&words), records.join().unwrap_or_default())
    });
    if code != 0 {
        return code;
    }
    for (input, record) in command.inputs.iter().zip(&records) {
        add_to(&command.object_of(input), std::slice::from_ref(record));
    }
    code
}

/// A link. What is compiled for it in the same command and the archives it chooses from come as records in one more
/// object: the compiler's own objects are out of reach.
fn compile_program(real: &Real, words: &[OsString], command: &CompileCommand) -> u8 {
    let archives = command.archives();
    if command.inputs.is_empty() && archives.is_empty() {
        return real.become_it(words);
    }
    let Some((_folder, object)) = carrier(command, archives) else { return real.run(words) };
    let mut with_carrier = words.to_vec();
    with_carrier.extend(["-x".into(), "none".into(), object.into()]);
    // Its messages are shown only if it works; otherwise those of the command as it was given.
    match real.command(&with_carrier).stdout(Stdio::inherit()).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            use std::io::Write;
            let _ = std::io::stderr().write_all(&output.stderr);
            0
        }
        _ => real.run(words),
    }
}

/// An object that holds nothing but the records, for the same machine as the program.
fn carrier(command: &CompileCommand, archives: Vec<PathBuf>) -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("colt-cc-").tempdir().ok()?;
    let object = folder.path().join("units.o");
    let machine = command.kept.iter().filter(|word| word.starts_with("-m") || word.starts_with("--target="));
    let status = Command::new(frontend::find_clang().ok()?)
        .args(machine)
        .args(["-w", "-fPIC", "-c", "-x", "c", "/dev/null", "-o"])
        .arg(&object)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return None;
    }
    let mut records = make_records(command);
    if !archives.is_empty() {
        let (dir, source) = (std::env::current_dir().unwrap_or_default(), PathBuf::new());
        records.push(Record { dir, source, args: Vec::new(), without: String::new(), archives, bitcode: Vec::new() });
    }
    add_to(&object, &records).then_some((folder, object))
}

fn make_records(command: &CompileCommand) -> Vec<Record> {
    command.inputs.iter().map(|input| make_record(command, input)).collect()
}

fn make_record(command: &CompileCommand, input: &Input) -> Record {
    let dir = std::env::current_dir().unwrap_or_default();
    let args = command.words_for(input);
    let made = match input.language {
        Language::Assembler => Err("it is written in assembler".to_string()),
        Language::C => frontend::compile_unit(&dir, &args, Path::new(&input.path)).map_err(|error| error.to_string()),
    };
    let (frontend::Compiled { bitcode, args }, without) = match made {
        Ok(compiled) => (compiled, String::new()),
        Err(why) => (frontend::Compiled { bitcode: Vec::new(), args }, why),
    };
    Record { archives: Vec::new(), dir, source: input.path.clone().into(), args, without, bitcode }
}

/// Adds the records to an object; says whether it could. The new object takes the old one's place in one step.
fn add_to(object: &Path, records: &[Record]) -> bool {
    let is_file = std::fs::symlink_metadata(object).is_ok_and(|metadata| metadata.is_file());
    let Some(bytes) = is_file.then(|| std::fs::read(object).ok()).flatten() else { return false };
    let mut section = Vec::new();
    records.iter().for_each(|record| record.write(&mut section));
    let Some(bytes) = Elf::read(&bytes).and_then(|elf| elf.with_section(SECTION, &section)) else { return false };
    let folder = match object.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        use std::io::Write;
        let permissions = std::fs::metadata(object)?.permissions();
        let mut file = tempfile::Builder::new().prefix(".colt-cc-").tempfile_in(folder)?;
        file.write_all(&bytes)?;
        file.as_file().set_permissions(permissions)?;
        file.persist(object).map(drop).map_err(|error| error.error)
    };
    write().is_ok()
}
