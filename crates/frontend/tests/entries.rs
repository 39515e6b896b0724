//! Entries other than `main` get a harness that makes every parameter an input.

mod common;

use common::{Folder, check, function, load_with};
use frontend::{HarnessKind, LoadError, Program, Sources, load};
use ir::{Callee, Init, Inst, SymbolRef};

fn load_entry(text: &str, entry: &str) -> Result<Program, LoadError> {
    load_with(text, |sources| sources.entry = Some(entry.to_string()))
}

/// Names of the inputs that `main` asks for, in order.
fn inputs(program: &Program) -> Vec<String> {
    let module = &program.module;
    let main = module.function(program.entry);
    let input = module.find_function("colt_input").expect("declared");
    let mut names = Vec::new();
    for block in &main.blocks {
        for (idx, inst) in block.insts.iter().enumerate() {
            let Inst::Call { call } = inst else { continue };
            let call = &main.calls[call.idx()];
            if call.callee == Callee::Function(input) {
                names.push(text_at(program, &block.insts[..idx], call.args[2].reg));
            }
        }
    }
    names
}

/// The string whose address was last put into `reg`.
fn text_at(program: &Program, insts: &[Inst], reg: ir::Reg) -> String {
    let global = insts.iter().rev().find_map(|inst| match inst {
        Inst::Address { dst, symbol: SymbolRef::Global(global), .. } if *dst == reg => Some(*global),
        _ => None,
    });
    let Init::Bytes { bytes, .. } = &program.module.global(global.expect("a constant name")).init else {
        panic!("a string has bytes");
    };
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_string()
}

#[test]
fn every_parameter_is_an_input() {
    let text = "
        typedef struct { int x, y; } point; typedef enum { A, B } ab; struct opaque;
        static int helper(int x) { return x; }
        static int target(int a, const char *s, point p, const point *q, double d, _Bool b, ab e, struct opaque *o,
                          int (*callback)(int), void *v, char **list, long double ld, int array[4], const unsigned c) {
            return helper(a) + p.x + q->y + s[0];
        }
        int main(void) { point p = {1, 2}; return target(1, \"\", p, &p, 1, 1, A, 0, helper, 0, 0, 1, 0, 2); }";
    let program = load_entry(text, "target").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        inputs(&program),
        ["a", "*s", "p", "*q", "d", "b", "e", "o", "callback", "*v", "*list", "ld", "*array", "c"]
    );
    assert_eq!(program.entry_name, "target");
    let harness = program.harness.as_ref().expect("a harness");
    assert_eq!(harness.kind, HarnessKind::Function);
    assert_eq!(std::fs::read_to_string(&harness.path).expect("kept"), harness.text);
    let module = &program.module;
    let target = function(&program, "target");
    assert!(module.files[target.file.expect("known").idx()].path.ends_with("test.c"));
    let main = module.function(program.entry);
    let harness_file = &module.files[main.file.expect("known").idx()];
    assert_eq!((harness_file.path.as_str(), harness_file.is_user), ("colt_harness.c", false));
    assert!(module.find_function("colt_user_main").is_some());
}

#[test]
fn the_fuzzer_entry_needs_no_flag() {
    let text = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return size && data[0]; }";
    let program = load_with(text, |sources| sources.fuzzer_size = 5).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(inputs(&program), ["data"]);
    let harness = program.harness.as_ref().expect("a harness");
    assert_eq!(harness.kind, HarnessKind::Fuzzer);
    assert!(harness.text.contains("__colt_next_size(5)"));
}

#[test]
fn main_of_other_files_gives_way() {
    let folder = Folder::new();
    let a = folder.write("a.c", "int f(int x) { return x; }");
    let b = folder.write("b.c", "int f(int); int main(void) { return f(3); }");
    let mut sources = Sources::new(vec![a.clone(), b]);
    sources.entry = Some("f".to_string());
    sources.work_dir = Some(folder.path().join("work"));
    let program = load(&sources).unwrap_or_else(|error| panic!("{error}"));
    check(&program);
    assert_eq!(inputs(&program), ["x"]);
    let harness = program.harness.as_ref().expect("a harness");
    assert_eq!(harness.replaces.as_ref(), Some(&a));
    assert!(harness.path.starts_with(folder.path().join("work")));
}

#[test]
fn entries_of_bitcode_take_scalars() {
    let folder = Folder::new();
    let ir = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
        target triple = \"x86_64-pc-linux-gnu\"
        define i32 @f(i32 %a, ptr %p, double %d) { ret i32 %a }
        define i32 @main() { ret i32 0 }
        define i32 @g(<4 x i32> %v) { ret i32 0 }";
    let mut sources = Sources::new(vec![folder.write("f.ll", ir)]);
    sources.entry = Some("f".to_string());
    let program = load(&sources).unwrap_or_else(|error| panic!("{error}"));
    check(&program);
    assert_eq!(inputs(&program).len(), 3);
    sources.entry = Some("g".to_string());
    assert!(matches!(load(&sources), Err(LoadError::Signature { .. })));
}

#[test]
fn unsupported_signatures_say_which_parameter() {
    let text = "int variadic(int n, ...) { return n; } int odd(struct { int q; } w) { return w.q; }";
    let error = load_entry(text, "variadic").expect_err("no harness").to_string();
    assert!(error.contains("variadic") && error.contains("variable number"), "{error}");
    let error = load_entry(text, "odd").expect_err("no harness").to_string();
    assert!(error.contains("`odd`") && error.contains("`w`"), "{error}");
}
