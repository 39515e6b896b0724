//! What the bytecode of particular C code looks like: the shapes that the machine's speed and the techniques rest on.

mod common;

use common::{Folder, check, function, load_text, load_with, text_of};
use frontend::{Promote, Sources, load};
use ir::{Callee, Init, Inst, SourceType, SymbolRef, Terminator};

#[test]
fn scalars_are_registers_and_conditions_are_fused() {
    let program = load_text("int f(int a) { int r = 0; if (5 < a) r = a; return r; } int main(void) { return f(3); }");
    let f = function(&program, "f");
    let insts: Vec<&Inst> = f.blocks.iter().flat_map(|block| &block.insts).collect();
    assert!(!insts.iter().any(|inst| matches!(inst, Inst::Alloca { .. } | Inst::Load { .. } | Inst::Cmp { .. })));
    let Terminator::CmpImmBranch { op, bits: 32, imm: 5, .. } = &f.blocks[0].terminator else {
        panic!("{}", text_of(&program, "f"));
    };
    assert_eq!(*op, ir::CmpOp::Sgt);
}

#[test]
fn without_promotion_locals_stay_in_memory() {
    let text = "int main(void) { int x; return x; }";
    let adjust = |sources: &mut Sources| sources.promote = Promote::Off;
    let program = load_with(text, adjust).unwrap_or_else(|error| panic!("{error}"));
    assert!(function(&program, "main").blocks[0].insts.iter().any(|inst| matches!(inst, Inst::Load { .. })));
}

/// `mem2reg` would otherwise let the read on one path see what another path wrote, and nobody could tell that it was not written.
#[test]
fn a_local_that_may_be_read_before_it_is_set_stays_in_memory() {
    let n_allocas = |text: &str| {
        let program = load_text(text);
        let insts = function(&program, "f").blocks.iter().flat_map(|block| &block.insts);
        insts.filter(|inst| matches!(inst, Inst::Alloca { .. })).count()
    };
    assert_eq!(n_allocas("int f(int c) { int x; if (c) x = 5; return x; } int main(void) { return f(0); }"), 1);
    assert_eq!(n_allocas("int f(int c) { int x = 1; if (c) x = 5; return x; } int main(void) { return f(0); }"), 0);
}

#[test]
fn a_function_that_calls_setjmp_keeps_its_locals_in_memory() {
    let program = load_text(
        "#include <setjmp.h>
        jmp_buf env;
        int f(int x) { int y = 1; if (setjmp(env)) return y; y = x; longjmp(env, 1); }
        int main(void) { return f(2); }",
    );
    let f = function(&program, "f");
    let n_allocas = f.blocks[0].insts.iter().filter(|inst| matches!(inst, Inst::Alloca { .. })).count();
    assert!(n_allocas >= 2, "{}", text_of(&program, "f"));
}

#[test]
fn an_array_access_is_one_index() {
    let program = load_text("int f(int *a, int i) { return a[i]; } int main(void) { int x = 1; return f(&x, 0); }");
    let insts = &function(&program, "f").blocks[0].insts;
    assert!(
        matches!(insts[..], [Inst::Index { index_bits: 32, scale: 4, .. }, Inst::Load { bits: 32, .. }]),
        "{}",
        text_of(&program, "f")
    );
}

/// Clang emits a `select` for it; coverage counts both sides all the same.
#[test]
fn a_conditional_operator_is_a_branch() {
    let program = load_text("int f(int a) { return (a > 3 ? 10 : 20) + 1; } int main(void) { return f(3); }");
    let f = function(&program, "f");
    assert!(
        matches!(f.blocks[0].terminator, Terminator::CmpImmBranch { op: ir::CmpOp::Sgt, imm: 3, .. }),
        "{}",
        text_of(&program, "f")
    );
    assert!(!f.blocks.iter().flat_map(|block| &block.insts).any(|inst| matches!(inst, Inst::Select { .. })));
}

#[test]
fn signed_arithmetic_is_marked() {
    let program = load_text(
        "int f(int a, int b) { return a + b; } unsigned g(unsigned a, unsigned b) { return a + b; }
        int main(void) { return f(1, 2) + g(1, 2); }",
    );
    let is_nsw = |name: &str| {
        function(&program, name).blocks[0].insts.iter().any(|inst| matches!(inst, Inst::Bin { nsw: true, .. }))
    };
    assert!(is_nsw("f"));
    assert!(!is_nsw("g"));
}

