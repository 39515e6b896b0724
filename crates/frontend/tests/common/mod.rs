//! Helpers shared by the front end's tests.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::PathBuf;

use frontend::{LoadError, Program, Sources, load};
use ir::{Callee, Function};

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().to_path_buf()
    }
}

pub fn load_text(text: &str) -> Program {
    load_with(text, |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Loads one C file after `adjust` and checks the module's rules and its text form.
pub fn load_with(text: &str, adjust: impl FnOnce(&mut Sources)) -> Result<Program, LoadError> {
    let folder = Folder::new();
    let mut sources = Sources::new(vec![folder.write("test.c", text)]);
    adjust(&mut sources);
    let program = load(&sources)?;
    check(&program);
    Ok(program)
}

pub fn check(program: &Program) {
    if let Err(errors) = ir::verify(&program.module) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}\n{}", errors.join("\n"), ir::print(&program.module));
    }
    let text = ir::print(&program.module);
    let parsed = ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(ir::print(&parsed), text);
}

pub fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    let func = program.module.find_function(name).unwrap_or_else(|| panic!("no function {name}"));
    program.module.function(func)
}

pub fn text_of(program: &Program, name: &str) -> String {
    let func = program.module.find_function(name).unwrap_or_else(|| panic!("no function {name}"));
    ir::print_function(&program.module, func)
}

/// Messages of all gaps in the user's code.
pub fn gaps(program: &Program) -> Vec<String> {
    let functions = program.module.functions.iter().filter(|function| !function.is_runtime);
    let calls = functions.flat_map(|function| &function.calls);
    calls
        .filter_map(|call| match &call.callee {
            Callee::Gap(what) => Some(what.clone()),
            _ => None,
        })
        .collect()
}
