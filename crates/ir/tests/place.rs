//! Where a line of the source is in a module.

use ir::*;

/// Line 7 begins in the middle of `b0` of `f`, and is all of `b1`.
const TEXT: &str = "\
file0 = \"src/a.c\" user
s1 = file0:6:1
s2 = file0:7:1
s3 = file0:8:1
func @f(r0:32) -> 32 at file0:6 {
b0: r1:32 = add r0, r0 !s1
 r2:32 = add r1, r0 !s2
 r3:32 = add r2, r0 !s3
 br eq:32 r3, 1 ? b1 : b2 !s3
b1: r4:32 = const 1 !s2
 ret r4 !s2
b2: ret r3 !s3
}
";

#[test]
fn a_block_that_comes_to_a_line_in_its_middle_is_split() {
    let mut module = parse(TEXT).unwrap_or_else(|error| panic!("{error}"));
    let before = module.functions[0].blocks[0].clone();
    let found = module.blocks_at(|path| path.ends_with("a.c"), 7);
    assert_eq!(found, [(FuncId::new(0), BlockId::new(3)), (FuncId::new(0), BlockId::new(1))]);
    assert!(verify(&module).is_ok());
    let blocks = &module.functions[0].blocks;
    assert_eq!(blocks[0].terminator.edges()[0].target, BlockId::new(3));
    assert_eq!([&blocks[0].insts[..], &blocks[3].insts[..]].concat(), before.insts);
    assert_eq!(blocks[3].terminator, before.terminator);
    // Asked again, it is where it was.
    assert_eq!(module.blocks_at(|path| path.ends_with("a.c"), 7).len(), 2);
    assert_eq!(module.functions[0].blocks.len(), 4);
}

#[test]
fn no_line_is_anywhere_else() {
    let mut module = parse(TEXT).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(module.blocks_at(|path| path == "b.c", 7), []);
    assert_eq!(module.blocks_at(|_| true, 9), []);
}
