//! Native code against the interpreter: same results, same number of instructions, same effects.

use std::sync::Arc;

use vm::{Checks, Effect, Image, Machine, World};
use witness::Ending;

/// Runs to the first effect that is not fuel; returns it, the steps taken, and how long that took.
fn run(text: &str, compile: bool, fuel: u64) -> (String, u64, std::time::Duration) {
    let module = ir::parse(text).unwrap_or_else(|error| panic!("line {}: {}", error.line, error.message));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let entry = module.find_function("main").expect("a main");
    let world = World { compile, ..World::default() };
    let image = Image::new(Arc::new(module), entry, Vec::new(), Checks::default(), world, &[]);
    let mut machine = Machine::new(&image);
    let mut state = machine.start(&[], &mut |_| vm::InputForm::Symbolic);
    let started = std::time::Instant::now();
    loop {
        match machine.run(&mut state, fuel) {
            Effect::OutOfFuel => {}
            Effect::Ended(ending) => {
                let text = match *ending {
                    Ending::Returned { status } => format!("returned {status}"),
                    Ending::Bug(bug) => format!("{:?}: {}", bug.kind, bug.message),
                    other => format!("{other:?}"),
                };
                return (text, state.steps, started.elapsed());
            }
            other => panic!("{other:?}"),
        }
    }
}

fn agree(text: &str) -> String {
    let (interpreted, steps, _) = run(text, false, 1 << 20);
    // Odd amounts of fuel make native code leave and come back at odd places.
    for fuel in [1 << 20, 1_003, 97] {
        let (compiled, compiled_steps, _) = run(text, true, fuel);
        assert_eq!(compiled, interpreted);
        assert_eq!(compiled_steps, steps, "fuel {fuel}");
    }
    interpreted
}

/// A loop over an array of words that mixes a hash: `n` rounds.
fn hash(n: u64) -> String {
    format!(
        "global @table bytes 4096 align 16 = zero\n\
         func @main() -> 32 {{\n\
         b0: r0 = addr @table\n    r1:32 = const 2166136261\n    r2:32 = const 0\n    jump b1 [r3:32 = r1, r4:32 = r2]\n\
         b1: br ult:32 r4, {n} ? b2 : b3\n\
         b2: r5:32 = xor r3, r4\n    r6:32 = and r5, 1023\n    r7:64 = zext r6:32\n    r8:64 = index r0 + r7:64 * 4\n\
             r9:32 = load r8\n    r10:32 = xor r3, r9\n    r11:32 = mul r10, 16777619\n    r12:32 = lshr r11, 15\n\
             r13:32 = xor r11, r12\n    r14:32 = add r13, r4\n    store r14:32 -> r8\n    r15:32 = add r4, 1\n\
             jump b1 [r3:32 = r13, r4:32 = r15]\n\
         b3: ret r3\n}}\n"
    )
}

#[test]
fn a_hash_over_an_array() {
    agree(&hash(30_000));
}

#[test]
fn all_operations_at_all_widths() {
    for bits in [1, 7, 8, 16, 24, 32, 33, 64] {
        let limit = if bits < 16 { 1u64 } else { 3 };
        let text = format!(
            "func @main() -> 32 {{\n\
             b0: r0:{bits} = const {limit}\n    r1:32 = const 0\n    r2:{bits} = const 1\n    jump b1 [r3:{bits} = r0, r4:32 = r1, r5:{bits} = r2]\n\
             b1: br ult:32 r4, 6000 ? b2 : b4\n\
             b2: r6:{bits} = add r3, r5\n    r7:{bits} = mul r6, r3\n    r8:{bits} = sub r7, r5\n    r9:{bits} = shl r8, r5\n\
                 r10:{bits} = ashr r9, r5\n    r11:{bits} = lshr r10, r5\n    r12:{bits} = xor r11, r7\n    r13:{bits} = or r12, 1\n\
                 r14:{bits} = udiv r7, r13\n    r15:{bits} = urem r8, r13\n    r16:{bits} = add r14, r15\n\
                 r17:1 = slt:{bits} r16, r3\n    br r17 ? b3 [r18:{bits} = r12] : b3 [r18:{bits} = r16]\n\
             b3: r19:32 = add r4, 1\n    r20:{bits} = xor r18, r13\n    jump b1 [r3:{bits} = r18, r4:32 = r19, r5:{bits} = r20]\n\
             b4: r21:1 = eq:{bits} r3, r5\n    r22:32 = zext r21:1\n    ret r22\n}}\n"
        );
        agree(&text);
    }
}

#[test]
fn signed_division_leaves_where_it_may_trap() {
    let text = "func @main() -> 32 {\n\
         b0: r0:32 = const 100\n    r1:32 = const 5000\n    jump b1 [r2:32 = r0, r3:32 = r1]\n\
         b1: br sgt:32 r3, -3 ? b2 : b3\n\
         b2: r4:32 = sdiv r2, r3\n    r5:32 = srem r2, r3\n    r6:32 = add r4, r5\n    r7:32 = add r6, 1000\n\
             r8:32 = sub r3, 1\n    jump b1 [r2:32 = r7, r3:32 = r8]\n\
         b3: ret r2\n}\n";
    assert_eq!(agree(text), "DivisionByZero: division by zero");
}

#[test]
fn an_access_out_of_bounds_is_found_by_the_interpreter() {
    let text = "global @table bytes 4000 align 16 = zero\n\
         func @main() -> 32 {\n\
         b0: r0 = addr @table\n    r1:64 = const 0\n    jump b1 [r2:64 = r1]\n\
         b1: r3:64 = index r0 + r2:64 * 1\n    r4:8 = load r3\n    r5:8 = add r4, 3\n    store r5:8 -> r3\n    r6:64 = add r2, 1\n\
             jump b1 [r2:64 = r6]\n}\n";
    assert!(agree(text).starts_with("OutOfBoundsRead"));
}

#[test]
fn calls_in_a_hot_loop_go_through_the_interpreter() {
    let text = "func @twice(r0:32) -> 32 {\nb0: r1:32 = add r0, r0\n    ret r1\n}\n\
         func @main() -> 32 {\n\
         b0: r0:32 = const 0\n    jump b1 [r1:32 = r0, r2:32 = r0]\n\
         b1: br ult:32 r1, 9000 ? b2 : b3\n\
         b2: r3:32 = call @twice(r1:32)\n    r4:32 = xor r2, r3\n    r5:32 = add r1, 1\n    jump b1 [r1:32 = r5, r2:32 = r4]\n\
         b3: ret r2\n}\n";
    agree(text);
}

/// Not a test of results but of the point of it all; the factor is far below what is measured.
#[test]
fn native_code_is_faster() {
    let text = hash(2_000_000);
    let (_, steps, interpreted) = run(&text, false, 1 << 20);
    let (_, _, compiled) = run(&text, true, 1 << 20);
    let speed = |time: std::time::Duration| steps as f64 / time.as_secs_f64() / 1e6;
    println!("interpreted {:.0} M/s, compiled {:.0} M/s", speed(interpreted), speed(compiled));
    assert!(compiled < interpreted);
}
