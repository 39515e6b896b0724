//! The verifier: each rule has a module that breaks it and nothing else.

use ir::*;

fn errors(text: &str) -> Vec<String> {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match verify(&module) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.iter().map(VerifyError::to_string).collect(),
    }
}

/// The body of a function `i32 f(i32, i64)` with a helper and a variable.
fn body_errors(body: &str) -> Vec<String> {
    errors(&format!("func @g(r0:32) -> 32\nfunc @f(r0:32, r1:64) -> 32 {{\n    var v0 \"x\" void\n{body}\n}}"))
}

#[track_caller]
fn breaks(body: &str, rule: &str) {
    let errors = body_errors(body);
    assert!(errors.len() == 1 && errors[0].contains(rule), "{body}\nexpected one error with `{rule}`: {errors:#?}");
}

#[track_caller]
fn holds(body: &str) {
    let errors = body_errors(body);
    assert!(errors.is_empty(), "{body}\n{errors:#?}");
}

#[test]
fn registers_are_set_before_use() {
    holds("b0: ret r0");
    breaks("b0: ret r2", "@f b0 terminator: r2:32 is read but not set");
    breaks("b0: r2:32 = add r0, r3\n ret r2", "@f b0 #0: r3:32 is read but not set");
    breaks("b0: br eq:32 r0, 1 ? b1 : b2\nb1: r2:32 = const 1\n jump b2\nb2: ret r2", "r2:32 is read but not set");
    holds("b0: br eq:32 r0, 1 ? b1 : b2 [r2:32 = r0]\nb1: r2:32 = const 1\n jump b2\nb2: ret r2");
    breaks("b0: jump b1 [r2:32 = r3]\nb1: ret r2", "@f b0 to b1: r3:32 is read but not set");
}

#[test]
fn moves_run_in_order() {
    holds("b0: jump b1 [r2:32 = r0, r3:32 = r2]\nb1: ret r3");
    breaks("b0: jump b1 [r3:32 = r2, r2:32 = r0]\nb1: ret r3", "r2:32 is read but not set");
}

#[test]
fn loops_do_not_define_what_the_first_turn_lacks() {
    let body = |init: &str| {
        format!(
            "b0: jump b1 [r2:32 = r0{init}]\nb1: br eq:32 r2, 0 ? b3 : b2\nb2: r4:32 = copy r3\n r3:32 = copy r2\n jump \
             b1 [r2:32 = r4]\nb3: ret r2"
        )
    };
    breaks(&body(""), "r3:32 is read but not set");
    holds(&body(", r3:32 = r0"));
}

#[test]
fn unreachable_blocks_may_read_anything() {
    holds("b0: ret r0\nb1: ret r5");
}

#[test]
fn widths_agree() {
    breaks("b0: r2:32 = add r0, r1\n ret r2", "r1 is read as 32 bits but holds 64");
    breaks(
        "b0: br eq:32 r0, 0 ? b1 : b2\nb1: r2:32 = const 1\n jump b3\nb2: r2:8 = const 1\n jump b3\nb3: ret r2",
        "one width",
    );
    breaks("b0: r2:32 = load r0\n ret r2", "holds 32");
    holds("b0: r2:8 = const 1\n r2:32 = const 1\n ret r2");
}

#[test]
fn wide_registers_take_two_slots() {
    holds("b0: r2:128 = const 1\n r4:128 = add r2, r2\n r5:32 = const 1\n ret r5");
    breaks("b0: r2:128 = const 1\n r3:32 = const 1\n r4:128 = add r2, 1\n ret r0", "r2 is read as 128 bits");
    breaks("b0: r2:128 = const 1\n ret r3", "r3:32 is the upper half of a wide value");
    let errors = errors("func @f(r0:128) slots 1 {\nb0: ret\n}");
    assert!(errors[0].contains("outside the 1 slots"), "{errors:?}");
}

#[test]
fn written_registers_are_disjoint() {
    breaks("b0: r2:32, r2:1 = sadd.overflow r0, r0\n ret r0", "share a slot");
    assert!(errors("func @f(r0:80, r1:32)")[0].contains("share a slot"));
}

#[test]
fn constants_fit() {
    breaks("b0: r2:8 = const 256\n ret r0", "256 does not fit 8 bits");
    breaks("b0: r2:32 = add r0, 4294967296\n ret r0", "does not fit");
    breaks("b0: br eq:32 r0, 4294967296 ? b1 : b1\nb1: ret r0", "does not fit");
    breaks("b0: switch r0:32 (4294967296: b1, default: b1)\nb1: ret r0", "does not fit");
    breaks("b0: switch r0:32 (1: b1, 1: b1, default: b1)\nb1: ret r0", "twice");
}

#[test]
fn instructions_make_sense() {
    breaks("b0: r2:64 = trunc r0:32\n ret r0", "Trunc from 32 to 64");
    breaks("b0: r2:32 = sext r0:32\n ret r0", "SExt from 32 to 32");
    breaks("b0: r2:32 = and nsw r0, r0\n ret r0", "nsw on And");
    breaks("b0: r2:32 = load r1 align 3\n ret r2", "no power of two");
    breaks("b0: r2 = alloca 4 var v1\n ret r0", "no such variable");
    breaks("b0: call %memcpy(r1:64, r1:64)\n ret r0", "MemCpy with 2 arguments");
}

#[test]
fn ids_are_in_range() {
    breaks("b0: jump b7", "no block b7");
    breaks("b0: jump b1\nb1: jump b0", "the entry has a predecessor");
    breaks("b0: r2 = addr g4\n ret r0", "no global g4");
    breaks("b0: r2 = addr @f:b9\n ret r0", "no block b9");
    breaks("b0: call f9()\n ret r0", "no function f9");
    breaks("b0: ret r0 !s4", "no position s4");
    breaks("b0: call c0 @g()\n call c0 @g()\n ret r0", "made by two");
    assert!(errors("t0 = pointer t3 8")[0].contains("no type t3"));
    assert!(errors("s1 = file0:1:1")[0].contains("no file file0"));
}

#[test]
fn returns_match_the_head() {
    breaks("b0: ret", "0 values returned, 1 in the head");
}

#[test]
fn calls_may_disagree_with_their_callee() {
    holds("b0: r2:64 = call @g()\n call @g(r0:32, r1:64)\n ret r0");
}

#[test]
fn data_stays_inside_its_global() {
    assert!(errors("global @g bytes 1 = data \"ab\"")[0].contains("2 bytes of data"));
    let text = "global @g bytes 8 = data \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\" (at 1 bytes 8 = @g)";
    assert!(errors(text)[0].contains("outside the data"));
}

#[test]
fn types_are_not_made_of_themselves() {
    assert_eq!(errors("t0 = typedef \"a\" t1\nt1 = const t0").len(), 2);
    assert!(errors("t0 = struct \"node\" 8 (field \"next\" 0 64 t1)\nt1 = pointer t0 8").is_empty());
}

#[test]
fn positions_are_complete() {
    let mut module = parse("func @f() {\nb0: ret\n}").unwrap();
    module.functions[0].blocks[0].spans.clear();
    assert!(verify(&module).unwrap_err()[0].message.contains("0 positions for 1"));
}
