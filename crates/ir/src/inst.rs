//! Instructions and terminators.
//!
//! Invariant: a register of width `bits` holds its value zero-extended to its slot(s). Widths run from 1 to 128. Every
//! operand is a register; the `Imm` forms exist because constants on the right are what C code is full of.

use crate::{BlockId, CallId, Edge, FuncId, GlobalId, Reg};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpOp {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

impl CmpOp {
    /// Holds where this does not.
    pub fn negated(self) -> CmpOp {
        match self {
            CmpOp::Eq => CmpOp::Ne,
            CmpOp::Ne => CmpOp::Eq,
            CmpOp::Ult => CmpOp::Uge,
            CmpOp::Ule => CmpOp::Ugt,
            CmpOp::Ugt => CmpOp::Ule,
            CmpOp::Uge => CmpOp::Ult,
            CmpOp::Slt => CmpOp::Sge,
            CmpOp::Sle => CmpOp::Sgt,
            CmpOp::Sgt => CmpOp::Sle,
            CmpOp::Sge => CmpOp::Slt,
        }
    }

    /// The same with its sides exchanged.
    pub fn mirrored(self) -> CmpOp {
        match self {
            CmpOp::Eq | CmpOp::Ne => self,
            CmpOp::Ult => CmpOp::Ugt,
            CmpOp::Ule => CmpOp::Uge,
            CmpOp::Ugt => CmpOp::Ult,
            CmpOp::Uge => CmpOp::Ule,
            CmpOp::Slt => CmpOp::Sgt,
            CmpOp::Sle => CmpOp::Sge,
            CmpOp::Sgt => CmpOp::Slt,
            CmpOp::Sge => CmpOp::Sle,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    ZExt,
    SExt,
    Trunc,
}

/// `dst` gets the wrapped result, `flag` (1 bit) whether it overflowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverflowOp {
    SAdd,
    UAdd,
    SSub,
    USub,
    SMul,
    UMul,
}

/// Bit-level operations of one width. Unary ones ignore `b` (the front end repeats `a`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    PopCount,
    /// Zero gives the width.
    LeadingZeros,
    /// Zero gives the width.
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    /// IEEE 16 bit.
    Half,
    /// IEEE 32 bit.
    Single,
    /// IEEE 64 bit.
    Double,
    /// x87 80 bit, two slots.
    Extended,
    /// IEEE 128 bit, two slots.
    Quad,
}

impl FloatKind {
    pub fn bits(self) -> u8 {
        match self {
            FloatKind::Half => 16,
            FloatKind::Single => 32,
            FloatKind::Double => 64,
            FloatKind::Extended => 80,
            FloatKind::Quad => 128,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatBinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Ordered (`O`) is false and unordered (`U`) true when an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatCmpOp {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    Uno,
    True,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatCastOp {
    /// Float to float.
    Resize,
    ToSigned,
    ToUnsigned,
    FromSigned,
    FromUnsigned,
}

/// Functions of one or more floats of one kind; `a`, `b`, `c` unused ones repeat `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatMathOp {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundEven,
    Rint,
    NearbyInt,
    CopySign,
    MinNum,
    MaxNum,
    /// a*b+c with one rounding.
    Fma,
    /// a*b+c with two roundings (what clang does at -O0 for `llvm.fmuladd`).
    MulAdd,
    Sin,
    Cos,
    Tan,
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Pow,
}

/// Something that has an address fixed before the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolRef {
    Global(GlobalId),
    Function(FuncId),
    /// Target of a computed goto.
    Block(FuncId, BlockId),
}

/// The tag has a byte of its own: the machine's loop dispatches on it without decoding.
#[derive(Clone, Debug, PartialEq)]
#[repr(u8)]
pub enum Inst {
    /// `value` fits the width. Wider constants use `WideConst`.
    Const {
        dst: Reg,
        bits: u8,
        value: u64,
    },
    /// 65 to 128 bits; boxed because it is rare.
    WideConst {
        dst: Reg,
        bits: u8,
        value: Box<u128>,
    },
    /// A value the program never set. Reads as zero.
    Undef {
        dst: Reg,
        bits: u8,
    },
    Address {
        dst: Reg,
        symbol: SymbolRef,
        addend: i64,
    },
    Copy {
        dst: Reg,
        src: Reg,
        bits: u8,
    },
    /// `nsw` on Add, Sub, Mul, Shl: the C operation was signed, so overflow is a fault where that is checked.
    Bin {
        op: BinOp,
        bits: u8,
        nsw: bool,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    BinImm {
        op: BinOp,
        bits: u8,
        nsw: bool,
        dst: Reg,
        a: Reg,
        imm: u64,
    },
    Cmp {
        op: CmpOp,
        bits: u8,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    CmpImm {
        op: CmpOp,
        bits: u8,
        dst: Reg,
        a: Reg,
        imm: u64,
    },
    Cast {
        op: CastOp,
        from: u8,
        to: u8,
        dst: Reg,
        a: Reg,
    },
    Select {
        bits: u8,
        dst: Reg,
        cond: Reg,
        a: Reg,
        b: Reg,
    },
    Overflow {
        op: OverflowOp,
        bits: u8,
        dst: Reg,
        flag: Reg,
        a: Reg,
        b: Reg,
    },
    BitOp {
        op: BitOp,
        bits: u8,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// `hi:lo` shifted left (`fshl`), upper half kept; a right shift is a left shift by `bits - amount` of the front end.
    FunnelShl {
        bits: u8,
        dst: Reg,
        hi: Reg,
        lo: Reg,
        amount: Reg,
    },
    FunnelShr {
        bits: u8,
        dst: Reg,
        hi: Reg,
        lo: Reg,
        amount: Reg,
    },
    /// `dst = base + sext(index) * scale`, pointer width.
    Index {
        dst: Reg,
        base: Reg,
        index: Reg,
        index_bits: u8,
        scale: u64,
    },
    /// Little-endian, `ceil(bits/8)` bytes. `align` in bytes.
    Load {
        dst: Reg,
        bits: u8,
        align: u8,
        addr: Reg,
    },
    Store {
        src: Reg,
        bits: u8,
        align: u8,
        addr: Reg,
    },
    /// A stack object that lives until the function returns. `count` multiplies `bytes` when present (VLA, alloca()),
    /// pointer width. `variable` names the source variable, an index into `Function::variables`.
    Alloca {
        dst: Reg,
        bytes: u64,
        align: u32,
        count: Option<Reg>,
        variable: Option<u32>,
    },
    FloatBin {
        op: FloatBinOp,
        kind: FloatKind,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    FloatCmp {
        op: FloatCmpOp,
        kind: FloatKind,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// For `Resize` `from`/`to` are float widths; for conversions one of them is an integer width.
    FloatCast {
        op: FloatCastOp,
        from: u8,
        to: u8,
        kind: FloatKind,
        to_kind: FloatKind,
        dst: Reg,
        a: Reg,
    },
    FloatMath {
        op: FloatMathOp,
        kind: FloatKind,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Call {
        call: CallId,
    },
}

/// The number that clang gives its check of an index.
pub const OUT_OF_BOUNDS: u8 = 18;

/// The same where the element is written to. Clang does not tell one from the other.
pub const WRITTEN_OUT_OF_BOUNDS: u8 = 0x80 | OUT_OF_BOUNDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// (dst, src, len)
    MemCpy,
    MemMove,
    /// (dst, byte, len)
    MemSet,
    /// (va_list)
    VaStart,
    VaEnd,
    /// (dst, src)
    VaCopy,
    /// () -> token
    StackSave,
    /// (token)
    StackRestore,
    /// `__builtin_trap`
    Trap,
    /// (handler): a check that clang put into the code has failed; which one is clang's number
    Fault,
    /// (before, after): pointer arithmetic, to be checked against the object
    PointerStep,
    /// (a, b): what follows depends on how two addresses lie to each other; `b` is null where `a` is taken for a number
    AddressOrder,
    /// (pointer, type): it is followed as a pointer to that type of the source
    FollowedAs,
    /// (object, bits) -> size or -1/0, result width from the call
    ObjectSize,
    FrameAddress,
    ReturnAddress,
    /// (buffer) -> 0, or 1 when a jump comes back here
    SetJump,
    /// (buffer)
    LongJump,
    /// () -> how long the processor has been running, an input
    TimeStamp,
    /// (variable) -> where the running thread has it
    ThreadLocal,
    /// () -> registers: what the processor says of itself, zero in all of them
    CpuId,
    /// (variable, bytes): control is at its declaration, nobody has written it
    Begin,
    /// (variable, bytes): control is at its declaration, and it is set at once
    Revive,
    /// (variable, bytes): its block has ended
    End,
    /// (): the compiler has computed what follows by an operation that has no result
    Folded,
}

/// A structure passed by value: the callee gets a copy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByVal {
    pub bytes: u64,
    pub align: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    pub reg: Reg,
    pub bits: u8,
    pub byval: Option<ByVal>,
    /// Set for floating-point values.
    pub float: Option<FloatKind>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    Function(FuncId),
    Indirect(Reg),
    Intrinsic(Intrinsic),
    /// Inline assembly, an intrinsic or an instruction we do not have: a named gap when it is reached.
    Gap(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub callee: Callee,
    pub args: Vec<Arg>,
    /// Scalars of the result in order; empty for void.
    pub results: Vec<(Reg, u8)>,
    /// How many arguments the callee's type names at this site; the rest are variadic. `u32::MAX` when not variadic.
    pub n_fixed: u32,
    /// Whether anything reads the results.
    pub result_used: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Jump(Edge),
    Branch {
        cond: Reg,
        then: Edge,
        other: Edge,
    },
    /// A compare and the branch on it in one: what nearly every C condition is.
    CmpBranch {
        op: CmpOp,
        bits: u8,
        a: Reg,
        b: Reg,
        then: Edge,
        other: Edge,
    },
    CmpImmBranch {
        op: CmpOp,
        bits: u8,
        a: Reg,
        imm: u64,
        then: Edge,
        other: Edge,
    },
    Switch {
        value: Reg,
        bits: u8,
        cases: Box<[(u64, Edge)]>,
        default: Edge,
    },
    /// Values of the result in the order of the function's `results`.
    Return(Box<[Reg]>),
    IndirectJump {
        addr: Reg,
        targets: Box<[(BlockId, Edge)]>,
    },
    Unreachable,
}

impl Terminator {
    /// Edges in a fixed order: the order in which the machine numbers alternatives.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch { then, other, .. }
            | Terminator::CmpBranch { then, other, .. }
            | Terminator::CmpImmBranch { then, other, .. } => vec![then, other],
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|case| &case.1).chain(std::iter::once(default)).collect()
            }
            Terminator::IndirectJump { targets, .. } => targets.iter().map(|target| &target.1).collect(),
            Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        }
    }
}
