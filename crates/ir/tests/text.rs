//! The text form: what is printed parses back to the same module, and modules can be written by hand.

use ir::*;
use proptest::prelude::*;

/// A source of choices that runs dry: after its numbers are used up every choice is the first one, so that a shorter
/// list of numbers is a smaller module and proptest can shrink.
struct Dice {
    numbers: std::vec::IntoIter<u64>,
}

impl Dice {
    fn number(&mut self) -> u64 {
        self.numbers.next().unwrap_or(0)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    fn small(&mut self) -> u32 {
        self.below(12) as u32
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    fn width(&mut self) -> u8 {
        [32, 64, 1, 8, 16, 24, 80, 128][self.below(8) as usize]
    }

    fn align(&mut self) -> u32 {
        1 << self.below(5)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }

    fn list<T>(&mut self, bound: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(bound)).map(|_| make(self)).collect()
    }

    fn reg(&mut self) -> Reg {
        Reg(self.small())
    }

    fn block(&mut self) -> BlockId {
        BlockId(self.small())
    }

    fn name(&mut self) -> String {
        self.pick(&["x", "main", "f.1", "odd name", "quote\"\\", "line\nbreak", "größe", "", "r0", "$tmp", "7up"])
            .to_string()
    }

    fn ty(&mut self) -> Option<SourceTypeId> {
        self.option(|dice| SourceTypeId(dice.small()))
    }

    fn symbol(&mut self) -> SymbolRef {
        match self.below(3) {
            0 => SymbolRef::Global(GlobalId(self.small())),
            1 => SymbolRef::Function(FuncId(self.small())),
            _ => SymbolRef::Block(FuncId(self.small()), self.block()),
        }
    }

    fn module(&mut self) -> Module {
        let mut spans = vec![Span { file: None, line: 0, column: 0 }];
        spans.extend(self.list(4, |dice| Span {
            file: dice.option(|dice| FileId(dice.small())),
            line: dice.small(),
            column: dice.small(),
        }));
        if self.below(8) == 1 {
            spans[0].line = 7;
        }
        let pointer_bytes = self.pick(&[8, 4]);
        Module {
            target: Target { triple: self.name(), pointer_bytes },
            functions: self.list(4, |dice| dice.function(pointer_bytes)),
            globals: self.list(4, Self::global),
            types: self.list(6, Self::source_type),
            files: self.list(3, |dice| SourceFile { path: dice.name(), is_user: dice.coin() }),
            spans,
        }
    }

    fn source_type(&mut self) -> SourceType {
        let (name, bytes) = (self.name(), self.number());
        match self.below(11) {
            0 => SourceType::Base { name, bytes, kind: self.base_kind() },
            1 => SourceType::Pointer { to: self.ty(), bytes },
            2 => SourceType::Array { of: self.ty(), count: self.option(Self::number) },
            3 => SourceType::Struct { name, bytes, fields: self.fields(), is_complete: self.coin() },
            4 => SourceType::Union { name, bytes, fields: self.fields(), is_complete: self.coin() },
            5 => {
                let values = self.list(4, |dice| Enumerator { name: dice.name(), value: dice.number() as i64 });
                SourceType::Enum { name, bytes, values }
            }
            6 => SourceType::Typedef { name, of: self.ty() },
            7 => SourceType::Const { of: self.ty() },
            8 => SourceType::Volatile { of: self.ty() },
            9 => SourceType::Qualified { of: self.ty() },
            _ => SourceType::Function { result: self.ty(), params: self.list(3, Self::ty), is_variadic: self.coin() },
        }
    }

    fn base_kind(&mut self) -> BaseKind {
        use BaseKind::*;
        self.pick(&[Signed, Unsigned, Char, UnsignedChar, Bool, Float, Other])
    }

    fn fields(&mut self) -> Vec<Field> {
        self.list(3, |dice| Field {
            name: dice.name(),
            bit_offset: dice.number(),
            bits: dice.number(),
            is_bit_field: dice.coin(),
            ty: dice.ty(),
        })
    }

    fn global(&mut self) -> Global {
        let init = match self.below(3) {
            0 => Init::External,
            1 => Init::Zero,
            _ => Init::Bytes {
                bytes: self.list(12, |dice| dice.number() as u8),
                relocs: self.list(3, |dice| Reloc {
                    offset: dice.number(),
                    bytes: dice.small() as u8,
                    plus: dice.symbol(),
                    minus: dice.option(Self::symbol),
                    addend: dice.number() as i64,
                }),
            },
        };
        Global {
            name: self.name(),
            bytes: self.number(),
            align: self.align(),
            init,
            is_constant: self.coin(),
            ty: self.ty(),
            is_runtime: self.coin(),
        }
    }

    fn function(&mut self, pointer_bytes: u8) -> Function {
        let calls = self.list(5, Self::call);
        let n_calls = calls.len() as u64;
        Function {
            name: self.name(),
            params: self.list(3, |dice| Param { reg: dice.reg(), bits: dice.width() }),
            results: self.list(3, |dice| Slot { bits: dice.width() }),
            variadic: self.coin(),
            no_return: self.coin(),
            n_slots: self.small(),
            blocks: self.list(5, |dice| dice.basic_block(n_calls, pointer_bytes)),
            calls,
            variables: self.list(3, |dice| Variable { name: dice.name(), ty: dice.ty() }),
            holdings: self.list(3, |dice| Holding {
                block: BlockId(dice.small()),
                reg: dice.reg(),
                variable: Variable { name: dice.name(), ty: dice.ty() },
            }),
            file: self.option(|dice| FileId(dice.small())),
            line: self.small(),
            signature: self.ty(),
            param_names: self.list(3, Self::name),
            is_runtime: self.coin(),
            is_static: self.coin(),
        }
    }

    fn basic_block(&mut self, n_calls: u64, pointer_bytes: u8) -> Block {
        let insts = self.list(8, |dice| dice.inst(n_calls, pointer_bytes));
        let spans = (0..=insts.len()).map(|_| SpanId(self.small())).collect();
        Block { insts, terminator: self.terminator(), spans }
    }

    fn call(&mut self) -> Call {
        use Intrinsic::*;
        let callee = match self.below(4) {
            0 => Callee::Function(FuncId(self.small())),
            1 => Callee::Indirect(self.reg()),
            2 => Callee::Intrinsic(self.pick(&[
                MemCpy,
                MemMove,
                MemSet,
                VaStart,
                VaEnd,
                VaCopy,
                StackSave,
                StackRestore,
                Trap,
                ObjectSize,
                FrameAddress,
                ReturnAddress,
                ThreadLocal,
                CpuId,
            ])),
            _ => Callee::Gap(self.name()),
        };
        Call {
            callee,
            args: self.list(4, |dice| Arg {
                reg: dice.reg(),
                bits: dice.width(),
                byval: dice.option(|dice| ByVal { bytes: dice.number(), align: dice.align() }),
                float: dice.option(Self::float_kind),
            }),
            results: self.list(3, |dice| (dice.reg(), dice.width())),
            n_fixed: self.option(Self::small).unwrap_or(u32::MAX),
            result_used: self.coin(),
        }
    }

    fn float_kind(&mut self) -> FloatKind {
        use FloatKind::*;
        self.pick(&[Half, Single, Double, Extended, Quad])
    }

    fn bin_op(&mut self) -> BinOp {
        use BinOp::*;
        self.pick(&[Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr])
    }

    fn cmp_op(&mut self) -> CmpOp {
        use CmpOp::*;
        self.pick(&[Eq, Ne, Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge])
    }

    fn inst(&mut self, n_calls: u64, pointer_bytes: u8) -> Inst {
        let (dst, a, b, bits) = (self.reg(), self.reg(), self.reg(), self.width());
        match self.below(26) {
            0 => Inst::Const { dst, bits: bits.min(64), value: self.number() },
            1 => {
                let value = u128::from(self.number()) << 64 | u128::from(self.number());
                Inst::WideConst { dst, bits: self.pick(&[80, 128]), value: Box::new(value) }
            }
            2 => Inst::Undef { dst, bits },
            3 => Inst::Address { dst, symbol: self.symbol(), addend: self.number() as i64 },
            4 => Inst::Copy { dst, src: a, bits },
            5 => Inst::Bin { op: self.bin_op(), bits, nsw: self.coin(), dst, a, b },
            6 => Inst::BinImm { op: self.bin_op(), bits, nsw: self.coin(), dst, a, imm: self.number() },
            7 => Inst::Cmp { op: self.cmp_op(), bits, dst, a, b },
            8 => Inst::CmpImm { op: self.cmp_op(), bits, dst, a, imm: self.number() },
            9 => {
                let op = self.pick(&[CastOp::ZExt, CastOp::SExt, CastOp::Trunc]);
                Inst::Cast { op, from: self.width(), to: bits, dst, a }
            }
            10 => Inst::Select { bits, dst, cond: self.reg(), a, b },
            11 => {
                use OverflowOp::*;
                let op = self.pick(&[SAdd, UAdd, SSub, USub, SMul, UMul]);
                Inst::Overflow { op, bits, dst, flag: self.reg(), a, b }
            }
            12 => Inst::BitOp { op: self.bit_op(), bits, dst, a, b },
            13 => Inst::FunnelShl { bits, dst, hi: a, lo: b, amount: self.reg() },
            14 => Inst::FunnelShr { bits, dst, hi: a, lo: b, amount: self.reg() },
            15 => Inst::Index { dst, base: a, index: b, index_bits: bits, scale: self.number() },
            16 => Inst::Load { dst, bits, align: self.align() as u8, addr: a },
            17 => Inst::Store { src: b, bits, align: self.align() as u8, addr: a },
            18 => Inst::Alloca {
                dst,
                bytes: self.number(),
                align: self.align(),
                count: self.option(Self::reg),
                variable: self.option(Self::small),
            },
            19 => {
                use FloatBinOp::*;
                Inst::FloatBin { op: self.pick(&[Add, Sub, Mul, Div, Rem]), kind: self.float_kind(), dst, a, b }
            }
            20 => Inst::FloatCmp { op: self.float_cmp_op(), kind: self.float_kind(), dst, a, b },
            21 => {
                use FloatCastOp::*;
                let op = self.pick(&[Resize, ToSigned, ToUnsigned, FromSigned, FromUnsigned]);
                let (kind, to_kind) = (self.float_kind(), self.float_kind());
                Inst::FloatCast { op, from: self.width(), to: bits, kind, to_kind, dst, a }
            }
            22 => Inst::FloatMath { op: self.float_math_op(), kind: self.float_kind(), dst, a, b, c: self.reg() },
            23.. if n_calls > 0 => Inst::Call { call: CallId(self.below(n_calls) as u32) },
            _ => Inst::Undef { dst, bits: pointer_bytes * 8 },
        }
    }

    fn bit_op(&mut self) -> BitOp {
        use BitOp::*;
        self.pick(&[
            PopCount,
            LeadingZeros,
            TrailingZeros,
            ByteSwap,
            BitReverse,
            Abs,
            SMin,
            SMax,
            UMin,
            UMax,
            UAddSat,
            USubSat,
            SAddSat,
            SSubSat,
            UShlSat,
            SShlSat,
        ])
    }

    fn float_cmp_op(&mut self) -> FloatCmpOp {
        use FloatCmpOp::*;
        self.pick(&[False, Oeq, Ogt, Oge, Olt, Ole, One, Ord, Ueq, Ugt, Uge, Ult, Ule, Une, Uno, True])
    }

    fn float_math_op(&mut self) -> FloatMathOp {
        use FloatMathOp::*;
        self.pick(&[
            Neg, Abs, Sqrt, Floor, Ceil, Trunc, Round, RoundEven, Rint, NearbyInt, CopySign, MinNum, MaxNum, Fma,
            MulAdd, Sin, Cos, Tan, Exp, Exp2, Log, Log2, Log10, Pow,
        ])
    }

    fn edge(&mut self) -> Edge {
        let target = self.block();
        let moves = self.list(3, |dice| Move { dst: dice.reg(), src: dice.reg(), bits: dice.width() });
        Edge { target, moves: moves.into() }
    }

    fn terminator(&mut self) -> Terminator {
        let (op, bits, a, b) = (self.cmp_op(), self.width(), self.reg(), self.reg());
        match self.below(8) {
            0 => Terminator::Return(self.list(3, Self::reg).into()),
            1 => Terminator::Jump(self.edge()),
            2 => Terminator::Branch { cond: a, then: self.edge(), other: self.edge() },
            3 => Terminator::CmpBranch { op, bits, a, b, then: self.edge(), other: self.edge() },
            4 => Terminator::CmpImmBranch { op, bits, a, imm: self.number(), then: self.edge(), other: self.edge() },
            5 => {
                let cases = self.list(4, |dice| (dice.number(), dice.edge()));
                Terminator::Switch { value: a, bits, cases: cases.into(), default: self.edge() }
            }
            6 => {
                let targets = self.list(3, |dice| (dice.block(), dice.edge()));
                Terminator::IndirectJump { addr: a, targets: targets.into() }
            }
            _ => Terminator::Unreachable,
        }
    }
}

fn any_module() -> impl Strategy<Value = Module> {
    let number = prop_oneof![4 => 0u64..64, 1 => any::<u64>()];
    prop::collection::vec(number, 0..1500).prop_map(|numbers| Dice { numbers: numbers.into_iter() }.module())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_modules_parse_back_to_themselves(module in any_module()) {
        let text = print(&module);
        match parse(&text) {
            Ok(parsed) => prop_assert_eq!(parsed, module, "{}", text),
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }

    #[test]
    fn the_verifier_survives_any_module(module in any_module()) {
        let _ = verify(&module);
    }

    #[test]
    fn the_parser_survives_any_text(text in "[a-z0-9@:=,\"{}()\\[\\]\n ]{0,80}") {
        let _ = parse(&text);
    }
}

const HAND_WRITTEN: &str = r#"
// Everything that can be left out is left out.
global @table bytes 16 align 8 = data "\x01\x02hi\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" (at 8 bytes 8 = @scale + 1)

func @exit(r0:32) noreturn

func @scale(r0:32, r1:32) -> 32 {
b0: r2:32 = add nsw r0, -5
    br slt:32 r0, 10 ? b1 : b2 [r3:32 = r2]
b1:
    r4 = addr @table + 4
    r3:32 = load r4
    r5:8 = const -1
    store r5:8 -> r4
    jump b2
b2:
    switch r3:32 (
        1: b3,
        -1: b3,
        default: b4)
b3: call @exit(r3:32)
    unreachable
b4: r6:32 = call @scale(r3:32, r2:32)
    ret r6
}
"#;

#[test]
fn a_module_can_be_written_by_hand() {
    let module = parse(HAND_WRITTEN).unwrap();
    assert_eq!(verify(&module), Ok(()));
    let scale = module.function(module.find_function("scale").unwrap());
    assert_eq!(scale.n_slots, 7);
    assert_eq!(
        scale.blocks[0].insts[0],
        Inst::BinImm { op: BinOp::Add, bits: 32, nsw: true, dst: Reg(2), a: Reg(0), imm: 0xffff_fffb }
    );
    let moves = Box::new([Move { dst: Reg(3), src: Reg(2), bits: 32 }]);
    assert_eq!(scale.blocks[0].terminator.edges()[1], &Edge { target: BlockId(2), moves });
    assert_eq!(scale.blocks[1].insts[1], Inst::Load { dst: Reg(3), bits: 32, align: 4, addr: Reg(4) });
    assert_eq!(scale.blocks[1].insts[2], Inst::Const { dst: Reg(5), bits: 8, value: 255 });
    assert_eq!(scale.blocks[1].spans, vec![SpanId(0); 5]);
    let Terminator::Switch { cases, .. } = &scale.blocks[2].terminator else { panic!("not a switch") };
    assert_eq!(cases[1].0, 0xffff_ffff);
    assert_eq!(scale.calls[0].callee, Callee::Function(FuncId(0)));
    assert!(!scale.calls[0].result_used);
    assert_eq!(scale.calls[1].results, [(Reg(6), 32)]);
    assert!(scale.calls[1].result_used);
    assert_eq!(module.spans.len(), 1);
    assert_eq!(parse(&print(&module)).unwrap(), module);
}

#[test]
fn the_printed_form_reads_well() {
    let module = parse(HAND_WRITTEN).unwrap();
    let expected = "\
func @scale(r0:32, r1:32) -> 32 slots 7 {
b0:
    r2:32 = add nsw r0, 4294967291
    br slt:32 r0, 10 ? b1 : b2 [r3:32 = r2]
b1:
    r4:64 = addr @table + 4
    r3:32 = load r4 align 4
    r5:8 = const 255
    store r5:8 -> r4 align 1
    jump b2
b2:
    switch r3:32 (1: b3, 4294967295: b3, default: b4)
b3:
    call @exit(r3:32)
    unreachable
b4:
    r6:32 = call @scale(r3:32, r2:32)
    ret r6
}
";
    assert_eq!(print_function(&module, FuncId(1)), expected);
}

#[test]
fn names_borne_twice_go_by_number() {
    let text = "func @f()\nfunc @f() {\nb0:\n    call f0()\n    call f1()\n    ret\n}\n";
    let module = parse(text).unwrap();
    assert_eq!(module.functions[1].calls[1].callee, Callee::Function(FuncId(1)));
    assert_eq!(parse(&print(&module)).unwrap(), module);
    assert!(parse(&text.replace("f0", "@f")).unwrap_err().message.contains("several symbols"));
}

#[test]
fn errors_name_their_line() {
    let cases = [
        ("func @f() {\nb0:\n    r1:32 = frobnicate r0\n    ret\n}", 3, "no instruction is called `frobnicate`"),
        ("func @f() {\nb0:\n    r1 = add r0, r0\n    ret\n}", 3, "needs a width"),
        ("func @f() {\nb1:\n    ret\n}", 2, "`b0` comes next"),
        ("func @f() {\nb0:\n    call @g()\n    ret\n}", 3, "no function or global is called `@g`"),
        ("func @f() {\nb0:\n    r1:32 = fcmp olt double r0, r0\n    ret\n}", 3, "gives 1 bits"),
        ("func @f() {\nb0:\n    r1:0 = undef\n    ret\n}", 3, "1 to 128 bits"),
        ("func @f() {\nb0:\n    jump b1 b2\n}", 3, "expected the end of the line"),
        ("\n\nt1 = const void", 3, "0 comes next"),
        ("file0 = \"open", 1, "closing quote"),
        ("func @f() {\nb0:\n    ret", 3, "expected"),
        ("func @f()\ntarget \"t\" pointer 8", 2, "before the functions"),
        ("global @g bytes 99999999999999999999", 1, "too large"),
        ("func @f() {\nb0:\n    call c1 @f()\n    ret\n}", 5, "has no call `c0`"),
    ];
    for (text, line, message) in cases {
        let error = parse(text).expect_err(text);
        assert!(error.message.contains(message), "{text}\n{error}");
        assert_eq!(error.line, line, "{text}\n{error}");
    }
}
