//! Reads the inputs of `--seeds`: raw files, KLEE's `.ktest` files and Colt's own tests.

use std::fs;
use std::path::{Path, PathBuf};

use explore::Seed;
use replay::Entry;

use crate::args::RunArgs;
use crate::outcome::Failure;

/// What the bytes of a raw file are to the program.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Name and size of the input; `None` where the program has none that takes raw bytes.
    raw: Option<(String, u64)>,
    /// The input of a libFuzzer entry has the size it is given.
    is_fuzzer: bool,
}

const FUZZER_DATA: &str = "data";

impl Target {
    /// Standard input where that is symbolic, or else the one symbolic file.
    pub fn new(args: &RunArgs, sym_files: &[(String, u32)], line_up: &[String], entry: &Entry) -> Target {
        if *entry == Entry::LibFuzzer {
            return Target { raw: Some((FUZZER_DATA.to_string(), args.fuzzer_bytes(line_up).into())), is_fuzzer: true };
        }
        let file = match sym_files {
            [(name, n_bytes)] => Some((format!("file:{name}"), (*n_bytes).into())),
            _ => None,
        };
        let stdin = args.sym_stdin.map(|n_bytes| ("stdin".to_string(), n_bytes.into()));
        Target { raw: stdin.or(file), is_fuzzer: false }
    }
}

/// The seeds of a folder, by name, or of one file. What does not fit is cut or filled with zeros, and noted.
pub fn read(path: &Path, target: &Target, notes: &mut Vec<String>) -> Result<Vec<Seed>, Failure> {
    let failed = |path: &Path, why: String| Failure::usage(format!("--seeds {}: {why}", path.display()));
    let mut seeds = Vec::new();
    let (mut n_long, mut n_short) = (0, 0);
    for file in files(path).map_err(|error| failed(path, error.to_string()))? {
        let bytes = fs::read(&file).map_err(|error| failed(&file, error.to_string()))?;
        let mut seed = match file.extension().and_then(|extension| extension.to_str()) {
            Some("ktest") => ktest(&bytes).ok_or_else(|| failed(&file, "not a .ktest file".to_string()))?,
            Some("json") if replay::read_test(&file).is_ok() => own_test(&file).map_err(|why| failed(&file, why))?,
            _ => match &target.raw {
                None => {
                    let why = "bytes of a file are of use with --sym-stdin, with one --sym-file or for LLVMFuzzerTestOneInput only";
                    return Err(failed(&file, why.to_string()));
                }
                Some((name, size)) => {
                    n_long += u64::from(bytes.len() as u64 > *size);
                    n_short += u64::from((bytes.len() as u64) < *size && !target.is_fuzzer);
                    Seed { inputs: vec![(name.clone(), bytes)], size: None }
                }
            },
        };
        if target.is_fuzzer {
            seed.size = seed.inputs.iter().find(|(name, _)| name == FUZZER_DATA).map(|(_, bytes)| bytes.len() as u64);
        }
        seeds.push(seed);
    }
    let size = target.raw.as_ref().map_or(0, |(_, size)| *size);
    if n_long > 0 {
        notes.push(format!("{n_long} seeds are longer than the input of {size} bytes and are cut"));
    }
    if n_short > 0 {
        notes.push(format!("{n_short} seeds are shorter than the input of {size} bytes and are filled with zeros"));
    }
    if seeds.is_empty() {
        notes.push(format!("there are no seeds in {}", path.display()));
    }
    Ok(seeds)
}

fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        let is_hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if entry.is_file() && !is_hidden {
            files.push(entry);
        }
    }
    files.sort();
    Ok(files)
}

fn own_test(path: &Path) -> Result<Seed, String> {
    let test = replay::read_test(path).map_err(|error| error.to_string())?;
    let inputs = test.inputs.into_iter().map(|input| (input.name.to_string(), input.bytes)).collect();
    Ok(Seed { inputs, size: None })
}

/// Magic, version, arguments and objects, all numbers big-endian and every text with its length before it.
fn ktest(bytes: &[u8]) -> Option<Seed> {
    let mut rest = bytes.strip_prefix(b"KTEST").or_else(|| bytes.strip_prefix(b"BOUT\n"))?;
    let version = word(&mut rest)?;
    for _ in 0..word(&mut rest)? {
        block(&mut rest)?;
    }
    if version >= 2 {
        // Symbolic arguments by number and length.
        word(&mut rest)?;
        word(&mut rest)?;
    }
    let mut seed = Seed::default();
    for _ in 0..word(&mut rest)? {
        let name = String::from_utf8_lossy(block(&mut rest)?).into_owned();
        let value = block(&mut rest)?.to_vec();
        seed.inputs.push((own_name(&name), value));
    }
    Some(seed)
}

/// KLEE calls arguments `arg00`, `arg01`, ...; everything else is called as in the program.
fn own_name(name: &str) -> String {
    match name.strip_prefix("arg").and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => format!("argv[{}]", number + 1),
        None => name.to_string(),
    }
}

fn word(rest: &mut &[u8]) -> Option<u32> {
    let (head, tail) = rest.split_at_checked(4)?;
    *rest = tail;
    Some(u32::from_be_bytes(head.try_into().ok()?))
}

fn block<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let n_bytes = word(rest)? as usize;
    let (head, tail) = rest.split_at_checked(n_bytes)?;
    *rest = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ktest_file_of_klee() {
        let bytes = b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x03f.c\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\x05arg01\0\0\0\x02\x07\x08\0\0\0\x01x\0\0\0\0";
        let seed = ktest(bytes).expect("valid");
        assert_eq!(seed.inputs, [("argv[2]".to_string(), vec![7, 8]), ("x".to_string(), vec![])]);
        assert_eq!(ktest(&bytes[..bytes.len() - 1]), None);
        assert_eq!(ktest(b"KTEST"), None);
    }
}