/// Values that change places on an edge need a spare register.
#[test]
fn swaps_on_an_edge_are_sequential() {
    let program = load_text(
        "int f(int n) { int a = 0, b = 1; while (n-- > 0) { int t = a; a = b; b = t; } return a; }
        int main(void) { return f(3); }",
    );
    let f = function(&program, "f");
    let swap = f.blocks.iter().flat_map(|block| block.terminator.edges()).find(|edge| edge.moves.len() >= 4);
    let moves = &swap.unwrap_or_else(|| panic!("{}", text_of(&program, "f"))).moves;
    // Run the moves on distinct values and compare with what happens at once.
    let mut regs: Vec<u32> = (0..f.n_slots).collect();
    for m in moves {
        regs[m.dst.idx()] = regs[m.src.idx()];
    }
    let swapped = moves
        .iter()
        .any(|a| moves.iter().any(|b| a.dst != b.dst && regs[a.dst.idx()] == b.dst.0 && regs[b.dst.idx()] == a.dst.0));
    assert!(swapped, "{}", text_of(&program, "f"));
}

#[test]
fn structures_are_passed_as_the_machine_passes_them() {
    let program = load_text(
        "struct big { long a, b, c; }; struct pair { double x, y; };
        long f(struct big b) { return b.a; } double g(struct pair p) { return p.x; } int h(int n, ...) { return n; }
        int main(void) { struct big b = {1}; struct pair p = {1}; return f(b) + g(p) + h(1, b, p, 2.0f); }",
    );
    let main = function(&program, "main");
    let call = |name: &str| {
        let func = program.module.find_function(name).expect("declared");
        main.calls.iter().find(|call| call.callee == Callee::Function(func)).expect("called")
    };
    let byval = call("f").args[0].byval.expect("passed in memory");
    assert_eq!(byval.bytes, 24);
    let floats: Vec<_> = call("g").args.iter().map(|arg| arg.float).collect();
    assert_eq!(floats, [Some(ir::FloatKind::Double); 2]);
    let variadic = call("h");
    assert_eq!(variadic.n_fixed, 1);
    assert_eq!(variadic.args.len(), 5);
    assert_eq!(variadic.args[1].byval.map(|byval| byval.bytes), Some(24));
    assert_eq!(call("f").n_fixed, u32::MAX);
}

#[test]
fn whether_a_result_is_read_is_known() {
    let program = load_text("int f(void) { return 1; } int main(void) { f(); return f(); }");
    let used: Vec<bool> = function(&program, "main").calls.iter().map(|call| call.result_used).collect();
    assert_eq!(used, [false, true]);
}

#[test]
fn initialisers_are_bytes_and_addresses() {
    let program = load_text(
        "int x[4] = {1, 2, 3, 4}; int *p = &x[2]; long double l = 1.0L; short s; extern int away; int *q = &away;
        int f(int *label) { static void *t[] = { &&a, &&b }; goto *t[*label]; a: return 1; b: return 2; }
        int main(void) { return *p + l + s + *q + f(x); }",
    );
    let module = &program.module;
    let global = |name: &str| module.global(module.find_global(name).unwrap_or_else(|| panic!("no global {name}")));
    let Init::Bytes { bytes, relocs } = &global("x").init else { panic!("x has data") };
    assert_eq!((bytes.len(), bytes[4], relocs.len()), (16, 2, 0));
    let Init::Bytes { relocs, .. } = &global("p").init else { panic!("p has data") };
    assert_eq!((relocs[0].addend, relocs[0].bytes), (8, 8));
    assert_eq!(relocs[0].plus, SymbolRef::Global(module.find_global("x").expect("x")));
    let Init::Bytes { bytes, .. } = &global("l").init else { panic!("l has data") };
    assert_eq!(bytes[..], [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0]);
    assert_eq!(global("s").init, Init::Zero);
    assert_eq!(global("away").init, Init::External);
    let Init::Bytes { relocs, .. } = &global("f.t").init else { panic!("f.t has data") };
    assert!(matches!(relocs[1].plus, SymbolRef::Block(..)));
}

#[test]
fn constructors_run_by_priority() {
    let program = load_text(
        "static int n; __attribute__((constructor)) static void late(void) { n = 2; }
        __attribute__((constructor(101))) static void early(void) { n = 1; }
        __attribute__((destructor)) static void last(void) { n = 0; } int main(void) { return n; }",
    );
    let name = |func: &ir::FuncId| program.module.function(*func).name.clone();
    assert_eq!(program.constructors.iter().map(name).collect::<Vec<_>>(), ["early", "late"]);
    assert_eq!(program.destructors.iter().map(name).collect::<Vec<_>>(), ["last"]);
}

