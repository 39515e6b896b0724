//! `colt export DIR --to FORMAT`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use database::Which;
use report::Case;
use report::export::{self as forms, ExportFile, Machine, NativeProgram, TestCompProgram};

use crate::args::{ExportArgs, Format};
use crate::fault;
use crate::folder::Folder;
use crate::outcome::{Exit, Failure};
use crate::screen::print;

pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    fault::doing(format!("exporting {}", args.dir.display()));
    let out = match &args.out {
        // Opening the folder changes the working folder.
        Some(out) => std::path::absolute(out).map_err(|error| Failure::usage(format!("{}: {error}", out.display())))?,
        None => PathBuf::new(),
    };
    let folder = Folder::open(&args.dir)?;
    let out = if args.out.is_some() { out } else { folder.dir.join("export").join(folder_name(args.to)) };
    let n_files = match args.to {
        // Tests may be too many to have them all in memory.
        Format::Json => json(&folder, &out)?,
        format => {
            let files = make(&folder, format)?;
            files.iter().try_for_each(|file| write(&out, file))?;
            files.len() as u64
        }
    };
    if matches!(args.to, Format::C | Format::Gtest) {
        // The program may include our headers.
        replay::write_headers(&out.join("include"))
            .map_err(|error| Failure::usage(format!("cannot write {}: {error}", out.display())))?;
    }
    let shown = args.out.as_ref().map_or_else(
        || format!("{}/export/{}", folder.shown.trim_end_matches('/'), folder_name(args.to)),
        |out| out.display().to_string(),
    );
    print(&format!("{n_files} files in {shown}\n"));
    Ok(Exit::Success)
}

fn folder_name(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::C => "c",
        Format::Gtest => "gtest",
        Format::Ktest => "ktest",
        Format::Corpus => "corpus",
        Format::Testcomp => "testcomp",
        Format::Lcov => "lcov",
        Format::Sarif => "sarif",
    }
}

fn json(folder: &Folder, out: &Path) -> Result<u64, Failure> {
    let mut n_files = 0;
    folder.database.each_test(Which::All, |stored| {
        n_files += 1;
        write(out, &ExportFile { name: format!("{:06}.json", stored.test.0), bytes: stored.to_json() })
    })?;
    Ok(n_files)
}

fn make(folder: &Folder, format: Format) -> Result<Vec<ExportFile>, Failure> {
    Ok(match format {
        Format::Json => Vec::new(),
        Format::C => native(folder, forms::c)?,
        Format::Gtest => native(folder, forms::gtest)?,
        Format::Ktest => forms::ktest(&folder.cases()?, &first_source(folder)),
        Format::Corpus => forms::corpus(&folder.cases()?),
        Format::Testcomp => testcomp(folder)?,
        Format::Lcov => vec![forms::lcov(&folder.coverage()?)],
        Format::Sarif => {
            let bytes = report::sarif(&folder.summary()?).into_bytes();
            vec![ExportFile { name: "findings.sarif".to_string(), bytes }]
        }
    })
}

/// The forms that are compiled together with the program.
fn native(
    folder: &Folder,
    form: impl FnOnce(&[Case], &NativeProgram) -> Vec<ExportFile>,
) -> Result<Vec<ExportFile>, Failure> {
    let journal = &folder.journal;
    let harness = journal.harness.as_ref();
    let is_compiled = |source: &&PathBuf| harness.and_then(|harness| harness.replaces.as_ref()) != Some(*source);
    let sources: Vec<String> = journal
        .build
        .sources
        .iter()
        .filter(is_compiled)
        .map(|source| journal.cwd.join(source).display().to_string())
        .collect();
    let mut cflags = journal.build.cflags.clone();
    cflags.extend(harness.iter().flat_map(|harness| harness.defines.iter().cloned()));
    let program =
        NativeProgram { sources: &sources, cflags: &cflags, harness: harness.map(|harness| harness.text.as_str()) };
    Ok(form(&folder.cases()?, &program))
}

fn first_source(folder: &Folder) -> String {
    folder.journal.build.sources.first().map_or(String::new(), |source| source.display().to_string())
}

fn testcomp(folder: &Folder) -> Result<Vec<ExportFile>, Failure> {
    let file = first_source(folder);
    let contents = fs::read(&file).map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    let is_32 = folder.journal.build.cflags.iter().any(|flag| flag == "-m32");
    let program = TestCompProgram {
        file: &file,
        contents: &contents,
        entry: &folder.summary()?.entry,
        machine: if is_32 { Machine::Bits32 } else { Machine::Bits64 },
        created: SystemTime::now(),
    };
    Ok(forms::testcomp(&folder.cases()?, &program))
}

fn write(out: &Path, file: &ExportFile) -> Result<(), Failure> {
    let path = out.join(&file.name);
    fs::create_dir_all(out)
        .and_then(|()| fs::write(&path, &file.bytes))
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}
