//! Prints the bytecode of C, .bc or .ll files: `cargo run -p frontend --example dump -- [--entry F] [--no-promote] [--all] FILE... [-- CFLAGS]`.

use std::path::PathBuf;
use std::process::ExitCode;

use frontend::{Promote, Sources, load};

fn main() -> ExitCode {
    let mut sources = Sources::new(Vec::new());
    let mut with_runtime = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--entry" => sources.entry = args.next(),
            "--no-promote" => sources.promote = Promote::Off,
            "--all" => with_runtime = true,
            "-I" => sources.include_dirs.extend(args.next().map(PathBuf::from)),
            "--" => sources.cflags.extend(args.by_ref()),
            file => sources.files.push(PathBuf::from(file)),
        }
    }
    let program = match load(&sources) {
        Ok(program) => program,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(3);
        }
    };
    let errors = ir::verify(&program.module).err().unwrap_or_default();
    if with_runtime {
        print!("{}", ir::print(&program.module));
    } else {
        for (idx, function) in program.module.functions.iter().enumerate() {
            if !function.is_runtime && !function.is_declaration() {
                println!("{}", ir::print_function(&program.module, ir::FuncId::new(idx)));
            }
        }
    }
    for error in &errors {
        eprintln!("verify: {error}");
    }
    ExitCode::from(u8::from(!errors.is_empty()))
}