#[test]
fn types_have_fields_offsets_and_names() {
    let program = load_text(
        "enum color { RED, GREEN = 5, BLUE = -1 };
        typedef struct node { int value; struct node *next; char name[3][5]; unsigned a : 3, b : 7; enum color c; } node_t;
        union u; node_t head; int (*handler)(const char *, ...); union u *hidden; const volatile _Bool flag = 1;
        int main(void) { return head.value; }",
    );
    let module = &program.module;
    let ty = |name: &str| module.global(module.find_global(name).expect(name)).ty.expect("typed");
    assert_eq!(module.spell(Some(ty("head"))), "node_t");
    let SourceType::Struct { name, bytes, fields, is_complete: true } =
        module.ty(module.strip(ty("head")).expect("not void"))
    else {
        panic!("head is a structure");
    };
    assert_eq!((name.as_str(), *bytes), ("node", 40));
    let shown: Vec<String> = fields
        .iter()
        .map(|field| format!("{} {} at {}+{}", module.spell(field.ty), field.name, field.bit_offset, field.bits))
        .collect();
    assert_eq!(
        shown,
        [
            "int value at 0+32",
            "struct node * next at 64+64",
            "char[3][5] name at 128+120",
            "unsigned int a at 248+3",
            "unsigned int b at 256+7",
            "enum color c at 288+32"
        ]
    );
    assert!(fields[3].is_bit_field && !fields[2].is_bit_field);
    let color = module.types.iter().find_map(|ty| match ty {
        SourceType::Enum { name, values, .. } if name == "color" => Some(values),
        _ => None,
    });
    let values: Vec<i64> = color.expect("the enumeration").iter().map(|value| value.value).collect();
    assert_eq!(values, [0, 5, -1]);
    let SourceType::Pointer { to: Some(to), .. } = module.ty(ty("handler")) else { panic!("a pointer") };
    assert!(matches!(module.ty(*to), SourceType::Function { params, is_variadic: true, .. } if params.len() == 1));
    let SourceType::Pointer { to: Some(to), .. } = module.ty(ty("hidden")) else { panic!("a pointer") };
    assert!(matches!(module.ty(*to), SourceType::Union { is_complete: false, .. }));
}

#[test]
fn positions_names_and_variables() {
    let program = load_text(
        "struct s { int x; };
static int f(int first, struct s *second) {
    int array[4];
    array[0] = first;
    return array[0] + second->x;
}
int main(void) { struct s s = {1}; return f(1, &s); }
",
    );
    let module = &program.module;
    let f = function(&program, "f");
    assert_eq!((f.line, f.is_static), (2, true));
    assert_eq!(f.param_names, ["first", "second"]);
    assert_eq!(f.variables.len(), 1);
    assert_eq!((f.variables[0].name.as_str(), module.spell(f.variables[0].ty).as_str()), ("array", "int[4]"));
    let file = &module.files[f.file.expect("known").idx()];
    assert!(file.path.ends_with("test.c") && file.is_user);
    let block = &f.blocks[0];
    let store = block.insts.iter().position(|inst| matches!(inst, Inst::Store { .. })).expect("a store");
    let span = module.span(block.spans[store]);
    assert_eq!((span.file, span.line, span.column), (f.file, 4, 14));
}

#[test]
fn the_library_and_system_headers_are_not_the_users() {
    let program = load_text(
        "#include <stdlib.h>
        #include <string.h>
        int main(int argc, char **argv) { return atoi(argv[0]) + (int)strlen(argv[1]); }",
    );
    let module = &program.module;
    assert!(function(&program, "strlen").is_runtime);
    assert!(!function(&program, "main").is_runtime);
    assert!(module.find_function("strtok").is_none(), "only what is needed is linked");
    for function in module.functions.iter().filter(|function| !function.is_declaration()) {
        let file = function.file.map(|file| &module.files[file.idx()]);
        assert_eq!(file.is_some_and(|file| file.is_user), !function.is_runtime, "{}", function.name);
    }
}

#[test]
fn the_users_definitions_win() {
    let program = load_text(
        "unsigned long strlen(const char *s) { return s[0]; } static int strcmp(const char *a, const char *b) { return a == b; }
        char *strdup(const char *);
        int main(int argc, char **argv) { return strlen(argv[0]) + strcmp(argv[0], argv[1]) + *strdup(argv[0]); }",
    );
    assert!(!function(&program, "strlen").is_runtime);
    let users = program.module.functions.iter().filter(|function| function.name == "strcmp" && !function.is_runtime);
    assert_eq!(users.count(), 1);
    assert!(function(&program, "strdup").is_runtime);
}

#[test]
fn several_files_are_linked() {
    let folder = Folder::new();
    let a = folder.write("a.c", "int g(int); static int h(void) { return 1; } int main(void) { return g(2) + h(); }");
    let b = folder.write("b.c", "static int h(void) { return 2; } int g(int x) { return x + h(); } int shared;");
    let c = folder.write("c.c", "extern int shared; int *where = &shared;");
    let program = load(&Sources::new(vec![a, b, c])).unwrap_or_else(|error| panic!("{error}"));
    check(&program);
    assert_eq!(program.module.functions.iter().filter(|function| function.name == "h").count(), 2);
    assert_eq!(program.module.files.iter().filter(|file| file.is_user).count(), 2);
}
