//! The words of the text form: one name for each operation, shared by the printer and the parser.

use crate::{
    BaseKind, BinOp, BitOp, CastOp, CmpOp, FloatBinOp, FloatCastOp, FloatCmpOp, FloatKind, FloatMathOp, Intrinsic,
    OverflowOp,
};

pub(crate) trait Named: Copy + 'static {
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }
}

macro_rules! names {
    ($($ty:ident { $($variant:ident $name:literal,)* })*) => {$(
        impl Named for $ty {
            const ALL: &'static [Self] = &[$($ty::$variant),*];

            fn name(self) -> &'static str {
                match self { $($ty::$variant => $name),* }
            }
        }
    )*};
}

// The names of all operations that can stand right after `=` are distinct across the enums: the parser tells the
// instruction by that word alone. `FloatCmpOp`, `FloatKind`, `Intrinsic` and `BaseKind` never stand there.
names! {
    BinOp {
        Add "add", Sub "sub", Mul "mul", UDiv "udiv", SDiv "sdiv", URem "urem", SRem "srem",
        And "and", Or "or", Xor "xor", Shl "shl", LShr "lshr", AShr "ashr",
    }
    CmpOp {
        Eq "eq", Ne "ne", Ult "ult", Ule "ule", Ugt "ugt", Uge "uge", Slt "slt", Sle "sle", Sgt "sgt", Sge "sge",
    }
    CastOp { ZExt "zext", SExt "sext", Trunc "trunc", }
    OverflowOp {
        SAdd "sadd.overflow", UAdd "uadd.overflow", SSub "ssub.overflow", USub "usub.overflow",
        SMul "smul.overflow", UMul "umul.overflow",
    }
    BitOp {
        PopCount "popcount", LeadingZeros "clz", TrailingZeros "ctz", ByteSwap "bswap", BitReverse "bitreverse",
        Abs "abs", SMin "smin", SMax "smax", UMin "umin", UMax "umax", UAddSat "uadd.sat", USubSat "usub.sat",
        SAddSat "sadd.sat", SSubSat "ssub.sat", UShlSat "ushl.sat", SShlSat "sshl.sat",
    }
    FloatKind { Half "half", Single "single", Double "double", Extended "extended", Quad "quad", }
    FloatBinOp { Add "fadd", Sub "fsub", Mul "fmul", Div "fdiv", Rem "frem", }
    FloatCmpOp {
        False "false", Oeq "oeq", Ogt "ogt", Oge "oge", Olt "olt", Ole "ole", One "one", Ord "ord",
        Ueq "ueq", Ugt "ugt", Uge "uge", Ult "ult", Ule "ule", Une "une", Uno "uno", True "true",
    }
    FloatCastOp {
        Resize "fresize", ToSigned "ftosigned", ToUnsigned "ftounsigned", FromSigned "ffromsigned",
        FromUnsigned "ffromunsigned",
    }
    FloatMathOp {
        Neg "fneg", Abs "fabs", Sqrt "fsqrt", Floor "ffloor", Ceil "fceil", Trunc "ftrunc", Round "fround",
        RoundEven "froundeven", Rint "frint", NearbyInt "fnearbyint", CopySign "fcopysign", MinNum "fmin",
        MaxNum "fmax", Fma "fma", MulAdd "fmuladd", Sin "fsin", Cos "fcos", Tan "ftan", Exp "fexp", Exp2 "fexp2",
        Log "flog", Log2 "flog2", Log10 "flog10", Pow "fpow",
    }
    Intrinsic {
        MemCpy "memcpy", MemMove "memmove", MemSet "memset", VaStart "va_start", VaEnd "va_end", VaCopy "va_copy",
        StackSave "stack_save", StackRestore "stack_restore", Trap "trap", Fault "fault", PointerStep "pointer_step",
        AddressOrder "address_order", FollowedAs "followed_as", ObjectSize "object_size",
        FrameAddress "frame_address", ReturnAddress "return_address", ThreadLocal "thread_local",
        SetJump "set_jump", LongJump "long_jump", TimeStamp "time_stamp",
        CpuId "cpu_id", Begin "begin", Revive "revive", End "end", Folded "folded",
    }
    BaseKind {
        Signed "signed", Unsigned "unsigned", Char "char", UnsignedChar "uchar", Bool "bool", Float "float",
        Other "other",
    }
}
